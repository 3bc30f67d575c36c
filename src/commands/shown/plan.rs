//! How the plan of a restore, a revert, an undo looks, and what came of it.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use super::super::{Context, Printed};
use super::first::{NAMED, tell_first};
use crate::error::Result;
use crate::history::git::{Oid, RepoPath, git_bytes};
use crate::history::journal::beyond::What;
use crate::history::restore::{Action, Performed, Plan};
use crate::history::side::Part;
use crate::shell;
use crate::term::text::plural;
use crate::term::{json, text};

/// What is done with a path.
#[derive(Serialize)]
pub struct PlanRecord {
    path: Value,
    action: &'static str,
    why: String,
}

/// The plan as JSON.
pub fn records(plan: &Plan) -> Vec<PlanRecord> {
    let record = |(path, action): (&RepoPath, &Action)| PlanRecord {
        path: json::path(path.as_bytes()),
        action: action_name(action),
        why: why(plan, path, action),
    };
    let beyond = beyond(plan).map(|(action, file, why)| PlanRecord {
        path: json::path(&git_bytes(&file)),
        action,
        why: why.to_owned(),
    });
    plan.actions.iter().map(record).chain(beyond).collect()
}

/// What is done with files outside of the work tree, and why.
fn beyond(plan: &Plan) -> impl Iterator<Item = (&'static str, PathBuf, &'static str)> {
    let changed = plan.way.beyond.iter().map(|change| {
        let action = match change.new {
            Some(_) => "write",
            None => "remove",
        };
        let why = "it lies outside, and is in the journal";
        (action, change.file(), why)
    });
    let unkept = plan.way.unkept_beyond();
    let why = "it can't be read, or is too large to be saved first";
    changed.chain(unkept.map(move |file| ("keep", file, why)))
}

/// Prints a plan that is not carried out. `goal` is what the work tree would be brought to.
pub fn list(context: &mut Context, plan: &Plan, goal: &str) -> Result<()> {
    for (path, action) in &plan.actions {
        let (name, why) = (action_name(action), why(plan, path, action));
        let path = text::path(path.as_bytes());
        context
            .term
            .line(format!("{name:<7} {path} ({why})"))
            .printed()?;
    }
    for (name, file, why) in beyond(plan) {
        let path = text::path(&git_bytes(&file));
        context
            .term
            .line(format!("{name:<7} {path} ({why})"))
            .printed()?;
    }
    match plan.is_nothing() {
        true => context
            .term
            .told(format!("nothing would change: the work tree is as {goal}")),
        false => context
            .term
            .told("nothing was changed: this is what would be done"),
    }
    Ok(())
}

/// `3 paths written, 1 removed`.
pub fn counts(done: &Performed) -> String {
    match (done.written, done.removed) {
        (0, 0) => match done.changed_beyond().count() {
            0 => "nothing to do".to_owned(),
            count => format!("{} outside", plural(count, "file")),
        },
        (written, 0) => format!("{} written", plural(written, "path")),
        (0, removed) => format!("{} removed", plural(removed, "path")),
        (written, removed) => format!("{} written, {removed} removed", plural(written, "path")),
    }
}

fn action_name(action: &Action) -> &'static str {
    match action {
        Action::Write { .. } => "write",
        Action::SetMode { .. } => "mode",
        Action::Remove { .. } => "remove",
        Action::Keep(_) => "keep",
    }
}

fn why(plan: &Plan, path: &RepoPath, action: &Action) -> String {
    match action {
        Action::Keep(kept) => kept.to_string(),
        _ if plan.beside.contains_key(path) => {
            "no turn holds it, and it is in the journal".to_owned()
        }
        Action::Remove { .. } => "it appeared since".to_owned(),
        Action::SetMode { .. } => "its executable bit differs".to_owned(),
        Action::Write { .. } if plan.saved.contains(path) => {
            "an ignored file stands there, which is saved first".to_owned()
        }
        Action::Write { old: Some(_), .. } => "it differs".to_owned(),
        Action::Write { old: None, .. } => "it is missing".to_owned(),
    }
}

