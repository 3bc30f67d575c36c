//! What a killed process left behind: found, taken up, named.

use std::collections::BTreeSet;

use crate::error::{Error, Result};
use crate::gitengine::{RefChange, RepoPath};

use super::accept;
use super::archive;
use super::bytes::{self, RawIds};
use super::forget;
use super::ground::stand;
use super::journal::{Way, way_to};
use super::limits::TooMuch;
use super::ops::{self, Deed, Operation};
use super::refnames::{self, Leaf, Shelf};
use super::refs;
use super::restore::{
    Course, End, Goal, Made, Sources, TakenUp, Task, capitalised, new_note, own_session, perform,
    plan_to, save_unsaved, sweep,
};
use super::scan::{Scan, scan};
use super::session::Session;
use super::side;
use super::snapshot::Moment;
use super::turn::Turn;
use super::undo;
use super::workspace::Locked;

/// Takes up a turn that `current` does not know: its process was killed between the two refs.
///
/// A turn is unknown if it grew from `current`, and no operation since could have led away from it.
///
/// # Errors
///
/// git failed.
pub fn adopt(workspace: &mut Locked, mut session: Session) -> Result<Session> {
    mend_current(workspace, &mut session)?;
    let Some(turn) = unknown_turn(&session).cloned() else {
        return Ok(session);
    };
    let name = refnames::name(Shelf::Active, &session.id, Leaf::Current);
    let before = session.current.as_ref().map(|current| &current.commit);
    let change = RefChange::set(name.clone(), before, &turn.commit);
    let changed = refs::change(workspace, &[change]);
    if before.is_none() {
        // It may be there, and be nothing that edio understands: that is for a person to look at.
        changed.map_err(|error| {
            Error::cannot(format!("{name} is no snapshot of edio's"))
                .because(error)
                .hint(format!(
                    "to go on without it: git update-ref --no-deref -d {name}"
                ))
        })?;
    } else {
        changed?;
    }
    session.current = Some(turn);
    Ok(session)
}

/// Puts `current`, where it leads to nothing that can be read, at the last turn that can. The turn's own ref stays. What is
/// on disk is compared with another turn then: that is to be said.
fn mend_current(workspace: &mut Locked, session: &mut Session) -> Result<()> {
    let Some(current) = &session.current else {
        return Ok(());
    };
    let Some(damaged) = session.damaged_at(Leaf::Current) else {
        return Ok(());
    };
    if damaged.oid.is_none() {
        refs::remove_broken(workspace, &damaged.name)?;
    }
    let change = RefChange::set(damaged.name.clone(), damaged.oid.as_ref(), &current.commit);
    refs::change(workspace, &[change])?;
    workspace.state.unsaid = Some(format!(
        "{}; the session goes on from turn {}",
        damaged.what(),
        current.number()
    ));
    session
        .damaged
        .retain(|damaged| damaged.leaf != Leaf::Current);
    Ok(())
}

fn unknown_turn(session: &Session) -> Option<&Turn> {
    let Some(current) = &session.current else {
        // Somebody deleted `current`.
        return session.stood_at();
    };
    let grew = |turn: &&Turn| turn.parent.as_ref() == Some(&current.commit) && *turn != current;
    session.turn_since_operation().filter(grew)
}

/// The operation on the work tree that was begun and never finished, if there is one.
///
/// It is written down before it begins, and moves `current`, or takes a turn, when it has ended.
pub fn unfinished_restore(session: &Session) -> Option<Operation> {
    let operation = session.last_operation()?;
    let current = session.current.as_ref()?;
    let begun = match operation.deed {
        Deed::Accept | Deed::Close => false,
        // These end in a turn of their own, wherever they come from.
        Deed::RestorePaths | Deed::Revert => true,
        // The undo of an accept or a close leaves the work tree as it is.
        Deed::Restore | Deed::Undo | Deed::Redo => operation.from != operation.to,
    };
    let unmoved = current.commit == operation.from;
    (begun && unmoved && session.last() == operation.last).then_some(operation)
}

/// What a killed process began and did not finish, in a person's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interrupted {
    /// Something on the work tree.
    OnWorkTree(String),
    /// An accept or a close, or the undo of one: branch, index and session don't belong together yet.
    OnBranch(String),
}

