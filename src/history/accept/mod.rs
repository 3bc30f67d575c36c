//! Accept: the work of a session as one commit of the user's.
//!
//! What belongs to the session is what it changed since its turn 0: neither the commits that the user made meanwhile nor
//! what was uncommitted before. The branch moves only from where it is known to be; the index changes only where the
//! commit changed something; then the session is put away.

mod content;
mod index;
mod message;

use std::collections::BTreeSet;
use std::fmt;
use std::fs;

use bstr::ByteSlice;

use crate::error::{Error, Result};
use crate::gitengine::{Difference, GitError, Head, Oid, RepoPath, Signed, Stat};

use self::content::Content;
pub use self::content::Extent;
use self::index::IndexLock;
use self::message::Hooks;
pub use self::message::{Message, Verify};
use super::archive;
use super::ops::{self, Deed, Operation};
use super::refnames::SessionId;
use super::restore::own_session;
use super::scan::{Scan, scan};
use super::session::{Session, no_session};
use super::side;
use super::skipped::Skipped;
use super::snapshot::{self, Moment, Request, Unchanged};
use super::turn::{Kind, Number, Turn, Work};
use super::workspace::Locked;

/// What is wanted.
pub struct Wish {
    /// The last turn that goes in; `None` for the work tree as it is.
    pub turn: Option<Turn>,
    /// How much goes in.
    pub extent: Extent,
    /// On which branch.
    pub branch: Onto,
}

/// The branch that the commit may go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Onto {
    /// The one that the session worked on.
    Sessions,
    /// The one that HEAD is on, whichever that is.
    Any,
}

/// An accept that nothing speaks against, with nothing committed yet.
pub struct Prepared {
    /// Where HEAD stands.
    pub head: Head,
    /// What the commit changes.
    pub changes: Vec<Difference>,
    /// How much that is.
    pub stat: Stat,
    /// Paths whose uncommitted state from before goes in with the session's changes on top of it.
    pub whole: Vec<RepoPath>,
    /// The turns that go in, by number.
    pub turns: Vec<Turn>,
    /// The turn that was taken first, where the work tree had changed since the last one.
    pub turn: Option<Turn>,
    session: Session,
    baseline: Turn,
    head_tree: Oid,
    tree: Oid,
    /// The turn that the commit ends with, and the work tree as it is.
    last: Turn,
    now: Oid,
    continues: bool,
}

/// What came of it.
pub struct Accepted {
    /// The commit.
    pub commit: Oid,
    /// Its message.
    pub message: String,
    /// The branch that moved; `None` where HEAD is detached.
    pub branch: Option<String>,
    /// The session, now archived.
    pub session: SessionId,
    /// The turn that the commit ends with.
    pub last: Number,
    /// What the commit changes.
    pub changes: Vec<Difference>,
    /// How much that is.
    pub stat: Stat,
    /// Paths whose uncommitted state from before went in with the session's changes on top of it.
    pub whole: Vec<RepoPath>,
    /// What stays uncommitted, and why.
    pub uncommitted: Vec<(RepoPath, Uncommitted)>,
    /// The session that goes on with what came after the accepted turn.
    pub next: Option<SessionId>,
}

/// Why a path stays uncommitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncommitted {
    /// It was so before the session began.
    Before,
    /// It was changed after the accepted turn.
    Later,
    /// It could not be held.
    NotHeld,
    /// The commit has it otherwise: merged with other commits.
    Otherwise,
}

impl fmt::Display for Uncommitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Uncommitted::Before => "it was so before the session began",
            Uncommitted::Later => "it was changed after that turn",
            Uncommitted::NotHeld => "it could not be held",
            Uncommitted::Otherwise => "the commit has it otherwise",
        })
    }
}

/// Is the work tree recorded as a turn first, if it has changed?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsaved {
    /// Yes.
    Take,
    /// No: this is only a look at what would be done.
    Look,
}

/// Works out what would be committed, and sees that nothing speaks against it.
///
/// # Errors
///
/// Refused, with everything as before: another branch, an operation of git's open, a conflict with commits made since
/// the session began, nothing to commit.
pub fn prepare(
    workspace: &mut Locked,
    wish: &Wish,
    unsaved: Unsaved,
    moment: Moment,
) -> Result<Prepared> {
    workspace.git = workspace.git.synced();
    refuse_open_operation(workspace)?;
    let before = Session::active(workspace)?.ok_or_else(|| nothing_to_accept(no_session()))?;
    let scan = scan(workspace)?;
    let head = scan.head.clone();
    if wish.branch == Onto::Sessions {
        refuse_other_branch(before.current()?, &head)?;
    }
    let (now, skipped) = (scan.tree.clone(), scan.skipped.clone());
    let (session, turn) = match unsaved {
        Unsaved::Take => take_unsaved(workspace, before, scan, moment)?,
        Unsaved::Look => (before, None),
    };
    let last = match (&wish.turn, unsaved) {
        (Some(turn), _) => turn.clone(),
        (None, Unsaved::Take) => session.current()?.clone(),
        (None, Unsaved::Look) => as_it_would_be(session.current()?, &now, skipped),
    };
    let baseline = session.find_baseline(workspace)?;
    let head_tree = snapshot::head_tree(workspace, &head)?;
    let content = Content::of(workspace, &baseline, &last, &head_tree, wish.extent)?;
    if content.tree == head_tree {
        return Err(nothing_left(
            workspace, &session, &last, &baseline, unsaved, moment,
        ));
    }
    let (changes, stat) = workspace
        .git
        .differences_counted(&head_tree, &content.tree, &[])?;
    Ok(Prepared {
        turns: turns_up_to(workspace, &session, &last),
        continues: wish.turn.is_some(),
        head,
        changes,
        stat,
        whole: content.whole,
        turn,
        session,
        baseline,
        head_tree,
        tree: content.tree,
        last,
        now,
    })
}

