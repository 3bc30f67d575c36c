//! Executable bits and links where git is told that the disk does not show them.

use std::fs;

use super::common::Repo;

fn is_executable(repo: &Repo, path: &str) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let mode = repo.path(path).metadata().unwrap().permissions().mode();
    mode & 0o111 != 0
}

#[test]
fn p3_a_bit_that_git_is_told_to_ignore_is_as_it_was() {
    let repo = Repo::with(&[("tracked", "0\n")]);
    repo.git(["config", "core.fileMode", "false"]);
    repo.chmod("tracked", 0o755);
    repo.write("new", "0\n");
    repo.chmod("new", 0o755);
    repo.write("plain", "0\n");
    repo.edio(["snapshot"]).ok();
    for path in ["tracked", "new", "plain"] {
        repo.write(path, "1\n");
    }
    repo.edio(["snapshot"]).ok();
    let is_right = || {
        assert!(is_executable(&repo, "tracked"));
        assert!(is_executable(&repo, "new"));
        assert!(!is_executable(&repo, "plain"));
    };
    repo.edio(["restore", "1"]).ok();
    assert_eq!(repo.read("new"), "0\n");
    is_right();
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("new"), "1\n");
    is_right();
    repo.remove("new");
    repo.remove("plain");
    repo.edio(["restore", "1"]).ok();
    is_right();
    repo.edio(["restore", "0"]).ok();
    assert!(!repo.has("new"));
    repo.edio(["undo"]).ok();
    is_right();
    // What is staged makes edio begin with the user's index once more.
    repo.write("staged", "0\n");
    repo.git(["add", "staged"]);
    let ran = repo.edio(["snapshot", "--json"]);
    assert_eq!(ran.ok().json()[0]["files"], 1, "{ran}");
    // git takes no notice of the bits of what it tracks, and no turn tells of them.
    repo.chmod("tracked", 0o644);
    let ran = repo.edio(["snapshot", "--if-changed"]);
    assert!(ran.ok().stderr.contains("nothing changed"), "{ran}");
}

/// Of what git does not track nobody else knows the bits.
#[test]
fn p3_a_bit_of_an_untracked_file_that_changed_with_it_is_as_it_was() {
    for (before, after) in [(0o644, 0o755), (0o755, 0o644)] {
        let repo = Repo::with(&[("a", "0\n")]);
        repo.git(["config", "core.fileMode", "false"]);
        repo.write("new", "0\n");
        repo.chmod("new", before);
        repo.edio(["snapshot"]).ok();
        repo.write("new", "1\n");
        repo.chmod("new", after);
        repo.edio(["snapshot"]).ok();
        repo.edio(["restore", "0"]).ok();
        assert!(!repo.has("new"));
        repo.edio(["undo"]).ok();
        assert_eq!(is_executable(&repo, "new"), after == 0o755);
        repo.edio(["restore", "1"]).ok();
        assert_eq!(is_executable(&repo, "new"), before == 0o755);
        repo.edio(["undo"]).ok();
        assert_eq!(is_executable(&repo, "new"), after == 0o755);
    }
}

#[test]
fn p3_a_link_that_was_one_comes_back_as_one() {
    let repo = Repo::with(&[("a", "a\n")]);
    repo.git(["config", "core.symlinks", "false"]);
    repo.link("new", "a");
    repo.edio(["snapshot"]).ok();
    repo.remove("new");
    repo.link("new", "elsewhere");
    repo.edio(["snapshot"]).ok();
    let target = || fs::read_link(repo.path("new")).unwrap();
    repo.edio(["restore", "1"]).ok();
    assert_eq!(target().to_str(), Some("a"));
    repo.remove("new");
    repo.edio(["snapshot"]).ok();
    repo.edio(["restore", "2"]).ok();
    assert_eq!(target().to_str(), Some("elsewhere"));
    repo.edio(["restore", "0"]).ok();
    repo.edio(["undo"]).ok();
    assert_eq!(target().to_str(), Some("elsewhere"));
}
