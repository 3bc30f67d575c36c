//! The journal: files that no tree of a snapshot holds, and that an agent's tools write: ignored ones, and those outside of
//! the work tree.
//!
//! A file is in it from just before its first write. Each snapshot notes in its side commit what the files of the journal
//! hold. What one held before it was in there stands for all earlier snapshots of the session. The content of an ignored
//! file is a blob, to which the side commit leads; that of a file outside is none of the repository's business, and lies
//! in a [folder](beyond) of edio's own.

pub mod beyond;
mod way;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::gitengine::{Entry, Oid, RepoPath, git_bytes};

use super::choice::{Choice, matched};
use super::guard::{Guard, Guarded};
use super::limits::Limits;
use super::refnames::{self, Leaf, SessionId, Shelf};
use super::restore::{Stood, read_from_disk};
use super::state::Standing;
use super::turn::Turn;
use super::workspace::{Locked, Workspace};

pub use self::way::{Way, way_to};

/// The file of a side commit that says what the files of the journal hold.
pub const LIST: &str = "journal-list";

/// So many files are in a journal at most.
const MOST: usize = 1000;

/// Where a file stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// In the work tree.
    Within(RepoPath),
    /// Outside of it: its path from the root of the file system.
    Beyond(RepoPath),
}

impl Place {
    /// The folder that its path begins in, and the path.
    fn parts<'a>(&'a self, top: &'a Path) -> (&'a Path, &'a RepoPath) {
        match self {
            Place::Within(path) => (top, path),
            Place::Beyond(path) => (Path::new("/"), path),
        }
    }
}

/// What a file of the journal holds. `None` where it is not there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// Where it stands.
    pub place: Place,
    /// What it holds.
    pub now: Option<Entry>,
    /// What it held before its first write.
    first: Option<Entry>,
}

/// The files, and what they hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Journal {
    files: Vec<File>,
}

/// What the workspace remembers of the journal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Known {
    /// The session that it is of.
    session: Option<SessionId>,
    /// What the files held at the snapshot that the session stands at.
    journal: Journal,
    /// Files that are to be in it from the next snapshot on.
    awaited: BTreeSet<Place>,
    /// The side commit of that snapshot, where that holds nothing but the journal.
    alone: Option<Oid>,
}

impl Known {
    /// The session stands elsewhere than was thought.
    pub fn is_lost(&mut self) {
        self.session = None;
    }

    /// Does a snapshot that notes this say something new?
    pub fn is_news(&self, journal: &Journal) -> bool {
        &self.journal != journal
    }

    /// Is this a side commit that holds nothing but the journal?
    pub fn is_alone_in(&self, side: &Oid) -> bool {
        self.alone.as_ref() == Some(side)
    }
}

impl Journal {
    /// Is no file in it?
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    fn get(&self, place: &Place) -> Option<&File> {
        self.files.iter().find(|file| &file.place == place)
    }

    /// The files in the work tree that are there, with what they hold.
    pub fn within(&self) -> impl Iterator<Item = (&RepoPath, &Entry)> {
        self.files.iter().filter_map(|file| match &file.place {
            Place::Within(path) => Some((path, file.now.as_ref()?)),
            Place::Beyond(_) => None,
        })
    }

    /// The same files, as a snapshot found them which has noted this. Those that it did not know held what they held
    /// before their first write.
    fn as_of(&self, noted: &Journal) -> Journal {
        let files = self.files.iter().map(|file| {
            let now = match noted.get(&file.place) {
                Some(noted) => noted.now.clone(),
                None => file.first.clone(),
            };
            File {
                now,
                ..file.clone()
            }
        });
        Journal {
            files: files.collect(),
        }
    }

    /// As a side commit has it.
    ///
    /// # Errors
    ///
    /// None that is known.
    pub fn write(&self) -> Result<Vec<u8>> {
        serde_json::to_vec(self)
            .map_err(|error| Error::bug("the journal can't be written").because(error))
    }

    /// Reads what [`Journal::write`] has written. What can't be understood tells of no file.
    fn read(bytes: &[u8]) -> Self {
        serde_json::from_slice(bytes).unwrap_or_default()
    }
}

/// A list without what it says of these paths of the work tree; `None` where it says nothing of them.
pub fn without(list: &[u8], paths: &[RepoPath]) -> Option<Vec<u8>> {
    let mut journal = Journal::read(list);
    let before = journal.files.len();
    journal.files.retain(|file| match &file.place {
        Place::Within(path) => !path.is_among(paths),
        Place::Beyond(_) => true,
    });
    let is_changed = journal.files.len() < before;
    journal.write().ok().filter(|_| is_changed)
}

