//! `edio restore` of the whole work tree: P3 (exact) and P4 (nothing is lost).

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;

use crate::common::{Ran, Repo, edio_binary, path};

fn snapshot(repo: &Repo) {
    repo.edio(["snapshot"]).ok();
}

fn restore(repo: &Repo, turn: u32) -> String {
    repo.edio(["restore", &turn.to_string()])
        .ok()
        .stderr
        .clone()
}

/// The work tree as turn N holds it.
fn held(repo: &Repo, turn: u32) -> Vec<String> {
    repo.manifest_in(&repo.turn_ref(turn))
}

/// A restore that must be refused, with nothing changed: not a file, not a ref, not a turn.
fn is_refused(repo: &Repo, words: &[&str]) -> String {
    let state = || {
        let mut files = repo.everything_in(&repo.top);
        files.retain(|line| !line.starts_with("\".git/"));
        (files, repo.git_files(), repo.edio_refs())
    };
    let before = state();
    let ran = repo.edio(words);
    ran.fails(3);
    assert!(ran.stderr.contains("hint:"), "{ran}");
    assert_eq!(state(), before, "{words:?}");
    ran.stderr
}

/// The same for a user without rights, who may not look at all that is there: no ref has changed.
fn is_refused_without_rights(repo: &Repo, words: &[&str]) -> String {
    let refs = repo.edio_refs();
    let ran = repo.edio_without_rights(words);
    ran.fails(3);
    assert_eq!(repo.edio_refs(), refs, "{words:?}");
    ran.stderr
}

/// Everything on disk that a person could miss: kinds, bits, bytes, folders too.
fn disk(repo: &Repo) -> Vec<String> {
    let mut found = repo.manifest();
    let (mut folders, mut next) = (vec![repo.top.clone()], 0);
    while next < folders.len() {
        for entry in fs::read_dir(&folders[next]).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() && entry.file_name() != ".git" {
                folders.push(entry.path());
            }
        }
        next += 1;
    }
    found.extend(folders.iter().map(|folder| format!("folder {folder:?}")));
    found.sort();
    found
}

fn mode(repo: &Repo, path: &str) -> u32 {
    repo.path(path)
        .symlink_metadata()
        .unwrap()
        .permissions()
        .mode()
        & 0o7777
}

/// What tells whether a file was written: its inode, its times.
fn identity(repo: &Repo, path: &str) -> (u64, i64, i64, i64, i64) {
    let meta = repo.path(path).symlink_metadata().unwrap();
    (
        meta.ino(),
        meta.mtime(),
        meta.mtime_nsec(),
        meta.ctime(),
        meta.ctime_nsec(),
    )
}

/// The content of a file that a restore saved beside the turns.
fn saved(repo: &Repo, path: &str) -> Option<String> {
    let side = repo.turn_ref(1).replace("/1", "/side");
    let name = format!("{side}:{path}");
    repo.git_says(["cat-file", "-e", &name])
        .then(|| repo.git_raw(["cat-file", "blob", &name]))
}

#[test]
fn p3_every_turn_comes_back_to_the_last_byte() {
    let repo = Repo::with(&[
        ("a", "1\n"),
        ("run", "#!\n"),
        ("d/x", "1\n"),
        ("d/e/y", "1\n"),
        ("same", "s\n"),
    ]);
    let mut disks = Vec::new();
    let edits: [&dyn Fn(); 6] = [
        &|| {
            repo.write("a", "2\n");
            repo.write("new", "n\n");
        },
        &|| {
            repo.remove("d");
            repo.write("d", "file now\n");
            repo.chmod("run", 0o755);
        },
        &|| {
            repo.remove("d");
            repo.link("d", "new");
            repo.remove("a");
            repo.write("a/deep/er", "x\n");
            repo.write("empty", "");
        },
        &|| {
            repo.remove("d");
            repo.write("d/x", "1\n");
            repo.remove("a");
            repo.link("a", "nowhere");
            repo.remove("new");
            repo.write("run", b"\0\r\n\xff");
        },
        &|| {
            repo.remove("a");
            repo.write("a", "1\n");
            fs::rename(repo.path("run"), repo.path("walk")).unwrap();
        },
        &|| {
            for path in ["a", "d", "same", "walk", "empty"] {
                repo.remove(path);
            }
        },
    ];
    for edit in edits {
        edit();
        snapshot(&repo);
        disks.push(disk(&repo));
    }
    let (git, index) = (repo.git_files(), repo.git_state());
    for turn in [1, 6, 2, 5, 3, 4, 1, 4, 2, 3, 6, 5] {
        restore(&repo, turn);
        assert_eq!(disk(&repo), disks[turn as usize - 1], "turn {turn}");
        assert_eq!(repo.git_files(), git, "turn {turn}");
    }
    restore(&repo, 0);
    assert_eq!(
        repo.git(["--no-optional-locks", "status", "--porcelain"]),
        "",
        "turn 0 is HEAD"
    );
    assert_eq!(repo.turns(), 6, "nothing was unsaved");
    restore(&repo, 6);
    assert_eq!(repo.git_state(), index);
    repo.fsck();
}

/// What can stand at a path, and how it is made.
type Kind = (&'static str, &'static dyn Fn(&Repo));

#[test]
fn p3_files_folders_and_links_change_places_in_every_way() {
    let kinds: [Kind; 6] = [
        ("nothing", &|_| {}),
        ("file", &|repo| repo.write("p", "file\n")),
        ("run", &|repo| {
            repo.write("p", "file\n");
            repo.chmod("p", 0o755);
        }),
        ("link", &|repo| repo.link("p", "elsewhere")),
        ("link to a folder", &|repo| repo.link("p", "elsewhere/d")),
        ("folder", &|repo| repo.write("p/x/y", "deep\n")),
    ];
    let repo = Repo::with(&[("elsewhere/d/x/y", "not to be touched\n"), ("other", "1\n")]);
    for (turn, (name, make)) in kinds.iter().enumerate() {
        if repo.has("p") {
            repo.remove("p");
        }
        make(&repo);
        // The index has an older one of them, or a newer one, or none.
        if turn == 3 {
            repo.git(["add", "-A"]);
        }
        repo.edio(["snapshot", "-m", name]).ok();
        assert_eq!(repo.turns(), turn + 1);
    }
    let turns: Vec<_> = (1..=6).map(|turn| held(&repo, turn)).collect();
    let goes_to = |turn: usize| {
        restore(&repo, turn as u32);
        assert_eq!(repo.manifest(), turns[turn - 1], "to turn {turn}");
    };
    // From each kind to each other kind, and back.
    for one in 1..=6 {
        goes_to(one);
        for other in one + 1..=6 {
            goes_to(other);
            goes_to(one);
        }
    }
    assert_eq!(repo.turns(), 6);
}

