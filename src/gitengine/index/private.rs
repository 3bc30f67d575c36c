//! An index file of edio's own: how it comes to be, and how its entries are changed.
//!
//! A copy keeps the modification time of its source. With a newer one git would trust entries whose file was changed
//! within the same clock tick as the index, and miss edits that keep the size.

use std::fs::{self, File, FileTimes};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{IndexEntry, NO_CHECKSUM, remove_if_there};
use crate::gitengine::command::{Ask, Git};
use crate::gitengine::error::{GitError, Result};
use crate::gitengine::objects::{Entry, ONLY_HASHED, Oid, one_oid};
use crate::gitengine::paths::RepoPath;

/// An index file that is not the user's.
#[derive(Clone)]
pub struct PrivateIndex {
    pub(super) git: Git,
    /// Where it is.
    pub file: PathBuf,
}

impl PrivateIndex {
    /// An index at this place; a file there is one that edio made.
    pub fn at(git: &Git, file: PathBuf) -> Self {
        Self {
            git: git.clone(),
            file,
        }
    }

    /// Removes the file, and the lock on it that a killed git has left: nobody else works on it.
    fn clear(&self) -> io::Result<()> {
        let mut lock = self.file.clone().into_os_string();
        lock.push(".lock");
        remove_if_there(Path::new(&lock)).and_then(|()| remove_if_there(&self.file))
    }

    /// Makes it a copy of another index, modification time included. Where there is no other, it is empty.
    ///
    /// # Errors
    ///
    /// Reading or writing failed.
    pub fn copy_from(&self, source: &Path) -> Result<()> {
        let copied = self
            .clear()
            .and_then(|()| copy_with_time(source, &self.file));
        match copied {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !source.exists() => Ok(()),
            other => other.map_err(|e| GitError::file(format!("copying {}", source.display()), e)),
        }
    }

    /// Makes it another name of an index of edio's own.
    ///
    /// git never writes an index in place: the other name keeps what it has.
    ///
    /// # Errors
    ///
    /// Neither a link nor a copy could be made.
    pub fn link_from(&self, source: &Path) -> Result<()> {
        let linked = self
            .clear()
            .and_then(|()| fs::hard_link(source, &self.file));
        linked.or_else(|_| self.copy_from(source))
    }

    /// Sets the modification time to the start of the scan that confirmed every entry.
    ///
    /// git distrusts entries whose file is as new as the index, and reads those files. With the start of the scan, a
    /// file that was written during it is read again in the next one; with an older time, so would be many more.
    ///
    /// # Errors
    ///
    /// The time could not be set.
    pub fn date(&self, time: SystemTime) -> Result<()> {
        let dated = File::open(&self.file)
            .and_then(|open| open.set_times(FileTimes::new().set_modified(time)));
        dated.map_err(|error| GitError::file(format!("dating {}", self.file.display()), error))
    }

    /// Has git trust all its entries until it is written again, also those of files that have just been changed. git
    /// compares whole seconds.
    pub(super) fn trust(&self) -> Result<()> {
        // Of a file of its own: it may be another name of one that must not change.
        let copy = self.file.with_extension("trusted");
        let now = fs::copy(&self.file, &copy)
            .and_then(|_| fs::rename(&copy, &self.file))
            .and_then(|()| fs::metadata(&self.file)?.modified());
        let now =
            now.map_err(|error| GitError::file(format!("copying {}", self.file.display()), error))?;
        self.date(now + Duration::from_secs(2))
    }

