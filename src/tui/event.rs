//! What the screen is told, and what it asks for. Between the two stands [`State::update`](super::state::State::update).

use crate::history::git::{Counted, Oid, RepoPath};
use crate::history::refnames::{SessionId, Shelf};
use crate::history::turn::Number;
use crate::history::undo::Direction;
use crate::term::screen::Input;

use super::patch::Piece;
use super::timeline::Book;

/// Something that happened.
#[derive(Debug)]
pub enum Event {
    /// At the terminal.
    Input(Input),
    /// Behind the screen.
    News(News),
    /// Time passed: it is now so many seconds since 1970.
    Tick(i64),
}

/// Two trees, or commits: what is compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// The older one.
    pub old: Oid,
    /// The other.
    pub new: Oid,
}

/// The patches that are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The one that is to be shown, if it is not there yet.
    pub now: Option<Pair>,
    /// What may be shown next.
    pub ahead: Vec<Pair>,
}

/// What came of something that was asked for.
#[derive(Debug)]
pub enum News {
    /// Refs, HEAD or the memory of the workspace changed.
    Changed,
    /// The session, as it stands.
    Session(Box<Book>),
    /// There is none.
    NoSession,
    /// The work tree, beside the current turn.
    Look(Look),
    /// The files in which two trees differ.
    Files(Pair, Vec<Counted>),
    /// More of a patch. Was that all?
    Piece(Pair, Piece, Going),
    /// A patch was given up.
    Dropped(Pair),
    /// A patch could not be read.
    Unread(Pair, String),
    /// What each turn changed.
    Names(Vec<(Oid, Vec<RepoPath>)>),
    /// The sessions there are.
    Sessions(Vec<SessionLine>),
    /// What would be done: it is asked whether it is to be.
    Plan(Plan),
    /// Something was done, or could not be.
    Done(Told),
    /// Something is to be known.
    Told(Told),
}

/// Does a patch go on?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Going {
    /// It does.
    On,
    /// That was all.
    Ended,
    /// There is more than is looked at.
    Cut,
}

/// The work tree, beside the current turn.
#[derive(Debug, Default)]
pub struct Look {
    /// How many paths differ.
    pub changed: usize,
    /// The work tree, where it can be read.
    pub tree: Option<Oid>,
    /// Why a snapshot would be refused.
    pub refused: Option<String>,
}

/// A session in the list of all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionLine {
    /// Its id.
    pub id: SessionId,
    /// Is it under way, or put away?
    pub shelf: Shelf,
    /// How many turns it has.
    pub turns: usize,
    /// When it was last used, in seconds since 1970.
    pub seconds: i64,
    /// What its last turn says.
    pub subject: String,
    /// Is it the one that is under way here?
    pub is_own: bool,
}

/// What would be done.
#[derive(Debug, PartialEq, Eq)]
pub struct Plan {
    /// What it is called.
    pub title: String,
    /// In short: how many files.
    pub summary: String,
    /// Each path, with what is done there.
    pub paths: Vec<(char, RepoPath, Option<String>)>,
    /// What else should be known.
    pub notes: Vec<String>,
    /// What does it.
    pub does: Does,
}

/// What a plan leads to.
#[derive(Debug, PartialEq, Eq)]
pub enum Does {
    /// A restore.
    Restore(Restore),
    /// A commit, once it has a message.
    Accept(Commit),
    /// Nothing: there is nothing to do.
    Nothing,
}

/// The commit that an accept will make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its message, as far as it is written.
    pub message: String,
    /// What it will hold, as the plan shows it.
    pub tree: Oid,
    /// Who uses the terminal meanwhile.
    pub terminal: AtTerminal,
}

/// Who uses the terminal while a job is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtTerminal {
    /// The screen, as ever.
    Screen,
    /// The person's hooks, or the program that signs.
    Programs,
}

/// What just happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// In words.
    pub text: String,
    /// What takes it back, or helps.
    pub hint: Option<String>,
    /// Did it fail?
    pub failed: bool,
}

/// A restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restore {
    /// The session that the turn is of.
    pub session: SessionId,
    /// The turn.
    pub number: Number,
    /// Its commit, by which it is seen that it is still that turn.
    pub commit: Oid,
    /// The paths: all where this is empty.
    pub paths: Vec<RepoPath>,
}

/// Is a restore to be asked for?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Always.
    Always,
    /// Only where something is unsaved.
    IfUnsaved,
    /// It was.
    Done,
}

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect {
    /// The session: this one, or the one under way.
    Load(Option<SessionId>),
    /// These patches. What is not among them is not wanted any more.
    Read(Wanted),
    /// What each of these turns changed.
    Names(Vec<(Oid, Pair)>),
    /// The sessions.
    Sessions,
    /// Work in the workspace.
    Work(Job),
    /// A text for the clipboard.
    Copy(String),
    /// A file in the person's editor, at a line.
    Open(RepoPath, u32),
    /// The shell, for a while.
    Suspend,
    /// Everything is drawn anew.
    Redraw,
    /// The end, with this exit code.
    Quit(u8),
}

/// Work in the workspace, under its lock.
#[derive(Debug, PartialEq, Eq)]
pub enum Job {
    /// A look at the work tree; where it is kept, the tree can be read.
    Look {
        /// Is it?
        kept: bool,
    },
    /// A restore.
    Restore(Restore, Asked),
    /// An undo or a redo.
    Undo(Direction),
    /// A snapshot.
    Snapshot,
    /// What an accept would commit.
    Prepare,
    /// An accept.
    Accept(Commit),
}
