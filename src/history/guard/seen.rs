//! Freshness: a file is written only by who has seen what stands in it.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use bstr::ByteSlice;
use serde::{Deserialize, Serialize};

use crate::gitengine::ObjectFormat;

use super::memory::Memory;

/// A larger file is told by its time stamps, not by its content: in bytes.
const LARGE: u64 = 4 << 20;

/// So many stretches of lines are remembered of a file.
const STRETCHES: usize = 32;

/// A file that was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Seen {
    /// What stood in it.
    id: String,
    /// Was all of it seen?
    whole: bool,
    /// The stretches of lines that were.
    lines: Vec<(u64, u64)>,
    /// When it was seen, among all that were.
    pub(super) at: u64,
}

/// How much of a file was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Lines from the first to the last of these, which count from 1.
    Lines(u64, u64),
    /// All of it, where it has no more bytes than this.
    AllOf(u64),
    /// Something of it.
    Some,
}

/// May a file be written?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may: it is as it was seen, or it is not there, or nothing is in it.
    Fresh,
    /// It was not seen in this conversation.
    Unseen,
    /// It is not what was seen.
    Changed,
    /// Only a part of it was seen, and all of it would be replaced.
    SeenInPart,
}

/// What stands in a file, in short; nothing where no file is, or none that can be read.
pub fn content_id(file: &Path) -> String {
    let found = look(file).ok().flatten();
    found.map_or_else(String::new, |(path, content)| {
        let mode = fs::metadata(path).map(|meta| meta.permissions());
        format!("{} {mode:?}", content.id)
    })
}

/// Is this one of the lines of a file, but for blanks at its ends?
pub fn has_line(file: &Path, line: &str) -> bool {
    let found = look(file).ok().flatten();
    let small = found.filter(|(_, content)| content.bytes <= LARGE);
    let bytes = small.and_then(|(path, _)| fs::read(path).ok());
    let line = line.as_bytes().trim_ascii();
    bytes.is_some_and(|bytes| bytes.lines().any(|other| other.trim_ascii() == line))
}

/// What stands in a file.
struct Content {
    id: String,
    bytes: u64,
    lines: u64,
}

impl Memory {
    /// Somebody has seen a file, or a part of it: the agent, or a helper of this name.
    ///
    /// # Errors
    ///
    /// It is there, and can't be read.
    pub fn saw(&mut self, who: Option<&str>, file: &Path, part: Part) -> io::Result<()> {
        let Some((path, content)) = look(file)? else {
            return Ok(());
        };
        let known = self.seen.remove(&key(who, &path)).unwrap_or_default();
        let mut seen = match known.id == content.id {
            true => known,
            false => Seen::default(),
        };
        match part {
            Part::Lines(first, last) => seen.adds(first, last),
            Part::AllOf(most) => seen.whole |= content.bytes <= most,
            Part::Some => {}
        }
        // What is so large no tool shows as a whole.
        seen.whole |= seen.covers(content.lines) || content.bytes > LARGE;
        seen.id = content.id;
        self.put(who, &path, seen);
        Ok(())
    }

    /// Somebody has written a file: what stands there now is what it knows. All of it, if it has put all of it there, as it
    /// has where there was no file, or knew all before.
    ///
    /// # Errors
    ///
    /// It is there, and can't be read.
    pub fn wrote(&mut self, who: Option<&str>, file: &Path, put_all: bool) -> io::Result<()> {
        let Some((path, content)) = look(file)? else {
            return Ok(());
        };
        let known = self.seen.get(&key(who, &path));
        let whole = put_all || known.is_some_and(|known| known.whole);
        let seen = Seen {
            id: content.id,
            whole,
            ..Seen::default()
        };
        self.put(who, &path, seen);
        Ok(())
    }

    /// May somebody write a file, in part or all of it?
    ///
    /// # Errors
    ///
    /// It is there, and can't be read.
    pub fn may_write(&self, who: Option<&str>, file: &Path, replaces: bool) -> io::Result<Verdict> {
        let Some((path, content)) = look(file)? else {
            return Ok(Verdict::Fresh);
        };
        Ok(match self.seen.get(&key(who, &path)) {
            _ if content.bytes == 0 => Verdict::Fresh,
            None => Verdict::Unseen,
            Some(seen) if seen.id != content.id => Verdict::Changed,
            Some(seen) if replaces && !seen.whole => Verdict::SeenInPart,
            Some(_) => Verdict::Fresh,
        })
    }

    /// Has somebody seen a file, whatever stood in it then?
    pub fn knows(&self, who: Option<&str>, file: &Path) -> bool {
        let path = fs::canonicalize(file).ok();
        path.is_some_and(|path| self.seen.contains_key(&key(who, &path)))
    }

    fn put(&mut self, who: Option<&str>, path: &Path, seen: Seen) {
        self.looks += 1;
        let at = self.looks;
        self.seen.insert(key(who, path), Seen { at, ..seen });
    }
}

impl Seen {
    fn adds(&mut self, first: u64, last: u64) {
        self.lines.push((first, last));
        self.lines.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for (first, last) in self.lines.drain(..) {
            match joined.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => {
                    before.1 = before.1.max(last)
                }
                _ => joined.push((first, last)),
            }
        }
        joined.truncate(STRETCHES);
        self.lines = joined;
    }

    fn covers(&self, lines: u64) -> bool {
        let first = self.lines.first();
        first.is_some_and(|(first, last)| *first <= 1 && *last >= lines)
    }
}

/// The same for the same file, by whatever way it is named; and no path of the person's is kept.
fn key(who: Option<&str>, path: &Path) -> String {
    let mut name = who.unwrap_or_default().as_bytes().to_vec();
    name.push(0);
    name.extend_from_slice(path.as_os_str().as_encoded_bytes());
    ObjectFormat::Sha1.hash_content(&name).to_string()
}

/// A file's own path, and what stands in it; `None` where no file is.
fn look(file: &Path) -> io::Result<Option<(PathBuf, Content)>> {
    let path = match fs::canonicalize(file) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        // A link that leads to itself leads nowhere, either.
        Err(_) if file.is_symlink() && !file.exists() => return Ok(None),
        path => path?,
    };
    let meta = fs::metadata(&path)?;
    // What the system makes up has no end, some of it.
    let is_made_up = ["/proc", "/sys"].iter().any(|top| path.starts_with(top));
    if !meta.is_file() || is_made_up {
        return Ok(None);
    }
    let content = match meta.len() > LARGE {
        true => Content {
            id: format!("{} {:?}", meta.len(), meta.modified()?),
            bytes: meta.len(),
            lines: u64::MAX,
        },
        false => {
            let bytes = fs::read(&path)?;
            let ends = bytes.iter().filter(|byte| **byte == b'\n').count();
            let has_rest = bytes.last().is_some_and(|last| *last != b'\n');
            Content {
                id: ObjectFormat::Sha1.hash_content(&bytes).to_string(),
                bytes: bytes.len() as u64,
                lines: ends as u64 + u64::from(has_rest),
            }
        }
    };
    Ok(Some((path, content)))
}
