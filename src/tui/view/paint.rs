//! Text into cells.

use bstr::ByteSlice;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthChar;

use crate::shell::drives_terminal;
use crate::term::text;

/// A tab goes to the next column that this divides.
const TAB: usize = 4;

/// A pen on a row of an area. What doesn't fit is not drawn.
pub struct Pen<'a> {
    buffer: &'a mut Buffer,
    x: u16,
    end: u16,
    y: u16,
}

impl<'a> Pen<'a> {
    /// A pen at the left of a row.
    pub fn new(buffer: &'a mut Buffer, area: Rect, row: u16) -> Self {
        let area = area.intersection(buffer.area);
        let is_there = row < area.height;
        Self {
            x: area.x,
            end: if is_there { area.right() } else { area.x },
            y: area.y.saturating_add(row),
            buffer,
        }
    }

    /// How many columns are left.
    pub fn left(&self) -> usize {
        usize::from(self.end.saturating_sub(self.x))
    }

    /// Where it stands.
    pub fn position(&self) -> (u16, u16) {
        (self.x.min(self.end.saturating_sub(1)), self.y)
    }

    /// Writes a text that is safe.
    pub fn put(&mut self, text: &str, style: Style) {
        for c in text.chars() {
            if !self.cell(c, style) {
                return;
            }
        }
    }

    /// Leaves columns out.
    pub fn skip_to_end(&mut self, columns: usize) {
        let columns = u16::try_from(columns).unwrap_or(u16::MAX);
        self.x = self.x.max(self.end.saturating_sub(columns));
    }

    /// Writes a character. Was there room?
    fn cell(&mut self, c: char, style: Style) -> bool {
        let width = u16::try_from(c.width().unwrap_or(0)).unwrap_or(1);
        if width == 0 {
            self.join(c);
            return true;
        }
        if self.x.saturating_add(width) > self.end {
            return false;
        }
        let mut bytes = [0; 4];
        if let Some(cell) = self.buffer.cell_mut((self.x, self.y)) {
            cell.set_symbol(c.encode_utf8(&mut bytes)).set_style(style);
        }
        for more in 1..width {
            if let Some(cell) = self.buffer.cell_mut((self.x + more, self.y)) {
                cell.reset();
                cell.set_style(style);
            }
        }
        self.x += width;
        true
    }

    /// Adds a mark to the character before.
    fn join(&mut self, mark: char) {
        let back = |x: u16, by: u16| x.checked_sub(by);
        for by in [1, 2] {
            let Some(cell) = back(self.x, by).and_then(|x| self.buffer.cell_mut((x, self.y)))
            else {
                return;
            };
            if !cell.symbol().is_empty() && (cell.symbol() != " " || by == 2) {
                let mut symbol = cell.symbol().to_owned();
                // A pile of marks is no text.
                if symbol.chars().count() < 4 {
                    symbol.push(mark);
                    cell.set_symbol(&symbol);
                }
                return;
            }
        }
    }

    /// Writes a line of a file, without so many columns at its left. `style` tells how each byte looks.
    pub fn line(&mut self, line: &[u8], skipped: usize, style: impl Fn(usize) -> Style) {
        let mut column = 0;
        for (start, end, c) in line.char_indices() {
            if self.left() == 0 {
                return;
            }
            let style = style(start);
            let mut put = |c: char, width: usize| {
                let from = column;
                column += width;
                if from >= skipped {
                    return self.cell(c, style);
                }
                // A wide character that is cut in the middle.
                (skipped..column).all(|_| self.cell(' ', style))
            };
            let is_valid = c != '\u{fffd}' || &line[start..end] == "\u{fffd}".as_bytes();
            let fits = match c {
                '\t' => {
                    let blanks = TAB - column % TAB;
                    for _ in 0..blanks {
                        let from = column;
                        column += 1;
                        if from >= skipped && !self.cell(' ', style) {
                            return;
                        }
                    }
                    true
                }
                c if is_valid && !drives_terminal(c) => put(c, c.width().unwrap_or(0)),
                _ => text::plain(&line[start..end]).chars().all(|c| put(c, 1)),
            };
            if !fits {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(line: &[u8], skipped: usize, width: u16) -> String {
        let area = Rect::new(0, 0, width, 1);
        let mut buffer = Buffer::empty(area);
        Pen::new(&mut buffer, area, 0).line(line, skipped, |_| Style::new());
        let cells = buffer.content().iter().map(|cell| cell.symbol().to_owned());
        cells.collect()
    }

    #[test]
    fn tabs_and_wide_characters_take_their_columns() {
        assert_eq!(drawn(b"a\tb", 0, 8), "a   b   ");
        assert_eq!(drawn(b"a\tb", 2, 6), "  b   ");
        assert_eq!(drawn("日本x".as_bytes(), 0, 6), "日 本 x ");
        assert_eq!(drawn("日本x".as_bytes(), 1, 5), " 本 x ");
        assert_eq!(drawn("日本".as_bytes(), 0, 3), "日  ");
        assert_eq!(drawn("e\u{301}x".as_bytes(), 0, 3), "e\u{301}x ");
    }

    #[test]
    fn nothing_drives_the_terminal() {
        assert_eq!(drawn(b"a\x1b[2Jb", 0, 10), "a\\x1b[2Jb ");
        assert_eq!(drawn(b"\xff\r", 0, 8), "\\xff\\r  ");
        assert_eq!(drawn("\u{202e}".as_bytes(), 0, 8), "\\u{202e}");
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_stay_in_their_row(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..40), skipped in 0usize..20) {
            let drawn = drawn(&bytes, skipped, 12);
            proptest::prop_assert!(!drawn.chars().any(drives_terminal));
        }
    }
}
