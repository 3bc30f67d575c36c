//! `edio guard`: what keeps an agent from writing over what it has not seen, from going round in circles, and from writing
//! what no turn holds without a way back.

use clap::ValueEnum;
use serde::Serialize;

use super::connection::{Places, Plan, Scope, View, Wish};
use super::{Context, Printed};
use crate::agents::Agent;
use crate::agents::connection::Reach;
use crate::error::{Error, Result};
use crate::history::connected::{Connected, Excludes};
use crate::history::guard::{Guard, Guarded};
use crate::history::workspace::{Locked, Workspace};
use crate::term::{style, text};

/// Stop an agent that writes over what it has not read, or does the same over and over.
///
/// It is off until you turn it on, for this repository. What it blocks it tells the agent in one sentence, with what to do
/// instead. Freshness: a file that is there is written only if what stands in it is what the agent last read or wrote.
/// Loops: a third call that is the same, with nothing changed in between, is blocked if it depends on files only; a
/// command gets a notice, and is never blocked. Journal: what a tool writes that turns do not hold, ignored files and those
/// outside, is kept before, and comes back with restore and undo. Without more, it shows what is on.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio guard\n  edio guard on\n  edio guard loops off\n  edio guard off"
)]
pub struct Args {
    /// All of it on or off, or a part of it.
    #[arg(value_name = "WHAT")]
    what: Option<What>,
    /// That part on or off.
    #[arg(value_name = "SWITCH")]
    switch: Option<Switch>,
    /// Change files of the agents that git tracks, too.
    #[arg(long, requires = "what")]
    shared: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    /// All of it on.
    On,
    /// All of it off.
    Off,
    /// Nothing is written over that was not read.
    Freshness,
    /// The same is not done over and over.
    Loops,
    /// What no turn holds is kept before it is written.
    Journal,
}

/// Is a part to work?
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// It is on.
    On,
    /// It is off.
    Off,
}

#[derive(Serialize)]
struct Record {
    freshness: bool,
    loops: bool,
    journal: bool,
    repeat_limit: u32,
    covered: Vec<String>,
    not_covered: Vec<String>,
}

/// Runs it.
///
/// # Errors
///
/// A part without a switch, there is no repository, or something can't be written.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    let (parts, switch) = match (args.what, args.switch) {
        (None, _) => {
            let workspace = context.open()?;
            return show(context, &workspace, &Guard::of(&workspace.settings));
        }
        (Some(What::On), None) => (Guarded::ALL.to_vec(), Switch::On),
        (Some(What::Off), None) => (Guarded::ALL.to_vec(), Switch::Off),
        (Some(What::Freshness), Some(switch)) => (vec![Guarded::Freshness], switch),
        (Some(What::Loops), Some(switch)) => (vec![Guarded::Loops], switch),
        (Some(What::Journal), Some(switch)) => (vec![Guarded::Journal], switch),
        _ => {
            return Err(Error::usage("say on or off once, after the part or alone")
                .hint("edio guard on, edio guard loops off"));
        }
    };
    let workspace = context.open_to_change()?;
    turn(context, &workspace, &parts, switch, args.shared)
}

/// Turns parts on or off, and has the agents ask or not.
///
/// # Errors
///
/// Something can't be written.
pub fn turn(
    context: &mut Context,
    workspace: &Locked,
    parts: &[Guarded],
    switch: Switch,
    shared: bool,
) -> Result<u8> {
    let is_on = switch == Switch::On;
    let mut guard = Guard::of(&workspace.settings);
    for part in parts {
        workspace
            .git
            .set_setting(part.setting(), &is_on.to_string())?;
        match part {
            Guarded::Freshness => guard.freshness = is_on,
            Guarded::Loops => guard.loops = is_on,
            Guarded::Journal => guard.journal = is_on,
        }
    }
    workspace.state.save(&workspace.scratch())?;
    guard.save(&workspace.scratch())?;
    let code = connect(context, workspace, &guard, shared)?;
    show(context, workspace, &guard).map(|shown| shown.max(code))
}

/// Writes what the connected agents need to ask, or takes it out. Returns the exit code.
///
/// # Errors
///
/// The git directory can't be written.
pub fn connect(
    context: &mut Context,
    workspace: &Locked,
    guard: &Guard,
    shared: bool,
) -> Result<u8> {
    let connected = Connected::load(&workspace.scratch())?;
    let wish = Wish {
        agents: connected_agents(&connected),
        reach: Reach::Project,
        shared,
        scope: Scope::Guard,
    };
    if wish.agents.is_empty() {
        return Ok(0);
    }
    let places = Places::look(workspace, wish.reach)?;
    let excludes = Excludes::read(&workspace.git).ok();
    let view = View {
        places: &places,
        connected: &connected,
        excludes: excludes.as_ref(),
        wish: &wish,
    };
    let mut plan = match guard.is_off() {
        true => Plan::remove(&view),
        false => Plan::connect(&view),
    };
    drop(plan.carry_out(workspace, &places, &wish)?);
    for edit in plan.edits.iter().filter(|edit| !edit.is_idle()) {
        context
            .term
            .told(format!("{}: {}", wish.told(edit.path), edit.action()));
    }
    for left in &plan.left {
        let why = text::plain(left.why.as_bytes());
        context
            .term
            .warn(format!("{} is left as it is: {why}", wish.told(left.path)));
    }
    Ok(u8::from(plan.has_failed()))
}

fn connected_agents(connected: &Connected) -> Vec<Agent> {
    let names = connected.agents.iter();
    names.filter_map(|name| name.parse().ok()).collect()
}

fn show(context: &mut Context, workspace: &Workspace, guard: &Guard) -> Result<u8> {
    let connected = connected_agents(&Connected::load(&workspace.scratch())?);
    let (covered, not_covered): (Vec<Agent>, Vec<Agent>) = connected
        .into_iter()
        .partition(|agent| agent.guard(Reach::Project).is_some());
    let names = |agents: &[Agent]| agents.iter().map(Agent::to_string).collect::<Vec<_>>();
    let record = Record {
        freshness: guard.freshness,
        loops: guard.loops,
        journal: guard.journal,
        repeat_limit: guard.repeat_limit,
        covered: names(&covered),
        not_covered: names(&not_covered),
    };
    if context.term.is_json() {
        context.term.record(&record).printed()?;
        return Ok(0);
    }
    for part in Guarded::ALL {
        let switch = match guard.has(part) {
            true => style::added("on").to_string(),
            false => "off".to_owned(),
        };
        let line = format!("{:<10} {switch}", part.name());
        context.term.line(line).printed()?;
    }
    if guard.is_off() {
        context.term.hint("turn it on: edio guard on");
        return Ok(0);
    }
    let list = |agents: Vec<String>| match agents.is_empty() {
        true => "none that is connected".to_owned(),
        false => agents.join(", "),
    };
    let lines = [
        format!("covered    {}", list(record.covered)),
        format!("never      {}", never(record.not_covered)),
    ];
    for line in lines {
        context.term.line(line).printed()?;
    }
    Ok(0)
}

/// What the guard can't see or stop.
fn never(agents: Vec<String>) -> String {
    let mut never = vec![
        "what a command writes".to_owned(),
        "what MCP servers write, unless edio.guard.writeTool names their tools".to_owned(),
    ];
    if !agents.is_empty() {
        never.push(format!("{}: no hook can stop them", agents.join(", ")));
    }
    never.join("; ")
}
