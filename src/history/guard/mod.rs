//! The guard: an agent does not write over what it has not seen, does not go round in circles, and what it writes that no
//! snapshot holds is kept in the [journal](super::journal).
//!
//! It is asked within an agent's hook, before and after each use of a tool, and is to cost about a millisecond: so it asks
//! no git. What is on is read from a small file, which each event brings up to date with the settings; what an
//! agent's conversation has seen and done is another, one for each conversation.

mod memory;
mod repeats;
mod seen;

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, While};
use crate::gitengine::{Oid, Settings};

use super::state::write_at_once;

pub use self::memory::Memory;
pub use self::seen::{Part, Verdict, content_id, has_line};

const FILE: &str = "guard.json";

/// The file that says where the session stands: another snapshot is a change, whoever took it.
const STANDING: &str = "guard/stands";

/// Notes where the session stands, where there is a guard.
///
/// # Errors
///
/// The folder can't be written.
pub fn note_standing(scratch: &Path, current: &Oid) -> Result<()> {
    let is_known = || standing(scratch).is_some_and(|known| known == current.as_str());
    match scratch.join(FILE).exists() && !is_known() {
        true => {
            let folder = scratch.join(memory::FOLDER);
            fs::create_dir_all(&folder).or_cannot(|| format!("can't make {}", folder.display()))?;
            write_at_once(scratch, STANDING, current.as_str().as_bytes())
        }
        false => Ok(()),
    }
}

/// Where the session stood when that was noted last.
fn standing(scratch: &Path) -> Option<String> {
    fs::read_to_string(scratch.join(STANDING)).ok()
}

/// A part of the guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guarded {
    /// Nothing is written over that was not seen as it is.
    Freshness,
    /// The same is not done over and over.
    Loops,
    /// What no snapshot holds is kept before a tool writes it.
    Journal,
}

impl Guarded {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Freshness, Self::Loops, Self::Journal];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Guarded::Freshness => "freshness",
            Guarded::Loops => "loops",
            Guarded::Journal => "journal",
        }
    }

    /// The setting that turns it on.
    pub fn setting(self) -> &'static str {
        match self {
            Guarded::Freshness => "edio.guard.freshness",
            Guarded::Loops => "edio.guard.loops",
            Guarded::Journal => "edio.guard.journal",
        }
    }
}

/// What is on, and what the person has said beside that.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Guard {
    /// Is freshness looked at?
    pub freshness: bool,
    /// Are loops?
    pub loops: bool,
    /// Is what no snapshot holds kept?
    pub journal: bool,
    /// The use of a tool that is one too many: the third, if nothing else is said.
    pub repeat_limit: u32,
    /// Tools that read, by name.
    pub read_tools: Vec<String>,
    /// Tools that write.
    pub write_tools: Vec<String>,
    /// Tools that depend on nothing but files, and change none.
    pub read_only_tools: Vec<String>,
    /// Tools that depend on more than files.
    pub volatile_tools: Vec<String>,
}

const REPEAT_LIMIT: &str = "edio.guard.repeatlimit";

fn repeat_limit(set: &[u8]) -> Option<u32> {
    let limit: u32 = std::str::from_utf8(set).ok()?.trim().parse().ok()?;
    (limit >= 2).then_some(limit)
}

impl Guard {
    /// What the settings say.
    pub fn of(settings: &Settings) -> Self {
        let names = |key| {
            let values = settings.all(key).into_iter();
            values
                .map(|name| String::from_utf8_lossy(name).into_owned())
                .collect()
        };
        let limit = settings.get(REPEAT_LIMIT).and_then(repeat_limit);
        Self {
            freshness: settings.is_true(Guarded::Freshness.setting()),
            loops: settings.is_true(Guarded::Loops.setting()),
            journal: settings.is_true(Guarded::Journal.setting()),
            repeat_limit: limit.unwrap_or(3),
            read_tools: names("edio.guard.readtool"),
            write_tools: names("edio.guard.writetool"),
            read_only_tools: names("edio.guard.readonlytool"),
            volatile_tools: names("edio.guard.volatiletool"),
        }
    }

    /// The settings that are set to something that can't be understood: they count as not set.
    pub fn not_understood(settings: &Settings) -> Vec<&'static str> {
        let is_word = |key: &&str| {
            let is_set = settings.get(key).is_some();
            is_set && !settings.is_true(key) && !settings.is_false(key)
        };
        let switches = Guarded::ALL.map(Guarded::setting).into_iter();
        let limit = settings.get(REPEAT_LIMIT);
        let is_limit = limit.is_none_or(|limit| repeat_limit(limit).is_some());
        let limit = (!is_limit).then_some("edio.guard.repeatLimit");
        switches.filter(is_word).chain(limit).collect()
    }

    /// Is this part on?
    pub fn has(&self, part: Guarded) -> bool {
        match part {
            Guarded::Freshness => self.freshness,
            Guarded::Loops => self.loops,
            Guarded::Journal => self.journal,
        }
    }

    /// Is nothing on?
    pub fn is_off(&self) -> bool {
        !Guarded::ALL.into_iter().any(|part| self.has(part))
    }

    /// Was anything on when this workspace last looked at the settings?
    pub fn is_there(scratch: &Path) -> bool {
        scratch.join(FILE).exists()
    }

    /// What was on when this workspace last looked at the settings; `None` where nothing was.
    ///
    /// # Errors
    ///
    /// It is there, and can't be read.
    pub fn load(scratch: &Path) -> Result<Option<Self>> {
        let file = scratch.join(FILE);
        match fs::read(&file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            read => {
                let cannot = || format!("can't read {}", file.display());
                let bytes = read.or_cannot(cannot)?;
                serde_json::from_slice(&bytes).map(Some).or_cannot(cannot)
            }
        }
    }

    /// Writes what is on, where that is news. Where nothing is, there is no file.
    ///
    /// # Errors
    ///
    /// The folder can't be written.
    pub fn save(&self, scratch: &Path) -> Result<()> {
        let file = scratch.join(FILE);
        match Self::load(scratch) {
            Ok(None) if self.is_off() => Ok(()),
            _ if self.is_off() => match fs::remove_file(&file) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
                removed => removed.or_cannot(|| format!("can't remove {}", file.display())),
            },
            Ok(Some(known)) if known == *self => Ok(()),
            _ => {
                let bytes = serde_json::to_vec(self).map_err(|error| {
                    Error::bug("what is guarded can't be written").because(error)
                })?;
                write_at_once(scratch, FILE, &bytes)
            }
        }
    }
}
