//! The MCP server: a client of our own speaks to the real binary, message by message.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::common::{Repo, edio_binary};

const LOOKING: [&str; 4] = ["log", "show", "diff", "status"];

/// A server, and the client that speaks to it.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// What was read and not asked for yet.
    read: Vec<Value>,
    next: u64,
}

impl Client {
    /// A server at the top of this repository, shaken hands with by a client of this name.
    fn named(repo: &Repo, name: &str) -> Self {
        let mut client = Self::silent(repo, &repo.top, &[]);
        client.greet("2025-11-25", name);
        client
    }

    fn new(repo: &Repo) -> Self {
        Self::named(repo, "a-client")
    }

    /// A server that accepts: in the surroundings of `edio accept`, with the person's hooks and name.
    fn that_accepts(repo: &Repo) -> Self {
        repo.git(["config", "edio.mcp.accept", "true"]);
        let mut client = Self::started(repo.like_edio(edio_binary(), ["accept"]).arg("mcp"));
        client.greet("2025-11-25", "a-client");
        client
    }

    /// A server that was told nothing yet.
    fn silent(repo: &Repo, folder: &Path, words: &[&str]) -> Self {
        let mut command = repo.command([&["mcp"], words].concat());
        Self::started(command.current_dir(folder))
    }

    fn started(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            read: Vec::new(),
            next: 0,
        }
    }

    fn greet(&mut self, version: &str, name: &str) -> Value {
        let info = json!({ "name": name, "version": "1" });
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": info });
        let reply = self.ask("initialize", params);
        self.says(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        reply["result"].clone()
    }

    fn says(&mut self, message: &Value) {
        self.types(&message.to_string());
    }

    fn types(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Asks, and waits for no reply. Returns the id.
    fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.says(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.reply(id)
    }

    /// The reply to a request. Each message is one line, and says that it is JSON-RPC.
    fn reply(&mut self, id: u64) -> Value {
        loop {
            if let Some(at) = self.read.iter().position(|message| message["id"] == id) {
                return self.read.remove(at);
            }
            let message = self.message().expect("the server has gone");
            self.read.push(message);
        }
    }

    fn message(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        if line.is_empty() {
            return None;
        }
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        Some(message)
    }

    /// What a tool answers: the result as it is.
    fn result(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        self.ask("tools/call", params)["result"].clone()
    }

    /// What a tool answers when all went well.
    #[track_caller]
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.result(tool, arguments);
        assert_eq!(result["isError"], false, "{result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        let answer = &result["structuredContent"];
        assert_eq!(&serde_json::from_str::<Value>(text).unwrap(), answer);
        answer.clone()
    }

    /// What a tool says when it did not.
    #[track_caller]
    fn fails(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.result(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        assert_eq!(result["structuredContent"], Value::Null);
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    fn tools(&mut self) -> Vec<Value> {
        let reply = self.ask("tools/list", json!({}));
        reply["result"]["tools"].as_array().unwrap().clone()
    }

    fn tool_names(&mut self) -> Vec<String> {
        let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
        self.tools().iter().map(name).collect()
    }

    /// Ends its input. Returns what it still says, and its exit code.
    fn end(mut self) -> (Vec<Value>, Option<i32>) {
        self.input = None;
        let rest = std::iter::from_fn(|| self.message()).collect();
        (rest, self.child.wait().unwrap().code())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.wait();
    }
}

/// What a request of the revision that knows no handshake says of itself.
fn modern(client: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": client, "version": "1" },
    })
}

/// A repository with three turns: `a` is one, two, three; `sub/new` came with the second.
fn with_turns() -> Repo {
    let repo = Repo::with(&[("a", "zero\n"), ("b", "b\n")]);
    for (content, message) in [
        ("one\n", "first"),
        ("two\n", "second"),
        ("three\n", "third"),
    ] {
        repo.write("a", content);
        if message == "second" {
            repo.write("sub/new", "new\n");
        }
        repo.edio(["snapshot", "-m", message]).ok();
    }
    repo
}

/// Is a value as a schema has it? Of JSON Schema, what the tools use of it.
fn matches(value: &Value, schema: &Value, at: &str) {
    let is = match schema["type"]
        .as_str()
        .unwrap_or_else(|| panic!("{at}: {schema}"))
    {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("{at} is of the type {other}"),
    };
    assert!(is, "{at} is {value}, and not {schema}");
    let known = &schema["properties"];
    for required in schema["required"].as_array().into_iter().flatten() {
        assert!(
            value.get(required.as_str().unwrap()).is_some(),
            "{at} lacks {required}"
        );
    }
    for (key, inner) in value.as_object().into_iter().flatten() {
        assert!(
            known.get(key).is_some(),
            "{at} has {key}, which nobody told of"
        );
        matches(inner, &known[key], &format!("{at}.{key}"));
    }
    for inner in value.as_array().into_iter().flatten() {
        matches(inner, &schema["items"], &format!("{at}[]"));
    }
}

/// No union of types, no format, no reference: some clients stumble over them.
fn is_plain(schema: &Value, at: &str) {
    assert!(schema["type"].is_string(), "{at}: {schema}");
    for key in [
        "format", "$ref", "$defs", "anyOf", "oneOf", "allOf", "default", "$schema",
    ] {
        assert_eq!(schema.get(key), None, "{at}");
    }
    for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
        assert!(
            inner["description"].is_string() || at.contains('.'),
            "{at}.{key} says nothing"
        );
        is_plain(inner, &format!("{at}.{key}"));
    }
    if let Some(items) = schema.get("items") {
        is_plain(items, &format!("{at}[]"));
    }
}

