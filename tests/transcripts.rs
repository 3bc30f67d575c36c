//! `edio.transcripts`: how much is kept of what is said, and that it harms nobody.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::common::{Repo, fed};

struct Talk {
    repo: Repo,
    file: PathBuf,
}

impl Talk {
    fn keeping(keep: &str) -> Self {
        let repo = Repo::with(&[("a", "0\n")]);
        repo.git(["config", "edio.transcripts", keep]);
        let file = repo.outside().join("t.jsonl");
        fs::write(&file, "").unwrap();
        Self { repo, file }
    }

    fn says(&self, agent: &str, event: &str, more: &Value) {
        let mut payload = json!({
            "session_id": "s1",
            "transcript_path": self.file,
            "cwd": self.repo.top,
            "hook_event_name": event,
        });
        for (key, value) in more.as_object().unwrap() {
            payload[key] = value.clone();
        }
        let output = fed(&mut self.repo.command(["hook", agent]), payload.to_string());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(
            output.stdout.is_empty() && output.stderr.is_empty(),
            "{output:?}"
        );
    }

    /// A turn of Claude Code's, with these lines in its transcript.
    fn turn(&self, text: &str, lines: &[&str]) {
        self.says("claude", "UserPromptSubmit", &json!({"prompt": text}));
        self.repo.write("a", format!("{text}\n"));
        let mut all = fs::read_to_string(&self.file).unwrap();
        for line in lines {
            all.push_str(line);
            all.push('\n');
        }
        fs::write(&self.file, all).unwrap();
        self.says(
            "claude",
            "Stop",
            &json!({"last_assistant_message": "so it is"}),
        );
    }

    /// What is kept beside a turn under this name.
    fn beside(&self, turn: u32, name: &str) -> Option<String> {
        let message = self
            .repo
            .git(["log", "-1", "--format=%B", &self.repo.turn_ref(turn)]);
        let side = message
            .lines()
            .find_map(|line| line.strip_prefix("Edio-Conversation: "))?;
        let path = format!("{side}:{name}");
        self.repo
            .git_says(["cat-file", "-e", &path])
            .then(|| self.repo.git_raw(["cat-file", "blob", &path]))
    }
}

fn entry(id: &str, text: &str) -> String {
    json!({"type": "user", "uuid": id, "sessionId": "s1", "message": text}).to_string()
}

#[test]
fn full_keeps_what_the_transcript_gained_and_nothing_twice() {
    let talk = Talk::keeping("full");
    let (one, two, three) = (entry("1", "one"), entry("2", "two"), entry("3", "three"));
    talk.turn("first", &[&one]);
    talk.turn("second", &[&two, &three]);
    assert_eq!(talk.beside(1, "transcript").unwrap(), one + "\n");
    assert_eq!(
        talk.beside(2, "transcript").unwrap(),
        format!("{two}\n{three}\n")
    );
    assert!(talk.beside(2, "conversation").unwrap().contains("so it is"));
    talk.repo.fsck();
}

#[test]
fn a_transcript_that_was_written_anew_is_seen_as_such() {
    let talk = Talk::keeping("full");
    talk.turn("first", &[&entry("1", "one"), &entry("2", "two")]);
    fs::write(&talk.file, entry("9", "in short") + "\n").unwrap();
    talk.turn("second", &[&entry("3", "three")]);
    let kept = talk.beside(2, "transcript").unwrap();
    let lines: Vec<&str> = kept.lines().collect();
    assert_eq!(
        lines,
        [
            r#"{"edio":"rewritten"}"#,
            &entry("9", "in short"),
            &entry("3", "three")
        ]
    );
}

#[test]
fn what_is_not_known_is_left_out_and_says_so() {
    let talk = Talk::keeping("full");
    talk.turn("first", &["this is no JSON"]);
    let kept = talk.beside(1, "transcript").unwrap();
    assert!(
        kept.contains("left out") && !kept.contains("no JSON"),
        "{kept}"
    );
    let doctor = talk.repo.edio(["doctor"]);
    assert!(
        doctor
            .stdout
            .contains("the transcript of claude s1 is left out of turns"),
        "{doctor}"
    );
    // A pipe would have its reader wait for ever.
    fs::remove_file(&talk.file).unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(&talk.file)
            .status()
            .unwrap()
            .success()
    );
    talk.says("claude", "UserPromptSubmit", &json!({"prompt": "second"}));
    talk.repo.write("a", "second\n");
    talk.says("claude", "Stop", &json!({}));
    assert!(
        talk.beside(2, "transcript")
            .unwrap()
            .contains("it is no file")
    );
}

