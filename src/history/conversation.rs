//! What was said and done between the snapshots: what an agent was told, each use of a tool, its closing words.
//!
//! As long as a turn is open, this is kept in the scratch folder, a line of JSON each. With the turn it goes into a side
//! commit, which the turn names. Secrets are taken out before anything is written, and of long texts only the beginning
//! is kept: what was done to files is in the snapshots.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io::{ErrorKind, Write};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Result, While};
use crate::gitengine::{Oid, RepoPath, Settings};

use super::redact::Redactor;
use super::refnames::Shelf;
use super::session::Session;
use super::state::write_at_once;
use super::transcript;
use super::turn::{Number, Turn, Work};
use super::workspace::{Locked, Workspace};

/// The file in the scratch folder, and in a side commit.
pub const FILE: &str = "conversation";

/// The setting of how much is kept.
pub const SETTING: &str = "edio.transcripts";

/// How much is kept of what is said and done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Nothing but the first line of what an agent is told, which is the message of its turn.
    Nothing,
    /// What it is told, the uses of tools in short, its closing words.
    Prompts,
    /// The same, and what its own transcript has gained.
    Full,
}

impl Keep {
    /// What is set. `None` where that is no known word: then nothing is kept.
    pub fn set(settings: &Settings) -> Option<Self> {
        match settings.get(SETTING) {
            None | Some(b"prompts") => Some(Keep::Prompts),
            Some(b"full") => Some(Keep::Full),
            Some(b"off") => Some(Keep::Nothing),
            Some(_) => None,
        }
    }

    /// What holds.
    pub fn of(workspace: &Workspace) -> Self {
        Self::set(&workspace.settings).unwrap_or(Keep::Nothing)
    }
}

/// How much is kept of a text, in bytes.
const PROMPT: usize = 16 << 10;
const REPLY: usize = 8 << 10;
const INPUT: usize = 4 << 10;
const RESULT: usize = 2 << 10;

/// How much is kept of what belongs to no turn yet, in bytes. The oldest goes first.
const LONGEST: usize = 4 << 20;

/// Something that was said or done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The agent.
    pub agent: String,
    /// The agent's own id for its conversation.
    pub session: Option<String>,
    /// Whose hook told it, where that is another agent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<String>,
    /// Was it told by the agent's own hook and by another's?
    #[serde(default, skip_serializing_if = "is_false")]
    pub twice: bool,
    /// When, in seconds since 1970.
    pub at: i64,
    /// What.
    #[serde(flatten)]
    pub what: What,
}

/// What was said or done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// The agent was told this.
    Prompt(String),
    /// It used a tool.
    Call(Call),
    /// It said this at the end.
    Reply(String),
}

