//! `edio log`: the turns of a session.

mod graph;

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser as NotEmpty;
use serde::Serialize;

use self::graph::Graph;
use super::shown::calls::{self, CallRecord};
use super::shown::held::{name_damaged, name_foreign};
use super::shown::record::TurnRecord;
use super::shown::stat::stat;
use super::{Context, Printed, paths_meant};
use crate::clock;
use crate::error::{Error, Result};
use crate::history::compare::tree_now;
use crate::history::conversation::{self, Entry};
use crate::history::faults;
use crate::history::git::{Oid, PatchStyle};
use crate::history::refnames::Shelf;
use crate::history::search::Search;
use crate::history::session::{Lineage, Session};
use crate::history::turn::{Ending, Kind, Turn};
use crate::history::workspace::Workspace;
use crate::term::text::plural;
use crate::term::{style, text, time};

/// List the turns, the newest first.
///
/// The current one is marked with a star. Turns that the work tree went back from are dimmed; they are not lost.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio log\n  edio log -p src/main.rs\n  edio log --calls\n  edio log --since yesterday --agent claude\n  edio log --deleted \"fn greet\"\n  edio log --all --json"
)]
pub struct Args {
    /// Show what each turn changed.
    #[arg(short, long)]
    patch: bool,
    /// Show the steps of each turn.
    #[arg(long)]
    steps: bool,
    /// Show the uses of tools of each turn, also of those that changed nothing, with the first line of their results.
    #[arg(long)]
    calls: bool,
    /// Draw which turn grew from which.
    #[arg(long, conflicts_with_all = ["paths", "agent", "since", "changed", "deleted"])]
    graph: bool,
    /// Count the paths in which each turn differs from the work tree as it is now.
    #[arg(long)]
    distance: bool,
    /// Show all sessions, archived ones too.
    #[arg(long)]
    all: bool,
    /// Only turns of this agent.
    #[arg(long, value_name = "NAME", value_parser = NotEmpty::new())]
    agent: Option<String>,
    /// Only turns since this time, written as git takes it: "2 hours ago", yesterday, 2026-11-30.
    #[arg(long, value_name = "TIME", value_parser = NotEmpty::new())]
    since: Option<String>,
    /// Only turns that changed how often this text occurs.
    #[arg(short = 'S', value_name = "TEXT", allow_hyphen_values = true, value_parser = NotEmpty::new())]
    changed: Option<String>,
    /// Only turns that removed this text.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = NotEmpty::new())]
    deleted: Option<String>,
    /// Only turns that changed these files or folders, also under the names that they had before.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
}

#[derive(Serialize)]
struct Record {
    #[serde(flatten)]
    turn: TurnRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<Vec<CallRecord>>,
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
    let workspace = context.open_to_list()?;
    let paths = paths_meant(&workspace, &args.paths)?;
    let since = args.since.as_deref();
    let since = since.map(|time| seconds_of(&workspace, time));
    let search = Search {
        paths: &paths,
        agent: args.agent.as_deref(),
        since: since.transpose()?,
        changed: args.changed.as_deref(),
        deleted: args.deleted.as_deref(),
    };
    let sessions = match args.all {
        true => Session::all(&workspace)?,
        false => vec![faults::wanted(&workspace, context.session.as_ref())?],
    };
    context.page(&workspace);
    for session in sessions.iter().rev() {
        if args.all && !context.term.is_json() {
            heading(context, session)?;
        }
        name_damaged(&mut context.term, session);
        name_foreign(&mut context.term, session);
        let lineage = match args.needs_steps() {
            true => session.lineage(&workspace)?,
            false => session.lineage_of_turns(&workspace)?,
        };
        let list = List {
            workspace: &workspace,
            session,
            args,
            search: &search,
            line: on_the_line(session, &lineage),
            lineage: &lineage,
            now: now.as_ref(),
        };
        list.print(context)?;
    }
    Ok(0)
}

fn seconds_of(workspace: &Workspace, time: &str) -> Result<i64> {
    let seconds = workspace.git.seconds_of(time)?;
    seconds.ok_or_else(|| {
        Error::usage(format!("{time:?} is no time that git can make out"))
            .hint("write it as \"2 hours ago\", yesterday or 2026-11-30")
    })
}

impl Args {
    /// Must all snapshots be read? The turns alone are read faster.
    fn needs_steps(&self) -> bool {
        let searches = self.changed.is_some() || self.deleted.is_some() || !self.paths.is_empty();
        self.steps || self.patch || searches
    }

    fn is_search(&self) -> bool {
        let by_text = self.changed.is_some() || self.deleted.is_some();
        by_text || !self.paths.is_empty() || self.agent.is_some() || self.since.is_some()
    }
}

/// The list of one session.
struct List<'a> {
    workspace: &'a Workspace,
    session: &'a Session,
    args: &'a Args,
    search: &'a Search<'a>,
    line: BTreeSet<Oid>,
    lineage: &'a Lineage<'a>,
    now: Option<&'a Oid>,
}

