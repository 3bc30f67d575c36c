//! What a turn can't hold: it is named, no turn tells of it as deleted, and nothing is done to it.

use super::common::{Ran, Repo};

/// The paths that a turn changed, as `show` tells them.
fn changed(repo: &Repo, turn: &str) -> Vec<String> {
    repo.give_away();
    let shown = repo.edio_without_rights(["show", turn, "--json"]);
    let record = &shown.ok().json()[0];
    let files = record["changes"].as_array().unwrap().iter();
    let path = |file: &serde_json::Value| file["path"].as_str().unwrap().to_owned();
    files.map(path).collect()
}

fn skipped(ran: &Ran) -> Vec<String> {
    let record = &ran.ok().json()[0];
    let skipped = record["skipped"].as_array().unwrap().iter();
    let path = |skipped: &serde_json::Value| skipped["path"].as_str().unwrap().to_owned();
    let mut paths: Vec<String> = skipped.map(path).collect();
    paths.sort();
    paths
}

/// A turn with a tracked and an untracked file, then the same two closed, and an edit elsewhere.
fn with_closed_files() -> Repo {
    let repo = Repo::with(&[("tracked", "0\n"), ("a", "0\n")]);
    repo.write("tracked", "1\n");
    repo.write("new", "1\n");
    repo.give_away();
    repo.edio_without_rights(["snapshot"]).ok();
    repo.write("a", "2\n");
    for path in ["tracked", "new"] {
        repo.chmod(path, 0o000);
    }
    repo
}

fn open(repo: &Repo) {
    for path in ["tracked", "new"] {
        repo.chmod(path, 0o644);
    }
}

#[test]
fn p2_what_can_not_be_read_any_more_is_not_told_as_deleted() {
    let repo = with_closed_files();
    let ran = repo.edio_without_rights(["snapshot", "--json"]);
    assert_eq!(skipped(&ran), ["new", "tracked"]);
    assert_eq!(changed(&repo, "2"), ["a"]);
    // Nor where edio begins with the user's index once more, which has the one otherwise and the other not at all.
    repo.write("b", "staged\n");
    repo.git(["add", "b"]);
    repo.give_away();
    let ran = repo.edio_without_rights(["snapshot", "--json"]);
    assert_eq!(skipped(&ran), ["new", "tracked"]);
    assert_eq!(changed(&repo, "3"), ["b"]);
    repo.write("a", "4\n");
    let ran = repo.edio_without_rights(["snapshot", "--json"]);
    assert_eq!(skipped(&ran), ["new", "tracked"]);
    assert_eq!(changed(&repo, "4"), ["a"]);
    // Gone is gone, also while it can't be read.
    repo.remove("new");
    let ran = repo.edio_without_rights(["snapshot", "--json"]);
    assert_eq!(skipped(&ran), ["tracked"]);
    assert_eq!(changed(&repo, "5"), ["new"]);
}

#[test]
fn p3_what_a_turn_did_not_hold_is_left_alone_though_its_tree_has_what_was_there_before() {
    let repo = with_closed_files();
    repo.edio_without_rights(["snapshot"]).ok();
    open(&repo);
    for path in ["tracked", "new"] {
        repo.write(path, "3\n");
    }
    repo.edio_without_rights(["snapshot"]).ok();
    let restored = repo.edio_without_rights(["restore", "2"]);
    for path in ["tracked", "new"] {
        assert!(restored.ok().stderr.contains(path), "{restored}");
        assert_eq!(repo.read(path), "3\n");
    }
    repo.write("a", "4\n");
    repo.edio_without_rights(["snapshot"]).ok();
    assert_eq!(repo.manifest_in(&repo.turn_ref(4)), repo.manifest());
    // By its name, too.
    let restored = repo.edio_without_rights(["restore", "2", "-f", "tracked"]);
    assert!(restored.ok().stderr.contains("tracked"), "{restored}");
    assert_eq!(repo.read("tracked"), "3\n");
    // Nor is it removed for a turn that lacks it.
    repo.edio_without_rights(["restore", "1"]).ok();
    assert_eq!(repo.read("tracked"), "1\n");
    assert_eq!(repo.read("new"), "1\n");
}

