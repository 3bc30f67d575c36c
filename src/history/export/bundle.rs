//! A session as a bundle of git's.
//!
//! It has the refs that the session has here, below the name of what came from another repository: its turns, where it
//! stands, its operations. `side` is another matter: the side commits hold ignored files and conversations. Unless these
//! are wanted, it is a chain of copies that have only what a restore needs ([`side::copies`]).

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::error::{Error, Result, While};
use crate::gitengine::{Header, Oid};

use super::super::ops;
use super::super::refnames::{self, Leaf, Shelf};
use super::super::session::Session;
use super::super::side;
use super::super::workspace::Locked;

/// What goes along of the history that the session rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Nothing that is in a branch or a tag: whoever imports it must have that.
    Session,
    /// All.
    Everything,
}

/// What goes along of the side commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SideCommits {
    /// What a restore needs.
    Copies,
    /// All: ignored files that were saved, conversations, what was staged.
    All,
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
    let refs = refs(workspace, &session, sides)?;
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

fn refs(workspace: &Locked, session: &Session, sides: SideCommits) -> Result<Vec<(String, Oid)>> {
    let name = |leaf| refnames::name(Shelf::Shared, &session.id, leaf);
    let turns = session.turns.iter();
    let turns = turns.map(|(number, turn)| (name(Leaf::Turn(*number)), turn.commit.clone()));
    let mut refs: Vec<(String, Oid)> = turns.collect();
    refs.push((name(Leaf::Current), session.current()?.commit.clone()));
    refs.extend(
        session
            .ops
            .iter()
            .map(|ops| (name(Leaf::Ops), ops.oid.clone())),
    );
    let side = match sides {
        SideCommits::All => session.side.clone(),
        SideCommits::Copies => copies(workspace, session)?,
    };
    refs.extend(side.map(|side| (name(Leaf::Side), side)));
    Ok(refs)
}

/// The side commits that snapshots and operations name, as copies.
fn copies(workspace: &Locked, session: &Session) -> Result<Option<Oid>> {
    let lineage = session.lineage(workspace)?;
    let named = lineage.turns().filter_map(|turn| turn.note.side.clone());
    let operations = ops::all(workspace, session)?;
    let noted = operations
        .iter()
        .filter_map(|(_, operation)| operation.from_bytes.as_ref()?.side().cloned());
    let mut sides: Vec<Oid> = named.chain(noted).collect();
    sides.sort();
    sides.dedup();
    // One that came as a copy itself goes on as that.
    let missing = workspace.git.missing(&sides)?;
    if session.shelf == Shelf::Shared && !missing.is_empty() {
        return Ok(session.side.clone());
    }
    sides.retain(|side| !missing.contains(side));
    side::copies(workspace, &session.id, &sides)
}
