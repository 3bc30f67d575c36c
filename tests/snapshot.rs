//! `edio snapshot`: P1 (invisible) and P2 (complete).

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;
use std::time::{Duration, SystemTime};

use crate::common::{Repo, edio_binary};

/// Takes a turn, and returns what it named as not held: path and reason.
fn skipped(repo: &Repo) -> Vec<(String, String)> {
    let ran = repo.edio(["snapshot", "--json"]);
    ran.ok();
    skipped_of(&ran.json()[0])
}

fn skipped_of(record: &serde_json::Value) -> Vec<(String, String)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let skipped = record["skipped"].as_array().unwrap();
    skipped
        .iter()
        .map(|s| (text(&s["path"]), text(&s["why"])))
        .collect()
}

fn snapshot(repo: &Repo) {
    repo.edio(["snapshot"]).ok();
}

/// Takes a turn, which must hold the work tree to the last byte. Nothing may be ignored there.
fn snapshot_is_whole(repo: &Repo, number: u32) {
    snapshot(repo);
    assert_eq!(repo.manifest_in(&repo.turn_ref(number)), repo.manifest());
}

/// A hook of every name that git knows, each of which leaves a trace.
fn lay_traps(repo: &Repo) {
    let hooks = "applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg \
                 commit-msg post-commit pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive \
                 post-receive post-update reference-transaction push-to-checkout pre-auto-gc post-rewrite \
                 sendemail-validate fsmonitor-watchman p4-changelist post-index-change";
    for hook in hooks.split_whitespace() {
        let file = format!(".git/hooks/{hook}");
        repo.write(
            &file,
            format!("#!/bin/sh\necho {hook} >> '{}'\n", trap(repo).display()),
        );
        repo.chmod(&file, 0o755);
    }
}

fn trap(repo: &Repo) -> std::path::PathBuf {
    repo.outside().join("sprung")
}

/// Every kind of state that a person may have in git, then turns 1 and 2 of edio's.
fn lived_in() -> Repo {
    let files = [
        ("a", "one\n"),
        ("b", "two\n"),
        ("c", "three\n"),
        ("d", "four\n"),
        ("e/f", "five\n"),
    ];
    let repo = Repo::with(&files);
    repo.git(["config", "core.logAllRefUpdates", "always"]);
    repo.git(["tag", "v1"]);
    repo.git(["branch", "other"]);
    repo.write("a", "stashed\n");
    repo.git(["stash", "-q"]);
    repo.write("a", "staged\n");
    repo.git(["add", "a"]);
    repo.write("a", "worktree\n");
    repo.git(["rm", "-q", "--cached", "b"]);
    repo.write("intended", "i\n");
    repo.git(["add", "-N", "intended"]);
    repo.git(["update-index", "--assume-unchanged", "d"]);
    snapshot(&repo);
    repo.remove("c");
    repo.write("e/new", "n\n");
    snapshot(&repo);
    repo.write("e/f", "unsaved\n");
    repo
}

#[test]
fn p1_no_command_changes_a_file_of_gits_or_runs_a_hook() {
    let repo = lived_in();
    lay_traps(&repo);
    let commands = "|status|status --json|log|log -p|log --json|log --all|log e|show|show 1 --json|diff|diff 2|diff 1..2\
                    |diff --workspace|diff --workspace --json|restore 1 --dry-run|restore 1 -f a --dry-run --json\
                    |snapshot --if-changed|snapshot|restore 1|restore 1 -f c|restore 2|restore 9|snapshot -m x";
    for words in commands.split('|') {
        let before = repo.git_files();
        let ran = repo.edio(words.split_whitespace());
        assert_eq!(
            ran.code,
            Some(i32::from(words == "restore 9")),
            "{words}\n{ran}"
        );
        assert_eq!(repo.git_files(), before, "edio {words}");
        assert!(
            !trap(&repo).exists(),
            "edio {words} ran {:?}",
            fs::read_to_string(trap(&repo))
        );
    }
    repo.fsck();
}

#[test]
fn p1_commands_that_only_look_change_no_file_and_take_no_turn() {
    let repo = lived_in();
    let (files, refs) = (repo.everything_in(&repo.top), repo.edio_refs());
    let work_tree = |files: Vec<String>| -> Vec<String> {
        files
            .into_iter()
            .filter(|line| !line.starts_with("\".git/"))
            .collect()
    };
    let commands = "|status|log -p|show 1|diff 1..2|diff --workspace|restore 1 --dry-run|restore 1 -f a --dry-run";
    for words in commands.split('|') {
        repo.edio(words.split_whitespace()).ok();
        assert_eq!(
            work_tree(repo.everything_in(&repo.top)),
            work_tree(files.clone()),
            "edio {words}"
        );
        assert_eq!(repo.edio_refs(), refs, "edio {words}");
    }
}

#[test]
fn p1_a_snapshot_leaves_every_file_of_the_work_tree_as_it_is() {
    let repo = lived_in();
    let work_tree = || {
        let files = repo.everything_in(&repo.top).into_iter();
        files
            .filter(|line| !line.starts_with("\".git/"))
            .collect::<Vec<_>>()
    };
    let before = work_tree();
    snapshot(&repo);
    assert_eq!(work_tree(), before);
}

#[test]
fn p1_a_snapshot_needs_no_index_lock() {
    let repo = Repo::with(&[("a", "1\n")]);
    repo.write(".git/index.lock", "");
    repo.write("a", "2\n");
    snapshot(&repo);
    assert_eq!(repo.in_turn(1, "a").as_deref(), Some("2\n"));
    repo.edio(["restore", "0"]).ok();
    assert_eq!(repo.read("a"), "1\n");
    assert!(repo.has(".git/index.lock"), "the lock is another's");
}

#[test]
fn a_lock_that_a_killed_git_left_in_the_scratch_folder_stops_nothing() {
    let repo = Repo::with(&[("a.txt", "0")]);
    repo.edio(["init"]).ok();
    repo.write("a.txt", "1");
    snapshot(&repo);
    let scratch = repo.path(".git/edio");
    let names: Vec<String> = fs::read_dir(&scratch)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("index") && !name.ends_with(".lock"))
        .chain(["index.scan".to_owned()])
        .collect();
    for (round, command) in [
        vec!["snapshot"],
        vec!["restore", "1"],
        vec!["undo"],
        vec!["status"],
        vec!["accept", "all"],
        vec!["undo"],
    ]
    .into_iter()
    .enumerate()
    {
        for name in &names {
            repo.write(format!(".git/edio/{name}.lock"), "");
        }
        if command[0] != "undo" {
            repo.write("a.txt", format!("round {round}"));
        }
        repo.edio(command).ok();
    }
}

