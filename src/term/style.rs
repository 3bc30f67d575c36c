//! The styles, all in one place. Each takes its text and gives it back with SGR sequences around it,
//! which [`Term`](super::Term) takes away again where styles are off. They can be padded as the text can.

use std::fmt::Display;

use owo_colors::Style;

/// The number of a turn.
pub fn turn(number: impl Display) -> impl Display {
    Style::new().yellow().style(number)
}

/// The mark of the current turn.
pub fn current(mark: impl Display) -> impl Display {
    Style::new().green().bold().style(mark)
}

/// A heading, or the one thing on a line that matters.
pub fn heading(text: impl Display) -> impl Display {
    Style::new().bold().style(text)
}

/// What matters less: times, an arm that was left.
pub fn dim(text: impl Display) -> impl Display {
    Style::new().dimmed().style(text)
}

/// What was added.
pub fn added(text: impl Display) -> impl Display {
    Style::new().green().style(text)
}

/// What was removed.
pub fn removed(text: impl Display) -> impl Display {
    Style::new().red().style(text)
}

/// The word before a hint.
pub fn hint(label: impl Display) -> impl Display {
    Style::new().cyan().style(label)
}

/// The word before a warning.
pub fn warning(label: impl Display) -> impl Display {
    Style::new().yellow().style(label)
}

/// The word before an error.
pub fn error(label: impl Display) -> impl Display {
    Style::new().red().bold().style(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_padded_not_the_styling() {
        assert_eq!(format!("{:>3}", turn(7)), "\x1b[33m  7\x1b[0m");
        assert_eq!(format!("{:<4}|", dim("ab")), "\x1b[2mab  \x1b[0m|");
    }
}
