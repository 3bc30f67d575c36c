//! `edio accept`: the work of a session as one commit.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::Path;

use clap_complete::engine::ArgValueCompleter;
use serde::Serialize;
use serde_json::Value;

use super::shown::first::tell_first;
use super::shown::record::{DifferenceRecord, difference, paths};
use super::shown::stat::stat;
use super::shown::unstaged::{name_unstaged, unstaged};
use super::{Context, Printed, moment, restore};
use crate::error::{Error, Result};
use crate::history::accept::{
    Accepted, Extent, Message, Onto, Prepared, Uncommitted, Unsaved, Verify, Wish, accept, prepare,
    uncommitted, would_unstage,
};
use crate::history::address::Address;
use crate::history::git::{Difference, RepoPath, Stat, short_branch};
use crate::history::refnames::Shelf;
use crate::history::session::Session;
use crate::history::snapshot::checked_message;
use crate::history::workspace::Locked;
use crate::term::{editor, json, style, text};

/// Make the work of the session one clean commit on the branch.
///
/// The commit holds what the session changed, on top of HEAD: commits made meanwhile stay, and what was uncommitted
/// before `edio run` stays uncommitted. A session that a snapshot began starts at HEAD: all uncommitted work is its
/// own. What changed since the last turn is taken as a turn first. The session is archived; its turns can still be
/// looked at and restored. `edio undo` takes it back.
///
/// With --session ID it is a session that was fetched: it is restored here first, on the commit that it began on.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio accept \"feat: add auth\"\n  edio accept \"feat: add auth\" --dry-run\n  edio accept -m \"feat: models\" --turn 3"
)]
pub struct Args {
    /// The commit's message. Without, on a terminal, your editor asks for it.
    #[arg(
        value_name = "MSG",
        allow_hyphen_values = true,
        conflicts_with = "message"
    )]
    words: Option<String>,
    /// The commit's message.
    #[arg(short, long, value_name = "MSG", allow_hyphen_values = true)]
    message: Option<String>,
    /// Accept the turns up to this one. A new session goes on with what came after it.
    #[arg(long, value_name = "TURN", add = ArgValueCompleter::new(super::completions::turns))]
    turn: Option<Address>,
    /// Commit the whole work tree, also what was uncommitted before the session began.
    #[arg(long)]
    all: bool,
    /// Commit to the branch that is checked out, though the session worked on another.
    #[arg(long)]
    here: bool,
    /// Do not run the hooks pre-commit and commit-msg.
    #[arg(long)]
    no_verify: bool,
    /// Show what would be committed, and do nothing.
    #[arg(long)]
    dry_run: bool,
}

#[derive(Serialize)]
struct Record {
    dry_run: bool,
    commit: Option<String>,
    message: Option<String>,
    branch: Option<String>,
    session: Option<String>,
    turn: Option<u32>,
    next_session: Option<String>,
    files: u64,
    added: u64,
    removed: u64,
    changes: Vec<DifferenceRecord>,
    whole: Value,
    uncommitted: Vec<UncommittedRecord>,
    unstaged: Vec<Value>,
    unfinished: Option<String>,
}

impl Record {
    /// What a commit with these changes has to tell, and nothing else yet.
    fn of(changes: &[Difference], stat: &Stat) -> Self {
        Self {
            dry_run: false,
            commit: None,
            message: None,
            branch: None,
            session: None,
            turn: None,
            next_session: None,
            files: stat.files,
            added: stat.added,
            removed: stat.removed,
            changes: changes.iter().map(difference).collect(),
            whole: Value::Null,
            uncommitted: Vec::new(),
            unstaged: Vec::new(),
            unfinished: None,
        }
    }
}

#[derive(Serialize)]
struct UncommittedRecord {
    path: Value,
    why: String,
}

