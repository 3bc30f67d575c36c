//! What a client calls itself, and which agent that is.

/// How the names begin, in lower case, that clients are known by.
const KNOWN: [(&str, &str); 14] = [
    ("claude", "claude"),
    ("codex", "codex"),
    ("gemini-cli", "gemini"),
    ("cursor", "cursor"),
    ("visual studio code", "vscode"),
    ("github-copilot", "copilot"),
    ("copilot", "copilot"),
    ("opencode", "opencode"),
    ("kilo", "kilo"),
    ("cline", "cline"),
    ("@cline/", "cline"),
    ("windsurf", "windsurf"),
    ("antigravity", "antigravity"),
    ("zed", "zed"),
];

/// The agent of a client. One that is not known keeps its own name, as a short word.
pub fn agent(client: &str) -> Option<String> {
    const LONGEST: usize = 40;
    let lower = client.to_lowercase();
    if let Some((_, agent)) = KNOWN.iter().find(|(begin, _)| lower.starts_with(begin)) {
        return Some((*agent).to_owned());
    }
    let is_kept = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
    let words = client
        .split(|c| !is_kept(c))
        .filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join("-");
    let name: String = name.chars().take(LONGEST).collect();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_known_by_their_clients() {
        for (client, known) in [
            ("claude-code", "claude"),
            ("codex-mcp-client", "codex"),
            ("gemini-cli-mcp-client", "gemini"),
            ("cursor-vscode", "cursor"),
            ("Visual Studio Code", "vscode"),
            ("Visual Studio Code - Insiders", "vscode"),
            ("opencode", "opencode"),
            ("@cline/core", "cline"),
            ("my-agent", "my-agent"),
            ("My  Agent\n(beta)", "My-Agent-beta"),
            ("größe\u{202e}", "größe"),
        ] {
            assert_eq!(agent(client).as_deref(), Some(known), "{client}");
        }
        assert_eq!(agent(" \u{9b}\n"), None);
        assert_eq!(agent(&"x".repeat(1000)).unwrap().len(), 40);
    }
}