/// Has the files among these that no snapshot holds be in the journal from the next snapshot on, if the person has turned
/// that on.
///
/// # Errors
///
/// git failed.
pub fn await_files(workspace: &mut Locked, files: &[PathBuf]) -> Result<()> {
    if !Guard::of(&workspace.settings).has(Guarded::Journal) {
        return Ok(());
    }
    let top = workspace.git.work_tree.clone();
    let places = files.iter().filter_map(|file| place_of(&top, file));
    let (within, beyond): (Vec<_>, Vec<_>) = places.partition(|p| matches!(p, Place::Within(_)));
    let within = within.into_iter().filter_map(|place| match place {
        Place::Within(path) => Some(path),
        Place::Beyond(_) => None,
    });
    let ignored = ignored(workspace, &within.collect::<Vec<_>>())?;
    let places = beyond
        .into_iter()
        .chain(ignored.into_iter().map(Place::Within));
    let journal = &mut workspace.state.journal;
    let known = |place: &Place| journal.journal.get(place).is_some();
    let new: Vec<Place> = places.filter(|place| !known(place)).collect();
    journal.awaited.extend(new);
    Ok(())
}

/// Where a file stands that a tool names, behind all links. `None` where that can't be said, or is in a git directory.
fn place_of(top: &Path, file: &Path) -> Option<Place> {
    let file = top.join(file);
    // Of what is not there yet, the folders that are there tell.
    let (there, rest) = file.ancestors().find_map(|there| {
        let real = there.canonicalize().ok()?;
        Some((real, file.strip_prefix(there).ok()?))
    })?;
    let real = match rest.as_os_str().is_empty() {
        true => there,
        false => there.join(rest),
    };
    match real.strip_prefix(top) {
        Ok(path) => RepoPath::new(git_bytes(path)).map(Place::Within),
        Err(_) => RepoPath::new(git_bytes(real.strip_prefix("/").ok()?)).map(Place::Beyond),
    }
}

/// Those that git ignores, and the person has not chosen to be held.
fn ignored(workspace: &Locked, paths: &[RepoPath]) -> Result<Vec<RepoPath>> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let git = &workspace.git;
    let matched_by_rules = git.ask_ignored(paths)?.ignored()?;
    let ignored = git.ask_untracked_ignored(&matched_by_rules)?.ignored()?;
    let choice = Choice::of(&workspace.settings);
    let included = matched(workspace, &choice.include, &ignored)?;
    let excluded = matched(workspace, &choice.exclude, &ignored)?;
    let mut ignored = ignored;
    ignored.retain(|path| !included.contains(path) && !excluded.contains(path));
    Ok(ignored)
}

/// What the files of the journal hold at this moment.
#[derive(Default)]
pub struct Look {
    journal: Journal,
    /// Those that hold another content than at the snapshot before, or are new.
    changed: Vec<(Place, Stood)>,
}

impl Look {
    /// Is anything otherwise than at the snapshot before?
    pub fn has_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Is there no journal?
    pub fn is_empty(&self) -> bool {
        self.journal.is_empty()
    }

    /// The names of what is otherwise.
    pub fn changed_paths(&self) -> Vec<&RepoPath> {
        let paths = self.changed.iter().map(|(place, _)| match place {
            Place::Within(path) | Place::Beyond(path) => path,
        });
        paths.collect()
    }
}

/// Looks at the files of the journal. `standing` is where the session stands, if one has begun.
///
/// A file that can't be read, or is larger than what snapshots take, counts as unchanged.
///
/// # Errors
///
/// git failed, or a setting can't be read.
pub fn look(workspace: &Workspace, standing: Option<&Standing>) -> Result<Look> {
    let known = known(workspace, standing)?;
    let awaited = &workspace.state.journal.awaited;
    if known.is_empty() && awaited.is_empty() {
        return Ok(Look::default());
    }
    let most = Limits::of(&workspace.settings)?.file;
    let mut look = Look::default();
    for file in known.files {
        let now = match stood(workspace, &file.place, most) {
            None => file.now.clone(),
            Some(stood) => {
                let now = stood.entry(workspace.git.format);
                if now != file.now {
                    look.changed.push((file.place.clone(), stood));
                }
                now
            }
        };
        look.journal.files.push(File { now, ..file });
    }
    for place in awaited {
        if look.journal.get(place).is_some() || look.journal.files.len() >= MOST {
            continue;
        }
        if let Some(stood) = stood(workspace, place, most) {
            let now = stood.entry(workspace.git.format);
            look.journal.files.push(File {
                place: place.clone(),
                first: now.clone(),
                now,
            });
            look.changed.push((place.clone(), stood));
        }
    }
    Ok(look)
}

