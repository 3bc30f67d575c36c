//! `edio restore`: bring the work tree, or some paths of it, to a turn.

use std::path::PathBuf;

use clap_complete::engine::ArgValueCompleter;
use serde::Serialize;
use serde_json::Value;

use super::shown::plan::{
    BesideRecord, PlanRecord, beside, counts, list, name_beside, name_kept, name_saved, records,
};
use super::shown::record::paths;
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
    pub(super) turn: Address,
    /// Only this file or folder. Can be given several times.
    #[arg(short, long = "file", value_name = "FILE", add = ArgValueCompleter::new(super::completions::paths))]
    pub(super) files: Vec<PathBuf>,
    /// Show what would be done, and do nothing.
    #[arg(long)]
    pub(super) dry_run: bool,
}

/// A restore, or only the plan of one.
#[derive(Serialize)]
pub(super) struct Record {
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
    beside: Vec<BesideRecord>,
    plan: Vec<PlanRecord>,
}

/// Runs it.
///
/// # Errors
///
/// There is no such turn, the restore is refused, or it was stopped midway.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    let outcome = perform(context, args)?;
    match context.term.is_json() {
        true => context.term.record(&outcome.record()).printed()?,
        false => outcome.tell(context)?,
    }
    Ok(0)
}

/// What came of it.
pub(super) enum Outcome {
    /// This is what would be done.
    Planned(Wish, Box<Plan>),
    /// This was done.
    Done(Wish, Box<Restored>),
}

/// Does it, or plans it, and says nothing yet.
///
/// # Errors
///
/// As [`run`].
pub(super) fn perform(context: &mut Context, args: &Args) -> Result<Outcome> {
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
        return Ok(Outcome::Planned(wish, Box::new(plan)));
    }
    let (wish, restored) = restore(&mut workspace, find, moment()?)?;
    context.tell_unsaid(&mut workspace)?;
    Ok(Outcome::Done(wish, Box::new(restored)))
}

impl Outcome {
    /// As JSON.
    pub fn record(&self) -> Record {
        let number = |turn: &Option<Turn>| turn.as_ref().map(|turn| turn.number().turn);
        match self {
            Outcome::Planned(wish, plan) => Record {
                dry_run: true,
                ..record(wish, plan)
            },
            Outcome::Done(wish, restored) => Record {
                written: restored.done.written,
                removed: restored.done.removed,
                safety_turn: number(&restored.safety),
                new_turn: number(&restored.done.turn),
                displaced: paths(&restored.done.displaced),
                saved: restored.done.ignored_side.as_ref().map(ToString::to_string),
                beside: beside(&restored.plan, &restored.done),
                ..record(wish, &restored.plan)
            },
        }
    }

    /// As text.
    ///
    /// # Errors
    ///
    /// It can't be written.
    pub fn tell(&self, context: &mut Context) -> Result<()> {
        match self {
            Outcome::Planned(wish, plan) => {
                let goal = format!("turn {}", wish.target.number());
                list(context, plan, &goal)
            }
            Outcome::Done(wish, restored) => {
                report(context, wish, restored);
                Ok(())
            }
        }
    }
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
        beside: Vec::new(),
        plan: records(plan),
    }
}

fn report(context: &mut Context, wish: &Wish, restored: &Restored) {
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
    name_beside(context, &restored.plan, &restored.done);
    name_saved(context, &restored.plan, &restored.done);
    let beyond = restored.done.beyond.len();
    if restored.done.written + restored.done.removed + beyond > 0 {
        context.term.hint("to undo it: edio undo");
    }
}
