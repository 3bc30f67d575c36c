//! Repositories within the work tree.

use std::fs;
use std::time::{Duration, SystemTime};

use super::{Repo, Stage, another, commit_in, is_clean, stage_set};

#[test]
fn a_nested_repository_is_named_and_left_alone() {
    for with_commit in [true, false] {
        let repo = stage_set();
        repo.git(["init", "-q", "lib/nested"]);
        repo.write("lib/nested/x", "theirs\n");
        if with_commit {
            commit_in(&repo, &repo.path("lib/nested"), "theirs");
        }
        repo.write("lib/mine", "mine\n");
        let ran = repo.edio(["snapshot", "--json"]);
        let skipped = ran.ok().json()[0]["skipped"].clone();
        assert_eq!(skipped[0]["path"], "lib/nested", "{ran}");
        repo.edio(["restore", "0"]).ok();
        assert!(!repo.has("lib/mine"));
        repo.edio(["restore", "1"]).ok();
        assert_eq!(repo.in_turn(1, "lib/mine").as_deref(), Some("mine\n"));
        let before = repo.everything_in("lib/nested");
        repo.write("story/changed", "2\n");
        let said = repo.edio(["snapshot"]);
        assert!(said.ok().stderr.contains("lib/nested"), "{said}");
        for turn in ["0", "1", "2"] {
            repo.edio(["restore", turn]).ok();
            assert_eq!(
                repo.everything_in("lib/nested"),
                before,
                "turn {turn}, with commit: {with_commit}"
            );
        }
        assert_eq!(
            repo.git(["ls-tree", "-r", "--name-only", &repo.turn_ref(2)]),
            "lib/mine\nother\nstory/changed"
        );
        repo.edio(["accept", "done"]).ok();
        assert_eq!(repo.everything_in("lib/nested"), before);
        assert_eq!(repo.git(["ls-files", "lib"]), "lib/mine");
    }
}

#[test]
fn a_folder_that_becomes_a_repository_is_named_and_left_alone() {
    let repo = stage_set();
    repo.write("lib/x", "1\n");
    repo.edio(["snapshot"]).ok();
    repo.git(["init", "-q", "lib"]);
    let ran = repo.edio(["snapshot"]);
    assert!(ran.ok().stderr.contains("lib"), "{ran}");
    let tree = |turn| repo.git(["rev-parse", &format!("{}^{{tree}}", repo.turn_ref(turn))]);
    repo.remove(".git/edio");
    let again = repo.edio(["snapshot"]);
    assert!(again.ok().stderr.contains("lib"), "{again}");
    assert_eq!(
        tree(3),
        tree(2),
        "the same work tree, whatever edio remembers of it"
    );
    let before = repo.everything_in("lib");
    repo.edio(["restore", "0"]).ok();
    assert_eq!(
        repo.everything_in("lib"),
        before,
        "a repository is left alone"
    );
    repo.write("lib/x", "theirs now\n");
    repo.edio(["restore", "1"]).fails(3);
    assert_eq!(repo.read("lib/x"), "theirs now\n");
}

#[test]
fn a_tracked_folder_that_becomes_a_repository_is_left_alone() {
    let repo = stage_set();
    repo.write("lib/x", "1\n");
    repo.write("lib/y", "1\n");
    repo.commit("lib");
    repo.edio(["snapshot"]).ok();
    repo.git(["init", "-q", "lib"]);
    repo.write("lib/x", "theirs now\n");
    repo.write("lib/new", "theirs\n");
    let ran = repo.edio(["snapshot"]);
    assert!(ran.ok().stderr.contains("lib"), "{ran}");
    let before = repo.everything_in("lib");
    repo.edio(["restore", "1"]).fails(3);
    assert_eq!(repo.everything_in("lib"), before);
    repo.edio(["restore", "2"]).ok();
    assert_eq!(repo.everything_in("lib"), before);
}

#[test]
fn a_nested_repository_that_lost_its_git_directory_is_not_removed() {
    let repo = stage_set();
    repo.git(["init", "-q", "lib"]);
    repo.write("lib/x", "1\n");
    repo.edio(["snapshot"]).ok();
    repo.remove("lib/.git");
    repo.edio(["snapshot"]).ok();
    assert_eq!(repo.in_turn(2, "lib/x").as_deref(), Some("1\n"));
    let ran = repo.edio(["restore", "1"]);
    assert!(ran.ok().stderr.contains("lib/x"), "{ran}");
    assert_eq!(repo.read("lib/x"), "1\n", "turn 1 named it as not held");
}

