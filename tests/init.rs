//! `edio init`: what agents need to call edio is put into their files, out of git's sight, and taken out again to the byte.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::Value;

use crate::common::{Ran, Repo, edio_binary, real_git};

const ALL: [&str; 3] = ["init", "--agents", "all"];
const REMOVE: [&str; 2] = ["init", "--remove"];

/// Runs edio where `PATH` has nothing but git and these programs.
pub fn edio_with(repo: &Repo, programs: &[&str], words: &[&str]) -> Ran {
    let bin = repo.outside().join("bin");
    let _ = fs::remove_dir_all(&bin);
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(real_git(), bin.join("git")).unwrap();
    for program in programs {
        let target = match *program {
            "edio" => edio_binary(),
            _ => Path::new("/bin/true"),
        };
        std::os::unix::fs::symlink(target, bin.join(program)).unwrap();
    }
    let home = repo.outside().join("home");
    repo.ran(repo.command(words).env("PATH", bin).env("HOME", home))
}

fn agents(ran: &Ran) -> Vec<String> {
    let record = &ran.ok().json()[0];
    let agents = record["agents"].as_array().unwrap().iter();
    agents
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

/// The files of the work tree and what git leaves out of sight, each with its time.
fn everything(repo: &Repo) -> Vec<String> {
    let mut all = repo.everything_in(".");
    all.retain(|line| !line.starts_with("\".git/") || line.starts_with("\".git/info/"));
    all
}

/// The folders of the work tree.
fn folders(repo: &Repo) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut next = vec![repo.top.clone()];
    while let Some(folder) = next.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() && !path.ends_with(".git") {
                found.insert(path.display().to_string());
                next.push(path);
            }
        }
    }
    found
}

/// The files of all agents in a project.
const FILES: [&str; 34] = [
    ".agents/hooks.json",
    ".agents/mcp_config.json",
    ".aider.conf.yml",
    ".claude/rules/edio.md",
    ".claude/settings.json",
    ".clinerules/edio.md",
    ".clinerules/hooks/PostToolUse",
    ".clinerules/hooks/TaskCancel",
    ".clinerules/hooks/TaskComplete",
    ".clinerules/hooks/TaskResume",
    ".clinerules/hooks/TaskStart",
    ".clinerules/hooks/UserPromptSubmit",
    ".codex/config.toml",
    ".codex/hooks.json",
    ".cursor/hooks.json",
    ".cursor/mcp.json",
    ".cursor/rules/edio.mdc",
    ".gemini/settings.json",
    ".github/hooks/edio.json",
    ".github/instructions/edio.instructions.md",
    ".kilocode/rules/edio.md",
    ".mcp.json",
    ".opencode/plugin/edio.js",
    ".pi/extensions/edio.ts",
    ".pi/mcp.json",
    ".vscode/mcp.json",
    ".windsurf/hooks.json",
    ".windsurf/rules/edio.md",
    ".zed/settings.json",
    "AGENTS.md",
    "EDIO.md",
    "GEMINI.md",
    "kilo.jsonc",
    "opencode.json",
];

#[test]
fn the_text_of_connecting() {
    let repo = Repo::with(&[("a", "one\n")]);
    let said = |words: &[&str]| {
        let ran = edio_with(&repo, &["edio"], words);
        ran.to_string()
            .replace("[stdout ends]\n", "")
            .replace("[stderr ends]\nexit code 0\n", "")
    };
    assert_snapshot!(said(&["init"]), @r#"
    edio is ready in [AROUND]/repo
    claude: got .claude/settings.json (hooks), .mcp.json (server), .claude/rules/edio.md (instructions)
      to do: start claude here, trust the folder, and approve the server edio when asked (or later: /mcp)
    cursor: got .cursor/hooks.json (hooks), .cursor/mcp.json (server), .cursor/rules/edio.mdc (instructions)
      to do: open the folder in Cursor and trust it; Settings, Hooks shows the hooks, and Settings, Tools & MCP switches the server edio on
    gemini: got .gemini/settings.json (hooks, server), GEMINI.md (instructions)
      to do: start gemini here and trust the folder (or: /permissions); it warns of the new hooks once, and /mcp shows the server
    vscode: got .vscode/mcp.json (server), .github/instructions/edio.instructions.md (instructions)
      to do: open the folder in VS Code and trust it; then start the server edio (command MCP: List Servers), and trust it when asked
    hint: take the first turn: edio snapshot -m "start"
    "#);
    assert_snapshot!(said(&["init"]), @r#"
    edio is ready in [AROUND]/repo
    claude: is connected
    cursor: is connected
    gemini: is connected
    vscode: is connected
    hint: take the first turn: edio snapshot -m "start"
    "#);
    assert_snapshot!(said(&["init", "--agents", "codex", "--dry-run"]), @r#"
    --- /dev/null
    +++ b/.codex/hooks.json
    @@ -0,0 +1,92 @@
    +{
    +  "hooks": {
    +    "SessionStart": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "edio hook codex",
    +            "timeout": 10
    +          }
    +        ]
    +      }
    +    ],
    +    "UserPromptSubmit": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "edio hook codex",
    +            "timeout": 10
    +          }
    +        ]
    +      }
    +    ],
    +    "PreToolUse": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "edio hook codex",
    +            "timeout": 10
    +          }
    +        ]
    +      }
    +    ],
    +    "PostToolUse": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "edio hook codex",
    +            "timeout": 10
    +          }
    +        ]
    +      }
    +    ],
    +    "SubagentStop": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "edio hook codex",
    +            "timeout": 10
    +          }
    +        ]
    +      }
    +    ],
    +    "Stop": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "edio hook codex",
    +            "timeout": 10
    +          }
    +        ]
    +      }
    +    ],
    +    "Interrupt": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "edio hook codex",
    +            "timeout": 3
    +          }
    +        ]
    +      }
    +    ],
    +    "SessionEnd": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "edio hook codex",
    +            "timeout": 3
    +          }
    +        ]
    +      }
    +    ]
    +  }
    +}
    --- /dev/null
    +++ b/.codex/config.toml
    @@ -0,0 +1,3 @@
    +[mcp_servers.edio]
    +command = "edio"
    +args = ["mcp"]
    --- /dev/null
    +++ b/AGENTS.md
    @@ -0,0 +1,5 @@
    +<!-- edio:begin -->
    +This project has edio, an undo for turns (more in EDIO.md). Snapshots instead of commits: `edio snapshot -m MSG` where hooks
    +don't take them. Never go back with `git checkout`, `git stash` or `git reset`. To look: `edio log`, `edio show TURN`,
    +`edio diff A..B`. To go back: `edio restore TURN [-f FILE]`, `edio undo`; then read the files again.
    +<!-- edio:end -->
    nothing was changed: this is what would be
    codex: would get .codex/hooks.json (hooks), .codex/config.toml (server), AGENTS.md (instructions)
      to do: start codex here and trust the folder; then type /hooks, and trust the hooks of edio: until then they are skipped
    "#);
    assert_snapshot!(said(&REMOVE), @r#"
    EDIO.md: removed
    .claude/settings.json: removed
    .mcp.json: removed
    .claude/rules/edio.md: removed
    .cursor/hooks.json: removed
    .cursor/mcp.json: removed
    .cursor/rules/edio.mdc: removed
    .gemini/settings.json: removed
    GEMINI.md: removed
    .vscode/mcp.json: removed
    .github/instructions/edio.instructions.md: removed
    "#);
    assert!(said(&REMOVE).starts_with("nothing of edio's is there to be taken out\n"));
}

