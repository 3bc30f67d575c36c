//! What an agent was told to do, and the turn that comes of it.
//!
//! A prompt opens a turn, each use of a tool is a step on the way to it, and the end of the work closes it. Prompts that
//! are open are remembered in the workspace's state; the steps carry what was told, too, so that a turn has its message
//! even where that memory was lost.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Result, While};
use crate::gitengine::{ObjectFormat, RepoPath};

use super::baseline::{begin_here, head_tree};
use super::journal;
use super::limits::TooMuch;
use super::scan::{Scan, look_at, scan};
use super::snapshot::{
    Moment, Request, Unchanged, close_steps, ground, record, record_named, remember,
};
use super::state::{State, write_at_once};
use super::turn::{Ending, Kind, Number, Work};
use super::workspace::{Locked, Start, Workspace};

/// A prompt whose end was not seen for so long, in seconds, is not waited for any more.
const PATIENCE: i64 = 24 * 60 * 60;

/// Two files of configuration may have an agent call twice for one prompt, within so many seconds.
const TWICE: i64 = 2;

/// Nobody waits so long, in milliseconds, to see to something.
const TOO_LATE: u64 = 60 * 1000;

/// How many uses of tools are remembered, to take no second step of one.
const CALLS: usize = 32;

/// A prompt whose end was not seen yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Prompt {
    /// The agent.
    pub agent: String,
    /// The agent's own id for its conversation.
    pub session: Option<String>,
    /// The agent's own id for the prompt.
    pub id: Option<String>,
    /// Its first line.
    pub text: String,
    /// When something was last heard of it, in seconds since 1970.
    pub at: i64,
    /// The uses of tools that steps were taken of.
    pub calls: Vec<String>,
    /// The uses of tools that are under way, and name the files that they touch.
    pub under_way: Vec<Use>,
    /// The helpers that have used tools.
    pub helpers: Vec<String>,
    /// Other work trees in which it was worked on.
    pub elsewhere: Vec<PathBuf>,
    /// Were steps taken for it?
    pub has_steps: bool,
    /// Are they in the turn of another agent's prompt, which ended first?
    pub in_others_turn: bool,
    /// How it ended, where that was told and not seen to yet: agents end what their hooks have started.
    pub ends: Option<String>,
    /// When it was heard, in milliseconds since 1970.
    pub heard: u64,
    /// Does the agent tell of each tool before it uses it? What no tool has done may be the person's then.
    pub tells_of_tools: bool,
}

/// Who works.
#[derive(Clone, Debug)]
pub struct By {
    /// The agent.
    pub agent: String,
    /// The agent's own id for its conversation.
    pub session: Option<String>,
    /// The model.
    pub model: Option<String>,
}

/// A use of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Use {
    /// The tool's name.
    pub tool: String,
    /// The agent's own id for this use.
    pub call: Option<String>,
    /// The helper that uses it in the agent's place.
    pub helper: Option<String>,
    /// The files that it touches, where it touches no others. They may lie outside the work tree.
    pub files: Option<Vec<PathBuf>>,
    /// Was it told of before it was used? Then what had changed until then is a step of its own.
    pub is_foretold: bool,
}

/// When it is, and whether the agent has gone on meanwhile: what is looked at then is no more what it left behind.
pub struct Now<'a> {
    /// Now.
    pub moment: Moment,
    /// Has it gone on?
    pub is_late: &'a dyn Fn() -> bool,
}

impl By {
    fn is_of(&self, prompt: &Prompt) -> bool {
        self.agent == prompt.agent && self.session == prompt.session
    }

    /// The prompt of this agent's conversation that is open.
    pub fn open_prompt<'a>(&self, state: &'a State) -> Option<&'a Prompt> {
        state.prompts.iter().find(|prompt| self.is_of(prompt))
    }

    fn take_prompt(&self, state: &mut State) -> Option<Prompt> {
        let at = state.prompts.iter().position(|p| self.is_of(p))?;
        Some(state.prompts.remove(at))
    }

    fn work(&self, prompt: Option<&Prompt>) -> Work {
        Work {
            agent: Some(self.agent.clone()),
            agent_session: self.session.clone(),
            agent_prompt: prompt.and_then(|prompt| prompt.id.clone()),
            model: self.model.clone(),
            prompt: prompt
                .map(|prompt| prompt.text.clone())
                .filter(|text| !text.is_empty()),
            ..Work::default()
        }
    }

    /// The same for one use of a tool.
    fn work_with(&self, prompt: Option<&Prompt>, tool: &Use) -> Work {
        Work {
            tool: Some(tool.tool.clone()),
            tool_call: tool.call.clone(),
            helpers: tool.helper.iter().cloned().collect(),
            ..self.work(prompt)
        }
    }
}

