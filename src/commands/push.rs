//! `edio push`: sessions for a remote.

use std::ffi::OsString;

use serde::Serialize;
use serde_json::Value;

use super::shown::record;
use super::{Context, Printed};
use crate::error::{Error, Result};
use crate::history::limits::size;
use crate::history::push::{Parcel, Secrets, Sending, Went, Wish, push};
use crate::history::refnames::{SessionId, Shelf};
use crate::history::remote::{self, Way};
use crate::history::session::Session;
use crate::history::shared::SideCommits;
use crate::history::workspace::Workspace;
use crate::term::text;
use crate::term::text::plural;

/// Send a session to a remote, for edio fetch on another machine.
///
/// All its turns go, with every file that they hold, and with the commits that they rest on, where the remote lacks these.
/// Conversations, ignored files that were saved and what was staged stay here, unless --with-side is given. Nothing is ever
/// sent by itself. No branch of the remote changes, and no hook of yours is run, not pre-push either.
///
/// A session with something in it that looks like a secret is refused without --force.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio push --dry-run\n  edio push origin\n  edio push ../shared.git --all\nTo take it in elsewhere: edio fetch\nTo take it off the remote again: edio gc --remote --session ID"
)]
pub struct Args {
    /// A remote, an address or a path. Without, the one that git would push to.
    #[arg(value_name = "REMOTE", value_hint = clap::ValueHint::AnyPath)]
    remote: Option<OsString>,
    /// Send all sessions of this repository, also those that are archived, but none that was fetched.
    #[arg(long, conflicts_with = "session")]
    all: bool,
    /// Send also conversations, ignored files that were saved, and what was staged.
    #[arg(long)]
    with_side: bool,
    /// Send also what looks like a secret.
    #[arg(long)]
    force: bool,
    /// Show what would leave, and send nothing.
    #[arg(long)]
    dry_run: bool,
}

#[derive(Serialize)]
struct Record {
    session: String,
    remote: String,
    turns: usize,
    went: &'static str,
    objects: usize,
    bytes: u64,
    files: Value,
    commits: Vec<String>,
    dry_run: bool,
}

/// Runs it.
///
/// # Errors
///
/// There is no session, the remote can't be reached or takes nothing, or git failed.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    let mut workspace = context.open_to_restore()?;
    let remote = context.remote(&workspace, args.remote.as_deref(), Way::There)?;
    let name = remote::shown(&remote);
    let ids = meant(context, &workspace, args.all)?;
    let wish = Wish {
        sides: match args.with_side {
            true => SideCommits::All,
            false => SideCommits::Copies,
        },
        secrets: match args.force {
            true => Secrets::Send,
            false => Secrets::Refuse,
        },
        sending: match args.dry_run {
            true => Sending::Dry,
            false => Sending::Real,
        },
    };
    let pushed = push(&mut workspace, &remote, &ids, &wish)?;
    drop(workspace);
    let mut code = 0;
    for session in pushed {
        match session.outcome {
            Ok(parcel) => report(context, args, &name, &session.id, &parcel)?,
            Err(error) => {
                context.term.error(&error);
                code = error.kind().exit_code();
            }
        }
    }
    if args.dry_run {
        context
            .term
            .told("nothing was sent: this is what would leave");
    } else if code == 0 {
        context.term.hint("to take it in elsewhere: edio fetch");
    }
    Ok(code)
}

fn meant(context: &Context, workspace: &Workspace, all: bool) -> Result<Vec<SessionId>> {
    if !all {
        let session = Session::wanted(workspace, context.session.as_ref())?;
        return Ok(vec![session.id]);
    }
    let sessions = Session::all(workspace)?.into_iter();
    let own = sessions.filter(|session| session.shelf != Shelf::Shared);
    let mut ids: Vec<SessionId> = own.map(|session| session.id).collect();
    ids.dedup();
    match ids.is_empty() {
        true => Err(Error::cannot("there is no session to send")
            .hint("the first turn begins one: edio snapshot -m \"start\"")),
        false => Ok(ids),
    }
}

fn report(
    context: &mut Context,
    args: &Args,
    name: &str,
    id: &SessionId,
    parcel: &Parcel,
) -> Result<()> {
    if context.term.is_json() {
        let record = Record {
            session: id.to_string(),
            remote: name.to_owned(),
            turns: parcel.turns,
            went: match parcel.went {
                Went::New => "new",
                Went::More => "more",
                Went::Known => "known",
            },
            objects: parcel.objects,
            bytes: parcel.bytes,
            files: record::paths(&parcel.files),
            commits: parcel.commits.iter().map(ToString::to_string).collect(),
            dry_run: args.dry_run,
        };
        return context.term.record(&record).printed();
    }
    let shown = text::plain(name.as_bytes());
    let turns = plural(parcel.turns, "turn");
    if args.dry_run {
        let objects = plural(parcel.objects, "object");
        let size = size(parcel.bytes);
        let line = format!("{id} for {shown}: {turns}, {objects}, {size}");
        context.term.line(line).printed()?;
        for file in &parcel.files {
            let line = format!("  {}", text::path(file.as_bytes()));
            context.term.line(line).printed()?;
        }
    } else {
        context.term.told(match parcel.went {
            Went::New => format!("pushed to {shown}: {id} ({turns})"),
            Went::More => format!("pushed to {shown}: {id} goes on ({turns})"),
            Went::Known => format!("{id} had been at {shown} already ({turns})"),
        });
    }
    if !parcel.commits.is_empty() {
        let commits = plural(parcel.commits.len(), "commit");
        let verb = if args.dry_run { "would go" } else { "went" };
        context.term.told(format!(
            "  {commits} of yours {verb} along, that {shown} lacked"
        ));
    }
    Ok(())
}
