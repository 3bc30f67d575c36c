//! edio: an undo that never fails, for coding agents and the people who use them.
//!
//! # The layers
//!
//! ```text
//! main → cli → commands → { history, agents, mcp, tui, term, process }
//!               mcp, tui → { history, term }
//!                history → gitengine → process
//!                          term → process
//! ```
//!
//! - [`cli`] is the command tree. It parses, and calls one function of [`commands`].
//! - [`commands`] has a file for each verb: its arguments, and how its outcome looks as text and as JSON.
//! - [`history`] is what edio knows: sessions, turns, restores. It prints nothing, and is told the time.
//! - [`agents`] is what other programs define: their configuration files, what their hooks say.
//! - [`mcp`] is the server that agents call, over standard input and output.
//! - [`tui`] is the screen on which a person sees the turns and goes back.
//! - [`gitengine`] is how git is asked. It knows nothing of turns.
//! - [`term`] is the person's terminal: the only place that prints.
//! - [`process`], [`env`], [`clock`]: the only places that start a process, read the environment, read the time.
//! - [`error`] is open to all: what, why, what to try next. So are [`json`], which reads what other programs
//!   write, and [`shell`], which quotes what a person is to type.
//!
//! A test holds these rules against the code.
//!
//! # How to add a command
//!
//! Write `commands/<verb>.rs` with its `Args` (the comments are the help) and a `run`; name it in
//! `commands/mod.rs` and in the command tree; put what it does into [`history`], and its test into `tests/`.

#![forbid(unsafe_code)]

pub mod agents;
pub mod cli;
pub mod clock;
pub mod commands;
pub mod env;
pub mod error;
pub mod gitengine;
pub mod history;
pub mod json;
pub mod mcp;
pub mod process;
pub mod shell;
pub mod term;
pub mod tui;
