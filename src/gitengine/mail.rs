//! Commits as mails with patches, for `git am`.

use std::path::{Path, PathBuf};

use bstr::ByteSlice;

use super::command::Git;
use super::error::Result;
use super::objects::Oid;
use super::paths::os_path;

impl Git {
    /// Writes the commits after the first one, up to the last, as a file each into a folder, which is made where it is not
    /// there. Returns the files, in order.
    ///
    /// Whatever the user has set for mails and diffs, the form is the one that `git am` can take. Commits that change
    /// nothing are left out.
    ///
    /// # Errors
    ///
    /// git failed, or the folder can't be written.
    pub fn format_patches(&self, from: &Oid, to: &Oid, folder: &Path) -> Result<Vec<PathBuf>> {
        let ask = self
            .ask("format-patch")
            .setting("core.quotePath=true")
            .setting("format.mboxrd=false")
            .setting("format.encodeEmailHeaders=true")
            .args(["--binary", "--full-index", "-M", "-U3", "--no-color"])
            .args(["--no-ext-diff", "--no-textconv", "--no-relative"])
            .args(["--src-prefix=a/", "--dst-prefix=b/", "-O/dev/null"])
            .args(["--submodule=short", "--ignore-submodules=dirty"])
            .args(["--no-attach", "--no-thread", "--no-cover-letter"])
            .args(["--no-signoff", "--no-from", "--no-base", "--no-notes"])
            .args(["--no-to", "--no-cc", "--no-add-header", "--encoding=UTF-8"])
            .args(["--subject-prefix=PATCH", "--suffix=.patch", "-n"])
            .args(["--start-number=1", "--signature=edio"])
            .arg("-o")
            .arg(folder)
            .arg(format!("{from}..{to}"));
        let output = ask.run()?;
        Ok(output
            .lines()
            .map(|line| PathBuf::from(os_path(line)))
            .collect())
    }
}
