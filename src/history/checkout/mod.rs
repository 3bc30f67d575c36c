//! A turn's files in a folder of their own, outside the work tree: for commands that are tried on a turn.
//!
//! A room is a folder that holds checkouts, each with what is known of it beside it, so that a command that looks through
//! all files meets none of edio's. One checkout goes from turn to turn: only what differs is written, and what the command
//! has made and no turn held there stays, as build folders do.

mod room;
mod stage;
mod standing;
mod wishes;
mod write;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use self::room::Room;
use self::room::Stay;
use self::stage::lfs_files;
use self::standing::{Held, Standing};
use self::wishes::Source;
use super::bytes::Unnoted;
use super::restore::disk::Disk;
use super::turn::Turn;
use crate::error::{Error, Result, While};
use crate::gitengine::RepoPath;

/// One folder with the files of a turn.
pub struct Checkout<'r> {
    room: &'r Room<'r>,
    name: String,
    top: PathBuf,
    disk: Disk,
    /// What edio has put there.
    held: BTreeMap<RepoPath, Held>,
    state: PathBuf,
    stage: PathBuf,
    index: PathBuf,
}

impl Checkout<'_> {
    /// The top of the files.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// The folder that stands for this one of the work tree, where the turn has it; else the top.
    pub fn folder_for(&self, prefix: &[u8]) -> PathBuf {
        let folder = RepoPath::new(prefix).filter(|folder| {
            let mut held = self.held.keys();
            held.any(|path| path != folder && path.is_within(folder))
        });
        folder.map_or_else(|| self.top.clone(), |folder| folder.below(&self.top))
    }

    /// The submodules of the turn, which are empty folders here.
    pub fn submodules(&self) -> impl Iterator<Item = &RepoPath> {
        let held = self.held.iter();
        held.filter(|(_, held)| held.wanted.source == Source::Nowhere)
            .map(|(path, _)| path)
    }

    /// Makes the files those of a turn, as a restore would. What a command has changed of what the last turn held is put
    /// right, and what it has made beside that stays, unless it is in the way.
    ///
    /// # Errors
    ///
    /// The turn can't be read, a filter fails, the system refuses, or it was interrupted.
    pub fn go_to(&mut self, turn: &Turn, is_interrupted: &dyn Fn() -> bool) -> Result<()> {
        let wishes = self.wishes(turn)?;
        // Where this is stopped midway, nobody knows what is there.
        match fs::remove_file(&self.state) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).or_cannot(|| format!("can't remove {}", self.state.display()));
            }
            _ => {}
        }
        if !is_folder(&self.top) {
            self.begin_anew()?;
        }
        let stale: Vec<RepoPath> = self.held.keys().cloned().collect();
        for path in stale.iter().filter(|path| !wishes.contains_key(path)) {
            self.remove(path)
                .or_cannot(|| self.cannot("remove", path))?;
            self.held.remove(path);
        }
        let mut unsure = Vec::new();
        let mut writes = Vec::new();
        for (path, wanted) in wishes {
            if is_interrupted() {
                return Err(interrupted());
            }
            match self.look(&path, &wanted) {
                Standing::AsStamped => {}
                Standing::AsHeld => unsure.push(path),
                Standing::Other => writes.push((path, wanted)),
            }
        }
        self.stage_filtered(&writes, lfs_files(Unnoted::of(turn)))?;
        self.write(&writes, is_interrupted)?;
        unsure.extend(writes.into_iter().map(|(path, _)| path));
        self.stamp(&unsure)?;
        self.save()
    }

    /// Begins with an empty folder.
    pub(super) fn begin_anew(&mut self) -> Result<()> {
        self.held.clear();
        self.room.remove(&self.name)?;
        let made = fs::create_dir(&self.top);
        made.or_cannot(|| format!("can't make {}", self.top.display()))
    }

    pub(super) fn save(&self) -> Result<()> {
        if self.stage.exists() {
            let gone = fs::remove_dir_all(&self.stage);
            gone.or_cannot(|| format!("can't remove {}", self.stage.display()))?;
        }
        if self.room.stay == Stay::Removed {
            return Ok(());
        }
        let held: Vec<(&RepoPath, &Held)> = self.held.iter().collect();
        let written = serde_json::to_vec(&held).map_err(io::Error::from);
        let written = written.and_then(|bytes| fs::write(&self.state, bytes));
        written.or_cannot(|| format!("can't write {}", self.state.display()))
    }

    pub(super) fn cannot(&self, verb: &str, path: &RepoPath) -> String {
        format!("can't {verb} {path} in {}", self.top.display())
    }
}

fn interrupted() -> Error {
    Error::interrupted("interrupted")
}

fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}