#[test]
fn every_tool_is_told_of_in_full() {
    let repo = Repo::with(&[("a", "a\n")]);
    repo.git(["config", "edio.mcp.accept", "true"]);
    let mut client = Client::new(&repo);
    let tools = client.tools();
    assert_eq!(
        tools,
        client.tools(),
        "they are listed in the same order each time"
    );
    let names = client.tool_names();
    assert_eq!(
        names,
        [
            "snapshot", "log", "show", "diff", "restore", "undo", "status", "accept"
        ]
    );
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        assert!(tool["description"].as_str().unwrap().len() > 50, "{tool}");
        let hints = &tool["annotations"];
        assert_eq!(tool["title"], hints["title"]);
        let looks = LOOKING.contains(&name);
        let overwrites = ["restore", "undo", "accept"].contains(&name);
        let again = looks || name == "restore";
        for (hint, expected) in [
            ("readOnlyHint", looks),
            ("destructiveHint", overwrites),
            ("idempotentHint", again),
            ("openWorldHint", false),
        ] {
            assert_eq!(hints[hint], expected, "{name} {hint}");
        }
        for schema in ["inputSchema", "outputSchema"] {
            is_plain(&tool[schema], &format!("{name} {schema}"));
        }
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
    }
}

#[test]
fn every_answer_is_as_its_schema_says() {
    let repo = with_turns();
    repo.git(["init", "-q", "nested"]);
    let mut client = Client::that_accepts(&repo);
    let tools = client.tools();
    let calls = [
        ("status", json!({})),
        (
            "snapshot",
            json!({ "message": "more", "if_changed": false }),
        ),
        ("snapshot", json!({ "if_changed": true })),
        ("log", json!({})),
        ("log", json!({ "files": ["sub"], "limit": 1 })),
        ("show", json!({ "turn": "2" })),
        ("diff", json!({ "turn": "0..3" })),
        (
            "diff",
            json!({ "turn": "1", "workspace": true, "files": ["a"] }),
        ),
        ("restore", json!({ "turn": "1", "dry_run": true })),
        ("restore", json!({ "turn": 1 })),
        ("undo", json!({})),
        ("restore", json!({ "turn": "1", "files": ["a"] })),
        ("status", json!({})),
        ("accept", json!({ "message": "done", "dry_run": true })),
        ("accept", json!({ "message": "done" })),
        ("undo", json!({})),
    ];
    let mut called = BTreeSet::new();
    for (tool, arguments) in calls {
        let answer = client.call(tool, arguments);
        let told = tools.iter().find(|told| told["name"] == tool).unwrap();
        matches(&answer, &told["outputSchema"], tool);
        called.insert(tool);
    }
    assert_eq!(called.len(), tools.len(), "not each tool was called");
}

