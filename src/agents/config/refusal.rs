//! Why a file is left as it is, and where in it.

use std::fmt;

/// Why a file is left as it is, or what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong.
    pub what: String,
    /// Where: the line and the column, counted from 1.
    pub place: Option<(usize, usize)>,
}

impl Refusal {
    pub(super) fn new(what: impl Into<String>) -> Self {
        let what = what.into();
        Self { what, place: None }
    }

    /// What stands at the end of a path may be another's.
    pub(super) fn changed(path: &[&str]) -> Self {
        Self::new(format!("{} is not as edio writes it", path.join(".")))
    }

    /// At this byte of the text.
    pub(super) fn at(text: &str, byte: usize, what: impl Into<String>) -> Self {
        let before = text.get(..byte).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before[start..].chars().count() + 1;
        Self {
            what: what.into(),
            place: Some((line, column)),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some((line, column)) => write!(f, "line {line}, column {column}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}
