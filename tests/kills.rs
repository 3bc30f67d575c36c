//! edio killed at every git command that it starts, before it and after it, and between the files that it writes; and
//! each of these commands failing, lying, or cut off: P5 (never in between) and P4 (nothing is lost).
//!
//! Each call is met by one of these faults, by turns; in a common run one call in three, other ones each time. Each call:
//! `EDIO_FAULTS=each`. Every fault at every call: `EDIO_FAULTS=all`.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Ran, Repo, copy, is_tried};
use crate::journal::{kept, turn_of};

/// What happens to the edio that started a git, or to what that git does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// edio is killed before that git does anything.
    Before,
    /// edio is killed when that git has done its work.
    After,
    /// edio is killed with its whole process group, before that git does anything.
    Group,
    /// The whole group is interrupted, as by Ctrl-C.
    Interrupted,
    /// edio alone is told to end, while that git goes on, and takes its time.
    Terminated,
    /// edio is killed when a git that prints file contents, whichever call it is, has printed so many bytes, and edio waits
    /// for more: the operation is written down meanwhile.
    Printed(usize),
    /// That git does nothing, says so, and ends with 128.
    Fails,
    /// That git does nothing, prints nonsense, and calls it a success.
    Garbage,
    /// That git does its work, but half of what it prints is lost, and it ends as if killed.
    Cut,
    /// The N-th git that moves refs is killed with edio when it has moved so many of them, and locked the others. (They are
    /// as old as if that had been a while ago.)
    Torn(usize),
    /// Nothing: what each git is told of refs is kept.
    Watched,
}

impl Fault {
    const KILLS: [Self; 5] = [
        Self::Before,
        Self::Interrupted,
        Self::After,
        Self::Group,
        Self::Terminated,
    ];
    const ALL: [Self; 8] = [
        Self::Before,
        Self::Fails,
        Self::After,
        Self::Interrupted,
        Self::Garbage,
        Self::Group,
        Self::Cut,
        Self::Terminated,
    ];

    /// Its name, as the git that plays it knows it.
    fn name(self) -> String {
        match self {
            Self::Before => "before".to_owned(),
            Self::After => "after".to_owned(),
            Self::Group => "group".to_owned(),
            Self::Interrupted => "interrupted".to_owned(),
            Self::Terminated => "terminated".to_owned(),
            Self::Printed(bytes) => bytes.to_string(),
            Self::Fails => "fails".to_owned(),
            Self::Garbage => "garbage".to_owned(),
            Self::Cut => "cut".to_owned(),
            Self::Torn(moved) => format!("torn {moved}"),
            Self::Watched => "watched".to_owned(),
        }
    }

    fn is_kill(self) -> bool {
        !matches!(self, Self::Fails | Self::Garbage | Self::Cut)
    }
}

/// A git that counts how often it is called, and plays a fault the N-th time: when it is told what to do, since it may
/// have been started long before that. Returns the `PATH` that finds it.
fn killer(repo: &Repo) -> String {
    repo.git_instead(
        "calls=0\n\
         set -C\n\
         until { true > \"$COUNT.$calls\"; } 2>/dev/null; do calls=$((calls + 1)); done\n\
         case $FAULT in\n\
         [0-9]*) case \"$*\" in *\" cat-file \"*) ;; *) exec \"$GIT\" \"$@\" ;; esac ;;\n\
         watched|torn*) case \"$*\" in *\" update-ref \"*) ;; *) exec \"$GIT\" \"$@\" ;; esac\n\
            cat > \"$COUNT.ordered.$calls\"\n\
            exec < \"$COUNT.ordered.$calls\"\n\
            moves=0\n\
            until { true > \"$COUNT.moving.$moves\"; } 2>/dev/null; do moves=$((moves + 1)); done\n\
            case $FAULT in watched) tee \"$COUNT.moves.$moves\" | \"$GIT\" \"$@\"; exit ;; esac\n\
            [ $moves = \"$FAULT_AT\" ] || exec \"$GIT\" \"$@\" ;;\n\
         *) [ $calls = \"$FAULT_AT\" ] || exec \"$GIT\" \"$@\" ;;\n\
         esac\n\
         cat > \"$COUNT.told.$calls\"\n\
         exec < \"$COUNT.told.$calls\"\n\
         true > \"$COUNT.struck.$calls\"\n\
         case $FAULT in\n\
         before) ;;\n\
         group) kill -9 -$PPID ;;\n\
         interrupted) kill -INT -$PPID; exit 130 ;;\n\
         terminated) kill -TERM $PPID; sleep 0.05; \"$GIT\" \"$@\"; exit ;;\n\
         fails) echo 'fatal: it was told to fail' >&2; exit 128 ;;\n\
         garbage) printf 'gar\\0bage\\n\\377'; exit 0 ;;\n\
         cut) \"$GIT\" \"$@\" > \"$COUNT.out\"; head -c $(($(wc -c < \"$COUNT.out\") / 2)) \"$COUNT.out\"; exit 137 ;;\n\
         after) \"$GIT\" \"$@\" ;;\n\
         torn*) tr '\\0' '\\n' | sed -E '/^(start|commit)$/d' > \"$COUNT.in\"\n\
            moved=$(awk -v n=${FAULT#torn } '/^(create|delete) /{l=2} /^update /{l=3} \
                /^(create|update|delete) /{if (n-- == 0) exit; lines += l} END{print lines + 0}' \"$COUNT.in\")\n\
            head -n $moved \"$COUNT.in\" | tr '\\n' '\\0' | \"$GIT\" \"$@\"\n\
            tail -n +$((moved + 1)) \"$COUNT.in\" | sed -nE 's/^(create|update|delete) //p' | while read -r ref; do\n\
                mkdir -p \"$(dirname \"$GIT_DIR/$ref\")\"; touch -d '1 hour ago' \"$GIT_DIR/$ref.lock\"\n\
            done ;;\n\
         *) ops=$(cat \"$GIT_DIR\"/refs/edio/active/*/ops 2>/dev/null)\n\
            \"$GIT\" \"$@\" | head -c $FAULT\n\
            tries=100; until [ \"$ops\" != \"$(cat \"$GIT_DIR\"/refs/edio/active/*/ops 2>/dev/null)\" ] || \
                [ $tries = 0 ]; do sleep 0.01; tries=$((tries - 1)); done\n\
            state=R\n\
            while [ \"$state\" = R ] || [ \"$state\" = D ]; do read -r _ _ state _ < /proc/$PPID/stat; done ;;\n\
         esac\n\
         kill -9 $PPID\n",
    )
}