#[test]
fn prompts_keeps_no_transcript_and_off_nothing() {
    let talk = Talk::keeping("prompts");
    talk.turn("first", &[&entry("1", "one")]);
    assert_eq!(talk.beside(1, "transcript"), None);
    assert!(talk.beside(1, "conversation").unwrap().contains("so it is"));
    for keep in ["off", "a typing error"] {
        let talk = Talk::keeping(keep);
        talk.turn("first\nand more", &[&entry("1", "one")]);
        assert_eq!(talk.beside(1, "conversation"), None);
        let scratch = talk.repo.path(".git/edio");
        assert!(!holds(&scratch, "so it is") && !holds(&scratch, "and more"));
        let log = talk.repo.edio(["log", "--json"]).ok().json();
        assert_eq!(log[0]["prompt"], "first");
    }
}

fn holds(folder: &Path, text: &str) -> bool {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files = entries.filter(|path| path.is_file());
    files.any(|file| String::from_utf8_lossy(&fs::read(file).unwrap()).contains(text))
}

#[test]
fn no_secret_gets_into_it_and_forget_takes_out_what_speaks_of_a_path() {
    let talk = Talk::keeping("full");
    let token = ["ghp_", "b7XqLr2ZkT9vWm4YsN8cPd6HjF3gQa1EoU5t"].concat();
    let (secret, other) = (
        entry("1", &format!("take {token}")),
        entry("2", "see token.env"),
    );
    talk.repo.write("token.env", "x\n");
    talk.turn("first", &[&secret, &other, &entry("3", "well")]);
    let kept = talk.beside(1, "transcript").unwrap();
    assert!(
        kept.contains("[redacted: ") && !kept.contains(&token),
        "{kept}"
    );
    talk.repo.edio(["redact", "--check"]).ok();
    talk.repo.edio(["forget", "-f", "token.env", "--yes"]).ok();
    let kept = talk.beside(1, "transcript").unwrap();
    assert_eq!(
        (kept.lines().count(), kept.contains("token.env")),
        (2, false),
        "{kept}"
    );
}

/// Each agent whose transcript can be read, by a line as it writes it; and one that has none.
#[test]
fn each_agents_lines_are_known() {
    let events = [
        (
            "codex",
            "UserPromptSubmit",
            "Stop",
            r#"{"timestamp":"t","ordinal":1,"type":"event_msg","payload":{"type":"task_started"}}"#,
        ),
        (
            "gemini",
            "BeforeAgent",
            "AfterAgent",
            r#"{"$set":{"lastUpdated":"t"}}"#,
        ),
        (
            "copilot",
            "UserPromptSubmit",
            "Stop",
            r#"{"type":"user.message","data":{},"id":"1","parentId":null}"#,
        ),
        (
            "pi",
            "before_agent_start",
            "agent_settled",
            r#"{"type":"session","version":3,"id":"1"}"#,
        ),
    ];
    for (agent, begin, end, line) in events {
        let talk = Talk::keeping("full");
        fs::write(&talk.file, format!("{line}\n")).unwrap();
        talk.says(agent, begin, &json!({"prompt": "first"}));
        talk.repo.write("a", "1\n");
        talk.says(agent, end, &json!({}));
        let kept = talk.beside(1, "transcript").unwrap_or_default();
        let kept: Value = serde_json::from_str(&kept).unwrap_or_default();
        assert_eq!(
            kept,
            serde_json::from_str::<Value>(line).unwrap(),
            "{agent}"
        );
    }
    let talk = Talk::keeping("full");
    talk.says("opencode", "chat.message", &json!({"prompt": "first"}));
    talk.repo.write("a", "1\n");
    talk.says("opencode", "session.idle", &json!({}));
    let kept = talk.beside(1, "transcript").unwrap_or_default();
    assert!(
        kept.contains("a transcript of opencode can't be read"),
        "{kept}"
    );
}
