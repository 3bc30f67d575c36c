//! Bringing the work tree, or some paths of it, to a turn.
//!
//! Scan, plan, safety snapshot, the operation's commit, the writes, a last look, and only then `current` moves. What
//! can refuse does so before anything is changed.

mod apply;
pub(super) mod disk;
mod facts;
mod held;
mod made;
mod modes;
mod perform;
mod plan;
mod rules;
mod source;

use crate::error::{Error, Result, first_of};
use crate::gitengine::{Difference, Entry, Errand, Oid, RepoPath, Stat};

pub use self::disk::disk_blob_id;
pub(super) use self::disk::{Content, Disk, Displaced, Stood, read_from_disk};
use self::facts::{facts, go_way, rewritten};
use self::held::of_what_is_held;
pub use self::made::{Held, Made, plan_to};
pub use self::perform::{End, Performed, TakenUp, Task, perform, stands, sweep, tree_with};
use self::plan::{ANOTHERS, CLOSED, Facts, Obstacle, PROTECTED, TOO_LARGE, UNREADABLE};
pub use self::plan::{Action, Kept, Plan};
pub(super) use self::plan::{Look, OnDisk};
use self::rules::Rules;
pub use self::source::Sources;
use self::source::refuse_missing;
pub(super) use self::source::{clear_folder, lfs_pointer};
use super::baseline;
use super::bytes::{self, RawIds};
use super::choice::Choice;
use super::ground;
use super::journal::{Way, way_to};
use super::limits::TooMuch;
use super::ops::{Begun, Deed, Operation};
use super::prompt;
use super::refnames::Shelf;
use super::scan::{Scan, scan_beside};
use super::session::Session;
use super::side;
use super::skipped::Skipped;
use super::snapshot::{self, Moment, Request, Unchanged};
use super::turn::{Kind, Note, Turn, Work};
use super::workspace::{Locked, Workspace};

/// What is wanted.
pub struct Wish {
    /// The turn.
    pub target: Turn,
    /// The paths: all of them where this is empty.
    pub paths: Vec<RepoPath>,
    /// The agent that wants it.
    pub agent: Option<String>,
}

/// What came of it.
pub struct Restored {
    /// The plan that was carried out.
    pub plan: Plan,
    /// What was done.
    pub done: Performed,
    /// The turn that holds what was unsaved before.
    pub safety: Option<Turn>,
}

/// How a work tree is brought about.
pub struct Course {
    /// What is done with each path.
    pub plan: Plan,
    /// Where the bytes come from.
    pub sources: Sources,
    /// What was on disk in the goal where that is not the blob.
    pub raw_ids: RawIds,
}

/// A work tree to bring about.
pub struct Goal<'a> {
    /// The tree.
    pub tree: &'a Oid,
    /// What it does not hold, and must not be touched for it. `None` where it is made from the work tree as it is: there it
    /// says nothing of what that does not hold.
    pub not_held: Option<&'a [Skipped]>,
    /// What was chosen to be held, and to be left out, when it was taken.
    pub choice: &'a Choice,
    /// What was on disk where that is not the blob.
    pub raw_ids: &'a RawIds,
    /// What it is called: `turn 6`.
    pub name: String,
    /// The way of the journal's files to it.
    pub way: &'a Way,
    /// Files that are to stand beside the tree, ignored. Among them can be a `.gitignore` that ignores itself.
    pub ignored: &'a [(RepoPath, Entry)],
}

/// What git is asked to bring the whole work tree to a turn: its operation has a ref, and so has where it ends.
pub(super) const OF_A_RESTORE: [Errand; 5] = [
    Errand::Commit,
    Errand::Differ,
    Errand::Read,
    Errand::MoveRefs,
    Errand::MoveRefs,
];

/// And some of its paths, which ends in a turn of its own.
const OF_PATHS: [Errand; 7] = [
    Errand::Read,
    Errand::Store,
    Errand::Read,
    Errand::Commit,
    Errand::MoveRefs,
    Errand::Commit,
    Errand::MoveRefs,
];

