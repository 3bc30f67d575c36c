//! The side commits of a session: what a work tree can't hold and would be lost otherwise.
//!
//! They are a chain of their own. As parents of turns they would make `git show` and `git blame` say what is not true,
//! and take along, where a turn is pushed, what was ignored for a good reason.

use std::collections::BTreeSet;

use crate::error::{Error, Result};
use crate::gitengine::{
    Entry, IndexEntry, Mode, Oid, PrivateIndex, Pruned, RefChange, RepoPath, Signature,
};

use super::ancestry;
use super::bytes::{self, RawIds};
use super::conversation;
use super::journal::{self, Journal};
use super::refnames::{self, Leaf, SessionId, Shelf};
use super::refs;
use super::session::{Damaged, Session};
use super::skipped::{self, Skipped};
use super::trailers::{self, Trailers};
use super::transcript;
use super::turn::Turn;
use super::workspace::{Locked, Workspace};

/// In which part of a side commit something is saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Ignored files, before they are overwritten.
    Ignored,
    /// Files that were changed between the safety snapshot and the overwriting.
    Displaced,
    /// Ignored files that an agent's tools have written.
    Journal,
    /// The same before their first write.
    BeforeJournal,
    /// What the user staged, before `accept` changes the index.
    Index,
    /// A side of a path in conflict there.
    Stage(u8),
}

impl Part {
    /// Where an entry of the index is saved.
    pub fn of_stage(stage: u8) -> Self {
        match stage {
            0 => Part::Index,
            stage => Part::Stage(stage),
        }
    }

    /// What a side commit has saved of a path, as git calls it: `COMMIT:PATH`.
    pub fn object_name(self, side: &Oid, path: &RepoPath) -> Vec<u8> {
        let name = format!("{}:{}/", side.short(), self.folder());
        [name.as_bytes(), path.as_bytes()].concat()
    }

    fn folder(self) -> &'static str {
        match self {
            Part::Ignored => "ignored",
            Part::Displaced => "displaced",
            Part::Journal => "journal",
            Part::BeforeJournal => "journal-first",
            Part::Index => "index",
            Part::Stage(1) => "index-base",
            Part::Stage(2) => "index-ours",
            Part::Stage(_) => "index-theirs",
        }
    }
}

/// The file with everything that a turn could not hold, where the turn's own commit has not the room to name it.
const SKIPPED: &str = "skipped";

/// The file with what was on disk where that is not the blob, and the folder with what no tree holds of it.
pub const RAW_IDS: &str = "raw-ids";
const RAW: &str = "raw";

/// The file with entries of the user's index, as `git ls-files -s -v -z` prints them.
const INDEX_ENTRIES: &str = "index-entries";

/// A text without what speaks of some paths; `None` where nothing does.
type Without = fn(&[u8], &[RepoPath]) -> Option<Vec<u8>>;

/// The texts beside a turn.
const TEXTS: [(&str, Without); 3] = [
    (journal::LIST, journal::without),
    (conversation::FILE, conversation::without),
    (transcript::FILE, transcript::without),
];

/// Something to save.
pub struct Saved {
    /// Where it belongs.
    pub part: Part,
    /// Its path in the work tree.
    pub path: RepoPath,
    /// Its kind and content.
    pub entry: Entry,
}

/// Saves these as a side commit, synced to disk. Returns the commit.
///
/// # Errors
///
/// git failed, or another process saved something meanwhile.
pub fn save(
    workspace: &Locked,
    session: &mut Session,
    saved: &[Saved],
    text: &str,
    seconds: i64,
) -> Result<Oid> {
    let entries: Result<Vec<_>> = saved.iter().map(entry).collect();
    let commit = commit(workspace, &session.id, &entries?, text, seconds)?;
    session.side = Some(commit.clone());
    Ok(commit)
}

/// What belongs to a turn and has no room in its tree and its message.
pub struct OfTurn<'a> {
    /// What was on disk where that is not the blob.
    pub raw_ids: &'a RawIds,
    /// What the turn can't hold.
    pub skipped: &'a [Skipped],
    /// What the files of the journal hold.
    pub journal: &'a Journal,
}

