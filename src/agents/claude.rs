//! Claude Code: its configuration, and what its hooks say.

use super::config::{Entry, Language, Value};
use super::connection::{EDIO_MD, File, Instead, Purpose, Reach, group, server};

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
