//! Edits that git's memory of files could miss: P2 (complete) and P3 (exact), many rounds of each.
//!
//! Some rounds at each run. For thousands: `EDIO_ROUNDS=3000 cargo test --release --test main -- races::`.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::common::{Repo, edio_binary, left_out};

fn rounds() -> usize {
    std::env::var("EDIO_ROUNDS").map_or(8, |rounds| rounds.parse().unwrap())
}

fn date(file: &Path, time: SystemTime) {
    let file = fs::File::options().write(true).open(file).unwrap();
    file.set_modified(time).unwrap();
}

/// The last turn's content of `a`, and all its paths.
fn last_turn(repo: &Repo) -> (String, Vec<String>) {
    let current = repo.git([
        "for-each-ref",
        "--format=%(refname)",
        "refs/edio/active/*/current",
    ]);
    let content = repo.git_raw(["show", &format!("{current}:a")]);
    let paths = repo.git(["ls-tree", "-r", "--name-only", &current]);
    (content, paths.lines().map(str::to_owned).collect())
}

/// Takes turn after turn of contents of one size, each written by this, and finds each in its turn.
fn finds_each(repo: &Repo, what: &str, write: impl Fn(&Path, &str)) {
    let file = repo.path("a");
    for round in 0..rounds() {
        let content = format!("{:05}\n", round + 1);
        write(&file, &content);
        repo.edio(["snapshot", "--if-changed"]).ok();
        assert_eq!(last_turn(repo).0, content, "{what}, round {round}");
    }
}

/// A repository with `a`, of the size that the rounds write.
fn ready() -> Repo {
    Repo::with(&[("a", "00000\n"), ("d/f", "1\n")])
}

#[test]
fn p2_an_edit_within_the_tick_of_the_last_snapshot() {
    finds_each(&ready(), "written in place", |file, content| {
        fs::write(file, content).unwrap()
    });
}

#[test]
fn p2_an_edit_whose_time_is_set_back() {
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for settings in [
        &[][..],
        &["core.trustctime=false"],
        &["core.checkStat=minimal"],
        &["core.ignoreStat=true"],
    ] {
        let repo = ready();
        for setting in settings {
            let (key, value) = setting.split_once('=').unwrap();
            repo.git(["config", key, value]);
        }
        finds_each(&repo, &format!("{settings:?}"), |file, content| {
            fs::write(file, content).unwrap();
            date(file, long_ago);
        });
    }
}

#[test]
fn p2_a_file_that_another_of_the_same_time_and_size_replaces() {
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    finds_each(&ready(), "renamed", |file, content| {
        let other = file.with_file_name("other");
        fs::write(&other, content).unwrap();
        date(&other, long_ago);
        fs::rename(other, file).unwrap();
    });
}

#[test]
fn p2_a_file_whose_number_is_given_away_again() {
    let repo = ready();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let (first, second) = (repo.outside().join("first"), repo.outside().join("second"));
    fs::write(&first, "").unwrap();
    fs::write(&second, "").unwrap();
    // Each number is kept by a name of its own, and comes back in every other round: two files for git to know.
    let turns = std::cell::Cell::new(0);
    finds_each(&repo, "renamed in turns", |file, content| {
        turns.set(turns.get() + 1);
        let kept = if turns.get() % 2 == 0 {
            &first
        } else {
            &second
        };
        let link = repo.outside().join("link");
        fs::hard_link(kept, &link).unwrap();
        fs::rename(&link, file).unwrap();
        fs::write(file, content).unwrap();
        date(file, long_ago);
    });
}

#[test]
fn p2_a_file_from_the_future() {
    let future = SystemTime::now() + Duration::from_secs(100_000_000);
    finds_each(&ready(), "dated", |file, content| {
        fs::write(file, content).unwrap();
        date(file, future);
    });
}

