//! Wherever a file lies, whatever it is called, and whatever the user's settings say.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use serde_json::json;

use super::story::{Story, owner};
use crate::common::Repo;

/// A file of a commit, with a line that an agent has added.
fn with_a_turn() -> Story {
    let story = Story::of(&[("f", "base\n"), ("sub/g", "sub\n")]);
    story.claude().turn("add a line", "f", "base\nclaude\n");
    story
}

const OWNERS: [&str; 2] = ["commit base", "1.1 claude"];

#[test]
fn some_lines_can_be_asked_for() {
    let story = with_a_turn();
    assert_eq!(story.owners(&["f:2"]), ["1.1 claude"]);
    assert_eq!(story.owners(&["f:1-2"]), OWNERS);
    assert_eq!(story.owners(&["f:2-99"]), ["1.1 claude"]);
    assert_eq!(story.lines(&["f:2"])[0]["line"], 2);
    for (bad, code) in [
        ("f:0", 2),
        ("f:3", 2),
        ("f:2-1", 2),
        ("nothing", 1),
        ("f:x", 1),
        ("sub", 1),
        (".", 2),
        ("../x", 2),
    ] {
        let ran = story.edio(&["blame", bad]);
        ran.fails(code);
        assert!(ran.stderr.starts_with("error: "), "{ran}");
        story.edio(&["--json", "blame", bad]).fails(code);
    }
    let ran = story.edio(&["blame", "f:3"]);
    assert!(ran.stderr.contains("f has 2 lines"), "{ran}");
    story.edio(&["blame"]).fails(2);
}

#[test]
fn a_file_whose_name_ends_like_lines_is_meant_itself() {
    let story = with_a_turn();
    story.claude().turn("odd", "f:2", "odd\n");
    assert_eq!(story.lines(&["f:2"])[0]["text"], "odd");
    assert_eq!(story.lines(&["f:2:1"])[0]["text"], "odd");
    assert_eq!(story.owners(&["f:1"]), ["commit base"]);
}

#[test]
fn names_of_all_kinds_have_owners() {
    let names: [&[u8]; 8] = [
        b"a b",
        b"new\nline",
        b"\"quoted\"",
        b"tab\t",
        b"caf\xe9",
        b"-dash",
        b"back\\slash",
        b":(glob)*",
    ];
    let story = Story::of(&[]);
    for name in names {
        story.repo.write(OsStr::from_bytes(name), "base\n");
    }
    story.others_commit("base");
    let claude = story.claude();
    claude.told("all of them");
    claude.runs(|| {
        for name in names {
            story.repo.write(OsStr::from_bytes(name), "base\nclaude\n");
        }
    });
    claude.stops();
    for name in names {
        let mut command = story.repo.command(["--json", "blame", "--"]);
        let ran = story.repo.ran(command.arg(OsStr::from_bytes(name)));
        let lines = ran.ok().json();
        assert_eq!(
            lines.iter().map(owner).collect::<Vec<_>>(),
            OWNERS,
            "{name:?}"
        );
        let path = &lines[1]["path"];
        match std::str::from_utf8(name) {
            Ok(name) => assert_eq!(path, name),
            Err(_) => assert_eq!(path, &json!({"bytes": "Y2Fm6Q=="})),
        }
        let mut command = story.repo.command(["blame", "--porcelain", "--"]);
        story.repo.ran(command.arg(OsStr::from_bytes(name))).ok();
        let mut command = story.repo.command(["blame", "--"]);
        let ran = story.repo.ran(command.arg(OsStr::from_bytes(name)));
        assert_eq!(ran.ok().stdout.lines().count(), 2, "{ran}");
    }
}

#[test]
fn what_a_line_holds_does_no_harm_to_a_terminal() {
    let story = Story::of(&[("f", "base\n")]);
    story
        .claude()
        .turn("\u{1b}[31mred\u{7}", "f", "base\n\u{1b}]0;title\u{7}\n");
    let ran = story.edio(&["blame", "f"]);
    assert!(!ran.ok().stdout.contains(['\u{1b}', '\u{7}']), "{ran}");
}

#[test]
fn a_path_counts_from_where_one_stands() {
    let story = with_a_turn();
    let ran = story.edio_in("sub", &["--json", "blame", "g"]);
    assert_eq!(ran.ok().json()[0]["path"], "sub/g");
    let ran = story.edio_in("sub", &["--json", "blame", "../f:2"]);
    assert_eq!(owner(&ran.ok().json()[0]), "1.1 claude");
}