/// A use of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Call {
    /// The tool.
    pub tool: String,
    /// The agent's own id for this use.
    pub id: Option<String>,
    /// The helper that used it.
    pub helper: Option<String>,
    /// What it was given.
    pub input: Option<String>,
    /// What it answered.
    pub result: Option<String>,
    /// Did it fail?
    pub failed: bool,
    /// May it have done more than change files that it names? Shells and servers do.
    #[serde(skip_serializing_if = "is_false")]
    pub beyond: bool,
    /// The step that came of it, where it changed something.
    pub step: Option<Number>,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Entry {
    /// The use of a tool that this is.
    pub fn call(&self) -> Option<&Call> {
        match &self.what {
            What::Call(call) => Some(call),
            _ => None,
        }
    }

    /// What a use of a tool is known by, where the agent has an id for it. Some give the same id anew.
    fn name(&self) -> Option<[Option<String>; 5]> {
        let call = self.call().filter(|call| call.id.is_some())?;
        let (agent, tool) = (Some(self.agent.clone()), Some(call.tool.clone()));
        let (session, id) = (self.session.clone(), call.id.clone());
        Some([agent, session, id, tool, call.input.clone()])
    }

    /// Is this a use of a tool that another agent's hook tells, too? The tool may be written otherwise there, and have no id:
    /// the first that may be the same one is.
    fn is_told_again_by(&self, other: &Entry) -> bool {
        let (Some(call), Some(again)) = (self.call(), other.call()) else {
            return false;
        };
        let has_other_id = call.id.is_some() && again.id.is_some() && call.id != again.id;
        let has_same_input = call.input.is_some() && call.input == again.input;
        !self.twice
            && !has_other_id
            && (has_same_input || call.tool.eq_ignore_ascii_case(&again.tool))
            && self.hook != other.hook
            && self.agent == other.agent
            && self.session == other.session
            && call.beyond == again.beyond
    }

    /// Takes over what another telling of the same knows more.
    fn join(&mut self, other: Entry) {
        self.twice |= self.hook != other.hook;
        if let (What::Call(call), What::Call(again)) = (&mut self.what, other.what) {
            call.step = call.step.or(again.step);
        }
    }

    fn is_of(&self, work: &Work) -> bool {
        work.agent.as_ref() == Some(&self.agent) && work.agent_session == self.session
    }

    /// The same without secrets, and not longer than is kept.
    #[must_use]
    pub fn redacted(self, redactor: &Redactor) -> Self {
        let short = |text: String, most| cut(redactor.text(&text), most);
        let what = match self.what {
            What::Prompt(text) => What::Prompt(short(text, PROMPT)),
            What::Reply(text) => What::Reply(short(text, REPLY)),
            What::Call(call) => What::Call(Call {
                input: call.input.map(|text| short_input(redactor.text(&text))),
                result: call.result.map(|text| short(text, RESULT)),
                ..call
            }),
        };
        Self { what, ..self }
    }
}

/// What a tool was given, as far as it is kept. An object in JSON still is one, with less of its long texts: else what it
/// says most with might stand behind what is cut off.
fn short_input(input: String) -> String {
    const SHORTEST: usize = 16;
    if input.len() <= INPUT {
        return input;
    }
    let Ok(Value::Object(map)) = serde_json::from_str(&input) else {
        return cut(input, INPUT);
    };
    let mosts = std::iter::successors(Some(INPUT / 2), |most| Some(most / 2));
    let mut shorter = mosts
        .take_while(|most| *most >= SHORTEST)
        .map(|most| Value::Object(with_less_text(&map, most)).to_string());
    let short = shorter.find(|short| short.len() <= INPUT);
    short.unwrap_or_else(|| cut(input, INPUT))
}

fn with_less_text(map: &Map<String, Value>, most: usize) -> Map<String, Value> {
    let fields = map.iter().map(|(name, value)| {
        let value = match value {
            Value::String(text) => Value::String(cut(text.clone(), most)),
            other => other.clone(),
        };
        (name.clone(), value)
    });
    fields.collect()
}