#[test]
fn p2_a_clock_that_goes_back() {
    let repo = ready();
    for round in 0..rounds() as i64 {
        let content = format!("{:05}\n", round + 1);
        repo.write("a", &content);
        repo.edio_later(-round * 1000, ["snapshot"]).ok();
        assert_eq!(last_turn(&repo).0, content);
    }
    let numbers: Vec<u64> = repo
        .edio(["log", "--json"])
        .json()
        .iter()
        .map(|turn| turn["turn"].as_u64().unwrap())
        .collect();
    assert!(
        numbers.is_sorted_by(|one, other| one > other),
        "{numbers:?}"
    );
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("a"), format!("{:05}\n", rounds() - 1));
}

#[test]
fn p2_a_new_file_in_a_folder_that_was_just_looked_at() {
    new_files(&ready());
    // Where a flag hides a file, the index is changed before git looks.
    let repo = ready();
    repo.git(["update-index", "--skip-worktree", "a"]);
    new_files(&repo);
}

fn new_files(repo: &Repo) {
    for round in 0..rounds() {
        let path = format!("d/new-{round}");
        repo.write(&path, "");
        repo.edio(["snapshot", "--if-changed"]).ok();
        assert!(last_turn(repo).1.contains(&path), "{path}");
        let deeper = format!("d/deeper-{round}/new");
        repo.write(&deeper, "");
        repo.edio(["snapshot", "--if-changed"]).ok();
        assert!(last_turn(repo).1.contains(&deeper), "{deeper}");
        repo.remove(&path);
        repo.edio(["snapshot", "--if-changed"]).ok();
        assert!(!last_turn(repo).1.contains(&path), "{path}");
    }
}

#[test]
fn p3_a_restore_and_an_edit_within_one_tick() {
    let repo = ready();
    repo.write("a", "00001\n");
    repo.edio(["snapshot"]).ok();
    repo.write("a", "00002\n");
    repo.edio(["snapshot"]).ok();
    for round in 0..rounds() {
        repo.edio(["restore", "1"]).ok();
        assert_eq!(repo.read("a"), "00001\n");
        let edit = format!("{:05}\n", round + 3);
        repo.write("a", &edit);
        repo.edio(["restore", "2"]).ok();
        assert_eq!(repo.read("a"), "00002\n");
        repo.edio(["undo"]).ok();
        assert_eq!(repo.read("a"), edit, "round {round}");
    }
}

#[test]
fn p2_the_users_index_is_replaced_again_and_again() {
    let repo = ready();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                for words in [
                    &["add", "-A"][..],
                    &["reset", "-q"],
                    &["add", "d"],
                    &["status"],
                ] {
                    // Two gits may be in each other's way here.
                    repo.git_says(words);
                }
            }
        });
        let round = |round: usize| {
            let content = format!("{round:05}\n");
            repo.write("a", &content);
            repo.write(format!("d/{}", round % 3), &content);
            repo.edio(["snapshot"]).ok();
            let (held, paths) = last_turn(&repo);
            assert_eq!(held, content);
            assert!(paths.contains(&format!("d/{}", round % 3)), "{paths:?}");
        };
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            (0..rounds()).for_each(round);
        }));
        done.store(true, Ordering::Relaxed);
        outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
    repo.fsck();
}

/// A file system whose times are whole seconds, and the same rounds on it.
const COARSE: &str = r#"
set -e
mount -o loop "$1" "$2" 2>/dev/null || { echo no mount; exit; }
cd "$2"
git init -q
echo 00000 > a; mkdir d; git add -A; git commit -q -m base
n=1
while [ $n -le "$3" ]; do
    printf '%05d\n' $n > a; : > d/$n
    "$0" snapshot --if-changed -q
    current=$(git for-each-ref --format='%(refname)' 'refs/edio/active/*/current')
    [ "$(git show "$current:a")" = "$(cat a)" ] || echo "round $n: a"
    git cat-file -e "$current:d/$n" || echo "round $n: d/$n"
    n=$((n+1))
done
echo done
"#;

