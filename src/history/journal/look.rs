//! A look at the files of the journal.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::gitengine::{FileStamp, RepoPath};

use super::super::limits::Limits;
use super::super::restore::{Stood, read_from_disk};
use super::super::state::Standing;
use super::super::workspace::Workspace;
use super::{File, First, Journal, Place, known};

/// So many files are in a journal at most.
const MOST: usize = 1000;

/// A file of more bytes than this is not read again as long as its time stamps are the same.
const LARGE: u64 = 64 << 10;

/// What the files of the journal hold at this moment.
#[derive(Default)]
pub struct Look {
    pub(super) journal: Journal,
    /// The contents that are to be kept.
    pub(super) found: Vec<(Place, Stood)>,
    /// What holds another content than at the snapshot before, or is new.
    pub(super) changed: Vec<Place>,
    /// Those that can't be kept as they are now: they can't be read, or are too large. They count as unchanged.
    pub(super) unkept: BTreeSet<Place>,
    /// Does the journal as it was say what no side commit of the session does?
    pub(super) is_unsaid: bool,
    pub(super) stamps: Vec<(Place, FileStamp)>,
}

impl Look {
    /// Is anything otherwise than at the snapshot before?
    pub fn has_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// In a few words what is otherwise: the ignored files by name. What lies outside is not named: commits may go
    /// elsewhere.
    pub fn changes(&self) -> (Vec<&RepoPath>, usize) {
        let within = self.changed.iter().filter_map(|place| match place {
            Place::Within(path) => Some(path),
            Place::Beyond(_) => None,
        });
        let within: Vec<&RepoPath> = within.collect();
        let outside = self.changed.len() - within.len();
        (within, outside)
    }
}

/// Looks at the files of the journal. `standing` is where the session stands, if one has begun.
///
/// # Errors
///
/// git failed, or a setting can't be read.
pub fn look(workspace: &Workspace, standing: Option<&Standing>) -> Result<Look> {
    look_also(workspace, standing, &[])
}

/// The same, and at these files, which are new.
pub(super) fn look_also(
    workspace: &Workspace,
    standing: Option<&Standing>,
    also: &[Place],
) -> Result<Look> {
    let before = known(workspace, standing)?;
    let remembered = &workspace.state.journal;
    if before.is_empty() && remembered.awaited.is_empty() && also.is_empty() {
        return Ok(Look::default());
    }
    let is_remembered = standing.is_some_and(|s| remembered.session.as_ref() == Some(&s.id));
    let mut look = Look {
        is_unsaid: is_remembered && remembered.is_unsaid,
        ..Look::default()
    };
    for file in before.files {
        look.take(workspace, file)?;
    }
    for file in &remembered.awaited {
        if look.journal.get(&file.place).is_none() && look.has_room() {
            look.changed.push(file.place.clone());
            look.take(workspace, file.clone())?;
        }
    }
    for place in also {
        if look.journal.get(place).is_none() {
            look.take_new(workspace, place)?;
        }
    }
    Ok(look)
}

impl Look {
    fn has_room(&self) -> bool {
        self.journal.files.len() < MOST
    }

    /// Looks at a file of which something is known.
    fn take(&mut self, workspace: &Workspace, file: File) -> Result<()> {
        let place = file.place.clone();
        let stamp = large_stamp(workspace, &place);
        let known = workspace.state.journal.stamps.iter();
        let mut known = known.filter(|(known, _)| known == &place);
        let is_same = stamp.is_some() && known.next().map(|(_, stamp)| stamp) == stamp.as_ref();
        self.stamps
            .extend(stamp.map(|stamp| (place.clone(), stamp)));
        if is_same && !self.is_unsaid {
            self.journal.files.push(file);
            return Ok(());
        }
        let Some(stood) = stood(workspace, &place)? else {
            self.unkept.insert(place);
            self.journal.files.push(file);
            return Ok(());
        };
        let now = stood.entry(workspace.git.format);
        let is_changed = now != file.now;
        if is_changed && !self.changed.contains(&place) {
            self.changed.push(place.clone());
        }
        let bits = stood.bits().or(file.bits);
        if is_changed || self.is_unsaid || self.changed.contains(&place) {
            self.found.push((place, stood));
        }
        self.journal.files.push(File { now, bits, ..file });
        Ok(())
    }

    /// Looks at a file of which nothing is known.
    fn take_new(&mut self, workspace: &Workspace, place: &Place) -> Result<()> {
        let stood = match self.has_room() {
            true => stood(workspace, place)?,
            false => None,
        };
        let Some(stood) = stood else {
            self.unkept.insert(place.clone());
            return Ok(());
        };
        let now = stood.entry(workspace.git.format);
        self.journal.files.push(File {
            place: place.clone(),
            first: First::Held(now.clone()),
            now,
            bits: stood.bits(),
        });
        self.changed.push(place.clone());
        self.found.push((place.clone(), stood));
        Ok(())
    }
}

/// What stands there; `None` where that can't be kept.
pub(super) fn stood(workspace: &Workspace, place: &Place) -> Result<Option<Stood>> {
    let most = Limits::of(&workspace.settings)?.file.unwrap_or(u64::MAX);
    let (top, path) = place.parts(&workspace.git.work_tree);
    Ok(read_from_disk(top, path, most).ok())
}

fn large_stamp(workspace: &Workspace, place: &Place) -> Option<FileStamp> {
    let (top, path) = place.parts(&workspace.git.work_tree);
    let file = path.below(top);
    let meta = file.symlink_metadata().ok()?;
    let is_large = meta.is_file() && meta.len() > LARGE;
    is_large
        .then(|| FileStamp::of(&file).ok().flatten())
        .flatten()
}