#[test]
fn of_many_ignored_files_that_are_replaced_the_first_are_named() {
    let repo = Repo::with(&[("a", "a\n")]);
    let write = |content: &str| (0..503).for_each(|n| repo.write(format!("made/{n}"), content));
    write("from the turn\n");
    repo.edio(["snapshot"]).ok();
    repo.edio(["restore", "0"]).ok();
    repo.write(".git/info/exclude", "made\n");
    write("mine\n");
    let mut client = Client::new(&repo);
    let restored = client.call("restore", json!({ "turn": "1" }));
    let warnings = restored["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 501);
    assert_eq!(warnings[500], "and so were 3 more files");
}

/// A person's words are kept to the letter; a model may repeat what it has read somewhere.
#[test]
fn a_message_of_an_agents_has_no_secret() {
    let token = ["ghp_", "b7XqLr2ZkT9vWm4YsN8cPd6HjF3gQa1EoU5t"].concat();
    let repo = Repo::with(&[("a", "a\n")]);
    repo.git(["config", "edio.redact", "ACME-[0-9]{8}"]);
    repo.write("a", "1\n");
    let message = format!("use {token}\n\nand ACME-12345678");
    let taken = Client::new(&repo).call("snapshot", json!({ "message": message }));
    let expected = "use [redacted: github token]\n\nand [redacted: own pattern]";
    assert_eq!(taken["message"], expected);
    assert_eq!(repo.edio(["log", "--json"]).json()[0]["message"], expected);
    repo.edio(["redact", "--check"]).ok();
}

#[test]
fn a_snapshot_bears_the_name_of_its_agent() {
    let repo = Repo::with(&[("a", "a\n")]);
    for (at, (name, agent)) in [
        ("claude-code", "claude"),
        ("Visual Studio Code", "vscode"),
        ("Some\u{202e}  client", "Some-client"),
    ]
    .into_iter()
    .enumerate()
    {
        repo.write("a", format!("{at}\n"));
        let taken = Client::named(&repo, name).call("snapshot", json!({ "message": "work" }));
        assert_eq!(taken["changed"], true);
        assert_eq!(taken["turn"], at + 1);
        assert_eq!(taken["agent"], agent);
        assert_eq!(taken["message"], "work");
        assert_eq!(repo.edio(["show", "--json"]).json()[0]["agent"], agent);
    }
    let mut client = Client::silent(&repo, &repo.top, &[]);
    let params = json!({ "name": "snapshot", "_meta": modern("codex-mcp-client") });
    let reply = client.ask("tools/call", params);
    assert_eq!(
        reply["result"]["structuredContent"]["agent"], "codex",
        "{reply}"
    );
    assert_eq!(reply["result"]["resultType"], "complete");
}

#[test]
fn a_restore_says_what_has_changed_on_disk() {
    let repo = with_turns();
    repo.write("a", "unsaved\n");
    repo.write("late", "late\n");
    let mut client = Client::new(&repo);
    let before = repo.manifest();
    let planned = client.call("restore", json!({ "turn": "1", "dry_run": true }));
    assert_eq!(planned["dry_run"], true);
    assert_eq!(repo.manifest(), before);
    let restored = client.call("restore", json!({ "turn": "1" }));
    for answer in [&planned, &restored] {
        assert_eq!(answer["paths_written"], json!(["a"]));
        assert_eq!(answer["paths_removed"], json!(["late", "sub/new"]));
        assert_eq!(
            (&answer["written"], &answer["removed"]),
            (&json!(1), &json!(2))
        );
    }
    assert_eq!(restored["safety_turn"], 4);
    assert!(restored["next"].as_str().unwrap().contains("undo"));
    assert_eq!(repo.read("a"), "one\n");
    let undone = client.call("undo", json!({}));
    assert_eq!(undone["undone"], "restore 1");
    assert_eq!(undone["paths_written"], json!(["a", "late", "sub/new"]));
    assert_eq!(repo.manifest(), before);
    let nothing = client.call("restore", json!({ "turn": "@" }));
    assert_eq!(nothing["next"], "Nothing on disk has changed.");
}

#[test]
fn a_restore_of_files_takes_them_literally_from_the_top() {
    let repo = with_turns();
    repo.write("sub/a", "other\n");
    let mut client = Client::silent(&repo, &repo.path("sub"), &[]);
    client.greet("2025-06-18", "a-client");
    let restored = client.call("restore", json!({ "turn": "1", "files": ["a"] }));
    assert_eq!(restored["paths_written"], json!(["a"]));
    assert_eq!(restored["new_turn"], 5);
    assert_eq!(
        client.call("show", json!({ "turn": 5 }))["agent"],
        "a-client"
    );
    assert_eq!(
        (repo.read("a"), repo.read("sub/a")),
        ("one\n".into(), "other\n".into())
    );
    let absolute = repo.path("a");
    client.call("restore", json!({ "turn": "2", "files": [absolute] }));
    assert_eq!(repo.read("a"), "two\n");
    let said = client.fails("restore", json!({ "turn": "1", "files": ["*"] }));
    assert!(said.contains("turn 1 has no *"), "{said}");
    let said = client.fails("restore", json!({ "turn": "1", "files": [] }));
    assert!(said.contains("the list of files is empty"), "{said}");
    client.call("restore", json!({ "turn": "1", "files": ["."] }));
    assert!(!repo.has("sub/a"));
}

#[test]
fn no_file_outside_is_reached() {
    let repo = with_turns();
    let outside = repo.outside().join("outside");
    std::fs::write(&outside, "mine\n").unwrap();
    repo.link("way-out", "..");
    let mut client = Client::new(&repo);
    for path in [
        "../outside",
        "sub/../../outside",
        outside.to_str().unwrap(),
        "/etc/passwd",
        ".git/config",
        "sub/.GIT/config",
        "",
    ] {
        for (tool, arguments) in [
            ("restore", json!({ "turn": "1", "files": [path] })),
            ("diff", json!({ "files": [path] })),
            ("log", json!({ "files": ["a", path] })),
        ] {
            let said = client.fails(tool, arguments);
            assert!(said.starts_with("error: "), "{path:?}: {said}");
        }
    }
    let said = client.fails(
        "restore",
        json!({ "turn": "1", "files": ["way-out/outside"] }),
    );
    assert!(said.contains("turn 1 has no way-out/outside"), "{said}");
    let said = client.fails("diff", json!({ "files": ["way-out/outside"] }));
    assert!(said.contains("there is no way-out/outside"), "{said}");
    assert_eq!(std::fs::read_to_string(outside).unwrap(), "mine\n");
}

#[test]
fn what_goes_wrong_is_told_to_the_model() {
    let repo = with_turns();
    let mut client = Client::new(&repo);
    for (tool, arguments, what) in [
        (
            "show",
            json!({ "turn": "99" }),
            "error: there is no turn 99\nhint: there are turns 1 to 3",
        ),
        (
            "show",
            json!({ "turn": "x" }),
            "caused by: write a turn as 7",
        ),
        ("show", json!({ "turn": 2.5 }), "write a step as text"),
        ("restore", json!({}), "missing field `turn`"),
        (
            "restore",
            json!({ "turn": "1", "file": "a" }),
            "unknown field `file`",
        ),
        (
            "restore",
            json!({ "turn": "1", "files": "a" }),
            "caused by: invalid type",
        ),
        (
            "diff",
            json!({ "turn": "1..2", "workspace": true }),
            "two turns",
        ),
        (
            "diff",
            json!({ "files": ["a", "nosuch"] }),
            "error: there is no nosuch, neither in the turns nor on disk",
        ),
        (
            "diff",
            json!({ "cursor": "a:b:c" }),
            "error: this cursor leads nowhere\nhint: ",
        ),
        ("log", json!({ "cursor": "7" }), "this cursor leads nowhere"),
        ("log", json!({ "limit": -1 }), "caused by: invalid value"),
        (
            "show",
            json!({ "turn": "1", "cursor": "0:0" }),
            "this cursor leads nowhere",
        ),
        ("snapshot", json!({ "message": "" }), "the message is empty"),
        (
            "snapshot",
            json!({ "message": "x".repeat(1 << 20) }),
            "65536 are the most",
        ),
    ] {
        let said = client.fails(tool, arguments);
        assert!(said.contains(what), "{said}");
    }
    assert_eq!(repo.turns(), 3);
}

#[test]
fn what_is_no_call_of_a_tool_is_an_error_of_the_protocol() {
    let repo = with_turns();
    let mut client = Client::new(&repo);
    for (method, params, code) in [
        ("tools/call", json!({ "name": "edio_log" }), -32602),
        (
            "tools/call",
            json!({ "name": "log", "arguments": [] }),
            -32602,
        ),
        ("tools/call", json!({}), -32602),
        ("no/such", json!({}), -32601),
        ("resources/list", json!({}), -32601),
    ] {
        let reply = client.ask(method, params);
        assert_eq!(reply["error"]["code"], code, "{method}: {reply}");
    }
    client.call("log", json!({}));
}

#[test]
fn a_turn_may_be_a_number_and_what_is_null_is_not_given() {
    let repo = with_turns();
    let mut client = Client::new(&repo);
    for (turn, message) in [
        (json!(2), "second"),
        (json!(2.0), "second"),
        (json!("@-1"), "second"),
        (json!("last"), "third"),
        (json!(null), "third"),
    ] {
        let shown = client.call(
            "show",
            json!({ "turn": turn, "limit": null, "cursor": null }),
        );
        assert_eq!(shown["message"], message, "{turn}");
    }
    let changed = client.call("show", json!({ "turn": 2 }))["changes"].clone();
    let expected = json!([
        { "path": "a", "status": "modified" },
        { "path": "sub/new", "status": "added" },
    ]);
    assert_eq!(changed, expected);
}

#[test]
fn all_revisions_shake_hands() {
    let repo = Repo::with(&[("a", "a\n")]);
    for (asked, given) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        // It has no handshake: whoever asks for one is given the last that has.
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut client = Client::silent(&repo, &repo.top, &[]);
        let greeting = client.greet(asked, "a-client");
        assert_eq!(greeting["protocolVersion"], given);
        assert_eq!(greeting["serverInfo"]["name"], "edio");
        let told = greeting["instructions"].as_str().unwrap();
        assert!(told.contains("snapshot") && told.chars().count() < 500);
        let tools = client.ask("tools/list", json!({}))["result"].clone();
        assert_eq!(tools["tools"].as_array().unwrap().len(), 7);
        assert_eq!(
            tools.get("resultType"),
            None,
            "an old client does not know it"
        );
        assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    }
}

