//! What the guard says to an event, before anything else is done about it. A fault of the guard's own lets the call
//! through, and is told once in a conversation.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::places::scratch_near;
use crate::agents::Agent;
use crate::agents::event::{Event, Tool, What, exit_code};
use crate::agents::guard::{self as words, Call, Named, Word};
use crate::clock;
use crate::env;
use crate::error::{Error, Result, While};
use crate::history::guard::{Guard, Guarded, Memory, Part, Verdict, content_id, has_line};
use crate::history::hooklog;
use crate::term::time;

/// What was decided, and what for.
pub struct Decision {
    /// What the agent is told.
    pub word: Word,
    /// Does it hold only as long as nothing has changed?
    pub is_of_loops: bool,
}

/// What the guard says; `None` where it has nothing to say, or is not turned on.
pub fn decide(event: &Event, home: &Path) -> Option<Decision> {
    let scratch = scratch_near(home)?;
    let guard = Guard::load(&scratch).and_then(|guard| match guard {
        None => Ok(None),
        Some(guard) => Scene::new(event, home, &scratch, guard).decide(),
    });
    match guard {
        Ok(decision) => {
            note(event, &scratch, decision.as_ref());
            decision
        }
        Err(error) => fault(event, &scratch, &error),
    }
}

/// How the agent hears it.
pub fn answer(agent: Agent, event: &Event, decision: &Decision) -> Option<Value> {
    words::answer(agent, event, &decision.word)
}

/// Is anything guarded here?
pub fn is_on(home: &Path) -> bool {
    scratch_near(home).is_some_and(|scratch| Guard::is_there(&scratch))
}

/// Is what no snapshot holds kept here before it is written?
pub fn has_journal(home: &Path) -> bool {
    let guard = scratch_near(home).map(|scratch| Guard::load(&scratch));
    matches!(guard, Some(Ok(Some(guard))) if guard.has(Guarded::Journal))
}

fn remembered(event: &Event, scratch: &Path) -> Result<Memory> {
    let session = event.session.as_deref().unwrap_or_default();
    let conversation = format!("{} {session}", event.agent);
    Memory::open(scratch, &conversation)
}

struct Scene<'a> {
    event: &'a Event,
    home: &'a Path,
    scratch: &'a Path,
    guard: Guard,
}

impl<'a> Scene<'a> {
    fn new(event: &'a Event, home: &'a Path, scratch: &'a Path, guard: Guard) -> Self {
        Self {
            event,
            home,
            scratch,
            guard,
        }
    }

    fn decide(&self) -> Result<Option<Decision>> {
        let is_of_interest = matches!(
            self.event.what,
            What::Told(_) | What::Using(_) | What::Used(_) | What::Opened | What::LostSight
        );
        if !is_of_interest {
            return Ok(None);
        }
        let mut memory = remembered(self.event, self.scratch)?;
        let decision = match &self.event.what {
            What::Told(_) => {
                memory.is_told();
                None
            }
            What::Using(_) => {
                let call = self.call();
                return call.map_or(Ok(None), |call| self.before(&call, &memory));
            }
            What::Used(tool) => match self.call() {
                Some(call) => self.after(tool, &call, &mut memory)?,
                None => None,
            },
            _ => {
                memory.loses_sight();
                None
            }
        };
        memory.keep()?;
        Ok(decision)
    }

    fn call(&self) -> Option<Call> {
        let Guard {
            read_tools,
            write_tools,
            read_only_tools,
            volatile_tools,
            ..
        } = self.guard.clone();
        let named = Named {
            read: read_tools,
            write: write_tools,
            read_only: read_only_tools,
            volatile: volatile_tools,
        };
        Call::of(self.event, &named)
    }

