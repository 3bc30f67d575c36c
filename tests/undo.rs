//! `edio undo` and `edio redo`: to the state before the last operation, or turn, and forward again, any number of times.

use std::collections::BTreeMap;
use std::fs;

use proptest::prelude::*;
use serde_json::json;

use crate::common::{Ran, Repo, edio_binary};

/// What the user's git says of the index: every entry, what is staged, how it stands to HEAD and to the files.
fn index(repo: &Repo) -> [String; 3] {
    [
        repo.git(["ls-files", "-s", "-v"]),
        repo.git(["diff", "--cached", "--binary"]),
        repo.git(["status", "--porcelain=v2", "--branch"]),
    ]
}

/// Undo or redo must say no with this code and these words, and change nothing at all. Returns what it said.
#[track_caller]
fn says_no(repo: &Repo, word: &str, code: i32, said: &[&str]) -> String {
    let refs = repo.edio_refs();
    let ran = repo.says_no([word], code, said);
    assert_eq!(repo.edio_refs(), refs, "{ran}");
    ran.stderr
}

/// A repository with one commit, and a turn for each of these contents of `a`.
fn turns(contents: &[&str]) -> Repo {
    let repo = Repo::with(&[("a", "base\n"), ("b", "base\n"), ("c", "base\n")]);
    for content in contents {
        repo.write("a", format!("{content}\n"));
        repo.edio(["snapshot", "-m", content]).ok();
    }
    repo
}

/// Where the work tree stands, as `log --json` tells it.
fn current(repo: &Repo) -> u64 {
    let turns = repo.edio(["log", "--json"]).json();
    let current = turns.iter().find(|turn| turn["current"] == true);
    current.map_or(0, |turn| turn["turn"].as_u64().unwrap())
}

#[test]
fn p3_each_turn_is_taken_back_and_done_again_exactly() {
    let repo = Repo::with(&[
        ("a", "one\n"),
        ("d/x", "one\n"),
        ("tool", "#!/bin/sh\n"),
        (".gitignore", "*.log\n"),
    ]);
    repo.write("x.log", "ignored\n");
    repo.write("b", "staged\n");
    repo.git(["add", "b"]);
    repo.remove("b");
    let mut states = vec![repo.manifest()];
    repo.write("a", b"two\r\n\0\n");
    repo.write("odd \n*", "odd\n");
    repo.link("link", "a");
    repo.edio(["snapshot", "-m", "first"]).ok();
    states.push(repo.manifest());
    repo.remove("d");
    repo.write("d", "a file now\n");
    repo.chmod("tool", 0o755);
    repo.edio(["snapshot", "-m", "second"]).ok();
    states.push(repo.manifest());
    repo.remove("link");
    repo.write("link/in", "a folder now\n");
    repo.remove("a");
    repo.edio(["snapshot", "-m", "third"]).ok();
    states.push(repo.manifest());
    let state = repo.git_files();

    for _ in 0..2 {
        for number in (0..3).rev() {
            let ran = repo.edio(["undo"]);
            ran.ok();
            assert_eq!(ran.stdout, "");
            assert_eq!(repo.manifest(), states[number], "{ran}");
            assert_eq!(current(&repo), number as u64);
            assert!(ran.stderr.contains("hint: "), "{ran}");
        }
        says_no(&repo, "undo", 1, &["nothing to undo"]);
        for expected in &states[1..] {
            let ran = repo.edio(["redo"]);
            ran.ok();
            assert_eq!(&repo.manifest(), expected, "{ran}");
        }
        says_no(&repo, "redo", 1, &["nothing to redo"]);
    }
    assert_eq!(
        repo.turns(),
        3,
        "nothing was unsaved: no turn is to be taken"
    );
    assert_eq!(repo.git_files(), state);
    repo.fsck();
}

#[test]
fn a_restore_is_taken_back_before_the_turns_are() {
    let repo = turns(&["1", "2", "3"]);
    repo.edio(["restore", "1"]).ok();
    let ran = repo.edio(["undo"]);
    assert!(ran.ok().stderr.contains("restore 1"), "{ran}");
    assert_eq!(repo.read("a"), "3\n");
    let ran = repo.edio(["undo"]);
    assert!(ran.ok().stderr.contains("turn 3"), "{ran}");
    assert_eq!(repo.read("a"), "2\n");
    repo.edio(["redo"]).ok();
    repo.edio(["redo"]).ok();
    assert_eq!(repo.read("a"), "1\n");
    assert_eq!(current(&repo), 1);
    says_no(&repo, "redo", 1, &["nothing to redo"]);
}

#[test]
fn a_restore_of_some_paths_is_taken_back() {
    let repo = turns(&["1", "2"]);
    repo.write("b", "2\n");
    repo.write("new", "2\n");
    repo.edio(["snapshot", "-m", "b"]).ok();
    let before = repo.manifest();
    repo.edio(["restore", "1", "-f", "a"]).ok();
    let after = repo.manifest();
    assert_ne!(before, after);
    repo.edio(["undo"]).ok();
    assert_eq!(repo.manifest(), before);
    assert_eq!(current(&repo), 3);
    repo.edio(["redo"]).ok();
    assert_eq!(repo.manifest(), after);
    assert_eq!(repo.turns(), 4);
}

#[test]
fn a_revert_is_taken_back() {
    let repo = turns(&["1"]);
    repo.write("b", "2\n");
    repo.remove("c");
    repo.edio(["snapshot", "-m", "second"]).ok();
    let before = repo.manifest();
    repo.edio(["revert", "1"]).ok();
    assert_eq!(
        (repo.read("a"), repo.read("b")),
        ("base\n".into(), "2\n".into())
    );
    repo.edio(["undo"]).ok();
    assert_eq!(repo.manifest(), before);
    repo.edio(["redo"]).ok();
    assert_eq!(repo.read("a"), "base\n");
    assert!(!repo.has("c"));
}

#[test]
fn p4_unsaved_edits_become_a_safety_turn_and_are_named() {
    let repo = turns(&["1", "2"]);
    repo.write("a", "unsaved\n");
    repo.write("new", "unsaved, too\n");
    let unsaved = repo.manifest();

    let ran = repo.edio(["undo"]);

    ran.ok();
    assert!(ran.stderr.contains("your unsaved work is turn 3"), "{ran}");
    assert_eq!((repo.read("a"), repo.has("new")), ("1\n".into(), false));
    let turn = &repo.edio(["show", "3", "--json"]).json()[0];
    assert_eq!(turn["kind"], "safety");
    assert_eq!(turn["message"], "Before undo");
    assert_eq!(repo.in_turn(3, "new").unwrap(), "unsaved, too\n");

    repo.write("b", "unsaved before the redo\n");
    let record = &repo.edio(["redo", "--json"]).json()[0];
    assert_eq!(record["safety_turn"], 4);
    assert_eq!(repo.manifest(), unsaved);
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("b"), "unsaved before the redo\n");
    assert_eq!(repo.read("a"), "1\n");
}

#[test]
fn what_was_unsaved_before_a_restore_is_a_state_on_the_way_back() {
    let repo = turns(&["1", "2"]);
    repo.write("a", "unsaved\n");
    repo.edio(["restore", "1"]).ok();
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("a"), "unsaved\n");
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("a"), "2\n");
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("a"), "1\n");
}

#[test]
fn the_record_says_what_was_done() {
    let repo = turns(&["1", "2"]);
    let mut undone = repo.edio(["undo", "--json"]).json().remove(0);
    let plan = undone.as_object_mut().unwrap().remove("plan").unwrap();
    assert_eq!(
        (&plan[0]["path"], &plan[0]["action"]),
        (&json!("a"), &json!("write"))
    );
    assert_eq!(
        undone,
        json!({
            "v": 1, "undone": "turn 2 (2)", "redone": null, "turn": 1, "written": 1, "removed": 0,
            "safety_turn": null, "branch": null, "head": null, "unstaged": [], "beside": [],
        })
    );
    let redone = &repo.edio(["redo", "--json"]).json()[0];
    assert_eq!(
        (&redone["undone"], &redone["redone"], &redone["turn"]),
        (&json!(null), &json!("turn 2 (2)"), &json!(2))
    );
    repo.edio(["accept", "feat"]).ok();
    let undone = &repo.edio(["undo", "--json"]).json()[0];
    assert_eq!(undone["undone"], "accept feat");
    assert_eq!(undone["branch"], "refs/heads/main");
    assert_eq!(undone["head"], repo.git(["rev-parse", "HEAD"]));
}

