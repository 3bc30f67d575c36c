//! Redaction: what is found, what is left alone, and what `edio redact` says of what is stored.
//!
//! The corpus in `tests/redact/` is made for it. No secret in it is one, and none stands there as a whole.

use std::collections::BTreeMap;
use std::process::Command;

use edio::history::redact::Redactor;
use proptest::prelude::*;
use serde_json::json;

use crate::common::{Repo, fed};

/// How many times each case is drawn, each time with other random characters.
const DRAWS: u64 = 40;

/// The least share of secrets that is found, and of cases without one that are left alone.
const RECALL: f64 = 0.99;
const PRECISION: f64 = 0.995;

struct Case {
    name: String,
    text: String,
    secrets: Vec<String>,
}

/// Random numbers that are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % sides as u64) as usize
    }

    fn draw(&mut self, alphabet: &str, length: usize) -> String {
        let alphabet = alphabet.as_bytes();
        (0..length)
            .map(|_| char::from(alphabet[self.roll(alphabet.len())]))
            .collect()
    }
}

/// What stands between braces: `b62:36`, or `w:` and a text that stays.
fn filled(hole: &str, dice: &mut Dice) -> Option<String> {
    const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
    const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const DIGITS: &str = "0123456789";
    let (kind, rest) = hole.split_once(':')?;
    let alphabet = match kind {
        "w" => return Some(rest.to_owned()),
        "hex" => "0123456789abcdef".to_owned(),
        "num" => DIGITS.to_owned(),
        "low" => [LOWER, DIGITS].concat(),
        "upper" => [UPPER, DIGITS].concat(),
        "abc" => [LOWER, UPPER].concat(),
        "b62" => [LOWER, UPPER, DIGITS].concat(),
        "b64" => [LOWER, UPPER, DIGITS, "+/"].concat(),
        "url" => [LOWER, UPPER, DIGITS, "-_"].concat(),
        _ => return None,
    };
    Some(dice.draw(&alphabet, rest.parse().ok()?))
}

fn cases(corpus: &str, draw: u64) -> Vec<Case> {
    let lines = corpus.lines().filter(|line| !line.starts_with('#'));
    let lines = lines.filter(|line| !line.is_empty());
    lines
        .enumerate()
        .map(|(at, line)| case(line, draw * 10_000 + at as u64))
        .collect()
}

fn case(line: &str, seed: u64) -> Case {
    let (name, text) = line.split_once(' ').unwrap();
    let mut dice = Dice(seed);
    let mut filled_in = String::new();
    let mut rest = text.trim_start();
    while let Some((before, after)) = rest.split_once('{') {
        filled_in.push_str(before);
        let hole = after
            .split_once('}')
            .and_then(|(hole, rest)| Some((filled(hole, &mut dice)?, rest)));
        rest = match hole {
            Some((text, rest)) => {
                filled_in.push_str(&text);
                rest
            }
            None => {
                filled_in.push('{');
                after
            }
        };
    }
    filled_in.push_str(rest);
    let marked = filled_in.replace('⏎', "\n");
    let secrets = marked.split('«').skip(1);
    Case {
        name: name.to_owned(),
        secrets: secrets
            .map(|rest| rest.split_once('»').unwrap().0.trim_end().to_owned())
            .collect(),
        text: marked.replace(['«', '»'], ""),
    }
}

impl Case {
    /// What of its secrets is still there.
    fn leaked(&self, redacted: &str) -> Option<String> {
        let half = |secret: &str| {
            let at = (0..=secret.len() / 2)
                .rev()
                .find(|at| secret.is_char_boundary(*at))
                .unwrap();
            match secret.len() {
                0..12 => [secret.to_owned(), secret.to_owned()],
                _ => [secret[..at].to_owned(), secret[at..].to_owned()],
            }
        };
        let mut pieces = self.secrets.iter().flat_map(|secret| half(secret));
        pieces.find(|piece| redacted.contains(piece.as_str()))
    }
}

