//! The scan: the work tree as it is now, as a tree.
//!
//! It works on an index file of edio's own ([`base`] says which one it starts from), asks one `git status` what
//! differs, looks at each of those paths itself ([`gate`]), and has git take in just them. What the scan leaves behind
//! becomes the cache from which the next one starts, if what was made of it succeeded.

mod base;
mod edited;
mod gate;
mod keep;
mod modes;
mod named;
mod recent;
mod take;
mod unfetched;
mod unheld;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::SystemTime;

use crate::error::{Kind, Result, While};
use crate::gitengine::{
    Asked, Errand, FileStamp, GitError, Head, IgnoreQuestion, Oid, PrivateIndex, Processes,
    RepoPath, Status, is_repository, status_question,
};

use self::base::Base;
pub use self::base::{cached_index, unreadable_index};
pub use self::edited::Edited;
use self::gate::{Found, Gate, Passed};
pub use self::gate::{TEMPORARY, is_temporary, without_detours};
pub use self::named::{Named, look_at};
pub use self::recent::{Looking, Recent};
use self::take::taken_in;
use self::unfetched::unfetched;
use self::unheld::not_looked_at;
use super::bytes::{self, OnDisk};
use super::choice::{Choice, matched};
use super::limits::{Limits, TooMuch, current_tree, refuse_home};
use super::restore::disk_blob_id;
use super::skipped::{NotHeld, Skipped, Why};
use super::workspace::Locked;

/// The work tree as it is now.
pub struct Scan {
    /// As a tree.
    pub tree: Oid,
    /// Where HEAD stands.
    pub head: Head,
    /// What the tree does not hold.
    pub skipped: Vec<Skipped>,
    /// The paths among it of which the tree has what was there before, if anything.
    pub not_held: NotHeld,
    /// Are there attribute files in the work tree?
    pub attribute_files: bool,
    /// What the person has chosen to be held, and to be left out.
    pub choice: Choice,
    /// Files that the tree holds since they are chosen, though they are ignored.
    pub included: BTreeSet<RepoPath>,
    /// Files that a killed restore left in the work tree. The tree does not hold them.
    pub leftovers: Vec<RepoPath>,
    /// When it began, as the file system under the git directory tells the time.
    started: SystemTime,
    has_unreadable: bool,
    index: PrivateIndex,
    base: Base,
    passed: Passed,
    /// The files that the tree has otherwise than the index, where that is known to be all.
    edited: Option<Edited>,
    /// What was changed just before.
    recent: Vec<Recent>,
    /// What git can't see has changed since the last scan.
    pub unseen: Vec<RepoPath>,
    on_disk: OnceCell<OnDisk>,
}

/// What may hold other bytes than at the last snapshot.
pub enum Touched {
    /// These, and what differs between the trees.
    These(Vec<RepoPath>),
    /// Nothing is known of the last snapshot's files.
    Unknown,
}

/// What is asked of git once it is sure that there is a turn to take.
const OF_A_TURN: [Errand; 3] = [Errand::Count, Errand::Commit, Errand::MoveRefs];

/// What a scan is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aim {
    /// To know.
    Look,
    /// To record it as a turn, if there is anything new.
    Turn,
}

/// Looks at the whole work tree, to record what is new.
///
/// # Errors
///
/// git failed in a way that no single path is to blame for, or the git directory can't be written, or a setting can't be
/// read. Refused where far more is new than anybody would want, unless that is to be taken.
pub fn scan(workspace: &Locked, too_much: TooMuch) -> Result<Scan> {
    scan_with(workspace, too_much, Aim::Turn, &mut || ())
}

/// Looks at the whole work tree, to know how it is.
///
/// # Errors
///
/// As for [`scan`].
pub fn look(workspace: &Locked, too_much: TooMuch) -> Result<Scan> {
    scan_with(workspace, too_much, Aim::Look, &mut || ())
}

/// Looks at the whole work tree, and does something else while git looks. Returns what came of both.
///
/// # Errors
///
/// As for [`scan`]; or the other work failed.
pub fn scan_beside<T>(
    workspace: &Locked,
    too_much: TooMuch,
    other: impl Fn() -> Result<T>,
) -> Result<(Scan, T)> {
    let mut found = None;
    // Seldom is anything unsaved where somebody goes back.
    let scan = scan_with(workspace, too_much, Aim::Look, &mut || {
        found.get_or_insert_with(&other);
    });
    // The other work's error comes first, also where the scan ended before git looked.
    let found = found.unwrap_or_else(other)?;
    Ok((scan?, found))
}

