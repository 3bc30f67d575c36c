//! The user's own index, in the one case where edio changes it: after a commit, where the commit changed something.
//!
//! The lock is a second name of a file of edio's. So a lock that a killed edio left is known by its inode; one of
//! anybody else's is never touched.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;

use crate::error::{Result, While};
use crate::gitengine::{Difference, Entry, IndexEntry, Mode, Oid, PrivateIndex, RepoPath};

use super::super::gitlock::{PAUSE, TRIES, held};
use super::super::ops::{self, Operation};
use super::super::restore::clear_folder;
use super::super::side::{self, Part};
use super::super::workspace::{Locked, Workspace};
use super::staged::{Changed, Unstaged, UnstagedPath, entries_before, is_other_content};

/// git's lock on the user's index. Dropped, it is given back, with the index as it was unless [`IndexLock::finish`] ran.
pub struct IndexLock {
    own: PathBuf,
    lock: PathBuf,
    index: PrivateIndex,
    /// The user's index.
    users: PathBuf,
}

impl IndexLock {
    /// Takes the lock, waiting a little for others.
    ///
    /// # Errors
    ///
    /// Another process holds it.
    pub fn take(workspace: &Locked) -> Result<Self> {
        let (own, lock, users) = lock_files(workspace);
        remove_dead(&own, &lock)?;
        File::create(&own).or_cannot(|| format!("can't write {}", own.display()))?;
        for tried in 0.. {
            match fs::hard_link(&own, &lock) {
                Ok(()) => break,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tried < TRIES => {
                    sleep(PAUSE);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    return Err(held(workspace, "the index", &lock));
                }
                Err(error) => {
                    return Err(error).or_cannot(|| format!("can't write {}", lock.display()));
                }
            }
        }
        Ok(Self {
            index: PrivateIndex::at(&workspace.git, workspace.scratch().join("index.user")),
            users,
            own,
            lock,
        })
    }

