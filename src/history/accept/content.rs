//! What an accept commits: the session's own changes, on top of HEAD.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};
use crate::gitengine::{Entry, Git, IndexEntry, Merged, Oid, PrivateIndex, RepoPath};

use super::super::choice::{Choice, matched};
use super::super::scan::without_detours;
use super::super::side;
use super::super::skipped::Why;
use super::super::turn::Turn;
use super::super::workspace::Locked;
use super::in_conflict;

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
    /// Paths that stay out since git ignores them: the turn holds them because the person has chosen so.
    pub ignored: Vec<RepoPath>,
    /// Paths that stay out since the person has told git to take them for unchanged.
    pub hidden: Vec<RepoPath>,
}

/// The turns that are committed.
pub struct Line<'a> {
    /// The work tree as it was before.
    pub baseline: &'a Turn,
    /// The numbered turns, each grown from the one before it.
    pub turns: &'a [Turn],
    /// The work tree as it is to be committed.
    pub last: &'a Turn,
}

type Entries = BTreeMap<RepoPath, Option<Entry>>;

impl Content {
    /// Works out what is committed. `index` is what the user's own has.
    ///
    /// # Errors
    ///
    /// The session and commits made since it began changed the same, in different ways; or git failed.
    pub fn of(
        workspace: &Locked,
        line: &Line<'_>,
        head_tree: &Oid,
        index: &[IndexEntry],
        extent: Extent,
    ) -> Result<Self> {
        let Line { baseline, last, .. } = line;
        let skipped = side::all_skipped(workspace, last)?;
        let as_in = match extent {
            Extent::Session => &baseline.tree,
            Extent::WholeTree => head_tree,
        };
        let ignored = only_chosen(workspace, as_in, last, index)?;
        let hidden = hidden(workspace, index, as_in, last)?;
        let left_out = ignored.iter().chain(&hidden).cloned();
        let skipped = skipped.into_iter().filter(|s| s.why != Why::Submodule);
        let unheld: Vec<RepoPath> = skipped.map(|s| s.path).chain(left_out).collect();
        let held = as_held(workspace, as_in, &last.tree, &unheld)?;
        let (tree, whole) = match extent == Extent::WholeTree || &baseline.tree == head_tree {
            true => (held, Vec::new()),
            false => merged(workspace, line, &held, &unheld, head_tree)?,
        };
        Ok(Self {
            tree,
            whole,
            ignored,
            hidden,
        })
    }
}

/// The files that git is told to take for unchanged: whatever is in them is the person's own. In a sparse checkout
/// skip-worktree is set by git itself, and says nothing of the kind.
fn hidden(
    workspace: &Locked,
    index: &[IndexEntry],
    as_in: &Oid,
    last: &Turn,
) -> Result<Vec<RepoPath>> {
    let is_sparse = workspace.settings.is_true("core.sparsecheckout");
    let is_hidden =
        |entry: &&IndexEntry| entry.assume_unchanged || (entry.skip_worktree && !is_sparse);
    let hidden = index.iter().filter(is_hidden).map(|entry| &entry.path);
    let hidden: BTreeSet<&RepoPath> = hidden.collect();
    if hidden.is_empty() {
        return Ok(Vec::new());
    }
    let changed = workspace.git.differences(as_in, &last.tree)?.into_iter();
    let changed = changed.map(|difference| difference.path);
    Ok(changed.filter(|path| hidden.contains(path)).collect())
}

/// A tree with the paths that it does not hold, or only as no filter made them, as in another: not held is not deleted.
fn as_held(workspace: &Locked, as_in: &Oid, tree: &Oid, unheld: &[RepoPath]) -> Result<Oid> {
    if unheld.is_empty() {
        return Ok(tree.clone());
    }
    let mut kept = Entries::new();
    for difference in workspace.git.differences(as_in, tree)? {
        if unheld.iter().any(|other| difference.path.is_within(other)) {
            kept.insert(difference.path, difference.old);
        }
    }
    edited(workspace, tree, &kept)
}

