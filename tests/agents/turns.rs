//! What an agent's work must look like in `edio log`, whichever agent it is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::stage::Stage;

const FIELDS: [&str; 10] = [
    "turn",
    "step",
    "kind",
    "message",
    "agent",
    "agent_session",
    "prompt",
    "tool",
    "status",
    "files",
];

/// Two turns of one conversation: the model writes a file, runs a command, calls edio; and is told more.
/// `tools` are what the agent's hooks call the tool that writes, and the one that runs.
pub fn two_turns(stage: &mut Stage, tools: [&str; 2]) {
    let (agent, name) = (stage.agent, stage.agent.name());
    let write = agent.write(stage, "draft", "one\n");
    let run = agent.run("echo made > made; rm gone");
    let snapshot = agent.edio("snapshot", json!({"message": "half way"}));
    stage.plays("Make a draft", [write, run, snapshot]);
    let write = agent.write(stage, "more", "two\n");
    stage.plays("Write more", [write]);
    stage.tell("Make a draft", false);
    stage.tell("Write more", true);
    let session = stage.session();
    let [write, run] = tools;
    let expected = [
        format!("1 | 1 | step | draft | {name} | {session} | Make a draft | {write} | - | 1"),
        format!("1 | 2 | step | gone, made | {name} | {session} | Make a draft | {run} | - | 2"),
        format!("1 | - | turn | half way | {name} | {session} | Make a draft | - | - | 3"),
        format!("2 | 1 | step | more | {name} | {session} | Write more | {write} | - | 1"),
        format!("2 | - | turn | Write more | {name} | {session} | Write more | - | completed | 1"),
    ];
    assert_eq!(stage.turns(&FIELDS), expected, "{}", stage.story());
    let commit = &stage.turns(&["commit"])[2];
    assert!(stage.model_saw(commit), "{}", stage.story());
    comes_back(stage);
}

/// What the agent's shell did goes and comes back, too.
fn comes_back(stage: &Stage) {
    let repo = &stage.repo;
    let after = repo.manifest();
    stage.edio(&["restore", "0"]).ok();
    assert!(repo.has("gone") && !repo.has("made") && !repo.has("draft"));
    stage.edio(&["restore", "1"]).ok();
    assert!(!repo.has("gone") && repo.has("made") && !repo.has("more"));
    stage.edio(&["restore", "2"]).ok();
    assert_eq!(repo.manifest(), after);
    repo.fsck();
}

/// Turns that these signals end while a command runs, and what the agent is told after each.
pub fn stopped_turns(stage: &mut Stage, signals: &[&str]) {
    let agent = stage.agent;
    let write = agent.write(stage, "draft", "one\n");
    stage.plays("Make a draft", [write]);
    stage.tell("Make a draft", false);
    let mut expected = vec!["Make a draft | completed | 1".to_owned()];
    for signal in signals {
        let (long, next) = (
            format!("Work until {signal}"),
            format!("Go on after {signal}"),
        );
        let (begun, after) = (format!("begun-{signal}"), format!("after-{signal}"));
        let run = agent.run(&format!("echo 1 > {begun}; exec sleep 1000"));
        stage.plays(&long, [run]);
        stage.stop(&long, signal, &begun);
        let write = agent.write(stage, &after, "two\n");
        stage.plays(&next, [write]);
        stage.tell(&next, true);
        expected.push(format!("{long} | interrupted | 1"));
        expected.push(format!("{next} | completed | 1"));
    }
    assert_eq!(whole(stage), expected, "{}", stage.story());
}

/// The turns, without their steps.
fn whole(stage: &Stage) -> Vec<String> {
    let said = stage.turns(&["message", "status", "files", "kind"]);
    let turns = said.iter().filter_map(|line| line.strip_suffix(" | turn"));
    turns.map(str::to_owned).collect()
}

/// A turn in which a helper does `helps`, beside what the agent does.
pub fn a_helper(stage: &mut Stage, begin: impl IntoIterator<Item = serde_json::Value>) {
    let agent = stage.agent;
    let helps = [
        agent.write(stage, "helped", "one\n"),
        agent.run("echo 2 > helped-too"),
    ];
    stage.plays("As the helper", helps);
    let own = agent.write(stage, "own", "three\n");
    stage.plays("Have it done", begin.into_iter().chain([own]));
    stage.tell("Have it done", false);
    assert_eq!(
        whole(stage),
        ["Have it done | completed | 3"],
        "{}",
        stage.story()
    );
    for path in ["helped", "helped-too", "own"] {
        assert!(stage.repo.in_turn(1, path).is_some(), "{path}");
    }
}

