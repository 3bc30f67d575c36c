//! The first of what may be many.

use crate::term::Term;

/// How many of what may be many are named.
pub const NAMED: usize = 5;

/// Tells the first of these, a line each, and how many more there are.
pub fn tell_first<T>(term: &mut Term, all: &[T], line: impl Fn(&T) -> String, before_more: &str) {
    for one in all.iter().take(NAMED) {
        term.told(line(one));
    }
    if all.len() > NAMED {
        term.told(format!("{before_more}{} more", all.len() - NAMED));
    }
}
