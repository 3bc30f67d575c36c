//! `edio forget`: a session written anew without a path, and nothing else changed.

use std::collections::BTreeSet;
use std::fs;

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::json;

use crate::common::{NOW, Repo, copy, is_tried};

/// What must be nowhere any more.
const SECRET: &str = "TOKEN=hush\n";

/// Two arms with a secret in some of their turns: 0, 1 with it, 2 with another, 3 without, then from 2 on 4 with the
/// first again. All work stands at 4, and the file is gone from the disk.
fn two_arms() -> Repo {
    let repo = Repo::with(&[("a", "base\n"), ("d/x", "base\n")]);
    arms(&repo);
    repo
}

fn arms(repo: &Repo) {
    for (number, secret) in [(1, Some(SECRET)), (2, Some("TOKEN=other\n")), (3, None)] {
        repo.write("a", format!("{number}\n"));
        match secret {
            Some(secret) => repo.write("d/env", secret),
            None => repo.remove("d/env"),
        }
        repo.edio(["snapshot", "-m", &format!("the {number}.")])
            .ok();
    }
    repo.edio(["restore", "2"]).ok();
    repo.write("a", "4\n");
    repo.write("d/env", SECRET);
    repo.edio(["snapshot", "-m", "the 4."]).ok();
    repo.remove("d/env");
    repo.edio(["snapshot", "-m", "the 5."]).ok();
}

/// The id that git gives to this content.
fn id_of(repo: &Repo, content: &str) -> String {
    let file = repo.outside().join("content");
    fs::write(&file, content).unwrap();
    repo.git(["hash-object", "-w", "--no-filters", file.to_str().unwrap()])
}

/// The paths that edio's own commits hold, those beside the turns without the folder that they are saved in.
fn held(repo: &Repo) -> BTreeSet<String> {
    let mut held = BTreeSet::new();
    for commit in repo
        .git(["rev-list", "--glob=refs/edio/a*", "--not", "--branches"])
        .lines()
    {
        let is_side = !repo
            .git(["show", "-s", "--format=%B", commit])
            .contains("Edio-Worktree: ");
        for path in repo
            .git(["ls-tree", "-r", "--name-only", "--full-tree", commit])
            .lines()
        {
            match (is_side, path.split_once('/')) {
                (false, _) => drop(held.insert(path.to_owned())),
                (true, Some((_, path))) => drop(held.insert(path.to_owned())),
                // A list.
                (true, None) => {}
            }
        }
    }
    held
}

/// What each of edio's refs leads to, but for ids, counts of lines and trees: numbers, dates, messages, parents.
fn shape(repo: &Repo) -> Vec<String> {
    let names = repo.git(["for-each-ref", "--format=%(refname)", "refs/edio"]);
    let line = |name: &str| {
        let format = "--format=%an %ae %at %cn %ce %ct%n%B%x00";
        let log = repo.git(["log", "--full-history", "--topo-order", format, name]);
        let names_ids = |line: &&str| {
            ["Stat", "From", "To", "Side", "Undoes"]
                .iter()
                .any(|key| line.starts_with(&format!("Edio-{key}: ")))
        };
        let lines = log.lines().filter(|line| !names_ids(line));
        format!("{name}\n{}", lines.collect::<Vec<_>>().join("\n"))
    };
    names.lines().map(line).collect()
}

/// Has git throw away all that nothing points to.
fn collect(repo: &Repo) {
    repo.git(["reflog", "expire", "--expire=now", "--all"]);
    repo.git(["gc", "-q", "--prune=now"]);
    repo.fsck();
}

fn is_gone(repo: &Repo, id: &str) -> bool {
    !repo.git_says(["cat-file", "-e", id])
}

/// What `log` says of each turn: number, files, lines added and removed.
fn stats(repo: &Repo) -> Vec<[u64; 4]> {
    let log = repo.edio(["log", "--json"]).json();
    let stat = |turn: &serde_json::Value| {
        ["turn", "files", "added", "removed"].map(|key| turn[key].as_u64().unwrap())
    };
    log.iter().map(stat).collect()
}

/// Everything of the user's, but for the config.
fn users(repo: &Repo) -> (Vec<String>, Vec<String>) {
    let mut files = repo.git_files();
    files.retain(|line| !line.starts_with("\"config\""));
    (files, repo.manifest())
}

fn works_everywhere(repo: &Repo) {
    let (secret, other) = (id_of(repo, SECRET), id_of(repo, "TOKEN=other\n"));
    repo.edio(["undo"]).ok();
    repo.edio(["redo"]).ok();
    let (shape, users) = (shape(repo), users(repo));
    let ran = repo.edio(["forget", "-f", "d/env", "--yes"]);
    ran.ok();
    assert!(ran.stderr.contains("turns 1, 2, 4"), "{ran}");
    assert_eq!(self::shape(repo), shape);
    assert_eq!(self::users(repo), users);
    assert!(!held(repo).contains("d/env"));
    assert_eq!(
        stats(repo),
        [
            [5, 0, 0, 0],
            [4, 1, 1, 1],
            [3, 1, 1, 1],
            [2, 1, 1, 1],
            [1, 1, 1, 1]
        ]
    );
    collect(repo);
    assert!(is_gone(repo, &secret) && is_gone(repo, &other));
    for (number, a) in [
        (3, "3\n"),
        (1, "1\n"),
        (0, "base\n"),
        (2, "2\n"),
        (4, "4\n"),
    ] {
        repo.edio(["restore", &number.to_string()]).ok();
        assert_eq!((repo.read("a").as_str(), repo.has("d/env")), (a, false));
        assert_eq!(repo.read("d/x"), "base\n");
        repo.edio(["show", &number.to_string()]).ok();
        repo.edio(["diff", &number.to_string()]).ok();
    }
    for a in ["2\n", "base\n", "1\n", "3\n", "4\n"] {
        repo.edio(["undo"]).ok();
        assert_eq!(repo.read("a"), a);
    }
    repo.edio(["redo"]).ok();
    assert_eq!(repo.read("a"), "3\n");
    repo.edio(["log", "--graph", "--steps"]).ok();
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(repo.git(["show", "HEAD:a"]), "3");
    repo.edio(["undo"]).ok();
    repo.fsck();
}

#[test]
fn p10_it_goes_from_every_turn_of_every_arm_and_all_else_goes_on() {
    works_everywhere(&two_arms());
}

#[test]
fn p10_with_long_ids_and_with_refs_in_tables() {
    for format in ["--object-format=sha256", "--ref-format=reftable"] {
        let mut repo = Repo::unborn();
        repo.top = repo.outside().join("other");
        fs::create_dir(&repo.top).unwrap();
        // Older gits know no other refs than files.
        if !repo.git_says(["init", "-q", format]) {
            assert!(format.contains("reftable"));
            continue;
        }
        repo.write("a", "base\n");
        repo.write("d/x", "base\n");
        repo.commit("base");
        arms(&repo);
        works_everywhere(&repo);
    }
}

