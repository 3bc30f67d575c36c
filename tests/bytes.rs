//! The bytes on disk behind line endings, encodings, idents and filters: P3 (exact) and P4 (nothing is lost).

use std::fs;

use crate::common::Repo;

/// A repository with a first commit, this line in its `.gitattributes`, and these settings.
fn repo_with(attributes: &str, settings: &[(&str, &str)]) -> Repo {
    let repo = Repo::with(&[("other", "o\n"), ("f", "base\n")]);
    set(&repo, settings);
    if !attributes.is_empty() {
        repo.write(".gitattributes", format!("{attributes}\n"));
    }
    repo.git(["add", "-A"]);
    repo.git(["commit", "-q", "--allow-empty", "-m", "attributes"]);
    repo
}

fn set(repo: &Repo, settings: &[(&str, &str)]) {
    for (key, value) in settings {
        repo.git(["config", key, value]);
    }
}

/// A program for a filter. Returns its name.
fn script(repo: &Repo, name: &str, text: &str) -> String {
    let file = repo.outside().join(name);
    repo.write(&file, format!("#!/bin/sh\n{text}\n"));
    repo.chmod(&file, 0o755);
    file.to_str().unwrap().to_owned()
}

fn snapshot(repo: &Repo) {
    repo.edio(["snapshot"]).ok();
}

fn restore(repo: &Repo, turn: usize) {
    repo.edio(["restore", &turn.to_string()]).ok();
}

fn bytes(repo: &Repo, path: &str) -> Vec<u8> {
    fs::read(repo.path(path)).unwrap()
}

#[track_caller]
fn is(repo: &Repo, path: &str, content: impl AsRef<[u8]>, what: &str) {
    let (found, wanted) = (bytes(repo, path), content.as_ref());
    let text = |bytes: &[u8]| format!("{:?}", String::from_utf8_lossy(bytes));
    assert_eq!(text(&found), text(wanted), "{path}: {what}");
    assert_eq!(found, wanted, "{path}: {what}");
}

#[test]
fn p4_what_was_gone_and_comes_back_with_bytes_that_git_hides_is_noted() {
    let settings = [("filter.lossy.clean", "sed /^OUT/d")];
    let repo = repo_with("*.lossy filter=lossy", &settings);
    repo.write("x.lossy", "1\n");
    repo.git(["add", "x.lossy"]);
    repo.git(["commit", "-q", "-m", "lossy"]);
    repo.remove("x.lossy");
    snapshot(&repo);
    repo.edio(["undo"]).ok();
    // Its blob is the one that the turn before has, and the last look did not find it.
    repo.write("x.lossy", "1\nOUT 2\n");
    repo.edio(["snapshot", "-m", "again"]).ok();
    repo.write("x.lossy", "1\n");
    snapshot(&repo);
    restore(&repo, 2);
    is(&repo, "x.lossy", "1\nOUT 2\n", "after a restore");
}

/// Takes a turn of each content of `f`, and goes to each, whole and in part, back and forth.
fn come_back(repo: &Repo, contents: &[&[u8]]) {
    let mut disks = Vec::new();
    for content in contents {
        repo.write("f", content);
        snapshot(repo);
        disks.push(repo.manifest());
    }
    let count = contents.len();
    assert_eq!(repo.turns(), count);
    let order = (1..=count).chain((1..count).rev()).chain([count, 1]);
    for turn in order {
        restore(repo, turn);
        assert_eq!(repo.manifest(), disks[turn - 1], "to turn {turn}");
    }
    assert_eq!(repo.turns(), count, "nothing was unsaved");
    repo.edio(["undo"]).ok();
    assert_eq!(repo.manifest(), disks[count - 1], "undone");
    repo.edio(["redo"]).ok();
    assert_eq!(repo.manifest(), disks[0], "done again");
    restore(repo, count);
    repo.edio(["restore", "1", "-f", "f"]).ok();
    is(repo, "f", contents[0], "restored alone");
    repo.edio(["undo"]).ok();
    assert_eq!(repo.manifest(), disks[count - 1], "that undone");
    repo.edio(["redo"]).ok();
    is(repo, "f", contents[0], "and done again");
    repo.write("f", contents[count - 1]);
    repo.write("other", "later still\n");
    restore(repo, 1);
    assert_eq!(repo.manifest(), disks[0]);
    repo.edio(["undo"]).ok();
    is(repo, "f", contents[count - 1], "unsaved, and undone");
    repo.fsck();
}

const LINES: [&[u8]; 6] = [
    b"1\nlf\n",
    b"2\r\ncrlf\r\n",
    b"3\r\nmixed\n\r\r\n",
    b"4\0\r\nbinary\n\xff",
    b"5\r\nno end",
    b"",
];

#[test]
fn p3_line_ends_by_attribute_come_back() {
    for attributes in [
        "* text=auto",
        "* text",
        "f eol=crlf",
        "f eol=lf",
        "f crlf=input",
    ] {
        come_back(&repo_with(attributes, &[]), &LINES);
    }
}

#[test]
fn p3_line_ends_by_setting_come_back() {
    for (key, value) in [
        ("core.autocrlf", "true"),
        ("core.autocrlf", "input"),
        ("core.autocrlf", "false"),
        ("core.autocrlf", "INPUT"),
    ] {
        let repo = repo_with("", &[(key, value)]);
        come_back(&repo, &LINES);
    }
    come_back(&repo_with("* text", &[("core.eol", "CRLF")]), &LINES);
}

