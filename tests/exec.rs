//! `edio exec`: a command on the files of a turn, in a folder of its own. The user's files, index and refs stay (P1), the
//! turn's files are what a restore would give (P3), and nothing is written outside that folder.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::common::{Ran, Repo};

/// Runs a script of the shell on a turn.
fn exec(repo: &Repo, turn: &str, script: &str) -> Ran {
    repo.edio(["exec", turn, "--", "sh", "-c", script])
}

/// The same in a folder that is kept beside the repository.
fn exec_kept(repo: &Repo, turn: usize, script: &str) -> Ran {
    let (turn, keep) = (turn.to_string(), kept(repo));
    let keep = keep.to_str().unwrap();
    repo.edio(["exec", &turn, "--keep", keep, "--", "sh", "-c", script])
}

fn kept(repo: &Repo) -> PathBuf {
    repo.outside().join("kept")
}

fn tree(repo: &Repo) -> PathBuf {
    kept(repo).join("tree")
}

/// What lies beside the repository: temporary folders would, too.
fn beside(repo: &Repo) -> Vec<OsString> {
    let entries = fs::read_dir(repo.outside()).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.retain(|name| name != "hostile");
    names.sort();
    names
}

fn snapshot(repo: &Repo) {
    repo.edio(["snapshot"]).ok();
}

/// A repository with two turns, and an ignored folder.
fn with_turns() -> Repo {
    let repo = Repo::with(&[
        ("a", "zero\n"),
        ("sub/b", "zero\n"),
        (".gitignore", "ignored\n"),
    ]);
    repo.write("ignored/d", "mine\n");
    repo.write("a", "one\n");
    snapshot(&repo);
    repo.write("a", "two\n");
    repo.write("new/c", "two\n");
    snapshot(&repo);
    repo
}

#[test]
fn the_exit_code_is_the_commands() {
    let repo = with_turns();
    for code in [0, 1, 3, 4, 70, 125, 126, 127, 130, 255] {
        let ran = exec(&repo, "1", &format!("exit {code}"));
        assert_eq!(ran.code, Some(code), "{ran}");
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    }
    for (signal, code) in [("HUP", 129), ("INT", 130), ("KILL", 137), ("TERM", 143)] {
        let ran = exec(&repo, "1", &format!("kill -{signal} $$"));
        assert_eq!(ran.code, Some(code), "{ran}");
    }
    for (word, code) in [("no-such-command", 127), ("./a", 126), ("./sub", 126)] {
        let ran = repo.edio(["exec", "1", word]);
        assert!(ran.fails(code).stderr.starts_with("error: "), "{ran}");
        assert!(ran.stderr.contains(word), "{ran}");
    }
    assert_eq!(beside(&repo), ["gitconfig", "home", "repo"]);
}

#[test]
fn p1_all_of_the_users_stays_as_it_is() {
    let repo = with_turns();
    repo.write("a", "unsaved\n");
    repo.git(["add", "a"]);
    repo.write("a", "unsaved more\n");
    let state = || (repo.git_state(), repo.manifest(), repo.edio_refs());
    let before = state();
    let script = "cat a sub/b; rm -r a sub; echo new > more; git add -A; git commit -qm x; exit 0";
    for turn in ["0", "1", "2", "@", "@-1", "last"] {
        exec(&repo, turn, script).ok();
        assert!(state() == before, "{turn}");
    }
    assert_eq!(exec(&repo, "1", "cat a").ok().stdout, "one\n");
    assert_eq!(exec(&repo, "0", "cat a").ok().stdout, "zero\n");
    assert_eq!(beside(&repo), ["gitconfig", "home", "repo"]);
    assert!(!repo.has(".git/index.lock"));
}

