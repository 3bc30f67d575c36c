//! The README, held against the program: its commands run, its tables are true.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{NOW, Repo, edio_binary};

const README: &str = include_str!("../README.md");

/// A row of a table, cell by cell.
type Row = Vec<String>;

/// The part below a heading, up to the next one of any level.
fn section(heading: &str) -> &'static str {
    let start = format!("\n{heading}\n");
    let (_, rest) = README
        .split_once(&start)
        .unwrap_or_else(|| panic!("no {heading:?}"));
    rest.find("\n#").map_or(rest, |end| &rest[..end])
}

/// The rows of each table of a part, without the head.
fn tables(text: &str) -> Vec<Vec<Row>> {
    let mut tables = Vec::new();
    for block in text
        .split("\n\n")
        .filter(|block| block.trim_start().starts_with('|'))
    {
        let row = |line: &str| -> Row {
            let cells = line.trim_matches('|').replace(r"\|", "\0");
            cells
                .split('|')
                .map(|cell| cell.trim().replace('\0', "|"))
                .collect()
        };
        tables.push(block.trim().lines().skip(2).map(row).collect());
    }
    tables
}

/// What stands between backquotes.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The lines of each fenced block of this language.
fn blocks(language: &str) -> Vec<Vec<&'static str>> {
    blocks_of(README, language)
}

fn blocks_of<'a>(page: &'a str, language: &str) -> Vec<Vec<&'a str>> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while lines.by_ref().any(|line| line == format!("```{language}")) {
        blocks.push(lines.by_ref().take_while(|line| *line != "```").collect());
    }
    blocks
}

/// A repository in which the README's commands can be typed: `edio` is in `PATH`.
struct Shell {
    repo: Repo,
    typed: Cell<i64>,
}

impl Shell {
    fn new() -> Self {
        let repo = Repo::with(&[("src/x.rs", "//! x\n")]);
        let programs = repo.outside().join("bin");
        fs::create_dir(&programs).unwrap();
        std::os::unix::fs::symlink(edio_binary(), programs.join("edio")).unwrap();
        let typed = Cell::new(0);
        Self { repo, typed }
    }

    /// Types a line, a second after the one before, which must succeed. Returns what it printed.
    fn types(&self, line: &str) -> String {
        self.typed.set(self.typed.get() + 1);
        let mut path = self.repo.outside().join("bin").into_os_string();
        path.push(":");
        path.push(crate::common::path());
        let mut shell = Command::new("sh");
        self.repo.surround(&mut shell);
        shell
            .current_dir(&self.repo.top)
            .env("PATH", path)
            .env("EDIO_NOW", (NOW + self.typed.get()).to_string())
            .stdin(Stdio::null());
        let ran = self.repo.ran(shell.args(["-c", line]));
        assert_eq!(ran.code, Some(0), "$ {line}\n{ran}");
        ran.stdout
    }
}

#[test]
fn every_command_in_the_readme_works() {
    let shell = Shell::new();
    let blocks = blocks("console");
    assert!(blocks.len() > 5, "only {} blocks were found", blocks.len());
    for line in blocks.into_iter().flatten() {
        let command = command_in(line);
        let printed = shell.types(command);
        if command.contains("--exclude='refs/edio/*' --all") {
            assert_eq!(
                printed.lines().count(),
                2,
                "turns are not hidden:\n{printed}"
            );
        }
    }
    let mirror = shell.repo.path("../mirror.git");
    assert_eq!(
        shell
            .repo
            .git_in(&mirror, ["for-each-ref", "--format=%(refname)"]),
        "refs/heads/main"
    );
    assert_eq!(shell.repo.git(["for-each-ref", "refs/edio"]), "");
    assert!(!shell.repo.has(".git/edio"));
}

fn command_in(line: &str) -> &str {
    let command = line.strip_prefix("$ ");
    command.unwrap_or_else(|| panic!("no command: {line}"))
}

