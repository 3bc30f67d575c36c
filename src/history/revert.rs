//! Revert: taking back only what some turns did, and keeping what came after.

use std::path::PathBuf;

use crate::error::{Error, Result, first_of};
use crate::gitengine::{Merged, Oid, PrivateIndex, RepoPath};

use super::bytes;
use super::journal::{Way, changed_between};
use super::limits::TooMuch;
use super::ops::{Deed, Operation};
use super::restore::{
    Action, Course, End, Goal, Made, Performed, Plan, Sources, Task, new_note, own_session,
    perform, plan_to, save_unsaved, tree_with,
};
use super::scan::{Scan, scan};
use super::session::Session;
use super::snapshot::Moment;
use super::turn::Turn;
use super::workspace::Locked;

/// What is wanted.
pub struct Wish {
    /// The first of the turns.
    pub first: Turn,
    /// The last of them.
    pub last: Turn,
    /// Only these paths: all where there are none.
    pub paths: Vec<RepoPath>,
}

/// What came of it.
pub struct Reverted {
    /// The plan that was carried out.
    pub plan: Plan,
    /// What was done.
    pub done: Performed,
    /// The turn that holds what was unsaved before.
    pub safety: Option<Turn>,
    /// Files of the journal that the turns have changed: they stay, and only a restore brings them back.
    pub beside: Vec<PathBuf>,
}

/// The plan, with nothing done.
///
/// # Errors
///
/// It would be refused, or git failed.
pub fn preview(workspace: &Locked, session: &Session, wish: &Wish) -> Result<Plan> {
    let scan = scan(workspace, TooMuch::Take)?;
    let (course, _) = make_plan(workspace, session, &scan, wish)?;
    Ok(course.plan)
}

/// Takes back what the turns did.
///
/// # Errors
///
/// What came after changed the same: refused, with nothing changed. Or stopped midway.
pub fn revert(
    workspace: &mut Locked,
    session: Session,
    wish: &Wish,
    moment: Moment,
) -> Result<Reverted> {
    workspace.git = workspace.git.synced();
    let scan = scan(workspace, TooMuch::Take)?;
    let (course, before) = make_plan(workspace, &session, &scan, wish)?;
    let beside = changed_between(workspace, &before, &wish.last)?;
    if course.plan.is_nothing() {
        let nothing = Error::cannot("there is nothing left of it to take back");
        return Err(match beside.is_empty() {
            true => nothing,
            false => nothing.hint(format!(
                "what it changed beside the tree comes back with: edio restore {}",
                before.number()
            )),
        });
    }
    let words = wish.in_words();
    let safety = save_unsaved(workspace, scan, &words, moment)?;
    let mut session = own_session(workspace, session, safety.as_ref())?;
    let from = session.current()?.clone();
    let tree = tree_with(workspace, &from.tree, &course.plan)?;
    let (_, stat) = workspace.git.differences_counted(&from.tree, &tree, &[])?;
    let note = new_note(workspace, &from, stat, wish.message());
    let operation = Operation {
        to: wish.last.commit.clone(),
        undoes: Some(wish.first.commit.clone()),
        ..Operation::on_work_tree(Deed::Revert, words, tree, &session, &from)
    };
    let task = Task {
        course: &course,
        operation,
        ahead: None,
        takes_up: None,
        end: End::New(note),
    };
    let done = perform(workspace, &mut session, task, moment)?;
    Ok(Reverted {
        plan: course.plan,
        done,
        safety,
        beside,
    })
}

impl Wish {
    fn in_words(&self) -> String {
        match self.first.number() == self.last.number() {
            true => format!("revert {}", self.last.number()),
            false => format!("revert {}..{}", self.first.number(), self.last.number()),
        }
    }

    fn message(&self) -> String {
        match self.first.number() == self.last.number() {
            true => format!("Revert \"{}\"", self.last.note.subject()),
            false => format!(
                "Revert \"{}\" to \"{}\"",
                self.first.note.subject(),
                self.last.note.subject()
            ),
        }
    }
}

fn make_plan(
    workspace: &Locked,
    session: &Session,
    scan: &Scan,
    wish: &Wish,
) -> Result<(Course, Turn)> {
    refuse_other_line(workspace, session, wish)?;
    let before = session.before(workspace, &wish.first)?;
    let raw_ids = bytes::of_turn(workspace, &before)?.else_as_checked_out();
    let without = match wish.paths.is_empty() {
        true => before.tree.clone(),
        false => only_paths(workspace, wish, &before.tree)?,
    };
    let tree = match workspace
        .git
        .merge_trees(&wish.last.tree, &scan.tree, &without)?
    {
        Merged::Clean(tree) => tree,
        Merged::Conflicts(paths) => return Err(conflict(wish, &paths)),
    };
    let goal = Goal {
        tree: &tree,
        not_held: None,
        choice: &scan.choice,
        raw_ids: &raw_ids,
        name: wish.in_words(),
        way: &Way::default(),
        ignored: &[],
    };
    let mut plan = plan_to(workspace, scan, &goal, &Made::default())?;
    // Where the content stays, so do its bytes.
    plan.actions.retain(|_, action| match action {
        Action::Write { new, old } => old.as_ref() != Some(new),
        _ => true,
    });
    let sources = Sources::of(workspace, &plan, &tree, &raw_ids)?;
    let course = Course {
        plan,
        sources,
        raw_ids,
    };
    Ok((course, before))
}

/// The first turn must lie on the way to the last: what a left arm did is not in the last.
fn refuse_other_line(workspace: &Locked, session: &Session, wish: &Wish) -> Result<()> {
    let mut turn = wish.last.clone();
    let mut line = session.whole_line(workspace, &wish.last);
    while turn.number() > wish.first.number() {
        let Some(before) = line.next() else { break };
        turn = before?;
    }
    if turn.commit == wish.first.commit {
        return Ok(());
    }
    let (first, last) = (wish.first.number(), wish.last.number());
    Err(
        Error::refused(format!("turn {last} did not grow from turn {first}"))
            .hint("the work tree went back in between: edio log --graph"),
    )
}

/// The last turn's tree with just these paths as they were before the first.
fn only_paths(workspace: &Locked, wish: &Wish, before: &Oid) -> Result<Oid> {
    let git = &workspace.git;
    let (differences, _) = git.differences_counted(&wish.last.tree, before, &wish.paths)?;
    let index = PrivateIndex::at(git, workspace.scratch().join("index.revert"));
    index.read_tree(&wish.last.tree)?;
    let entries: Vec<_> = differences.into_iter().map(|d| (d.path, d.new)).collect();
    if entries.is_empty() {
        let named: Vec<_> = wish.paths.iter().map(ToString::to_string).collect();
        return Err(Error::cannot(format!(
            "{} changed nothing in {}",
            wish.in_words().trim_start_matches("revert "),
            named.join(", ")
        )));
    }
    index.set(&entries)?;
    let tree = index.write_tree()?;
    index.remove()?;
    Ok(tree)
}

fn conflict(wish: &Wish, paths: &[RepoPath]) -> Error {
    Error::refused(format!(
        "{}: what came after changed the same lines",
        wish.in_words()
    ))
    .because(format!("in conflict: {}", first_of(10, paths.iter())))
    .hint("leave those paths out, or revert the later turns first: edio log PATH")
}
