//! Files that were changed just before a scan, or during it.
//!
//! git knows a file by its size, its number and its times, and compares these times by whole seconds. So it does not see
//! an edit that keeps the size and sets the modification time back, in the same second as the change that it has seen;
//! nor, behind a conversion, one that the conversion hides. edio remembers these few files more closely.

use std::fs::{self, Metadata};
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::gitengine::{ObjectFormat, Oid, RepoPath};

use super::super::restore::disk_blob_id;

/// How coarse the clock of a file system may be: two changes within this time can bear the same time.
const TICK: Duration = Duration::from_millis(20);

/// A file that was changed in the second in which a scan began, or later, as it was before git read it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recent {
    path: RepoPath,
    stamp: Stamp,
    /// Its content, where another change can bear the same stamp.
    content: Option<Oid>,
}

impl Recent {
    /// Its path.
    pub fn path(&self) -> &RepoPath {
        &self.path
    }
}

/// What the system says of a file, as exactly as it can.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Stamp {
    number: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// A work tree, and when the scan of it began, as the file system under its git directory tells the time.
#[derive(Clone, Copy)]
pub struct Looking<'a> {
    /// The top.
    pub top: &'a Path,
    /// How contents are named.
    pub format: ObjectFormat,
    /// When it began.
    pub started: SystemTime,
}

impl Looking<'_> {
    /// Those of these files that were changed so lately. To be asked before git reads them.
    pub fn recent<'p>(self, paths: impl Iterator<Item = &'p RepoPath>) -> Vec<Recent> {
        let recent = |path: &RepoPath| self.stamp(path).filter(|stamp| self.is_recent(stamp));
        let looks = paths.filter_map(|path| Some(self.look(path, recent(path)?)));
        looks.collect()
    }

    /// All of these files that are there, whenever they were changed. To be asked before they are read.
    pub fn all<'p>(self, paths: impl Iterator<Item = &'p RepoPath>) -> Vec<Recent> {
        let looks = paths.filter_map(|path| Some(self.look(path, self.stamp(path)?)));
        looks.collect()
    }

    fn look(self, path: &RepoPath, stamp: Stamp) -> Recent {
        let content = match self.may_be_shared(&stamp) {
            true => self.content(path),
            false => None,
        };
        // What can't be read has a stamp that is nobody's: the next scan finds it changed.
        let is_unread = self.may_be_shared(&stamp) && content.is_none();
        let size = if is_unread { u64::MAX } else { stamp.size };
        Recent {
            path: path.clone(),
            stamp: Stamp { size, ..stamp },
            content,
        }
    }

    /// What stands at a path now, as a blob through no filter. `None` where no file or link does, or none that can be read.
    pub fn content(self, path: &RepoPath) -> Option<Oid> {
        disk_blob_id(self.top, path, self.format).ok().flatten()
    }

    fn stamp(self, path: &RepoPath) -> Option<Stamp> {
        let meta = fs::symlink_metadata(path.below(self.top)).ok()?;
        Some(Stamp::of(&meta))
    }

    fn is_recent(self, stamp: &Stamp) -> bool {
        stamp.changed.0 >= seconds(self.started).0
    }

    /// Could a later change bear the same time? Where no time has a fraction, the file system counts whole seconds.
    fn may_be_shared(self, stamp: &Stamp) -> bool {
        stamp.changed.1 == 0 || stamp.changed > seconds(self.started - TICK)
    }

    /// Those of them that are not as they were, by what git can't see.
    pub fn changed_since(self, recents: &[Recent]) -> Vec<RepoPath> {
        let changed = recents.iter().filter(|recent| !self.is_as_it_was(recent));
        changed.map(|recent| recent.path.clone()).collect()
    }

    fn is_as_it_was(self, recent: &Recent) -> bool {
        self.stamp(&recent.path) == Some(recent.stamp)
            && (recent.content.is_none() || recent.content == self.content(&recent.path))
    }

    /// Those of them that the next scan must know of, too: this one began in the same second.
    pub fn still_recent(self, recents: &[Recent]) -> impl Iterator<Item = &Recent> {
        recents
            .iter()
            .filter(move |recent| self.is_recent(&recent.stamp))
    }
}

fn seconds(time: SystemTime) -> (i64, i64) {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or((0, 0), |since| {
        let whole = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
        (whole, i64::from(since.subsec_nanos()))
    })
}

impl Stamp {
    #[cfg(unix)]
    fn of(meta: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            number: meta.ino(),
            size: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }

    #[cfg(not(unix))]
    fn of(meta: &Metadata) -> Self {
        let modified = meta.modified().map_or((i64::MAX, 0), seconds);
        Self {
            number: 0,
            size: meta.len(),
            modified,
            changed: modified,
        }
    }
}