/// A work tree that changes from turn to turn in every way. Returns what was on disk at each turn, from 1.
fn many_turns(repo: &Repo) -> Vec<Vec<String>> {
    let mut disks = Vec::new();
    let mut take = || {
        snapshot(repo);
        disks.push(repo.manifest());
    };
    repo.write("-f", "dash\n");
    repo.write("new\nline", "named\n");
    repo.write(OsStr::from_bytes(b"caf\xe9/\xff"), "bytes\n");
    repo.write("run", "#!/bin/sh\n");
    repo.chmod("run", 0o755);
    repo.link("link", "nowhere/at\nall");
    repo.write("crlf.txt", "one\r\ntwo\r\n");
    repo.write("ident", "$Id$\n");
    repo.write("x.up", "shout\n");
    repo.write("swap", "file\n");
    take();
    repo.chmod("run", 0o644);
    repo.remove("link");
    repo.write("link/inside", "now a folder\n");
    repo.write("crlf.txt", "one\ntwo\n");
    repo.remove("swap");
    repo.write("swap/deep/er", "folder\n");
    repo.remove("-f");
    take();
    repo.remove("link");
    repo.link("link", "swap");
    repo.write("crlf.txt", "one\r\ntwo\n");
    repo.write("run", "");
    repo.remove(OsStr::from_bytes(b"caf\xe9"));
    repo.write("x.up", "SHOUT\n");
    take();
    repo.remove("swap");
    repo.link("swap", "../..");
    repo.remove(".gitattributes");
    repo.write("crlf.txt", "no rules\r\n");
    take();
    disks
}

fn with_rules() -> Repo {
    let repo = Repo::with(&[
        (
            ".gitattributes",
            "*.txt text\nident ident\n*.up filter=up\n",
        ),
        ("base.txt", "base\n"),
    ]);
    repo.git(["config", "filter.up.clean", "tr A-Z a-z"]);
    repo.git(["config", "filter.up.smudge", "tr a-z A-Z"]);
    repo
}

#[test]
fn p3_a_turns_files_are_what_a_restore_would_give() {
    let repo = with_rules();
    let disks = many_turns(&repo);
    let count = disks.len();
    // From any turn to any other, in one folder; and each in a fresh one.
    let pairs = (1..=count).flat_map(|from| (1..=count).flat_map(move |to| [from, to]));
    for turn in pairs {
        exec_kept(&repo, turn, "true").ok();
        assert_eq!(repo.manifest_of(tree(&repo)), disks[turn - 1], "{turn}");
    }
    for turn in 1..=count {
        fs::remove_dir_all(kept(&repo)).unwrap();
        exec_kept(&repo, turn, "true").ok();
        assert_eq!(repo.manifest_of(tree(&repo)), disks[turn - 1], "{turn}");
    }
}

#[test]
fn p3_turn_0_that_nobody_saw_is_as_git_would_check_it_out() {
    let repo = with_rules();
    repo.write("x.up", "shout\n");
    repo.write("sub/.gitattributes", "*.txt eol=crlf\n");
    repo.write("sub/e.txt", "crlf\n");
    repo.commit("filtered");
    repo.write(".gitattributes", "");
    repo.remove("sub");
    snapshot(&repo);
    let ran = exec(&repo, "0", "cat x.up; od -c sub/e.txt | head -1");
    assert_eq!(
        ran.ok().stdout,
        "SHOUT\n0000000   c   r   l   f  \\r  \\n\n"
    );
    // Back and forth, by the rules of each turn.
    for (turn, x, has_sub) in [
        (0, "SHOUT\n", true),
        (1, "shout\n", false),
        (0, "SHOUT\n", true),
    ] {
        exec_kept(&repo, turn, "true").ok();
        assert_eq!(fs::read_to_string(tree(&repo).join("x.up")).unwrap(), x);
        assert_eq!(tree(&repo).join("sub/e.txt").exists(), has_sub);
    }
}

#[test]
fn a_filter_that_fails_is_named_and_nothing_is_run() {
    let repo = with_rules();
    repo.write("x.up", "shout\n");
    repo.commit("filtered");
    repo.write("other", "o\n");
    snapshot(&repo);
    repo.git(["config", "filter.up.smudge", "false"]);
    repo.git(["config", "filter.up.required", "true"]);
    let ran = exec(&repo, "0", "echo ran");
    assert!(ran.fails(1).stderr.contains("a filter failed"), "{ran}");
    assert_eq!(ran.stdout, "");
    assert_eq!(beside(&repo), ["gitconfig", "home", "repo"]);
}

