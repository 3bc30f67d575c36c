//! Making a commit the branch's, and taking it back: branch, index and session move in this order, and all of it is
//! written down first.

use crate::error::{Error, Result, While, first_of};
use crate::gitengine::{Commit, Difference, Head, Oid, short_branch};

use super::super::archive;
use super::super::baseline;
use super::super::gitlock::{held, wait_for_packed_refs};
use super::super::ground;
use super::super::ops::{self, Deed, Operation};
use super::super::refnames::SessionId;
use super::super::session::Session;
use super::super::snapshot::Moment;
use super::super::workspace::Locked;
use super::branch::{refuse_other, tip_of};
use super::index::IndexLock;
use super::staged::{Unstaged, UnstagedPath, save_staged};
use super::{go_on, refuse_open_operation};

/// What came of that which follows the branch: the session that goes on, or why it could not be done yet.
type PutAway = Result<Option<SessionId>>;

/// The branch has moved.
pub(super) struct Landed {
    /// What came of that which follows it.
    pub(super) put_away: PutAway,
    /// What was staged, and is not any more.
    pub(super) unstaged: Unstaged,
}

/// Moves the branch, then the index, then puts the session away: all written down first.
///
/// # Errors
///
/// The branch has not moved: nothing has happened. What fails after that is no error: the next command finishes it, as
/// after a kill.
pub(super) fn land(
    workspace: &mut Locked,
    session: &mut Session,
    operation: Operation,
    changes: &[Difference],
    moment: Moment,
) -> Result<Landed> {
    wait_for_packed_refs(workspace)?;
    workspace.begin()?;
    match land_branch(workspace, session, &operation, changes, moment) {
        Ok((lock, unstaged)) => Ok(Landed {
            put_away: put_away(workspace, session, lock, &operation, moment),
            unstaged,
        }),
        Err(error) => {
            workspace.end()?;
            Err(error)
        }
    }
}

fn put_away(
    workspace: &mut Locked,
    session: &Session,
    lock: IndexLock,
    operation: &Operation,
    moment: Moment,
) -> PutAway {
    lock.finish()?;
    archive::archive(workspace, session)?;
    let next = follow(workspace, operation, moment)?;
    workspace.end()?;
    Ok(next)
}

/// Begins the session that goes on after an accept, or takes it out again where it was put away.
fn follow(workspace: &mut Locked, operation: &Operation, moment: Moment) -> PutAway {
    match archive::take_out_next(workspace, operation)? {
        None if operation.goes_on => go_on(workspace, operation, moment).map(Some),
        next => Ok(next),
    }
}

fn land_branch(
    workspace: &mut Locked,
    session: &mut Session,
    operation: &Operation,
    changes: &[Difference],
    moment: Moment,
) -> Result<(IndexLock, Unstaged)> {
    let lock = IndexLock::take(workspace)?;
    refuse_moved_head(workspace, operation)?;
    let mut unstaged = save_staged(workspace, session, changes, moment)?;
    let operation = Operation {
        side: unstaged.saved.clone(),
        ..operation.clone()
    };
    lock.prepare(workspace, &operation, changes)?;
    lock.leave_out_staged_again(workspace, &mut unstaged, changes)?;
    ops::record(workspace, session, &operation, moment.seconds)?;
    if let Err(error) = move_branch(workspace, &operation, Way::Forward) {
        ops::take_off_last(workspace, session)?;
        return Err(error);
    }
    Ok((lock, unstaged))
}

/// With the index locked, where no git that works on it can come in between: HEAD is where the commit is to go, and stands
/// on what the commit stands on. Hooks ran and a person wrote since that was looked at first.
///
/// # Errors
///
/// It is elsewhere, or git has something open.
fn refuse_moved_head(workspace: &Locked, operation: &Operation) -> Result<()> {
    refuse_open_operation(workspace)?;
    let (branch, tip) = workspace.git.head()?;
    let there = Head {
        commit: operation.head_before.clone(),
        branch: operation.branch.clone(),
    };
    let refused = refuse_other(
        workspace,
        branch.as_deref(),
        &there,
        "the commit was to go to",
    );
    refused.map_err(|error| match operation.undoes {
        None => error.hint("or to commit it here: edio accept --here"),
        Some(_) => error,
    })?;
    if tip == there.commit {
        return Ok(());
    }
    let name = short_branch(branch.as_deref().unwrap_or("HEAD"));
    let id = |commit: &Option<Oid>| {
        let id = commit.as_ref().map(Oid::short);
        id.unwrap_or("no commit").to_owned()
    };
    let (now, before) = (id(&tip), id(&there.commit));
    let what = format!("{name} is at {now} by now: the commit was to stand on {before}");
    Err(Error::refused(what)
        .hint("see what came there: git log")
        .hint("then accept the work anew: edio accept"))
}