#[test]
fn p1_the_index_of_a_submodule_stays_as_it_is() {
    let repo = Repo::with(&[("a", "1\n")]);
    let other = repo.outside().join("other");
    repo.git(["init", "-q", other.to_str().unwrap()]);
    fs::write(other.join("s"), "1\n").unwrap();
    repo.git_in(&other, ["add", "-A"]);
    repo.git_in(&other, ["commit", "-qm", "s"]);
    repo.git(["submodule", "add", "-q", other.to_str().unwrap(), "sub"]);
    repo.git(["commit", "-qm", "sub"]);
    // The index of the submodule is out of date: a `git status` in there would rewrite it.
    repo.write("sub/s", "2\n");
    repo.write("sub/s", "1\n");
    repo.write("sub/s2", "2\n");
    let before = repo.git_files();
    assert!(
        before
            .iter()
            .any(|line| line.starts_with("\"modules/sub/index\""))
    );
    repo.write("a", "2\n");
    snapshot(&repo);
    repo.edio(["diff", "--workspace"]).ok();
    repo.edio(["restore", "0"]).ok();
    assert_eq!(repo.git_files(), before);
}

#[test]
fn p2_every_kind_of_file_is_held_as_it_stands() {
    let repo = Repo::with(&[
        ("tracked", "t\n"),
        ("deleted", "d\n"),
        ("old name", "moved\n"),
        ("run.sh", "#!\n"),
    ]);
    repo.remove("deleted");
    fs::rename(repo.path("old name"), repo.path("new name")).unwrap();
    repo.chmod("run.sh", 0o755);
    repo.write("empty", "");
    repo.write("no line end", "x");
    repo.write("crlf", "a\r\nb\n\r");
    repo.write("nul", b"\0\x01\xff\xfe");
    repo.write("big", vec![b'x'; 300_000]);
    repo.write("deep/er/and/deeper", "d\n");
    repo.write("new.sh", "#!\n");
    repo.chmod("new.sh", 0o711);
    repo.write("owner only", "o\n");
    repo.chmod("owner only", 0o600);
    for (name, target) in [
        ("dangling", "nowhere"),
        ("to folder", "deep"),
        ("absolute", "/etc/passwd"),
        ("loop", "loop"),
        ("out", "../../x"),
    ] {
        repo.link(name, target);
    }
    std::os::unix::fs::symlink(OsStr::from_bytes(b"caf\xe9\n"), repo.path("odd target")).unwrap();
    snapshot_is_whole(&repo, 1);

    repo.chmod("run.sh", 0o644);
    repo.chmod("new.sh", 0o666);
    repo.chmod("empty", 0o755);
    snapshot_is_whole(&repo, 2);
    repo.fsck();
}

/// Names that are hard to pass on.
const ODD_NAMES: &[&[u8]] = &[
    b" ",
    b" lead",
    b"trail ",
    b"two  blanks",
    b"tab\t",
    b"new\nline",
    b"\nfirst",
    b"last\n",
    b"cr\r",
    b"\"quoted\"",
    b"it's",
    b"back\\slash",
    b"\\",
    b"-dash",
    b"--",
    b"-rf",
    b"--help",
    b"*",
    b"?",
    b"[a]",
    b"a*b",
    b":!x",
    b":(top)x",
    b":",
    b"#hash",
    b"!bang",
    b"$HOME",
    b"`id`",
    b"$(id)",
    b"a;b",
    b"a|b",
    b"a&b",
    b"%s",
    b"{a,b}",
    b"~",
    b"@",
    b"HEAD",
    b"\x01",
    b"\x1b[31mred",
    b"\x7f",
    b"caf\xe9",
    b"\xff\xfe",
    b"caf\xc3\xa9",
    b"cafe\xcc\x81",
    b"\xe2\x80\xae",
    b"...",
    b"a.lock",
    b".gitx",
    b"git",
    b"100644 blob",
    b"fatal: Unable to process path a",
    b"dir -f/x y",
    b"d\xe9/\n",
];

#[test]
fn p2_names_of_every_kind_are_held() {
    let repo = Repo::with(&[("a", "1\n")]);
    for (at, name) in ODD_NAMES.iter().enumerate() {
        repo.write(OsStr::from_bytes(name), format!("{at}\n"));
    }
    snapshot_is_whole(&repo, 1);
    for name in ODD_NAMES.iter().step_by(2) {
        repo.remove(OsStr::from_bytes(name));
    }
    for name in ODD_NAMES.iter().skip(1).step_by(2) {
        repo.write(OsStr::from_bytes(name), "changed\n");
    }
    snapshot_is_whole(&repo, 2);
    repo.git(["add", "-A"]);
    repo.edio(["restore", "1"]).ok();
    assert_eq!(repo.manifest(), repo.manifest_in(&repo.turn_ref(1)));
    repo.edio(["restore", "2"]).ok();
    assert_eq!(repo.manifest(), repo.manifest_in(&repo.turn_ref(2)));
    repo.fsck();
}

/// git takes what lies beyond such a link for unchanged.
#[test]
fn p2_what_was_in_a_folder_that_is_a_link_to_itself_now_is_gone() {
    for rule in ["", "d\n"] {
        let repo = Repo::with(&[("a", "a\n"), ("d/x", "1\n"), ("d/e/y", "1\n")]);
        repo.edio(["snapshot"]).ok();
        repo.write(".gitignore", rule);
        repo.remove("d");
        repo.link("d", "d");
        repo.edio(["snapshot"]).ok();
        assert_eq!(repo.in_turn(2, "d/x"), None);
        assert_eq!(repo.in_turn(2, "d/e/y"), None);
        assert_eq!(repo.in_turn(2, "d").is_some(), rule.is_empty());
        let ran = repo.edio(["restore", "1"]);
        match rule {
            "" => assert_eq!(repo.read("d/x"), "1\n"),
            _ => drop(ran.fails(3)),
        }
    }
}

