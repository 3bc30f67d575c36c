//! `edio sessions`: the list, and putting one away without a commit.

use std::fs;

use edio::history::limits::size;
use serde_json::json;

use crate::common::Repo;

/// The list, as JSON.
fn listed(repo: &Repo) -> Vec<serde_json::Value> {
    let ran = repo.edio(["sessions", "--json"]);
    ran.ok().json()
}

/// A repository with a linked work tree; both have a session. Returns the id of the linked one's.
fn with_a_linked_work_tree() -> (Repo, String) {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.git(["worktree", "add", "-q", "-b", "side", "../linked"]);
    let linked = repo.outside().join("linked");
    fs::write(linked.join("a"), "side\n").unwrap();
    repo.edio_in(&linked, ["snapshot", "-m", "side"]).ok();
    let id = repo.sessions("active").remove(0);
    repo.write("a", "main\n");
    repo.edio_later(1, ["snapshot", "-m", "main"]).ok();
    (repo, id)
}

#[test]
fn each_is_listed_with_what_is_known_of_it() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.edio(["run", "--", "sh", "-c", "echo 1 > a"]).ok();
    let first = repo.sessions("active").remove(0);
    repo.edio_later(60, ["accept", "feat"]).ok();
    repo.git(["switch", "-q", "-c", "topic/x"]);
    repo.write("a", "2\n");
    repo.edio_later(3600, ["snapshot", "-m", "2"]).ok();
    repo.write("a", "3\n");
    repo.edio_later(7200, ["snapshot", "-m", "3"]).ok();
    let second = repo.sessions("active").remove(0);

    let mut list = listed(&repo);
    let sizes = list.iter_mut().map(|record| {
        let bytes = record.as_object_mut().unwrap().remove("bytes").unwrap();
        bytes.as_u64().unwrap()
    });
    let sizes: Vec<u64> = sizes.collect();
    assert!(sizes.iter().all(|bytes| *bytes > 0));
    assert_eq!(
        list,
        [
            json!({
                "v": 1, "session": second, "state": "active", "here": true, "worktree": ".",
                "branch": "refs/heads/topic/x", "turns": 2, "agents": [], "files": 1, "overlaps": [],
                "began": "2027-01-15T09:00:00Z", "last_used": "2027-01-15T10:00:00Z",
            }),
            json!({
                "v": 1, "session": first, "state": "archived", "here": false, "worktree": ".",
                "branch": "refs/heads/main", "turns": 1, "agents": ["sh"], "files": 1, "overlaps": [],
                "began": "2027-01-15T08:00:00Z", "last_used": "2027-01-15T08:00:00Z",
            }),
        ]
    );

    let ran = repo.edio_later(3 * 3600, ["sessions"]);
    let lines: Vec<&str> = ran.ok().stdout.lines().collect();
    assert!(
        lines[0].starts_with(&format!("* {second}  active ")),
        "{ran}"
    );
    for word in ["1 hour ago", "topic/x", "2 turns, 1 file", &size(sizes[0])] {
        assert!(lines[0].contains(word), "{word}: {ran}");
    }
    assert!(
        lines[1].starts_with(&format!("  {first}  archived")),
        "{ran}"
    );
    for word in ["3 hours ago", "main", "1 turn, 1 file", "sh"] {
        assert!(lines[1].contains(word), "{word}: {ran}");
    }
    assert_eq!(lines.len(), 2);
}

#[test]
fn two_under_way_that_change_the_same_are_named() {
    let repo = Repo::with(&[("a", "base\n"), ("b", "base\n")]);
    let tree = repo.outside().join("tree");
    repo.git(["worktree", "add", "-q", tree.to_str().unwrap()]);
    for file in ["a", "b"] {
        repo.write(file, "here\n");
    }
    repo.edio(["snapshot", "-m", "here"]).ok();
    std::fs::write(tree.join("b"), "there\n").unwrap();
    std::fs::write(tree.join("c"), "there\n").unwrap();
    repo.edio_in(&tree, ["snapshot", "-m", "there"]).ok();
    let list = listed(&repo);
    let overlap = |n: usize, other: usize| {
        let expected = json!([{ "session": list[other]["session"], "paths": ["b"] }]);
        assert_eq!(list[n]["overlaps"], expected, "{list:#?}");
        assert_eq!(list[n]["files"], 2);
    };
    overlap(0, 1);
    overlap(1, 0);
    let ran = repo.edio(["sessions"]);
    assert!(ran.ok().stderr.contains("have both changed b\n"), "{ran}");
    repo.edio_in(&tree, ["sessions", "--close"]).ok();
    assert!(!repo.edio(["sessions"]).ok().stderr.contains("both"));
}

#[test]
fn where_there_is_none_it_says_how_to_begin() {
    let repo = Repo::with(&[("a", "base\n")]);
    let ran = repo.edio(["sessions"]);
    ran.ok();
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("edio snapshot"), "{ran}");
    assert_eq!(listed(&repo), Vec::<serde_json::Value>::new());
    let state = (repo.git_files(), repo.edio_refs());
    repo.edio(["sessions", "--close"]).fails(1);
    assert_eq!((repo.git_files(), repo.edio_refs()), state);
    repo.edio_in(repo.outside().join("home"), ["sessions"])
        .fails(4);
}

