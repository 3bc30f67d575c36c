//! A turn, and the other snapshots: what their commits say.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::gitengine::{Commit, GitError, Head, Oid, Stat};

use super::choice::Choice;
use super::refnames::SessionId;
use super::skipped::{self, Skipped};
use super::trailers::{self, Trailers};
use super::workspace::Workspace;

/// Why a snapshot was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The work tree as it was before the first work of a session: turn 0.
    Baseline,
    /// Work that an agent or a person finished.
    Turn,
    /// A moment inside a turn.
    Step,
    /// What changed while no agent was working.
    Human,
    /// Taken by edio before it overwrites something.
    Safety,
}

const KINDS: [Kind; 5] = [
    Kind::Baseline,
    Kind::Turn,
    Kind::Step,
    Kind::Human,
    Kind::Safety,
];

impl Kind {
    /// Has it a turn number of its own?
    pub fn is_numbered(self) -> bool {
        !matches!(self, Kind::Step | Kind::Baseline)
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Baseline => "baseline",
            Kind::Turn => "turn",
            Kind::Step => "step",
            Kind::Human => "human",
            Kind::Safety => "safety",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let kind = KINDS.into_iter().find(|kind| kind.name() == text);
        kind.ok_or(())
    }
}

/// How the work of a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// As it should.
    Completed,
    /// With an error.
    Failed,
    /// By a signal, or by something else that came in between.
    Interrupted,
    /// Nobody saw the end: the look at the work tree came later, or, of a baseline, never.
    Unmeasured,
}

const ENDINGS: [Ending; 4] = [
    Ending::Completed,
    Ending::Failed,
    Ending::Interrupted,
    Ending::Unmeasured,
];

impl Ending {
    fn name(self) -> &'static str {
        match self {
            Ending::Completed => "completed",
            Ending::Failed => "failed",
            Ending::Interrupted => "interrupted",
            Ending::Unmeasured => "unmeasured",
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Ending {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let ending = ENDINGS.into_iter().find(|ending| ending.name() == text);
        ending.ok_or(())
    }
}

/// The number of a turn, or of a step inside one: `7`, `7.2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Number {
    /// The turn; 0 is the baseline.
    pub turn: u32,
    /// The step on the way to the turn, from 1; 0 is the turn itself.
    pub step: u32,
}

impl Number {
    /// The number of a whole turn.
    pub fn turn(turn: u32) -> Self {
        Self { turn, step: 0 }
    }

    /// The step, where it is the number of one.
    pub fn as_step(self) -> Option<u32> {
        (self.step > 0).then_some(self.step)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            0 => f.pad(&self.turn.to_string()),
            step => f.pad(&format!("{}.{step}", self.turn)),
        }
    }
}

impl FromStr for Number {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (turn, step) = match text.split_once('.') {
            Some((turn, step)) => (turn, Some(step)),
            None => (text, None),
        };
        let digits = |text: &str| {
            text.bytes()
                .all(|b| b.is_ascii_digit())
                .then(|| text.parse())
        };
        let number = |text: &str| digits(text).and_then(Result::ok).ok_or(());
        Ok(Self {
            turn: number(turn)?,
            step: step.map_or(Ok(0), number)?,
        })
    }
}

/// Who worked, and how it ended, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// The agent: `claude`, `codex`, the name of a command.
    pub agent: Option<String>,
    /// The agent's own id for its conversation.
    pub agent_session: Option<String>,
    /// The agent's own id for the prompt: where in the conversation it stood.
    pub agent_prompt: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The first line of what it was told to do.
    pub prompt: Option<String>,
    /// The tool that it used: of a step.
    pub tool: Option<String>,
    /// The agent's own id for that use.
    pub tool_call: Option<String>,
    /// The helpers that did it in the agent's place: one of a step, all of a turn.
    pub helpers: Vec<String>,
    /// Other agents that were at work here, too: what they did can't be told from what this one did.
    pub shared: Vec<String>,
    /// How it ended.
    pub ending: Option<Ending>,
    /// The exit code of the command that `run` ran.
    pub exit: Option<i32>,
}

/// A snapshot: a turn, a step, or the baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Its commit.
    pub commit: Oid,
    /// The work tree.
    pub tree: Oid,
    /// The commit that it grew from.
    pub parent: Option<Oid>,
    /// When, in seconds since 1970.
    pub seconds: i64,
    /// What is said of it.
    pub note: Note,
}

