//! `edio gc`: what is old goes, and nothing of the user's.

use std::fs;
use std::time::{Duration, Instant, SystemTime};

use serde_json::json;

use crate::common::Repo;

const DAY: i64 = 24 * 60 * 60;

/// A repository with an archived session, last used at the start.
fn with_an_archived() -> Repo {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.write("a", "archived\n");
    repo.edio(["snapshot", "-m", "archived"]).ok();
    repo.edio(["sessions", "--close"]).ok();
    repo
}

/// Everything of the user's.
fn users(repo: &Repo) -> (Vec<String>, Vec<String>) {
    (repo.git_files(), repo.manifest())
}

#[test]
fn archived_sessions_go_when_they_are_old() {
    let repo = with_an_archived();
    repo.write("a", "later\n");
    repo.edio_later(5 * DAY, ["snapshot", "-m", "later"]).ok();
    repo.edio_later(5 * DAY, ["sessions", "--close"]).ok();
    let ids = repo.sessions("archive");
    let state = users(&repo);

    let ran = repo.edio_later(10 * DAY, ["gc"]);
    assert!(ran.ok().stderr.contains("nothing to prune"), "{ran}");
    assert_eq!(repo.sessions("archive"), ids);
    let ran = repo.edio_later(10 * DAY + 1, ["gc"]);
    assert!(
        ran.ok()
            .stdout
            .contains(&format!("{} (archived, 1 turn", ids[0])),
        "{ran}"
    );
    assert!(ran.stderr.contains("git gc"), "{ran}");
    assert_eq!(repo.sessions("archive"), ids[1..]);
    repo.edio_later(10 * DAY + 1, ["gc", "-d", "6"]).ok();
    assert_eq!(repo.sessions("archive"), ids[1..]);
    assert_eq!(users(&repo), state);
    repo.git(["config", "edio.retentionDays", "4"]);
    let record = &repo.edio_later(10 * DAY, ["gc", "--json"]).json()[0];
    assert_eq!(
        record,
        &json!({
            "v": 1, "session": ids[1], "pruned": true, "turns": 1, "dry_run": false,
            "last_used": "2027-01-20T08:00:00Z",
        })
    );
    assert_eq!(repo.edio_refs(), "");
    repo.fsck();
}

#[test]
fn a_dry_run_says_what_would_go() {
    let repo = with_an_archived();
    let refs = repo.edio_refs();
    let state = users(&repo);
    let ran = repo.edio_later(11 * DAY, ["gc", "--dry-run"]);
    assert!(ran.ok().stdout.contains("archived"), "{ran}");
    assert!(ran.stderr.contains("nothing was pruned"), "{ran}");
    assert_eq!(
        repo.edio_later(11 * DAY, ["gc", "--dry-run", "--json"])
            .json()[0]["dry_run"],
        true
    );
    assert_eq!((repo.edio_refs(), users(&repo)), (refs, state));
    assert!(!repo.has(".git/packed-refs"));
}

#[test]
fn a_session_in_a_living_work_tree_stays_however_old() {
    let repo = Repo::with(&[("a", "base\n")]);
    for (name, number) in [
        ("removed", "1"),
        ("deleted", "2"),
        ("locked", "3"),
        ("living", "4"),
    ] {
        repo.git(["worktree", "add", "-q", "-b", name, &format!("../{name}")]);
        let linked = repo.outside().join(name);
        fs::write(linked.join("a"), number).unwrap();
        repo.edio_in(&linked, ["snapshot", "-m", name]).ok();
    }
    repo.write("a", "main\n");
    repo.edio(["snapshot", "-m", "main"]).ok();
    repo.git(["worktree", "remove", "--force", "../removed"]);
    fs::remove_dir_all(repo.outside().join("deleted")).unwrap();
    // One on a disk that is not there just now.
    repo.git(["worktree", "lock", "../locked"]);
    fs::remove_dir_all(repo.outside().join("locked")).unwrap();

    let ran = repo.edio_later(1000 * DAY, ["gc", "-d", "0"]);

    ran.ok();
    assert_eq!(
        ran.stdout.matches("a work tree that is gone").count(),
        2,
        "{ran}"
    );
    let list = repo.edio(["sessions", "--json"]).json();
    let mut left: Vec<&str> = list
        .iter()
        .map(|record| record["worktree"].as_str().unwrap())
        .collect();
    left.sort_unstable();
    assert_eq!(left, [".", "living", "locked"]);
    repo.edio(["restore", "0"]).ok();
    assert_eq!(repo.read("a"), "base\n");
    repo.edio_in(repo.outside().join("living"), ["restore", "1"])
        .ok();
}

