//! `edio log` as a search: by text, by what was removed, by agent, by time, by path under whatever name; and each together
//! with another.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;

use serde_json::json;

use crate::common::{NOW, Repo, fed, payload};

/// The messages of the turns that are found, the newest first.
fn found<W: AsRef<OsStr>>(repo: &Repo, words: impl IntoIterator<Item = W>) -> Vec<String> {
    let mut all: Vec<OsString> = vec!["log".into(), "--json".into()];
    all.extend(words.into_iter().map(|word| word.as_ref().to_owned()));
    let ran = repo.edio(all);
    let records = ran.ok().json();
    let message = |record: &serde_json::Value| record["message"].as_str().unwrap().to_owned();
    records.iter().map(message).collect()
}

fn turn(repo: &Repo, path: &str, content: &str, message: &str) {
    repo.write(path, content);
    repo.edio(["snapshot", "-m", message]).ok();
}

/// A turn of an agent's, so many seconds later, which writes this.
fn by(repo: &Repo, agent: &str, later: i64, path: &str, content: &str, message: &str) {
    let events = match agent {
        "gemini" => ["BeforeAgent", "AfterAgent"],
        _ => ["UserPromptSubmit", "Stop"],
    };
    for (event, writes) in events.into_iter().zip([false, true]) {
        if writes {
            repo.write(path, content);
        }
        let payload = payload(agent, &repo.top, event, json!({"prompt": message}));
        let mut hook = repo.command(["hook", agent]);
        hook.env("EDIO_NOW", (NOW + later).to_string());
        assert!(fed(&mut hook, payload.to_string()).status.success());
    }
}

#[test]
fn a_text_is_found_where_it_came_went_or_became_more() {
    let repo = Repo::with(&[("a", "base\n"), ("b", "base\n")]);
    turn(&repo, "a", "base\nneedle\n", "it comes");
    turn(&repo, "a", "base\nneedle\nmore\n", "beside it");
    repo.write("a", "base\nmore\n");
    turn(&repo, "b", "base\nneedle\n", "it moves");
    turn(&repo, "b", "needle needle\n", "it comes again");
    turn(&repo, "b", "needle\n", "one goes");
    repo.remove("b");
    repo.edio(["snapshot", "-m", "all goes"]).ok();
    let all = ["all goes", "one goes", "it comes again", "it comes"];
    assert_eq!(found(&repo, ["-S", "needle"]), all);
    assert_eq!(found(&repo, ["-Sneedle"]), all);
    assert_eq!(found(&repo, ["--deleted", "needle"]), all[..2]);
    assert_eq!(found(&repo, ["--deleted=needle"]), all[..2]);
    assert_eq!(found(&repo, ["-S", "Needle"]), [""; 0]);
    assert_eq!(found(&repo, ["--deleted", "more"]), [""; 0]);
    let both = ["-S", "needle", "--deleted", "base"];
    assert_eq!(found(&repo, both), ["it comes again"]);
    // As text, and where there is none.
    let ran = repo.edio(["log", "--deleted", "needle"]);
    let lines: Vec<&str> = ran.ok().stdout.lines().collect();
    assert!(
        lines.len() == 2 && lines[0].ends_with("all goes") && lines[1].ends_with("one goes"),
        "{ran}"
    );
    let ran = repo.edio(["log", "-S", "haystack"]);
    assert_eq!(ran.ok().stdout, "");
    assert!(ran.stderr.contains("no such turn in sess_"), "{ran}");
}

