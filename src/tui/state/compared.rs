//! Which two trees are compared: those around a turn, or of the two marked ones.

use super::State;
use crate::history::turn::Turn;
use crate::tui::event::Pair;
use crate::tui::timeline::Row;

/// What a turn is compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compared {
    /// With the turn that it grew from: what it did.
    #[default]
    Before,
    /// With the disk as it is now.
    Disk,
    /// With HEAD.
    Head,
    /// Nothing of it: the two marked turns are compared.
    Marked,
}

impl State {
    /// What is compared, with a title: `turn 3 → turn 6`.
    pub fn title(&self) -> String {
        let number = |row: Row| {
            let number = self.book.as_ref().and_then(|book| book.number(row));
            number.map_or_else(|| "?".to_owned(), |number| number.to_string())
        };
        match (self.compared, self.row()) {
            (Compared::Marked, _) => {
                let marks: Vec<String> = self.marked_numbers();
                format!("turn {}", marks.join(" → turn "))
            }
            (_, None) => String::new(),
            (Compared::Head, Some(Row::Now)) => "HEAD → now".to_owned(),
            (_, Some(Row::Now)) => "not saved yet".to_owned(),
            (Compared::Before, Some(row)) => format!("turn {}", number(row)),
            (Compared::Disk, Some(row)) => format!("turn {} → now", number(row)),
            (Compared::Head, Some(row)) => format!("HEAD → turn {}", number(row)),
        }
    }

    /// The numbers of the marked turns, the lower one first.
    fn marked_numbers(&self) -> Vec<String> {
        let numbers = self.marked_turns().into_iter().map(|turn| turn.number());
        numbers.map(|number| number.to_string()).collect()
    }

    pub(super) fn marked_turns(&self) -> Vec<&Turn> {
        let Some(book) = &self.book else {
            return Vec::new();
        };
        let steps = book.entries.iter().flat_map(|entry| &entry.steps);
        let turns = book.entries.iter().filter_map(|entry| entry.turn.as_ref());
        let all = turns.chain(steps.map(|(step, _)| step));
        let mut marked: Vec<&Turn> = all
            .filter(|turn| self.marked.contains(&turn.commit))
            .collect();
        marked.sort_by_key(|turn| turn.number());
        marked
    }

    /// The trees that are compared on a row; `None` where they are not known.
    pub(super) fn wanted_pair(&self, row: usize) -> Option<Pair> {
        let book = self.book.as_ref()?;
        let tree = |turn: &Turn| turn.tree.clone();
        if self.compared == Compared::Marked {
            let [old, new] = self.marked_turns().try_into().ok()?;
            return Some(Pair {
                old: tree(old),
                new: tree(new),
            });
        }
        let row = *self.rows.get(row)?;
        let disk = || self.look.as_ref().filter(|_| self.is_kept)?.tree.clone();
        let new = match row {
            Row::Now => disk()?,
            row => tree(book.snapshot(row)?),
        };
        Some(match self.compared {
            Compared::Head => Pair {
                old: book.head.clone()?,
                new,
            },
            Compared::Disk if row != Row::Now => Pair {
                old: new,
                new: disk()?,
            },
            _ => Pair {
                old: book.before(row)?.clone(),
                new,
            },
        })
    }

    pub(super) fn compare_next(&mut self) {
        let has_marks = self.marked_turns().len() == 2;
        self.compared = match self.compared {
            Compared::Before => Compared::Disk,
            Compared::Disk => Compared::Head,
            Compared::Head if has_marks => Compared::Marked,
            _ => Compared::Before,
        };
    }

    pub(super) fn mark(&mut self) {
        let Some(commit) = self.snapshot().map(|turn| turn.commit.clone()) else {
            return;
        };
        match self.marked.iter().position(|marked| marked == &commit) {
            Some(at) => drop(self.marked.remove(at)),
            None => {
                if self.marked.len() == 2 {
                    self.marked.remove(0);
                }
                self.marked.push(commit);
            }
        }
        match self.marked.len() {
            2 => self.compared = Compared::Marked,
            _ if self.compared == Compared::Marked => self.compared = Compared::Before,
            _ => {}
        }
    }
}
