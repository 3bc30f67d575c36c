//! What of a session can't be read, and how to go on.

use crate::error::Error;
use crate::gitengine::{DamagedRef, Oid};
use crate::history::refnames::{self, Leaf, SessionId, Shelf};

/// A ref of a session whose commit can't be read. It stays, and its number is not given out again: a copy of the
/// repository may still have what is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// What it is for.
    pub leaf: Leaf,
    /// Where it points to. `None` where the ref itself is damaged.
    pub oid: Option<Oid>,
    /// Its full name.
    pub name: String,
}

impl Damaged {
    /// Reads what the name of a ref says; `None` where it belongs to no session.
    pub fn read(damaged: DamagedRef) -> Option<(Shelf, SessionId, Self)> {
        let DamagedRef { name, oid } = damaged;
        let (shelf, id, leaf) = refnames::parse(&name)?;
        Some((shelf, id, Self { leaf, oid, name }))
    }

    /// What can't be read, and why, in a person's words.
    pub fn what(&self) -> String {
        let what = match self.leaf {
            Leaf::Turn(number) => format!("turn {number}"),
            Leaf::Current => "where the work tree stands".to_owned(),
            Leaf::Ops => "the last operation".to_owned(),
            Leaf::Side => "what is kept beside the turns".to_owned(),
        };
        match &self.oid {
            Some(oid) => format!("{what} can't be read: its commit {oid} is missing or damaged"),
            None => format!("{what} can't be read: the ref {} is damaged", self.name),
        }
    }

    /// How to go on.
    pub fn remedy(&self) -> String {
        if self.leaf == Leaf::Current {
            return "go on from the last turn that can be read: edio snapshot".to_owned();
        }
        let without = match &self.oid {
            Some(_) => format!("git update-ref --no-deref -d {}", self.name),
            None => format!("remove the file {} in the git directory", self.name),
        };
        // The line of turns ends there: what lies behind is held by the refs of the turns alone, which an accept lets go.
        let without = match self.leaf {
            Leaf::Turn(_) => format!(
                "or give what you want of the turns before it a branch (git branch NAME COMMIT), then go on without it: {without}"
            ),
            _ => format!("or go on without it, and lose what only that leads to: {without}"),
        };
        match &self.oid {
            Some(oid) => {
                format!("put the object {oid} back from a copy of the repository; {without}")
            }
            None => format!("put that ref back from a copy of the repository; {without}"),
        }
    }

    /// Says so, as the answer to whoever needs it.
    pub fn error(&self) -> Error {
        Error::cannot(self.what())
            .hint("the other turns are as they were: edio log")
            .hint(self.remedy())
    }
}