    /// Takes these paths out, whatever is on disk.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn drop_paths(&self, paths: &[RepoPath]) -> Result<()> {
        self.flag("--force-remove", paths)
    }

    /// Runs `git update-index <flag>` over these paths. The index stays as old as it was: with the time of this change git
    /// would trust what it knows of files and folders that were changed in the second before.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn flag(&self, flag: &str, paths: &[RepoPath]) -> Result<()> {
        if paths.is_empty() {
            return Ok(());
        }
        let time = fs::metadata(&self.file).and_then(|meta| meta.modified());
        let ask = || {
            let ask = self.git.ask("update-index").index(&self.file);
            ask.args(["-z", flag, "--stdin"])
                .nul_input(paths.iter().map(RepoPath::as_bytes))
        };
        self.beside_disk(ask, Ask::run_silently)?;
        time.map_or(Ok(()), |time| self.date(time))
    }

    /// Has git do what needs nothing of what is on disk.
    ///
    /// git reads files that are as new as the index through their filters whenever it writes one, and ends where a filter
    /// dies that is required. Where there are no such files, it reads none: then the index stays as old as it was, so that
    /// those entries go on to be distrusted.
    fn beside_disk<T>(&self, ask: impl Fn() -> Ask, run: impl Fn(Ask) -> Result<T>) -> Result<T> {
        let time = fs::metadata(&self.file).and_then(|meta| meta.modified());
        run(ask()).or_else(|error| {
            let folder = self.file.parent().ok_or(error)?;
            let done = run(ask().work_tree(folder))?;
            if let Ok(time) = time {
                self.date(time)?;
            }
            Ok(done)
        })
    }

    /// Sets entries that are told in lines, as `git update-index --index-info` reads them.
    fn set_lines(&self, lines: &[Vec<u8>]) -> Result<()> {
        let ask = || {
            let ask = self.git.ask("update-index").index(&self.file);
            ask.setting("index.sparse=false")
                .args(["-z", "--index-info"])
                .nul_input(lines)
        };
        self.beside_disk(ask, Ask::run_silently)
    }

    /// Sets entries as given, `None` for one that is to go, without a look at the disk. Those that go go first: nothing
    /// can be entered below a file that is still there.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn set(&self, entries: &[(RepoPath, Option<Entry>)]) -> Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let null = Oid::null(self.git.format);
        let line = |(path, entry): &(RepoPath, Option<Entry>)| {
            let mut line = match entry {
                Some(Entry { mode, oid }) => format!("{} {oid}\t", mode.digits()).into_bytes(),
                None => format!("0 {null}\t").into_bytes(),
            };
            line.extend_from_slice(path.as_bytes());
            line
        };
        let (going, coming): (Vec<_>, Vec<_>) = entries.iter().partition(|(_, e)| e.is_none());
        let lines: Vec<_> = going.into_iter().chain(coming).map(line).collect();
        self.set_lines(&lines)
    }

    /// Sets entries with their stages, as they were listed. Nothing else may be there at their paths.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn set_listed(&self, entries: &[IndexEntry]) -> Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let line = |entry: &IndexEntry| {
            let head = format!("{} {} {}\t", entry.mode.digits(), entry.oid, entry.stage);
            [head.as_bytes(), entry.path.as_bytes()].concat()
        };
        let lines: Vec<_> = entries.iter().map(line).collect();
        self.set_lines(&lines)
    }

    /// Announces files that are in this folder, as `git add -N` does. Nothing else may be there at their paths.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn announce(&self, folder: &Path, paths: &[RepoPath]) -> Result<()> {
        let ask = self.git.ask("add").index(&self.file).work_tree(folder);
        ask.setting("index.sparse=false")
            .args(["--intent-to-add", "--force", "--sparse"])
            .args(["--pathspec-from-file=-", "--pathspec-file-nul"])
            .nul_input(paths.iter().map(RepoPath::as_bytes))
            .run_silently()
    }

    /// Fills it with what a tree has, and nothing that is known of files on disk.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn read_tree(&self, tree: &Oid) -> Result<()> {
        self.remove()?;
        let ask = self.git.ask("read-tree").index(&self.file);
        ask.arg(tree).run_silently()
    }

    /// Has git forget which folders it has looked through for untracked files. It compares them by whole seconds.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn forget_untracked(&self) -> Result<()> {
        let ask = self.git.ask("update-index").index(&self.file);
        let ask = ask.setting(NO_CHECKSUM);
        ask.arg("--no-untracked-cache").run_silently()
    }

    /// Has git look at the files again, so that a later `git status` need not.
    ///
    /// # Errors
    ///
    /// git could not be started.
    pub fn refresh(&self) -> Result<()> {
        let ask = self.git.ask("update-index").index(&self.file);
        // Exit code 1 says that some files differ from the index, which is no failure here.
        let ask = ask.setting(ONLY_HASHED).args(["-q", "--refresh"]);
        ask.outcome().map(drop)
    }

    /// Writes its content as trees, and returns the top one.
    ///
    /// # Errors
    ///
    /// It has entries in conflict, or git failed.
    pub fn write_tree(&self) -> Result<Oid> {
        let ask = || {
            let ask = self.git.ask("write-tree").index(&self.file);
            ask.setting(NO_CHECKSUM).setting(ONLY_HASHED)
        };
        one_oid("git write-tree", &self.beside_disk(ask, Ask::run)?)
    }

    /// Removes the file.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn remove(&self) -> Result<()> {
        self.clear()
            .map_err(|error| GitError::file(format!("removing {}", self.file.display()), error))
    }
}

/// Copies a file with its modification time. git replaces an index and never writes into one: what is open stays whole.
fn copy_with_time(source: &Path, target: &Path) -> io::Result<()> {
    let mut from = File::open(source)?;
    let modified = from.metadata()?.modified()?;
    let mut to = File::create(target)?;
    io::copy(&mut from, &mut to)?;
    to.set_times(FileTimes::new().set_modified(modified))
}
