//! `edio accept`: one clean commit, and what is the user's stays the user's (P1, P4).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::common::{Ran, Repo};

/// The session that is under way, or the one that was put away last.
fn session(repo: &Repo) -> String {
    let format = "--format=%(refname:lstrip=3)";
    let names = repo.git([
        "for-each-ref",
        format,
        "refs/edio/active",
        "refs/edio/archive",
    ]);
    names
        .lines()
        .next()
        .unwrap()
        .split('/')
        .next()
        .unwrap()
        .to_owned()
}

/// What the commit at HEAD changes, a line for each path.
pub fn committed(repo: &Repo) -> String {
    repo.git(["show", "--no-renames", "--format=", "--name-status", "HEAD"])
}

/// The index: flags, modes, ids, names.
fn index(repo: &Repo) -> Vec<String> {
    let lines = repo.git(["ls-files", "-s", "-v"]);
    lines.lines().map(str::to_owned).collect()
}

/// Begins a session with the work tree as it is for its turn 0, and lets a shell change something in it.
pub fn run(repo: &Repo, script: &str) {
    repo.edio(["run", "--", "sh", "-ec", script]).ok();
}

/// Does it say this of the path, in one line of its report?
pub fn says_of(ran: &Ran, what: &str, path: &str) -> bool {
    let words = |line: &str| line.split([' ', ':']).any(|word| word == path);
    let mut lines = ran.stderr.lines();
    lines.any(|line| line.contains(what) && words(line))
}

/// Accept must say no with this code and these words, and change nothing that is the user's, nor end the session.
/// Returns what it said.
#[track_caller]
fn says_no(repo: &Repo, words: &[&str], code: i32, said: &[&str]) -> String {
    let turns = repo.turns();
    let ran = repo.says_no(words, code, said);
    assert!(repo.turns() >= turns, "{ran}");
    ran.stderr
}

#[test]
fn the_session_becomes_one_clean_commit() {
    let repo = Repo::with(&[("a", "one\n"), ("b", "two\n"), ("src/c", "three\n")]);
    let before = repo.git(["rev-parse", "HEAD"]);
    repo.write("a", "one\nmore\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    repo.write("new/file", "new\n");
    repo.edio(["snapshot", "-m", "second"]).ok();
    repo.remove("b");
    repo.edio(["snapshot", "-m", "third"]).ok();
    let files = repo.manifest();

    let ran = repo.edio(["accept", "feat: all of it"]);

    ran.ok();
    assert_eq!(ran.stdout, "");
    assert_eq!(
        repo.git(["log", "--format=%P %an <%ae> %cn <%ce> %s", "-1"]),
        format!(
            "{before} A Person <person@example.com> A Person <person@example.com> feat: all of it"
        )
    );
    assert_eq!(repo.git(["rev-list", "--count", "HEAD"]), "2");
    assert_eq!(committed(&repo), "M\ta\nD\tb\nA\tnew/file");
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    assert_eq!(repo.git(["symbolic-ref", "HEAD"]), "refs/heads/main");
    assert_eq!(repo.manifest(), files);
    assert_eq!(repo.turns(), 0);
    assert_eq!(repo.git(["for-each-ref", "refs/edio/active"]), "");
    assert!(!repo.path(".git/index.lock").exists());
    repo.fsck();
}

#[test]
fn the_reflogs_of_head_and_branch_get_their_line() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write("a", "two\n");
    repo.edio(["snapshot"]).ok();
    repo.edio(["accept", "feat: a\n\nand why"]).ok();
    let expected = "edio accept feat: a A Person <person@example.com>";
    for name in ["HEAD", "main"] {
        let line = repo.git(["reflog", "show", "-1", "--format=%gs %gn <%ge>", name]);
        assert_eq!(line, expected, "{name}");
    }
}

#[test]
fn the_reflog_is_kept_off_where_the_user_wants_none() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.git(["config", "core.logAllRefUpdates", "false"]);
    fs::remove_dir_all(repo.path(".git/logs")).unwrap();
    repo.write("a", "two\n");
    repo.edio(["snapshot"]).ok();
    repo.edio(["accept", "feat"]).ok();
    assert!(!repo.path(".git/logs/HEAD").exists());
}

#[test]
fn the_message_is_committed_to_the_letter() {
    let message = "  feat: größe\t\n\n# no comment\n\n\nEdio-Turn: 99\nSigned-off-by: x  \n\u{1b}[31mred\r\n-- \n\n";
    let repo = Repo::with(&[("a", "one\n")]);
    repo.git(["config", "i18n.commitEncoding", "ISO-8859-1"]);
    repo.git(["config", "commit.cleanup", "strip"]);
    repo.git(["config", "trailer.ifexists", "replace"]);
    for (content, option) in [
        ("two\n", &["accept", message][..]),
        ("three\n", &["accept", "-m", message]),
    ] {
        repo.write("a", content);
        repo.edio(["snapshot", "-m", "t"]).ok();
        repo.edio(option).ok();
        let raw = repo.git_raw(["cat-file", "commit", "HEAD"]);
        let (head, body) = raw.split_once("\n\n").unwrap();
        assert_eq!(body, message);
        assert!(!head.contains("encoding"), "{head}");
    }
}

#[test]
fn a_message_may_begin_with_a_dash_and_comes_once() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write("a", "two\n");
    repo.edio(["snapshot", "-m", "-x"]).ok();
    for words in [
        &["accept"][..],
        &["accept", ""],
        &["accept", " \n\t"],
        &["accept", "-m", ""],
        &["accept", "one", "-m", "two"],
        &["accept", "one", "two"],
        &["accept", "--al"],
        &["accept", "-n"],
    ] {
        says_no(&repo, words, 2, &["error: "]);
    }
    repo.edio(["accept", "- a list, and so on"]).ok();
    assert_eq!(
        repo.git(["log", "-1", "--format=%B"]),
        "- a list, and so on"
    );
    repo.write("a", "three\n");
    repo.edio(["snapshot", "-m", "t"]).ok();
    repo.edio(["accept", "-m", "--all"]).ok();
    assert_eq!(repo.git(["log", "-1", "--format=%s"]), "--all");
}

#[test]
fn work_since_the_last_turn_becomes_a_turn_first() {
    let repo = Repo::with(&[("a", "one\n"), ("b", "one\n")]);
    repo.write("a", "two\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    repo.write("b", "two\n");
    let id = session(&repo);
    let record = &repo.edio(["accept", "feat", "--json"]).json()[0];
    assert_eq!(committed(&repo), "M\ta\nM\tb");
    assert_eq!(record["commit"], repo.git(["rev-parse", "HEAD"]));
    assert_eq!(record["branch"], "refs/heads/main");
    assert_eq!(record["session"], id);
    assert_eq!(record["turn"], 2);
    assert_eq!(
        (&record["files"], &record["added"], &record["removed"]),
        (&2.into(), &2.into(), &2.into())
    );
    let turns = repo.edio(["log", "--session", &id, "--json"]).json();
    assert_eq!(turns.len(), 2);
}

#[test]
fn p1_staged_work_on_other_paths_stays_staged() {
    let repo = Repo::with(&[
        ("a", "one\n"),
        ("b", "one\n"),
        ("c", "one\n"),
        ("d", "one\n"),
        ("e", "one\n"),
    ]);
    repo.write("b", "half\n");
    repo.git(["add", "b"]);
    repo.write("b", "whole\n");
    repo.git(["rm", "-q", "--cached", "c"]);
    repo.write("added", "staged\n");
    repo.git(["add", "added"]);
    repo.write("intended", "later\n");
    repo.git(["add", "-N", "intended"]);
    // Only in the index: the file on disk is HEAD's.
    repo.write("d", "staged\n");
    repo.git(["add", "d"]);
    repo.write("d", "one\n");
    repo.git(["update-index", "--chmod=+x", "e"]);
    run(&repo, "echo session > a; echo session > new");
    let (before, staged) = (index(&repo), repo.git(["diff", "--cached"]));

    let ran = repo.edio(["accept", "feat"]);

    ran.ok();
    assert_eq!(committed(&repo), "M\ta\nA\tnew");
    let others = |lines: Vec<String>| -> Vec<String> {
        lines
            .into_iter()
            .filter(|line| !line.ends_with("\ta") && !line.ends_with("\tnew"))
            .collect()
    };
    assert_eq!(others(index(&repo)), others(before));
    assert_eq!(repo.git(["diff", "--cached"]), staged);
    assert_eq!(
        repo.git(["status", "--porcelain"]),
        "A  added\nMM b\nD  c\nMM d\nMM e\n A intended\n?? c"
    );
}

#[test]
fn staged_work_that_the_work_tree_took_back_is_not_committed() {
    let repo = Repo::with(&[("a", "one\n"), ("b", "one\n")]);
    repo.write("b", "staged\n");
    repo.git(["add", "b"]);
    repo.write("b", "one\n");
    repo.write("a", "two\n");
    repo.edio(["snapshot"]).ok();
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(committed(&repo), "M\ta");
    assert_eq!(repo.git(["show", ":b"]), "staged");
    assert_eq!(repo.git(["status", "--porcelain"]), "MM b");
}

#[test]
fn p4_half_staged_work_on_a_committed_path_is_saved() {
    let repo = Repo::with(&[("a", "one\n"), ("b", "one\n")]);
    for (path, staged, content) in [
        ("a", "half\n", "whole\n"),
        ("new", "half new\n", "whole new\n"),
    ] {
        repo.write(path, staged);
        repo.git(["add", path]);
        repo.write(path, content);
    }
    repo.edio(["snapshot"]).ok();
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(repo.git(["show", "HEAD:a"]), "whole");
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    repo.git(["gc", "-q", "--prune=now"]);
    assert!(repo.is_kept("half\n"), "what was staged is lost");
    assert!(repo.is_kept("half new\n"), "what was staged is lost");
    repo.fsck();
}

#[test]
fn p4_staged_work_in_a_folder_that_became_a_file_is_saved() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write("d/x", "only staged\n");
    repo.git(["add", "d/x"]);
    repo.remove("d");
    repo.write("d", "a file\n");
    repo.edio(["snapshot"]).ok();
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(committed(&repo), "A\td");
    assert!(repo.is_kept("only staged\n"), "what was staged is lost");
}

