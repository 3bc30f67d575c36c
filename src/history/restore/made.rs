//! The way back of what edio itself has put on disk.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::gitengine::{Difference, Entry, Oid, RepoPath};

use super::super::choice::matched;
use super::super::scan::Scan;
use super::super::workspace::Locked;
use super::facts::{facts, go_way, rewritten};
use super::held::of_what_is_held;
use super::rules::Rules;
use super::{Goal, Plan, plan_with};

/// What edio itself has put where nothing was: it goes where the goal lacks it, whatever the ignore rules say.
#[derive(Debug, Default)]
pub struct Made {
    /// What the scan holds.
    pub held: Held,
    /// Ignored files, which no tree of now holds. They are saved, so that the way back finds them.
    pub unheld: Vec<(RepoPath, Entry)>,
}

impl Made {
    /// The ignored files that a tree has no entry for.
    fn unheld_but_in(&self, workspace: &Locked, tree: &Oid) -> Result<Vec<&(RepoPath, Entry)>> {
        if self.unheld.is_empty() {
            return Ok(Vec::new());
        }
        let paths: Vec<RepoPath> = self.unheld.iter().map(|(path, _)| path.clone()).collect();
        let there = workspace.git.entries_at(tree, &paths)?;
        let there: BTreeSet<&RepoPath> = there.iter().map(|(path, _)| path).collect();
        let lacking = self.unheld.iter().filter(|(path, _)| !there.contains(path));
        Ok(lacking.collect())
    }
}

/// What the scan holds of what edio has made.
#[derive(Debug)]
pub enum Held {
    /// These paths.
    These(BTreeSet<RepoPath>),
    /// All that it holds and the goal lacks: nothing has changed since.
    All,
}

impl Default for Held {
    fn default() -> Self {
        Held::These(BTreeSet::new())
    }
}

/// The plan that brings the whole work tree to a goal.
///
/// # Errors
///
/// Refused, or git failed.
pub fn plan_to(workspace: &Locked, scan: &Scan, goal: &Goal<'_>, made: &Made) -> Result<Plan> {
    let differences = workspace.git.differences(&scan.tree, goal.tree)?;
    let rules = Rules::between(goal, &differences);
    let rewritten = rewritten(workspace, scan, goal, &differences)?;
    let differences = of_what_is_held(workspace, scan, goal, differences, |_| true)?;
    let mut facts = facts(workspace, scan, goal, differences, rewritten, rules)?;
    match &made.held {
        Held::All => facts.protected.clear(),
        Held::These(paths) => facts.protected.retain(|path| !paths.contains(path)),
    }
    let unwanted = made.unheld_but_in(workspace, goal.tree)?;
    // The person has wanted these left alone, then or now: so edio has not made them, whatever trees say.
    for choice in [&scan.choice, goal.choice] {
        let paths = unwanted.iter().map(|(path, _)| path);
        let excluded = matched(workspace, &choice.exclude, paths)?;
        facts.excluded.extend(excluded);
    }
    let removed = unwanted.iter().map(|(path, entry)| Difference {
        path: path.clone(),
        old: Some(entry.clone()),
        new: None,
    });
    facts.differences.extend(removed);
    go_way(workspace, scan, goal, &mut facts)?;
    let mut plan = plan_with(workspace, facts, &goal.name)?.with_way(goal.way);
    plan.save_removed(unwanted.iter().map(|(path, _)| path));
    Ok(plan)
}
