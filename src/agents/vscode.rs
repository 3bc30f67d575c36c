//! VS Code: its configuration, and what its hooks say.

use super::config::{Language, Value};
use super::connection::{File, Purpose, Reach, server};

/// What the person must still do.
pub(super) const APPROVAL: &str = "open the folder in VS Code and trust it; then start the server edio (command MCP: List Servers), and trust it when asked";

/// Where it keeps what is the person's own.
#[cfg(not(target_os = "macos"))]
pub(super) const USER_FOLDER: &str = ".config/Code/User";
#[cfg(target_os = "macos")]
pub(super) const USER_FOLDER: &str = "Library/Application Support/Code/User";

#[cfg(not(target_os = "macos"))]
const USER_FILE: &str = ".config/Code/User/mcp.json";
#[cfg(target_os = "macos")]
const USER_FILE: &str = "Library/Application Support/Code/User/mcp.json";

const INSTRUCTIONS: &str = "\
---
applyTo: \"**\"
---

Snapshots instead of commits: `edio snapshot -m MSG`. Never go back with `git checkout`, `git stash` or `git reset`. To
look: `edio log`, `edio show TURN`, `edio diff A..B`. To go back: `edio restore TURN [-f FILE]`, `edio undo`; then read the
files again. EDIO.md says more.
";

/// The files that connect VS Code. Hooks of its own it has none: its agent also runs those that Claude Code has.
pub(super) fn files(reach: Reach) -> Vec<File> {
    let server = |path| {
        let server = server("servers", vec![("type", Value::Text("stdio"))]);
        File::new(Purpose::Server, path, Language::Jsonc, vec![server])
    };
    match reach {
        Reach::User => vec![server(USER_FILE)],
        Reach::Project => vec![server(".vscode/mcp.json"), instructions()],
    }
}

/// The instructions that VS Code and Copilot CLI read.
pub(super) fn instructions() -> File {
    File::instructions(".github/instructions/edio.instructions.md", INSTRUCTIONS)
}
