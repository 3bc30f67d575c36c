//! pi: its configuration, and what the extension that calls edio says.

use super::config::{Entry, Language, Value};
use super::connection::{File, Instead, Purpose, Reach, Read, Trust, block, server};
use super::event::{Ending, Payload, Tool, Touched, What};

/// What the person must still do.
pub(super) const APPROVAL: &str = "start pi here and trust the folder: until then extension and server are left out; pi mcp list shows the server";

/// TypeScript that is JavaScript, too.
const EXTENSION: &str = include_str!("pi.ts");

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

/// What the extension tells: the names of the events are those of pi.
pub(super) fn what(payload: &Payload<'_>) -> Option<What> {
    match payload.text("hook_event_name")? {
        "before_agent_start" => Some(payload.told("prompt")),
        "tool_result" => tool(payload).map(What::Used),
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
