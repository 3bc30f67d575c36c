//! `edio exec`: run a command on the files of a turn.

use std::ffi::OsString;

use clap_complete::engine::ArgValueCompleter;

use super::arguments::checkout::{self, Missing, Site};
use super::run::not_started;
use super::{Context, completions};
use crate::error::Result;
use crate::history::address::Address;
use crate::history::session::Session;

/// Run a command on the files of a turn, in a folder of its own: your work tree stays as it is.
///
/// The folder is a temporary one, and gone at the end, unless you keep it. It is no git repository, and git commands find
/// none there. CMD has your environment and EDIO_TURN, the number of the turn, and starts in the subfolder that you stand
/// in, where the turn has it. Ignored files are not there. The exit code of CMD is passed on.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio exec 7 -- make test\n  edio exec @-1 --link node_modules -- npm test\n  edio exec 3 --keep /tmp/three -- cargo build"
)]
pub struct Args {
    /// The turn: 7, 7.2, @, @-1, last, or the start of its id.
    #[arg(value_name = "TURN", add = ArgValueCompleter::new(completions::turns))]
    turn: Address,
    #[command(flatten)]
    place: checkout::Args,
    /// The command and its own words.
    #[arg(
        value_name = "CMD",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    command: Vec<OsString>,
}

/// Runs it. Returns the command's own exit code.
///
/// # Errors
///
/// There is no such turn, or its files can't be written: the command is not started then.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    let workspace = context.open()?;
    let session = Session::wanted(&workspace, context.session.as_ref())?;
    let turn = args.turn.find(&workspace, &session)?;
    let site = Site::make(context, &workspace, &args.place)?;
    let mut checkout = site.room.checkout(1)?;
    let made = checkout.go_to(&turn, &|| site.interruption.came());
    site.unless_interrupted(made)?;
    let submodules: Vec<_> = checkout.submodules().cloned().collect();
    Missing::default().name(context, &turn, &submodules);
    let (program, words) = checkout::program(&args.command)?;
    let command = checkout::command(program, words, &workspace, &checkout, &turn);
    match command.hand_over() {
        Ok(status) => Ok(status.shell_code()),
        Err(error) => Ok(not_started(context, program, &error)),
    }
}