/// What is hit: a command in a repository that was made ready for it.
struct Scene {
    repo: Repo,
    words: &'static [&'static str],
    /// As it was made ready: the scratch copy of it is where edio is killed.
    ready: PathBuf,
    /// The `PATH` with which it is hit.
    path: String,
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
        Self {
            path: killer(&repo),
            repo,
            words,
            ready,
            before,
            after,
        }
    }

    /// Runs the command until the N-th git that it starts, and into this fault. Returns `None` where it starts fewer.
    fn hit(&self, at: usize, fault: Fault) -> Option<Ran> {
        use std::os::unix::process::CommandExt;
        let counts = self.repo.outside().join("counts");
        let _ = fs::remove_dir_all(&counts);
        fs::create_dir(&counts).unwrap();
        let mut command = self.repo.command(self.words);
        command
            .env("PATH", &self.path)
            .env("COUNT", counts.join("call"));
        command.env("FAULT_AT", at.to_string());
        command.env("FAULT", fault.name());
        // The group that is killed must not be that of the tests.
        let ran = self.repo.ran(command.process_group(0));
        counts.join(format!("call.{at}")).exists().then_some(ran)
    }

    /// Has the N-th git come to its fault? One that was started ahead and not needed is ended by edio before.
    fn was_struck(&self, at: usize) -> bool {
        let struck = format!("counts/call.struck.{at}");
        self.repo.outside().join(struck).exists()
    }

    /// Lets it run into a fault, and looks at what the next commands make of it. Returns whether it came to that.
    fn survives(&self, at: usize, fault: Fault) -> bool {
        let repo = &self.repo;
        copy(&self.ready, &repo.top);
        let Some(ran) = self.hit(at, fault) else {
            return false;
        };
        let what = format!("edio {:?}, {fault:?} at call {at}: {ran}", self.words);
        if fault.is_kill() {
            // When the command of `run` has ended, a signal waits until its turn is taken.
            let waits = matches!(fault, Fault::Interrupted | Fault::Terminated);
            let is_unhurt = ran.code == Some(0) && !self.was_struck(at);
            assert!(ran.code.is_none() || waits || is_unhurt, "{what}");
        } else {
            assert!(ran.code.is_some(), "{what}");
            assert!(!ran.stderr.contains("panicked"), "{what}");
        }
        match fault {
            // Whom git lies to can't know where it stands. But it can save before it writes.
            Fault::Garbage => {
                let next = self.next(&["snapshot", "--if-changed"]);
                assert_eq!(next.code, Some(0), "{what}: {next}");
                self.nothing_is_lost(&State::of(repo), &what);
                repo.fsck();
            }
            // A snapshot begins nothing that would have to be settled: a lock that is not in its way stays.
            Fault::Torn(_) => {
                let now = self.is_before_or_after(&what, at);
                self.goes_on(&now, &what);
                assert_eq!(left_behind(&repo.top), Vec::<PathBuf>::new(), "{what}");
            }
            _ if ran.code.is_some() => self.can_go_back(&ran, &what, at),
            _ => self.holds(&what, at),
        }
        true
    }

    /// The next edio, in the surroundings of the one that was hit: what it finishes may ask the user's hooks.
    fn next(&self, words: &[&str]) -> Ran {
        let mut command = self
            .repo
            .like_edio(crate::common::edio_binary(), self.words);
        self.repo.ran(command.args(words))
    }

    /// Where it says that it stopped midway, it says how to go back.
    fn can_go_back(&self, ran: &Ran, what: &str, at: usize) {
        let Some((_, back)) = ran.stderr.split_once("to go back: edio restore ") else {
            return self.holds(what, at);
        };
        self.nothing_is_lost(&State::of(&self.repo), what);
        let back = self.repo.edio(["restore", back.lines().next().unwrap()]);
        assert_eq!(back.code, Some(0), "{what}: {back}");
        assert_eq!(self.repo.manifest(), self.before.files, "{what}: {back}");
        self.holds(what, at);
    }

    fn holds(&self, what: &str, at: usize) {
        let now = self.is_before_or_after(what, at);
        let left = left_behind(&self.repo.top);
        let are_edios = left.iter().all(|lock| is_on_edios_ref(lock));
        assert!(left.is_empty() || are_edios, "{what}: {left:?}");
        self.is_taken_back_whole(&now, what);
        if at % 8 < 2 || !left.is_empty() {
            self.goes_on(&now, what);
        }
        assert_eq!(left_behind(&self.repo.top), Vec::<PathBuf>::new(), "{what}");
    }

    /// What was finished later leads back to where it began, and not to the middle of the way.
    fn is_taken_back_whole(&self, now: &State, what: &str) {
        let (back, forth) = match self.words {
            // What conversions hide of some paths, a turn of its own has noted on the way.
            words if words.contains(&"-f") => return,
            ["restore" | "redo", ..] => ("undo", "redo"),
            ["undo", ..] => ("redo", "undo"),
            _ => return,
        };
        if *now != self.after || *now == self.before || now.head != self.before.head {
            return;
        }
        let ran = self.next(&[back]);
        assert_eq!(ran.code, Some(0), "{what}: {ran}");
        assert_eq!(self.repo.manifest(), self.before.files, "{what}: {ran}");
        let ran = self.next(&[forth]);
        assert_eq!(ran.code, Some(0), "{what}: {ran}");
        assert_eq!(self.repo.manifest(), now.files, "{what}: {ran}");
    }

    fn is_before_or_after(&self, what: &str, at: usize) -> State {
        let repo = &self.repo;
        // Sometimes the next command is one that only looks.
        if at.is_multiple_of(3) {
            let status = self.next(&["status"]);
            assert_eq!(status.code, Some(0), "{what}: {status}");
        }
        let next = self.next(&["snapshot", "--if-changed"]);
        assert_eq!(next.code, Some(0), "{what}: {next}");
        let now = State::of(repo);
        assert!(
            now == self.before || now == self.after,
            "{what}: neither the state before nor the one after\nthe next command said: {next}\n\
             now {now:#?}\nbefore {:#?}\nafter {:#?}",
            self.before,
            self.after
        );
        self.nothing_is_lost(&now, what);
        now
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

    /// Hits it at every git that it starts, until it starts no more.
    fn survives_everywhere(&self) {
        self.survives_all(&Fault::ALL);
    }

    /// Kills it at every git that it starts, until it starts no more.
    fn survives_kills(&self) {
        self.survives_all(&Fault::KILLS);
    }

    fn survives_all(&self, faults: &[Fault]) {
        let all = std::env::var_os("EDIO_FAULTS").is_some_and(|all| all == "all");
        let survives = |at: &usize| match all {
            _ if !is_tried(*at) => true,
            true => faults.iter().all(|fault| self.survives(*at, *fault)),
            false => self.survives(*at, faults[at % faults.len()]),
        };
        let calls = (0..).take_while(survives).count();
        assert!(
            calls > 3,
            "edio {:?} was hit only {calls} times",
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

/// Locks, and files under the names that a restore uses for a moment.
fn left_behind(top: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![top.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            // What is remembered of a conversation has a lock beside it, which nobody keeps.
            let is_lock =
                name.ends_with(".lock") && !path.parent().unwrap().ends_with("edio/guard");
            if name.starts_with(".edio-tmp-") || is_lock {
                found.push(path.clone());
            }
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            }
        }
    }
    found
}

/// Is it a lock on a ref of edio's? A git that was killed may have held it only now: so young it could be a living one's,
/// and whoever comes to need it waits until it is old enough to be removed.
fn is_on_edios_ref(lock: &Path) -> bool {
    lock.to_str().unwrap().contains("/.git/refs/edio/")
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

/// Two turns of an agent's, in which an ignored file came and changed, too; and unsaved edits of all.
fn with_journal() -> Repo {
    let repo = kept();
    turn_of(&repo, "one", &repo.path(".env"), "1\n");
    repo.write("a", "1\n");
    turn_of(&repo, "two", &repo.path(".env"), "2\n");
    repo.write("a", "unsaved\n");
    repo.write(".env", "unsaved\n");
    repo
}

#[test]
fn p5_a_restore_with_files_beside_the_tree() {
    Scene::new(with_journal(), &["restore", "1"]).survives_everywhere();
}

#[test]
fn p5_an_undo_with_files_beside_the_tree() {
    let repo = with_journal();
    repo.edio(["restore", "0"]).ok();
    Scene::new(repo, &["undo"]).survives_everywhere();
}

/// Two turns. What the first has of some paths is ignored in the second: other files stand there, and nothing.
fn with_ignored() -> Repo {
    let repo = Repo::with(&[("a", "base\n")]);
    for path in ["a", "env", "local/here", "local/made"] {
        repo.write(path, "1\n");
    }
    repo.edio(["snapshot", "-m", "1"]).ok();
    repo.write(".gitignore", "env\nlocal/\n");
    repo.write("a", "2\n");
    repo.write("env", "precious\n");
    repo.write("local/here", "precious, too\n");
    repo.remove("local/made");
    repo.edio(["snapshot", "-m", "2"]).ok();
    repo
}

#[test]
fn p5_a_restore_over_ignored_files() {
    Scene::new(with_ignored(), &["restore", "1"]).survives_everywhere();
}

#[test]
fn p5_an_undo_that_brings_ignored_files_back() {
    let repo = with_ignored();
    repo.edio(["restore", "1"]).ok();
    Scene::new(repo, &["undo"]).survives_everywhere();
}

#[test]
fn p5_a_redo_over_ignored_files() {
    let repo = with_ignored();
    repo.edio(["restore", "1"]).ok();
    repo.edio(["undo"]).ok();
    Scene::new(repo, &["redo"]).survives_everywhere();
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
fn p5_an_accept_fails_if_and_only_if_the_branch_has_not_moved() {
    let scene = Scene::new(accepted_soon(), &["accept", "feat"]);
    let tells = |at: &usize| {
        if !is_tried(*at) {
            return true;
        }
        copy(&scene.ready, &scene.repo.top);
        scene.hit(*at, Fault::Fails).is_some_and(|ran| {
            let has_moved = State::of(&scene.repo).head == scene.after.head;
            assert_eq!(ran.code == Some(0), has_moved, "at call {at}: {ran}");
            true
        })
    };
    let calls = (0..).take_while(tells).count();
    assert!(calls > 20, "{calls}");
}

#[test]
fn p5_an_undo_of_an_accept() {
    let repo = accepted_soon();
    repo.edio(["accept", "feat"]).ok();
    Scene::new(repo, &["undo"]).survives_everywhere();
}

/// A session that was ended, and the next one, with all that was done in it taken back.
fn taken_back_up_to(end: &[&str]) -> Repo {
    let repo = accepted_soon();
    repo.edio(end).ok();
    if begins_as_it_is(end) {
        repo.edio(["run", "--", "true"]).ok();
    }
    repo.write("b", "next\n");
    repo.edio_later(1, ["snapshot", "-m", "next"]).ok();
    repo.edio_later(2, ["undo"]).ok();
    repo
}

const ENDS: [&[&str]; 3] = [
    &["accept", "feat"],
    &["accept", "--turn", "3", "feat"],
    &["sessions", "--close"],
];

/// Does the next session begin with the work tree that the one before ended with? Then whoever goes back finds nothing to
/// take as a turn, which would end the way forward.
fn begins_as_it_is(end: &[&str]) -> bool {
    !end.contains(&"--turn")
}

impl Scene {
    /// As [`Scene::survives_all`]; and from where it was left, the rest of the way leads to the next session's turn.
    fn leads_on(&self, ways: [&[&str]; 2]) {
        let [before, after] = ways;
        let leads = |at: &usize| {
            if !is_tried(*at) {
                return true;
            }
            let Some(what) = self.is_killed_and(*at, |_| {}) else {
                return false;
            };
            let is_ahead = self.repo.sessions("active") == self.ahead();
            let way = if is_ahead { after } else { before };
            for word in way {
                let ran = self.next(&[word]);
                assert_eq!(ran.code, Some(0), "{what}: {way:?}: {ran}");
            }
            assert_eq!(self.repo.read("b"), "next\n", "{what}");
            assert_eq!(self.repo.sessions("active").len(), 1, "{what}");
            self.repo.fsck();
            true
        };
        let calls = (0..).take_while(leads).count();
        assert!(calls > 3, "{:?}: {calls}", self.words);
    }

    /// The session that is under way when the command has come to its end.
    fn ahead(&self) -> Vec<String> {
        let now = self.repo.outside().join("now");
        copy(&self.repo.top, &now);
        copy(&self.ready, &self.repo.top);
        self.repo.edio(self.words).ok();
        let ahead = self.repo.sessions("active");
        copy(&now, &self.repo.top);
        ahead
    }
}

#[test]
fn p5_an_undo_into_the_session_before() {
    for end in ENDS {
        let scene = Scene::new(taken_back_up_to(end), &["undo"]);
        scene.survives_everywhere();
        if begins_as_it_is(end) {
            scene.leads_on([&["redo"], &["redo", "redo"]]);
        }
    }
}

#[test]
fn p5_a_redo_into_the_next_session() {
    for end in ENDS {
        let repo = taken_back_up_to(end);
        repo.edio_later(3, ["undo"]).ok();
        let scene = Scene::new(repo, &["redo"]);
        scene.survives_everywhere();
        if begins_as_it_is(end) {
            scene.leads_on([&["redo", "redo"], &["redo"]]);
        }
    }
}

#[test]
fn p5_an_undo_and_a_redo_of_an_accept_where_something_was_staged_since() {
    let repo = accepted_soon();
    repo.edio(["accept", "feat"]).ok();
    let staged = repo.git(["hash-object", "-w", "a"]);
    let entry = format!("100755,{staged},a");
    repo.git(["update-index", "--cacheinfo", &entry]);
    repo.git(["rm", "-q", "--cached", "a.x"]);
    Scene::new(repo, &["undo"]).survives_everywhere();
    let repo = accepted_soon();
    repo.edio(["accept", "feat"]).ok();
    repo.git(["update-index", "--cacheinfo", &entry]);
    repo.git(["rm", "-q", "--cached", "a.x"]);
    repo.edio(["undo"]).ok();
    Scene::new(repo, &["redo"]).survives_everywhere();
}

#[test]
fn p5_an_undo_and_a_redo_of_an_accept_where_a_folder_was_staged_in_the_place_of_a_file() {
    for was_staged in [true, false] {
        let accepted = || {
            let repo = accepted_soon();
            repo.write("q", "4\n");
            if was_staged {
                repo.git(["add", "q"]);
            }
            repo.edio(["accept", "feat"]).ok();
            let staged = repo.git(["hash-object", "-w", "a.x"]);
            let entry = format!("100644,{staged},q/r");
            repo.git(["update-index", "--force-remove", "q"]);
            repo.git(["update-index", "--add", "--cacheinfo", &entry]);
            repo
        };
        Scene::new(accepted(), &["undo"]).survives_everywhere();
        let repo = accepted();
        repo.edio(["undo"]).ok();
        Scene::new(repo, &["redo"]).survives_everywhere();
    }
}

impl Scene {
    /// Has it killed at this call, `between` done, and the next edio settle it. Returns what happened, in words; `None` where
    /// there is no such call.
    fn is_killed_and(&self, at: usize, between: impl Fn(&Repo)) -> Option<String> {
        copy(&self.ready, &self.repo.top);
        let fault = Fault::KILLS[at % Fault::KILLS.len()];
        let ran = self.hit(at, fault)?;
        between(&self.repo);
        let settled = self.next(&["snapshot", "--if-changed"]);
        let what = format!("edio {:?}, {fault:?} at call {at}: {ran}", self.words);
        assert_eq!(settled.code, Some(0), "{what}: {settled}");
        Some(format!("{what}: {settled}"))
    }

    /// The same at each of its calls, and `after` it.
    fn is_killed_everywhere_and(&self, between: impl Fn(&Repo), after: impl Fn(&Repo, &str)) {
        let kill = |at: &usize| {
            let what = self.is_killed_and(*at, &between);
            if let Some(what) = &what {
                after(&self.repo, what);
                self.repo.fsck();
            }
            what.is_some()
        };
        let calls = (0..).take_while(kill).count();
        assert!(calls > 3, "{:?}: {calls}", self.words);
    }
}

#[test]
fn p4_what_is_staged_after_a_killed_undo_of_an_accept_stays_staged() {
    let repo = accepted_soon();
    repo.edio(["accept", "feat"]).ok();
    repo.write("a", "staged later\n");
    let oid = repo.git(["hash-object", "-w", "a"]);
    repo.write("a", "4\n");
    let entry = format!("100644,{oid},a");
    let scene = Scene::new(repo, &["undo"]);
    let staged = std::cell::Cell::new(false);
    let stage = |repo: &Repo| {
        staged.set(!repo.has(".git/index.lock"));
        if staged.get() {
            repo.git(["update-index", "--cacheinfo", &entry]);
        }
    };
    scene.is_killed_everywhere_and(stage, |repo, what| {
        let is_there = repo.git(["ls-files", "-s", "a"]).contains(&oid);
        assert_eq!(is_there, staged.get(), "{what}");
    });
}

#[test]
fn p5_an_undo_of_an_accept_and_another_branch_before_it_is_finished() {
    let repo = accepted_soon();
    repo.edio(["accept", "feat"]).ok();
    let archived = repo.sessions("archive");
    let scene = Scene::new(repo, &["undo"]);
    let switch = |repo: &Repo| {
        let _ = fs::remove_file(repo.path(".git/index.lock"));
        repo.git(["symbolic-ref", "HEAD", "refs/heads/other"]);
        repo.git(["update-ref", "HEAD", "main"]);
    };
    scene.is_killed_everywhere_and(switch, |repo, what| {
        let is_back = repo.git(["log", "--format=%s", "main"]) == "base";
        let shelf = if is_back { "active" } else { "archive" };
        assert_eq!(repo.sessions(shelf), archived, "{what}");
    });
}

#[test]
fn p5_an_undo_of_what_was_done_since_a_session_began() {
    let repo = accepted_soon();
    repo.edio(["accept", "feat"]).ok();
    repo.write("b", "precious\n");
    repo.claude_says("UserPromptSubmit", serde_json::json!({"prompt": "go on"}));
    repo.write("b", "agent\n");
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
    assert!(scene.is_half_done(9000));
    for bytes in [0, 100, 5000, 9000, 17_000, 23_000] {
        assert!(scene.survives(0, Fault::Printed(bytes)), "{bytes}");
    }
}

impl Scene {
    /// Is the work tree half done where so many bytes of its contents were printed?
    fn is_half_done(&self, bytes: usize) -> bool {
        copy(&self.ready, &self.repo.top);
        let killed = self.hit(0, Fault::Printed(bytes));
        let half = self.repo.manifest();
        killed.is_some_and(|ran| ran.code.is_none())
            && half != self.before.files
            && half != self.after.files
    }
}

#[test]
fn p5_a_run() {
    const SCRIPT: &str = "echo 4 > a; rm -f d; echo by the command > new/4";
    Scene::new(with_unsaved(), &["run", "--", "sh", "-c", SCRIPT]).survives_everywhere();
}

#[test]
fn p5_a_close() {
    Scene::new(three_turns(), &["sessions", "--close"]).survives_kills();
}

#[test]
fn p5_a_gc() {
    let repo = three_turns();
    repo.edio(["sessions", "--close"]).ok();
    repo.write("a", "4\n");
    repo.edio(["snapshot", "-m", "4"]).ok();
    Scene::new(repo, &["gc", "-d", "0"]).survives_kills();
}

#[test]
fn p5_a_forget() {
    let words = &["forget", "-f", "a.x", "-f", "d", "--yes"];
    Scene::new(with_unsaved(), words).survives_everywhere();
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

/// No file may grow beyond so many blocks of 512 bytes: whoever writes more is told so, or killed where it stands.
const SHORT_OF_SPACE: &str = r#"trap "$1" XFSZ; ulimit -f "$0"; shift; exec "$@""#;

/// What happens to who writes too much.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Short {
    Told,
    Killed,
}

/// Runs it where only files up to some size can be written, for all sizes up to where it passes.
fn survives_where_writes_fail(repo: Repo, words: &'static [&'static str]) {
    let scene = Scene::new(repo, words);
    let fails = |blocks: &usize| {
        if !is_tried(*blocks) {
            return true;
        }
        let killed = scene.is_short(*blocks, Short::Killed);
        let told = scene.is_short(*blocks, Short::Told);
        killed || told
    };
    let failed = (0..100).take_while(fails).count();
    assert!((2..100).contains(&failed), "{words:?}: {failed}");
}

impl Scene {
    /// Runs it where no file can have more than so many blocks, and looks at what comes of it. Did it fail?
    fn is_short(&self, blocks: usize, short: Short) -> bool {
        copy(&self.ready, &self.repo.top);
        let trap = if short == Short::Told { "" } else { "-" };
        let mut command = self.repo.like_edio("sh", self.words);
        command.args(["-c", SHORT_OF_SPACE, &blocks.to_string(), trap]);
        command.arg(crate::common::edio_binary()).args(self.words);
        let ran = self.repo.ran(&mut command);
        let what = format!("edio {:?}, {short:?} of {blocks} blocks: {ran}", self.words);
        match ran.code {
            Some(0) => assert_eq!(State::of(&self.repo), self.after, "{what}"),
            Some(_) => {
                assert!(!ran.stderr.contains("panicked"), "{what}");
                self.can_go_back(&ran, &what, blocks);
            }
            None => {
                assert_eq!(short, Short::Killed, "{what}");
                self.holds(&what, blocks);
            }
        }
        ran.code != Some(0)
    }
}

/// Files of many sizes, in the work tree and in git's folder.
fn turns_of_many_sizes() -> Repo {
    let repo = Repo::with(&[("a", "base\n")]);
    for turn in ["1", "2"] {
        for size in 0..6 {
            let line = format!("{turn} {size}\n");
            repo.write(format!("d{size}/f"), line.repeat(130 * size + 1));
        }
        repo.edio(["snapshot", "-m", turn]).ok();
    }
    repo.write("a", "unsaved\n".repeat(300));
    repo
}

#[test]
fn p5_where_files_can_not_grow() {
    let words: [&'static [&'static str]; 4] = [
        &["snapshot", "-m", "short"],
        &["restore", "1"],
        &["restore", "1", "-f", "d2", "-f", "d5"],
        &["accept", "short"],
    ];
    for words in words {
        survives_where_writes_fail(turns_of_many_sizes(), words);
    }
    let repo = turns_of_many_sizes();
    repo.edio(["restore", "1"]).ok();
    survives_where_writes_fail(repo, &["undo"]);
}

#[test]
fn p5_the_lock_on_the_index_of_a_killed_accept_is_named_by_who_only_looks() {
    let accept: &[&str] = &["accept", "feat"];
    let scenes = [
        (None, "edio accept feat", accept, "accept feat"),
        // Before it is written down.
        (None, "update-index", accept, "accept"),
        // In no session.
        (Some(accept), "update-index", &["undo"][..], "accept"),
    ];
    for (before, call, words, name) in scenes {
        let repo = accepted_soon();
        if let Some(words) = before {
            repo.edio(words).ok();
        }
        repo.killed_at(call, words);
        let lock = repo.path(".git/index.lock");
        assert!(lock.exists(), "{words:?} at {call}");
        let status = repo.edio(["status"]);
        let said = format!(
            "interrupted: {name}: to finish it, or take it back: edio snapshot --if-changed\n"
        );
        assert!(status.ok().stdout.contains(&said), "{status}");
        assert_eq!(
            repo.edio(["status", "--json"]).json()[0]["interrupted"],
            name
        );
        let doctor = repo.edio(["doctor"]);
        let said = "an accept was interrupted, and has left the index locked\n  try: edio snapshot --if-changed\n";
        assert_eq!(doctor.code, Some(1), "{doctor}");
        assert!(doctor.stdout.contains(said), "{doctor}");
        assert!(lock.exists(), "who looks removes nothing");
        repo.edio(["snapshot", "--if-changed"]).ok();
        assert!(!lock.exists());
        let status = repo.edio(["status"]);
        assert!(!status.ok().stdout.contains("interrupted"), "{status}");
    }
}

#[test]
fn p5_a_lock_that_a_killed_git_has_just_left_on_a_ref_of_edios_is_waited_out() {
    let repo = three_turns();
    repo.write("a", "4\n");
    let session = &repo.sessions("active")[0];
    let lock = repo.path(format!(".git/refs/edio/active/{session}/current.lock"));
    fs::write(&lock, "").unwrap();
    repo.edio(["snapshot"]).ok();
    assert_eq!(repo.turns(), 4);
    assert!(!lock.exists());
}

#[test]
fn p6_a_lock_on_a_ref_of_edios_that_has_just_been_let_go_is_no_reason_to_give_up() {
    let repo = three_turns();
    repo.write("a", "4\n");
    let session = &repo.sessions("active")[0];
    let lock = repo.path(format!(".git/refs/edio/active/{session}/current.lock"));
    // Another holds it when git looks, and nobody any more when edio does.
    let (bin, was) = (repo.outside().join("held"), repo.outside().join("was"));
    let path = crate::common::path();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *update-ref*) if mkdir '{}' 2>/dev/null; then\n\
         echo \"fatal: cannot lock ref 'x': Unable to create '{}': File exists.\" >&2; exit 128; fi;; esac\n\
         PATH='{path}' exec git \"$@\"\n",
        was.display(),
        lock.display()
    );
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("git"), script).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(bin.join("git"), executable).unwrap();
    let mut command = repo.command(["snapshot"]);
    repo.ran(command.env("PATH", format!("{}:{path}", bin.display())))
        .ok();
    assert!(was.exists());
    assert_eq!(repo.turns(), 4);
}

