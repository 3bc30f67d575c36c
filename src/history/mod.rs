//! The domain: sessions, turns, and what is done with them.
//!
//! It knows nothing of terminals, arguments or the environment; time and randomness are passed in. The promises:
//!
//! - P1: a snapshot leaves everything of the user's as it is ([`scan`] works on an index of edio's own).
//! - P2: a snapshot holds what is there, and names what it can't hold ([`skipped`]).
//! - P3: a restore is exact, and touches nothing else ([`restore`]).
//! - P4: nothing is overwritten before it is saved ([`restore`], [`side`], [`ops`]).
//! - P5: a kill leaves the state before or after, or one that the next command understands ([`recover`]).
//! - P6: one process at a time works in a workspace ([`lock`]); refs are only moved from where they are known to be.
//! - P10: everything is plain git: commits under `refs/edio/` ([`refnames`]), with trailers ([`trailers`]).

pub mod accept;
pub mod address;
mod ancestry;
pub mod archive;
pub mod baseline;
pub mod bisect;
pub mod blame;
pub mod bytes;
pub mod checkout;
pub mod choice;
pub mod compare;
pub mod connected;
pub mod conversation;
pub mod credit;
pub mod dialogue;
pub mod export;
pub mod faults;
pub mod fetch;
pub mod forget;
pub mod gc;
pub mod gitlock;
pub mod ground;
pub mod guard;
pub mod hooklog;
pub mod import;
pub mod journal;
pub mod leak;
pub mod limits;
pub mod line;
pub mod lock;
pub mod ops;
pub mod overlap;
mod pack;
pub mod prompt;
pub mod push;
pub mod random;
mod realpath;
pub mod recover;
pub mod redact;
pub mod refnames;
pub mod refs;
pub mod remote;
pub mod restore;
pub mod revert;
pub mod scan;
pub mod search;
pub mod session;
pub mod shared;
pub mod side;
pub mod skipped;
pub mod snapshot;
pub mod state;
pub mod store;
pub mod stored;
pub mod trailers;
pub mod transcript;
pub mod turn;
pub mod undo;
pub mod unshare;
pub mod workspace;

/// git's own words, for those who render what this layer returns.
pub mod git {
    pub use crate::gitengine::{
        Answer, Blamed, Counted, Difference, Entry, Git, Group, Hunk, LOCAL_VARIABLES, Mode, Oid,
        PatchStyle, Prompts, Remote, RepoPath, Settings, Stat, check_version, git_bytes, os_path,
        short_branch,
    };
}