#[test]
fn p4_what_can_not_be_saved_is_never_overwritten_though_the_trees_are_the_same() {
    let repo = with_closed_files();
    repo.chmod("new", 0o644);
    repo.write("tracked", "unsaved\n");
    repo.edio_without_rights(["snapshot"]).ok();
    let ran = repo.edio_without_rights(["restore", "1"]);
    assert!(ran.fails(3).stderr.contains("tracked"), "{ran}");
    assert_eq!(repo.read("tracked"), "unsaved\n");
    assert_eq!(repo.read("a"), "2\n");
    // What does not concern it goes on to be possible.
    repo.edio_without_rights(["restore", "1", "-f", "a"]).ok();
    assert_eq!(repo.read("a"), "0\n");
    repo.edio_without_rights(["undo"]).ok();
    assert_eq!(repo.read("a"), "2\n");
    repo.edio_without_rights(["revert", "2"]).ok();
    assert_eq!(repo.read("a"), "0\n");
    repo.edio_without_rights(["undo"]).ok();
    repo.edio_without_rights(["undo"]).fails(3);
    assert_eq!(repo.read("tracked"), "unsaved\n");
}

#[test]
fn what_can_not_be_read_behind_conversions_does_not_stop_a_turn() {
    let repo = Repo::with(&[("a", "0\n")]);
    repo.git(["config", "core.autocrlf", "true"]);
    for path in ["tracked", "new"] {
        repo.write(path, "one\r\n");
    }
    repo.git(["add", "tracked"]);
    repo.commit("line ends");
    repo.give_away();
    repo.edio_without_rights(["snapshot"]).ok();
    repo.write("a", "1\n");
    for path in ["tracked", "new"] {
        repo.chmod(path, 0o000);
    }
    let ran = repo.edio_without_rights(["snapshot", "--json"]);
    assert_eq!(skipped(&ran), ["new", "tracked"]);
    assert_eq!(changed(&repo, "2"), ["a"]);
    open(&repo);
    repo.write("a", "2\n");
    repo.edio_without_rights(["snapshot"]).ok();
    for path in ["tracked", "new"] {
        repo.write(path, "two\n");
    }
    repo.edio_without_rights(["restore", "3"]).ok();
    for path in ["tracked", "new"] {
        assert_eq!(repo.read(path), "one\r\n");
    }
}

#[test]
fn p2_a_folder_that_became_a_repository_is_not_told_as_deleted() {
    let repo = Repo::with(&[("d/tracked", "0\n"), ("a", "0\n")]);
    repo.write("d/new", "1\n");
    repo.edio(["snapshot"]).ok();
    repo.git(["init", "-q", "d"]);
    repo.write("d/tracked", "2\n");
    repo.write("d/new", "2\n");
    repo.write("d/newer", "2\n");
    repo.write("a", "2\n");
    let ran = repo.edio(["snapshot", "--json"]);
    assert_eq!(skipped(&ran), ["d"]);
    assert_eq!(changed(&repo, "2"), ["a"]);
    repo.write("a", "3\n");
    let ran = repo.edio(["snapshot", "--json"]);
    assert_eq!(skipped(&ran), ["d"]);
    assert_eq!(changed(&repo, "3"), ["a"]);
    repo.edio(["restore", "2"]).ok();
    assert_eq!(repo.read("d/tracked"), "2\n");
    let ran = repo.edio(["restore", "1"]);
    assert!(ran.fails(3).stderr.contains("a repository"), "{ran}");
    repo.remove("d/.git");
    repo.edio(["snapshot"]).ok();
    assert_eq!(repo.manifest_in(&repo.turn_ref(4)), repo.manifest());
    repo.edio(["restore", "1"]).ok();
    assert_eq!(repo.manifest_in(&repo.turn_ref(1)), repo.manifest());
}

#[test]
fn p2_an_untracked_file_that_grew_too_large_is_not_told_as_deleted() {
    let repo = Repo::with(&[("a", "0\n")]);
    repo.git(["config", "edio.maxFileSize", "100"]);
    repo.write("new", "1\n");
    repo.edio(["snapshot"]).ok();
    repo.write("new", "x".repeat(200));
    repo.write("a", "2\n");
    let ran = repo.edio(["snapshot", "--json"]);
    assert_eq!(skipped(&ran), ["new"]);
    assert_eq!(changed(&repo, "2"), ["a"]);
    let ran = repo.edio(["restore", "1"]);
    assert!(ran.fails(3).stderr.contains("too large"), "{ran}");
    repo.git(["config", "edio.maxFileSize", "1k"]);
    repo.edio(["restore", "1"]).ok();
    assert_eq!(repo.read("new"), "1\n");
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("new"), "x".repeat(200));
}

