//! `edio log`: the turns of a session.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::record::TurnRecord;
use super::{Context, Printed, paths_meant, stat};
use crate::clock;
use crate::error::Result;
use crate::gitengine::{Oid, PatchStyle, RepoPath};
use crate::history::compare::changed_by;
use crate::history::refnames::Shelf;
use crate::history::session::Session;
use crate::history::turn::{Kind, Turn};
use crate::history::workspace::Workspace;
use crate::term::{style, text, time};

/// List the turns, the newest first.
///
/// The current one is marked with a star. Turns that the work tree went back from are dimmed; they are not lost.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  edio log\n  edio log -p src/main.rs\n  edio log --all --json")]
pub struct Args {
    /// Show what each turn changed.
    #[arg(short, long)]
    patch: bool,
    /// Show all sessions, archived ones too.
    #[arg(long)]
    all: bool,
    /// Only turns that changed these files or folders.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
}

/// Runs it.
///
/// # Errors
///
/// There is no session, or git failed.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    let workspace = context.open()?;
    let paths = paths_meant(&workspace, &args.paths)?;
    let sessions = match args.all {
        true => Session::all(&workspace)?,
        false => vec![Session::wanted(&workspace, context.session.as_ref())?],
    };
    context.page(&workspace);
    for session in sessions.iter().rev() {
        if args.all && !context.term.is_json() {
            heading(context, session)?;
        }
        let turns = chosen(&workspace, session, &paths)?;
        let line = on_the_line(session);
        for turn in turns.into_iter().rev() {
            print(context, session, turn, &line)?;
            if args.patch && !context.term.is_json() {
                patch(context, &workspace, session, turn, &paths)?;
            }
        }
    }
    Ok(0)
}

fn heading(context: &mut Context, session: &Session) -> Result<()> {
    let state = match session.shelf {
        Shelf::Active => "active",
        Shelf::Archive => "archived",
    };
    let line = format!("{} ({state})", style::heading(&session.id));
    context.term.line(line).printed()
}

/// The turns that changed these paths; all where there are none.
fn chosen<'a>(
    workspace: &Workspace,
    session: &'a Session,
    paths: &[RepoPath],
) -> Result<Vec<&'a Turn>> {
    let turns: Vec<&Turn> = session.turns.values().collect();
    if paths.is_empty() {
        return Ok(turns);
    }
    let mut pairs = Vec::new();
    for turn in &turns {
        let sides = changed_by(workspace, session, turn)?;
        pairs.push((sides.old, sides.new));
    }
    let changed = workspace.git.pairs_that_differ(&pairs, paths)?;
    let chosen = turns
        .into_iter()
        .zip(changed)
        .filter(|(_, changed)| *changed);
    Ok(chosen.map(|(turn, _)| turn).collect())
}

/// The commits that the work tree grew from.
fn on_the_line(session: &Session) -> BTreeSet<&Oid> {
    let mut line = BTreeSet::new();
    let mut next = session.current.as_ref();
    while let Some(turn) = next {
        line.insert(&turn.commit);
        next = turn.parent.as_ref().and_then(|oid| session.by_commit(oid));
    }
    line
}

fn print(
    context: &mut Context,
    session: &Session,
    turn: &Turn,
    line: &BTreeSet<&Oid>,
) -> Result<()> {
    let current = session.current.as_ref().map(|turn| &turn.commit);
    if context.term.is_json() {
        let record = TurnRecord::new(turn, current);
        return context.term.record(&record).printed();
    }
    let is_current = current == Some(&turn.commit);
    let left = session.shelf == Shelf::Active && !line.contains(&turn.commit);
    let row = row(turn, is_current, context.term.width());
    let row = match left {
        true => style::dim(anstream::adapter::strip_str(&row)).to_string(),
        false => row,
    };
    context.term.line(row).printed()
}

fn row(turn: &Turn, is_current: bool, width: usize) -> String {
    let mark = match is_current {
        true => style::current("*").to_string(),
        false => " ".to_owned(),
    };
    let age = time::ago(clock::now(), turn.seconds);
    let agent = match (&turn.note.work.agent, turn.note.kind) {
        (Some(agent), _) => agent.clone(),
        (None, Kind::Human) => "you".to_owned(),
        (None, Kind::Safety) => "edio".to_owned(),
        (None, _) => "-".to_owned(),
    };
    let agent = text::shorten(&text::plain(agent.as_bytes()), 10);
    let subject = text::plain(turn.note.subject().as_bytes());
    let subject = text::shorten(&subject, width.saturating_sub(54).max(24));
    format!(
        "{mark} {:>4}  {:<16} {agent:<10}  {subject}  {}",
        style::turn(turn.number()),
        style::dim(age),
        stat(&turn.note.stat)
    )
}

fn patch(
    context: &mut Context,
    workspace: &Workspace,
    session: &Session,
    turn: &Turn,
    paths: &[RepoPath],
) -> Result<()> {
    let sides = changed_by(workspace, session, turn)?;
    let style = PatchStyle {
        color: context.term.styles_out(),
    };
    let patch = workspace.git.patch(&sides.old, &sides.new, paths, &style)?;
    context.print_patch(patch)
}
