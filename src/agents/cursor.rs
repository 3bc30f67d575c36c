//! Cursor: its configuration, and what its hooks say.

use super::event::{Ending, Payload, Tool, Touched, What};

/// What a hook of Cursor tells (<https://cursor.com/docs/agent/hooks>).
///
/// It also runs the hooks of Claude Code's configuration, with the names of Claude Code's events.
pub(super) fn what(payload: &Payload<'_>) -> Option<What> {
    match payload.text("hook_event_name")? {
        "beforeSubmitPrompt" => Some(payload.told("prompt")),
        "afterFileEdit" => Some(used(
            payload,
            "Edit",
            payload.file_in(payload, &["file_path"]),
        )),
        "afterShellExecution" => Some(used(payload, "Shell", Touched::Anything)),
        "afterMCPExecution" => payload.used(|_, _| Touched::Anything),
        "postToolUse" | "postToolUseFailure" => payload.used(|tool, input| match tool {
            "Write" | "Edit" | "StrReplace" | "Delete" => {
                payload.file_in(input, &["file_path", "path", "target_file"])
            }
            "Read" | "Grep" | "Glob" | "List" | "LS" | "Search" | "WebSearch" | "WebFetch" => {
                Touched::Nothing
            }
            _ => Touched::Anything,
        }),
        "subagentStop" => Some(What::Paused),
        "stop" => Some(What::Ended(match payload.text("status") {
            Some("aborted") => Ending::Interrupted,
            Some("error") => Ending::Failed,
            _ => Ending::Completed,
        })),
        "sessionStart" => Some(What::Opened),
        "sessionEnd" => Some(What::Closed),
        _ => super::claude::what(payload),
    }
}

fn used(payload: &Payload<'_>, name: &str, touched: Touched) -> What {
    What::Used(Tool {
        name: name.to_owned(),
        call: payload.word(&["tool_use_id"]),
        touched,
    })
}
