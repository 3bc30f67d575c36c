//! How everything looks. Nothing is changed here, and nothing from outside drives the terminal: text from files, messages
//! and agents is made safe before it is put into a cell.

mod diff;
mod over;
mod paint;
mod turns;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use self::paint::Pen;
use super::keys;
use super::layout::Layout;
use super::state::{Mode, State};
use super::theme::Theme;
use crate::term::text;

/// Draws everything.
pub fn draw(frame: &mut Frame<'_>, state: &State, theme: &Theme) {
    let layout = Layout::of(state);
    let area = frame.area();
    let mut cursor = None;
    let mut canvas = Canvas {
        buffer: frame.buffer_mut(),
        state,
        theme: *theme,
    };
    turns::draw(&mut canvas, &layout);
    canvas.border(layout.border);
    diff::draw(&mut canvas, &layout);
    canvas.bottom(&layout, &mut cursor);
    over::draw(&mut canvas, area, &mut cursor);
    if let Some(cursor) = cursor {
        frame.set_cursor_position(cursor);
    }
}

/// What is drawn on, and what is drawn.
struct Canvas<'a> {
    buffer: &'a mut Buffer,
    state: &'a State,
    theme: Theme,
}

impl Canvas<'_> {
    /// A pen at the left of a row.
    fn pen(&mut self, area: Rect, row: u16) -> Pen<'_> {
        Pen::new(self.buffer, area, row)
    }

    fn fill(&mut self, area: Rect, style: Style) {
        self.buffer.set_style(area, style);
    }

    fn border(&mut self, area: Rect) {
        let dim = self.theme.dim();
        for row in 0..area.height {
            self.pen(area, row).put("│", dim);
        }
    }

    /// What just happened, and the keys.
    fn bottom(&mut self, layout: &Layout, cursor: &mut Option<(u16, u16)>) {
        let state = self.state;
        if matches!(state.mode, Mode::Filter) {
            self.filter_line(layout.told, cursor);
        } else if !self.told(layout.told) || layout.told != layout.keys {
            self.keys(layout.keys);
        }
        if matches!(state.mode, Mode::Filter) && layout.told != layout.keys {
            self.keys(layout.keys);
        }
    }

    fn filter_line(&mut self, area: Rect, cursor: &mut Option<(u16, u16)>) {
        let theme = self.theme;
        let field = &self.state.filter;
        let before = text::plain(field.before_cursor().as_bytes());
        let whole = text::plain(field.text().as_bytes());
        let mut pen = self.pen(area, 0);
        pen.put("/", theme.key());
        pen.put(&before, Style::new());
        *cursor = Some(pen.position());
        pen.put(&whole[before.len().min(whole.len())..], Style::new());
        if whole.is_empty() {
            pen.put(" text, agent:NAME, file:PATH", theme.dim());
        }
    }

    /// What just happened. Was there anything?
    fn told(&mut self, area: Rect) -> bool {
        let theme = self.theme;
        let state = self.state;
        let mut pen = self.pen(area, 0);
        if let Some(busy) = state.busy {
            pen.put(&format!(" {busy}…"), theme.unsaved());
            return true;
        }
        let Some(told) = &state.told else {
            return false;
        };
        let mark = match told.failed {
            true => (" ✗ ", theme.failed()),
            false => (" ✓ ", theme.done()),
        };
        pen.put(mark.0, mark.1);
        let hint = told.hint.as_ref().map(|hint| text::plain(hint.as_bytes()));
        let room = pen
            .left()
            .saturating_sub(hint.as_ref().map_or(0, |hint| hint.chars().count() + 4));
        let words = text::shorten(&text::plain(told.text.as_bytes()), room.max(20));
        pen.put(&words, Style::new());
        if let Some(hint) = hint {
            pen.put("   ", Style::new());
            pen.put(&hint, theme.key());
        }
        true
    }

    fn keys(&mut self, area: Rect) {
        let theme = self.theme;
        let mut listed = keys::now(self.state);
        // How to leave and where all keys are listed is always told.
        let last: Vec<keys::Key> = listed.split_off(listed.len().saturating_sub(2));
        let width = |keys: &[keys::Key]| -> usize {
            let widths = keys
                .iter()
                .map(|(key, does)| key.chars().count() + does.chars().count() + 3);
            widths.sum()
        };
        while !listed.is_empty() && width(&listed) + width(&last) > usize::from(area.width) {
            listed.pop();
        }
        let mut pen = self.pen(area, 0);
        for (key, does) in listed.iter().chain(&last) {
            pen.put(" ", Style::new());
            pen.put(key, theme.key());
            pen.put(" ", Style::new());
            pen.put(does, theme.dim());
            pen.put(" ", Style::new());
        }
    }
}
