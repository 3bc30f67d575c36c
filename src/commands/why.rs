//! `edio why`: the story of one line.

use std::ffi::OsString;

use clap_complete::engine::ArgValueCompleter;
use serde::Serialize;
use serde_json::Value;

use super::arguments::lines::{Lines, asked_about};
use super::shown::owners::{LineRecord, NOBODY, View, seconds, what_for, who};
use super::{Context, Printed};
use crate::clock;
use crate::error::{Error, Result};
use crate::history::blame::story::{self, Earlier, Said};
use crate::history::blame::{Follow, Line, Owner, Question, owners};
use crate::history::git::{Hunk, RepoPath};
use crate::history::session::Session;
use crate::history::turn::Turn;
use crate::history::workspace::Workspace;
use crate::shell;
use crate::term::{json, style, text, time};

/// Tell the story of one line of a file
///
/// What it was written for, what it replaced there, who wrote that, and how to go back to before it.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  edio why src/main.rs:12\n  edio why src/main.rs:12 --json")]
pub struct Args {
    /// The line.
    #[arg(value_name = "FILE:L", add = ArgValueCompleter::new(super::completions::paths))]
    line: OsString,
}

#[derive(Serialize)]
struct Record<'a> {
    #[serde(flatten)]
    line: LineRecord<'a>,
    prompt_text: Option<&'a str>,
    reply: Option<&'a str>,
    hunk: Option<Vec<Value>>,
    earlier: Vec<LineRecord<'a>>,
    back: Option<Vec<Value>>,
}

/// Runs it.
///
/// # Errors
///
/// There is no such line, or git failed.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    let (workspace, session, version) = asked_about(context)?;
    let lines = Lines::meant(&workspace, &args.line)?;
    let number = lines.numbers.as_ref().map(|range| *range.start());
    let question = Question {
        path: &lines.path,
        lines: number.map(|number| number..=number),
        follow: Follow::Moves,
    };
    let found = owners(&workspace, &version, &question)?;
    if number.is_none() && !found.is_binary {
        return Err(Error::usage(format!("which line of {}?", lines.path))
            .hint(format!("write it after a colon: edio why {}:1", lines.path)));
    }
    let view = View::new(&workspace, session.as_ref(), &found)?;
    let line = found.lines.first();
    let line = line.ok_or_else(|| Error::cannot(format!("{} is empty", lines.path)))?;
    let story = Story::of(&workspace, session.as_ref(), line, &lines.path)?;
    context.page(&workspace);
    match context.term.is_json() {
        true => story.print_json(context, &workspace, &view, line)?,
        false => story.print(context, &workspace, &view, line)?,
    }
    Ok(0)
}

/// What is told beside the line and its owner.
struct Story {
    said: Said,
    hunk: Option<Hunk>,
    earlier: Vec<Earlier>,
    /// The command that goes back to before it, in words that a shell need not read.
    back: Option<Vec<Vec<u8>>>,
}

impl Story {
    fn of(
        workspace: &Workspace,
        here: Option<&Session>,
        line: &Line,
        path: &RepoPath,
    ) -> Result<Self> {
        let turn = line.owner.turn();
        let session = turn.map(|turn| story::session_of(workspace, turn));
        let session = session.transpose()?.flatten();
        let of_turn = turn.zip(session.as_ref());
        let said = of_turn.map(|(turn, session)| story::said_for(workspace, session, turn));
        let is_saved = line.owner != Owner::Unsaved;
        Ok(Self {
            said: said.transpose()?.unwrap_or_default(),
            hunk: story::hunk_of(workspace, &line.origin)?,
            earlier: story::earlier(workspace, &line.origin)?,
            back: match (is_saved, of_turn) {
                (false, _) => here.map(|_| words(workspace, &["edio", "restore", "@", "-f"], path)),
                (true, Some((turn, session))) => back(workspace, here, session, turn, path)?,
                (true, None) => None,
            },
        })
    }

    fn print(
        &self,
        context: &mut Context,
        workspace: &Workspace,
        view: &View<'_>,
        line: &Line,
    ) -> Result<()> {
        let mut rows = head(view, line);
        part(&mut rows, "prompt", self.said.prompt.as_deref());
        part(&mut rows, "closing words", self.said.reply.as_deref());
        if let Some(hunk) = &self.hunk {
            rows.push(style::heading("what it changed there").to_string());
            rows.extend(changed(hunk, line.origin.line));
            rows.push(String::new());
        }
        if !self.earlier.is_empty() {
            rows.push(style::heading("before that, at this place").to_string());
            for earlier in &self.earlier {
                let view = View::new(workspace, None, &earlier.owners)?;
                rows.extend(earlier.line().map(|line| in_one_row(&view, line)));
            }
            rows.push(String::new());
        }
        for row in rows {
            context.term.line(row).printed()?;
        }
        if let Some(back) = &self.back {
            let shown: Vec<String> = back.iter().map(|word| shell::word(word)).collect();
            context
                .term
                .hint(format!("to go back to before it: {}", shown.join(" ")));
        }
        Ok(())
    }

