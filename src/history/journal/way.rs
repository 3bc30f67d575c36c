//! The way of the journal's files from what they hold now to what they held at a turn.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::gitengine::{Difference, RepoPath};

use super::super::session::Session;
use super::super::state::Standing;
use super::super::turn::Turn;
use super::super::workspace::{Locked, Workspace};
use super::beyond::Change;
use super::{File, Journal, Place, held_at, look, noted};

/// The way.
#[derive(Debug, Default)]
pub struct Way {
    /// The ignored files that differ.
    pub within: Vec<Difference>,
    /// The files outside that differ.
    pub beyond: Vec<Change>,
    /// The ignored files that the turn knows to have been there.
    pub there: BTreeSet<RepoPath>,
    /// What all files of the session's journal hold at its end.
    pub then: Journal,
    /// Files of another session's journal: what they hold now is to be noted before they change.
    strange: Vec<Place>,
}

/// The way to a turn.
///
/// # Errors
///
/// git failed.
pub fn way_to(workspace: &Workspace, target: &Turn) -> Result<Way> {
    let standing = standing(workspace)?;
    let now = look(workspace, standing.as_ref())?.journal;
    let is_own = standing.is_some_and(|standing| standing.id == target.note.session);
    if is_own && now.is_empty() {
        return Ok(Way::default());
    }
    let side = target.note.side.as_ref();
    let mut way = Way {
        then: match is_own {
            true => now.as_of(&noted(workspace, side)?),
            false => now.clone(),
        },
        ..Way::default()
    };
    if !is_own {
        for file in held_at(workspace, &target.note.session, side)?.files {
            way.strange
                .extend(now.get(&file.place).is_none().then(|| file.place.clone()));
            way.then.files.retain(|other| other.place != file.place);
            way.then.files.push(file);
        }
    }
    let then = way.then.files.clone();
    for file in then {
        way.go(workspace, &now, file, target);
    }
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

impl Way {
    fn go(&mut self, workspace: &Workspace, now: &Journal, file: File, target: &Turn) {
        let old = match now.get(&file.place) {
            Some(known) => known.now.clone(),
            None => super::stood(workspace, &file.place, None)
                .and_then(|stood| stood.entry(workspace.git.format)),
        };
        let new = file.now;
        match file.place {
            Place::Within(path) => {
                if new.is_some() {
                    self.there.insert(path.clone());
                }
                if old != new {
                    self.within.push(Difference { path, old, new });
                }
            }
            Place::Beyond(path) if old != new => self.beyond.push(Change {
                path,
                old,
                new,
                session: target.note.session.clone(),
            }),
            Place::Beyond(_) => {}
        }
    }

    /// Leaves only the ignored files that are wanted.
    pub fn only(&mut self, is_wanted: impl Fn(&RepoPath) -> bool) {
        self.within.retain(|difference| is_wanted(&difference.path));
        self.beyond.clear();
    }

    /// Has what the files of another session's journal hold noted by the next snapshot.
    pub fn note_strange(&self, workspace: &mut Locked) {
        let awaited = &mut workspace.state.journal.awaited;
        awaited.extend(self.strange.iter().cloned());
    }
}
