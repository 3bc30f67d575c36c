//! The side commits of a session: what a work tree can't hold and would be lost otherwise.
//!
//! They are a chain of their own. As parents of turns they would make `git show` and `git blame` say what is not true,
//! and take along, where a turn is pushed, what was ignored for a good reason.

use crate::error::{Error, Result};
use crate::gitengine::{Entry, Oid, PrivateIndex, RefChange, RepoPath};

use super::refnames::{self, Leaf, Shelf};
use super::session::Session;
use super::trailers::Trailers;
use super::turn::signature;
use super::workspace::Locked;

/// What is saved for a path, and in which part of the side commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Ignored files, before they are overwritten.
    Ignored,
    /// Files that were changed between the safety snapshot and the overwriting.
    Displaced,
    /// The entries of the user's index, before `accept` changes them.
    Index,
}

impl Part {
    fn folder(self) -> &'static str {
        match self {
            Part::Ignored => "ignored",
            Part::Displaced => "displaced",
            Part::Index => "index",
        }
    }
}

/// Something to save.
pub struct Saved {
    /// Where it belongs.
    pub part: Part,
    /// Its path in the work tree.
    pub path: RepoPath,
    /// Its kind and content.
    pub entry: Entry,
}

/// Saves these as a side commit, synced to disk. Returns the commit.
///
/// # Errors
///
/// git failed, or another process saved something meanwhile.
pub fn save(
    workspace: &Locked,
    session: &mut Session,
    saved: &[Saved],
    text: &str,
    seconds: i64,
) -> Result<Oid> {
    let git = workspace.git.synced();
    let index = PrivateIndex::at(&git, workspace.scratch().join("index.side"));
    index.remove()?;
    let entries: Result<Vec<_>> = saved.iter().map(entry).collect();
    index.set(&entries?)?;
    let tree = index.write_tree()?;
    index.remove()?;
    let message = Trailers::default()
        .with("Session", session.id.as_str())
        .message(text);
    let before = session.side.clone();
    let parents: Vec<&Oid> = before.iter().collect();
    let commit = git.write_commit(&tree, &parents, &signature(seconds), &message)?;
    let name = refnames::name(Shelf::Active, &session.id, Leaf::Side);
    git.change_refs(&[RefChange::set(name, before.as_ref(), &commit)])?;
    session.side = Some(commit.clone());
    Ok(commit)
}

fn entry(saved: &Saved) -> Result<(RepoPath, Option<Entry>)> {
    let folder = saved.part.folder().as_bytes();
    let path = RepoPath::new([folder, b"/", saved.path.as_bytes()].concat());
    let path = path.ok_or_else(|| Error::bug("a side path that names nothing"))?;
    Ok((path, Some(saved.entry.clone())))
}
