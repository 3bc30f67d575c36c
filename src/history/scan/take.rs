//! What a scan has git take in: what differs, and nothing else.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::gitengine::{Contents, Entry, Oid, PrivateIndex, Rejected};

use super::super::skipped::{NotHeld, Why};
use super::super::workspace::Locked;
use super::base::Base;
use super::gate::{self, Passed};
use super::unheld::{held_otherwise, keep_what_was_there};
use super::{Edited, Recent, Rules, Seen, edited, looking, modes};

/// The tree that a scan made.
pub struct Made {
    /// The tree itself.
    pub tree: Oid,
    /// The files that it has otherwise than the index, where they were put in place without that.
    pub edited: Option<Edited>,
    /// What was changed just before.
    pub recent: Vec<Recent>,
}

/// Makes the tree of what has passed the gate.
///
/// # Errors
///
/// git failed in a way that no single path is to blame for.
pub(super) fn taken_in(
    workspace: &Locked,
    base: &Base,
    rules: &Rules,
    seen: &Seen,
    passed: &mut Passed,
) -> Result<Made> {
    let looking = looking(workspace, seen.started);
    let otherwise = held_otherwise(workspace, base, passed);
    let edited = match otherwise {
        None => edited::put_in_place(workspace, base, rules, &seen.status, passed, looking)?,
        Some(_) => None,
    };
    let (tree, mut recent) = match &edited {
        // What the index does not know can't be taken for unchanged.
        Some(edited) => (edited.tree.clone(), Vec::new()),
        None => {
            let recent = looking.recent(passed.taken.iter());
            let tree = take_in(workspace, &seen.index, base, rules, otherwise, passed)?;
            (tree, recent)
        }
    };
    let before = seen.edited_before.iter();
    let before = before.filter(|recent| !passed.taken.contains(recent.path()));
    recent.extend(before.cloned());
    Ok(Made {
        tree,
        edited,
        recent,
    })
}

/// Has git take in what differs. Returns the tree. `otherwise` is what can't be held, where the index may not have what the
/// snapshot before has of it.
///
/// Where git rejects a file that can be read, its filter failed: what no filter could make a blob of is held as it is, as
/// git itself does where the filter may fail.
fn take_in(
    workspace: &Locked,
    index: &PrivateIndex,
    base: &Base,
    rules: &Rules,
    otherwise: Option<NotHeld>,
    passed: &mut Passed,
) -> Result<Oid> {
    if passed.is_nothing()
        && let Some(tree) = &base.tree
        && otherwise.is_none()
    {
        return Ok(tree.clone());
    }
    // In a copy of the user's index what edio knows already is new, too.
    if base.is_cached() && !passed.is_nothing() {
        workspace.git.start_ahead(&rules.errands(&[]));
    }
    index.drop_paths(&[&passed.dropped[..], &passed.anew].concat())?;
    if let Some(not_held) = otherwise {
        keep_what_was_there(workspace, index, rules, base, &not_held, passed)?;
    }
    // In a pack of its own nothing is stored by its difference from another: for edits that would be the cost.
    let are_new = passed.added.len() > passed.taken.len() / 2;
    let contents = match are_new && base.is_where_it_stands(workspace) {
        true => Contents::New,
        false => Contents::Known,
    };
    let rejected = index.take(&passed.taken, contents, &workspace.settings)?;
    take_as_they_are(workspace, index, rejected, passed)?;
    modes::give(workspace, index, base, passed)?;
    Ok(index.write_tree()?)
}

/// Takes in what git has rejected: files as they are on disk, through no filter. What is no file by now is let go.
fn take_as_they_are(
    workspace: &Locked,
    index: &PrivateIndex,
    rejected: Vec<Rejected>,
    passed: &mut Passed,
) -> Result<()> {
    let (mut files, mut modes, mut others) = (Vec::new(), Vec::new(), BTreeSet::new());
    for Rejected { path, .. } in rejected {
        match gate::plain_file(&path.below(&workspace.git.work_tree)) {
            Some(mode) => {
                modes.push(mode);
                files.push(path);
            }
            None => drop(others.insert(path)),
        }
    }
    let oids = workspace.git.write_raw_blobs(&files)?;
    let entries = modes.into_iter().zip(oids);
    let entries = entries.map(|(mode, oid)| Some(Entry { mode, oid }));
    let entries: Vec<_> = files.iter().cloned().zip(entries).collect();
    index.set(&entries)?;
    index.drop_paths(&others.iter().cloned().collect::<Vec<_>>())?;
    passed.taken.retain(|path| !others.contains(path));
    passed.added.retain(|path, _| !others.contains(path));
    for path in files {
        passed.skip(&path, Why::Unfiltered);
    }
    for path in &others {
        passed.skip(path, Why::Rejected);
    }
    passed.gone.extend(others);
    Ok(())
}
