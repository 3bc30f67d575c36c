//! Forget: a session written anew without some paths, for a secret that slipped in.
//!
//! A path goes from every snapshot, operation and side commit that can be reached from the session's refs, parents
//! first. Numbers, dates and messages stay. The same commit always becomes the same one: what was written anew already
//! stays as it is, so a `forget` that was killed is finished by the next.
//!
//! Nothing of the user's is touched: not the file on disk, not a commit that one of their refs holds. Where only edio's
//! refs still lead to one of theirs (an accept that was undone, a base that was amended), they lead to another then.

mod graph;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::error::{Error, Result, While};
use crate::gitengine::{
    Git, Oid, PrivateIndex, Pruned, RefChange, Reflogs, RepoPath, Stat, literal,
};

use self::graph::{Content, Graph, Node};
use super::bytes;
use super::conversation;
use super::faults;
use super::gc;
use super::ground;
use super::lock::{Lock, Patience};
use super::refnames::{self, SessionId, Shelf};
use super::refs;
use super::scan::cached_index;
use super::session::{Session, no_session};
use super::side;
use super::state::Move;
use super::trailers;
use super::transcript;
use super::turn::{self, Turn};
use super::workspace::{Locked, QUARANTINE, Workspace};

/// The setting that keeps paths out of later turns.
const EXCLUDE: &str = "edio.exclude";

/// In which sessions something is forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// In the one under way here.
    Own,
    /// In the one of this id.
    Session(SessionId),
    /// In all of the repository.
    All,
}

/// A session that is written anew.
#[derive(Clone, Debug)]
pub struct Concerned {
    /// Its id.
    pub id: SessionId,
    /// The numbers of the turns that held something of it, 0 for the baseline. Steps count for their turn.
    pub turns: BTreeSet<u32>,
    moves: Vec<(String, Oid)>,
}

/// What is to be done.
pub struct Plan {
    /// What is forgotten.
    pub paths: Vec<RepoPath>,
    /// Those that no session has.
    pub not_found: Vec<RepoPath>,
    /// Where.
    pub sessions: Vec<Concerned>,
    /// Sessions that hold some of it, too, and stay as they are.
    pub other_sessions: Vec<SessionId>,
    /// Other refs of edio's that do.
    pub other_refs: Vec<String>,
    /// What the user's own git has of it.
    pub own: Own,
    graph: Graph,
    cut: Cut,
}

/// What the user's own git has of the paths.
#[derive(Clone, Debug)]
pub struct Own {
    /// A commit that changed one of them, and what holds it.
    pub commit: Option<(Oid, Held)>,
    /// Is one in the index?
    pub is_staged: bool,
}

/// What holds a commit of the user's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// A ref.
    ByRef,
    /// Only a reflog.
    ByReflog,
}

/// What came of it.
pub struct Forgotten {
    /// How many commits were written anew.
    pub commits: usize,
    /// The patterns that keep what is still on disk out of later turns. These were added to the config.
    pub excluded: Vec<Vec<u8>>,
    /// How many objects are left to git to collect.
    pub objects: usize,
    /// Under which other names the sessions hold the same content.
    pub other_names: BTreeSet<Vec<u8>>,
}

/// What each tree becomes, and what commits become others through it.
struct Cut {
    pruned: Pruned,
    changed: BTreeSet<Oid>,
}

/// Works out what is to be written anew. Nothing of it is reached from a ref yet.
///
/// # Errors
///
/// There is no such session, another work tree works in it, a gc is under way, or git failed.
pub fn plan(workspace: &Locked, paths: &[RepoPath], extent: &Extent) -> Result<Plan> {
    empty_quarantine(&workspace.git, &workspace.scratch())?;
    let sessions = Session::all(workspace)?;
    sessions.iter().try_for_each(faults::refuse_damaged)?;
    let others = other_refs(workspace)?;
    let all = sessions.iter().flat_map(tips);
    let graph = Graph::read(workspace, all.chain(others.iter().map(|(_, oid)| oid)))?;
    let cut = Cut::off(workspace, &graph, paths)?;
    let holds = |session: &Session| tips(session).any(|oid| cut.changed.contains(oid));
    let (wanted, rest) = divide(workspace, sessions, &graph, &cut, extent)?;
    let below = graph.below(wanted.iter().flat_map(tips));
    let users: BTreeSet<&Oid> = below.iter().flat_map(|node| &node.users).collect();
    let commit = users_commit(workspace, paths, &users)?;
    let wanted: Vec<&Session> = wanted.iter().filter(|session| holds(session)).collect();
    for session in &wanted {
        refuse_elsewhere(workspace, session)?;
    }
    Ok(Plan {
        sessions: wanted.iter().map(|s| concerned(s, &graph, &cut)).collect(),
        other_sessions: rest
            .iter()
            .filter(|s| holds(s))
            .map(|s| s.id.clone())
            .collect(),
        other_refs: others
            .into_iter()
            .filter(|(_, oid)| cut.changed.contains(oid))
            .map(|(name, _)| name)
            .collect(),
        own: Own {
            commit,
            is_staged: !workspace.git.tracked(paths)?.is_empty(),
        },
        not_found: cut.not_found(paths),
        paths: paths.to_vec(),
        graph,
        cut,
    })
}

