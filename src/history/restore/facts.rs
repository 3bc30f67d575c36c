//! What a plan is made of: what differs, and what must be left alone.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::gitengine::{Difference, Entry, RepoPath};

use super::super::bytes;
use super::super::choice::matched;
use super::super::scan::Scan;
use super::super::skipped::NotHeld;
use super::super::workspace::Locked;
use super::Goal;
use super::plan::{Facts, Unsaved, candidates};
use super::rules::{Matched, Rules};

pub fn facts<'a>(
    workspace: &Locked,
    scan: &'a Scan,
    goal: &Goal<'a>,
    differences: Vec<Difference>,
    rewritten: Vec<Difference>,
    rules: Rules,
) -> Result<Facts> {
    let removed = candidates(&differences);
    let Matched {
        ignored_then,
        ignored_until_now,
    } = Matched::by(rules, workspace, scan, goal, &differences)?;
    // What was included then was looked at: where the turn lacks it, it was not there.
    let included_then = matched(workspace, &goal.choice.include, &ignored_then)?;
    let excluded_then = matched(workspace, &goal.choice.exclude, &removed)?;
    let protected = ignored_then.difference(&included_then).cloned();
    let concerned = differences.iter().chain(&rewritten);
    let concerned = concerned.map(|difference| &difference.path);
    Ok(Facts {
        excluded: matched(workspace, &scan.choice.exclude, concerned)?,
        protected: protected.chain(excluded_then).collect(),
        differences,
        rewritten,
        unsaved: Unsaved::of(&scan.skipped),
        not_held_then: NotHeld::of(goal.not_held.unwrap_or_default()),
        ignored_until_now,
        beside: BTreeMap::new(),
    })
}

/// The paths where the trees have the same blob, and other bytes are on disk: line endings, most of the time.
pub fn rewritten(
    workspace: &Locked,
    scan: &Scan,
    goal: &Goal<'_>,
    differences: &[Difference],
) -> Result<Vec<Difference>> {
    let now = &scan.on_disk(workspace)?.raw_ids;
    // Where only the executable bit differs, the bytes may, too.
    let other_blob = |d: &&Difference| {
        let oid = |entry: &Option<Entry>| entry.as_ref().map(|entry| entry.oid.clone());
        oid(&d.old) != oid(&d.new)
    };
    let known = differences.iter().filter(other_blob);
    let known: BTreeSet<&RepoPath> = known.map(|d| &d.path).collect();
    let other = bytes::other_bytes(workspace, goal.tree, now, goal.raw_ids)?;
    let other = other
        .into_iter()
        .filter(|(path, _)| !known.contains(path))
        .map(|(path, entry)| Difference::unchanged(path, entry));
    Ok(other.collect())
}

/// Adds the ignored files of the journal to what differs.
pub fn go_way(workspace: &Locked, scan: &Scan, goal: &Goal<'_>, facts: &mut Facts) -> Result<()> {
    let way = goal.way;
    let paths = way
        .within
        .iter()
        .map(|way| &way.path)
        .chain(way.there.keys());
    let paths: BTreeSet<&RepoPath> = paths.collect();
    if paths.is_empty() {
        return Ok(());
    }
    let paths: Vec<RepoPath> = paths.into_iter().cloned().collect();
    facts
        .excluded
        .extend(matched(workspace, &scan.choice.exclude, &paths)?);
    let held = workspace.git.entries_at(goal.tree, &paths)?;
    // What the goal's tree holds is the tree's.
    let is_held = |path: &RepoPath| held.iter().any(|(held, _)| held == path);
    for way in way.within.iter().filter(|way| !is_held(&way.path)) {
        let mut known = facts.differences.iter_mut();
        match known.find(|known| known.path == way.path) {
            Some(known) => known.new.clone_from(&way.new),
            None => facts.differences.push(way.clone()),
        }
        facts.protected.remove(&way.path);
        let bits = goal.way.there.get(&way.path).copied().flatten();
        facts.beside.insert(way.path.clone(), bits);
    }
    // What it holds already as it was then is not removed since the goal's tree lacks it.
    facts.differences.retain(|difference| {
        let path = &difference.path;
        difference.new.is_some() || !way.there.contains_key(path)
    });
    Ok(())
}
