//! Sessions are taken off a remote again. What is here stays.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::gitengine::{Oid, RefChange, Remote, Sent};

use super::ancestry::Ancestry;
use super::gc::is_due;
use super::push::refused_there;
use super::refnames::{self, Leaf, SessionId, Shelf};
use super::remote::{self, Incoming};
use super::shared::Leaves;
use super::turn::Turn;
use super::workspace::{Locked, Workspace};

/// A session that goes from a remote.
#[derive(Clone, Debug)]
pub struct Stale {
    /// Its id.
    pub id: SessionId,
    /// How many turns it has there.
    pub turns: usize,
    /// When it was last used, as its commits say.
    pub last_used: i64,
    refs: Vec<RefChange>,
}

/// What was found of old sessions.
#[derive(Debug, Default)]
pub struct Found {
    /// Those that go.
    pub stale: Vec<Stale>,
    /// Those that can't be looked into, and stay.
    pub unread: Vec<(SessionId, Error)>,
}

/// Which sessions of a remote are to go there.
#[derive(Clone, Copy, Debug)]
pub enum Old<'a> {
    /// Those that were last used before so many days.
    Before(u32),
    /// This one, whenever it was used.
    This(&'a SessionId),
}

/// Works out what is to go from a remote. What is here stays.
///
/// When a session was last used is in its commits: those that are not here are fetched, to be looked at.
///
/// # Errors
///
/// The remote can't be reached, or has no such session; or git failed.
pub fn stale(workspace: &mut Locked, remote: &Remote, old: Old<'_>, now: i64) -> Result<Found> {
    let mut heads = workspace.while_free(|workspace| remote::heads(workspace, remote))?;
    heads.sessions.retain(|id, _| match old {
        Old::This(only) => id == only,
        // It was not used before it began.
        Old::Before(days) => id.began().is_none_or(|began| is_due(began, days, now)),
    });
    if let (Old::This(id), true) = (old, heads.sessions.is_empty()) {
        let name = remote::shown(remote);
        return Err(Error::cannot(format!("{name} has no session {id}")));
    }
    let sessions: Vec<(&SessionId, &Leaves)> = heads.sessions.iter().collect();
    let is_here = |workspace: &Workspace, leaves: &Leaves| -> Result<bool> {
        let tips: Vec<Oid> = leaves.iter().map(|(_, oid)| oid.clone()).collect();
        Ok(workspace.git.missing(&tips)?.is_empty())
    };
    let mut unknown = Vec::new();
    for (id, leaves) in &sessions {
        if !is_here(workspace, leaves)? {
            unknown.push((*id, *leaves));
        }
    }
    if unknown.is_empty() {
        return Ok(Found {
            stale: stale_among(workspace, &sessions, old, now)?,
            unread: Vec::new(),
        });
    }
    let incoming = Incoming::new(workspace)?;
    let mut spoilt = BTreeMap::new();
    if incoming.take(workspace, remote, &unknown).is_err() {
        // One that git refuses keeps no other from going.
        for session in &unknown {
            let taken = incoming.take(workspace, remote, std::slice::from_ref(session));
            if let Err(error) = taken {
                spoilt.insert(session.0.clone(), error);
            }
        }
    }
    let sound = sessions.iter().filter(|(id, _)| !spoilt.contains_key(*id));
    let sound: Vec<_> = sound.copied().collect();
    let mut stale = incoming.with(workspace, |workspace| {
        stale_among(workspace, &sound, old, now)
    })?;
    // Of what nobody can look into only the beginning is known: it goes where it is named.
    let blind = |(id, leaves): &(&SessionId, &Leaves)| Stale {
        id: (*id).clone(),
        turns: leaves
            .iter()
            .filter(|(leaf, _)| matches!(leaf, Leaf::Turn(_)))
            .count(),
        last_used: id.began().unwrap_or(now),
        refs: deletions(id, leaves),
    };
    if let Old::This(_) = old {
        let named = sessions.iter().filter(|(id, _)| spoilt.contains_key(*id));
        stale.extend(named.map(blind));
        spoilt.clear();
    }
    Ok(Found {
        stale,
        unread: spoilt.into_iter().collect(),
    })
}

fn deletions(id: &SessionId, leaves: &Leaves) -> Vec<RefChange> {
    let refs = leaves.iter();
    refs.map(|(leaf, oid)| RefChange::delete(refnames::name(Shelf::Shared, id, *leaf), oid))
        .collect()
}

fn stale_among(
    workspace: &Workspace,
    sessions: &[(&SessionId, &Leaves)],
    old: Old<'_>,
    now: i64,
) -> Result<Vec<Stale>> {
    let tips = sessions.iter().flat_map(|(_, leaves)| leaves.iter());
    let tips: Vec<&Oid> = tips.map(|(_, oid)| oid).collect();
    let mut ancestry = Ancestry::read(workspace, &tips)?;
    let mut due = Vec::new();
    for (id, leaves) in sessions {
        let tips: Vec<Oid> = leaves.iter().map(|(_, oid)| oid.clone()).collect();
        let turns = ancestry.snapshots(workspace, id, &tips)?;
        let commits = workspace.git.commits(&tips)?;
        let times = commits.iter().map(|commit| commit.seconds);
        let times = times.chain(turns.iter().map(|turn| turn.seconds));
        let Some(last_used) = times.max() else {
            continue;
        };
        let is_wanted = match old {
            Old::This(_) => true,
            Old::Before(days) => is_due(last_used, days, now),
        };
        if is_wanted {
            let numbered = |turn: &&Turn| turn.note.kind.is_numbered();
            due.push(Stale {
                id: (*id).clone(),
                turns: turns.iter().filter(numbered).count(),
                last_used,
                refs: deletions(id, leaves),
            });
        }
    }
    Ok(due)
}

/// So many refs are deleted in one push, and all of a session's: they are words of a command.
const AT_ONCE: usize = 300;

/// Takes these sessions off a remote: each ref only where it is as it was seen.
///
/// # Errors
///
/// The remote can't be reached, or one of them has moved on there meanwhile.
pub fn take_off(workspace: &mut Locked, remote: &Remote, pruned: &[Stale]) -> Result<()> {
    let mut pushes: Vec<Vec<RefChange>> = Vec::new();
    for session in pruned {
        match pushes.last_mut() {
            Some(push) if push.len() + session.refs.len() <= AT_ONCE => {
                push.extend(session.refs.iter().cloned());
            }
            _ => pushes.push(session.refs.clone()),
        }
    }
    for changes in pushes {
        let sent = workspace.while_free(|workspace| {
            let sent = workspace.git.send_to(remote, &workspace.settings, &changes);
            sent.map_err(remote::unreachable(remote))
        })?;
        if let Sent::Refused(why) = sent {
            return Err(refused_there(remote, why));
        }
    }
    Ok(())
}
