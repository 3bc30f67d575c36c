//! The line back from a snapshot: what it grew from, what that grew from, and so on.
//!
//! It leads on into the session whose turn this one began with, and ends with a baseline. Where something can't be read, it
//! ends there. What the session has loaded is not read again; the rest is read many at a time: neither steps nor turns make
//! the processes more.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::gitengine::Oid;

use super::session::Session;
use super::turn::{Kind, Turn};
use super::workspace::Workspace;

/// How many snapshots are read at first, where there are steps: hardly a turn has more.
const FIRST: usize = 128;
/// How many times as many are read each time after that: the further it leads, the further it is likely to lead.
const GROWTH: usize = 4;

/// The snapshots on a line, steps and all, the nearest first.
pub struct Line<'a> {
    workspace: &'a Workspace,
    session: &'a Session,
    next: Option<Oid>,
    read: HashMap<Oid, Turn>,
    most: usize,
}

impl<'a> Line<'a> {
    /// The line from this commit on, itself first.
    pub fn at(workspace: &'a Workspace, session: &'a Session, commit: Option<Oid>) -> Self {
        Self {
            workspace,
            session,
            next: commit,
            read: HashMap::new(),
            most: 1,
        }
    }

    /// Goes on from a snapshot. What a baseline stands on is the user's.
    fn go_on(&mut self, from: &Turn) {
        let parent = from.parent.as_ref();
        self.next = parent.filter(|_| from.note.kind != Kind::Baseline).cloned();
        if from.note.kind == Kind::Step || from.note.steps > 0 {
            self.most = self.most.max(FIRST);
        }
    }

    fn find(&mut self, commit: &Oid) -> Result<Option<Turn>> {
        if let Some(known) = self.session.by_commit(commit) {
            return Ok(Some(known.clone()));
        }
        if !self.read.contains_key(commit) {
            self.read_on(commit)?;
        }
        Ok(self.read.remove(commit))
    }

    fn read_on(&mut self, from: &Oid) -> Result<()> {
        let git = &self.workspace.git;
        let commits = git.nearest_first_parents(from, self.most)?;
        let turns = commits.iter().map_while(Turn::read);
        self.read = turns.map(|turn| (turn.commit.clone(), turn)).collect();
        self.most = (self.most * GROWTH).max(FIRST);
        Ok(())
    }
}

impl Iterator for Line<'_> {
    type Item = Result<Turn>;

    fn next(&mut self) -> Option<Self::Item> {
        let commit = self.next.take()?;
        let turn = self.find(&commit).transpose()?;
        if let Ok(turn) = &turn {
            self.go_on(turn);
        }
        Some(turn)
    }
}

impl Session {
    /// The snapshots that one grew from, steps and all, the nearest first.
    pub fn snapshots_before<'a>(&'a self, workspace: &'a Workspace, turn: &Turn) -> Line<'a> {
        let mut line = Line::at(workspace, self, None);
        line.go_on(turn);
        line
    }

    /// The numbered turns that a snapshot grew from, the nearest first, and the baseline. It ends early where something
    /// can't be read.
    pub fn line<'a>(
        &'a self,
        workspace: &'a Workspace,
        turn: &Turn,
    ) -> impl Iterator<Item = Result<Turn>> + use<'a> {
        let is_step = |turn: &Turn| turn.note.kind == Kind::Step;
        let line = self.snapshots_before(workspace, turn);
        line.filter(move |turn| !turn.as_ref().is_ok_and(is_step))
    }

    /// The same, all of it: it ends with an error where something can't be read.
    pub fn whole_line<'a>(
        &'a self,
        workspace: &'a Workspace,
        turn: &Turn,
    ) -> impl Iterator<Item = Result<Turn>> + use<'a> {
        let mut line = self.line(workspace, turn);
        let mut last = Some(turn.clone());
        std::iter::from_fn(move || {
            let turn = last
                .take()
                .filter(|turn| turn.note.kind != Kind::Baseline)?;
            let before = line.next().unwrap_or_else(|| Err(self.lost_before(&turn)));
            last = before.as_ref().ok().cloned();
            Some(before)
        })
    }

    /// The snapshot that a turn is measured against: the numbered turn before it on its line, or the baseline.
    ///
    /// # Errors
    ///
    /// It can't be reached any more, or git failed.
    pub fn before(&self, workspace: &Workspace, turn: &Turn) -> Result<Turn> {
        let before = self.line(workspace, turn).next();
        before.unwrap_or_else(|| Err(self.lost_before(turn)))
    }

    /// What a snapshot grew from can't be reached any more.
    pub fn lost_before(&self, turn: &Turn) -> Error {
        let error = Error::cannot(format!(
            "what turn {} grew from can't be found",
            turn.number()
        ));
        match self.damaged_before(turn) {
            Some(damaged) => error.because(damaged.error()).hint(damaged.remedy()),
            None => error,
        }
    }
}