#[test]
fn p2_on_a_file_system_that_counts_whole_seconds() {
    let repo = ready();
    let (image, place) = (repo.outside().join("image"), repo.outside().join("place"));
    fs::create_dir(&place).unwrap();
    fs::File::create(&image).unwrap().set_len(24 << 20).unwrap();
    let mut make = Command::new("mkfs.ext4");
    repo.surround(&mut make);
    let made = make.args(["-q", "-I", "128"]).arg(&image).output();
    if !made.is_ok_and(|made| made.status.success()) {
        return left_out("no file system can be made here");
    }
    let mut command = Command::new("unshare");
    repo.surround(&mut command);
    command
        .args(["-m", "sh", "-c", COARSE])
        .args([edio_binary(), &image, &place])
        .arg(rounds().to_string());
    let ran = repo.ran(command.current_dir(repo.outside()));
    match ran.stdout.as_str() {
        "" | "no mount\n" => left_out("no file system may be mounted here"),
        told => assert_eq!(told, "done\n", "{ran}"),
    }
}

/// Runs edio with a git that, when it has been told all of what it is to do, first runs these lines of shell at the top of
/// the work tree. `$input` is what it was told, `$*` its words.
fn with_git_that_first(repo: &Repo, lines: &str, words: &[&str]) -> crate::common::Ran {
    use std::os::unix::fs::PermissionsExt;
    let bin = repo.outside().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let mut command = repo.command(words);
    let path = command
        .get_envs()
        .find_map(|(name, value)| value.filter(|_| name == "PATH"));
    let path = path.unwrap().to_str().unwrap().to_owned();
    let script = format!(
        "#!/bin/sh\nPATH='{path}'\ninput='{}'/input.$$\ncat > \"$input\"\n(cd '{}'\n{lines}\n)\nexec git \"$@\" < \"$input\"\n",
        bin.display(),
        repo.top.display()
    );
    fs::write(bin.join("git"), script).unwrap();
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    command.env("PATH", format!("{}:{path}", bin.display()));
    repo.ran(&mut command)
}

#[test]
fn p3_what_vanishes_while_a_restore_goes_on_does_not_stop_it() {
    let repo = Repo::with(&[("a", "0\n"), ("b", "0\n"), (".gitignore", "kept\n")]);
    repo.write("a", "1\n");
    repo.write("kept", "held once\n");
    repo.git(["add", "-f", "kept"]);
    repo.edio(["snapshot"]).ok();
    repo.git(["rm", "-q", "--cached", "kept"]);
    repo.remove("kept");
    repo.write("a", "2\n");
    repo.write("new", "2\n");
    repo.edio(["snapshot"]).ok();
    // An ignored file in the way is gone before it is saved; files that are to be replaced and removed, after the plan.
    repo.write("kept", "in the way\n");
    let lines = "case \"$*\" in *--stdin-paths*) rm -f kept ;; esac
        ! grep -q /ops \"$input\" || rm -f a new";
    with_git_that_first(&repo, lines, &["restore", "1"]).ok();
    assert_eq!(repo.read("a"), "1\n");
    assert_eq!(repo.read("kept"), "held once\n");
    assert!(!repo.has("new"));
}

#[test]
fn p4_a_displaced_file_that_vanishes_before_it_is_saved_does_not_stop_a_restore() {
    let repo = Repo::with(&[("a", "0\n"), ("b", "0\n")]);
    for content in ["1\n", "2\n"] {
        repo.write("a", content);
        repo.write("b", content);
        repo.edio(["snapshot"]).ok();
    }
    // Both are changed after the plan; of one, what was displaced is removed.
    let lines = "case \"$*\" in *--stdin-paths*) rm -f $(grep -l gone .edio-tmp-*) ;; esac
        ! grep -q /ops \"$input\" || { echo gone > a; echo saved > b; }";
    let ran = with_git_that_first(&repo, lines, &["restore", "1"]);
    ran.ok();
    assert_eq!(repo.read("a"), "1\n");
    assert_eq!(repo.read("b"), "1\n");
    assert!(repo.is_kept("saved\n"), "{ran}");
}