#[test]
fn a_binary_file_is_one_row() {
    let story = Story::of(&[("b", "\0base")]);
    assert_eq!(story.owners(&["b"]), ["commit base"]);
    story.claude().turn("binary", "b", "\0claude\nand more\n");
    let lines = story.lines(&["b"]);
    assert_eq!(lines.iter().map(owner).collect::<Vec<_>>(), ["1.1 claude"]);
    assert_eq!(
        (&lines[0]["line"], &lines[0]["text"]),
        (&json!(null), &json!(null))
    );
    let ran = story.edio(&["blame", "b"]);
    assert!(ran.ok().stdout.trim_end().ends_with("(binary)"), "{ran}");
    assert_eq!(ran.stdout.lines().count(), 1);
    story.edio(&["accept", "-m", "accepted"]).ok();
    assert_eq!(story.owners(&["b"]), ["1.1 claude"]);
    story.writes("b", "\0unsaved");
    assert_eq!(story.owners(&["b"]), ["none"]);
    story.edio(&["blame", "--porcelain", "b"]).ok();
}

#[test]
fn links_empty_files_and_ignored_ones() {
    let story = Story::of(&[(".gitignore", "*.log\n"), ("empty", "")]);
    let claude = story.claude();
    claude.told("link");
    claude.runs(|| story.repo.link("link", "empty"));
    claude.stops();
    let lines = story.lines(&["link"]);
    assert_eq!(lines[0]["text"], "empty");
    assert_eq!(owner(&lines[0]), "1.1 claude");
    let ran = story.edio(&["blame", "empty"]);
    assert_eq!(ran.ok().stdout, "");
    story.edio(&["blame", "empty:1"]).fails(2);
    story.edio(&["blame", "--porcelain", "empty"]).ok();
    story.writes("x.log", "x\n");
    let ran = story.edio(&["blame", "x.log"]);
    assert!(ran.fails(1).stderr.contains("ignored"), "{ran}");
}

#[test]
fn without_a_commit_or_a_repository() {
    let story = Story::around(Repo::unborn());
    story.writes("f", "one\n");
    assert_eq!(story.owners(&["f"]), ["none"]);
    story.claude().turn("first", "f", "one\ntwo\n");
    assert_eq!(story.owners(&["f"]), ["human 0", "1.1 claude"]);
    let outside = story.repo.outside();
    story.edio_in(&outside, &["blame", "f"]).fails(4);
    story.edio_in(&outside, &["--json", "why", "f:1"]).fails(4);
}

#[test]
fn on_no_branch_and_in_a_linked_work_tree() {
    let story = Story::of(&[("f", "base\n")]);
    story.git(&["checkout", "-q", "--detach"]);
    story.claude().turn("first", "f", "base\nclaude\n");
    assert_eq!(story.owners(&["f"]), OWNERS);
    let folder = story.repo.outside().join("linked");
    let at = folder.to_str().unwrap();
    story.git(&["worktree", "add", "-q", "-b", "linked", at]);
    let mut there = story.claude();
    there.cwd.clone_from(&folder);
    there.session = "s2";
    there.turn("there", "f", "base\nthere\n");
    let ran = story.edio_in(&folder, &["--json", "blame", "f"]);
    let lines = ran.ok().json();
    assert_eq!(lines.iter().map(owner).collect::<Vec<_>>(), OWNERS);
    assert_eq!(lines[1]["prompt"], "there");
    assert_eq!(story.lines(&["f:2"])[0]["prompt"], "first");
}

#[test]
fn in_a_shallow_clone() {
    let story = Story::of(&[("f", "base\n")]);
    story.writes("f", "base\nsecond\n");
    story.others_commit("second");
    story.writes("f", "base\nsecond\nthird\n");
    story.others_commit("third");
    let folder = story.repo.outside().join("shallow");
    let url = format!("file://{}", story.repo.top.display());
    story.git(&[
        "clone",
        "-q",
        "--depth",
        "2",
        &url,
        folder.to_str().unwrap(),
    ]);
    let mut claude = story.claude();
    claude.cwd.clone_from(&folder);
    claude.turn("more", "f", "base\nsecond\nthird\nclaude\n");
    let ran = story.edio_in(&folder, &["--json", "blame", "f"]);
    let owners: Vec<String> = ran.ok().json().iter().map(owner).collect();
    assert_eq!(
        owners,
        [
            "commit second",
            "commit second",
            "commit third",
            "1.1 claude"
        ]
    );
}

#[test]
fn with_other_formats_of_objects_and_refs() {
    for format in ["--object-format=sha256", "--ref-format=reftable"] {
        let repo = Repo::unborn();
        repo.remove(".git");
        if !repo.git_says(["init", "-q", format]) {
            crate::common::left_out(&format!("this git knows no {format}"));
            continue;
        }
        let story = Story::around(repo);
        story.writes("f", "base\n");
        story.others_commit("base");
        story.claude().turn("first", "f", "base\nclaude\n");
        assert_eq!(story.owners(&["f"]), OWNERS, "{format}");
        story.edio(&["accept", "-m", "accepted"]).ok();
        assert_eq!(story.owners(&["f"]), OWNERS, "{format}");
    }
}

