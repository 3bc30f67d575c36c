//! `edio revert`: only what some turns did is taken back, what came after and what the user did since is kept.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::common::Repo;

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

/// Takes a turn.
fn snapshot(repo: &Repo, message: &str) {
    repo.edio(["snapshot", "-m", message]).ok();
}

/// Revert must say no with this code and these words, and change nothing at all.
#[track_caller]
fn says_no(repo: &Repo, words: &[&str], code: i32, said: &[&str]) -> String {
    let refs = repo.edio_refs();
    let ran = repo.says_no(words, code, said);
    assert_eq!(repo.edio_refs(), refs, "{ran}");
    ran.stderr
}

/// Three turns: each changes one line of `a`, and adds a file of its own.
fn three_turns() -> Repo {
    let repo = Repo::with(&[("a", LINES), ("b", "base\n")]);
    for (number, line) in [(1, "2\n"), (2, "5\n"), (3, "8\n")] {
        let content = repo.read("a").replace(line, &format!("turn {number}\n"));
        repo.write("a", content);
        repo.write(format!("new {number}"), format!("new {number}\n"));
        snapshot(&repo, &format!("turn {number}"));
    }
    repo
}

#[test]
fn only_what_the_turn_did_is_taken_back() {
    let repo = three_turns();
    // What the user did since: staged, unsaved, in the same file and in others.
    let content = repo.read("a").replace("9\n", "mine\n");
    repo.write("a", &content);
    repo.write("b", "staged\n");
    repo.git(["add", "b"]);
    repo.write("b", "mine\n");
    repo.write("untracked", "mine\n");
    let (state, unsaved) = (repo.git_files(), repo.manifest());

    let ran = repo.edio(["revert", "2"]);

    ran.ok();
    assert_eq!(ran.stdout, "");
    assert_eq!(repo.read("a"), content.replace("turn 2\n", "5\n"));
    assert!(repo.has("new 1") && !repo.has("new 2") && repo.has("new 3"));
    assert_eq!(
        (repo.read("b"), repo.read("untracked")),
        ("mine\n".into(), "mine\n".into())
    );
    assert_eq!(repo.git_files(), state);

    assert!(ran.stderr.contains("your unsaved work is turn 4"), "{ran}");
    assert!(
        ran.stderr
            .contains("reverted turn 2: 1 path written, 1 removed (now turn 5)"),
        "{ran}"
    );
    assert!(ran.stderr.contains("edio undo"), "{ran}");
    assert_eq!(repo.manifest_in(&repo.turn_ref(4)), unsaved);
    assert_eq!(repo.manifest_in(&repo.turn_ref(5)), repo.manifest());
    let turn = &repo.edio(["show", "5", "--json"]).json()[0];
    assert_eq!(turn["message"], "Revert \"turn 2\"");
    assert_eq!(
        (&turn["current"], &turn["kind"]),
        (&json!(true), &json!("turn"))
    );
    assert_eq!(
        (&turn["files"], &turn["added"], &turn["removed"]),
        (&json!(2), &json!(1), &json!(2))
    );
    assert_eq!(
        repo.edio(["show", "4", "--json"]).json()[0]["kind"],
        "safety"
    );
    repo.fsck();
}

#[test]
fn several_turns_in_a_row_are_taken_back_at_once() {
    let repo = three_turns();
    repo.edio(["revert", "1..2"]).ok();
    assert_eq!(repo.read("a"), LINES.replace("8\n", "turn 3\n"));
    assert!(!repo.has("new 1") && !repo.has("new 2") && repo.has("new 3"));
    assert_eq!(
        repo.edio(["show", "last", "--json"]).json()[0]["message"],
        "Revert \"turn 1\" to \"turn 2\""
    );
    repo.edio(["undo"]).ok();
    repo.edio(["revert", "@-1..@"]).ok();
    assert_eq!(repo.read("a"), LINES.replace("2\n", "turn 1\n"));
}

