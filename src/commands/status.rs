//! `edio status`: where the work tree stands. Also what `edio` alone shows.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::shown::held::{name_damaged, name_foreign};
use super::shown::record::{DifferenceRecord, SkippedRecord, TurnRecord, difference, skipped};
use super::{Context, Printed};
use crate::clock;
use crate::error::{Error, Kind, Result};
use crate::history::accept::open_operation;
use crate::history::compare::{Stand, Unsaved};
use crate::history::connected::Connected;
use crate::history::faults;
use crate::history::git::git_bytes;
use crate::history::recover::Interrupted;
use crate::history::session::Session;
use crate::term::text::plural;
use crate::term::{json, style, text, time};

/// Show the session, the current turn, and what changed since.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  edio status\n  edio status --json")]
pub struct Args {}

#[derive(Serialize)]
struct Record {
    session: Option<String>,
    turns: usize,
    current: Option<TurnRecord>,
    unsaved: Vec<DifferenceRecord>,
    not_covered: Vec<SkippedRecord>,
    refused: Option<String>,
    interrupted: Option<String>,
    git_operation: Option<&'static str>,
    store: Option<Value>,
    agents: Vec<String>,
}

/// Runs it.
///
/// # Errors
///
/// There is no repository, or git failed.
pub fn run(context: &mut Context, _: &Args) -> Result<u8> {
    let workspace = context.open_to_list()?;
    context.refuse_other_session(&workspace)?;
    let scratch = workspace.scratch();
    let stand = Stand::now(&workspace, || context.open_locked())?;
    let lost = match &stand.session {
        None => faults::lost(&workspace)?,
        Some(_) => None,
    };
    if let Some(session) = stand.session.as_ref().or(lost.as_ref()) {
        name_damaged(&mut context.term, session);
        name_foreign(&mut context.term, session);
    }
    let seen = Seen {
        stand,
        open: open_operation(&workspace.git.git_dir),
        home: workspace.store.map(|store| git_bytes(&store.home)),
        // Whoever may not read that sees none.
        agents: Connected::load(&scratch).unwrap_or_default().agents,
    };
    match context.term.is_json() {
        true => context.term.record(&seen.record()).printed()?,
        false => tell(context, &seen)?,
    }
    Ok(0)
}

/// What there is to say.
struct Seen {
    stand: Stand,
    /// What git has open: a merge, a rebase.
    open: Option<&'static str>,
    /// Where the store of a folder is.
    home: Option<Vec<u8>>,
    agents: BTreeSet<String>,
}

impl Seen {
    fn record(&self) -> Record {
        let Stand {
            session,
            unsaved,
            interrupted,
        } = &self.stand;
        let session = session.as_ref();
        let current = session.and_then(|session| session.current.as_ref());
        Record {
            session: session.map(|session| session.id.to_string()),
            turns: session.map_or(0, |session| session.turns.len()),
            current: current.map(|turn| TurnRecord::new(turn, Some(&turn.commit))),
            unsaved: unsaved.changed.iter().map(difference).collect(),
            not_covered: skipped(&unsaved.not_covered),
            refused: unsaved.refused.as_ref().map(Error::to_string),
            interrupted: interrupted.as_ref().map(|begun| begun.words().to_owned()),
            git_operation: self.open,
            store: self.home.as_ref().map(|home| json::path(home)),
            agents: self.agents.iter().cloned().collect(),
        }
    }
}

fn tell(context: &mut Context, seen: &Seen) -> Result<()> {
    let begun = seen.stand.interrupted.as_ref();
    match &seen.stand.session {
        None => {
            let line = "no session is under way here";
            context.term.line(line).printed()?;
            let hint = "take the first one: edio snapshot -m \"start\"";
            context.term.hint(hint);
        }
        Some(session) => describe(context, session, &seen.stand.unsaved, begun)?,
    }
    let mut lines = Vec::new();
    if let Some(Interrupted::OnBranch(words)) = begun {
        let words = text::plain(words.as_bytes());
        let word = style::warning("interrupted:");
        lines.push(format!(
            "{word} {words}: to finish it, or take it back: edio snapshot --if-changed"
        ));
    }
    lines.extend(
        seen.home
            .as_ref()
            .map(|home| format!("store: {}", text::plain(home))),
    );
    if !seen.agents.is_empty() {
        let names: Vec<&str> = seen.agents.iter().map(String::as_str).collect();
        let names = text::plain(names.join(", ").as_bytes());
        lines.push(format!("connected: {names}"));
    }
    lines.extend(seen.open.map(|name| format!("git: a {name} is under way")));
    for line in lines {
        context.term.line(line).printed()?;
    }
    Ok(())
}

fn describe(
    context: &mut Context,
    session: &Session,
    unsaved: &Unsaved,
    begun: Option<&Interrupted>,
) -> Result<()> {
    const NAMED: usize = 20;
    let current = session.current()?;
    let changed = &unsaved.changed;
    let mut lines = vec![
        format!(
            "session {} ({})",
            session.id,
            plural(session.turns.len(), "turn")
        ),
        format!(
            "current {}: {} ({})",
            style::turn(format!("turn {}", current.number())),
            text::plain(current.note.subject().as_bytes()),
            time::ago(clock::now(), current.seconds)
        ),
    ];
    if let Some(Interrupted::OnWorkTree(words)) = begun {
        lines.push(format!(
            "{} {}: run it again to finish, or edio restore {} to go back",
            style::warning("interrupted:"),
            text::plain(words.as_bytes()),
            current.number()
        ));
    }
    match changed.len() {
        0 if unsaved.refused.is_some() => {}
        0 => lines.push("nothing changed since".to_owned()),
        count => lines.push(format!("since then {} changed:", plural(count, "path"))),
    }
    for change in changed.iter().take(NAMED) {
        let path = text::path(change.path.as_bytes());
        lines.push(format!("  {} {path}", change.letter()));
    }
    if changed.len() > NAMED {
        lines.push(format!("  and {} more", changed.len() - NAMED));
    }
    for skipped in &unsaved.not_covered {
        let path = text::path(skipped.path.as_bytes());
        lines.push(format!("not covered: {path} ({})", skipped.why));
    }
    for line in lines {
        context.term.line(line).printed()?;
    }
    if let Some(refused) = &unsaved.refused {
        context.term.warn("a snapshot would be refused now");
        context.term.error(refused);
    }
    Ok(())
}

/// What `edio` alone shows: the status and what to try next, or how to start.
///
/// # Errors
///
/// git failed.
pub fn welcome(context: &mut Context) -> Result<u8> {
    match run(context, &Args {}) {
        Err(error) if error.kind() == Kind::NoRepository && !context.term.is_json() => {
            let lines = [
                "edio is an undo for coding agents and the people who use them.",
                "There is no git work tree here: go to one, or make one with git init.",
                "To keep the turns of this folder without git: edio init --store",
                "To see what it does, in a scratch repository: edio demo",
            ];
            for line in lines {
                context.term.line(line).printed()?;
            }
            Ok(0)
        }
        Err(error) => Err(error),
        Ok(code) => {
            // A store has no branch to accept on.
            let accept = match context.place.stores.near(&context.place.folder) {
                Some(_) => "",
                None => ", edio accept MSG",
            };
            context.term.hint(format!(
                "edio snapshot -m MSG, edio log, edio restore TURN{accept}; all: edio --help"
            ));
            Ok(code)
        }
    }
}
