//! edio killed at every git command that it starts, before it and after it, and between the files that it writes: P5
//! (never in between) and P4 (nothing is lost).

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Ran, Repo};

/// When the edio that started a git is killed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum When {
    /// Before that git does anything.
    Before,
    /// When that git has done its work.
    After,
    /// When that git, which prints file contents, has printed so many bytes, and edio waits for more.
    Printed(usize),
}

/// What is killed: a command in a repository that was made ready for it.
struct Scene {
    repo: Repo,
    words: &'static [&'static str],
    /// As it was made ready: the scratch copy of it is where edio is killed.
    ready: PathBuf,
    before: State,
    after: State,
}

/// What a person sees of a repository.
#[derive(Debug, PartialEq, Eq, Clone)]
struct State {
    files: Vec<String>,
    head: String,
    staged: String,
}

impl Scene {
    fn new(repo: Repo, words: &'static [&'static str]) -> Self {
        let ready = repo.outside().join("ready");
        copy(&repo.top, &ready);
        let before = State::of(&repo);
        repo.edio(words).ok();
        let after = State::of(&repo);
        copy(&ready, &repo.top);
        let scene = Self {
            repo,
            words,
            ready,
            before,
            after,
        };
        scene.write_killer();
        scene
    }

    /// A git that counts how often it is called, and kills who called it the N-th time.
    fn write_killer(&self) {
        let paths = crate::common::path();
        let mut found = paths.split(':').map(|folder| format!("{folder}/git"));
        let real = found.find(|git| fs::metadata(git).is_ok()).unwrap();
        let git = self.repo.outside().join("bin/git");
        self.repo.write(
            &git,
            format!(
                "#!/bin/sh\n\
                 calls=0\n\
                 set -C\n\
                 until {{ true > \"$COUNT.$calls\"; }} 2>/dev/null; do calls=$((calls + 1)); done\n\
                 [ $calls = \"$KILL_AT\" ] || exec {real} \"$@\"\n\
                 case $KILL_WHEN in\n\
                 before) ;;\n\
                 after) {real} \"$@\" ;;\n\
                 *) {real} \"$@\" | head -c $KILL_WHEN\n\
                    state=R\n\
                    while [ \"$state\" = R ] || [ \"$state\" = D ]; do read -r _ _ state _ < /proc/$PPID/stat; done ;;\n\
                 esac\n\
                 kill -9 $PPID\n"
            ),
        );
        self.repo.chmod(&git, 0o755);
    }

    /// Runs the command until the N-th git that it starts.
    fn killed(&self, at: usize, when: When) -> Ran {
        let (bin, counts) = (
            self.repo.outside().join("bin"),
            self.repo.outside().join("counts"),
        );
        let _ = fs::remove_dir_all(&counts);
        fs::create_dir(&counts).unwrap();
        let path = format!("{}:{}", bin.display(), crate::common::path());
        let mut command = self.repo.command(self.words);
        command.env("PATH", path).env("COUNT", counts.join("call"));
        command.env("KILL_AT", at.to_string());
        command.env(
            "KILL_WHEN",
            match when {
                When::Before => "before".to_owned(),
                When::After => "after".to_owned(),
                When::Printed(bytes) => bytes.to_string(),
            },
        );
        self.repo.ran(&mut command)
    }

    /// Kills it there, and looks at what the next commands make of it. Returns whether it was killed at all.
    fn survives(&self, at: usize, when: When) -> bool {
        let repo = &self.repo;
        copy(&self.ready, &repo.top);
        let killed = self.killed(at, when);
        let what = format!("edio {:?}, killed {when:?} call {at}", self.words);
        if killed.code.is_some() {
            assert_eq!(killed.code, Some(0), "{what}: {killed}");
            assert_eq!(State::of(repo), self.after, "{what}, which it was not");
            return false;
        }
        self.holds(&what, at);
        true
    }

    fn holds(&self, what: &str, at: usize) {
        let repo = &self.repo;
        // Sometimes the next command is one that only looks.
        if at.is_multiple_of(3) {
            let status = repo.edio(["status"]);
            assert_eq!(status.code, Some(0), "{what}: {status}");
        }
        let next = repo.edio(["snapshot", "--if-changed"]);
        assert_eq!(next.code, Some(0), "{what}: {next}");
        let now = State::of(repo);
        assert!(
            now == self.before || now == self.after,
            "{what}: neither the state before nor the one after\nthe next command said: {next}\n\
             now {now:#?}\nbefore {:#?}\nafter {:#?}",
            self.before,
            self.after
        );
        assert_eq!(left_behind(&repo.top), Vec::<PathBuf>::new(), "{what}");
        self.nothing_is_lost(&now, what);
        if at % 8 < 2 {
            self.goes_on(&now, what);
        }
    }

    fn goes_on(&self, now: &State, what: &str) {
        let repo = &self.repo;
        repo.fsck();
        repo.write("goes on", "1\n");
        let ran = repo.edio(["snapshot", "-m", "goes on"]);
        assert_eq!(ran.code, Some(0), "{what}: {ran}");
        let files = repo.manifest();
        let ran = repo.edio(["undo"]);
        assert_eq!(ran.code, Some(0), "{what}: {ran}");
        assert_eq!(State::of(repo), *now, "{what}: the next turn undone");
        let ran = repo.edio(["redo"]);
        assert_eq!(ran.code, Some(0), "{what}: {ran}");
        assert_eq!(repo.manifest(), files, "{what}: and done again");
    }

    /// Whatever file there was before is on disk, or reachable from a ref.
    fn nothing_is_lost(&self, now: &State, what: &str) {
        let repo = &self.repo;
        let gone = self
            .before
            .files
            .iter()
            .filter(|line| !now.files.contains(line));
        let names: Vec<&str> = gone.filter_map(|line| line.split('"').nth(1)).collect();
        if names.is_empty() {
            return;
        }
        let files = names
            .iter()
            .map(|name| self.ready.join(name).into_os_string());
        let hash = ["hash-object", "--no-filters", "--"].map(OsString::from);
        let oids = repo.git(hash.into_iter().chain(files));
        let reachable = repo.git(["rev-list", "--objects", "--all"]);
        for (name, oid) in names.iter().zip(oids.lines()) {
            assert!(reachable.contains(oid), "{what}: {name} is lost");
        }
    }

    /// Kills it at every git that it starts, by turns before and after that one, until it starts no more.
    fn survives_everywhere(&self) {
        let when = |at: usize| match at.is_multiple_of(2) {
            true => When::Before,
            false => When::After,
        };
        let kills = (0..).take_while(|at| self.survives(*at, when(*at))).count();
        assert!(
            kills > 4,
            "edio {:?} was killed only {kills} times",
            self.words
        );
    }
}

