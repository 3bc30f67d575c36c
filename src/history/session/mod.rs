//! Sessions: which one a workspace works in, and the turns of one.

mod damaged;
mod foreign;
mod lineage;
mod read;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use self::read::{Found, find_active, follow, gather};
use super::ancestry;
use super::bytes::Unnoted;
use super::line::Line;
use super::ops::{self, Operation};
use super::refnames::{self, Leaf, SessionId, Shelf};
use super::state::Standing;
use super::turn::{Kind, Turn};
use super::workspace::Workspace;
use crate::error::{Error, Result};
use crate::gitengine::{Commit, Oid};

pub use self::damaged::Damaged;
pub use self::foreign::Foreign;
pub use self::lineage::Lineage;

/// A session with everything that its refs point to.
#[derive(Clone, Debug)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Under way, or put away?
    pub shelf: Shelf,
    /// Its turns, by number. In one that is not under way, those that can be reached.
    pub turns: BTreeMap<u32, Turn>,
    /// Where the work tree stands.
    pub current: Option<Turn>,
    /// The last operation.
    pub ops: Option<Commit>,
    /// The last side commit.
    pub side: Option<Oid>,
    /// Where its refs point to, by what they are for.
    pub refs: Vec<(Leaf, Oid)>,
    /// Those of its refs that lead to nothing that can be read.
    pub damaged: Vec<Damaged>,
    /// What stands where its turns do, and is none.
    pub foreign: Vec<Foreign>,
    /// The baseline, once it was looked up.
    pub baseline: Option<Turn>,
    /// The numbers of its turns, by commit: to look through all turns for each would take their square.
    pub numbers: HashMap<Oid, u32>,
}

