//! Sessions between repositories: what goes out, what may come in, and which of two states of one session goes further.
//!
//! Nothing that comes is trusted. Each ref must be what its name says, and each turn must have a number of its own that is
//! higher than that of the turn before it.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};
use crate::gitengine::{Oid, RefChange};

use super::ancestry::Ancestry;
use super::ops::{self, Operation};
use super::refnames::{self, Leaf, SessionId, Shelf};
use super::session::Session;
use super::side::{self, Held};
use super::trailers;
use super::turn::{Kind, Number, Turn};
use super::workspace::{Locked, Workspace};

/// The refs of a session, by what they are for.
pub type Leaves = Vec<(Leaf, Oid)>;

/// What goes along of the side commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SideCommits {
    /// What a restore needs.
    Copies,
    /// All: ignored files that were saved, conversations, what was staged.
    All,
}

/// A session as its refs have it, in this repository or in another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Its turns, by number.
    pub turns: BTreeMap<u32, Oid>,
    /// Where it stands.
    pub current: Oid,
    /// Its last operation.
    pub ops: Option<Oid>,
    /// Its last side commit.
    pub side: Option<Oid>,
}

/// How a state of a session stands to another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    /// They are the same, but for side commits.
    Same,
    /// It has all of the other one, and more.
    Ahead,
    /// The other one has all of it, and more.
    Behind,
    /// These turns are others in the one and in the other.
    Other(Vec<u32>),
    /// Each has something that the other one lacks.
    Apart,
}

impl Relation {
    /// What keeps the one from following the other, said of a session that is there already. `None` where nothing does.
    pub(super) fn obstacle(&self) -> Option<String> {
        match self {
            Relation::Other(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
                Some(format!("with other turns: {}", numbers.join(", ")))
            }
            Relation::Apart => Some("and it has gone on in another way".to_owned()),
            Relation::Same | Relation::Ahead | Relation::Behind => None,
        }
    }
}

impl State {
    /// The state of a session of this repository.
    ///
    /// # Errors
    ///
    /// The session has lost its `current`, or git failed.
    pub fn of(workspace: &Workspace, session: &Session) -> Result<Self> {
        let session = session.with_unnamed(workspace)?;
        let turns = session.turns.iter();
        let turns = turns.map(|(number, turn)| (*number, turn.commit.clone()));
        Ok(Self {
            turns: turns.collect(),
            current: session.current()?.commit.clone(),
            ops: session.ops.as_ref().map(|commit| commit.oid.clone()),
            side: session.side.clone(),
        })
    }

    /// The state that these refs, which somebody has given, lead to. Their objects are here, and git has checked them.
    ///
    /// # Errors
    ///
    /// It is refused: something is not what it says; or git failed.
    pub fn given(
        workspace: &Workspace,
        ancestry: &mut Ancestry,
        id: &SessionId,
        leaves: &Leaves,
    ) -> Result<Self> {
        check_leaves(workspace, id, leaves)?;
        let at = |wanted| {
            let mut found = leaves.iter().filter(|(leaf, _)| *leaf == wanted);
            found.next().map(|(_, oid)| oid.clone())
        };
        let current = at(Leaf::Current)
            .ok_or_else(|| Error::refused(format!("nothing says where the session {id} stands")))?;
        let tips = leaves.iter().filter(|(leaf, _)| *leaf != Leaf::Side);
        let found = ancestry.snapshots(workspace, id, tips.map(|(_, oid)| oid))?;
        Ok(Self {
            turns: numbered(id, &found)?,
            current,
            ops: at(Leaf::Ops),
            side: at(Leaf::Side),
        })
    }