#[test]
fn p2_files_folders_and_links_change_places() {
    let repo = Repo::with(&[
        ("p", "file\n"),
        ("q/x", "1\n"),
        ("q/y/z", "2\n"),
        ("r", "file\n"),
        ("s/t", "3\n"),
    ]);
    snapshot(&repo);
    repo.remove("p");
    repo.write("p/inside/deep", "1\n");
    repo.remove("q");
    repo.write("q", "file\n");
    repo.remove("r");
    repo.link("r", "q");
    repo.remove("s");
    repo.link("s", "p");
    snapshot_is_whole(&repo, 2);
    repo.remove("r");
    repo.write("r/x", "1\n");
    repo.remove("s");
    repo.write("s", "file\n");
    repo.remove("q");
    repo.link("q", "nowhere");
    repo.remove("p");
    snapshot_is_whole(&repo, 3);
    // Untracked ones, which only edio's own index knows.
    repo.write("u/v", "1\n");
    snapshot_is_whole(&repo, 4);
    repo.remove("u");
    repo.write("u", "file\n");
    snapshot_is_whole(&repo, 5);
    repo.remove("u");
    repo.link("u", "s");
    snapshot_is_whole(&repo, 6);
    repo.remove("u");
    repo.write("u/v/w", "1\n");
    snapshot_is_whole(&repo, 7);
}

#[test]
fn p2_intent_to_add_is_held_as_a_file_and_gone_where_it_is_gone() {
    let repo = Repo::with(&[("a", "1\n")]);
    repo.write("there", "t\n");
    repo.write("gone", "g\n");
    repo.git(["add", "-N", "there", "gone"]);
    repo.remove("gone");
    snapshot_is_whole(&repo, 1);
    repo.write("gone", "back\n");
    repo.remove("there");
    snapshot_is_whole(&repo, 2);
}

#[test]
fn p2_assume_unchanged_hides_no_edit() {
    let repo = Repo::with(&[("edited", "1\n"), ("deleted", "1\n"), ("later", "1\n")]);
    repo.git([
        "update-index",
        "--assume-unchanged",
        "edited",
        "deleted",
        "later",
    ]);
    repo.write("edited", "2\n");
    repo.remove("deleted");
    snapshot_is_whole(&repo, 1);
    repo.write("deleted", "made again\n");
    repo.write("later", "2\n");
    repo.remove("edited");
    snapshot_is_whole(&repo, 2);
}

#[test]
fn p2_skip_worktree_hides_no_edit() {
    let repo = Repo::with(&[("edited", "1\n"), ("absent", "1\n"), ("later", "1\n")]);
    repo.git([
        "update-index",
        "--skip-worktree",
        "edited",
        "absent",
        "later",
    ]);
    repo.write("edited", "2\n");
    repo.remove("absent");
    snapshot(&repo);
    assert_eq!(repo.in_turn(1, "edited").as_deref(), Some("2\n"));
    repo.write("absent", "made again\n");
    repo.write("later", "2\n");
    snapshot_is_whole(&repo, 2);
}

#[test]
fn p2_both_flags_together_hide_no_edit() {
    let repo = Repo::with(&[("a", "1\n"), ("b", "1\n")]);
    repo.git(["update-index", "--skip-worktree", "a"]);
    repo.git(["update-index", "--assume-unchanged", "a"]);
    repo.write("a", "2\n");
    snapshot_is_whole(&repo, 1);
    // Set between two turns, when edio has a cache that knows nothing of it.
    repo.git(["update-index", "--assume-unchanged", "b"]);
    repo.write("b", "2\n");
    snapshot_is_whole(&repo, 2);
}

#[test]
fn p2_a_file_added_by_force_is_held_also_when_it_was_away() {
    let repo = Repo::with(&[(".gitignore", "build/\n*.o\n"), ("a", "1\n")]);
    repo.write("build/keep", "k\n");
    repo.write("build/drop", "d\n");
    repo.write("x.o", "x\n");
    repo.git(["add", "-f", "build/keep", "x.o"]);
    let held = |turn| {
        (
            repo.in_turn(turn, "build/keep"),
            repo.in_turn(turn, "build/drop"),
            repo.in_turn(turn, "x.o"),
        )
    };
    let text = |text: &str| Some(text.to_owned());
    snapshot(&repo);
    assert_eq!(held(1), (text("k\n"), None, text("x\n")));
    repo.remove("build");
    repo.remove("x.o");
    snapshot(&repo);
    assert_eq!(held(2), (None, None, None));
    snapshot(&repo);
    repo.write("build/keep", "again\n");
    repo.write("build/drop", "d\n");
    repo.write("x.o", "again\n");
    snapshot(&repo);
    assert_eq!(held(4), (text("again\n"), None, text("again\n")));
}

#[test]
fn p2_ignore_rules_that_change_between_turns_are_obeyed() {
    let repo = Repo::with(&[("a", "1\n"), ("tracked.log", "t\n"), ("sub/x", "1\n")]);
    repo.write("u.log", "u\n");
    repo.write("sub/u.log", "u\n");
    let excludes = repo.outside().join("excludes");
    let held = |turn| {
        let names = ["u.log", "sub/u.log", "tracked.log"];
        names.map(|name| repo.in_turn(turn, name).is_some())
    };
    let mut turn = 0;
    let mut turn_holds = |what: &str, expected: [bool; 3]| {
        snapshot(&repo);
        turn += 1;
        assert_eq!(held(turn), expected, "turn {turn}, {what}");
    };
    turn_holds("no rule", [true, true, true]);
    repo.write(".gitignore", "*.log\n");
    turn_holds(".gitignore", [false, false, true]);
    turn_holds("once more", [false, false, true]);
    repo.write("sub/.gitignore", "!u.log\n");
    turn_holds("taken back deeper down", [false, true, true]);
    repo.remove(".gitignore");
    repo.remove("sub/.gitignore");
    turn_holds("no rule again", [true, true, true]);
    repo.write(".git/info/exclude", "/u.log\n");
    turn_holds("info/exclude", [false, true, true]);
    repo.write(".git/info/exclude", "");
    fs::write(&excludes, "sub/\n").unwrap();
    repo.git(["config", "core.excludesFile", excludes.to_str().unwrap()]);
    turn_holds("core.excludesFile", [true, false, true]);
    fs::write(&excludes, "u.log\n").unwrap();
    turn_holds("another core.excludesFile", [false, false, true]);
    repo.git(["config", "--unset", "core.excludesFile"]);
    turn_holds("none any more", [true, true, true]);
    // Same size, at once.
    repo.write(".gitignore", "a.log\n");
    turn_holds("a rule for another file", [true, true, true]);
    repo.write(".gitignore", "u.log\n");
    turn_holds("a rule of the same size", [false, false, true]);
}

