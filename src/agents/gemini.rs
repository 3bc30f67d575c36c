//! Gemini CLI: its configuration, and what its hooks say.

use super::event::{Ending, Payload, Touched, What};

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
