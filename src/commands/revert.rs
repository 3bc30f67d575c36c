//! `edio revert`: take back what some turns did, keeping what came after.

use std::path::PathBuf;

use clap_complete::engine::ArgValueCompleter;
use serde::Serialize;

use super::shown::plan::{PlanRecord, counts, list, name_kept, name_saved, records};
use super::{Context, Printed, moment, paths_meant};
use crate::error::{Error, Result};
use crate::history::address::{Address, Range};
use crate::history::compare::Comparison;
use crate::history::git::git_bytes;
use crate::history::revert::{Reverted, Wish, preview, revert};
use crate::history::session::Session;
use crate::history::workspace::Locked;
use crate::term::{style, text};

/// Take back what a turn did, or several in a row, and keep what came after.
///
/// Where later work changed the same lines, it is refused and nothing changes. It ends in a turn of its own.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio revert 3\n  edio revert 3..5 --dry-run\n  edio revert 3 -f src/main.rs"
)]
pub struct Args {
    /// A turn, or the first and the last of several as 3..5.
    #[arg(value_name = "TURN[..TURN]", add = ArgValueCompleter::new(super::completions::turns))]
    turns: Comparison,
    /// Only this file or folder. Can be given several times.
    #[arg(short, long = "file", value_name = "FILE", add = ArgValueCompleter::new(super::completions::paths))]
    files: Vec<PathBuf>,
    /// Show what would be done, and do nothing.
    #[arg(long)]
    dry_run: bool,
}

#[derive(Serialize)]
struct Record {
    first: u32,
    last: u32,
    dry_run: bool,
    written: usize,
    removed: usize,
    safety_turn: Option<u32>,
    new_turn: Option<u32>,
    plan: Vec<PlanRecord>,
}

/// Runs it.
///
/// # Errors
///
/// There is no such turn, it is refused, or it was stopped midway.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    let mut workspace = context.open_to_change()?;
    let session = Session::wanted(&workspace, context.session.as_ref())?;
    let wish = wish(&workspace, &session, args)?;
    if args.dry_run {
        let plan = preview(&workspace, &session, &wish)?;
        if context.term.is_json() {
            let mut record = record(&wish, records(&plan));
            record.dry_run = true;
            context.term.record(&record).printed()?;
        } else {
            list(context, &plan, "it would be after that")?;
        }
        return Ok(0);
    }
    let reverted = revert(&mut workspace, session, &wish, moment()?)?;
    report(context, &wish, &reverted)?;
    Ok(0)
}

fn wish(workspace: &Locked, session: &Session, args: &Args) -> Result<Wish> {
    let find = |address: &Address| address.find(workspace, session);
    let (first, last) = match &args.turns {
        Comparison::Turn(address) => (find(address)?, find(address)?),
        Comparison::Turns(Range { from, to }) => (find(from)?, find(to)?),
    };
    if first.number().turn == 0 {
        return Err(
            Error::usage("turn 0 is where the session began: it did nothing")
                .hint("to go back there: edio restore 0"),
        );
    }
    if first.number() > last.number() {
        let (first, last) = (first.number(), last.number());
        return Err(Error::usage(format!("{first} comes after {last}"))
            .hint(format!("edio revert {last}..{first}")));
    }
    Ok(Wish {
        first,
        last,
        paths: paths_meant(workspace, &args.files)?,
    })
}

fn record(wish: &Wish, plan: Vec<PlanRecord>) -> Record {
    Record {
        first: wish.first.number().turn,
        last: wish.last.number().turn,
        dry_run: false,
        written: 0,
        removed: 0,
        safety_turn: None,
        new_turn: None,
        plan,
    }
}

fn report(context: &mut Context, wish: &Wish, reverted: &Reverted) -> Result<()> {
    let done = &reverted.done;
    if context.term.is_json() {
        let record = Record {
            written: done.written,
            removed: done.removed,
            safety_turn: reverted.safety.as_ref().map(|turn| turn.number().turn),
            new_turn: done.turn.as_ref().map(|turn| turn.number().turn),
            ..record(wish, records(&reverted.plan))
        };
        return context.term.record(&record).printed();
    }
    if let Some(safety) = &reverted.safety {
        let number = style::turn(safety.number());
        context
            .term
            .told(format!("your unsaved work is turn {number}"));
    }
    let now = done.turn.as_ref().map(|turn| turn.number().to_string());
    let now = style::turn(now.unwrap_or_default()).to_string();
    let what = counts(done);
    context
        .term
        .told(match wish.first.number() == wish.last.number() {
            true => format!(
                "reverted turn {}: {what} (now turn {now})",
                wish.last.number()
            ),
            false => format!(
                "reverted turns {} to {}: {what} (now turn {now})",
                wish.first.number(),
                wish.last.number()
            ),
        });
    name_kept(context, &reverted.plan);
    for file in &reverted.beside {
        let file = text::path(&git_bytes(file));
        context.term.told(format!(
            "  left alone: {file} (beside the tree: only a restore brings it back)"
        ));
    }
    name_saved(context, &reverted.plan, done);
    context.term.hint("to undo it: edio undo");
    Ok(())
}
