//! Undo and redo.
//!
//! What can be undone is read off the turns and the operations, in the order in which they happened. An undo is an
//! operation itself: it takes the last of these off, and a redo goes back to where the undo was called.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};
use crate::gitengine::{Entry, Oid, RepoPath};

use super::accept::{self, Unstaged};
use super::archive;
use super::bytes;
use super::journal::way_to;
use super::limits::TooMuch;
use super::ops::{self, Deed, FromBytes, Operation};
use super::refnames::Shelf;
use super::restore::{
    Course, End, Goal, Held, Made, OF_A_RESTORE, Performed, Plan, Sources, Task, bring_back,
    own_session, perform, plan_to, save_unsaved, stands,
};
use super::scan::{Scan, scan_beside};
use super::session::{Damaged, Session};
use super::side;
use super::snapshot::{self, Moment};
use super::turn::{Kind, Turn};
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

/// Something that happened, and can be taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Event {
    /// Its commit.
    id: Oid,
    /// What it was, in a person's words.
    what: String,
    /// The snapshot that the work tree equalled before.
    before: Before,
    /// For an accept or a close: all of it.
    archived: Option<Operation>,
    /// What it had to save beside the turns: ignored files that it replaced.
    side: Option<Oid>,
    /// For an operation of edio's: the work tree that it led to.
    made: Option<Oid>,
    /// What was known of the bytes before, where the snapshot does not tell.
    bytes: Option<FromBytes>,
    /// For an undo or redo: where the ignored files are saved that it put back.
    brought: Option<Oid>,
}

/// The snapshot that the work tree equalled before something happened.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Before {
    /// This one.
    At(Oid),
    /// What this turn grew from: to be looked for where an undo comes to it. That it can't be read is nobody else's trouble.
    Turn(Box<Turn>),
}

impl Before {
    fn find(&self, workspace: &Workspace, session: &Session) -> Result<Turn> {
        match self {
            Before::At(commit) => snapshot_of(workspace, session, commit),
            Before::Turn(turn) => session.before(workspace, turn),
        }
    }
}

