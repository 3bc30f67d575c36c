//! What connects an agent: which of its files are to have what, and what the person must still do.

use super::config::{Config, Entry, Language, Value};
use super::{
    Agent, aider, antigravity, claude, cline, codex, copilot, cursor, gemini, kilo, opencode, pi,
    vscode, windsurf, zed,
};

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

/// The skill: what an agent reads when it needs to look back or to recover something (<https://agentskills.io>).
const SKILL_MD: &str = include_str!("SKILL.md");

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
    /// The agent's model can read more when it needs to.
    Skill,
    /// The agent asks the guard.
    Guard,
}

impl Purpose {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Purpose::Hooks => "hooks",
            Purpose::Server => "server",
            Purpose::Instructions => "instructions",
            Purpose::Skill => "skill",
            Purpose::Guard => "guard",
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
    /// This one, where it is there: the agent prefers it, or reads both.
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

    /// Has a file of another agent the same part, in a place that this one may have, too?
    pub fn shares(&self, other: &File, path: &str) -> bool {
        self.config == other.config && other.places().contains(&path)
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
            Agent::Copilot => copilot::files(reach),
            Agent::Opencode => opencode::files(reach),
            Agent::Kilo => kilo::files(reach),
            Agent::Pi => pi::files(reach),
            Agent::Cline => cline::files(reach),
            Agent::Zed => zed::files(reach),
            Agent::Windsurf => windsurf::files(reach),
            Agent::Antigravity => antigravity::files(reach),
            Agent::Aider => aider::files(reach),
        }
    }

    /// What the guard needs in its files beside what connects it. `None` where the guard can't stop its calls.
    pub fn guard(self, reach: Reach) -> Option<Vec<File>> {
        match self {
            // They tell of each use of a tool anyway.
            Agent::Claude | Agent::Gemini => Some(Vec::new()),
            Agent::Codex => Some(codex::guard(reach)),
            Agent::Copilot => Some(copilot::guard(reach)),
            Agent::Cursor => Some(cursor::guard(reach)),
            Agent::Opencode => Some(opencode::guard(reach)),
            Agent::Pi => Some(pi::guard(reach)),
            Agent::Cline => Some(cline::guard(reach)),
            // What VS Code calls its tools is not known for sure.
            Agent::Vscode
            | Agent::Windsurf
            | Agent::Antigravity
            | Agent::Kilo
            | Agent::Zed
            | Agent::Aider => None,
        }
    }

    /// The skill, where it looks for skills: from the top of the work tree or from the home folder, the same.
    pub fn skill(self) -> Option<File> {
        let path = match self {
            Agent::Claude => ".claude/skills/edio/SKILL.md",
            Agent::Aider => return None,
            _ => ".agents/skills/edio/SKILL.md",
        };
        let entries = vec![Entry::Whole(SKILL_MD)];
        Some(File::new(Purpose::Skill, path, Language::Text, entries))
    }

    /// What the person must still do, and where what happens is seen: the agent itself is silent about it.
    pub fn approval(self) -> &'static str {
        match self {
            Agent::Claude => claude::APPROVAL,
            Agent::Codex => codex::APPROVAL,
            Agent::Cursor => cursor::APPROVAL,
            Agent::Gemini => gemini::APPROVAL,
            Agent::Vscode => vscode::APPROVAL,
            Agent::Copilot => copilot::APPROVAL,
            Agent::Opencode => opencode::APPROVAL,
            Agent::Kilo => kilo::APPROVAL,
            Agent::Pi => pi::APPROVAL,
            Agent::Cline => cline::APPROVAL,
            Agent::Zed => zed::APPROVAL,
            Agent::Windsurf => windsurf::APPROVAL,
            Agent::Antigravity => antigravity::APPROVAL,
            Agent::Aider => aider::APPROVAL,
        }
    }

    /// What the agent's own files say of whether it takes heed of what stands in this project. `read` gives a file of the
    /// person's or of the project's.
    pub fn trust(self, project: &str, read: Read<'_>) -> Vec<Trust> {
        match self {
            Agent::Claude => claude::trust(project, read),
            Agent::Codex => codex::trust(project, read),
            Agent::Gemini => gemini::trust(project, read),
            Agent::Copilot => copilot::trust(project, read),
            Agent::Pi => pi::trust(project, read),
            _ => Vec::new(),
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
            Agent::Copilot => "Copilot CLI",
            Agent::Opencode => "OpenCode",
            Agent::Kilo => "Kilo",
            Agent::Pi => "pi",
            Agent::Cline => "Cline",
            Agent::Zed => "Zed",
            Agent::Windsurf => "Windsurf",
            Agent::Antigravity => "Antigravity CLI",
            Agent::Aider => "Aider",
        }
    }

    /// What tells that it is used.
    pub fn traces(self) -> Traces {
        let traces = |program, home, project| Traces {
            program,
            home,
            project,
        };
        match self {
            Agent::Claude => traces("claude", ".claude", &[".claude"]),
            Agent::Codex => traces("codex", ".codex", &[".codex"]),
            Agent::Cursor => traces("cursor", ".cursor", &[".cursor"]),
            Agent::Gemini => traces("gemini", ".gemini", &[".gemini"]),
            Agent::Vscode => traces("code", vscode::USER_FOLDER, &[".vscode"]),
            Agent::Copilot => traces("copilot", ".copilot", &[".github/copilot-instructions.md"]),
            Agent::Opencode => traces(
                "opencode",
                ".config/opencode",
                &[".opencode", "opencode.json", "opencode.jsonc"],
            ),
            Agent::Kilo => traces(
                "kilo",
                ".config/kilo",
                &[".kilo", ".kilocode", "kilo.jsonc"],
            ),
            Agent::Pi => traces("pi", ".pi", &[".pi"]),
            Agent::Cline => traces("cline", ".cline", &[".clinerules"]),
            Agent::Zed => traces("zed", ".config/zed", &[".zed"]),
            Agent::Windsurf => traces("windsurf", ".codeium/windsurf", &[".windsurf", ".devin"]),
            Agent::Antigravity => traces(
                "agy",
                ".gemini/antigravity-cli",
                &[".agents/hooks.json", ".agents/mcp_config.json"],
            ),
            Agent::Aider => traces("aider", ".aider.conf.yml", &[".aider.conf.yml"]),
        }
    }

    /// Was what is known of its files only read, and never tried with the program itself?
    pub fn is_known_from_documents(self) -> bool {
        matches!(
            self,
            Agent::Cursor | Agent::Vscode | Agent::Zed | Agent::Windsurf | Agent::Antigravity
        )
    }
}

/// What tells that an agent is used.
pub struct Traces {
    /// The program that `PATH` finds.
    pub program: &'static str,
    /// What it makes in the home folder when it is first used.
    pub home: &'static str,
    /// What a project has that it is used in.
    pub project: &'static [&'static str],
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
    group_in("hooks", event, matcher, handler)
}

/// The same, where the events stand under another name.
pub(super) fn group_in(
    within: &'static str,
    event: &'static str,
    matcher: Option<&'static str>,
    handler: Vec<(&'static str, Value)>,
) -> Entry {
    let matcher = matcher.map(|matcher| ("matcher", Value::Text(matcher)));
    let hooks = ("hooks", Value::List(vec![Value::Object(handler)]));
    let members = matcher.into_iter().chain([hooks]).collect();
    Entry::Listed(vec![within, event], Value::Object(members))
}
