//! How much turns take: huge files, floods of new ones, and what the person has chosen to have in them, or not.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::common::Repo;

/// A repository where untracked files may have ten bytes.
fn small() -> Repo {
    let repo = Repo::with(&[("a", "base\n"), (".gitignore", ".env\nbuild/\n")]);
    repo.git(["config", "edio.maxFileSize", "10"]);
    repo
}

const LARGE: &str = "more than ten bytes\n";

/// Takes a turn. Returns its record.
#[track_caller]
fn turn(repo: &Repo) -> Value {
    repo.edio(["snapshot", "--json"]).ok().json().remove(0)
}

fn number_of(turn: &Value) -> u32 {
    u32::try_from(turn["turn"].as_u64().unwrap()).unwrap()
}

/// What a turn names as not held.
fn skipped(turn: &Value) -> Vec<String> {
    let named = turn["skipped"].as_array().unwrap();
    named
        .iter()
        .map(|skipped| {
            let text = |key: &str| skipped[key].as_str().unwrap().to_owned();
            format!("{}: {}", text("path"), text("why"))
        })
        .collect()
}

// --- large files ---

#[test]
fn p2_a_large_untracked_file_is_named_with_its_size_and_stays_as_it_is() {
    let repo = small();
    repo.write("big", LARGE);
    repo.write("fits", "ten bytes\n");
    assert_snapshot!(repo.edio(["snapshot", "-m", "one"]), @r"
    [stdout ends]
    turn 1: one (1 file +1 -0)
      not in it: big (it has 20 bytes: see edio.maxFileSize)
    [stderr ends]
    exit code 0
    ");
    repo.write("big", format!("{LARGE}{LARGE}"));
    repo.write("a", "2\n");
    let two = turn(&repo);
    assert_eq!(two["skipped"][0]["bytes"], 40);
    assert_eq!(repo.in_turn(1, "big").or(repo.in_turn(2, "big")), None);
    assert_eq!(repo.in_turn(1, "fits").as_deref(), Some("ten bytes\n"));
    assert!(!repo.is_kept(LARGE));
    let status = repo.edio(["status", "--json"]);
    assert_eq!(status.json()[0]["not_covered"][0]["path"], "big");
    for words in [&["restore", "0"][..], &["undo"], &["restore", "1"]] {
        repo.edio(words).ok();
        assert_eq!(repo.read("big").len(), 40, "{words:?}");
    }
    let accepted = repo.edio(["accept", "done"]);
    assert!(
        accepted.ok().stderr.contains("stays uncommitted: big"),
        "{accepted}"
    );
    assert_eq!(
        repo.git(["ls-tree", "--name-only", "HEAD"]),
        ".gitignore\na\nfits"
    );
}

#[test]
fn p2_a_tracked_file_is_held_whatever_its_size() {
    let repo = small();
    repo.write("a", LARGE);
    repo.write("staged", LARGE);
    repo.git(["add", "staged"]);
    repo.write("staged", format!("{LARGE}{LARGE}"));
    assert_eq!(skipped(&turn(&repo)), [""; 0]);
    assert_eq!(repo.in_turn(1, "a").as_deref(), Some(LARGE));
    assert_eq!(repo.in_turn(1, "staged").unwrap().len(), 40);
}

#[test]
fn p4_a_file_that_has_grown_over_the_limit_is_neither_deleted_nor_overwritten() {
    let repo = small();
    repo.write("log", "small\n");
    turn(&repo);
    repo.write("log", LARGE);
    let ran = turn(&repo);
    assert_eq!(
        skipped(&ran),
        ["log: it has 20 bytes: see edio.maxFileSize"]
    );
    assert_eq!(repo.in_turn(2, "log").as_deref(), Some("small\n"));
    let before = repo.edio_refs();
    for words in [
        &["restore", "1"][..],
        &["restore", "1", "-f", "log"],
        &["undo"],
    ] {
        let refused = repo.edio(words);
        refused.fails(3);
        assert!(
            refused
                .stderr
                .contains("log is too large to be saved first"),
            "{refused}"
        );
        assert_eq!(repo.read("log"), LARGE);
    }
    assert_eq!(repo.edio_refs(), before);
    // Turn 0 never had it, and turn 2 does not hold it.
    for target in ["0", "2"] {
        repo.edio(["restore", target]).ok();
        assert_eq!(repo.read("log"), LARGE);
    }
    repo.git(["config", "edio.maxFileSize", "off"]);
    repo.edio(["restore", "1"]).ok();
    assert_eq!(repo.read("log"), "small\n");
    assert!(repo.is_kept(LARGE));
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("log"), LARGE);
}

