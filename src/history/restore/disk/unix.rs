//! Writing below open folders, with names exchanged.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{self, Access, AtFlags, CWD, FileType, Mode, OFlags, RawMode, RenameFlags};
use rustix::io::Errno;

use super::{Content, Disk, Displaced, RepoPath, Standing, io, temporary_beside};
use crate::gitengine::os_path;

/// Is a folder made where there is none?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Make,
    Fail,
}

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// A folder on the way to another, which need not be listed: home folders of others, often, may only be passed through.
#[cfg(target_os = "linux")]
const WAY: OFlags = FOLDER.union(OFlags::PATH);
#[cfg(not(target_os = "linux"))]
const WAY: OFlags = FOLDER;

impl Disk {
    /// May names come and go in this folder? Where the system has no answer, they may.
    pub(super) fn may_change_in(&self, folder: Option<&RepoPath>) -> bool {
        let folder = self.location(folder);
        let asked = Access::WRITE_OK | Access::EXEC_OK;
        let answer = fs::accessat(CWD, &folder, asked, AtFlags::EACCESS);
        !matches!(answer, Err(Errno::ACCESS | Errno::PERM | Errno::ROFS))
    }

    /// Opens the folder that holds a path.
    fn folder_of(&self, path: &RepoPath, missing: Missing) -> io::Result<OwnedFd> {
        let mut folder = fs::openat(CWD, &self.top, WAY, Mode::empty())?;
        for part in path.ancestors() {
            let name = os_path(part.name());
            folder = match fs::openat(&folder, name, WAY, Mode::empty()) {
                Err(Errno::NOENT) if missing == Missing::Make => {
                    match fs::mkdirat(&folder, name, Mode::from_bits_truncate(0o777)) {
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                    fs::openat(&folder, name, WAY, Mode::empty())?
                }
                other => other?,
            };
        }
        Ok(folder)
    }

    /// Opens the file or link at a path. The name on the way may be longer than the system takes in one piece.
    pub(super) fn open(&self, path: &RepoPath) -> io::Result<Option<Standing>> {
        let folder = match self.folder_of(path, Missing::Fail) {
            Err(error) if is_absent(&error) => return Ok(None),
            other => other?,
        };
        let name = os_path(path.name());
        let stat = match fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            other => other?,
        };
        Ok(match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => {
                let target = fs::readlinkat(&folder, name, Vec::new())?;
                Some(Standing::Link(target.into_bytes()))
            }
            FileType::RegularFile => {
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                let file = fs::openat(&folder, name, flags, Mode::empty())?;
                Some(Standing::File(file.into()))
            }
            _ => None,
        })
    }

    /// Puts this content at a path, whatever file or link stands there, which is returned under another name.
    ///
    /// Permission bits other than x stay as they were.
    ///
    /// # Errors
    ///
    /// The system refuses, or a folder stands there. The path is as before then.
    pub fn place(
        &self,
        path: &RepoPath,
        content: &mut Content<'_>,
    ) -> io::Result<Option<Displaced>> {
        let folder = self.folder_of(path, Missing::Make)?;
        let temporary = temporary_beside(path)?;
        let written = write_new(&folder, path, &temporary, content)
            .and_then(|()| swap(&folder, path, &temporary));
        match written {
            Ok(true) => Ok(Some(Displaced { path: temporary })),
            Ok(false) => Ok(None),
            Err(error) => {
                let _ = fs::unlinkat(&folder, os_path(temporary.name()), AtFlags::empty());
                Err(error)
            }
        }
    }

    /// Takes the file or link at a path away, under another name. `None` where there is none.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn take_away(&self, path: &RepoPath) -> io::Result<Option<Displaced>> {
        let folder = match self.folder_of(path, Missing::Fail) {
            Err(error) if is_absent(&error) => return Ok(None),
            other => other?,
        };
        let temporary = temporary_beside(path)?;
        let name = os_path(path.name());
        match fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
                return Ok(None);
            }
            other => other?,
        };
        match fs::renameat(&folder, name, &folder, os_path(temporary.name())) {
            // Somebody else has removed it just now.
            Err(Errno::NOENT) => Ok(None),
            renamed => Ok(renamed.map(|()| Some(Displaced { path: temporary }))?),
        }
    }

    /// Removes what was displaced, unless somebody else has.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn discard(&self, displaced: &Displaced) -> io::Result<()> {
        let folder = match self.folder_of(&displaced.path, Missing::Fail) {
            Err(error) if is_absent(&error) => return Ok(()),
            folder => folder?,
        };
        match fs::unlinkat(&folder, os_path(displaced.path.name()), AtFlags::empty()) {
            Err(Errno::NOENT) => Ok(()),
            removed => Ok(removed?),
        }
    }

    /// Sets or clears the executable bits of a file, where they may be read. A file that has other names gets a copy with
    /// those bits in its place: what the other names are for is not edio's.
    ///
    /// # Errors
    ///
    /// There is no file, or the system refuses.
    pub fn set_executable(&self, path: &RepoPath, executable: bool) -> io::Result<()> {
        let folder = self.folder_of(path, Missing::Fail)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = fs::openat(&folder, os_path(path.name()), flags, Mode::empty())?;
        let stat = fs::fstat(&file)?;
        if stat.st_nlink > 1 {
            return self.copy_in_place(path, file.into(), executable);
        }
        let mode = Mode::from_raw_mode(stat.st_mode);
        Ok(fs::fchmod(&file, with_executable(mode, executable))?)
    }

    fn copy_in_place(
        &self,
        path: &RepoPath,
        mut file: std::fs::File,
        executable: bool,
    ) -> io::Result<()> {
        use std::os::unix::fs::MetadataExt;
        let copied = file.metadata()?;
        let mut content = Content::File {
            length: copied.len(),
            bytes: &mut file,
            executable,
            fresh: None,
        };
        let Some(displaced) = self.place(path, &mut content)? else {
            return Ok(());
        };
        let there = displaced.path.below(&self.top).symlink_metadata()?;
        if (there.dev(), there.ino()) == (copied.dev(), copied.ino()) {
            return self.discard(&displaced);
        }
        // Another file took its place meanwhile. It stays under the temporary name, which the next command saves.
        Err(io::Error::other("it was changed while it was restored"))
    }

    /// Removes the folder at a path and the folders in it, if there is nothing else in them.
    ///
    /// # Errors
    ///
    /// There is.
    pub fn remove_empty_folder(&self, path: &RepoPath) -> io::Result<()> {
        let parent = match self.folder_of(path, Missing::Fail) {
            Err(error) if is_absent(&error) => return Ok(()),
            other => other?,
        };
        remove_empty(parent.as_fd(), path.name())
    }

    /// Makes a folder at a path, and those on the way to it.
    ///
    /// # Errors
    ///
    /// Something stands there, or the system refuses.
    pub fn make_folder(&self, path: &RepoPath) -> io::Result<()> {
        let parent = self.folder_of(path, Missing::Make)?;
        let mode = Mode::from_bits_truncate(0o777);
        Ok(fs::mkdirat(&parent, os_path(path.name()), mode)?)
    }

    /// Removes the folder at a path with all that is in it, also where its owner may not write. No link is followed.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn remove_folder(&self, path: &RepoPath) -> io::Result<()> {
        let parent = match self.folder_of(path, Missing::Fail) {
            Err(error) if is_absent(&error) => return Ok(()),
            other => other?,
        };
        remove_all(parent.as_fd(), path.name())
    }

    /// Removes the folders above a path that have become empty.
    pub fn prune_above(&self, path: &RepoPath) {
        // A folder that somebody stands in is left to them, as git leaves it.
        let here = fs::stat(".").map(|stat| (stat.st_dev, stat.st_ino)).ok();
        let mut next = path.parent();
        while let Some(folder) = next {
            let removed = self.folder_of(&folder, Missing::Fail).and_then(|parent| {
                let name = os_path(folder.name());
                let stat = fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
                if here == Some((stat.st_dev, stat.st_ino)) {
                    return Err(io::Error::other("somebody stands in it"));
                }
                Ok(fs::unlinkat(&parent, name, AtFlags::REMOVEDIR)?)
            });
            // Not empty, or not ours to remove: then nothing above it is empty either.
            if removed.is_err() {
                return;
            }
            next = folder.parent();
        }
    }
}

