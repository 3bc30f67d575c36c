//! Where things stand on the screen, by its size and by what is shown.

use ratatui::layout::Rect;

use super::state::{Pane, State};

/// Narrower screens show one pane at a time.
const TWO_PANES: u16 = 64;
/// Lower screens have one line at the bottom.
const TWO_LINES: u16 = 14;

/// The parts of the screen. What is not shown is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// What the turns are of: the line above them.
    pub turns_title: Rect,
    /// The turns.
    pub turns: Rect,
    /// The line between the panes.
    pub border: Rect,
    /// What is compared: the line above the difference.
    pub diff_title: Rect,
    /// Who worked, when, and what was said.
    pub about: Rect,
    /// The files.
    pub files: Rect,
    /// The line between the files and the lines.
    pub rule: Rect,
    /// The lines.
    pub lines: Rect,
    /// What just happened.
    pub told: Rect,
    /// The keys.
    pub keys: Rect,
}

impl Layout {
    /// The layout of what is shown.
    pub fn of(state: &State) -> Self {
        let (width, height) = state.size;
        let bottom = match height {
            height if height >= TWO_LINES => 2,
            _ => 1,
        };
        let top = height.saturating_sub(bottom);
        let line = |x, y, width| Rect::new(x, y, width, u16::from(y < height));
        let (left, right) = match width >= TWO_PANES {
            true => {
                let left = (width * 2 / 5).clamp(30, 60);
                (
                    Rect::new(0, 0, left, top),
                    Rect::new(left + 1, 0, width - left - 1, top),
                )
            }
            false if state.pane == Pane::Turns => (Rect::new(0, 0, width, top), Rect::ZERO),
            false => (Rect::ZERO, Rect::new(0, 0, width, top)),
        };
        let both = left.width > 0 && right.width > 0;
        let mut layout = Self {
            turns_title: first(left),
            turns: rest(left, 1),
            border: match both {
                true => Rect::new(left.width, 0, 1, top),
                false => Rect::ZERO,
            },
            told: line(0, top, width),
            keys: match bottom {
                2 => line(0, top + 1, width),
                _ => line(0, top, width),
            },
            ..Self::default()
        };
        layout.divide_diff(right, state);
        layout
    }

    fn divide_diff(&mut self, right: Rect, state: &State) {
        self.diff_title = first(right);
        let body = rest(right, 1);
        let about = state.about_height().min(body.height / 4);
        self.about = Rect {
            height: about,
            ..body
        };
        let body = rest(body, about);
        let files = state.files_shown();
        let files = u16::try_from(files).unwrap_or(u16::MAX);
        let files = files.min((body.height / 3).max(1)).min(body.height);
        self.files = Rect {
            height: files,
            ..body
        };
        let body = rest(body, files);
        let rule = u16::from(files > 0 && body.height > 3);
        self.rule = Rect {
            height: rule,
            ..body
        };
        self.lines = rest(body, rule);
    }
}

fn first(area: Rect) -> Rect {
    Rect {
        height: area.height.min(1),
        ..area
    }
}

fn rest(area: Rect, from: u16) -> Rect {
    let from = from.min(area.height);
    Rect {
        y: area.y + from,
        height: area.height - from,
        ..area
    }
}
