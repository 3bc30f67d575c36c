//! `edio blame`: who wrote each line of a file.

use std::collections::BTreeMap;
use std::ffi::OsString;

use bstr::ByteSlice;
use clap_complete::engine::ArgValueCompleter;
use serde::Serialize;
use serde_json::Value;

use super::lines::{Lines, asked_about};
use super::{Context, Printed};
use crate::clock;
use crate::error::{Kind as ErrorKind, Result};
use crate::history::blame::{Follow, Line, Owner, Owners, Question, owners};
use crate::history::git::{Blamed, Oid};
use crate::history::session::Session;
use crate::history::turn::{Kind, Turn};
use crate::term::{json, style, text, time};

/// Say who wrote each line of a file: which turn, step and prompt, the person, or which commit.
///
/// The file is taken as it is on disk. Lines that were only moved, copied or formatted anew keep their owner. A commit
/// that a session was accepted as is looked through: its lines are told by the turns that wrote them.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio blame src/main.rs\n  edio blame src/main.rs:10-20\n  edio blame --strict --json src/main.rs"
)]
pub struct Args {
    /// The file, with :L or :L-M for some of its lines.
    #[arg(value_name = "FILE[:L[-M]]", add = ArgValueCompleter::new(super::completions::paths))]
    file: OsString,
    /// Name who touched a line last, if only to move it or to change its blanks.
    #[arg(long)]
    strict: bool,
    /// Print it as git blame --porcelain does.
    #[arg(long)]
    porcelain: bool,
}

/// Runs it.
///
/// # Errors
///
/// There is no such file, or it has fewer lines, or git failed.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    let (workspace, session, version) = asked_about(context)?;
    let lines = Lines::meant(&workspace, &args.file)?;
    let question = Question {
        path: &lines.path,
        lines: lines.numbers,
        follow: match args.strict {
            true => Follow::Nothing,
            false => Follow::Moves,
        },
    };
    let owners = owners(&workspace, &version, &question)?;
    let view = View {
        contents: contents(&owners),
        around: around(&workspace, &owners)?,
        session: session.as_ref(),
        owners: &owners,
    };
    context.page(&workspace);
    match (context.term.is_json(), args.porcelain) {
        (true, _) => view.json(context)?,
        (false, true) => view.porcelain(context)?,
        (false, false) => view.text(context)?,
    }
    Ok(0)
}

/// What each line says, without its end.
fn contents(owners: &Owners) -> Vec<&[u8]> {
    match owners.is_binary {
        true => Vec::new(),
        false => owners.content.lines_with_terminator().collect(),
    }
}

/// The numbers of the turns before and after those that are the person's.
type Around = BTreeMap<Oid, (Option<u32>, Option<u32>)>;

fn around(workspace: &crate::history::workspace::Workspace, owners: &Owners) -> Result<Around> {
    let mut sessions: BTreeMap<_, Option<Session>> = BTreeMap::new();
    let mut around = Around::new();
    for line in &owners.lines {
        let Owner::Human(turn) = &line.owner else {
            continue;
        };
        let id = &turn.note.session;
        if !sessions.contains_key(id) {
            let session = match Session::wanted(workspace, Some(id)) {
                Err(error) if error.kind() == ErrorKind::Cannot => None,
                other => Some(other?),
            };
            sessions.insert(id.clone(), session);
        }
        let numbers = sessions.get(id).and_then(Option::as_ref).map(|session| {
            let number = turn.number().turn;
            let before = session.turns.range(..number).next_back();
            let after = session.turns.range(number.saturating_add(1)..).next();
            (before.map(|(n, _)| *n), after.map(|(n, _)| *n))
        });
        around.insert(turn.commit.clone(), numbers.unwrap_or_default());
    }
    Ok(around)
}

/// What is shown.
struct View<'a> {
    owners: &'a Owners,
    contents: Vec<&'a [u8]>,
    around: Around,
    session: Option<&'a Session>,
}

#[derive(Serialize)]
struct Record<'a> {
    line: Option<u32>,
    text: Option<Value>,
    kind: &'static str,
    session: Option<&'a str>,
    turn: Option<u32>,
    step: Option<u32>,
    turn_kind: Option<String>,
    turn_before: Option<u32>,
    turn_after: Option<u32>,
    agent: Option<&'a str>,
    agent_session: Option<&'a str>,
    shared: &'a [String],
    prompt: Option<&'a str>,
    message: Option<&'a str>,
    tool: Option<&'a str>,
    tool_call: Option<&'a str>,
    commit: Option<&'a str>,
    author: Option<Value>,
    author_mail: Option<Value>,
    summary: Option<Value>,
    time: Option<String>,
    path: Value,
    original_line: Option<u32>,
}

/// What JSON calls an owner.
pub fn kind_of(owner: &Owner) -> &'static str {
    match owner {
        Owner::Turn(_) => "turn",
        Owner::Human(_) => "human",
        Owner::Shared(_) => "shared",
        Owner::Unknown(_) | Owner::Unsaved => "none",
        Owner::Commit(_) => "commit",
    }
}