/// The paths that a turn holds only since they are chosen: git ignores them, and the index lacks them.
fn only_chosen(
    workspace: &Locked,
    as_in: &Oid,
    turn: &Turn,
    index: &[IndexEntry],
) -> Result<Vec<RepoPath>> {
    // A turn is as good as one taken now where only the choice has changed since.
    let now = Choice::of(&workspace.settings);
    let choices = [&turn.note.choice.include, &now.include];
    if choices.iter().all(|include| include.is_empty()) {
        return Ok(Vec::new());
    }
    let git = &workspace.git;
    let differences = git.differences(as_in, &turn.tree)?;
    let held = differences.iter().filter(|d| d.new.is_some());
    let mut chosen = BTreeSet::new();
    for include in choices {
        chosen.extend(matched(workspace, include, held.clone().map(|d| &d.path))?);
    }
    let tracked: BTreeSet<RepoPath> = index.iter().map(|entry| entry.path.clone()).collect();
    let chosen: Vec<RepoPath> = chosen.difference(&tracked).cloned().collect();
    let reachable = without_detours(&git.work_tree, &chosen);
    let ignored: BTreeSet<RepoPath> = git
        .ask_ignored(&reachable)?
        .ignored()?
        .into_iter()
        .collect();
    // Of what lies beyond a link by now, git does not say.
    let is_only_chosen = |path: &RepoPath| ignored.contains(path) || !reachable.contains(path);
    Ok(chosen.into_iter().filter(is_only_chosen).collect())
}

/// Puts what the session made of its turn 0 on top of HEAD. Returns the tree, and the paths that go in whole.
fn merged(
    workspace: &Locked,
    line: &Line<'_>,
    held: &Oid,
    unheld: &[RepoPath],
    head_tree: &Oid,
) -> Result<(Oid, Vec<RepoPath>)> {
    let git = &workspace.git;
    let baseline = &line.baseline.tree;
    let tree_before = tree_before(workspace, line.baseline)?;
    let mut edits = without_untracked(git, &tree_before, baseline, held, head_tree)?;
    let committed = entries_after(git, &tree_before, head_tree)?;
    let is_held = |path: &RepoPath| !unheld.iter().any(|other| path.is_within(other));
    // Where there is nothing to commit, the base is as it was: a rename is known by it.
    let to_commit = entries_after(git, head_tree, held)?;
    let since = committed
        .iter()
        .filter(|(path, _)| to_commit.contains_key(path) && is_held(path))
        .collect();
    let grown = of_a_turn(git, line.turns, head_tree, since)?;
    edits.base.extend(grown);
    let theirs = edited(workspace, held, &edits.held)?;
    let base = edited(workspace, baseline, &edits.base)?;
    if &base == head_tree {
        return Ok((theirs, edits.whole));
    }
    let conflicts = match git.merge_trees(&base, head_tree, &theirs)? {
        Merged::Clean(tree) => return Ok((tree, edits.whole)),
        Merged::Conflicts(paths) => paths,
    };
    // Where no commit since then touched the path, the session worked on top of what was uncommitted there: the two
    // can't be told apart, and go in together.
    let (real, own): (Vec<_>, Vec<_>) = conflicts.into_iter().partition(|path| {
        let touched = |other: &RepoPath| other.is_within(path) || path.is_within(other);
        committed.keys().any(touched)
    });
    if !real.is_empty() {
        return Err(conflict(&real));
    }
    edits.put_in_whole(git, own, &base, head_tree)?;
    let base = edited(workspace, baseline, &edits.base)?;
    match git.merge_trees(&base, head_tree, &theirs)? {
        Merged::Clean(tree) => Ok((tree, edits.whole)),
        Merged::Conflicts(paths) => Err(conflict(&paths)),
    }
}

/// What is otherwise in the trees that are merged than in turn 0 and in what is held.
#[derive(Default)]
struct Edits {
    base: Entries,
    held: Entries,
    /// The paths that go in with what was uncommitted there before.
    whole: Vec<RepoPath>,
}

