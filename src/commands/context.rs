//! `edio context`: what was said up to a turn, as text for an agent that starts anew.

use std::collections::BTreeMap;

use clap_complete::engine::ArgValueCompleter;
use serde::Serialize;

use super::{Context, Printed};
use crate::error::Result;
use crate::history::address::Address;
use crate::history::conversation::What;
use crate::history::dialogue::{self, Part};
use crate::history::session::Session;
use crate::term::text;

/// Print what was said up to a turn, as text to paste into a new conversation.
///
/// What agents were told, which tools they used, and their closing words, of each turn on the line. It is as it was kept:
/// secrets are taken out, and of long texts only the beginning is there.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio context 7\n  edio context @-1 > so-far.md\n  edio context last --json"
)]
pub struct Args {
    /// The turn: 7, @, @-1, last, or the start of its id. Of a step, the turns before it.
    #[arg(value_name = "TURN", add = ArgValueCompleter::new(super::completions::turns))]
    turn: Address,
}

/// What was said for a turn.
#[derive(Serialize)]
struct Record {
    turn: u32,
    agent: Option<String>,
    agent_session: Option<String>,
    prompts: Vec<String>,
    tools: BTreeMap<String, usize>,
    reply: Option<String>,
}

/// Runs it.
///
/// # Errors
///
/// There is no such turn, or git failed.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    let workspace = context.open()?;
    let session = Session::wanted(&workspace, context.session.as_ref())?;
    let goal = args.turn.find(&workspace, &session)?;
    let line = dialogue::until(&workspace, &session, &goal)?;
    let records = line.iter().filter_map(Record::new);
    if context.term.is_json() {
        for record in records {
            context.term.record(&record).printed()?;
        }
        return Ok(0);
    }
    let parts: Vec<String> = records.map(|record| record.markdown()).collect();
    if parts.is_empty() {
        let number = goal.number();
        context
            .term
            .told(format!("no agent was told anything up to turn {number}"));
        return Ok(0);
    }
    let number = goal.number();
    let head = format!("# What was said and done up to turn {number}\n");
    for part in [head].into_iter().chain(parts) {
        for line in text::plain_lines(part.as_bytes()).lines() {
            context.term.line(line).printed()?;
        }
    }
    Ok(0)
}

impl Record {
    /// `None` where nothing was said: what a person did needs no words.
    fn new(part: &Part) -> Option<Self> {
        let work = &part.turn.note.work;
        let mut record = Self {
            turn: part.turn.number().turn,
            agent: work.agent.clone(),
            agent_session: work.agent_session.clone(),
            prompts: Vec::new(),
            tools: BTreeMap::new(),
            reply: None,
        };
        for entry in &part.entries {
            match &entry.what {
                What::Prompt(text) => record.prompts.push(text.clone()),
                What::Call(call) => *record.tools.entry(call.tool.clone()).or_default() += 1,
                What::Reply(text) => record.reply = Some(text.clone()),
            }
        }
        if record.prompts.is_empty() {
            record.prompts.extend(work.prompt.clone());
        }
        let has_words = !record.prompts.is_empty() || record.reply.is_some();
        has_words.then_some(record)
    }

    fn markdown(&self) -> String {
        let agent = self.agent.as_deref().unwrap_or("an agent");
        let mut text = format!("\n## Turn {} ({agent})\n", self.turn);
        for prompt in &self.prompts {
            text.push_str(&format!("\nThe user said:\n\n{}\n", quoted(prompt)));
        }
        if !self.tools.is_empty() {
            let times = |(tool, times): (&String, &usize)| match times {
                1 => tool.clone(),
                _ => format!("{tool} ({times} times)"),
            };
            let tools: Vec<String> = self.tools.iter().map(times).collect();
            text.push_str(&format!("\nTools used: {}\n", tools.join(", ")));
        }
        if let Some(reply) = &self.reply {
            text.push_str(&format!("\nThe agent ended with:\n\n{}\n", quoted(reply)));
        }
        text
    }
}

/// As a quotation, so that no line of it is taken for a heading.
fn quoted(text: &str) -> String {
    let lines = text.trim().lines().map(|line| format!("> {line}"));
    lines.collect::<Vec<_>>().join("\n")
}
