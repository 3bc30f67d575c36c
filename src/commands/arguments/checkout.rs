//! What `exec` and `bisect` have in common: where a turn's files are put, and the surroundings of a command there.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

use tempfile::TempDir;

use super::super::Context;
use super::super::shown::held::name_skipped;
use crate::env;
use crate::error::{Error, Result, While};
use crate::history::checkout::{Checkout, Room};
use crate::history::git::{LOCAL_VARIABLES, RepoPath};
use crate::history::skipped::{Skipped, Why};
use crate::history::turn::Turn;
use crate::history::workspace::Workspace;
use crate::process::{Command, Interruption};

/// Where the turn's files are put.
#[derive(clap::Args)]
#[group(skip)]
pub struct Args {
    /// Keep the files in DIR/tree, and go on with what is there: build folders are used again. DIR must be empty, or made
    /// by edio.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Where the turn holds nothing of that name, link to your own ignored file or folder: `--link node_modules`. What
    /// CMD writes there, it writes into yours.
    #[arg(long, value_name = "NAME")]
    link: Vec<PathBuf>,
}

/// The room for checkouts. It goes at the end, unless it is kept.
pub struct Site<'w> {
    /// The room itself.
    pub room: Room<'w>,
    /// Does somebody want edio to end?
    pub interruption: Interruption,
    // After the room, which empties it.
    _temporary: Option<TempDir>,
}

impl<'w> Site<'w> {
    /// Makes the room.
    ///
    /// # Errors
    ///
    /// It can't be made there, or there is nothing to link to.
    pub fn make(context: &Context, workspace: &'w Workspace, args: &Args) -> Result<Self> {
        let interruption = Interruption::watch();
        let interruption = interruption.or_cannot(|| "can't watch for signals".to_owned())?;
        let (mut room, temporary) = match &args.keep {
            Some(folder) => {
                let folder = context.place.folder.join(folder);
                (Room::kept(workspace, &folder)?, None)
            }
            None => {
                let temporary = tempfile::Builder::new().prefix("edio-").tempdir();
                let temporary = temporary.or_cannot(|| "can't make a folder".to_owned())?;
                let room = Room::temporary(workspace, temporary.path())?;
                (room, Some(temporary))
            }
        };
        room.link(&args.link)?;
        Ok(Self {
            room,
            interruption,
            _temporary: temporary,
        })
    }

    /// What failed, or that it was interrupted: then what failed did so because of that.
    ///
    /// # Errors
    ///
    /// Always the one or the other, where there is one.
    pub fn unless_interrupted<T>(&self, outcome: Result<T>) -> Result<T> {
        match self.interruption.came() {
            true => Err(Error::interrupted("interrupted")),
            false => outcome,
        }
    }
}

/// Those of git's variables that edio keeps from its own git, and that lead to no repository: the person's to set.
const OWN: [&str; 6] = [
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
];

/// The program of a command, and its words.
///
/// # Errors
///
/// There is none.
pub fn program(command: &[OsString]) -> Result<(&OsString, &[OsString])> {
    let parts = command.split_first();
    parts.ok_or_else(|| Error::usage("no command to run"))
}

/// The command, ready to be run in a turn's files: in the folder that stands for the one the person stands in, with the
/// person's own environment, in which nothing leads git to the person's repository.
pub fn command(
    program: &OsString,
    words: &[OsString],
    workspace: &Workspace,
    checkout: &Checkout<'_>,
    turn: &Turn,
) -> Command {
    let folder = checkout.folder_for(&workspace.prefix);
    let above = checkout.top().parent().unwrap_or(checkout.top());
    let command = Command::new(program)
        .args(words)
        .dir(&folder)
        .trace(workspace.git.trace.as_ref());
    let unset = LOCAL_VARIABLES.iter().filter(|name| !OWN.contains(name));
    let command = unset.fold(command, |command, name| command.without_env(name));
    command
        .env("GIT_CEILING_DIRECTORIES", env::ceilings_with(above))
        // Whoever trusts it would be in the work tree.
        .env("PWD", &folder)
        .env("EDIO_TURN", turn.number().to_string())
}

/// Names once what is not there, of all turns that were looked at.
#[derive(Default)]
pub struct Missing(BTreeSet<RepoPath>);

impl Missing {
    /// Names what is not there in this turn, and was not named before.
    pub fn name(&mut self, context: &mut Context, turn: &Turn, submodules: &[RepoPath]) {
        let submodules = submodules.iter();
        let submodules = submodules.map(|path| Skipped::new(path.clone(), Why::Submodule));
        let mut missing: Vec<Skipped> = submodules.collect();
        let skipped = turn.note.skipped.iter();
        missing.extend(skipped.filter(|skipped| skipped.is_left_out()).cloned());
        missing.retain(|skipped| self.0.insert(skipped.path.clone()));
        if !missing.is_empty() {
            let number = turn.number();
            context
                .term
                .told(format!("edio: turn {number} does not have all files:"));
            name_skipped(&mut context.term, &missing);
        }
    }
}
