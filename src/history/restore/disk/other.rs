//! The same with paths instead of open folders, for systems that know no others: a link put in the place of a folder at
//! the last moment is followed there.

use std::fs;
use std::path::PathBuf;

use super::{Content, Disk, Displaced, Look, OnDisk, RepoPath, Standing, io, temporary_beside};
use crate::gitengine::git_bytes;

impl Disk {
    /// May names come and go in this folder? The system does not tell.
    pub(super) fn may_change_in(&self, _folder: Option<&RepoPath>) -> bool {
        true
    }

    fn folder_of(&self, path: &RepoPath) -> io::Result<PathBuf> {
        for folder in path.ancestors() {
            match self.at(&folder) {
                OnDisk::Folder => {}
                OnDisk::Nothing => fs::create_dir(folder.below(&self.top))?,
                _ => return Err(io::Error::other("the way leads through a file or a link")),
            }
        }
        Ok(path
            .below(&self.top)
            .parent()
            .map_or_else(|| self.top.clone(), PathBuf::from))
    }

    /// Opens the file or link at a path.
    pub(super) fn open(&self, path: &RepoPath) -> io::Result<Option<Standing>> {
        let file = path.below(&self.top);
        Ok(match self.at(path) {
            OnDisk::File => Some(Standing::File(fs::File::open(file)?)),
            OnDisk::Link => Some(Standing::Link(git_bytes(&fs::read_link(file)?))),
            _ => None,
        })
    }

    /// Puts this content at a path. What stands there is returned under another name.
    ///
    /// # Errors
    ///
    /// The system refuses. The path is as before then.
    pub fn place(
        &self,
        path: &RepoPath,
        content: &mut Content<'_>,
    ) -> io::Result<Option<Displaced>> {
        self.folder_of(path)?;
        let temporary = temporary_beside(path)?;
        let new = temporary.below(&self.top);
        match content {
            // Links need a privilege here: what a link would be is written as a file, as git does.
            Content::Link(target) => fs::write(&new, target)?,
            Content::File {
                length,
                bytes,
                executable,
                fresh,
            } => {
                let _no_such_bits = (executable, fresh);
                let mut file = fs::File::create_new(&new)?;
                if io::copy(bytes, &mut file)? != *length {
                    fs::remove_file(&new)?;
                    return Err(io::Error::other("the content is cut off"));
                }
            }
        }
        let displaced = self.take_away(path)?;
        fs::rename(&new, path.below(&self.top))?;
        Ok(displaced)
    }

    /// Takes the file at a path away, under another name. `None` where there is none.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn take_away(&self, path: &RepoPath) -> io::Result<Option<Displaced>> {
        if !matches!(self.at(path), OnDisk::File | OnDisk::Link) {
            return Ok(None);
        }
        let aside = temporary_beside(path)?;
        match fs::rename(path.below(&self.top), aside.below(&self.top)) {
            // Somebody else has removed it just now.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            renamed => renamed.map(|()| Some(Displaced { path: aside })),
        }
    }

    /// Removes what was displaced, unless somebody else has.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn discard(&self, displaced: &Displaced) -> io::Result<()> {
        match fs::remove_file(displaced.path.below(&self.top)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// There are no executable bits here.
    ///
    /// # Errors
    ///
    /// None.
    pub fn set_executable(&self, _: &RepoPath, _: bool) -> io::Result<()> {
        Ok(())
    }

    /// Removes the folder at a path and the folders in it, if there is nothing else in them.
    ///
    /// # Errors
    ///
    /// There is.
    pub fn remove_empty_folder(&self, path: &RepoPath) -> io::Result<()> {
        remove_empty(&path.below(&self.top))
    }

    /// Makes a folder at a path, and those on the way to it.
    ///
    /// # Errors
    ///
    /// Something stands there, or the system refuses.
    pub fn make_folder(&self, path: &RepoPath) -> io::Result<()> {
        self.folder_of(path)?;
        fs::create_dir(path.below(&self.top))
    }

    /// Removes the folder at a path with all that is in it.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn remove_folder(&self, path: &RepoPath) -> io::Result<()> {
        fs::remove_dir_all(path.below(&self.top))
    }

    /// Removes the folders above a path that have become empty.
    pub fn prune_above(&self, path: &RepoPath) {
        let mut next = path.parent();
        while let Some(folder) = next {
            if fs::remove_dir(folder.below(&self.top)).is_err() {
                return;
            }
            next = folder.parent();
        }
    }
}

fn remove_empty(folder: &std::path::Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        remove_empty(&entry?.path())?;
    }
    fs::remove_dir(folder)
}
