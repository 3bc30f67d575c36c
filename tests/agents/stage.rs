//! A real agent at work in a test's repository: its model plays a script, and there is no network.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::{Map, Value, json};

use crate::common::{Ran, Repo, edio_binary, left_out, path, python};

/// An agent may take so many seconds for what it is told: more than any needs, on the slowest machine.
const SECONDS: &str = "300";

/// How an agent is set up and run, and what its model has to say to use its tools.
pub trait Agent {
    /// What edio calls it.
    fn name(&self) -> &'static str;

    /// Whose files `edio init` writes for it.
    fn connected(&self) -> &'static str {
        self.name()
    }

    /// Writes what its user would have in the home folder: the model, and the trust that it asks for.
    fn settle(&self, stage: &Stage);

    /// Tells it something: as the first thing, or in the conversation that it had last.
    fn told(&self, stage: &Stage, prompt: &str, goes_on: bool) -> Command;

    /// Its model writes a new file.
    fn write(&self, stage: &Stage, file: &str, content: &str) -> Value;

    /// Its model runs a command.
    fn run(&self, command: &str) -> Value;

    /// Its model calls one of edio's tools.
    fn edio(&self, tool: &str, arguments: Value) -> Value;
}

/// The call of a tool, in the model's script.
pub fn call(tool: &str, args: impl Into<Value>) -> Value {
    json!({"tool": tool, "args": args.into()})
}

/// A repository to which an agent is connected.
pub struct Stage {
    pub repo: Repo,
    pub agent: &'static dyn Agent,
    /// Where its model listens while it plays.
    pub model: String,
    port: u16,
    script: Map<String, Value>,
}

impl Stage {
    /// A repository with the files `note` and `gone`, as `edio init` leaves it.
    pub fn of(agent: &'static dyn Agent) -> Self {
        let repo = Repo::with(&[("note", "0\n"), ("gone", "0\n")]);
        // Agents don't hand on the variable that names it.
        fs::copy(
            repo.outside().join("gitconfig"),
            repo.outside().join("home/.gitconfig"),
        )
        .unwrap();
        let free = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = free.local_addr().unwrap().port();
        let stage = Self {
            repo,
            agent,
            model: format!("http://127.0.0.1:{port}"),
            port,
            script: Map::new(),
        };
        stage.edio(&["init", "--agents", agent.connected()]).ok();
        agent.settle(&stage);
        stage
    }

