//! What a scan leaves behind: the cache from which the next one starts.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::error::{Result, While};
use crate::gitengine::{FileStamp, RepoPath};

use super::super::skipped::Why;
use super::super::state::Cache;
use super::super::workspace::Locked;
use super::base::{Base, cached_index};
use super::gate::{self, Passed};
use super::{Scan, looking};

impl Scan {
    /// Is the path in the index that it leaves behind?
    fn holds(&self, path: &RepoPath) -> bool {
        let Passed {
            added,
            carried,
            gone,
            ..
        } = &self.passed;
        added.contains_key(path)
            || carried.contains(path)
            || self.base.has(path) && !gone.contains(path)
    }

    /// The paths that the index has lost and the user's index has.
    fn lost_tracked(&self) -> impl Iterator<Item = &RepoPath> {
        let extras = &self.base.extras;
        let lost = self.passed.gone.iter().chain(&self.base.dropped);
        lost.filter(|path| extras.binary_search(path).is_err())
    }

    /// Has it lost some that the user's index was not asked about yet?
    pub(super) fn has_lost_more(&self) -> bool {
        let mut lost = self.lost_tracked();
        lost.any(|path| !self.base.missed.contains(path))
    }

    /// What is lost in a sparse checkout, and should be there by the user's index: that need not be asked about it again, as
    /// long as it is the same.
    fn missed(&self, workspace: &Locked) -> Result<BTreeSet<RepoPath>> {
        let top = &workspace.git.work_tree;
        // Of what is there git does not tell whether it may be absent.
        let is_away = |path: &&RepoPath| {
            let meta = path.below(top).symlink_metadata();
            meta.is_err_and(|error| gate::is_gone(&error))
        };
        let lost = self.lost_tracked().filter(is_away).cloned();
        let mut lost: BTreeSet<RepoPath> = match workspace.git.is_sparse {
            true => lost.collect(),
            false => BTreeSet::new(),
        };
        if self.base.is_cached() || lost.is_empty() {
            lost.retain(|path| self.base.missed.contains(path));
            return Ok(lost);
        }
        let listing = workspace.git.list_index(&workspace.git.users_index())?;
        let expected = listing.entries.iter().filter(|entry| !entry.skip_worktree);
        let expected: BTreeSet<&RepoPath> = expected.map(|entry| &entry.path).collect();
        lost.retain(|path| expected.contains(path));
        Ok(lost)
    }

    /// Makes what the scan left behind the cache for the next one.
    ///
    /// # Errors
    ///
    /// The git directory can't be written.
    pub fn keep(self, workspace: &mut Locked) -> Result<()> {
        let cached = cached_index(workspace);
        if self.index.file.exists() {
            if self.has_unreadable {
                // To git such a folder is an empty one, also when it can be read in the same second.
                self.index.forget_untracked()?;
            }
            self.index.date(self.started)?;
            replace(&self.index.file, &cached)?;
        }
        let still = looking(workspace, self.started);
        let still = still.still_recent(&workspace.state.recent);
        // What is not in the index is none of the next scan's business: it may be ignored.
        let still = still.filter(|recent| {
            let path = recent.path();
            !self.unseen.contains(path) && self.holds(path)
        });
        let converted = self.on_disk.get().map(|on_disk| &on_disk.recent);
        let recent = self.recent.iter().chain(converted.into_iter().flatten());
        workspace.state.recent = recent.chain(still).cloned().collect();
        let stamp = FileStamp::of(&cached).or_cannot(|| "can't read edio's index".to_owned())?;
        let missed = self.missed(workspace)?;
        workspace.state.cache = stamp.map(|file| self.into_cache(file, missed));
        Ok(())
    }

    fn into_cache(self, file: FileStamp, missed: BTreeSet<RepoPath>) -> Cache {
        let attribute_files = self.attribute_files;
        let rules = self.base.rules_after(&self.passed);
        let unfiltered = self.skipped.into_iter();
        let unfiltered = unfiltered.filter(|skipped| skipped.why == Why::Unfiltered);
        let unfiltered = unfiltered.map(|skipped| skipped.path);
        let Base {
            extras,
            dropped,
            tree,
            ..
        } = self.base;
        let tree = tree.filter(|_| self.edited.is_some());
        let choice = self.choice.in_words();
        let Passed {
            gone,
            added,
            carried,
            kept,
            ..
        } = self.passed;
        let users = |path: &&RepoPath| extras.binary_search(path).is_err();
        let lost = dropped.iter().chain(gone.iter().filter(users));
        let gained = added
            .keys()
            .filter(|path| dropped.binary_search(path).is_err());
        let doubtful = unfiltered.chain(kept).collect();
        let left = extras.iter().filter(|path| !gone.contains(path));
        let sorted = |paths: BTreeSet<&RepoPath>| paths.into_iter().cloned().collect();
        Cache {
            file,
            tree: tree.unwrap_or(self.tree),
            edited: self.edited,
            users_file: self.base.users_file,
            users_digest: self.base.users_digest,
            extras: sorted(left.chain(gained).chain(&carried).collect()),
            dropped: sorted(lost.filter(|path| !added.contains_key(path)).collect()),
            submodules: self.base.submodules,
            attribute_files,
            rules,
            choice,
            flagged: self.base.flagged,
            doubtful,
            missed,
        }
    }
}

/// Renames a file over another. Two names of the same file become one.
fn replace(from: &Path, to: &Path) -> Result<()> {
    let renamed = fs::rename(from, to);
    // Renaming a file over itself does nothing, by the standard: its first name stays.
    let renamed = renamed.and_then(|()| match fs::remove_file(from) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other,
    });
    renamed.or_cannot(|| format!("can't write {}", to.display()))
}
