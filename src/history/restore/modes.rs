//! As what a file or link is written where git is told that the disk does not show modes: `core.fileMode` and
//! `core.symlinks` are false.
//!
//! There the trees have the modes of the user's index, and what the disk shows is not compared. So what stands there keeps
//! its executable bit through a change of its content, and a link that stands there stays one.

use std::collections::BTreeSet;
use std::io;

use crate::error::Result;
use crate::gitengine::{Entry, Git, Mode, RepoPath, Settings};

use super::disk::Disk;
use super::plan::{Action, Look, OnDisk, Plan};

/// What decides about it in one restore.
pub struct Modes {
    bits_are_shown: bool,
    links_are_shown: bool,
    /// Links that stand on disk as files, with their target as text.
    texts: BTreeSet<RepoPath>,
}

impl Modes {
    /// What holds for this plan.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn of(git: &Git, disk: &Disk, settings: &Settings, plan: &Plan) -> Result<Self> {
        let links_are_shown = !settings.is_false("core.symlinks");
        Ok(Self {
            bits_are_shown: !settings.is_false("core.filemode"),
            links_are_shown,
            texts: match links_are_shown {
                true => BTreeSet::new(),
                false => texts(git, disk, plan)?,
            },
        })
    }

    /// The mode that a path gets on disk.
    pub fn on_disk(&self, disk: &Disk, path: &RepoPath, new: &Entry, old: Option<&Entry>) -> Mode {
        let is_as_before = old.is_some_and(|old| old.mode == new.mode);
        match new.mode {
            Mode::Symlink if self.texts.contains(path) => Mode::File,
            mode if mode.is_file() && !self.bits_are_shown && is_as_before => {
                disk.mode(path).unwrap_or(mode)
            }
            mode => mode,
        }
    }

    /// Is a link to be a file with its target as text, since the disk takes no links?
    pub fn link_is_a_text(&self, error: &io::Error) -> bool {
        let takes_none = [io::ErrorKind::PermissionDenied, io::ErrorKind::Unsupported];
        !self.links_are_shown && takes_none.contains(&error.kind())
    }

    /// Does a path stand there as this mode?
    pub fn is(&self, there: OnDisk, mode: Mode) -> bool {
        match mode {
            Mode::Symlink if there == OnDisk::Link => true,
            Mode::Symlink => !self.links_are_shown && there == OnDisk::File,
            _ => there == OnDisk::File,
        }
    }
}

/// Those among the links of a plan that git itself has checked out as text: it has them in the user's index. A link that
/// it lacks there was found as one.
fn texts(git: &Git, disk: &Disk, plan: &Plan) -> Result<BTreeSet<RepoPath>> {
    let links = plan
        .actions
        .iter()
        .filter_map(|(path, action)| match action {
            Action::Write { new, .. } if new.mode == Mode::Symlink => Some(path),
            _ => None,
        });
    let links: BTreeSet<&RepoPath> = links.filter(|path| disk.at(path) != OnDisk::Link).collect();
    if links.is_empty() {
        return Ok(BTreeSet::new());
    }
    let users = git.list_index(&git.users_index())?.entries.into_iter();
    let texts = users.filter(|entry| entry.mode == Mode::Symlink && links.contains(&entry.path));
    Ok(texts.map(|entry| entry.path).collect())
}