#[test]
fn what_is_secret_is_found() {
    let redactor = Redactor::new(&[]).unwrap();
    let (mut found, mut all) = (0, 0);
    let mut missed = BTreeMap::<String, (u64, String)>::new();
    for draw in 0..DRAWS {
        for case in cases(include_str!("redact/true.txt"), draw) {
            assert!(!case.secrets.is_empty(), "{}: nothing is marked", case.name);
            let redacted = redactor.text(&case.text);
            all += 1;
            match case.leaked(&redacted) {
                None => found += 1,
                Some(_) => missed.entry(case.name).or_insert((0, redacted)).0 += 1,
            }
        }
    }
    let recall = f64::from(found) / f64::from(all);
    assert!(
        recall >= RECALL,
        "recall {recall:.4} of {all} ({DRAWS} draws); missed: {missed:#?}"
    );
}

#[test]
fn what_is_no_secret_is_left_alone() {
    let redactor = Redactor::new(&[]).unwrap();
    let (mut left, mut all) = (0, 0);
    let mut wrong = BTreeMap::<String, (u64, String)>::new();
    for draw in 0..DRAWS {
        for case in cases(include_str!("redact/false.txt"), draw) {
            let redacted = redactor.text(&case.text);
            all += 1;
            match redacted == case.text {
                true => left += 1,
                false => wrong.entry(case.name).or_insert((0, redacted)).0 += 1,
            }
        }
    }
    let share = f64::from(left) / f64::from(all);
    assert!(
        share >= PRECISION,
        "left alone {share:.4} of {all} ({DRAWS} draws); wrong: {wrong:#?}"
    );
}

