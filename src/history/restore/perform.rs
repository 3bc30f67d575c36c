//! Carrying out an operation on the work tree: saved, written down, done, looked at, and only then is it where the
//! session stands.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;

use crate::error::{Error, Result, While};
use crate::gitengine::{
    Difference, Entry, Mode, Objects, Oid, PrivateIndex, RefChange, RepoPath, git_bytes,
};

use super::super::bytes::{self, RawIds, Scope, Unnoted};
use super::super::choice::{Choice, matched};
use super::super::ground;
use super::super::journal::{self, beyond};
use super::super::ops::{self, Begun, Deed, Operation};
use super::super::refnames::{self, Leaf, Shelf};
use super::super::refs;
use super::super::session::{Session, no_session};
use super::super::side::{self, OfTurn, Part, Saved};
use super::super::skipped::NotHeld;
use super::super::snapshot::Moment;
use super::super::turn::{Note, Number, Turn};
use super::super::workspace::{Locked, Workspace};
use super::Course;
use super::apply::{Applied, Known, apply, look_for_contents, start_contents};
use super::disk::{Disk, Displaced, disk_blob_id, is_executable};
use super::plan::{Action, Plan};

/// Where the session stands when an operation has ended.
pub enum End {
    /// At a turn that there is.
    At(Box<Turn>),
    /// At a turn of its own, with this note.
    New(Box<Note>),
}

/// What was done.
#[derive(Debug, Default)]
pub struct Performed {
    /// Paths written.
    pub written: usize,
    /// Paths removed.
    pub removed: usize,
    /// The turn that it ended in, where that is a new one.
    pub turn: Option<Turn>,
    /// Files that were changed while they were restored: they are saved, too.
    pub displaced: Vec<RepoPath>,
    /// Where those are saved.
    pub displaced_side: Option<Oid>,
    /// Where the ignored files are saved that were replaced.
    pub ignored_side: Option<Oid>,
    /// What became of files outside of the work tree.
    pub beyond: Vec<beyond::Done>,
}

impl Performed {
    /// The files outside of the work tree that are not left as they were.
    pub fn changed_beyond(&self) -> impl Iterator<Item = &beyond::Done> {
        let is_left = |done: &&beyond::Done| matches!(done.what, beyond::What::Left(_));
        self.beyond.iter().filter(move |done| !is_left(done))
    }
}

/// What is to be done.
pub struct Task<'a> {
    /// On disk.
    pub course: &'a Course,
    /// As what it is written down.
    pub operation: Operation,
    /// The same, where it is being written down already: it is used if it is still what is to be done.
    pub ahead: Option<Begun>,
    /// The unfinished operation that it takes up.
    pub takes_up: Option<TakenUp>,
    /// Where it ends.
    pub end: End,
}

/// An operation that a kill left unfinished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenUp {
    /// Its commit, where another is to take its place at one stroke.
    pub commit: Option<Oid>,
    /// Where it has saved the ignored files that it replaced.
    pub side: Option<Oid>,
}

