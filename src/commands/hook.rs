//! `edio hook`: what an agent's hooks call.
//!
//! Nothing here may block, slow, break or confuse the agent: it ends within its time with exit code 0, and prints nothing
//! but what the [guard](guarding) says, where that is turned on. So the work is done by another edio, which this one starts
//! and waits for a while. One that takes longer goes on by itself. What goes wrong is written to a log in the git directory, which `edio doctor` reads.

mod guarding;

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::error::ErrorKind;

use super::{moment, place_at, stores};
use crate::agents::event::{self, Ending, Event, Gained, Tool, Touched, What};
use crate::agents::guard::Word;
use crate::agents::{self, Agent};
use crate::clock::{self, Stopwatch};
use crate::env;
use crate::error::{Error, Result};
use crate::history::conversation::{self, Keep, What as Said};
use crate::history::git::Settings;
use crate::history::guard::Guard;
use crate::history::hooklog;
use crate::history::prompt::{self, By, Now, Prompt, Use};
use crate::history::redact::Redactor;
use crate::history::state::State;
use crate::history::transcript;
use crate::history::turn::{self, Number};
use crate::history::workspace::{self, Locked, Workspace, top_near};
use crate::process::Command;
use crate::term::{self, time};

/// How long an agent is kept waiting, all in all.
const WAIT: Duration = Duration::from_millis(1500);

/// The same at the end of a conversation: agents give a hook one second there.
const LAST_WAIT: Duration = Duration::from_millis(600);

/// How long the agent may take to say what happened, and how much it may say.
const LISTEN: Duration = Duration::from_millis(400);
const LONGEST: u64 = 64 << 20;

/// What the environment of a process may hold: an event that says more is handed on in short.
const LONGEST_EVENT: usize = 100 << 10;

