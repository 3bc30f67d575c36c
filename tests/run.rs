//! `edio run`: the command has the terminal, the signals and the exit code; edio takes the snapshots around it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{Ran, Repo, edio_binary, left_out, python};

/// Runs a script in a shell under `edio run`.
fn run(repo: &Repo, script: &str) -> Ran {
    repo.edio(["run", "--", "sh", "-c", script])
}

/// The last turn, as `log --json` tells it.
fn last(repo: &Repo) -> Value {
    repo.edio(["show", "last", "--json"]).json().remove(0)
}

/// Starts a script under `edio run`, and waits until it has printed `ready`.
fn started(repo: &Repo, script: &str) -> Child {
    has_begun(&mut repo.command(["run", "--", "sh", "-c", script]))
}

/// Starts a command, and waits until it has printed `ready`.
fn has_begun(command: &mut Command) -> Child {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "ready\n");
    child
}

/// Sends a signal to one process.
fn send(signal: &str, pid: u32) {
    let kill = Command::new("sh")
        .args(["-c", "kill -$0 $1", signal, &pid.to_string()])
        .status();
    assert!(kill.unwrap().success());
}

/// Waits for something that must come soon.
fn soon(it_came: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(5) {
        if it_came() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

#[test]
fn the_exit_code_is_the_commands() {
    let repo = Repo::with(&[("a", "one\n")]);
    for code in [
        0, 1, 2, 3, 4, 70, 100, 125, 126, 127, 128, 130, 137, 254, 255,
    ] {
        let ran = run(&repo, &format!("exit {code}"));
        assert_eq!(ran.code, Some(code), "{ran}");
    }
}

#[test]
fn after_a_signal_the_exit_code_is_a_shells() {
    let repo = Repo::with(&[("a", "one\n")]);
    for (signal, code) in [
        ("HUP", 129),
        ("INT", 130),
        ("KILL", 137),
        ("USR1", 138),
        ("TERM", 143),
    ] {
        let ran = run(&repo, &format!("echo {signal} > a; kill -{signal} $$"));
        assert_eq!(ran.code, Some(code), "{ran}");
        let turn = last(&repo);
        assert_eq!(
            (&turn["status"], &turn["exit_code"]),
            (&json!("interrupted"), &json!(code))
        );
        assert_eq!(
            repo.git(["show", &format!("{}:a", turn["commit"].as_str().unwrap())]),
            signal
        );
    }
}

#[test]
fn a_command_that_can_not_be_started_has_a_shells_exit_code() {
    let repo = Repo::with(&[("a", "one\n"), ("folder/b", "one\n")]);
    let files = repo.manifest();
    for (word, code) in [
        ("no-such-command", 127),
        ("./no-such-file", 127),
        ("./a", 126),
        ("./folder", 126),
    ] {
        let ran = repo.edio(["run", "--", word]);
        ran.fails(code);
        assert!(
            ran.stderr.starts_with("error: ") && ran.stderr.contains(word),
            "{ran}"
        );
    }
    assert_eq!(repo.manifest(), files);
}

#[test]
fn a_script_that_names_no_interpreter_runs_as_from_a_shell() {
    let repo = Repo::with(&[("script", "echo it runs\n")]);
    repo.chmod("script", 0o755);
    let ran = repo.edio(["run", "./script"]);
    ran.ok();
    assert_eq!(ran.stdout, "it runs\n");
}

#[test]
fn p8_what_goes_in_and_out_is_passed_byte_for_byte() {
    let repo = Repo::with(&[("a", "one\n")]);
    let bytes: Vec<u8> = (0..=255u8).cycle().take(300_000).collect();
    let mut command = repo.command(["run", "--", "sh", "-c", "cat; cat a >&2"]);
    let piped = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let sent = bytes.clone();
    let writing = std::thread::spawn(move || stdin.write_all(&sent).unwrap());
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap();
    assert!(output.status.success());
    assert_eq!(output.stdout.len(), bytes.len());
    assert!(output.stdout == bytes);
    assert!(output.stderr.starts_with(b"one\n"));
}

#[test]
fn p8_a_signal_sent_to_edio_reaches_the_command_once_and_the_turn_is_taken() {
    let repo = Repo::with(&[("a", "one\n")]);
    for (number, signal) in (1..).zip(["TERM", "INT", "HUP"]) {
        let script = format!(
            "trap 'echo {signal} >> got' {signal}; echo ready\n\
             n=0; while ! test -e got && test $n -lt 1000; do sleep 0.01; n=$((n+1)); done; sleep 0.2; mv got a; exit 9"
        );
        let child = started(&repo, &script);
        send(signal, child.id());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(9), "{signal}");
        assert_eq!(
            repo.in_turn(number, "a").as_deref(),
            Some(&*format!("{signal}\n"))
        );
        assert_eq!(last(&repo)["status"], "failed");
    }
}

#[test]
fn p8_a_command_that_dies_of_a_signal_sent_to_edio_leaves_its_turn() {
    let repo = Repo::with(&[("a", "one\n")]);
    for (number, (signal, code)) in (1..).zip([("TERM", 143), ("INT", 130), ("HUP", 129)]) {
        let child = started(
            &repo,
            &format!("echo {signal} > a; echo ready; exec sleep 100"),
        );
        send(signal, child.id());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{signal}");
        assert_eq!(
            repo.in_turn(number, "a").as_deref(),
            Some(&*format!("{signal}\n"))
        );
    }
}

/// A program that counts a signal, waits for a second one after the first, and tells.
const COUNTER: &str = "
import os, signal, sys, time
count = 0
def counted(*_):
    global count
    count += 1
signal.signal(getattr(signal, sys.argv[1]), counted)
open('a', 'w').write('counted')
print('ready', flush=True)
end = time.time() + 10
while not count and time.time() < end:
    time.sleep(0.01)
time.sleep(0.3)
print('count %d size %d' % (count, os.get_terminal_size(1).columns), flush=True)
";

#[test]
fn p8_a_ctrl_c_at_the_terminal_reaches_the_command_once() {
    let repo = Repo::with(&[("a", "one\n")]);
    let ran = repo.on_a_terminal(
        ["run", "--", python(), "-c", COUNTER, "SIGINT"],
        r"until(b'ready'); os.write(fd, b'\x03')",
    );
    assert!(ran.stdout.contains("count 1 "), "{ran}");
    ran.ok();
    assert_eq!(repo.in_turn(1, "a").as_deref(), Some("counted"));
}

#[test]
fn p8_a_command_that_dies_of_ctrl_c_leaves_its_turn() {
    let repo = Repo::with(&[("a", "one\n")]);
    let ran = repo.on_a_terminal(
        [
            "run",
            "--",
            "sh",
            "-c",
            "echo two > a; echo ready; exec sleep 100",
        ],
        r"until(b'ready'); os.write(fd, b'\x03')",
    );
    assert_eq!(ran.code, Some(130), "{ran}");
    assert_eq!(repo.in_turn(1, "a").as_deref(), Some("two\n"));
    assert!(ran.stdout.contains("turn"), "{ran}");
}

#[test]
fn p8_a_changed_terminal_size_reaches_the_command() {
    let repo = Repo::with(&[("a", "one\n")]);
    let ran = repo.on_a_terminal(
        ["run", "--", python(), "-c", COUNTER, "SIGWINCH"],
        "until(b'ready'); fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 33, 77, 0, 0))",
    );
    assert!(ran.stdout.contains("count 1 size 77"), "{ran}");
    ran.ok();
}

#[test]
fn p8_the_terminal_and_its_foreground_group_are_the_commands() {
    let repo = Repo::with(&[("a", "one\n")]);
    let look = "
import os
mine = os.getpgrp()
print('ready', [os.tcgetpgrp(0) == mine, os.getpgid(os.getppid()) == mine, os.getsid(0) == os.getsid(os.getppid())],
      [os.isatty(n) for n in (0, 1, 2)], os.ttyname(0) == os.ttyname(2), flush=True)
input()
";
    let ran = repo.on_a_terminal(
        ["run", "--", python(), "-c", look],
        r"until(b'ready'); print('group', os.tcgetpgrp(fd) == pid, flush=True); os.write(fd, b'\n')",
    );
    ran.ok();
    let expected = "ready [True, True, True] [True, True, True] True";
    assert!(ran.stdout.contains(expected), "{ran}");
    assert!(ran.stdout.contains("group True"), "{ran}");
}

const HANGS: &str = "trap 'echo hup > a; exit 3' HUP; echo ready; i=0
    while test $i -lt 300; do sleep 0.01; i=$((i+1)); done; echo no hang-up > a";

#[test]
fn p8_a_hang_up_reaches_the_command_and_the_turn_is_taken() {
    let repo = Repo::with(&[("a", "one\n")]);
    // The shell leads the session, as at a login.
    let edio = format!("'{}' run -- sh -c \"$0\"; exit $?", edio_binary().display());
    let ran = repo.on_a_terminal_with("sh", ["-c", &edio, HANGS], "until(b'ready'); hang_up()");
    drop(ran);
    assert!(soon(|| repo.turns() == 1));
    assert_eq!(repo.in_turn(1, "a").as_deref(), Some("hup\n"));
}

#[test]
fn p8_a_hang_up_reaches_the_command_also_where_edio_leads_the_session() {
    let repo = Repo::with(&[("a", "one\n")]);
    let ran = repo.on_a_terminal(
        ["run", "--", "sh", "-c", HANGS],
        "until(b'ready'); hang_up()",
    );
    assert_eq!(repo.in_turn(1, "a").as_deref(), Some("hup\n"));
    assert_eq!(ran.code, Some(3), "{ran}");
}

#[test]
fn p8_a_command_that_stops_itself_stops_edio_so_that_the_shell_gets_the_terminal() {
    let repo = Repo::with(&[("a", "one\n")]);
    let script = "echo ready $$.; kill -STOP $$; echo two > a; exit 6";
    let ran = repo.on_a_terminal(
        ["run", "--", "sh", "-c", script],
        r"
import re, signal, time
def is_stopped(pid):
    try:
        return open('/proc/%d/stat' % pid).read().rsplit(') ', 1)[1][0] == 'T'
    except OSError:
        return False
def soon(it_came):
    until_then = time.monotonic() + 5
    while time.monotonic() < until_then and not it_came():
        time.sleep(0.005)
    return it_came()
until(b'.')
command = int(re.search(rb'ready (\d+)\.', seen).group(1))
print('stopped', soon(lambda: is_stopped(command)), soon(lambda: is_stopped(pid)), flush=True)
os.kill(pid, signal.SIGCONT)
went_on = soon(lambda: not is_stopped(command))
print('went on', went_on, flush=True)
if not went_on:
    os.kill(command, signal.SIGCONT)
",
    );
    assert_eq!(ran.code, Some(6), "{ran}");
    assert_eq!(repo.in_turn(1, "a").as_deref(), Some("two\n"));
    assert!(ran.stdout.contains("stopped True True"), "{ran}");
    assert!(ran.stdout.contains("went on True"), "{ran}");
}

/// As `cpulimit` does, and debuggers.
#[test]
fn p8_a_command_that_somebody_stops_goes_on_alone_where_no_shell_waits() {
    let repo = Repo::with(&[("a", "one\n")]);
    let script = "echo $$ > ../pid; echo ready; until test -e ../go; do sleep 0.01; done
        echo two > a; exit 6";
    let mut command = repo.command(["run", "--", "sh", "-c", script]);
    let mut child = has_begun(command.process_group(0));
    let pid = fs::read_to_string(repo.outside().join("pid")).unwrap();
    let pid: u32 = pid.trim().parse().unwrap();
    send("STOP", pid);
    assert!(soon(|| state(pid) == Some('T')));
    let has_stopped = || state(child.id()) == Some('T');
    // It hears of the stop before it hears of the end.
    send("CONT", pid);
    fs::write(repo.outside().join("go"), "").unwrap();
    let has_ended = soon(|| state(child.id()) == Some('Z') || has_stopped());
    assert!(
        has_ended && !has_stopped(),
        "it waits for a shell that is not there"
    );
    assert_eq!(child.wait().unwrap().code(), Some(6));
    assert_eq!(repo.in_turn(1, "a").as_deref(), Some("two\n"));
}

/// The state of a process, as proc_pid_stat(5) has it.
fn state(pid: u32) -> Option<char> {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    status.rsplit(") ").next()?.chars().next()
}

#[test]
fn a_command_may_remove_the_folder_that_it_was_started_in_or_make_it_a_repository() {
    let repo = Repo::with(&[("a", "one\n"), ("build/x", "x\n")]);
    for (number, script) in [
        (1, "rm -r ../build; echo two > ../a"),
        (2, "git init -q .; echo three > ../a"),
    ] {
        fs::create_dir_all(repo.path("build")).unwrap();
        repo.edio_in("build", ["run", "--", "sh", "-c", script])
            .ok();
        let expected = ["two\n", "three\n"][number as usize - 1];
        assert_eq!(repo.in_turn(number, "a").as_deref(), Some(expected));
    }
}

#[test]
fn p8_what_edio_was_started_to_ignore_stays_ignored() {
    let repo = Repo::with(&[("a", "one\n")]);
    let mut command = Command::new("sh");
    repo.surround(&mut command);
    let script = "trap '' HUP INT; exec \"$0\" run -- sh -c \
                  'kill -HUP $$; kill -INT $$; kill -HUP $PPID; kill -INT $PPID; echo alive > a; exit 5'";
    command
        .current_dir(&repo.top)
        .args(["-c", script])
        .arg(edio_binary());
    let ran = repo.ran(&mut command);
    assert_eq!(ran.code, Some(5), "{ran}");
    assert_eq!(repo.in_turn(1, "a").as_deref(), Some("alive\n"));
}

#[test]
fn p8_in_a_container_whose_session_is_led_from_outside() {
    let repo = Repo::with(&[("a", "one\n")]);
    // A session's number is 0 where its leader lies outside the container.
    let container = |words: &[&str]| {
        let mut command = Command::new("unshare");
        repo.surround(&mut command);
        let rooms = [
            "--user",
            "--map-root-user",
            "--pid",
            "--fork",
            "--mount-proc",
        ];
        command.args(rooms).args(words);
        repo.ran(command.current_dir(&repo.top).stdin(Stdio::null()))
    };
    let edio = edio_binary().to_str().unwrap();
    if container(&["true"]).code != Some(0) {
        return left_out("no container can be made here");
    }
    let ran = container(&[edio, "run", "--", "sh", "-c", "echo two > a; exit 5"]);
    assert_eq!(ran.code, Some(5), "{ran}");
    assert_eq!(repo.in_turn(1, "a").as_deref(), Some("two\n"));
}

#[test]
fn p8_the_command_has_the_surroundings_that_it_has_without_edio() {
    let repo = Repo::with(&[("a", "one\n")]);
    // The C library ignores two signals of its own, 32 and 33, in what it starts.
    let script = "env | grep -v ^_= | sort; umask; ls /proc/self/fd | wc -l
                  sed -n '/^SigBlk/p; s/^SigIgn:\\t........./SigIgn /p' /proc/self/status";
    let mut plain = repo.like_edio("sh", ["run"]);
    plain.args(["-c", script]);
    plain.env("GIT_PAGER", "mine").env("LANGUAGE", "de");
    let mut under = repo.command(["run", "--", "sh", "-c", script]);
    under.env("GIT_PAGER", "mine").env("LANGUAGE", "de");
    assert_eq!(repo.ran(&mut under).stdout, repo.ran(&mut plain).stdout);
}

#[test]
fn p8_a_snapshot_that_fails_afterwards_is_reported_and_no_more() {
    let breaks = [
        "rm -rf .git",
        "rm -f .git/edio/lock; mkdir .git/edio/lock",
        "rm -rf .git/edio; echo > .git/edio",
        "echo broken > .git/index; rm .git/edio/index",
    ];
    for script in breaks {
        let repo = Repo::with(&[("a", "one\n")]);
        let ran = run(&repo, &format!("{script}; echo done; exit 7"));
        ran.fails(7);
        assert_eq!(ran.stdout, "done\n");
        assert!(
            ran.stderr
                .contains("warning: the snapshot after the command failed\nerror: "),
            "{ran}"
        );
    }
}

#[test]
fn p8_a_snapshot_that_may_not_be_written_is_reported_and_no_more() {
    for (folder, json) in [(".git/edio", false), (".git/objects", true)] {
        let repo = Repo::with(&[("a", "one\n")]);
        repo.give_away();
        let script = format!("find {folder} -type d -exec chmod 555 {{}} + ; echo two > a; exit 7");
        let more: &[&str] = if json { &["--json"] } else { &[] };
        let ran = repo.edio_without_rights([more, &["run", "--", "sh", "-c", &script]].concat());
        let opened = Command::new("chmod")
            .args(["-R", "u+w"])
            .arg(repo.path(".git"))
            .status();
        assert!(opened.unwrap().success());
        ran.fails(7);
        assert_eq!(ran.stdout, "");
        let said = ran.stderr.contains("the snapshot after the command failed");
        assert!(said && ran.stderr.contains("error"), "{ran}");
        if json {
            let lines = ran.stderr.lines();
            lines.for_each(|line| assert!(serde_json::from_str::<Value>(line).is_ok(), "{ran}"));
        }
        assert_eq!(repo.read("a"), "two\n");
        assert_eq!(repo.turns(), 0);
    }
}

#[test]
fn where_the_snapshot_before_fails_the_command_is_not_started() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.write(".git/edio", "in the way");
    let ran = run(&repo, "echo two > a");
    ran.fails(1);
    assert_eq!(repo.read("a"), "one\n");
}

