//! What several tools answer with, for models: each comment is in the schema. A field that has nothing to say is left out.

use std::path::Path;

use rmcp::schemars;
use rmcp::schemars::JsonSchema;
use serde::Serialize;

use crate::history::accept::Unstaged;
use crate::history::git::{Difference, Oid, RepoPath};
use crate::history::journal::beyond::What;
use crate::history::restore::{Action, Performed, Plan};
use crate::history::side::Part;
use crate::history::skipped::Skipped;
use crate::history::turn::Turn;
use crate::shell;
use crate::term::{text, time};

/// So many paths are named; the rest is counted.
const NAMED: usize = 500;

/// A turn.
#[derive(Serialize, JsonSchema)]
pub struct TurnRecord {
    /// Its number.
    turn: u32,
    /// The number of the step, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u32>,
    /// Why it was taken: turn, step, baseline (turn 0), human (what changed while no agent worked), or safety (what edio
    /// saved before it overwrote something).
    kind: String,
    /// Does the work tree stand at this turn?
    current: bool,
    /// What was done.
    message: String,
    /// Who worked.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    /// How the work ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    /// When it was taken.
    time: String,
    /// The id of its commit.
    commit: String,
    /// The branch that was checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    /// How many files it changed.
    files: u64,
    /// How many lines it added.
    added: u64,
    /// How many lines it removed.
    removed: u64,
    /// How many paths it could not hold. A restore leaves those alone.
    #[serde(skip_serializing_if = "is_nothing")]
    skipped_count: usize,
    /// The first of these paths.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<SkippedRecord>,
}

impl TurnRecord {
    /// The record of a turn; `current` says where the work tree stands.
    pub fn new(turn: &Turn, current: Option<&Oid>) -> Self {
        let note = &turn.note;
        Self {
            turn: note.number.turn,
            step: note.number.as_step(),
            kind: note.kind.to_string(),
            current: current == Some(&turn.commit),
            message: note.message.clone(),
            agent: note.work.agent.clone(),
            status: note.work.ending.map(|ending| ending.to_string()),
            time: time::rfc3339(turn.seconds),
            commit: turn.commit.to_string(),
            branch: note.head.branch.clone(),
            files: note.stat.files,
            added: note.stat.added,
            removed: note.stat.removed,
            skipped_count: note.skipped_count,
            skipped: skipped(&note.skipped),
        }
    }

    /// The same with the first line of the message.
    pub fn in_short(self) -> Self {
        const LONGEST: usize = 200;
        let first = self.message.trim_start().lines().next().unwrap_or_default();
        Self {
            message: first.chars().take(LONGEST).collect(),
            ..self
        }
    }
}

fn is_nothing(count: &usize) -> bool {
    *count == 0
}

/// A path that no turn holds.
#[derive(Serialize, JsonSchema)]
pub struct SkippedRecord {
    /// The path, from the top of the work tree.
    path: String,
    /// Why.
    why: String,
}

/// The records of what is not held.
pub fn skipped(skipped: &[Skipped]) -> Vec<SkippedRecord> {
    let record = |skipped: &Skipped| SkippedRecord {
        path: path(&skipped.path),
        why: skipped.why.to_string(),
    };
    skipped.iter().take(NAMED).map(record).collect()
}

/// A path that differs.
#[derive(Serialize, JsonSchema)]
pub struct DifferenceRecord {
    /// The path, from the top of the work tree.
    path: String,
    /// added, deleted, modified, or mode (only the executable bit differs).
    status: String,
}

/// The records of what differs.
pub fn differences(differences: &[Difference]) -> Vec<DifferenceRecord> {
    let record = |difference: &Difference| DifferenceRecord {
        path: path(&difference.path),
        status: difference.status().to_owned(),
    };
    differences.iter().map(record).collect()
}

/// What happens to the files on disk.
#[derive(Serialize, JsonSchema)]
pub struct OnDisk {
    /// How many paths are written.
    written: usize,
    /// How many paths are removed.
    removed: usize,
    /// The paths that are written, from the top of the work tree (the first 500). Read them again.
    paths_written: Vec<String>,
    /// The paths that are removed (the first 500).
    paths_removed: Vec<String>,
    /// Files outside of the work tree that are written or removed: the guard's journal has them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outside: Vec<String>,
    /// The paths that differ and are left as they are (the first 500).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_alone: Vec<LeftAlone>,
}