#[test]
fn a_revert_is_a_turn_that_can_be_reverted() {
    let repo = three_turns();
    let before = repo.manifest();
    repo.edio(["revert", "2"]).ok();
    repo.edio(["revert", "4"]).ok();
    assert_eq!(repo.manifest(), before);
    assert_eq!(
        repo.edio(["show", "last", "--json"]).json()[0]["message"],
        "Revert \"Revert \"turn 2\"\""
    );
}

#[test]
fn deletions_modes_links_and_kinds_come_back() {
    let repo = Repo::with(&[
        ("gone", "gone\n"),
        ("folder/in", "in\n"),
        ("mode", "mode\n"),
        ("both", LINES),
        ("kind", "a file\n"),
        ("binary", "\u{1}\n"),
        ("file", "a file\n"),
    ]);
    repo.link("link", "gone");
    snapshot(&repo, "link");
    let before = repo.manifest();
    repo.remove("gone");
    repo.remove("folder");
    repo.chmod("mode", 0o755);
    repo.chmod("both", 0o755);
    repo.remove("kind");
    repo.link("kind", "mode");
    repo.remove("link");
    repo.link("link", "kind");
    repo.write("binary", b"\0\xff\r\n");
    repo.remove("file");
    repo.write("file/in", "now a folder\n");
    repo.write("odd \n\"*", "odd\n");
    snapshot(&repo, "much");
    repo.write("both", LINES.replace('5', "later"));
    repo.write("later", "later\n");
    snapshot(&repo, "later");

    repo.edio(["revert", "2"]).ok();

    assert_eq!(repo.read("both"), LINES.replace('5', "later"));
    assert_eq!(repo.read("later"), "later\n");
    repo.write("both", LINES);
    repo.remove("later");
    assert_eq!(repo.manifest(), before);
    assert!(!repo.has("file/in"));
    repo.fsck();
}

#[test]
fn a_file_that_was_renamed_since_is_found() {
    let repo = Repo::with(&[("a", LINES)]);
    repo.write("a", LINES.replace('2', "turn 1"));
    snapshot(&repo, "edit");
    fs::rename(repo.path("a"), repo.path("moved")).unwrap();
    snapshot(&repo, "rename");
    repo.edio(["revert", "1"]).ok();
    assert_eq!(repo.read("moved"), LINES);
    assert!(!repo.has("a"));
}

#[test]
fn only_these_files_and_folders() {
    let files = ["a", "b", "d/x", "d/y", "*"];
    let repo = Repo::with(&files.map(|name| (name, "base\n")));
    for name in files {
        repo.write(name, "turn\n");
    }
    repo.write("d/new", "turn\n");
    snapshot(&repo, "turn");
    repo.edio_in("d", ["revert", "1", "-f", "x", "-f", "../a"])
        .ok();
    let read = |names: [&str; 5]| names.map(|name| repo.read(name).trim().to_owned());
    assert_eq!(read(files), ["base", "turn", "base", "turn", "turn"]);
    assert!(repo.has("d/new"));
    repo.edio(["revert", "1", "--file", "d"]).ok();
    assert_eq!(read(files), ["base", "turn", "base", "base", "turn"]);
    assert!(!repo.has("d/new"));
    repo.edio(["revert", "1", "-f", "*"]).ok();
    assert_eq!(read(files), ["base", "turn", "base", "base", "base"]);
    repo.edio(["revert", "1", "-f", "."]).ok();
    assert_eq!(read(files), ["base"; 5]);
}

#[test]
fn a_file_that_the_turns_did_not_change() {
    let repo = three_turns();
    for file in ["b", "new 3", "no-such-file"] {
        says_no(&repo, &["revert", "1..2", "-f", file], 1, &[file]);
    }
    says_no(&repo, &["revert", "2", "-f", "../outside"], 2, &["outside"]);
    says_no(
        &repo,
        &["revert", "2", "-f", ".git/config"],
        2,
        &["git directory"],
    );
}