fn remove_empty(parent: std::os::fd::BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
    let name = os_path(name);
    let folder = match fs::openat(parent, name, FOLDER, Mode::empty()) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
        other => other?,
    };
    for entry in fs::Dir::read_from(&folder)? {
        let entry = entry?;
        let child = entry.file_name().to_bytes();
        if child != b"." && child != b".." {
            remove_empty(folder.as_fd(), child)?;
        }
    }
    fs::unlinkat(parent, name, AtFlags::REMOVEDIR)?;
    Ok(())
}

fn remove_all(parent: std::os::fd::BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
    let name = os_path(name);
    let folder = match fs::openat(parent, name, FOLDER, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(()),
        Err(Errno::NOTDIR | Errno::LOOP) => {
            return Ok(fs::unlinkat(parent, name, AtFlags::empty())?);
        }
        Err(Errno::ACCESS) => {
            // It can't be opened to be read, and not be opened otherwise and given rights without following a link. So it
            // is a folder first, by what its own name says.
            let stat = fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
            if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
                return Ok(fs::unlinkat(parent, name, AtFlags::empty())?);
            }
            fs::chmodat(parent, name, Mode::RWXU, AtFlags::empty())?;
            fs::openat(parent, name, FOLDER, Mode::empty())?
        }
        other => other?,
    };
    fs::fchmod(&folder, Mode::RWXU)?;
    for entry in fs::Dir::read_from(&folder)? {
        let entry = entry?;
        let child = entry.file_name().to_bytes();
        match entry.file_type() {
            _ if child == b"." || child == b".." => {}
            FileType::Directory | FileType::Unknown => remove_all(folder.as_fd(), child)?,
            _ => fs::unlinkat(&folder, os_path(child), AtFlags::empty())?,
        }
    }
    Ok(fs::unlinkat(parent, name, AtFlags::REMOVEDIR)?)
}

