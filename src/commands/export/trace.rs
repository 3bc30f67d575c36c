//! Who wrote which lines, as an Agent Trace record.
//!
//! The form is that of <https://agent-trace.dev>, as its JSON schema has it (`trace-record.json`; its text is an RFC of
//! January 2026). The version stands as the schema wants it: `0.1`, though the text says `0.1.0`.

use serde::Serialize;
use serde_json::{Value, json};

use super::super::{Context, Printed};
use super::name_left;
use crate::error::Result;
use crate::history::compare::Comparison;
use crate::history::export::{Contributor, Lines, Span, Stretch, trace};
use crate::history::session::Session;
use crate::history::turn::Turn;
use crate::term::{text, time};

const VERSION: &str = "0.1";

/// How long the schema lets the name of a model be.
const LONGEST_MODEL: usize = 250;

#[derive(Serialize)]
struct Record {
    version: &'static str,
    id: String,
    timestamp: String,
    vcs: Value,
    tool: Value,
    files: Vec<Value>,
    metadata: Value,
}

/// Prints the record. It is JSON, and the same with and without `--json`: its form has no room for a `v`.
///
/// # Errors
///
/// There is no such turn, or git failed.
pub fn print(context: &mut Context, meant: Option<&Comparison>) -> Result<()> {
    let workspace = context.open()?;
    let session = Session::wanted(&workspace, context.session.as_ref())?;
    let stretch = Stretch::of(&workspace, &session, meant)?.not_empty()?;
    let trace = trace(&workspace, &session, &stretch)?;
    let end = stretch.end();
    let mut files = Vec::new();
    for lines in &trace.files {
        match std::str::from_utf8(lines.path.as_bytes()) {
            Ok(path) => files.push(file(path, lines)),
            Err(_) => context.term.warn(format!(
                "{} is left out: the form knows only names in UTF-8",
                text::path(lines.path.as_bytes())
            )),
        }
    }
    let record = Record {
        version: VERSION,
        id: id(&stretch),
        timestamp: time::rfc3339(end.seconds),
        vcs: json!({ "type": "git", "revision": trace.revision.as_str() }),
        tool: json!({ "name": "edio", "version": env!("CARGO_PKG_VERSION") }),
        files,
        metadata: json!({ "edio": {
            "session": session.id.as_str(),
            "turns": stretch.turns.iter().map(turn).collect::<Vec<_>>(),
        }}),
    };
    if !context.term.is_json() {
        name_left(context, &stretch);
    }
    context.term.line(json!(record)).printed()
}

/// A UUID for these turns, the same whenever they are exported: of version 8, which leaves the digits to whoever makes one
/// (RFC 9562).
fn id(stretch: &Stretch) -> String {
    let first = stretch.base.commit.as_str();
    let last = stretch.end().commit.as_str();
    format!(
        "{}-{}-8{}-8{}-{}",
        &last[..8],
        &last[8..12],
        &last[12..15],
        &first[..3],
        &first[3..15]
    )
}

fn file(path: &str, lines: &Lines) -> Value {
    let conversations: Vec<Value> = lines.spans.iter().map(conversation).collect();
    json!({ "path": path, "conversations": conversations })
}

fn conversation(span: &Span) -> Value {
    let ranges = span.ranges.iter();
    let ranges: Vec<Value> = ranges
        .map(|(start, end)| json!({ "start_line": start, "end_line": end }))
        .collect();
    let mut contributor = json!({ "type": match span.by {
        Contributor::Ai => "ai",
        Contributor::Human => "human",
        Contributor::Mixed => "mixed",
        Contributor::Unknown => "unknown",
    }});
    let model = span.turn.note.work.model.as_deref();
    if let Some(model) = model.filter(|_| span.by == Contributor::Ai) {
        contributor["model_id"] = json!(model_id(model));
    }
    json!({ "url": url(&span.turn), "contributor": contributor, "ranges": ranges })
}

/// Names the turn: `edio show --session ID TURN` tells what was said for it.
fn url(turn: &Turn) -> String {
    format!("edio:{}/{}", turn.note.session, turn.number().turn)
}

/// As models.dev has it: `provider/model`, where the provider is known by the name.
fn model_id(model: &str) -> String {
    const PROVIDERS: [(&str, &str); 6] = [
        ("claude-", "anthropic"),
        ("gpt-", "openai"),
        ("o1", "openai"),
        ("o3", "openai"),
        ("o4", "openai"),
        ("gemini-", "google"),
    ];
    let mut known = PROVIDERS.iter();
    let provider = known.find(|(start, _)| !model.contains('/') && model.starts_with(start));
    let id = match provider {
        Some((_, provider)) => format!("{provider}/{model}"),
        None => model.to_owned(),
    };
    id.chars().take(LONGEST_MODEL).collect()
}

fn turn(turn: &Turn) -> Value {
    let work = &turn.note.work;
    json!({
        "turn": turn.number().turn,
        "commit": turn.commit.as_str(),
        "agent": work.agent,
        "agent_session": work.agent_session,
        "model": work.model,
    })
}
