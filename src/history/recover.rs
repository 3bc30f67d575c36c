//! What a killed process left behind: found, taken up, named.

use crate::error::Result;
use crate::gitengine::RefChange;

use super::ops::{Deed, Operation};
use super::refnames::{self, Leaf, Shelf};
use super::session::Session;
use super::turn::Turn;
use super::workspace::Workspace;

/// Takes up a turn that `current` does not know: its process was killed between the two refs.
///
/// A turn is unknown if it grew from `current`, and no operation since could have led away from it.
///
/// # Errors
///
/// git failed.
pub fn adopt(workspace: &Workspace, mut session: Session) -> Result<Session> {
    let Some(turn) = unknown_turn(&session).cloned() else {
        return Ok(session);
    };
    let name = refnames::name(Shelf::Active, &session.id, Leaf::Current);
    let before = session.current.as_ref().map(|current| &current.commit);
    let change = RefChange::set(name, before, &turn.commit);
    workspace.git.change_refs(&[change])?;
    session.current = Some(turn);
    Ok(session)
}

fn unknown_turn(session: &Session) -> Option<&Turn> {
    let known = last_operation(session).map_or(0, |operation| operation.last);
    let turn = session.turns.values().next_back()?;
    let unknown = match &session.current {
        Some(current) => turn.parent.as_ref() == Some(&current.commit) && turn != current,
        None => true,
    };
    (unknown && turn.number().turn > known).then_some(turn)
}

/// The last operation of a session.
pub fn last_operation(session: &Session) -> Option<Operation> {
    session.ops.as_ref().and_then(Operation::read)
}

/// The restore that was begun and never finished, if there is one.
///
/// It is written down before it begins, and moves `current`, or takes a turn, when it has ended.
pub fn unfinished_restore(session: &Session) -> Option<Operation> {
    let operation = last_operation(session)?;
    let current = session.current.as_ref()?;
    let begun = matches!(operation.deed, Deed::Restore | Deed::RestorePaths);
    let unmoved = current.commit == operation.from && operation.from != operation.to;
    (begun && unmoved && session.last() == operation.last).then_some(operation)
}

/// The restore that was begun and never finished, in a person's words; `None` where there is none.
pub fn interrupted(session: &Session) -> Option<String> {
    unfinished_restore(session).map(|operation| operation.text)
}
