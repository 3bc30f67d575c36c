//! `edio run`: run an agent, or any command, between two snapshots.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use super::{Context, moment, name_skipped, stat};
use crate::error::{Error, Kind as ErrorKind, Result};
use crate::gitengine::Group;
use crate::history::scan::scan;
use crate::history::snapshot::{Request, Unchanged, begin_here, ground, record, take};
use crate::history::turn::{Ending, Kind, Work};
use crate::process::{Command, Status};
use crate::term::{style, text};

/// Run a command with the terminal handed through, and take a turn when it has ended.
///
/// What it did is a turn, however it ended. Its exit code is passed on.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  edio run aider\n  edio run -- sh -c 'make && make test'")]
pub struct Args {
    /// The command and its own words.
    #[arg(
        value_name = "CMD",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    command: Vec<OsString>,
}

/// Runs it. Returns the command's own exit code.
///
/// # Errors
///
/// There is no repository, or the snapshot before failed: the command is not started then.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    before(context)?;
    let (program, words) = args
        .command
        .split_first()
        .ok_or_else(|| Error::usage("no command to run"))?;
    let command = Command::new(program)
        .args(words)
        .dir(&context.place.folder)
        .trace(context.place.trace.as_ref());
    let (code, work) = match command.hand_over() {
        Ok(status) => (status.shell_code(), work(program, status)),
        Err(error) => return Ok(not_started(context, program, &error)),
    };
    // From here on a Ctrl-C ends neither this process nor, in a group of their own, its children.
    context.place.group = Group::Own;
    if let Err(error) = after(context, &args.command, work) {
        context.term.warn("the snapshot after the command failed");
        context.term.error(&error);
    }
    Ok(code)
}

/// What was there before the command: a baseline where a session begins, else what changed since the last turn.
fn before(context: &mut Context) -> Result<()> {
    let mut workspace = context.open_to_change()?;
    let scan = scan(&workspace)?;
    if ground(&mut workspace)?.is_none() {
        begin_here(&mut workspace, scan, moment())?;
        return Ok(());
    }
    let request = Request {
        kind: Kind::Human,
        message: None,
        unchanged: Unchanged::Skip,
        work: Work::default(),
        moment: moment(),
    };
    let taken = record(&mut workspace, scan, &request)?;
    if let Some(turn) = taken.turn {
        let number = style::turn(turn.number());
        let what = stat(&turn.note.stat);
        context.term.told(format!(
            "edio: what changed before is turn {number} ({what})"
        ));
    }
    Ok(())
}

fn after(context: &mut Context, command: &[OsString], work: Work) -> Result<()> {
    let mut workspace = context.open_locked()?;
    let request = Request {
        kind: Kind::Turn,
        message: Some(as_typed(command)),
        unchanged: Unchanged::Skip,
        work,
        moment: moment(),
    };
    let taken = take(&mut workspace, &request)?;
    match &taken.turn {
        Some(turn) => {
            let number = style::turn(turn.number());
            let what = stat(&turn.note.stat);
            context.term.told(format!("edio: turn {number} ({what})"));
            context
                .term
                .hint("see it: edio show; go back: edio restore @-1");
        }
        None => context
            .term
            .told("edio: nothing changed, no turn was taken"),
    }
    name_skipped(&mut context.term, &taken.skipped, &taken.warnings);
    Ok(())
}

fn work(program: &OsString, status: Status) -> Work {
    let name = Path::new(program).file_name();
    Work {
        agent: name.map(|name| name.to_string_lossy().into_owned()),
        ending: Some(match (status.success(), status.signal()) {
            (true, _) => Ending::Completed,
            (false, Some(_)) => Ending::Interrupted,
            (false, None) => Ending::Failed,
        }),
        exit: Some(i32::from(status.shell_code())),
    }
}

/// The exit codes are a shell's: 127 for a command that does not exist, 126 for one that can't be executed.
fn not_started(context: &mut Context, program: &OsString, error: &io::Error) -> u8 {
    let name = text::plain(program.to_string_lossy().as_bytes());
    let (what, code) = match error.kind() {
        io::ErrorKind::NotFound => (format!("there is no command {name}"), 127),
        _ => (format!("{name} can't be executed"), 126),
    };
    let cause = io::Error::new(error.kind(), error.to_string());
    context.term.error(&Error::cannot(what).because(cause));
    debug_assert_ne!(ErrorKind::Cannot.exit_code(), code);
    code
}

/// The command as one would type it: the message of its turn.
fn as_typed(command: &[OsString]) -> String {
    let words: Vec<String> = command
        .iter()
        .map(|word| quoted(&word.to_string_lossy()))
        .collect();
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_typed() {
        let words = ["sh", "-c", "it's $HOME", ""].map(OsString::from);
        assert_eq!(as_typed(&words), r"sh -c 'it'\''s $HOME' ''");
    }
}
