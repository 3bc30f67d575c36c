//! The programs that `init` writes for agents without command hooks: they tell edio what happens, and whatever becomes of
//! that, the agent notices nothing (P8).

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::common::{Repo, edio_binary};

/// A repository in which an agent is connected, and a folder that has only edio.
fn connected(agent: &str) -> Repo {
    let repo = Repo::with(&[("a", "a\n")]);
    repo.edio(["init", "--agents", agent]).ok();
    fs::create_dir(repo.outside().join("bin")).unwrap();
    std::os::unix::fs::symlink(edio_binary(), repo.outside().join("bin/edio")).unwrap();
    repo
}

/// Whether `PATH` has edio.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Path {
    WithEdio,
    Without,
}

/// A program at the top of a repository, in the surroundings of a test.
fn program(repo: &Repo, name: impl AsRef<std::ffi::OsStr>, path: Path) -> Command {
    let mut command = Command::new(name);
    repo.surround(&mut command);
    let folders = std::env::split_paths(crate::common::path());
    let mut folders: Vec<_> = folders
        .filter(|folder| !folder.join("edio").exists())
        .collect();
    if path == Path::WithEdio {
        folders.insert(0, repo.outside().join("bin"));
    }
    command.env("PATH", std::env::join_paths(folders).unwrap());
    command.current_dir(&repo.top).stdin(Stdio::null());
    command
}

/// Runs a module in node that is given the plugin's path. `None` where there is no node.
fn node(repo: &Repo, plugin: &str, script: &str, path: Path) -> Option<Output> {
    // As a module by its name: that is how the agents load them.
    let module = repo.outside().join("plugin.mjs");
    fs::copy(repo.path(plugin), &module).unwrap();
    let script = format!(
        "const top = {:?}\nconst plugin = await import({:?})\nconst {{ writeFileSync }} = await import(\"node:fs\")\n{script}",
        repo.top.to_str().unwrap(),
        module.to_str().unwrap()
    );
    let mut node = program(repo, "node", path);
    node.args(["--input-type=module", "-e", &script]);
    match node.output() {
        Ok(output) => Some(output),
        Err(_) => {
            crate::common::left_out("there is no node");
            None
        }
    }
}

#[track_caller]
fn is_silent(output: &Output) {
    assert!(output.status.success(), "{output:?}");
    assert!(
        output.stdout.is_empty() && output.stderr.is_empty(),
        "{output:?}"
    );
}

/// What `edio log --steps` says, the first turn first.
fn said(repo: &Repo) -> Vec<String> {
    let ran = repo.edio(["log", "--steps", "--json"]);
    let lines: Vec<&str> = ran.ok().stdout.lines().rev().collect();
    let said = lines.into_iter().map(|line| {
        let record: Value = serde_json::from_str(line).unwrap();
        let keys = ["message", "agent", "agent_session", "tool", "status"];
        let said = keys.map(|key| record[key].as_str().unwrap_or("-").to_owned());
        said.join(" | ")
    });
    said.collect()
}

/// A prompt, a file, a helper that writes one with a tool that says nothing of files, and the end.
const OPENCODE: &str = r#"
const hooks = await plugin.EdioPlugin({ directory: top, worktree: top })
const event = (type, properties) => hooks.event({ event: { type, properties } })
const text = (text) => ({ message: { id: "msg_1" }, parts: [{ type: "text", text, synthetic: false }, { type: "file" }] })
await event("session.created", { info: { id: "ses_1" } })
await hooks["chat.message"]({ sessionID: "ses_1", model: { modelID: "fake" } }, text("Write a file"))
await hooks["tool.execute.after"]({ tool: "read", sessionID: "ses_1", callID: "c0", args: { filePath: top + "/a" } }, {})
writeFileSync(top + "/new.txt", "1\n")
await hooks["tool.execute.after"]({ tool: "write", sessionID: "ses_1", callID: "c1", args: { filePath: top + "/new.txt" } }, {})
await event("session.created", { info: { id: "ses_2", parentID: "ses_1" } })
await hooks["chat.message"]({ sessionID: "ses_2" }, text("Help with it"))
writeFileSync(top + "/more.txt", "1\n")
await hooks["tool.execute.after"]({ tool: "bash", sessionID: "ses_2", callID: "c2", args: { command: "x" } }, {})
await event("session.idle", { sessionID: "ses_2" })
await event("session.idle", { sessionID: "ses_1" })
"#;