impl Interrupted {
    /// The words.
    pub fn words(&self) -> &str {
        match self {
            Interrupted::OnWorkTree(words) | Interrupted::OnBranch(words) => words,
        }
    }
}

/// What was begun and never finished; `None` where all is as it should be.
pub fn interrupted(workspace: &Locked, session: Option<&Session>) -> Option<Interrupted> {
    if let Some(operation) = session.and_then(unfinished_restore) {
        return Some(Interrupted::OnWorkTree(operation.text));
    }
    let of_branch = |last: &Operation| match last.deed {
        Deed::Accept | Deed::Close => true,
        Deed::Undo => last.from == last.to,
        _ => false,
    };
    let last = session.filter(|_| workspace.state.unfinished);
    let last = last.and_then(Session::last_operation).filter(of_branch);
    match last {
        Some(last) => Some(Interrupted::OnBranch(last.text)),
        // Killed before it was written down.
        None => accept::has_locked(workspace).then(|| Interrupted::OnBranch("accept".to_owned())),
    }
}

/// Finishes what a killed process began. Returns what came of it, in words; `None` where nothing was left.
///
/// Where a person did something since, what is on disk becomes a safety turn first.
///
/// # Errors
///
/// It can't be finished. It is not tried again: the turns are all there.
pub fn settle(workspace: &mut Locked, moment: Moment) -> Result<Option<String>> {
    let settled = settle_unfinished(workspace, moment)?;
    let words: Vec<String> = unsaid(workspace)?.into_iter().chain(settled).collect();
    Ok((!words.is_empty()).then(|| words.join("; ")))
}

/// What was found of the session and nobody was told yet, in words. It is told once.
///
/// # Errors
///
/// The git directory can't be written.
pub fn unsaid(workspace: &mut Locked) -> Result<Option<String>> {
    let words = workspace.state.unsaid.take();
    if words.is_some() {
        workspace.state.save(&workspace.scratch())?;
    }
    Ok(words)
}

fn settle_unfinished(workspace: &mut Locked, moment: Moment) -> Result<Option<String>> {
    if !workspace.state.unfinished {
        return Ok(None);
    }
    // Dead locks that stand in nobody's way would otherwise stay until a gc.
    refs::remove_dead_locks(workspace);
    let git = workspace.git.clone();
    workspace.git = workspace.git.synced();
    let was_locked = accept::has_locked(workspace);
    let settled = accept::remove_dead_lock(workspace)
        .map_err(Unsettled::from)
        .and_then(|()| match forget::finish(workspace)? {
            Some(words) => Ok(Some(words)),
            None => settle_last(workspace, moment),
        });
    workspace.git = git;
    match settled {
        Ok(settled) => {
            workspace.end()?;
            let unlocked = || {
                "an accept, or the undo of one, was interrupted before it had changed anything: the index is no longer locked".to_owned()
            };
            Ok(settled.or_else(|| was_locked.then(unlocked)))
        }
        Err(Unsettled::AskAgain(error)) => Err(error),
        Err(Unsettled::GivenUp(error)) => {
            workspace.end()?;
            Err(error)
        }
    }
}

/// Why something could not be finished.
enum Unsettled {
    /// The next command must try again: branch and index don't belong together.
    AskAgain(Error),
    /// The work tree stays as it is: all that was there is saved.
    GivenUp(Error),
}

impl From<Error> for Unsettled {
    fn from(error: Error) -> Self {
        Unsettled::AskAgain(error)
    }
}

fn settle_last(
    workspace: &mut Locked,
    moment: Moment,
) -> std::result::Result<Option<String>, Unsettled> {
    let Some(session) = to_be_settled(workspace)? else {
        return Ok(accept::go_on_after_kill(workspace, moment)?);
    };
    let session = adopt(workspace, session)?;
    let operations = ops::all(workspace, &session)?;
    let last = operations.last().map(|(_, last)| last);
    let undone = operations
        .iter()
        .find(|(id, operation)| {
            let undoes = last.and_then(|last| last.undoes.as_ref());
            undoes == Some(id) && operation.puts_away()
        })
        .map(|(_, operation)| operation);
    let settled = match (last, undone.filter(|_| is_undo(last))) {
        (Some(last), Some(accept)) if accept.deed == Deed::Accept => {
            accept::settle(workspace, session, accept, last, moment)?
        }
        (Some(_), Some(close)) => {
            archive::settle_reopened(workspace, &session, close)?;
            "the undo of close is finished".to_owned()
        }
        (Some(last), None) if last.deed == Deed::Accept => {
            accept::settle(workspace, session, last, last, moment)?
        }
        (Some(last), None) if last.deed == Deed::Close => {
            settle_close(workspace, &session, last)?;
            "close is finished".to_owned()
        }
        _ => {
            archive::not_put_away(workspace, &session.id)?;
            return finish(workspace, session, moment).map_err(Unsettled::GivenUp);
        }
    };
    Ok(Some(settled))
}

