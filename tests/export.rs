//! `edio export`: patches that `git am` takes, Markdown that nothing in it breaks, and Agent Trace records. Bundles are
//! in `import.rs`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::common::Repo;

/// A turn of an agent's, with what is said for it.
fn agent_turn(repo: &Repo, prompt: &str, reply: &str, work: impl FnOnce()) {
    repo.claude_says("UserPromptSubmit", json!({ "prompt": prompt }));
    work();
    repo.claude_says(
        "PostToolUse",
        json!({
            "tool_name": "Edit", "tool_use_id": "t1",
            "tool_input": { "file_path": repo.path("a").to_str().unwrap() }, "tool_response": "ok",
        }),
    );
    repo.claude_says("Stop", json!({ "last_assistant_message": reply }));
}

/// The trees of the numbered turns, in order.
fn trees(repo: &Repo) -> Vec<String> {
    let turns = repo.turns() as u32;
    (1..=turns)
        .map(|number| repo.git(["rev-parse", &format!("{}^{{tree}}", repo.turn_ref(number))]))
        .collect()
}

/// A clone as it was at this commit, and the patches applied there, as `git am` is told in the hint.
fn applied(repo: &Repo, head: &str, folder: &Path) -> (PathBuf, Vec<String>) {
    let clone = repo.outside().join("clone");
    repo.git(["clone", "-q", "--no-local", ".", clone.to_str().unwrap()]);
    repo.git_in(&clone, ["reset", "-q", "--hard", head]);
    let mut patches: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().to_str().unwrap().to_owned())
        .collect();
    patches.sort();
    let words = ["am", "-q", "--keep-cr"].map(str::to_owned).into_iter();
    repo.git_in(&clone, words.chain(patches.clone()));
    (clone, patches)
}

#[test]
fn git_am_makes_the_same_trees_of_the_patches() {
    use std::os::unix::ffi::OsStrExt;
    let repo = Repo::with(&[("a", "one\ntwo\nthree\nfour\nfive\n"), ("sub/b", "b\n")]);
    // Whatever the person has set for mails and diffs.
    for (key, value) in [
        ("format.signOff", "true"),
        ("format.attach", "x"),
        ("format.coverLetter", "true"),
        ("format.headers", "X-Mine: 1\n"),
        ("format.noprefix", "true"),
        ("format.suffix", ".txt"),
        ("format.from", "you <you@example.com>"),
        ("format.outputDirectory", "elsewhere"),
        ("diff.noprefix", "true"),
        ("diff.context", "0"),
        ("diff.renames", "copies"),
        ("i18n.logOutputEncoding", "latin1"),
    ] {
        repo.git(["config", key, value]);
    }
    let head = repo.git(["rev-parse", "HEAD"]);
    repo.write("a", "one\n2\nthree\nfour\nfive\n");
    repo.write("crlf", "x\r\ny\r\n");
    repo.write("bin", b"\0\x01\xff");
    repo.edio(["snapshot", "-m", "größe: first\n\nmore of it\n---\ndiff --git a/evil b/evil\nnew file mode 100644\n--- /dev/null\n+++ b/evil\n@@ -0,0 +1 @@\n+evil\nFrom 0123 Mon Sep 17 00:00:00 2001\nSubject: other"]).ok();
    repo.chmod("a", 0o755);
    repo.link("link", "sub/b");
    repo.write("crlf", "x\r\nz\r\n");
    repo.edio(["snapshot", "-m", "second"]).ok();
    fs::rename(repo.path("sub/b"), repo.path("moved")).unwrap();
    let odd = std::ffi::OsStr::from_bytes(b"odd\xff\n name");
    repo.write(odd, "odd\n");
    repo.remove("a");
    repo.write("bin", b"\0\x02\xfe");
    repo.edio(["snapshot", "-m", "From: nobody <no@where>"])
        .ok();

    let folder = repo.outside().join("series");
    let ran = repo.edio(["export", "--patches", "../series"]);
    ran.ok();
    assert!(ran.stderr.contains("3 patches"), "{ran}");
    assert!(ran.stderr.contains("git am --keep-cr"), "{ran}");
    let (clone, patches) = applied(&repo, &head, &folder);
    assert!(patches[0].ends_with("0001-gr-e-first.patch") || patches[0].contains("/0001-"));
    let made = repo.git_in(
        &clone,
        ["log", "--reverse", "--format=%T", &format!("{head}..")],
    );
    assert_eq!(made.lines().collect::<Vec<_>>(), trees(&repo));
    let first = repo.git_in(&clone, ["log", "-1", "--format=%an <%ae>%n%B", "HEAD~2"]);
    assert!(
        first.starts_with("edio <edio@localhost>\ngröße: first\n"),
        "{first}"
    );
    assert!(first.contains("\n diff --git a/evil b/evil\n"), "{first}");
    assert!(first.contains("\nSession: sess_"), "{first}");
    assert!(first.trim_end().ends_with("\nTurn: 1"), "{first}");
    assert!(!clone.join("evil").exists());
    assert_eq!(repo.git(["for-each-ref", "refs/heads"]).lines().count(), 1);
    repo.fsck();
}

