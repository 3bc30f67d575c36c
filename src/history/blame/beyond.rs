//! From where a commit may have taken over what it seems to have brought.
//!
//! Each way is another parent that the commit could have had. git is asked once more as if it had that one, and only for
//! the lines that its real parents don't have. A way leads only to what was there before the commit, so none leads back
//! to it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::gitengine::{BlameQuestion, Follow, Line, Oid, RepoPath};

use super::super::ops::{self, Operation};
use super::super::refnames::SessionId;
use super::super::session::Session;
use super::super::turn::{Kind, Number, Turn};
use super::super::workspace::Workspace;
use super::others::{self, Other};
use super::owner::{self, Owner};
use super::versions::Versions;
use super::{Version, is_ignoring};

/// How many earlier sessions are looked at for what one began with.
const EARLIER: usize = 3;

/// How many sessions are looked at for what a commit brought.
const CANDIDATES: usize = 6;

/// Another parent that a commit could have had.
pub struct Way {
    /// The parent.
    pub to: Oid,
    pub(super) finds: Finds,
}

/// Whose lines are looked for on a way: what it finds of others' is no reason to go it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Finds {
    Commits,
    Snapshots,
    NotThePersons,
    Anything,
}

impl Way {
    /// Does it lead to a line of this owner's?
    pub fn leads_to(&self, owner: &Owner) -> bool {
        match self.finds {
            Finds::Commits => matches!(owner, Owner::Commit(_)),
            Finds::Snapshots => owner.turn().is_some(),
            Finds::NotThePersons => !matches!(owner, Owner::Human(_) | Owner::Unknown(_)),
            Finds::Anything => true,
        }
    }
}

/// Knows the ways.
pub struct Elsewhere<'a> {
    pub(super) workspace: &'a Workspace,
    version: &'a Version,
    pub(super) follow: Follow,
    others: Option<Others>,
    sessions: BTreeMap<SessionId, Option<Session>>,
    operations: BTreeMap<SessionId, Vec<Operation>>,
    /// The snapshots of sessions, the last first.
    pub(super) all: BTreeMap<SessionId, Vec<(Number, Oid)>>,
    /// Commits that were read; `None` where one is no snapshot.
    snapshots: BTreeMap<Oid, Option<Turn>>,
    pub(super) versions: Versions,
    /// The versions of a file in earlier turns, by the snapshot that was asked for.
    pub(super) earlier: BTreeMap<(Oid, RepoPath), Earlier>,
}

/// Versions of a file: the snapshots that have them, and their blobs.
pub(super) type Earlier = Rc<Vec<(Oid, Oid)>>;

struct Others {
    all: Vec<Other>,
    /// Those whose accept is in the history: what that brought is found by itself.
    landed: BTreeSet<SessionId>,
}

impl<'a> Elsewhere<'a> {
    /// Nothing is looked up yet.
    pub fn new(workspace: &'a Workspace, version: &'a Version, follow: Follow) -> Self {
        Self {
            workspace,
            version,
            follow,
            others: None,
            sessions: BTreeMap::new(),
            operations: BTreeMap::new(),
            all: BTreeMap::new(),
            earlier: BTreeMap::new(),
            snapshots: BTreeMap::new(),
            versions: Versions::default(),
        }
    }

