//! `edio restore -f`, which touches nothing else, and `--dry-run`, which touches nothing.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;

use serde_json::Value;

use crate::common::Repo;

fn snapshot(repo: &Repo) {
    repo.edio(["snapshot"]).ok();
}

/// Turn 1 and turn 2, between which everything differs.
fn two_turns() -> Repo {
    let repo = Repo::with(&[
        ("a", "1\n"),
        ("b", "1\n"),
        ("d/x", "1\n"),
        ("d/e/y", "1\n"),
        ("gone", "1\n"),
        ("run", "#!\n"),
    ]);
    snapshot(&repo);
    for path in ["a", "b", "d/x", "d/e/y"] {
        repo.write(path, "2\n");
    }
    repo.remove("gone");
    repo.write("later", "2\n");
    repo.write("d/later", "2\n");
    repo.write("d/new/later", "2\n");
    repo.chmod("run", 0o755);
    snapshot(&repo);
    repo
}

/// The whole work tree to the last bit, but for these paths and what lies in them.
fn others(repo: &Repo, but: &[&str]) -> Vec<String> {
    let mut files = repo.everything_in(&repo.top);
    let is_other = |line: &String| {
        let name = line[1..].split('"').next().unwrap();
        !name.starts_with(".git/")
            && !but
                .iter()
                .any(|path| name == *path || name.starts_with(&format!("{path}/")))
    };
    files.retain(is_other);
    files
}

/// Restores some paths, and nothing else.
fn restore(repo: &Repo, turn: &str, paths: &[&str]) -> String {
    let bare: Vec<&str> = paths
        .iter()
        .map(|path| path.trim_end_matches('/'))
        .collect();
    let before = (others(repo, &bare), repo.git_files());
    let files = paths.iter().flat_map(|path| ["-f", *path]);
    let ran = repo.edio(["restore", turn].into_iter().chain(files));
    ran.ok();
    assert_eq!(
        (others(repo, &bare), repo.git_files()),
        before,
        "restore {turn} {paths:?}"
    );
    ran.stderr
}

/// A run that ends like this, and changes nothing at all.
fn fails(repo: &Repo, code: i32, words: &[&str]) -> String {
    let before = (others(repo, &[]), repo.git_files(), repo.edio_refs());
    let ran = repo.edio(words);
    ran.fails(code);
    assert_eq!(
        (others(repo, &[]), repo.git_files(), repo.edio_refs()),
        before,
        "{words:?}"
    );
    ran.stderr
}

/// The plan in a record: each path with what is done to it.
fn plan(record: &Value) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let actions = record["plan"].as_array().unwrap().iter();
    actions
        .map(|action| (text(&action["path"]), text(&action["action"])))
        .collect()
}

#[test]
fn p3_one_file_comes_back_and_nothing_else_is_touched() {
    let repo = two_turns();
    let said = restore(&repo, "1", &["a"]);
    assert_eq!(repo.read("a"), "1\n");
    assert!(said.contains("turn 3"), "{said}");
    assert_eq!(
        repo.manifest_in(&repo.turn_ref(3)),
        repo.manifest(),
        "it ends in a turn of its own"
    );
    let parent = repo.git(["rev-parse", &format!("{}^", repo.turn_ref(3))]);
    assert_eq!(parent, repo.git(["rev-parse", &repo.turn_ref(2)]));
    restore(&repo, "1", &["gone"]);
    assert_eq!(repo.read("gone"), "1\n");
    restore(&repo, "1", &["run"]);
    assert!(
        repo.manifest()
            .iter()
            .any(|line| line.starts_with("file \"run\""))
    );
    assert_eq!(repo.turns(), 5);
    // Each can be undone by the turn before.
    repo.edio(["restore", "2"]).ok();
    assert_eq!(repo.manifest(), repo.manifest_in(&repo.turn_ref(2)));
    repo.fsck();
}

