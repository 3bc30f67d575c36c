//! Which turn grew from which, drawn beside a list of them.

use crate::history::git::Oid;
use crate::history::session::{Lineage, Session};
use crate::history::turn::Turn;

/// The drawing, as far as it has come.
#[derive(Default)]
pub struct Graph {
    /// What each column waits for: the turn that the one above it grew from.
    columns: Vec<Oid>,
}

impl Graph {
    /// The rows before a turn, where columns meet, and the one that the turn stands on.
    pub fn rows(&mut self, turn: &Turn, lineage: &Lineage<'_>, session: &Session) -> Vec<String> {
        let mut rows = Vec::new();
        let waiting = |columns: &[Oid]| columns.iter().position(|oid| oid == &turn.commit);
        let column = waiting(&self.columns).unwrap_or_else(|| {
            self.columns.push(turn.commit.clone());
            self.columns.len() - 1
        });
        while let Some(other) = self.columns.iter().rposition(|oid| oid == &turn.commit) {
            if other == column {
                break;
            }
            self.columns.remove(other);
            // The column leans over, one place a row, and crosses those in between.
            for place in (column + 1..=other).rev() {
                let bars = (0..self.columns.len()).map(|at| match at + 1 == place {
                    true => "|/",
                    false => "| ",
                });
                rows.push(bars.collect::<String>().trim_end().to_owned());
            }
        }
        let bar = |at: usize| match at == column {
            true => "o ",
            false => "| ",
        };
        rows.push((0..self.columns.len()).map(bar).collect());
        match grew_from(turn, lineage, session) {
            Some(parent) => self.columns[column] = parent,
            None => {
                self.columns.remove(column);
            }
        }
        rows
    }
}

/// The numbered turn that this one grew from; `None` for the first.
fn grew_from(turn: &Turn, lineage: &Lineage<'_>, session: &Session) -> Option<Oid> {
    let (_, before) = lineage.before(turn);
    let before = before?;
    let is_turn = before.number().turn > 0 && before.note.session == session.id;
    is_turn.then(|| before.commit.clone())
}
