//! `edio bisect`: which turn was the first on which a command fails.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::{Ran, Repo};

/// A repository whose turns have their number in the file `n`.
fn with_turns(count: usize) -> Repo {
    let repo = Repo::with(&[("n", "0\n"), (".gitignore", "ignored\n")]);
    for number in 1..=count {
        repo.write("n", format!("{number}\n"));
        repo.edio(["snapshot", "-m", &format!("turn {number}")])
            .ok();
    }
    repo
}

/// A script that ends as this pattern says of the turn's number: `.` succeeds, `x` fails, `s` skips.
fn pattern(pattern: &str) -> String {
    let arm = |(at, c): (usize, char)| {
        let code = match c {
            '.' => 0,
            'x' => 1,
            's' => 125,
            _ => 130,
        };
        format!("{at}) exit {code};; ")
    };
    let arms: String = pattern.chars().enumerate().map(arm).collect();
    format!("case $(cat n) in {arms}esac")
}

fn bisect(repo: &Repo, flags: &[&str], script: &str) -> Ran {
    repo.edio([&["bisect"], flags, &["--", "sh", "-c", script]].concat())
}

/// The record of a search, and its exit code.
fn record(repo: &Repo, flags: &[&str], script: &str) -> (Value, Option<i32>) {
    let ran = bisect(repo, &[flags, &["--json"]].concat(), script);
    (ran.json().pop().unwrap_or_default(), ran.code)
}

fn beside(repo: &Repo) -> Vec<String> {
    let entries = fs::read_dir(repo.outside()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| name != "hostile");
    names.sort();
    names
}

#[test]
fn the_text_of_a_search() {
    let repo = with_turns(6);
    repo.plain_patches();
    let script = "echo at $EDIO_TURN; test $(cat n) -lt 4";
    let mut command = repo.command(["bisect", "--", "sh", "-c", script]);
    let ran = repo.ran(command.env("TZ", "UTC"));
    assert_snapshot!(ran.to_string(), @"
    turn 4 ([SESSION])
    commit  [ID]
    date    2027-01-15 08:00:00 +0000 (just now)
    branch  main
    changed 1 file +1 -1

        turn 4

     M n

    diff --git a/n b/n
    index [ID]..[ID] 100644
    --- a/n
    +++ b/n
    @@ -1 +1 @@
    -3
    +4
    [stdout ends]
    at 6
    turn 6: failed (exit 1)
    at 0
    turn 0: ok
    at 3
    turn 3: ok
    at 4
    turn 4: failed (exit 1)
    turn 4 is the first on which it fails
    hint: go back to before it: edio restore 3; take back only it: edio revert 4
    [stderr ends]
    exit code 0
    ");
}

#[test]
fn the_record_of_a_search() {
    let repo = with_turns(6);
    let (found, code) = record(&repo, &[], &pattern("..sxxxx"));
    assert_eq!(code, Some(1));
    assert_eq!(found["turn"], Value::Null);
    assert_eq!(found["remaining"], json!([{ "turn": 2 }, { "turn": 3 }]));
    assert_eq!(found["skipped"], json!([{ "turn": 2 }]));
    let (found, code) = record(&repo, &[], &pattern("...xxsx"));
    assert_eq!(code, Some(0));
    let probe = |turn: u32, exit: u32, result: &str| json!({ "turn": turn, "exit": exit, "result": result });
    let expected = [
        probe(6, 1, "failed"),
        probe(0, 0, "ok"),
        probe(3, 1, "failed"),
        probe(1, 0, "ok"),
        probe(2, 0, "ok"),
    ];
    assert_eq!(found["probes"], json!(expected));
    assert_eq!(
        (&found["skipped"], &found["remaining"]),
        (&json!([]), &json!([]))
    );
    let shown = repo.edio(["show", "3", "--json"]).json().remove(0);
    for (key, value) in found["turn"].as_object().unwrap() {
        assert_eq!(&shown[key], value, "{key}");
    }
    assert_eq!(found["turn"]["changes"][0]["path"], "n");
}

#[test]
fn p1_all_of_the_users_stays_as_it_is() {
    let repo = with_turns(5);
    repo.write("ignored/mine", "mine\n");
    repo.write("n", "unsaved\n");
    repo.git(["add", "n"]);
    let state = || (repo.git_state(), repo.manifest(), repo.edio_refs());
    let before = state();
    for flags in [&[][..], &["-j", "3"], &["--steps"]] {
        let script = format!("{}; ", pattern("...xxx"));
        let script =
            format!("mkdir -p ignored; rm -f ignored/*; echo x > new; git add -A; ({script})");
        bisect(&repo, flags, &script).ok();
        assert!(state() == before, "{flags:?}");
    }
    assert_eq!(beside(&repo), ["gitconfig", "home", "repo"]);
}

#[test]
fn several_at_once_come_to_the_same() {
    let repo = with_turns(9);
    for tried in 0..12_u32 {
        let letter = |at: u32| match (tried * 7919 + at * 104_729 + tried * at * 31) % 11 {
            0..4 => '.',
            4..8 => 'x',
            8..10 => 's',
            _ => '!',
        };
        let middle: String = (1..9).map(letter).collect();
        let script = pattern(&format!(".{middle}x"));
        let outcome = |flags: &[&str]| {
            let (found, code) = record(&repo, flags, &script);
            (
                found["turn"]["turn"].clone(),
                found["remaining"].clone(),
                code,
            )
        };
        let one = outcome(&[]);
        for jobs in ["2", "3", "8"] {
            assert_eq!(outcome(&["-j", jobs]), one, "{middle}, {jobs} at once");
        }
    }
    assert_eq!(beside(&repo), ["gitconfig", "home", "repo"]);
}

#[test]
fn every_first_turn_is_found() {
    let repo = with_turns(5);
    for first in 1..=5 {
        let script = format!("test $(cat n) -lt {first}");
        for flags in [&[][..], &["-j", "2"], &["--good", "0", "--bad", "last"]] {
            let (found, code) = record(&repo, flags, &script);
            assert_eq!(
                (&found["turn"]["turn"], code),
                (&json!(first), Some(0)),
                "{flags:?}"
            );
        }
    }
}

#[test]
fn where_turns_can_not_be_told_the_rest_are_named() {
    let repo = with_turns(7);
    let ran = bisect(&repo, &[], &pattern("..ssxxxx"));
    assert!(
        ran.fails(1)
            .stderr
            .contains("it is one of the turns 2, 3, 4: "),
        "{ran}"
    );
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("skipped (exit 125)"), "{ran}");
    // Skipped, and it doesn't matter.
    let ran = bisect(&repo, &[], &pattern("..s.xsxx"));
    assert!(ran.ok().stdout.starts_with("turn 4 "), "{ran}");
}