/// What stands there; `None` where that can't be kept.
fn stood(workspace: &Workspace, place: &Place, most: Option<u64>) -> Option<Stood> {
    let (top, path) = place.parts(&workspace.git.work_tree);
    read_from_disk(top, path, most.unwrap_or(u64::MAX)).ok()
}

/// What is known of the journal at the snapshot that the session stands at.
fn known(workspace: &Workspace, standing: Option<&Standing>) -> Result<Journal> {
    let Some(standing) = standing else {
        return Ok(Journal::default());
    };
    let known = &workspace.state.journal;
    if known.session.as_ref() == Some(&standing.id) {
        return Ok(known.journal.clone());
    }
    held_at(workspace, &standing.id, standing.side.as_ref())
}

/// What the files of a session's journal held at a snapshot of it with this side commit.
fn held_at(workspace: &Workspace, session: &SessionId, side: Option<&Oid>) -> Result<Journal> {
    let newest = newest(workspace, session)?;
    match newest.is_empty() {
        true => Ok(newest),
        false => Ok(newest.as_of(&noted(workspace, side)?)),
    }
}

/// The list that a session noted last: all its files are in it.
fn newest(workspace: &Workspace, session: &SessionId) -> Result<Journal> {
    let git = &workspace.git;
    let name = |shelf| refnames::name(shelf, session, Leaf::Side);
    let names = [name(Shelf::Active), name(Shelf::Archive)];
    let Some((_, tip)) = git.ref_names(&[&names[0], &names[1]])?.pop() else {
        return Ok(Journal::default());
    };
    // Each side commit has only what belongs to it: the last that changes the list has it, or the one before that.
    let commits = git.last_changes(&tip, LIST, 2)?;
    let lists = git.file_of_each(&commits, LIST)?;
    let list = lists.into_iter().flatten().next();
    Ok(list.map_or_else(Journal::default, |list| Journal::read(&list)))
}

/// What a snapshot with this side commit has noted.
fn noted(workspace: &Workspace, side: Option<&Oid>) -> Result<Journal> {
    let Some(side) = side else {
        return Ok(Journal::default());
    };
    let list = workspace.git.file_of_if_there(side, LIST)?;
    Ok(list.map_or_else(Journal::default, |list| Journal::read(&list)))
}

/// The files that hold something else at a turn than at the one before it.
///
/// # Errors
///
/// git failed.
pub fn changed_between(workspace: &Workspace, before: &Turn, turn: &Turn) -> Result<Vec<PathBuf>> {
    let now = noted(workspace, turn.note.side.as_ref())?;
    let then = now.as_of(&noted(workspace, before.note.side.as_ref())?);
    let both = now.files.iter().zip(&then.files);
    let changed = both.filter(|(now, then)| now.now != then.now);
    let names = changed.map(|(file, _)| match &file.place {
        Place::Within(path) => path.below(Path::new("")),
        Place::Beyond(path) => path.below(Path::new("/")),
    });
    Ok(names.collect())
}

/// Keeps the contents of what has changed. Returns the journal as it is to be noted.
///
/// # Errors
///
/// git failed, or the git directory can't be written.
pub fn keep(workspace: &Locked, session: &SessionId, look: Look) -> Result<Journal> {
    for (place, stood) in &look.changed {
        let Some(bytes) = stood.bytes() else {
            continue;
        };
        match place {
            Place::Within(_) => drop(workspace.git.write_blob(bytes)?),
            Place::Beyond(_) => {
                let oid = workspace.git.format.hash_content(bytes);
                beyond::keep(&workspace.scratch(), session, &oid, bytes)?;
            }
        }
    }
    Ok(look.journal)
}

/// Remembers what the snapshot that the session stands at has noted. `alone` is its side commit, where that holds nothing
/// else.
pub fn remember(workspace: &mut Locked, session: &SessionId, journal: Journal, alone: Option<Oid>) {
    let known = &mut workspace.state.journal;
    known.awaited.clear();
    known.session = Some(session.clone());
    known.journal = journal;
    known.alone = alone;
}
