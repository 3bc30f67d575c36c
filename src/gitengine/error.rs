//! What can go wrong when git is asked.

use std::io;
use std::path::PathBuf;

use bstr::ByteSlice;

use crate::error::Error;
use crate::process::Status;

use super::paths::{RepoPath, os_path};

/// The result of asking git.
pub type Result<T> = std::result::Result<T, GitError>;

/// Why git gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no git in `PATH`, or it can't be executed.
    #[error("git could not be started")]
    Start(#[source] io::Error),
    /// This git lacks commands that edio stands on.
    #[error("git {found} is too old: edio needs git {needed} or later")]
    TooOld {
        /// The version that was found.
        found: String,
        /// The oldest one that will do.
        needed: String,
    },
    /// The folder is in no repository with a work tree, or git refuses to work in it. In git's own words.
    #[error("{0}")]
    NoRepository(String),
    /// git said no.
    #[error("`{command}` ended with {}: {}", how(*status), stderr.trim_ascii().as_bstr())]
    Exit {
        /// The command, as one would type it.
        command: String,
        /// How it ended.
        status: Status,
        /// What it printed on its standard error.
        stderr: Vec<u8>,
    },
    /// git printed something that it should not.
    #[error("`{command}` printed something unexpected: {what}")]
    Output {
        /// The command, as one would type it.
        command: String,
        /// What is unexpected.
        what: String,
    },
    /// A tree has an entry that names something outside the work tree, or in a git directory.
    #[error("a turn's path can't be in a work tree: {0}")]
    Path(RepoPath),
    /// New objects can't be given to the repository.
    #[error("no object can be written in {}", folder.display())]
    Objects {
        /// The folder of its objects.
        folder: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A pipe to git, or a file beside it, failed.
    #[error("{what}")]
    File {
        /// What was being done.
        what: String,
        /// What the system says.
        source: io::Error,
    },
}

impl GitError {
    /// A failed call of the operating system, with what was being done.
    pub fn file(what: impl Into<String>, source: io::Error) -> Self {
        Self::File {
            what: what.into(),
            source,
        }
    }

    /// The command printed something that it should not: what it is, in words.
    pub fn unexpected(command: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Output {
            command: command.into(),
            what: what.into(),
        }
    }

    /// The command printed these bytes, and should not.
    pub fn unexpected_bytes(command: impl Into<String>, printed: &[u8]) -> Self {
        Self::unexpected(command, format!("{:?}", printed.as_bstr()))
    }

    /// The lock that somebody else holds, where that is why git said no.
    pub fn held_lock(&self) -> Option<PathBuf> {
        let (_, after) = self.stderr().split_once_str("Unable to create '")?;
        let (lock, _) = after.split_once_str("': File exists")?;
        Some(os_path(lock).to_owned())
    }

    /// The folder of the objects, where that is what may not be written.
    fn closed_objects(&self) -> Option<PathBuf> {
        match self {
            GitError::Objects { folder, source } => {
                let is_closed = source.kind() == io::ErrorKind::PermissionDenied;
                is_closed.then(|| folder.clone())
            }
            other => {
                let before: &[u8] =
                    b"insufficient permission for adding an object to repository database ";
                let (_, after) = other.stderr().split_once_str(before)?;
                Some(os_path(after.lines().next()?).to_owned())
            }
        }
    }

    /// What git printed on its standard error, where it said no.
    pub fn stderr(&self) -> &[u8] {
        match self {
            GitError::Exit { stderr, .. } => stderr,
            _ => &[],
        }
    }
}

fn how(status: Status) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "an unknown status".to_owned(),
    }
}

/// What may help where a program that is there can't be started.
fn starting(error: &io::Error) -> &'static str {
    // ENOMEM, ENFILE, EMFILE, and EAGAIN by either of its numbers.
    let is_limit = matches!(error.raw_os_error(), Some(11 | 12 | 23 | 24 | 35));
    match cfg!(unix) && is_limit {
        true => "it is a limit of the system: ulimit -a shows which there are",
        false => "see whether it can be run: git --version",
    }
}

/// The command that git names where another user owns the repository.
fn trusting(said: &str) -> Option<String> {
    let command = said.lines().find(|line| line.contains("safe.directory "))?;
    Some(command.trim().to_owned())
}

impl From<GitError> for Error {
    fn from(error: GitError) -> Self {
        match error {
            GitError::NoRepository(ref said) if let Some(command) = trusting(said) => {
                let hint = format!("if you do: {command}");
                Error::no_repository("git does not trust the owner of this repository")
                    .because(error)
                    .hint(hint)
            }
            GitError::NoRepository(_) => Error::no_repository("there is no git work tree here")
                .because(error)
                .hint("run it inside a repository, or make one: git init")
                .hint("or keep the turns of this folder without one: edio init --store"),
            GitError::Start(ref cause) if cause.kind() == io::ErrorKind::NotFound => {
                Error::cannot("git is missing")
                    .because(error)
                    .hint("install git 2.38 or later, and see that it is in PATH")
            }
            GitError::Start(ref cause) => {
                let hint = starting(cause);
                Error::cannot("git can't be started")
                    .because(error)
                    .hint(hint)
            }
            GitError::TooOld { .. } => Error::cannot(error.to_string())
                .hint("install a newer git, and see that it is first in PATH"),
            GitError::Path(_) => Error::cannot(error.to_string()),
            other => {
                let closed = other.closed_objects();
                let error = Error::cannot("git failed").because(other);
                closed.into_iter().fold(error, |error, folder| {
                    let folder = folder.display();
                    error.hint(format!(
                        "see who owns the objects of the repository, and may write there: ls -ld {folder} {folder}/*"
                    ))
                })
            }
        }
    }
}