/// In a page, what stands after this goes on in a fresh repository.
const ANEW: &str = "<!-- a new repository -->";

/// The pages beside the README, by name.
fn pages() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let pages = files.filter(|path| path.extension().is_some_and(|kind| kind == "md"));
    let named = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(path).unwrap())
    };
    pages.map(named).collect()
}

/// The commands of a page: those in its `console` blocks, and those that a reader doesn't see, `<!-- $ COMMAND -->`,
/// which set the scene, or look whether what the page says is so.
fn commands_in(page: &str) -> Vec<&str> {
    let mut commands = Vec::new();
    let mut fence = None;
    for line in page.lines() {
        if let Some(opened) = line.strip_prefix("```") {
            fence = fence.is_none().then_some(opened);
        } else if fence == Some("console") {
            commands.push(command_in(line));
        } else if fence.is_none() && line.starts_with("<!--") {
            let unseen = line
                .strip_prefix("<!-- $ ")
                .and_then(|rest| rest.strip_suffix(" -->"));
            commands.push(unseen.unwrap_or_else(|| panic!("no command: {line}")));
        }
    }
    commands
}

/// The pages beside the README: the commands of each are typed in order, in a repository of its own.
#[test]
fn every_command_in_the_other_pages_works() {
    let mut typed = Vec::new();
    for (name, page) in pages() {
        let parts: Vec<_> = page.split(ANEW).map(commands_in).collect();
        if parts.iter().all(Vec::is_empty) {
            continue;
        }
        for commands in parts {
            let shell = Shell::new();
            for command in commands {
                shell.types(command);
            }
        }
        typed.push(name);
    }
    assert_eq!(
        typed,
        [
            "agents.md",
            "ci.md",
            "conversation.md",
            "faq.md",
            "how-it-works.md",
            "recovery.md",
            "security.md"
        ]
    );
}

/// What the other pages link to: files, and parts of the README and of each other.
#[test]
fn what_the_other_pages_link_to_is_there() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let pages = pages();
    for (name, page) in &pages {
        let targets = page.split("](").skip(1);
        for target in targets.map(|rest| rest.split(')').next().unwrap()) {
            let there = match target.split_once('#') {
                _ if target.starts_with("https://") => true,
                Some(("../README.md", anchor)) => anchors(README).contains(anchor),
                Some(("", anchor)) => anchors(page).contains(anchor),
                Some((other, anchor)) => anchors(&pages[other]).contains(anchor),
                None => folder.join(target).exists(),
            };
            assert!(there, "{name}: {target}");
        }
    }
}

/// The headings of a page, as links name them.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    let anchor = |line: &str| -> String {
        let title = line.trim_start_matches(['#', ' ']).to_lowercase();
        let kept = title
            .chars()
            .filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

/// What the page of conversations says of its commands.
#[test]
fn what_the_page_of_conversations_says_is_so() {
    let page = include_str!("../docs/conversation.md");
    let lines = blocks_of(page, "console").into_iter().flatten();
    let commands: Vec<&str> = lines.map(command_in).collect();
    let shell = Shell::new();
    let mut printed = BTreeMap::new();
    for command in &commands {
        printed.insert(
            command.split(" #").next().unwrap().trim(),
            shell.types(command),
        );
        if *command == "git gc --quiet --prune=now" {
            // It is gone for good.
            assert_eq!(shell.repo.git(["for-each-ref", "refs/edio"]), "");
            let objects = shell.types("git cat-file --batch-all-objects --batch-check --buffer | cut -d' ' -f1 | git cat-file --batch --buffer");
            assert!(!objects.contains("There it is."));
        }
    }
    let says = |command: &str, words: &str| {
        let printed = &printed[command];
        assert!(printed.contains(words), "$ {command}\n{printed}");
    };
    says("edio log --calls", "Write           note.txt");
    says("edio show 1", "There it is.");
    says("edio show 1", "A short one.");
    says("edio show 1.1", "file_path: note.txt");
    says(
        "edio log --agent claude --since '2 days ago' note.txt",
        "Add a note",
    );
    let raw = commands
        .iter()
        .find(|command| command.starts_with("git show "))
        .unwrap();
    says(raw, "\"tool\":\"Write\"");
}

