//! Checkouts of a part.

use super::{Stage, is_clean, stage_set};
use crate::common::Repo;

/// A repository with two folders, of which only one is checked out.
fn sparse(flags: &[&str]) -> Repo {
    let repo = stage_set();
    repo.write("away/far/x", "1\n");
    repo.write("away/y", "1\n");
    repo.write("story/kept", "k\n");
    repo.commit("more");
    set_sparse(&repo, flags);
    assert!(!repo.has("away"));
    repo
}

fn set_sparse(repo: &Repo, flags: &[&str]) {
    let words = ["sparse-checkout", "set"].iter().chain(flags).copied();
    let cone = !flags.contains(&"--no-cone");
    repo.git(words.chain([if cone { "story" } else { "/story/" }]));
}

const SPARSE: [&[&str]; 3] = [&["--cone"], &["--no-cone"], &["--cone", "--sparse-index"]];

#[test]
fn a_sparse_checkout() {
    for flags in SPARSE {
        let repo = sparse(flags);
        let stage = Stage::at_top(&repo);
        stage.play();
        assert_eq!(
            repo.in_turn(2, "away/far/x").as_deref(),
            Some("1\n"),
            "absent is not deleted: {flags:?}"
        );
        assert!(!repo.has("away"), "{flags:?}");
        stage.edio(&["restore", "0"]).ok();
        assert!(!repo.has("away"), "{flags:?}");
        stage.edio(&["restore", "2"]).ok();
        stage.accept();
        assert_eq!(repo.git(["show", "HEAD:away/far/x"]), "1", "{flags:?}");
        is_clean(&repo);
        assert!(!repo.has("away"), "{flags:?}");
    }
}

#[test]
fn a_file_where_a_sparse_checkout_has_none() {
    for flags in SPARSE {
        let repo = sparse(flags);
        repo.edio(["snapshot"]).ok();
        repo.write("away/y", "written anyhow\n");
        repo.write("away/far/new", "new\n");
        repo.edio(["snapshot"]).ok();
        assert_eq!(
            repo.in_turn(2, "away/y").as_deref(),
            Some("written anyhow\n"),
            "{flags:?}"
        );
        assert_eq!(
            repo.in_turn(2, "away/far/new").as_deref(),
            Some("new\n"),
            "{flags:?}"
        );
        assert_eq!(
            repo.in_turn(2, "away/far/x").as_deref(),
            Some("1\n"),
            "{flags:?}"
        );
        let held = repo.manifest();
        repo.edio(["restore", "1"]).ok();
        assert_eq!(repo.read("away/y"), "1\n", "{flags:?}");
        assert!(!repo.has("away/far/new"), "{flags:?}");
        repo.edio(["restore", "2"]).ok();
        assert_eq!(repo.manifest(), held, "{flags:?}");
        repo.edio(["restore", "1", "-f", "away"]).ok();
        assert!(!repo.has("away/far/new"), "{flags:?}");
        repo.fsck();
    }
}

#[test]
fn what_came_and_went_where_a_sparse_checkout_has_nothing_leaves_no_trace() {
    let repo = sparse(SPARSE[1]);
    let tree = |turn| repo.git(["rev-parse", &format!("{}^{{tree}}", repo.turn_ref(turn))]);
    repo.edio(["snapshot"]).ok();
    let before = repo.manifest();
    repo.write("away/y", "written, then removed\n");
    repo.edio(["snapshot"]).ok();
    repo.remove("away");
    repo.link("away", "other");
    repo.edio(["snapshot"]).ok();
    repo.remove("away");
    assert_eq!(repo.manifest(), before);
    repo.edio(["snapshot"]).ok();
    assert_eq!(tree(4), tree(1), "the same work tree is the same tree");
    repo.remove(".git/edio");
    repo.edio(["snapshot"]).ok();
    assert_eq!(tree(5), tree(1));
}

#[test]
fn a_sparse_checkout_that_changes_between_turns() {
    for flags in SPARSE {
        let repo = sparse(flags);
        let tree = |turn| repo.git(["rev-parse", &format!("{}^{{tree}}", repo.turn_ref(turn))]);
        repo.edio(["snapshot"]).ok();
        repo.git(["sparse-checkout", "disable"]);
        repo.edio(["snapshot"]).ok();
        assert_eq!(tree(2), tree(1), "{flags:?}");
        repo.write("away/y", "2\n");
        repo.remove("away/far");
        repo.edio(["snapshot"]).ok();
        assert_eq!(
            repo.manifest_in(&repo.turn_ref(3)),
            repo.manifest(),
            "{flags:?}"
        );
        repo.edio(["restore", "1"]).ok();
        assert_eq!(repo.read("away/far/x"), "1\n");
        set_sparse(&repo, flags);
        repo.edio(["snapshot"]).ok();
        assert_eq!(tree(4), tree(1), "{flags:?}");
        repo.edio(["restore", "3"]).ok();
        assert_eq!(
            repo.read("away/y"),
            "2\n",
            "another content than the index's is written: {flags:?}"
        );
        repo.edio(["restore", "4"]).ok();
        repo.fsck();
    }
}
