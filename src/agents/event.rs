//! What a hook says, in one vocabulary for all agents.
//!
//! Each agent's file reads its own payloads. They are read leniently: a field that is missing, or is of another type, is
//! not there; an event that nobody knows is none.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Agent;
use crate::json;

/// Something that happened, as an agent's hook tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The agent.
    pub agent: String,
    /// Whose hook it is, where that is another agent's.
    #[serde(default)]
    pub hook: Option<String>,
    /// The agent's own name for the event, where it says that.
    #[serde(skip)]
    pub name: Option<String>,
    /// The agent's own id for its conversation.
    pub session: Option<String>,
    /// The agent's own id for the prompt that it works on.
    pub prompt: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The file in which the agent keeps the conversation, where it says so.
    pub transcript: Option<PathBuf>,
    /// What the conversation has gained since that was told last, where the agent itself tells it.
    pub gained: Option<Gained>,
    /// Where it works: the first of them is its current folder.
    pub folders: Vec<PathBuf>,
    /// The helper that does it, in the agent's place.
    pub helper: Option<String>,
    /// What it said at the end.
    pub reply: Option<String>,
    /// When it was heard, in milliseconds since 1970.
    #[serde(default)]
    pub heard: u64,
    /// What happened.
    pub what: What,
}

/// What a conversation has gained.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gained {
    /// An object for each thing that was said or done.
    pub lines: Vec<Value>,
    /// So many bytes before those are too much.
    pub cut: u64,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    /// A conversation began, or goes on: what was under way in it before is not.
    Opened,
    /// The agent was told to do this.
    Told(String),
    /// It is about to use a tool.
    Using(Tool),
    /// It goes on by itself, since what it had left to the background has ended.
    Woken,
    /// It has put what was said until now in short: what stands in files it knows no more.
    LostSight,
    /// It has used a tool, well or not.
    Used(Tool),
    /// It waits for helpers that are still at work, or one of them has ended.
    Paused,
    /// It has ended what it was told to do.
    Ended(Ending),
    /// The conversation is over.
    Closed,
}

impl What {
    /// The agent was told this.
    pub(super) fn told(text: &str) -> Self {
        What::Told(beginning(text))
    }
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// As it should.
    Completed,
    /// With an error.
    Failed,
    /// By the person.
    Interrupted,
}

/// A tool that was used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// The agent's own id for this use.
    pub call: Option<String>,
    /// What it may have changed.
    pub touched: Touched,
    /// What it was given: the beginning of that.
    pub input: Option<String>,
    /// What it answered: the beginning of that.
    pub result: Option<String>,
    /// Did it fail?
    pub failed: bool,
    /// All that it was given.
    #[serde(skip)]
    pub given: Value,
}

/// What a tool may have changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Touched {
    /// Nothing: it only looks, or edio itself takes care.
    Nothing,
    /// These files, and no others.
    Files(Vec<PathBuf>),
    /// Whatever there is.
    Anything,
}

/// What agents call the id of a conversation, and that of a prompt.
const SESSIONS: [&str; 6] = [
    "session_id",
    "conversation_id",
    "sessionId",
    "conversationId",
    "taskId",
    "trajectory_id",
];
const PROMPTS: [&str; 4] = ["prompt_id", "turn_id", "generation_id", "execution_id"];

/// What they call the file in which a conversation is kept.
const TRANSCRIPTS: [&str; 2] = ["transcript_path", "transcriptPath"];

/// What they call the folders that they work in.
const ROOTS: [&str; 3] = ["workspace_roots", "workspaceRoots", "workspacePaths"];

/// What they call what a tool is given, and what it answers.
const INPUTS: [&str; 9] = [
    "tool_input",
    "toolArgs",
    "parameters",
    "args",
    "input",
    "command",
    "edits",
    "tool_info",
    "arguments",
];
const RESULTS: [&str; 8] = [
    "tool_response",
    "tool_result",
    "toolResult",
    "tool_output",
    "output",
    "result",
    "error",
    "mcp_result",
];

/// And where a result has its text.
const TEXTS: [&str; 9] = [
    "stdout",
    "stderr",
    "textResultForLlm",
    "llmContent",
    "returnDisplay",
    "output",
    "text",
    "content",
    "message",
];

