//! `edio export --bundle` and `edio import`: a session goes to another repository and is the same there, and no bundle
//! does harm (P9).

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{NOW, Ran, Repo};

/// A repository with a session of two turns, and a clone of it with nothing of edio's.
struct Pair {
    repo: Repo,
    clone: PathBuf,
    id: String,
    bundle: PathBuf,
}

impl Pair {
    fn of(repo: Repo) -> Self {
        let clone = repo.outside().join("clone");
        // Not as files: a local clone would take all objects along.
        repo.git(["clone", "-q", "--no-local", ".", clone.to_str().unwrap()]);
        let id = repo.sessions("active").remove(0);
        let bundle = repo.outside().join("work.bundle");
        Self {
            repo,
            clone,
            id,
            bundle,
        }
    }

    fn new() -> Self {
        let repo = Repo::with(&[("a", "0\n")]);
        repo.write("a", "1\n");
        repo.edio(["snapshot", "-m", "first"]).ok();
        repo.write("a", "2\n");
        repo.write("b", "b\n");
        repo.edio(["snapshot", "-m", "second"]).ok();
        Self::of(repo)
    }

    fn export(&self, more: &[&str]) -> Ran {
        let file = self.bundle.to_str().unwrap();
        let words = ["export", "--bundle", file].into_iter();
        let _ = fs::remove_file(&self.bundle);
        self.repo.edio(words.chain(more.iter().copied()))
    }

    fn there(&self, words: &[&str]) -> Ran {
        self.repo.edio_in(&self.clone, words)
    }

    fn import(&self) -> Ran {
        self.there(&["import", self.bundle.to_str().unwrap()])
    }

    fn refs_there(&self) -> String {
        let words = ["for-each-ref", "--format=%(refname) %(objectname)"];
        self.repo.git_in(&self.clone, words)
    }
}

#[test]
fn a_session_is_the_same_in_another_repository() {
    let pair = Pair::new();
    let ran = pair.export(&[]);
    assert!(ran.ok().stderr.contains("must have the commit"), "{ran}");
    // Any git can read it.
    let file = pair.bundle.to_str().unwrap();
    pair.repo
        .git_in(&pair.clone, ["bundle", "verify", "-q", file]);
    let before = pair
        .repo
        .git_in(&pair.clone, ["for-each-ref", "refs/heads", "refs/remotes"]);

    let ran = pair.import();
    assert!(
        ran.ok()
            .stderr
            .contains(&format!("fetched: {} (2 turns)", pair.id)),
        "{ran}"
    );
    let after = pair
        .repo
        .git_in(&pair.clone, ["for-each-ref", "refs/heads", "refs/remotes"]);
    assert_eq!(after, before);
    assert_eq!(pair.repo.git_in(&pair.clone, ["status", "--porcelain"]), "");
    pair.repo.git_in(&pair.clone, ["fsck", "--strict"]);

    let refs = pair.refs_there();
    let names: Vec<&str> = refs
        .lines()
        .filter_map(|line| line.split(' ').next()?.strip_prefix("refs/edio/"))
        .collect();
    let name = |leaf: &str| format!("shared/{}/{leaf}", pair.id);
    // The turns are found behind it.
    assert_eq!(names, [name("current")]);

    let id = pair.id.as_str();
    let sessions = pair.there(&["sessions", "--json"]).json();
    assert_eq!(sessions[0]["state"], "fetched");
    assert_eq!(sessions[0]["session"], id);
    for words in [
        &["log", "--json"][..],
        &["show", "2", "--json"],
        &["diff", "1..2"],
        &["diff", "1"],
        &["show", "0", "--json"],
    ] {
        let words: Vec<&str> = words.iter().copied().chain(["--session", id]).collect();
        assert_eq!(
            pair.there(&words).ok().stdout,
            pair.repo.edio(&words).ok().stdout
        );
    }
    let blame = pair.there(&["blame", "a", "--session", id, "--json"]);
    assert_eq!(blame.ok().json()[0]["turn"], 2);

    pair.there(&["restore", "2", "--session", id]).ok();
    assert_eq!(fs::read_to_string(pair.clone.join("a")).unwrap(), "2\n");
    assert_eq!(fs::read_to_string(pair.clone.join("b")).unwrap(), "b\n");
    fs::write(pair.clone.join("a"), "3\n").unwrap();
    pair.there(&["snapshot", "-m", "mine"]).ok();
    let own = pair.there(&["sessions", "--json"]).json();
    assert_eq!(own.len(), 2);
    pair.there(&["undo"]).ok();
    pair.there(&["undo"]).ok();
    assert_eq!(fs::read_to_string(pair.clone.join("a")).unwrap(), "0\n");
    assert!(pair.refs_there().contains(&name("current")));
}