#[test]
fn p3_a_folder_comes_back_as_it_was_and_nothing_else_is_touched() {
    let repo = two_turns();
    repo.write(".git/info/exclude", "*.log\n");
    repo.write("d/new/kept.log", "ignored\n");
    restore(&repo, "1", &["d"]);
    assert_eq!(
        (repo.read("d/x"), repo.read("d/e/y")),
        ("1\n".to_owned(), "1\n".to_owned())
    );
    assert!(
        !repo.has("d/later") && !repo.has("d/new/later"),
        "what came later in the folder is gone"
    );
    assert!(repo.has("d/new/kept.log") && repo.has("later"));
    restore(&repo, "2", &["d/e"]);
    assert_eq!(
        (repo.read("d/x"), repo.read("d/e/y")),
        ("1\n".to_owned(), "2\n".to_owned())
    );
    repo.remove("d");
    restore(&repo, "1", &["d/"]);
    assert_eq!(repo.read("d/e/y"), "1\n");
}

#[test]
fn p3_several_paths_come_back_together() {
    let repo = two_turns();
    restore(&repo, "1", &["a", "d/e", "gone", "a"]);
    assert_eq!(
        (repo.read("a"), repo.read("d/e/y"), repo.read("gone")),
        ("1\n".into(), "1\n".into(), "1\n".into())
    );
    assert_eq!(
        (repo.read("b"), repo.read("d/x")),
        ("2\n".into(), "2\n".into())
    );
    assert_eq!(repo.turns(), 3);
}

#[test]
fn p3_a_path_that_the_turn_lacks_changes_nothing() {
    let repo = two_turns();
    repo.write(".git/info/exclude", "*.log\n");
    repo.write("x.log", "ignored\n");
    for path in [
        "later", "d/later", "d/new", "nowhere", "x.log", "a/b", "d/x/y", "*", "[a]", "a*", ":/a",
        ":(top)a", "A",
    ] {
        let said = fails(&repo, 1, &["restore", "1", "-f", path]);
        assert!(said.contains("has no"), "{said}");
    }
    fails(&repo, 1, &["restore", "1", "-f", "a", "-f", "later"]);
    fails(&repo, 1, &["restore", "7", "-f", "a"]);
}

#[test]
fn p3_a_path_outside_is_a_mistake_of_usage() {
    let repo = two_turns();
    let outside = repo.outside();
    fs::write(outside.join("out"), "theirs\n").unwrap();
    let absolute = outside.join("out");
    for path in [
        "../out",
        "..",
        "/",
        "/etc/passwd",
        absolute.to_str().unwrap(),
        "d/../../out",
        ".git/config",
        ".git",
        "d/.GIT/x",
        "",
    ] {
        fails(&repo, 2, &["restore", "1", "-f", path]);
    }
}

#[test]
fn paths_count_from_where_the_person_stands() {
    let repo = two_turns();
    repo.edio_in("d", ["restore", "1", "-f", "x"]).ok();
    assert_eq!(
        (repo.read("d/x"), repo.read("a")),
        ("1\n".into(), "2\n".into())
    );
    repo.edio_in("d/e", ["restore", "1", "-f", "../../a", "-f", "."])
        .ok();
    assert_eq!(
        (repo.read("a"), repo.read("d/e/y"), repo.read("b")),
        ("1\n".into(), "1\n".into(), "2\n".into())
    );
    repo.edio_in("d", ["-C", "..", "restore", "2", "-f", "a"])
        .ok();
    assert_eq!(repo.read("a"), "2\n");
    let absolute = repo.path("d/x");
    repo.edio(["restore", "2", "-f", absolute.to_str().unwrap()])
        .ok();
    assert_eq!(repo.read("d/x"), "2\n");
    // Through a link to the repository, and through one within it, which is a path of its own.
    let door = repo.outside().join("door");
    std::os::unix::fs::symlink(&repo.top, &door).unwrap();
    repo.edio_in(&door, ["restore", "1", "-f", "b"]).ok();
    repo.edio(["restore", "1", "-f", door.join("gone").to_str().unwrap()])
        .ok();
    assert_eq!(
        (repo.read("b"), repo.read("gone")),
        ("1\n".into(), "1\n".into())
    );
    repo.link("inner", "d");
    fails(&repo, 1, &["restore", "1", "-f", "inner/x"]);
}