/// Makes the commit of an accept that was taken back the branch's again. `undo` is what took it back. Returns what was
/// staged, and is not any more.
///
/// # Errors
///
/// HEAD is not where it was before that accept, or as for [`accept`].
pub fn land_again(
    workspace: &mut Locked,
    mut session: Session,
    operation: &Operation,
    undo: &Oid,
    moment: Moment,
) -> Result<Unstaged> {
    refuse_open_operation(workspace)?;
    let (branch, _) = workspace.git.head()?;
    refuse_other_branch(
        workspace,
        operation,
        branch.as_deref(),
        &operation.head_before,
    )?;
    archive::refuse_damaged_next(workspace, operation)?;
    let changes = changes_of(workspace, operation)?;
    let current = session.current()?.clone();
    let again = Operation {
        head_before: operation.head_before.clone(),
        head_after: operation.head_after.clone(),
        branch: operation.branch.clone(),
        goes_on: operation.goes_on,
        next: operation.next.clone(),
        undoes: Some(undo.clone()),
        to: operation.to.clone(),
        ..Operation::on_work_tree(
            Deed::Accept,
            operation.text.clone(),
            operation.tree.clone(),
            &session,
            &current,
        )
    };
    let landed = land(workspace, &mut session, again, &changes, moment)?;
    landed.put_away.or_cannot(|| {
        format!(
            "{} is made again, but what follows could not be finished",
            operation.text
        )
    })?;
    Ok(landed.unstaged)
}

/// What the commit of an accept changes.
///
/// # Errors
///
/// It is no commit that an accept has made: it does not stand on where the branch was, and on nothing else.
fn changes_of(workspace: &Locked, operation: &Operation) -> Result<Vec<Difference>> {
    let commits = operation.head_after.as_slice();
    let commits = workspace.git.commits(commits)?;
    let stands = |commit: &Commit| commit.parents == operation.head_before.as_slice();
    if !commits.first().is_some_and(stands) {
        return Err(Error::cannot(format!(
            "{} has not made the commit that it names",
            operation.text
        )));
    }
    let before = Head {
        commit: operation.head_before.clone(),
        branch: None,
    };
    let after = Head {
        commit: operation.head_after.clone(),
        branch: None,
    };
    let before = baseline::head_tree(workspace, &before)?;
    let after = baseline::head_tree(workspace, &after)?;
    Ok(workspace.git.differences(&before, &after)?)
}

/// Takes an accept back: branch, index and session are as before it. Returns what was staged since, and is not any more.
///
/// # Errors
///
/// The branch points elsewhere by now, or HEAD is on another; then nothing has changed.
pub fn take_back(
    workspace: &mut Locked,
    session: Session,
    operation: &Operation,
    moment: Moment,
) -> Result<Unstaged> {
    refuse_to_take_back(workspace, &session, operation)?;
    session.refuse_damaged()?;
    wait_for_packed_refs(workspace)?;
    let changes = changes_of(workspace, operation)?;
    let successor = archive::to_be_archived(workspace)?;
    let archived = session.refs.clone();
    let next = successor.as_ref().map(|next| next.id.clone());
    workspace.begin()?;
    let back = Back {
        accept: operation,
        changes: &changes,
        next,
    };
    match take_branch_back(workspace, session, &back, moment) {
        Ok((session, lock, paths)) => {
            lock.finish()?;
            archive::make_room(workspace, &session, successor, operation)?;
            workspace.end()?;
            let saved = session.last_operation().and_then(|undo| undo.side);
            Ok(Unstaged { paths, saved })
        }
        // The branch has not moved: the session is put away again, as it was.
        Err(failed) => {
            let (session, error) = *failed;
            if let Some(session) = session {
                archive::archive_as_before(workspace, &session, &archived)?;
            }
            if let Some(successor) = successor {
                ground::stand(workspace, &successor)?;
            }
            workspace.end()?;
            Err(error)
        }
    }
}

/// An accept that is taken back.
struct Back<'a> {
    accept: &'a Operation,
    /// What its commit changed.
    changes: &'a [Difference],
    /// The session that was begun since.
    next: Option<SessionId>,
}

