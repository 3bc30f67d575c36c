//! What a power cut or a broken disk leaves of a repository: what is whole stays usable, what is not is named, and nothing
//! more is lost.

use std::fs;

use serde_json::json;

use crate::common::{Ran, Repo};

/// A repository with a file `a` and three turns of it, the first of which says `v1`.
fn three_turns() -> Repo {
    let repo = Repo::with(&[("a", "v0\n")]);
    for number in 1..=3 {
        repo.write("a", format!("v{number}\n"));
        repo.edio(["snapshot", "-m", &format!("turn {number}")])
            .ok();
    }
    repo
}

/// The ways in which a commit can be gone.
#[derive(Clone, Copy, Debug)]
enum Way {
    Missing,
    Empty,
    Garbled,
    CutShort,
}

const WAYS: [Way; 4] = [Way::Missing, Way::Empty, Way::Garbled, Way::CutShort];

/// The loose file of an object.
fn loose(oid: &str) -> String {
    format!(".git/objects/{}/{}", &oid[..2], &oid[2..])
}

/// Damages an object. Returns its id.
fn damage(repo: &Repo, name: &str, way: Way) -> String {
    let oid = repo.git(["rev-parse", name]);
    let file = loose(&oid);
    let mut content = fs::read(repo.path(&file)).unwrap();
    repo.remove(&file);
    // Of its last command's objects edio has another copy still.
    repo.remove(".git/edio/objects");
    match way {
        Way::Missing => return oid,
        Way::Empty => content.clear(),
        Way::Garbled => content.fill(0),
        Way::CutShort => content.truncate(content.len() - 20),
    }
    repo.write(&file, content);
    oid
}

#[track_caller]
fn names(ran: &Ran, turn: u32) {
    let what = format!("turn {turn} can't be read: ");
    assert!(ran.stderr.contains(&what), "{ran}");
}

#[test]
fn of_a_session_with_a_damaged_turn_the_others_stay_usable() {
    let middle = WAYS.map(|way| (way, 2));
    for (way, damaged) in [(Way::Empty, 1), (Way::Missing, 3)]
        .into_iter()
        .chain(middle)
    {
        let repo = three_turns();
        let name = repo.turn_ref(damaged);
        let oid = damage(&repo, &name, way);
        for words in [&["log"][..], &["status"], &["log", "--all"]] {
            let ran = repo.edio(words);
            names(ran.ok(), damaged);
            assert!(ran.stderr.contains(&oid), "{way:?}: {ran}");
        }
        repo.edio(["sessions"]).ok();
        let ran = repo.edio(["restore", &damaged.to_string()]);
        names(ran.fails(1), damaged);
        assert!(ran.stderr.contains("hint: "), "{ran}");
        for whole in (1..=3_u32).filter(|whole| *whole != damaged) {
            repo.edio(["restore", &whole.to_string()]).ok();
            assert_eq!(repo.read("a"), format!("v{whole}\n"), "{way:?} {damaged}");
            repo.edio(["undo"]).ok();
            repo.edio(["redo"]).ok();
            repo.edio(["show", &whole.to_string()]).ok();
        }
        let ran = repo.edio(["doctor"]);
        assert_eq!(ran.code, Some(1), "{ran}");
        let wrong = format!("turn {damaged} can't be read: its commit {oid} is missing");
        assert!(ran.stdout.contains(&wrong), "{ran}");
        // The ref is all that is known of it.
        let refs = repo.edio_refs();
        assert!(refs.contains(&format!("{name} {oid}")), "{refs}");
    }
}

#[test]
fn the_turn_after_a_damaged_one_has_a_number_of_its_own() {
    for way in WAYS {
        let repo = three_turns();
        let name = repo.turn_ref(3);
        let oid = damage(&repo, &name, way);
        let before = repo.turn_ref(2);
        repo.edio(["snapshot", "-m", "four"]).ok();
        assert_eq!(repo.in_turn(4, "a").unwrap(), "v3\n", "{way:?}");
        let parent = repo.git(["rev-parse", &format!("{}^", repo.turn_ref(4))]);
        assert_eq!(parent, repo.git(["rev-parse", &before]), "{way:?}");
        let refs = repo.edio_refs();
        assert!(refs.contains(&format!("{name} {oid}")), "{refs}");
        repo.write("a", "v5\n");
        repo.edio(["snapshot"]).ok();
        repo.edio(["restore", "4"]).ok();
        assert_eq!(repo.read("a"), "v3\n");
    }
}

