//! `edio rewind` and `edio context`: the conversation goes back with the files. What the real agents make of it, the tests in
//! `agents/` see.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::common::{Ran, Repo, fed, payload};

const SESSION: &str = "b4b167ec-e183-4d15-9fad-60a48a4c9735";

/// An agent at work, as its hooks and its transcript tell it.
struct Worker {
    repo: Repo,
    agent: &'static str,
    transcript: PathBuf,
}

impl Worker {
    fn claude() -> Self {
        let repo = Repo::with(&[("a", "0\n")]);
        let folder = repo.outside().join("home/.claude/projects/-r");
        fs::create_dir_all(&folder).unwrap();
        let transcript = folder.join(format!("{SESSION}.jsonl"));
        fs::write(&transcript, "").unwrap();
        Self {
            repo,
            agent: "claude",
            transcript,
        }
    }

    fn says(&self, event: &str, prompt: &str, more: &Value) {
        let mut payload = payload(SESSION, &self.repo.top, event, more.clone());
        payload["transcript_path"] = json!(self.transcript);
        payload["prompt_id"] = json!(prompt);
        let mut hook = self.repo.command(["hook", self.agent]);
        let output = fed(&mut hook, payload.to_string());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }

    fn writes_down(&self, line: &Value) {
        let mut text = fs::read_to_string(&self.transcript).unwrap();
        text.push_str(&format!("{line}\n"));
        fs::write(&self.transcript, text).unwrap();
    }

    /// A prompt, in which a command writes its id into `a`.
    fn does(&self, prompt: &str, text: &str) {
        self.says("UserPromptSubmit", prompt, &json!({"prompt": text}));
        let id = |of: &str| format!("{prompt}-{of}");
        self.writes_down(&json!({"type": "user", "uuid": id("u"), "promptId": prompt, "sessionId": SESSION, "message": text}));
        let command = format!("echo {prompt} > a");
        self.repo.write("a", format!("{prompt}\n"));
        let used = json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id("t")});
        self.says("PostToolUse", prompt, &used);
        self.writes_down(&json!({"type": "assistant", "uuid": id("a"), "sessionId": SESSION, "message": format!("did {text}")}));
        let stop = json!({"last_assistant_message": format!("did {text}")});
        self.says("Stop", prompt, &stop);
        self.writes_down(&json!({"type": "system", "uuid": id("s"), "sessionId": SESSION}));
        self.writes_down(
            &json!({"type": "last-prompt", "sessionId": SESSION, "leafUuid": id("s")}),
        );
    }

    /// edio in the home folder where the agent keeps its conversations, whatever the surroundings are.
    fn edio<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Ran {
        let mut command = self.repo.command(words);
        command.env("HOME", self.repo.outside().join("home"));
        self.repo.ran(&mut command)
    }

    fn rewind(&self, words: &[&str]) -> Value {
        let ran = self.edio([&["rewind", "--json"], words].concat());
        ran.ok().json().remove(0)
    }

    fn others(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.transcript.parent().unwrap()).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| *path != self.transcript).collect()
    }
}

