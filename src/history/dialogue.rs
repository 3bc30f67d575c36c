//! What was said on the way to a turn, and what was done after it.

use crate::error::Result;

use super::conversation::{self, Call, Entry};
use super::session::Session;
use super::turn::{Kind, Number, Turn};
use super::workspace::Workspace;

/// A turn, and what was said and done for it.
pub struct Part {
    /// The turn.
    pub turn: Turn,
    /// What was said and done.
    pub entries: Vec<Entry>,
}

/// The turns on the line up to this one, the first one first. Of a step it is those before it.
///
/// # Errors
///
/// git failed.
pub fn until(workspace: &Workspace, session: &Session, goal: &Turn) -> Result<Vec<Part>> {
    let own = Some(goal).filter(|goal| goal.note.kind != Kind::Step);
    let line = session.line(workspace, goal);
    let line = own.cloned().map(Ok).into_iter().chain(line);
    let mut line: Vec<Turn> = line.collect::<Result<_>>()?;
    line.retain(|turn| turn.note.kind != Kind::Baseline);
    line.reverse();
    let said = conversation::of_each(workspace, &line.iter().collect::<Vec<_>>())?;
    let parts = line.into_iter().zip(said);
    let parts = parts.map(|(turn, entries)| Part { turn, entries });
    Ok(parts.collect())
}

/// The turn at whose end an agent's conversation stood as it did at the end of this line: the last one that an agent took.
pub fn last_of_an_agent(line: &[Part]) -> Option<&Turn> {
    let mut turns = line.iter().rev().map(|part| &part.turn);
    turns.find(|turn| turn.note.kind == Kind::Turn && turn.note.work.agent_session.is_some())
}

/// The uses of tools after this turn or step, on whatever line, that may have done more than change files.
///
/// # Errors
///
/// git failed.
pub fn done_since(workspace: &Workspace, session: &Session, goal: &Turn) -> Result<Vec<Entry>> {
    let number = goal.number();
    // What a step is on the way to holds what was done before it, too.
    let first = number.turn + u32::from(number.step == 0);
    let later: Vec<&Turn> = session.turns.range(first..).map(|(_, turn)| turn).collect();
    let mut entries: Vec<Entry> = Vec::new();
    for said in conversation::of_each(workspace, &later)? {
        entries.extend(said);
    }
    entries.extend(conversation::open_in(workspace, session)?);
    let is_before = |call: &Call| call.step.is_some_and(|step| is_at_or_before(step, number));
    let begin = entries
        .iter()
        .rposition(|entry| entry.call().is_some_and(is_before))
        .map_or(0, |last| last + 1);
    let done = entries.into_iter().skip(begin);
    Ok(done
        .filter(|entry| entry.call().is_some_and(|call| call.beyond))
        .collect())
}

fn is_at_or_before(step: Number, goal: Number) -> bool {
    goal.step > 0 && step.turn == goal.turn && step.step <= goal.step
}
