//! `edio accept` in full: the user's hooks, signature, editor and template; turns that go on; and a table of what is
//! committed, and what stays as it was, for each way in which the user's own work can lie beside the session's (P1, P4).

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::accept::{committed, run, says_of};
use crate::common::{Ran, Repo, edio_binary};

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

/// Runs a script of the user's at the top, which must succeed.
#[track_caller]
fn sh(repo: &Repo, script: &str) {
    let mut command = Command::new("sh");
    repo.surround(&mut command);
    let output = command
        .current_dir(&repo.top)
        .args(["-ec", script])
        .output();
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{script}: {said}");
}

/// A repository with a session of one turn, which changed `a` and added `new`.
fn ready() -> Repo {
    let repo = Repo::with(&[("a", "base\n"), ("b", "base\n")]);
    repo.write("a", "session\n");
    repo.write("new", "session\n");
    repo.edio(["snapshot", "-m", "the turn\n\nwhat it did"])
        .ok();
    repo
}

/// What hooks wrote down.
fn seen(repo: &Repo) -> String {
    fs::read_to_string(repo.outside().join("home/seen")).unwrap_or_default()
}

/// Accept must say no with this code and these words, and change nothing that is the user's, nor end the session.
#[track_caller]
fn says_no(repo: &Repo, ran: &Ran, code: i32, said: &[&str], before: &(Vec<String>, Vec<String>)) {
    ran.fails_with(code, said);
    assert_eq!(repo.git_state(), before.0, "{ran}");
    assert_eq!(repo.manifest(), before.1, "{ran}");
    assert_eq!(
        (
            repo.sessions("active").len(),
            repo.sessions("archive").len()
        ),
        (1, 0),
        "{ran}"
    );
    assert!(!repo.has(".git/index.lock"));
}

/// What must be the same where accept says no.
fn before(repo: &Repo) -> (Vec<String>, Vec<String>) {
    (repo.git_state(), repo.manifest())
}

// --- hooks ---

const HOOKS: [&str; 4] = [
    "pre-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
];

#[test]
fn the_hooks_run_in_gits_order_with_gits_words() {
    let repo = ready();
    for name in HOOKS {
        repo.hook(
            name,
            &format!("echo \"{name} $# ${{2-}} $(basename \"$1\") $PWD $(git rev-parse HEAD)\" >> \"$HOME/seen\"; echo out; echo err >&2"),
        );
    }
    let head = repo.git(["rev-parse", "HEAD"]);
    let ran = repo.edio_in(".", ["accept", "feat"]);
    ran.ok();
    let (top, commit) = (repo.top.display(), repo.git(["rev-parse", "HEAD"]));
    assert_eq!(
        seen(&repo),
        format!(
            "pre-commit 0   {top} {head}\n\
             prepare-commit-msg 2 message COMMIT_EDITMSG {top} {head}\n\
             commit-msg 1  COMMIT_EDITMSG {top} {head}\n\
             post-commit 0   {top} {commit}\n"
        )
    );
    // What hooks print is for the person, not for who reads the output.
    assert_eq!(ran.stdout, "");
    assert_eq!(ran.stderr.matches("out\n").count(), 4, "{ran}");
    assert_eq!(ran.stderr.matches("err\n").count(), 4, "{ran}");
}

#[test]
fn the_hooks_see_the_users_plain_environment() {
    // The user's own `git commit` tells what that is.
    let script = "env | grep -E '^(GIT_|LC_|LANG)' | sed 's/=.*//' | sort > \"$HOME/$(basename \"$0\").$BY\"";
    let repo = ready();
    HOOKS.iter().for_each(|name| repo.hook(name, script));
    repo.ran(repo.command(["accept", "feat"]).env("BY", "edio"))
        .ok();
    repo.write("a", "by hand\n");
    let mut command = repo.like_edio("git", ["accept"]);
    let ended = command.env("BY", "git").args(["commit", "-qam", "by hand"]);
    assert!(ended.status().unwrap().success());
    for name in HOOKS {
        let by = |who: &str| -> Vec<String> {
            let file = repo.outside().join("home").join(format!("{name}.{who}"));
            let text = fs::read_to_string(file).unwrap();
            // git tells hooks where a person stands, and who the author is, too.
            let own = [
                "GIT_PREFIX",
                "GIT_EDITOR",
                "GIT_EXEC_PATH",
                "GIT_AUTHOR_NAME",
                "GIT_AUTHOR_EMAIL",
            ];
            text.lines()
                .filter(|line| !own.contains(line))
                .map(str::to_owned)
                .collect()
        };
        assert_eq!(by("edio"), by("git"), "{name}");
    }
}

#[test]
fn each_hook_sees_the_index_that_is_committed_and_patterns_work() {
    let repo = Repo::with(&[
        ("a", "base\n"),
        ("x.py", "base\n"),
        ("y.py", "base\n"),
        ("b", "base\n"),
    ]);
    repo.write("b", "staged beside\n");
    repo.write("y.py", "staged beside\n");
    repo.git(["add", "b", "y.py"]);
    run(
        &repo,
        "echo session > a; echo session > x.py; echo session > new.py",
    );
    for name in &HOOKS[..3] {
        repo.hook(
            name,
            &format!("{{ echo {name}; git diff --cached --name-only; echo -- py; git diff --cached --name-only -- '*.py'; }} >> \"$HOME/seen\""),
        );
    }
    repo.edio(["accept", "feat"]).ok();
    let expected = |name: &&str| format!("{name}\na\nnew.py\nx.py\n-- py\nnew.py\nx.py\n");
    assert_eq!(
        seen(&repo),
        HOOKS[..3].iter().map(expected).collect::<String>()
    );
    assert_eq!(repo.git(["status", "--porcelain"]), "M  b\nM  y.py");
}

#[test]
fn a_pre_commit_hook_may_change_the_index_that_it_is_given() {
    let repo = Repo::with(&[("a", "base\n"), ("b", "base\n"), ("c", "base\n")]);
    repo.write("b", "staged beside\n");
    repo.git(["add", "b"]);
    repo.write("u", "mine\n");
    run(
        &repo,
        "echo session > a; echo session > c; echo session > left-out",
    );
    // As a formatter does; and more is taken in, and something left out.
    repo.hook(
        "pre-commit",
        "echo formatted > a; git add a u; git rm -q --cached left-out",
    );
    let ran = repo.edio(["accept", "feat"]);
    ran.ok();
    assert_eq!(committed(&repo), "M\ta\nM\tc\nA\tu");
    assert_eq!(repo.git(["show", "HEAD:a"]), "formatted");
    assert_eq!(repo.git(["status", "--porcelain"]), "M  b\n?? left-out");
    assert_eq!(repo.read("left-out"), "session\n");
    repo.edio(["undo"]).ok();
    assert_eq!(
        repo.git(["status", "--porcelain"]),
        " M a\nM  b\n M c\n?? left-out\n?? u"
    );
    repo.fsck();
}

#[test]
fn what_a_hook_took_in_or_left_out_is_reported_as_it_is() {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.write("u", "mine\n");
    run(&repo, "echo session > a; echo session > left-out");
    repo.hook("pre-commit", "git add u; git rm -q --cached left-out");
    let ran = repo.edio(["accept", "feat"]);
    ran.ok();
    assert_eq!(committed(&repo), "M\ta\nA\tu");
    assert!(!says_of(&ran, "stays uncommitted", "u"), "{ran}");
    assert!(says_of(&ran, "stays uncommitted", "left-out"), "{ran}");
}