#[test]
fn what_it_says() {
    let repo = two_arms();
    repo.write("d/env", SECRET);
    assert_snapshot!(repo.edio(["forget", "-f", "d/env", "--yes"]), @r"
    [stdout ends]
    forgot d/env in [SESSION]: it was in turns 1, 2, 4
    the file on disk stays; edio.exclude now has /d/env, so no later turn takes it
    copies that were pushed or fetched elsewhere are out of edio's reach
    the old commits and what only they hold (13 objects) stay in .git until git collects them, after two weeks by default
    hint: to be rid of them at once: git gc --prune=now
    hint: that removes all else that nothing points to, too (dropped stashes, lost commits): git fsck --unreachable lists it
    [stderr ends]
    exit code 0
    ");
    let repo = two_arms();
    let ran = repo.edio(["forget", "-f", "d/env", "--yes", "-q"]);
    assert_eq!((ran.ok().stdout.as_str(), ran.stderr.as_str()), ("", ""));
    let repo = two_arms();
    let record = repo
        .edio(["forget", "-f", "d/env", "--yes", "--json"])
        .json();
    assert_eq!(
        record,
        [json!({
            "v": 1, "paths": ["d/env"], "not_found": [], "commits": 6, "objects": 13, "excluded": [], "other_paths": [],
            "sessions": [{"session": repo.sessions("active")[0], "turns": [1, 2, 4]}],
            "other_sessions": [], "other_refs": [], "own_commit": null, "own_reflog": false, "own_index": false,
        })]
    );
}

#[test]
fn the_count_of_objects_is_that_of_what_git_collects() {
    let repo = two_arms();
    collect(&repo);
    let count = || {
        let all = repo.git(["cat-file", "--batch-all-objects", "--batch-check"]);
        all.lines().count() as u64
    };
    let record = repo.edio(["forget", "-f", "d", "--yes", "--json"]).json();
    let before = count();
    collect(&repo);
    assert_eq!(before - count(), record[0]["objects"].as_u64().unwrap());
}

#[test]
fn commits_that_never_had_it_keep_their_ids() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.write("a", "1\n");
    repo.edio(["snapshot"]).ok();
    let first = repo.git(["rev-parse", &repo.turn_ref(1)]);
    repo.write("env", SECRET);
    repo.edio(["snapshot"]).ok();
    repo.edio(["forget", "-f", "env", "--yes"]).ok();
    assert_eq!(repo.git(["rev-parse", &repo.turn_ref(1)]), first);
    assert_eq!(
        repo.git(["rev-parse", &format!("{}^", repo.turn_ref(2))]),
        first
    );
}

#[test]
fn folders_and_several_paths() {
    let repo = Repo::with(&[("a", "base\n")]);
    for (path, content) in [
        ("keys/deep/one", "1\n"),
        ("keys/two", "2\n"),
        ("keys.txt", "stays\n"),
        ("x/keys/three", "stays\n"),
        ("odd *[n]\\ame", "3\n"),
        ("odd *[n]\\amen", "stays\n"),
        ("s/p/only", "4\n"),
    ] {
        repo.write(path, content);
    }
    repo.edio(["snapshot"]).ok();
    let ran = repo.edio_in(
        "s",
        [
            "forget",
            "--yes",
            "-f",
            "../keys/",
            "-f",
            "p",
            "-f",
            "../odd *[n]\\ame",
            "-f",
            "../keys/two",
            "-f",
            "tpyo",
        ],
    );
    assert!(ran.ok().stderr.contains("no turn had s/tpyo"), "{ran}");
    assert_eq!(ran.stderr.matches("no turn had").count(), 1, "{ran}");
    let expected = ["\"odd *[n]\\\\amen\"", "a", "keys.txt", "x/keys/three"];
    assert_eq!(held(&repo), expected.map(str::to_owned).into());
    assert_eq!(
        repo.git(["config", "--local", "--get-all", "edio.exclude"]),
        "/keys\n/s/p\n/odd\\ \\*\\[n]\\\\ame\n/keys/two"
    );
    for content in ["1\n", "2\n", "3\n", "4\n"] {
        assert!(!repo.is_kept(content), "{content}");
    }
}

#[test]
fn a_pattern_that_it_adds_is_gits_for_just_that_path() {
    let repo = Repo::with(&[("a", "base\n")]);
    let names = [
        "*", "?", "[a]", "\\", "!x", "#x", " lead", "trail ", "a b", "{x}", "\u{e9}",
    ];
    for name in names {
        repo.write(name, SECRET);
        repo.write(format!("{name}more"), SECRET);
    }
    repo.edio(["snapshot"]).ok();
    let words = names.iter().flat_map(|name| ["-f", name]);
    repo.edio(["forget", "--yes"].into_iter().chain(words)).ok();
    let rules = repo.git_raw(["config", "--local", "--get-all", "edio.exclude"]);
    fs::write(repo.path(".git/info/exclude"), rules).unwrap();
    let untracked = repo.git_raw(["ls-files", "-z", "--others", "--exclude-standard"]);
    let mut expected = names.map(|name| format!("{name}more"));
    expected.sort();
    let mut left: Vec<&str> = untracked.split_terminator('\0').collect();
    left.sort_unstable();
    assert_eq!(left, expected);
}

#[test]
fn what_no_turn_has_is_not_forgotten_and_nothing_changes() {
    let repo = two_arms();
    let (refs, users) = (repo.edio_refs(), (repo.git_files(), repo.manifest()));
    for (words, code) in [
        (&["-f", "never", "--yes"][..], 1),
        (&["-f", "never"], 1),
        (&["-f", "d/en", "--yes"], 1),
        (&["-f", "d/env/below", "--yes"], 1),
        (&["-f", "../outside", "--yes"], 2),
        (&["-f", "/etc/passwd", "--yes"], 2),
        (&["-f", ".git/config", "--yes"], 2),
        (&["-f", ".", "--yes"], 2),
        (&["-f", "", "--yes"], 2),
        (&["-f", "d/env", "-f", "../outside", "--yes"], 2),
        (&["d/env", "--yes"], 2),
        (&["--yes"], 2),
        (&["-f", "d/env"], 3),
        (&["-f", "d/env", "--json"], 3),
        (&["-f", "d/env", "--session", "sess_1_none", "--yes"], 1),
    ] {
        repo.edio([&["forget"], words].concat()).fails(code);
        assert_eq!(repo.edio_refs(), refs, "{words:?}");
        assert_eq!((repo.git_files(), repo.manifest()), users, "{words:?}");
    }
    repo.edio_in(repo.outside().join("home"), ["forget", "-f", "x", "--yes"])
        .fails(4);
    let repo = Repo::with(&[("a", "base\n")]);
    repo.edio(["forget", "-f", "a", "--yes"]).fails(1);
    assert_eq!(repo.edio_refs(), "");
}

#[test]
fn on_a_terminal_it_asks() {
    for answer in ["n", "", "yess"] {
        let repo = two_arms();
        let refs = repo.edio_refs();
        let ran = repo.on_a_terminal(
            ["forget", "-f", "d/env"],
            &format!("until(b'[y/N]')\nos.write(fd, b'{answer}\\n')"),
        );
        assert_eq!(ran.code, Some(1), "{ran}");
        assert!(ran.stdout.contains("can't be undone"), "{ran}");
        assert_eq!(repo.edio_refs(), refs);
    }
    for answer in ["y", "YES"] {
        let repo = two_arms();
        let ran = repo.on_a_terminal(
            ["forget", "-f", "d/env"],
            &format!("until(b'[y/N]')\nos.write(fd, b'{answer}\\n')"),
        );
        assert_eq!(ran.code, Some(0), "{ran}");
        assert!(!held(&repo).contains("d/env"));
    }
    // Where there is nothing to forget, there is nothing to ask.
    let ran = two_arms().on_a_terminal(["forget", "-f", "never"], "");
    assert_eq!(ran.code, Some(1), "{ran}");
    // While it waits, others work.
    let repo = two_arms();
    let other = format!(
        "until(b'[y/N]')\nimport subprocess\n\
         subprocess.run([{:?}, 'snapshot', '-q', '-m', 'meanwhile'], check=True)\nos.write(fd, b'y\\n')",
        crate::common::edio_binary().to_str().unwrap()
    );
    let ran = repo.on_a_terminal(["forget", "-f", "d/env"], &other);
    assert_eq!(ran.code, Some(0), "{ran}");
    assert_eq!(repo.turns(), 6);
    assert!(!held(&repo).contains("d/env"));
}