#[test]
fn the_last_revision_needs_no_handshake() {
    let repo = with_turns();
    let mut client = Client::silent(&repo, &repo.top, &[]);
    let meta = json!({ "_meta": modern("a-client") });
    let found = client.ask("server/discover", meta.clone())["result"].clone();
    let versions = found["supportedVersions"].as_array().unwrap();
    assert!(
        versions.contains(&json!("2026-07-28")) && versions.len() == 5,
        "{found}"
    );
    for key in [
        "resultType",
        "ttlMs",
        "cacheScope",
        "capabilities",
        "instructions",
    ] {
        assert!(found.get(key).is_some(), "{key}: {found}");
    }
    let tools = client.ask("tools/list", meta.clone())["result"].clone();
    for key in ["resultType", "ttlMs", "cacheScope", "tools"] {
        assert!(tools.get(key).is_some(), "{key}: {tools}");
    }
    let log = json!({ "name": "log", "arguments": {}, "_meta": modern("a-client") });
    let log = client.ask("tools/call", log)["result"].clone();
    assert_eq!(log["resultType"], "complete");
    assert_eq!(log["structuredContent"]["turns"][0]["turn"], 3);
}

#[test]
fn only_requests_are_answered_and_a_broken_line_does_no_harm() {
    let repo = with_turns();
    let mut client = Client::silent(&repo, &repo.top, &[]);
    client.types("this is not json");
    client.says(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    client.says(&json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
    client.greet("2025-06-18", "a-client");
    client.types("nor is this {");
    client.types("");
    client.says(&json!({ "jsonrpc": "2.0", "method": "notifications/unheard-of" }));
    client.says(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 77 },
    }));
    client.says(&json!({ "jsonrpc": "2.0", "id": "text", "method": "ping" }));
    let log = client.call("log", json!({}));
    assert_eq!(log["turns"].as_array().unwrap().len(), 3);
    let others: Vec<Value> = client.read.drain(..).collect();
    assert_eq!(
        others,
        [json!({ "jsonrpc": "2.0", "id": "text", "result": {} })]
    );
    assert_eq!(client.end(), (Vec::new(), Some(0)));
}

