//! `snapshot`: take a turn.

use rmcp::schemars;
use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::call::{Call, moment};
use super::super::record::{TurnRecord, path};
use super::{Effect, Tool};
use crate::error::Result;
use crate::history::limits::TooMuch;
use crate::history::prompt::at_work_beside;
use crate::history::recover::unsaid;
use crate::history::redact::Redactor;
use crate::history::session::Session;
use crate::history::snapshot::{Request, Taken, Unchanged, checked_message, take};
use crate::history::turn::{Kind, Work};

pub struct Snapshot;

/// Save the whole work tree as a numbered turn that can be brought back exactly, new files included. Call it after each
/// finished piece of work, instead of making a commit. It changes no file, no branch and no index.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// What was done, in a few words. Without, the changed paths are named.
    #[serde(default)]
    message: Option<String>,
    /// Take no turn where nothing has changed since the current one.
    #[serde(default)]
    if_changed: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// Was a turn taken?
    changed: bool,
    /// The session that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// The turn that was taken, or the current one where none was.
    #[serde(flatten)]
    turn: Option<TurnRecord>,
    /// What else should be known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

impl Tool for Snapshot {
    const NAME: &'static str = "snapshot";
    const TITLE: &'static str = "Take a snapshot";
    const EFFECT: Effect = Effect::Adds;
    type Arguments = Arguments;
    type Answer = Answer;

    fn run(call: &Call, arguments: Arguments) -> Result<Answer> {
        let (mut workspace, mut warnings) = call.work()?;
        let moment = moment()?;
        let agent = call.agent.clone();
        // A person's words are kept to the letter. A model may repeat what it has read somewhere.
        let (redactor, _) = Redactor::set_leniently(&workspace.settings);
        let message = arguments.message.map(checked_message).transpose()?;
        let request = Request {
            kind: Kind::Turn,
            message: message.map(|message| redactor.text(&message)),
            unchanged: match arguments.if_changed {
                Some(true) => Unchanged::Skip,
                _ => Unchanged::Take,
            },
            work: Work {
                shared: at_work_beside(agent.as_deref(), &workspace.state, moment.seconds),
                agent,
                ..Work::default()
            },
            moment,
        };
        let taken = take(&mut workspace, &request, TooMuch::Refuse)?;
        warnings.extend(unsaid(&mut workspace)?);
        warnings.extend(told_of(&taken));
        let current = match taken.turn.is_none() && taken.standing.is_some() {
            true => Session::active_or_error(&workspace)?.current,
            false => None,
        };
        let turn = taken.turn.as_ref().or(current.as_ref());
        Ok(Answer {
            changed: taken.turn.is_some(),
            session: taken.standing.map(|standing| standing.id.to_string()),
            turn: turn.map(|turn| TurnRecord::new(turn, Some(&turn.commit))),
            warnings,
        })
    }
}

/// What a person should hear of it.
fn told_of(taken: &Taken) -> Vec<String> {
    let swept = taken.swept.iter().map(|left| {
        let left = path(left);
        format!("a restore was interrupted: it left {left}, which is saved and removed")
    });
    let secrets = taken.secrets.iter().map(|secret| {
        let secret = path(secret);
        format!("turns hold {secret} now, which by its name is for secrets: tell the user of it (edio forget takes it out)")
    });
    let not_packed = taken.not_packed.iter();
    let not_packed = not_packed.map(|why| format!("the turns before could not be packed: {why}"));
    swept.chain(secrets).chain(not_packed).collect()
}