// --- beside the turns ---

#[test]
fn p3_bytes_behind_conversions_go_and_those_of_others_stay() {
    let repo = Repo::with(&[
        (".gitattributes", "*.t text\n*.x filter=x\n"),
        ("a.t", "base\n"),
    ]);
    repo.git(["config", "filter.x.clean", "sed s/hush/clean/"]);
    repo.write("a.t", "1\r\n");
    repo.write("env.t", "TOKEN=hush\r\n");
    repo.write("env.x", SECRET);
    repo.write("b.x", "hush b\n");
    repo.edio(["snapshot"]).ok();
    repo.write("a.t", "2\n");
    repo.remove("env.t");
    repo.remove("env.x");
    repo.edio(["snapshot"]).ok();
    let secrets = ["TOKEN=hush\r\n", SECRET, "TOKEN=clean\n"].map(|text| id_of(&repo, text));
    repo.edio(["forget", "-f", "env.t", "-f", "env.x", "--yes"])
        .ok();
    let held = held(&repo);
    assert!(
        !held.contains("env.t") && !held.contains("env.x"),
        "{held:?}"
    );
    collect(&repo);
    for secret in &secrets {
        assert!(is_gone(&repo, secret));
    }
    let side = format!("refs/edio/active/{}/side", repo.sessions("active")[0]);
    for commit in repo.git(["rev-list", &side]).lines() {
        let ids = repo.git(["show", &format!("{commit}:raw-ids")]);
        assert!(!ids.contains("env"), "{ids}");
    }
    repo.edio(["restore", "1"]).ok();
    assert_eq!(
        (repo.read("a.t"), repo.read("b.x")),
        ("1\r\n".to_owned(), "hush b\n".to_owned())
    );
    // What was noted goes along, and is whole.
    repo.write("a.t", "3\r\n");
    repo.edio(["snapshot"]).ok();
    repo.edio(["restore", "2"]).ok();
    repo.edio(["restore", "3"]).ok();
    assert_eq!(repo.read("a.t"), "3\r\n");
    repo.fsck();
}

#[test]
fn changes_that_a_conversion_hides_are_counted_without_it() {
    let repo = Repo::with(&[(".gitattributes", "*.t text\n"), ("a.t", "base\n")]);
    for (end, work) in [("\n", "1\n"), ("\r\n", "2\n"), ("\n", "2\n")] {
        repo.write("env.t", format!("TOKEN=hush{end}"));
        repo.write("a.t", format!("base{end}"));
        repo.write("b", work);
        repo.edio(["snapshot"]).ok();
    }
    let files = || {
        stats(&repo)
            .iter()
            .map(|stat| [stat[0], stat[1]])
            .collect::<Vec<_>>()
    };
    assert_eq!(files(), [[3, 2], [2, 3], [1, 2]]);
    repo.remove("env.t");
    repo.edio(["forget", "-f", "env.t", "--yes"]).ok();
    assert_eq!(files(), [[3, 1], [2, 2], [1, 1]]);
}

#[test]
fn an_ignored_file_that_was_saved_goes_too() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.write("env", "in a turn\n");
    repo.write("l", "in a turn\n");
    repo.edio(["snapshot"]).ok();
    repo.remove("env");
    repo.remove("l");
    repo.edio(["snapshot"]).ok();
    repo.write(".git/info/exclude", "env\nl\n");
    repo.write("env", SECRET);
    repo.write("l", "also ignored\n");
    repo.edio(["restore", "1"]).ok();
    let secret = id_of(&repo, SECRET);
    repo.edio(["forget", "-f", "env", "--yes"]).ok();
    assert_eq!(repo.git(["config", "--local", "edio.exclude"]), "/env");
    assert!(!held(&repo).contains("env"));
    assert_eq!(repo.read("env"), "in a turn\n");
    collect(&repo);
    assert!(is_gone(&repo, &secret));
    // The undo of that restore does without it.
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("l"), "also ignored\n");
    repo.fsck();
}

#[test]
fn only_what_is_beside_the_turns() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.write("env", "in a turn\n");
    repo.edio(["snapshot"]).ok();
    repo.remove("env");
    repo.edio(["snapshot"]).ok();
    repo.write(".git/info/exclude", "env\n");
    repo.write("env/deep", SECRET);
    repo.edio(["restore", "1"]).fails(3);
    repo.remove("env");
    repo.write("env", SECRET);
    repo.edio(["restore", "1"]).ok();
    // Twice: the turn's own, then nothing.
    repo.edio(["forget", "-f", "env", "--yes"]).ok();
    repo.edio(["forget", "-f", "env", "--yes"]).fails(1);
    assert!(!repo.is_kept(SECRET));
}

#[test]
fn in_the_middle_of_an_open_step() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.write("a", "1\n");
    repo.edio(["snapshot", "-m", "one"]).ok();
    repo.write("env", SECRET);
    repo.step("2.1");
    repo.write("a", "2\n");
    repo.step("2.2");
    repo.remove("env");
    repo.edio(["forget", "-f", "env", "--yes"]).ok();
    assert!(!held(&repo).contains("env"));
    let steps = repo.edio(["log", "--steps", "--json"]).json();
    let written: Vec<_> = steps
        .iter()
        .map(|turn| (turn["turn"].clone(), turn["step"].clone()))
        .collect();
    assert_eq!(
        written,
        [
            (json!(2), json!(2)),
            (json!(2), json!(1)),
            (json!(1), json!(null))
        ]
    );
    repo.write("a", "3\n");
    repo.edio(["snapshot", "-m", "two"]).ok();
    assert_eq!(stats(&repo)[0], [2, 1, 1, 1]);
    collect(&repo);
    repo.edio(["restore", "2.1"]).ok();
    assert_eq!((repo.read("a").as_str(), repo.has("env")), ("1\n", false));
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("a"), "3\n");
}

