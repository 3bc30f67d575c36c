//! New objects lie in a folder of edio's own until a ref is about to need them.
//!
//! What a killed command has written is then nobody's litter. And a `git gc --prune=now` of somebody else, which takes
//! what no ref leads to yet, finds nothing to take: the objects are given to the repository just before the ref, looked
//! for once more just after it, and kept here as well until no gc is under way any more.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::process::is_alive;

use super::command::{Git, Survives};
use super::error::{GitError, Result};
use super::index::remove_if_there;
use super::paths::git_bytes;

/// Its presence says that of what lies beside it, something was given to the repository.
const GIVEN: &str = "given";

/// The order within a pack: git takes it for whole when its index is there.
const PACK_ENDS: [&str; 4] = ["pack", "rev", "mtimes", "idx"];

impl Git {
    /// The same, with new objects written into this folder, which is made or emptied. What a command before gave to the
    /// repository, and a gc may have taken away since, is given once more first.
    ///
    /// # Errors
    ///
    /// The folder can't be written.
    pub fn in_quarantine(&self, folder: &Path) -> Result<Self> {
        let git = Self {
            quarantine: Some(folder.to_owned()),
            ..self.clone()
        };
        let made = fs::create_dir_all(folder);
        made.map_err(|error| failed(folder, error))?;
        if folder.join(GIVEN).exists() {
            git.give_objects()?;
        }
        if !self.is_gc_under_way() {
            clear(folder).map_err(|error| failed(folder, error))?;
        }
        Ok(git)
    }

    /// Gives once more what a gc took away that had looked at the refs before they were changed. It is waited for, half a
    /// second at most: after that, the next command gives it.
    ///
    /// # Errors
    ///
    /// They can't be written.
    pub fn give_again(&self) -> Result<()> {
        if self.quarantine.is_some() {
            for _ in 0..50 {
                if !self.is_gc_under_way() {
                    break;
                }
                thread::sleep(Duration::from_millis(10));
            }
        }
        self.give_objects()?;
        // Where nothing can take them away any more, the next command need not look for them.
        match &self.quarantine {
            Some(folder) if !self.is_gc_under_way() => {
                remove_if_there(&folder.join(GIVEN)).map_err(|error| failed(folder, error))
            }
            _ => Ok(()),
        }
    }

    /// A gc notes its process in a file as long as it runs; one that was killed leaves that file behind. After twelve hours
    /// git itself does not believe it any more.
    pub fn is_gc_under_way(&self) -> bool {
        let file = self.common_dir.join("gc.pid");
        let Ok(note) = fs::read_to_string(&file) else {
            return false;
        };
        if self.is_older_than(&file, Duration::from_secs(12 * 60 * 60)) {
            return false;
        }
        let number = note.split_whitespace().next();
        number
            .and_then(|number| number.parse().ok())
            .is_some_and(is_alive)
    }

    /// Gives the repository all new objects: what it has already stays as it is.
    ///
    /// # Errors
    ///
    /// They can't be written.
    pub fn give_objects(&self) -> Result<()> {
        let Some(folder) = &self.quarantine else {
            return Ok(());
        };
        let objects = self.common_dir.join("objects");
        let given = give(folder, &objects).and_then(|folders| match self.survives {
            Survives::PowerCut => folders.iter().try_for_each(|folder| sync(folder)),
            Survives::Kill => Ok(()),
        });
        given.map_err(|source| GitError::Objects {
            folder: objects,
            source,
        })
    }

    /// By the clock of the file system.
    fn is_older_than(&self, file: &Path, age: Duration) -> bool {
        let Some(folder) = &self.quarantine else {
            return false;
        };
        let modified = |file: &Path| fs::metadata(file).and_then(|meta| meta.modified());
        let now = folder.join("now");
        let now = fs::write(&now, "").and_then(|()| modified(&now));
        let since = now.ok().zip(modified(file).ok());
        let since = since.and_then(|(now, then)| now.duration_since(then).ok());
        since.is_some_and(|since| since > age)
    }

