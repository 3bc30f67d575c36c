//! Whose is each line? Each story with the answer worked out by hand.

use super::story::Story;
use crate::common::Repo;

#[test]
fn before_any_session_lines_are_those_of_commits() {
    let story = Story::of(&[("f", "one\n")]);
    story.writes("f", "one\ntwo\n");
    story.owned("f", &["one | commit base", "two | none"]);
}

#[test]
fn what_was_there_between_and_after_turns_is_the_persons() {
    let story = Story::of(&[("f", "base\n")]);
    story.writes("f", "base\nbefore\n");
    let claude = story.claude();
    claude.turn("first", "f", "base\nbefore\nclaude\n");
    story.writes("f", "base\nbefore\nclaude\nbetween\n");
    claude.turn("second", "f", "base\nbefore\nclaude\nbetween\nagain\n");
    story.writes("f", "base\nbefore\nclaude\nbetween\nagain\nafter\n");
    story.owned(
        "f",
        &[
            "base | commit base",
            "before | human 0",
            "claude | 1.1 claude",
            "between | human 2",
            "again | 3.1 claude",
            "after | none",
        ],
    );
    let lines = story.lines(&["f"]);
    assert_eq!(lines[3]["turn_before"], 1);
    assert_eq!(lines[3]["turn_after"], 3);
}

#[test]
fn what_came_during_a_prompt_and_by_no_tool_is_shared() {
    let story = Story::of(&[("f", "base\n")]);
    let claude = story.claude();
    claude.told("do it");
    story.writes("f", "base\nmeanwhile\n");
    claude.writes("f", "base\nmeanwhile\ntool\n");
    story.writes("f", "base\nmeanwhile\ntool\nlater\n");
    claude.stops();
    story.owned(
        "f",
        &[
            "base | commit base",
            "meanwhile | shared 1.1",
            "tool | 1.2 claude",
            "later | shared 1",
        ],
    );
    let text = story.edio(&["blame", "f:2"]);
    assert!(text.ok().stdout.contains("1.1  claude, you"), "{text}");
    let text = story.edio(&["blame", "f:4"]);
    assert!(text.ok().stdout.contains("1  claude, you"), "{text}");
}

/// The agent tells of its tools: it has used none.
#[test]
fn what_came_while_an_agent_only_talked_is_shared() {
    let story = Story::of(&[("f", "base\n")]);
    let claude = story.claude();
    claude.told("think");
    story.writes("f", "base\nmine\n");
    claude.stops();
    story.owned("f", &["base | commit base", "mine | shared 1"]);
    claude.told("look");
    claude.runs(|| ());
    story.writes("f", "base\nmine\nmine too\n");
    claude.told("never mind");
    story.owned(
        "f",
        &[
            "base | commit base",
            "mine | shared 1",
            "mine too | shared 2",
        ],
    );
}

/// Nobody looked at the files between the accept and the end of the turn.
#[test]
fn what_came_after_an_accept_inside_a_prompt_is_shared() {
    for put_away in [&["accept", "-m", "accepted"][..], &["sessions", "--close"]] {
        let story = Story::of(&[("f", "base\n")]);
        let claude = story.claude();
        claude.told("first");
        claude.writes("f", "base\nclaude\n");
        story.edio(put_away).ok();
        story.writes("f", "base\nclaude\nwhose\n");
        claude.stops();
        let owners = story.owners(&["f:3"]);
        assert_eq!(owners, ["shared 1"], "{put_away:?}");
    }
}

#[test]
fn a_tool_that_is_used_after_an_accept_owns_what_it_wrote() {
    let story = Story::of(&[("f", "base\n")]);
    let claude = story.claude();
    claude.told("first");
    claude.writes("f", "base\nclaude\n");
    story.edio(&["accept", "-m", "accepted"]).ok();
    story.writes("f", "base\nclaude\nwhose\n");
    claude.runs(|| story.writes("f", "base\nclaude\nwhose\ntool\n"));
    claude.stops();
    story.owned(
        "f",
        &[
            "base | commit base",
            "claude | 1.1 claude",
            "whose | shared 0",
            "tool | 1.1 claude",
        ],
    );
    let text = story.edio(&["blame", "f:3"]);
    assert!(text.ok().stdout.contains("0  claude, you"), "{text}");
}

