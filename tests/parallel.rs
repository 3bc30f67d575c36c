//! Many edio processes, work trees and git commands in one repository at the same time: P6 (parallel) and P4 (nothing
//! is lost).

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::common::{Repo, edio_binary, path};

/// The numbers of the turns, as `log` tells them.
fn numbers(repo: &Repo) -> Vec<u64> {
    let ran = repo.edio(["log", "--json"]);
    let turns = ran.ok().json();
    let mut numbers: Vec<u64> = turns
        .iter()
        .map(|turn| turn["turn"].as_u64().unwrap())
        .collect();
    numbers.reverse();
    numbers
}

#[test]
fn p6_snapshots_at_the_same_time_lose_no_turn_and_number_none_twice() {
    let repo = Repo::with(&[("a", "base\n")]);
    let content = |writer: usize, round: usize| format!("{writer} wrote in round {round}\n");
    thread::scope(|scope| {
        for writer in 0..6 {
            let repo = &repo;
            scope.spawn(move || {
                for round in 0..4 {
                    repo.write(format!("of-{writer}"), content(writer, round));
                    repo.edio(["snapshot", "-m", &content(writer, round)]).ok();
                }
            });
        }
    });
    let numbers = numbers(&repo);
    let from_one: Vec<u64> = (1..=numbers.len() as u64).collect();
    assert_eq!(numbers, from_one);
    for writer in 0..6 {
        for round in 0..4 {
            let content = content(writer, round);
            assert!(repo.is_kept(&content), "{content} is in no turn");
        }
    }
    assert_eq!(repo.sessions("active").len(), 1);
    repo.edio(["snapshot", "--if-changed"]).ok();
    let last = u32::try_from(self::numbers(&repo).len()).unwrap();
    assert_eq!(repo.manifest_in(&repo.turn_ref(last)), repo.manifest());
    repo.fsck();
}

#[test]
fn p4_p6_verbs_at_the_same_time_lose_nothing_that_was_written() {
    let repo = Repo::with(&[("a", "base\n")]);
    for content in ["one\n", "two\n"] {
        repo.write("a", content);
        repo.edio(["snapshot"]).ok();
    }
    let verbs: [&[&str]; 11] = [
        &["snapshot", "-m", "more"],
        &["restore", "1"],
        &["undo"],
        &["redo"],
        &["restore", "2", "-f", "a"],
        &["status"],
        &["log", "--distance"],
        &["gc"],
        &["revert", "last"],
        &["accept", "done"],
        &["run", "--", "true"],
    ];
    let written = |writer: usize, round: usize| {
        (
            format!("{writer}-{round}"),
            format!("{writer}-{round} stays\n"),
        )
    };
    thread::scope(|scope| {
        for writer in 0..4 {
            let repo = &repo;
            scope.spawn(move || {
                for round in 0..8 {
                    let (path, content) = written(writer, round);
                    repo.write(path, content);
                    let ran = repo.edio(verbs[(writer * 3 + round) % verbs.len()]);
                    assert!(matches!(ran.code, Some(0 | 1 | 3)), "{ran}");
                }
            });
        }
    });
    for writer in 0..4 {
        for round in 0..8 {
            let (path, content) = written(writer, round);
            let there = repo.has(&path) && repo.read(&path) == content;
            assert!(there || repo.is_kept(&content), "{path} is lost");
        }
    }
    repo.edio(["snapshot", "--if-changed"]).ok();
    repo.fsck();
}

#[test]
fn p6_work_trees_and_commits_at_the_same_time_are_in_nobodys_way() {
    let repo = Repo::with(&[("a", "base\n")]);
    let names = ["one", "two", "three"];
    for name in names {
        repo.git(["worktree", "add", "-q", "-b", name, &format!("../{name}")]);
    }
    thread::scope(|scope| {
        for name in names {
            let repo = &repo;
            scope.spawn(move || {
                let folder = repo.outside().join(name);
                for round in 0..4 {
                    fs::write(folder.join("a"), format!("{name} {round}\n")).unwrap();
                    repo.edio_in(&folder, ["snapshot", "-m", name]).ok();
                }
                repo.edio_in(&folder, ["accept", name]).ok();
            });
        }
        scope.spawn(|| {
            for round in 0..6 {
                repo.write("b", format!("{round}\n"));
                repo.git(["add", "b"]);
                repo.git(["commit", "-q", "-m", &format!("by hand {round}")]);
            }
        });
    });
    for name in names {
        assert_eq!(
            repo.git(["show", &format!("{name}:a")]).trim(),
            format!("{name} 3")
        );
        assert_eq!(
            repo.git(["rev-list", "--count", &format!("{name}~..{name}")])
                .trim(),
            "1"
        );
    }
    assert_eq!(repo.git(["show", "HEAD:b"]).trim(), "5");
    let archived: BTreeSet<String> = repo.sessions("archive").into_iter().collect();
    assert_eq!(archived.len(), names.len());
    repo.fsck();
}