impl OfTurn<'_> {
    /// Does its side commit hold nothing but the journal?
    pub fn is_only_journal(&self) -> bool {
        self.raw_ids.is_empty() && !skipped::are_many(self.skipped)
    }
}

/// Saves what belongs to a turn. Returns the commit; `None` where there is nothing to save.
///
/// # Errors
///
/// git failed, or another process saved something meanwhile.
pub fn save_of_turn(
    workspace: &Locked,
    id: &SessionId,
    of_turn: &OfTurn<'_>,
    seconds: i64,
) -> Result<Option<Oid>> {
    let mut entries = Vec::new();
    let git = &workspace.git;
    if skipped::are_many(of_turn.skipped) {
        let list = skipped::write(of_turn.skipped.len(), of_turn.skipped);
        entries.push(file(SKIPPED, git.write_blob(list.as_bytes())?)?);
    }
    if !of_turn.raw_ids.is_empty() {
        entries.push(file(RAW_IDS, git.write_blob(&of_turn.raw_ids.write())?)?);
        for (path, raw) in of_turn.raw_ids.contents() {
            entries.push(below(RAW, path, raw)?);
        }
    }
    if !of_turn.journal.is_empty() {
        let list = of_turn.journal.write()?;
        entries.push(file(journal::LIST, git.write_blob(&list)?)?);
        for (path, entry) in of_turn.journal.within() {
            entries.push(below(Part::Journal.folder(), path, entry.clone())?);
        }
        for (path, entry) in of_turn.journal.first_within() {
            entries.push(below(Part::BeforeJournal.folder(), path, entry.clone())?);
        }
    }
    if entries.is_empty() {
        return Ok(None);
    }
    let text = "What a turn's tree can't hold";
    commit(workspace, id, &entries, text, seconds).map(Some)
}

/// Saves what was said and done for a turn. Returns the commit.
///
/// # Errors
///
/// git failed, or another process saved something meanwhile.
pub fn save_conversation(
    workspace: &Locked,
    id: &SessionId,
    said: &conversation::Taken,
    seconds: i64,
) -> Result<Oid> {
    let git = &workspace.git;
    let mut entries = vec![file(conversation::FILE, git.write_blob(&said.bytes)?)?];
    if !said.transcript.is_empty() {
        entries.push(file(transcript::FILE, git.write_blob(&said.transcript)?)?);
    }
    let text = "What was said and done for a turn";
    commit(workspace, id, &entries, text, seconds)
}

fn file(name: &str, oid: Oid) -> Result<(RepoPath, Option<Entry>)> {
    let path = RepoPath::new(name);
    let path = path.ok_or_else(|| Error::bug("a side path that names nothing"))?;
    let mode = Mode::File;
    Ok((path, Some(Entry { mode, oid })))
}

fn below(folder: &str, path: &RepoPath, entry: Entry) -> Result<(RepoPath, Option<Entry>)> {
    let path = RepoPath::new([folder.as_bytes(), b"/", path.as_bytes()].concat());
    let path = path.ok_or_else(|| Error::bug("a side path that names nothing"))?;
    Ok((path, Some(entry)))
}

/// Saves entries of the user's index, and what is staged in some of them. Returns the commit.
///
/// # Errors
///
/// git failed, or another process saved something meanwhile.
pub fn save_index(
    workspace: &Locked,
    session: &mut Session,
    entries: &[IndexEntry],
    staged: &[Saved],
    seconds: i64,
) -> Result<Oid> {
    let list: Vec<u8> = entries.iter().flat_map(IndexEntry::record).collect();
    let mut all = vec![file(INDEX_ENTRIES, workspace.git.write_blob(&list)?)?];
    for saved in staged {
        all.push(entry(saved)?);
    }
    let text = "The index, before an accept";
    let commit = commit(workspace, &session.id, &all, text, seconds)?;
    session.side = Some(commit.clone());
    Ok(commit)
}

/// The entries that [`save_index`] saved in this commit.
///
/// # Errors
///
/// They can't be read.
pub fn index_entries(workspace: &Workspace, side: &Oid) -> Result<Vec<IndexEntry>> {
    let list = workspace.git.file_of(side, INDEX_ENTRIES)?;
    Ok(IndexEntry::read_all(&list)?)
}