#[test]
fn p4_what_hangs_on_a_damaged_turn_is_saved_before_a_restore() {
    let repo = three_turns();
    damage(&repo, &repo.turn_ref(3), Way::Empty);
    let ran = repo.edio(["restore", "1"]);
    assert!(ran.ok().stderr.contains("turn 4"), "{ran}");
    assert_eq!(repo.read("a"), "v1\n");
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("a"), "v3\n");
}

#[test]
fn a_ref_that_says_nothing_does_no_harm_to_the_others() {
    for content in ["", "0000", "\0\0\0\0"] {
        let repo = three_turns();
        let current = repo.turn_ref(3).replace("/3", "/current");
        for name in [&repo.turn_ref(3), &current] {
            repo.write(format!(".git/{name}"), content);
        }
        names(repo.edio(["log"]).ok(), 3);
        names(repo.edio(["restore", "3"]).fails(1), 3);
        repo.edio(["restore", "1"]).ok();
        assert_eq!(repo.read("a"), "v1\n");
        repo.edio(["undo"]).ok();
        assert_eq!(repo.read("a"), "v3\n");
        repo.edio(["snapshot", "-m", "five"]).ok();
        assert_eq!(repo.in_turn(5, "a").unwrap(), "v3\n");
        assert_eq!(
            repo.read(repo.path(".git").join(current.replace("current", "3"))),
            content
        );
        assert_eq!(repo.edio(["doctor"]).code, Some(1));
    }
}

#[test]
fn a_damaged_session_is_not_put_away_and_never_pruned() {
    let repo = three_turns();
    damage(&repo, &repo.turn_ref(2), Way::Empty);
    let refs = repo.edio_refs();
    for words in [
        &["accept", "done"][..],
        &["sessions", "--close"],
        &["forget", "-f", "a", "--yes"],
    ] {
        let ran = repo.edio(words);
        names(ran.fails(1), 2);
        assert!(ran.stderr.contains("git update-ref --no-deref -d"), "{ran}");
        assert_eq!(repo.edio_refs(), refs, "{words:?}");
    }
    repo.git(["config", "edio.keepTurns", "2"]);
    repo.edio(["gc", "-d", "0"]).ok();
    assert_eq!(repo.edio_refs(), refs);
}

#[test]
fn a_damaged_session_is_not_put_away_by_an_undo_into_the_one_before() {
    for put_away in [&["accept", "done"][..], &["sessions", "--close"]] {
        let repo = Repo::with(&[("a", "base\n")]);
        repo.write("a", "1\n");
        repo.edio(["snapshot"]).ok();
        repo.edio(put_away).ok();
        repo.edio(["run", "--", "true"]).ok();
        repo.write("a", "2\n");
        repo.edio(["snapshot"]).ok();
        repo.edio(["undo"]).ok();
        damage(&repo, &repo.turn_ref(1), Way::Missing);
        let refs = repo.edio_refs();
        let ran = repo.edio(["undo"]);
        names(ran.fails(1), 1);
        assert_eq!(repo.edio_refs(), refs, "{put_away:?}");
    }
}

/// A repository with a file `a` and four turns of it. Two steps led to the third, the first of which is gone.
fn with_a_lost_step(way: Way) -> Repo {
    let repo = Repo::with(&[("a", "v0\n")]);
    for number in 1..=4 {
        if number == 3 {
            for step in 1..=2 {
                repo.write("a", format!("v2\nstep {step}\n"));
                repo.step(&format!("3.{step}"));
            }
        }
        repo.write("a", format!("v{number}\n"));
        repo.edio(["snapshot", "-m", &format!("turn {number}")])
            .ok();
    }
    damage(&repo, &format!("{}~2", repo.turn_ref(3)), way);
    repo
}

