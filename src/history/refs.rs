//! Changing edio's own refs.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::error::While;
use crate::gitengine::{RefChange, Result};

use super::refnames;
use super::workspace::Locked;

/// How old a lock on one of edio's refs must be to be a dead process's: no git holds one that long.
const DEAD: Duration = Duration::from_secs(10);

/// Makes all these changes, in this order, or none.
///
/// A lock that a killed git left on a ref of edio's is removed first, if that is what stands in the way. Locks on
/// anybody else's refs are never touched.
///
/// # Errors
///
/// A ref is not where it must be, another process holds it, or git failed.
pub fn change(workspace: &Locked, changes: &[RefChange]) -> Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    match workspace.git.change_refs(changes) {
        Err(error) => match remove_dead_locks(workspace) {
            0 => Err(error),
            _ => workspace.git.change_refs(changes),
        },
        done => done,
    }
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
pub fn remove_broken(workspace: &Locked, name: &str) -> crate::error::Result<()> {
    let file = workspace.git.common_dir.join(name);
    match name.starts_with(refnames::ALL) {
        true => fs::remove_file(&file).or_cannot(|| format!("can't remove {}", file.display())),
        false => Ok(()),
    }
}

/// Removes the locks that killed processes left on edio's refs. Returns how many.
pub fn remove_dead_locks(workspace: &Locked) -> usize {
    workspace.time_of_file_system().map_or(0, |now| {
        remove_below(&workspace.git.common_dir.join(refnames::ALL), now)
    })
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
