//! Claude Code: its configuration, and what its hooks say.

use super::config::{Entry, Language, Value};
use super::connection::{EDIO_MD, File, Instead, Purpose, Reach, Read, Trust, group, server};

/// What the person must still do.
pub(super) const APPROVAL: &str =
    "start claude here, trust the folder, and approve the server edio when asked (or later: /mcp)";

/// The tools after which files may have changed.
const TOOLS: &str = "Write|Edit|MultiEdit|NotebookEdit|Bash|PowerShell|Task|Agent|mcp__.*";

/// The events that edio hears of, and of which tools.
const EVENTS: [(&str, Option<&str>); 8] = [
    ("SessionStart", None),
    ("UserPromptSubmit", None),
    ("PostToolUse", Some(TOOLS)),
    ("PostToolUseFailure", Some(TOOLS)),
    ("SubagentStop", None),
    ("Stop", None),
    ("StopFailure", None),
    ("SessionEnd", None),
];

/// The files that connect Claude Code.
pub(super) fn files(reach: Reach) -> Vec<File> {
    let hooks = |path| File::new(Purpose::Hooks, path, Language::StrictJson, hooks());
    let server = |path| {
        let server = server("mcpServers", vec![("type", Value::Text("stdio"))]);
        File::new(Purpose::Server, path, Language::StrictJson, vec![server])
    };
    match reach {
        Reach::Project => vec![
            hooks(".claude/settings.json").or(Instead::OfTracked(".claude/settings.local.json")),
            server(".mcp.json"),
            File::instructions(".claude/rules/edio.md", EDIO_MD),
        ],
        Reach::User => vec![hooks(".claude/settings.json"), server(".claude.json")],
    }
}

fn hooks() -> Vec<Entry> {
    // With arguments of its own the command is run without a shell.
    let handler = || {
        let args = vec![Value::Text("hook"), Value::Text("claude")];
        vec![
            ("type", Value::Text("command")),
            ("command", Value::Text("edio")),
            ("args", Value::List(args)),
            ("timeout", Value::Number(10)),
        ]
    };
    let events = EVENTS.into_iter();
    events
        .map(|(event, tools)| group(event, tools, handler()))
        .collect()
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