/// Names what was left alone.
pub fn name_kept(context: &mut Context, plan: &Plan) {
    const WHAT: &str = "  left alone: ";
    let kept: Vec<(&RepoPath, String)> = plan
        .actions
        .iter()
        .filter(|(_, action)| matches!(action, Action::Keep(_)))
        .map(|(path, action)| (path, why(plan, path, action)))
        .collect();
    let line = |(path, why): &(&RepoPath, String)| {
        format!("{WHAT}{} ({why})", text::path(path.as_bytes()))
    };
    tell_first(&mut context.term, &kept, line, WHAT);
}

/// What became of a file of the journal.
#[derive(Serialize)]
pub struct BesideRecord {
    path: Value,
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// What became of the files of the journal: no turn's tree has them.
pub fn beside(plan: &Plan, done: &Performed) -> Vec<BesideRecord> {
    let acted = plan.actions.iter();
    let within = acted.filter(|(path, action)| {
        plan.beside.contains_key(path) && !matches!(action, Action::Keep(_))
    });
    let within = within.map(|(path, action)| BesideRecord {
        path: json::path(path.as_bytes()),
        action: match action {
            Action::Remove { .. } => "removed",
            _ => "written",
        },
        why: None,
    });
    let beyond = done.beyond.iter().map(|done| {
        let (action, why) = match &done.what {
            What::Written => ("written", None),
            What::Removed => ("removed", None),
            What::WrittenOver(kept) => {
                let kept = kept.display();
                let why = format!("it was changed while it was restored: that content is {kept}");
                ("written", Some(why))
            }
            What::Left(why) => ("left", Some(why.clone())),
        };
        BesideRecord {
            path: json::path(&git_bytes(&done.file)),
            action,
            why,
        }
    });
    let unkept = plan.way.unkept_beyond().map(|file| BesideRecord {
        path: json::path(&git_bytes(&file)),
        action: "left",
        why: Some("it can't be read, or is too large to be saved first".to_owned()),
    });
    within.chain(beyond).chain(unkept).collect()
}

/// Names what became of the files of the journal.
pub fn name_beside(context: &mut Context, plan: &Plan, done: &Performed) {
    for record in beside(plan, done) {
        let shown = match &record.path {
            Value::String(path) => text::path(path.as_bytes()),
            other => other.to_string(),
        };
        match &record.why {
            None => context.term.told(format!(
                "  beside the turn, from the journal: {shown} {}",
                record.action
            )),
            Some(why) => {
                let why = text::plain(why.as_bytes());
                let action = record.action;
                context.term.warn(format!("{shown} is {action}: {why}"));
            }
        }
    }
}

/// Names what was replaced and is held by no turn, and where it is saved: the first of it.
pub fn name_saved(context: &mut Context, plan: &Plan, done: &Performed) {
    const WHAT: &str = "  an ignored file was replaced: ";
    let saved = plan.saved.iter().zip(done.ignored_side.iter().cycle());
    let saved: Vec<_> = saved.collect();
    let line = |(path, side): &(&RepoPath, &Oid)| {
        let shown = text::path(path.as_bytes());
        let kept = shell::word(&Part::Ignored.object_name(side, path));
        format!("{WHAT}{shown} (its old content: git show {kept})")
    };
    tell_first(&mut context.term, &saved, line, WHAT);
    let sides = done.displaced_side.iter().cycle();
    for (path, side) in done.displaced.iter().zip(sides).take(NAMED) {
        let shown = text::path(path.as_bytes());
        context.term.warn(format!(
            "{shown} was changed while it was restored (that content: git show {})",
            shell::word(&Part::Displaced.object_name(side, path))
        ));
    }
    if let Some(more @ 1..) = done.displaced.len().checked_sub(NAMED) {
        let what = plural(more, "more file");
        context
            .term
            .warn(format!("{what} changed while they were restored"));
    }
}