#[test]
fn p3_what_appeared_since_is_gone_and_its_empty_folders_too() {
    let repo = Repo::with(&[("a", "1\n"), ("d/kept", "1\n")]);
    snapshot(&repo);
    repo.write("later", "1\n");
    repo.write("d/later", "1\n");
    repo.write("d/e/f/later", "1\n");
    repo.write("g/h/later", "1\n");
    repo.link("later link", "a");
    repo.write("unseen by any turn", "1\n");
    fs::create_dir_all(repo.path("empty all along")).unwrap();
    restore(&repo, 1);
    assert_eq!(repo.manifest(), held(&repo, 1));
    assert!(!repo.has("g") && !repo.has("d/e"));
    assert!(
        repo.has("empty all along"),
        "an empty folder is nothing that a turn knows"
    );
    restore(&repo, 2);
    assert_eq!(repo.read("g/h/later"), "1\n");
    assert_eq!(repo.read("unseen by any turn"), "1\n");
}

#[test]
fn p3_ignored_files_stay_whatever_list_names_them() {
    let repo = Repo::with(&[
        (".gitignore", "*.log\n/build/\n"),
        ("d/.gitignore", "secret\n"),
        ("a", "1\n"),
    ]);
    repo.write(".git/info/exclude", "excluded\n");
    let global = repo.outside().join("ignore");
    fs::write(&global, "*.swp\n").unwrap();
    repo.git(["config", "core.excludesFile", global.to_str().unwrap()]);
    let names = [
        "x.log",
        "build/out/o",
        "d/secret",
        "excluded",
        "d/a.swp",
        "later/x.log",
        "later/deep/x.log",
    ];
    for name in &names[..5] {
        repo.write(name, "old\n");
    }
    snapshot(&repo);
    repo.write("a", "2\n");
    repo.write("later/file", "1\n");
    repo.write("later/deep/file", "1\n");
    for name in names {
        repo.write(name, "new\n");
    }
    repo.link("build/link", "out");
    fs::create_dir(repo.path("build/empty")).unwrap();
    snapshot(&repo);
    let before: Vec<_> = names.iter().map(|name| identity(&repo, name)).collect();
    for turn in [1, 2, 0, 2, 1] {
        restore(&repo, turn);
        let after: Vec<_> = names.iter().map(|name| identity(&repo, name)).collect();
        assert_eq!(after, before, "turn {turn}");
        assert_eq!(repo.has("later/file"), turn == 2);
        assert!(repo.has("build/link") && repo.has("build/empty"));
    }
    assert_eq!(repo.turns(), 2);
}

#[test]
fn p3_what_the_rules_of_the_turn_ignored_stays_and_is_named() {
    let repo = Repo::with(&[
        (".gitignore", "*.key\ncache/\n"),
        ("a", "1\n"),
        ("d/.gitignore", "*.tmp\n"),
    ]);
    repo.write("my.key", "1\n");
    snapshot(&repo);
    // The rules go, and edio sees what they hid.
    repo.write(".gitignore", "\n");
    repo.remove("d/.gitignore");
    repo.write("cache/deep/x", "1\n");
    repo.write("d/x.tmp", "1\n");
    repo.write("d/later", "1\n");
    snapshot(&repo);
    assert_eq!(repo.in_turn(2, "my.key").as_deref(), Some("1\n"));
    let said = restore(&repo, 1);
    for path in ["my.key", "cache/deep/x", "d/x.tmp"] {
        assert!(repo.has(path), "{path}");
        assert!(said.contains(path), "{path} is not named: {said}");
    }
    assert!(!repo.has("d/later"));
    assert_eq!(repo.read(".gitignore"), "*.key\ncache/\n");
    assert_eq!(repo.read("d/.gitignore"), "*.tmp\n");
    restore(&repo, 2);
    assert_eq!(repo.manifest(), held(&repo, 2));
}

#[test]
fn p3_what_the_rules_of_now_ignore_stays() {
    let repo = Repo::with(&[("a", "1\n")]);
    snapshot(&repo);
    repo.write("my.key", "held by turn 2\n");
    snapshot(&repo);
    repo.write(".gitignore", "*.key\n");
    snapshot(&repo);
    restore(&repo, 1);
    assert_eq!(
        repo.read("my.key"),
        "held by turn 2\n",
        "it was ignored when the restore began"
    );
    assert!(!repo.has(".gitignore"));
    assert!(
        repo.edio(["status"]).ok().stdout.contains("my.key"),
        "and nothing hides it now"
    );
}

#[test]
fn p3_rules_that_differ_only_in_a_nested_folder_count() {
    let repo = Repo::with(&[
        ("a", "1\n"),
        ("p/q/.gitignore", "out/\n!out/keep\n"),
        ("p/q/x", "1\n"),
    ]);
    snapshot(&repo);
    repo.remove("p/q/.gitignore");
    repo.write("p/q/out/o", "1\n");
    repo.write("p/out/o", "1\n");
    snapshot(&repo);
    restore(&repo, 1);
    assert!(repo.has("p/q/out/o"), "the turn's own rule protects it");
    assert!(!repo.has("p/out"), "but no other folder");
}

#[test]
fn p3_permission_bits_other_than_x_stay() {
    let repo = Repo::with(&[
        ("tight", "1\n"),
        ("loose", "1\n"),
        ("bit", "1\n"),
        ("group", "1\n"),
        ("off", "1\n"),
    ]);
    for (path, mode) in [
        ("tight", 0o600),
        ("loose", 0o666),
        ("bit", 0o600),
        ("group", 0o640),
        ("off", 0o750),
    ] {
        repo.chmod(path, mode);
    }
    snapshot(&repo);
    repo.write("tight", "2\n");
    repo.write("loose", "2\n");
    repo.chmod("bit", 0o700);
    repo.write("group", "2\n");
    repo.chmod("group", 0o750);
    repo.chmod("off", 0o640);
    snapshot(&repo);
    restore(&repo, 1);
    let modes = || ["tight", "loose", "bit", "group", "off"].map(|path| mode(&repo, path));
    assert_eq!(modes(), [0o600, 0o666, 0o600, 0o640, 0o750]);
    restore(&repo, 2);
    assert_eq!(modes(), [0o600, 0o666, 0o700, 0o750, 0o640]);
}

#[test]
fn p3_a_file_made_again_obeys_the_umask() {
    let repo = Repo::with(&[("a", "1\n"), ("d/run", "1\n")]);
    repo.chmod("d/run", 0o755);
    snapshot(&repo);
    repo.remove("a");
    repo.remove("d");
    let mut shell = Command::new("sh");
    repo.surround(&mut shell);
    let edio = crate::common::edio_binary();
    shell
        .current_dir(&repo.top)
        .args(["-c", "umask 027; \"$0\" restore 1"])
        .arg(edio);
    repo.ran(&mut shell).ok();
    assert_eq!(
        (mode(&repo, "a"), mode(&repo, "d"), mode(&repo, "d/run")),
        (0o640, 0o750, 0o750)
    );
}

#[test]
fn p3_only_what_differs_is_written() {
    let repo = Repo::with(&[
        ("same", "s\n"),
        ("d/same", "s\n"),
        ("changed", "1\n"),
        ("bit", "1\n"),
        ("back", "1\n"),
    ]);
    repo.link("link", "same");
    repo.write("untracked", "u\n");
    snapshot(&repo);
    repo.write("changed", "2\n");
    repo.write("back", "2\n");
    repo.chmod("bit", 0o755);
    snapshot(&repo);
    repo.write("back", "1\n");
    let paths = ["same", "d/same", "link", "untracked", "back"];
    let before = paths.map(|path| identity(&repo, path));
    let bit = identity(&repo, "bit");
    let said = restore(&repo, 1);
    assert_eq!(paths.map(|path| identity(&repo, path)), before);
    let now = identity(&repo, "bit");
    assert_eq!(
        (now.0, now.1, now.2),
        (bit.0, bit.1, bit.2),
        "only its bit changed"
    );
    assert!(said.contains("2 paths written"), "{said}");
    // Nothing differs: nothing is written at all.
    let all = repo.everything_in("d");
    let said = restore(&repo, 1);
    assert!(said.contains("nothing to do"), "{said}");
    assert_eq!(repo.everything_in("d"), all);
}

