//! Putting a session away, and taking it out again.
//!
//! An archived session has three refs: where it stood, its operations, what a work tree can't hold. Its turns are
//! reached from these; what stood among them and is none keeps a ref of its own.

use crate::error::{Error, Result};
use crate::gitengine::{Oid, RefChange};

use super::gitlock::wait_for_packed_refs;
use super::ops::{self, Deed, Operation};
use super::refnames::{self, Leaf, Shelf};
use super::refs;
use super::session::Session;
use super::snapshot::{self, Moment};
use super::workspace::Locked;

/// Puts a session away: its end is written down first, then the refs of its turns go.
///
/// # Errors
///
/// git failed. What is left is put away by the next command.
pub fn archive(workspace: &mut Locked, session: &Session) -> Result<()> {
    // What is no turn is reached from nowhere else.
    let foreign = session.foreign.iter().map(|it| Leaf::Turn(it.number));
    let kept = [Leaf::Current, Leaf::Ops, Leaf::Side].into_iter();
    let kept: Vec<Leaf> = kept.chain(foreign).collect();
    // What an operation has added since the session was read counts, too; and what a killed process archived already.
    let folder = refnames::folder(Shelf::Active, &session.id);
    let refs = workspace.git.ref_names(&[&folder])?;
    let folder = refnames::folder(Shelf::Archive, &session.id);
    let there = workspace.git.ref_names(&[&folder])?;
    let leaf = |name: &str| refnames::parse(name).map(|(_, _, leaf)| leaf);
    let created: Vec<RefChange> = refs
        .iter()
        .filter_map(|(name, oid)| {
            let leaf = leaf(name).filter(|leaf| kept.contains(leaf))?;
            let archived = refnames::name(Shelf::Archive, &session.id, leaf);
            let before = there.iter().find(|(name, _)| *name == archived);
            Some(RefChange::set(archived, before.map(|(_, oid)| oid), oid))
        })
        .collect();
    refs::change(workspace, &created)?;
    let deleted: Vec<RefChange> = refs
        .iter()
        .map(|(name, oid)| RefChange::delete(name.clone(), oid))
        .collect();
    refs::change_in_chunks(workspace, &deleted)?;
    workspace.state.session = None;
    workspace.state.cache = None;
    workspace.state.journal.lose();
    workspace.pointed = None;
    workspace.state.save(&workspace.scratch())
}

/// Puts a session away again that was taken out in vain: its refs are as they were.
///
/// # Errors
///
/// git failed.
pub fn archive_as_before(
    workspace: &mut Locked,
    session: &Session,
    before: &[(Leaf, Oid)],
) -> Result<()> {
    archive(workspace, session)?;
    let folder = refnames::folder(Shelf::Archive, &session.id);
    let now = workspace.git.ref_names(&[&folder])?;
    let leaf = |name: &str| refnames::parse(name).map(|(_, _, leaf)| leaf);
    let changes: Vec<RefChange> = now
        .into_iter()
        .filter_map(|(name, oid)| {
            let was = before.iter().find(|(other, _)| leaf(&name) == Some(*other));
            match was {
                Some((_, was)) if was == &oid => None,
                Some((_, was)) => Some(RefChange::set(name, Some(&oid), was)),
                None => Some(RefChange::delete(name, &oid)),
            }
        })
        .collect();
    refs::change(workspace, &changes)
}

/// The accept or close of this session, where it came about and the session could not be put away yet.
///
/// The next command tries that first: what is left then is for a person to mend.
pub fn half_done(workspace: &Locked, session: &Session) -> Option<Operation> {
    let last = session.last_operation();
    last.filter(|last| {
        workspace.state.unfinished && matches!(last.deed, Deed::Accept | Deed::Close)
    })
}

/// Refuses what would come on top of that.
///
/// # Errors
///
/// It is so.
pub fn refuse_half_done(workspace: &Locked, session: &Session) -> Result<()> {
    match half_done(workspace, session) {
        None => Ok(()),
        Some(last) => Err(Error::cannot(format!(
            "{} is not finished: its session is still to be put away",
            last.text
        ))
        .hint("mend what stands in the way; the next command that changes something finishes it")),
    }
}

/// Puts a session away without a commit: for who commits by hand.
///
/// # Errors
///
/// git failed.
pub fn close(workspace: &mut Locked, mut session: Session, moment: Moment) -> Result<()> {
    refuse_half_done(workspace, &session)?;
    wait_for_packed_refs(workspace)?;
    workspace.git = workspace.git.synced();
    session.refuse_damaged()?;
    let current = session.current()?.clone();
    let (text, tree) = ("close".to_owned(), current.tree.clone());
    let operation = Operation::on_work_tree(Deed::Close, text, tree, &session, &current);
    workspace.begin()?;
    ops::record(workspace, &mut session, &operation, moment.seconds)?;
    archive(workspace, &session)?;
    workspace.end()
}

/// Takes a closed session out again.
///
/// # Errors
///
/// git failed.
pub fn reopen(workspace: &mut Locked, session: Session, moment: Moment) -> Result<()> {
    session.refuse_damaged()?;
    wait_for_packed_refs(workspace)?;
    let successor = Session::active(workspace)?;
    let mut session = unarchive(workspace, session)?;
    let current = session.current()?.clone();
    let (text, tree) = ("undo".to_owned(), current.tree.clone());
    let undo = Operation {
        undoes: session.ops.as_ref().map(|commit| commit.oid.clone()),
        ..Operation::on_work_tree(Deed::Undo, text, tree, &session, &current)
    };
    ops::record(workspace, &mut session, &undo, moment.seconds)?;
    drop_successor(workspace, successor)?;
    snapshot::stand(workspace, &session)?;
    workspace.state.save(&workspace.scratch())
}

/// Makes room for a session that comes back: the one under way goes, if nothing was done in it, and else is archived.
///
/// # Errors
///
/// git failed.
pub fn drop_successor(workspace: &mut Locked, successor: Option<Session>) -> Result<()> {
    let Some(session) = successor else {
        return Ok(());
    };
    if !session.turns.is_empty() || session.ops.is_some() || !session.foreign.is_empty() {
        return archive(workspace, &session);
    }
    let deleted = session.refs.iter().map(|(leaf, oid)| {
        RefChange::delete(refnames::name(Shelf::Active, &session.id, *leaf), oid)
    });
    refs::change(workspace, &deleted.collect::<Vec<_>>())
}

/// Gives an archived session its refs back.
///
/// # Errors
///
/// git failed.
pub fn unarchive(workspace: &mut Locked, session: Session) -> Result<Session> {
    let active = |leaf| refnames::name(Shelf::Active, &session.id, leaf);
    let turns = session.turns.values();
    let mut changes: Vec<RefChange> = turns
        .map(|turn| RefChange::set(active(Leaf::Turn(turn.number().turn)), None, &turn.commit))
        .collect();
    changes.extend(
        session
            .refs
            .iter()
            .map(|(leaf, oid)| RefChange::set(active(*leaf), None, oid)),
    );
    refs::change(workspace, &changes)?;
    let archived = session.refs.iter().map(|(leaf, oid)| {
        RefChange::delete(refnames::name(Shelf::Archive, &session.id, *leaf), oid)
    });
    refs::change(workspace, &archived.collect::<Vec<_>>())?;
    Ok(Session {
        shelf: Shelf::Active,
        ..session
    })
}
