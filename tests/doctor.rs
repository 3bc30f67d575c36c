//! `edio doctor`: what is wrong is found, each with what helps, and nothing is changed by looking.

use serde_json::Value;

use crate::common::{NOW, Ran, Repo};
use crate::init::edio_with;

fn doctor(repo: &Repo) -> Ran {
    edio_with(repo, &["edio"], &["doctor"])
}

/// A repository in which these agents are connected.
fn connected(agents: &str) -> Repo {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.edio(["init", "--agents", agents]).ok();
    repo
}

/// Writes a file of the person's own.
fn at_home(repo: &Repo, path: &str, content: impl AsRef<[u8]>) {
    repo.write(repo.outside().join("home").join(path), content);
}

#[track_caller]
fn is_wrong(ran: &Ran, what: &str) {
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(
        ran.stdout.contains(&format!("wrong: {what}")),
        "{what}: {ran}"
    );
    assert!(ran.stdout.contains("\n  try: "), "{ran}");
}

#[track_caller]
fn is_well(ran: &Ran, what: &str) {
    assert!(ran.ok().stdout.contains(what), "{what}: {ran}");
}

#[test]
fn locks_of_git_are_named_with_their_age() {
    let repo = Repo::with(&[("a", "one\n")]);
    let names = [
        ".git/index.lock",
        ".git/HEAD.lock",
        ".git/packed-refs.lock",
        ".git/config.lock",
    ];
    for (hours, name) in (2..).zip(names) {
        repo.write(name, "");
        let made =
            std::time::UNIX_EPOCH + std::time::Duration::from_secs(NOW as u64 - 3600 * hours);
        let lock = std::fs::File::options().write(true).open(repo.path(name));
        lock.unwrap().set_modified(made).unwrap();
    }
    let ran = doctor(&repo);
    for (hours, name) in (2..).zip(names) {
        let file = repo.path(name);
        let file = file.display();
        let said = format!(
            "note: git: {file} was made {hours} hours ago\n  try: if no git is running: rm {file}\n"
        );
        is_well(&ran, &said);
    }
}

#[test]
fn nothing_is_wrong_where_all_is_as_init_leaves_it() {
    let repo = Repo::with(&[("a", "one\n")]);
    let ran = doctor(&repo);
    is_well(
        &ran,
        "note: edio: no agent is connected here\n  try: edio init\n",
    );
    repo.edio(["init", "--agents", "all"]).ok();
    let state = || {
        let mut state = repo.everything_in("..");
        state.retain(|line| !line.starts_with("\"bin/"));
        state
    };
    let before = state();
    let ran = doctor(&repo);
    for well in [
        "ok: git: git 2.",
        "ok: edio: PATH finds ",
        "ok: claude: hooks, server, instructions: there",
        "ok: codex: hooks, server, instructions: there",
        "ok: cursor: hooks, server, instructions: there",
        "ok: gemini: hooks, server, instructions: there",
        "ok: vscode: server, instructions: there",
        "ok: copilot: hooks, server, instructions: there",
        "ok: opencode: hooks, server, instructions: there",
        "ok: kilo: server, instructions: there",
        "ok: pi: hooks, server, instructions: there",
        "ok: cline: hooks, instructions: there",
        "ok: zed: server, instructions: there",
        "ok: windsurf: hooks, instructions: there",
        "ok: antigravity: hooks, server, instructions: there",
        "ok: aider: instructions: there",
        "note: zed: whether it takes heed of its files can't be seen from outside",
        "note: windsurf: whether it takes heed",
        "note: antigravity: whether it takes heed",
        "note: gemini: no hook of it was heard yet",
        "note: cursor: whether it takes heed of its files can't be seen from outside",
    ] {
        is_well(&ran, well);
    }
    for without in ["vscode", "kilo", "zed", "aider"] {
        let told = format!("{without}: no hook");
        assert!(!ran.stdout.contains(&told), "{ran}");
    }
    for tried in ["copilot", "opencode", "kilo", "pi", "cline"] {
        let told = format!("{tried}: whether it takes heed");
        assert!(!ran.stdout.contains(&told), "{ran}");
    }
    assert!(state() == before, "looking changes nothing");
    repo.edio_in(repo.outside(), ["doctor"]).fails(4);
}

