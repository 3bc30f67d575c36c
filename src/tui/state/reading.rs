//! What is to be read: for what is chosen, and ahead for what may be chosen next.

use super::{Compared, State};
use crate::tui::event::{Effect, Job, Pair, Wanted};
use crate::tui::timeline::Row;

impl State {
    /// Sees that what is chosen is shown, or asked for; and that what may be chosen next is read ahead.
    pub(super) fn follow(&mut self, effects: &mut Vec<Effect>) {
        let id = self.book.as_ref().and_then(|book| book.id(self.row()?));
        let is_other = self.shown_for != id.clone().map(|id| (id, self.compared));
        if is_other {
            self.shown_for = id.map(|id| (id, self.compared));
            self.shown = None;
            (self.line, self.across) = (0, 0);
        }
        if self.needs_disk() && !self.is_kept {
            self.is_kept = true;
            // What was seen then can't be read.
            if let Some(look) = &mut self.look {
                look.tree = None;
            }
            effects.push(Effect::Work(Job::Look { kept: true }));
        }
        if self.is_kept && !self.needs_disk() {
            // What is kept lies in the repository until git collects it.
            self.is_kept = false;
            effects.push(Effect::Work(Job::Look { kept: false }));
        }
        let wanted = self.wanted_pair(self.chosen);
        if let Some(pair) = &wanted {
            let is_there = self.patches.get(pair).is_some();
            if is_there || self.shown.is_none() {
                self.shown = Some(pair.clone());
            }
            self.patches.touch(pair);
        }
        self.ask(wanted, effects);
    }

    /// Does what is shown need the work tree as it is?
    fn needs_disk(&self) -> bool {
        self.compared == Compared::Disk || self.row() == Some(Row::Now)
    }

    fn ask(&mut self, wanted: Option<Pair>, effects: &mut Vec<Effect>) {
        let (down, up) = (self.chosen + 1, self.chosen.checked_sub(1));
        let next = [
            Some(down),
            up,
            Some(down + 1),
            up.and_then(|up| up.checked_sub(1)),
        ];
        let mut next: Vec<usize> = next.into_iter().flatten().collect();
        if self.upward {
            let second = 1.min(next.len() - 1);
            next.swap(0, second);
        }
        let is_needed = |pair: &Pair| pair.old != pair.new && !self.patches.is_whole(pair);
        let now = wanted.filter(is_needed);
        let mut ahead: Vec<Pair> = Vec::new();
        for pair in next.into_iter().filter_map(|row| self.wanted_pair(row)) {
            let is_new = now.as_ref() != Some(&pair) && !ahead.contains(&pair);
            if is_new && is_needed(&pair) && !self.given_up.contains(&pair) {
                ahead.push(pair);
            }
        }
        let asked = Wanted { now, ahead };
        if asked != self.asked {
            self.asked = asked.clone();
            effects.push(Effect::Read(asked));
        }
    }
}