#[test]
fn p2_what_the_user_adds_and_takes_out_between_turns_counts() {
    let repo = Repo::with(&[("a", "1\n")]);
    repo.write("u", "1\n");
    snapshot(&repo);
    repo.git(["add", "u"]);
    repo.write(".gitignore", "u\n");
    snapshot(&repo);
    assert_eq!(
        repo.in_turn(2, "u").as_deref(),
        Some("1\n"),
        "it is tracked now"
    );
    repo.write("u", "2\n");
    snapshot(&repo);
    assert_eq!(repo.in_turn(3, "u").as_deref(), Some("2\n"));
    repo.git(["rm", "-qf", "--cached", "u"]);
    snapshot(&repo);
    assert_eq!(repo.in_turn(4, "u"), None, "it is ignored now");
    repo.remove(".gitignore");
    snapshot_is_whole(&repo, 5);
    repo.git(["rm", "-q", "--cached", "a"]);
    snapshot_is_whole(&repo, 6);
    repo.git(["reset", "-q", "--hard"]);
    snapshot_is_whole(&repo, 7);
    repo.git(["switch", "-q", "-c", "other"]);
    repo.write("only here", "1\n");
    repo.commit("other");
    snapshot_is_whole(&repo, 8);
    repo.git(["switch", "-q", "main"]);
    snapshot_is_whole(&repo, 9);
    repo.write("a", "stashed\n");
    repo.git(["stash", "-q", "-u"]);
    snapshot_is_whole(&repo, 10);
    repo.git(["stash", "pop", "-q"]);
    snapshot_is_whole(&repo, 11);
}

#[test]
fn p2_fifos_and_sockets_are_named_and_left_out() {
    let repo = Repo::with(&[("a", "1\n"), ("becomes", "2\n")]);
    repo.fifo("pipe");
    fs::create_dir(repo.path("d")).unwrap();
    repo.fifo("d/pipe");
    let _listening = UnixListener::bind(repo.path("socket")).unwrap();
    repo.remove("becomes");
    repo.fifo("becomes");
    let named = skipped(&repo);
    let names: Vec<&str> = named.iter().map(|(path, _)| path.as_str()).collect();
    // git itself passes over what was never a file, so only edio's own look can name those.
    assert!(names.contains(&"becomes"), "{named:?}");
    assert_eq!(repo.in_turn(1, "a").as_deref(), Some("1\n"));
    assert_eq!(repo.in_turn(1, "becomes"), None);
    let shown = repo.edio(["show", "1", "--json"]);
    assert_eq!(
        skipped_of(&shown.ok().json()[0]),
        named,
        "the turn itself names them"
    );
    assert!(
        repo.edio(["snapshot"]).ok().stderr.contains("becomes"),
        "and the output does"
    );
    repo.edio(["restore", "1"]).ok();
    assert!(repo.has("pipe") && repo.has("d/pipe") && repo.has("socket") && repo.has("becomes"));
}

#[test]
fn p2_a_file_that_may_not_be_read_is_named_and_the_rest_is_held() {
    let repo = Repo::with(&[("a", "1\n"), ("closed", "c\n"), ("d/x", "1\n")]);
    repo.write("a", "2\n");
    repo.write("closed new", "n\n");
    repo.write("d/closed", "n\n");
    for path in ["closed", "closed new", "d/closed"] {
        repo.chmod(path, 0o000);
    }
    repo.give_away();
    let ran = repo.edio_without_rights(["snapshot", "--json"]);
    let mut named: Vec<String> = skipped_of(&ran.ok().json()[0])
        .into_iter()
        .map(|(path, _)| path)
        .collect();
    named.sort();
    assert_eq!(named, ["closed", "closed new", "d/closed"]);
    assert_eq!(repo.in_turn(1, "a").as_deref(), Some("2\n"));
    assert_eq!(repo.in_turn(1, "d/x").as_deref(), Some("1\n"));
    // Readable again, and held again.
    for path in ["closed", "closed new", "d/closed"] {
        repo.chmod(path, 0o644);
    }
    repo.edio_without_rights(["snapshot"]).ok();
    assert_eq!(repo.manifest_in(&repo.turn_ref(2)), repo.manifest());
    // And a restore of the turn that did not hold them leaves them alone.
    let restored = repo.edio_without_rights(["restore", "1"]);
    restored.ok();
    for path in ["closed", "closed new", "d/closed"] {
        assert!(repo.has(path), "{path}: {restored}");
        assert!(restored.stderr.contains(path), "{path}: {restored}");
    }
}

#[test]
fn p2_a_folder_that_may_not_be_read_is_named_and_left_alone() {
    let repo = Repo::with(&[("a", "1\n"), ("closed/tracked", "t\n")]);
    repo.write("closed/new", "n\n");
    repo.write("a", "2\n");
    repo.chmod("closed", 0o000);
    repo.give_away();
    let ran = repo.edio_without_rights(["snapshot", "--json"]);
    let named = skipped_of(&ran.ok().json()[0]);
    assert!(
        named.iter().any(|(path, _)| path.starts_with("closed")),
        "{ran}"
    );
    repo.chmod("closed", 0o755);
    repo.edio_without_rights(["snapshot"]).ok();
    assert_eq!(repo.manifest_in(&repo.turn_ref(2)), repo.manifest());
    repo.edio_without_rights(["restore", "1"]).ok();
    assert_eq!(
        repo.read("closed/new"),
        "n\n",
        "turn 1 did not see it, so it takes nothing away"
    );
    assert_eq!(repo.read("closed/tracked"), "t\n");
}

