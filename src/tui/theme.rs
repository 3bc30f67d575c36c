//! The colours. Where there are only sixteen, they are the terminal's own, which suit its background; where there are none,
//! bold, dim, underlined and reversed text tell the same.

use ratatui::style::{Color, Modifier, Style};

use super::syntax::Class;
use crate::env;

/// How everything looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Theme {
    depth: Depth,
    is_light: bool,
}

/// How many colours there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Depth {
    #[default]
    None,
    Sixteen,
    Many,
    All,
}

impl Theme {
    /// The theme of this terminal, as far as it is known, or as it is set: `light`, `dark`.
    pub fn of(colors: bool, set: Option<&[u8]>) -> Self {
        let depth = match env::colors() {
            _ if !colors => Depth::None,
            16 => Depth::Sixteen,
            256 => Depth::Many,
            _ => Depth::All,
        };
        let is_light = match set {
            Some(b"light") => true,
            Some(b"dark") => false,
            _ => env::light_background().unwrap_or(false),
        };
        Self { depth, is_light }
    }

    /// Without colours.
    pub fn plain() -> Self {
        Self::default()
    }

    /// All the colours there are, on a dark background.
    pub fn rich() -> Self {
        Self {
            depth: Depth::All,
            is_light: false,
        }
    }

    fn has_colors(self) -> bool {
        self.depth != Depth::None
    }

    /// A colour by its name, where there are colours.
    fn fore(self, color: Color) -> Style {
        match self.has_colors() {
            true => Style::new().fg(color),
            false => Style::new(),
        }
    }

    /// What matters less.
    pub fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// What matters.
    pub fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// The number of a turn.
    pub fn number(self) -> Style {
        self.fore(Color::Yellow)
    }

    /// Where the work tree stands.
    pub fn current(self) -> Style {
        self.fore(Color::Green).add_modifier(Modifier::BOLD)
    }