#[test]
fn a_git_of_a_killed_edio_that_does_not_end_is_named() {
    let repo = three_turns();
    repo.write("a", "4\n");
    let mut git = repo.holder("git", &repo.path(".git/edio"));
    let refs = repo.edio_refs();
    let ran = repo.edio(["snapshot"]);
    let said = "a git that a killed edio had started is still at work here";
    assert!(ran.fails(1).stderr.contains(said), "{ran}");
    assert_eq!(repo.edio_refs(), refs);
    drop(git.stdin.take());
    git.wait().unwrap();
    repo.edio(["snapshot"]).ok();
    assert_eq!(repo.turns(), 4);
}

#[test]
fn what_is_no_git_is_not_waited_for_long() {
    let repo = three_turns();
    repo.write("a", "4\n");
    let mut helper = repo.holder("helper", &repo.path(".git/edio"));
    repo.edio(["snapshot"]).ok();
    repo.edio(["status"]).ok();
    assert_eq!(repo.turns(), 4);
    drop(helper.stdin.take());
    helper.wait().unwrap();
}

#[test]
fn what_a_filter_leaves_running_keeps_nobody_waiting() {
    let repo = Repo::with(&[(".gitattributes", "*.x filter=x\n"), ("a.x", "base\n")]);
    let fifo = repo.outside().join("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    // It ends when the test opens the other end.
    let filter = format!("(cat {}) </dev/null >/dev/null 2>&1 & cat", fifo.display());
    repo.git(["config", "filter.x.clean", &filter]);
    repo.write("a.x", "1\n");
    repo.edio(["snapshot"]).ok();
    repo.write("a", "2\n");
    repo.edio(["snapshot"]).ok();
    assert_eq!(repo.turns(), 2);
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).open(&fifo).unwrap();
}