#[test]
fn what_the_readme_says_of_showing_turns_is_so() {
    let shell = Shell::new();
    shell.types("echo work >>src/x.rs; edio snapshot -m work");
    assert!(shell.types("git log --oneline --all").contains("work"));
    let decorated = "git log --all --format=%D";
    assert!(!shell.types(decorated).contains("refs/edio"));
    assert!(
        shell
            .types("git config log.initialDecorationSet all; git log --all --format=%D")
            .contains("refs/edio")
    );
    assert!(
        !shell
            .types("git config log.excludeDecoration refs/edio/; git log --all --format=%D")
            .contains("refs/edio")
    );
    shell.types("git init -q --bare ../all.git; git push -q --mirror ../all.git");
    assert!(
        shell
            .types("git -C ../all.git for-each-ref")
            .contains("refs/edio")
    );
    shell.types("git clone -q . ../clone; git init -q --bare ../pushed.git; git push -q --all ../pushed.git");
    for other in ["../clone", "../pushed.git"] {
        assert!(
            !shell
                .types(&format!("git -C {other} for-each-ref"))
                .contains("refs/edio"),
            "{other}"
        );
    }
}

/// The README's two commands for a fresh machine are those that the continuous integration runs, or that a test plays.
#[test]
fn the_two_first_commands_are_the_demo_and_the_tests() {
    let first = blocks("sh").into_iter().next().unwrap();
    assert_eq!(first, ["cargo run --release -- demo", "cargo test"]);
    let ci = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(".ci/run")).unwrap();
    assert!(ci.lines().any(|line| line.ends_with(first[1])));
    let played = Shell::new().types("cd ..; edio demo");
    for word in ["snapshot", "log", "restore 6", "accept"] {
        assert!(
            played.contains(&format!("$ edio {word}")),
            "no {word} in:\n{played}"
        );
    }
}

/// What `edio … --help` prints.
fn help(words: &[&str]) -> String {
    let repo = Repo::unborn();
    let ran = repo.edio(words.iter().chain(&["--help"]));
    ran.ok();
    ran.stdout
}

/// The verbs that the program knows.
fn verbs() -> Vec<String> {
    let help = help(&[]);
    let (_, rest) = help.split_once("\nCommands:\n").unwrap();
    let lines = rest.lines().take_while(|line| !line.is_empty());
    let named = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    named
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .collect()
}

/// The flags in a help text, the forms of each together: `-m`, `--message`.
fn flags(help: &str) -> BTreeSet<Vec<String>> {
    let lines = help
        .lines()
        .map(str::trim_start)
        .filter(|line| line.starts_with('-') && !line.starts_with("- "));
    let forms = |line: &str| {
        let words = line
            .split([' ', ','])
            .filter(|word| word.starts_with('-') && word.len() > 1);
        words
            .map(|word| word.split(['=', '[']).next().unwrap().to_owned())
            .collect()
    };
    lines.map(forms).collect()
}