/// As JavaScript writes an emoji that was cut in two.
#[test]
fn a_call_with_half_a_character_is_answered() {
    let repo = with_turns();
    let mut client = Client::silent(&repo, &repo.top, &[]);
    client.greet("2025-06-18", "a-client");
    repo.write("a", "changed\n");
    client.types(
        r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"snapshot","arguments":{"message":"half \ud83d"}}}"#,
    );
    let answer = client.message().unwrap();
    assert_eq!(answer["id"], 9);
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    let log = client.call("log", json!({}));
    assert_eq!(log["turns"][0]["message"], "half \u{fffd}", "{log}");
}

#[test]
fn the_end_of_input_is_the_end_and_what_was_asked_is_done_first() {
    let repo = with_turns();
    assert_eq!(
        Client::silent(&repo, &repo.top, &[]).end(),
        (Vec::new(), Some(0))
    );
    let mut client = Client::new(&repo);
    repo.write("a", "four\n");
    client.begin(
        "tools/call",
        json!({ "name": "snapshot", "arguments": { "message": "late" } }),
    );
    let meta = json!({ "progressToken": "p" });
    let restore = json!({ "name": "restore", "arguments": { "turn": 1 }, "_meta": meta });
    let id = client.begin("tools/call", restore);
    let (said, code) = client.end();
    assert_eq!(code, Some(0));
    assert!(said.iter().any(|message| message["id"] == id), "{said:?}");
    assert_eq!((repo.turns(), repo.read("a")), (4, "one\n".to_owned()));
}

#[test]
fn calls_at_once_are_carried_out_in_their_order() {
    let repo = Repo::with(&[("a", "a\n")]);
    let mut client = Client::new(&repo);
    let ids: Vec<u64> = (0..8)
        .map(|at| {
            let arguments = json!({ "message": format!("call {at}") });
            client.begin(
                "tools/call",
                json!({ "name": "snapshot", "arguments": arguments }),
            )
        })
        .collect();
    let log = client.begin("tools/call", json!({ "name": "log" }));
    for (at, id) in ids.into_iter().enumerate() {
        let taken = client.reply(id)["result"]["structuredContent"].clone();
        assert_eq!(
            (&taken["turn"], &taken["message"]),
            (&json!(at + 1), &json!(format!("call {at}")))
        );
    }
    let log = client.reply(log)["result"]["structuredContent"].clone();
    assert_eq!(log["turns"].as_array().unwrap().len(), 8);
}