/// Who, in a word or two.
pub fn who(owner: &Owner, commits: &BTreeMap<Oid, Blamed>) -> String {
    let name = match owner {
        Owner::Turn(turn) => turn
            .note
            .work
            .agent
            .clone()
            .unwrap_or_else(|| "-".to_owned()),
        Owner::Human(_) => "you".to_owned(),
        Owner::Shared(turn) => sharers(turn).join(", "),
        Owner::Unknown(_) => "?".to_owned(),
        Owner::Unsaved => "not yet".to_owned(),
        Owner::Commit(oid) => {
            let author = commits.get(oid).map(|about| about.author.as_slice());
            return text::plain(author.unwrap_or_default());
        }
    };
    text::plain(name.as_bytes())
}

/// Those between whom it can't be told.
fn sharers(turn: &Turn) -> Vec<String> {
    let work = &turn.note.work;
    let mut names: Vec<String> = work.agent.iter().chain(&work.shared).cloned().collect();
    if work.shared.is_empty() {
        names.push("you".to_owned());
    }
    names.dedup();
    names
}

/// What it was done for, in one line.
pub fn what_for(owner: &Owner, commits: &BTreeMap<Oid, Blamed>) -> String {
    let text = match owner {
        Owner::Turn(turn) | Owner::Shared(turn) | Owner::Human(turn) | Owner::Unknown(turn) => {
            return text::plain(reason(turn).as_bytes());
        }
        Owner::Unsaved => return "in no snapshot yet".to_owned(),
        Owner::Commit(oid) => commits.get(oid).map(|about| about.summary.as_slice()),
    };
    text::plain(text.unwrap_or_default())
}

fn reason(turn: &Turn) -> &str {
    match (turn.note.kind, &turn.note.work.prompt) {
        (Kind::Baseline, _) => "uncommitted when the session began",
        (_, Some(prompt)) => prompt,
        _ => turn.note.subject(),
    }
}

/// When, in seconds since 1970.
pub fn seconds(owner: &Owner, commits: &BTreeMap<Oid, Blamed>) -> Option<i64> {
    match owner {
        Owner::Commit(oid) => commits.get(oid).map(|about| about.author_seconds),
        owner => owner.turn().map(|turn| turn.seconds),
    }
}

