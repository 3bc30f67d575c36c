//! How the notes are made: the files are read, and compared with what git made of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::raw_ids::Raw;
use super::{RawIds, Unnoted, fingerprint, may_convert, other_bytes, read};
use crate::error::{Result, While};
use crate::gitengine::{Conversion, Difference, Entry, Oid, RepoPath};
use crate::history::restore::disk::disk_file_id;
use crate::history::scan::{Recent, Scan, Touched};
use crate::history::state::Standing;
use crate::history::workspace::Locked;

/// Which paths are looked at.
pub enum Scope<'a> {
    /// All: a session begins, or what decides about conversions has changed.
    All,
    /// Those that a turn changed.
    Changed(&'a [Difference]),
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
        // A link that has come into its place is not followed: what it leads to is none of edio's.
        let raw = disk_file_id(&workspace.git.work_tree, &path, format)
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

fn is_shorter(file: &Path, bytes: u64) -> bool {
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
    let is_noted = |standing: &Standing| {
        let side = standing.side.as_ref();
        side.is_some_and(|side| !state.journal.is_alone_in(side))
    };
    let is_noted = known.is_some_and(|(standing, _)| is_noted(standing));
    if !may_convert(workspace, scan.attribute_files) && !is_noted {
        return Ok(OnDisk::default());
    }
    let Some((standing, pointed)) = known else {
        let mut all = candidates(workspace, &scan.tree, &Scope::All)?;
        all.retain(|(path, _)| !scan.not_held.covers(path));
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
            paths.retain(|path| !scan.not_held.covers(path));
            looked_at.extend(as_they_are(workspace, &scan.tree, &paths)?);
            Scope::Changed(&looked_at)
        }
        _ => Scope::All,
    };
    let mut these = candidates(workspace, &scan.tree, &scope)?;
    these.retain(|(path, _)| !scan.not_held.covers(path));
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
    let same = entries.into_iter();
    Ok(same
        .map(|(path, entry)| Difference::unchanged(path, entry))
        .collect())
}
