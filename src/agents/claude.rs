//! Claude Code: its configuration, and what its hooks say.

use super::config::{Entry, Language, Value};
use super::connection::{EDIO_MD, File, Instead, Purpose, Reach, Read, Trust, group, server};
use super::event::{Ending, Payload, Touched, What};
use super::guard::Tools;
use super::resume::{self, Keeping};

/// What the person must still do.
pub(super) const APPROVAL: &str =
    "start claude here, trust the folder, and approve the server edio when asked (or later: /mcp)";

/// The events that edio hears of. Which tools change files it knows better than a pattern that would have to be written
/// anew with each tool that comes.
const EVENTS: [&str; 9] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStop",
    "Stop",
    "StopFailure",
    "SessionEnd",
];

/// The files that connect Claude Code.
pub(super) fn files(reach: Reach) -> Vec<File> {
    let hooks = |path| File::new(Purpose::Hooks, path, Language::StrictJson, hooks());
    match reach {
        Reach::Project => vec![
            hooks(".claude/settings.json").or(Instead::OfTracked(".claude/settings.local.json")),
            server_in(".mcp.json"),
            File::instructions(".claude/rules/edio.md", EDIO_MD),
        ],
        Reach::User => vec![hooks(".claude/settings.json"), server_in(".claude.json")],
    }
}

/// A file with the server, as Claude Code and Copilot CLI write it.
pub(super) fn server_in(path: &'static str) -> File {
    let server = server("mcpServers", vec![("type", Value::Text("stdio"))]);
    File::new(Purpose::Server, path, Language::StrictJson, vec![server])
}

fn hooks() -> Vec<Entry> {
    // In one piece: Copilot reads these hooks, too, and leaves out arguments that stand by themselves.
    let handler = || {
        vec![
            ("type", Value::Text("command")),
            ("command", Value::Text("edio hook claude")),
            ("timeout", Value::Number(10)),
        ]
    };
    let events = EVENTS.into_iter();
    events.map(|event| group(event, None, handler())).collect()
}

/// Is the folder trusted, and the server approved?
pub(super) fn trust(project: &str, read: Read<'_>) -> Vec<Trust> {
    let json = |reach, path: &str| -> Option<serde_json::Value> {
        serde_json::from_slice(&read(reach, path)?).ok()
    };
    let Some(own) = json(Reach::User, ".claude.json") else {
        return vec![Trust::Unknown("claude was not started by you yet")];
    };
    let here = &own["projects"][project];
    let folder = match here["hasTrustDialogAccepted"].as_bool() {
        Some(true) => Trust::Given("the folder is trusted"),
        _ => Trust::Missing("the folder is not trusted: hooks and server are left out"),
    };
    let settings = [
        json(Reach::User, ".claude/settings.json"),
        json(Reach::Project, ".claude/settings.json"),
        json(Reach::Project, ".claude/settings.local.json"),
    ];
    let all: Vec<_> = settings.iter().flatten().chain([here]).collect();
    let lists = |name: &str| {
        let mut lists = all.iter().filter_map(|settings| settings[name].as_array());
        lists.any(|list| list.iter().any(|server| server == "edio"))
    };
    let has_blanket = all
        .iter()
        .any(|settings| settings["enableAllProjectMcpServers"] == true);
    let server = if lists("disabledMcpjsonServers") {
        Trust::Missing("the server was rejected")
    } else if has_blanket || lists("enabledMcpjsonServers") {
        Trust::Given("the server is approved")
    } else {
        Trust::Unknown("no approval of the server was found")
    };
    vec![folder, server]
}

/// Tools that change nothing on disk.
const LOOKS: [&str; 14] = [
    "AskUserQuestion",
    "BashOutput",
    "ExitPlanMode",
    "Glob",
    "Grep",
    "KillShell",
    "LS",
    "NotebookRead",
    "Read",
    "TodoWrite",
    "ToolSearch",
    "TaskOutput",
    "WebFetch",
    "WebSearch",
];

/// What the guard knows of its tools.
pub(super) const TOOLS: Tools = Tools {
    read: &["Read", "NotebookRead", "view"],
    replace: &["Write", "create"],
    look: &["Glob", "Grep", "LS", "grep", "glob", "rg"],
};

/// What a hook of Claude Code tells (<https://code.claude.com/docs/en/hooks>).
pub(super) fn what(payload: &Payload<'_>) -> Option<What> {
    match payload.text("hook_event_name")? {
        // In the midst of a prompt, which goes on.
        "SessionStart" if payload.text("source") == Some("compact") => Some(What::LostSight),
        "SessionStart" => Some(What::Opened),
        "PreCompact" | "PostCompact" => Some(What::LostSight),
        // What has ended in the background is told in the place of a prompt.
        "UserPromptSubmit" if is_notification(payload) => Some(What::Woken),
        "UserPromptSubmit" => Some(payload.told("prompt")),
        "PreToolUse" => payload
            .tool(|tool, input| touched(payload, tool, input))
            .map(What::Using),
        "PostToolUse" | "PostToolUseFailure" => payload
            .tool(|tool, input| touched(payload, tool, input))
            .map(What::Used),
        "SubagentStop" => Some(What::Paused),
        "Stop" if waits_for_helpers(payload) => Some(What::Paused),
        "Stop" => Some(What::Ended(Ending::Completed)),
        "StopFailure" => Some(What::Ended(Ending::Failed)),
        "SessionEnd" => Some(What::Closed),
        _ => None,
    }
}

fn is_notification(payload: &Payload<'_>) -> bool {
    let prompt = payload.text("prompt").unwrap_or_default();
    prompt.trim_start().starts_with("<task-notification>")
}

/// Helpers may go on in the background, and it stops again when they have ended. Not so a command there: it may be a
/// server, and run forever.
fn waits_for_helpers(payload: &Payload<'_>) -> bool {
    let tasks = payload.list("background_tasks");
    tasks.iter().any(|task| task["type"] != "shell")
}

fn touched(payload: &Payload<'_>, tool: &str, input: &Payload<'_>) -> Touched {
    match tool {
        // The second is Copilot's word.
        "Write" | "Edit" | "MultiEdit" => payload.file_in(input, &["file_path", "path"]),
        "NotebookEdit" => payload.file_in(input, &["notebook_path", "file_path"]),
        tool if LOOKS.contains(&tool) => Touched::Nothing,
        _ => Touched::Anything,
    }
}

/// A file a conversation, named by its id, in a folder a project.
pub(super) const KEEPING: Keeping = Keeping {
    variable: "CLAUDE_CONFIG_DIR",
    at_home: ".claude",
    folders: &["projects"],
    depth: 1,
    ids: &["sessionId"],
    version: 4,
    end: end_of,
    command: ["claude", "--resume"],
};

/// What is said bears an id, and what the person or a tool says names the prompt, too. Lines without an id are notes, which
/// may be of the next prompt already.
fn end_of(lines: &[u8], prompt: &str) -> Option<usize> {
    let mut last = None;
    for (line, end) in resume::lines(lines) {
        match line["promptId"].as_str() {
            Some(other) if other == prompt => last = Some(end),
            Some(_) if last.is_some() => break,
            _ if line["uuid"].is_string() => last = last.map(|_| end),
            _ => {}
        }
    }
    last
}
