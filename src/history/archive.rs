//! Putting a session away, and taking it out again.
//!
//! An archived session has three refs: where it stood, its operations, what a work tree can't hold. Its turns are
//! reached from these; what stood among them and is none keeps a ref of its own.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::gitengine::{Oid, RefChange};

use super::gitlock::wait_for_packed_refs;
use super::ground;
use super::ops::{self, Deed, Operation};
use super::refnames::{self, Leaf, SessionId, Shelf};
use super::refs;
use super::session::Session;
use super::snapshot::Moment;
use super::turn::Kind;
use super::workspace::{Locked, Workspace};

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
    last.filter(|last| workspace.state.unfinished && last.puts_away())
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
pub fn close(workspace: &mut Locked, session: Session, moment: Moment) -> Result<()> {
    close_again(workspace, session, None, moment)
}

/// Closes a session that was taken out again. The one that its closing had been followed by goes on.
///
/// # Errors
///
/// git failed.
pub fn close_again(
    workspace: &mut Locked,
    mut session: Session,
    next: Option<SessionId>,
    moment: Moment,
) -> Result<()> {
    refuse_half_done(workspace, &session)?;
    wait_for_packed_refs(workspace)?;
    workspace.git = workspace.git.synced();
    session.refuse_damaged()?;
    let current = session.current()?.clone();
    let (text, tree) = ("close".to_owned(), current.tree.clone());
    let operation = Operation {
        next,
        ..Operation::on_work_tree(Deed::Close, text, tree, &session, &current)
    };
    refuse_damaged_next(workspace, &operation)?;
    workspace.begin()?;
    ops::record(workspace, &mut session, &operation, moment.seconds)?;
    archive(workspace, &session)?;
    take_out_next(workspace, &operation)?;
    workspace.end()
}

/// The session that was under way after an accept or a close that is done again, if it was put away by its undo.
///
/// # Errors
///
/// git failed.
fn next_of(workspace: &Workspace, operation: &Operation) -> Result<Option<Session>> {
    let Some(id) = &operation.next else {
        return Ok(None);
    };
    let next = Session::load(workspace, Shelf::Archive, id)?;
    // One that was accepted or closed itself stays where it is.
    Ok(next.filter(|next| !next.last_operation().is_some_and(|last| last.puts_away())))
}

/// Refuses to do an accept or a close again where that session is damaged.
///
/// # Errors
///
/// It is, or git failed.
pub fn refuse_damaged_next(workspace: &Workspace, operation: &Operation) -> Result<()> {
    match next_of(workspace, operation)? {
        Some(next) => next.refuse_damaged(),
        None => Ok(()),
    }
}

/// Had an accept or a close come to its end, all but the refs of the turns that it put away?
///
/// # Errors
///
/// git failed.
pub fn is_put_away(workspace: &Workspace, session: &Session) -> Result<bool> {
    let archived = refnames::name(Shelf::Archive, &session.id, Leaf::Ops);
    let there = workspace.git.ref_names(&[&archived])?;
    let last = session.ops.as_ref().map(|commit| &commit.oid);
    Ok(there
        .iter()
        .any(|(name, oid)| *name == archived && Some(oid) == last))
}

/// Takes that session out again. Returns its id; `None` where there is none.
///
/// # Errors
///
/// git failed.
pub fn take_out_next(workspace: &mut Locked, operation: &Operation) -> Result<Option<SessionId>> {
    let Some(next) = next_of(workspace, operation)?.filter(|next| next.damaged.is_empty()) else {
        return Ok(None);
    };
    let next = unarchive(workspace, next)?;
    not_put_away(workspace, &next.id)?;
    ground::stand(workspace, &next)?;
    workspace.state.save(&workspace.scratch())?;
    Ok(Some(next.id))
}

/// The session of this workspace that was accepted or closed last, with that.
///
/// # Errors
///
/// git failed.
pub fn last_put_away(workspace: &Workspace) -> Result<Option<(Session, Operation)>> {
    let (branch, head) = workspace.git.head()?;
    let mut newest: Option<((i64, bool, bool), Session, Operation)> = None;
    for session in Session::all(workspace)? {
        let Some(commit) = &session.ops else {
            continue;
        };
        let Some(operation) = Operation::read(commit) else {
            continue;
        };
        let here = operation.worktree == workspace.name;
        if session.shelf != Shelf::Archive || !operation.puts_away() || !here {
            continue;
        }
        // Of two in the same second, the one that ended with HEAD as it is came last; and a close after an accept.
        let is_close = operation.deed == Deed::Close;
        let is_head = match (is_close, &session.current) {
            (true, Some(current)) => current.note.head.commit == head,
            _ => operation.head_after == head && operation.branch == branch,
        };
        let rank = (commit.seconds, is_head, is_close);
        if newest.as_ref().is_none_or(|(other, ..)| rank >= *other) {
            newest = Some((rank, session.clone(), operation));
        }
    }
    Ok(newest.map(|(_, session, operation)| (session, operation)))
}

