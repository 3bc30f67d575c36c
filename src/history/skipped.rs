//! What a snapshot could not hold. It is named in the turn, and no restore of that turn touches it.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::gitengine::RepoPath;

use super::limits::size;

/// How many are named in the turn's commit itself.
pub const NAMED: usize = 20;

/// Are they too many to be named in the turn's own commit?
pub fn are_many(skipped: &[Skipped]) -> bool {
    skipped.len() > NAMED
}

/// Why a path could not be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// It can't be opened.
    Unreadable,
    /// It is a FIFO, a socket or a device.
    Special,
    /// It is a repository of its own.
    Nested,
    /// It lies in a repository of its own.
    InNested,
    /// It is a submodule: its commit is held, its files are not.
    Submodule,
    /// git would not take it.
    Rejected,
    /// It is larger than an untracked file may be: it has so many bytes.
    TooLarge(u64),
    /// It is tracked, and the person wants it in no turn.
    Excluded,
    /// Its filter fails: its bytes are held as they are, and no commit gets them.
    Unfiltered,
}

impl Why {
    /// The size of what is too large.
    pub fn bytes(self) -> Option<u64> {
        match self {
            Why::TooLarge(bytes) => Some(bytes),
            _ => None,
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::TooLarge(bytes) => {
                return write!(f, "it has {}: see edio.maxFileSize", size(*bytes));
            }
            Why::Unreadable => "it can't be read",
            Why::Special => "it is no file (a FIFO, a socket, a device)",
            Why::Nested => "it is a repository of its own",
            Why::InNested => "it lies in a repository of its own",
            Why::Submodule => "a submodule's files are its own",
            Why::Rejected => "git can't take it",
            Why::Excluded => "edio.exclude leaves it out",
            Why::Unfiltered => "its filter fails, so its bytes are held as they are",
        })
    }
}

/// A path that could not be held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// The path. It may be a name that git can't hold: it is compared and shown, and nothing else.
    #[serde(deserialize_with = "any_name")]
    pub path: RepoPath,
    /// The reason.
    pub why: Why,
}

impl Skipped {
    /// Is the path left out of the turn, so that nothing may be done to it for the turn's sake?
    pub fn is_left_out(&self) -> bool {
        !matches!(self.why, Why::Submodule | Why::Unfiltered)
    }

    /// A path with its reason.
    pub fn new(path: RepoPath, why: Why) -> Self {
        Self { path, why }
    }
}

/// The paths that a snapshot leaves out, without the names that git can't hold. What lies below one is left out with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotHeld(BTreeSet<RepoPath>);

impl NotHeld {
    /// Those among what is skipped.
    pub fn of(skipped: &[Skipped]) -> Self {
        let left_out = skipped.iter().filter(|skipped| skipped.is_left_out());
        let paths = left_out.filter_map(|skipped| skipped.path.holdable());
        Self(paths.cloned().collect())
    }

    /// Is the path left out?
    pub fn covers(&self, path: &RepoPath) -> bool {
        path.is_within_any(&self.0)
    }

    /// Is nothing left out?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Is the path itself named as left out?
    pub fn names(&self, path: &RepoPath) -> bool {
        self.0.contains(path)
    }

    /// The paths, without those below them.
    pub fn paths(&self) -> impl Iterator<Item = &RepoPath> {
        self.0.iter()
    }
}

impl FromIterator<RepoPath> for NotHeld {
    fn from_iter<I: IntoIterator<Item = RepoPath>>(paths: I) -> Self {
        Self(paths.into_iter().collect())
    }
}

fn any_name<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<RepoPath, D::Error> {
    RepoPath::deserialize_any_name(deserializer)
}

/// `2 [{"path":"lib","why":"nested"},…]`: the count, then those that are named.
pub fn write(count: usize, skipped: &[Skipped]) -> String {
    let json = serde_json::to_string(skipped).unwrap_or_else(|_| "[]".to_owned());
    format!("{count} {json}")
}

/// Reads what [`write`] wrote.
pub fn parse(text: &str) -> Option<(usize, Vec<Skipped>)> {
    let (count, json) = text.split_once(' ')?;
    Some((count.parse().ok()?, serde_json::from_str(json).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn whatever_is_read_does_no_harm(bytes in crate::gitengine::noise()) {
            let _ = parse(&String::from_utf8_lossy(&bytes));
        }
    }
}
