//! The transcripts that agents write themselves: which of them edio can read, and what a line of one looks like.
//!
//! They are files to which a line is added for each thing that is said or done, an object in JSON. OpenCode keeps a database
//! instead: such lines come with what its plugin tells.

use serde_json::Value;

use super::Agent;

/// What the lines of an agent's transcript have, whatever they tell. `None` where there is none that can be read.
fn marks(agent: Agent) -> Option<&'static [&'static str]> {
    match agent {
        Agent::Claude => Some(&["sessionId", "uuid", "leafUuid"]),
        Agent::Codex => Some(&["payload"]),
        Agent::Gemini => Some(&["sessionId", "id", "$set"]),
        Agent::Copilot => Some(&["id", "data"]),
        Agent::Pi => Some(&["id", "version"]),
        // Parts of messages, as its plugin hands them on.
        Agent::Opencode => Some(&["sessionID"]),
        _ => None,
    }
}

/// Does this agent itself tell what its transcript has gained?
pub fn is_told(agent: Agent) -> bool {
    agent == Agent::Opencode
}

/// Has this agent a transcript that can be read?
pub fn is_readable(agent: Agent) -> bool {
    marks(agent).is_some()
}

/// Is this a line of this agent's transcript?
pub fn knows(agent: Agent, line: &Value) -> bool {
    let has_type = line["type"].is_string() || line.get("$set").is_some() || agent == Agent::Gemini;
    let mut marks = marks(agent).unwrap_or_default().iter();
    line.is_object() && has_type && marks.any(|mark| line.get(mark).is_some())
}
