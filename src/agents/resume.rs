//! A new conversation that ends where one prompt of another ended, for agents that keep each in a file of lines.
//!
//! Agents can resume a conversation as a whole, but not up to a point: Claude Code heeds `--resume-session-at` only where
//! it prints, and Codex has the like only in the server for its editors. So the beginning of the file becomes a file of
//! its own, with another id in it, and that is resumed as any other.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use bstr::ByteSlice;
use serde_json::Value;

use super::{Agent, claude, codex};
use crate::json;

/// How an agent keeps its conversations, and goes on with one.
pub struct Keeping {
    /// The environment variable that names its own folder.
    pub variable: &'static str,
    /// That folder where the variable is not set, from the home folder.
    pub at_home: &'static str,
    /// Where in it conversations are.
    pub folders: &'static [&'static str],
    /// How deep below that.
    pub depth: usize,
    /// The fields that have a conversation's id, in each line.
    pub(super) ids: &'static [&'static str],
    /// The version of the UUIDs that are its ids.
    pub(super) version: u8,
    /// Where the prompt of this id ends, in bytes.
    pub(super) end: fn(&[u8], &str) -> Option<usize>,
    /// The words that resume a conversation, but for its id.
    pub(super) command: [&'static str; 2],
}

impl Agent {
    /// How it keeps conversations, where a new one can be made that it resumes.
    pub fn keeping(self) -> Option<&'static Keeping> {
        match self {
            Agent::Claude => Some(&claude::KEEPING),
            Agent::Codex => Some(&codex::KEEPING),
            _ => None,
        }
    }
}

impl Keeping {
    /// Is this the file of the conversation with this id?
    pub fn is_file_of(&self, file: &Path, id: &str) -> bool {
        let name = file.file_name().unwrap_or_default().as_encoded_bytes();
        let stem = name.strip_suffix(b".jsonl");
        let before = stem.and_then(|stem| stem.strip_suffix(id.as_bytes()));
        is_uuid(id) && before.is_some_and(|before| before.is_empty() || before.ends_with(b"-"))
    }

    /// The file beside this one for another conversation, in the place of the one that it is of.
    pub fn file_beside(&self, file: &Path, old: &str, new: &str) -> PathBuf {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        file.with_file_name(name.replace(old, new))
    }

    /// The lines of a conversation up to the end of the prompt with this id, for one with another id. `None` where there is
    /// no such prompt.
    pub fn beginning(&self, lines: &[u8], prompt: &str, old: &str, new: &str) -> Option<Vec<u8>> {
        let end = (self.end)(lines, prompt)?;
        let mut beginning = Cow::Borrowed(&lines[..end]);
        for field in self.ids {
            // In a text of JSON a quote has a backslash before it: this stands nowhere but in fields.
            let named = |id: &str| format!("\"{field}\":\"{id}\"");
            beginning = Cow::Owned(beginning.replace(named(old), named(new)));
        }
        let mut beginning = beginning.into_owned();
        if !beginning.ends_with(b"\n") {
            beginning.push(b'\n');
        }
        Some(beginning)
    }

    /// An id for a new conversation.
    pub fn new_id(&self, seconds: i64, random: u128) -> String {
        let bits = match self.version {
            // Those of version 7 begin with the time, in milliseconds.
            7 => u128::from(seconds.unsigned_abs() * 1000) << 80 | random >> 48,
            _ => random,
        };
        let bits = bits & !(0xf << 76) | u128::from(self.version) << 76;
        let bits = bits & !(0b11 << 62) | 0b10 << 62;
        let digits = format!("{bits:032x}");
        let parts = [0..8, 8..12, 12..16, 16..20, 20..32];
        parts.map(|part| digits[part].to_owned()).join("-")
    }

    /// The command that resumes a conversation, word by word.
    pub fn command(&self, id: &str) -> [String; 3] {
        let [program, flag] = self.command;
        [program.to_owned(), flag.to_owned(), id.to_owned()]
    }
}

fn is_uuid(id: &str) -> bool {
    let mut bytes = id.bytes();
    id.len() == 36 && bytes.all(|b| b.is_ascii_hexdigit() || b == b'-')
}