#[test]
fn the_usual_agents_are_those_that_may_be_here() {
    let usual = ["claude", "cursor", "gemini", "vscode"];
    let repo = Repo::with(&[("a", "one\n")]);
    assert_eq!(agents(&edio_with(&repo, &[], &["init", "--json"])), usual);
    for (agent, program, at_home, in_project) in [
        ("codex", "codex", ".codex/x", ".codex/x"),
        (
            "copilot",
            "copilot",
            ".copilot/x",
            ".github/copilot-instructions.md",
        ),
        (
            "opencode",
            "opencode",
            ".config/opencode/x",
            "opencode.jsonc",
        ),
        ("kilo", "kilo", ".config/kilo/x", ".kilocode/x"),
        ("pi", "pi", ".pi/x", ".pi/x"),
        ("cline", "cline", ".cline/x", ".clinerules/x"),
        ("zed", "zed", ".config/zed/x", ".zed/x"),
        ("windsurf", "windsurf", ".codeium/windsurf/x", ".devin/x"),
        (
            "antigravity",
            "agy",
            ".gemini/antigravity-cli/x",
            ".agents/hooks.json",
        ),
        ("aider", "aider", ".aider.conf.yml", ".aider.conf.yml"),
    ] {
        let mut all = [&usual[..], &[agent]].concat();
        all.sort_unstable();
        for found in ["in PATH", "at home", "in the project"] {
            let repo = Repo::with(&[("a", "one\n")]);
            let mut programs = &[][..];
            match found {
                "in PATH" => programs = std::slice::from_ref(&program),
                "at home" => repo.write(repo.outside().join("home").join(at_home), ""),
                _ => repo.write(in_project, ""),
            }
            assert_eq!(
                agents(&edio_with(&repo, programs, &["init", "--json"])),
                all,
                "{agent} {found}"
            );
        }
    }
    let repo = Repo::with(&[("a", "one\n")]);
    repo.edio(["init", "--agents", "cursor,gemini"]).ok();
    let ran = repo.edio(["init", "--agents", "vscode,claude,claude", "--json"]);
    assert_eq!(agents(&ran), usual, "those from before are still connected");
    repo.edio(["init", "--remove", "--agents", "cursor,gemini"])
        .ok();
    assert_eq!(
        agents(&repo.edio(["init", "--agents", "none", "--json"])),
        ["claude", "vscode"]
    );
    assert!(repo.has("EDIO.md") && !repo.has(".cursor") && !repo.has("GEMINI.md"));
    repo.edio(REMOVE).ok();
    assert!(!repo.has("EDIO.md"));
}

#[test]
fn without_agents_nothing_is_written_into_the_work_tree() {
    let repo = Repo::with(&[("a", "one\n")]);
    let before = (repo.git_state(), repo.manifest());
    let ran = repo.edio(["init", "--agents", "none"]);
    assert!(ran.ok().stderr.contains("edio is ready in"), "{ran}");
    assert!(repo.has(".git/edio"));
    assert!((repo.git_state(), repo.manifest()) == before);
    for wrong in ["some", "none,claude", "all,claude", "claude,", ""] {
        repo.edio(["init", "--agents", wrong]).fails(2);
    }
    repo.edio(["init", "--shared", "--user"]).fails(2);
    assert!((repo.git_state(), repo.manifest()) == before);
}

#[test]
fn what_init_makes_is_out_of_gits_sight_and_in_no_turn_and_no_commit() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write(".git/info/exclude", "# mine\n/private\n");
    repo.write("private", "hush\n");
    repo.write("seen", "new\n");
    let (status, tree) = (repo.git(["status", "--porcelain"]), folders(&repo));
    let index = fs::read(repo.path(".git/index")).unwrap();
    repo.edio(ALL).ok();
    for file in FILES {
        assert!(repo.has(file), "{file}");
    }
    assert_eq!(repo.git(["status", "--porcelain"]), status);
    assert_eq!(fs::read(repo.path(".git/index")).unwrap(), index);
    repo.edio(["snapshot", "-m", "one"]).ok();
    let held = repo.git(["ls-tree", "-r", "--name-only", &repo.turn_ref(1)]);
    assert_eq!(held, "a\nseen");
    repo.edio(["restore", "0"]).ok();
    assert!(repo.has("EDIO.md"), "a restore leaves it alone");
    repo.edio(["restore", "1"]).ok();
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(
        repo.git(["ls-tree", "-r", "--name-only", "HEAD"]),
        "a\nseen"
    );
    repo.edio(REMOVE).ok();
    assert_eq!(repo.read(".git/info/exclude"), "# mine\n/private\n");
    assert_eq!(folders(&repo), tree);
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    repo.fsck();
}

#[test]
fn a_second_time_changes_nothing() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write(".mcp.json", "{\"mcpServers\": {}}");
    repo.edio(ALL).ok();
    let (before, memory) = (everything(&repo), repo.read(".git/edio/connected.json"));
    for words in [&ALL[..], &["init"], &["init", "--agents", "claude"]] {
        let ran = repo.edio([words, &["--json"]].concat());
        let record = &ran.ok().json()[0];
        let files = record["files"].as_array().unwrap();
        assert!(!files.is_empty() && files.iter().all(|file| file["action"] == "unchanged"));
    }
    assert!(everything(&repo) == before);
    assert_eq!(repo.read(".git/edio/connected.json"), memory);
}

#[test]
fn a_dry_run_shows_what_would_be_and_writes_nothing() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write(
        ".mcp.json",
        "{\n  \"mcpServers\": {\n    \"evil\u{1b}[31m\": {}\n  }\n}\n",
    );
    let before = repo.everything_in(".");
    let ran = repo.edio(["init", "--agents", "all", "--dry-run"]);
    for shown in [
        "--- a/.mcp.json\n+++ b/.mcp.json\n",
        "\n+    \"edio\": {\n",
        "--- /dev/null\n+++ b/EDIO.md\n@@",
        "\n+@EDIO.md\n",
    ] {
        assert!(ran.ok().stdout.contains(shown), "{shown}: {ran}");
    }
    assert!(!ran.stdout.contains('\u{1b}'), "{ran}");
    assert!(ran.stderr.contains("nothing was changed"), "{ran}");
    let ran = repo.edio(["init", "--agents", "gemini", "--dry-run", "--json"]);
    let record = &ran.ok().json()[0];
    assert_eq!(record["dry_run"], true);
    assert!(
        record["files"][0]["diff"]
            .as_str()
            .unwrap()
            .starts_with("--- /dev/null\n")
    );
    repo.edio(["init", "--remove", "--dry-run"]).ok();
    assert!(repo.everything_in(".") == before);
    repo.edio(ALL).ok();
    let before = repo.everything_in(".");
    let ran = repo.edio(["init", "--remove", "--dry-run"]);
    assert!(ran.ok().stdout.contains("+++ /dev/null\n"), "{ran}");
    assert!(ran.stderr.contains("EDIO.md: would be removed"), "{ran}");
    assert!(repo.everything_in(".") == before);
}

