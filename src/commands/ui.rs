//! `edio ui`: the terminal UI.

use super::{Context, gc};
use crate::error::{Error, Result};
use crate::history::lock::Patience;
use crate::history::session::Session;
use crate::history::workspace::Place;
use crate::term::screen;
use crate::tui::{self, Host};

/// See the turns and what each did, and go back with a key.
///
/// The turns are on the left, what the chosen one did is on the right, and the keys at the bottom; ? lists all of them. r
/// brings a turn back, f one file of it, u takes it back. What is done there is what restore, undo, redo, snapshot and
/// accept do. New turns appear by themselves.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  edio ui\n  edio ui --session sess_1796050800_1a2b3c4d")]
pub struct Args {}

/// Runs it, until the person leaves it.
///
/// # Errors
///
/// There is no terminal, no repository, or no such session.
pub fn run(context: &mut Context, _: &Args) -> Result<u8> {
    if context.term.is_json() {
        return Err(Error::usage("the UI has no JSON").hint("the turns as JSON: edio log --json"));
    }
    if !screen::is_possible() {
        return Err(
            Error::cannot("the UI needs a terminal that can do more than print lines")
                .hint("the turns as text: edio log"),
        );
    }
    let workspace = context.open()?;
    if context.session.is_some() {
        // That there is none is said before the screen is taken.
        Session::wanted(&workspace, context.session.as_ref())?;
    }
    let host = Host {
        place: Place {
            // The screen is not to be written on.
            patience: Patience::default(),
            ..context.place.clone()
        },
        session: context.session.clone(),
        colors: context.term.styles_out(),
        after_accept: gc::run_behind,
    };
    tui::run(&host, workspace)
}
