//! Accept: the work of a session as one commit of the user's.
//!
//! What belongs to the session is what it changed since its turn 0: neither the commits that the user made meanwhile nor
//! what was uncommitted before. The branch moves only from where it is known to be; the index changes only where the
//! commit changed something; then the session is put away.

mod content;
mod index;

use std::fs;

use bstr::ByteSlice;

use crate::error::{Error, Result};
use crate::gitengine::{Difference, GitError, Head, Oid, RefChange, RepoPath, Stat};

use self::content::{Content, Extent};
use self::index::IndexLock;
use super::ops::{self, Deed, Operation};
use super::refnames::{self, Leaf, Shelf};
use super::scan::scan;
use super::session::{Session, no_session};
use super::snapshot::{self, Moment, Request, Unchanged};
use super::turn::{Kind, Turn, Work};
use super::workspace::Locked;

/// What is wanted.
pub struct Wish {
    /// The commit's message, to the letter.
    pub message: String,
    /// The whole work tree, also what was uncommitted before the session began?
    pub whole_tree: bool,
}

/// What came of it.
pub struct Accepted {
    /// The commit.
    pub commit: Oid,
    /// The branch that moved; `None` where HEAD is detached.
    pub branch: Option<String>,
    /// The session, now archived.
    pub session: Session,
    /// What the commit changes.
    pub stat: Stat,
    /// The turn that was taken first, where the work tree had changed since the last one.
    pub turn: Option<Turn>,
    /// Paths whose uncommitted state from before went in with the session's changes on top of it.
    pub whole: Vec<RepoPath>,
    /// What stays uncommitted.
    pub uncommitted: Vec<RepoPath>,
}

/// What must be in order before anything is begun.
struct Start {
    head: Head,
    session: Session,
    current: Turn,
    turn: Option<Turn>,
}

/// Makes the session one commit.
///
/// # Errors
///
/// Refused, with HEAD, index and session as before: another branch, an operation of git's open, a conflict with commits
/// made since the session began, a lock held, no identity.
pub fn accept(workspace: &mut Locked, wish: &Wish, moment: Moment) -> Result<Accepted> {
    workspace.git = workspace.git.synced();
    refuse_open_operation(workspace)?;
    let Start {
        head,
        mut session,
        current,
        turn,
    } = start(workspace, moment)?;
    let baseline = session.find_baseline(workspace)?;
    let head_tree = snapshot::head_tree(workspace, &head)?;
    let extent = match wish.whole_tree {
        true => Extent::WholeTree,
        false => Extent::Session,
    };
    let content = Content::of(workspace, &baseline, &current, &head_tree, extent)?;
    if content.tree == head_tree {
        return Err(nothing_left(workspace, &session, &current, &baseline));
    }
    let (changes, stat) = workspace
        .git
        .differences_counted(&head_tree, &content.tree, &[])?;
    let commit = write_commit(workspace, &content.tree, &head, &wish.message)?;
    let text = format!("accept {}", subject(&wish.message));
    let tree = current.tree.clone();
    let operation = Operation {
        head_before: head.commit.clone(),
        head_after: Some(commit.clone()),
        branch: head.branch.clone(),
        ..Operation::on_work_tree(Deed::Accept, text, tree, &session, &current)
    };
    land(workspace, &mut session, operation, &changes, moment)?;
    let uncommitted = workspace.git.differences(&content.tree, &current.tree)?;
    Ok(Accepted {
        commit,
        branch: head.branch,
        session,
        stat,
        turn,
        whole: content.whole,
        uncommitted: uncommitted
            .into_iter()
            .map(|d: Difference| d.path)
            .collect(),
    })
}

/// Moves the branch, then the index, then puts the session away: all written down first.
fn land(
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
    let moved = move_branch(workspace, &operation, Way::Forward);
    if moved.is_err() {
        workspace.state.unfinished = false;
        workspace.state.save(&workspace.scratch())?;
    }
    moved?;
    lock.finish(workspace)?;
    archive(workspace, session)
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
        ..Operation::on_work_tree(
            Deed::Accept,
            operation.text.clone(),
            operation.tree.clone(),
            &session,
            &current,
        )
    };
    land(workspace, &mut session, again, &changes, moment)
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
    let mut session = unarchive(workspace, session)?;
    let current = session.current()?.clone();
    let undo = Operation {
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
    move_branch(workspace, operation, Way::Back)?;
    lock.finish(workspace)?;
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
        lock.finish(workspace)?;
        return Ok(format!("the undo of {} is finished", accept.text));
    }
    if taking_back && is_on && commit == accept.head_before {
        lock.prepare_back(workspace, accept, &changes)?;
        lock.finish(workspace)?;
        return Ok(format!("the undo of {} is finished", accept.text));
    }
    if !taking_back && is_on && commit == accept.head_after {
        lock.prepare(workspace, &changes)?;
        lock.finish(workspace)?;
        archive(workspace, &session)?;
        return Ok(format!("{} is finished", accept.text));
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
    let short = operation.head_after.as_ref().map_or("", Oid::short);
    Err(Error::refused(format!(
        "{name} does not end with the accepted commit {short} any more"
    ))
    .hint("what was committed since stands on it: take that back first, or use git revert"))
}

/// Gives an archived session its refs back.
fn unarchive(workspace: &mut Locked, session: Session) -> Result<Session> {
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
    workspace.git.change_refs(&changes)?;
    let archived = session.refs.iter().map(|(leaf, oid)| {
        RefChange::delete(refnames::name(Shelf::Archive, &session.id, *leaf), oid)
    });
    workspace.git.change_refs(&archived.collect::<Vec<_>>())?;
    Ok(Session {
        shelf: Shelf::Active,
        ..session
    })
}

