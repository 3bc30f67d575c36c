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

/// The folder, beside the repository's refs: whatever work tree a session is of, the others can go back to it.
const FOLDER: &str = "edio/journal";

/// The folder for what no session has noted yet, in the scratch folder of the work tree that is to do so.
const NOBODYS: &str = "awaited";

/// Whose content is it?
#[derive(Clone, Copy)]
pub enum Of<'a> {
    /// That of a session which has noted it, or is about to.
    Session(&'a SessionId),
    /// No session has begun, or noted it. With the scratch folder.
    Nobody(&'a Path),
}

impl Of<'_> {
    fn folder(self, common_dir: &Path) -> PathBuf {
        match self {
            Of::Session(session) => common_dir.join(FOLDER).join(session.as_str()),
            Of::Nobody(scratch) => scratch.join(NOBODYS),
        }
    }
}

/// A file outside that is to hold something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its path from the root of the file system.
    pub path: RepoPath,
    /// What it holds: that is kept. `None` where it is not there.
    pub old: Option<Entry>,
    /// What it is to hold. `None` where it is to go.
    pub new: Option<Entry>,
    /// The permission bits that it gets where no file stands. Others may not read it where nothing is known.
    pub bits: Option<u32>,
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
    /// It holds again what it held. What had been written there since the look is here.
    WrittenOver(PathBuf),
    /// It is left as it is, and why.
    Left(String),
}

impl Change {
    /// The file.
    pub fn file(&self) -> PathBuf {
        self.path.below(Path::new("/"))
    }
}

/// Keeps a content. It and its name are on the disk when this returns.
///
/// # Errors
///
/// The folder can't be written.
pub fn keep(common_dir: &Path, of: Of<'_>, oid: &Oid, bytes: &[u8]) -> Result<()> {
    let folder = of.folder(common_dir);
    let place = folder.join(oid.as_str());
    if place.exists() {
        return Ok(());
    }
    write(&folder, &place, bytes).or_cannot(|| format!("can't write in {}", folder.display()))
}

fn write(folder: &Path, place: &Path, bytes: &[u8]) -> io::Result<()> {
    let above = folder.parent().unwrap_or(folder);
    if let Some(edio) = above.parent() {
        fs::create_dir_all(edio)?;
    }
    private(above)?;
    private(folder)?;
    let mut file = tempfile::Builder::new()
        .prefix("new-")
        .tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(place)?;
    sync(folder)?;
    sync(above)
}

#[cfg(unix)]
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Has a session keep what was kept for nobody.
///
/// # Errors
///
/// The folder can't be written.
pub fn hand_over(common_dir: &Path, scratch: &Path, session: &SessionId, oid: &Oid) -> Result<()> {
    let from = Of::Nobody(scratch).folder(common_dir).join(oid.as_str());
    match fs::read(&from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        read => {
            let bytes = read.or_cannot(|| format!("can't read {}", from.display()))?;
            keep(common_dir, Of::Session(session), oid, &bytes)
        }
    }
}

/// Removes what was kept for nobody.
pub fn sweep_nobodys(scratch: &Path) {
    // What can't be removed now is removed the next time.
    let _ = fs::remove_dir_all(scratch.join(NOBODYS));
}

/// Makes a folder that nobody else may look into.
fn private(folder: &Path) -> io::Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut))]
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

/// Brings each file to what it is to hold, in the name of this session. What can't be is left as it is.
pub fn bring(
    common_dir: &Path,
    own: &SessionId,
    format: ObjectFormat,
    changes: &[Change],
) -> Vec<Done> {
    let bringing = Bringing {
        common_dir,
        own,
        format,
        disk: Disk::new(Path::new("/")),
    };
    let done = changes.iter().map(|change| Done {
        file: change.file(),
        what: match bringing.bring(change) {
            Ok(what) => what,
            Err(error) => What::Left(error.to_string()),
        },
    });
    done.collect()
}

struct Bringing<'a> {
    common_dir: &'a Path,
    own: &'a SessionId,
    format: ObjectFormat,
    disk: Disk,
}

impl Bringing<'_> {
    fn bring(&self, change: &Change) -> io::Result<What> {
        // What can't be read can't be kept: it is not touched.
        self.read(&change.path)?;
        let displaced = match &change.new {
            None => self.disk.take_away(&change.path)?,
            Some(new) => self.place(change, new)?,
        };
        let changed_since = match displaced {
            None => None,
            Some(displaced) => self.part_with(change, &displaced)?,
        };
        Ok(match (changed_since, &change.new) {
            (Some(kept), _) => What::WrittenOver(kept),
            (None, Some(_)) => What::Written,
            (None, None) => What::Removed,
        })
    }

    fn read(&self, path: &RepoPath) -> io::Result<super::Stood> {
        read_from_disk(Path::new("/"), path, u64::MAX)
    }

    fn place(&self, change: &Change, new: &Entry) -> io::Result<Option<Displaced>> {
        let folder = Of::Session(&change.session).folder(self.common_dir);
        let kept = folder.join(new.oid.as_str());
        let lost = |error: io::Error| {
            let why = format!("its content is not here: {}", kept.display());
            io::Error::new(error.kind(), why)
        };
        if new.mode == Mode::Symlink {
            let target = fs::read(&kept).map_err(lost)?;
            return self.disk.place(&change.path, &mut Content::Link(&target));
        }
        let mut bytes = File::open(&kept).map_err(lost)?;
        let mut content = Content::File {
            length: bytes.metadata()?.len(),
            bytes: &mut bytes,
            executable: new.mode == Mode::Executable,
            fresh: Some(change.bits.unwrap_or(0o600)),
        };
        self.disk.place(&change.path, &mut content)
    }

    /// Discards what stood there, which is kept. Returns where, if that is another than was seen.
    fn part_with(&self, change: &Change, displaced: &Displaced) -> io::Result<Option<PathBuf>> {
        let aside = displaced.path.below(Path::new("/"));
        let stays = |error: io::Error| {
            let why = format!("{error}; what stood there is {} now", aside.display());
            io::Error::new(error.kind(), why)
        };
        let stood = self.read(&displaced.path).map_err(stays)?;
        let (Some(now), Some(bytes)) = (stood.entry(self.format), stood.bytes()) else {
            return Ok(None);
        };
        let own = Of::Session(self.own);
        let kept = keep(self.common_dir, own, &now.oid, bytes);
        kept.map_err(|error| stays(io::Error::other(error)))?;
        self.disk.discard(displaced).map_err(stays)?;
        let is_as_seen = change.old.as_ref().map(|old| &old.oid) == Some(&now.oid);
        let place = own.folder(self.common_dir).join(now.oid.as_str());
        Ok((!is_as_seen).then_some(place))
    }
}

/// Removes the contents of these sessions.
///
/// # Errors
///
/// The folder can't be written.
pub fn forget(common_dir: &Path, sessions: &BTreeSet<SessionId>) -> Result<()> {
    for session in sessions {
        let folder = Of::Session(session).folder(common_dir);
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed.or_cannot(|| format!("can't remove {}", folder.display()))?,
        }
    }
    Ok(())
}

/// The sessions of which contents are kept, with the folders.
pub fn kept(common_dir: &Path) -> Vec<(SessionId, fs::DirEntry)> {
    let entries = fs::read_dir(common_dir.join(FOLDER)).into_iter().flatten();
    entries
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry)))
        .collect()
}
