//! A text that is typed: of one line, or of several.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A text, and where the cursor stands in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    text: String,
    /// In bytes.
    cursor: usize,
}

impl Field {
    /// A field with this text; the cursor stands at its end.
    pub fn with(text: String) -> Self {
        Self {
            cursor: text.len(),
            text,
        }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text before the cursor.
    pub fn before_cursor(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or_default()
    }

    /// Puts a text where the cursor stands.
    pub fn insert(&mut self, text: &str) {
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    /// Takes a key. Was it one for a text?
    pub fn press(&mut self, key: KeyEvent) -> bool {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('a') if control => self.cursor = self.line_start(),
            KeyCode::Char('e') if control => self.cursor = self.line_end(),
            KeyCode::Char('u') if control => {
                let start = self.line_start();
                self.text.drain(start..self.cursor);
                self.cursor = start;
            }
            KeyCode::Char('w') if control => self.remove_word(),
            KeyCode::Char(_) if control || key.modifiers.contains(KeyModifiers::ALT) => {
                return false;
            }
            KeyCode::Char(c) => self.insert(c.encode_utf8(&mut [0; 4])),
            KeyCode::Backspace => {
                let before = self.previous();
                self.text.drain(before..self.cursor);
                self.cursor = before;
            }
            KeyCode::Delete => {
                let next = self.next();
                self.text.drain(self.cursor..next);
            }
            KeyCode::Left => self.cursor = self.previous(),
            KeyCode::Right => self.cursor = self.next(),
            KeyCode::Home => self.cursor = self.line_start(),
            KeyCode::End => self.cursor = self.line_end(),
            _ => return false,
        }
        true
    }

    fn previous(&self) -> usize {
        let mut before = self.before_cursor().char_indices();
        before.next_back().map_or(0, |(at, _)| at)
    }

    fn next(&self) -> usize {
        let next = self
            .text
            .get(self.cursor..)
            .and_then(|rest| rest.chars().next());
        self.cursor + next.map_or(0, char::len_utf8)
    }

    fn line_start(&self) -> usize {
        self.before_cursor().rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        let rest = self.text.get(self.cursor..).unwrap_or_default();
        self.cursor + rest.find('\n').unwrap_or(rest.len())
    }

    fn remove_word(&mut self) {
        let kept = self.before_cursor().trim_end_matches(' ');
        let start = kept.rfind([' ', '\n']).map_or(0, |at| at + 1);
        self.text.drain(start..self.cursor);
        self.cursor = start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_typed_and_corrected() {
        let mut field = Field::default();
        let mut press = |code, modifiers| field.press(KeyEvent::new(code, modifiers));
        for c in "grün und blau".chars() {
            press(KeyCode::Char(c), KeyModifiers::NONE);
        }
        press(KeyCode::Char('w'), KeyModifiers::CONTROL);
        press(KeyCode::Home, KeyModifiers::NONE);
        for _ in 0..3 {
            press(KeyCode::Right, KeyModifiers::NONE);
        }
        press(KeyCode::Backspace, KeyModifiers::NONE);
        press(KeyCode::Char('o'), KeyModifiers::SHIFT);
        assert!(!press(KeyCode::Char('x'), KeyModifiers::CONTROL));
        assert!(!press(KeyCode::Enter, KeyModifiers::NONE));
        assert_eq!((field.text(), field.before_cursor()), ("gron und ", "gro"));
    }
}
