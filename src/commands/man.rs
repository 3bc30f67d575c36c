//! `edio man`: the manual pages.

use std::path::PathBuf;

use clap::Command;

use super::Context;
use crate::error::{Result, While};

/// Write the manual pages into a folder: edio.1, and one for each command.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  edio man ~/.local/share/man/man1")]
pub struct Args {
    /// The folder, which is made where there is none.
    #[arg(value_name = "DIR")]
    target: PathBuf,
}

/// Runs it.
///
/// # Errors
///
/// The folder can't be written.
pub fn run(context: &mut Context, args: &Args, tree: Command) -> Result<u8> {
    let folder = context.place.folder.join(&args.target);
    let shown = folder.display();
    std::fs::create_dir_all(&folder).or_cannot(|| format!("can't make {shown}"))?;
    clap_mangen::generate_to(tree, &folder).or_cannot(|| format!("can't write in {shown}"))?;
    context
        .term
        .told(format!("the manual pages are in {shown}"));
    Ok(0)
}