#[test]
fn what_was_staged_before_an_accept_goes_and_its_undo_does_without() {
    let repo = Repo::with(&[("a", "base\n"), ("env", "in HEAD\n")]);
    repo.write("a", "1\n");
    repo.write("env", "in the turn\n");
    repo.write("new", "in the turn\n");
    repo.edio(["snapshot"]).ok();
    let id = repo.sessions("active").remove(0);
    for path in ["env", "new", "a"] {
        repo.write(path, format!("{SECRET}{path}\n"));
        repo.git(["add", path]);
    }
    repo.write("a", "1\n");
    repo.write("env", "in the turn\n");
    repo.write("new", "in the turn\n");
    repo.edio(["accept", "feat"]).ok();
    let staged = id_of(&repo, &format!("{SECRET}a\n"));
    let secrets = ["env", "new"].map(|path| id_of(&repo, &format!("{SECRET}{path}\n")));
    let words = [
        "forget",
        "-f",
        "env",
        "-f",
        "new",
        "--session",
        &id,
        "--yes",
    ];
    let ran = repo.edio(words);
    // The commit that accept made has it, and is the user's.
    assert!(ran.ok().stderr.contains("your own history"), "{ran}");
    collect(&repo);
    for secret in &secrets {
        assert!(is_gone(&repo, secret));
    }
    repo.edio(["undo"]).ok();
    let base = repo.git(["rev-parse", "HEAD:env"]);
    assert_eq!(
        repo.git(["ls-files", "-s"]),
        format!("100644 {staged} 0\ta\n100644 {base} 0\tenv")
    );
    assert_eq!(repo.git(["log", "--format=%s"]), "base");
    repo.fsck();
}

// --- what is the user's ---

#[test]
fn p1_what_is_in_the_users_own_history_stays_and_is_named() {
    let repo = Repo::with(&[("a", "base\n"), ("env", SECRET)]);
    repo.write("a", "1\n");
    repo.edio(["snapshot"]).ok();
    let before = users(&repo);
    let head = repo.git(["rev-parse", "HEAD"]);
    let ran = repo.edio(["forget", "-f", "env", "--yes", "--json"]);
    let record = &ran.ok().json()[0];
    assert_eq!(
        (&record["own_commit"], &record["own_index"]),
        (&json!(head), &json!(true))
    );
    assert_eq!(record["sessions"][0]["turns"], json!([0, 1]));
    // It is tracked, so it is on disk.
    assert_eq!(record["excluded"], json!(["/env"]));
    assert_eq!(users(&repo), before);
    assert_eq!(
        repo.git(["rev-parse", &format!("{}~2", repo.turn_ref(1))]),
        head
    );
    assert_eq!(repo.git(["ls-tree", "--name-only", &repo.turn_ref(1)]), "a");
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(repo.git_raw(["show", "HEAD:env"]), SECRET);
    assert_eq!(repo.git(["status", "--porcelain"]), "");
}

#[test]
fn what_stays_on_disk_is_in_no_later_turn_and_touched_by_no_restore() {
    let repo = Repo::with(&[("a", "base\n"), ("tracked/x", SECRET)]);
    for content in ["1\n", "2\n"] {
        repo.write("a", content);
        repo.write("odd [n]*", format!("{SECRET}{content}"));
        repo.edio(["snapshot"]).ok();
    }
    let words = ["forget", "-f", "odd [n]*", "-f", "tracked", "--yes"];
    repo.edio(words).ok();
    let on_disk = || (repo.read("odd [n]*"), repo.read("tracked/x"));
    let stays = on_disk();
    repo.edio(["snapshot", "--if-changed"]).ok();
    assert_eq!(repo.turns(), 2, "nothing has changed");
    repo.write("a", "3\n");
    repo.edio(["snapshot"]).ok();
    for turn in ["1", "0", "3", "2"] {
        repo.edio(["restore", turn]).ok();
        assert_eq!(on_disk(), stays, "{turn}");
    }
    repo.write("odd [n]*", "changed\n");
    repo.edio(["undo"]).ok();
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(repo.read("odd [n]*"), "changed\n");
    assert_eq!(repo.git_raw(["show", "HEAD:tracked/x"]), SECRET);
    assert_eq!(held(&repo), BTreeSet::from(["a".to_owned()]));
    repo.edio(words).fails(1);
}

/// A place, how it gets there, and whether that is in the history and in the index.
type Case<'a> = (&'a str, &'a dyn Fn(&Repo), bool, bool);

#[test]
fn where_else_the_user_may_have_it() {
    let stash = |repo: &Repo| {
        repo.write("env", SECRET);
        repo.git(["stash", "-q", "-u"]);
    };
    let reset = |repo: &Repo| {
        repo.write("env", SECRET);
        repo.commit("slipped in");
        repo.git(["reset", "-q", "--hard", "HEAD~1"]);
    };
    let tag = |repo: &Repo| {
        reset(repo);
        repo.git(["tag", "v1", "HEAD@{1}"]);
        repo.git(["reflog", "expire", "--expire=now", "--all"]);
    };
    let custom = |repo: &Repo| {
        reset(repo);
        repo.git(["update-ref", "refs/custom/x", "HEAD@{1}"]);
        repo.git(["reflog", "expire", "--expire=now", "--all"]);
    };
    let staged = |repo: &Repo| {
        repo.write("env", SECRET);
        repo.git(["add", "env"]);
        repo.remove("env");
    };
    let nowhere = |_: &Repo| {};
    let cases: [Case; 6] = [
        ("stash", &stash, true, false),
        ("reflog", &reset, true, false),
        ("tag", &tag, true, false),
        ("another ref", &custom, true, false),
        ("index", &staged, false, true),
        ("nowhere", &nowhere, false, false),
    ];
    for (what, make, in_history, in_index) in cases {
        let repo = Repo::with(&[("a", "base\n")]);
        repo.write("env", SECRET);
        repo.edio(["snapshot"]).ok();
        repo.remove("env");
        make(&repo);
        let state = users(&repo);
        let ran = repo.edio(["forget", "-f", "env", "--yes", "--json"]);
        let record = &ran.ok().json()[0];
        assert_eq!(
            record["own_commit"].is_string(),
            in_history,
            "{what}: {ran}"
        );
        assert_eq!(record["own_index"], in_index, "{what}: {ran}");
        assert_eq!(users(&repo), state, "{what}");
    }
}

#[test]
fn a_commit_that_only_a_session_still_holds_is_written_anew() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.write("env", SECRET);
    repo.commit("slipped in");
    repo.write("a", "1\n");
    repo.edio(["snapshot"]).ok();
    repo.git(["rm", "-q", "env"]);
    let amend = [
        "commit",
        "-q",
        "--amend",
        "-m",
        "taken out",
        "--allow-empty",
    ];
    repo.git(amend);
    let state = users(&repo);
    let ran = repo.edio(["forget", "-f", "env", "--yes"]);
    assert!(
        ran.ok().stderr.contains("it is also in your reflog"),
        "{ran}"
    );
    assert_eq!(users(&repo), state);
    let secret = id_of(&repo, SECRET);
    collect(&repo);
    assert!(is_gone(&repo, &secret));
    let base = format!("{}~2", repo.turn_ref(1));
    assert_eq!(
        repo.git(["show", "-s", "--format=%s %an", &base]),
        "slipped in A Person"
    );
    assert_eq!(
        repo.git(["rev-parse", &format!("{base}^")]),
        repo.git(["rev-parse", "main~1"])
    );
    repo.edio(["restore", "1"]).ok();
    repo.edio(["accept", "feat"]).ok();
    repo.fsck();
}

