//! What has happened in a session, as far as it still counts: what an undo takes off, and a redo puts on again.

use crate::error::{Error, Result};
use crate::gitengine::Oid;

use super::super::ops::{self, Deed, FromBytes, Operation};
use super::super::session::{Damaged, Session};
use super::super::turn::{Kind, Turn};
use super::super::workspace::Workspace;

/// What an undo that leads beyond the session is called in the turn that it takes first.
pub const GOING_BACK: &str = "going back";

/// Something that happened, and can be taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its commit.
    pub id: Oid,
    /// What it was, in a person's words.
    pub what: String,
    /// The snapshot that the work tree equalled before.
    pub before: Before,
    /// For an accept or a close: all of it.
    pub archived: Option<Operation>,
    /// What it had to save beside the turns: ignored files that it replaced.
    pub side: Option<Oid>,
    /// For an operation of edio's: the work tree that it led to.
    pub made: Option<Oid>,
    /// What was known of the bytes before, where the snapshot does not tell.
    pub bytes: Option<FromBytes>,
    /// For an undo or redo: where the ignored files are saved that it put back.
    pub brought: Option<Oid>,
}

/// The snapshot that the work tree equalled before something happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Before {
    /// This one.
    At(Oid),
    /// What this turn grew from: to be looked for where an undo comes to it. That it can't be read is nobody else's trouble.
    Turn(Box<Turn>),
}

impl Before {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// It is damaged, or git failed.
    pub fn find(&self, workspace: &Workspace, session: &Session) -> Result<Turn> {
        match self {
            Before::At(commit) => snapshot_of(workspace, session, commit),
            Before::Turn(turn) => session.before(workspace, turn),
        }
    }
}

/// What has happened, as far as it still counts.
#[derive(Debug, Default)]
pub struct Past {
    /// What can be taken back, the last at the end.
    pub done: Vec<Event>,
    /// What was taken back, and can be done again.
    pub undone: Vec<Event>,
    /// The operation that ends in the next turn.
    opening: Option<Operation>,
}

impl Past {
    /// All of it.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn of(workspace: &Workspace, session: &Session) -> Result<Self> {
        Self::until(workspace, session, None)
    }

    /// As it was before this operation was done.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn until(workspace: &Workspace, session: &Session, end: Option<&Oid>) -> Result<Self> {
        let session = &session.with_unnamed(workspace)?;
        let operations = ops::all(workspace, session)?;
        let mut past = Past::default();
        let mut turns = session.turns.values().peekable();
        for (id, operation) in &operations {
            while let Some(turn) = turns.next_if(|turn| turn.number().turn <= operation.last) {
                if !is_preamble(turn, operation) {
                    past.took(turn);
                }
            }
            if Some(id) == end {
                return Ok(past);
            }
            past.did(id, operation);
        }
        for turn in turns {
            past.took(turn);
        }
        Ok(past)
    }

    fn took(&mut self, turn: &Turn) {
        let opening = self.opening.take();
        let opening = opening.as_ref();
        self.done.push(Event {
            id: turn.commit.clone(),
            what: format!("turn {} ({})", turn.number(), turn.note.subject()),
            before: Before::Turn(Box::new(turn.clone())),
            archived: None,
            side: opening.and_then(|opening| opening.side.clone()),
            made: opening.map(|opening| opening.tree.clone()),
            bytes: opening.and_then(|opening| opening.from_bytes.clone()),
            brought: None,
        });
        // What an undo took to go beyond the session is taken back by that same undo: the way forward goes on from there.
        if !is_safety_before(turn, GOING_BACK) {
            self.undone.clear();
        }
    }

    fn did(&mut self, id: &Oid, operation: &Operation) {
        let event = Event {
            id: id.clone(),
            what: operation.text.clone(),
            before: Before::At(operation.from.clone()),
            archived: None,
            side: operation.side.clone(),
            made: Some(operation.tree.clone()),
            bytes: operation.from_bytes.clone(),
            brought: None,
        };
        match operation.deed {
            // These end in a turn, which is what is taken back.
            Deed::RestorePaths | Deed::Revert => self.opening = Some(operation.clone()),
            Deed::Restore => {
                self.done.push(event);
                self.undone.clear();
            }
            // Put away as it was: what comes after it is another session's, or an undo.
            Deed::Accept | Deed::Close => self.done.push(Event {
                archived: Some(operation.clone()),
                ..event
            }),
            Deed::Redo => {
                let redone = self.undone.pop();
                let brought = redone.as_ref().and_then(|redone| redone.side.clone());
                let what = redone.map_or(event.what.clone(), |redone| redone.what);
                self.done.push(Event {
                    what,
                    brought,
                    ..event
                });
            }
            Deed::Undo => {
                let undone = self.done.pop();
                let what = undone
                    .as_ref()
                    .map_or(event.what.clone(), |e| e.what.clone());
                let brought = undone.as_ref().and_then(|undone| undone.side.clone());
                let archived = undone.and_then(|undone| undone.archived);
                let archived = archived.map(|archived| Operation {
                    next: operation.next.clone(),
                    ..archived
                });
                self.undone.push(Event {
                    what,
                    archived,
                    brought,
                    ..event
                });
            }
        }
    }
}

/// Is this the safety turn that an undo or redo took of what was unsaved? It is a part of that.
///
/// Not each safety turn that an undo stands at is its own: a restore that then had nothing to do leaves one, too.
fn is_preamble(turn: &Turn, operation: &Operation) -> bool {
    matches!(operation.deed, Deed::Undo | Deed::Redo)
        && is_safety_before(turn, &operation.text)
        && turn.commit == operation.from
        && turn.number().turn == operation.last
}

/// Is it what was unsaved when something began that goes by these words?
fn is_safety_before(turn: &Turn, words: &str) -> bool {
    let what = turn.note.message.strip_prefix("Before ");
    turn.note.kind == Kind::Safety && what.is_some_and(|what| what.starts_with(words))
}

fn snapshot_of(workspace: &Workspace, session: &Session, commit: &Oid) -> Result<Turn> {
    if let Some(turn) = session.by_commit(commit) {
        return Ok(turn.clone());
    }
    let turn = Turn::of(workspace, commit)?;
    turn.ok_or_else(|| {
        let mut damaged = session.damaged.iter();
        let damaged = damaged.find(|damaged| damaged.oid.as_ref() == Some(commit));
        damaged.map_or_else(
            || Error::cannot(format!("{commit} is no snapshot of edio's")),
            Damaged::error,
        )
    })
}