    /// How it stands to another state of the same session, all of which is here.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn relation(&self, workspace: &Workspace, other: &Self) -> Result<Relation> {
        let is_other = |(number, commit): &(&u32, &Oid)| {
            let there = other.turns.get(*number);
            there.is_some_and(|there| there != *commit)
        };
        let others = self.turns.iter().filter(is_other);
        let others: Vec<u32> = others.map(|(number, _)| *number).collect();
        if !others.is_empty() {
            return Ok(Relation::Other(others));
        }
        let has_all = |one: &Self, of: &Self| of.turns.keys().all(|n| one.turns.contains_key(n));
        let turns = relation(has_all(self, other), has_all(other, self));
        let ops = match (&self.ops, &other.ops) {
            (Some(mine), Some(others)) => self::line(workspace, mine, others)?,
            (mine, others) => relation(others.is_none(), mine.is_none()),
        };
        Ok(match (turns, ops) {
            // A step moves nothing else.
            (Relation::Same, Relation::Same) => {
                self::line(workspace, &self.current, &other.current)?
            }
            (one, Relation::Same) | (Relation::Same, one) => one,
            (one, two) if one == two => one,
            _ => Relation::Apart,
        })
    }
}

fn relation(has_all: bool, is_all_had: bool) -> Relation {
    match (has_all, is_all_had) {
        (true, true) => Relation::Same,
        (true, false) => Relation::Ahead,
        (false, true) => Relation::Behind,
        (false, false) => Relation::Apart,
    }
}

/// How two commits of one line stand to each other.
fn line(workspace: &Workspace, one: &Oid, other: &Oid) -> Result<Relation> {
    let git = &workspace.git;
    Ok(match one == other {
        true => Relation::Same,
        false => relation(git.is_ancestor(other, one)?, git.is_ancestor(one, other)?),
    })
}

/// Sees that each commit is what the name of its ref says.
fn check_leaves(workspace: &Workspace, id: &SessionId, leaves: &Leaves) -> Result<()> {
    let oids: Vec<Oid> = leaves.iter().map(|(_, oid)| oid.clone()).collect();
    let odd = |leaf: Leaf| {
        Error::refused(format!(
            "what is called {leaf} of {id} is something else: nothing was taken in"
        ))
    };
    let unknown = workspace.git.unknown_commits(&oids)?;
    if let Some((leaf, _)) = leaves.iter().find(|(_, oid)| unknown.contains(oid)) {
        return Err(odd(*leaf));
    }
    for ((leaf, _), commit) in leaves.iter().zip(&workspace.git.commits(&oids)?) {
        let is_it = match leaf {
            Leaf::Turn(number) => Turn::read(commit).is_some_and(|turn| {
                turn.number() == Number::turn(*number) && &turn.note.session == id
            }),
            // It may be a turn of another session that it began with.
            Leaf::Current => Turn::read(commit).is_some(),
            Leaf::Ops => Operation::read(commit).is_some(),
            Leaf::Side => trailers::parse(&commit.message).is_some(),
        };
        if !is_it {
            return Err(odd(*leaf));
        }
    }
    Ok(())
}

/// The turns among these snapshots, by number: one for each, and none that is lower than the one before it.
fn numbered(id: &SessionId, snapshots: &[Turn]) -> Result<BTreeMap<u32, Oid>> {
    let is_turn = |turn: &&Turn| turn.note.kind.is_numbered();
    let mut turns = BTreeMap::new();
    for turn in snapshots.iter().filter(is_turn) {
        let number = turn.number().turn;
        if turn.number() != Number::turn(number) || number == 0 {
            return Err(Error::refused(format!("{id} has a turn without a number")));
        }
        if turns.insert(number, turn.commit.clone()).is_some() {
            return Err(Error::refused(format!("{id} has two turns {number}")));
        }
    }
    let by_commit: BTreeMap<&Oid, &Turn> = snapshots.iter().map(|t| (&t.commit, t)).collect();
    for turn in snapshots {
        let before = turn.parent.as_ref().and_then(|oid| by_commit.get(oid));
        if before.is_some_and(|before| !is_before(before, turn)) {
            return Err(Error::refused(format!(
                "in {id} turn {} comes after a later one",
                turn.number()
            )));
        }
    }
    Ok(turns)
}

