//! A session as a bundle of git's.
//!
//! It has the refs with which a session goes anywhere ([`outgoing`]). `side` is another matter: the side commits hold
//! ignored files and conversations. Unless these are wanted, it is a chain of copies that have only what a restore needs.

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::error::{Error, Result, While};
use crate::gitengine::{Header, Oid};

use super::super::refnames::{self, Shelf};
use super::super::session::Session;
use super::super::shared::{SideCommits, outgoing};
use super::super::workspace::Locked;

/// What goes along of the history that the session rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Nothing that is in a branch or a tag: whoever imports it must have that.
    Session,
    /// All.
    Everything,
}

/// What was written.
pub struct Bundled {
    /// How many turns.
    pub turns: usize,
    /// The commits that must be there where it is imported.
    pub prerequisites: Vec<Oid>,
}

/// Writes a session into a file, which must be new.
///
/// # Errors
///
/// The file is there, or the repository is shallow, or git failed.
pub fn bundle(
    workspace: &Locked,
    session: &Session,
    file: &Path,
    reach: Reach,
    sides: SideCommits,
) -> Result<Bundled> {
    let git = &workspace.git;
    if file.symlink_metadata().is_ok() {
        let there = format!("{} is there already: nothing was written", file.display());
        return Err(Error::refused(there).hint("name a file that is new"));
    }
    if reach == Reach::Everything && !git.shallow_commits()?.is_empty() {
        return Err(
            Error::cannot("this repository is shallow: it has no whole history to give")
                .hint("git fetch --unshallow, or leave --self-contained out"),
        );
    }
    let session = session.with_unnamed(workspace)?;
    let leaves = outgoing(workspace, &session, sides)?.into_iter();
    let name = |leaf| refnames::name(Shelf::Shared, &session.id, leaf);
    let refs: Vec<(String, Oid)> = leaves.map(|(leaf, oid)| (name(leaf), oid)).collect();
    let tips: Vec<Oid> = refs.iter().map(|(_, oid)| oid.clone()).collect();
    let prerequisites = match reach {
        Reach::Session => git.foundation(&tips)?,
        Reach::Everything => Vec::new(),
    };
    let header = Header {
        format: git.format,
        prerequisites: prerequisites.clone(),
        refs,
    };
    let unwritable = || format!("can't write {}", file.display());
    let mut new = fs::File::create_new(file).or_cannot(unwritable)?;
    let head = new.write_all(&header.write()).or_cannot(unwritable);
    let written = head.and_then(|()| Ok(git.write_pack(&tips, &prerequisites, &mut new)?));
    if let Err(error) = written {
        // Half a bundle is none.
        let _ = fs::remove_file(file);
        return Err(error);
    }
    Ok(Bundled {
        turns: session.turns.len(),
        prerequisites,
    })
}