    fn print_json(
        &self,
        context: &mut Context,
        workspace: &Workspace,
        view: &View<'_>,
        line: &Line,
    ) -> Result<()> {
        let views = self
            .earlier
            .iter()
            .map(|e| View::new(workspace, None, &e.owners));
        let views: Vec<View<'_>> = views.collect::<Result<_>>()?;
        let earlier = views.iter().zip(&self.earlier);
        let earlier = earlier.filter_map(|(view, earlier)| Some(view.record(earlier.line()?)));
        let texts = |lines: &[Vec<u8>]| lines.iter().map(|line| json::path(line)).collect();
        let record = Record {
            line: view.record(line),
            prompt_text: self.said.prompt.as_deref(),
            reply: self.said.reply.as_deref(),
            hunk: self.hunk.as_ref().map(|hunk| texts(&hunk.lines)),
            earlier: earlier.collect(),
            back: self.back.as_deref().map(texts),
        };
        context.term.record(&record).printed()
    }
}

fn head(view: &View<'_>, line: &Line) -> Vec<String> {
    let commits = &view.owners.commits;
    let said = text::plain_lines(view.said(line));
    let place = match &line.owner {
        Owner::Commit(_) => format!("commit {}", view.place(&line.owner)),
        Owner::Unsaved => "in no snapshot yet".to_owned(),
        owner => format!("turn {}", view.place(owner)),
    };
    let mut rows = vec![said, String::new(), style::turn(place).to_string()];
    let mut row = |name: &str, value: String| rows.push(format!("{name:<8}{value}"));
    if line.owner != Owner::Unsaved {
        let by = who(&line.owner, commits);
        if by != NOBODY {
            row("by", by);
        }
        row("for", what_for(&line.owner, commits));
    }
    if let Some(then) = seconds(&line.owner, commits) {
        row(
            "when",
            format!("{} ({})", time::local(then), time::ago(clock::now(), then)),
        );
    }
    if let Some(turn) = line.owner.turn() {
        row("session", turn.note.session.to_string());
        let work = &turn.note.work;
        for (name, value) in [("tool", &work.tool), ("model", &work.model)] {
            if let Some(value) = value {
                row(name, text::plain(value.as_bytes()));
            }
        }
        row("commit", turn.commit.to_string());
    }
    rows.push(String::new());
    rows
}

fn part(rows: &mut Vec<String>, name: &str, said: Option<&str>) {
    let Some(said) = said.filter(|said| !said.trim().is_empty()) else {
        return;
    };
    rows.push(style::heading(name).to_string());
    let lines = text::plain_lines(said.trim_end().as_bytes());
    rows.extend(lines.lines().map(|line| format!("    {line}")));
    rows.push(String::new());
}

/// The lines that went, and those that came, near to the one that is asked about.
fn changed(hunk: &Hunk, line: u32) -> Vec<String> {
    const NEAR: usize = 10;
    let came = line.saturating_sub(hunk.new.start) as usize;
    let (old, new): (Vec<_>, Vec<_>) = hunk.lines.iter().partition(|line| line.starts_with(b"-"));
    let near = |lines: Vec<&Vec<u8>>, at: usize| {
        let first = at.saturating_sub(NEAR);
        let lines = lines.into_iter().skip(first).take(2 * NEAR + 1);
        lines
            .map(|line| text::plain_lines(line))
            .collect::<Vec<_>>()
    };
    let went = near(old, came)
        .into_iter()
        .map(|line| format!("    {}", style::removed(line)));
    let came = near(new, came)
        .into_iter()
        .map(|line| format!("    {}", style::added(line)));
    went.chain(came).collect()
}

fn in_one_row(view: &View<'_>, line: &Line) -> String {
    let commits = &view.owners.commits;
    let age = seconds(&line.owner, commits).map(|then| time::ago(clock::now(), then));
    format!(
        "    {}  {}  {}  {}  {}",
        style::turn(view.place(&line.owner)),
        who(&line.owner, commits),
        text::shorten(&what_for(&line.owner, commits), 36),
        style::dim(age.unwrap_or_default()),
        text::plain_lines(view.said(line)),
    )
}

fn back(
    workspace: &Workspace,
    here: Option<&Session>,
    session: &Session,
    turn: &Turn,
    path: &RepoPath,
) -> Result<Option<Vec<Vec<u8>>>> {
    let Some(before) = story::snapshot_before(workspace, session, turn)? else {
        return Ok(None);
    };
    // A path that a turn lacks can't be brought back from it.
    if !workspace.git.tree_has(&before.tree, path)? {
        return Ok(None);
    }
    let number = before.number().to_string();
    let is_here = here.is_some_and(|here| here.id == before.note.session);
    let mut command = vec!["edio", "restore", &number];
    if !is_here {
        command.extend(["--session", before.note.session.as_str()]);
    }
    command.push("-f");
    Ok(Some(words(workspace, &command, path)))
}

/// The command with the path, as it is written where the person stands.
fn words(workspace: &Workspace, command: &[&str], path: &RepoPath) -> Vec<Vec<u8>> {
    let prefix = workspace.prefix.split(|byte| *byte == b'/');
    let prefix: Vec<&[u8]> = prefix.filter(|part| !part.is_empty()).collect();
    let parts: Vec<&[u8]> = path.as_bytes().split(|byte| *byte == b'/').collect();
    let pairs = prefix.iter().zip(&parts);
    let shared = pairs.take_while(|(one, other)| one == other).count();
    let up = prefix[shared..].iter().map(|_| &b".."[..]);
    let way: Vec<&[u8]> = up.chain(parts[shared..].iter().copied()).collect();
    let command = command.iter().map(|word| word.as_bytes().to_vec());
    command.chain([way.join(&b'/')]).collect()
}
