//! `status`: where the work tree stands.

use rmcp::schemars;
use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::call::Call;
use super::super::record::{self, DifferenceRecord, SkippedRecord, TurnRecord, skipped};
use super::{Effect, Tool};
use crate::error::Result;
use crate::history::accept::open_operation;
use crate::history::compare::Stand;

pub struct Status;

/// Show where the work tree stands: the session, the current turn, and which files have changed since and are not saved
/// yet.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {}

#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The session under way, if there is one. A snapshot begins it.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// How many turns it has.
    turns: usize,
    /// The turn that the work tree last equalled.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "TurnRecord")]
    current: Option<TurnRecord>,
    /// How many files have changed since.
    unsaved_count: usize,
    /// The first 200 of them. The tool diff shows all, with workspace.
    unsaved: Vec<DifferenceRecord>,
    /// What no turn can hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_covered: Vec<SkippedRecord>,
    /// Why a snapshot would be refused now. What is unsaved is not known then.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
    /// The operation of edio's that was stopped midway.
    #[serde(skip_serializing_if = "Option::is_none")]
    interrupted: Option<String>,
    /// The merge, rebase or the like that is under way in git.
    #[serde(skip_serializing_if = "Option::is_none")]
    git_operation: Option<String>,
}

impl Tool for Status {
    const NAME: &'static str = "status";
    const TITLE: &'static str = "Show the status";
    const EFFECT: Effect = Effect::Looks;
    type Arguments = Arguments;
    type Answer = Answer;

    fn run(call: &Call, _: Arguments) -> Result<Answer> {
        const NAMED: usize = 200;
        let workspace = call.look()?;
        let Stand {
            session,
            unsaved,
            interrupted,
        } = Stand::now(&workspace, || call.look_locked())?;
        let current = session
            .as_ref()
            .and_then(|session| session.current.as_ref());
        let named = unsaved.changed.len().min(NAMED);
        Ok(Answer {
            session: session.as_ref().map(|session| session.id.to_string()),
            turns: session.as_ref().map_or(0, |session| session.turns.len()),
            current: current.map(|turn| TurnRecord::new(turn, Some(&turn.commit)).in_short()),
            unsaved_count: unsaved.changed.len(),
            unsaved: record::differences(&unsaved.changed[..named]),
            not_covered: skipped(&unsaved.not_covered),
            refused: unsaved.refused.as_ref().map(ToString::to_string),
            interrupted: interrupted.map(|begun| begun.words().to_owned()),
            git_operation: open_operation(&workspace.git.git_dir).map(str::to_owned),
        })
    }
}