/// The agent was told something new, while what it was told before had never ended.
#[test]
fn what_was_there_when_an_accepted_prompt_was_broken_off_is_shared() {
    let story = Story::of(&[("f", "base\n")]);
    let claude = story.claude();
    claude.told("first");
    claude.writes("f", "base\nclaude\n");
    story.edio(&["accept", "-m", "accepted"]).ok();
    story.writes("f", "base\nclaude\nwhose\n");
    claude.turn("second", "f", "base\nclaude\nwhose\nsecond\n");
    assert_eq!(story.owners(&["f:3-4"]), ["shared 0", "1.1 claude"]);
}

#[test]
fn what_a_session_is_closed_with_inside_a_prompt_is_shared() {
    let story = Story::of(&[("f", "base\n")]);
    let claude = story.claude();
    claude.told("first");
    claude.writes("f", "base\nclaude\n");
    let call = claude.begins(None);
    story.writes("f", "base\nclaude\nwhose\n");
    story.edio(&["sessions", "--close"]).ok();
    claude.ends(None, &call);
    claude.stops();
    claude.turn("second", "g", "more\n");
    assert_eq!(story.owners(&["f:2-3"]), ["1.1 claude", "shared 1"]);
}

/// Its helper, say: what it was told has ended.
#[test]
fn what_was_there_before_a_tool_that_nobody_asked_for_is_shared() {
    let story = Story::of(&[("f", "base\n")]);
    let claude = story.claude();
    claude.turn("first", "f", "base\nclaude\n");
    story.writes("f", "base\nclaude\nperson\n");
    claude.writes("f", "base\nclaude\nperson\nhelper\n");
    claude.stops();
    assert_eq!(story.owners(&["f:3-4"]), ["shared 2.1", "2.2 claude"]);
}

#[test]
fn what_a_helper_leaves_that_no_tool_wrote_is_shared() {
    let story = Story::of(&[("f", "base\n")]);
    let claude = story.claude();
    claude.told("first");
    story.writes("f", "base\nwhose\n");
    claude.says("SubagentStop", serde_json::json!({"agent_id": "h1"}));
    claude.stops();
    assert_eq!(story.owners(&["f:2"]), ["shared 1.1"]);
}

/// `run` sees the end of an agent whose hooks told of all its tools.
#[test]
fn what_changed_in_a_run_beside_the_tools_is_shared() {
    let story = Story::of(&[("f", "base\n")]);
    let agent = story.repo.outside().join("claude");
    let said = |event: &str| {
        format!(
            "printf '%s' '{{\"session_id\":\"s1\",\"hook_event_name\":\"{event}\",\"prompt\":\"go\"}}' | '{}' hook claude\n",
            crate::common::edio_binary().display()
        )
    };
    let script = format!(
        "#!/bin/sh\n{}{}echo person >>f\n",
        said("UserPromptSubmit"),
        said("Stop")
    );
    story.repo.write(&agent, script);
    story.repo.chmod(&agent, 0o755);
    story.edio(&["run", agent.to_str().unwrap()]).ok();
    assert_eq!(story.owners(&["f:2"]), ["shared 1"]);
}

#[test]
fn a_formatter_changes_no_owner_but_who_touched_it_last() {
    let story = Story::of(&[("f", "if x {\ncall();\n}\n")]);
    let claude = story.claude();
    claude.turn("add", "f", "if x {\ncall();\nmore();\n}\n");
    story.writes("f", "if x {\n    call();\n    more();\n}\n");
    story.edio(&["snapshot"]).ok();
    let owners = story.owners(&["f"]);
    assert_eq!(
        owners,
        ["commit base", "commit base", "1.1 claude", "commit base"]
    );
    // Nobody says who it is that takes a turn by hand.
    let strict = story.owners(&["--strict", "f"]);
    assert_eq!(strict, ["commit base", "2 -", "2 -", "commit base"]);
}