#[test]
fn a_tracked_file_is_not_touched_unless_it_is_shared() {
    let hooks = "{\n  \"model\": \"x\"\n}\n";
    let repo = Repo::with(&[
        (".claude/settings.json", hooks),
        (".mcp.json", "{}\n"),
        ("GEMINI.md", "# Mine\n"),
    ]);
    let ran = repo.edio(["init", "--agents", "claude,gemini"]);
    assert!(
        ran.ok()
            .stderr
            .contains(".mcp.json is left as it is: git tracks it"),
        "{ran}"
    );
    assert!(ran.stderr.contains("      \"command\": \"edio\""), "{ran}");
    assert!(ran.stderr.contains("    @EDIO.md\n"), "{ran}");
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    assert!(
        repo.read(".claude/settings.local.json")
            .contains("\"edio hook claude\"")
    );
    // Hooks that are there are not written a second time beside them.
    repo.git(["rm", "-q", "--cached", ".claude/settings.json"]);
    repo.edio(["init", "--agents", "claude"]).ok();
    assert_eq!(repo.read(".claude/settings.json"), hooks);
    repo.git(["reset", "-q"]);
    repo.edio(REMOVE).ok();
    assert!(!repo.has(".claude/settings.local.json"));

    let ran = repo.edio(["init", "--agents", "claude,gemini", "--shared"]);
    assert!(!ran.ok().stderr.contains("left as it is"), "{ran}");
    let seen = " M .claude/settings.json\n M .mcp.json\n M GEMINI.md\n?? .claude/rules/\n?? .gemini/\n?? EDIO.md";
    assert_eq!(repo.git(["status", "--porcelain"]), seen);
    repo.commit("connected");
    let ran = repo.edio(["init", "--agents", "claude,gemini"]);
    assert!(ran.ok().stderr.contains("claude: is connected"), "{ran}");
    let ran = repo.edio(REMOVE);
    assert!(
        ran.ok()
            .stderr
            .contains(".mcp.json is left as it is: git tracks it"),
        "{ran}"
    );
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    repo.edio(["init", "--remove", "--shared"]).ok();
    repo.commit("not any more");
    assert_eq!(repo.git(["diff", "--stat", "HEAD~2"]), "");
}

#[test]
fn what_was_out_of_sight_may_be_shared_later() {
    let repo = Repo::with(&[("a", "one\n")]);
    let exclude = repo.read(".git/info/exclude");
    repo.edio(["init", "--agents", "claude"]).ok();
    repo.edio(["init", "--agents", "claude", "--shared"]).ok();
    assert_eq!(repo.read(".git/info/exclude"), exclude);
    assert_eq!(
        repo.git(["status", "--porcelain"]),
        "?? .claude/\n?? .mcp.json\n?? EDIO.md"
    );
    repo.edio(["init", "--agents", "claude"]).ok();
    assert_eq!(
        repo.git(["status", "--porcelain"]),
        "?? .claude/\n?? .mcp.json\n?? EDIO.md"
    );
    repo.edio(REMOVE).ok();
    assert_eq!(repo.git(["status", "--porcelain"]), "");
}

#[test]
fn what_does_not_parse_is_left_alone() {
    let repo = Repo::with(&[("a", "one\n")]);
    let files = [
        (".mcp.json", "{ bad", "line 1, column 3: expected"),
        (
            ".cursor/mcp.json",
            "[]",
            "line 1, column 1: the file is not an object",
        ),
        (
            ".claude/settings.json",
            "{\n  \"hooks\": 5\n}",
            "line 2, column 12: \"hooks\" is not an object",
        ),
        (".codex/config.toml", "a =\n", "line 1, column 4:"),
    ];
    for (path, text, _) in files {
        repo.write(path, text);
    }
    let ran = repo.edio(ALL);
    for (path, text, why) in files {
        assert!(
            ran.ok()
                .stderr
                .contains(&format!("{path} is left as it is: {why}")),
            "{ran}"
        );
        assert_eq!(repo.read(path), text);
    }
    assert!(
        ran.stderr
            .contains("    [mcp_servers.edio]\n    command = \"edio\"\n"),
        "{ran}"
    );
    let record = &repo
        .edio(["init", "--agents", "claude", "--json"])
        .ok()
        .json()[0];
    assert_eq!(record["left"][0]["path"], ".claude/settings.json");
    assert!(
        record["left"][1]["add"]
            .as_str()
            .unwrap()
            .contains("mcpServers")
    );
    assert_eq!(repo.edio(["doctor"]).code, Some(1));
    let ran = repo.edio(REMOVE);
    assert!(!ran.ok().stderr.contains("left"), "{ran}");
    for (path, text, _) in files {
        assert_eq!(repo.read(path), text);
    }
}

#[test]
fn a_file_that_its_agent_ignores_is_named() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write(".mcp.json", "{\n  // mine\n  \"a\": [1,]\n}\n");
    repo.write(".vscode/mcp.json", "{\n  // mine\n  \"a\": [1,]\n}\n");
    let ran = repo.edio(ALL);
    let named = "the agent ignores all of .mcp.json: line 2, column 3: a comment";
    assert!(ran.ok().stderr.contains(named), "{ran}");
    assert!(!ran.stderr.contains("ignores all of .vscode"), "{ran}");
    assert!(repo.read(".mcp.json").contains("// mine") && repo.read(".mcp.json").contains("edio"));
}

#[test]
fn links_are_followed_but_not_out_of_the_work_tree() {
    let repo = Repo::with(&[("a", "one\n")]);
    let away = repo.outside().join("away");
    fs::create_dir(&away).unwrap();
    fs::write(away.join("mcp.json"), "{}\n").unwrap();
    repo.write("config/mcp.json", "{}\n");
    fs::create_dir(repo.path(".cursor")).unwrap();
    repo.link(".cursor/mcp.json", "../config/mcp.json");
    repo.link(".mcp.json", "../away/mcp.json");
    repo.link(".gemini", "../away");
    repo.link("EDIO.md", "nowhere");
    fs::create_dir(repo.path("AGENTS.md")).unwrap();
    let before = (repo.everything_in("."), repo.everything_in("../away"));
    let ran = repo.edio(ALL);
    for told in [
        ".mcp.json is left as it is: a link leads out of the work tree from there",
        ".gemini/settings.json is left as it is: a link leads out of the work tree from there",
        "EDIO.md is left as it is: a link leads nowhere from there",
        "AGENTS.md is left as it is: what stands there is no file",
    ] {
        assert!(ran.ok().stderr.contains(told), "{told}: {ran}");
    }
    assert!(repo.path(".cursor/mcp.json").is_symlink());
    assert!(repo.read("config/mcp.json").contains("edio"));
    assert_eq!(repo.everything_in("../away"), before.1);
    repo.edio(REMOVE).ok();
    let contents = |lines: &[String]| -> Vec<String> {
        let lines = lines.iter().filter(|line| !line.starts_with("\".git/"));
        lines
            .map(|line| line.replace(|c: char| c.is_ascii_digit(), ""))
            .collect()
    };
    assert_eq!(contents(&repo.everything_in(".")), contents(&before.0));
}

