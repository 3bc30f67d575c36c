//! How the owner of a line is shown, as text and as JSON.

use std::collections::{BTreeMap, BTreeSet};

use bstr::ByteSlice;
use serde::Serialize;
use serde_json::Value;

use crate::error::{Kind as ErrorKind, Result};
use crate::history::blame::{Line, Owner, Owners};
use crate::history::git::{Blamed, Oid};
use crate::history::session::Session;
use crate::history::turn::{Kind, Turn};
use crate::history::workspace::Workspace;
use crate::term::{json, text, time};

/// The owners of lines, ready to be shown.
pub struct View<'a> {
    /// What was found.
    pub owners: &'a Owners,
    contents: Vec<&'a [u8]>,
    around: Around,
    session: Option<&'a Session>,
}

/// A line and its owner.
#[derive(Serialize)]
pub struct LineRecord<'a> {
    line: Option<u32>,
    text: Option<Value>,
    kind: &'static str,
    session: Option<&'a str>,
    turn: Option<u32>,
    step: Option<u32>,
    turn_kind: Option<String>,
    turn_before: Option<u32>,
    turn_after: Option<u32>,
    agent: Option<&'a str>,
    agent_session: Option<&'a str>,
    shared: &'a [String],
    prompt: Option<&'a str>,
    message: Option<&'a str>,
    tool: Option<&'a str>,
    tool_call: Option<&'a str>,
    commit: Option<&'a str>,
    author: Option<Value>,
    author_mail: Option<Value>,
    summary: Option<Value>,
    time: Option<String>,
    path: Value,
    original_line: Option<u32>,
}

impl<'a> View<'a> {
    /// Looks up what is needed beside the owners. `session` is the one under way.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn new(
        workspace: &Workspace,
        session: Option<&'a Session>,
        owners: &'a Owners,
    ) -> Result<Self> {
        let contents = match owners.is_binary {
            true => Vec::new(),
            false => owners.content.lines_with_terminator().collect(),
        };
        Ok(Self {
            contents,
            around: around(workspace, owners)?,
            session,
            owners,
        })
    }

    /// What a line says, without its end.
    pub fn said(&self, line: &Line) -> &[u8] {
        let at = (line.number as usize).checked_sub(1);
        let said = at.and_then(|at| self.contents.get(at)).copied();
        let said = said.unwrap_or_default();
        said.strip_suffix(b"\n").unwrap_or(said)
    }

    /// The turn, or the start of the commit's id.
    pub fn place(&self, owner: &Owner) -> String {
        match (owner, owner.turn()) {
            (_, Some(turn)) => {
                let id = &turn.note.session;
                let is_here = self.session.is_none_or(|session| &session.id == id);
                let other = id.as_str().rsplit('_').next().filter(|_| !is_here);
                let other = other.map(|other| format!(" of {other}"));
                format!("{}{}", turn.number(), other.unwrap_or_default())
            }
            (Owner::Commit(oid), None) => oid.short().to_owned(),
            _ => "-".to_owned(),
        }
    }

    /// The record of a line.
    pub fn record<'l>(&'l self, line: &'l Line) -> LineRecord<'l> {
        let turn = line.owner.turn();
        let note = turn.map(|turn| &turn.note);
        let work = note.map(|note| &note.work);
        let about = match &line.owner {
            Owner::Commit(oid) => self.owners.commits.get(oid),
            _ => None,
        };
        let around = turn.and_then(|turn| self.around.get(&turn.commit));
        let is_saved = line.owner != Owner::Unsaved;
        let when = seconds(&line.owner, &self.owners.commits);
        let whole = self.owners.is_binary;
        LineRecord {
            line: (!whole).then_some(line.number),
            text: (!whole).then(|| json::path(self.said(line))),
            kind: kind_of(&line.owner),
            session: note.map(|note| note.session.as_str()),
            turn: note.map(|note| note.number.turn),
            step: note.and_then(|note| note.number.as_step()),
            turn_kind: note.map(|note| note.kind.to_string()),
            turn_before: around.and_then(|around| around.0),
            turn_after: around.and_then(|around| around.1),
            agent: work.and_then(|work| work.agent.as_deref()),
            agent_session: work.and_then(|work| work.agent_session.as_deref()),
            shared: work.map_or(&[], |work| work.shared.as_slice()),
            prompt: work.and_then(|work| work.prompt.as_deref()),
            message: note.map(|note| note.message.as_str()),
            tool: work.and_then(|work| work.tool.as_deref()),
            tool_call: work.and_then(|work| work.tool_call.as_deref()),
            commit: is_saved.then(|| line.origin.commit.as_str()),
            author: about.map(|about| json::path(&about.author)),
            author_mail: about.map(|about| json::path(without_brackets(&about.author_mail))),
            summary: about.map(|about| json::path(&about.summary)),
            time: when.map(time::rfc3339),
            path: json::path(line.origin.path.as_bytes()),
            original_line: (!whole && is_saved).then_some(line.origin.line),
        }
    }
}