/// What the message of a snapshot's commit says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What the person or the agent said, to the letter.
    pub message: String,
    /// Its session.
    pub session: SessionId,
    /// Its number.
    pub number: Number,
    /// Why it was taken.
    pub kind: Kind,
    /// Where HEAD stood.
    pub head: Head,
    /// The name of the work tree among those of the repository; `.` is the main one.
    pub worktree: String,
    /// What it changed.
    pub stat: Stat,
    /// How many steps led to it.
    pub steps: u32,
    /// Who worked.
    pub work: Work,
    /// What was chosen to be held, and to be left out.
    pub choice: Choice,
    /// How many paths it could not hold.
    pub skipped_count: usize,
    /// The first of them.
    pub skipped: Vec<Skipped>,
    /// What the work tree can't hold.
    pub side: Option<Oid>,
    /// What was said and done for it: the side commit with that.
    pub conversation: Option<Oid>,
}

impl Turn {
    /// Reads a commit; `None` where it is not one of edio's snapshots.
    pub fn read(commit: &Commit) -> Option<Self> {
        Some(Self {
            commit: commit.oid.clone(),
            tree: commit.tree.clone(),
            parent: commit.parents.first().cloned(),
            seconds: commit.seconds,
            note: Note::read(&commit.message)?,
        })
    }

    /// The snapshot of this commit; `None` where it is none of edio's, or can't be read.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn of(workspace: &Workspace, commit: &Oid) -> Result<Option<Self>, GitError> {
        let commit = workspace.git.commit_that_is_whole(commit)?;
        Ok(commit.as_ref().and_then(Self::read))
    }

    /// The number.
    pub fn number(&self) -> Number {
        self.note.number
    }
}

impl Note {
    /// Reads the message of a commit.
    pub fn read(message: &[u8]) -> Option<Self> {
        let (message, trailers) = trailers::parse(message)?;
        let (skipped_count, skipped) = trailers
            .get("Skipped")
            .map_or_else(|| Some((0, Vec::new())), skipped::parse)?;
        Some(Self {
            message: message.to_owned(),
            session: trailers.read("Session")?,
            number: trailers.read("Turn")?,
            kind: trailers.read("Kind")?,
            head: Head {
                commit: trailers.get("Head").and_then(Oid::new),
                branch: trailers.get("Branch").map(str::to_owned),
            },
            worktree: trailers.get("Worktree")?.to_owned(),
            stat: trailers.get("Stat").and_then(parse_stat)?,
            steps: trailers.read("Steps").unwrap_or(0),
            work: Work {
                agent: trailers.get("Agent").map(str::to_owned),
                agent_session: trailers.get("Agent-Session").map(str::to_owned),
                agent_prompt: trailers.get("Agent-Prompt").map(str::to_owned),
                model: trailers.get("Model").map(str::to_owned),
                prompt: trailers.get("Prompt").map(str::to_owned),
                tool: trailers.get("Tool").map(str::to_owned),
                tool_call: trailers.get("Tool-Call").map(str::to_owned),
                helpers: trailers.get("Helpers").map_or_else(Vec::new, listed),
                shared: trailers.get("Shared").map_or_else(Vec::new, words),
                ending: trailers.read("Status"),
                exit: trailers.read("Exit"),
            },
            choice: Choice::read(&trailers)?,
            skipped_count,
            skipped,
            side: trailers.get("Side").and_then(Oid::new),
            conversation: trailers.get("Conversation").and_then(Oid::new),
        })
    }