#[test]
fn a_nested_repository_that_lost_its_git_directory_is_held() {
    let repo = stage_set();
    repo.git(["init", "-q", "lib"]);
    repo.write("lib/x", "1\n");
    repo.git(["init", "-q", "third/deep"]);
    repo.write("third/deep/x", "1\n");
    // git trusts what it knows of a folder that was not changed within the second of the look.
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for folder in [".", "third"] {
        let folder = fs::File::open(repo.path(folder)).unwrap();
        folder.set_modified(long_ago).unwrap();
    }
    let ran = repo.edio(["snapshot"]);
    assert!(ran.ok().stderr.contains("lib"), "{ran}");
    repo.edio(["snapshot", "--if-changed"]).ok();
    repo.remove("lib/.git");
    repo.remove("third/deep/.git");
    repo.edio(["snapshot"]).ok();
    for path in ["lib/x", "third/deep/x"] {
        assert_eq!(repo.in_turn(2, path).as_deref(), Some("1\n"), "{path}");
    }
}

#[test]
fn a_submodule_is_named_and_left_alone() {
    let repo = stage_set();
    let other = another(&repo, "library");
    repo.git(["submodule", "add", "-q", other.to_str().unwrap(), "sub"]);
    repo.commit("sub");
    let ran = repo.edio(["snapshot", "--json"]);
    assert_eq!(ran.ok().json()[0]["skipped"][0]["path"], "sub", "{ran}");
    repo.write("sub/s", "edited in the submodule\n");
    repo.write("sub/new", "new in the submodule\n");
    repo.edio(["snapshot"]).ok();
    let commit = |turn| repo.git(["rev-parse", &format!("{}:sub", repo.turn_ref(turn))]);
    assert_eq!(commit(1), commit(2));
    commit_in(&repo, &repo.path("sub"), "moved on");
    repo.write("story/changed", "2\n");
    repo.edio(["snapshot"]).ok();
    assert_ne!(
        commit(3),
        commit(1),
        "a turn holds which commit it stands on"
    );
    let (files, git) = (repo.everything_in("sub"), repo.git_files());
    for turn in ["1", "2", "0", "3"] {
        let ran = repo.edio(["restore", turn]);
        ran.ok();
        assert_eq!(
            (repo.everything_in("sub"), repo.git_files()),
            (files.clone(), git.clone()),
            "turn {turn}"
        );
        if turn == "1" {
            assert!(
                ran.stderr.contains("sub") && ran.stderr.contains("submodule"),
                "{ran}"
            );
        }
    }
    assert_eq!(repo.read("story/changed"), "2\n");
    repo.edio(["accept", "moved"]).ok();
    assert_eq!(repo.everything_in("sub"), files);
    repo.fsck();
}

#[test]
fn p3_what_stands_in_the_place_of_a_submodule_is_a_file_like_others() {
    let repo = stage_set();
    let other = another(&repo, "library");
    repo.git(["submodule", "add", "-q", other.to_str().unwrap(), "sub"]);
    repo.commit("sub");
    repo.edio(["snapshot"]).ok();
    repo.remove("sub");
    for content in ["one\n", "two\n"] {
        repo.write("sub", content);
        let ran = repo.edio(["snapshot", "--json"]);
        assert_eq!(
            ran.ok().json()[0]["skipped"],
            serde_json::json!([]),
            "{ran}"
        );
    }
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("sub"), "one\n");
    repo.edio(["redo"]).ok();
    assert_eq!(repo.read("sub"), "two\n");
    repo.edio(["restore", "2", "-f", "sub"]).ok();
    assert_eq!(repo.read("sub"), "one\n");
}

#[test]
fn a_submodule_that_is_not_there() {
    let mut repo = stage_set();
    let other = another(&repo, "library");
    repo.git(["submodule", "add", "-q", other.to_str().unwrap(), "sub"]);
    repo.commit("sub");
    let clone = repo.outside().join("clone");
    repo.git(["clone", "-q", ".", clone.to_str().unwrap()]);
    repo.top = clone;
    let stage = Stage::at_top(&repo);
    stage.play();
    assert!(repo.has("sub") && fs::read_dir(repo.path("sub")).unwrap().count() == 0);
    assert!(repo.git_says([
        "rev-parse",
        "-q",
        "--verify",
        &format!("{}:sub", repo.turn_ref(2))
    ]));
    stage.accept();
    is_clean(&repo);
    // Its folder goes, and comes back as it can.
    repo.remove("sub");
    repo.edio(["snapshot"]).ok();
    repo.edio(["restore", "0"]).ok();
    repo.edio(["restore", "1"]).ok();
    repo.fsck();
}

#[test]
fn inside_a_submodule_it_is_a_repository_like_others() {
    let mut repo = stage_set();
    let other = another(&repo, "library");
    fs::create_dir(other.join("story")).unwrap();
    fs::write(other.join("story/changed"), "1\n").unwrap();
    commit_in(&repo, &other, "story");
    repo.git(["submodule", "add", "-q", other.to_str().unwrap(), "sub"]);
    repo.commit("sub");
    repo.edio(["snapshot"]).ok();
    let outer = repo.edio_refs();
    let above = repo.top.clone();
    repo.top = repo.path("sub");
    let stage = Stage::at_top(&repo);
    stage.play();
    stage.accept();
    is_clean(&repo);
    repo.top = above;
    assert_eq!(repo.edio_refs(), outer);
}

