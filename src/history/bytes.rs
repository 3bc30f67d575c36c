//! The bytes on disk, where they are not the blob's: behind line-ending conversion, encodings, idents and filters.
//!
//! A turn's tree holds what `git add` would store, so that diffs and commits are right. Which bytes were on disk is
//! noted beside it, path by path: the id of the raw content, and the content itself where it is no blob of the tree.
//! The notes go along from turn to turn, so each turn has all that are needed to bring it back.

use std::collections::BTreeMap;
use std::fs;

use bstr::ByteSlice;

use crate::error::{Error, Result, While};
use crate::gitengine::{Conversion, Difference, Entry, Mode, Oid, RepoPath};

use super::restore::disk_blob_id;
use super::workspace::{Locked, Workspace};

/// What was on disk at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raw {
    /// What git made of it: the note counts for just that blob.
    pub blob: Oid,
    /// The bytes, as a blob.
    pub raw: Oid,
    /// Executable or not.
    pub mode: Mode,
}

/// What was on disk, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawIds(BTreeMap<RepoPath, Raw>);

/// Which paths are looked at.
pub enum Scope<'a> {
    /// All: a session begins, or what decides about conversions has changed.
    All,
    /// Those that a turn changed.
    Changed(&'a [Difference]),
}

impl RawIds {
    /// Reads the notes: `<blob> <raw> <mode> TAB <path> NUL`, for each path.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let records = bytes.split_str("\0").filter(|record| !record.is_empty());
        let pair = |record: &[u8]| {
            let (head, path) = record.split_once_str("\t")?;
            let mut fields = head.split_str(" ");
            let raw = Raw {
                blob: Oid::from_bytes(fields.next()?)?,
                raw: Oid::from_bytes(fields.next()?)?,
                mode: Mode::from_digits(fields.next()?)?,
            };
            Some((RepoPath::new(path)?, raw))
        };
        records.map(pair).collect::<Option<_>>().map(Self)
    }

    /// The notes as [`RawIds::parse`] reads them.
    pub fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (path, raw) in &self.0 {
            let head = format!("{} {} {}\t", raw.blob, raw.raw, raw.mode.digits());
            bytes.extend_from_slice(head.as_bytes());
            bytes.extend_from_slice(path.as_bytes());
            bytes.push(0);
        }
        bytes
    }

    /// The bytes that were on disk where the tree has this entry, if that is noted.
    pub fn of(&self, path: &RepoPath, entry: &Entry) -> Option<&Oid> {
        let raw = self.0.get(path).filter(|raw| raw.blob == entry.oid);
        raw.map(|raw| &raw.raw)
    }

    /// The paths of which other bytes are noted here than there, or none there.
    pub fn where_other_than(&self, other: &RawIds) -> Vec<RepoPath> {
        let noted = self.0.iter();
        let differ = noted.filter(|(path, raw)| other.0.get(*path) != Some(raw));
        differ.map(|(path, _)| path.clone()).collect()
    }

    /// Is nothing noted?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The contents that no tree holds, by path.
    pub fn contents(&self) -> impl Iterator<Item = (&RepoPath, Entry)> {
        let lonely = self.0.iter().filter(|(_, raw)| raw.raw != raw.blob);
        lonely.map(|(path, raw)| {
            let entry = Entry {
                mode: raw.mode,
                oid: raw.raw.clone(),
            };
            (path, entry)
        })
    }

    /// The notes of a turn that has the tree of `self` but for these paths, which come from another.
    #[must_use]
    pub fn with(&self, other: &RawIds, paths: impl Iterator<Item = RepoPath>) -> Self {
        let mut all = self.clone();
        for path in paths {
            match other.0.get(&path) {
                Some(raw) => all.0.insert(path, raw.clone()),
                None => all.0.remove(&path),
            };
        }
        all
    }
}

/// Can there be conversions at all? Where not, nothing is asked.
pub fn may_convert(workspace: &Workspace, has_attribute_files: bool) -> bool {
    let settings = &workspace.settings;
    has_attribute_files
        || workspace.attributes_elsewhere
        || settings.converts_lines()
        || settings.get("core.eol").is_some()
        || settings.get("core.attributesfile").is_some()
        || workspace.git.common_dir.join("info/attributes").exists()
}

