//! `edio gc`: what is old goes.

use std::ffi::{OsStr, OsString};

use serde::Serialize;
use serde_json::Value;

use super::{Context, Printed};
use crate::clock;
use crate::env;
use crate::error::{Kind, Result};
use crate::history::gc::{DAYS, Plan, plan, retention, run as carry_out};
use crate::history::git::git_bytes;
use crate::history::refnames::{SessionId, Shelf};
use crate::history::remote::{self, Way};
use crate::history::store::{End, Store, Sweep, Unused};
use crate::history::unshare::{Found, Old, stale, take_off};
use crate::history::workspace::{Locked, Place, Workspace};
use crate::process::Command;
use crate::term::text::plural;
use crate::term::{json, text, time};

/// Prune sessions that were not used for some days.
///
/// Never one that is under way in a work tree that exists. Only edio's refs are deleted; the objects stay until git
/// collects them (git gc), and nothing of yours is touched. A private store that was put away, or whose
/// folder is gone, is removed when it has been so for as many days since a gc first saw it, and 10 at least unless DAYS are
/// given.
///
/// With --remote it takes what edio push sent off a remote, whoever sent it, by when it was last worked in; what is here
/// stays. With --session ID it is that session, however old.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio gc --dry-run\n  edio gc -d 30\n  edio gc --remote origin -d 30\n  edio gc --remote --session ID"
)]
pub struct Args {
    /// Keep what was used in the last DAYS days. Without, edio.retentionDays, or 10.
    #[arg(short, long, value_name = "DAYS")]
    days: Option<u32>,
    /// Prune on a remote, an address or a path. Without a name, on the one that git would push to.
    #[arg(long, value_name = "REMOTE", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "the flag may stand without its value")]
    remote: Option<Option<OsString>>,
    /// Show what would go, and do nothing.
    #[arg(long)]
    dry_run: bool,
    /// edio itself has started it, and nobody reads what it says: no store goes.
    #[arg(long, hide = true)]
    behind: bool,
}

#[derive(Serialize)]
struct Record {
    session: String,
    pruned: bool,
    turns: usize,
    last_used: Option<String>,
    dry_run: bool,
}

#[derive(Serialize)]
struct StoreRecord {
    store: Value,
    folder: Value,
    end: &'static str,
    since: String,
    removed: bool,
    dry_run: bool,
}

/// Runs it.
///
/// # Errors
///
/// There is neither a repository nor a store to remove, a setting is no number, or git failed.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    if let Some(word) = &args.remote {
        return run_there(context, args, word.as_deref());
    }
    let mut workspace = match context.open_to_change() {
        Ok(workspace) => workspace,
        Err(error) if error.kind() == Kind::NoRepository => {
            let sweep = sweep(&context.place, args.days.unwrap_or(DAYS));
            if sweep.is_nothing() && sweep.waiting.is_empty() {
                return Err(error);
            }
            tell_stores(context, &sweep, args)?;
            return Ok(0);
        }
        Err(error) => return Err(error),
    };
    let days = args.days.map_or_else(|| retention(&workspace), Ok)?;
    let plan = plan(&workspace, days, clock::now())?;
    if !args.dry_run {
        carry_out(&mut workspace, &plan)?;
    }
    if args.behind {
        return Ok(0);
    }
    // What is said of the sessions here is not meant for the stores.
    let sweep = sweep(&context.place, days.max(DAYS));
    let removed = tell_stores(context, &sweep, args)?;
    if !plan.is_nothing() || !removed {
        report(context, &plan, &workspace, args.dry_run)?;
    }
    Ok(0)
}

/// How many days a store is kept that serves nothing, where nothing else is said.
///
/// # Errors
///
/// What is set is no number of days.
pub fn days_kept(workspace: &Workspace) -> Result<u32> {
    Ok(retention(workspace)?.max(DAYS))
}

fn sweep(place: &Place, days: u32) -> Sweep {
    Sweep::plan(&place.stores, days, clock::now(), place.trace.as_ref())
}

fn run_there(context: &mut Context, args: &Args, word: Option<&OsStr>) -> Result<u8> {
    let mut workspace = context.open_locked()?;
    let remote = context.remote(&workspace, word, Way::There)?;
    let name = text::plain(remote::shown(&remote).as_bytes());
    let only = context.session.clone();
    let old = match &only {
        Some(id) => Old::This(id),
        None => Old::Before(args.days.map_or_else(|| retention(&workspace), Ok)?),
    };
    let Found { stale, unread } = stale(&mut workspace, &remote, old, clock::now())?;
    for (id, error) in &unread {
        context
            .term
            .warn(format!("{id} stays at {name}: it can't be looked into"));
        context.term.error(error);
    }
    if !args.dry_run {
        take_off(&mut workspace, &remote, &stale)?;
    }
    for session in &stale {
        let gone = Gone {
            id: &session.id,
            state: &format!("at {name}"),
            turns: session.turns,
            last_used: session.last_used,
        };
        gone.tell(context, args.dry_run)?;
    }
    match (stale.is_empty(), args.dry_run) {
        (true, _) => context.term.told(format!("nothing to prune at {name}")),
        (false, true) => context
            .term
            .told("nothing was pruned: this is what would go"),
        (false, false) => context.term.told(format!("taken off {name}")),
    }
    Ok(0)
}