    /// Makes the index that the user's is to become: where the commit changed something, it has what the commit has; where
    /// an accept is made again and nothing was staged since its undo, what it had before that.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn prepare(
        &self,
        workspace: &Locked,
        operation: &Operation,
        changes: &[Difference],
    ) -> Result<()> {
        match before_undo(workspace, operation, changes)? {
            Some(entries) => self.set_saved(workspace, entries, changes),
            None => self.set_committed(workspace, changes),
        }
    }

    /// The same for an accept that a killed process left in the middle, where the index is still as it was before.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn prepare_what_is_left(
        &self,
        workspace: &Locked,
        operation: &Operation,
        changes: Vec<Difference>,
    ) -> Result<()> {
        let before_undo = before_undo(workspace, operation, &changes)?;
        let (before, now) = (
            entries_before(workspace, operation)?,
            self.entries(workspace)?,
        );
        let (untouched, touched) = split(&before, &now, changes);
        match before_undo {
            Some(entries) if touched.is_empty() => self.set_saved(workspace, entries, &untouched),
            // It was put in place already, or has been used since.
            Some(_) => Ok(self.index.copy_from(&self.users)?),
            None => self.set_committed(workspace, &untouched),
        }
    }

    fn set_committed(&self, workspace: &Locked, changes: &[Difference]) -> Result<()> {
        self.index.copy_from(&self.users)?;
        let flagged = self.entries(workspace)?;
        let entries: Vec<_> = changes
            .iter()
            .map(|change| (change.path.clone(), change.new.clone()))
            .collect();
        self.index.set(&entries)?;
        let stay: BTreeSet<&RepoPath> = changes
            .iter()
            .filter(|change| change.new.is_some())
            .map(|change| &change.path)
            .collect();
        let kept = flagged
            .into_iter()
            .filter(|entry| stay.contains(&entry.path));
        self.set_flags(&kept.collect::<Vec<_>>())?;
        Ok(self.index.refresh()?)
    }

    /// Makes the index that the user's is to become when an accept is taken back: where its commit changed something, the
    /// entries are as before.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn prepare_back(
        &self,
        workspace: &Locked,
        operation: &Operation,
        changes: &[Difference],
    ) -> Result<()> {
        let before = entries_before(workspace, operation)?.into_iter();
        let before = before.filter_map(|entry| remembered(entry, changes));
        self.set_saved(workspace, before.collect(), changes)
    }

    /// The same for an undo that a killed process left in the middle: what was staged since stays. Returns where that is so.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn prepare_what_is_left_back(
        &self,
        workspace: &Locked,
        accept: &Operation,
        undo: &Operation,
        changes: &[Difference],
    ) -> Result<Vec<RepoPath>> {
        let (before, now) = (entries_before(workspace, undo)?, self.entries(workspace)?);
        let (untouched, touched) = split(&before, &now, changes.to_vec());
        let touched: BTreeSet<RepoPath> = touched.into_iter().map(|it| it.path).collect();
        let folders: BTreeSet<RepoPath> = touched.iter().flat_map(RepoPath::ancestors).collect();
        let is_beside = |path: &RepoPath| {
            let is_in_one = path.ancestors().any(|folder| touched.contains(&folder));
            !is_in_one && !touched.contains(path) && !folders.contains(path)
        };
        let before = entries_before(workspace, accept)?;
        let entries = before.iter().filter(|entry| is_beside(&entry.path));
        let entries = entries.filter_map(|entry| remembered(entry.clone(), changes));
        self.set_saved(workspace, entries.collect(), &untouched)?;
        let (before, now) = (by_path(&before), by_path(&now));
        let is_other = |path: &RepoPath| before.get(path) != now.get(path);
        Ok(touched.into_iter().filter(is_other).collect())
    }

    /// Where the commit changed something, the entries become these.
    fn set_saved(
        &self,
        workspace: &Locked,
        entries: Vec<IndexEntry>,
        changes: &[Difference],
    ) -> Result<()> {
        self.index.copy_from(&self.users)?;
        let gone: Vec<_> = changes
            .iter()
            .map(|change| (change.path.clone(), None))
            .collect();
        self.index.set(&gone)?;
        let (announced, listed): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| entry.intent_to_add);
        self.index.set_listed(&listed)?;
        self.announce(workspace, &announced)?;
        self.set_flags(&listed)?;
        self.set_flags(&announced)?;
        Ok(self.index.refresh()?)
    }

    /// Sets entries that only announce files. On disk there may be none by now, or a folder: git is shown empty ones.
    fn announce(&self, workspace: &Locked, entries: &[IndexEntry]) -> Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let stage = workspace.scratch().join("stage");
        clear_folder(&stage)?;
        for entry in entries {
            let file = entry.path.below(&stage);
            let folder = file.parent().unwrap_or(&stage);
            fs::create_dir_all(folder)
                .and_then(|()| make_empty(&file, entry.mode))
                .or_cannot(|| format!("can't write {}", file.display()))?;
        }
        let paths: Vec<RepoPath> = entries.iter().map(|entry| entry.path.clone()).collect();
        self.index.announce(&stage, &paths)?;
        fs::remove_dir_all(&stage).or_cannot(|| format!("can't remove {}", stage.display()))
    }

    /// Leaves out of what goes what the index that the user's is to become has staged again.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn leave_out_staged_again(
        &self,
        workspace: &Locked,
        unstaged: &mut Unstaged,
        changes: &[Difference],
    ) -> Result<()> {
        if unstaged.paths.is_empty() {
            return Ok(());
        }
        let entries = workspace.git.list_index(&self.index.file)?.entries;
        let entries = by_path(&entries);
        let is_as_committed = |path: &RepoPath| {
            let committed = changes.iter().find(|change| &change.path == path);
            let committed = committed.and_then(|change| change.new.as_ref());
            let now = entries.get(path).and_then(|entries| entries.first());
            now.map(|entry| &entry.oid) == committed.map(|entry| &entry.oid)
        };
        unstaged.paths.retain(|it| is_as_committed(&it.path));
        Ok(())
    }

    /// What the user's index has otherwise than the accept left it, where its commit changed something; and what it has in
    /// the way of that, a folder where there was a file or the other way round, and the prepared one has not.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn staged_since(
        &self,
        workspace: &Locked,
        accept: &Operation,
        changes: &[Difference],
    ) -> Result<Vec<UnstagedPath>> {
        let before = entries_before(workspace, accept)?;
        let entries = self.entries(workspace)?;
        let (before, now) = (by_path(&before), by_path(&entries));
        let mut staged = self.displaced(workspace, &entries, changes)?;
        for change in changes {
            let had = before.get(&change.path).map_or(&[][..], Vec::as_slice);
            let has = now.get(&change.path).map_or(&[][..], Vec::as_slice);
            if !has.iter().eq(as_accepted(change, had).iter()) {
                let part = has.iter().find(|entry| is_other_content(entry, change));
                staged.push(UnstagedPath {
                    path: change.path.clone(),
                    part: part.map(|entry| Part::of_stage(entry.stage)),
                });
            }
        }
        staged.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(staged)
    }

    /// What these entries of the user's index have beside the changed paths, and the prepared index has not.
    fn displaced(
        &self,
        workspace: &Locked,
        entries: &[IndexEntry],
        changes: &[Difference],
    ) -> Result<Vec<UnstagedPath>> {
        let changed = Changed::by(changes);
        let beside = entries.iter().filter(|it| changed.is_beside(&it.path));
        let beside: Vec<&IndexEntry> = beside.collect();
        if beside.is_empty() {
            return Ok(Vec::new());
        }
        let prepared = workspace.git.list_index(&self.index.file)?.entries;
        let prepared: BTreeSet<_> = prepared.iter().map(content).collect();
        let gone = beside
            .into_iter()
            .filter(|entry| !prepared.contains(&content(entry)));
        Ok(gone.map(UnstagedPath::of).collect())
    }

    fn entries(&self, workspace: &Locked) -> Result<Vec<IndexEntry>> {
        Ok(match self.users.exists() {
            true => workspace.git.list_index(&self.users)?.entries,
            false => Vec::new(),
        })
    }

    /// Setting an entry drops its flags. They are the user's, and a sparse checkout stands on them.
    fn set_flags(&self, flagged: &[IndexEntry]) -> Result<()> {
        let with = |flag: fn(&IndexEntry) -> bool| -> Vec<RepoPath> {
            let entries = flagged.iter().filter(|entry| flag(entry));
            entries.map(|entry| entry.path.clone()).collect()
        };
        self.index
            .flag("--skip-worktree", &with(|e| e.skip_worktree))?;
        Ok(self
            .index
            .flag("--assume-unchanged", &with(|e| e.assume_unchanged))?)
    }

    /// Puts the new index in place, and gives the lock back.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn finish(self) -> Result<()> {
        let placed = match fs::rename(&self.index.file, &self.users) {
            // Where there was no index, git writes none to have nothing in it.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !self.users.exists() => Ok(()),
            placed => placed,
        };
        placed.or_cannot(|| "the commit is made, but the index can't be written".to_owned())
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        // What is left of these is recognised and removed by the next accept.
        let _ = fs::remove_file(&self.lock);
        let _ = fs::remove_file(&self.own);
        let _ = self.index.remove();
    }
}

