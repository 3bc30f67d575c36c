//! A folder that holds checkouts: where it may lie, and what becomes of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Checkout, is_folder};
use crate::error::{Error, Result, While};
use crate::gitengine::{RepoPath, git_bytes};
use crate::history::lock::Claim;
use crate::history::realpath::real;
use crate::history::restore::disk::Disk;
use crate::history::workspace::{Start, Workspace};

/// The file by which a folder is known as one that edio made.
const MARK: &str = "edio-checkouts";

/// What that file says.
const MARKED: &str = "edio made this folder, for `edio exec --keep` and `edio bisect --keep`.\n\
                      The files of a turn are in tree, tree-2, …; all of it may be removed.\n";

/// A folder that holds checkouts.
pub struct Room<'w> {
    pub(super) workspace: &'w Workspace,
    folder: PathBuf,
    pub(super) stay: Stay,
    pub(super) links: Vec<(RepoPath, Vec<u8>)>,
    _claim: Option<Claim>,
}

/// What becomes of checkouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stay {
    /// They go with the room.
    Removed,
    /// The next command goes on with them.
    Kept,
}

impl<'w> Room<'w> {
    /// A room in a fresh folder, which is empty again at the end.
    ///
    /// # Errors
    ///
    /// The folder lies where the user's files or git's are.
    pub fn temporary(workspace: &'w Workspace, folder: &Path) -> Result<Self> {
        let folder = real_folder(folder)?;
        refuse_inside(workspace, &folder).map_err(|error| {
            error.hint("name a folder elsewhere with --keep, or set TMPDIR to one")
        })?;
        Ok(Self {
            workspace,
            folder,
            stay: Stay::Removed,
            links: Vec::new(),
            _claim: None,
        })
    }

    /// A room in a folder that stays, made where there is none.
    ///
    /// # Errors
    ///
    /// It lies where the user's files or git's are, has something in it that is not edio's, or another edio works in it.
    pub fn kept(workspace: &'w Workspace, folder: &Path) -> Result<Self> {
        let folder = real_folder(folder)?;
        refuse_inside(workspace, &folder).map_err(|error| error.hint("name a folder elsewhere"))?;
        let made = fs::create_dir_all(&folder);
        made.or_cannot(|| format!("can't make {}", folder.display()))?;
        let mark = folder.join(MARK);
        if !mark.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
            let mut inside =
                fs::read_dir(&folder).or_cannot(|| format!("can't read {}", folder.display()))?;
            if inside.next().is_some() {
                return Err(Error::refused(format!(
                    "{} is not empty, and was not made by edio",
                    folder.display()
                ))
                .hint("name an empty folder, or one that does not exist yet"));
            }
            fs::write(&mark, MARKED).or_cannot(|| format!("can't write {}", mark.display()))?;
        }
        Ok(Self {
            workspace,
            _claim: Some(Claim::on(&mark)?),
            folder,
            stay: Stay::Kept,
            links: Vec::new(),
        })
    }

    /// Has each checkout lead to these files and folders of the work tree, where its turn holds nothing.
    ///
    /// # Errors
    ///
    /// One of them is not there, or lies outside.
    pub fn link(&mut self, arguments: &[PathBuf]) -> Result<()> {
        for argument in arguments {
            let shown = argument.display();
            let path = self.workspace.path_argument(argument, Start::Here)?;
            let path = path.ok_or_else(|| {
                Error::usage(format!("{shown} is the whole work tree"))
                    .hint("name an ignored file or folder in it")
            })?;
            let target = path.below(&self.workspace.git.work_tree);
            if target.symlink_metadata().is_err() {
                return Err(
                    Error::cannot(format!("there is no {path} in the work tree"))
                        .hint("name an ignored file or folder that is there"),
                );
            }
            let overlaps =
                |(other, _): &&(RepoPath, Vec<u8>)| path.is_within(other) || other.is_within(&path);
            if let Some((other, _)) = self.links.iter().find(overlaps) {
                return Err(Error::usage(format!(
                    "one of {other} and {path} lies in the other"
                )));
            }
            self.links.push((path, git_bytes(&target)));
        }
        Ok(())
    }

    /// The folder, by its real path.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The checkout of this number, from 1. In a room that was kept it is as it was left.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn checkout(&self, number: usize) -> Result<Checkout<'_>> {
        let name = match number {
            1 => "tree".to_owned(),
            number => format!("tree-{number}"),
        };
        let top = self.folder.join(&name);
        let mut checkout = Checkout {
            room: self,
            disk: Disk::new(&top),
            held: BTreeMap::new(),
            state: self.folder.join(format!("{name}.json")),
            stage: self.folder.join(format!("{name}.stage")),
            index: self.folder.join(format!("{name}.index")),
            name,
            top,
        };
        let known = fs::read(&checkout.state).ok();
        match known.and_then(|known| serde_json::from_slice::<Vec<_>>(&known).ok()) {
            Some(held) if is_folder(&checkout.top) => checkout.held = held.into_iter().collect(),
            // It is not known what is in it: edio was killed while it wrote there.
            _ => checkout.begin_anew()?,
        }
        Ok(checkout)
    }

    pub(super) fn remove(&self, name: &str) -> Result<()> {
        let gone = match RepoPath::new(name) {
            Some(name) => Disk::new(&self.folder).remove_folder(&name),
            None => Ok(()),
        };
        gone.or_cannot(|| format!("can't remove {}", self.folder.join(name).display()))
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        if self.stay == Stay::Kept {
            return;
        }
        let inside = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        for entry in inside {
            // Whoever made the folder finds out that it is not empty.
            let _ = self.remove(&entry.file_name().to_string_lossy());
        }
    }
}

fn real_folder(folder: &Path) -> Result<PathBuf> {
    real(folder).ok_or_else(|| Error::cannot(format!("can't find {}", folder.display())))
}

/// Nothing may come into the work tree, nor into the git directory.
fn refuse_inside(workspace: &Workspace, folder: &Path) -> Result<()> {
    let git = &workspace.git;
    let places = [
        (&git.git_dir, "the git directory"),
        (&git.common_dir, "the git directory"),
        (&git.work_tree, "the work tree"),
    ];
    for (place, what) in places {
        let real = place.canonicalize();
        if folder.starts_with(real.as_ref().unwrap_or(place)) {
            let folder = folder.display();
            return Err(Error::refused(format!("{folder} lies in {what}")));
        }
    }
    Ok(())
}