#[test]
fn a_repository_of_its_own_is_not_written_into() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.git(["init", "-q", ".claude"]);
    let ran = repo.edio(["init", "--agents", "claude"]);
    assert!(
        ran.ok()
            .stderr
            .contains("it lies in a repository of its own"),
        "{ran}"
    );
    assert_eq!(repo.manifest_of(".claude"), [""; 0]);
}

#[test]
fn permissions_stay() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write(".mcp.json", "{}");
    repo.write("AGENTS.md", "# Mine\n");
    let mode = |path: &str| fs::metadata(repo.path(path)).unwrap().permissions().mode() & 0o777;
    repo.chmod(".mcp.json", 0o600);
    repo.chmod("AGENTS.md", 0o755);
    for words in [&ALL[..], &REMOVE] {
        repo.edio(words).ok();
        assert_eq!((mode(".mcp.json"), mode("AGENTS.md")), (0o600, 0o755));
    }
}

/// What one agent's folder refuses is no reason to leave the others without edio.
#[test]
fn an_agent_whose_folder_can_not_be_written_is_named_and_the_others_are_connected() {
    let repo = Repo::with(&[("a", "one\n"), (".cursor/own", "mine\n")]);
    repo.edio(["snapshot", "-m", "first"]).ok();
    repo.give_away();
    repo.chmod(".cursor", 0o555);
    let init = ["init", "--agents", "claude,cursor,gemini"];
    let ran = repo.edio_without_rights(init);
    let said = &ran.fails(1).stderr;
    for path in [".cursor/hooks.json", ".cursor/mcp.json"] {
        let warning = format!("warning: cursor: {path} is left as it is: can't write ");
        assert!(said.contains(&warning), "{ran}");
        assert!(!repo.has(path), "{ran}");
    }
    assert!(said.contains("ermission denied"), "{ran}");
    assert!(said.contains("hint: mend that, then run it again"), "{ran}");
    assert!(said.contains("claude: got "), "{ran}");
    assert!(!said.contains("cursor: got "), "{ran}");
    for path in [".claude/settings.json", ".gemini/settings.json"] {
        assert!(repo.has(path), "{ran}");
    }
    assert!(!repo.read(".git/info/exclude").contains("cursor"), "{ran}");
    let again = [&init[..], &["--json"]].concat();
    let ran = repo.edio_without_rights(again);
    assert_eq!(ran.code, Some(1), "{ran}");
    let agents = &ran.json()[0]["agents"];
    assert_eq!(agents, &serde_json::json!(["claude", "gemini"]));
    // Once it can be written, what was left is done, and taken back again.
    repo.chmod(".cursor", 0o755);
    repo.edio_without_rights(init).ok();
    assert!(repo.has(".cursor/hooks.json"));
    repo.chmod(".cursor", 0o555);
    let ran = repo.edio_without_rights(REMOVE);
    let warning = "warning: cursor: .cursor/hooks.json is left as it is: can't write ";
    assert!(ran.fails(1).stderr.contains(warning), "{ran}");
    assert!(!repo.has(".claude/settings.json") && repo.has(".cursor/hooks.json"));
    repo.chmod(".cursor", 0o755);
    repo.edio_without_rights(REMOVE).ok();
    assert_eq!(repo.manifest_of(".cursor").len(), 1);
    assert_eq!(repo.git(["status", "--porcelain"]), "");
}

/// A repository need not have the folder.
#[test]
fn the_info_folder_goes_where_it_was_made() {
    for is_there in [false, true] {
        let repo = Repo::with(&[("a", "one\n")]);
        repo.remove(".git/info");
        if is_there {
            fs::create_dir(repo.path(".git/info")).unwrap();
        }
        repo.edio(["init", "--agents", "claude"]).ok();
        repo.edio(["init", "--agents", "claude,gemini"]).ok();
        assert!(repo.has(".git/info/exclude"));
        repo.edio(REMOVE).ok();
        assert_eq!(repo.has(".git/info"), is_there);
        assert!(!repo.has(".git/info/exclude"));
    }
}

#[test]
fn only_the_users_own_files_are_written_where_that_is_asked() {
    let repo = Repo::with(&[("a", "one\n")]);
    let home = repo.outside().join("home");
    fs::create_dir_all(home.join("dotfiles")).unwrap();
    fs::create_dir(home.join(".config")).unwrap();
    fs::write(home.join("dotfiles/claude.json"), "{\"projects\": {}}\n").unwrap();
    std::os::unix::fs::symlink("dotfiles/claude.json", home.join(".claude.json")).unwrap();
    let (tree, before) = (everything(&repo), repo.manifest_of("../home"));
    let ran = edio_with(&repo, &[], &["init", "--agents", "all", "--user"]);
    assert!(everything(&repo) == tree, "{ran}");
    assert!(
        ran.ok()
            .stderr
            .contains("claude: got ~/.claude/settings.json (hooks), ~/.claude.json (server)\n"),
        "{ran}"
    );
    for file in [
        ".claude/settings.json",
        ".codex/hooks.json",
        ".codex/config.toml",
        ".cursor/hooks.json",
        ".cursor/mcp.json",
        ".gemini/settings.json",
        "dotfiles/claude.json",
        ".copilot/hooks/edio.json",
        ".copilot/mcp-config.json",
        ".config/opencode/plugin/edio.js",
        ".config/opencode/opencode.json",
        ".config/kilo/kilo.jsonc",
        ".pi/agent/extensions/edio.ts",
        ".pi/agent/mcp.json",
        ".cline/data/settings/cline_mcp_settings.json",
        ".config/zed/settings.json",
        ".codeium/windsurf/hooks.json",
        ".codeium/windsurf/mcp_config.json",
        ".gemini/antigravity-cli/mcp_config.json",
    ] {
        let text = fs::read_to_string(home.join(file)).unwrap();
        assert!(text.contains("edio"), "{file}");
    }
    assert!(home.join(".claude.json").is_symlink());
    let ran = edio_with(&repo, &[], &REMOVE);
    assert!(
        ran.ok().stderr.contains("nothing of edio's"),
        "the project has nothing: {ran}"
    );
    edio_with(&repo, &[], &["init", "--remove", "--user"]).ok();
    assert_eq!(repo.manifest_of("../home"), before);
    assert!(everything(&repo) == tree);
    let ran = repo.ran(repo.command(["init", "--user"]).env_remove("HOME"));
    ran.fails(1);
}

#[test]
fn worktrees_share_what_is_out_of_sight() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.git(["worktree", "add", "-q", "../linked"]);
    let status = |folder: &str| repo.git_in(&repo.path(folder), ["status", "--porcelain"]);
    let exclude = repo.read(".git/info/exclude");
    repo.edio(["init", "--agents", "claude,gemini"]).ok();
    repo.edio_in("../linked", ["init", "--agents", "claude"])
        .ok();
    assert_eq!(
        (status("."), status("../linked")),
        (String::new(), String::new())
    );
    repo.edio(REMOVE).ok();
    assert!(!repo.has("EDIO.md") && !repo.has("GEMINI.md"));
    assert_eq!(
        status("../linked"),
        "",
        "the other worktree still has its files"
    );
    assert!(!repo.read(".git/info/exclude").contains("GEMINI"));
    repo.edio_in("../linked", REMOVE).ok();
    assert_eq!(status("../linked"), "");
    assert_eq!(repo.read(".git/info/exclude"), exclude);
}

