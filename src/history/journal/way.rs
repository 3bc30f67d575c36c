//! The way of the journal's files from what they hold now to what they held at a turn.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::error::Result;
use crate::gitengine::{Difference, RepoPath};

use super::super::session::Session;
use super::super::state::Standing;
use super::super::turn::Turn;
use super::super::workspace::{Locked, Workspace};
use super::beyond::Change;
use super::look::look_also;
use super::{File, Journal, Look, Place, held_at, noted};

/// The way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// The ignored files that differ.
    pub within: Vec<Difference>,
    /// The ignored files that the turn knows to have been there, with the permission bits that they had.
    pub there: BTreeMap<RepoPath, Option<u32>>,
    /// The files outside that differ.
    pub beyond: Vec<Change>,
    /// What differs, and can't be kept as it is now: it is left alone.
    pub unkept: BTreeSet<Place>,
    /// What all files of the session's journal hold at its end.
    pub then: Journal,
    /// Files of another session's journal: what they hold now is to be noted before they change.
    strange: Vec<File>,
}

/// The way to a turn.
///
/// # Errors
///
/// git failed.
pub fn way_to(workspace: &Workspace, target: &Turn) -> Result<Way> {
    let standing = standing(workspace)?;
    let is_own = standing
        .as_ref()
        .is_some_and(|standing| standing.id == target.note.session);
    let side = target.note.side.as_ref();
    let theirs = match is_own {
        true => Journal::default(),
        false => held_at(workspace, &target.note.session, side)?,
    };
    let also: Vec<Place> = theirs.files.iter().map(|file| file.place.clone()).collect();
    let look = look_also(workspace, standing.as_ref(), &also)?;
    let then = match is_own && !look.journal.is_empty() {
        true => look.journal.as_of(&noted(workspace, side)?),
        false => look.journal.with(&theirs),
    };
    let mut way = Way {
        strange: look.new_of(&also),
        unkept: look.unkept.clone(),
        ..Way::default()
    };
    for file in &then.files {
        way.go(&look.journal, file, target);
    }
    way.then = then;
    Ok(way)
}

/// Where the session of this workspace stands.
fn standing(workspace: &Workspace) -> Result<Option<Standing>> {
    let remembered = workspace.state.session.as_ref();
    if let (Some(standing), Some(pointed)) = (remembered, &workspace.pointed)
        && standing.current == pointed.commit
    {
        return Ok(Some(standing.clone()));
    }
    match Session::active(workspace)? {
        Some(session) => session.standing(workspace).map(Some),
        None => Ok(None),
    }
}

impl Journal {
    /// The same files, holding what another journal says of them.
    fn with(&self, other: &Journal) -> Journal {
        let files = self.files.iter().map(|file| match other.get(&file.place) {
            Some(other) => File {
                now: other.now.clone(),
                bits: other.bits,
                ..file.clone()
            },
            None => file.clone(),
        });
        Journal {
            files: files.collect(),
        }
    }
}

impl Look {
    /// Those of these files that no snapshot of the session has noted.
    fn new_of(&self, places: &[Place]) -> Vec<File> {
        let new = self.journal.files.iter();
        let new = new.filter(|file| places.contains(&file.place));
        new.filter(|file| self.changed.contains(&file.place))
            .cloned()
            .collect()
    }
}

impl Way {
    fn go(&mut self, now: &Journal, file: &File, target: &Turn) {
        let old = now.get(&file.place).and_then(|now| now.now.clone());
        let new = file.now.clone();
        if self.unkept.contains(&file.place) {
            return;
        }
        match &file.place {
            Place::Within(path) => {
                if new.is_some() {
                    self.there.insert(path.clone(), file.bits);
                }
                if old != new {
                    let path = path.clone();
                    self.within.push(Difference { path, old, new });
                }
            }
            Place::Beyond(path) if old != new => self.beyond.push(Change {
                path: path.clone(),
                old,
                new,
                bits: file.bits,
                session: target.note.session.clone(),
            }),
            Place::Beyond(_) => {}
        }
    }

    /// Leaves only the ignored files that are wanted.
    pub fn only(&mut self, is_wanted: impl Fn(&RepoPath) -> bool) {
        self.within.retain(|difference| is_wanted(&difference.path));
        self.there.retain(|path, _| is_wanted(path));
        self.beyond.clear();
        self.unkept.retain(|place| match place {
            Place::Within(path) => is_wanted(path),
            Place::Beyond(_) => false,
        });
    }

    /// The ignored files that can't be kept as they are now.
    pub fn unkept_within(&self) -> impl Iterator<Item = &RepoPath> {
        self.unkept.iter().filter_map(|place| match place {
            Place::Within(path) => Some(path),
            Place::Beyond(_) => None,
        })
    }

    /// The same outside.
    pub fn unkept_beyond(&self) -> impl Iterator<Item = PathBuf> {
        let beyond = self
            .unkept
            .iter()
            .filter(|place| matches!(place, Place::Beyond(_)));
        beyond.map(Place::name)
    }

    /// Has what the files of another session's journal hold noted by the next snapshot.
    pub fn note_strange(&self, workspace: &mut Locked) {
        let awaited = &mut workspace.state.journal.awaited;
        for file in &self.strange {
            if !awaited.iter().any(|other| other.place == file.place) {
                awaited.push(file.clone());
            }
        }
    }
}
