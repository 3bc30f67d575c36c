//! Which paths do the ignore rules match, or patterns of their kind?

use std::fs;
use std::io;
use std::path::Path;

use bstr::ByteSlice;

use super::command::{Ask, Asked, Case, Git};
use super::config::Settings;
use super::error::{GitError, Result};
use super::paths::{RepoPath, os_path};

/// Patterns as the lines of a `.gitignore` at the top of the work tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patterns(Vec<Vec<u8>>);

impl Patterns {
    /// These lines, the last of which counts where several match.
    pub fn new<L: Into<Vec<u8>>>(lines: impl IntoIterator<Item = L>) -> Self {
        Self(lines.into_iter().map(Into::into).collect())
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The lines as text, as far as they are text.
    pub fn lines(&self) -> Vec<String> {
        let lines = self.0.iter();
        lines.map(|line| line.to_str_lossy().into_owned()).collect()
    }

    /// A line break in a pattern is matched by any character: in a file it would end the pattern.
    fn as_file(&self) -> Vec<u8> {
        let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let lines = self.0.iter().flat_map(|line| {
            let line = line
                .iter()
                .map(|byte| if is_break(byte) { b'?' } else { *byte });
            line.chain([b'\n'])
        });
        lines.collect()
    }

    /// The paths that are all that they can match, and what lies below those. `None` where only a walk can tell.
    fn places(&self) -> Option<Vec<RepoPath>> {
        let place = |line: &Vec<u8>| {
            let path = line.strip_suffix(b"/").unwrap_or(line);
            let is_anchored = path.contains(&b'/');
            let is_literal = !line.iter().any(|byte| br"*?[\!# ".contains(byte));
            let path = path.strip_prefix(b"/").unwrap_or(path);
            RepoPath::new(path).filter(|_| is_anchored && is_literal)
        };
        self.0.iter().map(place).collect()
    }
}

/// The pattern that matches just this path: a file, or a folder and what is in it.
///
/// A pattern is one line: where the path has a line break, any character may stand there.
pub fn literal(path: &RepoPath) -> Vec<u8> {
    let mut pattern = vec![b'/'];
    for &byte in path.as_bytes() {
        match byte {
            b'*' | b'?' | b'[' | b'\\' | b' ' => pattern.extend([b'\\', byte]),
            b'\n' | b'\r' => pattern.push(b'?'),
            byte => pattern.push(byte),
        }
    }
    pattern
}

/// The path that has this as its [`literal`] pattern, and no other has.
pub fn path_of_literal(pattern: &[u8]) -> Option<RepoPath> {
    let mut rest = pattern.strip_prefix(b"/")?.iter();
    let mut path = Vec::new();
    while let Some(&byte) = rest.next() {
        path.push(match byte {
            b'\\' => *rest.next()?,
            byte => byte,
        });
    }
    RepoPath::new(path).filter(|path| literal(path) == pattern)
}

/// A question to `git ls-files` under way.
pub struct UntrackedQuestion(Option<Asked>);

impl UntrackedQuestion {
    /// The files, without those whose names git can't hold.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn files(self) -> Result<Vec<RepoPath>> {
        let Some(asked) = self.0 else {
            return Ok(Vec::new());
        };
        let output = asked.succeed()?;
        // A repository of its own is listed with a slash, and is no file.
        Ok(output.split_str("\0").filter_map(RepoPath::new).collect())
    }
}

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
        self.ask_ignore(self.ask("check-ignore").arg("--no-index"), paths)
    }

    /// The same, where what the user's index has is ignored by no rule.
    ///
    /// # Errors
    ///
    /// git could not be started.
    pub fn ask_untracked_ignored(&self, paths: &[RepoPath]) -> Result<IgnoreQuestion> {
        let ask = self.ask("check-ignore").index(&self.users_index());
        self.ask_ignore(ask, paths)
    }

    /// The same with the `.gitignore` files of another folder, laid out as in the work tree.
    ///
    /// # Errors
    ///
    /// git could not be started.
    pub fn ask_ignored_under(&self, rules: &Path, paths: &[RepoPath]) -> Result<IgnoreQuestion> {
        let ask = self.ask("check-ignore").arg("--no-index");
        let ask = ask.work_tree(rules);
        self.ask_ignore(ask, paths)
    }

    /// The files that the rules on disk ignore and the user's index lacks. A folder of which they ignore all stands for what
    /// is in it.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn ignored_on_disk(&self) -> Result<Vec<RepoPath>> {
        let output = self.list_ignored().arg("--directory").run()?;
        let paths = output.split_str("\0");
        let paths = paths.map(|path| path.strip_suffix(b"/").unwrap_or(path));
        Ok(paths.filter_map(RepoPath::new).collect())
    }

    /// Those of them that are at these paths, or below them, without what lies in repositories of their own.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn ignored_files_within(&self, paths: &[RepoPath]) -> Result<Vec<RepoPath>> {
        self.files_within(|| self.list_ignored(), paths)
    }

    fn list_ignored(&self) -> Ask {
        let ask = self.ask("ls-files").index(&self.users_index());
        ask.args(["-z", "--others", "--ignored", "--exclude-standard"])
    }

    /// Begins to ask which of these paths the patterns match, whatever the ignore rules of the repository say.
    ///
    /// They are laid out in this folder as the rules of a repository that has nothing else: beside others they could not
    /// be told apart.
    ///
    /// # Errors
    ///
    /// The folder can't be written, or git could not be started.
    pub fn ask_matched(
        &self,
        patterns: &Patterns,
        folder: &Path,
        settings: &Settings,
        paths: &[RepoPath],
    ) -> Result<IgnoreQuestion> {
        if patterns.is_empty() || paths.is_empty() {
            return Ok(IgnoreQuestion(None));
        }
        lay_out(patterns, folder)
            .map_err(|error| GitError::file(format!("writing {}", folder.display()), error))?;
        // The user's own setting is out of sight there.
        let ignores_case = self.case == Case::AsSet && settings.is_true("core.ignorecase");
        let ask = self
            .ask("check-ignore")
            .arg("--no-index")
            .setting("core.excludesFile=/dev/null")
            .setting(format!("core.ignoreCase={ignores_case}"))
            .env("GIT_DIR", folder.join("git"))
            .work_tree(&folder.join("tree"));
        self.ask_ignore(ask, paths)
    }

    /// Begins to ask which files that this index lacks the patterns match, ignored or not.
    ///
    /// Where a pattern names just one place, git looks only there; else it goes through the whole work tree, ignored
    /// folders too.
    ///
    /// # Errors
    ///
    /// git could not be started.
    pub fn ask_untracked(&self, index: &Path, patterns: &Patterns) -> Result<UntrackedQuestion> {
        if patterns.is_empty() {
            return Ok(UntrackedQuestion(None));
        }
        let ask = self.ask("ls-files").index(index);
        let ask = ask.args(["-z", "--others", "--ignored"]);
        let ask = patterns.0.iter().fold(ask, |ask, line| {
            let mut word = std::ffi::OsString::from("--exclude=");
            word.push(os_path(line));
            ask.arg(word)
        });
        let places = patterns.places().unwrap_or_default();
        let places = places.iter().map(|path| os_path(path.as_bytes()));
        let ask = ask.arg("--").args(places);
        Ok(UntrackedQuestion(Some(ask.start()?)))
    }

    fn ask_ignore(&self, ask: Ask, paths: &[RepoPath]) -> Result<IgnoreQuestion> {
        if paths.is_empty() {
            return Ok(IgnoreQuestion(None));
        }
        // This command knows no literal pathspecs, and dies of a name like `:!x`, but not where a `./` stands before it.
        let ask = ask
            .without_pathspec_rules()
            .args(["-z", "--stdin"])
            .nul_input(paths.iter().map(|path| [b"./", path.as_bytes()].concat()));
        Ok(IgnoreQuestion(Some(ask.start()?)))
    }
}

