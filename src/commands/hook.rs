//! `edio hook`: what an agent's hooks call.
//!
//! Nothing here may block, slow, break or confuse the agent: it ends within its time with exit code 0, and prints nothing
//! but what the [guard](guarding) says, where that is turned on. So the work is done by another edio, which this one starts
//! and waits for a while. One that takes longer goes on by itself. What goes wrong is written to a log in the git directory, which `edio doctor` reads.

mod guarding;
mod places;
mod transcripts;
mod work;

use std::ffi::OsString;
use std::io;
use std::panic::catch_unwind;
use std::time::Duration;

use clap::error::ErrorKind;

use self::places::{homes, scratch_near};
use crate::agents::Agent;
use crate::agents::event::{self, Ending, Event, Touched, What};
use crate::agents::guard::Word;
use crate::clock::{self, Stopwatch};
use crate::env;
use crate::error::{Result, While};
use crate::history::prompt::{self, By};
use crate::history::{hooklog, turn};
use crate::json;
use crate::process::{Behind, Command};
use crate::term::{self, time};

/// How long an agent is kept waiting, all in all.
const WAIT: Duration = Duration::from_millis(1500);

/// The same at the end of a conversation: agents give a hook one second there.
const LAST_WAIT: Duration = Duration::from_millis(600);

/// How long the agent may take to say what happened, and how much it may say.
const LISTEN: Duration = Duration::from_millis(1000);
const LONGEST: usize = 64 << 20;

/// What the environment of a process may hold: an event that says more is handed on in short.
const LONGEST_EVENT: usize = 100 << 10;

/// Take turns for an agent: what its hooks call
///
/// One event comes as JSON on the standard input. It always ends with exit code 0 and prints nothing but what the guard
/// says. What went wrong is told by edio doctor.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio init --agents claude    # has Claude Code call it\n  edio doctor                  # what came of it"
)]
pub struct Args {
    /// Whose hooks: one of the agents that init knows.
    #[arg(value_name = "AGENT")]
    agent: String,
    /// Whatever else the agent says is not heeded.
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}

/// Runs it. Returns 0, whatever happens.
pub fn run(args: &Args) -> u8 {
    std::panic::set_hook(Box::new(|_| {}));
    let _ = catch_unwind(|| match env::hook_event() {
        Some(event) => work::see_to(&event.to_string_lossy()),
        None => hear(&args.agent),
    });
    0
}

/// Was a hook called, though in a way that can't be understood? Who asks for help is answered.
pub fn is_meant(words: &[OsString], error: &clap::Error) -> bool {
    let asks = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    !asks && verb(words).is_some_and(|verb| verb == "hook")
}

/// The first word that is neither a global flag nor what belongs to one.
fn verb(words: &[OsString]) -> Option<&OsString> {
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if ["-C", "--color", "--session"].contains(&text.as_ref()) {
            words.next();
        } else if !text.starts_with('-') {
            return Some(word);
        }
    }
    None
}

/// Hears what happened, and has another edio see to it.
fn hear(agent: &str) {
    let watch = Stopwatch::start();
    let Ok(agent) = agent.parse::<Agent>() else {
        return;
    };
    let listen = env::hook_wait().unwrap_or(LISTEN);
    let caller = env::is_called_by_copilot().then_some("copilot");
    let said = term::input(LONGEST, listen, is_told);
    let Some(told) = said.and_then(|said| event::read(agent, caller, &said).ok()) else {
        return note_failure(agent, "what it said did not come, or can't be read");
    };
    let Some(mut event) = told else {
        return;
    };
    event.folders.extend(env::project_of_agent());
    event.heard = clock::milliseconds();
    let is_blocked = guard(agent, &event, &watch);
    let wait = match &event.what {
        // Of what is still to come only the files matter, and only if it comes.
        What::Using(tool) if is_blocked || tool.touched == Touched::Nothing => return,
        What::LostSight => return,
        // Nothing has changed: nothing is to be waited for.
        What::Used(tool) if tool.touched == Touched::Nothing => Duration::ZERO,
        What::Closed | What::Ended(Ending::Interrupted) => LAST_WAIT,
        _ => longest_wait(),
    };
    if let What::Ended(ending) = event.what {
        note_ending(&event, ending);
    }
    match start_worker(&event) {
        Ok(worker) => drop(worker.ends_within(wait.saturating_sub(watch.elapsed()))),
        Err(error) => note_failure(agent, &format!("{error}: {}", error.causes().join(": "))),
    }
}

/// Has all been said? Agents may leave the stream open.
fn is_told(said: &[u8]) -> bool {
    said.trim_ascii_end().ends_with(b"}") && json::is_whole(said)
}

