//! Changing edio's own refs.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::error::{Error, Result, While};
use crate::gitengine::{GitError, RefChange};

use super::gitlock;
use super::realpath::real;
use super::refnames;
use super::workspace::Locked;

/// How old a lock on one of edio's refs must be to be a dead process's: no git holds one that long.
const DEAD: Duration = Duration::from_secs(10);

/// git waits for a lock for five seconds. After so many times every lock that was there before is old enough.
const TRIES: u32 = 4;

/// Makes all these changes, in this order, or none.
///
/// A lock that a killed git left on a ref of edio's is removed first, if that is what stands in the way: it is waited for
/// until it is old enough to be known for one. Locks on anybody else's refs are never touched.
///
/// # Errors
///
/// A ref is not where it must be, another process holds it, or git failed.
pub fn change(workspace: &Locked, changes: &[RefChange]) -> Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    let mut tries = 1..TRIES;
    loop {
        let Err(error) = workspace.git.change_refs(changes) else {
            return Ok(());
        };
        let stands = remove_dead_locks(workspace) == 0 && !is_on_edios(workspace, &error);
        if stands || tries.next().is_none() {
            return Err(named(workspace, error));
        }
    }
}

/// Is it a lock on one of edio's refs that stands in the way?
fn is_on_edios(workspace: &Locked, error: &GitError) -> bool {
    let lock = error.held_lock().and_then(|lock| real(&lock));
    let folder = real(&folder(workspace));
    matches!((lock, folder), (Some(lock), Some(folder)) if lock.starts_with(&folder))
}

fn named(workspace: &Locked, error: GitError) -> Error {
    match error.held_lock() {
        Some(lock) => gitlock::held(workspace, "the refs", &lock),
        None => error.into(),
    }
}

fn folder(workspace: &Locked) -> PathBuf {
    workspace.git.common_dir.join(refnames::ALL)
}

/// So many refs are changed at a time: others wait for the packed refs no longer than a second.
const CHUNK: usize = 500;

/// Makes all these changes, in this order, some at a time.
///
/// # Errors
///
/// As for [`change`]; those before are made.
pub fn change_in_chunks(workspace: &Locked, changes: &[RefChange]) -> Result<()> {
    changes
        .chunks(CHUNK)
        .try_for_each(|chunk| change(workspace, chunk))
}

/// Removes the file of one of edio's refs in which git finds nothing that it could be: git itself neither moves nor
/// deletes such a ref.
///
/// # Errors
///
/// It can't be removed.
pub fn remove_broken(workspace: &Locked, name: &str) -> Result<()> {
    let file = workspace.git.common_dir.join(name);
    match name.starts_with(refnames::ALL) {
        true => fs::remove_file(&file).or_cannot(|| format!("can't remove {}", file.display())),
        false => Ok(()),
    }
}

/// Removes the locks that killed processes left on edio's refs. Returns how many.
pub fn remove_dead_locks(workspace: &Locked) -> usize {
    workspace
        .time_of_file_system()
        .map_or(0, |now| remove_below(&folder(workspace), now))
}

fn remove_below(folder: &Path, now: SystemTime) -> usize {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    let mut removed = 0;
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(meta) = entry.metadata() else { continue };
        if meta.is_dir() {
            removed += remove_below(&path, now);
        } else if path.extension().is_some_and(|end| end == "lock") {
            let age = meta
                .modified()
                .ok()
                .and_then(|then| now.duration_since(then).ok());
            if age.is_some_and(|age| age > DEAD) && fs::remove_file(&path).is_ok() {
                removed += 1;
            }
        }
    }
    removed
}
