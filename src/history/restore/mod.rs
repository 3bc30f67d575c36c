//! Bringing the work tree, or some paths of it, to a turn.
//!
//! Scan, plan, safety snapshot, the operation's commit, the writes, a last look, and only then `current` moves. What
//! can refuse does so before anything is changed.

mod apply;
mod disk;
mod plan;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use bstr::ByteSlice;

use crate::error::{Error, Result, While};
use crate::gitengine::{
    Difference, Entry, Mode, Oid, PrivateIndex, RefChange, RepoPath, git_bytes,
};

use self::apply::{Applied, Stranger, apply};
use self::disk::Disk;
pub use self::plan::{Action, Kept, Plan};
use self::plan::{Facts, Obstacle, candidates};
use super::ops::{self, Deed, Operation};
use super::recover;
use super::refnames::{self, Leaf, Shelf};
use super::scan::{Scan, cached_index, scan};
use super::session::Session;
use super::side::{self, Part, Saved};
use super::snapshot::{self, Moment, Request, Unchanged};
use super::turn::{Kind, Note, Turn, Work};
use super::workspace::{Locked, Workspace};

/// What is wanted.
pub struct Wish {
    /// The turn.
    pub target: Turn,
    /// The paths: all of them where this is empty.
    pub paths: Vec<RepoPath>,
}

/// What came of it.
pub struct Restored {
    /// The plan that was carried out.
    pub plan: Plan,
    /// Paths written.
    pub written: usize,
    /// Paths removed.
    pub removed: usize,
    /// The turn that holds what was unsaved before.
    pub safety: Option<Turn>,
    /// The turn that a restore of some paths ends in.
    pub turn: Option<Turn>,
    /// Files that were changed while they were restored: they are saved, too.
    pub displaced: Vec<RepoPath>,
    /// Where those are saved, and the ignored files that were replaced.
    pub side: Option<Oid>,
}

/// The plan, with nothing done.
///
/// # Errors
///
/// The restore would be refused, or git failed.
pub fn preview(workspace: &Locked, wish: &Wish) -> Result<Plan> {
    let scan = scan(workspace)?;
    make_plan(workspace, &scan, wish)
}

/// Brings the work tree to a turn. `session` is the one that the turn was found in.
///
/// # Errors
///
/// Refused, with nothing changed; or stopped midway, which the next command will find.
pub fn restore(
    workspace: &mut Locked,
    session: Session,
    wish: &Wish,
    moment: Moment,
) -> Result<Restored> {
    workspace.git = workspace.git.synced();
    let scan = scan(workspace)?;
    let plan = make_plan(workspace, &scan, wish)?;
    let safety = save_unsaved(workspace, scan, wish, moment)?;
    let mut session = own_session(workspace, session, safety.as_ref())?;
    let saved = save_ignored(workspace, &mut session, &plan, moment)?;
    let tree = match wish.paths.is_empty() {
        true => wish.target.tree.clone(),
        false => tree_with(workspace, &plan)?,
    };
    let from = session.current()?.clone();
    if plan.is_nothing() && (!wish.paths.is_empty() || from.commit == wish.target.commit) {
        return Ok(unchanged(plan, safety));
    }
    let operation = Operation {
        deed: wish.deed(),
        text: wish.in_words(),
        tree: tree.clone(),
        from: from.commit.clone(),
        to: wish.target.commit.clone(),
        last: session.last(),
        side: saved.side.clone(),
        head_before: None,
        head_after: None,
        branch: None,
    };
    ops::record(workspace, &mut session, &operation, moment.seconds)?;
    let disk = Disk::new(&workspace.git.work_tree);
    let applied = apply(&workspace.git, &disk, &plan, &saved.blobs)
        .map_err(|error| stopped_hints(error, wish, &from))?;
    let displaced = keep_strangers(workspace, &mut session, &disk, &applied, moment)?;
    let turn = match wish.paths.is_empty() {
        true => {
            move_current(workspace, &session, &from, &wish.target)?;
            None
        }
        false => Some(take_partial(workspace, &from, &tree, wish, moment)?),
    };
    workspace.state.save(&workspace.scratch())?;
    Ok(Restored {
        written: applied.written,
        removed: applied.removed,
        side: session
            .side
            .filter(|_| !displaced.is_empty() || saved.side.is_some()),
        plan,
        safety,
        turn,
        displaced,
    })
}