    /// What is not saved.
    pub fn unsaved(self) -> Style {
        self.fore(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    /// An agent: each has its colour.
    pub fn agent(self, name: &str) -> Style {
        const COLORS: [Color; 5] = [
            Color::Magenta,
            Color::Cyan,
            Color::Blue,
            Color::Yellow,
            Color::Green,
        ];
        let which = match name {
            "claude" => 0,
            "codex" => 1,
            "gemini" => 2,
            "you" => 4,
            "edio" | "-" => return self.dim(),
            other => other.bytes().map(usize::from).sum::<usize>() % COLORS.len(),
        };
        self.fore(COLORS[which])
    }

    /// What was added.
    pub fn added(self) -> Style {
        self.fore(Color::Green)
    }

    /// What was removed.
    pub fn removed(self) -> Style {
        self.fore(Color::Red)
    }

    /// The letter of what happened to a file.
    pub fn status(self, letter: char) -> Style {
        match letter {
            'A' => self.added(),
            'D' | '-' => self.removed(),
            _ => self.number(),
        }
    }

    /// The head of a hunk.
    pub fn hunk(self) -> Style {
        self.fore(Color::Cyan)
    }

    /// A key.
    pub fn key(self) -> Style {
        self.fore(Color::Cyan).add_modifier(Modifier::BOLD)
    }

    /// What failed.
    pub fn failed(self) -> Style {
        self.fore(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// What was done.
    pub fn done(self) -> Style {
        self.fore(Color::Green)
    }

    /// The row that is chosen, where the keys move.
    pub fn chosen(self) -> Style {
        let back = match (self.depth, self.is_light) {
            (Depth::All, false) => Color::Rgb(48, 58, 84),
            (Depth::All, true) => Color::Rgb(204, 218, 245),
            (Depth::Many, false) => Color::Indexed(238),
            (Depth::Many, true) => Color::Indexed(253),
            _ => return Style::new().add_modifier(Modifier::REVERSED),
        };
        self.on(back)
    }

    /// The row that is chosen in a pane, while the keys move in another.
    pub fn chosen_elsewhere(self) -> Style {
        let back = match (self.depth, self.is_light) {
            (Depth::All, false) => Color::Rgb(38, 42, 54),
            (Depth::All, true) => Color::Rgb(228, 232, 240),
            (Depth::Many, false) => Color::Indexed(235),
            (Depth::Many, true) => Color::Indexed(255),
            _ => return Style::new().add_modifier(Modifier::UNDERLINED),
        };
        self.on(back)
    }

    /// Text that can be read on a background of ours, whatever the terminal's own is.
    fn on(self, back: Color) -> Style {
        Style::new().bg(back).fg(self.text_color())
    }

    fn text_color(self) -> Color {
        match (self.depth, self.is_light) {
            (Depth::All, false) => Color::Rgb(216, 222, 233),
            (Depth::All, true) => Color::Rgb(30, 34, 42),
            (_, false) => Color::Indexed(252),
            (_, true) => Color::Indexed(235),
        }
    }

    /// A line that was added or removed.
    pub fn changed_line(self, added: bool) -> Style {
        let back = match (self.depth, self.is_light, added) {
            (Depth::All, false, true) => Color::Rgb(18, 40, 27),
            (Depth::All, false, false) => Color::Rgb(48, 22, 25),
            (Depth::All, true, true) => Color::Rgb(226, 246, 231),
            (Depth::All, true, false) => Color::Rgb(253, 230, 230),
            (Depth::None, ..) => return Style::new(),
            // Few colours are not enough to tell words apart as well.
            (_, _, true) => return self.added(),
            (_, _, false) => return self.removed(),
        };
        self.on(back)
    }

    /// The words of such a line that are other words.
    pub fn changed_words(self, added: bool) -> Style {
        let back = match (self.depth, self.is_light, added) {
            (Depth::All, false, true) => Color::Rgb(32, 92, 52),
            (Depth::All, false, false) => Color::Rgb(122, 42, 48),
            (Depth::All, true, true) => Color::Rgb(166, 226, 182),
            (Depth::All, true, false) => Color::Rgb(248, 180, 180),
            (Depth::Many, false, true) => Color::Indexed(22),
            (Depth::Many, false, false) => Color::Indexed(52),
            (Depth::Many, true, true) => Color::Indexed(157),
            (Depth::Many, true, false) => Color::Indexed(217),
            (Depth::Sixteen, ..) => return Style::new().add_modifier(Modifier::REVERSED),
            (Depth::None, ..) => {
                return Style::new().add_modifier(Modifier::UNDERLINED | Modifier::BOLD);
            }
        };
        self.on(back)
    }

    /// A part of a line, by what it is. On lines that were added or removed only where there are colours enough.
    pub fn syntax(self, class: Class, is_changed: bool) -> Style {
        if !self.has_colors() || is_changed && self.depth != Depth::All {
            return Style::new();
        }
        if self.depth == Depth::All {
            return Style::new().fg(self.exact(class));
        }
        match class {
            Class::Comment => self.dim(),
            Class::Text => self.fore(Color::Green),
            Class::Number => self.fore(Color::Cyan),
            Class::Keyword => self.fore(Color::Magenta),
            Class::Type => self.fore(Color::Yellow),
            Class::Call => self.fore(Color::Blue),
        }
    }

    fn exact(self, class: Class) -> Color {
        let (dark, light) = match class {
            Class::Comment => ((127, 137, 154), (106, 115, 125)),
            Class::Text => ((163, 206, 139), (3, 98, 65)),
            Class::Number => ((224, 164, 120), (150, 78, 10)),
            Class::Keyword => ((199, 146, 234), (130, 60, 170)),
            Class::Type => ((229, 200, 124), (125, 86, 0)),
            Class::Call => ((130, 170, 255), (28, 88, 178)),
        };
        let (red, green, blue) = if self.is_light { light } else { dark };
        Color::Rgb(red, green, blue)
    }
}
