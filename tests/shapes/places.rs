//! Where edio is started, and where the git directory lies.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use super::{Stage, is_clean, stage_set};
use crate::common::{Repo, left_out};

#[test]
fn plain() {
    let repo = stage_set();
    let stage = Stage::at_top(&repo);
    stage.play();
    stage.accept();
    is_clean(&repo);
}

#[test]
fn plain_where_no_variable_hides_the_folders_above() {
    let repo = stage_set();
    let quiet = |words: &[&str]| {
        let ran = repo.ran(repo.command(words).env_remove("GIT_CEILING_DIRECTORIES"));
        ran.ok();
        ran.stdout
    };
    quiet(&["snapshot"]);
    let first = repo.manifest();
    repo.write("story/changed", "2\n");
    quiet(&["snapshot"]);
    quiet(&["restore", "1"]);
    assert_eq!(repo.manifest(), first);
    assert!(quiet(&["status"]).contains("nothing changed since"));
    quiet(&["restore", "2"]);
    quiet(&["accept", "two"]);
    is_clean(&repo);
}

#[test]
fn no_commit_yet() {
    let repo = Repo::unborn();
    repo.write("story/changed", "1\n");
    let stage = Stage::at_top(&repo);
    stage.play();
    assert!(!repo.git_says(["rev-parse", "-q", "--verify", "HEAD"]));
    stage.edio(&["restore", "0"]).ok();
    assert_eq!(
        repo.manifest(),
        [""; 0],
        "turn 0 is HEAD, and that is nothing"
    );
    stage.edio(&["restore", "2"]).ok();
    stage.accept();
    assert_eq!(repo.git(["rev-list", "--count", "HEAD"]), "1");
    assert_eq!(repo.git(["symbolic-ref", "HEAD"]), "refs/heads/main");
    is_clean(&repo);
}

#[test]
fn nothing_in_it_at_all() {
    let repo = Repo::unborn();
    repo.edio(["snapshot"]).ok();
    repo.write("a", "1\n");
    repo.edio(["snapshot"]).ok();
    repo.edio(["restore", "1"]).ok();
    assert_eq!(repo.manifest(), [""; 0]);
    repo.edio(["restore", "2"]).ok();
    assert_eq!(repo.read("a"), "1\n");
    repo.fsck();
}

#[test]
fn a_detached_head() {
    let repo = stage_set();
    repo.git(["checkout", "-q", "--detach"]);
    let before = repo.git(["rev-parse", "main"]);
    let stage = Stage::at_top(&repo);
    stage.play();
    stage.accept();
    assert_eq!(repo.git(["rev-parse", "main"]), before);
    assert_eq!(repo.git(["rev-parse", "HEAD^"]), before);
    assert!(!repo.git_says(["symbolic-ref", "-q", "HEAD"]));
    is_clean(&repo);
}

#[test]
fn from_a_subdirectory() {
    let repo = stage_set();
    repo.write("sub/dir/f", "f\n");
    repo.commit("sub");
    let stage = Stage {
        stand: repo.path("sub/dir"),
        ..Stage::at_top(&repo)
    };
    stage.play();
    stage.accept();
    is_clean(&repo);
}

#[test]
fn from_a_subdirectory_that_is_ignored() {
    let repo = stage_set();
    repo.write(".git/info/exclude", "target/\n");
    repo.write("target/debug/x", "x\n");
    let stage = Stage {
        stand: repo.path("target/debug"),
        ..Stage::at_top(&repo)
    };
    stage.play();
    assert_eq!(repo.read("target/debug/x"), "x\n");
}

#[test]
fn from_outside_with_a_flag() {
    let repo = stage_set();
    let flags = vec!["-C".to_owned(), "repo/story".to_owned()];
    let stage = Stage {
        stand: repo.outside(),
        flags,
        ..Stage::at_top(&repo)
    };
    stage.play();
    stage.accept();
    is_clean(&repo);
}

