//! `edio redo`: to the state before the last undo.

use super::{Context, undo};
use crate::error::Result;
use crate::history::undo::Direction;

/// Go forward again: to the state before the last undo.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  edio undo\n  edio redo")]
pub struct Args {}

/// Runs it.
///
/// # Errors
///
/// There is nothing to redo, or it can't be done: then nothing has changed.
pub fn run(context: &mut Context, _: &Args) -> Result<u8> {
    undo::go(context, Direction::Redo)
}
