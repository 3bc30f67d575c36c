//! What stands in an index, as git lists it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use bstr::ByteSlice;
use sha1::Digest as _;

use crate::gitengine::command::{Ask, Git};
use crate::gitengine::error::{GitError, Result};
use crate::gitengine::objects::{Mode, Oid, hex};
use crate::gitengine::paths::{AT_ONCE, RepoPath, os_path};

/// An entry of an index, as `git ls-files -s -v -z` prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexEntry {
    /// What it is.
    pub mode: Mode,
    /// Its content.
    pub oid: Oid,
    /// 0, or 1 to 3 where versions are in conflict.
    pub stage: u8,
    /// The file may be absent, or differ: `skip-worktree`.
    pub skip_worktree: bool,
    /// The file is taken for unchanged: `assume-unchanged`.
    pub assume_unchanged: bool,
    /// It only announces a file (`git add -N`). A listing does not tell; [`Git::announced`] does.
    pub intent_to_add: bool,
    /// Its path.
    pub path: RepoPath,
}

impl IndexEntry {
    /// Reads records of `git ls-files -s -v -z`, or of [`IndexEntry::record`].
    ///
    /// # Errors
    ///
    /// One of them is none.
    pub fn read_all(output: &[u8]) -> Result<Vec<Self>> {
        let records = output.split_str("\0").filter(|record| !record.is_empty());
        let entries: Option<_> = records.map(index_entry).collect();
        entries.ok_or_else(|| {
            GitError::unexpected("git ls-files -s -v -z", "an entry that can't be read")
        })
    }

    /// The entry as `git ls-files -s -v -z` prints it, but for an `N` where it announces a file.
    pub fn record(&self) -> Vec<u8> {
        let tag = match (self.skip_worktree, self.assume_unchanged) {
            (false, false) if self.intent_to_add => 'N',
            (true, true) => 's',
            (true, false) => 'S',
            (false, true) => 'h',
            (false, false) => 'H',
        };
        let head = format!("{tag} {} {} {}\t", self.mode.digits(), self.oid, self.stage);
        [head.as_bytes(), self.path.as_bytes(), b"\0"].concat()
    }
}

/// All entries of an index.
pub struct Listing {
    /// The entries, in git's order.
    pub entries: Vec<IndexEntry>,
    /// The same for two indexes that say the same, whatever they know of the files on disk.
    pub digest: String,
}

impl Listing {
    /// The paths of which there are several versions: a conflict that nobody has called resolved.
    pub fn unmerged(&self) -> Vec<RepoPath> {
        let unmerged = self.entries.iter().filter(|entry| entry.stage > 0);
        let mut paths: Vec<RepoPath> = unmerged.map(|entry| entry.path.clone()).collect();
        paths.dedup();
        paths
    }
}

impl Git {
    /// The user's index file in this work tree.
    pub fn users_index(&self) -> PathBuf {
        self.git_dir.join("index")
    }

