//! Several work trees of one repository.

use std::fs;
use std::path::Path;

use super::{Stage, is_clean, stage_set};
use crate::common::Repo;

#[test]
fn linked_work_trees_have_a_session_each() {
    let mut repo = stage_set();
    let (main, linked) = (repo.top.clone(), repo.outside().join("linked"));
    repo.git([
        "worktree",
        "add",
        "-q",
        "-b",
        "topic",
        linked.to_str().unwrap(),
    ]);
    Stage::at_top(&repo).play();
    let main_files = repo.manifest();
    repo.top = linked.clone();
    let stage = Stage::at_top(&repo);
    stage.play();
    assert_eq!(repo.manifest_of(&main), main_files);
    let sessions = repo.edio(["log", "--all", "--json"]);
    let worktrees: std::collections::BTreeSet<_> = sessions
        .ok()
        .json()
        .iter()
        .map(|turn| turn["worktree"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(worktrees.into_iter().collect::<Vec<_>>(), [".", "linked"]);
    // Each forgets, and each finds its own again.
    repo.remove(linked.join("../repo/.git/edio"));
    repo.remove(linked.join("../repo/.git/worktrees/linked/edio"));
    let session = |folder: &Path| {
        let status = repo.edio_in(folder, ["status", "--json"]);
        status.ok().json()[0]["session"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_ne!(session(&main), session(&linked));
    stage.accept();
    assert_eq!(
        repo.git(["log", "-1", "--format=%s", "topic"]),
        "feat: the story"
    );
    assert_eq!(repo.git(["log", "-1", "--format=%s", "main"]), "base");
    is_clean(&repo);
    // The other one goes on as if nothing had been.
    repo.edio_in(&main, ["restore", "1"]).ok();
    assert_eq!(
        fs::read_to_string(main.join("story/changed")).unwrap(),
        "1\n"
    );
    assert_eq!(repo.read("story/changed"), "2\n");
}

#[test]
fn a_turn_of_another_work_trees_session_comes_back_here_and_leaves_that_session_alone() {
    let mut repo = stage_set();
    let (main, linked) = (repo.top.clone(), repo.outside().join("linked"));
    repo.git([
        "worktree",
        "add",
        "-q",
        "-b",
        "topic",
        linked.to_str().unwrap(),
    ]);
    repo.write("other", "of main's turn 1\n");
    repo.edio(["snapshot"]).ok();
    let session = repo.turn_ref(1).split('/').nth(3).unwrap().to_owned();
    let refs_of_main = |repo: &Repo| {
        let refs = repo.edio_refs();
        refs.lines()
            .filter(|line| line.contains(&session))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let before = (
        refs_of_main(&repo),
        repo.everything_in("story"),
        repo.manifest(),
    );
    repo.top = linked;
    repo.write("mine", "never saved\n");
    repo.edio(["--session", &session, "restore", "1"]).ok();
    assert_eq!(repo.read("other"), "of main's turn 1\n");
    assert!(!repo.has("mine"));
    assert!(repo.is_kept("never saved\n"));
    repo.write("other", "own work\n");
    repo.edio(["snapshot"]).ok();
    repo.edio(["restore", "0"]).ok();
    assert_eq!(
        repo.read("mine"),
        "never saved\n",
        "turn 0 is where this session began"
    );
    repo.top = main;
    assert_eq!(
        (
            refs_of_main(&repo),
            repo.everything_in("story"),
            repo.manifest()
        ),
        before
    );
}

#[test]
fn a_linked_work_tree_inside_is_named_and_left_alone() {
    let repo = stage_set();
    repo.git(["worktree", "add", "-q", "inner/tree"]);
    repo.write("inner/tree/mine", "1\n");
    let ran = repo.edio(["snapshot"]);
    assert!(ran.ok().stderr.contains("inner/tree"), "{ran}");
    let before = repo.everything_in("inner");
    Stage::at_top(&repo).edio(&["restore", "0"]).ok();
    assert_eq!(repo.everything_in("inner"), before);
    repo.edio_in("inner/tree", ["snapshot"]).ok();
    repo.remove("inner/tree/mine");
    repo.edio_in("inner/tree", ["restore", "1"]).ok();
    assert_eq!(repo.read("inner/tree/mine"), "1\n");
}

#[test]
fn a_linked_work_tree_of_a_bare_repository() {
    let mut repo = stage_set();
    let bare = repo.outside().join("bare.git");
    repo.git(["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let linked = repo.outside().join("linked");
    repo.git_in(
        &bare,
        ["worktree", "add", "-q", linked.to_str().unwrap(), "main"],
    );
    repo.top = linked;
    let stage = Stage::at_top(&repo);
    stage.play();
    stage.accept();
    is_clean(&repo);
    repo.edio_in(&bare, ["snapshot"]).fails(4);
}

#[test]
fn the_session_of_a_removed_work_tree_stays_for_the_others() {
    for by_git in [true, false] {
        let repo = stage_set();
        let linked = repo.outside().join("linked");
        let folder = linked.to_str().unwrap();
        repo.git(["worktree", "add", "-q", folder]);
        fs::write(linked.join("other"), "of the linked one\n").unwrap();
        repo.edio_in(&linked, ["snapshot"]).ok();
        let session = repo.sessions("active").remove(0);
        repo.write("story/changed", "2\n");
        repo.edio(["snapshot"]).ok();
        if by_git {
            repo.git(["worktree", "remove", "--force", folder]);
        } else {
            fs::remove_dir_all(&linked).unwrap();
            // Gone already, and git has not noticed.
            repo.edio(["sessions"]).ok();
            repo.edio(["snapshot"]).ok();
            repo.git(["worktree", "prune"]);
        }
        let before = repo.git_files();
        repo.edio(["--session", &session, "restore", "1"]).ok();
        assert_eq!(repo.read("other"), "of the linked one\n");
        assert_eq!(repo.read("story/changed"), "1\n");
        repo.edio(["undo"]).ok();
        assert_eq!(repo.read("story/changed"), "2\n");
        assert_eq!(repo.git_files(), before);
        repo.edio(["accept", "two"]).ok();
        is_clean(&repo);
        repo.fsck();
    }
}