fn unchanged(plan: Plan, safety: Option<Turn>) -> Restored {
    Restored {
        plan,
        written: 0,
        removed: 0,
        safety,
        turn: None,
        displaced: Vec::new(),
        side: None,
    }
}

impl Wish {
    fn deed(&self) -> Deed {
        match self.paths.is_empty() {
            true => Deed::Restore,
            false => Deed::RestorePaths,
        }
    }

    fn in_words(&self) -> String {
        let number = self.target.number();
        match self.paths.as_slice() {
            [] => format!("restore {number}"),
            [path] => format!("restore {number} -f {}", one_line(path)),
            paths => format!("restore {number}: {} paths", paths.len()),
        }
    }

    fn concerns(&self, path: &RepoPath) -> bool {
        self.paths.is_empty() || self.paths.iter().any(|wanted| path.is_within(wanted))
    }
}

fn one_line(path: &RepoPath) -> String {
    let text = path.as_bytes().to_str_lossy();
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

fn make_plan(workspace: &Locked, scan: &Scan, wish: &Wish) -> Result<Plan> {
    let all = workspace.git.differences(&scan.tree, &wish.target.tree)?;
    let rules_differ = all
        .iter()
        .any(|difference| difference.path.name() == b".gitignore");
    let differences: Vec<Difference> = all
        .into_iter()
        .filter(|difference| wish.concerns(&difference.path))
        .collect();
    refuse_unknown_paths(workspace, wish, &differences)?;
    let protected = match rules_differ {
        true => protected(workspace, &wish.target.tree, &differences)?,
        false => BTreeSet::new(),
    };
    let facts = Facts {
        differences,
        not_held_now: &scan.skipped,
        not_held_then: &wish.target.note.skipped,
        protected,
    };
    let disk = Disk::new(&workspace.git.work_tree);
    plan::plan(facts, &disk).map_err(|obstacles| refused(&obstacles, &wish.target))
}

fn refused(obstacles: &[Obstacle], target: &Turn) -> Error {
    let named: Vec<String> = obstacles
        .iter()
        .take(5)
        .map(|obstacle| format!("{} is {}", obstacle.path, obstacle.what))
        .collect();
    let more = match obstacles.len().saturating_sub(named.len()) {
        0 => String::new(),
        count => format!(", and {count} more"),
    };
    Error::refused(format!(
        "turn {} has files where something else stands that would be lost",
        target.number()
    ))
    .because(format!("{}{more}", named.join("; ")))
    .hint("move it away, or restore other paths: edio restore TURN -f FILE")
}

/// A path that the turn lacks is most likely a slip: removing it because of that would be the worst answer.
fn refuse_unknown_paths(workspace: &Locked, wish: &Wish, differences: &[Difference]) -> Result<()> {
    let differs = |path: &&RepoPath| {
        differences
            .iter()
            .any(|difference| difference.new.is_some() && difference.path.is_within(path))
    };
    let unsure: Vec<&RepoPath> = wish.paths.iter().filter(|path| !differs(path)).collect();
    for path in unsure {
        if !workspace.git.tree_has(&wish.target.tree, path)? {
            let number = wish.target.number();
            return Err(
                Error::cannot(format!("turn {number} has no {path}")).hint(format!(
                    "what it has: git ls-tree -r --name-only {}",
                    wish.target.commit
                )),
            );
        }
    }
    Ok(())
}

/// The paths among those to be removed that the ignore rules of the turn protect.
///
/// git reads the rules of a `.gitignore` from disk. So the turn's are laid out in a folder of their own.
fn protected(
    workspace: &Locked,
    target: &Oid,
    differences: &[Difference],
) -> Result<BTreeSet<RepoPath>> {
    let candidates = candidates(differences);
    if candidates.is_empty() {
        return Ok(BTreeSet::new());
    }
    let stage = workspace.scratch().join("stage");
    clear_folder(&stage)?;
    let rules = workspace.git.tree_files_named(target, b".gitignore")?;
    let oids: Vec<Oid> = rules.iter().map(|(_, entry)| entry.oid.clone()).collect();
    let mut objects = workspace.git.objects(&oids)?;
    for (path, entry) in &rules {
        let length = objects.next_of("blob", &entry.oid)?;
        let bytes = objects.answer.exactly(length)?;
        objects.end_of_object()?;
        let file = path.below(&stage);
        let folder = file.parent().unwrap_or(&stage);
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&file, bytes))
            .or_cannot(|| format!("can't write {}", file.display()))?;
    }
    objects.answer.close()?;
    let ignored = workspace
        .git
        .ask_ignored_under(&stage, &candidates)?
        .ignored()?;
    clear_folder(&stage)?;
    Ok(ignored.into_iter().collect())
}

