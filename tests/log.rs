//! `edio log`: the turns with what is known of them, and how they grew from one another.

use serde_json::json;

use crate::common::Repo;

/// A turn that adds a line of its own to `a`.
fn turn(repo: &Repo, message: &str) {
    let content = repo.read("a") + message + "\n";
    repo.write("a", content);
    repo.edio(["snapshot", "-m", message]).ok();
}

/// Turns 1 to 3, back to 1, turn 4, back to 2, turn 5: two arms that were left.
fn with_arms() -> Repo {
    let repo = Repo::with(&[("a", "base\n")]);
    for message in ["one", "two", "three"] {
        turn(&repo, message);
    }
    repo.edio(["restore", "1"]).ok();
    turn(&repo, "four");
    repo.edio(["restore", "2"]).ok();
    turn(&repo, "five");
    repo
}

/// The subjects of the lines that are dim as a whole: turns that the work tree went back from.
fn dimmed(repo: &Repo) -> Vec<String> {
    let shown = repo.edio(["log", "--color", "always"]).ok().stdout.clone();
    let dim = shown.lines().filter(|line| line.starts_with("\u{1b}[2m"));
    let subject = |line: &str| {
        line.trim_end_matches("\u{1b}[0m")
            .rsplit(' ')
            .next()
            .unwrap()
            .to_owned()
    };
    dim.map(subject).collect()
}

/// The drawing beside the list: what stands before the mark, with the turn's number behind it.
fn drawing(repo: &Repo) -> Vec<String> {
    let shown = repo.edio(["log", "--graph"]).ok().stdout.clone();
    let line = |line: &str| {
        let drawn: String = line.chars().take_while(|c| "o|/ ".contains(*c)).collect();
        let number = line[drawn.len()..].trim_start_matches('*').trim_start();
        let number = number.split(' ').next().unwrap_or_default();
        format!("{} {number}", drawn.trim_end())
            .trim_end()
            .to_owned()
    };
    shown.lines().map(line).collect()
}

#[test]
fn the_newest_is_first_and_the_current_one_has_a_star() {
    let repo = with_arms();
    let log = repo.edio(["log"]);
    let lines: Vec<&str> = log.ok().stdout.lines().collect();
    let subjects: Vec<&str> = lines
        .iter()
        .map(|line| line.rsplit(' ').next().unwrap())
        .collect();
    assert_eq!(subjects, ["five", "four", "three", "two", "one"]);
    let stars: Vec<bool> = lines.iter().map(|line| line.starts_with('*')).collect();
    assert_eq!(stars, [true, false, false, false, false]);
    assert!(!log.stdout.contains('\u{1b}'), "{log}");
    assert_eq!(log.stderr, "");
    repo.edio(["restore", "3"]).ok();
    let log = repo.edio(["log", "--json"]).json();
    let current: Vec<&serde_json::Value> = log.iter().map(|turn| &turn["current"]).collect();
    assert_eq!(
        current,
        [
            &json!(false),
            &json!(false),
            &json!(true),
            &json!(false),
            &json!(false)
        ]
    );
}

#[test]
fn safety_turns_are_told_from_others() {
    let repo = Repo::with(&[("a", "base\n")]);
    turn(&repo, "one");
    repo.write("a", "unsaved\n");
    repo.edio(["restore", "0"]).ok();
    let log = repo.edio(["log"]);
    let first = log.ok().stdout.lines().next().unwrap();
    assert!(
        first.contains("edio") && first.ends_with("Before restore 0"),
        "{log}"
    );
    assert_eq!(repo.edio(["log", "--json"]).json()[0]["kind"], "safety");
}

#[test]
fn arms_that_were_left_are_dim() {
    let repo = with_arms();
    assert_eq!(dimmed(&repo), ["four", "three"]);
    repo.edio(["restore", "4"]).ok();
    assert_eq!(dimmed(&repo), ["five", "three", "two"]);
    repo.edio(["undo"]).ok();
    assert_eq!(dimmed(&repo), ["four", "three"]);
}

