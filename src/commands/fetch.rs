//! `edio fetch`: sessions from a remote.

use std::ffi::OsString;

use serde::Serialize;

use super::{Context, Printed};
use crate::error::Result;
use crate::history::fetch::fetch;
use crate::history::remote::{self, Way};
use crate::history::shared::Came;
use crate::term::text;
use crate::term::text::plural;

/// Fetch the sessions that edio push sent to a remote.
///
/// They can be looked at and restored from, as archived ones can: log, show, diff, blame, bisect, restore, each with
/// --session ID. Nothing of yours changes: no branch, no file. git checks each object, and a session that is here with other
/// turns is never overwritten. edio gc prunes those that nobody has worked in for long; they can be fetched again.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio fetch\n  edio fetch origin --session sess_1764594320_0a1b2c3d\n  edio restore 4 --session sess_1764594320_0a1b2c3d\nTo send one: edio push"
)]
pub struct Args {
    /// A remote, an address or a path. Without, the one that git would fetch from.
    #[arg(value_name = "REMOTE", value_hint = clap::ValueHint::AnyPath)]
    remote: Option<OsString>,
}

#[derive(Serialize)]
struct Record {
    session: String,
    remote: String,
    turns: usize,
    came: &'static str,
}

/// Runs it.
///
/// # Errors
///
/// The remote can't be reached, or git failed. Of a session that is refused, nothing was changed.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    let mut workspace = context.open_locked()?;
    let remote = context.remote(&workspace, args.remote.as_deref(), Way::Here)?;
    let name = text::plain(remote::shown(&remote).as_bytes());
    let fetched = fetch(&mut workspace, &remote, context.session.as_ref())?;
    drop(workspace);
    if fetched.is_empty() {
        context.term.told(format!("{name} has no session"));
    }
    let (mut code, mut known, mut fresh) = (0, 0, Vec::new());
    for session in fetched {
        let id = session.id;
        let (turns, came) = match session.outcome {
            Ok(outcome) => outcome,
            Err(error) => {
                context.term.error(&error);
                code = error.kind().exit_code();
                continue;
            }
        };
        if context.term.is_json() {
            let record = Record {
                session: id.to_string(),
                remote: remote::shown(&remote),
                turns,
                came: came.name(),
            };
            context.term.record(&record).printed()?;
            continue;
        }
        let turns = plural(turns, "turn");
        match came {
            Came::New => context.term.told(format!("fetched: {id} ({turns})")),
            Came::More => context
                .term
                .told(format!("fetched: {id} goes on ({turns})")),
            Came::Known | Came::Own => {
                known += 1;
                continue;
            }
        }
        fresh.push(id);
    }
    match fresh.as_slice() {
        [] => {}
        [id] => context
            .term
            .hint(format!("to look at it: edio log --session {id}")),
        _ => context.term.hint("edio sessions lists them"),
    }
    if known > 0 && !context.term.is_json() {
        let what = plural(known, "session");
        context
            .term
            .told(format!("{what} of {name} had been here already"));
    }
    Ok(code)
}