#[test]
fn where_there_is_nothing_to_take_back() {
    let repo = Repo::with(&[("a", "base\n")]);
    for word in ["undo", "redo"] {
        says_no(&repo, word, 1, &[&format!("nothing to {word}")]);
    }
    repo.write("a", "unsaved\n");
    repo.edio(["run", "--", "true"]).ok();
    says_no(&repo, "undo", 1, &["nothing to undo"]);
    assert_eq!(repo.read("a"), "unsaved\n");
    repo.edio(["undo", "3"]).fails(2);
}

#[test]
fn what_is_done_after_an_undo_ends_the_way_forward() {
    let repo = turns(&["1", "2"]);
    repo.edio(["undo"]).ok();
    repo.write("a", "3\n");
    repo.edio(["snapshot", "-m", "3"]).ok();
    says_no(&repo, "redo", 1, &["nothing to redo", "edio restore"]);
    repo.edio(["restore", "2"]).ok();
    assert_eq!(
        repo.read("a"),
        "2\n",
        "the turn that was taken back is there"
    );
    for content in ["3\n", "1\n", "base\n"] {
        repo.edio(["undo"]).ok();
        assert_eq!(repo.read("a"), content);
    }
}

#[test]
fn p5_many_in_a_row_though_the_scratch_folder_is_lost_between() {
    let repo = turns(&["1", "2"]);
    let mut states = vec![repo.manifest()];
    let mut then = |words: &[&str], content: Option<&str>| {
        if let Some(content) = content {
            repo.write("b", content);
        }
        repo.edio(words).ok();
        states.push(repo.manifest());
    };
    then(&["restore", "1"], None);
    then(&["snapshot", "-m", "on 1"], Some("3\n"));
    then(&["revert", "1"], None);
    then(&["restore", "2", "-f", "a"], None);
    then(&["restore", "0"], None);
    then(&["undo"], None);
    then(&["redo"], None);
    let lose = || fs::remove_dir_all(repo.path(".git/edio")).unwrap();
    // The undo and the redo at the end took each other back.
    let states = &states[..6];
    for round in 0..2 {
        for expected in states[..5].iter().rev() {
            lose();
            let ran = repo.edio(["undo"]);
            assert_eq!(&repo.manifest(), expected, "{round}: {ran}");
        }
        for expected in &states[1..] {
            lose();
            let ran = repo.edio(["redo"]);
            assert_eq!(&repo.manifest(), expected, "{round}: {ran}");
        }
    }
    lose();
    says_no(&repo, "redo", 1, &["nothing to redo"]);
    repo.fsck();
}

#[test]
fn a_path_restored_though_it_is_ignored_now_goes_and_comes_as_often_as_one_likes() {
    let repo = Repo::with(&[("a", "a\n")]);
    repo.write("d/z", "first\n");
    repo.edio(["snapshot"]).ok();
    repo.write(".gitignore", "d/\n");
    repo.write("d/z", "second\n");
    repo.edio(["snapshot"]).ok();
    repo.edio(["restore", "1", "-f", "d/z"]).ok();
    for _ in 0..3 {
        assert_eq!(repo.read("d/z"), "first\n");
        repo.edio(["undo"]).ok();
        assert_eq!(repo.read("d/z"), "second\n");
        repo.edio(["redo"]).ok();
    }
    assert!(repo.is_kept("second\n"));
}

/// Where nothing was before the restore, nothing is after the undo, ignored or not.
#[test]
fn what_a_restore_made_is_gone_after_the_undo_though_it_is_ignored_now() {
    for words in [&["restore", "1"][..], &["restore", "1", "-f", "d"]] {
        let repo = Repo::with(&[("a", "a\n")]);
        repo.write("d/z", "first\n");
        repo.write("d/crlf", "first\r\n");
        repo.edio(["snapshot"]).ok();
        repo.remove("d");
        repo.write("a", "other\n");
        repo.edio(["snapshot"]).ok();
        repo.write(".git/info/exclude", "d/\n");
        repo.edio(words).ok();
        for _ in 0..3 {
            assert_eq!(repo.read("d/crlf"), "first\r\n");
            repo.edio(["undo"]).ok();
            assert!(!repo.has("d"), "{words:?}");
            repo.edio(["redo"]).ok();
            assert_eq!(repo.read("d/z"), "first\n", "{words:?}");
        }
        // What was changed since is the person's own.
        repo.write("d/z", "edited\n");
        repo.edio(["undo"]).ok();
        assert_eq!(repo.read("d/z"), "edited\n");
    }
}

#[test]
fn what_a_restore_made_is_gone_after_the_undo_though_the_rules_that_come_back_ignore_it() {
    let repo = Repo::with(&[("a", "a\n"), ("x.t", "1\n"), (".gitignore", "")]);
    repo.write(".gitignore", "x.*\n");
    repo.remove("x.t");
    repo.edio(["snapshot"]).ok();
    let before = repo.manifest();
    repo.edio(["restore", "0"]).ok();
    assert_eq!(repo.read("x.t"), "1\n");
    repo.edio(["undo"]).ok();
    assert_eq!(repo.manifest(), before);
    repo.edio(["redo"]).ok();
    assert_eq!(repo.read("x.t"), "1\n");
}

#[test]
fn what_a_restore_made_in_the_place_of_a_file_gives_way_to_it_again_though_it_is_ignored_now() {
    let repo = Repo::with(&[("a", "a\n")]);
    repo.write("d/z", "first\n");
    repo.edio(["snapshot"]).ok();
    repo.remove("d");
    repo.write("d", "a file\n");
    repo.edio(["snapshot"]).ok();
    repo.write(".git/info/exclude", "z\n");
    repo.edio(["restore", "1"]).ok();
    for _ in 0..2 {
        assert_eq!(repo.read("d/z"), "first\n");
        repo.edio(["undo"]).ok();
        assert_eq!(repo.read("d"), "a file\n");
        repo.edio(["redo"]).ok();
    }
}

#[test]
fn p4_an_ignored_file_that_a_restore_replaced_comes_back() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.write("x", "held\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    repo.write(".gitignore", "x\n");
    repo.edio(["snapshot", "-m", "second"]).ok();
    repo.write("x", "ignored, and of worth\n");
    let before = repo.manifest();
    repo.edio(["restore", "1"]).ok();
    assert_eq!(repo.read("x"), "held\n");
    assert!(repo.is_kept("ignored, and of worth\n"));
    repo.edio(["undo"]).ok();
    assert_eq!(repo.manifest(), before);
}

/// As a virtual environment brings it, and the caches of many a tool.
#[test]
fn p4_what_an_ignore_file_hides_that_ignores_itself_stays_when_that_comes_back() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.write("out/.gitignore", "tmp\n");
    repo.edio(["snapshot"]).ok();
    repo.write("out/.gitignore", "*\n");
    repo.write("out/result", "of hours\n");
    repo.write("a", "other\n");
    repo.edio(["snapshot"]).ok();
    let before = repo.manifest();
    for _ in 0..2 {
        repo.edio(["restore", "1"]).ok();
        assert_eq!(repo.read("out/.gitignore"), "tmp\n");
        assert_eq!(repo.read("out/result"), "of hours\n");
        repo.edio(["undo"]).ok();
        assert_eq!(repo.manifest(), before);
    }
    repo.edio(["redo"]).ok();
    assert_eq!(repo.read("out/.gitignore"), "tmp\n");
    assert_eq!(repo.read("out/result"), "of hours\n");
}

#[test]
fn p4_an_ignored_file_that_came_back_gives_way_again_to_what_the_state_ahead_holds() {
    let repo = Repo::with(&[("a", "base\n"), (".gitignore", "none\n")]);
    for path in ["x", "d/y"] {
        repo.write(path, "held\n");
    }
    repo.edio(["snapshot"]).ok();
    repo.write(".gitignore", "*\n");
    for path in ["x", "d/y"] {
        repo.remove(path);
    }
    repo.edio(["snapshot"]).ok();
    for path in ["x", "d/y", "late"] {
        repo.write(path, "ignored\n");
    }
    let before = repo.manifest();
    repo.edio(["restore", "1"]).ok();
    let after = repo.manifest();
    for _ in 0..2 {
        // What is ignored no more makes a turn of its own, which the redo leads to.
        repo.edio(["undo"]).ok();
        assert_eq!(repo.manifest(), before);
        repo.edio(["redo"]).ok();
        assert_eq!(repo.manifest(), after);
    }
}

