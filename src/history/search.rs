//! Which turns are meant: those that changed a path or a text, an agent's, those since a time.

use std::collections::BTreeSet;

use bstr::ByteSlice;

use crate::error::Result;
use crate::gitengine::{Difference, Entry, Mode, Oid, Renamed, RepoPath};

use super::session::{Lineage, Session};
use super::turn::Turn;
use super::workspace::Workspace;

/// What is searched for. All that is given must hold.
#[derive(Default)]
pub struct Search<'a> {
    /// Turns that changed these paths, or what is below them. What they were called before counts, too.
    pub paths: &'a [RepoPath],
    /// Turns of this agent.
    pub agent: Option<&'a str>,
    /// Turns since this time, in seconds since 1970.
    pub since: Option<i64>,
    /// Turns that changed how often a text occurs, all in all.
    pub changed: Option<&'a str>,
    /// Turns after which a text occurs less often than before, all in all.
    pub deleted: Option<&'a str>,
}

impl Search<'_> {
    /// The turns of a session that are meant, in their order.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn turns<'s>(
        &self,
        workspace: &Workspace,
        session: &'s Session,
        lineage: &Lineage<'_>,
    ) -> Result<Vec<&'s Turn>> {
        let is_meant = |turn: &&Turn| {
            self.agent
                .is_none_or(|agent| turn.note.work.agent.as_deref() == Some(agent))
                && self.since.is_none_or(|since| turn.seconds >= since)
        };
        let turns: Vec<&Turn> = session.turns.values().collect();
        let pairs: Vec<(Oid, Oid)> = turns
            .iter()
            .map(|turn| (lineage.tree_before(turn), turn.tree.clone()))
            .collect();
        let asks = [
            self.by_paths(workspace, &pairs)?,
            self.by_change(workspace, &pairs)?,
            self.by_deletion(workspace, &pairs)?,
        ];
        let holds = |at: usize| asks.iter().flatten().all(|hits| hits.contains(&at));
        let found = turns.into_iter().enumerate();
        let found = found.filter(|(at, turn)| is_meant(turn) && holds(*at));
        Ok(found.map(|(_, turn)| turn).collect())
    }

    /// From the newest back: a name that a file got is followed to the one that it had.
    fn by_paths(&self, workspace: &Workspace, pairs: &[(Oid, Oid)]) -> Result<Option<Hits>> {
        if self.paths.is_empty() {
            return Ok(None);
        }
        let mut names: Vec<RepoPath> = self.paths.to_vec();
        let mut hits = Hits::new();
        let changes = workspace.git.renames(pairs)?;
        for (at, changes) in changes.iter().enumerate().rev() {
            let is_named =
                |name: &Option<RepoPath>| name.as_ref().is_some_and(|name| name.is_among(&names));
            let named = |change: &&Renamed| is_named(&change.old) || is_named(&change.new);
            let concerned: Vec<&Renamed> = changes.iter().filter(named).collect();
            if !concerned.is_empty() {
                hits.insert(at);
            }
            let before: Vec<RepoPath> = concerned
                .iter()
                .filter(|change| is_named(&change.new) && !is_named(&change.old))
                .filter_map(|change| change.old.clone())
                .collect();
            names.extend(before);
        }
        Ok(Some(hits))
    }

    fn by_change(&self, workspace: &Workspace, pairs: &[(Oid, Oid)]) -> Result<Option<Hits>> {
        let is_change = |old, new| old != new;
        by_text(workspace, pairs, self.changed, is_change)
    }

    fn by_deletion(&self, workspace: &Workspace, pairs: &[(Oid, Oid)]) -> Result<Option<Hits>> {
        by_text(workspace, pairs, self.deleted, |old, new| old > new)
    }
}

/// Places among the turns.
type Hits = BTreeSet<usize>;

/// Where how often a text occurs before and after fulfils a condition, all files taken together: a text that moves from
/// one to another has not changed.
fn by_text(
    workspace: &Workspace,
    pairs: &[(Oid, Oid)],
    text: Option<&str>,
    is_meant: impl Fn(usize, usize) -> bool,
) -> Result<Option<Hits>> {
    let Some(text) = text else {
        return Ok(None);
    };
    let mut hits = Hits::new();
    let changes = workspace.git.differences_with(pairs, text)?;
    for (at, changes) in changes.iter().enumerate() {
        let old = occurrences(workspace, text, changes, |d| &d.old)?;
        let new = occurrences(workspace, text, changes, |d| &d.new)?;
        if is_meant(old, new) {
            hits.insert(at);
        }
    }
    Ok(Some(hits))
}

fn occurrences(
    workspace: &Workspace,
    text: &str,
    changes: &[Difference],
    side: impl Fn(&Difference) -> &Option<Entry>,
) -> Result<usize> {
    let entries = changes.iter().filter_map(|change| side(change).clone());
    let blobs = entries.filter(|entry| entry.mode != Mode::Gitlink);
    let blobs: Vec<Oid> = blobs.map(|entry| entry.oid).collect();
    let contents = workspace.git.raw_objects("blob", &blobs)?;
    let count = |content: &Vec<u8>| content.find_iter(text).count();
    Ok(contents.iter().map(count).sum())
}
