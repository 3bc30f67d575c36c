//! The command tree: global flags, verbs, and which file runs each. No logic.

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::engine::ArgValueCompleter;
use clap_complete::env::CompleteEnv;

use crate::commands::{self, Context};
use crate::env;
use crate::error::{Error, Kind, Result};
use crate::history::refnames::SessionId;
use crate::term::{Color, Settings, Term};

/// An undo that never fails, for coding agents and the people who use them.
///
/// edio takes invisible snapshots of the whole work tree, as git objects in the project's own repository. Any of them
/// can be brought back, exactly. When the work is good, `edio accept` makes it one clean commit.
#[derive(Parser)]
#[command(
    name = "edio",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    after_help = "Start with: edio demo\nMore on one command: edio <command> --help"
)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    verb: Option<Verb>,
}

/// The flags that every verb takes.
#[derive(clap::Args)]
struct Global {
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
        add = ArgValueCompleter::new(commands::completions::sessions)
    )]
    session: Option<SessionId>,
}

#[derive(Subcommand)]
enum Verb {
    Init(commands::init::Args),
    Snapshot(commands::snapshot::Args),
    Run(commands::run::Args),
    Log(commands::log::Args),
    Show(commands::show::Args),
    Diff(commands::diff::Args),
    Restore(commands::restore::Args),
    Undo(commands::undo::Args),
    Redo(commands::redo::Args),
    Revert(commands::revert::Args),
    Accept(commands::accept::Args),
    Status(commands::status::Args),
    Sessions(commands::sessions::Args),
    Gc(commands::gc::Args),
    Demo(commands::demo::Args),
    Completions(commands::completions::Args),
    Man(commands::man::Args),
}

/// Runs the command line of this process. Returns the exit code.
pub fn main() -> u8 {
    // A shell that completes a command line asks with COMPLETE set, is answered, and that is all.
    CompleteEnv::with_factory(Cli::command).complete();
    let words: Vec<OsString> = std::env::args_os().collect();
    let cli = match Cli::try_parse_from(&words) {
        Ok(cli) => cli,
        Err(error) => return misused(&error, &words),
    };
    let mut context = match context(&cli.global) {
        Ok(context) => context,
        Err(error) => return failed(&mut Term::new(settings(&cli.global)), &error),
    };
    std::panic::set_hook(Box::new(|_| {}));
    let outcome = catch_unwind(AssertUnwindSafe(|| dispatch(&mut context, cli.verb)));
    let outcome = outcome.unwrap_or_else(|panic| Err(bug(panic.as_ref())));
    let finished = context.term.finish().map_err(Error::output);
    match outcome.and_then(|code| finished.map(|()| code)) {
        Ok(code) => code,
        Err(error) => failed(&mut context.term, &error),
    }
}

fn dispatch(context: &mut Context, verb: Option<Verb>) -> Result<u8> {
    match verb {
        None => commands::status::welcome(context),
        Some(Verb::Init(args)) => commands::init::run(context, &args),
        Some(Verb::Snapshot(args)) => commands::snapshot::run(context, args),
        Some(Verb::Run(args)) => commands::run::run(context, &args),
        Some(Verb::Log(args)) => commands::log::run(context, &args),
        Some(Verb::Show(args)) => commands::show::run(context, &args),
        Some(Verb::Diff(args)) => commands::diff::run(context, &args),
        Some(Verb::Restore(args)) => commands::restore::run(context, &args),
        Some(Verb::Undo(args)) => commands::undo::run(context, &args),
        Some(Verb::Redo(args)) => commands::redo::run(context, &args),
        Some(Verb::Revert(args)) => commands::revert::run(context, &args),
        Some(Verb::Accept(args)) => commands::accept::run(context, args),
        Some(Verb::Status(args)) => commands::status::run(context, &args),
        Some(Verb::Sessions(args)) => commands::sessions::run(context, &args),
        Some(Verb::Gc(args)) => commands::gc::run(context, &args),
        Some(Verb::Demo(args)) => commands::demo::run(context, &args),
        Some(Verb::Completions(args)) => commands::completions::run(context, &args, Cli::command()),
        Some(Verb::Man(args)) => commands::man::run(context, &args, Cli::command()),
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
    let here = env::directory()
        .map_err(|error| Error::cannot("the current folder is gone").because(error))?;
    let folder = global
        .folder
        .as_ref()
        .map_or(here.clone(), |dir| here.join(dir));
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

/// A command line that can't be understood, or that asks for help.
fn misused(error: &clap::Error, words: &[OsString]) -> u8 {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        let _ = error.print();
        return 0;
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
    match form.trim() {
        "" => error.hint("edio --help, or edio COMMAND --help"),
        form => error.hint(form.to_owned()),
    }
}

fn bug(panic: &(dyn std::any::Any + Send)) -> Error {
    let words = panic.downcast_ref::<&str>().map(ToString::to_string);
    let words = words.or_else(|| panic.downcast_ref::<String>().cloned());
    Error::bug("a fault in edio itself")
        .because(Error::bug(words.unwrap_or_default()))
        .hint("please report it, with the command that you ran")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_tree_is_sound() {
        Cli::command().debug_assert();
    }
}