#[test]
fn p3_names_are_literal_whatever_they_look_like() {
    let names: [&[u8]; 8] = [
        b"*",
        b"[ab]",
        b":(glob)**",
        b"-f",
        b"caf\xe9",
        b"new\nline",
        b" ",
        b"a",
    ];
    let repo = Repo::with(&[("b", "1\n")]);
    let write = |content: &str| {
        names
            .iter()
            .for_each(|name| repo.write(OsStr::from_bytes(name), content))
    };
    write("1\n");
    snapshot(&repo);
    write("2\n");
    repo.write("b", "2\n");
    snapshot(&repo);
    for (done, name) in names.iter().enumerate() {
        let mut file = OsString::from("./");
        file.push(OsStr::from_bytes(name));
        let words = [
            OsStr::new("restore"),
            OsStr::new("1"),
            OsStr::new("-f"),
            &file,
        ];
        let ran = repo.edio(words);
        ran.ok();
        assert!(!ran.stderr.contains("\nline"), "{ran}");
        let back = repo
            .manifest()
            .iter()
            .filter(|line| line.ends_with("[49, 10]"))
            .count();
        assert_eq!(back, done + 1, "{name:?}");
    }
    repo.edio(["restore", "2", "--file=*"]).ok();
    assert_eq!(
        (repo.read("*"), repo.read("a")),
        ("2\n".into(), "1\n".into())
    );
    repo.fsck();
}

#[test]
fn p3_a_path_changes_between_file_folder_and_link() {
    let repo = Repo::with(&[
        ("p", "file\n"),
        ("q/x", "1\n"),
        ("r", "1\n"),
        ("s/t", "1\n"),
        ("other", "1\n"),
    ]);
    snapshot(&repo);
    repo.remove("p");
    repo.write("p/x/y", "1\n");
    repo.remove("q");
    repo.write("q", "file\n");
    repo.remove("r");
    repo.link("r", "s");
    repo.remove("s");
    repo.link("s", "nowhere");
    snapshot(&repo);
    for path in ["p", "q", "r", "s"] {
        restore(&repo, "1", &[path]);
    }
    assert_eq!(repo.manifest(), repo.manifest_in(&repo.turn_ref(1)));
    for path in ["s", "r", "q", "p"] {
        restore(&repo, "2", &[path]);
    }
    assert_eq!(repo.manifest(), repo.manifest_in(&repo.turn_ref(2)));
    repo.fsck();
}

#[test]
fn p3_a_path_whose_folder_is_now_a_file_comes_back_or_is_refused_with_the_true_reason() {
    let repo = Repo::with(&[("q/x", "1\n"), ("q/y", "1\n"), ("other", "1\n")]);
    snapshot(&repo);
    repo.remove("q");
    repo.write("q", "a file, held by turn 2\n");
    snapshot(&repo);
    let ran = repo.edio(["restore", "1", "-f", "q/x"]);
    if ran.code == Some(0) {
        assert_eq!(
            (repo.read("q/x"), repo.has("q/y")),
            ("1\n".to_owned(), false)
        );
        return;
    }
    ran.fails(3);
    assert!(
        !ran.stderr.contains("no turn holds"),
        "turn 2 holds it: {ran}"
    );
    assert_eq!(repo.read("q"), "a file, held by turn 2\n");
}

#[test]
fn p4_unsaved_work_is_saved_also_where_one_file_comes_back() {
    let repo = two_turns();
    repo.write("a", "unsaved\n");
    repo.write("b", "unsaved too\n");
    let said = restore(&repo, "1", &["a"]);
    assert!(said.contains("your unsaved work is turn 3"), "{said}");
    assert_eq!(repo.in_turn(3, "a").as_deref(), Some("unsaved\n"));
    assert_eq!(repo.in_turn(4, "a").as_deref(), Some("1\n"));
    assert_eq!(repo.in_turn(4, "b").as_deref(), Some("unsaved too\n"));
    assert_eq!(repo.manifest_in(&repo.turn_ref(4)), repo.manifest());
    // The way back.
    repo.edio(["restore", "3"]).ok();
    assert_eq!(repo.read("a"), "unsaved\n");
    assert_eq!(repo.turns(), 4);
}