#[test]
fn p6_servers_and_commands_at_once_lose_no_turn() {
    let repo = Repo::with(&[("a", "a\n")]);
    let mut clients: Vec<Client> = (0..4).map(|_| Client::new(&repo)).collect();
    let snapshot = json!({ "name": "snapshot", "arguments": {} });
    let ids: Vec<Vec<u64>> = clients
        .iter_mut()
        .map(|client| {
            (0..2)
                .map(|_| client.begin("tools/call", snapshot.clone()))
                .collect()
        })
        .collect();
    repo.edio(["snapshot"]).ok();
    let mut turns = BTreeSet::new();
    for (client, ids) in clients.iter_mut().zip(ids) {
        for id in ids {
            let taken = client.reply(id);
            let turn = taken["result"]["structuredContent"]["turn"].as_u64();
            turns.insert(turn.unwrap_or_else(|| panic!("{taken}")));
        }
    }
    assert_eq!((turns.len(), repo.turns()), (8, 9));
    repo.fsck();
}

#[test]
fn progress_is_told_to_whom_asks_for_it() {
    let repo = with_turns();
    let mut client = Client::new(&repo);
    let meta = json!({ "progressToken": 7 });
    for (tool, arguments) in [
        ("snapshot", json!({})),
        ("restore", json!({ "turn": 1 })),
        ("log", json!({})),
    ] {
        client.ask(
            "tools/call",
            json!({ "name": tool, "arguments": arguments, "_meta": meta }),
        );
        let told: Vec<Value> = client.read.drain(..).collect();
        let steps: Vec<f64> = told
            .iter()
            .map(|message| {
                assert_eq!(message["method"], "notifications/progress");
                assert_eq!(message["params"]["progressToken"], 7);
                message["params"]["progress"].as_f64().unwrap()
            })
            .collect();
        match tool {
            "log" => assert!(steps.is_empty()),
            _ => assert!(steps.len() >= 2 && steps.is_sorted(), "{steps:?}"),
        }
    }
}

#[test]
fn settings_give_and_take_tools() {
    let repo = with_turns();
    let mut client = Client::that_accepts(&repo);
    repo.git(["config", "--unset", "edio.mcp.accept"]);
    let has = |client: &mut Client, tool: &str| client.tool_names().iter().any(|name| name == tool);
    assert!(has(&mut client, "restore") && has(&mut client, "undo") && !has(&mut client, "accept"));
    let said = client.fails("accept", json!({ "message": "done" }));
    assert!(
        said.contains("not allowed to accept") && said.contains("hint: ask the person"),
        "{said}"
    );
    repo.git(["config", "edio.mcp.restore", "false"]);
    assert!(!has(&mut client, "restore") && !has(&mut client, "undo"));
    for (tool, arguments) in [("restore", json!({ "turn": 1 })), ("undo", json!({}))] {
        let said = client.fails(tool, arguments);
        assert!(said.contains("not allowed to go back"), "{said}");
    }
    assert_eq!(repo.read("a"), "three\n");
    repo.git(["config", "edio.mcp.restore", "yes"]);
    repo.git(["config", "edio.mcp.accept", "true"]);
    assert!(has(&mut client, "restore") && has(&mut client, "accept"));
    client.call("restore", json!({ "turn": 2 }));
    let accepted = client.call("accept", json!({ "message": "feat: done" }));
    assert_eq!(
        repo.git(["log", "-1", "--format=%s %H"]),
        format!("feat: done {}", accepted["commit"].as_str().unwrap())
    );
    repo.git(["config", "edio.mcp.accept", "false"]);
    let said = client.fails("undo", json!({}));
    assert!(said.contains("there is nothing to undo"), "{said}");
    repo.git(["config", "edio.mcp.accept", "true"]);
    let undone = client.call("undo", json!({}));
    assert_eq!(undone["branch"], "refs/heads/main");
    assert_eq!(repo.git(["log", "-1", "--format=%s"]), "base");
}

#[test]
fn hooks_of_an_accept_have_no_part_in_the_conversation() {
    let repo = with_turns();
    for hook in ["pre-commit", "commit-msg", "post-commit"] {
        repo.write(
            format!(".git/hooks/{hook}"),
            "#!/bin/sh\necho out\ncat >>.git/heard\n",
        );
        repo.chmod(format!(".git/hooks/{hook}"), 0o755);
    }
    let mut client = Client::that_accepts(&repo);
    let accept = json!({ "name": "accept", "arguments": { "message": "done" } });
    let id = client.begin("tools/call", accept);
    let log = client.begin("tools/call", json!({ "name": "status" }));
    assert_eq!(client.reply(id)["result"]["isError"], false);
    assert_eq!(client.reply(log)["result"]["isError"], false);
    assert_eq!(repo.read(".git/heard"), "");
}

