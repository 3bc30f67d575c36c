//! `edio.transcripts`: how much is kept of what is said, and that it harms nobody.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::common::{Repo, edio_binary, fed, payload};

/// What agents say in a repository, and the transcript of one of them.
pub struct Talk {
    pub repo: Repo,
    pub file: PathBuf,
}

impl Talk {
    /// With this in `edio.transcripts`.
    pub fn keeping(keep: &str) -> Self {
        let talk = Self::new();
        talk.repo.git(["config", "edio.transcripts", keep]);
        talk
    }

    /// With nothing set.
    pub fn new() -> Self {
        let repo = Repo::with(&[("a", "0\n")]);
        let file = repo.outside().join("t.jsonl");
        fs::write(&file, "").unwrap();
        Self { repo, file }
    }

    /// An agent's hook is called, and what comes of it is done.
    pub fn says(&self, agent: &str, event: &str, more: &Value) {
        let mut payload = payload("s1", &self.repo.top, event, more.clone());
        payload["transcript_path"] = json!(self.file);
        // What sees to it behind the hook's back holds the ninth stream, too: so all of it has ended then.
        let mut hook = self.repo.like_edio("sh", ["hook", agent]);
        hook.args(["-c", "exec \"$0\" \"$@\" 9>&1"]);
        hook.arg(edio_binary()).args(["hook", agent]);
        let output = fed(&mut hook, payload.to_string());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(
            output.stdout.is_empty() && output.stderr.is_empty(),
            "{output:?}"
        );
    }

