//! `edio undo`: to the state before the last turn or operation.

use serde::Serialize;
use serde_json::Value;

use super::shown::plan::{
    BesideRecord, PlanRecord, beside, counts, name_beside, name_kept, name_saved, records,
};
use super::shown::unstaged::{name_unstaged, unstaged};
use super::{Context, Printed, moment};
use crate::error::Result;
use crate::history::git::short_branch;
use crate::history::turn::Turn;
use crate::history::undo::{Direction, Reach, Undone, undo};
use crate::term::{style, text};

/// Go back to the state before the last restore, revert or accept, or before the last turn.
///
/// Can be repeated. Unsaved work becomes a turn first. An accept is taken back as long as the branch ends with its
/// commit: branch, index and session are as before.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  edio undo\n  edio redo")]
pub struct Args {}

#[derive(Serialize)]
struct Record {
    undone: Option<String>,
    redone: Option<String>,
    turn: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u32>,
    written: usize,
    removed: usize,
    safety_turn: Option<u32>,
    branch: Option<String>,
    head: Option<String>,
    unstaged: Vec<Value>,
    beside: Vec<BesideRecord>,
    plan: Vec<PlanRecord>,
}

/// Runs it.
///
/// # Errors
///
/// There is nothing to undo, or it can't be undone: then nothing has changed.
pub fn run(context: &mut Context, _: &Args) -> Result<u8> {
    go(context, Direction::Undo)
}

/// Goes one way or the other.
///
/// # Errors
///
/// As for [`run`].
pub fn go(context: &mut Context, direction: Direction) -> Result<u8> {
    let mut workspace = context.open_to_change()?;
    let undone = undo(&mut workspace, direction, Reach::Branch, moment()?)?;
    context.tell_unsaid(&mut workspace)?;
    report(context, direction, &undone)?;
    Ok(0)
}

fn report(context: &mut Context, direction: Direction, undone: &Undone) -> Result<()> {
    let what = |wanted| (direction == wanted).then(|| undone.what.clone());
    if context.term.is_json() {
        let head = undone.branch.as_ref().and_then(|(_, head)| head.as_ref());
        let record = Record {
            undone: what(Direction::Undo),
            redone: what(Direction::Redo),
            turn: undone.target.as_ref().map(|turn| turn.number().turn),
            step: undone
                .target
                .as_ref()
                .and_then(|turn| turn.number().as_step()),
            written: undone.done.written,
            removed: undone.done.removed,
            safety_turn: undone.safety.as_ref().map(|turn| turn.number().turn),
            branch: undone.branch.as_ref().map(|(name, _)| name.clone()),
            head: head.map(ToString::to_string),
            unstaged: unstaged(&undone.unstaged),
            beside: beside(&undone.plan, &undone.done),
            plan: records(&undone.plan),
        };
        return context.term.record(&record).printed();
    }
    let term = &mut context.term;
    if let Some(safety) = &undone.safety {
        let number = style::turn(safety.number());
        term.told(format!("your unsaved work is turn {number}"));
    }
    let (word, back) = match direction {
        Direction::Undo => ("undone", "to go forward again: edio redo"),
        Direction::Redo => ("redone", "to go back again: edio undo"),
    };
    let shown = text::plain(undone.what.as_bytes());
    match (&undone.target, &undone.branch) {
        (Some(target), _) => term.told(format!(
            "{word}: {shown}; the work tree is as {} ({})",
            as_turn(target),
            counts(&undone.done)
        )),
        (None, Some((name, head))) => {
            let name = text::plain(short_branch(name).as_bytes());
            let at = head.as_ref().map_or("no commit", |head| head.short());
            term.told(format!("{word}: {shown}; {name} is at {at}"));
        }
        (None, None) => term.told(format!("{word}: {shown}")),
    }
    name_unstaged(&mut context.term, &undone.unstaged);
    name_kept(context, &undone.plan);
    name_beside(context, &undone.plan, &undone.done);
    name_saved(context, &undone.plan, &undone.done);
    context.term.hint(back);
    Ok(())
}

fn as_turn(turn: &Turn) -> String {
    style::turn(format!("turn {}", turn.number())).to_string()
}