#[test]
fn at_the_end_of_a_shallow_history_it_is_written_anew_without_parents() {
    let source = Repo::with(&[("a", "base\n")]);
    source.write("env", SECRET);
    source.commit("slipped in");
    let repo = Repo::unborn();
    let url = format!("file://{}", source.top.display());
    repo.git(["fetch", "-q", "--depth", "1", &url, "main"]);
    repo.git(["reset", "-q", "--hard", "FETCH_HEAD"]);
    repo.remove(".git/FETCH_HEAD");
    repo.write("a", "1\n");
    repo.edio(["snapshot"]).ok();
    repo.git(["rm", "-q", "env"]);
    repo.git(["commit", "-q", "--amend", "-m", "taken out"]);
    repo.edio(["forget", "-f", "env", "--yes"]).ok();
    let secret = id_of(&repo, SECRET);
    collect(&repo);
    assert!(is_gone(&repo, &secret));
    assert_eq!(repo.in_turn(1, "env"), None);
    repo.edio(["restore", "1"]).ok();
    repo.edio(["accept", "feat"]).ok();
    repo.fsck();
}

#[test]
fn an_accept_that_was_undone_comes_back_without_it() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.write("a", "1\n");
    repo.write("env", SECRET);
    repo.edio(["snapshot"]).ok();
    repo.edio(["accept", "feat"]).ok();
    repo.edio(["undo"]).ok();
    let secret = id_of(&repo, SECRET);
    let state = users(&repo);
    repo.edio(["forget", "-f", "env", "--yes"]).ok();
    assert_eq!(users(&repo), state);
    collect(&repo);
    assert!(is_gone(&repo, &secret));
    repo.edio(["redo"]).ok();
    assert_eq!(
        repo.git(["show", "--format=%s", "--name-only"]),
        "feat\n\na"
    );
    assert_eq!(repo.git(["status", "--porcelain"]), "?? env");
    assert_eq!(repo.read("env"), SECRET);
    repo.edio(["undo"]).ok();
    assert_eq!(repo.git(["rev-list", "--count", "HEAD"]), "1");
    repo.fsck();
}

#[test]
fn an_accept_that_was_amended_is_archived_without_it() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.write("a", "1\n");
    repo.write("env", SECRET);
    repo.edio(["snapshot"]).ok();
    repo.edio(["accept", "feat"]).ok();
    repo.git(["rm", "-q", "env"]);
    repo.git(["commit", "-q", "--amend", "-m", "taken out"]);
    let secret = id_of(&repo, SECRET);
    let state = users(&repo);
    let words = ["forget", "-f", "env", "--all-sessions", "--yes"];
    let ran = repo.edio(words);
    assert!(ran.ok().stderr.contains("your reflog"), "{ran}");
    assert_eq!(users(&repo), state);
    collect(&repo);
    assert!(is_gone(&repo, &secret));
    let state = users(&repo);
    // The branch is not where accept left it.
    repo.edio(["undo"]).fails(3);
    assert_eq!(users(&repo), state);
    repo.fsck();
}

#[test]
fn a_branch_at_a_turn_is_the_users() {
    let repo = two_arms();
    let turn = repo.git(["rev-parse", &repo.turn_ref(2)]);
    repo.git(["branch", "rescue", &turn]);
    let ran = repo.edio(["forget", "-f", "d/env", "--yes"]);
    assert!(ran.ok().stderr.contains("your own history"), "{ran}");
    assert_eq!(repo.git(["rev-parse", "rescue"]), turn);
    for number in 1..=5 {
        assert_eq!(repo.in_turn(number, "d/env"), None, "{number}");
    }
    // Where HEAD is a turn, a new session grows from it as it is.
    repo.edio(["sessions", "--close"]).ok();
    repo.git(["switch", "-q", "--discard-changes", "rescue"]);
    repo.write("a", "on rescue\n");
    repo.edio(["snapshot"]).ok();
    repo.edio(["forget", "-f", "d/env", "--yes"]).ok();
    assert_eq!(repo.in_turn(1, "d/env"), None);
    let baseline = format!("{}^", repo.turn_ref(1));
    assert_eq!(repo.git(["rev-parse", &format!("{baseline}^")]), turn);
    assert!(
        repo.git(["show", "-s", "--format=%B", &baseline])
            .contains(&format!("Edio-Head: {turn}"))
    );
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(repo.git(["log", "-1", "--format=%P"]), turn);
}

#[test]
fn the_same_content_under_another_name_is_named() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.write("env", SECRET);
    repo.write("copy/of\tit", SECRET);
    repo.edio(["snapshot"]).ok();
    let record = repo.edio(["forget", "-f", "env", "--yes", "--json"]).json();
    assert_eq!(record[0]["other_paths"], json!(["copy/of\tit"]));
    let ran = repo.edio(["forget", "-f", "copy", "--yes"]);
    assert!(!ran.ok().stderr.contains("another name"), "{ran}");
    assert!(!repo.is_kept(SECRET));
}

// --- sessions ---

/// A session that is archived, and one under way: both hold it.
fn two_sessions() -> Repo {
    let repo = two_arms();
    repo.edio(["sessions", "--close"]).ok();
    repo.write("d/env", SECRET);
    repo.edio_later(10, ["snapshot"]).ok();
    repo.remove("d/env");
    repo
}

#[test]
fn other_sessions_are_named_and_with_all_sessions_written_anew() {
    let repo = two_sessions();
    let archived = repo.sessions("archive").remove(0);
    repo.git(["update-ref", "refs/edio/other/x/1", &repo.turn_ref(1)]);
    let secret = id_of(&repo, SECRET);
    let ran = repo.edio(["forget", "-f", "d/env", "--yes"]);
    for said in [&archived, "--all-sessions", "refs/edio/other/x/1"] {
        assert!(ran.ok().stderr.contains(said), "{ran}");
    }
    let ran = repo.edio(["forget", "-f", "d/env", "--yes"]);
    assert!(ran.fails(1).stderr.contains("--all-sessions"), "{ran}");
    repo.edio([
        "forget",
        "-f",
        "d/env",
        "--all-sessions",
        "--session",
        &archived,
        "--yes",
    ])
    .fails(2);
    let ran = repo.edio(["forget", "-f", "d/env", "--all-sessions", "--yes", "--json"]);
    let record = &ran.ok().json()[0];
    assert_eq!(
        record["sessions"],
        json!([{"session": archived, "turns": [1, 2, 4]}])
    );
    assert_eq!(record["other_refs"], json!(["refs/edio/other/x/1"]));
    repo.git(["update-ref", "-d", "refs/edio/other/x/1"]);
    collect(&repo);
    assert!(is_gone(&repo, &secret));
    for (number, a) in [(1, "1\n"), (3, "3\n"), (4, "4\n"), (0, "base\n")] {
        repo.edio(["restore", &number.to_string(), "--session", &archived])
            .ok();
        assert_eq!((repo.read("a").as_str(), repo.has("d/env")), (a, false));
    }
    repo.edio(["undo"]).ok();
    repo.fsck();
}

#[test]
fn an_archived_session_by_its_id() {
    let repo = two_sessions();
    let archived = repo.sessions("archive").remove(0);
    let active = repo.git(["for-each-ref", "refs/edio/active"]);
    repo.edio(["forget", "-f", "d/env", "--session", &archived, "--yes"])
        .ok();
    assert_eq!(repo.git(["for-each-ref", "refs/edio/active"]), active);
    repo.edio(["log", "--session", &archived]).ok();
    assert_eq!(repo.in_turn(1, "d/env").as_deref(), Some(SECRET));
    // The close is undone from what is left of it.
    repo.edio(["sessions", "--close"]).ok();
    repo.edio(["undo"]).ok();
}