#[test]
fn each_finding_is_a_record() {
    let repo = connected("claude");
    let ran = edio_with(&repo, &[], &["doctor", "--json"]);
    assert_eq!(ran.code, Some(1));
    let findings = ran.json();
    let wrong: Vec<&Value> = findings
        .iter()
        .filter(|found| found["grade"] == "wrong")
        .collect();
    assert_eq!(wrong.len(), 1, "{ran}");
    assert_eq!(wrong[0]["about"], "edio");
    assert!(
        wrong[0]["what"]
            .as_str()
            .unwrap()
            .starts_with("edio is not in PATH")
    );
    assert!(wrong[0]["remedy"].is_string());
    assert!(findings.iter().all(|found| found["v"] == 1));
}

#[test]
fn what_is_missing_broken_or_ignored_is_found() {
    let repo = connected("claude,codex");
    let hooks = repo.read(".claude/settings.json");
    repo.write(
        ".claude/settings.json",
        hooks.replace("\"Stop\"", "\"Start\""),
    );
    is_wrong(
        &doctor(&repo),
        "claude: its hooks: only a part is there\n  try: edio init --agents claude",
    );
    repo.edio(["init", "--agents", "claude"]).ok();
    doctor(&repo).ok();
    repo.remove(".mcp.json");
    let ran = doctor(&repo);
    is_wrong(
        &ran,
        "claude: its server: not there\n  try: edio init --agents claude",
    );
    assert!(
        ran.stdout.contains("/.mcp.json")
            || ran
                .stdout
                .contains("note: repository: .mcp.json is kept out of git's sight, and is gone"),
        "{ran}"
    );
    repo.write(".mcp.json", "{\n  \"a\": ?\n}");
    is_wrong(
        &doctor(&repo),
        "claude: .mcp.json can't be read: line 2, column 8: ",
    );
    repo.write(".mcp.json", "{}");
    repo.edio(["init", "--agents", "claude"]).ok();
    repo.write(
        ".codex/hooks.json",
        format!("// x\n{}", repo.read(".codex/hooks.json")),
    );
    is_wrong(
        &doctor(&repo),
        "codex: it ignores all of .codex/hooks.json: line 1, column 1: a comment",
    );
    repo.write(".codex/config.toml", "a =\n");
    is_wrong(
        &doctor(&repo),
        "codex: .codex/config.toml can't be read: line 1, column 4: ",
    );
}

#[test]
fn what_the_person_has_in_the_home_folder_will_do() {
    let repo = Repo::with(&[("a", "one\n")]);
    edio_with(&repo, &["edio"], &["init", "--agents", "codex", "--user"]).ok();
    let ran = doctor(&repo);
    assert!(
        ran.stdout.contains("ok: codex: hooks, server: there"),
        "{ran}"
    );
    assert!(
        ran.stdout
            .contains("note: codex: its model is told nothing of edio but by the server"),
        "{ran}"
    );
}