#[test]
fn what_the_command_changed_is_put_right_and_what_it_made_stays() {
    let repo = Repo::with(&[("a", "one\n"), ("d/e/f", "deep\n"), ("run", "#!/bin/sh\n")]);
    repo.chmod("run", 0o755);
    repo.link("link", "a");
    snapshot(&repo);
    let disk = repo.manifest();
    let outside = repo.outside().join("elsewhere");
    fs::create_dir_all(outside.join("e")).unwrap();
    for name in ["f", "e/f"] {
        fs::write(outside.join(name), "theirs\n").unwrap();
    }
    let around = outside.to_str().unwrap();
    for spoil in [
        "rm a",
        "rm -r d",
        "printf 'two\\n' > a",
        // The same size and the same time.
        "touch -r a ../time; printf 'ONE\\n' > a; touch -r ../time a",
        "chmod -x run",
        "chmod +x a",
        "rm a; mkdir a; echo x > a/x",
        "rm -r d; echo x > d",
        "rm -r d; mkfifo d",
        "rm a; mkfifo a",
        "ln -sf run link",
        "rm link; echo one > link",
        &format!("rm -r d; ln -s '{around}' d"),
        &format!("rm -r d/e; ln -s '{around}' d/e"),
        &format!("rm a; ln -s '{around}/f' a"),
        "rm -r a d run link",
        "rm -r ../tree",
        "cd ..; rm -r tree; ln -s elsewhere tree",
        "mv ../tree ../away; echo x > ../tree",
    ] {
        exec_kept(&repo, 1, spoil).ok();
        exec_kept(&repo, 1, "mkdir -p build; echo built > build/it").ok();
        fs::remove_dir_all(tree(&repo).join("build")).unwrap();
        assert_eq!(repo.manifest_of(tree(&repo)), disk, "{spoil}");
        let theirs: Vec<_> = ["f", "e/f"]
            .map(|name| fs::read_to_string(outside.join(name)).unwrap())
            .into();
        assert_eq!(theirs, ["theirs\n", "theirs\n"], "{spoil}");
    }
    exec_kept(
        &repo,
        1,
        "mkdir -p build d/out; echo built > build/it; echo built > d/out/it",
    )
    .ok();
    repo.remove("d");
    repo.write("build/mine", "held\n");
    snapshot(&repo);
    exec_kept(&repo, 2, "true").ok();
    let read = |path: &str| fs::read_to_string(tree(&repo).join(path)).ok();
    assert_eq!(read("build/it").as_deref(), Some("built\n"));
    assert_eq!(read("d/out/it").as_deref(), Some("built\n"));
    assert_eq!(read("build/mine").as_deref(), Some("held\n"));
    assert_eq!(read("d/e/f"), None);
}

#[test]
fn nothing_is_written_through_a_link_that_a_turn_holds() {
    let repo = Repo::with(&[("a", "one\n")]);
    let outside = repo.outside().join("elsewhere");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("x"), "theirs\n").unwrap();
    repo.link("d", outside.to_str().unwrap());
    snapshot(&repo);
    repo.remove("d");
    repo.write("d/x", "the turn's\n");
    snapshot(&repo);
    for turn in [1, 2, 1, 2] {
        exec_kept(&repo, turn, "true").ok();
        assert_eq!(fs::read_to_string(outside.join("x")).unwrap(), "theirs\n");
    }
    // The command has left the link where the turn has a folder; and the whole checkout is one.
    exec_kept(
        &repo,
        2,
        &format!("rm -r d; ln -s '{}' d", outside.display()),
    )
    .ok();
    exec_kept(&repo, 2, "cat d/x").ok();
    fs::remove_dir_all(tree(&repo)).unwrap();
    symlink(&outside, tree(&repo)).unwrap();
    exec_kept(&repo, 2, "true").ok();
    assert!(tree(&repo).symlink_metadata().unwrap().is_dir());
    assert_eq!(
        repo.manifest_of(&outside),
        ["file \"x\" [116, 104, 101, 105, 114, 115, 10]"]
    );
    fs::remove_dir_all(kept(&repo)).unwrap();
    exec(
        &repo,
        "2",
        &format!("ln -s '{}' out; ln -s '{0}' d/out", outside.display()),
    )
    .ok();
    assert!(outside.join("x").exists(), "removing followed a link");
}

#[test]
fn only_what_differs_is_written() {
    let repo = with_turns();
    exec_kept(&repo, 1, "true").ok();
    let written = |path: &str| {
        let meta = fs::metadata(tree(&repo).join(path)).unwrap();
        (meta.ino(), meta.mtime(), meta.mtime_nsec())
    };
    let before = (written("a"), written("sub/b"));
    exec_kept(&repo, 2, "true").ok();
    exec_kept(&repo, 1, "true").ok();
    assert_ne!(written("a"), before.0);
    assert_eq!(written("sub/b"), before.1);
    assert!(!tree(&repo).join("new").exists(), "the empty folder goes");
}

