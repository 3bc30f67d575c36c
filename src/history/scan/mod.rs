//! The scan: the work tree as it is now, as a tree.
//!
//! It works on an index file of edio's own ([`base`] says which one it starts from), asks one `git status` what
//! differs, looks at each of those paths itself ([`gate`]), and has git take in just them. What the scan leaves behind
//! becomes the cache from which the next one starts, if what was made of it succeeded.

mod base;
mod gate;
mod recent;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use crate::error::{Result, While};
use crate::gitengine::{
    Entry, FileStamp, GitError, Head, Oid, PrivateIndex, Processes, RepoPath, Status,
    status_question,
};

use self::base::Base;
pub use self::base::cached_index;
pub use self::gate::TEMPORARY;
use self::gate::{Gate, Passed};
pub use self::recent::{Looking, Recent};
use super::bytes::{self, OnDisk};
use super::skipped::{Skipped, Why};
use super::state::Cache;
use super::workspace::Locked;

/// The work tree as it is now.
pub struct Scan {
    /// As a tree.
    pub tree: Oid,
    /// Where HEAD stands.
    pub head: Head,
    /// What the tree does not hold.
    pub skipped: Vec<Skipped>,
    /// Are there attribute files in the work tree?
    pub attribute_files: bool,
    /// Files that a killed restore left in the work tree. The tree does not hold them.
    pub leftovers: Vec<RepoPath>,
    /// When it began, as the file system tells the time.
    started: SystemTime,
    index: PrivateIndex,
    base: Base,
    passed: Passed,
    /// What was changed just before.
    recent: Vec<Recent>,
    /// What git can't see has changed since the last scan.
    pub unseen: Vec<RepoPath>,
    on_disk: OnceCell<OnDisk>,
}

/// What may hold other bytes than at the last snapshot.
pub enum Touched {
    /// These, and what differs between the trees.
    These(Vec<RepoPath>),
    /// Nothing is known of the last snapshot's files.
    Unknown,
}

/// Looks at the whole work tree.
///
/// # Errors
///
/// git failed in a way that no single path is to blame for, or the git directory can't be written.
pub fn scan(workspace: &Locked) -> Result<Scan> {
    let base = Base::choose(workspace)?;
    let is_cached = base.is_cached();
    match scan_from(workspace, base) {
        // Gone from the disk, or absent since the checkout is sparse? Only the user's index can tell.
        Ok(scan) if is_cached && scan.lost_tracked() && is_sparse(workspace) => {
            scan_from(workspace, Base::users(workspace)?)
        }
        // The cache can stand on objects that are gone. The user's own index does not.
        Err(error) if is_cached => scan_from(workspace, Base::users(workspace)?).map_err(|_| error),
        other => other,
    }
}

fn is_sparse(workspace: &Locked) -> bool {
    workspace.settings.is_true("core.sparsecheckout")
}

fn scan_from(workspace: &Locked, base: Base) -> Result<Scan> {
    let started = workspace.time_of_file_system()?;
    let index = base.lay_out(workspace)?;
    let question = |processes| {
        let ask = status_question(&workspace.git, &workspace.settings, processes);
        ask.index(&index.file).start()
    };
    let status = question(Processes::Asked)?;
    let extras = workspace.git.ask_ignored(&base.extras)?;
    let mut finished = status.finish()?;
    if !finished.status.success() && !workspace.settings.filters().is_empty() {
        // A filter that dies takes git with it.
        finished = question(Processes::LeftOut)?.finish()?;
    }
    if !finished.status.success() {
        return Err(GitError::Exit {
            command: "git status".to_owned(),
            status: finished.status,
            stderr: finished.stderr,
        }
        .into());
    }
    let status = Status::parse(&finished.stdout, &finished.stderr)?;
    let ignored = match extras.ignored() {
        Ok(ignored) => ignored,
        // One of them now lies beyond a link: git answers for none. Those that are still there are asked for again.
        Err(_) => {
            let reachable = gate::without_detours(&workspace.git.work_tree, &base.extras);
            workspace.git.ask_ignored(&reachable)?.ignored()?
        }
    };
    let looking = looking(workspace, started);
    let unseen = looking.changed_since(&workspace.state.recent);
    let mut passed = Gate::new(&workspace.git.work_tree).judge(&status, &base, &unseen, ignored);
    let recent = looking.recent(passed.taken.iter());
    let tree = take_in(workspace, &index, &base, &mut passed)?;
    let are_ruled = || gate::are_ruled(&workspace.git.work_tree, passed.taken.iter());
    Ok(Scan {
        tree,
        attribute_files: base.attribute_files || are_ruled(),
        skipped: passed.skipped.clone(),
        leftovers: passed.leftovers.clone(),
        head: status.head,
        index,
        started,
        base,
        passed,
        recent,
        unseen,
        on_disk: OnceCell::new(),
    })
}

fn looking(workspace: &Locked, started: SystemTime) -> Looking<'_> {
    Looking {
        top: &workspace.git.work_tree,
        format: workspace.git.format,
        started,
    }
}