    /// Writes a file in the home folder.
    pub fn at_home(&self, path: &str, content: impl ToString) {
        let path = self.repo.outside().join("home").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content.to_string()).unwrap();
    }

    /// What the model does when it is told these words.
    pub fn plays(&mut self, words: &str, steps: impl IntoIterator<Item = Value>) {
        let steps = steps.into_iter().collect();
        self.script.insert(words.to_owned(), steps);
    }

    /// The agent is told something, and ends well. Returns what it printed.
    pub fn tell(&self, prompt: &str, goes_on: bool) -> String {
        let ran = self.play(prompt, goes_on, None);
        assert_eq!(ran.code, Some(0), "{ran}\n{}", self.story());
        show(&ran);
        ran.stdout
    }

    /// The agent is told something, and ends badly.
    pub fn fail(&self, prompt: &str) {
        let ran = self.play(prompt, false, None);
        assert_ne!(ran.code, Some(0), "{ran}\n{}", self.story());
    }

    /// The agent is told something, and gets a signal once this file is there.
    pub fn stop(&self, prompt: &str, signal: &str, file: &str) {
        let ran = self.play(prompt, true, Some((signal, &self.repo.path(file))));
        assert!(self.repo.has(file), "{ran}\n{}", self.story());
    }

    /// The agent is run with this command, and ends well.
    pub fn run(&self, agent: &Command) {
        let ran = self.perform(agent, None);
        assert_eq!(ran.code, Some(0), "{ran}\n{}", self.story());
        show(&ran);
    }

    fn play(&self, prompt: &str, goes_on: bool, stop: Option<(&str, &Path)>) -> Ran {
        self.perform(&self.agent.told(self, prompt, goes_on), stop)
    }

    fn perform(&self, agent: &Command, stop: Option<(&str, &Path)>) -> Ran {
        let script = self.repo.outside().join("script.json");
        fs::write(&script, Value::from(self.script.clone()).to_string()).unwrap();
        let (signal, file) = stop.unwrap_or(("", Path::new("")));
        let mut command = alone();
        self.surround(&mut command);
        for (name, value) in agent.get_envs() {
            command.env(name, value.unwrap());
        }
        command
            .args([python(), "-B"])
            .arg(here().join("stage.py"))
            .arg(self.port.to_string())
            .args([&script, &self.log()])
            .args([SECONDS, signal])
            .arg(file)
            .arg(agent.get_program())
            .args(agent.get_args())
            .current_dir(&self.repo.top);
        self.repo.ran(&mut command)
    }

    /// edio as the agent runs it: by the clock.
    pub fn edio(&self, words: &[&str]) -> Ran {
        let mut command = Command::new(edio_binary());
        self.surround(&mut command);
        let command = command.args(words).current_dir(&self.repo.top);
        self.repo.ran(command)
    }

    fn surround(&self, command: &mut Command) {
        self.repo.surround(command);
        let folder = edio_binary().parent().unwrap().display();
        command.env("PATH", format!("{folder}:{}", path()));
        for fixed in ["EDIO_NOW", "GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"] {
            command.env_remove(fixed);
        }
    }

    fn log(&self) -> PathBuf {
        self.repo.outside().join("requests.jsonl")
    }

    /// What the model was asked, and what it answered.
    pub fn requests(&self) -> Vec<Value> {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        log.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Was the model told this?
    pub fn model_knows(&self, words: &str) -> bool {
        self.requests()
            .iter()
            .any(|request| request["body"].to_string().contains(words))
    }

    /// Has the model seen this among the results of its tools?
    pub fn model_saw(&self, words: &str) -> bool {
        self.requests()
            .iter()
            .any(|request| request["results"].to_string().contains(words))
    }

    /// What happened between the agent and its model, for a test that failed.
    pub fn story(&self) -> String {
        let line = |request: &Value| {
            let last = request["results"]
                .as_array()
                .and_then(|results| results.last());
            let last = last.map(|last| last.to_string().chars().take(300).collect::<String>());
            format!("{} after {last:?}: {}\n", request["path"], request["step"])
        };
        self.requests().iter().map(line).collect()
    }

    /// The turns and steps, the first one first: these fields of each, as one line.
    pub fn turns(&self, fields: &[&str]) -> Vec<String> {
        let mut found = self.edio(&["log", "--json", "--steps"]).ok().json();
        found.reverse();
        let said = |record: &Value, field: &str| match &record[field] {
            Value::String(text) => text.clone(),
            Value::Null => "-".to_owned(),
            other => other.to_string(),
        };
        let line = |record: &Value| {
            let said: Vec<String> = fields.iter().map(|field| said(record, field)).collect();
            said.join(" | ")
        };
        found.iter().map(line).collect()
    }

    /// The agent's own id for the one conversation that it had.
    pub fn session(&self) -> String {
        let mut sessions = self.turns(&["agent_session"]);
        sessions.dedup();
        assert!(
            sessions.len() == 1 && sessions[0] != "-",
            "{sessions:?}\n{}",
            self.story()
        );
        sessions.remove(0)
    }
}

/// The harness keeps it to itself, unless it is told not to (`--nocapture`).
#[expect(clippy::print_stdout, reason = "it is for those who ask for it")]
fn show(ran: &Ran) {
    println!("{ran}");
}

/// The folder of these tests.
fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents")
}

/// A command, still without the program, that runs it where there is no network, but for this machine itself.
pub fn alone() -> Command {
    static IS_ALLOWED: OnceLock<bool> = OnceLock::new();
    let is_allowed = IS_ALLOWED.get_or_init(|| {
        let script = "import stage; stage.start_loopback()";
        let tried = Command::new("unshare")
            .args(["-rn", python(), "-B", "-c", script])
            .current_dir(here())
            .output();
        let is_allowed = tried.is_ok_and(|tried| tried.status.success());
        if !is_allowed {
            left_out("the network namespace: it is not allowed here (or unshare is missing)");
        }
        is_allowed
    });
    let mut command = Command::new(if *is_allowed { "unshare" } else { "env" });
    command.args(is_allowed.then_some("-rn"));
    command
}
