//! The user's own commit: hooks, template, comments. Here git works in the user's surroundings, not in edio's.

use std::path::{Path, PathBuf};

use bstr::ByteSlice;

use crate::process::{Command, Status};

use super::command::Git;
use super::error::{GitError, Result};
use super::objects::Oid;
use super::paths::os_path;

impl Git {
    /// The folder that the user's hooks lie in, `core.hooksPath` heeded.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn hooks_folder(&self) -> Result<PathBuf> {
        let ask = self.ask("rev-parse").on_the_users_refs();
        let output = ask
            .args(["--path-format=absolute", "--git-path", "hooks"])
            .run()?;
        Ok(PathBuf::from(os_path(
            output.strip_suffix(b"\n").unwrap_or(&output),
        )))
    }

    /// Runs one of the user's hooks, as `git commit` does: at the top of the work tree, its output to the terminal, the
    /// index that is committed in `GIT_INDEX_FILE`. Nothing of edio's settings is handed on: a hook that calls git would
    /// inherit them.
    ///
    /// # Errors
    ///
    /// git could not be started. A hook that says no is no error.
    pub fn run_hook(&self, name: &str, index: &Path, words: &[&str]) -> Result<Status> {
        self.give_objects()?;
        let command = Command::new("git")
            .args(["hook", "run", "--ignore-missing", name, "--"])
            .args(words)
            .dir(&self.work_tree)
            .env("GIT_INDEX_FILE", index)
            .env("GIT_EDITOR", ":")
            .trace(self.trace.as_ref());
        command.run_beside().map_err(GitError::Start)
    }

    /// The content of the user's `commit.template`.
    ///
    /// # Errors
    ///
    /// It can't be read.
    pub fn commit_template(&self) -> Result<String> {
        let ask = self
            .ask("config")
            .args(["--type=path", "--get", "commit.template"]);
        let output = ask.run()?;
        let name = os_path(output.strip_suffix(b"\n").unwrap_or(&output));
        let file = self.work_tree.join(name);
        std::fs::read_to_string(&file)
            .map_err(|error| GitError::file(format!("reading {}", file.display()), error))
    }

    /// Text as comment lines of a commit message.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn as_comment(&self, text: &str) -> Result<String> {
        self.strip_space(text, &["--comment-lines"])
    }

    /// A commit message as `git stripspace` leaves it.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn strip_space(&self, text: &str, flags: &[&str]) -> Result<String> {
        let output = self.ask("stripspace").args(flags).input(text).run()?;
        Ok(output.to_str_lossy().into_owned())
    }

    /// Does a message end with a paragraph of trailers, as git sees it?
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn ends_with_trailers(&self, message: &str) -> Result<bool> {
        // Without `--only-input` the programs of `trailer.<name>.cmd` would be run.
        let ask = self.ask("interpret-trailers");
        let ask = ask.args(["--only-trailers", "--only-input", "--no-divider"]);
        Ok(!ask.input(message).run()?.is_empty())
    }

    /// Writes a note on a commit below the ref of notes of this name, in place of one that is there.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn write_note(&self, notes: &str, commit: &Oid, text: &str) -> Result<()> {
        let ask = self.ask("notes").on_the_users_refs();
        let ask = ask.arg(format!("--ref={notes}"));
        let ask = ask.args(["add", "-f", "-F", "-"]).arg(commit);
        ask.input(text).run().map(drop)
    }

    /// The user's editor, as git chooses it.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn editor(&self) -> Result<std::ffi::OsString> {
        let output = self.ask("var").arg("GIT_EDITOR").run()?;
        Ok(os_path(output.strip_suffix(b"\n").unwrap_or(&output))
            .to_owned()
            .into())
    }
}