#[test]
fn steps_that_nobody_closed_are_taken_back_as_the_turn_that_they_are() {
    let repo = turns(&["1"]);
    repo.write("a", "1, and a step\n");
    repo.step("2.1");
    repo.write("a", "1, and two steps\n");
    repo.step("2.2");
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("a"), "1\n");
    assert_eq!(repo.in_turn(2, "a").unwrap(), "1, and two steps\n");
    repo.edio(["redo"]).ok();
    assert_eq!(repo.read("a"), "1, and two steps\n");
    repo.edio(["undo"]).ok();
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("a"), "base\n");
}

#[test]
fn a_step_that_was_gone_back_to_is_no_open_one() {
    let repo = turns(&["1"]);
    for number in ["2.1", "2.2"] {
        repo.write("a", format!("{number}\n"));
        repo.step(number);
    }
    repo.write("a", "2\n");
    repo.edio(["snapshot", "-m", "2"]).ok();
    repo.edio(["restore", "2.1"]).ok();
    assert_eq!(repo.read("a"), "2.1\n");
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("a"), "2\n");
    repo.edio(["redo"]).ok();
    assert_eq!(repo.read("a"), "2.1\n");
    repo.edio(["undo"]).ok();
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("a"), "1\n");
    assert_eq!(
        repo.turns(),
        2,
        "nothing was unsaved: no turn is to be taken"
    );
}

#[test]
fn the_work_tree_of_another_is_left_alone() {
    let repo = turns(&["1"]);
    repo.git(["worktree", "add", "-q", "-b", "side", "../linked"]);
    let linked = repo.outside().join("linked");
    for content in ["side 1\n", "side 2\n"] {
        fs::write(linked.join("a"), content).unwrap();
        repo.edio_in(&linked, ["snapshot", "-m", "side"]).ok();
    }
    let files = repo.manifest();
    repo.edio_in(&linked, ["undo"]).ok();
    assert_eq!(fs::read_to_string(linked.join("a")).unwrap(), "side 1\n");
    assert_eq!(repo.manifest(), files);
    repo.edio_in(&linked, ["accept", "feat: side"]).ok();
    // This one has no accept of its own to take back.
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("a"), "base\n");
    says_no(&repo, "undo", 1, &["nothing to undo"]);
    repo.edio_in(&linked, ["undo"]).ok();
    assert_eq!(
        repo.git(["rev-parse", "side"]),
        repo.git(["rev-parse", "main"])
    );
}

// --- accept ---

/// A repository with work staged beside, and on, what the session changed; the session is ready to be accepted.
fn staged() -> Repo {
    let repo = Repo::with(&[
        ("a", "base\n"),
        ("b", "base\n"),
        ("c", "base\n"),
        ("gone", "base\n"),
        ("mode", "base\n"),
        ("flagged", "base\n"),
    ]);
    for (path, staged, content) in [
        ("a", "half\n", "half\nsession\n"),
        ("b", "staged beside\n", "and more\n"),
        ("new", "half new\n", "session\n"),
        ("added", "staged beside\n", "staged beside\n"),
    ] {
        repo.write(path, staged);
        repo.git(["add", path]);
        repo.write(path, content);
    }
    repo.git(["rm", "-q", "--cached", "c"]);
    repo.write("intended", "beside\n");
    repo.git(["add", "-N", "intended"]);
    repo.edio(["run", "--", "sh", "-c", "true"]).ok();
    repo.write("a", "half\nsession, again\n");
    repo.write("new", "session, again\n");
    repo.write("c", "session\n");
    repo.write("untracked", "session\n");
    repo.remove("gone");
    repo.chmod("mode", 0o755);
    repo.git(["update-index", "--assume-unchanged", "flagged"]);
    repo.edio(["snapshot", "-m", "session"]).ok();
    repo
}

#[test]
fn an_accept_is_taken_back_branch_index_and_session() {
    let repo = staged();
    let (before, files) = (index(&repo), repo.manifest());
    let (log, refs) = (repo.edio(["log", "--json"]).json(), repo.edio_refs());
    let head = repo.git(["rev-parse", "HEAD"]);
    repo.edio(["accept", "feat: x"]).ok();
    let commit = repo.git(["rev-parse", "HEAD"]);
    assert_ne!(index(&repo), before);

    let ran = repo.edio(["undo"]);

    ran.ok();
    assert!(
        ran.stderr.contains("undone: accept feat: x; main is at"),
        "{ran}"
    );
    assert_eq!(repo.git(["rev-parse", "HEAD"]), head);
    assert_eq!(index(&repo), before);
    assert_eq!(repo.manifest(), files);
    assert_eq!(repo.edio(["log", "--json"]).json(), log);
    let turns = |refs: &str| -> Vec<String> {
        let lines = refs
            .lines()
            .filter(|line| !line.contains("/ops ") && !line.contains("/side "));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(turns(&repo.edio_refs()), turns(&refs));
    assert_eq!(
        repo.git(["reflog", "-1", "--format=%gs", "main"]),
        "edio undo: accept feat: x"
    );
    assert!(!repo.has(".git/index.lock"));

    for _ in 0..2 {
        repo.edio(["redo"]).ok();
        assert_eq!(repo.git(["rev-parse", "HEAD"]), commit);
        assert_eq!(repo.git(["ls-files", "-v", "flagged"]), "h flagged");
        assert_eq!((repo.manifest(), repo.turns()), (files.clone(), 0));
        repo.edio(["undo"]).ok();
        assert_eq!(
            (repo.git(["rev-parse", "HEAD"]), index(&repo)),
            (head.clone(), before.clone())
        );
    }
    // And further back, through the session's turns.
    repo.edio(["undo"]).ok();
    assert!(repo.has("gone"));
    repo.fsck();
}

#[test]
fn an_index_with_a_folder_where_a_file_was_committed_is_as_before_the_accept() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.write("d/x", "only staged\n");
    repo.git(["add", "d/x"]);
    repo.remove("d");
    repo.write("d", "a file\n");
    repo.edio(["snapshot"]).ok();
    let before = index(&repo);
    repo.edio(["accept", "feat"]).ok();
    repo.edio(["undo"]).ok();
    assert_eq!(index(&repo), before);
}

#[test]
fn what_the_index_only_announces_is_as_before_the_accept_whatever_is_on_disk() {
    let on_disk: [fn(&Repo); 4] = [
        |_| {},
        |repo| repo.remove("u"),
        |repo| {
            repo.remove("u");
            repo.write("u/in", "a folder now\n");
        },
        |repo| {
            repo.remove("u");
            repo.link("u", "a");
        },
    ];
    for change in on_disk {
        let repo = turns(&["session"]);
        repo.write("u", "announced\n");
        repo.write("tool", "#!/bin/sh\n");
        repo.chmod("tool", 0o755);
        repo.link("l", "a");
        repo.git(["add", "-N", "u", "tool", "l"]);
        repo.git(["update-index", "--assume-unchanged", "tool"]);
        change(&repo);
        repo.remove("tool");
        repo.remove("l");
        let before = index(&repo);
        repo.edio(["accept", "--all", "feat"]).ok();
        repo.edio(["undo"]).ok();
        assert_eq!(index(&repo), before);
        assert_eq!(
            repo.git(["diff", "--cached", "--ita-invisible-in-index"]),
            "",
            "nothing was staged"
        );
    }
}

#[test]
fn p4_what_was_staged_after_the_accept_is_not_lost_by_its_undo() {
    let repo = turns(&["session"]);
    repo.edio(["accept", "feat"]).ok();
    repo.write("a", "staged since\n");
    repo.write("b", "staged since, beside\n");
    repo.git(["add", "a", "b"]);
    repo.write("a", "on disk\n");
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("a"), "on disk\n");
    assert_eq!(repo.git(["show", ":b"]), "staged since, beside");
    let in_index = repo.git(["show", ":a"]) == "staged since";
    assert!(
        in_index || repo.is_kept("staged since\n"),
        "what was staged is lost"
    );
}

#[test]
fn p4_what_was_staged_after_the_accept_is_named_and_comes_back_with_it() {
    let repo = Repo::with(&[("a", "base\n"), ("b", "base\n"), ("c", "base\n")]);
    for path in ["a", "b", "c", "d"] {
        repo.write(path, "session\n");
    }
    repo.edio(["snapshot"]).ok();
    let before = index(&repo);
    repo.edio(["accept", "feat"]).ok();
    repo.write("a", "staged since\n");
    repo.git(["add", "a"]);
    repo.git(["rm", "-q", "--cached", "b"]);
    repo.git(["update-index", "--assume-unchanged", "c"]);
    let since = index(&repo);
    let ran = repo.edio(["undo"]);
    for path in ["b", "c"] {
        let said = format!("  no longer staged: {path} (it was taken off, or flagged)\n");
        assert!(ran.ok().stderr.contains(&said), "{ran}");
    }
    let (_, command) = ran.stderr.split_once("a (what was staged: git ").unwrap();
    let words = command.split_once(")\n").unwrap().0.split(' ');
    assert_eq!(repo.git(words), "staged since");
    assert!(!ran.stderr.contains("staged: d"), "{ran}");
    assert_eq!(index(&repo), before);
    for _ in 0..2 {
        repo.edio(["redo"]).ok();
        assert_eq!(index(&repo), since);
        let undone = &repo.edio(["undo", "--json"]).json()[0];
        assert_eq!(undone["unstaged"], json!(["a", "b", "c"]));
        assert_eq!(index(&repo), before);
    }
    // What was staged in between counts more than what was before.
    repo.git(["add", "b"]);
    repo.edio(["redo"]).ok();
    assert_eq!(repo.git(["diff", "--cached"]), "");
}

