//! What can't be held: of it the tree has what the snapshot before has, so that no turn tells of it as changed.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::gitengine::{Entry, PrivateIndex, RepoPath, Status};

use super::super::choice::matched;
use super::super::limits::current_tree;
use super::super::skipped::NotHeld;
use super::super::workspace::Locked;
use super::Rules;
use super::base::Base;
use super::edited::Edited;
use super::gate::{self, Passed};

/// The files of the index that git could not look at, and takes for unchanged. Those in a folder that it could not read are
/// named by that.
///
/// # Errors
///
/// git failed.
pub fn not_looked_at(
    workspace: &Locked,
    base: &Base,
    index: &PrivateIndex,
    status: &Status,
) -> Result<BTreeSet<RepoPath>> {
    let unreadable: NotHeld = status.unreadable.iter().cloned().collect();
    let named = status.complained_of.iter();
    let named = named.filter(|path| !unreadable.covers(path) && !base.submodules.contains(path));
    let named: BTreeSet<RepoPath> = named.cloned().collect();
    if named.is_empty() {
        return Ok(named);
    }
    let asked: Vec<RepoPath> = named.iter().cloned().collect();
    let tracked = workspace.git.indexed(&index.file, &asked)?.into_iter();
    Ok(tracked.filter(|path| named.contains(path)).collect())
}

/// What can't be held, where an index may not have what the snapshot before has of it: one that was made for another
/// snapshot, nor does it know of what was put into the tree beside it.
pub fn held_otherwise(workspace: &Locked, base: &Base, passed: &Passed) -> Option<NotHeld> {
    let not_held = NotHeld::of(&passed.skipped);
    let mut edited = base.edited.iter().flat_map(Edited::paths);
    let has_what_was_there = not_held.is_empty()
        || base.is_cached()
            && base.is_where_it_stands(workspace)
            && !edited.any(|path| not_held.covers(path));
    (!has_what_was_there).then_some(not_held)
}

/// Has the index have what the snapshot before has of files that can't be held now, and no more.
///
/// # Errors
///
/// git failed.
pub fn keep_what_was_there(
    workspace: &Locked,
    index: &PrivateIndex,
    rules: &Rules,
    base: &Base,
    not_held: &NotHeld,
    passed: &mut Passed,
) -> Result<()> {
    let Some(tree) = current_tree(workspace)? else {
        return Ok(());
    };
    let git = &workspace.git;
    let left_out: Vec<RepoPath> = not_held.paths().cloned().collect();
    let mut kept = git.entries_within(&tree, &left_out)?;
    // What the person wants in no turn is in none.
    let excluded = kept.iter().map(|(path, _)| path);
    let excluded = matched(workspace, &rules.choice.exclude, excluded)?;
    kept.retain(|(path, _)| !excluded.contains(path) && may_be_there(workspace, path));
    let kept: BTreeMap<RepoPath, Entry> = kept.into_iter().collect();
    let lost = git.indexed(&index.file, &left_out)?.into_iter();
    let lost: Vec<RepoPath> = lost.filter(|path| !kept.contains_key(path)).collect();
    index.drop_paths(&lost)?;
    let entries = kept
        .iter()
        .map(|(path, entry)| (path.clone(), Some(entry.clone())));
    index.set(&entries.collect::<Vec<_>>())?;
    // What lies in a folder that can't be read is named by it.
    let named = kept.keys().filter(|path| not_held.names(path));
    passed.kept = named.cloned().collect();
    passed.gone.extend(lost);
    let carried = kept.into_keys().filter(|path| !base.has(path));
    passed.carried.extend(carried);
    Ok(())
}

/// May a file or link be at a path? Where something else stands, or nothing, there is none any more.
fn may_be_there(workspace: &Locked, path: &RepoPath) -> bool {
    let meta = path.below(&workspace.git.work_tree).symlink_metadata();
    meta.map_or_else(
        |error| !gate::is_gone(&error),
        |meta| meta.is_file() || meta.is_symlink(),
    )
}
