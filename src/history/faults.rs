//! What is wrong with sessions: what can't be read of them, and what is missing behind what can.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::gitengine::Oid;

use super::refnames::{self, SessionId, Shelf};
use super::session::{Damaged, Foreign, Session};
use super::workspace::Workspace;

/// Something that is wrong with a session.
pub struct Fault {
    /// Which session.
    pub session: SessionId,
    /// What it is, in words.
    pub what: String,
    /// How to go on.
    pub remedy: String,
}

/// Looks through all sessions, and all that they hold.
///
/// # Errors
///
/// git failed.
pub fn all(workspace: &Workspace) -> Result<Vec<Fault>> {
    let refs = workspace.git.ref_commits(&[refnames::ALL])?;
    let mut tips: BTreeMap<SessionId, Vec<&Oid>> = BTreeMap::new();
    for found in &refs.whole {
        if let Some((_, id, _)) = refnames::parse(&found.name) {
            tips.entry(id).or_default().push(&found.commit.oid);
        }
    }
    let foreign = refs.whole.iter().filter_map(Foreign::read);
    let foreign = foreign.map(|(session, foreign)| Fault {
        session,
        what: foreign.what(),
        remedy: format!("{}; {}", foreign.look(), foreign.riddance()),
    });
    let foreign: Vec<Fault> = foreign.collect();
    let damaged = refs.damaged.into_iter().filter_map(Damaged::read);
    let mut faults: Vec<Fault> = damaged
        .map(|(_, session, damaged)| Fault {
            what: damaged.what(),
            remedy: match tips.contains_key(&session) {
                true => damaged.remedy(),
                false => format!("{BEGIN}; {}", riddance(&damaged)),
            },
            session,
        })
        .collect();
    faults.extend(foreign);
    faults.extend(incomplete(workspace, tips)?);
    Ok(faults)
}

fn incomplete(workspace: &Workspace, tips: BTreeMap<SessionId, Vec<&Oid>>) -> Result<Vec<Fault>> {
    let git = &workspace.git;
    // Where all is well, one question is enough.
    let all: Vec<&Oid> = tips.values().flatten().copied().collect();
    if git.what_is_missing(&all)?.is_none() {
        return Ok(Vec::new());
    }
    let mut incomplete = Vec::new();
    for (session, tips) in tips {
        let missing = git.what_is_missing(&tips)?;
        incomplete.extend(missing.map(|missing| Fault {
            session,
            what: format!("something that it holds is missing or damaged: {missing}"),
            remedy: "put the object back from a copy of the repository; git fsck names all that is damaged".to_owned(),
        }));
    }
    Ok(incomplete)
}

/// The session that this workspace worked in, where none is under way since nothing of it can be read.
///
/// # Errors
///
/// git failed.
pub fn lost(workspace: &Workspace) -> Result<Option<Session>> {
    let (Some(standing), None) = (&workspace.state.session, &workspace.pointed) else {
        return Ok(None);
    };
    let session = Session::load(workspace, Shelf::Active, &standing.id)?;
    Ok(session.filter(is_lost))
}

fn is_lost(session: &Session) -> bool {
    session.refs.is_empty() && !session.damaged.is_empty()
}

/// The session that is wanted. Where it is the workspace's own, and nothing of it can be read, that is said.
///
/// # Errors
///
/// There is none, or git failed.
pub fn wanted(workspace: &Workspace, id: Option<&SessionId>) -> Result<Session> {
    let none = match Session::wanted(workspace, id) {
        Err(none) if id.is_none() => none,
        wanted => return wanted,
    };
    Err(lost(workspace)?.map_or(none, |lost| nothing_left(&lost)))
}

/// Refuses what needs all of a session, where something of it can't be read.
///
/// # Errors
///
/// Something can't.
pub fn refuse_damaged(session: &Session) -> Result<()> {
    match is_lost(session) {
        true => Err(nothing_left(session)),
        false => session.refuse_damaged(),
    }
}

const BEGIN: &str = "to begin a new session: edio snapshot";

fn nothing_left(session: &Session) -> Error {
    let what: Vec<String> = session.damaged.iter().map(Damaged::what).collect();
    let error = Error::cannot(format!("nothing of {} can be read", session.id))
        .because(what.join("; "))
        .hint(BEGIN);
    let hints = session.damaged.iter().map(riddance);
    hints.fold(error, Error::hint)
}

fn riddance(damaged: &Damaged) -> String {
    let name = &damaged.name;
    let command = match &damaged.oid {
        Some(_) => format!("git update-ref --no-deref -d {name}"),
        None => format!("remove the file {name} in the git directory"),
    };
    format!("to be rid of what is left of the old one: {command}")
}
