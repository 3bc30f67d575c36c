//! What the user staged of the paths that the commit of an accept changes: it is saved before the index changes.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::gitengine::{Difference, Entry, IndexEntry, Oid, RepoPath};

use super::super::ops::Operation;
use super::super::session::Session;
use super::super::side::{self, Part, Saved};
use super::super::snapshot::Moment;
use super::super::workspace::Locked;

/// What was staged, and is not any more.
#[derive(Default)]
pub struct Unstaged {
    /// What it was.
    pub paths: Vec<UnstagedPath>,
    /// The side commit that holds it. `None` where nothing was staged, or nothing was done yet.
    pub saved: Option<Oid>,
}

/// A path of which something else was staged.
pub struct UnstagedPath {
    /// The path.
    pub path: RepoPath,
    /// Where in the side commit its content is saved; `None` where no other content was staged: it was taken off the index,
    /// or flagged.
    pub part: Option<Part>,
}

impl UnstagedPath {
    /// What an entry of the index has staged.
    pub(super) fn of(entry: &IndexEntry) -> Self {
        Self {
            path: entry.path.clone(),
            part: Some(Part::of_stage(entry.stage)),
        }
    }
}

/// What a commit changes, by path.
pub(super) struct Changed<'a> {
    paths: BTreeMap<&'a RepoPath, &'a Difference>,
    folders: BTreeSet<RepoPath>,
}

impl<'a> Changed<'a> {
    pub(super) fn by(changes: &'a [Difference]) -> Self {
        let paths = changes.iter().map(|change| (&change.path, change));
        let folders = changes.iter().flat_map(|change| change.path.ancestors());
        Self {
            paths: paths.collect(),
            folders: folders.collect(),
        }
    }

    /// Does what the index has here change with it? A file that takes the place of a folder takes along what the index has
    /// below it, and the other way round.
    fn concerns(&self, path: &RepoPath) -> bool {
        self.paths.contains_key(path) || self.is_beside(path)
    }

    /// Does it, though it is none of the changed paths itself?
    pub(super) fn is_beside(&self, path: &RepoPath) -> bool {
        let is_within = || path.ancestors().any(|it| self.paths.contains_key(&it));
        !self.paths.contains_key(path) && (self.folders.contains(path) || is_within())
    }

    /// Does an entry have content that neither side of the change has?
    fn is_other_content(&self, entry: &IndexEntry) -> bool {
        let change = self.paths.get(&entry.path);
        change.is_none_or(|change| is_other_content(entry, change))
    }

    /// What was staged in these entries of the index and goes with the commit.
    fn unstages(&self, entries: &[IndexEntry]) -> Vec<UnstagedPath> {
        let there: BTreeSet<&RepoPath> = entries.iter().map(|entry| &entry.path).collect();
        let is_taken_off = |change: &&&Difference| {
            change.old.is_some() && change.new.is_some() && !there.contains(&change.path)
        };
        let taken_off = self.paths.values().filter(is_taken_off);
        let taken_off = taken_off.map(|change| UnstagedPath {
            path: change.path.clone(),
            part: None,
        });
        let staged = entries.iter().filter(|entry| !entry.intent_to_add);
        let staged = staged.filter(|entry| self.is_other_content(entry));
        let staged = staged.map(UnstagedPath::of);
        let mut unstaged: Vec<UnstagedPath> = staged.chain(taken_off).collect();
        unstaged.sort_by(|one, other| one.path.cmp(&other.path));
        unstaged
    }
}

/// What a commit with these changes takes off the user's index.
///
/// # Errors
///
/// git failed.
pub fn would_unstage(workspace: &Locked, changes: &[Difference]) -> Result<Unstaged> {
    let changed = Changed::by(changes);
    let entries = concerned(workspace, &changed)?;
    let paths = entries.map_or(Vec::new(), |entries| changed.unstages(&entries));
    Ok(Unstaged { paths, saved: None })
}

/// Saves the entries of the user's index that the commit changes, and what was staged there. Returns what will be staged no
/// more.
///
/// # Errors
///
/// git failed.
pub fn save_staged(
    workspace: &Locked,
    session: &mut Session,
    changes: &[Difference],
    moment: Moment,
) -> Result<Unstaged> {
    let changed = Changed::by(changes);
    let Some(entries) = concerned(workspace, &changed)? else {
        return Ok(Unstaged::default());
    };
    let staged = entries.iter().filter(|it| changed.is_other_content(it));
    let staged = staged.map(|entry| Saved {
        part: Part::of_stage(entry.stage),
        path: entry.path.clone(),
        entry: Entry {
            mode: entry.mode,
            oid: entry.oid.clone(),
        },
    });
    let staged: Vec<Saved> = staged.collect();
    let side = side::save_index(workspace, session, &entries, &staged, moment.seconds)?;
    Ok(Unstaged {
        paths: changed.unstages(&entries),
        saved: Some(side),
    })
}

/// The entries of the user's index that change with a commit; `None` where there is no index.
fn concerned(workspace: &Locked, changed: &Changed<'_>) -> Result<Option<Vec<IndexEntry>>> {
    let users = workspace.git.users_index();
    if !users.exists() {
        return Ok(None);
    }
    let mut entries = workspace.git.list_index(&users)?.entries;
    entries.retain(|entry| changed.concerns(&entry.path));
    mark_announced(workspace, &mut entries)?;
    Ok(Some(entries))
}

/// Marks the entries that only announce a file. They look like empty ones.
fn mark_announced(workspace: &Locked, entries: &mut [IndexEntry]) -> Result<()> {
    let empty = workspace.git.format.hash_content(b"");
    let is_empty = |entry: &&IndexEntry| entry.oid == empty && entry.stage == 0;
    let paths = entries.iter().filter(is_empty);
    let paths: Vec<RepoPath> = paths.map(|entry| entry.path.clone()).collect();
    if paths.is_empty() {
        return Ok(());
    }
    let announced: BTreeSet<RepoPath> = workspace.git.announced(&paths)?.into_iter().collect();
    for entry in entries {
        entry.intent_to_add = announced.contains(&entry.path);
    }
    Ok(())
}

/// Does it have content that neither side of the change has?
pub(super) fn is_other_content(entry: &IndexEntry, change: &Difference) -> bool {
    let mut sides = change.old.iter().chain(&change.new);
    sides.all(|side| side.oid != entry.oid)
}

/// The entries that [`save_staged`] saved.
pub(super) fn entries_before(workspace: &Locked, operation: &Operation) -> Result<Vec<IndexEntry>> {
    match &operation.side {
        Some(side) => side::index_entries(workspace, side),
        None => Ok(Vec::new()),
    }
}
