//! Stores that serve nothing go: those whose folder is gone, and those that were put away.
//!
//! A disk that is not mounted looks like a folder that is gone, so one look is not enough: a store goes where a look found
//! it unused some days ago, and nothing was recorded in it since.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::error::{Error, Result, While};
use crate::gitengine::{GitError, newest_commit};
use crate::process::Trace;

use super::super::gc::DAYS;
use super::super::lock::Claim;
use super::make::NEW;
use super::{Store, Stores, is_passing};

/// What the name of a store begins with that is being removed.
const GONE: &str = ".gone-";

/// What is on its way in for so long was left behind by a killed process.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

const DAY: i64 = 24 * 60 * 60;

/// Why a store serves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Its folder is not there.
    FolderGone,
    /// It was put away.
    PutAway,
}

impl End {
    /// Why this one does; `None` where it serves a folder.
    fn of(store: &Store) -> Option<Self> {
        use std::io::ErrorKind::{NotADirectory, NotFound};
        if store.is_away() {
            return Some(End::PutAway);
        }
        match fs::metadata(&store.folder) {
            Ok(meta) if meta.is_dir() => None,
            Ok(_) => Some(End::FolderGone),
            // What can't be looked at may be there.
            Err(error) => {
                matches!(error.kind(), NotFound | NotADirectory).then_some(End::FolderGone)
            }
        }
    }
}

/// A store that serves nothing.
#[derive(Clone, Debug)]
pub struct Unused {
    /// The store.
    pub store: Store,
    /// Why.
    pub end: End,
    /// Since when: as far as is known, and not before the last thing was recorded in it.
    pub since: i64,
    is_noted: bool,
}

/// What is to be done about the stores.
#[derive(Debug, Default)]
pub struct Sweep {
    /// They go.
    pub due: Vec<Unused>,
    /// They stay for now.
    pub waiting: Vec<Unused>,
    /// Why others stay that would go.
    pub unreadable: Vec<Error>,
    /// They were found unused before, and serve again.
    back: Vec<Store>,
    /// What killed processes have left.
    left: Vec<PathBuf>,
}

impl Sweep {
    /// Works out what is to go: what serves nothing for so many days. For a store whose folder is gone they are 10 at
    /// least, and never counted from the first look: its disk may be elsewhere for a while.
    pub fn plan(stores: &Stores, days: u32, now: i64, trace: Option<&Trace>) -> Self {
        let mut sweep = Self::default();
        for store in stores.all() {
            let noted = store.unused_since();
            let Some(end) = End::of(&store) else {
                sweep.back.extend(noted.map(|_| store));
                continue;
            };
            let days = match end {
                End::PutAway => days,
                End::FolderGone => days.max(DAYS),
            };
            let is_old = |since: i64| now - since >= i64::from(days) * DAY;
            let mut since = noted.unwrap_or(now);
            if is_old(since) {
                match newest_commit(&store.git_dir(), trace) {
                    Ok(newest) => since = newest.map_or(since, |newest| newest.max(since)),
                    Err(error) => {
                        sweep.unreadable.push(unreadable(&store, error));
                        continue;
                    }
                }
            }
            let list = match is_old(since) {
                true => &mut sweep.due,
                false => &mut sweep.waiting,
            };
            list.push(Unused {
                store,
                end,
                since,
                is_noted: noted.is_some(),
            });
        }
        sweep.left = left_behind(stores, now);
        sweep
    }

    /// Is there nothing to be done, or to be noted?
    pub fn is_nothing(&self) -> bool {
        let is_noted = |unused: &Unused| unused.is_noted;
        self.due.is_empty() && self.back.is_empty() && self.waiting.iter().all(is_noted)
    }

    /// Carries it out. Returns the stores that went.
    ///
    /// # Errors
    ///
    /// A store can't be removed, or written.
    pub fn run(&self) -> Result<Vec<&Unused>> {
        for folder in &self.left {
            // What can't be removed now goes another time.
            let _ = fs::remove_dir_all(folder);
        }
        for store in &self.back {
            store.note_unused(None)?;
        }
        for unused in self.waiting.iter().filter(|unused| !unused.is_noted) {
            unused.store.note_unused(Some(unused.since))?;
        }
        let mut gone = Vec::new();
        for unused in &self.due {
            if unused.remove()? {
                gone.push(unused);
            }
        }
        Ok(gone)
    }
}

impl Unused {
    /// Removes the store, unless it serves again. Did it go?
    fn remove(&self) -> Result<bool> {
        let Store { home, .. } = &self.store;
        let scratch = self.store.scratch();
        let claim = match scratch.is_dir() {
            true => Some(Claim::on(&scratch.join("lock"))?),
            false => None,
        };
        let is_there = matches!(Store::read(home), Ok(Some(_)));
        if !is_there || End::of(&self.store) != Some(self.end) {
            return Ok(false);
        }
        let unnamed = || Error::cannot(format!("{} has no name", home.display()));
        let mut name = std::ffi::OsString::from(GONE);
        name.push(home.file_name().ok_or_else(unnamed)?);
        let out = home.with_file_name(name);
        // From here on it is no store; what a kill leaves of it the next one removes.
        let removed = fs::rename(home, &out).and_then(|()| fs::remove_dir_all(&out));
        drop(claim);
        removed.or_cannot(|| format!("can't remove {}", home.display()))?;
        Ok(true)
    }
}

fn unreadable(store: &Store, error: GitError) -> Error {
    let home = store.home.display();
    Error::cannot(format!("git can't read the store {home}"))
        .because(error)
        .hint("it stays until you remove it")
}

/// What killed processes have left on its way in or out.
fn left_behind(stores: &Stores, now: i64) -> Vec<PathBuf> {
    let Stores::In(folder) = stores else {
        return Vec::new();
    };
    let now = u64::try_from(now).unwrap_or_default();
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(now);
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let left = entries.filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let changed = entry.metadata().and_then(|meta| meta.modified()).ok();
        let age = changed.and_then(|changed| now.duration_since(changed).ok());
        is_passing(entry)
            && (name.starts_with(GONE)
                || name.starts_with(NEW) && age.is_some_and(|age| age > ABANDONED))
    });
    left.map(|entry| entry.path()).collect()
}
