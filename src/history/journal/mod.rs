//! The journal: files that no tree of a snapshot holds, and that an agent's tools write: ignored ones, and those outside of
//! the work tree.
//!
//! A file is in it from just before its first write. Each snapshot notes in its side commit what the files of the journal
//! hold. What one held before it was in there stands for all earlier snapshots of the session. The content of an ignored
//! file is a blob, to which the side commit leads; that of a file outside is none of the repository's business, and lies
//! in a [folder](beyond) of edio's own.

mod awaited;
pub mod beyond;
mod look;
mod way;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::gitengine::{Entry, FileStamp, Oid, RepoPath};

use super::refnames::{self, Leaf, SessionId, Shelf};
use super::restore::Stood;
use super::state::Standing;
use super::turn::Turn;
use super::workspace::{Locked, Workspace};

pub use self::awaited::await_files;
use self::beyond::Of;
pub use self::look::{Look, look};
pub use self::way::{Way, way_to};

/// The file of a side commit that says what the files of the journal hold.
pub const LIST: &str = "journal-list";

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

    /// As a person names it: from the top of the work tree, or from the root.
    fn name(&self) -> PathBuf {
        let (top, path) = self.parts(Path::new(""));
        path.below(top)
    }
}

/// What is known of a file before its first write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum First {
    /// It held this, or was not there.
    Held(Option<Entry>),
    /// The write came before the look.
    Unknown,
}

/// What a file of the journal holds. `None` where it is not there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    place: Place,
    now: Option<Entry>,
    first: First,
    /// Its permission bits, for where it must be made anew.
    bits: Option<u32>,
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
    /// Does no side commit of the session say so? Then the next snapshot does.
    is_unsaid: bool,
    /// Files that are to be in it from the next snapshot on, with what they hold. They are kept already.
    awaited: Vec<File>,
    /// The side commit of that snapshot, where that holds nothing but the journal.
    alone: Option<Oid>,
    /// The large files, as they were when they were read last.
    stamps: Vec<(Place, FileStamp)>,
}

impl Known {
    /// Takes what is remembered for lost: the session stands elsewhere than was thought. What is awaited is not of it.
    pub fn lose(&mut self) {
        self.session = None;
        self.stamps.clear();
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

    /// The ignored files that are there, with what they hold.
    pub fn within(&self) -> impl Iterator<Item = (&RepoPath, &Entry)> {
        self.files.iter().filter_map(|file| match &file.place {
            Place::Within(path) => Some((path, file.now.as_ref()?)),
            Place::Beyond(_) => None,
        })
    }

    /// The ignored files that were there before their first write, with what they held then.
    pub fn first_within(&self) -> impl Iterator<Item = (&RepoPath, &Entry)> {
        self.files
            .iter()
            .filter_map(|file| match (&file.place, &file.first) {
                (Place::Within(path), First::Held(first)) => Some((path, first.as_ref()?)),
                _ => None,
            })
    }

    /// The same files, as a snapshot found them which has noted this. Those that it did not know held what they held
    /// before their first write; where that is unknown, they are left as they are.
    fn as_of(&self, noted: &Journal) -> Journal {
        let files = self.files.iter().map(|file| {
            let (now, bits) = match (noted.get(&file.place), &file.first) {
                (Some(noted), _) => (noted.now.clone(), noted.bits),
                (None, First::Held(first)) => (first.clone(), file.bits),
                (None, First::Unknown) => (file.now.clone(), file.bits),
            };
            File {
                now,
                bits,
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
    /// It can't be put into words, which is a fault of edio's.
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
    Ok(changed.map(|(file, _)| file.place.name()).collect())
}

/// What a snapshot is to note.
pub struct Noted {
    /// The journal.
    pub journal: Journal,
    /// Does no side commit say so yet?
    pub is_news: bool,
    stamps: Vec<(Place, FileStamp)>,
}

/// Keeps the contents that were found, for this session.
///
/// # Errors
///
/// git failed, or the git directory can't be written.
pub fn keep(workspace: &Locked, session: &SessionId, look: Look) -> Result<Noted> {
    for (place, stood) in &look.found {
        keep_content(workspace, Of::Session(session), place, stood)?;
    }
    for file in &workspace.state.journal.awaited {
        if let (Place::Beyond(_), First::Held(Some(first))) = (&file.place, &file.first) {
            let common_dir = &workspace.git.common_dir;
            beyond::hand_over(common_dir, &workspace.scratch(), session, &first.oid)?;
        }
    }
    Ok(Noted {
        is_news: look.has_changed() || look.is_unsaid,
        journal: look.journal,
        stamps: look.stamps,
    })
}

fn keep_content(workspace: &Locked, of: Of<'_>, place: &Place, stood: &Stood) -> Result<()> {
    let Some(bytes) = stood.bytes() else {
        return Ok(());
    };
    match place {
        Place::Within(_) => drop(workspace.git.write_blob(bytes)?),
        Place::Beyond(_) => {
            let oid = workspace.git.format.hash_content(bytes);
            beyond::keep(&workspace.git.common_dir, of, &oid, bytes)?;
        }
    }
    Ok(())
}

/// Remembers what the snapshot that the session stands at has noted. `alone` is its side commit, where that holds nothing
/// else.
pub fn remember(workspace: &mut Locked, session: &SessionId, noted: Noted, alone: Option<Oid>) {
    if !workspace.state.journal.awaited.is_empty() {
        beyond::sweep_nobodys(&workspace.scratch());
    }
    let known = &mut workspace.state.journal;
    *known = Known {
        session: Some(session.clone()),
        journal: noted.journal,
        is_unsaid: false,
        awaited: Vec::new(),
        alone,
        stamps: noted.stamps,
    };
}

/// Remembers that a session without a journal has begun. What is awaited is so still.
pub fn begin(workspace: &mut Locked, session: &SessionId) {
    workspace.state.journal = Known {
        session: Some(session.clone()),
        awaited: std::mem::take(&mut workspace.state.journal.awaited),
        ..Known::default()
    };
}

/// Remembers what a restore has led to. After one to another session's turn no side commit of this session says so.
pub fn arrive(workspace: &mut Locked, session: &SessionId, journal: Journal, target: &Turn) {
    workspace.state.journal = Known {
        session: Some(session.clone()),
        is_unsaid: !journal.is_empty() && target.note.session != *session,
        journal,
        awaited: std::mem::take(&mut workspace.state.journal.awaited),
        ..Known::default()
    };
}
