//! Copilot CLI: its configuration, and what its hooks say. VS Code's agent has the same runtime.

use super::claude;
use super::codex::files_of_patch;
use super::config::{Entry, Language, Value};
use super::connection::{File, Purpose, Reach, Read, Trust};
use super::event::{Ending, Payload, Tool, Touched, What};
use super::guard::Tools;
use super::vscode;

/// What the person must still do.
pub(super) const APPROVAL: &str =
    "start copilot here and trust the folder when asked: until then hooks and server are left out";

/// The events that edio hears of.
const EVENTS: [&str; 6] = [
    "userPromptSubmitted",
    "postToolUse",
    "postToolUseFailure",
    "subagentStop",
    "agentStop",
    "sessionEnd",
];

/// The files that connect Copilot CLI. In a project it reads the server that Claude Code reads, and the instructions that
/// VS Code reads.
pub(super) fn files(reach: Reach) -> Vec<File> {
    let hooks = |path| File::new(Purpose::Hooks, path, Language::StrictJson, hooks());
    match reach {
        Reach::User => vec![
            hooks(".copilot/hooks/edio.json"),
            claude::server_in(".copilot/mcp-config.json"),
        ],
        Reach::Project => vec![
            hooks(".github/hooks/edio.json"),
            claude::server_in(".mcp.json"),
            vscode::instructions(),
        ],
    }
}

/// What the guard needs beside that.
pub(super) fn guard(reach: Reach) -> Vec<File> {
    let path = match reach {
        Reach::User => ".copilot/hooks/edio.json",
        Reach::Project => ".github/hooks/edio.json",
    };
    let hooks = vec![hook("preToolUse"), hook("preCompact")];
    vec![File::new(Purpose::Guard, path, Language::StrictJson, hooks)]
}

fn hooks() -> Vec<Entry> {
    let version = Entry::Needed("version", Value::Number(1));
    std::iter::once(version)
        .chain(EVENTS.into_iter().map(hook))
        .collect()
}

fn hook(event: &'static str) -> Entry {
    let handler = vec![
        ("type", Value::Text("command")),
        ("bash", Value::Text("edio hook copilot")),
        ("powershell", Value::Text("edio hook copilot")),
        ("timeoutSec", Value::Number(10)),
    ];
    Entry::Listed(vec!["hooks", event], Value::Object(handler))
}

/// Is the folder trusted, or one above it? Whether that is all it goes by is not known.
pub(super) fn trust(project: &str, read: Read<'_>) -> Vec<Trust> {
    let own = read(Reach::User, ".copilot/config.json");
    let own = own.and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
    let own = own.unwrap_or_default();
    let lists = ["trusted_folders", "trustedFolders"];
    let mut folders = lists
        .iter()
        .filter_map(|key| own[key].as_array())
        .flatten()
        .filter_map(serde_json::Value::as_str);
    let project = std::path::Path::new(project);
    vec![match folders.any(|folder| project.starts_with(folder)) {
        true => Trust::Given("the folder is trusted"),
        false => Trust::Unknown("no trust of the folder was found"),
    }]
}

/// Tools that change nothing on disk.
const LOOKS: [&str; 11] = [
    "ask_user",
    "glob",
    "grep",
    "list_bash",
    "report_intent",
    "rg",
    "store_memory",
    "update_todo",
    "view",
    "web_fetch",
    "web_search",
];

/// What the guard knows of its tools.
pub(super) const TOOLS: Tools = Tools {
    read: &["view"],
    replace: &["create"],
    look: &["glob", "grep", "rg"],
};

/// What a hook of Copilot CLI tells (<https://docs.github.com/en/copilot/reference/hooks-configuration>).
///
/// Its own hooks don't name the event: the fields tell which it is. The hooks of Claude Code's configuration it calls,
/// too, with the fields of those.
pub(super) fn what(payload: &Payload<'_>) -> Option<What> {
    if payload.has("hook_event_name") {
        return claude::what(payload);
    }
    if let Some(tool) = payload.text("toolName") {
        let tool = of_tool(payload, tool);
        let is_over = payload.has("toolResult") || payload.has("error");
        return Some(match is_over {
            true => What::Used(tool),
            false => What::Using(tool),
        });
    }
    if payload.has("customInstructions") {
        return Some(What::LostSight);
    }
    if payload.has("prompt") {
        return Some(payload.told("prompt"));
    }
    if payload.has("stopReason") {
        return Some(match payload.has("agentName") {
            true => What::Paused,
            false => What::Ended(Ending::Completed),
        });
    }
    payload.text("reason").map(|_| What::Closed)
}

fn of_tool(payload: &Payload<'_>, tool: &str) -> Tool {
    let parsed = payload.object_in_text("toolArgs");
    let input = match &parsed {
        Some(map) => Payload::of(map),
        None => payload.object("toolArgs"),
    };
    let touched = match tool {
        "create" | "edit" | "str_replace" | "insert" => payload.file_in(&input, &["path"]),
        "apply_patch" => files_of_patch(payload, &input),
        tool if LOOKS.contains(&tool) => Touched::Nothing,
        _ => Touched::Anything,
    };
    payload.tool_as(tool, touched)
}