#[test]
fn turn_0_is_the_work_tree_as_the_command_found_it() {
    let repo = Repo::with(&[("a", "one\n"), ("b", "one\n"), ("gone", "one\n")]);
    repo.write("a", "mine\n");
    repo.write("u", "mine\n");
    repo.remove("gone");
    let (state, found) = (repo.git_state(), repo.manifest());
    let ran = run(
        &repo,
        "cat a; echo agent > a; echo agent > b; rm u; echo agent > new; echo agent > gone",
    );
    ran.ok();
    assert_eq!(ran.stdout, "mine\n");
    assert_eq!(repo.turns(), 1);
    assert_eq!(
        repo.edio(["diff", "1", "--json"])
            .json()
            .iter()
            .map(|change| change["path"].clone())
            .collect::<Vec<_>>(),
        ["a", "b", "gone", "new", "u"]
    );
    repo.edio(["restore", "0"]).ok();
    assert_eq!(repo.manifest(), found);
    assert_eq!(repo.git_state(), state);
    repo.fsck();
}

#[test]
fn what_changed_in_between_is_a_turn_of_the_persons() {
    let repo = Repo::with(&[("a", "one\n"), ("b", "one\n")]);
    run(&repo, "echo agent > a").ok();
    repo.write("b", "mine\n");
    let ran = run(&repo, "echo agent, again > a");
    assert!(ran.ok().stderr.contains("turn 2"), "{ran}");
    let turns = repo.edio(["log", "--json"]).json();
    let told: Vec<_> = turns
        .iter()
        .map(|turn| (turn["turn"].clone(), turn["kind"].clone()))
        .collect();
    assert_eq!(
        told,
        [
            (json!(3), json!("turn")),
            (json!(2), json!("human")),
            (json!(1), json!("turn"))
        ]
    );
    for (number, path) in [("1", "a"), ("2", "b"), ("3", "a")] {
        let changes = repo.edio(["diff", number, "--json"]).json();
        assert_eq!(changes.len(), 1);
        assert_eq!(changes[0]["path"], path);
    }
}