#[test]
fn p3_what_gits_check_of_line_ends_rejects_comes_back() {
    let settings = [("core.autocrlf", "input"), ("core.safecrlf", "true")];
    come_back(&repo_with("", &settings), &LINES[..4]);
}

#[test]
fn p3_idents_and_encodings_come_back() {
    let idents: [&[u8]; 3] = [b"1 $Id$\n", b"2 $Id: stale $\n", b"3 $Id: \xff $\r\n"];
    come_back(&repo_with("f ident", &[]), &idents);
    let utf_16: [&[u8]; 4] = [
        b"\xff\xfe1\0\n\0",
        b"\xfe\xff\x002\0\n",
        b"3 no utf-16",
        b"4\0\0\xd8",
    ];
    let repo = Repo::with(&[("other", "o\n")]);
    repo.write(".gitattributes", "f working-tree-encoding=UTF-16\n");
    repo.commit("attributes");
    come_back(&repo, &utf_16);
}

#[test]
fn p3_filters_that_lose_or_add_something_come_back() {
    let contents: [&[u8]; 3] = [b"1\nOUT a\n", b"2\nOUT \xff\r\n", b"3\n\nOUT a\n"];
    let lossy = [
        ("filter.x.clean", "sed /^OUT/d"),
        ("filter.x.smudge", "sed s/^/smudged/"),
    ];
    come_back(&repo_with("f filter=x", &lossy), &contents);
    let growing = [("filter.x.clean", "sed s/^/x/"), ("filter.x.smudge", "cat")];
    come_back(&repo_with("f filter=x", &growing), &contents);
    let one_way = [("filter.x.smudge", "tr a-z A-Z")];
    come_back(&repo_with("f filter=x", &one_way), &contents);
}

#[test]
fn a_required_filter_that_fails_is_named_and_accept_leaves_its_path() {
    for program in ["false", "/no/such/program"] {
        let repo = Repo::with(&[
            ("a", "1\n"),
            (".gitattributes", "*.x filter=x\n"),
            ("f.x", "1\n"),
        ]);
        set(
            &repo,
            &[("filter.x.clean", program), ("filter.x.required", "true")],
        );
        repo.write("f.x", "secret\r\n");
        repo.write("new.x", "secret, too\r\n");
        repo.write("a", "2\n");
        let ran = repo.edio(["snapshot"]);
        for name in ["f.x", "new.x"] {
            assert!(ran.ok().stderr.contains(name), "{ran}");
        }
        assert_eq!(repo.in_turn(1, "f.x").unwrap(), "secret\r\n");
        assert_eq!(repo.in_turn(1, "new.x").unwrap(), "secret, too\r\n");
        let ran = repo.edio(["accept", "feat"]);
        assert!(ran.ok().stderr.contains("f.x"), "{ran}");
        assert_eq!(
            repo.git(["show", "--format=%s", "--name-only", "HEAD"]),
            "feat\n\na"
        );
        assert_eq!(repo.git(["ls-files"]), ".gitattributes\na\nf.x");
        is(&repo, "f.x", "secret\r\n", "after the accept");
        set(&repo, &[("filter.x.clean", "tr a-z A-Z")]);
        repo.edio(["snapshot", "-m", "mended"]).ok();
        repo.edio(["accept", "mended"]).ok();
        assert_eq!(repo.git(["show", "HEAD:f.x"]), "SECRET\r");
        assert_eq!(repo.git(["status", "--porcelain"]), "");
        repo.fsck();
    }
}

#[test]
fn p3_attributes_that_change_between_turns_bring_back_the_bytes_of_then() {
    let repo = Repo::with(&[("f", "base\r\n"), ("g", "same\r\n")]);
    let rules = [
        "",
        "* text=auto\n",
        "* -text\n",
        "f eol=crlf\n",
        "* ident\n",
        "* binary\n",
    ];
    let mut disks = Vec::new();
    for (turn, rule) in rules.iter().enumerate() {
        repo.write(".gitattributes", rule);
        repo.write("f", format!("{turn} $Id: x $\r\nlf\n"));
        snapshot(&repo);
        disks.push(repo.manifest());
    }
    for there in 1..=rules.len() {
        for back in 1..=rules.len() {
            restore(&repo, there);
            assert_eq!(repo.manifest(), disks[there - 1], "to {there}");
            restore(&repo, back);
            assert_eq!(repo.manifest(), disks[back - 1], "from {there} to {back}");
        }
    }
    repo.fsck();
}

#[test]
fn p3_rules_outside_the_work_tree_count_as_well() {
    let home = Repo::with(&[("f", "base\n")]);
    home.write(
        home.outside().join("home/.config/git/attributes"),
        "f eol=crlf\n",
    );
    come_back(&home, &LINES);
    let info = Repo::with(&[("f", "base\n")]);
    info.write(".git/info/attributes", "f text\n");
    come_back(&info, &LINES);
    let global = Repo::with(&[("f", "base\n")]);
    let file = global.outside().join("attributes");
    global.write(&file, "f text=auto\n");
    set(&global, &[("core.attributesFile", file.to_str().unwrap())]);
    come_back(&global, &LINES);
}