#[test]
fn it_can_only_be_looked_at() {
    let pair = Pair::new();
    pair.export(&[]).ok();
    pair.import().ok();
    let refs = pair.refs_there();
    for words in [
        &["snapshot"][..],
        &["undo"],
        &["sessions", "--close", &pair.id],
    ] {
        let words: Vec<&str> = words
            .iter()
            .copied()
            .chain(["--session", &pair.id])
            .collect();
        pair.there(&words).fails(1);
    }
    pair.there(&["undo"]).fails(1);
    assert_eq!(pair.refs_there(), refs);
}

#[test]
fn again_is_nothing_more_is_more_and_less_takes_nothing_away() {
    let pair = Pair::new();
    pair.export(&[]).ok();
    let first = fs::read(&pair.bundle).unwrap();
    let came = |ran: &Ran| ran.ok().json()[0]["came"].as_str().unwrap().to_owned();
    let import = || came(&pair.there(&["import", "--json", pair.bundle.to_str().unwrap()]));
    assert_eq!(import(), "new");
    let refs = pair.refs_there();
    assert_eq!(import(), "known");
    assert_eq!(pair.refs_there(), refs);
    pair.repo.write("a", "3\n");
    pair.repo.edio(["snapshot", "-m", "third"]).ok();
    pair.export(&[]).ok();
    assert_eq!(import(), "more");
    let refs = pair.refs_there();
    pair.there(&["show", "3", "--session", &pair.id]).ok();
    fs::write(&pair.bundle, first).unwrap();
    assert_eq!(import(), "known");
    assert_eq!(pair.refs_there(), refs);

    let ran = pair.repo.edio(["import", pair.bundle.to_str().unwrap()]);
    assert!(
        ran.ok().stderr.contains("is a session of this repository"),
        "{ran}"
    );
    assert!(!pair.repo.edio_refs().contains("/shared/"));
}

#[test]
fn a_session_that_is_here_with_other_turns_is_never_overwritten() {
    let pair = Pair::new();
    pair.export(&[]).ok();
    pair.import().ok();
    let turn = format!("refs/edio/active/{}/2", pair.id);
    let message = pair.repo.git_raw(["log", "-1", "--format=%B", &turn]);
    let file = pair.repo.outside().join("message");
    fs::write(&file, message.trim_end_matches('\n').to_owned() + "\n").unwrap();
    let parent = pair.repo.git(["rev-parse", &format!("{turn}^")]);
    let tree = format!("{turn}^{{tree}}");
    let other = pair.repo.git([
        "commit-tree",
        &tree,
        "-p",
        &parent,
        "-F",
        file.to_str().unwrap(),
    ]);
    for leaf in ["2", "current"] {
        pair.repo.git([
            "update-ref",
            &format!("refs/edio/active/{}/{leaf}", pair.id),
            &other,
        ]);
    }
    let refs = pair.refs_there();
    pair.export(&[]).ok();
    let ran = pair.import();
    assert!(ran.fails(3).stderr.contains("with other turns: 2"), "{ran}");
    assert_eq!(pair.refs_there(), refs);
}

#[test]
fn what_it_rests_on_must_be_there_or_comes_along() {
    let pair = Pair::new();
    let empty = pair.repo.outside().join("empty");
    pair.repo.git(["init", "-q", empty.to_str().unwrap()]);
    pair.export(&[]).ok();
    let file = pair.bundle.to_str().unwrap();
    let ran = pair.repo.edio_in(&empty, ["import", file]);
    assert!(ran.fails(1).stderr.contains("--self-contained"), "{ran}");
    pair.export(&["--self-contained"]).ok();
    pair.repo.edio_in(&empty, ["import", file]).ok();
    pair.repo
        .edio_in(&empty, ["restore", "1", "--session", &pair.id])
        .ok();
    assert_eq!(fs::read_to_string(empty.join("a")).unwrap(), "1\n");
    pair.repo.git_in(&empty, ["fsck", "--strict"]);
}