#[test]
fn the_surroundings_are_the_persons_own_but_for_what_leads_to_the_repository() {
    let repo = with_turns();
    let locals = repo
        .git(["rev-parse", "--local-env-vars"])
        .replace('\n', "|");
    let script = format!(
        "env | grep -vE '^(_|PWD|OLDPWD|EDIO_TURN|GIT_CEILING_DIRECTORIES|GIT_ATTR_SOURCE|GIT_NAMESPACE|GIT_QUARANTINE_PATH|{locals})=' | sort"
    );
    let given = |command: &mut Command| {
        command
            .env("GIT_AUTHOR_NAME", "Me")
            .env("MINE", "mine")
            .env("GIT_DIFF_OPTS", "-u5");
        repo.ran(command.env("LC_ALL", "C.UTF-8"))
            .ok()
            .stdout
            .clone()
    };
    let mut plain = repo.like_edio("sh", ["exec"]);
    let mut under = repo.command(["exec", "2", "--", "sh", "-c", &script]);
    assert_eq!(given(&mut under), given(plain.args(["-c", &script])));
    let script = format!(
        "echo $EDIO_TURN; test \"$PWD\" = \"$(pwd -P)\" || echo elsewhere
         env | grep -E '^({locals}|EDIO_AT_WORK)='; git rev-parse --git-dir 2>/dev/null || echo none"
    );
    let mut command = repo.command(["exec", "2", "--", "sh", "-c", &script]);
    command
        .env("GIT_DIR", repo.path(".git"))
        .env("GIT_WORK_TREE", &repo.top)
        .env("GIT_INDEX_FILE", repo.path(".git/index"))
        .env("GIT_PREFIX", "sub/")
        .env("GIT_CONFIG_COUNT", "0");
    assert_eq!(repo.ran(&mut command).ok().stdout, "2\nnone\n");
    // Also a script that names no interpreter.
    repo.write("script", "echo script $EDIO_TURN $GIT_DIR\n");
    repo.chmod("script", 0o755);
    snapshot(&repo);
    let mut command = repo.command(["exec", "3", "./script"]);
    let ran = repo.ran(command.env("GIT_DIR", repo.path(".git")));
    assert_eq!(ran.ok().stdout, "script 3\n");
}

#[test]
fn git_finds_no_repository_around_the_folder() {
    let repo = with_turns();
    let other = repo.outside().join("other");
    fs::create_dir(&other).unwrap();
    repo.git_in(&other, ["init", "-q"]);
    fs::create_dir(other.join("tmp")).unwrap();
    let script =
        "git rev-parse --show-toplevel || echo none; cd sub; git rev-parse --git-dir || echo none";
    for ceilings in [None, Some("/somewhere")] {
        let mut command = repo.command(["exec", "1", "--", "sh", "-c", script]);
        command.env("TMPDIR", other.join("tmp"));
        if let Some(ceilings) = ceilings {
            command.env("GIT_CEILING_DIRECTORIES", ceilings);
        }
        assert_eq!(repo.ran(&mut command).ok().stdout, "none\nnone\n");
    }
    assert_eq!(fs::read_dir(other.join("tmp")).unwrap().count(), 0);
}

#[test]
fn the_command_starts_in_the_subfolder_that_the_person_stands_in() {
    let repo = with_turns();
    let here = ["exec", "2", "--", "sh", "-c", "cat c; basename \"$PWD\""];
    assert_eq!(repo.edio_in("new", here).ok().stdout, "two\nnew\n");
    let lacking = ["exec", "1", "--", "sh", "-c", "cat a; basename \"$PWD\""];
    assert_eq!(repo.edio_in("new", lacking).ok().stdout, "one\ntree\n");
    assert_eq!(repo.edio_in("ignored", lacking).ok().stdout, "one\ntree\n");
    let elsewhere = ["-C", "new", "exec", "2", "cat", "c"];
    assert_eq!(repo.edio(elsewhere).ok().stdout, "two\n");
}

