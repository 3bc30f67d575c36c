//! Loops: the same call over and over with nothing changed in between, and a command that fails again after each change.

use serde::{Deserialize, Serialize};

use crate::gitengine::ObjectFormat;

use super::memory::Memory;

/// So many different calls and failures are remembered.
const MOST: usize = 64;

/// Agents may call twice for one use of a tool: so many are remembered by their ids.
const IDS: usize = 16;

/// A call, and how often it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Repeat {
    call: String,
    times: u32,
    ids: Vec<String>,
}

/// A command that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Failure {
    call: String,
    /// How often, each time with something changed before.
    times: u32,
    has_changed: bool,
}

impl Memory {
    /// How often a call was made since anything was changed.
    pub fn times(&self, likeness: &str) -> u32 {
        let call = short(likeness);
        let repeat = self.repeats.iter().find(|repeat| repeat.call == call);
        repeat.map_or(0, |repeat| repeat.times)
    }

    /// A call was made. Returns how often it was, since anything was changed.
    pub fn made(&mut self, likeness: &str, id: Option<&str>) -> u32 {
        let call = short(likeness);
        let known = self.repeats.iter().position(|repeat| repeat.call == call);
        let mut repeat = known.map_or_else(Repeat::default, |at| self.repeats.remove(at));
        repeat.call = call;
        let is_known = id.is_some_and(|id| repeat.ids.iter().any(|other| other == id));
        if !is_known {
            repeat.times = repeat.times.saturating_add(1);
            repeat.ids.extend(id.map(str::to_owned));
            let surplus = repeat.ids.len().saturating_sub(IDS);
            repeat.ids.drain(..surplus);
        }
        let times = repeat.times;
        self.repeats.push(repeat);
        let surplus = self.repeats.len().saturating_sub(MOST);
        self.repeats.drain(..surplus);
        times
    }

    /// A command has failed. Returns how often it has by now, each time after a change.
    pub fn failed(&mut self, likeness: &str) -> u32 {
        let call = short(likeness);
        let known = self
            .failures
            .iter()
            .position(|failure| failure.call == call);
        let mut failure = known.map_or_else(Failure::default, |at| self.failures.remove(at));
        let counts = failure.times == 0 || failure.has_changed;
        failure = Failure {
            call,
            times: failure.times.saturating_add(u32::from(counts)),
            has_changed: false,
        };
        let times = if counts { failure.times } else { 0 };
        self.failures.push(failure);
        let surplus = self.failures.len().saturating_sub(MOST);
        self.failures.drain(..surplus);
        times
    }

    /// A command has ended well.
    pub fn succeeded(&mut self, likeness: &str) {
        let call = short(likeness);
        self.failures.retain(|failure| failure.call != call);
    }

    /// Files were changed: whatever is called now may have another answer.
    pub fn changed(&mut self) {
        self.repeats.clear();
        for failure in &mut self.failures {
            failure.has_changed = true;
        }
    }
}

fn short(likeness: &str) -> String {
    ObjectFormat::Sha1
        .hash_content(likeness.as_bytes())
        .to_string()
}
