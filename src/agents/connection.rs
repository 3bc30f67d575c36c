//! What connects an agent: which of its files are to have what, and what the person must still do.

use super::config::{Config, Entry, Language, Value};
use super::{Agent, claude, codex, cursor, gemini, vscode};

/// The text that tells an agent how to work with edio. It is sent with each conversation: it must stay short.
pub const EDIO_MD: &str = "\
# edio: undo for this project

edio keeps a snapshot of the whole work tree for each turn, in the project's own .git. Nobody sees it in `git status`.

- Snapshots instead of commits: don't commit to save your work. `edio snapshot -m \"what was done\"` keeps it, where hooks
  don't do so already. The person makes the commit, with `edio accept`.
- Never use `git checkout`, `git restore`, `git stash`, `git reset` or `git clean` to go back: they lose work, and they
  know no turns.
- To look: `edio log` lists the turns, `edio show 7` tells what turn 7 did, `edio diff 5..7` what lies between two,
  `edio diff 5 --workspace` what has changed on disk since.
- To go back: `edio restore 6` brings back everything as it was after turn 6, `edio restore 6 -f FILE` one file, and
  `edio undo` takes back the last restore or turn. What is on disk is saved first, so nothing is lost by it.
- After going back, read files again before you change them: they are others than you remember.
- If the edio tools are there (snapshot, log, show, diff, restore, undo, status), they do the same.
";

/// The same in few lines, for a file that has the words of others, too.
const BLOCK: &str = "\
<!-- edio:begin -->
This project has edio, an undo for turns (more in EDIO.md). Snapshots instead of commits: `edio snapshot -m MSG` where hooks
don't take them. Never go back with `git checkout`, `git stash` or `git reset`. To look: `edio log`, `edio show TURN`,
`edio diff A..B`. To go back: `edio restore TURN [-f FILE]`, `edio undo`; then read the files again.
<!-- edio:end -->
";

/// Whose files are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The project's, in the work tree.
    Project,
    /// The person's own, in the home folder.
    User,
}

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// The agent calls edio.
    Hooks,
    /// The agent's model can call edio.
    Server,
    /// The agent's model knows of edio.
    Instructions,
}

impl Purpose {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Purpose::Hooks => "hooks",
            Purpose::Server => "server",
            Purpose::Instructions => "instructions",
        }
    }
}