    /// Reads what these places are, and what they grew from, at once: many are asked about one after the other.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn learn(&mut self, places: &BTreeSet<(Oid, RepoPath)>) -> Result<()> {
        self.learn_of(places.iter().map(|(commit, _)| commit))?;
        let paths: BTreeSet<&RepoPath> = places.iter().map(|(_, path)| path).collect();
        for path in paths {
            let there = places.iter().filter(|(_, other)| other == path);
            let turns = there.filter_map(|(commit, _)| self.snapshots.get(commit)?.as_ref());
            let commits = turns.flat_map(|turn| [&turn.commit].into_iter().chain(&turn.parent));
            let commits: Vec<Oid> = commits.cloned().collect();
            self.versions.learn(self.workspace, path, &commits)?;
            if places.iter().any(|(commit, _)| self.is_humans(commit)) {
                self.versions.read_all(self.workspace, path)?;
            }
        }
        Ok(())
    }

    fn learn_of<'c>(&mut self, commits: impl Iterator<Item = &'c Oid>) -> Result<()> {
        let new: BTreeSet<Oid> = self.unread(commits);
        self.read(&new)?;
        let read = new
            .iter()
            .filter_map(|oid| self.snapshots.get(oid)?.as_ref());
        let parents = self.unread(read.filter_map(|turn| turn.parent.as_ref()));
        self.read(&parents)
    }

    fn is_humans(&self, commit: &Oid) -> bool {
        let turn = self.snapshots.get(commit).and_then(Option::as_ref);
        turn.is_some_and(|turn| turn.note.kind == Kind::Human)
    }

    fn unread<'c>(&self, commits: impl Iterator<Item = &'c Oid>) -> BTreeSet<Oid> {
        let unread = commits.filter(|oid| !self.snapshots.contains_key(*oid));
        unread.cloned().collect()
    }

    fn read(&mut self, commits: &BTreeSet<Oid>) -> Result<()> {
        if commits.is_empty() {
            return Ok(());
        }
        let mut found = owner::snapshots(self.workspace, commits.iter())?;
        let read = commits.iter().map(|oid| (oid.clone(), found.remove(oid)));
        self.snapshots.extend(read);
        Ok(())
    }

    /// The ways from a commit that seems to have brought these lines, the first to be gone first.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn ways_from(&mut self, commit: &Oid, path: &RepoPath, lines: &[Line]) -> Result<Vec<Way>> {
        let ways = match self.snapshot(commit)? {
            _ if self.version.is_unsaved && commit == &self.version.commit => self.of_unsaved()?,
            Some(turn) if turn.note.kind == Kind::Baseline => self.earlier(&turn)?,
            Some(turn) => {
                let mut ways = self.of_snapshot(&turn)?;
                ways.extend(self.checked_out(&turn, path, lines)?);
                if self.follow == Follow::Moves {
                    ways.extend(self.taken_up_again(&turn, path, lines)?);
                }
                ways
            }
            None => self.of_commit(commit, path)?,
        };
        let mut sound = Vec::new();
        for way in ways {
            let is_there = self.workspace.git.missing(std::slice::from_ref(&way.to))?;
            if is_there.is_empty() && !self.workspace.git.is_ancestor(commit, &way.to)? {
                sound.push(way);
            }
        }
        Ok(sound)
    }

    fn snapshot(&mut self, commit: &Oid) -> Result<Option<Turn>> {
        self.learn_of(std::iter::once(commit))?;
        Ok(self.snapshots.get(commit).cloned().flatten())
    }

    /// HEAD may have moved since the last snapshot.
    fn of_unsaved(&mut self) -> Result<Vec<Way>> {
        let commits = self
            .workspace
            .git
            .commits(std::slice::from_ref(&self.version.commit))?;
        let parent = commits.first().and_then(|commit| commit.parents.first());
        let before = parent.map(|parent| self.snapshot(parent)).transpose()?;
        let Some(before) = before.flatten() else {
            return Ok(Vec::new());
        };
        let (_, head) = self.workspace.git.head()?;
        Ok(moved_head(before.note.head.commit.as_ref(), head))
    }

    fn of_snapshot(&mut self, turn: &Turn) -> Result<Vec<Way>> {
        let before = turn.parent.as_ref().map(|parent| self.snapshot(parent));
        let Some(before) = before.transpose()?.flatten() else {
            return Ok(Vec::new());
        };
        let head = turn.note.head.commit.clone();
        let mut ways = moved_head(before.note.head.commit.as_ref(), head);
        ways.extend(self.taken_back(turn)?);
        if before.note.kind == Kind::Baseline && !self.was_seen(&before)? {
            ways.extend(self.earlier(turn)?);
        }
        Ok(ways)
    }

    /// What a restore of some paths, or a revert, brought was there before.
    fn taken_back(&mut self, turn: &Turn) -> Result<Option<Way>> {
        let workspace = self.workspace;
        let made_it = |operation: &&Operation| {
            operation.deed.ends_anew()
                && operation.tree == turn.tree
                && Some(&operation.from) == turn.parent.as_ref()
        };
        let id = &turn.note.session;
        let Some(operation) = self.operations(id)?.iter().find(made_it).cloned() else {
            return Ok(None);
        };
        let Some(session) = self.session(id)? else {
            return Ok(None);
        };
        let to = match operation.undoes {
            Some(reverted) => {
                let commits = workspace.git.commits(&[reverted])?;
                let first = commits.first().and_then(Turn::read);
                first.map(|first| session.before(workspace, &first))
            }
            None => None,
        };
        let finds = Finds::Anything;
        Ok(Some(match to.transpose()? {
            Some(before) => Way {
                to: before.commit,
                finds,
            },
            None => Way {
                to: operation.to,
                finds,
            },
        }))
    }

    fn operations(&mut self, id: &SessionId) -> Result<&Vec<Operation>> {
        let workspace = self.workspace;
        if !self.operations.contains_key(id) {
            let operations = match self.session(id)? {
                Some(session) => ops::all(workspace, session)?,
                None => Vec::new(),
            };
            let operations = operations.into_iter().map(|(_, operation)| operation);
            self.operations.insert(id.clone(), operations.collect());
        }
        let operations = self.operations.get(id);
        operations.ok_or_else(|| Error::bug("the operations were not looked up"))
    }

    /// Was the work tree looked at when a session began?
    fn was_seen(&mut self, baseline: &Turn) -> Result<bool> {
        let goes_on = |other: &Other| {
            let last = other.last.as_ref();
            last.is_some_and(|last| last.goes_on && last.tree == baseline.tree)
        };
        Ok(baseline.note.work.ending.is_none() && !self.others()?.all.iter().any(goes_on))
    }

    /// What was not committed when a session began may be an earlier session's.
    fn earlier(&mut self, turn: &Turn) -> Result<Vec<Way>> {
        let is_earlier = |other: &&Other| {
            other.id != turn.note.session
                && other.current.note.worktree == turn.note.worktree
                && (other.current.seconds < turn.seconds || other.ended_before(turn))
        };
        let earlier = self.others()?.all.iter().filter(is_earlier);
        let way = |other: &Other| Way {
            to: other.current.commit.clone(),
            finds: Finds::Anything,
        };
        Ok(earlier.take(EARLIER).map(way).collect())
    }

    /// A commit of the user's may be what a session was accepted as, or hold what was done in one.
    fn of_commit(&mut self, commit: &Oid, path: &RepoPath) -> Result<Vec<Way>> {
        let others = self.others()?;
        let mut accepted = others.all.iter().filter_map(Other::accepted);
        if let Some((_, to)) = accepted.find(|(after, _)| *after == commit) {
            return Ok(vec![Way {
                to: to.clone(),
                finds: Finds::Snapshots,
            }]);
        }
        let commits = self.workspace.git.commits(std::slice::from_ref(commit))?;
        let made = commits.first().map_or(0, |commit| commit.seconds);
        let others = self.others()?;
        let candidates = others.all.iter().filter(|other| {
            other.id.began().is_none_or(|began| began <= made) && !others.landed.contains(&other.id)
        });
        let candidates: Vec<Other> = candidates.cloned().collect();
        self.by_content(commit, path, candidates)
    }

    fn by_content(
        &mut self,
        commit: &Oid,
        path: &RepoPath,
        candidates: Vec<Other>,
    ) -> Result<Vec<Way>> {
        if candidates.is_empty() {
            return Ok(Vec::new());
        }
        let tips = candidates.iter().map(|other| &other.current.commit);
        let commits: Vec<&Oid> = [commit].into_iter().chain(tips).collect();
        let mut blobs = self.workspace.git.blobs_at(&commits, path)?.into_iter();
        let Some(blob) = blobs.next().flatten() else {
            return Ok(Vec::new());
        };
        let mut candidates: Vec<(bool, Other)> = candidates
            .into_iter()
            .zip(blobs)
            .map(|(other, theirs)| (theirs.as_ref() == Some(&blob), other))
            .collect();
        candidates.sort_by_key(|(is_same, _)| !is_same);
        let mut ways = Vec::new();
        for (is_same, other) in candidates.into_iter().take(CANDIDATES) {
            let Some(to) = self.last_without(&other, commit)? else {
                continue;
            };
            if is_same || self.is_mostly_in(&other, &to, commit, path)? {
                let finds = match other.accepted() {
                    // It is that accept, rebased, amended or squashed.
                    Some(_) => Finds::Snapshots,
                    // What the person had written is as well the commit's.
                    None => Finds::NotThePersons,
                };
                ways.push(Way { to, finds });
            }
        }
        Ok(ways)
    }

    /// The last snapshot of a session that was taken before this commit was there: a step, where an agent has committed
    /// what it did itself.
    fn last_without(&mut self, other: &Other, commit: &Oid) -> Result<Option<Oid>> {
        let workspace = self.workspace;
        let Some(session) = self.session(&other.id)? else {
            return Ok(None);
        };
        let mut asked = BTreeMap::new();
        let mut lacks_it = |turn: &Turn| -> Result<bool> {
            let Some(head) = turn.note.head.commit.clone() else {
                return Ok(true);
            };
            Ok(match asked.get(&head) {
                Some(known) => *known,
                None => {
                    let lacks_it = !workspace.git.is_ancestor(commit, &head)?;
                    asked.insert(head, lacks_it);
                    lacks_it
                }
            })
        };
        if let Some((_, accepted)) = other.accepted() {
            // Arms that were left are no part of it, however high their numbers.
            let line = workspace.git.first_parents(accepted)?;
            for turn in line.iter().filter_map(Turn::read) {
                if lacks_it(&turn)? {
                    return Ok(Some(turn.commit));
                }
            }
            return Ok(None);
        }
        let open = session.current.iter().filter(|t| t.note.kind == Kind::Step);
        let mut after = None;
        for turn in open.chain(session.turns.values().rev()) {
            match (lacks_it(turn)?, after) {
                (true, None) => return Ok(Some(turn.commit.clone())),
                (true, Some(_)) => break,
                (false, _) => after = Some(turn),
            }
        }
        let Some(after) = after else {
            return Ok(None);
        };
        let way_there = workspace.git.first_parents(&after.commit)?;
        for turn in way_there.iter().filter_map(Turn::read) {
            if lacks_it(&turn)? {
                return Ok(Some(turn.commit));
            }
        }
        Ok(None)
    }

    /// Has a commit at least half of the lines that a session wrote into a file? Two who write the same file have a few
    /// lines in common, and that says nothing.
    fn is_mostly_in(
        &self,
        other: &Other,
        tip: &Oid,
        commit: &Oid,
        path: &RepoPath,
    ) -> Result<bool> {
        let git = &self.workspace.git;
        if git.blobs_at(&[tip], path)? == [None] {
            return Ok(false);
        }
        let question = BlameQuestion {
            commit: tip,
            path,
            lines: &[],
            follow: Follow::Moves,
            parent: None,
            is_ignoring: is_ignoring(self.workspace),
        };
        let written = git.blame(&question)?;
        let taken_over = git.blame(&BlameQuestion {
            commit,
            parent: Some(tip),
            ..question
        })?;
        let commits: BTreeSet<&Oid> = written.brought.iter().map(|b| &b.commit).collect();
        let snapshots = owner::snapshots(self.workspace, commits.into_iter())?;
        let is_theirs = |oid: &Oid| {
            let turn = snapshots.get(oid);
            turn.is_some_and(|turn| turn.note.session == other.id)
        };
        let count = |blame: &crate::gitengine::Blame| -> u64 {
            let theirs = blame.brought.iter().filter(|b| is_theirs(&b.commit));
            theirs.map(|b| u64::from(b.count)).sum()
        };
        let (all, found) = (count(&written), count(&taken_over));
        Ok(all > 0 && found * 2 >= all)
    }

    fn others(&mut self) -> Result<&Others> {
        if self.others.is_none() {
            let all = others::all(self.workspace)?;
            let accepted: Vec<&Oid> = all.iter().filter_map(|o| Some(o.accepted()?.0)).collect();
            let lost = self
                .workspace
                .git
                .not_in_history(&accepted, &self.version.commit)?;
            let has_landed = |other: &&Other| {
                let accepted = other.accepted();
                accepted.is_some_and(|(after, _)| !lost.contains(after))
            };
            let landed = all
                .iter()
                .filter(has_landed)
                .map(|o| o.id.clone())
                .collect();
            self.others = Some(Others { all, landed });
        }
        let others = self.others.as_ref();
        others.ok_or_else(|| Error::bug("the sessions were not looked up"))
    }

    pub(super) fn session(&mut self, id: &SessionId) -> Result<Option<&Session>> {
        if !self.sessions.contains_key(id) {
            let found = Session::find(self.workspace, id)?;
            self.sessions.insert(id.clone(), found);
        }
        Ok(self.sessions.get(id).and_then(Option::as_ref))
    }
}

/// What came with another HEAD is found there.
fn moved_head(before: Option<&Oid>, now: Option<Oid>) -> Vec<Way> {
    let moved = now.filter(|now| Some(now) != before);
    let way = |to| Way {
        to,
        finds: Finds::Commits,
    };
    moved.into_iter().map(way).collect()
}