#[test]
fn the_users_settings_break_nothing() {
    let story = with_a_turn();
    let text = story.edio(&["blame", "f"]).ok().stdout.clone();
    let porcelain = story
        .edio(&["blame", "--porcelain", "f"])
        .ok()
        .stdout
        .clone();
    for setting in [
        "blame.showEmail=true",
        "blame.showRoot=false",
        "blame.blankBoundary=true",
        "blame.coloring=highlightRecent",
        "blame.date=raw",
        "blame.markIgnoredLines=true",
        "core.quotePath=true",
        "core.abbrev=40",
        "diff.algorithm=patience",
        "diff.external=false",
        "diff.noprefix=true",
        "diff.x.textconv=false",
        "diff.renames=false",
        "log.showSignature=true",
        "color.ui=always",
        "i18n.logOutputEncoding=latin1",
    ] {
        let (name, value) = setting.split_once('=').unwrap();
        story.git(&["config", name, value]);
    }
    story.writes(".git/info/attributes", "* diff=x\n");
    assert_eq!(story.owners(&["f"]), OWNERS);
    let now = |text: &str| {
        text.lines()
            .map(|line| line.split("  ").next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let again = story.edio(&["blame", "f"]);
    assert_eq!(now(&again.ok().stdout), now(&text));
    assert_eq!(
        story.edio(&["blame", "--porcelain", "f"]).ok().stdout,
        porcelain
    );
    story.edio(&["why", "f:2"]).ok();
    assert_eq!(
        story
            .edio(&["log", "-S", "claude"])
            .ok()
            .stdout
            .lines()
            .count(),
        1
    );
    // git ends over that, and can't be told not to.
    story.git(&["config", "blame.ignoreRevsFile", "no such list"]);
    let ran = story.edio(&["blame", "f"]);
    assert!(
        ran.fails(1)
            .stderr
            .contains("blame.ignorerevsfile names a list"),
        "{ran}"
    );
    story.writes("no such list", "");
    assert_eq!(story.owners(&["f"]), OWNERS);
}

#[test]
fn a_commits_author_is_whom_the_mailmap_says() {
    let story = with_a_turn();
    story.writes(
        ".mailmap",
        "Right Name <right@example.com> <else@example.com>\n",
    );
    let line = &story.lines(&["f:1"])[0];
    assert_eq!(
        (&line["author"], &line["author_mail"]),
        (&json!("Right Name"), &json!("right@example.com"))
    );
}

#[test]
fn porcelain_has_the_structure_of_gits() {
    let story = with_a_turn();
    story.writes("f", "first\nbase\nclaude\nlast\n");
    story.edio(&["snapshot"]).ok();
    let ours = story
        .edio(&["blame", "--porcelain", "f"])
        .ok()
        .stdout
        .clone();
    let theirs = story.git(&["blame", "--porcelain", &story.repo.turn_ref(2), "--", "f"]) + "\n";
    // But for whom it names, and what it says of them.
    let shape = |text: &str| {
        let line = |line: &str| match line.split_once(' ') {
            Some((key, value)) if key.len() == 40 || key == "filename" => format!("{key} {value}"),
            Some((key, _)) if !line.starts_with('\t') => key.to_owned(),
            _ => line.to_owned(),
        };
        let optional = |line: &String| line != "boundary";
        text.lines().map(line).filter(optional).collect::<Vec<_>>()
    };
    let (ours_shape, theirs_shape) = (shape(&ours), shape(&theirs));
    for (at, line) in theirs_shape.iter().enumerate() {
        assert_eq!(
            ours_shape.get(at),
            Some(line),
            "line {at}\n{ours}\n{theirs}"
        );
    }
    assert!(
        ours.contains("author claude\n") && ours.contains("author Somebody Else\n"),
        "{ours}"
    );
    assert!(ours.contains("author-mail <else@example.com>\n"), "{ours}");
    story.writes("f", "unsaved\n");
    let ours = story
        .edio(&["blame", "--porcelain", "f"])
        .ok()
        .stdout
        .clone();
    assert!(
        ours.starts_with(&format!("{} 1 1 1\nauthor ", "0".repeat(40))),
        "{ours}"
    );
}

/// P1: asking changes nothing.
#[test]
fn asking_leaves_no_trace() {
    let story = with_a_turn();
    story.writes("f", "base\nclaude\nunsaved\n");
    let before = (story.repo.git_state(), story.repo.edio_refs());
    story.edio(&["blame", "f"]).ok();
    story.edio(&["why", "f:3"]).ok();
    assert_eq!((story.repo.git_state(), story.repo.edio_refs()), before);
    story.repo.fsck();
}

#[test]
fn a_session_that_is_asked_for_is_taken_as_it_stands() {
    let story = with_a_turn();
    let id = story.repo.sessions("active").remove(0);
    story.edio(&["sessions", "--close"]).ok();
    story.writes("f", "other\n");
    let lines = story.lines(&["--session", &id, "f"]);
    assert_eq!(lines.iter().map(owner).collect::<Vec<_>>(), OWNERS);
    story
        .edio(&["blame", "--session", "sess_1_00000000", "f"])
        .fails(1);
}
