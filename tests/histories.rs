//! Random histories: whatever a person, git and edio do to a repository, and in which order, the promises hold after
//! each step.
//!
//! What must be true is not computed but seen: each turn's files are what was on disk when it was taken. A few cases
//! are played at each run. For more: `EDIO_HISTORIES=1000 cargo test --test main -- histories::`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestError, TestRunner};
use serde_json::{Value, json};
use sha1::{Digest, Sha1};

use crate::common::{Ran, Repo};

const PATHS: [&str; 12] = [
    "a", "b", "t.crlf", "x.lossy", "d", "d/x", "d/t.crlf", "d/e/z", "i.ign", "d/i.ign", "odd \n*",
    "nested/f",
];

/// Few, and most of one size: what differs in one tick of the clock and keeps its size is the hardest to see.
const CONTENTS: [&[u8]; 9] = [
    b"1\n",
    b"2\n",
    b"3\n",
    b"",
    b"1\r\n",
    b"2\r\n",
    b"1\nOUT 1\n",
    b"1\nOUT 2\n",
    b"\0\xff\r\n",
];

const RULES: [&str; 6] = [
    "*.ign\n",
    "*.ign\nd/\n",
    "",
    "*.ign\n!d/i.ign\n",
    "x.*\n*.ign\n",
    "*\n",
];

const ATTRIBUTES: [&str; 5] = [
    "*.crlf text\n*.lossy filter=lossy\n",
    "* text=auto\n",
    "",
    "*.crlf eol=crlf\nx.* ident\n",
    "*.lossy filter=broken\n",
];

