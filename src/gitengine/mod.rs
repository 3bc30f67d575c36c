//! How git is asked. This layer knows git, and nothing of turns.
//!
//! Every question is built in [`command`], which gives each git process the same clean surroundings. Paths are bytes
//! ([`paths`]), git's output is split at NUL, every exit code is looked at.

mod ahead;
mod blame;
mod bundle;
mod command;
mod config;
mod diff;
mod error;
mod filters;
mod graft;
mod hooks;
mod ignore;
mod index;
mod mail;
mod merge;
mod moves;
#[cfg(test)]
mod noise;
mod objects;
mod pack;
mod pairs;
mod paths;
mod prune;
mod quarantine;
mod refs;
mod repository;
mod status;
mod transport;
mod trees;
mod unpack;

pub use ahead::{Ahead, Errand};
pub use blame::{Blame, BlameQuestion, Blamed, Brought, Follow, Hunk, ranges};
pub use bundle::Header;
pub use command::{Answer, Asked, Case, Git, Group, LOCAL_VARIABLES, Prompts};
pub use config::Settings;
pub use diff::{Counted, Difference, PatchStyle, Stat};
pub use error::{GitError, Result};
pub use filters::{Conversion, LfsFiles};
pub use graft::Grafting;
pub use ignore::{IgnoreQuestion, Patterns, UntrackedQuestion, literal, path_of_literal};
pub use index::{Contents, FileStamp, IndexEntry, Listing, PrivateIndex, Rejected};
pub use merge::Merged;
pub use moves::{Line, SIGNS};
#[cfg(test)]
pub use noise::noise;
pub use objects::{
    Commit, Entry, Mode, NewCommit, ObjectFormat, Objects, Oid, Signature, Signed, hex,
};
pub use pairs::Renamed;
pub use paths::{RepoPath, git_bytes, in_one_line, os_path};
pub use prune::{Pruned, Reflogs};
pub use refs::{Before, DamagedRef, RefChange, RefCommit, RefCommits, short_branch};
pub use repository::{
    Found, OLDEST, Pointed, Search, check_version, create, find, is_repository, newest_commit,
};
pub use status::{Changed, Head, Processes, Status, question as status_question};
pub use transport::{Leaving, Remote, Sent};

pub use crate::process::acts_for_owner;
