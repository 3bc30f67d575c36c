//! How a path stands to what is wanted there, by what edio has put there and what the system says of it.

use std::fs::{self, Metadata};

use serde::{Deserialize, Serialize};

use super::Checkout;
use super::wishes::{Source, Wanted};
use crate::error::{Result, While};
use crate::gitengine::{Mode, Oid, RepoPath};
use crate::history::restore::{Look, OnDisk};

/// What edio has put at a path.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Held {
    pub(super) wanted: Wanted,
    /// The bytes, or the target of a link, as a blob. A folder has none.
    pub(super) bytes: Option<Oid>,
    /// What the system says of it, where another change would bear another stamp.
    pub(super) stamp: Option<Stamp>,
}

/// What the system says of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    device: u64,
    number: u64,
    mode: u32,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// How a path stands to what is wanted there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Right, and not touched since.
    AsStamped,
    /// Right.
    AsHeld,
    /// Not right.
    Other,
}

impl Checkout<'_> {
    /// Is at a path what edio has put there, and is that what is wanted?
    pub(super) fn look(&self, path: &RepoPath, wanted: &Wanted) -> Standing {
        let Some(held) = self.held.get(path).filter(|held| &held.wanted == wanted) else {
            return Standing::Other;
        };
        let stands = self.disk.at(path);
        if wanted.source == Source::Nowhere {
            return match stands {
                OnDisk::Folder => Standing::AsHeld,
                _ => Standing::Other,
            };
        }
        let right = match wanted.mode {
            Mode::Symlink => OnDisk::Link,
            _ => OnDisk::File,
        };
        let meta = path.below(&self.top).symlink_metadata();
        let Some(meta) = meta.ok().filter(|_| stands == right) else {
            return Standing::Other;
        };
        if held.stamp == Some(Stamp::of(&meta)) {
            return Standing::AsStamped;
        }
        let format = self.room.workspace.git.format;
        let is_same = matches!(self.disk.blob_id(path, format), Ok(bytes) if bytes == held.bytes);
        match is_same && has_mode(&meta, wanted.mode) {
            true => Standing::AsHeld,
            false => Standing::Other,
        }
    }

    /// Notes what the system says of these paths, but for those that can change again without another stamp.
    pub(super) fn stamp(&mut self, paths: &[RepoPath]) -> Result<()> {
        let clock = self.state.with_extension("now");
        let now = fs::write(&clock, b"\n").and_then(|()| fs::metadata(&clock));
        let now = now.or_cannot(|| format!("can't write {}", clock.display()))?;
        let now = Stamp::of(&now).changed;
        for path in paths {
            let meta = path.below(&self.top).symlink_metadata();
            let stamp = meta.ok().map(|meta| Stamp::of(&meta));
            if let Some(held) = self.held.get_mut(path) {
                held.stamp = stamp.filter(|stamp| stamp.changed < now);
            }
        }
        Ok(())
    }
}

impl Stamp {
    #[cfg(unix)]
    fn of(meta: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            device: meta.dev(),
            number: meta.ino(),
            mode: meta.mode(),
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// A file that is changed and dated back can't be told here: no stamp is older than now, so each file is read.
    #[cfg(not(unix))]
    fn of(meta: &Metadata) -> Self {
        Self {
            device: 0,
            number: 0,
            mode: 0,
            size: meta.len(),
            modified: (0, 0),
            changed: (0, 0),
        }
    }
}

#[cfg(unix)]
fn has_mode(meta: &Metadata, mode: Mode) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let is_executable = meta.permissions().mode() & 0o100 != 0;
    mode == Mode::Symlink || is_executable == (mode == Mode::Executable)
}

/// There are no executable bits here.
#[cfg(not(unix))]
fn has_mode(_: &Metadata, _: Mode) -> bool {
    true
}
