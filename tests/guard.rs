//! `edio guard`: what an agent's hooks are answered where it would write over what it has not seen, or goes in circles.

use std::fs;
use std::path::Path;
use std::thread;

use serde_json::{Value, json};

use crate::common::{Repo, fed};

/// An agent at work, with the words that it has for things.
struct Agent<'a> {
    repo: &'a Repo,
    name: &'static str,
    session: &'static str,
    helper: Option<&'static str>,
}

/// What the guard says to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Said {
    Nothing,
    Block(String),
    Notice(String),
}

impl Said {
    #[track_caller]
    fn is_block(&self, word: &str) {
        match self {
            Said::Block(why) => assert!(why.contains(word), "{why}"),
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn is_notice(&self, word: &str) {
        match self {
            Said::Notice(why) => assert!(why.contains(word), "{why}"),
            other => panic!("{other:?}"),
        }
    }
}

#[track_caller]
fn passes(said: Said) {
    assert_eq!(said, Said::Nothing);
}

impl<'a> Agent<'a> {
    fn claude(repo: &'a Repo) -> Self {
        Self::new(repo, "claude")
    }

    fn new(repo: &'a Repo, name: &'static str) -> Self {
        let session = "s1";
        Self {
            repo,
            name,
            session,
            helper: None,
        }
    }

    /// The name of an event in this agent's words.
    fn event(&self, event: &'static str) -> &'static str {
        match (self.name, event) {
            ("gemini", "UserPromptSubmit") => "BeforeAgent",
            ("gemini", "PreToolUse") => "BeforeTool",
            ("gemini", "PostToolUse") => "AfterTool",
            ("cursor", "UserPromptSubmit") => "beforeSubmitPrompt",
            ("cursor", "PreToolUse") => "preToolUse",
            ("cursor", "PostToolUse") => "postToolUse",
            ("cursor", "PreCompact") => "preCompact",
            ("opencode", "UserPromptSubmit") => "chat.message",
            ("opencode", "PreToolUse") => "tool.execute.before",
            ("opencode", "PostToolUse") => "tool.execute.after",
            ("opencode", "PreCompact") => "session.compacted",
            ("pi", "UserPromptSubmit") => "before_agent_start",
            ("pi", "PreToolUse") => "tool_call",
            ("pi", "PostToolUse") => "tool_result",
            ("pi", "PreCompact") => "session_compact",
            (_, event) => event,
        }
    }

    fn payload(&self, event: &'static str, more: Value) -> Value {
        let mut said = json!({ "session_id": self.session, "cwd": self.repo.top });
        if let Some(helper) = self.helper {
            said["agent_id"] = json!(helper);
        }
        match self.name {
            "copilot" => {
                said = json!({ "sessionId": self.session, "cwd": self.repo.top, "timestamp": 1 });
                if event == "PreCompact" {
                    said["customInstructions"] = json!("");
                }
                for (ours, theirs) in [("tool_name", "toolName"), ("prompt", "prompt")] {
                    if let Some(value) = more.get(ours) {
                        said[theirs] = value.clone();
                    }
                }
                if let Some(input) = more.get("tool_input") {
                    said["toolArgs"] = json!(input.to_string());
                }
                if event == "PostToolUse" {
                    said["toolResult"] = json!({ "resultType": "success", "textResultForLlm": "" });
                }
                return said;
            }
            "cline" => {
                let key = match event {
                    "PreToolUse" => "preToolUse",
                    _ => "postToolUse",
                };
                said = json!({ "taskId": self.session, "hookName": event, "workspaceRoots": [self.repo.top] });
                if let Some(tool) = more.get("tool_name") {
                    said[key] = json!({ "toolName": tool, "parameters": more["tool_input"] });
                }
                if let Some(prompt) = more.get("prompt") {
                    said["userPromptSubmit"] = json!({ "prompt": prompt });
                }
                return said;
            }
            "cursor" => {
                said = json!({ "conversation_id": self.session, "cursor_version": "1", "workspace_roots": [self.repo.top] });
            }
            _ => {}
        }
        said["hook_event_name"] = json!(self.event(event));
        for (key, value) in more.as_object().unwrap() {
            said[key] = value.clone();
        }
        said
    }

    fn says(&self, event: &'static str, more: Value) -> Said {
        let payload = self.payload(event, more);
        let output = fed(
            &mut self.repo.command(["hook", self.name]),
            payload.to_string(),
        );
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(output.stderr.is_empty(), "{output:?}");
        if output.stdout.is_empty() {
            return Said::Nothing;
        }
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        self.understands(event, &answer)
    }

    /// What it makes of an answer, by its own documents.
    fn understands(&self, event: &'static str, answer: &Value) -> Said {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let hook = &answer["hookSpecificOutput"];
        match self.name {
            "claude" | "codex" | "gemini" if !hook.is_null() => {
                assert_eq!(hook["hookEventName"], self.event(event), "{answer}");
            }
            _ => {}
        }
        match self.name {
            "claude" | "codex" if hook["permissionDecision"] == "deny" => {
                Said::Block(text(&hook["permissionDecisionReason"]))
            }
            "claude" | "codex" | "gemini" if hook["additionalContext"].is_string() => {
                Said::Notice(text(&hook["additionalContext"]))
            }
            "gemini" => {
                assert_eq!(answer["decision"], "deny");
                Said::Block(text(&answer["reason"]))
            }
            "copilot" if answer["permissionDecision"] == "deny" => {
                Said::Block(text(&answer["permissionDecisionReason"]))
            }
            "copilot" => Said::Notice(text(&answer["additionalContext"])),
            "cursor" if answer["permission"] == "deny" => {
                Said::Block(text(&answer["agent_message"]))
            }
            "cursor" => Said::Notice(text(&answer["additional_context"])),
            "cline" if answer["cancel"] == true => Said::Block(text(&answer["errorMessage"])),
            "cline" => Said::Notice(text(&answer["contextModification"])),
            _ if answer["block"].is_string() => Said::Block(text(&answer["block"])),
            _ => Said::Notice(text(&answer["notice"])),
        }
    }

    fn is_told(&self, prompt: &str) {
        passes(self.says("UserPromptSubmit", json!({ "prompt": prompt })));
    }

    fn may(&self, tool: &str, input: Value) -> Said {
        self.says(
            "PreToolUse",
            json!({ "tool_name": tool, "tool_input": input }),
        )
    }

    fn did(&self, tool: &str, input: Value) -> Said {
        let answer = json!({ "stdout": "done" });
        let more = json!({ "tool_name": tool, "tool_input": input, "tool_response": answer });
        self.says("PostToolUse", more)
    }

    /// The tools that this agent has to read, to write all of a file, and to edit one; how it names the file.
    fn tools(&self) -> [&'static str; 4] {
        match self.name {
            "gemini" => ["read_file", "write_file", "replace", "file_path"],
            "copilot" => ["view", "create", "edit", "path"],
            "opencode" => ["read", "write", "edit", "filePath"],
            "pi" => ["read", "write", "edit", "path"],
            "cline" => ["read_file", "write_to_file", "replace_in_file", "path"],
            "cursor" => ["Read", "Write", "Edit", "file_path"],
            _ => ["Read", "Write", "Edit", "file_path"],
        }
    }

    fn input(&self, path: &str) -> Value {
        json!({ self.tools()[3]: self.repo.path(path) })
    }

    fn reads(&self, path: &str) {
        if self.name == "cursor" {
            let file = json!({ "file_path": self.repo.path(path), "content": "" });
            return passes(self.says("beforeReadFile", file));
        }
        passes(self.did(self.tools()[0], self.input(path)));
    }

    fn may_write(&self, path: &str) -> Said {
        self.may(self.tools()[1], self.input(path))
    }

    fn may_edit(&self, path: &str) -> Said {
        self.may(self.tools()[2], self.input(path))
    }

    /// It puts this into a file.
    fn writes(&self, path: &str, content: &str) {
        self.repo.write(path, content);
        passes(self.did(self.tools()[1], self.input(path)));
    }
}

/// A repository where all is guarded.
fn guarded() -> Repo {
    let repo = Repo::with(&[("a", "one\n"), ("d/b", "one\n")]);
    repo.edio(["guard", "on"]).ok();
    repo
}

#[test]
fn without_a_word_of_the_persons_nothing_is_guarded() {
    let repo = Repo::with(&[("a", "one\n")]);
    let claude = Agent::claude(&repo);
    claude.is_told("go");
    passes(claude.may_write("a"));
    repo.edio(["guard", "on"]).ok();
    claude.may_write("a").is_block("read");
    repo.edio(["guard", "freshness", "off"]).ok();
    passes(claude.may_write("a"));
    repo.edio(["guard", "freshness", "on"]).ok();
    claude.may_write("a").is_block("read");
    repo.edio(["guard", "off"]).ok();
    passes(claude.may_write("a"));
    assert!(!repo.has(".git/edio/guard.json"));
}

#[test]
fn each_agent_hears_it_in_its_own_words() {
    let agents = [
        "claude", "codex", "gemini", "copilot", "cursor", "opencode", "pi", "cline",
    ];
    for name in agents.into_iter().filter(|name| *name != "codex") {
        let repo = guarded();
        let agent = Agent::new(&repo, name);
        agent.is_told("go");
        agent
            .may_write("a")
            .is_block("a was not read yet in this conversation. Read it first, then retry.");
        agent.reads("a");
        passes(agent.may_write("a"));
        repo.write("a", "the person's\n");
        agent
            .may_edit("a")
            .is_block("a changed since you read it. Read it again, then retry.");
        agent.reads("a");
        passes(agent.may_edit("a"));
        agent.writes("a", "two\n");
        passes(agent.may_write("a"));
        passes(agent.may_write("new"));
        let ls = json!({ "command": "make" });
        for _ in 0..2 {
            passes(agent.did("Shell", ls.clone()));
        }
        agent.did("Shell", ls).is_notice("for the third time");
        // Gemini tells of no compaction but before each call of the model.
        if name != "gemini" {
            agent.says("PreCompact", json!({}));
            agent.may_write("a").is_block("was not read");
        }
    }
}

#[test]
fn codex_reads_with_commands_and_writes_with_patches() {
    let repo = guarded();
    let codex = Agent::new(&repo, "codex");
    codex.is_told("go");
    let patch = |path: &str| json!({ "command": format!("*** Begin Patch\n*** Update File: {path}\n@@\n-one\n+two\n*** End Patch\n") });
    codex
        .may("apply_patch", patch("a"))
        .is_block("a was not read");
    for (command, path) in [
        ("cat a", "a"),
        ("cd d && sed -n '1,20p' b | head -3", "d/b"),
    ] {
        passes(codex.did("Bash", json!({ "command": command })));
        passes(codex.may("apply_patch", patch(path)));
    }
    repo.write("a", "two\n");
    codex.may("apply_patch", patch("a")).is_block("a changed");
    // What only names a file shows nothing of it.
    for command in [
        "wc -l a",
        "grep -n one a",
        "cat a > /dev/null",
        "cat $F",
        "echo 'cat a'",
    ] {
        codex.did("Bash", json!({ "command": command }));
        codex.may("apply_patch", patch("a")).is_block("a changed");
    }
    passes(codex.did("Bash", json!({ "command": ["bash", "-lc", "nl -ba 'a'"] })));
    passes(codex.may("apply_patch", patch("a")));
}

#[test]
fn what_stands_in_a_file_is_no_failure_of_the_call_that_reads_it() {
    let contents = [
        "exit code: 1\nmore\n",
        "more\nExit code: 1\n",
        "{\"exit_code\": 1}\n",
    ];
    for content in contents {
        let repo = guarded();
        repo.write("doc.md", content);
        let gemini = Agent::new(&repo, "gemini");
        gemini.is_told("go");
        let answer = json!({ "llmContent": content, "returnDisplay": "" });
        let input = gemini.input("doc.md");
        let read =
            json!({ "tool_name": "read_file", "tool_input": input, "tool_response": answer });
        passes(gemini.says("PostToolUse", read));
        passes(gemini.may_write("doc.md"));
        let codex = Agent::new(&repo, "codex");
        codex.is_told("go");
        let head = "Exit code: 0\nWall time: 0.1 seconds\nOutput:\n";
        for (session, head) in [("s1", ""), ("s2", head)] {
            let codex = Agent {
                session,
                ..Agent::new(&repo, "codex")
            };
            let input = json!({ "command": "cat doc.md" });
            let answer = format!("{head}{content}");
            let read = json!({ "tool_name": "Bash", "tool_input": input, "tool_response": answer });
            passes(codex.says("PostToolUse", read));
            let patch =
                "*** Begin Patch\n*** Update File: doc.md\n@@\n-more\n+less\n*** End Patch\n";
            passes(codex.may("apply_patch", json!({ "command": patch })));
        }
    }
}

#[test]
fn a_command_that_has_failed_has_shown_nothing() {
    let answers = [
        json!("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nno"),
        json!("no\nExit code: 1"),
        json!({ "output": "no", "metadata": { "exit_code": 1 } }),
        json!("{\"output\":\"no\",\"metadata\":{\"exit_code\":1}}"),
    ];
    let repo = guarded();
    for answer in answers {
        let codex = Agent::new(&repo, "codex");
        codex.is_told("go");
        let input = json!({ "command": "cat a" });
        let read = json!({ "tool_name": "Bash", "tool_input": input, "tool_response": answer });
        passes(codex.says("PostToolUse", read));
        let patch = "*** Begin Patch\n*** Update File: a\n@@\n-one\n+two\n*** End Patch\n";
        codex
            .may("apply_patch", json!({ "command": patch }))
            .is_block("not read");
    }
}

#[test]
fn a_file_is_one_file_by_whatever_way_it_is_named() {
    let repo = guarded();
    std::os::unix::fs::symlink("a", repo.path("link")).unwrap();
    std::os::unix::fs::symlink("d", repo.path("folder")).unwrap();
    std::os::unix::fs::symlink("nowhere", repo.path("dangling")).unwrap();
    let claude = Agent::claude(&repo);
    claude.reads("link");
    for name in ["a", "./a", "d/../a", "link"] {
        passes(claude.may_write(name));
    }
    passes(claude.may("Write", json!({ "file_path": "a" })));
    claude
        .may_write("folder/b")
        .is_block("folder/b was not read");
    claude.reads("folder/b");
    passes(claude.may_write("d/b"));
    passes(claude.may_write("dangling"));
    repo.write("d/b", "other\n");
    claude.may_write("folder/b").is_block("changed");
}

#[test]
fn what_is_deleted_renamed_made_anew_empty_or_no_text() {
    let repo = guarded();
    let claude = Agent::claude(&repo);
    claude.reads("a");
    repo.remove("a");
    passes(claude.may_write("a"));
    repo.write("a", "another's\n");
    claude.may_write("a").is_block("changed");
    repo.write("a", "one\n");
    passes(claude.may_write("a"));
    fs::rename(repo.path("a"), repo.path("A")).unwrap();
    claude.may_write("A").is_block("A was not read");
    claude.reads("A");
    passes(claude.may_write("A"));
    repo.write("empty", "");
    passes(claude.may_write("empty"));
    repo.write("bytes", b"\0\xff\n\0".as_slice());
    claude.may_write("bytes").is_block("not read");
    claude.reads("bytes");
    passes(claude.may_write("bytes"));
    passes(claude.may_write("d"));
}

#[test]
fn a_part_is_enough_to_edit_and_not_to_replace() {
    let repo = guarded();
    let lines: String = (1..=2500).map(|line| format!("{line}\n")).collect();
    repo.write("long", lines);
    let claude = Agent::claude(&repo);
    let read = |more: Value| {
        let mut input = claude.input("long");
        for (key, value) in more.as_object().unwrap() {
            input[key] = value.clone();
        }
        passes(claude.did("Read", input));
    };
    read(json!({ "offset": 5, "limit": 10 }));
    passes(claude.may_edit("long"));
    claude.may_write("long").is_block("Only a part of long");
    // Without more, a tool gives no more than 2000 lines.
    read(json!({}));
    claude.may_write("long").is_block("Only a part of long");
    read(json!({ "offset": 2001 }));
    passes(claude.may_write("long"));
    claude.writes("long", "short\n");
    passes(claude.may_write("long"));
}

#[test]
fn searches_and_lists_show_no_file() {
    let repo = guarded();
    let claude = Agent::claude(&repo);
    passes(claude.did("Grep", json!({ "pattern": "one", "path": repo.path("a") })));
    passes(claude.did("Glob", json!({ "pattern": "a", "path": repo.path("a") })));
    claude.may_write("a").is_block("was not read");
    let failed = json!({ "tool_name": "Read", "tool_input": claude.input("a"), "error": "no" });
    passes(claude.says("PostToolUseFailure", failed));
    claude.may_write("a").is_block("was not read");
}

#[test]
fn each_conversation_and_each_helper_has_seen_its_own() {
    let repo = guarded();
    let claude = Agent::claude(&repo);
    let other = Agent {
        session: "s2",
        ..Agent::claude(&repo)
    };
    let helper = Agent {
        helper: Some("h1"),
        ..Agent::claude(&repo)
    };
    claude.reads("a");
    other.may_write("a").is_block("was not read");
    helper.may_write("a").is_block("was not read");
    other.reads("a");
    other.writes("a", "of the other\n");
    claude.may_write("a").is_block("changed since you read it");
    passes(other.may_write("a"));
    claude.reads("a");
    for source in ["resume", "clear", "compact"] {
        passes(claude.may_write("a"));
        passes(claude.says("SessionStart", json!({ "source": source })));
        claude.may_write("a").is_block("was not read");
        claude.reads("a");
    }
    passes(other.may_write("a"));
}

#[test]
fn the_same_call_with_nothing_changed_is_blocked_the_third_time() {
    let repo = guarded();
    repo.edio(["snapshot"]).ok();
    let claude = Agent::claude(&repo);
    claude.is_told("go");
    let grep = json!({ "pattern": "one", "path": "d" });
    // The order of keys makes no other call.
    let again = json!({ "path": "d", "pattern": "one" });
    let twice = |tool: &str| {
        for input in [&grep, &again] {
            passes(claude.may(tool, input.clone()));
            passes(claude.did(tool, input.clone()));
        }
    };
    twice("Grep");
    claude
        .may("Grep", grep.clone())
        .is_block("for the third time");
    passes(claude.may("Grep", json!({ "pattern": "other", "path": "d" })));
    // Whatever changes files: a tool, the person, a prompt, a command.
    claude.writes("a", "two\n");
    twice("Grep");
    repo.write("d/b", "the person's\n");
    passes(claude.may("Grep", grep.clone()));
    twice("Grep");
    claude.is_told("go on");
    twice("Grep");
    repo.write("by a command", "1\n");
    claude.did("Bash", json!({ "command": "touch it" }));
    twice("Grep");
    claude.may("Grep", grep).is_block("for the third time");
}

#[test]
fn what_others_change_and_what_no_snapshot_holds_counts_as_a_change() {
    let repo = guarded();
    repo.write(".git/info/exclude", "log\n");
    repo.edio(["snapshot"]).ok();
    let claude = Agent::claude(&repo);
    claude.is_told("go");
    for line in ["1\n", "2\n", "3\n", "4\n"] {
        repo.write("log", line);
        passes(claude.may("Read", claude.input("log")));
        passes(claude.did("Read", claude.input("log")));
    }
    for content in ["2\n", "3\n", "4\n", "5\n"] {
        passes(claude.may("Grep", json!({ "pattern": "one" })));
        passes(claude.did("Grep", json!({ "pattern": "one" })));
        repo.write("a", content);
        repo.edio(["snapshot"]).ok();
    }
}

#[test]
fn helpers_that_read_the_same_go_round_in_no_circle() {
    let repo = guarded();
    for helper in ["h1", "h2", "h3", "h4"] {
        let agent = Agent {
            helper: Some(helper),
            ..Agent::claude(&repo)
        };
        passes(agent.may("Read", agent.input("a")));
        agent.reads("a");
    }
}

#[test]
fn an_edit_that_differs_in_blanks_is_another() {
    let repo = guarded();
    let claude = Agent::claude(&repo);
    claude.reads("a");
    let edit = |old: &str| {
        let mut input = claude.input("a");
        input["old_string"] = json!(old);
        input
    };
    for old in ["  x", "    x", "\tx"] {
        passes(claude.may("Edit", edit(old)));
        let failed = json!({ "tool_name": "Edit", "tool_input": edit(old), "error": "not found" });
        passes(claude.says("PostToolUseFailure", failed));
    }
    for _ in 0..2 {
        let failed =
            json!({ "tool_name": "Edit", "tool_input": edit("\tx"), "error": "not found" });
        claude.says("PostToolUseFailure", failed);
    }
    claude.may("Edit", edit("\tx")).is_block("time");
}

#[test]
fn a_call_that_was_blocked_or_has_failed_has_written_nothing() {
    let repo = guarded();
    let cursor = Agent::new(&repo, "cursor");
    cursor.may_write("a").is_block("not read");
    let input = json!({ "tool_name": "Write", "tool_input": cursor.input("a"), "failure_type": "permission_denied" });
    let mut said = cursor.payload("PostToolUse", input);
    said["hook_event_name"] = json!("postToolUseFailure");
    fed(&mut repo.command(["hook", "cursor"]), said.to_string());
    cursor.may_write("a").is_block("not read");
    let gemini = Agent::new(&repo, "gemini");
    let failed = json!({ "tool_name": "replace", "tool_input": gemini.input("a"), "tool_response": { "error": { "message": "no" } } });
    passes(gemini.says("PostToolUse", failed));
    gemini.may_edit("a").is_block("not read");
}

#[test]
fn a_large_file_that_was_read_may_be_replaced() {
    let repo = guarded();
    repo.write("large", vec![b'x'; 5 << 20]);
    let claude = Agent::claude(&repo);
    claude.may_write("large").is_block("not read");
    claude.reads("large");
    passes(claude.may_write("large"));
    repo.write("large", vec![b'y'; (5 << 20) + 1]);
    claude.may_write("large").is_block("changed");
}

#[test]
fn commands_are_flagged_and_never_blocked() {
    let repo = guarded();
    let claude = Agent::claude(&repo);
    claude.is_told("go");
    let test = json!({ "command": "cargo test" });
    for _ in 0..2 {
        passes(claude.may("Bash", test.clone()));
        passes(claude.did("Bash", test.clone()));
    }
    passes(claude.may("Bash", test.clone()));
    claude.did("Bash", test.clone()).is_notice("third time");
    passes(claude.may("Bash", test));
    let fetch = json!({ "url": "https://example.com" });
    for _ in 0..2 {
        passes(claude.did("WebFetch", fetch.clone()));
    }
    passes(claude.may("WebFetch", fetch.clone()));
    claude.did("WebFetch", fetch).is_notice("third time");
}

#[test]
fn a_command_that_fails_again_after_changes_is_told_so() {
    let repo = guarded();
    let claude = Agent::claude(&repo);
    claude.is_told("go");
    let fails = || {
        let input = json!({ "command": "make" });
        let more = json!({ "tool_name": "Bash", "tool_input": input, "error": "Exit code 2" });
        claude.says("PostToolUseFailure", more)
    };
    passes(fails());
    passes(fails());
    claude.reads("a");
    claude.writes("a", "two\n");
    let said = fails();
    said.is_notice("failed 2 times, each time after a change");
    passes(claude.did("Bash", json!({ "command": "make" })));
    claude.writes("a", "three\n");
    passes(fails());
    claude.writes("a", "four\n");
    claude.is_told("another thing");
    passes(fails());
}

#[test]
fn how_often_and_which_tools_is_the_persons_to_say() {
    let repo = guarded();
    for (key, value) in [
        ("edio.guard.repeatLimit", "2"),
        ("edio.guard.readTool", "mcp__fs__read"),
        ("edio.guard.writeTool", "mcp__fs__write"),
        ("edio.guard.readOnlyTool", "mcp__db__schema"),
        ("edio.guard.volatileTool", "Grep"),
    ] {
        repo.git(["config", key, value]);
    }
    let claude = Agent::claude(&repo);
    claude.is_told("go");
    let file = json!({ "path": repo.path("a") });
    claude
        .may("mcp__fs__write", file.clone())
        .is_block("was not read");
    passes(claude.did("mcp__fs__read", file.clone()));
    passes(claude.may("mcp__fs__write", file));
    passes(claude.did("mcp__db__schema", json!({})));
    claude
        .may("mcp__db__schema", json!({}))
        .is_block("second time");
    passes(claude.did("Grep", json!({ "pattern": "x" })));
    passes(claude.may("Grep", json!({ "pattern": "x" })));
    claude
        .did("Grep", json!({ "pattern": "x" }))
        .is_notice("second");
}

#[test]
fn uses_of_tools_at_the_same_time_are_all_remembered() {
    let repo = guarded();
    let names: Vec<String> = (0..12).map(|number| format!("f{number}")).collect();
    for name in &names {
        repo.write(name, "1\n");
    }
    thread::scope(|scope| {
        for name in &names {
            let repo = &repo;
            scope.spawn(move || Agent::claude(repo).reads(name));
        }
    });
    for name in &names {
        passes(Agent::claude(&repo).may_write(name));
    }
}

#[test]
fn a_use_that_is_told_twice_is_one() {
    let repo = guarded();
    let claude = Agent::claude(&repo);
    let used =
        json!({ "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_use_id": "t1" });
    for _ in 0..4 {
        passes(claude.says("PostToolUse", used.clone()));
    }
}

#[test]
fn a_fault_of_the_guard_lets_the_call_through_and_is_told_once() {
    let repo = guarded();
    repo.write(".git/edio/guard.json", "{");
    let claude = Agent::claude(&repo);
    claude
        .may_write("a")
        .is_notice("The guard of edio has failed");
    repo.write(".git/edio/guard.json", "{");
    passes(claude.may_write("a"));
    let doctor = repo.edio(["doctor"]);
    assert!(doctor.stdout.contains("guard"), "{doctor}");
    repo.write(".git/edio/guard.json", "{");
    repo.edio(["guard", "off"]).ok();
    assert!(!repo.has(".git/edio/guard.json"));
}

#[test]
fn each_decision_is_a_line_of_the_log_where_that_is_wanted() {
    let repo = guarded();
    let log = ".git/edio/guard/debug.jsonl";
    let claude = Agent::claude(&repo);
    claude.may_write("a").is_block("not read");
    assert!(!repo.has(log));
    let more =
        json!({ "tool_name": "Write", "tool_input": claude.input("a"), "tool_use_id": "t9" });
    let mut command = repo.command(["hook", "claude"]);
    command.env("EDIO_DEBUG", "1");
    fed(&mut command, claude.payload("PreToolUse", more).to_string());
    let line: Value = serde_json::from_str(repo.read(log).trim()).unwrap();
    assert_eq!(line["decision"], "block");
    assert_eq!(
        (&line["tool"], &line["call"]),
        (&json!("Write"), &json!("t9"))
    );
}

#[test]
fn what_is_remembered_has_a_bound() {
    let repo = guarded();
    let claude = Agent::claude(&repo);
    let mut names = Vec::new();
    for number in 0..1100 {
        let name = format!("many/{number}");
        repo.write(&name, "1\n");
        names.push(repo.path(&name));
    }
    repo.git(["config", "edio.guard.readTool", "ReadAll"]);
    claude.is_told("go");
    passes(claude.did("ReadAll", json!({ "paths": names })));
    let memory = repo.path(".git/edio/guard");
    let files = fs::read_dir(memory).unwrap().map(|file| file.unwrap());
    let bytes: u64 = files.map(|file| file.metadata().unwrap().len()).sum();
    assert!(bytes < 200_000, "{bytes}");
    claude.may_write("many/0").is_block("not read");
    passes(claude.may_write("many/1099"));
}

#[test]
fn what_agents_need_to_ask_is_written_and_taken_out_again() {
    let repo = Repo::with(&[("a", "one\n")]);
    let agents = "claude,codex,cursor,copilot,opencode,pi,cline,gemini,windsurf";
    repo.edio(["init", "--agents", agents]).ok();
    let before = repo.manifest();
    let excludes = repo.read(".git/info/exclude");
    repo.edio(["guard", "on"]).ok();
    for (path, word) in [
        (".codex/hooks.json", "PreCompact"),
        (".cursor/hooks.json", "preToolUse"),
        (".github/hooks/edio.json", "preToolUse"),
        (".opencode/plugin/edio-guard.js", "tool.execute.before"),
        (".pi/extensions/edio-guard.ts", "tool_call"),
        (".clinerules/hooks/PreToolUse", "edio hook cline"),
    ] {
        assert!(repo.read(path).contains(word), "{path}");
    }
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    let on = repo.manifest();
    repo.edio(["guard", "on"]).ok();
    assert_eq!(repo.manifest(), on);
    repo.edio(["guard", "loops", "off"]).ok();
    assert_eq!(repo.manifest(), on);
    repo.edio(["guard", "off"]).ok();
    assert_eq!(repo.manifest(), before);
    assert_eq!(repo.read(".git/info/exclude"), excludes);
    repo.edio(["guard", "on"]).ok();
    assert_eq!(repo.manifest(), on);
    repo.edio(["init", "--remove"]).ok();
    assert_eq!(repo.manifest(), Repo::with(&[("a", "one\n")]).manifest());
}

#[test]
fn what_the_person_adds_meanwhile_stays() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.edio(["init", "--agents", "cursor"]).ok();
    repo.edio(["guard", "on"]).ok();
    let mut hooks: Value = serde_json::from_str(&repo.read(".cursor/hooks.json")).unwrap();
    hooks["hooks"]["stop"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "command": "mine" }));
    repo.write(".cursor/hooks.json", hooks.to_string());
    repo.edio(["guard", "off"]).ok();
    assert!(!repo.read(".cursor/hooks.json").contains("preToolUse"));
    repo.edio(["init", "--remove"]).ok();
    assert!(repo.read(".cursor/hooks.json").contains("mine"));
}

