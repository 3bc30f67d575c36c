//! The JSON of what several verbs report, for scripts: fields are never renamed or taken away, and one that has nothing to say
//! is `null`. What a model is told in [`mcp`](crate::mcp) is less, with a schema, and leaves such fields out.

use serde::Serialize;
use serde_json::Value;

use crate::history::git::{Difference, Entry, Oid, RepoPath};
use crate::history::skipped::Skipped;
use crate::history::turn::Turn;
use crate::term::{json, time};

/// A turn.
#[derive(Serialize)]
pub struct TurnRecord {
    session: String,
    turn: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u32>,
    kind: String,
    current: bool,
    message: String,
    agent: Option<String>,
    agent_session: Option<String>,
    model: Option<String>,
    prompt: Option<String>,
    tool: Option<String>,
    tool_call: Option<String>,
    helpers: Vec<String>,
    shared: Vec<String>,
    status: Option<String>,
    exit_code: Option<i32>,
    time: String,
    commit: String,
    tree: String,
    parent: Option<String>,
    head: Option<String>,
    branch: Option<String>,
    worktree: String,
    files: u64,
    added: u64,
    removed: u64,
    steps: u32,
    skipped_count: usize,
    skipped: Vec<SkippedRecord>,
}

/// A path that is not held.
#[derive(Serialize)]
pub struct SkippedRecord {
    path: Value,
    why: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
}

/// A path that differs.
#[derive(Serialize)]
pub struct DifferenceRecord {
    path: Value,
    status: &'static str,
    old_mode: Option<&'static str>,
    new_mode: Option<&'static str>,
    old_id: Option<String>,
    new_id: Option<String>,
}

impl TurnRecord {
    /// The record of a turn; `current` says where the work tree stands.
    pub fn new(turn: &Turn, current: Option<&Oid>) -> Self {
        let note = &turn.note;
        let text = |oid: &Oid| oid.as_str().to_owned();
        Self {
            session: note.session.as_str().to_owned(),
            turn: note.number.turn,
            step: note.number.as_step(),
            kind: note.kind.to_string(),
            current: current == Some(&turn.commit),
            message: note.message.clone(),
            agent: note.work.agent.clone(),
            agent_session: note.work.agent_session.clone(),
            model: note.work.model.clone(),
            prompt: note.work.prompt.clone(),
            tool: note.work.tool.clone(),
            tool_call: note.work.tool_call.clone(),
            helpers: note.work.helpers.clone(),
            shared: note.work.shared.clone(),
            status: note.work.ending.map(|ending| ending.to_string()),
            exit_code: note.work.exit,
            time: time::rfc3339(turn.seconds),
            commit: text(&turn.commit),
            tree: text(&turn.tree),
            parent: turn.parent.as_ref().map(text),
            head: note.head.commit.as_ref().map(text),
            branch: note.head.branch.clone(),
            worktree: note.worktree.clone(),
            files: note.stat.files,
            added: note.stat.added,
            removed: note.stat.removed,
            steps: note.steps,
            skipped_count: note.skipped_count,
            skipped: skipped(&note.skipped),
        }
    }
}

/// The records of what is not held.
pub fn skipped(skipped: &[Skipped]) -> Vec<SkippedRecord> {
    let record = |skipped: &Skipped| SkippedRecord {
        path: json::path(skipped.path.as_bytes()),
        why: skipped.why.to_string(),
        bytes: skipped.why.bytes(),
    };
    skipped.iter().map(record).collect()
}

/// The record of a path that differs.
pub fn difference(difference: &Difference) -> DifferenceRecord {
    let mode = |entry: &Option<Entry>| entry.as_ref().map(|entry| entry.mode.digits());
    let oid = |entry: &Option<Entry>| entry.as_ref().map(|entry| entry.oid.to_string());
    DifferenceRecord {
        path: json::path(difference.path.as_bytes()),
        status: difference.status(),
        old_mode: mode(&difference.old),
        new_mode: mode(&difference.new),
        old_id: oid(&difference.old),
        new_id: oid(&difference.new),
    }
}

/// Paths as JSON.
pub fn paths(paths: &[RepoPath]) -> Value {
    json::path_list(paths.iter().map(RepoPath::as_bytes))
}
