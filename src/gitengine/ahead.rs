//! Processes of git that are started before it is known what they are to be told, and wait for it.
//!
//! A process takes longer to start than most of what it is asked. So what a command is sure to need is started while it
//! still finds out what for, on a core that has nothing else to do. The question that such a process would be started for
//! is then answered by it, with the same words in the same surroundings.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::process::{Command, StandingBy};

use super::command::Git;

/// What git can be started for ahead: it takes what it needs from its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errand {
    /// Read objects ([`Git::objects`], [`Git::read_for_graft`]).
    Read,
    /// Store blobs and trees ([`Git::graft`]).
    Store,
    /// Find what differs between two trees ([`Git::differences`]).
    Differ,
    /// The same, with the number of lines ([`Git::differences_counted`]), whatever the path.
    Count,
    /// Write a commit ([`Git::write_commit`]).
    Commit,
    /// Change refs ([`Git::change_refs`]).
    MoveRefs,
}

/// The processes that wait. What is not used is killed at the end: a git that has been told nothing has done nothing.
#[derive(Clone, Default)]
pub struct Ahead(Arc<Mutex<Vec<StandingBy>>>);

impl Ahead {
    /// Takes the one that this command would start.
    pub(super) fn take(&self, command: &Command) -> Option<StandingBy> {
        let mut processes = self.lock();
        let fits = processes.iter().position(|process| process.is(command))?;
        Some(processes.swap_remove(fits))
    }

    pub(super) fn add(&self, process: StandingBy) {
        self.lock().push(process);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<StandingBy>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Git {
    /// Starts a process for each of these errands. One that can't be started is none: the question itself will say why.
    pub fn start_ahead(&self, errands: &[Errand]) {
        for errand in errands {
            let ask = match errand {
                Errand::Read => self.ask_to_read(),
                Errand::Store => self.ask_to_store(),
                Errand::Differ => self.ask_to_differ(),
                Errand::Count => self.ask_to_count(&[]),
                Errand::Commit => self.ask_to_commit(),
                Errand::MoveRefs => self.ask_to_move_refs(),
            };
            ask.stand_by();
        }
    }
}