#[test]
fn where_nothing_changed_no_turn_is_taken() {
    let repo = Repo::with(&[("a", "one\n")]);
    for _ in 0..2 {
        let ran = run(&repo, "true");
        assert!(ran.ok().stderr.contains("nothing changed"), "{ran}");
        assert_eq!(repo.turns(), 0);
    }
    assert_eq!(
        repo.edio(["show", "0", "--json"]).json()[0]["kind"],
        "baseline"
    );
}

#[test]
fn the_turn_says_which_command_it_was_and_how_it_ended() {
    let repo = Repo::with(&[("a", "one\n")]);
    assert_eq!(run(&repo, "echo 'it is' > a; exit 7").code, Some(7));
    let turn = last(&repo);
    assert_eq!(turn["message"], "sh -c 'echo '\\''it is'\\'' > a; exit 7'");
    assert_eq!(turn["agent"], "sh");
    assert_eq!(
        (&turn["status"], &turn["exit_code"]),
        (&json!("failed"), &json!(7))
    );
    assert_eq!(turn["kind"], "turn");
    run(&repo, "echo two > a").ok();
    let turn = last(&repo);
    assert_eq!(
        (&turn["status"], &turn["exit_code"]),
        (&json!("completed"), &json!(0))
    );
}

#[test]
fn words_after_the_command_are_the_commands() {
    let repo = Repo::with(&[("a", "one\n")]);
    let words = [
        "--json",
        "-q",
        "-C",
        "/",
        "--help",
        "--version",
        "--",
        "-m",
        "--session",
        "x",
        "",
        "a b",
    ];
    for lead in [&["run", "--"][..], &["run"]] {
        let print = ["printf", "<%s>"];
        let ran = repo.edio([lead, &print, &words].concat());
        ran.ok();
        assert_eq!(
            ran.stdout, "<--json><-q><-C></><--help><--version><--><-m><--session><x><><a b>",
            "{ran}"
        );
    }
    let ran = repo.edio(["run", "sh", "-c", "echo $0 $1", "--quiet", "-v"]);
    assert_eq!(ran.stdout, "--quiet -v\n");
    assert!(!ran.ok().stderr.contains(" ms "), "{ran}");
    repo.edio(["run"]).fails(2);
    repo.edio(["run", "--"]).fails(2);
}