type TakenBack =
    std::result::Result<(Session, IndexLock, Vec<UnstagedPath>), Box<(Option<Session>, Error)>>;

fn take_branch_back(
    workspace: &mut Locked,
    session: Session,
    back: &Back<'_>,
    moment: Moment,
) -> TakenBack {
    let early = |error: Error| Box::new((None, error));
    let lock = IndexLock::take(workspace).map_err(early)?;
    // A git that held the lock until now may have moved HEAD, or begun a merge.
    refuse_to_take_back(workspace, &session, back.accept).map_err(early)?;
    lock.prepare_back(workspace, back.accept, back.changes)
        .map_err(early)?;
    let staged = lock.staged_since(workspace, back.accept, back.changes);
    let staged = staged.map_err(early)?;
    let mut session = match archive::unarchive(workspace, session.clone()) {
        Ok(session) => session,
        Err(error) => return Err(Box::new((Some(session), error))),
    };
    let recorded = record_undo(workspace, &mut session, back, moment);
    let moved = recorded.and_then(|()| {
        move_branch(workspace, back.accept, Way::Back)
            .or_else(|error| ops::take_off_last(workspace, &mut session).and(Err(error)))
    });
    match moved {
        Ok(()) => Ok((session, lock, staged)),
        Err(error) => Err(Box::new((Some(session), error))),
    }
}

fn record_undo(
    workspace: &Locked,
    session: &mut Session,
    back: &Back<'_>,
    moment: Moment,
) -> Result<()> {
    // What was staged since is saved, too.
    let side = save_staged(workspace, session, back.changes, moment)?.saved;
    let current = session.current()?.clone();
    let (text, tree) = ("undo".to_owned(), current.tree.clone());
    let undo = Operation {
        side,
        undoes: session.ops.as_ref().map(|commit| commit.oid.clone()),
        next: back.next.clone(),
        ..Operation::on_work_tree(Deed::Undo, text, tree, session, &current)
    };
    ops::record(workspace, session, &undo, moment.seconds)
}

/// Finishes an accept, or its undo, that a killed process left in the middle. Returns what came of it, in words.
///
/// The branch tells how far it came: it moves in one step, after everything was written down and before the index.
///
/// # Errors
///
/// The index is locked, or git failed.
pub fn settle(
    workspace: &mut Locked,
    session: Session,
    accept: &Operation,
    last: &Operation,
    moment: Moment,
) -> Result<String> {
    let tip = branch_tip(workspace, accept)?;
    let changes = changes_of(workspace, accept)?;
    if last.deed == Deed::Undo {
        return settle_undo(workspace, session, [accept, last], tip.as_ref(), &changes);
    }
    let landed = match (&tip, &accept.head_after) {
        (Some(tip), Some(commit)) => workspace.git.is_ancestor(commit, tip)?,
        _ => false,
    };
    if !landed {
        ops::take_off_last(workspace, &mut session.clone())?;
        return Ok(format!("{} was not made", accept.text));
    }
    // With commits on top of it, the index has been used since: it is as the user wants it. So it is where the session was
    // put away, and an undo had begun to take it out.
    let is_here = tip == accept.head_after && workspace.git.head()?.0 == accept.branch;
    if is_here && !archive::is_put_away(workspace, &session)? {
        let lock = IndexLock::take(workspace)?;
        lock.prepare_what_is_left(workspace, accept, changes)?;
        lock.finish()?;
    }
    archive::archive(workspace, &session)?;
    match Session::active(workspace)? {
        // It was to be taken back, with this one under way.
        Some(session) => ground::stand(workspace, &session)?,
        None => drop(follow(workspace, accept, moment)?),
    }
    Ok(format!("{} is finished", accept.text))
}

fn settle_undo(
    workspace: &mut Locked,
    mut session: Session,
    [accept, undo]: [&Operation; 2],
    tip: Option<&Oid>,
    changes: &[Difference],
) -> Result<String> {
    let is_here = workspace.git.head()?.0 == accept.branch;
    let is_before = tip == accept.head_before.as_ref();
    let is_after = tip == accept.head_after.as_ref();
    let finished = format!("the undo of {} is finished", accept.text);
    if !is_here && is_before {
        // The branch was moved. The index is another's by now.
        archive::settle_reopened(workspace, &session, accept)?;
        return Ok(finished);
    }
    if !is_here || !(is_before || is_after) {
        ops::take_off_last(workspace, &mut session)?;
        archive::archive(workspace, &session)?;
        if let Some(session) = Session::active(workspace)? {
            ground::stand(workspace, &session)?;
        }
        return Ok(format!("the undo of {} was not made", accept.text));
    }
    let lock = IndexLock::take(workspace)?;
    let left = lock.prepare_what_is_left_back(workspace, accept, undo, changes)?;
    if is_after {
        move_branch(workspace, accept, Way::Back)?;
    }
    lock.finish()?;
    archive::settle_reopened(workspace, &session, accept)?;
    Ok(match left.is_empty() {
        true => finished,
        false => format!(
            "{finished}; what was staged since stays so: {}",
            first_of(5, left.iter())
        ),
    })
}

