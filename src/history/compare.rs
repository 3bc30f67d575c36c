//! Which two trees does a person mean?

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

use crate::error::{Error, Kind as ErrorKind, Result};
use crate::gitengine::{Difference, Entry, Oid, RepoPath, Stat};

use super::accept::has_locked;
use super::address::{Address, Range};
use super::bytes;
use super::journal;
use super::limits::TooMuch;
use super::line::Line;
use super::recover::{Interrupted, interrupted};
use super::restore::disk::Disk;
use super::restore::{Look, OnDisk};
use super::scan::look;
use super::session::Session;
use super::skipped::Skipped;
use super::turn::{Kind, Turn};
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

impl Sides {
    /// Twice the tree of this turn: nothing differs.
    pub fn both(turn: &Turn) -> Self {
        Self {
            old: turn.tree.clone(),
            new: turn.tree.clone(),
        }
    }
}

impl FromStr for Comparison {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text.contains("..") {
            true => text.parse().map(Comparison::Turns),
            false => text.parse().map(Comparison::Turn),
        }
    }
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

/// What a turn changed, or a step since the snapshot before it. The baseline changed nothing.
///
/// # Errors
///
/// What it grew from can't be found, or git failed.
pub fn changed_by(workspace: &Workspace, session: &Session, turn: &Turn) -> Result<Sides> {
    let old = match (turn.note.kind, &turn.parent) {
        (Kind::Baseline, _) => turn.tree.clone(),
        (Kind::Step, parent) => {
            let before = Line::at(workspace, session, parent.clone()).next();
            let before = before.unwrap_or_else(|| Err(session.lost_before(turn)));
            before?.tree
        }
        _ => session.before(workspace, turn)?.tree,
    };
    Ok(Sides {
        old,
        new: turn.tree.clone(),
    })
}

/// The paths whose bytes on disk a turn changed while their blobs stayed: git's conversion hides it.
///
/// # Errors
///
/// What it grew from can't be found, or git failed.
pub fn hidden_by(workspace: &Workspace, session: &Session, turn: &Turn) -> Result<Vec<Difference>> {
    if turn.number().turn == 0 {
        return Ok(Vec::new());
    }
    let before = session.before(workspace, turn)?;
    if before.note.side == turn.note.side {
        return Ok(Vec::new());
    }
    let (then, now) = (
        bytes::of_turn(workspace, &before)?,
        bytes::of_turn(workspace, turn)?,
    );
    let old = workspace.git.tree_entries(&before.tree)?;
    let old: BTreeMap<RepoPath, Entry> = old.into_iter().collect();
    let other = bytes::other_bytes(workspace, &turn.tree, &now, &then)?;
    let hidden = other
        .into_iter()
        .filter(|(path, entry)| old.get(path).is_some_and(|old| old.oid == entry.oid));
    Ok(hidden
        .map(|(path, new)| Difference {
            old: old.get(&path).cloned(),
            new: Some(new),
            path,
        })
        .collect())
}

/// The files of the journal that a turn changed, beside its tree: ignored ones from the top of the work tree, those outside
/// from the root.
///
/// # Errors
///
/// What it grew from can't be found, or git failed.
pub fn beside_of(workspace: &Workspace, session: &Session, turn: &Turn) -> Result<Vec<PathBuf>> {
    if turn.number().turn == 0 {
        return Ok(Vec::new());
    }
    let before = session.before(workspace, turn)?;
    match before.note.side == turn.note.side {
        true => Ok(Vec::new()),
        false => journal::changed_between(workspace, &before, turn),
    }
}

/// A turn and the work tree as it is now.
///
/// # Errors
///
/// The work tree can't be scanned.
pub fn with_work_tree(workspace: &Locked, turn: &Turn) -> Result<Sides> {
    Ok(Sides {
        old: turn.tree.clone(),
        new: tree_now(workspace)?,
    })
}