/// What they call what the agent said at the end.
const REPLIES: [&str; 3] = ["last_assistant_message", "prompt_response", "response"];

/// Of a longer text only the beginning is taken, in bytes; of one among several, a third of that.
const LONGEST: usize = 24 << 10;

/// Of what a conversation has gained only the end is taken, in bytes.
const MOST_GAINED: usize = 48 << 10;

/// How the tools of edio's own server are called: they take care themselves.
const EDIOS: [&str; 4] = ["mcp__edio__", "mcp_edio_", "edio_", "edio-"];

/// Does this agent tell of each tool before it uses it, and after?
pub fn tells_of_tools(agent: &str) -> bool {
    ["claude", "codex", "gemini"].contains(&agent)
}

/// Reads the payload that an agent's hook was given, an object in JSON. `None` where it tells of nothing that matters.
///
/// Several agents run the hooks of another one's configuration: `agent` is whose hook it is, `caller` says which agent
/// is known to have called it.
///
/// # Errors
///
/// It is no JSON.
pub fn read(
    agent: Agent,
    caller: Option<&str>,
    payload: &[u8],
) -> serde_json::Result<Option<Event>> {
    let payload: Value = json::read(payload)?;
    let object = payload.as_object();
    Ok(object.and_then(|object| told(agent, caller, &Payload::of(object))))
}

fn told(agent: Agent, caller: Option<&str>, payload: &Payload<'_>) -> Option<Event> {
    let hook = agent.to_string();
    let agent = match payload.has("cursor_version") {
        true => Agent::Cursor,
        false => agent,
    };
    let what = match agent {
        Agent::Claude | Agent::Vscode => super::claude::what(payload),
        Agent::Codex => super::codex::what(payload),
        Agent::Cursor => super::cursor::what(payload),
        Agent::Gemini => super::gemini::what(payload),
        Agent::Copilot => super::copilot::what(payload),
        Agent::Opencode => super::opencode::what(payload),
        Agent::Pi => super::pi::what(payload),
        Agent::Cline => super::cline::what(payload),
        Agent::Windsurf => super::windsurf::what(payload),
        Agent::Antigravity => super::antigravity::what(payload),
        Agent::Kilo | Agent::Zed | Agent::Aider => None,
    }?;
    let what = match what {
        // Of what is still to come only the files matter.
        What::Using(tool) => What::Using(Tool {
            input: None,
            ..tool
        }),
        other => other,
    };
    let ends = matches!(what, What::Ended(_) | What::Paused);
    let agent = caller.map_or_else(|| agent.to_string(), str::to_owned);
    Some(Event {
        hook: Some(hook).filter(|hook| *hook != agent),
        agent,
        name: payload.word(&["hook_event_name", "hookName"]),
        session: payload.session(),
        prompt: payload.word(&PROMPTS),
        model: payload.word(&["model"]),
        transcript: payload.transcript(),
        gained: payload.gained(),
        folders: payload.folders(),
        helper: payload.helper(),
        reply: payload.reply().filter(|_| ends),
        heard: 0,
        what,
    })
}

/// An object in JSON, as an agent's hook gets it; where it should be one and is not, it has no fields.
pub(super) struct Payload<'a>(Option<&'a Map<String, Value>>);

impl<'a> Payload<'a> {
    /// What stands in this object.
    pub fn of(map: &'a Map<String, Value>) -> Self {
        Self(Some(map))
    }