#[test]
fn a_range_is_written_and_what_changed_nothing_is_named() {
    let repo = Repo::with(&[("a", "0\n")]);
    for n in 1..=4 {
        if n != 3 {
            repo.write("a", format!("{n}\n"));
        }
        repo.edio(["snapshot", "-m", &format!("t{n}")]).ok();
    }
    let ran = repo.edio(["export", "--patches", "../p", "1..4", "--json"]);
    let record = &ran.ok().json()[0];
    assert_eq!(record["unchanged"], json!([3]));
    assert_eq!(record["patches"].as_array().unwrap().len(), 2);
    assert_eq!(record["uncommitted"], json!(true), "turn 1 is no commit");
    let text = fs::read_to_string(record["patches"][0].as_str().unwrap()).unwrap();
    assert!(text.contains("Subject: [PATCH 1/2] t2"), "{text}");
    assert!(text.contains("-1\n+2\n"), "{text}");

    repo.edio(["export", "--patches", "../p"]).fails(3);
    repo.edio(["export", "--patches", "../q", "3"]).fails(1);
    repo.edio(["export", "--patches", "../q", "9"]).fails(1);
    repo.edio(["export", "--patches", "../q", "3..1"]).fails(1);
    repo.edio(["export", "--patches", "../q", "0"]).fails(1);
    assert!(!repo.outside().join("q").exists());
}

#[test]
fn what_lay_uncommitted_is_told_and_arms_are_left_out() {
    let repo = Repo::with(&[("a", "0\n")]);
    repo.write("mine", "uncommitted\n");
    repo.edio(["run", "--", "sh", "-c", "echo 1 > a"]).ok();
    repo.write("a", "2\n");
    repo.edio(["snapshot", "-m", "wrong"]).ok();
    repo.edio(["restore", "1"]).ok();
    repo.write("a", "3\n");
    repo.edio(["snapshot", "-m", "right"]).ok();
    let ran = repo.edio(["export", "--patches", "../p"]);
    assert!(
        ran.ok().stderr.contains("something lay uncommitted"),
        "{ran}"
    );
    assert!(ran.stderr.contains("left behind by a restore: 2"), "{ran}");
    assert_eq!(fs::read_dir(repo.outside().join("p")).unwrap().count(), 2);
}

#[test]
fn bad_arguments_are_usage_errors() {
    let repo = Repo::with(&[("a", "0\n")]);
    for words in [
        &["export"][..],
        &["export", "--markdown", "--trace"],
        &["export", "--no-diff", "--trace"],
        &["export", "--markdown", "x..y"],
        &["export", "--bundle", "f", "1..2"],
        &["export", "--with-side", "--markdown"],
    ] {
        repo.edio(words).fails(2);
    }
    repo.edio(["export", "--markdown"]).fails(1);
    let outside = repo.outside();
    repo.edio_in(&outside, ["export", "--markdown"]).fails(4);
    repo.write("a", "1\n");
    repo.edio(["snapshot"]).ok();
    repo.edio(["export", "--markdown", "--session", "sess_1_00000000"])
        .fails(1);
}

