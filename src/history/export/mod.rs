//! A session for others: as patches, as a bundle, or as lines with who wrote them.

mod bundle;
mod patches;
mod trace;

use std::collections::BTreeSet;

use crate::error::{Error, Result};

use super::address::Range;
use super::compare::Comparison;
use super::session::Session;
use super::turn::{Kind, Turn};
use super::workspace::Workspace;

pub use self::bundle::{Bundled, Reach, bundle};
pub use self::patches::{Patches, patches};
pub use self::trace::{Contributor, Lines, Span, Trace, trace};

/// Turns that follow each other on one line.
pub struct Stretch {
    /// What the first of them grew from.
    pub base: Turn,
    /// The turns, the first one first.
    pub turns: Vec<Turn>,
    /// The numbers of turns in between that a restore has left behind: they are not on the line.
    pub left: Vec<u32>,
}

impl Stretch {
    /// The turns that are meant: one, those after one up to another, or all from the start to where the session stands.
    ///
    /// # Errors
    ///
    /// There is no such turn, or one does not lead to the other, or git failed.
    pub fn of(
        workspace: &Workspace,
        session: &Session,
        meant: Option<&Comparison>,
    ) -> Result<Self> {
        let (from, to) = match meant {
            None => (None, session.current()?.clone()),
            Some(Comparison::Turn(address)) => {
                let turn = address.find(workspace, session)?;
                if turn.note.kind == Kind::Baseline {
                    return Err(Error::cannot("turn 0 is the start: it changed nothing"));
                }
                (Some(session.before(workspace, &turn)?), turn)
            }
            Some(Comparison::Turns(Range { from, to })) => {
                let find = |address: &super::address::Address| address.find(workspace, session);
                (Some(find(from)?), find(to)?)
            }
        };
        let mut line = session.whole_line(workspace, &to);
        let mut turns = Vec::new();
        let mut at = to;
        let is_start = |turn: &Turn| match &from {
            Some(from) => turn.commit == from.commit,
            None => false,
        };
        while !is_start(&at) && at.note.kind != Kind::Baseline && at.note.session == session.id {
            let Some(before) = line.next() else { break };
            turns.push(std::mem::replace(&mut at, before?));
        }
        if let Some(from) = from.filter(|from| from.commit != at.commit) {
            return Err(Error::cannot(format!(
                "turn {} does not come before on the same line",
                from.number()
            ))
            .hint("two turns can be compared: edio diff A..B"));
        }
        turns.reverse();
        let left = left_behind(session, &turns);
        Ok(Self {
            base: at,
            turns,
            left,
        })
    }

    /// The turns, each with the one before it.
    pub fn pairs(&self) -> impl Iterator<Item = (&Turn, &Turn)> {
        let before = [&self.base].into_iter().chain(&self.turns);
        before.zip(&self.turns)
    }

    /// The state that it ends with.
    pub fn end(&self) -> &Turn {
        self.turns.last().unwrap_or(&self.base)
    }

    /// Refuses what holds no turn.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn not_empty(self) -> Result<Self> {
        match self.turns.is_empty() {
            true => Err(Error::cannot("there is no turn to export")
                .hint("take one: edio snapshot -m \"what was done\"")),
            false => Ok(self),
        }
    }
}

fn left_behind(session: &Session, turns: &[Turn]) -> Vec<u32> {
    let on_line: BTreeSet<u32> = turns.iter().map(|turn| turn.number().turn).collect();
    let (first, last) = (on_line.first(), on_line.last());
    let between = |number: &u32| Some(number) > first && Some(number) < last;
    let numbers = session.turns.keys().copied();
    numbers
        .filter(|number| between(number) && !on_line.contains(number))
        .collect()
}