#[test]
fn a_hook_that_says_no_leaves_everything_as_before() {
    for name in &HOOKS[..3] {
        let repo = ready();
        repo.write("b", "staged\n");
        repo.git(["add", "b"]);
        repo.write("b", "base\n");
        repo.hook(name, "git add b; echo not like this >&2; exit 7");
        let state = before(&repo);
        let ran = repo.edio(["accept", "feat"]);
        says_no(
            &repo,
            &ran,
            1,
            &[name, "not like this", "--no-verify"],
            &state,
        );
        repo.remove(format!(".git/hooks/{name}"));
        repo.edio(["accept", "feat"]).ok();
        assert_eq!(committed(&repo), "M\ta\nA\tnew");
    }
}

#[test]
fn no_verify_leaves_out_the_two_that_git_leaves_out() {
    let repo = ready();
    HOOKS
        .iter()
        .for_each(|name| repo.hook(name, &format!("echo {name} >> \"$HOME/seen\"")));
    repo.edio(["accept", "feat", "--no-verify"]).ok();
    assert_eq!(seen(&repo), "prepare-commit-msg\npost-commit\n");
}

#[test]
fn what_a_post_commit_hook_says_changes_nothing() {
    let repo = ready();
    repo.hook("post-commit", "exit 1");
    let ran = repo.edio(["accept", "feat"]);
    assert!(ran.ok().stderr.contains("accepted: "), "{ran}");
    assert_eq!(repo.git(["log", "-1", "--format=%s"]), "feat");
    assert_eq!(repo.sessions("active"), [""; 0]);
}

#[test]
fn hooks_write_the_message() {
    let repo = ready();
    repo.hook("prepare-commit-msg", "sed -i '1s/^/[42] /' \"$1\"");
    repo.hook("commit-msg", "echo 'Change-Id: I1' >> \"$1\"");
    let record = &repo.edio(["accept", "feat\n\nwhy", "--json"]).json()[0];
    let message = "[42] feat\n\nwhy\nChange-Id: I1";
    assert_eq!(repo.git(["log", "-1", "--format=%B"]).trim_end(), message);
    assert_eq!(record["message"].as_str().unwrap().trim_end(), message);
}

#[test]
fn hooks_that_leave_nothing_stop_it() {
    let repo = ready();
    repo.hook("commit-msg", ": > \"$1\"");
    let state = before(&repo);
    let ran = repo.edio(["accept", "feat"]);
    says_no(&repo, &ran, 1, &["no message"], &state);
    repo.remove(".git/hooks/commit-msg");
    repo.hook("pre-commit", "git read-tree HEAD");
    let state = before(&repo);
    let ran = repo.edio(["accept", "feat"]);
    says_no(&repo, &ran, 1, &["nothing to commit"], &state);
}

#[test]
fn hooks_lie_where_the_user_has_them() {
    for folder in ["../my-hooks", "/absolute", "~/hooks", "tools/hooks"] {
        let repo = ready();
        let place = match folder {
            "/absolute" => repo.outside().join("absolute"),
            "~/hooks" => repo.outside().join("home/hooks"),
            folder => repo.path(folder),
        };
        let setting = match folder {
            "/absolute" => place.to_str().unwrap().to_owned(),
            folder => folder.to_owned(),
        };
        // The one in git's own place is not asked.
        repo.hook("pre-commit", "exit 1");
        repo.git(["config", "core.hooksPath", &setting]);
        repo.write(
            place.join("pre-commit"),
            "#!/bin/sh\necho mine >> \"$HOME/seen\"\n",
        );
        repo.chmod(place.join("pre-commit"), 0o755);
        repo.edio(["accept", "feat"]).ok();
        assert_eq!(seen(&repo), "mine\n", "{folder}");
    }
}

#[test]
fn a_hook_that_may_not_be_executed_is_not_run() {
    let repo = ready();
    HOOKS.iter().for_each(|name| {
        repo.hook(name, "exit 1");
        repo.chmod(format!(".git/hooks/{name}"), 0o644);
    });
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(committed(&repo), "M\ta\nA\tnew");
}

#[test]
fn p6_a_hook_may_call_edio() {
    let repo = ready();
    let edio = edio_binary().display();
    HOOKS.iter().for_each(|name| {
        repo.hook(
            name,
            &format!("timeout 3 {edio} snapshot --if-changed || exit 1"),
        )
    });
    let ran = repo.edio(["accept", "feat"]);
    ran.ok();
    assert_eq!(committed(&repo), "M\ta\nA\tnew");
}

// --- signature ---

/// A program that signs as gpg does.
fn signs(repo: &Repo, script: &str) {
    let program = repo.outside().join("gpg");
    repo.write(
        &program,
        format!("#!/bin/sh\ncat > \"$HOME/signed\"\necho \"$*\" > \"$HOME/seen\"\n{script}\n"),
    );
    repo.chmod(&program, 0o755);
    repo.git(["config", "gpg.program", program.to_str().unwrap()]);
    repo.git(["config", "commit.gpgSign", "true"]);
    repo.git(["config", "user.signingKey", "ABCD"]);
}

#[test]
fn the_commit_is_signed_where_the_user_signs() {
    let repo = ready();
    signs(
        &repo,
        "printf '%s\\n' '-----BEGIN PGP SIGNATURE-----' '' 'c2lnbmVk' '-----END PGP SIGNATURE-----'\n\
         printf '\\n[GNUPG:] SIG_CREATED D 1 8 00 1 ABCD\\n' >&2",
    );
    repo.edio(["accept", "feat"]).ok();
    let raw = repo.git_raw(["cat-file", "commit", "HEAD"]);
    assert!(
        raw.contains("\ngpgsig -----BEGIN PGP SIGNATURE-----\n"),
        "{raw}"
    );
    let signed = fs::read_to_string(repo.outside().join("home/signed")).unwrap();
    assert!(signed.ends_with("\n\nfeat"), "{signed}");
    assert!(seen(&repo).contains("ABCD"));
    // Only the user's commit is: edio's own are not.
    for commit in repo
        .edio_refs()
        .lines()
        .map(|line| line.split(' ').nth(1).unwrap())
    {
        assert!(
            !repo
                .git_raw(["cat-file", "commit", commit])
                .contains("gpgsig")
        );
    }
    let commit = repo.git(["rev-parse", "HEAD"]);
    repo.edio(["undo"]).ok();
    fs::remove_file(repo.outside().join("home/signed")).unwrap();
    repo.edio(["redo"]).ok();
    assert_eq!(repo.git(["rev-parse", "HEAD"]), commit);
    assert!(!repo.outside().join("home/signed").exists());
    repo.fsck();
}

#[test]
fn where_it_can_not_be_signed_nothing_is_done() {
    for script in ["echo no secret key >&2; exit 2", "echo no status"] {
        let repo = ready();
        signs(&repo, script);
        let state = before(&repo);
        let ran = repo.edio(["accept", "feat"]);
        says_no(
            &repo,
            &ran,
            1,
            &["could not be signed", "commit.gpgSign"],
            &state,
        );
    }
}

// --- the editor ---

/// Sets the user's editor: it keeps what it was given, and does this with the file `$1`.
fn edits(repo: &Repo, script: &str) {
    let program = repo.outside().join("an editor");
    repo.write(
        &program,
        format!("#!/bin/sh\ncp \"$1\" \"$HOME/draft\"\n{script}\n"),
    );
    repo.chmod(&program, 0o755);
    repo.git(["config", "core.editor", &format!("'{}'", program.display())]);
}

fn draft(repo: &Repo) -> String {
    fs::read_to_string(repo.outside().join("home/draft")).unwrap_or_default()
}

