//! The work tree on disk: the only place that writes into it.
//!
//! Every folder is opened part by part, and no part may be a link: a link that somebody puts in the place of a folder
//! meanwhile leads nowhere. A file is written under another name beside its own, then the two names are exchanged. So
//! each path has its old content or its new one at any moment, and what stood there last can still be looked at.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::gitengine::{
    Entry, Mode, ObjectFormat, Oid, RepoPath, acts_for_owner, git_bytes, is_repository,
};

use super::super::random;
use super::super::scan::TEMPORARY;
use super::plan::{Look, OnDisk};

/// The work tree with this top.
pub struct Disk {
    top: PathBuf,
}

impl Disk {
    /// The work tree with this top.
    pub fn new(top: &Path) -> Self {
        Self {
            top: top.to_owned(),
        }
    }

    /// The id of what stands at a path, as a blob through no filter. `None` where no file or link does.
    ///
    /// # Errors
    ///
    /// It can't be read, or changes while it is.
    pub fn blob_id(&self, path: &RepoPath, format: ObjectFormat) -> io::Result<Option<Oid>> {
        disk_blob_id(&self.top, path, format)
    }
}

impl Disk {
    /// Where a path is on disk, the top where there is none.
    fn location(&self, path: Option<&RepoPath>) -> PathBuf {
        path.map_or_else(|| self.top.clone(), |path| path.below(&self.top))
    }

    /// The mode of the file at a path; `None` where none stands.
    pub fn mode(&self, path: &RepoPath) -> Option<Mode> {
        let meta = fs::symlink_metadata(path.below(&self.top)).ok()?;
        let mode = match is_executable(&meta) {
            true => Mode::Executable,
            false => Mode::File,
        };
        meta.is_file().then_some(mode)
    }
}

impl Look for Disk {
    fn at(&self, path: &RepoPath) -> OnDisk {
        let at = |path: &RepoPath| match fs::symlink_metadata(path.below(&self.top)) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => OnDisk::Closed,
            Err(_) => OnDisk::Nothing,
            Ok(meta) if meta.is_symlink() => OnDisk::Link,
            Ok(meta) if meta.is_dir() => OnDisk::Folder,
            Ok(meta) if meta.is_file() => OnDisk::File,
            Ok(_) => OnDisk::Special,
        };
        let mut way = path.ancestors().map(|folder| at(&folder));
        match way.find(|there| *there != OnDisk::Folder) {
            None => at(path),
            Some(OnDisk::Closed) => OnDisk::Closed,
            Some(_) => OnDisk::Nothing,
        }
    }

    fn below(&self, folder: &RepoPath) -> Option<Vec<RepoPath>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder.below(&self.top)).ok()? {
            let entry = entry.ok()?;
            let name = git_bytes(Path::new(&entry.file_name()));
            let path = RepoPath::new([folder.as_bytes(), b"/", &name].concat())?;
            match entry.file_type().ok()?.is_dir() {
                true if self.is_repository(&path) => found.push(path),
                true => found.extend(self.below(&path)?),
                false => found.push(path),
            }
        }
        Some(found)
    }

    fn is_repository(&self, folder: &RepoPath) -> bool {
        is_repository(&folder.below(&self.top))
    }

    fn may_change(&self, folder: Option<&RepoPath>) -> bool {
        self.may_change_in(folder)
    }

    fn is_sticky(&self, folder: Option<&RepoPath>) -> bool {
        let meta = fs::symlink_metadata(self.location(folder));
        meta.is_ok_and(|meta| has_sticky_bit(&meta))
    }

    fn is_own(&self, path: Option<&RepoPath>) -> bool {
        match fs::symlink_metadata(self.location(path)) {
            Ok(meta) => acts_for_owner(&meta),
            Err(_) => true,
        }
    }
}

/// The id of what stands at a path of this work tree, as a blob through no filter. `None` where no file or link does.
///
/// # Errors
///
/// It can't be read, or changes while it is.
pub fn disk_blob_id(top: &Path, path: &RepoPath, format: ObjectFormat) -> io::Result<Option<Oid>> {
    match Disk::new(top).open(path)? {
        None => Ok(None),
        Some(Standing::File(file)) => format.hash_blob(file.metadata()?.len(), file).map(Some),
        Some(Standing::Link(target)) => Ok(Some(format.hash_content(&target))),
    }
}

