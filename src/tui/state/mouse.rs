//! What the mouse does: it scrolls what it is over, and chooses what it is pressed on.

use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use super::{Mode, Pane, State};
use crate::tui::event::Effect;
use crate::tui::layout::Layout;

impl State {
    pub(super) fn mouse(&mut self, mouse: MouseEvent) -> Vec<Effect> {
        let layout = Layout::of(self);
        let position = Position::new(mouse.column, mouse.row);
        let is_in = |area: Rect| area.contains(position);
        match &mut self.mode {
            Mode::Browse | Mode::Filter => {}
            Mode::Plan(plan, top) | Mode::Message(plan, _, top) => {
                let most = plan.paths.len().saturating_sub(1);
                match mouse.kind {
                    MouseEventKind::ScrollDown => *top = (*top + 3).min(most),
                    MouseEventKind::ScrollUp => *top = top.saturating_sub(3),
                    _ => {}
                }
                return Vec::new();
            }
            Mode::Help | Mode::Sessions(..) => return Vec::new(),
        }
        let by = match mouse.kind {
            MouseEventKind::ScrollDown => 3,
            MouseEventKind::ScrollUp => -3,
            MouseEventKind::ScrollRight => {
                self.across = self.across.saturating_add(4);
                return Vec::new();
            }
            MouseEventKind::ScrollLeft => {
                self.across = self.across.saturating_sub(4);
                return Vec::new();
            }
            MouseEventKind::Down(MouseButton::Left) => {
                self.click(&layout, position);
                return Vec::new();
            }
            _ => return Vec::new(),
        };
        if is_in(layout.turns) {
            let by = if by > 0 { 1 } else { -1 };
            self.choose(self.chosen.saturating_add_signed(by));
        } else if is_in(layout.lines) || is_in(layout.files) || is_in(layout.about) {
            self.scroll(by);
        }
        Vec::new()
    }

    fn click(&mut self, layout: &Layout, at: Position) {
        let row_in = |area: Rect| usize::from(at.y.saturating_sub(area.y));
        if layout.turns.contains(at) {
            self.pane = Pane::Turns;
            let row = self.top + row_in(layout.turns);
            match row {
                row if row == self.chosen => self.fold(),
                row if row < self.rows.len() => self.choose(row),
                _ => {}
            }
        } else if layout.files.contains(at) {
            self.pane = Pane::Diff;
            let file = self.first_file(layout.files.height) + row_in(layout.files);
            let first = self.patch().and_then(|patch| patch.files.get(file)?.first);
            self.line = first.unwrap_or(self.line);
        } else if layout.lines.contains(at) || layout.about.contains(at) {
            self.pane = Pane::Diff;
        }
    }
}
