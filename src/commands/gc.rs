//! `edio gc`: what is old goes.

use serde::Serialize;

use super::{Context, Printed, plural};
use crate::clock;
use crate::env;
use crate::error::Result;
use crate::history::gc::{Plan, plan, retention, run as carry_out};
use crate::history::refnames::Shelf;
use crate::history::workspace::{Locked, Place};
use crate::process::Command;
use crate::term::time;

/// Prune sessions that were not used for some days.
///
/// Never one that is under way in a work tree that exists. Only edio's refs are deleted; the objects stay until git
/// collects them (git gc), and nothing of yours is touched.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  edio gc --dry-run\n  edio gc -d 30")]
pub struct Args {
    /// Keep what was used in the last DAYS days. Without, edio.retentionDays, or 10.
    #[arg(short, long, value_name = "DAYS")]
    days: Option<u32>,
    /// Show what would go, and do nothing.
    #[arg(long)]
    dry_run: bool,
}

#[derive(Serialize)]
struct Record {
    session: String,
    pruned: bool,
    turns: usize,
    last_used: Option<String>,
    dry_run: bool,
}

/// Runs it.
///
/// # Errors
///
/// There is no repository, a setting is no number, or git failed.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    let mut workspace = context.open_to_change()?;
    let days = args.days.map_or_else(|| retention(&workspace), Ok)?;
    let plan = plan(&workspace, days, clock::now())?;
    if !args.dry_run {
        carry_out(&mut workspace, &plan)?;
    }
    report(context, &plan, args.dry_run)?;
    Ok(0)
}

/// Starts a gc behind the person's back, if there is something for it to do. It outlives this process, and is not missed
/// if it fails: the next one does what it left.
pub fn run_behind(place: &Place, workspace: Locked) {
    let is_due = retention(&workspace)
        .and_then(|days| plan(&workspace, days, clock::now()))
        .is_ok_and(|plan| !plan.is_nothing());
    // Its lock must be free by then.
    drop(workspace);
    if let (true, Ok(program)) = (is_due, env::this_program()) {
        let _ = Command::new(program)
            .args(["gc", "-q"])
            .dir(&place.folder)
            .start_behind();
    }
}

fn report(context: &mut Context, plan: &Plan, dry_run: bool) -> Result<()> {
    for session in &plan.pruned {
        let last_used = time::rfc3339(session.last_used);
        if context.term.is_json() {
            let record = Record {
                session: session.id.to_string(),
                pruned: true,
                turns: session.turns,
                last_used: Some(last_used),
                dry_run,
            };
            context.term.record(&record).printed()?;
            continue;
        }
        let state = match session.shelf {
            Shelf::Archive => "archived",
            Shelf::Shared => "fetched",
            Shelf::Active => "in a work tree that is gone",
        };
        let line = format!(
            "{} ({state}, {}, last used {})",
            session.id,
            plural(session.turns, "turn"),
            time::ago(clock::now(), session.last_used)
        );
        context.term.line(line).printed()?;
    }
    for session in &plan.thinned {
        if context.term.is_json() {
            let record = Record {
                session: session.id.to_string(),
                pruned: false,
                turns: session.turns,
                last_used: None,
                dry_run,
            };
            context.term.record(&record).printed()?;
            continue;
        }
        let line = format!(
            "{}: {} in the middle can't be named any more (their objects go with the session)",
            session.id,
            plural(session.turns, "turn")
        );
        context.term.line(line).printed()?;
    }
    match (plan.is_nothing(), dry_run) {
        (true, _) => context.term.told("nothing to prune"),
        (false, true) => context
            .term
            .told("nothing was pruned: this is what would go"),
        (false, false) if plan.pruned.is_empty() => context.term.told("done"),
        (false, false) => context
            .term
            .told("pruned; the objects stay until git collects them: git gc"),
    }
    Ok(())
}