fn message(repo: &Repo) -> String {
    repo.git(["log", "-1", "--format=%B"])
        .trim_end_matches('\n')
        .to_owned()
}

#[test]
fn without_a_message_the_editor_is_given_the_turns() {
    let repo = ready();
    repo.write("a", "more\n");
    repo.edio(["snapshot", "-m", "second turn"]).ok();
    edits(&repo, "sed -i '1s/.*/feat: edited/' \"$1\"");
    let ran = repo.on_a_terminal(["accept"], "");
    assert_eq!(ran.code, Some(0), "{ran}");
    let draft = draft(&repo);
    assert!(
        draft.starts_with("- the turn\n- second turn\n\n"),
        "{draft}"
    );
    assert!(
        draft
            .lines()
            .skip(3)
            .all(|line| line.is_empty() || line.starts_with('#')),
        "{draft}"
    );
    assert_eq!(message(&repo), "feat: edited\n- second turn");
}

#[test]
fn of_one_turn_the_draft_has_all_that_it_said() {
    let repo = ready();
    edits(&repo, "true");
    let ran = repo.on_a_terminal(["accept"], "");
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(draft(&repo).starts_with("the turn\n\nwhat it did\n"));
    assert_eq!(message(&repo), "the turn\n\nwhat it did");
}

#[test]
fn after_steps_the_draft_has_the_turns_before_them_too() {
    let repo = ready();
    repo.write("a", "a step\n");
    repo.step("2.1");
    repo.write("a", "more\n");
    repo.edio(["snapshot", "-m", "second turn"]).ok();
    edits(&repo, "true");
    let ran = repo.on_a_terminal(["accept"], "");
    assert_eq!(ran.code, Some(0), "{ran}");
    assert_eq!(message(&repo), "- the turn\n- second turn");
}

#[test]
fn an_empty_message_or_an_editor_that_fails_stops_it() {
    for (script, said) in [
        (": > \"$1\"", "message is empty"),
        ("sed -i '/^[^#]/d' \"$1\"", "message is empty"),
        ("exit 1", "editor failed"),
    ] {
        let repo = ready();
        edits(&repo, script);
        let state = before(&repo);
        let ran = repo.on_a_terminal(["accept"], "");
        assert_eq!(ran.code, Some(1), "{ran}");
        assert!(ran.stdout.contains(said), "{ran}");
        assert_eq!(before(&repo), state);
        assert_eq!(repo.sessions("archive"), [""; 0]);
    }
}

#[test]
fn without_a_terminal_a_message_is_asked_for() {
    let repo = ready();
    edits(&repo, "true");
    let state = before(&repo);
    let ran = repo.edio(["accept"]);
    says_no(&repo, &ran, 2, &["needs a message"], &state);
    assert_eq!(draft(&repo), "");
}

#[test]
fn trailers_come_after_what_was_edited_and_an_empty_message_still_stops_it() {
    let repo = ready();
    repo.git(["config", "edio.acceptTrailers", "true"]);
    edits(&repo, ": > \"$1\"");
    let ran = repo.on_a_terminal(["accept"], "");
    assert_eq!(ran.code, Some(1), "{ran}");
    edits(&repo, "printf 'feat: x\\n\\nSigned-off-by: me\\n' > \"$1\"");
    let ran = repo.on_a_terminal(["accept"], "");
    assert_eq!(ran.code, Some(0), "{ran}");
    let id = repo.sessions("archive").remove(0);
    assert_eq!(
        message(&repo),
        format!("feat: x\n\nSigned-off-by: me\nSession: {id}")
    );
}

#[test]
fn the_users_template_comes_first() {
    let repo = ready();
    repo.write(
        repo.outside().join("home/template"),
        "Ticket: \n# a hint of the user's\n",
    );
    repo.git(["config", "commit.template", "~/template"]);
    edits(&repo, "sed -i '1s/$/7/' \"$1\"");
    let ran = repo.on_a_terminal(["accept"], "");
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(
        draft(&repo).starts_with("Ticket: \n# a hint of the user's\nthe turn\n"),
        "{}",
        draft(&repo)
    );
    assert_eq!(message(&repo), "Ticket: 7\nthe turn\n\nwhat it did");
    // One that is given is the message: no template, no editor.
    repo.write("a", "more\n");
    repo.edio(["snapshot", "-m", "more"]).ok();
    repo.edio(["accept", "given"]).ok();
    assert_eq!(message(&repo), "given");
}

#[test]
fn the_message_is_cleaned_as_the_user_wants_it() {
    let written = "\n\n  feat: x  \n\n\n# a comment\nbody\t\n\n";
    let stripped = "  feat: x\n\nbody";
    let spaced = "  feat: x\n\n# a comment\nbody";
    for (mode, expected) in [
        ("strip", stripped),
        ("default", stripped),
        ("whitespace", spaced),
        ("scissors", spaced),
        ("verbatim", written.trim_end_matches('\n')),
    ] {
        let repo = ready();
        repo.git(["config", "commit.cleanup", mode]);
        edits(&repo, &format!("printf '%s' '{written}' > \"$1\""));
        let ran = repo.on_a_terminal(["accept"], "");
        assert_eq!(ran.code, Some(0), "{mode}: {ran}");
        let raw = repo.git_raw(["cat-file", "commit", "HEAD"]);
        let body = raw.split_once("\n\n").unwrap().1;
        assert_eq!(body.trim_end_matches('\n'), expected, "{mode}");
    }
}

#[test]
fn a_draft_that_is_left_as_it_is_leaves_none_of_edios_words_in_the_commit() {
    for mode in ["strip", "whitespace", "scissors", "verbatim"] {
        let repo = ready();
        repo.git(["config", "commit.cleanup", mode]);
        edits(&repo, "true");
        let ran = repo.on_a_terminal(["accept"], "");
        assert_eq!(ran.code, Some(0), "{mode}: {ran}");
        // Or else the draft must not promise it.
        let promised = draft(&repo).contains("left out");
        let kept = message(&repo).contains("the commit that the session becomes");
        assert!(!(promised && kept), "{mode}: {}", message(&repo));
    }
}

#[test]
fn everything_below_the_scissors_is_cut() {
    let line = "# ------------------------ >8 ------------------------";
    for (written, expected) in [
        (
            format!("feat\n# kept\n{line}\ndiff\n"),
            Some("feat\n# kept"),
        ),
        (format!("{line}\ndiff\n"), None),
    ] {
        let repo = ready();
        repo.git(["config", "commit.cleanup", "scissors"]);
        edits(&repo, &format!("printf '%s' '{written}' > \"$1\""));
        let ran = repo.on_a_terminal(["accept"], "");
        match expected {
            Some(expected) => assert_eq!(message(&repo), expected),
            None => assert_eq!(ran.code, Some(1), "{}: {ran}", message(&repo)),
        }
    }
}

#[test]
fn comments_begin_as_the_user_has_them() {
    let repo = ready();
    repo.git(["config", "core.commentChar", ";"]);
    edits(&repo, "sed -i 's/^the turn/# the turn/' \"$1\"");
    let ran = repo.on_a_terminal(["accept"], "");
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(draft(&repo).contains("\n; "), "{}", draft(&repo));
    assert_eq!(message(&repo), "# the turn\n\nwhat it did");
}

