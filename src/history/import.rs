//! A session that comes from another repository.
//!
//! Nothing in a bundle is trusted: only refs of sessions are taken, each object is checked by git before it is taken in,
//! and each commit must say that it is what its ref's name says. Until the refs are made, all of it lies in the quarantine.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::error::{Error, Result, While, first_of};
use crate::gitengine::{Header, Oid};

use super::ancestry::Ancestry;
use super::refnames::{self, Leaf, SessionId, Shelf};
use super::refs;
use super::session::Session;
use super::shared::{self, Came, Leaves, State};
use super::workspace::Locked;

/// A session that was in a bundle.
pub struct Imported {
    /// Its id.
    pub id: SessionId,
    /// How many turns it has in the bundle.
    pub turns: usize,
    /// What came of it.
    pub came: Came,
}

/// Takes in the sessions of a bundle.
///
/// # Errors
///
/// It is no bundle of sessions, something in it is refused, what it rests on is not here, or a session is here with other
/// turns: nothing was changed.
pub fn import(workspace: &mut Locked, file: &Path) -> Result<Vec<Imported>> {
    let bundle = fs::read(file).or_cannot(|| format!("can't read {}", file.display()))?;
    let no_bundle = || Error::cannot(format!("{} is no git bundle", file.display()));
    let (header, pack) = Header::parse(&bundle).ok_or_else(no_bundle)?;
    let sessions = sessions(&header)?;
    if header.format != workspace.git.format {
        return Err(Error::cannot(
            "the bundle names objects by another hash function than this repository",
        ));
    }
    refuse_unfounded(workspace, &header)?;
    let tips: Vec<Oid> = header.refs.iter().map(|(_, oid)| oid.clone()).collect();
    let refused = |error: crate::gitengine::GitError| {
        Error::refused("git refuses what is in the bundle: nothing was taken in").because(error)
    };
    workspace.git.take_in_pack(pack).map_err(refused)?;
    workspace.git.check_connected(&tips).map_err(refused)?;
    let is_side = |(leaf, _): &&(Leaf, Oid)| *leaf == Leaf::Side;
    let sides = sessions.values().flatten().filter(is_side);
    let sides: Vec<&Oid> = sides.map(|(_, oid)| oid).collect();
    shared::refuse_other_copies(workspace, &sides)?;
    let mut ancestry = Ancestry::read(workspace, &tips.iter().collect::<Vec<_>>())?;
    let here = Session::all(workspace)?;
    let mut imported = Vec::new();
    let mut changes = Vec::new();
    for (id, leaves) in &sessions {
        let state = State::given(workspace, &mut ancestry, id, leaves)?;
        let (came, needed) = shared::taken(workspace, &here, id, leaves, &state)?;
        changes.extend(needed);
        imported.push(Imported {
            id: id.clone(),
            turns: state.turns.len(),
            came,
        });
    }
    if !changes.is_empty() {
        refs::change(workspace, &changes)?;
    }
    Ok(imported)
}

/// The refs of a bundle, by session.
fn sessions(header: &Header) -> Result<BTreeMap<SessionId, Leaves>> {
    let mut sessions: BTreeMap<SessionId, Leaves> = BTreeMap::new();
    for (name, oid) in &header.refs {
        let Some((Shelf::Shared, id, leaf)) = refnames::parse(name) else {
            return Err(Error::refused(format!(
                "the bundle has a ref that is no session's: {name:?}"
            ))
            .hint("edio export --bundle FILE writes one that can be imported"));
        };
        sessions.entry(id).or_default().push((leaf, oid.clone()));
    }
    match sessions.is_empty() {
        true => Err(Error::cannot("there is no session in the bundle")),
        false => Ok(sessions),
    }
}

fn refuse_unfounded(workspace: &Locked, header: &Header) -> Result<()> {
    let unknown = workspace.git.unknown_commits(&header.prerequisites)?;
    if unknown.is_empty() {
        return Ok(());
    }
    Err(Error::cannot(format!(
        "the session rests on a commit that is not here: {}",
        first_of(1, unknown.iter())
    ))
    .hint("fetch the branch that it was made on: git fetch")
    .hint("or have it written with all that it needs: edio export --bundle FILE --self-contained"))
}