/// Carries out a task in this session, whose work tree is held by the snapshot that it stands at.
///
/// # Errors
///
/// Stopped midway: the operation stays unfinished, and the next command finds it.
pub fn perform(
    workspace: &mut Locked,
    session: &mut Session,
    task: Task<'_>,
    moment: Moment,
) -> Result<Performed> {
    let Course { plan, sources, .. } = task.course;
    let from = session.current()?.clone();
    let now = bytes::of_standing(workspace, &from)?;
    sweep(workspace, &plan.leftovers, moment.seconds)?;
    let saved = save_ignored(workspace, session, plan, task.takes_up.as_ref(), moment)?;
    let operation = Operation {
        side: saved.side.clone(),
        from_bytes: bytes::unsaid_of(workspace, &from),
        ..task.operation
    };
    let contents = start_contents(&workspace.git, plan, sources)?;
    let ahead = task.ahead;
    let ahead = ahead.filter(|ahead| ahead.is_for(&operation, session, workspace));
    let begun = match ahead {
        Some(ahead) => ahead,
        None => Begun::start(workspace, session, &operation, moment.seconds)?,
    };
    workspace.begin()?;
    let replaces = task.takes_up.and_then(|taken_up| taken_up.commit);
    let is_replaced = replaces.is_some();
    begun.in_place_of(replaces).record(workspace, session)?;
    let disk = Disk::new(&workspace.git.work_tree);
    let known = Known {
        saved: &saved.blobs,
        raw_ids: &now,
        settings: &workspace.settings,
    };
    let applied = match carry_out(workspace, &disk, task.course, contents, &known) {
        Ok(applied) => applied,
        Err(Stopped::Before(error)) if is_replaced => {
            let stopped = Stopped::Midway(error);
            return Err(give_up(workspace, session, operation.deed, stopped)?);
        }
        Err(stopped) => return Err(give_up(workspace, session, operation.deed, stopped)?),
    };
    let (displaced, displaced_side) = keep_strangers(workspace, session, &disk, &applied, moment)?;
    if plan.changes_bits() && workspace.settings.is_false("core.filemode") {
        // git does not look at them, and what is remembered has those of before.
        workspace.state.cache = None;
    }
    let git = &workspace.git;
    let beyond = beyond::bring(&git.common_dir, &session.id, git.format, &plan.way.beyond);
    let turn = match task.end {
        End::At(turn) => {
            move_current(workspace, session, &from, &turn)?;
            journal::arrive(workspace, &session.id, plan.way.then.clone(), &turn);
            note_unseen(workspace, &turn, plan, moment)?;
            None
        }
        End::New(note) => {
            let changed = plan.actions.iter();
            let changed = changed.filter(|(_, action)| !matches!(action, Action::Keep(_)));
            let raw_ids = now.with(&task.course.raw_ids, changed.map(|(path, _)| path.clone()));
            let side = save_side(workspace, &from, plan, &operation.tree, raw_ids, moment)?;
            let note = Note {
                side: side.commit,
                ..*note
            };
            let turn = take_turn(workspace, &operation.tree, note, moment)?;
            journal::remember(workspace, &session.id, side.journal, None);
            Some(turn)
        }
    };
    workspace.end()?;
    Ok(Performed {
        written: applied.written,
        removed: applied.removed,
        turn,
        displaced,
        displaced_side,
        ignored_side: saved.side,
        beyond,
    })
}

/// Why the work tree is not what it was to be.
enum Stopped {
    /// Nothing was written.
    Before(Error),
    /// Some paths were.
    Midway(Error),
}

/// Brings the work tree about, once all that it needs is known to be there.
fn carry_out(
    workspace: &Locked,
    disk: &Disk,
    course: &Course,
    mut contents: Option<Objects>,
    known: &Known<'_>,
) -> std::result::Result<Applied, Stopped> {
    let Course { plan, sources, .. } = course;
    if let Some(contents) = &mut contents {
        // git has looked while the operation was written down.
        look_for_contents(plan, sources, contents).map_err(Stopped::Before)?;
    }
    apply(&workspace.git, disk, plan, sources, contents, known).map_err(Stopped::Midway)
}

/// Ends an operation that did not come about. Returns what there is to say of it.
fn give_up(
    workspace: &mut Locked,
    session: &mut Session,
    deed: Deed,
    stopped: Stopped,
) -> Result<Error> {
    let from = session.current()?.number();
    let (error, ended) = match (deed, stopped) {
        // What is half restored is taken back by an undo, as the whole would be.
        (Deed::Restore, Stopped::Midway(error)) => {
            workspace.state.stopped = session.ops.as_ref().map(|last| last.oid.clone());
            (go_back(error, from), Ok(()))
        }
        // There is nothing to take back; or it would be a turn, or none any more.
        (_, Stopped::Midway(error)) => {
            (go_back(error, from), ops::take_off_last(workspace, session))
        }
        (_, Stopped::Before(error)) => (error, ops::take_off_last(workspace, session)),
    };
    // What there is to say is why it stopped. On a full disk this fails, too: then the next command finds the operation
    // unfinished, as after a kill.
    let _ = ended.and_then(|()| workspace.end());
    Ok(error)
}

fn go_back(error: Error, from: Number) -> Error {
    error.hint(format!("to go back: edio restore {from}"))
}

/// What stands beside the turn that an operation ends in.
struct Side {
    commit: Option<Oid>,
    journal: journal::Noted,
}