#[test]
fn a_damaged_step_is_in_the_way_of_nothing_but_what_needs_it() {
    for way in WAYS {
        let repo = with_a_lost_step(way);
        for words in [
            &["log", "--steps"][..],
            &["show", "4"],
            &["sessions"],
            &["diff", "2..3"],
            &["revert", "4"],
            &["undo"],
        ] {
            repo.edio(words).ok();
        }
        for number in [1, 2, 3] {
            repo.edio(["restore", &number.to_string()]).ok();
            assert_eq!(repo.read("a"), format!("v{number}\n"), "{way:?}");
            repo.edio(["undo"]).ok();
            assert_eq!(repo.read("a"), "v4\n", "{way:?}");
        }
        for words in [
            &["show", "3"][..],
            &["show", "3.2"],
            &["diff", "@-2"],
            &["revert", "2..4"],
            &["bisect", "--good", "1", "--bad", "4", "--", "true"],
        ] {
            let ran = repo.edio(words);
            let lost = ["what turn 3 grew from", "what turn 3.2 grew from"];
            let ran = ran.fails(1);
            assert!(lost.iter().any(|it| ran.stderr.contains(it)), "{ran}");
        }
    }
}

#[test]
fn an_undo_that_comes_to_a_turn_whose_step_is_damaged_goes_nowhere_else() {
    let repo = with_a_lost_step(Way::Missing);
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("a"), "v3\n");
    let ran = repo.edio(["undo"]);
    let lost = "what turn 3 grew from can't be found";
    assert!(ran.fails(1).stderr.contains(lost), "{ran}");
    assert_eq!(repo.read("a"), "v3\n");
    repo.edio(["redo"]).ok();
    assert_eq!(repo.read("a"), "v4\n");
}

#[test]
fn an_accept_that_lacks_turns_behind_a_damaged_step_is_refused() {
    for way in WAYS {
        let repo = with_a_lost_step(way);
        let (refs, head) = (repo.edio_refs(), repo.git(["rev-parse", "HEAD"]));
        for words in [
            &["accept", "done"][..],
            &["accept", "-m", "done", "--dry-run"],
            &["accept", "done", "--turn", "3"],
        ] {
            let ran = repo.edio(words);
            let stderr = &ran.fails(1).stderr;
            let lost = "what turn 3 grew from can't be found";
            assert!(stderr.contains(lost), "{way:?}: {ran}");
            assert!(stderr.contains("edio sessions --close"), "{ran}");
            assert_eq!(repo.edio_refs(), refs, "{words:?}");
        }
        repo.edio(["accept", "two", "--turn", "2"]).ok();
        assert_ne!(repo.git(["rev-parse", "HEAD"]), head);
    }
    // What the hint says.
    let repo = with_a_lost_step(Way::Missing);
    repo.git(["commit", "-q", "-a", "-m", "by hand"]);
    repo.edio(["sessions", "--close"]).ok();
}

#[test]
fn p4_turns_behind_a_damaged_step_keep_their_refs() {
    let repo = with_a_lost_step(Way::Garbled);
    repo.git(["config", "edio.keepTurns", "2"]);
    repo.edio(["gc"]).ok();
    let refs = repo.edio_refs();
    for (turn, stays) in [(1, true), (2, true), (3, false), (4, true)] {
        let name = repo.turn_ref(4).replace("/4", &format!("/{turn} "));
        assert_eq!(refs.contains(&name), stays, "{turn}: {refs}");
    }
}

/// Runs edio with a git that is killed when it is asked for a line of turns.
fn with_a_git_that_is_killed(repo: &Repo, words: &[&str]) -> Ran {
    let path = repo.git_instead(
        "case \"$*\" in *'rev-list --first-parent'*) kill -9 $$;; esac\nexec \"$GIT\" \"$@\"\n",
    );
    repo.ran(repo.command(words).env("PATH", path))
}