    /// The message of the commit.
    pub fn write(&self) -> Vec<u8> {
        let skipped =
            (self.skipped_count > 0).then(|| skipped::write(self.skipped_count, &self.skipped));
        let shared = &self.work.shared;
        let shared = (!shared.is_empty()).then(|| shared.join(" "));
        let helpers = &self.work.helpers;
        let helpers = (!helpers.is_empty()).then(|| helpers.join(", "));
        let trailers = Trailers::default()
            .with("Session", self.session.as_str())
            .with("Turn", self.number.to_string())
            .with("Kind", self.kind.to_string())
            .with_some("Head", self.head.commit.as_ref().map(Oid::as_str))
            .with_some("Branch", self.head.branch.as_deref())
            .with("Worktree", &self.worktree)
            .with("Stat", write_stat(&self.stat))
            .with_some("Steps", (self.steps > 0).then(|| self.steps.to_string()))
            .with_some("Agent", self.work.agent.as_deref())
            .with_some("Agent-Session", self.work.agent_session.as_deref())
            .with_some("Agent-Prompt", self.work.agent_prompt.as_deref())
            .with_some("Model", self.work.model.as_deref())
            .with_some("Prompt", self.work.prompt.as_deref())
            .with_some("Tool", self.work.tool.as_deref())
            .with_some("Tool-Call", self.work.tool_call.as_deref())
            .with_some("Helpers", helpers)
            .with_some("Shared", shared)
            .with_some("Status", self.work.ending.map(|ending| ending.to_string()))
            .with_some("Exit", self.work.exit.map(|code| code.to_string()));
        self.choice
            .note(trailers)
            .with_some("Skipped", skipped)
            .with_some("Side", self.side.as_ref().map(Oid::as_str))
            .with_some("Conversation", self.conversation.as_ref().map(Oid::as_str))
            .message(&self.message)
    }

    /// The first line of the message.
    pub fn subject(&self) -> &str {
        self.message.trim_start().lines().next().unwrap_or_default()
    }
}

fn listed(text: &str) -> Vec<String> {
    text.split(", ").map(str::to_owned).collect()
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// `3 12 4`: files, lines added, lines removed.
pub(super) fn write_stat(stat: &Stat) -> String {
    format!("{} {} {}", stat.files, stat.added, stat.removed)
}

fn parse_stat(text: &str) -> Option<Stat> {
    let numbers: Option<Vec<u64>> = text.split(' ').map(|n| n.parse().ok()).collect();
    match numbers?.as_slice() {
        &[files, added, removed] => Some(Stat {
            files,
            added,
            removed,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::gitengine::{Patterns, RepoPath};

    use super::super::skipped::Why;
    use super::*;

    #[test]
    fn a_note_comes_back_from_its_message() {
        let note = Note {
            message: "- fix\n\nmore\n".to_owned(),
            session: "sess_1_0".parse().unwrap(),
            number: Number { turn: 7, step: 2 },
            kind: Kind::Human,
            head: Head {
                commit: None,
                branch: Some("refs/heads/a b".to_owned()),
            },
            worktree: ".".to_owned(),
            stat: Stat {
                files: 1,
                added: 2,
                removed: 3,
            },
            steps: 4,
            work: Work {
                agent: Some("claude".to_owned()),
                agent_session: Some("a76215b7".to_owned()),
                agent_prompt: Some("p-1".into()),
                model: Some("a model".to_owned()),
                prompt: Some("fix it".to_owned()),
                tool: Some("Bash".to_owned()),
                tool_call: Some("toolu_1".to_owned()),
                helpers: vec!["Explore a1".to_owned(), "b2".to_owned()],
                shared: vec!["codex".to_owned(), "gemini".to_owned()],
                ending: Some(Ending::Failed),
                exit: Some(3),
            },
            choice: Choice {
                include: Patterns::new(["/.env", "a\nb"]),
                exclude: Patterns::new(["*.log"]),
            },
            skipped_count: 1,
            skipped: vec![Skipped::new(
                RepoPath::new(&b"a\n\xff"[..]).unwrap(),
                Why::TooLarge(7),
            )],
            side: None,
            conversation: Oid::new("2".repeat(40)),
        };
        assert_eq!(Note::read(&note.write()), Some(note));
    }

    #[test]
    fn numbers_are_plain() {
        assert_eq!("7.2".parse(), Ok(Number { turn: 7, step: 2 }));
        assert_eq!("0".parse(), Ok(Number::turn(0)));
        for bad in ["", "-1", "+1", "1.", ".1", "1.2.3", "x", "99999999999"] {
            assert_eq!(bad.parse::<Number>(), Err(()), "{bad}");
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_read_does_no_harm(bytes in crate::gitengine::noise()) {
            let text = [&b"a\n\nEdio-Session: sess_1_00000000\n"[..], &bytes, b"Edio-Version: 1\n"].concat();
            let _ = (Note::read(&bytes), Note::read(&text));
        }
    }
}
