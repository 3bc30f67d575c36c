//! The end of an agent's work: what has changed is a turn. How a prompt has ended may be noted before anybody has the time
//! to look.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::steps::take_declared;
use super::{By, Now, Prompt, is_its_own, open, others, with};
use crate::error::{Result, While};
use crate::gitengine::ObjectFormat;
use crate::history::baseline::head_tree;
use crate::history::ground::ground;
use crate::history::limits::TooMuch;
use crate::history::scan::{Scan, scan};
use crate::history::snapshot::{Request, Unchanged, record};
use crate::history::state::write_at_once;
use crate::history::turn::{Ending, Kind, Work};
use crate::history::workspace::Locked;

/// Who worked on what has changed since the last snapshot, as a turn of an agent's ends.
pub(super) fn work_at_end(
    workspace: &mut Locked,
    by: &By,
    prompt: Option<&Prompt>,
    scan: &Scan,
    now: &Now<'_>,
) -> Result<Work> {
    let mut shared = others(workspace, &by.agent, &by.session, now);
    let (before, was_seen) = match ground(workspace)? {
        Some(ground) => (ground.tree, true),
        None => (head_tree(workspace, &scan.head)?, false),
    };
    let is_its_own = was_seen && is_its_own(prompt) && !(now.is_late)();
    if before != scan.tree && !is_its_own {
        shared = with(shared, by.agent.clone());
    }
    Ok(Work {
        shared,
        helpers: prompt.map_or_else(Vec::new, |prompt| prompt.helpers.clone()),
        ..by.work(prompt)
    })
}

/// An agent has ended what it was told to do: what has changed since is a turn, and none where nothing has.
///
/// # Errors
///
/// The snapshot failed.
pub fn ended(workspace: &mut Locked, by: &By, ending: Ending, now: &Now<'_>) -> Result<()> {
    heed_ending(workspace, by)?;
    note_ending(workspace, by, ending)?;
    let prompt = by.take_prompt(&mut workspace.state);
    let ending = prompt.as_ref().and_then(Prompt::ending).unwrap_or(ending);
    take_declared(workspace, by, now)?;
    let scan = scan(workspace, TooMuch::Refuse)?;
    let work = work_at_end(workspace, by, prompt.as_ref(), &scan, now)?;
    let is_owed = prompt.as_ref().is_some_and(|prompt| prompt.in_others_turn);
    let mut request = turn(prompt.map(|prompt| prompt.text), work, ending, now);
    if is_owed {
        request.unchanged = Unchanged::Take;
    }
    let taken = record(workspace, scan, &request)?;
    if taken.turn.is_some() {
        let prompts = workspace.state.prompts.iter_mut();
        prompts
            .filter(|prompt| prompt.has_steps)
            .for_each(|prompt| prompt.in_others_turn = true);
        workspace.state.save(&workspace.scratch())?;
    }
    Ok(())
}

/// How the files are called that tell how a prompt has ended.
pub const ENDED: &str = "ended-";

/// The file that tells how a conversation's prompt has ended.
fn ending_file(by: &By) -> String {
    let session = by.session.as_deref().unwrap_or_default();
    let conversation = format!("{} {session}", by.agent);
    let name = ObjectFormat::Sha1.hash_content(conversation.as_bytes());
    format!("{ENDED}{name}")
}

/// Notes how an agent's prompt has ended, without a lock or a look, for whoever works here next.
///
/// # Errors
///
/// The scratch folder can't be written.
pub fn foretell_ending(scratch: &Path, by: &By, ending: Ending) -> Result<()> {
    write_at_once(scratch, &ending_file(by), ending.to_string().as_bytes())
}

/// Takes up what was noted of the end of the prompt of this agent's that is open.
pub(super) fn heed_ending(workspace: &mut Locked, by: &By) -> Result<()> {
    let file = workspace.scratch().join(ending_file(by));
    let word = match fs::read(&file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        word => word.or_cannot(|| format!("can't read {}", file.display()))?,
    };
    if let Ok(ending) = String::from_utf8_lossy(&word).parse() {
        note_ending(workspace, by, ending)?;
    }
    // Last: a kill in between has it noted once more, and what was told first counts.
    fs::remove_file(&file).or_cannot(|| format!("can't remove {}", file.display()))
}

/// Remembers how a prompt has ended, whatever becomes of this process. What was told first counts.
fn note_ending(workspace: &mut Locked, by: &By, ending: Ending) -> Result<()> {
    let scratch = workspace.scratch();
    let mut prompts = workspace.state.prompts.iter_mut();
    let Some(prompt) = prompts.find(|prompt| by.is_of(prompt)) else {
        return Ok(());
    };
    if prompt.ends.is_some() {
        return Ok(());
    }
    prompt.ends = Some(ending.to_string());
    workspace.state.save(&scratch)
}

/// An agent is gone: what it has not ended is interrupted.
///
/// # Errors
///
/// The snapshot failed.
pub fn left(workspace: &mut Locked, agent: &str, now: &Now<'_>) -> Result<()> {
    let open = open(&workspace.state, now.moment.seconds);
    let left = open.filter(|prompt| prompt.agent == agent);
    let left: Vec<By> = left
        .map(|prompt| By {
            agent: prompt.agent.clone(),
            session: prompt.session.clone(),
            model: None,
        })
        .collect();
    for by in left {
        ended(workspace, &by, Ending::Interrupted, now)?;
    }
    Ok(())
}

/// The request for the turn that an agent's work was.
pub(super) fn turn(message: Option<String>, work: Work, ending: Ending, now: &Now<'_>) -> Request {
    let ending = match (now.is_late)() {
        true => Ending::Unmeasured,
        false => ending,
    };
    Request {
        kind: Kind::Turn,
        message: message.filter(|text| !text.is_empty()),
        unchanged: Unchanged::Skip,
        work: Work {
            ending: Some(ending),
            ..work
        },
        moment: now.moment,
    }
}