#[test]
fn a_session_whose_turns_this_one_grew_from_goes_along() {
    let repo = Repo::with(&[(".gitattributes", "*.t text\n"), ("a.t", "base\n")]);
    repo.write("a.t", "1\r\n");
    repo.write("env.t", "hush\r\n");
    repo.edio(["snapshot"]).ok();
    let id = repo.sessions("active").remove(0);
    repo.edio(["sessions", "--close"]).ok();
    repo.write("a.t", "other\n");
    repo.remove("env.t");
    repo.edio_later(5, ["restore", "1", "--session", &id]).ok();
    repo.write("a.t", "2\r\n");
    repo.remove("env.t");
    repo.edio_later(6, ["snapshot"]).ok();
    let ran = repo.edio(["forget", "-f", "env.t", "--yes", "--json"]);
    let sessions = ran.ok().json()[0]["sessions"].as_array().unwrap().len();
    assert_eq!(sessions, 2, "{ran}");
    assert!(!held(&repo).contains("env.t"));
    collect(&repo);
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("a.t"), "1\r\n");
    repo.edio(["restore", "1", "--session", &id]).ok();
    assert_eq!(repo.read("a.t"), "1\r\n");
    repo.fsck();
}

#[test]
fn p6_the_session_of_another_work_tree_is_its_own() {
    let repo = two_arms();
    repo.git(["worktree", "add", "-q", "-b", "side", "../linked"]);
    let linked = repo.outside().join("linked");
    fs::write(linked.join("env"), SECRET).unwrap();
    repo.edio_in(&linked, ["snapshot"]).ok();
    let refs = repo.edio_refs();
    let config = repo.read(".git/config");
    repo.edio(["forget", "-f", "env", "--all-sessions", "--yes"])
        .fails(3);
    let other = repo.edio_in(&linked, ["status", "--json"]).json().remove(0);
    let other = other["session"].as_str().unwrap();
    repo.edio(["forget", "-f", "env", "--session", other, "--yes"])
        .fails(3);
    repo.edio(["forget", "-f", "env", "--yes"]).fails(1);
    assert_eq!((repo.edio_refs(), repo.read(".git/config")), (refs, config));
    // What it doesn't hold is no hindrance.
    repo.edio(["forget", "-f", "d/env", "--all-sessions", "--yes"])
        .ok();
    repo.edio_in(&linked, ["forget", "-f", "env", "--yes"]).ok();
    assert!(!repo.is_kept(SECRET));
    // Of one that is gone it may be forgotten from here.
    repo.git(["config", "--unset-all", "edio.exclude"]);
    fs::write(linked.join("more"), "MORE=hush\n").unwrap();
    repo.edio_in(&linked, ["snapshot"]).ok();
    repo.git(["worktree", "remove", "--force", "../linked"]);
    repo.edio(["forget", "-f", "more", "--all-sessions", "--yes"])
        .ok();
    assert!(!repo.is_kept("MORE=hush\n"));
}

#[test]
fn where_there_are_other_work_trees_it_is_in_no_later_turn_there() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.git(["worktree", "add", "-q", "-b", "side", "../linked"]);
    let linked = repo.outside().join("linked");
    let trees = [
        (repo.top.clone(), linked.clone()),
        (linked, repo.top.clone()),
    ];
    for (name, (here, there)) in ["one", "two"].into_iter().zip(trees) {
        fs::write(there.join(name), SECRET).unwrap();
        repo.edio_in(&there, ["snapshot"]).ok();
        repo.edio_in(&there, ["sessions", "--close"]).ok();
        let words = ["forget", "-f", name, "--all-sessions", "--yes"];
        repo.edio_in(&here, words).ok();
        repo.edio_in(&there, ["snapshot"]).ok();
        assert!(!repo.is_kept(SECRET), "{name}");
        assert_eq!(fs::read_to_string(there.join(name)).unwrap(), SECRET);
    }
}

#[test]
fn where_another_work_tree_is_held_the_same_command_does_the_rest() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.git(["worktree", "add", "-q", "-b", "side", "../linked"]);
    let linked = repo.outside().join("linked");
    fs::write(linked.join("env"), SECRET).unwrap();
    repo.edio_in(&linked, ["snapshot"]).ok();
    repo.edio_in(&linked, ["sessions", "--close"]).ok();
    let scratch = repo.path(".git/worktrees/linked/edio");
    // As its last command left it where a gc was under way.
    let kept = scratch.join("objects/aa");
    repo.write(&kept, "an object\n");
    let mut git = repo.holder("git", &scratch);
    let words = ["forget", "-f", "env", "--all-sessions", "--yes"];
    let ran = repo.edio(words);
    assert!(ran.fails(1).stderr.contains("still at work"), "{ran}");
    assert!(ran.stderr.contains("forgot env"), "{ran}");
    assert!(kept.exists());
    drop(git.stdin.take());
    git.wait().unwrap();
    repo.edio(words).fails(1);
    assert!(!kept.exists());
}

#[test]
fn what_a_work_tree_keeps_for_a_gc_does_not_come_back() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.git(["worktree", "add", "-q", "-b", "side", "../linked"]);
    let linked = repo.outside().join("linked");
    fs::write(linked.join("env"), SECRET).unwrap();
    repo.edio_in(&linked, ["snapshot"]).ok();
    let id = repo.sessions("active").remove(0);
    // Put away by hand, so that the last command there is the one that wrote the secret.
    let current = format!("refs/edio/active/{id}/current");
    let archived = format!("refs/edio/archive/{id}/current");
    repo.git(["update-ref", &archived, &current]);
    for name in [current, format!("refs/edio/active/{id}/1")] {
        repo.git(["update-ref", "-d", &name]);
    }
    fs::remove_file(linked.join("env")).unwrap();
    // A gc that is under way, by its own note.
    let note = format!("{} here", std::process::id());
    repo.write(".git/gc.pid", note);
    let ran = repo.edio(["forget", "-f", "env", "--all-sessions", "--yes"]);
    assert!(ran.fails(1).stderr.contains("git gc is under way"), "{ran}");
    repo.remove(".git/gc.pid");
    repo.edio(["forget", "-f", "env", "--all-sessions", "--yes"])
        .ok();
    let secret = repo.outside().join("content");
    fs::write(&secret, SECRET).unwrap();
    let secret = repo.git(["hash-object", secret.to_str().unwrap()]);
    collect(&repo);
    repo.edio_in(&linked, ["snapshot"]).ok();
    repo.edio(["snapshot"]).ok();
    assert!(is_gone(&repo, &secret));
}

#[test]
fn where_other_work_trees_cannot_be_listed_it_is_not_done() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.git(["worktree", "add", "-q", "-b", "side", "../linked"]);
    repo.write("env", SECRET);
    repo.edio(["snapshot"]).ok();
    // As the last command there left it where a gc was under way.
    let kept = ".git/worktrees/linked/edio/objects/aa";
    repo.write(kept, "an object\n");
    repo.give_away();
    let refs = repo.edio_refs();
    let words = ["forget", "-f", "env", "--yes"];
    // What is in it is found by its name, but no names are told.
    repo.chmod(".git/worktrees", 0o311);
    let ran = repo.edio_without_rights(words);
    repo.chmod(".git/worktrees", 0o755);
    let is_said = ran.fails(1).stderr.contains("can't list the work trees");
    assert!(is_said, "{ran}");
    assert_eq!(repo.edio_refs(), refs);
    repo.chmod(".git/worktrees/linked/edio", 0o000);
    let ran = repo.edio_without_rights(words);
    repo.chmod(".git/worktrees/linked/edio", 0o755);
    assert!(ran.fails(1).stderr.contains("can't look into"), "{ran}");
    assert!(ran.stderr.contains("forgot env"), "{ran}");
    repo.edio_without_rights(words).fails(1);
    assert!(!repo.has(kept));
}

