//! What a workspace remembers between two commands. The turns are none of it: losing it costs time, and what was begun and
//! is not finished, what the journal waits for, and what agents are at work on is then not known.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind::{NotFound, PermissionDenied};
use std::io::{self, Write};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, While};
use crate::gitengine::{FileStamp, Oid, RepoPath};

use super::bytes::Unnoted;
use super::guard;
use super::journal;
use super::prompt::Prompt;
use super::refnames::SessionId;
use super::scan::{Edited, Recent};
use super::transcript;
use super::turn::Number;

const FILE: &str = "state.json";

/// The memory of a workspace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// The session under way, and where it stood after the last command.
    pub session: Option<Standing>,
    /// The index that the last scan left behind.
    pub cache: Option<Cache>,
    /// What decided about conversions when the last turn was taken.
    pub conversions: Option<String>,
    /// Files that were changed just before that cache was made: of them the next scan must know more than git does.
    pub recent: Vec<Recent>,
    /// An operation on the work tree was begun, and its end was not seen.
    pub unfinished: bool,
    /// The restore that stopped midway, and said so: it is not to be finished unasked.
    pub stopped: Option<Oid>,
    /// The refs that `forget` was about to move, where its end was not seen.
    pub forgetting: Vec<Move>,
    /// What was found of the session, in words, where nobody could be told: an agent's hook says nothing.
    pub unsaid: Option<String>,
    /// What agents were told to do, and are not known to have ended.
    pub prompts: Vec<Prompt>,
    /// The closing words that were noted last, and whose they are, as a hash; and when that was.
    pub reply: Option<(String, i64)>,
    /// When each agent's hook was last heard, in seconds since 1970.
    pub heard: BTreeMap<String, i64>,
    /// Up to where agents' own transcripts were read, by their conversations.
    pub transcripts: BTreeMap<String, transcript::Place>,
    /// How many snapshots were written since the last were packed.
    pub loose: u32,
    /// The files that no snapshot's tree holds and that agents have written.
    pub journal: journal::Known,
    /// The git whose version was found new enough.
    pub git: Option<String>,
}

/// Where a session stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The session.
    pub id: SessionId,
    /// Where `current` points to.
    pub current: Oid,
    /// The number of that snapshot.
    pub number: Number,
    /// Its side commit.
    pub side: Option<Oid>,
    /// What its bytes are where that notes nothing.
    #[serde(default)]
    pub unnoted: Unnoted,
    /// Was there nothing that it could not hold?
    #[serde(default)]
    pub all_held: bool,
    /// The tree of the last numbered turn on its line: that of the snapshot itself, unless it is a step.
    pub base: Oid,
    /// The highest turn number that was given out.
    pub last: u32,
}

/// A ref that moves from one commit to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    /// The full name.
    pub name: String,
    /// Where it points to before.
    pub before: Oid,
    /// Where it points to after.
    pub after: Oid,
}

/// What the cached index stands for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cache {
    /// The very file.
    pub file: FileStamp,
    /// The tree that it was last written as.
    pub tree: Oid,
    /// The files that the work tree had otherwise than that.
    pub edited: Option<Edited>,
    /// The user's index file when the cache was made from it; `None` where there was none.
    pub users_file: Option<FileStamp>,
    /// What the user's index said.
    pub users_digest: String,
    /// Paths in the cache that the user's index lacks: untracked files.
    pub extras: Vec<RepoPath>,
    /// Paths that the user's index has and the cache lacks: a scan would not see them come back where an ignore rule
    /// matches them.
    pub dropped: Vec<RepoPath>,
    /// Submodules.
    pub submodules: Vec<RepoPath>,
    /// Are there attribute files among the paths, or beside them?
    pub attribute_files: bool,
    /// Those among the paths.
    #[serde(default)]
    pub rules: Vec<RepoPath>,
    /// What was chosen to be held, and to be left out.
    pub choice: String,
    /// Paths that the user told git not to expect on disk (skip-worktree), and that were not there.
    pub flagged: Vec<RepoPath>,
    /// Paths that it has otherwise than git would take them from the disk, and each scan tries again: their filter failed, or
    /// they could not be held.
    #[serde(alias = "unfiltered")]
    pub doubtful: Vec<RepoPath>,
    /// Of what the cache lacks: what the user's index was asked about in a sparse checkout, and said should be there.
    #[serde(default)]
    pub missed: BTreeSet<RepoPath>,
}

impl Standing {
    /// Is it at a step on the way to a turn that is still to come?
    pub fn is_open_step(&self) -> bool {
        self.number.step > 0 && self.number.turn > self.last
    }
}

impl State {
    /// Reads the memory in this folder. One that is missing, or that another edio has written in its own form, is empty.
    ///
    /// # Errors
    ///
    /// It is there, and can't be read.
    pub fn load(folder: &Path) -> Result<Self> {
        // Another user's memory is none of this one's, and is written anew.
        read_if_there(folder, FILE, &[NotFound, PermissionDenied])
    }

    /// Writes the memory, all at once.
    ///
    /// # Errors
    ///
    /// The folder can't be written.
    pub fn save(&self, folder: &Path) -> Result<()> {
        let bytes = serde_json::to_vec(self)
            .map_err(|error| Error::bug("edio's state can't be written").because(error))?;
        write_at_once(folder, FILE, &bytes)?;
        match &self.session {
            Some(standing) => guard::note_standing(folder, &standing.current),
            None => Ok(()),
        }
    }
}

/// Reads what [`write_at_once`] has written. A file that counts as absent, or has another form, has nothing to say.
///
/// # Errors
///
/// It is there, and can't be read: what it says must not be written over.
pub(super) fn read_if_there<T: DeserializeOwned + Default>(
    folder: &Path,
    name: &str,
    absent: &[io::ErrorKind],
) -> Result<T> {
    let file = folder.join(name);
    match fs::read(&file) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).unwrap_or_default()),
        Err(error) if absent.contains(&error.kind()) => Ok(T::default()),
        Err(error) => Err(error).or_cannot(|| format!("can't read {}", file.display())),
    }
}

/// What the names of files begin with that are being written.
pub(super) const HALF_WRITTEN: &str = "state-";

/// Writes a file of the scratch folder so that whoever reads it finds all of the old or all of the new. Nobody else may
/// read it.
///
/// # Errors
///
/// The folder can't be written.
pub(super) fn write_at_once(folder: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let unwritable = || format!("can't write in {}", folder.display());
    let mut file = tempfile::Builder::new()
        .prefix(HALF_WRITTEN)
        .tempfile_in(folder)
        .or_cannot(unwritable)?;
    file.write_all(bytes).or_cannot(unwritable)?;
    file.persist(folder.join(name)).or_cannot(unwritable)?;
    Ok(())
}