/// A commit of the user's that changed one of these, and what holds it.
fn users_commit(
    workspace: &Workspace,
    paths: &[RepoPath],
    users: &BTreeSet<&Oid>,
) -> Result<Option<(Oid, Held)>> {
    let found = |reflogs| {
        let git = &workspace.git;
        git.commit_with(paths, users, refnames::ALL, reflogs)
    };
    let Some(past) = found(Reflogs::Too)? else {
        return Ok(None);
    };
    Ok(Some(match found(Reflogs::Not)? {
        Some(present) => (present, Held::ByRef),
        None => (past, Held::ByReflog),
    }))
}

fn tips(session: &Session) -> impl Iterator<Item = &Oid> {
    session.refs.iter().map(|(_, oid)| oid)
}

/// Refs of edio's that are no session's of this repository, where they point to commits.
fn other_refs(workspace: &Workspace) -> Result<Vec<(String, Oid)>> {
    let refs = workspace.git.ref_commits(&[refnames::ALL])?;
    let others = refs
        .whole
        .into_iter()
        .filter(|found| refnames::parse(&found.name).is_none());
    Ok(others.map(|found| (found.name, found.commit.oid)).collect())
}

/// The sessions that are meant, and the others.
///
/// A session whose turns one of them grew from goes along: its side commits are reached from its own refs alone.
fn divide(
    workspace: &Workspace,
    sessions: Vec<Session>,
    graph: &Graph,
    cut: &Cut,
    extent: &Extent,
) -> Result<(Vec<Session>, Vec<Session>)> {
    let mut ids: BTreeSet<SessionId> = match extent {
        Extent::All => sessions.iter().map(|session| session.id.clone()).collect(),
        Extent::Session(id) => BTreeSet::from([Session::wanted(workspace, Some(id))?.id]),
        Extent::Own => {
            let own = Session::active(workspace)?;
            let nothing = || no_session().hint("all sessions: edio forget --all-sessions");
            BTreeSet::from([own.ok_or_else(nothing)?.id])
        }
    };
    loop {
        let wanted = sessions.iter().filter(|session| ids.contains(&session.id));
        let below = graph.below(wanted.flat_map(tips)).into_iter();
        let changed = below.filter(|node| cut.changed.contains(&node.commit.oid));
        let named = changed.filter_map(|node| node.session.clone());
        let named: BTreeSet<SessionId> = named.filter(|id| !ids.contains(id)).collect();
        if named.is_empty() {
            break;
        }
        ids.extend(named);
    }
    Ok(sessions
        .into_iter()
        .partition(|session| ids.contains(&session.id)))
}

/// Writing to the session of another work tree that exists is refused: it has a lock of its own.
fn refuse_elsewhere(workspace: &Workspace, session: &Session) -> Result<()> {
    let living = gc::living_worktrees(workspace)?;
    let names = gc::worktrees_of(session);
    let elsewhere = names
        .iter()
        .find(|name| **name != workspace.name && living.contains(*name));
    match elsewhere.filter(|_| session.shelf == Shelf::Active) {
        None => Ok(()),
        Some(name) => Err(Error::refused(format!(
            "{} is the session of another work tree, {name}",
            session.id
        ))
        .hint("forget it there first: edio -C FOLDER forget -f PATH")),
    }
}