// --- kills ---

/// A git that counts how often it is called, and at the N-th call kills who called it. Where that one moves refs, it
/// moves only the first few of them before. Returns the `PATH` that finds it.
fn killer(repo: &Repo) -> String {
    repo.git_instead(
        "calls=0\n\
         set -C\n\
         until { true > \"$COUNT.$calls\"; } 2>/dev/null; do calls=$((calls + 1)); done\n\
         case \"$*\" in *update-ref*) moves=yes ;; *) moves=no ;; esac\n\
         case $ONLY_MOVES.$moves.$calls in\n\
         yes.yes.*|no.*.$KILL_AT) ;;\n\
         *) exec \"$GIT\" \"$@\" ;;\n\
         esac\n\
         case $moves in\n\
         yes) tr '\\0' '\\n' | head -n $((3 * MOVED)) | tr '\\n' '\\0' | \"$GIT\" \"$@\" ;;\n\
         esac\n\
         kill -9 $PPID\n",
    )
}

/// Forgets in a repository, killed at the N-th git, or (`None`) where the refs move, with so many moved. Was it killed?
fn killed(repo: &Repo, path: &str, at: Option<usize>, moved: usize) -> bool {
    let counts = repo.outside().join("counts");
    let _ = fs::remove_dir_all(&counts);
    fs::create_dir(&counts).unwrap();
    let mut command = repo.command(["forget", "-f", "env.t", "--yes"]);
    command
        .env("PATH", path)
        .env("COUNT", counts.join("call"))
        .env("ONLY_MOVES", if at.is_none() { "yes" } else { "no" })
        .env("KILL_AT", at.unwrap_or_default().to_string())
        .env("MOVED", moved.to_string());
    let ran = repo.ran(&mut command);
    assert!(matches!(ran.code, None | Some(0)), "{ran}");
    ran.code.is_none()
}

/// Turns with a secret in them, behind a conversion, and the `PATH` with which a `forget` is killed there.
fn to_be_killed() -> (Repo, String) {
    let repo = Repo::with(&[(".gitattributes", "*.t text\n"), ("a.t", "base\n")]);
    for number in 1..=3 {
        repo.write("a.t", format!("{number}\r\n"));
        repo.write("env.t", format!("TOKEN={number}\r\n"));
        repo.edio(["snapshot"]).ok();
    }
    repo.edio(["restore", "1"]).ok();
    repo.remove("env.t");
    repo.edio(["snapshot"]).ok();
    let path = killer(&repo);
    (repo, path)
}

/// After a kill the next commands work, and a second `forget` finishes.
fn goes_on(repo: &Repo, what: &str) {
    for words in [&["log", "--graph"][..], &["status"], &["show", "2"]] {
        let ran = repo.edio(words);
        assert_eq!(ran.code, Some(0), "{what}: {ran}");
    }
    repo.edio(["snapshot", "--if-changed"]).ok();
    assert_eq!(repo.turns(), 4, "{what}");
    let again = repo.edio(["forget", "-f", "env.t", "--yes"]);
    assert!(matches!(again.code, Some(0 | 1)), "{what}: {again}");
    assert!(!held(repo).contains("env.t"), "{what}");
    repo.fsck();
    repo.git(["gc", "-q", "--prune=now"]);
    for number in [2, 0, 3] {
        repo.edio(["restore", &number.to_string()]).ok();
        let expected = if number == 0 {
            "base\n".to_owned()
        } else {
            format!("{number}\r\n")
        };
        assert_eq!(repo.read("a.t"), expected, "{what}");
    }
    for _ in 0..4 {
        let ran = repo.edio(["undo"]);
        assert_eq!(ran.code, Some(0), "{what}: {ran}");
    }
}

#[test]
fn p5_killed_at_any_git_it_is_before_or_after() {
    let (repo, path) = to_be_killed();
    let ready = repo.outside().join("ready");
    copy(&repo.top, &ready);
    let before = repo.edio_refs();
    repo.edio(["forget", "-f", "env.t", "--yes"]).ok();
    let after = repo.edio_refs();
    let mut kills = 0;
    loop {
        if !is_tried(kills) {
            kills += 1;
            continue;
        }
        copy(&ready, &repo.top);
        if !killed(&repo, &path, Some(kills), usize::MAX / 8) {
            break;
        }
        let what = format!("killed at call {kills}");
        repo.edio(["snapshot", "--if-changed"]).ok();
        let refs = repo.edio_refs();
        assert!(refs == before || refs == after, "{what}: {refs}");
        if kills.is_multiple_of(4) {
            goes_on(&repo, &what);
        }
        kills += 1;
    }
    assert!(kills > 15, "{kills}");
}

#[test]
fn p5_killed_with_some_refs_moved_the_next_command_moves_the_others() {
    let (repo, path) = to_be_killed();
    let ready = repo.outside().join("ready");
    copy(&repo.top, &ready);
    repo.edio(["forget", "-f", "env.t", "--yes"]).ok();
    let after = repo.edio_refs();
    let refs = after.lines().count();
    for moved in (0..=refs).filter(|moved| is_tried(*moved)) {
        for remembered in [true, false] {
            copy(&ready, &repo.top);
            assert!(killed(&repo, &path, None, moved));
            let what = format!("killed with {moved} refs moved, remembered {remembered}");
            match remembered {
                true => {
                    repo.edio(["log"]).ok();
                    let ran = repo.edio(["snapshot", "--if-changed"]);
                    assert!(
                        ran.ok().stderr.contains("forget is finished"),
                        "{what}: {ran}"
                    );
                    assert_eq!(repo.edio_refs(), after, "{what}");
                    let ran = repo.edio(["snapshot", "--if-changed"]);
                    assert!(!ran.ok().stderr.contains("forget"), "{what}: {ran}");
                }
                false => repo.remove(".git/edio"),
            }
            goes_on(&repo, &what);
        }
    }
}

