//! Git LFS itself: its contents come back, its pointers are committed, and where it can't help, nothing is lost.

use std::fs;
use std::time::{Duration, SystemTime};

use crate::common::{Repo, left_out};

/// A repository whose `*.bin` are Git LFS's, with one in its first commit. `None` where Git LFS is not installed.
fn with_lfs(skip: &str) -> Option<Repo> {
    let repo = Repo::with(&[("other", "o\n")]);
    if !repo.git_says(["lfs", "version"]) {
        left_out("git-lfs is not installed");
        return None;
    }
    for (key, value) in [
        ("filter.lfs.clean", "git-lfs clean -- %f"),
        ("filter.lfs.smudge", &format!("git-lfs smudge{skip} -- %f")),
        (
            "filter.lfs.process",
            &format!("git-lfs filter-process{skip}"),
        ),
        ("filter.lfs.required", "true"),
    ] {
        repo.git(["config", key, value]);
    }
    repo.write(
        ".gitattributes",
        "*.bin filter=lfs diff=lfs merge=lfs -text\n",
    );
    repo.write("a.bin", "committed\n");
    repo.commit("first");
    Some(repo)
}

/// The folders under PATH without Git LFS: just git and what a shell needs.
fn without_lfs(repo: &Repo) -> String {
    let bin = repo.outside().join("bin");
    fs::create_dir_all(&bin).unwrap();
    for folder in crate::common::path().split(':').rev() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name != "git-lfs" {
                let _ = fs::remove_file(bin.join(&name));
                std::os::unix::fs::symlink(entry.path(), bin.join(name)).unwrap();
            }
        }
    }
    bin.to_str().unwrap().to_owned()
}

#[test]
fn p3_contents_come_back_and_pointers_are_committed() {
    for skip in ["", " --skip"] {
        let Some(repo) = with_lfs(skip) else { return };
        let contents = ["one\0\r\n", "two\n", "three"];
        for content in contents {
            repo.write("a.bin", content);
            repo.write("new.bin", format!("new {content}"));
            repo.edio(["snapshot"]).ok();
        }
        let stored = repo.in_turn(1, "a.bin").unwrap();
        assert!(stored.starts_with("version https://git-lfs"), "{stored}");
        for turn in [1, 3, 2, 1] {
            repo.edio(["restore", &turn.to_string()]).ok();
            assert_eq!(repo.read("a.bin"), contents[turn - 1], "{skip}");
            assert_eq!(repo.read("new.bin"), format!("new {}", contents[turn - 1]));
        }
        // Nobody has seen turn 0 on disk: it is what the user's own checkout would make of it.
        repo.edio(["restore", "0"]).ok();
        assert!(!repo.has("new.bin"));
        match skip {
            "" => assert_eq!(repo.read("a.bin"), "committed\n"),
            _ => assert_eq!(repo.read("a.bin"), repo.git_raw(["show", "HEAD:a.bin"])),
        }
        repo.edio(["undo"]).ok();
        repo.edio(["accept", "feat"]).ok();
        assert_eq!(repo.git_raw(["show", "HEAD:a.bin"]), stored);
        assert_eq!(repo.git(["status", "--porcelain"]), "");
        repo.edio(["undo"]).ok();
        assert_eq!(repo.read("a.bin"), contents[0]);
        repo.fsck();
    }
}

#[test]
fn p3_where_nothing_is_smudged_the_users_way_a_pointer_stays_a_pointer() {
    let Some(repo) = with_lfs("") else { return };
    let pointer = repo.git_raw(["show", "HEAD:a.bin"]);
    repo.write("a.bin", &pointer);
    repo.edio(["snapshot"]).ok();
    // Fetched: the same blob, other bytes.
    repo.write("a.bin", "committed\n");
    repo.edio(["snapshot", "--if-changed"]).ok();
    assert_eq!(repo.turns(), 2);
    let skip = |words: &[&str]| {
        let mut command = repo.command(words);
        repo.ran(command.env("GIT_LFS_SKIP_SMUDGE", "1")).ok().code
    };
    skip(&["restore", "1"]);
    assert_eq!(repo.read("a.bin"), pointer);
    skip(&["restore", "2"]);
    assert_eq!(repo.read("a.bin"), "committed\n");
    skip(&["undo"]);
    assert_eq!(repo.read("a.bin"), pointer);
}

