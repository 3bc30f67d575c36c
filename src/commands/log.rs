//! `edio log`: the turns of a session.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Serialize;

use super::record::TurnRecord;
use super::{Context, Printed, paths_meant, plural, stat};
use crate::clock;
use crate::error::Result;
use crate::history::compare::{changed_by, tree_now, turns_that_changed};
use crate::history::git::{Oid, PatchStyle, RepoPath};
use crate::history::refnames::Shelf;
use crate::history::session::Session;
use crate::history::turn::{Kind, Turn};
use crate::history::workspace::Workspace;
use crate::term::{style, text, time};

/// List the turns, the newest first.
///
/// The current one is marked with a star. Turns that the work tree went back from are dimmed; they are not lost.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio log\n  edio log -p src/main.rs\n  edio log --graph\n  edio log --all --json"
)]
pub struct Args {
    /// Show what each turn changed.
    #[arg(short, long)]
    patch: bool,
    /// Show the steps of each turn.
    #[arg(long)]
    steps: bool,
    /// Draw which turn grew from which.
    #[arg(long, conflicts_with = "paths")]
    graph: bool,
    /// Count the paths in which each turn differs from the work tree as it is now.
    #[arg(long)]
    distance: bool,
    /// Show all sessions, archived ones too.
    #[arg(long)]
    all: bool,
    /// Only turns that changed these files or folders.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
}

#[derive(Serialize)]
struct Record {
    #[serde(flatten)]
    turn: TurnRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<usize>,
}

/// Runs it.
///
/// # Errors
///
/// There is no session, or git failed.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    let now = match args.distance {
        true => Some(tree_now(&context.open_locked()?)?),
        false => None,
    };
    let workspace = context.open()?;
    let paths = paths_meant(&workspace, &args.paths)?;
    let sessions = match args.all {
        true => Session::all(&workspace)?,
        false => vec![Session::wanted(&workspace, context.session.as_ref())?],
    };
    context.page(&workspace);
    for session in sessions.iter().rev() {
        if args.all && !context.term.is_json() {
            heading(context, session)?;
        }
        let list = List {
            workspace: &workspace,
            session,
            args,
            paths: &paths,
            line: on_the_line(&workspace, session)?,
            now: now.as_ref(),
        };
        list.print(context)?;
    }
    Ok(0)
}

/// The list of one session.
struct List<'a> {
    workspace: &'a Workspace,
    session: &'a Session,
    args: &'a Args,
    paths: &'a [RepoPath],
    line: BTreeSet<Oid>,
    now: Option<&'a Oid>,
}

impl List<'_> {
    fn print(&self, context: &mut Context) -> Result<()> {
        let turns = turns_that_changed(self.workspace, self.session, self.paths)?;
        if turns.is_empty() {
            let which = match self.paths.is_empty() {
                true => "no turn yet",
                false => "no turn changed that",
            };
            context.term.told(format!("{which} in {}", self.session.id));
        }
        let distances = self.distances(&turns)?;
        let mut graph = Graph::default();
        // Steps on the way to a turn that is still to come.
        self.print_steps(context, self.session.last().saturating_add(1))?;
        for (turn, distance) in turns.into_iter().zip(distances).rev() {
            let drawing = match self.args.graph {
                true => graph.rows(turn, self.workspace, self.session),
                false => vec![String::new()],
            };
            if let Some((last, before)) = drawing.split_last() {
                if !context.term.is_json() {
                    for row in before {
                        context.term.line(row).printed()?;
                    }
                }
                self.print_turn(context, turn, distance, last)?;
            }
            self.print_steps(context, turn.number().turn)?;
            if self.args.patch && !context.term.is_json() {
                patch(context, self.workspace, self.session, turn, self.paths)?;
            }
        }
        Ok(())
    }

    fn distances(&self, turns: &[&Turn]) -> Result<Vec<Option<usize>>> {
        let Some(now) = self.now else {
            return Ok(vec![None; turns.len()]);
        };
        let pairs: Vec<_> = turns
            .iter()
            .map(|turn| (turn.tree.clone(), now.clone()))
            .collect();
        let counts = self.workspace.git.count_differences(&pairs, self.paths)?;
        Ok(counts.into_iter().map(Some).collect())
    }

    fn print_steps(&self, context: &mut Context, number: u32) -> Result<()> {
        if !self.args.steps {
            return Ok(());
        }
        for step in self.session.steps(self.workspace, number)?.iter().rev() {
            self.print_turn(context, step, None, "")?;
        }
        Ok(())
    }

    fn print_turn(
        &self,
        context: &mut Context,
        turn: &Turn,
        distance: Option<usize>,
        drawing: &str,
    ) -> Result<()> {
        let current = self.session.current.as_ref().map(|turn| &turn.commit);
        if context.term.is_json() {
            let turn = TurnRecord::new(turn, current);
            return context.term.record(&Record { turn, distance }).printed();
        }
        let left = self.session.shelf == Shelf::Active
            && turn.note.kind != Kind::Step
            && !self.line.contains(&turn.commit);
        let room = match context.term.out_is_terminal() {
            true => Some(context.term.width()),
            false => None,
        };
        let row = row(turn, current == Some(&turn.commit), distance, room);
        let row = match left {
            true => style::dim(anstream::adapter::strip_str(&row)).to_string(),
            false => row,
        };
        context.term.line(format!("{drawing}{row}")).printed()
    }
}

