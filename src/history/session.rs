//! Sessions: which one a workspace works in, and the turns of one.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use crate::error::{Error, Result};
use crate::gitengine::{Commit, DamagedRef, Oid, RefCommit, RefCommits};

use super::ancestry::{self, Ancestry};
use super::bytes::Unnoted;
use super::line::Line;
use super::ops::{self, Operation};
use super::refnames::{self, Leaf, SessionId, Shelf};
use super::state::Standing;
use super::turn::{Kind, Number, Turn};
use super::workspace::Workspace;

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

/// A ref of a session whose commit can't be read. It stays, and its number is not given out again: a copy of the
/// repository may still have what is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// What it is for.
    pub leaf: Leaf,
    /// Where it points to. `None` where the ref itself is damaged.
    pub oid: Option<Oid>,
    /// Its full name.
    pub name: String,
}

impl Damaged {
    /// Reads what the name of a ref says; `None` where it belongs to no session.
    pub fn read(damaged: DamagedRef) -> Option<(Shelf, SessionId, Self)> {
        let DamagedRef { name, oid } = damaged;
        let (shelf, id, leaf) = refnames::parse(&name)?;
        Some((shelf, id, Self { leaf, oid, name }))
    }

    /// What can't be read, and why, in a person's words.
    pub fn what(&self) -> String {
        let what = match self.leaf {
            Leaf::Turn(number) => format!("turn {number}"),
            Leaf::Current => "where the work tree stands".to_owned(),
            Leaf::Ops => "the last operation".to_owned(),
            Leaf::Side => "what is kept beside the turns".to_owned(),
        };
        match &self.oid {
            Some(oid) => format!("{what} can't be read: its commit {oid} is missing or damaged"),
            None => format!("{what} can't be read: the ref {} is damaged", self.name),
        }
    }

    /// How to go on.
    pub fn remedy(&self) -> String {
        if self.leaf == Leaf::Current {
            return "go on from the last turn that can be read: edio snapshot".to_owned();
        }
        let without = match &self.oid {
            Some(_) => format!("git update-ref --no-deref -d {}", self.name),
            None => format!("remove the file {} in the git directory", self.name),
        };
        // The line of turns ends there: what lies behind is held by the refs of the turns alone, which an accept lets go.
        let without = match self.leaf {
            Leaf::Turn(_) => format!(
                "or give what you want of the turns before it a branch (git branch NAME COMMIT), then go on without it: {without}"
            ),
            _ => format!("or go on without it, and lose what only that leads to: {without}"),
        };
        match &self.oid {
            Some(oid) => {
                format!("put the object {oid} back from a copy of the repository; {without}")
            }
            None => format!("put that ref back from a copy of the repository; {without}"),
        }
    }

    /// Says so, as the answer to whoever needs it.
    pub fn error(&self) -> Error {
        Error::cannot(self.what())
            .hint("the other turns are as they were: edio log")
            .hint(self.remedy())
    }
}

/// A commit where a turn would be, which edio does not understand. It stays, and is nothing but named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// The number of the turn that would be there.
    pub number: u32,
    /// The commit.
    pub commit: Oid,
    /// The full name of the ref.
    pub name: String,
}

impl Foreign {
    /// Reads a ref; `None` where it is no turn's, or leads to one.
    pub fn read(found: &RefCommit) -> Option<(SessionId, Self)> {
        let (_, id, leaf) = refnames::parse(&found.name)?;
        let Leaf::Turn(number) = leaf else {
            return None;
        };
        let foreign = Self {
            number,
            commit: found.commit.oid.clone(),
            name: found.name.clone(),
        };
        let turn = Turn::read(&found.commit);
        let is_turn = turn.is_some_and(|turn| turn.number() == Number::turn(number));
        (!is_turn).then_some((id, foreign))
    }

    /// What it is, in a person's words.
    pub fn what(&self) -> String {
        let Self { number, commit, .. } = self;
        format!("turn {number} is foreign: its commit {commit} is no turn {number} of edio's")
    }