    /// A turn of Claude Code's, with these lines in its transcript.
    pub fn turn(&self, text: &str, lines: &[&str]) {
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
    pub fn beside(&self, turn: u32, name: &str) -> Option<String> {
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

/// A line of Claude Code's transcript.
pub fn entry(id: &str, text: &str) -> String {
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
fn a_line_with_half_a_character_is_kept_like_any_other() {
    let talk = Talk::keeping("full");
    let half = entry("1", "cut HERE").replace("HERE", r"\ud83d");
    talk.turn("first", &[&half]);
    talk.turn("second", &[&entry("2", "two")]);
    let kept = talk.beside(1, "transcript").unwrap();
    assert!(kept.contains("cut "), "{kept}");
    assert!(!kept.contains("left out"), "{kept}");
    assert_eq!(
        talk.beside(2, "transcript").unwrap(),
        entry("2", "two") + "\n"
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
}

/// OpenCode keeps no file: its plugin hands on the parts of its messages.
#[test]
fn what_an_agent_tells_of_its_conversation_is_kept_as_a_transcript() {
    let part = |id: &str, text: &str| json!({"id": id, "sessionID": "s1", "messageID": "m", "type": "text", "text": text});
    let token = ["ghp_", "b7XqLr2ZkT9vWm4YsN8cPd6HjF3gQa1EoU5t"].concat();
    let talk = Talk::keeping("full");
    let gains = |event: &str, more: Value| talk.says("opencode", event, &more);
    gains(
        "chat.message",
        json!({"prompt": "first", "gained": [part("0", "of no turn")]}),
    );
    talk.repo.write("a", "1\n");
    let secret = part("2", &format!("use {token}"));
    let gained = json!([part("1", "one"), secret, part("3", "three")]);
    gains(
        "session.idle",
        json!({"gained": gained, "gained_cut": 7, "last_assistant_message": "three"}),
    );
    let kept = talk.beside(1, "transcript").unwrap();
    let lines: Vec<Value> = kept
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0], json!({"edio": "cut", "bytes": 7}));
    assert_eq!(
        (&lines[1], &lines[3]),
        (&part("1", "one"), &part("3", "three"))
    );
    assert!(
        lines.len() == 4 && lines[2]["text"].as_str().unwrap().contains("[redacted: "),
        "{kept}"
    );
    let record = talk
        .repo
        .edio(["show", "1", "--json"])
        .ok()
        .json()
        .remove(0);
    assert_eq!(record["reply"], "three");
    // What is told with the next prompt belongs to the one before.
    gains("chat.message", json!({"prompt": "second", "gained": []}));
    talk.repo.write("a", "2\n");
    gains(
        "chat.message",
        json!({"prompt": "third", "gained": [part("4", "broken off")]}),
    );
    assert_eq!(
        talk.beside(2, "transcript").unwrap(),
        part("4", "broken off").to_string() + "\n"
    );
    // Too much: the end is kept.
    talk.repo.write("a", "3\n");
    let many: Vec<Value> = (0..200)
        .map(|id| part(&id.to_string(), &"x".repeat(1000)))
        .collect();
    gains("session.idle", json!({"gained": many}));
    let kept = talk.beside(3, "transcript").unwrap();
    assert!(
        kept.starts_with("{\"bytes\":") && kept.len() < 50 << 10,
        "{}",
        kept.len()
    );
    assert!(kept.lines().last().unwrap().contains("\"199\""));
    // What is no part is left out, and so is all where an older plugin tells nothing.
    for (turn, more, why) in [
        (
            4,
            json!({"gained": [{"text": "x"}]}),
            "it has a form that is not known",
        ),
        (
            5,
            json!({}),
            "its plugin is an older one: edio init --agents opencode",
        ),
    ] {
        gains("chat.message", json!({"prompt": "again", "gained": []}));
        talk.repo.write("a", format!("{turn}\n"));
        gains("session.idle", more);
        let kept = talk.beside(turn, "transcript").unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&kept).unwrap(),
            json!({"edio": "left out", "why": why})
        );
        let doctor = talk.repo.edio(["doctor"]);
        assert!(doctor.stdout.contains(why), "{doctor}");
    }
}

/// Two agents at once: each turn has what its own agent was told and did, and nothing twice.
#[test]
fn each_turn_has_its_own_conversation() {
    let talk = Talk::new();
    talk.says(
        "claude",
        "UserPromptSubmit",
        &json!({"prompt": "for claude"}),
    );
    talk.says("gemini", "BeforeAgent", &json!({"prompt": "for gemini"}));
    let look = |name: &str| json!({"tool_name": name, "tool_input": {"file_path": name}, "tool_response": "seen"});
    talk.says("claude", "PostToolUse", &look("Read"));
    talk.says("gemini", "AfterTool", &look("read_file"));
    talk.repo.write("a", "1\n");
    talk.says(
        "claude",
        "Stop",
        &json!({"last_assistant_message": "by claude"}),
    );
    talk.repo.write("a", "2\n");
    talk.says(
        "gemini",
        "AfterAgent",
        &json!({"prompt_response": "by gemini"}),
    );
    talk.turn("and then", &[]);
    let kinds = |turn| -> Vec<String> {
        let kept = talk.beside(turn, "conversation").unwrap();
        let kind = |line: &str| {
            let line: Value = serde_json::from_str(line).unwrap();
            let said = ["prompt", "reply"]
                .iter()
                .find_map(|key| line[key].as_str());
            let said = said.or_else(|| line["call"]["tool"].as_str()).unwrap();
            format!("{} {said}", line["agent"].as_str().unwrap())
        };
        kept.lines().map(kind).collect()
    };
    assert_eq!(
        kinds(1),
        ["claude for claude", "claude Read", "claude by claude"]
    );
    assert_eq!(
        kinds(2),
        ["gemini for gemini", "gemini read_file", "gemini by gemini"]
    );
    assert_eq!(kinds(3), ["claude and then", "claude so it is"]);
    assert_eq!(talk.repo.read(".git/edio/conversation"), "");
    talk.repo.fsck();
}

/// A question that changed nothing is no turn: what was said stays for the next one. A turn of the person's has nothing.
#[test]
fn what_came_to_no_turn_goes_with_the_next() {
    let talk = Talk::new();
    talk.says(
        "claude",
        "UserPromptSubmit",
        &json!({"prompt": "a question"}),
    );
    talk.says(
        "claude",
        "Stop",
        &json!({"last_assistant_message": "an answer"}),
    );
    talk.repo.write("b", "mine\n");
    talk.repo.edio(["snapshot", "-m", "mine"]).ok();
    assert_eq!(talk.beside(1, "conversation"), None);
    talk.turn("a wish", &[]);
    let kept = talk.beside(2, "conversation").unwrap();
    for said in ["a question", "an answer", "a wish", "so it is"] {
        assert!(kept.contains(said), "{said}: {kept}");
    }
    let record = talk
        .repo
        .edio(["show", "2", "--json"])
        .ok()
        .json()
        .remove(0);
    assert_eq!(
        (&record["prompt_text"], &record["reply"]),
        (&json!("a wish"), &json!("so it is"))
    );
}

#[test]
fn off_holds_from_then_on_also_for_what_was_noted_before() {
    let talk = Talk::keeping("full");
    talk.turn("first", &[&entry("1", "one")]);
    talk.says(
        "claude",
        "UserPromptSubmit",
        &json!({"prompt": "second\nand more"}),
    );
    fs::write(
        &talk.file,
        entry("1", "one") + "\n" + &entry("2", "two") + "\n",
    )
    .unwrap();
    talk.says("claude", "SessionStart", &json!({"source": "resume"}));
    talk.says(
        "claude",
        "UserPromptSubmit",
        &json!({"prompt": "third\nand more"}),
    );
    let scratch = talk.repo.path(".git/edio");
    assert!(holds(&scratch, "and more"));
    talk.repo.git(["config", "edio.transcripts", "off"]);
    talk.repo.write("a", "2\n");
    talk.says(
        "claude",
        "Stop",
        &json!({"last_assistant_message": "so it was"}),
    );
    assert!(!holds(&scratch, "and more") && !holds(&scratch, "so it was"));
    assert!(!holds(&scratch, "\\\"uuid\\\""));
    assert_eq!(talk.beside(2, "conversation"), None);
    // What was kept before stays until it is taken out.
    assert!(talk.beside(1, "conversation").unwrap().contains("so it is"));
}

#[test]
fn it_goes_with_the_session_into_the_archive_and_comes_back_with_it() {
    let talk = Talk::keeping("full");
    talk.turn("first\nand more", &[&entry("1", "one")]);
    let kept = ["conversation", "transcript"].map(|name| talk.beside(1, name).unwrap());
    talk.repo.edio(["accept", "feat"]).ok();
    let id = talk.repo.sessions("archive").remove(0);
    let said = |words: &[&str]| {
        let ran = talk.repo.edio([words, &["--json"]].concat());
        ran.ok().json().remove(0)
    };
    let shown = said(&["show", "1", "--session", &id]);
    assert_eq!(shown["prompt_text"], "first\nand more");
    // What is committed says nothing of it.
    let commit = talk.repo.git(["log", "-1", "--format=%B", "HEAD"]);
    assert!(
        !commit.contains("and more") && !commit.contains("Conversation"),
        "{commit}"
    );
    talk.repo.fsck();
    talk.repo.edio(["undo"]).ok();
    assert_eq!(
        ["conversation", "transcript"].map(|name| talk.beside(1, name).unwrap()),
        kept
    );
    assert_eq!(said(&["show", "1"])["reply"], "so it is");
    talk.repo.edio(["redo"]).ok();
    assert_eq!(said(&["show", "1", "--session", &id])["reply"], "so it is");
}

#[test]
fn gc_prunes_it_with_its_session_and_a_bundle_leaves_it_behind() {
    let talk = Talk::keeping("full");
    talk.turn("first\nand more", &[&entry("1", "the whole truth")]);
    let transcript = talk.beside(1, "transcript").unwrap();
    let conversation = talk.beside(1, "conversation").unwrap();
    let file = talk.repo.outside().join("work.bundle");
    let file = file.to_str().unwrap();
    let clone = talk.repo.outside().join("clone");
    talk.repo
        .git(["clone", "-q", "--no-local", ".", clone.to_str().unwrap()]);
    talk.repo.edio(["export", "--bundle", file]).ok();
    talk.repo.edio_in(&clone, ["import", file]).ok();
    let blob = talk
        .repo
        .git(["rev-parse", &format!("{}:transcript", side_of(&talk, 1))]);
    let there = |oid: &str| {
        let mut git = Command::new("git");
        talk.repo.surround(&mut git);
        let ran = git
            .current_dir(&clone)
            .args(["cat-file", "-e", oid])
            .output();
        ran.unwrap().status.success()
    };
    assert!(!there(&blob));
    let id = talk.repo.sessions("active").remove(0);
    let words = ["show", "1", "--session", &id, "--json"];
    let record = talk.repo.edio_in(&clone, words).ok().json().remove(0);
    assert!(
        record["prompt_text"].is_null() && record["reply"].is_null(),
        "{record}"
    );
    assert_eq!(record["prompt"], "first");
    talk.repo
        .edio_in(&clone, ["log", "--calls", "--session", &id])
        .ok();
    // gc: not as long as the session is kept, and then with it.
    talk.repo.edio(["sessions", "--close"]).ok();
    talk.repo.edio_later(60, ["gc"]).ok();
    assert!(talk.repo.is_kept(&transcript) && talk.repo.is_kept(&conversation));
    talk.repo.edio_later(60, ["gc", "-d", "0"]).ok();
    assert!(!talk.repo.is_kept(&transcript) && !talk.repo.is_kept(&conversation));
    talk.repo.git(["gc", "-q", "--prune=now"]);
    assert!(!talk.repo.git_says(["cat-file", "-e", &blob]));
    talk.repo.fsck();
}

fn side_of(talk: &Talk, turn: u32) -> String {
    let message = talk
        .repo
        .git(["log", "-1", "--format=%B", &talk.repo.turn_ref(turn)]);
    let mut sides = message
        .lines()
        .filter_map(|line| line.strip_prefix("Edio-Conversation: "));
    sides.next().unwrap().to_owned()
}

#[test]
fn forget_takes_out_what_tools_said_of_a_path_also_where_no_turn_has_it_yet() {
    let talk = Talk::keeping("full");
    let look = |of: &str| {
        let more = json!({"tool_name": "Bash", "tool_input": {"command": format!("cat {of}")}, "tool_response": format!("{of} has it")});
        talk.says("claude", "PostToolUse", &more);
    };
    talk.repo.write("token.env", "x\n");
    talk.says("claude", "UserPromptSubmit", &json!({"prompt": "first"}));
    talk.repo.write("a", "1\n");
    look("token.env");
    look("other");
    talk.says("claude", "Stop", &json!({}));
    talk.says("claude", "UserPromptSubmit", &json!({"prompt": "second"}));
    look("token.env");
    look("other");
    talk.repo.edio(["forget", "-f", "token.env", "--yes"]).ok();
    let of_turn = talk.beside(1, "conversation").unwrap();
    let open = talk.repo.read(".git/edio/conversation");
    for kept in [of_turn, open] {
        assert!(
            !kept.contains("token.env") && kept.contains("cat other"),
            "{kept}"
        );
        assert_eq!(kept.matches("\"Bash\"").count(), 2, "{kept}");
    }
    let calls = talk.repo.edio(["log", "--calls", "--json"]).ok().json();
    let calls = calls[0]["calls"].as_array().unwrap();
    assert!(
        calls[1]["input"].is_null() && calls[1]["result"].is_null(),
        "{calls:?}"
    );
    talk.repo.fsck();
}

#[test]
fn of_what_is_long_the_beginning_is_kept() {
    let talk = Talk::new();
    let long = "ä".repeat(100_000);
    talk.says("claude", "UserPromptSubmit", &json!({"prompt": long}));
    let more = json!({"tool_name": "Bash", "tool_input": {"command": long}, "tool_response": long});
    talk.says("claude", "PostToolUse", &more);
    talk.repo.write("a", "1\n");
    talk.says("claude", "Stop", &json!({"last_assistant_message": long}));
    let kept = talk.beside(1, "conversation").unwrap();
    assert!(kept.len() < 40 << 10, "{}", kept.len());
    let lines: Vec<Value> = kept
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let length = |value: &Value| value.as_str().unwrap().len();
    let cut = '…'.len_utf8();
    assert_eq!(length(&lines[0]["prompt"]), (16 << 10) + cut);
    assert_eq!(length(&lines[2]["reply"]), (8 << 10) + cut);
    assert_eq!(length(&lines[1]["call"]["result"]), (2 << 10) + cut);
    assert!(length(&lines[1]["call"]["input"]) <= 4 << 10);
}

/// What belongs to no turn yet does not grow for ever: its older half goes. A line that a kill has cut off harms nothing.
#[test]
fn what_belongs_to_no_turn_is_not_kept_for_ever() {
    let talk = Talk::new();
    talk.says("claude", "UserPromptSubmit", &json!({"prompt": "first"}));
    let entry = |at: usize| {
        json!({"agent": "claude", "session": "s1", "at": at, "reply": "x".repeat(4000)}).to_string()
    };
    let many: Vec<String> = (0..1100).map(entry).collect();
    talk.repo.write(
        ".git/edio/conversation",
        many.join("\n") + "\n{\"agent\":\"cla\n",
    );
    talk.repo.write("a", "1\n");
    talk.says(
        "claude",
        "Stop",
        &json!({"last_assistant_message": "the last word"}),
    );
    let kept = talk.beside(1, "conversation").unwrap();
    let lines = kept
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let times: Vec<i64> = lines.map(|line| line["at"].as_i64().unwrap()).collect();
    assert!(
        kept.len() < 3 << 20 && times.len() > 400,
        "{} {}",
        kept.len(),
        times.len()
    );
    assert_eq!(times[times.len() - 2], 1099);
    assert!(times[0] > 400 && kept.contains("the last word"));
}

/// In each of the places where a text is kept: what edio knows as a secret, and what the user names.
#[test]
fn secrets_are_taken_out_of_all_that_is_kept() {
    let token = ["ghp_", "b7XqLr2ZkT9vWm4YsN8cPd6HjF3gQa1EoU5t"].concat();
    let own = "ACME-12345678";
    let text = format!("take {token} and {own}, 'quoted'");
    let talk = Talk::keeping("full");
    talk.repo.git(["config", "--add", "edio.redact", "["]);
    talk.repo
        .git(["config", "--add", "edio.redact", "ACME-[0-9]{8}"]);
    talk.says("claude", "UserPromptSubmit", &json!({"prompt": text}));
    fs::write(&talk.file, entry("1", &text) + "\n").unwrap();
    talk.repo.write("a", "1\n");
    let more = json!({"tool_name": "Bash", "tool_use_id": "c1", "tool_input": {"command": text},
        "tool_response": {"stdout": text}});
    talk.says("claude", "PostToolUse", &more);
    let scratch = talk.repo.path(".git/edio");
    assert!(!holds(&scratch, &token) && !holds(&scratch, own));
    talk.says("claude", "Stop", &json!({"last_assistant_message": text}));
    assert!(!holds(&scratch, &token) && !holds(&scratch, own));
    for (name, times) in [("conversation", 4), ("transcript", 1)] {
        let kept = talk.beside(1, name).unwrap();
        assert!(!kept.contains(&token) && !kept.contains(own), "{kept}");
        assert_eq!(
            kept.matches("[redacted: github token]").count(),
            times,
            "{kept}"
        );
        assert_eq!(
            kept.matches("[redacted: own pattern]").count(),
            times,
            "{kept}"
        );
    }
    let log = talk.repo.edio(["log", "--steps"]);
    assert!(!log.ok().stdout.contains(own), "{log}");
    talk.repo
        .git(["config", "--unset", "--fixed-value", "edio.redact", "["]);
    talk.repo.edio(["redact", "--check"]).ok();
    // And the pattern that can't be understood is told.
    let doctor = talk.repo.edio(["doctor"]);
    assert!(doctor.stdout.contains("edio.redact has"), "{doctor}");
}
