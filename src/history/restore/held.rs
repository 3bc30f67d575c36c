//! What differs between the work tree and a goal, of what each of them holds.
//!
//! Of what a snapshot can't hold its tree has what was there before, so that it does not tell of a file that was deleted.
//! To a restore that is no content: what the goal does not hold is left alone, and what is not held now can't be saved.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::gitengine::{Difference, Entry, RepoPath};

use super::super::scan::Scan;
use super::super::skipped::NotHeld;
use super::super::workspace::Locked;
use super::Goal;

/// The differences between the trees without what they do not hold, made from those between the trees; of the paths that
/// are of concern.
///
/// # Errors
///
/// git failed.
pub fn of_what_is_held(
    workspace: &Locked,
    scan: &Scan,
    goal: &Goal<'_>,
    differences: Vec<Difference>,
    is_of_concern: impl Fn(&RepoPath) -> bool,
) -> Result<Vec<Difference>> {
    let (now, then) = (
        &scan.not_held,
        NotHeld::of(goal.not_held.unwrap_or_default()),
    );
    let not_held: Vec<RepoPath> = now.paths().chain(then.paths()).cloned().collect();
    if not_held.is_empty() {
        return Ok(differences);
    }
    let mut entries: BTreeMap<RepoPath, (Option<Entry>, Option<Entry>)> = BTreeMap::new();
    if goal.not_held.is_some() {
        let same = workspace
            .git
            .entries_within(goal.tree, &not_held)?
            .into_iter();
        let same = same.filter(|(path, _)| is_of_concern(path));
        entries.extend(same.map(|(path, entry)| (path, (Some(entry.clone()), Some(entry)))));
    }
    let is_covered = |path: &RepoPath| now.covers(path) || then.covers(path);
    let is_open = |difference: &Difference| is_covered(&difference.path);
    let (open, mut held): (Vec<_>, Vec<_>) = differences.into_iter().partition(is_open);
    entries.extend(open.into_iter().map(|d| (d.path, (d.old, d.new))));
    held.extend(entries.into_iter().filter_map(|(path, (old, new))| {
        // Nothing is there now, and what was there then can't come back: that is to be said.
        let is_missed = old.is_none() && new.is_some() && then.covers(&path);
        let old = old.filter(|_| !now.covers(&path));
        let new = new.filter(|_| !then.covers(&path));
        (old != new || is_missed).then_some(Difference { path, old, new })
    }));
    Ok(held)
}
