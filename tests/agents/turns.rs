//! What an agent's work must look like in `edio log`, whichever agent it is.

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