#[test]
fn p2_what_a_turn_does_not_hold_is_left_alone_however_much_it_is() {
    let repo = Repo::with(&[("a", "1\n")]);
    let names: Vec<String> = (10..40).map(|n| format!("f{n}")).collect();
    for name in &names {
        repo.write(name, "1\n");
    }
    repo.commit("thirty files");
    for name in &names {
        repo.remove(name);
        repo.fifo(name);
    }
    let ran = repo.edio(["snapshot", "--json"]);
    assert_eq!(ran.ok().json()[0]["skipped_count"], 30);
    for name in &names {
        repo.remove(name);
        repo.write(name, "2\n");
    }
    snapshot(&repo);
    repo.edio(["restore", "1"]).ok();
    let left: Vec<&String> = names.iter().filter(|name| repo.has(name)).collect();
    assert_eq!(left.len(), 30, "left: {left:?}");
}

#[test]
fn p2_names_that_git_cannot_hold_are_named() {
    let repo = Repo::with(&[("a", "1\n")]);
    repo.write(".GIT/x", "1\n");
    repo.write("d/git~1", "1\n");
    repo.link(".gitmodules", "a");
    repo.write("a", "2\n");
    repo.write("b", "1\n");
    let named = skipped(&repo);
    for name in [".GIT", "d/git~1", ".gitmodules"] {
        assert!(
            named.iter().any(|(path, _)| path.starts_with(name)),
            "{name} is not in {named:?}"
        );
    }
    assert_eq!(repo.in_turn(1, "a").as_deref(), Some("2\n"));
    assert_eq!(repo.in_turn(1, "b").as_deref(), Some("1\n"));
    repo.edio(["restore", "0"]).ok();
    assert!(repo.has(".GIT/x") && repo.has("d/git~1") && repo.has(".gitmodules"));
    repo.fsck();
}

#[test]
fn p2_what_git_once_refused_obeys_the_ignore_rules_all_the_same() {
    let repo = Repo::with(&[(".gitattributes", "*.enc filter=lock\n")]);
    repo.git(["config", "filter.lock.clean", "false"]);
    repo.git(["config", "filter.lock.required", "true"]);
    repo.write("a.enc", "secret\n");
    assert_eq!(skipped(&repo).len(), 1);
    repo.git(["config", "filter.lock.clean", "cat"]);
    repo.write(".gitignore", "*.enc\n");
    snapshot(&repo);
    assert_eq!(repo.in_turn(2, "a.enc"), None);
}

/// Where a file is as new as the index, git reads it through its filters whenever it writes an index.
#[test]
fn p2_a_required_filter_that_fails_for_a_file_as_new_as_the_index_stops_nothing() {
    for key in ["clean", "process"] {
        let repo = Repo::with(&[("a.bin", "1\n"), ("b.bin", "1\n"), ("t", "1\n")]);
        let index = fs::File::options()
            .write(true)
            .open(repo.path(".git/index"));
        let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        index.unwrap().set_modified(long_ago).unwrap();
        repo.git(["config", &format!("filter.lfs.{key}"), "false"]);
        repo.git(["config", "filter.lfs.required", "true"]);
        repo.write(".gitattributes", "*.bin filter=lfs\n");
        repo.write("t", "2\n");
        repo.edio(["status"]).ok();
        // What the filter fails for is in HEAD, as it is.
        assert_eq!(skipped(&repo), [], "{key}");
        assert_eq!(repo.in_turn(1, "t").as_deref(), Some("2\n"));
        assert!(repo.in_turn(1, ".gitattributes").is_some());
        repo.write("t", "3\n");
        repo.edio(["snapshot"]).ok();
        repo.edio(["restore", "1"]).ok();
        assert_eq!(repo.read("t"), "2\n");
        assert_eq!(repo.read("a.bin"), "1\n");
        repo.edio(["undo"]).ok();
        repo.edio(["accept", "feat"]).ok();
        assert_eq!(repo.git_raw(["show", "HEAD:t"]), "3\n");
        assert_eq!(repo.git_raw(["show", "HEAD:a.bin"]), "1\n");
    }
}

/// What these turns hold at a path, all of it in a row.
fn contents(repo: &Repo, turns: impl Iterator<Item = u32>, path: impl Fn(u32) -> String) -> String {
    let current = repo.turn_ref(1);
    let session = current.strip_suffix('1').unwrap();
    let names = turns.map(|turn| format!("{session}{turn}:{}", path(turn)));
    repo.git_raw(["show".to_owned()].into_iter().chain(names))
}

#[test]
fn p2_edits_of_the_same_size_within_one_tick_are_seen() {
    const ROUNDS: u32 = 100;
    let repo = Repo::with(&[("a", "0000\n"), ("b/c", "0000\n")]);
    repo.write("u", "0000\n");
    let mut written = String::new();
    for round in 1..=ROUNDS {
        let content = format!("{round:04}\n");
        for path in ["a", "b/c", "u"] {
            fs::write(repo.path(path), &content).unwrap();
        }
        snapshot(&repo);
        written += &content;
    }
    for path in ["a", "b/c", "u"] {
        assert_eq!(
            contents(&repo, 1..=ROUNDS, |_| path.to_owned()),
            written,
            "{path}"
        );
    }
}

#[test]
fn p2_a_file_made_just_after_a_scan_is_seen() {
    const ROUNDS: u32 = 30;
    let repo = Repo::with(&[("a", "1\n"), ("d/b", "1\n"), ("d/e/c", "1\n")]);
    let name = |round: u32| format!("{}new{round}", ["", "d/", "d/e/"][round as usize % 3]);
    for round in 1..=ROUNDS {
        fs::write(repo.path(name(round)), "n").unwrap();
        snapshot(&repo);
    }
    assert_eq!(
        contents(&repo, 1..=ROUNDS, name),
        "n".repeat(ROUNDS as usize)
    );
}

#[test]
fn p2_an_edit_of_the_same_size_in_the_second_of_git_add_is_seen_ever_after() {
    let repo = Repo::with(&[("a", "0000\n")]);
    repo.git(["config", "core.trustCtime", "false"]);
    // All of it happened in one second, long ago. Only that the index is no younger than the file tells of the edit.
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
    let date = |path: &str| {
        fs::File::open(repo.path(path))
            .unwrap()
            .set_modified(long_ago)
            .unwrap()
    };
    repo.write("a", "1111\n");
    date("a");
    repo.git(["add", "a"]);
    repo.write("a", "2222\n");
    date("a");
    date(".git/index");
    snapshot(&repo);
    assert_eq!(repo.in_turn(1, "a").as_deref(), Some("2222\n"));
}