#[test]
fn ends_that_are_given_are_believed_and_others_are_tried() {
    let repo = with_turns(4);
    let ran = bisect(&repo, &[], "true");
    assert!(
        ran.fails(1).stderr.contains("does not fail on turn 4"),
        "{ran}"
    );
    let ran = bisect(&repo, &[], "false");
    assert!(
        ran.fails(1).stderr.contains("fails on turn 0 already"),
        "{ran}"
    );
    let ran = bisect(&repo, &["-j", "2"], &pattern("s...x"));
    assert!(
        ran.fails(1).stderr.contains("can't tell of turn 0"),
        "{ran}"
    );
    // Not run there: the answer follows from what was said.
    let (found, _) = record(&repo, &["--good", "3", "--bad", "4"], "exit 1");
    assert_eq!(
        (&found["turn"]["turn"], &found["probes"]),
        (&json!(4), &json!([]))
    );
    let (found, _) = record(&repo, &["--good", "1"], &pattern("xx.xx"));
    let tried: Vec<_> = found["probes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["turn"].clone())
        .collect();
    assert_eq!(tried, [4, 2, 3], "bad is tried, good is not");
    assert_eq!(found["turn"]["turn"], 3);
    let (found, _) = record(&repo, &["--bad", "2"], &pattern("..xxx"));
    assert_eq!(found["turn"]["turn"], 2);
}

#[test]
fn a_command_that_does_not_run_as_it_should_ends_the_search() {
    let repo = with_turns(4);
    for script in [
        "exit 126",
        "exit 127",
        "exit 128",
        "exit 255",
        "kill -KILL $$",
        "kill -SEGV $$",
        "kill -INT $$",
    ] {
        for flags in [&[][..], &["-j", "2"], &["--good", "0", "--bad", "4"]] {
            let ran = bisect(&repo, flags, script);
            assert!(
                ran.fails(1).stderr.contains("which is no test's answer"),
                "{script}: {ran}"
            );
            assert_eq!(ran.stdout, "");
        }
    }
    let ran = repo.edio(["bisect", "no-such-command"]);
    assert!(ran.fails(1).stderr.contains("exit code 127"), "{ran}");
    let ran = repo.edio(["bisect", "./n"]);
    assert!(ran.fails(1).stderr.contains("exit code 126"), "{ran}");
    // What it printed is why.
    let ran = bisect(&repo, &["-j", "2"], "echo the reason; exit 127");
    assert!(ran.fails(1).stderr.contains("the reason"), "{ran}");
    assert_eq!(beside(&repo), ["gitconfig", "home", "repo"]);
}

#[test]
fn steps_are_looked_at_where_they_are_asked_for() {
    let repo = with_turns(1);
    for (number, content) in [("2.1", "2.1\n"), ("2.2", "2.2\n")] {
        repo.write("n", content);
        repo.step(number);
    }
    repo.write("n", "2\n");
    repo.edio(["snapshot"]).ok();
    let script = "case $(cat n) in 0|1|2.1) exit 0;; esac; exit 1";
    let (found, _) = record(&repo, &[], script);
    assert_eq!(
        (&found["turn"]["turn"], &found["turn"]["step"]),
        (&json!(2), &Value::Null)
    );
    let (found, _) = record(&repo, &["--steps"], script);
    assert_eq!(
        (&found["turn"]["turn"], &found["turn"]["step"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(found["turn"]["changes"].as_array().unwrap().len(), 1);
    let ran = bisect(&repo, &["--steps"], script);
    assert!(
        ran.ok().stdout.contains("-2.1\n+2.2\n"),
        "what the step itself did: {ran}"
    );
    assert!(ran.stderr.contains("turn 2.1: ok"), "{ran}");
    let (found, _) = record(&repo, &["--good", "2.1", "--bad", "2.2"], script);
    assert_eq!(found["turn"]["step"], 2);
}

#[test]
fn turns_on_arms_that_were_left_are_not_looked_at() {
    let repo = with_turns(4);
    repo.edio(["restore", "2"]).ok();
    for content in ["5\n", "6\n"] {
        repo.write("n", content);
        repo.edio(["snapshot"]).ok();
    }
    // Turn 3, on the other arm, would be the first.
    let ran = bisect(&repo, &[], &pattern("...xx.x"));
    assert!(ran.ok().stdout.starts_with("turn 6 "), "{ran}");
    assert!(
        !ran.stderr.contains("turn 3:") && !ran.stderr.contains("turn 4:"),
        "{ran}"
    );
    let ran = bisect(&repo, &["--bad", "4"], &pattern("...xx.x"));
    assert!(ran.ok().stdout.starts_with("turn 3 "), "{ran}");
    for (good, bad) in [("3", "6"), ("6", "2"), ("5", "4")] {
        let ran = bisect(&repo, &["--good", good, "--bad", bad], "true");
        assert!(ran.fails(1).stderr.contains("did not grow out of"), "{ran}");
    }
    let ran = bisect(&repo, &["--good", "2", "--bad", "2"], "true");
    assert!(
        ran.fails(1).stderr.contains("good and bad at once"),
        "{ran}"
    );
}

#[test]
fn what_people_and_edio_itself_saved_is_looked_at_too() {
    let repo = with_turns(1);
    repo.write("n", "mine\n");
    repo.edio(["run", "--", "sh", "-c", "echo 3 > n"]).ok();
    let (found, _) = record(&repo, &[], "case $(cat n) in 0|1) exit 0;; esac; exit 1");
    assert_eq!(
        (&found["turn"]["turn"], &found["turn"]["kind"]),
        (&json!(2), &json!("human"))
    );
    repo.write("n", "unsaved\n");
    repo.edio(["restore", "1", "-f", "n"]).ok();
    let (found, _) = record(&repo, &["--bad", "4"], "test $(cat n) != unsaved");
    assert_eq!(
        (&found["turn"]["turn"], &found["turn"]["kind"]),
        (&json!(4), &json!("safety"))
    );
}

#[test]
fn the_same_folder_goes_from_turn_to_turn() {
    let repo = with_turns(8);
    let script =
        "mkdir -p build; echo $EDIO_TURN >> build/log; cat build/log | wc -l; test $(cat n) -lt 5";
    let ran = bisect(
        &repo,
        &[],
        &format!("{script} || {{ echo spoiled > n; exit 1; }}"),
    );
    assert!(ran.ok().stdout.starts_with("turn 5 "), "{ran}");
    let counts: Vec<&str> = ran
        .stderr
        .lines()
        .filter(|line| line.trim().parse::<u32>().is_ok())
        .map(str::trim)
        .collect();
    assert_eq!(counts, ["1", "2", "3", "4", "5"]);
    let keep = repo.outside().join("kept");
    let keep = keep.to_str().unwrap();
    for flags in [&["--keep", keep][..], &["--keep", keep, "-j", "2"]] {
        bisect(&repo, flags, script).ok();
    }
    let lines = |tree: &str| {
        fs::read_to_string(format!("{keep}/{tree}/build/log"))
            .unwrap()
            .lines()
            .count()
    };
    assert!(lines("tree") > 5 && lines("tree-2") > 0);
    assert_eq!(beside(&repo), ["gitconfig", "home", "kept", "repo"]);
}

#[test]
fn links_and_subfolders_are_as_with_exec() {
    let repo = with_turns(3);
    repo.write("ignored/limit", "2\n");
    repo.write("sub/x", "x\n");
    repo.edio(["snapshot"]).ok();
    let script = "test $(cat n) -lt $(cat ignored/limit)";
    let ran = bisect(&repo, &["--link", "ignored"], script);
    assert!(ran.ok().stdout.starts_with("turn 2 "), "{ran}");
    let words = ["bisect", "--", "sh", "-c", "! test -e x"];
    assert!(
        repo.edio_in("sub", words)
            .ok()
            .stdout
            .starts_with("turn 4 ")
    );
}

#[test]
fn what_the_command_prints_never_mixes_with_the_answer() {
    let repo = with_turns(5);
    let script = "echo to stdout; echo to stderr >&2; test $(cat n) -lt 3";
    let prints = |words: &[&str]| {
        let ran = repo.edio([words, &["--", "sh", "-c", script]].concat());
        assert!(!ran.ok().stdout.contains("to std"), "{ran}");
        (
            ran.stderr.matches("to stdout\n").count(),
            ran.stderr.matches("to stderr\n").count(),
        )
    };
    assert_eq!(prints(&["bisect"]), (4, 4));
    assert_eq!(prints(&["bisect", "-q"]), (0, 0));
    assert_eq!(prints(&["bisect", "--json"]), (0, 0));
    assert_eq!(prints(&["bisect", "-j", "2"]), (0, 0));
    let (out, err) = prints(&["bisect", "-j", "2", "-v"]);
    assert!(out >= 4 && out == err);
    assert_eq!(
        repo.edio(["bisect", "-q", "--", "sh", "-c", script])
            .ok()
            .stderr,
        ""
    );
    let ran = repo.edio(["bisect", "--json", "-j", "3", "--", "sh", "-c", script]);
    assert_eq!(ran.ok().stderr, "");
    // Nothing to read, and no terminal to take away.
    let ran = repo.edio_fed(
        [
            "bisect",
            "--",
            "sh",
            "-c",
            "read x && exit 1; test $(cat n) -lt 3",
        ],
        "line\n",
    );
    assert!(ran.ok().stdout.starts_with("turn 3 "), "{ran}");
    let printed = bisect(
        &repo,
        &["-j", "2", "-v"],
        "printf '\\033[2Jx'; test $(cat n) -lt 3",
    );
    assert!(!printed.ok().stderr.contains('\u{1b}'), "{printed}");
}

#[test]
fn what_the_command_leaves_running_is_ended() {
    let repo = with_turns(3);
    let script = "sleep 1000 & echo $! >> ../../pids; test $(cat n) -lt 2";
    bisect(&repo, &[], script).ok();
    let pids = fs::read_to_string(repo.outside().join("pids")).unwrap();
    assert!(pids.lines().count() >= 3);
    for pid in pids.lines() {
        assert!(is_gone(pid), "{pid} is still there");
    }
    fs::remove_file(repo.outside().join("pids")).unwrap();
    assert_eq!(beside(&repo), ["gitconfig", "home", "repo"]);
}

/// Is there no such process, or nothing of it but its end?
fn is_gone(pid: &str) -> bool {
    let begun = std::time::Instant::now();
    while begun.elapsed() < std::time::Duration::from_secs(5) {
        let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        if state.is_empty() || state.contains(") Z") {
            return true;
        }
    }
    false
}

#[test]
fn p5_a_signal_ends_all_and_leaves_nothing() {
    let repo = with_turns(6);
    let pids = repo.outside().join("pids");
    for (signal, jobs) in [("INT", "1"), ("TERM", "1"), ("INT", "2"), ("HUP", "2")] {
        let fifo = repo.outside().join("fifo");
        assert!(
            Command::new("mkfifo")
                .arg(&fifo)
                .status()
                .unwrap()
                .success()
        );
        let script = format!(
            "trap '' INT; sleep 1000 & echo $! $$ >> '{}'; echo ready > '{}'; wait; sleep 1000",
            pids.display(),
            fifo.display()
        );
        let words = ["bisect", "-j", jobs, "--", "sh", "-c", &script];
        let child = repo
            .command(words)
            .stderr(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(fs::File::open(&fifo).unwrap())
            .read_line(&mut line)
            .unwrap();
        let mut kill = Command::new("kill");
        assert!(
            kill.args([&format!("-{signal}"), &child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        // The second probe of two may wait for somebody who reads.
        let reader = (jobs == "2").then(|| {
            fs::File::options()
                .read(true)
                .write(true)
                .open(&fifo)
                .unwrap()
        });
        let output = child.wait_with_output().unwrap();
        drop(reader);
        assert_eq!(output.status.code(), Some(130), "{signal}");
        assert!(output.stdout.is_empty());
        let found = fs::read_to_string(&pids).unwrap();
        for pid in found.split_whitespace() {
            assert!(is_gone(pid), "{pid} is still there after {signal}");
        }
        fs::remove_file(&pids).unwrap();
        fs::remove_file(&fifo).unwrap();
        assert_eq!(beside(&repo), ["gitconfig", "home", "repo"], "{signal}");
    }
    let ran = repo.on_a_terminal(
        ["bisect", "--", "sh", "-c", "echo ready; exec sleep 1000"],
        r"until(b'ready'); os.write(fd, b'\x03')",
    );
    assert_eq!(ran.code, Some(130), "{ran}");
    assert_eq!(beside(&repo), ["gitconfig", "home", "repo"]);
}

#[test]
fn what_is_not_there_is_named_once() {
    let repo = Repo::with(&[("n", "0\n")]);
    repo.git(["config", "edio.maxFileSize", "10"]);
    repo.write("large", "more than ten bytes\n");
    for number in 1..=4 {
        repo.write("n", format!("{number}\n"));
        repo.edio(["snapshot"]).ok();
    }
    let ran = bisect(&repo, &[], "test $(cat n) -lt 2");
    assert_eq!(
        ran.ok().stderr.matches("not in it: large").count(),
        1,
        "{ran}"
    );
}

#[test]
fn bad_arguments_and_places_are_refused() {
    let repo = with_turns(2);
    for (words, code) in [
        (&["bisect"][..], 2),
        (&["bisect", "-j", "0", "true"], 2),
        (&["bisect", "-j", "x", "true"], 2),
        (&["bisect", "--good", "x", "true"], 2),
        (&["bisect", "--bad", "99", "true"], 1),
        (&["bisect", "--keep", ".git/x", "true"], 3),
        (&["bisect", "--link", "nowhere", "true"], 1),
    ] {
        repo.edio(words).fails(code);
    }
    let other = Repo::with(&[("a", "one\n")]);
    other.edio(["bisect", "true"]).fails(1);
    other.edio_in(other.outside(), ["bisect", "true"]).fails(4);
    repo.git(["branch", "mine", &repo.turn_ref(1)]);
    let ran = bisect(&repo, &[], "test $(cat n) -lt 2");
    assert!(
        ran.ok().stdout.starts_with("turn 2 "),
        "where the user's own branch holds a turn: {ran}"
    );
}
