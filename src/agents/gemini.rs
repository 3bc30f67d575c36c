//! Gemini CLI: its configuration, and what its hooks say.

use super::config::{Entry, Language, Value};
use super::connection::{File, Purpose, Reach, Read, Trust, group, server};
use super::event::{Ending, Payload, Touched, What};

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

/// Is the folder trusted, or one above it?
pub(super) fn trust(project: &str, read: Read<'_>) -> Vec<Trust> {
    let own = read(Reach::User, ".gemini/trustedFolders.json");
    let own = own.and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
    let Some(own) = own else {
        return vec![Trust::Unknown("no folder was trusted by you yet")];
    };
    let folders = std::path::Path::new(project).ancestors();
    let told = folders.filter_map(|folder| own[folder.to_str()?].as_str());
    let mut told = told.skip_while(|told| !told.starts_with("TRUST_") && *told != "DO_NOT_TRUST");
    vec![match told.next() {
        Some("DO_NOT_TRUST") => {
            Trust::Missing("the folder is not trusted: its settings are left out")
        }
        Some(_) => Trust::Given("the folder is trusted"),
        None => Trust::Missing("the folder is not trusted yet: its settings are left out"),
    }]
}

/// Tools that change nothing on disk.
const LOOKS: [&str; 10] = [
    "ask_user",
    "glob",
    "google_web_search",
    "grep_search",
    "list_directory",
    "read_file",
    "read_many_files",
    "search_file_content",
    "web_fetch",
    "write_todos",
];

/// What a hook of Gemini CLI tells (<https://geminicli.com/docs/hooks/reference>).
pub(super) fn what(payload: &Payload<'_>) -> Option<What> {
    match payload.text("hook_event_name")? {
        "SessionStart" => Some(What::Opened),
        "BeforeAgent" => Some(payload.told("prompt")),
        "AfterTool" => payload.used(|tool, input| match tool {
            "write_file" | "replace" => payload.file_in(input, &["file_path"]),
            tool if LOOKS.contains(&tool) => Touched::Nothing,
            _ => Touched::Anything,
        }),
        "AfterAgent" => Some(What::Ended(Ending::Completed)),
        "SessionEnd" => Some(What::Closed),
        _ => None,
    }
}