#[test]
fn p4_what_an_accept_takes_off_the_index_is_named_and_an_undo_stages_it_again() {
    let repo = Repo::with(&[("a", "one\n"), ("off", "one\n"), ("plain", "one\n")]);
    for (path, staged, content) in [
        ("a", "half\n", "whole\n"),
        ("as it is", "two\n", "two\n"),
        ("so new", "half new\n", "whole new\n"),
    ] {
        repo.write(path, staged);
        repo.git(["add", path]);
        repo.write(path, content);
    }
    repo.write("d/x", "in a folder\n");
    repo.git(["add", "d/x"]);
    repo.remove("d");
    for path in ["announced", "d", "plain", "off"] {
        repo.write(path, "two\n");
    }
    repo.git(["add", "-N", "announced"]);
    repo.git(["rm", "-q", "--cached", "off"]);
    repo.edio(["snapshot"]).ok();
    let before = index(&repo);
    let unstaged = json!(["a", "d/x", "off", "so new"]);
    let planned = repo.edio(["accept", "--dry-run"]);
    assert!(
        says_of(&planned, "no longer staged: ", "a"),
        "{}",
        planned.ok()
    );
    assert!(planned.stderr.contains("a (an undo would stage it again)"));
    let planned = &repo.edio(["accept", "--dry-run", "--json"]).json()[0];
    assert_eq!(planned["unstaged"], unstaged);
    assert_eq!(index(&repo), before);

    let ran = repo.edio(["accept", "feat"]);
    let said = "  no longer staged: off (it was taken off, or flagged)\n";
    assert!(ran.ok().stderr.contains(said), "{ran}");
    for (path, staged) in [
        ("a", "half"),
        ("d/x", "in a folder"),
        ("so new", "half new"),
    ] {
        let named = format!("  no longer staged: {path} (what was staged: git ");
        let (_, command) = ran.stderr.split_once(&named).unwrap();
        let command = command.split_once(")\n").unwrap().0.replace('\'', "");
        assert_eq!(repo.git(command.splitn(2, ' ')), staged, "{command}");
    }
    assert_eq!(ran.stderr.matches("no longer staged").count(), 4, "{ran}");

    repo.edio(["undo"]).ok();
    assert_eq!(index(&repo), before);
    let redone = &repo.edio(["redo", "--json"]).json()[0];
    assert_eq!(redone["unstaged"], unstaged);
    repo.edio(["undo"]).ok();
    assert_eq!(index(&repo), before);
    let accepted = &repo.edio(["accept", "feat", "--json"]).json()[0];
    assert_eq!(accepted["unstaged"], unstaged);
}

#[test]
fn a_conflict_that_is_not_resolved_is_refused() {
    let leave: [&[&str]; 3] = [
        &["stash", "pop", "-q"],
        &["merge", "-q", "--squash", "theirs"],
        &["checkout", "-q", "-m", "theirs"],
    ];
    for words in leave {
        let repo = Repo::with(&[("a", "one\n")]);
        repo.git(["switch", "-q", "-c", "theirs"]);
        repo.write("a", "theirs\n");
        repo.git(["commit", "-q", "-a", "-m", "theirs"]);
        repo.git(["switch", "-q", "main"]);
        repo.write("a", "stashed\n");
        repo.git(["stash", "-q"]);
        repo.write("a", "ours\n");
        if words[0] != "checkout" {
            repo.git(["commit", "-q", "-a", "-m", "ours"]);
        }
        let _ = repo.git_says(words);
        assert_ne!(repo.git(["ls-files", "-u"]), "", "{words:?}");
        repo.write("new", "session\n");
        repo.edio(["snapshot"]).ok();
        let said = ["not resolved", "in conflict: a\n", "git add PATH"];
        says_no(&repo, &["accept", "feat"], 3, &said);
        says_no(&repo, &["accept", "--all", "feat"], 3, &said);
        says_no(&repo, &["accept", "--dry-run"], 3, &said);

        repo.write("a", "resolved\n");
        repo.git(["add", "a"]);
        repo.edio(["accept", "feat"]).ok();
        assert_eq!(repo.git(["show", "HEAD:a"]), "resolved");
    }
}

#[test]
fn neither_is_an_accept_taken_back_nor_done_again_over_a_conflict() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write("a", "stashed\n");
    repo.git(["stash", "-q"]);
    repo.write("a", "session\n");
    repo.edio(["snapshot"]).ok();
    repo.edio(["accept", "feat"]).ok();
    assert!(!repo.git_says(["stash", "pop", "-q"]));
    says_no(&repo, &["undo"], 3, &["in conflict: a\n"]);
    repo.git(["checkout", "-q", "HEAD", "a"]);
    repo.edio(["undo"]).ok();
}

#[test]
fn own_commits_made_meanwhile_are_kept() {
    let lines = "1\n2\n3\n4\n5\n6\n7\n8\n";
    let repo = Repo::with(&[("a", lines), ("b", "one\n")]);
    repo.write("a", lines.replace('1', "session"));
    repo.edio(["snapshot", "-m", "first"]).ok();
    // The user commits own lines of the same file, another file, and a new one.
    let both = lines.replace('1', "session").replace('8', "user");
    repo.write("a", lines.replace('8', "user"));
    repo.write("b", "user\n");
    repo.write("mine", "user\n");
    repo.commit("mine");
    let mine = repo.git(["rev-parse", "HEAD"]);
    repo.write("a", &both);
    repo.write("new", "session\n");

    let ran = repo.edio(["accept", "feat"]);

    ran.ok();
    assert_eq!(repo.git(["rev-parse", "HEAD^"]), mine);
    assert_eq!(committed(&repo), "M\ta\nA\tnew");
    assert_eq!(repo.git_raw(["show", "HEAD:a"]), both);
    assert_eq!(
        repo.git(["show", "--format=", "--numstat", "HEAD", "--", "a"]),
        "1\t1\ta"
    );
    assert_eq!(repo.git(["status", "--porcelain"]), "");
}

#[test]
fn work_uncommitted_before_the_session_stays_uncommitted_and_is_named() {
    let repo = Repo::with(&[
        ("a", "one\n"),
        ("b", "one\n"),
        ("gone", "one\n"),
        ("mode", "one\n"),
    ]);
    repo.write("b", "mine\n");
    repo.remove("gone");
    repo.chmod("mode", 0o755);
    repo.write("untracked", "mine\n");
    run(&repo, "echo session > a; echo session > new");
    let files = repo.manifest();

    let ran = repo.edio(["accept", "feat"]);

    ran.ok();
    assert_eq!(committed(&repo), "M\ta\nA\tnew");
    assert_eq!(
        repo.git(["status", "--porcelain"]),
        " M b\n D gone\n M mode\n?? untracked"
    );
    assert_eq!(repo.manifest(), files);
    for path in ["b", "gone", "mode", "untracked"] {
        assert!(says_of(&ran, "stays uncommitted", path), "{path}: {ran}");
    }
    assert!(!ran.stderr.contains("whole"), "{ran}");
}