#[test]
fn p3_another_name_of_a_file_keeps_its_content() {
    let repo = Repo::with(&[("a", "1\n"), ("gone", "1\n")]);
    snapshot(&repo);
    repo.write("a", "2\n");
    repo.write("later", "2\n");
    let outside = repo.outside();
    fs::hard_link(repo.path("a"), outside.join("a")).unwrap();
    fs::hard_link(repo.path("later"), outside.join("later")).unwrap();
    restore(&repo, 1);
    assert_eq!(fs::read_to_string(outside.join("a")).unwrap(), "2\n");
    assert_eq!(fs::read_to_string(outside.join("later")).unwrap(), "2\n");
}

#[test]
fn p3_another_name_of_a_file_keeps_its_executable_bit() {
    let repo = Repo::with(&[("a", "1\n")]);
    snapshot(&repo);
    repo.chmod("a", 0o755);
    let other = repo.outside().join("other");
    fs::hard_link(repo.path("a"), &other).unwrap();
    restore(&repo, 1);
    assert_eq!(mode(&repo, "a"), 0o644);
    assert_eq!(mode(&repo, other.to_str().unwrap()), 0o755);
}

/// As git has it where the file system knows no links.
#[test]
fn where_links_are_not_to_be_made_they_stay_files_with_a_text() {
    let repo = Repo::with(&[("a", "a\n")]);
    repo.link("l", "a");
    repo.git(["add", "l"]);
    repo.commit("a link");
    repo.git(["config", "core.symlinks", "false"]);
    repo.remove("l");
    repo.git(["checkout", "-q", "l"]);
    for content in ["folder/other", "x"] {
        repo.write("l", content);
        repo.edio(["snapshot"]).ok();
    }
    for (turn, content) in [("1", "folder/other"), ("2", "x"), ("0", "a")] {
        repo.edio(["restore", turn]).ok();
        let is_file = repo.path("l").symlink_metadata().unwrap().is_file();
        assert!(is_file, "turn {turn}");
        assert_eq!(repo.read("l"), content);
        assert_eq!(
            repo.git(["ls-tree", "HEAD", "l"]).split(' ').next(),
            Some("120000")
        );
    }
}

#[test]
fn p3_nothing_is_written_through_a_link() {
    let repo = Repo::with(&[("d/x", "1\n"), ("d/y", "1\n"), ("f", "1\n")]);
    snapshot(&repo);
    let away = repo.outside().join("away");
    fs::create_dir(&away).unwrap();
    fs::write(away.join("x"), "theirs\n").unwrap();
    fs::write(repo.outside().join("file"), "theirs\n").unwrap();
    repo.remove("d");
    repo.link("d", away.to_str().unwrap());
    repo.remove("f");
    repo.link("f", "../file");
    restore(&repo, 1);
    assert_eq!(repo.manifest(), held(&repo, 1));
    assert_eq!(fs::read_dir(&away).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(away.join("x")).unwrap(), "theirs\n");
    assert_eq!(
        fs::read_to_string(repo.outside().join("file")).unwrap(),
        "theirs\n"
    );
    // And back: the links are links again, and nothing was removed behind them.
    restore(&repo, 2);
    assert_eq!(fs::read_link(repo.path("d")).unwrap(), away);
    assert_eq!(fs::read_to_string(away.join("x")).unwrap(), "theirs\n");
}

#[test]
fn p3_an_untracked_nested_repository_in_the_way_refuses() {
    let repo = Repo::with(&[("lib/x", "1\n"), ("f", "1\n")]);
    snapshot(&repo);
    repo.remove("lib");
    repo.remove("f");
    repo.git(["init", "-q", "lib"]);
    repo.write("lib/x", "theirs\n");
    repo.git(["init", "-q", "f"]);
    snapshot(&repo);
    let said = is_refused(&repo, &["restore", "1"]);
    assert!(
        said.contains("lib") && said.contains("repository"),
        "{said}"
    );
    assert!(said.contains('f'), "{said}");
    is_refused(&repo, &["restore", "1", "-f", "lib/x"]);
    is_refused(&repo, &["restore", "1", "--dry-run"]);
}

#[test]
fn p3_a_folder_with_ignored_files_in_the_way_refuses() {
    let repo = Repo::with(&[(".gitignore", "*.log\n"), ("p", "file\n"), ("a", "1\n")]);
    snapshot(&repo);
    repo.remove("p");
    repo.write("p/kept.log", "ignored\n");
    repo.write("p/held", "1\n");
    repo.write("a", "unsaved\n");
    let said = is_refused(&repo, &["restore", "1"]);
    assert!(said.contains("p/kept.log"), "{said}");
    // Other paths can be brought back all the same.
    repo.edio(["restore", "1", "-f", "a"]).ok();
    repo.remove("p/kept.log");
    restore(&repo, 1);
    assert_eq!(repo.manifest(), held(&repo, 1));
}

/// The rules of the turn do not match it, and no turn holds it as it is.
#[test]
fn p3_what_was_ignored_until_now_stays_and_is_named() {
    let repo = Repo::with(&[("a", "0\n"), ("obj/.gitignore", "*.o\n")]);
    repo.write("d/x", "1\n");
    repo.write("d/y", "1\n");
    repo.edio(["snapshot"]).ok();
    repo.write(".gitignore", "d\ne.log\nobj/*\n/deps/\n!.gitignore\n");
    repo.write("e.log", "2\n");
    repo.write("obj/x.o", "2\n");
    repo.write("deps/lib", "2\n");
    repo.git(["init", "-q", "deps/inner"]);
    repo.edio(["snapshot"]).ok();
    let left = |ran: &Ran| {
        let said = ran.ok().stderr.lines();
        let left = said.filter_map(|line| line.trim().strip_prefix("left alone: "));
        left.map(str::to_owned).collect::<Vec<_>>()
    };
    let named = ["d", "deps", "e.log"].map(|it| format!("{it} (it was ignored until now)"));
    for words in [&["restore", "0", "--dry-run"][..], &["restore", "0"]] {
        let ran = repo.edio(words);
        let said = ran.ok().stderr.clone() + &ran.stdout;
        assert!(
            named
                .iter()
                .all(|it| said.contains(&it.replace(" (", "")) || said.contains(it)),
            "{ran}"
        );
        assert!(!said.contains("obj"), "{ran}");
    }
    assert_eq!(repo.read("d/x") + &repo.read("e.log"), "1\n2\n");
    repo.edio(["undo"]).ok();
    // What the turn holds is brought about, and what is left is as it was.
    let ran = repo.edio(["restore", "1"]);
    assert_eq!(left(&ran), named[1..], "{ran}");
    repo.edio(["undo"]).ok();
    repo.write("a", "3\n");
    let ran = repo.edio(["restore", "2"]);
    assert_eq!(left(&ran), [""; 0], "{ran}");
    // Nor is anything said of it where only some paths are wanted.
    let ran = repo.edio(["restore", "0", "-f", "a"]);
    assert_eq!(left(&ran), [""; 0], "{ran}");
}