#[test]
fn p4_a_large_file_in_the_way_of_a_folder_or_in_a_folder_in_the_way_refuses_the_restore() {
    let repo = small();
    repo.write("d/in", "in\n");
    repo.write("f", "f\n");
    turn(&repo);
    repo.remove("d");
    repo.remove("f");
    repo.write("d", LARGE);
    repo.write("f/large", LARGE);
    turn(&repo);
    let before = repo.manifest();
    let refused = repo.edio(["restore", "1"]);
    refused.fails(3);
    for name in ["d is", "f/large is"] {
        assert!(refused.stderr.contains(name), "{refused}");
    }
    assert_eq!(repo.manifest(), before);
}

#[test]
fn a_large_file_that_turns_hold_already_stays_in_them_until_it_changes() {
    let repo = small();
    repo.git(["config", "edio.maxFileSize", "0"]);
    repo.write("data", LARGE);
    repo.git(["add", "a"]);
    turn(&repo);
    repo.git(["config", "edio.maxFileSize", "1k"]);
    repo.write("data2", LARGE);
    turn(&repo);
    repo.git(["config", "edio.maxFileSize", "10"]);
    let held = |turn: &Value, number| {
        assert_eq!(skipped(turn), [""; 0], "{turn}");
        assert!(repo.in_turn(number, "data").is_some() && repo.in_turn(number, "data2").is_some());
    };
    held(&turn(&repo), 3);
    // The cached index is of no use where the user's says something else.
    repo.write("a", "staged\n");
    repo.git(["add", "a"]);
    held(&turn(&repo), 4);
    repo.remove(".git/edio/state.json");
    held(&turn(&repo), 5);
    // A file that was tracked is no other than before.
    repo.git(["add", "data"]);
    turn(&repo);
    repo.git(["rm", "-q", "--cached", "data"]);
    held(&turn(&repo), 7);
    repo.chmod("data", 0o755);
    held(&turn(&repo), 8);
    repo.write("data", format!("{LARGE}more"));
    assert_eq!(skipped(&turn(&repo)).len(), 1);
    assert_eq!(repo.in_turn(9, "data").as_deref(), Some(LARGE));
}

