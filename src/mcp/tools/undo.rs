//! `undo`: to the state before the last turn or operation.

use rmcp::schemars;
use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::call::{Call, Leave, moment};
use super::super::record::{OnDisk, replaced, unstaged};
use super::accept::Accept;
use super::{Effect, Tool};
use crate::error::Result;
use crate::history::recover::unsaid;
use crate::history::undo::{Direction, Reach, undo};

pub struct Undo;

/// Go back to exactly the state before the last restore, or else before the last turn. It can be repeated. What was not
/// saved becomes a turn first, so nothing is lost. Afterwards read the named files again.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {}

#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// What was taken back.
    undone: String,
    /// The turn that the work tree equals now.
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<u32>,
    /// The number of the step, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u32>,
    #[serde(flatten)]
    on_disk: OnDisk,
    /// The turn that holds what was not saved before.
    #[serde(skip_serializing_if = "Option::is_none")]
    safety_turn: Option<u32>,
    /// The branch that was moved, where an accept was taken back.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    /// Paths of an accept that was taken back, where something was staged since: it is saved, and staged no more (the first
    /// 200).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unstaged: Vec<String>,
    /// What to do next.
    next: String,
    /// What else should be known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

impl Tool for Undo {
    const NAME: &'static str = "undo";
    const TITLE: &'static str = "Undo the last step";
    const EFFECT: Effect = Effect::TakesBack;
    const LEAVE: Leave = Leave::Unless("edio.mcp.restore");
    type Arguments = Arguments;
    type Answer = Answer;

    fn run(call: &Call, _: Arguments) -> Result<Answer> {
        let (mut workspace, mut warnings) = call.work()?;
        // Who may not move the branch may not move it back.
        let reach = match Accept::LEAVE.is_given(Some(&workspace)) {
            true => Reach::Branch,
            false => Reach::Session,
        };
        let undone = undo(&mut workspace, Direction::Undo, reach, moment()?)?;
        warnings.extend(unsaid(&mut workspace)?);
        warnings.extend(replaced(&undone.plan, &undone.done));
        let number = undone.target.as_ref().map(|turn| turn.number());
        let on_disk = OnDisk::done(&undone.plan, &undone.done);
        Ok(Answer {
            undone: undone.what,
            turn: number.map(|number| number.turn),
            step: number.and_then(|number| number.as_step()),
            next: on_disk.next("To go forward again: edio redo."),
            on_disk,
            safety_turn: undone.safety.as_ref().map(|turn| turn.number().turn),
            unstaged: unstaged(&undone.unstaged),
            branch: undone.branch.map(|(name, _)| name),
            warnings,
        })
    }
}
