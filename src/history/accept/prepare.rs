//! What would be committed, and whether anything speaks against it. Nothing is committed here.

use std::collections::BTreeSet;
use std::fmt;

use crate::error::{Error, Result, first_of};
use crate::gitengine::{Difference, Head, Oid, RepoPath, Stat};

use super::super::archive;
use super::super::baseline;
use super::super::limits::TooMuch;
use super::super::restore::own_session;
use super::super::scan::{Scan, scan};
use super::super::session::{Session, no_session};
use super::super::side;
use super::super::skipped::{Skipped, Why};
use super::super::snapshot::{self, Moment, Request, Unchanged};
use super::super::turn::{Kind, Turn, Work};
use super::super::workspace::Locked;
use super::branch::refuse_other;
use super::content::{Content, Extent, Line};
use super::{refuse_open_operation, refuse_store};

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
    pub(super) ignored: Vec<RepoPath>,
    pub(super) hidden: Vec<RepoPath>,
    pub(super) session: Session,
    pub(super) baseline: Turn,
    pub(super) head_tree: Oid,
    /// What is committed.
    pub tree: Oid,
    /// The turn that the commit ends with, and the work tree as it is, with what can't be held of it.
    pub(super) last: Turn,
    pub(super) now: Oid,
    pub(super) skipped: Vec<Skipped>,
    pub(super) continues: bool,
}

impl Prepared {
    /// Sees where the work tree stands by now, by a turn or step that somebody took since: the hooks may change files, and an
    /// agent may work while an editor is open. What is committed stays as it is; so that, too, is uncommitted.
    pub(super) fn see_taken_meanwhile(&mut self, workspace: &Locked, current: &Turn) -> Result<()> {
        self.now = current.tree.clone();
        self.skipped.extend(side::all_skipped(workspace, current)?);
        Ok(())
    }
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
    /// It is held as it is, and its filter fails.
    Unfiltered,
    /// git ignores it, and only `edio.include` has it held.
    Ignored,
    /// git is told to take it for unchanged.
    Hidden,
    /// The commit has it otherwise: merged with other commits.
    Otherwise,
}

impl fmt::Display for Uncommitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Uncommitted::Before => "it was so before the session began",
            Uncommitted::Later => "it was changed after that turn",
            Uncommitted::NotHeld => "it could not be held",
            Uncommitted::Unfiltered => "its filter fails",
            Uncommitted::Ignored => "git ignores it",
            Uncommitted::Hidden => "git is told to take it for unchanged",
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
/// Refused, with HEAD, index and files as before: another branch, an operation of git's open, a conflict with commits
/// made since the session began, nothing to commit. What was unsaved may have become a turn.
pub fn prepare(
    workspace: &mut Locked,
    wish: &Wish,
    unsaved: Unsaved,
    moment: Moment,
) -> Result<Prepared> {
    workspace.git = workspace.git.synced();
    refuse_store(workspace)?;
    let index = refuse_open_operation(workspace)?;
    let before = Session::active(workspace)?.ok_or_else(|| nothing_to_accept(no_session()))?;
    archive::refuse_half_done(workspace, &before)?;
    before.refuse_damaged()?;
    let scan = scan(workspace, TooMuch::Refuse)?;
    let head = scan.head.clone();
    if wish.branch == Onto::Sessions {
        refuse_other_branch(workspace, before.current()?, &head)?;
    }
    let look = match unsaved {
        Unsaved::Take => None,
        Unsaved::Look => Some(as_it_would_be(before.current()?, &scan)),
    };
    let now = scan.tree.clone();
    let skipped = scan.skipped.clone();
    let (mut session, turn) = match unsaved {
        Unsaved::Take => take_unsaved(workspace, before, scan, moment)?,
        Unsaved::Look => (before, None),
    };
    let last = match (&wish.turn, look) {
        (Some(turn), _) => turn.clone(),
        (None, None) => session.current()?.clone(),
        (None, Some(turn)) => turn,
    };
    let baseline = session.find_baseline(workspace)?;
    session.baseline = Some(baseline.clone());
    let head_tree = baseline::head_tree(workspace, &head)?;
    let turns = turns_up_to(workspace, &session, &last)?;
    let line = Line {
        baseline: &baseline,
        turns: &turns,
        last: &last,
    };
    let content = Content::of(workspace, &line, &head_tree, &index.entries, wish.extent)?;
    let (changes, stat) = workspace
        .git
        .differences_counted(&head_tree, &content.tree, &[])?;
    let prepared = Prepared {
        turns,
        continues: wish.turn.is_some(),
        head,
        changes,
        stat,
        whole: content.whole,
        ignored: content.ignored,
        hidden: content.hidden,
        turn,
        session,
        baseline,
        head_tree,
        tree: content.tree,
        last,
        now,
        skipped,
    };
    match prepared.tree == prepared.head_tree {
        true => Err(nothing_left(workspace, &prepared, unsaved, moment)),
        false => Ok(prepared),
    }
}

/// The current turn, were the work tree taken as one now.
fn as_it_would_be(current: &Turn, scan: &Scan) -> Turn {
    let mut turn = current.clone();
    turn.tree = scan.tree.clone();
    turn.note.choice = scan.choice.clone();
    turn.note.skipped_count = scan.skipped.len();
    turn.note.skipped = scan.skipped.clone();
    turn
}