fn cut(mut text: String, most: usize) -> String {
    let end = text.floor_char_boundary(most);
    if end < text.len() {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Notes what belongs to a turn that is still to come, where it is to be kept.
///
/// # Errors
///
/// The git directory can't be written.
pub fn note(workspace: &Locked, entry: &Entry) -> Result<()> {
    if Keep::of(workspace) == Keep::Nothing {
        return Ok(());
    }
    let folder = workspace.scratch();
    let file = folder.join(FILE);
    let unwritable = || format!("can't write {}", file.display());
    let mut line = serde_json::to_vec(entry).map_err(std::io::Error::from);
    if let Ok(line) = &mut line {
        line.push(b'\n');
    }
    let line = line.or_cannot(unwritable)?;
    let length = fs::metadata(&file).map_or(0, |meta| meta.len());
    if length as usize + line.len() > LONGEST {
        let bytes = fs::read(&file).or_cannot(unwritable)?;
        let rest = &bytes[bytes.len() / 2..];
        let rest = rest
            .iter()
            .position(|b| *b == b'\n')
            .map(|end| &rest[end + 1..]);
        write_at_once(&folder, FILE, rest.unwrap_or_default())?;
    }
    let mut options = fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options
        .open(&file)
        .and_then(|mut file| file.write_all(&line));
    written.or_cannot(unwritable)
}

/// What belongs to no turn yet.
///
/// # Errors
///
/// The git directory can't be read.
pub fn open(workspace: &Workspace) -> Result<Vec<Entry>> {
    let file = workspace.scratch().join(FILE);
    match fs::read(&file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        read => Ok(read_all(
            &read.or_cannot(|| format!("can't read {}", file.display()))?,
        )),
    }
}

/// The same, where this is the session under way here: what is still to come is its, and no other's.
///
/// # Errors
///
/// The git directory can't be read.
pub fn open_in(workspace: &Workspace, session: &Session) -> Result<Vec<Entry>> {
    let standing = workspace.state.session.as_ref();
    let is_here = standing.is_some_and(|standing| standing.id == session.id);
    match is_here && session.shelf == Shelf::Active {
        true => open(workspace),
        false => Ok(Vec::new()),
    }
}

/// Reads lines. What can't be understood is left out: a line may have been cut off by a kill.
fn read_all(bytes: &[u8]) -> Vec<Entry> {
    let lines = bytes.split(|byte| *byte == b'\n');
    once(lines.filter_map(|line| serde_json::from_slice(line).ok()))
}

/// The same without uses of tools that were told before: several hooks may tell of one.
fn once(entries: impl Iterator<Item = Entry>) -> Vec<Entry> {
    let mut once: Vec<Entry> = Vec::new();
    let mut places = HashMap::new();
    let mut hooks = BTreeSet::new();
    for entry in entries {
        hooks.insert(entry.hook.clone());
        let name = entry.name();
        let known = name.as_ref().and_then(|name| places.get(name)).copied();
        let known = known.or_else(|| {
            let mut others = once.iter().take_while(|_| hooks.len() > 1);
            others.position(|other| other.is_told_again_by(&entry))
        });
        match known {
            Some(at) => once[at].join(entry),
            None => {
                places.extend(name.map(|name| (name, once.len())));
                once.push(entry);
            }
        }
    }
    once
}

fn write_all(entries: &[Entry]) -> Vec<u8> {
    let lines = entries
        .iter()
        .filter_map(|entry| serde_json::to_vec(entry).ok());
    lines
        .flat_map(|mut line| {
            line.push(b'\n');
            line
        })
        .collect()
}

/// Nothing is to be kept any more: what was noted before goes, too.
///
/// # Errors
///
/// The git directory can't be written.
pub fn clear(workspace: &Locked) -> Result<()> {
    let folder = workspace.scratch();
    for name in [FILE, transcript::FILE] {
        if folder.join(name).exists() {
            write_at_once(&folder, name, &[])?;
        }
    }
    Ok(())
}

/// What goes with a turn, and what stays for others.
pub struct Taken {
    /// For the turn.
    pub bytes: Vec<u8>,
    /// What the agent's own transcript has gained; empty where that is not kept.
    pub transcript: Vec<u8>,
    rest: Vec<Entry>,
    rest_of_transcripts: Vec<transcript::Line>,
}

impl Taken {
    /// What belongs to the conversation that a turn came of. `None` where there is nothing.
    ///
    /// # Errors
    ///
    /// The git directory can't be read.
    pub fn of(workspace: &Workspace, work: &Work) -> Result<Option<Self>> {
        if work.agent.is_none() {
            return Ok(None);
        }
        let (own, rest): (Vec<Entry>, Vec<Entry>) = open(workspace)?
            .into_iter()
            .partition(|entry| entry.is_of(work));
        let (transcript, rest_of_transcripts) = transcript::split(workspace, work)?;
        let is_empty = own.is_empty() && transcript.is_empty();
        Ok((!is_empty).then(|| Self {
            bytes: write_all(&own),
            transcript,
            rest,
            rest_of_transcripts,
        }))
    }

    /// The turn is there: what it holds need not be kept any more.
    ///
    /// # Errors
    ///
    /// The git directory can't be written.
    pub fn done(self, workspace: &Locked) -> Result<()> {
        if !self.transcript.is_empty() {
            transcript::keep(workspace, &self.rest_of_transcripts)?;
        }
        write_at_once(&workspace.scratch(), FILE, &write_all(&self.rest))
    }
}

/// What was said and done for a numbered turn.
///
/// # Errors
///
/// It can't be read.
pub fn of(workspace: &Workspace, turn: &Turn) -> Result<Vec<Entry>> {
    let found = of_each(workspace, &[turn])?;
    Ok(found.into_iter().next().unwrap_or_default())
}

/// The same for each of these turns, read at once.
///
/// # Errors
///
/// It can't be read.
pub fn of_each(workspace: &Workspace, turns: &[&Turn]) -> Result<Vec<Vec<Entry>>> {
    let sides = turns
        .iter()
        .filter_map(|turn| turn.note.conversation.clone());
    let sides: Vec<Oid> = sides.collect();
    let mut files = workspace.git.file_of_each(&sides, FILE)?.into_iter();
    let entries = turns.iter().map(|turn| match turn.note.conversation {
        Some(_) => read_all(&files.next().flatten().unwrap_or_default()),
        None => Vec::new(),
    });
    Ok(entries.collect())
}

/// The use of a tool that a step came of. It goes with the turn that ends its prompt, which may be a later one than the
/// step is on the way to.
///
/// # Errors
///
/// It can't be read.
pub fn of_step(workspace: &Workspace, session: &Session, step: &Turn) -> Result<Option<Call>> {
    let work = &step.note.work;
    let is_it = |entry: &Entry| {
        let call = entry.call();
        let same_id = |call: &Call| call.id.is_some() && call.id == work.tool_call;
        entry.is_of(work)
            && call.is_some_and(|call| same_id(call) || call.step == Some(step.number()))
    };
    let later = session.turns.range(step.number().turn..);
    let same = |turn: &&Turn| {
        turn.note.work.agent == work.agent && turn.note.work.agent_session == work.agent_session
    };
    let mut entries = Vec::new();
    if let Some(turn) = later.map(|(_, turn)| turn).find(same) {
        entries = of(workspace, turn)?;
    }
    entries.extend(open_in(workspace, session)?);
    let found = entries.into_iter().find(is_it);
    Ok(found.and_then(|entry| entry.call().cloned()))
}

/// These lines without what tools were given and answered where it speaks of one of these paths. `None` where nothing
/// does.
pub fn without(bytes: &[u8], paths: &[RepoPath]) -> Option<Vec<u8>> {
    let names: Vec<String> = paths.iter().map(RepoPath::to_string).collect();
    let speaks = |text: &Option<String>| {
        let text = text.as_deref().unwrap_or_default();
        names.iter().any(|name| text.contains(name.as_str()))
    };
    let mut entries = read_all(bytes);
    let mut is_changed = false;
    for entry in &mut entries {
        if let What::Call(call) = &mut entry.what
            && (speaks(&call.input) || speaks(&call.result))
        {
            (call.input, call.result) = (None, None);
            is_changed = true;
        }
    }
    is_changed.then(|| write_all(&entries))
}

/// Takes the same out of what belongs to no turn yet.
///
/// # Errors
///
/// The git directory can't be read or written.
pub fn forget(workspace: &Locked, paths: &[RepoPath]) -> Result<()> {
    let bytes = write_all(&open(workspace)?);
    match without(&bytes, paths) {
        Some(rest) => write_at_once(&workspace.scratch(), FILE, &rest),
        None => Ok(()),
    }
}