/// The ignored files that a side commit has saved.
///
/// # Errors
///
/// It can't be read.
pub fn ignored(workspace: &Workspace, side: Option<&Oid>) -> Result<Vec<(RepoPath, Entry)>> {
    let Some(side) = side else {
        return Ok(Vec::new());
    };
    let folder = [Part::Ignored.folder().as_bytes(), b"/"].concat();
    let entries = workspace.git.tree_entries(side)?;
    let below = |(path, entry): (RepoPath, Entry)| {
        let path = RepoPath::new(path.as_bytes().strip_prefix(folder.as_slice())?)?;
        Some((path, entry))
    };
    Ok(entries.into_iter().filter_map(below).collect())
}

/// Everything that a turn could not hold.
///
/// # Errors
///
/// git failed, or the list is lost: then nobody knows what a restore must not touch.
pub fn all_skipped(workspace: &Workspace, turn: &Turn) -> Result<Vec<Skipped>> {
    let note = &turn.note;
    if note.skipped_count <= note.skipped.len() {
        return Ok(note.skipped.clone());
    }
    let lost = || {
        Error::cannot(format!(
            "what turn {} does not hold can't be read",
            note.number
        ))
    };
    let side = note.side.as_ref().ok_or_else(lost)?;
    let list = file_of(workspace, side, SKIPPED)?.ok_or_else(lost)?;
    let list = String::from_utf8(list).map_err(|_| lost())?;
    let (_, skipped) = skipped::parse(&list).ok_or_else(lost)?;
    Ok(skipped)
}

/// A file of a side commit; `None` where it has none. Where the commit itself is not here, and only there, its copy is
/// looked at: a copy is whatever somebody says it is.
///
/// # Errors
///
/// git failed.
pub fn file_of(workspace: &Workspace, side: &Oid, name: &str) -> Result<Option<Vec<u8>>> {
    let git = &workspace.git;
    let file = git.file_of_if_there(side, name)?;
    if file.is_some() || git.missing(std::slice::from_ref(side))?.is_empty() {
        return Ok(file);
    }
    let copies = held_by_shared(workspace)?.into_iter();
    let mut copies = copies.filter(|held| held.is_copy && &held.id == side);
    match copies.next() {
        Some(copy) => Ok(git.file_of_if_there(&copy.tree, name)?),
        None => Ok(None),
    }
}

/// The trailer that names the side commit of which another is the copy.
const COPY_OF: &str = "Copy-Of";

/// A side commit that is at hand.
pub struct Held {
    /// Its id.
    pub id: Oid,
    /// What it holds.
    pub tree: Oid,
    /// Is that only a copy of what it held?
    pub is_copy: bool,
}

/// The side commits that the chain with this end has.
///
/// # Errors
///
/// git failed.
pub fn held(workspace: &Workspace, tips: &[&Oid]) -> Result<Vec<Held>> {
    let commits = ancestry::history(workspace, tips)?.into_iter();
    let held = commits.map(|commit| {
        let said = trailers::parse(&commit.message);
        let original = said.and_then(|(_, said)| Oid::new(said.get(COPY_OF)?));
        Held {
            is_copy: original.is_some(),
            id: original.unwrap_or(commit.oid),
            tree: commit.tree,
        }
    });
    Ok(held.collect())
}

/// The side commits that sessions from other repositories have brought.
///
/// # Errors
///
/// git failed.
pub fn held_by_shared(workspace: &Workspace) -> Result<Vec<Held>> {
    let pattern = format!("{}*/{}", refnames::SHARED, Leaf::Side);
    let refs = workspace.git.ref_names(&[&pattern])?;
    let tips: Vec<&Oid> = refs.iter().map(|(_, oid)| oid).collect();
    match tips.is_empty() {
        true => Ok(Vec::new()),
        false => held(workspace, &tips),
    }
}

