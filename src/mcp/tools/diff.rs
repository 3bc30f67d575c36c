//! `diff`: what changed, line by line.

use std::io::{self, Read};

use rmcp::schemars;
use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::argument::{Written, limit, no_cursor, number, place};
use super::super::call::Call;
use super::{Effect, Tool};
use crate::error::{Error, Result};
use crate::history::address::Address;
use crate::history::compare::{Comparison, Sides, differences, refuse_nowhere, with_work_tree};
use crate::history::git::{Answer as Patch, Oid, PatchStyle};
use crate::history::session::Session;
use crate::history::workspace::Start;

pub struct Diff;

/// Show changed lines as a patch: what a turn changed, what lies between two turns, or how the files on disk differ from
/// a turn. A long patch comes in parts.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// One turn, for what it changed, or two as 3..6. A turn is 7, 7.2 (a step), @ (the current one), @-1 (the one
    /// before), last, or 0 (the start). Without, the last one; with workspace, the current one.
    #[serde(default)]
    #[schemars(with = "String")]
    turn: Option<Written<Comparison>>,
    /// Compare the turn with the files on disk.
    #[serde(default)]
    workspace: Option<bool>,
    /// Only these files or folders, written from the top of the work tree.
    #[serde(default)]
    files: Option<Vec<String>>,
    /// How many bytes of the patch. Without, 20000.
    #[serde(default)]
    #[schemars(range(min = 1000, max = 50000))]
    limit: Option<u32>,
    /// The next_cursor of the answer before, to go on from there. Give the same files again.
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// How many files differ.
    files: u64,
    /// How many lines were added.
    added: u64,
    /// How many lines were removed.
    removed: u64,
    /// The patch, or this part of it.
    patch: String,
    /// Where the patch goes on, if this is not all of it. Or give fewer files.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Tool for Diff {
    const NAME: &'static str = "diff";
    const TITLE: &'static str = "Show changed lines";
    const EFFECT: Effect = Effect::Looks;
    type Arguments = Arguments;
    type Answer = Answer;

    fn run(call: &Call, arguments: Arguments) -> Result<Answer> {
        let (sides, from) = match &arguments.cursor {
            Some(cursor) => going_on(cursor)?,
            None => (beginning(call, &arguments)?, 0),
        };
        let workspace = call.look()?;
        let files = arguments.files.unwrap_or_default();
        let paths = workspace.paths_meant(&files, Start::Top)?;
        refuse_nowhere(&workspace, &sides, &paths)?;
        let (_, stat) = differences(&workspace, &sides, &paths)?;
        let style = PatchStyle { color: false };
        let patch = workspace
            .git
            .patch(&sides.old, &sides.new, &paths, &style)?;
        let wanted = limit(arguments.limit, 20_000, 50_000)?.max(1000);
        let (patch, next) = part(patch, from, wanted)?;
        Ok(Answer {
            files: stat.files,
            added: stat.added,
            removed: stat.removed,
            patch,
            next_cursor: next.map(|next| format!("{}:{}:{next}", sides.old, sides.new)),
        })
    }
}

/// The two trees that are wanted.
fn beginning(call: &Call, arguments: &Arguments) -> Result<Sides> {
    let wanted = arguments.turn.as_ref().map(|turn| &turn.0);
    if arguments.workspace != Some(true) {
        let workspace = call.look()?;
        let session = Session::active_or_error(&workspace)?;
        let last = Comparison::Turn(Address::Last);
        return wanted.unwrap_or(&last).sides(&workspace, &session);
    }
    let workspace = call.look_locked()?;
    let session = Session::active_or_error(&workspace)?;
    let turn = match wanted {
        None => session.current()?.clone(),
        Some(Comparison::Turn(address)) => address.find(&workspace, &session)?,
        Some(Comparison::Turns(_)) => {
            return Err(Error::usage("two turns are given, and workspace takes one"));
        }
    };
    with_work_tree(&workspace, &turn)
}

/// The two trees of a patch that was begun, and how many bytes of it were shown. Files may have changed since.
fn going_on(cursor: &str) -> Result<(Sides, u64)> {
    let [old, new, from] = place(cursor)?;
    let tree = |digits: &str| Oid::new(digits).ok_or_else(no_cursor);
    let sides = Sides {
        old: tree(old)?,
        new: tree(new)?,
    };
    Ok((sides, number(from)?))
}

/// A part of a patch, and where the next one begins.
fn part(mut patch: Patch, from: u64, wanted: usize) -> Result<(String, Option<u64>)> {
    let mut bytes = Vec::new();
    let read = io::copy(&mut patch.reader.by_ref().take(from), &mut io::sink()).and_then(|_| {
        let one_more = wanted as u64 + 1;
        patch.reader.by_ref().take(one_more).read_to_end(&mut bytes)
    });
    read.map_err(|error| patch.broken(error))?;
    if bytes.len() <= wanted {
        patch.close()?;
        return Ok((String::from_utf8_lossy(&bytes).into_owned(), None));
    }
    bytes.truncate(end_of_part(&bytes[..wanted]));
    let next = from + bytes.len() as u64;
    Ok((String::from_utf8_lossy(&bytes).into_owned(), Some(next)))
}

/// The end of the last line; where the line is longer than all this, the end of the last character.
fn end_of_part(bytes: &[u8]) -> usize {
    if let Some(at) = bytes.iter().rposition(|byte| *byte == b'\n') {
        return at + 1;
    }
    let begins = |byte: &u8| byte & 0b1100_0000 != 0b1000_0000;
    let last = bytes.iter().rposition(begins).unwrap_or(0);
    match bytes.len() - last < 4 && last > 0 {
        true => last,
        false => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_ends_with_a_line_or_a_character() {
        assert_eq!(end_of_part(b"one\ntwo\nthr"), 8);
        assert_eq!(end_of_part("ääää".as_bytes()), 6);
        assert_eq!(end_of_part(&"ääää".as_bytes()[..7]), 6);
        assert_eq!(end_of_part(&[0x80; 9]), 9);
        assert_eq!(end_of_part(b"x"), 1);
    }
}
