//! The modes of files that a scan takes in where git is told that the disk does not show them: `core.fileMode` and
//! `core.symlinks` are false.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::error::Result;
use crate::gitengine::{Entry, Mode, PrivateIndex, RepoPath};

use super::super::restore::disk::is_executable;
use super::super::workspace::Locked;
use super::base::Base;
use super::gate::{Passed, plain_file};

/// Gives what is new the modes that the user's index has for it, as `git add` does. What that lacks gets the executable bit
/// that the disk shows, where it does, also where it is taken in once more.
///
/// # Errors
///
/// git failed.
pub fn give(workspace: &Locked, index: &PrivateIndex, base: &Base, passed: &Passed) -> Result<()> {
    let (git, settings) = (&workspace.git, &workspace.settings);
    let bits_are_unseen = settings.is_false("core.filemode");
    let links_are_unseen = settings.is_false("core.symlinks");
    if !(bits_are_unseen || links_are_unseen) {
        return Ok(());
    }
    let extras = passed.taken.iter().filter(|path| base.is_extra(path));
    let given: BTreeSet<&RepoPath> = passed.added.keys().chain(extras).collect();
    if given.is_empty() {
        return Ok(());
    }
    let users = git.list_index(&git.users_index())?.entries.into_iter();
    let users = users.filter(|entry| given.contains(&entry.path));
    let users: BTreeMap<RepoPath, Mode> = users.map(|entry| (entry.path, entry.mode)).collect();
    let shows_bits = shows_bits(workspace, index);
    let on_disk = |path: &RepoPath| {
        let file = shows_bits.then(|| path.below(&git.work_tree));
        file.and_then(|file| plain_file(&file))
    };
    let is_unseen = |old: Mode, new: Mode| match new {
        Mode::Symlink => links_are_unseen,
        Mode::Executable | Mode::File => old != new && bits_are_unseen,
        Mode::Gitlink => false,
    };
    let taken = git.list_index(&index.file)?.entries.into_iter();
    let taken = taken.filter(|entry| entry.mode.is_file() && given.contains(&entry.path));
    let new = taken.filter_map(|entry| {
        let (path, oid) = (entry.path, entry.oid);
        let mode = users.get(&path).copied().or_else(|| on_disk(&path));
        let mode = mode.filter(|mode| is_unseen(entry.mode, *mode))?;
        Some((path, Some(Entry { mode, oid })))
    });
    Ok(index.set(&new.collect::<Vec<_>>())?)
}

/// Does the disk tell files that may be executed from others? Some show all as the one or the other, whatever they are. A
/// file that git has just written next to the work tree tells.
fn shows_bits(workspace: &Locked, index: &PrivateIndex) -> bool {
    let written = fs::metadata(&index.file);
    let top = fs::metadata(&workspace.git.work_tree);
    match (written, top) {
        (Ok(written), Ok(top)) => !is_executable(&written) && are_on_one_disk(&written, &top),
        _ => false,
    }
}

#[cfg(unix)]
fn are_on_one_disk(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    one.dev() == other.dev()
}

#[cfg(not(unix))]
fn are_on_one_disk(_: &fs::Metadata, _: &fs::Metadata) -> bool {
    false
}
