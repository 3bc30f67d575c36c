//! `edio restore`: bring the work tree, or some paths of it, to a turn.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use super::record::paths;
use super::{Context, Printed, moment, paths_meant, plural};
use crate::error::Result;
use crate::gitengine::RepoPath;
use crate::history::address::Address;
use crate::history::restore::{Action, Plan, Restored, Wish, preview, restore};
use crate::history::session::Session;
use crate::history::turn::{Number, Turn};
use crate::history::workspace::Locked;
use crate::term::{json, style, text};

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
    #[arg(value_name = "TURN")]
    turn: Address,
    /// Only this file or folder. Can be given several times.
    #[arg(short, long = "file", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Show what would be done, and do nothing.
    #[arg(long)]
    dry_run: bool,
}

#[derive(Serialize)]
struct Record {
    turn: String,
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

#[derive(Serialize)]
struct PlanRecord {
    path: Value,
    action: &'static str,
    why: Option<String>,
}

/// Runs it.
///
/// # Errors
///
/// There is no such turn, the restore is refused, or it was stopped midway.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    let mut workspace = context.open_locked()?;
    let session = Session::wanted(&workspace, context.session.as_ref())?;
    let before = session.current.as_ref().map(Turn::number);
    let wish = Wish {
        target: args.turn.find(&workspace, &session)?,
        paths: paths_meant(&workspace, &args.files)?,
    };
    if args.dry_run {
        let plan = preview(&workspace, &wish)?;
        show_plan(context, &wish, &plan)?;
        return Ok(0);
    }
    let restored = restore(&mut workspace, session, &wish, moment())?;
    report(context, &workspace, &wish, &restored, before)?;
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
    for (path, action) in &plan.actions {
        let path = text::path(path.as_bytes());
        let line = match (action_name(action), why(action)) {
            (name, Some(why)) => format!("{name:<7} {path} ({why})"),
            (name, None) => format!("{name:<7} {path}"),
        };
        context.term.line(line).printed()?;
    }
    let number = wish.target.number();
    match plan.is_nothing() {
        true => context.term.told(format!(
            "nothing would change: the work tree is as turn {number}"
        )),
        false => context
            .term
            .told("nothing was changed: this is what would be done"),
    }
    Ok(())
}

fn action_name(action: &Action) -> &'static str {
    match action {
        Action::Write { .. } => "write",
        Action::SetMode { .. } => "mode",
        Action::Remove { .. } => "remove",
        Action::Keep(_) => "keep",
    }
}

fn why(action: &Action) -> Option<String> {
    match action {
        Action::Keep(kept) => Some(kept.to_string()),
        _ => None,
    }
}

fn record(wish: &Wish, plan: &Plan) -> Record {
    let plan = plan.actions.iter().map(|(path, action)| PlanRecord {
        path: json::path(path.as_bytes()),
        action: action_name(action),
        why: why(action),
    });
    Record {
        turn: wish.target.number().to_string(),
        commit: wish.target.commit.to_string(),
        dry_run: false,
        written: 0,
        removed: 0,
        safety_turn: None,
        new_turn: None,
        displaced: paths(&[]),
        saved: None,
        plan: plan.collect(),
    }
}

fn report(
    context: &mut Context,
    workspace: &Locked,
    wish: &Wish,
    restored: &Restored,
    before: Option<Number>,
) -> Result<()> {
    let number = |turn: &Option<Turn>| turn.as_ref().map(|turn| turn.number().turn);
    if context.term.is_json() {
        let record = Record {
            written: restored.done.written,
            removed: restored.done.removed,
            safety_turn: number(&restored.safety),
            new_turn: number(&restored.done.turn),
            displaced: paths(&restored.done.displaced),
            saved: restored.done.side.as_ref().map(ToString::to_string),
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
    let what = match (restored.done.written, restored.done.removed) {
        (0, 0) => "nothing to do".to_owned(),
        (written, 0) => format!("{} written", plural(written, "path")),
        (0, removed) => format!("{} removed", plural(removed, "path")),
        (written, removed) => format!("{} written, {removed} removed", plural(written, "path")),
    };
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
    name_saved(context, restored);
    if restored.done.written + restored.done.removed > 0 {
        hint_back(context, workspace, restored, before);
    }
    Ok(())
}

fn name_kept(context: &mut Context, plan: &Plan) {
    const NAMED: usize = 5;
    let kept: Vec<(&RepoPath, String)> = plan
        .actions
        .iter()
        .filter_map(|(path, action)| Some((path, why(action)?)))
        .collect();
    for (path, why) in kept.iter().take(NAMED) {
        let path = text::path(path.as_bytes());
        context.term.told(format!("  left alone: {path} ({why})"));
    }
    if kept.len() > NAMED {
        let more = kept.len() - NAMED;
        context.term.told(format!("  left alone: {more} more"));
    }
}

fn name_saved(context: &mut Context, restored: &Restored) {
    let Some(side) = &restored.done.side else {
        return;
    };
    for path in &restored.plan.saved {
        let shown = text::path(path.as_bytes());
        context.term.told(format!(
            "  an ignored file was replaced: {shown} (its old content: git show {}:ignored/{shown})",
            side.short()
        ));
    }
    for path in &restored.done.displaced {
        let shown = text::path(path.as_bytes());
        context.term.warn(format!(
            "{shown} was changed while it was restored (that content: git show {}:displaced/{shown})",
            side.short()
        ));
    }
}

/// How to go back: to the safety turn, or to where the work tree stood.
fn hint_back(
    context: &mut Context,
    workspace: &Locked,
    restored: &Restored,
    before: Option<Number>,
) {
    let last = workspace.state.session.as_ref().map(|s| s.last);
    let back = match &restored.safety {
        Some(safety) => Some(safety.number()),
        None => before,
    };
    if let (Some(back), Some(_)) = (back, last) {
        context
            .term
            .hint(format!("to undo it: edio restore {back}"));
    }
}