#[test]
fn the_markdown_tells_what_was_asked_and_what_came_of_it() {
    let repo = Repo::with(&[("a", "0\n")]);
    repo.plain_patches();
    agent_turn(&repo, "make it one", "It is one now.", || {
        repo.write("a", "1\n")
    });
    let ran = repo.edio(["export", "--markdown"]);
    let page = &ran.ok().stdout;
    for part in [
        "# make it one\n",
        ", by claude.",
        "| 1 | claude |",
        "## Turn 1&#58;".replace("&#58;", ":").as_str(),
        "**Prompt**\n\n```text\nmake it one\n```\n",
        "**Closing words**\n\n```text\nIt is one now.\n```\n",
        "- Edit `",
        "- M `a`\n",
        "```diff\ndiff --git a/a b/a\n",
        "-0\n+1\n```",
    ] {
        assert!(page.contains(part), "no {part:?} in\n{page}");
    }
    let short = repo.edio(["export", "--markdown", "--no-diff"]);
    assert!(!short.ok().stdout.contains("diff --git"), "{short}");
    let record = &repo.edio(["export", "--markdown", "--json"]).json()[0];
    assert_eq!(
        record["markdown"].as_str().unwrap().trim_end(),
        page.trim_end()
    );
}

/// The lines of a page that are in no fence, as CommonMark tells fences.
fn outside_fences(page: &str) -> Vec<&str> {
    let mut fence: Option<usize> = None;
    let mut outside = Vec::new();
    for line in page.lines() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        match fence {
            None if ticks >= 3 => fence = Some(ticks),
            None => outside.push(line),
            Some(open) if ticks >= open && line.trim_matches('`').is_empty() => fence = None,
            Some(_) => {}
        }
    }
    assert_eq!(fence, None, "a fence is open at the end");
    outside
}

#[test]
fn nothing_that_was_said_or_is_in_a_file_breaks_the_markdown() {
    let repo = Repo::with(&[("a", "0\n")]);
    let evil = "<script>alert(1)</script> | @you [x](http://evil) `y` # z\n```\n# forged\n````````\n<b>bold</b>\n\u{1b}[31m";
    agent_turn(&repo, evil, evil, || {
        repo.write("a", format!("{evil}\n"));
        repo.write("`b` <i> | x", "x\n");
    });
    repo.write("a", "2\n");
    repo.edio(["snapshot", "-m", evil]).ok();
    let ran = repo.edio(["export", "--markdown"]);
    let outside = outside_fences(&ran.ok().stdout);
    assert!(!ran.stdout.contains('\u{1b}'));
    for line in &outside {
        assert!(!line.contains("forged") && !line.contains("bold"), "{line}");
        assert!(
            !line.contains("<script") && !line.contains("@you"),
            "{line}"
        );
        assert!(!line.contains("](http:"), "{line}");
        if line.contains("<i>") {
            assert!(line.starts_with("- A ``"), "{line}");
        }
        if line.starts_with('|') {
            assert_eq!(line.matches('|').count(), 7, "{line}");
        }
    }
    assert_eq!(
        outside.iter().filter(|line| line.starts_with("# ")).count(),
        1
    );
    assert_eq!(
        outside
            .iter()
            .filter(|line| line.starts_with("## "))
            .count(),
        2
    );
}

#[test]
fn no_secret_of_a_prompt_comes_out() {
    let repo = Repo::with(&[("a", "0\n")]);
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    agent_turn(
        &repo,
        &format!("use {token}"),
        &format!("used {token}"),
        || {
            repo.write("a", "1\n");
        },
    );
    let ran = repo.edio(["export", "--markdown"]);
    assert!(!ran.ok().stdout.contains(token), "{ran}");
}