/// Lines long enough for git to know them again.
const BLOCK: &str = "fn a_block_that_is_moved_about(by: &Claude) -> Moved {\n    let it_is_long_enough = to_be_known_again(by);\n}\n";

#[test]
fn a_block_that_moves_keeps_its_owner() {
    let rest = "first line of the file\nsecond line of the file\nthird line of the file\n";
    let story = Story::of(&[("f", rest), ("g", "other file\n")]);
    let claude = story.claude();
    claude.turn("write", "f", &format!("{BLOCK}{rest}"));
    story.writes("f", &format!("{rest}{BLOCK}"));
    story.edio(&["snapshot"]).ok();
    assert_eq!(story.owners(&["f:4-6"]), ["1.1 claude"; 3]);
    story.writes("f", rest);
    story.writes("g", &format!("other file\n{BLOCK}"));
    story.edio(&["snapshot"]).ok();
    assert_eq!(story.owners(&["g:2-4"]), ["1.1 claude"; 3]);
    story.writes("copy", &story.repo.read("g"));
    story.edio(&["snapshot"]).ok();
    assert_eq!(story.owners(&["copy:2-4"]), ["1.1 claude"; 3]);
}

#[test]
fn a_file_that_is_renamed_keeps_its_owners() {
    let story = Story::of(&[("f", "one\ntwo\nthree\nfour\n")]);
    let claude = story.claude();
    claude.turn("add", "f", "one\ntwo\nthree\nfour\nclaude\n");
    claude.told("rename");
    claude.runs(|| {
        story.git(&["mv", "f", "sub"]);
    });
    claude.stops();
    let lines = story.owners(&["sub"]);
    assert_eq!(lines[..4], ["commit base"; 4]);
    assert_eq!(lines[4], "1.1 claude");
    claude.told("rename and edit");
    claude.runs(|| {
        story.git(&["mv", "sub", "again"]);
        story.writes("again", "one\ntwo\nthree\nfour\nclaude\nmore\n");
    });
    claude.stops();
    let lines = story.owners(&["again"]);
    assert_eq!(lines[3..], ["commit base", "1.1 claude", "3.1 claude"]);
    assert_eq!(story.lines(&["again:1"])[0]["path"], "f");
}

#[test]
fn the_sessions_before_are_known() {
    let story = Story::of(&[("f", "base\n")]);
    let claude = story.claude();
    story.writes("f", "base\nperson\n");
    claude.turn("first", "f", "base\nperson\nclaude\n");
    story.edio(&["sessions", "--close"]).ok();
    story.owned(
        "f",
        &["base | commit base", "person | none", "claude | none"],
    );
    claude.turn("second", "f", "base\nperson\nclaude\nagain\n");
    story.owned(
        "f",
        &[
            "base | commit base",
            "person | human 0",
            "claude | 1.1 claude",
            "again | 1.1 claude",
        ],
    );
    let lines = story.lines(&["f"]);
    assert_eq!(lines[2]["prompt"], "first");
    assert_eq!(lines[3]["prompt"], "second");
    let text = story.edio(&["blame", "f:3"]);
    assert!(text.ok().stdout.contains("1.1 of "), "{text}");
}

#[test]
fn two_agents_in_one_tree_own_what_they_named() {
    let story = Story::of(&[("f", "base\n"), ("g", "base\n")]);
    let (claude, codex) = (story.claude(), story.codex());
    claude.told("one");
    codex.told("two");
    claude.writes("f", "base\nclaude\n");
    codex.writes("g", "base\ncodex\n");
    codex.writes("f", "base\nclaude\ncodex\n");
    claude.runs(|| story.writes("g", "base\ncodex\nwhose\n"));
    claude.stops();
    codex.stops();
    story.owned(
        "f",
        &[
            "base | commit base",
            "claude | 1.1 claude",
            "codex | 1.3 codex",
        ],
    );
    story.owned(
        "g",
        &[
            "base | commit base",
            "codex | 1.2 codex",
            "whose | shared 1.4",
        ],
    );
    let whose = &story.lines(&["g:3"])[0];
    assert_eq!(whose["shared"], serde_json::json!(["codex"]));
    let text = story.edio(&["blame", "g:3"]);
    assert!(text.ok().stdout.contains("1.4  claude, codex  "), "{text}");
}