#[test]
fn p4_where_the_branch_is_not_as_the_accept_left_it_what_helps_is_said() {
    let accepted = || {
        let repo = turns(&["session"]);
        repo.edio(["accept", "feat"]).ok();
        repo
    };
    let short = |repo: &Repo| repo.git(["rev-parse", "--short=10", "HEAD"]);
    let follow = |repo: &Repo, command: &str| {
        let words = command.strip_prefix("git ").unwrap().split(' ');
        repo.git(words);
        repo.edio(["undo"]).ok();
        assert_eq!(repo.git(["log", "--format=%s"]), "base");
        assert_eq!(repo.git(["diff", "--cached", "--name-only"]), "");
        assert_eq!(repo.read("a"), "session\n");
    };
    let undone_by_git: [&[&str]; 2] = [&["--soft"], &[]];
    for how in undone_by_git {
        let repo = accepted();
        let command = format!("git reset --soft {}", short(&repo));
        repo.git([&["reset", "-q"], how, &["HEAD~1"]].concat());
        says_no(&repo, "undo", 3, &["where it was before", &command]);
        follow(&repo, &command);
    }
    let moves: [(&[&str], &str); 3] = [
        (&["branch", "-m", "renamed"], "git switch -c main END"),
        (&["switch", "-q", "-c", "other"], "git switch main"),
        (&["switch", "-q", "--detach"], "git switch main"),
    ];
    for (words, back) in moves {
        let repo = accepted();
        let command = back.replace("END", &short(&repo));
        repo.git(words);
        says_no(&repo, "undo", 3, &["the accept went to main", &command]);
        follow(&repo, &command);
    }
    let repo = turns(&["session"]);
    repo.git(["switch", "-q", "--detach"]);
    repo.edio(["accept", "--here", "feat"]).ok();
    let command = format!("git switch --detach {}", short(&repo));
    repo.git(["switch", "-q", "main"]);
    says_no(&repo, "undo", 3, &["HEAD is on main", &command]);
    follow(&repo, &command);
    let repo = accepted();
    repo.git(["commit", "-q", "--amend", "-m", "amended"]);
    let id = &repo.sessions("archive")[0];
    let command = format!("--session {id} log");
    says_no(&repo, "undo", 3, &["rewritten", &command]);
    let words = command.split(' ');
    assert!(repo.edio(words).ok().stdout.contains("session"));
}

#[test]
fn a_first_commit_that_is_made_again_goes_to_its_own_branch() {
    let repo = Repo::unborn();
    repo.write("a", "1\n");
    repo.edio(["snapshot"]).ok();
    repo.edio(["accept", "feat"]).ok();
    repo.edio(["undo"]).ok();
    repo.git(["symbolic-ref", "HEAD", "refs/heads/other"]);
    says_no(&repo, "redo", 3, &["git symbolic-ref HEAD refs/heads/main"]);
    repo.git(["symbolic-ref", "HEAD", "refs/heads/main"]);
    repo.edio(["redo"]).ok();
    assert_eq!(repo.git(["log", "--format=%s"]), "feat");
    assert_eq!(repo.read("a"), "1\n");
}

#[test]
fn the_first_commit_of_all_is_taken_back() {
    let repo = Repo::unborn();
    repo.write("a", "session\n");
    repo.write("b", "mine\n");
    repo.git(["add", "b"]);
    repo.edio(["snapshot"]).ok();
    let before = index(&repo);
    repo.edio(["accept", "feat: begin"]).ok();
    let commit = repo.git(["rev-parse", "HEAD"]);
    repo.edio(["undo"]).ok();
    assert_eq!(index(&repo), before);
    assert!(!repo.git_says(["rev-parse", "-q", "--verify", "HEAD"]));
    repo.edio(["redo"]).ok();
    assert_eq!(repo.git(["rev-parse", "HEAD"]), commit);
    assert_eq!(repo.git(["status", "--porcelain"]), "");
}

#[test]
fn on_a_detached_head_no_branch_moves() {
    let repo = Repo::with(&[("a", "base\n")]);
    let base = repo.git(["rev-parse", "HEAD"]);
    repo.git(["switch", "-q", "--detach"]);
    repo.write("a", "session\n");
    repo.edio(["snapshot"]).ok();
    repo.edio(["accept", "feat"]).ok();
    let commit = repo.git(["rev-parse", "HEAD"]);
    repo.edio(["undo"]).ok();
    assert_eq!(
        repo.git(["rev-parse", "HEAD", "main"]),
        format!("{base}\n{base}")
    );
    assert!(!repo.git_says(["symbolic-ref", "-q", "HEAD"]));
    repo.edio(["redo"]).ok();
    assert_eq!(
        repo.git(["rev-parse", "HEAD", "main"]),
        format!("{commit}\n{base}")
    );
}

#[test]
fn an_accept_that_more_was_committed_on_stays() {
    let moves: [&[&[&str]]; 4] = [
        &[&["commit", "-q", "--allow-empty", "-m", "mine"]],
        &[&["commit", "-q", "--amend", "--no-edit", "--date=@1 +0000"]],
        &[&["reset", "-q", "--soft", "HEAD~1"]],
        &[&["branch", "-q", "-m", "renamed"]],
    ];
    for commands in moves {
        let repo = turns(&["session"]);
        repo.edio(["accept", "feat"]).ok();
        for words in commands {
            repo.git(*words);
        }
        says_no(&repo, "undo", 3, &["main", "hint: "]);
        assert_eq!(repo.read("a"), "session\n");
    }
}

#[test]
fn on_another_branch_it_says_so_and_not_that_the_branch_moved() {
    let repo = turns(&["session"]);
    repo.edio(["accept", "feat"]).ok();
    repo.git(["switch", "-q", "-c", "other"]);
    let said = says_no(&repo, "undo", 3, &["other"]);
    assert!(
        !said.contains("any more"),
        "main ends with that commit: {said}"
    );
    repo.git(["switch", "-q", "main"]);
    repo.edio(["undo"]).ok();
    assert_eq!(repo.git(["log", "--format=%s", "main"]), "base");
}

#[test]
fn p5_while_somebody_else_holds_the_index_nothing_is_taken_back() {
    let repo = turns(&["session"]);
    repo.edio(["accept", "feat"]).ok();
    fs::write(repo.path(".git/index.lock"), "somebody's").unwrap();
    let (state, refs) = (repo.git_state(), repo.edio_refs());
    let ran = repo.edio(["undo"]);
    ran.fails(1);
    assert!(ran.stderr.contains("index.lock"), "{ran}");
    assert_eq!((repo.git_state(), repo.edio_refs()), (state, refs));
    assert_eq!(repo.read(".git/index.lock"), "somebody's");
    repo.remove(".git/index.lock");
    repo.edio(["undo"]).ok();
    assert_eq!(repo.git(["log", "--format=%s"]), "base");
}

#[test]
fn an_open_merge_keeps_an_accept_from_being_taken_back() {
    let repo = turns(&["session"]);
    repo.edio(["accept", "feat"]).ok();
    repo.write(
        ".git/MERGE_HEAD",
        format!("{}\n", repo.git(["rev-parse", "HEAD~1"])),
    );
    says_no(&repo, "undo", 3, &["merge"]);
}

