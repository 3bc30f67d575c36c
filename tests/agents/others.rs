//! Agents that are too large to be installed at each run: these tests are for `EDIO_TEST_AGENTS=all`.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::stage::{Agent, Stage, call};
use super::{NODE, node, npm, pip, turns};
use crate::common::{left_out, python};

/// Are these tests asked for?
fn are_tried() -> bool {
    let are_tried = std::env::var_os("EDIO_TEST_AGENTS").is_some_and(|which| which == "all");
    if !are_tried {
        left_out("it is for EDIO_TEST_AGENTS=all");
    }
    are_tried
}

/// An npm package, where it is asked for.
fn package(name: &str, packages: &[&str]) -> Option<PathBuf> {
    are_tried().then(|| npm(name, packages)).flatten()
}

/// A script of an installed package, to be run by Node.js.
fn script(folder: &Path, script: &str) -> Command {
    let mut command = Command::new(node(folder));
    command.arg(folder.join("node_modules").join(script));
    command
}

struct Gemini;

impl Gemini {
    fn folder() -> Option<PathBuf> {
        package("gemini-cli-0.61.0", &["@google/gemini-cli@0.61.0"])
    }
}

impl Agent for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn settle(&self, stage: &Stage) {
        let key = json!({"security": {"auth": {"selectedType": "gemini-api-key"}}});
        stage.at_home(".gemini/settings.json", key);
        let top = stage.repo.top.to_str().unwrap();
        stage.at_home(".gemini/trustedFolders.json", json!({top: "TRUST_FOLDER"}));
    }

    fn told(&self, stage: &Stage, prompt: &str, goes_on: bool) -> Command {
        let mut command = script(
            &Self::folder().unwrap(),
            "@google/gemini-cli/bundle/gemini.js",
        );
        command
            .env("GEMINI_API_KEY", "none")
            .env("GOOGLE_GEMINI_BASE_URL", &stage.model)
            .args([
                "-p",
                prompt,
                "--yolo",
                "-o",
                "json",
                "-m",
                "gemini-2.5-flash",
            ])
            .args(
                goes_on
                    .then_some(["--resume", "latest"])
                    .into_iter()
                    .flatten(),
            );
        command
    }

    fn write(&self, stage: &Stage, file: &str, content: &str) -> Value {
        call(
            "write_file",
            json!({"file_path": stage.repo.path(file), "content": content}),
        )
    }

    fn run(&self, command: &str) -> Value {
        call(
            "run_shell_command",
            json!({"command": command, "description": "do it"}),
        )
    }

    fn edio(&self, tool: &str, arguments: Value) -> Value {
        call(&format!("mcp_edio_{tool}"), arguments)
    }
}

#[test]
fn gemini_has_its_turns_taken() {
    let Some(_) = Gemini::folder() else { return };
    let mut stage = Stage::of(&Gemini);
    turns::two_turns(&mut stage, ["write_file", "run_shell_command"]);
    assert!(stage.model_knows("edio: undo for this project"));
    stage.edio(&["doctor"]).ok();
}

#[test]
fn gemini_is_guarded() {
    let Some(_) = Gemini::folder() else { return };
    turns::guarded(&mut Stage::of(&Gemini));
}

#[test]
fn gemini_is_interrupted_and_goes_on() {
    let Some(_) = Gemini::folder() else { return };
    turns::stopped_turns(&mut Stage::of(&Gemini), &["INT", "KILL"]);
}

/// It runs what is configured for Claude Code.
struct Copilot;

impl Copilot {
    fn folder() -> Option<PathBuf> {
        package("copilot-1.0.102", &["@github/copilot@1.0.102"])
    }
}

impl Agent for Copilot {
    fn name(&self) -> &'static str {
        "copilot"
    }

    fn connected(&self) -> &'static str {
        "claude"
    }

    fn settle(&self, _: &Stage) {}

    fn told(&self, stage: &Stage, prompt: &str, goes_on: bool) -> Command {
        let mut command = script(&Self::folder().unwrap(), "@github/copilot/npm-loader.js");
        command
            .env("COPILOT_OFFLINE", "true")
            .env("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", stage.model))
            .env("COPILOT_ALLOW_ALL", "true")
            // By the name of the model it chooses the tools.
            .env("COPILOT_MODEL", "claude-sonnet-4.5")
            .env("COPILOT_PROVIDER_API_KEY", "none")
            .args(["-p", prompt, "--allow-all-tools"])
            .args(["--output-format", "json"])
            .args(goes_on.then_some("--continue"));
        command
    }

    fn write(&self, stage: &Stage, file: &str, content: &str) -> Value {
        call(
            "create",
            json!({"path": stage.repo.path(file), "file_text": content}),
        )
    }

    fn run(&self, command: &str) -> Value {
        call(
            "bash",
            json!({"command": command, "description": "do it", "initial_wait": 60, "mode": "sync"}),
        )
    }

    fn edio(&self, tool: &str, arguments: Value) -> Value {
        call(&format!("edio-{tool}"), arguments)
    }
}