#[test]
fn what_is_taken_out_needs_no_memory() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write("AGENTS.md", "# Mine\n");
    repo.write(
        ".mcp.json",
        "{\n  \"mcpServers\": {\n    \"mine\": {}\n  }\n}\n",
    );
    let before = (repo.manifest(), repo.read(".git/info/exclude"));
    repo.edio(ALL).ok();
    repo.remove(".git/edio");
    repo.edio(ALL).ok();
    assert!(
        repo.git(["status", "--porcelain"])
            .lines()
            .all(|line| !line.contains("EDIO"))
    );
    repo.edio(REMOVE).ok();
    assert_eq!((repo.manifest(), repo.read(".git/info/exclude")), before);
}

#[test]
fn what_the_user_changed_since_stays() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write(".mcp.json", "{\n  \"mcpServers\": {}\n}\n");
    repo.edio(ALL).ok();
    let put = repo.read(".mcp.json");
    repo.write(
        ".mcp.json",
        put.replacen("\"edio\"", "\"mine\": {},\n    \"edio\"", 1),
    );
    repo.write("GEMINI.md", "@EDIO.md\n\n# Mine\n");
    repo.write(".cursor/rules/edio.mdc", "mine\n");
    repo.write(
        ".codex/config.toml",
        format!("model = \"x\"\n\n{}", repo.read(".codex/config.toml")),
    );
    let ran = repo.edio(REMOVE);
    let left = ".cursor/rules/edio.mdc is left as it is: it is not as edio wrote it";
    assert!(ran.ok().stderr.contains(left), "{ran}");
    assert_eq!(
        repo.read(".mcp.json"),
        "{\n  \"mcpServers\": {\n    \"mine\": {}\n  }\n}\n"
    );
    assert_eq!(repo.read("GEMINI.md"), "# Mine\n");
    assert_eq!(repo.read(".codex/config.toml"), "model = \"x\"\n");
    assert_eq!(repo.read(".cursor/rules/edio.mdc"), "mine\n");
    assert!(!repo.has("EDIO.md") && !repo.has(".codex/hooks.json") && !repo.has(".gemini"));
    // What has become the user's is in git's sight.
    let seen = "?? .codex/\n?? .mcp.json\n?? GEMINI.md";
    assert_eq!(repo.git(["status", "--porcelain"]), seen);
}

#[test]
fn an_entry_from_before_is_not_taken_out() {
    let own = "{\"mcpServers\": {\"edio\": {\"command\": \"edio\", \"args\": [\"mcp\"]}}}";
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write(".mcp.json", own);
    repo.edio(ALL).ok();
    assert_eq!(repo.read(".mcp.json"), own);
    let hooks = repo.read(".codex/hooks.json");
    repo.edio(REMOVE).ok();
    assert!(!repo.has(".codex"));
    assert_eq!(repo.read(".mcp.json"), own);
    // Codex trusts a hook by the hash of its definition: it must never change.
    let hooks: Value = serde_json::from_str(&hooks).unwrap();
    assert_snapshot!(hooks["hooks"]["PostToolUse"].to_string(), @r#"[{"hooks":[{"command":"edio hook codex","timeout":10,"type":"command"}]}]"#);
    assert_eq!(hooks["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"], 3);
}

#[test]
fn p5_what_was_interrupted_is_finished_or_taken_back() {
    for gone in 0..FILES.len() {
        let repo = Repo::with(&[("a", "one\n")]);
        let before = (
            repo.manifest(),
            folders(&repo),
            repo.read(".git/info/exclude"),
        );
        repo.edio(ALL).ok();
        let whole = repo.manifest();
        for file in &FILES[gone..] {
            repo.remove(file);
        }
        if gone % 2 == 0 {
            repo.edio(ALL).ok();
            assert_eq!(repo.manifest(), whole);
            assert_eq!(repo.git(["status", "--porcelain"]), "");
        }
        repo.edio(REMOVE).ok();
        let after = (
            repo.manifest(),
            folders(&repo),
            repo.read(".git/info/exclude"),
        );
        assert_eq!(after, before);
    }
}

#[test]
fn p6_many_at_once_leave_what_one_leaves() {
    let repo = Repo::with(&[("a", "one\n")]);
    let exclude = repo.read(".git/info/exclude");
    let agents = ["claude", "cursor", "gemini", "vscode"];
    for name in &agents[1..] {
        repo.git(["worktree", "add", "-q", &format!("../{name}")]);
    }
    let tops = [".", "../cursor", "../gemini", "../vscode"];
    let all_at_once = |words: &[&str]| {
        let start = |(top, agent): (&str, &str)| {
            let mut command = repo.command([words, &["--agents", agent]].concat());
            command.current_dir(repo.path(top)).spawn().unwrap()
        };
        let twice = tops.into_iter().zip(agents).flat_map(|one| [one, one]);
        let children: Vec<_> = twice.map(start).collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
    };
    for _ in 0..5 {
        all_at_once(&["init", "-q"]);
        for top in tops {
            assert_eq!(repo.git_in(&repo.path(top), ["status", "--porcelain"]), "");
        }
        all_at_once(&["init", "-q", "--remove"]);
        assert_eq!(repo.read(".git/info/exclude"), exclude);
        assert_eq!(fs::read_dir(repo.path(".git/info")).unwrap().count(), 1);
        assert_eq!(repo.manifest().len(), 1);
    }
}

#[test]
fn the_file_that_codex_prefers_is_the_one() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write("AGENTS.override.md", "# Mine\n");
    repo.edio(["init", "--agents", "codex"]).ok();
    assert!(
        repo.read("AGENTS.override.md")
            .contains("<!-- edio:begin -->")
            && !repo.has("AGENTS.md")
    );
    repo.edio(REMOVE).ok();
    assert_eq!(repo.read("AGENTS.override.md"), "# Mine\n");
}

#[test]
fn the_exclude_file_may_be_of_any_shape() {
    for shape in [
        None,
        Some(""),
        Some("x"),
        Some("x\r\n"),
        Some("\u{feff}x\n"),
        Some("\n\n#y"),
    ] {
        let repo = Repo::with(&[("a", "one\n")]);
        repo.remove(".git/info");
        if let Some(text) = shape {
            repo.write(".git/info/exclude", text);
        }
        repo.write("x", "ignored, or not\n");
        let status = repo.git(["status", "--porcelain"]);
        repo.edio(ALL).ok();
        assert_eq!(repo.git(["status", "--porcelain"]), status, "{shape:?}");
        repo.edio(REMOVE).ok();
        let left = fs::read_to_string(repo.path(".git/info/exclude")).ok();
        assert_eq!(left.as_deref(), shape);
    }
}

#[test]
fn init_works_from_a_subdirectory() {
    let repo = Repo::with(&[("sub/a", "one\n")]);
    repo.edio_in("sub", ["init", "--agents", "claude"]).ok();
    assert!(repo.has(".mcp.json") && !repo.has("sub/.mcp.json"));
    repo.edio_in("sub", REMOVE).ok();
    assert!(!repo.has(".mcp.json"));
}