/// git takes a folder for a repository where there is one: an empty `.git`, or one that points nowhere, is none.
#[test]
fn p2_what_only_looks_like_a_repository_is_held() {
    let repo = Repo::with(&[("d/tracked", "0\n"), ("e/tracked", "0\n")]);
    std::fs::create_dir(repo.path("d/.git")).unwrap();
    repo.write("e/.git", "gitdir: ../nowhere\n");
    // To read it would take for ever.
    repo.fifo("f/.git");
    repo.write("f/new", "1\n");
    for path in ["d/tracked", "d/new", "e/tracked", "e/new"] {
        repo.write(path, "1\n");
    }
    let ran = repo.edio(["snapshot", "--json"]);
    assert_eq!(skipped(&ran), [""; 0]);
    for path in ["d/tracked", "d/new", "e/tracked", "e/new"] {
        assert_eq!(repo.in_turn(1, path).as_deref(), Some("1\n"));
        repo.write(path, "2\n");
    }
    repo.edio(["snapshot"]).ok();
    repo.edio(["restore", "1"]).ok();
    for path in ["d/tracked", "d/new", "e/tracked", "e/new"] {
        assert_eq!(repo.read(path), "1\n");
    }
    repo.edio(["restore", "0"]).ok();
    assert!(!repo.has("d/new") && !repo.has("e/new"));
    assert!(repo.has("d/.git") && repo.has("e/.git"));
}

/// The trees are the same, and the turn before holds what is not held now.
#[test]
fn p4_a_restore_is_undone_exactly_where_something_can_not_be_held_any_more() {
    let repo = Repo::with(&[("b", "0\n")]);
    repo.write("b", "1\n");
    repo.write("w/a", "1\n");
    repo.write("new", "1\n");
    repo.give_away();
    repo.edio_without_rights(["snapshot"]).ok();
    repo.chmod("w/a", 0o000);
    repo.edio_without_rights(["restore", "0"]).ok();
    assert!(!repo.has("new"));
    repo.edio_without_rights(["undo"]).ok();
    assert_eq!(repo.read("b") + &repo.read("new"), "1\n1\n");
    // Held again, and gone with the next restore: the undo of that brings it back.
    repo.chmod("w/a", 0o644);
    repo.edio_without_rights(["restore", "0"]).ok();
    assert!(!repo.has("w/a"));
    repo.edio_without_rights(["undo"]).ok();
    assert_eq!(repo.read("w/a"), "1\n");
    let ran = repo.edio_without_rights(["snapshot", "--if-changed"]);
    assert!(ran.ok().stderr.contains("nothing changed"), "{ran}");
}

/// What the last look could hold says nothing of the turn that a restore has led to.
#[test]
fn p3_a_turn_that_could_not_hold_a_file_is_left_with_the_file_saved() {
    let after_turn_2 = || {
        let repo = Repo::with(&[("a", "0\n")]);
        repo.write("a", "1\n");
        repo.write("t", "1\n");
        repo.give_away();
        repo.edio_without_rights(["snapshot"]).ok();
        repo.chmod("t", 0o000);
        repo.write("a", "2\n");
        repo.edio_without_rights(["snapshot"]).ok();
        repo.chmod("t", 0o644);
        repo.write("a", "3\n");
        repo.edio_without_rights(["snapshot"]).ok();
        repo.edio_without_rights(["restore", "2"]).ok();
        repo
    };
    let repo = after_turn_2();
    let ran = repo.edio_without_rights(["snapshot", "--if-changed", "--json"]);
    assert_eq!(ran.ok().json()[0]["turn"], 4, "{ran}");
    for repo in [repo, after_turn_2()] {
        repo.edio_without_rights(["restore", "0"]).ok();
        assert!(!repo.has("t"));
        repo.edio_without_rights(["undo"]).ok();
        assert_eq!(repo.read("a") + &repo.read("t"), "2\n1\n");
    }
}

