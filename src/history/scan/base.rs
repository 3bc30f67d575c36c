//! The index that a scan starts from: the one that the last scan left behind where it still fits, else a copy of the
//! user's. Never one made from HEAD: that knows nothing of the files on disk, and git would read all of them.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use bstr::ByteSlice;

use crate::error::{Error, Result, While};
use crate::gitengine::{FileStamp, GitError, Listing, Mode, Oid, PrivateIndex, RepoPath};

use super::super::choice::{Choice, matched};
use super::super::limits::current_tree;
use super::super::workspace::Locked;
use super::edited::Edited;
use super::gate::{Passed, are_ruled};

/// What a scan starts from.
pub struct Base {
    source: Source,
    /// The tree of that index, where it is known.
    pub tree: Option<Oid>,
    /// The files that the last snapshot or look had otherwise than that index.
    pub edited: Option<Edited>,
    /// Is there a cache that stands for where the session is, be it started from or not?
    pub is_after_last: bool,
    /// Paths in it that the user's index lacks.
    pub extras: Vec<RepoPath>,
    /// Paths that the user's index has and it lacks, those among them that are excluded, or that a snapshot has found deleted.
    pub dropped: Vec<RepoPath>,
    /// Submodules.
    pub submodules: Vec<RepoPath>,
    /// Are there attribute files among its paths, or beside them?
    pub attribute_files: bool,
    /// Those among its paths.
    rules: Vec<RepoPath>,
    /// Paths that the user told git not to expect on disk.
    pub flagged: Vec<RepoPath>,
    /// Paths that it has otherwise than git would take them from the disk: their filter failed, or they could not be held.
    pub doubtful: Vec<RepoPath>,
    /// Of what it lacks: what the user's index was asked about in a sparse checkout, and said should be there.
    pub missed: BTreeSet<RepoPath>,
    /// The user's index file.
    pub users_file: Option<FileStamp>,
    /// What the user's index says.
    pub users_digest: String,
}

enum Source {
    Cache,
    /// With the paths that git is told to take for unchanged, and all paths.
    Users {
        assumed: Vec<RepoPath>,
        all: HashSet<RepoPath>,
    },
}

impl Base {
    /// Does this stand for where the session is? Then what the work tree has otherwise is new to edio; after a restore most
    /// of it is not.
    pub fn is_where_it_stands(&self, workspace: &Locked) -> bool {
        let last = self.edited.as_ref().map(|edited| &edited.tree);
        let stands = workspace.pointed.as_ref().map(|pointed| &pointed.tree);
        last.or(self.tree.as_ref()) == stands
    }

    /// The cache where it fits, else the user's index.
    ///
    /// It fits if no other tool has moved the session since it was written, and the user's index and what the person has
    /// chosen to hold say the same as then.
    ///
    /// # Errors
    ///
    /// git failed, or an index can't be read.
    pub fn choose(workspace: &Locked, choice: &Choice) -> Result<Self> {
        let state = &workspace.state;
        let standing = state.session.as_ref().map(|session| &session.current);
        let pointed = workspace.pointed.as_ref().map(|pointed| &pointed.commit);
        let stamp = FileStamp::of(&cached_index(workspace));
        let fitting = state.cache.as_ref().filter(|cache| {
            let stamp = stamp.as_ref().ok().and_then(Option::as_ref);
            standing.is_some()
                && standing == pointed
                && cache.choice == choice.in_words()
                && stamp.is_some_and(|stamp| stamp.is_same_content(&cache.file))
        });
        let Some(cache) = fitting else {
            return Self::users(workspace, choice);
        };
        let users_file = users_file(workspace)?;
        if users_file != cache.users_file {
            let listing = list(workspace, &users_file)?;
            if listing.digest != cache.users_digest {
                return Ok(Self {
                    is_after_last: true,
                    ..Self::of_users(workspace, listing, users_file, choice)?
                });
            }
        }
        Ok(Self {
            source: Source::Cache,
            is_after_last: true,
            tree: Some(cache.tree.clone()),
            edited: cache.edited.clone(),
            extras: cache.extras.clone(),
            dropped: cache.dropped.clone(),
            submodules: cache.submodules.clone(),
            attribute_files: cache.attribute_files,
            rules: cache.rules.clone(),
            flagged: cache.flagged.clone(),
            doubtful: cache.doubtful.clone(),
            missed: cache.missed.clone(),
            users_file,
            users_digest: cache.users_digest.clone(),
        })
    }

    /// The user's index.
    ///
    /// # Errors
    ///
    /// git failed, or the index can't be read.
    pub fn users(workspace: &Locked, choice: &Choice) -> Result<Self> {
        let users_file = users_file(workspace)?;
        let listing = list(workspace, &users_file)?;
        Self::of_users(workspace, listing, users_file, choice)
    }

    fn of_users(
        workspace: &Locked,
        listing: Listing,
        users_file: Option<FileStamp>,
        choice: &Choice,
    ) -> Result<Self> {
        let all = listing.entries.iter().map(|entry| &entry.path);
        let paths = |wanted: fn(&crate::gitengine::IndexEntry) -> bool| {
            let entries = listing.entries.iter().filter(|entry| wanted(entry));
            entries.map(|entry| entry.path.clone()).collect::<Vec<_>>()
        };
        let files = paths(|e| e.mode != Mode::Gitlink);
        let rules = paths(|e| is_rule(&e.path));
        let flagged = paths(|e| e.skip_worktree);
        let mut dropped = matched(workspace, &choice.exclude, &files)?;
        dropped.extend(deleted_before(workspace, &flagged)?);
        Ok(Self {
            source: Source::Users {
                assumed: paths(|e| e.assume_unchanged),
                all: all.clone().cloned().collect(),
            },
            flagged,
            is_after_last: false,
            tree: None,
            edited: None,
            extras: Vec::new(),
            dropped: dropped.into_iter().collect(),
            doubtful: Vec::new(),
            missed: BTreeSet::new(),
            submodules: paths(|e| e.mode == Mode::Gitlink),
            attribute_files: are_ruled(&workspace.git.work_tree, all.clone()) || !rules.is_empty(),
            rules,
            users_file,
            users_digest: listing.digest,
        })
    }

