//! What is remembered of an agent's conversation: what it has seen, and what it has done. One small file each.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, While};
use crate::gitengine::{ObjectFormat, Oid};

use super::super::lock::Brief;
use super::super::state::write_at_once;
use super::repeats::{Failure, Repeat};
use super::seen::Seen;
use super::standing;

/// The folder, in edio's scratch folder.
pub(super) const FOLDER: &str = "guard";

/// So many files are remembered of a conversation; the one seen longest ago goes first.
const MOST_SEEN: usize = 1000;

/// So many conversations are remembered; the one that nothing was heard of for the longest time goes first.
const MOST_CONVERSATIONS: usize = 50;

/// What a conversation has seen and done. It is written when it is [kept](Memory::keep), and nobody else has it until then.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// The files that were seen, by a hash of who saw them and of their path.
    pub(super) seen: BTreeMap<String, Seen>,
    /// How often something was seen.
    pub(super) looks: u64,
    /// Calls since anything was changed, with how often each was made.
    pub(super) repeats: Vec<Repeat>,
    /// Commands that have failed.
    pub(super) failures: Vec<Failure>,
    /// Where the session stood.
    stood: Option<String>,
    /// Was it said that the guard has failed?
    pub has_said_fault: bool,
    #[serde(skip)]
    file: PathBuf,
    #[serde(skip)]
    lock: Option<Brief>,
}

impl Memory {
    /// Reads what is remembered of the conversation of this name, and keeps others from it.
    ///
    /// # Errors
    ///
    /// It can't be read, or another keeps it for too long.
    pub fn open(scratch: &Path, conversation: &str) -> Result<Self> {
        let folder = scratch.join(FOLDER);
        fs::create_dir_all(&folder).or_cannot(|| format!("can't make {}", folder.display()))?;
        let name = ObjectFormat::Sha1.hash_content(conversation.as_bytes());
        let lock = Brief::take(&folder.join(lock_of(&name)))?;
        let file = folder.join(format!("{name}.json"));
        let cannot = || format!("can't read {}", file.display());
        let mut memory: Self = match fs::read(&file) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                forget_old_ones(&folder);
                Self::default()
            }
            read => serde_json::from_slice(&read.or_cannot(cannot)?).unwrap_or_default(),
        };
        memory.file = file;
        memory.lock = Some(lock);
        let stands = standing(scratch);
        if memory.stood != stands {
            memory.stood = stands;
            memory.changed();
        }
        Ok(memory)
    }

    /// Writes it.
    ///
    /// # Errors
    ///
    /// The folder can't be written.
    pub fn keep(mut self) -> Result<()> {
        while self.seen.len() > MOST_SEEN {
            let oldest = self.seen.iter().min_by_key(|(_, seen)| seen.at);
            let Some(key) = oldest.map(|(key, _)| key.clone()) else {
                break;
            };
            self.seen.remove(&key);
        }
        let bytes = serde_json::to_vec(&self)
            .map_err(|error| Error::bug("what was seen can't be written").because(error))?;
        let (folder, name) = (self.file.parent(), self.file.file_name());
        match (folder, name.and_then(|name| name.to_str())) {
            (Some(folder), Some(name)) => write_at_once(folder, name, &bytes),
            _ => Err(Error::bug("what was seen has no place")),
        }
    }

    /// The person has said something: what was done until now is no loop.
    pub fn is_told(&mut self) {
        self.repeats.clear();
        self.failures.clear();
    }

    /// The model has lost sight of what it saw, by a compaction or since it goes on from elsewhere.
    pub fn loses_sight(&mut self) {
        self.seen.clear();
        self.is_told();
    }
}

/// The lock of a conversation, which some others share. It is never removed: whoever held it then, and whoever made it anew,
/// would both have it.
fn lock_of(name: &Oid) -> String {
    let (begin, _) = name.as_str().split_at(2);
    format!("{begin}.lock")
}

/// Makes room for one more.
fn forget_old_ones(folder: &Path) {
    let Ok(files) = folder.read_dir() else {
        return;
    };
    let mut known: Vec<(SystemTime, PathBuf)> = files
        .flatten()
        .filter(|file| file.path().extension().is_some_and(|kind| kind == "json"))
        .filter_map(|file| Some((file.metadata().ok()?.modified().ok()?, file.path())))
        .collect();
    known.sort_unstable();
    let surplus = (known.len() + 1).saturating_sub(MOST_CONVERSATIONS);
    for (_, file) in known.into_iter().take(surplus) {
        // Another may have done so.
        let _ = fs::remove_file(&file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_that_makes_room_keeps_its_lock() {
        let scratch = tempfile::tempdir().unwrap();
        let open = |name: &str| Memory::open(scratch.path(), name);
        open("old").unwrap().keep().unwrap();
        let held = open("old").unwrap();
        let long_ago = SystemTime::UNIX_EPOCH;
        let file = fs::File::options().append(true).open(&held.file).unwrap();
        file.set_modified(long_ago).unwrap();
        for other in 0..MOST_CONVERSATIONS + 5 {
            // Another may have the same lock as the old one.
            if let Ok(memory) = open(&format!("other {other}")) {
                memory.keep().unwrap();
            }
        }
        assert!(!held.file.exists());
        assert!(open("old").is_err());
        drop(held);
        open("old").unwrap();
    }
}
