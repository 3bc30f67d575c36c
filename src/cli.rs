//! The command tree: global flags, verbs, and which file runs each. No logic.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::env::CompleteEnv;

use crate::commands::{self, Context, Global};
use crate::error::Result;

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

/// Only the verb that was typed gets its arguments: to make those of all takes longer than all else at the start.
#[derive(Subcommand)]
#[command(defer = true)]
enum Verb {
    Init(commands::init::Args),
    Snapshot(commands::snapshot::Args),
    Run(commands::run::Args),
    Exec(commands::exec::Args),
    Bisect(commands::bisect::Args),
    Log(commands::log::Args),
    Show(commands::show::Args),
    Diff(commands::diff::Args),
    Blame(commands::blame::Args),
    Why(commands::why::Args),
    Restore(commands::restore::Args),
    Rewind(commands::rewind::Args),
    Context(commands::context::Args),
    Undo(commands::undo::Args),
    Redo(commands::redo::Args),
    Revert(commands::revert::Args),
    Accept(commands::accept::Args),
    Status(commands::status::Args),
    Sessions(commands::sessions::Args),
    Gc(commands::gc::Args),
    Forget(commands::forget::Args),
    Redact(commands::redact::Args),
    Export(commands::export::Args),
    Import(commands::import::Args),
    Push(commands::push::Args),
    Fetch(commands::fetch::Args),
    Agents(commands::agents::Args),
    Guard(commands::guard::Args),
    Doctor(commands::doctor::Args),
    Hook(commands::hook::Args),
    Mcp(commands::mcp::Args),
    #[command(visible_alias = "tui")]
    Ui(commands::ui::Args),
    Demo(commands::demo::Args),
    Completions(commands::completions::Args),
    Man(commands::man::Args),
}

/// Runs the command line of this process. Returns the exit code.
pub fn main() -> u8 {
    // A shell that completes a command line asks with COMPLETE set, is answered, and that is all.
    CompleteEnv::with_factory(whole_tree).complete();
    let words = with_help_as_flag(std::env::args_os().collect());
    let cli = match parse(&words) {
        Ok(cli) => cli,
        // To an agent an exit code is an order: a hook's is 0, whatever it was given.
        Err(error) if commands::hook::is_meant(&words, &error) => return 0,
        Err(error) => return commands::misused(&error, &words),
    };
    if let Some(Verb::Hook(args)) = &cli.verb {
        return commands::hook::run(args);
    }
    commands::in_context(&cli.global, |context| dispatch(context, cli.verb))
}

/// `edio help restore`, as one says to git and cargo, is `edio restore --help`.
fn with_help_as_flag(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_some_and(|word| word == "help") {
        words.remove(1);
        words.push("--help".into());
    }
    words
}

fn parse(words: &[OsString]) -> std::result::Result<Cli, clap::Error> {
    match Cli::try_parse_from(words) {
        Err(error) if error.kind() != ErrorKind::DisplayVersion => {
            // The help tells what each verb does.
            let mut tree = whole_tree();
            let matches = tree.try_get_matches_from_mut(words)?;
            Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut tree))
        }
        parsed => parsed,
    }
}

/// The command tree with the arguments and the help of every verb.
fn whole_tree() -> clap::Command {
    let mut tree = Cli::command();
    tree.build();
    tree
}

fn dispatch(context: &mut Context, verb: Option<Verb>) -> Result<u8> {
    match verb {
        None => commands::status::welcome(context),
        Some(Verb::Init(args)) => commands::init::run(context, &args),
        Some(Verb::Snapshot(args)) => commands::snapshot::run(context, args),
        Some(Verb::Run(args)) => commands::run::run(context, &args),
        Some(Verb::Exec(args)) => commands::exec::run(context, &args),
        Some(Verb::Bisect(args)) => commands::bisect::run(context, &args),
        Some(Verb::Log(args)) => commands::log::run(context, &args),
        Some(Verb::Show(args)) => commands::show::run(context, &args),
        Some(Verb::Diff(args)) => commands::diff::run(context, &args),
        Some(Verb::Blame(args)) => commands::blame::run(context, &args),
        Some(Verb::Why(args)) => commands::why::run(context, &args),
        Some(Verb::Restore(args)) => commands::restore::run(context, &args),
        Some(Verb::Rewind(args)) => commands::rewind::run(context, &args),
        Some(Verb::Context(args)) => commands::context::run(context, &args),
        Some(Verb::Undo(args)) => commands::undo::run(context, &args),
        Some(Verb::Redo(args)) => commands::redo::run(context, &args),
        Some(Verb::Revert(args)) => commands::revert::run(context, &args),
        Some(Verb::Accept(args)) => commands::accept::run(context, args),
        Some(Verb::Status(args)) => commands::status::run(context, &args),
        Some(Verb::Sessions(args)) => commands::sessions::run(context, &args),
        Some(Verb::Gc(args)) => commands::gc::run(context, &args),
        Some(Verb::Forget(args)) => commands::forget::run(context, &args),
        Some(Verb::Redact(args)) => commands::redact::run(context, &args),
        Some(Verb::Export(args)) => commands::export::run(context, &args),
        Some(Verb::Import(args)) => commands::import::run(context, &args),
        Some(Verb::Push(args)) => commands::push::run(context, &args),
        Some(Verb::Fetch(args)) => commands::fetch::run(context, &args),
        Some(Verb::Agents(args)) => commands::agents::run(context, &args),
        Some(Verb::Guard(args)) => commands::guard::run(context, &args),
        Some(Verb::Doctor(args)) => commands::doctor::run(context, &args),
        Some(Verb::Hook(args)) => Ok(commands::hook::run(&args)),
        Some(Verb::Mcp(args)) => commands::mcp::run(context, &args),
        Some(Verb::Ui(args)) => commands::ui::run(context, &args),
        Some(Verb::Demo(args)) => commands::demo::run(context, &args),
        Some(Verb::Completions(args)) => commands::completions::run(context, &args, whole_tree()),
        Some(Verb::Man(args)) => commands::man::run(context, &args, whole_tree()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_tree_is_sound() {
        Cli::command().debug_assert();
    }
}
