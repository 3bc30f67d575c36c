//! Private stores: where the turns of a folder are kept that is no repository, or one that is not to be written to.
//!
//! A store is a git directory without a work tree of its own, in the person's data folder. It has its name from the
//! folder that it serves, so from a folder upwards one look each tells whether there is one.
//!
//! ```text
//! stores/<hash of the folder's path>/folder    the path, to the byte
//!                                    git/      the git directory
//!                                    unused    since when it serves nothing, as far as gc has seen
//! stores/<hash>.away/                          one that was put away: nobody finds it until it is fetched back
//! stores/.new-…  .gone-…                       on the way in, and out
//! ```

mod make;
mod sweep;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::{Result, While};
use crate::gitengine::{self, Git, PrivateIndex, RepoPath, Search, git_bytes, hex, os_path};
use crate::process::Trace;

pub use self::make::{Draft, Ground, ground, limit};
pub use self::sweep::{End, Sweep, Unused};
use super::state::write_at_once;
use super::workspace::{Locked, is_repository};

const FOLDER: &str = "folder";
const UNUSED: &str = "unused";
const AWAY: &str = "away";

/// A private store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// The folder that it serves.
    pub folder: PathBuf,
    /// Where it lies.
    pub home: PathBuf,
}

impl Store {
    /// Where the store of a folder lies, whether there is one or not. The path must be the real one.
    fn of(stores: &Path, folder: &Path) -> Self {
        let digest = Sha256::digest(git_bytes(folder));
        Self {
            folder: folder.to_owned(),
            home: stores.join(hex(&digest[..16])),
        }
    }

    /// What lies there. `None` where it is no store.
    ///
    /// # Errors
    ///
    /// Something lies there, and can't be read.
    fn read(home: &Path) -> io::Result<Option<Self>> {
        use io::ErrorKind::{NotADirectory, NotFound};
        let folder = match fs::read(home.join(FOLDER)) {
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => return Ok(None),
            read => read?,
        };
        let folder = PathBuf::from(os_path(&folder));
        let home = home.to_owned();
        Ok(folder.is_absolute().then_some(Self { folder, home }))
    }

    /// Is it there, and this folder's? One that was copied, or renamed by hand, is not. One that can't be read is: what is
    /// meant for it must not go into a repository that is to be left alone.
    fn is_there(&self) -> bool {
        match Self::read(&self.home) {
            Ok(there) => there.is_some_and(|there| there.folder == self.folder),
            Err(_) => true,
        }
    }

    /// Notes that it serves: a gc that found it unused was wrong about that.
    ///
    /// # Errors
    ///
    /// It can't be written.
    pub fn serves(&self) -> Result<()> {
        self.note_unused(None)
    }

    /// The git directory.
    pub fn git_dir(&self) -> PathBuf {
        self.home.join("git")
    }

    /// edio's scratch folder in it.
    pub fn scratch(&self) -> PathBuf {
        self.git_dir().join("edio")
    }

    /// The file that says what it does not hold.
    pub fn excludes(&self) -> PathBuf {
        self.git_dir().join("info/exclude")
    }

    /// Is the folder the top of a repository, with a git directory of its own beside this one?
    pub fn is_beside_repository(&self) -> bool {
        is_repository(&self.folder)
    }

    /// That repository. `None` where there is none, or git does not trust its owner.
    pub fn repository(&self, trace: Option<&Trace>) -> Option<Git> {
        if !self.is_beside_repository() {
            return None;
        }
        let search = Search {
            folder: &self.folder,
            git_dir: None,
            trace,
        };
        let git = gitengine::find(&search, None).ok()?.git;
        (git.work_tree == self.folder).then_some(git)
    }

    /// Where it lies while it is put away.
    pub fn away(&self) -> Self {
        Self {
            folder: self.folder.clone(),
            home: self.home.with_extension(AWAY),
        }
    }

