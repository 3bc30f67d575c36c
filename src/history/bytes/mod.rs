//! The bytes on disk, where they are not the blob's: behind line-ending conversion, encodings, idents and filters.
//!
//! A turn's tree holds what `git add` would store, so that diffs and commits are right. Which bytes were on disk is
//! noted beside it, path by path: the id of the raw content, and the content itself where it is no blob of the tree.
//! The notes go along from turn to turn, so each turn has all that are needed to bring it back.
mod noting;
mod raw_ids;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use bstr::ByteSlice;

use self::raw_ids::Raw;
use super::ops::FromBytes;
use super::refnames::{self, Leaf, Shelf};
use super::turn::Turn;
use super::workspace::Workspace;
use crate::error::{Error, Result};
use crate::gitengine::{Conversion, Entry, Oid, RepoPath};

pub use self::noting::{OnDisk, Scope, note, of_scan};
pub use self::raw_ids::{RawIds, Unnoted};

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