/// The work tree as it is now, as a tree that can be read also when the workspace is let go.
///
/// # Errors
///
/// The work tree can't be scanned.
pub fn tree_now(workspace: &Locked) -> Result<Oid> {
    let tree = look(workspace, TooMuch::Refuse)?.tree;
    workspace.git.give_objects()?;
    Ok(tree)
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

/// Refuses paths that are nowhere: that nothing differs there says nothing.
///
/// # Errors
///
/// Neither side has one of them, nor has the disk; or git failed.
pub fn refuse_nowhere(workspace: &Workspace, sides: &Sides, paths: &[RepoPath]) -> Result<()> {
    let disk = Disk::new(&workspace.git.work_tree);
    for path in paths {
        if disk.at(path) == OnDisk::Nothing
            && !workspace.git.tree_has(&sides.old, path)?
            && !workspace.git.tree_has(&sides.new, path)?
        {
            let hint = format!("what there is: git ls-tree -r --name-only {}", sides.new);
            return Err(Error::cannot(format!(
                "there is no {path}, neither in the turns nor on disk"
            ))
            .hint(hint));
        }
    }
    Ok(())
}

/// Where the work tree stands.
#[derive(Default)]
pub struct Stand {
    /// Its session, if one is under way.
    pub session: Option<Session>,
    /// How it differs from the current turn.
    pub unsaved: Unsaved,
    /// What a killed process began here.
    pub interrupted: Option<Interrupted>,
}

impl Stand {
    /// Looks at a workspace, which is locked only where there is something to see.
    ///
    /// # Errors
    ///
    /// It can't be locked, the work tree can't be scanned, or git failed.
    pub fn now(workspace: &Workspace, lock: impl FnOnce() -> Result<Locked>) -> Result<Self> {
        let session = Session::active(workspace)?;
        // Who has locked the index may be at work. Under edio's own lock nobody is.
        if session.is_none() && !has_locked(workspace) {
            return Ok(Self::default());
        }
        let workspace = lock()?;
        let session = as_it_stands(&workspace, session)?;
        let interrupted = interrupted(&workspace, session.as_ref());
        let unsaved = match &session {
            Some(session) => Unsaved::now(&workspace, session)?,
            None => Unsaved::default(),
        };
        Ok(Self {
            session,
            unsaved,
            interrupted,
        })
    }
}

/// The session under the lock: whoever held it may have moved what was read before.
fn as_it_stands(workspace: &Locked, before: Option<Session>) -> Result<Option<Session>> {
    let stood = before.as_ref().and_then(|session| session.current.as_ref());
    let stands = workspace.pointed.as_ref();
    match stands.is_some_and(|stands| stood.is_some_and(|s| s.commit == stands.commit)) {
        true => Ok(before),
        false => Session::active(workspace),
    }
}

/// How the work tree differs from the current turn.
#[derive(Default)]
pub struct Unsaved {
    /// What changed.
    pub changed: Vec<Difference>,
    /// The work tree. It can be read once the workspace has given its objects away.
    pub tree: Option<Oid>,
    /// What no turn can hold.
    pub not_covered: Vec<Skipped>,
    /// Why a snapshot would be refused. What changed is not known then.
    pub refused: Option<Error>,
}

impl Unsaved {
    /// The work tree as it is now, beside the current turn of its session.
    ///
    /// # Errors
    ///
    /// The work tree can't be scanned, or the session has lost its current turn.
    pub fn now(workspace: &Locked, session: &Session) -> Result<Self> {
        let scan = match look(workspace, TooMuch::Refuse) {
            Err(error) if error.kind() == ErrorKind::Refused => {
                return Ok(Self {
                    refused: Some(error),
                    ..Self::default()
                });
            }
            other => other?,
        };
        let current = session.current()?;
        let mut changed = workspace.git.differences(&current.tree, &scan.tree)?;
        // Their blobs are the same: git's conversion hides what changed.
        let hidden = &scan.on_disk(workspace)?.hidden;
        changed.extend(hidden.iter().map(|(path, entry)| Difference {
            path: path.clone(),
            old: Some(entry.clone()),
            new: Some(entry.clone()),
        }));
        Ok(Self {
            changed,
            tree: Some(scan.tree),
            not_covered: scan.skipped,
            refused: None,
        })
    }
}