/// The commit that the branch of an accept ends with.
fn branch_tip(workspace: &Locked, accept: &Operation) -> Result<Option<Oid>> {
    let Some(branch) = &accept.branch else {
        return Ok(workspace.git.head()?.1);
    };
    tip_of(workspace, branch)
}

fn refuse_to_take_back(workspace: &Locked, session: &Session, accept: &Operation) -> Result<()> {
    refuse_open_operation(workspace)?;
    refuse_moved_branch(workspace, session, accept)
}

fn refuse_moved_branch(workspace: &Locked, session: &Session, operation: &Operation) -> Result<()> {
    let (branch, tip) = workspace.git.head()?;
    if branch == operation.branch && tip == operation.head_after {
        return Ok(());
    }
    refuse_other_branch(
        workspace,
        operation,
        branch.as_deref(),
        &operation.head_after,
    )?;
    let name = short_branch(operation.branch.as_deref().unwrap_or("HEAD"));
    let (Some(tip), Some(accepted)) = (tip, &operation.head_after) else {
        return Err(Error::refused(format!("{name} has no commit any more")));
    };
    let short = accepted.short();
    if Some(&tip) == operation.head_before.as_ref() {
        let what = format!(
            "{name} is where it was before the accept: its commit {short} was taken off it"
        );
        let hint =
            format!("to have the session back, too: git reset --soft {short}, then edio undo");
        return Err(Error::refused(what).hint(hint));
    }
    let what = format!("{name} does not end with the accepted commit {short} any more");
    let hint = match workspace.git.is_ancestor(accepted, &tip)? {
        true => "what was committed since stands on it: take that back first, or use git revert"
            .to_owned(),
        false => format!(
            "it was rewritten since. The turns are still there: edio --session {} log",
            session.id
        ),
    };
    Err(Error::refused(what).hint(hint))
}

/// Refuses where HEAD is on another branch than the one that an accept went to. `end` is what it is to end with.
fn refuse_other_branch(
    workspace: &Locked,
    operation: &Operation,
    branch: Option<&str>,
    end: &Option<Oid>,
) -> Result<()> {
    let there = Head {
        commit: end.clone(),
        branch: operation.branch.clone(),
    };
    refuse_other(workspace, branch, &there, "the accept went to")
}

/// Which way a branch moves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Forward,
    Back,
}

fn move_branch(workspace: &Locked, operation: &Operation, way: Way) -> Result<()> {
    let name = operation.branch.as_deref().unwrap_or("HEAD");
    let (before, after, reason) = match way {
        Way::Forward => (
            &operation.head_before,
            &operation.head_after,
            format!("edio {}", operation.text),
        ),
        Way::Back => (
            &operation.head_after,
            &operation.head_before,
            format!("edio undo: {}", operation.text),
        ),
    };
    let moved = workspace
        .git
        .move_users_ref(name, before.as_ref(), after.as_ref(), &reason);
    moved.map_err(|error| {
        let name = short_branch(name);
        if let Some(lock) = error.held_lock() {
            return held(workspace, name, &lock);
        }
        Error::cannot(format!("{name} could not be moved"))
            .because(error)
            .hint("somebody may have committed meanwhile, or a hook said no: try it again")
    })
}

/// Begins the session that goes on after an accept or a close, or takes it out again, where a killed process had put away
/// the one before it.
///
/// # Errors
///
/// git failed.
pub fn go_on_after_kill(workspace: &mut Locked, moment: Moment) -> Result<Option<String>> {
    let Some((_, last)) = archive::last_put_away(workspace)? else {
        return Ok(None);
    };
    let (branch, commit) = workspace.git.head()?;
    let stands = last.head_after == commit && last.branch == branch;
    if last.deed == Deed::Accept && !stands {
        return Ok(None);
    }
    let next = follow(workspace, &last, moment)?;
    Ok(next.map(|_| format!("{} is finished", last.text)))
}