/// Another file that may be taken instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instead {
    /// There is none.
    Never,
    /// This one, where git tracks the first: the agent reads both.
    OfTracked(&'static str),
    /// This one, where it is there: the agent then reads no other.
    WhereThere(&'static str),
}

/// Reads a file of the person's or of the project's; `None` where there is none.
pub type Read<'a> = &'a dyn Fn(Reach, &str) -> Option<Vec<u8>>;

/// What an agent's own files say of trust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// It is given.
    Given(&'static str),
    /// It is not: the agent leaves out what it is for, in silence.
    Missing(&'static str),
    /// Nothing tells.
    Unknown(&'static str),
}

/// One file of an agent.
#[derive(Clone, Debug)]
pub struct File {
    /// From the top of the work tree, or from the home folder.
    pub path: &'static str,
    /// Which other may be taken.
    pub instead: Instead,
    /// What it is for.
    pub purpose: Purpose,
    /// What it is to have.
    pub config: Config,
}

impl File {
    pub(super) fn new(
        purpose: Purpose,
        path: &'static str,
        language: Language,
        entries: Vec<Entry>,
    ) -> Self {
        Self {
            path,
            instead: Instead::Never,
            purpose,
            config: Config { language, entries },
        }
    }

    pub(super) fn or(mut self, instead: Instead) -> Self {
        self.instead = instead;
        self
    }

    /// A file of instructions that is all edio's.
    pub(super) fn instructions(path: &'static str, text: &'static str) -> Self {
        let entries = vec![Entry::Whole(text)];
        Self::new(Purpose::Instructions, path, Language::Text, entries)
    }

    /// Lines in a file of instructions.
    pub(super) fn lines(path: &'static str, text: &'static str) -> Self {
        let entries = vec![Entry::Lines(text)];
        Self::new(Purpose::Instructions, path, Language::Text, entries)
    }

    /// Every place where its part may be: it, and the other.
    pub fn places(&self) -> Vec<&'static str> {
        match self.instead {
            Instead::Never => vec![self.path],
            Instead::OfTracked(other) | Instead::WhereThere(other) => vec![self.path, other],
        }
    }
}

/// `EDIO.md`, which belongs to no agent: others name it, and people read it.
pub fn edio_md() -> File {
    File::instructions("EDIO.md", EDIO_MD)
}

/// The lines for an agent that expands no imports.
pub(super) fn block(path: &'static str) -> File {
    File::lines(path, BLOCK)
}

impl Agent {
    /// The files that connect it.
    pub fn files(self, reach: Reach) -> Vec<File> {
        match self {
            Agent::Claude => claude::files(reach),
            Agent::Codex => codex::files(reach),
            Agent::Cursor => cursor::files(reach),
            Agent::Gemini => gemini::files(reach),
            Agent::Vscode => vscode::files(reach),
        }
    }

    /// What the person must still do, and where what happens is seen: the agent itself is silent about it.
    pub fn approval(self) -> &'static str {
        match self {
            Agent::Claude => claude::APPROVAL,
            Agent::Codex => codex::APPROVAL,
            Agent::Cursor => cursor::APPROVAL,
            Agent::Gemini => gemini::APPROVAL,
            Agent::Vscode => vscode::APPROVAL,
        }
    }

    /// What the agent's own files say of whether it takes heed of what stands in this project. `read` gives a file of the
    /// person's or of the project's.
    pub fn trust(self, project: &str, read: Read<'_>) -> Vec<Trust> {
        match self {
            Agent::Claude => claude::trust(project, read),
            Agent::Codex => codex::trust(project, read),
            Agent::Gemini => gemini::trust(project, read),
            Agent::Cursor | Agent::Vscode => Vec::new(),
        }
    }

    /// Its name as its makers write it.
    pub fn title(self) -> &'static str {
        match self {
            Agent::Claude => "Claude Code",
            Agent::Codex => "Codex",
            Agent::Cursor => "Cursor",
            Agent::Gemini => "Gemini CLI",
            Agent::Vscode => "VS Code",
        }
    }

    /// The folder in the home folder that it makes when it is first used, and the program that `PATH` finds.
    pub fn traces(self) -> (&'static str, &'static str) {
        match self {
            Agent::Claude => (".claude", "claude"),
            Agent::Codex => (".codex", "codex"),
            Agent::Cursor => (".cursor", "cursor"),
            Agent::Gemini => (".gemini", "gemini"),
            Agent::Vscode => (vscode::USER_FOLDER, "code"),
        }
    }

    /// Was what is known of its files only read, and never tried with the program itself?
    pub fn is_known_from_documents(self) -> bool {
        matches!(self, Agent::Cursor | Agent::Vscode)
    }
}

/// A server on standard input and output.
pub(super) fn server(within: &'static str, members: Vec<(&'static str, Value)>) -> Entry {
    let run = vec![
        ("command", Value::Text("edio")),
        ("args", Value::List(vec![Value::Text("mcp")])),
    ];
    let members = members.into_iter().chain(run).collect();
    Entry::Named(vec![within, "edio"], Value::Object(members))
}

/// A group of one handler, for an event; with a pattern of the tools that it is for, where there is one.
pub(super) fn group(
    event: &'static str,
    matcher: Option<&'static str>,
    handler: Vec<(&'static str, Value)>,
) -> Entry {
    let matcher = matcher.map(|matcher| ("matcher", Value::Text(matcher)));
    let hooks = ("hooks", Value::List(vec![Value::Object(handler)]));
    let members = matcher.into_iter().chain([hooks]).collect();
    Entry::Listed(vec!["hooks", event], Value::Object(members))
}
