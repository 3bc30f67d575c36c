//! Gemini CLI: its configuration, and what its hooks say.