/// The same of a file alone: `None` where a link stands, too.
///
/// # Errors
///
/// As for [`disk_blob_id`].
pub fn disk_file_id(top: &Path, path: &RepoPath, format: ObjectFormat) -> io::Result<Option<Oid>> {
    match Disk::new(top).open(path)? {
        Some(Standing::File(file)) => format.hash_blob(file.metadata()?.len(), file).map(Some),
        Some(Standing::Link(_)) | None => Ok(None),
    }
}

/// What stands at a path, in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stood {
    /// Nothing.
    Nothing,
    /// A file with this content.
    File {
        /// May it be executed?
        executable: bool,
        /// Its permission bits, where there are any.
        bits: Option<u32>,
        /// Its content.
        bytes: Vec<u8>,
    },
    /// A link to this target.
    Link(Vec<u8>),
}

impl Stood {
    /// Its bytes, or those of its target. `None` where nothing stands.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Stood::Nothing => None,
            Stood::File { bytes, .. } | Stood::Link(bytes) => Some(bytes),
        }
    }

    /// Its permission bits, where it is a file that has any.
    pub fn bits(&self) -> Option<u32> {
        match self {
            Stood::File { bits, .. } => *bits,
            _ => None,
        }
    }

    /// As a tree would have it, through no filter.
    pub fn entry(&self, format: ObjectFormat) -> Option<Entry> {
        let mode = match self {
            Stood::Nothing => return None,
            Stood::File {
                executable: true, ..
            } => Mode::Executable,
            Stood::File { .. } => Mode::File,
            Stood::Link(_) => Mode::Symlink,
        };
        let oid = format.hash_content(self.bytes()?);
        Some(Entry { mode, oid })
    }
}

/// Reads what stands at a path below this folder. No link is followed on the way.
///
/// # Errors
///
/// It can't be read, has more bytes than that, or is something else than a file or a link.
pub fn read_from_disk(top: &Path, path: &RepoPath, most: u64) -> io::Result<Stood> {
    let disk = Disk::new(top);
    match disk.open(path)? {
        Some(Standing::File(file)) => {
            let bits = permission_bits(&file.metadata()?);
            let mut bytes = Vec::new();
            file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
            match bytes.len() as u64 > most {
                true => Err(io::Error::other("it is too large")),
                false => Ok(Stood::File {
                    executable: bits.is_some_and(may_be_executed),
                    bits,
                    bytes,
                }),
            }
        }
        Some(Standing::Link(target)) => Ok(Stood::Link(target)),
        None if disk.at(path) == OnDisk::Nothing => Ok(Stood::Nothing),
        None => Err(io::Error::other("it is neither a file nor a link")),
    }
}

/// May its owner execute this file?
pub fn is_executable(meta: &fs::Metadata) -> bool {
    permission_bits(meta).is_some_and(may_be_executed)
}

fn may_be_executed(bits: u32) -> bool {
    bits & 0o100 != 0
}

#[cfg(unix)]
fn has_sticky_bit(meta: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    meta.permissions().mode() & 0o1000 != 0
}

#[cfg(not(unix))]
fn has_sticky_bit(_: &fs::Metadata) -> bool {
    false
}

#[cfg(unix)]
fn permission_bits(meta: &fs::Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    Some(meta.permissions().mode() & 0o777)
}

#[cfg(not(unix))]
fn permission_bits(_: &fs::Metadata) -> Option<u32> {
    None
}

/// What stands at a path, to be read.
enum Standing {
    File(fs::File),
    /// A link to this target.
    Link(Vec<u8>),
}

/// New content for a path.
pub enum Content<'a> {
    /// A file of this many bytes.
    File {
        /// How many.
        length: u64,
        /// The bytes.
        bytes: &'a mut dyn io::Read,
        /// May it be executed?
        executable: bool,
        /// The permission bits that it gets where no file stands yet; those that the umask leaves where nothing is said.
        fresh: Option<u32>,
    },
    /// A symbolic link to this target.
    Link(&'a [u8]),
}

/// What stood at a path before, under a name of edio's own, until it is discarded.
#[derive(Debug)]
pub struct Displaced {
    /// Where it is now, below the top.
    pub path: RepoPath,
}

/// A name of edio's own in the folder of a path.
fn temporary_beside(path: &RepoPath) -> io::Result<RepoPath> {
    let name = format!("{TEMPORARY}{:016x}", u64::from_ne_bytes(random::bytes()?));
    let bytes = match path.parent() {
        Some(folder) => [folder.as_bytes(), b"/", name.as_bytes()].concat(),
        None => name.into_bytes(),
    };
    RepoPath::new(bytes).ok_or_else(|| io::Error::other("no name for a temporary file"))
}
