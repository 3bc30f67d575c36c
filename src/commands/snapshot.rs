//! `edio snapshot`: take a turn.

use serde::Serialize;

use super::shown::held::{name_secrets, name_skipped};
use super::shown::record::{SkippedRecord, TurnRecord, skipped};
use super::shown::stat::stat;
use super::{Context, Printed, moment};
use crate::error::Result;
use crate::history::limits::TooMuch;
use crate::history::snapshot::{Request, Taken, Unchanged, checked_message, take};
use crate::history::turn::{Kind, Work};
use crate::term::{style, text};

/// Take a turn: the whole work tree, as it is now.
///
/// Without a message, the turn is named after the paths that changed. An untracked file over edio.maxFileSize (100 MiB)
/// stays out of it, and is named. More than edio.maxNewFiles (50,000) new files, or edio.maxNewBytes (2 GiB), are refused.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio snapshot -m \"models and migrations\"\n  edio snapshot --if-changed"
)]
pub struct Args {
    /// What was done.
    #[arg(short, long, value_name = "MSG", allow_hyphen_values = true)]
    message: Option<String>,
    /// Take none where nothing has changed since the current turn.
    #[arg(long)]
    if_changed: bool,
    /// Hold all that is new, however much that is, but for files over edio.maxFileSize, and in a home folder too.
    #[arg(long)]
    force: bool,
}

#[derive(Serialize)]
struct Unchanging {
    changed: bool,
    session: Option<String>,
    turn: Option<u32>,
    skipped: Vec<SkippedRecord>,
}

#[derive(Serialize)]
struct Changing {
    changed: bool,
    #[serde(flatten)]
    turn: TurnRecord,
}

/// Runs it.
///
/// # Errors
///
/// The turn could not be taken. There is none, then.
pub fn run(context: &mut Context, args: Args) -> Result<u8> {
    let request = Request {
        kind: Kind::Turn,
        message: args.message.map(checked_message).transpose()?,
        unchanged: match args.if_changed {
            true => Unchanged::Skip,
            false => Unchanged::Take,
        },
        work: Work::default(),
        moment: moment()?,
    };
    let mut workspace = context.open_to_change()?;
    let too_much = match args.force {
        true => TooMuch::Take,
        false => TooMuch::Refuse,
    };
    let taken = take(&mut workspace, &request, too_much)?;
    context.tell_unsaid(&mut workspace)?;
    report(context, &taken)?;
    Ok(0)
}

fn report(context: &mut Context, taken: &Taken) -> Result<()> {
    if let Some(error) = &taken.not_packed {
        context
            .term
            .warn("the turns before could not be packed: they take more room than they need");
        context.term.error(error);
    }
    name_secrets(&mut context.term, &taken.secrets);
    if context.term.is_json() {
        return match &taken.turn {
            Some(turn) => context.term.record(&Changing {
                changed: true,
                turn: TurnRecord::new(turn, Some(&turn.commit)),
            }),
            None => context.term.record(&Unchanging {
                changed: false,
                session: taken.standing.as_ref().map(|s| s.id.to_string()),
                turn: taken.standing.as_ref().map(|s| s.number.turn),
                skipped: skipped(&taken.skipped),
            }),
        }
        .printed();
    }
    match (&taken.turn, &taken.standing) {
        (Some(turn), _) => context.term.told(format!(
            "turn {}: {} ({})",
            style::turn(turn.number()),
            text::plain(turn.note.subject().as_bytes()),
            stat(&turn.note.stat)
        )),
        (None, Some(standing)) => context.term.told(format!(
            "nothing changed since turn {}: no turn was taken",
            standing.number
        )),
        (None, None) => context
            .term
            .told("nothing changed since HEAD: no turn was taken"),
    }
    name_skipped(&mut context.term, &taken.skipped);
    for path in &taken.swept {
        let path = text::path(path.as_bytes());
        context.term.warn(format!(
            "a restore was interrupted: it left {path}, which is saved and removed"
        ));
    }
    Ok(())
}
