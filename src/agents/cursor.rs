//! Cursor: its configuration, and what its hooks say.

use serde_json::json;

use super::config::{Entry, Language, Value};
use super::connection::{File, Purpose, Reach, server};
use super::event::{Ending, Payload, Tool, Touched, What};
use super::guard::Tools;

/// What the person must still do.
pub(super) const APPROVAL: &str = "open the folder in Cursor and trust it; Settings, Hooks shows the hooks, and Settings, Tools & MCP switches the server edio on";

/// The tools after which files may have changed.
const TOOLS: &str = "Write|StrReplace|Edit|MultiEdit|Delete|Shell|Task|MCP.*";

/// The events that edio hears of, and of which tools. Each tool is heard of once: `afterFileEdit` and the like say the same
/// again.
const EVENTS: [(&str, Option<&str>); 6] = [
    ("beforeSubmitPrompt", None),
    ("postToolUse", Some(TOOLS)),
    ("postToolUseFailure", Some(TOOLS)),
    ("subagentStop", None),
    ("stop", None),
    ("sessionEnd", None),
];

const RULE: &str = "\
---
description: How to work with edio, the undo of this project
alwaysApply: true
---

Snapshots instead of commits: `edio snapshot -m MSG`, where hooks don't take them. Never go back with `git checkout`,
`git stash` or `git reset`. To look: `edio log`, `edio show TURN`, `edio diff A..B`. To go back:
`edio restore TURN [-f FILE]`, `edio undo`; then read the files again. EDIO.md says more.
";

/// The files that connect Cursor.
pub(super) fn files(reach: Reach) -> Vec<File> {
    let server = server("mcpServers", vec![("type", Value::Text("stdio"))]);
    let mut files = vec![
        File::new(
            Purpose::Hooks,
            ".cursor/hooks.json",
            Language::StrictJson,
            hooks(),
        ),
        File::new(
            Purpose::Server,
            ".cursor/mcp.json",
            Language::StrictJson,
            vec![server],
        ),
    ];
    if reach == Reach::Project {
        files.push(File::instructions(".cursor/rules/edio.mdc", RULE));
    }
    files
}

/// What the guard needs beside that.
pub(super) fn guard(_: Reach) -> Vec<File> {
    let events = ["preToolUse", "beforeReadFile", "preCompact"];
    vec![File::new(
        Purpose::Guard,
        ".cursor/hooks.json",
        Language::StrictJson,
        events
            .into_iter()
            .map(|event| hook((event, None)))
            .collect(),
    )]
}

fn hook((event, tools): (&'static str, Option<&'static str>)) -> Entry {
    let matcher = tools.map(|tools| ("matcher", Value::Text(tools)));
    let handler = [
        ("command", Value::Text("edio hook cursor")),
        ("timeout", Value::Number(10)),
    ];
    let members = handler.into_iter().chain(matcher).collect();
    Entry::Listed(vec!["hooks", event], Value::Object(members))
}

fn hooks() -> Vec<Entry> {
    let version = Entry::Needed("version", Value::Number(1));
    std::iter::once(version)
        .chain(EVENTS.into_iter().map(hook))
        .collect()
}

/// What the guard knows of its tools.
pub(super) const TOOLS_OF_GUARD: Tools = Tools {
    read: &["Read"],
    replace: &["Write"],
    look: &["Glob", "Grep", "LS", "List"],
};

/// What a hook of Cursor tells (<https://cursor.com/docs/agent/hooks>).
///
/// It also runs the hooks of Claude Code's configuration, with the names of Claude Code's events.
pub(super) fn what(payload: &Payload<'_>) -> Option<What> {
    match payload.text("hook_event_name")? {
        "beforeSubmitPrompt" => Some(payload.told("prompt")),
        "afterFileEdit" => {
            let touched = payload.file_in(payload, &["file_path"]);
            Some(payload.used_as("Edit", touched))
        }
        "afterShellExecution" => Some(payload.used_as("Shell", Touched::Anything)),
        "afterMCPExecution" => payload.tool(|_, _| Touched::Anything).map(What::Used),
        "preToolUse" => tool(payload).map(What::Using),
        "preCompact" => Some(What::LostSight),
        "beforeReadFile" => {
            // It is asked for all of the file.
            let file = json!({ "file_path": payload.text("file_path"), "limit": u32::MAX });
            let tool = payload.tool_as("Read", Touched::Nothing);
            Some(What::Used(Tool {
                given: file,
                ..tool
            }))
        }
        "postToolUse" => tool(payload).map(What::Used),
        "postToolUseFailure" => tool(payload).map(|tool| {
            What::Used(Tool {
                failed: true,
                ..tool
            })
        }),
        "subagentStop" => Some(What::Paused),
        "stop" => Some(What::Ended(match payload.text("status") {
            Some("aborted") => Ending::Interrupted,
            Some("error") => Ending::Failed,
            _ => Ending::Completed,
        })),
        "sessionStart" => Some(What::Opened),
        "sessionEnd" => Some(What::Closed),
        _ => super::claude::what(payload),
    }
}

fn tool(payload: &Payload<'_>) -> Option<Tool> {
    payload.tool(|tool, input| match tool {
        "Write" | "Edit" | "StrReplace" | "Delete" => {
            payload.file_in(input, &["file_path", "path", "target_file"])
        }
        "Read" | "Grep" | "Glob" | "List" | "LS" | "Search" | "WebSearch" | "WebFetch" => {
            Touched::Nothing
        }
        _ => Touched::Anything,
    })
}
