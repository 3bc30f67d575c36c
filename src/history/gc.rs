//! What is old goes: the refs of sessions that nobody works in any more.
//!
//! Only refs are deleted, and only edio's. The objects are git's to collect: `git prune` would take along what the user
//! has lost and may still look for. In a private store there is no such thing, and git collects at once.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, SystemTime};

use crate::error::Result;
use crate::gitengine::{RefChange, check_version};

use super::accept;
use super::journal::beyond;
use super::limits::whole_number;
use super::prompt::ENDED;
use super::refnames::{self, Leaf, SessionId, Shelf};
use super::refs;
use super::remote::INCOMING;
use super::session::Session;
use super::state::HALF_WRITTEN;
use super::workspace::{Locked, Workspace};

/// How many days a session is kept after its last turn, where nothing else is said.
pub const DAYS: u32 = 10;

/// A session that goes.
#[derive(Clone, Debug)]
pub struct Pruned {
    /// Its id.
    pub id: SessionId,
    /// Under way in a work tree that is gone, or put away?
    pub shelf: Shelf,
    /// How many turns it has.
    pub turns: usize,
    /// When it was last used.
    pub last_used: i64,
    refs: Vec<RefChange>,
}

/// A long session whose older turns lose their refs.
#[derive(Clone, Debug)]
pub struct Thinned {
    /// Its id.
    pub id: SessionId,
    /// How many turns lose theirs.
    pub turns: usize,
    refs: Vec<RefChange>,
}

/// What is to be done.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Sessions that go.
    pub pruned: Vec<Pruned>,
    /// Sessions that get shorter.
    pub thinned: Vec<Thinned>,
}

impl Plan {
    /// Is there nothing to be done?
    pub fn is_nothing(&self) -> bool {
        self.pruned.is_empty() && self.thinned.is_empty()
    }
}

/// How many days sessions are kept: what is set in `edio.retentionDays`, or [`DAYS`].
///
/// # Errors
///
/// What is set is no number of days.
pub fn retention(workspace: &Workspace) -> Result<u32> {
    Ok(whole_number(workspace, "edio.retentiondays")?.unwrap_or(DAYS))
}

/// Works out what is to go: sessions that were last used before so many days, and are active in no living work tree.
///
/// # Errors
///
/// git failed.
pub fn plan(workspace: &Workspace, days: u32, now: i64) -> Result<Plan> {
    let living = living_worktrees(workspace)?;
    let keep = whole_number(workspace, "edio.keepturns")?;
    let mut plan = Plan::default();
    for session in Session::all(workspace)? {
        let Some(last_used) = last_used(&session).filter(|_| session.damaged.is_empty()) else {
            // Nothing in it is edio's, so that it is not edio's to prune; or something can't be read, and what hangs on it
            // can't be told.
            continue;
        };
        let is_alive = session.shelf == Shelf::Active && is_alive(&session, &living);
        if !is_alive && is_due(last_used, days, now) {
            plan.pruned.push(Pruned {
                turns: session.turns.len(),
                refs: deletions(&session, |_| true),
                shelf: session.shelf,
                id: session.id,
                last_used,
            });
        } else if let Some(keep) = keep {
            plan.thinned.extend(thin(workspace, &session, keep)?);
        }
    }
    Ok(plan)
}

/// Was it last used before so many days? With no day to wait, also what was put away this very second.
pub(super) fn is_due(last_used: i64, days: u32, now: i64) -> bool {
    let oldest = now - i64::from(days) * 24 * 60 * 60;
    last_used < oldest || days == 0 && last_used <= now
}

fn last_used(session: &Session) -> Option<i64> {
    let turns = session.turns.values().chain(&session.current);
    let turns = turns.map(|turn| turn.seconds).max()?;
    Some(
        session
            .ops
            .iter()
            .map(|ops| ops.seconds)
            .fold(turns, i64::max),
    )
}

/// Is it under way in a work tree that exists? Where nothing in it tells of which it is, it may be.
pub(super) fn is_alive(session: &Session, living: &BTreeSet<String>) -> bool {
    let names = worktrees_of(session);
    names.is_empty() || names.iter().any(|name| living.contains(name))
}

/// The names of the work trees that a session has worked in: one, as a rule.
pub(super) fn worktrees_of(session: &Session) -> BTreeSet<String> {
    let turns = session.turns.values().chain(&session.current);
    let own = turns.filter(|turn| turn.note.session == session.id);
    let own = own.map(|turn| turn.note.worktree.clone());
    let operation = session.last_operation();
    own.chain(operation.map(|o| o.worktree)).collect()
}

/// The names of the work trees that exist. Where it is not sure that one is gone, it exists.
///
/// # Errors
///
/// They can't be listed.
pub(super) fn living_worktrees(workspace: &Workspace) -> Result<BTreeSet<String>> {
    let mut living = BTreeSet::from([".".to_owned()]);
    for folder in workspace.linked()? {
        let gone = fs::read_to_string(folder.join("gitdir"))
            .and_then(|git| folder.join(git.trim_end()).try_exists())
            .is_ok_and(|is_there| !is_there);
        if !gone || folder.join("locked").exists() {
            let name = folder.file_name().unwrap_or_default();
            living.insert(name.to_string_lossy().into_owned());
        }
    }
    Ok(living)
}

fn deletions(session: &Session, wanted: impl Fn(Leaf) -> bool) -> Vec<RefChange> {
    let refs = session.refs.iter().filter(|(leaf, _)| wanted(*leaf));
    refs.map(|(leaf, oid)| {
        RefChange::delete(refnames::name(session.shelf, &session.id, *leaf), oid)
    })
    .collect()
}

