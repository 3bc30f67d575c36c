//! Files on disk whose content a partial clone has not fetched: git did not expect them, and somebody has made them.

use crate::error::Result;
use crate::gitengine::{IndexEntry, Mode, Oid, PrivateIndex, RepoPath};

use super::super::workspace::Locked;
use super::base::Base;

/// The paths that git expects on disk, and has no blob for: where a file there has the content that the index tells, git
/// takes it for unchanged, and nothing holds it.
///
/// # Errors
///
/// git failed.
pub fn unfetched(workspace: &Locked, base: &Base, index: &PrivateIndex) -> Result<Vec<RepoPath>> {
    let top = &workspace.git.work_tree;
    let is_there = |path: &RepoPath| path.below(top).symlink_metadata().is_ok();
    let may_lack = workspace.settings.is_partial_clone()
        && (!base.is_cached() || base.flagged.iter().any(is_there));
    if !may_lack {
        return Ok(Vec::new());
    }
    let entries = workspace.git.list_index(&index.file)?.entries.into_iter();
    let is_expected = |entry: &IndexEntry| !entry.skip_worktree && entry.mode != Mode::Gitlink;
    let entries: Vec<IndexEntry> = entries.filter(is_expected).collect();
    let oids: Vec<Oid> = entries.iter().map(|entry| entry.oid.clone()).collect();
    let missing = workspace.git.missing(&oids)?;
    let unfetched = entries.into_iter().filter(|it| missing.contains(&it.oid));
    Ok(unfetched.map(|entry| entry.path).collect())
}