#[test]
fn p5_a_git_that_is_cut_off_when_it_has_moved_the_branch() {
    Scene::new(accepted_soon(), &["accept", "feat"]).survives_all(&[Fault::Cut]);
    let repo = accepted_soon();
    repo.edio(["accept", "feat"]).ok();
    Scene::new(repo, &["undo"]).survives_all(&[Fault::Cut]);
}

/// Kills git and edio in the middle of each change of several refs, with none, one, … of them moved.
fn survives_torn_changes(repo: Repo, words: &'static [&'static str]) {
    let scene = Scene::new(repo, words);
    let (mut torn, mut several) = (0, false);
    for (at, refs) in scene.moves() {
        several |= refs > 1;
        for moved in (0..refs).filter(|moved| is_tried(torn + moved)) {
            assert!(scene.survives(at, Fault::Torn(moved)));
        }
        torn += refs;
    }
    assert!(torn > 1 && several, "{words:?}: {torn}");
}

impl Scene {
    /// The gits that move refs of edio's, by their place among those that move any, and how many each moves.
    fn moves(&self) -> Vec<(usize, usize)> {
        copy(&self.ready, &self.repo.top);
        self.hit(0, Fault::Watched);
        let counts = self.repo.outside().join("counts");
        let moves = fs::read_dir(counts).unwrap().filter_map(|file| {
            let file = file.unwrap();
            let name = file.file_name().into_string().unwrap();
            let at = name.strip_prefix("call.moves.")?.parse().unwrap();
            let told = fs::read(file.path()).unwrap();
            let told = String::from_utf8_lossy(&told);
            let moves = |command: &str| {
                let words = ["create", "update", "delete"];
                words
                    .iter()
                    .any(|word| command.starts_with(&format!("{word} refs/edio/")))
            };
            Some((
                at,
                told.split('\0').filter(|command| moves(command)).count(),
            ))
        });
        let mut moves: Vec<_> = moves.filter(|(_, refs)| *refs > 0).collect();
        moves.sort_unstable();
        moves
    }
}

#[test]
fn p5_torn_changes_of_refs() {
    survives_torn_changes(with_unsaved(), &["snapshot", "-m", "killed"]);
    survives_torn_changes(with_unsaved(), &["restore", "1"]);
    let repo = three_turns();
    repo.write("other", "unsaved\n");
    survives_torn_changes(repo, &["revert", "3"]);
    let repo = three_turns();
    repo.edio(["restore", "1"]).ok();
    repo.write("a", "unsaved\n");
    survives_torn_changes(repo, &["undo"]);
}

#[test]
fn p5_torn_changes_of_refs_at_the_end_of_a_session() {
    survives_torn_changes(accepted_soon(), &["accept", "feat"]);
    survives_torn_changes(three_turns(), &["sessions", "--close"]);
    let repo = accepted_soon();
    repo.edio(["accept", "feat"]).ok();
    survives_torn_changes(repo, &["undo"]);
    for end in ENDS {
        let repo = taken_back_up_to(end);
        survives_torn_changes(repo, &["undo"]);
        let repo = taken_back_up_to(end);
        repo.edio_later(3, ["undo"]).ok();
        survives_torn_changes(repo, &["redo"]);
    }
}