/// The flags among the words of a row's code.
fn flags_named(row: &Row) -> BTreeSet<String> {
    let words = row
        .iter()
        .flat_map(|cell| code(cell))
        .flat_map(|code| code.split([' ', '[', ']', '|', '…']));
    words
        .filter(|word| word.starts_with('-') && !word.trim_matches('-').is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_command_tables_are_what_help_says() {
    let tables = tables(section("## Commands"));
    let [commands, everywhere] = tables.as_slice() else {
        panic!("the commands have not two tables");
    };
    let verb_of = |row: &Row| {
        code(&row[0])
            .next()
            .unwrap()
            .split(' ')
            .next()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        commands.iter().map(verb_of).collect::<BTreeSet<_>>(),
        verbs().into_iter().collect()
    );
    let global = flags(&help(&[]));
    for row in commands {
        let verb = verb_of(row);
        let known = flags(&help(&[&verb]));
        let named = flags_named(row);
        for flag in &named {
            assert!(
                known.iter().any(|forms| forms.contains(flag)),
                "{verb} knows no {flag}"
            );
        }
        for forms in known.difference(&global) {
            assert!(
                forms.iter().any(|flag| named.contains(flag)),
                "the row of {verb} lacks {}",
                forms.join(", ")
            );
        }
    }
    let named: BTreeSet<String> = everywhere.iter().flat_map(flags_named).collect();
    for forms in &global {
        let is_usual = forms
            .iter()
            .any(|flag| flag == "--help" || flag == "--version");
        assert!(
            is_usual || forms.iter().any(|flag| named.contains(flag)),
            "the README lacks {}",
            forms.join(", ")
        );
    }
    for flag in named {
        assert!(
            global.iter().any(|forms| forms.contains(&flag)),
            "there is no {flag}"
        );
    }
}

/// The lines of a function in `src/error.rs`, with what stands left and right of each arrow.
fn arms(function: &str) -> Vec<(&'static str, &'static str)> {
    let source = include_str!("../src/error.rs");
    let (_, rest) = source.split_once(&format!("pub fn {function}(")).unwrap();
    let body = rest.split_once("\n    }\n").unwrap().0;
    body.lines()
        .filter_map(|line| line.trim().trim_end_matches(',').split_once(" => "))
        .collect()
}

#[test]
fn the_exit_codes_are_those_of_the_source() {
    let table = &tables(section("## Exit codes"))[0];
    let told: BTreeSet<u8> = table.iter().map(|row| row[0].parse().unwrap()).collect();
    let real: BTreeSet<u8> = arms("exit_code")
        .iter()
        .map(|(_, code)| code.parse().unwrap())
        .collect();
    assert_eq!(told, real);

    let kinds = &tables(section("### An error"))[0][0];
    let told: Vec<&str> = code(&kinds[1]).collect();
    let real = arms("name")
        .into_iter()
        .map(|(_, name)| name.trim_matches('"'));
    assert_eq!(
        told,
        real.filter(|name| *name != "closed_pipe")
            .collect::<Vec<_>>()
    );
}

/// The fields in the table below a heading.
fn fields(heading: &str) -> BTreeSet<String> {
    let table = &tables(section(heading))[0];
    table
        .iter()
        .map(|row| code(&row[0]).next().unwrap().to_owned())
        .collect()
}

/// The fields of a record, but for the version of the format.
fn keys(record: &serde_json::Value) -> BTreeSet<String> {
    record
        .as_object()
        .unwrap()
        .keys()
        .filter(|key| *key != "v")
        .cloned()
        .collect()
}

fn and(fields: BTreeSet<String>, more: &str) -> BTreeSet<String> {
    fields.into_iter().chain([more.to_owned()]).collect()
}

/// A repository whose records are looked at.
struct Records(Repo);

impl Records {
    /// The first record that edio prints.
    fn of(&self, words: &[&str]) -> serde_json::Value {
        let ran = self.0.edio(words.iter().chain(&["--json"]));
        let records = ran.ok().json();
        assert!(records.iter().all(|record| record["v"] == 1));
        records
            .into_iter()
            .next()
            .unwrap_or_else(|| panic!("no record of {words:?}"))
    }

    /// The record of a command has the fields of the table below a heading.
    #[track_caller]
    fn hold(&self, heading: &str, words: &[&str]) {
        assert_eq!(
            fields(heading),
            keys(&self.of(words)),
            "{heading}, {words:?}"
        );
    }
}

#[test]
fn the_json_fields_of_turns_are_those_of_the_records() {
    let records = Records(Repo::with(&[("a", "a\n")]));
    records.hold("### A finding", &["doctor"]);
    records.hold("### An agent", &["agents"]);
    records.hold("### An init", &["init", "--agents", "none"]);
    let record = records.of(&["init", "--agents", "all", "--dry-run"]);
    assert_eq!(fields("### An init"), keys(&record));
    let file = BTreeSet::from(["path", "action", "agents", "purposes", "diff"].map(str::to_owned));
    assert_eq!(file, keys(&record["files"][0]));
    let step = BTreeSet::from(["agent", "step"].map(str::to_owned));
    assert_eq!(step, keys(&record["approve"][0]));
    records.0.write("a", "changed\n");
    let mut turn = fields("### A turn");
    assert!(turn.remove("step"), "only steps have it");
    assert_eq!(
        and(turn.clone(), "changed"),
        keys(&records.of(&["snapshot", "-m", "one"]))
    );
    let unchanged = BTreeSet::from(["changed", "session", "turn", "skipped"].map(str::to_owned));
    assert_eq!(unchanged, keys(&records.of(&["snapshot", "--if-changed"])));
    assert_eq!(turn, keys(&records.of(&["log"])));
    assert_eq!(
        and(turn.clone(), "distance"),
        keys(&records.of(&["log", "--distance"]))
    );
    assert_eq!(
        and(turn.clone(), "calls"),
        keys(&records.of(&["log", "--calls"]))
    );
    let shown = records.of(&["show"]);
    let said = and(and(fields("### What was said"), "changes"), "beside");
    assert_eq!(
        turn.union(&said).cloned().collect::<BTreeSet<_>>(),
        keys(&shown)
    );
    records.hold("### A line", &["blame", "a"]);
    let line = fields("### A line");
    let story = fields("### A story");
    assert_eq!(
        line.union(&story).cloned().collect::<BTreeSet<_>>(),
        keys(&records.of(&["why", "a:1"]))
    );
    let difference = fields("### A path that differs");
    assert_eq!(difference, keys(&shown["changes"][0]));
    assert_eq!(difference, keys(&records.of(&["diff"])));
    records.0.write("a", "unsaved\n");
    records.hold("### A status", &["status"]);
    let status = records.of(&["status"]);
    assert_eq!(difference, keys(&status["unsaved"][0]));
    assert_eq!(turn, keys(&status["current"]));
    records.hold("### A session", &["sessions"]);
    assert_eq!(
        BTreeSet::from(["closed".to_owned()]),
        keys(&records.of(&["sessions", "--close"]))
    );
}

#[test]
fn the_json_fields_of_changes_are_those_of_the_records() {
    let records = Records(Repo::with(&[("a", "a\n")]));
    for content in ["one\n", "two\n"] {
        records.0.write("a", content);
        records.0.edio(["snapshot"]).ok();
    }
    let ran = records
        .0
        .edio(["bisect", "--json", "--", "grep", "-q", "a", "a"]);
    let bisected = ran.ok().json().remove(0);
    assert_eq!(fields("### A bisect"), keys(&bisected));
    let probe = BTreeSet::from(["turn", "exit", "result"].map(str::to_owned));
    assert_eq!(probe, keys(&bisected["probes"][0]));
    records.hold("### A rewind", &["rewind", "0", "--dry-run"]);
    records.hold("### A restore", &["restore", "0", "--dry-run"]);
    let restored = records.of(&["restore", "0"]);
    assert_eq!(fields("### A restore"), keys(&restored));
    assert_eq!(
        BTreeSet::from(["action", "path", "why"].map(str::to_owned)),
        keys(&restored["plan"][0])
    );
    records.hold("### An undo or redo", &["undo"]);
    records.hold("### An undo or redo", &["redo"]);
    records.0.edio(["undo"]).ok();
    records.0.write("env", "TOKEN=hush\n");
    records
        .0
        .edio(["snapshot", "-m", "DB_PASSWORD=hush9000"])
        .ok();
    let ran = records.0.edio(["redact", "--check", "--json"]);
    assert_eq!(fields("### A likely secret"), keys(&ran.json()[0]));
    let mut exported = BTreeSet::from(["v".to_owned()]);
    for words in [
        &["export", "--markdown"][..],
        &["export", "--patches", "../series"],
        &["export", "--bundle", "../work.bundle"],
    ] {
        exported.extend(keys(&records.of(words)));
    }
    exported.remove("v");
    assert_eq!(fields("### An export"), exported);
    records.hold("### An import", &["import", "../work.bundle"]);
    records.0.git(["init", "-q", "--bare", "../shared.git"]);
    let words = ["push", "../shared.git", "--dry-run", "--force"];
    records.hold("### A push", &words);
    records.0.edio(["push", "../shared.git", "--force"]).ok();
    records.hold("### A fetch", &["fetch", "../shared.git"]);
    records.0.remove("env");
    let forgotten = records.of(&["forget", "-f", "env", "--yes"]);
    assert_eq!(fields("### A forget"), keys(&forgotten));
    let turns = BTreeSet::from(["session", "turns"].map(str::to_owned));
    assert_eq!(turns, keys(&forgotten["sessions"][0]));
    records.0.edio(["undo"]).ok();
    records.hold("### A revert", &["revert", "2", "--dry-run"]);
    records.hold("### A revert", &["revert", "2"]);
    records.hold("### An accept", &["accept", "--dry-run", "-m", "done"]);
    records.hold("### An accept", &["accept", "-m", "done"]);
    let mut later = records.0.command(["gc", "--dry-run", "--json"]);
    later.env("EDIO_NOW", (NOW + 11 * 24 * 60 * 60).to_string());
    let ran = records.0.ran(&mut later);
    assert_eq!(fields("### A pruned session"), keys(&ran.ok().json()[0]));
    let failed = records.0.edio(["show", "--json"]);
    let error: serde_json::Value = serde_json::from_str(&failed.fails(1).stderr).unwrap();
    assert_eq!(fields("### An error"), keys(&error["error"]));
}

/// The settings that the source names are those of the README's table.
#[test]
fn the_settings_are_those_of_the_source() {
    let told: BTreeSet<String> = tables(section("## Settings"))[0]
        .iter()
        .map(|row| code(&row[0]).collect())
        .collect();
    let mut named = BTreeSet::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let source = fs::read_to_string(path).unwrap();
            let source = source.split("#[cfg(test)]").next().unwrap();
            let keys = source
                .split("\"edio.")
                .skip(1)
                .map(|rest| rest.split('"').next().unwrap());
            let is_key = |key: &&str| key.chars().all(|c| c.is_ascii_lowercase() || c == '.');
            named.extend(keys.filter(is_key).map(|key| format!("edio.{key}")));
        }
    }
    assert_eq!(
        told.iter()
            .map(|key| key.to_lowercase())
            .collect::<BTreeSet<_>>(),
        named
    );
}