/// Of some git says no more than that it may not look at them.
#[test]
fn p2_what_lies_in_a_folder_that_may_not_be_entered_is_named() {
    for (folder, mode) in [
        ("d", 0o444),
        ("d", 0o000),
        ("build", 0o000),
        ("build", 0o444),
    ] {
        let repo = Repo::with(&[("d/x", "0\n"), ("a", "0\n"), (".gitignore", "build\n")]);
        repo.write("build/keep", "0\n");
        repo.git(["add", "-f", "build/keep"]);
        repo.commit("more");
        repo.give_away();
        repo.edio_without_rights(["snapshot"]).ok();
        for path in ["d/x", "build/keep"] {
            repo.write(path, "1\n");
        }
        repo.write("a", "1\n");
        repo.chmod(folder, mode);
        let ran = repo.edio_without_rights(["snapshot", "--json"]);
        let named = skipped(&ran);
        assert!(
            !named.is_empty() && named.iter().all(|path| path.starts_with(folder)),
            "{ran}"
        );
        assert!(
            !changed(&repo, "2")
                .iter()
                .any(|path| path.starts_with(folder))
        );
        repo.chmod(folder, 0o755);
        repo.edio_without_rights(["restore", "2"]).ok();
        for path in ["d/x", "build/keep"] {
            assert_eq!(repo.read(path), "1\n", "{folder} {mode:o}");
        }
        repo.edio_without_rights(["restore", "0"]).ok();
        repo.edio_without_rights(["undo"]).ok();
        for path in ["d/x", "build/keep"] {
            assert_eq!(repo.read(path), "1\n", "{folder} {mode:o}");
        }
    }
}

/// A filter may say on stderr whatever it likes.
#[test]
fn what_a_filter_complains_of_is_only_looked_at() {
    let attributes = "*.x filter=loud\n";
    let repo = Repo::with(&[(".gitattributes", attributes), ("f.x", "0\n"), ("a", "0\n")]);
    repo.write(".gitignore", "ignored\n");
    repo.write("ignored", "0\n");
    let loud = "cat; for it in ignored a lib no/where; do echo $it: is bad >&2; done";
    repo.git(["config", "filter.loud.clean", loud]);
    repo.git(["init", "-q", "lib"]);
    repo.write("f.x", "1\n");
    let ran = repo.edio(["snapshot", "--json"]);
    assert_eq!(skipped(&ran), ["lib"]);
    assert_eq!(changed(&repo, "1"), [".gitignore", "f.x"]);
    repo.write("f.x", "2\n");
    repo.edio(["snapshot"]).ok();
    assert_eq!(changed(&repo, "2"), ["f.x"]);
}

/// The turn before has an edit that the index does not know.
#[test]
fn p2_what_can_not_be_read_any_more_is_told_as_the_turn_before_has_it() {
    for edit in ["2\n", "0\n"] {
        let repo = Repo::with(&[("tracked", "0\n"), ("a", "0\n")]);
        repo.give_away();
        repo.write("a", "1\n");
        repo.edio_without_rights(["snapshot"]).ok();
        repo.write("tracked", "2\n");
        repo.edio_without_rights(["snapshot"]).ok();
        repo.chmod("tracked", 0o000);
        for turn in [3, 4] {
            repo.write("a", format!("{turn} {edit}"));
            repo.edio_without_rights(["snapshot"]).ok();
            assert_eq!(changed(&repo, &turn.to_string()), ["a"]);
            assert_eq!(repo.in_turn(turn, "tracked").as_deref(), Some("2\n"));
        }
        let ran = repo.edio_without_rights(["snapshot", "--if-changed"]);
        assert!(ran.ok().stderr.contains("nothing changed"), "{ran}");
    }
}

#[test]
fn p2_a_link_in_a_folder_that_became_a_repository_is_not_told_as_deleted() {
    let repo = Repo::with(&[("a", "0\n")]);
    repo.write("d/new", "1\n");
    repo.link("d/link", "new");
    repo.edio(["snapshot"]).ok();
    repo.git(["init", "-q", "d"]);
    repo.write("a", "2\n");
    // edio begins with the user's index once more.
    repo.git(["add", "a"]);
    let ran = repo.edio(["snapshot", "--json"]);
    assert_eq!(skipped(&ran), ["d"]);
    assert_eq!(changed(&repo, "2"), ["a"]);
}

