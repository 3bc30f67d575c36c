//! What the user is in the middle of.

use super::{Stage, is_clean, stage_set};
use crate::common::Repo;

/// A merge that stops: changed on both sides, deleted here, deleted there, added twice.
fn conflict() -> Repo {
    let repo = stage_set();
    for path in ["both", "ours gone", "theirs gone", "swap/x"] {
        repo.write(path, "1\n");
    }
    repo.commit("more");
    repo.git(["switch", "-q", "-c", "theirs"]);
    repo.write("both", "theirs\n");
    repo.write("ours gone", "theirs\n");
    repo.remove("theirs gone");
    repo.write("added", "theirs\n");
    repo.commit("theirs");
    repo.git(["switch", "-q", "main"]);
    repo.write("both", "ours\n");
    repo.remove("ours gone");
    repo.write("theirs gone", "ours\n");
    repo.write("added", "ours\n");
    repo.commit("ours");
    assert!(!repo.git_says(["merge", "-q", "theirs"]));
    repo
}

#[test]
fn a_conflict_in_the_index() {
    let repo = conflict();
    let unmerged = repo.git(["ls-files", "-u"]);
    assert_eq!(
        repo.git(["diff", "--name-only", "--diff-filter=U"])
            .lines()
            .count(),
        4
    );
    let stage = Stage::at_top(&repo);
    stage.play();
    assert_eq!(repo.manifest_in(&repo.turn_ref(2)), repo.manifest());
    assert!(repo.in_turn(1, "both").unwrap().contains("<<<<<<<"));
    assert_eq!(repo.git(["ls-files", "-u"]), unmerged);
    let refused = stage.edio(&["accept", "no"]);
    assert!(refused.fails(3).stderr.contains("merge"), "{refused}");
    // Resolved on disk only, one by deleting it.
    repo.write("both", "resolved\n");
    repo.remove("ours gone");
    repo.remove("added");
    stage.edio(&["snapshot"]).ok();
    let last = repo.turns() as u32;
    assert_eq!(repo.manifest_in(&repo.turn_ref(last)), repo.manifest());
    stage.edio(&["restore", "1"]).ok();
    assert_eq!(repo.manifest_in(&repo.turn_ref(1)), repo.manifest());
    assert_eq!(repo.git(["ls-files", "-u"]), unmerged);
    assert!(repo.has(".git/MERGE_HEAD"));
    // Finished by the person: then the session can be accepted.
    stage.edio(&["restore", &last.to_string()]).ok();
    repo.commit("merged");
    repo.write("both", "after\n");
    stage.edio(&["accept", "after the merge", "--all"]).ok();
    assert_eq!(repo.git(["show", "HEAD:both"]), "after");
    repo.fsck();
}

#[test]
fn a_conflict_between_a_file_and_a_folder() {
    let repo = stage_set();
    repo.git(["switch", "-q", "-c", "theirs"]);
    repo.write("p", "a file\n");
    repo.commit("theirs");
    repo.git(["switch", "-q", "main"]);
    repo.write("p/x", "a folder\n");
    repo.commit("ours");
    assert!(!repo.git_says(["merge", "-q", "theirs"]));
    let stage = Stage::at_top(&repo);
    stage.play();
    assert_eq!(repo.manifest_in(&repo.turn_ref(2)), repo.manifest());
}

#[test]
fn in_the_middle_of_a_rebase() {
    let repo = conflict();
    repo.git(["merge", "--abort"]);
    assert!(!repo.git_says(["rebase", "-q", "theirs"]));
    let stage = Stage::at_top(&repo);
    stage.play();
    let refused = stage.edio(&["accept", "no"]);
    assert!(refused.fails(3).stderr.contains("rebase"), "{refused}");
    assert!(repo.has(".git/rebase-merge"));
    repo.git(["rebase", "--abort"]);
}