#[test]
fn where_the_work_trees_cannot_be_listed_no_session_goes() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.git(["worktree", "add", "-q", "-b", "side", "../linked"]);
    let linked = repo.outside().join("linked");
    fs::write(linked.join("a"), "1\n").unwrap();
    repo.edio_in(&linked, ["snapshot"]).ok();
    let refs = repo.edio_refs();
    repo.give_away();
    repo.chmod(".git/worktrees", 0o311);
    let ran = repo.edio_without_rights(["gc", "-d", "0"]);
    repo.chmod(".git/worktrees", 0o755);
    let is_said = ran.fails(1).stderr.contains("can't list the work trees");
    assert!(is_said, "{ran}");
    assert_eq!(repo.edio_refs(), refs);
}

#[test]
fn p4_a_session_without_turns_of_its_own_stays_with_what_it_saved() {
    let repo = with_an_archived();
    let id = repo.sessions("archive").remove(0);
    repo.write("a", "unsaved\n");
    repo.edio(["restore", "0", "--session", &id]).ok();
    repo.edio_later(11 * DAY, ["gc"]).ok();
    assert_eq!(repo.sessions("archive"), [""; 0]);
    assert_eq!(repo.sessions("active").len(), 1);
    assert!(repo.is_kept("unsaved\n"));
    repo.edio_later(11 * DAY, ["undo"]).ok();
    assert_eq!(repo.read("a"), "unsaved\n");
}

#[test]
fn what_is_not_edios_stays() {
    let repo = with_an_archived();
    repo.git(["branch", "keep"]);
    repo.git(["tag", "v1"]);
    repo.write("a", "stashed\n");
    repo.git(["stash", "-q"]);
    repo.write("a", "dropped\n");
    repo.git(["stash", "-q"]);
    let dropped = repo.git(["rev-parse", "stash@{0}"]);
    repo.git(["stash", "drop", "-q"]);
    repo.write("a", "reset\n");
    repo.commit("will be reset");
    let reset = repo.git(["rev-parse", "HEAD"]);
    repo.git(["reset", "-q", "--hard", "HEAD~1"]);
    repo.git(["reflog", "expire", "--expire=now", "--all"]);
    let foreign = [
        "refs/edio/active/0000-old/1",
        "refs/edio/active/0000-old/current",
        "refs/edio/archive/x/current",
        "refs/edio/shared/x/1",
        "refs/edio/other",
        "refs/ediology/1",
    ];
    for name in foreign {
        repo.git(["update-ref", name, "HEAD"]);
    }
    let state = users(&repo);

    repo.edio_later(1000 * DAY, ["gc", "-d", "0"]).ok();

    let mut names: Vec<String> = repo
        .git([
            "for-each-ref",
            "--format=%(refname)",
            "refs/edio",
            "refs/ediology",
        ])
        .lines()
        .map(str::to_owned)
        .collect();
    names.sort();
    let mut expected = foreign.map(str::to_owned);
    expected.sort();
    assert_eq!(names, expected);
    assert_eq!(users(&repo), state);
    for lost in [&dropped, &reset] {
        repo.git(["cat-file", "-e", lost]);
    }
    // Its own objects, too, are for git to collect.
    assert!(!repo.is_kept("archived\n"));
}

#[test]
fn p1_only_edios_refs_are_packed() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.git(["branch", "topic"]);
    repo.git(["tag", "v1"]);
    repo.git(["update-ref", "refs/edio/active/foreign/1", "HEAD"]);
    for content in ["1\n", "2\n"] {
        repo.write("a", content);
        repo.edio(["snapshot"]).ok();
    }
    let version = repo.git(["version"]);
    let (refs, state) = (repo.git(["for-each-ref"]), users(&repo));
    repo.edio(["gc"]).ok();
    assert_eq!((repo.git(["for-each-ref"]), users(&repo)), (refs, state));
    assert!(repo.has(".git/refs/heads/topic") && repo.has(".git/refs/tags/v1"));
    // Before git 2.42 the user's would be packed along, so none are.
    let minor = version.split('.').nth(1).unwrap().parse::<u32>().unwrap();
    if version.starts_with("git version 2.") && minor < 42 {
        assert!(!repo.has(".git/packed-refs"));
        return;
    }
    let packed = repo.read(".git/packed-refs");
    let names = packed
        .lines()
        .filter_map(|line| line.split_once(" refs/"))
        .map(|(_, name)| name);
    let names: Vec<&str> = names.collect();
    assert!(
        names.len() >= 3 && names.iter().all(|name| name.starts_with("edio/")),
        "{packed}"
    );
    repo.edio(["undo"]).ok();
    repo.write("a", "3\n");
    repo.edio(["snapshot"]).ok();
    assert_eq!(repo.in_turn(3, "a").unwrap(), "3\n");
}