/// May a snapshot have grown from the other? Steps lead up to the turn whose number they bear.
fn is_before(before: &Turn, turn: &Turn) -> bool {
    let (one, other) = (before.number(), turn.number());
    match (before.note.kind, turn.note.kind) {
        (Kind::Step, Kind::Step) => one < other,
        (Kind::Step, _) => one.turn <= other.turn,
        _ => one.turn < other.turn,
    }
}

/// The refs with which a session goes to another repository: where it stands, its operations, its side commits. A turn
/// has a ref of its own only where nothing of these leads to it.
///
/// # Errors
///
/// The session has lost its `current`, or git failed.
pub fn outgoing(workspace: &Locked, session: &Session, sides: SideCommits) -> Result<Leaves> {
    let session = session.with_unnamed(workspace)?;
    let mut leaves = vec![(Leaf::Current, session.current()?.commit.clone())];
    let ops = session.ops.as_ref();
    leaves.extend(ops.map(|ops| (Leaf::Ops, ops.oid.clone())));
    let mut ancestry = Ancestry::read(workspace, &session.tips().collect::<Vec<_>>())?;
    let tips: Vec<Oid> = leaves.iter().map(|(_, oid)| oid.clone()).collect();
    let mut reached = BTreeSet::new();
    let mut reach = |tips: &[Oid], reached: &mut BTreeSet<Oid>| -> Result<()> {
        let found = ancestry.snapshots(workspace, &session.id, tips)?;
        reached.extend(found.into_iter().map(|turn| turn.commit));
        Ok(())
    };
    reach(&tips, &mut reached)?;
    for (number, turn) in session.turns.iter().rev() {
        if !reached.contains(&turn.commit) {
            reach(std::slice::from_ref(&turn.commit), &mut reached)?;
            leaves.push((Leaf::Turn(*number), turn.commit.clone()));
        }
    }
    let side = match sides {
        SideCommits::All => session.side.clone(),
        SideCommits::Copies => copies(workspace, &session)?,
    };
    leaves.extend(side.map(|side| (Leaf::Side, side)));
    Ok(leaves)
}

/// The side commits that snapshots and operations name, as copies.
fn copies(workspace: &Locked, session: &Session) -> Result<Option<Oid>> {
    let lineage = session.lineage(workspace)?;
    let named = lineage.turns().filter_map(|turn| turn.note.side.clone());
    let operations = ops::all(workspace, session)?;
    let noted = operations
        .iter()
        .filter_map(|(_, operation)| operation.from_bytes.as_ref()?.side().cloned());
    let mut sides: Vec<Oid> = named.chain(noted).collect();
    sides.sort();
    sides.dedup();
    // One that came as a copy itself goes on as that.
    let missing = workspace.git.missing(&sides)?;
    if session.shelf == Shelf::Shared && !missing.is_empty() {
        return Ok(session.side.clone());
    }
    sides.retain(|side| !missing.contains(side));
    side::copies(workspace, &session.id, &sides)
}

/// The changes that bring a session's refs below `refs/edio/shared/` from one state of things to another.
///
/// Side commits that are there stay where the new ones lack some of them.
///
/// # Errors
///
/// git failed.
pub fn changes(
    workspace: &Workspace,
    id: &SessionId,
    there: &Leaves,
    wanted: &Leaves,
) -> Result<Vec<RefChange>> {
    let mut changes = Vec::new();
    let (current, others): (Vec<_>, Vec<_>) =
        wanted.iter().partition(|(leaf, _)| *leaf == Leaf::Current);
    // Where it stands comes last: what has no `current` is not whole.
    for (leaf, oid) in others.into_iter().chain(current) {
        let before = there.iter().find(|(other, _)| other == leaf);
        let before = before.map(|(_, oid)| oid);
        let stays = match (leaf, before) {
            (_, before) if before == Some(oid) => true,
            (Leaf::Side, Some(before)) => !has_all(workspace, oid, before)?,
            _ => false,
        };
        if !stays {
            let name = refnames::name(Shelf::Shared, id, *leaf);
            changes.push(RefChange::set(name, before, oid));
        }
    }
    Ok(changes)
}

