//! Files put where they are wanted, and taken away where they are not.

use std::fs::{self, File};
use std::io::{self, Read};

use super::standing::Held;
use super::wishes::{Source, Wanted};
use super::{Checkout, interrupted};
use crate::error::{Error, Result, While};
use crate::gitengine::{GitError, Mode, Objects, Oid, RepoPath};
use crate::history::restore::disk::Content;
use crate::history::restore::{Look, OnDisk};

impl Checkout<'_> {
    pub(super) fn write(
        &mut self,
        writes: &[(RepoPath, Wanted)],
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<()> {
        let blobs = writes
            .iter()
            .filter_map(|(_, wanted)| match &wanted.source {
                Source::Blob(oid) => Some(oid.clone()),
                _ => None,
            });
        let blobs: Vec<Oid> = blobs.collect();
        let workspace = self.room.workspace;
        let mut objects = workspace.git.objects(&blobs)?;
        for (path, wanted) in writes {
            if is_interrupted() {
                return Err(interrupted());
            }
            self.clear(path).or_cannot(|| self.cannot("write", path))?;
            let held = Held {
                wanted: wanted.clone(),
                bytes: self.put(path, wanted, &mut objects)?,
                stamp: None,
            };
            self.held.insert(path.clone(), held);
        }
        Ok(objects.answer.close()?)
    }

    /// Puts at a path what is wanted there. Returns the bytes, as a blob.
    fn put(&self, path: &RepoPath, wanted: &Wanted, objects: &mut Objects) -> Result<Option<Oid>> {
        match &wanted.source {
            Source::Nowhere => {
                let made = self.disk.make_folder(path);
                made.or_cannot(|| self.cannot("make", path))?;
                Ok(None)
            }
            Source::Blob(oid) => {
                let length = objects.next_of("blob", oid);
                let length = length.map_err(|error| self.no_content(path, oid, error))?;
                let mut bytes = objects.answer.reader.by_ref().take(length);
                self.place(path, wanted.mode, length, &mut bytes)?;
                objects.end_of_object()?;
                Ok(Some(oid.clone()))
            }
            Source::Link(oid) => {
                let mut links = self.room.links.iter();
                if let Some((_, target)) = links.find(|(link, _)| link == path) {
                    let length = target.len() as u64;
                    self.place(path, wanted.mode, length, &mut target.as_slice())?;
                }
                Ok(Some(oid.clone()))
            }
            Source::Filtered { .. } => self.place_staged(path, wanted.mode).map(Some),
        }
    }

    fn no_content(&self, path: &RepoPath, oid: &Oid, error: GitError) -> Error {
        let error = Error::cannot(format!("the content of {path} can't be read")).because(error);
        match self.room.workspace.settings.is_partial_clone() {
            true => error.hint(format!("to fetch it: git cat-file -e {oid}")),
            false => error,
        }
    }

    fn place_staged(&self, path: &RepoPath, mode: Mode) -> Result<Oid> {
        let staged = path.below(&self.stage);
        let open = || File::open(&staged).or_cannot(|| format!("can't read {}", staged.display()));
        let length = fs::metadata(&staged).map_or(0, |meta| meta.len());
        self.place(path, mode, length, &mut open()?)?;
        let format = self.room.workspace.git.format;
        let id = format.hash_blob(length, open()?);
        id.or_cannot(|| format!("can't read {}", staged.display()))
    }

    pub(super) fn place(
        &self,
        path: &RepoPath,
        mode: Mode,
        length: u64,
        bytes: &mut dyn Read,
    ) -> Result<()> {
        let placed = if mode == Mode::Symlink {
            let mut target = Vec::new();
            let read = bytes.read_to_end(&mut target);
            read.and_then(|_| self.disk.place(path, &mut Content::Link(&target)))
        } else {
            let executable = mode == Mode::Executable;
            let mut content = Content::File {
                fresh: None,
                length,
                bytes,
                executable,
            };
            self.disk.place(path, &mut content)
        };
        let discarded = placed.and_then(|displaced| match displaced {
            Some(displaced) => self.disk.discard(&displaced),
            None => Ok(()),
        });
        discarded.or_cannot(|| self.cannot("write", path))
    }

    /// Makes way for a path: whatever stands there, or on the way to it and is no folder, goes.
    pub(super) fn clear(&self, path: &RepoPath) -> io::Result<()> {
        for folder in path.ancestors() {
            match self.disk.at(&folder) {
                OnDisk::Folder => {}
                OnDisk::Nothing => return Ok(()),
                _ => return self.take_away(&folder),
            }
        }
        match self.disk.at(path) {
            OnDisk::Nothing => Ok(()),
            OnDisk::Folder => self.disk.remove_folder(path),
            _ => self.take_away(path),
        }
    }

    /// Removes what the turn before held. A folder that a command has made in its place stays.
    pub(super) fn remove(&self, path: &RepoPath) -> io::Result<()> {
        match self.disk.at(path) {
            OnDisk::Nothing => {}
            // Of a submodule: where something is in it, a command has put it there.
            OnDisk::Folder => drop(self.disk.remove_empty_folder(path)),
            _ => self.take_away(path)?,
        }
        self.disk.prune_above(path);
        Ok(())
    }

    pub(super) fn take_away(&self, path: &RepoPath) -> io::Result<()> {
        match self.disk.take_away(path)? {
            Some(displaced) => self.disk.discard(&displaced),
            None => Ok(()),
        }
    }
}
