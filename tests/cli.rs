//! The command line: the text and the JSON of each verb, exit codes, colours, the pager, bad input, and nothing printed
//! raw (P9).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use serde_json::Value;

use crate::common::{Ran, Repo, edio_binary, left_out};

/// Runs these command lines, and shows each with what came of it.
fn transcript(repo: &Repo, lines: &[&[&str]]) -> String {
    let mut shown = String::new();
    for words in lines {
        let ran = repo.edio(*words).to_string();
        let ran = ran
            .replace("[stdout ends]\n", "")
            .replace("[stderr ends]\n", "");
        let ran = ran.strip_suffix("exit code 0\n").unwrap_or(&ran);
        shown.push_str(&format!("$ edio {}\n{ran}\n", words.join(" ")));
    }
    shown
        .lines()
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect()
}

/// A repository with three turns, the second left again.
fn with_turns() -> Repo {
    let repo = Repo::with(&[("a", "one\n"), ("b", "one\n"), (".gitignore", "*.log\n")]);
    repo.write("a", "one\ntwo\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    repo.write("new/c", "three\n");
    repo.remove("b");
    repo.edio(["snapshot"]).ok();
    repo.edio(["restore", "1"]).ok();
    repo.write("a", "one\nthree\n");
    repo.edio(["snapshot", "-m", "third\n\nand why"]).ok();
    repo
}

#[test]
fn the_text_of_edio_alone() {
    let repo = Repo::with(&[("a", "one\n")]);
    let outside = repo.edio_in(repo.outside(), [""; 0]).to_string();
    assert_snapshot!(outside, @r#"
    edio is an undo for coding agents and the people who use them.
    There is no git work tree here: go to one, or make one with git init.
    To keep the turns of this folder without git: edio init --store
    To see what it does, in a scratch repository: edio demo
    [stdout ends]
    [stderr ends]
    exit code 0
    "#);
    assert_snapshot!(transcript(&repo, &[&[], &["snapshot", "-m", "first"], &[]]), @r#"
    $ edio
    no session is under way here
    hint: take the first one: edio snapshot -m "start"
    hint: edio snapshot -m MSG, edio log, edio restore TURN, edio accept MSG; all: edio --help

    $ edio snapshot -m first
    turn 1: first (0 files)

    $ edio
    session [SESSION] (1 turn)
    current turn 1: first (just now)
    nothing changed since
    hint: edio snapshot -m MSG, edio log, edio restore TURN, edio accept MSG; all: edio --help
    "#);
}

#[test]
fn the_text_of_help() {
    let repo = Repo::unborn();
    assert_snapshot!(transcript(&repo, &[&["--help"]]), @r"
    $ edio --help
    An undo that never fails, for coding agents and the people who use them.

    edio takes invisible snapshots of the whole work tree, as git objects in the project's own
    repository. Any of them can be brought back, exactly. When the work is good, `edio accept` makes it
    one clean commit.

    Usage: edio [OPTIONS] [COMMAND]

    Commands:
      init         Prepare the repository, and connect the agents
      snapshot     Take a turn: the whole work tree, as it is now
      run          Run a command with the terminal handed through, and take a turn when it has ended
      exec         Run a command on the files of a turn, in a folder of its own: your work tree stays as
                   it is
      bisect       Find the first turn on which a command fails, by running it on the files of a few
                   turns
      log          List the turns, the newest first
      show         Show one turn or step: its message, what was said and done, its files, its patch
      diff         Show what a turn changed, what lies between two turns, or what the work tree has that
                   a turn has not
      blame        Say who wrote each line of a file
      why          Tell the story of one line of a file
      restore      Bring the work tree to a turn, exactly as it was
      rewind       Bring the work tree and the agent's conversation to a turn
      context      Print what was said up to a turn, as text to paste into a new conversation
      undo         Go back to the state before the last restore, revert or accept, or before the last
                   turn
      redo         Go forward again: to the state before the last undo
      revert       Take back what a turn did, or several in a row, and keep what came after
      accept       Make the work of the session one clean commit on the branch
      status       Show the session, the current turn, and what changed since
      sessions     List the sessions, or put one away without committing
      gc           Prune sessions that were not used for some days
      forget       Take files out of all turns, for good: for a secret that slipped in
      redact       Look for secrets in what is stored already
      export       Write a session for others: as patches, as a text to read, as who wrote which lines,
                   or as a bundle
      import       Take in the sessions of a bundle that edio export wrote
      push         Send a session to a remote, for edio fetch on another machine
      fetch        Fetch the sessions that edio push sent to a remote
      agents       List the agents: which are here, and how each is connected
      guard        Stop an agent that writes over what it has not read, or does the same over and over
      doctor       Find out whether agents are well connected here, and what helps if not
      hook         Take turns for an agent: what its hooks call
      mcp          Serve agents over the Model Context Protocol, on standard input and output
      ui           See the turns and what each did, and go back with a key [alias: tui]
      demo         Play the story of a session in a scratch repository: seven turns, a bad one, restore,
                   accept
      completions  Print the completion script for a shell
      man          Write the manual pages into a folder: edio.1, and one for each command

    Options:
      -C <DIR>
              Work as if started in this folder

      -q, --quiet
              Say less: no reports, no hints

      -v, --verbose
              Show each git command and how long it took

          --json
              Print JSON, one object a line

          --color <WHEN>
              When to use colours

              Possible values:
              - auto:   On a terminal, unless the environment says otherwise
              - always: Always
              - never:  Never

              [default: auto]

          --no-pager
              Do not page long output

          --session <ID>
              Look at this session instead of the one under way

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Start with: edio demo
    More on one command: edio <command> --help
    ");
}

/// The examples in the help of each verb, with the verb.
fn examples(repo: &Repo) -> Vec<(String, String)> {
    let help = repo.edio(["--help"]).ok().stdout.clone();
    let verbs = help.split_once("Commands:\n").unwrap().1;
    let verbs = verbs.split("\n\n").next().unwrap().lines();
    let mut examples = Vec::new();
    for line in verbs.filter(|line| !line.starts_with("   ")) {
        let verb = line.split_whitespace().next().unwrap();
        for flag in ["-h", "--help"] {
            let ran = repo.edio([verb, flag]);
            let (_, shown) = ran.ok().stdout.split_once("Examples:\n").unwrap();
            let lines = shown.lines().take_while(|line| line.starts_with("  "));
            let lines: Vec<&str> = lines.map(str::trim).collect();
            let is_own = |line: &&str| line.starts_with(&format!("edio {verb}"));
            assert!(verb == "hook" || lines.iter().any(is_own), "{ran}");
            assert_eq!(ran.stderr, "");
            examples.extend(
                lines
                    .iter()
                    .map(|line| (verb.to_owned(), (*line).to_owned())),
            );
        }
    }
    examples.dedup();
    assert!(examples.len() > 70, "{}", examples.len());
    examples
}

#[test]
fn every_verb_has_help_with_examples_that_are_understood() {
    let repo = with_turns();
    let programs = repo.outside().join("bin");
    fs::create_dir(&programs).unwrap();
    std::os::unix::fs::symlink(edio_binary(), programs.join("edio")).unwrap();
    for (verb, example) in examples(&repo) {
        let mut command = Command::new("sh");
        repo.surround(&mut command);
        let path = format!("{}:{}", programs.display(), crate::common::path());
        command
            .current_dir(&repo.top)
            .env("PATH", path)
            .stdin(Stdio::null())
            .args(["-c", &format!("mkdir -p ~/.local/share/bash-completion/completions ~/.config/fish/completions ~/work/app; {example}")]);
        let ran = repo.ran(&mut command);
        // What the clause of usage errors ends with.
        let misused = ran.stderr.contains("--help\n");
        assert!(
            !misused && ran.code != Some(70),
            "{verb}: $ {example}\n{ran}"
        );
    }
    assert!(repo.edio(["--version"]).ok().stdout.starts_with("edio "));
}

#[test]
fn the_text_of_init() {
    let repo = Repo::with(&[("a", "one\n")]);
    let (state, files) = (repo.git_state(), repo.manifest());
    assert_snapshot!(transcript(&repo, &[&["init", "--agents", "none"], &["init", "--agents", "none", "--json"], &["init", "--agents", "some"], &["init", "--agents", "all,none"]]), @r#"
    $ edio init --agents none
    edio is ready in [AROUND]/repo
    hint: take the first turn: edio snapshot -m "start"

    $ edio init --agents none --json
    {"v":1,"work_tree":"[AROUND]/repo","scratch":"[AROUND]/repo/.git/edio","store":null,"agents":[],"files":[],"left":[],"ignored":[],"approve":[],"dry_run":false}

    $ edio init --agents some
    error: invalid value 'some' for '--agents <LIST>'
      [possible values: claude, codex, cursor, gemini, vscode, copilot, opencode, kilo, pi, cline, zed, windsurf, antigravity, aider, all, none]
    hint: a similar value exists: 'vscode'
    hint: edio --help, or edio COMMAND --help
    exit code 2

    $ edio init --agents all,none
    error: all and none stand alone in --agents
    hint: name the agents, or leave --agents away
    exit code 2

    "#);
    assert_eq!(repo.git_state(), state);
    assert_eq!(repo.manifest(), files);
    assert_eq!(repo.edio_refs(), "");
}

#[test]
fn the_text_of_snapshot() {
    let repo = Repo::with(&[("a", "one\n"), ("b", "one\n")]);
    repo.git(["init", "-q", "nested"]);
    repo.write("a", "one\ntwo\n");
    let first = transcript(
        &repo,
        &[
            &["snapshot", "--if-changed"],
            &["snapshot", "--if-changed"],
            &["snapshot"],
        ],
    );
    assert_snapshot!(first, @r#"
    $ edio snapshot --if-changed
    turn 1: a (1 file +1 -0)
      not in it: nested (it is a repository of its own)

    $ edio snapshot --if-changed
    nothing changed since turn 1: no turn was taken
      not in it: nested (it is a repository of its own)

    $ edio snapshot
    turn 2: Nothing changed (0 files)
      not in it: nested (it is a repository of its own)
    "#);
    repo.remove("nested");
    repo.remove("b");
    repo.chmod("a", 0o755);
    let second = transcript(
        &repo,
        &[
            &["snapshot", "-m", "-x: mode\n\nand more"],
            &["snapshot", "--json"],
        ],
    );
    assert_snapshot!(second, @r#"
    $ edio snapshot -m -x: mode

    and more
    turn 3: -x: mode (2 files +0 -1)

    $ edio snapshot --json
    {"v":1,"changed":true,"session":"[SESSION]","turn":4,"kind":"turn","current":true,"message":"Nothing changed","agent":null,"agent_session":null,"model":null,"prompt":null,"tool":null,"tool_call":null,"helpers":[],"shared":[],"status":null,"exit_code":null,"time":"2027-01-15T08:00:00Z","commit":"[ID]","tree":"[ID]","parent":"[ID]","head":"[ID]","branch":"refs/heads/main","worktree":".","files":0,"added":0,"removed":0,"steps":0,"skipped_count":0,"skipped":[]}
    "#);
}

#[test]
fn the_text_of_log() {
    let repo = with_turns();
    repo.plain_patches();
    repo.edio(["run", "-q", "--", "sh", "-c", "echo four > a"])
        .ok();
    let lines: &[&[&str]] = &[&["log"], &["log", "-p"], &["log", "--all"]];
    assert_snapshot!(transcript(&repo, lines), @r#"
    $ edio log
    *    4  just now        sh          1 file +1 -2  sh -c 'echo four > a'
         3  just now        -           1 file +1 -1  third
         2  just now        -           2 files +1 -1  b, new/c
         1  just now        -           1 file +1 -0  first

    $ edio log -p
    *    4  just now        sh          1 file +1 -2  sh -c 'echo four > a'
    diff --git a/a b/a
    index [ID]..[ID] 100644
    --- a/a
    +++ b/a
    @@ -1,2 +1 @@
    -one
    -three
    +four
         3  just now        -           1 file +1 -1  third
    diff --git a/a b/a
    index [ID]..[ID] 100644
    --- a/a
    +++ b/a
    @@ -1,2 +1,2 @@
     one
    -two
    +three
         2  just now        -           2 files +1 -1  b, new/c
    diff --git a/b b/b
    deleted file mode 100644
    index [ID]..[ID]
    --- a/b
    +++ /dev/null
    @@ -1 +0,0 @@
    -one
    diff --git a/new/c b/new/c
    new file mode 100644
    index [ID]..[ID]
    --- /dev/null
    +++ b/new/c
    @@ -0,0 +1 @@
    +three
         1  just now        -           1 file +1 -0  first
    diff --git a/a b/a
    index [ID]..[ID] 100644
    --- a/a
    +++ b/a
    @@ -1 +1,2 @@
     one
    +two

    $ edio log --all
    [SESSION] (active)
    *    4  just now        sh          1 file +1 -2  sh -c 'echo four > a'
         3  just now        -           1 file +1 -1  third
         2  just now        -           2 files +1 -1  b, new/c
         1  just now        -           1 file +1 -0  first
    "#);
}

#[test]
fn log_of_paths_lists_the_turns_that_changed_them() {
    let repo = with_turns();
    repo.write("sub/a", "one\n");
    repo.edio(["snapshot", "-m", "fourth"]).ok();
    let turns = |folder: &str, words: &[&str]| -> Vec<u64> {
        let ran = repo.edio_in(folder, [&["log", "--json"], words].concat());
        ran.ok()
            .json()
            .iter()
            .map(|turn| turn["turn"].as_u64().unwrap())
            .collect()
    };
    assert_eq!(turns(".", &["a"]), [3, 1]);
    assert_eq!(turns(".", &["new", "b"]), [2]);
    assert_eq!(turns(".", &["sub"]), [4]);
    assert_eq!(turns("sub", &["a"]), [4]);
    assert_eq!(turns("sub", &["../a", "a"]), [4, 3, 1]);
    assert_eq!(turns(".", &["*"]), [0; 0]);
    assert_eq!(turns(".", &["."]), [4, 3, 2, 1]);
    let patches = repo.edio(["log", "-p", "a"]);
    assert!(
        patches.ok().stdout.contains("+three") && !patches.stdout.contains("new/c\n"),
        "{patches}"
    );
    assert_eq!(patches.stdout.matches("diff --git").count(), 2, "{patches}");
}

#[test]
fn the_text_of_show() {
    let repo = with_turns();
    repo.plain_patches();
    assert_snapshot!(transcript(&repo, &[&["show"], &["show", "2"], &["show", "0"], &["show", "@-1", "--json"]]), @r#"
    $ edio show
    turn 3 ([SESSION], current)
    commit  [ID]
    date    2027-01-15 08:00:00 +0000 (just now)
    branch  main
    changed 1 file +1 -1

        third

        and why

     M a

    diff --git a/a b/a
    index [ID]..[ID] 100644
    --- a/a
    +++ b/a
    @@ -1,2 +1,2 @@
     one
    -two
    +three

    $ edio show 2
    turn 2 ([SESSION])
    commit  [ID]
    date    2027-01-15 08:00:00 +0000 (just now)
    branch  main
    changed 2 files +1 -1

        b, new/c

     D b
     A new/c

    diff --git a/b b/b
    deleted file mode 100644
    index [ID]..[ID]
    --- a/b
    +++ /dev/null
    @@ -1 +0,0 @@
    -one
    diff --git a/new/c b/new/c
    new file mode 100644
    index [ID]..[ID]
    --- /dev/null
    +++ b/new/c
    @@ -0,0 +1 @@
    +three

    $ edio show 0
    turn 0 ([SESSION])
    commit  [ID]
    date    2027-01-15 08:00:00 +0000 (just now)
    kind    baseline
    ended   unmeasured
    branch  main
    changed 0 files

        Where the session began


    $ edio show @-1 --json
    {"v":1,"session":"[SESSION]","turn":1,"kind":"turn","current":false,"message":"first","agent":null,"agent_session":null,"model":null,"prompt":null,"tool":null,"tool_call":null,"helpers":[],"shared":[],"status":null,"exit_code":null,"time":"2027-01-15T08:00:00Z","commit":"[ID]","tree":"[ID]","parent":"[ID]","head":"[ID]","branch":"refs/heads/main","worktree":".","files":1,"added":1,"removed":0,"steps":0,"skipped_count":0,"skipped":[],"changes":[{"path":"a","status":"modified","old_mode":"100644","new_mode":"100644","old_id":"[ID]","new_id":"[ID]"}],"beside":[],"prompt_text":null,"reply":null,"input":null,"result":null,"failed":null}
    "#);
}

#[test]
fn the_text_of_status() {
    let repo = Repo::with(&[("a", "one\n"), ("b", "one\n")]);
    let none = transcript(&repo, &[&["status"], &["status", "--json"]]);
    assert_snapshot!(none, @r#"
    $ edio status
    no session is under way here
    hint: take the first one: edio snapshot -m "start"

    $ edio status --json
    {"v":1,"session":null,"turns":0,"current":null,"unsaved":[],"not_covered":[],"refused":null,"interrupted":null,"git_operation":null,"store":null,"agents":[]}
    "#);
    repo.edio(["snapshot", "-m", "first"]).ok();
    let same = transcript(&repo, &[&["status"]]);
    assert_snapshot!(same, @r#"
    $ edio status
    session [SESSION] (1 turn)
    current turn 1: first (just now)
    nothing changed since
    "#);
    repo.git(["init", "-q", "nested"]);
    repo.write("a", "two\n");
    repo.write("new", "two\n");
    repo.remove("b");
    repo.git(["bisect", "start"]);
    let changed = transcript(&repo, &[&["status"], &["status", "--json"]]);
    assert_snapshot!(changed, @r#"
    $ edio status
    session [SESSION] (1 turn)
    current turn 1: first (just now)
    since then 3 paths changed:
      M a
      D b
      A new
    not covered: nested (it is a repository of its own)
    git: a bisect is under way

    $ edio status --json
    {"v":1,"session":"[SESSION]","turns":1,"current":{"session":"[SESSION]","turn":1,"kind":"turn","current":true,"message":"first","agent":null,"agent_session":null,"model":null,"prompt":null,"tool":null,"tool_call":null,"helpers":[],"shared":[],"status":null,"exit_code":null,"time":"2027-01-15T08:00:00Z","commit":"[ID]","tree":"[ID]","parent":"[ID]","head":"[ID]","branch":"refs/heads/main","worktree":".","files":0,"added":0,"removed":0,"steps":0,"skipped_count":0,"skipped":[]},"unsaved":[{"path":"a","status":"modified","old_mode":"100644","new_mode":"100644","old_id":"[ID]","new_id":"[ID]"},{"path":"b","status":"deleted","old_mode":"100644","new_mode":null,"old_id":"[ID]","new_id":null},{"path":"new","status":"added","old_mode":null,"new_mode":"100644","old_id":null,"new_id":"[ID]"}],"not_covered":[{"path":"nested","why":"it is a repository of its own"}],"refused":null,"interrupted":null,"git_operation":"bisect","store":null,"agents":[]}
    "#);
}

#[test]
fn the_text_of_diff() {
    let repo = with_turns();
    repo.plain_patches();
    repo.write("a", "one\nunsaved\n");
    let lines: &[&[&str]] = &[
        &["diff"],
        &["diff", "1..2", "--json"],
        &["diff", "0..@", "-f", "a"],
        &["diff", "2", "-f", "new", "-f", "b"],
        &["diff", "--workspace"],
        &["diff", "1", "--workspace", "--json"],
        &["diff", "3..3"],
        &["diff", "1..2", "--workspace"],
    ];
    assert_snapshot!(transcript(&repo, lines), @r#"
    $ edio diff
    diff --git a/a b/a
    index [ID]..[ID] 100644
    --- a/a
    +++ b/a
    @@ -1,2 +1,2 @@
     one
    -two
    +three

    $ edio diff 1..2 --json
    {"v":1,"path":"b","status":"deleted","old_mode":"100644","new_mode":null,"old_id":"[ID]","new_id":null}
    {"v":1,"path":"new/c","status":"added","old_mode":null,"new_mode":"100644","old_id":null,"new_id":"[ID]"}

    $ edio diff 0..@ -f a
    diff --git a/a b/a
    index [ID]..[ID] 100644
    --- a/a
    +++ b/a
    @@ -1 +1,2 @@
     one
    +three

    $ edio diff 2 -f new -f b
    diff --git a/b b/b
    deleted file mode 100644
    index [ID]..[ID]
    --- a/b
    +++ /dev/null
    @@ -1 +0,0 @@
    -one
    diff --git a/new/c b/new/c
    new file mode 100644
    index [ID]..[ID]
    --- /dev/null
    +++ b/new/c
    @@ -0,0 +1 @@
    +three

    $ edio diff --workspace
    diff --git a/a b/a
    index [ID]..[ID] 100644
    --- a/a
    +++ b/a
    @@ -1,2 +1,2 @@
     one
    -three
    +unsaved

    $ edio diff 1 --workspace --json
    {"v":1,"path":"a","status":"modified","old_mode":"100644","new_mode":"100644","old_id":"[ID]","new_id":"[ID]"}

    $ edio diff 3..3

    $ edio diff 1..2 --workspace
    error: 1..2 is two turns, and --workspace takes one
    exit code 2
    "#);
}

#[test]
fn the_text_of_restore() {
    let repo = with_turns();
    repo.write("a", "unsaved\n");
    repo.write("kept.log", "ignored\n");
    let lines: &[&[&str]] = &[
        &["restore", "2", "--dry-run"],
        &["restore", "2", "--dry-run", "--json"],
        &["restore", "2"],
        &["restore", "2"],
        &["restore", "1", "-f", "a", "-f", "b"],
        &["restore", "@-1", "--json"],
        &["log"],
    ];
    assert_snapshot!(transcript(&repo, lines), @r#"
    $ edio restore 2 --dry-run
    write   a (it differs)
    remove  b (it appeared since)
    write   new/c (it is missing)
    nothing was changed: this is what would be done

    $ edio restore 2 --dry-run --json
    {"v":1,"turn":2,"commit":"[ID]","dry_run":true,"written":0,"removed":0,"safety_turn":null,"new_turn":null,"displaced":[],"saved":null,"beside":[],"plan":[{"path":"a","action":"write","why":"it differs"},{"path":"b","action":"remove","why":"it appeared since"},{"path":"new/c","action":"write","why":"it is missing"}]}

    $ edio restore 2
    your unsaved work is turn 4
    restored turn 2: 2 paths written, 1 removed
    hint: to undo it: edio undo

    $ edio restore 2
    restored turn 2: nothing to do

    $ edio restore 1 -f a -f b
    restored from turn 1: 1 path written (now turn 5)
    hint: to undo it: edio undo

    $ edio restore @-1 --json
    {"v":1,"turn":2,"commit":"[ID]","dry_run":false,"written":0,"removed":1,"safety_turn":null,"new_turn":null,"displaced":[],"saved":null,"beside":[],"plan":[{"path":"b","action":"remove","why":"it appeared since"}]}

    $ edio log
         5  just now        -           1 file +1 -0  Restore 1: 2 paths
         4  just now        edio        1 file +1 -2  Before restore 2
         3  just now        -           1 file +1 -1  third
    *    2  just now        -           2 files +1 -1  b, new/c
         1  just now        -           1 file +1 -0  first
    "#);
}

#[test]
fn the_text_of_accept() {
    let repo = with_turns();
    let first = transcript(
        &repo,
        &[&["accept", "feat: it\n\nand why"], &["accept", "again"]],
    );
    assert_snapshot!(first, @r#"
    $ edio accept feat: it

    and why
    accepted: [ID] on main (1 file +1 -0)
    the session [SESSION] is archived
    hint: to undo it: edio undo

    $ edio accept again
    error: there is nothing to accept
    caused by: no session is under way here
    hint: take a turn first: edio snapshot -m "what was done"
    exit code 1
    "#);
    repo.write("a", "mine\n");
    repo.write("untracked", "mine\n");
    repo.edio([
        "run",
        "-q",
        "--",
        "sh",
        "-c",
        "echo session >> a; echo session > b",
    ])
    .ok();
    let second = transcript(&repo, &[&["accept", "-m", "feat: more"]]);
    assert_snapshot!(second, @r#"
    $ edio accept -m feat: more
    accepted: [ID] on main (2 files +3 -3)
    the session [SESSION] is archived
      whole, with what was uncommitted there before: a
      stays uncommitted: untracked (it was so before the session began)
    hint: to undo it: edio undo
    "#);
    repo.write("a", "session\n");
    repo.edio(["snapshot", "-q"]).ok();
    let third = transcript(&repo, &[&["accept", "last", "--json"]]);
    assert_snapshot!(third, @r#"
    $ edio accept last --json
    {"v":1,"dry_run":false,"commit":"[ID]","message":"last","branch":"refs/heads/main","session":"[SESSION]","turn":1,"next_session":null,"files":2,"added":1,"removed":1,"changes":[{"path":"a","status":"modified","old_mode":"100644","new_mode":"100644","old_id":"[ID]","new_id":"[ID]"},{"path":"untracked","status":"added","old_mode":null,"new_mode":"100644","old_id":null,"new_id":"[ID]"}],"whole":[],"uncommitted":[],"unstaged":[],"unfinished":null}
    "#);
}

#[test]
fn the_text_of_run() {
    let repo = Repo::with(&[("a", "one\n")]);
    let first = transcript(
        &repo,
        &[
            &["run", "sh", "-c", "echo two > a"],
            &["run", "sh", "-c", "exit 3"],
        ],
    );
    assert_snapshot!(first, @r#"
    $ edio run sh -c echo two > a
    edio: turn 1 (1 file +1 -1)
    hint: see it: edio show; go back: edio restore @-1

    $ edio run sh -c exit 3
    edio: nothing changed, no turn was taken
    exit code 3
    "#);
    repo.write("a", "mine\n");
    let second = transcript(&repo, &[&["run", "rm", "a"], &["run", "no-such-command"]]);
    assert_snapshot!(second, @r#"
    $ edio run rm a
    edio: what changed before is turn 2 (1 file +1 -1)
    edio: turn 3 (1 file +0 -1)
    hint: see it: edio show; go back: edio restore @-1

    $ edio run no-such-command
    error: there is no command no-such-command
    caused by: No such file or directory (os error 2)
    exit code 127
    "#);
}

#[test]
fn the_text_of_errors() {
    let repo = with_turns();
    let lines: &[&[&str]] = &[
        &["show", "9"],
        &["show", "x"],
        &["show", "1.3"],
        &["show", "@-9"],
        &["diff", "1.."],
        &["diff", "abcd..1"],
        &["restore"],
        &["restore", "1", "-f", "nothing"],
        &["restore", "1", "-f", "../outside"],
        &["restore", "1", "-f", ".git/config"],
        &["restore", "1", "-f", ""],
        &["snapshot", "-m", " "],
        &["accept"],
        &["accept", "--al"],
        &["accept", "one", "-m", "two"],
        &["--session", "x", "log"],
        &["--session", "sess_1700000000_0123abcd", "log"],
        &["-C", "nowhere", "log"],
        &["bogus"],
        &["log", "--bogus"],
        &["snapshot", "--json", "-m", ""],
        &["bogus", "--json"],
    ];
    assert_snapshot!(transcript(&repo, lines), @r#"
    $ edio show 9
    error: there is no turn 9
    hint: there are turns 1 to 3 (and 0, the start): edio log
    exit code 1

    $ edio show x
    error: invalid value 'x' for '[TURN]': write a turn as 7, 7.2, @, @-1, last, or 4 or more digits of its id
    hint: edio --help, or edio COMMAND --help
    exit code 2

    $ edio show 1.3
    error: there is no step 1.3
    hint: edio log shows what there is
    exit code 1

    $ edio show @-9
    error: there is no turn @-9
    hint: there are turns 1 to 3 (and 0, the start): edio log
    exit code 1

    $ edio diff 1..
    error: invalid value '1..' for '[TURN | A..B]': write a turn as 7, 7.2, @, @-1, last, or 4 or more digits of its id
    hint: edio --help, or edio COMMAND --help
    exit code 2

    $ edio diff abcd..1
    error: no turn's commit begins with abcd
    hint: there are turns 1 to 3 (and 0, the start): edio log
    exit code 1

    $ edio restore
    error: the following required arguments were not provided:
      <TURN>
    hint: a turn is a number, @ (the current one), @-1 or last: edio log
    hint: Usage: edio restore <TURN>
    exit code 2

    $ edio restore 1 -f nothing
    error: turn 1 has no nothing
    hint: what it has: git ls-tree -r --name-only [ID]
    exit code 1

    $ edio restore 1 -f ../outside
    error: ../outside lies outside the work tree
    exit code 2

    $ edio restore 1 -f .git/config
    error: .git/config lies in a git directory
    exit code 2

    $ edio restore 1 -f
    error: a value is required for '--file <FILE>' but none was supplied
    hint: edio --help, or edio COMMAND --help
    exit code 2

    $ edio snapshot -m
    error: the message is empty
    hint: say in a few words what was done
    exit code 2

    $ edio accept
    error: a commit needs a message
    hint: edio accept "what was done"
    exit code 2

    $ edio accept --al
    error: there is no flag --al
    hint: if it is the message: edio accept -m "--al"
    exit code 2

    $ edio accept one -m two
    error: the argument '[MSG]' cannot be used with '--message <MSG>'
    hint: Usage: edio accept <MSG>
    exit code 2

    $ edio --session x log
    error: there is no session x
    hint: edio log --all lists them
    exit code 1

    $ edio --session sess_1700000000_0123abcd log
    error: there is no session [SESSION]
    hint: edio log --all lists them
    exit code 1

    $ edio -C nowhere log
    error: can't enter [AROUND]/repo/nowhere
    caused by: No such file or directory (os error 2)
    exit code 1

    $ edio bogus
    error: unrecognized subcommand 'bogus'
    hint: Usage: edio [OPTIONS] [COMMAND]
    exit code 2

    $ edio log --bogus
    error: unexpected argument '--bogus' found
    hint: to pass '--bogus' as a value, use '-- --bogus'
    hint: Usage: edio log [OPTIONS] [PATH]...
    exit code 2

    $ edio snapshot --json -m
    {"v":1,"error":{"kind":"usage","exit_code":2,"message":"the message is empty","causes":[],"hints":["say in a few words what was done"]}}
    exit code 2

    $ edio bogus --json
    {"v":1,"error":{"kind":"usage","exit_code":2,"message":"unrecognized subcommand 'bogus'","causes":[],"hints":["Usage: edio [OPTIONS] [COMMAND]"]}}
    exit code 2
    "#);
    let outside = repo.edio_in(repo.outside(), ["log"]).to_string();
    assert_snapshot!(outside, @r#"
    [stdout ends]
    error: there is no git work tree here
    caused by: fatal: not a git repository (or any of the parent directories): .git
    hint: run it inside a repository, or make one: git init
    hint: or keep the turns of this folder without one: edio init --store
    [stderr ends]
    exit code 4
    "#);
}

/// Is each line one object with the version first?
#[track_caller]
fn is_json(ran: &Ran) {
    for line in ran.stdout.lines().chain(ran.stderr.lines()) {
        assert!(line.starts_with("{\"v\":1,"), "{line:?} in {ran}");
        let read: Result<Value, _> = serde_json::from_str(line);
        assert!(
            read.is_ok_and(|value| value.is_object()),
            "{line:?} in {ran}"
        );
    }
}

#[test]
fn with_json_each_line_is_an_object_with_the_version_first() {
    let repo = with_turns();
    repo.git(["init", "-q", "nested"]);
    repo.write("a", "unsaved\n");
    repo.write(
        <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"caf\xe9\n"),
        "",
    );
    let done: &[(&[&str], usize)] = &[
        (&["init"], 1),
        (&["status"], 1),
        (&[], 1),
        (&["restore", "2", "--dry-run"], 1),
        (&["diff", "--workspace"], 2),
        (&["snapshot", "-m", "fourth"], 1),
        (&["snapshot", "--if-changed"], 1),
        (&["log"], 4),
        (&["log", "-p"], 4),
        (&["log", "--all"], 4),
        (&["show"], 1),
        (&["diff", "4"], 2),
        (&["restore", "3"], 1),
        (&["restore", "2", "-f", "new"], 1),
        (&["accept", "feat"], 1),
        (&["status"], 1),
        (&["log", "--all"], 5),
    ];
    for (words, lines) in done {
        let ran = repo.edio([&["--json"], *words].concat());
        is_json(ran.ok());
        assert_eq!(
            (ran.stdout.lines().count(), ran.stderr.as_str()),
            (*lines, ""),
            "{words:?}: {ran}"
        );
    }
    let failed: &[(&[&str], i32)] = &[
        (&["log"], 1),
        (&["restore", "1"], 1),
        (&["accept", "feat"], 1),
        (&["accept"], 2),
        (&["snapshot", "-m", ""], 2),
        (&["bogus"], 2),
        (&["restore"], 2),
        (&["restore", "a\nb"], 2),
        (&["log", "../x"], 2),
        (&["--color", "some", "log"], 2),
        (&["-C", "nowhere", "status"], 1),
        (&["-C", "..", "status"], 4),
        (&["run", "no-such-command"], 127),
    ];
    for (words, code) in failed {
        let ran = repo.edio([*words, &["--json"]].concat());
        let ran = if words[0] == "run" {
            repo.edio([&["--json"], *words].concat())
        } else {
            ran
        };
        is_json(ran.fails(*code));
        assert_eq!(ran.stdout, "", "{ran}");
        let error: Value = serde_json::from_str(ran.stderr.lines().next().unwrap()).unwrap();
        let error = &error["error"];
        if words[0] != "run" {
            assert_eq!(error["exit_code"], *code, "{ran}");
        }
        let kind = match code {
            2 => "usage",
            4 => "no_repository",
            _ => "cannot",
        };
        assert_eq!(error["kind"], kind, "{ran}");
        assert!(!error["message"].as_str().unwrap().is_empty(), "{ran}");
        assert!(
            error["causes"].is_array() && error["hints"].is_array(),
            "{ran}"
        );
    }
}

#[test]
fn with_json_also_where_there_is_no_repository_and_in_the_demo() {
    let repo = Repo::unborn();
    let alone = repo.edio_in(repo.outside(), ["--json"]);
    is_json(&alone);
    assert!(!alone.stdout.is_empty() || !alone.stderr.is_empty());
    is_json(&repo.edio(["demo", "--json"]));
}

#[test]
fn with_json_a_usage_error_tells_the_whole_value() {
    let repo = Repo::unborn();
    let ran = repo.edio(["--json", "show", "a\nb"]);
    let error: Value = serde_json::from_str(ran.fails(2).stderr.trim_end()).unwrap();
    let message = error["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("b'") && message.contains("write a turn as"),
        "{ran}"
    );
}

#[test]
fn a_path_that_is_not_utf_8_is_bytes_in_json() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write(std::ffi::OsStr::new("größe"), "");
    repo.write(
        <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"caf\xe9"),
        "",
    );
    repo.edio(["snapshot"]).ok();
    let paths: Vec<Value> = repo
        .edio(["diff", "--json"])
        .json()
        .iter()
        .map(|c| c["path"].clone())
        .collect();
    assert_eq!(
        paths,
        [serde_json::json!({ "bytes": "Y2Fm6Q==" }), "größe".into()]
    );
}

#[test]
fn quiet_says_nothing_of_what_was_done() {
    let repo = with_turns();
    repo.git(["init", "-q", "nested"]);
    repo.write("a", "unsaved\n");
    for words in [
        &["init"][..],
        &["restore", "2"],
        &["restore", "1", "-f", "a"],
        &["snapshot", "-m", "x"],
        &["snapshot", "--if-changed"],
        &["run", "--", "true"],
        &["accept", "feat"],
    ] {
        let ran = repo.edio([&["-q"], words].concat());
        assert_eq!(
            (ran.ok().stdout.as_str(), ran.stderr.as_str()),
            ("", ""),
            "{words:?}"
        );
    }
    let ran = repo.edio(["log", "--quiet", "--all"]);
    assert!(
        ran.ok().stdout.lines().count() > 3,
        "data comes all the same: {ran}"
    );
    assert!(
        repo.edio(["-q", "show", "1"])
            .fails(1)
            .stderr
            .starts_with("error: ")
    );
    assert!(
        repo.edio(["-q", "show", "x"])
            .fails(2)
            .stderr
            .starts_with("error: ")
    );
}

#[test]
fn p9_verbose_shows_no_password_of_a_remote() {
    let repo = Repo::with(&[("a", "0\n")]);
    repo.edio(["snapshot", "-m", "one"]).ok();
    let ran = repo.edio(["-v", "push", "https://user:hunter2@127.0.0.1:1/x.git"]);
    assert!(ran.stderr.contains("127.0.0.1:1/x.git"), "{ran}");
    assert!(!ran.stderr.contains("hunter2"), "{ran}");
}

#[test]
fn verbose_shows_each_git_command_and_its_time() {
    let repo = Repo::with(&[("a", "one\n")]);
    let ran = repo.edio(["-v", "snapshot", "-m", "first"]);
    let traced = ran
        .ok()
        .stderr
        .lines()
        .filter(|line| line.contains(" ms  git "));
    assert!(traced.count() > 3, "{ran}");
    assert!(
        ran.stderr.contains("git write-tree") && ran.stderr.contains("git update-ref"),
        "{ran}"
    );
}

/// Flags or words, environment variables, and whether there are colours.
type Case<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], bool);

/// An escape sequence for a colour, wherever it is.
fn has_colour(ran: &Ran) -> (bool, bool) {
    (ran.stdout.contains("\x1b["), ran.stderr.contains("\x1b["))
}

#[test]
fn colours_obey_flag_and_environment() {
    let repo = with_turns();
    let cases: &[Case] = &[
        (&[], &[], false),
        (&["--color", "auto"], &[], false),
        (&["--color", "always"], &[], true),
        (&["--color", "never"], &[], false),
        (&["--color=always"], &[("NO_COLOR", "1")], true),
        (&[], &[("CLICOLOR_FORCE", "1")], true),
        (&[], &[("CLICOLOR_FORCE", "0")], false),
        (&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
        (&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "")], true),
        (&["--color", "never"], &[("CLICOLOR_FORCE", "1")], false),
    ];
    for (flags, variables, expected) in cases {
        for (words, on) in [
            (&["log"][..], (true, false)),
            (&["show", "2"], (true, false)),
            (&["diff", "2"], (true, false)),
            (&["show", "9"], (false, true)),
        ] {
            let mut command = repo.command([*flags, words].concat());
            let ran = repo.ran(command.envs(variables.iter().copied()));
            let expected = if *expected { on } else { (false, false) };
            assert_eq!(
                has_colour(&ran),
                expected,
                "{flags:?} {variables:?} {words:?} {ran}"
            );
        }
    }
    let json = repo.edio(["--color", "always", "--json", "log"]);
    assert_eq!(has_colour(json.ok()), (false, false));
    repo.edio(["--color", "some", "log"]).fails(2);
}

#[test]
fn colours_on_a_terminal() {
    let repo = with_turns();
    let cases: &[Case] = &[
        (&["log"], &[], true),
        (&["show", "9"], &[], true),
        (&["log"], &[("NO_COLOR", "1")], false),
        (&["log"], &[("TERM", "dumb")], false),
        (&["--color", "never", "log"], &[], false),
        (&["--color", "never", "show", "9"], &[], false),
        // What is wrong with the command line itself obeys the same.
        (&["show", "x"], &[], true),
        (&["show", "x"], &[("NO_COLOR", "1")], false),
        (&["--color", "never", "show", "x"], &[], false),
        (&["--color", "never", "bogus"], &[], false),
    ];
    for (words, variables, expected) in cases {
        let words = [&["--no-pager"], *words].concat();
        let mut command =
            repo.terminal_command(edio_binary().to_str().unwrap(), words.iter().copied(), "");
        let ran = repo.ran(command.envs(variables.iter().copied()));
        assert_eq!(
            ran.stdout.contains('\x1b'),
            *expected,
            "{words:?} {variables:?} {ran}"
        );
    }
}

#[test]
fn the_pager_is_the_one_of_the_users_git() {
    let repo = with_turns();
    repo.git([
        "config",
        "core.pager",
        "sed 's/^/paged: /'; echo \"LESS=$LESS LV=$LV\"",
    ]);
    for words in [&["log"][..], &["show"], &["diff"]] {
        let ran = repo.on_a_terminal(words.iter().copied(), "");
        assert!(ran.ok().stdout.starts_with("paged: "), "{ran}");
        assert!(ran.stdout.ends_with("LESS=FRX LV=-c\r\n"), "{ran}");
    }
    let unpaged: &[&[&str]] = &[
        &["--no-pager", "log"],
        &["--json", "log"],
        &["status"],
        &["snapshot", "-m", "x"],
        &["show", "99"],
    ];
    for words in unpaged {
        let ran = repo.on_a_terminal(words.iter().copied(), "");
        assert!(!ran.stdout.contains("paged: "), "{words:?} {ran}");
    }
    assert!(
        !repo.edio(["log"]).ok().stdout.contains("paged: "),
        "stdout is no terminal"
    );
    let variables: &[(&str, &str, &str)] = &[
        ("LESS", "-S", "LESS=-S LV=-c"),
        ("LV", "x", "LESS=FRX LV=x"),
        ("GIT_PAGER", "sed 's/^/other: /'", "other: "),
        ("PAGER", "sed 's/^/other: /'", "paged: "),
    ];
    for (name, value, expected) in variables {
        let mut command = repo.terminal_command(edio_binary().to_str().unwrap(), ["log"], "");
        let ran = repo.ran(command.env(name, value));
        assert!(ran.ok().stdout.contains(expected), "{name}: {ran}");
    }
}

#[test]
fn a_pager_that_is_left_early_or_can_not_be_started_is_no_failure() {
    let repo = with_turns();
    repo.write("a", "a long line of text, many times over\n".repeat(20_000));
    repo.edio(["snapshot", "-m", "long"]).ok();
    repo.git(["config", "core.pager", "head -n 1"]);
    let ran = repo.on_a_terminal(["log", "-p"], "");
    assert_eq!(ran.ok().stdout.lines().count(), 1, "{ran}");
    repo.git(["config", "core.pager", "no-such-pager"]);
    let ran = repo.on_a_terminal(["log"], "");
    assert!(
        ran.ok().stdout.contains("long") && ran.stdout.contains("no-such-pager"),
        "{ran}"
    );
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let repo = with_turns();
    repo.write("a", "a long line of text, many times over\n".repeat(20_000));
    repo.edio(["snapshot", "-m", "long"]).ok();
    for words in ["log", "log -p", "log --json", "show", "diff", "status"] {
        for reader in ["head -n 1", "true"] {
            let mut command = Command::new("sh");
            repo.surround(&mut command);
            let script = format!("{{ \"$0\" {words}; echo $? > ../code; }} | {reader}");
            command
                .current_dir(&repo.top)
                .args(["-c", &script])
                .arg(edio_binary());
            let ran = repo.ran(&mut command);
            assert_eq!(ran.ok().stderr, "", "{words} | {reader}: {ran}");
            let code = fs::read_to_string(repo.outside().join("code")).unwrap();
            assert_eq!(code, "0\n", "{words} | {reader}");
        }
    }
}

#[test]
fn an_output_that_can_not_be_written_is_a_failure() {
    let repo = with_turns();
    for words in [
        &["log"][..],
        &["show"],
        &["diff"],
        &["status"],
        &["log", "--json"],
    ] {
        let mut command = repo.command(words);
        let full = fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let output = command
            .stdout(full)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        assert!(
            String::from_utf8_lossy(&output.stderr).contains("write"),
            "{words:?}"
        );
    }
}

/// What a command line that is wrong must not change.
fn everything(repo: &Repo) -> (Vec<String>, Vec<String>, String) {
    (repo.git_state(), repo.manifest(), repo.edio_refs())
}

/// Runs command lines that are wrong: each has this exit code and these words on stderr, and nothing is changed.
#[track_caller]
fn refuses(repo: &Repo, lines: &[&[&str]], code: i32, said: &str) {
    let before = everything(repo);
    for words in lines {
        let ran = repo.edio(*words);
        ran.fails(code);
        let told = ran.stderr.starts_with("error: ") && ran.stderr.contains(said);
        assert!(told, "{words:?}: {ran}");
        assert_eq!(ran.stdout, "", "{words:?}");
    }
    assert!(everything(repo) == before, "{lines:?} changed something");
}

#[test]
fn where_there_is_no_repository() {
    let repo = with_turns();
    repo.git(["init", "-q", "--bare", "../bare"]);
    let all: &[&[&str]] = &[
        &["init"],
        &["snapshot"],
        &["log"],
        &["show"],
        &["diff"],
        &["restore", "1"],
        &["accept", "x"],
        &["status"],
        &["run", "true"],
        &["exec", "1", "true"],
        &["bisect", "true"],
    ];
    for folder in [
        repo.outside(),
        repo.outside().join("bare"),
        repo.path(".git"),
        repo.path(".git/objects"),
    ] {
        for words in all {
            let ran = repo.edio_in(&folder, *words);
            assert!(
                ran.fails(4).stderr.starts_with("error: "),
                "{words:?}: {ran}"
            );
            assert!(ran.stderr.contains("hint: "), "{words:?}: {ran}");
        }
        assert!(!folder.join("edio").exists() || folder.ends_with(".git"));
    }
}

#[test]
fn where_there_is_no_session() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write("a", "two\n");
    refuses(
        &repo,
        &[
            &["log"],
            &["show"],
            &["show", "1"],
            &["diff"],
            &["diff", "--workspace"],
            &["restore", "1"],
            &["restore", "0", "--dry-run"],
            &["forget", "-f", "a", "--yes"],
            &["redact", "--check"],
            &["export", "--markdown"],
            &["export", "--patches", "p"],
            &["export", "--bundle", "b"],
            &["accept", "x"],
        ],
        1,
        "edio snapshot -m",
    );
}

#[test]
fn where_there_is_no_such_turn_it_says_which_there_are() {
    let repo = with_turns();
    refuses(
        &repo,
        &[
            &["show", "4"],
            &["show", "0099"],
            &["diff", "4"],
            &["diff", "1..4"],
            &["diff", "4..1"],
            &["diff", "4", "--workspace"],
            &["restore", "4"],
            &["restore", "4", "--dry-run"],
            &["restore", "4", "-f", "a"],
            &["restore", "@-3"],
            &["restore", "abcdef0123"],
        ],
        1,
        "there are turns 1 to 3",
    );
    refuses(&repo, &[&["restore", "1.1"]], 1, "1.1");
    let other: &[&str] = &["--session", "sess_1700000000_0123abcd", "restore", "1"];
    refuses(&repo, &[other], 1, "edio log --all");
}

#[test]
fn a_turn_that_is_written_wrong_is_a_usage_error() {
    let repo = with_turns();
    let wrong = [
        "",
        " ",
        "x",
        "-1",
        "+1",
        "1x",
        "@+1",
        "@-",
        "@-x",
        "HEAD",
        "ABCDEF",
        "abc",
        "1.2.3",
        "1.",
        "99999999999999999999",
        "１",
        "../1",
    ];
    let ranges = wrong.map(|turn| format!("1..{turn}"));
    for verb in ["restore", "show", "diff"] {
        let lines = wrong.map(|turn| [verb, "--", turn]);
        refuses(&repo, &lines.each_ref().map(|line| &line[..]), 2, "");
    }
    let lines = ranges.each_ref().map(|range| ["diff", "--", range]);
    refuses(&repo, &lines.each_ref().map(|line| &line[..]), 2, "");
    refuses(
        &repo,
        &[
            &["restore"],
            &["restore", "1", "2"],
            &["restore", "1..2"],
            &["diff", "1..2..3"],
            &["diff", "1...3"],
            &["diff", "1..2", "--workspace"],
            &["--session", "a b", "log"],
            &["--session", "../x", "log"],
            &["show", "-1"],
        ],
        2,
        "",
    );
}

#[test]
fn a_file_that_the_turn_lacks_is_not_removed() {
    let repo = with_turns();
    repo.write("untracked", "mine\n");
    repo.edio(["snapshot"]).ok();
    refuses(
        &repo,
        &[
            &["restore", "1", "-f", "untracked"],
            &["restore", "1", "-f", "nothing"],
            &["restore", "1", "-f", "a", "-f", "nothing"],
            &["restore", "1", "-f", "a/b"],
            &["restore", "1", "-f", "*"],
            &["restore", "1", "-f", ":(top)a"],
            &["restore", "1", "-f", "new", "--dry-run"],
        ],
        1,
        "turn 1 has no ",
    );
}

#[test]
fn a_path_outside_or_in_the_git_directory_is_a_usage_error() {
    let repo = with_turns();
    repo.write("sub/in", "one\n");
    repo.edio(["snapshot"]).ok();
    let paths = [
        "../x",
        "..",
        "/",
        "/etc/passwd",
        "sub/../../x",
        ".git",
        ".git/config",
        ".GIT/config",
        "sub/.git/x",
        "",
    ];
    let restores = paths.map(|path| ["restore", "1", "-f", path]);
    refuses(&repo, &restores.each_ref().map(|line| &line[..]), 2, "");
    let diffs = paths.map(|path| ["diff", "1", "-f", path]);
    refuses(&repo, &diffs.each_ref().map(|line| &line[..]), 2, "");
    let logs = paths.map(|path| ["log", path]);
    refuses(&repo, &logs.each_ref().map(|line| &line[..]), 2, "");
    repo.edio_in("sub", ["restore", "1", "-f", "../../x"])
        .fails(2);
    repo.edio_in("sub", ["diff", "2", "-f", "../new"]).ok();
}

#[test]
fn a_message_that_says_nothing_or_is_no_message() {
    let repo = with_turns();
    let (longest, longer) = ("x".repeat(64 << 10), "x".repeat(100_000));
    for message in ["", " ", "\n\t\r\n", &longer] {
        let lines: &[&[&str]] = &[
            &["snapshot", "-m", message],
            &["accept", "-m", message],
            &["accept", message],
        ];
        refuses(&repo, lines, 2, "the message ");
    }
    refuses(&repo, &[&["snapshot", "-m"]], 2, "");
    let mut not_utf_8 = repo.command(["snapshot", "-m"]);
    not_utf_8.arg(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"caf\xe9"));
    repo.ran(&mut not_utf_8).fails(2);
    repo.edio(["snapshot", "-m", &longest]).ok();
    assert_eq!(repo.edio(["show", "--json"]).json()[0]["message"], longest);
}

#[test]
fn p9_a_message_is_stored_to_the_letter_and_shown_escaped() {
    let messages = [
        "\x1b]0;title\x07 red \x1b[31m",
        "one\rtwo\x08\x7f",
        "c1 \u{9b}31m bidi \u{202e}txet",
        "fix\n\nEdio-Turn: 99\nEdio-Kind: safety\nEdio-Version: 1",
        "  blanks around \n\n",
        "Edio-Session: sess_1700000000_0123abcd",
        "-----BEGIN PGP SIGNATURE-----\n# comment\n\n\n\nend",
        "tab\tand %s %n $(id) `id`",
    ];
    let repo = Repo::with(&[("a", "one\n")]);
    for (number, message) in (1..).zip(messages) {
        let said = repo.edio(["snapshot", "-m", message]);
        let turn = repo
            .edio(["show", &number.to_string(), "--json"])
            .json()
            .remove(0);
        assert_eq!(
            (&turn["turn"], &turn["kind"]),
            (&number.into(), &"turn".into()),
            "{message:?}"
        );
        assert_eq!(turn["message"], message);
        let raw = repo.git_raw(["cat-file", "commit", &repo.turn_ref(number)]);
        let body = raw.split_once("\n\n").unwrap().1;
        assert!(
            body.starts_with(&format!("{message}\n\nEdio-Session: ")),
            "{body}"
        );
        let own = format!("\nEdio-Turn: {number}\n");
        assert!(body.rsplit("\n\n").next().unwrap().contains(&own), "{body}");
        for ran in [
            said,
            repo.edio(["log"]),
            repo.edio(["show", "--color", "always"]),
            repo.edio(["log", "--json"]),
        ] {
            is_harmless(ran.ok());
        }
    }
    assert_eq!(repo.turns(), messages.len());
    repo.fsck();
}

/// Nothing here drives a terminal, but for line ends, tabs and colours.
#[track_caller]
pub fn is_harmless(ran: &Ran) {
    let text = format!("{}{}", ran.stdout, ran.stderr).replace("\r\n", "\n");
    let mut rest = text.as_str();
    while let Some(at) = rest.find(|c: char| {
        c.is_control() && c != '\n' && c != '\t' || ('\u{202a}'..='\u{202e}').contains(&c)
    }) {
        rest = &rest[at..];
        let style = rest.strip_prefix("\x1b[").and_then(|style| {
            style
                .split_once('m')
                .filter(|(digits, _)| digits.bytes().all(|b| b.is_ascii_digit() || b == b';'))
        });
        let Some((_, after)) = style else {
            panic!("{:?} in {ran}", rest.chars().take(12).collect::<String>());
        };
        rest = after;
    }
}

const EVIL: &str = "e\x1b]0;evil\x07\u{202e}\u{9b}2J\x1b[2J";

#[test]
fn p9_names_with_escape_sequences_are_never_printed_raw() {
    let repo = Repo::with(&[("a", "one\n"), (EVIL, "one\n")]);
    repo.git(["init", "-q", &format!("nested{EVIL}")]);
    repo.write(EVIL, format!("{EVIL}\n"));
    repo.write(format!("untracked{EVIL}"), EVIL);
    repo.git(["switch", "-q", "-c", "b\u{202e}ranch"]);
    repo.write(format!("run{EVIL}"), "#!/bin/sh\n");
    repo.chmod(format!("run{EVIL}"), 0o755);
    let mut shown = 0;
    let mut show = |lines: &[&[&str]]| {
        for words in lines {
            let ran = repo.edio([&["--color", "always"], *words].concat());
            is_harmless(&ran);
            shown += usize::from(format!("{}{}", ran.stdout, ran.stderr).contains("evil"));
        }
    };
    show(&[
        &["snapshot"],
        &["log"],
        &["log", "--all"],
        &["status"],
        &["run", &format!("./run{EVIL}")],
        &["run", EVIL],
        &["run", "sh", "-c", "echo more >> \"$0\"", EVIL],
        &["log"],
        &["diff", "--json"],
        &["restore", "0", "--dry-run"],
        &["restore", "1", "-f", EVIL],
        &["restore", "0", "-f", EVIL, "--json"],
        &["restore", "0"],
        &["restore", "1"],
        &["restore", "0", "-f", &format!("no{EVIL}")],
        &["restore", "0", "-f", &format!("../{EVIL}")],
        &["restore", "0", "-f", &format!(".git/{EVIL}")],
        &["-C", EVIL, "log"],
        &["-C", &format!("no{EVIL}"), "log"],
        &["-v", "diff", "1", "-f", EVIL, "--json"],
        &["forget", "-f", &format!("untracked{EVIL}")],
        &["forget", "-f", &format!("no{EVIL}"), "--yes"],
        &["forget", "-f", &format!("untracked{EVIL}"), "--yes"],
        &["accept", &format!("-{EVIL}")],
    ]);
    // A patch is passed on byte for byte, but for where a person reads it.
    for words in [&["log", "-p"][..], &["show"], &["diff", "1"]] {
        let words = [&["--no-pager"], words].concat();
        let ran = repo.on_a_terminal(words.iter().copied(), "");
        is_harmless(ran.ok());
        assert!(ran.stdout.contains("\\x1b]0;evil\\x07"), "{ran}");
    }
    show(&[&["accept", EVIL], &["status"]]);
    assert!(shown > 12, "the names are shown {shown} times");
}

#[test]
fn p9_a_command_line_that_is_wrong_is_not_printed_raw() {
    let repo = with_turns();
    for words in [
        &["show", EVIL][..],
        &["restore", EVIL],
        &["diff", EVIL],
        &[EVIL],
        &["log", &format!("--{EVIL}")],
        &["--session", EVIL, "log"],
        &["accept", "x", EVIL],
        &["--color", EVIL, "log"],
    ] {
        let ran = repo.on_a_terminal(words.iter().copied(), "");
        assert_eq!(ran.code, Some(2), "{words:?}: {ran}");
        is_harmless(&ran);
    }
}

#[test]
fn p9_what_a_folder_is_called_is_not_printed_raw() {
    let repo = Repo::unborn();
    let top = repo.outside().join(EVIL);
    repo.git(["init", "-q", top.to_str().unwrap()]);
    fs::write(top.join("a"), "one\n").unwrap();
    for words in [
        &["init"][..],
        &["snapshot"],
        &["status"],
        &["-v", "log"],
        &["show", "9"],
        &["restore", "1", "-f", "/etc"],
    ] {
        let words = [&["--no-pager", "-C", top.to_str().unwrap()], words].concat();
        is_harmless(&repo.on_a_terminal(words.iter().copied(), ""));
    }
    let linked = repo.edio_in(&top, ["init", "--json"]);
    is_harmless(linked.ok());
}

#[test]
fn what_git_tells_of_its_own_doings_is_in_no_error() {
    let repo = with_turns();
    let outside = repo.outside();
    let plain = repo.edio_in(&outside, ["status"]);
    let config = outside.join("telling");
    let telling = "[trace2]\n\tnormalTarget = 1\n\teventTarget = 2\n";
    fs::write(&config, telling).unwrap();
    let log = outside.join("trace");
    let variables = [
        ("GIT_TRACE", "1"),
        ("GIT_TRACE_SETUP", "2"),
        ("GIT_TRACE2", "1"),
        ("GIT_CONFIG_GLOBAL", config.to_str().unwrap()),
    ];
    for (name, value) in variables {
        let mut told = repo.command(["status"]);
        let told = repo.ran(told.current_dir(&outside).env(name, value));
        assert_eq!(told.to_string(), plain.to_string(), "{name}");
    }
    // Where a person has it written to a file, it is.
    let mut logged = repo.command(["status"]);
    repo.ran(logged.env("GIT_TRACE", &log)).ok();
    assert!(fs::read_to_string(log).unwrap().contains("status"));
}

#[test]
fn the_demo_runs_and_heeds_nothing_that_the_person_has_set() {
    let repo = Repo::unborn();
    let config = repo.outside().join("mine");
    let hooks = repo.outside().join("hooks");
    let hook = hooks.join("pre-commit");
    repo.write(&hook, "#!/bin/sh\nexit 1\n");
    repo.chmod(&hook, 0o755);
    let hooks = hooks.display();
    let mine = format!("[core]\n\thooksPath = {hooks}\n[commit]\n\tgpgSign = true\n");
    fs::write(&config, mine).unwrap();
    let mut demo = repo.command(["demo"]);
    demo.env("GIT_CONFIG_GLOBAL", &config);
    let ran = repo.ran(demo.env("GIT_COMMITTER_DATE", "never"));
    assert!(ran.ok().stdout.contains("feat: add auth"), "{ran}");
}

#[test]
fn without_git_or_with_an_old_one() {
    let repo = with_turns();
    let bin = repo.outside().join("bin");
    fs::create_dir(&bin).unwrap();
    let before = (repo.git_state(), repo.manifest(), repo.edio_refs());
    let all: &[&[&str]] = &[
        &["snapshot"],
        &["log"],
        &["show"],
        &["restore", "1"],
        &["accept", "x"],
        &["status"],
        &["run", "true"],
        &["init"],
    ];
    let refuse = |said: &str| {
        for words in all {
            let ran = repo.ran(repo.command(*words).env("PATH", &bin));
            assert!(ran.fails(1).stderr.contains(said), "{words:?}: {ran}");
            assert!(ran.stderr.contains("hint: install "), "{words:?}: {ran}");
        }
    };
    refuse("git is missing");
    for (version, said) in [
        ("2.30.2", "git 2.30.2 is too old"),
        ("2.37.99", "2.38"),
        ("1.9", "2.38"),
    ] {
        fs::write(
            bin.join("git"),
            format!("#!/bin/sh\necho git version {version}\n"),
        )
        .unwrap();
        fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
        refuse(said);
    }
    assert!((repo.git_state(), repo.manifest(), repo.edio_refs()) == before);
    repo.edio(["snapshot", "--if-changed"]).ok();
}

#[test]
fn where_the_git_directory_may_not_be_written() {
    for touched in [false, true] {
        let repo = Repo::with(&[("a", "one\n")]);
        repo.write("a", "two\n");
        if touched {
            repo.edio(["snapshot", "-m", "first"]).ok();
            repo.write("a", "three\n");
        }
        repo.give_away();
        let mode = |mode: &str| {
            let status = Command::new("chmod")
                .args(["-R", mode])
                .arg(repo.path(".git"))
                .status();
            assert!(status.unwrap().success());
        };
        mode("a-w");
        let before = (repo.git_state(), repo.manifest(), repo.edio_refs());
        for words in [
            &["init"][..],
            &["snapshot", "-m", "x"],
            &["restore", "0"],
            &["accept", "x"],
            &["run", "true"],
        ] {
            let ran = repo.edio_without_rights(words);
            assert!(
                ran.fails(1).stderr.contains("ermission denied"),
                "{words:?}: {ran}"
            );
        }
        if touched {
            for words in [&["log"][..], &["show", "1"], &["diff", "1"]] {
                repo.edio_without_rights(words).ok();
            }
        }
        assert!((repo.git_state(), repo.manifest(), repo.edio_refs()) == before);
        mode("u+w");
        repo.edio_without_rights(["snapshot", "-m", "x"]).ok();
        repo.fsck();
    }
}

/// Everything on a file system of 2 MB, which is filled to the last byte after the first turn.
const FULL: &str = r#"
mount -t tmpfs -o size=2m tmpfs "$1" 2>/dev/null || { echo no mount; exit 0; }
edio=$0; cd "$1"
git init -q; echo one > a; git add a; git commit -q -m base
"$edio" -q snapshot -m first
echo two > a; head -c 100000 /dev/urandom > b
before() { git for-each-ref; git rev-parse HEAD; cksum .git/index a b; git --no-optional-locks status --porcelain; ls .git/*.lock; }
before > ../before 2>/dev/null
cat /dev/zero > .git/fill 2>/dev/null
for words in "snapshot -m second" "accept feat" "restore 0" "run true"; do
    "$edio" $words 2> ../said; echo "$words: $?"
    grep -q '^error: ' ../said && grep -qi 'no space\|diskspace' ../said && grep -q '^hint: make room' ../said || cat ../said
done
"$edio" log > /dev/null; echo "log: $?"
before 2>/dev/null | cmp - ../before
rm .git/fill
"$edio" -q snapshot -m second; echo "again: $?"
git show "$(git for-each-ref --format='%(refname)' 'refs/edio/active/*/2')":a; git fsck --strict --no-progress 2>&1 | grep -v dangling
"#;

#[test]
fn on_a_full_disk_nothing_is_changed() {
    let repo = Repo::unborn();
    fs::create_dir(repo.outside().join("small")).unwrap();
    let mut command = Command::new("unshare");
    repo.surround(&mut command);
    command
        .args(["-m", "sh", "-c", FULL])
        .arg(edio_binary())
        .arg(repo.outside().join("small"));
    let ran = command.current_dir(repo.outside()).output();
    let told = ran
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default();
    if told.is_empty() || told == "no mount\n" {
        return left_out("no file system may be mounted here");
    }
    assert_eq!(
        told,
        "snapshot -m second: 1\naccept feat: 1\nrestore 0: 1\nrun true: 1\nlog: 0\nagain: 0\ntwo\n"
    );
}

#[test]
fn a_file_where_edios_folder_is_to_be_is_named() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write(".git/edio", "");
    for words in [
        &["snapshot", "-m", "x"][..],
        &["init"],
        &["status"],
        &["log"],
        &["doctor"],
    ] {
        let ran = repo.edio(words);
        let said = &ran.fails(1).stderr;
        assert!(
            said.starts_with("error: what stands at "),
            "{words:?}: {ran}"
        );
        assert!(said.contains("/.git/edio is no folder"), "{words:?}: {ran}");
        assert!(
            said.contains("hint: move it away, edio needs a folder there: mv "),
            "{ran}"
        );
    }
    repo.remove(".git/edio");
    repo.edio(["snapshot", "-m", "x"]).ok();
}

#[test]
fn objects_that_another_user_owns_are_named() {
    let repo = with_turns();
    repo.write("a", "new\n");
    repo.give_away();
    let status = Command::new("chmod")
        .args(["-R", "a-w"])
        .arg(repo.path(".git/objects"))
        .status();
    assert!(status.unwrap().success());
    let ran = repo.edio_without_rights(["snapshot", "-m", "x"]);
    assert!(
        ran.fails(1).stderr.contains(
            "hint: see who owns the objects of the repository, and may write there: ls -ld "
        ),
        "{ran}"
    );
}

#[test]
fn a_path_that_is_nowhere_has_no_differences() {
    let repo = with_turns();
    for words in [
        &["diff", "-f", "nosuch"][..],
        &["diff", "1..2", "-f", "a", "-f", "nosuch"],
        &["diff", "--workspace", "-f", "nosuch"],
        &["diff", "-f", "nosuch", "--json"],
    ] {
        let ran = repo.edio(words);
        let said = &ran.fails(1).stderr;
        assert!(
            said.contains("there is no nosuch, neither in the turns nor on disk"),
            "{ran}"
        );
        assert_eq!(ran.stdout, "", "{ran}");
    }
    // What is there, and is unchanged, is a file or a folder, of a turn or on disk.
    repo.write("d/new", "x\n");
    for words in [
        &["diff", "1..1", "-f", "a"][..],
        &["diff", "1..1", "-f", "d"],
        &["diff", "1..1", "-f", "d/new"],
        &["diff", "1..1", "-f", "."],
    ] {
        let ran = repo.edio(words);
        assert_eq!(ran.ok().stdout, "", "{ran}");
        assert_eq!(ran.stderr, "", "{ran}");
    }
}

/// Another edio, or what stands in for it, that holds the lock of the work tree until its input ends.
fn holds_the_lock(repo: &Repo) -> std::process::Child {
    let mut holder = Command::new("flock");
    repo.surround(&mut holder);
    holder
        .arg("--no-fork")
        .arg(repo.path(".git/edio/lock"))
        .args(["sh", "-c", "echo held; exec timeout 20 cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut holder = holder.spawn().unwrap();
    let mut line = [0; 5];
    std::io::Read::read_exact(holder.stdout.as_mut().unwrap(), &mut line).unwrap();
    holder
}

#[test]
fn who_is_waited_for_is_said_once() {
    use std::io::{BufRead, BufReader};
    let repo = with_turns();
    let waiting = |flags: &[&str]| {
        let mut holder = holds_the_lock(&repo);
        let words = [&["snapshot", "--if-changed"][..], flags].concat();
        let mut command = repo.command(words);
        let mut waiting = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(waiting.stderr.take().unwrap());
        let mut first = String::new();
        said.read_line(&mut first).unwrap();
        drop(holder.stdin.take());
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut said, &mut rest).unwrap();
        assert!(waiting.wait().unwrap().success());
        let pid = holder.id();
        holder.wait().unwrap();
        (first, rest, pid)
    };
    let (first, rest, pid) = waiting(&[]);
    let expected =
        format!("waiting for another edio, process {pid}, which is at work in this work tree\n");
    assert_eq!(first, expected);
    assert!(!rest.contains("waiting"), "{rest}");
    let (first, rest, pid) = waiting(&["--json"]);
    let expected = format!(
        "{{\"v\":1,\"warning\":\"waiting for another edio, process {pid}, which is at work in this work tree\"}}\n"
    );
    assert_eq!((first, rest), (expected, String::new()));
}

#[test]
fn an_interrupt_ends_what_waits_for_the_lock() {
    let repo = with_turns();
    let lock = repo.path(".git/edio/lock");
    let mut holder = Command::new("flock");
    repo.surround(&mut holder);
    holder
        .arg(&lock)
        .args(["sh", "-c", "echo held; exec cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut holder = holder.spawn().unwrap();
    let mut line = [0; 5];
    std::io::Read::read_exact(holder.stdout.as_mut().unwrap(), &mut line).unwrap();
    let mut waiting = repo.command(["snapshot", "-m", "never"]).spawn().unwrap();
    let pid = waiting.id().to_string();
    let waits = |locks: String| {
        let mut lines = locks.lines();
        lines.any(|line| line.contains("->") && line.split(' ').any(|word| word == pid))
    };
    let begun = Instant::now();
    while !waits(fs::read_to_string("/proc/locks").unwrap()) {
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "it does not wait"
        );
        std::thread::yield_now();
    }
    let sent = Command::new("sh")
        .args(["-c", "kill -INT $0", &pid])
        .status();
    assert!(sent.unwrap().success());
    let status = waiting.wait().unwrap();
    drop(holder.stdin.take());
    holder.wait().unwrap();
    let code = status
        .code()
        .or_else(|| std::os::unix::process::ExitStatusExt::signal(&status).map(|s| 128 + s));
    assert_eq!(code, Some(130));
    assert_eq!(repo.turns(), 3);
    repo.edio(["snapshot", "-m", "fourth"]).ok();
}

#[test]
fn exit_code_3_is_for_what_would_be_lost() {
    let repo = with_turns();
    repo.git(["switch", "-q", "-c", "other"]);
    refuses(&repo, &[&["accept", "feat"]], 3, "hint: ");
    repo.git(["switch", "-q", "main"]);
    repo.remove("a");
    repo.git(["init", "-q", "a"]);
    repo.write("a/precious", "mine\n");
    let ran = repo.edio(["restore", "1"]);
    assert!(ran.fails(3).stderr.contains("a is "), "{ran}");
    assert_eq!(repo.read("a/precious"), "mine\n");
}

#[test]
fn help_is_a_word_too() {
    let repo = Repo::unborn();
    for (words, flag) in [
        (&["help"][..], &["--help"][..]),
        (&["help", "restore"], &["restore", "--help"]),
    ] {
        let told = repo.edio(words);
        assert_eq!(told.ok().stdout, repo.edio(flag).ok().stdout);
    }
    repo.edio(["help", "restoer"]).fails(2);
}