/// One looks at everything while the other is at a file that it has named.
#[test]
fn what_another_has_named_is_not_taken_from_it() {
    let story = Story::of(&[("f", "base\n"), ("g", "base\n")]);
    let (claude, codex) = (story.claude(), story.codex());
    claude.told("one");
    codex.told("two");
    let command = claude.begins(None);
    let patch = codex.begins(Some("f"));
    story.writes("f", "base\ncodex\n");
    claude.ends(None, &command);
    codex.ends(Some("f"), &patch);
    claude.stops();
    codex.stops();
    let lines = story.lines(&["f"]);
    assert_eq!(lines[1]["kind"], "turn");
    assert_eq!(lines[1]["agent"], "codex");
    assert_eq!(lines[1]["tool_call"], patch.as_str());
    assert_eq!(lines[1]["prompt"], "two");
}

#[test]
fn an_interrupted_turn_is_the_agents_all_the_same() {
    let story = Story::of(&[("f", "base\n")]);
    let claude = story.claude();
    claude.told("first");
    claude.writes("f", "base\nhalf\n");
    claude.turn("second", "f", "base\nhalf\nwhole\n");
    let lines = story.lines(&["f"]);
    let prompts: Vec<_> = lines.iter().map(|line| line["prompt"].clone()).collect();
    assert_eq!(
        prompts,
        [serde_json::Value::Null, "first".into(), "second".into()]
    );
    assert_eq!(lines[1]["kind"], "turn");
}

#[test]
fn a_helper_in_a_work_tree_of_its_own_is_merged_back() {
    let story = Story::of(&[("f", "base\n")]);
    let claude = story.claude();
    claude.told("with a helper");
    claude.writes("f", "base\nclaude\n");
    let folder = story.repo.outside().join("helper");
    story.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "helper",
        folder.to_str().unwrap(),
    ]);
    let helper = super::story::Agent {
        cwd: folder.clone(),
        helper: Some("h1"),
        ..claude.clone()
    };
    helper.writes("h", "helper\n");
    story.git(&["-C", folder.to_str().unwrap(), "add", "-A"]);
    story.git(&[
        "-C",
        folder.to_str().unwrap(),
        "commit",
        "-q",
        "-m",
        "of the helper",
    ]);
    claude.runs(|| {
        story.git(&["merge", "-q", "helper"]);
    });
    claude.stops();
    let lines = story.lines(&["h"]);
    assert_eq!(lines[0]["kind"], "turn", "{lines:?}");
    assert_eq!(lines[0]["agent"], "claude");
    assert_eq!(story.owners(&["f:2"]), ["1.1 claude"]);
}

#[test]
fn what_a_restore_brings_is_whose_it_was() {
    let story = Story::of(&[("f", "base\n"), ("g", "base\n")]);
    let claude = story.claude();
    claude.turn("first", "f", "base\nfirst\n");
    claude.turn("second", "f", "base\nsecond\n");
    story.edio(&["restore", "1"]).ok();
    story.owned("f", &["base | commit base", "first | 1.1 claude"]);
    claude.turn("third", "f", "base\nfirst\nthird\n");
    story.owned(
        "f",
        &[
            "base | commit base",
            "first | 1.1 claude",
            "third | 3.1 claude",
        ],
    );
    story.edio(&["restore", "2", "-f", "f"]).ok();
    story.owned("f", &["base | commit base", "second | 2.1 claude"]);
    story.edio(&["undo"]).ok();
    story.owned(
        "f",
        &[
            "base | commit base",
            "first | 1.1 claude",
            "third | 3.1 claude",
        ],
    );
    story.edio(&["undo"]).ok();
    story.edio(&["redo"]).ok();
    assert_eq!(story.owners(&["f:3"]), ["3.1 claude"]);
}

