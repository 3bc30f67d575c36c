//! pi: its configuration, and what the extension that calls edio says.

use super::config::{Entry, Language, Value};
use super::connection::{File, Instead, Purpose, Reach, Read, Trust, block, server};
use super::event::{Ending, Payload, Tool, Touched, What};
use super::guard::Tools;

/// What the person must still do.
pub(super) const APPROVAL: &str = "start pi here and trust the folder: until then extension and server are left out; pi mcp list shows the server";

/// TypeScript that is JavaScript, too.
const EXTENSION: &str = include_str!("pi.ts");
const GUARD: &str = include_str!("pi-guard.ts");

/// The files that connect pi.
pub(super) fn files(reach: Reach) -> Vec<File> {
    let extension = |path| {
        let entries = vec![Entry::Whole(EXTENSION)];
        File::new(Purpose::Hooks, path, Language::Text, entries)
    };
    // Else its model can call the tools only from code that it writes.
    let server = |path| {
        let server = server("mcpServers", vec![("exposure", Value::Text("direct"))]);
        File::new(Purpose::Server, path, Language::StrictJson, vec![server])
    };
    match reach {
        Reach::User => vec![
            extension(".pi/agent/extensions/edio.ts"),
            server(".pi/agent/mcp.json"),
        ],
        Reach::Project => vec![
            extension(".pi/extensions/edio.ts"),
            server(".pi/mcp.json"),
            block("AGENTS.md").or(Instead::WhereThere("AGENTS.override.md")),
        ],
    }
}

/// What the guard needs beside that: an extension that asks before each use of a tool.
pub(super) fn guard(reach: Reach) -> Vec<File> {
    let path = match reach {
        Reach::User => ".pi/agent/extensions/edio-guard.ts",
        Reach::Project => ".pi/extensions/edio-guard.ts",
    };
    let entries = vec![Entry::Whole(GUARD)];
    vec![File::new(Purpose::Guard, path, Language::Text, entries)]
}

/// Is the folder trusted, or one above it?
pub(super) fn trust(project: &str, read: Read<'_>) -> Vec<Trust> {
    let own = read(Reach::User, ".pi/agent/trust.json");
    let own = own.and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
    let Some(own) = own else {
        return vec![Trust::Unknown("no folder was trusted by you yet")];
    };
    let mut folders = std::path::Path::new(project).ancestors();
    let told = folders.find_map(|folder| own[folder.to_str()?].as_bool());
    vec![match told {
        Some(true) => Trust::Given("the folder is trusted"),
        _ => Trust::Missing("the folder is not trusted: extension and server are left out"),
    }]
}

/// What the guard knows of its tools.
pub(super) const TOOLS: Tools = Tools {
    read: &["read"],
    replace: &["write"],
    look: &["find", "grep", "ls"],
};

/// What the extension tells: the names of the events are those of pi.
pub(super) fn what(payload: &Payload<'_>) -> Option<What> {
    match payload.text("hook_event_name")? {
        "before_agent_start" => Some(payload.told("prompt")),
        "tool_call" => tool(payload).map(What::Using),
        "tool_result" => tool(payload).map(What::Used),
        "session_compact" => Some(What::LostSight),
        "agent_settled" => Some(What::Ended(match payload.text("stop_reason") {
            Some("aborted") => Ending::Interrupted,
            Some("error") => Ending::Failed,
            _ => Ending::Completed,
        })),
        "session_shutdown" => Some(What::Closed),
        _ => None,
    }
}

fn tool(payload: &Payload<'_>) -> Option<Tool> {
    payload.tool(|tool, input| match tool {
        "write" | "edit" => payload.file_in(input, &["path"]),
        "find" | "grep" | "ls" | "read" => Touched::Nothing,
        _ => Touched::Anything,
    })
}