fn concerned(session: &Session, graph: &Graph, cut: &Cut) -> Concerned {
    let held = graph.below(tips(session)).into_iter();
    let held = held.filter(|node| cut.pruned.trees.contains_key(&node.commit.tree));
    let turns = held.filter_map(|node| Turn::read(&node.commit));
    let own = turns.filter(|turn| turn.note.session == session.id);
    let refs = session.refs.iter();
    let moving = refs.filter(|(_, oid)| cut.changed.contains(oid));
    let name = |leaf| refnames::name(session.shelf, &session.id, leaf);
    Concerned {
        turns: own.map(|turn| turn.number().turn).collect(),
        moves: moving
            .map(|(leaf, oid)| (name(*leaf), oid.clone()))
            .collect(),
        id: session.id.clone(),
    }
}

impl Cut {
    fn off(workspace: &Locked, graph: &Graph, paths: &[RepoPath]) -> Result<Self> {
        let trees = |content| -> BTreeSet<Oid> {
            let nodes = graph.nodes().filter(|node| node.content == content);
            nodes.map(|node| node.commit.tree.clone()).collect()
        };
        let work_trees = trees(Content::WorkTree);
        let mut pruned = workspace.git.synced().trees_without(&work_trees, paths)?;
        for old in trees(Content::Side) {
            let new = side::tree_without(workspace, &old, paths, &mut pruned)?;
            if new != old {
                pruned.trees.insert(old, new);
            }
        }
        let mut cut = Self {
            pruned,
            changed: BTreeSet::new(),
        };
        for node in graph.nodes() {
            let is_changed = cut.pruned.trees.contains_key(&node.commit.tree)
                || node.below.iter().any(|oid| cut.changed.contains(oid));
            if is_changed {
                cut.changed.insert(node.commit.oid.clone());
            }
        }
        Ok(cut)
    }

    /// The paths that were nowhere. What lies in another one of them went with that.
    fn not_found(&self, paths: &[RepoPath]) -> Vec<RepoPath> {
        let found: Vec<RepoPath> = self.pruned.found.iter().cloned().collect();
        let paths = paths.iter().filter(|path| !path.is_among(&found));
        paths.cloned().collect()
    }

    fn tree<'a>(&'a self, old: &'a Oid) -> &'a Oid {
        self.pruned.trees.get(old).unwrap_or(old)
    }
}

/// Writes the sessions of a plan anew, and moves their refs all at once.
///
/// # Errors
///
/// git failed, or a ref was moved meanwhile; then the refs stay as they were.
pub fn run(workspace: &mut Locked, plan: &Plan) -> Result<Forgotten> {
    workspace.git = workspace.git.synced();
    let new = write_anew(workspace, plan)?;
    let moves: Vec<Move> = plan
        .sessions
        .iter()
        .flat_map(|session| &session.moves)
        .filter_map(|(name, before)| {
            Some(Move {
                name: name.clone(),
                after: new.get(before)?.clone(),
                before: before.clone(),
            })
        })
        .collect();
    let excluded = exclude(workspace, &plan.paths)?;
    // The index that the last scan left behind stands on what is to go.
    PrivateIndex::at(&workspace.git, cached_index(workspace)).remove()?;
    gc::sweep_scratch(workspace);
    conversation::forget(workspace, &plan.paths)?;
    transcript::forget(workspace, &plan.paths)?;
    workspace.state.cache = None;
    workspace.state.journal.lose();
    workspace.state.forgetting.clone_from(&moves);
    // A kill from here on is finished by the next command, for which the new commits must be there.
    workspace.git.give_objects()?;
    workspace.begin()?;
    if let Err(error) = move_refs(workspace) {
        if !standing(workspace, &moves)?.contains(&At::After) {
            workspace.state.forgetting.clear();
            workspace.end()?;
        }
        return Err(error);
    }
    settled(workspace)?;
    let below = |of: fn(&Move) -> &Oid| {
        let tips: Vec<Oid> = moves.iter().map(of).cloned().collect();
        workspace.git.objects_below(&tips, refnames::ALL)
    };
    let (old, new_objects) = (below(|m| &m.before)?, below(|m| &m.after)?);
    let same_content = new_objects
        .iter()
        .filter(|(oid, _)| plan.cut.pruned.gone.contains(oid));
    Ok(Forgotten {
        commits: new.len(),
        excluded,
        objects: old
            .keys()
            .filter(|oid| !new_objects.contains_key(oid))
            .count(),
        other_names: same_content.map(|(_, name)| name.clone()).collect(),
    })
}

