//! The files that git's filters make, in a folder beside the checkout until they are put into it.

use super::Checkout;
use super::wishes::{Source, Wanted};
use crate::error::{Error, Result};
use crate::gitengine::{Entry, LfsFiles, PrivateIndex, RepoPath};
use crate::history::bytes::Unnoted;
use crate::history::restore::lfs_pointer;

impl Checkout<'_> {
    pub(super) fn stage_files(
        &self,
        entries: &[(RepoPath, Entry)],
        lfs_files: LfsFiles,
    ) -> Result<()> {
        let workspace = self.room.workspace;
        let index = PrivateIndex::at(&workspace.git, self.index.clone());
        let staged = workspace.git.check_out_below(
            &self.stage,
            &index,
            entries,
            &workspace.settings,
            lfs_files,
        );
        staged.map_err(|error| {
            Error::cannot("a filter failed, so the turn's files can't be written")
                .because(error)
                .hint("mend the filter: git config --get-regexp ^filter")
        })
    }

    /// Has git's filters make what is to be written of their blobs. The attribute files are in the stage already.
    pub(super) fn stage_filtered(
        &self,
        writes: &[(RepoPath, Wanted)],
        lfs_files: LfsFiles,
    ) -> Result<()> {
        let filtered = writes.iter().filter_map(|(path, wanted)| {
            let Source::Filtered { blob, .. } = &wanted.source else {
                return None;
            };
            let entry = Entry {
                mode: wanted.mode,
                oid: blob.clone(),
            };
            let is_there = path.below(&self.stage).symlink_metadata().is_ok();
            (!is_there).then(|| (path.clone(), entry))
        });
        let filtered: Vec<(RepoPath, Entry)> = filtered.collect();
        if filtered.is_empty() {
            return Ok(());
        }
        self.stage_files(&filtered, lfs_files)?;
        let staged = filtered.iter().map(|(path, _)| path);
        match lfs_pointer(&self.stage, staged) {
            Some(path) if lfs_files == LfsFiles::WithContent => Err(Error::cannot(format!(
                "Git LFS has not the content of {path}"
            ))
            .hint("fetch it: git lfs fetch --all")),
            _ => Ok(()),
        }
    }
}

/// Git LFS has the content of what edio has seen; of the rest, the user's checkouts may have pointers.
pub(super) fn lfs_files(unnoted: Unnoted) -> LfsFiles {
    match unnoted {
        Unnoted::IsBlob => LfsFiles::WithContent,
        Unnoted::AsCheckedOut => LfsFiles::AsSet,
    }
}