#[test]
fn a_link_leads_to_ones_own_ignored_folder() {
    let repo = with_turns();
    repo.write(".gitignore", "ignored\ndeep\n.env\n");
    repo.write("sub/deep/x", "mine\n");
    repo.write(".env", "secret\n");
    snapshot(&repo);
    let words = |script| {
        let links = ["--link", "ignored", "--link", "sub/deep", "--link", ".env"];
        [&["exec", "3"], &links[..], &["--", "sh", "-c", script]].concat()
    };
    let script = "cat ignored/d sub/deep/x .env; echo more > ignored/new; test -L ignored";
    assert_eq!(repo.edio(words(script)).ok().stdout, "mine\nmine\nsecret\n");
    assert_eq!(
        repo.read("ignored/new"),
        "more\n",
        "what is written there is written into it"
    );
    assert_eq!(repo.read("ignored/d"), "mine\n");
    assert_eq!(
        repo.edio_in("sub", ["exec", "3", "--link", "deep", "cat", "deep/x"])
            .ok()
            .stdout,
        "mine\n"
    );
    // Only where the turn holds nothing: no link in the place of a file or a folder, or below one that is a file.
    let held = [
        "exec",
        "1",
        "--link",
        "new",
        "--link",
        "a",
        "--",
        "sh",
        "-c",
        "test -L new && cat a",
    ];
    assert_eq!(repo.edio(held).ok().stdout, "one\n");
    let held = [
        "exec",
        "2",
        "--link",
        "new",
        "--",
        "sh",
        "-c",
        "! test -L new",
    ];
    repo.edio(held).ok();
    // From turn to turn it comes and goes, and what it leads to stays.
    let keep = kept(&repo);
    let go = |turn: &str, script: &str| {
        let keep = keep.to_str().unwrap();
        repo.edio([
            "exec", turn, "--keep", keep, "--link", "new", "--", "sh", "-c", script,
        ])
        .ok();
    };
    for _ in 0..2 {
        go("1", "test -L new");
        go("2", "! test -L new; test -f new/c");
    }
    go("1", "rm new; mkdir new; echo x > new/x");
    go("1", "test -L new");
    assert_eq!(repo.read("new/c"), "two\n");
    for (bad, code) in [(".", 2), ("../home", 2), (".git", 2), ("nowhere", 1)] {
        let ran = repo.edio(["exec", "1", "--link", bad, "true"]);
        assert!(
            ran.fails(code).stderr.starts_with("error: "),
            "{bad}: {ran}"
        );
    }
    let twice = ["exec", "1", "--link", "sub", "--link", "sub/deep", "true"];
    repo.edio(twice).fails(2);
    assert_eq!(beside(&repo), ["gitconfig", "home", "kept", "repo"]);
}

#[test]
fn a_kept_folder_is_refused_where_it_is_not_edios_or_in_the_way() {
    let repo = with_turns();
    let outside = repo.outside();
    fs::create_dir(outside.join("full")).unwrap();
    fs::write(outside.join("full/mine"), "mine\n").unwrap();
    fs::create_dir(outside.join("empty")).unwrap();
    symlink(&repo.top, outside.join("link")).unwrap();
    let state = (repo.git_state(), repo.manifest());
    for refused in [
        "../full",
        "x",
        "ignored/x",
        ".",
        ".git",
        ".git/x/y",
        "../link/x",
    ] {
        let ran = repo.edio(["exec", "1", "--keep", refused, "--", "echo", "ran"]);
        assert!(ran.fails(3).stderr.contains("hint: "), "{refused}: {ran}");
        assert_eq!(ran.stdout, "");
    }
    repo.edio(["exec", "1", "--keep", "../home/../x/../y", "true"])
        .fails(1);
    repo.edio(["exec", "1", "--keep", "../gitconfig", "true"])
        .fails(1);
    assert!((repo.git_state(), repo.manifest()) == state);
    assert_eq!(fs::read_dir(outside.join("full")).unwrap().count(), 1);
    for taken in ["../empty", "../made/here"] {
        for _ in 0..2 {
            repo.edio(["exec", "1", "--keep", taken, "true"]).ok();
        }
        assert!(repo.path(taken).join("tree/a").exists());
    }
    // From a subfolder it counts from there.
    repo.edio_in("sub", ["exec", "1", "--keep", "../../below", "true"])
        .ok();
    assert!(outside.join("below/tree/a").exists());
    let linked = outside.join("linked");
    repo.git([
        "worktree",
        "add",
        "-q",
        "--detach",
        linked.to_str().unwrap(),
    ]);
    repo.edio_in(&linked, ["snapshot"]).ok();
    let common = repo.path(".git/y");
    let common = common.to_str().unwrap();
    repo.edio_in(&linked, ["exec", "1", "--keep", common, "true"])
        .fails(3);
}