#[test]
fn p6_a_ref_that_moves_meanwhile_stops_it_and_nothing_changes() {
    let repo = two_arms();
    let ops = format!("refs/edio/active/{}/ops", repo.sessions("active")[0]);
    let path = repo.git_instead(&format!(
        "case \"$*\" in *update-ref*) \"$GIT\" -c core.hooksPath=/dev/null update-ref {ops} HEAD ;; esac\n\
         exec \"$GIT\" \"$@\"\n"
    ));
    let before = repo.edio_refs();
    let mut command = repo.command(["forget", "-f", "d/env", "--yes"]);
    let ran = repo.ran(command.env("PATH", path));
    ran.fails(1);
    let others = |refs: &str| -> Vec<String> {
        refs.lines()
            .filter(|line| !line.contains("/ops "))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(others(&repo.edio_refs()), others(&before));
    let ran = repo.edio(["snapshot", "--if-changed"]);
    assert!(!ran.ok().stderr.contains("forget"), "{ran}");
    assert_eq!(others(&repo.edio_refs()), others(&before));
}

// --- any history ---

#[derive(Clone, Debug)]
enum Deed {
    Put(&'static str, u8),
    Delete(&'static str),
    Snapshot,
    Step,
    Restore(u8),
    RestorePath(u8, &'static str),
    Undo,
    Redo,
    Close,
}

const PATHS: [&str; 5] = ["a", "s", "s/x", "s/y.t", "b.t"];

fn deed() -> impl Strategy<Value = Deed> {
    let path = || prop::sample::select(PATHS.to_vec());
    prop_oneof![
        8 => (path(), 0..4_u8).prop_map(|(path, byte)| Deed::Put(path, byte)),
        2 => path().prop_map(Deed::Delete),
        6 => Just(Deed::Snapshot),
        2 => Just(Deed::Step),
        2 => (0..9_u8).prop_map(Deed::Restore),
        1 => (0..9_u8, path()).prop_map(|(turn, path)| Deed::RestorePath(turn, path)),
        2 => Just(Deed::Undo),
        1 => Just(Deed::Redo),
        1 => Just(Deed::Close),
    ]
}

fn perform(repo: &Repo, deed: &Deed, steps: &mut u32) {
    let is_step = matches!(deed, Deed::Step | Deed::Put(..) | Deed::Delete(_));
    if !is_step {
        *steps = 0;
    }
    match deed {
        Deed::Put(path, byte) => {
            let folder = path.split('/').next().unwrap();
            let in_the_way = match path.contains('/') {
                true => repo.has(folder) && !repo.path(folder).is_dir(),
                false => repo.path(path).is_dir(),
            };
            if in_the_way {
                repo.remove(folder);
            }
            let end = if byte % 2 == 0 { "\r\n" } else { "\n" };
            repo.write(path, format!("{path} {byte}{end}"));
        }
        Deed::Delete(path) if repo.has(path) => repo.remove(path),
        Deed::Delete(_) => {}
        Deed::Snapshot => drop(repo.edio(["snapshot"]).ok()),
        // Only where a session is under way can one be taken.
        Deed::Step if repo.sessions("active").is_empty() => {}
        Deed::Step => {
            let log = repo.edio(["log", "--json"]).json();
            let last = log.iter().filter(|turn| turn["step"].is_null());
            let last = last
                .map(|turn| turn["turn"].as_u64().unwrap())
                .max()
                .unwrap_or(0);
            *steps += 1;
            repo.step(&format!("{}.{steps}", last + 1));
        }
        // These may find nothing to do.
        Deed::Restore(turn) => drop(repo.edio(["restore", &turn.to_string()])),
        Deed::RestorePath(turn, path) => {
            drop(repo.edio(["restore", &turn.to_string(), "-f", path]))
        }
        Deed::Undo => drop(repo.edio(["undo"])),
        Deed::Redo => drop(repo.edio(["redo"])),
        Deed::Close => drop(repo.edio(["sessions", "--close"])),
    }
}

/// What is on disk after each turn of each session is restored. What a turn changed is counted.
fn restored(repo: &Repo, ids: &[String]) -> Vec<(String, u64, Vec<String>)> {
    let mut found = Vec::new();
    for id in ids {
        for turn in repo.edio(["log", "--json", "--session", id]).json() {
            let number = turn["turn"].to_string();
            let differences = repo.edio(["diff", &number, "--json", "--session", id]);
            let count = differences.ok().stdout.lines().count();
            // A turn counts what git's conversions hide, too, and a diff does not.
            let files = turn["files"].as_u64().unwrap();
            assert!(files >= count as u64, "{id} {number}: {files}, {count}");
        }
        let log = repo.edio(["log", "--json", "--session", id]).json();
        for turn in log.iter().map(|turn| turn["turn"].as_u64().unwrap()) {
            repo.edio(["restore", &turn.to_string(), "--session", id])
                .ok();
            found.push((id.clone(), turn, repo.manifest()));
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn p3_of_any_history_the_path_goes_and_the_rest_is_as_it_was(
        deeds in prop::collection::vec(deed(), 4..18),
        forgotten in prop::sample::select(vec!["s", "s/x", "s/y.t", "a"]),
    ) {
        let repo = Repo::with(&[(".gitattributes", "*.t text\n"), ("base", "base\n")]);
        let mut steps = 0;
        for deed in &deeds {
            perform(&repo, deed, &mut steps);
        }
        repo.edio(["snapshot"]).ok();
        let mut ids = repo.sessions("active");
        ids.extend(repo.sessions("archive"));
        // So that nothing is left to exclude, or to be saved.
        for path in ["s", "a"] {
            if repo.has(path) {
                repo.remove(path);
            }
        }
        repo.edio(["snapshot"]).ok();
        let untouched = repo.outside().join("untouched");
        copy(&repo.top, &untouched);
        let before = restored(&repo, &ids);
        copy(&untouched, &repo.top);
        let (shape, refs) = (shape(&repo), repo.edio_refs());
        let had = held(&repo);
        let has = |path: &String| path == forgotten || path.starts_with(&format!("{forgotten}/"));
        let ran = repo.edio(["forget", "-f", forgotten, "--all-sessions", "--yes"]);
        prop_assert_eq!(ran.code, Some(i32::from(!had.iter().any(has))), "{}", ran);
        if ran.code == Some(1) {
            prop_assert_eq!(repo.edio_refs(), refs);
        }
        prop_assert_eq!(self::shape(&repo), shape);
        let left: BTreeSet<String> = had.into_iter().filter(|path| !has(path)).collect();
        prop_assert_eq!(held(&repo), left);
        collect(&repo);
        let without = |(id, turn, files): (String, u64, Vec<String>)| {
            let is_it = |line: &String| has(&line.split('"').nth(1).unwrap().to_owned());
            (id, turn, files.into_iter().filter(|line| !is_it(line)).collect::<Vec<_>>())
        };
        let before: Vec<_> = before.into_iter().map(without).collect();
        prop_assert_eq!(restored(&repo, &ids), before);
        while repo.edio(["undo"]).code == Some(0) {}
        repo.fsck();
    }
}

#[test]
fn every_count_is_that_of_a_diff() {
    let repo = two_arms();
    repo.edio(["forget", "-f", "d/env", "--yes"]).ok();
    for turn in repo.edio(["log", "--json"]).json() {
        let commit = turn["commit"].as_str().unwrap();
        let stat = repo.git([
            "diff-tree",
            "-r",
            "--numstat",
            &format!("{commit}^"),
            commit,
        ]);
        let files = stat.lines().count() as u64;
        assert_eq!(turn["files"].as_u64().unwrap(), files);
        assert_eq!(turn["time"], json!("2027-01-15T08:00:00Z"), "{NOW}");
    }
}

#[test]
fn what_is_forgotten_does_not_come_back_with_the_time_before_it_was_ignored() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.write("env", SECRET);
    repo.edio(["snapshot"]).ok();
    repo.write(".gitignore", "env\n");
    repo.edio(["snapshot"]).ok();
    let secret = id_of(&repo, SECRET);
    repo.edio(["forget", "-f", "env", "--yes"]).ok();
    for words in [
        &["restore", "1"][..],
        &["snapshot"],
        &["restore", "2"],
        &["undo"],
    ] {
        repo.edio(words).ok();
        assert_eq!(repo.read("env"), SECRET);
        assert!(!held(&repo).contains("env"), "{words:?}");
    }
    collect(&repo);
    assert!(is_gone(&repo, &secret));
}