#[test]
fn p4_one_is_put_away_with_what_was_unsaved() {
    let repo = Repo::with(&[("a", "base\n"), ("b", "base\n")]);
    repo.write("a", "1\n");
    repo.edio(["snapshot", "-m", "1"]).ok();
    repo.write("b", "staged\n");
    repo.git(["add", "b"]);
    repo.write("b", "unsaved\n");
    let id = repo.sessions("active").remove(0);
    let (state, files) = (repo.git_files(), repo.manifest());

    let ran = repo.edio(["sessions", "--close"]);

    ran.ok();
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains(&format!("{id} is archived")), "{ran}");
    assert!(ran.stderr.contains("edio undo"), "{ran}");
    assert_eq!((repo.git_files(), repo.manifest()), (state, files));
    assert_eq!(
        (repo.sessions("active"), repo.sessions("archive")),
        (vec![], vec![id.clone()])
    );
    let log = repo.edio(["log", "--session", &id, "--json"]).json();
    assert_eq!(
        (&log[0]["turn"], &log[0]["kind"]),
        (&json!(2), &json!("human"))
    );
    assert!(repo.is_kept("unsaved\n"));
    // The next one begins anew.
    repo.write("a", "next\n");
    repo.edio_later(1, ["snapshot", "-m", "next"]).ok();
    assert_ne!(repo.sessions("active"), [id]);
    assert_eq!(repo.turns(), 1);
    repo.fsck();
}

#[test]
fn one_is_put_away_by_its_id() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.write("a", "1\n");
    repo.edio(["snapshot", "-m", "1"]).ok();
    let id = repo.sessions("active").remove(0);
    for (wrong, code) in [
        ("sess_1700000000_0123abcd", 1),
        ("../x", 2),
        ("", 2),
        ("a b", 2),
    ] {
        repo.edio(["sessions", "--close", wrong]).fails(code);
        assert_eq!(repo.sessions("active"), [id.as_str()]);
    }
    let record = &repo.edio(["sessions", "--close", &id, "--json"]).json()[0];
    assert_eq!(record, &json!({"v": 1, "closed": id}));
    // It is put away already.
    let refs = repo.edio_refs();
    repo.edio(["sessions", "--close", &id]).fails(1);
    assert_eq!(repo.edio_refs(), refs);
}

#[test]
fn p6_one_of_another_living_work_tree_is_left_to_it() {
    let (repo, id) = with_a_linked_work_tree();
    let refs = repo.edio_refs();
    let ran = repo.edio(["sessions", "--close", &id]);
    ran.fails(3);
    assert!(ran.stderr.contains("linked"), "{ran}");
    assert_eq!(repo.edio_refs(), refs);
    let here: Vec<bool> = listed(&repo)
        .iter()
        .map(|record| record["here"] == true)
        .collect();
    assert_eq!(here, [true, false]);
    assert_eq!(listed(&repo)[1]["worktree"], "linked");
    repo.edio_in(repo.outside().join("linked"), ["sessions", "--close"])
        .ok();
    assert_eq!(repo.sessions("archive"), [id]);
}

#[test]
fn one_of_a_work_tree_that_is_gone_can_be_put_away() {
    let (repo, id) = with_a_linked_work_tree();
    repo.git(["worktree", "remove", "--force", "../linked"]);
    let ran = repo.edio_later(2, ["sessions", "--close", &id]);
    // Undo is about the session under way here.
    assert!(!ran.ok().stderr.contains("edio undo"), "{ran}");
    assert_eq!(repo.sessions("archive"), [id.as_str()]);
    assert_eq!(repo.turns(), 1, "the one under way here goes on");
    assert_eq!(repo.read("a"), "main\n");
}

#[test]
fn one_that_was_put_away_can_be_looked_at_and_restored() {
    let repo = Repo::with(&[("a", "base\n")]);
    for content in ["1\n", "2\n"] {
        repo.write("a", content);
        repo.edio(["snapshot", "-m", content.trim()]).ok();
    }
    let id = repo.sessions("active").remove(0);
    repo.edio(["sessions", "--close"]).ok();
    repo.git(["reflog", "expire", "--expire=now", "--all"]);
    repo.git(["gc", "-q", "--prune=now"]);
    repo.write("a", "unsaved\n");
    let with = |words: &[&str]| repo.edio([words, &["--session", &id]].concat());
    assert_eq!(with(&["log", "--json"]).json().len(), 2);
    assert_eq!(with(&["show", "1", "--json"]).json()[0]["message"], "1");
    assert!(with(&["diff", "1..2"]).stdout.contains("\n-1\n+2\n"));
    with(&["restore", "1", "-f", "a"]).ok();
    assert_eq!(repo.read("a"), "1\n");
    with(&["restore", "2"]).ok();
    assert_eq!(repo.read("a"), "2\n");
    assert!(repo.is_kept("unsaved\n"));
    assert_eq!(repo.sessions("archive"), [id]);
    repo.fsck();
}
