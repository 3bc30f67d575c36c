//! Gemini CLI: its configuration, and what its hooks say.

use super::config::{Entry, Language, Value};
use super::connection::{File, Purpose, Reach, Read, Trust, group, server};
use super::event::{Ending, Payload, Tool, Touched, What};
use super::guard::Tools;

/// What the person must still do.
pub(super) const APPROVAL: &str = "start gemini here and trust the folder (or: /permissions); it warns of the new hooks once, and /mcp shows the server";

/// The events that edio hears of.
const EVENTS: [&str; 6] = [
    "SessionStart",
    "BeforeAgent",
    "BeforeTool",
    "AfterTool",
    "AfterAgent",
    "SessionEnd",
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
    events.map(|event| group(event, None, handler())).collect()
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

/// What the guard knows of its tools.
pub(super) const TOOLS: Tools = Tools {
    read: &["read_file", "read_many_files"],
    replace: &["write_file"],
    look: &[
        "glob",
        "grep_search",
        "list_directory",
        "search_file_content",
    ],
};

/// What a hook of Gemini CLI tells (<https://geminicli.com/docs/hooks/reference>).
pub(super) fn what(payload: &Payload<'_>) -> Option<What> {
    match payload.text("hook_event_name")? {
        "SessionStart" => Some(What::Opened),
        "BeforeAgent" => Some(payload.told("prompt")),
        "BeforeTool" => tool(payload).map(What::Using),
        "AfterTool" => tool(payload).map(What::Used),
        "AfterAgent" => Some(What::Ended(Ending::Completed)),
        "SessionEnd" => Some(What::Closed),
        _ => None,
    }
}

fn tool(payload: &Payload<'_>) -> Option<Tool> {
    payload.tool(|tool, input| match tool {
        "write_file" | "replace" => payload.file_in(input, &["file_path"]),
        tool if LOOKS.contains(&tool) => Touched::Nothing,
        _ => Touched::Anything,
    })
}
