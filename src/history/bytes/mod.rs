//! The bytes on disk, where they are not the blob's: behind line-ending conversion, encodings, idents and filters.
//!
//! A turn's tree holds what `git add` would store, so that diffs and commits are right. Which bytes were on disk is
//! noted beside it, path by path: the id of the raw content, and the content itself where it is no blob of the tree.
//! The notes go along from turn to turn, so each turn has all that are needed to bring it back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use bstr::ByteSlice;

use crate::error::{Error, Result, While};
use serde::{Deserialize, Serialize};

use crate::gitengine::{Conversion, Difference, Entry, Mode, Oid, RepoPath};

use super::ops::FromBytes;
use super::refnames::{self, Leaf, Shelf};
use super::restore::disk_blob_id;
use super::scan::{Recent, Scan, Touched};
use super::turn::{Ending, Kind, Turn};
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
#[derive(Clone, Debug, Default)]
pub struct RawIds {
    noted: BTreeMap<RepoPath, Raw>,
    unnoted: Unnoted,
}

/// What the bytes were at a path of which nothing is noted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unnoted {
    /// The blob's: edio has seen the work tree, and noted what is otherwise.
    #[default]
    IsBlob,
    /// What git makes of the blob: nobody has seen it. So it is in HEAD, where a session began.
    AsCheckedOut,
}

impl Unnoted {
    /// What holds in a turn.
    pub fn of(turn: &Turn) -> Self {
        let is_unseen = turn.note.work.ending == Some(Ending::Unmeasured);
        match is_unseen && turn.note.kind == Kind::Baseline {
            true => Unnoted::AsCheckedOut,
            false => Unnoted::IsBlob,
        }
    }
}

/// Which paths are looked at.
pub enum Scope<'a> {
    /// All: a session begins, or what decides about conversions has changed.
    All,
    /// Those that a turn changed.
    Changed(&'a [Difference]),
}

