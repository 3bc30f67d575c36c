//! How sessions are put together from their refs.

use std::collections::{BTreeMap, HashMap};

use super::{Damaged, Foreign, Session};
use crate::error::Result;
use crate::gitengine::{Commit, Oid, RefCommit, RefCommits};
use crate::history::ancestry::Ancestry;
use crate::history::ops::Operation;
use crate::history::refnames::{self, Leaf, SessionId, Shelf};
use crate::history::turn::{Kind, Number, Turn};
use crate::history::workspace::Workspace;

/// The id of the session that this workspace works in.
pub(super) fn find_active(workspace: &Workspace) -> Result<Option<SessionId>> {
    if let (Some(session), Some(_)) = (&workspace.state.session, &workspace.pointed) {
        return Ok(Some(session.id.clone()));
    }
    // Nothing is remembered, or what is remembered is gone: the newest session of this work tree it is.
    let refs = workspace.git.ref_commits(&[refnames::ACTIVE])?;
    let mine = refs.whole.iter().filter_map(|found| {
        let (_, id, leaf) = refnames::parse(&found.name)?;
        let here = match leaf {
            Leaf::Current | Leaf::Turn(_) => {
                let turn = Turn::read(&found.commit)?;
                turn.note.session == id && turn.note.worktree == workspace.name
            }
            // A session that began with a turn of another one may have nothing else of its own.
            Leaf::Ops => Operation::read(&found.commit)?.worktree == workspace.name,
            Leaf::Side => false,
        };
        here.then_some((found.commit.seconds, id))
    });
    let mut mine: Vec<(i64, SessionId)> = mine.collect();
    mine.sort_unstable();
    mine.dedup();
    while let Some((_, id)) = mine.pop() {
        if !is_half_archived(workspace, &id, &refs)? {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// Is it still archived, since a process was killed that gave it its refs back, and comes to `current` last?
fn is_half_archived(workspace: &Workspace, id: &SessionId, refs: &RefCommits) -> Result<bool> {
    let current = refnames::name(Shelf::Active, id, Leaf::Current);
    let whole = refs.whole.iter().map(|found| &found.name);
    let mut names = whole.chain(refs.damaged.iter().map(|found| &found.name));
    if names.any(|name| *name == current) {
        return Ok(false);
    }
    let archived = refnames::name(Shelf::Archive, id, Leaf::Current);
    Ok(!workspace.git.ref_names(&[&archived])?.is_empty())
}

/// Fills in the turns of those among these sessions that are not under way. Most have no refs of their own: they are
/// reached from where the session stood and from its operations.
pub(super) fn follow(workspace: &Workspace, sessions: &mut [Session]) -> Result<()> {
    let put_away = |session: &&Session| session.shelf != Shelf::Active;
    let tips = sessions.iter().filter(put_away).flat_map(Session::tips);
    let tips: Vec<&Oid> = tips.collect();
    if tips.is_empty() {
        return Ok(());
    }
    let mut ancestry = Ancestry::read(workspace, &tips)?;
    for session in sessions.iter_mut().filter(|s| s.shelf != Shelf::Active) {
        for turn in ancestry.snapshots(workspace, &session.id, session.tips())? {
            match turn.note.kind {
                Kind::Baseline => session.baseline = Some(turn),
                Kind::Step => {}
                _ => session.know(turn),
            }
        }
    }
    Ok(())
}

/// A ref of a session, with what it leads to.
pub(super) struct Found {
    shelf: Shelf,
    id: SessionId,
    leaf: Leaf,
    commit: Commit,
    turn: Option<Turn>,
}

impl Found {
    pub(super) fn read(found: RefCommit) -> Option<Self> {
        let (shelf, id, leaf) = refnames::parse(&found.name)?;
        let turn = match leaf {
            Leaf::Turn(_) | Leaf::Current => Turn::read(&found.commit),
            Leaf::Ops | Leaf::Side => None,
        };
        Some(Self {
            shelf,
            id,
            leaf,
            commit: found.commit,
            turn,
        })
    }
}

/// Sorts refs into the sessions that they belong to.
pub(super) fn gather(refs: RefCommits<Option<Found>>) -> Vec<Session> {
    let mut sessions: BTreeMap<(SessionId, Shelf), Session> = BTreeMap::new();
    for found in refs.whole.into_iter().flatten() {
        let session = sessions.entry((found.id.clone(), found.shelf));
        let session = session.or_insert_with(|| Session::unread(found.id.clone(), found.shelf));
        session.add(found);
    }
    for (shelf, id, damaged) in refs.damaged.into_iter().filter_map(Damaged::read) {
        let session = sessions.entry((id.clone(), shelf));
        let session = session.or_insert_with(|| Session::unread(id, shelf));
        session.damaged.push(damaged);
    }
    let mut sessions: Vec<Session> = sessions.into_values().collect();
    for session in &mut sessions {
        if session.damaged_at(Leaf::Current).is_some() {
            session.current = session.stood_at().cloned();
        }
    }
    sessions
}

impl Session {
    fn unread(id: SessionId, shelf: Shelf) -> Self {
        Self {
            id,
            shelf,
            turns: BTreeMap::new(),
            current: None,
            ops: None,
            side: None,
            refs: Vec::new(),
            damaged: Vec::new(),
            foreign: Vec::new(),
            baseline: None,
            numbers: HashMap::new(),
        }
    }

    fn add(&mut self, found: Found) {
        let Found { commit, turn, .. } = found;
        self.refs.push((found.leaf, commit.oid.clone()));
        match found.leaf {
            // A commit that edio does not understand is not taken for a turn.
            Leaf::Turn(number) => match turn.filter(|turn| turn.number() == Number::turn(number)) {
                Some(turn) => self.know(turn),
                None => self.foreign.push(Foreign {
                    number,
                    name: refnames::name(self.shelf, &self.id, found.leaf),
                    commit: commit.oid,
                }),
            },
            Leaf::Current => self.current = turn,
            Leaf::Ops => self.ops = Some(commit),
            Leaf::Side => self.side = Some(commit.oid),
        }
    }
}
