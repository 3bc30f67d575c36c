//! The way of an agent's work: each use of a tool is a step.

use std::path::PathBuf;

use super::{By, Now, Use, at_work, is_its_own, open, others, with};
use crate::error::Result;
use crate::gitengine::RepoPath;
use crate::history::baseline::begin_here;
use crate::history::ground::ground;
use crate::history::journal;
use crate::history::limits::TooMuch;
use crate::history::scan::{look_at, scan};
use crate::history::snapshot::{Request, Unchanged, record, record_named};
use crate::history::turn::{Ending, Kind, Number, Work};
use crate::history::workspace::{Locked, Start};

/// How many uses of tools are remembered, to take no second step of one.
const CALLS: usize = 32;

/// An agent is about to use a tool: what has changed until now is nothing that this tool did. It is a step of nobody's
/// that is known, on the way of what the agent was told: the person's, or of something that the agent has left running.
///
/// # Errors
///
/// The snapshot failed.
pub fn using(workspace: &mut Locked, by: &By, tool: &Use, now: &Now<'_>) -> Result<()> {
    let ground = ground(workspace)?;
    let has_begun = ground.is_some();
    let standing = ground.as_ref().map(|ground| &ground.standing);
    let files = tool.files.as_deref().unwrap_or_default();
    journal::await_files(workspace, standing, files, now.is_late)?;
    let open = by.open_prompt(&workspace.state);
    let work = Work {
        prompt: by.work(open).prompt,
        shared: with(
            at_work(&workspace.state, now.moment.seconds),
            by.agent.clone(),
        ),
        ..Work::default()
    };
    if has_begun {
        step(workspace, by, tool.files.as_deref(), work, now)?;
    } else if open.is_some() || tool.files.is_some() {
        // The session was accepted or closed since the agent was told what it works on, or that was told elsewhere.
        let scan = scan(workspace, TooMuch::Refuse)?;
        begin_here(workspace, scan, work.shared, now.moment)?;
    }
    let mut prompts = workspace.state.prompts.iter_mut();
    if let Some(prompt) = prompts.find(|prompt| by.is_of(prompt)) {
        // What was under way before has ended, or was never allowed.
        prompt.under_way.clear();
        prompt
            .under_way
            .extend(tool.files.is_some().then(|| tool.clone()));
    }
    Ok(())
}

/// An agent has used a tool: what that changed is a step. Returns its number, where something has changed.
///
/// # Errors
///
/// The snapshot failed.
pub fn used(workspace: &mut Locked, by: &By, tool: &Use, now: &Now<'_>) -> Result<Option<Number>> {
    let was_seen = ground(workspace)?.is_some();
    let known = by.open_prompt(&workspace.state);
    if let (Some(known), Some(call)) = (known, &tool.call)
        && known.calls.contains(call)
    {
        return Ok(None);
    }
    let mut work = by.work_with(known, tool);
    if !was_seen || (known.is_none() && !tool.is_foretold) {
        // Nobody knows how it was before.
        work.shared.push(by.agent.clone());
    }
    let has_step = step(workspace, by, tool.files.as_deref(), work, now)?;
    let mut prompts = workspace.state.prompts.iter_mut();
    if let Some(prompt) = prompts.find(|prompt| by.is_of(prompt)) {
        prompt.at = now.moment.seconds;
        prompt.has_steps |= has_step;
        prompt.under_way.retain(|other| other != tool);
        prompt.calls.extend(tool.call.clone());
        let surplus = prompt.calls.len().saturating_sub(CALLS);
        prompt.calls.drain(..surplus);
        if let Some(helper) = &tool.helper
            && !prompt.helpers.contains(helper)
            && prompt.helpers.len() < CALLS
        {
            prompt.helpers.push(helper.clone());
        }
    }
    let standing = workspace.state.session.as_ref();
    Ok(standing
        .map(|standing| standing.number)
        .filter(|_| has_step))
}