#[test]
fn bad_days_are_refused_and_nothing_goes() {
    let repo = with_an_archived();
    let refs = repo.edio_refs();
    for days in ["abc", "-5", "", "1.5x", "1.5", "4294967296", " 1"] {
        for words in [&["gc", "-d", days][..], &["gc", "--days", days]] {
            let ran = repo.ran(repo.command(words).env("EDIO_NOW", "9000000000"));
            ran.fails(2);
        }
    }
    repo.edio(["gc", "3"]).fails(2);
    for (key, value) in [
        ("edio.retentionDays", "soon"),
        ("edio.retentionDays", "-1"),
        ("edio.keepTurns", "few"),
    ] {
        repo.git(["config", key, value]);
        let ran = repo.edio_later(100 * DAY, ["gc"]);
        ran.fails(2);
        assert!(
            ran.stderr.to_lowercase().contains(&key.to_lowercase()),
            "{ran}"
        );
        repo.git(["config", "--unset", key]);
    }
    assert_eq!(repo.edio_refs(), refs);
    repo.edio_later(100 * DAY, ["gc", "-d", "4294967295"]).ok();
    assert_eq!(repo.edio_refs(), refs);
    repo.edio_in(repo.outside().join("home"), ["gc"]).fails(4);
}

#[test]
fn where_there_is_no_session_there_is_nothing_to_do() {
    let repo = Repo::with(&[("a", "base\n")]);
    let state = users(&repo);
    let ran = repo.edio(["gc"]);
    assert!(ran.ok().stderr.contains("nothing to prune"), "{ran}");
    assert_eq!(users(&repo), state);
}

#[test]
fn what_killed_processes_left_is_swept_and_only_edios() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.write("a", "1\n");
    repo.edio(["snapshot"]).ok();
    let folder = format!(".git/refs/edio/active/{}", repo.sessions("active")[0]);
    let half_written = ["state-abcdef", "guard/state-abcdef"];
    let begun = ["state-begun", "guard/state-begun"];
    for name in ["index.restore", "index.12345.lock", "stage/x"] {
        repo.write(format!(".git/edio/{name}"), "left\n");
    }
    for name in half_written.iter().chain(&begun) {
        repo.write(format!(".git/edio/{name}"), "left\n");
    }
    let old = [
        format!("{folder}/1.lock"),
        ".git/refs/heads/main.lock".to_owned(),
        ".git/index.lock".to_owned(),
    ];
    let young = format!("{folder}/9.lock");
    for name in old.iter().chain([&young]) {
        repo.write(name, "");
    }
    for name in &old {
        let file = fs::File::options()
            .write(true)
            .open(repo.path(name))
            .unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(60))
            .unwrap();
    }
    let [open, dead] = ["stage-accept-open", "stage-accept-dead"].map(|name| {
        repo.write(format!(".git/edio/{name}/MESSAGE"), "typed\n");
        repo.path(format!(".git/edio/{name}"))
    });
    let long_ago = SystemTime::now() - Duration::from_secs(11 * 24 * 60 * 60);
    let folder = fs::File::open(&dead).unwrap();
    folder.set_modified(long_ago).unwrap();
    for name in half_written {
        let file = repo.path(format!(".git/edio/{name}"));
        let file = fs::File::options().write(true).open(file).unwrap();
        file.set_modified(long_ago).unwrap();
    }
    let state = repo.read(".git/edio/state.json");
    repo.edio(["gc"]).ok();
    assert!(
        open.exists() && !dead.exists(),
        "an accept may be at its hooks"
    );
    for name in ["index.restore", "index.12345.lock", "stage"] {
        assert!(!repo.has(format!(".git/edio/{name}")), "{name}");
    }
    for name in half_written {
        assert!(!repo.has(format!(".git/edio/{name}")), "{name}");
    }
    for name in begun {
        assert!(
            repo.has(format!(".git/edio/{name}")),
            "{name}: a hook may be writing it"
        );
    }
    assert!(!repo.has(&old[0]) && repo.has(&young));
    assert!(
        repo.has(&old[1]) && repo.has(&old[2]),
        "these are the user's"
    );
    assert!(repo.has(".git/edio/index") && repo.has(".git/edio/lock"));
    assert_eq!(repo.read(".git/edio/state.json"), state);
    repo.remove(&young);
    repo.remove(&old[2]);
    repo.write("a", "2\n");
    repo.edio(["snapshot"]).ok();
}