/// A path that differs and is left as it is.
#[derive(Serialize, JsonSchema)]
pub struct LeftAlone {
    /// The path, from the top of the work tree; a whole one outside of it.
    path: String,
    /// Why.
    why: String,
}

impl OnDisk {
    /// What a plan does.
    pub fn of(plan: &Plan) -> Self {
        let (mut written, mut removed, mut left) = (Vec::new(), Vec::new(), Vec::new());
        for (at, action) in &plan.actions {
            match action {
                Action::Write { .. } | Action::SetMode { .. } => written.push(at),
                Action::Remove { .. } => removed.push(at),
                Action::Keep(kept) => left.push(LeftAlone {
                    path: path(at),
                    why: kept.to_string(),
                }),
            }
        }
        left.extend(plan.way.unkept_beyond().map(|file| LeftAlone {
            path: outside(&file),
            why: "it can't be read, or is too large to be saved first".to_owned(),
        }));
        left.truncate(NAMED);
        let named = |paths: &[&RepoPath]| paths.iter().take(NAMED).map(|at| path(at)).collect();
        Self {
            written: written.len(),
            removed: removed.len(),
            paths_written: named(&written),
            paths_removed: named(&removed),
            outside: plan
                .way
                .beyond
                .iter()
                .map(|change| outside(&change.file()))
                .collect(),
            left_alone: left,
        }
    }

    /// What was done of it.
    pub fn done(plan: &Plan, done: &Performed) -> Self {
        let mut on_disk = Self::of(plan);
        on_disk.outside = done
            .changed_beyond()
            .map(|done| outside(&done.file))
            .collect();
        let left = done.beyond.iter().filter_map(|done| match &done.what {
            What::Left(why) => Some(LeftAlone {
                path: outside(&done.file),
                why: why.clone(),
            }),
            _ => None,
        });
        on_disk.left_alone.extend(left);
        on_disk.left_alone.truncate(NAMED);
        on_disk
    }

    /// What to do after it.
    pub fn next(&self, way_back: &str) -> String {
        match self.written + self.removed + self.outside.len() {
            0 => "Nothing on disk has changed.".to_owned(),
            _ => format!("Read these files again before you edit them. {way_back}"),
        }
    }
}

/// What was replaced and is held by no turn, and where it is saved: the first of each kind.
pub fn replaced(plan: &Plan, done: &Performed) -> Vec<String> {
    let ignored = plan.saved.iter().zip(done.ignored_side.iter().cycle());
    let ignored = ignored.map(|(at, side)| {
        let saved = shell::word(&Part::Ignored.object_name(side, at));
        let at = path(at);
        format!("an ignored file was replaced: {at} (its old content: git show {saved})")
    });
    let sides = done.displaced_side.iter().cycle();
    let displaced = done.displaced.iter().zip(sides).map(|(at, side)| {
        let saved = shell::word(&Part::Displaced.object_name(side, at));
        let at = path(at);
        format!("{at} was changed while it was restored (that content: git show {saved})")
    });
    let beyond = done.beyond.iter().filter_map(|done| match &done.what {
        What::WrittenOver(kept) => Some(format!(
            "{} was changed while it was restored: that content is {}",
            outside(&done.file),
            outside(kept)
        )),
        _ => None,
    });
    let kinds: [Vec<String>; 3] = [ignored.collect(), displaced.collect(), beyond.collect()];
    kinds.into_iter().flat_map(first).collect()
}

/// The first of these, and how many more there are.
fn first(mut all: Vec<String>) -> Vec<String> {
    let more = all.len().saturating_sub(NAMED);
    if more > 0 {
        all.truncate(NAMED);
        all.push(format!("and so were {more} more files"));
    }
    all
}

fn outside(file: &Path) -> String {
    file.to_string_lossy().into_owned()
}

/// What is staged no more: the first of the paths.
pub fn unstaged(unstaged: &Unstaged) -> Vec<String> {
    const NAMED: usize = 200;
    let paths = unstaged.paths.iter().take(NAMED);
    paths.map(|it| path(&it.path)).collect()
}

/// A path as a model reads and writes it. One that is not UTF-8 is shown with escapes, and can't be written.
pub fn path(path: &RepoPath) -> String {
    let bytes = path.as_bytes();
    str::from_utf8(bytes).map_or_else(|_| text::path(bytes), str::to_owned)
}
