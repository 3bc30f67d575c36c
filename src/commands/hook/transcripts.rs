//! What an agent's own transcript has gained.

use super::longest_wait;
use crate::agents::event::{Event, Gained};
use crate::agents::{self, Agent};
use crate::clock::Stopwatch;
use crate::error::Result;
use crate::history::prompt::By;
use crate::history::redact::Redactor;
use crate::history::transcript;
use crate::history::workspace::Locked;
use crate::json;

/// Notes what the agent's own transcript has gained for what is about to end.
///
/// # Errors
///
/// The git directory can't be written.
pub fn note(workspace: &mut Locked, event: &Event, by: &By, redactor: &Redactor) -> Result<()> {
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
        let line = json::read(line);
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
