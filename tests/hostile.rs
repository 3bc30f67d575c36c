//! Turns from elsewhere that were made to do harm (P9): whatever their trees, messages and refs say, nothing is written
//! outside the work tree or in a git directory, no link is followed, nothing of the user's in git moves, nothing is
//! printed raw, and nothing ends in a panic.

use std::cell::RefCell;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::cli::is_harmless;
use crate::common::{Ran, Repo};

/// A repository with a session of one honest turn, and a folder outside that must stay as it is.
struct Scene {
    /// What is tried here.
    what: String,
    repo: Repo,
    session: String,
    /// The state after the last command.
    before: RefCell<Vec<String>>,
}

/// An entry of a tree: its mode, its name, the id of its object.
type Entry<'a> = (&'a str, &'a [u8], String);

/// Makes something in a scene.
type Make<'a, T> = &'a dyn Fn(&Scene) -> T;

impl Scene {
    fn of(what: impl Into<String>) -> Self {
        let repo = Repo::with(&[("a", "base\n"), ("folder/b", "base\n")]);
        repo.write("a", "one\n");
        repo.edio(["snapshot", "-m", "honest"]).ok();
        let outside = repo.outside().join("victim");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("x"), "precious\n").unwrap();
        let session = repo.sessions("active").remove(0);
        let scene = Self {
            what: what.into(),
            repo,
            session,
            before: RefCell::default(),
        };
        scene.begins();
        scene
    }

    /// Writes an object of any content, sound or not.
    fn object(&self, kind: &str, content: &[u8]) -> String {
        let mut git = Command::new("git");
        self.repo.surround(&mut git);
        git.current_dir(&self.repo.top).args([
            "hash-object",
            "-t",
            kind,
            "--literally",
            "-w",
            "--stdin",
        ]);
        let mut git = git
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        git.stdin.take().unwrap().write_all(content).unwrap();
        let output = git.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn blob(&self, content: &str) -> String {
        self.object("blob", content.as_bytes())
    }

    fn tree(&self, entries: &[Entry<'_>]) -> String {
        let mut content = Vec::new();
        for (mode, name, oid) in entries {
            content.extend_from_slice(mode.as_bytes());
            content.push(b' ');
            content.extend_from_slice(name);
            content.push(0);
            let digits = oid.as_bytes().chunks(2);
            let byte = |two: &[u8]| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16);
            content.extend(digits.map(|two| byte(two).unwrap()));
        }
        self.object("tree", &content)
    }

    /// Trees within one another, with this entry at their end.
    fn nested(&self, parts: &[&str], mode: &str, oid: String) -> String {
        let (last, folders) = parts.split_last().unwrap();
        let tree = self.tree(&[(mode, last.as_bytes(), oid)]);
        let folders = folders.iter().rev();
        folders.fold(tree, |tree, folder| {
            self.tree(&[("40000", folder.as_bytes(), tree)])
        })
    }

    /// Has a ref of the session point to this object.
    fn point(&self, leaf: &str, oid: &str) {
        self.repo.git(["update-ref", &self.name(leaf), oid]);
    }

    /// Brings turn 1 back whatever was done, and to the last byte.
    #[track_caller]
    fn recovers(&self) {
        self.repo.edio(["restore", "1"]).ok();
        assert_eq!(
            self.repo.manifest(),
            self.repo.manifest_in(&self.repo.turn_ref(1))
        );
    }

    fn commit(&self, tree: &str, parent: &str, message: &str) -> String {
        let text = format!(
            "tree {tree}\nparent {parent}\nauthor edio <edio@localhost> 1800000000 +0000\n\
             committer edio <edio@localhost> 1800000000 +0000\n\n{message}"
        );
        self.object("commit", text.as_bytes())
    }

    /// Makes a turn 2 with this tree.
    fn turn(&self, tree: &str) -> String {
        let commit = self.commit(tree, &self.honest(), &self.message(2));
        self.point("2", &commit);
        commit
    }

    /// The commit of turn 1.
    fn honest(&self) -> String {
        self.repo.git(["rev-parse", &self.repo.turn_ref(1)])
    }

    /// A tree that is as it should be.
    fn sound_tree(&self) -> String {
        self.tree(&[("100644", b"a", self.blob("evil\n"))])
    }

    /// The full name of a ref of the session.
    fn name(&self, leaf: &str) -> String {
        format!("refs/edio/active/{}/{leaf}", self.session)
    }

    /// Has a ref of the session point to another ref.
    fn point_at_ref(&self, leaf: &str, other: &str) {
        let name = self.name(leaf);
        self.repo.git(["update-ref", "--no-deref", "-d", &name]);
        self.repo.git(["symbolic-ref", &name, other]);
    }

    /// What the message of a turn's commit says.
    fn message(&self, number: u32) -> String {
        format!(
            "evil\x1b[2J\u{202e}\n\nEdio-Session: {}\nEdio-Turn: {number}\nEdio-Kind: turn\nEdio-Worktree: .\n\
             Edio-Branch: refs/heads/main\nEdio-Stat: 1 1 0\nEdio-Version: 1\n",
            self.session
        )
    }

    /// What lies outside, and what is the user's in the git directory.
    fn state(&self) -> Vec<String> {
        let outside = self.repo.outside();
        let mut state = self.repo.everything_in(outside.join("victim"));
        let names = fs::read_dir(&outside).unwrap();
        let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
        state.extend(names.map(name).map(|name| format!("outside {name:?}")));
        let git_dir = self.repo.path(".git");
        state.extend(self.repo.git_files_in(git_dir.to_str().unwrap()));
        state.sort();
        state
    }

    /// From here on the state must stay as it is.
    fn begins(&self) {
        self.before.replace(self.state());
    }

    /// Runs these command lines, which may fail, and must do no harm.
    #[track_caller]
    fn plays(&self, lines: &str) {
        for line in lines.split('|') {
            let _ran = self.does(line);
        }
    }

    /// Runs a command line, which may fail, and must do no harm.
    #[track_caller]
    fn does(&self, line: &str) -> Ran {
        let words: Vec<&str> = line.split(' ').collect();
        let ran = self.repo.edio(&words);
        let told = format!("{:?}, edio {line}: {ran}", self.what);
        assert!(matches!(ran.code, Some(0..=3)), "{told}");
        assert!(!ran.stderr.contains("panicked"), "{told}");
        let says_why = [&ran.stdout, &ran.stderr]
            .iter()
            .any(|text| text.contains("error"));
        assert!(ran.code == Some(0) || says_why, "{told}");
        // A patch is passed on as it is to who is no terminal.
        if !matches!(words[..], ["show" | "diff", ..] | ["log", "-p", ..]) {
            is_harmless(&ran);
        }
        let may_commit = matches!(words[0], "accept" | "undo" | "redo");
        let after = self.state();
        let before = self.before.replace(after.clone());
        let of_the_users = |line: &&String| !(may_commit && moves_in_a_commit(line));
        let differ = |one: &[String], other: &[String]| -> Vec<String> {
            let only = one.iter().filter(|line| !other.contains(line));
            only.filter(of_the_users).cloned().collect()
        };
        let (gone, new) = (differ(&before, &after), differ(&after, &before));
        let same = gone.is_empty() && new.is_empty();
        assert!(same, "gone {gone:?}, new {new:?}: {told}");
        ran
    }
}