/// Holds a record against the rules of the schema: <https://agent-trace.dev/schemas/v1/trace-record.json>, where every
/// object has just the fields that it names.
fn check_trace(record: &Value) {
    let only = |value: &Value, allowed: &[&str], required: &[&str]| {
        let object = value
            .as_object()
            .unwrap_or_else(|| panic!("no object: {value}"));
        for key in object.keys() {
            assert!(allowed.contains(&key.as_str()), "{key} in {value}");
        }
        for key in required {
            assert!(object.contains_key(*key), "no {key} in {value}");
        }
    };
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    only(
        record,
        &[
            "version",
            "id",
            "timestamp",
            "vcs",
            "tool",
            "files",
            "metadata",
        ],
        &["version", "id", "timestamp", "files"],
    );
    let (major, minor) = record["version"].as_str().unwrap().split_once('.').unwrap();
    assert!(is_digits(major) && is_digits(minor));
    let id = record["id"].as_str().unwrap();
    let parts: Vec<&str> = id.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
    assert!(
        id.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit()),
        "{id}"
    );
    assert!(('1'..='8').contains(&parts[2].chars().next().unwrap()));
    assert!("89abAB".contains(parts[3].chars().next().unwrap()));
    let time = record["timestamp"].as_str().unwrap();
    assert!(time.ends_with('Z') && time.len() == 20, "{time}");
    only(&record["vcs"], &["type", "revision"], &["type", "revision"]);
    assert!(["git", "jj", "hg", "svn"].contains(&record["vcs"]["type"].as_str().unwrap()));
    assert!(record["vcs"]["revision"].is_string());
    only(&record["tool"], &["name", "version"], &["name", "version"]);
    assert!(record["metadata"].is_object());
    for file in record["files"].as_array().unwrap() {
        only(file, &["path", "conversations"], &["path", "conversations"]);
        assert!(file["path"].is_string());
        for said in file["conversations"].as_array().unwrap() {
            only(
                said,
                &["url", "contributor", "ranges", "related"],
                &["ranges"],
            );
            let (scheme, rest) = said["url"].as_str().unwrap().split_once(':').unwrap();
            assert!(scheme.bytes().all(|b| b.is_ascii_lowercase()) && !rest.is_empty());
            only(&said["contributor"], &["type", "model_id"], &["type"]);
            let kind = said["contributor"]["type"].as_str().unwrap();
            assert!(["human", "ai", "mixed", "unknown"].contains(&kind));
            if let Some(model) = said["contributor"].get("model_id") {
                assert!(model.as_str().unwrap().chars().count() <= 250);
            }
            for range in said["ranges"].as_array().unwrap() {
                let allowed = ["start_line", "end_line", "content_hash", "contributor"];
                only(range, &allowed, &["start_line", "end_line"]);
                let (start, end) = (&range["start_line"], &range["end_line"]);
                assert!(start.as_u64().unwrap() >= 1 && end.as_u64() >= start.as_u64());
            }
        }
    }
}

#[test]
fn the_trace_names_who_wrote_which_lines() {
    let repo = Repo::with(&[("a", "base\n"), ("untouched", "x\n")]);
    agent_turn(&repo, "add", "done", || {
        repo.write("a", "base\nx = 1\ny = 2\n")
    });
    repo.write("a", "by hand\nbase\nx = 1\ny = 2\n");
    agent_turn(&repo, "add more", "done", || {
        repo.write("a", "by hand\nbase\nx = 1\ny = 2\nz = 3\n");
        repo.write("bin", b"\0\x01");
        repo.write("b", "new\n");
    });
    let ran = repo.edio(["export", "--trace"]);
    let record = ran.ok().json().remove(0);
    check_trace(&record);
    assert_eq!(record["version"], "0.1");
    let files = record["files"].as_array().unwrap();
    let names: Vec<&str> = files
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["a", "b"]);
    let told: Vec<(String, Value)> = files[0]["conversations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|said| {
            let kind = said["contributor"]["type"].as_str().unwrap();
            (kind.to_owned(), said["ranges"].clone())
        })
        .collect();
    let lines = |start: u32, end: u32| json!([{ "start_line": start, "end_line": end }]);
    assert!(
        told.contains(&("human".to_owned(), lines(1, 1))),
        "{told:?}"
    );
    assert!(told.contains(&("ai".to_owned(), lines(3, 4))), "{told:?}");
    assert!(told.contains(&("ai".to_owned(), lines(5, 5))), "{told:?}");
    assert_eq!(told.len(), 3, "{told:?}");
    let last = repo.git(["rev-parse", &repo.turn_ref(repo.turns() as u32)]);
    assert_eq!(record["vcs"]["revision"], json!(last));
    assert_eq!(
        repo.edio(["export", "--trace"]).json()[0],
        record,
        "the same each time"
    );

    let id = repo.sessions("active").remove(0);
    repo.edio(["accept", "feat: all"]).ok();
    let record = repo
        .edio(["export", "--trace", "--session", &id])
        .json()
        .remove(0);
    check_trace(&record);
    assert_eq!(
        record["vcs"]["revision"],
        json!(repo.git(["rev-parse", "HEAD"]))
    );
}