#[test]
fn an_accepted_session_goes_along_with_its_turns() {
    let pair = Pair::new();
    pair.repo.edio(["accept", "feat"]).ok();
    pair.export(&["--session", &pair.id]).ok();
    pair.repo.git_in(&pair.clone, ["pull", "-q"]);
    pair.import().ok();
    let log = pair.there(&["log", "--session", &pair.id, "--json"]).json();
    assert_eq!(log.len(), 2);
    assert!(pair.refs_there().contains(&format!("{}/ops", pair.id)));
}

/// A session with bytes behind a conversion, and an ignored file that was saved before an overwrite.
fn with_side_commits() -> Pair {
    let repo = Repo::with(&[(".gitattributes", "*.txt text\n"), ("a", "0\n")]);
    repo.write("w.txt", "one\r\ntwo\n");
    repo.write("key", "harmless\n");
    repo.edio(["snapshot", "-m", "mixed"]).ok();
    repo.write("w.txt", "1\n2\n");
    repo.write(".gitignore", "key\n");
    repo.edio(["snapshot", "-m", "plain"]).ok();
    repo.edio(["restore", "0"]).ok();
    repo.write(".gitignore", "key\n");
    repo.write("key", "private\n");
    repo.edio(["snapshot", "-m", "ignored"]).ok();
    repo.edio(["restore", "1"]).ok();
    Pair::of(repo)
}

fn has_object(pair: &Pair, content: &str) -> bool {
    let file = pair.repo.outside().join("content");
    fs::write(&file, content).unwrap();
    let oid = pair
        .repo
        .git(["hash-object", "--no-filters", file.to_str().unwrap()]);
    let ran = std::process::Command::new("git")
        .current_dir(&pair.clone)
        .args(["cat-file", "-e", &oid])
        .output()
        .unwrap();
    ran.status.success()
}

#[test]
fn p3_the_bytes_behind_conversions_come_along_and_what_is_private_does_not() {
    let pair = with_side_commits();
    let original = format!("refs/edio/active/{}/side", pair.id);
    let original = pair.repo.git(["rev-parse", &original]);
    for (flags, is_whole) in [
        (&[][..], false),
        (&["--with-side"][..], true),
        (&[][..], true),
    ] {
        pair.export(flags).ok();
        pair.import().ok();
        let side = format!("refs/edio/shared/{}/side", pair.id);
        let there = pair.repo.git_in(&pair.clone, ["rev-parse", &side]);
        // What is whole is never replaced by what is not.
        assert_eq!(there == original, is_whole);
        assert_eq!(has_object(&pair, "private\n"), is_whole);
        pair.there(&["restore", "1", "--session", &pair.id]).ok();
        assert_eq!(fs::read(pair.clone.join("w.txt")).unwrap(), b"one\r\ntwo\n");
        // The session that goes on from there finds them, too.
        fs::write(pair.clone.join("w.txt"), "other\n").unwrap();
        pair.there(&["restore", "1", "--session", &pair.id]).ok();
        assert_eq!(fs::read(pair.clone.join("w.txt")).unwrap(), b"one\r\ntwo\n");
    }
}

#[test]
fn forget_takes_it_out_of_the_copies_too() {
    let pair = with_side_commits();
    pair.export(&[]).ok();
    pair.import().ok();
    let side = format!("refs/edio/shared/{}/side", pair.id);
    let files = || {
        pair.repo
            .git_in(&pair.clone, ["ls-tree", "-r", "--name-only", &side])
    };
    assert!(files().contains("raw/w.txt"), "{}", files());
    pair.there(&["forget", "-f", "w.txt", "--session", &pair.id, "--yes"])
        .ok();
    assert!(!files().contains("w.txt"), "{}", files());
}

#[test]
fn a_copy_that_is_here_is_not_replaced_by_another() {
    let pair = with_side_commits();
    pair.export(&[]).ok();
    pair.import().ok();
    // Another session claims to have the same side commit, with other bytes.
    let side = format!("refs/edio/shared/{}/side", pair.id);
    let said = pair
        .repo
        .git_in(&pair.clone, ["log", "-1", "--format=%B", &side]);
    let file = pair.repo.outside().join("said");
    fs::write(&file, said.trim_end().to_owned() + "\n").unwrap();
    let forged = pair
        .repo
        .git(["commit-tree", "HEAD^{tree}", "-F", file.to_str().unwrap()]);
    let turn = pair.repo.git(["rev-parse", &pair.repo.turn_ref(1)]);
    let name = |leaf: &str| format!("refs/edio/shared/sess_1_00000000/{leaf}");
    let (current, side) = (name("current"), name("side"));
    let file = bundled(&pair.repo, &[(&current, &turn), (&side, &forged)]);
    must_refuse(&pair, &file, "another copy");
}