#[test]
fn a_conflict_is_refused_and_named() {
    let repo = three_turns();
    repo.write("a", repo.read("a").replace("turn 2\n", "by hand\n"));
    repo.write("new 2", "by hand\n");
    let said = says_no(&repo, &["revert", "2"], 3, &["in conflict: ", "hint: "]);
    let named = said
        .split("in conflict: ")
        .nth(1)
        .unwrap()
        .lines()
        .next()
        .unwrap();
    let mut named: Vec<&str> = named.split(", ").collect();
    named.sort_unstable();
    assert_eq!(named, ["a", "new 2"]);
    says_no(&repo, &["revert", "2", "--dry-run"], 3, &["in conflict: "]);
    let ran = repo.edio(["revert", "2", "--json"]);
    ran.fails(3);
    assert!(ran.stdout.is_empty(), "{ran}");
    // Without those paths it can be done.
    repo.write("new 2", "new 2\n");
    repo.edio(["revert", "2", "-f", "new 2"]).ok();
    assert!(!repo.has("new 2"));
    assert!(repo.read("a").contains("by hand"));
}

#[test]
fn where_not_all_conflicts_are_named_it_says_how_many_there_are() {
    let names: Vec<String> = (10..22).map(|number| format!("f{number}")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (&name[..], "base\n")).collect();
    let repo = Repo::with(&files);
    for content in ["first\n", "then\n"] {
        names.iter().for_each(|name| repo.write(name, content));
        snapshot(&repo, content);
    }
    says_no(
        &repo,
        &["revert", "1"],
        3,
        &["in conflict: f10, ", ", f19 and 2 more\n"],
    );
}

#[test]
fn a_conflict_of_a_file_with_a_folder_names_a_path_that_exists() {
    let repo = Repo::with(&[("a", "base\n"), ("p", "base\n")]);
    repo.remove("p");
    snapshot(&repo, "removed");
    repo.write("p/in", "later\n");
    let said = says_no(&repo, &["revert", "1"], 3, &["in conflict: p"]);
    assert!(!said.contains('~'), "{said}");
}

#[test]
fn a_binary_file_that_was_changed_since_is_a_conflict() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.write("bin", b"\0one");
    snapshot(&repo, "one");
    repo.write("bin", b"\0two");
    snapshot(&repo, "two");
    repo.write("bin", b"\0three");
    says_no(&repo, &["revert", "2"], 3, &["in conflict: bin"]);
}

#[test]
fn dry_run_changes_nothing() {
    let repo = three_turns();
    repo.write("b", "unsaved\n");
    let (state, files, refs) = (repo.git_files(), repo.manifest(), repo.edio_refs());
    let ran = repo.edio(["revert", "2..3", "--dry-run"]);
    ran.ok();
    let plan: Vec<&str> = ran
        .stdout
        .lines()
        .map(|line| line.split(" (").next().unwrap())
        .collect();
    assert_eq!(plan, ["write   a", "remove  new 2", "remove  new 3"]);
    assert!(ran.stderr.contains("nothing was changed"), "{ran}");
    let mut record = repo
        .edio(["revert", "2", "--dry-run", "--json"])
        .json()
        .remove(0);
    let plan = record.as_object_mut().unwrap().remove("plan").unwrap();
    let plan: Vec<_> = plan
        .as_array()
        .unwrap()
        .iter()
        .map(|step| (&step["path"], &step["action"]))
        .collect();
    assert_eq!(
        plan,
        [
            (&json!("a"), &json!("write")),
            (&json!("new 2"), &json!("remove"))
        ]
    );
    assert_eq!(
        record,
        json!({
            "v": 1, "first": 2, "last": 2, "dry_run": true, "written": 0, "removed": 0,
            "safety_turn": null, "new_turn": null,
        })
    );
    assert_eq!(
        (repo.git_files(), repo.manifest(), repo.edio_refs()),
        (state, files, refs)
    );
    let record = &repo.edio(["revert", "2", "--json"]).json()[0];
    assert_eq!(
        (
            &record["dry_run"],
            &record["safety_turn"],
            &record["new_turn"]
        ),
        (&json!(false), &json!(4), &json!(5))
    );
    assert_eq!(
        (&record["written"], &record["removed"]),
        (&json!(1), &json!(1))
    );
}