/// The tools of the README's table are those of the server, with all their arguments.
#[test]
fn the_tools_are_those_of_the_server() {
    let shell = Shell::new();
    let asked = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
    ];
    let list = asked.map(|message| format!("'{message}'")).join(" ");
    let answers = shell.types(&format!(
        "git config edio.mcp.accept true; printf '%s\n' {list} | edio mcp"
    ));
    let listed: serde_json::Value = serde_json::from_str(answers.lines().last().unwrap()).unwrap();
    let tools = listed["result"]["tools"].as_array().unwrap();
    let real: Vec<(&str, BTreeSet<&str>)> = tools
        .iter()
        .map(|tool| {
            let arguments = tool["inputSchema"]["properties"].as_object();
            let arguments = arguments
                .into_iter()
                .flatten()
                .map(|(name, _)| name.as_str());
            (tool["name"].as_str().unwrap(), arguments.collect())
        })
        .collect();
    let table = &tables(section("## Agents over MCP"))[0];
    let told: Vec<(&str, BTreeSet<&str>)> = table
        .iter()
        .map(|row| (code(&row[0]).next().unwrap(), code(&row[1]).collect()))
        .collect();
    assert_eq!(told, real);
}

#[test]
fn what_the_readme_links_to_is_there() {
    let anchors = anchors(README);
    for target in README
        .split("](")
        .skip(1)
        .map(|rest| rest.split(')').next().unwrap())
    {
        let there = match target.strip_prefix('#') {
            Some(anchor) => anchors.contains(anchor),
            None => {
                target.starts_with("https://")
                    || Path::new(env!("CARGO_MANIFEST_DIR")).join(target).exists()
            }
        };
        assert!(there, "{target}");
    }
}