#[test]
fn opencode_tells_what_it_does() {
    let repo = connected("opencode");
    let Some(output) = node(&repo, ".opencode/plugin/edio.js", OPENCODE, Path::WithEdio) else {
        return;
    };
    is_silent(&output);
    assert_eq!(
        said(&repo),
        [
            "new.txt | opencode | ses_1 | write | -",
            "more.txt | opencode | ses_1 | bash | -",
            "Write a file | opencode | ses_1 | - | completed",
        ]
    );
}

/// What OpenCode tells of a conversation while it goes on, as it was seen to: user and agent, thoughts, tools that are well
/// and that fail, a helper, what is taken back.
const OPENCODE_SAYS: &str = r#"
const hooks = await plugin.EdioPlugin({ directory: top, worktree: top })
const event = (type, properties) => hooks.event({ event: { type, properties } })
const part = (id, messageID, more, sessionID = "ses_1") =>
  event("message.part.updated", { part: { id, messageID, sessionID, ...more } })
const message = (id, role) => event("message.updated", { info: { id, role, sessionID: "ses_1" } })
const tool = (id, tool, state) => part(id, "m2", { type: "tool", tool, callID: id, state })
const long = "x".repeat(4095) + "\u{1f600}"
await event("session.created", { info: { id: "ses_1" } })
await event("session.created", { info: { id: "ses_2", parentID: "ses_1" } })
await hooks["chat.message"]({ sessionID: "ses_1" }, { message: { id: "m1" }, parts: [{ type: "text", text: "Write a file \ud83d" }] })
await message("m1", "user")
await part("p1", "m1", { type: "text", text: "Write a file" })
await message("m2", "assistant")
await part("p2", "m2", { type: "step-start", snapshot: "1" })
await part("p3", "m2", { type: "reasoning", text: "hm" })
await tool("p4", "write", { status: "pending", input: {} })
await tool("p4", "write", { status: "running", input: { filePath: "new.txt" } })
writeFileSync(top + "/new.txt", "1\n")
await hooks["tool.execute.after"]({ tool: "write", sessionID: "ses_1", callID: "p4", args: { filePath: top + "/new.txt" } }, { output: "ok" })
await tool("p4", "write", { status: "completed", input: { filePath: "new.txt", content: long }, output: "ok", metadata: { more: long } })
await tool("p5", "bash", { status: "error", input: { command: "make" }, error: "aborted" })
await hooks["tool.execute.after"]({ tool: "bash", sessionID: "ses_1", callID: "p6", args: { command: "false" } }, { output: "no", metadata: { exit: 1 } })
await part("q1", "m9", { type: "text", text: "of the helper" }, "ses_2")
await part("p7", "m2", { type: "text", text: "" })
await part("p7", "m2", { type: "text", text: "It is written" })
await part("p8", "m2", { type: "text", text: "taken back" })
await event("message.part.removed", { sessionID: "ses_1", messageID: "m2", partID: "p8" })
await part("p9", "m3", { type: "text", text: "taken back, too" })
await event("message.removed", { sessionID: "ses_1", messageID: "m3" })
await event("session.idle", { sessionID: "ses_2" })
await event("session.idle", { sessionID: "ses_1" })
await hooks["chat.message"]({ sessionID: "ses_1" }, { message: { id: "m4" }, parts: [{ type: "text", text: "Go on" }] })
for (let id = 0; id < 300; id++) await part("r" + id, "m5", { type: "text", text: long })
writeFileSync(top + "/new.txt", "2\n")
await event("session.error", { sessionID: "ses_1", error: { name: "MessageAbortedError" } })
await event("session.idle", { sessionID: "ses_1" })
"#;