#[test]
fn a_git_that_fails_is_not_taken_for_the_beginning_of_the_line() {
    let repo = Repo::with(&[("a", "v0\n")]);
    for number in 1..=4 {
        repo.write("a", format!("v{number}\n"));
        if number == 3 {
            repo.step("3.1");
            repo.step("3.2");
        }
        repo.edio(["snapshot"]).ok();
    }
    repo.git(["config", "edio.keepTurns", "2"]);
    let refs = repo.edio_refs();
    for words in [&["accept", "done"][..], &["gc"], &["revert", "2..4"]] {
        let ran = with_a_git_that_is_killed(&repo, words);
        assert!(ran.fails(1).stderr.contains("signal 9"), "{ran}");
        assert_eq!(repo.edio_refs(), refs, "{words:?}");
    }
    repo.edio(["accept", "done"]).ok();
}

#[test]
fn p8_a_damaged_session_is_nobody_elses_trouble() {
    let repo = three_turns();
    repo.git(["worktree", "add", "-q", "--detach", "../other"]);
    damage(&repo, &repo.turn_ref(3), Way::Empty);
    let ran = repo.edio_in("../other", ["run", "--", "sh", "-c", "echo agent > a"]);
    ran.ok();
    assert_eq!(repo.read("../other/a"), "agent\n");
    names(repo.edio_in("../other", ["log", "--all"]).ok(), 3);
    repo.edio_in("../other", ["sessions"]).ok();
    repo.edio_in("../other", ["restore", "0"]).ok();
    assert_eq!(repo.read("../other/a"), "v0\n");
    // In its own work tree, too, an agent is started.
    repo.edio(["run", "--", "sh", "-c", "echo agent > a"]).ok();
    assert_eq!(repo.read("a"), "agent\n");
}

#[test]
fn a_damaged_last_operation_is_not_written_over() {
    for way in WAYS {
        let repo = three_turns();
        repo.edio(["restore", "1"]).ok();
        let name = repo.turn_ref(1).replace("/1", "/ops");
        damage(&repo, &name, way);
        let (refs, now) = (repo.edio_refs(), repo.manifest());
        for words in [
            &["restore", "2"][..],
            &["undo"],
            &["restore", "2", "-f", "a"],
        ] {
            let ran = repo.edio(words);
            let stderr = &ran.fails(1).stderr;
            assert!(stderr.contains("the last operation can't be read"), "{ran}");
            assert_eq!(repo.manifest(), now, "{way:?} {words:?}");
            assert_eq!(repo.edio_refs(), refs, "{way:?} {words:?}");
        }
        repo.write("a", "new\n");
        repo.edio(["snapshot"]).ok();
        // What the hint says.
        repo.git(["update-ref", "--no-deref", "-d", &name]);
        repo.edio(["restore", "2"]).ok();
        assert_eq!(repo.read("a"), "v2\n");
        repo.edio(["undo"]).ok();
        assert_eq!(repo.read("a"), "new\n");
    }
}

#[test]
fn beside_what_is_damaged_there_turns_go_on_and_nothing_that_hangs_on_it_is_let_go() {
    let repo = Repo::with(&[("a", "v0\n"), (".gitattributes", "a text\n")]);
    let snapshot = |content: &str| {
        repo.write("a", content);
        repo.edio(["snapshot"]).ok();
    };
    snapshot("v1\r\n");
    snapshot("v2\r\n");
    let name = repo.turn_ref(1).replace("/1", "/side");
    let file = loose(&repo.git(["rev-parse", &name]));
    let content = fs::read(repo.path(&file)).unwrap();
    let oid = damage(&repo, &name, Way::Missing);
    snapshot("v3\r\n");
    let missing = repo.edio(["doctor"]);
    assert!(missing.stdout.contains(&oid), "{missing}");
    repo.edio(["restore", "1"]).ok();
    assert_eq!(repo.read("a"), "v1\r\n");
    repo.edio(["restore", "3"]).ok();
    assert_eq!(repo.read("a"), "v3\r\n");
    repo.write(&file, content);
    repo.fsck();
    repo.git(["gc", "-q", "--prune=now"]);
    for turn in 1..=3 {
        repo.edio(["restore", &turn.to_string()]).ok();
        assert_eq!(repo.read("a"), format!("v{turn}\r\n"));
    }
}