/// The refs of the turns between the first and the last ones. The turns stay reachable from those.
fn thin(workspace: &Workspace, session: &Session, keep: u32) -> Result<Option<Thinned>> {
    let keep = keep.max(2) as usize;
    if session.shelf != Shelf::Active || session.turns.len() <= keep {
        return Ok(None);
    }
    let numbers: Vec<u32> = session.turns.keys().copied().collect();
    let middle = &numbers[1..numbers.len() - (keep - 1)];
    let on_the_line = line(workspace, session)?;
    let dropped: Vec<u32> = middle
        .iter()
        .copied()
        .filter(|number| on_the_line.contains(number))
        .collect();
    Ok((!dropped.is_empty()).then(|| Thinned {
        id: session.id.clone(),
        turns: dropped.len(),
        refs: deletions(
            session,
            |leaf| matches!(leaf, Leaf::Turn(number) if dropped.contains(&number)),
        ),
    }))
}

/// The turns before the last one on its line: only these stay reachable without a ref of their own.
fn line(workspace: &Workspace, session: &Session) -> Result<BTreeSet<u32>> {
    let mut line = BTreeSet::new();
    let last = session.turns.values().next_back();
    for turn in last
        .into_iter()
        .flat_map(|last| session.line(workspace, last))
    {
        let turn = turn?;
        // Those of another session that it began with have numbers of their own.
        if turn.note.session == session.id {
            line.insert(turn.number().turn);
        }
    }
    let current = session.current.as_ref().map(|turn| turn.number().turn);
    line.retain(|number| Some(*number) != current);
    Ok(line)
}

/// Carries the plan out, packs edio's refs, and removes what killed processes left behind.
///
/// # Errors
///
/// git failed.
pub fn run(workspace: &mut Locked, plan: &Plan) -> Result<()> {
    let pruned = plan.pruned.iter().flat_map(|session| &session.refs);
    let thinned = plan.thinned.iter().flat_map(|session| &session.refs);
    let changes: Vec<RefChange> = pruned.chain(thinned).cloned().collect();
    refs::change_in_chunks(workspace, &changes)?;
    if !changes.is_empty() {
        // The cached index may stand on objects that nothing holds any more.
        workspace.state.cache = None;
        workspace.state.save(&workspace.scratch())?;
    }
    refs::remove_dead_locks(workspace);
    accept::remove_dead_lock(workspace)?;
    sweep_scratch(workspace);
    sweep_journal(workspace, plan)?;
    match workspace.store {
        // Nobody else collects there.
        Some(_) => Ok(workspace.git.collect("2.weeks.ago")?),
        None => pack(workspace),
    }
}

/// What files outside held goes with the session that has noted it. Of one that is only about to begin in another work
/// tree no ref tells yet: a folder that this run has not pruned goes when it is old.
fn sweep_journal(workspace: &Locked, plan: &Plan) -> Result<()> {
    let common_dir = &workspace.git.common_dir;
    let kept = beyond::kept(common_dir);
    if kept.is_empty() {
        return Ok(());
    }
    let refs = workspace.git.ref_names(&[refnames::ALL])?;
    let living = refs.iter().filter_map(|(name, _)| refnames::parse(name));
    let living: BTreeSet<SessionId> = living.map(|(_, id, _)| id).collect();
    let now = workspace.time_of_file_system().ok();
    let gone = kept.into_iter().filter(|(id, folder)| {
        let is_pruned = plan.pruned.iter().any(|pruned| &pruned.id == id);
        !living.contains(id) && (is_pruned || is_abandoned(folder, now))
    });
    beyond::forget(common_dir, &gone.map(|(id, _)| id).collect())
}

/// edio's name for the lock on the user's index: by it a dead one is known.
const INDEX_LOCK: &str = "index.lock.edio";

/// An accept runs its hooks and the editor without the workspace's lock, and a hook writes what it remembers so. What
/// nothing happened to for so long belongs to a killed process, not to an editor that was left open.
const ABANDONED: Duration = Duration::from_secs(10 * 24 * 60 * 60);

/// Removes what a killed process may have left in the scratch folder: its indexes, its stage, a state half written.
pub(super) fn sweep_scratch(workspace: &Locked) {
    let now = workspace.time_of_file_system().ok();
    let folders = [workspace.scratch(), workspace.scratch().join("guard")];
    let entries = folders
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok());
    for entry in entries.flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_index = name.starts_with("index.") && name != INDEX_LOCK;
        let is_left = is_index
            || name == "stage"
            || name == "rules"
            || is_dated(&name) && is_abandoned(&entry, now);
        if is_left {
            let path = entry.path();
            // What can't be removed now is swept another time.
            let _ = match path.is_dir() {
                true => fs::remove_dir_all(path),
                false => fs::remove_file(path),
            };
        }
    }
}

/// Is this something that goes when nothing has happened to it for long? Who writes it may do so without the lock.
fn is_dated(name: &str) -> bool {
    let dated = [accept::HOOKS_FOLDER, ENDED, HALF_WRITTEN, INCOMING];
    dated.iter().any(|beginning| name.starts_with(beginning))
}

/// Was nothing made or removed in this folder for so long that no process can be at work in it?
fn is_abandoned(folder: &fs::DirEntry, now: Option<SystemTime>) -> bool {
    let changed = folder.metadata().and_then(|meta| meta.modified()).ok();
    let age = changed.and_then(|changed| now?.duration_since(changed).ok());
    age.is_some_and(|age| age > ABANDONED)
}

/// Packs edio's refs and no others: only git 2.42 and later can tell them apart.
fn pack(workspace: &Locked) -> Result<()> {
    let version = check_version(workspace.git.trace.as_ref())?;
    if version >= (2, 42) {
        workspace.git.pack_refs_below(refnames::ALL)?;
    }
    Ok(())
}
