//! Carrying out a plan. Every step leaves each path with its old or its new content, never half of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;

use crate::error::{Error, Result};
use crate::gitengine::{Conversion, Entry, Git, GitError, Mode, Objects, Oid, RepoPath, Settings};

use super::super::bytes::RawIds;
use super::disk::{Content, Disk, Displaced};
use super::modes::Modes;
use super::plan::{Action, Look, OnDisk, Plan};
use super::source::{Sources, content_is_missing};

/// What was done.
#[derive(Debug, Default)]
pub struct Applied {
    /// Paths written, or whose executable bit was changed.
    pub written: usize,
    /// Paths removed.
    pub removed: usize,
    /// What was displaced and is another than what was saved: somebody changed it meanwhile.
    pub strangers: Vec<Stranger>,
}

/// A file that was changed between the safety snapshot and its overwriting.
#[derive(Debug)]
pub struct Stranger {
    /// The path that it had.
    pub path: RepoPath,
    /// Where it is now.
    pub displaced: Displaced,
}

/// What is saved of the files that are displaced.
pub struct Known<'a> {
    /// Ignored files, with their blobs.
    pub saved: &'a BTreeMap<RepoPath, Oid>,
    /// What is on disk where that is not the blob.
    pub raw_ids: &'a RawIds,
    /// What the user has set.
    pub settings: &'a Settings,
}

/// Starts to read the blobs that a plan writes, in its order: git is at it while something else is done. `None` where it
/// writes nothing.
///
/// # Errors
///
/// git could not be started.
pub fn start_contents(git: &Git, plan: &Plan, sources: &Sources) -> Result<Option<Objects>> {
    let writes = plan.actions.iter().filter_map(written);
    let blobs = writes.map(|(path, new, _)| sources.blob(path, new));
    let blobs: Vec<Option<&Oid>> = blobs.collect();
    let oids: Vec<Oid> = blobs.iter().flatten().copied().cloned().collect();
    match blobs.is_empty() {
        true => Ok(None),
        false => Ok(Some(git.objects_after_a_look(&oids)?)),
    }
}

/// Looks whether all contents are there that [`start_contents`] has begun to read.
///
/// # Errors
///
/// One is missing, or git failed.
pub fn look_for_contents(plan: &Plan, sources: &Sources, contents: &mut Objects) -> Result<()> {
    for (path, new, _) in plan.actions.iter().filter_map(written) {
        if let Some(blob) = sources.blob(path, new)
            && !contents.next_is_there()?
        {
            return Err(content_is_missing(path, blob));
        }
    }
    Ok(())
}

type Write<'a> = (&'a RepoPath, &'a Entry, Option<&'a Entry>);

fn written<'a>((path, action): (&'a RepoPath, &'a Action)) -> Option<Write<'a>> {
    match action {
        Action::Write { new, old } => Some((path, new, old.as_ref())),
        _ => None,
    }
}

/// Carries out a plan, with the contents that [`start_contents`] has begun to read.
///
/// # Errors
///
/// The system refuses somewhere. The paths before that one are done, those after it are not.
pub fn apply(
    git: &Git,
    disk: &Disk,
    plan: &Plan,
    sources: &Sources,
    contents: Option<Objects>,
    known: &Known<'_>,
) -> Result<Applied> {
    let modes = Modes::of(git, disk, known.settings, plan)?;
    let mut work = Work {
        git,
        disk,
        sources,
        known,
        modes: &modes,
        applied: Applied::default(),
    };
    let (first, last) = removals(plan);
    work.remove(&first)?;
    if let Some(contents) = contents {
        work.write(plan, contents)?;
    }
    work.set_modes(plan)?;
    work.remove(&last)?;
    verify(disk, plan, &modes)?;
    Ok(work.applied)
}

type Removal<'a> = (&'a RepoPath, &'a Entry);

/// What is removed, in two parts: what stands in the way of a write goes first.
fn removals(plan: &Plan) -> (Vec<Removal<'_>>, Vec<Removal<'_>>) {
    let written: BTreeSet<&RepoPath> = plan.written().collect();
    let folders: BTreeSet<RepoPath> = plan.written().flat_map(RepoPath::ancestors).collect();
    let removed = plan
        .actions
        .iter()
        .filter_map(|(path, action)| match action {
            Action::Remove { old } => Some((path, old)),
            _ => None,
        });
    removed.partition(|(path, _)| {
        folders.contains(path) || path.ancestors().any(|folder| written.contains(&folder))
    })
}

struct Work<'a> {
    git: &'a Git,
    disk: &'a Disk,
    sources: &'a Sources,
    known: &'a Known<'a>,
    modes: &'a Modes,
    applied: Applied,
}