fn clear_folder(folder: &std::path::Path) -> Result<()> {
    let cleared = match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other,
    };
    cleared
        .and_then(|()| fs::create_dir(folder))
        .or_cannot(|| format!("can't write {}", folder.display()))
}

/// Takes what was never saved as a safety turn, and begins a session where there is none.
fn save_unsaved(
    workspace: &mut Locked,
    scan: Scan,
    wish: &Wish,
    moment: Moment,
) -> Result<Option<Turn>> {
    if snapshot::ground(workspace)?.is_none() {
        snapshot::begin_here(workspace, scan, moment)?;
        return Ok(None);
    }
    let request = Request {
        kind: Kind::Safety,
        message: Some(format!("Before {}", wish.in_words())),
        unchanged: Unchanged::Skip,
        work: Work::default(),
        moment,
    };
    Ok(snapshot::record(workspace, scan, &request)?.turn)
}

/// The session that this workspace works in: the one that was read already, unless the turn is from another.
fn own_session(workspace: &Locked, read: Session, safety: Option<&Turn>) -> Result<Session> {
    let standing = workspace.state.session.as_ref();
    let is_own = standing.is_some_and(|standing| standing.id == read.id);
    if !is_own || read.shelf != Shelf::Active {
        return Session::active_or_error(workspace);
    }
    let mut session = read;
    if let Some(turn) = safety {
        session.grow(turn);
    }
    // Taking up a turn that a killed process left moves `current`, too.
    let moved =
        standing.map(|standing| &standing.current) != session.current.as_ref().map(|t| &t.commit);
    match moved {
        true => Session::active_or_error(workspace),
        false => Ok(session),
    }
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
    moment: Moment,
) -> Result<SavedIgnored> {
    if plan.saved.is_empty() {
        return Ok(SavedIgnored::default());
    }
    let paths: Vec<RepoPath> = plan.saved.iter().cloned().collect();
    let saved = save_files(workspace, &paths, &paths, Part::Ignored)?;
    let blobs = saved
        .iter()
        .map(|s| (s.path.clone(), s.entry.oid.clone()))
        .collect();
    let text = "Ignored files, before a restore";
    let side = side::save(workspace, session, &saved, text, moment.seconds)?;
    Ok(SavedIgnored {
        side: Some(side),
        blobs,
    })
}

/// Writes files and links of the work tree as blobs, bytes as they are. `names` are the paths that they are saved under.
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
        let meta = fs::symlink_metadata(&on_disk).or_cannot(what)?;
        if meta.is_symlink() {
            let target = git_bytes(&fs::read_link(&on_disk).or_cannot(what)?);
            let oid = git.write_blob(&target)?;
            let mode = Mode::Symlink;
            saved.push((name, Entry { mode, oid }));
        } else {
            plain.push((file, name, mode_of(&meta)));
        }
    }
    let paths: Vec<RepoPath> = plain.iter().map(|(file, ..)| (*file).clone()).collect();
    let oids = git.write_raw_blobs(&paths)?;
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