#[test]
fn the_graph_shows_which_turn_grew_from_which() {
    let repo = Repo::with(&[("a", "base\n")]);
    turn(&repo, "one");
    assert_eq!(drawing(&repo), ["o 1"]);
    turn(&repo, "two");
    repo.edio(["restore", "1"]).ok();
    turn(&repo, "three");
    assert_eq!(drawing(&repo), ["o 3", "| o 2", "|/", "o 1"]);
    repo.edio(["restore", "0"]).ok();
    turn(&repo, "four");
    assert_eq!(drawing(&repo), ["o 4", "o 3", "| o 2", "|/", "o 1"]);
}

#[test]
fn arms_that_cross_join_the_turn_that_they_grew_from() {
    // As git draws it: 3 grew from 2, and 4 from 1.
    let expected = [
        "o 5", "| o 4", "| | o 3", "| |/", "|/|", "o | 2", "|/", "o 1",
    ];
    assert_eq!(drawing(&with_arms()), expected);
}

#[test]
fn steps_are_on_the_way_and_do_not_break_the_line() {
    let repo = Repo::with(&[("a", "base\n")]);
    turn(&repo, "one");
    repo.write("a", "a step\n");
    repo.step("2.1");
    repo.write("a", "another step\n");
    repo.step("2.2");
    let open = repo.edio(["log", "--steps"]);
    let numbers = |shown: &str| -> Vec<String> {
        let number = |line: &str| {
            line.trim_start_matches('*')
                .trim()
                .split(' ')
                .next()
                .unwrap()
                .to_owned()
        };
        shown.lines().map(number).collect()
    };
    assert_eq!(numbers(&open.ok().stdout), ["2.2", "2.1", "1"]);
    assert!(open.stdout.starts_with('*'), "{open}");
    assert_eq!(dimmed(&repo), [""; 0], "while the steps are open");
    turn(&repo, "two");
    turn(&repo, "three");
    assert_eq!(
        numbers(&repo.edio(["log", "--steps"]).stdout),
        ["3", "2", "2.2", "2.1", "1"]
    );
    assert_eq!(numbers(&repo.edio(["log"]).stdout), ["3", "2", "1"]);
    assert_eq!(dimmed(&repo), [""; 0], "when they are closed");
    let log = repo.edio(["log", "--steps", "--json"]).json();
    let steps: Vec<&serde_json::Value> = log.iter().map(|turn| &turn["step"]).collect();
    assert_eq!(
        steps,
        [
            &json!(null),
            &json!(null),
            &json!(2),
            &json!(1),
            &json!(null)
        ]
    );
    // And an arm joins the turn that it grew from, steps or not.
    repo.edio(["restore", "1"]).ok();
    turn(&repo, "four");
    assert_eq!(dimmed(&repo), ["three", "two"]);
    assert_eq!(drawing(&repo), ["o 4", "| o 3", "| o 2", "|/", "o 1"]);
}

#[test]
fn distance_counts_the_paths_that_differ_from_now() {
    let repo = Repo::with(&[("a", "base\n"), ("b", "base\n")]);
    repo.write("a", "1\n");
    repo.edio(["snapshot", "-m", "one"]).ok();
    repo.write("b", "2\n");
    repo.write("new", "2\n");
    repo.edio(["snapshot", "-m", "two"]).ok();
    repo.write("unsaved", "3\n");
    repo.git(["add", "b"]);
    let (state, refs) = (repo.git_files(), repo.edio_refs());
    let far = |words: &[&str]| -> Vec<serde_json::Value> {
        let log = repo
            .edio([&["log", "--distance", "--json"], words].concat())
            .json();
        log.iter().map(|turn| turn["distance"].clone()).collect()
    };
    assert_eq!(far(&[]), [json!(1), json!(3)]);
    let shown = repo.edio(["log", "--distance"]);
    assert!(
        shown.ok().stdout.contains("1 path from now  two\n"),
        "{shown}"
    );
    assert!(shown.stdout.contains("3 paths from now  one\n"), "{shown}");
    assert_eq!((repo.git_files(), repo.edio_refs()), (state, refs));
    assert!(
        repo.edio(["log", "--json"]).json()[0]
            .get("distance")
            .is_none()
    );
    repo.edio(["restore", "1"]).ok();
    assert_eq!(far(&[]), [json!(3), json!(2), json!(0)]);
}

