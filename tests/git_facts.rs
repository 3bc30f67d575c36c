//! What edio relies on in git, asked of git itself: the git in `PATH`, without edio.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use crate::common::{Repo, fed};

/// git at the top, ready to be given more.
fn git(repo: &Repo, words: &[&str]) -> Command {
    let mut git = Command::new("git");
    repo.surround(&mut git);
    git.current_dir(&repo.top).args(words);
    git
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// A copy of the user's index, with the time of its source.
fn copied_index(repo: &Repo) -> PathBuf {
    let copy = repo.outside().join("index");
    fs::copy(repo.path(".git/index"), &copy).unwrap();
    set_time(&copy, modified(&repo.path(".git/index")));
    copy
}

fn modified(path: &Path) -> SystemTime {
    fs::metadata(path).unwrap().modified().unwrap()
}

fn set_time(path: &Path, time: SystemTime) {
    fs::File::open(path).unwrap().set_modified(time).unwrap();
}

fn some_time() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
}

#[test]
fn an_empty_hooks_path_silences_the_hooks_of_index_and_refs() {
    let repo = Repo::with(&[("a", "a\n")]);
    let mark = repo.path(".git/ran");
    for hook in ["post-index-change", "reference-transaction"] {
        repo.write(
            format!(".git/hooks/{hook}"),
            format!("#!/bin/sh\ntouch '{}'\n", mark.display()),
        );
        repo.chmod(format!(".git/hooks/{hook}"), 0o755);
    }
    let head = repo.git(["rev-parse", "HEAD"]);
    let silent = ["-c", "core.hooksPath=/dev/null"];
    let changes = [
        &["update-ref", "refs/edio/x", &head][..],
        &["update-index", "--force-remove", "a"],
    ];
    for change in changes {
        repo.git(silent.iter().chain(change));
        assert!(!repo.has(".git/ran"), "{change:?}");
    }
    repo.git(["update-ref", "-d", "refs/edio/x"]);
    assert!(repo.has(".git/ran"));
    repo.remove(".git/ran");
    repo.git(["add", "a"]);
    assert!(repo.has(".git/ran"));
}

const TAKE: [&str; 6] = [
    "update-index",
    "-z",
    "--add",
    "--remove",
    "--replace",
    "--stdin",
];

#[test]
fn update_index_wants_deletions_first() {
    let repo = Repo::with(&[("f", "file\n")]);
    repo.remove("f");
    repo.write("f/in", "inside\n");
    assert_eq!(
        fed(&mut git(&repo, &TAKE), "f/in\0f\0").status.code(),
        Some(128)
    );
    assert_eq!(repo.git(["ls-files"]), "f");
    assert!(fed(&mut git(&repo, &TAKE), "f\0f/in\0").status.success());
    assert_eq!(repo.git(["ls-files"]), "f/in");
}

#[test]
fn update_index_obeys_attributes_that_are_gone_from_disk_until_they_leave_the_index() {
    let stored = |order: &str| {
        let repo = Repo::with(&[(".gitattributes", "*.txt text\n")]);
        repo.remove(".gitattributes");
        repo.write("a.txt", "one\r\n");
        assert!(fed(&mut git(&repo, &TAKE), order).status.success());
        repo.git_raw(["cat-file", "blob", ":a.txt"])
    };
    assert_eq!(stored(".gitattributes\0a.txt\0"), "one\r\n");
    assert_eq!(stored("a.txt\0.gitattributes\0"), "one\n");
}

#[test]
fn one_bad_path_ends_update_index_with_nothing_written() {
    let repo = Repo::with(&[("a", "a\n"), ("real/b", "b\n")]);
    let index = fs::read(repo.path(".git/index")).unwrap();
    repo.write("a", "changed\n");
    repo.write("fine", "new\n");
    repo.link("link", "real");
    repo.write("lib/x", "x\n");
    repo.git_in(&repo.path("lib"), ["init", "-q"]);
    assert!(
        Command::new("mkfifo")
            .arg(repo.path("pipe"))
            .status()
            .unwrap()
            .success()
    );
    for bad in ["pipe", "link/b", "lib", "../outside"] {
        let output = fed(&mut git(&repo, &TAKE), format!("a\0{bad}\0fine\0"));
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(128), "{bad}: {said}");
        assert_eq!(fs::read(repo.path(".git/index")).unwrap(), index, "{bad}");
    }
    let said = fed(&mut git(&repo, &TAKE), "a\0pipe\0").stderr;
    assert!(
        text(&said).ends_with("fatal: Unable to process path pipe\n"),
        "{}",
        text(&said)
    );
    // One that is gone is no bad path, nor is a folder with a slash.
    assert!(
        fed(&mut git(&repo, &TAKE), "a\0never-there\0lib/\0fine\0")
            .status
            .success()
    );
    assert_eq!(repo.git(["diff", "--cached", "--name-only"]), "a\nfine");
}

