//! What came back to a file: from HEAD, from a stash, or since somebody took back what was done.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::gitengine::{Follow, Line, Oid, RepoPath};

use super::super::ancestry;
use super::super::refnames::SessionId;
use super::super::turn::{Kind, Number, Turn};
use super::beyond::{Earlier, Elsewhere, Finds, Way};

/// How many of its earlier versions are looked at for what came back to a file.
const VERSIONS: usize = 10;

impl Elsewhere<'_> {
    /// A file that is, to the byte, as HEAD has it was checked out from there, though HEAD did not move. So were lines that
    /// HEAD has and the version before had not.
    pub(super) fn checked_out(
        &mut self,
        turn: &Turn,
        path: &RepoPath,
        lines: &[Line],
    ) -> Result<Option<Way>> {
        let Some(head) = turn.note.head.commit.clone() else {
            return Ok(None);
        };
        let (own, before) = self.around(turn, path)?;
        self.versions
            .learn(self.workspace, path, std::slice::from_ref(&head))?;
        let Some(heads) = self.versions.at(&head, path) else {
            return Ok(None);
        };
        let finds = Finds::Commits;
        let is_back = own.as_ref() == Some(&heads)
            || self.follow == Follow::Moves && self.came_back(lines, &heads, before.as_ref())?;
        Ok(is_back.then_some(Way { to: head, finds }))
    }

    /// A file that is, to the byte, as it was in an earlier turn came back from there: from a stash, or since somebody took
    /// back what was done since. So did what a person seems to have written, if it stood there not long before.
    pub(super) fn taken_up_again(
        &mut self,
        turn: &Turn,
        path: &RepoPath,
        lines: &[Line],
    ) -> Result<Option<Way>> {
        let (own, before) = self.around(turn, path)?;
        let others = self.earlier_versions(turn, path)?;
        let is_same = |(_, blob): &&(Oid, Oid)| Some(blob) == own.as_ref();
        let candidates: Vec<&(Oid, Oid)> = match turn.note.kind {
            Kind::Human => others.iter().take(VERSIONS).collect(),
            _ => Vec::new(),
        };
        for (commit, blob) in others.iter().find(is_same).into_iter().chain(candidates) {
            if self.came_back(lines, blob, before.as_ref())? {
                return Ok(Some(Way {
                    to: commit.clone(),
                    finds: Finds::Anything,
                }));
            }
        }
        Ok(None)
    }

    /// The versions of a file in earlier turns, each once, without the one just before: the last first.
    fn earlier_versions(&mut self, turn: &Turn, path: &RepoPath) -> Result<Earlier> {
        let key = (turn.commit.clone(), path.clone());
        if let Some(known) = self.earlier.get(&key) {
            return Ok(Rc::clone(known));
        }
        let versions = Rc::new(self.find_earlier_versions(turn, path)?);
        self.earlier.insert(key, Rc::clone(&versions));
        Ok(versions)
    }

    fn find_earlier_versions(&mut self, turn: &Turn, path: &RepoPath) -> Result<Vec<(Oid, Oid)>> {
        let number = turn.number().turn;
        let all = self.all_of(&turn.note.session)?.iter();
        let earlier = all.filter(|(other, _)| other.turn < number);
        let earlier: Vec<Oid> = earlier.map(|(_, commit)| commit.clone()).collect();
        self.versions.learn(self.workspace, path, &earlier)?;
        let (_, before) = self.around(turn, path)?;
        let mut seen: BTreeSet<Oid> = before.into_iter().collect();
        let mut others = Vec::new();
        for commit in earlier {
            let version = self.versions.at(&commit, path);
            others.extend(
                version
                    .filter(|blob| seen.insert(blob.clone()))
                    .map(|blob| (commit, blob)),
            );
        }
        Ok(others)
    }

    /// Did a line that the person seems to have written stand in the file not long before? Who took it up again may have
    /// written it anew, if it says too little to be known again.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn may_be_older(&mut self, turn: &Turn, path: &RepoPath, line: Line) -> Result<bool> {
        if turn.note.kind != Kind::Human || self.follow == Follow::Nothing || line.is_blank() {
            return Ok(false);
        }
        // One more of what stands there is new.
        if let (_, Some(before)) = self.around(turn, path)?
            && self.versions.has(self.workspace, &before, line)?
        {
            return Ok(false);
        }
        let head: Vec<Oid> = turn.note.head.commit.iter().cloned().collect();
        self.versions.learn(self.workspace, path, &head)?;
        let heads = head.iter().filter_map(|head| self.versions.at(head, path));
        let heads: Vec<Oid> = heads.collect();
        let others = self.earlier_versions(turn, path)?;
        let others = others.iter().take(VERSIONS).map(|(_, blob)| blob.clone());
        for blob in heads.into_iter().chain(others) {
            if self.versions.has(self.workspace, &blob, line)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The snapshots of a session, steps, too, the last first.
    fn all_of(&mut self, id: &SessionId) -> Result<&Vec<(Number, Oid)>> {
        let workspace = self.workspace;
        if !self.all.contains_key(id) {
            let session = self.session(id)?.into_iter();
            let turns = session.flat_map(|session| session.turns.values().chain(&session.current));
            let tips: Vec<&Oid> = turns.map(|turn| &turn.commit).collect();
            let history = ancestry::history(workspace, &tips)?;
            let turns = history.iter().filter_map(Turn::read);
            let own = turns.filter(|turn| &turn.note.session == id);
            let mut all: Vec<(Number, Oid)> = own.map(|t| (t.number(), t.commit)).collect();
            // A turn comes after its steps.
            all.sort_by_key(|(number, _)| {
                std::cmp::Reverse((number.turn, number.step == 0, number.step))
            });
            self.all.insert(id.clone(), all);
        }
        let all = self.all.get(id);
        all.ok_or_else(|| Error::bug("the snapshots were not looked up"))
    }

    /// What a snapshot has at a path, and what the one before has.
    fn around(&mut self, turn: &Turn, path: &RepoPath) -> Result<(Option<Oid>, Option<Oid>)> {
        let commits: Vec<Oid> = [&turn.commit]
            .into_iter()
            .chain(&turn.parent)
            .cloned()
            .collect();
        self.versions.learn(self.workspace, path, &commits)?;
        let parent = turn.parent.as_ref();
        let before = parent.and_then(|parent| self.versions.at(parent, path));
        Ok((self.versions.at(&turn.commit, path), before))
    }

    fn came_back(&mut self, lines: &[Line], earlier: &Oid, before: Option<&Oid>) -> Result<bool> {
        self.versions
            .came_back(self.workspace, lines, earlier, before)
    }
}
