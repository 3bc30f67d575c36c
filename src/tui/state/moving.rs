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

    pub(super) fn next_file(&mut self) {
        let next = self.file().map(|file| file + 1);
        self.go_to_file(next);
    }

    /// First to the head of the file that is seen.
    pub(super) fn file_before(&mut self) {
        let is_below = |file: &usize| self.head_of(*file).is_some_and(|head| head < self.line);
        let before = self.file().map(|file| match is_below(&file) {
            true => file,
            false => file.saturating_sub(1),
        });
        self.go_to_file(before);
    }

    fn head_of(&self, file: usize) -> Option<usize> {
        self.patch()?.files.get(file)?.first
    }

    fn go_to_file(&mut self, file: Option<usize>) {
        let head = file.and_then(|file| self.head_of(file));
        self.line = head.unwrap_or(self.line);
    }

    pub(super) fn next_hunk(&mut self) {
        let next = self.patch().and_then(|patch| patch.hunk_after(self.line));
        self.line = next.unwrap_or(self.line);
    }

    pub(super) fn hunk_before(&mut self) {
        let before = self.patch().and_then(|patch| patch.hunk_before(self.line));
        self.line = before.unwrap_or(self.line);
    }
}
