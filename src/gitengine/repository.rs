//! Which repository and which work tree is it, and is git new enough?

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use bstr::ByteSlice;

use crate::process::{Command, Finished, Reading, Trace, is_own};

use super::command::{Case, Git, LOCAL_VARIABLES, plain_git};
use super::config::{PATTERN, Settings};
use super::error::{GitError, Result};
use super::objects::{ObjectFormat, Oid};
use super::paths::os_path;

/// The oldest git that will do: `merge-tree --write-tree` came with it.
pub const OLDEST: (u32, u32) = (2, 38);

/// A commit that a ref was found to point to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointed {
    /// The commit.
    pub commit: Oid,
    /// Its tree.
    pub tree: Oid,
}

/// What the search for the repository found.
pub struct Found {
    /// How git is asked here.
    pub git: Git,
    /// What is set in the git config.
    pub settings: Settings,
    /// Where the guessed ref points to, if a guess was given and it exists.
    pub pointed: Option<Pointed>,
}

/// Where the repository and its work tree are looked for.
#[derive(Clone, Copy)]
pub struct Search<'a> {
    /// From this folder upwards, as git does: `GIT_DIR` and the like are honoured.
    pub folder: &'a Path,
    /// Nowhere, where this is known to be the git directory: then the folder is the work tree.
    pub git_dir: Option<&'a Path>,
    /// Told of each process.
    pub trace: Option<&'a Trace>,
}

/// Finds the repository and work tree.
///
/// `guess` is a ref that probably exists there: asking for it in the same process spares another one.
///
/// # Errors
///
/// git is missing, there is no repository with a work tree, or git refuses it (another owner).
pub fn find(search: &Search<'_>, guess: Option<&str>) -> Result<Found> {
    let trace = search.trace;
    // Started beside the search: both take a process, and neither needs the other.
    let settings = start_settings(search)?;
    let guessed = guess.map(|name| [name.to_owned(), format!("{name}^{{tree}}")]);
    let mut place = locate(search, guessed.as_ref().map_or(&[], |words| words))?;
    if guess.is_some() && !place.status.success() {
        place = locate(search, &[])?;
    }
    if !place.status.success() {
        return Err(GitError::NoRepository(
            place.stderr.trim_ascii().to_str_lossy().into_owned(),
        ));
    }
    let (git, pointed) = match read_place(&place.stdout, trace) {
        Some(found) => found,
        None => (locate_odd(search)?, None),
    };
    let settings = settings.finish().map_err(broken)?;
    match settings.status.code() {
        Some(0 | 1) => {
            let settings = Settings::parse(&settings.stdout);
            let git = Git {
                case: case_of(&git, &settings),
                is_sparse: settings.is_true("core.sparsecheckout"),
                ..git
            };
            Ok(Found {
                git,
                settings,
                pointed,
            })
        }
        _ => Err(GitError::Exit {
            command: "git config --get-regexp".to_owned(),
            status: settings.status,
            stderr: settings.stderr,
        }),
    }
}

/// A disk that ignores case finds `.git` as `.GIT`, too, and `HEAD` as `head`.
fn case_of(git: &Git, settings: &Settings) -> Case {
    let is_there = |path: PathBuf| path.symlink_metadata().is_ok();
    let tells_apart = match is_there(git.work_tree.join(".git")) {
        true => !is_there(git.work_tree.join(".GIT")),
        false => !is_there(git.git_dir.join("head")),
    };
    match settings.is_true("core.ignorecase") && tells_apart {
        true => Case::Counts,
        false => Case::AsSet,
    }
}

/// Is a folder the top of a repository, so that git leaves what is in it to that one? To git an empty `.git`, or one that
/// points nowhere, makes none (`is_nonbare_repository_dir` in its setup.c). One whose `.git` may not be looked into counts
/// as one: what is in it is not edio's to remove. Of a folder that may not be entered itself nobody knows, and it counts
/// as none.
pub fn is_repository(folder: &Path) -> bool {
    let git = folder.join(".git");
    match fs::metadata(&git) {
        Ok(meta) if meta.is_dir() => is_git_directory(&git),
        Ok(meta) if meta.is_file() => points_to_git_directory(folder, &git),
        _ => false,
    }
}

fn points_to_git_directory(folder: &Path, git: &Path) -> bool {
    let Ok(pointer) = beginning(git) else {
        return true;
    };
    let target = pointer
        .strip_prefix(b"gitdir: ")
        .map(<[u8]>::trim_ascii_end);
    target.is_some_and(|target| is_git_directory(&folder.join(os_path(target))))
}

