//! `restore`: bring files back.

use rmcp::schemars;
use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::argument::Written;
use super::super::call::{Call, Leave, moment};
use super::super::record::{OnDisk, replaced};
use super::{Effect, Tool};
use crate::error::{Error, Result};
use crate::history::address::Address;
use crate::history::recover::unsaid;
use crate::history::restore::{Plan, Restored, Wish, preview, restore};
use crate::history::session::Session;
use crate::history::turn::Turn;
use crate::history::workspace::{Locked, Start};

pub struct Restore;

/// Bring the work tree, or only some files of it, back to exactly what it was in a turn. Files that appeared since are
/// removed. What was not saved becomes a turn first, so nothing is lost, and undo takes this back. Branches, commits,
/// the index and ignored files stay as they are. Use this, never git checkout, stash, reset or clean. Afterwards read
/// the named files again.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// The turn: 7, 7.2 (a step), @ (the current one), @-1 (the one before), last, 0 (the start), or the first digits of
    /// its commit.
    #[schemars(with = "String")]
    turn: Written<Address>,
    /// Only these files or folders, written from the top of the work tree. Without, all of it.
    #[serde(default)]
    files: Option<Vec<String>>,
    /// Only say what would be done.
    #[serde(default)]
    dry_run: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The turn that the files are brought to.
    turn: u32,
    /// The number of the step, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u32>,
    /// Is this only what would be done?
    dry_run: bool,
    #[serde(flatten)]
    on_disk: OnDisk,
    /// The turn that holds what was not saved before.
    #[serde(skip_serializing_if = "Option::is_none")]
    safety_turn: Option<u32>,
    /// The turn that a restore of some files ends in.
    #[serde(skip_serializing_if = "Option::is_none")]
    new_turn: Option<u32>,
    /// What to do next.
    next: String,
    /// What else should be known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

impl Tool for Restore {
    const NAME: &'static str = "restore";
    const TITLE: &'static str = "Restore files from a turn";
    const EFFECT: Effect = Effect::Brings;
    const LEAVE: Leave = Leave::Unless("edio.mcp.restore");
    type Arguments = Arguments;
    type Answer = Answer;

    fn run(call: &Call, arguments: Arguments) -> Result<Answer> {
        let files = arguments.files;
        if files.as_ref().is_some_and(Vec::is_empty) {
            return Err(Error::usage("the list of files is empty")
                .hint("leave it out to restore everything, or give [\".\"]"));
        }
        let files = files.unwrap_or_default();
        let (mut workspace, mut warnings) = call.work()?;
        let find = |workspace: &Locked| {
            let session = Session::active_or_error(workspace)?;
            let target = arguments.turn.0.find(workspace, &session)?;
            let paths = workspace.paths_meant(&files, Start::Top)?;
            let wish = Wish {
                target,
                paths,
                agent: call.agent.clone(),
            };
            Ok((session, wish))
        };
        if arguments.dry_run == Some(true) {
            let (wish, plan) = preview(&workspace, || find(&workspace))?;
            return Ok(planned(&wish, &plan, warnings));
        }
        let (wish, restored) = restore(&mut workspace, find, moment()?)?;
        warnings.extend(unsaid(&mut workspace)?);
        Ok(done(&wish, &restored, warnings))
    }
}

fn planned(wish: &Wish, plan: &Plan, warnings: Vec<String>) -> Answer {
    Answer {
        turn: wish.target.number().turn,
        step: wish.target.number().as_step(),
        dry_run: true,
        on_disk: OnDisk::of(plan),
        safety_turn: None,
        new_turn: None,
        next: "Nothing was changed: this is what would be done.".to_owned(),
        warnings,
    }
}

fn done(wish: &Wish, restored: &Restored, mut warnings: Vec<String>) -> Answer {
    let number = |turn: &Option<Turn>| turn.as_ref().map(|turn| turn.number().turn);
    warnings.extend(replaced(&restored.plan, &restored.done));
    let on_disk = OnDisk::done(&restored.plan, &restored.done);
    Answer {
        dry_run: false,
        safety_turn: number(&restored.safety),
        new_turn: number(&restored.done.turn),
        next: on_disk.next("To take this back: undo."),
        on_disk,
        ..planned(wish, &restored.plan, warnings)
    }
}
