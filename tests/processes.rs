//! The git processes of each verb (P7): which, how many, and that neither turns nor files make them more.
//!
//! In small repositories the processes are what a command costs. A new one shows here, in review.

use std::fmt;
use std::fs;
use std::process::Command;

use insta::assert_snapshot;

use crate::common::Repo;

/// The git commands of one run of edio, in the order of their start.
struct Processes(Vec<String>);

impl Processes {
    fn count(&self) -> usize {
        self.0.len()
    }

    #[track_caller]
    fn at_most(&self, budget: usize) {
        assert!(
            self.count() <= budget,
            "more than {budget} processes: {self}"
        );
    }
}

impl fmt::Display for Processes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.0.join(", "), self.count())
    }
}

/// These run beside one another: which of the two starts first is not certain.
const BESIDE: [[&str; 2]; 3] = [
    ["rev-parse", "config"],
    ["status", "check-ignore"],
    ["symbolic-ref", "rev-parse"],
];
/// These, too, where a session is looked for while git looks at the files.
const BESIDE_THE_SCAN: [[&str; 2]; 2] = [["status", "for-each-ref"], ["status", "rev-list"]];

/// These may be started before they are asked anything: their order is that of their use in a snapshot.
const AHEAD: [&str; 7] = [
    "cat-file",
    "unpack-objects",
    "update-index",
    "write-tree",
    "diff-tree",
    "hash-object",
    "update-ref",
];

/// What runs beside one another in a verb.
fn beside(verb: &str) -> Vec<[&'static str; 2]> {
    let mut pairs = BESIDE.to_vec();
    for look in ["ls-files", "status", "check-ignore"] {
        if look == "status" || verb == "snapshot" {
            pairs.extend(AHEAD.map(|verb| [look, verb]));
        }
    }
    if matches!(verb, "restore" | "undo" | "redo") {
        pairs.extend(BESIDE_THE_SCAN);
    }
    pairs
}

/// Runs edio, which must succeed, and reads what each git process said of itself.
#[track_caller]
fn processes(repo: &Repo, words: &[&str]) -> Processes {
    let mut command = repo.command(words);
    // Without it edio may guess where the git directory is, as it does for nearly everybody.
    processes_of(repo, command.env_remove("GIT_CEILING_DIRECTORIES"))
}

#[track_caller]
fn processes_of(repo: &Repo, command: &mut Command) -> Processes {
    let told = repo.outside().join("told");
    fs::create_dir(&told).unwrap();
    // Attribute files elsewhere cost more of them.
    command.env("GIT_CONFIG_GLOBAL", repo.outside().join("gitconfig"));
    repo.ran(command.env("GIT_TRACE2_EVENT", &told)).ok();
    let mut started: Vec<(String, String)> = fs::read_dir(&told)
        .unwrap()
        .map(|entry| start_of(&fs::read_to_string(entry.unwrap().path()).unwrap()))
        .collect();
    fs::remove_dir_all(&told).unwrap();
    started.sort();
    let mut verbs: Vec<String> = started.into_iter().map(|(_, verb)| verb).collect();
    // Where the turns are listed beside the search for the repository, any of them is the first.
    let search = ["rev-parse", "config", "for-each-ref"];
    let place = |verb: &String| search.iter().position(|other| other == verb);
    let first = verbs.len().min(search.len());
    if verbs[..first].iter().all(|verb| place(verb).is_some()) {
        verbs[..first].sort_by_key(place);
    }
    let verb = command.get_args().next().and_then(|verb| verb.to_str());
    let beside = beside(verb.unwrap_or_default());
    let ahead = |verb: &str| AHEAD.iter().position(|other| *other == verb);
    let is_swapped = |pair: &[String]| {
        let (first, second) = (pair[0].as_str(), pair[1].as_str());
        let ahead = ahead(first).zip(ahead(second));
        beside.contains(&[second, first]) || ahead.is_some_and(|(first, second)| first > second)
    };
    while let Some(at) = verbs.windows(2).position(is_swapped) {
        verbs.swap(at, at + 1);
    }
    Processes(verbs)
}

