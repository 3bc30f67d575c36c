//! A story: agents at work, a person beside them, git, and time that passes.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::common::{NOW, Ran, Repo, fed, payload};

/// A repository in which time passes: each thing that happens takes ten seconds.
pub struct Story {
    pub repo: Repo,
    now: Cell<i64>,
    calls: Cell<u32>,
}

impl Story {
    /// It begins with these files in one commit, `base`, of somebody else.
    pub fn of(files: &[(&str, &str)]) -> Self {
        let story = Self::around(Repo::unborn());
        for (path, content) in files {
            story.repo.write(path, content);
        }
        story.others_commit("base");
        story
    }

    /// It goes on in a repository that is there.
    pub fn around(repo: Repo) -> Self {
        Self {
            repo,
            now: Cell::new(NOW),
            calls: Cell::new(0),
        }
    }

    fn timed(&self, command: &mut Command) {
        self.now.set(self.now.get() + 10);
        let date = format!("@{} +0000", self.now.get());
        command
            .env("EDIO_NOW", self.now.get().to_string())
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_DATE", &date);
    }

    /// edio, at the top.
    pub fn edio(&self, words: &[&str]) -> Ran {
        self.edio_in("", words)
    }

    pub fn edio_in(&self, folder: impl AsRef<Path>, words: &[&str]) -> Ran {
        let mut command = self.repo.command(words);
        self.timed(&mut command);
        self.repo.ran(command.current_dir(self.repo.path(folder)))
    }

    /// The user's own git, which must succeed.
    pub fn git(&self, words: &[&str]) -> String {
        let (ends_well, said) = self.tries_git(words);
        assert!(ends_well, "git {words:?}: {said}");
        said
    }

    /// The same where it may fail.
    pub fn tries_git(&self, words: &[&str]) -> (bool, String) {
        let mut command = Command::new("git");
        self.repo.surround(&mut command);
        self.timed(&mut command);
        command.env("GIT_EDITOR", "true").stdin(Stdio::null());
        let command = command.current_dir(&self.repo.top).args(words);
        let output = command.output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).trim_end().to_owned();
        (output.status.success(), said)
    }

    /// The person commits all there is.
    pub fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    /// Somebody else's commit.
    pub fn others_commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        let author = "--author=Somebody Else <else@example.com>";
        self.git(&["commit", "-q", "--allow-empty", "-m", message, author]);
    }

    pub fn writes(&self, path: &str, content: &str) {
        self.repo.write(path, content);
    }

    pub fn claude(&self) -> Agent<'_> {
        Agent {
            story: self,
            name: "claude",
            session: "s1",
            cwd: self.repo.top.clone(),
            helper: None,
        }
    }

    pub fn codex(&self) -> Agent<'_> {
        Agent {
            name: "codex",
            session: "c1",
            ..self.claude()
        }
    }

    /// The record of each line.
    pub fn lines(&self, words: &[&str]) -> Vec<Value> {
        let ran = self.edio(&[&["--json", "blame"], words].concat());
        ran.ok().json()
    }

    /// The owner of each line, in short: `1.1 claude`, `human 2`, `commit base`, `shared 3`, `none 4`, `none`.
    pub fn owners(&self, words: &[&str]) -> Vec<String> {
        self.lines(words).iter().map(owner).collect()
    }

    /// Each line of a file must be owned as is said beside it: `text | owner`.
    #[track_caller]
    pub fn owned(&self, path: &str, lines: &[&str]) {
        let found = self.lines(&[path]);
        let found: Vec<String> = found
            .iter()
            .map(|line| {
                format!(
                    "{} | {}",
                    line["text"].as_str().unwrap_or("?").trim(),
                    owner(line)
                )
            })
            .collect();
        assert_eq!(found, lines, "{}", self.repo.edio(["log", "--steps"]));
    }
}

/// Who owns a line, in short.
pub fn owner(line: &Value) -> String {
    let turn = match (&line["turn"], &line["step"]) {
        (Value::Null, _) => String::new(),
        (turn, Value::Null) => format!(" {turn}"),
        (turn, step) => format!(" {turn}.{step}"),
    };
    match line["kind"].as_str().unwrap() {
        "turn" => format!(
            "{} {}",
            turn.trim_start(),
            line["agent"].as_str().unwrap_or("-")
        ),
        "commit" => format!("commit {}", line["summary"].as_str().unwrap()),
        kind => format!("{kind}{turn}"),
    }
}

/// An agent at work.
#[derive(Clone)]
pub struct Agent<'a> {
    pub story: &'a Story,
    pub name: &'static str,
    pub session: &'a str,
    pub cwd: PathBuf,
    pub helper: Option<&'a str>,
}

impl Agent<'_> {
    pub fn says(&self, event: &str, more: Value) {
        let mut payload = payload(self.session, &self.cwd, event, more);
        if let Some(helper) = self.helper {
            payload["agent_id"] = json!(helper);
        }
        let mut command = self.story.repo.command(["hook", self.name]);
        self.story.timed(&mut command);
        let output = fed(&mut command, payload.to_string());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(output.stdout.is_empty() && output.stderr.is_empty());
    }

    pub fn told(&self, prompt: &str) {
        self.says("UserPromptSubmit", json!({"prompt": prompt}));
    }

    pub fn stops(&self) {
        self.says("Stop", json!({"stop_hook_active": false}));
    }

    /// Begins to use a tool on a file, or to run a command. Returns the id of the call.
    pub fn begins(&self, file: Option<&str>) -> String {
        let number = self.story.calls.get() + 1;
        self.story.calls.set(number);
        let call = format!("t{number}");
        self.says("PreToolUse", self.tool(file, &call));
        call
    }

    pub fn ends(&self, file: Option<&str>, call: &str) {
        let mut more = self.tool(file, call);
        more["tool_response"] = json!("done");
        self.says("PostToolUse", more);
    }

    fn tool(&self, file: Option<&str>, call: &str) -> Value {
        let (tool, input) = match (file, self.name) {
            (Some(file), "claude") => ("Write", json!({"file_path": self.cwd.join(file)})),
            (Some(file), _) => {
                let patch = format!("*** Begin Patch\n*** Update File: {file}\n*** End Patch");
                ("apply_patch", json!({"command": patch}))
            }
            (None, _) => ("Bash", json!({"command": "some command"})),
        };
        json!({"tool_name": tool, "tool_input": input, "tool_use_id": call})
    }

    /// Writes a file with a tool that names it.
    pub fn writes(&self, file: &str, content: &str) -> String {
        let call = self.begins(Some(file));
        self.story.repo.write(self.cwd.join(file), content);
        self.ends(Some(file), &call);
        call
    }

    /// Does something by a command.
    pub fn runs(&self, act: impl FnOnce()) -> String {
        let call = self.begins(None);
        act();
        self.ends(None, &call);
        call
    }

    /// A whole turn that writes one file.
    pub fn turn(&self, prompt: &str, file: &str, content: &str) {
        self.told(prompt);
        self.writes(file, content);
        self.stops();
    }
}
