//! What a turn does not hold, or had better not, and what of a session can't be read.

use super::first::{NAMED, tell_first};
use crate::error::first_of;
use crate::history::git::RepoPath;
use crate::history::session::Session;
use crate::history::skipped::{Skipped, Why};
use crate::term::{Term, text};

/// Names what a turn could not hold.
pub fn name_skipped(term: &mut Term, skipped: &[Skipped]) {
    let line = |skipped: &Skipped| {
        let path = text::path(skipped.path.as_bytes());
        let what = match skipped.why {
            Why::Unfiltered => "as it is",
            _ => "not in it",
        };
        format!("  {what}: {path} ({})", skipped.why)
    };
    tell_first(term, skipped, line, "  and ");
}

/// Names files that a turn is the first to hold, and that had better be in none.
pub fn name_secrets(term: &mut Term, secrets: &[RepoPath]) {
    if secrets.is_empty() {
        return;
    }
    let named = secrets.iter().map(|path| text::path(path.as_bytes()));
    let named = first_of(NAMED, named);
    term.warn(format!(
        "turns hold now what by its name is for secrets: {named}"
    ));
    term.hint("to take a file out of all turns, and keep it out: edio forget -f FILE");
}

/// Names what of a session can't be read.
pub fn name_damaged(term: &mut Term, session: &Session) {
    for damaged in &session.damaged {
        term.warn(text::plain(damaged.what().as_bytes()));
    }
    if !session.damaged.is_empty() {
        term.hint("how to go on: edio doctor");
    }
}

/// Names what stands among the turns of a session, and is none.
pub fn name_foreign(term: &mut Term, session: &Session) {
    for foreign in &session.foreign {
        term.warn(format!("{}: {}", session.id, foreign.what()));
        term.hint(foreign.look());
    }
}