fn scan_with(
    workspace: &Locked,
    too_much: TooMuch,
    aim: Aim,
    meanwhile: &mut dyn FnMut(),
) -> Result<Scan> {
    if too_much == TooMuch::Refuse {
        refuse_home(workspace)?;
    }
    let rules = Rules {
        choice: Choice::of(&workspace.settings),
        limits: Limits::of(&workspace.settings)?,
        too_much,
        aim,
    };
    let base = Base::choose(workspace, &rules.choice)?;
    let is_cached = base.is_cached();
    match scan_from(workspace, base, &rules, meanwhile) {
        // Gone from the disk, or absent since the checkout is sparse? Only the user's index can tell.
        Ok(scan) if is_cached && workspace.git.is_sparse && scan.has_lost_more() => scan_from(
            workspace,
            Base::users(workspace, &rules.choice)?,
            &rules,
            meanwhile,
        ),
        // The cache can stand on objects that are gone. The user's own index does not.
        Err(error) if is_cached && error.kind() != Kind::Refused => {
            let base = Base::users(workspace, &rules.choice)?;
            scan_from(workspace, base, &rules, meanwhile).map_err(|_| error)
        }
        other => other,
    }
}

/// What decides what is held, and how it is gone about.
struct Rules {
    choice: Choice,
    limits: Limits,
    too_much: TooMuch,
    aim: Aim,
}

impl Rules {
    /// What git can be started for once something new is found, beside these.
    fn errands(&self, more: &[Errand]) -> Vec<Errand> {
        let of_a_turn = OF_A_TURN.into_iter().filter(|_| self.aim == Aim::Turn);
        more.iter().copied().chain(of_a_turn).collect()
    }
}

fn scan_from(
    workspace: &Locked,
    base: Base,
    rules: &Rules,
    meanwhile: &mut dyn FnMut(),
) -> Result<Scan> {
    let seen = see(workspace, &base, rules, meanwhile)?;
    let (mut passed, included) = judge(workspace, &base, rules, &seen)?;
    if rules.too_much == TooMuch::Refuse {
        let tracked = || tracked(workspace, &seen.index);
        let new = passed.new_files(&base);
        rules.limits.refuse(workspace, tracked, new)?;
    }
    let made = taken_in(workspace, &base, rules, &seen, &mut passed)?;
    let are_ruled = || gate::are_ruled(&workspace.git.work_tree, passed.taken.iter());
    Ok(Scan {
        tree: made.tree,
        attribute_files: base.attribute_files || are_ruled(),
        skipped: passed.skipped.clone(),
        not_held: NotHeld::of(&passed.skipped),
        leftovers: passed.leftovers.clone(),
        included,
        choice: rules.choice.clone(),
        has_unreadable: !seen.status.unreadable.is_empty(),
        head: seen.status.head,
        index: seen.index,
        started: seen.started,
        unseen: seen.unseen,
        base,
        passed,
        edited: made.edited,
        recent: made.recent,
        on_disk: OnceCell::new(),
    })
}

/// What git and the disk say, before any of it is judged.
struct Seen {
    started: SystemTime,
    index: PrivateIndex,
    status: Status,
    /// Untracked files of the index that the ignore rules match.
    ignored: Vec<RepoPath>,
    /// Untracked files that are to be held though they may be ignored.
    chosen: Vec<RepoPath>,
    /// Paths that git takes for unchanged, and that have changed since the last scan.
    unseen: Vec<RepoPath>,
    /// Those that git must read though it takes them for unchanged.
    anew: Vec<RepoPath>,
    /// The files whose edits the base has beside its index, as they were before git looked.
    edited_before: Vec<Recent>,
}