#[test]
fn p3_settings_that_change_after_a_turn_do_not_change_its_bytes() {
    let repo = Repo::with(&[("f", "base\n")]);
    repo.write("f", "1\nlf\n");
    snapshot(&repo);
    repo.write("f", "2\n");
    snapshot(&repo);
    set(&repo, &[("core.autocrlf", "true")]);
    restore(&repo, 1);
    is(&repo, "f", "1\nlf\n", "autocrlf was set later");
    restore(&repo, 2);
    is(&repo, "f", "2\n", "autocrlf was set later");
}

#[test]
fn p3_a_driver_that_is_installed_after_a_turn_does_not_change_its_bytes() {
    let repo = repo_with("f filter=x", &[]);
    repo.write("f", "1\n");
    snapshot(&repo);
    repo.write("f", "2\n");
    snapshot(&repo);
    set(
        &repo,
        &[
            ("filter.x.smudge", "sed s/^/smudged/"),
            ("filter.x.clean", "cat"),
        ],
    );
    restore(&repo, 1);
    is(&repo, "f", "1\n", "the driver came later");
}

#[test]
fn p4_what_a_filter_that_was_set_up_later_takes_away_is_not_lost() {
    let repo = repo_with("", &[]);
    repo.write("f", "1\n");
    snapshot(&repo);
    repo.write("f", "2\n");
    snapshot(&repo);
    repo.write(".git/info/attributes", "f filter=x\n");
    set(&repo, &[("filter.x.clean", "sed /^OUT/d")]);
    repo.write("f", "2\nOUT unsaved\n");
    restore(&repo, 1);
    is(&repo, "f", "1\n", "turn 1");
    assert!(repo.is_kept("2\nOUT unsaved\n"));
}

#[test]
fn p3_a_session_begun_by_run_comes_back_to_the_odd_bytes_that_git_took_for_clean() {
    let repo = repo_with(
        "f text=auto\ng filter=x\nh ident",
        &[
            ("filter.x.clean", "sed /^OUT/d"),
            ("filter.x.smudge", "sed s/^/smudged/"),
        ],
    );
    repo.write("g", "in\n");
    repo.write("h", "$Id$\n");
    repo.commit("more");
    repo.write("f", "base\r\n");
    repo.write("g", "in\nOUT mine\n");
    repo.write("h", "$Id: mine $\n");
    repo.write("new", "mine\n");
    let before = repo.manifest();
    let script = "for f in f g h; do echo theirs > $f; done; rm new; echo 1 > later";
    repo.edio(["run", "--", "sh", "-c", script]).ok();
    let after = repo.manifest();
    restore(&repo, 0);
    assert_eq!(repo.manifest(), before);
    restore(&repo, 1);
    assert_eq!(repo.manifest(), after);
    repo.edio(["undo"]).ok();
    assert_eq!(repo.manifest(), before);
    repo.fsck();
}

#[test]
fn p3_new_files_behind_conversions_go_and_come_back() {
    let repo = repo_with(
        "*.crlf eol=crlf\n*.x filter=x",
        &[
            ("filter.x.clean", "tr -d o"),
            ("filter.x.smudge", "tr a-z A-Z"),
        ],
    );
    let before = repo.manifest();
    repo.write("a.crlf", "lf\n");
    repo.write("d/e/a.x", "foo\r\n");
    repo.chmod("d/e/a.x", 0o755);
    snapshot(&repo);
    let after = repo.manifest();
    for _ in 0..2 {
        restore(&repo, 0);
        assert_eq!(repo.manifest(), before);
        restore(&repo, 1);
        assert_eq!(repo.manifest(), after);
    }
    repo.edio(["undo"]).ok();
    assert_eq!(repo.manifest(), before);
    assert_eq!(repo.turns(), 1);
}

#[test]
fn a_revert_gives_the_bytes_that_the_filters_give_and_can_be_undone() {
    let repo = repo_with("f eol=crlf", &[]);
    for content in ["1\r\na\r\nb\r\n", "1\r\na\r\nb\r\nc\r\n"] {
        repo.write("f", content);
        snapshot(&repo);
    }
    repo.write("f", "0\r\n1\r\na\r\nb\r\nc\r\n");
    snapshot(&repo);
    let before = repo.manifest();
    repo.edio(["revert", "2"]).ok();
    is(&repo, "f", "0\r\n1\r\na\r\nb\r\n", "reverted");
    let after = repo.manifest();
    repo.edio(["undo"]).ok();
    assert_eq!(repo.manifest(), before);
    repo.edio(["redo"]).ok();
    assert_eq!(repo.manifest(), after);
    restore(&repo, 3);
    assert_eq!(repo.manifest(), before);
    restore(&repo, 4);
    assert_eq!(repo.manifest(), after);
}

#[test]
fn an_accept_commits_what_the_filters_give() {
    let repo = repo_with(
        "*.t text\n*.x filter=x\n*.u working-tree-encoding=UTF-16LE",
        &[
            ("filter.x.clean", "sed /^OUT/d"),
            ("filter.x.smudge", "cat"),
        ],
    );
    let files: [(&str, &[u8]); 3] = [
        ("a.t", b"1\r\n2\n"),
        ("a.x", b"in\nOUT\n"),
        ("a.u", b"h\0i\0\n\0"),
    ];
    for (name, content) in files {
        repo.write(name, content);
    }
    snapshot(&repo);
    repo.edio(["accept", "feat"]).ok();
    for (name, content) in [("a.t", "1\n2\n"), ("a.x", "in\n"), ("a.u", "hi\n")] {
        assert_eq!(
            repo.git_raw(["cat-file", "blob", &format!("HEAD:{name}")]),
            content
        );
    }
    for (name, content) in files {
        is(&repo, name, content, "after the accept");
    }
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    repo.edio(["undo"]).ok();
    for (name, content) in files {
        is(&repo, name, content, "after its undo");
    }
    repo.fsck();
}

