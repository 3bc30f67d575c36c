//! Ignore rules that change between turns.

use std::fs;

use super::{Stage, is_clean, stage_set};
use crate::common::Repo;

/// Adds a rule to one of the places that git reads rules from.
fn add_rule(repo: &Repo, place: &str, rule: &str) {
    let excludes = repo.outside().join("excludes");
    match place {
        "core.excludesFile" => {
            fs::write(&excludes, rule).unwrap();
            repo.git(["config", place, excludes.to_str().unwrap()]);
        }
        place => repo.write(place, rule),
    }
}

#[test]
fn a_rule_that_comes_between_turns() {
    for place in [
        ".gitignore",
        "story/.gitignore",
        ".git/info/exclude",
        "core.excludesFile",
    ] {
        let repo = stage_set();
        repo.write("story/u.log", "1\n");
        repo.edio(["snapshot"]).ok();
        add_rule(&repo, place, "*.log\n");
        repo.write("story/later.log", "ignored from the start\n");
        repo.edio(["snapshot"]).ok();
        let held = |turn| repo.in_turn(turn, "story/u.log").is_some();
        assert_eq!((held(1), held(2)), (true, false), "{place}");
        repo.write("story/u.log", "edited while ignored\n");
        repo.edio(["restore", "1"]).ok();
        assert_eq!(repo.read("story/u.log"), "1\n", "{place}");
        assert!(repo.is_kept("edited while ignored\n"), "{place}");
        assert_eq!(
            repo.read("story/later.log"),
            "ignored from the start\n",
            "{place}"
        );
        repo.edio(["undo"]).ok();
        assert_eq!(
            repo.read("story/u.log"),
            "edited while ignored\n",
            "{place}"
        );
        let stage = Stage::at_top(&repo);
        repo.write("story/changed", "2\n");
        repo.write("story/deep/new", "new\n");
        stage.accept();
        assert_eq!(
            repo.read("story/u.log"),
            "edited while ignored\n",
            "{place}"
        );
        is_clean(&repo);
    }
}

#[test]
fn a_rule_that_goes_between_turns() {
    for place in [".gitignore", ".git/info/exclude", "core.excludesFile"] {
        let repo = stage_set();
        add_rule(&repo, place, "*.log\n");
        repo.write("u.log", "1\n");
        repo.edio(["snapshot"]).ok();
        add_rule(&repo, place, "\n");
        repo.edio(["snapshot"]).ok();
        assert_eq!(repo.in_turn(2, "u.log").as_deref(), Some("1\n"), "{place}");
        repo.edio(["restore", "1"]).ok();
        // What the rules of turn 1 protect stays. Those that lie outside the work tree are not known any more.
        assert_eq!(repo.has("u.log"), place == ".gitignore", "{place}");
        assert!(repo.is_kept("1\n"), "{place}");
        repo.edio(["restore", "2"]).ok();
        assert_eq!(repo.read("u.log"), "1\n", "{place}");
        assert_eq!(
            repo.manifest_in(&repo.turn_ref(2)),
            repo.manifest(),
            "{place}"
        );
    }
}

#[test]
fn a_rule_file_that_ignores_itself() {
    let repo = stage_set();
    repo.write("u.log", "1\n");
    repo.edio(["snapshot"]).ok();
    repo.write(".gitignore", "/.gitignore\n*.log\n");
    repo.edio(["snapshot"]).ok();
    assert_eq!(repo.in_turn(2, ".gitignore"), None);
    assert_eq!(repo.in_turn(2, "u.log"), None);
    let both = repo.manifest();
    for turn in ["1", "2", "0", "2"] {
        repo.edio(["restore", turn]).ok();
        assert_eq!(repo.manifest(), both, "turn {turn}: what is ignored stays");
    }
    repo.remove(".gitignore");
    repo.edio(["snapshot"]).ok();
    let before = repo.manifest();
    assert_eq!(
        repo.manifest_in(&repo.turn_ref(repo.turns() as u32)),
        before
    );
    // No turn holds the rule, so nothing protects the file any more: it goes, and comes back.
    repo.edio(["restore", "2"]).ok();
    assert!(!repo.has("u.log"));
    repo.edio(["undo"]).ok();
    assert_eq!(repo.manifest(), before);
}

#[test]
fn an_ignored_file_that_was_added_by_force() {
    let repo = stage_set();
    repo.write(".gitignore", "build/\n");
    repo.write("build/keep", "1\n");
    repo.write("build/scrap", "s\n");
    repo.git(["add", "-f", "build/keep"]);
    repo.commit("build");
    repo.edio(["snapshot"]).ok();
    repo.remove("build/keep");
    repo.edio(["snapshot"]).ok();
    repo.write("build/keep", "made again\n");
    repo.edio(["snapshot"]).ok();
    for (turn, content) in [
        ("2", None),
        ("1", Some("1\n")),
        ("3", Some("made again\n")),
        ("2", None),
    ] {
        repo.edio(["restore", turn]).ok();
        assert_eq!(repo.has("build/keep"), content.is_some(), "turn {turn}");
        if let Some(content) = content {
            assert_eq!(repo.read("build/keep"), content, "turn {turn}");
        }
        assert_eq!(repo.read("build/scrap"), "s\n");
    }
    repo.edio(["restore", "3"]).ok();
    repo.write("story/changed", "2\n");
    repo.write("story/deep/new", "new\n");
    Stage::at_top(&repo).accept();
    assert_eq!(
        repo.git(["ls-tree", "-r", "--name-only", "HEAD", "build"]),
        "build/keep"
    );
    is_clean(&repo);
}
