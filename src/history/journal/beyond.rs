//! Files outside of the work tree: their contents, in a folder of edio's own for each session, which nobody else may read;
//! and how they are brought back.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{Result, While};
use crate::gitengine::{Entry, Mode, ObjectFormat, Oid, RepoPath};

use super::super::refnames::SessionId;
use super::super::restore::{Content, Disk, Displaced, read_from_disk};

/// The folder, in edio's scratch folder.
const FOLDER: &str = "journal";

/// A file outside that is to hold something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its path from the root of the file system.
    pub path: RepoPath,
    /// What it holds: that is kept. `None` where it is not there.
    pub old: Option<Entry>,
    /// What it is to hold. `None` where it is to go.
    pub new: Option<Entry>,
    /// The session that has noted this.
    pub session: SessionId,
}

/// What became of a file outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// Its path.
    pub file: PathBuf,
    /// What was done with it.
    pub what: What,
}

/// What is done with a file outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// It holds again what it held.
    Written,
    /// It was not there, and is gone again.
    Removed,
    /// It is left as it is, and why.
    Left(String),
}

impl Change {
    /// The file.
    pub fn file(&self) -> PathBuf {
        self.path.below(Path::new("/"))
    }
}

/// Keeps a content for a session.
///
/// # Errors
///
/// The folder can't be written.
pub fn keep(scratch: &Path, session: &SessionId, oid: &Oid, bytes: &[u8]) -> Result<()> {
    let folder = folder_of(scratch, session);
    let cannot = || format!("can't write in {}", folder.display());
    let place = folder.join(oid.as_str());
    if place.exists() {
        return Ok(());
    }
    private(&scratch.join(FOLDER))
        .and_then(|()| private(&folder))
        .or_cannot(cannot)?;
    let mut file = tempfile::Builder::new()
        .prefix("new-")
        .tempfile_in(&folder)
        .or_cannot(cannot)?;
    file.write_all(bytes)
        .and_then(|()| file.as_file().sync_all())
        .or_cannot(cannot)?;
    file.persist(&place).or_cannot(cannot)?;
    Ok(())
}

fn folder_of(scratch: &Path, session: &SessionId) -> PathBuf {
    scratch.join(FOLDER).join(session.as_str())
}

/// Makes a folder that nobody else may look into.
fn private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    match builder.create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// Brings each file to what it is to hold. What can't be is left as it is.
pub fn bring(scratch: &Path, format: ObjectFormat, changes: &[Change]) -> Vec<Done> {
    let disk = Disk::new(Path::new("/"));
    let done = changes.iter().map(|change| {
        let what = match bring_one(scratch, &disk, format, change) {
            Ok(what) => what,
            Err(error) => What::Left(error.to_string()),
        };
        Done {
            file: change.file(),
            what,
        }
    });
    done.collect()
}

fn bring_one(
    scratch: &Path,
    disk: &Disk,
    format: ObjectFormat,
    change: &Change,
) -> io::Result<What> {
    let path = &change.path;
    let Some(new) = &change.new else {
        if let Some(displaced) = disk.take_away(path)? {
            part_with(scratch, disk, format, change, &displaced)?;
        }
        return Ok(What::Removed);
    };
    let kept = folder_of(scratch, &change.session).join(new.oid.as_str());
    let lost = |error: io::Error| {
        io::Error::new(
            error.kind(),
            format!("its content is not here: {}", kept.display()),
        )
    };
    let displaced = match new.mode {
        Mode::Symlink => {
            let target = fs::read(&kept).map_err(lost)?;
            disk.place(path, &mut Content::Link(&target))?
        }
        mode => {
            let mut bytes = File::open(&kept).map_err(lost)?;
            let length = bytes.metadata()?.len();
            let mut content = Content::File {
                length,
                bytes: &mut bytes,
                executable: mode == Mode::Executable,
            };
            disk.place(path, &mut content)?
        }
    };
    if let Some(displaced) = displaced {
        part_with(scratch, disk, format, change, &displaced)?;
    }
    Ok(What::Written)
}

/// Discards what stood there. Where that is not what was kept, it is kept, too.
fn part_with(
    scratch: &Path,
    disk: &Disk,
    format: ObjectFormat,
    change: &Change,
    displaced: &Displaced,
) -> io::Result<()> {
    let stood = read_from_disk(Path::new("/"), &displaced.path, u64::MAX)?;
    let now = stood.entry(format);
    if let (Some(now), Some(bytes)) = (&now, stood.bytes())
        && change.old.as_ref().map(|old| &old.oid) != Some(&now.oid)
    {
        keep(scratch, &change.session, &now.oid, bytes).map_err(io::Error::other)?;
    }
    disk.discard(displaced)
}

/// Is anything kept here?
pub fn is_there(scratch: &Path) -> bool {
    scratch.join(FOLDER).exists()
}

/// Removes the contents of sessions that are none of these.
///
/// # Errors
///
/// The folder can't be read or written.
pub fn sweep(scratch: &Path, sessions: &BTreeSet<SessionId>) -> Result<()> {
    let folder = scratch.join(FOLDER);
    let cannot = || format!("can't sweep {}", folder.display());
    for entry in fs::read_dir(&folder).or_cannot(cannot)? {
        let entry = entry.or_cannot(cannot)?;
        let name = entry.file_name();
        let is_wanted = sessions.iter().any(|id| name == id.as_str());
        if !is_wanted {
            fs::remove_dir_all(entry.path()).or_cannot(cannot)?;
        }
    }
    Ok(())
}