#[test]
fn doctor_finds_what_is_missing_behind_the_turns() {
    for way in [Way::Missing, Way::Empty, Way::Garbled] {
        for what in [":a", "^{tree}"] {
            let repo = three_turns();
            assert!(!repo.edio(["doctor"]).stdout.contains("wrong: turns"));
            let oid = damage(&repo, &format!("{}{what}", repo.turn_ref(2)), way);
            let ran = repo.edio(["doctor"]);
            assert_eq!(ran.code, Some(1), "{ran}");
            assert!(ran.stdout.contains("is missing or damaged: "), "{ran}");
            assert!(ran.stdout.contains(&oid), "{way:?} {what}: {ran}");
        }
    }
}

/// A repository with two turns of ten files, and what the first of them held.
fn two_turns_of_many() -> (Repo, Vec<String>) {
    let repo = Repo::with(&[("f0", "base\n")]);
    for turn in ["one", "two"] {
        for file in 0..10 {
            let line = format!("{turn} {file} of many lines that don't compress well: {turn}\n");
            repo.write(format!("f{file}"), line);
        }
        repo.edio(["snapshot", "-m", turn]).ok();
    }
    let now = repo.manifest();
    (repo, now)
}

#[test]
fn p5_a_turn_that_lacks_a_content_is_refused_before_anything_is_written() {
    for way in [Way::Missing, Way::Empty, Way::Garbled] {
        let (repo, now) = two_turns_of_many();
        let blob = damage(&repo, &format!("{}:f7", repo.turn_ref(1)), way);
        let refs = repo.edio_refs();
        for words in [
            &["restore", "1"][..],
            &["restore", "1", "--dry-run"],
            &["restore", "1", "-f", "f7"],
            &["undo"],
        ] {
            let ran = repo.edio(words);
            ran.fails(1);
            let cause = format!("the blob {blob} is missing or damaged");
            assert!(ran.stderr.contains(&cause), "{way:?} {words:?}: {ran}");
            assert!(ran.stderr.contains("the content of f7"), "{ran}");
            assert!(ran.stderr.contains("hint: "), "{ran}");
            assert_eq!(repo.manifest(), now, "{words:?}");
            assert_eq!(repo.edio_refs(), refs, "{words:?}");
        }
        repo.edio(["restore", "1", "-f", "f6"]).ok();
        assert!(repo.read("f6").starts_with("one 6"));
    }
}

#[test]
fn a_content_that_is_missing_is_not_laid_to_a_filter() {
    let (repo, _) = two_turns_of_many();
    repo.write(".gitattributes", "f7 text eol=crlf\n");
    repo.edio(["snapshot"]).ok();
    let now = repo.manifest();
    damage(&repo, &format!("{}:f7", repo.turn_ref(1)), Way::Missing);
    let ran = repo.edio(["restore", "1"]);
    assert!(ran.fails(1).stderr.contains("the content of f7"), "{ran}");
    assert_eq!(repo.manifest(), now);
}

#[test]
fn a_content_that_is_cut_short_stops_a_restore_with_the_way_back() {
    let (repo, now) = two_turns_of_many();
    damage(&repo, &format!("{}:f7", repo.turn_ref(1)), Way::CutShort);
    let ran = repo.edio(["restore", "1"]);
    let stderr = &ran.fails(1).stderr;
    assert!(
        stderr.contains("stopped at f7: its content, the blob "),
        "{ran}"
    );
    assert!(stderr.contains("hint: to go back: edio restore 2"), "{ran}");
    assert!(!stderr.contains("give the same command again"), "{ran}");
    repo.edio(["restore", "2"]).ok();
    assert_eq!(repo.manifest(), now);
}

#[test]
fn an_index_that_git_can_not_read_is_named_with_the_way_out() {
    for length in [0, 50, 200] {
        let repo = three_turns();
        let mut index = fs::read(repo.path(".git/index")).unwrap();
        index.resize(length, 0);
        index[..length.min(4)].fill(0);
        repo.write(".git/index", index);
        for words in [&["snapshot"][..], &["restore", "1"], &["accept", "x"]] {
            let ran = repo.edio(words);
            let stderr = &ran.fails(1).stderr;
            assert!(stderr.contains("git can't read its index, "), "{ran}");
            assert!(stderr.contains(".git/index\n"), "{ran}");
            assert!(stderr.contains("then: git reset"), "{ran}");
        }
        // What the hint says.
        repo.remove(".git/index");
        repo.git(["reset", "-q"]);
        repo.edio(["restore", "1"]).ok();
        assert_eq!(repo.read("a"), "v1\n");
    }
}

