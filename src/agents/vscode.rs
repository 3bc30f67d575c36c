//! VS Code: its configuration, and what its hooks say.