#[test]
fn p3_a_fifo_in_the_way_refuses() {
    let repo = Repo::with(&[("a", "1\n"), ("d/x", "1\n")]);
    snapshot(&repo);
    for path in ["a", "d"] {
        repo.remove(path);
        assert!(
            Command::new("mkfifo")
                .arg(repo.path(path))
                .status()
                .unwrap()
                .success()
        );
    }
    let said = is_refused(&repo, &["restore", "1"]);
    assert!(said.contains("a is") && said.contains("d is"), "{said}");
    // A folder that holds one is in the way of a file, too.
    for path in ["a", "d"] {
        repo.remove(path);
    }
    repo.write("d/x", "1\n");
    fs::create_dir(repo.path("a")).unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(repo.path("a/pipe"))
            .status()
            .unwrap()
            .success()
    );
    let said = is_refused(&repo, &["restore", "1"]);
    assert!(said.contains("a/pipe"), "{said}");
}

#[test]
fn p3_a_file_that_can_not_be_saved_refuses() {
    let repo = Repo::with(&[("closed", "1\n"), ("a", "1\n")]);
    repo.give_away();
    repo.edio_without_rights(["snapshot"]).ok();
    repo.write("closed", "nobody can read this\n");
    repo.chmod("closed", 0o000);
    repo.write("a", "2\n");
    let said = is_refused_without_rights(&repo, &["restore", "1"]);
    assert!(said.contains("closed"), "{said}");
    assert_eq!(repo.read("closed"), "nobody can read this\n");
    assert_eq!(repo.read("a"), "2\n");
}

/// Where turn 2 is the last.
const WAYS_TO_TURN_1: [&[&str]; 3] = [&["restore", "1"], &["restore", "1", "--dry-run"], &["undo"]];

#[test]
fn p3_a_folder_that_may_not_be_entered_refuses_before_anything_is_written() {
    for mode in [0o000, 0o444] {
        let repo = Repo::with(&[("a", "1\n"), ("closed/d/x", "1\n"), ("closed/y", "1\n")]);
        repo.give_away();
        repo.edio_without_rights(["snapshot"]).ok();
        repo.write("a", "2\n");
        repo.edio_without_rights(["snapshot"]).ok();
        repo.chmod("closed", mode);
        for words in WAYS_TO_TURN_1 {
            let said = is_refused_without_rights(&repo, words);
            let named = said.contains("closed is a folder that may not be entered");
            assert!(named, "{words:?}: {said}");
            assert_eq!(repo.read("a"), "2\n");
        }
        repo.edio_without_rights(["restore", "1", "-f", "a"]).ok();
        assert_eq!(repo.read("a"), "1\n");
        repo.chmod("closed", 0o755);
    }
}

#[test]
fn p3_a_folder_that_may_not_be_changed_refuses_before_anything_is_written() {
    // Something is written in it, something made in it, something removed from it, something in it gets another mode.
    for (folder, mode) in [
        ("d", 0o555),
        ("e", 0o555),
        ("f", 0o555),
        ("f", 0o444),
        ("g", 0o444),
    ] {
        let repo = Repo::with(&[("a", "1\n"), ("d/x", "1\n"), ("e/z/x", "1\n")]);
        repo.write("f/old", "1\n");
        repo.write("g/run", "1\n");
        repo.give_away();
        repo.edio_without_rights(["snapshot"]).ok();
        for path in ["a", "d/x", "f/sub/x"] {
            repo.write(path, "2\n");
        }
        repo.remove("e/z");
        repo.write("e/y", "2\n");
        repo.chmod("g/run", 0o755);
        repo.edio_without_rights(["snapshot"]).ok();
        repo.give_away();
        if folder == "f" {
            repo.chmod("f/sub", mode);
        }
        repo.chmod(folder, mode);
        let named = match mode {
            0o444 => format!("{folder} is"),
            _ => format!("{folder}/"),
        };
        for words in WAYS_TO_TURN_1 {
            let said = is_refused_without_rights(&repo, words);
            assert!(said.contains(&named), "{words:?}: {said}");
            assert!(said.contains("chmod"), "{said}");
            assert_eq!(repo.read("a"), "2\n");
        }
        repo.edio_without_rights(["restore", "1", "-f", "a"]).ok();
        repo.edio_without_rights(["undo"]).ok();
        repo.chmod(folder, 0o755);
        if folder == "f" {
            repo.chmod("f/sub", 0o755);
        }
        repo.edio_without_rights(["restore", "1"]).ok();
        assert_eq!(repo.manifest(), held(&repo, 1));
        repo.edio_without_rights(["restore", "2"]).ok();
        assert_eq!(repo.manifest(), held(&repo, 2));
    }
}

/// Only its owner may give a file another mode, or replace it in a sticky folder. Without root there are no files of others.
#[test]
fn p3_a_file_of_another_user_refuses_before_anything_is_written() {
    for (others, action) in [("run", "mode"), ("t/x", "write"), ("t/new", "remove")] {
        let repo = Repo::with(&[("a", "1\n"), ("z", "1\n"), ("run", "1\n"), ("t/x", "1\n")]);
        repo.give_away();
        repo.edio_without_rights(["snapshot", "-m", "first"]).ok();
        for path in ["a", "z"] {
            repo.write(path, "2\n");
        }
        match action {
            "mode" => repo.chmod(others, 0o755),
            _ => repo.write(others, "2\n"),
        }
        repo.give_away();
        repo.edio_without_rights(["snapshot"]).ok();
        let mut chown = Command::new("chown");
        chown.arg("0:0").arg(repo.path(others));
        if action != "mode" {
            chown.arg(repo.path("t"));
            repo.chmod("t", 0o1777);
        }
        if !chown.status().unwrap().success() {
            return;
        }
        let said = is_refused_without_rights(&repo, &["restore", "1"]);
        let named = format!("{others} is another user's");
        assert!(said.contains(&named), "{said}");
        assert_eq!(repo.read("a") + &repo.read("z"), "2\n2\n");
        repo.give_away();
        repo.edio_without_rights(["restore", "1"]).ok();
        assert_eq!(repo.manifest(), held(&repo, 1));
    }
}

/// Nothing need be moved away: it may be all that the turns hold.
#[test]
fn p3_a_folder_that_can_not_be_read_where_a_file_was_refuses_and_says_what_helps() {
    let repo = Repo::with(&[("d", "a file\n")]);
    repo.give_away();
    repo.edio_without_rights(["snapshot", "-m", "first"]).ok();
    repo.remove("d");
    repo.write("d/x", "1\n");
    repo.give_away();
    repo.edio_without_rights(["snapshot"]).ok();
    repo.chmod("d", 0o000);
    let said = is_refused_without_rights(&repo, &["restore", "1"]);
    assert!(said.contains("d is a folder that can't be read"), "{said}");
    assert!(
        said.contains("chmod") && !said.contains("move it away"),
        "{said}"
    );
    repo.chmod("d", 0o755);
    repo.edio_without_rights(["restore", "1"]).ok();
    assert_eq!(repo.manifest(), held(&repo, 1));
}

