//! `edio hook`: what agents say becomes turns and steps, and the agent notices nothing.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use serde_json::{Value, json};

use crate::common::{Ran, Repo, edio_binary, fed, payload};

/// Has an agent's hook called with this on its standard input. It must end well, and in silence (P8).
fn call(repo: &Repo, agent: &str, payload: impl AsRef<[u8]>) {
    call_as(&mut repo.command(["hook", agent]), payload);
}

fn call_as(command: &mut Command, payload: impl AsRef<[u8]>) {
    let output = fed(command, payload);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(
        output.stdout.is_empty() && output.stderr.is_empty(),
        "{output:?}"
    );
}

/// Claude Code at work in a repository.
struct Claude<'a> {
    repo: &'a Repo,
    session: &'a str,
    cwd: PathBuf,
}

impl<'a> Claude<'a> {
    fn at(repo: &'a Repo) -> Self {
        Self {
            repo,
            session: "s1",
            cwd: repo.top.clone(),
        }
    }

    fn says(&self, event: &str, more: Value) {
        let payload = payload(self.session, &self.cwd, event, more);
        call(self.repo, "claude", payload.to_string());
    }

    fn is_told(&self, prompt: &str) {
        self.says("UserPromptSubmit", json!({"prompt": prompt}));
    }

    fn wrote(&self, path: impl AsRef<Path>, call: &str) {
        let input = json!({"file_path": self.cwd.join(path)});
        self.used("Write", input, call);
    }

    fn ran_a_command(&self, call: &str) {
        self.used("Bash", json!({"command": "true"}), call);
    }

    fn is_about_to_write(&self, path: impl AsRef<Path>, call: &str) {
        let input = json!({"file_path": self.cwd.join(path)});
        let more = json!({"tool_name": "Edit", "tool_input": input, "tool_use_id": call});
        self.says("PreToolUse", more);
    }

    fn is_about_to_run_a_command(&self, call: &str) {
        let more = json!({"tool_name": "Bash", "tool_input": {}, "tool_use_id": call});
        self.says("PreToolUse", more);
    }

    fn used(&self, tool: &str, input: Value, call: &str) {
        let more = json!({"tool_name": tool, "tool_input": input, "tool_use_id": call});
        self.says("PostToolUse", more);
    }

    fn stops(&self) {
        self.says("Stop", json!({"stop_hook_active": false}));
    }
}