#[test]
fn the_text_for_agents_is_short_and_true() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.edio(["init", "--agents", "claude"]).ok();
    let text = repo.read("EDIO.md");
    assert!(text.lines().count() <= 25);
    assert_eq!(repo.read(".claude/rules/edio.md"), text);
    let help = repo.edio(["--help"]).stdout;
    let verbs = text
        .split("`edio ")
        .skip(1)
        .map(|rest| rest.split([' ', '`']).next().unwrap());
    for verb in verbs {
        assert!(help.contains(&format!("\n  {verb} ")), "{verb}");
    }
}

/// Two agents may read one file: it stays for as long as one of them is connected, and tells of neither.
#[test]
fn what_agents_share_goes_with_the_last_of_them() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write("AGENTS.md", "# Mine\n");
    let before = repo.manifest();
    for (first, second, shared) in [
        ("claude", "copilot", ".mcp.json"),
        ("codex", "pi", "AGENTS.md"),
        (
            "vscode",
            "copilot",
            ".github/instructions/edio.instructions.md",
        ),
    ] {
        let both = format!("{first},{second}");
        repo.edio(["init", "--agents", &both]).ok();
        let whole = repo.read(shared);
        repo.edio(["init", "--remove", "--agents", first]).ok();
        assert_eq!(repo.read(shared), whole, "{second} needs it");
        let ran = repo.edio(["doctor"]);
        assert!(!ran.stdout.contains(&format!("ok: {first}:")), "{ran}");
        assert!(
            ran.stdout.contains(&format!("ok: {second}: hooks")),
            "{ran}"
        );
        repo.edio(["init", "--remove", "--agents", second]).ok();
        assert_eq!(repo.manifest(), before);
        // One alone leaves nothing behind, either.
        repo.edio(["init", "--agents", first]).ok();
        repo.edio(["init", "--remove", "--agents", first]).ok();
        assert_eq!(repo.manifest(), before);
        assert_eq!(repo.git(["status", "--porcelain"]), "?? AGENTS.md");
    }
}

/// Where edio wrote nothing, nothing is removed.
#[test]
fn an_empty_file_of_the_users_stays() {
    for path in ["EDIO.md", ".clinerules/hooks/TaskStart", "GEMINI.md"] {
        let repo = Repo::with(&[("a", "one\n")]);
        repo.write(path, "");
        let before = repo.manifest();
        repo.edio(REMOVE).ok();
        assert_eq!(repo.manifest(), before);
        let ran = repo.edio(ALL);
        let left = "TaskStart is left as it is: an empty file stands there";
        let is_program = path.ends_with("TaskStart");
        assert_eq!(ran.ok().stderr.contains(left), is_program, "{ran}");
        repo.edio(REMOVE).ok();
        assert_eq!(repo.manifest(), before);
    }
}

/// Which of two files an agent reads depends on which is there.
#[test]
fn the_file_that_is_there_is_taken() {
    for (agent, there, text, usual) in [
        (
            "opencode",
            "opencode.jsonc",
            "{ // mine\n}\n",
            "opencode.json",
        ),
        ("kilo", ".kilo/kilo.jsonc", "{ // mine\n}\n", "kilo.jsonc"),
        (
            "windsurf",
            ".devin/hooks.json",
            "{}\n",
            ".windsurf/hooks.json",
        ),
        ("zed", ".rules", "# Mine\n", "AGENTS.md"),
        ("pi", "AGENTS.override.md", "# Mine\n", "AGENTS.md"),
    ] {
        let repo = Repo::with(&[("a", "one\n")]);
        repo.write(there, text);
        repo.edio(["init", "--agents", agent]).ok();
        assert!(repo.read(there).contains("edio"), "{agent}");
        assert!(!repo.has(usual), "{agent}");
        repo.edio(REMOVE).ok();
        assert_eq!(repo.read(there), text, "{agent}");
    }
}

