//! `edio forget`: a session written anew without some paths.

use std::path::PathBuf;

use bstr::ByteSlice;
use clap_complete::engine::ArgValueCompleter;
use serde::Serialize;
use serde_json::Value;

use super::shown::record::paths as path_values;
use super::{Context, Printed};
use crate::error::{Error, Result};
use crate::history::forget::{
    Extent, Forgotten, Held, Plan, let_go_elsewhere, plan, run as carry_out,
};
use crate::history::store::let_go;
use crate::history::workspace::{Locked, Start};
use crate::term::text::plural;
use crate::term::{json, style, text};

/// Take files out of all turns, for good: for a secret that slipped in.
///
/// The session's commits are written anew without it; numbers, dates and messages stay. This can't be undone, so it
/// asks first. The file on disk stays, and is kept out of later turns with edio.exclude. Your own commits, branches and
/// index are not touched. The old objects stay in the repository until git collects them.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio forget -f .env\n  edio forget -f keys -f src/token.rs --yes\n  edio forget -f .env --all-sessions"
)]
pub struct Args {
    /// The file or folder. Can be given several times.
    #[arg(
        short,
        long = "file",
        value_name = "FILE",
        required = true,
        add = ArgValueCompleter::new(super::completions::paths)
    )]
    files: Vec<PathBuf>,
    /// Forget it in all sessions of the repository, archived ones too.
    #[arg(long)]
    all_sessions: bool,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
}

#[derive(Serialize)]
struct SessionRecord {
    session: String,
    turns: Vec<u32>,
}

#[derive(Serialize)]
struct Record {
    paths: Value,
    not_found: Value,
    sessions: Vec<SessionRecord>,
    commits: usize,
    objects: usize,
    excluded: Value,
    other_paths: Value,
    other_sessions: Vec<String>,
    other_refs: Vec<String>,
    own_commit: Option<String>,
    own_reflog: bool,
    own_index: bool,
}

/// Runs it.
///
/// # Errors
///
/// No turn holds it, nobody said yes, another work tree's session would have to be written, or git failed.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    if !args.yes {
        let (workspace, plan) = look(context, args)?;
        // Nobody has to wait for the workspace while a person thinks.
        drop(workspace);
        confirm(context, &plan)?;
    }
    let (mut workspace, mut plan) = look(context, args)?;
    let mut forgotten = carry_out(&mut workspace, &plan)?;
    if workspace.store.is_some() {
        let_go(&workspace, &plan.paths)?;
        plan.own.is_staged = false;
        forgotten.objects = 0;
    }
    let elsewhere = let_go_elsewhere(workspace);
    let reported = report(context, &plan, &forgotten);
    // It is done here. What is left elsewhere, the same command does once more.
    elsewhere?;
    reported?;
    Ok(0)
}

fn look(context: &mut Context, args: &Args) -> Result<(Locked, Plan)> {
    let workspace = context.open_to_restore()?;
    let mut paths = Vec::new();
    for file in &args.files {
        let path = workspace.path_argument(file, Start::Here)?;
        paths.push(path.ok_or_else(|| {
            Error::usage("the whole work tree can't be forgotten")
                .hint("name files or folders; the README says how to be rid of all turns")
        })?);
    }
    let extent = match (args.all_sessions, &context.session) {
        (true, None) => Extent::All,
        (true, Some(_)) => {
            return Err(Error::usage(
                "--all-sessions and --session exclude each other",
            ));
        }
        (false, Some(id)) => Extent::Session(id.clone()),
        (false, None) => Extent::Own,
    };
    let plan = plan(&workspace, &paths, &extent)?;
    if plan.sessions.is_empty() {
        // An earlier one may have failed in another work tree.
        let_go_elsewhere(workspace)?;
        return Err(nothing(&plan));
    }
    Ok((workspace, plan))
}

fn nothing(plan: &Plan) -> Error {
    let mut error = Error::cannot(format!(
        "no turn has {}: there is nothing to forget",
        named(plan)
    ));
    if !plan.other_sessions.is_empty() {
        error = error.hint("other sessions have it: edio forget --all-sessions");
    }
    match elsewhere(plan) {
        Some(where_else) => error.hint(where_else),
        None => error,
    }
}