/// Ends the work here, and has the other work trees let go of what they have kept for themselves: the objects that their
/// last command wrote.
///
/// # Errors
///
/// They can't be listed, or one of their folders can't be read or written.
pub fn let_go_elsewhere(workspace: Locked) -> Result<()> {
    let (git, others) = (workspace.git.clone(), workspace.scratch_elsewhere()?);
    let patience = workspace.patience.clone();
    // Two that hold a lock and wait for the other's would wait for ever.
    drop(workspace);
    // One that fails keeps none of the others from it.
    let outcomes = others.iter().map(|folder| let_go(&git, folder, &patience));
    let outcomes: Vec<Result<()>> = outcomes.collect();
    outcomes.into_iter().collect()
}

fn let_go(git: &Git, scratch: &Path, patience: &Patience) -> Result<()> {
    let has_objects = scratch.join(QUARANTINE).try_exists();
    if !has_objects.or_cannot(|| format!("can't look into {}", scratch.display()))? {
        return Ok(());
    }
    let _lock = Lock::take(scratch, patience)?;
    empty_quarantine(git, scratch)
}

/// The next command would give these objects to the repository once more.
fn empty_quarantine(git: &Git, scratch: &Path) -> Result<()> {
    if git.is_gc_under_way() {
        return Err(
            Error::cannot("git gc is under way, and edio keeps objects for its sake")
                .hint("wait until it has ended, and give the command again"),
        );
    }
    git.in_quarantine(&scratch.join(QUARANTINE))?;
    Ok(())
}

/// Writes the commits anew, parents first. Returns what each has become.
fn write_anew(workspace: &Locked, plan: &Plan) -> Result<BTreeMap<Oid, Oid>> {
    let (graph, cut) = (&plan.graph, &plan.cut);
    let moves = plan.sessions.iter().flat_map(|session| &session.moves);
    let below = graph.below(moves.map(|(_, oid)| oid)).into_iter();
    let below: BTreeSet<&Oid> = below.map(|node| &node.commit.oid).collect();
    let is_concerned = |oid| below.contains(oid) && cut.changed.contains(oid);
    let nodes = graph.nodes().filter(|node| is_concerned(&node.commit.oid));
    let nodes: Vec<&Node> = nodes.collect();
    let oids: Vec<Oid> = nodes.iter().map(|node| node.commit.oid.clone()).collect();
    let stats = recount(workspace, plan, &nodes)?;
    let mut new: BTreeMap<Oid, Oid> = BTreeMap::new();
    for (node, raw) in nodes
        .into_iter()
        .zip(workspace.git.raw_objects("commit", &oids)?)
    {
        let commit = &node.commit;
        // A parent that is the user's stays, also where it was once a turn.
        let now = |parent: &Oid| match node.below.contains(parent) {
            true => new.get(parent).unwrap_or(parent).clone(),
            false => parent.clone(),
        };
        let parents: Vec<Oid> = commit.parents.iter().map(now).collect();
        let stat = stats.get(&commit.oid);
        let message = trailers::edited(&commit.message, |name, value| match (name, stat) {
            ("Stat", Some(stat)) => Some(turn::write_stat(stat)),
            _ => Oid::new(value)
                .filter(|oid| graph.may_follow(name, oid))
                .and_then(|oid| new.get(&oid))
                .map(Oid::to_string),
        });
        let message = message.unwrap_or_else(|| commit.message.clone());
        let tree = cut.tree(&commit.tree);
        let written = workspace
            .git
            .write_commit_like(&raw, tree, &parents, &message)?;
        new.insert(commit.oid.clone(), written);
    }
    Ok(new)
}

/// What the snapshots have changed that counted the paths, without them.
fn recount(workspace: &Locked, plan: &Plan, nodes: &[&Node]) -> Result<BTreeMap<Oid, Stat>> {
    let turns = nodes.iter().filter_map(|node| Turn::read(&node.commit));
    let turns = turns.filter_map(|turn| Some((plan.graph.counted_against(&turn)?.tree, turn)));
    let turns: Vec<(Oid, Turn)> = turns.collect();
    let pairs = turns
        .iter()
        .map(|(before, turn)| (before.clone(), turn.tree.clone()));
    let pairs: Vec<(Oid, Oid)> = pairs.collect();
    let counts = workspace.git.count_differences(&pairs, &plan.paths)?;
    let mut stats = BTreeMap::new();
    for ((before, turn), count) in turns.iter().zip(counts) {
        let git = &workspace.git;
        let (differences, mut gone) = match count {
            0 => Default::default(),
            _ => git.differences_counted(before, &turn.tree, &plan.paths)?,
        };
        let mut hidden = hidden(workspace, plan, turn)?;
        hidden.retain(|path| differences.iter().all(|d| &d.path != path));
        gone.files += hidden.len() as u64;
        if gone != Stat::default() {
            stats.insert(turn.commit.clone(), turn.note.stat.without(&gone));
        }
    }
    Ok(stats)
}