#[test]
fn a_required_filter_that_fails_ends_update_index_and_status_and_is_named() {
    let repo = Repo::with(&[(".gitattributes", "*.x filter=f\n"), ("a.x", "a\n")]);
    repo.git(["config", "filter.f.clean", "false"]);
    repo.git(["config", "filter.f.required", "true"]);
    repo.write("a.x", "changed\n");
    let output = fed(&mut git(&repo, &TAKE), "a.x\0");
    assert_eq!(output.status.code(), Some(128));
    assert!(
        text(&output.stderr).contains("fatal: a.x: clean filter 'f' failed"),
        "{}",
        text(&output.stderr)
    );
    repo.write("a.x", "b\n");
    assert_eq!(
        fed(&mut git(&repo, &["status"]), "").status.code(),
        Some(128)
    );
    let tolerant = ["-c", "filter.f.required=false", "status", "--porcelain"];
    assert_eq!(repo.git(tolerant), " M a.x");
}

/// How many folders a `git status` over this index opened to look for untracked files; `None` where it did not ask the
/// untracked cache.
fn folders_opened(repo: &Repo, index: &Path, optional_locks: &str, words: &[&str]) -> Option<u64> {
    let told = repo.outside().join("told");
    let mut status = git(repo, &["-c", "core.untrackedCache=true"]);
    status
        .args(words)
        .env("GIT_INDEX_FILE", index)
        .env("GIT_OPTIONAL_LOCKS", optional_locks);
    status
        .env("GIT_TRACE2_EVENT", &told)
        .env("GIT_TRACE2_EVENT_NESTING", "10");
    let output = fed(&mut status, "");
    assert_eq!(text(&output.stdout), "?? new/file\0");
    let events = fs::read_to_string(&told).unwrap();
    fs::remove_file(told).unwrap();
    let opened = events
        .lines()
        .find(|line| line.contains(r#""key":"opendir""#))?;
    let event: serde_json::Value = serde_json::from_str(opened).unwrap();
    Some(event["value"].as_str().unwrap().parse().unwrap())
}

#[test]
fn the_untracked_cache_needs_the_config_form_and_optional_locks() {
    let repo = Repo::with(&[("a", "a\n"), ("d/b", "b\n")]);
    repo.write("new/file", "new\n");
    // A folder as new as the index would be looked at again.
    for folder in ["new", "d", ""] {
        set_time(&repo.path(folder), some_time());
    }
    let config = [
        "-c",
        "status.showUntrackedFiles=all",
        "status",
        "--porcelain",
        "-z",
    ];
    let option = ["status", "--porcelain", "-z", "--untracked-files=all"];
    let index = copied_index(&repo);
    assert_eq!(folders_opened(&repo, &index, "0", &config), Some(3));
    assert_eq!(
        folders_opened(&repo, &index, "0", &config),
        Some(3),
        "nothing was kept"
    );
    assert_eq!(folders_opened(&repo, &index, "1", &option), None);
    assert_eq!(folders_opened(&repo, &index, "1", &config), Some(3));
    assert_eq!(
        folders_opened(&repo, &index, "1", &config),
        Some(0),
        "all was kept"
    );
}

#[test]
fn a_copied_index_sees_edits_of_the_same_size_only_if_it_keeps_its_time() {
    let repo = Repo::unborn();
    // So that the second of the last change counts alone: as it is where all happens within one second.
    repo.git(["config", "core.trustctime", "false"]);
    repo.write("a", "one\n");
    set_time(&repo.path("a"), some_time());
    repo.commit("base");
    set_time(&repo.path(".git/index"), some_time());
    fs::write(repo.path("a"), "two\n").unwrap();
    set_time(&repo.path("a"), some_time());
    let copy = copied_index(&repo);
    let status = || {
        let mut status = git(&repo, &["status", "--porcelain"]);
        status
            .env("GIT_INDEX_FILE", &copy)
            .env("GIT_OPTIONAL_LOCKS", "0");
        text(&fed(&mut status, "").stdout).to_owned()
    };
    assert_eq!(status(), " M a\n");
    set_time(&copy, some_time() + Duration::from_secs(10));
    assert_eq!(status(), "");
}

#[test]
fn status_lists_a_nested_repository_as_a_folder_and_a_special_file_as_changed() {
    let repo = Repo::with(&[("a", "a\n")]);
    repo.write("lib/x", "x\n");
    repo.git_in(&repo.path("lib"), ["init", "-q"]);
    repo.remove("a");
    assert!(
        Command::new("mkfifo")
            .arg(repo.path("a"))
            .status()
            .unwrap()
            .success()
    );
    let status = ["status", "--porcelain=v2", "-z", "--untracked-files=all"];
    let output = repo.git_raw(status);
    let records: Vec<&str> = output.split_terminator('\0').collect();
    assert!(
        records[0].starts_with("1 .M ") && records[0].ends_with(" a"),
        "{records:?}"
    );
    assert_eq!(records[1..], ["? lib/"]);
}

#[test]
fn check_ignore_takes_names_as_they_are_only_with_a_dot_and_a_slash_before_them() {
    let repo = Repo::with(&[(".gitignore", "*x\n")]);
    let ask = ["check-ignore", "--no-index", "-z", "--stdin"];
    let asked = |before: &[&str], path: &str| {
        let mut git = git(&repo, before);
        fed(git.args(ask), format!("{path}\0"))
    };
    assert_eq!(
        asked(&["--literal-pathspecs"], "./x").status.code(),
        Some(128)
    );
    assert_eq!(asked(&[], ":!x").status.code(), Some(128));
    assert_eq!(asked(&[], ":(top)x").stdout, b":(top)x\0");
    for name in [
        "x",
        ":!x",
        ":(top)x",
        ":/x",
        "*?[x",
        "-x",
        "a\nx",
        ":(glob)**/x",
    ] {
        let output = asked(&[], &format!("./{name}"));
        assert_eq!(text(&output.stdout), format!("./{name}\0"), "{name}");
    }
    // No match is exit code 1, and no failure.
    assert_eq!(asked(&[], "./a").status.code(), Some(1));
}

#[test]
fn check_ignore_answers_for_none_where_one_lies_beyond_a_link() {
    let repo = Repo::with(&[(".gitignore", "x\n"), ("real/b", "b\n")]);
    repo.link("link", "real");
    let ask = ["check-ignore", "--no-index", "-z", "--stdin"];
    let output = fed(&mut git(&repo, &ask), "./x\0./link/x\0");
    assert_eq!(output.status.code(), Some(128));
}

#[test]
fn rev_parse_prints_what_it_knows_before_a_ref_that_is_missing() {
    let repo = Repo::with(&[("a", "a\n")]);
    let words = [
        "rev-parse",
        "--path-format=absolute",
        "--show-object-format",
        "--git-dir",
        "--show-toplevel",
    ];
    let known = format!("sha1\n{top}/.git\n{top}\n", top = repo.top.display());
    let output = fed(
        git(&repo, &words).args(["refs/edio/none", "refs/edio/none^{tree}"]),
        "",
    );
    assert_eq!(output.status.code(), Some(128));
    assert!(
        text(&output.stdout).starts_with(&known),
        "{}",
        text(&output.stdout)
    );
    let output = fed(
        git(&repo, &words).args(["refs/heads/main", "refs/heads/main^{tree}"]),
        "",
    );
    let ids = format!(
        "{}\n{}\n",
        repo.git(["rev-parse", "HEAD"]),
        repo.git(["rev-parse", "HEAD^{tree}"])
    );
    assert_eq!(text(&output.stdout), format!("{known}{ids}"));
}

#[test]
fn for_each_ref_prints_raw_objects_with_their_length() {
    let repo = Repo::with(&[("a", "a\n")]);
    let tree = repo.git(["rev-parse", "HEAD^{tree}"]);
    for (name, message) in [
        ("one", "\n\nrefs/edio/two\0"),
        ("two", ""),
        ("three", "no line break at the end"),
    ] {
        let message = message.replace('\0', "");
        let output = fed(&mut git(&repo, &["commit-tree", &tree]), &message);
        repo.git([
            "update-ref",
            &format!("refs/edio/{name}"),
            text(&output.stdout).trim(),
        ]);
    }
    let format = "--format=%(refname)%00%(objecttype)%00%(raw:size)%00%(raw)";
    let output = repo.git_raw(["for-each-ref", format, "refs/edio/"]);
    let mut rest = output.as_str();
    let mut names = Vec::new();
    while !rest.is_empty() {
        let fields: Vec<&str> = rest.splitn(4, '\0').collect();
        let (raw, after) = fields[3].split_at(fields[2].parse().unwrap());
        assert_eq!(raw, repo.git_raw(["cat-file", fields[1], fields[0]]));
        names.push(fields[0]);
        rest = after.strip_prefix('\n').unwrap();
    }
    assert_eq!(names, ["refs/edio/one", "refs/edio/three", "refs/edio/two"]);
}

#[test]
fn diff_tree_prints_each_pair_of_trees_before_what_differs() {
    let repo = Repo::with(&[("a", "a\n"), ("b", "b\n")]);
    let old = repo.git(["rev-parse", "HEAD^{tree}"]);
    repo.write("a", "changed\n");
    repo.commit("changed");
    let new = repo.git(["rev-parse", "HEAD^{tree}"]);
    let ask = [
        "--literal-pathspecs",
        "diff-tree",
        "--stdin",
        "-r",
        "-z",
        "--name-only",
        "--no-renames",
        "--",
    ];
    let pairs = format!("{old} {new}\n{new} {new}\n{new} {old}\n");
    let asked = |path: &str| text(&fed(git(&repo, &ask).arg(path), &pairs).stdout).to_owned();
    // A line break ends the pair, also with -z. A pair of equal trees is printed too.
    assert_eq!(
        asked("a"),
        format!("{old} {new}\na\0{new} {new}\n{new} {old}\na\0")
    );
    assert_eq!(
        asked("b"),
        format!("{old} {new}\n{new} {new}\n{new} {old}\n")
    );
}

/// A tree with these files.
fn tree(repo: &Repo, files: &[(&str, &str)]) -> String {
    let index = repo.outside().join("tree-index");
    let entries = files.iter().map(|(path, content)| {
        let blob = fed(&mut git(repo, &["hash-object", "-w", "--stdin"]), content).stdout;
        format!("100644 {}\t{path}\0", text(&blob).trim())
    });
    let entries: String = entries.collect();
    let mut update = git(repo, &["update-index", "-z", "--index-info"]);
    assert!(
        fed(update.env("GIT_INDEX_FILE", &index), entries)
            .status
            .success()
    );
    let written = fed(git(repo, &["write-tree"]).env("GIT_INDEX_FILE", &index), "").stdout;
    fs::remove_file(index).unwrap();
    text(&written).trim().to_owned()
}

/// `merge-tree` of two trees that grew from a base, by commits that no ref knows.
fn merge(repo: &Repo, base: &str, ours: &str, theirs: &str) -> Output {
    let commit = |words: &[&str]| {
        text(&fed(git(repo, &["commit-tree"]).args(words), "x").stdout)
            .trim()
            .to_owned()
    };
    let base = commit(&[base]);
    let (ours, theirs) = (commit(&[ours, "-p", &base]), commit(&[theirs, "-p", &base]));
    let words = [
        "-c",
        "merge.directoryRenames=false",
        "merge-tree",
        "--write-tree",
    ];
    let mut merge = git(repo, &words);
    fed(
        merge.args(["--name-only", "--no-messages", "-z", &ours, &theirs]),
        "",
    )
}

#[test]
fn merge_tree_merges_trees_through_commits_that_are_thrown_away() {
    let repo = Repo::unborn();
    let lines = |first: &str, last: &str| format!("{first}\n2\n3\n4\n5\n{last}\n");
    let base = tree(&repo, &[("a", &lines("1", "6")), ("b", "b\n")]);
    let ours = tree(&repo, &[("a", &lines("ours", "6")), ("b", "b\n")]);
    let theirs = tree(
        &repo,
        &[("a", &lines("1", "theirs")), ("b", "b\n"), ("c", "c\n")],
    );
    let both = tree(
        &repo,
        &[("a", &lines("ours", "theirs")), ("b", "b\n"), ("c", "c\n")],
    );
    let merged = merge(&repo, &base, &ours, &theirs);
    assert_eq!(
        (merged.status.code(), text(&merged.stdout)),
        (Some(0), &*format!("{both}\0"))
    );

    let against = tree(&repo, &[("a", &lines("against", "6"))]);
    let conflict = merge(&repo, &base, &ours, &against);
    let fields: Vec<&str> = text(&conflict.stdout).split_terminator('\0').collect();
    assert_eq!(
        (conflict.status.code(), &fields[1..]),
        (Some(1), &["a"][..])
    );
}

#[test]
fn merge_tree_follows_no_renamed_folder_where_it_is_told_not_to() {
    let repo = Repo::unborn();
    let base = tree(&repo, &[("old/a", "a\n"), ("old/b", "b\n")]);
    let moved = tree(&repo, &[("new/a", "a\n"), ("new/b", "b\n")]);
    let added = tree(
        &repo,
        &[("old/a", "a\n"), ("old/b", "b\n"), ("old/c", "c\n")],
    );
    let wanted = tree(
        &repo,
        &[("new/a", "a\n"), ("new/b", "b\n"), ("old/c", "c\n")],
    );
    let merged = merge(&repo, &base, &moved, &added);
    assert_eq!(
        (merged.status.code(), text(&merged.stdout)),
        (Some(0), &*format!("{wanted}\0"))
    );
}

#[test]
fn index_info_drops_the_flags_of_an_entry() {
    let repo = Repo::with(&[("a", "a\n"), ("b", "b\n")]);
    repo.git(["update-index", "--skip-worktree", "a"]);
    repo.git(["update-index", "--assume-unchanged", "b"]);
    assert_eq!(repo.git(["ls-files", "-v"]), "S a\nh b");
    let ids = ["a", "b"].map(|path| repo.git(["rev-parse", &format!("HEAD:{path}")]));
    let entries = format!("100644 {}\ta\0100644 {}\tb\0", ids[0], ids[1]);
    assert!(
        fed(
            &mut git(&repo, &["update-index", "-z", "--index-info"]),
            entries
        )
        .status
        .success()
    );
    assert_eq!(repo.git(["ls-files", "-v"]), "H a\nH b");
}

#[test]
fn of_two_flags_in_one_run_only_one_is_obeyed() {
    let repo = Repo::with(&[("a", "a\n")]);
    repo.git(["update-index", "--skip-worktree", "a"]);
    repo.git(["update-index", "--assume-unchanged", "a"]);
    assert_eq!(repo.git(["ls-files", "-v"]), "s a");
    repo.git([
        "update-index",
        "--no-assume-unchanged",
        "--no-skip-worktree",
        "a",
    ]);
    assert_eq!(repo.git(["ls-files", "-v"]), "S a");
    repo.git(["update-index", "--no-skip-worktree", "a"]);
    assert_eq!(repo.git(["ls-files", "-v"]), "H a");
}

#[test]
fn refs_change_where_the_input_says_so_to_the_end() {
    let repo = Repo::with(&[("a", "a\n")]);
    let head = repo.git(["rev-parse", "HEAD"]);
    let change = |name: &str, end: &str| {
        let mut git = git(&repo, &["update-ref", "--no-deref", "--stdin", "-z"]);
        let input = format!("start\0create refs/edio/{name}\0{head}\0{end}");
        let ran = fed(&mut git, input);
        (ran.status.success(), text(&ran.stdout).to_owned())
    };
    change("cut-off", "");
    assert_eq!(repo.git(["for-each-ref", "refs/edio"]), "");
    let done = (true, "start: ok\ncommit: ok\n".to_owned());
    assert_eq!(change("whole", "commit\0"), done);
    assert_eq!(
        repo.git(["for-each-ref", "--format=%(refname)", "refs/edio"]),
        "refs/edio/whole"
    );
}

#[test]
fn who_changes_refs_may_have_been_started_before_another_changed_them() {
    for format in ["files", "reftable"] {
        let repo = Repo::with(&[("a", "a\n")]);
        let top = repo.outside().join("other");
        let form = format!("--ref-format={format}");
        let made = git(&repo, &["init", "-q", &form, top.to_str().unwrap()]).output();
        if !made.unwrap().status.success() {
            // Before git 2.45 there is only one format.
            git(&repo, &["init", "-q", top.to_str().unwrap()])
                .output()
                .unwrap();
        }
        let blob = fed(
            git(&repo, &["hash-object", "-w", "--stdin"]).current_dir(&top),
            "b",
        );
        let oid = text(&blob.stdout).trim().to_owned();
        let begin = || {
            let mut git = git(&repo, &["update-ref", "--no-deref", "--stdin", "-z"]);
            let git = git.current_dir(&top).stdin(Stdio::piped());
            git.stdout(Stdio::piped()).spawn().unwrap()
        };
        let mut waiting: Vec<Child> = (0..3).map(|_| begin()).collect();
        for number in 0..3 {
            let mut git = waiting.remove(0);
            let mut stdin = git.stdin.take().unwrap();
            let input = format!("start\0create refs/edio/{number}\0{oid}\0commit\0");
            stdin.write_all(input.as_bytes()).unwrap();
            drop(stdin);
            let ended = git.wait_with_output().unwrap();
            assert_eq!(text(&ended.stdout), "start: ok\ncommit: ok\n", "{format}");
        }
    }
}

#[test]
fn a_commit_that_is_made_by_hand_is_what_commit_tree_makes() {
    let repo = Repo::with(&[("a", "a\n")]);
    let tree = repo.git(["rev-parse", "HEAD^{tree}"]);
    let head = repo.git(["rev-parse", "HEAD"]);
    let message = "ä\n\nmore\n\nEdio-Turn: 1\n";
    let mut made = git(&repo, &["commit-tree", &tree, "-p", &head, "-F", "-"]);
    for role in ["AUTHOR", "COMMITTER"] {
        made.env(format!("GIT_{role}_NAME"), "edio")
            .env(format!("GIT_{role}_EMAIL"), "edio@localhost")
            .env(format!("GIT_{role}_DATE"), "@1700000000 +0000");
    }
    let made = fed(&mut made, message);
    let by = "edio <edio@localhost> 1700000000 +0000";
    let by_hand = format!("tree {tree}\nparent {head}\nauthor {by}\ncommitter {by}\n\n{message}");
    let words = ["hash-object", "-t", "commit", "-w", "--stdin"];
    let stored = fed(&mut git(&repo, &words), by_hand);
    assert_eq!(text(&made.stdout), text(&stored.stdout));
    assert!(stored.status.success());
    // Nothing is stored where the input never came.
    assert!(!fed(&mut git(&repo, &words), "").status.success());
}

#[test]
fn many_files_become_one_pack_and_are_the_same() {
    let repo = Repo::with(&[("old", "old\n")]);
    let paths: Vec<String> = (0..120).map(|n| format!("d{}/f{n}", n % 7)).collect();
    for (number, path) in paths.iter().enumerate() {
        repo.write(path, format!("{number}\n").repeat(number));
    }
    repo.link("d0/link", "f0");
    repo.chmod("d1/f1", 0o755);
    let tree = |settings: &[&str]| {
        let index = copied_index(&repo);
        let words = ["update-index", "-z", "--add", "--remove", "--stdin"];
        let mut take = git(&repo, settings);
        take.args(words).env("GIT_INDEX_FILE", &index);
        let input = format!("{}\0d0/link\0", paths.join("\0"));
        assert!(fed(&mut take, input).status.success());
        let mut write = git(&repo, &["write-tree"]);
        text(&write.env("GIT_INDEX_FILE", &index).output().unwrap().stdout).to_owned()
    };
    let packed = tree(&["-c", "core.bigFileThreshold=1", "-c", "pack.compression=1"]);
    assert_eq!(repo.packs(), 1);
    assert_eq!(tree(&[]), packed);
    repo.fsck();
}

#[test]
fn what_differs_is_told_without_an_index() {
    let repo = Repo::unborn();
    let before = tree(&repo, &[("a", "a\n"), ("d/b", "b\n")]);
    let after = tree(&repo, &[("a", "a\n"), ("d/b", "c\n")]);
    let words = ["diff-tree", "--stdin", "-r", "-z", "--raw", "--numstat"];
    let mut differ = git(&repo, &words);
    differ.env("GIT_INDEX_FILE", repo.path(".git/edio/no-index"));
    let said = fed(&mut differ, format!("{before} {after}\n"));
    let said = text(&said.stdout);
    assert!(
        said.starts_with(&format!("{before} {after}\n:100644 100644 ")),
        "{said:?}"
    );
    assert!(said.ends_with(" M\0d/b\x001\t1\td/b\0"), "{said:?}");
}