/// Makes the least that git takes for a repository, with a `.gitignore` as its work tree.
fn lay_out(patterns: &Patterns, folder: &Path) -> io::Result<()> {
    let (git, tree) = (folder.join("git"), folder.join("tree"));
    for part in [&git.join("objects"), &git.join("refs"), &tree] {
        fs::create_dir_all(part)?;
    }
    fs::write(git.join("HEAD"), "ref: refs/heads/none\n")?;
    fs::write(tree.join(".gitignore"), patterns.as_file())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_literal_pattern_is_of_one_path(bytes in prop::collection::vec(
            prop_oneof![any::<u8>(), prop::sample::select(&br"/*?[]\!# .a"[..])],
            1..12,
        )) {
            if let Some(path) = RepoPath::new(bytes.clone()) {
                let pattern = literal(&path);
                prop_assert!(!pattern.contains(&b'\n') && !pattern.contains(&b'\r'));
                let is_one_line = bytes.find_byteset(b"\n\r").is_none();
                prop_assert_eq!(path_of_literal(&pattern), Some(path).filter(|_| is_one_line));
            }
            // Whatever else is written: either it is the pattern of what is read from it, or nothing is.
            if let Some(path) = path_of_literal(&bytes) {
                prop_assert_eq!(literal(&path), bytes);
            }
        }
    }

    #[test]
    fn a_literal_pattern_keeps_a_backslash_that_is_in_the_path() {
        let path = RepoPath::new(r"a\b [c]*").unwrap();
        assert_eq!(literal(&path), br"/a\\b\ \[c]\*");
        assert_eq!(path_of_literal(br"/a\\b\ \[c]\*"), Some(path));
        for other in ["/a*", "/a?b", "/a b", "a", "//a", "/a/", r"/a\"] {
            assert_eq!(path_of_literal(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn knows_where_a_pattern_names_just_one_place() {
        let places = |line: &str| Patterns::new([line]).places();
        for (line, place) in [("/.env", ".env"), ("a/b", "a/b"), ("/build/", "build")] {
            assert_eq!(places(line), RepoPath::new(place).map(|path| vec![path]));
        }
        for walk in [
            ".env", "build/", "/a*", "!/a", "/a\\ ", "/a/../b", "#/a", "",
        ] {
            assert_eq!(places(walk), None, "{walk:?}");
        }
    }
}
