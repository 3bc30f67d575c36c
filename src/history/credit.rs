//! What an accepted commit says of how it came about: trailers in its message, and a note beside it. Both only where the
//! user has set it.

use crate::error::Result;
use crate::gitengine::{Oid, in_one_line};

use super::refnames::{NOTES, SessionId};
use super::turn::{Turn, Work};
use super::workspace::Workspace;

/// The trailers: one for each agent, with its model where that is known, and one for the session.
///
/// None of them begins with `Edio-`. So a commit of the user's is never taken for one of edio's, whatever else stands in
/// its last paragraph ([`trailers`](super::trailers) reads a paragraph that has nothing else).
pub fn trailers(id: &SessionId, turns: &[Turn]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for name in turns.iter().flat_map(|turn| names(&turn.note.work)) {
        let line = format!("Assisted-by: {name}");
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.push(format!("Session: {id}"));
    lines
}

/// Who was at work: `claude:claude-opus-4-5`, and others that were there at the same time.
fn names(work: &Work) -> Vec<String> {
    let with_model = |agent: &String| match &work.model {
        Some(model) => format!("{}:{}", one_line(agent), one_line(model)),
        None => one_line(agent),
    };
    let agent = work.agent.as_ref().map(with_model);
    let others = work
        .shared
        .iter()
        .filter(|other| Some(*other) != work.agent.as_ref());
    let others = others.map(|agent| one_line(agent));
    agent.into_iter().chain(others).collect()
}

fn one_line(text: &str) -> String {
    in_one_line(text).trim().to_owned()
}

/// A message with these trailers at its end: in its own last paragraph where that is one of trailers, else in a new one.
///
/// Programs that the user has set for trailers are not run.
///
/// # Errors
///
/// git failed.
pub fn with_trailers(workspace: &Workspace, message: &str, trailers: &[String]) -> Result<String> {
    let missing: Vec<&String> = trailers
        .iter()
        .filter(|trailer| !message.lines().any(|line| line == trailer.as_str()))
        .collect();
    let text = message.trim_end_matches('\n');
    if missing.is_empty() || text.trim().is_empty() {
        return Ok(message.to_owned());
    }
    let mut credited = format!("{text}\n");
    if !workspace.git.ends_with_trailers(&credited)? {
        credited.push('\n');
    }
    for trailer in missing {
        credited.push_str(trailer);
        credited.push('\n');
    }
    Ok(credited)
}

/// Writes a note on the commit: the session, and its turns with who worked and what for.
///
/// # Errors
///
/// git failed.
pub fn write_note(
    workspace: &Workspace,
    commit: &Oid,
    id: &SessionId,
    turns: &[Turn],
) -> Result<()> {
    let mut note = format!("edio session {id}\n\n");
    for turn in turns {
        let work = &turn.note.work;
        let who = match names(work) {
            names if names.is_empty() => turn.note.kind.to_string(),
            names => names.join(", "),
        };
        let prompt = work.prompt.as_deref().and_then(|text| text.lines().next());
        let what = one_line(prompt.unwrap_or(turn.note.subject()));
        note.push_str(&format!("turn {}  {who}  {what}\n", turn.number()));
    }
    Ok(workspace.git.write_note(NOTES, commit, &note)?)
}
