//! `edio import`: sessions from another repository.

use std::path::PathBuf;

use serde::Serialize;

use super::{Context, Printed};
use crate::error::Result;
use crate::history::import::import;
use crate::history::shared::Came;
use crate::term::text::plural;

/// Take in the sessions of a bundle that edio export wrote.
///
/// They can be looked at and restored from, as archived ones can: log, show, diff, blame, restore, each with --session ID.
/// Nothing of yours changes: no branch, no file. A session that is here with other turns is never overwritten. As of
/// archived ones, edio gc prunes those that nobody has worked in for long; the bundle can be imported again.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio import ../work.bundle\n  edio log --session sess_1764594320_0a1b2c3d\nTo write one: edio export --bundle FILE"
)]
pub struct Args {
    /// The bundle.
    #[arg(value_name = "BUNDLE", value_hint = clap::ValueHint::FilePath)]
    bundle: PathBuf,
}

#[derive(Serialize)]
struct Record {
    session: String,
    turns: usize,
    came: &'static str,
}

/// Runs it.
///
/// # Errors
///
/// It is no bundle of sessions, something in it is refused, or what it rests on is not here: nothing was changed.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    let file = context.place.folder.join(&args.bundle);
    let mut workspace = context.open_locked()?;
    for session in import(&mut workspace, &file)? {
        let id = session.id;
        if context.term.is_json() {
            let record = Record {
                session: id.to_string(),
                turns: session.turns,
                came: session.came.name(),
            };
            context.term.record(&record).printed()?;
            continue;
        }
        let turns = plural(session.turns, "turn");
        context.term.told(match session.came {
            Came::New => format!("fetched: {id} ({turns})"),
            Came::More => format!("fetched: {id} goes on ({turns})"),
            Came::Known => format!("{id} is here already ({turns})"),
            Came::Own => format!("{id} is a session of this repository ({turns})"),
        });
        context
            .term
            .hint(format!("to look at it: edio log --session {id}"));
    }
    Ok(0)
}
