//! `edio sessions`: list them, or put one away.

use std::collections::{BTreeMap, BTreeSet};

use clap_complete::engine::ArgValueCompleter;
use serde::Serialize;
use serde_json::Value;

use super::shown::first::NAMED;
use super::shown::held::name_foreign;
use super::{Context, Printed, moment};
use crate::clock;
use crate::error::{Error, Result, first_of};
use crate::history::archive::close;
use crate::history::git::{Oid, short_branch};
use crate::history::limits::{TooMuch, size};
use crate::history::overlap::{self, Overlap, overlaps};
use crate::history::prompt;
use crate::history::refnames::{SessionId, Shelf};
use crate::history::session::Session;
use crate::history::snapshot::{Request, Unchanged, take};
use crate::history::turn::{Kind, Turn, Work};
use crate::history::workspace::Workspace;
use crate::term::text::plural;
use crate::term::{style, text, time};

/// List the sessions, or put one away without committing.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  edio sessions\n  edio sessions --close")]
pub struct Args {
    /// Put a session away: the one under way here, or the one of this id.
    #[arg(
        long,
        value_name = "ID",
        num_args = 0..=1,
        add = ArgValueCompleter::new(super::completions::active_sessions)
    )]
    #[expect(clippy::option_option, reason = "the flag may stand without its value")]
    close: Option<Option<SessionId>>,
}

#[derive(Serialize)]
struct Record {
    session: String,
    state: &'static str,
    here: bool,
    worktree: Option<String>,
    branch: Option<String>,
    turns: usize,
    files: Option<usize>,
    overlaps: Vec<OverlapRecord>,
    agents: Vec<String>,
    began: Option<String>,
    last_used: Option<String>,
    bytes: Option<u64>,
}

/// Another session under way that has changed the same.
#[derive(Serialize)]
struct OverlapRecord {
    session: String,
    paths: Value,
}

/// Runs it.
///
/// # Errors
///
/// There is no such session, it is another work tree's, or git failed.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    match &args.close {
        Some(id) => put_away(context, id.as_ref()),
        None => list(context),
    }
}

fn put_away(context: &mut Context, id: Option<&SessionId>) -> Result<u8> {
    let mut workspace = context.open_to_change()?;
    let own = Session::active(&workspace)?;
    let is_own = own
        .as_ref()
        .is_some_and(|own| id.is_none_or(|id| id == &own.id));
    let session = match id {
        Some(id) if !is_own => foreign(&workspace, id)?,
        _ => own.ok_or_else(|| {
            Error::cannot("there is no session to close").hint("edio sessions lists them")
        })?,
    };
    let id = session.id.clone();
    let session = match is_own {
        true => with_unsaved(&mut workspace, session)?,
        false => session,
    };
    close(&mut workspace, session, moment()?)?;
    if context.term.is_json() {
        let record = serde_json::json!({ "closed": id.as_str() });
        context.term.record(&record).printed()?;
        return Ok(0);
    }
    context.term.told(format!("the session {id} is archived"));
    if is_own {
        context.term.hint("to undo it: edio undo");
    }
    Ok(0)
}

/// What was done since the last turn goes into the session before it is put away.
fn with_unsaved(
    workspace: &mut crate::history::workspace::Locked,
    session: Session,
) -> Result<Session> {
    let moment = moment()?;
    let request = Request {
        kind: Kind::Human,
        message: None,
        unchanged: Unchanged::Skip,
        work: Work {
            shared: prompt::at_work(&workspace.state, moment.seconds),
            ..Work::default()
        },
        moment,
    };
    let mut session = session;
    if let Some(turn) = take(workspace, &request, TooMuch::Refuse)?.turn {
        session.grow(&turn);
    }
    Ok(session)
}

/// A session of another work tree: only where that one is gone.
fn foreign(workspace: &Workspace, id: &SessionId) -> Result<Session> {
    let found = Session::load(workspace, Shelf::Active, id)?;
    let session = found.ok_or_else(|| {
        Error::cannot(format!("there is no session {id} under way"))
            .hint("edio sessions lists them")
    })?;
    let worktree = worktree_of(&session);
    let linked = workspace.linked()?;
    let gone = worktree.as_ref().is_some_and(|name| {
        let mut linked = linked.iter().filter_map(|folder| folder.file_name());
        name != "." && linked.all(|other| other != name.as_str())
    });
    if gone || worktree.as_ref() == Some(&workspace.name) {
        return Ok(session);
    }
    let name = worktree.unwrap_or_default();
    Err(
        Error::refused(format!("{id} is the session of another work tree, {name}"))
            .hint("close it there"),
    )
}

fn worktree_of(session: &Session) -> Option<String> {
    let turns = session.turns.values().rev().chain(&session.current);
    turns.map(|turn| turn.note.worktree.clone()).next()
}

