//! What is measured: programs, and sequences of git commands as other tools have them.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use super::project::Project;

fn quiet(program: &str) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    let set = std::env::vars_os().map(|(name, _)| name);
    for name in set.filter(|name| {
        let name = name.to_string_lossy();
        name.starts_with("GIT_") || name.starts_with("EDIO_")
    }) {
        command.env_remove(name);
    }
    for (name, value) in [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_SYSTEM", "/dev/null"),
        ("GIT_AUTHOR_NAME", "A Person"),
        ("GIT_AUTHOR_EMAIL", "person@example.com"),
        ("GIT_COMMITTER_NAME", "A Person"),
        ("GIT_COMMITTER_EMAIL", "person@example.com"),
    ] {
        command.env(name, value);
    }
    command
}

fn succeed(mut command: Command) -> Output {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    output
}

/// A program that does nothing here but start and end.
pub fn program(name: &str) {
    succeed(quiet(name));
}

/// A git command in a project.
pub fn git(project: &Project, words: &[&str]) -> Vec<u8> {
    let mut command = quiet("git");
    command.args(words).current_dir(&project.top);
    succeed(command).stdout
}

fn one_line(output: Vec<u8>) -> String {
    String::from_utf8(output).unwrap().trim_end().to_owned()
}

/// The sequence that most tools have: an index made from HEAD each time, and everything added to it.
pub struct Reference {
    pub project: Project,
    index: PathBuf,
    turns: Vec<String>,
}

impl Reference {
    pub fn new(project: Project) -> Self {
        let index = project.top.join(".git/reference.index");
        Self {
            project,
            index,
            turns: Vec::new(),
        }
    }

    fn git(&self, words: &[&str], input: &[u8]) -> Vec<u8> {
        with_index(&self.project, &self.index, words, input)
    }

    pub fn snapshot(&mut self) {
        let _ = fs::remove_file(&self.index);
        let head = one_line(self.git(&["rev-parse", "HEAD"], b""));
        self.git(&["read-tree", "HEAD"], b"");
        self.git(&["add", "-A"], b"");
        let tree = one_line(self.git(&["write-tree"], b""));
        let parent = self.turns.last().unwrap_or(&head).clone();
        let words = ["commit-tree", &tree, "-p", &parent, "-m", "turn"];
        let commit = one_line(self.git(&words, b""));
        let name = format!("refs/reference/{}", self.turns.len());
        self.git(&["update-ref", &name, &commit], b"");
        self.git(&["update-ref", "refs/reference/current", &commit], b"");
        self.turns.push(commit);
    }

    /// Back to the turn before the last.
    pub fn restore(&mut self) {
        let [.., before, last] = self.turns.as_slice() else {
            panic!("too few turns")
        };
        let paths = self.git(&["diff-tree", "-r", "-z", "--name-only", before, last], b"");
        let source = format!("--source={before}");
        let from = ["--pathspec-from-file=-", "--pathspec-file-nul"];
        self.git(
            &["restore", &source, "--worktree", from[0], from[1]],
            &paths,
        );
    }
}

/// The best that others have: an index of their own that is kept, and only what changed added to it. They stop at a tree:
/// no commit, no ref.
pub struct Kept {
    pub project: Project,
    index: PathBuf,
}

impl Kept {
    pub fn new(project: Project) -> Self {
        let index = project.top.join(".git/kept.index");
        let copied = Command::new("cp")
            .arg("-p")
            .arg(project.top.join(".git/index"))
            .arg(&index)
            .status();
        assert!(copied.unwrap().success());
        Self { project, index }
    }

    pub fn snapshot(&mut self) {
        let git =
            |words: &[&str], input: &[u8]| with_index(&self.project, &self.index, words, input);
        let modified = start(
            &self.project,
            &self.index,
            &["diff-files", "--name-only", "-z"],
        );
        let mut paths = git(&["ls-files", "-o", "--exclude-standard", "-z"], b"");
        let modified = modified.wait_with_output().unwrap();
        assert!(modified.status.success());
        paths.extend(modified.stdout);
        if !paths.is_empty() {
            let from = ["--pathspec-from-file=-", "--pathspec-file-nul"];
            git(&["add", "--all", "--sparse", from[0], from[1]], &paths);
        }
        git(&["write-tree"], b"");
    }
}

fn start(project: &Project, index: &Path, words: &[&str]) -> Child {
    let mut command = quiet("git");
    command
        .args(words)
        .current_dir(&project.top)
        .env("GIT_INDEX_FILE", index);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn with_index(project: &Project, index: &Path, words: &[&str], input: &[u8]) -> Vec<u8> {
    let mut child = start(project, index, words);
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {words:?}: {said}");
    output.stdout
}

/// edio.
pub struct Edio {
    pub project: Project,
}

impl Edio {
    pub fn new(project: Project) -> Self {
        Self { project }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = quiet(env!("CARGO_BIN_EXE_edio"));
        command.args(words).current_dir(&self.project.top);
        command
    }

    pub fn run(&self, words: &[&str]) {
        succeed(self.command(words));
    }

    /// As an agent's hook, with an event of Claude Code's. A tool either names the file that it has written, or is a shell.
    pub fn hook(&self, event: &str, file: &str) {
        let top = self.project.top.to_string_lossy();
        let tool = if file.is_empty() { "Bash" } else { "Write" };
        let event = format!(
            r#"{{"session_id":"s","cwd":"{top}","hook_event_name":"{event}","prompt":"measured","tool_name":"{tool}","tool_input":{{"file_path":"{top}/{file}"}}}}"#
        );
        let mut command = self.command(&["hook", "claude"]);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(event.as_bytes()).unwrap();
        drop(stdin);
        assert!(child.wait().unwrap().success());
    }

    /// As in a repository that never saw edio.
    pub fn forget_everything(&self) {
        let format = "--format=delete %(refname)";
        let refs = git(&self.project, &["for-each-ref", format, "refs/edio"]);
        let index = self.project.top.join(".git/index");
        with_index(&self.project, &index, &["update-ref", "--stdin"], &refs);
        let _ = fs::remove_dir_all(self.project.top.join(".git/edio"));
        git(&self.project, &["prune"]);
    }

    /// The most memory that edio or one of its children held at a time, in bytes. Where the system does not tell: 0.
    pub fn peak_memory(&self, words: &[&str]) -> u64 {
        let mut child = self
            .command(words)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut peak = 0;
        let ended = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            peak = peak.max(
                family(child.id())
                    .into_iter()
                    .map(memory)
                    .max()
                    .unwrap_or(0),
            );
            thread::sleep(Duration::from_millis(1));
        };
        assert!(ended.success(), "edio {words:?}");
        peak
    }
}

/// A process and its children (proc_pid_task_children(5)).
fn family(pid: u32) -> Vec<u32> {
    let listed = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let children = listed.split_whitespace().filter_map(|pid| pid.parse().ok());
    [pid].into_iter().chain(children).collect()
}

fn memory(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