/// Each line with its end, in bytes. A line that can't be read is none, as agents see it.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = (Value, usize)> {
    let mut end = 0;
    bytes.lines_with_terminator().filter_map(move |line| {
        end += line.len();
        Some((json::read(line).ok()?, end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_ids_have_the_form_that_agents_expect() {
        let random = u128::MAX / 3;
        let claude = claude::KEEPING.new_id(1_796_131_417, random);
        assert_eq!(claude, "55555555-5555-4555-9555-555555555555");
        let codex = codex::KEEPING.new_id(1_796_131_417, random);
        assert_eq!(codex, "01a231c6-6ba8-7555-9555-555555555555");
    }

    #[test]
    fn a_file_is_known_by_its_whole_id() {
        let id = "b4b167ec-e183-4d15-9fad-60a48a4c9735";
        let is = |name: &str, id: &str| claude::KEEPING.is_file_of(Path::new(name), id);
        assert!(is(&format!("p/{id}.jsonl"), id));
        assert!(is(&format!("rollout-2026-12-01T13-23-37-{id}.jsonl"), id));
        assert!(!is(&format!("x{id}.jsonl"), id));
        assert!(!is(&format!("{id}.json"), id));
        assert!(!is("a.jsonl", "a") && !is("..jsonl", "."));
    }

    #[test]
    fn a_prompt_of_claude_ends_with_the_last_entry_before_the_next_one() {
        let lines = [
            r#"{"type":"queue-operation","sessionId":"old","content":"one"}"#,
            r#"{"type":"user","uuid":"1","promptId":"p","sessionId":"old","message":{"content":"say \"sessionId\":\"old\""}}"#,
            r#"{"type":"assistant","uuid":"2","sessionId":"old"}"#,
            r#"{"type":"user","uuid":"3","promptId":"p","sessionId":"old"}"#,
            r#"{"type":"system","uuid":"4","sessionId":"old"}"#,
            r#"{"type":"queue-operation","sessionId":"old","content":"two"}"#,
            r#"{"type":"user","uuid":"5","promptId":"q","sessionId":"old"}"#,
        ];
        let text = lines.join("\n");
        let beginning = |prompt| claude::KEEPING.beginning(text.as_bytes(), prompt, "old", "new");
        let first = String::from_utf8(beginning("p").unwrap()).unwrap();
        let expected = lines[..5]
            .join("\n")
            .replace(r#""sessionId":"old""#, r#""sessionId":"new""#);
        assert_eq!(first, expected + "\n");
        assert!(first.contains(r#"say \"sessionId\":\"old\""#));
        let all = beginning("q").unwrap();
        assert_eq!(all.lines().count(), lines.len());
        assert_eq!(beginning("r"), None);
    }

    #[test]
    fn a_prompt_of_codex_ends_with_its_task_or_before_the_next() {
        let event = |kind: &str, turn: &str| {
            format!(r#"{{"type":"event_msg","payload":{{"type":"{kind}","turn_id":"{turn}"}}}}"#)
        };
        let said =
            |text: &str| format!(r#"{{"type":"response_item","payload":{{"text":"{text}"}}}}"#);
        let lines = [
            r#"{"type":"session_meta","payload":{"id":"old","session_id":"old"}}"#.to_owned(),
            event("task_started", "p"),
            said("one"),
            event("task_complete", "p"),
            r#"{"type":"event_msg","payload":{"type":"x","thread_id":"old"}}"#.to_owned(),
            event("task_started", "q"),
            said("two"),
            event("task_started", "r"),
            said("three"),
        ];
        let text = lines.join("\n");
        let beginning = |prompt| {
            let bytes = codex::KEEPING.beginning(text.as_bytes(), prompt, "old", "new")?;
            Some(
                String::from_utf8(bytes)
                    .unwrap()
                    .lines()
                    .map(str::to_owned)
                    .collect::<Vec<_>>(),
            )
        };
        let first = beginning("p").unwrap();
        assert_eq!(
            first[0],
            r#"{"type":"session_meta","payload":{"id":"new","session_id":"new"}}"#
        );
        assert_eq!(first[1..], lines[1..4]);
        assert_eq!(beginning("q").unwrap().len(), 7, "killed: it has no end");
        assert_eq!(beginning("r").unwrap().len(), 9);
        assert_eq!(beginning("s"), None);
    }
}
