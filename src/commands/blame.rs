//! `edio blame`: who wrote each line of a file.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use clap_complete::engine::ArgValueCompleter;

use super::arguments::lines::{Lines, asked_about};
use super::shown::owners::{View, seconds, what_for, who};
use super::{Context, Printed};
use crate::clock;
use crate::error::Result;
use crate::history::blame::{Follow, Line, Origin, Owner, Question, owners};
use crate::history::git::{Oid, RepoPath};
use crate::term::{style, text, time};

/// Say who wrote each line of a file
///
/// A line has the turn, step and prompt that it was written for, or the person, or a commit. The file is taken as it is on disk. Lines that were only moved, copied or formatted anew keep their owner. A commit
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
    let view = View::new(&workspace, session.as_ref(), &owners)?;
    context.page(&workspace);
    match (context.term.is_json(), args.porcelain) {
        (true, _) => print_json(context, &view)?,
        (false, true) => print_porcelain(context, &view)?,
        (false, false) => print_text(context, &view)?,
    }
    Ok(0)
}

fn print_text(context: &mut Context, view: &View<'_>) -> Result<()> {
    const REASON: usize = 36;
    const NAME: usize = 14;
    let commits = &view.owners.commits;
    let lines = &view.owners.lines;
    let places: Vec<String> = lines.iter().map(|line| view.place(&line.owner)).collect();
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
        let row = match view.owners.is_binary {
            true => format!("{start}  (binary)"),
            false => {
                let said = view.said(line);
                let said = said.strip_suffix(b"\r").unwrap_or(said);
                let said = text::plain_lines(said);
                format!("{start}  {:>digits$}  {said}", line.number)
            }
        };
        context.term.line(row.trim_end()).printed()?;
    }
    Ok(())
}

fn print_json(context: &mut Context, view: &View<'_>) -> Result<()> {
    for line in &view.owners.lines {
        context.term.record(&view.record(line)).printed()?;
    }
    Ok(())
}

/// In the format of `git blame --porcelain` (<https://git-scm.com/docs/git-blame#_the_porcelain_format>).
fn print_porcelain(context: &mut Context, view: &View<'_>) -> Result<()> {
    let lines = &view.owners.lines;
    let several = with_several_paths(lines);
    let mut told = BTreeSet::new();
    let goes_on = |line: &Line, next: &Line| {
        let (one, next) = (&line.origin, &next.origin);
        next.commit == one.commit && next.path == one.path && next.line == one.line + 1
    };
    for run in lines.chunk_by(goes_on) {
        for (at, line) in run.iter().enumerate() {
            let count = match at {
                0 => format!(" {}", run.len()),
                _ => String::new(),
            };
            let oid = &line.origin.commit;
            let shown = match line.owner {
                Owner::Unsaved => "0".repeat(oid.as_str().len()),
                _ => oid.as_str().to_owned(),
            };
            let mut out =
                format!("{shown} {} {}{count}\n", line.origin.line, line.number).into_bytes();
            let is_new = told.insert(oid);
            if is_new {
                out.extend(about(view, &line.owner));
            }
            if is_new || (at == 0 && several.contains(oid)) {
                out.extend(place_of(&line.origin));
            }
            out.push(b'\t');
            out.extend_from_slice(view.said(line));
            out.push(b'\n');
            context.term.copy(&mut out.as_slice()).printed()?;
        }
    }
    Ok(())
}

/// The commits whose lines come from several paths.
fn with_several_paths(lines: &[Line]) -> BTreeSet<&Oid> {
    let (mut paths, mut several) = (BTreeMap::new(), BTreeSet::new());
    for Origin { commit, path, .. } in lines.iter().map(|line| &line.origin) {
        if *paths.entry(commit).or_insert(path) != path {
            several.insert(commit);
        }
    }
    several
}

/// The name of the file, and the version before.
fn place_of(origin: &Origin) -> Vec<u8> {
    let name = |path: &RepoPath| text::path(path.as_bytes());
    let previous = origin.previous.as_ref();
    let previous = previous.map(|(commit, path)| format!("previous {commit} {}\n", name(path)));
    let filename = format!("filename {}\n", name(&origin.path));
    (previous.unwrap_or_default() + &filename).into_bytes()
}

fn about(view: &View<'_>, owner: &Owner) -> Vec<u8> {
    let commits = &view.owners.commits;
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
