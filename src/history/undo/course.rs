//! What leads back to the work tree before something happened.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::gitengine::{Entry, Oid, RepoPath};

use super::super::bytes;
use super::super::journal::way_to;
use super::super::ops::{Deed, Operation};
use super::super::restore::{Course, Goal, Held, Made, Sources, bring_back, plan_to, stands};
use super::super::scan::Scan;
use super::super::session::Session;
use super::super::side;
use super::super::turn::Turn;
use super::super::workspace::{Locked, Workspace};
use super::past::{Event, Past};

/// What leads back to the snapshot before an event.
///
/// # Errors
///
/// It can't be done, or git failed.
pub fn course_back(
    workspace: &Locked,
    scan: &Scan,
    event: &Event,
    target: &Turn,
) -> Result<Course> {
    let raw_ids = bytes::known_at(workspace, target, event.bytes.as_ref())?;
    let mut ignored = side::ignored(workspace, event.side.as_ref())?;
    let goal = Goal {
        tree: &target.tree,
        not_held: Some(&side::all_skipped(workspace, target)?),
        choice: &target.note.choice,
        raw_ids: &raw_ids,
        name: format!("turn {}", target.number()),
        way: &way_to(workspace, target)?,
        ignored: &ignored,
    };
    let made = made_by(workspace, scan, event, &target.tree, &ignored)?;
    let mut plan = plan_to(workspace, scan, &goal, &made)?;
    // Of a file of the journal that knows best.
    ignored.retain(|(path, _)| !plan.beside.contains_key(path));
    let now = workspace.git.entries_at(&scan.tree, &paths_of(&ignored))?;
    bring_back(workspace, &mut plan, &ignored, &now);
    let mut sources = Sources::of(workspace, &plan, &target.tree, &raw_ids)?;
    sources.take_raw(&ignored);
    Ok(Course {
        plan,
        sources,
        raw_ids,
    })
}

/// The same for an undo or a redo that was begun and never finished, from what the work tree has now. `None` where
/// what it takes back is not known any more.
///
/// # Errors
///
/// It can't be done, or git failed.
pub fn course_of_unfinished(
    workspace: &Locked,
    session: &Session,
    scan: &Scan,
    operation: &Operation,
    target: &Turn,
) -> Result<Option<Course>> {
    if !matches!(operation.deed, Deed::Undo | Deed::Redo) {
        return Ok(None);
    }
    let id = session.ops.as_ref().map(|last| &last.oid);
    let past = Past::until(workspace, session, id)?;
    let event = match operation.deed {
        Deed::Undo => past.done.last(),
        _ => past.undone.last(),
    };
    let event = event.filter(|event| operation.undoes.as_ref() == Some(&event.id));
    event
        .map(|event| course_back(workspace, scan, event, target))
        .transpose()
}

/// What an operation of edio's has put where nothing was, and what is still as it was put there: it goes, whatever the
/// ignore rules say. `replaced` is what the operation has put something in the place of.
fn made_by(
    workspace: &Workspace,
    scan: &Scan,
    event: &Event,
    before: &Oid,
    replaced: &[(RepoPath, Entry)],
) -> Result<Made> {
    let git = &workspace.git;
    let replaced = paths_of(replaced);
    let mut unheld = side::ignored(workspace, event.brought.as_ref())?;
    let held = match &event.made {
        None => Held::default(),
        Some(tree) if *tree == scan.tree => Held::All,
        Some(tree) => {
            let mut held = BTreeSet::new();
            let differs = git.differences(&scan.tree, tree)?.into_iter();
            let differs: BTreeMap<_, _> = differs.map(|d| (d.path, d.old)).collect();
            for new in git.differences(before, tree)? {
                let (None, Some(entry)) = (new.old, new.new) else {
                    continue;
                };
                match differs.get(&new.path) {
                    None => drop(held.insert(new.path)),
                    Some(None) => unheld.push((new.path, entry)),
                    // What was changed since is the person's own.
                    Some(Some(_)) => {}
                }
            }
            held.retain(|path| !replaced.contains(path));
            Held::These(held)
        }
    };
    unheld.retain(|(path, _)| !replaced.contains(path));
    let mut made = Made {
        held,
        unheld: Vec::new(),
    };
    for (path, entry) in unheld {
        if stands(workspace, &path, &entry.oid)? {
            made.unheld.push((path, entry));
        }
    }
    Ok(made)
}

fn paths_of(entries: &[(RepoPath, Entry)]) -> Vec<RepoPath> {
    entries.iter().map(|(path, _)| path.clone()).collect()
}