/// A store of contents outside git, as Git LFS keeps one, with the driver set up.
fn with_store() -> Repo {
    let repo = Repo::with(&[(".gitattributes", "*.bin filter=lfs\n"), ("other", "o\n")]);
    let store = repo.outside().join("store");
    fs::create_dir(&store).unwrap();
    let store = store.to_str().unwrap();
    let clean = format!(
        "t=$(mktemp); cat > $t\nif head -c 8 $t | grep -q '^pointer '; then cat $t; rm $t; exit; fi\n\
         h=$(git hash-object --no-filters $t); mv $t {store}/$h; echo pointer $h"
    );
    let smudge = format!("read -r _ h; cat {store}/$h");
    let (clean, smudge) = (
        script(&repo, "clean", &clean),
        script(&repo, "smudge", &smudge),
    );
    set(
        &repo,
        &[
            ("filter.lfs.clean", &clean),
            ("filter.lfs.smudge", &smudge),
            ("filter.lfs.required", "true"),
        ],
    );
    repo
}

#[test]
fn p3_contents_kept_outside_git_come_back_and_are_not_stored_in_it() {
    let repo = with_store();
    let contents = ["one\0\r\n", "two\n", "three"];
    for content in contents {
        repo.write("a.bin", content);
        snapshot(&repo);
    }
    for turn in [1, 3, 2, 1] {
        restore(&repo, turn);
        is(&repo, "a.bin", contents[turn - 1], "restored");
    }
    repo.write("a.bin", "unsaved");
    repo.edio(["restore", "2", "-f", "a.bin"]).ok();
    is(&repo, "a.bin", contents[1], "restored alone");
    repo.edio(["undo"]).ok();
    is(&repo, "a.bin", "unsaved", "undone");
    repo.edio(["accept", "feat"]).ok();
    assert!(repo.git(["show", "HEAD:a.bin"]).starts_with("pointer "));
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    let all = repo.git([
        "cat-file",
        "--batch-all-objects",
        "--batch-check=%(objectname)",
    ]);
    for content in contents.iter().chain(&["unsaved"]) {
        let file = repo.outside().join("content");
        fs::write(&file, content).unwrap();
        let oid = repo.git(["hash-object", "--no-filters", file.to_str().unwrap()]);
        assert!(!all.contains(&oid), "{content:?} is stored in git");
    }
    repo.fsck();
}

#[test]
fn p3_a_pointer_on_disk_stays_a_pointer() {
    let repo = with_store();
    repo.write("a.bin", "content\n");
    repo.commit("content");
    let pointer = repo.git_raw(["cat-file", "blob", "HEAD:a.bin"]);
    repo.write("a.bin", &pointer);
    snapshot(&repo);
    repo.write("a.bin", "other\n");
    snapshot(&repo);
    restore(&repo, 1);
    is(&repo, "a.bin", &pointer, "it was never fetched");
    repo.edio(["undo"]).ok();
    is(&repo, "a.bin", "other\n", "undone");
}

#[test]
fn a_content_that_is_gone_from_its_store_refuses_the_restore_before_it_begins() {
    let repo = with_store();
    repo.write("a.bin", "one");
    repo.write("other", "1\n");
    snapshot(&repo);
    repo.write("a.bin", "two");
    repo.write("other", "2\n");
    snapshot(&repo);
    for file in fs::read_dir(repo.outside().join("store")).unwrap() {
        fs::remove_file(file.unwrap().path()).unwrap();
    }
    let (before, refs) = (repo.manifest(), repo.edio_refs());
    let ran = repo.edio(["restore", "1"]);
    ran.fails(1);
    assert!(ran.stderr.contains("hint:"), "{ran}");
    assert_eq!((repo.manifest(), repo.edio_refs()), (before, refs));
    repo.edio(["restore", "1", "-f", "other"]).ok();
    assert_eq!(
        (repo.read("other"), repo.read("a.bin")),
        ("1\n".into(), "two".into())
    );
}

#[test]
fn more_skipped_paths_than_a_turn_names_go_with_conversions() {
    let repo = repo_with("*.t text=auto", &[]);
    for number in 0..25 {
        let folder = format!("nested{number:02}");
        repo.git(["init", "-q", "--template=", &folder]);
        repo.write(format!("{folder}/in"), "theirs\n");
    }
    let contents = ["1\r\n", "2\r\n2\n", "3\n"];
    for content in contents {
        repo.write("a.t", content);
        snapshot(&repo);
    }
    repo.remove("nested24/.git");
    repo.write("a.t", "4\r\n");
    snapshot(&repo);
    for turn in [1, 3, 2] {
        restore(&repo, turn);
        is(&repo, "a.t", contents[turn - 1], "restored");
        assert!(repo.has("nested24/in"), "turn {turn} does not hold it");
    }
    repo.edio(["restore", "1", "-f", "a.t"]).ok();
    is(&repo, "a.t", contents[0], "restored alone");
    restore(&repo, 4);
    is(&repo, "a.t", "4\r\n", "restored");
    restore(&repo, 5);
    is(&repo, "a.t", contents[0], "the turn of the partial restore");
    assert_eq!(repo.read("nested24/in"), "theirs\n");
    repo.fsck();
}

