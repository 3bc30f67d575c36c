//! `edio show`: one turn.

use std::path::PathBuf;

use clap_complete::engine::ArgValueCompleter;
use serde::Serialize;
use serde_json::Value;

use super::shown::calls::input_in_lines;
use super::shown::record::{DifferenceRecord, TurnRecord, difference};
use super::shown::stat::stat;
use super::{Context, Printed};
use crate::clock;
use crate::error::Result;
use crate::history::address::Address;
use crate::history::compare::{Sides, beside_of, changed_by, differences, hidden_by};
use crate::history::conversation::{self, What};
use crate::history::git::{Difference, PatchStyle, git_bytes, short_branch};
use crate::history::session::Session;
use crate::history::turn::{Kind, Turn};
use crate::history::workspace::Workspace;
use crate::term::{json, style, text, time};

/// Show one turn or step: its message, what was said and done, its files, its patch.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio show\n  edio show 7\n  edio show 7.2\n  edio show @-1 --json"
)]
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
    /// The files of the journal that it changed.
    pub(super) beside: Vec<Value>,
    #[serde(flatten)]
    pub(super) said: Said,
}

/// What was said and done for it, as far as that is known.
#[derive(Default, Serialize)]
pub(super) struct Said {
    /// What the agent was told, in full.
    prompt_text: Option<String>,
    /// What it said at the end.
    reply: Option<String>,
    /// What the tool of a step was given.
    input: Option<String>,
    /// What it answered.
    result: Option<String>,
    /// Did it fail?
    failed: Option<bool>,
}

impl Said {
    /// Looks it up.
    ///
    /// # Errors
    ///
    /// It can't be read.
    pub fn of(workspace: &Workspace, session: &Session, turn: &Turn) -> Result<Self> {
        if turn.note.kind == Kind::Step {
            let call = conversation::of_step(workspace, session, turn)?;
            let call = call.unwrap_or_default();
            return Ok(Self {
                input: input_in_lines(&call),
                failed: call.input.as_ref().map(|_| call.failed),
                result: call.result,
                ..Self::default()
            });
        }
        let mut said = Self::default();
        for entry in conversation::of(workspace, turn)? {
            match entry.what {
                What::Prompt(text) => said.prompt_text = Some(text),
                What::Reply(text) => said.reply = Some(text),
                What::Call(_) => {}
            }
        }
        Ok(said)
    }

    /// Each part with its heading.
    fn parts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let result = match self.failed {
            Some(true) => "result (failed)",
            _ => "result",
        };
        let parts = [
            ("prompt", &self.prompt_text),
            ("closing words", &self.reply),
            ("input", &self.input),
            (result, &self.result),
        ];
        let said = parts
            .into_iter()
            .filter_map(|(name, text)| Some((name, text.as_deref()?)));
        said.filter(|(_, text)| !text.trim().is_empty())
    }
}

/// Runs it.
///
/// # Errors
///
/// There is no such turn, or git failed.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    let workspace = context.open_to_list()?;
    let session = Session::wanted(&workspace, context.session.as_ref())?;
    let turn = args.turn.find(&workspace, &session)?;
    let (sides, hidden, beside) = match session.damaged_before(&turn) {
        None => (
            changed_by(&workspace, &session, &turn)?,
            hidden_by(&workspace, &session, &turn)?,
            beside_of(&workspace, &session, &turn)?,
        ),
        // What it changed can't be told.
        Some(damaged) => {
            context.term.warn(text::plain(damaged.what().as_bytes()));
            (Sides::both(&turn), Vec::new(), Vec::new())
        }
    };
    let (mut changes, _) = differences(&workspace, &sides, &[])?;
    let said = Said::of(&workspace, &session, &turn)?;
    if context.term.is_json() {
        changes.extend(hidden);
        let current = session.current.as_ref().map(|turn| &turn.commit);
        let record = Record {
            turn: TurnRecord::new(&turn, current),
            changes: changes.iter().map(difference).collect(),
            beside: names(&beside),
            said,
        };
        context.term.record(&record).printed()?;
        return Ok(0);
    }
    context.page(&workspace);
    head(context, &session, &turn)?;
    words(context, &turn, &said)?;
    files(context, &changes, &hidden, &beside)?;
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
    for helper in &note.work.helpers {
        lines.push(format!("helper  {}", text::plain(helper.as_bytes())));
    }
    if let Some(ending) = note.work.ending {
        let code = note.work.exit.map(|code| format!(", exit code {code}"));
        lines.push(format!("ended   {ending}{}", code.unwrap_or_default()));
    }
    if let Some(branch) = &note.head.branch {
        let branch = text::plain(short_branch(branch).as_bytes());
        lines.push(format!("branch  {branch}"));
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

/// The names of files as JSON.
pub(super) fn names(files: &[PathBuf]) -> Vec<Value> {
    let names = files.iter().map(|file| json::path(&git_bytes(file)));
    names.collect()
}

/// What was said and done. A prompt that is the message, word for word, stands there already.
pub(super) fn words(context: &mut Context, turn: &Turn, said: &Said) -> Result<()> {
    let is_message = |text: &str| text.trim() == turn.note.message.trim();
    for (name, text) in said.parts().filter(|(_, text)| !is_message(text)) {
        context.term.line(style::heading(name)).printed()?;
        for line in text::plain_lines(text.trim_end().as_bytes()).lines() {
            context.term.line(format!("    {line}")).printed()?;
        }
        context.term.line("").printed()?;
    }
    Ok(())
}

pub(super) fn files(
    context: &mut Context,
    changes: &[Difference],
    hidden: &[Difference],
    beside: &[PathBuf],
) -> Result<()> {
    for change in changes {
        let path = text::path(change.path.as_bytes());
        let line = format!(" {} {path}", change.letter());
        context.term.line(line).printed()?;
    }
    for change in hidden {
        let path = text::path(change.path.as_bytes());
        let line = format!(" M {path} (only in what git's conversion hides)");
        context.term.line(line).printed()?;
    }
    for file in beside {
        let path = text::path(&git_bytes(file));
        let line = format!(" M {path} (beside the tree: the journal has it)");
        context.term.line(line).printed()?;
    }
    if changes.is_empty() && hidden.is_empty() && beside.is_empty() {
        return Ok(());
    }
    context.term.line("").printed()
}
