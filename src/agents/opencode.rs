//! OpenCode: its configuration, and what the plugin that calls edio says.

use super::codex::files_of_patch;
use super::config::{Entry, Language, Value};
use super::connection::{File, Instead, Purpose, Reach};
use super::event::{Ending, Payload, Tool, Touched, What};

/// Tools that change nothing on disk.
const LOOKS: [&str; 12] = [
    "codesearch",
    "glob",
    "grep",
    "list",
    "lsp",
    "question",
    "read",
    "skill",
    "todoread",
    "todowrite",
    "webfetch",
    "websearch",
];

/// What the person must still do.
pub(super) const APPROVAL: &str = "start opencode here anew; opencode mcp list shows the server. Offline, any plugin makes its start slow";

const PLUGIN: &str = include_str!("opencode.js");

/// The files that connect OpenCode.
pub(super) fn files(reach: Reach) -> Vec<File> {
    let plugin = |path| {
        let entries = vec![Entry::Whole(PLUGIN)];
        File::new(Purpose::Hooks, path, Language::Text, entries)
    };
    match reach {
        Reach::User => {
            let other = Instead::WhereThere(".config/opencode/opencode.jsonc");
            vec![
                plugin(".config/opencode/plugin/edio.js"),
                server_in(".config/opencode/opencode.json").or(other),
            ]
        }
        Reach::Project => {
            let (path, other) = ("opencode.json", Instead::WhereThere("opencode.jsonc"));
            let named = vec![Entry::Listed(vec!["instructions"], Value::Text("EDIO.md"))];
            let named = File::new(Purpose::Instructions, path, Language::Jsonc, named);
            vec![
                plugin(".opencode/plugin/edio.js"),
                server_in(path).or(other),
                named.or(other),
            ]
        }
    }
}

/// A file with the server, as OpenCode and Kilo write it.
pub(super) fn server_in(path: &'static str) -> File {
    let command = vec![Value::Text("edio"), Value::Text("mcp")];
    let run = vec![
        ("type", Value::Text("local")),
        ("command", Value::List(command)),
        ("enabled", Value::Bool(true)),
    ];
    let server = Entry::Named(vec!["mcp", "edio"], Value::Object(run));
    File::new(Purpose::Server, path, Language::Jsonc, vec![server])
}

/// What the plugin tells: the names of the events are those of OpenCode (<https://opencode.ai/docs/plugins>).
pub(super) fn what(payload: &Payload<'_>) -> Option<What> {
    match payload.text("hook_event_name")? {
        "chat.message" => Some(payload.told("prompt")),
        "tool.execute.after" => tool(payload).map(What::Used),
        "session.idle" if payload.is_true("is_helper") => Some(What::Paused),
        "session.idle" => Some(What::Ended(Ending::Completed)),
        "session.error" => Some(What::Ended(match payload.text("error") {
            Some("MessageAbortedError") => Ending::Interrupted,
            _ => Ending::Failed,
        })),
        _ => None,
    }
}

fn tool(payload: &Payload<'_>) -> Option<Tool> {
    payload.tool(|tool, input| match tool {
        "write" | "edit" | "multiedit" => payload.file_in(input, &["filePath"]),
        "patch" | "apply_patch" => files_of_patch(payload, input),
        tool if LOOKS.contains(&tool) => Touched::Nothing,
        _ => Touched::Anything,
    })
}