#[derive(Clone, Debug)]
enum Step {
    Write(&'static str, usize),
    Chmod(&'static str),
    Link(&'static str, &'static str),
    Delete(&'static str),
    Rename(&'static str, &'static str),
    Rules(&'static str, usize),
    Attributes(usize),
    Git(&'static [&'static str]),
    GitWith(&'static [&'static str], &'static str),
    Nest,
    LoseScratch,
    Edio(Verb),
    /// A verb, then `undo`, then `redo`.
    ThereAndBack(Verb),
}

#[derive(Clone, Debug)]
enum Verb {
    Snapshot,
    SnapshotIfChanged,
    Run(&'static str, usize),
    Restore(usize),
    RestorePath(usize, &'static str),
    Revert(usize),
    Undo,
    Redo,
    Accept,
    AcceptTurn(usize),
    Close,
    Gc,
    Forget(&'static str),
    Look(&'static str),
    Hook(Event),
}

/// What an agent tells.
#[derive(Clone, Debug)]
enum Event {
    Told,
    Wrote(&'static str),
    Ran,
    Stopped,
}

impl Event {
    fn payload(&self, top: &Path) -> String {
        let name = match self {
            Event::Told => "UserPromptSubmit",
            Event::Wrote(_) | Event::Ran => "PostToolUse",
            Event::Stopped => "Stop",
        };
        let (tool, input) = match self {
            Event::Wrote(path) => ("Write", json!({ "file_path": top.join(path) })),
            _ => ("Bash", json!({})),
        };
        let event = json!({
            "session_id": "s", "cwd": top, "hook_event_name": name, "prompt": "do it",
            "tool_name": tool, "tool_input": input,
        });
        event.to_string()
    }
}

fn event() -> impl Strategy<Value = Event> {
    let path = prop::sample::select(PATHS.to_vec());
    prop_oneof![
        2 => Just(Event::Told),
        5 => path.prop_map(Event::Wrote),
        1 => Just(Event::Ran),
        2 => Just(Event::Stopped),
    ]
}

fn verb() -> impl Strategy<Value = Verb> {
    let path = || prop::sample::select(PATHS.to_vec());
    prop_oneof![
        6 => Just(Verb::Snapshot),
        3 => Just(Verb::SnapshotIfChanged),
        1 => (path(), 0..CONTENTS.len()).prop_map(|(path, content)| Verb::Run(path, content)),
        6 => (0..20_usize).prop_map(Verb::Restore),
        3 => (0..20_usize, path()).prop_map(|(turn, path)| Verb::RestorePath(turn, path)),
        2 => (1..20_usize).prop_map(Verb::Revert),
        2 => Just(Verb::Undo),
        2 => Just(Verb::Redo),
        1 => Just(Verb::Accept),
        1 => (1..20_usize).prop_map(Verb::AcceptTurn),
        1 => Just(Verb::Close),
        1 => Just(Verb::Gc),
        1 => path().prop_map(Verb::Forget),
        1 => prop::sample::select(vec!["status", "log", "diff"]).prop_map(Verb::Look),
        6 => event().prop_map(Verb::Hook),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let path = || prop::sample::select(PATHS.to_vec());
    let alone: Vec<&'static [&'static str]> = vec![
        &["add", "-A"],
        &["reset", "-q"],
        &["commit", "-qam", "theirs"],
        &["checkout", "-q", "-B", "other"],
        &["checkout", "-q", "main"],
        &["checkout", "-q", "--detach"],
        &["reset", "-q", "--hard"],
        &["stash", "-q", "-u"],
        &["stash", "pop", "-q"],
        &["gc", "-q", "--prune=now"],
        &["status"],
    ];
    let with_path: Vec<&'static [&'static str]> = vec![
        &["add"],
        &["add", "-f"],
        &["add", "-N"],
        &["rm", "-qrf", "--cached"],
    ];
    prop_oneof![
        10 => (path(), 0..CONTENTS.len()).prop_map(|(path, content)| Step::Write(path, content)),
        1 => path().prop_map(Step::Chmod),
        1 => (path(), prop::sample::select(vec!["a", "d", "../outside", ".git/config"]))
            .prop_map(|(path, target)| Step::Link(path, target)),
        4 => path().prop_map(Step::Delete),
        1 => (path(), path()).prop_map(|(from, to)| Step::Rename(from, to)),
        2 => (prop::sample::select(vec![".gitignore", "d/.gitignore", ".git/info/exclude"]), 0..RULES.len())
            .prop_map(|(file, rule)| Step::Rules(file, rule)),
        1 => (0..ATTRIBUTES.len()).prop_map(Step::Attributes),
        3 => prop::sample::select(alone).prop_map(Step::Git),
        2 => (prop::sample::select(with_path), path()).prop_map(|(words, path)| Step::GitWith(words, path)),
        1 => Just(Step::Nest),
        1 => Just(Step::LoseScratch),
        14 => verb().prop_map(Step::Edio),
        4 => verb().prop_map(Step::ThereAndBack),
    ]
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Node {
    kind: &'static str,
    bytes: Vec<u8>,
}

impl Node {
    /// The id that git gives to these bytes.
    fn oid(&self) -> String {
        let mut hash = Sha1::new();
        hash.update(format!("blob {}\0", self.bytes.len()));
        hash.update(&self.bytes);
        hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
    }
}

type Disk = BTreeMap<String, Node>;

/// Everything below a folder but `.git`, which is named alone where it stands in a folder below.
fn read(top: &Path, folder: &Path, found: &mut Disk) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(top).unwrap().to_str().unwrap().to_owned();
        let meta = path.symlink_metadata().unwrap();
        if path.file_name().is_some_and(|name| name == ".git") {
            continue;
        } else if meta.is_dir() {
            read(top, &path, found);
            continue;
        }
        let (kind, bytes) = if meta.is_symlink() {
            let target = fs::read_link(&path).unwrap();
            ("link", target.to_str().unwrap().as_bytes().to_vec())
        } else {
            let kind = match meta.permissions().mode() & 0o100 {
                0 => "file",
                _ => "run",
            };
            (kind, fs::read(&path).unwrap())
        };
        found.insert(name, Node { kind, bytes });
    }
}

/// A repository, and what has been seen of it.
struct World {
    repo: Repo,
    /// What was on disk, for each turn's commit: its paths only.
    turns: BTreeMap<String, Disk>,
}

/// What stands before and after a command.
struct Seen {
    disk: Disk,
    theirs: Vec<String>,
    turns: BTreeSet<String>,
}

impl World {
    fn new() -> Self {
        let repo = Repo::with(&[
            (".gitignore", RULES[0]),
            (".gitattributes", ATTRIBUTES[0]),
            ("a", "1\n"),
            ("t.crlf", "1\n"),
            ("x.lossy", "1\n"),
            ("d/x", "1\n"),
        ]);
        repo.git(["config", "filter.lossy.clean", "sed /^OUT/d"]);
        repo.git(["config", "filter.broken.clean", "false"]);
        let turns = BTreeMap::new();
        Self { repo, turns }
    }

    fn disk(&self) -> Disk {
        let mut found = Disk::new();
        read(&self.repo.top, &self.repo.top, &mut found);
        found
    }

    fn see(&self) -> Seen {
        Seen {
            disk: self.disk(),
            theirs: self.repo.git_files(),
            turns: self.turn_commits().into_values().collect(),
        }
    }

    /// The turns of the session under way: the commit of each number.
    fn turn_commits(&self) -> BTreeMap<u32, String> {
        let format = "--format=%(refname) %(objectname)";
        let refs = self.repo.git(["for-each-ref", format, "refs/edio/active"]);
        let turn = |line: &str| {
            let (name, oid) = line.split_once(' ')?;
            Some((name.rsplit('/').next()?.parse().ok()?, oid.to_owned()))
        };
        refs.lines().filter_map(turn).collect()
    }

    /// The paths that a commit's tree holds, but for submodules.
    fn paths_in(&self, commit: &str) -> BTreeSet<String> {
        let listed = self.repo.git_raw(["ls-tree", "-r", "-z", commit]);
        let entries = listed.split('\0').filter(|entry| !entry.is_empty());
        let blobs = entries.filter(|entry| !entry.starts_with("160000"));
        blobs
            .map(|entry| entry.split_once('\t').unwrap().1.to_owned())
            .collect()
    }

    fn plays(&mut self, step: &Step) {
        let repo = &self.repo;
        match step {
            Step::Write(path, content) => {
                self.make_way(path);
                repo.write(path, CONTENTS[*content]);
            }
            Step::Link(path, target) => {
                self.make_way(path);
                fs::create_dir_all(repo.path(path).parent().unwrap()).unwrap();
                repo.link(path, target);
            }
            Step::Chmod(path) if self.is_file(path) => {
                let mode = fs::metadata(repo.path(path)).unwrap().permissions().mode();
                repo.chmod(path, (mode & 0o777) ^ 0o111);
            }
            Step::Delete(path) if self.is_there(path) => repo.remove(path),
            Step::Rename(from, to) if self.is_file(from) && from != to => {
                let aside = repo.path("renamed for a moment");
                fs::rename(repo.path(from), &aside).unwrap();
                self.make_way(to);
                fs::create_dir_all(repo.path(to).parent().unwrap()).unwrap();
                fs::rename(aside, repo.path(to)).unwrap();
            }
            Step::Rules(file, rule) => {
                self.make_way(file);
                repo.write(file, RULES[*rule]);
            }
            Step::Attributes(rule) => {
                self.make_way(".gitattributes");
                repo.write(".gitattributes", ATTRIBUTES[*rule]);
            }
            // Some can't be done at the moment.
            Step::Git(words) => {
                repo.git_says(*words);
            }
            Step::GitWith(words, path) => {
                repo.git_says(words.iter().chain([&"--", path]));
            }
            Step::Nest if self.is_there("nested/.git") => repo.remove("nested/.git"),
            Step::Nest => {
                self.make_way("nested/g");
                repo.git(["init", "-q", "nested"]);
            }
            Step::LoseScratch => drop(fs::remove_dir_all(repo.path(".git/edio"))),
            Step::Edio(verb) => drop(self.does(verb)),
            Step::ThereAndBack(verb) => self.goes_there_and_back(verb),
            Step::Chmod(_) | Step::Delete(_) | Step::Rename(..) => {}
        }
    }

    /// Is there something, reached without going through a link or file?
    fn is_there(&self, path: &str) -> bool {
        let folders = path.match_indices('/').map(|(end, _)| &path[..end]);
        let is_folder = |folder: &str| {
            let meta = self.repo.path(folder).symlink_metadata();
            meta.is_ok_and(|meta| meta.is_dir())
        };
        folders.into_iter().all(is_folder) && self.repo.path(path).symlink_metadata().is_ok()
    }

    fn is_file(&self, path: &str) -> bool {
        let is_file = |path| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file());
        self.is_there(path) && is_file(self.repo.path(path))
    }

    /// Removes what stands at a path or in its way.
    fn make_way(&self, path: &str) {
        for (end, _) in path.match_indices('/') {
            let meta = self.repo.path(&path[..end]).symlink_metadata();
            if meta.is_ok_and(|meta| !meta.is_dir()) {
                self.repo.remove(&path[..end]);
            }
        }
        if self.repo.path(path).symlink_metadata().is_ok() {
            self.repo.remove(path);
        }
    }

    /// The words of a verb; `None` where there is no such turn.
    fn words(&self, verb: &Verb) -> Option<Vec<String>> {
        let last = self.turn_commits().into_keys().max();
        let turn = |number: &usize| Some((*number as u32 % (last? + 1)).to_string());
        let words = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect());
        match verb {
            Verb::Snapshot => words(&["snapshot", "--json"]),
            Verb::SnapshotIfChanged => words(&["snapshot", "--if-changed"]),
            Verb::Run(path, content) => {
                // A link may lead to the user's own config.
                let script = "test -d \"$(dirname \"$0\")\" && ! test -d \"$0\" && ! test -L \"$0\" && \
                              printf \"$1\" > \"$0\"; true";
                let content = String::from_utf8_lossy(CONTENTS[*content]).replace('\0', "0");
                words(&["run", "--", "sh", "-c", script, path, &content])
            }
            Verb::Restore(number) => words(&["restore", &turn(number)?, "--json"]),
            Verb::RestorePath(number, path) => {
                words(&["restore", &turn(number)?, "-f", path, "--json"])
            }
            Verb::Revert(number) => words(&["revert", &turn(number)?, "--json"]),
            Verb::Undo => words(&["undo", "--json"]),
            Verb::Redo => words(&["redo", "--json"]),
            Verb::Accept => words(&["accept", "--here", "feat", "--json"]),
            Verb::AcceptTurn(number) => words(&[
                "accept",
                "--here",
                "--turn",
                &turn(number)?,
                "feat",
                "--json",
            ]),
            Verb::Close => words(&["sessions", "--close"]),
            Verb::Gc => words(&["gc"]),
            Verb::Forget(path) => words(&["forget", "--yes", "-f", path]),
            Verb::Look(verb) => words(&[verb]),
            Verb::Hook(_) => words(&["hook", "claude"]),
        }
    }

    /// Runs a verb, and holds what it did against the promises.
    fn does(&mut self, verb: &Verb) -> Option<Ran> {
        // What these take of themselves is in no list afterwards.
        if matches!(verb, Verb::Close | Verb::Accept | Verb::AcceptTurn(_)) {
            self.does(&Verb::SnapshotIfChanged);
        }
        let words = self.words(verb)?;
        let before = self.see();
        let numbered = self.turn_commits();
        let ran = match verb {
            Verb::Hook(event) => self.repo.edio_fed(&words, event.payload(&self.repo.top)),
            _ => self.repo.edio(&words),
        };
        assert!(matches!(ran.code, Some(0..=3)), "{words:?}: {ran}");
        assert!(!ran.stderr.contains("panicked"), "{words:?}: {ran}");
        let after = self.see();
        let what = format!("{words:?}: {ran}");
        if !matches!(
            verb,
            Verb::Accept | Verb::AcceptTurn(_) | Verb::Undo | Verb::Redo | Verb::Forget(_)
        ) {
            assert_eq!(before.theirs, after.theirs, "P1, {what}");
        }
        let is_run = matches!(verb, Verb::Run(..));
        if !is_run {
            self.nothing_is_lost(&before.disk, &after.disk, &what);
        }
        if let Verb::Forget(path) = verb {
            self.forgets(path, &numbered);
        }
        self.remember(&before, &after, &what);
        match verb {
            Verb::Restore(_) if ran.code == Some(0) => self.is_restored(&ran, &before, &after),
            Verb::RestorePath(_, path) if ran.code == Some(0) => {
                self.is_restored_at(path, &ran, &before, &after);
            }
            Verb::Restore(_) | Verb::RestorePath(..) | Verb::Revert(_) if ran.code != Some(0) => {
                assert_eq!(before.disk, after.disk, "nothing half done, {what}");
            }
            Verb::Snapshot
            | Verb::SnapshotIfChanged
            | Verb::Look(_)
            | Verb::Gc
            | Verb::Close
            | Verb::Forget(_)
            | Verb::Accept
            | Verb::Hook(_)
            | Verb::AcceptTurn(_) => {
                assert_eq!(before.disk, after.disk, "P1, {what}");
            }
            _ => {}
        }
        Some(ran)
    }

    /// P4: what was on disk, and is there no more, is reachable from a ref.
    fn nothing_is_lost(&self, before: &Disk, after: &Disk, what: &str) {
        let gone = before
            .iter()
            .filter(|(path, node)| after.get(*path).is_none_or(|now| now.bytes != node.bytes));
        let gone: Vec<_> = gone.collect();
        if gone.is_empty() {
            return;
        }
        let reachable = self.repo.git(["rev-list", "--objects", "--all"]);
        for (path, node) in gone {
            assert!(
                reachable.contains(&node.oid()),
                "P4: {path:?} is lost, {what}"
            );
        }
    }

    /// Notes what new turns hold: what was on disk before the command where it is a safety turn, else after it.
    fn remember(&mut self, before: &Seen, after: &Seen, what: &str) {
        let records = match after.turns.is_subset(&before.turns) {
            true => Vec::new(),
            false => self.repo.edio(["log", "--json"]).json(),
        };
        for record in records {
            let commit = record["commit"].as_str().unwrap();
            // An undone accept or close brings back turns that are known.
            if before.turns.contains(commit) || self.turns.contains_key(commit) {
                continue;
            }
            // A step of named files may have led to it: it holds these as they were, and the rest of the turn before.
            if record["status"] == "interrupted" {
                continue;
            }
            let is_before = matches!(record["kind"].as_str(), Some("safety" | "human"));
            let disk = match is_before {
                true => &before.disk,
                false => &after.disk,
            };
            // Of what it names as not held, it has what was there before. What no filter made a blob of it holds as it is.
            let is_held = |it: &Value| it["why"].as_str().unwrap().contains("held as they are");
            let skipped = record["skipped"].as_array().unwrap().iter();
            let skipped = skipped.filter(|it| !is_held(it));
            let skipped: Vec<&str> = skipped.filter_map(|it| it["path"].as_str()).collect();
            let mut paths = self.paths_in(commit);
            paths.retain(|path| !skipped.iter().any(|folder| is_within(path, folder)));
            for path in &paths {
                assert!(
                    disk.contains_key(path),
                    "P2: {path:?} is in the turn only, {what}"
                );
            }
            let held = disk.iter().filter(|(path, _)| paths.contains(*path));
            let held = held.map(|(path, node)| (path.clone(), node.clone()));
            self.turns.insert(commit.to_owned(), held.collect());
        }
    }

    /// The turns that were written anew hold the same, but for a path.
    fn forgets(&mut self, path: &str, before: &BTreeMap<u32, String>) {
        for (number, new) in self.turn_commits() {
            let Some(held) = before.get(&number).and_then(|old| self.turns.get(old)) else {
                continue;
            };
            let mut held = held.clone();
            held.retain(|other, _| !is_within(other, path));
            self.turns.entry(new).or_insert(held);
        }
    }

    /// P3, for the whole work tree.
    fn is_restored(&self, ran: &Ran, before: &Seen, after: &Seen) {
        let record = &ran.json()[0];
        let target = record["commit"].as_str().unwrap();
        let kept = paths_with(record, "keep");
        // Of turn 0 nobody may have seen the bytes.
        let Some(held) = self.turns.get(target) else {
            return;
        };
        for (path, node) in held.iter().filter(|(path, _)| !kept.contains(*path)) {
            assert_eq!(after.disk.get(path), Some(node), "P3: {path:?}, {ran}");
        }
        let written = paths_with(record, "write");
        let removed = paths_with(record, "remove");
        for path in before.disk.keys().chain(after.disk.keys()) {
            if !held.contains_key(path) && !written.contains(path) && !removed.contains(path) {
                let (then, now) = (before.disk.get(path), after.disk.get(path));
                assert_eq!(then, now, "P3: {path:?} was touched, {ran}");
            }
        }
        // What this session has seen, and the turn lacks, is gone.
        let seen = match record["safety_turn"].as_u64() {
            Some(number) => self.turn_commits().get(&(number as u32)).cloned(),
            None => None,
        };
        for path in seen.iter().flat_map(|commit| self.turns[commit].keys()) {
            if !held.contains_key(path) && !kept.contains(path) {
                assert!(
                    !after.disk.contains_key(path),
                    "P3: {path:?} is still there, {ran}"
                );
            }
        }
    }

    /// P3, for one path and what is below it.
    fn is_restored_at(&self, wanted: &str, ran: &Ran, before: &Seen, after: &Seen) {
        let record = &ran.json()[0];
        let target = record["commit"].as_str().unwrap();
        let kept = paths_with(record, "keep");
        let is_within = |path: &str| is_within(path, wanted);
        for path in before
            .disk
            .keys()
            .chain(after.disk.keys())
            .filter(|path| !is_within(path))
        {
            let (then, now) = (before.disk.get(path), after.disk.get(path));
            // But for what stands where the path needs a folder.
            let in_the_way = wanted.starts_with(&format!("{path}/"));
            assert!(then == now || in_the_way, "P3: {path:?} was touched, {ran}");
        }
        let held = self.turns.get(target).into_iter().flatten();
        for (path, node) in held.filter(|(path, _)| is_within(path) && !kept.contains(*path)) {
            assert_eq!(after.disk.get(path), Some(node), "P3: {path:?}, {ran}");
        }
    }

    /// A verb that changed something is taken back by `undo`, and done again by `redo`.
    fn goes_there_and_back(&mut self, verb: &Verb) {
        let can_be_undone = matches!(
            verb,
            Verb::Restore(_) | Verb::RestorePath(..) | Verb::Revert(_) | Verb::Accept | Verb::Close
        );
        if !can_be_undone {
            return drop(self.does(verb));
        }
        let (before, head) = (self.disk(), self.head());
        let Some(ran) = self.does(verb).filter(|ran| ran.code == Some(0)) else {
            return;
        };
        let (after, head_after) = (self.disk(), self.head());
        if before == after && head == head_after {
            return;
        }
        let undone = self.does(&Verb::Undo).unwrap();
        assert_eq!(undone.code, Some(0), "{verb:?} {ran} {undone}");
        assert_eq!(
            (self.disk(), self.head()),
            (before, head),
            "{verb:?} {ran} {undone}"
        );
        let redone = self.does(&Verb::Redo).unwrap();
        assert_eq!(redone.code, Some(0), "{verb:?} {ran} {undone} {redone}");
        assert_eq!(
            (self.disk(), self.head()),
            (after, head_after),
            "{verb:?} {ran} {redone}"
        );
    }

    fn head(&self) -> String {
        self.repo.git(["rev-parse", "HEAD"])
    }
}

/// Is it this path, or below it?
fn is_within(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The paths of a record's plan with which this is done.
fn paths_with(record: &Value, action: &str) -> BTreeSet<String> {
    let plan = record["plan"].as_array().unwrap();
    let wanted = plan.iter().filter(|entry| entry["action"] == action);
    wanted
        .map(|entry| entry["path"].as_str().unwrap().to_owned())
        .collect()
}

fn play(steps: &[Step]) {
    let mut world = World::new();
    for step in steps {
        world.plays(step);
    }
    world.repo.fsck();
}

#[test]
fn the_promises_hold_whatever_happened_before() {
    let cases = std::env::var("EDIO_HISTORIES").map_or(16, |cases| cases.parse().unwrap());
    let seed = std::env::var("PROPTEST_RNG_SEED")
        .map_or_else(|_| rand::random(), |seed| seed.parse().unwrap());
    let config = ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: std::env::var("PROPTEST_MAX_SHRINK_ITERS")
            .map_or(150, |it| it.parse().unwrap()),
        ..ProptestConfig::default()
    };
    let steps = prop::collection::vec(step(), 20);
    let outcome = TestRunner::new(config).run(&steps, |steps| {
        play(&steps);
        Ok(())
    });
    // The smallest case that was found becomes a test of its own.
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(why, steps)) => {
            panic!("PROPTEST_RNG_SEED={seed}: {why}\n{steps:?}");
        }
        Err(TestError::Abort(why)) => panic!("PROPTEST_RNG_SEED={seed}: {why}"),
    }
}
