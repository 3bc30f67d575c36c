//! Undo and redo.
//!
//! What can be undone is read off the turns and the operations, in the order in which they happened. An undo is an
//! operation itself: it takes the last of these off, and a redo goes back to where the undo was called.

mod course;
mod past;

use crate::error::{Error, Result};
use crate::gitengine::Oid;

use self::course::course_back;
pub use self::course::course_of_unfinished;
use self::past::{Event, GOING_BACK, Past};
use super::accept::{self, Unstaged};
use super::archive;
use super::limits::TooMuch;
use super::ops::{Deed, Operation};
use super::refnames::Shelf;
use super::restore::{
    End, OF_A_RESTORE, Performed, Plan, Task, own_session, perform, save_unsaved,
};
use super::scan::{Scan, scan_beside};
use super::session::Session;
use super::snapshot::{self, Moment};
use super::turn::Turn;
use super::workspace::{Locked, Workspace};

/// Back, or forward again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the state before the last turn or operation.
    Undo,
    /// To the state before the last undo.
    Redo,
}

/// How far an undo may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// To the beginning of the session.
    Session,
    /// Beyond it: what put the session before away is taken back, and the branch is where it was.
    Branch,
}

/// What came of it.
pub struct Undone {
    /// What was taken back, or done again: `turn 7 "simplify"`, `restore 6`.
    pub what: String,
    /// The turn that the work tree equals now; `None` where a whole session came back, or went.
    pub target: Option<Turn>,
    /// The plan that was carried out.
    pub plan: Plan,
    /// What was done.
    pub done: Performed,
    /// The turn that holds what was unsaved before.
    pub safety: Option<Turn>,
    /// Where the branch stands now, if an accept was taken back or done again.
    pub branch: Option<(String, Option<Oid>)>,
    /// What was staged, and is not any more, since an accept was taken back or done again.
    pub unstaged: Unstaged,
}

/// Takes the last turn or operation back, or the last undo.
///
/// # Errors
///
/// There is nothing to take back, or it can't be done: then nothing has changed.
pub fn undo(
    workspace: &mut Locked,
    direction: Direction,
    reach: Reach,
    moment: Moment,
) -> Result<Undone> {
    workspace.git = workspace.git.synced();
    snapshot::close_steps(workspace, moment)?;
    if workspace.state.session.is_none() && Session::active(workspace)?.is_none() {
        return before_the_session(workspace, direction, reach, moment);
    }
    let find = || {
        let found = last_event(workspace, direction)?;
        if let Some((_, event)) = &found
            && event.archived.is_none()
        {
            workspace.git.start_ahead(&OF_A_RESTORE);
        }
        Ok(found)
    };
    let (scan, found) = scan_beside(workspace, TooMuch::Take, find)?;
    let Some((session, event)) = found else {
        return match work_since(workspace, scan, direction, reach, moment)? {
            Some(turn) => undo_work_since(workspace, turn, moment),
            None => before_the_session(workspace, direction, reach, moment),
        };
    };
    match (&event.archived, direction) {
        (None, _) => go_to(workspace, scan, session, direction, &event, moment),
        (Some(operation), Direction::Redo) => {
            redo_archive(workspace, session, &event, operation, moment)
        }
        // It would have put this session away.
        (Some(_), Direction::Undo) => {
            archive::refuse_half_done(workspace, &session)?;
            Err(Error::cannot(format!(
                "{} is written down, and did not come about",
                event.what
            ))
            .hint("to go back to a turn: edio restore TURN"))
        }
    }
}

/// The session under way, with what is taken back or done again; `None` where nothing is left in it.
fn last_event(workspace: &Locked, direction: Direction) -> Result<Option<(Session, Event)>> {
    let Some(session) = Session::active(workspace)? else {
        return Ok(None);
    };
    let mut past = Past::of(workspace, &session)?;
    let event = match direction {
        Direction::Undo => past.done.pop(),
        Direction::Redo => past.undone.pop(),
    };
    Ok(event.map(|event| (session, event)))
}

/// What was done since the session under way began, and is in no turn, becomes one: an undo that leads beyond the session
/// leads back to where it began first. Returns that turn; `None` where there is nothing of the kind.
fn work_since(
    workspace: &mut Locked,
    scan: Scan,
    direction: Direction,
    reach: Reach,
    moment: Moment,
) -> Result<Option<Turn>> {
    if (direction, reach) != (Direction::Undo, Reach::Branch) {
        return Ok(None);
    }
    let Some(session) = Session::active(workspace)? else {
        return Ok(None);
    };
    let Some((_, put_away)) = archive::last_put_away(workspace)? else {
        return Ok(None);
    };
    // It began with an earlier turn, not with the work tree as it was.
    if archive::is_as_begun_by(&session, &put_away) {
        return Ok(None);
    }
    save_unsaved(workspace, scan, GOING_BACK, moment)
}