#[test]
fn a_git_that_can_not_be_started_is_not_called_missing() {
    let repo = three_turns();
    let edio = crate::common::edio_binary();
    let script = format!("ulimit -n 8; exec '{}' status", edio.display());
    let mut command = repo.like_edio("sh", ["status"]);
    let ran = repo.ran(command.args(["-c", &script]));
    let stderr = &ran.fails(1).stderr;
    assert!(!stderr.contains("missing"), "{ran}");
    assert!(stderr.contains("ulimit"), "{ran}");
}

#[test]
fn p4_a_session_that_can_not_be_read_is_not_brought_back_by_an_undo_of_its_accept() {
    for put_away in [&["accept", "done"][..], &["sessions", "--close"]] {
        let repo = Repo::with(&[("a", "base\n")]);
        repo.write("a", "1\n");
        repo.edio(["snapshot"]).ok();
        let session = repo.sessions("active").remove(0);
        repo.edio(put_away).ok();
        let name = format!("refs/edio/archive/{session}/current");
        let commit = repo.git(["rev-parse", &name]);
        let object = format!(".git/objects/{}/{}", &commit[..2], &commit[2..]);
        repo.remove(&object);
        let ran = repo.edio(["undo"]);
        assert!(ran.fails(1).stderr.contains("can't be read"), "{ran}");
        assert_eq!(repo.read(format!(".git/{name}")).trim(), commit);
    }
}

/// A repository with three turns, of which nobody can tell where the work tree stands.
fn standing_nowhere() -> Repo {
    let repo = three_turns();
    let current = repo.turn_ref(3).replace("/3", "/current");
    repo.write(format!(".git/{current}"), "");
    repo
}

const NOWHERE: &str = "where the work tree stands can't be read: ";

