//! One call of a tool: who calls, where, and what the person lets agents do there.

use std::sync::Arc;

use crate::clock;
use crate::error::{Error, Kind, Result};
use crate::history::recover;
use crate::history::snapshot::Moment;
use crate::history::workspace::{Locked, Place, Workspace};

/// What the server stands on.
pub struct Host {
    /// Where the workspace is.
    pub place: Place,
    /// What follows an accept, with the workspace that it happened in.
    pub after_accept: fn(&Place, Locked),
}

/// A call.
#[derive(Clone)]
pub struct Call {
    /// What the server stands on.
    pub host: Arc<Host>,
    /// The agent that calls, where it said who it is.
    pub agent: Option<String>,
    /// Whether it may.
    pub leave: Leave,
}

/// Whether agents may use a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// They may.
    Given,
    /// They may, unless this setting is false.
    Unless(&'static str),
    /// They may only where this setting is true.
    Only(&'static str),
}

impl Leave {
    /// Is it given in this workspace, or where there is none?
    pub fn is_given(self, workspace: Option<&Workspace>) -> bool {
        let settings = workspace.map(|workspace| &workspace.settings);
        match self {
            Leave::Given => true,
            Leave::Unless(key) => {
                settings.is_none_or(|settings| settings.get(key).is_none() || settings.is_true(key))
            }
            Leave::Only(key) => settings.is_some_and(|settings| settings.is_true(key)),
        }
    }

    fn refused(self) -> Error {
        match self {
            Leave::Given | Leave::Only(_) => {
                Error::cannot("agents are not allowed to accept in this repository")
                    .hint("ask the person who works here to run: edio accept \"what was done\"")
            }
            Leave::Unless(key) => Error::cannot(format!(
                "agents are not allowed to go back here ({key} is false)"
            ))
            .hint("ask the person who works here to run edio restore, or edio undo"),
        }
    }
}

impl Call {
    /// The workspace, to look at.
    ///
    /// # Errors
    ///
    /// There is no repository, or it can't be read.
    pub fn look(&self) -> Result<Workspace> {
        let workspace = Workspace::open(self.place()?).map_err(told_where)?;
        self.is_allowed(workspace)
    }

    /// The workspace, to scan: no other edio works in it meanwhile.
    ///
    /// # Errors
    ///
    /// As for [`Call::look`]; also where the git directory can't be written.
    pub fn look_locked(&self) -> Result<Locked> {
        Workspace::open_locked(self.place()?).map_err(told_where)
    }

    /// The workspace, to change something. What a killed process left there is finished first, and said.
    ///
    /// # Errors
    ///
    /// As for [`Call::look_locked`]; also where agents may not do this.
    pub fn work(&self) -> Result<(Locked, Vec<String>)> {
        let mut workspace = self.is_allowed(self.look_locked()?)?;
        let said = match recover::settle(&mut workspace, moment()?) {
            Ok(said) => said.into_iter().collect(),
            Err(error) => vec![format!(
                "what an interrupted command began could not be finished: {}",
                in_words(&error)
            )],
        };
        Ok((workspace, said))
    }

    fn is_allowed<W: AsRef<Workspace>>(&self, workspace: W) -> Result<W> {
        match self.leave.is_given(Some(workspace.as_ref())) {
            true => Ok(workspace),
            false => Err(self.leave.refused()),
        }
    }

    fn place(&self) -> Result<&Place> {
        let place = &self.host.place;
        match place.folder.is_dir() {
            true => Ok(place),
            false => {
                let folder = place.folder.display();
                Err(told_where(Error::no_repository(format!(
                    "there is no folder {folder}"
                ))))
            }
        }
    }
}

fn told_where(error: Error) -> Error {
    match error.kind() {
        Kind::NoRepository => error.hint("or start the server there: edio mcp --project DIR"),
        _ => error,
    }
}

/// Now.
pub fn moment() -> Result<Moment> {
    Moment::at(clock::now())
}

/// An error as a model reads it: what, why, and what to try next.
pub fn in_words(error: &Error) -> String {
    let what = format!("error: {error}");
    let causes = error.causes().into_iter();
    let causes = causes.map(|cause| format!("caused by: {cause}"));
    let hints = error.hints().iter().map(|hint| format!("hint: {hint}"));
    let lines: Vec<String> = [what].into_iter().chain(causes).chain(hints).collect();
    lines.join("\n")
}
