//! The tests: the real binary on real repositories, each in a folder and surroundings of its own.
//!
//! One crate, so that it links once. Each file here is about one verb, or one promise.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_types,
    clippy::disallowed_methods,
    missing_docs,
    reason = "tests start processes, and end at once where something is not as it must be"
)]

mod common;

mod accept;
mod accept_full;
mod agents;
mod architecture;
mod bisect;
mod blame;
mod bytes;
mod cli;
mod completions;
mod damaged;
mod doctor;
mod exec;
mod export;
mod forget;
mod gc;
mod git_facts;
mod guard;
mod histories;
mod hook;
mod hostile;
mod import;
mod init;
mod installer;
mod journal;
mod kills;
mod lfs;
mod log;
mod mcp;
mod model;
mod modes;
mod pack;
mod packaging;
mod parallel;
mod plugins;
mod processes;
mod push;
mod races;
mod readme;
mod redact;
mod restore;
mod restore_paths;
mod revert;
mod rewind;
mod run;
mod said;
mod search;
mod sessions;
mod shapes;
mod size;
mod snapshot;
mod store;
mod transcripts;
mod ui;
mod undo;
mod unheld;
mod watch;
