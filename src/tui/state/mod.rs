//! What is shown, and how it changes: [`State::update`] takes what happened, and says what is to be done. It does nothing
//! itself.
//!
//! What happened is a key ([`keys`]), the mouse ([`mouse`]) or news from behind ([`news`]). Keys move about ([`moving`]) or
//! ask for something ([`effects`]). After each of them, [`reading`] sees that what is chosen is read.

mod compared;
mod effects;
mod keys;
mod mouse;
mod moving;
mod news;
mod patches;
mod reading;
mod rows;
mod shown;

use std::collections::{BTreeMap, BTreeSet};

pub use self::compared::Compared;
use self::patches::Patches;
pub use self::shown::Shown;
use super::event::{Effect, Event, Look, Pair, Plan, SessionLine, Told, Wanted};
use super::field::Field;
use super::timeline::{Book, Id, Row};
use crate::history::git::{Oid, RepoPath};
use crate::history::refnames::SessionId;
use crate::history::turn::Turn;

/// The part of the screen that the keys move in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pane {
    /// The turns.
    #[default]
    Turns,
    /// The difference.
    Diff,
}

/// What the keys are for.
#[derive(Debug, Default)]
pub enum Mode {
    /// Looking around.
    #[default]
    Browse,
    /// All keys are listed.
    Help,
    /// A plan asks whether it is to be done; so many lines of it are above what is seen.
    Plan(Plan, usize),
    /// A plan asks for the message of a commit.
    Message(Plan, Field, usize),
    /// What the turns are filtered by is typed.
    Filter,
    /// A session is chosen.
    Sessions(Vec<SessionLine>, usize),
}

/// Everything that is shown.
#[derive(Debug, Default)]
pub struct State {
    /// The columns and lines of the screen.
    pub size: (u16, u16),
    /// Now, in seconds since 1970.
    pub now: i64,
    /// What the keys are for.
    pub mode: Mode,
    /// The part that they move in.
    pub pane: Pane,
    /// The session; `None` until it is read, or where there is none.
    pub book: Option<Book>,
    /// Is it known whether there is one?
    pub is_read: bool,
    /// The work tree, once it was looked at.
    pub look: Option<Look>,
    /// What the turns are filtered by.
    pub filter: Field,
    /// The rows.
    pub rows: Vec<Row>,
    /// The row that is chosen.
    pub chosen: usize,
    /// The row at the top.
    pub top: usize,
    /// The turns whose steps are shown.
    pub unfolded: BTreeSet<u32>,
    /// The marked snapshots, at most two.
    pub marked: Vec<Oid>,
    /// What is compared.
    pub compared: Compared,
    /// The line of the patch at the top.
    pub line: usize,
    /// How many columns are scrolled past.
    pub across: usize,
    /// What just happened.
    pub told: Option<Told>,
    /// What is done right now.
    pub busy: Option<&'static str>,
    patches: Patches,
    /// What is shown, and of which row it was asked for.
    shown: Option<Pair>,
    shown_for: Option<(Id, Compared)>,
    /// What was last asked for.
    asked: Wanted,
    /// What is not read ahead: it was begun, and given up.
    given_up: BTreeSet<Pair>,
    names: BTreeMap<Oid, Vec<RepoPath>>,
    /// The session that was chosen, where it is not the one under way.
    wanted: Option<SessionId>,
    /// Did the last step go down?
    upward: bool,
    /// Was the work tree kept when it was last looked at?
    is_kept: bool,
    /// A row to choose once it is there.
    awaited: Option<Awaited>,
}

/// A row to choose once the turns are read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    /// Where the work tree stands.
    Current,
}

impl State {
    /// Nothing is known yet.
    pub fn new(size: (u16, u16), now: i64, wanted: Option<SessionId>) -> Self {
        Self {
            size,
            now,
            wanted,
            ..Self::default()
        }
    }

    /// Takes what happened. Returns what is to be done.
    pub fn update(&mut self, event: Event) -> Vec<Effect> {
        let mut effects = match event {
            Event::Input(input) => self.input(input),
            Event::News(news) => self.news(news),
            Event::Tick(now) => {
                self.now = now;
                Vec::new()
            }
        };
        self.follow(&mut effects);
        effects
    }

    /// The row that is chosen.
    pub fn row(&self) -> Option<Row> {
        self.rows.get(self.chosen).copied()
    }

    /// The snapshot that is chosen.
    pub fn snapshot(&self) -> Option<&Turn> {
        self.book.as_ref()?.snapshot(self.row()?)
    }

    /// Is the chosen session the one that is under way here?
    pub(super) fn is_own(&self) -> bool {
        self.book.as_ref().is_none_or(|book| book.is_own)
    }
}
