//! Turns are packed as they grow, and nothing of the user's goes with that.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::Repo;

/// A project with folders in folders, as real ones have.
fn project() -> Repo {
    let names: Vec<String> = (0..40)
        .map(|n| format!("packages/p{}/src/m{n}/f", n % 4))
        .collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "base\n")).collect();
    Repo::with(&files)
}

fn turns(repo: &Repo, numbers: std::ops::RangeInclusive<u32>) {
    for number in numbers {
        repo.write("packages/p1/src/m1/f", format!("{number}\n").repeat(100));
        repo.edio(["snapshot", "-m", &format!("the {number}.")])
            .ok();
    }
}

/// The same, and the last of them is one more than may lie loose: edio counts them, and is told that there are so many.
fn turns_until_packed(repo: &Repo, numbers: std::ops::RangeInclusive<u32>) {
    let last = *numbers.end();
    turns(repo, *numbers.start()..=last - 1);
    let mut state: Value = serde_json::from_str(&repo.read(".git/edio/state.json")).unwrap();
    state["loose"] = json!(49);
    repo.write(".git/edio/state.json", state.to_string());
    turns(repo, last..=last);
}

/// How many files lie below a folder, and how many bytes they need on disk.
fn room(folder: &Path) -> (usize, u64) {
    use std::os::unix::fs::MetadataExt;
    let mut found = (0, 0);
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let meta = entry.metadata().unwrap();
        let (files, bytes) = match meta.is_dir() {
            true => room(&entry.path()),
            false => (1, 0),
        };
        found = (found.0 + files, found.1 + bytes + meta.blocks() * 512);
    }
    found
}

#[test]
fn p7_a_hundred_turns_need_little_room() {
    let repo = project();
    repo.edio(["snapshot"]).ok();
    let before = room(&repo.path(".git"));
    turns(&repo, 2..=101);
    let after = room(&repo.path(".git"));
    let (files, bytes) = (after.0 - before.0, after.1 - before.1);
    assert!(files <= 200, "{files} files for 100 turns");
    assert!(bytes <= 100 * (12 << 10), "{bytes} bytes for 100 turns");
    repo.fsck();
    for number in [1, 50, 51, 100, 101] {
        repo.edio(["restore", &number.to_string()]).ok();
        let content = match number {
            1 => "base\n".to_owned(),
            number => format!("{number}\n").repeat(100),
        };
        assert_eq!(repo.read("packages/p1/src/m1/f"), content);
    }
}

#[test]
fn p7_many_new_files_become_one_pack_and_edits_none() {
    let repo = project();
    let write = |round: u32| {
        for number in 0..150 {
            let line = format!("{number}\n").repeat(100);
            repo.write(
                format!("new/d{}/{number}", number % 9),
                format!("{line}{round}\n"),
            );
        }
    };
    write(1);
    repo.edio(["snapshot"]).ok();
    assert_eq!(repo.packs(), 1);
    let (files, _) = room(&repo.path(".git/objects"));
    assert!(files < 100, "{files} files");
    for round in 2..=4 {
        write(round);
        repo.edio(["snapshot"]).ok();
    }
    // Each of them would hold all files anew.
    assert_eq!(repo.packs(), 1);
    repo.edio(["restore", "1"]).ok();
    assert!(repo.read("new/d0/0").ends_with("0\n1\n"));
    repo.fsck();
}

#[test]
fn more_new_files_than_git_can_look_through_for_each_become_several_packs() {
    let repo = project();
    for number in 0..10_100 {
        repo.write(format!("new/{number}"), format!("{number}\n"));
    }
    repo.edio(["snapshot", "--force"]).ok();
    assert_eq!(repo.packs(), 2);
    assert_eq!(repo.in_turn(1, "new/10099").unwrap(), "10099\n");
    repo.fsck();
}

#[test]
fn many_new_files_of_which_some_can_not_be_taken_in() {
    let repo = project();
    repo.write(".gitattributes", "*.bad filter=fails\n");
    repo.git(["config", "filter.fails.clean", "false"]);
    repo.git(["config", "filter.fails.required", "true"]);
    for number in 0..150 {
        repo.write(format!("new/{number}"), format!("{number}\n"));
    }
    repo.write("new/one.bad", "bytes\n");
    let ran = repo.edio(["snapshot"]);
    assert!(ran.ok().stderr.contains("new/one.bad"), "{ran}");
    assert_eq!(repo.in_turn(1, "new/149").unwrap(), "149\n");
    assert_eq!(repo.in_turn(1, "new/one.bad").unwrap(), "bytes\n");
    repo.fsck();
}

#[test]
fn p1_what_the_user_has_lost_stays_to_be_found() {
    let repo = project();
    repo.write("lost", "by mistake\n");
    repo.commit("lost");
    let lost = repo.git(["rev-parse", "HEAD"]);
    repo.git(["reset", "-q", "--hard", "HEAD~1"]);
    repo.git(["reflog", "expire", "--expire=now", "--all"]);
    let loose = repo.path(format!(".git/objects/{}/{}", &lost[..2], &lost[2..]));
    let meta = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
    let (index, date) = (fs::read(repo.path(".git/index")).unwrap(), meta(&loose));
    turns_until_packed(&repo, 1..=2);
    assert!(!repo.git(["count-objects", "-v"]).contains("packs: 0"));
    assert_eq!(meta(&loose), date);
    assert_eq!(
        repo.git_raw(["show", &format!("{lost}:lost")]),
        "by mistake\n"
    );
    assert_eq!(fs::read(repo.path(".git/index")).unwrap(), index);
}