/// Copies of these side commits, as a chain, which hold only what a restore needs: what was on disk behind conversions, and
/// what a turn does not hold. Ignored files, conversations and the index stay behind. Returns the last of them; no ref
/// leads to it yet.
///
/// The turns go on naming the side commits; each copy says in a trailer which one it stands for. So the ids of turns are
/// the same in every repository. The same is written for the same, whenever that is.
///
/// # Errors
///
/// git failed.
pub fn copies(workspace: &Locked, id: &SessionId, sides: &[Oid]) -> Result<Option<Oid>> {
    let is_needed = |(path, _): &(RepoPath, Entry)| {
        let path = path.as_bytes();
        let raw = path.strip_prefix(RAW.as_bytes());
        let is_raw = raw.is_some_and(|rest| rest.starts_with(b"/"));
        path == RAW_IDS.as_bytes() || path == SKIPPED.as_bytes() || is_raw
    };
    let mut last: Option<Oid> = None;
    for commit in workspace.git.commits(sides)? {
        let entries = workspace.git.tree_entries(&commit.tree)?;
        let entries: Vec<_> = entries
            .into_iter()
            .filter(is_needed)
            .map(|(path, entry)| (path, Some(entry)))
            .collect();
        let entries = with_line_ends_alone(workspace, &commit.tree, entries)?;
        if entries.is_empty() {
            continue;
        }
        let tree = write_tree(workspace, &entries)?;
        let message = Trailers::default()
            .with("Session", id.as_str())
            .with(COPY_OF, commit.oid.as_str())
            .message("What a turn's tree can't hold, and a restore needs");
        let parents: Vec<&Oid> = last.iter().collect();
        let by = Signature::edio(commit.seconds);
        last = Some(workspace.git.write_commit(&tree, &parents, &by, &message)?);
    }
    Ok(last)
}

type Entries = Vec<(RepoPath, Option<Entry>)>;

/// The entries of a side commit without the raw bytes that differ from their blobs by more than line ends: what a filter
/// takes out it may take out for a reason.
fn with_line_ends_alone(workspace: &Locked, tree: &Oid, mut entries: Entries) -> Result<Entries> {
    let is_list = |(path, _): &(RepoPath, Option<Entry>)| path.as_bytes() == RAW_IDS.as_bytes();
    if !entries.iter().any(is_list) {
        return Ok(entries);
    }
    let noted = bytes::read(workspace, Some(tree))?;
    let kept = bytes::only_line_ends(workspace, &noted)?;
    if kept.says_the_same(&noted) {
        return Ok(entries);
    }
    entries.retain(|(path, entry)| match place(path) {
        Some((RAW, path)) => entry
            .as_ref()
            .is_some_and(|entry| kept.has_raw(&path, &entry.oid)),
        _ => path.as_bytes() != RAW_IDS.as_bytes(),
    });
    if !kept.is_empty() {
        let list = workspace.git.write_blob(&kept.write())?;
        entries.push(file(RAW_IDS, list)?);
    }
    Ok(entries)
}

const PARTS: [Part; 8] = [
    Part::Ignored,
    Part::Displaced,
    Part::Journal,
    Part::BeforeJournal,
    Part::Index,
    Part::Stage(1),
    Part::Stage(2),
    Part::Stage(3),
];

/// Where something in a side commit belongs: the folder that it is in, and its path in the work tree.
fn place(path: &RepoPath) -> Option<(&'static str, RepoPath)> {
    let folders = PARTS.into_iter().map(Part::folder).chain([RAW]);
    folders.into_iter().find_map(|folder| {
        let rest = path.as_bytes().strip_prefix(folder.as_bytes())?;
        Some((folder, RepoPath::new(rest.strip_prefix(b"/")?)?))
    })
}