#[test]
fn flags_before_the_command_are_edios() {
    let repo = Repo::with(&[("sub/a", "one\n")]);
    let quiet = repo.edio(["-q", "run", "--", "sh", "-c", "echo two > sub/a"]);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    let json = repo.edio(["--json", "run", "sh", "-c", "echo three > sub/a; cat sub/a"]);
    assert_eq!(json.ok().stdout, "three\n");
    let elsewhere = repo.edio(["-C", "sub", "run", "--", "sh", "-c", "pwd; echo four > a"]);
    assert_eq!(
        elsewhere.ok().stdout,
        format!("{}\n", repo.path("sub").display())
    );
    assert_eq!(repo.turns(), 3);
}

#[test]
fn outside_a_repository_the_command_is_not_started() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.git(["init", "-q", "--bare", "../bare"]);
    for folder in [
        repo.outside(),
        repo.outside().join("bare"),
        repo.path(".git"),
    ] {
        let ran = repo.edio_in(
            &folder,
            ["run", "--", "sh", "-c", "echo > \"$HOME/started\""],
        );
        ran.fails(4);
        assert!(!repo.outside().join("home/started").exists(), "{ran}");
        let ran = repo.edio_in(&folder, ["run", "--", "no-such-command"]);
        ran.fails(4);
    }
}