#[test]
fn sizes_are_written_as_gits_and_others_are_refused() {
    let repo = small();
    repo.write("big", LARGE.repeat(1000));
    for (limit, is_held) in [
        ("19k", false),
        ("20K", true),
        ("1m", true),
        ("off", true),
        ("0", true),
    ] {
        repo.git(["config", "edio.maxFileSize", limit]);
        assert_eq!(skipped(&turn(&repo)).is_empty(), is_held, "{limit}");
        repo.edio(["undo"]).ok();
    }
    repo.git(["config", "edio.maxFileSize", "lots"]);
    assert_snapshot!(repo.edio(["snapshot"]), @r#"
    [stdout ends]
    error: edio.maxfilesize is "lots", which is neither a number nor off
    hint: git config edio.maxfilesize 100m (or with a suffix: 200m, 2g)
    [stderr ends]
    exit code 2
    "#);
}

// --- floods ---

/// A repository where three new files, or a thousand bytes of them, are all that is taken.
fn narrow() -> Repo {
    let repo = Repo::with(&[("src/a", "base\n")]);
    repo.git(["config", "edio.maxNewFiles", "3"]);
    repo.git(["config", "edio.maxNewBytes", "1000"]);
    repo
}

fn flood(repo: &Repo) {
    for n in 0..5 {
        repo.write(format!("src/node_modules/p{n}/index.js"), "js\n");
    }
    repo.write("src/b", "mine\n");
}

#[test]
fn too_many_new_files_are_refused_and_it_is_said_what_to_ignore() {
    let repo = narrow();
    flood(&repo);
    let before = (repo.git_state(), repo.manifest());
    assert_snapshot!(repo.edio(["snapshot"]), @r"
    [stdout ends]
    error: 6 files, 20 bytes of new files are more than a snapshot takes unasked
    caused by: src/node_modules/ (5 files, 15 bytes); src/ (1 file, 5 bytes)
    hint: have git ignore what need not be kept: a line /src/node_modules/ in .gitignore
    hint: or hold all of it: edio snapshot --force (once: then it is new no more)
    hint: other limits: edio.maxNewFiles, edio.maxNewBytes in git config
    [stderr ends]
    exit code 3
    ");
    assert_eq!((repo.git_state(), repo.manifest()), before);
    assert_eq!(repo.edio_refs(), "");
    assert_eq!(repo.git(["count-objects"]), "4 objects, 16 kilobytes");
    repo.write(".gitignore", "/src/node_modules/\n");
    turn(&repo);
}

#[test]
fn too_many_bytes_of_new_files_are_refused() {
    let repo = narrow();
    repo.write("out/film", "0".repeat(1001));
    let refused = repo.edio(["snapshot"]);
    assert!(
        refused
            .fails(3)
            .stderr
            .contains("out/ (1 file, 1001 bytes)"),
        "{refused}"
    );
    repo.git(["config", "edio.maxNewBytes", "1k"]);
    turn(&repo);
}

#[test]
fn what_was_taken_by_force_is_new_no_more() {
    let repo = narrow();
    flood(&repo);
    repo.edio(["snapshot", "--force"]).ok();
    repo.write("src/a", "changed\n");
    turn(&repo);
    // Neither where the cache is of no use,
    repo.git(["add", "src/a"]);
    turn(&repo);
    repo.remove(".git/edio/state.json");
    turn(&repo);
    // nor where a restore has brought it back,
    repo.edio(["restore", "0"]).ok();
    assert!(!repo.has("src/node_modules"));
    repo.edio(["restore", "1"]).ok();
    turn(&repo);
    // nor where another flood is taken back, of which nothing is lost.
    for n in 0..5 {
        repo.write(format!("more/{n}"), format!("{n}\n"));
    }
    repo.edio(["snapshot"]).fails(3);
    repo.edio(["restore", "1"]).ok();
    assert!(!repo.has("more"));
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("more/4"), "4\n");
    repo.edio(["snapshot"]).ok();
}

#[test]
fn what_is_refused_is_refused_by_every_door_and_status_says_so() {
    let repo = narrow();
    repo.write("src/a", "1\n");
    turn(&repo);
    flood(&repo);
    for words in [
        &["snapshot"][..],
        &["run", "--", "touch", "started"],
        &["accept", "done"],
        &["accept", "--dry-run", "done"],
        &["sessions", "--close"],
        &["diff", "1", "--workspace"],
        &["log", "--distance"],
    ] {
        let ran = repo.edio(words);
        ran.fails(3);
        assert!(
            ran.stderr.contains("edio snapshot --force"),
            "{words:?}: {ran}"
        );
    }
    assert!(!repo.has("started"));
    let status = repo.edio(["status"]);
    assert!(
        status.ok().stderr.contains("a snapshot would be refused"),
        "{status}"
    );
    let status = repo.edio(["status", "--json"]);
    let refused = status.ok().json()[0]["refused"].clone();
    assert!(
        refused.as_str().unwrap().starts_with("6 files, "),
        "{status}"
    );
    repo.edio(["snapshot", "--force"]).ok();
    repo.edio(["run", "--", "touch", "started"]).ok();
    assert!(repo.has("started"));
}

#[test]
fn a_command_that_makes_a_flood_ends_as_it_ends() {
    let repo = narrow();
    let script = "for n in 1 2 3 4; do echo $n > new$n; done; exit 7";
    let ran = repo.edio(["run", "--", "sh", "-c", script]);
    assert!(
        ran.fails(7).stderr.contains("edio snapshot --force"),
        "{ran}"
    );
}

// --- home folders ---

#[test]
fn a_home_folder_is_only_taken_by_force() {
    let repo = Repo::with(&[("a", "base\n")]);
    let at_home = |words: &[&str]| {
        let mut command = repo.command(words);
        repo.ran(command.env("HOME", &repo.top))
    };
    assert_snapshot!(at_home(&["snapshot"]), @r"
    [stdout ends]
    error: the work tree is your home folder: [AROUND]/repo
    hint: go to a project, and make it a repository of its own: git init
    hint: or have all of it held: edio snapshot --force
    [stderr ends]
    exit code 3
    ");
    at_home(&["run", "--", "true"]).fails(3);
    assert_eq!(repo.edio_refs(), "");
    at_home(&["snapshot", "--force"]).ok();
    at_home(&["snapshot"]).ok();
    repo.remove(".git/edio/state.json");
    at_home(&["run", "--", "true"]).ok();
}

#[test]
fn a_whole_disk_is_refused_before_it_is_looked_at() {
    let repo = Repo::with(&[("a", "base\n")]);
    let mut command = repo.command(["snapshot"]);
    command
        .env("GIT_DIR", repo.path(".git"))
        .env("GIT_WORK_TREE", "/");
    let refused = repo.ran(&mut command);
    assert!(
        refused.fails(3).stderr.contains("the whole disk"),
        "{refused}"
    );
}

// --- what is included ---

#[test]
fn what_is_included_is_held_restored_and_removed_as_any_other_file() {
    let repo = small();
    repo.git(["config", "edio.maxFileSize", "off"]);
    for pattern in ["/.env", "build/keep.txt"] {
        repo.git(["config", "--add", "edio.include", pattern]);
    }
    turn(&repo);
    repo.write(".env", "KEY=1\n");
    repo.write("build/keep.txt", "kept\n");
    repo.write("build/other", "not\n");
    turn(&repo);
    assert_eq!(repo.in_turn(2, ".env").as_deref(), Some("KEY=1\n"));
    assert_eq!(repo.in_turn(2, "build/keep.txt").as_deref(), Some("kept\n"));
    assert_eq!(repo.in_turn(2, "build/other"), None);
    repo.write(".env", "KEY=2\n");
    repo.remove("build/keep.txt");
    turn(&repo);
    assert_eq!(repo.in_turn(3, "build/keep.txt"), None);
    repo.edio(["restore", "2"]).ok();
    assert_eq!(
        repo.read(".env") + &repo.read("build/keep.txt"),
        "KEY=1\nkept\n"
    );
    repo.edio(["restore", "1"]).ok();
    assert!(!repo.has(".env") && !repo.has("build/keep.txt") && repo.has("build/other"));
    // The rules of then and now may differ, too.
    repo.edio(["restore", "3"]).ok();
    repo.write(".gitignore", ".env\nbuild/\n*.log\n");
    turn(&repo);
    repo.edio(["restore", "1"]).ok();
    assert!(!repo.has(".env"));
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read(".env"), "KEY=2\n");
}

#[test]
fn patterns_may_name_no_place() {
    let repo = small();
    repo.git(["config", "edio.include", "*.env"]);
    repo.write("build/deep/x.env", "1\n");
    repo.write("build/deep/y", "1\n");
    repo.write("z.env", "2\n");
    turn(&repo);
    assert_eq!(repo.in_turn(1, "build/deep/x.env").as_deref(), Some("1\n"));
    assert_eq!(repo.in_turn(1, "build/deep/y"), None);
    let ran = repo.edio(["snapshot", "--if-changed", "--json"]);
    assert_eq!(ran.ok().json()[0]["changed"], false, "{ran}");
}

#[test]
fn p4_what_was_not_included_when_a_turn_was_taken_is_not_removed_for_its_sake() {
    let repo = small();
    repo.write(".env", "KEY=1\n");
    turn(&repo);
    repo.git(["config", "edio.include", "/.env"]);
    turn(&repo);
    assert_eq!(repo.in_turn(2, ".env").as_deref(), Some("KEY=1\n"));
    for words in [
        &["restore", "1"][..],
        &["restore", "0"],
        &["restore", "1", "-f", ".gitignore"],
    ] {
        repo.edio(words).ok();
        assert_eq!(repo.read(".env"), "KEY=1\n", "{words:?}");
    }
    // Nor is it removed when it is included no more.
    repo.edio(["restore", "2"]).ok();
    repo.git(["config", "--unset", "edio.include"]);
    let ran = turn(&repo);
    let number = number_of(&ran);
    assert_eq!(repo.in_turn(number, ".env"), None);
    repo.write(".env", "KEY=3\n");
    for target in [number.to_string(), "1".to_owned()] {
        repo.edio(["restore", &target]).ok();
        assert_eq!(repo.read(".env"), "KEY=3\n");
    }
    repo.edio(["restore", "2"]).ok();
    assert_eq!(repo.read(".env"), "KEY=1\n");
    assert!(repo.is_kept("KEY=3\n"));
}

#[test]
fn what_is_included_goes_into_no_commit() {
    for words in [
        &["accept", "done"][..],
        &["accept", "--all", "done"],
        &["accept", "--turn", "1", "done"],
    ] {
        let repo = small();
        repo.git(["config", "edio.include", ".env"]);
        repo.write(".env", "KEY=1\n");
        repo.edio([
            "run",
            "--",
            "sh",
            "-c",
            "echo 1 > a; echo KEY=2 > .env; mkdir d; echo 3 > d/.env",
        ])
        .ok();
        let accepted = repo.edio(words);
        assert!(
            accepted.ok().stderr.contains("stays uncommitted: d/.env"),
            "{accepted}"
        );
        assert_eq!(
            repo.git(["show", "--name-only", "--format=", "HEAD"]),
            "a",
            "{words:?}"
        );
        assert_eq!(repo.read(".env"), "KEY=2\n");
        assert_eq!(repo.git(["status", "--porcelain"]), "");
    }
    // Also where it was taken before it was ignored, and nothing but the rules has changed since.
    let repo = small();
    repo.write("a", "1\n");
    repo.write("key", "KEY=1\n");
    repo.edio(["snapshot"]).ok();
    repo.write(".git/info/exclude", "key\n");
    repo.git(["config", "edio.include", "key"]);
    repo.edio(["accept", "done"]).ok();
    assert_eq!(repo.git(["show", "--name-only", "--format=", "HEAD"]), "a");
    // But what the person has told git to track is committed.
    let repo = small();
    repo.git(["config", "edio.include", ".env"]);
    repo.write(".env", "KEY=1\n");
    repo.git(["add", "-f", ".env"]);
    repo.edio(["snapshot"]).ok();
    repo.edio(["accept", "done"]).ok();
    assert_eq!(
        repo.git(["show", "--name-only", "--format=", "HEAD"]),
        ".env"
    );
}

// --- what is excluded ---

#[test]
fn what_is_excluded_is_held_by_no_turn_and_touched_by_no_restore() {
    let repo = Repo::with(&[("a", "base\n"), ("db", "base\n"), ("sub/db", "base\n")]);
    repo.write("notes", "1\n");
    repo.write("secret", "1\n");
    turn(&repo);
    for pattern in ["/db", "notes", "/secret"] {
        repo.git(["config", "--add", "edio.exclude", pattern]);
    }
    repo.write("db", "2\n");
    repo.write("notes", "2\n");
    repo.write("sub/db", "2\n");
    repo.remove("secret");
    let excluded = ["db: edio.exclude leaves it out"];
    assert_eq!(skipped(&turn(&repo)), excluded);
    repo.write("notes", "3\n");
    assert_eq!(skipped(&turn(&repo)), excluded, "from the cache, too");
    repo.write("notes", "2\n");
    for number in [2, 3] {
        let held = repo.git(["ls-tree", "-r", "--name-only", &repo.turn_ref(number)]);
        assert_eq!(held, "a\nsub/db");
    }
    for (target, sub) in [("1", "base\n"), ("0", "base\n"), ("2", "2\n")] {
        let ran = repo.edio(["restore", target]);
        ran.ok();
        let kept = ["db", "notes", "sub/db"].map(|path| repo.read(path));
        assert_eq!(kept, ["2\n", "2\n", sub], "{ran}");
        assert!(!repo.has("secret"));
    }
    let plan = repo.edio(["restore", "1", "--dry-run"]);
    for name in ["db", "notes", "secret"] {
        assert!(
            plan.stdout
                .contains(&format!("{name} (edio.exclude leaves it out)")),
            "{plan}"
        );
    }
    // Without the setting it is all there again.
    repo.git(["config", "--unset-all", "edio.exclude"]);
    let ran = turn(&repo);
    assert_eq!(skipped(&ran), [""; 0]);
    let number = number_of(&ran);
    assert_eq!(repo.in_turn(number, "db").as_deref(), Some("2\n"));
    assert_eq!(repo.in_turn(number, "notes").as_deref(), Some("2\n"));
    // What was excluded then is not removed, or brought back, for that turn's sake.
    repo.write("db", "3\n");
    repo.edio(["restore", "2"]).ok();
    assert_eq!(repo.read("db") + &repo.read("notes"), "3\n2\n");
}

#[test]
fn p2_what_is_excluded_is_not_committed_as_deleted() {
    for words in [&["accept", "done"][..], &["accept", "--all", "done"]] {
        let repo = Repo::with(&[("a", "base\n"), ("db", "base\n"), ("db2", "base\n")]);
        repo.git(["config", "edio.exclude", "db*"]);
        repo.write("a", "1\n");
        repo.write("db", "1\n");
        repo.remove("db2");
        repo.edio(["snapshot"]).ok();
        repo.edio(words).ok();
        assert_eq!(
            repo.git(["show", "--name-status", "--format=", "HEAD"]),
            "M\ta"
        );
        assert_eq!(
            repo.git(["show", "HEAD:db", ":db", "HEAD:db2"]),
            "base\nbase\nbase"
        );
        assert_eq!(repo.read("db"), "1\n");
        assert!(!repo.has("db2"));
    }
}

#[test]
fn p4_what_is_excluded_in_the_way_refuses_the_restore() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.write("d/in", "in\n");
    repo.write("f", "f\n");
    turn(&repo);
    repo.git(["config", "--add", "edio.exclude", "/d"]);
    repo.git(["config", "--add", "edio.exclude", "/f/x"]);
    repo.remove("d");
    repo.remove("f");
    repo.write("d", "a file\n");
    repo.write("f/x", "in a folder\n");
    turn(&repo);
    let before = repo.manifest();
    repo.edio(["restore", "1"]).fails(3);
    repo.edio(["restore", "1", "-f", "f"]).fails(3);
    assert_eq!(repo.manifest(), before);
}

