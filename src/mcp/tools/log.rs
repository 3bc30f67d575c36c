//! `log`: the turns of the session.

use rmcp::schemars;
use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::argument::{limit, no_cursor, number, place};
use super::super::call::Call;
use super::super::record::TurnRecord;
use super::{Effect, Tool};
use crate::error::Result;
use crate::history::refnames::SessionId;
use crate::history::search::Search;
use crate::history::session::Session;
use crate::history::workspace::{Start, Workspace};

pub struct Log;

/// List the turns of the session under way, the newest first: number, message, who worked, when, and how much changed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// Only turns that changed one of these files or folders, written from the top of the work tree.
    #[serde(default)]
    files: Option<Vec<String>>,
    /// How many turns. Without, 20.
    #[serde(default)]
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// The next_cursor of the answer before, to go on from there.
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The session.
    session: String,
    /// The turns, the newest first, each with the first line of its message.
    turns: Vec<TurnRecord>,
    /// Where the list goes on, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Tool for Log {
    const NAME: &'static str = "log";
    const TITLE: &'static str = "List turns";
    const EFFECT: Effect = Effect::Looks;
    type Arguments = Arguments;
    type Answer = Answer;

    fn run(call: &Call, arguments: Arguments) -> Result<Answer> {
        let workspace = call.look()?;
        let (session, below) = beginning(&workspace, arguments.cursor.as_deref())?;
        let files = arguments.files.unwrap_or_default();
        let paths = workspace.paths_meant(&files, Start::Top)?;
        let search = Search {
            paths: &paths,
            ..Search::default()
        };
        let lineage = match paths.is_empty() {
            true => session.lineage_of_turns(&workspace)?,
            false => session.lineage(&workspace)?,
        };
        let turns = search.turns(&workspace, &session, &lineage)?;
        let current = session.current.as_ref().map(|turn| &turn.commit);
        let mut older = turns.iter().rev().filter(|turn| turn.number().turn < below);
        let wanted = limit(arguments.limit, 20, 200)?;
        let turns: Vec<_> = older.by_ref().take(wanted).collect();
        let last = turns.last().map(|turn| turn.number().turn);
        Ok(Answer {
            session: session.id.to_string(),
            turns: turns
                .iter()
                .map(|turn| TurnRecord::new(turn, current).in_short())
                .collect(),
            next_cursor: older
                .next()
                .and(last)
                .map(|last| format!("{}:{last}", session.id)),
        })
    }
}

/// The session, and the number that all listed turns are below of. A list goes on in the session that it began in.
fn beginning(workspace: &Workspace, cursor: Option<&str>) -> Result<(Session, u32)> {
    let Some(cursor) = cursor else {
        return Ok((Session::active_or_error(workspace)?, u32::MAX));
    };
    let [session, below] = place(cursor)?;
    let session: SessionId = session.parse().map_err(|_| no_cursor())?;
    Ok((Session::wanted(workspace, Some(&session))?, number(below)?))
}
