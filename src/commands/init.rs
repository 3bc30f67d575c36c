//! `edio init`: prepare the repository, and connect agents.

use clap::builder::PossibleValuesParser;
use serde::Serialize;
use serde_json::Value;
use similar::TextDiff;

use super::connection::{Edit, Places, Plan, View, Wish, all, usual};
use super::{Context, Printed};
use crate::agents::Agent;
use crate::agents::connection::Reach;
use crate::env;
use crate::error::{Error, Result};
use crate::history::connected::{Connected, Excludes};
use crate::history::git::git_bytes;
use crate::history::workspace::Workspace;
use crate::term::{json, style, text};

/// Prepare the repository, and connect the agents.
///
/// It makes edio's scratch folder in the git directory, and writes what agents need to call edio: hooks, a server, and
/// EDIO.md, which tells them how to work with it. Files that it makes are kept out of git's sight; of yours it keeps every
/// byte that is not edio's. Running it again changes nothing. It is not needed before the first snapshot.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio init\n  edio init --agents claude,codex\n  edio init --dry-run\n  edio init --remove"
)]
pub struct Args {
    /// Agents to connect: claude, codex, cursor, gemini, vscode, separated by commas; or all, or none. Without this, all
    /// but those of which nothing is found here: codex.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = names())]
    agents: Vec<String>,
    /// Let git see the files, to be committed for everyone, and change files that git tracks.
    #[arg(long, conflicts_with = "user")]
    shared: bool,
    /// Write your own files in the home folder instead of the project's: for all your projects.
    #[arg(long)]
    user: bool,
    /// Print what would change, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Take out again exactly what was put in.
    #[arg(long)]
    remove: bool,
}

fn names() -> PossibleValuesParser {
    let agents = Agent::ALL.into_iter().map(|(_, name)| name);
    PossibleValuesParser::new(agents.chain(["all", "none"]))
}

#[derive(Serialize)]
struct Record {
    work_tree: Value,
    scratch: Value,
    agents: Vec<String>,
    files: Vec<FileRecord>,
    left: Vec<LeftRecord>,
    ignored: Vec<IgnoredRecord>,
    approve: Vec<ApproveRecord>,
    dry_run: bool,
}

#[derive(Serialize)]
struct FileRecord {
    path: &'static str,
    action: &'static str,
    agents: Vec<String>,
    purposes: Vec<&'static str>,
    diff: Option<String>,
}

#[derive(Serialize)]
struct LeftRecord {
    path: &'static str,
    agent: Option<String>,
    purpose: Option<&'static str>,
    why: String,
    add: String,
}

#[derive(Serialize)]
struct IgnoredRecord {
    path: &'static str,
    why: String,
}

#[derive(Serialize)]
struct ApproveRecord {
    agent: String,
    step: &'static str,
}

/// Runs it.
///
/// # Errors
///
/// There is no repository, or something can't be written.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    if args.dry_run {
        let workspace = context.open()?;
        let wish = wish(args, &workspace)?;
        let (plan, _) = plan(args, &workspace, &wish)?;
        return report(context, args, &workspace, &wish, &plan);
    }
    let workspace = context.open_to_change()?;
    workspace.state.save(&workspace.scratch())?;
    let wish = wish(args, &workspace)?;
    let (plan, places) = plan(args, &workspace, &wish)?;
    if let Some(places) = places {
        plan.carry_out(&workspace, &places, &wish)?;
    }
    report(context, args, &workspace, &wish, &plan)
}

fn wish(args: &Args, workspace: &Workspace) -> Result<Wish> {
    let is_named = |name: &str| args.agents.iter().any(|word| word == name);
    let named = args.agents.iter().filter_map(|name| name.parse().ok());
    let mut agents = match args.agents.as_slice() {
        [] if args.remove => all(),
        [] => usual(workspace),
        [_] if is_named("all") => all(),
        [_] if is_named("none") => Vec::new(),
        _ if is_named("all") || is_named("none") => {
            return Err(Error::usage("all and none stand alone in --agents")
                .hint("name the agents, or leave --agents away"));
        }
        _ => named.collect(),
    };
    agents.sort_unstable();
    agents.dedup();
    Ok(Wish {
        agents,
        reach: match args.user {
            true => Reach::User,
            false => Reach::Project,
        },
        shared: args.shared,
    })
}

/// What is to be done, and where. Without agents, nothing is even looked at.
fn plan(args: &Args, workspace: &Workspace, wish: &Wish) -> Result<(Plan, Option<Places>)> {
    if wish.agents.is_empty() {
        return Ok((Plan::empty(), None));
    }
    let places = Places::look(workspace, wish.reach)?;
    let excludes = Excludes::read(&workspace.git).ok();
    let view = View {
        places: &places,
        connected: &Connected::load(&workspace.scratch()),
        excludes: excludes.as_ref(),
        wish,
    };
    let plan = match args.remove {
        false => Plan::connect(&view),
        true => Plan::remove(&view),
    };
    Ok((plan, Some(places)))
}

fn report(
    context: &mut Context,
    args: &Args,
    workspace: &Workspace,
    wish: &Wish,
    plan: &Plan,
) -> Result<u8> {
    if context.term.is_json() {
        let record = record(args, workspace, wish, plan);
        context.term.record(&record).printed()?;
        return Ok(0);
    }
    if args.dry_run {
        for line in plan.edits.iter().flat_map(|edit| diff(edit).into_iter()) {
            for line in line.lines() {
                let shown = text::plain(line.as_bytes());
                context.term.line(coloured(&shown)).printed()?;
            }
        }
    }
    match args.remove {
        true => tell_removed(context, args, plan),
        false => tell_connected(context, args, workspace, wish, plan),
    }
    tell_left(context, plan);
    if !args.remove && !args.dry_run {
        context
            .term
            .hint("take the first turn: edio snapshot -m \"start\"");
    }
    Ok(0)
}

