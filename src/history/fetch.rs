//! Fetch: sessions come from a remote.
//!
//! They are looked at as those of a bundle are ([`shared`]), and lie in a folder of their own until then. Each stands for
//! itself: one that is refused keeps no other from coming. Nothing of this repository's own sessions changes.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::gitengine::{Oid, RefChange, Remote};

use super::ancestry::Ancestry;
use super::refnames::{Leaf, SessionId, Shelf};
use super::refs;
use super::remote::{self, Heads, Incoming};
use super::session::Session;
use super::shared::{self, Came, Leaves, State};
use super::workspace::Locked;

/// How many turns a session has at the remote, and what came of it; or why it is refused.
type Outcome = Result<(usize, Came)>;

/// A session that a remote has.
pub struct Fetched {
    /// Its id.
    pub id: SessionId,
    /// What came of it.
    pub outcome: Outcome,
}

/// So often it is tried again where a session moves on meanwhile.
const TRIES: usize = 3;

/// Takes in all sessions of a remote, or only one.
///
/// # Errors
///
/// The remote can't be reached or has no such session; or git failed.
pub fn fetch(
    workspace: &mut Locked,
    remote: &Remote,
    only: Option<&SessionId>,
) -> Result<Vec<Fetched>> {
    let mut fetched = BTreeMap::new();
    for _ in 0..TRIES {
        let mut heads = workspace.while_free(|workspace| remote::heads(workspace, remote))?;
        heads
            .sessions
            .retain(|id, _| only.is_none_or(|only| only == id));
        if let (Some(id), true) = (only, heads.sessions.is_empty()) {
            return Err(
                Error::cannot(format!("{} has no session {id}", remote::shown(remote)))
                    .hint("without --session all that it has are fetched"),
            );
        }
        // What was taken in, or refused, stays so.
        heads.sessions.retain(|id, _| !fetched.contains_key(id));
        if heads.sessions.is_empty() {
            break;
        }
        fetched.extend(taken(workspace, remote, &heads)?);
    }
    let fetched = fetched.into_iter();
    Ok(fetched
        .map(|(id, outcome)| Fetched { id, outcome })
        .collect())
}

/// Takes in what can be taken in now. What has moved on since the remote was asked is not among what is returned.
fn taken(
    workspace: &mut Locked,
    remote: &Remote,
    heads: &Heads,
) -> Result<BTreeMap<SessionId, Outcome>> {
    let mut outcomes = BTreeMap::new();
    let here = Session::all(workspace)?;
    let mut wanted: Vec<(&SessionId, &Leaves)> = Vec::new();
    for (id, leaves) in &heads.sessions {
        match known(&here, id, leaves) {
            Some(known) => drop(outcomes.insert(id.clone(), Ok(known))),
            None => wanted.push((id, leaves)),
        }
    }
    if wanted.is_empty() {
        return Ok(outcomes);
    }
    let incoming = Incoming::new(workspace)?;
    if let Err(error) = incoming.take(workspace, remote, &wanted) {
        if let [(id, _)] = wanted.as_slice() {
            outcomes.insert((*id).clone(), Err(error));
            return Ok(outcomes);
        }
        // One of them spoils it for all: each by itself, then.
        let mut whole = Vec::new();
        for one in wanted {
            match incoming.take(workspace, remote, &[one]) {
                Ok(()) => whole.push(one),
                Err(error) => drop(outcomes.insert(one.0.clone(), Err(error))),
            }
        }
        wanted = whole;
    }
    outcomes.extend(incoming.with(workspace, |workspace| take_in(workspace, &wanted))?);
    Ok(outcomes)
}

/// A session that is here as the remote has it.
fn known(here: &[Session], id: &SessionId, leaves: &Leaves) -> Option<(usize, Came)> {
    let session = here.iter().find(|session| &session.id == id)?;
    let has = |(leaf, oid): &(Leaf, Oid)| match leaf {
        // Elsewhere there may be only copies of these.
        Leaf::Side if session.shelf != Shelf::Shared => true,
        // A turn of its own needs no ref here.
        Leaf::Turn(number) => session.turns.get(number).is_some_and(|t| &t.commit == oid),
        leaf => session
            .refs
            .iter()
            .any(|(other, at)| other == leaf && at == oid),
    };
    let came = match session.shelf {
        Shelf::Shared => Came::Known,
        _ => Came::Own,
    };
    leaves
        .iter()
        .all(has)
        .then_some((session.turns.len(), came))
}

/// Looks at each of these, and makes its refs if it is in order.
fn take_in(
    workspace: &Locked,
    sessions: &[(&SessionId, &Leaves)],
) -> Result<Vec<(SessionId, Outcome)>> {
    let tips = sessions.iter().flat_map(|(_, leaves)| leaves.iter());
    let tips: Vec<Oid> = tips.map(|(_, oid)| oid.clone()).collect();
    let moved_on = workspace.git.missing(&tips)?;
    let is_here = |(_, leaves): &&(&SessionId, &Leaves)| {
        !leaves.iter().any(|(_, oid)| moved_on.contains(oid))
    };
    let sessions: Vec<_> = sessions.iter().filter(is_here).collect();
    let tips: Vec<&Oid> = tips.iter().filter(|oid| !moved_on.contains(oid)).collect();
    // Where something is missing, it is found out for each whether it is that one.
    let all: Vec<Oid> = tips.iter().map(|oid| (*oid).clone()).collect();
    let is_whole = match workspace.git.check_connected(&all) {
        Ok(()) => Whole::Known,
        Err(_) => Whole::Unknown,
    };
    let mut ancestry = Ancestry::read(workspace, &tips)?;
    let here = Session::all(workspace)?;
    let mut outcomes = Vec::new();
    let mut changes = Vec::new();
    for (id, leaves) in sessions {
        let looked = looked_at(workspace, &mut ancestry, &here, id, leaves, is_whole);
        let outcome = looked.map(|(turns, came, needed)| {
            changes.extend(needed);
            (turns, came)
        });
        outcomes.push(((*id).clone(), outcome));
    }
    refs::change_in_chunks(workspace, &changes)?;
    Ok(outcomes)
}

/// Is all here that a session leads to?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whole {
    Known,
    Unknown,
}

fn looked_at(
    workspace: &Locked,
    ancestry: &mut Ancestry,
    here: &[Session],
    id: &SessionId,
    leaves: &Leaves,
    is_whole: Whole,
) -> Result<(usize, Came, Vec<RefChange>)> {
    if is_whole == Whole::Unknown {
        let tips: Vec<Oid> = leaves.iter().map(|(_, oid)| oid.clone()).collect();
        workspace.git.check_connected(&tips).map_err(|error| {
            Error::refused(format!("something that {id} needs is missing")).because(error)
        })?;
    }
    let sides = leaves.iter().filter(|(leaf, _)| *leaf == Leaf::Side);
    let sides: Vec<&Oid> = sides.map(|(_, oid)| oid).collect();
    shared::refuse_other_copies(workspace, &sides)?;
    let state = State::given(workspace, ancestry, id, leaves)?;
    let (came, changes) = shared::taken(workspace, here, id, leaves, &state)?;
    Ok((state.turns.len(), came, changes))
}