#[test]
fn a_content_that_is_nowhere_to_be_had_refuses_the_restore_before_it_begins() {
    for skip in ["", " --skip"] {
        let Some(repo) = with_lfs(skip) else { return };
        repo.git(["remote", "add", "origin", "https://127.0.0.1:1/gone.git"]);
        repo.write("a.bin", "one\n");
        repo.edio(["snapshot"]).ok();
        repo.write("a.bin", "two\n");
        repo.write("other", "2\n");
        repo.edio(["snapshot"]).ok();
        fs::remove_dir_all(repo.path(".git/lfs")).unwrap();
        let before = (repo.manifest(), repo.edio_refs());
        let ran = repo.edio(["restore", "1"]);
        ran.fails(1);
        assert!(
            ran.stderr.contains("a.bin") && ran.stderr.contains("hint:"),
            "{ran}"
        );
        assert_eq!((repo.manifest(), repo.edio_refs()), before);
        repo.edio(["restore", "1", "-f", "other"]).ok();
        assert_eq!(
            (repo.read("other"), repo.read("a.bin")),
            ("o\n".into(), "two\n".into())
        );
    }
}

#[test]
fn without_git_lfs_its_files_are_held_as_they_are_and_named() {
    let Some(repo) = with_lfs("") else { return };
    let path = without_lfs(&repo);
    let edio = |words: &[&str]| repo.ran(repo.command(words).env("PATH", &path));
    repo.write("a.bin", "one\n");
    let ran = edio(&["snapshot"]);
    assert!(ran.ok().stderr.contains("as it is: a.bin"), "{ran}");
    repo.write("a.bin", "two\n");
    edio(&["snapshot"]).ok();
    edio(&["restore", "1"]).ok();
    assert_eq!(repo.read("a.bin"), "one\n");
    edio(&["restore", "2"]).ok();
    assert_eq!(repo.read("a.bin"), "two\n");
    repo.write("other", "2\n");
    edio(&["accept", "feat"]).ok();
    assert_eq!(
        repo.git(["show", "--format=", "--name-only", "HEAD"]),
        "other"
    );
    // The committed one can't be had without it, and nothing is touched.
    repo.write("a.bin", "three\n");
    repo.edio(["snapshot"]).ok();
    let before = (repo.manifest(), repo.edio_refs());
    edio(&["restore", "0"]).fails(1);
    assert_eq!((repo.manifest(), repo.edio_refs()), before);
}

#[test]
fn p7_unchanged_files_of_git_lfs_are_not_read() {
    let Some(repo) = with_lfs("") else { return };
    let log = repo.outside().join("log");
    for (key, verb) in [("clean", "clean -- %f"), ("process", "filter-process")] {
        let logged = format!("echo read >> '{}'; git-lfs {verb}", log.display());
        repo.git(["config", &format!("filter.lfs.{key}"), &logged]);
    }
    // git reads what is as new as its index, whoever asks.
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let file = fs::File::options().write(true).open(repo.path("a.bin"));
    file.unwrap().set_modified(long_ago).unwrap();
    repo.git(["status"]);
    fs::remove_file(&log).unwrap();
    let reads = || fs::read_to_string(&log).unwrap_or_default().lines().count();
    repo.write("other", "1\n");
    repo.edio(["snapshot"]).ok();
    for content in ["2\n", "3\n"] {
        repo.write("other", content);
        repo.edio(["snapshot"]).ok();
        repo.edio(["snapshot", "--if-changed"]).ok();
    }
    repo.edio(["restore", "1"]).ok();
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(reads(), 0);
}