#[test]
fn in_a_repository_with_sha256_it_is_the_same() {
    let repo = Repo::with(&[("a", "0\n")]);
    let top = repo.outside().join("sha256");
    repo.git([
        "init",
        "-q",
        "--object-format=sha256",
        top.to_str().unwrap(),
    ]);
    fs::write(top.join("a"), "1\n").unwrap();
    repo.edio_in(&top, ["snapshot", "-m", "one"]).ok();
    repo.edio_in(&top, ["export", "--bundle", "../b", "--self-contained"])
        .ok();
    let other = repo.outside().join("other");
    repo.git([
        "init",
        "-q",
        "--object-format=sha256",
        other.to_str().unwrap(),
    ]);
    repo.git_in(&other, ["bundle", "list-heads", "../b"]);
    repo.edio_in(&other, ["import", "../b"]).ok();
    let ran = repo.edio(["import", "../b"]);
    assert!(ran.fails(1).stderr.contains("hash function"), "{ran}");
}

#[test]
fn conversations_and_ignored_files_stay_unless_they_are_wanted() {
    let repo = Repo::with(&[("a", "0\n")]);
    repo.claude_says(
        "UserPromptSubmit",
        serde_json::json!({ "prompt": "first line\n\nprivate words" }),
    );
    repo.write("a", "1\n");
    repo.claude_says(
        "Stop",
        serde_json::json!({ "last_assistant_message": "closing words" }),
    );
    let pair = Pair::of(repo);
    let reply = |pair: &Pair| {
        let record = &pair
            .there(&["show", "1", "--session", &pair.id, "--json"])
            .ok()
            .json()[0];
        record["reply"].clone()
    };
    pair.export(&[]).ok();
    pair.import().ok();
    assert_eq!(reply(&pair), serde_json::Value::Null);
    pair.export(&["--with-side"]).ok();
    pair.import().ok();
    assert_eq!(reply(&pair), "closing words");
}

#[test]
fn gc_and_forget_know_it() {
    let pair = Pair::new();
    pair.export(&[]).ok();
    pair.import().ok();
    pair.there(&["forget", "-f", "b", "--session", &pair.id, "--yes"])
        .ok();
    let shown = pair.there(&["show", "2", "--session", &pair.id, "--json"]);
    assert!(!shown.ok().stdout.contains("\"b\""), "{shown}");
    let mut late = pair.repo.command(["gc", "--json"]);
    late.current_dir(&pair.clone);
    late.env("EDIO_NOW", (NOW + 11 * 24 * 60 * 60).to_string());
    let pruned = pair.repo.ran(&mut late);
    assert_eq!(pruned.ok().json()[0]["session"], pair.id.as_str());
    assert!(!pair.refs_there().contains("refs/edio/"));
}

/// A bundle as `git bundle create` writes it, of refs that somebody has made.
fn bundled(repo: &Repo, refs: &[(&str, &str)]) -> PathBuf {
    for (name, commit) in refs {
        repo.git(["update-ref", name, commit]);
    }
    let file = repo.outside().join("evil.bundle");
    let names = refs.iter().map(|(name, _)| *name);
    let words = ["bundle", "create", "-q", file.to_str().unwrap()];
    repo.git(words.into_iter().chain(names));
    for (name, _) in refs {
        repo.git(["update-ref", "-d", name]);
    }
    file
}

fn must_refuse(pair: &Pair, file: &Path, said: &str) {
    let before = (pair.refs_there(), pair.repo.everything_in(&pair.clone));
    let ran = pair.there(&["import", file.to_str().unwrap()]);
    assert!(ran.fails(3).stderr.contains(said), "{ran}");
    assert_eq!(pair.refs_there(), before.0);
}

#[test]
fn other_refs_are_refused() {
    let pair = Pair::new();
    let turn = pair.repo.git(["rev-parse", &pair.repo.turn_ref(1)]);
    let shared = format!("refs/edio/shared/{}", pair.id);
    for name in [
        "refs/heads/evil".to_owned(),
        format!("refs/edio/active/{}/7", "sess_1_00000000"),
        format!("{shared}/evil"),
        format!("{shared}/007"),
        "refs/edio/shared/-x/1".to_owned(),
    ] {
        let file = bundled(&pair.repo, &[(&name, &turn)]);
        must_refuse(&pair, &file, "no session's");
    }
}