#[test]
fn what_is_excluded_is_in_no_turn_though_its_folder_can_not_be_read() {
    let repo = Repo::with(&[("d/tracked", "0\n"), ("a", "0\n")]);
    for path in ["d/tracked", "d/mine", "d/new"] {
        repo.write(path, "1\n");
    }
    repo.give_away();
    repo.edio_without_rights(["snapshot"]).ok();
    repo.git(["config", "edio.exclude", "mine"]);
    repo.chmod("d", 0o000);
    repo.write("a", "2\n");
    repo.give_away();
    repo.edio_without_rights(["snapshot"]).ok();
    repo.chmod("d", 0o755);
    assert_eq!(repo.in_turn(2, "d/mine"), None);
    for path in ["d/tracked", "d/new"] {
        assert_eq!(repo.in_turn(2, path).as_deref(), Some("1\n"));
    }
}

#[test]
fn what_can_not_be_read_keeps_the_mode_that_it_had() {
    let repo = Repo::with(&[("a", "0\n")]);
    repo.git(["config", "core.fileMode", "false"]);
    repo.write("new", "1\n");
    repo.give_away();
    repo.edio_without_rights(["snapshot"]).ok();
    repo.chmod("new", 0o100);
    repo.write("b", "2\n");
    repo.git(["add", "b"]);
    repo.give_away();
    repo.edio_without_rights(["snapshot"]).ok();
    assert_eq!(changed(&repo, "2"), ["b"]);
}

/// edio goes on from what it knew before the restore.
#[test]
fn p2_what_can_not_be_read_after_a_restore_is_told_as_the_turn_has_it() {
    let repo = Repo::with(&[("tracked", "0\n"), ("d/x", "0\n"), ("a", "0\n")]);
    repo.give_away();
    repo.edio_without_rights(["snapshot", "-m", "first"]).ok();
    for path in ["tracked", "d/x", "d/new", "a"] {
        repo.write(path, "2\n");
    }
    repo.give_away();
    repo.edio_without_rights(["snapshot"]).ok();
    repo.edio_without_rights(["restore", "1"]).ok();
    repo.chmod("tracked", 0o000);
    repo.chmod("d", 0o000);
    repo.write("a", "3\n");
    let ran = repo.edio_without_rights(["snapshot", "--json"]);
    assert_eq!(skipped(&ran), ["d", "tracked"]);
    assert_eq!(changed(&repo, "3"), ["a"]);
    repo.chmod("tracked", 0o644);
    repo.chmod("d", 0o755);
    let ran = repo.edio_without_rights(["snapshot", "--if-changed"]);
    assert!(!ran.ok().stderr.contains("nothing changed"), "{ran}");
    assert_eq!(repo.manifest_in(&repo.turn_ref(4)), repo.manifest());
}

/// What the user's index has, and the turn before lacks, is not told as new.
#[test]
fn p2_what_was_deleted_in_a_folder_that_is_closed_now_stays_so() {
    let repo = Repo::with(&[("d/x", "0\n"), ("d/y", "0\n"), ("a", "0\n")]);
    repo.remove("d/x");
    repo.give_away();
    repo.edio_without_rights(["snapshot"]).ok();
    repo.write("staged", "1\n");
    repo.git(["add", "staged"]);
    repo.give_away();
    repo.chmod("d", 0o000);
    for turn in ["2", "3"] {
        repo.write("a", turn);
        let ran = repo.edio_without_rights(["snapshot", "--json"]);
        assert_eq!(skipped(&ran), ["d"]);
        assert!(!changed(&repo, turn).contains(&"d/x".to_owned()));
    }
    repo.chmod("d", 0o755);
    repo.write("a", "4");
    repo.edio_without_rights(["snapshot"]).ok();
    assert_eq!(changed(&repo, "4"), ["a"]);
    assert_eq!(repo.manifest_in(&repo.turn_ref(4)), repo.manifest());
}

#[test]
fn p3_what_a_turn_could_not_hold_and_is_gone_now_is_named_by_a_restore_of_it() {
    let repo = Repo::with(&[("a", "0\n")]);
    repo.git(["config", "edio.maxFileSize", "1k"]);
    repo.write("big", "small\n");
    repo.edio(["snapshot"]).ok();
    repo.write("big", "x".repeat(2000));
    repo.write("a", "2\n");
    repo.edio(["snapshot"]).ok();
    repo.remove("big");
    repo.write("a", "3\n");
    repo.edio(["snapshot"]).ok();
    let said = "left alone: big (the turn does not hold it)";
    for words in [&["restore", "2"][..], &["restore", "2", "-f", "big"]] {
        let ran = repo.edio(words);
        assert!(ran.ok().stderr.contains(said), "{ran}");
        assert!(!repo.has("big"));
    }
    assert_eq!(repo.read("a"), "2\n");
}