#[test]
fn copilot_has_its_turns_taken_by_what_is_there_for_claude_code() {
    let Some(_) = Copilot::folder() else { return };
    let mut stage = Stage::of(&Copilot);
    turns::two_turns(&mut stage, ["Write", "Bash"]);
    assert!(stage.model_knows("edio: undo for this project"));
}

#[test]
fn copilot_is_guarded() {
    let Some(_) = Copilot::folder() else { return };
    turns::guarded(&mut Stage::of(&Copilot));
}

#[test]
fn copilot_is_interrupted_and_goes_on() {
    let Some(_) = Copilot::folder() else { return };
    turns::stopped_turns(&mut Stage::of(&Copilot), &["INT", "KILL"]);
}

struct OpenCode;

impl OpenCode {
    fn folder() -> Option<PathBuf> {
        package("opencode-1.18.33", &["opencode-ai@1.18.33"])
    }
}

impl Agent for OpenCode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn settle(&self, stage: &Stage) {
        let options = json!({"baseURL": format!("{}/v1", stage.model), "apiKey": "none"});
        let models =
            json!({"fake-model": {"name": "Fake", "limit": {"context": 100_000, "output": 4000}}});
        let provider =
            json!({"npm": "@ai-sdk/openai-compatible", "options": options, "models": models});
        let config = json!({"provider": {"fake": provider}, "model": "fake/fake-model"});
        stage.at_home(".config/opencode/opencode.json", config);
    }

    fn told(&self, _: &Stage, prompt: &str, goes_on: bool) -> Command {
        let platform = format!("opencode-linux-{}", super::arch());
        let program = format!("node_modules/{platform}/bin/opencode");
        let mut command = Command::new(Self::folder().unwrap().join(program));
        command
            .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
            .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
            .args(["run", "--format", "json"])
            .args(goes_on.then_some("--continue"))
            // It puts quotes around an argument that has a space.
            .args(prompt.split(' '));
        command
    }

    fn write(&self, stage: &Stage, file: &str, content: &str) -> Value {
        call(
            "write",
            json!({"filePath": stage.repo.path(file), "content": content}),
        )
    }

    fn run(&self, command: &str) -> Value {
        call("bash", json!({"command": command, "description": "do it"}))
    }

    fn edio(&self, tool: &str, arguments: Value) -> Value {
        call(&format!("edio_{tool}"), arguments)
    }
}

#[test]
fn opencode_has_its_turns_taken() {
    let Some(_) = OpenCode::folder() else { return };
    let mut stage = Stage::of(&OpenCode);
    turns::two_turns(&mut stage, ["write", "bash"]);
    assert!(stage.model_knows("edio: undo for this project"));
}

#[test]
fn opencode_is_guarded() {
    let Some(_) = OpenCode::folder() else { return };
    turns::guarded(&mut Stage::of(&OpenCode));
}