/// What is wanted, and the session that its turn was found in: looked for while git looks at the work tree.
pub type Found = Result<(Session, Wish)>;

/// The plan, with nothing done.
///
/// # Errors
///
/// The restore would be refused, or git failed.
pub fn preview(workspace: &Locked, find: impl Fn() -> Found) -> Result<(Wish, Plan)> {
    let (scan, (_, wish)) = scan_beside(workspace, TooMuch::Take, find)?;
    let raw_ids = bytes::of_turn(workspace, &wish.target)?;
    let way = wish.way(workspace)?;
    let (plan, _) = make_plan(workspace, &scan, &wish, &raw_ids, &way)?;
    refuse_missing(workspace, &plan, &raw_ids)?;
    Ok((wish, plan))
}

/// Brings the work tree to a turn.
///
/// # Errors
///
/// Refused, with nothing changed; or stopped midway, which the next command will find.
pub fn restore(
    workspace: &mut Locked,
    find: impl Fn(&Locked) -> Found,
    moment: Moment,
) -> Result<(Wish, Restored)> {
    workspace.git = workspace.git.synced();
    let find = || {
        let (session, wish) = find(workspace)?;
        workspace.git.start_ahead(wish.errands(&session));
        Ok((session, wish))
    };
    let (scan, (session, wish)) = scan_beside(workspace, TooMuch::Take, find)?;
    let restored = restore_to(workspace, scan, session, &wish, moment)?;
    Ok((wish, restored))
}

fn restore_to(
    workspace: &mut Locked,
    scan: Scan,
    session: Session,
    wish: &Wish,
    moment: Moment,
) -> Result<Restored> {
    let ahead = begin_ahead(workspace, &scan, &session, wish, moment)?;
    let raw_ids = bytes::of_turn(workspace, &wish.target)?;
    let way = wish.way(workspace)?;
    let (plan, stat) = make_plan(workspace, &scan, wish, &raw_ids, &way)?;
    let sources = Sources::of(workspace, &plan, &wish.target.tree, &raw_ids)?;
    let course = Course {
        plan,
        sources,
        raw_ids,
    };
    let words = wish.in_words();
    way.note_strange(workspace);
    let safety = save_unsaved(workspace, scan, &words, moment)?;
    let mut session = own_session(workspace, session, safety.as_ref())?;
    let from = session.current()?.clone();
    if course.plan.is_nothing() && (!wish.paths.is_empty() || from.commit == wish.target.commit) {
        let (plan, done) = (course.plan, Performed::default());
        return Ok(Restored { plan, done, safety });
    }
    let (tree, end) = match wish.paths.is_empty() {
        true => (
            wish.target.tree.clone(),
            End::At(Box::new(wish.target.clone())),
        ),
        false => {
            let tree = tree_with(workspace, &from.tree, &course.plan)?;
            let mut note = new_note(workspace, &from, stat, capitalised(&words));
            note.work.agent.clone_from(&wish.agent);
            (tree, End::New(note))
        }
    };
    let task = Task {
        course: &course,
        operation: wish.operation(tree, &session, &from),
        ahead,
        takes_up: None,
        end,
    };
    let done = perform(workspace, &mut session, task, moment)?;
    let plan = course.plan;
    Ok(Restored { plan, done, safety })
}

/// Has git write down a restore of the whole work tree while its plan is made, where nothing must be saved first.
fn begin_ahead(
    workspace: &Locked,
    scan: &Scan,
    session: &Session,
    wish: &Wish,
    moment: Moment,
) -> Result<Option<Begun>> {
    let stands = workspace.pointed.as_ref().map(|pointed| &pointed.commit);
    let from = session.current.as_ref();
    let from = from.filter(|from| Some(&from.commit) == stands && from.tree == scan.tree);
    // Without a quarantine it would stay behind where the plan is refused.
    let may_begin = wish.paths.is_empty() && workspace.git.quarantine.is_some();
    let from = from.filter(|from| may_begin && from.commit != wish.target.commit);
    let Some(from) = from else {
        return Ok(None);
    };
    let operation = wish.operation(wish.target.tree.clone(), session, from);
    Begun::start(workspace, session, &operation, moment.seconds).map(Some)
}