/// The commit of an accept adds the one path, and then the other is staged, where only one of them can be.
#[test]
fn p4_what_is_staged_in_the_way_of_what_an_undo_stages_is_named_and_staged_again_by_the_redo() {
    for (committed, later) in [("q", "q/r"), ("q/r", "q")] {
        for was_staged in [false, true] {
            let repo = Repo::with(&[("a", "base\n")]);
            repo.write(committed, "session\n");
            if was_staged {
                repo.git(["add", committed]);
            }
            repo.edio(["snapshot"]).ok();
            repo.edio(["accept", "feat"]).ok();
            repo.remove("q");
            repo.write(later, "only staged\n");
            repo.git(["add", "."]);
            repo.write(later, "on disk\n");
            let before = index(&repo);
            let ran = repo.edio(["undo"]);
            let named = format!("  no longer staged: {later} (what was staged: git ");
            let command = ran.ok().stderr.split_once(&named);
            match command.and_then(|(_, rest)| rest.split_once(')')) {
                Some((command, _)) => {
                    assert!(was_staged, "{ran}");
                    assert_eq!(repo.git(command.split(' ')), "only staged");
                }
                None => {
                    assert!(!was_staged, "{ran}");
                    assert_eq!(repo.git(["show", &format!(":{later}")]), "only staged");
                }
            }
            repo.git(["gc", "-q", "--prune=now"]);
            let ran = repo.edio(["redo"]);
            assert!(!ran.ok().stderr.contains("no longer staged"), "{ran}");
            assert_eq!(index(&repo), before, "{committed}, {was_staged}");
            repo.fsck();
        }
    }
}

#[test]
fn p6_a_branch_that_is_left_meanwhile_is_not_taken_back() {
    let repo = turns(&["session"]);
    repo.edio(["accept", "feat"]).ok();
    repo.git(["branch", "other"]);
    let before = repo.git(["for-each-ref", "refs/heads"]);
    // A git that lets somebody else go to another branch after HEAD was looked at.
    let real = crate::accept::which(&repo, "git");
    let notes = repo.outside().display().to_string();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *symbolic-ref*) : > '{notes}/looked' ;; *diff-tree*)\n\
         test -e '{notes}/looked' && {{ : > '{notes}/done'\n\
         {real} symbolic-ref HEAD refs/heads/other; }} ;;\nesac\nexec {real} \"$@\"\n"
    );
    let bin = repo.outside().join("bin");
    std::fs::create_dir(&bin).unwrap();
    repo.write(bin.join("git"), script);
    repo.chmod(bin.join("git"), 0o755);
    let path = format!("{}:{}", bin.display(), crate::common::path());
    let mut command = repo.command(["undo"]);
    let ran = repo.ran(command.env("PATH", path));
    ran.fails_with(3, &["the accept went to main, and HEAD is on other"]);
    assert!(repo.outside().join("done").exists());
    assert_eq!(repo.git(["for-each-ref", "refs/heads"]), before);
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    assert!(!repo.has(".git/index.lock"));
    repo.git(["switch", "-q", "main"]);
    repo.edio(["undo"]).ok();
    assert_eq!(repo.git(["log", "--format=%s"]), "base");
}

#[test]
fn where_the_users_reference_hook_says_no_the_accept_stays_whole() {
    let repo = turns(&["session"]);
    repo.edio(["accept", "feat"]).ok();
    repo.hook("reference-transaction", "test \"$1\" != prepared");
    let id = &repo.sessions("archive")[0];
    says_no(&repo, "undo", 1, &["main could not be moved"]);
    assert_eq!(repo.sessions("archive"), [id.as_str()]);
    repo.remove(".git/hooks/reference-transaction");
    repo.edio(["undo"]).ok();
    assert_eq!(repo.git(["log", "--format=%s"]), "base");
    assert_eq!(
        repo.read("a"),
        "session\n",
        "the accept alone was to be taken back"
    );
}

#[test]
fn an_accept_that_was_refused_is_not_made_by_an_undo() {
    let repo = turns(&["1", "2"]);
    repo.hook("reference-transaction", "test \"$1\" != prepared");
    repo.edio(["accept", "feat"]).fails(1);
    repo.remove(".git/hooks/reference-transaction");
    repo.edio(["undo"]).ok();
    assert_eq!(repo.git(["log", "--format=%s"]), "base");
    assert_eq!(repo.read("a"), "1\n");
    repo.edio(["redo"]).ok();
    assert_eq!(repo.git(["log", "--format=%s"]), "base");
    assert_eq!(repo.read("a"), "2\n");
}

#[test]
fn p5_an_accept_that_was_killed_is_not_made_by_an_undo() {
    let repo = turns(&["1", "2"]);
    repo.killed_at("edio accept", &["accept", "feat"]);
    repo.edio(["undo"]).ok();
    assert_eq!(repo.git(["log", "--format=%s"]), "base");
    assert_eq!(repo.read("a"), "1\n");
    assert!(!repo.has(".git/index.lock"));
}

#[test]
fn p5_an_undo_of_an_accept_that_was_killed_is_finished_by_the_next_command() {
    let repo = staged();
    let before = index(&repo);
    repo.edio(["accept", "feat"]).ok();
    repo.killed_at("edio undo", &["undo"]);
    // It finishes what concerns an accept: the user's hooks and name count, as they do there.
    let mut next = repo.like_edio(edio_binary(), ["accept"]);
    let ran = repo.ran(next.args(["snapshot", "--if-changed"]));
    assert!(ran.ok().stderr.contains("undo of accept feat"), "{ran}");
    assert_eq!(index(&repo), before);
    assert_eq!(repo.turns(), 1);
    repo.edio(["redo"]).ok();
    assert_eq!(repo.git(["log", "-1", "--format=%s"]), "feat");
}

#[test]
fn an_accept_is_not_done_again_where_more_was_committed() {
    let repo = turns(&["1", "2"]);
    repo.edio(["accept", "feat"]).ok();
    repo.edio(["undo"]).ok();
    repo.git(["commit", "-q", "--allow-empty", "-m", "mine"]);
    let (state, files, turns) = (repo.git_state(), repo.manifest(), repo.turns());
    let ran = repo.edio(["redo"]);
    assert!(matches!(ran.code, Some(1 | 3)), "{ran}");
    assert_eq!(
        (repo.git_state(), repo.manifest(), repo.turns()),
        (state, files, turns)
    );
    // What is taken back next is the last turn.
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("a"), "1\n");
    assert_eq!(repo.git(["log", "--format=%s"]), "mine\nbase");
}

#[test]
fn an_accept_up_to_a_turn_is_taken_back_while_the_next_session_is_empty() {
    let repo = turns(&["1", "2"]);
    repo.write("b", "unsaved\n");
    let (before, files) = (index(&repo), repo.manifest());
    let id = repo.sessions("active");
    repo.edio(["accept", "--turn", "1", "feat"]).ok();
    let commit = repo.git(["rev-parse", "HEAD"]);
    repo.edio(["undo"]).ok();
    assert_eq!(index(&repo), before);
    assert_eq!(repo.manifest(), files);
    assert_eq!(
        (repo.sessions("active"), repo.sessions("archive")),
        (id, vec![])
    );
    assert_eq!(repo.in_turn(3, "b").unwrap(), "unsaved\n");
    repo.edio(["redo"]).ok();
    assert_eq!(repo.git(["rev-parse", "HEAD"]), commit);
    assert_eq!(repo.manifest(), files);
}

#[test]
fn what_comes_after_an_accepted_turn_goes_on_after_a_redo_as_after_the_accept() {
    let repo = Repo::with(&[("a", "base\n"), ("b", "base\n")]);
    repo.write("b", "mine, uncommitted\n");
    repo.edio(["run", "--", "sh", "-c", "echo 1 > a"]).ok();
    repo.edio(["accept", "--turn", "1", "feat"]).ok();
    repo.edio(["undo"]).ok();
    repo.edio(["redo"]).ok();
    repo.write("a", "2\n");
    repo.edio(["snapshot", "-m", "2"]).ok();
    repo.edio(["accept", "more"]).ok();
    let committed = ["show", "--format=%s", "--name-only", "HEAD"];
    assert_eq!(repo.git(committed), "more\n\na");
    assert_eq!(repo.git(["status", "--porcelain"]), " M b");
}

#[test]
fn an_accept_is_taken_back_also_after_the_turns_that_followed_it() {
    let repo = turns(&["session"]);
    let before = index(&repo);
    repo.edio(["accept", "feat"]).ok();
    repo.write("a", "next\n");
    repo.edio_later(1, ["snapshot", "-m", "next"]).ok();
    repo.edio_later(2, ["undo"]).ok();
    assert_eq!(repo.read("a"), "session\n");
    repo.edio_later(3, ["undo"]).ok();
    assert_eq!(repo.git(["log", "--format=%s"]), "base");
    assert_eq!(index(&repo), before);
    assert!(repo.is_kept("next\n"));
}