/// What was said comes from its plugin: the closing words, and where all is kept, each part.
#[test]
fn opencode_tells_what_was_said() {
    let Some(_) = OpenCode::folder() else { return };
    let mut stage = Stage::of(&OpenCode);
    stage.repo.git(["config", "edio.transcripts", "full"]);
    let write = OpenCode.write(&stage, "draft", "one\n");
    let look = call("read", json!({"filePath": stage.repo.path("nowhere")}));
    let words = json!({"text": "the draft is there"});
    stage.plays(
        "Make a draft",
        [write, look, OpenCode.run("echo made; false"), words],
    );
    stage.tell("Make a draft", false);
    let write = OpenCode.write(&stage, "more", "two\n");
    stage.plays("Write more", [write, json!({"text": "and more"})]);
    stage.tell("Write more", true);
    let shown = |turn: &str| stage.edio(&["show", turn, "--json"]).ok().json().remove(0);
    assert_eq!(shown("1")["prompt_text"], "Make a draft");
    assert_eq!(
        shown("1")["reply"],
        "the draft is there",
        "{}",
        stage.story()
    );
    assert_eq!(shown("2")["reply"], "and more");
    let log = stage.edio(&["log", "--calls", "--json"]).ok().json();
    let calls = log[1]["calls"].as_array().unwrap();
    let said: Vec<(&str, bool)> = calls
        .iter()
        .map(|call| {
            (
                call["tool"].as_str().unwrap(),
                call["failed"].as_bool().unwrap(),
            )
        })
        .collect();
    assert_eq!(said, [("bash", true), ("read", true), ("write", false)]);
    let kept = |turn| -> Vec<String> {
        let message = stage
            .repo
            .git(["log", "-1", "--format=%B", &stage.repo.turn_ref(turn)]);
        let mut sides = message
            .lines()
            .filter_map(|line| line.strip_prefix("Edio-Conversation: "));
        let side = sides.next().unwrap().to_owned();
        let text = stage
            .repo
            .git_raw(["cat-file", "blob", &format!("{side}:transcript")]);
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        let line = |line: Value| {
            let words = line["text"].as_str().or_else(|| line["tool"].as_str());
            format!(
                "{} {}",
                line["role"].as_str().unwrap_or("-"),
                words.unwrap_or("-")
            )
        };
        lines.map(line).collect()
    };
    let first = [
        "user Make a draft",
        "assistant write",
        "assistant read",
        "assistant bash",
        "assistant the draft is there",
    ];
    assert_eq!(kept(1), first);
    assert_eq!(
        kept(2),
        ["user Write more", "assistant write", "assistant and more"]
    );
}

struct Pi;

impl Pi {
    fn folder() -> Option<PathBuf> {
        package(
            "pi-1.6.0",
            &["@earendil-works/pi-coding-agent@1.6.0", NODE.1],
        )
    }
}

impl Agent for Pi {
    fn name(&self) -> &'static str {
        "pi"
    }

    fn settle(&self, stage: &Stage) {
        let model = json!({"id": "fake-model", "contextWindow": 100_000, "maxTokens": 4000});
        let provider = json!({
            "baseUrl": format!("{}/v1", stage.model),
            "api": "openai-completions",
            "apiKey": "none",
            "models": [model],
        });
        stage.at_home(
            ".pi/agent/models.json",
            json!({"providers": {"fake": provider}}),
        );
    }

    fn told(&self, _: &Stage, prompt: &str, goes_on: bool) -> Command {
        let mut command = script(
            &Self::folder().unwrap(),
            "@earendil-works/pi-coding-agent/dist/bundle/cli.js",
        );
        command
            .env("PI_OFFLINE", "1")
            .args(["-p", "--approve", "--model", "fake/fake-model"])
            .args(goes_on.then_some("--continue"))
            .arg(prompt);
        command
    }

    fn write(&self, stage: &Stage, file: &str, content: &str) -> Value {
        call(
            "write",
            json!({"path": stage.repo.path(file), "content": content}),
        )
    }

    fn run(&self, command: &str) -> Value {
        call("bash", json!({"command": command}))
    }

    fn edio(&self, tool: &str, arguments: Value) -> Value {
        call(&format!("mcp__edio__{tool}"), arguments)
    }
}

#[test]
fn pi_has_its_turns_taken() {
    let Some(_) = Pi::folder() else { return };
    let mut stage = Stage::of(&Pi);
    turns::two_turns(&mut stage, ["write", "bash"]);
    assert!(stage.model_knows("This project has edio"));
}

#[test]
fn pi_is_guarded() {
    let Some(_) = Pi::folder() else { return };
    turns::guarded(&mut Stage::of(&Pi));
}

struct Cline;

impl Cline {
    fn folder() -> Option<PathBuf> {
        package("cline-3.0.65", &["cline@3.0.65"])
    }
}

impl Agent for Cline {
    fn name(&self) -> &'static str {
        "cline"
    }

    fn settle(&self, stage: &Stage) {
        let transport = json!({"type": "stdio", "command": "edio", "args": ["mcp"]});
        let servers = json!({"mcpServers": {"edio": {"transport": transport}}});
        stage.at_home(".cline/data/settings/cline_mcp_settings.json", servers);
    }

    /// It goes on in a conversation only at a terminal.
    fn told(&self, stage: &Stage, prompt: &str, _: bool) -> Command {
        let program = format!("node_modules/@cline/cli-linux-{}/bin/cline", super::arch());
        let program = Self::folder().unwrap().join(program);
        let mut command = Command::new("sh");
        let url = format!("{}/v1", stage.model);
        let signs_in = "\"$0\" auth -p openai -k none -m fake-model -b \"$1\" >&2 && shift && exec \"$0\" \"$@\"";
        command
            .args(["-c", signs_in])
            .arg(program)
            .args([&url, "--json", "-P", "openai", "-m", "fake-model"])
            .arg(prompt);
        command
    }

    fn write(&self, stage: &Stage, file: &str, content: &str) -> Value {
        call(
            "editor",
            json!({"path": stage.repo.path(file), "new_text": content}),
        )
    }

    fn run(&self, command: &str) -> Value {
        call("run_commands", json!({"commands": [command]}))
    }

    fn edio(&self, tool: &str, arguments: Value) -> Value {
        call(&format!("edio__{tool}"), arguments)
    }
}

