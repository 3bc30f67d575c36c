//! `edio completions`: what a shell needs to complete edio's words; and what it is told while a person types.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::Command;
use clap_complete::engine::CompletionCandidate;
use clap_complete::{Shell, generate};

use super::{Context, Printed, stores};
use crate::env;
use crate::error::Result;
use crate::history::git::Group;
use crate::history::lock::Patience;
use crate::history::refnames::Shelf;
use crate::history::session::Session;
use crate::history::workspace::{Place, Workspace};
use crate::term::text;

/// Print the completion script for a shell.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio completions bash > ~/.local/share/bash-completion/completions/edio\n  edio completions fish > ~/.config/fish/completions/edio.fish\n\nTurns and sessions are completed, too, with: source <(COMPLETE=bash edio)"
)]
pub struct Args {
    /// The shell.
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Runs it.
///
/// # Errors
///
/// The script can't be written.
pub fn run(context: &mut Context, args: &Args, mut tree: Command) -> Result<u8> {
    let mut script = Vec::new();
    generate(args.shell, &mut tree, "edio", &mut script);
    context.term.data().write_all(&script).printed()?;
    Ok(0)
}

/// The turns that begin like this, with their messages. Silent where there are none.
pub fn turns(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let session = workspace().and_then(|workspace| Session::active(&workspace).ok()?);
    let Some(session) = session else {
        return Vec::new();
    };
    let turns = session.turns.values().rev();
    let numbered = turns.map(|turn| (turn.number().to_string(), turn.note.subject().to_owned()));
    let named = [("@", "the current turn"), ("last", "the last turn")]
        .map(|(name, help)| (name.to_owned(), help.to_owned()));
    named
        .into_iter()
        .chain(numbered)
        .filter(|(name, _)| name.starts_with(typed.as_ref()))
        .map(|(name, help)| {
            let help = text::shorten(&text::plain(help.as_bytes()), 60);
            CompletionCandidate::new(name).help(Some(help.into()))
        })
        .collect()
}

/// The sessions whose ids begin like this.
pub fn sessions(typed: &OsStr) -> Vec<CompletionCandidate> {
    ids(typed, |_| true)
}

/// The sessions under way whose ids begin like this.
pub fn active_sessions(typed: &OsStr) -> Vec<CompletionCandidate> {
    ids(typed, |session| session.shelf == Shelf::Active)
}

fn ids(typed: &OsStr, wanted: fn(&Session) -> bool) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let sessions = workspace().and_then(|workspace| Session::all(&workspace).ok());
    let sessions = sessions.into_iter().flatten().filter(wanted);
    let ids = sessions.map(|session| session.id.to_string());
    ids.filter(|id| id.starts_with(typed.as_ref()))
        .map(CompletionCandidate::new)
        .collect()
}

/// The paths of the current turn that begin like this, one folder at a time.
pub fn paths(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy().into_owned();
    let found = workspace().and_then(|workspace| {
        let folder = typed.rsplit_once('/').map_or("", |(folder, _)| folder);
        let session = Session::active(&workspace).ok()??;
        let tree = session.current.as_ref()?.tree.clone();
        let prefix = String::from_utf8(workspace.prefix.clone()).ok()?;
        let folder = [prefix.as_str(), folder]
            .iter()
            .filter(|part| !part.is_empty())
            .copied()
            .collect::<Vec<_>>()
            .join("/");
        let names = workspace.git.folder_of(&tree, &folder).ok()?;
        let prefix = match prefix.is_empty() {
            true => prefix,
            false => prefix + "/",
        };
        let below = names.into_iter().filter_map(move |name| {
            let name = String::from_utf8(name).ok()?;
            name.strip_prefix(&prefix).map(str::to_owned)
        });
        Some(below.collect::<Vec<_>>())
    });
    let found = found.into_iter().flatten();
    found
        .filter(|path| path.starts_with(&typed))
        .map(CompletionCandidate::new)
        .collect()
}

/// The folder that is meant in the line: that of `-C`, where it is there, else the current one.
fn folder() -> Option<PathBuf> {
    let here = env::directory().ok()?;
    match env::folder_typed() {
        Some(folder) => here.join(folder).canonicalize().ok(),
        None => Some(here),
    }
}

fn workspace() -> Option<Workspace> {
    let place = Place {
        home: None,
        stores: stores(),
        folder: folder()?,
        told_elsewhere: env::git_is_told_where(),
        attributes_elsewhere: env::has_attributes_file(),
        git: env::find_program("git"),
        waiting: None,
        patience: Patience::default(),
        trace: None,
        group: Group::Shared,
    };
    Workspace::open(&place).ok()
}