/// Saves what the tree that was brought about can't hold. `raw_ids` is what is on disk now, as far as it is known.
fn save_side(
    workspace: &mut Locked,
    from: &Turn,
    plan: &Plan,
    tree: &Oid,
    raw_ids: RawIds,
    moment: Moment,
) -> Result<Side> {
    let cache = workspace.state.cache.as_ref();
    let has_rules = cache.is_some_and(|cache| cache.attribute_files);
    let raw_ids = match bytes::may_convert(workspace, has_rules) {
        true => {
            let written = plan.as_differences();
            bytes::note(workspace, &raw_ids, tree, &Scope::Changed(&written))?
        }
        false => raw_ids,
    };
    let id = &from.note.session;
    let look = journal::look(workspace, workspace.state.session.as_ref())?;
    let journal = journal::keep(workspace, id, look)?;
    let of_turn = OfTurn {
        raw_ids: &raw_ids,
        skipped: &side::all_skipped(workspace, from)?,
        journal: &journal.journal,
    };
    let commit = side::save_of_turn(workspace, id, &of_turn, moment.seconds)?;
    Ok(Side { commit, journal })
}

#[derive(Default)]
struct SavedIgnored {
    side: Option<Oid>,
    blobs: BTreeMap<RepoPath, Oid>,
}

/// Saves the ignored files that stand where the turn has files.
fn save_ignored(
    workspace: &Locked,
    session: &mut Session,
    plan: &Plan,
    takes_up: Option<&TakenUp>,
    moment: Moment,
) -> Result<SavedIgnored> {
    if plan.saved.is_empty() && takes_up.is_none() {
        return Ok(SavedIgnored::default());
    }
    let paths: Vec<RepoPath> = plan.saved.iter().cloned().collect();
    let mut saved = save_files(workspace, &paths, &paths, Part::Ignored)?;
    let blobs = saved
        .iter()
        .map(|s| (s.path.clone(), s.entry.oid.clone()))
        .collect();
    if let Some(taken_up) = takes_up {
        saved = with_earlier(workspace, plan, saved, taken_up)?;
    }
    if saved.is_empty() {
        return Ok(SavedIgnored::default());
    }
    let text = "Ignored files, before a restore";
    let side = side::save(workspace, session, &saved, text, moment.seconds)?;
    Ok(SavedIgnored {
        side: Some(side),
        blobs,
    })
}

/// What an undo of the whole operation is to bring back, where the half of it was done before.
///
/// What that half put in its place is none of it: there, what it saved counts. What somebody has written since counts more.
fn with_earlier(
    workspace: &Locked,
    plan: &Plan,
    saved: Vec<Saved>,
    taken_up: &TakenUp,
) -> Result<Vec<Saved>> {
    let mut all = Vec::new();
    for saved in saved {
        let new = plan.new_at(&saved.path);
        let is_done = new.map(|new| stands(workspace, &saved.path, &new.oid));
        if !is_done.transpose()?.unwrap_or(false) {
            all.push(saved);
        }
    }
    let known: BTreeSet<RepoPath> = all.iter().map(|saved| saved.path.clone()).collect();
    let earlier = side::ignored(workspace, taken_up.side.as_ref())?.into_iter();
    let earlier = earlier.filter(|(path, _)| !known.contains(path));
    all.extend(earlier.map(|(path, entry)| Saved {
        part: Part::Ignored,
        path,
        entry,
    }));
    Ok(all)
}

/// Has the file this content, as it is or behind git's filters?
///
/// # Errors
///
/// A filter failed.
pub fn stands(workspace: &Workspace, path: &RepoPath, blob: &Oid) -> Result<bool> {
    let git = &workspace.git;
    let now = disk_blob_id(&git.work_tree, path, git.format);
    Ok(match now.ok().flatten() {
        None => false,
        Some(now) if now == *blob => true,
        Some(_) => git.hash_as(path, path)?.as_ref() == Some(blob),
    })
}