    /// Is it a path that the user's index lacks?
    pub fn is_extra(&self, path: &RepoPath) -> bool {
        self.extras.binary_search(path).is_ok()
    }

    /// Is it the index that the last scan left behind?
    pub fn is_cached(&self) -> bool {
        matches!(self.source, Source::Cache)
    }

    /// Is the path in that index? Of the cache's paths those are asked for that it had when it was made.
    pub fn has(&self, path: &RepoPath) -> bool {
        match &self.source {
            Source::Cache => true,
            Source::Users { all, .. } => {
                all.contains(path) && self.dropped.binary_search(path).is_err()
            }
        }
    }

    /// The attribute files that are on disk no more. Where one is missing, git goes by what the index has of it: so it has
    /// to, where it is told not to expect the file.
    pub fn lost_rules(&self, top: &Path) -> BTreeSet<RepoPath> {
        let is_expected = |path: &RepoPath| !self.flagged.contains(path) && self.has(path);
        let is_lost =
            |path: &&RepoPath| path.below(top).symlink_metadata().is_err() && is_expected(path);
        self.rules.iter().filter(is_lost).cloned().collect()
    }

    /// The attribute files in the index that was made from it.
    pub fn rules_after(&self, passed: &Passed) -> Vec<RepoPath> {
        let added = passed.added.keys().filter(|path| is_rule(path));
        let rules = self
            .rules
            .iter()
            .filter(|path| !passed.gone.contains(*path));
        let rules: BTreeSet<&RepoPath> = rules.chain(added).collect();
        rules.into_iter().cloned().collect()
    }

    /// Lays the index out where the scan may work on it.
    ///
    /// # Errors
    ///
    /// git failed, or the git directory can't be written.
    pub fn lay_out(&self, workspace: &Locked) -> Result<PrivateIndex> {
        let file = workspace.scratch().join("index.scan");
        let index = PrivateIndex::at(&workspace.git, file);
        match &self.source {
            Source::Cache => index.link_from(&cached_index(workspace))?,
            Source::Users { assumed, .. } => {
                index.copy_from(&workspace.git.users_index())?;
                index.flag("--no-assume-unchanged", assumed)?;
                index.drop_paths(&self.dropped)?;
            }
        }
        // Both flags hide edits from git, and each takes a run of its own: given together, git obeys only one. A file that
        // is absent by its flag is not deleted, and keeps it. In a sparse checkout git looks for itself.
        let is_new = matches!(self.source, Source::Users { .. });
        if is_new || !workspace.git.is_sparse {
            let top = &workspace.git.work_tree;
            let there = |path: &&RepoPath| path.below(top).symlink_metadata().is_ok();
            let there: Vec<_> = self.flagged.iter().filter(there).cloned().collect();
            index.flag("--no-skip-worktree", &there)?;
        }
        Ok(index)
    }
}

fn is_rule(path: &RepoPath) -> bool {
    path.name() == b".gitattributes"
}

/// Those of the paths that git is told not to expect on disk which a snapshot has found deleted: not there, and not in the
/// snapshot before. In a sparse checkout git itself says which are absent.
fn deleted_before(workspace: &Locked, flagged: &[RepoPath]) -> Result<Vec<RepoPath>> {
    if flagged.is_empty() || workspace.git.is_sparse {
        return Ok(Vec::new());
    }
    let Some(tree) = current_tree(workspace)? else {
        return Ok(Vec::new());
    };
    let held = workspace.git.entries_at(&tree, flagged)?.into_iter();
    let held: BTreeSet<RepoPath> = held.map(|(path, _)| path).collect();
    let top = &workspace.git.work_tree;
    let is_there = |path: &RepoPath| path.below(top).symlink_metadata().is_ok();
    let lacking = flagged.iter().filter(|path| !held.contains(path));
    Ok(lacking.filter(|path| !is_there(path)).cloned().collect())
}

/// The index that the last scan left behind.
pub fn cached_index(workspace: &Locked) -> PathBuf {
    workspace.scratch().join("index")
}

fn users_file(workspace: &Locked) -> Result<Option<FileStamp>> {
    FileStamp::of(&workspace.git.users_index()).or_cannot(|| "can't read the index".to_owned())
}

/// Why the user's index can't be read, with the way out.
pub fn unreadable_index(workspace: &Locked, error: GitError) -> Error {
    let index = workspace.git.users_index();
    match error {
        GitError::Exit { .. } if error.stderr().contains_str("index file") => {
            Error::cannot(format!("git can't read its index, {}", index.display()))
                .because(error)
                .hint("move that file away, then: git reset; what was staged is lost, your files and turns are not")
        }
        error => error.into(),
    }
}

fn list(workspace: &Locked, users_file: &Option<FileStamp>) -> Result<Listing> {
    let index = workspace.git.users_index();
    match users_file {
        Some(_) => workspace
            .git
            .list_index(&index)
            .map_err(|error| unreadable_index(workspace, error)),
        None => Ok(Listing {
            entries: Vec::new(),
            digest: String::new(),
        }),
    }
}