#[test]
fn files_that_git_tracks_are_changed_where_that_is_asked_for() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.edio(["init", "--agents", "cursor", "--shared"]).ok();
    repo.git(["add", "-A"]);
    repo.git(["commit", "-qm", "hooks"]);
    let before = repo.read(".cursor/hooks.json");
    let said = repo.edio(["guard", "on"]);
    assert!(
        said.ok().stderr.contains("edio guard on --shared"),
        "{said}"
    );
    assert_eq!(repo.read(".cursor/hooks.json"), before);
    repo.edio(["guard", "on", "--shared"]).ok();
    assert!(repo.read(".cursor/hooks.json").contains("preToolUse"));
    repo.edio(["guard", "off", "--shared"]).ok();
    assert_eq!(repo.read(".cursor/hooks.json"), before);
}

#[test]
fn who_is_connected_later_is_guarded_too() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.edio(["guard", "on"]).ok();
    repo.edio(["init", "--agents", "pi,vscode"]).ok();
    assert!(repo.has(".pi/extensions/edio-guard.ts"));
    let record = &repo.edio(["guard", "--json"]).json()[0];
    assert_eq!(record["covered"], json!(["pi"]));
    assert_eq!(record["not_covered"], json!(["vscode"]));
    let other = Repo::with(&[("a", "one\n")]);
    other.edio(["init", "--agents", "pi", "--guard"]).ok();
    assert!(other.has(".pi/extensions/edio-guard.ts"));
}