/// Writes files and links of the work tree as blobs, bytes as they are. `names` are the paths that they are saved under. One
/// that somebody else has removed meanwhile is none to be saved.
fn save_files(
    workspace: &Workspace,
    files: &[RepoPath],
    names: &[RepoPath],
    part: Part,
) -> Result<Vec<Saved>> {
    let git = &workspace.git;
    let mut saved = Vec::new();
    let mut plain = Vec::new();
    for (file, name) in files.iter().zip(names) {
        let on_disk = file.below(&git.work_tree);
        let what = || format!("can't save {name} before it is replaced");
        let meta = match fs::symlink_metadata(&on_disk) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            meta => meta.or_cannot(what)?,
        };
        if meta.is_symlink() {
            let target = git_bytes(&fs::read_link(&on_disk).or_cannot(what)?);
            let oid = git.write_blob(&target)?;
            let mode = Mode::Symlink;
            saved.push((name, Entry { mode, oid }));
        } else {
            plain.push((file, name, mode_of(&meta)));
        }
    }
    let oids = loop {
        let paths: Vec<RepoPath> = plain.iter().map(|(file, ..)| (*file).clone()).collect();
        match git.write_raw_blobs(&paths) {
            Ok(oids) => break oids,
            Err(error) => {
                plain.retain(|(file, ..)| file.below(&git.work_tree).symlink_metadata().is_ok());
                if plain.len() == paths.len() {
                    return Err(error.into());
                }
            }
        }
    };
    saved.extend(
        plain
            .into_iter()
            .zip(oids)
            .map(|((_, name, mode), oid)| (name, Entry { mode, oid })),
    );
    let saved = saved.into_iter().map(|(name, entry)| Saved {
        part,
        path: name.clone(),
        entry,
    });
    Ok(saved.collect())
}

fn mode_of(meta: &fs::Metadata) -> Mode {
    match is_executable(meta) {
        true => Mode::Executable,
        false => Mode::File,
    }
}

/// So many paths are put into a tree without an index.
const FEW: usize = 100;

/// The tree that a plan leads to, from the tree of the work tree as it is now.
///
/// # Errors
///
/// git failed.
pub fn tree_with(workspace: &Locked, now: &Oid, plan: &Plan) -> Result<Oid> {
    let git = &workspace.git;
    let beside: Vec<RepoPath> = plan.beside.keys().cloned().collect();
    let held = git.entries_at(now, &beside)?;
    let is_held = |path: &RepoPath| held.iter().any(|(held, _)| held == path);
    let actions = plan.actions.iter();
    let changes: Vec<_> = actions
        .filter(|(path, _)| !plan.beside.contains_key(path) || is_held(path))
        .filter_map(|(path, action)| match action {
            Action::Write { new, .. } | Action::SetMode { new } => {
                Some((path.clone(), Some(new.clone())))
            }
            Action::Remove { .. } => Some((path.clone(), None)),
            Action::Keep(_) => None,
        })
        .collect();
    if changes.len() <= FEW {
        let paths: Vec<RepoPath> = changes.iter().map(|(path, _)| path.clone()).collect();
        if let Some(grafting) = git.read_for_graft(now, &paths)? {
            return Ok(git.graft(grafting, &changes, &[])?);
        }
    }
    let index = PrivateIndex::at(git, workspace.scratch().join("index.restore"));
    index.read_tree(now)?;
    index.set(&changes)?;
    let tree = index.write_tree()?;
    index.remove()?;
    Ok(tree)
}

/// Saves what was changed at the last moment, then lets go of it.
fn keep_strangers(
    workspace: &Locked,
    session: &mut Session,
    disk: &Disk,
    applied: &Applied,
    moment: Moment,
) -> Result<(Vec<RepoPath>, Option<Oid>)> {
    if applied.strangers.is_empty() {
        return Ok((Vec::new(), None));
    }
    let strangers = &applied.strangers;
    let files: Vec<_> = strangers.iter().map(|s| s.displaced.path.clone()).collect();
    let names: Vec<_> = strangers.iter().map(|s| s.path.clone()).collect();
    let saved = save_files(workspace, &files, &names, Part::Displaced)?;
    if saved.is_empty() {
        return Ok((Vec::new(), None));
    }
    let text = "Files that were changed while they were restored";
    let side = side::save(workspace, session, &saved, text, moment.seconds)?;
    for stranger in strangers {
        disk.discard(&stranger.displaced)
            .or_cannot(|| format!("can't remove {}", stranger.displaced.path))?;
    }
    Ok((
        saved.into_iter().map(|saved| saved.path).collect(),
        Some(side),
    ))
}