#[test]
fn a_text_is_taken_to_the_letter() {
    let repo = Repo::with(&[("a", "plain and simple\n")]);
    let texts = [
        ".*",
        "[a-z]+",
        "^x$",
        "\\",
        "*",
        "?",
        ":(top)a",
        ":!a",
        "-S",
        "--deleted",
        "--",
        "-",
        "$(touch trap)",
        "'; touch trap; '",
        "two\nlines",
        "a\ttab",
        "\u{1b}[31mred\u{1b}]0;title\u{7}",
        "ünï",
        " ",
        "%s%n",
    ];
    for (at, text) in texts.iter().enumerate() {
        turn(&repo, "b", &format!("<{text}>"), &format!("has {at}"));
        turn(&repo, "b", "<>", &format!("lost {at}"));
    }
    for (at, text) in texts.iter().enumerate() {
        let expected = [format!("lost {at}"), format!("has {at}")];
        let hits = found(&repo, ["-S", text]);
        let own: Vec<&String> = hits.iter().filter(|hit| expected.contains(hit)).collect();
        assert_eq!(own, expected.iter().collect::<Vec<_>>(), "{text:?}");
        let is_part = |other: &&&str| other.contains(text);
        let parts = texts.iter().filter(is_part).count();
        assert_eq!(hits.len(), 2 * parts, "{text:?}: {hits:?}");
        let hits = found(&repo, ["--deleted", text]);
        assert!(
            hits.contains(&expected[0]) && hits.len() == parts,
            "{text:?}: {hits:?}"
        );
        // What was searched for is printed nowhere.
        let ran = repo.edio(["log", "-S", text]);
        assert!(!ran.ok().stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'));
    }
    assert!(!repo.has("trap"));
}

#[test]
fn files_that_are_no_text_are_looked_into_too() {
    let repo = Repo::with(&[("a", "base\n")]);
    fs::write(repo.path("bin"), b"\0\xff\xfeneedle\0needle").unwrap();
    repo.edio(["snapshot", "-m", "binary"]).ok();
    repo.remove("bin");
    repo.link("link", "a/needle/b");
    repo.edio(["snapshot", "-m", "link"]).ok();
    assert_eq!(found(&repo, ["-S", "needle"]), ["link", "binary"]);
    assert_eq!(found(&repo, ["--deleted", "needle"]), ["link"]);
}

#[test]
fn by_agent_by_time_and_all_of_it_together() {
    let repo = Repo::with(&[("a", "base\n")]);
    by(&repo, "claude", 10, "a", "one\n", "claude 1");
    by(&repo, "gemini", 20, "a", "one needle\n", "gemini 1");
    by(&repo, "claude", 30, "b", "needle\n", "claude 2");
    by(&repo, "gemini", 40, "b", "gone\n", "gemini 2");
    by(&repo, "claude", 50, "a", "gone\n", "claude 3");
    let since = |later: i64| format!("--since=@{}", NOW + later);
    assert_eq!(
        found(&repo, ["--agent", "gemini"]),
        ["gemini 2", "gemini 1"]
    );
    assert_eq!(found(&repo, ["--agent", "gem"]), [""; 0]);
    assert_eq!(found(&repo, ["--agent=-S"]), [""; 0]);
    assert_eq!(
        found(&repo, [since(30)]),
        ["claude 3", "gemini 2", "claude 2"]
    );
    assert_eq!(found(&repo, [since(51)]), [""; 0]);
    assert_eq!(
        found(&repo, ["--since", "2027-01-15T08:00:40Z"]),
        ["claude 3", "gemini 2"]
    );
    assert_eq!(found(&repo, ["--since", "never"]).len(), 5);
    assert_eq!(found(&repo, ["--since", "now"]), [""; 0]);
    let together: [(&[&str], &[&str]); 7] = [
        (
            &["--agent", "claude", "-S", "needle"],
            &["claude 3", "claude 2"],
        ),
        (&["--agent", "claude", "--deleted", "needle"], &["claude 3"]),
        (&["--agent", "claude", "a"], &["claude 3", "claude 1"]),
        (&["-S", "needle", "a"], &["claude 3", "gemini 1"]),
        (&["--deleted", "needle", "b"], &["gemini 2"]),
        (&["--deleted", "needle", "--agent", "gemini", "a"], &[]),
        (&["-S", "needle", "--deleted", "needle", "a"], &["claude 3"]),
    ];
    for (words, expected) in together {
        assert_eq!(found(&repo, words), expected, "{words:?}");
    }
    let words = ["--agent", "claude", "-S", "needle", "b"].map(str::to_owned);
    let words = words.into_iter().chain([since(20)]);
    assert_eq!(found(&repo, words), ["claude 2"]);
    // With what else log shows.
    repo.plain_patches();
    let ran = repo.edio(["log", "--deleted", "needle", "--agent", "gemini", "-p"]);
    let shown = &ran.ok().stdout;
    assert!(
        shown.contains("gemini 2") && shown.contains("-needle"),
        "{ran}"
    );
    assert!(!shown.contains("claude"), "{ran}");
    let record = &repo
        .edio(["log", "--json", "--calls", "--agent", "gemini"])
        .json()[0];
    assert_eq!(
        (&record["agent"], &record["calls"]),
        (&json!("gemini"), &json!([]))
    );
}

#[test]
fn what_is_no_search_is_said_to_be_none() {
    let repo = Repo::with(&[("a", "base\n")]);
    turn(&repo, "a", "1\n", "one");
    for words in [
        &["-S", ""][..],
        &["--deleted", ""],
        &["--agent", ""],
        &["--since", ""],
        &["--since", "nonsense"],
        &["--since", "\u{1b}]x"],
        &["--graph", "-S", "x"],
        &["--graph", "--deleted", "x"],
        &["--graph", "--agent", "x"],
        &["--graph", "--since", "yesterday"],
    ] {
        let ran = repo.edio([&["log"], words].concat());
        ran.fails(2);
        assert!(
            ran.stdout.is_empty() && !ran.stderr.contains('\u{1b}'),
            "{ran}"
        );
    }
    let ran = repo.edio(["log", "--since", "nonsense"]);
    assert!(ran.stderr.contains("hint: write it as"), "{ran}");
    let ran = repo.edio(["log", "--since", "nonsense", "--json"]);
    let error: serde_json::Value = serde_json::from_str(&ran.fails(2).stderr).unwrap();
    assert!(error["error"].is_object(), "{ran}");
}

#[test]
fn a_path_is_followed_to_the_names_that_it_had() {
    let long: String = (0..40).map(|line| format!("line {line}\n")).collect();
    let repo = Repo::with(&[("other", "x\n")]);
    turn(&repo, "a", &long, "made");
    turn(&repo, "other", "y\n", "beside");
    let edited = |repo: &Repo, old: &str, new: &str, word: &str| {
        let content = repo.read(old) + word + "\n";
        repo.remove(old);
        turn(repo, new, &content, word);
    };
    edited(&repo, "a", "b", "renamed");
    // The name is another file's now.
    turn(&repo, "a", "something else\n", "another a");
    fs::create_dir(repo.path("d")).unwrap();
    edited(&repo, "b", "d/-S", "moved");
    turn(&repo, "d/-S", &(repo.read("d/-S") + "end\n"), "edited");
    let of_it = ["edited", "moved", "renamed", "made"];
    assert_eq!(found(&repo, ["d/-S"]), of_it);
    assert_eq!(found(&repo, ["d"]), of_it);
    assert_eq!(found(&repo, ["--", "d/-S"]), of_it);
    assert_eq!(found(&repo, ["b"]), ["moved", "renamed", "made"]);
    assert_eq!(found(&repo, ["a"]), ["another a", "renamed", "made"]);
    assert_eq!(found(&repo, ["-S", "line 7", "d/-S"]), ["made"]);
    assert_eq!(found(&repo, ["--deleted", "line 7", "d/-S"]), [""; 0]);
    assert_eq!(found(&repo, ["-S", "renamed", "d/-S"]), ["renamed"]);
    let ran = repo.edio_in("d", ["log", "--json", "--", "-S"]);
    assert_eq!(ran.ok().json().len(), 4, "{ran}");
}

#[test]
fn names_that_look_like_something_else_are_names() {
    let repo = Repo::with(&[("plain", "x\n")]);
    let names: [&[u8]; 9] = [
        b"*",
        b":(top)plain",
        b":!plain",
        b"-S",
        b"--deleted",
        b"a\nb",
        b"\x1b[31mred",
        b"\xff\xfe",
        b"sp ace",
    ];
    for name in names {
        fs::write(repo.path(OsStr::from_bytes(name)), format!("{name:?}")).unwrap();
        let message = format!("made {:?}", String::from_utf8_lossy(name));
        repo.edio(["snapshot", "-m", &message]).ok();
        let renamed = [name, b".new"].concat();
        let (old, new) = (OsStr::from_bytes(name), OsStr::from_bytes(&renamed));
        fs::rename(repo.path(old), repo.path(new)).unwrap();
        let moved = format!("moved {:?}", String::from_utf8_lossy(name));
        repo.edio(["snapshot", "-m", &moved]).ok();
        let both = [moved, message];
        assert_eq!(found(&repo, [OsStr::new("--"), new]), both);
        assert_eq!(found(&repo, [OsStr::new("--"), old]), both);
        let ran = repo.edio([OsStr::new("log"), OsStr::new("-p"), OsStr::new("--"), new]);
        assert!(!ran.ok().stdout.contains('\u{1b}'), "{ran}");
    }
    assert_eq!(found(&repo, ["--", "plain"]), [""; 0]);
}

/// What one turn removed and a restore brought back is told of each arm by itself.
#[test]
fn arms_are_searched_by_what_their_turns_did() {
    let repo = Repo::with(&[("a", "base\n")]);
    turn(&repo, "a", "needle\n", "it comes");
    turn(&repo, "a", "gone\n", "it goes");
    repo.edio(["restore", "1"]).ok();
    turn(&repo, "a", "needle\nmore\n", "it stays");
    assert_eq!(found(&repo, ["-S", "needle"]), ["it goes", "it comes"]);
    assert_eq!(found(&repo, ["--deleted", "needle"]), ["it goes"]);
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(found(&repo, ["--all", "--deleted", "needle"]), ["it goes"]);
    let id = repo.sessions("archive").remove(0);
    assert_eq!(found(&repo, ["--session", &id, "-S", "needle"]).len(), 2);
}