#[test]
fn a_temporary_folder_in_the_work_tree_is_refused() {
    let repo = with_turns();
    let state = (repo.git_state(), repo.manifest());
    for folder in ["sub", "ignored", ".git"] {
        let mut command = repo.command(["exec", "1", "echo", "ran"]);
        let ran = repo.ran(command.env("TMPDIR", repo.path(folder)));
        assert!(ran.fails(3).stderr.contains("--keep"), "{ran}");
        assert_eq!(ran.stdout, "");
    }
    assert!((repo.git_state(), repo.manifest()) == state);
    assert!(!repo.has("sub/edio"));
}

/// Starts edio with these words, and waits until the command has printed `ready`.
fn started(repo: &Repo, words: &[&str]) -> Child {
    let mut command = repo.command(words);
    let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    let mut line = String::new();
    let stdout = child.stdout.as_mut().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    child
}

fn send(signal: &str, pid: u32) {
    let mut kill = Command::new("sh");
    let sent = kill.args(["-c", "kill -$0 $1", signal, &pid.to_string()]);
    assert!(sent.status().unwrap().success());
}

#[test]
fn one_edio_at_a_time_works_in_a_kept_folder() {
    let repo = with_turns();
    let keep = kept(&repo);
    let keep = keep.to_str().unwrap();
    let script = "echo ready; exec sleep 100";
    let child = started(
        &repo,
        &["exec", "1", "--keep", keep, "--", "sh", "-c", script],
    );
    let ran = exec_kept(&repo, 2, "true");
    assert!(
        ran.fails(1).stderr.contains("another edio is at work"),
        "{ran}"
    );
    assert_eq!(fs::read_to_string(tree(&repo).join("a")).unwrap(), "one\n");
    // A snapshot is not kept waiting.
    repo.write("a", "three\n");
    snapshot(&repo);
    send("TERM", child.id());
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(143));
    assert_eq!(exec_kept(&repo, 3, "cat a").ok().stdout, "three\n");
}

#[test]
fn p5_what_a_killed_edio_left_in_a_kept_folder_is_made_anew() {
    let repo = with_turns();
    exec_kept(&repo, 1, "echo built > built").ok();
    // As after a kill while it wrote: what it has written is not noted.
    fs::remove_file(kept(&repo).join("tree.json")).unwrap();
    fs::write(tree(&repo).join("stray"), "half\n").unwrap();
    exec_kept(&repo, 2, "true").ok();
    assert_eq!(
        repo.manifest_of(tree(&repo)),
        repo.manifest()
            .into_iter()
            .filter(|line| !line.contains("ignored/"))
            .collect::<Vec<_>>()
    );
    for broken in ["", "[[", "[[\"../../x\",1]]"] {
        fs::write(kept(&repo).join("tree.json"), broken).unwrap();
        exec_kept(&repo, 1, "cat a").ok();
    }
}

#[test]
fn p5_after_a_signal_the_temporary_folder_is_gone() {
    let repo = with_turns();
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let script = "echo ready; exec sleep 100";
        let child = started(&repo, &["exec", "1", "--", "sh", "-c", script]);
        send(signal, child.id());
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(code));
        assert_eq!(beside(&repo), ["gitconfig", "home", "repo"], "{signal}");
    }
    let ran = repo.on_a_terminal(
        ["exec", "1", "--", "sh", "-c", "echo ready; exec sleep 100"],
        r"until(b'ready'); os.write(fd, b'\x03')",
    );
    assert_eq!(ran.code, Some(130), "{ran}");
    assert_eq!(beside(&repo), ["gitconfig", "home", "repo"]);
}