/// Only the bit of a file differs: the folder need not be changed for it.
#[test]
fn p3_a_bit_is_given_in_a_folder_that_may_not_be_changed() {
    let repo = Repo::with(&[("d/run", "1\n")]);
    repo.give_away();
    repo.edio_without_rights(["snapshot", "-m", "x"]).ok();
    repo.chmod("d/run", 0o755);
    repo.chmod("d", 0o555);
    repo.edio_without_rights(["restore", "1"]).ok();
    repo.chmod("d", 0o755);
    assert_eq!(repo.manifest(), held(&repo, 1));
}

#[test]
fn p3_a_name_of_any_kind_comes_back() {
    let names: [&[u8]; 9] = [
        b" ",
        b"new\nline",
        b"-f",
        b"*",
        b":!x",
        b"caf\xe9/\xff",
        b"\"q\"\\",
        b"\x1b[2J",
        b"trail \n",
    ];
    let repo = Repo::with(&[("a", "1\n")]);
    for name in names {
        repo.write(OsStr::from_bytes(name), "1\n");
    }
    snapshot(&repo);
    for (at, name) in names.iter().enumerate() {
        match at % 3 {
            0 => repo.remove(OsStr::from_bytes(name)),
            1 => repo.write(OsStr::from_bytes(name), "2\n"),
            _ => repo.chmod(OsStr::from_bytes(name), 0o755),
        }
    }
    let said = restore(&repo, 1);
    assert_eq!(repo.manifest(), held(&repo, 1));
    assert!(!said.contains('\x1b'), "{said}");
}

#[test]
fn p3_rules_of_the_turn_are_asked_about_names_of_any_kind() {
    let names: [&[u8]; 6] = [b"*", b":!x", b"new\nline", b"caf\xe9/x", b"-f", b"\"q\""];
    let repo = Repo::with(&[(".gitignore", "kept*\n"), ("a", "1\n")]);
    snapshot(&repo);
    repo.remove(".gitignore");
    for name in names {
        repo.write(OsStr::from_bytes(name), "later\n");
        repo.write(OsStr::from_bytes(&[b"kept ", name].concat()), "later\n");
    }
    snapshot(&repo);
    restore(&repo, 1);
    let left: Vec<String> = repo
        .manifest()
        .into_iter()
        .filter(|line| line.contains("kept "))
        .collect();
    assert_eq!(
        (left.len(), repo.manifest().len()),
        (6, 8),
        "{:?}",
        repo.manifest()
    );
}

#[test]
fn p3_a_file_of_a_persons_that_is_named_like_one_of_edios_stays() {
    let repo = Repo::with(&[(".edio-tmp-tracked", "1\n"), ("a", "1\n")]);
    repo.write(".edio-tmp-notes", "mine\n");
    repo.write("d/.edio-tmp-", "mine\n");
    let before = repo.manifest();
    snapshot(&repo);
    assert_eq!(repo.manifest(), before);
    repo.write(".edio-tmp-tracked", "2\n");
    snapshot(&repo);
    assert_eq!(
        repo.in_turn(2, ".edio-tmp-notes").as_deref(),
        Some("mine\n")
    );
    restore(&repo, 1);
    assert_eq!(repo.manifest(), before);
}

#[test]
fn p3_a_restore_from_within_a_folder_that_goes_works() {
    let repo = Repo::with(&[("a", "1\n")]);
    snapshot(&repo);
    repo.write("d/e/x", "1\n");
    snapshot(&repo);
    repo.edio_in("d/e", ["restore", "1"]).ok();
    assert_eq!(repo.manifest(), held(&repo, 1));
    assert!(!repo.has("d/e/x"));
}

#[test]
fn p4_unsaved_work_becomes_a_safety_turn_that_is_named() {
    let repo = Repo::with(&[("a", "1\n"), ("gone", "1\n")]);
    snapshot(&repo);
    repo.write("a", "unsaved\n");
    repo.write("new", "never seen\n");
    repo.remove("gone");
    let said = restore(&repo, 1);
    assert!(said.contains("your unsaved work is turn 2"), "{said}");
    assert!(said.contains("edio undo"), "{said}");
    assert_eq!(repo.in_turn(2, "a").as_deref(), Some("unsaved\n"));
    assert_eq!(repo.in_turn(2, "new").as_deref(), Some("never seen\n"));
    assert_eq!(repo.in_turn(2, "gone"), None);
    let log = repo.edio(["log", "--json"]);
    let safety = log
        .ok()
        .json()
        .into_iter()
        .find(|turn| turn["turn"] == 2)
        .unwrap();
    assert_eq!(safety["kind"], "safety");
    // The way back that was named is the way back.
    restore(&repo, 2);
    assert_eq!(repo.manifest(), held(&repo, 2));
    assert_eq!(repo.turns(), 2, "nothing was unsaved this time");
}

#[test]
fn p4_current_moves_with_each_restore() {
    let repo = Repo::with(&[("a", "1\n")]);
    for turn in 1..=3 {
        repo.write("a", format!("turn {turn}\n"));
        snapshot(&repo);
    }
    let current = || {
        let log = repo.edio(["log", "--json"]);
        let turns = log.ok().json();
        let current: Vec<_> = turns
            .iter()
            .filter(|turn| turn["current"] == true)
            .map(|t| t["turn"].clone())
            .collect();
        current
    };
    assert_eq!(current(), [3]);
    restore(&repo, 1);
    assert_eq!(current(), [1]);
    repo.edio(["restore", "last"]).ok();
    assert_eq!(current(), [3]);
    repo.edio(["restore", "@-1"]).ok();
    assert_eq!(current(), [2]);
    assert_eq!(repo.read("a"), "turn 2\n");
    repo.edio(["restore", "@"]).ok();
    assert_eq!(current(), [2]);
    let id = repo.git(["rev-parse", &repo.turn_ref(3)]);
    let lettered = (4..40)
        .find(|&length| id[..length].bytes().any(|b| b.is_ascii_lowercase()))
        .unwrap();
    repo.edio(["restore", &id[..lettered]]).ok();
    assert_eq!(current(), [3]);
    restore(&repo, 0);
    assert_eq!(
        current(),
        Vec::<serde_json::Value>::new(),
        "turn 0 is no numbered turn"
    );
    assert!(repo.edio(["status"]).ok().stdout.contains("turn 0"));
    assert_eq!(repo.turns(), 3);
}

