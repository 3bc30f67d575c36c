//! What was said and done, as `edio log --calls` and `edio show` tell it.

use serde_json::{Value, json};

use crate::common::Ran;
use crate::transcripts::Talk;

impl Talk {
    fn is_told(&self, prompt: &str) {
        self.says("claude", "UserPromptSubmit", &json!({"prompt": prompt}));
    }

    fn used(&self, tool: &str, call: &str, input: &Value, result: &Value) {
        let more = json!({"tool_name": tool, "tool_use_id": call, "tool_input": input, "tool_response": result});
        self.says("claude", "PostToolUse", &more);
    }

    fn failed(&self, tool: &str, call: &str, input: &Value, error: &str) {
        let more =
            json!({"tool_name": tool, "tool_use_id": call, "tool_input": input, "error": error});
        self.says("claude", "PostToolUseFailure", &more);
    }

    fn stops(&self, words: &str) {
        let more = json!({"last_assistant_message": words});
        self.says("claude", "Stop", &more);
    }

    /// A prompt with a look, a file, a command that fails, and closing words.
    fn a_usual_turn(&self) {
        self.is_told("Make it green\nall of it");
        let file = self.repo.path("a");
        self.used(
            "Read",
            "c1",
            &json!({"file_path": file}),
            &json!("first\nsecond"),
        );
        self.repo.write("a", "green\n");
        let input = json!({"file_path": file, "old_string": "0", "new_string": "green"});
        self.used("Edit", "c2", &input, &json!("done"));
        let input = json!({"command": "make\tcheck"});
        self.failed("Bash", "c3", &input, "\n  red: 1 failed  \nand more");
        self.stops("It is\ngreen");
    }
}

/// The lines of a text, without the space around them.
fn lines(ran: &Ran) -> Vec<&str> {
    ran.ok().stdout.lines().map(str::trim).collect()
}

/// The words of a line.
fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

