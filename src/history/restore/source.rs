//! Where the bytes of a path come from that is to be written.
//!
//! From the blob of the tree, as a rule. Behind conversions: from the raw content that the turn has noted; and where it
//! has noted none, from what git's own filters make of the blob, by the attribute files of the turn.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result, While};
use crate::gitengine::{Entry, LfsFiles, Mode, Oid, PrivateIndex, RepoPath};

use super::super::bytes::{RawIds, Unnoted, may_convert, only_lfs};
use super::super::workspace::Locked;
use super::plan::{Action, Plan};

/// Looks whether the contents are there. In a partial clone a blob that was never on disk may be missing, and none is
/// fetched here.
///
/// # Errors
///
/// One is missing, or git failed.
pub fn refuse_missing(workspace: &Locked, plan: &Plan, raw_ids: &RawIds) -> Result<()> {
    let mut wanted = BTreeMap::new();
    for (path, action) in &plan.actions {
        if let Action::Write { new, .. } = action {
            let raw = raw_ids.of(path, new);
            wanted.insert(raw.unwrap_or(&new.oid).clone(), path);
        }
    }
    if wanted.is_empty() {
        return Ok(());
    }
    let oids: Vec<Oid> = wanted.keys().cloned().collect();
    let missing = workspace.git.missing(&oids)?;
    let Some((oid, path)) = missing.first().and_then(|oid| wanted.get_key_value(oid)) else {
        return Ok(());
    };
    if !workspace.settings.is_partial_clone() {
        return Err(content_is_missing(path, oid));
    }
    Err(Error::cannot(format!(
        "the content of {path} is not here: nothing was restored"
    ))
    .because(format!(
        "this is a partial clone, which lacks {} of the blobs",
        missing.len()
    ))
    .hint(format!("to fetch it: git cat-file -e {oid}"))
    .hint("or restore other paths: edio restore TURN -f FILE"))
}

/// A content that can't be read is no reason to bring back the half of a turn.
pub fn content_is_missing(path: &RepoPath, blob: &Oid) -> Error {
    Error::cannot(format!(
        "the content of {path} can't be read: nothing was restored"
    ))
    .because(format!("the blob {blob} is missing or damaged"))
    .hint("restore other paths: edio restore TURN -f FILE")
    .hint(
        "or put the object back from a copy of the repository; git fsck names all that is damaged",
    )
}

/// The sources of all paths of a plan.
#[derive(Debug, Default)]
pub struct Sources {
    raw: BTreeMap<RepoPath, Oid>,
    staged: BTreeSet<RepoPath>,
    stage: PathBuf,
}

impl Sources {
    /// Finds the sources, and runs the filters where need be: before anything is changed.
    ///
    /// # Errors
    ///
    /// A filter fails, or a partial clone lacks a blob.
    pub fn of(workspace: &Locked, plan: &Plan, tree: &Oid, raw_ids: &RawIds) -> Result<Self> {
        if workspace.settings.is_partial_clone() {
            refuse_missing(workspace, plan, raw_ids)?;
        }
        let mut sources = Self::default();
        let mut unknown = Vec::new();
        for (path, action) in &plan.actions {
            let Action::Write { new, .. } = action else {
                continue;
            };
            match raw_ids.of(path, new) {
                _ if plan.beside.contains_key(path) => {}
                Some(raw) => {
                    sources.raw.insert(path.clone(), raw.clone());
                }
                None if new.mode != Mode::Symlink => unknown.push((path.clone(), new.clone())),
                None => {}
            }
        }
        let cache = workspace.state.cache.as_ref();
        let has_rules = cache.is_some_and(|cache| cache.attribute_files)
            || plan
                .actions
                .keys()
                .any(|path| path.name() == b".gitattributes");
        if unknown.is_empty() || !may_convert(workspace, has_rules) {
            return Ok(sources);
        }
        if raw_ids.unnoted() == Unnoted::IsBlob {
            unknown = only_lfs(workspace, unknown)?;
        }
        if !unknown.is_empty() {
            let lfs_files = match raw_ids.unnoted() {
                Unnoted::IsBlob => LfsFiles::WithContent,
                Unnoted::AsCheckedOut => LfsFiles::AsSet,
            };
            let staged = sources.stage(workspace, tree, unknown, lfs_files);
            // Where a content is missing, no filter was to blame.
            staged.or_else(|error| refuse_missing(workspace, plan, raw_ids).and(Err(error)))?;
        }
        Ok(sources)
    }

