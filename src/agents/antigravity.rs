//! Antigravity CLI: its configuration, and what its hooks say.

use super::config::{Entry, Language, Value};
use super::connection::{File, Purpose, Reach, block, group_in, server};
use super::event::{Ending, Payload, Touched, What};

/// What the person must still do.
pub(super) const APPROVAL: &str = "start agy here and trust the folder; /hooks shows the hooks of edio, and /mcp the server. A version that reads hooks only from plugins leaves them out";

/// The tools after which files may have changed.
const TOOLS: &str =
    "write_to_file|replace_file_content|multi_replace_file_content|run_command|.*mcp.*";

/// The files that connect Antigravity CLI.
pub(super) fn files(reach: Reach) -> Vec<File> {
    let server = |path| {
        let server = server("mcpServers", Vec::new());
        File::new(Purpose::Server, path, Language::StrictJson, vec![server])
    };
    let hooks = |path| File::new(Purpose::Hooks, path, Language::StrictJson, hooks());
    match reach {
        Reach::User => vec![server(".gemini/antigravity-cli/mcp_config.json")],
        Reach::Project => vec![
            hooks(".agents/hooks.json"),
            server(".agents/mcp_config.json"),
            block("AGENTS.md"),
        ],
    }
}

/// A hook has a name here, and its events below that. What is of no tool has no groups.
fn hooks() -> Vec<Entry> {
    let handler = || {
        vec![
            ("type", Value::Text("command")),
            ("command", Value::Text("edio hook antigravity")),
            ("timeout", Value::Number(10)),
        ]
    };
    vec![
        group_in("edio", "PostToolUse", Some(TOOLS), handler()),
        Entry::Listed(vec!["edio", "Stop"], Value::Object(handler())),
    ]
}

/// What a hook of Antigravity CLI tells (<https://antigravity.google/docs/hooks>).
///
/// Where it doesn't name the event, its fields tell which it is. None of them has the prompt.
pub(super) fn what(payload: &Payload<'_>) -> Option<What> {
    let ends = ["terminationReason", "fullyIdle", "executionNum"];
    let event = payload.word(&["hook_event_name", "hookEventName", "eventName"]);
    match event.as_deref() {
        Some("Stop") => Some(ended(payload)),
        Some("PostToolUse") => Some(used(payload)),
        Some(_) => None,
        None if ends.iter().any(|key| payload.has(key)) => Some(ended(payload)),
        None if payload.has("toolCall") || payload.has("stepIdx") => Some(used(payload)),
        None => None,
    }
}

fn used(payload: &Payload<'_>) -> What {
    let call = payload.object("toolCall");
    let args = call.object("args");
    let name = call.text("name").unwrap_or("tool");
    let touched = match name {
        "write_to_file" | "replace_file_content" | "multi_replace_file_content" => {
            payload.file_in(&args, &["TargetFile", "AbsolutePath", "path"])
        }
        _ => Touched::Anything,
    };
    call.used_as(name, touched)
}

fn ended(payload: &Payload<'_>) -> What {
    let reason = payload.text("terminationReason").unwrap_or_default();
    let reason = reason.to_lowercase();
    if payload.is_false("fullyIdle") {
        return What::Paused;
    }
    What::Ended(match reason.as_str() {
        reason if reason.contains("cancel") || reason.contains("interrupt") => Ending::Interrupted,
        reason if reason.contains("error") => Ending::Failed,
        _ => Ending::Completed,
    })
}