/// What other agents are at, and have named, is theirs: a look at everything must not take it for another's.
pub(super) fn take_declared(workspace: &mut Locked, by: &By, now: &Now<'_>) -> Result<()> {
    let others = open(&workspace.state, now.moment.seconds).filter(|prompt| !by.is_of(prompt));
    let under_way: Vec<(By, Work, Use)> = others
        .flat_map(|prompt| {
            let by = By {
                agent: prompt.agent.clone(),
                session: prompt.session.clone(),
                model: None,
            };
            prompt.under_way.iter().map(move |tool| {
                let work = by.work_with(Some(prompt), tool);
                (by.clone(), work, tool.clone())
            })
        })
        .collect();
    for (by, work, tool) in under_way {
        let has_step = take_named(workspace, tool.files.as_deref(), &work, now)?;
        let mut prompts = workspace.state.prompts.iter_mut();
        if let Some(prompt) = prompts.find(|prompt| by.is_of(prompt)) {
            prompt.has_steps |= has_step == Some(true);
        }
    }
    Ok(())
}

/// Takes a step, if anything has changed. Has it?
fn step(
    workspace: &mut Locked,
    by: &By,
    files: Option<&[PathBuf]>,
    work: Work,
    now: &Now<'_>,
) -> Result<bool> {
    if let Some(has_changed) = take_named(workspace, files, &work, now)? {
        return Ok(has_changed);
    }
    take_declared(workspace, by, now)?;
    let scan = scan(workspace, TooMuch::Refuse)?;
    let mut request = step_request(work, now);
    if let Some(agent) = &request.work.agent {
        let others = others(workspace, agent, &request.work.agent_session, now);
        request.work.shared = others.into_iter().fold(request.work.shared, with);
    }
    Ok(record(workspace, scan, &request)?.turn.is_some())
}

/// Takes a step of named files, if they have changed. Have they? `None` where all must be looked at.
fn take_named(
    workspace: &mut Locked,
    files: Option<&[PathBuf]>,
    work: &Work,
    now: &Now<'_>,
) -> Result<Option<bool>> {
    let named = files.and_then(|files| in_work_tree(workspace, files));
    let (Some(paths), Some(ground)) = (named, ground(workspace)?) else {
        return Ok(None);
    };
    if paths.is_empty() {
        // Files outside of the work tree may be in the journal.
        let has_changed = journal::look(workspace, Some(&ground.standing))?.has_changed();
        return Ok(Some(false).filter(|_| !has_changed));
    }
    match look_at(workspace, &ground, &paths)? {
        Some(named) => {
            let request = step_request(work.clone(), now);
            record_named(workspace, ground, named, &request).map(Some)
        }
        None => Ok(None),
    }
}

/// Asked for when everything was looked at: whether the agent has gone on by then is known only then.
fn step_request(work: Work, now: &Now<'_>) -> Request {
    Request {
        kind: Kind::Step,
        message: None,
        unchanged: Unchanged::Skip,
        work: Work {
            ending: (now.is_late)().then_some(Ending::Unmeasured),
            ..work
        },
        moment: now.moment,
    }
}

/// Those of these files that lie in the work tree. `None` where one of them is all of it.
fn in_work_tree(workspace: &Locked, files: &[PathBuf]) -> Option<Vec<RepoPath>> {
    let paths = files
        .iter()
        .map(|file| workspace.path_argument(file, Start::Top));
    paths.filter_map(|path| path.ok()).collect()
}

/// An agent's helper has ended, or the agent waits for one: what has changed is a step.
///
/// # Errors
///
/// The snapshot failed.
pub fn paused(workspace: &mut Locked, by: &By, now: &Now<'_>) -> Result<()> {
    let was_seen = ground(workspace)?.is_some();
    let known = by.open_prompt(&workspace.state);
    let mut work = by.work(known);
    if !was_seen || !is_its_own(known) {
        work.shared.push(by.agent.clone());
    }
    step(workspace, by, None, work, now).map(drop)
}
