//! What was staged, and is not any more.

use serde_json::Value;

use super::first::tell_first;
use crate::history::accept::{Unstaged, UnstagedPath};
use crate::shell;
use crate::term::{Term, json, text};

/// The paths, for a record.
pub fn unstaged(unstaged: &Unstaged) -> Vec<Value> {
    let paths = unstaged.paths.iter();
    paths.map(|it| json::path(it.path.as_bytes())).collect()
}

/// Names the paths, and says where what was staged of them is.
pub fn name_unstaged(term: &mut Term, unstaged: &Unstaged) {
    const WHAT: &str = "  no longer staged: ";
    let line = |it: &UnstagedPath| {
        let shown = text::path(it.path.as_bytes());
        match (it.part, &unstaged.saved) {
            (Some(part), Some(side)) => format!(
                "{WHAT}{shown} (what was staged: git show {})",
                shell::word(&part.object_name(side, &it.path))
            ),
            (Some(_), None) => format!("{WHAT}{shown} (an undo would stage it again)"),
            (None, _) => format!("{WHAT}{shown} (it was taken off, or flagged)"),
        }
    };
    tell_first(term, &unstaged.paths, line, WHAT);
}
