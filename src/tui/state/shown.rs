//! What stands in the place of the difference, and the file in it that is chosen.

use super::patches::Known;
use super::{Compared, State};
use crate::tui::patch::{End, Patch};

/// What stands in the place of a difference.
#[derive(Debug)]
pub enum Shown<'a> {
    /// A patch.
    Patch(&'a Patch),
    /// It is still read.
    Reading,
    /// There is none, and why.
    Nothing(String),
}

impl State {
    /// What stands in the place of the difference.
    pub fn shown(&self) -> Shown<'_> {
        if !self.is_read {
            return Shown::Reading;
        }
        if self.book.is_none() {
            return Shown::Nothing(String::new());
        }
        match self.shown.as_ref().map(|pair| self.patches.get(pair)) {
            Some(Some(Known {
                failed: Some(why), ..
            })) => Shown::Nothing(why.clone()),
            Some(Some(known)) => {
                match known.patch.files.is_empty() && known.patch.end == End::Whole {
                    true => Shown::Nothing("nothing differs".to_owned()),
                    false => Shown::Patch(&known.patch),
                }
            }
            _ => match self.wanted_pair(self.chosen) {
                Some(pair) if pair.old == pair.new => Shown::Nothing("nothing differs".to_owned()),
                Some(_) => Shown::Reading,
                None => self.why_nothing(),
            },
        }
    }

    fn why_nothing(&self) -> Shown<'_> {
        let refused = self.look.as_ref().and_then(|look| look.refused.clone());
        match (self.compared, self.book.as_ref().map(|book| &book.head)) {
            (Compared::Head, Some(None)) => Shown::Nothing("there is no commit yet".to_owned()),
            (Compared::Disk, _) if refused.is_some() => Shown::Nothing(refused.unwrap_or_default()),
            _ if self.rows.is_empty() => Shown::Nothing(String::new()),
            _ => Shown::Reading,
        }
    }

    /// The patch that is shown.
    pub fn patch(&self) -> Option<&Patch> {
        match self.shown() {
            Shown::Patch(patch) => Some(patch),
            _ => None,
        }
    }

    /// The file at the top of what is seen: the one that is chosen.
    pub fn file(&self) -> Option<usize> {
        let patch = self.patch().filter(|patch| !patch.files.is_empty())?;
        Some(patch.file_at(self.line))
    }

    /// How many files there are to list.
    pub fn files_shown(&self) -> usize {
        self.patch().map_or(0, |patch| patch.files.len())
    }

    /// The file at the top of the list, which has so many rows: the chosen one is in the middle, if it can be.
    pub fn first_file(&self, rows: u16) -> usize {
        let rows = usize::from(rows);
        let last = self.files_shown().saturating_sub(rows);
        self.file().unwrap_or(0).saturating_sub(rows / 2).min(last)
    }

    /// How many lines it takes to say who worked, and what was said.
    pub fn about_height(&self) -> u16 {
        let of_one = self.compared != Compared::Marked;
        let lines = self.snapshot().filter(|_| of_one).map_or(0, |turn| {
            let message = turn.note.message.trim();
            1 + message.lines().count().clamp(1, 3)
        });
        u16::try_from(lines).unwrap_or(0)
    }
}