/// Is this a part of the state that a commit changes?
fn moves_in_a_commit(line: &str) -> bool {
    let moves = ["index\"", "HEAD\"", "logs", "refs"];
    let file = line.strip_prefix('"');
    // What stands in no quotes is a ref, as git lists it.
    file.is_none_or(|name| moves.iter().any(|part| name.starts_with(part)))
        && !line.starts_with("outside ")
}

/// Every way to look at turn 2.
const LOOKS: &str = "log|log -p|log --all --json|show 2|show 2 --json|diff 2|diff 1..2 --json\
                     |diff 2 --workspace|status|status --json|sessions|gc --dry-run\
                     |restore 2 --dry-run|accept --dry-run x";

/// What can be made of it.
const DEEDS: &str = "restore 2 -f a|restore 2|undo|redo|undo|revert 2|revert 1..2|snapshot -m after\
                     |accept --turn 2 x|accept x|undo|redo|snapshot|sessions --close|gc -d 0";

#[test]
fn a_path_that_no_work_tree_can_hold_is_named_and_nothing_comes_of_it() {
    let paths = [
        ".",
        "..",
        "../victim/y",
        "/etc/evil",
        "a//b",
        "a/",
        ".git",
        ".git/hooks/post-commit",
        "sub/.git/config",
        ".GIT",
        "git~1",
        ".git ",
        ".git.",
        ".git::$INDEX_ALLOCATION",
        ".g\u{200c}it",
        "e\x1b]0;evil\x07/..",
    ];
    for path in paths {
        for parts in [path.split('/').collect(), vec![path]] {
            let scene = Scene::of(format!("{parts:?}"));
            if parts.len() > 1 && parts.contains(&"") {
                continue;
            }
            scene.turn(&scene.nested(&parts, "100755", scene.blob("evil\n")));
            let before = (scene.repo.manifest(), scene.repo.git(["rev-parse", "HEAD"]));
            scene.plays("log|log -p|diff 2|diff --workspace|status|sessions|gc --dry-run");
            for line in "show 2|diff 1..2 --json|restore 2 --dry-run|restore 2 -f a|restore 2|accept --turn 2 x".split('|') {
                let ran = scene.does(line);
                let errors = format!("{}{}", ran.stdout, ran.stderr);
                assert_eq!(ran.code, Some(1), "{path:?} {line}: {ran}");
                assert!(errors.contains("can't be in a work tree: "), "{path:?} {line}: {ran}");
            }
            scene.plays("revert 2|snapshot|undo|redo|accept --dry-run x");
            let after = (scene.repo.manifest(), scene.repo.git(["rev-parse", "HEAD"]));
            assert_eq!(after, before, "{path:?}");
        }
    }
}