// --- long sessions ---

/// A session of so many turns, each with a content of its own.
fn long(turns: u32) -> Repo {
    let repo = Repo::with(&[("a", "turn 0\n")]);
    for number in 1..=turns {
        repo.write("a", format!("turn {number}\n"));
        repo.edio(["snapshot", "-m", &format!("turn {number}")])
            .ok();
    }
    repo
}

/// The turns that `log` claims there are, the newest first.
fn claimed(repo: &Repo) -> Vec<u64> {
    let log = repo.edio(["log", "--json"]).json();
    log.iter()
        .map(|turn| turn["turn"].as_u64().unwrap())
        .collect()
}

#[test]
fn of_a_long_session_the_middle_loses_its_names_and_what_is_claimed_is_there() {
    let repo = long(8);
    repo.git(["config", "edio.keepTurns", "3"]);
    let state = users(&repo);
    let ran = repo.edio(["gc", "--dry-run"]);
    assert!(ran.ok().stdout.contains("5 turns in the middle"), "{ran}");
    assert_eq!(repo.turns(), 8);
    let ran = repo.edio(["gc"]);
    assert!(
        ran.ok()
            .stdout
            .contains("their objects go with the session"),
        "{ran}"
    );
    assert_eq!(users(&repo), state);
    repo.git(["config", "--unset", "edio.keepTurns"]);
    assert_eq!(claimed(&repo), [8, 7, 1]);
    repo.git(["reflog", "expire", "--expire=now", "--all"]);
    repo.git(["gc", "-q", "--prune=now"]);
    for number in claimed(&repo).into_iter().chain([0]) {
        repo.edio(["restore", &number.to_string()]).ok();
        assert_eq!(repo.read("a"), format!("turn {number}\n"));
    }
    repo.edio(["restore", "4"]).fails(1);
    for number in 1..=8 {
        assert!(repo.is_kept(&format!("turn {number}\n")), "{number}");
    }
    // Numbers are not used again, and an archived session knows all its turns.
    repo.edio(["restore", "8"]).ok();
    repo.write("a", "turn 9\n");
    repo.edio(["snapshot", "-m", "turn 9"]).ok();
    assert_eq!(claimed(&repo), [9, 8, 7, 1]);
    let id = repo.sessions("active").remove(0);
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(
        repo.edio(["log", "--json", "--session", &id]).json().len(),
        9
    );
    repo.edio_later(1, ["restore", "4", "--session", &id]).ok();
    assert_eq!(repo.read("a"), "turn 4\n");
    repo.fsck();
}

#[test]
fn of_turns_without_names_nothing_wrong_is_said() {
    let repo = long(4);
    repo.git(["config", "edio.keepTurns", "2"]);
    let ran = repo.edio(["gc"]);
    // No object is free for git: they go with the session.
    assert!(!ran.ok().stderr.contains("git gc"), "{ran}");
    let ran = repo.edio(["restore", "2"]);
    ran.fails(1);
    assert!(!ran.stderr.contains("turns 1 to 4"), "{ran}");
}

#[test]
fn undo_goes_back_through_turns_without_names() {
    let repo = long(6);
    repo.git(["config", "edio.keepTurns", "2"]);
    repo.edio(["gc"]).ok();
    assert_eq!(claimed(&repo), [6, 1]);
    for number in [5, 4, 3] {
        let ran = repo.edio(["undo"]);
        // It may say that it can't. It may not skip turns.
        if ran.code == Some(0) {
            assert_eq!(repo.read("a"), format!("turn {number}\n"), "{ran}");
        }
    }
    for _ in 0..3 {
        let _ = repo.edio(["redo"]).code;
    }
    assert_eq!(repo.read("a"), "turn 6\n");
}

#[test]
fn arms_and_the_current_turn_keep_their_names() {
    let repo = long(3);
    repo.edio(["restore", "1"]).ok();
    for number in 4..=7 {
        repo.write("a", format!("turn {number}\n"));
        repo.edio(["snapshot", "-m", &format!("turn {number}")])
            .ok();
    }
    repo.edio(["restore", "5"]).ok();
    repo.git(["config", "edio.keepTurns", "0"]);
    repo.edio(["gc"]).ok();
    let claimed = claimed(&repo);
    assert!(
        claimed.contains(&7) && claimed.contains(&5) && !claimed.contains(&4),
        "{claimed:?}"
    );
    repo.git(["gc", "-q", "--prune=now"]);
    for number in 1..=7 {
        assert!(
            repo.is_kept(&format!("turn {number}\n")),
            "{number}: {claimed:?}"
        );
    }
    for number in claimed {
        repo.edio(["restore", &number.to_string()]).ok();
        assert_eq!(repo.read("a"), format!("turn {number}\n"));
    }
    // It changes nothing more.
    repo.edio(["restore", "5"]).ok();
    let refs = repo.edio_refs();
    repo.edio(["gc"]).ok();
    assert_eq!(repo.edio_refs(), refs);
}