#[test]
fn p2_the_cached_index_is_no_younger_than_its_scan() {
    let repo = Repo::with(&[("a", "1\n")]);
    repo.write("u", "1\n");
    // A git that notes when the scan began, and lets some time pass before the index is written for the last time.
    let bin = repo.outside().join("bin");
    fs::create_dir(&bin).unwrap();
    let script = "#!/bin/sh\nPATH=${PATH#*:}\ncase \" $* \" in\n*' status '*) touch ../began;;\n\
                  *' write-tree '*) touch ../later; until [ ../later -nt ../began ]; do touch ../later; done;;\n\
                  esac\nexec git \"$@\"\n";
    fs::write(bin.join("git"), script).unwrap();
    repo.chmod(bin.join("git"), 0o755);
    let path = format!("{}:{}", bin.display(), crate::common::path());
    let time = |path: &str| fs::metadata(repo.path(path)).unwrap().modified().unwrap();
    for content in ["2\n", "3\n"] {
        // What is new is taken into the index.
        repo.write(format!("new {content}"), content);
        repo.ran(repo.command(["snapshot"]).env("PATH", &path)).ok();
        assert!(time("../later") > time("../began"));
        assert!(
            time(".git/edio/index") <= time("../began"),
            "git would trust what changed during the scan"
        );
    }
}

#[test]
fn p2_edits_that_the_cached_index_does_not_have_are_in_each_turn() {
    let names = ["a", "d/b", "d/e/c", "d/e/x"];
    let repo = Repo::with(&names.map(|name| (name, "1\n")));
    snapshot(&repo);
    repo.write("d/b", "edited\n");
    snapshot_is_whole(&repo, 2);
    repo.write("d/e/c", "edited, too\n");
    repo.chmod("d/e/x", 0o755);
    snapshot_is_whole(&repo, 3);
    repo.edio(["snapshot", "--if-changed"]).ok();
    assert!(!repo.git(["for-each-ref", "refs/edio"]).contains("/4"));
    // One is as it was at first, the other stays.
    repo.write("d/b", "1\n");
    snapshot_is_whole(&repo, 4);
    repo.write("d/e/c", "edited, 2nd\n");
    snapshot_is_whole(&repo, 5);
    repo.write("new", "new\n");
    snapshot_is_whole(&repo, 6);
    repo.write("d/e/c", "edited, 3rd\n");
    repo.remove("a");
    snapshot_is_whole(&repo, 7);
    repo.git(["fsck", "--strict"]);
}

#[test]
fn p2_an_edit_of_the_same_size_and_time_is_seen_where_the_cached_index_lacks_the_one_before() {
    let repo = Repo::with(&[("a", "1111\n")]);
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
    snapshot(&repo);
    for (number, content) in (2..).zip(["2222\n", "3333\n", "1111\n", "4444\n"]) {
        repo.write("a", content);
        let open = fs::File::options().append(true).open(repo.path("a"));
        open.unwrap().set_modified(long_ago).unwrap();
        snapshot_is_whole(&repo, number);
    }
}

#[test]
fn p2_many_edits_and_large_ones_are_in_the_turn() {
    let repo = Repo::with(&[("z", "1\n")]);
    for number in 0..50 {
        repo.write(format!("d{}/{number}", number % 7), "1\n");
    }
    repo.git(["add", "-A"]);
    repo.git(["commit", "-qm", "base"]);
    snapshot(&repo);
    for number in 0..50 {
        repo.write(format!("d{}/{number}", number % 7), "edited\n");
    }
    snapshot_is_whole(&repo, 2);
    // Of several blocks as zlib has them, and more than is held in memory.
    repo.write("d0/0", vec![b'x'; 200_000]);
    repo.write("d1/1", "");
    snapshot_is_whole(&repo, 3);
    repo.write("d2/2", vec![b'x'; 2 << 20]);
    snapshot_is_whole(&repo, 4);
    repo.git(["fsck", "--strict"]);
}

#[test]
fn p2_a_file_of_the_same_size_and_time_in_the_place_of_another_is_seen() {
    let repo = Repo::with(&[("a", "1111\n")]);
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
    let date = |path: &str| {
        fs::File::open(repo.path(path))
            .unwrap()
            .set_modified(long_ago)
            .unwrap()
    };
    date("a");
    repo.git(["status"]);
    snapshot(&repo);
    repo.write("other", "2222\n");
    date("other");
    fs::rename(repo.path("other"), repo.path("a")).unwrap();
    snapshot_is_whole(&repo, 2);
}

