//! Which lines of the files as they are now were written in which turn.

use crate::error::Result;
use crate::gitengine::{Mode, Oid, RepoPath};

use super::super::blame::{Follow, Owner, Question, Version, owners};
use super::super::ops::{self, Deed};
use super::super::session::Session;
use super::super::turn::Turn;
use super::super::workspace::Workspace;
use super::Stretch;

/// Who wrote lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contributor {
    /// An agent.
    Ai,
    /// A person.
    Human,
    /// Several at the same time.
    Mixed,
    /// Nobody knows.
    Unknown,
}

/// Lines that one turn wrote.
pub struct Span {
    /// The turn, or the step.
    pub turn: Turn,
    /// Who.
    pub by: Contributor,
    /// The lines: first and last, from 1.
    pub ranges: Vec<(u32, u32)>,
}

/// A file, with what the turns wrote of it.
pub struct Lines {
    /// Its path.
    pub path: RepoPath,
    /// What they wrote, in the order of the lines.
    pub spans: Vec<Span>,
}

/// The files that turns changed, as they are in the last of them.
pub struct Trace {
    /// The commit whose lines are counted: the user's, where the session was accepted with just these files, else the
    /// turn's own.
    pub revision: Oid,
    /// The files.
    pub files: Vec<Lines>,
}

/// Asks, for each file that the turns changed, who wrote its lines. Binary files have none.
///
/// # Errors
///
/// git failed.
pub fn trace(workspace: &Workspace, session: &Session, stretch: &Stretch) -> Result<Trace> {
    let end = stretch.end();
    let version = Version::of_turn(end);
    let mut files = Vec::new();
    for change in workspace.git.differences(&stretch.base.tree, &end.tree)? {
        let new = change.new.as_ref();
        if new.is_none_or(|new| new.mode == Mode::Gitlink) {
            continue;
        }
        let question = Question {
            path: &change.path,
            lines: None,
            follow: Follow::Moves,
        };
        let owners = owners(workspace, &version, &question)?;
        if owners.is_binary {
            continue;
        }
        let mut spans: Vec<Span> = Vec::new();
        for line in &owners.lines {
            if let Some((turn, by)) = writer(&line.owner, stretch) {
                add(&mut spans, turn, by, line.number);
            }
        }
        files.push(Lines {
            path: change.path,
            spans,
        });
    }
    Ok(Trace {
        revision: accepted_as(workspace, session, end)?.unwrap_or_else(|| end.commit.clone()),
        files,
    })
}

/// The turn among these that wrote a line, and who that was.
fn writer<'a>(owner: &'a Owner, stretch: &Stretch) -> Option<(&'a Turn, Contributor)> {
    let turn = owner.turn()?;
    let is_one = |other: &Turn| {
        other.note.session == turn.note.session && other.number().turn == turn.number().turn
    };
    if !stretch.turns.iter().any(is_one) {
        return None;
    }
    let by = match owner {
        Owner::Turn(turn) if turn.note.work.agent.is_some() => Contributor::Ai,
        Owner::Human(_) => Contributor::Human,
        Owner::Shared(_) => Contributor::Mixed,
        _ => Contributor::Unknown,
    };
    Some((turn, by))
}

fn add(spans: &mut Vec<Span>, turn: &Turn, by: Contributor, line: u32) {
    let same = |span: &&mut Span| {
        span.turn.number().turn == turn.number().turn
            && span.by == by
            && span.turn.note.work.model == turn.note.work.model
    };
    match spans.iter_mut().find(same) {
        Some(span) => match span.ranges.last_mut() {
            Some((_, last)) if *last + 1 == line => *last = line,
            _ => span.ranges.push((line, line)),
        },
        None => spans.push(Span {
            turn: turn.clone(),
            by,
            ranges: vec![(line, line)],
        }),
    }
}

/// The commit that the session was accepted as, where it has the files of this turn.
fn accepted_as(workspace: &Workspace, session: &Session, end: &Turn) -> Result<Option<Oid>> {
    let operations = ops::all(workspace, session)?;
    let Some((_, last)) = operations.last().filter(|(_, o)| o.deed == Deed::Accept) else {
        return Ok(None);
    };
    let commits: Vec<Oid> = last.head_after.iter().cloned().collect();
    let commit = workspace.git.commits(&commits)?.pop();
    let same = commit.filter(|commit| last.to == end.commit && commit.tree == end.tree);
    Ok(same.map(|commit| commit.oid))
}