fn content(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn files_and_conversation_go_back_and_the_old_one_stays() {
    let work = Worker::claude();
    for (prompt, text) in [("p1", "First"), ("p2", "Second"), ("p3", "Third")] {
        work.does(prompt, text);
    }
    let before = content(&work.transcript);
    let record = work.rewind(&["2"]);
    assert_eq!(work.repo.read("a"), "p2\n");
    assert_eq!(record["files"]["written"], 1);
    assert_eq!(content(&work.transcript), before);
    let conversation = &record["conversation"];
    assert_eq!(
        (&conversation["agent"], &conversation["turn"]),
        (&json!("claude"), &json!(2))
    );
    assert_eq!(conversation["agent_session"], SESSION);
    let new = conversation["new_session"].as_str().unwrap();
    assert_eq!(conversation["resume"], json!(["claude", "--resume", new]));
    let file = conversation["file"].as_str().unwrap();
    assert_eq!(work.others(), [PathBuf::from(file)]);
    let expected: Vec<String> = before
        .lines()
        .take(7)
        .map(|line| line.replace(SESSION, new))
        .collect();
    assert_eq!(content(file).lines().collect::<Vec<_>>(), expected);
    assert!(expected[6].contains("p2-s"));
    let done = record["not_taken_back"].as_array().unwrap();
    assert_eq!(done.len(), 1, "{done:?}");
    assert!(done[0]["input"].as_str().unwrap().contains("echo p3 > a"));
    work.edio(["undo"]).ok();
    assert_eq!(work.repo.read("a"), "p3\n");
    work.repo.fsck();
}

#[test]
fn only_one_of_both_where_that_is_wanted() {
    let work = Worker::claude();
    work.does("p1", "First");
    work.does("p2", "Second");
    let record = work.rewind(&["1", "--files-only"]);
    assert_eq!(
        (
            work.repo.read("a").as_str(),
            record["conversation"].is_null()
        ),
        ("p1\n", true)
    );
    assert!(work.others().is_empty());
    work.edio(["undo"]).ok();
    let record = work.rewind(&["1", "--conversation-only"]);
    assert_eq!(
        (work.repo.read("a").as_str(), record["files"].is_null()),
        ("p2\n", true)
    );
    assert_eq!(work.others().len(), 1);
    let record = work.rewind(&["1", "--dry-run"]);
    assert_eq!(record["conversation"]["turn"], 1);
    assert_eq!(work.repo.read("a"), "p2\n");
    assert_eq!(work.others().len(), 1);
    work.edio(["rewind", "1", "--files-only", "--conversation-only"])
        .fails(2);
    work.edio(["rewind", "x"]).fails(2);
    work.edio(["rewind", "9"]).fails(1);
}

#[test]
fn the_text_names_the_command_and_what_is_not_taken_back() {
    let work = Worker::claude();
    work.does("p1", "First");
    work.does("p2", "Second");
    let ran = work.edio(["rewind", "1"]);
    let resume = ran.ok().stdout.trim();
    let id = resume.strip_prefix("claude --resume ").unwrap();
    assert!(work.others()[0].ends_with(format!("{id}.jsonl")), "{ran}");
    for said in [
        "restored turn 1: 1 path written",
        "since turn 1, 1 use of tools may have done more",
        "echo p2 > a",
        "a new conversation with Claude Code ends with turn 1",
    ] {
        assert!(ran.stderr.contains(said), "{said}: {ran}");
    }
}

#[test]
fn where_the_conversation_can_not_be_written_the_files_are_told_nevertheless() {
    let work = Worker::claude();
    work.does("p1", "First");
    work.does("p2", "Second");
    work.repo.write("a", "unsaved\n");
    work.repo.give_away();
    let folder = work.transcript.parent().unwrap();
    work.repo.chmod(folder, 0o555);
    let mut command = work.repo.command_without_rights(["rewind", "1"]);
    command.env("HOME", work.repo.outside().join("home"));
    let ran = work.repo.ran(&mut command);
    work.repo.chmod(folder, 0o755);
    let stderr = &ran.fails(1).stderr;
    assert!(stderr.contains("restored turn 1: 1 path written"), "{ran}");
    assert!(stderr.contains("unsaved work is turn 3"), "{ran}");
    assert!(stderr.contains("error: can't write "), "{ran}");
    assert_eq!(work.repo.read("a"), "p1\n");
}

#[test]
fn where_there_is_no_way_the_files_go_back_alone() {
    let work = Worker::claude();
    work.does("p1", "First");
    work.does("p2", "Second");
    // Before the first word of an agent.
    let record = work.rewind(&["0"]);
    assert_eq!(work.repo.read("a"), "0\n");
    assert!(
        record["conversation"]["resume"].is_null() && record["conversation"]["why"].is_string()
    );
    // At a step.
    let record = work.rewind(&["2.1"]);
    assert!(
        record["conversation"]["why"]
            .as_str()
            .unwrap()
            .contains("not at a step")
    );
    assert_eq!(record["not_taken_back"], json!([]));
    // The agent has forgotten it.
    fs::remove_file(&work.transcript).unwrap();
    let ran = work.edio(["rewind", "1"]);
    assert_eq!(
        (work.repo.read("a").as_str(), ran.ok().stdout.as_str()),
        ("p1\n", "")
    );
    assert!(
        ran.stderr
            .contains("Claude Code does not have that conversation any more"),
        "{ran}"
    );
    assert!(ran.stderr.contains("hint: edio context 1"), "{ran}");
    let ran = work.edio(["rewind", "1", "--conversation-only"]);
    assert!(
        ran.fails(1)
            .stderr
            .contains("no conversation can be made that ends with turn 1"),
        "{ran}"
    );
}

#[test]
fn an_agent_without_a_way_has_its_words_to_paste() {
    let mut work = Worker::claude();
    work.agent = "gemini";
    let says = |event: &str, more: Value| work.says(event, "", &more);
    says("BeforeAgent", json!({"prompt": "Write it\n# boldly"}));
    work.repo.write("a", "1\n");
    let input = json!({"tool_name": "run_shell_command", "tool_input": {"command": "make"}});
    says("AfterTool", input);
    says(
        "AfterAgent",
        json!({"prompt": "Write it", "prompt_response": "It is written"}),
    );
    let record = work.rewind(&["1"]);
    let why = record["conversation"]["why"].as_str().unwrap();
    assert!(why.contains("gemini"), "{why}");
    let ran = work.edio(["context", "1"]);
    let expected = "# What was said and done up to turn 1\n\n## Turn 1 (gemini)\n\nThe user said:\n\n> Write it\n> # boldly\n\n\
                    Tools used: run_shell_command\n\nThe agent ended with:\n\n> It is written\n";
    assert_eq!(ran.ok().stdout, expected);
    let record = work.edio(["context", "1", "--json"]).ok().json().remove(0);
    assert_eq!(record["tools"], json!({"run_shell_command": 1}));
    work.edio(["context", "9"]).fails(1);
    work.edio(["context"]).fails(2);
    let ran = work.edio(["context", "0"]);
    assert_eq!(ran.ok().stdout, "");
}

/// What a turn names may come from anywhere: no file but a conversation of that id is read (P9).
#[test]
fn an_id_that_is_none_leads_nowhere() {
    let work = Worker::claude();
    work.does("p1", "First");
    let other = work.transcript.with_file_name("secret.jsonl");
    fs::rename(&work.transcript, &other).unwrap();
    for id in ["secret", "../-r/secret", ""] {
        let more = json!({"prompt_id": "p1", "prompt": "x"});
        for event in ["UserPromptSubmit", "Stop"] {
            work.repo.write("a", format!("{id}{event}\n"));
            fed(
                &mut work.repo.command(["hook", "claude"]),
                payload(id, &work.repo.top, event, more.clone()).to_string(),
            );
        }
        let record = work.rewind(&["last", "--files-only"]);
        assert!(record["conversation"].is_null());
        let record = work.rewind(&["last"]);
        assert!(record["conversation"]["resume"].is_null(), "{record}");
    }
}
