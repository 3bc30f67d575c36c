//! `edio diff`: what a turn changed; two turns; a turn and the disk.

use std::path::PathBuf;

use super::shown::record::difference;
use super::{Context, Printed, paths_meant};
use crate::error::{Error, Result};
use crate::history::address::{Address, Range};
use crate::history::compare::{Comparison, Sides, differences, refuse_nowhere, with_work_tree};
use crate::history::git::{PatchStyle, RepoPath};
use crate::history::session::Session;
use crate::history::workspace::Workspace;
use clap_complete::engine::ArgValueCompleter;

/// Show what a turn changed, what lies between two turns, or what the work tree has that a turn has not.
///
/// Differences are no failure: the exit code is 0 with and without them.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio diff\n  edio diff 7\n  edio diff 3..6 -f src/main.rs\n  edio diff --workspace"
)]
pub struct Args {
    /// A turn, or two as 3..6. Without, the last one; with --workspace, the current one.
    #[arg(value_name = "TURN | A..B", add = ArgValueCompleter::new(super::completions::turns))]
    wanted: Option<Comparison>,
    /// Only this file or folder. Can be given several times.
    #[arg(short, long = "file", value_name = "FILE", add = ArgValueCompleter::new(super::completions::paths))]
    files: Vec<PathBuf>,
    /// Compare a turn with the work tree as it is now.
    #[arg(long)]
    workspace: bool,
}

/// Runs it.
///
/// # Errors
///
/// There is no such turn or path, or git failed.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    if !args.workspace {
        let workspace = context.open_to_list()?;
        let session = Session::wanted(&workspace, context.session.as_ref())?;
        let last = Comparison::Turn(Address::Last);
        let wanted = args.wanted.as_ref().unwrap_or(&last);
        let sides = wanted.sides(&workspace, &session)?;
        return show(context, &workspace, &sides, args);
    }
    let workspace = context.open_locked()?;
    let session = Session::wanted(&workspace, context.session.as_ref())?;
    let address = match &args.wanted {
        None => Address::Current { back: 0 },
        Some(Comparison::Turn(address)) => address.clone(),
        Some(Comparison::Turns(Range { from, to })) => {
            return Err(Error::usage(format!(
                "{from}..{to} is two turns, and --workspace takes one"
            )));
        }
    };
    let turn = address.find(&workspace, &session)?;
    let sides = with_work_tree(&workspace, &turn)?;
    show(context, &workspace, &sides, args)
}

fn show(context: &mut Context, workspace: &Workspace, sides: &Sides, args: &Args) -> Result<u8> {
    let paths: Vec<RepoPath> = paths_meant(workspace, &args.files)?;
    refuse_nowhere(workspace, sides, &paths)?;
    if context.term.is_json() {
        for found in &differences(workspace, sides, &paths)?.0 {
            context.term.record(&difference(found)).printed()?;
        }
        return Ok(0);
    }
    context.page(workspace);
    let style = PatchStyle {
        color: context.term.styles_out(),
    };
    let patch = workspace
        .git
        .patch(&sides.old, &sides.new, &paths, &style)?;
    context.print_patch(patch)?;
    Ok(0)
}
