//! Codex: its configuration, and what its hooks say.

use super::config::{Entry, Language, Value};
use super::connection::{File, Instead, Purpose, Reach, Read, Trust, block, group, server};
use super::event::{Ending, Payload, Tool, Touched, What};
use super::guard::Tools;
use super::resume::{self, Keeping};

/// What the person must still do.
pub(super) const APPROVAL: &str = "start codex here and trust the folder; then type /hooks, and trust the hooks of edio: until then they are skipped";

const COMMAND: &str = "edio hook codex";

/// The events that edio hears of, and how many seconds it has at most. Codex gives no more than three at the end of a
/// session and at an interruption.
const EVENTS: [(&str, u32); 8] = [
    ("SessionStart", 10),
    ("UserPromptSubmit", 10),
    ("PreToolUse", 10),
    ("PostToolUse", 10),
    ("SubagentStop", 10),
    ("Stop", 10),
    ("Interrupt", 3),
    ("SessionEnd", 3),
];

/// The files that connect Codex.
pub(super) fn files(reach: Reach) -> Vec<File> {
    let server = server("mcp_servers", Vec::new());
    let mut files = vec![
        File::new(
            Purpose::Hooks,
            ".codex/hooks.json",
            Language::StrictJson,
            hooks(),
        ),
        File::new(
            Purpose::Server,
            ".codex/config.toml",
            Language::Toml,
            vec![server],
        ),
    ];
    if reach == Reach::Project {
        files.push(block("AGENTS.md").or(Instead::WhereThere("AGENTS.override.md")));
    }
    files
}

/// What the guard needs beside that: to hear when the model loses sight of what it has read.
pub(super) fn guard(_: Reach) -> Vec<File> {
    let handler = vec![
        ("type", Value::Text("command")),
        ("command", Value::Text(COMMAND)),
        ("timeout", Value::Number(10)),
    ];
    let hooks = vec![group("PreCompact", None, handler)];
    vec![File::new(
        Purpose::Guard,
        ".codex/hooks.json",
        Language::StrictJson,
        hooks,
    )]
}

/// Codex trusts a hook by the hash of its definition: a byte that differs would have the person asked again.
fn hooks() -> Vec<Entry> {
    let handler = |timeout| {
        vec![
            ("type", Value::Text("command")),
            ("command", Value::Text(COMMAND)),
            ("timeout", Value::Number(timeout)),
        ]
    };
    let events = EVENTS.into_iter();
    events
        .map(|(event, timeout)| group(event, None, handler(timeout)))
        .collect()
}

/// Is the folder trusted, and is each hook?
pub(super) fn trust(project: &str, read: Read<'_>) -> Vec<Trust> {
    let own = read(Reach::User, ".codex/config.toml");
    let own = own.and_then(|bytes| String::from_utf8(bytes).ok());
    let own = own.and_then(|text| toml_edit::Document::parse(text).ok());
    let Some(own) = own else {
        return vec![Trust::Unknown("codex was not set up by you yet")];
    };
    let own = own.as_item();
    let at = |path: &[&str]| path.iter().try_fold(own, |item, name| item.get(*name));
    let level = at(&["projects", project, "trust_level"]).and_then(|level| level.as_str());
    let folder = match level {
        Some("trusted") => Trust::Given("the folder is trusted"),
        _ => Trust::Missing("the folder is not trusted: hooks and server are left out"),
    };
    let hooks = read(Reach::Project, ".codex/hooks.json");
    let hooks = hooks.and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
    let Some(hooks) = hooks else {
        return vec![folder];
    };
    let keys = EVENTS
        .iter()
        .filter_map(|(event, ..)| key_of(event, &hooks["hooks"][event]));
    let keys: Vec<String> = keys
        .map(|key| format!("{project}/.codex/hooks.json:{key}"))
        .collect();
    let is_trusted = |key: &&String| at(&["hooks", "state", key, "trusted_hash"]).is_some();
    let hooks = match keys.iter().filter(is_trusted).count() {
        trusted if trusted == keys.len() => Trust::Given("the hooks are trusted"),
        0 => Trust::Missing("the hooks are not trusted: they are skipped"),
        _ => Trust::Missing("some hooks are not trusted: they are skipped"),
    };
    vec![folder, hooks]
}