/// Its hooks don't know what it was told: its turns are named by their paths.
#[test]
fn cline_has_its_turns_taken() {
    let Some(_) = Cline::folder() else { return };
    let mut stage = Stage::of(&Cline);
    let write = Cline.write(&stage, "draft", "one\n");
    stage.plays(
        "Make a draft",
        [
            write,
            Cline.run("echo made > made"),
            Cline.edio("status", json!({})),
        ],
    );
    stage.tell("Make a draft", false);
    let said = stage.turns(&["turn", "step", "message", "agent", "tool", "status"]);
    assert_eq!(
        said,
        [
            "1 | 1 | draft | cline | editor | -",
            "1 | 2 | made | cline | run_commands | -",
            "1 | - | draft, made | cline | - | completed",
        ],
        "{}",
        stage.story()
    );
    assert!(stage.model_knows("edio: undo for this project"));
    assert!(stage.model_saw("\\\"turns\\\""), "{}", stage.story());
}

/// It has no tools: what its model says is applied to the files, and committed.
struct Aider;

impl Aider {
    fn folder() -> Option<PathBuf> {
        are_tried()
            .then(|| pip("aider-0.86.2", "aider-chat==0.86.2"))
            .flatten()
    }
}

impl Agent for Aider {
    fn name(&self) -> &'static str {
        "aider"
    }

    fn settle(&self, stage: &Stage) {
        let program = stage.repo.outside().join("aider");
        let script = format!("#!/bin/sh\nexec {} -m aider \"$@\"\n", python());
        stage.repo.write(&program, script);
        stage.repo.chmod(&program, 0o755);
    }

    fn told(&self, stage: &Stage, prompt: &str, _: bool) -> Command {
        let mut command = Command::new("edio");
        command
            .env("PYTHONPATH", Self::folder().unwrap().join("packages"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("OPENAI_API_BASE", format!("{}/v1", stage.model))
            .env("OPENAI_API_KEY", "none")
            .args(["run", "--"])
            .arg(stage.repo.outside().join("aider"))
            .args(["--model", "openai/fake-model", "--edit-format", "whole"])
            .args([
                "--yes-always",
                "--no-stream",
                "--no-pretty",
                "--no-gitignore",
            ])
            .args(["--analytics-disable", "--no-check-update"])
            .args(["--no-show-model-warnings", "--no-show-release-notes"])
            .args(["--message", prompt, "note"]);
        command
    }

    fn write(&self, _: &Stage, file: &str, content: &str) -> Value {
        json!({"text": format!("So be it.\n\n{file}\n```\n{content}```\n")})
    }

    fn run(&self, _: &str) -> Value {
        unreachable!("it has no tools")
    }

    fn edio(&self, _: &str, _: Value) -> Value {
        unreachable!("it has no tools")
    }
}

#[test]
fn aider_commits_and_edio_takes_its_turn() {
    let Some(_) = Aider::folder() else { return };
    let mut stage = Stage::of(&Aider);
    let exclude = stage.repo.read(".git/info/exclude");
    let exclude = exclude + ".aider*\n";
    stage.repo.write(".git/info/exclude", exclude);
    let write = Aider.write(&stage, "note", "1\n");
    stage.plays("Change the note", [write]);
    stage.plays("diff --git", [json!({"text": "feat: one"})]);
    stage.tell("Change the note", false);
    let repo = &stage.repo;
    let subjects = repo.git(["log", "--format=%s"]);
    assert_eq!(subjects, "feat: one\nbase");
    let said = stage.turns(&["turn", "kind", "agent", "status", "files"]);
    assert_eq!(said, ["1 | turn | aider | completed | 1"]);
    assert_eq!(repo.in_turn(1, "note").as_deref(), Some("1\n"));
    assert!(stage.model_knows("edio: undo for this project"));
    stage.edio(&["restore", "0"]).ok();
    assert_eq!(repo.read("note"), "0\n");
    assert_eq!(repo.git(["log", "--format=%s"]), subjects);
    stage.edio(&["undo"]).ok();
    assert_eq!(repo.git(["status", "--porcelain"]), "");
}