#[test]
fn p4_an_ignored_file_in_the_way_is_saved_and_named() {
    let repo = Repo::with(&[
        ("a", "1\n"),
        ("env", "from the turn\n"),
        ("l", "from the turn\n"),
        ("run", "r\n"),
    ]);
    repo.write("d/untracked", "from the turn\n");
    snapshot(&repo);
    repo.git(["rm", "-q", "--cached", "env", "l", "run"]);
    repo.write(".gitignore", "env\n/l\nd/\nrun\n");
    repo.write("env", "SECRET=1\n");
    repo.remove("l");
    repo.link("l", "my own target");
    repo.write("run", "mine\n");
    repo.chmod("run", 0o755);
    repo.write("d/untracked", "mine\n");
    repo.write("d/other", "mine too\n");
    snapshot(&repo);
    assert_eq!(repo.in_turn(2, "env"), None, "it is ignored");
    let said = restore(&repo, 1);
    assert_eq!(repo.read("env"), "from the turn\n");
    assert_eq!(repo.read("d/untracked"), "from the turn\n");
    assert_eq!(
        repo.read("d/other"),
        "mine too\n",
        "the turn has nothing there"
    );
    assert_eq!(saved(&repo, "ignored/env").as_deref(), Some("SECRET=1\n"));
    assert_eq!(saved(&repo, "ignored/l").as_deref(), Some("my own target"));
    assert_eq!(saved(&repo, "ignored/run").as_deref(), Some("mine\n"));
    assert_eq!(
        saved(&repo, "ignored/d/untracked").as_deref(),
        Some("mine\n")
    );
    assert_eq!(saved(&repo, "ignored/d/other"), None);
    for path in ["env", "l", "run", "d/untracked"] {
        assert!(
            said.contains(&format!("ignored file was replaced: {path}")),
            "{said}"
        );
    }
    repo.git(["gc", "-q", "--prune=now"]);
    assert!(repo.is_kept("SECRET=1\n"));
    // The command that it names shows the old content.
    let line = said
        .lines()
        .find(|line| line.contains("replaced: env"))
        .unwrap();
    let named = line
        .split("git show ")
        .nth(1)
        .unwrap()
        .trim_end_matches(')');
    assert_eq!(repo.git(["show", named]), "SECRET=1");
    repo.fsck();
}

#[test]
fn of_many_ignored_files_that_are_replaced_the_first_are_named() {
    let repo = Repo::with(&[("a", "1\n")]);
    let write = |content: &str| (0..7).for_each(|n| repo.write(format!("made/{n}"), content));
    write("from the turn\n");
    snapshot(&repo);
    restore(&repo, 0);
    repo.write(".git/info/exclude", "made\n");
    write("mine\n");
    let said = restore(&repo, 1);
    let named: Vec<&str> = said
        .lines()
        .filter(|line| line.contains("replaced"))
        .collect();
    assert_eq!(named.len(), 6, "{said}");
    assert_eq!(named[5], "  an ignored file was replaced: 2 more");
    assert_eq!(saved(&repo, "ignored/made/6").as_deref(), Some("mine\n"));
}

#[test]
fn p4_what_is_changed_during_a_restore_is_saved_and_named() {
    let repo = Repo::with(&[("a", "turn\n"), ("gone", "turn\n")]);
    snapshot(&repo);
    repo.write("a", "2\n");
    repo.write("later", "2\n");
    repo.remove("gone");
    snapshot(&repo);
    // A git that lets somebody write whenever it is told which contents are wanted. The last time is when the plan is
    // carried out.
    let bin = repo.outside().join("bin");
    fs::create_dir(&bin).unwrap();
    let script = "#!/bin/sh\nPATH=${PATH#*:}\ncase \" $* \" in *' cat-file '*)\n\
                  cat > ../told.$$\necho >> ../calls\n\
                  for path in a gone later; do echo stranger $(wc -l < ../calls) > $path; done\n\
                  exec git \"$@\" < ../told.$$;; esac\n\
                  exec git \"$@\"\n";
    fs::write(bin.join("git"), script).unwrap();
    repo.chmod(bin.join("git"), 0o755);
    let mut command = repo.command(["restore", "1"]);
    let path = format!("{}:{}", bin.display(), crate::common::path());
    let ran = repo.ran(command.env("PATH", path));
    ran.ok();
    assert_eq!(repo.manifest(), held(&repo, 1));
    let calls = fs::read_to_string(repo.outside().join("calls"))
        .unwrap()
        .len();
    assert!(calls > 0);
    let last = format!("stranger {calls}\n");
    for path in ["a", "gone", "later"] {
        assert_eq!(
            saved(&repo, &format!("displaced/{path}")).as_ref(),
            Some(&last),
            "{path}: {ran}"
        );
        assert!(
            ran.stderr
                .contains(&format!("{path} was changed while it was restored")),
            "{ran}"
        );
    }
    repo.fsck();
}

#[test]
fn p4_each_saved_file_stays_reachable_when_others_follow() {
    let repo = Repo::with(&[("a", "1\n")]);
    repo.write("env", "turn\n");
    snapshot(&repo);
    repo.write(".gitignore", "env\n");
    snapshot(&repo);
    for round in 0..3 {
        restore(&repo, 2);
        repo.write("env", format!("secret {round}\n"));
        restore(&repo, 1);
    }
    for round in 0..3 {
        assert!(repo.is_kept(&format!("secret {round}\n")), "round {round}");
    }
}

#[test]
fn p4_what_is_staged_survives() {
    let repo = Repo::with(&[("a", "1\n"), ("b", "1\n"), ("c", "1\n")]);
    snapshot(&repo);
    repo.write("a", "staged\n");
    repo.write("new", "staged new\n");
    repo.git(["add", "a", "new"]);
    repo.write("a", "and edited\n");
    repo.remove("new");
    repo.git(["rm", "-q", "--cached", "b"]);
    repo.git(["mv", "c", "d"]);
    let staged = repo.git(["diff", "--cached"]);
    let files = repo.git_files();
    restore(&repo, 1);
    assert_eq!(repo.git(["diff", "--cached"]), staged);
    restore(&repo, 2);
    restore(&repo, 0);
    repo.git(["gc", "-q", "--prune=now"]);
    assert_eq!(repo.git(["diff", "--cached"]), staged);
    assert_eq!(repo.git(["show", ":a"]), "staged");
    assert_eq!(repo.git(["show", ":new"]), "staged new");
    assert!(
        files
            .iter()
            .any(|line| line.starts_with("\"index\"") && repo.git_files().contains(line))
    );
}

#[test]
fn p4_work_that_no_session_knew_becomes_turn_0() {
    let repo = Repo::with(&[("a", "1\n")]);
    repo.write("a", "2\n");
    repo.edio(["snapshot"]).ok();
    let session = repo.turn_ref(1).split('/').nth(3).unwrap().to_owned();
    repo.edio(["accept", "two"]).ok();
    repo.write("a", "never saved\n");
    repo.write("new", "never saved either\n");
    let ran = repo.edio(["--session", &session, "restore", "1"]);
    ran.ok();
    assert_eq!(repo.manifest(), ["file \"a\" [50, 10]"]);
    assert!(repo.is_kept("never saved\n") && repo.is_kept("never saved either\n"));
    // The hint says how to go back, and it is true. So is turn 0 of the session that began.
    repo.edio(["restore", "0"]).ok();
    assert_eq!(repo.read("a"), "never saved\n");
    assert_eq!(repo.read("new"), "never saved either\n");
    repo.edio(["--session", &session, "restore", "1"]).ok();
    assert!(ran.stderr.contains("to undo it: edio undo"), "{ran}");
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("a"), "never saved\n");
    assert_eq!(repo.read("new"), "never saved either\n");
}