/// The ids of all objects in packs.
fn packed(repo: &Repo) -> Vec<String> {
    let packs = fs::read_dir(repo.path(".git/objects/pack")).unwrap();
    let names = packs.map(|entry| entry.unwrap().path());
    let indexes = names.filter(|name| name.extension().is_some_and(|end| end == "idx"));
    let listed = indexes.map(|index| repo.git(["verify-pack", "-v", index.to_str().unwrap()]));
    let ids: Vec<String> = listed
        .flat_map(|list| list.lines().map(str::to_owned).collect::<Vec<_>>())
        .filter_map(|line| line.split(' ').next().map(str::to_owned))
        .filter(|word| word.len() == 40)
        .collect();
    ids
}

#[test]
fn what_head_holds_is_not_packed_and_every_arm_is() {
    let repo = project();
    turns(&repo, 1..=30);
    repo.edio(["restore", "1"]).ok();
    turns(&repo, 31..=51);
    let packed = packed(&repo);
    let has = |name: &str| packed.contains(&repo.git(["rev-parse", name]));
    for name in ["HEAD", "HEAD^{tree}", "HEAD:packages/p0/src/m0/f"] {
        assert!(!has(name), "{name}");
    }
    for number in [2, 30, 31, 49] {
        let turn = repo.turn_ref(number);
        assert!(has(&turn), "{number}");
        assert!(has(&format!("{turn}:packages/p1/src/m1/f")), "{number}");
    }
    repo.fsck();
}

#[test]
fn what_is_packed_can_be_forgotten() {
    let repo = project();
    repo.write("env", "TOKEN=hush\n");
    turns_until_packed(&repo, 1..=2);
    repo.remove("env");
    let secret = repo.git(["rev-parse", &format!("{}:env", repo.turn_ref(1))]);
    assert!(packed(&repo).contains(&secret));
    repo.edio(["forget", "-f", "env", "--yes"]).ok();
    repo.git(["gc", "-q", "--prune=now"]);
    assert!(!packed(&repo).contains(&secret));
    assert!(!repo.is_kept("TOKEN=hush\n"));
    turns_until_packed(&repo, 3..=4);
    repo.edio(["restore", "1"]).ok();
    repo.fsck();
}

#[test]
fn where_git_can_not_pack_the_turn_is_taken_all_the_same_and_it_says_so() {
    let repo = project();
    let path =
        repo.git_instead("case \"$*\" in *pack-objects*) exit 128 ;; esac\nexec \"$GIT\" \"$@\"\n");
    let mut warned = Vec::new();
    for number in 1..=52 {
        repo.write("a", format!("{number}\n"));
        let ran = repo.ran(repo.command(["snapshot"]).env("PATH", &path));
        if ran.ok().stderr.contains("could not be packed") {
            warned.push(number);
        }
    }
    assert_eq!((repo.turns(), warned), (52, vec![50]));
    repo.fsck();
}

/// An object is fresh again in a loose file, and old in a pack of lost ones: git keeps it for the sake of the first.
#[test]
fn p1_a_lost_object_that_is_also_in_a_pack_keeps_its_time() {
    let repo = project();
    repo.write("lost", "precious\n");
    let lost = repo.git(["hash-object", "-w", "lost"]);
    repo.remove("lost");
    let loose = repo.path(format!(".git/objects/{}/{}", &lost[..2], &lost[2..]));
    let old = fs::File::open(&loose).unwrap();
    old.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    repo.git(["repack", "-q", "-a", "-d", "--cruft"]);
    assert!(!loose.exists());
    repo.write("lost", "precious\n");
    repo.git(["add", "lost"]);
    repo.git(["rm", "-q", "-f", "lost"]);
    assert!(loose.exists());
    turns_until_packed(&repo, 1..=2);
    assert!(loose.exists());
    repo.git(["gc", "-q"]);
    assert_eq!(repo.git(["cat-file", "-p", &lost]), "precious");
}

#[test]
fn p1_what_another_repository_has_packed_stays_here() {
    let source = project();
    let top = source.top.to_str().unwrap().to_owned();
    let repo = Repo::unborn();
    repo.write(
        ".git/objects/info/alternates",
        format!("{top}/.git/objects\n"),
    );
    repo.write("mine", "mine\n");
    repo.commit("mine");
    let head = repo.git(["rev-parse", "HEAD"]);
    source.git([
        "fetch",
        "-q",
        repo.top.to_str().unwrap(),
        &format!("{head}:refs/heads/topic"),
    ]);
    source.git(["gc", "-q"]);
    turns_until_packed(&repo, 1..=4);
    source.git(["branch", "-q", "-D", "topic"]);
    source.git(["reflog", "expire", "--expire=now", "--all"]);
    source.git(["gc", "-q", "--prune=now"]);
    assert_eq!(repo.git(["log", "--format=%s"]), "mine");
    repo.edio(["restore", "3"]).ok();
    repo.fsck();
}

#[test]
fn while_a_gc_is_under_way_nothing_is_packed() {
    let repo = project();
    repo.write(".git/gc.pid", format!("{} here", std::process::id()));
    turns_until_packed(&repo, 1..=2);
    assert!(packed(&repo).is_empty());
    repo.remove(".git/gc.pid");
    turns_until_packed(&repo, 3..=4);
    assert!(!packed(&repo).is_empty());
    repo.fsck();
}
