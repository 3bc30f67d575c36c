//! How one line came to be: what was said for it, what it replaced, and who wrote that.

use crate::error::Result;
use crate::gitengine::{Hunk, Oid, RepoPath};

use super::super::conversation::{self, What};
use super::super::session::Session;
use super::super::turn::{Kind, Turn};
use super::super::workspace::Workspace;
use super::{Follow, Line, Origin, Owners, Question, Version, owners};

/// How many earlier owners are looked for.
const EARLIER: usize = 10;

/// What was said for a snapshot.
#[derive(Debug, Default)]
pub struct Said {
    /// What the agent was told, in full.
    pub prompt: Option<String>,
    /// What it said at the end.
    pub reply: Option<String>,
}

/// The session of a snapshot, as far as it is still there.
///
/// # Errors
///
/// git failed.
pub fn session_of(workspace: &Workspace, turn: &Turn) -> Result<Option<Session>> {
    Session::find(workspace, &turn.note.session)
}

/// What was said for a snapshot. That of a step goes with the turn that ends its prompt.
///
/// # Errors
///
/// It can't be read.
pub fn said_for(workspace: &Workspace, session: &Session, turn: &Turn) -> Result<Said> {
    let work = &turn.note.work;
    let is_same = |other: &&Turn| {
        other.note.work.agent == work.agent && other.note.work.agent_session == work.agent_session
    };
    let mut later = session.turns.range(turn.number().turn..).map(|(_, t)| t);
    let entries = match later.find(is_same) {
        Some(ends) => conversation::of(workspace, ends)?,
        None => conversation::open(workspace)?,
    };
    let mut said = Said::default();
    let own = entries.into_iter().filter(|entry| {
        Some(&entry.agent) == work.agent.as_ref() && entry.session == work.agent_session
    });
    for entry in own {
        match entry.what {
            What::Prompt(text) => said.prompt = Some(text),
            What::Reply(text) => said.reply = Some(text),
            What::Call(_) => {}
        }
    }
    Ok(said)
}

/// The snapshot before another one: the step or the turn that it grew from.
///
/// # Errors
///
/// git failed.
pub fn snapshot_before(
    workspace: &Workspace,
    session: &Session,
    turn: &Turn,
) -> Result<Option<Turn>> {
    if turn.note.kind == Kind::Baseline {
        return Ok(None);
    }
    let Some(parent) = turn
        .parent
        .as_ref()
        .filter(|_| turn.note.kind == Kind::Step)
    else {
        return session.before(workspace, turn).map(Some);
    };
    let commits = workspace.git.commits(std::slice::from_ref(parent))?;
    Ok(commits.first().and_then(Turn::read))
}

/// How a line came in: what it replaced. `None` where the file began with it, or it is in no text.
///
/// # Errors
///
/// git failed.
pub fn hunk_of(workspace: &Workspace, origin: &Origin) -> Result<Option<Hunk>> {
    let Some((before, name)) = &origin.previous else {
        return Ok(None);
    };
    let blob = |commit: &Oid, path: &RepoPath| -> Result<Option<Oid>> {
        Ok(workspace.git.blobs_at(&[commit], path)?.pop().flatten())
    };
    match (blob(before, name)?, blob(&origin.commit, &origin.path)?) {
        (Some(old), Some(new)) => Ok(workspace.git.hunk(&old, &new, origin.line)?),
        _ => Ok(None),
    }
}

/// An earlier owner of the place where a line is now, with what stood there.
pub struct Earlier {
    /// Who wrote it, and the file at that time.
    pub owners: Owners,
}

impl Earlier {
    /// The line.
    pub fn line(&self) -> Option<&Line> {
        self.owners.lines.first()
    }
}

/// Who wrote what a line replaced, who what that replaced, and so on.
///
/// # Errors
///
/// git failed.
pub fn earlier(workspace: &Workspace, origin: &Origin) -> Result<Vec<Earlier>> {
    let mut found: Vec<Earlier> = Vec::new();
    let mut next = origin.clone();
    while found.len() < EARLIER {
        let Some((commit, path)) = next.previous.clone() else {
            break;
        };
        let Some(hunk) = hunk_of(workspace, &next)?.filter(|hunk| !hunk.old.is_empty()) else {
            break;
        };
        let ahead = next.line.saturating_sub(hunk.new.start);
        let line = hunk
            .old
            .end
            .saturating_sub(1)
            .min(hunk.old.start.saturating_add(ahead));
        let version = Version {
            commit,
            is_unsaved: false,
        };
        let question = Question {
            path: &path,
            lines: Some(line..=line),
            follow: Follow::Moves,
        };
        let owners = owners(workspace, &version, &question)?;
        let earlier = Earlier { owners };
        let Some(line) = earlier.line() else { break };
        next = line.origin.clone();
        found.push(earlier);
    }
    Ok(found)
}