    /// How to see it.
    pub fn look(&self) -> String {
        format!("see it: git show {}", self.commit)
    }

    /// How to be rid of it.
    pub fn riddance(&self) -> String {
        format!(
            "to be rid of it: git update-ref --no-deref -d {}",
            self.name
        )
    }

    fn error(&self) -> Error {
        Error::cannot(self.what())
            .hint(self.look())
            .hint(self.riddance())
    }
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
}

/// Which snapshot grew from which.
#[derive(Clone, Debug, Default)]
pub struct Lineage<'a>(BTreeMap<Oid, Cow<'a, Turn>>);

impl Lineage<'_> {
    /// The snapshot of this commit.
    pub fn of(&self, commit: &Oid) -> Option<&Turn> {
        self.0.get(commit).map(AsRef::as_ref)
    }

    /// All of them.
    pub fn turns(&self) -> impl Iterator<Item = &Turn> {
        self.0.values().map(AsRef::as_ref)
    }

    /// The snapshots on the way to this one, the nearest first, up to the numbered turn or the baseline that it is measured
    /// against.
    pub fn before(&self, turn: &Turn) -> (Vec<&Turn>, Option<&Turn>) {
        let mut steps = Vec::new();
        let mut next = turn.parent.as_ref();
        while let Some(found) = next.and_then(|oid| self.of(oid)) {
            if found.note.kind != Kind::Step {
                return (steps, Some(found));
            }
            steps.push(found);
            next = found.parent.as_ref();
        }
        (steps, None)
    }

    /// What a turn is measured against. Where that is not known, nothing counts as its change.
    pub fn tree_before(&self, turn: &Turn) -> Oid {
        let (_, before) = self.before(turn);
        before.map_or(&turn.tree, |before| &before.tree).clone()
    }

    /// The baseline of a session.
    pub fn baseline(&self, id: &SessionId) -> Option<&Turn> {
        let mut own = self.turns().filter(|turn| &turn.note.session == id);
        own.find(|turn| turn.note.kind == Kind::Baseline)
    }
}

/// Fills in the turns of those among these sessions that are not under way. Most have no refs of their own: they are
/// reached from where the session stood and from its operations.
fn follow(workspace: &Workspace, sessions: &mut [Session]) -> Result<()> {
    let put_away = |session: &&Session| session.shelf != Shelf::Active;
    let tips = sessions.iter().filter(put_away).flat_map(Session::tips);
    let tips: Vec<&Oid> = tips.collect();
    if tips.is_empty() {
        return Ok(());
    }
    let mut ancestry = Ancestry::read(workspace, &tips)?;
    for session in sessions.iter_mut().filter(|s| s.shelf != Shelf::Active) {
        for turn in ancestry.snapshots(workspace, &session.id, session.tips())? {
            match turn.note.kind {
                Kind::Baseline => session.baseline = Some(turn),
                Kind::Step => {}
                _ => session.know(turn),
            }
        }
    }
    Ok(())
}

/// There is no session in this workspace.
pub fn no_session() -> Error {
    Error::cannot("no session is under way here")
        .hint("take a turn: edio snapshot -m \"what was done\"; earlier sessions: edio log --all")
}

