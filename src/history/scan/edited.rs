//! A scan that finds nothing but a few edited files: they are put into the tree that the index stands for, and the index
//! stays as it is. To read and write that takes as long as all the rest but the look at the work tree.
//!
//! To the next scan the same files differ from the index once more, and are put into the same tree anew. Where it finds
//! many, or anything else, git takes all of it into the index. Nothing is decided here where anything is out of the
//! ordinary.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::gitengine::{Entry, Errand, Oid, RepoPath, Status};

use super::super::bytes::may_convert;
use super::super::workspace::Locked;
use super::Rules;
use super::base::Base;
use super::gate::{Passed, are_ruled, read_plain_file};
use super::recent::{Looking, Recent};

/// So many files at most. Each is read again by every scan until the index has it.
pub(super) const FEW: usize = 32;

/// Of so many bytes at most: they are held in memory.
pub(super) const LARGE: u64 = 1 << 20;

/// Edited files that a tree has and the index of the same scan has not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edited {
    /// As they were before they were read.
    files: Vec<Recent>,
    /// What the index has of each.
    #[serde(default)]
    indexed: Vec<Oid>,
    /// The tree with them.
    pub tree: Oid,
}

/// Makes the tree with the edited files that a scan found. `None` where it found anything else.
///
/// # Errors
///
/// git failed.
pub fn put_in_place(
    workspace: &Locked,
    base: &Base,
    rules: &Rules,
    status: &Status,
    passed: &Passed,
    looking: Looking<'_>,
) -> Result<Option<Edited>> {
    let paths = &passed.taken;
    let (Some(tree), Some(indexed)) = (&base.tree, before_edits(status, passed)) else {
        return Ok(None);
    };
    let files = looking.all(paths.iter());
    // What no snapshot holds may be gone by now.
    let held = workspace.pointed.as_ref().map(|pointed| &pointed.tree);
    let before = base
        .edited
        .as_ref()
        .filter(|edited| Some(&edited.tree) == held);
    if let Some(before) = before.filter(|edited| edited.are(paths))
        && looking.changed_since(&before.files).is_empty()
    {
        let tree = before.tree.clone();
        return Ok(Some(Edited {
            files,
            indexed,
            tree,
        }));
    }
    if !are_stored_as_they_are(workspace, base.attribute_files, paths) {
        return Ok(None);
    }
    let errands = rules.errands(&[Errand::Read, Errand::Store]);
    workspace.git.start_ahead(&errands);
    let tree = tree_with(workspace, tree, paths)?;
    // What was read may be half of one state and half of another.
    let is_sure = files.len() == paths.len() && looking.changed_since(&files).is_empty();
    Ok(tree.filter(|_| is_sure).map(|tree| Edited {
        files,
        indexed,
        tree,
    }))
}

impl Edited {
    /// The files.
    pub fn paths(&self) -> impl Iterator<Item = &RepoPath> {
        self.files.iter().map(Recent::path)
    }

    /// Those that git takes for what the index has, though they are not.
    ///
    /// git knows by its number that a file was replaced, and a number that has become free is soon given away again.
    pub fn mistaken(&self, status: &Status, looking: Looking<'_>) -> Vec<RepoPath> {
        let files = self.paths().zip(&self.indexed);
        let unchanged = files.filter(|(path, _)| !status.has_changed(path));
        let mistaken = unchanged.filter(|(path, oid)| looking.content(path).as_ref() != Some(oid));
        mistaken.map(|(path, _)| path.clone()).collect()
    }

    fn are(&self, paths: &[RepoPath]) -> bool {
        self.paths().eq(paths)
    }
}

/// What the index has of each of the files, where the scan has found nothing but a few that are in the index, as files,
/// and have another content now.
fn before_edits(status: &Status, passed: &Passed) -> Option<Vec<Oid>> {
    let before = |path: &RepoPath| {
        let before = status.before(path)?;
        before.mode.is_file().then(|| before.oid.clone())
    };
    let Passed {
        taken,
        dropped,
        anew,
        gone,
        added,
        ..
    } = passed;
    let are_edits = (1..=FEW).contains(&taken.len())
        && dropped.is_empty()
        && anew.is_empty()
        && gone.is_empty()
        && added.is_empty()
        && !taken.iter().any(|path| path.name().starts_with(b".git"));
    match are_edits {
        true => taken.iter().map(before).collect(),
        false => None,
    }
}

/// Are the blobs of these files their bytes, and is their executable bit what the disk says?
fn are_stored_as_they_are(workspace: &Locked, attribute_files: bool, paths: &[RepoPath]) -> bool {
    let has_rules = attribute_files || are_ruled(&workspace.git.work_tree, paths.iter());
    !may_convert(workspace, has_rules) && !workspace.settings.is_false("core.filemode")
}

/// The tree with these files as they are now; `None` where one of them is no file there, or none that can be read, or is
/// large.
fn tree_with(workspace: &Locked, tree: &Oid, paths: &[RepoPath]) -> Result<Option<Oid>> {
    let git = &workspace.git;
    let contents = paths.iter().map(|path| {
        let file = path.below(&git.work_tree);
        read_plain_file(&file, LARGE)
    });
    let Some(contents) = contents.collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let Some(grafting) = git.read_for_graft(tree, paths)? else {
        return Ok(None);
    };
    let mut changes = Vec::new();
    let mut blobs = Vec::new();
    for (path, (mode, content)) in paths.iter().zip(contents) {
        let Some(before) = grafting.entry(path) else {
            return Ok(None);
        };
        let oid = git.format.hash_content(&content);
        let now = Entry { mode, oid };
        if before.oid != now.oid {
            blobs.push(content);
        }
        if before != now {
            changes.push((path.clone(), Some(now)));
        }
    }
    match changes.is_empty() {
        true => Ok(Some(tree.clone())),
        false => Ok(Some(git.graft(grafting, &changes, &blobs)?)),
    }
}