#[test]
fn p4_a_session_begun_by_a_restore_is_accepted_against_where_it_began() {
    let repo = Repo::with(&[("a", "1\n")]);
    for content in ["2\n", "3\n"] {
        repo.write("a", content);
        snapshot(&repo);
    }
    let session = repo.turn_ref(1).split('/').nth(3).unwrap().to_owned();
    repo.edio(["accept", "three"]).ok();
    repo.edio(["--session", &session, "restore", "1"]).ok();
    repo.edio(["accept", "back to two"]).ok();
    assert_eq!(repo.git(["show", "HEAD:a"]), "2");
    assert_eq!(repo.git(["log", "--format=%s"]), "back to two\nthree\nbase");
}

#[test]
fn p4_a_session_begun_by_a_restore_is_found_without_edios_memory() {
    let repo = Repo::with(&[("a", "1\n")]);
    repo.write("a", "2\n");
    repo.edio(["snapshot"]).ok();
    let session = repo.turn_ref(1).split('/').nth(3).unwrap().to_owned();
    repo.edio(["accept", "two"]).ok();
    repo.write("a", "never saved\n");
    repo.edio(["--session", &session, "restore", "1"]).ok();
    let status = || {
        let status = repo.edio(["status", "--json"]);
        status.ok().json()[0]["session"].clone()
    };
    let before = status();
    assert!(before.is_string(), "{}", repo.edio(["status", "--json"]));
    repo.remove(".git/edio");
    assert_eq!(status(), before);
    repo.edio(["restore", "0"]).ok();
    assert_eq!(repo.read("a"), "never saved\n");
}

#[test]
fn p4_an_archived_turn_comes_back_whole_and_by_path() {
    let repo = Repo::with(&[("a", "1\n"), ("b", "1\n")]);
    repo.write("a", "2\n");
    repo.write("new", "n\n");
    repo.edio(["snapshot"]).ok();
    repo.write("a", "3\n");
    repo.remove("new");
    repo.edio(["snapshot"]).ok();
    let session = repo.turn_ref(1).split('/').nth(3).unwrap().to_owned();
    repo.edio(["accept", "three"]).ok();
    repo.edio(["--session", &session, "restore", "1"]).ok();
    assert_eq!(
        (repo.read("a"), repo.read("new")),
        ("2\n".to_owned(), "n\n".to_owned())
    );
    repo.edio(["--session", &session, "restore", "2", "-f", "a"])
        .ok();
    assert_eq!(
        (repo.read("a"), repo.read("new")),
        ("3\n".to_owned(), "n\n".to_owned())
    );
    repo.write("b", "new work\n");
    repo.edio(["snapshot"]).ok();
    repo.edio(["restore", "0"]).ok();
    assert_eq!(
        (repo.read("a"), repo.read("b")),
        ("3\n".to_owned(), "1\n".to_owned())
    );
    assert!(!repo.has("new"));
    repo.fsck();
}

#[test]
fn a_turn_that_is_not_there_changes_nothing_and_names_those_that_are() {
    let repo = Repo::with(&[("a", "1\n")]);
    let ran = repo.edio(["restore", "1"]);
    assert!(ran.fails(1).stderr.contains("edio snapshot"), "{ran}");
    repo.write("a", "2\n");
    snapshot(&repo);
    snapshot(&repo);
    repo.write("a", "unsaved\n");
    let refs = repo.edio_refs();
    for (turn, code) in [
        ("3", 1),
        ("99999999999", 2),
        ("-1", 2),
        ("1x", 2),
        ("", 2),
        ("1..2", 2),
        ("abcd", 1),
        ("@-9", 1),
        ("2.5", 1),
    ] {
        let ran = repo.edio(["restore", turn]);
        ran.fails(code);
        assert_eq!(
            (repo.edio_refs(), repo.read("a")),
            (refs.clone(), "unsaved\n".to_owned()),
            "{turn}"
        );
    }
    assert!(repo.edio(["restore", "3"]).stderr.contains("turns 1 to 2"));
}

#[test]
fn p10_what_a_restore_writes_down_is_plain_git() {
    let repo = Repo::with(&[("a", "1\n")]);
    repo.write("env", "turn\n");
    snapshot(&repo);
    repo.write(".gitignore", "env\n");
    repo.write("env", "secret\n");
    restore(&repo, 1);
    let ops = repo.turn_ref(1).replace("/1", "/ops");
    let message = repo.git(["show", "-s", "--format=%B", &ops]);
    assert!(message.contains("Edio-Op: restore\n"), "{message}");
    let trailer = |name: &str| {
        repo.git([
            "show",
            "-s",
            &format!("--format=%(trailers:key={name},valueonly)"),
            &ops,
        ])
    };
    assert_eq!(
        trailer("Edio-To").trim(),
        repo.git(["rev-parse", &repo.turn_ref(1)])
    );
    assert_eq!(
        trailer("Edio-From").trim(),
        repo.git(["rev-parse", &repo.turn_ref(2)])
    );
    let tree = |name: &str| repo.git(["rev-parse", &format!("{name}^{{tree}}")]);
    assert_eq!(tree(&ops), tree(&repo.turn_ref(1)));
    for leaf in ["/side", "/current"] {
        assert_eq!(
            repo.git(["cat-file", "-t", &repo.turn_ref(1).replace("/1", leaf)]),
            "commit"
        );
    }
    repo.fsck();
}

/// Somewhere in the midst the system refuses to write: a file that is too large for it.
#[test]
fn p4_a_restore_that_stopped_midway_is_said_and_taken_back_by_an_undo() {
    let repo = Repo::with(&[("a", "0\n"), ("m/f", "0\n"), ("z", "0\n")]);
    let large = "1\n".repeat(100_000);
    for turn in ["1\n", "2\n", "3\n"] {
        for file in ["a", "m/f", "z"] {
            repo.write(file, turn);
        }
        if turn == "1\n" {
            repo.write("m/f", &large);
        }
        repo.edio(["snapshot"]).ok();
    }
    let mut limited = repo.like_edio("sh", ["restore"]);
    limited.args(["-c", "trap '' XFSZ; ulimit -f 200; exec \"$0\" restore 1"]);
    limited.arg(edio_binary());
    repo.ran(&mut limited).fails(1);
    assert_eq!([repo.read("a"), repo.read("z")], ["1\n", "3\n"]);
    assert_eq!(repo.read("m/f"), "3\n");
    let status = repo.edio(["status"]);
    assert!(
        status.ok().stdout.contains("interrupted: restore 1"),
        "{status}"
    );
    let ran = repo.edio(["undo"]);
    assert!(ran.ok().stderr.contains("undone: restore 1"), "{ran}");
    for file in ["a", "m/f", "z"] {
        assert_eq!(repo.read(file), "3\n");
    }
    repo.edio(["redo"]).ok();
    assert_eq!([repo.read("a"), repo.read("z")], ["1\n", "3\n"]);
    repo.edio(["undo"]).ok();
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("m/f"), "2\n");
}

/// Restores turn 1, and is killed when all is on disk and nothing says so yet.
fn restore_killed_at_the_end(repo: &Repo) {
    killed_at_the_end(repo, &["restore", "1"]);
}