/// Was this heard before the prompt of this agent's that is open, and is seen to only now? Then that prompt is none of its
/// business.
pub fn is_of_another(state: &State, by: &By, heard: u64) -> bool {
    let open = by.open_prompt(state).map_or(0, |prompt| prompt.heard);
    // A clock that was set back is no lateness.
    open > heard && open - heard < TOO_LATE
}

/// What is being worked on, where there can be no doubt about that: the one prompt that is open, or that is this agent's.
pub fn the_open_one<'a>(state: &'a State, agent: Option<&str>, seconds: i64) -> Option<&'a Prompt> {
    let open: Vec<&Prompt> = open(state, seconds).collect();
    let own = open
        .iter()
        .filter(|prompt| Some(prompt.agent.as_str()) == agent);
    let own: Vec<&Prompt> = own.copied().collect();
    match (own.as_slice(), open.as_slice()) {
        ([one], _) | ([], [one]) => Some(one),
        _ => None,
    }
}

fn open(state: &State, seconds: i64) -> impl Iterator<Item = &Prompt> {
    let prompts = state.prompts.iter();
    prompts.filter(move |prompt| seconds - prompt.at <= PATIENCE)
}

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
fn take_declared(workspace: &mut Locked, by: &By, now: &Now<'_>) -> Result<()> {
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

/// The agents that are at work here: what no tool has done may be theirs, as well as the person's.
pub fn at_work(state: &State, seconds: i64) -> Vec<String> {
    let agents = open(state, seconds).map(|prompt| prompt.agent.clone());
    agents.fold(Vec::new(), with)
}

/// The same beside an agent that says what it did itself. Where it tells of its tools, too, none of them did that.
pub fn at_work_beside(agent: Option<&str>, state: &State, seconds: i64) -> Vec<String> {
    let open = open(state, seconds);
    let beside = open.filter(|open| Some(open.agent.as_str()) != agent || open.tells_of_tools);
    beside
        .map(|prompt| prompt.agent.clone())
        .fold(Vec::new(), with)
}

/// The other agents that are at work here: what a scan finds may be theirs.
fn others(
    workspace: &Workspace,
    agent: &str,
    session: &Option<String>,
    now: &Now<'_>,
) -> Vec<String> {
    let open = open(&workspace.state, now.moment.seconds);
    let others = open.filter(|prompt| prompt.agent != agent || prompt.session != *session);
    others
        .map(|prompt| prompt.agent.clone())
        .fold(Vec::new(), with)
}

/// These agents, and one more, in their order.
fn with(mut agents: Vec<String>, agent: String) -> Vec<String> {
    agents.push(agent);
    agents.sort_unstable();
    agents.dedup();
    agents
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

/// Is what has changed since the last snapshot an agent's own? Where it tells of its tools, none of them did it.
fn is_its_own(prompt: Option<&Prompt>) -> bool {
    prompt.is_some_and(|prompt| !prompt.tells_of_tools)
}

/// Who worked on what has changed since the last snapshot, as a turn of an agent's ends.
fn work_at_end(
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
fn heed_ending(workspace: &mut Locked, by: &By) -> Result<()> {
    let file = workspace.scratch().join(ending_file(by));
    let Ok(word) = fs::read_to_string(&file) else {
        return Ok(());
    };
    fs::remove_file(&file).or_cannot(|| format!("can't remove {}", file.display()))?;
    match word.parse() {
        Ok(ending) => note_ending(workspace, by, ending),
        Err(_) => Ok(()),
    }
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
fn turn(message: Option<String>, work: Work, ending: Ending, now: &Now<'_>) -> Request {
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

/// Remembers that what this conversation was told is worked on in another work tree, too.
pub fn note_elsewhere(state: &mut State, by: &By, top: &Path) {
    let mut prompts = state.prompts.iter_mut();
    if let Some(prompt) = prompts.find(|prompt| by.is_of(prompt))
        && !prompt.elsewhere.iter().any(|other| other == top)
    {
        prompt.elsewhere.push(top.to_owned());
    }
}

/// What was told in the agent's own place for a prompt, which has this id, has the agent go on with the open one.
pub fn goes_on(state: &mut State, by: &By, id: &str) {
    let mut prompts = state.prompts.iter_mut();
    if let Some(prompt) = prompts.find(|prompt| by.is_of(prompt)) {
        prompt.id = Some(id.to_owned());
    }
}

/// Has a prompt that is open elsewhere open here, too.
pub fn bring(state: &mut State, by: &By, prompt: Prompt) {
    if by.open_prompt(state).is_none() {
        state.prompts.push(prompt);
    }
}

impl Prompt {
    fn ending(&self) -> Option<Ending> {
        self.ends.as_ref()?.parse().ok()
    }

    /// The same where nothing was done for it yet.
    #[must_use]
    pub fn afresh(&self) -> Self {
        Self {
            calls: Vec::new(),
            under_way: Vec::new(),
            helpers: Vec::new(),
            elsewhere: Vec::new(),
            has_steps: false,
            in_others_turn: false,
            ..self.clone()
        }
    }
}
