//! MCP clients of others: the Inspector, which checks schemas for what some client stumbles over, and the Python client,
//! which checks each message against the specification.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{node, npm, pip};
use crate::common::{Ran, Repo, edio_binary};

/// The Inspector on a repository with two turns.
struct Inspector {
    folder: std::path::PathBuf,
    repo: Repo,
}

impl Inspector {
    fn new() -> Option<Self> {
        let package = "@modelcontextprotocol/inspector@2.12.0";
        let folder = npm("inspector-2.12.0", &[package])?;
        let repo = Repo::with(&[("a", "zero\n")]);
        for content in ["one\n", "two\n"] {
            repo.write("a", content);
            repo.edio(["snapshot", "-m", content.trim()]).ok();
        }
        repo.git(["config", "edio.mcp.accept", "true"]);
        // It hands on little of its environment.
        repo.git(["config", "user.name", "A Person"]);
        repo.git(["config", "user.email", "person@example.com"]);
        Some(Self { folder, repo })
    }

    fn run(&self, era: &str, words: &[&str]) -> Ran {
        let program =
            "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
        let mut command = Command::new(node(&self.folder));
        self.repo.surround(&mut command);
        command
            .current_dir(&self.repo.top)
            .env("MCP_INSPECTOR_SECRET_STORE", "memory")
            .arg(self.folder.join(program))
            .arg("--cli")
            .arg(edio_binary())
            .args(["mcp", "-q", "--format", "json", "--protocol-era", era])
            .args(words);
        self.repo.ran(&mut command)
    }

    /// What a tool answers.
    fn call(&self, era: &str, tool: &str, arguments: &Value) -> Value {
        let arguments = arguments.to_string();
        let words = ["--method", "tools/call", "--tool-name", tool];
        let ran = self.run(
            era,
            &[&words[..], &["--tool-args-json", &arguments]].concat(),
        );
        let reply: Value = serde_json::from_str(&ran.ok().stdout).unwrap();
        reply["result"]["structuredContent"].clone()
    }
}

#[test]
fn the_inspector_finds_nothing_in_any_tool() {
    let Some(inspector) = Inspector::new() else {
        return;
    };
    for era in ["legacy", "auto", "modern"] {
        let ran = inspector.run(era, &["--method", "tools/list", "--strict"]);
        let list: Value = serde_json::from_str(&ran.ok().stdout).unwrap();
        assert_eq!(list["result"]["tools"].as_array().unwrap().len(), 8);
        assert_eq!(ran.stderr, "", "{era}");
    }
}

#[test]
fn the_inspector_calls_every_tool() {
    let Some(inspector) = Inspector::new() else {
        return;
    };
    for (era, tool, arguments, field, expected) in [
        ("legacy", "status", json!({}), "turns", json!(2)),
        (
            "modern",
            "show",
            json!({ "turn": "1" }),
            "message",
            json!("one"),
        ),
        (
            "legacy",
            "diff",
            json!({ "turn": "0..2" }),
            "files",
            json!(1),
        ),
        (
            "modern",
            "restore",
            json!({ "turn": 1 }),
            "paths_written",
            json!(["a"]),
        ),
        ("legacy", "undo", json!({}), "undone", json!("restore 1")),
        (
            "modern",
            "snapshot",
            json!({ "message": "m" }),
            "turn",
            json!(3),
        ),
        (
            "auto",
            "log",
            json!({ "limit": 1 }),
            "turns/0/message",
            json!("m"),
        ),
        (
            "auto",
            "accept",
            json!({ "message": "m" }),
            "files",
            json!(1),
        ),
    ] {
        let answer = inspector.call(era, tool, &arguments);
        let found = answer.pointer(&format!("/{field}"));
        assert_eq!(found, Some(&expected), "{tool}: {answer}");
    }
    let words = ["--method", "tools/call", "--tool-name", "show"];
    let wrong = [&words[..], &["--tool-arg", "turn=99"]].concat();
    let ran = inspector.run("auto", &wrong);
    assert!(ran.fails(5).stderr.contains("tool_is_error"), "{ran}");
}

#[test]
fn the_python_client_finds_every_message_as_specified() {
    let Some(folder) = pip("python-mcp-2.3.0", "mcp==2.3.0") else {
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/mcp_client.py");
    for (mode, revision) in [("auto", "2026-07-28"), ("legacy", "2025-11-25")] {
        let repo = Repo::with(&[("a", "zero\n")]);
        let mut command = Command::new("python3");
        repo.surround(&mut command);
        command
            .current_dir(&repo.top)
            .env("PYTHONPATH", folder.join("packages"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .arg(&script)
            .arg(edio_binary())
            .args([mode, revision]);
        repo.ran(&mut command).ok();
        assert_eq!(repo.turns(), 2);
    }
}