#[test]
fn p5_a_signal_while_the_files_are_written_ends_it_before_the_command_starts() {
    let repo = Repo::with(&[(".gitattributes", "*.slow filter=slow\n")]);
    repo.write("x.slow", "x\n");
    repo.commit("filtered");
    repo.write("other", "o\n");
    snapshot(&repo);
    // The filter tells edio to end, as a Ctrl-C would while it works.
    repo.git([
        "config",
        "filter.slow.smudge",
        "kill -INT $(cat ../pid); cat",
    ]);
    let pid = repo.outside().join("pid");
    let smudge = format!("kill -INT $(cat '{}'); cat", pid.display());
    repo.git(["config", "filter.slow.smudge", &smudge]);
    let mut command = Command::new("sh");
    repo.surround(&mut command);
    let script = format!(
        "echo $$ > '{}'; exec \"$0\" exec 0 -- echo ran",
        pid.display()
    );
    command
        .args(["-c", &script])
        .arg(crate::common::edio_binary());
    let ran = repo.ran(command.current_dir(&repo.top));
    assert_eq!(ran.fails(130).stdout, "", "{ran}");
    assert_eq!(beside(&repo), ["gitconfig", "home", "pid", "repo"]);
}

#[test]
fn folders_that_may_not_be_written_are_removed_too() {
    let repo = with_turns();
    repo.give_away();
    let script = "mkdir -p deep/er; echo x > deep/er/x; chmod 444 deep/er/x; chmod 000 deep/er; chmod 555 deep .";
    repo.edio_without_rights(["exec", "1", "--", "sh", "-c", script])
        .ok();
    assert_eq!(beside(&repo), ["edio", "gitconfig", "home", "repo"]);
}

#[test]
fn the_terminal_and_the_streams_are_the_commands() {
    let repo = with_turns();
    let ran = repo.edio_fed(
        ["exec", "1", "--", "sh", "-c", "cat; echo err >&2"],
        b"in\0put",
    );
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        ("in\0put", "err\n")
    );
    let script = "test -t 0 && test -t 1 && test -t 2 && echo a terminal";
    let ran = repo.on_a_terminal(["exec", "1", "--", "sh", "-c", script], "");
    assert!(ran.ok().stdout.contains("a terminal"), "{ran}");
    let words = ["exec", "1", "echo", "--json", "-q", "--keep", "x"];
    assert_eq!(repo.edio(words).ok().stdout, "--json -q --keep x\n");
}

#[test]
fn submodules_are_empty_and_what_a_turn_does_not_hold_is_named() {
    let repo = Repo::with(&[("a", "one\n")]);
    let library = repo.outside().join("library");
    fs::create_dir(&library).unwrap();
    repo.git_in(&library, ["init", "-q"]);
    fs::write(library.join("l"), "l\n").unwrap();
    repo.git_in(&library, ["add", "l"]);
    repo.git_in(&library, ["commit", "-q", "-m", "l"]);
    repo.git(["submodule", "add", "-q", library.to_str().unwrap(), "mod"]);
    repo.commit("with a submodule");
    repo.git(["config", "edio.maxFileSize", "10"]);
    repo.write("large", "more than ten bytes\n");
    repo.write("a", "two\n");
    snapshot(&repo);
    let ran = exec(&repo, "1", "ls -A mod; test -d mod; test ! -e large");
    assert_eq!(ran.ok().stdout, "");
    for named in [
        "mod (a submodule's files are its own)",
        "large (it has 20 bytes",
    ] {
        assert_eq!(ran.stderr.matches(named).count(), 1, "{named}: {ran}");
    }
    assert_eq!(repo.edio(["-q", "exec", "1", "true"]).ok().stderr, "");
    // A file where the submodule was, and back.
    repo.git(["rm", "-q", "-f", "mod"]);
    repo.write("mod", "a file\n");
    snapshot(&repo);
    for (turn, is_folder) in [(1, true), (2, false), (1, true)] {
        exec_kept(&repo, turn, "true").ok();
        assert_eq!(tree(&repo).join("mod").is_dir(), is_folder, "{turn}");
    }
    exec_kept(&repo, 1, "echo made > mod/it").ok();
    exec_kept(&repo, 1, "cat mod/it").ok();
}