/// Runs it.
///
/// # Errors
///
/// Nothing to accept, refused, or git failed: HEAD, index and session are as before.
pub fn run(context: &mut Context, args: Args) -> Result<u8> {
    let given = given(args.words, args.message)?;
    let interactive = std::io::stdin().is_terminal() && context.term.out_is_terminal();
    if given.is_none() && !interactive && !args.dry_run {
        return Err(Error::usage("a commit needs a message").hint("edio accept \"what was done\""));
    }
    let is_brought = bring(context, args.turn.as_ref(), args.dry_run)?;
    let turn = args.turn.filter(|_| !is_brought);
    let mut workspace = context.open_to_change()?;
    let wish = Wish {
        turn: find_turn(context, &workspace, turn.as_ref())?,
        extent: match args.all {
            true => Extent::WholeTree,
            false => Extent::Session,
        },
        branch: match args.here {
            true => Onto::Any,
            false => Onto::Sessions,
        },
    };
    if args.dry_run {
        let prepared = prepare(&mut workspace, &wish, Unsaved::Look, moment()?)?;
        show(context, &workspace, &prepared, given)?;
        return Ok(0);
    }
    let prepared = prepare(&mut workspace, &wish, Unsaved::Take, moment()?)?;
    let verify = match args.no_verify {
        true => Verify::No,
        false => Verify::Yes,
    };
    let git = workspace.git.clone();
    let mut edit = |file: &Path| edit(&git.editor()?, file);
    let message = match given {
        Some(text) => Message::Given(text),
        None => Message::Edited(&mut edit),
    };
    let accepted = accept(&mut workspace, prepared, message, verify, moment()?)?;
    report(context, &accepted)?;
    super::gc::run_behind(&context.place, workspace);
    Ok(0)
}

/// A session that was fetched is restored here first: then the session under way stands where that one does, and is
/// accepted. Returns whether that was done.
///
/// On another commit than the one that it began on, the commit would take back what came since.
fn bring(context: &mut Context, turn: Option<&Address>, dry_run: bool) -> Result<bool> {
    let Some(id) = context.session.clone() else {
        return Ok(false);
    };
    let workspace = context.open()?;
    let session = Session::find(&workspace, &id)?;
    let Some(session) = session.filter(|session| session.shelf == Shelf::Shared) else {
        return Ok(false);
    };
    let base = session.find_baseline(&workspace)?.parent;
    let (_, head) = workspace.git.head()?;
    if base != head {
        let base = base.map_or("no commit at all".to_owned(), |base| base.to_string());
        return Err(
            Error::refused(format!("{id} began on another commit than HEAD: {base}")).hint(
                "go there first: git switch -c NAME COMMIT; what it makes can be merged or rebased",
            ),
        );
    }
    if dry_run {
        return Err(
            Error::cannot("a fetched session is restored before it is accepted").hint(format!(
                "what it would commit: edio diff 0..last --session {id}"
            )),
        );
    }
    drop(workspace);
    let wanted = restore::Args {
        turn: turn.cloned().unwrap_or(Address::Current { back: 0 }),
        files: Vec::new(),
        dry_run: false,
    };
    let outcome = restore::perform(context, &wanted)?;
    if !context.term.is_json() {
        outcome.tell(context)?;
    }
    context.session = None;
    Ok(true)
}

fn find_turn(
    context: &Context,
    workspace: &Locked,
    address: Option<&Address>,
) -> Result<Option<crate::history::turn::Turn>> {
    let Some(address) = address else {
        return Ok(None);
    };
    let session = Session::wanted(workspace, context.session.as_ref())?;
    address.find(workspace, &session).map(Some)
}

/// Opens the person's editor.
fn edit(editor: &OsString, file: &Path) -> Result<()> {
    let status = editor::open(editor, [file])?;
    match status.success() {
        true => Ok(()),
        false => Err(Error::cannot("the editor failed: nothing was committed")
            .hint("or give the message at once: edio accept \"what was done\"")),
    }
}

fn given(words: Option<String>, message: Option<String>) -> Result<Option<String>> {
    let Some(words) = words else {
        return message.map(checked_message).transpose();
    };
    // A message may begin with a dash; a single word that does is a flag that does not exist.
    if words.starts_with('-') && !words.contains(char::is_whitespace) {
        return Err(Error::usage(format!("there is no flag {words}"))
            .hint(format!("if it is the message: edio accept -m \"{words}\"")));
    }
    checked_message(words).map(Some)
}