impl View<'_> {
    fn said(&self, line: &Line) -> &[u8] {
        let at = (line.number as usize).checked_sub(1);
        at.and_then(|at| self.contents.get(at))
            .copied()
            .unwrap_or_default()
    }

    /// The turn, or the start of the commit's id.
    fn place(&self, owner: &Owner) -> String {
        match (owner, owner.turn()) {
            (_, Some(turn)) => {
                let id = &turn.note.session;
                let is_here = self.session.is_none_or(|session| &session.id == id);
                let other = id.as_str().rsplit('_').next().filter(|_| !is_here);
                let other = other.map(|other| format!(" of {other}"));
                format!("{}{}", turn.number(), other.unwrap_or_default())
            }
            (Owner::Commit(oid), None) => oid.short().to_owned(),
            _ => "-".to_owned(),
        }
    }

    fn text(&self, context: &mut Context) -> Result<()> {
        const REASON: usize = 36;
        const NAME: usize = 14;
        let commits = &self.owners.commits;
        let lines = &self.owners.lines;
        let places: Vec<String> = lines.iter().map(|line| self.place(&line.owner)).collect();
        let widest = |texts: &[String]| texts.iter().map(|t| t.chars().count()).max().unwrap_or(0);
        let names = lines
            .iter()
            .map(|line| text::shorten(&who(&line.owner, commits), NAME));
        let names: Vec<String> = names.collect();
        let (place_width, name_width) = (widest(&places), widest(&names));
        let digits = lines.last().map_or(1, |line| line.number.to_string().len());
        for ((line, place), name) in lines.iter().zip(&places).zip(&names) {
            let reason = text::shorten(&what_for(&line.owner, commits), REASON);
            let age = seconds(&line.owner, commits).map(|then| time::ago(clock::now(), then));
            let start = format!(
                "{}  {name:<name_width$}  {reason:<REASON$}  {:<14}",
                style::turn(format!("{place:>place_width$}")),
                style::dim(age.unwrap_or_default()),
            );
            let row = match self.owners.is_binary {
                true => format!("{start}  (binary)"),
                false => {
                    let said = text::plain_lines(self.said(line).trim_end_with(|c| c == '\n'));
                    let said = said.trim_end_matches("\\r");
                    format!("{start}  {:>digits$}  {said}", line.number)
                }
            };
            context.term.line(row.trim_end()).printed()?;
        }
        Ok(())
    }

    fn json(&self, context: &mut Context) -> Result<()> {
        for line in &self.owners.lines {
            context.term.record(&self.record(line)).printed()?;
        }
        Ok(())
    }

    fn record<'a>(&'a self, line: &'a Line) -> Record<'a> {
        let turn = line.owner.turn();
        let note = turn.map(|turn| &turn.note);
        let work = note.map(|note| &note.work);
        let about = match &line.owner {
            Owner::Commit(oid) => self.owners.commits.get(oid),
            _ => None,
        };
        let around = turn.and_then(|turn| self.around.get(&turn.commit));
        let is_saved = line.owner != Owner::Unsaved;
        let when = seconds(&line.owner, &self.owners.commits);
        let whole = self.owners.is_binary;
        Record {
            line: (!whole).then_some(line.number),
            text: (!whole).then(|| json::path(self.said(line).trim_end_with(|c| c == '\n'))),
            kind: kind_of(&line.owner),
            session: note.map(|note| note.session.as_str()),
            turn: note.map(|note| note.number.turn),
            step: note.and_then(|note| note.number.as_step()),
            turn_kind: note.map(|note| note.kind.to_string()),
            turn_before: around.and_then(|around| around.0),
            turn_after: around.and_then(|around| around.1),
            agent: work.and_then(|work| work.agent.as_deref()),
            agent_session: work.and_then(|work| work.agent_session.as_deref()),
            shared: work.map_or(&[], |work| work.shared.as_slice()),
            prompt: work.and_then(|work| work.prompt.as_deref()),
            message: note.map(|note| note.message.as_str()),
            tool: work.and_then(|work| work.tool.as_deref()),
            tool_call: work.and_then(|work| work.tool_call.as_deref()),
            commit: is_saved.then(|| line.origin.commit.as_str()),
            author: about.map(|about| json::path(&about.author)),
            author_mail: about.map(|about| json::path(without_brackets(&about.author_mail))),
            summary: about.map(|about| json::path(&about.summary)),
            time: when.map(time::rfc3339),
            path: json::path(line.origin.path.as_bytes()),
            original_line: (!whole && is_saved).then_some(line.origin.line),
        }
    }

    /// In the format of `git blame --porcelain` (<https://git-scm.com/docs/git-blame#_the_porcelain_format>).
    fn porcelain(&self, context: &mut Context) -> Result<()> {
        let mut told: Vec<&Oid> = Vec::new();
        let lines = &self.owners.lines;
        for (at, line) in lines.iter().enumerate() {
            let goes_on = |pair: &[Line]| {
                let (one, next) = (&pair[0].origin, &pair[1].origin);
                next.commit == one.commit && next.path == one.path && next.line == one.line + 1
            };
            let is_first = at == 0 || !goes_on(&lines[at - 1..=at]);
            let more = lines[at..]
                .windows(2)
                .take_while(|pair| goes_on(pair))
                .count();
            let count = match is_first {
                true => format!(" {}", more + 1),
                false => String::new(),
            };
            let oid = &line.origin.commit;
            let shown = match line.owner {
                Owner::Unsaved => "0".repeat(oid.as_str().len()),
                _ => oid.as_str().to_owned(),
            };
            let mut out =
                format!("{shown} {} {}{count}\n", line.origin.line, line.number).into_bytes();
            if is_first {
                if !told.contains(&oid) {
                    out.extend(self.about(&line.owner));
                    told.push(oid);
                }
                out.extend_from_slice(b"filename ");
                out.extend_from_slice(text::path(line.origin.path.as_bytes()).as_bytes());
                out.push(b'\n');
            }
            out.push(b'\t');
            out.extend_from_slice(self.said(line).trim_end_with(|c| c == '\n'));
            out.push(b'\n');
            context.term.copy(&mut out.as_slice()).printed()?;
        }
        Ok(())
    }

    fn about(&self, owner: &Owner) -> Vec<u8> {
        let commits = &self.owners.commits;
        let (mail, zone) = match owner {
            Owner::Commit(oid) => commits
                .get(oid)
                .map_or((&b"<>"[..], &b"+0000"[..]), |about| {
                    (about.author_mail.as_slice(), about.author_zone.as_slice())
                }),
            Owner::Unsaved => (&b"<not.committed.yet>"[..], &b"+0000"[..]),
            _ => (&b"<edio@localhost>"[..], &b"+0000"[..]),
        };
        let seconds = seconds(owner, commits)
            .unwrap_or_else(clock::now)
            .to_string();
        let mut out = Vec::new();
        for role in ["author", "committer"] {
            let name = who(owner, commits);
            let parts = [
                ("", name.as_bytes()),
                ("-mail", mail),
                ("-time", seconds.as_bytes()),
                ("-tz", zone),
            ];
            for (part, value) in parts {
                out.extend_from_slice(format!("{role}{part} ").as_bytes());
                out.extend_from_slice(value);
                out.push(b'\n');
            }
        }
        out.extend_from_slice(format!("summary {}\n", what_for(owner, commits)).as_bytes());
        out
    }
}

fn without_brackets(mail: &[u8]) -> &[u8] {
    let inner = mail.strip_prefix(b"<").unwrap_or(mail);
    inner.strip_suffix(b">").unwrap_or(inner)
}