impl Work<'_> {
    fn remove(&mut self, removals: &[Removal<'_>]) -> Result<()> {
        for (path, old) in removals {
            let displaced = self
                .disk
                .take_away(path)
                .map_err(|error| stopped(path, error))?;
            if let Some(displaced) = displaced {
                self.part_with(path, displaced, Some(old))?;
                self.applied.removed += 1;
            }
            self.disk.prune_above(path);
        }
        Ok(())
    }

    fn write(&mut self, plan: &Plan, mut objects: Objects) -> Result<()> {
        let sources = self.sources;
        for (path, new, old) in plan.actions.iter().filter_map(written) {
            let mode = self.modes.on_disk(self.disk, path, new, old);
            let displaced = match sources.blob(path, new) {
                Some(blob) => {
                    let length = objects.next_of("blob", blob);
                    let length = length.map_err(|error| cut_off(path, blob, error))?;
                    let mut bytes = objects.answer.reader.by_ref().take(length);
                    let fresh = plan.beside.get(path).copied().flatten();
                    match self.place(path, mode, length, &mut bytes, fresh) {
                        Ok(displaced) => {
                            objects.end_of_object()?;
                            displaced
                        }
                        // git ends where it can't read on.
                        Err(_)
                            if bytes.limit() > 0
                                && bytes.fill_buf().is_ok_and(<[u8]>::is_empty) =>
                        {
                            let error = objects.answer.unexpected("the output is cut off");
                            return Err(cut_off(
                                path,
                                blob,
                                objects.answer.close().err().unwrap_or(error),
                            ));
                        }
                        Err(error) => return Err(stopped(path, error)),
                    }
                }
                None => self
                    .place_staged(path, mode, &sources.staged(path))
                    .map_err(|error| stopped(path, error))?,
            };
            if let Some(displaced) = displaced {
                self.part_with(path, displaced, old)?;
            }
            self.applied.written += 1;
        }
        Ok(objects.answer.close()?)
    }

    fn place(
        &self,
        path: &RepoPath,
        mode: Mode,
        length: u64,
        bytes: &mut dyn Read,
        fresh: Option<u32>,
    ) -> io::Result<Option<Displaced>> {
        // Plan and disk may disagree by now: a folder that is left has nothing in it, or this fails.
        if self.disk.at(path) == OnDisk::Folder {
            self.disk.remove_empty_folder(path)?;
        }
        if mode == Mode::Symlink {
            return self.place_link(path, bytes);
        }
        let executable = mode == Mode::Executable;
        self.disk.place(
            path,
            &mut Content::File {
                length,
                bytes,
                executable,
                fresh,
            },
        )
    }

    fn place_link(&self, path: &RepoPath, bytes: &mut dyn Read) -> io::Result<Option<Displaced>> {
        let mut target = Vec::new();
        bytes.read_to_end(&mut target)?;
        match self.disk.place(path, &mut Content::Link(&target)) {
            Err(error) if self.modes.link_is_a_text(&error) => {
                let mut text = Content::File {
                    length: target.len() as u64,
                    bytes: &mut target.as_slice(),
                    executable: false,
                    fresh: None,
                };
                self.disk.place(path, &mut text)
            }
            placed => placed,
        }
    }

    fn place_staged(
        &self,
        path: &RepoPath,
        mode: Mode,
        staged: &Path,
    ) -> io::Result<Option<Displaced>> {
        let mut file = File::open(staged)?;
        let length = file.metadata()?.len();
        self.place(path, mode, length, &mut file, None)
    }

    fn set_modes(&mut self, plan: &Plan) -> Result<()> {
        for (path, action) in &plan.actions {
            if let Action::SetMode { new } = action {
                let executable = new.mode == Mode::Executable;
                let set = self.disk.set_executable(path, executable);
                set.map_err(|error| stopped(path, error))?;
                self.applied.written += 1;
            }
        }
        Ok(())
    }

    /// Discards what was displaced if it is what was saved. If it is another, it is kept until that is saved too.
    fn part_with(
        &mut self,
        path: &RepoPath,
        displaced: Displaced,
        old: Option<&Entry>,
    ) -> Result<()> {
        let raw = old.and_then(|old| self.known.raw_ids.of(path, old));
        let saved = self.known.saved.get(path);
        let known = saved.or(raw).or(old.map(|old| &old.oid));
        let now = self.disk.blob_id(&displaced.path, self.git.format);
        let is_known = match (&now, known) {
            (Ok(Some(now)), Some(known)) => {
                now == known || raw.is_none() && self.is_as_filtered(path, &displaced, known)?
            }
            _ => false,
        };
        if !is_known {
            let path = path.clone();
            self.applied.strangers.push(Stranger { path, displaced });
            return Ok(());
        }
        self.disk
            .discard(&displaced)
            .map_err(|error| stopped(path, error))
    }

    /// Is it what Git LFS makes into the pointer that was saved?
    fn is_as_filtered(&self, path: &RepoPath, displaced: &Displaced, known: &Oid) -> Result<bool> {
        if self.disk.at(&displaced.path) != OnDisk::File {
            return Ok(false);
        }
        // Only of Git LFS is it sure that the bytes are kept elsewhere.
        let conversion = self
            .git
            .conversions(self.known.settings, std::slice::from_ref(path))?;
        if conversion.first() != Some(&Conversion::Lfs) {
            return Ok(false);
        }
        let filtered = self.git.hash_as(&displaced.path, path)?;
        Ok(filtered.as_ref() == Some(known))
    }
}

/// Looks once more whether each path is what the plan wanted.
fn verify(disk: &Disk, plan: &Plan, modes: &Modes) -> Result<()> {
    for (path, action) in &plan.actions {
        let there = disk.at(path);
        let right = match action {
            Action::Write { new, .. } | Action::SetMode { new } => modes.is(there, new.mode),
            Action::Remove { .. } => matches!(there, OnDisk::Nothing | OnDisk::Folder),
            Action::Keep(_) => true,
        };
        if !right {
            return Err(stopped(
                path,
                io::Error::other("it was changed while it was restored"),
            ));
        }
    }
    Ok(())
}

fn stopped(path: &RepoPath, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    // What is on disk became a turn before.
    Error::cannot(format!("the restore stopped at {path}"))
        .because(error)
        .hint("to finish it: give the same command again, a turn by its number (last and @ are another one now)")
}

/// Stopped in the middle of a content that is damaged: to try again does not help.
fn cut_off(path: &RepoPath, blob: &Oid, error: GitError) -> Error {
    Error::cannot(format!(
        "the restore stopped at {path}: its content, the blob {blob}, is damaged"
    ))
    .because(error)
    .hint("to have other paths of that turn: edio restore TURN -f FILE")
}
