//! Which snapshots of a session its refs lead to.
//!
//! A session that was put away, or came from another repository, has few refs: its turns are found behind these. What a
//! commit says of itself counts only where the session's own refs lead to it: no other session can put a turn into it.

use std::collections::{HashMap, HashSet};

use crate::error::Result;
use crate::gitengine::{Commit, GitError, Oid};

use super::ops::Operation;
use super::refnames::SessionId;
use super::trailers;
use super::turn::{Kind, Turn};
use super::workspace::Workspace;

/// The commits that these lead to, without the history that the user's own refs hold. Where one can't be read, all that can
/// be reached without it.
///
/// # Errors
///
/// git failed.
pub fn history(workspace: &Workspace, tips: &[&Oid]) -> Result<Vec<Commit>> {
    match workspace.git.history(tips) {
        Err(GitError::Exit { .. }) => walk(workspace, tips),
        read => Ok(read?),
    }
}

/// Goes from commit to commit, and no further than edio's own.
fn walk(workspace: &Workspace, tips: &[&Oid]) -> Result<Vec<Commit>> {
    let mut next: Vec<Oid> = tips.iter().map(|tip| (*tip).clone()).collect();
    let (mut seen, mut found) = (HashSet::new(), Vec::new());
    while !next.is_empty() {
        next.retain(|oid| seen.insert(oid.clone()));
        let commits = workspace.git.commits_that_are_whole(&next)?;
        let own = commits.into_iter().flatten();
        let own: Vec<Commit> = own
            .filter(|commit| trailers::parse(&commit.message).is_some())
            .collect();
        next = own.iter().flat_map(|c| c.parents.clone()).collect();
        found.extend(own);
    }
    Ok(found)
}

/// Commits that were read, by their ids.
pub struct Ancestry(HashMap<Oid, Commit>);

impl Ancestry {
    /// What these lead to, without the history that the user's own refs hold.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn read(workspace: &Workspace, tips: &[&Oid]) -> Result<Self> {
        let commits = match tips.is_empty() {
            true => Vec::new(),
            false => history(workspace, tips)?,
        };
        let by_id = commits
            .into_iter()
            .map(|commit| (commit.oid.clone(), commit));
        Ok(Self(by_id.collect()))
    }

    /// The snapshots of a session that these lead to: over its own snapshots and operations, and never past its baseline.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn snapshots<'a>(
        &mut self,
        workspace: &Workspace,
        id: &SessionId,
        tips: impl IntoIterator<Item = &'a Oid>,
    ) -> Result<Vec<Turn>> {
        let mut next: Vec<Oid> = tips.into_iter().cloned().collect();
        let (mut seen, mut found) = (HashSet::new(), Vec::new());
        while !next.is_empty() {
            next.retain(|oid| seen.insert(oid.clone()));
            self.read_more(workspace, &next)?;
            let mut further = Vec::new();
            for commit in next.iter().filter_map(|oid| self.0.get(oid)) {
                match (Turn::read(commit), Operation::read(commit)) {
                    (Some(turn), _) if &turn.note.session == id => {
                        if turn.note.kind != Kind::Baseline {
                            further.extend(turn.parent.clone());
                        }
                        found.push(turn);
                    }
                    (None, Some(operation)) => {
                        // The commit that an accept made is the user's.
                        let users = operation.head_after.as_ref();
                        let parents = commit.parents.iter();
                        further.extend(parents.filter(|oid| Some(*oid) != users).cloned());
                    }
                    _ => {}
                }
            }
            next = further;
        }
        Ok(found)
    }

    /// Reads those of these that were not: a branch of the user's may hold a turn.
    fn read_more(&mut self, workspace: &Workspace, oids: &[Oid]) -> Result<()> {
        let unread = oids.iter().filter(|oid| !self.0.contains_key(*oid));
        let unread: Vec<Oid> = unread.cloned().collect();
        if unread.is_empty() {
            return Ok(());
        }
        let commits = workspace.git.commits_that_are_whole(&unread)?;
        let whole = commits.into_iter().flatten();
        let by_id = whole.map(|commit| (commit.oid.clone(), commit));
        self.0.extend(by_id);
        Ok(())
    }
}