impl Edits {
    /// At these paths, the base is as HEAD: all that is held there goes in.
    fn put_in_whole(
        &mut self,
        git: &Git,
        paths: Vec<RepoPath>,
        base: &Oid,
        head_tree: &Oid,
    ) -> Result<()> {
        let in_head: BTreeMap<RepoPath, Entry> = git.tree_entries(head_tree)?.into_iter().collect();
        let in_base = git.tree_entries(base)?;
        for path in paths {
            // Below a folder that took the place of the file, the base has nothing, as HEAD has nothing.
            let below = in_base.iter().map(|(below, _)| below);
            let below = below.filter(|below| below.is_within(&path));
            self.base.extend(below.map(|below| (below.clone(), None)));
            let entry = in_head.get(&path).cloned();
            self.base.insert(path.clone(), entry);
            self.whole.push(path);
        }
        Ok(())
    }
}

/// What lay there untracked before the session began: it is the user's, unless the session changed it. What the user has
/// committed since is the base of what the session made of it.
fn without_untracked(
    git: &Git,
    tree_before: &Oid,
    baseline: &Oid,
    held: &Oid,
    head_tree: &Oid,
) -> Result<Edits> {
    let changed = entries_after(git, baseline, held)?;
    let untracked = git.differences(tree_before, baseline)?.into_iter();
    let untracked: Vec<RepoPath> = untracked
        .filter(|difference| difference.old.is_none())
        .map(|difference| difference.path)
        .collect();
    let committed = git.entries_at(head_tree, &untracked)?.into_iter();
    let committed: BTreeSet<RepoPath> = committed.map(|(path, _)| path).collect();
    let mut edits = Edits::default();
    for path in untracked.into_iter().filter(|p| !committed.contains(p)) {
        edits.base.insert(path.clone(), None);
        match changed.get(&path) {
            Some(Some(_)) => edits.whole.push(path),
            Some(None) => {}
            None => {
                edits.held.insert(path, None);
            }
        }
    }
    Ok(edits)
}

/// Those of the paths at which HEAD has what one of these turns had: the person has committed the session's own work, and
/// what came after that turn grew from it.
fn of_a_turn(
    git: &Git,
    turns: &[Turn],
    head_tree: &Oid,
    committed: Vec<(&RepoPath, &Option<Entry>)>,
) -> Result<Entries> {
    if committed.is_empty() {
        return Ok(Entries::new());
    }
    // From HEAD to the first turn, and on from each to the next: what many turns leave as it is costs nothing.
    let trees = [head_tree].into_iter().chain(turns.iter().map(|t| &t.tree));
    let steps: Vec<(Oid, Oid)> = trees
        .clone()
        .zip(trees.skip(1))
        .map(|(old, new)| (old.clone(), new.clone()))
        .collect();
    let mut steps = git.differences_of_each(&steps)?.into_iter();
    let Some(first) = steps.next() else {
        return Ok(Entries::new());
    };
    let other_in_first: BTreeSet<RepoPath> = first.into_iter().map(|d| d.path).collect();
    let mut brought: BTreeMap<RepoPath, Vec<Option<Entry>>> = BTreeMap::new();
    for difference in steps.flatten() {
        brought
            .entry(difference.path)
            .or_default()
            .push(difference.new);
    }
    let is_of_one = |(path, entry): &(&RepoPath, &Option<Entry>)| {
        !other_in_first.contains(*path) || brought.get(*path).is_some_and(|had| had.contains(entry))
    };
    let found = committed.into_iter().filter(is_of_one);
    Ok(found
        .map(|(path, entry)| (path.clone(), entry.clone()))
        .collect())
}

/// The paths that differ between two trees, with what the second has there.
fn entries_after(git: &Git, old: &Oid, new: &Oid) -> Result<Entries> {
    let differences = git.differences(old, new)?;
    Ok(differences.into_iter().map(|d| (d.path, d.new)).collect())
}

/// The tree of the commit that the session began on.
fn tree_before(workspace: &Locked, baseline: &Turn) -> Result<Oid> {
    super::super::baseline::head_tree(workspace, &baseline.note.head)
}

fn conflict(paths: &[RepoPath]) -> Error {
    Error::refused("commits made since the session began changed the same lines")
        .because(in_conflict(paths))
        .hint("put them together in the work tree, then: edio accept --all (it commits the work tree as it is)")
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