/// The current turn, were the work tree taken as one now.
fn as_it_would_be(current: &Turn, tree: &Oid, skipped: Vec<Skipped>) -> Turn {
    let mut turn = current.clone();
    turn.tree = tree.clone();
    turn.note.skipped_count = skipped.len();
    turn.note.skipped = skipped;
    turn
}

/// The turns on the line that ends with this one.
fn turns_up_to(workspace: &Locked, session: &Session, last: &Turn) -> Vec<Turn> {
    let mut turns = Vec::new();
    let mut next = session.by_commit(&last.commit).cloned();
    while let Some(turn) = next.filter(|turn| turn.number().turn > 0) {
        next = session.before(workspace, &turn).ok();
        turns.push(turn);
    }
    turns.reverse();
    turns
}

fn take_unsaved(
    workspace: &mut Locked,
    session: Session,
    scan: Scan,
    moment: Moment,
) -> Result<(Session, Option<Turn>)> {
    let request = Request {
        kind: Kind::Turn,
        message: None,
        unchanged: Unchanged::Skip,
        work: Work::default(),
        moment,
    };
    let turn = snapshot::record(workspace, scan, &request)?.turn;
    let session = own_session(workspace, session, turn.as_ref())?;
    Ok((session, turn))
}

/// Makes the session one commit.
///
/// # Errors
///
/// A hook said no, there is no message or no identity, or the index is locked: HEAD, index and session are as before.
pub fn accept(
    workspace: &mut Locked,
    mut prepared: Prepared,
    message: Message<'_>,
    verify: Verify,
    moment: Moment,
) -> Result<Accepted> {
    let hooks = Hooks::of(workspace, verify)?;
    let (tree, message) = workspace
        .while_free(|workspace| hooks.ask(workspace, &prepared.tree, message, &prepared.turns))?;
    let left = left_by_hooks(
        uncommitted(workspace, &prepared)?,
        workspace,
        &prepared,
        &tree,
    )?;
    prepared.tree = tree;
    let (changes, stat) =
        workspace
            .git
            .differences_counted(&prepared.head_tree, &prepared.tree, &[])?;
    if changes.is_empty() {
        return Err(Error::cannot("the pre-commit hook left nothing to commit"));
    }
    let commit = write_commit(workspace, &prepared.tree, &prepared.head, &message)?;
    let text = format!("accept {}", subject(&message));
    let mut session = still_there(workspace, &prepared.session)?;
    let current = session.current()?.clone();
    let operation = Operation {
        goes_on: prepared.continues,
        to: prepared.last.commit.clone(),
        head_before: prepared.head.commit.clone(),
        head_after: Some(commit.clone()),
        branch: prepared.head.branch.clone(),
        ..Operation::on_work_tree(
            Deed::Accept,
            text,
            prepared.last.tree.clone(),
            &session,
            &current,
        )
    };
    land(workspace, &mut session, operation.clone(), &changes, moment)?;
    let next = match prepared.continues {
        true => Some(go_on(workspace, &operation, moment)?),
        false => None,
    };
    workspace.while_free(|workspace| {
        hooks.post_commit(workspace);
        Ok(())
    })?;
    Ok(Accepted {
        uncommitted: left,
        commit,
        message,
        branch: prepared.head.branch,
        session: prepared.session.id,
        last: prepared.last.number(),
        changes,
        stat,
        whole: prepared.whole,
        next,
    })
}

/// The session, as it stands after the hooks: it may have got turns meanwhile, but must not be another.
fn still_there(workspace: &Locked, before: &Session) -> Result<Session> {
    let now = Session::active(workspace)?;
    now.filter(|now| now.id == before.id).ok_or_else(|| {
        Error::cannot("the session was accepted or closed by somebody else meanwhile")
            .hint("see what there is: edio sessions")
    })
}

