//! Cline: its configuration, and what its hooks say.

use super::config::{Entry, Language, Value};
use super::connection::{EDIO_MD, File, Purpose, Reach};
use super::event::{Ending, Payload, Tool, Touched, What};
use super::guard::Tools;

/// What the person must still do.
pub(super) const APPROVAL: &str = "in VS Code, switch hooks on in the settings of Cline; its CLI takes them as they are. The server comes with edio init --user --agents cline";

/// A hook is a program here, named for its event. Cline waits for an answer on its standard output, and for its input to
/// be read, also where there is no edio.
const HOOK: &str = "\
#!/bin/sh
# Tells edio, the undo of this project, what Cline does. Without edio it does nothing.
answer=
if command -v edio >/dev/null 2>&1; then
  answer=$(edio hook cline 2>/dev/null)
else
  cat >/dev/null
fi
[ -n \"$answer\" ] || answer='{\"cancel\":false}'
printf '%s\\n' \"$answer\"
";

/// The events that edio hears of.
const HOOKS: [&str; 6] = [
    ".clinerules/hooks/TaskStart",
    ".clinerules/hooks/TaskResume",
    ".clinerules/hooks/UserPromptSubmit",
    ".clinerules/hooks/PostToolUse",
    ".clinerules/hooks/TaskComplete",
    ".clinerules/hooks/TaskCancel",
];

/// The files that connect Cline. The server of a project it knows nothing of.
pub(super) fn files(reach: Reach) -> Vec<File> {
    match reach {
        Reach::User => vec![File::new(
            Purpose::Server,
            ".cline/data/settings/cline_mcp_settings.json",
            Language::StrictJson,
            vec![server()],
        )],
        Reach::Project => {
            let hooks = HOOKS.into_iter().map(|path| {
                let program = vec![Entry::Program(HOOK)];
                File::new(Purpose::Hooks, path, Language::Text, program)
            });
            hooks
                .chain([File::instructions(".clinerules/edio.md", EDIO_MD)])
                .collect()
        }
    }
}

/// What the guard needs beside that.
pub(super) fn guard(reach: Reach) -> Vec<File> {
    const HOOKS: [&str; 2] = [
        ".clinerules/hooks/PreToolUse",
        ".clinerules/hooks/PreCompact",
    ];
    let hook = |path| {
        let program = vec![Entry::Program(HOOK)];
        File::new(Purpose::Guard, path, Language::Text, program)
    };
    match reach {
        Reach::User => Vec::new(),
        Reach::Project => HOOKS.into_iter().map(hook).collect(),
    }
}

fn server() -> Entry {
    let run = vec![
        ("type", Value::Text("stdio")),
        ("command", Value::Text("edio")),
        ("args", Value::List(vec![Value::Text("mcp")])),
    ];
    Entry::Named(vec!["mcpServers", "edio", "transport"], Value::Object(run))
}

/// Tools that change nothing on disk.
const LOOKS: [&str; 14] = [
    "ask_followup_question",
    "ask_question",
    "attempt_completion",
    "fetch_web_content",
    "list_code_definition_names",
    "list_files",
    "plan_mode_respond",
    "read_file",
    "read_files",
    "search_codebase",
    "search_files",
    "skills",
    "web_fetch",
    "web_search",
];

/// What the guard knows of its tools.
pub(super) const TOOLS: Tools = Tools {
    read: &["read_file", "read_files"],
    replace: &["write_to_file"],
    look: &[
        "list_code_definition_names",
        "list_files",
        "search_codebase",
        "search_files",
    ],
};

/// What a hook of Cline tells (<https://docs.cline.bot/features/hooks/hook-reference>).
///
/// Its extension and its CLI have other names and fields for the same. A prompt may come with the start of a task, or by
/// itself, or both ways, or not at all. A helper has hooks of its own.
pub(super) fn what(payload: &Payload<'_>) -> Option<What> {
    let is_helper = payload.text("parent_agent_id").is_some();
    match payload.text("hookName")? {
        "TaskStart" | "agent_start" | "UserPromptSubmit" | "prompt_submit" if is_helper => None,
        "TaskStart" | "agent_start" => {
            let start = payload.object("taskStart").object("taskMetadata");
            Some(told(payload, start.text("initialTask")))
        }
        "UserPromptSubmit" | "prompt_submit" => {
            let submit = payload.object("userPromptSubmit");
            Some(told(payload, submit.text("prompt")))
        }
        "TaskResume" | "agent_resume" => Some(What::Opened),
        "PreToolUse" | "tool_call" => tool(payload).map(What::Using),
        "PreCompact" => Some(What::LostSight),
        "PostToolUse" | "tool_result" => tool(payload).map(What::Used),
        "TaskComplete" | "agent_end" if is_helper => Some(What::Paused),
        "TaskComplete" | "agent_end" => Some(What::Ended(Ending::Completed)),
        "TaskCancel" | "agent_abort" => Some(What::Ended(Ending::Interrupted)),
        _ => None,
    }
}

fn told(payload: &Payload<'_>, text: Option<&str>) -> What {
    let keys = ["prompt", "task", "initialTask"];
    let text = text.or_else(|| keys.iter().find_map(|key| payload.text(key)));
    What::told(text.unwrap_or_default())
}

fn tool(payload: &Payload<'_>) -> Option<Tool> {
    let extensions = ["postToolUse", "preToolUse"];
    let (use_, input) = match extensions.into_iter().find(|key| payload.has(key)) {
        Some(key) => (payload.object(key), "parameters"),
        None if payload.has("tool_result") => (payload.object("tool_result"), "input"),
        None => (payload.object("tool_call"), "input"),
    };
    let name = ["toolName", "name"].iter().find_map(|key| use_.text(key))?;
    let input = use_.object(input);
    let touched = match name {
        "editor" | "write_to_file" | "replace_in_file" | "new_rule" => {
            payload.file_in(&input, &["path"])
        }
        "use_mcp_tool" if input.text("server_name") == Some("edio") => Touched::Nothing,
        name if LOOKS.contains(&name) => Touched::Nothing,
        _ => Touched::Anything,
    };
    Some(use_.tool_as(name, touched))
}
