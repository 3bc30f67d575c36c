//! `edio redact`: what is stored already and looks like a secret.

use serde::Serialize;
use serde_json::Value;

use super::{Context, Printed};
use crate::error::{Error, Result};
use crate::history::forget::Extent;
use crate::history::stored::{Place, Secret, find};
use crate::term::text::plural;
use crate::term::{json, style, text};

/// Look for secrets in what is stored already.
///
/// It looks through the messages of turns and what is stored beside them, and prints where something looks like a secret,
/// what kind it is, how it begins and how long it is; never all of it. The exit code is 1 where there is something.
/// Nothing is changed. Files are looked into with --files.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio redact --check\n  edio redact --check --files --all-sessions\n  git config --add edio.redact 'ACME-[0-9]{8}'"
)]
pub struct Args {
    /// Only look: there is nothing else that it does.
    #[arg(long, required = true)]
    check: bool,
    /// Look also into the files that turns have and no commit of yours, up to 1 MB each.
    #[arg(long)]
    files: bool,
    /// Look through all sessions of the repository, archived ones too.
    #[arg(long)]
    all_sessions: bool,
}

#[derive(Serialize)]
struct Record<'a> {
    session: Option<&'a str>,
    turn: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u32>,
    place: &'a str,
    path: Option<Value>,
    kind: &'a str,
    start: &'a str,
    length: usize,
}

/// Runs it.
///
/// # Errors
///
/// There is no session, a pattern of edio.redact is wrong, or git failed.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    let extent = match (args.all_sessions, &context.session) {
        (true, None) => Extent::All,
        (true, Some(_)) => {
            return Err(Error::usage(
                "--all-sessions and --session exclude each other",
            ));
        }
        (false, Some(id)) => Extent::Session(id.clone()),
        (false, None) => Extent::Own,
    };
    let workspace = context.open()?;
    let secrets = find(&workspace, &extent, args.files)?;
    for secret in &secrets {
        match context.term.is_json() {
            true => context.term.record(&record(secret)).printed()?,
            false => context.term.line(line(secret)).printed()?,
        }
    }
    conclude(context, &secrets);
    Ok(u8::from(!secrets.is_empty()))
}

fn line(secret: &Secret) -> String {
    let place = match &secret.place {
        Place::Message => "message".to_owned(),
        Place::Trailer(name) | Place::Beside(name) => text::plain(name.as_bytes()),
        Place::File(path) => text::path(path),
    };
    let turn = match (secret.turn, &secret.place) {
        (Some(turn), _) => format!("turn {}", style::turn(turn)),
        (None, Place::File(_)) => "file".to_owned(),
        (None, Place::Beside(_)) => "beside a turn".to_owned(),
        (None, _) => "operation".to_owned(),
    };
    let start = text::plain(secret.start.as_bytes());
    format!(
        "{turn}, {place}: {} ({start}…, {})",
        secret.kind,
        plural(secret.length, "character")
    )
}

fn record(secret: &Secret) -> Record<'_> {
    let (place, path) = match &secret.place {
        Place::Message => ("message", None),
        Place::Trailer(name) | Place::Beside(name) => (name.as_str(), None),
        Place::File(path) => ("file", Some(json::path(path))),
    };
    Record {
        session: secret.session.as_ref().map(|id| id.as_str()),
        turn: secret.turn.map(|number| number.turn),
        step: secret.turn.and_then(|number| number.as_step()),
        place,
        path,
        kind: secret.kind,
        start: &secret.start,
        length: secret.length,
    }
}

/// Says what can be done.
fn conclude(context: &mut Context, secrets: &[Secret]) {
    let term = &mut context.term;
    if secrets.is_empty() {
        term.told("nothing that looks like a secret");
        return;
    }
    let is_in_file = |secret: &&Secret| matches!(secret.place, Place::File(_));
    let in_files = secrets.iter().filter(is_in_file).count();
    term.told(format!("{} found", plural(secrets.len(), "likely secret")));
    term.hint("what was a secret once is safe only when it is revoked where it was issued");
    if in_files > 0 {
        term.hint("a file can be taken out of all turns: edio forget -f FILE");
    }
    if in_files < secrets.len() {
        term.hint(
            "a text goes only with its session: edio sessions --close, then edio gc -d 0, \
             which prunes all that are closed",
        );
    }
}
