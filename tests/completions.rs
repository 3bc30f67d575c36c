//! Completions and manual pages: what shells and `man` are given.

use std::fs;
use std::process::{Command, Stdio};

use crate::common::{Ran, Repo, edio_binary};

const SHELLS: [&str; 5] = ["bash", "zsh", "fish", "powershell", "elvish"];

/// Is this program installed?
fn is_installed(repo: &Repo, program: &str) -> bool {
    let mut command = Command::new("sh");
    repo.surround(&mut command);
    let found = command
        .args(["-c", "command -v \"$0\"", program])
        .stdout(Stdio::null());
    found.status().unwrap().success()
}

/// The verbs, as the help lists them.
fn verbs(repo: &Repo) -> Vec<String> {
    let help = repo.edio(["--help"]).ok().stdout.clone();
    let commands = help
        .split("Commands:\n")
        .nth(1)
        .unwrap()
        .split("\n\n")
        .next()
        .unwrap();
    let verb = |line: &str| line.trim_start().split(' ').next().unwrap().to_owned();
    let verbs: Vec<String> = commands
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .map(verb)
        .collect();
    assert!(verbs.len() > 10, "{verbs:?}");
    verbs
}

/// What edio offers to fish for this line, whose last word is the one that is typed.
fn offered(repo: &Repo, folder: &str, words: &[&str]) -> Ran {
    let mut command = repo.command([&["--", "edio"], words].concat());
    command
        .current_dir(repo.path(folder))
        .env("COMPLETE", "fish");
    repo.ran(&mut command)
}

/// What is offered that is no flag, each with its help.
fn offers(repo: &Repo, folder: &str, words: &[&str]) -> Vec<(String, String)> {
    let ran = offered(repo, folder, words);
    ran.ok();
    assert_eq!(ran.stderr, "");
    let pair = |line: &str| match line.split_once('\t') {
        Some((value, help)) => (value.to_owned(), help.to_owned()),
        None => (line.to_owned(), String::new()),
    };
    let lines = ran
        .stdout
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('-'));
    lines.map(pair).collect()
}

fn values(repo: &Repo, folder: &str, words: &[&str]) -> Vec<String> {
    offers(repo, folder, words)
        .into_iter()
        .map(|(value, _)| value)
        .collect()
}

fn with_turns() -> Repo {
    let repo = Repo::with(&[("a", "base\n"), ("d/x", "base\n"), ("d/e/f", "base\n")]);
    for (content, message) in [
        ("1\n", "the first"),
        (
            "2\n",
            "it's: \"odd\" $(touch pwned)\u{1b}[31m\ta\nsecond line",
        ),
    ] {
        repo.write("a", content);
        repo.edio(["snapshot", "-m", message]).ok();
    }
    repo
}

#[test]
fn each_script_is_whole_and_its_shell_can_read_it() {
    let repo = Repo::unborn();
    let verbs = verbs(&repo);
    for shell in SHELLS {
        let ran = repo.edio_in(repo.outside().join("home"), ["completions", shell]);
        ran.ok();
        assert_eq!(ran.stderr, "");
        for verb in &verbs {
            assert!(ran.stdout.contains(verb.as_str()), "{shell}: {verb}");
        }
        assert!(ran.stdout.contains("dry-run"), "{shell}");
        let script = repo.outside().join(shell);
        fs::write(&script, &ran.stdout).unwrap();
        if ["bash", "zsh", "fish"].contains(&shell) && is_installed(&repo, shell) {
            let mut check = Command::new(shell);
            repo.surround(&mut check);
            let checked = repo.ran(check.arg("-n").arg(&script));
            checked.ok();
            assert_eq!(checked.stderr, "");
        }
    }
    repo.edio(["completions", "tcsh"]).fails(2);
    repo.edio(["completions"]).fails(2);
}

#[test]
fn turns_are_offered_with_what_they_say() {
    let repo = with_turns();
    let expected = [
        ("@", "the current turn"),
        ("last", "the last turn"),
        ("2", "it's: \"odd\" $(touch pwned)\\x1b[31m\\ta"),
        ("1", "the first"),
    ];
    for words in [
        &["restore", ""][..],
        &["show", ""],
        &["diff", ""],
        &["revert", ""],
        &["accept", "--turn", ""],
        &["exec", ""],
        &["bisect", "--good", ""],
        &["bisect", "--bad", ""],
    ] {
        let found = offers(&repo, ".", words);
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|(value, help)| (value.as_str(), help.as_str()))
            .collect();
        assert_eq!(found, expected, "{words:?}");
    }
    assert_eq!(values(&repo, "d", &["restore", "l"]), ["last"]);
    assert_eq!(values(&repo, ".", &["restore", "1"]), ["1"]);
    assert_eq!(values(&repo, ".", &["restore", "9"]), [""; 0]);
    assert!(!repo.has("pwned"));
}

#[test]
fn the_folder_that_is_meant_is_looked_at() {
    let repo = with_turns();
    let outside = repo.outside().join("home");
    let (top, outside) = (repo.top.to_str().unwrap(), outside.to_str().unwrap());
    let all = ["@", "last", "2", "1"];
    assert_eq!(values(&repo, outside, &["-C", top, "restore", ""]), all);
    assert_eq!(values(&repo, "d", &["restore", "-C..", ""]), all);
    for away in [outside, "/nonexist"] {
        let found = values(&repo, ".", &["-C", away, "restore", ""]);
        assert_eq!(found, [""; 0], "{away}");
    }
}