    fn stage(
        &mut self,
        workspace: &Locked,
        tree: &Oid,
        mut entries: Vec<(RepoPath, Entry)>,
        lfs_files: LfsFiles,
    ) -> Result<()> {
        self.stage = workspace.scratch().join("stage");
        clear_folder(&self.stage)?;
        self.staged = entries.iter().map(|(path, _)| path.clone()).collect();
        let rules = workspace.git.tree_files_named(tree, b".gitattributes")?;
        entries.extend(
            rules
                .into_iter()
                .filter(|(path, _)| !self.staged.contains(path)),
        );
        let index = PrivateIndex::at(&workspace.git, workspace.scratch().join("index.stage"));
        let git = &workspace.git;
        let settings = &workspace.settings;
        let staged = git.check_out_below(&self.stage, &index, &entries, settings, lfs_files);
        staged.map_err(|error| {
            Error::cannot("a filter failed: nothing was restored")
                .because(error)
                .hint("mend the filter (git config --get-regexp ^filter), or restore other paths with -f")
        })?;
        match lfs_files {
            LfsFiles::AsSet => Ok(()),
            LfsFiles::WithContent => self.refuse_pointers(),
        }
    }

    /// Git LFS leaves a pointer where it has no content, and calls that a success.
    fn refuse_pointers(&self) -> Result<()> {
        let Some(path) = lfs_pointer(&self.stage, self.staged.iter()) else {
            return Ok(());
        };
        Err(Error::cannot(format!(
            "Git LFS has not the content of {path}: nothing was restored"
        ))
        .hint("fetch it: git lfs fetch --all; or restore other paths with -f"))
    }

    /// Takes these as they are, through no filter.
    pub fn take_raw(&mut self, entries: &[(RepoPath, Entry)]) {
        for (path, entry) in entries {
            self.staged.remove(path);
            self.raw.insert(path.clone(), entry.oid.clone());
        }
    }

    /// The blob that a path's bytes come from, unless they are staged.
    pub fn blob<'a>(&'a self, path: &RepoPath, new: &'a Entry) -> Option<&'a Oid> {
        if self.staged.contains(path) {
            return None;
        }
        Some(self.raw.get(path).unwrap_or(&new.oid))
    }

    /// The file that a path's bytes are staged in.
    pub fn staged(&self, path: &RepoPath) -> PathBuf {
        path.below(&self.stage)
    }
}

impl Drop for Sources {
    fn drop(&mut self) {
        if !self.staged.is_empty() {
            // What is left of it is cleared before the next use.
            let _ = fs::remove_dir_all(&self.stage);
        }
    }
}

/// The first of these paths below a folder that is a pointer of Git LFS.
pub fn lfs_pointer<'p>(
    folder: &Path,
    mut paths: impl Iterator<Item = &'p RepoPath>,
) -> Option<&'p RepoPath> {
    paths.find(|path| {
        let mut start = Vec::new();
        let file = fs::File::open(path.below(folder));
        let read = file.and_then(|file| file.take(64).read_to_end(&mut start));
        read.is_ok() && start.starts_with(b"version https://git-lfs.github.com/spec/")
    })
}

/// Makes a folder, or empties it.
///
/// # Errors
///
/// The system refuses.
pub fn clear_folder(folder: &Path) -> Result<()> {
    let cleared = match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other,
    };
    cleared
        .and_then(|()| fs::create_dir(folder))
        .or_cannot(|| format!("can't write {}", folder.display()))
}