#[test]
fn in_a_subfolder_and_before_the_first_commit() {
    let repo = Repo::unborn();
    repo.write("sub/a", "one\n");
    repo.write("b", "one\n");
    let ran = repo.edio_in(
        "sub",
        [
            "run",
            "--",
            "sh",
            "-c",
            "pwd; echo two > a; echo two > ../b",
        ],
    );
    assert_eq!(ran.ok().stdout, format!("{}\n", repo.path("sub").display()));
    assert_eq!(repo.in_turn(1, "sub/a").as_deref(), Some("two\n"));
    assert_eq!(repo.in_turn(1, "b").as_deref(), Some("two\n"));
    repo.edio(["restore", "0"]).ok();
    assert_eq!(
        (repo.read("sub/a"), repo.read("b")),
        ("one\n".into(), "one\n".into())
    );
}

#[test]
fn p6_the_command_may_call_edio_itself() {
    let repo = Repo::with(&[("a", "one\n")]);
    let script = "echo two > a; \"$0\" snapshot -m inner; \"$0\" run -- sh -c 'echo three > a'; echo four > a";
    repo.edio([
        "run",
        "--",
        "sh",
        "-c",
        script,
        edio_binary().to_str().unwrap(),
    ])
    .ok();
    assert_eq!(repo.turns(), 3);
    let contents = [1, 2, 3].map(|number| repo.in_turn(number, "a").unwrap());
    assert_eq!(contents, ["two\n", "three\n", "four\n"]);
}

#[test]
fn p1_run_leaves_everything_of_gits_as_it_was() {
    let repo = Repo::with(&[("a", "one\n"), ("b", "one\n")]);
    repo.write("a", "staged\n");
    repo.git(["add", "a"]);
    repo.write("a", "more\n");
    let state = repo.git_state();
    run(&repo, "true").ok();
    assert_eq!(repo.git_state(), state);
    run(&repo, "echo new > new; rm new").ok();
    assert_eq!(repo.git_state(), state);
}