#[test]
fn sessions_are_offered() {
    let repo = with_turns();
    repo.edio(["accept", "feat"]).ok();
    repo.write("a", "3\n");
    repo.edio_later(60, ["snapshot"]).ok();
    let mut ids = [repo.sessions("archive"), repo.sessions("active")].concat();
    let mut found = values(&repo, ".", &["log", "--session", ""]);
    ids.sort();
    found.sort();
    assert_eq!(found, ids);
    assert_eq!(values(&repo, ".", &["log", "--session", &ids[0]]), ids[..1]);
    // Only what is under way can be put away.
    assert_eq!(
        values(&repo, ".", &["sessions", "--close", ""]),
        repo.sessions("active")
    );
}

#[test]
fn paths_are_offered_folder_by_folder() {
    let repo = with_turns();
    // What is on disk now is another matter.
    repo.write("on disk", "");
    repo.remove("d");
    fs::create_dir(repo.path("d")).unwrap();
    for words in [
        &["restore", "1", "-f"][..],
        &["revert", "1", "--file"],
        &["diff", "1", "-f"],
    ] {
        let of = |folder: &str, typed: &str| values(&repo, folder, &[words, &[typed]].concat());
        assert_eq!(of(".", "d/"), ["d/e/", "d/x"], "{words:?}");
        assert_eq!(of(".", "d/e/"), ["d/e/f"], "{words:?}");
        assert_eq!(of("d", ""), ["e/", "x"], "{words:?}");
        assert_eq!(of("d", "e/"), ["e/f"], "{words:?}");
        assert_eq!(of(".", "d"), ["d/"], "{words:?}");
        assert_eq!(of(".", ""), ["a", "d/"], "{words:?}");
    }
}

#[test]
fn where_there_is_nothing_to_offer_it_is_silent() {
    let repo = with_turns();
    let outside = repo.outside().join("home");
    fs::create_dir(outside.join("bare.git")).unwrap();
    repo.git_in(&outside.join("bare.git"), ["init", "-q", "--bare"]);
    let fresh = Repo::unborn();
    let folders = [outside.clone(), outside.join("bare.git"), fresh.top.clone()];
    for folder in folders.iter().map(|folder| folder.to_str().unwrap()) {
        for words in [
            &["restore", ""][..],
            &["restore", "1", "-f", ""],
            &["log", "--session", ""],
            &["accept", "--turn", ""],
        ] {
            // `values` sees that nothing is said on stderr, and that it succeeds.
            assert_eq!(values(&repo, folder, words), [""; 0], "{folder}: {words:?}");
        }
    }
    // Nor does a look begin anything.
    assert!(!fresh.has(".git/edio"));
    let state = (repo.git_files(), repo.edio_refs());
    offered(&repo, ".", &["restore", ""]).ok();
    assert_eq!((repo.git_files(), repo.edio_refs()), state);
}

#[test]
fn bash_completes_a_line() {
    let repo = with_turns();
    if !is_installed(&repo, "bash") {
        return;
    }
    let folder = edio_binary().parent().unwrap().display();
    let script = format!(
        "PATH={folder}:$PATH; source <(COMPLETE=bash edio) || exit 1\n\
         say() {{ COMP_WORDS=(edio \"$@\"); COMP_CWORD=$#; COMPREPLY=(); _clap_complete_edio edio \"${{@: -1}}\" x 2>&1; echo \"${{COMPREPLY[*]}}\"; }}\n\
         say rest; say restore l; say restore 1 -f d/; say --color a"
    );
    let mut bash = Command::new("bash");
    repo.surround(&mut bash);
    let ran = repo.ran(bash.current_dir(&repo.top).args(["--norc", "-c", &script]));
    ran.ok();
    assert_eq!(
        ran.stdout, "restore\nlast\nd/e/ d/x\nauto always\n",
        "{ran}"
    );
}

#[test]
fn there_is_a_manual_page_for_each_verb() {
    let repo = Repo::unborn();
    let outside = repo.outside().join("home");
    let ran = repo.edio_in(&outside, ["man", "new/man1"]);
    ran.ok();
    assert_eq!(ran.stdout, "");
    let folder = outside.join("new/man1");
    let mut pages: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    let mut expected: Vec<String> = verbs(&repo)
        .iter()
        .map(|verb| format!("edio-{verb}.1"))
        .collect();
    expected.push("edio.1".to_owned());
    expected.sort();
    assert_eq!(pages, expected);
    for page in &pages {
        let text = fs::read_to_string(folder.join(page)).unwrap();
        for part in [".TH edio", ".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION"] {
            assert!(text.contains(part), "{page}: {part}");
        }
        assert!(page == "edio.1" || text.contains("Examples:"), "{page}");
        assert!(!text.contains('\u{1b}'), "{page}");
        if is_installed(&repo, "groff") {
            let mut groff = Command::new("groff");
            repo.surround(&mut groff);
            let ran = repo.ran(groff.args(["-man", "-z", "-ww"]).arg(folder.join(page)));
            ran.ok();
            assert_eq!(ran.stderr, "", "{page}");
        }
    }
    // Again, over what is there; and not where it can't be.
    repo.edio_in(&outside, ["man", "new/man1"]).ok();
    fs::write(outside.join("file"), "").unwrap();
    repo.edio_in(&outside, ["man", "file"]).fails(1);
    repo.edio_in(&outside, ["man"]).fails(2);
}

#[test]
fn the_help_of_each_verb_has_examples() {
    let repo = Repo::unborn();
    for verb in verbs(&repo) {
        let help = repo.edio([verb.as_str(), "--help"]);
        assert!(
            help.ok().stdout.contains("Examples:\n  edio"),
            "{verb}: {help}"
        );
    }
}