fn undo_work_since(workspace: &mut Locked, turn: Turn, moment: Moment) -> Result<Undone> {
    let (scan, found) = scan_beside(workspace, TooMuch::Take, || {
        last_event(workspace, Direction::Undo)
    })?;
    let (session, event) = found.ok_or_else(|| nothing(Direction::Undo))?;
    let undone = go_to(workspace, scan, session, Direction::Undo, &event, moment)?;
    Ok(Undone {
        safety: undone.safety.or(Some(turn)),
        ..undone
    })
}

/// Everything in the session is taken back: before it came what put the one before it away.
fn before_the_session(
    workspace: &mut Locked,
    direction: Direction,
    reach: Reach,
    moment: Moment,
) -> Result<Undone> {
    match (direction, reach) {
        (Direction::Undo, Reach::Branch) => undo_archive(workspace, moment),
        _ => Err(nothing(direction)),
    }
}

fn nothing(direction: Direction) -> Error {
    match direction {
        Direction::Undo => Error::cannot("there is nothing to undo"),
        Direction::Redo => Error::cannot("there is nothing to redo")
            .hint("only what was undone last can be done again; any turn: edio restore TURN"),
    }
}

/// Brings the work tree to the snapshot before an event.
fn go_to(
    workspace: &mut Locked,
    scan: Scan,
    session: Session,
    direction: Direction,
    event: &Event,
    moment: Moment,
) -> Result<Undone> {
    let target = event.before.find(workspace, &session)?;
    let course = course_back(workspace, &scan, event, &target)?;
    let words = match direction {
        Direction::Undo => "undo",
        Direction::Redo => "redo",
    };
    course.plan.way.note_strange(workspace);
    let safety = save_unsaved(workspace, scan, words, moment)?;
    let is_left = is_as_left_by_next(workspace, &session, safety.as_ref())?;
    let mut session = own_session(workspace, session, safety.as_ref())?;
    let from = session.current()?.clone();
    let deed = match direction {
        Direction::Undo => Deed::Undo,
        Direction::Redo => Deed::Redo,
    };
    let tree = target.tree.clone();
    let operation = Operation {
        to: target.commit.clone(),
        undoes: Some(event.id.clone()),
        ..Operation::on_work_tree(deed, words.to_owned(), tree, &session, &from)
    };
    let end = End::At(Box::new(target.clone()));
    let task = Task {
        course: &course,
        operation,
        ahead: None,
        takes_up: None,
        end,
    };
    let done = perform(workspace, &mut session, task, moment)?;
    Ok(Undone {
        what: event.what.clone(),
        target: Some(target),
        plan: course.plan,
        done,
        safety: safety.filter(|_| !is_left),
        branch: None,
        unstaged: Unstaged::default(),
    })
}

/// Is it as the session that was begun since had left it, where what had put this one away was the last to be taken back?
/// Then nothing was unsaved: it is in a turn of that one.
fn is_as_left_by_next(
    workspace: &Workspace,
    session: &Session,
    safety: Option<&Turn>,
) -> Result<bool> {
    let next = session.last_operation().and_then(|last| last.next);
    let (Some(safety), Some(next)) = (safety, next) else {
        return Ok(false);
    };
    let next = Session::load(workspace, Shelf::Archive, &next)?;
    let current = next.and_then(|next| next.current);
    Ok(current.is_some_and(|current| current.tree == safety.tree))
}

/// Takes back the accept, or the close, that put this workspace's last session away.
fn undo_archive(workspace: &mut Locked, moment: Moment) -> Result<Undone> {
    let put_away = archive::last_put_away(workspace)?;
    let (session, operation) = put_away.ok_or_else(|| nothing(Direction::Undo))?;
    if operation.deed == Deed::Close {
        archive::reopen(workspace, session, &operation, moment)?;
        return Ok(without_plan(operation.text, None));
    }
    let unstaged = accept::take_back(workspace, session, &operation, moment)?;
    let name = operation.branch.unwrap_or_else(|| "HEAD".to_owned());
    Ok(Undone {
        unstaged,
        ..without_plan(operation.text, Some((name, operation.head_before)))
    })
}

fn without_plan(what: String, branch: Option<(String, Option<Oid>)>) -> Undone {
    Undone {
        what,
        target: None,
        plan: Plan::default(),
        done: Performed::default(),
        safety: None,
        branch,
        unstaged: Unstaged::default(),
    }
}

fn redo_archive(
    workspace: &mut Locked,
    session: Session,
    event: &Event,
    operation: &Operation,
    moment: Moment,
) -> Result<Undone> {
    if operation.deed == Deed::Close {
        archive::close_again(workspace, session, operation.next.clone(), moment)?;
        return Ok(without_plan(event.what.clone(), None));
    }
    let unstaged = accept::land_again(workspace, session, operation, &event.id, moment)?;
    let name = operation
        .branch
        .clone()
        .unwrap_or_else(|| "HEAD".to_owned());
    let branch = Some((name, operation.head_after.clone()));
    Ok(Undone {
        unstaged,
        ..without_plan(event.what.clone(), branch)
    })
}