/// Has git take in what differs. Returns the tree.
///
/// Where git rejects a file that can be read, its filter failed: what no filter could make a blob of is held as it is, as
/// git itself does where the filter may fail.
fn take_in(
    workspace: &Locked,
    index: &PrivateIndex,
    base: &Base,
    passed: &mut Passed,
) -> Result<Oid> {
    if passed.is_nothing()
        && let Some(tree) = &base.tree
    {
        return Ok(tree.clone());
    }
    index.drop_paths(&[&passed.dropped[..], &passed.anew].concat())?;
    for rejected in index.take(&passed.taken, &workspace.settings)? {
        let path = rejected.path;
        let file = path.below(&workspace.git.work_tree);
        match gate::plain_file(&file) {
            Some(mode) => {
                let oid = workspace.git.write_raw_blob(&path)?;
                index.set(&[(path.clone(), Some(Entry { mode, oid }))])?;
                passed.skipped.push(Skipped::new(path, Why::Unfiltered));
            }
            None => {
                passed.taken.retain(|other| other != &path);
                passed.added.remove(&path);
                passed.gone.insert(path.clone());
                index.drop_paths(std::slice::from_ref(&path))?;
                passed.skipped.push(Skipped::new(path, Why::Rejected));
            }
        }
    }
    Ok(index.write_tree()?)
}

impl Scan {
    /// What stands on disk behind conversions, looked at once.
    ///
    /// # Errors
    ///
    /// git failed, or a file that git could read can't be read any more.
    pub fn on_disk(&self, workspace: &Locked) -> Result<&OnDisk> {
        if let Some(on_disk) = self.on_disk.get() {
            return Ok(on_disk);
        }
        let found = bytes::of_scan(workspace, self)?;
        Ok(self.on_disk.get_or_init(|| found))
    }

    /// How files are looked at that were changed just before this scan.
    pub fn looking<'a>(&self, workspace: &'a Locked) -> Looking<'a> {
        looking(workspace, self.started)
    }

    /// The files whose time stamps are not those of the last snapshot.
    ///
    /// git reads such a file, and where its conversion gives the same blob as before, tells nobody.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn touched(&self, workspace: &Locked) -> Result<Touched> {
        let cached = cached_index(workspace);
        if !self.base.is_after_last {
            return Ok(Touched::Unknown);
        }
        let stamp =
            |file: &Path| FileStamp::of(file).or_cannot(|| "can't read edio's index".into());
        // git writes an index only where it has seen something new.
        let is_same = self.base.is_cached() && stamp(&self.index.file)? == stamp(&cached)?;
        Ok(Touched::These(match is_same {
            true => Vec::new(),
            false => workspace.git.touched_since(&cached, &workspace.settings)?,
        }))
    }

    /// Has the index lost paths that the user's index has?
    fn lost_tracked(&self) -> bool {
        let extras = &self.base.extras;
        let mut lost = self.passed.gone.iter().chain(&self.base.dropped);
        lost.any(|path| extras.binary_search(path).is_err())
    }

    /// Makes what the scan left behind the cache for the next one.
    ///
    /// # Errors
    ///
    /// The git directory can't be written.
    pub fn keep(self, workspace: &mut Locked) -> Result<()> {
        let cached = cached_index(workspace);
        if self.index.file.exists() {
            self.index.date(self.started)?;
            replace(&self.index.file, &cached)?;
        }
        let still = looking(workspace, self.started);
        let still = still.still_recent(&workspace.state.recent);
        // What has left the index is none of the next scan's business: it may be ignored.
        let still = still.filter(|recent| {
            !self.unseen.contains(recent.path()) && !self.passed.gone.contains(recent.path())
        });
        let converted = self.on_disk.get().map(|on_disk| &on_disk.recent);
        let recent = self.recent.iter().chain(converted.into_iter().flatten());
        workspace.state.recent = recent.chain(still).cloned().collect();
        let stamp = FileStamp::of(&cached).or_cannot(|| "can't read edio's index".to_owned())?;
        workspace.state.cache = stamp.map(|file| self.into_cache(file));
        Ok(())
    }

    fn into_cache(self, file: FileStamp) -> Cache {
        let attribute_files = self.attribute_files;
        let unfiltered = self.skipped.into_iter();
        let unfiltered = unfiltered.filter(|skipped| skipped.why == Why::Unfiltered);
        let unfiltered = unfiltered.map(|skipped| skipped.path).collect();
        let Base {
            extras, dropped, ..
        } = self.base;
        let Passed { gone, added, .. } = self.passed;
        let users = |path: &&RepoPath| extras.binary_search(path).is_err();
        let lost = dropped.iter().chain(gone.iter().filter(users));
        let gained = added
            .iter()
            .filter(|path| dropped.binary_search(path).is_err());
        let kept = extras.iter().filter(|path| !gone.contains(path));
        let sorted = |paths: BTreeSet<&RepoPath>| paths.into_iter().cloned().collect();
        Cache {
            file,
            tree: self.tree,
            users_file: self.base.users_file,
            users_digest: self.base.users_digest,
            extras: sorted(kept.chain(gained).collect()),
            dropped: sorted(lost.filter(|path| !added.contains(path)).collect()),
            submodules: self.base.submodules,
            attribute_files,
            flagged: self.base.flagged,
            unfiltered,
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