/// The id of the session that this workspace works in.
fn find_active(workspace: &Workspace) -> Result<Option<SessionId>> {
    if let (Some(session), Some(_)) = (&workspace.state.session, &workspace.pointed) {
        return Ok(Some(session.id.clone()));
    }
    // Nothing is remembered, or what is remembered is gone: the newest session of this work tree it is.
    let refs = workspace.git.ref_commits(&[refnames::ACTIVE])?;
    let mine = refs.whole.iter().filter_map(|found| {
        let (_, id, leaf) = refnames::parse(&found.name)?;
        let here = match leaf {
            Leaf::Current | Leaf::Turn(_) => {
                let turn = Turn::read(&found.commit)?;
                turn.note.session == id && turn.note.worktree == workspace.name
            }
            // A session that began with a turn of another one may have nothing else of its own.
            Leaf::Ops => Operation::read(&found.commit)?.worktree == workspace.name,
            Leaf::Side => false,
        };
        here.then_some((found.commit.seconds, id))
    });
    let mut mine: Vec<(i64, SessionId)> = mine.collect();
    mine.sort_unstable();
    mine.dedup();
    while let Some((_, id)) = mine.pop() {
        if !is_half_archived(workspace, &id, &refs)? {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// Is it still archived, since a process was killed that gave it its refs back, and comes to `current` last?
fn is_half_archived(workspace: &Workspace, id: &SessionId, refs: &RefCommits) -> Result<bool> {
    let current = refnames::name(Shelf::Active, id, Leaf::Current);
    let whole = refs.whole.iter().map(|found| &found.name);
    let mut names = whole.chain(refs.damaged.iter().map(|found| &found.name));
    if names.any(|name| *name == current) {
        return Ok(false);
    }
    let archived = refnames::name(Shelf::Archive, id, Leaf::Current);
    Ok(!workspace.git.ref_names(&[&archived])?.is_empty())
}

/// A ref of a session, with what it leads to.
struct Found {
    shelf: Shelf,
    id: SessionId,
    leaf: Leaf,
    commit: Commit,
    turn: Option<Turn>,
}

impl Found {
    fn read(found: RefCommit) -> Option<Self> {
        let (shelf, id, leaf) = refnames::parse(&found.name)?;
        let turn = match leaf {
            Leaf::Turn(_) | Leaf::Current => Turn::read(&found.commit),
            Leaf::Ops | Leaf::Side => None,
        };
        Some(Self {
            shelf,
            id,
            leaf,
            commit: found.commit,
            turn,
        })
    }
}

/// Sorts refs into the sessions that they belong to.
fn gather(refs: RefCommits<Option<Found>>) -> Vec<Session> {
    let mut sessions: BTreeMap<(SessionId, Shelf), Session> = BTreeMap::new();
    for found in refs.whole.into_iter().flatten() {
        let session = sessions.entry((found.id.clone(), found.shelf));
        let session = session.or_insert_with(|| Session::unread(found.id.clone(), found.shelf));
        session.add(found);
    }
    for (shelf, id, damaged) in refs.damaged.into_iter().filter_map(Damaged::read) {
        let session = sessions.entry((id.clone(), shelf));
        let session = session.or_insert_with(|| Session::unread(id, shelf));
        session.damaged.push(damaged);
    }
    let mut sessions: Vec<Session> = sessions.into_values().collect();
    for session in &mut sessions {
        if session.damaged_at(Leaf::Current).is_some() {
            session.current = session.stood_at().cloned();
        }
    }
    sessions
}

impl Session {
    fn unread(id: SessionId, shelf: Shelf) -> Self {
        Self {
            id,
            shelf,
            turns: BTreeMap::new(),
            current: None,
            ops: None,
            side: None,
            refs: Vec::new(),
            damaged: Vec::new(),
            foreign: Vec::new(),
            baseline: None,
            numbers: HashMap::new(),
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

    fn add(&mut self, found: Found) {
        let Found { commit, turn, .. } = found;
        self.refs.push((found.leaf, commit.oid.clone()));
        match found.leaf {
            // A commit that edio does not understand is not taken for a turn.
            Leaf::Turn(number) => match turn.filter(|turn| turn.number() == Number::turn(number)) {
                Some(turn) => self.know(turn),
                None => self.foreign.push(Foreign {
                    number,
                    name: refnames::name(self.shelf, &self.id, found.leaf),
                    commit: commit.oid,
                }),
            },
            Leaf::Current => self.current = turn,
            Leaf::Ops => self.ops = Some(commit),
            Leaf::Side => self.side = Some(commit.oid),
        }
    }
}