fn killed_at_the_end(repo: &Repo, words: &[&str]) {
    let path = repo.git_instead(
        "case \" $* \" in *\" update-ref \"*)\n\
         cat > \"$0.$$\"\n\
         tr '\\0' '\\n' < \"$0.$$\" | grep -q '^update refs/edio/active/.*/current$' && kill -9 $PPID && exit 1\n\
         exec \"$GIT\" \"$@\" < \"$0.$$\" ;;\n\
         esac\n\
         exec \"$GIT\" \"$@\"\n",
    );
    let ran = repo.ran(repo.command(words).env("PATH", path));
    assert_eq!(ran.code, None, "{ran}");
}

/// A repository whose files all said `1` in turn 1, and say `2` in turn 2.
fn ones_and_twos() -> Repo {
    let repo = Repo::with(&[("a", "0\n"), ("b", "0\n"), ("c", "0\n")]);
    for turn in ["1\n", "2\n"] {
        for file in ["a", "b", "c"] {
            repo.write(file, turn);
        }
        repo.edio(["snapshot"]).ok();
    }
    repo
}

fn said(repo: &Repo) -> String {
    ["a", "b", "c"].map(|file| repo.read(file)).concat()
}

#[test]
fn p5_what_a_kill_left_half_way_is_no_state_that_an_undo_leads_to() {
    let repo = ones_and_twos();
    restore_killed_at_the_end(&repo);
    // Of these it has not come yet.
    repo.write("b", "2\n");
    repo.remove("c");
    repo.write("c", "2\n");
    let ran = repo.edio(["snapshot", "--if-changed"]);
    assert!(
        ran.ok().stderr.contains("restore 1 was interrupted"),
        "{ran}"
    );
    assert_eq!(said(&repo), "1\n1\n1\n");
    assert_eq!(repo.turns(), 2, "{ran}");
    repo.edio(["undo"]).ok();
    assert_eq!(said(&repo), "2\n2\n2\n");
    repo.edio(["redo"]).ok();
    assert_eq!(said(&repo), "1\n1\n1\n");
}

#[test]
fn p4_what_a_person_did_since_a_kill_is_one() {
    let repo = ones_and_twos();
    restore_killed_at_the_end(&repo);
    repo.write("b", "2\n");
    repo.write("c", "mine\n");
    repo.edio(["snapshot", "--if-changed"]).ok();
    assert_eq!(said(&repo), "1\n1\n1\n");
    repo.edio(["undo"]).ok();
    assert_eq!(said(&repo), "1\n2\nmine\n");
}

#[test]
fn p5_what_a_killed_restore_left_in_a_folder_does_not_keep_a_file_from_its_place() {
    for ignored in ["", "d/\n"] {
        let repo = Repo::with(&[("d", "a file\n"), (".gitignore", ignored)]);
        repo.edio(["snapshot", "-m", "one"]).ok();
        repo.remove("d");
        for file in ["d/1", "d/2"] {
            repo.write(file, "inside\n");
        }
        repo.git(["add", "-f", "d"]);
        repo.edio(["snapshot", "-m", "two"]).ok();
        restore_killed_at_the_end(&repo);
        repo.remove("d");
        repo.write("d/2", "inside\n");
        repo.write("d/.edio-tmp-0123456789abcdef", "half of ");
        let ran = repo.edio(["restore", "1"]);
        assert_eq!(repo.read("d"), "a file\n", "{ran}");
        ran.ok();
        repo.edio(["undo"]).ok();
        assert_eq!(repo.manifest_of(repo.path("d")).len(), 2);
    }
}

#[test]
fn p5_a_restore_that_is_finished_and_killed_again_is_finished_once_more() {
    let repo = ones_and_twos();
    restore_killed_at_the_end(&repo);
    repo.write("b", "2\n");
    // The next command, killed where it has written the operation down anew.
    let bin = repo.outside().join("bin");
    let mut command = repo.command(["snapshot", "--if-changed"]);
    command.env("PATH", format!("{}:{}", bin.display(), path()));
    let ran = repo.ran(&mut command);
    assert_eq!(ran.code, None, "{ran}");
    repo.write("c", "2\n");
    let status = repo.edio(["status"]);
    assert!(
        status.ok().stdout.contains("interrupted: restore 1"),
        "{status}"
    );
    repo.edio(["snapshot", "--if-changed"]).ok();
    assert_eq!((said(&repo).as_str(), repo.turns()), ("1\n1\n1\n", 2));
    repo.edio(["undo"]).ok();
    assert_eq!(said(&repo), "2\n2\n2\n");
    repo.fsck();
}

#[test]
fn p4_ignored_files_that_a_person_wrote_since_a_kill_are_saved() {
    let repo = Repo::with(&[("a", "0\n"), ("p", "v1\n")]);
    repo.edio(["snapshot", "-m", "one"]).ok();
    repo.git(["rm", "-q", "--cached", "p"]);
    repo.write(".git/info/exclude", "p\n");
    repo.write("a", "2\n");
    repo.write("p", "PRECIOUS\n");
    repo.edio(["snapshot", "-m", "two"]).ok();
    restore_killed_at_the_end(&repo);
    repo.write("p", "MINE\n");
    repo.edio(["snapshot", "--if-changed"]).ok();
    repo.edio(["undo"]).ok();
    for content in ["PRECIOUS\n", "MINE\n"] {
        assert!(repo.is_kept(content), "{content}");
    }
}

/// Turn 1 has a file that is ignored in turn 2, where another stands in its place.
fn one_ignored() -> Repo {
    let repo = Repo::with(&[("a", "0\n")]);
    repo.write("env", "turn\n");
    repo.edio(["snapshot"]).ok();
    repo.write(".gitignore", "env\n");
    repo.write("a", "2\n");
    repo.write("env", "precious\n");
    repo.edio(["snapshot"]).ok();
    repo
}

#[test]
fn p5_the_undo_of_a_restore_that_was_finished_brings_ignored_files_back() {
    for is_begun in [false, true] {
        let repo = one_ignored();
        restore_killed_at_the_end(&repo);
        if is_begun {
            // It has come to nothing but that file.
            repo.write("a", "2\n");
            repo.write(".gitignore", "env\n");
        }
        repo.edio(["snapshot", "--if-changed"]).ok();
        let now = [repo.read("a"), repo.read("env")];
        assert_eq!(now, ["0\n", "turn\n"]);
        assert!(!repo.path(".gitignore").exists());
        repo.edio(["undo"]).ok();
        assert_eq!([repo.read("a"), repo.read("env")], ["2\n", "precious\n"]);
        repo.edio(["redo"]).ok();
        assert_eq!([repo.read("a"), repo.read("env")], now);
    }
}

#[test]
fn p5_an_undo_that_was_killed_goes_on_to_bring_ignored_files_back() {
    let repo = one_ignored();
    restore_killed_at_the_end(&repo);
    repo.edio(["snapshot", "--if-changed"]).ok();
    killed_at_the_end(&repo, &["undo"]);
    // Of these it has not come yet.
    repo.write("env", "turn\n");
    repo.write("a", "0\n");
    repo.edio(["snapshot", "--if-changed"]).ok();
    assert_eq!([repo.read("a"), repo.read("env")], ["2\n", "precious\n"]);
    repo.edio(["redo"]).ok();
    assert_eq!([repo.read("a"), repo.read("env")], ["0\n", "turn\n"]);
    repo.edio(["undo"]).ok();
    assert_eq!([repo.read("a"), repo.read("env")], ["2\n", "precious\n"]);
}