#[test]
fn p4_an_ignored_file_in_the_way_is_saved_besides_unsaved_bytes_behind_conversions() {
    let repo = repo_with("*.t text=auto", &[]);
    repo.write("f.t", "1\r\n");
    repo.write("env", "1\n");
    snapshot(&repo);
    repo.remove("env");
    snapshot(&repo);
    repo.write(".git/info/exclude", "env\n");
    repo.write("env", "precious\n");
    repo.write("f.t", "unsaved\r\n");
    let before = repo.manifest();
    restore(&repo, 1);
    assert_eq!(repo.read("env"), "1\n");
    assert!(repo.is_kept("precious\n") && repo.is_kept("unsaved\r\n"));
    repo.edio(["undo"]).ok();
    assert_eq!(repo.manifest(), before);
}

#[test]
fn p3_the_undo_of_a_first_turn_leaves_the_bytes_of_files_that_it_did_not_change() {
    let repo = repo_with(
        "f filter=x\ng text=auto",
        &[("filter.x.clean", "sed /^OUT/d")],
    );
    repo.write("g", "1\n");
    repo.commit("more");
    repo.write("f", "base\nOUT mine\n");
    repo.write("g", "1\r\n");
    repo.git(["add", "-A"]);
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    let before = repo.manifest();
    repo.write("new", "1\n");
    snapshot(&repo);
    repo.edio(["undo"]).ok();
    assert_eq!(repo.manifest(), before);
}

