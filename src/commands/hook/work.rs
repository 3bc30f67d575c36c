//! The work that an event is a reason for: in a process of its own, which may take longer than the agent waits.

use std::cell::LazyCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::{moment, place_at};
use super::places::{Job, homes, jobs, scratch_near};
use super::{by, in_history, longest_wait, transcripts};
use crate::agents::event::{self, Event, Tool, Touched, What};
use crate::clock::{self, Stopwatch};
use crate::env;
use crate::error::{Error, Result};
use crate::history::conversation::{self, Keep, What as Said};
use crate::history::git::Settings;
use crate::history::guard::Guard;
use crate::history::hooklog;
use crate::history::lock::Patience;
use crate::history::prompt::{self, By, Now, Prompt, Use};
use crate::history::redact::Redactor;
use crate::history::state::State;
use crate::history::turn::{self, Number};
use crate::history::workspace::{Locked, Place, Workspace};
use crate::term::time;

/// How long another edio is waited for. Where that one hangs, what waits for it would pile up with each event; and the next
/// look sees what this one has missed.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sees to an event, in each work tree that it concerns.
pub fn see_to(event: &str) {
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
    // The end of a turn is: whoever was connected in the midst of it has heard of nothing else.
    let begins = match &event.what {
        What::Told(_) | What::Ended(_) => true,
        What::Using(tool) => brought.is_some() || matches!(tool.touched, Touched::Files(_)),
        _ => is_work,
    };
    if !begins && scratch_near(&job.folder).is_none() && !env::git_is_told_where() {
        return Ok(Vec::new());
    }
    let mut workspace = open(existing(&job.folder))?;
    if let Err(error) = Guard::of(&workspace.settings).save(&workspace.scratch()) {
        note_failure(event, &job.folder, &error);
    }
    let now = Now {
        moment: moment()?,
        is_late,
    };
    if let Some(prompt) = brought {
        match event.what {
            // Nothing is done there yet.
            What::Using(_) => prompt::told(&mut workspace, &by, prompt, &now).map(drop)?,
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
        let state = scratch_near(top).and_then(|scratch| State::load(&scratch).ok());
        state.is_some_and(|state| by.open_prompt(&state).is_some())
    };
    if knows(folder) {
        return Ok(None);
    }
    let Some(home) = homes.iter().find(|home| *home != folder && knows(home)) else {
        return Ok(None);
    };
    let mut workspace = open(home.clone())?;
    prompt::note_elsewhere(&mut workspace.state, by, folder);
    workspace.state.save(&workspace.scratch())?;
    let open = by.open_prompt(&workspace.state);
    Ok(open.map(Prompt::afresh))
}

fn open(folder: PathBuf) -> Result<Locked> {
    let place = Place {
        patience: Patience {
            told: None,
            most: Some(env::hook_patience().unwrap_or(PATIENCE)),
        },
        ..place_at(folder)
    };
    Workspace::open_locked(&place)
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
            hook: event.hook.clone(),
            twice: false,
            at: now.moment.seconds,
            what,
        };
        match Keep::of(workspace) {
            Keep::Nothing => Ok(()),
            Keep::Prompts | Keep::Full => conversation::note(workspace, &said.redacted(&redactor)),
        }
    };
    let note_reply = |workspace: &mut Locked| match &event.reply {
        Some(text) if !prompt::has_said(&mut workspace.state, by, text, now.moment.seconds) => {
            note(workspace, Said::Reply(text.clone()))
        }
        _ => Ok(()),
    };
    if let (What::Woken | What::Ended(_), Some(id)) = (&event.what, &event.prompt) {
        prompt::goes_on(&mut workspace.state, by, id);
    }
    if ends(&event.what) && Keep::of(workspace) == Keep::Full {
        transcripts::note(workspace, event, by, &redactor)?;
    }
    match &event.what {
        What::Told(text) => {
            let is_new = prompt::told(workspace, by, prompt(text), now);
            // Also where what was before could not be recorded.
            if !matches!(is_new, Ok(false)) {
                note(workspace, Said::Prompt(text.clone()))?;
            }
            is_new.map(drop)
        }
        What::Using(tool) => prompt::using(workspace, by, &use_of(tool, event, job), now),
        // What it was told before is still what it works on, unless that has ended: then nobody has told it anything.
        What::Woken => match by.open_prompt(&workspace.state) {
            Some(_) => prompt::paused(workspace, by, now),
            None => prompt::told(workspace, by, prompt(""), now).map(drop),
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
