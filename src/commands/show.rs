//! `edio show`: one turn.

use clap_complete::engine::ArgValueCompleter;
use serde::Serialize;

use super::record::{DifferenceRecord, TurnRecord, difference, status_letter};
use super::{Context, Printed, stat};
use crate::clock;
use crate::error::Result;
use crate::history::address::Address;
use crate::history::compare::{changed_by, differences, hidden_by};
use crate::history::git::{Difference, PatchStyle};
use crate::history::session::Session;
use crate::history::turn::{Kind, Turn};
use crate::term::{style, text, time};

/// Show one turn: its message, who worked, its files, its patch.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  edio show\n  edio show 7\n  edio show @-1 --json")]
pub struct Args {
    /// The turn: 7, @, @-1, last, or the start of its id. Without, the last one.
    #[arg(value_name = "TURN", default_value = "last", add = ArgValueCompleter::new(super::completions::turns))]
    turn: Address,
}

/// A turn, and what it changed.
#[derive(Serialize)]
pub(super) struct Record {
    #[serde(flatten)]
    pub(super) turn: TurnRecord,
    pub(super) changes: Vec<DifferenceRecord>,
}

/// Runs it.
///
/// # Errors
///
/// There is no such turn, or git failed.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    let workspace = context.open()?;
    let session = Session::wanted(&workspace, context.session.as_ref())?;
    let turn = args.turn.find(&workspace, &session)?;
    let sides = changed_by(&workspace, &session, &turn)?;
    let (mut changes, _) = differences(&workspace, &sides, &[])?;
    let hidden = hidden_by(&workspace, &session, &turn)?;
    if context.term.is_json() {
        changes.extend(hidden);
        let current = session.current.as_ref().map(|turn| &turn.commit);
        let record = Record {
            turn: TurnRecord::new(&turn, current),
            changes: changes.iter().map(difference).collect(),
        };
        context.term.record(&record).printed()?;
        return Ok(0);
    }
    context.page(&workspace);
    head(context, &session, &turn)?;
    files(context, &changes, &hidden)?;
    let style = PatchStyle {
        color: context.term.styles_out(),
    };
    let patch = workspace.git.patch(&sides.old, &sides.new, &[], &style)?;
    context.print_patch(patch)?;
    Ok(0)
}

pub(super) fn head(context: &mut Context, session: &Session, turn: &Turn) -> Result<()> {
    let note = &turn.note;
    let mark = match session.current.as_ref() == Some(turn) {
        true => ", current",
        false => "",
    };
    let mut lines = vec![
        format!(
            "{} ({}{mark})",
            style::turn(format!("turn {}", note.number)),
            note.session
        ),
        format!("commit  {}", turn.commit),
        format!(
            "date    {} ({})",
            time::local(turn.seconds),
            time::ago(clock::now(), turn.seconds)
        ),
    ];
    if note.kind != Kind::Turn {
        lines.push(format!("kind    {}", note.kind));
    }
    if let Some(agent) = &note.work.agent {
        lines.push(format!("agent   {}", text::plain(agent.as_bytes())));
    }
    let known = [
        ("model  ", &note.work.model),
        ("tool   ", &note.work.tool),
        ("prompt ", &note.work.prompt),
    ];
    for (name, said) in known {
        if let Some(said) = said.as_ref().filter(|said| **said != note.message) {
            lines.push(format!("{name} {}", text::plain(said.as_bytes())));
        }
    }
    if let Some(ending) = note.work.ending {
        let code = note.work.exit.map(|code| format!(", exit code {code}"));
        lines.push(format!("ended   {ending}{}", code.unwrap_or_default()));
    }
    if let Some(branch) = &note.head.branch {
        let branch = branch.trim_start_matches("refs/heads/");
        lines.push(format!("branch  {}", text::plain(branch.as_bytes())));
    }
    lines.push(format!("changed {}", stat(&note.stat)));
    for skipped in &note.skipped {
        let path = text::path(skipped.path.as_bytes());
        lines.push(format!("not in it: {path} ({})", skipped.why));
    }
    for line in lines {
        context.term.line(line).printed()?;
    }
    context.term.line("").printed()?;
    let message = text::plain_lines(note.message.as_bytes());
    for line in message.lines() {
        context.term.line(format!("    {line}")).printed()?;
    }
    context.term.line("").printed()
}

pub(super) fn files(
    context: &mut Context,
    changes: &[Difference],
    hidden: &[Difference],
) -> Result<()> {
    for change in changes {
        let path = text::path(change.path.as_bytes());
        let line = format!(" {} {path}", status_letter(change));
        context.term.line(line).printed()?;
    }
    for change in hidden {
        let path = text::path(change.path.as_bytes());
        let line = format!(" M {path} (only in what git's conversion hides)");
        context.term.line(line).printed()?;
    }
    if changes.is_empty() && hidden.is_empty() {
        return Ok(());
    }
    context.term.line("").printed()
}