#[test]
fn a_session_that_goes_on_from_another_turn_says_so_once() {
    for words in [
        &["snapshot", "-m", "four"][..],
        &["restore", "1"],
        &["undo"],
        &["run", "--", "true"],
    ] {
        let repo = standing_nowhere();
        repo.write("a", "new\n");
        let ran = repo.edio(words);
        let said = format!("{NOWHERE}the ref refs/edio/active/");
        assert!(ran.ok().stderr.contains(&said), "{words:?}: {ran}");
        assert!(ran.stderr.contains("goes on from turn 3\n"), "{ran}");
        let again = repo.edio(["snapshot"]);
        assert!(!again.ok().stderr.contains(NOWHERE), "{words:?}: {again}");
    }
    let repo = standing_nowhere();
    let ran = repo.edio(["snapshot", "--json"]);
    assert!(ran.ok().stderr.contains(r#""warning":"where the"#), "{ran}");
}

#[test]
fn what_a_hook_found_of_a_session_is_said_by_the_next_command() {
    let repo = standing_nowhere();
    repo.write("a", "new\n");
    repo.claude_says("UserPromptSubmit", json!({"prompt": "go on"}));
    let ran = repo.edio(["snapshot"]);
    assert!(ran.ok().stderr.contains(NOWHERE), "{ran}");
    let again = repo.edio(["snapshot"]);
    assert!(!again.ok().stderr.contains(NOWHERE), "{again}");
}

#[test]
fn a_session_of_which_nothing_can_be_read_is_named_and_a_new_one_begins() {
    for way in WAYS {
        let repo = Repo::with(&[("a", "v0\n")]);
        repo.edio(["run", "--", "true"]).ok();
        let session = repo.sessions("active").remove(0);
        let current = format!("refs/edio/active/{session}/current");
        let oid = damage(&repo, &current, way);
        let ran = repo.edio(["status"]);
        assert!(ran.ok().stderr.contains(NOWHERE), "{way:?}: {ran}");
        assert!(ran.stderr.contains(&oid), "{ran}");
        let ran = repo.edio(["log"]);
        let said = format!("error: nothing of {session} can be read");
        assert!(ran.fails(1).stderr.contains(&said), "{way:?}: {ran}");
        let ran = repo.edio(["forget", "-f", "a", "--yes"]);
        assert!(ran.fails(1).stderr.contains(NOWHERE), "{way:?}: {ran}");
        repo.write("a", "v1\n");
        let ran = repo.edio(["snapshot"]);
        let said = format!("nothing of {session} can be read, and a new session begins: ");
        assert!(ran.ok().stderr.contains(&said), "{way:?}: {ran}");
        assert_eq!(repo.in_turn(1, "a").unwrap(), "v1\n");
        let ran = repo.edio(["snapshot"]);
        assert!(!ran.ok().stderr.contains(&session), "{ran}");
        // What is left of it is for a person to put right.
        assert!(repo.edio_refs().contains(&format!("{current} {oid}")));
        let ran = repo.edio(["doctor"]);
        let remedy = format!("git update-ref --no-deref -d {current}");
        assert_eq!(ran.code, Some(1), "{ran}");
        assert!(ran.stdout.contains(&remedy), "{ran}");
        repo.git(["update-ref", "--no-deref", "-d", &current]);
        assert!(!repo.edio(["doctor"]).stdout.contains("wrong: turns"));
        repo.edio(["forget", "-f", "a", "--yes"]).ok();
    }
}

/// A commit that is none of edio's, where a turn would be.
fn with_a_foreign_turn(number: u32) -> (Repo, String) {
    let repo = Repo::with(&[("a", "v0\n")]);
    repo.write("a", "v1\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    let foreign = ["commit-tree", "HEAD^{tree}", "-m", "not edio's"];
    let foreign = repo.git(foreign);
    let name = repo.turn_ref(1).replace("/1", &format!("/{number}"));
    repo.git(["update-ref", &name, &foreign]);
    (repo, foreign)
}

#[test]
fn what_edio_does_not_understand_is_shown_as_foreign() {
    let (repo, foreign) = with_a_foreign_turn(99);
    let what = format!("turn 99 is foreign: its commit {foreign} is no turn 99 of edio's");
    for words in [&["log"][..], &["status"], &["sessions"], &["log", "--all"]] {
        let ran = repo.edio(words);
        assert!(ran.ok().stderr.contains(&what), "{words:?}: {ran}");
    }
    let ran = repo.edio(["show", "99"]);
    assert!(
        ran.fails(1).stderr.starts_with(&format!("error: {what}\n")),
        "{ran}"
    );
    assert!(
        ran.stderr
            .contains(&format!("hint: see it: git show {foreign}\n")),
        "{ran}"
    );
    let ran = repo.edio(["show", "last"]);
    assert!(ran.ok().stdout.starts_with("turn 1 "), "{ran}");
    let ran = repo.edio(["doctor"]);
    assert!(ran.stdout.contains(&what), "{ran}");
    // Only edio gives out numbers; one that is taken is not given out again.
    let ran = repo.edio(["snapshot", "-m", "after"]);
    assert!(ran.ok().stderr.contains("turn 2: after"), "{ran}");
    repo.write("a", "v3\n");
    let name = repo.turn_ref(1).replace("/1", "/3");
    repo.git(["update-ref", &name, &foreign]);
    repo.edio(["snapshot", "-m", "over it"]).ok();
    assert_eq!(repo.in_turn(100, "a").unwrap(), "v3\n");
}

#[test]
fn p4_a_foreign_commit_is_not_let_go_by_an_accept() {
    let (repo, foreign) = with_a_foreign_turn(99);
    repo.edio(["accept", "feat"]).ok();
    let refs = repo.edio_refs();
    assert!(refs.contains(&format!("/99 {foreign}")), "{refs}");
    assert_eq!(repo.sessions("active"), [""; 0]);
    repo.edio(["undo"]).ok();
    let ran = repo.edio(["log"]);
    assert!(ran.ok().stderr.contains("turn 99 is foreign"), "{ran}");
    assert_eq!(repo.sessions("active").len(), 1);
}
