//! The notes themselves: which bytes stood at which path, and what is true of paths that are not named.

use std::collections::{BTreeMap, BTreeSet};

use bstr::ByteSlice;
use serde::{Deserialize, Serialize};

use super::noting::Scope;
use crate::gitengine::{Entry, Mode, Oid, RepoPath};
use crate::history::turn::{Ending, Kind, Turn};

/// What was on disk at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raw {
    /// What git made of it: the note counts for just that blob.
    pub blob: Oid,
    /// The bytes, as a blob.
    pub raw: Oid,
    /// Executable or not.
    pub mode: Mode,
}

/// What was on disk, by path.
#[derive(Clone, Debug, Default)]
pub struct RawIds {
    pub(super) noted: BTreeMap<RepoPath, Raw>,
    pub(super) unnoted: Unnoted,
}

/// What the bytes were at a path of which nothing is noted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unnoted {
    /// The blob's: edio has seen the work tree, and noted what is otherwise.
    #[default]
    IsBlob,
    /// What git makes of the blob: nobody has seen it. So it is in HEAD, where a session began.
    AsCheckedOut,
}

impl Unnoted {
    /// What holds in a turn.
    pub fn of(turn: &Turn) -> Self {
        let is_unseen = turn.note.work.ending == Some(Ending::Unmeasured);
        match is_unseen && turn.note.kind == Kind::Baseline {
            true => Unnoted::AsCheckedOut,
            false => Unnoted::IsBlob,
        }
    }
}

impl RawIds {
    /// Is this the raw content that is noted of the path?
    pub fn has_raw(&self, path: &RepoPath, raw: &Oid) -> bool {
        self.noted.get(path).is_some_and(|noted| &noted.raw == raw)
    }

    /// Reads the notes: `<blob> <raw> <mode> TAB <path> NUL`, for each path.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let records = bytes.split_str("\0").filter(|record| !record.is_empty());
        let pair = |record: &[u8]| {
            let (head, path) = record.split_once_str("\t")?;
            let mut fields = head.split_str(" ");
            let raw = Raw {
                blob: Oid::from_bytes(fields.next()?)?,
                raw: Oid::from_bytes(fields.next()?)?,
                mode: Mode::from_digits(fields.next()?)?,
            };
            Some((RepoPath::new(path)?, raw))
        };
        let noted = records.map(pair).collect::<Option<_>>()?;
        Some(Self {
            noted,
            unnoted: Unnoted::default(),
        })
    }

    /// The notes as [`RawIds::parse`] reads them.
    pub fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (path, raw) in &self.noted {
            let head = format!("{} {} {}\t", raw.blob, raw.raw, raw.mode.digits());
            bytes.extend_from_slice(head.as_bytes());
            bytes.extend_from_slice(path.as_bytes());
            bytes.push(0);
        }
        bytes
    }

    /// The bytes that were on disk where the tree has this entry, if that is noted.
    pub fn of(&self, path: &RepoPath, entry: &Entry) -> Option<&Oid> {
        let raw = self.noted.get(path).filter(|raw| raw.blob == entry.oid);
        raw.map(|raw| &raw.raw)
    }

    /// What the bytes were where nothing is noted.
    pub fn unnoted(&self) -> Unnoted {
        self.unnoted
    }

    /// These notes, where nobody has seen the other paths.
    #[must_use]
    pub fn else_as_checked_out(self) -> Self {
        Self {
            unnoted: Unnoted::AsCheckedOut,
            ..self
        }
    }

    /// The paths of which one says something else than the other, where what neither notes is the blob's.
    pub(super) fn paths_noted_otherwise(&self, other: &RawIds) -> Vec<RepoPath> {
        let paths: BTreeSet<&RepoPath> = self.noted.keys().chain(other.noted.keys()).collect();
        let differ = paths
            .into_iter()
            .filter(|path| self.noted.get(*path) != other.noted.get(*path));
        differ.cloned().collect()
    }

    /// The notes that stay where this scope is looked at anew.
    pub(super) fn outside(&self, scope: &Scope<'_>) -> Self {
        let mut noted = self.noted.clone();
        if let Scope::Changed(differences) = scope {
            for difference in *differences {
                noted.remove(&difference.path);
            }
        }
        Self {
            noted,
            unnoted: Unnoted::IsBlob,
        }
    }

    /// Is the same noted in both?
    pub fn says_the_same(&self, other: &RawIds) -> bool {
        self.noted == other.noted
    }

    /// Is nothing noted?
    pub fn is_empty(&self) -> bool {
        self.noted.is_empty()
    }

    /// The contents that no tree holds, by path.
    pub fn contents(&self) -> impl Iterator<Item = (&RepoPath, Entry)> {
        let lonely = self.noted.iter().filter(|(_, raw)| raw.raw != raw.blob);
        lonely.map(|(path, raw)| {
            let entry = Entry {
                mode: raw.mode,
                oid: raw.raw.clone(),
            };
            (path, entry)
        })
    }

    /// The notes without these paths and what is below them.
    #[must_use]
    pub fn without(&self, paths: &[RepoPath]) -> Self {
        let mut left = self.clone();
        left.noted.retain(|path, _| !path.is_among(paths));
        left
    }

    /// The notes of a turn that has the tree of `self` but for these paths, which come from another.
    #[must_use]
    pub fn with(&self, other: &RawIds, paths: impl Iterator<Item = RepoPath>) -> Self {
        let mut all = self.clone();
        for path in paths {
            match other.noted.get(&path) {
                Some(raw) => all.noted.insert(path, raw.clone()),
                None => all.noted.remove(&path),
            };
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_come_back() {
        let oid = |digit: &str| Oid::new(digit.repeat(40)).unwrap();
        let path = RepoPath::new(&b"a\tb\n\xff"[..]).unwrap();
        let raw = Raw {
            blob: oid("a"),
            raw: oid("b"),
            mode: Mode::Executable,
        };
        let ids = RawIds {
            noted: BTreeMap::from([(path.clone(), raw)]),
            unnoted: Unnoted::IsBlob,
        };
        let read = RawIds::parse(&ids.write()).unwrap();
        assert!(read.says_the_same(&ids));
        let entry = |digit| Entry {
            mode: Mode::File,
            oid: oid(digit),
        };
        assert_eq!(ids.of(&path, &entry("a")), Some(&oid("b")));
        assert_eq!(ids.of(&path, &entry("c")), None);
        assert!(RawIds::parse(b"x").is_none());
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_read_does_no_harm(bytes in crate::gitengine::noise()) {
            if let Some(ids) = RawIds::parse(&bytes) {
                assert!(RawIds::parse(&ids.write()).unwrap().says_the_same(&ids));
            }
        }
    }
}