fn write_new(
    folder: &OwnedFd,
    path: &RepoPath,
    temporary: &RepoPath,
    content: &mut Content<'_>,
) -> io::Result<()> {
    let name = os_path(temporary.name());
    match content {
        Content::Link(target) => Ok(fs::symlinkat(os_path(target), folder, name)?),
        Content::File {
            length,
            bytes,
            executable,
            fresh,
        } => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            // The umask takes from these what the person wants taken.
            let usual = if *executable { 0o777 } else { 0o666 };
            let fresh = fresh.map(|bits| Mode::from_bits_truncate(bits as RawMode));
            let first = fresh.unwrap_or(Mode::from_bits_truncate(usual));
            let file = fs::openat(folder, name, flags, first)?;
            if let Some(mode) = mode_there(folder, path).or(fresh) {
                fs::fchmod(&file, with_executable(mode, *executable))?;
            }
            let mut file = std::fs::File::from(file);
            match io::copy(bytes, &mut file)? {
                written if written == *length => Ok(()),
                _ => Err(io::Error::other("the content is cut off")),
            }
        }
    }
}

/// The permission bits of the file that stands at a path.
fn mode_there(folder: &OwnedFd, path: &RepoPath) -> Option<Mode> {
    let name = os_path(path.name());
    let stat = fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    is_file.then(|| Mode::from_raw_mode(stat.st_mode))
}

/// Executable for everyone who may read, or for nobody. Set-user-id and the like are not carried over.
fn with_executable(mode: Mode, executable: bool) -> Mode {
    let bits = mode.bits() & 0o777;
    Mode::from_bits_truncate(match executable {
        true => bits | ((bits & 0o444) >> 2),
        false => bits & !0o111,
    })
}

/// Gives the new file its name. Returns whether something stood there, which then has the temporary name.
fn swap(folder: &OwnedFd, path: &RepoPath, temporary: &RepoPath) -> io::Result<bool> {
    let (name, other) = (os_path(path.name()), os_path(temporary.name()));
    let rename = |flags| fs::renameat_with(folder, other, folder, name, flags);
    for _ in 0..10 {
        match rename(RenameFlags::EXCHANGE) {
            Ok(()) => return keep_folders(folder, path, temporary).map(|()| true),
            Err(Errno::NOENT) => match rename(RenameFlags::NOREPLACE) {
                Ok(()) => return Ok(false),
                Err(Errno::EXIST) => {}
                Err(Errno::INVAL | Errno::NOSYS) => {
                    return swap_by_link(folder, path, temporary);
                }
                Err(error) => return Err(error.into()),
            },
            Err(Errno::INVAL | Errno::NOSYS) => return swap_by_link(folder, path, temporary),
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::Error::other("it appears and disappears all the time"))
}

/// A folder that appeared at the last moment goes back where it was.
fn keep_folders(folder: &OwnedFd, path: &RepoPath, temporary: &RepoPath) -> io::Result<()> {
    let (name, other) = (os_path(path.name()), os_path(temporary.name()));
    // The exchange is done: from here on the temporary name holds what stood there, and must not be given up.
    let stat = fs::statat(folder, other, AtFlags::SYMLINK_NOFOLLOW);
    let is_folder = |stat: fs::Stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
    if !stat.is_ok_and(is_folder) {
        return Ok(());
    }
    fs::renameat_with(folder, other, folder, name, RenameFlags::EXCHANGE)?;
    Err(io::Error::other("a folder appeared in its place"))
}

/// Where names can't be exchanged: the old file gets a second name first, then the new one takes its name.
fn swap_by_link(folder: &OwnedFd, path: &RepoPath, temporary: &RepoPath) -> io::Result<bool> {
    let (name, new) = (os_path(path.name()), os_path(temporary.name()));
    let aside = temporary_beside(path)?;
    let aside = os_path(aside.name());
    let there = match fs::linkat(folder, name, folder, aside, AtFlags::empty()) {
        Ok(()) => true,
        Err(Errno::NOENT) => false,
        Err(error) => return Err(error.into()),
    };
    fs::renameat(folder, new, folder, name)?;
    if there {
        fs::renameat(folder, aside, folder, new)?;
    }
    Ok(there)
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP)
    )
}
