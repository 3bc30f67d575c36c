//! Which two trees does a person mean?

use crate::error::Result;
use crate::gitengine::{Difference, Oid, RepoPath, Stat};

use super::address::{Address, Range};
use super::scan::scan;
use super::session::Session;
use super::turn::Turn;
use super::workspace::{Locked, Workspace};

/// What is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// What a turn changed.
    Turn(Address),
    /// Two turns.
    Turns(Range),
}

/// Two trees.
pub struct Sides {
    /// The older one, or the one named first.
    pub old: Oid,
    /// The other.
    pub new: Oid,
}

impl Comparison {
    /// The two trees.
    ///
    /// # Errors
    ///
    /// There is no such turn, or git failed.
    pub fn sides(&self, workspace: &Workspace, session: &Session) -> Result<Sides> {
        match self {
            Comparison::Turn(address) => {
                let turn = address.find(workspace, session)?;
                changed_by(workspace, session, &turn)
            }
            Comparison::Turns(Range { from, to }) => Ok(Sides {
                old: from.find(workspace, session)?.tree,
                new: to.find(workspace, session)?.tree,
            }),
        }
    }
}

/// What a turn changed. The baseline changed nothing.
///
/// # Errors
///
/// What it grew from can't be found, or git failed.
pub fn changed_by(workspace: &Workspace, session: &Session, turn: &Turn) -> Result<Sides> {
    let old = match turn.number().turn {
        0 => turn.tree.clone(),
        _ => session.before(workspace, turn)?.tree,
    };
    Ok(Sides {
        old,
        new: turn.tree.clone(),
    })
}

/// A turn and the work tree as it is now.
///
/// # Errors
///
/// The work tree can't be scanned.
pub fn with_work_tree(workspace: &Locked, turn: &Turn) -> Result<Sides> {
    Ok(Sides {
        old: turn.tree.clone(),
        new: scan(workspace)?.tree,
    })
}

/// The paths that differ, among these or below them (all where there are none), with how many lines.
///
/// # Errors
///
/// git failed.
pub fn differences(
    workspace: &Workspace,
    sides: &Sides,
    paths: &[RepoPath],
) -> Result<(Vec<Difference>, Stat)> {
    Ok(workspace
        .git
        .differences_counted(&sides.old, &sides.new, paths)?)
}