    /// Those of these entries of the user's index that only announce a file (`git add -N`), whatever is on disk.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn announced(&self, paths: &[RepoPath]) -> Result<Vec<RepoPath>> {
        let nothing = self.empty_tree()?;
        let mut announced = Vec::new();
        for paths in paths.chunks(AT_ONCE) {
            let ask = self.ask("diff-index").args(["--cached", "--name-only"]);
            let ask = ask.args(["-z", "--no-renames", "--ita-invisible-in-index"]);
            let ask = ask.arg(&nothing).arg("--");
            let ask = ask.args(paths.iter().map(|path| os_path(path.as_bytes())));
            let output = ask.run()?;
            let staged: BTreeSet<&[u8]> = output.split_str("\0").collect();
            let is_announced = |path: &&RepoPath| !staged.contains(path.as_bytes());
            announced.extend(paths.iter().filter(is_announced).cloned());
        }
        Ok(announced)
    }

    /// What git tracks at these paths, or below them.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn tracked(&self, paths: &[RepoPath]) -> Result<Vec<RepoPath>> {
        self.indexed(&self.users_index(), paths)
    }

    /// What an index has at these paths, or below them.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn indexed(&self, index: &Path, paths: &[RepoPath]) -> Result<Vec<RepoPath>> {
        self.files_within(|| self.ask("ls-files").index(index).arg("-z"), paths)
    }

    /// The files at these paths, or below them, that this question to `git ls-files` finds there.
    ///
    /// # Errors
    ///
    /// git failed.
    pub(crate) fn files_within(
        &self,
        question: impl Fn() -> Ask,
        paths: &[RepoPath],
    ) -> Result<Vec<RepoPath>> {
        let mut files = Vec::new();
        for paths in paths.chunks(AT_ONCE) {
            let paths = paths.iter().map(|path| os_path(path.as_bytes()));
            let output = question().arg("--").args(paths).run()?;
            files.extend(output.split_str("\0").filter_map(RepoPath::new));
        }
        Ok(files)
    }

    /// All files that git tracks.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn tracked_files(&self) -> Result<Vec<RepoPath>> {
        let output = self.ask("ls-files").arg("-z").run()?;
        Ok(output.split_str("\0").filter_map(RepoPath::new).collect())
    }

    /// All files that git tracks, or would: those that no rule ignores.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn all_files(&self) -> Result<Vec<RepoPath>> {
        let ask = self.ask("ls-files").args(["-z", "--cached", "--others"]);
        let output = ask.arg("--exclude-standard").run()?;
        // A repository of its own is listed with a slash, and is no file.
        Ok(output.split_str("\0").filter_map(RepoPath::new).collect())
    }

    /// Has git track these files, as they are now, in an index that nobody else works with.
    ///
    /// # Errors
    ///
    /// One of them can't be read, or git failed.
    pub fn track(&self, files: &[RepoPath]) -> Result<()> {
        if files.is_empty() {
            return Ok(());
        }
        let ask = self.ask("update-index").args(["-z", "--add", "--stdin"]);
        let ask = ask.nul_input(files.iter().map(RepoPath::as_bytes));
        ask.run_silently()
    }

    /// All entries of an index file.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn list_index(&self, file: &Path) -> Result<Listing> {
        let ask = self
            .ask("ls-files")
            .setting("advice.sparseIndexExpanded=false")
            .index(file)
            .args(["-s", "-v", "-z"]);
        let output = ask.run()?;
        Ok(Listing {
            entries: IndexEntry::read_all(&output)?,
            digest: hex(&sha2::Sha256::digest(&output)),
        })
    }
}

/// `H 100644 <id> 0 TAB path`; the letter is small for assume-unchanged, `S` for skip-worktree.
fn index_entry(record: &[u8]) -> Option<IndexEntry> {
    let (head, path) = record.split_once_str("\t")?;
    let fields: Vec<&[u8]> = head.split_str(" ").collect();
    let [tag, mode, oid, stage] = fields.as_slice() else {
        return None;
    };
    let tag = *tag.first()?;
    Some(IndexEntry {
        mode: Mode::from_digits(mode)?,
        oid: Oid::from_bytes(oid)?,
        stage: stage.to_str().ok()?.parse().ok()?,
        skip_worktree: tag.eq_ignore_ascii_case(&b'S'),
        assume_unchanged: tag.is_ascii_lowercase(),
        intent_to_add: tag == b'N',
        path: RepoPath::new(path)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_index_entries() {
        let a = "a".repeat(40);
        let entry = index_entry(format!("s 100755 {a} 2\ta\tb").as_bytes()).unwrap();
        assert!(entry.skip_worktree && entry.assume_unchanged);
        assert_eq!((entry.stage, entry.path.as_bytes()), (2, &b"a\tb"[..]));
        assert_eq!(IndexEntry::read_all(&entry.record()).unwrap(), [entry]);
        assert!(index_entry(b"H 100644 x 0\ta").is_none());
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_read_does_no_harm(bytes in crate::gitengine::noise()) {
            let read = IndexEntry::read_all(&bytes);
            for entry in read.unwrap_or_default() {
                let again = IndexEntry::read_all(&entry.record()).unwrap();
                assert_eq!(again, [entry]);
            }
        }
    }
}