/// What has happened, as far as it still counts.
#[derive(Debug, Default)]
struct Past {
    done: Vec<Event>,
    undone: Vec<Event>,
    /// The operation that ends in the next turn.
    opening: Option<Operation>,
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
        if found.is_some() {
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

/// What an undo that leads beyond the session is called in the turn that it takes first.
const GOING_BACK: &str = "going back";

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

/// What leads back to the snapshot before an event.
fn course_back(workspace: &Locked, scan: &Scan, event: &Event, target: &Turn) -> Result<Course> {
    let raw_ids = bytes::known_at(workspace, target, event.bytes.as_ref())?;
    let mut ignored = side::ignored(workspace, event.side.as_ref())?;
    let goal = Goal {
        tree: &target.tree,
        not_held: Some(&side::all_skipped(workspace, target)?),
        choice: &target.note.choice,
        raw_ids: &raw_ids,
        name: format!("turn {}", target.number()),
        way: &way_to(workspace, target)?,
        ignored: &ignored,
    };
    let made = made_by(workspace, scan, event, &target.tree, &ignored)?;
    let mut plan = plan_to(workspace, scan, &goal, &made)?;
    // Of a file of the journal that knows best.
    ignored.retain(|(path, _)| !plan.beside.contains_key(path));
    let now = workspace.git.entries_at(&scan.tree, &paths_of(&ignored))?;
    bring_back(workspace, &mut plan, &ignored, &now);
    let mut sources = Sources::of(workspace, &plan, &target.tree, &raw_ids)?;
    sources.take_raw(&ignored);
    Ok(Course {
        plan,
        sources,
        raw_ids,
    })
}

/// The same for an undo or a redo that was begun and never finished, from what the work tree has now. `None` where
/// what it takes back is not known any more.
///
/// # Errors
///
/// It can't be done, or git failed.
pub fn course_of_unfinished(
    workspace: &Locked,
    session: &Session,
    scan: &Scan,
    operation: &Operation,
    target: &Turn,
) -> Result<Option<Course>> {
    if !matches!(operation.deed, Deed::Undo | Deed::Redo) {
        return Ok(None);
    }
    let id = session.ops.as_ref().map(|last| &last.oid);
    let past = Past::until(workspace, session, id)?;
    let event = match operation.deed {
        Deed::Undo => past.done.last(),
        _ => past.undone.last(),
    };
    let event = event.filter(|event| operation.undoes.as_ref() == Some(&event.id));
    event
        .map(|event| course_back(workspace, scan, event, target))
        .transpose()
}

/// What an operation of edio's has put where nothing was, and what is still as it was put there: it goes, whatever the
/// ignore rules say. `replaced` is what the operation has put something in the place of.
fn made_by(
    workspace: &Workspace,
    scan: &Scan,
    event: &Event,
    before: &Oid,
    replaced: &[(RepoPath, Entry)],
) -> Result<Made> {
    let git = &workspace.git;
    let replaced = paths_of(replaced);
    let mut unheld = side::ignored(workspace, event.brought.as_ref())?;
    let held = match &event.made {
        None => Held::default(),
        Some(tree) if *tree == scan.tree => Held::All,
        Some(tree) => {
            let mut held = BTreeSet::new();
            let differs = git.differences(&scan.tree, tree)?.into_iter();
            let differs: BTreeMap<_, _> = differs.map(|d| (d.path, d.old)).collect();
            for new in git.differences(before, tree)? {
                let (None, Some(entry)) = (new.old, new.new) else {
                    continue;
                };
                match differs.get(&new.path) {
                    None => drop(held.insert(new.path)),
                    Some(None) => unheld.push((new.path, entry)),
                    // What was changed since is the person's own.
                    Some(Some(_)) => {}
                }
            }
            held.retain(|path| !replaced.contains(path));
            Held::These(held)
        }
    };
    unheld.retain(|(path, _)| !replaced.contains(path));
    let mut made = Made {
        held,
        unheld: Vec::new(),
    };
    for (path, entry) in unheld {
        if stands(workspace, &path, &entry.oid)? {
            made.unheld.push((path, entry));
        }
    }
    Ok(made)
}

fn paths_of(entries: &[(RepoPath, Entry)]) -> Vec<RepoPath> {
    entries.iter().map(|(path, _)| path.clone()).collect()
}

fn snapshot_of(workspace: &Workspace, session: &Session, commit: &Oid) -> Result<Turn> {
    if let Some(turn) = session.by_commit(commit) {
        return Ok(turn.clone());
    }
    let turn = Turn::of(workspace, commit)?;
    turn.ok_or_else(|| {
        let mut damaged = session.damaged.iter();
        let damaged = damaged.find(|damaged| damaged.oid.as_ref() == Some(commit));
        damaged.map_or_else(
            || Error::cannot(format!("{commit} is no snapshot of edio's")),
            Damaged::error,
        )
    })
}

impl Past {
    fn of(workspace: &Workspace, session: &Session) -> Result<Self> {
        Self::until(workspace, session, None)
    }

    /// As it was before this operation was done.
    fn until(workspace: &Workspace, session: &Session, end: Option<&Oid>) -> Result<Self> {
        let session = &session.with_unnamed(workspace)?;
        let operations = ops::all(workspace, session)?;
        let mut past = Past::default();
        let mut turns = session.turns.values().peekable();
        for (id, operation) in &operations {
            while let Some(turn) = turns.next_if(|turn| turn.number().turn <= operation.last) {
                if !is_preamble(turn, operation) {
                    past.took(turn);
                }
            }
            if Some(id) == end {
                return Ok(past);
            }
            past.did(id, operation);
        }
        for turn in turns {
            past.took(turn);
        }
        Ok(past)
    }

    fn took(&mut self, turn: &Turn) {
        let opening = self.opening.take();
        let opening = opening.as_ref();
        self.done.push(Event {
            id: turn.commit.clone(),
            what: format!("turn {} ({})", turn.number(), turn.note.subject()),
            before: Before::Turn(Box::new(turn.clone())),
            archived: None,
            side: opening.and_then(|opening| opening.side.clone()),
            made: opening.map(|opening| opening.tree.clone()),
            bytes: opening.and_then(|opening| opening.from_bytes.clone()),
            brought: None,
        });
        // What an undo took to go beyond the session is taken back by that same undo: the way forward goes on from there.
        if !is_safety_before(turn, GOING_BACK) {
            self.undone.clear();
        }
    }

    fn did(&mut self, id: &Oid, operation: &Operation) {
        let event = Event {
            id: id.clone(),
            what: operation.text.clone(),
            before: Before::At(operation.from.clone()),
            archived: None,
            side: operation.side.clone(),
            made: Some(operation.tree.clone()),
            bytes: operation.from_bytes.clone(),
            brought: None,
        };
        match operation.deed {
            // These end in a turn, which is what is taken back.
            Deed::RestorePaths | Deed::Revert => self.opening = Some(operation.clone()),
            Deed::Restore => {
                self.done.push(event);
                self.undone.clear();
            }
            // Put away as it was: what comes after it is another session's, or an undo.
            Deed::Accept | Deed::Close => self.done.push(Event {
                archived: Some(operation.clone()),
                ..event
            }),
            Deed::Redo => {
                let redone = self.undone.pop();
                let brought = redone.as_ref().and_then(|redone| redone.side.clone());
                let what = redone.map_or(event.what.clone(), |redone| redone.what);
                self.done.push(Event {
                    what,
                    brought,
                    ..event
                });
            }
            Deed::Undo => {
                let undone = self.done.pop();
                let what = undone
                    .as_ref()
                    .map_or(event.what.clone(), |e| e.what.clone());
                let brought = undone.as_ref().and_then(|undone| undone.side.clone());
                let archived = undone.and_then(|undone| undone.archived);
                let archived = archived.map(|archived| Operation {
                    next: operation.next.clone(),
                    ..archived
                });
                self.undone.push(Event {
                    what,
                    archived,
                    brought,
                    ..event
                });
            }
        }
    }
}

/// Is this the safety turn that an undo or redo took of what was unsaved? It is a part of that.
///
/// Not each safety turn that an undo stands at is its own: a restore that then had nothing to do leaves one, too.
fn is_preamble(turn: &Turn, operation: &Operation) -> bool {
    matches!(operation.deed, Deed::Undo | Deed::Redo)
        && is_safety_before(turn, &operation.text)
        && turn.commit == operation.from
        && turn.number().turn == operation.last
}

/// Is it what was unsaved when something began that goes by these words?
fn is_safety_before(turn: &Turn, words: &str) -> bool {
    let what = turn.note.message.strip_prefix("Before ");
    turn.note.kind == Kind::Safety && what.is_some_and(|what| what.starts_with(words))
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
