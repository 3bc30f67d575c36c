//! `edio init`: prepare the repository.

use clap::builder::PossibleValuesParser;
use serde::Serialize;
use serde_json::Value;

use super::{Context, Printed};
use crate::error::Result;
use crate::history::git::git_bytes;
use crate::term::{json, text};

/// Prepare the repository.
///
/// It makes edio's scratch folder in the git directory, and nothing else: no file in the work tree, no setting, no turn.
/// Running it again changes nothing. It is not needed before the first snapshot.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  edio init\n  edio init --agents none")]
pub struct Args {
    /// Agents to connect. This version connects none.
    #[arg(long, value_name = "LIST", default_value = "none", value_parser = PossibleValuesParser::new(["none"]))]
    agents: String,
}

#[derive(Serialize)]
struct Record<'a> {
    work_tree: Value,
    scratch: Value,
    agents: &'a [&'a str],
}

/// Runs it.
///
/// # Errors
///
/// There is no repository, or its git directory can't be written.
pub fn run(context: &mut Context, _: &Args) -> Result<u8> {
    let workspace = context.open_to_change()?;
    workspace.state.save(&workspace.scratch())?;
    let work_tree = git_bytes(&workspace.git.work_tree);
    if context.term.is_json() {
        let record = Record {
            work_tree: json::path(&work_tree),
            scratch: json::path(&git_bytes(&workspace.scratch())),
            agents: &[],
        };
        context.term.record(&record).printed()?;
        return Ok(0);
    }
    let shown = text::plain(&work_tree);
    context.term.told(format!("edio is ready in {shown}"));
    context
        .term
        .hint("take the first turn: edio snapshot -m \"start\"");
    Ok(0)
}
