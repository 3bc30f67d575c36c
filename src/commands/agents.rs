//! `edio agents`: which agents are here, and how each is connected.

use serde::Serialize;

use super::connection::{Sights, all, is_installed, trust_in_short};
use super::{Context, Printed};
use crate::agents::Agent;
use crate::agents::config::Standing;
use crate::agents::connection::Purpose;
use crate::clock;
use crate::error::Result;
use crate::history::workspace::Workspace;
use crate::term::{style, time};

/// List the agents: which are here, and how each is connected
///
/// A column says yes, no, part where only some of it is there, or - where the agent knows of no such thing. Trust is what
/// the agent's own files say of this folder. What helps where something is missing: edio doctor.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  edio agents\n  edio agents --json")]
pub struct Args {}

#[derive(Serialize)]
struct Record {
    agent: String,
    title: &'static str,
    found: bool,
    connected: bool,
    hooks: Option<&'static str>,
    server: Option<&'static str>,
    instructions: Option<&'static str>,
    trust: Option<&'static str>,
    last_event: Option<String>,
    from_documents: bool,
}

/// Runs it.
///
/// # Errors
///
/// There is no repository, or git failed.
pub fn run(context: &mut Context, _: &Args) -> Result<u8> {
    let workspace = context.open()?;
    let sights = Sights::look(&workspace)?;
    if !context.term.is_json() {
        let heads = ["agent", "found", "hooks", "MCP", "trust", "last event"];
        let line = style::heading(row(heads)).to_string();
        context.term.line(line).printed()?;
    }
    for agent in all() {
        let record = record(agent, &workspace, &sights);
        match context.term.is_json() {
            true => context.term.record(&record).printed()?,
            false => context
                .term
                .line(told(&record, agent, &workspace))
                .printed()?,
        }
    }
    Ok(0)
}

fn record(agent: Agent, workspace: &Workspace, sights: &Sights) -> Record {
    let standing = |purpose| sights.standing(agent, purpose).map(word);
    let last = workspace.state.heard.get(&agent.to_string());
    Record {
        agent: agent.to_string(),
        title: agent.title(),
        found: is_installed(agent),
        connected: sights.is_connected(agent),
        hooks: standing(Purpose::Hooks),
        server: standing(Purpose::Server),
        instructions: standing(Purpose::Instructions),
        trust: trust_in_short(agent, workspace),
        last_event: last.map(|seconds| time::rfc3339(*seconds)),
        from_documents: agent.is_known_from_documents(),
    }
}

fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Whole => "yes",
        Standing::Half => "part",
        Standing::Nothing => "no",
    }
}

fn told(record: &Record, agent: Agent, workspace: &Workspace) -> String {
    let last = workspace.state.heard.get(&agent.to_string());
    let last = last.map(|seconds| time::ago(clock::now(), *seconds));
    row([
        &record.agent,
        if record.found { "yes" } else { "no" },
        record.hooks.unwrap_or("-"),
        record.server.unwrap_or("-"),
        record.trust.unwrap_or("-"),
        last.as_deref().unwrap_or("-"),
    ])
}

fn row([agent, found, hooks, server, trust, last]: [&str; 6]) -> String {
    format!("{agent:<12} {found:<6} {hooks:<6} {server:<5} {trust:<8} {last}")
}
