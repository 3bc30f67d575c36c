//! Moving about: among the turns, in the difference, and between the two.

use super::{Pane, State};
use crate::tui::layout::Layout;
use crate::tui::patch::Patch;
use crate::tui::timeline::Row;

impl State {
    pub(super) fn page(&self) -> isize {
        let layout = Layout::of(self);
        let height = match self.pane {
            Pane::Turns => layout.turns.height,
            Pane::Diff => layout.lines.height,
        };
        isize::try_from(height.saturating_sub(1).max(1)).unwrap_or(1)
    }

    pub(super) fn step(&mut self, by: isize) {
        match self.pane {
            Pane::Turns => self.choose(self.chosen.saturating_add_signed(by)),
            Pane::Diff => self.scroll(by),
        }
    }

    pub(super) fn scroll(&mut self, by: isize) {
        let height = usize::from(Layout::of(self).lines.height);
        let length = self.patch().map_or(0, Patch::len);
        let last = length.saturating_sub(height);
        let line = self.line.saturating_add_signed(by);
        // A file that was gone to may stand at the top where less than a page is left.
        self.line = match by > 0 {
            true if by == isize::MAX => last,
            true => line.min(last.max(self.line)),
            false => line,
        };
    }

    pub(super) fn other_pane(&mut self) {
        self.pane = match self.pane {
            Pane::Turns => Pane::Diff,
            Pane::Diff => Pane::Turns,
        };
        self.keep_in_sight();
    }

    /// Unfolds the turn that is chosen. Where there is nothing to unfold, the difference is gone to.
    pub(super) fn right(&mut self) {
        match self.pane {
            Pane::Diff => self.across = self.across.saturating_add(8),
            Pane::Turns if self.is_foldable() && !self.is_unfolded() => self.fold(),
            Pane::Turns => self.other_pane(),
        }
    }

    pub(super) fn enter(&mut self) {
        match self.pane {
            Pane::Turns if self.is_foldable() => self.fold(),
            Pane::Turns => self.other_pane(),
            Pane::Diff => self.scroll(1),
        }
    }

    pub(super) fn space(&mut self, page: isize) {
        match self.pane {
            Pane::Turns if self.is_foldable() => self.fold(),
            Pane::Turns => {}
            Pane::Diff => self.scroll(page),
        }
    }

    /// Folds the turn that is chosen, or that has the chosen step.
    pub(super) fn left(&mut self) {
        match (self.pane, self.row()) {
            (Pane::Diff, _) => self.across = self.across.saturating_sub(8),
            (Pane::Turns, Some(Row::Step(at, _))) => {
                let turn = self.rows.iter().position(|row| *row == Row::Turn(at));
                self.choose(turn.unwrap_or(self.chosen));
                self.fold();
            }
            (Pane::Turns, _) if self.is_unfolded() => self.fold(),
            _ => {}
        }
    }

    pub(super) fn next_file(&mut self, forward: bool) {
        let Some(file) = self.file() else {
            return;
        };
        let Some(patch) = self.patch() else {
            return;
        };
        let first = patch.files.get(file).and_then(|file| file.first);
        let next = match forward {
            true => file + 1,
            // First to the head of the file that is seen.
            false if first.is_some_and(|first| first < self.line) => file,
            false => file.saturating_sub(1),
        };
        if let Some(line) = patch.files.get(next).and_then(|file| file.first) {
            self.line = line;
        }
    }

    pub(super) fn next_hunk(&mut self, forward: bool) {
        if let Some(line) = self
            .patch()
            .and_then(|patch| patch.hunk_from(self.line, forward))
        {
            self.line = line;
        }
    }
}