#[test]
fn p3_what_a_conversion_hides_from_git_is_a_change() {
    type Case = (&'static str, Settings, &'static [u8], &'static [u8]);
    type Settings = &'static [(&'static str, &'static str)];
    let cases: [Case; 4] = [
        ("* text=auto", &[], b"1\n2\n", b"1\r\n2\r\n"),
        ("f eol=crlf", &[], b"1\r\n2\r\n", b"1\n2\r\n"),
        ("f ident", &[], b"$Id$\n", b"$Id: mine $\n"),
        (
            "f filter=lossy",
            &[("filter.lossy.clean", "sed /^secret/d")],
            b"a\nsecret 1\n",
            b"a\nsecret 2\n",
        ),
    ];
    for (attributes, settings, one, two) in cases {
        let repo = repo_with(attributes, settings);
        repo.write("f", one);
        snapshot(&repo);
        repo.write("f", two);
        let status = repo.edio(["status"]);
        assert!(
            status.ok().stdout.contains("\n  M f\n"),
            "{attributes}: {status}"
        );
        repo.edio(["snapshot", "--if-changed"]).ok();
        assert_eq!(repo.turns(), 2, "{attributes}");
        repo.edio(["snapshot", "--if-changed"]).ok();
        assert_eq!(repo.turns(), 2, "{attributes}");
        let told = repo.edio(["show", "2", "--json"]).json().remove(0);
        assert_eq!((&told["files"], &told["message"]), (&1.into(), &"f".into()));
        assert_eq!(told["changes"][0]["path"], "f", "{attributes}");
        restore(&repo, 1);
        is(&repo, "f", one, attributes);
        restore(&repo, 2);
        is(&repo, "f", two, attributes);
        // Unsaved, it becomes a safety turn, and undo brings it back.
        repo.write("f", one);
        repo.write("other", "unsaved\n");
        repo.edio(["snapshot"]).ok();
        repo.write("f", two);
        restore(&repo, 1);
        is(&repo, "f", one, attributes);
        repo.edio(["undo"]).ok();
        is(&repo, "f", two, attributes);
        repo.fsck();
    }
}

#[test]
fn p3_what_is_hidden_is_seen_though_the_users_git_has_looked_first() {
    let repo = repo_with("* text=auto", &[]);
    repo.write("f", "1\n");
    snapshot(&repo);
    repo.write("f", "1\r\n");
    repo.write("staged", "s\n");
    repo.git(["add", "staged"]);
    repo.git(["status"]);
    snapshot(&repo);
    restore(&repo, 1);
    is(&repo, "f", "1\n", "before");
    restore(&repo, 2);
    is(&repo, "f", "1\r\n", "after");
}

#[test]
fn touching_files_without_changing_them_is_no_change() {
    let repo = repo_with("* text=auto", &[]);
    repo.write("f", "1\r\n");
    snapshot(&repo);
    restore(&repo, 0);
    repo.edio(["snapshot", "--if-changed"]).ok();
    restore(&repo, 1);
    for path in ["f", "other", ".gitattributes"] {
        let content = bytes(&repo, path);
        repo.write(path, content);
    }
    repo.edio(["snapshot", "--if-changed"]).ok();
    assert_eq!(repo.turns(), 1);
}

#[test]
fn p3_rules_that_are_ignored_themselves_count_as_well() {
    for rules in [".gitattributes", "d/.gitattributes"] {
        let repo = Repo::with(&[("d/f", "1\n"), ("other", "o\n")]);
        repo.write(".git/info/exclude", ".gitattributes\n");
        repo.write(rules, "* text\n");
        repo.write("d/f", "1\r\n");
        snapshot(&repo);
        repo.write("d/f", "2\r\n");
        snapshot(&repo);
        repo.write("d/f", "2\n");
        snapshot(&repo);
        for (turn, content) in [(1, "1\r\n"), (2, "2\r\n"), (3, "2\n")] {
            restore(&repo, turn);
            is(&repo, "d/f", content, rules);
        }
        repo.remove("d/f");
        repo.write("other", "2\n");
        snapshot(&repo);
        restore(&repo, 1);
        is(&repo, "d/f", "1\r\n", rules);
    }
}

#[test]
fn p3_a_partial_restore_leaves_the_bytes_of_other_paths() {
    let repo = repo_with("* text=auto", &[]);
    repo.write("f", "1\n");
    repo.write("other", "1\n");
    snapshot(&repo);
    repo.write("f", "2\r\n");
    repo.write("other", "1\r\n");
    snapshot(&repo);
    repo.edio(["restore", "1", "-f", "f"]).ok();
    is(&repo, "f", "1\n", "the wanted path");
    is(&repo, "other", "1\r\n", "the other path");
}

#[test]
fn p3_the_bytes_stay_what_they_are_when_the_rules_of_their_conversion_go() {
    let cases: [(&str, &[u8]); 4] = [
        ("f filter=up", b"MiXed\n"),
        ("f text", b"a\r\nb\r\n"),
        ("f ident", b"$Id: mine $\n"),
        ("f working-tree-encoding=UTF-16LE", b"a\0\n\0"),
    ];
    for (rule, content) in cases {
        for place in [
            ".gitattributes",
            ".git/info/attributes",
            "new/.gitattributes",
        ] {
            let repo = repo_with("", &[("filter.up.clean", "tr a-z A-Z")]);
            let file = if place.starts_with("new/") {
                "new/f"
            } else {
                "f"
            };
            repo.write(place, format!("{rule}\n"));
            repo.write(file, content);
            snapshot(&repo);
            repo.remove(place);
            snapshot(&repo);
            repo.write("other", "2\n");
            snapshot(&repo);
            repo.remove(file);
            restore(&repo, 2);
            is(&repo, file, content, &format!("{rule} in {place}, gone"));
            repo.write(file, "other\n");
            restore(&repo, 3);
            is(
                &repo,
                file,
                content,
                &format!("{rule} in {place}, gone before"),
            );
            restore(&repo, 1);
            is(&repo, file, content, &format!("{rule} in {place}"));
            repo.edio(["undo"]).ok();
            is(&repo, file, content, &format!("{rule} in {place}, undone"));
            repo.fsck();
        }
    }
}

#[test]
fn p1_a_filter_that_writes_objects_and_refs_of_its_own_keeps_them() {
    let repo = Repo::with(&[("other", "o\n")]);
    let clean = script(
        &repo,
        "clean",
        "oid=$(git hash-object -w --stdin); git update-ref refs/kept/it \"$oid\"; git cat-file blob \"$oid\"",
    );
    set(&repo, &[("filter.keeps.clean", &clean)]);
    repo.write(".gitattributes", "f filter=keeps\n");
    repo.write("f", "kept by the filter\n");
    drop(repo.edio(["restore", "0", "--dry-run"]));
    repo.edio(["status"]).ok();
    snapshot(&repo);
    repo.edio(["status"]).ok();
    assert_eq!(
        repo.git(["cat-file", "blob", "refs/kept/it"]),
        "kept by the filter"
    );
    repo.git(["fsck", "--strict"]);
}

#[test]
fn p2_what_a_filter_fails_for_is_held_as_it_is_named_and_kept_out_of_commits() {
    let ways: [(&str, &str); 5] = [
        ("clean", "false"),
        ("clean", "no-such-program"),
        ("process", "false"),
        ("process", "no-such-program"),
        ("process", "head -c 20 > /dev/null"),
    ];
    for (key, program) in ways {
        for required in ["false", "true"] {
            let what = format!("{key} = {program}, required = {required}");
            let repo = repo_with("", &[]);
            repo.write(".gitattributes", "f filter=x\nuntracked filter=x\n");
            let settings = [
                (&*format!("filter.x.{key}"), program),
                ("filter.x.required", required),
            ];
            set(&repo, &settings);
            repo.write("f", "1\n");
            repo.write("untracked", "1\n");
            let named = |ran: &crate::common::Ran| {
                ran.ok();
                for path in ["f", "untracked"] {
                    let words = format!("as it is: {path} (its filter fails");
                    assert!(ran.stderr.contains(&words), "{what}: {ran}");
                }
            };
            named(&repo.edio(["snapshot"]));
            let first = repo.manifest();
            repo.write("other", "2\n");
            named(&repo.edio(["snapshot"]));
            named(&repo.edio(["snapshot", "--if-changed"]));
            repo.write("f", "2\n");
            repo.remove("untracked");
            restore(&repo, 1);
            assert_eq!(repo.manifest(), first, "{what}");
            restore(&repo, 2);
            repo.edio(["accept", "feat"]).ok();
            let committed = ["show", "--format=", "--name-only", "HEAD"];
            assert_eq!(repo.git(committed), ".gitattributes\nother", "{what}");
            is(&repo, "f", "1\n", &what);
            is(&repo, "untracked", "1\n", &what);
            repo.fsck();
        }
    }
}

/// A filter that fails for what begins with `bad`, and writes the rest in large letters.
fn choosy(repo: &Repo) -> String {
    script(
        repo,
        "choosy",
        "c=$(cat; echo .); case $c in bad*) exit 1;; esac; printf %s \"${c%.}\" | tr a-z A-Z",
    )
}

#[test]
fn p2_those_that_a_filter_fails_for_are_named_and_no_others_however_many_they_are() {
    for required in ["false", "true"] {
        let repo = repo_with("", &[]);
        let program = choosy(&repo);
        let settings = [
            ("filter.x.clean", &*program),
            ("filter.x.required", required),
        ];
        set(&repo, &settings);
        repo.write(".gitattributes", "*.x filter=x\n*.t filter=x text=auto\n");
        let mut bad = Vec::new();
        for number in 0..8 {
            repo.write(format!("{number}.good.x"), format!("good {number}\r\n"));
            for end in ["x", "t"] {
                let name = format!("{number}.bad.{end}");
                repo.write(&name, format!("bad {number}\r\n"));
                bad.push(name);
            }
            repo.write(format!("{number}.plain"), "bad\n");
        }
        bad.sort();
        for turn in 1..=2 {
            let record = repo.edio(["snapshot", "--json"]).json().remove(0);
            let skipped = record["skipped"].as_array().unwrap().iter();
            let named: Vec<&str> = skipped.map(|it| it["path"].as_str().unwrap()).collect();
            assert_eq!(named, bad, "required = {required}");
            for number in 0..8 {
                let held = |end| repo.in_turn(turn, &format!("{number}.{end}")).unwrap();
                assert_eq!(held("good.x"), format!("GOOD {number}\r\n"));
                assert_eq!(held("bad.x"), format!("bad {number}\r\n"));
                assert_eq!(held("bad.t"), format!("bad {number}\r\n"));
            }
            repo.write("other", "changed\n");
        }
        repo.edio(["accept", "feat"]).ok();
        let committed = repo.git(["show", "--format=", "--name-only", "HEAD"]);
        let is_bad = |path: &str| bad.iter().any(|name| name == path);
        assert!(!committed.lines().any(is_bad), "{committed}");
        assert!(committed.contains("0.good.x"), "{committed}");
        repo.fsck();
    }
}

#[test]
fn a_filter_that_is_mended_is_tried_again_though_its_file_has_not_changed() {
    let repo = repo_with("", &[("filter.x.clean", "false")]);
    repo.write(".gitattributes", "f filter=x\n");
    repo.write("f", "1\n");
    snapshot(&repo);
    set(&repo, &[("filter.x.clean", "tr 1 2")]);
    let ran = repo.edio(["snapshot", "--if-changed"]);
    assert!(!ran.ok().stderr.contains("as it is"), "{ran}");
    assert_eq!(repo.in_turn(2, "f").unwrap(), "2\n");
    restore(&repo, 1);
    is(&repo, "f", "1\n", "the bytes are the same in both");
    repo.edio(["accept", "feat"]).ok();
}

#[test]
fn what_a_step_and_the_turn_after_it_change_is_one_file() {
    let repo = Repo::with(&[(".gitattributes", "*.t text\n"), ("a.t", "base\n")]);
    repo.write("b", "1\n");
    repo.edio(["snapshot"]).ok();
    repo.write("a.t", "work\n");
    repo.step("2.1");
    repo.write("a.t", "work\r\n");
    repo.edio(["snapshot"]).ok();
    let turn = repo.edio(["log", "--json"]).json().remove(0);
    assert_eq!(
        (&turn["files"], &turn["message"]),
        (&1.into(), &"a.t".into())
    );
}

#[test]
fn p3_bytes_that_a_restore_of_an_unseen_head_left_are_in_the_next_turn() {
    let repo = Repo::with(&[
        (".gitattributes", "*.lossy filter=lossy\n"),
        ("a", "base\n"),
        ("x.lossy", "1\n"),
    ]);
    repo.git(["config", "filter.lossy.clean", "sed /^OUT/d"]);
    repo.write("a", "1\n");
    repo.edio(["snapshot"]).ok();
    repo.write("a", "2\n");
    repo.write("x.lossy", "1\nOUT\n");
    repo.edio(["restore", "0"]).ok();
    let left = repo.read("x.lossy");
    repo.write("a", "3\n");
    repo.edio(["snapshot"]).ok();
    repo.edio(["restore", "1"]).ok();
    assert_eq!(repo.read("x.lossy"), "1\n");
    repo.edio(["restore", "3"]).ok();
    assert_eq!(repo.read("x.lossy"), left);
}

#[test]
fn p4_a_change_that_is_hidden_is_saved_before_a_restore_though_the_trees_are_equal() {
    let repo = Repo::with(&[(".gitattributes", "*.t text\n"), ("a", "base\n")]);
    repo.write("a.t", "1\n");
    repo.edio(["snapshot"]).ok();
    repo.write("a", "2\n");
    repo.edio(["snapshot"]).ok();
    repo.write("a.t", "1\r\n");
    let ran = repo.edio(["restore", "1"]);
    assert!(
        ran.ok().stderr.contains("your unsaved work is turn 3"),
        "{ran}"
    );
    assert_eq!(
        (repo.read("a"), repo.read("a.t")),
        ("base\n".into(), "1\n".into())
    );
    // What leads from there is the restore, and no other.
    repo.edio(["undo"]).ok();
    assert_eq!(
        (repo.read("a"), repo.read("a.t")),
        ("2\n".into(), "1\r\n".into())
    );
    repo.edio(["redo"]).ok();
    assert_eq!(repo.read("a.t"), "1\n");
    repo.fsck();
}

/// Turn 0 is a HEAD that nobody saw, and bytes of now stayed there: an edit that git can't see is one from then on.
#[test]
fn p4_edits_behind_conversions_are_seen_after_a_restore_of_an_unseen_head() {
    let repo = Repo::with(&[(".gitattributes", "*.f filter=up\n"), ("e.f", "BASE\n")]);
    repo.git(["config", "filter.up.clean", "tr a-z A-Z"]);
    repo.git(["config", "filter.up.smudge", "tr A-Z a-z"]);
    repo.write("e.f", "other\n");
    repo.edio(["snapshot"]).ok();
    repo.edio(["restore", "0"]).ok();
    assert_eq!(repo.read("e.f"), "base\n");
    repo.edio(["snapshot", "--if-changed"]).ok();
    assert_eq!(repo.turns(), 1, "nothing has changed since");
    repo.write("e.f", "BaSe\n");
    let status = repo.edio(["status", "--json"]).json();
    assert_eq!(status[0]["unsaved"][0]["path"], "e.f");
    let ran = repo.edio(["restore", "1"]);
    assert!(
        ran.ok().stderr.contains("your unsaved work is turn 2"),
        "{ran}"
    );
    assert!(!ran.stderr.contains("warning"), "{ran}");
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("e.f"), "BaSe\n");
}