#[test]
fn through_a_symbolic_link() {
    let repo = stage_set();
    let door = repo.outside().join("door");
    std::os::unix::fs::symlink(&repo.top, &door).unwrap();
    let stage = Stage {
        stand: door.join("story"),
        ..Stage::at_top(&repo)
    };
    stage.play();
    stage.accept();
}

#[test]
fn a_git_directory_elsewhere() {
    let repo = Repo::unborn();
    let git_dir = repo.outside().join("store.git");
    repo.git([
        "init",
        "-q",
        "--separate-git-dir",
        git_dir.to_str().unwrap(),
    ]);
    repo.write("story/changed", "1\n");
    repo.commit("base");
    let stage = Stage {
        stand: repo.path("story"),
        ..Stage::at_top(&repo)
    };
    assert_eq!(Path::new(&stage.git_dir), git_dir);
    stage.play();
    stage.accept();
    is_clean(&repo);
    assert!(git_dir.join("edio").is_dir());
}

/// A work tree without any `.git`, whose git directory lies beside it.
fn told_by_variables(repo: &mut Repo) -> String {
    repo.write("story/changed", "1\n");
    repo.commit("base");
    let git_dir = repo.outside().join("dot files.git");
    fs::rename(repo.path(".git"), &git_dir).unwrap();
    git_dir.to_str().unwrap().to_owned()
}

#[test]
fn told_where_by_variables() {
    let mut repo = Repo::unborn();
    let git_dir = told_by_variables(&mut repo);
    let env = vec![
        ("GIT_DIR", git_dir.clone()),
        ("GIT_WORK_TREE", repo.top.to_str().unwrap().to_owned()),
    ];
    for stand in [repo.path("story"), repo.outside()] {
        let stage = Stage {
            repo: &repo,
            stand,
            flags: Vec::new(),
            env: env.clone(),
            git_dir: git_dir.clone(),
        };
        stage.play();
        stage.accept();
        repo.git([
            "--git-dir",
            &git_dir,
            "--work-tree",
            ".",
            "reset",
            "-q",
            "--hard",
            "HEAD^",
        ]);
    }
}

#[test]
fn told_where_by_variables_that_are_relative() {
    let mut repo = Repo::unborn();
    let git_dir = told_by_variables(&mut repo);
    let env = vec![
        ("GIT_DIR", "../../dot files.git".to_owned()),
        ("GIT_WORK_TREE", "..".to_owned()),
    ];
    let stage = Stage {
        repo: &repo,
        stand: repo.path("story"),
        flags: Vec::new(),
        env,
        git_dir,
    };
    stage.play();
}

#[test]
fn told_where_by_the_config() {
    let mut repo = Repo::unborn();
    let git_dir = told_by_variables(&mut repo);
    repo.git([
        "--git-dir",
        &git_dir,
        "config",
        "core.worktree",
        repo.top.to_str().unwrap(),
    ]);
    let env = vec![("GIT_DIR", git_dir.clone())];
    let stage = Stage {
        repo: &repo,
        stand: repo.outside(),
        flags: Vec::new(),
        env,
        git_dir,
    };
    stage.play();
    stage.accept();
}

