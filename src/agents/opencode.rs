//! OpenCode: its configuration, and what the plugin that calls edio says.

use super::codex::files_of_patch;
use super::config::{Entry, Language, Value};
use super::connection::{File, Instead, Purpose, Reach};
use super::event::{Ending, Payload, Tool, Touched, What};
use super::guard::Tools;

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
const GUARD: &str = include_str!("opencode-guard.js");

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

/// What the guard needs beside that: a plugin that asks before each use of a tool.
pub(super) fn guard(reach: Reach) -> Vec<File> {
    let path = match reach {
        Reach::User => ".config/opencode/plugin/edio-guard.js",
        Reach::Project => ".opencode/plugin/edio-guard.js",
    };
    let entries = vec![Entry::Whole(GUARD)];
    vec![File::new(Purpose::Guard, path, Language::Text, entries)]
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

/// What the guard knows of its tools.
pub(super) const TOOLS: Tools = Tools {
    read: &["read"],
    replace: &["write"],
    look: &["glob", "grep", "list"],
};

/// What the plugin tells: the names of the events are those of OpenCode (<https://opencode.ai/docs/plugins>).
pub(super) fn what(payload: &Payload<'_>) -> Option<What> {
    match payload.text("hook_event_name")? {
        "chat.message" => Some(payload.told("prompt")),
        "tool.execute.before" => tool(payload).map(What::Using),
        "tool.execute.after" => tool(payload).map(What::Used),
        "session.compacted" => Some(What::LostSight),
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