#[test]
fn p4_an_ignored_file_in_the_way_of_a_path_is_saved() {
    let repo = Repo::with(&[("a", "1\n")]);
    repo.write("env", "turn\n");
    repo.write("env2", "turn\n");
    snapshot(&repo);
    repo.write(".gitignore", "env*\n");
    repo.write("env", "secret\n");
    repo.write("env2", "secret two\n");
    snapshot(&repo);
    let said = restore(&repo, "1", &["env"]);
    assert!(said.contains("ignored file was replaced: env"), "{said}");
    let side = repo.turn_ref(1).replace("/1", "/side");
    assert_eq!(repo.git(["show", &format!("{side}:ignored/env")]), "secret");
    assert_eq!(
        repo.git(["ls-tree", "-r", "--name-only", &side]),
        "ignored/env"
    );
    assert_eq!(repo.read("env2"), "secret two\n");
}

#[test]
fn where_nothing_differs_no_turn_is_taken() {
    let repo = two_turns();
    let refs = repo.edio_refs();
    let said = restore(&repo, "2", &["a", "d"]);
    assert!(said.contains("nothing to do"), "{said}");
    assert_eq!(repo.edio_refs(), refs);
}

#[test]
fn the_top_itself_means_the_whole_work_tree() {
    let repo = two_turns();
    repo.edio_in("d", ["restore", "1", "-f", ".."]).ok();
    assert_eq!(repo.manifest(), repo.manifest_in(&repo.turn_ref(1)));
    repo.edio(["restore", "2", "-f", "."]).ok();
    assert_eq!(repo.manifest(), repo.manifest_in(&repo.turn_ref(2)));
}

#[test]
fn json_tells_all_of_it() {
    let repo = two_turns();
    repo.write("b", "unsaved\n");
    let ran = repo.edio(["restore", "1", "-f", "a", "-f", "d", "--json"]);
    let records = ran.ok().json();
    let record = &records[0];
    assert_eq!(records.len(), 1);
    assert_eq!(
        (&record["v"], &record["turn"], &record["dry_run"]),
        (&1.into(), &1.into(), &false.into())
    );
    assert_eq!(
        (&record["written"], &record["removed"]),
        (&3.into(), &2.into())
    );
    assert_eq!(
        (&record["safety_turn"], &record["new_turn"]),
        (&3.into(), &4.into())
    );
    assert_eq!(record["commit"], repo.git(["rev-parse", &repo.turn_ref(1)]));
    let names: Vec<String> = plan(record)
        .into_iter()
        .map(|(path, action)| format!("{action} {path}"))
        .collect();
    assert_eq!(
        names,
        [
            "write a",
            "write d/e/y",
            "remove d/later",
            "remove d/new/later",
            "write d/x"
        ]
    );
}

#[test]
fn dry_run_changes_nothing_and_shows_the_plan_that_is_carried_out() {
    let repo = two_turns();
    repo.write(".git/info/exclude", "env\n");
    repo.write("unsaved", "u\n");
    repo.write(".gitignore", "later\n");
    snapshot(&repo);
    repo.write("a", "unsaved\n");
    for words in [
        &["restore", "1"][..],
        &["restore", "2", "-f", "a"],
        &["restore", "1", "-f", "d", "-f", "run"],
    ] {
        let before = (others(&repo, &[]), repo.git_files(), repo.edio_refs());
        let shown = repo.edio(words.iter().chain(&["--dry-run", "--json"]));
        let shown = shown.ok().json();
        assert_eq!(shown[0]["dry_run"], true);
        let said = repo.edio(words.iter().chain(&["--dry-run"]));
        assert!(said.ok().stderr.contains("nothing was changed"), "{said}");
        assert_eq!(
            (others(&repo, &[]), repo.git_files(), repo.edio_refs()),
            before,
            "{words:?}"
        );
        for (path, action) in plan(&shown[0]) {
            let line = format!("{action:<7} {path}");
            assert!(
                said.stdout.lines().any(|shown| shown.starts_with(&line)),
                "{line} is not in {said}"
            );
        }
        let done = repo.edio(words.iter().chain(&["--json"]));
        assert_eq!(done.ok().json()[0]["plan"], shown[0]["plan"], "{words:?}");
        repo.edio(["restore", "last"]).ok();
    }
}

