//! `edio accept`: the work of a session as one commit.

use serde::Serialize;
use serde_json::Value;

use super::record::paths;
use super::{Context, Printed, checked_message, moment, stat};
use crate::error::{Error, Result};
use crate::gitengine::RepoPath;
use crate::history::accept::{Accepted, Wish, accept};
use crate::term::{style, text};

/// Make the work of the session one clean commit on the branch.
///
/// The commit holds what the session changed, on top of HEAD: commits made meanwhile stay, and what was uncommitted
/// before the session stays uncommitted. The session is archived; its turns can still be looked at and restored.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio accept \"feat: add auth\"\n  edio accept -m \"feat: add auth\" --all"
)]
pub struct Args {
    /// The commit's message.
    #[arg(
        value_name = "MSG",
        allow_hyphen_values = true,
        conflicts_with = "message"
    )]
    words: Option<String>,
    /// The commit's message.
    #[arg(short, long, value_name = "MSG", allow_hyphen_values = true)]
    message: Option<String>,
    /// Commit the whole work tree, also what was uncommitted before the session began.
    #[arg(long)]
    all: bool,
}

#[derive(Serialize)]
struct Record {
    commit: String,
    branch: Option<String>,
    session: String,
    turn: Option<u32>,
    files: u64,
    added: u64,
    removed: u64,
    whole: Value,
    uncommitted: Value,
}

/// Runs it.
///
/// # Errors
///
/// Nothing to accept, refused, or git failed: HEAD, index and session are as before.
pub fn run(context: &mut Context, args: Args) -> Result<u8> {
    let wish = Wish {
        message: message(args.words, args.message)?,
        whole_tree: args.all,
    };
    let mut workspace = context.open_to_change()?;
    let accepted = accept(&mut workspace, &wish, moment())?;
    report(context, &accepted)?;
    Ok(0)
}

fn message(words: Option<String>, message: Option<String>) -> Result<String> {
    let Some(words) = words else {
        let message = message.ok_or_else(|| {
            Error::usage("a commit needs a message").hint("edio accept \"what was done\"")
        })?;
        return checked_message(message);
    };
    // A message may begin with a dash; a single word that does is a flag that does not exist.
    if words.starts_with('-') && !words.contains(char::is_whitespace) {
        return Err(Error::usage(format!("there is no flag {words}"))
            .hint(format!("if it is the message: edio accept -m \"{words}\"")));
    }
    checked_message(words)
}

fn report(context: &mut Context, accepted: &Accepted) -> Result<()> {
    if context.term.is_json() {
        let record = Record {
            commit: accepted.commit.to_string(),
            branch: accepted.branch.clone(),
            session: accepted.session.id.to_string(),
            turn: accepted
                .session
                .current
                .as_ref()
                .map(|turn| turn.number().turn),
            files: accepted.stat.files,
            added: accepted.stat.added,
            removed: accepted.stat.removed,
            whole: paths(&accepted.whole),
            uncommitted: paths(&accepted.uncommitted),
        };
        return context.term.record(&record).printed();
    }
    let branch = accepted.branch.as_deref().unwrap_or("HEAD");
    let branch = text::plain(branch.trim_start_matches("refs/heads/").as_bytes());
    context.term.told(format!(
        "accepted: {} on {branch} ({})",
        style::turn(accepted.commit.short()),
        stat(&accepted.stat)
    ));
    let session = &accepted.session.id;
    context
        .term
        .told(format!("the session {session} is archived"));
    name(
        context,
        &accepted.whole,
        "went in whole, with what was uncommitted there before",
    );
    name(context, &accepted.uncommitted, "stays uncommitted");
    Ok(())
}

fn name(context: &mut Context, paths: &[RepoPath], what: &str) {
    const NAMED: usize = 5;
    for path in paths.iter().take(NAMED) {
        let path = text::path(path.as_bytes());
        context.term.told(format!("  {path} {what}"));
    }
    if paths.len() > NAMED {
        let more = paths.len() - NAMED;
        context.term.told(format!("  {more} more: {what}"));
    }
}