#[test]
fn bad_arguments_and_places_are_refused() {
    let repo = with_turns();
    for (words, code) in [
        (&["exec"][..], 2),
        (&["exec", "1"], 2),
        (&["exec", "x", "true"], 2),
        (&["exec", "99", "true"], 1),
        (&["exec", "1.5", "true"], 1),
        (&["--session", "sess_1_00000000", "exec", "1", "true"], 1),
    ] {
        repo.edio(words).fails(code);
    }
    let other = Repo::with(&[("a", "one\n")]);
    other.edio(["exec", "0", "true"]).fails(1);
    other
        .edio_in(other.outside(), ["exec", "1", "true"])
        .fails(4);
    let ran = repo.edio(["--json", "exec", "99", "true"]);
    assert!(
        ran.fails(1).stderr.starts_with("{\"v\":1,\"error\":"),
        "{ran}"
    );
}

#[test]
fn turns_of_other_sessions_are_there_too() {
    let repo = with_turns();
    let id = repo.sessions("active")[0].clone();
    repo.edio(["accept", "done"]).ok();
    let words = ["--session", &id, "exec", "1", "cat", "a"];
    assert_eq!(repo.edio(words).ok().stdout, "one\n");
}

#[test]
fn steps_are_there_too() {
    let repo = with_turns();
    repo.write("a", "step\n");
    repo.step("3.1");
    let ran = exec(&repo, "3.1", "cat a; echo $EDIO_TURN");
    assert_eq!(ran.ok().stdout, "step\n3.1\n");
    assert!(Path::new(&repo.top).exists());
}

/// A filter by the name of Git LFS that does what Git LFS does: pointers in blobs, contents elsewhere.
fn with_contents_elsewhere() -> Repo {
    let repo = Repo::with(&[("other", "o\n")]);
    let store = repo.outside().join("store");
    fs::create_dir(&store).unwrap();
    let store = store.display();
    let clean = format!(
        "t=$(mktemp); cat > $t; h=$(sha256sum < $t | cut -d' ' -f1); n=$(wc -c < $t); mv $t '{store}'/$h; \
         printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\nsize %s\\n' $h $n"
    );
    let smudge = format!(
        "p=$(cat); h=$(echo \"$p\" | sed -n 's/^oid sha256://p'); cat '{store}'/$h 2>/dev/null || echo \"$p\""
    );
    repo.git(["config", "filter.lfs.clean", &clean]);
    repo.git(["config", "filter.lfs.smudge", &smudge]);
    repo.write(".gitattributes", "*.bin filter=lfs -text\n");
    repo
}

#[test]
fn p3_contents_that_git_lfs_keeps_are_there_and_pointers_are_refused() {
    let repo = with_contents_elsewhere();
    let mut disks = Vec::new();
    for content in ["one\0\r\n", "two\n", "three"] {
        repo.write("a.bin", content);
        snapshot(&repo);
        disks.push(repo.manifest());
    }
    // The rules of now are not those of then.
    repo.write(".gitattributes", "");
    repo.remove("a.bin");
    snapshot(&repo);
    for turn in [1, 2, 3, 1] {
        exec_kept(&repo, turn, "true").ok();
        assert_eq!(repo.manifest_of(tree(&repo)), disks[turn - 1], "{turn}");
    }
    fs::remove_dir_all(repo.outside().join("store")).unwrap();
    let ran = exec(&repo, "2", "echo ran");
    assert!(
        ran.fails(1)
            .stderr
            .contains("Git LFS has not the content of a.bin"),
        "{ran}"
    );
    assert_eq!(ran.stdout, "");
}

#[test]
fn content_that_a_partial_clone_lacks_is_named() {
    let repo = Repo::with(&[("a", "zero\n"), ("b", "zero\n")]);
    repo.write("a", "one\n");
    repo.commit("later");
    repo.git(["config", "uploadpack.allowFilter", "true"]);
    let clone = repo.outside().join("clone");
    let url = format!("file://{}", repo.top.display());
    let words = ["clone", "-q", "--filter=blob:none", "--no-checkout", &url];
    repo.git([&words[..], &[clone.to_str().unwrap()]].concat());
    repo.git_in(&clone, ["read-tree", "HEAD"]);
    repo.git_in(&clone, ["update-index", "--skip-worktree", "a", "b"]);
    fs::write(clone.join("c"), "c\n").unwrap();
    repo.edio_in(&clone, ["snapshot"]).ok();
    let ran = repo.edio_in(&clone, ["exec", "0", "echo", "ran"]);
    assert!(ran.fails(1).stderr.contains("can't be read"), "{ran}");
    assert!(ran.stderr.contains("to fetch it: git cat-file -e"), "{ran}");
    assert_eq!(ran.stdout, "");
}