#[test]
fn the_record_names_what_stays_uncommitted_and_what_went_in_whole() {
    let repo = Repo::with(&[("a", "one\n"), ("b", "one\n")]);
    repo.write("a", "mine\n");
    repo.write("b", "mine\n");
    repo.write("u", "mine\n");
    run(&repo, "echo session > a; echo session >> u");
    let record = &repo.edio(["--json", "accept", "feat"]).json()[0];
    let whole = record["whole"].as_array().unwrap();
    assert!(
        whole.len() == 2 && ["a", "u"].iter().all(|path| whole.contains(&json!(path))),
        "{record}"
    );
    assert_eq!(
        record["uncommitted"].as_array().unwrap().len(),
        1,
        "{record}"
    );
    assert_eq!(record["uncommitted"][0]["path"], "b");
    assert_eq!(committed(&repo), "M\ta\nA\tu");
    assert_eq!(repo.git(["show", "HEAD:u"]), "mine\nsession");
}

#[test]
fn other_lines_of_a_file_that_was_uncommitted_go_in_alone() {
    let lines = "1\n2\n3\n4\n5\n6\n7\n8\n";
    let repo = Repo::with(&[("a", lines)]);
    repo.write("a", lines.replace('8', "mine"));
    run(&repo, "sed -i s/1/session/ a");
    let ran = repo.edio(["accept", "feat"]);
    ran.ok();
    assert_eq!(
        repo.git_raw(["show", "HEAD:a"]),
        lines.replace('1', "session")
    );
    assert_eq!(repo.git(["diff", "--numstat"]), "1\t1\ta");
    assert!(says_of(&ran, "stays uncommitted", "a"), "{ran}");
}

#[test]
fn a_change_on_top_of_uncommitted_work_goes_in_whole_and_is_named() {
    let repo = Repo::with(&[("a", "one\n"), ("back", "one\n"), ("gone", "one\n")]);
    repo.write("a", "mine\n");
    repo.write("u", "mine\n");
    repo.remove("back");
    repo.write("gone", "mine\n");
    run(
        &repo,
        "echo session >> a; echo session >> u; echo session > back; rm gone",
    );
    let ran = repo.edio(["accept", "feat"]);
    ran.ok();
    assert_eq!(committed(&repo), "M\ta\nM\tback\nD\tgone\nA\tu");
    assert_eq!(repo.git(["show", "HEAD:a"]), "mine\nsession");
    assert_eq!(repo.git(["show", "HEAD:u"]), "mine\nsession");
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    for path in ["a", "back", "gone", "u"] {
        assert!(says_of(&ran, "whole", path), "{path}: {ran}");
    }
}

#[test]
fn an_untracked_file_that_the_session_removed_is_not_said_to_be_committed() {
    let repo = Repo::with(&[("a", "one\n"), ("b", "one\n")]);
    repo.write("b", "mine\n");
    repo.write("u", "mine\n");
    run(&repo, "rm u; echo session > a");
    let ran = repo.edio(["accept", "feat"]);
    ran.ok();
    assert_eq!(committed(&repo), "M\ta");
    assert!(!says_of(&ran, "whole", "u"), "{ran}");
}

#[test]
fn what_was_uncommitted_and_is_committed_by_the_user_meanwhile_is_no_conflict() {
    let repo = Repo::with(&[("a", "one\n"), ("b", "one\n"), ("c", "one\n")]);
    repo.write("b", "mine\n");
    repo.write("c", "mine\n");
    repo.write("u", "mine\n");
    run(&repo, "true");
    repo.git(["add", "b", "u"]);
    repo.git(["commit", "-q", "-m", "mine"]);
    for path in ["a", "b", "u"] {
        repo.write(path, "session\n");
    }
    repo.edio(["snapshot", "-m", "session"]).ok();

    let ran = repo.edio(["accept", "feat"]);

    ran.ok();
    assert_eq!(committed(&repo), "M\ta\nM\tb\nM\tu");
    assert_eq!(repo.git(["status", "--porcelain"]), " M c");
}

