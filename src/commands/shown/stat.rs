//! How much has changed.

use crate::history::git::Stat;
use crate::term::style;
use crate::term::text::plural;

/// `3 files, +12 -4`.
pub fn stat(stat: &Stat) -> String {
    let files = plural(stat.files as usize, "file");
    let (added, removed) = (stat.added, stat.removed);
    match (added, removed) {
        (0, 0) => files,
        _ => format!(
            "{files} {} {}",
            style::added(format!("+{added}")),
            style::removed(format!("-{removed}"))
        ),
    }
}