#[test]
fn hooks_and_the_editor_come_in_gits_order() {
    let repo = ready();
    repo.hook(
        "prepare-commit-msg",
        "echo \"prepare $2\" >> \"$HOME/seen\"; sed -i '1s/^/[42] /' \"$1\"",
    );
    repo.hook(
        "commit-msg",
        "echo commit-msg >> \"$HOME/seen\"; head -1 \"$1\" >> \"$HOME/seen\"",
    );
    edits(
        &repo,
        "echo editor >> \"$HOME/seen\"; sed -i '1s/$/!/' \"$1\"",
    );
    let ran = repo.on_a_terminal(["accept"], "");
    assert_eq!(ran.code, Some(0), "{ran}");
    let seen = seen(&repo);
    assert!(seen.starts_with("prepare "), "{seen}");
    assert!(
        seen.ends_with("editor\ncommit-msg\n[42] the turn!\n"),
        "{seen}"
    );
    assert_eq!(message(&repo), "[42] the turn!\n\nwhat it did");
}

#[test]
fn p6_while_the_editor_is_open_nobody_waits() {
    let repo = ready();
    let edio = edio_binary().display();
    edits(
        &repo,
        &format!(
            "timeout 3 {edio} -C '{}' snapshot --if-changed || exit 9",
            repo.top.display()
        ),
    );
    let ran = repo.on_a_terminal(["accept"], "");
    assert_eq!(ran.code, Some(0), "{ran}");
    assert_eq!(committed(&repo), "M\ta\nA\tnew");
}

/// A repository in which `theirs` has changed `b` as `main` has not, `other` is where `main` is, and a session is under way.
fn beside_others() -> Repo {
    let repo = Repo::with(&[("a", "base\n"), ("b", "base\n"), ("c", "base\n")]);
    repo.git(["switch", "-q", "-c", "theirs"]);
    repo.write("b", "theirs\n");
    repo.write("c", "theirs\n");
    repo.git(["commit", "-q", "-a", "-m", "theirs"]);
    repo.git(["switch", "-q", "main"]);
    repo.write("b", "ours\n");
    repo.git(["commit", "-q", "-a", "-m", "ours"]);
    repo.git(["branch", "other"]);
    repo.write("a", "session\n");
    repo.write("new", "session\n");
    repo.edio(["snapshot", "-m", "the turn"]).ok();
    repo
}

/// What somebody does in another terminal, and what an accept that was under way then says.
const MEANWHILE: [(&str, &[&str]); 6] = [
    (
        "switch -q other",
        &["to main, and HEAD is on other", "git switch main", "--here"],
    ),
    (
        "checkout -q -b feature",
        &["to main, and HEAD is on feature", "git switch main"],
    ),
    (
        "checkout -q --detach",
        &["to main, and HEAD is on no branch", "git switch main"],
    ),
    (
        "commit -q --allow-empty -m theirs",
        &["main is at", "git log", "edio accept"],
    ),
    ("merge -q theirs", &["a merge is under way"]),
    (
        "cherry-pick -n theirs",
        &["a conflict that is not resolved", "in conflict: b"],
    ),
];

#[test]
fn what_happened_to_head_while_the_editor_was_open_is_seen() {
    for (meanwhile, said) in MEANWHILE {
        let repo = beside_others();
        let state = "HEAD main other; git ls-files -s";
        // Whatever the surroundings of edio are.
        let git =
            "env -i PATH=\"$PATH\" GIT_CONFIG_NOSYSTEM=1 git -c user.name=me -c user.email=me";
        edits(
            &repo,
            &format!(
                "cd '{}'; {git} {meanwhile} >/dev/null 2>&1\n{{ git rev-parse {state}; }} > \"$HOME/seen\"",
                repo.top.display()
            ),
        );
        let ran = repo.on_a_terminal(["accept"], "");
        assert_eq!(ran.code, Some(3), "{meanwhile}: {ran}");
        for said in said {
            assert!(ran.stdout.contains(said), "{meanwhile}: {said}: {ran}");
        }
        fs::rename(
            repo.outside().join("home/seen"),
            repo.outside().join("home/then"),
        )
        .unwrap();
        sh(
            &repo,
            &format!("{{ git rev-parse {state}; }} > \"$HOME/seen\""),
        );
        let then = fs::read_to_string(repo.outside().join("home/then")).unwrap();
        assert_eq!(seen(&repo), then, "{meanwhile}: {ran}");
        assert_eq!(repo.sessions("archive"), [""; 0], "{meanwhile}");
        assert!(!repo.has(".git/index.lock"));
        let next = repo.edio(["snapshot", "--if-changed"]);
        assert!(
            !next.ok().stderr.contains("interrupted"),
            "{meanwhile}: {next}"
        );
    }
}

#[test]
fn what_a_hook_did_to_head_is_seen() {
    let repo = beside_others();
    repo.hook("commit-msg", "git symbolic-ref HEAD refs/heads/other");
    let ran = repo.edio(["accept", "feat"]);
    ran.fails_with(3, &["to main, and HEAD is on other"]);
    assert_eq!(repo.git(["diff", "--cached", "--name-only"]), "");
    repo.remove(".git/hooks/commit-msg");
    repo.git(["switch", "-q", "main"]);
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(committed(&repo), "M\ta\nA\tnew");
}

/// What somebody does meanwhile, and what of it stays uncommitted.
const TAKEN_MEANWHILE: [(&str, &[&str]); 4] = [
    ("echo later > b; EDIO snapshot", &["b"]),
    ("echo later > a; rm b; EDIO snapshot", &["a", "b"]),
    ("EDIO restore 0", &["a", "new"]),
    ("touch a; EDIO snapshot --if-changed", &[]),
];

#[test]
fn p4_a_turn_taken_while_hooks_or_the_editor_run_stays_uncommitted_and_is_named() {
    for (meanwhile, paths) in TAKEN_MEANWHILE {
        for is_hook in [true, false] {
            let repo = ready();
            let edio = edio_binary().display().to_string();
            let script = format!(
                "cd '{}'; {} >/dev/null 2>&1 || exit 9",
                repo.top.display(),
                meanwhile.replace("EDIO", &edio)
            );
            let ran = match is_hook {
                true => {
                    repo.hook("pre-commit", &script);
                    repo.edio(["accept", "feat"])
                }
                false => {
                    edits(&repo, &script);
                    repo.on_a_terminal(["accept"], "")
                }
            };
            assert_eq!(ran.code, Some(0), "{meanwhile}: {ran}");
            assert_eq!(committed(&repo), "M\ta\nA\tnew");
            assert_eq!(repo.git(["show", "HEAD:a"]), "session");
            let said = format!("{}{}", ran.stdout, ran.stderr);
            for path in paths {
                let named = format!("stays uncommitted: {path} (it was changed after that turn)");
                assert!(said.contains(&named), "{meanwhile}: {path}: {ran}");
            }
            assert_eq!(said.matches("stays uncommitted").count(), paths.len());
            let status = repo.git(["status", "--porcelain"]);
            assert_eq!(status.lines().count(), paths.len(), "{status}");
            let files = repo.manifest();
            repo.edio(["undo"]).ok();
            assert_eq!(repo.manifest(), files);
        }
    }
}

#[test]
fn what_a_hook_has_formatted_staged_and_taken_as_a_turn_does_not_stay_uncommitted() {
    let repo = ready();
    let edio = edio_binary().display();
    repo.hook(
        "pre-commit",
        &format!("echo formatted > a; git add a; {edio} snapshot || exit 1"),
    );
    let ran = repo.edio(["accept", "feat"]);
    assert!(!ran.ok().stderr.contains("stays uncommitted"), "{ran}");
    assert_eq!(repo.git(["show", "HEAD:a"]), "formatted");
    assert_eq!(repo.git(["status", "--porcelain"]), "");
}

const KEPT: &str = ".git/edio/ACCEPT_EDITMSG";

