//! Codex. Its newer models have two tools only for all of this: one runs JavaScript, which can call the others.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::stage::{Agent, Stage, alone, call};
use super::turns;
use super::{node, npm};

struct Codex;

impl Agent for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn settle(&self, stage: &Stage) {
        let (model, top) = (&stage.model, stage.repo.top.display());
        let config = format!(
            "model = \"gpt-6.2-sol\"\n\
             model_provider = \"fake\"\n\
             [model_providers.fake]\n\
             name = \"fake\"\n\
             base_url = \"{model}/v1\"\n\
             wire_api = \"responses\"\n\
             env_key = \"FAKE_KEY\"\n\
             [analytics]\n\
             enabled = false\n\
             [features]\n\
             plugins = false\n\
             [projects.\"{top}\"]\n\
             trust_level = \"trusted\"\n"
        );
        stage.at_home(".codex/config.toml", &config);
        let trusted: String = hooks(stage).iter().map(trusted).collect();
        stage.at_home(".codex/config.toml", config + &trusted);
    }

    fn told(&self, _: &Stage, prompt: &str, goes_on: bool) -> Command {
        let mut command = codex();
        command
            .env("FAKE_KEY", "none")
            .args(["exec", "--json", "--sandbox", "danger-full-access"])
            .args(
                goes_on
                    .then_some(["resume", "--last"])
                    .into_iter()
                    .flatten(),
            )
            .arg(prompt);
        command
    }

    fn write(&self, _: &Stage, file: &str, content: &str) -> Value {
        let added: String = content.lines().map(|line| format!("+{line}\n")).collect();
        code(
            "apply_patch",
            json!(format!(
                "*** Begin Patch\n*** Add File: {file}\n{added}*** End Patch\n"
            )),
        )
    }

    fn run(&self, command: &str) -> Value {
        code("exec_command", json!({"cmd": command}))
    }

    fn edio(&self, tool: &str, arguments: Value) -> Value {
        code(&format!("mcp__edio__{tool}"), arguments)
    }
}

/// A tool is called from JavaScript.
fn code(tool: &str, argument: Value) -> Value {
    call("exec", format!("text(await tools.{tool}({argument}))"))
}

fn folder() -> Option<PathBuf> {
    npm("codex-0.171.0", &["@openai/codex@0.171.0"])
}

fn codex() -> Command {
    let folder = folder().unwrap();
    let mut command = Command::new(node(&folder));
    command.arg(folder.join("node_modules/@openai/codex/bin/codex.js"));
    command
}

/// The hooks that Codex finds in the project. It says so to a program that shows it.
fn hooks(stage: &Stage) -> Vec<Value> {
    let (codex, mut command) = (codex(), alone());
    stage.repo.surround(&mut command);
    command
        .arg(codex.get_program())
        .args(codex.get_args())
        .arg("app-server")
        .current_dir(&stage.repo.top)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let client = json!({"clientInfo": {"name": "test", "version": "1"}});
    for message in [
        json!({"id": 1, "method": "initialize", "params": client}),
        json!({"method": "initialized"}),
        json!({"id": 2, "method": "hooks/list", "params": {"cwds": [stage.repo.top]}}),
    ] {
        writeln!(stdin, "{message}").unwrap();
    }
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut answers = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let answer = answers.find(|answer| answer["id"] == 2).unwrap();
    // It ends with its input.
    drop(stdin);
    child.wait().unwrap();
    answer["result"]["data"][0]["hooks"]
        .as_array()
        .unwrap()
        .clone()
}

/// What Codex writes down when its user trusts a hook.
fn trusted(hook: &Value) -> String {
    let (key, hash) = (&hook["key"], &hook["currentHash"]);
    format!("[hooks.state.{key}]\ntrusted_hash = {hash}\n")
}

fn stage() -> Option<Stage> {
    folder().map(|_| Stage::of(&Codex))
}

#[test]
fn codex_has_its_turns_taken() {
    let Some(mut stage) = stage() else { return };
    turns::two_turns(&mut stage, ["apply_patch", "Bash"]);
    assert!(stage.model_knows("This project has edio, an undo for turns"));
    stage.edio(&["doctor"]).ok();
    // A hook that fails is told there.
    stage.plays("Look", []);
    assert!(!stage.tell("Look", true).contains("\"error\""));
}

#[test]
fn codex_has_the_work_of_a_helper_in_its_turn() {
    let Some(mut stage) = stage() else { return };
    let helper = json!({"task_name": "help", "message": "As the helper", "fork_turns": "none"});
    let wait = json!({"timeout_ms": 60_000});
    turns::a_helper(
        &mut stage,
        [call("spawn_agent", helper), call("wait_agent", wait)],
    );
}

#[test]
fn codex_is_interrupted_and_goes_on() {
    let Some(mut stage) = stage() else { return };
    turns::stopped_turns(&mut stage, &["INT", "KILL"]);
}

#[test]
fn codex_goes_on_from_where_a_turn_ended() {
    let Some(mut stage) = stage() else { return };
    turns::rewound(&mut stage, |_, resume, prompt| {
        assert_eq!(resume[..2], ["codex", "resume"]);
        let mut command = codex();
        command
            .env("FAKE_KEY", "none")
            .args(["exec", "--json", "--sandbox", "danger-full-access"])
            .args(&resume[1..])
            .arg(prompt);
        command
    });
}

#[test]
fn codex_is_guarded() {
    let Some(mut stage) = stage() else { return };
    turns::guarded(&mut stage);
}