#[test]
fn p3_what_a_restore_of_an_unseen_head_wrote_is_no_strangers_change() {
    let repo = Repo::with(&[
        (".gitattributes", "*.crlf text eol=crlf\n"),
        ("x.crlf", "one\n"),
    ]);
    repo.write("x.crlf", "three\r\n");
    repo.edio(["snapshot"]).ok();
    repo.edio(["restore", "0"]).ok();
    assert_eq!(repo.read("x.crlf"), "one\r\n");
    let ran = repo.edio(["restore", "1"]);
    assert!(!ran.ok().stderr.contains("warning"), "{ran}");
    assert_eq!(repo.read("x.crlf"), "three\r\n");
}

/// The bytes that stood there when the restore began come back, though turn 0 itself does not tell them.
#[test]
fn p4_the_undo_of_a_restore_that_began_at_an_unseen_head_is_exact() {
    for words in [&["restore", "1"][..], &["restore", "1", "-f", "x.t"]] {
        let repo = Repo::with(&[(".gitattributes", "*.t text\n"), ("x.t", "1\n")]);
        repo.write("x.t", "1\r\n");
        repo.write("a", "new\n");
        repo.edio(["snapshot"]).ok();
        repo.edio(["restore", "0"]).ok();
        repo.write("x.t", "1\n");
        repo.edio(["status"]).ok();
        repo.edio(["restore", "0"]).ok();
        assert_eq!(repo.read("x.t"), "1\n", "{words:?}");
        repo.edio(words).ok();
        assert_eq!(repo.read("x.t"), "1\r\n", "{words:?}");
        repo.edio(["undo"]).ok();
        assert_eq!(repo.read("x.t"), "1\n", "{words:?}");
        repo.edio(["redo"]).ok();
        assert_eq!(repo.read("x.t"), "1\r\n", "{words:?}");
    }
}