#[test]
fn the_project_is_where_it_is_told() {
    let repo = with_turns();
    let outside = repo.outside();
    repo.write("deep/er/file", "x\n");
    let mut inside = Client::silent(&repo, &repo.path("deep/er"), &[]);
    inside.greet("2025-06-18", "a-client");
    assert_eq!(inside.call("log", json!({}))["turns"][0]["turn"], 3);
    for project in [repo.top.to_str().unwrap(), "repo/deep", "./repo"] {
        let mut client = Client::silent(&repo, &outside, &["--project", project]);
        client.greet("2025-06-18", "a-client");
        assert_eq!(client.call("status", json!({}))["turns"], 3, "{project}");
    }
    let ran = repo.edio(["--session", "sess_1_00000000", "mcp"]);
    assert!(ran.fails(2).stderr.contains("session under way"), "{ran}");
}

#[test]
fn a_repository_may_be_made_later() {
    let repo = with_turns();
    let later = repo.outside().join("later");
    let mut client = Client::silent(&repo, &repo.outside(), &["--project", "later"]);
    client.greet("2025-06-18", "a-client");
    assert_eq!(client.tools().len(), 7);
    let said = client.fails("status", json!({}));
    assert!(
        said.contains("there is no folder") && said.contains("hint: "),
        "{said}"
    );
    std::fs::create_dir(&later).unwrap();
    for tool in ["snapshot", "status"] {
        let said = client.fails(tool, json!({}));
        assert!(
            said.contains("no git work tree") && said.contains("git init"),
            "{said}"
        );
    }
    repo.git_in(&later, ["init", "-q"]);
    std::fs::write(later.join("a"), "a\n").unwrap();
    assert_eq!(client.call("snapshot", json!({}))["turn"], 1);
}