impl List<'_> {
    fn print(&self, context: &mut Context) -> Result<()> {
        let turns = self
            .search
            .turns(self.workspace, self.session, self.lineage)?;
        if turns.is_empty() {
            let which = match self.args.is_search() {
                false => "no turn yet",
                true => "no such turn",
            };
            context.term.told(format!("{which} in {}", self.session.id));
        }
        let distances = self.distances(&turns)?;
        let said = match self.args.calls {
            true => conversation::of_each(self.workspace, &turns)?,
            false => vec![Vec::new(); turns.len()],
        };
        let mut graph = Graph::default();
        if !self.args.is_search() {
            self.print_open(context)?;
        }
        let turns = turns.into_iter().zip(distances).zip(said);
        for ((turn, distance), said) in turns.rev() {
            let drawing = match self.args.graph {
                true => graph.rows(turn, self.lineage, self.session),
                false => vec![String::new()],
            };
            if let Some((last, before)) = drawing.split_last() {
                if !context.term.is_json() {
                    for row in before {
                        context.term.line(row).printed()?;
                    }
                }
                let calls = self.args.calls.then(|| calls::of(&said));
                self.print_turn(context, turn, distance, calls, last)?;
            }
            self.print_below(context, turn, &said)?;
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
        let paths = self.search.paths;
        let counts = self.workspace.git.count_differences(&pairs, paths)?;
        Ok(counts.into_iter().map(Some).collect())
    }

    /// What is on the way to a turn that is still to come.
    fn print_open(&self, context: &mut Context) -> Result<()> {
        let current = self.session.current.as_ref();
        if self.args.calls && !context.term.is_json() {
            for call in calls::of(&conversation::open_in(self.workspace, self.session)?) {
                context.term.line(call.row()).printed()?;
            }
        }
        match current.filter(|current| current.note.kind == Kind::Step && self.args.steps) {
            Some(step) => {
                let (before, _) = self.lineage.before(step);
                self.print_steps(context, [step].into_iter().chain(before))
            }
            None => Ok(()),
        }
    }

    /// What a turn is made of, as far as it is wanted.
    fn print_below(&self, context: &mut Context, turn: &Turn, said: &[Entry]) -> Result<()> {
        let is_json = context.term.is_json();
        if !is_json {
            for call in calls::of(said) {
                context.term.line(call.row()).printed()?;
            }
        }
        if self.args.steps {
            let (steps, _) = self.lineage.before(turn);
            self.print_steps(context, steps.into_iter())?;
        } else if !is_json {
            for helper in turn.note.work.helpers.iter().rev() {
                let helper = text::plain(helper.as_bytes());
                let row = format!("         └ {helper}");
                context.term.line(style::dim(row)).printed()?;
            }
        }
        match self.args.patch && !is_json {
            true => self.print_patch(context, turn),
            false => Ok(()),
        }
    }

    fn print_steps<'t>(
        &self,
        context: &mut Context,
        steps: impl Iterator<Item = &'t Turn>,
    ) -> Result<()> {
        for step in steps {
            let drawing = match step.note.work.helpers.is_empty() || context.term.is_json() {
                true => "",
                false => "  └ ",
            };
            self.print_turn(context, step, None, None, drawing)?;
        }
        Ok(())
    }

    fn print_turn(
        &self,
        context: &mut Context,
        turn: &Turn,
        distance: Option<usize>,
        calls: Option<Vec<CallRecord>>,
        drawing: &str,
    ) -> Result<()> {
        let current = self.session.current.as_ref().map(|turn| &turn.commit);
        if context.term.is_json() {
            let turn = TurnRecord::new(turn, current);
            let record = Record {
                turn,
                distance,
                calls,
            };
            return context.term.record(&record).printed();
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

    fn print_patch(&self, context: &mut Context, turn: &Turn) -> Result<()> {
        let style = PatchStyle {
            color: context.term.styles_out(),
        };
        let before = self.lineage.tree_before(turn);
        let git = &self.workspace.git;
        let patch = git.patch(&before, &turn.tree, self.search.paths, &style)?;
        context.print_patch(patch)
    }
}

fn heading(context: &mut Context, session: &Session) -> Result<()> {
    let state = session.shelf.in_words();
    let line = format!("{} ({state})", style::heading(&session.id));
    context.term.line(line).printed()
}

/// The turns that the work tree grew from.
fn on_the_line(session: &Session, lineage: &Lineage<'_>) -> BTreeSet<Oid> {
    let mut line = BTreeSet::new();
    let mut next = session.current.as_ref();
    while let Some(turn) = next.filter(|turn| turn.note.kind != Kind::Baseline) {
        // What is read twice would lead in a circle.
        if !line.insert(turn.commit.clone()) {
            break;
        }
        next = lineage.before(turn).1;
    }
    line
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
    let mut stat = stat(&turn.note.stat);
    if turn.note.steps > 0 {
        stat += &format!(", {}", plural(turn.note.steps as usize, "step"));
    }
    let distance = distance.map(|count| format!("  {} from now", plural(count, "path")));
    let start = format!(
        "{mark} {:>4}  {:<14}  {agent:<10}  {stat}{}  ",
        style::turn(turn.number()),
        style::dim(age),
        distance.unwrap_or_default(),
    );
    let ending = match turn.note.work.ending {
        Some(Ending::Failed) => "failed: ",
        Some(Ending::Interrupted) => "interrupted: ",
        _ => "",
    };
    let subject = text::plain(turn.note.subject().as_bytes());
    let subject = format!("{ending}{subject}");
    let subject = match room {
        Some(room) => {
            let used = anstream::adapter::strip_str(&start).to_string();
            let left = room.saturating_sub(used.chars().count());
            text::shorten(&subject, left.max(20))
        }
        None => subject,
    };
    format!("{start}{subject}")
}