/// The turns on the line that ends with this one; with a step, the turns before it.
///
/// All of them, or none: the message, the note and what is merged would be wrong without some.
fn turns_up_to(workspace: &Locked, session: &Session, last: &Turn) -> Result<Vec<Turn>> {
    let own = session.by_commit(&last.commit).cloned().map(Ok);
    let line = session.whole_line(workspace, last);
    let turns: Result<Vec<Turn>> = own.into_iter().chain(line).collect();
    let mut turns = turns.map_err(|error| {
        Error::cannot("it can't be told which turns would go in")
            .because(error)
            .hint("commit with git itself, then put the session away: edio sessions --close")
    })?;
    turns.retain(|turn| turn.number().turn > 0);
    turns.reverse();
    Ok(turns)
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
    let mut left = paths(&prepared.tree, &prepared.now)?;
    let there = prepared.skipped.iter().filter(|it| it.is_left_out());
    left.extend(there.map(|skipped| skipped.path.clone()));
    if left.is_empty() {
        return Ok(Vec::new());
    }
    let mut skipped = side::all_skipped(workspace, &prepared.last)?;
    skipped.extend(prepared.skipped.iter().cloned());
    let later = paths(&prepared.last.tree, &prepared.now)?;
    let began_on = baseline::head_tree(workspace, &prepared.baseline.note.head)?;
    let before = paths(&began_on, &prepared.baseline.tree)?;
    let skipped = |path: &RepoPath| {
        let found = skipped.iter().find(|s| path.is_within(&s.path));
        found.map(|skipped| skipped.why)
    };
    let why = |path: &RepoPath| match (later.contains(path), before.contains(path)) {
        _ if skipped(path) == Some(Why::Unfiltered) => Uncommitted::Unfiltered,
        _ if skipped(path).is_some() => Uncommitted::NotHeld,
        _ if prepared.hidden.contains(path) => Uncommitted::Hidden,
        _ if prepared.ignored.contains(path) => Uncommitted::Ignored,
        (true, _) => Uncommitted::Later,
        (false, true) => Uncommitted::Before,
        (false, false) => Uncommitted::Otherwise,
    };
    Ok(left
        .into_iter()
        .map(|path| (path.clone(), why(&path)))
        .collect())
}

fn nothing_to_accept(cause: Error) -> Error {
    Error::cannot("there is nothing to accept")
        .because(cause)
        .hint("take a turn first: edio snapshot -m \"what was done\"")
}

fn refuse_other_branch(workspace: &Locked, current: &Turn, head: &Head) -> Result<()> {
    let (now, there) = (head.branch.as_deref(), &current.note.head);
    let refused = refuse_other(workspace, now, there, "the session worked on");
    refused.map_err(|error| error.hint("or to commit it here: edio accept --here"))
}

/// The commit would change nothing.
fn nothing_left(
    workspace: &mut Locked,
    prepared: &Prepared,
    unsaved: Unsaved,
    moment: Moment,
) -> Error {
    match kept_out(workspace, prepared) {
        Err(error) => return error,
        Ok(Some(kept_out)) => {
            return Error::cannot("there is nothing to accept but what stays uncommitted")
                .because(kept_out)
                .hint("to put the session away without a commit: edio sessions --close");
        }
        Ok(None) => {}
    }
    if prepared.last.tree == prepared.baseline.tree {
        return Error::cannot("there is nothing to accept").because(Error::cannot(
            "the work tree is as it was when the session began",
        ));
    }
    if prepared.continues {
        return Error::cannot("HEAD already holds the turns up to that one: no commit was made");
    }
    if unsaved == Unsaved::Look {
        return Error::cannot("HEAD already holds all of it: no commit would be made")
            .hint("the session would be archived, and edio undo would bring it back");
    }
    match archive::close(workspace, prepared.session.clone(), moment) {
        Ok(()) => Error::cannot("HEAD already holds all of it: no commit was made")
            .hint("the session is archived: edio log --all; it goes on with: edio undo"),
        Err(error) => error,
    }
}

/// What the session changed and no commit will hold: it can't be said that HEAD has it.
fn kept_out(workspace: &Locked, prepared: &Prepared) -> Result<Option<Error>> {
    const NAMED: usize = 5;
    let is_kept_out = |why: Uncommitted| {
        matches!(
            why,
            Uncommitted::NotHeld
                | Uncommitted::Unfiltered
                | Uncommitted::Ignored
                | Uncommitted::Hidden
        )
    };
    let (baseline, last) = (&prepared.baseline.tree, &prepared.last.tree);
    let changed = workspace.git.differences(baseline, last)?.into_iter();
    let mut changed: BTreeSet<RepoPath> = changed.map(|difference| difference.path).collect();
    let mut left = uncommitted(workspace, prepared)?;
    // Of what could not be held the last tree has what was there before, as the first one may.
    let not_held = left.iter().filter(|(_, why)| *why == Uncommitted::NotHeld);
    let not_held = not_held.filter_map(|(path, _)| path.holdable());
    let not_held: Vec<RepoPath> = not_held.cloned().collect();
    let there = workspace.git.entries_at(last, &not_held)?;
    changed.extend(there.into_iter().map(|(path, _)| path));
    left.retain(|(path, why)| is_kept_out(*why) && changed.contains(path));
    let named = left.iter().map(|(path, why)| format!("{path} ({why})"));
    let named = Error::cannot(first_of(NAMED, named));
    Ok((!left.is_empty()).then_some(named))
}