    /// What tells git where new objects go, and where the others are.
    pub(super) fn quarantine_variables(&self) -> Option<[(&'static str, Vec<u8>); 2]> {
        let folder = self.quarantine.as_ref()?;
        Some([
            ("GIT_OBJECT_DIRECTORY", git_bytes(folder)),
            (
                "GIT_ALTERNATE_OBJECT_DIRECTORIES",
                quoted(&git_bytes(&self.common_dir.join("objects"))),
            ),
        ])
    }
}

fn failed(folder: &Path, error: io::Error) -> GitError {
    GitError::file(format!("writing in {}", folder.display()), error)
}

/// As git reads an item of a list of folders: a colon in it would end it (git(1), `GIT_ALTERNATE_OBJECT_DIRECTORIES`).
fn quoted(path: &[u8]) -> Vec<u8> {
    let mut quoted = vec![b'"'];
    for &byte in path {
        match byte {
            b'"' | b'\\' => quoted.extend([b'\\', byte]),
            b'\n' => quoted.extend(b"\\n"),
            _ => quoted.push(byte),
        }
    }
    quoted.push(b'"');
    quoted
}

/// Empties the folder. The small folders in it go, too: to look into 256 of them takes as long as a git process.
fn clear(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => remove_if_there(&entry.path())?,
        }
    }
    Ok(())
}

fn files_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => found.extend(files_in(&entry.path())?),
            false => found.push(entry.path()),
        }
    }
    Ok(found)
}

/// Returns the folders that got something new.
fn give(from: &Path, to: &Path) -> io::Result<BTreeSet<PathBuf>> {
    let mut objects: Vec<PathBuf> = files_in(from)?;
    objects.retain(|file| is_object(file));
    let end = |file: &PathBuf| {
        let end = file.extension().and_then(|end| end.to_str());
        PACK_ENDS.iter().position(|known| Some(*known) == end)
    };
    objects.sort_by_key(end);
    let mut folders = BTreeSet::new();
    for file in &objects {
        let name = file.strip_prefix(from).map_err(io::Error::other)?;
        let there = to.join(name);
        if link(file, &there, 10)? == Linked::Anew {
            folders.extend(there.parent().map(Path::to_owned));
        }
    }
    if !objects.is_empty() {
        fs::write(from.join(GIVEN), "")?;
    }
    Ok(folders)
}

/// Syncs the names in a folder to disk.
///
/// Where the folder is gone, a gc has taken all of it away again: it is given once more when the refs are changed.
#[cfg(unix)]
fn sync(folder: &Path) -> io::Result<()> {
    match fs::File::open(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        open => open?.sync_all(),
    }
}

/// The system syncs names by itself.
#[cfg(not(unix))]
fn sync(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Is it a whole object, or a part of a whole pack? What a killed git left has other names.
fn is_object(file: &Path) -> bool {
    let name = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
    let (Some(folder), Some(file)) = (file.parent().and_then(name), name(file)) else {
        return false;
    };
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    (folder.len() == 2 && is_hex(&folder) && is_hex(&file))
        || (folder == "pack" && file.starts_with("pack-"))
}

#[derive(PartialEq, Eq)]
enum Linked {
    Anew,
    Before,
}

/// Gives a file another name. Where the two lie on different file systems, it is copied.
fn link(from: &Path, to: &Path, tries: usize) -> io::Result<Linked> {
    match fs::hard_link(from, to) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(Linked::Before),
        // A gc that is under way removes the folders that it finds empty.
        Err(error) if error.kind() == io::ErrorKind::NotFound && tries > 0 => {
            make_like_its_parent(to.parent().unwrap_or(to))?;
            return link(from, to, tries - 1);
        }
        Err(_) => copy(from, to)?,
        Ok(()) => {}
    }
    Ok(Linked::Anew)
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let folder = to.parent().unwrap_or(to);
    let aside = tempfile::Builder::new()
        .prefix("tmp_obj_")
        .tempfile_in(folder)?;
    fs::copy(from, aside.path())?;
    aside.persist(to).map(drop).map_err(|error| error.error)
}

/// Makes a folder with the rights of the one that it is made in: a repository may be shared by a group.
fn make_like_its_parent(folder: &Path) -> io::Result<()> {
    let above = folder.parent().unwrap_or(folder);
    let rights = fs::metadata(above)?.permissions();
    match fs::create_dir(folder).and_then(|()| fs::set_permissions(folder, rights)) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