/// The command that the hint names for what was written, given as a person would.
fn use_kept(repo: &Repo, ran: &Ran) {
    let command = ran.stdout.split_once("to use it: edio ").unwrap().1;
    let command = command.lines().next().unwrap().trim_end();
    assert!(
        command.contains(&repo.path(KEPT).display().to_string()),
        "{ran}"
    );
    let mut shell = repo.like_edio("sh", ["accept"]);
    let shell = shell.args(["-ec", &format!("\"$0\" {command}")]);
    let output = shell.arg(edio_binary()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command}: {said}");
}

/// What stops an accept after the message was written: in the repository, at the end of the editor's script, and what lets
/// it through again.
const STOPS: [(&str, &str, &str); 6] = [
    (
        "echo 'echo mine >> \"$1\"; exit 1' >> .git/hooks/commit-msg",
        "",
        "rm .git/hooks/commit-msg",
    ),
    (
        "echo ': > \"$1\"' >> .git/hooks/commit-msg",
        "",
        "rm .git/hooks/commit-msg",
    ),
    (
        "git config commit.gpgSign true; git config gpg.program false",
        "",
        "git config --unset commit.gpgSign",
    ),
    ("", "git -C TOP switch -q -c other", "git switch -q main"),
    (
        "",
        ": > TOP/.git/packed-refs.lock",
        "rm .git/packed-refs.lock",
    ),
    ("", "exit 1", ""),
];

#[test]
fn p4_what_was_written_in_the_editor_is_kept_where_anything_fails_after_it() {
    for (before, then, after) in STOPS {
        let repo = ready();
        repo.hook("commit-msg", "");
        repo.git(["config", "edio.acceptTrailers", "true"]);
        sh(&repo, before);
        let then = then.replace("TOP", repo.top.to_str().unwrap());
        let write = "printf -- '-x: \\047y\\047 $HOME\\n\\nbody\\n# a comment\\n' > \"$1\"";
        edits(&repo, &format!("{write}\n{then}"));
        let ran = repo.on_a_terminal(["accept"], "");
        assert!(matches!(ran.code, Some(1 | 3)), "{before}{then}: {ran}");
        assert!(repo.has(KEPT), "{before}{then}: {ran}");
        sh(&repo, after);
        use_kept(&repo, &ran);
        let id = repo.sessions("archive").remove(0);
        let expected = format!("-x: 'y' $HOME\n\nbody\n\nSession: {id}");
        assert_eq!(message(&repo), expected, "{before}{then}");
        assert_eq!(left_in_scratch(&repo), [""; 0], "{before}{then}");
    }
}

