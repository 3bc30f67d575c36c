//! Which paths do the ignore rules match?

use std::path::Path;

use bstr::ByteSlice;

use super::command::{Ask, Asked, Git};
use super::error::{GitError, Result};
use super::paths::RepoPath;

/// A question to `git check-ignore` under way.
pub struct IgnoreQuestion(Option<Asked>);

impl IgnoreQuestion {
    /// The paths that are ignored, among those asked for.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn ignored(self) -> Result<Vec<RepoPath>> {
        let Some(asked) = self.0 else {
            return Ok(Vec::new());
        };
        let finished = asked.finish()?;
        match finished.status.code() {
            Some(0 | 1) => Ok(finished
                .stdout
                .split_str("\0")
                .filter_map(|path| RepoPath::new(path.strip_prefix(b"./")?))
                .collect()),
            _ => Err(GitError::Exit {
                command: "git check-ignore".to_owned(),
                status: finished.status,
                stderr: finished.stderr,
            }),
        }
    }
}

impl Git {
    /// Begins to ask which of these paths the rules on disk ignore, tracked or not.
    ///
    /// None may lie beyond a symbolic link or in a nested repository: git would refuse to answer for any.
    ///
    /// # Errors
    ///
    /// git could not be started.
    pub fn ask_ignored(&self, paths: &[RepoPath]) -> Result<IgnoreQuestion> {
        self.ask_ignore(self.ask("check-ignore"), paths)
    }

    /// The same with the `.gitignore` files of another folder, laid out as in the work tree.
    ///
    /// # Errors
    ///
    /// git could not be started.
    pub fn ask_ignored_under(&self, rules: &Path, paths: &[RepoPath]) -> Result<IgnoreQuestion> {
        let ask = self.ask("check-ignore").work_tree(rules);
        self.ask_ignore(ask, paths)
    }

    fn ask_ignore(&self, ask: Ask, paths: &[RepoPath]) -> Result<IgnoreQuestion> {
        if paths.is_empty() {
            return Ok(IgnoreQuestion(None));
        }
        // This command knows no literal pathspecs, and dies of a name like `:!x`, but not where a `./` stands before it.
        let ask = ask
            .without_pathspec_rules()
            .args(["--no-index", "-z", "--stdin"])
            .nul_input(paths.iter().map(|path| [b"./", path.as_bytes()].concat()));
        Ok(IgnoreQuestion(Some(ask.start()?)))
    }
}
