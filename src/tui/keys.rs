//! The keys, as they are listed: all of them, and those that apply now.

use super::state::{Mode, Pane, State};
use super::timeline::Row;

/// A key, and what it does.
pub type Key = (&'static str, &'static str);

/// All keys, by what they are for.
pub const ALL: [(&str, &[Key]); 4] = [
    (
        "Move",
        &[
            ("j k ↓ ↑", "next, previous"),
            ("g G", "first, last"),
            ("PgUp PgDn", "a page; Ctrl-U Ctrl-D: half of it"),
            ("Tab", "the other pane"),
            ("→ Enter Space", "unfold the steps of a turn"),
            ("← →", "in the difference: scroll sideways"),
            ("[ ]", "previous, next file"),
            ("n N", "next, previous hunk"),
        ],
    ),
    (
        "Look",
        &[
            ("d", "compare with: turn before, disk, HEAD, marked"),
            ("m", "mark; two marked turns are compared"),
            ("/", "filter: text, agent:NAME, file:PATH"),
            ("S", "other sessions"),
            ("o", "open the file in your editor"),
            ("y", "copy the turn's id"),
        ],
    ),
    (
        "Change",
        &[
            ("r", "restore the turn"),
            ("f", "restore only the file"),
            ("u U", "undo, redo"),
            ("s", "take a snapshot now"),
            ("a", "accept: one commit"),
        ],
    ),
    (
        "Leave",
        &[
            ("q Esc", "leave"),
            ("Ctrl-Z", "to the shell; fg comes back"),
            ("Ctrl-L", "draw anew"),
            ("?", "these keys"),
        ],
    ),
];

/// The keys that apply now, the most useful first.
pub fn now(state: &State) -> Vec<Key> {
    match &state.mode {
        Mode::Help => vec![("any key", "back")],
        Mode::Plan(..) => vec![("y", "do it"), ("any other key", "leave all as it is")],
        Mode::Message(..) => vec![
            ("Enter", "commit"),
            ("Ctrl-J", "new line"),
            ("Esc", "leave all as it is"),
        ],
        Mode::Filter => vec![("Enter", "keep"), ("Esc", "show all")],
        Mode::Sessions(..) => vec![("j k", "choose"), ("Enter", "show"), ("Esc", "back")],
        Mode::Browse => browsing(state),
    }
}

fn browsing(state: &State) -> Vec<Key> {
    let own = state.book.as_ref().is_none_or(|book| book.is_own);
    let mut keys = Vec::new();
    let row = state.row();
    if row.is_some_and(|row| row != Row::Now) {
        keys.push(("r", "restore"));
        if state.file().is_some() {
            keys.push(("f", "file"));
        }
    }
    if own {
        let more = [("u", "undo"), ("U", "redo")];
        keys.extend(more);
        if row == Some(Row::Now) || state.book.is_none() {
            keys.insert(0, ("s", "snapshot"));
        }
        if state.book.is_some() {
            keys.push(("a", "accept"));
        }
    }
    if state.book.is_some() {
        keys.push(("d", "compare"));
        match state.pane {
            Pane::Turns => keys.push(("/", "filter")),
            Pane::Diff => keys.extend([("[ ]", "file"), ("n", "hunk"), ("o", "open")]),
        }
        keys.push(("Tab", "pane"));
    }
    if !own || state.book.is_none() {
        keys.push(("S", "sessions"));
    }
    keys.extend([("?", "keys"), ("q", "leave")]);
    keys
}
