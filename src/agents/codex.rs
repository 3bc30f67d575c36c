//! Codex: its configuration, and what its hooks say.