#[test]
fn a_submodule_where_a_turn_has_files_refuses() {
    let repo = stage_set();
    repo.write("sub/x", "1\n");
    repo.edio(["snapshot"]).ok();
    repo.remove("sub");
    let other = another(&repo, "library");
    repo.git(["submodule", "add", "-q", other.to_str().unwrap(), "sub"]);
    repo.edio(["snapshot"]).ok();
    let before = repo.everything_in("sub");
    let ran = repo.edio(["restore", "1"]);
    assert!(ran.fails(3).stderr.contains("sub"), "{ran}");
    assert_eq!(repo.everything_in("sub"), before);
    // Without a path of that turn in there, it stays where it is.
    repo.edio(["restore", "0"]).ok();
    assert_eq!(repo.everything_in("sub"), before);
}

#[test]
fn a_repository_in_the_place_of_a_file_is_named_by_the_first_turn_that_lacks_the_file() {
    for place in ["a", "d", "new"] {
        let repo = Repo::with(&[("a", "a\n"), ("d/f", "f\n")]);
        repo.write("new", "new\n");
        repo.edio(["snapshot"]).ok();
        repo.remove(place);
        repo.git(["init", "-q", place]);
        repo.write(format!("{place}/precious"), "theirs\n");
        for _ in 0..2 {
            let ran = repo.edio(["snapshot"]);
            let said = format!("not in it: {place}");
            assert!(ran.ok().stderr.contains(&said), "{place}: {ran}");
        }
        repo.edio(["restore", "1"]).fails(3);
        assert_eq!(repo.read(format!("{place}/precious")), "theirs\n");
    }
}

#[test]
fn nested_repositories_that_come_and_go_between_turns() {
    for with_commit in [true, false] {
        let repo = stage_set();
        repo.write("lib/mine", "1\n");
        repo.edio(["snapshot"]).ok();
        let without = repo.manifest();
        repo.git(["init", "-q", "lib/nested"]);
        repo.write("lib/nested/x", "theirs\n");
        if with_commit {
            commit_in(&repo, &repo.path("lib/nested"), "theirs");
        }
        let ran = repo.edio(["snapshot"]);
        assert!(ran.ok().stderr.contains("lib/nested"), "{ran}");
        let inside = repo.everything_in("lib/nested");
        repo.edio(["restore", "1"]).ok();
        assert_eq!(repo.everything_in("lib/nested"), inside);
        repo.remove("lib/nested");
        repo.edio(["snapshot"]).ok();
        assert_eq!(repo.manifest(), without);
        for turn in ["2", "1", "3"] {
            repo.edio(["restore", turn]).ok();
            assert_eq!(repo.manifest(), without, "turn {turn}");
        }
        repo.fsck();
    }
}

#[test]
fn a_submodule_that_comes_and_goes_between_turns() {
    let repo = stage_set();
    let other = another(&repo, "library");
    repo.edio(["snapshot"]).ok();
    repo.git(["submodule", "add", "-q", other.to_str().unwrap(), "sub"]);
    let ran = repo.edio(["snapshot"]);
    assert!(ran.ok().stderr.contains("sub"), "{ran}");
    repo.git(["commit", "-qm", "sub"]);
    repo.git(["rm", "-q", "-f", "sub"]);
    repo.edio(["snapshot"]).ok();
    let (git, without) = (repo.git_files(), repo.manifest());
    for (turn, has_rule) in [
        ("2", true),
        ("1", false),
        ("2", true),
        ("3", without.len() > 2),
    ] {
        repo.edio(["restore", turn]).ok();
        // Which commit it stood on is held, and where it came from. Its files are its own.
        assert!(!repo.has("sub/s"), "turn {turn}");
        assert_eq!(repo.has(".gitmodules"), has_rule, "turn {turn}");
        assert_eq!(repo.git_files(), git, "turn {turn}");
    }
    assert_eq!(repo.manifest(), without);
    repo.fsck();
}

#[test]
fn beside_a_dirty_submodule_the_story_is_the_same() {
    let repo = stage_set();
    let other = another(&repo, "library");
    repo.git(["submodule", "add", "-q", other.to_str().unwrap(), "sub"]);
    repo.commit("sub");
    repo.write("sub/s", "edited\n");
    repo.write("sub/new", "new\n");
    let before = repo.everything_in("sub");
    let stage = Stage::at_top(&repo);
    stage.play();
    stage.accept();
    assert_eq!(repo.everything_in("sub"), before);
    assert_eq!(repo.git(["status", "--porcelain"]), " M sub");
}