#[test]
fn calls_are_listed_with_the_first_line_of_their_results() {
    let talk = Talk::new();
    talk.a_usual_turn();
    let ran = talk.repo.edio(["log", "--calls"]);
    let shown = lines(&ran);
    assert!(shown[0].ends_with("Make it green"), "{ran}");
    let file = talk.repo.path("a");
    let file = file.to_str().unwrap();
    let first = [
        "-",
        "Bash",
        r"make\tcheck",
        "failed:",
        "red:",
        "1",
        "failed",
    ];
    assert_eq!(words(shown[1]), first, "{ran}");
    // Of a long path the beginning is shown.
    let start: String = file.chars().take(20).collect();
    assert!(
        shown[2].starts_with("1.1  Edit ") && shown[2].contains(&start),
        "{ran}"
    );
    assert!(shown[2].ends_with("done"), "{ran}");
    assert!(
        shown[3].starts_with("-  Read ") && shown[3].ends_with("first"),
        "{ran}"
    );
    assert_eq!(shown.len(), 4, "{ran}");
    assert!(
        !ran.stdout.contains("second") && !ran.stdout.contains("and more"),
        "{ran}"
    );

    let record = talk
        .repo
        .edio(["log", "--calls", "--json"])
        .ok()
        .json()
        .remove(0);
    let calls = record["calls"].as_array().unwrap();
    let of = |name: &str| {
        calls
            .iter()
            .map(|call| call[name].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(of("tool"), ["Bash", "Edit", "Read"]);
    assert_eq!(of("tool_call"), ["c3", "c2", "c1"]);
    assert_eq!(of("failed"), [true, false, false]);
    assert_eq!(of("turn"), [json!(null), json!(1), json!(null)]);
    assert_eq!(of("step"), [json!(null), json!(1), json!(null)]);
    assert_eq!(of("agent"), ["claude"; 3]);
    assert_eq!(of("time"), ["2027-01-15T08:00:00Z"; 3]);
    // Of a look only the first line is kept.
    let results = ["\n  red: 1 failed  \nand more", "done", "first"];
    assert_eq!(of("result"), results);
    assert_eq!(calls[0]["input"], r#"{"command":"make\tcheck"}"#);
    let plain = talk.repo.edio(["log", "--json"]).ok().json().remove(0);
    assert!(plain.get("calls").is_none());
    assert_eq!(lines(&talk.repo.edio(["log"])).len(), 1);
}

#[test]
fn calls_come_with_the_turns_that_are_searched_for() {
    let talk = Talk::new();
    talk.a_usual_turn();
    talk.is_told("And more");
    talk.repo.write("b", "more\n");
    talk.used(
        "Write",
        "d1",
        &json!({"file_path": talk.repo.path("b")}),
        &json!("ok"),
    );
    talk.stops("done");
    for search in [&["a"][..], &["--deleted", "0"], &["-S", "green"]] {
        let ran = talk.repo.edio([&["log", "--calls"], search].concat());
        let shown = lines(&ran);
        assert_eq!(shown.len(), 4, "{search:?}: {ran}");
        assert!(!ran.stdout.contains("And more"), "{ran}");
        let ran = talk
            .repo
            .edio([&["log", "--calls", "--json"], search].concat());
        let records = ran.ok().json();
        assert_eq!(
            (records.len(), records[0]["calls"].as_array().unwrap().len()),
            (1, 3)
        );
    }
    let words = [
        "log",
        "--calls",
        "--agent",
        "claude",
        "--since",
        "@1800000000",
        "b",
    ];
    let ran = talk.repo.edio(words);
    assert!(lines(&ran)[1].starts_with("2.1  Write"), "{ran}");
    let ran = talk.repo.edio(["log", "--calls", "--steps"]);
    let heads: Vec<&str> = lines(&ran).iter().map(|line| words_of(line)).collect();
    assert_eq!(
        heads,
        ["*", "2.1", "2.1", "1", "-", "1.1", "-", "1.1"],
        "{ran}"
    );
}

fn words_of(line: &str) -> &str {
    words(line)[0]
}

/// What belongs to no turn yet is listed above them, and only in the session that is under way here.
#[test]
fn calls_of_a_turn_to_come_are_those_of_this_session() {
    let talk = Talk::new();
    talk.a_usual_turn();
    talk.repo.git(["worktree", "add", "-q", "../linked"]);
    let linked = talk.repo.path("../linked");
    talk.repo.write(linked.join("a"), "linked\n");
    talk.repo
        .edio_in(&linked, ["snapshot", "-m", "elsewhere"])
        .ok();
    talk.is_told("Now this");
    talk.used(
        "Grep",
        "e1",
        &json!({"pattern": "needle"}),
        &json!("found it"),
    );
    let ran = talk.repo.edio(["log", "--calls"]);
    assert_eq!(
        words(lines(&ran)[0]),
        ["-", "Grep", "needle", "found", "it"],
        "{ran}"
    );
    let ran = talk.repo.edio(["log", "--calls", "--all"]);
    assert_eq!(ran.ok().stdout.matches("Grep").count(), 1, "{ran}");
    let ran = talk.repo.edio_in(&linked, ["log", "--calls", "--all"]);
    assert_eq!(ran.ok().stdout.matches("Grep").count(), 0, "{ran}");
    let sessions = talk.repo.sessions("active");
    let ran = talk.repo.edio_in(&linked, ["log", "--json"]);
    let own = ran.ok().json()[0]["session"].as_str().unwrap().to_owned();
    assert!(sessions.len() == 2 && sessions.contains(&own));
    let ran = talk.repo.edio(["log", "--calls", "--session", &own]);
    assert!(!ran.ok().stdout.contains("Grep"), "{ran}");
}

/// A file that is written is told by its name, however long it is.
#[test]
fn a_long_input_is_still_told_by_what_says_most() {
    let talk = Talk::new();
    for length in [5_000, 200_000] {
        talk.is_told(&format!("Write {length}"));
        talk.repo.write("long", "x".repeat(length));
        let input = json!({"content": "ä\"".repeat(length / 2), "file_path": "long"});
        talk.used("Write", "c1", &input, &json!("ok"));
        talk.stops("done");
        let record = talk
            .repo
            .edio(["log", "--calls", "--json"])
            .ok()
            .json()
            .remove(0);
        let kept = record["calls"][0]["input"].as_str().unwrap();
        let kept: Value = serde_json::from_str(kept).unwrap();
        assert_eq!(kept["file_path"], "long");
        let content = kept["content"].as_str().unwrap();
        assert!(
            content.ends_with('…') && content.len() < 4096,
            "{}",
            content.len()
        );
        let ran = talk.repo.edio(["log", "--calls"]);
        assert_eq!(words(lines(&ran)[1])[1..], ["Write", "long", "ok"], "{ran}");
    }
    // What is no object is cut where it ends.
    talk.is_told("Patch");
    talk.repo.write("long", "y");
    talk.used("Bash", "c2", &json!("z".repeat(10_000)), &json!("ok"));
    talk.stops("done");
    let record = talk
        .repo
        .edio(["log", "--calls", "--json"])
        .ok()
        .json()
        .remove(0);
    assert!(record["calls"][0]["input"].as_str().unwrap().len() <= 4096 + '…'.len_utf8());
}

#[test]
fn a_turn_is_shown_with_what_was_said_and_a_step_with_its_tool() {
    let talk = Talk::new();
    talk.a_usual_turn();
    talk.repo.plain_patches();
    let ran = talk.repo.edio(["show", "1"]);
    let shown = &ran.ok().stdout;
    for part in [
        "turn 1 (sess_",
        "agent   claude\n",
        "ended   completed\n",
        "changed 1 file +1 -1",
        "\n    Make it green\n",
        "\nprompt\n    Make it green\n    all of it\n\n",
        "\nclosing words\n    It is\n    green\n\n",
        "\n M a\n",
        "-0\n+green\n",
    ] {
        assert!(shown.contains(part), "{part:?}: {ran}");
    }
    let record = talk
        .repo
        .edio(["show", "1", "--json"])
        .ok()
        .json()
        .remove(0);
    assert_eq!(record["prompt_text"], "Make it green\nall of it");
    assert_eq!(record["reply"], "It is\ngreen");
    assert_eq!(record["changes"][0]["path"], "a");
    for name in ["input", "result", "failed"] {
        assert!(record[name].is_null(), "{record}");
    }

    let ran = talk.repo.edio(["show", "1.1"]);
    let shown = &ran.ok().stdout;
    let file = talk.repo.path("a");
    let input = format!(
        "\ninput\n    file_path: {}\n    new_string: green\n    old_string: 0\n\n",
        file.display()
    );
    for part in [
        "turn 1.1 (sess_",
        "kind    step\n",
        "tool    Edit\n",
        "prompt  Make it green\n",
        &input,
        "\nresult\n    done\n\n",
        "\n M a\n",
        "-0\n+green\n",
    ] {
        assert!(shown.contains(part), "{part:?}: {ran}");
    }
    assert!(!shown.contains("closing words"), "{ran}");
    let record = talk
        .repo
        .edio(["show", "1.1", "--json"])
        .ok()
        .json()
        .remove(0);
    assert_eq!(
        (&record["tool"], &record["tool_call"]),
        (&json!("Edit"), &json!("c2"))
    );
    assert_eq!(
        (&record["result"], &record["failed"]),
        (&json!("done"), &json!(false))
    );
    assert!(
        record["input"]
            .as_str()
            .unwrap()
            .ends_with("new_string: green\nold_string: 0")
    );
    assert!(record["prompt_text"].is_null() && record["reply"].is_null());
    // A prompt that is the message to the letter is not told twice.
    talk.turn("short", &[]);
    let ran = talk.repo.edio(["show"]);
    assert!(
        ran.ok().stdout.contains("    short\n") && !ran.stdout.contains("\nprompt\n"),
        "{ran}"
    );
}

#[test]
fn a_failed_command_that_changed_something_is_a_step_and_says_so() {
    let talk = Talk::new();
    talk.is_told("Try it");
    talk.repo.write("a", "half\n");
    talk.failed("Bash", "c1", &json!({"command": "make"}), "no rule");
    // While the turn is open, too.
    let open = talk.repo.edio(["show", "1.1"]);
    assert!(
        open.ok()
            .stdout
            .contains("\nresult (failed)\n    no rule\n"),
        "{open}"
    );
    talk.stops("sorry");
    let ran = talk.repo.edio(["show", "1.1"]);
    assert!(
        ran.ok().stdout.contains("\ninput\n    command: make\n"),
        "{ran}"
    );
    assert!(
        ran.stdout.contains("\nresult (failed)\n    no rule\n"),
        "{ran}"
    );
    let record = talk
        .repo
        .edio(["show", "1.1", "--json"])
        .ok()
        .json()
        .remove(0);
    assert_eq!(record["failed"], true);
    let ran = talk.repo.edio(["log", "--calls"]);
    assert_eq!(
        words(lines(&ran)[1]),
        ["1.1", "Bash", "make", "failed:", "no", "rule"],
        "{ran}"
    );
}

#[test]
fn what_helpers_did_is_nested() {
    let talk = Talk::new();
    talk.is_told("Have it done");
    let as_helper = |tool: &str, call: &str, input: Value| {
        let more = json!({"tool_name": tool, "tool_use_id": call, "tool_input": input, "tool_response": "ok",
            "agent_id": "a1", "agent_type": "Explore"});
        talk.says("claude", "PostToolUse", &more);
    };
    as_helper("Read", "h1", json!({"file_path": "a"}));
    talk.repo.write("helped", "1\n");
    as_helper(
        "Write",
        "h2",
        json!({"file_path": talk.repo.path("helped")}),
    );
    talk.repo.write("own", "1\n");
    talk.used(
        "Write",
        "o1",
        &json!({"file_path": talk.repo.path("own")}),
        &json!("ok"),
    );
    talk.stops("done");
    let ran = talk.repo.edio(["log"]);
    assert_eq!(lines(&ran)[1], "└ Explore a1", "{ran}");
    let ran = talk.repo.edio(["log", "--steps"]);
    let shown: Vec<&str> = ran.ok().stdout.lines().collect();
    let nested = |line: &str| line.starts_with("  └ ");
    assert_eq!(
        shown.iter().map(|line| nested(line)).collect::<Vec<_>>(),
        [false, false, true],
        "{ran}"
    );
    let ran = talk.repo.edio(["log", "--calls"]);
    let tools: Vec<Vec<&str>> = lines(&ran)[1..4]
        .iter()
        .map(|line| words(line)[..3].to_vec())
        .collect();
    assert_eq!(tools[0][..2], ["1.2", "Write"], "{ran}");
    assert_eq!(
        tools[1..],
        [vec!["1.1", "└", "Write"], vec!["-", "└", "Read"]],
        "{ran}"
    );
    let record = talk
        .repo
        .edio(["log", "--calls", "--json"])
        .ok()
        .json()
        .remove(0);
    assert_eq!(record["helpers"], json!(["Explore a1"]));
    let helpers: Vec<&Value> = record["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| &call["helper"])
        .collect();
    assert_eq!(
        helpers,
        [&json!(null), &json!("Explore a1"), &json!("Explore a1")]
    );
    for (turn, is_there) in [("1.1", true), ("1.2", false), ("1", true)] {
        let ran = talk.repo.edio(["show", turn]);
        assert_eq!(
            ran.ok().stdout.contains("helper  Explore a1\n"),
            is_there,
            "{ran}"
        );
    }
    let record = talk
        .repo
        .edio(["show", "1.1", "--json"])
        .ok()
        .json()
        .remove(0);
    assert_eq!(record["helpers"], json!(["Explore a1"]));
}

/// Whatever was said: no text drives the terminal (P9), and JSON has it to the letter.
#[test]
fn p9_what_was_said_is_never_printed_raw() {
    let evil = "\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31m\u{202e}rtl\r";
    let talk = Talk::new();
    talk.is_told(&format!("Do {evil}\n{evil}"));
    talk.repo.write("a", "1\n");
    let input = json!({"command": evil, evil: evil});
    let more = json!({"tool_name": format!("Bash{evil}"), "tool_use_id": evil, "tool_input": input,
        "tool_response": format!("{evil}\n{evil}"), "agent_id": evil, "agent_type": evil, "model": evil});
    talk.says("claude", "PostToolUse", &more);
    talk.failed(evil, "c2", &json!(evil), evil);
    talk.stops(evil);
    for words in [
        &["log"][..],
        &["log", "--calls"],
        &["log", "--steps", "--calls", "-p"],
        &["show"],
        &["show", "1.1"],
    ] {
        let ran = talk.repo.edio(words);
        let raw = |c: char| "\u{1b}\u{7}\u{9b}\u{202e}\r".contains(c);
        assert!(
            !ran.ok().stdout.contains(raw) && !ran.stderr.contains(raw),
            "{words:?} {:?}",
            ran.stdout
        );
    }
    let record = talk.repo.edio(["show", "--json"]).ok().json().remove(0);
    assert_eq!(record["reply"], evil);
    assert_eq!(record["prompt_text"], format!("Do {evil}\n{evil}"));
    let record = talk
        .repo
        .edio(["log", "--calls", "--json"])
        .ok()
        .json()
        .remove(0);
    assert_eq!(record["calls"][1]["result"], format!("{evil}\n{evil}"));
}

/// A step of a session that is archived has nothing of what is under way now, whatever its number is.
#[test]
fn a_step_of_another_session_is_told_nothing_of_this_one() {
    let talk = Talk::keeping("off");
    let step = |id: &str, content: &str| {
        talk.is_told("Do it");
        talk.repo.write("a", content);
        talk.used(
            "Write",
            id,
            &json!({"file_path": talk.repo.path("a")}),
            &json!(format!("result {id}")),
        );
    };
    step("c1", "1\n");
    talk.stops("done");
    talk.repo.edio(["accept", "feat"]).ok();
    let id = talk.repo.sessions("archive").remove(0);
    talk.repo.git(["config", "edio.transcripts", "prompts"]);
    step("c2", "2\n");
    let ran = talk.repo.edio(["show", "1.1"]);
    assert!(ran.ok().stdout.contains("result c2"), "{ran}");
    let record = talk.repo.edio(["show", "1.1", "--json", "--session", &id]);
    let record = record.ok().json().remove(0);
    assert_eq!(record["tool_call"], "c1");
    assert!(record["result"].is_null(), "{record}");
}

/// Files of configuration for the project and for the person may both have an agent call.
#[test]
fn what_comes_twice_is_said_and_done_once() {
    let talk = Talk::new();
    for _ in 0..2 {
        let told = json!({"prompt": "deploy", "prompt_id": "P1"});
        talk.says("claude", "UserPromptSubmit", &told);
    }
    talk.repo.write("c", "1\n");
    for call in ["T1", "T1", "T2", "T2"] {
        talk.used("Bash", call, &json!({"command": "make"}), &json!("made"));
    }
    // Without an id, the same once more is another.
    for _ in 0..2 {
        let look = json!({"tool_name": "Read", "tool_input": {"file_path": "a"}});
        talk.says("claude", "PostToolUse", &look);
    }
    talk.stops("done");
    talk.stops("done");
    talk.is_told("and on");
    talk.repo.write("c", "2\n");
    talk.says("claude", "Stop", &json!({}));
    let said = talk.repo.edio(["context", "2", "--json"]).ok().json();
    assert_eq!(said[0]["prompts"], json!(["deploy"]));
    assert_eq!(said[0]["tools"], json!({"Bash": 2, "Read": 2}));
    assert_eq!(said[0]["reply"], "done");
    assert_eq!(said[1]["prompts"], json!(["and on"]));
    assert_eq!(said[1]["reply"], json!(null));
    // An agent may give the same id anew.
    talk.is_told("again");
    talk.repo.write("c", "3\n");
    for command in ["make", "test"] {
        talk.used("Bash", "T1", &json!({"command": command}), &json!("made"));
    }
    talk.stops("done");
    let said = talk.repo.edio(["context", "3", "--json"]).ok().json();
    assert_eq!(said[2]["tools"], json!({"Bash": 2}));
    assert_eq!(said[2]["reply"], "done");
}