impl State {
    fn of(repo: &Repo) -> Self {
        Self {
            files: repo.manifest(),
            head: repo.read(".git/refs/heads/main"),
            staged: repo.git(["ls-files", "-s"]),
        }
    }
}

fn copy(from: &Path, to: &Path) {
    if to.exists() {
        fs::remove_dir_all(to).unwrap();
    }
    let copied = Command::new("cp").arg("-a").args([from, to]).status();
    assert!(copied.unwrap().success());
}

/// Locks, and files under the names that a restore uses for a moment.
fn left_behind(top: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![top.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if name.starts_with(".edio-tmp-") || name.ends_with(".lock") {
                found.push(path.clone());
            }
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            }
        }
    }
    found
}

/// Three turns, in which files come and go and change their kinds, behind a lossy filter and line ends; and one
/// that turn 1 alone has.
fn three_turns() -> Repo {
    let repo = Repo::with(&[
        (".gitattributes", "*.t text=auto\n*.x filter=x\n"),
        ("a", "base\n"),
        ("a.t", "base\n"),
        ("a.x", "base\n"),
        ("d/in", "base\n"),
    ]);
    repo.git(["config", "filter.x.clean", "sed /^OUT/d"]);
    repo.write("a", "1\n");
    repo.write("a.t", "1\r\n");
    repo.write("a.x", "1\nOUT 1\n");
    repo.write("ignored later", "1\n");
    repo.edio(["snapshot", "-m", "1"]).ok();
    repo.write("a", "2\n");
    repo.write("a.t", "2\n");
    repo.write("a.x", "2\nOUT 2\n");
    repo.remove("d");
    repo.write("d", "a file now\n");
    repo.remove("ignored later");
    repo.edio(["snapshot", "-m", "2"]).ok();
    repo.write("a", "2\n3\n");
    repo.write("new/3", "3\n");
    repo.edio(["snapshot", "-m", "3"]).ok();
    repo
}

fn with_unsaved() -> Repo {
    let repo = three_turns();
    repo.write("a", "unsaved\n");
    repo.write("a.x", "unsaved\nOUT unsaved\n");
    repo.write("unsaved", "1\r\n");
    repo
}

