//! What stands among the turns of a session, and is none.

use crate::error::Error;
use crate::gitengine::{Oid, RefCommit};
use crate::history::refnames::{self, Leaf, SessionId};
use crate::history::turn::{Number, Turn};

/// A commit where a turn would be, which edio does not understand. It stays, and is nothing but named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// The number of the turn that would be there.
    pub number: u32,
    /// The commit.
    pub commit: Oid,
    /// The full name of the ref.
    pub name: String,
}

impl Foreign {
    /// Reads a ref; `None` where it is no turn's, or leads to one.
    pub fn read(found: &RefCommit) -> Option<(SessionId, Self)> {
        let (_, id, leaf) = refnames::parse(&found.name)?;
        let Leaf::Turn(number) = leaf else {
            return None;
        };
        let foreign = Self {
            number,
            commit: found.commit.oid.clone(),
            name: found.name.clone(),
        };
        let turn = Turn::read(&found.commit);
        let is_turn = turn.is_some_and(|turn| turn.number() == Number::turn(number));
        (!is_turn).then_some((id, foreign))
    }

    /// What it is, in a person's words.
    pub fn what(&self) -> String {
        let Self { number, commit, .. } = self;
        format!("turn {number} is foreign: its commit {commit} is no turn {number} of edio's")
    }

    /// How to see it.
    pub fn look(&self) -> String {
        format!("see it: git show {}", self.commit)
    }

    /// How to be rid of it.
    pub fn riddance(&self) -> String {
        format!(
            "to be rid of it: git update-ref --no-deref -d {}",
            self.name
        )
    }

    /// Says so, as the answer to whoever asks for such a turn.
    pub fn error(&self) -> Error {
        Error::cannot(self.what())
            .hint(self.look())
            .hint(self.riddance())
    }
}