/// What accepts have left in the scratch folder.
fn left_in_scratch(repo: &Repo) -> Vec<String> {
    let files = fs::read_dir(repo.path(".git/edio")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let is_of_accept = |name: &String| name.contains("accept") || name.contains("EDITMSG");
    names.filter(is_of_accept).collect()
}

#[test]
fn what_was_written_is_kept_as_it_is_where_it_is_no_text() {
    let repo = ready();
    edits(&repo, "printf 'Gr\\374\\337e\\n' > \"$1\"");
    let ran = repo.on_a_terminal(["accept"], "");
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(ran.stdout.contains(KEPT), "{ran}");
    assert_eq!(fs::read(repo.path(KEPT)).unwrap(), b"Gr\xfc\xdfe\n");
}

#[test]
fn a_message_that_nobody_wrote_is_not_kept() {
    for script in [": > \"$1\"", "exit 1", "echo '# x' > \"$1\""] {
        let repo = ready();
        edits(&repo, script);
        let ran = repo.on_a_terminal(["accept"], "");
        assert_eq!(ran.code, Some(1), "{ran}");
        assert!(!ran.stdout.contains("is kept"), "{ran}");
        assert_eq!(left_in_scratch(&repo), [""; 0]);
    }
    let repo = ready();
    repo.hook("commit-msg", "exit 1");
    let ran = repo.edio(["accept", "-m", "given"]);
    assert!(!ran.fails(1).stderr.contains("is kept"), "{ran}");
    assert_eq!(left_in_scratch(&repo), [""; 0]);
}

#[test]
fn the_editor_sees_the_users_plain_environment() {
    let repo = ready();
    edits(
        &repo,
        "env | grep '^GIT_' | sed 's/=.*//' | sort > \"$HOME/seen\"",
    );
    let ran = repo.on_a_terminal(["accept"], "");
    assert_eq!(ran.code, Some(0), "{ran}");
    let mut own = repo.like_edio("env", ["accept"]);
    let own = String::from_utf8(own.output().unwrap().stdout).unwrap();
    let mut own: Vec<&str> = own
        .lines()
        .filter(|line| line.starts_with("GIT_"))
        .collect();
    own.sort_unstable();
    let own: String = own
        .iter()
        .map(|line| format!("{}\n", line.split('=').next().unwrap()))
        .collect();
    assert_eq!(seen(&repo), own);
}

// --- how much, and where ---

#[test]
fn up_to_a_turn_and_the_session_that_goes_on() {
    let repo = Repo::with(&[("a", "base\n"), ("b", "base\n"), ("c", "base\n")]);
    repo.write("b", "mine\n");
    run(&repo, "echo 1 > a");
    run(&repo, "echo 2 > a; echo 2 > new");
    repo.write("c", "unsaved\n");
    let (files, first) = (repo.manifest(), repo.sessions("active").remove(0));

    let looked = repo.edio(["accept", "--turn", "1", "--dry-run"]);
    assert_eq!(looked.ok().stdout, "M a\n");
    assert!(says_of(&looked, "after", "new"), "{looked}");
    let ran = repo.edio(["accept", "feat: one", "--turn", "1"]);

    ran.ok();
    assert_eq!(committed(&repo), "M\ta");
    assert_eq!(repo.git(["show", "HEAD:a"]), "1");
    assert_eq!(
        repo.git(["status", "--porcelain"]),
        " M a\n M b\n M c\n?? new"
    );
    assert_eq!(repo.manifest(), files);
    for (path, why) in [
        ("a", "after"),
        ("b", "before"),
        ("c", "after"),
        ("new", "after"),
    ] {
        assert!(says_of(&ran, "stays uncommitted", path), "{path}: {ran}");
        assert!(says_of(&ran, why, path), "{path} {why}: {ran}");
    }
    assert_eq!(repo.sessions("archive"), [first]);
    let next = repo.sessions("active").remove(0);
    assert!(ran.stderr.contains(&format!("{next} goes on")), "{ran}");
    // Its turn 0 is the accepted turn, and what came after it is unsaved in it.
    let diff = repo.edio(["status", "--json"]).json().remove(0);
    let unsaved = diff["unsaved"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| record["path"].as_str().unwrap());
    assert_eq!(unsaved.collect::<Vec<_>>(), ["a", "c", "new"]);

    let record = &repo.edio(["accept", "feat: two", "--json"]).json()[0];
    assert_eq!(record["session"], json!(next));
    assert_eq!(record["next_session"], json!(null));
    assert_eq!(committed(&repo), "M\ta\nM\tc\nA\tnew");
    assert_eq!(repo.git(["status", "--porcelain"]), " M b");
    assert_eq!(repo.sessions("active"), [""; 0]);
    repo.fsck();
}

#[test]
fn a_turn_on_an_arm_that_was_left_can_be_accepted() {
    let repo = Repo::with(&[("a", "base\n")]);
    for number in ["1", "2"] {
        repo.write("a", format!("{number}\n"));
        repo.edio(["snapshot", "-m", number]).ok();
    }
    repo.edio(["restore", "1"]).ok();
    repo.write("a", "3\n");
    repo.edio(["snapshot", "-m", "3"]).ok();
    repo.edio(["accept", "feat", "--turn", "2"]).ok();
    assert_eq!(repo.git(["show", "HEAD:a"]), "2");
    assert_eq!(repo.read("a"), "3\n");
}

#[test]
fn a_turn_that_can_not_be_accepted() {
    let repo = ready();
    let state = before(&repo);
    for (turn, code, said) in [
        ("0", 1, "nothing to accept"),
        ("9", 1, "no turn 9"),
        ("x", 2, ""),
    ] {
        let ran = repo.edio(["accept", "feat", "--turn", turn]);
        says_no(&repo, &ran, code, &[said], &state);
    }
}

#[test]
fn here_commits_to_the_branch_that_is_checked_out() {
    let repo = ready();
    repo.git(["switch", "-q", "-c", "other"]);
    repo.write("mine", "mine\n");
    repo.git(["add", "mine"]);
    repo.git(["commit", "-q", "-m", "mine", "mine"]);
    let state = before(&repo);
    let ran = repo.edio(["accept", "feat"]);
    says_no(&repo, &ran, 3, &["--here"], &state);
    repo.edio(["accept", "feat", "--here"]).ok();
    assert_eq!(
        repo.git(["log", "--format=%s", "other"]),
        "feat\nmine\nbase"
    );
    assert_eq!(repo.git(["log", "--format=%s", "main"]), "base");
    assert_eq!(committed(&repo), "M\ta\nA\tnew");
    repo.edio(["undo"]).ok();
    assert_eq!(repo.git(["log", "--format=%s", "other"]), "mine\nbase");
}

#[test]
fn p1_a_dry_run_changes_nothing_at_all() {
    let repo = Repo::with(&[("a", "base\n"), ("b", "base\n"), ("c", "base\n")]);
    repo.write("b", "mine\n");
    repo.write("c", "half\n");
    repo.git(["add", "c"]);
    repo.write("c", "mine\n");
    run(&repo, "echo session > a");
    HOOKS
        .iter()
        .for_each(|name| repo.hook(name, "echo ran >> \"$HOME/seen\"; exit 1"));
    repo.write("c", "mine\nunsaved\n");
    let state = || (repo.git_files(), repo.manifest(), repo.edio_refs());
    let before = state();

    let ran = repo.edio(["accept", "feat: x\n\nwhy", "--dry-run"]);

    ran.ok();
    assert_eq!(ran.stdout, "M a\nM c\n\n    feat: x\n    \n    why\n");
    assert!(says_of(&ran, "whole", "c"), "{ran}");
    assert!(says_of(&ran, "stays uncommitted", "b"), "{ran}");
    let record = &repo.edio(["accept", "feat", "--dry-run", "--json"]).json()[0];
    assert_eq!(
        (&record["dry_run"], &record["commit"]),
        (&json!(true), &json!(null))
    );
    assert_eq!(record["changes"].as_array().unwrap().len(), 2);
    assert_eq!(record["whole"], json!(["c"]));
    // No message is needed for a look.
    repo.edio(["accept", "--dry-run"]).ok();
    assert_eq!(state(), before);
    assert_eq!(seen(&repo), "");
}

#[test]
fn a_dry_run_before_the_first_turn_shows_what_accept_would_do() {
    let repo = Repo::with(&[("a", "base\n"), ("b", "base\n")]);
    repo.write("b", "mine\n");
    run(&repo, "true");
    repo.write("a", "session\n");
    let ran = repo.edio(["accept", "feat", "--dry-run"]);
    assert_eq!(ran.stdout, "M a\n\n    feat\n", "{ran}");
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(committed(&repo), "M\ta");
}

#[test]
fn a_dry_run_does_not_put_the_session_away() {
    let repo = ready();
    repo.commit("by hand");
    let refs = repo.edio_refs();
    let ran = repo.edio(["accept", "feat", "--dry-run"]);
    ran.fails(1);
    assert!(ran.stderr.contains("HEAD already holds all of it"), "{ran}");
    assert!(ran.stderr.contains("would be archived"), "{ran}");
    assert_eq!(repo.edio_refs(), refs);
    let ran = repo.edio(["accept", "feat"]);
    assert!(ran.fails(1).stderr.contains("edio undo"), "{ran}");
    repo.edio(["undo"]).ok();
    let active = |refs: String| {
        let active = refs
            .lines()
            .filter(|line| line.contains("/active/") && !line.contains("/ops "));
        active.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(active(repo.edio_refs()), active(refs));
}

// --- the table ---

/// One way in which the user's work and the session's lie together. The scripts are the shell's, and run in this order.
#[derive(Default)]
struct Case {
    name: &'static str,
    /// What the user had not committed when the session began.
    before: &'static str,
    /// What the session did.
    session: &'static str,
    /// What the user did since.
    meanwhile: &'static str,
    /// Flags of accept.
    flags: &'static [&'static str],
    /// What is committed, and some of it to the letter.
    committed: &'static str,
    content: &'static [(&'static str, &'static str)],
    /// What is staged, and what is not.
    staged: &'static str,
    status: &'static str,
    /// Paths that must be said to go in whole.
    whole: &'static [&'static str],
}

