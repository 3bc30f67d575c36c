//! What an accept commits: the session's own changes, on top of HEAD.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};
use crate::gitengine::{Entry, Merged, Oid, PrivateIndex, RepoPath};

use super::super::skipped::Why;
use super::super::turn::Turn;
use super::super::workspace::Locked;

/// How much is committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// What the session changed.
    Session,
    /// The work tree as it is.
    WholeTree,
}

/// What is committed.
pub struct Content {
    /// The tree.
    pub tree: Oid,
    /// Paths whose uncommitted state from before the session goes in, too.
    pub whole: Vec<RepoPath>,
}

type Entries = BTreeMap<RepoPath, Option<Entry>>;

impl Content {
    /// Works out what is committed.
    ///
    /// # Errors
    ///
    /// The session and commits made since it began changed the same, in different ways; or git failed.
    pub fn of(
        workspace: &Locked,
        baseline: &Turn,
        current: &Turn,
        head_tree: &Oid,
        extent: Extent,
    ) -> Result<Self> {
        let held = as_held(workspace, baseline, current)?;
        if extent == Extent::WholeTree || &baseline.tree == head_tree {
            return Ok(Self {
                tree: held,
                whole: Vec::new(),
            });
        }
        merged(workspace, baseline, &held, head_tree)
    }
}

/// The current tree, with those tracked paths that it could not hold as they were: not held is not deleted.
fn as_held(workspace: &Locked, baseline: &Turn, current: &Turn) -> Result<Oid> {
    let mut skipped = current
        .note
        .skipped
        .iter()
        .filter(|s| s.why != Why::Submodule)
        .peekable();
    if skipped.peek().is_none() {
        return Ok(current.tree.clone());
    }
    let differences = workspace.git.differences(&baseline.tree, &current.tree)?;
    let mut kept = Entries::new();
    for difference in differences.into_iter().filter(|d| d.new.is_none()) {
        let not_held = current.note.skipped.iter();
        if not_held
            .into_iter()
            .any(|s| difference.path.is_within(&s.path))
        {
            kept.insert(difference.path, difference.old);
        }
    }
    edited(workspace, &current.tree, &kept)
}

/// Puts what the session made of its turn 0 on top of HEAD.
fn merged(workspace: &Locked, baseline: &Turn, held: &Oid, head_tree: &Oid) -> Result<Content> {
    let git = &workspace.git;
    let (mut base_edits, mut held_edits, mut whole) = (Entries::new(), Entries::new(), Vec::new());
    let changed: BTreeSet<RepoPath> = git
        .differences(&baseline.tree, held)?
        .into_iter()
        .map(|difference| difference.path)
        .collect();
    let tree_before = tree_before(workspace, baseline)?;
    // What lay there uncommitted, and untracked, before the session began: it is the user's, unless the session
    // changed it.
    for difference in git.differences(&tree_before, &baseline.tree)? {
        if difference.old.is_some() {
            continue;
        }
        base_edits.insert(difference.path.clone(), None);
        match changed.contains(&difference.path) {
            true => whole.push(difference.path),
            false => {
                held_edits.insert(difference.path, None);
            }
        }
    }
    let theirs = edited(workspace, held, &held_edits)?;
    let base = edited(workspace, &baseline.tree, &base_edits)?;
    if &base == head_tree {
        return Ok(Content {
            tree: theirs,
            whole,
        });
    }
    let conflicts = match git.merge_trees(&base, head_tree, &theirs)? {
        Merged::Clean(tree) => return Ok(Content { tree, whole }),
        Merged::Conflicts(paths) => paths,
    };
    // Where no commit since then touched the path, the session worked on top of what was uncommitted there: the two
    // can't be told apart, and go in together.
    let committed: BTreeMap<RepoPath, Option<Entry>> = git
        .differences(&tree_before, head_tree)?
        .into_iter()
        .map(|difference| (difference.path, difference.new))
        .collect();
    let (real, own): (Vec<_>, Vec<_>) = conflicts
        .into_iter()
        .partition(|path| committed.contains_key(path));
    if !real.is_empty() {
        return Err(conflict(&real));
    }
    let in_head: BTreeMap<RepoPath, Entry> = git.tree_entries(head_tree)?.into_iter().collect();
    for path in own {
        base_edits.insert(path.clone(), in_head.get(&path).cloned());
        whole.push(path);
    }
    let base = edited(workspace, &baseline.tree, &base_edits)?;
    match git.merge_trees(&base, head_tree, &theirs)? {
        Merged::Clean(tree) => Ok(Content { tree, whole }),
        Merged::Conflicts(paths) => Err(conflict(&paths)),
    }
}

/// The tree of the commit that the session began on.
fn tree_before(workspace: &Locked, baseline: &Turn) -> Result<Oid> {
    super::snapshot::head_tree(workspace, &baseline.note.head)
}

fn conflict(paths: &[RepoPath]) -> Error {
    let named: Vec<String> = paths.iter().take(10).map(RepoPath::to_string).collect();
    Error::refused("commits made since the session began changed the same lines")
        .because(Error::cannot(format!("in conflict: {}", named.join(", "))))
        .hint("to commit the work tree as it is, with your changes in it: edio accept --all")
}

/// A tree with some entries changed.
fn edited(workspace: &Locked, tree: &Oid, edits: &Entries) -> Result<Oid> {
    if edits.is_empty() {
        return Ok(tree.clone());
    }
    let index = PrivateIndex::at(&workspace.git, workspace.scratch().join("index.accept"));
    index.read_tree(tree)?;
    let edits: Vec<_> = edits.iter().map(|(p, e)| (p.clone(), e.clone())).collect();
    index.set(&edits)?;
    let edited = index.write_tree()?;
    index.remove()?;
    Ok(edited)
}