/// The time and the command in the `start` event of a process.
fn start_of(events: &str) -> (String, String) {
    let mut events = events
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let start = events.find(|event| event["event"] == "start").unwrap();
    let words = start["argv"]
        .as_array()
        .unwrap()
        .iter()
        .map(|word| word.as_str().unwrap());
    let mut words = words.skip(1);
    let verb = loop {
        match words.next().unwrap() {
            "-c" => drop(words.next()),
            flag if flag.starts_with('-') => {}
            verb => break verb.to_owned(),
        }
    };
    (start["time"].as_str().unwrap().to_owned(), verb)
}

/// A repository with so many files, and a session of so many turns that each change one of them.
fn session(turns: usize, files: usize) -> Repo {
    let repo = Repo::unborn();
    for n in 0..files {
        repo.write(format!("src/{n}"), format!("{n}\n"));
    }
    repo.commit("base");
    for n in 1..=turns {
        repo.write("src/0", format!("turn {n}\n"));
        repo.edio(["snapshot", "-m", &format!("turn {n}")]).ok();
    }
    repo
}

/// Has git look at all files, which writes the user's index anew; it says the same as before.
fn touch_index(repo: &Repo) {
    let file = fs::File::open(repo.path("src/1")).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    repo.git(["status"]);
}

/// A line for each run.
fn listing<const N: usize>(runs: [(&str, &Processes); N]) -> String {
    runs.map(|(what, processes)| format!("{what}: {processes}\n"))
        .concat()
}

