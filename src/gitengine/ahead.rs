//! Processes of git that are started before it is known what they are to be told, and wait for it.
//!
//! A process takes longer to start than most of what it is asked. So what a command is sure to need is started while it
//! still finds out what for, on a core that has nothing else to do. The question that such a process would be started for
//! is then answered by it, with the same words in the same surroundings.
//!
//! A list of refs needs no input ([`Git::ask_ref_commits_ahead`]): it is made at once, and waits to be read.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::process::{Command, StandingBy};

use super::command::Git;

/// What git can be started for ahead: it takes from its input what it is to do.
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
        let mut processes = self.processes();
        let fits = processes.iter().position(|process| process.is(command))?;
        Some(processes.swap_remove(fits))
    }

    /// Starts one by this command, unless so many wait already.
    pub(super) fn add(&self, command: Command, most: usize) {
        let mut processes = self.processes();
        let waiting = processes.iter().filter(|process| process.is(&command));
        if waiting.count() < most {
            processes.extend(command.stand_by());
        }
    }

    /// Ends those that wait.
    pub fn clear(&self) {
        self.processes().clear();
    }

    fn processes(&self) -> MutexGuard<'_, Vec<StandingBy>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Git {
    /// Starts a process for each of these errands, but for those for which one waits. One that can't be started is none: the
    /// question itself will say why.
    pub fn start_ahead(&self, errands: &[Errand]) {
        for (number, errand) in errands.iter().enumerate() {
            let ask = match errand {
                Errand::Read => self.ask_to_read(),
                Errand::Store => self.ask_to_store(),
                Errand::Differ => self.ask_to_differ(),
                Errand::Count => self.ask_to_count(&[]),
                Errand::Commit => self.ask_to_commit(),
                Errand::MoveRefs => self.ask_to_move_refs(),
            };
            let same = errands[..=number].iter().filter(|other| *other == errand);
            ask.stand_by(same.count());
        }
    }
}