/// How many folders are looked through for repositories of one workspace.
const FOLDERS: usize = 200;

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
        Some(event) => see_to(&event.to_string_lossy()),
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
    let Some(payload) = term::input(LONGEST, env::hook_wait().unwrap_or(LISTEN)) else {
        return;
    };
    let caller = env::is_called_by_copilot().then_some("copilot");
    let Some(mut event) = event::read(agent, caller, &payload) else {
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
    if let Some(worker) = worker(&event).and_then(|worker| worker.start_behind().ok()) {
        worker.ends_within(wait.saturating_sub(watch.elapsed()));
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
        let has_looked = worker(event).and_then(|worker| worker.start_behind().ok());
        let wait = longest_wait().saturating_sub(watch.elapsed());
        if !has_looked.is_some_and(|worker| worker.ends_within(wait)) {
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

/// The same command again, with the event in its environment.
fn worker(event: &Event) -> Option<Command> {
    let mut text = serde_json::to_string(event).ok()?;
    if text.len() > LONGEST_EVENT {
        text = serde_json::to_string(&in_short(event)).ok()?;
    }
    let program = env::this_program().ok()?;
    let worker = Command::new(program).args(["hook", &event.agent]);
    Some(worker.env("EDIO_HOOK_EVENT", text))
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

/// Sees to an event, in each work tree that it concerns.
fn see_to(event: &str) {
    let watch = Stopwatch::start();
    let Ok(event) = serde_json::from_str::<Event>(event) else {
        return;
    };
    let is_late = || watch.elapsed() > longest_wait();
    let homes = homes(&event);
    let mut jobs = jobs(&event, &homes);
    while let Some(job) = jobs.pop() {
        match see_to_one(&event, &job, &homes, &is_late) {
            Ok(further) => jobs.extend(further),
            Err(error) => note_failure(&event, &job.folder, &error),
        }
    }
}

/// A work tree in which something is to be done.
struct Job {
    /// A folder in it.
    folder: PathBuf,
    /// The files in it that a tool has touched, where that is known.
    files: Option<Vec<PathBuf>>,
}

impl Job {
    fn whole(folder: PathBuf) -> Self {
        Self {
            folder,
            files: None,
        }
    }
}

/// The work trees in which the agent works, by their tops.
fn homes(event: &Event) -> Vec<PathBuf> {
    let folders = match event.folders.is_empty() {
        true => env::directory().into_iter().collect(),
        false => event.folders.clone(),
    };
    let mut homes: Vec<PathBuf> = Vec::new();
    for top in folders.iter().flat_map(|folder| tops_at(folder)) {
        if !homes.contains(&top) {
            homes.push(top);
        }
    }
    homes
}

fn jobs(event: &Event, homes: &[PathBuf]) -> Vec<Job> {
    match &event.what {
        What::Using(Tool {
            touched: Touched::Files(files),
            ..
        })
        | What::Used(Tool {
            touched: Touched::Files(files),
            ..
        }) => by_work_tree(files, homes),
        What::Used(tool) if tool.touched == Touched::Nothing => {
            homes.iter().take(1).cloned().map(Job::whole).collect()
        }
        _ => homes.iter().cloned().map(Job::whole).collect(),
    }
}

/// The work tree that a folder lies in; or those right below it in which edio is known, where several repositories make
/// up one workspace.
fn tops_at(folder: &Path) -> Vec<PathBuf> {
    if env::git_is_told_where() {
        return vec![folder.to_owned()];
    }
    if let Some(top) = top_of(folder) {
        return vec![top];
    }
    let Ok(entries) = folder.read_dir() else {
        return Vec::new();
    };
    let below = entries.flatten().take(FOLDERS).map(|entry| entry.path());
    below
        .filter(|below| scratch_near(below).is_some())
        .collect()
}

fn top_of(folder: &Path) -> Option<PathBuf> {
    top_near(folder, &stores())
}

/// edio's scratch folder of the work tree that a folder seems to lie in, if it is there.
fn scratch_near(folder: &Path) -> Option<PathBuf> {
    workspace::scratch_near(folder, &stores())
}

/// Files that lie in none are a matter of the one that the agent works in, where that keeps a journal.
fn by_work_tree(files: &[PathBuf], homes: &[PathBuf]) -> Vec<Job> {
    let mut by_top: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    let home = || {
        homes
            .iter()
            .find(|home| guarding::has_journal(home))
            .cloned()
    };
    // An agent that does not say where it works works here.
    let here = env::directory().unwrap_or_default();
    for file in files.iter().map(|file| here.join(file)) {
        if let Some(top) = file.parent().and_then(top_of).or_else(home) {
            by_top.entry(top).or_default().push(file);
        }
    }
    let job = |(folder, files)| Job {
        folder,
        files: Some(files),
    };
    by_top.into_iter().map(job).collect()
}

/// Does what is to be done in one work tree. Returns what is to be done in others for the same reason.
fn see_to_one(
    event: &Event,
    job: &Job,
    homes: &[PathBuf],
    is_late: &dyn Fn() -> bool,
) -> Result<Vec<Job>> {
    let by = by(event);
    let is_work = match &event.what {
        What::Using(tool) | What::Used(tool) => tool.touched != Touched::Nothing,
        _ => false,
    };
    let brought = match is_work {
        true => open_at_home(&by, homes, &job.folder)?,
        false => None,
    };
    // Neither the end of a conversation nor a command that may change nothing is a reason to begin to work in a repository.
    let begins = match &event.what {
        What::Told(_) => true,
        What::Using(tool) => brought.is_some() || matches!(tool.touched, Touched::Files(_)),
        _ => is_work,
    };
    if !begins && scratch_near(&job.folder).is_none() && !env::git_is_told_where() {
        return Ok(Vec::new());
    }
    let mut workspace = Workspace::open_locked(&place_at(existing(&job.folder)))?;
    if let Err(error) = Guard::of(&workspace.settings).save(&workspace.scratch()) {
        note_failure(event, &job.folder, &error);
    }
    let now = Now {
        moment: moment(),
        is_late,
    };
    if let Some(prompt) = brought {
        match event.what {
            // Nothing is done there yet.
            What::Using(_) => prompt::told(&mut workspace, &by, prompt, &now)?,
            _ => prompt::bring(&mut workspace.state, &by, prompt),
        }
    }
    let open = by.open_prompt(&workspace.state);
    let elsewhere = open.map(|prompt| prompt.elsewhere.clone());
    let done = handle(&mut workspace, event, &by, job, &now);
    let heard = &mut workspace.state.heard;
    heard.insert(event.agent.clone(), now.moment.seconds);
    let saved = workspace.state.save(&workspace.scratch());
    done.and(saved)?;
    let ends = matches!(event.what, What::Ended(_) | What::Closed | What::Opened);
    let further = elsewhere.unwrap_or_default().into_iter();
    Ok(further.filter(|_| ends).map(Job::whole).collect())
}

/// The prompt that the agent works on in another work tree, which remembers from here on that it is worked on in this
/// folder, too. `None` where this one knows already.
fn open_at_home(by: &By, homes: &[PathBuf], folder: &Path) -> Result<Option<Prompt>> {
    let knows = |top: &Path| {
        let state = scratch_near(top).map(|scratch| State::load(&scratch));
        state.is_some_and(|state| by.open_prompt(&state).is_some())
    };
    if knows(folder) {
        return Ok(None);
    }
    let Some(home) = homes.iter().find(|home| *home != folder && knows(home)) else {
        return Ok(None);
    };
    let mut workspace = Workspace::open_locked(&place_at(home.clone()))?;
    prompt::note_elsewhere(&mut workspace.state, by, folder);
    workspace.state.save(&workspace.scratch())?;
    let open = by.open_prompt(&workspace.state);
    Ok(open.map(Prompt::afresh))
}

/// The nearest folder that is there.
fn existing(folder: &Path) -> PathBuf {
    let mut folders = folder.ancestors();
    let there = folders.find(|folder| folder.is_dir());
    there.unwrap_or(folder).to_owned()
}

fn handle(workspace: &mut Locked, event: &Event, by: &By, job: &Job, now: &Now<'_>) -> Result<()> {
    let (settings, scratch) = (workspace.settings.clone(), workspace.scratch());
    // Most events say nothing that could hold a secret.
    let redactor = LazyCell::new(|| redactor(&settings, &scratch));
    let prompt = |text: &str| Prompt {
        agent: by.agent.clone(),
        session: by.session.clone(),
        id: event.prompt.clone(),
        text: event::first_line(&redactor.text(text)),
        tells_of_tools: event::tells_of_tools(&by.agent),
        heard: event.heard,
        ..Prompt::default()
    };
    let is_told = matches!(event.what, What::Told(_));
    if ends(&event.what) && !is_told && prompt::is_of_another(&workspace.state, by, event.heard) {
        return Ok(());
    }
    let note = |workspace: &Locked, what| {
        let said = conversation::Entry {
            agent: by.agent.clone(),
            session: by.session.clone(),
            at: now.moment.seconds,
            what,
        };
        match Keep::of(workspace) {
            Keep::Nothing => Ok(()),
            Keep::Prompts | Keep::Full => conversation::note(workspace, &said.redacted(&redactor)),
        }
    };
    let note_reply = |workspace: &Locked| match &event.reply {
        Some(text) => note(workspace, Said::Reply(text.clone())),
        None => Ok(()),
    };
    if let (What::Woken | What::Ended(_), Some(id)) = (&event.what, &event.prompt) {
        prompt::goes_on(&mut workspace.state, by, id);
    }
    if ends(&event.what) && Keep::of(workspace) == Keep::Full {
        note_transcript(workspace, event, by, &redactor)?;
    }
    match &event.what {
        What::Told(text) => {
            let before = prompt::told(workspace, by, prompt(text), now);
            note(workspace, Said::Prompt(text.clone()))?;
            before
        }
        What::Using(tool) => prompt::using(workspace, by, &use_of(tool, event, job), now),
        // What it was told before is still what it works on, unless that has ended: then nobody has told it anything.
        What::Woken => match by.open_prompt(&workspace.state) {
            Some(_) => prompt::paused(workspace, by, now),
            None => prompt::told(workspace, by, prompt(""), now),
        },
        What::Used(tool) => {
            let taken = match tool.touched {
                Touched::Nothing => Ok(None),
                _ => prompt::used(workspace, by, &use_of(tool, event, job), now),
            };
            let step = taken.as_ref().ok().copied().flatten();
            note(workspace, Said::Call(call(tool, event, step)))?;
            taken.map(drop)
        }
        What::Paused => {
            note_reply(workspace)?;
            prompt::paused(workspace, by, now)
        }
        What::Ended(ending) => {
            note_reply(workspace)?;
            prompt::ended(workspace, by, in_history(*ending), now)
        }
        // Whatever is open now was never ended.
        What::Opened | What::Closed => match by.open_prompt(&workspace.state) {
            Some(_) => prompt::ended(workspace, by, turn::Ending::Interrupted, now),
            None => Ok(()),
        },
        What::LostSight => Ok(()),
    }
}

/// Does what the agent was told before end with this?
fn ends(what: &What) -> bool {
    matches!(
        what,
        What::Told(_) | What::Ended(_) | What::Opened | What::Closed
    )
}

/// What the agent's own transcript has gained for what is about to end.
fn note_transcript(
    workspace: &mut Locked,
    event: &Event,
    by: &By,
    redactor: &Redactor,
) -> Result<()> {
    if by.open_prompt(&workspace.state).is_none() {
        return Ok(());
    }
    // The look at the files comes after it, and is not to come late.
    let watch = Stopwatch::start();
    let has_time = || watch.elapsed() < longest_wait() / 4;
    let known = &mut workspace.state.transcripts;
    let key = format!("{} {}", by.agent, by.session.as_deref().unwrap_or_default());
    let place = known.remove(&key);
    while known.len() >= transcript::REMEMBERED {
        known.pop_first();
    }
    let (lines, place) = match gained(event, place.as_ref()) {
        Ok(gain) => (transcript::kept(&gain, redactor, &has_time), gain.place),
        Err(why) => {
            let lines = vec![transcript::left_out(&why)];
            let left_out = Some(why);
            (
                lines,
                transcript::Place {
                    left_out,
                    ..place.unwrap_or_default()
                },
            )
        }
    };
    known.insert(key, place);
    transcript::note(workspace, &by.agent, by.session.as_deref(), lines)
}

/// What it has gained, or why it is left out.
fn gained(
    event: &Event,
    place: Option<&transcript::Place>,
) -> std::result::Result<transcript::Gain, String> {
    let agent = event.agent.parse::<Agent>().ok();
    let agent = agent.filter(|agent| agents::transcript::is_readable(*agent));
    let agent = agent.ok_or_else(|| format!("a transcript of {} can't be read", event.agent))?;
    let is_known = |line: &Vec<u8>| {
        let line = serde_json::from_slice(line);
        line.is_ok_and(|line| agents::transcript::knows(agent, &line))
    };
    let mut gain = match &event.gained {
        Some(gained) => told_gain(gained, place),
        None if agents::transcript::is_told(agent) => {
            return Err(format!(
                "its plugin is an older one: edio init --agents {agent}"
            ));
        }
        None => {
            let file = event.transcript.as_ref();
            let file =
                file.ok_or_else(|| format!("{agent} does not say where its transcript is"))?;
            transcript::gain(file, place).map_err(|error| error.to_string())?
        }
    };
    match gain.lines.iter().all(is_known) {
        true => {
            gain.place.left_out = None;
            Ok(gain)
        }
        false => Err("it has a form that is not known".to_owned()),
    }
}

/// What the agent itself has told.
fn told_gain(gained: &Gained, place: Option<&transcript::Place>) -> transcript::Gain {
    let lines = gained
        .lines
        .iter()
        .map(|line| line.to_string().into_bytes());
    transcript::Gain {
        lines: lines.collect(),
        cut: gained.cut,
        place: place.cloned().unwrap_or_default(),
        ..transcript::Gain::default()
    }
}

/// With the user's own patterns. One that can't be understood is named, and the others count.
fn redactor(settings: &Settings, scratch: &Path) -> Redactor {
    let (redactor, broken) = Redactor::set_leniently(settings);
    for error in broken {
        let when = time::rfc3339(clock::now());
        let _ = hooklog::add(scratch, &format!("{when} {error}"));
    }
    redactor
}

fn use_of(tool: &Tool, event: &Event, job: &Job) -> Use {
    Use {
        tool: tool.name.clone(),
        call: tool.call.clone(),
        helper: event.helper.clone(),
        files: job.files.clone(),
        is_foretold: event::tells_of_tools(&event.agent),
    }
}

fn call(tool: &Tool, event: &Event, step: Option<Number>) -> conversation::Call {
    let looks = tool.touched == Touched::Nothing;
    // Of what was only looked at, the first line is enough.
    let result = tool.result.as_ref().map(|result| match looks {
        true => event::first_line(result),
        false => result.clone(),
    });
    conversation::Call {
        tool: tool.name.clone(),
        id: tool.call.clone(),
        helper: event.helper.clone(),
        input: tool.input.clone(),
        result,
        failed: tool.failed,
        beyond: tool.touched == Touched::Anything,
        step,
    }
}

fn in_history(ending: Ending) -> turn::Ending {
    match ending {
        Ending::Completed => turn::Ending::Completed,
        Ending::Failed => turn::Ending::Failed,
        Ending::Interrupted => turn::Ending::Interrupted,
    }
}

fn note_failure(event: &Event, folder: &Path, error: &Error) {
    let Some(scratch) = scratch_near(folder) else {
        return;
    };
    let when = time::rfc3339(clock::now());
    let why = [error.to_string()].into_iter().chain(error.causes());
    let why: Vec<String> = why.chain(error.hints().iter().cloned()).collect();
    let agent = &event.agent;
    // Where even this can't be written, there is nobody left to tell.
    let _ = hooklog::add(
        &scratch,
        &format!("{when} {agent} {}: {}", name(&event.what), why.join("; ")),
    );
}

/// What it is called in the log.
fn name(what: &What) -> &'static str {
    match what {
        What::Opened => "conversation opened",
        What::Told(_) => "prompt",
        What::Using(_) => "tool about to be used",
        What::Woken => "woken",
        What::LostSight => "conversation put in short",
        What::Used(_) => "tool used",
        What::Paused => "helper ended",
        What::Ended(_) => "ended",
        What::Closed => "conversation closed",
    }
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