impl Session {
    /// The session that this workspace works in, if there is one.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn active(workspace: &Workspace) -> Result<Option<Self>> {
        match find_active(workspace)? {
            Some(id) => Self::load(workspace, Shelf::Active, &id),
            None => Ok(None),
        }
    }

    /// The session that this workspace works in.
    ///
    /// # Errors
    ///
    /// There is none, or git failed.
    pub fn active_or_error(workspace: &Workspace) -> Result<Self> {
        Self::active(workspace)?.ok_or_else(no_session)
    }

    /// The session that was asked for by its id, wherever it is, or else the workspace's own.
    ///
    /// # Errors
    ///
    /// There is none, or git failed.
    pub fn wanted(workspace: &Workspace, id: Option<&SessionId>) -> Result<Self> {
        let Some(id) = id else {
            return Self::active_or_error(workspace);
        };
        Self::find(workspace, id)?.ok_or_else(|| {
            Error::cannot(format!("there is no session {id}")).hint("edio log --all lists them")
        })
    }

    /// The session of this id, wherever it is; `None` where there is none.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn find(workspace: &Workspace, id: &SessionId) -> Result<Option<Self>> {
        for shelf in Shelf::ALL {
            if let Some(session) = Self::load(workspace, shelf, id)? {
                return Ok(Some(session));
            }
        }
        Ok(None)
    }

    /// Reads a session, turns and all; `None` where it has no refs.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn load(workspace: &Workspace, shelf: Shelf, id: &SessionId) -> Result<Option<Self>> {
        let folder = refnames::folder(shelf, id);
        let refs = workspace.git.read_ref_commits(&[&folder], Found::read)?;
        let mut sessions = gather(refs);
        let Some(mut session) = sessions.pop() else {
            return Ok(None);
        };
        follow(workspace, std::slice::from_mut(&mut session))?;
        Ok(Some(session))
    }

    /// All sessions of the repository, in the order of their ids.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn all(workspace: &Workspace) -> Result<Vec<Self>> {
        let shelves = Shelf::ALL.map(Shelf::folder);
        let refs = workspace.git.read_ref_commits(&shelves, Found::read)?;
        let mut sessions = gather(refs);
        follow(workspace, &mut sessions)?;
        Ok(sessions)
    }

    /// The turn of this number. 0 is the baseline.
    ///
    /// # Errors
    ///
    /// There is none, or git failed.
    pub fn turn(&self, workspace: &Workspace, number: u32) -> Result<Turn> {
        if number == 0 {
            return self.find_baseline(workspace);
        }
        self.turns.get(&number).cloned().ok_or_else(|| {
            let none =
                || Error::cannot(format!("there is no turn {number}")).hint(self.which_turns());
            let damaged = self.damaged_at(Leaf::Turn(number)).map(Damaged::error);
            let foreign = || self.foreign_at(number).map(Foreign::error);
            damaged.or_else(foreign).unwrap_or_else(none)
        })
    }

    /// What is known of a ref that can't be read.
    pub fn damaged_at(&self, leaf: Leaf) -> Option<&Damaged> {
        self.damaged.iter().find(|damaged| damaged.leaf == leaf)
    }

    /// What stands where the turn of this number would, and is none.
    pub fn foreign_at(&self, number: u32) -> Option<&Foreign> {
        self.foreign.iter().find(|foreign| foreign.number == number)
    }

    /// Refuses where something of the session can't be read: what is put away or written anew without that could be lost.
    ///
    /// # Errors
    ///
    /// Something can't be read.
    pub fn refuse_damaged(&self) -> Result<()> {
        self.damaged
            .first()
            .map_or(Ok(()), |damaged| Err(damaged.error()))
    }

    /// The baseline: turn 0.
    ///
    /// # Errors
    ///
    /// It can't be reached any more, or git failed.
    pub fn find_baseline(&self, workspace: &Workspace) -> Result<Turn> {
        let is_ours = |turn: &&Turn| turn.note.session == self.id;
        let known = self.baseline.iter().chain(&self.current).filter(is_ours);
        if let Some(baseline) = known.into_iter().find(|t| t.note.kind == Kind::Baseline) {
            return Ok(baseline.clone());
        }
        let first = self.turns.values().find(is_ours);
        let operations = ops::all(workspace, self)?;
        // A session that began with a turn of another one has its baseline where its first operation began.
        let began = operations
            .first()
            .map(|(_, operation)| operation.from.clone());
        let ways = [
            first.map(|turn| self.snapshots_before(workspace, turn)),
            Some(Line::at(workspace, self, began)),
        ];
        for way in ways.into_iter().flatten() {
            if let Some(baseline) = self.baseline_on(way)? {
                return Ok(baseline);
            }
        }
        Err(Error::cannot(format!(
            "the baseline of {} can't be found",
            self.id
        )))
    }

    /// The baseline at the end of a line, within this session.
    fn baseline_on(&self, line: Line<'_>) -> Result<Option<Turn>> {
        for turn in line {
            let turn = turn?;
            if turn.note.session != self.id {
                break;
            }
            if turn.note.kind == Kind::Baseline {
                return Ok(Some(turn));
            }
        }
        Ok(None)
    }

    /// The turn that can't be read and that this one grew from.
    pub fn damaged_before(&self, turn: &Turn) -> Option<&Damaged> {
        let mut damaged = self.damaged.iter();
        damaged.find(|damaged| damaged.oid.is_some() && damaged.oid == turn.parent)
    }

    /// The same session with those turns, too, whose refs were dropped from the middle.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn with_unnamed(&self, workspace: &Workspace) -> Result<Self> {
        let mut session = self.clone();
        if self.turns.len() as u64 >= u64::from(self.last()) {
            return Ok(session);
        }
        let tips: Vec<&Oid> = self.refs.iter().map(|(_, oid)| oid).collect();
        for commit in ancestry::history(workspace, &tips)? {
            let turn = Turn::read(&commit).filter(|turn| turn.note.session == self.id);
            let numbered = |turn: &Turn| turn.note.kind.is_numbered();
            if let Some(turn) = turn.filter(numbered)
                && !session.turns.contains_key(&turn.number().turn)
            {
                session.know(turn);
            }
        }
        Ok(session)
    }

    /// All its snapshots, steps and baseline too, by commit.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn lineage(&self, workspace: &Workspace) -> Result<Lineage<'_>> {
        let tips: Vec<&Oid> = self.tips().collect();
        let commits = ancestry::history(workspace, &tips)?;
        let turns = commits.iter().filter_map(Turn::read).map(Cow::Owned);
        // What a branch of the user's holds is not in that.
        let turns = turns.chain(self.known().map(Cow::Borrowed));
        Ok(Lineage(
            turns.map(|turn| (turn.commit.clone(), turn)).collect(),
        ))
    }

    /// Where its refs point to, but for the one of the side commits: what leads to its snapshots.
    pub fn tips(&self) -> impl Iterator<Item = &Oid> {
        let refs = self.refs.iter().filter(|(leaf, _)| match leaf {
            Leaf::Turn(number) => self.foreign_at(*number).is_none(),
            leaf => *leaf != Leaf::Side,
        });
        refs.map(|(_, oid)| oid)
    }

    fn known(&self) -> impl Iterator<Item = &Turn> {
        let turns = self.turns.values();
        turns.chain(&self.baseline).chain(&self.current)
    }

    /// The same, though without steps: nothing need be asked for where there are none.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn lineage_of_turns(&self, workspace: &Workspace) -> Result<Lineage<'_>> {
        let known = self.known();
        let known = known.map(|turn| (turn.commit.clone(), Cow::Borrowed(turn)));
        let known: BTreeMap<Oid, Cow<'_, Turn>> = known.collect();
        let is_known = |turn: &&Cow<'_, Turn>| {
            turn.parent
                .as_ref()
                .is_none_or(|oid| known.contains_key(oid))
        };
        // The first of them grew from the baseline, which has no ref.
        let first = known.values().filter(|turn| !is_known(turn)).count() <= 1;
        match first && !known.values().any(|turn| turn.note.kind == Kind::Step) {
            true => Ok(Lineage(known)),
            false => self.lineage(workspace),
        }
    }

    /// The numbered turn, or baseline, of this commit, among those that are loaded.
    pub fn by_commit(&self, oid: &Oid) -> Option<&Turn> {
        let numbered = self.numbers.get(oid).and_then(|it| self.turns.get(it));
        let others = self.baseline.iter().chain(&self.current);
        numbered
            .into_iter()
            .chain(others)
            .filter(|turn| turn.note.kind != Kind::Step)
            .find(|turn| &turn.commit == oid)
    }

    /// Where the work tree stands.
    ///
    /// # Errors
    ///
    /// The session has lost its `current`.
    pub fn current(&self) -> Result<&Turn> {
        let lost = || {
            Error::cannot(format!("the session {} has no current turn", self.id))
                .hint("take a new turn: edio snapshot")
        };
        self.current.as_ref().ok_or_else(lost)
    }

    /// The highest number that was given out.
    pub fn last(&self) -> u32 {
        let turns = self.turns.keys().next_back().copied().unwrap_or(0);
        let damaged = self
            .damaged
            .iter()
            .filter_map(|damaged| match damaged.leaf {
                Leaf::Turn(number) => Some(number),
                _ => None,
            });
        let turns = damaged.fold(turns, u32::max);
        // After a restore from another session, `current` is a turn of that one.
        // A step bears the number of a turn that is still to come.
        let own = self
            .current
            .iter()
            .filter(|turn| turn.note.session == self.id && turn.note.kind != Kind::Step);
        own.map(|turn| turn.number().turn).fold(turns, u32::max)
    }

    /// The highest number that must not be given out again.
    fn last_taken(&self) -> u32 {
        let foreign = self.foreign.iter().map(|foreign| foreign.number);
        foreign.fold(self.last(), u32::max)
    }

    /// Knows a turn that was just taken.
    pub fn grow(&mut self, turn: &Turn) {
        self.refs
            .push((Leaf::Turn(turn.number().turn), turn.commit.clone()));
        self.know(turn.clone());
        self.current = Some(turn.clone());
    }

    fn know(&mut self, turn: Turn) {
        let number = turn.number().turn;
        self.numbers.insert(turn.commit.clone(), number);
        self.turns.insert(number, turn);
    }

    /// Where the session stands, in short.
    ///
    /// # Errors
    ///
    /// The session has lost its `current`, or git failed.
    pub fn standing(&self, workspace: &Workspace) -> Result<Standing> {
        let current = self.current()?;
        let base = match current.note.kind {
            Kind::Step => self.before(workspace, current)?.tree,
            _ => current.tree.clone(),
        };
        Ok(Standing {
            id: self.id.clone(),
            current: current.commit.clone(),
            number: current.number(),
            side: current.note.side.clone(),
            unnoted: Unnoted::of(current),
            all_held: current.note.skipped_count == 0,
            base,
            last: self.last_taken(),
        })
    }

    /// A sentence that names the turns there are.
    pub fn which_turns(&self) -> String {
        let first = self.turns.keys().next();
        match (first, self.turns.keys().next_back()) {
            (Some(first), Some(last)) if first == last => {
                format!("there is turn {first} (and 0, the start): edio log")
            }
            (Some(first), Some(last)) if self.turns.len() as u64 <= u64::from(last - first) => {
                format!("there are turns from {first} to {last}, not all of them: edio log")
            }
            (Some(first), Some(last)) => {
                format!("there are turns {first} to {last} (and 0, the start): edio log")
            }
            _ => "there is no turn yet: edio snapshot takes one".to_owned(),
        }
    }

    /// The last operation, if there was one, and it can be read.
    pub fn last_operation(&self) -> Option<Operation> {
        self.ops.as_ref().and_then(Operation::read)
    }

    /// The last turn, where no operation came after it.
    pub fn turn_since_operation(&self) -> Option<&Turn> {
        let known = self.last_operation().map_or(0, |operation| operation.last);
        let turn = self.turns.values().next_back();
        turn.filter(|turn| turn.number().turn > known)
    }

    /// Where it stood, as far as that can be told without its `current`: at the last turn, or where an operation since has
    /// led.
    pub fn stood_at(&self) -> Option<&Turn> {
        let led = || self.by_commit(&self.last_operation()?.to);
        let since = self.turn_since_operation().or_else(led);
        since.or(self.turns.values().next_back())
    }
}

/// There is no session in this workspace.
pub fn no_session() -> Error {
    Error::cannot("no session is under way here")
        .hint("take a turn: edio snapshot -m \"what was done\"; earlier sessions: edio log --all")
}