fn is_git_directory(git: &Path) -> bool {
    let is_head = match beginning(&git.join("HEAD")) {
        Ok(head) => head.starts_with(b"ref:") || Oid::from_bytes(head.trim_ascii_end()).is_some(),
        // A link to a branch without a commit, as old versions of git made them.
        Err(error) if is_nowhere(&error) => git.join("HEAD").is_symlink(),
        Err(_) => true,
    };
    let common = match beginning(&git.join("commondir")) {
        Ok(common) => git.join(os_path(common.trim_ascii_end())),
        Err(_) => git.to_owned(),
    };
    let is_there = |name| match fs::metadata(common.join(name)) {
        Ok(meta) => meta.is_dir(),
        Err(error) => !is_nowhere(&error),
    };
    is_head && is_there("objects") && is_there("refs")
}

/// The beginning of a file, as much as a path can be long. Anything else is as if it were not there: to read a FIFO would
/// take for ever.
fn beginning(file: &Path) -> io::Result<Vec<u8>> {
    if !fs::metadata(file)?.is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let mut bytes = Vec::new();
    let open = fs::File::open(file)?;
    open.take(5000).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn is_nowhere(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

const QUESTIONS: [&str; 4] = [
    "--show-object-format",
    "--git-dir",
    "--git-common-dir",
    "--show-toplevel",
];

fn ask_outside(search: &Search<'_>) -> Command {
    let command = plain_git()
        .without_env("GIT_INDEX_FILE")
        .env("GIT_TERMINAL_PROMPT", "0")
        .dir(search.folder)
        .trace(search.trace);
    match search.git_dir {
        None => command,
        Some(git_dir) => command
            .env("GIT_DIR", git_dir)
            .env("GIT_WORK_TREE", search.folder),
    }
}

fn locate(search: &Search<'_>, more: &[String]) -> Result<Finished> {
    let command = ask_outside(search)
        .args(["rev-parse", "--path-format=absolute"])
        .args(QUESTIONS)
        .args(more);
    command.run().map_err(GitError::Start)
}

fn start_settings(search: &Search<'_>) -> Result<Reading> {
    let command = ask_outside(search).args(["config", "-z", "--get-regexp", PATTERN]);
    command.start().map_err(GitError::Start)
}

fn read_place(output: &[u8], trace: Option<&Trace>) -> Option<(Git, Option<Pointed>)> {
    let lines: Vec<&[u8]> = output.lines().collect();
    let (place, pointed) = match lines.as_slice() {
        [place @ .., commit, tree] if lines.len() == 6 => {
            let (commit, tree) = (Oid::from_bytes(commit)?, Oid::from_bytes(tree)?);
            (place, Some(Pointed { commit, tree }))
        }
        place => (place, None),
    };
    let [format, git_dir, common_dir, work_tree] = place else {
        return None;
    };
    let path = |bytes: &[u8]| PathBuf::from(os_path(bytes));
    let git = Git {
        common_dir: path(common_dir),
        format: ObjectFormat::named(format.to_str().ok()?)?,
        ..Git::at(path(git_dir), path(work_tree), trace)
    };
    Some((git, pointed))
}

/// Asks one question at a time: where a folder's name has a line break in it, the lines can't be told apart.
fn locate_odd(search: &Search<'_>) -> Result<Git> {
    let ask = |question: &str| -> Result<Vec<u8>> {
        let command = ask_outside(search).args(["rev-parse", "--path-format=absolute", question]);
        let mut output = command.run().map_err(GitError::Start)?.stdout;
        output.pop();
        Ok(output)
    };
    let format = ask("--show-object-format")?;
    let path = |question| ask(question).map(|bytes| PathBuf::from(os_path(&bytes)));
    Ok(Git {
        common_dir: path("--git-common-dir")?,
        format: ObjectFormat::named(&format.to_str_lossy()).ok_or_else(|| {
            GitError::NoRepository(format!("unknown object format {:?}", format.as_bstr()))
        })?,
        ..Git::at(path("--git-dir")?, path("--show-toplevel")?, search.trace)
    })
}

/// Makes an empty git directory that has no work tree of its own: whoever asks it names one.
///
/// Nothing of the user's goes into it: no template, hence no hooks.
///
/// # Errors
///
/// git failed, or the directory can't be written.
pub fn create(git_dir: &Path, trace: Option<&Trace>) -> Result<()> {
    let mut command = plain_git();
    for name in LOCAL_VARIABLES {
        command = command.without_env(name);
    }
    let command = command
        // Even here git would run a hook of the user's: HEAD is a ref, too.
        .args(["-c", "core.hooksPath=/dev/null"])
        .args(["-c", "init.defaultBranch=main", "init", "-q", "--bare"])
        .args(["--template=", "--"])
        .arg(git_dir)
        .trace(trace);
    let finished = command.run().map_err(GitError::Start)?;
    match finished.status.success() {
        true => Ok(()),
        false => Err(GitError::Exit {
            command: "git init --bare".to_owned(),
            status: finished.status,
            stderr: finished.stderr,
        }),
    }
}

/// When the newest commit that a ref leads to was made, in seconds since 1970. `None` where there are no refs.
///
/// # Errors
///
/// git failed.
pub fn newest_commit(git_dir: &Path, trace: Option<&Trace>) -> Result<Option<i64>> {
    let search = Search {
        folder: git_dir,
        git_dir: Some(git_dir),
        trace,
    };
    let command = ask_outside(&search)
        .args(["for-each-ref", "--sort=-committerdate", "--count=1"])
        .arg("--format=%(committerdate:unix)");
    let finished = command.run().map_err(GitError::Start)?;
    if !finished.status.success() {
        return Err(GitError::Exit {
            command: "git for-each-ref".to_owned(),
            status: finished.status,
            stderr: finished.stderr,
        });
    }
    let seconds = finished.stdout.trim_ascii().to_str().ok();
    Ok(seconds.and_then(|digits| digits.parse().ok()))
}

fn broken(error: std::io::Error) -> GitError {
    GitError::file("talking to git", error)
}

impl Git {
    /// Do the git directory and the work tree belong to whoever runs edio? git may refuse to work in others.
    pub fn is_own(&self) -> bool {
        is_own(&self.git_dir) && is_own(&self.work_tree)
    }

    /// The commits at which the history of a shallow clone ends: their parents are not here.
    ///
    /// # Errors
    ///
    /// The list can't be read.
    pub fn shallow_commits(&self) -> Result<BTreeSet<Oid>> {
        let file = self.common_dir.join("shallow");
        match fs::read(&file) {
            Ok(list) => Ok(list.lines().filter_map(Oid::from_bytes).collect()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeSet::new()),
            Err(error) => Err(GitError::file(format!("reading {}", file.display()), error)),
        }
    }
}

impl Git {
    /// A time in words that git understands, in seconds since 1970. `None` where git can't make it out.
    ///
    /// It is asked as for a setting: `log --since` and the like take what they can't make out for now.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn seconds_of(&self, time: &str) -> Result<Option<i64>> {
        let ask = self.ask("config").setting(format!("asked.time={time}"));
        let ask = ask.args(["--type=expiry-date", "--get", "asked.time"]);
        let output = match ask.run() {
            Err(GitError::Exit { .. }) => return Ok(None),
            output => output?,
        };
        let seconds = output.trim_ascii().to_str().ok();
        let seconds = seconds.and_then(|digits| digits.parse::<u64>().ok());
        let seconds = seconds
            .ok_or_else(|| GitError::unexpected_bytes("git config --type=expiry-date", &output))?;
        // "now" is the end of all times there.
        Ok(Some(i64::try_from(seconds).unwrap_or(i64::MAX)))
    }
}

/// Checks that the git in `PATH` is new enough. Returns the first two numbers of its version.
///
/// # Errors
///
/// git is missing, too old, or says something else than its version.
pub fn check_version(trace: Option<&Trace>) -> Result<(u32, u32)> {
    let command = plain_git().arg("version").trace(trace);
    let finished = command.run().map_err(GitError::Start)?;
    let text = finished.stdout.to_str_lossy().trim().to_owned();
    let Some(version) = parse_version(&text) else {
        return Err(GitError::unexpected("git version", format!("{text:?}")));
    };
    if version < OLDEST {
        return Err(GitError::TooOld {
            found: text.trim_start_matches("git version ").to_owned(),
            needed: format!("{}.{}", OLDEST.0, OLDEST.1),
        });
    }
    Ok(version)
}

/// The first two numbers in `git version 2.47.3.windows.1`.
fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.strip_prefix("git version ")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_versions() {
        assert_eq!(parse_version("git version 2.47.3"), Some((2, 47)));
        assert_eq!(parse_version("git version 2.50.0.windows.1"), Some((2, 50)));
        assert_eq!(parse_version("git version 3.0.rc1"), Some((3, 0)));
        assert_eq!(parse_version("hub version 2"), None);
    }
}