fn heading(context: &mut Context, session: &Session) -> Result<()> {
    let state = match session.shelf {
        Shelf::Active => "active",
        Shelf::Archive => "archived",
    };
    let line = format!("{} ({state})", style::heading(&session.id));
    context.term.line(line).printed()
}

/// The turns that the work tree grew from.
fn on_the_line(workspace: &Workspace, session: &Session) -> Result<BTreeSet<Oid>> {
    let mut line = BTreeSet::new();
    let mut next = session.current.clone();
    let first = session.turns.values().next();
    while let Some(turn) = next.filter(|turn| turn.note.kind != Kind::Baseline) {
        line.insert(turn.commit.clone());
        // Before it there is no turn to be listed: git need not be asked.
        if first == Some(&turn) {
            break;
        }
        let parent = turn.parent.as_ref().and_then(|oid| session.by_commit(oid));
        next = match parent {
            Some(parent) => Some(parent.clone()),
            None => session.before(workspace, &turn).ok(),
        };
    }
    Ok(line)
}

fn row(turn: &Turn, is_current: bool, distance: Option<usize>, room: Option<usize>) -> String {
    let mark = match is_current {
        true => style::current("*").to_string(),
        false => " ".to_owned(),
    };
    let age = time::ago(clock::now(), turn.seconds);
    let agent = match (&turn.note.work.agent, turn.note.kind) {
        (Some(agent), _) => agent.clone(),
        (None, Kind::Human) => "you".to_owned(),
        (None, Kind::Safety) => "edio".to_owned(),
        (None, _) => "-".to_owned(),
    };
    let agent = text::shorten(&text::plain(agent.as_bytes()), 10);
    let stat = stat(&turn.note.stat);
    let distance = distance.map(|count| format!("  {} from now", plural(count, "path")));
    let start = format!(
        "{mark} {:>4}  {:<14}  {agent:<10}  {stat}{}  ",
        style::turn(turn.number()),
        style::dim(age),
        distance.unwrap_or_default(),
    );
    let subject = text::plain(turn.note.subject().as_bytes());
    let used = anstream::adapter::strip_str(&start)
        .to_string()
        .chars()
        .count();
    let subject = match room {
        Some(room) => text::shorten(&subject, room.saturating_sub(used).max(20)),
        None => subject,
    };
    format!("{start}{subject}")
}

/// Which turn grew from which, drawn beside the list.
#[derive(Default)]
struct Graph {
    /// What each column waits for: the turn that the one above it grew from.
    columns: Vec<Oid>,
}

impl Graph {
    /// The rows before a turn, where columns meet, and the one that the turn stands on.
    fn rows(&mut self, turn: &Turn, workspace: &Workspace, session: &Session) -> Vec<String> {
        let mut rows = Vec::new();
        let waiting = |columns: &[Oid]| columns.iter().position(|oid| oid == &turn.commit);
        let column = waiting(&self.columns).unwrap_or_else(|| {
            self.columns.push(turn.commit.clone());
            self.columns.len() - 1
        });
        while let Some(other) = self.columns.iter().rposition(|oid| oid == &turn.commit) {
            if other == column {
                break;
            }
            self.columns.remove(other);
            // The column leans over, one place a row, and crosses those in between.
            for place in (column + 1..=other).rev() {
                let bars = (0..self.columns.len()).map(|at| match at + 1 == place {
                    true => "|/",
                    false => "| ",
                });
                rows.push(bars.collect::<String>().trim_end().to_owned());
            }
        }
        let bar = |at: usize| match at == column {
            true => "o ",
            false => "| ",
        };
        rows.push((0..self.columns.len()).map(bar).collect());
        match grew_from(turn, workspace, session) {
            Some(parent) => self.columns[column] = parent,
            None => {
                self.columns.remove(column);
            }
        }
        rows
    }
}

/// The numbered turn that this one grew from; `None` for the first.
fn grew_from(turn: &Turn, workspace: &Workspace, session: &Session) -> Option<Oid> {
    let before = session.before(workspace, turn).ok()?;
    let is_turn = before.number().turn > 0 && before.note.session == session.id;
    is_turn.then_some(before.commit)
}

fn patch(
    context: &mut Context,
    workspace: &Workspace,
    session: &Session,
    turn: &Turn,
    paths: &[RepoPath],
) -> Result<()> {
    let sides = changed_by(workspace, session, turn)?;
    let style = PatchStyle {
        color: context.term.styles_out(),
    };
    let patch = workspace.git.patch(&sides.old, &sides.new, paths, &style)?;
    context.print_patch(patch)
}
