//! `edio mcp`: the tools that agents call.

use std::path::PathBuf;

use super::{Context, gc};
use crate::error::{Error, Result};
use crate::history::lock::Patience;
use crate::history::workspace::Place;
use crate::mcp::{self, Host};

/// Serve agents over the Model Context Protocol, on standard input and output.
///
/// An agent starts this by itself, once it is configured to. The tools are snapshot, log, show, diff, restore, undo and
/// status. With edio.mcp.restore=false agents can't go back; with edio.mcp.accept=true they can accept, too. It ends when
/// its input ends.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  edio mcp\n  edio mcp --project ~/work/app")]
pub struct Args {
    /// The project: a folder in a repository. Without, the folder that it is started in.
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
}

/// Runs it, until the input ends.
///
/// # Errors
///
/// The streams broke. That there is no repository is no error: one may be made meanwhile.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    if context.session.is_some() {
        return Err(Error::usage("agents work in the session under way")
            .hint("leave out --session: edio mcp"));
    }
    let here = &context.place.folder;
    let place = Place {
        folder: args
            .project
            .as_ref()
            .map_or_else(|| here.clone(), |project| here.join(project)),
        patience: Patience::default(),
        ..context.place.clone()
    };
    mcp::serve(Host {
        place,
        after_accept: gc::run_behind,
    })?;
    Ok(0)
}
