//! What sessions have changed, and where two of them that are under way have changed the same.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::gitengine::{Oid, RepoPath};

use super::gc::{is_alive, living_worktrees};
use super::refnames::{SessionId, Shelf};
use super::session::Session;
use super::workspace::Workspace;

/// The paths in which each of these sessions differs from where it began. `None` where that is not known any more.
///
/// # Errors
///
/// git failed.
pub fn changed(workspace: &Workspace, sessions: &[Session]) -> Result<Vec<Option<Vec<RepoPath>>>> {
    let mut pairs: Vec<Option<(Oid, Oid)>> = Vec::new();
    for session in sessions {
        // One whose baseline is lost has still its turns.
        let baseline = session.find_baseline(workspace).ok();
        let current = session.current.as_ref();
        let trees = baseline.zip(current);
        pairs.push(trees.map(|(baseline, current)| (baseline.tree, current.tree.clone())));
    }
    let known: Vec<(Oid, Oid)> = pairs.iter().flatten().cloned().collect();
    let mut names = workspace.git.names_of_differences(&known)?.into_iter();
    let changed = pairs
        .iter()
        .map(|pair| pair.as_ref().and_then(|_| names.next()));
    Ok(changed.collect())
}

/// Two sessions under way in living work trees, and what both have changed.
pub struct Overlap {
    /// The one.
    pub one: SessionId,
    /// The other.
    pub other: SessionId,
    /// The paths.
    pub paths: Vec<RepoPath>,
}

/// Where two sessions under way have changed the same paths.
pub fn overlaps(
    workspace: &Workspace,
    sessions: &[Session],
    changed: &[Option<Vec<RepoPath>>],
) -> Vec<Overlap> {
    let living = living_worktrees(&workspace.git.common_dir);
    let live = sessions.iter().zip(changed).filter_map(|(session, paths)| {
        let is_live = session.shelf == Shelf::Active && is_alive(session, &living);
        let paths: BTreeSet<&RepoPath> = paths.iter().flatten().collect();
        is_live.then_some((session, paths))
    });
    let live: Vec<(&Session, BTreeSet<&RepoPath>)> = live.collect();
    let mut overlaps = Vec::new();
    for (at, (one, paths)) in live.iter().enumerate() {
        for (other, theirs) in &live[at + 1..] {
            let both: Vec<RepoPath> = paths.intersection(theirs).map(|p| (*p).clone()).collect();
            if !both.is_empty() {
                overlaps.push(Overlap {
                    one: one.id.clone(),
                    other: other.id.clone(),
                    paths: both,
                });
            }
        }
    }
    overlaps
}