/// What stays uncommitted after the hooks took something in, or left something out.
fn left_by_hooks(
    left: Vec<(RepoPath, Uncommitted)>,
    workspace: &Locked,
    prepared: &Prepared,
    tree: &Oid,
) -> Result<Vec<(RepoPath, Uncommitted)>> {
    if tree == &prepared.tree {
        return Ok(left);
    }
    let git = &workspace.git;
    let changed = git.differences(&prepared.tree, tree)?;
    let now: BTreeSet<RepoPath> = git
        .differences(tree, &prepared.now)?
        .into_iter()
        .filter(|difference| difference.new.is_some())
        .map(|difference| difference.path)
        .collect();
    let touched: BTreeSet<&RepoPath> = changed.iter().map(|d| &d.path).collect();
    let untouched = left.into_iter().filter(|(path, _)| !touched.contains(path));
    let left_out = touched.iter().filter(|path| now.contains(**path));
    let left_out = left_out.map(|path| ((*path).clone(), Uncommitted::Otherwise));
    Ok(untouched.chain(left_out).collect())
}

/// Begins the session that goes on after an accepted turn: its turn 0 is that turn's work tree.
fn go_on(workspace: &mut Locked, operation: &Operation, moment: Moment) -> Result<SessionId> {
    let head = Head {
        commit: operation.head_after.clone(),
        branch: operation.branch.clone(),
    };
    let standing = snapshot::begin_at(workspace, &operation.tree, &head, moment)?;
    workspace.state.save(&workspace.scratch())?;
    Ok(standing.id)
}

/// What the work tree has and the commit has not.
///
/// # Errors
///
/// git failed.
pub fn uncommitted(
    workspace: &Locked,
    prepared: &Prepared,
) -> Result<Vec<(RepoPath, Uncommitted)>> {
    let git = &workspace.git;
    let paths = |old: &Oid, new: &Oid| -> Result<BTreeSet<RepoPath>> {
        let differences = git.differences(old, new)?;
        Ok(differences.into_iter().map(|d| d.path).collect())
    };
    let left = paths(&prepared.tree, &prepared.now)?;
    if left.is_empty() {
        return Ok(Vec::new());
    }
    let later = paths(&prepared.last.tree, &prepared.now)?;
    let began_on = snapshot::head_tree(workspace, &prepared.baseline.note.head)?;
    let before = paths(&began_on, &prepared.baseline.tree)?;
    let skipped = side::all_skipped(workspace, &prepared.last)?;
    let not_held = |path: &RepoPath| skipped.iter().any(|s| path.is_within(&s.path));
    let why = |path: &RepoPath| match (later.contains(path), before.contains(path)) {
        _ if not_held(path) => Uncommitted::NotHeld,
        (true, _) => Uncommitted::Later,
        (false, true) => Uncommitted::Before,
        (false, false) => Uncommitted::Otherwise,
    };
    Ok(left
        .into_iter()
        .map(|path| (path.clone(), why(&path)))
        .collect())
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

fn nothing_to_accept(cause: Error) -> Error {
    Error::cannot("there is nothing to accept")
        .because(cause)
        .hint("take a turn first: edio snapshot -m \"what was done\"")
}

/// git's own operations that are under way: the files that each leaves in the git directory.
const OPEN_OPERATIONS: [(&str, &str); 7] = [
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase or am"),
    ("BISECT_LOG", "bisect"),
    ("sequencer/todo", "cherry-pick or revert"),
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
    let error = match &current.note.head.branch {
        Some(_) => error.hint(format!("go back first: git switch {theirs}")),
        None => error.hint("go back first: git switch --detach"),
    };
    Err(error.hint("or to commit it here: edio accept --here"))
}

/// The commit would change nothing.
fn nothing_left(
    workspace: &mut Locked,
    session: &Session,
    current: &Turn,
    baseline: &Turn,
    unsaved: Unsaved,
    moment: Moment,
) -> Error {
    if current.tree == baseline.tree {
        return Error::cannot("there is nothing to accept").because(Error::cannot(
            "the work tree is as it was when the session began",
        ));
    }
    if unsaved == Unsaved::Look {
        return Error::cannot("HEAD already holds all of it: no commit would be made");
    }
    match archive::close(workspace, session.clone(), moment) {
        Ok(()) => Error::cannot("HEAD already holds all of it: no commit was made")
            .hint("the session is archived: edio log --all"),
        Err(error) => error,
    }
}

fn write_commit(workspace: &Locked, tree: &Oid, head: &Head, message: &str) -> Result<Oid> {
    let parents: Vec<&Oid> = head.commit.iter().collect();
    let signed = match workspace.settings.is_true("commit.gpgsign") {
        true => Signed::Yes,
        false => Signed::No,
    };
    let written = workspace
        .git
        .write_users_commit(tree, &parents, message.as_bytes(), signed);
    written.map_err(|error| match is_missing_identity(&error) {
        false if signed == Signed::Yes => Error::cannot("the commit could not be signed")
            .because(error)
            .hint(
                "it is signed since commit.gpgSign is set: see git config --get-all commit.gpgSign",
            ),
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

/// Is one of git's own operations under way? Its name.
pub fn open_operation(git_dir: &std::path::Path) -> Option<&'static str> {
    let open = OPEN_OPERATIONS
        .iter()
        .find(|(file, _)| fs::exists(git_dir.join(file)).unwrap_or(false));
    open.map(|(_, name)| *name)
}