#[test]
fn after_a_gc_turns_are_whole_also_where_objects_are_gone() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.write("u", "untracked\n");
    repo.edio(["snapshot"]).ok();
    let id = repo.sessions("active").remove(0);
    repo.edio(["sessions", "--close", &id]).ok();
    repo.edio_later(11 * DAY, ["gc"]).ok();
    repo.git(["gc", "-q", "--prune=now"]);
    // The index that edio kept knew of a blob that is gone now.
    repo.edio_later(11 * DAY, ["snapshot"]).ok();
    assert_eq!(repo.in_turn(1, "u").unwrap(), "untracked\n");
    repo.fsck();
}

// --- behind an accept ---

#[test]
fn accept_starts_one_behind_it_where_something_is_old() {
    let repo = with_an_archived();
    let old = repo.sessions("archive").remove(0);
    // A git that tells how its parent was started, where that leads a process group of its own.
    let paths = crate::common::path();
    let mut folders = paths.split(':').map(|folder| format!("{folder}/git"));
    let real = folders.find(|git| fs::metadata(git).is_ok()).unwrap();
    let bin = repo.outside().join("bin");
    let told = repo.outside().join("told");
    repo.write(
        bin.join("git"),
        format!(
            "#!/bin/sh\ngroup=$(cut -d' ' -f5 /proc/$PPID/stat)\ncase \"$group $*\" in \"$PPID \"*update-ref*)\n\
             {{ echo $PPID; cut -d' ' -f5 /proc/$PPID/stat; for n in 0 1 2; do readlink /proc/$PPID/fd/$n; done; }} > {told}.part\n\
             {real} \"$@\" || exit; mv {told}.part {told}; exit 0 ;;\nesac\nexec {real} \"$@\"\n",
            told = told.display()
        ),
    );
    repo.chmod(bin.join("git"), 0o755);
    repo.write("a", "young\n");
    let mut command = repo.command(["accept", "feat"]);
    repo.edio_later(20 * DAY, ["snapshot"]).ok();
    let now = (crate::common::NOW + 20 * DAY).to_string();
    let ran = repo.ran(
        command
            .env("EDIO_NOW", now)
            .env("PATH", format!("{}:{paths}", bin.display())),
    );
    ran.ok();
    assert!(!ran.stderr.contains(&old), "{ran}");
    let begun = Instant::now();
    while !told.exists() && begun.elapsed() < Duration::from_secs(10) {
        std::thread::yield_now();
    }
    let told = fs::read_to_string(told).unwrap();
    let told: Vec<&str> = told.lines().collect();
    assert_eq!(told[0], told[1], "it leads a process group of its own");
    assert_eq!(told[2..], ["/dev/null"; 3]);
    assert_eq!(repo.sessions("archive").len(), 1);
    assert_ne!(repo.sessions("archive"), [old]);
}

#[test]
fn p4_a_turn_that_was_left_keeps_its_ref_where_another_sessions_turn_has_its_number() {
    let repo = Repo::with(&[("a", "base\n")]);
    let snapshot = |content: &str| {
        repo.write("a", content);
        repo.edio(["snapshot"]).ok();
    };
    for content in ["other 1\n", "other 2\n", "other 3\n"] {
        snapshot(content);
    }
    let other = repo.sessions("active").remove(0);
    repo.edio(["sessions", "--close"]).ok();
    repo.edio(["restore", "3", "--session", &other]).ok();
    snapshot("1\n");
    snapshot("2\n");
    repo.edio(["restore", "1"]).ok();
    snapshot("3\n");
    snapshot("4\n");
    let left = repo.turn_ref(2);
    repo.git(["config", "edio.keepTurns", "2"]);
    repo.edio(["gc"]).ok();
    let refs = repo.edio_refs();
    assert!(refs.contains(&left), "{refs}");
    assert!(!refs.contains(&left.replace("/2", "/3 ")), "{refs}");
    assert_eq!(repo.in_turn(2, "a").unwrap(), "2\n");
}
