//! How objects and refs are kept, and which are there.

use std::fs;

use super::{Stage, is_clean, stage_set};
use crate::common::Repo;

#[test]
fn sha256() {
    let mut repo = Repo::unborn();
    repo.top = repo.outside().join("long ids");
    fs::create_dir(&repo.top).unwrap();
    repo.git(["init", "-q", "--object-format=sha256"]);
    repo.write("story/changed", "1\n");
    repo.write("story/removed", "1\n");
    repo.commit("base");
    let stage = Stage::at_top(&repo);
    stage.play();
    assert_eq!(repo.git(["rev-parse", &repo.turn_ref(1)]).len(), 64);
    repo.remove("story/removed");
    stage.accept();
    assert!(!repo.git_says(["cat-file", "-e", "HEAD:story/removed"]));
    is_clean(&repo);
}

#[test]
fn reftable() {
    let mut repo = Repo::unborn();
    repo.top = repo.outside().join("tables");
    fs::create_dir(&repo.top).unwrap();
    // Older gits know no other format than files.
    if !repo.git_says(["init", "-q", "--ref-format=reftable"]) {
        return;
    }
    repo.write("story/changed", "1\n");
    repo.commit("base");
    assert!(repo.has(".git/reftable"));
    let stage = Stage::at_top(&repo);
    stage.play();
    stage.accept();
    is_clean(&repo);
    let linked = repo.outside().join("linked");
    repo.git(["worktree", "add", "-q", linked.to_str().unwrap()]);
    repo.top = linked;
    Stage::at_top(&repo).edio(&["snapshot"]).ok();
    // This format asks who moves a ref and when, also where no reflog is kept.
    let mut undated = repo.command(["snapshot"]);
    repo.ran(undated.env("GIT_COMMITTER_DATE", "never")).ok();
}

#[test]
fn a_shallow_clone() {
    let mut repo = stage_set();
    repo.write("other", "2\n");
    repo.commit("second");
    let clone = repo.outside().join("shallow");
    let from = format!("file://{}", repo.top.display());
    repo.git(["clone", "-q", "--depth=1", &from, clone.to_str().unwrap()]);
    repo.top = clone;
    let stage = Stage::at_top(&repo);
    stage.play();
    stage.accept();
    is_clean(&repo);
}

#[test]
fn a_clone_that_borrows_its_objects() {
    let mut repo = stage_set();
    let clone = repo.outside().join("borrower");
    repo.git(["clone", "-q", "--shared", ".", clone.to_str().unwrap()]);
    let lender = repo.git_files();
    let owner = repo.top.clone();
    repo.top = clone;
    let stage = Stage::at_top(&repo);
    stage.play();
    stage.accept();
    is_clean(&repo);
    repo.top = owner;
    assert_eq!(repo.git_files(), lender);
}

/// A clone without the blobs of a folder that is not checked out. Its remote notes in the file `fetched` who asks it.
fn partial_clone() -> Repo {
    let mut repo = stage_set();
    repo.git(["config", "uploadpack.allowFilter", "true"]);
    repo.write("away/x", "x\n");
    repo.write("away/y", "y\n");
    repo.commit("away");
    let (clone, from) = (
        repo.outside().join("clone"),
        format!("file://{}", repo.top.display()),
    );
    let words = ["clone", "-q", "--filter=blob:none", "--no-checkout", &from];
    repo.git(words.into_iter().chain([clone.to_str().unwrap()]));
    repo.top = clone;
    repo.git(["sparse-checkout", "set", "story"]);
    repo.git(["checkout", "-q", "main"]);
    let noting = format!(
        "touch {}; git-upload-pack",
        repo.outside().join("fetched").display()
    );
    repo.git(["config", "remote.origin.uploadpack", &noting]);
    repo
}

fn lacks(repo: &Repo, name: &str) -> bool {
    let listed = repo.git(["rev-list", "--objects", "--missing=print", "HEAD"]);
    let entry = repo.git(["ls-tree", "HEAD", "--object-only", name]);
    listed.contains(&format!("?{entry}"))
}