fn see(
    workspace: &Locked,
    base: &Base,
    rules: &Rules,
    meanwhile: &mut dyn FnMut(),
) -> Result<Seen> {
    let git = &workspace.git;
    let started = workspace.time_of_file_system()?;
    let index = base.lay_out(workspace)?;
    let lost_rules = base.lost_rules(&git.work_tree);
    index.drop_paths(&lost_rules.iter().cloned().collect::<Vec<_>>())?;
    let looking = looking(workspace, started);
    // What is as the index has it again is taken up in the index by git, which does not tell.
    let edited = base.edited.iter().flat_map(Edited::paths);
    let edited_before = looking.recent(edited);
    let question = |processes| {
        let ask = status_question(git, &workspace.settings, processes);
        ask.index(&index.file).start()
    };
    let status = question(Processes::Asked)?;
    let extras = git.ask_ignored(&base.extras)?;
    let listed = git.ask_untracked(&git.users_index(), &rules.choice.include)?;
    meanwhile();
    let mut status = status_of(workspace, base, &index, status, question)?;
    status.take_for_changed(not_looked_at(workspace, base, &index, &status)?);
    status.take_for_changed(lost_rules);
    let ignored = ignored_extras(workspace, base, extras)?;
    let mut unseen = looking.changed_since(&workspace.state.recent);
    let edited = base.edited.iter();
    unseen.extend(edited.flat_map(|edited| edited.mistaken(&status, looking)));
    let mut anew = unfetched(workspace, base, &index)?;
    if base.is_cached() {
        // Of a copy of the user's index they say nothing: it knows these files by itself.
        anew.extend(unseen.iter().cloned());
    }
    Ok(Seen {
        started,
        index,
        status,
        ignored,
        chosen: listed.files()?,
        unseen,
        anew,
        edited_before,
    })
}

/// What git says of the work tree, asked once more where it takes for a repository what is none any more.
fn status_of(
    workspace: &Locked,
    base: &Base,
    index: &PrivateIndex,
    asked: Asked,
    question: impl Fn(Processes) -> std::result::Result<Asked, GitError>,
) -> Result<Status> {
    let status = answer(workspace, asked, &question)?;
    let nested = status.nested.iter();
    let mut nested = nested.filter(|path| !base.submodules.contains(path));
    if nested.all(|path| is_repository(&path.below(&workspace.git.work_tree))) {
        return Ok(status);
    }
    // git looks for a `.git` only where the folder above has changed, and remembers what it found.
    index.forget_untracked()?;
    answer(workspace, question(Processes::Asked)?, &question)
}

/// Those of the untracked files that the index has which git ignores by now.
fn ignored_extras(workspace: &Locked, base: &Base, asked: IgnoreQuestion) -> Result<Vec<RepoPath>> {
    asked.ignored().or_else(|_| {
        // One of them now lies beyond a link: git answers for none. Those that are still there are asked for again.
        let reachable = without_detours(&workspace.git.work_tree, &base.extras);
        Ok(workspace.git.ask_ignored(&reachable)?.ignored()?)
    })
}

/// What git says, asked once more without the filters where one of them took it along.
fn answer(
    workspace: &Locked,
    asked: Asked,
    question: impl Fn(Processes) -> std::result::Result<Asked, GitError>,
) -> Result<Status> {
    let mut finished = asked.finish()?;
    if !finished.status.success() && !workspace.settings.filters().is_empty() {
        finished = question(Processes::LeftOut)?.finish()?;
    }
    if !finished.status.success() {
        return Err(GitError::Exit {
            command: "git status".to_owned(),
            status: finished.status,
            stderr: finished.stderr,
        }
        .into());
    }
    Ok(Status::parse(&finished.stdout, &finished.stderr)?)
}

fn looking(workspace: &Locked, started: SystemTime) -> Looking<'_> {
    Looking {
        top: &workspace.git.work_tree,
        format: workspace.git.format,
        started,
    }
}

/// Decides what is taken in. Returns that, and the ignored files that are among it since they are chosen.
fn judge(
    workspace: &Locked,
    base: &Base,
    rules: &Rules,
    seen: &Seen,
) -> Result<(Passed, BTreeSet<RepoPath>)> {
    let status = &seen.status;
    let chosen: BTreeSet<&RepoPath> = seen.chosen.iter().collect();
    let new = status.untracked.iter().chain(&base.dropped);
    let excluded = matched(workspace, &rules.choice.exclude, new.chain(&seen.chosen))?;
    let ignored = seen.ignored.iter().cloned();
    let (included, ignored): (Vec<_>, Vec<_>) = ignored.partition(|path| chosen.contains(path));
    let known: BTreeSet<&RepoPath> = status.untracked.iter().chain(&base.extras).collect();
    let new = chosen.into_iter().filter(|path| !known.contains(path));
    let new: BTreeSet<RepoPath> = new.cloned().collect();
    let mut passed = Gate::new(&workspace.git.work_tree).judge(Found {
        status,
        base,
        unseen: &seen.anew,
        ignored: ignored.into_iter().collect(),
        included: &new,
        excluded: &excluded,
        limits: &rules.limits,
    });
    keep_large(workspace, base, &mut passed)?;
    let taken = |path: &RepoPath| passed.added.contains_key(path);
    let added = new.into_iter().filter(taken);
    let included = included.into_iter().chain(added).collect();
    Ok((passed, included))
}

