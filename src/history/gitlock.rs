//! git's own lock files. Whose one is can't be known, so it is waited for, and named with its age; it is never removed.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::error::{Error, Result};

use super::accept;
use super::workspace::{Locked, Workspace};

/// How long another process may hold a lock before edio gives up: 20 times 50 ms.
pub const TRIES: u32 = 20;
/// How long it waits between two looks.
pub const PAUSE: Duration = Duration::from_millis(50);

/// A lock that somebody holds, or has left.
pub struct GitLock {
    /// The file.
    pub file: PathBuf,
    made: SystemTime,
}

impl GitLock {
    /// The lock, if it is there.
    pub fn at(file: PathBuf) -> Option<Self> {
        let made = fs::symlink_metadata(&file).and_then(|meta| meta.modified());
        made.ok().map(|made| Self { file, made })
    }

    /// The locks that stand in this workspace and its repository, but for those on refs.
    pub fn all(workspace: &Workspace) -> Vec<Self> {
        let git = &workspace.git;
        let files = [
            accept::index_lock(workspace),
            git.git_dir.join("HEAD.lock"),
            packed_refs(workspace),
            git.common_dir.join("config.lock"),
        ];
        files.into_iter().filter_map(Self::at).collect()
    }

    /// When it was made, in seconds since 1970.
    pub fn made(&self) -> i64 {
        let since = self.made.duration_since(UNIX_EPOCH);
        since.map_or(0, |since| since.as_secs().cast_signed())
    }
}

/// Sees that refs can be deleted: git locks the packed ones for that.
///
/// # Errors
///
/// Somebody holds that lock.
pub fn wait_for_packed_refs(workspace: &Locked) -> Result<()> {
    let lock = packed_refs(workspace);
    for _ in 0..TRIES {
        match lock.symlink_metadata() {
            Ok(_) => sleep(PAUSE),
            Err(_) => return Ok(()),
        }
    }
    Err(held(workspace, "the packed refs", &lock))
}

/// Somebody holds this, by this lock.
pub fn held(workspace: &Locked, what: &str, lock: &Path) -> Error {
    let age = GitLock::at(lock.to_owned()).and_then(|lock| {
        let now = workspace.time_of_file_system().ok()?;
        now.duration_since(lock.made).ok()
    });
    let age = age.map_or(String::new(), |age| {
        format!(", and is {} old", in_words(age))
    });
    Error::cannot(format!("another git process holds {what}"))
        .because(Error::cannot(format!("{} exists{age}", lock.display())))
        .hint("wait for it and try again; if no git is running, remove that file")
}

fn packed_refs(workspace: &Workspace) -> PathBuf {
    workspace.git.common_dir.join("packed-refs.lock")
}

fn in_words(age: Duration) -> String {
    let (count, unit) = match age.as_secs() {
        seconds @ 0..60 => (seconds, "second"),
        seconds @ 60..3600 => (seconds / 60, "minute"),
        seconds @ 3600..86400 => (seconds / 3600, "hour"),
        seconds => (seconds / 86400, "day"),
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}