#[test]
fn in_the_middle_of_a_pick_a_revert_an_am_or_a_bisect() {
    for (name, begin, end) in [
        (
            "cherry-pick",
            &["cherry-pick", "theirs"][..],
            "cherry-pick --abort",
        ),
        (
            "revert",
            &["revert", "--no-edit", "HEAD~1"],
            "revert --abort",
        ),
        ("am", &["am", "-q", "-3", "../patch"], "am --abort"),
        (
            "bisect",
            &["bisect", "start", "HEAD", "HEAD~2"],
            "bisect reset",
        ),
    ] {
        let repo = stage_set();
        repo.git(["switch", "-q", "-c", "theirs"]);
        repo.write("other", "theirs\n");
        repo.commit("theirs");
        let patch = repo.git_raw(["format-patch", "-1", "--stdout"]);
        repo.write("../patch", patch);
        repo.git(["switch", "-q", "main"]);
        for content in ["ours\n", "ours again\n"] {
            repo.write("other", content);
            repo.commit("ours");
        }
        assert_eq!(repo.git_says(begin), name == "bisect", "{name}");
        let before = repo.git(["--no-optional-locks", "status"]);
        let stage = Stage::at_top(&repo);
        stage.play();
        stage.edio(&["restore", "1"]).ok();
        assert_eq!(
            repo.git(["--no-optional-locks", "status"]),
            before,
            "{name}"
        );
        stage.edio(&["restore", "2"]).ok();
        let refused = stage.edio(&["accept", "no"]);
        assert!(refused.fails(3).stderr.contains(name), "{refused}");
        // Given up by the person, who keeps what git keeps.
        repo.remove("story/deep");
        repo.write("story/changed", "1\n");
        repo.git(end.split(' '));
        stage.edio(&["restore", "2"]).ok();
        repo.git(["checkout", "-q", "HEAD", "other"]);
        // A bisect has worked on no branch: this turn is the branch's.
        stage.edio(&["snapshot"]).ok();
        stage.accept();
        is_clean(&repo);
    }
}

/// What a person does between two turns.
const MOVES: &[&[&str]] = &[
    &["switch", "-q", "-c", "topic"],
    &["stash", "push", "-q", "-u"],
    &["stash", "pop", "-q"],
    &["add", "-A"],
    &["commit", "-q", "-m", "own"],
    &["reset", "-q", "--soft", "HEAD^"],
    &["commit", "-q", "-m", "own, again"],
    &["rebase", "-q", "upstream"],
    &["reset", "-q", "--hard", "HEAD^"],
    &["switch", "-q", "main"],
    &["merge", "-q", "--no-edit", "topic"],
    &["checkout", "-q", "--detach", "topic"],
    &["rm", "-q", "-r", "story"],
    &["reset", "-q", "--hard"],
    &["clean", "-qfdx"],
    &["switch", "-q", "main"],
];

#[test]
fn whatever_the_user_does_between_turns_each_of_them_comes_back() {
    let repo = stage_set();
    repo.git(["switch", "-q", "-c", "upstream"]);
    repo.write("theirs", "t\n");
    repo.commit("upstream");
    repo.git(["switch", "-q", "main"]);
    repo.write("story/changed", "2\n");
    repo.write("new", "n\n");
    repo.edio(["snapshot"]).ok();
    let mut held = vec![repo.manifest()];
    for words in MOVES {
        repo.git(*words);
        let before = repo.git_files();
        repo.edio(["snapshot"]).ok();
        assert_eq!(repo.git_files(), before, "{words:?}");
        let turn = repo.turn_ref(repo.turns() as u32);
        assert_eq!(repo.manifest_in(&turn), repo.manifest(), "{words:?}");
        held.push(repo.manifest());
    }
    let before = repo.git_files();
    let last = repo.manifest();
    for (at, files) in held.iter().enumerate() {
        repo.edio(["restore", &(at + 1).to_string()]).ok();
        assert_eq!(&repo.manifest(), files, "turn {}", at + 1);
    }
    for _ in 0..held.len() - 1 {
        repo.edio(["undo"]).ok();
    }
    assert_eq!(repo.manifest(), held[0]);
    repo.edio(["restore", &held.len().to_string()]).ok();
    assert_eq!((repo.manifest(), repo.git_files()), (last, before));
    repo.fsck();
}
