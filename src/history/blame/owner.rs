//! What a commit says of who wrote what it brought.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::gitengine::Oid;

use super::super::turn::{Kind, Turn};
use super::super::workspace::Workspace;
use super::Version;

/// Who wrote a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Whoever worked in this turn or step.
    Turn(Turn),
    /// The person: it was there before the session, or came while no agent that edio knows of was at work.
    Human(Turn),
    /// One of several: agents that worked at the same time, or the agent and the person.
    Shared(Turn),
    /// Nobody knows: it was there when edio saved what was unsaved.
    Unknown(Turn),
    /// It is not in any snapshot yet.
    Unsaved,
    /// A commit that is none of edio's.
    Commit(Oid),
}

impl Owner {
    /// The snapshot.
    pub fn turn(&self) -> Option<&Turn> {
        match self {
            Owner::Turn(turn) | Owner::Human(turn) | Owner::Shared(turn) | Owner::Unknown(turn) => {
                Some(turn)
            }
            Owner::Unsaved | Owner::Commit(_) => None,
        }
    }

    /// Of a snapshot; `before` is the one that it grew from.
    fn of(turn: Turn, before: Option<&Turn>) -> Self {
        let work = &turn.note.work;
        if !work.shared.is_empty() {
            return Owner::Shared(turn);
        }
        match turn.note.kind {
            Kind::Baseline | Kind::Human => Owner::Human(turn),
            Kind::Safety => Owner::Unknown(turn),
            // What came between two uses of tools is no tool's work, and nobody said whose.
            Kind::Step if work.agent.is_none() => Owner::Shared(turn),
            Kind::Turn if before.is_some_and(|before| came_after_tools(&turn, before)) => {
                Owner::Shared(turn)
            }
            Kind::Step | Kind::Turn => Owner::Turn(turn),
        }
    }
}

/// Where the uses of tools are known, what came after the last of them is none's.
fn came_after_tools(turn: &Turn, before: &Turn) -> bool {
    before.note.kind == Kind::Step
        && before.number().turn == turn.number().turn
        && before.note.work.tool.is_some()
}

/// Who wrote what each of these commits brought.
///
/// # Errors
///
/// git failed.
pub(super) fn of_commits(
    workspace: &Workspace,
    version: &Version,
    commits: &BTreeSet<&Oid>,
) -> Result<BTreeMap<Oid, Owner>> {
    let snapshots = snapshots(workspace, commits.iter().copied())?;
    let parents = snapshots.values().filter_map(|turn| turn.parent.as_ref());
    let parents = self::snapshots(workspace, parents)?;
    let owner = |commit: &Oid| match snapshots.get(commit) {
        _ if version.is_unsaved && commit == &version.commit => Owner::Unsaved,
        Some(turn) => {
            let before = turn.parent.as_ref().and_then(|oid| parents.get(oid));
            Owner::of(turn.clone(), before)
        }
        None => Owner::Commit(commit.clone()),
    };
    let owners = commits
        .iter()
        .map(|commit| ((*commit).clone(), owner(commit)));
    Ok(owners.collect())
}

/// Those of these commits that are snapshots.
///
/// # Errors
///
/// git failed.
pub(super) fn snapshots<'a>(
    workspace: &Workspace,
    commits: impl Iterator<Item = &'a Oid>,
) -> Result<BTreeMap<Oid, Turn>> {
    let commits: BTreeSet<&Oid> = commits.collect();
    let commits: Vec<Oid> = commits.into_iter().cloned().collect();
    // At the border of a shallow clone there is nothing behind a commit.
    let missing: BTreeSet<Oid> = workspace.git.missing(&commits)?.into_iter().collect();
    let there: Vec<Oid> = commits
        .into_iter()
        .filter(|oid| !missing.contains(oid))
        .collect();
    let read = workspace.git.commits(&there)?;
    let turns = read.iter().filter_map(Turn::read);
    Ok(turns.map(|turn| (turn.commit.clone(), turn)).collect())
}