/// Each test file that the page of guarantees names is there, and holds the promise that it is named for.
#[test]
fn the_guarantees_are_held_where_their_page_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/guarantees.md")).unwrap();
    let rows: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("| P"))
        .collect();
    assert_eq!(rows.len(), 10);
    for row in rows {
        let columns: Vec<&str> = row.split('|').map(str::trim).collect();
        let promise = columns[1].split(' ').next().unwrap().to_lowercase();
        let files: Vec<String> = columns[3]
            .split(", ")
            .map(|name| source_of(root, name.trim_matches('`')))
            .collect();
        let holds = |file: &String| file.contains(&format!("fn {promise}_"));
        assert!(files.iter().any(holds), "no test of {promise} in: {row}");
    }
    for variable in [
        "EDIO_HISTORIES",
        "EDIO_FAULTS",
        "EDIO_ROUNDS",
        "EDIO_TEST_GIT",
        "EDIO_TEST_HOSTILE",
        "EDIO_TEST_AGENTS",
        "EDIO_TEST_MANY",
    ] {
        assert!(page.contains(variable), "{variable}");
    }
}

/// The text of a test file, or of all files of a test folder.
fn source_of(root: &Path, name: &str) -> String {
    let file = root.join(format!("tests/{name}.rs"));
    if file.exists() {
        return fs::read_to_string(file).unwrap();
    }
    let folder = fs::read_dir(root.join("tests").join(name)).unwrap();
    let files = folder.map(|entry| entry.unwrap().path());
    let files = files.filter(|file| file.extension().is_some_and(|kind| kind == "rs"));
    files
        .map(|file| fs::read_to_string(file).unwrap())
        .collect()
}

