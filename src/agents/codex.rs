//! Codex: its configuration, and what its hooks say.

use super::event::{Ending, Payload, Touched, What};

/// What a hook of Codex tells (<https://developers.openai.com/codex/hooks>).
pub(super) fn what(payload: &Payload<'_>) -> Option<What> {
    match payload.text("hook_event_name")? {
        "SessionStart" => Some(What::Opened),
        "UserPromptSubmit" => Some(payload.told("prompt")),
        "PostToolUse" => payload.used(|tool, input| match tool {
            "apply_patch" => files_of_patch(payload, input),
            "update_plan" | "view_image" | "web_search" | "read_file" | "list_dir" => {
                Touched::Nothing
            }
            _ => Touched::Anything,
        }),
        "SubagentStop" => Some(What::Paused),
        "Stop" => Some(What::Ended(Ending::Completed)),
        "Interrupt" => Some(What::Ended(Ending::Interrupted)),
        "SessionEnd" => Some(What::Closed),
        _ => None,
    }
}

/// The files that a patch names: `*** Add File: p`, `*** Update File: p`, `*** Delete File: p`, `*** Move to: p`.
fn files_of_patch(payload: &Payload<'_>, input: &Payload<'_>) -> Touched {
    const HEADS: [&str; 4] = [
        "*** Add File: ",
        "*** Update File: ",
        "*** Delete File: ",
        "*** Move to: ",
    ];
    let patch = ["command", "input", "patch"]
        .iter()
        .find_map(|key| input.text(key));
    let lines = patch.unwrap_or_default().lines();
    let named = lines.filter_map(|line| HEADS.iter().find_map(|head| line.strip_prefix(head)));
    let files: Vec<_> = named.map(|path| payload.place(path.trim())).collect();
    match files.is_empty() {
        true => Touched::Anything,
        false => Touched::Files(files),
    }
}
