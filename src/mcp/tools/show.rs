//! `show`: one turn.

use rmcp::schemars;
use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::argument::{Written, limit, no_cursor, number, place};
use super::super::call::Call;
use super::super::record::{self, DifferenceRecord, TurnRecord};
use super::{Effect, Tool};
use crate::error::Result;
use crate::history::address::Address;
use crate::history::compare::{changed_by, differences, hidden_by};
use crate::history::session::Session;
use crate::history::turn::Turn;

pub struct Show;

/// Show one turn: its whole message, who worked, and which files it changed. The tool diff has the changed lines.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// The turn: 7, 7.2 (a step), @ (the current one), @-1 (the one before), last, 0 (the start), or the first digits of
    /// its commit. Without, the last one.
    #[serde(default)]
    #[schemars(with = "String")]
    turn: Option<Written<Address>>,
    /// How many files. Without, 200.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<u32>,
    /// The next_cursor of the answer before, to go on from there.
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The session that it belongs to.
    session: String,
    #[serde(flatten)]
    turn: TurnRecord,
    /// The files that it changed.
    changes: Vec<DifferenceRecord>,
    /// Where the list of files goes on, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Tool for Show {
    const NAME: &'static str = "show";
    const TITLE: &'static str = "Show a turn";
    const EFFECT: Effect = Effect::Looks;
    type Arguments = Arguments;
    type Answer = Answer;

    fn run(call: &Call, arguments: Arguments) -> Result<Answer> {
        let workspace = call.look()?;
        let session = Session::active_or_error(&workspace)?;
        let address = arguments.turn.map_or(Address::Last, |turn| turn.0);
        let turn = address.find(&workspace, &session)?;
        let from = beginning(&turn, arguments.cursor.as_deref())?;
        let sides = changed_by(&workspace, &session, &turn)?;
        let (mut changes, _) = differences(&workspace, &sides, &[])?;
        changes.extend(hidden_by(&workspace, &session, &turn)?);
        let rest = changes.get(from..).unwrap_or_default();
        let wanted = limit(arguments.limit, 200, 1000)?.min(rest.len());
        let next = from + wanted;
        Ok(Answer {
            session: turn.note.session.to_string(),
            changes: record::differences(&rest[..wanted]),
            next_cursor: (next < changes.len()).then(|| format!("{}:{next}", turn.commit)),
            turn: TurnRecord::new(&turn, session.current.as_ref().map(|turn| &turn.commit)),
        })
    }
}

/// How many files were shown before. The list goes on in the turn that it began with.
fn beginning(turn: &Turn, cursor: Option<&str>) -> Result<usize> {
    let Some(cursor) = cursor else {
        return Ok(0);
    };
    let [commit, from] = place(cursor)?;
    match commit == turn.commit.as_str() {
        true => number(from),
        false => Err(no_cursor()),
    }
}