/// Each agent that can be connected has its section, with each file that init writes for it.
#[test]
fn each_agent_has_its_section() {
    let repo = Repo::with(&[("a", "a\n")]);
    let ran = repo.edio(["init", "--agents", "all", "--dry-run", "--json"]);
    let record = &ran.ok().json()[0];
    let titles = [
        ("claude", "### Claude Code"),
        ("codex", "### Codex"),
        ("cursor", "### Cursor"),
        ("gemini", "### Gemini CLI"),
        ("vscode", "### VS Code"),
        ("copilot", "### Copilot CLI"),
        ("opencode", "### OpenCode"),
        ("kilo", "### Kilo"),
        ("pi", "### pi"),
        ("cline", "### Cline"),
        ("zed", "### Zed"),
        ("windsurf", "### Windsurf"),
        ("antigravity", "### Antigravity CLI"),
        ("aider", "### Aider"),
    ];
    let has = |file: &serde_json::Value, name: &str| {
        let mut agents = file["agents"].as_array().unwrap().iter();
        agents.any(|agent| agent == name)
    };
    for step in record["approve"].as_array().unwrap() {
        let name = step["agent"].as_str().unwrap();
        let (_, title) = titles.iter().find(|(agent, _)| *agent == name).unwrap();
        let told: Vec<&str> = code(section(title)).collect();
        let files = record["files"].as_array().unwrap().iter();
        for file in files.filter(|file| has(file, name)) {
            let path = file["path"].as_str().unwrap();
            assert!(told.contains(&path), "{title} lacks {path}");
        }
    }
}