#[test]
fn of_several_accepts_the_last_is_taken_back() {
    // One after the other, and all in one second: the order of the ids says nothing.
    for (begun, accepted) in [([0, 2, 4], [1, 3, 5]), ([4, 2, 0], [5, 5, 5])] {
        let repo = turns(&[]);
        for (at, name) in ["one", "two", "three"].iter().enumerate() {
            repo.write("a", name);
            repo.edio_later(begun[at], ["snapshot", "-m", name]).ok();
            repo.edio_later(accepted[at], ["accept", name]).ok();
        }
        repo.edio_later(6, ["undo"]).ok();
        assert_eq!(repo.git(["log", "--format=%s"]), "two\none\nbase");
        repo.edio_later(7, ["redo"]).ok();
        assert_eq!(repo.git(["log", "--format=%s"]), "three\ntwo\none\nbase");
    }
}

#[test]
fn accepted_anew_after_an_undo_the_new_one_is_taken_back() {
    let repo = turns(&["session"]);
    let id = repo.sessions("active");
    for name in ["first", "second"] {
        repo.edio(["accept", name]).ok();
        assert_eq!(repo.git(["log", "--format=%s"]), format!("{name}\nbase"));
        repo.edio(["undo"]).ok();
        assert_eq!(repo.git(["log", "--format=%s"]), "base");
    }
    assert_eq!(repo.sessions("active"), id);
    repo.edio(["redo"]).ok();
    assert_eq!(repo.git(["log", "--format=%s"]), "second\nbase");
}

#[test]
fn a_signed_or_hooked_commit_comes_back_as_it_was() {
    let repo = turns(&["session"]);
    repo.hook(
        "commit-msg",
        "echo 'Change-Id: 1' >> \"$1\"; echo once >> \"$HOME/asked\"",
    );
    repo.edio(["accept", "feat"]).ok();
    let commit = repo.git(["rev-parse", "HEAD"]);
    repo.edio(["undo"]).ok();
    repo.git(["reflog", "expire", "--expire=now", "--all"]);
    repo.git(["gc", "-q", "--prune=now"]);
    repo.edio(["redo"]).ok();
    assert_eq!(repo.git(["rev-parse", "HEAD"]), commit);
    let asked = fs::read_to_string(repo.outside().join("home/asked")).unwrap();
    assert_eq!(asked, "once\n", "the commit was made already");
    repo.fsck();
}

// --- close, and sessions of others ---

#[test]
fn a_close_is_taken_back() {
    let repo = turns(&["1", "2"]);
    let (id, log) = (repo.sessions("active"), repo.edio(["log", "--json"]).json());
    let state = repo.git_state();
    for _ in 0..2 {
        repo.edio(["sessions", "--close"]).ok();
        assert_eq!(
            (repo.sessions("active"), repo.sessions("archive")),
            (vec![], id.clone())
        );
        let ran = repo.edio(["undo"]);
        assert!(ran.ok().stderr.contains("undone: close"), "{ran}");
        assert_eq!(
            (repo.sessions("active"), repo.sessions("archive")),
            (id.clone(), vec![])
        );
        assert_eq!(repo.edio(["log", "--json"]).json(), log);
    }
    repo.edio(["redo"]).ok();
    assert_eq!(repo.sessions("archive"), id);
    repo.edio(["undo"]).ok();
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("a"), "1\n");
    repo.write("a", "2\n");
    assert_eq!(repo.git_state(), state);
}

#[test]
fn a_restore_from_an_archived_session_is_taken_back() {
    let repo = turns(&["1", "2"]);
    let id = repo.sessions("active").remove(0);
    repo.edio(["accept", "feat"]).ok();
    repo.write("a", "unsaved\n");
    repo.edio_later(1, ["restore", "1", "--session", &id]).ok();
    assert_eq!(repo.read("a"), "1\n");
    repo.edio_later(2, ["undo"]).ok();
    assert_eq!(repo.read("a"), "unsaved\n");
    repo.edio_later(3, ["redo"]).ok();
    assert_eq!(repo.read("a"), "1\n");
    assert_eq!(repo.git(["log", "--format=%s"]), "feat\nbase");
}

#[test]
fn p5_a_restore_from_an_archived_session_is_taken_back_though_the_scratch_folder_is_lost() {
    let repo = turns(&["1", "2"]);
    let id = repo.sessions("active").remove(0);
    repo.edio(["accept", "feat"]).ok();
    repo.write("a", "unsaved\n");
    repo.edio_later(1, ["restore", "1", "--session", &id]).ok();
    repo.remove(".git/edio");
    repo.edio_later(2, ["undo"]).ok();
    assert_eq!(repo.read("a"), "unsaved\n");
    assert_eq!(repo.git(["log", "--format=%s"]), "feat\nbase");
}

// --- the session that was begun since ---

const ENDS: [&[&str]; 2] = [&["accept", "feat"], &["sessions", "--close"]];

/// A session that was ended, and the next one, which began with work of the person's that is in no turn.
fn begun_since(end: &[&str]) -> Repo {
    let repo = turns(&["session"]);
    repo.edio(end).ok();
    repo.write("b", "precious\n");
    repo.claude_says("UserPromptSubmit", json!({"prompt": "go on"}));
    repo
}

#[test]
fn p4_where_the_next_session_began_is_not_lost_with_what_was_done_since() {
    for end in ENDS {
        let repo = begun_since(end);
        repo.write("b", "agent\n");
        let head = repo.git(["rev-parse", "HEAD"]);
        let ran = repo.edio(["undo"]);
        let said = "your unsaved work is turn 1\nundone: turn 1 (Before going back); the work tree is as turn 0";
        assert!(ran.ok().stderr.contains(said), "{ran}");
        assert_eq!(repo.read("b"), "precious\n");
        assert_eq!(repo.git(["rev-parse", "HEAD"]), head);
        repo.edio(["undo"]).ok();
        assert_eq!(repo.git(["log", "--format=%s"]), "base");
        assert_eq!(repo.read("b"), "precious\n");
        for content in ["precious\n", "agent\n"] {
            assert!(repo.is_kept(content), "{content} is lost");
        }
        repo.edio(["redo"]).ok();
        assert_eq!(repo.git(["rev-parse", "HEAD"]), head);
        repo.edio(["redo"]).ok();
        assert_eq!(repo.read("b"), "agent\n");
        repo.fsck();
    }
}

#[test]
fn p4_where_the_next_session_began_is_kept_though_nothing_was_done_in_it() {
    for end in ENDS {
        let repo = begun_since(end);
        let next = repo.sessions("active");
        repo.edio(["undo"]).ok();
        assert_eq!(repo.git(["log", "--format=%s"]), "base");
        repo.write("b", "written over\n");
        assert!(repo.is_kept("precious\n"));
        repo.edio(["redo"]).ok();
        assert_eq!(repo.sessions("active"), next);
        repo.edio(["restore", "0"]).ok();
        assert_eq!(repo.read("b"), "precious\n");
    }
}

#[test]
fn p4_a_killed_run_after_an_accept_is_taken_back_to_where_it_began() {
    let repo = turns(&["session"]);
    repo.edio(["accept", "feat"]).ok();
    repo.write("b", "precious\n");
    let ran = repo.edio(["run", "--", "sh", "-c", "echo agent > b; kill -9 $PPID"]);
    assert_eq!(ran.code, None, "{ran}");
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("b"), "precious\n");
    assert_eq!(repo.git(["log", "--format=%s"]), "feat\nbase");
    assert!(repo.is_kept("agent\n"));
}

#[test]
fn as_many_redos_as_undos_lead_back_through_several_sessions() {
    for end in ENDS {
        let repo = turns(&[]);
        let state = || {
            let sessions = repo.sessions("active");
            (repo.manifest(), repo.git(["rev-parse", "HEAD"]), sessions)
        };
        let mut states = Vec::new();
        let mut at = 0;
        for content in ["one", "two", "three"] {
            repo.write("a", content);
            repo.edio_later(at, ["snapshot", "-m", content]).ok();
            states.push(state());
            if content != "three" {
                repo.edio_later(at + 1, end).ok();
            }
            at += 2;
        }
        let mut undone = 0;
        for _ in 0..2 {
            while repo.read("a") != "base\n" {
                repo.edio_later(at, ["undo"]).ok();
                (at, undone) = (at + 1, undone + 1);
            }
            for _ in 0..undone {
                repo.edio_later(at, ["redo"]).ok();
                at += 1;
            }
            assert_eq!(state(), *states.last().unwrap());
            says_no(&repo, "redo", 1, &["nothing to redo"]);
            undone = 0;
        }
        repo.fsck();
    }
}