#[test]
fn what_is_not_what_its_name_says_is_refused() {
    let pair = Pair::new();
    let turn = |number| pair.repo.git(["rev-parse", &pair.repo.turn_ref(number)]);
    let head = pair.repo.git(["rev-parse", "HEAD"]);
    let name = |leaf: &str| format!("refs/edio/shared/{}/{leaf}", pair.id);
    let other = "refs/edio/shared/sess_1_00000000/1".to_owned();
    for (refs, said) in [
        (
            vec![(name("2"), turn(1)), (name("current"), turn(2))],
            "2 of",
        ),
        (
            vec![(name("1"), head.clone()), (name("current"), turn(2))],
            "1 of",
        ),
        (
            vec![(name("1"), turn(1)), (name("current"), head.clone())],
            "current of",
        ),
        (
            vec![
                (name("1"), turn(1)),
                (name("current"), turn(1)),
                (name("ops"), turn(1)),
            ],
            "ops of",
        ),
        (vec![(name("1"), turn(1))], "where"),
        (vec![(other, turn(1))], "1 of"),
    ] {
        let refs: Vec<(&str, &str)> = refs.iter().map(|(n, o)| (n.as_str(), o.as_str())).collect();
        let file = bundled(&pair.repo, &refs);
        must_refuse(&pair, &file, said);
    }
}

#[test]
fn trees_that_could_do_harm_are_refused() {
    let pair = Pair::new();
    let blob = pair.repo.git(["rev-parse", "HEAD:a"]);
    let turn = pair.repo.turn_ref(1);
    let said = pair.repo.git_raw(["cat-file", "commit", &turn]);
    for name in [".git", "..", ".GIT", "git~1", "a/b"] {
        let mut tree = format!("100644 {name}\0").into_bytes();
        tree.extend(
            (0..blob.len() / 2)
                .map(|at| u8::from_str_radix(&blob[2 * at..2 * at + 2], 16).unwrap()),
        );
        let file = pair.repo.outside().join("tree");
        fs::write(&file, tree).unwrap();
        let file = file.to_str().unwrap();
        let tree = pair
            .repo
            .git(["hash-object", "-t", "tree", "-w", "--literally", file]);
        let old = said.lines().next().unwrap();
        let commit = said.replacen(old, &format!("tree {tree}"), 1);
        fs::write(pair.repo.outside().join("commit"), commit).unwrap();
        let file = pair.repo.outside().join("commit");
        let commit = pair
            .repo
            .git(["hash-object", "-t", "commit", "-w", file.to_str().unwrap()]);
        let name = |leaf: &str| format!("refs/edio/shared/{}/{leaf}", pair.id);
        let (one, current) = (name("1"), name("current"));
        let file = bundled(&pair.repo, &[(&one, &commit), (&current, &commit)]);
        must_refuse(&pair, &file, "git refuses what is in the bundle");
    }
}

#[test]
fn what_is_no_bundle_or_cut_off_changes_nothing() {
    let pair = Pair::new();
    pair.export(&[]).ok();
    let whole = fs::read(&pair.bundle).unwrap();
    let refs = pair.refs_there();
    for length in [0, 10, 60, whole.len() / 2, whole.len() - 1] {
        fs::write(&pair.bundle, &whole[..length]).unwrap();
        let ran = pair.import();
        assert!(matches!(ran.code, Some(1 | 3)), "{length}: {ran}");
        assert!(ran.stderr.starts_with("error: "), "{ran}");
        assert_eq!(pair.refs_there(), refs);
    }
    pair.there(&["import", "nowhere"]).fails(1);
    pair.there(&["import"]).fails(2);
    let outside = pair.repo.outside();
    pair.repo
        .edio_in(&outside, ["import", "work.bundle"])
        .fails(4);
    pair.export(&[]).ok();
    let file = pair.bundle.to_str().unwrap();
    pair.repo.edio(["export", "--bundle", file]).fails(3);
}

#[test]
fn no_hook_of_the_users_runs() {
    let pair = Pair::new();
    pair.export(&[]).ok();
    let hooks = pair.clone.join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for name in [
        "reference-transaction",
        "post-index-change",
        "pre-receive",
        "update",
    ] {
        let file = hooks.join(name);
        fs::write(&file, "#!/bin/sh\ntouch ../ran; exit 1\n").unwrap();
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    pair.import().ok();
    assert!(!pair.repo.outside().join("ran").exists());
}