/// The numbers of the turns before and after those that are the person's.
type Around = BTreeMap<Oid, (Option<u32>, Option<u32>)>;

fn around(workspace: &Workspace, owners: &Owners) -> Result<Around> {
    let mut sessions: BTreeMap<_, Option<Session>> = BTreeMap::new();
    let mut around = Around::new();
    for line in &owners.lines {
        let Owner::Human(turn) = &line.owner else {
            continue;
        };
        let id = &turn.note.session;
        if !sessions.contains_key(id) {
            let session = match Session::wanted(workspace, Some(id)) {
                Err(error) if error.kind() == ErrorKind::Cannot => None,
                other => Some(other?),
            };
            sessions.insert(id.clone(), session);
        }
        let numbers = sessions.get(id).and_then(Option::as_ref).map(|session| {
            let number = turn.number().turn;
            let before = session.turns.range(..number).next_back();
            let after = session.turns.range(number.saturating_add(1)..).next();
            (before.map(|(n, _)| *n), after.map(|(n, _)| *n))
        });
        around.insert(turn.commit.clone(), numbers.unwrap_or_default());
    }
    Ok(around)
}

/// What JSON calls an owner.
fn kind_of(owner: &Owner) -> &'static str {
    match owner {
        Owner::Turn(_) => "turn",
        Owner::Human(_) => "human",
        Owner::Shared(_) => "shared",
        Owner::Unknown(_) | Owner::Unsaved => "none",
        Owner::Commit(_) => "commit",
    }
}

/// Who worked where no agent is named.
pub const NOBODY: &str = "-";

/// Who, in a word or two.
pub fn who(owner: &Owner, commits: &BTreeMap<Oid, Blamed>) -> String {
    let name = match owner {
        Owner::Turn(turn) => turn
            .note
            .work
            .agent
            .clone()
            .unwrap_or_else(|| NOBODY.to_owned()),
        Owner::Human(_) => "you".to_owned(),
        Owner::Shared(turn) => sharers(turn).join(", "),
        Owner::Unknown(_) => "?".to_owned(),
        Owner::Unsaved => "not yet".to_owned(),
        Owner::Commit(oid) => {
            let author = commits.get(oid).map(|about| about.author.as_slice());
            return text::plain(author.unwrap_or_default());
        }
    };
    text::plain(name.as_bytes())
}

/// Those between whom it can't be told.
fn sharers(turn: &Turn) -> Vec<String> {
    let work = &turn.note.work;
    let agents = work.agent.iter().chain(&work.shared);
    let agents: BTreeSet<String> = agents.cloned().collect();
    // What a tool has done is an agent's.
    let person = work.tool.is_none().then(|| "you".to_owned());
    agents.into_iter().chain(person).collect()
}

/// What it was done for, in one line.
pub fn what_for(owner: &Owner, commits: &BTreeMap<Oid, Blamed>) -> String {
    let text = match owner {
        Owner::Turn(turn) | Owner::Shared(turn) | Owner::Human(turn) | Owner::Unknown(turn) => {
            return text::plain(reason(turn).as_bytes());
        }
        Owner::Unsaved => return "in no snapshot yet".to_owned(),
        Owner::Commit(oid) => commits.get(oid).map(|about| about.summary.as_slice()),
    };
    text::plain(text.unwrap_or_default())
}

fn reason(turn: &Turn) -> &str {
    match (turn.note.kind, &turn.note.work.prompt) {
        (Kind::Baseline, _) => "uncommitted when the session began",
        (_, Some(prompt)) => prompt,
        _ => turn.note.subject(),
    }
}

/// When, in seconds since 1970.
pub fn seconds(owner: &Owner, commits: &BTreeMap<Oid, Blamed>) -> Option<i64> {
    match owner {
        Owner::Commit(oid) => commits.get(oid).map(|about| about.author_seconds),
        owner => owner.turn().map(|turn| turn.seconds),
    }
}

fn without_brackets(mail: &[u8]) -> &[u8] {
    let inner = mail.strip_prefix(b"<").unwrap_or(mail);
    inner.strip_suffix(b">").unwrap_or(inner)
}