/// A sentence from words: `restore 3` becomes `Restore 3`.
pub fn capitalised(words: &str) -> String {
    let mut chars = words.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

/// The note of a turn that an operation ends in.
pub fn new_note(workspace: &Locked, from: &Turn, stat: Stat, message: String) -> Box<Note> {
    Box::new(Note {
        message,
        stat,
        choice: from.note.choice.clone(),
        skipped_count: from.note.skipped_count,
        skipped: from.note.skipped.clone(),
        side: from.note.side.clone(),
        ..snapshot::note(workspace, &from.note.session, &from.note.head)
    })
}

impl Wish {
    /// What git can be started for before it is known what differs.
    fn errands(&self, session: &Session) -> &'static [Errand] {
        let stands = session.current.as_ref().map(|current| &current.commit);
        match self.paths.is_empty() {
            false => &OF_PATHS,
            true if stands == Some(&self.target.commit) => &[],
            true => &OF_A_RESTORE,
        }
    }

    fn deed(&self) -> Deed {
        match self.paths.is_empty() {
            true => Deed::Restore,
            false => Deed::RestorePaths,
        }
    }

    fn operation(&self, tree: Oid, session: &Session, from: &Turn) -> Operation {
        Operation {
            to: self.target.commit.clone(),
            ..Operation::on_work_tree(self.deed(), self.in_words(), tree, session, from)
        }
    }

    fn in_words(&self) -> String {
        let number = self.target.number();
        match self.paths.as_slice() {
            [] => format!("restore {number}"),
            [path] => format!("restore {number} -f {}", path.in_one_line()),
            paths => format!("restore {number}: {} paths", paths.len()),
        }
    }

    fn way(&self, workspace: &Workspace) -> Result<Way> {
        let mut way = way_to(workspace, &self.target)?;
        if !self.paths.is_empty() {
            way.only(|path| self.concerns(path));
        }
        Ok(way)
    }

    fn concerns(&self, path: &RepoPath) -> bool {
        self.paths.is_empty() || self.paths.iter().any(|wanted| path.is_within(wanted))
    }
}

fn make_plan(
    workspace: &Locked,
    scan: &Scan,
    wish: &Wish,
    raw_ids: &RawIds,
    way: &Way,
) -> Result<(Plan, Stat)> {
    let goal = Goal {
        tree: &wish.target.tree,
        not_held: Some(&side::all_skipped(workspace, &wish.target)?),
        choice: &wish.target.note.choice,
        raw_ids,
        name: format!("turn {}", wish.target.number()),
        way,
        ignored: &[],
    };
    let (git, old) = (&workspace.git, &scan.tree);
    let ((differences, stat), rules) = match wish.paths.is_empty() {
        true => {
            let differences = git.differences(old, goal.tree)?;
            let rules = Rules::between(&goal, &differences);
            ((differences, Stat::default()), rules)
        }
        false => (
            git.differences_counted(old, goal.tree, &wish.paths)?,
            Rules::Unknown,
        ),
    };
    let mut rewritten = rewritten(workspace, scan, &goal, &differences)?;
    rewritten.retain(|difference| wish.concerns(&difference.path));
    let concerns = |path: &RepoPath| wish.concerns(path);
    let differences = of_what_is_held(workspace, scan, &goal, differences, concerns)?;
    let mut facts = facts(workspace, scan, &goal, differences, rewritten, rules)?;
    go_way(workspace, scan, &goal, &mut facts)?;
    refuse_unknown_paths(workspace, wish, &facts.differences, way)?;
    let plan = plan_with(workspace, facts, &goal.name)?;
    Ok((plan.with_way(way), stat))
}

/// Puts back, as part of a plan, ignored files that an operation had replaced. `now` is what the work tree has there.
pub fn bring_back(
    workspace: &Locked,
    plan: &mut Plan,
    ignored: &[(RepoPath, Entry)],
    now: &[(RepoPath, Entry)],
) {
    plan.bring_back(ignored, now, &Disk::new(&workspace.git.work_tree));
}