#[test]
fn where_nothing_is_left_to_take_back() {
    let repo = three_turns();
    repo.edio(["revert", "2"]).ok();
    says_no(&repo, &["revert", "2"], 1, &["nothing left"]);
    // Nor is unsaved work taken as a turn then.
    repo.write("b", "unsaved\n");
    says_no(&repo, &["revert", "2"], 1, &["nothing left"]);
    snapshot(&repo, "a label");
    repo.edio(["snapshot", "-m", "nothing changed"]).ok();
    says_no(&repo, &["revert", "last"], 1, &["nothing left"]);
}

#[test]
fn turns_that_can_not_be_meant() {
    let repo = Repo::with(&[("a", "base\n")]);
    says_no(&repo, &["revert", "1"], 1, &["no session", "edio snapshot"]);
    repo.write("a", "1\n");
    snapshot(&repo, "1");
    for (words, code, said) in [
        ("0", 2, "turn 0"),
        ("0..1", 2, "turn 0"),
        ("2", 1, "there is no turn 2"),
        ("1..2", 1, "there is no turn 2"),
        ("last..0", 2, ""),
        ("x", 2, ""),
        ("1...1", 2, ""),
        ("-1", 2, ""),
        ("", 2, ""),
    ] {
        says_no(&repo, &["revert", words], code, &[said]);
    }
    says_no(&repo, &["revert"], 2, &[]);
    repo.write("a", "2\n");
    snapshot(&repo, "2");
    says_no(&repo, &["revert", "2..1"], 2, &["edio revert 1..2"]);
    let outside = repo.outside().join("home");
    repo.edio_in(outside, ["revert", "1"]).fails(4);
}

#[test]
fn what_a_left_arm_did_does_not_come_back() {
    let repo = Repo::with(&[("a", "base\n")]);
    for number in 1..=3 {
        repo.write(format!("t{number}"), format!("turn {number}\n"));
        snapshot(&repo, "an arm that is left");
    }
    repo.edio(["restore", "1"]).ok();
    for number in 4..=5 {
        repo.write(format!("t{number}"), format!("turn {number}\n"));
        snapshot(&repo, "the line");
    }
    let ran = repo.edio(["revert", "3..5"]);
    // It may be refused, since 3 is not on the line of 5; or 4 and 5 are taken back. Turn 2 has no part in it.
    assert!(!repo.has("t2") && !repo.has("t3"), "{ran}");
    assert!(repo.has("t1"), "{ran}");
    assert_eq!(repo.has("t4"), repo.has("t5"), "{ran}");
}

#[test]
fn p4_what_no_turn_holds_is_not_overwritten() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.write("p", "held\n");
    snapshot(&repo, "held");
    repo.remove("p");
    let mut mkfifo = Command::new("mkfifo");
    repo.surround(&mut mkfifo);
    assert!(
        mkfifo
            .current_dir(&repo.top)
            .arg("p")
            .status()
            .unwrap()
            .success()
    );
    repo.write("o", "other\n");
    snapshot(&repo, "not held");
    says_no(&repo, &["revert", "2"], 3, &["p"]);
    assert!(repo.has("o"));
    assert!(fs::symlink_metadata(repo.path("p")).is_ok_and(|meta| !meta.is_file()));
}

#[test]
fn p3_ignored_files_are_left_alone() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.write("x", "held\n");
    snapshot(&repo, "x");
    repo.write(".gitignore", "x\n*.log\n");
    repo.write("x.log", "ignored\n");
    snapshot(&repo, "rules");
    repo.write("x", "ignored now\n");
    // x is no turn's any more: nothing of what turn 1 did is left.
    says_no(&repo, &["revert", "1"], 1, &["nothing left"]);
    assert_eq!(
        (repo.read("x"), repo.read("x.log")),
        ("ignored now\n".into(), "ignored\n".into())
    );
}

#[test]
fn turns_of_another_session_are_left_to_a_restore() {
    let repo = three_turns();
    let id = repo.sessions("active").remove(0);
    repo.edio(["accept", "feat"]).ok();
    repo.write("b", "unsaved\n");
    says_no(
        &repo,
        &["revert", "2", "--session", &id],
        1,
        &["not the session under way", "restore"],
    );
}
