//! Around every verb: the global flags, and what becomes of its outcome.

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap_complete::engine::ArgValueCompleter;

use super::{Context, completions};
use crate::env;
use crate::error::{Error, Kind, Result};
use crate::history::refnames::SessionId;
use crate::term::{self, Color, Settings, Term};

/// The flags that every verb takes.
#[derive(clap::Args)]
pub struct Global {
    /// Work as if started in this folder.
    #[arg(short = 'C', value_name = "DIR", global = true)]
    folder: Option<PathBuf>,
    /// Say less: no reports, no hints.
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Show each git command and how long it took.
    #[arg(short, long, global = true)]
    verbose: bool,
    /// Print JSON, one object a line.
    #[arg(long, global = true)]
    json: bool,
    /// When to use colours.
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    color: Color,
    /// Do not page long output.
    #[arg(long, global = true)]
    no_pager: bool,
    /// Look at this session instead of the one under way.
    #[arg(
        long,
        value_name = "ID",
        global = true,
        add = ArgValueCompleter::new(completions::sessions)
    )]
    session: Option<SessionId>,
}

/// Runs a verb in its context. Returns the exit code.
pub fn in_context(global: &Global, verb: impl FnOnce(&mut Context) -> Result<u8>) -> u8 {
    let mut context = match context(global) {
        Ok(context) => context,
        Err(error) => return failed(&mut Term::new(settings(global)), &error),
    };
    std::panic::set_hook(Box::new(|_| {}));
    let outcome = catch_unwind(AssertUnwindSafe(|| verb(&mut context)));
    let outcome = outcome.unwrap_or_else(|panic| Err(Error::of_panic(panic.as_ref())));
    let finished = context.term.finish().map_err(Error::output);
    match outcome.and_then(|code| finished.map(|()| code)) {
        Ok(code) => code,
        Err(error) => failed(&mut context.term, &error),
    }
}

fn settings(global: &Global) -> Settings {
    Settings {
        json: global.json,
        quiet: global.quiet,
        color: global.color,
        pager: !global.no_pager,
    }
}

fn context(global: &Global) -> Result<Context> {
    let here = || {
        env::directory().map_err(|error| Error::cannot("the current folder is gone").because(error))
    };
    let folder = match &global.folder {
        Some(folder) if folder.is_absolute() => folder.clone(),
        Some(folder) => here()?.join(folder),
        None => here()?,
    };
    Context::new(
        Term::new(settings(global)),
        folder,
        global.session.clone(),
        global.verbose,
    )
}

fn failed(term: &mut Term, error: &Error) -> u8 {
    if error.kind() != Kind::ClosedPipe {
        term.error(error);
    }
    error.kind().exit_code()
}

/// A command line that can't be understood, or that asks for help. Returns the exit code.
pub fn misused(error: &clap::Error, words: &[OsString]) -> u8 {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        return match term::help(&error.render()) {
            Ok(()) => 0,
            Err(error) => Error::output(error).kind().exit_code(),
        };
    }
    let is = |flag: &str| words.iter().any(|word| word == flag);
    let mut term = Term::new(Settings {
        json: is("--json"),
        quiet: false,
        color: match is("never") || is("--color=never") {
            true => Color::Never,
            false => Color::Auto,
        },
        pager: false,
    });
    failed(&mut term, &usage(&error.render().to_string()))
}

/// What clap says, as an error of ours: its words hold what was typed, which must not drive the terminal.
fn usage(said: &str) -> Error {
    let said = said.strip_prefix("error: ").unwrap_or(said);
    let until = |text: &str, mark: &str| text.rfind(mark).unwrap_or(text.len());
    let said = &said[..until(said, "\n\nFor more information")];
    let (said, form) = said.split_at(until(said, "\n\nUsage: "));
    let mut parts = said.split("\n\n  tip: ");
    let error = Error::usage(parts.next().unwrap_or_default().trim_end());
    let error = parts.fold(error, |error, tip| error.hint(tip.trim()));
    let error = match said.contains("not provided:\n  <TURN") {
        true => error.hint("a turn is a number, @ (the current one), @-1 or last: edio log"),
        false => error,
    };
    match form.trim() {
        "" => error.hint("edio --help, or edio COMMAND --help"),
        form => error.hint(form.to_owned()),
    }
}
