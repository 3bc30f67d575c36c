//! Sessions: which one a workspace works in, and the turns of one.

use std::collections::{BTreeMap, HashMap};

use crate::error::{Error, Result};
use crate::gitengine::{Commit, Oid, RefCommit};

use super::ancestry::Ancestry;
use super::bytes::Unnoted;
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
        let refs = workspace.git.ref_commits(&[&folder])?;
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
        let refs = workspace.git.ref_commits(&Shelf::ALL.map(Shelf::folder))?;
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
            Error::cannot(format!("there is no turn {number}")).hint(self.which_turns())
        })
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
        let ways = [first.and_then(|turn| turn.parent.clone()), began];
        for way in ways {
            if let Some(baseline) = self.baseline_from(workspace, way)? {
                return Ok(baseline);
            }
        }
        Err(Error::cannot(format!(
            "the baseline of {} can't be found",
            self.id
        )))
    }

    /// Walks back from a snapshot to the baseline, within this session.
    fn baseline_from(&self, workspace: &Workspace, way: Option<Oid>) -> Result<Option<Turn>> {
        let mut next = way;
        while let Some(oid) = next {
            let commits = workspace.git.commits(std::slice::from_ref(&oid))?;
            let turn = commits.first().and_then(Turn::read);
            match turn.filter(|turn| turn.note.session == self.id) {
                Some(turn) if turn.note.kind == Kind::Baseline => return Ok(Some(turn)),
                Some(turn) => next = turn.parent,
                None => break,
            }
        }
        Ok(None)
    }

    /// The snapshot that a turn is measured against: the numbered turn before it on its line, or the baseline.
    ///
    /// # Errors
    ///
    /// It can't be reached any more, or git failed.
    pub fn before(&self, workspace: &Workspace, turn: &Turn) -> Result<Turn> {
        let mut next = turn.parent.clone();
        while let Some(oid) = next {
            if let Some(before) = self.by_commit(&oid) {
                return Ok(before.clone());
            }
            let commits = workspace.git.commits(std::slice::from_ref(&oid))?;
            match commits.first().and_then(Turn::read) {
                Some(found) if found.note.kind == Kind::Step => next = found.parent,
                Some(found) => return Ok(found),
                None => break,
            }
        }
        Err(Error::cannot(format!(
            "what turn {} grew from can't be found",
            turn.number()
        )))
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
        for commit in workspace.git.history(&tips)? {
            let turn = Turn::read(&commit).filter(|turn| turn.note.session == self.id);
            let numbered = |turn: &Turn| !matches!(turn.note.kind, Kind::Step | Kind::Baseline);
            if let Some(turn) = turn.filter(numbered)
                && !session.turns.contains_key(&turn.number().turn)
            {
                session.know(turn);
            }
        }
        Ok(session)
    }

    /// The steps of a turn, the first one first; those on the way to a turn that is still to come where it is the next.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn steps(&self, workspace: &Workspace, number: u32) -> Result<Vec<Turn>> {
        let tip = match self.turns.get(&number) {
            Some(turn) => turn.parent.clone(),
            None => self.current.as_ref().map(|turn| turn.commit.clone()),
        };
        let mut steps = Vec::new();
        let mut next = tip.filter(|oid| self.by_commit(oid).is_none());
        while let Some(oid) = next {
            let commits = workspace.git.commits(std::slice::from_ref(&oid))?;
            let step = commits.first().and_then(Turn::read);
            let Some(step) = step.filter(|turn| turn.note.kind == Kind::Step) else {
                break;
            };
            next = step.parent.clone();
            steps.push(step);
        }
        steps.reverse();
        Ok(steps)
    }

    /// All its snapshots, steps and baseline too, by commit.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn lineage(&self, workspace: &Workspace) -> Result<Lineage> {
        let tips: Vec<&Oid> = self.tips().collect();
        let commits = workspace.git.history(&tips)?;
        let turns = commits.iter().filter_map(Turn::read);
        // What a branch of the user's holds is not in that.
        let known = self.known().cloned();
        let turns = turns.chain(known);
        Ok(Lineage(
            turns.map(|turn| (turn.commit.clone(), turn)).collect(),
        ))
    }

    /// Where its refs point to, but for the one of the side commits: what leads to its snapshots.
    pub fn tips(&self) -> impl Iterator<Item = &Oid> {
        let refs = self.refs.iter().filter(|(leaf, _)| *leaf != Leaf::Side);
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
    pub fn lineage_of_turns(&self, workspace: &Workspace) -> Result<Lineage> {
        let known = self.known().map(|turn| (turn.commit.clone(), turn.clone()));
        let known: BTreeMap<Oid, Turn> = known.collect();
        let is_known = |turn: &&Turn| {
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
        // After a restore from another session, `current` is a turn of that one.
        // A step bears the number of a turn that is still to come.
        let own = self
            .current
            .iter()
            .filter(|turn| turn.note.session == self.id && turn.note.kind != Kind::Step);
        own.map(|turn| turn.number().turn).fold(turns, u32::max)
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
            last: self.last(),
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
pub struct Lineage(BTreeMap<Oid, Turn>);

impl Lineage {
    /// The snapshot of this commit.
    pub fn of(&self, commit: &Oid) -> Option<&Turn> {
        self.0.get(commit)
    }

    /// All of them.
    pub fn turns(&self) -> impl Iterator<Item = &Turn> {
        self.0.values()
    }

    /// The snapshots on the way to this one, the nearest first, up to the numbered turn or the baseline that it is measured
    /// against.
    pub fn before(&self, turn: &Turn) -> (Vec<&Turn>, Option<&Turn>) {
        let mut steps = Vec::new();
        let mut next = turn.parent.as_ref();
        while let Some(found) = next.and_then(|oid| self.0.get(oid)) {
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
        let mut own = self.0.values().filter(|turn| &turn.note.session == id);
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
    let mine = refs.iter().filter_map(|found| {
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
fn is_half_archived(workspace: &Workspace, id: &SessionId, refs: &[RefCommit]) -> Result<bool> {
    let current = refnames::name(Shelf::Active, id, Leaf::Current);
    if refs.iter().any(|found| found.name == current) {
        return Ok(false);
    }
    let archived = refnames::name(Shelf::Archive, id, Leaf::Current);
    Ok(!workspace.git.ref_names(&[&archived])?.is_empty())
}

/// Sorts refs into the sessions that they belong to.
fn gather(refs: Vec<RefCommit>) -> Vec<Session> {
    let mut sessions: BTreeMap<(SessionId, Shelf), Session> = BTreeMap::new();
    for found in refs {
        let Some((shelf, id, leaf)) = refnames::parse(&found.name) else {
            continue;
        };
        let session = sessions
            .entry((id.clone(), shelf))
            .or_insert_with(|| Session {
                id,
                shelf,
                turns: BTreeMap::new(),
                current: None,
                ops: None,
                side: None,
                refs: Vec::new(),
                baseline: None,
                numbers: HashMap::new(),
            });
        session.add(leaf, found.commit);
    }
    sessions.into_values().collect()
}

impl Session {
    fn add(&mut self, leaf: Leaf, commit: Commit) {
        self.refs.push((leaf, commit.oid.clone()));
        match leaf {
            // A commit that edio does not understand is not taken for a turn.
            Leaf::Turn(number) => {
                let turn = Turn::read(&commit);
                if let Some(turn) = turn.filter(|turn| turn.number() == Number::turn(number)) {
                    self.know(turn);
                }
            }
            Leaf::Current => self.current = Turn::read(&commit),
            Leaf::Ops => self.ops = Some(commit),
            Leaf::Side => self.side = Some(commit.oid),
        }
    }
}