/// The second undo finds work that no turn holds, and nothing else in the session.
#[test]
fn unsaved_work_between_undos_does_not_end_the_way_forward() {
    for end in ENDS {
        let repo = turns(&["session"]);
        repo.edio(end).ok();
        repo.write("y", "y\n");
        repo.edio_later(1, ["snapshot", "-m", "next"]).ok();
        let (head, files) = (repo.git(["rev-parse", "HEAD"]), repo.manifest());
        repo.edio_later(2, ["undo"]).ok();
        repo.write("new", "new\n");
        let between = repo.manifest();
        repo.edio_later(3, ["undo"]).ok();
        assert!(!repo.has("new"));
        repo.edio_later(4, ["undo"]).ok();
        assert_eq!(repo.git(["log", "--format=%s"]), "base");
        repo.edio_later(5, ["redo"]).ok();
        assert_eq!(repo.git(["rev-parse", "HEAD"]), head);
        repo.edio_later(6, ["redo"]).ok();
        assert_eq!(repo.manifest(), between);
        repo.edio_later(7, ["redo"]).ok();
        assert_eq!(repo.manifest(), files);
        says_no(&repo, "redo", 1, &["nothing to redo"]);
    }
}

#[test]
fn what_the_next_session_had_left_is_not_said_to_be_unsaved() {
    let repo = turns(&[]);
    repo.write("b", "mine\n");
    repo.edio(["run", "--", "sh", "-c", "echo one > a"]).ok();
    repo.edio_later(1, ["accept", "one"]).ok();
    repo.write("a", "two\n");
    repo.edio_later(2, ["snapshot"]).ok();
    repo.edio_later(3, ["undo"]).ok();
    repo.edio_later(4, ["undo"]).ok();
    let ran = repo.edio_later(5, ["undo"]);
    assert!(!ran.ok().stderr.contains("unsaved"), "{ran}");
    assert_eq!(
        [repo.read("a"), repo.read("b")],
        ["base\n", "mine\n"],
        "{ran}"
    );
    repo.edio_later(6, ["redo"]).ok();
    assert_eq!(repo.read("b"), "base\n", "as the second undo had left it");
    repo.write("b", "other\n");
    let ran = repo.edio_later(7, ["undo"]);
    assert!(ran.ok().stderr.contains("your unsaved work is turn 3"));
}

#[test]
fn what_ignore_rules_had_an_undo_leave_does_not_end_the_way_forward() {
    let repo = turns(&["session"]);
    repo.edio(["accept", "feat"]).ok();
    repo.write("d/x", "x\n");
    repo.edio_later(1, ["snapshot", "-m", "important"]).ok();
    repo.write(".gitignore", "d\n");
    repo.write("w", "w\n");
    let files = repo.manifest();
    repo.edio_later(2, ["undo"]).ok();
    assert!(repo.has("d/x") && !repo.has("w"));
    repo.edio_later(3, ["undo"]).ok();
    assert!(!repo.has("d/x"));
    repo.edio_later(4, ["redo"]).ok();
    repo.edio_later(5, ["redo"]).ok();
    assert_eq!(repo.manifest(), files);
}

#[test]
fn what_goes_on_after_an_accepted_turn_is_done_again_too() {
    let repo = turns(&["1", "2"]);
    repo.edio(["accept", "--turn", "1", "feat"]).ok();
    repo.write("b", "3\n");
    repo.edio_later(1, ["snapshot", "-m", "3"]).ok();
    let (files, next) = (repo.manifest(), repo.sessions("active"));
    repo.edio_later(2, ["undo"]).ok();
    repo.edio_later(3, ["undo"]).ok();
    assert_ne!(repo.sessions("active"), next);
    repo.edio_later(4, ["redo"]).ok();
    repo.edio_later(5, ["redo"]).ok();
    assert_eq!((repo.manifest(), repo.sessions("active")), (files, next));
}

#[test]
fn of_an_accept_and_a_close_in_the_same_second_the_last_one_is_taken_back() {
    let repo = turns(&["1", "2"]);
    repo.edio(["accept", "--turn", "1", "feat"]).ok();
    repo.edio(["sessions", "--close"]).ok();
    assert!(repo.edio(["undo"]).ok().stderr.contains("undone: close"));
    let repo = turns(&["1"]);
    repo.edio(["sessions", "--close"]).ok();
    repo.write("a", "2\n");
    repo.edio(["snapshot"]).ok();
    repo.edio(["accept", "feat"]).ok();
    assert!(repo.edio(["undo"]).ok().stderr.contains("undone: accept"));
}

#[test]
fn a_turn_after_an_undo_of_an_accept_ends_the_way_to_the_next_session() {
    let repo = turns(&["session"]);
    repo.edio(["accept", "feat"]).ok();
    repo.write("b", "next\n");
    repo.edio_later(1, ["snapshot", "-m", "next"]).ok();
    repo.edio_later(2, ["undo"]).ok();
    repo.edio_later(3, ["undo"]).ok();
    repo.write("c", "other\n");
    repo.edio_later(4, ["snapshot", "-m", "other"]).ok();
    says_no(&repo, "redo", 1, &["nothing to redo"]);
    assert!(repo.is_kept("next\n"));
}

// --- a model ---