#[test]
fn what_a_revert_brings_back_is_whose_it_was() {
    let story = Story::of(&[("f", "base\n")]);
    let claude = story.claude();
    claude.turn("first", "f", "base\nfirst\n");
    claude.turn("second", "f", "base\n");
    claude.turn("third", "g", "more\n");
    story.edio(&["revert", "2"]).ok();
    story.owned("f", &["base | commit base", "first | 1.1 claude"]);
}

#[test]
fn what_edio_saved_before_a_restore_is_nobodys() {
    let story = Story::of(&[("f", "base\n")]);
    story.claude().turn("first", "f", "base\nfirst\n");
    story.writes("f", "base\nfirst\nunsaved\n");
    story.edio(&["restore", "0"]).ok();
    story.edio(&["undo"]).ok();
    story.owned(
        "f",
        &[
            "base | commit base",
            "first | 1.1 claude",
            "unsaved | none 2",
        ],
    );
}

/// A session of a person and an agent, accepted, with a commit of the person's before and after it.
fn accepted() -> Story {
    let story = Story::of(&[("f", "base\n")]);
    story.writes("g", "earlier\n");
    story.commit("earlier");
    story.writes("f", "base\nperson\n");
    story.claude().turn("work", "f", "base\nperson\nclaude\n");
    story.edio(&["accept", "-m", "accepted"]).ok();
    story
}

#[track_caller]
fn is_looked_through(story: &Story) {
    let owners = story.owners(&["f"]);
    assert_eq!(owners[1..], ["human 0", "1.1 claude"], "{owners:?}");
}

#[test]
fn an_accept_is_looked_through() {
    let story = accepted();
    is_looked_through(&story);
    assert_eq!(story.owners(&["f:1"]), ["commit base"]);
    story.codex().turn("more", "g", "earlier\nmore\n");
    is_looked_through(&story);
    story.edio(&["accept", "-m", "accepted again"]).ok();
    is_looked_through(&story);
    assert_eq!(story.owners(&["g"]), ["commit earlier", "1.1 codex"]);
}

#[test]
fn an_accept_beside_an_arm_that_was_left_is_looked_through_though_amended() {
    let story = Story::of(&[("f", "base\n")]);
    story.claude().turn("one", "f", "base\none\n");
    story.claude().turn("two", "f", "base\none\ntwo\n");
    story.edio(&["restore", "1"]).ok();
    story.claude().turn("left", "f", "base\none\nleft\n");
    story.edio(&["restore", "2"]).ok();
    story.edio(&["accept", "-m", "accepted"]).ok();
    let owners = ["commit base", "1.1 claude", "2.1 claude"];
    assert_eq!(story.owners(&["f"]), owners);
    story.git(&["commit", "-q", "--amend", "-m", "amended"]);
    assert_eq!(story.owners(&["f"]), owners);
}