#[test]
fn exclude_beats_include_and_knows_no_rules_but_its_own() {
    let repo = small();
    repo.git(["config", "edio.include", "/build/"]);
    for pattern in ["*.tmp", "!keep.tmp", r"/a\*b", "build/no/", "/line\nbreak"] {
        repo.git(["config", "--add", "edio.exclude", pattern]);
    }
    // Rules of the repository say nothing of what is excluded.
    repo.write(".git/info/exclude", "x/\n");
    repo.write(".gitignore", "build/\n!x/\n");
    for path in [
        "x/1.tmp",
        "x/2",
        "build/3.tmp",
        "build/4",
        "build/no/5",
        "line\nbreak",
        "break",
        "keep.tmp",
        "a*b",
        "axb",
    ] {
        repo.write(path, "new\n");
    }
    turn(&repo);
    let held = repo.git(["ls-tree", "-r", "--name-only", &repo.turn_ref(1)]);
    assert_eq!(held, ".gitignore\na\naxb\nbreak\nbuild/4\nkeep.tmp\nx/2");
}

// --- memory ---

/// The most memory that edio itself took, in KiB.
fn peak(repo: &Repo, words: &[&str]) -> u64 {
    most(repo, words, "status", "VmHWM:")
}

/// The most that the system says of edio in this file, as each git that it started finds it: the last one ends when all is
/// done.
fn most(repo: &Repo, words: &[&str], file: &str, key: &str) -> u64 {
    let told = repo.outside().join("told");
    let path = repo.git_instead(&format!(
        "\"$GIT\" \"$@\"\ncode=$?\n\
         while read -r key value _; do [ $key = {key} ] && echo $value >> {}; done < /proc/$PPID/{file}\n\
         exit $code\n",
        told.display()
    ));
    repo.ran(repo.command(words).env("PATH", path)).ok();
    let found = fs::read_to_string(&told).unwrap();
    fs::remove_file(told).unwrap();
    found
        .lines()
        .map(|peak| peak.parse().unwrap())
        .max()
        .unwrap()
}

