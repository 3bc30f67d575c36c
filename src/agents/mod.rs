//! What other programs define: for each agent, where its configuration is and what its hooks say.
//!
//! One agent, one file. Nothing here knows of turns, and nothing here writes or runs anything.

pub mod aider;
pub mod antigravity;
pub mod claude;
pub mod cline;
pub mod codex;
pub mod config;
pub mod connection;
pub mod copilot;
pub mod cursor;
pub mod event;
pub mod gemini;
pub mod guard;
pub mod kilo;
pub mod opencode;
pub mod pi;
pub mod resume;
pub mod transcript;
pub mod vscode;
pub mod windsurf;
pub mod zed;

use std::fmt;
use std::str::FromStr;

/// An agent that edio can be connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// Gemini CLI.
    Gemini,
    /// VS Code.
    Vscode,
    /// Copilot CLI.
    Copilot,
    /// OpenCode.
    Opencode,
    /// Kilo.
    Kilo,
    /// pi.
    Pi,
    /// Cline.
    Cline,
    /// Zed.
    Zed,
    /// Windsurf, which is also called Devin Desktop.
    Windsurf,
    /// Antigravity CLI.
    Antigravity,
    /// Aider.
    Aider,
}

impl Agent {
    /// All of them, by name.
    pub const ALL: [(Self, &'static str); 14] = [
        (Self::Claude, "claude"),
        (Self::Codex, "codex"),
        (Self::Cursor, "cursor"),
        (Self::Gemini, "gemini"),
        (Self::Vscode, "vscode"),
        (Self::Copilot, "copilot"),
        (Self::Opencode, "opencode"),
        (Self::Kilo, "kilo"),
        (Self::Pi, "pi"),
        (Self::Cline, "cline"),
        (Self::Zed, "zed"),
        (Self::Windsurf, "windsurf"),
        (Self::Antigravity, "antigravity"),
        (Self::Aider, "aider"),
    ];
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(agent, _)| agent == self);
        f.write_str(name.map_or("agent", |(_, name)| name))
    }
}

impl FromStr for Agent {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let agent = Self::ALL.iter().find(|(_, name)| *name == text);
        agent.map(|(agent, _)| *agent).ok_or(())
    }
}
