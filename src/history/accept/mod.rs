//! Accept: the work of a session as one commit of the user's.
//!
//! What belongs to the session is what it changed since its turn 0: neither the commits that the user made meanwhile nor
//! what was uncommitted before. The branch moves only from where it is known to be; the index changes only where the
//! commit changed something; then the session is put away.

mod branch;
mod content;
mod index;
mod land;
mod message;
mod prepare;
mod staged;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bstr::ByteSlice;

use crate::error::{Error, Result, first_of};
use crate::gitengine::{Difference, Entry, GitError, Head, Listing, Oid, RepoPath, Signed, Stat};

pub use self::content::Extent;
pub use self::index::{has_locked, index_lock, remove_dead_lock};
use self::land::{Landed, land};
pub use self::land::{go_on_after_kill, land_again, settle, take_back};
pub use self::message::{HOOKS_FOLDER, Message, Verify};
use self::message::{Hooks, remove_kept};
pub use self::prepare::{Onto, Prepared, Uncommitted, Unsaved, Wish, prepare, uncommitted};
pub use self::staged::{Unstaged, UnstagedPath, would_unstage};
use super::baseline;
use super::credit;
use super::limits::whole_number;
use super::ops::{Deed, Operation};
use super::refnames::SessionId;
use super::restore::disk_blob_id;
use super::scan::unreadable_index;
use super::session::Session;
use super::snapshot::Moment;
use super::turn::Number;
use super::workspace::Locked;

/// What came of it.
pub struct Accepted {
    /// The commit.
    pub commit: Oid,
    /// Its message.
    pub message: String,
    /// The branch that moved; `None` where HEAD is detached.
    pub branch: Option<String>,
    /// The session, now archived, if all is finished.
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
    /// What was staged, and is not any more.
    pub unstaged: Unstaged,
    /// The session that goes on with what came after the accepted turn.
    pub next: Option<SessionId>,
    /// Why what follows the branch is not finished: the index, the session. The next command goes on with it.
    pub unfinished: Option<Error>,
    /// Why the note on the commit could not be written, where `edio.acceptNote` wants one.
    pub unnoted: Option<Error>,
}

/// Makes the session one commit.
///
/// # Errors
///
/// A hook said no, there is no message or no identity, or the index is locked: HEAD, index and session are as before. What
/// a person wrote in the editor is kept.
pub fn accept(
    workspace: &mut Locked,
    prepared: Prepared,
    message: Message<'_>,
    verify: Verify,
    moment: Moment,
) -> Result<Accepted> {
    let hooks = Hooks::of(workspace, verify)?;
    match commit(workspace, prepared, message, &hooks, moment) {
        Ok(accepted) => {
            remove_kept(workspace);
            Ok(accepted)
        }
        Err(error) => Err(hooks.keep_written(workspace, error)),
    }
}