#[test]
fn p2_losing_what_edio_remembers_changes_nothing() {
    let repo = Repo::with(&[
        (".gitignore", "*.log\n"),
        ("a", "1\n"),
        ("b", "1\n"),
        ("d/c", "1\n"),
    ]);
    repo.write("u", "1\n");
    repo.write("x.log", "ignored\n");
    repo.write("kept.log", "by force\n");
    repo.git(["add", "-f", "kept.log"]);
    snapshot(&repo);
    let session = repo.turn_ref(1);
    let copy = |from: &str, to: &str| {
        let _ = fs::copy(repo.path(from), repo.path(to)).unwrap();
    };
    // What was lost before may be lost again.
    let lose_file = |path: &str| {
        let _ = fs::remove_file(repo.path(path));
    };
    let losses: [(&str, &dyn Fn()); 7] = [
        ("everything", &|| repo.remove(".git/edio")),
        ("the state", &|| lose_file(".git/edio/state.json")),
        ("the index", &|| lose_file(".git/edio/index")),
        ("the state's content", &|| {
            repo.write(".git/edio/state.json", "{\"session\":")
        }),
        ("the index's content", &|| {
            repo.write(".git/edio/index", "DIRC")
        }),
        ("the index, for the user's", &|| {
            copy(".git/index", ".git/edio/index")
        }),
        ("the state, for an older one", &|| {
            copy("../older", ".git/edio/state.json")
        }),
    ];
    let mut turn = 1;
    for (what, lose) in losses {
        lose();
        // Nothing changed: no turn is taken. Then something did, also among what was untracked.
        let ran = repo.edio(["snapshot", "--if-changed", "--json"]);
        assert_eq!(ran.ok().json()[0]["changed"], false, "{what}");
        copy(".git/edio/state.json", "../older");
        turn += 1;
        repo.write("u", format!("{turn}\n"));
        repo.write("a", format!("{turn}\n"));
        lose();
        snapshot(&repo);
        let mut expected = repo.manifest();
        expected.retain(|line| !line.contains("x.log"));
        assert_eq!(repo.manifest_in(&repo.turn_ref(turn)), expected, "{what}");
        assert_eq!(
            repo.turn_ref(turn),
            session.replace("/1", &format!("/{turn}")),
            "{what}"
        );
        lose();
        repo.edio(["restore", &(turn - 1).to_string()]).ok();
        let before = if turn == 2 {
            "1\n".to_owned()
        } else {
            format!("{}\n", turn - 1)
        };
        assert_eq!(
            (repo.read("a"), repo.read("u")),
            (before.clone(), before),
            "{what}"
        );
        assert_eq!(repo.read("x.log"), "ignored\n");
        lose();
        repo.edio(["restore", &turn.to_string()]).ok();
    }
    assert!(
        repo.edio(["status"])
            .ok()
            .stdout
            .contains("nothing changed")
    );
    assert_eq!(
        repo.turns(),
        turn as usize,
        "nothing of this was worth a turn of its own"
    );
    repo.fsck();
}

#[test]
fn p2_git_may_pack_and_prune_between_two_commands() {
    let repo = Repo::with(&[("a", "1\n"), ("b", "1\n")]);
    repo.write("staged", "only in the index\n");
    repo.git(["add", "staged"]);
    repo.remove("staged");
    for turn in 1..=4_u32 {
        repo.write("a", format!("{turn}\n"));
        repo.write("u", format!("untracked {turn}\n"));
        snapshot_is_whole(&repo, turn);
        match turn {
            1 => repo.git(["gc", "-q", "--prune=now"]),
            2 => repo.git(["pack-refs", "--all"]),
            3 => repo.git(["repack", "-q", "-a", "-d"]),
            _ => repo.git(["prune", "--expire=now"]),
        };
        repo.write("a", "looked at, then lost\n");
        repo.edio(["diff", "--workspace"]).ok();
        repo.git(["gc", "-q", "--prune=now"]);
    }
    for turn in 1..=4_u32 {
        repo.edio(["restore", &turn.to_string()]).ok();
        assert_eq!(repo.read("u"), format!("untracked {turn}\n"));
        repo.git(["gc", "-q", "--prune=now"]);
    }
    assert!(
        repo.is_kept("looked at, then lost\n"),
        "the restore saved it"
    );
    assert_eq!(repo.git(["show", ":staged"]), "only in the index");
    repo.fsck();
}

#[test]
fn p2_when_its_refs_are_deleted_a_new_session_begins_whole() {
    let repo = Repo::with(&[("a", "1\n")]);
    repo.write("u", "untracked\n");
    repo.write("a", "2\n");
    snapshot(&repo);
    for name in repo
        .git(["for-each-ref", "--format=%(refname)", "refs/edio"])
        .lines()
    {
        repo.git(["update-ref", "-d", name]);
    }
    repo.git(["gc", "-q", "--prune=now"]);
    snapshot_is_whole(&repo, 1);
    repo.fsck();
}

#[test]
fn p2_when_current_alone_is_deleted_a_snapshot_goes_on() {
    let repo = Repo::with(&[("a", "1\n")]);
    for turn in 1..=2 {
        repo.write("a", format!("turn {turn}\n"));
        snapshot(&repo);
    }
    repo.edio(["restore", "1"]).ok();
    let current = repo.turn_ref(1).replace("/1", "/current");
    repo.git(["update-ref", "-d", &current]);
    repo.write("a", "3\n");
    snapshot(&repo);
    assert_eq!(repo.in_turn(3, "a").as_deref(), Some("3\n"));
}

#[test]
fn p2_an_unchanged_work_tree_takes_a_turn_only_where_one_is_wanted() {
    let repo = Repo::with(&[("a", "1\n")]);
    let ran = repo.edio(["snapshot", "--if-changed"]);
    assert!(ran.ok().stderr.contains("no turn was taken"), "{ran}");
    assert_eq!(repo.edio_refs(), "");
    repo.edio(["snapshot", "-m", "a label"]).ok();
    repo.edio(["snapshot", "--if-changed"]).ok();
    assert_eq!(repo.turns(), 1);
    repo.git(["add", "-A"]);
    repo.git(["commit", "-q", "--allow-empty", "-m", "only HEAD moved"]);
    repo.edio(["snapshot", "--if-changed"]).ok();
    assert_eq!(repo.turns(), 1);
    repo.chmod("a", 0o755);
    repo.edio(["snapshot", "--if-changed"]).ok();
    assert_eq!(repo.turns(), 2, "an executable bit is a change");
}

#[test]
fn p10_a_turn_is_a_commit_whose_parent_is_where_the_work_tree_stood() {
    let repo = Repo::with(&[("a", "1\n")]);
    for turn in 1..=3 {
        repo.write("a", format!("turn {turn}\n"));
        snapshot(&repo);
    }
    repo.edio(["restore", "1"]).ok();
    repo.write("a", "4\n");
    snapshot(&repo);
    let parent = |turn| repo.git(["rev-parse", &format!("{}^", repo.turn_ref(turn))]);
    let commit = |turn| repo.git(["rev-parse", &repo.turn_ref(turn)]);
    assert_eq!(parent(4), commit(1));
    assert_eq!(parent(3), commit(2));
    let baseline = parent(1);
    assert_eq!(
        repo.git(["rev-parse", &format!("{baseline}^")]),
        repo.git(["rev-parse", "HEAD"])
    );
    assert_eq!(
        repo.git(["rev-parse", &format!("{baseline}^{{tree}}")]),
        repo.git(["rev-parse", "HEAD^{tree}"])
    );
    repo.fsck();
}