fn move_current(workspace: &mut Locked, session: &Session, from: &Turn, to: &Turn) -> Result<()> {
    let name = refnames::name(Shelf::Active, &session.id, Leaf::Current);
    let change = RefChange::set(name, Some(&from.commit), &to.commit);
    refs::change(workspace, &[change])?;
    let cache = workspace.state.cache.take();
    let moved = Session {
        current: Some(to.clone()),
        ..session.clone()
    };
    ground::stand(workspace, &moved)?;
    workspace.state.cache = cache;
    Ok(())
}

/// Notes what is on disk behind conversions where a restore has led to a HEAD that nobody saw: bytes of now may have
/// stayed there, and from here on a change of them is one.
fn note_unseen(workspace: &mut Locked, turn: &Turn, plan: &Plan, moment: Moment) -> Result<()> {
    let cache = workspace.state.cache.as_ref();
    let has_rules = cache.is_some_and(|cache| cache.attribute_files);
    if Unnoted::of(turn) == Unnoted::IsBlob || !bytes::may_convert(workspace, has_rules) {
        return Ok(());
    }
    let Some(id) = workspace.state.session.as_ref().map(|s| s.id.clone()) else {
        return Ok(());
    };
    let there = in_place(workspace, turn, plan)?;
    let scope = Scope::Changed(&there);
    let noted = bytes::note(workspace, &RawIds::default(), &turn.tree, &scope)?;
    let of_turn = OfTurn {
        raw_ids: &noted,
        skipped: &[],
        journal: &plan.way.then,
    };
    let side = side::save_of_turn(workspace, &id, &of_turn, moment.seconds)?;
    workspace.state.conversions = Some(bytes::fingerprint(workspace));
    if let Some(standing) = &mut workspace.state.session {
        standing.side = side;
        standing.unnoted = Unnoted::IsBlob;
    }
    Ok(())
}

/// What a restore of a turn has brought about, as differences that change nothing: all that the turn holds, but for what was
/// left as it is.
fn in_place(workspace: &Locked, turn: &Turn, plan: &Plan) -> Result<Vec<Difference>> {
    let not_held = side::all_skipped(workspace, turn)?;
    let not_held = NotHeld::of(&not_held);
    let mut entries = workspace.git.tree_entries(&turn.tree)?;
    entries.retain(|(path, _)| !plan.keeps(path) && !not_held.covers(path));
    let exclude = Choice::of(&workspace.settings).exclude;
    let excluded = matched(workspace, &exclude, entries.iter().map(|(path, _)| path))?;
    let entries = entries
        .into_iter()
        .filter(|(path, _)| !excluded.contains(path));
    Ok(entries
        .map(|(path, entry)| Difference::unchanged(path, entry))
        .collect())
}

/// The turn that an operation ends in.
fn take_turn(workspace: &mut Locked, tree: &Oid, note: Note, moment: Moment) -> Result<Turn> {
    let Some(ground) = ground::ground(workspace)? else {
        return Err(no_session());
    };
    let cache = workspace.state.cache.take();
    let turn = ground::write_turn(workspace, ground, tree, note, moment.seconds)?;
    workspace.state.cache = cache;
    Ok(turn)
}

/// What a killed restore left in the work tree: saved, then removed.
///
/// It may be half of a new file, which nobody misses, or a file that was displaced and not yet looked at.
///
/// # Errors
///
/// git or the system refuses.
pub fn sweep(workspace: &Locked, leftovers: &[RepoPath], seconds: i64) -> Result<()> {
    if leftovers.is_empty() {
        return Ok(());
    }
    let mut session = Session::active_or_error(workspace)?;
    let saved = save_files(workspace, leftovers, leftovers, Part::Displaced)?;
    if saved.is_empty() {
        return Ok(());
    }
    let text = "What an interrupted restore left behind";
    side::save(workspace, &mut session, &saved, text, seconds)?;
    let disk = Disk::new(&workspace.git.work_tree);
    for path in leftovers {
        let displaced = Displaced { path: path.clone() };
        disk.discard(&displaced)
            .or_cannot(|| format!("can't remove {path}"))?;
    }
    Ok(())
}
