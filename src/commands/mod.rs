//! The verbs, one a file: its arguments (their comments are the help), its run, its text and its JSON.
//!
//! What they do is done in [`history`](crate::history); here it is asked for and rendered. What is no verb is shared by
//! some: [`arguments`] that they take, how what they report is [`shown`], the [`connection`] of agents; and [`outcome`]
//! is around all of them.

pub mod accept;
pub mod agents;
mod arguments;
pub mod bisect;
pub mod blame;
pub mod completions;
mod connection;
pub mod context;
pub mod demo;
pub mod diff;
pub mod doctor;
pub mod exec;
pub mod export;
pub mod fetch;
pub mod forget;
pub mod gc;
pub mod guard;
pub mod hook;
pub mod import;
pub mod init;
pub mod log;
pub mod man;
pub mod mcp;
mod outcome;
pub mod push;
pub mod redact;
pub mod redo;
pub mod restore;
pub mod revert;
pub mod rewind;
pub mod run;
pub mod sessions;
pub mod show;
mod shown;
pub mod snapshot;
pub mod status;
pub mod ui;
pub mod undo;
pub mod why;

pub use self::outcome::{Global, in_context, misused};

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::clock::{self, Stopwatch};
use crate::env;
use crate::error::{Error, Result, While};
use crate::history::git::{Answer, Group, Prompts, Remote, RepoPath};
use crate::history::lock::{Patience, Told};
use crate::history::recover;
use crate::history::refnames::SessionId;
use crate::history::remote::{self, Way};
use crate::history::session::Session;
use crate::history::snapshot::Moment;
use crate::history::store::Stores;
use crate::history::workspace::{Locked, Place, Start, Workspace};
use crate::process::Trace;
use crate::term::{self, Term, text};

/// What every verb is given.
pub struct Context {
    /// The person's terminal.
    pub term: Term,
    /// Where the person stands.
    pub place: Place,
    /// The session that was asked for.
    pub session: Option<SessionId>,
}

impl Context {
    /// The context of a command started in this folder.
    ///
    /// # Errors
    ///
    /// The folder can't be entered.
    pub fn new(
        term: Term,
        folder: PathBuf,
        session: Option<SessionId>,
        verbose: bool,
    ) -> Result<Self> {
        let real = folder
            .canonicalize()
            .or_cannot(|| format!("can't enter {}", folder.display()))?;
        if !real.is_dir() {
            return Err(Error::cannot(format!("{} is no folder", folder.display())));
        }
        let patience = Patience {
            told: (!term.is_quiet()).then(|| tell_of_waiting(term.is_json())),
            most: None,
        };
        Ok(Self {
            term,
            place: Place {
                trace: verbose.then(trace),
                patience,
                ..place_at(real)
            },
            session,
        })
    }

    /// The workspace, to look at.
    fn open(&self) -> Result<Workspace> {
        Workspace::open(&self.place)
    }

    /// The workspace, to look at the turns of the session that is meant.
    fn open_to_list(&self) -> Result<Workspace> {
        match self.session {
            None => Workspace::open_to_list(&self.place),
            Some(_) => self.open(),
        }
    }

    /// The workspace, to work in.
    fn open_locked(&self) -> Result<Locked> {
        Workspace::open_locked(&self.place)
    }

    /// The workspace, to work in its own session. Another one that was asked for can only be looked at.
    fn open_to_change(&mut self) -> Result<Locked> {
        let workspace = self.open_to_restore()?;
        self.refuse_other_session(&workspace)?;
        Ok(workspace)
    }

    /// Sees that no other session than the one under way here was asked for.
    fn refuse_other_session(&self, workspace: &Workspace) -> Result<()> {
        let Some(wanted) = &self.session else {
            return Ok(());
        };
        let own = Session::active(workspace)?;
        if own.is_some_and(|own| &own.id == wanted) {
            return Ok(());
        }
        Err(
            Error::cannot(format!("{wanted} is not the session under way here"))
                .hint("another session can be looked at, and restored from: edio log, show, diff, restore"),
        )
    }