#[test]
fn a_log_in_parts_is_the_whole_log() {
    let repo = with_turns();
    let mut client = Client::new(&repo);
    let whole = client.call("log", json!({}));
    assert_eq!(whole.get("next_cursor"), None);
    let (mut turns, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let part = client.call("log", json!({ "limit": 1, "cursor": cursor }));
        turns.extend(part["turns"].as_array().unwrap().clone());
        // What comes meanwhile stands above the list.
        repo.edio(["snapshot", "-m", "meanwhile"]).ok();
        match part["next_cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    let numbers = |turns: &Value| -> Vec<Value> {
        turns
            .as_array()
            .unwrap()
            .iter()
            .map(|turn| turn["turn"].clone())
            .collect()
    };
    assert_eq!(numbers(&Value::Array(turns)), numbers(&whole["turns"]));
    let of_file = client.call("log", json!({ "files": ["sub/new"] }));
    assert_eq!(numbers(&of_file["turns"]), [json!(2)]);
}

#[test]
fn the_files_of_a_turn_in_parts_are_all_of_them() {
    let repo = Repo::with(&[("a", "a\n")]);
    for at in 0..25 {
        repo.write(format!("new/{at:02}"), "x\n");
    }
    let mut client = Client::new(&repo);
    client.call("snapshot", json!({}));
    let whole = client.call("show", json!({}))["changes"].clone();
    let (mut changes, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let part = client.call("show", json!({ "limit": 7, "cursor": cursor }));
        changes.extend(part["changes"].as_array().unwrap().clone());
        match part["next_cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!(changes.len(), 25);
    assert_eq!(Value::Array(changes), whole);
}

#[test]
fn a_long_patch_in_parts_is_the_whole_patch() {
    let repo = Repo::with(&[("a", "a\n")]);
    let lines: String = (0..9000).map(|line| format!("größe {line}\n")).collect();
    repo.write("long", lines);
    // One line of more than a part, of characters that can be cut in two.
    repo.write("wide", "ä".repeat(40_000));
    let mut client = Client::new(&repo);
    client.call("snapshot", json!({}));
    let whole = repo.edio(["diff", "1"]).ok().stdout.clone();
    for arguments in [
        json!({}),
        json!({ "turn": "0", "workspace": true }),
        json!({ "files": ["long"] }),
    ] {
        let (mut patch, mut parts, mut asked) = (String::new(), 0, arguments.clone());
        loop {
            let part = client.call("diff", asked.clone());
            let text = part["patch"].as_str().unwrap();
            assert!(text.len() <= 20_000 + 2, "{}", text.len());
            patch.push_str(text);
            parts += 1;
            match part["next_cursor"].as_str() {
                Some(next) => asked["cursor"] = next.into(),
                None => break,
            }
        }
        assert!(parts > 5, "{parts}");
        match arguments.get("files") {
            None => assert!(patch == whole, "{arguments}"),
            Some(_) => assert!(patch.contains("+größe 8999\n") && !patch.contains("wide")),
        }
    }
}

/// Whoever asks finds the answer by its id, or knows that there was none.
#[test]
fn a_request_that_cant_be_read_is_answered_with_its_id() {
    let repo = with_turns();
    let mut client = Client::new(&repo);
    let list = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#);
    for (line, id, code) in [
        (
            r#"{"jsonrpc":"2.0","id":13,"method":"tools/call","params":[1]}"#.to_owned(),
            json!(13),
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":"x"}"#.to_owned(),
            json!("a"),
            -32602,
        ),
        (list("1.5"), json!(null), -32600),
        (list("1180591620717411303424"), json!(null), -32600),
        (list("18446744073709551615"), json!(u64::MAX), -32600),
        (list("null"), json!(null), -32600),
        (list("[2]"), json!(null), -32600),
        (r#"{"id":4,"method":"ping"}"#.to_owned(), json!(4), -32600),
        (
            r#"{"jsonrpc":"1.0","id":5,"method":"ping"}"#.to_owned(),
            json!(5),
            -32600,
        ),
        (r#"{"jsonrpc":"2.0","id":6}"#.to_owned(), json!(6), -32600),
        (
            format!(
                r#"{{"method":"ping","params":{{"id":1,"x":{}0{}}},"jsonrpc":"2.0","id":8}}"#,
                "[".repeat(200),
                "]".repeat(200)
            ),
            json!(8),
            -32700,
        ),
        (
            r#"{"jsonrpc":"2.0","id":"b","method":"ping","params":{x}}"#.to_owned(),
            json!("b"),
            -32700,
        ),
        (r#"{"jsonrpc":"2.0","id":9"#.to_owned(), json!(null), -32700),
        ("[]".to_owned(), json!(null), -32600),
        ("7".to_owned(), json!(null), -32600),
    ] {
        client.types(&line);
        let answer = client.message().unwrap();
        assert_eq!(answer.get("id"), Some(&id), "{line}: {answer}");
        assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
    }
    // Nobody waits for an answer to these.
    client.types(r#"{"jsonrpc":"2.0","id":1.5,"result":{}}"#);
    client.types(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":[]}"#);
    client.call("log", json!({}));
    assert_eq!(client.read, Vec::<Value>::new());
}

#[test]
fn a_line_may_be_long_but_not_of_any_length() {
    let repo = with_turns();
    let mut client = Client::new(&repo);
    let path = |length: usize| json!({ "path": "x".repeat(length) });
    assert!(client.fails("log", path(20 << 20)).starts_with("error: "));
    // Clients differ in where they write the id.
    let (request, long) = (r#""jsonrpc":"2.0","method":"tools/call""#, path(65 << 20));
    for line in [
        format!(r#"{{"id":70,{request},"params":{{"name":"log","arguments":{long}}}}}"#),
        format!(r#"{{{request},"params":{{"id":1,"arguments":{long}}},"id":70}}"#),
    ] {
        client.types(&line);
        let answer = client.message().unwrap();
        assert_eq!(answer["id"], 70);
        assert_eq!(answer["error"]["code"], -32600);
    }
    client.call("log", json!({}));
}

#[test]
fn of_a_batch_each_request_is_answered() {
    let repo = with_turns();
    let mut client = Client::silent(&repo, &repo.top, &[]);
    client.greet("2025-03-26", "a-client");
    client.says(&json!([
        { "jsonrpc": "2.0", "id": 20, "method": "ping" },
        { "jsonrpc": "2.0", "method": "notifications/progress", "params": {} },
        { "jsonrpc": "2.0", "id": 21, "method": "tools/list" },
        { "id": 22 },
    ]));
    assert_eq!(client.reply(20)["result"], json!({}));
    assert_eq!(
        client.reply(21)["result"]["tools"]
            .as_array()
            .unwrap()
            .len(),
        7
    );
    assert_eq!(client.reply(22)["error"]["code"], -32600);
    assert_eq!(client.end(), (Vec::new(), Some(0)));
}

#[test]
fn what_is_not_allowed_is_said_whatever_it_is_given() {
    let repo = with_turns();
    let mut client = Client::new(&repo);
    let said = client.fails("accept", json!({}));
    assert!(said.contains("not allowed to accept"), "{said}");
    for (tool, arguments) in [
        ("log", json!({ "limit": 0 })),
        ("show", json!({ "turn": 1, "limit": 0 })),
    ] {
        let said = client.fails(tool, arguments);
        assert!(said.contains("limit is at least 1"), "{said}");
    }
}