#[test]
fn p7_the_processes_of_a_snapshot() {
    let repo = session(0, 5);
    let first_ever = processes(&repo, &["snapshot", "-m", "one"]);
    let unchanged = processes(&repo, &["snapshot", "--if-changed"]);
    let labelled = processes(&repo, &["snapshot", "-m", "label"]);
    repo.write("src/0", "changed");
    let changed = processes(&repo, &["snapshot"]);
    touch_index(&repo);
    let index_touched = processes(&repo, &["snapshot", "--if-changed"]);
    repo.git(["add", "-A"]);
    let staged = processes(&repo, &["snapshot", "--if-changed"]);
    repo.edio(["accept", "-m", "all"]).ok();
    repo.write("src/0", "changed again");
    let first_of_session = processes(&repo, &["snapshot"]);
    assert_snapshot!(listing([
        ("first ever", &first_ever),
        ("unchanged", &unchanged),
        ("unchanged, but wanted", &labelled),
        ("changed", &changed),
        ("unchanged, index touched", &index_touched),
        ("unchanged, staged", &staged),
        ("first of a session, changed", &first_of_session),
    ]), @r"
    first ever: version, rev-parse, config, ls-files, status, write-tree, hash-object, update-ref, for-each-ref, cat-file, hash-object (11)
    unchanged: rev-parse, config, status (3)
    unchanged, but wanted: rev-parse, config, status, hash-object, update-ref (5)
    changed: rev-parse, config, status, cat-file, unpack-objects, diff-tree, hash-object, update-ref (8)
    unchanged, index touched: rev-parse, config, ls-files, status (4)
    unchanged, staged: rev-parse, config, ls-files, status, write-tree (5)
    first of a session, changed: rev-parse, config, ls-files, status, update-index, write-tree, hash-object, update-ref, for-each-ref, cat-file, diff-tree, hash-object (12)
    ");
    unchanged.at_most(4);
    changed.at_most(8);
    index_touched.at_most(5);
    staged.at_most(5);
}

#[test]
fn p7_the_cached_index_is_not_written_for_a_few_edits() {
    let repo = Repo::with(&[("a", "1\n"), ("d/b", "1\n"), ("d/e/c", "1\n")]);
    let snapshot = || {
        repo.edio(["snapshot"]).ok();
        fs::read(repo.path(".git/edio/index")).unwrap()
    };
    let before = snapshot();
    for content in ["edited\n", "edited, too\n"] {
        repo.write("d/b", content);
        repo.write("d/e/c", content);
        assert!(before == snapshot());
    }
    repo.write("new", "new\n");
    assert!(before != snapshot());
}

#[test]
fn p7_the_processes_of_a_snapshot_where_the_session_has_untracked_files() {
    let repo = session(1, 5);
    repo.write("untracked", "u");
    let appeared = processes(&repo, &["snapshot"]);
    let unchanged = processes(&repo, &["snapshot", "--if-changed"]);
    repo.write("untracked", "changed");
    let changed = processes(&repo, &["snapshot"]);
    touch_index(&repo);
    let index_touched = processes(&repo, &["snapshot", "--if-changed"]);
    assert_snapshot!(listing([
        ("appeared", &appeared),
        ("unchanged", &unchanged),
        ("changed", &changed),
        ("unchanged, index touched", &index_touched),
    ]), @r"
    appeared: rev-parse, config, status, update-index, write-tree, diff-tree, hash-object, update-ref (8)
    unchanged: rev-parse, config, status, check-ignore (4)
    changed: rev-parse, config, status, check-ignore, cat-file, unpack-objects, diff-tree, hash-object, update-ref (9)
    unchanged, index touched: rev-parse, config, ls-files, status, check-ignore (5)
    ");
    appeared.at_most(8);
    unchanged.at_most(4);
    changed.at_most(9);
    index_touched.at_most(5);
}

#[test]
fn p7_what_the_person_chooses_costs_a_process_each_and_a_large_file_one() {
    let repo = session(1, 5);
    let unchanged = ["snapshot", "--if-changed"];
    repo.git(["config", "edio.include", "/.env"]);
    repo.edio(["snapshot"]).ok();
    // Beside the three that each snapshot asks: which files are there that are included?
    processes(&repo, &unchanged).at_most(4);
    repo.git(["config", "edio.exclude", "/src/4"]);
    repo.edio(["snapshot"]).ok();
    // And which of those that the index lacks are excluded, and did the last turn hold them?
    processes(&repo, &unchanged).at_most(6);
    repo.git(["config", "--remove-section", "edio"]);
    repo.git(["config", "edio.maxFileSize", "1"]);
    repo.write("large", "large");
    repo.edio(["snapshot"]).ok();
    // Does the current turn hold it already, and what did it not hold?
    processes(&repo, &unchanged).at_most(5);
}

#[test]
fn p7_a_snapshot_where_others_are_untracked_and_the_person_stages_is_in_its_budget() {
    let repo = session(1, 5);
    repo.write("untracked", "u");
    repo.edio(["snapshot"]).ok();
    repo.git(["add", "src"]);
    // The index is the user's again, which lacks what is untracked: that is taken in anew.
    processes(&repo, &["snapshot", "--if-changed"]).at_most(6);
}

#[test]
fn p7_a_snapshot_after_a_restore_is_in_its_budget() {
    let repo = session(3, 5);
    repo.edio(["restore", "1"]).ok();
    // The cached index does not know the files that were written: they are taken in once.
    processes(&repo, &["snapshot", "--if-changed"]).at_most(6);
}

#[test]
fn p7_a_variable_that_bounds_the_search_for_the_repository_costs_no_process() {
    let repo = session(1, 5);
    let bounded = processes_of(&repo, &mut repo.command(["snapshot", "--if-changed"]));
    bounded.at_most(4);
}

#[test]
fn p7_files_that_a_filter_fails_for_start_no_more_processes() {
    let count = |files| {
        let repo = session(1, 5);
        repo.git(["config", "filter.x.clean", "false"]);
        repo.write(".gitattributes", "*.x filter=x\n");
        for number in 0..files {
            repo.write(format!("{number}.x"), "x");
        }
        repo.edio(["snapshot"]).ok();
        let processes = processes(&repo, &["snapshot", "--if-changed"]);
        processes.at_most(28);
        processes.count()
    };
    assert_eq!(count(30), count(90));
}

#[test]
fn p7_a_deleted_file_costs_nothing_in_a_sparse_checkout() {
    let repo = session(0, 5);
    repo.write("away/y", "1\n");
    repo.commit("more");
    repo.git(["sparse-checkout", "set", "--cone", "src"]);
    repo.remove("src/3");
    repo.edio(["snapshot"]).ok();
    repo.edio(["snapshot"]).ok();
    assert!(repo.in_turn(2, "src/3").is_none() && repo.in_turn(2, "away/y").is_some());
    processes(&repo, &["snapshot", "--if-changed"]).at_most(4);
    // What is lost beside it is asked for.
    repo.write("away/y", "2\n");
    repo.edio(["snapshot"]).ok();
    repo.remove("away");
    repo.edio(["snapshot"]).ok();
    assert_eq!(repo.in_turn(4, "away/y").as_deref(), Some("1\n"));
    repo.git(["checkout", "-q", "src/3"]);
    repo.edio(["snapshot"]).ok();
    assert_eq!(repo.in_turn(5, "src/3").as_deref(), Some("3\n"));
    // Flagged while it is there, and then away: it is absent, not deleted.
    repo.git(["update-index", "--skip-worktree", "src/3"]);
    repo.remove("src/3");
    repo.edio(["snapshot"]).ok();
    assert_eq!(repo.in_turn(6, "src/3").as_deref(), Some("3\n"));
}

#[test]
fn p7_what_a_tree_has_at_many_paths_is_read_folder_by_folder() {
    let count = |files: usize| {
        let repo = session(0, 2);
        repo.write("made/kept", "k");
        repo.edio(["snapshot"]).ok();
        for n in 0..files {
            repo.write(format!("made/{n}"), "now\n");
        }
        repo.edio(["snapshot"]).ok();
        repo.edio(["restore", "1"]).ok();
        repo.write(".git/info/exclude", "/made/*\n!/made/kept\n");
        for n in 0..files {
            repo.write(format!("made/{n}"), "ignored\n");
        }
        repo.edio(["restore", "2"]).ok();
        assert_eq!(repo.read("made/0"), "now\n");
        let ran = repo.ran(&mut repo.command(["undo"]));
        assert_eq!(
            repo.read(format!("made/{}", files - 1)),
            "ignored\n",
            "{ran}"
        );
        processes(&repo, &["redo"]).count()
    };
    assert_eq!(count(300), count(900));
}

#[test]
fn p7_the_processes_of_a_restore() {
    let plan = processes(&session(3, 5), &["restore", "1", "--dry-run"]);
    let here = processes(&session(3, 5), &["restore", "@"]);
    let full = processes(&session(3, 5), &["restore", "1"]);
    let unsaved = session(3, 5);
    unsaved.write("src/2", "unsaved");
    let with_unsaved = processes(&unsaved, &["restore", "1"]);
    let path = processes(&session(3, 5), &["restore", "1", "-f", "src/0"]);
    assert_snapshot!(listing([
        ("the plan alone", &plan),
        ("to where it stands", &here),
        ("full", &full),
        ("full, with unsaved work", &with_unsaved),
        ("one path", &path),
    ]), @r"
    the plan alone: rev-parse, config, status, for-each-ref, cat-file, diff-tree (6)
    to where it stands: rev-parse, config, status, for-each-ref (4)
    full: rev-parse, config, status, for-each-ref, cat-file, diff-tree, hash-object, update-ref, update-ref (9)
    full, with unsaved work: rev-parse, config, status, for-each-ref, cat-file, cat-file, unpack-objects, diff-tree, diff-tree, hash-object, hash-object, update-ref, update-ref, update-ref (14)
    one path: rev-parse, config, status, for-each-ref, cat-file, cat-file, unpack-objects, diff-tree, hash-object, hash-object, update-ref, update-ref (12)
    ");
}

/// How many processes a restore starts beyond those of a snapshot in the same place.
fn beyond_the_snapshot(place: impl Fn() -> Repo, words: &[&str]) -> usize {
    let snapshot = processes(&place(), &["snapshot", "--if-changed"]);
    processes(&place(), words).count() - snapshot.count()
}

#[test]
fn p7_a_restore_is_in_its_budget() {
    let clean = || session(3, 5);
    let unsaved = || {
        let repo = session(3, 5);
        repo.write("src/2", "unsaved");
        repo.write("untracked", "unsaved");
        repo
    };
    assert!(beyond_the_snapshot(clean, &["restore", "1"]) <= 8);
    assert!(beyond_the_snapshot(unsaved, &["restore", "1"]) <= 8);
}

#[test]
fn p7_a_restore_of_a_path_is_in_its_budget() {
    let beyond = beyond_the_snapshot(|| session(3, 5), &["restore", "1", "-f", "src/0"]);
    // Two of them are the turn that it ends in.
    assert!(beyond <= 8 + 2, "{beyond} processes beyond the snapshot");
}

#[test]
fn p7_the_processes_of_looking() {
    let repo = session(3, 5);
    let run = |words: &[&str]| processes(&repo, words);
    assert_snapshot!(listing([
        ("log", &run(&["log"])),
        ("log --json", &run(&["log", "--json"])),
        ("show", &run(&["show"])),
        ("diff", &run(&["diff"])),
        ("diff 1..2", &run(&["diff", "1..2"])),
        ("diff --workspace", &run(&["diff", "--workspace"])),
        ("status", &run(&["status"])),
        ("sessions", &run(&["sessions"])),
        ("nothing but edio", &run(&[])),
        ("doctor", &run(&["doctor"])),
        ("init", &run(&["init"])),
    ]), @r"
    log: rev-parse, config, for-each-ref (3)
    log --json: rev-parse, config, for-each-ref (3)
    show: rev-parse, config, for-each-ref, diff-tree, diff (5)
    diff: rev-parse, config, for-each-ref, diff (4)
    diff 1..2: rev-parse, config, for-each-ref, diff (4)
    diff --workspace: rev-parse, config, for-each-ref, status, diff (5)
    status: rev-parse, config, for-each-ref, rev-parse, config, status (6)
    sessions: rev-parse, config, for-each-ref, for-each-ref, cat-file, diff-tree, rev-list, cat-file (8)
    nothing but edio: rev-parse, config, for-each-ref, rev-parse, config, status (6)
    doctor: rev-parse, config, version, ls-files, for-each-ref, rev-list, cat-file (7)
    init: rev-parse, config, ls-files, check-ignore (4)
    ");
}

#[test]
fn p7_the_processes_of_accept() {
    let repo = session(3, 5);
    let plain = processes(&repo, &["accept", "-m", "plain"]);
    repo.write("src/0", "two");
    repo.edio(["snapshot"]).ok();
    repo.write("src/1", "mine");
    repo.git(["commit", "-q", "-m", "mine", "src/1"]);
    let merged = processes(&repo, &["accept", "-m", "merged"]);
    assert_snapshot!(listing([("plain", &plain), ("after a commit", &merged)]), @"
    plain: rev-parse, config, ls-files, for-each-ref, status, cat-file, cat-file, diff-tree, rev-parse, for-each-ref, for-each-ref, diff-tree, commit-tree, ls-files, symbolic-ref, rev-parse, ls-files, update-index, write-tree, hash-object, for-each-ref, hash-object, update-ref, ls-files, update-index, update-index, hash-object, update-ref, update-ref, for-each-ref, for-each-ref, update-ref, update-ref, for-each-ref, rev-list, cat-file (36)
    after a commit: rev-parse, config, ls-files, for-each-ref, ls-files, status, cat-file, cat-file, cat-file, update-index, write-tree, diff-tree, diff-tree, diff-tree, diff-tree, hash-object, hash-object, hash-object, hash-object, update-ref, merge-tree, diff-tree, rev-parse, for-each-ref, for-each-ref, diff-tree, commit-tree, ls-files, symbolic-ref, rev-parse, ls-files, update-index, write-tree, hash-object, for-each-ref, hash-object, update-ref, ls-files, update-index, update-index, hash-object, update-ref, update-ref, for-each-ref, for-each-ref, update-ref, update-ref, for-each-ref, rev-list, cat-file (50)
    ");
}

#[test]
fn p7_the_processes_of_going_back_and_forth() {
    let repo = session(3, 5);
    repo.write("src/1", "one");
    repo.edio(["snapshot"]).ok();
    let undo_turn = processes(&repo, &["undo"]);
    repo.edio(["restore", "1"]).ok();
    let undo_restore = processes(&repo, &["undo"]);
    let redo = processes(&repo, &["redo"]);
    let revert = processes(&repo, &["revert", "1"]);
    assert_snapshot!(listing([
        ("undo a turn", &undo_turn),
        ("undo a restore", &undo_restore),
        ("redo", &redo),
        ("revert", &revert),
    ]), @r"
    undo a turn: rev-parse, config, status, for-each-ref, cat-file, diff-tree, hash-object, update-ref, update-ref (9)
    undo a restore: rev-parse, config, status, for-each-ref, rev-list, cat-file, cat-file, diff-tree, hash-object, update-ref, update-ref (11)
    redo: rev-parse, config, status, for-each-ref, rev-list, cat-file, cat-file, cat-file, unpack-objects, diff-tree, hash-object, update-ref, update-ref (13)
    revert: rev-parse, config, for-each-ref, status, cat-file, hash-object, hash-object, hash-object, merge-tree, cat-file, cat-file, unpack-objects, diff-tree, diff-tree, hash-object, hash-object, update-ref, update-ref (18)
    ");
}

#[test]
fn p7_the_processes_of_run() {
    let repo = session(1, 5);
    let nothing = processes(&repo, &["run", "true"]);
    let work = processes(&repo, &["run", "sh", "-c", "echo work >src/0"]);
    repo.write("src/1", "mine");
    let both = processes(&repo, &["run", "sh", "-c", "echo more >src/0"]);
    assert_snapshot!(listing([
        ("nothing changed", &nothing),
        ("work", &work),
        ("work after the person's", &both),
    ]), @r"
    nothing changed: rev-parse, config, status, rev-parse, config, status (6)
    work: rev-parse, config, status, rev-parse, config, status, cat-file, unpack-objects, diff-tree, hash-object, update-ref (11)
    work after the person's: rev-parse, config, status, cat-file, unpack-objects, diff-tree, hash-object, update-ref, rev-parse, config, status, cat-file, unpack-objects, diff-tree, hash-object, update-ref (16)
    ");
}

/// How many processes each verb starts in a session of this size, where half of the files change before each.
fn counts(turns: usize, files: usize, verbs: &[&[&str]]) -> Vec<String> {
    let repo = session(turns, files);
    let counted = verbs.iter().map(|words| {
        for n in 0..files / 2 {
            repo.write(format!("src/{n}"), words.join(" "));
        }
        format!("{}: {}", words.join(" "), processes(&repo, words).count())
    });
    counted.collect()
}

#[test]
fn p7_neither_turns_nor_files_start_more_processes() {
    let verbs = [
        &["snapshot"][..],
        &["log"],
        &["log", "src/0"],
        &["show"],
        &["diff", "1..3"],
        &["diff", "--workspace"],
        &["status"],
        &["restore", "2", "--dry-run"],
        &["restore", "2"],
        &["undo"],
        &["redo"],
        &["restore", "4", "-f", "src"],
        &["undo"],
        &["run", "true"],
        &["gc", "--dry-run"],
        &["accept", "-m", "all"],
    ];
    assert_eq!(counts(5, 10, &verbs), counts(40, 100, &verbs));
}

#[test]
fn p7_log_with_patches_asks_for_one_patch_a_turn() {
    let count = |turns| processes(&session(turns, 10), &["log", "-p"]).count();
    assert_eq!(count(5) + 7, count(12));
}

#[test]
fn p7_turns_start_no_more_processes_of_log_with_distances() {
    let verbs = [&["log", "--distance"][..]];
    assert_eq!(counts(5, 10, &verbs), counts(12, 10, &verbs));
}

/// A session of so many turns of so many steps each, and as many steps on the way to the next one.
fn with_steps(turns: u32, steps: u32) -> Repo {
    let repo = session(1, 5);
    let take_steps = |turn: u32| {
        for step in 1..=steps {
            repo.write("src/0", format!("turn {turn}, step {step}\n"));
            repo.step(&format!("{turn}.{step}"));
        }
    };
    for turn in 2..=turns {
        take_steps(turn);
        repo.edio(["snapshot", "-m", &format!("turn {turn}")]).ok();
    }
    take_steps(turns + 1);
    repo
}

#[test]
fn p7_neither_turns_nor_their_steps_start_more_processes() {
    let verbs = [
        &["log"][..],
        &["log", "--steps"],
        &["log", "src/0"],
        &["show"],
        &["show", "3.2"],
        &["show", "@-2"],
        &["diff", "0..2.1"],
        &["gc", "--dry-run"],
        &["accept", "-m", "all", "--dry-run"],
        &["snapshot"],
        &["rewind", "1", "--dry-run"],
        &["revert", "2..last", "--dry-run"],
        &["revert", "last"],
        &["undo"],
        &["undo"],
        &["redo"],
        &["restore", "2"],
        &["undo"],
        &["restore", "@-2", "-f", "src/0"],
        &["restore", "1"],
        &["accept", "-m", "all"],
    ];
    let counts = |turns, steps| {
        let repo = with_steps(turns, steps);
        repo.git(["config", "edio.keepTurns", "2"]);
        let counted = verbs.iter().map(|words| {
            let count = processes(&repo, words).count();
            format!("{}: {count}", words.join(" "))
        });
        counted.collect::<Vec<_>>()
    };
    assert_eq!(counts(3, 2), counts(12, 6));
}

/// A repository where so many sessions are archived, and one is under way.
fn sessions(archived: usize) -> Repo {
    let repo = session(1, 5);
    for n in 0..archived {
        repo.edio(["accept", "-m", &format!("session {n}")]).ok();
        repo.write("src/0", format!("after {n}\n"));
        repo.edio(["snapshot"]).ok();
    }
    repo
}

#[test]
fn p7_sessions_start_no_more_processes_of_accept() {
    let words = ["accept", "-m", "done"];
    assert_eq!(
        processes(&sessions(1), &words).count(),
        processes(&sessions(4), &words).count()
    );
}

#[test]
fn p7_files_that_the_user_has_committed_since_start_no_more_processes_of_accept() {
    let accept = |files: usize| {
        let repo = session(1, files);
        for turn in ["first", "second"] {
            for n in 0..files {
                repo.write(format!("src/{n}"), format!("{n}, {turn}\n"));
            }
            repo.edio(["snapshot", "-m", turn]).ok();
            if turn == "first" {
                repo.git(["commit", "-q", "-a", "-m", "mine"]);
            }
        }
        processes(&repo, &["accept", "rest"]).count()
    };
    assert_eq!(accept(500), accept(5));
}

#[test]
fn p7_sessions_start_no_more_processes_of_looking() {
    let (few, many) = (sessions(1), sessions(4));
    let looks = [
        &["log"][..],
        &["log", "--all"],
        &["gc", "--dry-run"],
        &["sessions"],
    ];
    let counted =
        |repo: &Repo| looks.map(|words| (words.join(" "), processes(repo, words).count()));
    assert_eq!(counted(&few), counted(&many));
}

#[test]
fn the_counter_counts_children_too() {
    let repo = session(0, 2);
    let told = repo.outside().join("told");
    fs::create_dir(&told).unwrap();
    let mut git = Command::new("git");
    repo.surround(&mut git);
    let alias = "alias.twice=!git version; git -c a.b=c version";
    git.current_dir(&repo.top)
        .args(["-c", alias, "twice"])
        .env("GIT_TRACE2_EVENT", &told);
    repo.ran(&mut git).ok();
    assert_eq!(fs::read_dir(told).unwrap().count(), 3);
}