    /// The workspace, to bring back something from whatever session. What a killed process left there is finished first,
    /// and named.
    fn open_to_restore(&mut self) -> Result<Locked> {
        let mut workspace = Workspace::open_locked(&self.place)?;
        match recover::settle(&mut workspace, moment()?) {
            Ok(None) => {}
            Ok(Some(what)) => self.term.warn(text::plain(what.as_bytes())),
            Err(error) => {
                self.term
                    .warn("what an interrupted command began could not be finished");
                self.term.error(&error);
            }
        }
        Ok(workspace)
    }

    /// Tells what was found of the session on the way.
    fn tell_unsaid(&mut self, workspace: &mut Locked) -> Result<()> {
        if let Some(words) = recover::unsaid(workspace)? {
            self.term.warn(text::plain(words.as_bytes()));
        }
        Ok(())
    }

    /// The remote that is meant. git may ask for a password where somebody sits at a terminal.
    fn remote(&self, workspace: &Workspace, word: Option<&OsStr>, way: Way) -> Result<Remote> {
        let prompts = match self.term.is_interactive() {
            true => Prompts::OnTerminal,
            false => Prompts::Never,
        };
        remote::meant(workspace, &self.place.folder, word, way, prompts)
    }

    /// Sends what follows through the person's pager.
    fn page(&mut self, workspace: &Workspace) {
        if self.term.out_is_terminal() && !self.term.is_json() {
            let pager = workspace.git.pager();
            self.term.page(pager.as_deref());
        }
    }

    /// Prints a patch as git prints it.
    fn print_patch(&mut self, mut patch: Answer) -> Result<()> {
        self.term.copy(&mut patch.reader).printed()?;
        Ok(patch.close()?)
    }
}

/// A place to work at, with what is known of the surroundings.
fn place_at(folder: PathBuf) -> Place {
    Place {
        folder,
        told_elsewhere: env::git_is_told_where(),
        attributes_elsewhere: env::has_attributes_file(),
        home: env::home().and_then(|home| home.canonicalize().ok()),
        stores: stores(),
        git: env::find_program("git"),
        waiting: env::at_work(),
        patience: Patience::default(),
        trace: None,
        group: Group::Shared,
    }
}

/// The private stores that count here.
fn stores() -> Stores {
    env::stores().map_or(Stores::None, Stores::In)
}

/// What comes of writing to the standard output.
trait Printed<T> {
    /// Turns a failure into the error that ends the command; a closed pipe ends it in silence.
    fn printed(self) -> Result<T>;
}

impl<T> Printed<T> for io::Result<T> {
    fn printed(self) -> Result<T> {
        self.map_err(Error::output)
    }
}

fn moment() -> Result<Moment> {
    Moment::at(clock::now())
}

/// Says who is waited for.
fn tell_of_waiting(is_json: bool) -> Told {
    Arc::new(move |holder| {
        let who = holder.map_or(String::new(), |pid| format!(", process {pid},"));
        term::waiting(
            format!("waiting for another edio{who} which is at work in this work tree"),
            is_json,
        );
    })
}

/// Shows each process when it has ended.
fn trace() -> Trace {
    Arc::new(|words: &[OsString]| {
        let words = words.iter().map(|word| word.to_string_lossy());
        let shown: Vec<_> = words.map(|word| remote::without_password(&word)).collect();
        let shown = shown.join(" ");
        let watch = Stopwatch::start();
        Box::new(move || term::trace(&shown, watch.elapsed()))
    })
}

/// The paths of the work tree that a person means. The top itself means all of them, which is an empty list.
fn paths_meant(workspace: &Workspace, arguments: &[PathBuf]) -> Result<Vec<RepoPath>> {
    workspace.paths_meant(arguments, Start::Here)
}