/// The paths of which a snapshot has changed nothing but bytes that git's conversion hides.
fn hidden(workspace: &Locked, plan: &Plan, turn: &Turn) -> Result<Vec<RepoPath>> {
    let Some(before) = plan.graph.grew_from(turn) else {
        return Ok(Vec::new());
    };
    let has = |tree| plan.cut.pruned.trees.contains_key(tree);
    if before.note.side == turn.note.side || !has(&before.tree) || !has(&turn.tree) {
        return Ok(Vec::new());
    }
    let then = bytes::of_turn(workspace, &before)?;
    let now = bytes::of_turn(workspace, turn)?;
    let mut other = bytes::other_bytes(workspace, &turn.tree, &now, &then)?;
    other.retain(|(path, _)| path.is_among(&plan.paths));
    let paths: Vec<RepoPath> = other.iter().map(|(path, _)| path.clone()).collect();
    let old = workspace.git.entries_at(&before.tree, &paths)?;
    other.retain(|entry| old.contains(entry));
    Ok(other.into_iter().map(|(path, _)| path).collect())
}

/// Keeps the paths out of later turns: those that are still on disk, and all where there are other work trees. Returns the
/// patterns.
///
/// Also where git ignores them now: it does not any more after a restore of a turn from before the rule.
fn exclude(workspace: &Locked, paths: &[RepoPath]) -> Result<Vec<Vec<u8>>> {
    let git = &workspace.git;
    let known = workspace.settings.all(EXCLUDE);
    // It may be on disk there, too: the setting counts in all of them.
    let has_others = !workspace.linked()?.is_empty();
    let mut added = Vec::new();
    for path in paths {
        let is_there = path.below(&git.work_tree).symlink_metadata().is_ok();
        let pattern = literal(path);
        let is_known = known.contains(&pattern.as_slice()) || added.contains(&pattern);
        if !is_known && (is_there || has_others) {
            git.add_setting(EXCLUDE, &pattern)?;
            added.push(pattern);
        }
    }
    Ok(added)
}

/// Where a ref stands that was to move.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    Before,
    After,
    Elsewhere,
}

fn standing(workspace: &Workspace, moves: &[Move]) -> Result<Vec<At>> {
    let refs = workspace.git.ref_names(&[refnames::ALL])?;
    let refs: BTreeMap<String, Oid> = refs.into_iter().collect();
    let at = |m: &Move| match refs.get(&m.name) {
        Some(oid) if oid == &m.before => At::Before,
        Some(oid) if oid == &m.after => At::After,
        _ => At::Elsewhere,
    };
    Ok(moves.iter().map(at).collect())
}

fn move_refs(workspace: &Locked) -> Result<()> {
    let moves = workspace.state.forgetting.iter();
    let changes: Vec<RefChange> = moves
        .map(|m| RefChange::set(m.name.clone(), Some(&m.before), &m.after))
        .collect();
    refs::change(workspace, &changes)
}

/// Notes where the session stands now that the refs have moved, and that nothing is left to be done.
fn settled(workspace: &mut Locked) -> Result<()> {
    workspace.state.forgetting.clear();
    if let Some(session) = Session::active(workspace)?
        && session.current.is_some()
    {
        ground::stand(workspace, &session)?;
    }
    workspace.end()
}

/// Finishes a `forget` that was killed while the refs moved: with refs in files some can have moved and others not.
/// Returns what came of it, in words; `None` where there was none.
///
/// # Errors
///
/// git failed.
pub fn finish(workspace: &mut Locked) -> Result<Option<String>> {
    let moves = std::mem::take(&mut workspace.state.forgetting);
    if moves.is_empty() {
        return Ok(None);
    }
    let standing = standing(workspace, &moves)?;
    let is_whole = !standing.contains(&At::Elsewhere);
    let left = moves
        .iter()
        .zip(standing)
        .filter(|(_, at)| *at == At::Before);
    workspace.state.forgetting = left.map(|(m, _)| m.clone()).collect();
    move_refs(workspace)?;
    settled(workspace)?;
    Ok(Some(match is_whole {
        true => "forget is finished".to_owned(),
        false => "forget was interrupted: give it once more, with the same paths".to_owned(),
    }))
}
