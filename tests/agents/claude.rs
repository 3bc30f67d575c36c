//! Claude Code.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::stage::{Agent, Stage, call};
use super::turns;
use super::{arch, npm};

struct Claude;

impl Agent for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn settle(&self, stage: &Stage) {
        stage.at_home(
            ".claude/settings.json",
            json!({"enabledMcpjsonServers": ["edio"]}),
        );
        let top = stage.repo.top.to_str().unwrap();
        stage.at_home(
            ".claude.json",
            json!({"projects": {top: {"hasTrustDialogAccepted": true}}}),
        );
    }

    fn told(&self, stage: &Stage, prompt: &str, goes_on: bool) -> Command {
        let mut command = Command::new(program().unwrap());
        command
            .env("ANTHROPIC_BASE_URL", &stage.model)
            .env("ANTHROPIC_API_KEY", "none")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("CLAUDE_CODE_TMPDIR", stage.repo.outside())
            .env("DISABLE_AUTOUPDATER", "1")
            // Servers' tools are looked for first, otherwise.
            .env("ENABLE_TOOL_SEARCH", "false")
            .args(goes_on.then_some("--continue"))
            .args(["-p", prompt, "--permission-mode", "acceptEdits"])
            .args(["--allowedTools", "Bash(*)", "mcp__edio"])
            .args([
                "--output-format",
                "stream-json",
                "--verbose",
                "--include-hook-events",
            ]);
        command
    }

    fn write(&self, stage: &Stage, file: &str, content: &str) -> Value {
        let path = stage.repo.path(file);
        call("Write", json!({"file_path": path, "content": content}))
    }

    fn run(&self, command: &str) -> Value {
        call("Bash", json!({"command": command, "description": "do it"}))
    }

    fn edio(&self, tool: &str, arguments: Value) -> Value {
        call(&format!("mcp__edio__{tool}"), arguments)
    }
}

fn program() -> Option<PathBuf> {
    let folder = npm(
        "claude-code-2.1.332",
        &["@anthropic-ai/claude-code@2.1.332"],
    )?;
    let platform = format!("claude-code-linux-{}", arch());
    Some(folder.join(format!("node_modules/@anthropic-ai/{platform}/claude")))
}

fn stage() -> Option<Stage> {
    program().map(|_| Stage::of(&Claude))
}

/// The events of which hooks were called. None of them said anything.
fn hooks(printed: &str) -> BTreeSet<String> {
    let events = printed
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let hooks = events.filter(|event| event["subtype"] == "hook_response");
    let name = |hook: Value| {
        let silent = hook["stdout"] == "" && hook["stderr"] == "" && hook["exit_code"] == 0;
        assert!(silent, "{hook}");
        hook["hook_event"].as_str().unwrap().to_owned()
    };
    hooks.map(name).collect()
}

#[test]
fn claude_code_has_its_turns_taken() {
    let Some(mut stage) = stage() else { return };
    turns::two_turns(&mut stage, ["Write", "Bash"]);
    assert!(stage.model_knows("edio: undo for this project"));
    stage.edio(&["doctor"]).ok();
    let change =
        json!({"file_path": stage.repo.path("note"), "old_string": "0", "new_string": "1"});
    stage.plays(
        "Change the note",
        [
            call("Read", json!({"file_path": stage.repo.path("note")})),
            call("Edit", change),
        ],
    );
    let printed = stage.tell("Change the note", true);
    let called: Vec<String> = hooks(&printed).into_iter().collect();
    assert_eq!(
        called,
        [
            "PostToolUse",
            "PreToolUse",
            "SessionStart",
            "Stop",
            "UserPromptSubmit"
        ]
    );
    let said = stage.turns(&["turn", "step", "message", "tool", "status"]);
    let last = [
        "3 | 1 | note | Edit | -",
        "3 | - | Change the note | - | completed",
    ];
    assert_eq!(said[said.len() - 2..], last);
}

#[test]
fn claude_code_has_the_work_of_a_helper_in_its_turn() {
    let Some(mut stage) = stage() else { return };
    let helper = json!({"description": "help", "prompt": "As the helper", "subagent_type": "general-purpose"});
    turns::a_helper(&mut stage, [call("Agent", helper)]);
}

#[test]
fn claude_code_is_interrupted_and_goes_on() {
    let Some(mut stage) = stage() else { return };
    turns::stopped_turns(&mut stage, &["INT", "KILL"]);
}

#[test]
fn claude_code_fails_with_its_model() {
    let Some(mut stage) = stage() else { return };
    stage.plays(
        "Fail",
        [stage.agent.run("echo 1 > half"), json!({"error": 400})],
    );
    stage.fail("Fail");
    assert_eq!(stage.turns(&["message", "status"])[1..], ["Fail | failed"]);
}

#[test]
fn claude_code_goes_on_from_where_a_turn_ended() {
    let Some(mut stage) = stage() else { return };
    turns::rewound(&mut stage, |stage, resume, prompt| {
        assert_eq!(resume[..2], ["claude", "--resume"]);
        let mut command = Claude.told(stage, prompt, false);
        command.args(&resume[1..]);
        command
    });
}

#[test]
fn claude_code_is_guarded() {
    let Some(mut stage) = stage() else { return };
    turns::guarded(&mut stage);
}
