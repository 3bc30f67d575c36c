//! `edio restore`: bring the work tree, or some paths of it, to a turn.

use std::path::PathBuf;

use clap_complete::engine::ArgValueCompleter;
use serde::Serialize;
use serde_json::Value;

use super::plan::{PlanRecord, counts, list, name_kept, name_saved, records};
use super::record::paths;
use super::{Context, Printed, moment, paths_meant};
use crate::error::Result;
use crate::history::address::Address;
use crate::history::restore::{Plan, Restored, Wish, preview, restore};
use crate::history::session::Session;
use crate::history::turn::Turn;
use crate::history::workspace::Locked;
use crate::term::style;

/// Bring the work tree to a turn, exactly as it was.
///
/// Work that no turn holds is saved as a turn first, so this can be undone. Ignored files, submodules and repositories
/// inside this one stay as they are. HEAD, branches and the index are not touched.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio restore 6\n  edio restore 3 -f src/main.rs -f docs\n  edio restore @-1 --dry-run"
)]
pub struct Args {
    /// The turn: 7, @, @-1, 0 for the start, or the start of its id.
    #[arg(value_name = "TURN", add = ArgValueCompleter::new(super::completions::turns))]
    turn: Address,
    /// Only this file or folder. Can be given several times.
    #[arg(short, long = "file", value_name = "FILE", add = ArgValueCompleter::new(super::completions::paths))]
    files: Vec<PathBuf>,
    /// Show what would be done, and do nothing.
    #[arg(long)]
    dry_run: bool,
}

#[derive(Serialize)]
struct Record {
    turn: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u32>,
    commit: String,
    dry_run: bool,
    written: usize,
    removed: usize,
    safety_turn: Option<u32>,
    new_turn: Option<u32>,
    displaced: Value,
    saved: Option<String>,
    plan: Vec<PlanRecord>,
}

/// Runs it.
///
/// # Errors
///
/// There is no such turn, the restore is refused, or it was stopped midway.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    let mut workspace = context.open_to_restore()?;
    let find = |workspace: &Locked| {
        let session = Session::wanted(workspace, context.session.as_ref())?;
        let target = args.turn.find(workspace, &session)?;
        let paths = paths_meant(workspace, &args.files)?;
        let wish = Wish {
            target,
            paths,
            agent: None,
        };
        Ok((session, wish))
    };
    if args.dry_run {
        let (wish, plan) = preview(&workspace, || find(&workspace))?;
        show_plan(context, &wish, &plan)?;
        return Ok(0);
    }
    let (wish, restored) = restore(&mut workspace, find, moment())?;
    report(context, &wish, &restored)?;
    Ok(0)
}

fn show_plan(context: &mut Context, wish: &Wish, plan: &Plan) -> Result<()> {
    if context.term.is_json() {
        let record = Record {
            dry_run: true,
            ..record(wish, plan)
        };
        return context.term.record(&record).printed();
    }
    let goal = format!("turn {}", wish.target.number());
    list(context, plan, &goal)
}

fn record(wish: &Wish, plan: &Plan) -> Record {
    Record {
        turn: wish.target.number().turn,
        step: wish.target.number().as_step(),
        commit: wish.target.commit.to_string(),
        dry_run: false,
        written: 0,
        removed: 0,
        safety_turn: None,
        new_turn: None,
        displaced: paths(&[]),
        saved: None,
        plan: records(plan),
    }
}

fn report(context: &mut Context, wish: &Wish, restored: &Restored) -> Result<()> {
    let number = |turn: &Option<Turn>| turn.as_ref().map(|turn| turn.number().turn);
    if context.term.is_json() {
        let record = Record {
            written: restored.done.written,
            removed: restored.done.removed,
            safety_turn: number(&restored.safety),
            new_turn: number(&restored.done.turn),
            displaced: paths(&restored.done.displaced),
            saved: restored.done.ignored_side.as_ref().map(ToString::to_string),
            ..record(wish, &restored.plan)
        };
        return context.term.record(&record).printed();
    }
    let term = &mut context.term;
    if let Some(safety) = &restored.safety {
        let number = style::turn(safety.number());
        term.told(format!("your unsaved work is turn {number}"));
    }
    let target = style::turn(wish.target.number());
    let what = counts(&restored.done);
    match &restored.done.turn {
        Some(turn) => {
            let new = style::turn(turn.number());
            term.told(format!(
                "restored from turn {target}: {what} (now turn {new})"
            ));
        }
        None => term.told(format!("restored turn {target}: {what}")),
    }
    name_kept(context, &restored.plan);
    name_saved(context, &restored.plan, &restored.done);
    if restored.done.written + restored.done.removed > 0 {
        context.term.hint("to undo it: edio undo");
    }
    Ok(())
}
