//! `accept`: the work of the session as one commit.

use rmcp::schemars;
use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::argument::Written;
use super::super::call::{Call, Leave, in_words, moment};
use super::super::record::{self, DifferenceRecord, path, unstaged};
use super::{Effect, Tool};
use crate::error::Result;
use crate::history::accept::{
    Accepted, Extent, Message, Onto, Prepared, Uncommitted, Unsaved, Verify, Wish, accept, prepare,
    uncommitted, would_unstage,
};
use crate::history::address::Address;
use crate::history::git::{Difference, RepoPath, Stat};
use crate::history::session::Session;
use crate::history::snapshot::checked_message;

pub struct Accept;

/// Make the work of the session one commit on the branch, and end the session. Do this only when the person asked for it.
/// The person's hooks are run. undo takes it back.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// The commit's message.
    message: String,
    /// Only the turns up to this one; a new session goes on with the rest. Without, all of the work.
    #[serde(default)]
    #[schemars(with = "String")]
    turn: Option<Written<Address>>,
    /// Only say what would be committed.
    #[serde(default)]
    dry_run: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// Is this only what would be done?
    dry_run: bool,
    /// The new commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    /// Its message.
    message: String,
    /// The branch that it is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    /// The session, which is archived now.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// The turn that was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<u32>,
    /// The session that goes on with the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_session: Option<String>,
    /// How many files the commit changes.
    files: u64,
    /// How many lines it adds.
    added: u64,
    /// How many lines it removes.
    removed: u64,
    /// The files that it changes (the first 200).
    changes: Vec<DifferenceRecord>,
    /// What stays uncommitted (the first 200).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    uncommitted: Vec<UncommittedRecord>,
    /// Paths of which something else was staged: it is saved, and staged no more; undo stages it again (the first 200).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unstaged: Vec<String>,
    /// What else should be known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// A path that stays uncommitted.
#[derive(Serialize, JsonSchema)]
pub struct UncommittedRecord {
    /// The path, from the top of the work tree.
    path: String,
    /// Why.
    why: String,
}

impl Tool for Accept {
    const NAME: &'static str = "accept";
    const TITLE: &'static str = "Commit the session's work";
    const EFFECT: Effect = Effect::TakesBack;
    const LEAVE: Leave = Leave::Only("edio.mcp.accept");
    type Arguments = Arguments;
    type Answer = Answer;

    fn run(call: &Call, arguments: Arguments) -> Result<Answer> {
        let message = checked_message(arguments.message)?;
        let (mut workspace, mut warnings) = call.work()?;
        let turn = match &arguments.turn {
            Some(turn) => {
                let session = Session::active_or_error(&workspace)?;
                Some(turn.0.find(&workspace, &session)?)
            }
            None => None,
        };
        let wish = Wish {
            turn,
            extent: Extent::Session,
            branch: Onto::Sessions,
        };
        if arguments.dry_run == Some(true) {
            let prepared = prepare(&mut workspace, &wish, Unsaved::Look, moment()?)?;
            let left = uncommitted(&workspace, &prepared)?;
            return Ok(Answer {
                unstaged: unstaged(&would_unstage(&workspace, &prepared.changes)?),
                ..planned(&prepared, &left, message, warnings)
            });
        }
        let prepared = prepare(&mut workspace, &wish, Unsaved::Take, moment()?)?;
        let message = Message::Given(message);
        let accepted = accept(&mut workspace, prepared, message, Verify::Yes, moment()?)?;
        if let Some(error) = &accepted.unnoted {
            warnings.push(format!(
                "the note on the commit could not be written: {error}"
            ));
        }
        if let Some(error) = &accepted.unfinished {
            warnings.push(format!(
                "what follows the commit is not finished: {}",
                in_words(error)
            ));
        }
        (call.host.after_accept)(&call.host.place, workspace);
        Ok(done(accepted, warnings))
    }
}

fn planned(
    prepared: &Prepared,
    left: &[(RepoPath, Uncommitted)],
    message: String,
    warnings: Vec<String>,
) -> Answer {
    Answer {
        dry_run: true,
        branch: prepared.head.branch.clone(),
        ..of_changes(&prepared.changes, &prepared.stat, left, message, warnings)
    }
}

fn done(accepted: Accepted, warnings: Vec<String>) -> Answer {
    let (changes, left) = (&accepted.changes, &accepted.uncommitted);
    Answer {
        commit: Some(accepted.commit.to_string()),
        branch: accepted.branch,
        session: Some(accepted.session.to_string()),
        turn: Some(accepted.last.turn),
        next_session: accepted.next.as_ref().map(ToString::to_string),
        unstaged: unstaged(&accepted.unstaged),
        ..of_changes(changes, &accepted.stat, left, accepted.message, warnings)
    }
}

fn of_changes(
    changes: &[Difference],
    stat: &Stat,
    left: &[(RepoPath, Uncommitted)],
    message: String,
    warnings: Vec<String>,
) -> Answer {
    const NAMED: usize = 200;
    let left = left.iter().take(NAMED).map(|(at, why)| UncommittedRecord {
        path: path(at),
        why: why.to_string(),
    });
    Answer {
        dry_run: false,
        commit: None,
        message,
        branch: None,
        session: None,
        turn: None,
        next_session: None,
        files: stat.files,
        added: stat.added,
        removed: stat.removed,
        changes: record::differences(&changes[..changes.len().min(NAMED)]),
        uncommitted: left.collect(),
        unstaged: Vec::new(),
        warnings,
    }
}