impl RawIds {
    /// Is this the raw content that is noted of the path?
    pub fn has_raw(&self, path: &RepoPath, raw: &Oid) -> bool {
        self.noted.get(path).is_some_and(|noted| &noted.raw == raw)
    }

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
        let noted = records.map(pair).collect::<Option<_>>()?;
        Some(Self {
            noted,
            unnoted: Unnoted::default(),
        })
    }

    /// The notes as [`RawIds::parse`] reads them.
    pub fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (path, raw) in &self.noted {
            let head = format!("{} {} {}\t", raw.blob, raw.raw, raw.mode.digits());
            bytes.extend_from_slice(head.as_bytes());
            bytes.extend_from_slice(path.as_bytes());
            bytes.push(0);
        }
        bytes
    }

    /// The bytes that were on disk where the tree has this entry, if that is noted.
    pub fn of(&self, path: &RepoPath, entry: &Entry) -> Option<&Oid> {
        let raw = self.noted.get(path).filter(|raw| raw.blob == entry.oid);
        raw.map(|raw| &raw.raw)
    }

    /// What the bytes were where nothing is noted.
    pub fn unnoted(&self) -> Unnoted {
        self.unnoted
    }

    /// These notes, where nobody has seen the other paths.
    #[must_use]
    pub fn else_as_checked_out(self) -> Self {
        Self {
            unnoted: Unnoted::AsCheckedOut,
            ..self
        }
    }

    /// The paths of which one says something else than the other, where what neither notes is the blob's.
    fn paths_noted_otherwise(&self, other: &RawIds) -> Vec<RepoPath> {
        let paths: BTreeSet<&RepoPath> = self.noted.keys().chain(other.noted.keys()).collect();
        let differ = paths
            .into_iter()
            .filter(|path| self.noted.get(*path) != other.noted.get(*path));
        differ.cloned().collect()
    }

    /// The notes that stay where this scope is looked at anew.
    fn outside(&self, scope: &Scope<'_>) -> Self {
        let mut noted = self.noted.clone();
        if let Scope::Changed(differences) = scope {
            for difference in *differences {
                noted.remove(&difference.path);
            }
        }
        Self {
            noted,
            unnoted: Unnoted::IsBlob,
        }
    }

    /// Is the same noted in both?
    pub fn says_the_same(&self, other: &RawIds) -> bool {
        self.noted == other.noted
    }

    /// Is nothing noted?
    pub fn is_empty(&self) -> bool {
        self.noted.is_empty()
    }

    /// The contents that no tree holds, by path.
    pub fn contents(&self) -> impl Iterator<Item = (&RepoPath, Entry)> {
        let lonely = self.noted.iter().filter(|(_, raw)| raw.raw != raw.blob);
        lonely.map(|(path, raw)| {
            let entry = Entry {
                mode: raw.mode,
                oid: raw.raw.clone(),
            };
            (path, entry)
        })
    }

    /// The notes without these paths and what is below them.
    #[must_use]
    pub fn without(&self, paths: &[RepoPath]) -> Self {
        let mut left = self.clone();
        left.noted.retain(|path, _| !path.is_among(paths));
        left
    }

    /// The notes of a turn that has the tree of `self` but for these paths, which come from another.
    #[must_use]
    pub fn with(&self, other: &RawIds, paths: impl Iterator<Item = RepoPath>) -> Self {
        let mut all = self.clone();
        for path in paths {
            match other.noted.get(&path) {
                Some(raw) => all.noted.insert(path, raw.clone()),
                None => all.noted.remove(&path),
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
    let after = before.outside(scope);
    note_these(workspace, after, candidates, Unconverted::AreBlobs)
}

/// What is done with files that no rule of now converts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unconverted {
    /// Their bytes are their blob's, but where something else is noted: then they are read.
    AreBlobs,
    /// They are read: the rules were others when git made their blobs, and it makes none anew for a file that has not
    /// changed.
    AreRead,
}

fn note_these(
    workspace: &Locked,
    mut after: RawIds,
    candidates: Vec<(RepoPath, Entry)>,
    unconverted: Unconverted,
) -> Result<RawIds> {
    let paths: Vec<RepoPath> = candidates.iter().map(|(path, _)| path.clone()).collect();
    let conversions = workspace.git.conversions(&workspace.settings, &paths)?;
    let mut to_store = Vec::new();
    for ((path, entry), conversion) in candidates.into_iter().zip(conversions) {
        // A pointer of Git LFS is short. Where the content stands, LFS keeps it, and it is not read.
        let is_pointer = || is_shorter(&path.below(&workspace.git.work_tree), 1024);
        let is_blob = conversion == Conversion::None
            && unconverted == Unconverted::AreBlobs
            && !after.noted.contains_key(&path);
        if is_blob || conversion == Conversion::Lfs && !is_pointer() {
            after.noted.remove(&path);
            continue;
        }
        let format = workspace.git.format;
        let raw = disk_blob_id(&workspace.git.work_tree, &path, format)
            .or_cannot(|| format!("can't read {path}"))?;
        let Some(raw) = raw else { continue };
        let is_content = raw != entry.oid && conversion == Conversion::Lfs;
        let needs_none = matches!(conversion, Conversion::In | Conversion::None);
        if is_content || raw == entry.oid && needs_none {
            after.noted.remove(&path);
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
        after.noted.insert(path, raw);
    }
    let stored = workspace.git.write_raw_blobs(&to_store)?;
    for (path, oid) in to_store.iter().zip(stored) {
        if let Some(raw) = after.noted.get_mut(path) {
            raw.raw = oid;
        }
    }
    Ok(after)
}

fn is_shorter(file: &std::path::Path, bytes: u64) -> bool {
    fs::symlink_metadata(file).is_ok_and(|meta| meta.len() < bytes)
}

fn candidates(workspace: &Locked, tree: &Oid, scope: &Scope<'_>) -> Result<Vec<(RepoPath, Entry)>> {
    let all = match scope {
        Scope::All => workspace.git.tree_entries(tree)?,
        Scope::Changed(differences) => differences
            .iter()
            .filter_map(|d| Some((d.path.clone(), d.new.clone()?)))
            .collect(),
    };
    Ok(all
        .into_iter()
        .filter(|(_, entry)| entry.mode.is_file())
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

/// What stands on disk behind conversions.
#[derive(Debug, Default)]
pub struct OnDisk {
    /// The bytes, by path.
    pub raw_ids: RawIds,
    /// The paths with other bytes than where the session stands, and the same blob: git's conversion hides the change.
    pub hidden: Vec<(RepoPath, Entry)>,
    /// Are the notes others than those of where the session stands?
    pub is_news: bool,
    /// Those among the paths looked at that were changed just before.
    pub recent: Vec<Recent>,
}

/// What stands on disk behind conversions, as of a scan: the notes of where the session stands, brought up to date.
///
/// Looked at are what differs from there, what has another time stamp than at the last snapshot, and what was changed
/// just before that. All is looked at where no snapshot has left stamps, or what decides about conversions has changed.
///
/// # Errors
///
/// git failed, or a file that git could read can't be read any more.
pub fn of_scan(workspace: &Locked, scan: &Scan) -> Result<OnDisk> {
    let state = &workspace.state;
    let known = state.session.as_ref().zip(workspace.pointed.as_ref());
    let known = known.filter(|(s, p)| s.current == p.commit);
    // Where rules are gone, what was noted under them goes on to be true of files that git takes for unchanged.
    let is_noted = |standing: &super::state::Standing| {
        let side = standing.side.as_ref();
        side.is_some_and(|side| !state.journal.is_alone_in(side))
    };
    let is_noted = known.is_some_and(|(standing, _)| is_noted(standing));
    if !may_convert(workspace, scan.attribute_files) && !is_noted {
        return Ok(OnDisk::default());
    }
    let Some((standing, pointed)) = known else {
        let all = candidates(workspace, &scan.tree, &Scope::All)?;
        let recent = scan
            .looking(workspace)
            .recent(all.iter().map(|(path, _)| path));
        let raw_ids = note_these(workspace, RawIds::default(), all, Unconverted::AreBlobs)?;
        return Ok(OnDisk {
            is_news: !raw_ids.is_empty(),
            raw_ids,
            hidden: Vec::new(),
            recent,
        });
    };
    let before = RawIds {
        unnoted: standing.unnoted,
        ..read(workspace, standing.side.as_ref())?
    };
    let differences = workspace.git.differences(&pointed.tree, &scan.tree)?;
    let is_rule = |difference: &Difference| difference.path.name() == b".gitattributes";
    let same_rules = !differences.iter().any(is_rule)
        && state.conversions.as_ref() == Some(&fingerprint(workspace));
    let mut looked_at = differences.clone();
    let scope = match scan.touched(workspace)? {
        Touched::These(mut paths) if same_rules => {
            paths.extend(scan.unseen.iter().cloned());
            looked_at.extend(as_they_are(workspace, &scan.tree, &paths)?);
            Scope::Changed(&looked_at)
        }
        _ => Scope::All,
    };
    let these = candidates(workspace, &scan.tree, &scope)?;
    let recent = scan
        .looking(workspace)
        .recent(these.iter().map(|(path, _)| path));
    let unconverted = match same_rules {
        true => Unconverted::AreBlobs,
        false => Unconverted::AreRead,
    };
    let raw_ids = note_these(workspace, before.outside(&scope), these, unconverted)?;
    // Of what git checked out nobody knows which bytes it were: that they are noted now is no change.
    let hidden = match before.unnoted {
        Unnoted::AsCheckedOut => Vec::new(),
        Unnoted::IsBlob => {
            let seen: BTreeSet<&RepoPath> = differences.iter().map(|d| &d.path).collect();
            let mut hidden = other_bytes(workspace, &scan.tree, &before, &raw_ids)?;
            hidden.retain(|(path, _)| !seen.contains(path));
            hidden
        }
    };
    Ok(OnDisk {
        is_news: !raw_ids.says_the_same(&before),
        raw_ids,
        hidden,
        recent,
    })
}

/// Paths of a tree, as differences that change nothing.
fn as_they_are(workspace: &Locked, tree: &Oid, paths: &[RepoPath]) -> Result<Vec<Difference>> {
    let entries = workspace.git.entries_at(tree, paths)?;
    let same = entries.into_iter().map(|(path, entry)| Difference {
        path,
        old: Some(entry.clone()),
        new: Some(entry),
    });
    Ok(same.collect())
}

/// The entries of this tree that had other bytes on disk as `ours` has it than as `theirs` has it.
///
/// Where `theirs` has seen only what it notes, only that counts.
///
/// # Errors
///
/// git failed.
pub fn other_bytes(
    workspace: &Workspace,
    tree: &Oid,
    ours: &RawIds,
    theirs: &RawIds,
) -> Result<Vec<(RepoPath, Entry)>> {
    let mut paths = ours.paths_noted_otherwise(theirs);
    if theirs.unnoted == Unnoted::AsCheckedOut {
        paths.retain(|path| theirs.noted.contains_key(path));
    }
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let entries = workspace.git.entries_at(tree, &paths)?;
    let bytes = |ids: &RawIds, path: &RepoPath, entry: &Entry| {
        let noted = ids.of(path, entry);
        noted.unwrap_or(&entry.oid).clone()
    };
    let (mut differ, same): (Vec<_>, Vec<_>) = entries
        .into_iter()
        .partition(|(path, entry)| bytes(ours, path, entry) != bytes(theirs, path, entry));
    // What Git LFS keeps is not noted, unlike its pointer, which is the blob.
    let one_notes = |(path, entry): &(RepoPath, Entry)| {
        ours.of(path, entry).is_some() != theirs.of(path, entry).is_some()
    };
    let same = same.into_iter().filter(one_notes).collect();
    differ.extend(only_lfs(workspace, same)?);
    Ok(differ)
}

/// Those that Git LFS keeps: their blobs are pointers, and their content is not noted.
///
/// # Errors
///
/// git failed.
pub fn only_lfs(
    workspace: &Workspace,
    entries: Vec<(RepoPath, Entry)>,
) -> Result<Vec<(RepoPath, Entry)>> {
    if entries.is_empty() || !workspace.settings.filters().contains(&"lfs") {
        return Ok(Vec::new());
    }
    let paths: Vec<RepoPath> = entries.iter().map(|(path, _)| path.clone()).collect();
    let conversions = workspace.git.conversions(&workspace.settings, &paths)?;
    let lfs = entries.into_iter().zip(conversions);
    let lfs = lfs.filter(|(_, conversion)| *conversion == Conversion::Lfs);
    Ok(lfs.map(|(entry, _)| entry).collect())
}

/// What a turn has noted.
///
/// # Errors
///
/// It can't be read: then nobody knows which bytes to bring back.
pub fn of_turn(workspace: &Workspace, turn: &Turn) -> Result<RawIds> {
    let noted = RawIds {
        unnoted: Unnoted::of(turn),
        ..read(workspace, turn.note.side.as_ref())?
    };
    if noted.is_empty() || !is_from_elsewhere(workspace, turn)? {
        return Ok(noted);
    }
    // Whoever made it could name any bytes for a blob, and no diff would show them.
    let believed = only_line_ends(workspace, &noted)?;
    match believed.noted.len() == noted.noted.len() {
        true => Ok(believed),
        false => Ok(believed.else_as_checked_out()),
    }
}

/// Was the session made in another repository?
fn is_from_elsewhere(workspace: &Workspace, turn: &Turn) -> Result<bool> {
    let id = &turn.note.session;
    let standing = workspace.state.session.as_ref();
    if standing.is_some_and(|standing| &standing.id == id) {
        return Ok(false);
    }
    let name = |shelf| refnames::name(shelf, id, Leaf::Current);
    let (active, archive) = (name(Shelf::Active), name(Shelf::Archive));
    Ok(workspace.git.ref_names(&[&active, &archive])?.is_empty())
}

/// Those of the notes in which the bytes on disk are the blob's but for line ends.
///
/// # Errors
///
/// git failed.
pub fn only_line_ends(workspace: &Workspace, noted: &RawIds) -> Result<RawIds> {
    let git = &workspace.git;
    let pairs = noted.noted.values().flat_map(|raw| [&raw.blob, &raw.raw]);
    let oids: Vec<Oid> = pairs.cloned().collect();
    let missing: BTreeSet<Oid> = git.missing(&oids)?.into_iter().collect();
    let is_here = |raw: &Raw| !missing.contains(&raw.blob) && !missing.contains(&raw.raw);
    let mut believed = RawIds {
        noted: BTreeMap::new(),
        unnoted: noted.unnoted,
    };
    let here: Vec<(&RepoPath, &Raw)> = noted.noted.iter().filter(|(_, r)| is_here(r)).collect();
    let pairs = here.iter().flat_map(|(_, raw)| [&raw.blob, &raw.raw]);
    let pairs: Vec<Oid> = pairs.cloned().collect();
    let mut objects = git.objects(&pairs)?;
    let mut next = |oid: &Oid| -> Result<Vec<u8>> {
        let length = objects.next_of("blob", oid)?;
        let bytes = objects.answer.exactly(length)?;
        objects.end_of_object()?;
        Ok(bytes)
    };
    for (path, raw) in here {
        let [blob, bytes] = [next(&raw.blob)?, next(&raw.raw)?];
        if blob.replace("\r\n", "\n") == bytes.replace("\r\n", "\n") {
            believed.noted.insert(path.clone(), raw.clone());
        }
    }
    objects.answer.close()?;
    Ok(believed)
}

/// The notes of the snapshot that the session stands at, as far as this workspace knows: it may know more than the
/// snapshot itself says.
///
/// # Errors
///
/// They can't be read.
pub fn of_standing(workspace: &Workspace, turn: &Turn) -> Result<RawIds> {
    let standing = workspace.state.session.as_ref();
    match standing.filter(|standing| standing.current == turn.commit) {
        Some(standing) => Ok(RawIds {
            unnoted: standing.unnoted,
            ..read(workspace, standing.side.as_ref())?
        }),
        None => of_turn(workspace, turn),
    }
}

/// What this workspace knows of the bytes at the snapshot that the session stands at, and the snapshot itself does not
/// say.
pub fn unsaid_of(workspace: &Workspace, turn: &Turn) -> Option<FromBytes> {
    let standing = workspace.state.session.as_ref()?;
    let is_unsaid = standing.current == turn.commit
        && standing.unnoted == Unnoted::IsBlob
        && Unnoted::of(turn) == Unnoted::AsCheckedOut;
    let noted = |side: &Oid| FromBytes::Noted(side.clone());
    is_unsaid.then(|| standing.side.as_ref().map_or(FromBytes::Blobs, noted))
}

/// What was known of the bytes of a snapshot when an operation began there.
///
/// # Errors
///
/// It can't be read.
pub fn known_at(workspace: &Workspace, turn: &Turn, known: Option<&FromBytes>) -> Result<RawIds> {
    match known {
        Some(known) => read(workspace, known.side()),
        None => of_turn(workspace, turn),
    }
}

/// The notes in a side commit, or in its tree.
///
/// # Errors
///
/// They can't be read.
pub fn read(workspace: &Workspace, side: Option<&Oid>) -> Result<RawIds> {
    let Some(side) = side else {
        return Ok(RawIds::default());
    };
    match super::side::file_of(workspace, side, super::side::RAW_IDS)? {
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
        let ids = RawIds {
            noted: BTreeMap::from([(path.clone(), raw)]),
            unnoted: Unnoted::IsBlob,
        };
        let read = RawIds::parse(&ids.write()).unwrap();
        assert!(read.says_the_same(&ids));
        let entry = |digit| Entry {
            mode: Mode::File,
            oid: oid(digit),
        };
        assert_eq!(ids.of(&path, &entry("a")), Some(&oid("b")));
        assert_eq!(ids.of(&path, &entry("c")), None);
        assert!(RawIds::parse(b"x").is_none());
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_read_does_no_harm(bytes in crate::gitengine::noise()) {
            if let Some(ids) = RawIds::parse(&bytes) {
                assert!(RawIds::parse(&ids.write()).unwrap().says_the_same(&ids));
            }
        }
    }
}