    /// Was it put away?
    pub fn is_away(&self) -> bool {
        self.home.extension().is_some_and(|end| end == AWAY)
    }

    /// Puts it away: nobody finds it any more, and all that it holds stays. Returns where it lies now.
    ///
    /// # Errors
    ///
    /// The folder of the stores can't be written, or another was put away before.
    pub fn put_away(&self, _held: &Locked, seconds: i64) -> Result<Self> {
        let away = self.away();
        self.note_unused(Some(seconds))?;
        self.rename(&away)?;
        Ok(away)
    }

    fn rename(&self, to: &Self) -> Result<()> {
        let renamed = fs::rename(&self.home, &to.home);
        renamed.or_cannot(|| format!("can't rename {}", self.home.display()))
    }

    /// Since when it is known to serve nothing, in seconds since 1970.
    fn unused_since(&self) -> Option<i64> {
        let seconds = fs::read_to_string(self.home.join(UNUSED)).ok()?;
        seconds.trim().parse().ok()
    }

    /// Notes since when it serves nothing, or that it does.
    fn note_unused(&self, since: Option<i64>) -> Result<()> {
        if let Some(seconds) = since {
            return write_at_once(&self.home, UNUSED, seconds.to_string().as_bytes());
        }
        match fs::remove_file(self.home.join(UNUSED)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(error).or_cannot(|| format!("can't write in {}", self.home.display()))
            }
            _ => Ok(()),
        }
    }
}

/// Which private stores there are.
#[derive(Clone, Debug)]
pub enum Stores {
    /// None that count.
    None,
    /// Those in this folder, which need not be there.
    In(PathBuf),
    /// This one, which is being made.
    Only(Store),
}

impl Stores {
    /// The store of the nearest folder, from here upwards, that has one, unless a repository is nearer.
    ///
    /// Where nobody has ever made a store, this is one look.
    pub fn near(&self, folder: &Path) -> Option<Store> {
        let stores = match self {
            Stores::None => return None,
            Stores::Only(store) => return Some(store.clone()),
            Stores::In(stores) if is_absent(stores) => return None,
            Stores::In(stores) => stores,
        };
        let mut above = folder.ancestors();
        let real = above.find_map(|folder| fs::canonicalize(folder).ok())?;
        for folder in real.ancestors() {
            let store = Store::of(stores, folder);
            if store.is_there() {
                return Some(store);
            }
            if is_repository(folder) {
                break;
            }
        }
        None
    }

    /// All of them, with those that were put away, by their folders.
    fn all(&self) -> Vec<Store> {
        let Stores::In(stores) = self else {
            return Vec::new();
        };
        let entries = fs::read_dir(stores).into_iter().flatten().flatten();
        let entries = entries.filter(|entry| !is_passing(entry));
        let mut all: Vec<Store> = entries
            .filter_map(|entry| Store::read(&entry.path()).ok().flatten())
            .collect();
        all.sort_by(|one, other| (&one.folder, &one.home).cmp(&(&other.folder, &other.home)));
        all
    }
}

/// Is nothing there? What can't be looked at may be there.
fn is_absent(folder: &Path) -> bool {
    let looked = fs::metadata(folder);
    looked.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Lets go of what was forgotten: nobody else works in a store, and nothing that is of use to somebody is unreachable.
///
/// # Errors
///
/// git failed.
pub fn let_go(workspace: &Locked, paths: &[RepoPath]) -> Result<()> {
    let git = &workspace.git;
    let index = PrivateIndex::at(git, git.users_index());
    if index.file.exists() {
        let entries = git.list_index(&index.file)?.entries.into_iter();
        let held = entries.map(|entry| entry.path);
        let held: Vec<RepoPath> = held.filter(|path| path.is_among(paths)).collect();
        index.drop_paths(&held)?;
    }
    Ok(git.collect("now")?)
}

/// Is it on the way in, or out?
fn is_passing(entry: &fs::DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}