#[test]
fn where_there_is_no_work_tree() {
    let repo = stage_set();
    let bare = repo.outside().join("bare.git");
    repo.git(["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let nowhere = repo.outside().join("nowhere");
    fs::create_dir(&nowhere).unwrap();
    for folder in [
        bare.as_path(),
        &repo.path(".git"),
        &repo.path(".git/refs"),
        &nowhere,
    ] {
        for words in [
            &["snapshot"][..],
            &["restore", "1"],
            &["log"],
            &["status"],
            &["accept", "x"],
        ] {
            repo.edio_in(folder, words).fails(4);
        }
        assert!(!folder.join("edio").exists());
    }
    assert!(!repo.has(".git/edio"));
    assert_eq!(repo.edio_refs(), "");
}

#[test]
fn a_bare_repository_with_a_work_tree_elsewhere() {
    let repo = stage_set();
    let git_dir = repo.outside().join("dot files");
    let git_dir = git_dir.to_str().unwrap().to_owned();
    repo.git(["clone", "-q", "--bare", ".", &git_dir]);
    repo.remove(".git");
    let env = vec![
        ("GIT_DIR", git_dir.clone()),
        ("GIT_WORK_TREE", repo.top.to_str().unwrap().to_owned()),
    ];
    let stage = Stage {
        repo: &repo,
        stand: repo.path("story"),
        flags: Vec::new(),
        env,
        git_dir,
    };
    stage.git(&["reset", "-q"]);
    stage.git(&["config", "status.showUntrackedFiles", "no"]);
    stage.play();
    stage.git(&["config", "core.bare", "false"]);
    stage.accept();
    assert_eq!(stage.git(&["status", "--porcelain"]), "");
    assert!(!repo.has(".git"));
}

#[test]
fn a_work_tree_on_another_file_system() {
    let mut repo = stage_set();
    let device = |folder: &Path| fs::metadata(folder).map(|meta| meta.dev()).ok();
    let elsewhere = Path::new("/dev/shm");
    let other = tempfile::Builder::new()
        .prefix("edio-test-")
        .tempdir_in(elsewhere);
    let Some(other) = other
        .ok()
        .filter(|_| device(elsewhere) != device(&repo.top))
    else {
        return left_out("there is no other file system to write to");
    };
    let git_dir = repo.outside().join("store.git");
    repo.top = other.path().join("repo");
    fs::create_dir(&repo.top).unwrap();
    repo.git([
        "init",
        "-q",
        "--separate-git-dir",
        git_dir.to_str().unwrap(),
    ]);
    repo.write("story/changed", "1\n");
    // Such a file is laid out by git in the git directory first, and moved from there.
    repo.write(".gitattributes", "*.txt eol=crlf\n");
    repo.write("lines.txt", "a\r\nb\r\n");
    repo.commit("base");
    repo.remove("lines.txt");
    let stage = Stage::at_top(&repo);
    stage.play();
    stage.edio(&["restore", "0"]).ok();
    assert_eq!(repo.read("lines.txt"), "a\r\nb\r\n");
    stage.edio(&["restore", "2"]).ok();
    stage.accept();
    is_clean(&repo);
}

#[test]
fn a_repository_of_another_user_is_opened_where_git_trusts_it() {
    let repo = stage_set();
    if !repo.is_root() {
        return left_out("only root may give files away");
    }
    let given = Command::new("chown")
        .args(["-R", "65534"])
        .arg(&repo.top)
        .status();
    assert!(given.unwrap().success());
    let refused = repo.edio(["snapshot"]);
    let said = &refused.fails(4).stderr;
    assert!(
        said.contains("hint: if you do: git config --global --add safe.directory"),
        "{refused}"
    );
    assert!(!repo.has(".git/edio"));
    let config = repo.outside().join("gitconfig");
    let settings = fs::read_to_string(&config).unwrap();
    fs::write(&config, settings + "[safe]\n\tdirectory = *\n").unwrap();
    let stage = Stage::at_top(&repo);
    stage.play();
    stage.accept();
    is_clean(&repo);
}

#[test]
fn git_init_in_mid_session() {
    let repo = Repo::unborn();
    repo.remove(".git");
    repo.write("story/changed", "1\n");
    repo.edio(["snapshot"]).fails(4);
    assert_eq!(repo.manifest().len(), 1);
    repo.git(["init", "-q"]);
    let stage = Stage::at_top(&repo);
    stage.play();
    let refs = repo.edio_refs();
    repo.git(["init", "-q"]);
    stage.edio(&["restore", "1"]).ok();
    assert_eq!(repo.read("story/changed"), "1\n");
    stage.edio(&["undo"]).ok();
    assert!(
        refs.lines()
            .all(|line| line.contains("/ops ") || repo.edio_refs().contains(line))
    );
    stage.accept();
    // All that git knew is gone, and the files are there.
    repo.remove(".git");
    repo.git(["init", "-q"]);
    let files = repo.manifest();
    repo.edio(["snapshot"]).ok();
    assert_eq!(repo.manifest(), files);
    assert_eq!(repo.manifest_in(&repo.turn_ref(1)), files);
}
