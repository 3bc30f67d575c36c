//! `edio run`: run an agent, or any command, between two snapshots.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::shown::held::{name_secrets, name_skipped};
use super::shown::stat::stat;
use super::{Context, moment};
use crate::agents::event::tells_of_tools;
use crate::clock::{self, Stopwatch};
use crate::error::{Error, Result};
use crate::history::baseline::begin_here;
use crate::history::git::{Group, Oid, git_bytes};
use crate::history::ground::ground;
use crate::history::limits::TooMuch;
use crate::history::lock::Patience;
use crate::history::prompt::{self, Now};
use crate::history::scan::scan;
use crate::history::snapshot::{Request, Unchanged, close_steps, record, remember, take};
use crate::history::turn::{Ending, Kind, Work};
use crate::history::workspace::{Place, Workspace};
use crate::process::{Command, Status};
use crate::shell;
use crate::term::{style, text};

/// Run a command with the terminal handed through, and take a turn when it has ended.
///
/// What it did is a turn, however it ended. Its exit code is passed on.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio run aider\n  edio run --watch -- aider --yes\n  edio run -- sh -c 'make && make test'"
)]
pub struct Args {
    /// Take a step each time the files have settled: nothing changed for so many seconds.
    #[arg(
        long,
        value_name = "SECS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "2",
        value_parser = clap::value_parser!(u64).range(1..=3600)
    )]
    watch: Option<u64>,
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
    let top = before(context)?;
    let (program, words) = args
        .command
        .split_first()
        .ok_or_else(|| Error::usage("no command to run"))?;
    let command = Command::new(program)
        .args(words)
        .dir(&context.place.folder)
        .trace(context.place.trace.as_ref());
    // The command may remove the folder that it was started in, or make a repository of it.
    if !context.place.told_elsewhere {
        context.place.folder = top;
    }
    let began = clock::now();
    let watch = args
        .watch
        .map(|seconds| Watch::begin(context, &args.command, seconds));
    let ended = command.hand_over();
    if let Some(watch) = watch {
        watch.end();
    }
    let (code, work) = match ended {
        Ok(status) => (status.shell_code(), work(program, status)),
        Err(error) => return Ok(not_started(context, program, &error)),
    };
    // From here on a Ctrl-C ends neither this process nor, in a group of their own, its children.
    context.place.group = Group::Own;
    if let Err(error) = after(context, &args.command, work, began) {
        context.term.warn("the snapshot after the command failed");
        context.term.error(&error);
    }
    Ok(code)
}

/// The watch over the files while the command runs, in a thread of its own.
struct Watch {
    stop: mpsc::Sender<()>,
    thread: thread::JoinHandle<()>,
}

impl Watch {
    fn begin(context: &Context, command: &[OsString], seconds: u64) -> Self {
        let (stop, stopped) = mpsc::channel();
        // Nothing is said while the terminal is the command's.
        let place = Place {
            group: Group::Own,
            patience: Patience::default(),
            ..context.place.clone()
        };
        let message = as_typed(command);
        let agent = command.first().and_then(agent_name);
        let settle = Duration::from_secs(seconds);
        let thread = thread::spawn(move || watch(&place, &message, agent, settle, &stopped));
        Self { stop, thread }
    }

    fn end(self) {
        // It ends at once where it sleeps, and after its step where it takes one.
        let _ = self.stop.send(());
        let _ = self.thread.join();
    }
}

/// How many times as long as a look took the pause after it is: an idle watch costs less than a hundredth of one core,
/// though git looks with several threads.
const PAUSE_FACTOR: u32 = 150;

/// So long after the last change that was seen the watch is not idle: what follows may follow soon.
const AWAKE: Duration = Duration::from_secs(60);

/// How long to wait for the next look, so long after the last change, where a look takes so long.
fn pause(settle: Duration, quiet: Duration, look: Duration) -> Duration {
    match quiet < AWAKE {
        true => settle.max(look),
        false => settle.max(look * PAUSE_FACTOR),
    }
}

/// Looks again and again until told to stop. Where nothing happens, it looks the less often the more a look costs.
fn watch(
    place: &Place,
    message: &str,
    agent: Option<String>,
    settle: Duration,
    stopped: &mpsc::Receiver<()>,
) {
    let mut seen = None;
    let mut quiet = Stopwatch::start();
    let mut wait = settle;
    while stopped.recv_timeout(wait) == Err(mpsc::RecvTimeoutError::Timeout) {
        let watch = Stopwatch::start();
        // What fails here is said by the snapshot at the end.
        seen = look(place, message, agent.clone(), seen.take()).unwrap_or_default();
        if seen.is_some() {
            quiet = Stopwatch::start();
        }
        wait = pause(settle, quiet.elapsed(), watch.elapsed());
    }
}