fn confirm(context: &mut Context, plan: &Plan) -> Result<()> {
    let question = format!(
        "Forget {} in {}? It can't be undone.",
        text::plain(named(plan).as_bytes()),
        plural(plan.sessions.len(), "session")
    );
    match context.term.ask(question) {
        Some(true) => Ok(()),
        Some(false) => Err(Error::cannot("nothing was forgotten")),
        None => Err(
            Error::refused("what is forgotten can't be brought back: nothing was changed")
                .hint("if that is what you want: edio forget --yes"),
        ),
    }
}

fn named(plan: &Plan) -> String {
    match plan.paths.as_slice() {
        [path] => path.to_string(),
        paths => plural(paths.len(), "path"),
    }
}

/// What holds it beside the sessions, and is not edio's to change.
fn elsewhere(plan: &Plan) -> Option<String> {
    let mut places = Vec::new();
    if let Some((oid, held)) = &plan.own.commit {
        let commit = oid.short();
        places.push(match held {
            Held::ByRef => (
                format!("your own history (commit {commit})"),
                "git filter-repo",
            ),
            Held::ByReflog => (
                format!("your reflog (commit {commit})"),
                "git reflog expire --expire=now --all",
            ),
        });
    }
    if plan.own.is_staged {
        places.push(("your index".to_owned(), "git rm --cached"));
    }
    let (places, ways): (Vec<String>, Vec<&str>) = places.into_iter().unzip();
    (!places.is_empty()).then(|| {
        format!(
            "it is also in {}, which edio does not touch: see {}",
            places.join(" and "),
            ways.join(", ")
        )
    })
}

fn report(context: &mut Context, plan: &Plan, forgotten: &Forgotten) -> Result<()> {
    if context.term.is_json() {
        return context.term.record(&record(plan, forgotten)).printed();
    }
    let term = &mut context.term;
    for session in &plan.sessions {
        let turns: Vec<String> = session
            .turns
            .iter()
            .map(|n| style::turn(n).to_string())
            .collect();
        let turns = match turns.as_slice() {
            [] => "it was beside the turns".to_owned(),
            turns => format!("it was in turns {}", turns.join(", ")),
        };
        let name = text::plain(named(plan).as_bytes());
        term.told(format!("forgot {name} in {}: {turns}", session.id));
    }
    for pattern in &forgotten.excluded {
        let pattern = text::path(pattern);
        term.told(format!(
            "the file on disk stays; edio.exclude now has {pattern}, so no later turn takes it"
        ));
    }
    for path in &plan.not_found {
        term.warn(format!("no turn had {}", text::path(path.as_bytes())));
    }
    if let Some(where_else) = elsewhere(plan) {
        term.warn(where_else);
    }
    for name in &forgotten.other_names {
        term.warn(format!(
            "turns have the same content under another name: {}",
            text::path(name)
        ));
    }
    for session in &plan.other_sessions {
        term.warn(format!("{session} has it, too: edio forget --all-sessions"));
    }
    for name in &plan.other_refs {
        term.warn(format!(
            "{} has it, too, and is not rewritten",
            text::plain(name.as_bytes())
        ));
    }
    term.told("copies that were pushed or fetched elsewhere are out of edio's reach");
    if forgotten.objects > 0 {
        term.told(format!(
            "the old commits and what only they hold ({}) stay in .git until git collects them, after two weeks by default",
            plural(forgotten.objects, "object")
        ));
        term.hint("to be rid of them at once: git gc --prune=now");
        term.hint(
            "that removes all else that nothing points to, too (dropped stashes, lost commits): \
             git fsck --unreachable lists it",
        );
    }
    Ok(())
}

fn record(plan: &Plan, forgotten: &Forgotten) -> Record {
    let commit = plan.own.commit.as_ref();
    let sessions = plan.sessions.iter().map(|session| SessionRecord {
        session: session.id.to_string(),
        turns: session.turns.iter().copied().collect(),
    });
    Record {
        paths: path_values(&plan.paths),
        not_found: path_values(&plan.not_found),
        sessions: sessions.collect(),
        commits: forgotten.commits,
        objects: forgotten.objects,
        excluded: json::path_list(forgotten.excluded.iter().map(|p| p.as_bytes())),
        other_paths: json::path_list(forgotten.other_names.iter().map(|n| n.as_bytes())),
        other_sessions: plan
            .other_sessions
            .iter()
            .map(ToString::to_string)
            .collect(),
        other_refs: plan.other_refs.clone(),
        own_commit: commit.map(|(oid, _)| oid.to_string()),
        own_reflog: commit.is_some_and(|(_, held)| *held == Held::ByReflog),
        own_index: plan.own.is_staged,
    }
}