/// How many rounds, of those that a run at length has: `EDIO_ROUNDS=50 cargo test --test main -- parallel::`.
fn rounds() -> usize {
    std::env::var("EDIO_ROUNDS").map_or(4, |rounds| rounds.parse().unwrap())
}

/// Replaces a file at once: whoever reads it finds the one content or the other.
fn replace(repo: &Repo, path: &str, content: &str) {
    let aside = repo.outside().join(format!("aside of {path}"));
    fs::write(&aside, content).unwrap();
    fs::rename(aside, repo.path(path)).unwrap();
}

#[test]
fn p6_beside_all_that_git_does_no_turn_is_lost_or_torn() {
    let repo = Repo::with(&[("a", "base\n"), ("b", "base\n"), (".gitignore", "w*\n")]);
    repo.git(["worktree", "add", "-q", "-b", "side", "../side"]);
    let side = repo.outside().join("side");
    let done = AtomicBool::new(false);
    let until_done = |work: &dyn Fn(usize)| {
        let mut round = 0;
        while !done.load(Ordering::Relaxed) {
            work(round);
            round += 1;
        }
    };
    let line = |round: usize| format!("{round:08}\n").repeat(500);
    thread::scope(|scope| {
        let repo = &repo;
        let until_done = &until_done;
        let line = &line;
        let snapshots: Vec<_> = (0..8)
            .map(|writer| {
                scope.spawn(move || {
                    for round in 0..rounds() {
                        repo.write(format!("of-{writer}"), format!("{writer} {round}\n"));
                        repo.edio(["snapshot", "-m", &format!("{writer} {round}")])
                            .ok();
                    }
                })
            })
            .collect();
        scope.spawn(move || until_done(&|round| replace(repo, "a", &line(round))));
        scope.spawn(move || {
            until_done(&|round| {
                repo.write("b", format!("{round}\n"));
                // Two gits may be in each other's way. And git's own commits don't survive this gc beside them.
                repo.git_says(["add", "b"]);
                repo.git_says(["commit", "-qm", "by hand"]);
                repo.git_says(["gc", "-q", "--prune=now"]);
            });
        });
        scope.spawn(move || {
            until_done(&|round| {
                let name = format!("../w{round}");
                repo.git_says(["worktree", "add", "-q", "--detach", &name]);
                repo.git_says(["worktree", "remove", "--force", &name]);
            });
        });
        let side = &side;
        let restores = scope.spawn(move || {
            for round in 0..rounds() {
                fs::write(side.join("a"), format!("side {round}\n")).unwrap();
                repo.edio_in(side, ["snapshot"]).ok();
                repo.edio_in(side, ["restore", "1"]).ok();
                assert_eq!(fs::read_to_string(side.join("a")).unwrap(), "side 0\n");
                repo.edio_in(side, ["undo"]).ok();
            }
        });
        let outcomes: Vec<_> = snapshots
            .into_iter()
            .chain([restores])
            .map(thread::ScopedJoinHandle::join)
            .collect();
        done.store(true, Ordering::Relaxed);
        for outcome in outcomes {
            outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
    let numbers = numbers(&repo);
    let from_one: Vec<u64> = (1..=8 * rounds() as u64).collect();
    assert_eq!(numbers, from_one);
    repo.fsck();
    let mut messages = BTreeSet::new();
    for turn in repo.edio(["log", "--json"]).json() {
        let commit = turn["commit"].as_str().unwrap();
        let message = turn["message"].as_str().unwrap();
        let (writer, round) = message.split_once(' ').unwrap();
        let own = repo.git_raw(["show", &format!("{commit}:of-{writer}")]);
        assert_eq!(own, format!("{writer} {round}\n"), "{turn}");
        let a = repo.git_raw(["show", &format!("{commit}:a")]);
        let lines: BTreeSet<&str> = a.lines().collect();
        assert_eq!(lines.len(), 1, "torn: {turn}");
        messages.insert(message.to_owned());
    }
    assert_eq!(messages.len(), 8 * rounds());
}

/// What a command reads before it holds the lock may be of the past when it does.
#[test]
fn p6_status_is_of_the_work_tree_as_it_stands_under_the_lock() {
    let repo = Repo::with(&[("a", "base\n")]);
    for content in ["one\n", "two\n"] {
        repo.write("a", content);
        repo.edio(["snapshot"]).ok();
    }
    // While it lists the turns, somebody restores one.
    let path = repo.git_instead(&format!(
        "case \" $* \" in *\" for-each-ref \"*)\n\
         \"$GIT\" \"$@\" > \"$0.listed\" || exit\n\
         mkdir \"$0.once\" 2>/dev/null && PATH='{path}' {edio} -q restore 1\n\
         exec cat \"$0.listed\" ;;\n\
         esac\n\
         exec \"$GIT\" \"$@\"\n",
        path = path(),
        edio = edio_binary().display(),
    ));
    let ran = repo.ran(repo.command(["status"]).env("PATH", path));
    assert_eq!(repo.read("a"), "one\n", "{ran}");
    assert!(ran.ok().stdout.contains("current turn 1: "), "{ran}");
    assert!(ran.stdout.contains("nothing changed since"), "{ran}");
}