/// Takes a step if the files have changed, and are as at the last look. Returns what they are while they are unsettled.
fn look(
    place: &Place,
    message: &str,
    agent: Option<String>,
    seen: Option<Oid>,
) -> Result<Option<Oid>> {
    let mut workspace = Workspace::open_locked(place)?;
    let scan = scan(&workspace, TooMuch::Refuse)?;
    let Some(ground) = ground(&mut workspace)? else {
        return Ok(None);
    };
    if scan.tree == ground.tree && scan.on_disk(&workspace)?.hidden.is_empty() {
        remember(&mut workspace, scan)?;
        return Ok(None);
    }
    if seen.as_ref() != Some(&scan.tree) {
        return Ok(Some(scan.tree));
    }
    let moment = moment()?;
    let request = Request {
        kind: Kind::Step,
        message: Some(message.to_owned()),
        unchanged: Unchanged::Skip,
        work: Work {
            agent,
            shared: prompt::at_work(&workspace.state, moment.seconds),
            ..Work::default()
        },
        moment,
    };
    record(&mut workspace, scan, &request)?;
    Ok(None)
}

fn agent_name(program: &OsString) -> Option<String> {
    let name = Path::new(program).file_name()?;
    Some(name.to_string_lossy().into_owned())
}

/// What was there before the command: a baseline where a session begins, else what changed since the last turn. Returns the
/// top of the work tree.
fn before(context: &mut Context) -> Result<PathBuf> {
    let mut workspace = context.open_to_change()?;
    let top = workspace.git.work_tree.clone();
    let scan = scan(&workspace, TooMuch::Refuse)?;
    let moment = moment()?;
    let shared = prompt::at_work(&workspace.state, moment.seconds);
    if ground(&mut workspace)?.is_none() {
        begin_here(&mut workspace, scan, shared, moment)?;
        context.tell_unsaid(&mut workspace)?;
        return Ok(top);
    }
    context.tell_unsaid(&mut workspace)?;
    close_steps(&mut workspace, moment)?;
    let request = Request {
        kind: Kind::Human,
        message: None,
        unchanged: Unchanged::Skip,
        work: Work {
            shared,
            ..Work::default()
        },
        moment,
    };
    let taken = record(&mut workspace, scan, &request)?;
    if let Some(turn) = taken.turn {
        let number = style::turn(turn.number());
        let what = stat(&turn.note.stat);
        context.term.told(format!(
            "edio: what changed before is turn {number} ({what})"
        ));
    }
    Ok(top)
}

fn after(context: &mut Context, command: &[OsString], work: Work, began: i64) -> Result<()> {
    let mut workspace = context.open_locked()?;
    let moment = moment()?;
    if let Some(agent) = &work.agent {
        let now = Now {
            moment,
            is_late: &|| false,
        };
        prompt::left(&mut workspace, agent, &now)?;
    }
    let mut shared = prompt::at_work(&workspace.state, moment.seconds);
    let heard = &workspace.state.heard;
    let told_of_tools = |agent: &&String| {
        tells_of_tools(agent) && heard.get(*agent).is_some_and(|heard| *heard >= began)
    };
    // What its hooks have not told of, no tool of it did.
    shared.extend(work.agent.iter().filter(told_of_tools).cloned());
    let request = Request {
        kind: Kind::Turn,
        message: Some(as_typed(command)),
        unchanged: Unchanged::Skip,
        work: Work { shared, ..work },
        moment,
    };
    let taken = take(&mut workspace, &request, TooMuch::Refuse)?;
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
    name_skipped(&mut context.term, &taken.skipped);
    name_secrets(&mut context.term, &taken.secrets);
    Ok(())
}

fn work(program: &OsString, status: Status) -> Work {
    Work {
        agent: agent_name(program),
        ending: Some(match (status.success(), status.signal()) {
            (true, _) => Ending::Completed,
            (false, Some(_)) => Ending::Interrupted,
            (false, None) => Ending::Failed,
        }),
        exit: Some(i32::from(status.shell_code())),
        ..Work::default()
    }
}

/// The exit codes are a shell's: 127 for a command that does not exist, 126 for one that can't be executed.
pub(super) fn not_started(context: &mut Context, program: &OsString, error: &io::Error) -> u8 {
    let name = text::plain(program.to_string_lossy().as_bytes());
    let (what, code) = match error.kind() {
        io::ErrorKind::NotFound => (format!("there is no command {name}"), 127),
        _ => (format!("{name} can't be executed"), 126),
    };
    let cause = io::Error::new(error.kind(), error.to_string());
    context.term.error(&Error::cannot(what).because(cause));
    code
}

/// The command as one would type it: the message of its turn.
fn as_typed(command: &[OsString]) -> String {
    let words: Vec<String> = command
        .iter()
        .map(|word| shell::word(&git_bytes(Path::new(word))))
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_is_slow_only_where_nothing_has_happened_for_long() {
        let [settle, look] = [2, 1].map(Duration::from_secs);
        for quiet in [0, 10, 59] {
            assert_eq!(pause(settle, Duration::from_secs(quiet), look), settle);
        }
        let idle = pause(settle, AWAKE, look);
        assert!(look * 100 < idle, "{idle:?}");
        assert_eq!(pause(settle, AWAKE, Duration::from_millis(1)), settle);
    }

    #[test]
    fn a_command_is_shown_as_typed() {
        let words = ["sh", "-c", "it's $HOME", ""].map(OsString::from);
        assert_eq!(as_typed(&words), r"sh -c 'it'\''s $HOME' ''");
    }
}