/// Takes the last turn if the work tree has changed, and sees that the branch is the session's.
fn start(workspace: &mut Locked, moment: Moment) -> Result<Start> {
    let ground = snapshot::ground(workspace)?.ok_or_else(|| nothing_to_accept(no_session()))?;
    let before = Session::active_or_error(workspace)?;
    let scan = scan(workspace)?;
    let head = scan.head.clone();
    refuse_other_branch(before.current()?, &head)?;
    let changed = scan.tree != ground.tree;
    let request = Request {
        kind: Kind::Turn,
        message: None,
        unchanged: Unchanged::Skip,
        work: Work::default(),
        moment,
    };
    let taken = snapshot::record(workspace, scan, &request)?;
    let session = match changed {
        true => Session::active_or_error(workspace)?,
        false => before,
    };
    let current = session.current()?.clone();
    Ok(Start {
        head,
        session,
        current,
        turn: taken.turn,
    })
}

fn nothing_to_accept(cause: Error) -> Error {
    Error::cannot("there is nothing to accept")
        .because(cause)
        .hint("take a turn first: edio snapshot -m \"what was done\"")
}

/// git's own operations that are under way: the files that each leaves in the git directory.
const OPEN_OPERATIONS: [(&str, &str); 6] = [
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase or am"),
    ("BISECT_LOG", "bisect"),
];

fn refuse_open_operation(workspace: &Locked) -> Result<()> {
    let open = OPEN_OPERATIONS
        .iter()
        .find(|(file, _)| workspace.git.git_dir.join(file).exists());
    match open {
        None => Ok(()),
        Some((_, name)) => Err(Error::refused(format!("a {name} is under way"))
            .hint("finish or abort it first: git status says how")),
    }
}

fn refuse_other_branch(current: &Turn, head: &Head) -> Result<()> {
    if current.note.head.branch == head.branch {
        return Ok(());
    }
    let name = |branch: &Option<String>| match branch {
        Some(name) => name.trim_start_matches("refs/heads/").to_owned(),
        None => "no branch (a detached HEAD)".to_owned(),
    };
    let (theirs, ours) = (name(&current.note.head.branch), name(&head.branch));
    let error = Error::refused(format!(
        "the session worked on {theirs}, and this is {ours}"
    ));
    Err(match &current.note.head.branch {
        Some(_) => error.hint(format!("go back first: git switch {theirs}")),
        None => error.hint("go back first: git switch --detach"),
    })
}

/// The commit would change nothing.
fn nothing_left(
    workspace: &mut Locked,
    session: &Session,
    current: &Turn,
    baseline: &Turn,
) -> Error {
    if current.tree == baseline.tree {
        return Error::cannot("there is nothing to accept").because(Error::cannot(
            "the work tree is as it was when the session began",
        ));
    }
    match archive(workspace, session) {
        Ok(()) => Error::cannot("HEAD already holds all of it: no commit was made")
            .hint("the session is archived: edio log --all"),
        Err(error) => error,
    }
}

fn write_commit(workspace: &Locked, tree: &Oid, head: &Head, message: &str) -> Result<Oid> {
    let parents: Vec<&Oid> = head.commit.iter().collect();
    let written = workspace
        .git
        .write_users_commit(tree, &parents, message.as_bytes());
    written.map_err(|error| match is_missing_identity(&error) {
        true => Error::cannot("git does not know who you are")
            .because(error)
            .hint("git config --global user.name \"Your Name\"")
            .hint("git config --global user.email you@example.com"),
        false => error.into(),
    })
}

fn is_missing_identity(error: &GitError) -> bool {
    let said = error.stderr();
    [
        &b"identity unknown"[..],
        b"empty ident",
        b"auto-detect email",
        b"no email was given",
        b"no name was given",
    ]
    .iter()
    .any(|words| said.contains_str(words))
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

fn subject(message: &str) -> &str {
    message.trim().lines().next().unwrap_or_default()
}

/// So many refs are deleted at a time: others wait for the packed refs no longer than a second.
const CHUNK: usize = 500;

/// Puts a session away: its end is written down first, then the refs of its turns go.
///
/// # Errors
///
/// git failed. What is left is put away by the next command.
pub fn archive(workspace: &mut Locked, session: &Session) -> Result<()> {
    let kept = [Leaf::Current, Leaf::Ops, Leaf::Side];
    // What an operation has added since the session was read counts, too.
    let folder = refnames::folder(Shelf::Active, &session.id);
    let refs = workspace.git.ref_names(&[&folder])?;
    let leaf = |name: &str| refnames::parse(name).map(|(_, _, leaf)| leaf);
    let created: Vec<RefChange> = refs
        .iter()
        .filter_map(|(name, oid)| {
            let leaf = leaf(name).filter(|leaf| kept.contains(leaf))?;
            let archived = refnames::name(Shelf::Archive, &session.id, leaf);
            Some(RefChange::set(archived, None, oid))
        })
        .collect();
    workspace.git.change_refs(&created)?;
    let deleted: Vec<RefChange> = refs
        .iter()
        .map(|(name, oid)| RefChange::delete(name.clone(), oid))
        .collect();
    for chunk in deleted.chunks(CHUNK) {
        workspace.git.change_refs(chunk)?;
    }
    workspace.state.unfinished = false;
    workspace.state.session = None;
    workspace.state.cache = None;
    workspace.pointed = None;
    workspace.state.save(&workspace.scratch())
}

/// Is one of git's own operations under way? Its name.
pub fn open_operation(git_dir: &std::path::Path) -> Option<&'static str> {
    let open = OPEN_OPERATIONS
        .iter()
        .find(|(file, _)| fs::exists(git_dir.join(file)).unwrap_or(false));
    open.map(|(_, name)| *name)
}
