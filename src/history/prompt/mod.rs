//! What an agent was told to do, and the turn that comes of it.
//!
//! A prompt opens a turn, each use of a tool is a step on the way to it, and the end of the work closes it. Prompts that
//! are open are remembered in the workspace's state; the steps carry what was told, too, so that a turn has its message
//! even where that memory was lost.

mod ending;
mod steps;
mod told;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::snapshot::Moment;
use super::state::State;
use super::turn::{Ending, Work};
use super::workspace::Workspace;

pub use self::ending::{ENDED, ended, foretell_ending, left};
pub use self::steps::{paused, used, using};
pub use self::told::{has_said, told};

/// A prompt whose end was not seen for so long, in seconds, is not waited for any more.
const PATIENCE: i64 = 24 * 60 * 60;

/// Nobody waits so long, in milliseconds, to see to something.
const TOO_LATE: u64 = 60 * 1000;

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

/// Is what has changed since the last snapshot an agent's own? Where it tells of its tools, none of them did it.
fn is_its_own(prompt: Option<&Prompt>) -> bool {
    prompt.is_some_and(|prompt| !prompt.tells_of_tools)
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
