//! `FILE`, `FILE:12` and `FILE:12-40`: a file, or some of its lines.

use std::ffi::{OsStr, OsString};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::history::blame::Version;
use crate::history::compare::tree_now;
use crate::history::git::{RepoPath, git_bytes, os_path};
use crate::history::session::Session;
use crate::history::workspace::{Start, Workspace};

use super::super::Context;

/// What a person means by such an argument.
pub struct Lines {
    /// The file.
    pub path: RepoPath,
    /// The lines; `None` means all.
    pub numbers: Option<RangeInclusive<u32>>,
}

impl Lines {
    /// Reads it. A file that is there and whose own name ends like that is meant itself.
    ///
    /// # Errors
    ///
    /// It lies outside the work tree, or is the top of it.
    pub fn meant(workspace: &Workspace, argument: &OsStr) -> Result<Self> {
        let whole = path_of(workspace, Path::new(argument))?;
        let is_there = |path: &RepoPath| {
            let file = path.below(&workspace.git.work_tree);
            file.symlink_metadata().is_ok()
        };
        let bytes = git_bytes(Path::new(argument));
        match split(&bytes).filter(|_| !is_there(&whole)) {
            Some((file, numbers)) => Ok(Self {
                path: path_of(workspace, &PathBuf::from(OsString::from(os_path(file))))?,
                numbers: Some(numbers),
            }),
            None => Ok(Self {
                path: whole,
                numbers: None,
            }),
        }
    }
}

fn path_of(workspace: &Workspace, argument: &Path) -> Result<RepoPath> {
    let path = workspace.path_argument(argument, Start::Here)?;
    path.ok_or_else(|| {
        Error::usage(format!("{} is a folder", argument.display())).hint("name a file")
    })
}

/// The part before the last colon, and the numbers after it.
fn split(argument: &[u8]) -> Option<(&[u8], RangeInclusive<u32>)> {
    let colon = argument.iter().rposition(|byte| *byte == b':')?;
    let (file, numbers) = (&argument[..colon], &argument[colon + 1..]);
    let numbers = std::str::from_utf8(numbers).ok()?;
    let (first, last) = numbers.split_once('-').unwrap_or((numbers, numbers));
    let digits = |text: &str| {
        let all = text.bytes().all(|byte| byte.is_ascii_digit());
        all.then(|| text.parse::<u32>().ok())?
    };
    let range = digits(first)?..=digits(last)?;
    (!file.is_empty()).then_some((file, range))
}

/// The workspace with its session, and the state of the files that is asked about: those on disk, or those of the session
/// that was asked for by its id.
///
/// # Errors
///
/// There is no such session, or the work tree can't be scanned.
pub fn asked_about(context: &Context) -> Result<(Workspace, Option<Session>, Version)> {
    if context.session.is_some() {
        let workspace = context.open()?;
        let session = Session::wanted(&workspace, context.session.as_ref())?;
        let version = Version::of_turn(session.current()?);
        return Ok((workspace, Some(session), version));
    }
    let tree = tree_now(&context.open_locked()?)?;
    let workspace = context.open_to_list()?;
    let session = Session::active(&workspace)?;
    let version = Version::of_work_tree(&workspace, session.as_ref(), &tree)?;
    Ok((workspace, session, version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_stand_after_the_last_colon() {
        assert_eq!(split(b"a:3"), Some((&b"a"[..], 3..=3)));
        assert_eq!(split(b"a:b:3-12"), Some((&b"a:b"[..], 3..=12)));
        for bad in [
            "a",
            "a:",
            ":3",
            "a:x",
            "a:1-",
            "a:-1",
            "a:+1",
            "a:1-2-3",
            "a:99999999999",
        ] {
            assert_eq!(split(bad.as_bytes()), None, "{bad}");
        }
    }
}