/// Takes a closed session out again.
///
/// # Errors
///
/// git failed.
pub fn reopen(
    workspace: &mut Locked,
    session: Session,
    closed: &Operation,
    moment: Moment,
) -> Result<()> {
    session.refuse_damaged()?;
    wait_for_packed_refs(workspace)?;
    let successor = to_be_archived(workspace)?;
    workspace.begin()?;
    let mut session = unarchive(workspace, session)?;
    let current = session.current()?.clone();
    let (text, tree) = ("undo".to_owned(), current.tree.clone());
    let undo = Operation {
        undoes: session.ops.as_ref().map(|commit| commit.oid.clone()),
        next: successor.as_ref().map(|next| next.id.clone()),
        ..Operation::on_work_tree(Deed::Undo, text, tree, &session, &current)
    };
    ops::record(workspace, &mut session, &undo, moment.seconds)?;
    make_room(workspace, &session, successor, closed)?;
    workspace.end()
}

/// The session under way, which is put away where the one before it comes back.
///
/// # Errors
///
/// It is damaged, or git failed.
pub fn to_be_archived(workspace: &Workspace) -> Result<Option<Session>> {
    let session = Session::active(workspace)?;
    if let Some(session) = &session {
        session.refuse_damaged()?;
    }
    Ok(session)
}

/// Has a session that came back be the one under way again. The one that was begun since it was put away is archived.
///
/// # Errors
///
/// git failed.
pub fn make_room(
    workspace: &mut Locked,
    session: &Session,
    successor: Option<Session>,
    put_away: &Operation,
) -> Result<()> {
    not_put_away(workspace, &session.id)?;
    if let Some(successor) = successor {
        drop_successor(workspace, &successor, put_away)?;
    }
    ground::stand(workspace, session)?;
    workspace.state.save(&workspace.scratch())
}

/// The same for a session that a killed process had taken out, with the undo written down.
///
/// # Errors
///
/// git failed.
pub fn settle_reopened(
    workspace: &mut Locked,
    session: &Session,
    put_away: &Operation,
) -> Result<()> {
    let undo = session.last_operation();
    let successor = match undo.and_then(|undo| undo.next) {
        Some(id) => Session::load(workspace, Shelf::Active, &id)?,
        None => None,
    };
    make_room(workspace, session, successor, put_away)
}

/// Is it as the accept of a turn begins the next session? Then it holds nothing of its own.
pub fn is_as_begun_by(session: &Session, accept: &Operation) -> bool {
    let begun = session.current.as_ref().filter(|current| {
        current.note.kind == Kind::Baseline
            && current.note.side.is_none()
            && current.tree == accept.tree
    });
    let alone = matches!(session.refs.as_slice(), [(Leaf::Current, _)]);
    accept.goes_on && alone && begun.is_some() && session.damaged.is_empty()
}

fn drop_successor(workspace: &mut Locked, session: &Session, put_away: &Operation) -> Result<()> {
    if !is_as_begun_by(session, put_away) {
        return archive(workspace, session);
    }
    let deleted = session.refs.iter().map(|(leaf, oid)| {
        RefChange::delete(refnames::name(Shelf::Active, &session.id, *leaf), oid)
    });
    refs::change(workspace, &deleted.collect::<Vec<_>>())
}

/// Gives an archived session its refs back, `current` last: until then it counts as archived.
///
/// The archived ones stay until [`not_put_away`]: they tell that what had put the session away had come to its end.
///
/// # Errors
///
/// git failed.
pub fn unarchive(workspace: &mut Locked, session: Session) -> Result<Session> {
    // What a killed process gave back already is there.
    let folder = refnames::folder(Shelf::Active, &session.id);
    let there: BTreeMap<_, _> = workspace.git.ref_names(&[&folder])?.into_iter().collect();
    let back = |leaf: Leaf, oid: &Oid| {
        let name = refnames::name(Shelf::Active, &session.id, leaf);
        let before = there.get(&name);
        RefChange::set(name, before, oid)
    };
    let turns = session.turns.values();
    let mut changes: Vec<RefChange> = turns
        .map(|turn| back(Leaf::Turn(turn.number().turn), &turn.commit))
        .collect();
    let (current, others): (Vec<_>, Vec<_>) = session
        .refs
        .iter()
        .partition(|(leaf, _)| *leaf == Leaf::Current);
    let refs = others.into_iter().chain(current);
    changes.extend(refs.map(|(leaf, oid)| back(*leaf, oid)));
    refs::change(workspace, &changes)?;
    Ok(Session {
        shelf: Shelf::Active,
        ..session
    })
}

/// Removes those archived refs of a session that it has back.
///
/// # Errors
///
/// git failed.
pub fn not_put_away(workspace: &Locked, id: &SessionId) -> Result<()> {
    let folders = [Shelf::Active, Shelf::Archive].map(|shelf| refnames::folder(shelf, id));
    let refs = workspace
        .git
        .ref_names(&folders.each_ref().map(String::as_str))?;
    let is_back = |leaf: Leaf| {
        let active = refnames::name(Shelf::Active, id, leaf);
        refs.iter().any(|(name, _)| *name == active)
    };
    let archived = |name: &str| {
        refnames::parse(name)
            .is_some_and(|(shelf, _, leaf)| shelf == Shelf::Archive && is_back(leaf))
    };
    let deleted: Vec<RefChange> = refs
        .iter()
        .filter(|(name, _)| archived(name))
        .map(|(name, oid)| RefChange::delete(name.clone(), oid))
        .collect();
    refs::change(workspace, &deleted)
}
