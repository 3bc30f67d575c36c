//! Gemini CLI: its configuration, and what its hooks say.

use super::config::{Entry, Language, Value};
use super::connection::{File, Purpose, Reach, group, server};

/// What the person must still do.
pub(super) const APPROVAL: &str = "start gemini here and trust the folder (or: /permissions); it warns of the new hooks once, and /mcp shows the server";

/// The tools after which files may have changed.
const TOOLS: &str = "write_file|replace|run_shell_command|mcp_.*";

/// The events that edio hears of, and of which tools.
const EVENTS: [(&str, Option<&str>); 4] = [
    ("BeforeAgent", None),
    ("AfterTool", Some(TOOLS)),
    ("AfterAgent", None),
    ("SessionEnd", None),
];

/// The files that connect Gemini CLI.
pub(super) fn files(reach: Reach) -> Vec<File> {
    const SETTINGS: &str = ".gemini/settings.json";
    let server = server("mcpServers", Vec::new());
    let mut files = vec![
        File::new(Purpose::Hooks, SETTINGS, Language::CommentedJson, hooks()),
        File::new(
            Purpose::Server,
            SETTINGS,
            Language::CommentedJson,
            vec![server],
        ),
    ];
    if reach == Reach::Project {
        files.push(File::lines("GEMINI.md", "@EDIO.md\n"));
    }
    files
}

fn hooks() -> Vec<Entry> {
    // This timeout is in milliseconds.
    let handler = || {
        vec![
            ("name", Value::Text("edio")),
            ("type", Value::Text("command")),
            ("command", Value::Text("edio hook gemini")),
            ("timeout", Value::Number(10_000)),
        ]
    };
    let events = EVENTS.into_iter();
    events
        .map(|(event, tools)| group(event, tools, handler()))
        .collect()
}