fn tell_connected(
    context: &mut Context,
    args: &Args,
    workspace: &Workspace,
    wish: &Wish,
    plan: &Plan,
) {
    let shown = text::plain(&git_bytes(&workspace.git.work_tree));
    match args.dry_run {
        true => context
            .term
            .told("nothing was changed: this is what would be"),
        false => context.term.told(format!("edio is ready in {shown}")),
    }
    for agent in &wish.agents {
        let written = written_for(*agent, plan);
        let is_known = plan.edits.iter().any(|edit| has_part(edit, *agent));
        match written.as_slice() {
            [] if is_known => context.term.told(format!("{agent}: is connected")),
            [] => {}
            written => {
                let verb = if args.dry_run { "would get" } else { "got" };
                let files = written.join(", ");
                context.term.told(format!("{agent}: {verb} {files}"));
                context.term.told(format!("  to do: {}", agent.approval()));
            }
        }
    }
    if !wish.agents.is_empty() && env::find_program("edio").is_none() {
        context
            .term
            .hint("put the folder of edio into PATH: the agents look for it there");
    }
}

fn has_part(edit: &Edit, agent: Agent) -> bool {
    edit.parts.iter().any(|(part, _)| *part == agent)
}

/// `.mcp.json (server)`, for each file of an agent that is written.
fn written_for(agent: Agent, plan: &Plan) -> Vec<String> {
    let edits = plan.edits.iter();
    let edits = edits.filter(|edit| !edit.is_idle() && has_part(edit, agent));
    let told = edits.map(|edit| {
        let parts = edit.parts.iter().filter(|(part, _)| *part == agent);
        let purposes: Vec<_> = parts.map(|(_, purpose)| purpose.name()).collect();
        format!("{} ({})", edit.path, purposes.join(", "))
    });
    told.collect()
}

fn tell_removed(context: &mut Context, args: &Args, plan: &Plan) {
    let would = if args.dry_run { "would be " } else { "" };
    for edit in &plan.edits {
        let what = match edit.wanted {
            Some(_) => "given back without edio's part",
            None => "removed",
        };
        context.term.told(format!("{}: {would}{what}", edit.path));
    }
    if plan.edits.is_empty() && plan.left.is_empty() {
        context
            .term
            .told("nothing of edio's is there to be taken out");
    }
}

/// Names what is left to the person, and what has no effect.
fn tell_left(context: &mut Context, plan: &Plan) {
    for left in &plan.left {
        let why = text::plain(left.why.as_bytes());
        context
            .term
            .warn(format!("{} is left as it is: {why}", left.path));
        if !left.add.is_empty() {
            context.term.told("  add by hand:");
        }
        for line in left.add.lines() {
            context.term.told(format!("    {line}"));
        }
    }
    for (path, why) in &plan.ignored {
        let why = text::plain(why.as_bytes());
        context
            .term
            .warn(format!("the agent ignores all of {path}: {why}"));
    }
}

fn record(args: &Args, workspace: &Workspace, wish: &Wish, plan: &Plan) -> Record {
    let connected = Connected::load(&workspace.scratch());
    let file = |edit: &Edit| FileRecord {
        path: edit.path,
        action: edit.action(),
        agents: names_of(edit.parts.iter().map(|(agent, _)| *agent)),
        purposes: edit
            .parts
            .iter()
            .map(|(_, purpose)| purpose.name())
            .collect(),
        diff: args.dry_run.then(|| diff(edit)).flatten(),
    };
    let written = |agent: &&Agent| !args.remove && !written_for(**agent, plan).is_empty();
    let approve = |agent: &Agent| ApproveRecord {
        agent: agent.to_string(),
        step: agent.approval(),
    };
    Record {
        work_tree: json::path(&git_bytes(&workspace.git.work_tree)),
        scratch: json::path(&git_bytes(&workspace.scratch())),
        agents: connected.agents.into_iter().collect(),
        files: plan.edits.iter().map(file).collect(),
        left: plan
            .left
            .iter()
            .map(|left| LeftRecord {
                path: left.path,
                agent: left.part.map(|(agent, _)| agent.to_string()),
                purpose: left.part.map(|(_, purpose)| purpose.name()),
                why: left.why.clone(),
                add: left.add.clone(),
            })
            .collect(),
        ignored: plan
            .ignored
            .iter()
            .map(|(path, why)| IgnoredRecord {
                path,
                why: why.clone(),
            })
            .collect(),
        approve: wish.agents.iter().filter(written).map(approve).collect(),
        dry_run: args.dry_run,
    }
}

fn names_of(agents: impl Iterator<Item = Agent>) -> Vec<String> {
    let mut names: Vec<_> = agents.map(|agent| agent.to_string()).collect();
    names.dedup();
    names
}

/// What differs, as a patch. `None` where nothing does.
fn diff(edit: &Edit) -> Option<String> {
    if edit.is_idle() {
        return None;
    }
    let side = |content: &Option<Vec<u8>>, side: &str| match content {
        Some(content) => (
            String::from_utf8_lossy(content).into_owned(),
            format!("{side}/{}", edit.path),
        ),
        None => (String::new(), "/dev/null".to_owned()),
    };
    let ((old, old_name), (new, new_name)) = (side(&edit.present, "a"), side(&edit.wanted, "b"));
    let diff = TextDiff::from_lines(&old, &new);
    Some(diff.unified_diff().header(&old_name, &new_name).to_string())
}

fn coloured(line: &str) -> String {
    match line.as_bytes().first() {
        Some(b'+') => style::added(line).to_string(),
        Some(b'-') => style::removed(line).to_string(),
        _ => line.to_owned(),
    }
}