#[test]
fn p1_a_snapshot_leaves_everything_of_gits_as_it_was() {
    let repo = Repo::with(&[
        ("a", "one\n"),
        ("b", "two\n"),
        ("c", "three\n"),
        ("d", "four\n"),
    ]);
    repo.git(["tag", "v1"]);
    repo.write("a", "stashed\n");
    repo.git(["stash", "-q"]);
    repo.write("a", "staged\n");
    repo.git(["add", "a"]);
    repo.write("a", "worktree\n");
    repo.git(["rm", "-q", "--cached", "b"]);
    repo.remove("c");
    repo.write("new", "new\n");
    repo.git(["add", "-N", "new"]);
    repo.write("untracked", "u\n");
    let (state, files) = (repo.git_state(), repo.manifest());

    repo.edio(["snapshot", "-m", "one"]).ok();

    assert_eq!(repo.git_state(), state);
    assert_eq!(repo.manifest(), files);
    assert_eq!(repo.in_turn(1, "a").as_deref(), Some("worktree\n"));
    assert_eq!(repo.in_turn(1, "b").as_deref(), Some("two\n"));
    assert_eq!(repo.in_turn(1, "c"), None);
    assert_eq!(repo.in_turn(1, "new").as_deref(), Some("new\n"));
    assert_eq!(repo.in_turn(1, "untracked").as_deref(), Some("u\n"));
    repo.fsck();
}

#[test]
fn p6_an_edio_that_a_filter_calls_does_not_wait_for_the_one_that_waits_for_it() {
    let repo = Repo::with(&[(".gitattributes", "*.x filter=x\n"), ("a", "base\n")]);
    let edio = edio_binary().display().to_string();
    let said = repo.outside().join("said").display().to_string();
    let filter = format!("'{edio}' snapshot --if-changed > /dev/null 2> '{said}'; cat");
    repo.edio(["snapshot"]).ok();
    repo.git(["config", "filter.x.clean", &filter]);
    repo.write("a.x", "1\n");
    repo.edio(["snapshot"]).ok();
    assert_eq!(repo.in_turn(2, "a.x").as_deref(), Some("1\n"));
    let said = std::fs::read_to_string(said).unwrap();
    assert!(said.contains("edio is at work here"), "{said}");
}

#[test]
fn from_a_folder_that_is_gone_another_can_be_named() {
    let repo = Repo::with(&[("a", "a\n")]);
    let script = "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" -C \"$1\" snapshot";
    let mut command = repo.like_edio("sh", ["snapshot"]);
    let command = command.args(["-c", script]);
    repo.ran(command.arg(crate::common::edio_binary()).arg(&repo.top))
        .ok();
    assert_eq!(repo.turns(), 1);
}

#[test]
fn a_new_file_that_is_for_secrets_by_its_name_is_named_once() {
    let repo = Repo::with(&[("a", "a\n"), (".env.test", "tracked\n")]);
    repo.write("conf/.env", "KEY=1\n");
    repo.write(".env.example", "KEY=\n");
    let said = "warning: turns hold now what by its name is for secrets: conf/.env\n";
    let ran = repo.edio(["snapshot"]);
    assert!(ran.ok().stderr.contains(said), "{ran}");
    assert!(ran.stderr.contains("edio forget -f FILE"), "{ran}");
    repo.write("conf/.env", "KEY=2\n");
    let ran = repo.edio(["snapshot"]);
    assert!(!ran.ok().stderr.contains("secrets"), "{ran}");
    repo.write(".gitignore", "*.pem\nid_rsa\n");
    repo.write("id_rsa", "ignored\n");
    let ran = repo.edio(["snapshot"]);
    assert!(!ran.ok().stderr.contains("secrets"), "{ran}");
    for number in 0..7 {
        repo.write(format!("k{number}.key"), "k\n");
    }
    let ran = repo.edio(["run", "--", "true"]);
    assert!(
        !ran.ok().stderr.contains("secrets"),
        "what was there before: {ran}"
    );
    let ran = repo.edio(["run", "--", "sh", "-c", "echo 1 > x.key"]);
    assert!(ran.ok().stderr.contains("for secrets: x.key"), "{ran}");
    for number in 0..7 {
        repo.write(format!("n{number}.key"), "k\n");
    }
    let ran = repo.edio(["--json", "snapshot"]);
    assert!(ran.ok().stderr.contains("n4.key and 2 more"), "{ran}");
}

#[test]
fn what_can_not_be_looked_at_where_nothing_may_be_written_says_what_can() {
    let repo = Repo::with(&[("a", "0\n")]);
    repo.edio(["snapshot", "-m", "one"]).ok();
    repo.give_away();
    repo.chmod(".git/edio/lock", 0o444);
    repo.chmod(".git/edio", 0o555);
    let ran = repo.edio_without_rights(["status"]);
    assert!(ran.fails(1).stderr.contains("edio log, edio show"), "{ran}");
    repo.edio_without_rights(["log"]).ok();
    repo.edio_without_rights(["show"]).ok();
    repo.chmod(".git/edio", 0o755);
}

#[test]
fn p3_what_comes_back_has_its_mode_where_the_disk_shows_none() {
    let repo = Repo::with(&[("run", "#!/bin/sh\n"), ("plain", "0\n")]);
    repo.link("link", "plain");
    repo.chmod("run", 0o755);
    repo.commit("modes");
    for key in ["core.fileMode", "core.symlinks"] {
        repo.git(["config", key, "false"]);
    }
    // As git itself checks them out there.
    repo.chmod("run", 0o644);
    repo.remove("link");
    repo.write("link", "plain");
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    repo.write("plain", "1\n");
    repo.edio(["snapshot", "-m", "one"]).ok();
    for path in ["run", "link"] {
        repo.remove(path);
    }
    repo.edio(["snapshot", "-m", "two"]).ok();
    repo.edio(["restore", "1"]).ok();
    let status = repo.edio(["status"]);
    assert!(
        status.ok().stdout.contains("nothing changed since"),
        "{status}"
    );
    for (path, content) in [("run", "#!/bin/sh\n"), ("link", "plain")] {
        repo.remove(path);
        repo.edio(["snapshot", "-m", "away"]).ok();
        repo.write(path, content);
        repo.edio(["snapshot", "-m", "back"]).ok();
    }
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(repo.git(["show", "--format=", "--name-status"]), "M\tplain");
}