#[test]
fn what_stands_around_a_secret_stays() {
    let redactor = Redactor::new(&[]).unwrap();
    let mut wrong = Vec::new();
    for case in cases(include_str!("redact/true.txt"), 0) {
        let redacted = redactor.text(&case.text);
        let mut outside = case.text.clone();
        for secret in &case.secrets {
            outside = outside.replacen(secret.as_str(), "\0", 1);
        }
        let pieces = outside.split('\0').filter(|piece| !piece.trim().is_empty());
        if pieces.into_iter().any(|piece| !redacted.contains(piece)) {
            wrong.push(format!("{}: {redacted}", case.name));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} too much:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn json_keeps_its_keys_and_its_structure() {
    let redactor = Redactor::new(&[]).unwrap();
    let token = format!("ghp_{}", Dice(1).draw("abcdefghijk0123456789", 36));
    let value = json!({
        "command": format!("curl -H 'Authorization: token {token}'"),
        "password": "letmein", "apiKey": "", "tokens": 12, "max_tokens": "many", "token": null,
        "credentials": ["one two", {"user": "me"}],
        "env": [{"name": "DB_PASSWORD", "value": "letmein"}, {"name": "HOME", "value": "/root"}],
    });
    let redacted = redactor.json(&value);
    assert_eq!(
        redacted,
        json!({
            "command": "curl -H 'Authorization: token [redacted: github token]'",
            "password": "[redacted: secret value]", "apiKey": "", "tokens": 12, "max_tokens": "many", "token": null,
            "credentials": ["[redacted: secret value]", {"user": "me"}],
            "env": [{"name": "DB_PASSWORD", "value": "[redacted: secret value]"}, {"name": "HOME", "value": "/root"}],
        })
    );
    assert_eq!(redactor.json(&redacted), redacted);
}

#[test]
fn own_patterns_count_and_wrong_ones_are_named() {
    let own = ["ACME-[0-9]{4}".to_owned(), "(".to_owned()];
    let error = Redactor::new(&own).err().unwrap();
    assert_eq!(
        error.to_string(),
        "edio.redact has \"(\", which is no regular expression"
    );
    assert_eq!(
        error.hints(),
        ["git config --unset --fixed-value edio.redact '('"]
    );
    let (redactor, errors) = Redactor::lenient(&own);
    assert_eq!(errors.len(), 1);
    assert_eq!(
        redactor.text("see ACME-1234."),
        "see [redacted: own pattern]."
    );
    // What a pattern may match never reaches into what is redacted already.
    let redactor = Redactor::new(&[".*".to_owned()]).unwrap();
    assert_eq!(
        redactor.text("a\nb"),
        "[redacted: own pattern]\n[redacted: own pattern]"
    );
}

/// Pieces of what secrets are made of, in whatever order.
fn noise() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        proptest::sample::select(vec![
            "password",
            "TOKEN",
            "api_key",
            "=",
            ": ",
            "\"",
            "'",
            "\\n",
            "\n",
            "Authorization: ",
            "Bearer ",
            "ghp_",
            "sk-",
            "eyJ",
            "://",
            "@",
            "-----BEGIN ",
            "PRIVATE KEY-----",
            "-----END ",
            "[redacted: ",
            "]",
            "secret value",
            "curl -u ",
            "mysql -p",
            "Cookie: ",
            "name: ",
            "value: ",
            " is ",
            "é",
            ".",
            "<",
            "sshpass -p ",
        ])
        .prop_map(str::to_owned),
        "[A-Za-z0-9+/]{1,50}",
        "(?s).{0,4}",
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn redacting_twice_changes_nothing_more(text in noise(), own in "[a-z]{0,2}") {
        let redactor = Redactor::new(&[own]).unwrap();
        let once = redactor.text(&text);
        prop_assert_eq!(&redactor.text(&once), &once);
        prop_assert!(redactor.found(&once).is_empty());
        let found = redactor.found(&text);
        prop_assert!(found.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
        prop_assert!(found.iter().all(|finding| text.get(finding.range.clone()).is_some_and(|text| !text.is_empty())));
    }
}

/// A repository whose turn 1 has a password in its message, and one in a file.
fn with_secrets() -> Repo {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.write("conf.env", "DB_PASSWORD=fr0mTheFile99\n");
    repo.edio(["snapshot", "-m", "deploy with --password hunter2-is-long"])
        .ok();
    repo
}

#[test]
fn what_is_stored_is_looked_through() {
    let repo = with_secrets();
    let ran = repo.edio(["redact", "--check"]);
    assert_eq!(
        ran.fails(1).stdout,
        "turn 1, message: secret value (hun…, 15 characters)\n"
    );
    assert!(
        ran.stderr.contains("edio gc -d 0") && !ran.stderr.contains("hunter2"),
        "{ran}"
    );
    let ran = repo.edio(["redact", "--check", "--files", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran}");
    let records = ran.json();
    let session = &repo.sessions("active")[0];
    assert_eq!(
        records,
        [
            json!({"v": 1, "session": session, "turn": 1, "place": "message", "path": null, "kind": "secret value",
                "start": "hun", "length": 15}),
            json!({"v": 1, "session": null, "turn": null, "place": "file", "path": "conf.env", "kind": "secret value",
                "start": "fr0", "length": 13}),
        ]
    );
    repo.edio(["forget", "-f", "conf.env", "--yes"]).ok();
    let ran = repo.edio(["redact", "--check", "--files"]);
    assert!(!ran.fails(1).stdout.contains("conf.env"), "{ran}");
}

/// What a person says themselves is kept to the letter, wherever they say it, and is found there.
#[test]
fn a_persons_own_words_are_kept_to_the_letter_and_found() {
    let token = ["ghp_", "b7XqLr2ZkT9vWm4YsN8cPd6HjF3gQa1EoU5t"].concat();
    let words = format!("take {token}\n\nand this: {token}");
    let repo = Repo::with(&[("a", "base\n")]);
    repo.write("a", "1\n");
    repo.edio(["snapshot", "-m", &words]).ok();
    repo.edio(["run", "--", "sh", "-c", &format!("echo 2 > a; : {token}")])
        .ok();
    repo.edio(["revert", "1"]).fails(3);
    repo.edio(["revert", "2"]).ok();
    let log = repo.edio(["log", "--json"]).ok().json();
    assert_eq!(log[2]["message"], words.as_str());
    let found = |words: &[&str]| -> Vec<String> {
        let ran = repo.edio([&["redact", "--check"], words].concat());
        assert!(
            !ran.fails(1).stdout.contains(&token) && !ran.stderr.contains(&token),
            "{ran}"
        );
        ran.stdout.lines().map(str::to_owned).collect()
    };
    let of = |turn: &str| format!("{turn}, message: github token (ghp_…, 40 characters)");
    let expected = [of("turn 1"), of("turn 1"), of("turn 2"), of("turn 3")];
    assert_eq!(found(&[]), expected);
    // The words of an accept are kept with it, too, so that it can be done again.
    repo.edio(["accept", "-m", &words]).ok();
    let all = found(&["--all-sessions"]);
    assert!(
        all[..4] == expected || all[all.len() - 4..] == expected,
        "{all:?}"
    );
    assert!(all.contains(&of("operation")), "{all:?}");
    let id = repo.sessions("archive").remove(0);
    assert_eq!(found(&["--session", &id]), all);
    let record = repo
        .edio(["redact", "--check", "--session", &id, "--json"])
        .json()
        .remove(0);
    assert_eq!(
        (&record["place"], &record["kind"]),
        (&json!("message"), &json!("github token"))
    );
}

/// The first line of what an agent is told is the message of its turn: that is no message that the person gives.
#[test]
fn a_message_that_comes_of_a_prompt_has_no_secret() {
    let token = ["ghp_", "b7XqLr2ZkT9vWm4YsN8cPd6HjF3gQa1EoU5t"].concat();
    let repo = Repo::with(&[("a", "base\n")]);
    for event in ["UserPromptSubmit", "Stop"] {
        repo.claude_says(event, json!({"prompt": format!("use {token}")}));
        repo.write("a", "1\n");
    }
    let log = repo.edio(["log", "--json"]).ok().json();
    assert_eq!(log[0]["message"], "use [redacted: github token]");
    repo.edio(["redact", "--check"]).ok();
}

#[test]
fn the_advice_on_texts_helps() {
    let repo = with_secrets();
    repo.edio(["sessions", "--close"]).ok();
    repo.edio(["redact", "--check", "--all-sessions"]).fails(1);
    repo.edio_later(1, ["gc", "-d", "0"]).ok();
    let ran = repo.edio(["redact", "--check", "--all-sessions"]);
    assert!(
        ran.ok().stderr.contains("nothing that looks like a secret"),
        "{ran}"
    );
    assert_eq!(ran.stdout, "");
}

#[test]
fn what_stands_beside_a_turn_is_looked_through() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.write("a", "x\n");
    repo.edio(["snapshot", "-m", "one"]).ok();
    let session = repo.sessions("active").remove(0);
    let git = |words: &[&str], input: &str| {
        let mut command = Command::new("git");
        repo.surround(&mut command);
        let output = fed(command.current_dir(&repo.top).args(words), input);
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let said = git(
        &["hash-object", "-w", "--stdin"],
        "{\"password\": \"hunter2!\"}\n",
    );
    let tree = git(
        &["mktree"],
        &format!("100644 blob {said}\tconversation\n100644 blob {said}\traw-ids\n"),
    );
    let message = format!("side\n\nEdio-Session: {session}\nEdio-Version: 1\n");
    let commit = git(
        &[
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "commit-tree",
            &tree,
        ],
        &message,
    );
    repo.git([
        "update-ref",
        &format!("refs/edio/active/{session}/side"),
        &commit,
    ]);
    let ran = repo.edio(["redact", "--check"]);
    assert_eq!(
        ran.fails(1).stdout,
        "beside a turn, conversation: secret value (hu…, 8 characters)\n"
    );
}

#[test]
fn redact_says_what_is_wrong() {
    let repo = with_secrets();
    repo.git(["config", "edio.redact", "hunter2-[a-z-]+"]);
    let ran = repo.edio(["redact", "--check"]);
    assert!(
        ran.fails(1).stdout.contains("turn 1, message: own pattern"),
        "{ran}"
    );
    repo.git(["config", "edio.redact", "["]);
    let ran = repo.edio(["redact", "--check"]);
    assert!(
        ran.fails(2).stderr.contains("edio.redact has \"[\""),
        "{ran}"
    );
    repo.git(["config", "--unset", "edio.redact"]);
    repo.edio(["redact"]).fails(2);
    let id = repo.sessions("active").remove(0);
    repo.edio(["redact", "--check", "--all-sessions", "--session", &id])
        .fails(2);
    let nowhere = tempfile::tempdir().unwrap();
    repo.edio_in(nowhere.path(), ["redact", "--check"]).fails(4);
    let clean = Repo::with(&[("a", "base\n")]);
    assert!(
        clean
            .edio(["redact", "--check"])
            .fails(1)
            .stderr
            .contains("no session")
    );
}