/// What each session needs on disk. Where one can't be measured, it is said which.
fn sizes(context: &mut Context, workspace: &Workspace, sessions: &[Session]) -> Vec<Option<u64>> {
    let tips = |session: &Session| session.refs.iter().map(|(_, oid)| oid.clone()).collect();
    let tips: Vec<Vec<Oid>> = sessions.iter().map(tips).collect();
    if let Ok(sizes) = workspace.git.disk_usages(&tips) {
        return sizes.into_iter().map(Some).collect();
    }
    let each = sessions.iter().zip(&tips).map(|(session, tips)| {
        let measured = workspace.git.disk_usages(std::slice::from_ref(tips));
        let only = measured.map(|sizes| sizes.first().copied());
        only.unwrap_or_else(|error| {
            let what = format!("the size of {} can't be measured", session.id);
            context.term.warn(what);
            context.term.error(&error.into());
            None
        })
    });
    each.collect()
}

fn list(context: &mut Context) -> Result<u8> {
    let workspace = context.open()?;
    let here = Session::active(&workspace)?.map(|session| session.id);
    let mut sessions = Session::all(&workspace)?;
    // What came back of a session of this repository's own is that session, unless it has more.
    let own = sessions.iter().filter(|s| s.shelf != Shelf::Shared);
    let own: BTreeMap<_, _> = own.map(|s| (s.id.clone(), s.last())).collect();
    let is_own = |s: &Session| own.get(&s.id).is_some_and(|last| *last >= s.last());
    sessions.retain(|s| s.shelf != Shelf::Shared || !is_own(s));
    sessions.sort_by_key(last_used);
    let changed = overlap::changed(&workspace, &sessions)?;
    let overlaps = overlaps(&workspace, &sessions, &changed)?;
    context.page(&workspace);
    let sizes = sizes(context, &workspace, &sessions);
    let listed = sessions.iter().zip(&changed).zip(sizes);
    for ((session, changed), bytes) in listed.rev() {
        let is_here = here.as_ref() == Some(&session.id) && session.shelf == Shelf::Active;
        match context.term.is_json() {
            true => context
                .term
                .record(&Record {
                    files: changed.as_ref().map(Vec::len),
                    overlaps: overlaps
                        .iter()
                        .filter_map(|o| with(o, &session.id))
                        .collect(),
                    ..record(session, is_here, bytes)
                })
                .printed()?,
            false => context
                .term
                .line(row(session, is_here, changed.as_ref().map(Vec::len), bytes))
                .printed()?,
        }
    }
    if !context.term.is_json() {
        overlaps
            .iter()
            .for_each(|overlap| warn_of(context, overlap));
    }
    for session in &sessions {
        name_foreign(&mut context.term, session);
    }
    if sessions.is_empty() {
        context.term.told("there is no session yet");
        context
            .term
            .hint("the first turn begins one: edio snapshot -m \"start\"");
    }
    Ok(0)
}

fn with(overlap: &Overlap, id: &SessionId) -> Option<OverlapRecord> {
    let other = match (&overlap.one == id, &overlap.other == id) {
        (true, _) => &overlap.other,
        (_, true) => &overlap.one,
        _ => return None,
    };
    Some(OverlapRecord {
        session: other.to_string(),
        paths: super::shown::record::paths(&overlap.paths),
    })
}

fn warn_of(context: &mut Context, overlap: &Overlap) {
    let paths = overlap.paths.iter();
    let paths = first_of(NAMED, paths.map(|path| text::path(path.as_bytes())));
    context.term.warn(format!(
        "{} and {} have both changed {paths}",
        overlap.one, overlap.other
    ));
}

fn last_used(session: &Session) -> Option<i64> {
    let turns = session.turns.values().chain(&session.current);
    turns.map(|turn| turn.seconds).max()
}

fn agents(session: &Session) -> Vec<String> {
    let agents = session
        .turns
        .values()
        .filter_map(|turn| turn.note.work.agent.clone());
    agents.collect::<BTreeSet<_>>().into_iter().collect()
}

fn branch(session: &Session) -> Option<&str> {
    let last: Option<&Turn> = session
        .turns
        .values()
        .next_back()
        .or(session.current.as_ref());
    last.and_then(|turn| turn.note.head.branch.as_deref())
}

fn record(session: &Session, here: bool, bytes: Option<u64>) -> Record {
    let began = session.turns.values().map(|turn| turn.seconds).min();
    Record {
        session: session.id.to_string(),
        state: session.shelf.in_words(),
        here,
        worktree: worktree_of(session),
        branch: branch(session).map(str::to_owned),
        turns: session.turns.len(),
        files: None,
        overlaps: Vec::new(),
        agents: agents(session),
        began: began.map(time::rfc3339),
        last_used: last_used(session).map(time::rfc3339),
        bytes,
    }
}

fn row(session: &Session, here: bool, files: Option<usize>, bytes: Option<u64>) -> String {
    let mark = match here {
        true => style::current("*").to_string(),
        false => " ".to_owned(),
    };
    let age = last_used(session).map_or_else(String::new, |then| time::ago(clock::now(), then));
    let branch = short_branch(branch(session).unwrap_or("HEAD"));
    let branch = text::plain(branch.as_bytes());
    let agents = text::plain(agents(session).join(", ").as_bytes());
    format!(
        "{mark} {}  {:<8}  {age:<16} {branch}  {}{}  {}  {agents}",
        style::turn(&session.id),
        session.shelf.in_words(),
        plural(session.turns.len(), "turn"),
        files.map_or_else(String::new, |files| format!(", {}", plural(files, "file"))),
        bytes.map_or("?".to_owned(), size)
    )
    .trim_end()
    .to_owned()
}