#[test]
fn a_conflict_with_a_later_commit_is_refused_and_names_the_path() {
    let repo = Repo::with(&[("a", "one\n"), ("b", "one\n")]);
    repo.write("a", "session\n");
    repo.write("b", "session\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    repo.write("a", "user\n");
    repo.write("b", "one\n");
    repo.commit("mine");
    repo.write("a", "session, again\n");
    repo.write("b", "session\n");

    let said = says_no(
        &repo,
        &["accept", "feat"],
        3,
        &["in conflict: a\n", "edio accept --all"],
    );

    assert!(!said.contains(" b\n"), "{said}");
    repo.edio(["accept", "--all", "feat"]).ok();
    assert_eq!(committed(&repo), "M\ta\nM\tb");
    assert_eq!(repo.git(["show", "HEAD:a"]), "session, again");
}

#[test]
fn what_grew_from_a_turn_that_the_user_committed_is_no_conflict() {
    let repo = Repo::with(&[
        ("a", "one\n"),
        ("b", "b\n"),
        ("back", "1\n2\n"),
        ("gone", "one\n"),
        ("d", "one\n"),
    ]);
    repo.write("a", "two\n");
    repo.write("back", "1\nwrong\n2\n");
    repo.write("new", "two\n");
    repo.remove("gone");
    repo.remove("d");
    repo.write("d/in", "two\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    repo.commit("mine, of turn 1");
    repo.write("b", "b, mine\n");
    repo.commit("mine");
    repo.write("a", "three\n");
    // Turn 2 takes a line of turn 1 back.
    repo.write("back", "1\n2\n");
    repo.write("new", "three\n");
    repo.write("gone", "again\n");
    repo.write("d/in", "three\n");
    repo.edio(["snapshot", "-m", "second"]).ok();
    repo.edio(["accept", "rest"]).ok();
    assert_eq!(committed(&repo), "M\ta\nM\tback\nM\td/in\nA\tgone\nM\tnew");
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    repo.edio(["undo"]).ok();
    assert_eq!(repo.git(["log", "-1", "--format=%s"]), "mine");
    repo.fsck();
}

#[test]
fn what_grew_from_any_turn_that_the_user_committed_is_no_conflict() {
    for committed_turn in 1..=3 {
        let repo = Repo::with(&[("a", "0\n"), ("b", "0\n")]);
        for turn in 1..=4 {
            repo.write("a", format!("{turn}\n"));
            repo.write("b", if turn < 3 { "early\n" } else { "late\n" });
            repo.edio(["snapshot", "-m", &format!("turn {turn}")]).ok();
            if turn == committed_turn {
                repo.git(["commit", "-q", "-a", "-m", "mine"]);
            }
        }
        repo.edio(["accept", "rest"]).ok();
        assert_eq!(repo.git(["show", "HEAD:a"]), "4");
        assert_eq!(repo.git(["show", "HEAD:b"]), "late");
        assert_eq!(repo.git(["log", "-1", "--format=%s", "HEAD^"]), "mine");
    }
}

#[test]
fn a_look_at_what_grew_in_a_step_from_a_committed_turn_is_as_the_accept() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write("a", "two\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    repo.git(["commit", "-q", "-a", "-m", "mine, of turn 1"]);
    repo.write("a", "three\n");
    repo.step("2.1");
    let ran = repo.edio(["accept", "--dry-run"]);
    assert_eq!(ran.ok().stdout, "M a\n");
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(repo.git(["show", "HEAD:a"]), "three");
}

#[test]
fn a_commit_of_a_turn_on_an_arm_that_was_left_is_not_taken_back() {
    let repo = Repo::with(&[("a", "one\n"), ("b", "one\n")]);
    repo.write("a", "two\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    repo.git(["commit", "-q", "-a", "-m", "mine, of turn 1"]);
    repo.edio(["restore", "0"]).ok();
    repo.write("b", "session\n");
    repo.edio(["snapshot", "-m", "second"]).ok();
    let ran = repo.edio(["accept", "--dry-run"]);
    assert_eq!(ran.ok().stdout, "M b\n");
    repo.write("a", "session\n");
    says_no(&repo, &["accept", "feat"], 3, &["in conflict: a\n"]);
}

#[test]
fn a_commit_of_what_no_turn_holds_now_is_not_taken_back() {
    let repo = Repo::with(&[("a", "one\n"), ("b", "one\n")]);
    repo.write("a", "two\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    repo.git(["commit", "-q", "-a", "-m", "mine, of turn 1"]);
    repo.remove("a");
    make_pipes(&repo, &["a".to_owned()]);
    repo.write("b", "session\n");
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(committed(&repo), "M\tb");
    assert_eq!(repo.git(["show", "HEAD:a"]), "two");
}

#[test]
fn where_not_all_conflicts_are_named_it_says_how_many_there_are() {
    let names: Vec<String> = (10..22).map(|number| format!("f{number}")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (&name[..], "base\n")).collect();
    let repo = Repo::with(&files);
    names.iter().for_each(|name| repo.write(name, "session\n"));
    repo.edio(["snapshot", "-m", "first"]).ok();
    names.iter().for_each(|name| repo.write(name, "mine\n"));
    repo.commit("mine");
    names.iter().for_each(|name| repo.write(name, "session\n"));
    let said = ["in conflict: f10, ", ", f19 and 2 more\n"];
    says_no(&repo, &["accept", "feat"], 3, &said);
}

#[test]
fn a_conflict_of_a_file_with_a_folder_names_a_path_that_exists() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write("p", "session\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    repo.remove("p");
    repo.write("p/x", "user\n");
    repo.commit("mine");
    repo.remove("p");
    repo.write("p", "session\n");
    let said = says_no(&repo, &["accept", "feat"], 3, &["in conflict: p"]);
    assert!(!said.contains('~'), "{said}");
}

#[test]
fn a_folder_in_the_place_of_a_file_is_no_conflict_where_nobody_else_touched_it() {
    let repo = Repo::with(&[("a", "one\n"), ("b", "one\n")]);
    repo.remove("b");
    repo.write("b/x", "mine\n");
    run(&repo, "echo session >> b/x; echo session > a");
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(committed(&repo), "M\ta\nD\tb\nA\tb/x");
    assert_eq!(repo.git(["show", "HEAD:b/x"]), "mine\nsession");
}

#[test]
fn all_takes_the_whole_work_tree() {
    let repo = Repo::with(&[
        ("a", "one\n"),
        ("b", "one\n"),
        ("gone", "one\n"),
        (".gitignore", "*.log\n"),
    ]);
    repo.write("b", "mine\n");
    repo.write("untracked", "mine\n");
    repo.write("x.log", "ignored\n");
    repo.remove("gone");
    run(&repo, "echo session > a");
    let ran = repo.edio(["accept", "--all", "feat"]);
    ran.ok();
    assert_eq!(committed(&repo), "M\ta\nM\tb\nD\tgone\nA\tuntracked");
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    assert!(!ran.stderr.contains("stays uncommitted"), "{ran}");
    assert_eq!(repo.read("x.log"), "ignored\n");
}

#[test]
fn another_branch_is_refused() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write("a", "two\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    repo.git(["switch", "-q", "-c", "other"]);
    says_no(
        &repo,
        &["accept", "feat"],
        3,
        &["main", "other", "git switch main"],
    );
    // Nor does a turn that is taken by accept itself make the branch the session's.
    repo.write("a", "three\n");
    says_no(&repo, &["accept", "feat"], 3, &["main", "other"]);
    repo.git(["switch", "-q", "--detach"]);
    says_no(&repo, &["accept", "feat"], 3, &["main"]);
    repo.git(["switch", "-q", "main"]);
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(
        repo.git(["rev-parse", "main^"]),
        repo.git(["rev-parse", "other"])
    );
}

#[test]
fn where_the_sessions_branch_is_gone_the_way_back_makes_it_anew() {
    for name in ["main", "a'b;c$d"] {
        let repo = Repo::with(&[("a", "one\n")]);
        if name != "main" {
            repo.git(["branch", "-q", "-m", name]);
        }
        repo.write("a", "two\n");
        repo.edio(["snapshot", "-m", "first"]).ok();
        repo.git(["branch", "-q", "-m", "renamed"]);
        let typed = match name {
            "main" => name,
            _ => r"'a'\''b;c$d'",
        };
        let short = repo.git(["rev-parse", "--short=10", "HEAD"]);
        let command = format!("git switch -c {typed} {short}\n");
        let said = [name, "HEAD is on renamed", &command, "edio accept --here"];
        says_no(&repo, &["accept", "feat"], 3, &said);
        repo.git(["switch", "-q", "-c", name, &short]);
        repo.git(["switch", "-q", "renamed"]);
        let command = format!("git switch {typed}\n");
        says_no(&repo, &["accept", "feat"], 3, &[&command]);
        repo.git(["switch", "-q", name]);
        repo.edio(["accept", "feat"]).ok();
    }
}

#[test]
fn a_turn_on_the_new_branch_makes_it_the_sessions() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write("a", "two\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    repo.git(["switch", "-q", "-c", "other"]);
    repo.edio(["snapshot", "-m", "second"]).ok();
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(
        repo.git(["rev-parse", "other^"]),
        repo.git(["rev-parse", "main"])
    );
}

/// A repository in which `other` and `main` have both changed `a`, `main` is checked out, and a session is under way.
fn parted() -> Repo {
    let repo = Repo::with(&[("a", "one\n"), ("b", "one\n")]);
    repo.git(["switch", "-q", "-c", "other"]);
    for content in ["other\n", "other, again\n"] {
        repo.write("a", content);
        repo.git(["commit", "-q", "-a", "-m", "other"]);
    }
    repo.git(["switch", "-q", "main"]);
    repo.write("a", "main\n");
    repo.git(["commit", "-q", "-a", "-m", "main"]);
    repo.write("a", "main, again\n");
    repo.git(["commit", "-q", "-a", "-m", "main"]);
    repo
}

#[test]
fn an_open_merge_rebase_pick_revert_or_bisect_is_refused() {
    let begun: [(&[&str], &str); 6] = [
        (&["merge", "-q", "other"], "merge"),
        (&["rebase", "-q", "--merge", "other"], "rebase"),
        (&["rebase", "-q", "--apply", "other"], "rebase"),
        (&["cherry-pick", "other"], "cherry-pick"),
        (&["revert", "--no-edit", "HEAD~1"], "revert"),
        (&["bisect", "start", "HEAD", "HEAD~1"], "bisect"),
    ];
    for (words, name) in begun {
        let repo = parted();
        let _ = repo.git_says(words);
        repo.write("b", "session\n");
        repo.edio(["snapshot", "-m", "first"]).ok();
        says_no(&repo, &["accept", "feat"], 3, &[name]);
        says_no(&repo, &["accept", "--all", "feat"], 3, &[name]);
        let status = &repo.edio(["status", "--json"]).json()[0];
        assert!(
            status["git_operation"].as_str().unwrap().starts_with(name),
            "{status}"
        );
    }
}

#[test]
fn a_pick_or_revert_of_several_commits_is_open_until_the_last() {
    let begun: [(&[&str], &str); 2] = [
        (&["cherry-pick", "other~1", "other"], "cherry-pick"),
        (&["revert", "--no-edit", "HEAD~1", "HEAD"], "revert"),
    ];
    for (words, name) in begun {
        let repo = parted();
        assert!(!repo.git_says(words));
        repo.write("a", "resolved\n");
        repo.git(["commit", "-q", "-a", "-m", "resolved"]);
        assert!(
            repo.git(["status"])
                .to_lowercase()
                .contains(&format!("{name} currently in progress"))
        );
        repo.write("b", "session\n");
        repo.edio(["snapshot", "-m", "first"]).ok();
        says_no(&repo, &["accept", "feat"], 3, &[name]);
    }
}

#[test]
fn p5_a_held_index_lock_is_left_alone() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write("a", "two\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    let (state, files) = (repo.git_state(), repo.manifest());
    let lock = repo.path(".git/index.lock");
    fs::write(&lock, "somebody's").unwrap();
    let made = fs::metadata(&lock).unwrap().modified().unwrap();

    let ran = repo.edio(["accept", "feat"]);

    ran.fails(1);
    assert!(ran.stderr.contains("index.lock exists, and is "), "{ran}");
    assert_eq!(fs::read(&lock).unwrap(), b"somebody's");
    assert_eq!(fs::metadata(&lock).unwrap().modified().unwrap(), made);
    assert_eq!(repo.git_state(), state);
    assert_eq!(repo.manifest(), files);
    fs::remove_file(&lock).unwrap();
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(committed(&repo), "M\ta");
}

#[test]
fn p5_a_held_lock_on_the_branch_is_named() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write("a", "two\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    let branch = repo.git(["symbolic-ref", "HEAD"]);
    repo.write(format!(".git/{branch}.lock"), "");
    let ran = repo.edio(["accept", "feat"]);
    let said = &ran.fails(1).stderr;
    let short = branch.strip_prefix("refs/heads/").unwrap();
    let what = format!("error: another git process holds {short}\ncaused by: ");
    assert!(said.starts_with(&what), "{ran}");
    assert!(said.contains(&format!("/{branch}.lock exists")), "{ran}");
    assert!(said.contains("hint: wait for it and try again"), "{ran}");
    repo.remove(format!(".git/{branch}.lock"));
    repo.edio(["accept", "feat"]).ok();
}

#[test]
fn p5_a_held_lock_on_the_packed_refs_is_named_before_anything_is_done() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write("a", "two\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    let lock = repo.path(".git/packed-refs.lock");
    let said = [
        "holds the packed refs",
        "packed-refs.lock exists, and is 2 hours old",
        "remove that file",
    ];
    let hold = || {
        fs::write(&lock, "").unwrap();
        let made = std::time::SystemTime::now() - std::time::Duration::from_secs(2 * 3600 + 60);
        let lock = fs::File::options().write(true).open(&lock).unwrap();
        lock.set_modified(made).unwrap();
    };
    hold();
    says_no(&repo, &["accept", "feat"], 1, &said);
    says_no(&repo, &["sessions", "--close"], 1, &said);
    fs::remove_file(&lock).unwrap();
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(committed(&repo), "M\ta");
    hold();
    says_no(&repo, &["undo"], 1, &said);
    fs::remove_file(&lock).unwrap();
    repo.edio(["undo"]).ok();
    assert_eq!(repo.git(["log", "--format=%s"]), "base");
    repo.edio(["sessions", "--close"]).ok();
    hold();
    says_no(&repo, &["undo"], 1, &said);
    assert_eq!(repo.sessions("active").len(), 0);
}

/// A repository of one turn, where a lock on the packed refs is made when the branch moves.
fn held_when_the_branch_moves() -> Repo {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write("a", "two\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    let script =
        "[ \"$1\" != committed ] || : > \"$(git rev-parse --git-common-dir)/packed-refs.lock\"";
    hook(&repo, "reference-transaction", script);
    repo
}

#[test]
fn p5_what_fails_after_the_branch_has_moved_is_said_and_finished_by_the_next_command() {
    let repo = held_when_the_branch_moves();
    let ran = repo.edio(["accept", "feat"]);
    ran.ok();
    for said in [
        "accepted: ",
        "what follows it is not finished",
        "packed-refs.lock exists",
    ] {
        assert!(ran.stderr.contains(said), "no word of {said:?}: {ran}");
    }
    assert!(!ran.stderr.contains("is archived"), "{ran}");
    assert_eq!(committed(&repo), "M\ta");
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    let commit = repo.git(["rev-parse", "HEAD"]);

    // As long as it is held, nothing comes on top of it.
    let said = ["accept feat is not finished", "packed-refs.lock exists"];
    says_no(&repo, &["accept", "again"], 1, &said);
    assert_eq!(repo.sessions("active").len(), 1);

    fs::remove_file(repo.path(".git/packed-refs.lock")).unwrap();
    repo.remove(".git/hooks/reference-transaction");
    let ran = repo.edio(["accept", "again"]);
    assert!(
        ran.fails(1).stderr.contains("accept feat is finished"),
        "{ran}"
    );
    assert_eq!(repo.git(["rev-parse", "HEAD"]), commit);
    assert_eq!(repo.sessions("active").len(), 0);
    repo.edio(["undo"]).ok();
    assert_eq!(repo.git(["log", "--format=%s"]), "base");
    assert_eq!(repo.read("a"), "two\n");
    repo.fsck();
}

#[test]
fn what_is_unfinished_is_in_the_record_and_is_undone_as_a_whole() {
    let repo = held_when_the_branch_moves();
    let record = &repo.edio(["accept", "feat", "--json"]).json()[0];
    let unfinished = record["unfinished"].as_str().unwrap();
    assert!(unfinished.contains("holds the refs"), "{record}");
    assert_eq!(record["commit"], repo.git(["rev-parse", "HEAD"]));
    fs::remove_file(repo.path(".git/packed-refs.lock")).unwrap();
    repo.remove(".git/hooks/reference-transaction");
    repo.edio(["undo"]).ok();
    assert_eq!(repo.git(["log", "--format=%s"]), "base");
    assert_eq!(repo.sessions("active").len(), 1);
}

#[test]
fn the_first_commit_of_all() {
    let repo = Repo::unborn();
    repo.write(".gitignore", "*.log\n");
    repo.write("x.log", "ignored\n");
    repo.write("a", "one\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    repo.edio(["accept", "feat: begin"]).ok();
    assert_eq!(repo.git(["log", "--format=%P|%s", "main"]), "|feat: begin");
    assert_eq!(
        repo.git(["ls-tree", "-r", "--name-only", "HEAD"]),
        ".gitignore\na"
    );
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    assert_eq!(
        repo.git(["reflog", "-1", "--format=%gs"]),
        "edio accept feat: begin"
    );
    repo.fsck();
}

#[test]
fn before_the_first_commit_what_was_there_stays_uncommitted() {
    let repo = Repo::unborn();
    repo.write("mine", "mine\n");
    repo.write("staged", "mine\n");
    repo.git(["add", "staged"]);
    run(&repo, "echo session > a");
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(repo.git(["ls-tree", "-r", "--name-only", "HEAD"]), "a");
    assert_eq!(repo.git(["status", "--porcelain"]), "A  staged\n?? mine");
}

#[test]
fn a_detached_head_moves_alone() {
    let repo = Repo::with(&[("a", "one\n")]);
    let base = repo.git(["rev-parse", "main"]);
    repo.git(["switch", "-q", "--detach"]);
    repo.write("a", "two\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    let record = &repo.edio(["accept", "feat", "--json"]).json()[0];
    assert_eq!(record["branch"], json!(null));
    assert!(!repo.git_says(["symbolic-ref", "-q", "HEAD"]));
    assert_eq!(
        repo.git(["rev-parse", "HEAD^", "main"]),
        format!("{base}\n{base}")
    );
    assert_eq!(
        repo.git(["reflog", "-1", "--format=%gs", "HEAD"]),
        "edio accept feat"
    );
    assert_eq!(repo.git(["status", "--porcelain"]), "");
}

#[test]
fn where_there_is_nothing_to_accept() {
    let repo = Repo::with(&[("a", "one\n")]);
    says_no(
        &repo,
        &["accept", "feat"],
        1,
        &["nothing to accept", "edio snapshot"],
    );
    repo.edio(["snapshot", "-m", "a label"]).ok();
    says_no(&repo, &["accept", "feat"], 1, &["nothing to accept"]);
    assert_eq!(repo.turns(), 1);
    repo.write("a", "two\n");
    repo.edio(["snapshot", "-m", "there"]).ok();
    repo.write("a", "one\n");
    says_no(&repo, &["accept", "feat"], 1, &["nothing to accept"]);
    assert_eq!(repo.turns(), 3, "the session goes on");
}

#[test]
fn where_head_holds_all_of_it_the_session_is_put_away() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write("a", "two\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    let id = session(&repo);
    repo.commit("by hand");
    let state = repo.git_state();

    let ran = repo.edio(["accept", "feat"]);

    ran.fails(1);
    assert!(ran.stderr.contains("archived"), "{ran}");
    assert_eq!(repo.git_state(), state);
    assert_eq!(repo.turns(), 0);
    assert_eq!(
        repo.edio(["log", "--json", "--session", &id]).json().len(),
        1
    );
}

#[test]
fn without_an_identity_nothing_is_done() {
    let repo = Repo::with(&[("a", "one\n"), ("b", "one\n")]);
    repo.git(["config", "user.useConfigOnly", "true"]);
    repo.write("a", "half\n");
    repo.git(["add", "a"]);
    repo.write("a", "two\n");
    let nameless = |words: &[&str]| {
        let mut command = repo.command(words);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null");
        command
    };
    repo.ran(&mut nameless(&["snapshot", "-m", "first"])).ok();
    let state = repo.git_state();
    let refs = repo.git(["for-each-ref"]);

    let ran = repo.ran(&mut nameless(&["accept", "feat"]));

    ran.fails(1);
    assert!(
        ran.stderr.contains("hint: git config --global user.name"),
        "{ran}"
    );
    assert!(
        ran.stderr.contains("hint: git config --global user.email"),
        "{ran}"
    );
    assert_eq!(repo.git_state(), state);
    assert_eq!(repo.git(["for-each-ref"]), refs);
    let mut named = nameless(&["accept", "feat"]);
    for (name, value) in [("NAME", "An Author"), ("EMAIL", "author@example.com")] {
        named
            .env(format!("GIT_AUTHOR_{name}"), value)
            .env(format!("GIT_COMMITTER_{name}"), value);
    }
    repo.ran(&mut named).ok();
    assert_eq!(
        repo.git(["log", "-1", "--format=%an <%ae>"]),
        "An Author <author@example.com>"
    );
}

fn hook(repo: &Repo, name: &str, script: &str) {
    repo.write(
        Path::new(".git/hooks").join(name),
        format!("#!/bin/sh\n{script}\n"),
    );
    repo.chmod(Path::new(".git/hooks").join(name), 0o755);
}

#[test]
fn where_the_users_reference_hook_says_no_all_is_as_before() {
    let repo = Repo::with(&[("a", "one\n"), ("b", "one\n")]);
    repo.write("a", "half\n");
    repo.git(["add", "a"]);
    repo.write("a", "two\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    hook(&repo, "reference-transaction", "test \"$1\" != prepared");

    says_no(
        &repo,
        &["accept", "feat"],
        1,
        &["main could not be moved", "hook"],
    );

    let current = repo.git([
        "for-each-ref",
        "--format=%(objectname)",
        "refs/edio/active/*/current",
    ]);
    assert_eq!(current, repo.git(["rev-parse", &repo.turn_ref(1)]));
    let status = &repo.edio(["status", "--json"]).json()[0];
    assert_eq!(status["interrupted"], json!(null));
    repo.remove(".git/hooks/reference-transaction");
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(repo.git(["rev-list", "--count", "HEAD"]), "2");
}

#[test]
fn the_users_reference_hook_sees_the_branch_and_none_of_edios_refs() {
    let repo = Repo::with(&[("a", "one\n"), ("x.py", "")]);
    hook(
        &repo,
        "reference-transaction",
        "{ echo \"$1\"; cat; git ls-files '*.py'; } >> \"$HOME/seen\"",
    );
    repo.write("a", "two\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    assert!(!repo.outside().join("home/seen").exists());
    repo.edio(["accept", "feat"]).ok();
    let seen = fs::read_to_string(repo.outside().join("home/seen")).unwrap();
    assert!(
        seen.contains("refs/heads/main") && seen.contains("committed"),
        "{seen}"
    );
    assert!(!seen.contains("refs/edio"), "{seen}");
    // None of the settings that edio gives to git reaches the hook: a pattern is one.
    assert!(seen.contains("x.py"), "{seen}");
}

#[test]
fn renames_modes_and_kinds_are_committed_as_they_are() {
    let repo = Repo::with(&[
        ("old", "moved\nas\nit\nis\n"),
        ("script", "#!/bin/sh\n"),
        ("plain", "one\n"),
        ("folder/in", "one\n"),
        ("file", "one\n"),
        ("empty", "one\n"),
    ]);
    fs::rename(repo.path("old"), repo.path("moved")).unwrap();
    repo.chmod("script", 0o755);
    repo.remove("plain");
    repo.link("plain", "file");
    repo.remove("folder");
    repo.write("folder", "now a file\n");
    repo.remove("file");
    repo.write("file/in", "now a folder\n");
    repo.write("empty", "");
    repo.write("-f \"*'\n", "odd\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    let raw = repo.git(["show", "-M", "--format=", "--raw", "--no-abbrev", "HEAD"]);
    let shown: Vec<String> = raw.lines().map(without_ids).collect();
    assert_eq!(
        shown,
        [
            ":000000 100644 A\t\"-f \\\"*'\\n\"",
            ":100644 100644 M\tempty",
            ":100644 000000 D\tfile",
            ":000000 100644 A\tfile/in",
            ":000000 100644 A\tfolder",
            ":100644 000000 D\tfolder/in",
            ":100644 100644 R100\told\tmoved",
            ":100644 120000 T\tplain",
            ":100644 100755 M\tscript",
        ]
    );
    repo.fsck();
}

/// A line of `--raw` without the two ids in it.
fn without_ids(line: &str) -> String {
    let words: Vec<&str> = line.splitn(5, ' ').collect();
    [words[0], words[1], words[4]].join(" ")
}

#[test]
fn p2_what_can_not_be_held_is_named_also_where_it_came_after_the_last_turn() {
    for before in [true, false] {
        let repo = Repo::with(&[("a", "one\n")]);
        repo.git(["config", "edio.maxFileSize", "10k"]);
        repo.write("a", "two\n");
        let put = || {
            repo.write("big", "x".repeat(20_000));
            repo.git(["init", "-q", "nested"]);
            repo.write("nested/f", "x\n");
        };
        if before {
            put();
        }
        repo.edio(["snapshot", "-m", "first"]).ok();
        put();
        let look = repo.edio(["accept", "--dry-run"]);
        let ran = repo.edio(["accept", "feat"]);
        for path in ["big", "nested"] {
            assert!(
                says_of(look.ok(), "stays uncommitted", path),
                "{path}: {look}"
            );
            assert!(
                says_of(ran.ok(), "stays uncommitted", path),
                "{path}: {ran}"
            );
        }
        assert_eq!(committed(&repo), "M\ta");
        assert_eq!(repo.git(["status", "--porcelain"]), "?? big\n?? nested/");
    }
}

#[test]
fn p2_what_is_gone_does_not_stay_uncommitted() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.git(["config", "edio.maxFileSize", "10k"]);
    repo.write("a", "two\n");
    repo.write("big", "x".repeat(20_000));
    repo.edio(["snapshot", "-m", "first"]).ok();
    repo.remove("big");
    repo.write("a", "three\n");
    repo.edio(["snapshot", "-m", "second"]).ok();
    let ran = repo.edio(["accept", "--turn", "1", "feat"]);
    assert!(!ran.ok().stderr.contains("big"), "{ran}");
}

#[test]
fn p2_what_could_not_be_held_is_not_committed_as_deleted() {
    let repo = Repo::with(&[("a", "one\n"), ("pipe", "a file\n")]);
    repo.remove("pipe");
    make_pipes(&repo, &["pipe".to_owned()]);
    repo.write("a", "two\n");
    let ran = repo.edio(["snapshot", "-m", "first"]);
    assert!(ran.ok().stderr.contains("not in it: pipe"), "{ran}");
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(committed(&repo), "M\ta");
    assert_eq!(repo.git(["show", "HEAD:pipe", ":pipe"]), "a file\na file");
    assert!(fs::symlink_metadata(repo.path("pipe")).is_ok_and(|meta| !meta.is_file()));
}

#[test]
fn p2_however_many_could_not_be_held() {
    let names: Vec<String> = (10..40).map(|n| format!("pipe{n}")).collect();
    let files: Vec<(&str, &str)> = names
        .iter()
        .map(|name| (name.as_str(), "a file\n"))
        .collect();
    let repo = Repo::with(&files);
    names.iter().for_each(|name| repo.remove(name));
    make_pipes(&repo, &names);
    repo.write("a", "new\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(committed(&repo), "A\ta");
}

#[test]
fn p2_nor_where_it_could_not_be_held_from_the_start() {
    for all in [&["accept", "feat"][..], &["accept", "--all", "feat"]] {
        let repo = Repo::with(&[("a", "one\n"), ("pipe", "a file\n")]);
        repo.remove("pipe");
        make_pipes(&repo, &["pipe".to_owned()]);
        run(&repo, "echo session > a");
        repo.edio(all).ok();
        assert_eq!(committed(&repo), "M\ta", "{all:?}");
    }
}

fn make_pipes(repo: &Repo, names: &[String]) {
    let mut mkfifo = Command::new("mkfifo");
    repo.surround(&mut mkfifo);
    assert!(
        mkfifo
            .current_dir(&repo.top)
            .args(names)
            .status()
            .unwrap()
            .success()
    );
}

#[test]
fn p2_what_may_not_be_read_is_not_committed_as_deleted() {
    let repo = Repo::with(&[
        ("a", "one\n"),
        ("secret", "one\n"),
        ("closed/in", "one\n"),
        ("b", "one\n"),
    ]);
    repo.chmod("secret", 0o000);
    repo.chmod("closed", 0o000);
    repo.write("a", "two\n");
    repo.remove("b");
    repo.give_away();
    repo.edio_without_rights(["snapshot", "-m", "first"]).ok();
    let ran = repo.edio_without_rights(["accept", "feat"]);
    repo.chmod("closed", 0o755);
    ran.ok();
    assert_eq!(committed(&repo), "M\ta\nD\tb");
}

#[test]
fn what_git_is_told_to_take_for_unchanged_is_not_committed_and_the_flags_are_kept() {
    let repo = Repo::with(&[
        ("a", "one\n"),
        ("b", "one\n"),
        ("c", "one\n"),
        ("d", "one\n"),
        ("e", "one\n"),
    ]);
    repo.git(["update-index", "--skip-worktree", "a", "b"]);
    repo.git(["update-index", "--assume-unchanged", "c", "d"]);
    for path in ["a", "c", "e"] {
        repo.write(path, "session\n");
    }
    repo.edio(["snapshot", "-m", "first"]).ok();
    repo.remove("d");
    let ran = repo.edio(["accept", "feat"]);
    assert_eq!(committed(&repo), "M\te");
    assert_eq!(repo.git(["ls-files", "-v"]), "S a\nS b\nh c\nh d\nH e");
    assert_eq!(repo.git(["diff", "--cached"]), "");
    for path in ["a", "c", "d"] {
        let why = format!("{path} (git is told to take it for unchanged)");
        assert!(ran.ok().stderr.contains(&why), "{ran}");
    }
    assert_eq!([repo.read("a"), repo.read("c")], ["session\n", "session\n"]);
    // Nor all of the work tree has them, nor is it said that HEAD does.
    for words in [&["accept", "again"][..], &["accept", "--all", "again"]] {
        repo.write("a", words.concat());
        let said = [
            "nothing to accept but",
            "a (git is told",
            "edio sessions --close",
        ];
        repo.edio(["snapshot"]).ok();
        says_no(&repo, words, 1, &said);
        assert_eq!(repo.sessions("active").len(), 1);
    }
    repo.git(["update-index", "--no-skip-worktree", "a"]);
    repo.edio(["accept", "seen"]).ok();
    assert_eq!(committed(&repo), "M\ta");
}

#[test]
fn what_only_a_broken_filter_keeps_out_is_not_said_to_be_in_head() {
    let repo = Repo::with(&[("a.x", "base\n")]);
    repo.write(".git/info/attributes", "*.x filter=x\n");
    repo.git(["config", "filter.x.clean", "false"]);
    repo.git(["config", "filter.x.required", "true"]);
    repo.write("a.x", "session\n");
    repo.write("new.x", "session\n");
    repo.edio(["snapshot", "-m", "one"]).ok();
    let said = [
        "nothing to accept but",
        "a.x (its filter fails)",
        "new.x (its filter fails)",
    ];
    says_no(&repo, &["accept", "feat"], 1, &said);
    assert_eq!(repo.sessions("active").len(), 1);
    repo.git(["config", "filter.x.clean", "tr a-z A-Z"]);
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(committed(&repo), "M\ta.x\nA\tnew.x");
}

#[test]
fn what_could_not_be_held_is_not_said_to_be_in_head() {
    let repo = Repo::with(&[("a", "base\n"), ("s/s", "base\n")]);
    repo.git(["init", "-q", "s"]);
    repo.write("s/s", "session\n");
    repo.edio(["snapshot", "-m", "one"]).ok();
    let said = ["nothing to accept but", "s/s (it could not be held)"];
    says_no(&repo, &["accept", "feat"], 1, &said);
    assert_eq!(repo.sessions("active").len(), 1);
}

#[test]
fn an_archived_session_can_still_be_restored() {
    let repo = Repo::with(&[("a", "zero\n")]);
    for content in ["one\n", "two\n"] {
        repo.write("a", content);
        repo.edio(["snapshot", "-m", content.trim()]).ok();
    }
    repo.write("a", "unsaved\n");
    repo.edio(["restore", "1"]).ok();
    repo.write("a", "four\n");
    repo.write("new", "four\n");
    repo.edio(["snapshot", "-m", "four"]).ok();
    let id = session(&repo);
    let log = repo.edio(["log", "--json"]).json();
    repo.edio(["accept", "feat"]).ok();
    repo.git(["reflog", "expire", "--expire=now", "--all"]);
    repo.git(["gc", "-q", "--prune=now"]);
    let (head, index) = (repo.git(["rev-parse", "HEAD"]), index(&repo));

    let archived = repo.edio(["log", "--json", "--session", &id]).json();
    assert_eq!(archived, log);
    let contents = ["zero\n", "one\n", "two\n", "unsaved\n", "four\n"];
    for (turn, content) in contents.iter().enumerate().rev() {
        repo.edio(["restore", &turn.to_string(), "--session", &id])
            .ok();
        assert_eq!(&repo.read("a"), content, "turn {turn}");
        assert_eq!(repo.has("new"), turn == 4, "turn {turn}");
    }
    assert_eq!(
        (repo.git(["rev-parse", "HEAD"]), self::index(&repo)),
        (head, index)
    );
    repo.fsck();
}

#[test]
fn the_next_session_begins_at_the_commit() {
    let repo = Repo::with(&[("a", "one\n"), ("b", "one\n")]);
    repo.write("a", "two\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    repo.edio(["accept", "one"]).ok();
    repo.write("b", "two\n");
    repo.edio(["snapshot", "-m", "first of the next"]).ok();
    assert_eq!(repo.turns(), 1);
    repo.edio(["accept", "two"]).ok();
    assert_eq!(committed(&repo), "M\tb");
    assert_eq!(repo.git(["log", "--format=%s"]), "two\none\nbase");
    assert_eq!(repo.edio(["log", "--all", "--json"]).json().len(), 2);
}

#[test]
fn p6_a_branch_that_moves_meanwhile_is_not_overwritten() {
    let repo = Repo::with(&[("a", "one\n"), ("b", "one\n")]);
    repo.write("a", "two\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    // A git that lets somebody else commit just before the branch would move.
    let real = which(&repo, "git");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *update-ref*\"edio accept\"*)\n\
         test -e \"$HOME/done\" || {{ : > \"$HOME/done\"\n\
         new=$({real} commit-tree -p HEAD -m theirs HEAD^{{tree}} </dev/null)\n\
         {real} update-ref refs/heads/main $new; }} ;;\nesac\nexec {real} \"$@\"\n"
    );
    let bin = repo.outside().join("bin");
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("git"), script).unwrap();
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), crate::common::path());
    let index_before = fs::read(repo.path(".git/index")).unwrap();

    let mut command = repo.command(["accept", "feat"]);
    repo.ran(command.env("PATH", path)).fails(1);

    assert!(repo.outside().join("home/done").exists());
    assert_eq!(repo.git(["log", "--format=%s"]), "theirs\nbase");
    assert_eq!(fs::read(repo.path(".git/index")).unwrap(), index_before);
    assert!(!repo.path(".git/index.lock").exists());
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(repo.git(["log", "--format=%s"]), "feat\ntheirs\nbase");
}

/// The program of that name that is found.
pub fn which(repo: &Repo, program: &str) -> String {
    let mut command = Command::new("sh");
    repo.surround(&mut command);
    let found = command
        .args(["-c", "command -v \"$0\"", program])
        .output()
        .unwrap();
    String::from_utf8(found.stdout).unwrap().trim().to_owned()
}

#[test]
fn p10_in_any_object_format_and_ref_backend() {
    for format in [&["--object-format=sha256"][..], &["--ref-format=reftable"]] {
        let repo = Repo::unborn();
        repo.remove(".git");
        // An old git does not know it.
        if !repo.git_says([&["init", "-q"][..], format].concat()) {
            continue;
        }
        for path in ["a", "b", "gone"] {
            repo.write(path, "one\n");
        }
        repo.commit("base");
        repo.write("b", "mine\n");
        repo.write("u", "mine\n");
        run(&repo, "echo session > a; rm gone; echo session > new");
        repo.edio(["accept", "feat"]).ok();
        assert_eq!(committed(&repo), "M\ta\nD\tgone\nA\tnew", "{format:?}");
        assert_eq!(repo.git(["status", "--porcelain"]), " M b\n?? u");
        repo.fsck();
    }
}

#[test]
fn a_linked_worktree_accepts_its_own() {
    let repo = Repo::with(&[("a", "one\n"), ("sub/b", "one\n")]);
    repo.git(["worktree", "add", "-q", "-b", "side", "../linked"]);
    repo.write("a", "main's\n");
    repo.edio(["snapshot", "-m", "main's"]).ok();
    let linked = repo.outside().join("linked");
    fs::write(linked.join("sub/b"), "side's\n").unwrap();
    repo.edio_in(&linked, ["snapshot", "-m", "side's"]).ok();
    let state = repo.git_state();

    repo.edio_in(linked.join("sub"), ["accept", "feat: side"])
        .ok();

    assert_eq!(repo.git(["log", "--format=%s", "side"]), "feat: side\nbase");
    assert_eq!(
        repo.git_in(&linked, ["show", "--format=", "--name-only"]),
        "sub/b"
    );
    assert_eq!(repo.git_in(&linked, ["status", "--porcelain"]), "");
    let without_side = |state: Vec<String>| -> Vec<String> {
        state
            .into_iter()
            .filter(|line| !line.contains("refs/heads/side"))
            .collect()
    };
    assert_eq!(without_side(repo.git_state()), without_side(state));
    assert_eq!(repo.turns(), 1, "the other worktree's session goes on");
}

#[test]
fn another_session_is_not_accepted_by_the_name_of_this_one() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write("a", "two\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    let other = "sess_1700000000_0123abcd";
    let (state, refs) = (repo.git_state(), repo.git(["for-each-ref"]));
    repo.edio(["--session", other, "accept", "feat"]).fails(1);
    assert_eq!(repo.git_state(), state);
    assert_eq!(repo.git(["for-each-ref"]), refs);
}

/// A turn that an agent says it took.
fn agent_turn(repo: &Repo, prompt: &str, content: &str) {
    repo.claude_says("UserPromptSubmit", json!({"prompt": prompt}));
    repo.write("a", content);
    repo.claude_says("Stop", json!({}));
}

#[test]
fn trailers_name_the_session_and_the_agents_where_that_is_set() {
    for (given, expected) in [
        ("feat: a", "feat: a\n\nAssisted-by: claude\nSession: ID\n"),
        (
            "feat: a\n\nSigned-off-by: A <a@b>\n",
            "feat: a\n\nSigned-off-by: A <a@b>\nAssisted-by: claude\nSession: ID\n",
        ),
        (
            "feat: a\n\nAssisted-by: claude",
            "feat: a\n\nAssisted-by: claude\nSession: ID\n",
        ),
    ] {
        let repo = Repo::with(&[("a", "0\n")]);
        repo.git(["config", "edio.acceptTrailers", "true"]);
        // A program that is set for a trailer is not run.
        let marker = repo.outside().join("ran");
        let program = format!("touch {}; echo x", marker.display());
        repo.git(["config", "trailer.session.cmd", &program]);
        repo.git(["config", "trailer.other.command", &program]);
        agent_turn(&repo, "one", "1\n");
        agent_turn(&repo, "two", "2\n");
        let id = session(&repo);
        repo.edio(["accept", given]).ok();
        assert!(!marker.exists());
        let commit = repo.git_raw(["cat-file", "commit", "HEAD"]);
        let (_, message) = commit.split_once("\n\n").unwrap();
        assert_eq!(message.replace(&id, "ID"), expected);
    }
    let repo = Repo::with(&[("a", "0\n")]);
    agent_turn(&repo, "one", "1\n");
    repo.edio(["accept", "feat: a"]).ok();
    assert_eq!(repo.git_raw(["log", "-1", "--format=%B"]), "feat: a\n");
}

#[test]
fn the_commit_msg_hook_sees_the_trailers_and_a_signature_stays() {
    let repo = Repo::with(&[("a", "0\n")]);
    repo.git(["config", "edio.acceptTrailers", "true"]);
    repo.hook(
        "prepare-commit-msg",
        "printf '\\nSigned-off-by: me\\n' >> \"$1\"",
    );
    repo.hook("commit-msg", "grep -q '^Session: sess_' \"$1\"");
    repo.write("a", "1\n");
    repo.edio(["snapshot"]).ok();
    let id = session(&repo);
    repo.edio(["accept", "feat: a"]).ok();
    assert_eq!(
        repo.git(["log", "-1", "--format=%B"]).trim_end(),
        format!("feat: a\n\nSigned-off-by: me\nSession: {id}")
    );
}

#[test]
fn a_commit_with_trailers_is_never_taken_for_one_of_edios() {
    let repo = Repo::with(&[("a", "0\n")]);
    repo.git(["config", "edio.acceptTrailers", "true"]);
    repo.write("a", "1\n");
    repo.edio(["snapshot", "-m", "real"]).ok();
    let id = session(&repo);
    // The worst that a person could write: all that a turn's message has.
    let forged = format!(
        "feat\n\nEdio-Session: {id}\nEdio-Turn: 7\nEdio-Kind: turn\nEdio-Worktree: .\nEdio-Stat: 1 1 1\nEdio-Version: 1"
    );
    repo.edio(["accept", &forged]).ok();
    let message = repo.git(["log", "-1", "--format=%B"]);
    assert!(
        message
            .trim_end()
            .ends_with(&format!("Edio-Version: 1\nSession: {id}")),
        "{message}"
    );
    // Where it stands in the place of a turn, it is none.
    repo.write("a", "2\n");
    repo.edio(["snapshot", "-m", "next"]).ok();
    let next = repo.sessions("active").remove(0);
    repo.git(["update-ref", &format!("refs/edio/active/{next}/7"), "HEAD"]);
    let log = repo.edio(["log", "--json"]);
    assert_eq!(log.ok().json().len(), 1, "{log}");
    repo.edio(["show", "7"]).fails(1);
}

#[test]
fn a_note_tells_the_turns_where_that_is_set() {
    let repo = Repo::with(&[("a", "0\n")]);
    repo.git(["config", "edio.acceptNote", "true"]);
    agent_turn(&repo, "make it one\n\nand more", "1\n");
    agent_turn(&repo, "make it two", "2\n");
    let id = session(&repo);
    repo.edio(["accept", "feat: a"]).ok();
    let commit = repo.git(["rev-parse", "HEAD"]);
    let note = || repo.git(["notes", "--ref=edio", "show", &commit]);
    let expected =
        format!("edio session {id}\n\nturn 1  claude  make it one\nturn 2  claude  make it two");
    assert_eq!(note(), expected);
    // It hangs on the commit, and stays with it: taken back and done again, it is still right.
    repo.edio(["undo"]).ok();
    assert_eq!(note(), expected);
    repo.edio(["redo"]).ok();
    assert_eq!(repo.git(["rev-parse", "HEAD"]), commit);
    assert_eq!(note(), expected);
    repo.fsck();
}

#[test]
fn a_note_that_cannot_be_written_is_only_told() {
    let repo = Repo::with(&[("a", "0\n")]);
    repo.git(["config", "edio.acceptNote", "true"]);
    repo.git(["update-ref", "refs/notes/edio/in/the/way", "HEAD"]);
    repo.write("a", "1\n");
    repo.edio(["snapshot"]).ok();
    let ran = repo.edio(["accept", "feat: a"]);
    assert!(ran.ok().stderr.contains("note"), "{ran}");
    assert_eq!(repo.git(["log", "-1", "--format=%s"]), "feat: a");
    assert_eq!(repo.sessions("active"), [""; 0]);
}

#[test]
fn a_deletion_is_accepted_where_there_is_no_index() {
    let repo = Repo::with(&[("a", "a\n"), ("b", "b\n")]);
    fs::remove_file(repo.path(".git/index")).unwrap();
    repo.remove("a");
    repo.edio(["snapshot"]).ok();
    repo.edio(["accept", "without a"]).ok();
    assert_eq!(repo.git(["ls-tree", "--name-only", "HEAD"]), "b");
    assert!(!repo.has(".git/index"));
    assert!(repo.sessions("active").is_empty());
    repo.edio(["undo"]).ok();
    assert_eq!(repo.git(["ls-tree", "--name-only", "HEAD"]), "a\nb");
}

/// It asks a person, and nobody is there.
#[test]
fn a_program_that_never_ends_to_sign_keeps_nobody_waiting() {
    let repo = Repo::with(&[("a", "a\n")]);
    let signs = repo.outside().join("signs");
    fs::write(&signs, "#!/bin/sh\nexec sleep 60\n").unwrap();
    repo.git(["config", "gpg.program", signs.to_str().unwrap()]);
    repo.git(["config", "commit.gpgSign", "true"]);
    repo.git(["config", "edio.signTimeout", "1"]);
    std::process::Command::new("chmod")
        .arg("+x")
        .arg(&signs)
        .status()
        .unwrap();
    repo.write("a", "b\n");
    repo.edio(["snapshot"]).ok();
    let before = repo.git_state();
    let ran = repo.edio(["accept", "done"]);
    assert!(ran.fails(1).stderr.contains("could not be signed"), "{ran}");
    assert!(ran.stderr.contains("edio.signTimeout"), "{ran}");
    assert_eq!(repo.git_state(), before);
    repo.git(["config", "commit.gpgSign", "false"]);
    repo.edio(["accept", "done"]).ok();
}