#[test]
fn a_name_that_looks_like_something_else_is_a_name() {
    let names = [
        "-rf",
        "--",
        "--all",
        ":(top)x",
        ":!x",
        "*",
        "%s%n",
        "$(touch x)",
        "`touch x`",
        "e\x1b]0;evil\x07",
        "n\nl",
        "..\\evil",
        "HEAD",
        "@{-1}",
        "refs",
        ".gitmodules",
    ];
    let scene = Scene::of("names");
    let mut sorted = names;
    sorted.sort_unstable();
    let entries: Vec<Entry<'_>> = sorted
        .iter()
        .map(|name| ("100644", name.as_bytes(), scene.blob(name)))
        .collect();
    scene.turn(&scene.tree(&entries));
    scene.plays(LOOKS);
    for name in ["-rf", "--all", ":(top)x", "*", "HEAD"] {
        scene.plays(&format!("restore 2 --file={name}"));
        assert_eq!(scene.repo.read(name), name);
    }
    scene.does("restore 2").ok();
    assert_eq!(
        scene.repo.manifest(),
        scene.repo.manifest_in(&scene.name("2"))
    );
    scene.plays("accept x|undo|redo|status|sessions --close");
    assert_eq!(
        scene.repo.git(["ls-files", "-z"]).matches('\0').count(),
        names.len()
    );
}