#[test]
fn p7_a_file_that_has_outgrown_the_limit_is_not_read() {
    if cfg!(not(target_os = "linux")) {
        return;
    }
    let repo = small();
    repo.write("log", "small\n");
    turn(&repo);
    let log = fs::File::create(repo.path("log")).unwrap();
    log.set_len(16 << 20).unwrap();
    assert_eq!(skipped(&turn(&repo)).len(), 1);
    for words in [&["snapshot", "--if-changed"][..], &["status"]] {
        let read = most(&repo, words, "io", "rchar:");
        assert!(read < 8 << 20, "{words:?}: {read} bytes");
    }
}

#[test]
fn p7_memory_does_not_grow_with_the_size_of_files() {
    if cfg!(not(target_os = "linux")) {
        return;
    }
    let repo = Repo::with(&[("a", "base\n")]);
    repo.git(["config", "edio.maxFileSize", "off"]);
    repo.git(["config", "core.compression", "1"]);
    let sparse = |path: &str, megabytes: u64| {
        fs::File::create(repo.path(path))
            .unwrap()
            .set_len(megabytes << 20)
            .unwrap();
    };
    sparse("big", 96);
    let mut peaks = vec![peak(&repo, &["snapshot", "-q"])];
    sparse("big", 1);
    peaks.push(peak(&repo, &["snapshot", "-q"]));
    peaks.push(peak(&repo, &["restore", "1", "-q"]));
    assert_eq!(fs::metadata(repo.path("big")).unwrap().len(), 96 << 20);
    peaks.push(peak(&repo, &["undo", "-q"]));
    assert!(
        peaks.iter().all(|peak| *peak > 0 && *peak < 64 << 10),
        "{peaks:?}"
    );
}
