//! Claude Code: its configuration, and what its hooks say.

use super::event::{Ending, Payload, Touched, What};

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

/// What a hook of Claude Code tells (<https://code.claude.com/docs/en/hooks>).
pub(super) fn what(payload: &Payload<'_>) -> Option<What> {
    match payload.text("hook_event_name")? {
        "SessionStart" => Some(What::Opened),
        "UserPromptSubmit" => Some(payload.told("prompt")),
        "PostToolUse" | "PostToolUseFailure" => {
            payload.used(|tool, input| touched(payload, tool, input))
        }
        "SubagentStop" => Some(What::Paused),
        // Helpers may go on in the background, and it stops again when they have ended.
        "Stop" if !payload.list("background_tasks").is_empty() => Some(What::Paused),
        "Stop" => Some(What::Ended(Ending::Completed)),
        "StopFailure" => Some(What::Ended(Ending::Failed)),
        "SessionEnd" => Some(What::Closed),
        _ => None,
    }
}

fn touched(payload: &Payload<'_>, tool: &str, input: &Payload<'_>) -> Touched {
    match tool {
        "Write" | "Edit" | "MultiEdit" => payload.file_in(input, &["file_path"]),
        "NotebookEdit" => payload.file_in(input, &["notebook_path", "file_path"]),
        tool if LOOKS.contains(&tool) => Touched::Nothing,
        _ => Touched::Anything,
    }
}