#[test]
fn an_accept_in_the_second_in_which_the_next_session_begins_is_looked_through() {
    let repo = Repo::with(&[("f", "base\n")]);
    repo.write("f", "base\none\n");
    repo.edio(["snapshot"]).ok();
    repo.edio(["accept", "-m", "accepted"]).ok();
    repo.write("f", "base\none\ntwo\n");
    repo.edio(["snapshot"]).ok();
    let lines = repo.edio(["blame", "f", "--json"]).json();
    let kinds: Vec<_> = lines
        .iter()
        .map(|line| line["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["commit", "turn", "turn"]);
}

#[test]
fn an_accept_that_was_amended_is_looked_through() {
    let story = accepted();
    story.git(&["commit", "-q", "--amend", "-m", "amended"]);
    is_looked_through(&story);
    story.writes("g", "earlier\nand more\n");
    story.git(&["commit", "-q", "-a", "--amend", "-m", "amended more"]);
    is_looked_through(&story);
    assert_eq!(
        story.owners(&["g"]),
        ["commit earlier", "commit amended more"]
    );
}

#[test]
fn an_accept_that_was_squashed_is_looked_through() {
    let story = accepted();
    story.writes("g", "earlier\nlater\n");
    story.commit("later");
    story.git(&["reset", "-q", "--soft", "HEAD~2"]);
    story.git(&["commit", "-q", "-m", "squashed"]);
    is_looked_through(&story);
    assert_eq!(story.owners(&["g:2"]), ["commit squashed"]);
}

#[test]
fn an_accept_that_was_rebased_is_looked_through() {
    let story = accepted();
    story.git(&["checkout", "-q", "-b", "up", "HEAD~1"]);
    story.writes("f", "above\nbase\n");
    story.others_commit("upstream");
    story.git(&["checkout", "-q", "main"]);
    story.git(&["rebase", "-q", "up"]);
    assert_eq!(
        story.owners(&["f"]),
        ["commit upstream", "commit base", "human 0", "1.1 claude"]
    );
}

#[test]
fn an_accept_that_was_picked_is_looked_through() {
    let story = accepted();
    story.git(&["checkout", "-q", "-b", "other", "HEAD~2"]);
    story.git(&["cherry-pick", "main"]);
    is_looked_through(&story);
}

#[test]
fn commits_of_the_person_in_a_session_are_looked_through() {
    let story = Story::of(&[("f", "base\n")]);
    let claude = story.claude();
    claude.turn("first", "f", "base\nfirst\n");
    story.commit("of the person");
    claude.turn("second", "f", "base\nfirst\nsecond\n");
    let expected = ["commit base", "1.1 claude", "2.1 claude"];
    assert_eq!(story.owners(&["f"]), expected);
    story.commit("more");
    story.edio(&["sessions", "--close"]).ok();
    assert_eq!(story.owners(&["f"]), expected);
}

/// The agent itself has committed, before its turn was over.
#[test]
fn what_an_agent_committed_is_its_own_after_the_session_too() {
    let story = Story::of(&[("f", "base\n")]);
    let claude = story.claude();
    claude.told("write and commit");
    claude.writes("f", "base\nclaude\n");
    claude.runs(|| story.commit("of the agent"));
    claude.stops();
    assert_eq!(story.owners(&["f"]), ["commit base", "1.1 claude"]);
    story.edio(&["sessions", "--close"]).ok();
    assert_eq!(story.owners(&["f"]), ["commit base", "1.1 claude"]);
}

#[test]
fn what_came_with_another_head_is_not_the_turns() {
    let story = Story::of(&[("f", "base\n"), ("g", "base\n")]);
    story.git(&["checkout", "-q", "-b", "other"]);
    story.writes("g", "base\nfrom elsewhere\n");
    story.others_commit("elsewhere");
    story.git(&["checkout", "-q", "main"]);
    let claude = story.claude();
    claude.told("first");
    claude.writes("f", "base\nclaude\n");
    claude.runs(|| {
        story.git(&["merge", "-q", "--no-edit", "other"]);
    });
    claude.stops();
    assert_eq!(story.owners(&["g"]), ["commit base", "commit elsewhere"]);
    assert_eq!(story.owners(&["f"]), ["commit base", "1.1 claude"]);
    let story = Story::of(&[("g", "base\n")]);
    story.claude().turn("first", "f", "claude\n");
    story.writes("g", "base\nfrom elsewhere\n");
    story.git(&["add", "g"]);
    story.others_commit("pulled");
    // Not yet in a snapshot.
    assert_eq!(story.owners(&["g"]), ["commit base", "commit pulled"]);
}

/// A few signs say nothing: who takes them up again may have written them anew, and nobody knows.
#[test]
fn what_comes_back_from_the_stash_is_whose_it_was() {
    let line = "let this = a_line(long, enough, to_be, known_again);\n";
    let story = Story::of(&[("f", "base\n"), ("short", "base\n")]);
    let claude = story.claude();
    claude.told("first");
    claude.writes("f", &format!("base\n{line}"));
    claude.writes("short", "base\nx\n");
    claude.stops();
    story.git(&["stash"]);
    claude.turn("second", "g", "more\n");
    story.git(&["stash", "pop"]);
    story.writes("f", &format!("base\n{line}and one of the person\n"));
    claude.turn("third", "g", "more\nand more\n");
    assert_eq!(
        story.owners(&["f"]),
        ["commit base", "1.1 claude", "human 4"]
    );
    assert_eq!(story.owners(&["short"]), ["commit base", "none 4"]);
    assert_eq!(story.owners(&["--strict", "f:2"]), ["human 4"]);
}

#[test]
fn lines_that_end_otherwise_keep_their_owner() {
    let story = Story::of(&[("f", "one\ntwo\n")]);
    let claude = story.claude();
    claude.turn("crlf", "f", "one\r\ntwo\r\nthree\r\n");
    let expected = ["commit base", "commit base", "1.1 claude"];
    assert_eq!(story.owners(&["f"]), expected);
    story.writes("f", "one\ntwo\nthree");
    story.edio(&["snapshot"]).ok();
    assert_eq!(story.owners(&["f"]), expected);
    let text = story.edio(&["blame", "f"]);
    assert!(!text.ok().stdout.contains('\r'), "{text}");
}

#[test]
fn a_file_that_is_no_utf8_has_owners_too() {
    let story = Story::of(&[]);
    story.repo.write("f", b"caf\xe9\n");
    story.others_commit("latin");
    let claude = story.claude();
    claude.told("add");
    let call = claude.begins(Some("f"));
    story.repo.write("f", b"caf\xe9\nth\xe9\n");
    claude.ends(Some("f"), &call);
    claude.stops();
    let lines = story.lines(&["f"]);
    assert_eq!(super::story::owner(&lines[1]), "1.1 claude");
    assert_eq!(lines[1]["text"], serde_json::json!({"bytes": "dGjp"}));
}

/// What the person wrote at the same time is more than what came back.
#[test]
fn what_is_checked_out_of_head_before_an_edit_is_the_commits() {
    let line = "let this = a_line(long, enough, to_be, known_again);\n";
    let story = Story::of(&[("f", &format!("base\n{line}"))]);
    let claude = story.claude();
    claude.turn("first", "f", "base\nclaude\n");
    story.git(&["checkout", "-q", "-f", "HEAD"]);
    story.writes("f", &format!("one\ntwo\nthree\nbase\n{line}"));
    claude.turn("second", "g", "more\n");
    story.owned(
        "f",
        &[
            "one | human 2",
            "two | human 2",
            "three | human 2",
            "base | commit base",
            "let this = a_line(long, enough, to_be, known_again); | commit base",
        ],
    );
}

/// The turn that it was done in ended without it.
#[test]
fn what_comes_back_of_a_step_is_whose_it_was() {
    let line = "let this = a_line(long, enough, to_be, known_again);\n";
    let story = Story::of(&[("f", "base\n")]);
    let claude = story.claude();
    claude.told("first");
    claude.writes("f", &format!("base\n{line}"));
    story.git(&["stash"]);
    claude.stops();
    story.git(&["stash", "pop"]);
    claude.turn("second", "g", "more\n");
    assert_eq!(story.owners(&["f"]), ["commit base", "1.1 claude"]);
}

/// A session begins with what an earlier one had of a commit that is no more what HEAD has.
#[test]
fn what_an_earlier_session_brought_back_is_the_commits() {
    let story = Story::of(&[("f", "base\nold\n")]);
    let claude = story.claude();
    claude.turn("first", "f", "base\n");
    story.commit("without it");
    story.edio(&["restore", "0", "-f", "f"]).ok();
    story.edio(&["sessions", "--close"]).ok();
    claude.turn("second", "g", "more\n");
    story.owned("f", &["base | commit base", "old | commit base"]);
    story.commit("with it again");
    story.owned("f", &["base | commit base", "old | commit base"]);
}