/// A payload that says neither where the agent works nor the whole path means the folder in which the hook is called.
#[test]
fn a_file_without_a_folder_is_here() {
    let repo = Repo::with(&[("sub/a", "a\n")]);
    let tell = |more: Value| {
        let mut hook = repo.command(["hook", "claude"]);
        call_as(hook.current_dir(repo.path("sub")), more.to_string());
    };
    tell(json!({"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "Write"}));
    repo.write("sub/new", "1\n");
    let input = json!({"file_path": "new"});
    tell(
        json!({"hook_event_name": "PostToolUse", "session_id": "s1", "tool_name": "Write", "tool_input": input}),
    );
    tell(json!({"hook_event_name": "Stop", "session_id": "s1"}));
    let steps = log(&repo, &["--steps"]);
    let said: Vec<&Value> = steps.iter().map(|step| &step["message"]).collect();
    assert_eq!(said, ["sub/new", "Write"]);
}

/// The records of `edio log --json`, the first turn first.
fn log(repo: &Repo, words: &[&str]) -> Vec<Value> {
    log_in(repo, &repo.top, words)
}

fn log_in(repo: &Repo, folder: &Path, words: &[&str]) -> Vec<Value> {
    let ran = repo.edio_in(folder, [&["log", "--json"], words].concat());
    records(ran.ok())
}

fn records(ran: &Ran) -> Vec<Value> {
    let lines = ran.stdout.lines();
    let mut found: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    found.reverse();
    found
}

/// What a record says under these keys, as one line.
fn fields(record: &Value, keys: &[&str]) -> String {
    let said = keys.iter().map(|key| match &record[*key] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    said.collect::<Vec<_>>().join(" | ")
}

fn mkfifo(repo: &Repo, path: &str) {
    let mut command = Command::new("mkfifo");
    repo.surround(&mut command);
    assert!(command.arg(repo.path(path)).status().unwrap().success());
}

fn has_no_session(repo: &Repo) {
    assert_eq!(repo.git(["for-each-ref", "refs/edio"]), "");
}

#[test]
fn the_log_tells_how_many_steps_led_to_a_turn_and_how_it_ended() {
    let repo = Repo::with(&[("a", "a\n")]);
    let claude = Claude::at(&repo);
    claude.is_told("write two files");
    for (file, call) in [("one", "t1"), ("two", "t2")] {
        repo.write(file, "new\n");
        claude.wrote(file, call);
    }
    // Nobody tells of an Escape: the next prompt shows it.
    claude.is_told("something else");
    let turns = log(&repo, &[]);
    assert_eq!(fields(&turns[0], &["steps", "status"]), "2 | interrupted");
    let ran = repo.edio(["log"]);
    let row = "2 files +2 -0, 2 steps  interrupted: write two files\n";
    assert!(ran.ok().stdout.ends_with(row), "{ran}");
}

/// Agents kill what their hooks have started when they leave. What was told by then is remembered.
#[test]
fn p5_how_a_prompt_ended_is_known_though_the_hook_was_killed() {
    let repo = Repo::with(&[("a", "a\n")]);
    let claude = Claude::at(&repo);
    claude.is_told("write it");
    repo.write("one", "new\n");
    claude.wrote("one", "t1");
    // A hook that was told of the end gets this far.
    let file = repo.path(".git/edio/state.json");
    let mut state: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    state["prompts"][0]["ends"] = json!("failed");
    fs::write(&file, state.to_string()).unwrap();
    claude.says("SessionEnd", json!({"reason": "other"}));
    assert_eq!(
        fields(&log(&repo, &[])[0], &["message", "status"]),
        "write it | failed"
    );
}

#[test]
fn a_prompt_becomes_a_turn_and_each_tool_a_step() {
    let repo = Repo::with(&[("a", "a\n"), ("src/x", "x\n")]);
    repo.write("mine", "the person's\n");
    let before = repo.git_state();
    let claude = Claude::at(&repo);
    claude.is_told("\nAdd a parser,\nand test it");
    assert_eq!(repo.git_state(), before, "P1");
    repo.write("src/parser", "parser\n");
    claude.wrote("src/parser", "t1");
    repo.remove("a");
    claude.ran_a_command("t2");
    claude.used("Read", json!({"file_path": "src/x"}), "t3");
    claude.stops();
    let steps = log(&repo, &["--steps"]);
    let keys = [
        "turn",
        "step",
        "kind",
        "message",
        "agent",
        "agent_session",
        "prompt",
        "tool",
        "tool_call",
        "status",
    ];
    let said: Vec<_> = steps.iter().map(|step| fields(step, &keys)).collect();
    assert_eq!(
        said,
        [
            "1 | 1 | step | src/parser | claude | s1 | Add a parser, | Write | t1 | null",
            "1 | 2 | step | a | claude | s1 | Add a parser, | Bash | t2 | null",
            "1 | null | turn | Add a parser, | claude | s1 | Add a parser, | null | null | completed",
        ]
    );
    // What was there before the prompt is the baseline.
    assert_eq!(steps[2]["files"], 2);
    repo.edio(["restore", "1.1"]).ok();
    assert!(repo.has("a") && repo.has("src/parser"));
    repo.edio(["restore", "0"]).ok();
    assert_eq!(repo.read("mine"), "the person's\n");
    assert!(!repo.has("src/parser"));
    repo.fsck();
}

#[test]
fn what_changed_between_two_prompts_is_the_persons() {
    let repo = Repo::with(&[("a", "a\n")]);
    let claude = Claude::at(&repo);
    claude.is_told("first");
    repo.write("a", "agent\n");
    claude.stops();
    repo.write("a", "person\n");
    claude.is_told("second");
    repo.write("a", "agent again\n");
    claude.stops();
    let said: Vec<_> = log(&repo, &[])
        .iter()
        .map(|turn| fields(turn, &["turn", "kind", "agent", "message"]))
        .collect();
    assert_eq!(
        said,
        [
            "1 | turn | claude | first",
            "2 | human | null | a",
            "3 | turn | claude | second"
        ]
    );
}

/// Who edits beside an agent is not taken for it.
#[test]
fn what_changed_before_a_tool_is_not_what_the_tool_did() {
    let repo = Repo::with(&[("a", "a\n"), ("b", "b\n")]);
    let claude = Claude::at(&repo);
    claude.is_about_to_run_a_command("t0");
    has_no_session(&repo);
    claude.is_told("do it");
    repo.write("a", "of the person\n");
    repo.write("b", "of the person\n");
    claude.is_about_to_write("a", "t1");
    repo.write("a", "of the agent\n");
    claude.wrote("a", "t1");
    claude.is_about_to_run_a_command("t2");
    repo.write("c", "of the command\n");
    claude.ran_a_command("t2");
    claude.stops();
    let steps = log(&repo, &["--steps"]);
    let said: Vec<_> = steps
        .iter()
        .map(|step| {
            fields(
                step,
                &["turn", "step", "agent", "tool_call", "message", "prompt"],
            )
        })
        .collect();
    assert_eq!(
        said,
        [
            "1 | 1 | null | null | a | do it",
            "1 | 2 | claude | t1 | a | do it",
            "1 | 3 | null | null | b | do it",
            "1 | 4 | claude | t2 | c | do it",
            "1 | null | claude | null | do it | do it",
        ]
    );
}

/// What one of them has named is its own; what was found by looking around may be the other's, and says so.
#[test]
fn two_agents_in_one_work_tree_have_a_turn_each() {
    let repo = Repo::with(&[("a", "a\n")]);
    let one = Claude::at(&repo);
    let other = Claude {
        session: "s2",
        ..Claude::at(&repo)
    };
    one.is_told("first");
    repo.write("a", "of one\n");
    other.is_told("second");
    one.wrote("a", "t1");
    repo.write("b", "of the other\n");
    other.wrote("b", "t2");
    repo.write("c", "of some command\n");
    one.ran_a_command("t3");
    one.stops();
    other.stops();
    let steps = log(&repo, &["--steps"]);
    let said: Vec<_> = steps
        .iter()
        .map(|step| {
            fields(
                step,
                &["turn", "step", "agent_session", "message", "shared"],
            )
        })
        .collect();
    assert_eq!(
        said,
        [
            "1 | 1 | s1 | a | []",
            "1 | 2 | s2 | b | []",
            "1 | 3 | s1 | c | [\"claude\"]",
            "1 | null | s1 | first | [\"claude\"]",
            "2 | null | s2 | second | []",
        ]
    );
}

#[test]
fn a_prompt_that_changed_nothing_is_no_turn() {
    let repo = Repo::with(&[("a", "a\n")]);
    let claude = Claude::at(&repo);
    for _ in 0..2 {
        claude.is_told("what does it do?");
        claude.used("Read", json!({"file_path": "a"}), "t1");
        claude.ran_a_command("t2");
        claude.stops();
    }
    assert_eq!(repo.turns(), 0);
}

#[test]
fn a_turn_that_nobody_ended_is_interrupted_by_the_next_prompt() {
    let repo = Repo::with(&[("a", "a\n")]);
    let claude = Claude::at(&repo);
    claude.is_told("first");
    repo.write("a", "half\n");
    claude.wrote("a", "t1");
    repo.write("b", "of a tool that was interrupted\n");
    claude.is_told("second");
    repo.write("a", "whole\n");
    claude.stops();
    let said: Vec<_> = log(&repo, &[])
        .iter()
        .map(|turn| fields(turn, &["turn", "message", "status", "prompt", "tool"]))
        .collect();
    assert_eq!(
        said,
        [
            "1 | first | interrupted | first | null",
            "2 | second | completed | second | null"
        ]
    );
    assert!(repo.in_turn(1, "b").is_some());
}

#[test]
fn a_compaction_in_the_midst_of_a_prompt_ends_no_turn() {
    let repo = Repo::with(&[("a", "base\n")]);
    let claude = Claude::at(&repo);
    claude.is_told("do it");
    repo.write("a", "1\n");
    claude.wrote("a", "t1");
    claude.says("PreCompact", json!({"trigger": "auto"}));
    claude.says("SessionStart", json!({"source": "compact"}));
    repo.write("a", "2\n");
    claude.wrote("a", "t2");
    claude.stops();
    let turns = log(&repo, &[]);
    let told: Vec<_> = turns
        .iter()
        .map(|turn| fields(turn, &["turn", "prompt", "status"]))
        .collect();
    assert_eq!(told.last().unwrap(), "1 | do it | completed");
}

#[test]
fn the_end_of_a_conversation_ends_what_is_open_and_begins_nothing() {
    let repo = Repo::with(&[("a", "a\n")]);
    let claude = Claude::at(&repo);
    claude.says("SessionStart", json!({"source": "startup"}));
    claude.says("SessionEnd", json!({"reason": "exit"}));
    assert!(!repo.has(".git/edio"), "no trace of edio");
    claude.stops();
    has_no_session(&repo);
    claude.is_told("first");
    repo.write("a", "half\n");
    claude.says("SessionEnd", json!({"reason": "exit"}));
    let turns = log(&repo, &[]);
    assert_eq!(
        fields(&turns[0], &["message", "status"]),
        "first | interrupted"
    );
    claude.says("SessionEnd", json!({"reason": "exit"}));
    assert_eq!(repo.turns(), 1);
}

#[test]
fn how_a_prompt_ended_is_known_though_nobody_could_see_to_it_then() {
    let repo = Repo::with(&[("a", "a\n")]);
    let claude = Claude::at(&repo);
    claude.is_told("first");
    repo.write("a", "half\n");
    let failure = json!({"session_id": "s1", "cwd": repo.top, "hook_event_name": "StopFailure"});
    let mut without_git = repo.command(["hook", "claude"]);
    call_as(without_git.env("PATH", "/nowhere"), failure.to_string());
    claude.says("SessionEnd", json!({"reason": "other"}));
    let turns = log(&repo, &[]);
    assert_eq!(fields(&turns[0], &["message", "status"]), "first | failed");
    let left = fs::read_dir(repo.path(".git/edio")).unwrap();
    let left = left.map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(left.filter(|name| name.starts_with("ended")).count(), 0);
}

#[test]
fn an_end_that_is_seen_to_late_ends_no_later_prompt() {
    let repo = Repo::with(&[("a", "a\n")]);
    let claude = Claude::at(&repo);
    claude.is_told("first");
    repo.write("a", "1\n");
    claude.is_told("second");
    let state: Value = serde_json::from_str(&repo.read(".git/edio/state.json")).unwrap();
    let heard = state["prompts"][0]["heard"].as_u64().unwrap();
    let ended = |heard: u64| {
        let event = json!({
            "agent": "claude", "session": "s1", "folders": [repo.top], "heard": heard,
            "what": {"Ended": "Completed"},
        });
        let mut worker = repo.command(["hook", "claude"]);
        worker.env("EDIO_HOOK_EVENT", event.to_string());
        repo.ran(&mut worker).ok();
    };
    repo.write("a", "2\n");
    ended(heard - 100);
    assert_eq!(repo.turns(), 1, "that was the end of the first");
    ended(heard + 100);
    let turns = log(&repo, &[]);
    assert_eq!(
        fields(&turns[1], &["message", "status"]),
        "second | completed"
    );
}

#[test]
fn a_turn_that_failed_says_so() {
    let repo = Repo::with(&[("a", "a\n")]);
    let claude = Claude::at(&repo);
    claude.is_told("first");
    repo.write("a", "half\n");
    claude.says("StopFailure", json!({"error": "overloaded"}));
    assert_eq!(log(&repo, &[])[0]["status"], "failed");
}

/// The hooks may have been connected in the middle of it.
#[test]
fn an_end_that_is_the_first_thing_heard_of_an_agent_is_a_turn() {
    let repo = Repo::with(&[("a", "a\n")]);
    let claude = Claude::at(&repo);
    claude.says("Stop", json!({}));
    assert_eq!(repo.git(["for-each-ref", "refs/edio"]), "");
    repo.write("a", "work\n");
    repo.write("new", "work\n");
    claude.says("Stop", json!({}));
    let turns = log(&repo, &[]);
    assert_eq!(turns.len(), 1);
    assert_eq!(turns[0]["agent"], "claude");
    repo.edio(["restore", "0"]).ok();
    assert_eq!((repo.read("a").as_str(), repo.has("new")), ("a\n", false));
}

#[test]
fn helpers_at_work_keep_the_turn_open() {
    let repo = Repo::with(&[("a", "a\n")]);
    let claude = Claude::at(&repo);
    claude.is_told("with helpers");
    repo.write("a", "1\n");
    claude.says(
        "Stop",
        json!({"background_tasks": [{"id": "b1", "type": "subagent"}]}),
    );
    assert_eq!(repo.turns(), 0);
    repo.write("b", "of a helper\n");
    claude.says(
        "SubagentStop",
        json!({"agent_id": "h1", "agent_type": "general-purpose"}),
    );
    // This is told to the model as if the person had said it.
    claude.is_told("<task-notification>\n<summary>It has ended</summary>\n</task-notification>");
    claude.stops();
    let steps = log(&repo, &["--steps"]);
    let said: Vec<_> = steps
        .iter()
        .map(|step| fields(step, &["turn", "step", "message", "status"]))
        .collect();
    assert_eq!(
        said,
        [
            "1 | 1 | a | null",
            "1 | 2 | b | null",
            "1 | null | with helpers | completed"
        ]
    );
}

/// It may be a server, and never end. When it does, the agent may go on.
#[test]
fn a_command_left_in_the_background_keeps_no_turn_open() {
    let repo = Repo::with(&[("a", "a\n")]);
    let claude = Claude::at(&repo);
    claude.is_told("serve");
    repo.write("a", "1\n");
    let tasks = json!([{"id": "b1", "type": "shell", "status": "running"}]);
    claude.says("Stop", json!({"background_tasks": tasks}));
    repo.write("mine", "the person's\n");
    claude.is_told("<task-notification>\n<summary>It has ended</summary>\n</task-notification>");
    repo.write("b", "2\n");
    claude.stops();
    let said: Vec<_> = log(&repo, &[])
        .iter()
        .map(|turn| fields(turn, &["turn", "kind", "message", "prompt", "status"]))
        .collect();
    assert_eq!(
        said,
        [
            "1 | turn | serve | serve | completed",
            "2 | human | mine | null | null",
            "3 | turn | b | null | completed"
        ]
    );
}

#[test]
fn a_turn_that_the_agent_takes_itself_carries_the_prompt() {
    let repo = Repo::with(&[("a", "a\n")]);
    let claude = Claude::at(&repo);
    claude.is_told("make it so");
    repo.write("a", "1\n");
    repo.edio(["snapshot", "-m", "half way"]).ok();
    claude.stops();
    repo.write("a", "2\n");
    repo.edio(["snapshot", "-m", "the person's"]).ok();
    let said: Vec<_> = log(&repo, &[])
        .iter()
        .map(|turn| fields(turn, &["turn", "message", "prompt"]))
        .collect();
    assert_eq!(
        said,
        ["1 | half way | make it so", "2 | the person's | null"]
    );
}

#[test]
fn one_event_that_is_told_twice_counts_once() {
    let repo = Repo::with(&[("a", "a\n")]);
    let claude = Claude::at(&repo);
    claude.is_told("once");
    claude.is_told("once");
    repo.write("a", "1\n");
    claude.wrote("a", "t1");
    repo.write("a", "2, of the next tool\n");
    claude.wrote("a", "t1");
    claude.stops();
    claude.stops();
    let steps = log(&repo, &["--steps"]);
    let said: Vec<_> = steps
        .iter()
        .map(|step| fields(step, &["turn", "step"]))
        .collect();
    assert_eq!(said, ["1 | 1", "1 | null"]);
}

/// Several tools at once, each with a hook of its own: each file is in the turn, no step is lost.
#[test]
fn p6_calls_at_the_same_time_wait_for_each_other() {
    let repo = Repo::with(&[("a", "a\n")]);
    let claude = Claude::at(&repo);
    claude.is_told("many");
    thread::scope(|scope| {
        for number in 0..8 {
            let claude = &claude;
            scope.spawn(move || {
                let name = format!("f{number}");
                claude.repo.write(&name, "x\n");
                claude.wrote(&name, &format!("t{number}"));
            });
        }
    });
    claude.stops();
    let steps = log(&repo, &["--steps"]);
    assert_eq!(steps.len(), 9, "{steps:?}");
    assert_eq!(steps[8]["files"], 8);
    repo.fsck();
}

/// Whatever is in the work tree, and wherever it is: a step of the files that a tool has named has the tree that a look
/// at everything finds.
#[test]
fn p2_a_step_by_name_is_what_a_scan_finds() {
    let long = "x".repeat(2 << 20);
    type Shape = (&'static str, fn(&Repo, &str), &'static [&'static str]);
    let shapes: &[Shape] = &[
        (
            "a new file in new folders",
            |r, _| r.write("n/e/w", "1\n"),
            &["n/e/w"],
        ),
        ("an empty file", |r, _| r.write("empty", ""), &["empty"]),
        (
            "a file of some size",
            |r, long| r.write("long", long),
            &["long"],
        ),
        (
            "two files",
            |r, _| {
                r.write("d/1", "1\n");
                r.write("d/2", "2\n")
            },
            &["d/1", "d/2"],
        ),
        ("a file that is gone", |r, _| r.remove("a"), &["a"]),
        (
            "the last file of its folder",
            |r, _| r.remove("one/file"),
            &["one/file"],
        ),
        ("an executable bit", |r, _| r.chmod("a", 0o755), &["a"]),
        (
            "a link",
            |r, _| {
                r.remove("a");
                r.link("a", "b")
            },
            &["a"],
        ),
        (
            "a link that leads nowhere",
            |r, _| r.link("l", "no/where"),
            &["l"],
        ),
        (
            "a name like an option",
            |r, _| r.write("-n", "1\n"),
            &["-n"],
        ),
        (
            "a name like a pathspec",
            |r, _| r.write(":!*", "1\n"),
            &[":!*"],
        ),
        (
            "a name with a line break",
            |r, _| r.write("o\nd/x", "1\n"),
            &["o\nd/x"],
        ),
        (
            "an ignored file",
            |r, _| r.write("x.ign", "1\n"),
            &["x.ign"],
        ),
        (
            "an ignored file that is tracked",
            |r, _| r.write("t.ign", "2\n"),
            &["t.ign"],
        ),
        (
            "ignore rules",
            |r, _| r.write(".gitignore", "b\n*.ign\n"),
            &[".gitignore"],
        ),
        (
            "attributes",
            |r, _| {
                r.write(".gitattributes", "b text\n");
                r.write("b", "1\r\n")
            },
            &[".gitattributes", "b"],
        ),
        (
            "line ends",
            |r, _| r.write("t.crlf", "1\r\n2\r\n"),
            &["t.crlf"],
        ),
        (
            "a file of another repository",
            |r, _| {
                r.git(["init", "-q", "in"]);
                r.write("in/f", "1\n")
            },
            &["in/f"],
        ),
        (
            "a folder where a file was",
            |r, _| {
                r.remove("a");
                r.write("a/x", "1\n")
            },
            &["a", "a/x"],
        ),
        (
            "a file where a folder was",
            |r, _| {
                r.remove("one");
                r.write("one", "1\n")
            },
            &["one"],
        ),
        ("a folder", |r, _| r.write("one/more", "1\n"), &["one"]),
        (
            "a file beyond a link",
            |r, _| {
                r.link("way", "one");
                r.write("one/file", "2\n")
            },
            &["way/file", "way"],
        ),
        ("a special file", |r, _| mkfifo(r, "fifo"), &["fifo"]),
        (
            "a file over the limit",
            |r, long| {
                r.git(["config", "edio.maxFileSize", "1m"]);
                r.write("l", long)
            },
            &["l"],
        ),
        ("nothing", |_, _| {}, &["b"]),
    ];
    for (what, change, named) in shapes {
        let repo = Repo::with(&[
            ("a", "a\n"),
            ("b", "b\n"),
            ("one/file", "1\n"),
            (".gitignore", "*.ign\n"),
        ]);
        repo.write("t.ign", "1\n");
        repo.write(".gitattributes", "*.crlf text\n");
        repo.git(["add", "-f", "."]);
        repo.git(["commit", "-q", "-m", "more"]);
        let claude = Claude::at(&repo);
        claude.is_told("do it");
        // The next tool stands on a step of edio's own.
        repo.write("before", "1\n");
        claude.wrote("before", "t0");
        change(&repo, &long);
        let before = repo.git_state();
        let files: Vec<String> = named
            .iter()
            .map(|name| format!("*** Add File: {name}"))
            .collect();
        // A name with a line break can't be told in a patch.
        match named {
            [name] => claude.wrote(name, "t1"),
            _ => {
                let payload = json!({"session_id": "s1", "cwd": repo.top, "hook_event_name": "PostToolUse", "tool_use_id": "t1",
                    "tool_name": "apply_patch", "tool_input": {"command": files.join("\n")}});
                call(&repo, "codex", payload.to_string());
            }
        }
        assert_eq!(repo.git_state(), before, "P1: {what}");
        let current = repo.git([
            "for-each-ref",
            "--format=%(objectname)",
            "refs/edio/active/*/current",
        ]);
        let step = repo.git(["rev-parse", &format!("{current}^{{tree}}")]);
        let whole = records(repo.edio(["snapshot", "--json"]).ok());
        assert_eq!(Value::from(step), whole[0]["tree"], "{what}");
        repo.fsck();
    }
}

#[test]
fn what_an_agent_names_outside_the_work_tree_is_none_of_its_business() {
    let repo = Repo::with(&[("a", "a\n")]);
    let claude = Claude::at(&repo);
    claude.is_told("look around");
    fs::write(repo.outside().join("elsewhere"), "x\n").unwrap();
    claude.wrote(repo.outside().join("elsewhere"), "t1");
    claude.wrote(".git/config", "t2");
    claude.stops();
    assert_eq!(repo.turns(), 0);
}

#[test]
fn the_repository_is_found_from_where_the_agent_is() {
    let repo = Repo::with(&[("a", "a\n"), ("d/e/f", "f\n")]);
    repo.git(["worktree", "add", "-q", "../linked", "-b", "linked"]);
    let other = repo.outside().join("other");
    repo.git(["init", "-q", other.to_str().unwrap()]);
    let claude = Claude {
        cwd: repo.path("d/e"),
        ..Claude::at(&repo)
    };
    claude.is_told("everywhere");
    repo.write("d/e/f", "1\n");
    claude.wrote("f", "t1");
    repo.write("../linked/a", "1\n");
    claude.wrote(repo.outside().join("linked/a"), "t2");
    fs::write(other.join("new"), "1\n").unwrap();
    claude.wrote(other.join("new"), "t3");
    claude.stops();
    for (folder, file) in [
        (repo.top.clone(), "d/e/f"),
        (repo.outside().join("linked"), "a"),
        (other, "new"),
    ] {
        let turns = log_in(&repo, &folder, &[]);
        assert_eq!(turns.len(), 1, "{folder:?}: {turns:?}");
        assert_eq!(
            fields(&turns[0], &["message", "status", "files"]),
            "everywhere | completed | 1"
        );
        let shown = repo.edio_in(&folder, ["show", "--json"]);
        assert!(
            shown.stdout.contains(&format!("{{\"path\":\"{file}\"")),
            "{shown}"
        );
    }
}

/// The agent says where it stands, and its environment where it was started.
#[test]
fn an_agent_that_has_gone_elsewhere_is_followed() {
    let repo = Repo::with(&[("a", "a\n")]);
    let other = repo.outside().join("other");
    fs::create_dir(&other).unwrap();
    repo.git_in(&other, ["init", "-q"]);
    fs::write(other.join("of the person"), "1\n").unwrap();
    let says = |cwd: &Path, event: &str| {
        let payload = json!({
            "session_id": "s1", "cwd": cwd, "hook_event_name": event, "prompt": "go there",
            "tool_name": "Bash", "tool_input": {},
        });
        let mut command = repo.command(["hook", "claude"]);
        command.env("CLAUDE_PROJECT_DIR", &repo.top);
        call_as(&mut command, payload.to_string());
    };
    says(&repo.top, "UserPromptSubmit");
    says(&repo.top, "PreToolUse");
    says(&repo.top, "PostToolUse");
    says(&other, "PreToolUse");
    repo.write("a", "1\n");
    fs::write(other.join("new"), "1\n").unwrap();
    says(&other, "PostToolUse");
    says(&other, "Stop");
    for folder in [&repo.top, &other] {
        let turns = log_in(&repo, folder, &[]);
        let said: Vec<_> = turns
            .iter()
            .map(|turn| fields(turn, &["turn", "message", "status", "files"]))
            .collect();
        assert_eq!(said, ["1 | go there | completed | 1"], "{folder:?}");
    }
}

/// A folder with several repositories in it, which is none itself: what edio knows there is worked on.
#[test]
fn several_repositories_make_up_a_workspace() {
    let repo = Repo::unborn();
    let around = repo.outside().join("around");
    for name in ["one", "two"] {
        let top = around.join(name);
        fs::create_dir_all(&top).unwrap();
        repo.git_in(&top, ["init", "-q"]);
        repo.edio_in(&top, ["init", "--agents", "none"]).ok();
    }
    let claude = Claude {
        cwd: around.clone(),
        ..Claude::at(&repo)
    };
    claude.is_told("both");
    for name in ["one", "two"] {
        fs::write(around.join(name).join("new"), "1\n").unwrap();
    }
    claude.ran_a_command("t1");
    claude.stops();
    for name in ["one", "two"] {
        let turns = log_in(&repo, &around.join(name), &[]);
        assert_eq!(fields(&turns[0], &["turn", "message"]), "1 | both");
    }
}

#[test]
fn p8_whatever_is_said_to_it_a_hook_ends_well_and_in_silence() {
    let repo = Repo::with(&[("a", "a\n")]);
    repo.write("a", "changed\n");
    let huge = json!({"session_id": "s", "cwd": repo.top, "hook_event_name": "PreToolUse", "x": "y".repeat(10 << 20)});
    let deep = "[".repeat(100_000);
    let payloads: &[&[u8]] = &[
        b"",
        b"{}",
        b"null",
        b"[]",
        b"junk",
        b"{\"hook_event_name\":",
        b"\xff\xfe\x00",
        b"\xef\xbb\xbf{}",
        b"{\"hook_event_name\":7,\"cwd\":[]}",
        b"{\"hook_event_name\":\"NobodyKnows\",\"session_id\":\"s\"}",
        b"{\"hook_event_name\":\"PostToolUse\"}",
        b"{\"hook_event_name\":\"PostToolUse\",\"tool_name\":\"Write\",\"tool_input\":\"text\"}",
        huge.to_string().leak().as_bytes(),
        deep.leak().as_bytes(),
    ];
    for agent in [
        "claude",
        "codex",
        "cursor",
        "gemini",
        "vscode",
        "copilot",
        "opencode",
        "pi",
        "cline",
        "windsurf",
        "antigravity",
        "zed",
        "nobody",
        "--bad",
        "",
    ] {
        for payload in payloads {
            call(&repo, agent, payload);
        }
    }
    for words in [
        &["hook"][..],
        &["hook", "--what"],
        &["-C", "/nowhere", "hook", "claude"],
        &["--bad", "hook", "claude"],
    ] {
        call_as(&mut repo.command(words), b"{}");
    }
    let usage = repo.edio(["snapshot", "-m", "hook", "--bad"]);
    assert_eq!(usage.code, Some(2), "{usage}");
}

#[test]
fn p8_where_it_can_do_nothing_a_hook_says_nothing() {
    let repo = Repo::with(&[("a", "a\n")]);
    let prompt = |cwd: &Path| {
        json!({"session_id": "s", "cwd": cwd, "hook_event_name": "UserPromptSubmit", "prompt": "x"})
            .to_string()
    };
    let nowhere = repo.outside().join("no/repository");
    fs::create_dir_all(&nowhere).unwrap();
    call(&repo, "claude", prompt(&nowhere));
    call(&repo, "claude", prompt(&nowhere.join("gone")));
    call_as(
        repo.command(["hook", "claude"]).env("PATH", &nowhere),
        prompt(&repo.top),
    );
    has_no_session(&repo);
    // The folder that it is started in is gone.
    let script = "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" hook claude";
    let mut command = repo.like_edio("sh", ["hook", "claude"]);
    call_as(
        command
            .args(["-c", script])
            .arg(crate::common::edio_binary()),
        prompt(&repo.path("gone")),
    );
}

/// Half of an emoji, as JavaScript writes it where it cuts a text, and bytes that are no UTF-8.
#[test]
fn p8_an_event_with_half_a_character_is_an_event() {
    for half in [r"\ud83d", r"\ude00x"] {
        let repo = Repo::with(&[("a", "a\n")]);
        let says = |event: &str, more: &str| {
            let base = json!({"session_id": "s1", "cwd": repo.top, "hook_event_name": event});
            let base = base.to_string();
            let base = base.strip_suffix('}').unwrap();
            call(&repo, "claude", format!("{base}, {more}}}"));
        };
        says("UserPromptSubmit", &format!(r#""prompt": "do it {half}""#));
        repo.write("a", "changed\n");
        let used = r#""tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "make"}"#;
        says(
            "PostToolUse",
            &format!(r#"{used}, "tool_response": {{"stdout": "{half}"}}"#),
        );
        says(
            "Stop",
            &format!(r#""last_assistant_message": "done {half}""#),
        );
        let turns = log(&repo, &[]);
        let number = json!(1);
        let turn = turns.iter().find(|turn| turn["turn"] == number).unwrap();
        assert!(
            turn["prompt"]
                .as_str()
                .unwrap()
                .starts_with("do it \u{fffd}"),
            "{turn}"
        );
        assert_eq!(repo.in_turn(1, "a").unwrap(), "changed\n");
    }
}

/// Some agents leave the stream open.
#[test]
fn p8_an_event_has_come_when_it_is_whole() {
    let repo = Repo::with(&[("a", "a\n")]);
    let mut command = repo.command(["hook", "claude"]);
    let mut hook = command
        .env("EDIO_HOOK_WAIT", "60000")
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let event = json!({"session_id": "s", "cwd": repo.top, "hook_event_name": "UserPromptSubmit", "prompt": "x"});
    let mut input = hook.stdin.take().unwrap();
    input.write_all(event.to_string().as_bytes()).unwrap();
    assert!(hook.wait().unwrap().success());
    drop(input);
    assert_eq!(repo.sessions("active").len(), 1);
}

#[test]
fn an_event_that_nobody_could_hear_is_logged() {
    for payload in ["", "{\"session_id\":", "junk"] {
        let repo = Repo::with(&[("a", "a\n")]);
        repo.edio(["init", "--agents", "none"]).ok();
        call(&repo, "claude", payload);
        let log = repo.read(".git/edio/hook.log");
        assert!(log.contains(" claude: what it said did not come"), "{log}");
        let doctor = repo.edio(["doctor"]);
        assert!(
            doctor.stdout.contains("claude: what it said did not come"),
            "{doctor}"
        );
    }
}

#[test]
fn where_edio_can_not_be_started_for_an_event_that_is_logged() {
    let repo = Repo::with(&[("a", "a\n")]);
    repo.edio(["init", "--agents", "none"]).ok();
    let copy = repo.outside().join("copy");
    std::fs::copy(edio_binary(), &copy).unwrap();
    // A new version was installed in the place of the one that runs.
    let mut hook = repo.like_edio("sh", ["hook", "claude"]);
    hook.args([
        "-c",
        "exec 9< \"$0\"; rm \"$0\"; exec /proc/self/fd/9 hook claude",
    ]);
    let event = json!({"session_id": "s", "cwd": repo.top, "hook_event_name": "UserPromptSubmit", "prompt": "x"});
    let output = fed(hook.arg(&copy), event.to_string());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    let log = repo.read(".git/edio/hook.log");
    assert!(log.contains(" claude: edio can't be started: "), "{log}");
}

#[test]
fn what_goes_wrong_in_a_hook_is_logged() {
    let repo = Repo::with(&[("a", "a\n")]);
    repo.edio(["init", "--agents", "none"]).ok();
    repo.git(["config", "edio.maxNewFiles", "1"]);
    repo.write("1", "");
    repo.write("2", "");
    Claude::at(&repo).is_told("too much");
    let log = repo.read(".git/edio/hook.log");
    assert!(
        log.contains(" claude prompt: ") && log.contains("of new files are more"),
        "{log}"
    );
    assert_eq!(log.lines().count(), 1);
}

/// git is slow: the agent is not kept waiting, the work is done all the same, and says that nobody saw how it stood.
#[test]
fn p8_what_takes_too_long_is_finished_behind() {
    let repo = Repo::with(&[("a", "a\n")]);
    let claude = Claude::at(&repo);
    claude.is_told("slowly");
    repo.write("a", "1\n");
    let go_on = repo.outside().join("go on");
    let path = repo.git_instead(&format!(
        "for word; do [ \"$word\" != status ] || while ! [ -e '{}' ]; do sleep 0.05; done; done\nexec \"$GIT\" \"$@\"\n",
        go_on.display()
    ));
    let payload = payload("s1", &repo.top, "Stop", json!({}));
    let mut command = repo.command(["hook", "claude"]);
    command.env("PATH", path).env_remove("EDIO_HOOK_WAIT");
    call_as(&mut command, payload.to_string());
    // The hook has ended, and git has not.
    assert_eq!(repo.turns(), 0);
    fs::write(go_on, "").unwrap();
    // This one waits for the lock that the other still holds.
    repo.edio(["snapshot", "--if-changed"]).ok();
    let turns = log(&repo, &[]);
    assert_eq!(
        fields(&turns[0], &["turn", "message", "status"]),
        "1 | slowly | unmeasured"
    );
}

/// The agent is gone, and its hooks did not say so.
#[test]
fn the_end_of_a_run_ends_what_its_agent_has_not() {
    let repo = Repo::with(&[("a", "a\n")]);
    let agent = repo.outside().join("claude");
    let prompt = json!({"session_id": "s1", "cwd": repo.top, "hook_event_name": "UserPromptSubmit", "prompt": "half"});
    let script = format!(
        "#!/bin/sh\necho '{prompt}' | '{}' hook claude\necho half > a\nexit 7\n",
        crate::common::edio_binary().display()
    );
    fs::write(&agent, script).unwrap();
    repo.chmod(&agent, 0o755);
    let ran = repo.edio(["run", agent.to_str().unwrap()]);
    assert_eq!(ran.code, Some(7), "{ran}");
    let turns = log(&repo, &[]);
    let keys = ["turn", "message", "agent", "status"];
    assert_eq!(turns.len(), 1, "{turns:?}");
    assert_eq!(fields(&turns[0], &keys), "1 | half | claude | interrupted");
}

/// What each agent says, as its documents or a run of it show (tests/agents/payloads): one turn with one step each.
#[test]
fn each_agent_is_understood() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/payloads");
    let mut seen = 0;
    for file in fs::read_dir(folder).unwrap() {
        let file = file.unwrap().path();
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let repo = Repo::with(&[("a", "a\n")]);
        let said = fs::read_to_string(&file).unwrap();
        let said = said.replace("{TOP}", repo.top.to_str().unwrap());
        let agent = name.split('-').next().unwrap();
        for (number, line) in said.lines().filter(|line| !line.is_empty()).enumerate() {
            let is_done = !line.contains("PreToolUse") && !line.contains("BeforeTool");
            if is_done && line.contains("new.txt") {
                repo.write("new.txt", format!("{number}\n"));
            }
            if is_done && line.contains("touch by-shell") {
                repo.write("by-shell", format!("{number}\n"));
            }
            call(&repo, agent, line);
        }
        let said: Vec<_> = log(&repo, &["--steps"])
            .iter()
            .map(|turn| fields(turn, &["turn", "step", "message", "agent", "status"]))
            .collect();
        let message = match name.as_str() {
            // Their hooks know nothing of the prompt: the paths are the message.
            "antigravity" | "cline-cli" => "by-shell, new.txt",
            _ => "Write a file",
        };
        assert_eq!(
            said,
            [
                format!("1 | 1 | new.txt | {agent} | null"),
                format!("1 | 2 | by-shell | {agent} | null"),
                format!("1 | null | {message} | {agent} | completed"),
            ],
            "{name}"
        );
        let turns = log(&repo, &["--steps"]);
        assert!(
            turns[0]["tool"].is_string() && turns[0]["agent_session"].is_string(),
            "{name}"
        );
        seen += 1;
    }
    assert!(seen >= 13, "{seen} of them");
}

/// Copilot runs the hooks of Claude Code's configuration beside its own: each event comes twice, in whatever order.
#[test]
fn what_copilot_tells_in_two_ways_counts_once() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/payloads");
    for is_native_first in [true, false] {
        let repo = Repo::with(&[("a", "a\n")]);
        let read = |name: &str| {
            let said = fs::read_to_string(folder.join(name)).unwrap();
            let said = said.replace("{TOP}", repo.top.to_str().unwrap());
            said.replace("cp-2", "cp-1")
        };
        let (native, as_claude) = (read("copilot.jsonl"), read("copilot-claude.jsonl"));
        let native = |has: &str| native.lines().find(|line| line.contains(has)).unwrap();
        let as_claude = |has: &str| as_claude.lines().find(|line| line.contains(has)).unwrap();
        let tell = |native: &str, claude: &str| {
            let mut calls = [("copilot", native), ("claude", claude)];
            if !is_native_first {
                calls.reverse();
            }
            for (agent, payload) in calls {
                let mut command = repo.command(["hook", agent]);
                call_as(command.env("COPILOT_CLI", "1"), payload);
            }
        };
        tell(native("\"prompt\""), as_claude("UserPromptSubmit"));
        repo.write("new.txt", "hello\n");
        tell(native("create"), as_claude("\"Write\""));
        repo.write("by-shell", "");
        tell(native("bash"), as_claude("\"Bash\""));
        let ends = "\"stopReason\":\"end_turn\"}";
        let stop = native("cp-1/events.jsonl\",\"stopReason\"");
        assert!(stop.ends_with(ends));
        tell(stop, as_claude("\"Stop\""));
        tell(native("\"reason\""), as_claude("SessionEnd"));
        let said: Vec<_> = log(&repo, &["--steps"])
            .iter()
            .map(|turn| fields(turn, &["turn", "step", "message", "agent", "status"]))
            .collect();
        assert_eq!(
            said,
            [
                "1 | 1 | new.txt | copilot | null",
                "1 | 2 | by-shell | copilot | null",
                "1 | null | Write a file | copilot | completed",
            ]
        );
        let said = repo.edio(["context", "1", "--json"]).ok().json().remove(0);
        assert_eq!(said["prompts"], json!(["Write a file"]));
        let tools = match is_native_first {
            true => json!({"create": 1, "bash": 1}),
            false => json!({"Write": 1, "Bash": 1}),
        };
        assert_eq!(said["tools"], tools);
        let told = repo
            .edio(["log", "--calls", "--json"])
            .ok()
            .json()
            .remove(0);
        let calls = told["calls"].as_array().unwrap().iter();
        let steps: Vec<_> = calls.map(|call| call["step"].clone()).collect();
        assert_eq!(steps, [2, 1]);
    }
}

/// An agent that says how it was ended is believed.
#[test]
fn what_was_cut_short_says_so() {
    let endings = [
        (
            "opencode",
            json!({"hook_event_name": "session.error", "session_id": "s", "error": "MessageAbortedError"}),
            "interrupted",
        ),
        (
            "opencode",
            json!({"hook_event_name": "session.error", "session_id": "s", "error": "APIError"}),
            "failed",
        ),
        (
            "pi",
            json!({"hook_event_name": "agent_settled", "session_id": "s", "stop_reason": "aborted"}),
            "interrupted",
        ),
        (
            "pi",
            json!({"hook_event_name": "session_shutdown", "session_id": "s"}),
            "interrupted",
        ),
        (
            "cline",
            json!({"hookName": "TaskCancel", "taskId": "s"}),
            "interrupted",
        ),
        (
            "copilot",
            json!({"sessionId": "s", "reason": "user_exit"}),
            "interrupted",
        ),
        (
            "antigravity",
            json!({"conversationId": "s", "terminationReason": "ERROR"}),
            "failed",
        ),
        (
            "antigravity",
            json!({"conversationId": "s", "terminationReason": "USER_CANCELED"}),
            "interrupted",
        ),
    ];
    for (agent, payload, status) in endings {
        let repo = Repo::with(&[("a", "a\n")]);
        let begins = match agent {
            "opencode" => {
                json!({"hook_event_name": "chat.message", "session_id": "s", "prompt": "x"})
            }
            "pi" => {
                json!({"hook_event_name": "before_agent_start", "session_id": "s", "prompt": "x"})
            }
            "cline" => {
                json!({"hookName": "UserPromptSubmit", "taskId": "s", "userPromptSubmit": {"prompt": "x"}})
            }
            "copilot" => json!({"sessionId": "s", "prompt": "x"}),
            _ => json!({"conversationId": "s", "stepIdx": 1}),
        };
        call(&repo, agent, begins.to_string());
        repo.write("a", "half\n");
        if agent == "antigravity" {
            call(&repo, agent, begins.to_string());
        }
        call(&repo, agent, payload.to_string());
        assert_eq!(log(&repo, &[])[0]["status"], status, "{agent}: {payload}");
    }
}

/// A filter that hangs keeps the lock: what waits behind it must not grow without end.
#[test]
fn p8_a_hook_does_not_wait_for_the_lock_without_end() {
    let repo = Repo::with(&[("a", "a\n")]);
    let claude = Claude::at(&repo);
    claude.is_told("first");
    let lock = fs::File::open(repo.path(".git/edio/lock")).unwrap();
    lock.lock().unwrap();
    repo.write("a", "1\n");
    let payload = json!({"session_id": "s1", "cwd": repo.top, "hook_event_name": "Stop"});
    let mut command = repo.command(["hook", "claude"]);
    // It is waited for the worker, which gives up.
    command.env("EDIO_HOOK_PATIENCE", "1200");
    call_as(&mut command, payload.to_string());
    let log = repo.read(".git/edio/hook.log");
    let me = std::process::id();
    let why = format!("another edio, process {me}, is at work here for too long; ");
    assert!(
        log.contains(" claude ended: ") && log.contains(&why),
        "{log}"
    );
    assert_eq!(log.lines().count(), 1, "{log}");
    let doctor = repo.edio(["doctor"]);
    assert!(
        doctor
            .stdout
            .contains(&format!("process {me} is at work in this work tree")),
        "{doctor}"
    );
    drop(lock);
    // Nothing is lost: the next look sees the same files.
    claude.says("Stop", json!({}));
    assert_eq!(repo.in_turn(1, "a").unwrap(), "1\n");
    let doctor = repo.edio(["doctor"]);
    assert!(
        doctor.stdout.contains("a hook failed: ")
            && doctor
                .stdout
                .contains("try: the next turn has what this one missed"),
        "{doctor}"
    );
}