fn is_undo(last: Option<&Operation>) -> bool {
    last.is_some_and(|last| last.deed == Deed::Undo)
}

fn settle_close(workspace: &mut Locked, session: &Session, close: &Operation) -> Result<()> {
    archive::archive(workspace, session)?;
    match Session::active(workspace)? {
        // It was to be taken back, with this one under way.
        Some(session) => stand(workspace, &session),
        None => archive::take_out_next(workspace, close).map(drop),
    }
}

/// The session with which something was begun: one that was half put away or taken out, beside the one under way, or else
/// that one.
fn to_be_settled(workspace: &Locked) -> Result<Option<Session>> {
    let Some(active) = Session::active(workspace)? else {
        return Ok(None);
    };
    let is_half = |session: &Session| {
        let last = session.last_operation();
        let here = last.filter(|last| last.worktree == workspace.name);
        let of_next = |last: &Operation| {
            last.puts_away() || (last.deed == Deed::Undo && last.next.as_ref() == Some(&active.id))
        };
        session.shelf == Shelf::Active
            && session.id != active.id
            && session.current.is_some()
            && here.is_some_and(|last| of_next(&last))
    };
    let half = Session::all(workspace)?.into_iter().find(is_half);
    Ok(half.or(Some(active)))
}

/// Brings the work tree where the unfinished operation wanted it.
fn finish(workspace: &mut Locked, session: Session, moment: Moment) -> Result<Option<String>> {
    let Some(operation) = unfinished_restore(&session) else {
        return Ok(None);
    };
    let last = session.ops.as_ref().map(|last| &last.oid);
    if workspace.state.stopped.as_ref() == last {
        return Ok(None);
    }
    let ends = [operation.from.clone(), operation.to.clone()];
    let commits = workspace.git.commits(&ends)?;
    let turns: Option<Vec<Turn>> = commits.iter().map(Turn::read).collect();
    let Some([from, to]) = turns.and_then(|turns| <[Turn; 2]>::try_from(turns).ok()) else {
        return Ok(None);
    };
    if operation.deed == Deed::RestorePaths && operation.tree == from.tree {
        // What it was to bring back lies beside the tree, and is written down nowhere.
        let mut session = session;
        ops::take_off_last(workspace, &mut session)?;
        let text = format!("{} was interrupted: give it again", operation.text);
        return Ok(Some(text));
    }
    carry_on(workspace, session, operation, &from, to, moment).map(Some)
}

/// Carries out an operation that led from one turn to another. Returns what to say of it.
fn carry_on(
    workspace: &mut Locked,
    session: Session,
    operation: Operation,
    from: &Turn,
    to: Turn,
    moment: Moment,
) -> Result<String> {
    let scan = scan(workspace, TooMuch::Take)?;
    let undone = undo::course_of_unfinished(workspace, &session, &scan, &operation, &to)?;
    let course = match undone {
        Some(course) => course,
        None => course_of(workspace, &scan, &operation, from, &to)?,
    };
    // The files of the journal are in neither tree: the turn that is taken first has what became of them.
    let way = &course.plan.way;
    let lies_beside = !way.within.is_empty() || !way.beyond.is_empty() || !way.unkept.is_empty();
    let is_more = lies_beside || has_more(workspace, &scan, from, &operation, &course)?;
    // It is written down anew, from where it stands now.
    let (mut session, commit) = match is_more {
        true => {
            let words = format!("{} was finished", operation.text);
            let safety = save_unsaved(workspace, scan, &words, moment)?;
            let mut session = own_session(workspace, session, safety.as_ref())?;
            ops::take_off_last(workspace, &mut session)?;
            (session, None)
        }
        false => {
            sweep(workspace, &scan.leftovers, moment.seconds)?;
            let mut session = own_session(workspace, session, None)?;
            let last = ops::set_aside_last(workspace, &mut session)?;
            (session, last)
        }
    };
    let from = session.current()?.clone();
    let end = match operation.deed {
        Deed::RestorePaths | Deed::Revert => {
            let message = capitalised(&operation.text);
            let git = &workspace.git;
            let (_, stat) = git.differences_counted(&from.tree, &operation.tree, &[])?;
            End::New(new_note(workspace, &from, stat, message))
        }
        _ => End::At(Box::new(to)),
    };
    let text = format!("{} was interrupted, and is finished now", operation.text);
    let side = operation.side.clone();
    let again = Operation {
        from: from.commit.clone(),
        last: session.last(),
        ..operation
    };
    let task = Task {
        course: &course,
        operation: again,
        ahead: None,
        takes_up: Some(TakenUp { commit, side }),
        end,
    };
    perform(workspace, &mut session, task, moment)?;
    Ok(text)
}