/// Does a chain of side commits have all that another has? A copy has less than what it is a copy of.
fn has_all(workspace: &Workspace, new: &Oid, old: &Oid) -> Result<bool> {
    let all = |tip| -> Result<BTreeSet<(Oid, bool)>> {
        let held = side::held(workspace, &[tip])?.into_iter();
        Ok(held.map(|held| (held.id, held.is_copy)).collect())
    };
    let (new, old) = (all(new)?, all(old)?);
    Ok(old.into_iter().all(|(id, is_copy)| {
        new.contains(&(id.clone(), false)) || is_copy && new.contains(&(id, true))
    }))
}

/// A copy of a side commit has no id that would show what is in it. So one that came earlier is not replaced by another.
///
/// # Errors
///
/// It is refused; or git failed.
pub fn refuse_other_copies(workspace: &Workspace, sides: &[&Oid]) -> Result<()> {
    if sides.is_empty() {
        return Ok(());
    }
    let here = side::held_by_shared(workspace)?;
    let copies = |held: Vec<Held>| held.into_iter().filter(|held| held.is_copy);
    let here: BTreeMap<Oid, Oid> = copies(here).map(|held| (held.id, held.tree)).collect();
    let mut brought = copies(side::held(workspace, sides)?);
    let other = brought.find(|held| here.get(&held.id).is_some_and(|tree| tree != &held.tree));
    match other {
        None => Ok(()),
        Some(held) => Err(Error::refused(format!(
            "there is another copy of {} in it than in a session that is here: nothing was taken in",
            held.id
        ))),
    }
}

/// What came of a session from another repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// It is new here.
    New,
    /// It was here, and has got more.
    More,
    /// All of it was here.
    Known,
    /// It is one of this repository's own, with all its turns.
    Own,
}

impl Came {
    /// The name that `--json` gives to it.
    pub fn name(self) -> &'static str {
        match self {
            Came::New => "new",
            Came::More => "more",
            Came::Known => "known",
            Came::Own => "own",
        }
    }
}

/// What must change for a session that was given to be here; never what others have of it.
///
/// # Errors
///
/// It is here with other turns, or it is one of this repository's own and lacks some of these; or git failed.
pub fn taken(
    workspace: &Workspace,
    sessions: &[Session],
    id: &SessionId,
    leaves: &Leaves,
    given: &State,
) -> Result<(Came, Vec<RefChange>)> {
    let here = sessions.iter().filter(|session| &session.id == id);
    let (shared, own): (Vec<&Session>, Vec<&Session>) =
        here.partition(|session| session.shelf == Shelf::Shared);
    // Without a `current` it is what a fetch that was killed has left.
    let is_whole = |session: &&&Session| session.current.is_some();
    let known = own.first().or(shared.first()).filter(is_whole);
    let relation = match known {
        Some(known) => given.relation(workspace, &State::of(workspace, known)?)?,
        None => Relation::Ahead,
    };
    refuse_other(id, &relation)?;
    if !own.is_empty() {
        return match relation {
            Relation::Same | Relation::Behind => Ok((Came::Own, Vec::new())),
            _ => Err(Error::refused(format!(
                "{id} is a session of this repository, and lacks something that was done in it elsewhere"
            ))
            .hint(format!("see what is here: edio log --session {id}"))),
        };
    }
    let there = shared.first().map(|session| session.refs.clone());
    let is_new = there.is_none();
    if relation == Relation::Behind {
        // An older state of it: what is here goes further.
        return Ok((Came::Known, Vec::new()));
    }
    let changes = changes(workspace, id, &there.unwrap_or_default(), leaves)?;
    let came = match (is_new, changes.is_empty()) {
        (true, _) => Came::New,
        (false, false) => Came::More,
        (false, true) => Came::Known,
    };
    Ok((came, changes))
}

/// Never is a session overwritten that is here with other turns.
fn refuse_other(id: &SessionId, relation: &Relation) -> Result<()> {
    let Some(what) = relation.obstacle() else {
        return Ok(());
    };
    Err(Error::refused(format!("{id} is here already, {what}"))
        .hint(format!("see what is here: edio log --session {id}")))
}
