//! Making a commit the branch's, and taking it back: branch, index and session move in this order, and all of it is
//! written down first.

use crate::error::{Error, Result};
use crate::gitengine::{Difference, Head, Oid};

use super::super::archive;
use super::super::ops::{self, Deed, Operation};
use super::super::session::Session;
use super::super::snapshot::{self, Moment};
use super::super::workspace::Locked;
use super::index::{self, IndexLock};
use super::{go_on, refuse_open_operation};

/// Moves the branch, then the index, then puts the session away: all written down first.
pub(super) fn land(
    workspace: &mut Locked,
    session: &mut Session,
    operation: Operation,
    changes: &[Difference],
    moment: Moment,
) -> Result<()> {
    let lock = IndexLock::take(workspace)?;
    let side = index::save_staged(workspace, session, changes, moment)?;
    let operation = Operation { side, ..operation };
    lock.prepare(workspace, changes)?;
    workspace.state.unfinished = true;
    workspace.state.save(&workspace.scratch())?;
    ops::record(workspace, session, &operation, moment.seconds)?;
    if let Err(error) = move_branch(workspace, &operation, Way::Forward) {
        ops::take_off_last(workspace, session)?;
        workspace.state.unfinished = false;
        workspace.state.save(&workspace.scratch())?;
        return Err(error);
    }
    lock.finish()?;
    archive::archive(workspace, session)
}

/// Makes the commit of an accept that was taken back the branch's again.
///
/// # Errors
///
/// HEAD is not where it was before that accept, or as for [`accept`].
pub fn land_again(
    workspace: &mut Locked,
    mut session: Session,
    operation: &Operation,
    moment: Moment,
) -> Result<()> {
    refuse_open_operation(workspace)?;
    let changes = changes_of(workspace, operation)?;
    let current = session.current()?.clone();
    let again = Operation {
        head_before: operation.head_before.clone(),
        head_after: operation.head_after.clone(),
        branch: operation.branch.clone(),
        goes_on: operation.goes_on,
        to: operation.to.clone(),
        ..Operation::on_work_tree(
            Deed::Accept,
            operation.text.clone(),
            operation.tree.clone(),
            &session,
            &current,
        )
    };
    land(workspace, &mut session, again.clone(), &changes, moment)?;
    if again.goes_on {
        go_on(workspace, &again, moment)?;
    }
    Ok(())
}

/// What the commit of an accept changes.
fn changes_of(workspace: &Locked, operation: &Operation) -> Result<Vec<Difference>> {
    let before = Head {
        commit: operation.head_before.clone(),
        branch: None,
    };
    let after = Head {
        commit: operation.head_after.clone(),
        branch: None,
    };
    let before = snapshot::head_tree(workspace, &before)?;
    let after = snapshot::head_tree(workspace, &after)?;
    Ok(workspace.git.differences(&before, &after)?)
}

/// Takes an accept back: branch, index and session are as before it.
///
/// # Errors
///
/// The branch points elsewhere by now, or HEAD is on another; then nothing has changed.
pub fn take_back(
    workspace: &mut Locked,
    session: Session,
    operation: &Operation,
    moment: Moment,
) -> Result<()> {
    refuse_open_operation(workspace)?;
    refuse_moved_branch(workspace, operation)?;
    let changes = changes_of(workspace, operation)?;
    let lock = IndexLock::take(workspace)?;
    lock.prepare_back(workspace, operation, &changes)?;
    archive::drop_successor(workspace)?;
    let archived = session.refs.clone();
    let mut session = archive::unarchive(workspace, session)?;
    // What was staged since is saved, too.
    let side = index::save_staged(workspace, &mut session, &changes, moment)?;
    let current = session.current()?.clone();
    let undo = Operation {
        side,
        undoes: session.ops.as_ref().map(|commit| commit.oid.clone()),
        ..Operation::on_work_tree(
            Deed::Undo,
            "undo".to_owned(),
            current.tree.clone(),
            &session,
            &current,
        )
    };
    workspace.state.unfinished = true;
    snapshot::stand(workspace, &session)?;
    workspace.state.save(&workspace.scratch())?;
    ops::record(workspace, &mut session, &undo, moment.seconds)?;
    if let Err(error) = move_branch(workspace, operation, Way::Back) {
        ops::take_off_last(workspace, &mut session)?;
        archive::archive_as_before(workspace, &session, &archived)?;
        return Err(error);
    }
    lock.finish()?;
    workspace.state.unfinished = false;
    workspace.state.save(&workspace.scratch())
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
) -> Result<String> {
    let (branch, commit) = workspace.git.head()?;
    let is_on = branch == accept.branch;
    let changes = changes_of(workspace, accept)?;
    let taking_back = last.deed == Deed::Undo;
    let lock = IndexLock::take(workspace)?;
    if taking_back && is_on && commit == accept.head_after {
        lock.prepare_back(workspace, accept, &changes)?;
        move_branch(workspace, accept, Way::Back)?;
        lock.finish()?;
        return Ok(format!("the undo of {} is finished", accept.text));
    }
    if taking_back && is_on && commit == accept.head_before {
        lock.prepare_back(workspace, accept, &changes)?;
        lock.finish()?;
        return Ok(format!("the undo of {} is finished", accept.text));
    }
    if !taking_back && is_on && commit == accept.head_after {
        lock.prepare(workspace, &changes)?;
        lock.finish()?;
        archive::archive(workspace, &session)?;
        return Ok(format!("{} is finished", accept.text));
    }
    let mut session = session;
    if !taking_back {
        ops::take_off_last(workspace, &mut session)?;
    }
    Ok(format!("{} was not made", accept.text))
}

fn refuse_moved_branch(workspace: &Locked, operation: &Operation) -> Result<()> {
    let (branch, commit) = workspace.git.head()?;
    if branch == operation.branch && commit == operation.head_after {
        return Ok(());
    }
    let name = operation.branch.as_deref().unwrap_or("HEAD");
    let name = name.trim_start_matches("refs/heads/");
    if branch != operation.branch {
        return Err(Error::refused(format!(
            "the accept went to {name}, and HEAD is on {}",
            branch
                .as_deref()
                .map_or("none", |other| other.trim_start_matches("refs/heads/"))
        ))
        .hint(format!("go back there first: git switch {name}")));
    }
    let short = operation.head_after.as_ref().map_or("", Oid::short);
    Err(Error::refused(format!(
        "{name} does not end with the accepted commit {short} any more"
    ))
    .hint("what was committed since stands on it: take that back first, or use git revert"))
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
        let name = name.trim_start_matches("refs/heads/");
        Error::cannot(format!("{name} could not be moved"))
            .because(error)
            .hint("somebody may have committed meanwhile, or a hook said no: try it again")
    })
}
