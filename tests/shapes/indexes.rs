//! What the index says, and how it is written.

use super::{Stage, is_clean, stage_set};
use crate::common::Repo;

#[test]
fn no_commit_yet_and_something_staged() {
    let repo = Repo::unborn();
    repo.write("story/changed", "staged\n");
    repo.git(["add", "story"]);
    repo.write("story/changed", "1\n");
    Stage::at_top(&repo).play();
    assert_eq!(repo.git(["show", ":story/changed"]), "staged");
}

#[test]
fn an_index_of_every_format() {
    for settings in [
        &["index.version=4", "index.skipHash=true"][..],
        &["core.untrackedCache=true"],
        &["core.splitIndex=true"],
        &["core.sharedRepository=group"],
        &[
            "core.splitIndex=true",
            "splitIndex.maxPercentChange=0",
            "core.untrackedCache=true",
        ],
    ] {
        let repo = stage_set();
        for setting in settings {
            let (name, value) = setting.split_once('=').unwrap();
            repo.git(["config", name, value]);
        }
        repo.git(["update-index", "--force-write-index"]);
        repo.write("staged", "s\n");
        repo.git(["add", "staged"]);
        repo.git(["status"]);
        let stage = Stage::at_top(&repo);
        stage.play();
        assert_eq!(repo.git(["diff", "--cached", "--name-only"]), "staged");
        stage.accept();
        is_clean(&repo);
    }
}

#[test]
fn without_an_index_file() {
    let repo = stage_set();
    repo.remove(".git/index");
    Stage::at_top(&repo).play();
    assert!(!repo.has(".git/index"));
}

#[test]
fn staged_and_half_staged() {
    let repo = stage_set();
    for path in ["half", "staged", "removed", "renamed"] {
        repo.write(path, "1\n");
    }
    repo.commit("more");
    repo.write("half", "staged\n");
    repo.write("staged", "staged\n");
    repo.write("added", "staged\n");
    repo.git(["add", "half", "staged", "added"]);
    repo.write("half", "staged, and edited\n");
    repo.git(["rm", "-q", "removed"]);
    repo.git(["mv", "renamed", "other name"]);
    repo.write("intended", "i\n");
    repo.git(["add", "-N", "intended"]);
    let staged = repo.git(["ls-files", "-s", "--debug"]);
    let stage = Stage::at_top(&repo);
    stage.play();
    assert_eq!(repo.git(["ls-files", "-s", "--debug"]), staged);
    assert_eq!(
        repo.in_turn(1, "half").as_deref(),
        Some("staged, and edited\n")
    );
    stage.edio(&["restore", "0"]).ok();
    assert_eq!(
        repo.git(["ls-files", "-s", "--debug"]),
        staged,
        "turn 0 is HEAD, and the index is the person's"
    );
}

#[test]
fn flagged_and_intended_entries() {
    let repo = stage_set();
    for path in ["assumed", "skipped", "absent"] {
        repo.write(path, "1\n");
    }
    repo.commit("more");
    repo.write("intended", "i\n");
    repo.git(["add", "-N", "intended"]);
    repo.git(["update-index", "--assume-unchanged", "assumed"]);
    repo.git(["update-index", "--skip-worktree", "skipped", "absent"]);
    repo.write("assumed", "hidden edit\n");
    repo.write("skipped", "hidden edit\n");
    repo.remove("absent");
    let flags = || repo.git(["ls-files", "-v"]);
    let before = flags();
    let stage = Stage::at_top(&repo);
    stage.play();
    assert_eq!(repo.in_turn(2, "assumed").as_deref(), Some("hidden edit\n"));
    assert_eq!(repo.in_turn(2, "skipped").as_deref(), Some("hidden edit\n"));
    assert_eq!(repo.in_turn(2, "intended").as_deref(), Some("i\n"));
    stage.edio(&["restore", "0"]).ok();
    assert_eq!(repo.read("assumed"), "1\n");
    assert!(!repo.has("intended"));
    stage.edio(&["restore", "2"]).ok();
    assert_eq!(flags(), before);
    stage.accept();
    let plain = |line: &&str| line.starts_with("H ");
    let rest = |flags: &str| flags.lines().filter(|line| !plain(line)).count();
    assert_eq!((rest(&flags()), rest(&before)), (3, 3));
}

#[test]
fn an_index_that_trusts_a_monitor() {
    let repo = stage_set();
    // It says that nothing changed, whatever did: the user's git believes it, and edio looks for itself.
    let monitor = repo.outside().join("monitor");
    repo.write(&monitor, "#!/bin/sh\nprintf 'token\\0'\n");
    repo.chmod(&monitor, 0o755);
    repo.git(["config", "core.fsmonitor", monitor.to_str().unwrap()]);
    repo.git(["config", "core.untrackedCache", "true"]);
    repo.git(["update-index", "--fsmonitor"]);
    repo.git(["status"]);
    repo.git(["status"]);
    repo.write("story/changed", "an edit that git does not see\n");
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    repo.edio(["snapshot"]).ok();
    assert_eq!(repo.manifest_in(&repo.turn_ref(1)), repo.manifest());
    repo.edio(["restore", "0"]).ok();
    assert_eq!(repo.read("story/changed"), "1\n");
    Stage::at_top(&repo).edio(&["undo"]).ok();
    assert_eq!(
        repo.read("story/changed"),
        "an edit that git does not see\n"
    );
    let before = repo.git_files();
    repo.edio(["restore", "0"]).ok();
    assert_eq!(repo.git_files(), before);
}