#[cfg(unix)]
fn mode_of(meta: &fs::Metadata) -> Mode {
    use std::os::unix::fs::PermissionsExt;
    match meta.permissions().mode() & 0o100 {
        0 => Mode::File,
        _ => Mode::Executable,
    }
}

#[cfg(not(unix))]
fn mode_of(_: &fs::Metadata) -> Mode {
    Mode::File
}

/// The work tree that a restore of some paths leads to. The cached index is the work tree as it is now.
fn tree_with(workspace: &Locked, plan: &Plan) -> Result<Oid> {
    let file = workspace.scratch().join("index.restore");
    let index = PrivateIndex::at(&workspace.git, file);
    index.link_from(&cached_index(workspace))?;
    let entries: Vec<_> = plan
        .actions
        .iter()
        .filter_map(|(path, action)| match action {
            Action::Write { new, .. } | Action::SetMode { new } => {
                Some((path.clone(), Some(new.clone())))
            }
            Action::Remove { .. } => Some((path.clone(), None)),
            Action::Keep(_) => None,
        })
        .collect();
    index.set(&entries)?;
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
) -> Result<Vec<RepoPath>> {
    if applied.strangers.is_empty() {
        return Ok(Vec::new());
    }
    let strangers: &[Stranger] = &applied.strangers;
    let files: Vec<_> = strangers.iter().map(|s| s.displaced.path.clone()).collect();
    let names: Vec<_> = strangers.iter().map(|s| s.path.clone()).collect();
    let saved = save_files(workspace, &files, &names, Part::Displaced)?;
    let text = "Files that were changed while they were restored";
    side::save(workspace, session, &saved, text, moment.seconds)?;
    for stranger in strangers {
        disk.discard(&stranger.displaced)
            .or_cannot(|| format!("can't remove {}", stranger.displaced.path))?;
    }
    Ok(names)
}

fn move_current(workspace: &mut Locked, session: &Session, from: &Turn, to: &Turn) -> Result<()> {
    let name = refnames::name(Shelf::Active, &session.id, Leaf::Current);
    let change = RefChange::set(name, Some(&from.commit), &to.commit);
    workspace.git.change_refs(&[change])?;
    let cache = workspace.state.cache.take();
    let moved = Session {
        current: Some(to.clone()),
        ..session.clone()
    };
    snapshot::stand(workspace, &moved)?;
    workspace.state.cache = cache;
    Ok(())
}

/// The turn that a restore of some paths ends in.
fn take_partial(
    workspace: &mut Locked,
    from: &Turn,
    tree: &Oid,
    wish: &Wish,
    moment: Moment,
) -> Result<Turn> {
    let Some(ground) = snapshot::ground(workspace)? else {
        return Err(super::session::no_session());
    };
    let (_, stat) = workspace.git.differences_counted(&from.tree, tree, &[])?;
    let words = wish.in_words();
    let note = Note {
        message: format!("R{}", &words[1..]),
        stat,
        skipped_count: from.note.skipped_count,
        skipped: from.note.skipped.clone(),
        ..snapshot::note(workspace, &ground.standing.id, &from.note.head)
    };
    let cache = workspace.state.cache.take();
    let turn = snapshot::write_turn(workspace, ground, tree, note, moment.seconds)?;
    workspace.state.cache = cache;
    Ok(turn)
}

fn stopped_hints(error: Error, wish: &Wish, from: &Turn) -> Error {
    error
        .hint(format!("to finish it: edio {}", wish.in_words()))
        .hint(format!("to go back: edio restore {}", from.number()))
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
    let text = "What an interrupted restore left behind";
    side::save(workspace, &mut session, &saved, text, seconds)?;
    let disk = Disk::new(&workspace.git.work_tree);
    for path in leftovers {
        let displaced = disk::Displaced { path: path.clone() };
        disk.discard(&displaced)
            .or_cannot(|| format!("can't remove {path}"))?;
    }
    Ok(())
}

/// The restore that a killed process left unfinished, as a sentence; `None` where there is none.
pub fn interrupted(session: &Session) -> Option<String> {
    recover::unfinished_restore(session).map(|operation| operation.text)
}