/// Removes the lock that a killed edio left on the user's index, if there is one.
///
/// # Errors
///
/// The system refuses.
pub fn remove_dead_lock(workspace: &Locked) -> Result<()> {
    let (own, lock, _) = lock_files(workspace);
    remove_dead(&own, &lock)
}

/// The lock on the user's index, whoever takes it.
pub fn index_lock(workspace: &Workspace) -> PathBuf {
    lock_files(workspace).1
}

/// Is it edio that has locked the user's index? It does so while it works here, or was killed at it.
pub fn has_locked(workspace: &Workspace) -> bool {
    let (own, lock, _) = lock_files(workspace);
    is_same_file(&own, &lock)
}

/// edio's own file, the lock that is its other name, and the index.
fn lock_files(workspace: &Workspace) -> (PathBuf, PathBuf, PathBuf) {
    let own = workspace.scratch().join("index.lock.edio");
    // git follows a link to the index, and so must the lock.
    let users = workspace.git.users_index();
    let users = fs::canonicalize(&users).unwrap_or(users);
    let mut lock = users.clone().into_os_string();
    lock.push(".lock");
    (own, PathBuf::from(lock), users)
}

/// Removes a lock that a killed edio left: it is another name of edio's own file.
fn remove_dead(own: &PathBuf, lock: &PathBuf) -> Result<()> {
    if is_same_file(own, lock) {
        fs::remove_file(lock).or_cannot(|| format!("can't remove {}", lock.display()))?;
    }
    match fs::remove_file(own) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).or_cannot(|| format!("can't remove {}", own.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn is_same_file(one: &PathBuf, other: &PathBuf) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (fs::symlink_metadata(one), fs::symlink_metadata(other)) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_same_file(_: &PathBuf, _: &PathBuf) -> bool {
    false
}

#[cfg(unix)]
fn make_empty(file: &Path, mode: Mode) -> io::Result<()> {
    use std::os::unix::fs::{OpenOptionsExt, symlink};
    if mode == Mode::Symlink {
        return symlink("nowhere", file);
    }
    let bits = if mode == Mode::Executable {
        0o755
    } else {
        0o644
    };
    let mut options = File::options();
    let made = options.write(true).create_new(true).mode(bits).open(file);
    made.map(drop)
}

#[cfg(not(unix))]
fn make_empty(file: &Path, _: Mode) -> io::Result<()> {
    File::create_new(file).map(drop)
}

/// An entry as it was before an accept. Of one that was staged and is forgotten, what HEAD had.
fn remembered(entry: IndexEntry, changes: &[Difference]) -> Option<IndexEntry> {
    if !entry.oid.is_null() {
        return Some(entry);
    }
    let change = changes.iter().find(|change| change.path == entry.path);
    let Entry { mode, oid } = change?.old.clone().filter(|_| entry.stage == 0)?;
    Some(IndexEntry { mode, oid, ..entry })
}

/// The changes in two parts: those whose entry in the index is now as it was before, and the others.
fn split(
    before: &[IndexEntry],
    now: &[IndexEntry],
    changes: Vec<Difference>,
) -> (Vec<Difference>, Vec<Difference>) {
    let (before, now) = (by_path(before), by_path(now));
    let same = |change: &Difference| before.get(&change.path) == now.get(&change.path);
    changes.into_iter().partition(same)
}

/// The entries by their paths, as a listing tells them.
fn by_path(entries: &[IndexEntry]) -> BTreeMap<&RepoPath, Vec<IndexEntry>> {
    let mut by_path: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for entry in entries {
        let listed = IndexEntry {
            intent_to_add: false,
            ..entry.clone()
        };
        by_path.entry(&entry.path).or_default().push(listed);
    }
    by_path
}

/// What an entry has staged, and where.
fn content(entry: &IndexEntry) -> (&RepoPath, u8, &Oid) {
    (&entry.path, entry.stage, &entry.oid)
}

/// The entry that an accept leaves in the index, where these were before.
fn as_accepted(change: &Difference, before: &[IndexEntry]) -> Option<IndexEntry> {
    let new = change.new.as_ref()?;
    Some(IndexEntry {
        mode: new.mode,
        oid: new.oid.clone(),
        stage: 0,
        skip_worktree: before.iter().any(|entry| entry.skip_worktree),
        assume_unchanged: before.iter().any(|entry| entry.assume_unchanged),
        intent_to_add: false,
        path: change.path.clone(),
    })
}

/// For an accept that is made again: the entries as they were before its undo, where they are now as that left them.
fn before_undo(
    workspace: &Locked,
    again: &Operation,
    changes: &[Difference],
) -> Result<Option<Vec<IndexEntry>>> {
    let operation = |id: &Option<Oid>| match id {
        Some(id) => ops::of_commit(workspace, id),
        None => Ok(None),
    };
    let Some(undo) = operation(&again.undoes)? else {
        return Ok(None);
    };
    let Some(accept) = operation(&undo.undoes)? else {
        return Ok(None);
    };
    let Some(side) = &undo.side else {
        return Ok(None);
    };
    let entries = side::index_entries(workspace, side)?;
    let left = left_by_undo(entries_before(workspace, &accept)?, &entries, changes);
    if entries_before(workspace, again)? != left {
        return Ok(None);
    }
    // Of what is forgotten since, the commit has what there is.
    Ok(are_kept(workspace, &entries, side, changes)?.then_some(entries))
}

/// The entries that the undo of an accept leaves, where it puts these back and there were those: what does not stand in the
/// way stays.
fn left_by_undo(
    mut put_back: Vec<IndexEntry>,
    there: &[IndexEntry],
    changes: &[Difference],
) -> Vec<IndexEntry> {
    let changed = Changed::by(changes);
    let paths: BTreeSet<RepoPath> = put_back.iter().map(|entry| entry.path.clone()).collect();
    let folders: BTreeSet<RepoPath> = paths.iter().flat_map(RepoPath::ancestors).collect();
    let stays = |path: &RepoPath| {
        let is_in_one = path.ancestors().any(|folder| paths.contains(&folder));
        changed.is_beside(path) && !is_in_one && !paths.contains(path) && !folders.contains(path)
    };
    let stay = there.iter().filter(|entry| stays(&entry.path));
    put_back.extend(stay.cloned());
    put_back.sort_by(|one, other| (&one.path, one.stage).cmp(&(&other.path, other.stage)));
    put_back
}

/// Has the commit, the one before it or the side commit the content of all these entries?
fn are_kept(
    workspace: &Locked,
    entries: &[IndexEntry],
    side: &Oid,
    changes: &[Difference],
) -> Result<bool> {
    let sides = changes.iter().flat_map(|it| [&it.old, &it.new]).flatten();
    let committed: BTreeSet<&Oid> = sides.map(|entry| &entry.oid).collect();
    let saved = workspace.git.tree_entries(side)?;
    let saved: BTreeSet<&Oid> = saved.iter().map(|(_, entry)| &entry.oid).collect();
    let is_kept = |oid| committed.contains(oid) || saved.contains(oid);
    let mut entries = entries.iter();
    Ok(entries.all(|entry| entry.intent_to_add || is_kept(&entry.oid)))
}