#[test]
fn dry_run_names_every_kind_of_action_and_why_a_path_is_kept() {
    let repo = Repo::with(&[
        ("written", "1\n"),
        ("bit", "1\n"),
        (".gitignore", "*.key\n"),
    ]);
    snapshot(&repo);
    repo.write("written", "2\n");
    repo.chmod("bit", 0o755);
    repo.write(".gitignore", "\n");
    repo.write("my.key", "1\n");
    repo.write("removed", "1\n");
    snapshot(&repo);
    let ran = repo.edio(["restore", "1", "--dry-run"]);
    insta::assert_snapshot!(ran.ok().stdout, @"
    write   .gitignore (it differs)
    mode    bit (its executable bit differs)
    keep    my.key (the turn's ignore rules protect it)
    remove  removed (it appeared since)
    write   written (it differs)
    ");
    let ran = repo.edio(["restore", "2", "--dry-run"]);
    assert!(ran.ok().stderr.contains("nothing would change"), "{ran}");
}

#[test]
fn dry_run_names_the_ignored_files_that_would_be_replaced() {
    let repo = Repo::with(&[("a", "1\n")]);
    repo.write("env", "turn\n");
    snapshot(&repo);
    repo.write(".gitignore", "env\n");
    repo.write("env", "secret\n");
    snapshot(&repo);
    let ran = repo.edio(["restore", "1", "--dry-run"]);
    let line = ran
        .ok()
        .stdout
        .lines()
        .find(|line| line.contains("env"))
        .unwrap();
    assert!(
        line.starts_with("write") && line.contains("ignored"),
        "{ran}"
    );
}

#[test]
fn dry_run_of_a_restore_that_would_be_refused_is_refused() {
    let repo = Repo::with(&[("p", "1\n")]);
    snapshot(&repo);
    repo.remove("p");
    repo.git(["init", "-q", "p"]);
    let said = fails(&repo, 3, &["restore", "1", "--dry-run"]);
    assert!(said.contains('p'), "{said}");
    fails(&repo, 1, &["restore", "2", "--dry-run"]);
    fails(&repo, 1, &["restore", "1", "-f", "nowhere", "--dry-run"]);
}

#[test]
fn p3_the_turn_after_a_restore_of_a_path_has_the_edits_that_the_cached_index_lacks() {
    let repo = Repo::with(&[("a", "1\n"), ("d/b", "1\n"), ("d/c", "1\n")]);
    repo.edio(["snapshot"]).ok();
    repo.write("a", "edited\n");
    repo.write("d/c", "edited\n");
    repo.edio(["snapshot"]).ok();
    repo.write("d/b", "edited\n");
    repo.edio(["snapshot"]).ok();
    repo.edio(["restore", "1", "-f", "d/b"]).ok();
    assert_eq!(repo.manifest_in(&repo.turn_ref(4)), repo.manifest());
    assert_eq!(repo.read("d/b"), "1\n");
    assert_eq!(repo.read("a"), "edited\n");
}

#[test]
fn p3_more_paths_than_a_few_are_restored_by_name() {
    let repo = Repo::with(&[("z", "1\n")]);
    let write = |content: &str| (0..150).for_each(|n| repo.write(format!("d/{n}"), content));
    write("1\n");
    repo.write("e", "1\n");
    repo.edio(["snapshot"]).ok();
    write("2\n");
    repo.write("e", "2\n");
    repo.edio(["snapshot"]).ok();
    repo.edio(["restore", "1", "-f", "d"]).ok();
    assert_eq!(repo.manifest_in(&repo.turn_ref(3)), repo.manifest());
    assert_eq!(repo.read("e"), "2\n");
}
