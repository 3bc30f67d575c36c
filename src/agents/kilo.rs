//! Kilo: its configuration. It has no hooks.

use super::connection::{EDIO_MD, File, Instead, Reach};
use super::opencode;

/// What the person must still do.
pub(super) const APPROVAL: &str = "start it with edio run kilo: it has no hooks, and run takes the turns; kilo mcp list shows the server";

/// The files that connect Kilo. Its configuration has the form of OpenCode's.
pub(super) fn files(reach: Reach) -> Vec<File> {
    match reach {
        Reach::User => vec![opencode::server_in(".config/kilo/kilo.jsonc")],
        Reach::Project => vec![
            opencode::server_in("kilo.jsonc").or(Instead::WhereThere(".kilo/kilo.jsonc")),
            File::instructions(".kilocode/rules/edio.md", EDIO_MD),
        ],
    }
}