/// What an agent trusts, or has learned to know, must never change by a byte.
#[test]
fn what_hooks_are_called_never_changes() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.edio(ALL).ok();
    let hook = |path: &str, pointer: &str| {
        let file: Value = serde_json::from_str(&repo.read(path)).unwrap();
        file.pointer(pointer).unwrap().to_string()
    };
    assert_snapshot!(hook(".github/hooks/edio.json", "/hooks/postToolUse"), @r#"[{"bash":"edio hook copilot","powershell":"edio hook copilot","timeoutSec":10,"type":"command"}]"#);
    assert_snapshot!(hook(".windsurf/hooks.json", "/hooks/post_write_code"), @r#"[{"command":"edio hook windsurf","show_output":false}]"#);
    assert_snapshot!(hook(".agents/hooks.json", "/edio"), @r#"{"PostToolUse":[{"hooks":[{"command":"edio hook antigravity","timeout":10,"type":"command"}],"matcher":"write_to_file|replace_file_content|multi_replace_file_content|run_command|.*mcp.*"}],"Stop":[{"command":"edio hook antigravity","timeout":10,"type":"command"}]}"#);
    assert_snapshot!(hook("opencode.json", "/mcp/edio"), @r#"{"command":["edio","mcp"],"enabled":true,"type":"local"}"#);
    assert_snapshot!(hook("opencode.json", "/instructions"), @r#"["EDIO.md"]"#);
    assert_snapshot!(hook(".pi/mcp.json", "/mcpServers/edio"), @r#"{"args":["mcp"],"command":"edio","exposure":"direct"}"#);
    assert_snapshot!(hook(".zed/settings.json", "/context_servers/edio"), @r#"{"args":["mcp"],"command":"edio","source":"custom"}"#);
}

#[test]
fn the_configuration_of_aider_is_read_with_care() {
    let read = "read: [EDIO.md] # edio\n";
    for text in [
        "",
        "# mine\n",
        "---\nmodel: x\n",
        "model: x\nfile:\n- a.rs\n- b.rs\n",
        "lint-cmd: |\n  read: this\nauto-commits: false",
        "model: x # read: no\r\n",
    ] {
        let repo = Repo::with(&[("a", "one\n")]);
        repo.write(".aider.conf.yml", text);
        repo.edio(["init", "--agents", "aider"]).ok();
        let put = repo.read(".aider.conf.yml");
        let end = read.trim_end();
        assert!(
            put.starts_with(text) && put.trim_end().ends_with(end),
            "{put}"
        );
        repo.edio(REMOVE).ok();
        assert_eq!(repo.read(".aider.conf.yml"), text);
    }
    for (text, why) in [
        (
            "read: CONVENTIONS.md\n",
            "line 1, column 1: \"read\" stands there already",
        ),
        (
            "model: x\n\"read\":\n- a.md\n",
            "line 2, column 1: \"read\" stands there already",
        ),
        (
            "{model: x}\n",
            "line 1, column 1: it is no plain list of names",
        ),
        (
            "model: x\n---\nmodel: y\n",
            "line 2, column 1: it is no plain list of names",
        ),
        (
            "model: x\n...\n",
            "line 2, column 1: it is no plain list of names",
        ),
    ] {
        let repo = Repo::with(&[("a", "one\n")]);
        repo.write(".aider.conf.yml", text);
        let ran = repo.edio(["init", "--agents", "aider"]);
        let told = format!(".aider.conf.yml is left as it is: {why}");
        assert!(ran.ok().stderr.contains(&told), "{ran}");
        assert!(ran.stderr.contains(&format!("    {read}")), "{ran}");
        assert_eq!(repo.read(".aider.conf.yml"), text);
        // What it says is done, and will do.
        repo.write(".aider.conf.yml", "read:\n- a.md\n- EDIO.md\n");
        let ran = repo.edio(["doctor"]);
        assert!(
            ran.stdout.contains("ok: aider: instructions: there"),
            "{ran}"
        );
        repo.edio(["init", "--agents", "aider"]).ok();
        assert_eq!(repo.read(".aider.conf.yml"), "read:\n- a.md\n- EDIO.md\n");
    }
}

#[test]
fn the_skill_is_written_where_agents_look_for_skills() {
    const SKILLS: [&str; 2] = [
        ".agents/skills/edio/SKILL.md",
        ".claude/skills/edio/SKILL.md",
    ];
    let repo = Repo::with(&[("a", "one\n")]);
    repo.edio(ALL).ok();
    assert!(
        SKILLS.iter().all(|path| !repo.has(path)),
        "only where it is asked for"
    );
    let ran = repo.edio(["init", "--agents", "claude,codex,pi,aider", "--skill"]);
    assert!(
        ran.ok()
            .stderr
            .contains("claude: got .claude/skills/edio/SKILL.md (skill)"),
        "{ran}"
    );
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    let text = repo.read(SKILLS[0]);
    assert_eq!(repo.read(SKILLS[1]), text);
    repo.edio(["init", "--remove", "--agents", "codex"]).ok();
    assert!(repo.has(SKILLS[0]), "pi has it, too");
    repo.edio(REMOVE).ok();
    assert!(SKILLS.iter().all(|path| !repo.has(path)) && !repo.has(".claude"));
    repo.edio(["init", "--remove", "--skill"]).fails(2);

    // The form of it (https://agentskills.io), and that it tells the truth.
    let (head, body) = text
        .strip_prefix("---\n")
        .unwrap()
        .split_once("\n---\n")
        .unwrap();
    let field = |name: &str| {
        let mut lines = head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| *key == name).unwrap().1.to_owned()
    };
    assert_eq!(field("name"), "edio");
    let description = field("description");
    assert!(
        description.len() <= 1024 && !description.contains(": "),
        "{description}"
    );
    assert!(body.lines().count() < 100);
    let help = repo.edio(["--help"]).stdout;
    let verbs = body.split("`edio ").skip(1);
    for verb in verbs.map(|rest| rest.split([' ', '`']).next().unwrap()) {
        assert!(help.contains(&format!("\n  {verb} ")), "{verb}");
    }
}

/// What may stand in a file: comments, odd white space, other line ends, a byte order mark, things that don't parse.
fn content(kind: &'static str) -> impl Strategy<Value = Option<String>> {
    let line = match kind {
        "json" => prop_oneof![
            Just("{}"), Just("{\"mcpServers\":{}}"), Just("{ \"hooks\" : { \"Stop\":[] } }"), Just("[]"), Just("{"),
            Just("{\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{ \"hooks\": [] }, // x\n\t\t],\n\t},\n}"),
            Just("{\n    \"servers\" : {\"x\":{}},\n  /* c */ \"mcpServers\": { \"edio\": { \"env\": {} } } }"),
            Just("{\"mcp\":{\"edio\":{\"command\":[\"edio\"]}}, \"instructions\": [\"x.md\"]}"), Just("{\"edio\":{\"Stop\":[{\"command\":\"mine\"}]}}"),
            Just("{\"instructions\":[\n  \"EDIO.md\", // mine\n], \"context_servers\": {\"edio\":{}}}"),
            Just("  \n"), Just(""),
        ].boxed(),
        "toml" => prop_oneof![
            Just("mcp_servers = {}"), Just("[mcp_servers]"), Just("# c\n\n\n[a]\nb = 1 # x"), Just("mcp_servers = 1"),
            Just("[mcp_servers.a]\ncommand='x'\n[[z]]"), Just("mcp_servers.edio.command = 'x'"), Just("  \n"), Just(""),
        ].boxed(),
        "yaml" => prop_oneof![
            Just("model: x"), Just("# c\n---\nread:\n- a.md\n"), Just("read: [EDIO.md]"), Just("read: x.md # EDIO.md"), Just("a: |\n  read: x\n\nb: [1,\n  2]"),
            Just("{read: x}"), Just("- x"), Just("a: 1\n...\n"), Just("x"), Just("  \n"), Just(""),
        ].boxed(),
        _ => prop_oneof![Just("# Mine"), Just("@EDIO.md"), Just("\n\n"), Just("text\n\n\n"), Just("")].boxed(),
    };
    let text = (line, any::<(bool, bool, bool)>()).prop_map(|(text, (dos, mark, end))| {
        let mark = if mark { "\u{feff}" } else { "" };
        let end = if end { "\n" } else { "" };
        let text = format!("{mark}{text}{end}");
        if dos {
            text.replace('\n', "\r\n")
        } else {
            text
        }
    });
    prop_oneof![1 => Just(None), 3 => text.prop_map(Some)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn whatever_was_there_is_given_back_to_the_byte(
        json in prop::collection::vec(content("json"), 16),
        toml in content("toml"),
        yaml in content("yaml"),
        text in prop::collection::vec(content("text"), 4),
        linked in any::<bool>(),
    ) {
        let repo = Repo::with(&[("a", "one\n")]);
        let names = [
            ".claude/settings.json", ".mcp.json", ".codex/hooks.json", ".cursor/mcp.json", ".cursor/hooks.json", ".gemini/settings.json", ".vscode/mcp.json",
            ".github/hooks/edio.json", "opencode.json", "opencode.jsonc", ".kilo/kilo.jsonc", ".pi/mcp.json", ".zed/settings.json", ".devin/hooks.json",
            ".agents/hooks.json", ".agents/mcp_config.json",
            "AGENTS.md", "GEMINI.md", ".rules", ".clinerules/hooks/TaskStart", ".codex/config.toml", ".aider.conf.yml",
        ];
        let contents = json.into_iter().chain(text).chain([toml, yaml]);
        for (name, content) in names.into_iter().zip(contents) {
            let Some(content) = content else {
                continue;
            };
            repo.write(name, &content);
            if linked {
                let target = format!("real-{}", name.replace('/', "-"));
                fs::rename(repo.path(name), repo.path(&target)).unwrap();
                let up = "../".repeat(name.matches('/').count());
                repo.link(name, &format!("{up}{target}"));
            }
        }
        let state = || (repo.manifest(), folders(&repo), repo.git(["status", "--porcelain", "-uall"]), repo.read(".git/info/exclude"));
        let before = state();
        repo.edio(ALL).ok();
        let once = everything(&repo);
        prop_assert_eq!(&repo.git(["status", "--porcelain", "-uall"]), &before.2);
        repo.edio(ALL).ok();
        prop_assert!(everything(&repo) == once);
        repo.edio(REMOVE).ok();
        prop_assert_eq!(state(), before);
    }
}

#[test]
fn a_file_that_the_projects_rules_leave_in_sight_is_named() {
    let repo = Repo::with(&[
        ("a", "a\n"),
        (".gitignore", ".claude/*\n!.claude/settings.json\n"),
    ]);
    let ran = repo.edio(["init", "--agents", "claude"]);
    let said = "warning: .claude/settings.json is not kept out of git's sight";
    assert!(ran.ok().stderr.contains(said), "{ran}");
    assert!(!ran.stderr.contains(".mcp.json is not"), "{ran}");
    let ran = repo.edio(["init", "--agents", "claude", "--shared"]);
    assert!(!ran.ok().stderr.contains("is not kept"), "{ran}");
}

/// What edio is not known to have written is taken out only where it is to the letter what edio writes.
#[test]
fn what_init_never_wrote_is_not_taken_out() {
    let own = [
        (
            "opencode.json",
            "{\"mcp\":{\"edio\":{\"type\":\"remote\",\"url\":\"https://x\"}}}\n",
        ),
        (
            ".mcp.json",
            "{\"mcpServers\":{\"edio\":{\"command\":\"edio\",\"args\":[\"mcp\",\"--project\",\"/x\"]}}}\n",
        ),
        (
            ".pi/mcp.json",
            "{\"mcpServers\":{\"edio\":{\"command\":\"edio\",\"args\":[\"mcp\"],\"env\":{}}}}\n",
        ),
        (
            ".cursor/hooks.json",
            "{\"version\":1,\"hooks\":{\"stop\":[{\"command\":\"edio hook cursor\",\"timeout\":3}]}}\n",
        ),
        (
            ".codex/config.toml",
            "[mcp_servers.edio]\ncommand = \"edio\"\nargs = [\"mcp\", \"-v\"]\n",
        ),
        (
            ".rules",
            "x\n<!-- edio:begin -->\nmine\n<!-- edio:end -->\ny\n",
        ),
        (".github/hooks/edio.json", "{\"version\":1}\n"),
    ];
    for agents in ["none", "claude", "windsurf", "aider"] {
        let repo = Repo::with(&[("a", "one\n")]);
        own.iter().for_each(|(path, text)| repo.write(path, text));
        if agents == "claude" {
            repo.remove(".mcp.json");
        }
        let before = repo.manifest();
        repo.edio(["init", "--agents", agents]).ok();
        let ran = repo.edio(REMOVE);
        assert_eq!(repo.manifest(), before, "{agents}");
        assert!(!ran.ok().stderr.contains(".github"), "{ran}");
        for left in [
            "opencode.json is left as it is: mcp.edio is not as edio writes it",
            ".cursor/hooks.json is left as it is: hooks.stop is not as edio writes it",
            ".codex/config.toml is left as it is: mcp_servers.edio is not as edio writes it",
            ".rules is left as it is: it is not as edio wrote it",
        ] {
            assert_eq!(ran.stderr.matches(left).count(), 1, "{ran}");
        }
    }
}

#[test]
fn of_two_files_that_an_agent_reads_the_other_stays() {
    let own = "{\"mcp\":{\"edio\":{\"command\":[\"my-edio\"]}}}\n";
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write("opencode.json", own);
    repo.write("opencode.jsonc", own.replace("my", "your"));
    for rules in ["AGENTS.md", ".rules", "GEMINI.md"] {
        repo.write(rules, "<!-- edio:begin -->\nmine\n<!-- edio:end -->\n");
    }
    let before = repo.manifest();
    repo.edio(ALL).ok();
    repo.edio(REMOVE).ok();
    assert_eq!(repo.manifest(), before);
    let agents = agents(&repo.edio(["init", "--remove", "--json"]));
    assert_eq!(agents, <[&str; 0]>::default());
}

/// What is shared with others is in their work trees, where nothing is remembered of it.
#[test]
fn what_another_has_shared_is_taken_out_but_for_what_was_changed_in_it() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.edio(["init", "--agents", "cursor", "--shared"]).ok();
    repo.remove(".git/edio");
    let hooks = repo.read(".cursor/hooks.json");
    let changed = hooks.replacen("\"timeout\": 10", "\"timeout\": 11", 1);
    assert_ne!(changed, hooks);
    repo.write(".cursor/hooks.json", changed);
    let ran = repo.edio(["init", "--remove"]);
    let left = "warning: a part of .cursor/hooks.json is left as it is: hooks.";
    assert!(ran.ok().stderr.contains(left), "{ran}");
    let rest: Value = serde_json::from_str(&repo.read(".cursor/hooks.json")).unwrap();
    assert_eq!(rest["hooks"].as_object().unwrap().len(), 1, "{rest}");
    assert_eq!(rest["version"], 1);
    assert!(!repo.has(".cursor/rules/edio.mdc") && !repo.read(".cursor/mcp.json").contains("edio"));
}

/// Also the white space at its end, which tells nobody anything.
#[test]
fn a_text_that_was_edited_since_is_given_back_without_the_rest_of_edios() {
    for text in ["\n\n", "no end", "end\n"] {
        let repo = Repo::with(&[("a", "one\n")]);
        repo.write("AGENTS.md", text);
        repo.edio(["init", "--agents", "codex"]).ok();
        let put = repo.read("AGENTS.md").replace("This project", "My project");
        repo.write("AGENTS.md", put);
        repo.edio(REMOVE).ok();
        assert_eq!(repo.read("AGENTS.md"), text);
    }
}

/// Where the beginning of a block has lost its end, what follows is the person's.
#[test]
fn what_follows_a_beginning_without_an_end_stays() {
    let open = "x\n<!-- edio:begin -->\nmy own rule 1\nmy own rule 2\n";
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write("AGENTS.md", open);
    repo.edio(["init", "--agents", "codex"]).ok();
    let put = repo.read("AGENTS.md");
    repo.write("AGENTS.md", format!("{put}tail\n"));
    repo.edio(REMOVE).ok();
    assert_eq!(repo.read("AGENTS.md"), format!("{open}tail\n"));
    // Where edio's own has lost it, nobody knows where that ends.
    repo.remove("AGENTS.md");
    repo.edio(["init", "--agents", "codex"]).ok();
    let put = repo.read("AGENTS.md");
    let lost = put.replace("<!-- edio:end -->", "mine");
    repo.write("AGENTS.md", &lost);
    let ran = repo.edio(REMOVE);
    let left = "AGENTS.md is left as it is: the end of edio's part is gone";
    assert!(ran.ok().stderr.contains(left), "{ran}");
    assert_eq!(repo.read("AGENTS.md"), lost);
}

#[test]
fn what_is_out_of_sight_comes_into_sight_though_the_end_of_the_block_is_gone() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.edio(["init", "--agents", "claude"]).ok();
    let exclude = repo.read(".git/info/exclude");
    let (block, rest) = exclude.split_once("# edio: end\n").unwrap();
    repo.write(".git/info/exclude", format!("{block}*.log\n{rest}"));
    repo.edio(REMOVE).ok();
    assert_eq!(repo.read(".git/info/exclude"), format!("*.log\n{rest}"));
}

#[test]
fn of_a_file_that_agents_share_is_said_once_that_it_stays() {
    let repo = Repo::with(&[("a", "one\n")]);
    let agents = ["init", "--agents", "claude,copilot", "--shared"];
    repo.edio(agents).ok();
    repo.git(["add", "-A"]);
    let ran = repo.edio(REMOVE);
    let tracked = "warning: .mcp.json is left as it is: git tracks it";
    assert_eq!(ran.ok().stderr.matches(tracked).count(), 1, "{ran}");
}