/// What lies behind a link is not in the work tree, and none of it comes into a turn.
#[test]
fn p9_what_a_link_leads_to_that_a_restore_left_alone_is_not_read() {
    for outside in ["SECRET\n", ""] {
        let repo = Repo::with(&[
            (".gitattributes", "* text=auto\n"),
            ("d/x", "0\n"),
            ("a", "0\n"),
        ]);
        repo.git(["config", "edio.exclude", "d"]);
        repo.write("a", "1\n");
        repo.edio(["snapshot"]).ok();
        repo.remove("d/x");
        let secret = repo.outside().join("secret");
        if !outside.is_empty() {
            fs::write(&secret, outside).unwrap();
        }
        std::os::unix::fs::symlink(&secret, repo.path("d/x")).unwrap();
        repo.edio(["restore", "0"]).ok();
        assert!(!repo.is_kept("SECRET\n"));
    }
}

/// Where an attribute file is missing, git goes by what its index has of it.
#[test]
fn p2_rules_that_are_gone_hide_no_bytes() {
    for (rules, bytes) in [
        ("* text=auto eol=lf\n", &b"a\r\nb\r\n"[..]),
        ("y ident\n", b"$Id: mine $\n"),
    ] {
        for is_tracked in [false, true] {
            let repo = Repo::with(&[("a", "0\n")]);
            if is_tracked {
                repo.write(".gitattributes", rules);
                repo.git(["add", "."]);
                repo.git(["commit", "-q", "-m", "rules"]);
                repo.remove(".gitattributes");
            }
            repo.write("y", bytes);
            repo.edio(["snapshot"]).ok();
            repo.write(".gitattributes", rules);
            repo.remove("y");
            repo.edio(["snapshot"]).ok();
            repo.write("y", bytes);
            repo.edio(["snapshot"]).ok();
            repo.edio(["restore", "1"]).ok();
            assert_eq!(fs::read(repo.path("y")).unwrap(), bytes);
            let status = repo.edio(["status", "--json"]);
            assert_eq!(
                status.ok().json()[0]["unsaved"],
                serde_json::json!([]),
                "{status}"
            );
            repo.edio(["restore", "3"]).ok();
            assert_eq!(repo.turns(), 3);
            repo.edio(["restore", "1"]).ok();
            repo.edio(["accept", "feat"]).ok();
            assert_eq!(repo.git_raw(["show", "HEAD:y"]).as_bytes(), bytes);
        }
    }
}
