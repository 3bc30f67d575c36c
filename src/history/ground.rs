//! Where a session stands, and how a turn grows from there.

use crate::error::{Error, Result};
use crate::gitengine::{Oid, Pointed, RefChange, Signature};

use super::bytes::Unnoted;
use super::faults;
use super::recover;
use super::refnames::{self, Leaf, Shelf};
use super::refs;
use super::session::Session;
use super::state::Standing;
use super::turn::{Kind, Note, Number, Turn};
use super::workspace::Locked;

/// Where a session stands: what its next snapshot grows from.
#[derive(Clone)]
pub struct Ground {
    /// In short.
    pub standing: Standing,
    /// The tree of the snapshot that `current` points to.
    pub tree: Oid,
    /// Does `current` exist, or is it made with the first turn?
    pub begun: bool,
}

/// Where the workspace's session stands; `None` where there is none. The snapshot that a killed process left without
/// moving `current` is taken up.
///
/// # Errors
///
/// git failed.
pub fn ground(workspace: &mut Locked) -> Result<Option<Ground>> {
    if let (Some(session), Some(pointed)) = (&workspace.state.session, &workspace.pointed)
        && session.current == pointed.commit
    {
        return Ok(Some(Ground {
            standing: session.clone(),
            tree: pointed.tree.clone(),
            begun: true,
        }));
    }
    let Some(session) = Session::active(workspace)? else {
        if let Some(lost) = faults::lost(workspace)? {
            workspace.state.unsaid = lost.damaged.first().map(|damaged| {
                let (id, what) = (&lost.id, damaged.what());
                format!("nothing of {id} can be read, and a new session begins: {what}")
            });
        }
        workspace.state.session = None;
        return Ok(None);
    };
    let session = recover::adopt(workspace, session)?;
    stand(workspace, &session)?;
    Ok(Some(Ground {
        standing: session.standing(workspace)?,
        tree: session.current()?.tree.clone(),
        begun: true,
    }))
}

/// Remembers where a session stands, as it was read.
///
/// # Errors
///
/// The session has lost its `current`.
pub fn stand(workspace: &mut Locked, session: &Session) -> Result<()> {
    let current = session.current()?;
    let pointed = Pointed {
        commit: current.commit.clone(),
        tree: current.tree.clone(),
    };
    // The cache was written for where the session stood then: it fits no more if another process has moved it.
    let standing = session.standing(workspace)?;
    if workspace.state.session.as_ref() != Some(&standing) {
        workspace.state.cache = None;
        workspace.state.journal.lose();
    }
    workspace.state.session = Some(standing);
    workspace.pointed = Some(pointed);
    Ok(())
}

/// Writes a turn and its refs. A number that is taken already is not used again.
///
/// # Errors
///
/// git failed.
pub fn write_turn(
    workspace: &mut Locked,
    mut ground: Ground,
    tree: &Oid,
    mut note: Note,
    seconds: i64,
) -> Result<Turn> {
    loop {
        let parent = ground.standing.current.clone();
        note.session = ground.standing.id.clone();
        note.number = next_number(&ground.standing, note.kind)?;
        note.steps = match note.kind {
            Kind::Step => 0,
            _ if ground.standing.is_open_step() => ground.standing.number.step,
            _ => 0,
        };
        let by = Signature::edio(seconds);
        let commit = workspace
            .git
            .write_commit(tree, &[&parent], &by, &note.write())?;
        match claim(workspace, &ground, note.number, &commit) {
            Ok(()) => {
                let turn = Turn {
                    commit,
                    tree: tree.clone(),
                    parent: Some(parent),
                    seconds,
                    note,
                };
                stand_on(workspace, &ground, &turn);
                return Ok(turn);
            }
            Err(error) => ground = moved(workspace, &ground).ok_or(error)?,
        }
    }
}

/// The number that comes next: a turn's, or that of a step on the way to it.
///
/// # Errors
///
/// There is none: somebody gave out the highest one.
fn next_number(standing: &Standing, kind: Kind) -> Result<Number> {
    let after = |number: u32| {
        number.checked_add(1).ok_or_else(|| {
            Error::cannot(format!("there is no number after {number}")).hint(format!(
                "edio never comes that far: see who did, git for-each-ref {}",
                refnames::ACTIVE
            ))
        })
    };
    Ok(Number {
        turn: after(standing.last)?,
        step: match kind {
            Kind::Step if standing.is_open_step() => after(standing.number.step)?,
            Kind::Step => 1,
            _ => 0,
        },
    })
}

/// Creates the turn's ref, then moves `current`: with refs in files, a kill in between leaves a turn, which is taken up.
/// A step has no ref of its own: `current`, and later the turn, lead to it.
fn claim(workspace: &Locked, ground: &Ground, number: Number, commit: &Oid) -> Result<()> {
    let name = |leaf| refnames::name(Shelf::Active, &ground.standing.id, leaf);
    let before = ground.begun.then_some(&ground.standing.current);
    let current = RefChange::set(name(Leaf::Current), before, commit);
    if number.step > 0 {
        return refs::change(workspace, &[current]);
    }
    refs::change(
        workspace,
        &[
            RefChange::set(name(Leaf::Turn(number.turn)), None, commit),
            current,
        ],
    )
}

/// Where the session really stands, if that is not where it was thought to.
fn moved(workspace: &mut Locked, before: &Ground) -> Option<Ground> {
    workspace.state.session = None;
    workspace.pointed = None;
    let now = ground(workspace).ok()??;
    (now.standing != before.standing).then_some(now)
}

fn stand_on(workspace: &mut Locked, ground: &Ground, turn: &Turn) {
    let is_step = turn.note.kind == Kind::Step;
    workspace.state.session = Some(Standing {
        id: turn.note.session.clone(),
        current: turn.commit.clone(),
        number: turn.number(),
        side: turn.note.side.clone(),
        unnoted: Unnoted::of(turn),
        all_held: turn.note.skipped_count == 0,
        base: match is_step {
            true if ground.standing.is_open_step() => ground.standing.base.clone(),
            true => ground.tree.clone(),
            false => turn.tree.clone(),
        },
        last: match is_step {
            true => ground.standing.last,
            false => turn.number().turn,
        },
    });
    workspace.pointed = Some(Pointed {
        commit: turn.commit.clone(),
        tree: turn.tree.clone(),
    });
}