    fn get(&self, key: &str) -> Option<&'a Value> {
        self.0?.get(key)
    }

    /// Is there such a field?
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Does a field say yes?
    pub fn is_true(&self, key: &str) -> bool {
        self.get(key) == Some(&Value::Bool(true))
    }

    /// Does a field say no?
    pub fn is_false(&self, key: &str) -> bool {
        self.get(key) == Some(&Value::Bool(false))
    }

    /// The text of a field.
    pub fn text(&self, key: &str) -> Option<&'a str> {
        self.get(key)?.as_str()
    }

    /// The object in a field.
    pub fn object(&self, key: &str) -> Payload<'a> {
        Payload(self.get(key).and_then(Value::as_object))
    }

    /// The object in a field that has it as text.
    pub fn object_in_text(&self, key: &str) -> Option<Map<String, Value>> {
        json::read(self.text(key)?.as_bytes()).ok()
    }

    /// The list in a field.
    pub fn list(&self, key: &str) -> &'a [Value] {
        let list = self.get(key).and_then(Value::as_array);
        list.map_or(&[], Vec::as_slice)
    }

    fn first_of(&self, keys: &[&str]) -> Option<&'a Value> {
        let mut values = keys.iter().filter_map(|key| self.get(key));
        values.find(|value| !value.is_null())
    }

    /// The first of these fields that says something, made fit to stand on one line.
    pub fn word(&self, keys: &[&str]) -> Option<String> {
        let mut texts = keys.iter().filter_map(|key| self.text(key));
        let text = texts.find(|text| !text.trim().is_empty())?;
        Some(first_line(text))
    }

    /// The conversation: that of the agent which has this one for a helper, where it is named.
    fn session(&self) -> Option<String> {
        let root = self.object("sessionContext").word(&["rootSessionId"]);
        root.or_else(|| self.word(&SESSIONS))
    }

    /// The helper that is at work: its kind and the agent's own id for it.
    fn helper(&self) -> Option<String> {
        let id = self.word(&["agent_id"])?;
        Some(match self.word(&["agent_type"]) {
            Some(kind) => format!("{kind} {id}"),
            None => id,
        })
    }

    /// What the agent said at the end.
    fn reply(&self) -> Option<String> {
        let info = self.object("tool_info");
        let texts = REPLIES
            .iter()
            .flat_map(|key| [self.text(key), info.text(key)]);
        let text = texts.flatten().find(|text| !text.trim().is_empty());
        text.map(beginning)
    }

    /// The file with the conversation.
    fn transcript(&self) -> Option<PathBuf> {
        let mut texts = TRANSCRIPTS.iter().filter_map(|key| self.text(key));
        texts.find(|text| !text.is_empty()).map(PathBuf::from)
    }

    /// What the conversation has gained.
    fn gained(&self) -> Option<Gained> {
        let all = self.get("gained")?.as_array()?;
        let lengths = all.iter().map(|line| line.to_string().len() + 1);
        let lengths: Vec<usize> = lengths.collect();
        let mut taken = 0;
        let fitting = lengths.iter().rev().take_while(|length| {
            taken += **length;
            taken <= MOST_GAINED
        });
        let (surplus, lines) = all.split_at(all.len() - fitting.count());
        let cut: usize = lengths[..surplus.len()].iter().sum();
        let before = self.get("gained_cut").and_then(Value::as_u64);
        Some(Gained {
            lines: lines.to_vec(),
            cut: before.unwrap_or_default().saturating_add(cut as u64),
        })
    }

    /// What the agent was told.
    pub fn told(&self, key: &str) -> What {
        What::told(self.text(key).unwrap_or_default())
    }

    /// A path as the agent gives it: a relative one counts from where it works.
    pub fn place(&self, path: &str) -> PathBuf {
        match self.folders().first() {
            Some(folder) => folder.join(path),
            None => PathBuf::from(path),
        }
    }

    /// Where the agent works.
    fn folders(&self) -> Vec<PathBuf> {
        let cwd = self.text("cwd").into_iter();
        let roots = ROOTS.iter().flat_map(|key| self.list(key));
        let folders = cwd.chain(roots.filter_map(Value::as_str));
        let folders = folders.filter(|folder| !folder.is_empty());
        let mut found: Vec<PathBuf> = Vec::new();
        for folder in folders.map(PathBuf::from) {
            if !found.contains(&folder) {
                found.push(folder);
            }
        }
        found
    }

    /// The tool that is used; what it may change is told by its name and its input.
    pub fn tool(&self, touched: impl FnOnce(&str, &Payload<'a>) -> Touched) -> Option<Tool> {
        let name = self.text("tool_name")?;
        let touched = touched(name, &self.object("tool_input"));
        Some(self.tool_as(name, touched))
    }

    /// The tool of this name was used.
    pub fn used_as(&self, name: &str, touched: Touched) -> What {
        What::Used(self.tool_as(name, touched))
    }

    /// The tool of this name.
    pub fn tool_as(&self, name: &str, touched: Touched) -> Tool {
        let is_edios = EDIOS.iter().any(|begin| name.starts_with(begin));
        Tool {
            name: first_line(name),
            call: self.word(&["tool_use_id", "id"]),
            touched: match is_edios {
                true => Touched::Nothing,
                false => touched,
            },
            input: self.first_of(&INPUTS).map(given),
            result: self
                .first_of(&RESULTS)
                .map(|value| beginning(&answer(value))),
            failed: self.has("error")
                || self.is_false("success")
                || self.object("toolResult").text("resultType") == Some("failure")
                || self.object("tool_response").has("error")
                || self.object("tool_response").is_true("is_error")
                || self.first_of(&RESULTS).and_then(exit_code).unwrap_or(0) != 0,
            given: self.first_of(&INPUTS).cloned().unwrap_or_default(),
        }
    }

    /// The file that a field of a tool's input names; anything, where none of them does.
    pub fn file_in(&self, input: &Payload<'_>, keys: &[&str]) -> Touched {
        let mut texts = keys.iter().filter_map(|key| input.text(key));
        match texts.find(|text| !text.is_empty()) {
            Some(path) => Touched::Files(vec![self.place(path)]),
            None => Touched::Anything,
        }
    }
}