#[test]
fn trust_is_read_where_the_agent_keeps_it() {
    let repo = connected("claude,codex,gemini");
    let top = repo.top.display().to_string();
    is_well(
        &doctor(&repo),
        "note: claude: claude was not started by you yet",
    );

    at_home(&repo, ".claude.json", "{}");
    is_wrong(&doctor(&repo), "claude: the folder is not trusted");
    let own = format!(r#"{{"projects":{{"{top}":{{"hasTrustDialogAccepted":true}}}}}}"#);
    at_home(&repo, ".claude.json", own);
    let ran = doctor(&repo);
    is_well(&ran, "ok: claude: the folder is trusted");
    is_well(&ran, "note: claude: no approval of the server was found");
    at_home(
        &repo,
        ".claude/settings.json",
        r#"{"enabledMcpjsonServers":["edio"]}"#,
    );
    is_well(&doctor(&repo), "ok: claude: the server is approved");
    at_home(
        &repo,
        ".claude/settings.json",
        r#"{"disabledMcpjsonServers":["edio"]}"#,
    );
    is_wrong(&doctor(&repo), "claude: the server was rejected");
    at_home(
        &repo,
        ".claude/settings.json",
        r#"{"enableAllProjectMcpServers":true}"#,
    );

    at_home(&repo, ".codex/config.toml", "");
    is_wrong(&doctor(&repo), "codex: the folder is not trusted");
    let folder = format!("[projects.\"{top}\"]\ntrust_level = \"trusted\"\n");
    at_home(&repo, ".codex/config.toml", &folder);
    is_wrong(
        &doctor(&repo),
        "codex: the hooks are not trusted: they are skipped",
    );
    let hook = |key: &str| {
        format!("[hooks.state.\"{top}/.codex/hooks.json:{key}\"]\ntrusted_hash = \"sha256:x\"\n")
    };
    // The person's own come first.
    let own = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}]}}"#;
    repo.edio(["init", "--remove", "--agents", "codex"]).ok();
    repo.write(".codex/hooks.json", own);
    repo.edio(["init", "--agents", "codex"]).ok();
    at_home(
        &repo,
        ".codex/config.toml",
        folder.clone() + &hook("stop:1:0"),
    );
    is_wrong(&doctor(&repo), "codex: some hooks are not trusted");
    let keys = [
        "session_start:0:0",
        "user_prompt_submit:0:0",
        "pre_tool_use:0:0",
        "post_tool_use:0:0",
        "subagent_stop:0:0",
        "stop:0:0",
        "interrupt:0:0",
        "session_end:0:0",
    ];
    let all: String = keys.into_iter().map(hook).collect();
    at_home(&repo, ".codex/config.toml", folder.clone() + &all);
    is_wrong(&doctor(&repo), "codex: some hooks are not trusted");
    at_home(
        &repo,
        ".codex/config.toml",
        folder + &all + &hook("stop:1:0"),
    );
    is_well(&doctor(&repo), "ok: codex: the hooks are trusted");

    at_home(&repo, ".gemini/trustedFolders.json", "{}");
    is_wrong(&doctor(&repo), "gemini: the folder is not trusted yet");
    let above = repo.outside().display().to_string();
    at_home(
        &repo,
        ".gemini/trustedFolders.json",
        format!(r#"{{"{above}":"TRUST_FOLDER"}}"#),
    );
    is_well(&doctor(&repo), "ok: gemini: the folder is trusted");
    at_home(
        &repo,
        ".gemini/trustedFolders.json",
        format!(r#"{{"{above}":"TRUST_FOLDER","{top}":"DO_NOT_TRUST"}}"#),
    );
    is_wrong(&doctor(&repo), "gemini: the folder is not trusted");
    let repo = connected("copilot,pi");
    let top = repo.top.display().to_string();
    is_well(&doctor(&repo), "note: pi: no folder was trusted by you yet");
    is_well(
        &doctor(&repo),
        "note: copilot: no trust of the folder was found",
    );
    at_home(
        &repo,
        ".copilot/config.json",
        format!(r#"{{"trusted_folders":["{}"]}}"#, repo.outside().display()),
    );
    is_well(&doctor(&repo), "ok: copilot: the folder is trusted");
    at_home(&repo, ".pi/agent/trust.json", "{}");
    is_wrong(&doctor(&repo), "pi: the folder is not trusted");
    at_home(
        &repo,
        ".pi/agent/trust.json",
        format!(r#"{{"{top}":true}}"#),
    );
    is_well(&doctor(&repo), "ok: pi: the folder is trusted");
    // Whatever stands in these files, nothing breaks.
    for junk in [
        "",
        "[]",
        "null",
        "{\"projects\":5}",
        "\u{0}",
        "{\"projects\":",
    ] {
        for file in [
            ".claude.json",
            ".codex/config.toml",
            ".gemini/trustedFolders.json",
            ".copilot/config.json",
            ".pi/agent/trust.json",
        ] {
            at_home(&repo, file, junk);
        }
        let ran = doctor(&repo);
        assert!(matches!(ran.code, Some(0 | 1)), "{ran}");
    }
}

#[test]
fn it_tells_when_a_hook_was_heard_and_what_failed() {
    let repo = connected("claude");
    is_well(&doctor(&repo), "note: claude: no hook of it was heard yet");
    let said = format!(
        "echo '{{\"hook_event_name\":\"UserPromptSubmit\",\"session_id\":\"s\",\"prompt\":\"x\"}}' | '{}' hook claude",
        crate::common::edio_binary().display()
    );
    let mut shell = repo.like_edio("sh", ["hook"]);
    repo.ran(shell.args(["-c", &said])).ok();
    is_well(
        &doctor(&repo),
        "ok: claude: its last hook was heard just now",
    );
    repo.git(["config", "edio.maxNewFiles", "\u{1b}[31m"]);
    repo.ran(shell.env("EDIO_NOW", (NOW + 60).to_string())).ok();
    let mut later = repo.command(["doctor"]);
    let ran = repo.ran(later.env("EDIO_NOW", (NOW + 120).to_string()));
    is_wrong(
        &ran,
        "claude: its last hook failed: 2027-01-15T08:01:00Z claude prompt: ",
    );
    assert!(ran.stdout.contains("edio.maxnewfiles is"), "{ran}");
    assert!(!ran.stdout.contains('\u{1b}'), "{ran}");
    let lines: String = (0..500).map(|at| format!("entry {at}\n")).collect();
    repo.write(".git/edio/hook.log", lines);
    let ran = doctor(&repo);
    is_well(&ran, "note: edio: a hook failed: entry 499\n");
    assert_eq!(ran.stdout.matches("a hook failed").count(), 5, "{ran}");
}

#[test]
fn what_would_publish_the_turns_is_found() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.git(["remote", "add", "--mirror=push", "all", "../all.git"]);
    is_wrong(
        &doctor(&repo),
        "repository: a push to all publishes the turns",
    );
    repo.git(["remote", "remove", "all"]);
    repo.git(["remote", "add", "some", "../some.git"]);
    doctor(&repo).ok();
    repo.git(["config", "remote.some.push", "+refs/*:refs/*"]);
    let ran = doctor(&repo);
    is_wrong(&ran, "repository: a push to some publishes the turns");
    let remedy = "git config --add remote.some.push '^refs/edio/*'";
    assert!(ran.stdout.contains(&format!("try: {remedy}\n")), "{ran}");
    repo.git(["config", "--add", "remote.some.push", "^refs/edio/*"]);
    doctor(&repo).ok();
    // What it says helps.
    repo.git(["init", "-q", "--bare", "../some.git"]);
    repo.edio(["snapshot"]).ok();
    repo.git(["push", "-q", "some"]);
    let sent = repo.git_in(
        &repo.path("../some.git"),
        ["for-each-ref", "--format=%(refname)"],
    );
    assert_eq!(sent, "refs/heads/main");
}

#[test]
fn leftovers_are_named() {
    let repo = connected("gemini");
    repo.remove("EDIO.md");
    is_well(
        &doctor(&repo),
        "note: repository: EDIO.md is kept out of git's sight, and is gone",
    );
    repo.edio(["init", "--agents", "gemini"]).ok();
    assert!(!doctor(&repo).stdout.contains("gone"));
    repo.write("GEMINI.md", "@EDIO.md\n\n# How we work\n");
    let ran = doctor(&repo);
    is_well(
        &ran,
        "note: gemini: GEMINI.md has more than edio's part, and git doesn't see it\n  try: git add -f GEMINI.md",
    );
    repo.git(["add", "-f", "GEMINI.md"]);
    repo.git(["commit", "-q", "-m", "ours"]);
    assert!(!doctor(&repo).stdout.contains("has more"));
}

/// Several agents may have one file: what is wrong with it is told once.
#[test]
fn what_agents_share_is_told_once() {
    let repo = connected("codex,pi,zed,antigravity");
    repo.write("AGENTS.md", format!("{}\n# Mine\n", repo.read("AGENTS.md")));
    let ran = doctor(&repo);
    assert_eq!(ran.stdout.matches("AGENTS.md has more").count(), 1, "{ran}");
    let ran = edio_with(&repo, &["edio"], &["init", "--agents", "claude"]);
    ran.ok();
    let ran = doctor(&repo);
    assert!(
        !ran.stdout.contains("ok: copilot"),
        "it only reads what claude has: {ran}"
    );
}

#[test]
fn agents_are_told_in_one_table() {
    let repo = connected("claude,pi,cline,kilo");
    at_home(&repo, ".claude.json", "{}");
    at_home(
        &repo,
        ".pi/agent/trust.json",
        format!(r#"{{"{}":true}}"#, repo.top.display()),
    );
    let said = format!(
        "echo '{{\"hook_event_name\":\"before_agent_start\",\"session_id\":\"s\",\"prompt\":\"x\"}}' | '{}' hook pi",
        crate::common::edio_binary().display()
    );
    let mut shell = repo.like_edio("sh", ["hook"]);
    repo.ran(shell.args(["-c", &said])).ok();
    repo.remove(".clinerules/hooks/TaskStart");
    let before = repo.everything_in(".");
    let ran = edio_with(&repo, &["edio", "codex"], &["agents"]);
    insta::assert_snapshot!(ran.ok().stdout, @"
    agent        found  hooks  MCP   trust    last event
    claude       no     yes    yes   missing  -
    codex        yes    no     no    unknown  -
    cursor       no     no     no    -        -
    gemini       no     no     no    unknown  -
    vscode       no     -      no    -        -
    copilot      no     no     yes   unknown  -
    opencode     no     no     no    -        -
    kilo         no     -      yes   -        -
    pi           yes    yes    yes   given    just now
    cline        no     part   no    -        -
    zed          no     -      no    -        -
    windsurf     no     no     no    -        -
    antigravity  no     no     no    -        -
    aider        no     -      -     -        -
    ");
    assert_eq!(repo.everything_in("."), before, "looking changes nothing");
    let ran = edio_with(&repo, &["edio", "codex"], &["agents", "--json"]);
    let records = ran.ok().json();
    assert_eq!(records.len(), 14);
    let of = |agent: &str| {
        let mut found = records.iter().filter(|record| record["agent"] == agent);
        found.next().unwrap()
    };
    assert_eq!(of("pi")["trust"], "given");
    assert_eq!(of("pi")["last_event"], "2027-01-15T08:00:00Z");
    assert_eq!(of("claude")["connected"], true);
    assert_eq!(of("copilot")["connected"], false);
    assert_eq!(of("codex")["found"], true);
    assert_eq!(of("zed")["hooks"], Value::Null);
    assert_eq!(of("zed")["from_documents"], true);
    repo.edio_in(repo.outside(), ["agents"]).fails(4);
}

#[test]
fn a_setting_of_the_guard_that_says_nothing_is_named() {
    for (key, value) in [
        ("edio.guard.freshness", "ture"),
        ("edio.guard.repeatLimit", "1"),
    ] {
        let repo = connected("claude");
        repo.git(["config", key, value]);
        let ran = doctor(&repo);
        is_wrong(&ran, &format!("guard: {key} is set to something"));
        repo.git(["config", "--unset", key]);
        assert!(!doctor(&repo).stdout.contains("guard: "), "{key}");
    }
}
