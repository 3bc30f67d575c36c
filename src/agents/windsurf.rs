//! Windsurf, which is also called Devin Desktop: its configuration, and what its hooks say.

use super::config::{Entry, Language, Value};
use super::connection::{File, Instead, Purpose, Reach, server};
use super::event::{Ending, Payload, Touched, What};

/// What the person must still do.
pub(super) const APPROVAL: &str = "open the folder in Windsurf and trust it; Settings, Cascade shows the hooks. The server comes with edio init --user --agents windsurf";

/// The events that edio hears of.
const EVENTS: [&str; 5] = [
    "pre_user_prompt",
    "post_write_code",
    "post_run_command",
    "post_mcp_tool_use",
    "post_cascade_response",
];

const RULE: &str = "\
---
trigger: always_on
---

Snapshots instead of commits: `edio snapshot -m MSG`, where hooks don't take them. Never go back with `git checkout`,
`git stash` or `git reset`. To look: `edio log`, `edio show TURN`, `edio diff A..B`. To go back:
`edio restore TURN [-f FILE]`, `edio undo`; then read the files again. EDIO.md says more.
";

/// The files that connect Windsurf.
pub(super) fn files(reach: Reach) -> Vec<File> {
    let hooks = |path| File::new(Purpose::Hooks, path, Language::StrictJson, hooks());
    match reach {
        Reach::User => {
            let server = vec![server("mcpServers", Vec::new())];
            let path = ".codeium/windsurf/mcp_config.json";
            vec![
                hooks(".codeium/windsurf/hooks.json"),
                File::new(Purpose::Server, path, Language::StrictJson, server),
            ]
        }
        Reach::Project => vec![
            hooks(".windsurf/hooks.json").or(Instead::WhereThere(".devin/hooks.json")),
            File::instructions(".windsurf/rules/edio.md", RULE),
        ],
    }
}

fn hooks() -> Vec<Entry> {
    let handler = || {
        vec![
            ("command", Value::Text("edio hook windsurf")),
            ("show_output", Value::Bool(false)),
        ]
    };
    let hook = |event| Entry::Listed(vec!["hooks", event], Value::Object(handler()));
    EVENTS.into_iter().map(hook).collect()
}

/// What a hook of Windsurf tells (<https://docs.windsurf.com/windsurf/cascade/hooks>).
pub(super) fn what(payload: &Payload<'_>) -> Option<What> {
    let info = payload.object("tool_info");
    match payload.text("agent_action_name")? {
        "pre_user_prompt" => Some(info.told("user_prompt")),
        "post_write_code" => {
            let touched = payload.file_in(&info, &["file_path"]);
            Some(payload.used_as("write_code", touched))
        }
        "post_run_command" => Some(payload.used_as("run_command", Touched::Anything)),
        "post_mcp_tool_use" => {
            let touched = match info.text("mcp_server_name") {
                Some("edio") => Touched::Nothing,
                _ => Touched::Anything,
            };
            Some(payload.used_as(info.text("mcp_tool_name").unwrap_or("mcp"), touched))
        }
        "post_cascade_response" => Some(What::Ended(Ending::Completed)),
        _ => None,
    }
}