/// What a tool is given: of an object the beginning of each text, so that it still is one.
fn given(value: &Value) -> String {
    let short = |value: &Value| match value {
        Value::String(text) => {
            Value::String(text[..text.floor_char_boundary(LONGEST / 3)].to_owned())
        }
        other => other.clone(),
    };
    match value {
        Value::Object(map) => {
            let fields = map.iter().map(|(name, value)| (name.clone(), short(value)));
            beginning(&Value::Object(fields.collect()).to_string())
        }
        other => beginning(&in_full(other)),
    }
}

/// Text as it is, and all else in JSON.
fn in_full(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The exit code that a result has in a field of its own.
pub fn exit_code(result: &Value) -> Option<i64> {
    let places = [result, &result["metadata"]];
    let mut codes = places
        .into_iter()
        .flat_map(|place| ["exit_code", "exitCode"].map(|key| place[key].as_i64()));
    codes.find_map(|code| code)
}

/// The text in a result; where none is found, all of it.
fn answer(value: &Value) -> String {
    text_in(value).unwrap_or_else(|| in_full(value))
}

fn text_in(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Array(parts) => {
            let texts: Vec<String> = parts.iter().filter_map(text_in).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        // What was done to a file, or read of one, is told by its name.
        Value::Object(map) => match map.get("filePath").or(map.get("file")) {
            Some(Value::Object(file)) => text_in(file.get("filePath")?),
            Some(path) => text_in(path),
            None => TEXTS.iter().find_map(|key| text_in(map.get(*key)?)),
        },
        _ => None,
    }
}

/// As much of a text as is taken.
fn beginning(text: &str) -> String {
    let end = text.floor_char_boundary(LONGEST);
    text[..end].to_owned()
}

/// The first line that says something, without what could drive a terminal, and not longer than a message's subject
/// should ever be.
pub fn first_line(text: &str) -> String {
    const LONGEST: usize = 200;
    let mut lines = text.lines().map(str::trim);
    let line = lines.find(|line| !line.is_empty()).unwrap_or_default();
    let mut chars = line.chars().filter(|c| !c.is_control());
    let mut first: String = chars.by_ref().take(LONGEST).collect();
    if chars.next().is_some() {
        first.push('…');
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_known_by_the_first_line_that_says_something() {
        assert_eq!(first_line("\n  \r\n fix \u{1b}[31mit\nnow"), "fix [31mit");
        assert_eq!(first_line(" \n"), "");
        assert_eq!(
            first_line(&"ä".repeat(201)),
            format!("{}…", "ä".repeat(200))
        );
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_read_does_no_harm(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300)) {
            for (agent, _) in Agent::ALL {
                let _ = read(agent, None, &bytes);
            }
        }
    }
}
