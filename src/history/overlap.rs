//! What sessions have changed, and where two of them that are under way have changed the same.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::gitengine::{Oid, RepoPath};

use super::gc::{is_alive, living_worktrees};
use super::refnames::{SessionId, Shelf};
use super::session::Session;
use super::turn::{Kind, Turn};
use super::workspace::Workspace;

/// The paths in which each of these sessions differs from where it began. `None` where that is not known any more.
///
/// # Errors
///
/// git failed.
pub fn changed(workspace: &Workspace, sessions: &[Session]) -> Result<Vec<Option<Vec<RepoPath>>>> {
    let baselines = baselines(workspace, sessions)?;
    let pairs = sessions.iter().zip(baselines).map(|(session, baseline)| {
        let current = session.current.as_ref()?.tree.clone();
        Some((baseline?, current))
    });
    let pairs: Vec<Option<(Oid, Oid)>> = pairs.collect();
    let known: Vec<(Oid, Oid)> = pairs.iter().flatten().cloned().collect();
    let mut names = workspace.git.names_of_differences(&known, &[])?.into_iter();
    let changed = pairs
        .iter()
        .map(|pair| pair.as_ref().and_then(|_| names.next()));
    Ok(changed.collect())
}

/// The trees of the baselines. They have no refs: each is looked for behind the first turn, a step back at a time for all
/// sessions together.
fn baselines(workspace: &Workspace, sessions: &[Session]) -> Result<Vec<Option<Oid>>> {
    let known = sessions.iter().map(|session| {
        let known = session.baseline.iter().chain(&session.current);
        let mut own = known.filter(|turn| turn.note.session == session.id);
        own.find(|turn| turn.note.kind == Kind::Baseline)
    });
    let mut found: Vec<Option<Oid>> = known.map(|turn| Some(turn?.tree.clone())).collect();
    let first = |session: &Session| session.turns.values().next()?.parent.clone();
    let mut behind: Vec<(usize, Oid)> = sessions
        .iter()
        .enumerate()
        .filter(|(at, _)| found[*at].is_none())
        .filter_map(|(at, session)| Some((at, first(session)?)))
        .collect();
    while !behind.is_empty() {
        let oids: Vec<Oid> = behind.iter().map(|(_, oid)| oid.clone()).collect();
        let commits = workspace.git.commits_that_are_whole(&oids)?;
        let turns = behind.iter().zip(&commits);
        let turns =
            turns.filter_map(|((at, _), commit)| Some((*at, Turn::read(commit.as_ref()?)?)));
        let mut further = Vec::new();
        for (at, turn) in turns.filter(|(at, turn)| turn.note.session == sessions[*at].id) {
            match turn.note.kind {
                Kind::Baseline => found[at] = Some(turn.tree),
                _ => further.extend(turn.parent.map(|parent| (at, parent))),
            }
        }
        behind = further;
    }
    Ok(found)
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
///
/// # Errors
///
/// The work trees can't be listed.
pub fn overlaps(
    workspace: &Workspace,
    sessions: &[Session],
    changed: &[Option<Vec<RepoPath>>],
) -> Result<Vec<Overlap>> {
    let living = living_worktrees(workspace)?;
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
    Ok(overlaps)
}