/// Keeps files over the limit that the current snapshot holds just as they are: they cost nothing more. Only one of the
/// same size is read.
fn keep_large(workspace: &Locked, base: &Base, passed: &mut Passed) -> Result<()> {
    let large = passed
        .skipped
        .iter()
        .filter_map(|skipped| match skipped.why {
            Why::TooLarge(bytes) => Some((skipped.path.clone(), bytes)),
            _ => None,
        });
    let large: BTreeMap<RepoPath, u64> = large.collect();
    if large.is_empty() {
        return Ok(());
    }
    let Some(tree) = current_tree(workspace)? else {
        return Ok(());
    };
    let git = &workspace.git;
    let paths: Vec<RepoPath> = large.keys().cloned().collect();
    for (path, entry, bytes) in git.sized_entries_at(&tree, &paths)? {
        if bytes.is_some() && bytes.as_ref() != large.get(&path) {
            continue;
        }
        let now = disk_blob_id(&git.work_tree, &path, git.format);
        if now.is_ok_and(|now| now.as_ref() == Some(&entry.oid)) {
            passed.take_large(path, base);
        }
    }
    Ok(())
}

/// The paths that an index has.
fn tracked(workspace: &Locked, index: &PrivateIndex) -> Result<Vec<RepoPath>> {
    let listing = match index.file.exists() {
        true => workspace.git.list_index(&index.file)?,
        false => return Ok(Vec::new()),
    };
    Ok(listing.entries.into_iter().map(|e| e.path).collect())
}

impl Scan {
    /// What stands on disk behind conversions, looked at once.
    ///
    /// # Errors
    ///
    /// git failed, or a file that git could read can't be read any more.
    pub fn on_disk(&self, workspace: &Locked) -> Result<&OnDisk> {
        if let Some(on_disk) = self.on_disk.get() {
            return Ok(on_disk);
        }
        let found = bytes::of_scan(workspace, self)?;
        Ok(self.on_disk.get_or_init(|| found))
    }

    /// How files are looked at that were changed just before this scan.
    pub fn looking<'a>(&self, workspace: &'a Locked) -> Looking<'a> {
        looking(workspace, self.started)
    }

    /// The files whose time stamps are not those of the last snapshot, or that the last look did not find.
    ///
    /// git reads such a file, and where its conversion gives the same blob as before, tells nobody. Of one that was not
    /// there it has no stamp.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn touched(&self, workspace: &Locked) -> Result<Touched> {
        let cached = cached_index(workspace);
        if !self.base.is_after_last {
            return Ok(Touched::Unknown);
        }
        let stamp =
            |file: &Path| FileStamp::of(file).or_cannot(|| "can't read edio's index".into());
        // git writes an index only where it has seen something new.
        let is_same = self.base.is_cached() && stamp(&self.index.file)? == stamp(&cached)?;
        let mut touched = match is_same {
            true => Vec::new(),
            false => workspace.git.touched_since(&cached, &workspace.settings)?,
        };
        let lacked = workspace
            .state
            .cache
            .iter()
            .flat_map(|cache| &cache.dropped);
        touched.extend(lacked.chain(self.passed.added.keys()).cloned());
        Ok(Touched::These(touched))
    }

    /// The untracked files that no look has found before.
    pub fn added(&self) -> impl Iterator<Item = &RepoPath> {
        let was_there = |path: &RepoPath| self.base.dropped.binary_search(path).is_ok();
        let added = self.passed.added.keys();
        added.filter(move |path| !was_there(path))
    }

    /// The paths of which the tree has what was there before, since they can't be held.
    pub fn carried(&self) -> impl Iterator<Item = &RepoPath> {
        self.passed.kept.iter().chain(&self.passed.closed)
    }
}