/// Shows what would be committed.
fn show(
    context: &mut Context,
    workspace: &Locked,
    prepared: &Prepared,
    message: Option<String>,
) -> Result<()> {
    let left = uncommitted(workspace, prepared)?;
    let would_go = would_unstage(workspace, &prepared.changes)?;
    if context.term.is_json() {
        let record = Record {
            dry_run: true,
            message,
            branch: prepared.head.branch.clone(),
            whole: paths(&prepared.whole),
            uncommitted: uncommitted_records(&left),
            unstaged: unstaged(&would_go),
            ..Record::of(&prepared.changes, &prepared.stat)
        };
        return context.term.record(&record).printed();
    }
    for change in &prepared.changes {
        let path = text::path(change.path.as_bytes());
        let line = format!("{} {path}", change.letter());
        context.term.line(line).printed()?;
    }
    if let Some(message) = message {
        context.term.line("").printed()?;
        for line in text::plain_lines(message.as_bytes()).lines() {
            context.term.line(format!("    {line}")).printed()?;
        }
    }
    let branch = branch_name(prepared.head.branch.as_deref());
    let what = stat(&prepared.stat);
    context.term.told(format!(
        "nothing was committed: this would go to {branch} ({what})"
    ));
    name_whole(context, &prepared.whole);
    name_uncommitted(context, &left);
    name_unstaged(&mut context.term, &would_go);
    Ok(())
}

fn branch_name(branch: Option<&str>) -> String {
    text::plain(short_branch(branch.unwrap_or("HEAD")).as_bytes())
}

fn uncommitted_records(uncommitted: &[(RepoPath, Uncommitted)]) -> Vec<UncommittedRecord> {
    let record = |(path, why): &(RepoPath, Uncommitted)| UncommittedRecord {
        path: json::path(path.as_bytes()),
        why: why.to_string(),
    };
    uncommitted.iter().map(record).collect()
}

fn report(context: &mut Context, accepted: &Accepted) -> Result<()> {
    if let Some(error) = &accepted.unnoted {
        context
            .term
            .warn("the commit is made, but the note on it could not be written");
        context.term.error(error);
    }
    if context.term.is_json() {
        let record = Record {
            commit: Some(accepted.commit.to_string()),
            message: Some(accepted.message.clone()),
            branch: accepted.branch.clone(),
            session: Some(accepted.session.to_string()),
            turn: Some(accepted.last.turn),
            next_session: accepted.next.as_ref().map(ToString::to_string),
            whole: paths(&accepted.whole),
            uncommitted: uncommitted_records(&accepted.uncommitted),
            unstaged: unstaged(&accepted.unstaged),
            unfinished: accepted.unfinished.as_ref().map(Error::to_string),
            ..Record::of(&accepted.changes, &accepted.stat)
        };
        return context.term.record(&record).printed();
    }
    let branch = branch_name(accepted.branch.as_deref());
    context.term.told(format!(
        "accepted: {} on {branch} ({})",
        style::turn(accepted.commit.short()),
        stat(&accepted.stat)
    ));
    let session = &accepted.session;
    match (&accepted.unfinished, &accepted.next) {
        (Some(error), _) => {
            let what = "the commit is made, but what follows it is not finished";
            context.term.warn(what);
            context.term.error(error);
            let next = "the next command of edio's that changes something tries it again";
            context.term.hint(next);
        }
        (None, None) => context
            .term
            .told(format!("the session {session} is archived")),
        (None, Some(next)) => context
            .term
            .told(format!("the session {session} is archived, {next} goes on")),
    }
    name_whole(context, &accepted.whole);
    name_uncommitted(context, &accepted.uncommitted);
    name_unstaged(&mut context.term, &accepted.unstaged);
    context.term.hint("to undo it: edio undo");
    Ok(())
}

fn name_whole(context: &mut Context, paths: &[RepoPath]) {
    const WHAT: &str = "  whole, with what was uncommitted there before: ";
    let line = |path: &RepoPath| format!("{WHAT}{}", text::path(path.as_bytes()));
    tell_first(&mut context.term, paths, line, WHAT);
}

fn name_uncommitted(context: &mut Context, uncommitted: &[(RepoPath, Uncommitted)]) {
    const WHAT: &str = "  stays uncommitted: ";
    let line = |(path, why): &(RepoPath, Uncommitted)| {
        format!("{WHAT}{} ({why})", text::path(path.as_bytes()))
    };
    tell_first(&mut context.term, uncommitted, line, WHAT);
}