/// Notes that an event can't be seen to. Of which work it was may not be known: the folder is where the hook was called.
fn note_failure(agent: Agent, why: &str) {
    let here = env::directory().ok();
    let folders = env::project_of_agent().into_iter().chain(here);
    if let Some(scratch) = { folders }.find_map(|folder| scratch_near(&folder)) {
        let when = time::rfc3339(clock::now());
        let _ = hooklog::add(&scratch, &format!("{when} {agent}: {why}"));
    }
}

/// Notes how it ended before it is seen to: an agent that ends itself may end what its hooks have started, and the end of
/// the conversation, which it tells next, may be seen to first.
fn note_ending(event: &Event, ending: Ending) {
    let by = by(event);
    for scratch in homes(event).iter().filter_map(|home| scratch_near(home)) {
        // Where it can't be noted, it is seen to a little later, as ever.
        let _ = prompt::foretell_ending(&scratch, &by, in_history(ending));
    }
}

fn by(event: &Event) -> By {
    By {
        agent: event.agent.clone(),
        session: event.session.clone(),
        model: event.model.clone(),
    }
}

fn in_history(ending: Ending) -> turn::Ending {
    match ending {
        Ending::Completed => turn::Ending::Completed,
        Ending::Failed => turn::Ending::Failed,
        Ending::Interrupted => turn::Ending::Interrupted,
    }
}

/// Asks the guard, and says what it says. Is the call blocked?
fn guard(agent: Agent, event: &Event, watch: &Stopwatch) -> bool {
    // The project that it was started in comes last: there it is, wherever it stands by now.
    let homes = homes(event);
    let mut guarded = homes.iter().rev().filter(|home| guarding::is_on(home));
    let Some(home) = guarded.next() else {
        return false;
    };
    let mut decision = guarding::decide(event, home);
    let is_of_loops = |decision: &guarding::Decision| decision.is_of_loops;
    if decision.as_ref().is_some_and(is_of_loops) && matches!(event.what, What::Using(_)) {
        // What has changed outside of the agent's calls nobody has seen yet.
        let worker = start_worker(event);
        let wait = longest_wait().saturating_sub(watch.elapsed());
        if !worker.is_ok_and(|worker| worker.ends_within(wait)) {
            return false;
        }
        decision = guarding::decide(event, home);
    }
    let Some(decision) = decision else {
        return false;
    };
    let answer = guarding::answer(agent, event, &decision);
    let is_told = answer.is_some_and(|answer| term::answer(&answer).is_ok());
    is_told && matches!(decision.word, Word::Block(_))
}

fn longest_wait() -> Duration {
    env::hook_wait().unwrap_or(WAIT)
}

/// Starts the same command again, with the event in its environment.
fn start_worker(event: &Event) -> Result<Behind> {
    let unsaid = || "an event can't be handed on".to_owned();
    let in_words = |event: &Event| serde_json::to_string(event).map_err(io::Error::from);
    let mut text = in_words(event).or_cannot(unsaid)?;
    if text.len() > LONGEST_EVENT {
        text = in_words(&in_short(event)).or_cannot(unsaid)?;
    }
    let program = env::this_program().or_cannot(|| "edio does not know its own file".to_owned())?;
    let worker = Command::new(program).args(["hook", &event.agent]);
    let worker = worker.env("EDIO_HOOK_EVENT", text).start_behind();
    worker.or_cannot(|| "edio can't be started".to_owned())
}

/// The same event without a list of files that is too long.
fn in_short(event: &Event) -> Event {
    let mut event = event.clone();
    match &mut event.what {
        What::Using(tool) | What::Used(tool) => {
            (tool.input, tool.result) = (None, None);
            if tool.touched != Touched::Nothing {
                tool.touched = Touched::Anything;
            }
        }
        What::Told(text) => *text = event::first_line(text),
        _ => {}
    }
    event.reply = None;
    if let Some(gained) = &mut event.gained {
        let left_out = gained.lines.drain(..);
        gained.cut += left_out
            .map(|line| line.to_string().len() as u64)
            .sum::<u64>();
    }
    event.folders.truncate(1);
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_is_known_by_the_verb_alone() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let is_hook = |line| verb(&words(line)).is_some_and(|verb| verb == "hook");
        for line in [
            "edio hook",
            "edio -C x --json hook claude",
            "edio --color=never hook -x",
        ] {
            assert!(is_hook(line), "{line}");
        }
        for line in [
            "edio",
            "edio -C hook log",
            "edio snapshot -m hook --bad",
            "edio --bad",
        ] {
            assert!(!is_hook(line), "{line}");
        }
    }
}