/// Writes the tree of a side commit without what it has of these paths. What is cut off is added to `pruned`.
///
/// The names of paths that a turn could not hold stay. An entry of the user's index that is staged and goes is noted
/// with the id that no object has.
///
/// # Errors
///
/// git failed.
pub fn tree_without(
    workspace: &Locked,
    tree: &Oid,
    paths: &[RepoPath],
    pruned: &mut Pruned,
) -> Result<Oid> {
    let git = &workspace.git;
    let (mut left, mut cut) = (Vec::new(), BTreeSet::new());
    let (mut raw_ids, mut index_entries) = (None, None);
    let mut is_changed = false;
    for (path, entry) in git.tree_entries(tree)? {
        let text = TEXTS
            .iter()
            .find(|(name, _)| path.as_bytes() == name.as_bytes());
        if let Some((name, without)) = text {
            let said = git.file_of(tree, name)?;
            let left_of_it = without(&said, paths);
            is_changed |= left_of_it.is_some();
            left.push(file(name, git.write_blob(&left_of_it.unwrap_or(said))?)?);
            continue;
        }
        match place(&path) {
            Some((folder, place)) if place.is_among(paths) => {
                let wanted = paths.iter().filter(|path| place.is_within(path));
                pruned.found.extend(wanted.cloned());
                pruned.gone.insert(entry.oid.clone());
                cut.insert((folder, place, entry.oid));
                is_changed = true;
            }
            None if path.as_bytes() == RAW_IDS.as_bytes() => raw_ids = Some(entry),
            None if path.as_bytes() == INDEX_ENTRIES.as_bytes() => index_entries = Some(entry),
            _ => left.push((path, Some(entry))),
        }
    }
    if raw_ids.is_some() {
        let before = bytes::read(workspace, Some(tree))?;
        let after = before.without(paths);
        is_changed |= !after.says_the_same(&before);
        if !after.is_empty() {
            left.push(file(RAW_IDS, git.write_blob(&after.write())?)?);
        }
    }
    if index_entries.is_some() {
        let mut entries = self::index_entries(workspace, tree)?;
        for entry in &mut entries {
            let part = Part::of_stage(entry.stage).folder();
            // What only announces a file has no content.
            if !entry.intent_to_add && cut.contains(&(part, entry.path.clone(), entry.oid.clone()))
            {
                entry.oid = Oid::null(git.format);
            }
        }
        let list: Vec<u8> = entries.iter().flat_map(IndexEntry::record).collect();
        left.push(file(INDEX_ENTRIES, git.write_blob(&list)?)?);
    }
    match is_changed {
        true => write_tree(workspace, &left),
        false => Ok(tree.clone()),
    }
}

fn commit(
    workspace: &Locked,
    id: &SessionId,
    entries: &[(RepoPath, Option<Entry>)],
    text: &str,
    seconds: i64,
) -> Result<Oid> {
    let git = workspace.git.synced();
    let tree = write_tree(workspace, entries)?;
    let message = Trailers::default()
        .with("Session", id.as_str())
        .message(text);
    let name = refnames::name(Shelf::Active, id, Leaf::Side);
    let before = last_of_chain(workspace, &name)?;
    let parents: Vec<&Oid> = before.iter().collect();
    let commit = git.write_commit(&tree, &parents, &Signature::edio(seconds), &message)?;
    refs::change(workspace, &[RefChange::set(name, before.as_ref(), &commit)])?;
    Ok(commit)
}

/// The last side commit. One that can't be read is built upon nevertheless: what it hangs on is found again when it is
/// put back, and until then git itself refuses to prune.
fn last_of_chain(workspace: &Locked, name: &str) -> Result<Option<Oid>> {
    let refs = workspace.git.ref_commits(&[name])?;
    let damaged = refs.damaged.into_iter().find_map(Damaged::read);
    match damaged.map(|(_, _, damaged)| damaged) {
        Some(Damaged { oid: Some(oid), .. }) => Ok(Some(oid)),
        Some(damaged) => Err(damaged.error()),
        None => Ok(refs.whole.into_iter().next().map(|side| side.commit.oid)),
    }
}

fn write_tree(workspace: &Locked, entries: &[(RepoPath, Option<Entry>)]) -> Result<Oid> {
    let git = workspace.git.synced();
    let index = PrivateIndex::at(&git, workspace.scratch().join("index.side"));
    index.remove()?;
    index.set(entries)?;
    let tree = index.write_tree()?;
    index.remove()?;
    Ok(tree)
}

fn entry(saved: &Saved) -> Result<(RepoPath, Option<Entry>)> {
    below(saved.part.folder(), &saved.path, saved.entry.clone())
}
