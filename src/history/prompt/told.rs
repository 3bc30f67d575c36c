//! An agent is told what to do: a turn begins, and what was there before is nobody's of it.

use super::ending::{heed_ending, turn, work_at_end};
use super::steps::take_declared;
use super::{By, Now, PATIENCE, Prompt, at_work, with};
use crate::error::Result;
use crate::gitengine::ObjectFormat;
use crate::history::baseline::begin_here;
use crate::history::ground::ground;
use crate::history::limits::TooMuch;
use crate::history::scan::scan;
use crate::history::snapshot::{Request, Unchanged, close_steps, record, remember};
use crate::history::state::State;
use crate::history::turn::{Ending, Kind, Work};
use crate::history::workspace::Locked;

/// Two files of configuration may have an agent call twice for one prompt, within so many seconds.
const TWICE: i64 = 2;

/// An agent was told to do something. What it did before and did not end is a turn that was interrupted; what else has
/// changed since the last snapshot is the person's; where there is no session yet, this is the baseline of one. Returns
/// whether that is new.
///
/// # Errors
///
/// The snapshot failed.
pub fn told(workspace: &mut Locked, by: &By, prompt: Prompt, now: &Now<'_>) -> Result<bool> {
    let seconds = now.moment.seconds;
    heed_ending(workspace, by)?;
    if was_told(&workspace.state, by, &prompt, seconds) {
        return Ok(false);
    }
    take_declared(workspace, by, now)?;
    let before = what_was_before(workspace, by, now);
    let state = &mut workspace.state;
    state.reply = None;
    by.take_prompt(state);
    state.prompts.retain(|other| seconds - other.at <= PATIENCE);
    // Also where that failed: what comes of it has its message then.
    state.prompts.push(Prompt {
        at: seconds,
        ..prompt
    });
    before.map(|()| true)
}

/// Was an agent told just this before, and is at it? What comes twice counts once.
fn was_told(state: &State, by: &By, prompt: &Prompt, seconds: i64) -> bool {
    by.open_prompt(state).is_some_and(|known| {
        let is_soon = seconds - known.at <= TWICE && known.ends.is_none();
        known.text == prompt.text && known.id == prompt.id && (known.id.is_some() || is_soon)
    })
}

/// Has an agent just ended with these words, and was told nothing since? If not, it has now.
pub fn has_said(state: &mut State, by: &By, text: &str, seconds: i64) -> bool {
    let session = by.session.as_deref().unwrap_or_default();
    let words = format!("{} {session} {text}", by.agent);
    let words = ObjectFormat::Sha1
        .hash_content(words.as_bytes())
        .to_string();
    let mut known = state.reply.iter();
    let is_again = known.any(|(known, at)| *known == words && seconds - at <= TWICE);
    state.reply = Some((words, seconds));
    is_again
}

/// Records what has changed until an agent was told something.
fn what_was_before(workspace: &mut Locked, by: &By, now: &Now<'_>) -> Result<()> {
    let scan = scan(workspace, TooMuch::Refuse)?;
    let is_late = (now.is_late)();
    // What is found late may be what the agent has gone on to do.
    let late = is_late.then(|| by.agent.clone()).into_iter();
    let at_work = at_work(&workspace.state, now.moment.seconds);
    if ground(workspace)?.is_none() {
        let shared = late.fold(at_work, with);
        return begin_here(workspace, scan, shared, now.moment).map(drop);
    }
    if let Some(unfinished) = by.open_prompt(&workspace.state).cloned() {
        let work = work_at_end(workspace, by, Some(&unfinished), &scan, now)?;
        let ending = unfinished.ending().unwrap_or(Ending::Interrupted);
        let request = turn(Some(unfinished.text), work, ending, now);
        return record(workspace, scan, &request).map(drop);
    }
    if !at_work.is_empty() {
        // It may be theirs.
        return remember(workspace, scan);
    }
    close_steps(workspace, now.moment)?;
    let request = Request {
        kind: Kind::Human,
        message: None,
        unchanged: Unchanged::Skip,
        work: Work {
            ending: is_late.then_some(Ending::Unmeasured),
            shared: late.collect(),
            ..Work::default()
        },
        moment: now.moment,
    };
    record(workspace, scan, &request).map(drop)
}