/// Notes what is on disk at the converted paths in this scope, on top of what is noted already.
///
/// The bytes are read now, after git has read them. A file that was changed in between is found changed by the next scan.
///
/// # Errors
///
/// git failed, or a file that git could read can't be read any more.
pub fn note(workspace: &Locked, before: &RawIds, tree: &Oid, scope: &Scope<'_>) -> Result<RawIds> {
    let candidates = candidates(workspace, tree, scope)?;
    let paths: Vec<RepoPath> = candidates.iter().map(|(path, _)| path.clone()).collect();
    let conversions = workspace.git.conversions(&workspace.settings, &paths)?;
    let mut after = before.clone();
    if let Scope::Changed(differences) = scope {
        for difference in *differences {
            after.0.remove(&difference.path);
        }
    }
    let mut to_store = Vec::new();
    for ((path, entry), conversion) in candidates.into_iter().zip(conversions) {
        // A pointer of Git LFS is short. Where the content stands, LFS keeps it, and it is not read.
        let is_pointer = || is_shorter(&path.below(&workspace.git.work_tree), 1024);
        if conversion == Conversion::None || conversion == Conversion::Lfs && !is_pointer() {
            after.0.remove(&path);
            continue;
        }
        let format = workspace.git.format;
        let raw = disk_blob_id(&workspace.git.work_tree, &path, format)
            .or_cannot(|| format!("can't read {path}"))?;
        let Some(raw) = raw else { continue };
        let is_content = raw != entry.oid && conversion == Conversion::Lfs;
        if is_content || raw == entry.oid && conversion == Conversion::In {
            after.0.remove(&path);
            continue;
        }
        if raw != entry.oid {
            to_store.push(path.clone());
        }
        let raw = Raw {
            blob: entry.oid,
            raw,
            mode: entry.mode,
        };
        after.0.insert(path, raw);
    }
    let stored = workspace.git.write_raw_blobs(&to_store)?;
    for (path, oid) in to_store.iter().zip(stored) {
        if let Some(raw) = after.0.get_mut(path) {
            raw.raw = oid;
        }
    }
    Ok(after)
}

fn is_shorter(file: &std::path::Path, bytes: u64) -> bool {
    fs::symlink_metadata(file).is_ok_and(|meta| meta.len() < bytes)
}

fn candidates(workspace: &Locked, tree: &Oid, scope: &Scope<'_>) -> Result<Vec<(RepoPath, Entry)>> {
    let is_file = |entry: &Entry| matches!(entry.mode, Mode::File | Mode::Executable);
    let all = match scope {
        Scope::All => workspace.git.tree_entries(tree)?,
        Scope::Changed(differences) => differences
            .iter()
            .filter_map(|d| Some((d.path.clone(), d.new.clone()?)))
            .collect(),
    };
    Ok(all
        .into_iter()
        .filter(|(_, entry)| is_file(entry))
        .collect())
}

/// What decides about conversions, but for attribute files in the tree: where it has changed, all paths are looked at.
pub fn fingerprint(workspace: &Workspace) -> String {
    let file = workspace.git.common_dir.join("info/attributes");
    let attributes = fs::read(file).unwrap_or_default();
    let settings = &workspace.settings;
    let keys = ["core.autocrlf", "core.eol", "core.attributesfile"];
    let values = keys.map(|key| settings.get(key).unwrap_or_default().to_str_lossy());
    format!(
        "{} {} {:?}",
        values.join(" "),
        settings.filters().join(" "),
        attributes.as_bstr()
    )
}

/// The notes in a side commit.
///
/// # Errors
///
/// They can't be read: then nobody knows which bytes to bring back.
pub fn read(workspace: &Workspace, side: Option<&Oid>) -> Result<RawIds> {
    let Some(side) = side else {
        return Ok(RawIds::default());
    };
    match workspace.git.file_of_if_there(side, super::side::RAW_IDS)? {
        None => Ok(RawIds::default()),
        Some(bytes) => RawIds::parse(&bytes)
            .ok_or_else(|| Error::cannot(format!("the raw ids in {side} can't be read"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_come_back() {
        let oid = |digit: &str| Oid::new(digit.repeat(40)).unwrap();
        let path = RepoPath::new(&b"a\tb\n\xff"[..]).unwrap();
        let raw = Raw {
            blob: oid("a"),
            raw: oid("b"),
            mode: Mode::Executable,
        };
        let ids = RawIds(BTreeMap::from([(path.clone(), raw)]));
        assert_eq!(RawIds::parse(&ids.write()), Some(ids.clone()));
        let entry = |digit| Entry {
            mode: Mode::File,
            oid: oid(digit),
        };
        assert_eq!(ids.of(&path, &entry("a")), Some(&oid("b")));
        assert_eq!(ids.of(&path, &entry("c")), None);
        assert_eq!(RawIds::parse(b"x"), None);
    }
}