#[test]
fn a_tree_that_no_git_would_write_is_refused_or_brought_back() {
    let outside = |scene: &Scene| scene.blob("../victim");
    let missing = "1".repeat(40);
    let folder = |scene: &Scene| scene.nested(&["x"], "100644", scene.blob("evil\n"));
    let trees: &[(&str, Make<'_, String>)] = &[
        ("two of one name", &|scene| {
            scene.tree(&[
                ("100644", b"a", scene.blob("1")),
                ("100644", b"a", scene.blob("2")),
            ])
        }),
        ("a file and a folder", &|scene| {
            scene.tree(&[
                ("100644", b"d", scene.blob("1")),
                ("40000", b"d", folder(scene)),
            ])
        }),
        ("a link out and a folder", &|scene| {
            scene.tree(&[
                ("120000", b"d", outside(scene)),
                ("40000", b"d", folder(scene)),
            ])
        }),
        ("a folder and a link out", &|scene| {
            scene.tree(&[
                ("40000", b"d", folder(scene)),
                ("120000", b"d", outside(scene)),
            ])
        }),
        ("the wrong order", &|scene| {
            scene.tree(&[
                ("100644", b"z", scene.blob("1")),
                ("100644", b"a", scene.blob("2")),
            ])
        }),
        ("no name", &|scene| {
            scene.tree(&[("100644", b"", scene.blob("1"))])
        }),
        ("a missing file", &|scene| {
            scene.tree(&[("100644", b"a", missing.clone())])
        }),
        ("a missing folder", &|scene| {
            scene.tree(&[("40000", b"a", missing.clone())])
        }),
        ("a file as a folder", &|scene| {
            scene.tree(&[("40000", b"a", scene.blob("1"))])
        }),
        ("a folder as a file", &|scene| {
            scene.tree(&[("100644", b"a", folder(scene))])
        }),
        ("a submodule", &|scene| {
            scene.tree(&[("160000", b"a", scene.honest())])
        }),
        ("a link to a NUL", &|scene| {
            scene.tree(&[("120000", b"a", scene.blob("x\0y"))])
        }),
        ("a link to nowhere", &|scene| {
            scene.tree(&[("120000", b"a", scene.blob(""))])
        }),
        ("an unknown mode", &|scene| {
            scene.tree(&[("777777", b"a", scene.blob("1"))])
        }),
        ("no mode", &|scene| {
            scene.tree(&[("0", b"a", scene.blob("1"))])
        }),
        ("more bits", &|scene| {
            scene.tree(&[("106777", b"a", scene.blob("1"))])
        }),
        ("a long name", &|scene| {
            scene.tree(&[("100644", "n".repeat(300).as_bytes(), scene.blob("1"))])
        }),
    ];
    for (what, make) in trees {
        let scene = Scene::of(*what);
        scene.turn(&make(&scene));
        scene.plays(LOOKS);
        scene.plays("restore 2 -f a|restore 2|undo|redo|revert 2|revert 1..2|snapshot -m after");
        scene.recovers();
        scene.plays("restore 2|accept --turn 2 x|undo");
    }
}

#[test]
fn a_file_that_is_missing_is_named_by_its_path() {
    let scene = Scene::of("a missing file");
    scene.turn(&scene.nested(&["folder", "lost"], "100644", "1".repeat(40)));
    let ran = scene.does("restore 2");
    assert!(ran.fails(1).stderr.contains("folder/lost"), "{ran}");
    scene.recovers();
}

#[test]
fn no_turn_is_written_through_a_link_of_another() {
    let scene = Scene::of("a link, then a folder");
    let link = scene.tree(&[("120000", b"d", scene.blob("../victim"))]);
    let second = scene.turn(&link);
    let folder = scene.nested(&["d", "x"], "100644", scene.blob("evil\n"));
    let third = scene.commit(&folder, &second, &scene.message(3));
    scene.point("3", &third);
    for line in "restore 2|restore 3|restore 2|undo|redo|restore 3 -f d|restore 2 -f d".split('|') {
        scene.does(line).ok();
    }
    // What is now a link is not made a folder for the sake of one file in it.
    scene.does("restore 3 -f d/x").fails(3);
    scene.does("restore 3").ok();
    assert!(!scene.repo.path("d").is_symlink());
    assert_eq!(scene.repo.read("d/x"), "evil\n");
    scene.plays("revert 3|restore 2|revert 2|accept x|undo|restore 3");
}

/// A turn 2 whose message claims this, and one that stands there.
#[track_caller]
fn is_checked(claim: &str) {
    let scene = Scene::of(claim);
    let (name, _) = claim.split_once(' ').unwrap_or((claim, ""));
    let told = scene.message(2);
    let others = told.lines().filter(|line| !line.starts_with(name));
    let message: String = others
        .chain([claim])
        .map(|line| format!("{line}\n"))
        .collect();
    let commit = scene.commit(&scene.sound_tree(), &scene.honest(), &message);
    scene.point("2", &commit);
    scene.plays("log|show 2|restore 2|undo");
    scene.point("current", &commit);
    scene.plays(LOOKS);
    scene.plays(DEEDS);
}

#[test]
fn which_turn_a_message_claims_to_be_is_checked() {
    for claim in [
        "Edio-Turn: 2\nEdio-Turn: 99",
        "Edio-Turn: 99999999999999999999",
        "Edio-Turn: 4294967295",
        "Edio-Turn: 2.1",
        "Edio-Kind: step",
        "Edio-Kind: baseline",
        "Edio-Kind: evil",
        "\0",
    ] {
        is_checked(claim);
    }
}

#[test]
fn where_a_message_claims_to_be_from_is_checked() {
    for claim in [
        "Edio-Session: sess_1_00000000",
        "Edio-Session: ../../x",
        "Edio-Worktree: ../../../victim",
        "Edio-Head: 0000000000000000000000000000000000000000",
        "Edio-Branch: --evil\x1b[2J\nEdio-Agent: evil\x1b]0;x\x07\u{202e}\nEdio-Status: evil\nEdio-Exit: 99999999999",
    ] {
        is_checked(claim);
    }
}

#[test]
fn what_a_message_claims_of_its_turn_is_checked() {
    for claim in [
        "Edio-Stat: 18446744073709551615 18446744073709551615 18446744073709551615",
        "Edio-Stat: -1 0 0",
        "Edio-Skipped: 1 [",
        "Edio-Skipped: 2 [{\"path\":\"../victim\",\"why\":\"nested\"},{\"path\":\".git/hooks\",\"why\":\"special\"}]",
        "Edio-Skipped: 18446744073709551615 []",
        "Edio-Side: 1111111111111111111111111111111111111111",
    ] {
        is_checked(claim);
    }
}

#[test]
fn a_time_that_is_none_is_no_time() {
    let scene = Scene::of("no time");
    let commit = format!(
        "tree {}\nparent {}\nauthor e <e> 99999999999999999999 +0000\n\
         committer e <e> -99999999999999999 +9999\n\n{}",
        scene.sound_tree(),
        scene.honest(),
        scene.message(2)
    );
    let commit = scene.object("commit", commit.as_bytes());
    scene.point("2", &commit);
    scene.point("current", &commit);
    scene.plays(LOOKS);
    scene.plays(DEEDS);
}

#[test]
fn a_ref_that_points_anywhere_moves_nothing_of_the_users() {
    let tag = |scene: &Scene| {
        let tag = format!(
            "object {}\ntype commit\ntag x\ntagger e <e> 1 +0000\n\nx\n",
            scene.honest()
        );
        scene.object("tag", tag.as_bytes())
    };
    let refs: &[(&str, Make<'_, ()>)] = &[
        ("tags", &|scene| {
            ["2", "ops"]
                .iter()
                .for_each(|leaf| scene.point(leaf, &tag(scene)))
        }),
        ("a tag as current", &|scene| {
            ["current", "side"]
                .iter()
                .for_each(|leaf| scene.point(leaf, &tag(scene)))
        }),
        ("trees and blobs", &|scene| {
            scene.point("2", &scene.blob("x"));
            scene.point("current", &scene.sound_tree());
        }),
        ("odd names", &|scene| {
            for leaf in ["2/8", "07", "x", "-rf", "4294967296", "4294967295"] {
                scene.point(leaf, &scene.honest());
            }
            for name in [
                "active/--all/1",
                "active/s.e-_x/1",
                "x",
                "archive/\u{202e}evil/current",
            ] {
                scene
                    .repo
                    .git(["update-ref", &format!("refs/edio/{name}"), &scene.honest()]);
            }
        }),
        ("the user's branch", &|scene| {
            ["2", "current", "ops", "side"]
                .iter()
                .for_each(|leaf| scene.point_at_ref(leaf, "refs/heads/main"));
        }),
        ("a branch at a turn", &|scene| {
            let turn = scene.turn(&scene.sound_tree());
            scene.repo.git(["update-ref", "refs/heads/theirs", &turn]);
            scene.begins();
            scene.point_at_ref("2", "refs/heads/theirs");
            scene.point_at_ref("current", "refs/heads/theirs");
        }),
        ("nothing", &|scene| {
            ["2", "current"]
                .iter()
                .for_each(|leaf| scene.point_at_ref(leaf, "refs/heads/nowhere"))
        }),
    ];
    for (what, make) in refs {
        let scene = Scene::of(*what);
        make(&scene);
        let theirs = |scene: &Scene| {
            scene
                .repo
                .git(["for-each-ref", "refs/heads/theirs", "refs/heads/nowhere"])
        };
        let before = theirs(&scene);
        scene.plays(LOOKS);
        scene.plays(DEEDS);
        assert_eq!(theirs(&scene), before, "{what}");
    }
}

#[test]
fn an_operation_that_nobody_has_carried_out_moves_no_branch() {
    for branch in [
        "refs/heads/main",
        "refs/heads/other",
        "refs/tags/v1",
        "--stdin",
        "-d",
        "HEAD",
    ] {
        let scene = Scene::of(branch);
        let repo = &scene.repo;
        repo.git(["branch", "other"]);
        repo.git(["tag", "v1"]);
        scene.begins();
        let (head, evil) = (repo.git(["rev-parse", "HEAD"]), scene.honest());
        for (before, after) in [(&head, &evil), (&evil, &head)] {
            let message = format!(
                "accept x\n\nEdio-Session: {}\nEdio-Op: accept\nEdio-From: {evil}\nEdio-To: {evil}\nEdio-Last: 1\n\
                 Edio-Worktree: .\nEdio-Head-Before: {before}\nEdio-Head-After: {after}\nEdio-Branch: {branch}\n\
                 Edio-Version: 1\n",
                scene.session
            );
            scene.point("ops", &scene.commit(&scene.sound_tree(), &evil, &message));
            let refs = || repo.git(["for-each-ref", "refs/heads", "refs/tags"]);
            let users = refs();
            for line in "log|status|undo|redo|snapshot|undo".split('|') {
                scene.plays(line);
                assert_eq!(refs(), users, "{branch}: {line}");
            }
        }
    }
}