#[test]
fn opencode_tells_what_was_said() {
    let repo = connected("opencode");
    repo.git(["config", "edio.transcripts", "full"]);
    let plugin = ".opencode/plugin/edio.js";
    let Some(output) = node(&repo, plugin, OPENCODE_SAYS, Path::WithEdio) else {
        return;
    };
    is_silent(&output);
    let shown = |turn: &str| repo.edio(["show", turn, "--json"]).ok().json().remove(0);
    let first = shown("1");
    // Half a character is none.
    assert_eq!(first["prompt_text"], "Write a file \u{fffd}");
    assert_eq!(first["reply"], "It is written");
    assert_eq!(shown("2")["status"], "interrupted");
    let log = repo.edio(["log", "--calls", "--json"]).ok().json();
    let calls = log[1]["calls"].as_array().unwrap();
    let call = |call: &Value| {
        let field = |name: &str| call[name].as_str().unwrap_or("-").to_owned();
        format!(
            "{} {} {} {}",
            field("tool"),
            field("tool_call"),
            field("result"),
            call["failed"]
        )
    };
    let said: Vec<String> = calls.iter().map(call).collect();
    assert_eq!(
        said,
        [
            "bash p6 no true",
            "bash p5 aborted true",
            "write p4 ok false"
        ]
    );

    let transcript = |turn| {
        let message = repo.git(["log", "-1", "--format=%B", &repo.turn_ref(turn)]);
        let mut sides = message
            .lines()
            .filter_map(|line| line.strip_prefix("Edio-Conversation: "));
        let side = sides.next().unwrap().to_owned();
        let text = repo.git_raw(["cat-file", "blob", &format!("{side}:transcript")]);
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.collect::<Vec<Value>>()
    };
    let lines = transcript(1);
    let ids: Vec<&str> = lines
        .iter()
        .map(|line| line["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["p1", "p3", "p4", "p5", "p7"]);
    assert_eq!(
        (&lines[0]["role"], &lines[4]["role"]),
        (&"user".into(), &"assistant".into())
    );
    assert_eq!(
        (&lines[1]["type"], &lines[4]["text"]),
        (&"reasoning".into(), &"It is written".into())
    );
    let state = &lines[2]["state"];
    assert_eq!(
        (&state["status"], &state["output"]),
        (&"completed".into(), &"ok".into())
    );
    assert!(
        state["input"]["content"]
            .as_str()
            .unwrap()
            .starts_with("xxx")
            && state["metadata"].is_null()
    );
    assert_eq!(lines[3]["state"]["error"], "aborted");
    // Of too much the end is kept, and it says so.
    let lines = transcript(2);
    assert!(
        lines[0]["edio"] == "cut" && lines[0]["bytes"].as_u64().unwrap() > 1_000_000,
        "{}",
        lines[0]
    );
    assert_eq!(lines.last().unwrap()["id"], "r299");
    assert!(lines.len() > 5 && lines.len() < 20, "{}", lines.len());
}

/// A prompt, a file, a run that fails and is tried again, and the end.
const PI: &str = r#"
const handlers = {}
plugin.default({ on: (name, handler) => (handlers[name] = handler) })
const context = { cwd: top, model: { id: "fake" }, sessionManager: { getSessionId: () => "pi-1" } }
const tell = async (name, event) => {
  if ((await handlers[name](event, context)) !== undefined) throw new Error(name + " answers")
}
await tell("before_agent_start", { prompt: "Write a file" })
await tell("tool_result", { toolName: "read", toolCallId: "c0", input: { path: "a" } })
writeFileSync(top + "/new.txt", "1\n")
await tell("tool_result", { toolName: "write", toolCallId: "c1", input: { path: "new.txt", content: "1" } })
writeFileSync(top + "/more.txt", "1\n")
await tell("tool_result", { toolName: "bash", toolCallId: "c2", input: { command: "x" } })
await tell("agent_end", { messages: [{ role: "assistant", stopReason: "error" }] })
writeFileSync(top + "/more.txt", "2\n")
await tell("tool_result", { toolName: "bash", toolCallId: "c3", input: { command: "x" } })
await tell("agent_end", { messages: [{ role: "assistant", stopReason: "stop" }] })
await tell("agent_settled", { aborted: false })
await tell("session_shutdown", {})
"#;

#[test]
fn pi_tells_what_it_does() {
    let repo = connected("pi");
    let Some(output) = node(&repo, ".pi/extensions/edio.ts", PI, Path::WithEdio) else {
        return;
    };
    is_silent(&output);
    assert_eq!(
        said(&repo),
        [
            "new.txt | pi | pi-1 | write | -",
            "more.txt | pi | pi-1 | bash | -",
            "more.txt | pi | pi-1 | bash | -",
            "Write a file | pi | pi-1 | - | completed",
        ]
    );
}

/// Whatever the agent gives them, and also where edio is gone: nothing is thrown, and nothing is printed.
#[test]
fn p8_a_plugin_without_edio_breaks_nothing() {
    let odd_opencode = r#"
for (const odd of [{}, { properties: {} }, { type: "session.created", properties: { info: {} } }, { type: "session.error", properties: {} }])
  await (await plugin.EdioPlugin({})).event({ event: odd })
const hooks = await plugin.EdioPlugin({})
await hooks["chat.message"]({}, {})
await hooks["tool.execute.after"]({}, undefined)
for (const type of ["message.updated", "message.part.updated", "message.part.removed", "message.removed", "session.idle", "x"])
  for (const properties of [undefined, {}, { part: {} }, { part: { type: "tool" } }, { part: { type: "text", text: 5 } }, { info: null }])
    await hooks.event({ event: { type, properties } })
"#;
    let odd_pi = r#"
const handlers = {}
plugin.default({ on: (name, handler) => (handlers[name] = handler) })
for (const name in handlers) await handlers[name]({}, {})
"#;
    for (agent, file, scripts) in [
        (
            "opencode",
            ".opencode/plugin/edio.js",
            &[OPENCODE, OPENCODE_SAYS, odd_opencode][..],
        ),
        ("pi", ".pi/extensions/edio.ts", &[PI, odd_pi]),
    ] {
        let repo = connected(agent);
        for script in scripts {
            let Some(output) = node(&repo, file, script, Path::Without) else {
                return;
            };
            is_silent(&output);
        }
        assert_eq!(repo.git(["for-each-ref", "refs/edio"]), "");
        let mut check = program(&repo, "node", Path::Without);
        let module = repo.outside().join("plugin.mjs");
        is_silent(&check.arg("--check").arg(module).output().unwrap());
    }
}

const CLINE: [&str; 6] = [
    "TaskStart",
    "TaskResume",
    "UserPromptSubmit",
    "PostToolUse",
    "TaskComplete",
    "TaskCancel",
];

/// Has Cline run one of its hooks, which must answer as it expects.
fn cline(repo: &Repo, name: &str, payload: &str, path: Path) {
    let hook = repo.path(format!(".clinerules/hooks/{name}"));
    let mut command = program(repo, hook, path);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = piped.stderr(Stdio::piped()).spawn().unwrap();
    // All of it is read, or this fails.
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(payload.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "{\"cancel\":false}\n"
    );
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn the_hooks_of_cline_are_programs_that_answer() {
    let repo = connected("cline");
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/payloads");
    let lines = fs::read_to_string(folder.join("cline-cli.jsonl")).unwrap();
    let lines = lines.replace("{TOP}", repo.top.to_str().unwrap());
    for line in lines.lines() {
        let payload: Value = serde_json::from_str(line).unwrap();
        if line.contains("new.txt") {
            repo.write("new.txt", "1\n");
        }
        if line.contains("by-shell") {
            repo.write("by-shell", "1\n");
        }
        // The CLI calls the events otherwise than their files.
        let name = match payload["hookName"].as_str().unwrap() {
            "agent_start" => "TaskStart",
            "tool_result" => "PostToolUse",
            "agent_end" => "TaskComplete",
            other => panic!("{other}"),
        };
        cline(&repo, name, line, Path::WithEdio);
    }
    assert_eq!(
        said(&repo),
        [
            "new.txt | cline | root-1 | editor | -",
            "by-shell | cline | root-1 | run_commands | -",
            "by-shell, new.txt | cline | root-1 | - | completed",
        ]
    );
    let long = "x".repeat(1 << 20);
    for name in CLINE {
        cline(&repo, name, &long, Path::Without);
    }
}

/// Cline leaves out a hook that can't be run, in silence.
#[test]
fn a_hook_that_can_not_be_run_is_found() {
    let repo = connected("cline");
    repo.chmod(".clinerules/hooks/PostToolUse", 0o644);
    let ran = repo.edio(["doctor"]);
    let told = "wrong: cline: it leaves out .clinerules/hooks/PostToolUse, which can't be run\n  try: chmod +x .clinerules/hooks/PostToolUse\n";
    assert!(ran.stdout.contains(told), "{ran}");
    repo.remove(".clinerules/hooks/PostToolUse");
    let ran = repo.edio(["doctor"]);
    let told = "wrong: cline: its hooks: only a part is there\n  try: edio init --agents cline\n";
    assert!(ran.stdout.contains(told), "{ran}");
}