/// The last of four turns has nothing on disk but what git stores.
fn accepted_soon() -> Repo {
    let repo = three_turns();
    repo.write("a.x", "4\n");
    repo.edio(["snapshot", "-m", "4"]).ok();
    repo
}

#[test]
fn p5_the_first_snapshot() {
    let repo = Repo::with(&[(".gitattributes", "*.t text=auto\n"), ("a", "base\n")]);
    repo.write("a", "1\n");
    repo.write("a.t", "1\r\n");
    Scene::new(repo, &["snapshot", "-m", "killed"]).survives_everywhere();
}

#[test]
fn p5_a_snapshot() {
    Scene::new(with_unsaved(), &["snapshot", "-m", "killed"]).survives_everywhere();
}

#[test]
fn p5_a_restore() {
    Scene::new(with_unsaved(), &["restore", "1"]).survives_everywhere();
}

#[test]
fn p5_a_restore_of_paths() {
    let words = &["restore", "1", "-f", "a", "-f", "a.x", "-f", "a.t"];
    Scene::new(with_unsaved(), words).survives_everywhere();
}

#[test]
fn p5_an_undo() {
    let repo = three_turns();
    repo.edio(["restore", "1"]).ok();
    Scene::new(repo, &["undo"]).survives_everywhere();
}

#[test]
fn p5_a_redo() {
    let repo = three_turns();
    repo.edio(["undo"]).ok();
    repo.edio(["undo"]).ok();
    Scene::new(repo, &["redo"]).survives_everywhere();
}

#[test]
fn p5_a_revert() {
    let repo = three_turns();
    repo.write("other", "unsaved\n");
    Scene::new(repo, &["revert", "3"]).survives_everywhere();
}

#[test]
fn p5_an_accept() {
    let repo = accepted_soon();
    repo.write("staged", "by the user\n");
    repo.git(["add", "staged"]);
    Scene::new(repo, &["accept", "feat"]).survives_everywhere();
}

#[test]
fn p5_an_undo_of_an_accept() {
    let repo = accepted_soon();
    repo.edio(["accept", "feat"]).ok();
    Scene::new(repo, &["undo"]).survives_everywhere();
}

#[test]
fn p5_a_restore_between_its_files() {
    if cfg!(not(target_os = "linux")) {
        return;
    }
    let repo = Repo::with(&[("a", "base\n")]);
    let long = |turn: &str| format!("{turn}\n").repeat(600);
    for turn in ["one", "two"] {
        for number in 0..5 {
            repo.write(format!("d{number}/f"), long(&format!("{turn} {number}")));
        }
        repo.write(format!("only {turn}"), format!("{turn}\n"));
        if turn == "two" {
            repo.remove("only one");
        }
        repo.edio(["snapshot", "-m", turn]).ok();
    }
    repo.write("d1/f", "unsaved\n");
    let scene = Scene::new(repo, &["restore", "1"]);
    let calls = (0..).take_while(|at| scene.killed_only(*at)).count();
    let mut kills = 0;
    for at in 0..calls {
        if !scene.prints_contents(at) {
            continue;
        }
        for bytes in [0, 100, 5000, 9000, 17_000, 23_000] {
            kills += usize::from(scene.survives(at, When::Printed(bytes)));
        }
    }
    assert!(kills >= 5, "{kills}");
}

impl Scene {
    /// Kills it, and does not look. Returns whether it was killed at all.
    fn killed_only(&self, at: usize) -> bool {
        copy(&self.ready, &self.repo.top);
        self.killed(at, When::Before).code.is_none()
    }

    /// Is the work tree half done where the N-th git has printed something?
    fn prints_contents(&self, at: usize) -> bool {
        copy(&self.ready, &self.repo.top);
        let killed = self.killed(at, When::Printed(9000));
        let half = self.repo.manifest();
        killed.code.is_none() && half != self.before.files && half != self.after.files
    }
}

#[test]
fn p5_a_killed_run_leaves_a_session_that_goes_on() {
    let repo = Repo::with(&[("a", "base\n")]);
    let ran = repo.edio(["run", "--", "sh", "-c", "echo 1 > a; kill -9 $PPID"]);
    assert_eq!(ran.code, None, "{ran}");
    repo.edio(["status"]).ok();
    repo.edio(["snapshot", "--if-changed"]).ok();
    assert_eq!(repo.turns(), 1);
    repo.edio(["restore", "0"]).ok();
    assert_eq!(repo.read("a"), "base\n");
    repo.fsck();
}