fn plan_with(workspace: &Locked, facts: Facts, goal: &str) -> Result<Plan> {
    let disk = Disk::new(&workspace.git.work_tree);
    plan::plan(facts, &disk).map_err(|obstacles| refused(&obstacles, goal))
}

fn refused(obstacles: &[Obstacle], goal: &str) -> Error {
    let in_words = |obstacle: &Obstacle| format!("{} is {}", obstacle.path, obstacle.what);
    let is_forbidden =
        |obstacle: &Obstacle| [CLOSED, UNREADABLE, PROTECTED, ANOTHERS].contains(&obstacle.what);
    let (what, way_out) = match obstacles.iter().all(is_forbidden) {
        true => (
            "differs from what is here where you may change nothing",
            "give yourself the right to, with chmod u+rwx or chown",
        ),
        false => (
            "has files where something else stands that would be lost",
            "move it away",
        ),
    };
    let error = Error::refused(format!("{goal} {what}"))
        .because(first_of(5, obstacles.iter().map(in_words)))
        .hint(format!(
            "{way_out}, or restore other paths: edio restore TURN -f FILE"
        ));
    match obstacles.iter().any(|obstacle| obstacle.what == TOO_LARGE) {
        true => error.hint("or let turns hold larger files: git config edio.maxFileSize 2g"),
        false => error,
    }
}

/// A path that the turn lacks is most likely a slip: removing it because of that would be the worst answer.
fn refuse_unknown_paths(
    workspace: &Locked,
    wish: &Wish,
    differences: &[Difference],
    way: &Way,
) -> Result<()> {
    let differs = |path: &&RepoPath| {
        let new = |difference: &&Difference| difference.new.is_some();
        let held = differences
            .iter()
            .filter(new)
            .map(|difference| &difference.path);
        held.chain(way.there.keys())
            .any(|held| held.is_within(path))
    };
    let unsure: Vec<&RepoPath> = wish.paths.iter().filter(|path| !differs(path)).collect();
    for path in unsure {
        if !workspace.git.tree_has(&wish.target.tree, path)? {
            let number = wish.target.number();
            return Err(
                Error::cannot(format!("turn {number} has no {path}")).hint(format!(
                    "what it has: git ls-tree -r --name-only {}",
                    wish.target.commit
                )),
            );
        }
    }
    Ok(())
}

/// Takes what was never saved as a safety turn, and begins a session where there is none.
///
/// # Errors
///
/// It can't be saved.
pub fn save_unsaved(
    workspace: &mut Locked,
    scan: Scan,
    words: &str,
    moment: Moment,
) -> Result<Option<Turn>> {
    if ground::ground(workspace)?.is_none() {
        let shared = prompt::at_work(&workspace.state, moment.seconds);
        baseline::begin_here(workspace, scan, shared, moment)?;
        return Ok(None);
    }
    snapshot::close_steps(workspace, moment)?;
    let request = Request {
        kind: Kind::Safety,
        message: Some(format!("Before {words}")),
        unchanged: Unchanged::Skip,
        work: Work::default(),
        moment,
    };
    Ok(snapshot::record(workspace, scan, &request)?.turn)
}

/// The session that this workspace works in: the one that was read already, unless the turn is from another.
///
/// # Errors
///
/// git failed.
pub fn own_session(workspace: &Locked, read: Session, safety: Option<&Turn>) -> Result<Session> {
    let standing = workspace.state.session.as_ref();
    let is_own = standing.is_some_and(|standing| standing.id == read.id);
    if !is_own || read.shelf != Shelf::Active {
        return Session::active_or_error(workspace);
    }
    let mut session = read;
    if let Some(turn) = safety {
        session.grow(turn);
    }
    // Taking up a turn that a killed process left moves `current`, too.
    let moved =
        standing.map(|standing| &standing.current) != session.current.as_ref().map(|t| &t.commit);
    match moved {
        true => Session::active_or_error(workspace),
        false => Ok(session),
    }
}