    /// The call, with who makes it and what stands in the files that it names: another content is another call.
    fn in_full(&self, call: &Call) -> String {
        let contents = call.looks_at.iter().map(|file| content_id(file));
        let head = [
            self.who().unwrap_or_default().to_owned(),
            call.likeness.clone(),
        ];
        head.into_iter()
            .chain(contents)
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn who(&self) -> Option<&str> {
        self.event.helper.as_deref()
    }

    /// May the call be made?
    fn before(&self, call: &Call, memory: &Memory) -> Result<Option<Decision>> {
        if self.guard.freshness {
            for file in &call.writes {
                let unreadable = || format!("can't read {}", file.display());
                let verdict = memory.may_write(self.who(), file, call.replaces);
                let why = self.why_not(verdict.or_cannot(unreadable)?, file);
                if let Some(why) = why {
                    return Ok(Some(Decision {
                        word: Word::Block(why),
                        is_of_loops: false,
                    }));
                }
            }
        }
        let times = memory.times(&self.in_full(call)).saturating_add(1);
        // What is written where nothing is may fail for want of a folder, which no content tells.
        let is_there = call.writes.iter().all(|file| file.exists());
        let is_loop = is_there
            && self.guard.loops
            && call.depends_on_files
            && times >= self.guard.repeat_limit;
        Ok(is_loop.then(|| Decision {
            word: Word::Block(format!(
                "This is the same call of {} for the {} time, with nothing changed in between: its answer would be the \
                 same. Use the answer that you have, or choose another way.",
                call.tool,
                ordinal(times)
            )),
            is_of_loops: true,
        }))
    }

    fn why_not(&self, verdict: Verdict, file: &Path) -> Option<String> {
        let name = file.strip_prefix(self.home).unwrap_or(file).display();
        match verdict {
            Verdict::Fresh => None,
            Verdict::Unseen if self.event.agent == "codex" => Some(format!(
                "{name} was not read yet in this conversation. Read it first (cat {name}), then retry."
            )),
            Verdict::Unseen => Some(format!(
                "{name} was not read yet in this conversation. Read it first, then retry."
            )),
            Verdict::Changed => Some(format!(
                "{name} changed since you read it. Read it again, then retry."
            )),
            Verdict::SeenInPart => Some(format!(
                "Only a part of {name} was read, and this would replace all of it. Read all of it, then retry."
            )),
        }
    }

    /// Remembers what the call has shown and done.
    fn after(&self, tool: &Tool, call: &Call, memory: &mut Memory) -> Result<Option<Decision>> {
        // Claude Code has an event of its own for what fails.
        let is_told_otherwise = self.event.agent == "claude";
        let tells = !is_told_otherwise && tells_of_failure(tool, call);
        let has_failed = tool.failed || tells;
        if !has_failed {
            for read in &call.reads {
                let unreadable = || format!("can't read {}", read.file.display());
                memory
                    .saw(self.who(), &read.file, in_history(read.part))
                    .or_cannot(unreadable)?;
            }
        }
        if !has_failed && !call.writes.is_empty() {
            for file in &call.writes {
                let unreadable = || format!("can't read {}", file.display());
                // Where it may write only what it has seen, what it has not seen was not there.
                let is_new = self.guard.freshness && !memory.knows(self.who(), file);
                memory
                    .wrote(self.who(), file, call.replaces || is_new)
                    .or_cannot(unreadable)?;
            }
            memory.changed();
            return Ok(None);
        }
        if !self.guard.loops {
            return Ok(None);
        }
        let failures = match (call.is_command, has_failed) {
            (true, true) => memory.failed(&call.likeness),
            (true, false) => {
                memory.succeeded(&call.likeness);
                0
            }
            _ => 0,
        };
        let times = memory.made(&self.in_full(call), tool.call.as_deref());
        let is_loop = !call.depends_on_files && times >= self.guard.repeat_limit;
        let notice = match failures {
            2.. => format!(
                "This command has now failed {failures} times, each time after a change. Read the files again, name the \
                 assumption that was wrong, and choose another way."
            ),
            _ if is_loop => format!(
                "This was the same call of {} for the {} time, with nothing changed in between. If you expect another \
                 answer, say what should bring it about; else choose another way.",
                call.tool,
                ordinal(times)
            ),
            _ => return Ok(None),
        };
        Ok(Some(Decision {
            word: Word::Notice(notice),
            is_of_loops: true,
        }))
    }
}

fn in_history(part: words::Part) -> Part {
    match part {
        words::Part::Lines(first, last) => Part::Lines(first, last),
        words::Part::AllOf(most) => Part::AllOf(most),
        words::Part::Some => Part::Some,
    }
}

/// Some agents tell only in the answer that a command has failed: `Exit code: 1`, `"exit_code":1`. A line that stands in a
/// file which the command prints is the file's, and tells nothing.
fn tells_of_failure(tool: &Tool, call: &Call) -> bool {
    let answer = tool.result.as_deref().unwrap_or_default();
    let told = ending(answer).filter(|(_, code)| call.is_given_as_command && *code != 0);
    told.is_some_and(|(line, _)| !call.reads.iter().any(|read| has_line(&read.file, line)))
}

/// How a command has ended, by its answer, and the line that tells. It stands before what the command has printed, down to
/// a line `Output:`, or after it. What comes first decides.
fn ending(answer: &str) -> Option<(&str, i64)> {
    const HEAD: usize = 8;
    // Some say more after it.
    const BEHIND: [&str; 3] = ["Signal:", "Background PIDs:", "Process Group PGID:"];
    let lines = answer.lines().map(str::trim);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let first = *lines.first()?;
    let object = serde_json::from_str(answer).ok().filter(Value::is_object);
    if let Some(code) = object.as_ref().and_then(exit_code) {
        return Some((first, code));
    }
    let begins = lines.iter().take(HEAD).position(|line| *line == "Output:");
    let head = lines.iter().take(begins.unwrap_or(1));
    let is_behind = |line: &str| BEHIND.iter().any(|word| line.starts_with(word));
    let end = lines.iter().rfind(|line| !is_behind(line));
    head.chain(end)
        .find_map(|line| Some((*line, code_in(line)?)))
}

/// The exit code in a line that says nothing else.
fn code_in(line: &str) -> Option<i64> {
    const WORDS: [&str; 4] = [
        "exit code",
        "exit_code",
        "exited with exit code",
        "exited with code",
    ];
    let line = line.to_lowercase();
    let line = line.trim_start_matches('<');
    let who = ["process ", "command "];
    let said = who.iter().find_map(|who| line.strip_prefix(who));
    let said = said.unwrap_or(line);
    let rest = WORDS.iter().find_map(|words| said.strip_prefix(words))?;
    let code = rest.trim_matches([':', ' ', '>', '.']);
    code.parse().ok()
}

fn ordinal(number: u32) -> String {
    match number {
        2 => "second".to_owned(),
        3 => "third".to_owned(),
        4 => "fourth".to_owned(),
        5 => "fifth".to_owned(),
        other => format!("{other}th"),
    }
}

/// `EDIO_DEBUG`: each decision is one line of a log.
fn note(event: &Event, scratch: &Path, decision: Option<&Decision>) {
    if !env::wants_debug_log() || !matches!(event.what, What::Using(_) | What::Used(_)) {
        return;
    }
    let (What::Using(tool) | What::Used(tool)) = &event.what else {
        return;
    };
    let (decided, why) = match decision.map(|decision| &decision.word) {
        None => ("pass", None),
        Some(Word::Block(why)) => ("block", Some(why)),
        Some(Word::Notice(why)) => ("notice", Some(why)),
    };
    let line = json!({
        "at": time::rfc3339(clock::now()),
        "agent": event.agent,
        "session": event.session,
        "helper": event.helper,
        "event": event.name,
        "tool": tool.name,
        "call": tool.call,
        "decision": decided,
        "why": why,
    });
    // Nobody waits for this log.
    let _ = hooklog::add_to(&log(scratch), &line.to_string());
}

/// Where decisions are written down.
fn log(scratch: &Path) -> PathBuf {
    scratch.join("guard").join("debug.jsonl")
}

/// The call goes through, and that the guard has failed is told once.
fn fault(event: &Event, scratch: &Path, error: &Error) -> Option<Decision> {
    let why = [error.to_string()].into_iter().chain(error.causes());
    let why = why.collect::<Vec<_>>().join("; ");
    let when = time::rfc3339(clock::now());
    // Where even this can't be written, there is nobody left to tell.
    let _ = hooklog::add(scratch, &format!("{when} {} guard: {why}", event.agent));
    if !matches!(event.what, What::Using(_) | What::Used(_)) {
        return None;
    }
    let mut memory = remembered(event, scratch).ok()?;
    if std::mem::replace(&mut memory.has_said_fault, true) {
        return None;
    }
    memory.keep().ok()?;
    Some(Decision {
        word: Word::Notice(format!(
            "The guard of edio has failed, and lets calls through: {why}. edio doctor tells more."
        )),
        is_of_loops: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_command_has_ended_is_told_before_its_output_or_after_it() {
        let code = |answer| ending(answer).map(|(_, code)| code);
        for (answer, expected) in [
            ("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nx", Some(1)),
            (
                "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nExit code: 1",
                Some(0),
            ),
            (
                "Wall time: 1 s\nProcess exited with code 2\nOutput:\nx",
                Some(2),
            ),
            (
                r#"{"output":"exit code: 0","metadata":{"exit_code":3}}"#,
                Some(3),
            ),
            (r#"{"stdout":"x","exitCode":4}"#, Some(4)),
            ("Output: x\nExit Code: 5\nProcess Group PGID: 7", Some(5)),
            ("x\n<exited with exit code 6>", Some(6)),
            ("x\n\nCommand exited with code 7", Some(7)),
            ("x\nexit code: -1", Some(-1)),
            ("Output: exit code: 1\nProcess Group PGID: 7", None),
            ("the exit code: 1", None),
            ("x\nexit code: 1\ny", None),
            ("code 1 is for failures", None),
            ("", None),
        ] {
            assert_eq!(code(answer), expected, "{answer}");
        }
    }
}