#[test]
fn all_shows_every_session_and_the_archived_ones_too() {
    let repo = Repo::with(&[("a", "base\n")]);
    turn(&repo, "one");
    let first = repo.sessions("active").remove(0);
    repo.edio(["accept", "feat"]).ok();
    repo.write("a", "next\n");
    repo.edio_later(60, ["snapshot", "-m", "next"]).ok();
    let second = repo.sessions("active").remove(0);
    let shown = repo.edio(["log", "--all"]);
    let lines: Vec<&str> = shown.ok().stdout.lines().collect();
    assert_eq!(lines.len(), 4, "{shown}");
    assert_eq!(lines[0], format!("{second} (active)"));
    assert!(lines[1].ends_with("next"), "{shown}");
    assert_eq!(lines[2], format!("{first} (archived)"));
    assert!(lines[3].ends_with("one"), "{shown}");
    let log = repo.edio(["log", "--all", "--json"]).json();
    let sessions: Vec<&str> = log
        .iter()
        .map(|turn| turn["session"].as_str().unwrap())
        .collect();
    assert_eq!(sessions, [second.as_str(), &first]);
    let log = repo.edio(["log", "--session", &first, "--json"]).json();
    assert_eq!((log.len(), &log[0]["message"]), (1, &json!("one")));
    // An archived session was left as a whole: none of it is dim.
    let shown = repo.edio(["log", "--session", &first, "--color", "always"]);
    assert!(!shown.ok().stdout.starts_with("\u{1b}[2m"), "{shown}");
}

#[test]
fn only_the_turns_that_changed_these_paths() {
    let repo = Repo::with(&[
        ("a", "base\n"),
        ("d/x", "base\n"),
        ("d/y", "base\n"),
        ("*", "base\n"),
    ]);
    for (path, message) in [
        ("a", "one"),
        ("d/x", "two"),
        ("d/y", "three"),
        ("*", "four"),
        ("d/new", "five"),
    ] {
        repo.write(path, message);
        repo.edio(["snapshot", "-m", message]).ok();
    }
    repo.remove("d/new");
    repo.edio(["snapshot", "-m", "six"]).ok();
    let of = |folder: &str, words: &[&str]| -> Vec<String> {
        let log = repo.edio_in(folder, [&["log", "--json"], words].concat());
        let log = log.ok().json();
        log.iter()
            .map(|turn| turn["message"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(of(".", &["a"]), ["one"]);
    assert_eq!(of(".", &["d"]), ["six", "five", "three", "two"]);
    assert_eq!(of(".", &["*"]), ["four"]);
    assert_eq!(of(".", &["d/new"]), ["six", "five"]);
    assert_eq!(of("d", &["x", "../a"]), ["two", "one"]);
    assert_eq!(of("d", &["."]), ["six", "five", "three", "two"]);
    assert_eq!(of("d", &[]).len(), 6);
    assert_eq!(of(".", &["no-such-path"]), [""; 0]);
    repo.edio(["log", "../outside"]).fails(2);
    repo.edio(["log", "--graph", "a"]).fails(2);
    repo.plain_patches();
    let patch = repo.edio(["log", "-p", "d/x"]);
    assert!(
        patch.ok().stdout.contains("+++ b/d/x") && !patch.stdout.contains("b/a"),
        "{patch}"
    );
}

#[test]
fn where_there_is_no_session_it_says_how_to_begin() {
    let repo = Repo::with(&[("a", "base\n")]);
    let ran = repo.edio(["log"]);
    ran.fails(1);
    assert!(ran.stderr.contains("edio snapshot"), "{ran}");
    repo.edio(["log", "--all"]).ok();
    repo.edio_in(repo.outside().join("home"), ["log"]).fails(4);
    repo.edio(["run", "--", "true"]).ok();
    let ran = repo.edio(["log"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran}");
}