impl Case {
    fn check(&self) {
        let name = self.name;
        let repo = Repo::with(&[
            ("a", LINES),
            ("b", LINES),
            ("c", "base\n"),
            ("d/x", "base\n"),
            ("gone", "base\n"),
            ("mode", LINES),
            (".gitignore", "*.log\n"),
        ]);
        sh(&repo, self.before);
        run(&repo, self.session);
        sh(&repo, self.meanwhile);
        let files = repo.manifest();
        let state = || (repo.git_files(), repo.manifest(), repo.edio_refs());
        let before = state();
        let words = |more: &[&'static str]| [&["accept", "feat"], self.flags, more].concat();
        let looked = repo.edio(words(&["--dry-run"]));
        looked.ok();
        assert_eq!(state(), before, "{name}: {looked}");

        let ran = repo.edio(words(&[]));

        ran.ok();
        assert_eq!(committed(&repo), self.committed, "{name}: {ran}");
        let letters = |line: &str| line.replace('\t', " ").replacen('T', "M", 1);
        let listed: Vec<&str> = looked
            .stdout
            .lines()
            .take_while(|line| !line.is_empty())
            .collect();
        let expected: Vec<String> = self.committed.lines().map(letters).collect();
        assert_eq!(listed, expected, "{name}: {looked}");
        for (path, content) in self.content {
            let path = format!("HEAD:{path}");
            assert_eq!(&repo.git_raw(["show", &path]), content, "{name}: {path}");
        }
        let staged = repo.git(["diff", "--cached", "--no-renames", "--name-status"]);
        assert_eq!(staged, self.staged, "{name}: staged");
        assert_eq!(
            repo.git(["status", "--porcelain", "--no-renames"]),
            self.status,
            "{name}"
        );
        assert_eq!(
            repo.manifest(),
            files,
            "{name}: the work tree is nobody's to change here"
        );
        for path in self.whole {
            assert!(says_of(&ran, "whole", path), "{name}: {path}: {ran}");
        }
        assert_eq!(
            ran.stderr.matches("whole").count(),
            self.whole.len(),
            "{name}: {ran}"
        );
        repo.fsck();
    }
}

const SESSION_FIRST: &str = "session\n2\n3\n4\n5\n6\n7\n8\n9\n";
const BOTH: &str = "session\n2\n3\n4\n5\n6\n7\n8\nmine\n";

#[test]
fn the_table_of_work_beside_the_sessions() {
    for case in [
        Case {
            name: "nothing beside",
            session: "echo s > c; rm gone; chmod +x mode; echo s > new; mkdir e; echo s > e/new; echo s > x.log",
            committed: "M\tc\nA\te/new\nD\tgone\nM\tmode\nA\tnew",
            ..Case::default()
        },
        Case {
            name: "unstaged, deleted and untracked",
            before: "sed -i s/9/mine/ b; rm gone; echo mine > u; mkdir n; echo mine > n/u",
            session: "sed -i s/1/session/ a",
            committed: "M\ta",
            content: &[("a", SESSION_FIRST)],
            status: " M b\n D gone\n?? n/\n?? u",
            ..Case::default()
        },
        Case {
            name: "staged in every way",
            before: "echo half > c; git add c; echo more >> c; git rm -q gone; echo mine > u; git add u; \
                     echo mine > i; git add -N i; git update-index --chmod=+x mode",
            session: "sed -i s/1/session/ a",
            committed: "M\ta",
            staged: "M\tc\nD\tgone\nM\tmode\nA\tu",
            status: "MM c\nD  gone\n A i\nMM mode\nA  u",
            ..Case::default()
        },
        Case {
            name: "the user stages the session's work",
            session: "sed -i s/1/session/ a; echo s > new; rm gone",
            meanwhile: "git add -A",
            committed: "M\ta\nD\tgone\nA\tnew",
            ..Case::default()
        },
        Case {
            name: "the user tells git to forget the session's work",
            session: "sed -i s/1/session/ a; echo s > new",
            meanwhile: "git rm -q --cached a",
            committed: "M\ta\nA\tnew",
            ..Case::default()
        },
        Case {
            name: "commits of the user's, beside",
            session: "sed -i s/1/session/ a",
            meanwhile: "echo mine > c; git add c; git mv d/x d/y; git commit -qm mine",
            committed: "M\ta",
            content: &[("a", SESSION_FIRST), ("c", "mine\n"), ("d/y", "base\n")],
            ..Case::default()
        },
        Case {
            name: "what was untracked is committed by the user",
            before: "echo mine > u",
            session: "sed -i s/1/session/ a; echo session >> u",
            meanwhile: "printf 'mine\\n' > ../u; git update-index --add --cacheinfo 100644,$(git hash-object -w ../u),u; git commit -qm mine",
            committed: "M\ta\nM\tu",
            content: &[("u", "mine\nsession\n")],
            ..Case::default()
        },
        Case {
            name: "an ignored path that git tracks",
            before: "echo mine > x.log; git add -f x.log; git commit -qm 'a log'",
            session: "echo session > x.log; echo ignored > y.log",
            committed: "M\tx.log",
            ..Case::default()
        },
        Case {
            name: "ignore rules of the session's",
            session: "echo '*.tmp' >> .gitignore; echo s > x.tmp; echo s > new",
            committed: "M\t.gitignore\nA\tnew",
            ..Case::default()
        },
    ] {
        case.check();
    }
}

#[test]
fn the_table_of_work_under_the_sessions() {
    for case in [
        Case {
            name: "other lines of one file",
            before: "sed -i s/9/mine/ a",
            session: "sed -i s/1/session/ a",
            committed: "M\ta",
            content: &[("a", SESSION_FIRST)],
            status: " M a",
            ..Case::default()
        },
        Case {
            name: "other lines of one file, staged",
            before: "sed -i s/9/mine/ a; git add a",
            session: "sed -i s/1/session/ a",
            committed: "M\ta",
            content: &[("a", SESSION_FIRST)],
            status: " M a",
            ..Case::default()
        },
        Case {
            name: "the same lines",
            before: "sed -i s/1/mine/ a; echo mine > c",
            session: "sed -i s/mine/session/ a; echo session >> c",
            committed: "M\ta\nM\tc",
            content: &[("a", SESSION_FIRST), ("c", "mine\nsession\n")],
            whole: &["a", "c"],
            ..Case::default()
        },
        Case {
            name: "an untracked file",
            before: "echo mine > u; echo mine > v",
            session: "echo session >> u",
            committed: "A\tu",
            content: &[("u", "mine\nsession\n")],
            status: "?? v",
            whole: &["u"],
            ..Case::default()
        },
        Case {
            name: "a deleted file that the session makes anew",
            before: "rm gone",
            session: "echo session > gone",
            committed: "M\tgone",
            whole: &["gone"],
            ..Case::default()
        },
        Case {
            name: "a file that the session deletes",
            before: "echo mine > gone; echo mine > u",
            session: "rm gone u; sed -i s/1/session/ a",
            committed: "M\ta\nD\tgone",
            whole: &["gone"],
            ..Case::default()
        },
        Case {
            name: "a mode under an edit, and an edit under a mode",
            before: "chmod +x a; sed -i s/9/mine/ mode",
            session: "sed -i s/1/session/ a; chmod +x mode",
            committed: "M\ta\nM\tmode",
            content: &[("a", SESSION_FIRST), ("mode", LINES)],
            status: " M a\n M mode",
            ..Case::default()
        },
        Case {
            name: "all of it",
            before: "sed -i s/9/mine/ a; echo mine > u; rm gone; echo half > c; git add c; echo mine > c",
            session: "sed -i s/1/session/ a",
            flags: &["--all"],
            committed: "M\ta\nM\tc\nD\tgone\nA\tu",
            content: &[("a", BOTH), ("c", "mine\n")],
            ..Case::default()
        },
        Case {
            name: "inside: what the user does while the session is open is its work",
            session: "sed -i s/1/session/ a",
            meanwhile: "sed -i s/9/mine/ a; echo mine > u",
            committed: "M\ta\nA\tu",
            content: &[("a", BOTH)],
            ..Case::default()
        },
        Case {
            name: "inside, but committed by the user",
            session: "sed -i s/1/session/ a",
            meanwhile: "cp a ../a; git checkout -q a; sed -i s/9/mine/ a; git commit -qam mine; sed -i s/9/mine/ ../a; cp ../a a",
            committed: "M\ta",
            content: &[("a", BOTH)],
            ..Case::default()
        },
    ] {
        case.check();
    }
}

#[test]
fn the_table_of_renames_modes_and_kinds() {
    for case in [
        Case {
            name: "the session renames what the user has edited",
            before: "sed -i s/9/mine/ b",
            session: "mv b moved; sed -i s/1/session/ moved",
            committed: "D\tb\nA\tmoved",
            content: &[("moved", SESSION_FIRST)],
            status: " M moved",
            ..Case::default()
        },
        Case {
            name: "the user has renamed, uncommitted, beside",
            before: "mv b moved",
            session: "sed -i s/1/session/ a",
            committed: "M\ta",
            status: " D b\n?? moved",
            ..Case::default()
        },
        Case {
            name: "the user has renamed, staged, beside",
            before: "git mv b moved",
            session: "sed -i s/1/session/ a",
            committed: "M\ta",
            staged: "D\tb\nA\tmoved",
            status: "D  b\nA  moved",
            ..Case::default()
        },
        Case {
            name: "the session edits what the user has renamed, uncommitted",
            before: "mv b moved",
            session: "sed -i s/1/session/ moved",
            committed: "A\tmoved",
            content: &[("moved", SESSION_FIRST), ("b", LINES)],
            status: " D b",
            whole: &["moved"],
            ..Case::default()
        },
        Case {
            name: "the session renames, and a commit of the user's edits",
            session: "mv b moved; sed -i s/1/session/ moved",
            meanwhile: "git show HEAD:b | sed s/9/mine/ > ../b; \
                        git update-index --cacheinfo 100644,$(git hash-object -w ../b),b; git commit -qm mine",
            committed: "D\tb\nA\tmoved",
            content: &[("moved", BOTH)],
            status: " M moved",
            ..Case::default()
        },
        Case {
            name: "a commit of the user's renames, and the session edits",
            session: "sed -i s/1/session/ b",
            meanwhile: "git mv b moved; git commit -qm mine; git show HEAD:moved > /dev/null",
            committed: "M\tmoved",
            content: &[("moved", SESSION_FIRST)],
            ..Case::default()
        },
        Case {
            name: "kinds",
            session: "rm c; ln -s a c; rm -r d; echo file > d; rm gone; mkdir gone; echo in > gone/in",
            committed: "T\tc\nA\td\nD\td/x\nD\tgone\nA\tgone/in",
            ..Case::default()
        },
        Case {
            name: "kinds, on both sides",
            before: "rm c; ln -s mine c; rm gone; mkdir gone; echo mine > gone/in",
            session: "rm -r d; echo file > d; chmod +x mode",
            committed: "A\td\nD\td/x\nM\tmode",
            status: " T c\n D gone",
            ..Case::default()
        },
    ] {
        case.check();
    }
}

#[test]
fn renames_of_one_file_on_both_sides_are_a_conflict() {
    let repo = Repo::with(&[("a", LINES), ("b", "base\n")]);
    run(&repo, "mv a session");
    // A commit of the user's, which the work tree does not have.
    let blob = repo.git(["rev-parse", "HEAD:a"]);
    repo.git(["update-index", "--force-remove", "a"]);
    repo.git([
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("100644,{blob},mine"),
    ]);
    repo.git(["commit", "-q", "-m", "mine"]);
    let state = before(&repo);
    let ran = repo.edio(["accept", "feat"]);
    says_no(&repo, &ran, 3, &["in conflict: ", "--all"], &state);
}

// --- odd work trees and indexes ---

#[test]
fn a_submodule_is_committed_as_it_points_and_is_not_entered() {
    let repo = Repo::with(&[("a", "base\n")]);
    let other = Repo::with(&[("s", "base\n")]);
    repo.git([
        "submodule",
        "--quiet",
        "add",
        other.top.to_str().unwrap(),
        "mod",
    ]);
    repo.git([
        "submodule",
        "--quiet",
        "add",
        other.top.to_str().unwrap(),
        "still",
    ]);
    repo.git(["commit", "-q", "-m", "submodules"]);
    let inside = repo.path("mod");
    run(
        &repo,
        "echo session > a; echo session > mod/s; git -C mod commit -qam session; echo dirty > mod/s; echo dirty > still/s",
    );
    let commit = repo.git_in(&inside, ["rev-parse", "HEAD"]);
    let module = repo.git_files_in(repo.path(".git/modules/mod").to_str().unwrap());
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(committed(&repo), "M\ta\nM\tmod");
    assert_eq!(repo.git(["rev-parse", "HEAD:mod"]), commit);
    assert_eq!(repo.read("mod/s"), "dirty\n");
    assert_eq!(
        repo.git_files_in(repo.path(".git/modules/mod").to_str().unwrap()),
        module
    );
    assert_eq!(repo.git(["status", "--porcelain"]), " M mod\n M still");
    repo.edio(["undo"]).ok();
    assert_ne!(repo.git(["rev-parse", "HEAD:mod"]), commit);
    assert_eq!(repo.git_in(&inside, ["rev-parse", "HEAD"]), commit);
}

#[test]
fn a_sparse_checkout_stays_sparse() {
    for flags in [&["--cone", "--sparse-index"][..], &["--no-cone"]] {
        let repo = Repo::with(&[
            ("in/a", "base\n"),
            ("in/b", "base\n"),
            ("out/c", "base\n"),
            ("out/d/e", "base\n"),
            ("top", "base\n"),
        ]);
        repo.git([&["sparse-checkout", "set"][..], flags, &["in"]].concat());
        assert!(!repo.has("out"));
        repo.write("in/b", "half\n");
        repo.git(["add", "in/b"]);
        repo.write("in/b", "mine\n");
        run(&repo, "echo session > in/a; echo session > in/new");
        let files = repo.manifest();
        repo.edio(["accept", "feat"]).ok();
        assert_eq!(committed(&repo), "M\tin/a\nA\tin/new", "{flags:?}");
        assert_eq!(repo.manifest(), files, "{flags:?}");
        assert_eq!(repo.git(["status", "--porcelain"]), "MM in/b", "{flags:?}");
        let flagged = repo.git(["ls-files", "-t", "out"]);
        assert!(
            flagged.lines().all(|line| line.starts_with('S')),
            "{flags:?}: {flagged}"
        );
        assert_eq!(
            repo.git(["ls-tree", "-r", "--name-only", "HEAD", "out"]),
            "out/c\nout/d/e"
        );
        repo.git(["sparse-checkout", "disable"]);
        assert_eq!(repo.git(["status", "--porcelain"]), "MM in/b", "{flags:?}");
        repo.fsck();
        repo.git([&["sparse-checkout", "set"][..], flags, &["in"]].concat());
        repo.edio(["undo"]).ok();
        assert_eq!(
            repo.git(["status", "--porcelain"]),
            " M in/a\nMM in/b\n?? in/new",
            "{flags:?}"
        );
    }
}

#[test]
fn a_split_index_with_flags_says_the_same_after() {
    let repo = Repo::with(&[
        ("a", "base\n"),
        ("b", "base\n"),
        ("c", "base\n"),
        ("d", "base\n"),
    ]);
    repo.git(["update-index", "--split-index"]);
    repo.write("b", "half\n");
    repo.git(["add", "b"]);
    repo.git(["update-index", "--assume-unchanged", "c"]);
    repo.git(["update-index", "--skip-worktree", "d"]);
    run(
        &repo,
        "echo session > a; echo session > c; echo session > new",
    );
    let before = repo.git(["ls-files", "-s", "-v"]);
    repo.edio(["accept", "feat"]).ok();
    assert_eq!(committed(&repo), "M\ta\nA\tnew");
    assert_eq!(repo.git(["ls-files", "-v"]), "H a\nH b\nh c\nS d\nH new");
    assert_eq!(repo.git(["status", "--porcelain"]), "M  b");
    repo.edio(["undo"]).ok();
    assert_eq!(repo.git(["ls-files", "-s", "-v"]), before);
    // The user's git goes on with it.
    repo.git(["update-index", "--split-index"]);
    repo.git(["add", "-A"]);
    repo.git(["commit", "-q", "-m", "by hand"]);
    repo.fsck();
}

#[test]
fn a_pager_diff_program_or_textconv_of_the_users_is_not_run() {
    let repo = ready();
    let ran = |name: &str| repo.outside().join("home").join(name);
    for (key, name) in [
        ("diff.external", "external"),
        ("diff.x.textconv", "textconv"),
        ("core.fsmonitor", "fsmonitor"),
        ("merge.x.driver", "driver"),
    ] {
        repo.git([
            "config",
            key,
            &format!("touch {}; true", ran(name).display()),
        ]);
    }
    repo.write(".gitattributes", "* diff=x\n");
    repo.edio(["snapshot", "-m", "attributes"]).ok();
    repo.edio(["accept", "feat", "--dry-run"]).ok();
    repo.edio(["accept", "feat"]).ok();
    for name in ["external", "textconv", "fsmonitor"] {
        assert!(!ran(name).exists(), "{name}");
    }
}
