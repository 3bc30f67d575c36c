//! A session that comes from another repository.
//!
//! Nothing in a bundle is trusted: only refs of sessions are taken, each object is checked by git before it is taken in,
//! and each commit must say that it is what its ref's name says. Until the refs are made, all of it lies in the quarantine.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::error::{Error, Result, While};
use crate::gitengine::{Commit, Header, Oid, RefChange};

use super::ops::Operation;
use super::refnames::{self, Leaf, SessionId, Shelf};
use super::refs;
use super::session::Session;
use super::side::{self, Held};
use super::turn::{Number, Turn};
use super::workspace::Locked;

/// What came of a session in a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// It is new here.
    New,
    /// It was here, and has got more.
    More,
    /// All of it was here.
    Known,
    /// It is one of this repository's own, with all its turns.
    Own,
}

/// A session that was in a bundle.
pub struct Imported {
    /// Its id.
    pub id: SessionId,
    /// How many turns it has in the bundle.
    pub turns: usize,
    /// What came of it.
    pub came: Came,
}

type Leaves = Vec<(Leaf, Oid)>;

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
    refuse_other_copies(workspace, &header)?;
    let mut imported = Vec::new();
    let mut changes = Vec::new();
    for (id, leaves) in &sessions {
        check(workspace, id, leaves)?;
        let (came, needed) = changes_for(workspace, id, leaves)?;
        changes.extend(needed);
        imported.push(Imported {
            id: id.clone(),
            turns: turns(leaves).count(),
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
    let Some(first) = unknown.first() else {
        return Ok(());
    };
    let more = match unknown.len() {
        1 => String::new(),
        several => format!(" and {} more", several - 1),
    };
    Err(Error::cannot(format!(
        "the session rests on a commit that is not here: {first}{more}"
    ))
    .hint("fetch the branch that it was made on: git fetch")
    .hint("or have it written with all that it needs: edio export --bundle FILE --self-contained"))
}

/// A copy of a side commit has no id that would show what is in it. So one that came earlier is not replaced by another.
fn refuse_other_copies(workspace: &Locked, header: &Header) -> Result<()> {
    let is_side = |name: &str| matches!(refnames::parse(name), Some((_, _, Leaf::Side)));
    let sides = header.refs.iter().filter(|(name, _)| is_side(name));
    let sides: Vec<&Oid> = sides.map(|(_, oid)| oid).collect();
    if sides.is_empty() {
        return Ok(());
    }
    let here = side::held_by_shared(workspace)?;
    let copies = |held: Vec<Held>| held.into_iter().filter(|held| held.is_copy);
    let here: BTreeMap<Oid, Oid> = copies(here).map(|held| (held.id, held.tree)).collect();
    let mut brought = copies(side::held(workspace, &sides)?);
    let other = brought.find(|held| here.get(&held.id).is_some_and(|tree| tree != &held.tree));
    match other {
        None => Ok(()),
        Some(held) => Err(Error::refused(format!(
            "the bundle has another copy of {} than a session that is here: nothing was taken in",
            held.id
        ))),
    }
}

/// Does a chain of side commits have all that another has? If not, the other stays.
fn has_all(workspace: &Locked, new: &Oid, old: &Oid) -> Result<bool> {
    let ids = |tip| -> Result<BTreeSet<Oid>> {
        let held = side::held(workspace, &[tip])?;
        Ok(held.into_iter().map(|held| held.id).collect())
    };
    Ok(ids(old)?.is_subset(&ids(new)?))
}

fn turns(leaves: &Leaves) -> impl Iterator<Item = (u32, &Oid)> {
    leaves.iter().filter_map(|(leaf, oid)| match leaf {
        Leaf::Turn(number) => Some((*number, oid)),
        _ => None,
    })
}

/// Sees that each commit is what the name of its ref says.
fn check(workspace: &Locked, id: &SessionId, leaves: &Leaves) -> Result<()> {
    let oids: Vec<Oid> = leaves.iter().map(|(_, oid)| oid.clone()).collect();
    let odd = |leaf: Leaf| {
        Error::refused(format!(
            "what the bundle calls {leaf} of {id} is something else: nothing was taken in"
        ))
    };
    let unknown = workspace.git.unknown_commits(&oids)?;
    if let Some((leaf, _)) = leaves.iter().find(|(_, oid)| unknown.contains(oid)) {
        return Err(odd(*leaf));
    }
    let commits = workspace.git.commits(&oids)?;
    let commits: BTreeMap<&Oid, &Commit> = commits.iter().map(|c| (&c.oid, c)).collect();
    for (leaf, oid) in leaves {
        let commit = commits.get(oid).ok_or_else(|| odd(*leaf))?;
        let is_it = match leaf {
            Leaf::Turn(number) => Turn::read(commit).is_some_and(|turn| {
                turn.number() == Number::turn(*number) && &turn.note.session == id
            }),
            // It may be a turn of another session that it began with.
            Leaf::Current => Turn::read(commit).is_some(),
            Leaf::Ops => Operation::read(commit).is_some(),
            Leaf::Side => super::trailers::parse(&commit.message).is_some(),
        };
        if !is_it {
            return Err(odd(*leaf));
        }
    }
    let has_current = leaves.iter().any(|(leaf, _)| *leaf == Leaf::Current);
    match has_current {
        true => Ok(()),
        false => Err(Error::refused(format!(
            "the bundle does not say where {id} stands"
        ))),
    }
}

/// What must change for a session to be here; never what others have of it.
fn changes_for(
    workspace: &Locked,
    id: &SessionId,
    leaves: &Leaves,
) -> Result<(Came, Vec<RefChange>)> {
    for shelf in [Shelf::Active, Shelf::Archive] {
        if let Some(own) = Session::load(workspace, shelf, id)? {
            let own = own.with_unnamed(workspace)?;
            let known = own.turns.iter();
            let known = known
                .map(|(number, turn)| (*number, turn.commit.clone()))
                .collect();
            refuse_other(id, leaves, &known)?;
            return match turns(leaves).find(|(number, _)| !known.contains_key(number)) {
                None => Ok((Came::Own, Vec::new())),
                Some((number, _)) => Err(Error::refused(format!(
                    "{id} is a session of this repository, and has no turn {number}"
                ))),
            };
        }
    }
    let folder = refnames::folder(Shelf::Shared, id);
    let there: BTreeMap<String, Oid> = workspace.git.ref_names(&[&folder])?.into_iter().collect();
    let known: BTreeMap<u32, Oid> = there
        .iter()
        .filter_map(|(name, oid)| match refnames::parse(name)? {
            (_, _, Leaf::Turn(number)) => Some((number, oid.clone())),
            _ => None,
        })
        .collect();
    refuse_other(id, leaves, &known)?;
    let given: BTreeMap<u32, &Oid> = turns(leaves).collect();
    if known.keys().any(|number| !given.contains_key(number)) {
        // An older state of it: what is here goes further.
        return Ok((Came::Known, Vec::new()));
    }
    let mut changes: Vec<RefChange> = Vec::new();
    let (current, others): (Vec<_>, Vec<_>) =
        leaves.iter().partition(|(leaf, _)| *leaf == Leaf::Current);
    // Where it stands comes last: what has no `current` is not whole.
    for (leaf, oid) in others.into_iter().chain(current) {
        let name = refnames::name(Shelf::Shared, id, *leaf);
        let before = there.get(&name);
        let stays = match (leaf, before) {
            (_, before) if before == Some(oid) => true,
            (Leaf::Side, Some(before)) => !has_all(workspace, oid, before)?,
            _ => false,
        };
        if !stays {
            changes.push(RefChange::set(name, before, oid));
        }
    }
    let came = match (there.is_empty(), changes.is_empty()) {
        (true, _) => Came::New,
        (false, false) => Came::More,
        (false, true) => Came::Known,
    };
    Ok((came, changes))
}

/// Never is a session overwritten that is here with other turns.
fn refuse_other(id: &SessionId, leaves: &Leaves, known: &BTreeMap<u32, Oid>) -> Result<()> {
    let other = turns(leaves).filter(|(number, oid)| {
        let here = known.get(number);
        here.is_some_and(|here| here != *oid)
    });
    let numbers: Vec<String> = other.map(|(number, _)| number.to_string()).collect();
    if numbers.is_empty() {
        return Ok(());
    }
    Err(Error::refused(format!(
        "{id} is here already, with other turns: {}",
        numbers.join(", ")
    ))
    .hint(format!("see what is here: edio log --session {id}")))
}