#[test]
fn a_partial_clone_fetches_nothing() {
    for is_remote_gone in [false, true] {
        let repo = partial_clone();
        assert!(lacks(&repo, "away/x"));
        if is_remote_gone {
            fs::rename(repo.outside().join("repo"), repo.outside().join("gone")).unwrap();
        }
        let stage = Stage::at_top(&repo);
        stage.play();
        repo.remove(".git/edio");
        stage.edio(&["restore", "0"]).ok();
        stage.edio(&["restore", "2"]).ok();
        for words in [&["log", "-p"][..], &["show", "2"], &["diff", "0..2"]] {
            stage.edio(words).ok();
        }
        stage.accept();
        is_clean(&repo);
        assert!(lacks(&repo, "away/x") && !repo.outside().join("fetched").exists());
    }
}

#[test]
fn a_partial_clone_holds_what_changes_where_blobs_are_missing() {
    let repo = partial_clone();
    repo.edio(["snapshot"]).ok();
    repo.write("away/y", "written where nothing was checked out\n");
    repo.write("story/changed", "2\n");
    repo.edio(["snapshot"]).ok();
    let held = repo.manifest();
    assert_eq!(
        repo.in_turn(2, "away/y").as_deref(),
        Some("written where nothing was checked out\n")
    );
    // What the turn before has there can't be written, and no half of it is.
    let refused = repo.edio(["restore", "1"]);
    assert!(refused.fails(1).stderr.contains("away/y"), "{refused}");
    assert_eq!(repo.manifest(), held);
    repo.edio(["restore", "1", "-f", "story"]).ok();
    assert_eq!(repo.read("story/changed"), "1\n");
    repo.edio(["undo"]).ok();
    assert_eq!(repo.manifest(), held);
    repo.edio(["accept", "done"]).ok();
    repo.edio(["undo"]).ok();
    assert_eq!(repo.manifest(), held);
    assert!(!repo.outside().join("fetched").exists());
}

/// It has the content of a blob that was not fetched, so that git takes it for unchanged.
#[test]
fn p2_a_partial_clone_holds_what_somebody_has_made_as_it_was_to_be_fetched() {
    for is_edited in [false, true] {
        let repo = partial_clone();
        repo.write("away/y", "y\n");
        if is_edited {
            repo.write("story/changed", "2\n");
        }
        repo.edio(["status"]).ok();
        repo.edio(["snapshot"]).ok();
        repo.write("away/y", "mine\n");
        repo.edio(["snapshot"]).ok();
        repo.edio(["restore", "1"]).ok();
        assert_eq!(repo.read("away/y"), "y\n");
        repo.edio(["undo"]).ok();
        assert_eq!(repo.read("away/y"), "mine\n");
        assert!(!repo.outside().join("fetched").exists());
    }
}

#[test]
fn a_partial_clone_goes_on_after_a_pull_of_what_it_has_not_checked_out() {
    let mut repo = partial_clone();
    repo.edio(["snapshot"]).ok();
    let upstream = repo.outside().join("repo");
    let clone = std::mem::replace(&mut repo.top, upstream);
    repo.write("away/y", "2\n");
    repo.commit("upstream");
    repo.top = clone;
    repo.git(["pull", "-q"]);
    assert!(lacks(&repo, "away/y"));
    fs::remove_file(repo.outside().join("fetched")).unwrap();
    let stage = Stage::at_top(&repo);
    stage.edio(&["snapshot"]).ok();
    repo.write("story/changed", "2\n");
    stage.edio(&["snapshot"]).ok();
    stage.edio(&["restore", "2"]).ok();
    assert_eq!(repo.read("story/changed"), "1\n");
    stage.edio(&["undo"]).ok();
    assert_eq!(repo.read("story/changed"), "2\n");
    stage.edio(&["accept", "done"]).ok();
    is_clean(&repo);
    assert!(!repo.outside().join("fetched").exists());
}
