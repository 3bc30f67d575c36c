//! The rows: which turns there are to choose from, and which of them is chosen.

use super::State;
use crate::history::git::Oid;
use crate::tui::event::{Effect, Pair};
use crate::tui::layout::Layout;
use crate::tui::timeline::{Id, Row, matching};

impl State {
    /// Makes the rows anew. What is chosen stays chosen, where it is on the screen.
    pub(super) fn arrange(&mut self) {
        let kept = self.book.as_ref().and_then(|book| book.id(self.row()?));
        self.arrange_around(kept);
    }

    pub(super) fn arrange_around(&mut self, kept: Option<Id>) {
        let offset = self.chosen.saturating_sub(self.top);
        self.rows.clear();
        let Some(book) = &self.book else {
            (self.chosen, self.top) = (0, 0);
            return;
        };
        let chosen = matching(book, self.filter.text(), &self.names);
        let unsaved = self.look.as_ref().is_some_and(|look| look.changed > 0);
        if unsaved && book.is_own && chosen.is_none() {
            self.rows.push(Row::Now);
        }
        self.rows.extend(book.rows(&self.unfolded, chosen.as_ref()));
        let place = |id: &Id| {
            let mut rows = self.rows.iter();
            rows.position(|row| book.id(*row).as_ref() == Some(id))
        };
        let current = || self.rows.iter().position(|row| book.is_current(*row));
        let at = match &kept {
            Some(id) => place(id).or(Some(self.chosen)),
            None => current(),
        };
        self.chosen = at.unwrap_or(0).min(self.rows.len().saturating_sub(1));
        self.top = self.chosen.saturating_sub(offset);
        self.keep_in_sight();
    }

    pub(super) fn ask_names(&self) -> Option<Effect> {
        let book = self.book.as_ref()?;
        let entries = book.entries.iter().filter_map(|entry| {
            let turn = entry.turn.as_ref()?;
            let pair = Pair {
                old: entry.before.clone()?,
                new: turn.tree.clone(),
            };
            Some((turn.commit.clone(), pair))
        });
        let unknown: Vec<(Oid, Pair)> = entries
            .filter(|(commit, _)| !self.names.contains_key(commit))
            .collect();
        (!unknown.is_empty()).then_some(Effect::Names(unknown))
    }

    pub(super) fn choose(&mut self, row: usize) {
        let row = row.min(self.rows.len().saturating_sub(1));
        self.upward = row < self.chosen;
        self.chosen = row;
        self.keep_in_sight();
    }

    pub(super) fn keep_in_sight(&mut self) {
        let height = usize::from(Layout::of(self).turns.height).max(1);
        let last = self.rows.len().saturating_sub(height);
        self.top = self.top.min(last).min(self.chosen);
        self.top = self.top.max((self.chosen + 1).saturating_sub(height));
    }

    fn entry_number(&self) -> Option<(u32, bool)> {
        let Row::Turn(at) = self.row()? else {
            return None;
        };
        let entry = self.book.as_ref()?.entries.get(at)?;
        Some((entry.number, !entry.steps.is_empty()))
    }

    pub(super) fn is_foldable(&self) -> bool {
        self.entry_number().is_some_and(|(_, has_steps)| has_steps)
    }

    pub(super) fn is_unfolded(&self) -> bool {
        let number = self.entry_number().map(|(number, _)| number);
        number.is_some_and(|number| self.unfolded.contains(&number))
    }

    pub(super) fn fold(&mut self) {
        if let Some((number, true)) = self.entry_number() {
            if !self.unfolded.remove(&number) {
                self.unfolded.insert(number);
            }
            self.arrange();
        }
    }
}