/// A session that goes as a whole.
struct Gone<'a> {
    id: &'a SessionId,
    state: &'a str,
    turns: usize,
    last_used: i64,
}

impl Gone<'_> {
    fn tell(&self, context: &mut Context, dry_run: bool) -> Result<()> {
        if context.term.is_json() {
            let record = Record {
                session: self.id.to_string(),
                pruned: true,
                turns: self.turns,
                last_used: Some(time::rfc3339(self.last_used)),
                dry_run,
            };
            return context.term.record(&record).printed();
        }
        let line = format!(
            "{} ({}, {}, last used {})",
            self.id,
            self.state,
            plural(self.turns, "turn"),
            time::ago(clock::now(), self.last_used)
        );
        context.term.line(line).printed()
    }
}

/// Starts a gc behind the person's back, if there is something for it to do. It outlives this process, and is not missed
/// if it fails: the next one does what it left.
pub fn run_behind(place: &Place, workspace: Locked) {
    let is_due = retention(&workspace)
        .and_then(|days| plan(&workspace, days, clock::now()))
        .is_ok_and(|plan| !plan.is_nothing());
    // Its lock must be free by then.
    drop(workspace);
    if let (true, Ok(program)) = (is_due, env::this_program()) {
        let _ = Command::new(program)
            .args(["gc", "-q", "--behind"])
            .dir(&place.folder)
            .start_behind();
    }
}

/// Removes the stores that are due, and names them and those that will be. Did any go, or would any?
fn tell_stores(context: &mut Context, sweep: &Sweep, args: &Args) -> Result<bool> {
    let gone = match args.dry_run {
        true => sweep.due.iter().collect(),
        false => sweep.run()?,
    };
    for unused in &gone {
        tell_store(context, unused, Fate::Goes, args.dry_run)?;
    }
    for unused in &sweep.waiting {
        tell_store(context, unused, Fate::Waits, args.dry_run)?;
    }
    for error in &sweep.unreadable {
        context.term.error(error);
    }
    Ok(!gone.is_empty())
}

/// What becomes of a store.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Goes,
    /// It is not yet due.
    Waits,
}

fn tell_store(context: &mut Context, unused: &Unused, fate: Fate, dry_run: bool) -> Result<()> {
    let Store { home, folder } = &unused.store;
    if context.term.is_json() {
        let record = StoreRecord {
            store: json::path(&git_bytes(home)),
            folder: json::path(&git_bytes(folder)),
            end: match unused.end {
                End::FolderGone => "folder_gone",
                End::PutAway => "put_away",
            },
            since: time::rfc3339(unused.since),
            removed: fate == Fate::Goes,
            dry_run,
        };
        return context.term.record(&record).printed();
    }
    let (home, folder) = (git_bytes(home), git_bytes(folder));
    let what = match unused.end {
        End::FolderGone => "the folder is gone",
        End::PutAway => "put away",
    };
    let fate = match (fate, dry_run) {
        (Fate::Goes, true) => "would be removed",
        (Fate::Goes, false) => "removed",
        (Fate::Waits, _) => "kept for now",
    };
    let line = format!(
        "store of {} ({what}, found so or last used {}): {fate}: {}",
        text::plain(&folder),
        time::ago(clock::now(), unused.since),
        text::plain(&home)
    );
    context.term.line(line).printed()
}

fn report(context: &mut Context, plan: &Plan, workspace: &Workspace, dry_run: bool) -> Result<()> {
    for session in &plan.pruned {
        let gone = Gone {
            id: &session.id,
            state: match session.shelf {
                Shelf::Active => "in a work tree that is gone",
                shelf => shelf.in_words(),
            },
            turns: session.turns,
            last_used: session.last_used,
        };
        gone.tell(context, dry_run)?;
    }
    for session in &plan.thinned {
        if context.term.is_json() {
            let record = Record {
                session: session.id.to_string(),
                pruned: false,
                turns: session.turns,
                last_used: None,
                dry_run,
            };
            context.term.record(&record).printed()?;
            continue;
        }
        let line = format!(
            "{}: {} in the middle can't be named any more (their objects go with the session)",
            session.id,
            plural(session.turns, "turn")
        );
        context.term.line(line).printed()?;
    }
    match (plan.is_nothing(), dry_run) {
        (true, _) => context.term.told("nothing to prune"),
        (false, true) => context
            .term
            .told("nothing was pruned: this is what would go"),
        (false, false) if plan.pruned.is_empty() => context.term.told("done"),
        (false, false) if workspace.store.is_some() => context
            .term
            .told("pruned; a gc frees what only they held when it is two weeks old"),
        (false, false) => context
            .term
            .told("pruned; the objects stay until git collects them: git gc"),
    }
    Ok(())
}