#[derive(Clone, Debug)]
enum Act {
    Snapshot,
    Restore(usize),
    RestorePath(usize, &'static str),
    Undo,
    Redo,
    Forget,
}

type Tree = BTreeMap<&'static str, u8>;

fn act() -> impl Strategy<Value = (Vec<(&'static str, Option<u8>)>, Act)> {
    let path = || prop::sample::select(vec!["a", "b", "d/x", "d/y"]);
    let edits = prop::collection::vec((path(), prop::option::of(0..3_u8)), 0..3);
    let act = prop_oneof![
        3 => Just(Act::Snapshot),
        3 => (0..9_usize).prop_map(Act::Restore),
        2 => (0..9_usize, path()).prop_map(|(turn, path)| Act::RestorePath(turn, path)),
        6 => Just(Act::Undo),
        4 => Just(Act::Redo),
        1 => Just(Act::Forget),
    ];
    // Most undos follow one another at once: unsaved edits between them are the exception.
    (prop_oneof![3 => Just(Vec::new()), 2 => edits], act)
}

/// What the work tree and the session must be. A turn is its number; 0 is the start.
struct Model {
    repo: Repo,
    disk: Tree,
    turns: Vec<Tree>,
    current: usize,
    /// What can be taken back, and done again: the turn that the work tree equals then.
    done: Vec<usize>,
    undone: Vec<usize>,
    begun: bool,
}

impl Model {
    fn new() -> Self {
        let disk = Tree::from([("a", 0), ("d/x", 0)]);
        Self {
            repo: Repo::with(&[("a", "0"), ("d/x", "0")]),
            turns: vec![disk.clone()],
            disk,
            current: 0,
            done: Vec::new(),
            undone: Vec::new(),
            begun: false,
        }
    }

    fn edit(&mut self, path: &'static str, content: Option<u8>) {
        match content {
            Some(byte) => {
                self.repo.write(path, byte.to_string());
                self.disk.insert(path, byte);
            }
            None if self.disk.remove(path).is_some() => self.repo.remove(path),
            None => {}
        }
    }

    fn take(&mut self) {
        self.turns.push(self.disk.clone());
        self.current = self.turns.len() - 1;
    }

    fn did(&mut self, before: usize) {
        self.done.push(before);
        self.undone.clear();
    }

    /// Takes what is unsaved as a turn. It counts as one but before an undo or a redo.
    fn save(&mut self) -> bool {
        let unsaved = self.disk != self.turns[self.current];
        if unsaved {
            self.take();
        }
        unsaved
    }

    fn save_and_count(&mut self) {
        let before = self.current;
        if self.save() {
            self.did(before);
        }
    }

    fn act(&mut self, act: &Act) {
        match act {
            Act::Snapshot => {
                self.repo.edio(["snapshot"]).ok();
                let before = self.current;
                self.take();
                self.did(before);
                self.begun = true;
            }
            Act::Forget => drop(fs::remove_dir_all(self.repo.path(".git/edio"))),
            Act::Undo => self.go("undo"),
            Act::Redo => self.go("redo"),
            _ if !self.begun => {}
            Act::Restore(turn) => {
                let turn = turn % self.turns.len();
                self.repo.edio(["restore", &turn.to_string()]).ok();
                self.save_and_count();
                if turn != self.current {
                    self.did(self.current);
                }
                (self.disk, self.current) = (self.turns[turn].clone(), turn);
            }
            Act::RestorePath(turn, path) => {
                let turn = turn % self.turns.len();
                let words = ["restore", &turn.to_string(), "-f", path];
                let Some(byte) = self.turns[turn].get(path).copied() else {
                    self.repo.edio(words).fails(1);
                    return;
                };
                self.repo.edio(words).ok();
                self.save_and_count();
                if self.disk.insert(path, byte) != Some(byte) {
                    self.did(self.current);
                    self.take();
                }
            }
        }
    }

    fn go(&mut self, word: &str) {
        let (from, to) = match word {
            "undo" => (&mut self.done, &mut self.undone),
            _ => (&mut self.undone, &mut self.done),
        };
        let Some(target) = from.pop() else {
            self.repo.edio([word]).fails(1);
            return;
        };
        to.push(0);
        self.repo.edio([word]).ok();
        self.save();
        let back = match word {
            "undo" => &mut self.undone,
            _ => &mut self.done,
        };
        *back.last_mut().unwrap() = self.current;
        (self.disk, self.current) = (self.turns[target].clone(), target);
    }

    fn check(&self, act: &Act) {
        let line =
            |(path, byte): (&&str, &u8)| format!("file {path:?} {:?}", byte.to_string().as_bytes());
        let lines: Vec<String> = self.disk.iter().map(line).collect();
        assert_eq!(self.repo.manifest(), lines, "after {act:?}");
        assert_eq!(self.repo.turns(), self.turns.len() - 1, "after {act:?}");
    }
}

#[test]
fn what_a_restore_saved_that_had_nothing_to_do_is_taken_back_as_itself() {
    let repo = Repo::with(&[("a", "0"), ("d/x", "0")]);
    repo.edio(["snapshot"]).ok();
    repo.remove("a");
    repo.edio(["restore", "0"]).ok();
    repo.remove("d/x");
    repo.edio(["restore", "0", "-f", "a"]).ok();
    let undone = |what: &str| {
        let ran = repo.edio(["undo"]);
        assert!(
            ran.ok().stderr.contains(&format!("undone: {what}")),
            "{ran}"
        );
    };
    undone("turn 3 (Before restore 0 -f a)");
    assert!(repo.has("d/x"));
    undone("restore 0");
    assert!(!repo.has("a") && repo.has("d/x"));
}

/// Few cases, unless `PROPTEST_CASES` asks for more.
fn config() -> ProptestConfig {
    let asked = ProptestConfig::default();
    let cases = std::env::var_os("PROPTEST_CASES").map_or(8, |_| asked.cases);
    ProptestConfig {
        cases,
        max_shrink_iters: 100,
        ..asked
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn p3_undo_and_redo_are_two_stacks(acts in prop::collection::vec(act(), 12)) {
        let mut model = Model::new();
        for (edits, act) in &acts {
            for (path, content) in edits {
                model.edit(path, *content);
            }
            model.act(act);
            model.check(act);
        }
    }

    #[test]
    fn p4_as_many_redos_as_undos_lead_back_with_unsaved_work_at_any_point(
        ends in prop::collection::vec(0..ENDS_OF_ALL_KINDS.len(), 2),
        unsaved in prop::collection::vec(any::<bool>(), 30),
    ) {
        let mut way = Way::through(&ends);
        let mut unsaved = unsaved.into_iter();
        for _ in 0..2 {
            way.back(&mut unsaved);
            way.forward();
        }
    }
}

const ENDS_OF_ALL_KINDS: [&[&str]; 3] = [ENDS[0], ENDS[1], &["accept", "--turn", "1", "feat"]];

/// A way back through several sessions, and forward again.
struct Way {
    repo: Repo,
    seconds: i64,
    /// What the undos began from, the files and HEAD, and whether each led beyond a session.
    left: Vec<(Vec<String>, String, bool)>,
}

impl Way {
    fn through(ends: &[usize]) -> Self {
        let (repo, left) = (turns(&[]), Vec::new());
        let mut way = Self {
            repo,
            left,
            seconds: 0,
        };
        for (at, end) in ends.iter().map(Some).chain([None]).enumerate() {
            way.repo.write("a", format!("{at}\n"));
            way.edio(&["snapshot"]).ok();
            if let Some(end) = end {
                way.edio(ENDS_OF_ALL_KINDS[*end]).ok();
            }
        }
        way
    }

    fn edio(&mut self, words: &[&str]) -> Ran {
        self.seconds += 1;
        self.repo.edio_later(self.seconds, words)
    }

    fn state(&self) -> (Vec<String>, String) {
        (self.repo.manifest(), self.repo.git(["rev-parse", "HEAD"]))
    }

    /// As far as it goes, with unsaved work before some of the undos. None of it is lost.
    fn back(&mut self, unsaved: &mut impl Iterator<Item = bool>) {
        let mut written = Vec::new();
        loop {
            let (content, sessions) = (format!("unsaved {}\n", self.seconds), self.ids());
            if unsaved.next().unwrap_or(false) {
                self.repo.write("u", &content);
                written.push(content);
            }
            let (files, head) = self.state();
            if self.edio(&["undo"]).code == Some(1) {
                break;
            }
            self.left.push((files, head, sessions != self.ids()));
        }
        if self.repo.has("u") {
            self.repo.remove("u");
            written.pop();
        }
        for content in written {
            assert!(self.repo.is_kept(&content), "{content} is lost");
        }
    }

    fn ids(&self) -> Vec<String> {
        self.repo.sessions("active")
    }

    /// As many redos lead through the same states. One that ends a session leaves the files as they are.
    fn forward(&mut self) {
        while let Some((files, head, is_end)) = self.left.pop() {
            let stay = self.repo.manifest();
            self.edio(&["redo"]).ok();
            assert_eq!(self.state(), (if is_end { stay } else { files }, head));
        }
        says_no(&self.repo, "redo", 1, &["nothing to redo"]);
    }
}

/// To git it is absent, as it is told; only the turns know that it was deleted.
#[test]
fn p3_a_flagged_file_that_was_removed_stays_so_when_edio_begins_with_the_users_index() {
    let repo = Repo::with(&[("s", "0\n"), ("a", "0\n")]);
    repo.git(["update-index", "--skip-worktree", "s"]);
    repo.write("s", "mine\n");
    repo.write("a", "1\n");
    repo.edio(["snapshot"]).ok();
    repo.remove("s");
    repo.edio(["accept", "--all", "feat"]).ok();
    repo.edio(["undo"]).ok();
    let status = repo.edio(["status", "--json"]);
    assert_eq!(status.ok().json()[0]["unsaved"], json!([]), "{status}");
    repo.edio(["undo"]).ok();
    repo.edio(["redo"]).ok();
    assert!(!repo.has("s"));
    // Nor without edio's memory; and made again, it is held.
    repo.remove(".git/edio");
    repo.write("a", "2\n");
    let ran = repo.edio(["snapshot", "--json"]);
    assert_eq!(ran.ok().json()[0]["files"], 1, "{ran}");
    repo.write("s", "again\n");
    let ran = repo.edio(["snapshot", "--json"]);
    let turn = ran.ok().json()[0]["turn"].to_string();
    repo.remove("s");
    repo.edio(["restore", &turn]).ok();
    assert_eq!(repo.read("s"), "again\n");
}

/// Nobody knows who made a file that was to be left alone; the restore has not.
#[test]
fn p3_what_a_restore_left_alone_is_left_alone_by_its_undo() {
    let repo = Repo::with(&[("a", "0\n"), ("d/x", "0\n")]);
    repo.git(["rm", "-q", "--cached", "d/x"]);
    repo.git(["config", "edio.exclude", "d"]);
    repo.write("a", "1\n");
    repo.edio(["snapshot"]).ok();
    repo.edio(["restore", "0"]).ok();
    for words in ["undo", "redo", "undo"] {
        repo.edio([words]).ok();
        assert_eq!(repo.read("d/x"), "0\n", "{words}");
    }
}

#[test]
fn p3_an_ignored_file_comes_back_where_a_folder_is_emptied_for_it() {
    let repo = Repo::with(&[("a", "0\n")]);
    repo.write("q", "file\n");
    repo.edio(["snapshot"]).ok();
    repo.remove("q");
    repo.write("q/r", "folder\n");
    repo.edio(["snapshot"]).ok();
    repo.edio(["restore", "1"]).ok();
    repo.write(".gitignore", "*\n");
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("q/r"), "folder\n");
    repo.edio(["redo"]).ok();
    assert_eq!(repo.read("q"), "file\n");
    // Where the person has put something of theirs there, that stays, and is named.
    repo.edio(["undo"]).ok();
    repo.write("q/mine", "ignored\n");
    let ran = repo.edio(["redo"]);
    let said = "left alone: q (something else stands in its way)";
    assert!(ran.ok().stderr.contains(said), "{ran}");
    assert_eq!(repo.read("q/mine"), "ignored\n");
}
