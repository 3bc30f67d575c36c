//! Zed: its configuration. It has no hooks.

use super::config::{Language, Value};
use super::connection::{File, Instead, Purpose, Reach, block, server};

/// What the person must still do.
pub(super) const APPROVAL: &str = "open the folder in Zed and trust it; the settings of its agent panel show the server edio. It has no hooks: take turns with edio snapshot, or have its agent do so";

/// The files that connect Zed. Where there is a `.rules`, it reads no other instructions.
pub(super) fn files(reach: Reach) -> Vec<File> {
    let server = |path| {
        let server = server("context_servers", vec![("source", Value::Text("custom"))]);
        File::new(Purpose::Server, path, Language::Jsonc, vec![server])
    };
    match reach {
        Reach::User => vec![server(".config/zed/settings.json")],
        Reach::Project => vec![
            server(".zed/settings.json"),
            block("AGENTS.md").or(Instead::WhereThere(".rules")),
        ],
    }
}