/// After a rewind to the first of three turns, the model hears of that one and no further one. `resumed` is the command that
/// edio has named, for a prompt and without a terminal.
pub fn rewound(stage: &mut Stage, resumed: fn(&Stage, &[String], &str) -> Command) {
    let agent = stage.agent;
    let said = |text: &str| json!({"text": text});
    let write = agent.write(stage, "draft", "one\n");
    stage.plays("Make a draft", [write, said("the draft is there")]);
    let run = agent.run("echo made > made; rm gone");
    stage.plays("Go astray", [run, said("that was astray")]);
    let write = agent.write(stage, "draft-2", "two\n");
    stage.plays("Get lost", [write, said("now it is lost")]);
    stage.plays("Try again", [said("as you wish")]);
    stage.tell("Make a draft", false);
    stage.tell("Go astray", true);
    stage.tell("Get lost", true);
    let session = stage.session();
    let before = conversations(&stage.repo.outside().join("home"), &session);
    assert_eq!(before.len(), 1, "{before:?}");
    let original = fs::read(&before[0]).unwrap();

    let record = stage.edio(&["rewind", "1", "--json"]).ok().json().remove(0);
    assert!(
        stage.repo.has("draft") && stage.repo.has("gone"),
        "{record}"
    );
    assert!(
        !stage.repo.has("made") && !stage.repo.has("draft-2"),
        "{record}"
    );
    let done = record["not_taken_back"].to_string();
    assert!(done.contains("echo made > made; rm gone"), "{done}");
    let resume: Vec<String> =
        serde_json::from_value(record["conversation"]["resume"].clone()).unwrap();
    let asked = stage.requests().len();
    stage.run(&resumed(stage, &resume, "Try again"));
    let requests = stage.requests().split_off(asked);
    let bodies = requests.iter().map(|request| request["body"].to_string());
    let bodies: Vec<String> = bodies.filter(|body| body.contains("Try again")).collect();
    assert!(!bodies.is_empty(), "{}", stage.story());
    for body in bodies {
        let knows = |words: &str| body.contains(words);
        assert!(
            knows("Make a draft") && knows("the draft is there"),
            "{body}"
        );
        assert!(!knows("Go astray") && !knows("that was astray"), "{body}");
        assert!(!knows("Get lost") && !knows("now it is lost"), "{body}");
    }
    let after = fs::read(&before[0]).unwrap();
    assert!(
        original == after,
        "the conversation that there was is another one now"
    );
    stage.edio(&["undo"]).ok();
    assert!(stage.repo.has("made") && stage.repo.has("draft-2"));
}

/// The files below a folder that are named by this conversation.
fn conversations(folder: &Path, session: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(conversations(&path, session));
        } else if path
            .to_string_lossy()
            .ends_with(&format!("{session}.jsonl"))
        {
            found.push(path);
        }
    }
    found
}

/// The guard stops a write over what was not read, and the model hears of it, and of its notices.
pub fn guarded(stage: &mut Stage) {
    stage.edio(&["guard", "on"]).ok();
    stage.repo.write("mine", "the person's\n");
    let over = stage.agent.write(stage, "mine", "the agent's\n");
    let run = stage.agent.run("echo 1 > after");
    stage.plays("Write over it", [over, run]);
    stage.tell("Write over it", false);
    assert_eq!(
        stage.repo.read("mine"),
        "the person's\n",
        "{}",
        stage.story()
    );
    assert!(stage.repo.has("after"));
    assert!(
        stage.model_saw("mine was not read yet") || stage.model_saw("has not been read yet"),
        "{}",
        stage.story()
    );
    let again = stage.agent.run("true");
    stage.plays("Do it again", [again.clone(), again.clone(), again]);
    stage.tell("Do it again", false);
    assert!(
        stage.model_knows("for the third time, with nothing changed"),
        "{}",
        stage.story()
    );
}