/// What Codex calls edio's handler among those of an event: `post_tool_use:1:0`, by its group, and its place in that.
fn key_of(event: &str, groups: &serde_json::Value) -> Option<String> {
    let is_ours = |handler: &serde_json::Value| handler["command"] == COMMAND;
    let mut places = groups.as_array()?.iter().enumerate();
    let (group, handler) = places.find_map(|(at, group)| {
        let handlers = group["hooks"].as_array()?;
        Some((at, handlers.iter().position(is_ours)?))
    })?;
    let mut name = String::new();
    for c in event.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    Some(format!("{name}:{group}:{handler}"))
}

/// What the guard knows of its tools.
pub(super) const TOOLS: Tools = Tools {
    read: &["read_file"],
    replace: &[],
    look: &["list_dir"],
};

/// What a hook of Codex tells (<https://developers.openai.com/codex/hooks>).
pub(super) fn what(payload: &Payload<'_>) -> Option<What> {
    match payload.text("hook_event_name")? {
        "SessionStart" if payload.text("source") == Some("compact") => Some(What::LostSight),
        "SessionStart" => Some(What::Opened),
        "PreCompact" | "PostCompact" => Some(What::LostSight),
        "UserPromptSubmit" => Some(payload.told("prompt")),
        "PreToolUse" => tool(payload).map(What::Using),
        "PostToolUse" => tool(payload).map(What::Used),
        "SubagentStop" => Some(What::Paused),
        "Stop" => Some(What::Ended(Ending::Completed)),
        "Interrupt" => Some(What::Ended(Ending::Interrupted)),
        "SessionEnd" => Some(What::Closed),
        _ => None,
    }
}

fn tool(payload: &Payload<'_>) -> Option<Tool> {
    payload.tool(|tool, input| match tool {
        "apply_patch" => files_of_patch(payload, input),
        "update_plan" | "view_image" | "web_search" | "read_file" | "list_dir" => Touched::Nothing,
        _ => Touched::Anything,
    })
}

/// The files that a patch names: `*** Add File: p`, `*** Update File: p`, `*** Delete File: p`, `*** Move to: p`.
pub(super) fn files_of_patch(payload: &Payload<'_>, input: &Payload<'_>) -> Touched {
    const HEADS: [&str; 4] = [
        "*** Add File: ",
        "*** Update File: ",
        "*** Delete File: ",
        "*** Move to: ",
    ];
    let patch = ["command", "input", "patch", "patchText"]
        .iter()
        .find_map(|key| input.text(key));
    let lines = patch.unwrap_or_default().lines();
    let named = lines.filter_map(|line| HEADS.iter().find_map(|head| line.strip_prefix(head)));
    let files: Vec<_> = named.map(|path| payload.place(path.trim())).collect();
    match files.is_empty() {
        true => Touched::Anything,
        false => Touched::Files(files),
    }
}

/// A file a conversation, with its id at the end of its name, in a folder a day.
pub(super) const KEEPING: Keeping = Keeping {
    variable: "CODEX_HOME",
    at_home: ".codex",
    folders: &["sessions", "archived_sessions"],
    depth: 3,
    ids: &["id", "session_id", "thread_id"],
    version: 7,
    end: end_of,
    command: ["codex", "resume"],
};

/// A prompt is a task here, with a beginning and an end. One that was killed ends where the next begins.
fn end_of(lines: &[u8], prompt: &str) -> Option<usize> {
    let mut last = None;
    for (line, end) in resume::lines(lines) {
        let event = &line["payload"];
        let is_own = event["turn_id"] == prompt || event["turn_attribution"]["turn_id"] == prompt;
        match event["type"].as_str() {
            Some("task_started") if is_own => last = Some(end),
            Some("task_started") if last.is_some() => break,
            Some("task_complete" | "turn_aborted") if is_own => return Some(end),
            _ => last = last.map(|_| end),
        }
    }
    last
}