fn commit(
    workspace: &mut Locked,
    mut prepared: Prepared,
    message: Message<'_>,
    hooks: &Hooks,
    moment: Moment,
) -> Result<Accepted> {
    let (tree, message) =
        workspace.while_free(|workspace| hooks.ask(workspace, &prepared, message))?;
    let mut session = still_there(workspace, &prepared.session)?;
    let current = session.current()?.clone();
    if current.commit != prepared.session.current()?.commit {
        prepared.see_taken_meanwhile(workspace, &current)?;
    }
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
    let Landed { put_away, unstaged } = land(workspace, &mut session, operation, &changes, moment)?;
    let (next, unfinished) = match put_away {
        Ok(next) => (next, None),
        Err(error) => (None, Some(error)),
    };
    let mut unnoted = None;
    let told = workspace.while_free(|workspace| {
        hooks.post_commit(workspace);
        if workspace.settings.is_true("edio.acceptnote") {
            let id = &prepared.session.id;
            unnoted = credit::write_note(workspace, &commit, id, &prepared.turns).err();
        }
        Ok(())
    });
    Ok(Accepted {
        unfinished: unfinished.or(told.err()),
        unnoted,
        uncommitted: left,
        unstaged,
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
    let in_commit: BTreeMap<&RepoPath, &Option<Entry>> =
        changed.iter().map(|d| (&d.path, &d.new)).collect();
    // What the hook has changed on disk as in the commit is committed.
    let is_committed = |path: &RepoPath| {
        let on_disk = disk_blob_id(&git.work_tree, path, git.format)
            .ok()
            .flatten();
        let entry = in_commit.get(path).and_then(|entry| entry.as_ref());
        entry.is_some_and(|entry| on_disk.as_ref() == Some(&entry.oid))
    };
    let left_out = touched
        .iter()
        .filter(|path| now.contains(**path) && !is_committed(path));
    let left_out = left_out.map(|path| ((*path).clone(), Uncommitted::Otherwise));
    Ok(untouched.chain(left_out).collect())
}

/// Begins the session that goes on after an accepted turn: its turn 0 is that turn's work tree.
fn go_on(workspace: &mut Locked, operation: &Operation, moment: Moment) -> Result<SessionId> {
    let head = Head {
        commit: operation.head_after.clone(),
        branch: operation.branch.clone(),
    };
    let standing = baseline::begin_at(workspace, &operation.tree, &head, moment)?;
    workspace.state.save(&workspace.scratch())?;
    Ok(standing.id)
}

/// A store has no branch of the user's.
fn refuse_store(workspace: &Locked) -> Result<()> {
    let Some(store) = &workspace.store else {
        return Ok(());
    };
    let error = Error::cannot("there is no branch to commit to: the turns are in a private store");
    Err(match store.is_beside_repository() {
        true => {
            error.hint("commit with git itself, then put the session away: edio sessions --close")
        }
        false => error
            .hint("put the session away: edio sessions --close")
            .hint("or take its turns along as patches: edio export --patches DIR"),
    })
}

/// Refuses where git has something open. Returns what the user's index has.
fn refuse_open_operation(workspace: &Locked) -> Result<Listing> {
    if let Some(name) = open_operation(&workspace.git.git_dir) {
        return Err(Error::refused(format!("a {name} is under way"))
            .hint("finish or abort it first: git status says how"));
    }
    let index = workspace.git.list_index(&workspace.git.users_index());
    let index = index.map_err(|error| unreadable_index(workspace, error))?;
    // A `stash pop` or an `apply -3` leaves a conflict, too, and nothing else to know it by.
    match index.unmerged().as_slice() {
        [] => Ok(index),
        paths => Err(Error::refused("there is a conflict that is not resolved")
            .because(in_conflict(paths))
            .hint("resolve it, then say so to git: git add PATH")),
    }
}

fn in_conflict(paths: &[RepoPath]) -> Error {
    Error::cannot(format!("in conflict: {}", first_of(10, paths.iter())))
}

fn write_commit(workspace: &Locked, tree: &Oid, head: &Head, message: &str) -> Result<Oid> {
    let parents: Vec<&Oid> = head.commit.iter().collect();
    let signed = match workspace.settings.is_true("commit.gpgsign") {
        true => Signed::Within(sign_timeout(workspace)?),
        false => Signed::No,
    };
    let written = workspace
        .git
        .write_users_commit(tree, &parents, message.as_bytes(), signed);
    written.map_err(|error| match is_missing_identity(&error) {
        false if signed != Signed::No => Error::cannot("the commit could not be signed")
            .because(error)
            .hint(
                "it is signed since commit.gpgSign is set: see git config --get-all commit.gpgSign",
            )
            .hint("more time to answer its program: git config edio.signTimeout SECONDS"),
        true => Error::cannot("git does not know who you are")
            .because(error)
            .hint("git config --global user.name \"Your Name\"")
            .hint("git config --global user.email you@example.com"),
        false => error.into(),
    })
}

/// A program that signs may ask a person, and nobody may be there.
fn sign_timeout(workspace: &Locked) -> Result<Duration> {
    let seconds = whole_number(workspace, "edio.signtimeout")?.unwrap_or(120);
    Ok(Duration::from_secs(seconds.max(1).into()))
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

fn subject(message: &str) -> &str {
    message.trim().lines().next().unwrap_or_default()
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

/// Is one of git's own operations under way? Its name.
pub fn open_operation(git_dir: &std::path::Path) -> Option<&'static str> {
    let open = OPEN_OPERATIONS
        .iter()
        .find(|(file, _)| git_dir.join(file).exists());
    open.map(|(_, name)| *name)
}