#[test]
fn it_says_what_is_on_and_what_never_is() {
    let repo = Repo::with(&[("a", "one\n")]);
    let said = repo.edio(["guard"]);
    assert!(
        said.ok()
            .stdout
            .starts_with("freshness  off\nloops      off\njournal    off\n"),
        "{said}"
    );
    repo.edio(["init", "--agents", "claude,aider"]).ok();
    let said = repo.edio(["guard", "on"]);
    let text = &said.ok().stdout;
    assert!(
        text.contains("freshness  on\nloops      on\njournal    on\ncovered    claude\n"),
        "{said}"
    );
    assert!(text.contains("aider: no hook can stop them"), "{said}");
    let record = &repo.edio(["guard", "--json"]).json()[0];
    assert_eq!(record["covered"], json!(["claude"]));
    assert_eq!(record["not_covered"], json!(["aider"]));
    assert_eq!(record["repeat_limit"], 3);
    for words in [
        vec!["guard", "loops"],
        vec!["guard", "on", "off"],
        vec!["guard", "x"],
    ] {
        repo.edio(words).fails(2);
    }
    let outside = repo.edio_in(Path::new("/"), ["guard", "on"]);
    assert_ne!(outside.code, Some(0));
}

#[test]
fn a_link_that_leads_to_itself_is_no_fault() {
    let repo = guarded();
    repo.link("round", "round");
    let claude = Agent::claude(&repo);
    let read =
        json!({ "tool_name": "Read", "tool_input": claude.input("round"), "tool_use_id": "t1" });
    passes(claude.says("PreToolUse", read.clone()));
    passes(claude.says("PostToolUse", read));
    passes(claude.may_write("round"));
}