/// What is left to do of an operation that leads to a tree.
fn course_of(
    workspace: &Locked,
    scan: &Scan,
    operation: &Operation,
    from: &Turn,
    to: &Turn,
) -> Result<Course> {
    let raw_ids = wanted_bytes(workspace, operation, from, to)?;
    let way = match operation.deed {
        // Of which paths these were is not known: the others have their content still.
        Deed::RestorePaths | Deed::Revert => Way::default(),
        _ => way_to(workspace, to)?,
    };
    let not_held = side::all_skipped(workspace, to)?;
    let goal = Goal {
        tree: &operation.tree,
        not_held: (!operation.deed.ends_anew()).then_some(&not_held),
        choice: &to.note.choice,
        raw_ids: &raw_ids,
        name: operation.text.clone(),
        way: &way,
        ignored: &[],
    };
    let plan = plan_to(workspace, scan, &goal, &Made::default())?;
    let sources = Sources::of(workspace, &plan, &operation.tree, &raw_ids)?;
    Ok(Course {
        plan,
        sources,
        raw_ids,
    })
}

/// Has the work tree more than what the operation leads from and to: what a person did since? Then that is a state of its
/// own, and is saved. Half of the way is none, and an undo leads past it.
fn has_more(
    workspace: &Locked,
    scan: &Scan,
    from: &Turn,
    operation: &Operation,
    course: &Course,
) -> Result<bool> {
    let git = &workspace.git;
    let on_disk = scan.on_disk(workspace)?;
    // It notes the bytes that are written on the way to it.
    if operation.deed.ends_anew() && on_disk.is_news {
        return Ok(true);
    }
    let left = git.differences(&operation.tree, &scan.tree)?.into_iter();
    // An ignored file that an undo has brought back already is as it is to be.
    let left = left.filter(|left| left.new.as_ref() != course.plan.new_at(&left.path));
    let mut left: BTreeSet<RepoPath> = left.map(|difference| difference.path).collect();
    let other = bytes::other_bytes(workspace, &scan.tree, &on_disk.raw_ids, &course.raw_ids)?;
    left.extend(other.into_iter().map(|(path, _)| path));
    let changed = git.differences(&from.tree, &scan.tree)?.into_iter();
    let changed = changed.map(|difference| difference.path);
    let hidden = on_disk.hidden.iter().map(|(path, _)| path.clone());
    Ok(changed.chain(hidden).any(|path| left.contains(&path)))
}

/// What is to be on disk behind conversions when an operation has ended.
fn wanted_bytes(
    workspace: &Locked,
    operation: &Operation,
    from: &Turn,
    to: &Turn,
) -> Result<RawIds> {
    let then = bytes::of_turn(workspace, to)?;
    if !operation.deed.ends_anew() {
        return Ok(then);
    }
    // These change only some paths. The others stay as they were.
    let changed = workspace.git.differences(&from.tree, &operation.tree)?;
    let changed = changed.into_iter().map(|difference| difference.path);
    let mixed = bytes::of_turn(workspace, from)?.with(&then, changed);
    Ok(match operation.deed {
        Deed::Revert => mixed.else_as_checked_out(),
        _ => mixed,
    })
}
