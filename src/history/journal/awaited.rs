//! Files that an agent's tool is about to write, and that are to be in the journal.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::gitengine::{RepoPath, git_bytes};

use super::super::choice::{Choice, matched};
use super::super::guard::{Guard, Guarded};
use super::super::realpath::real;
use super::super::state::Standing;
use super::super::workspace::{Locked, Workspace};
use super::beyond::Of;
use super::look::stood;
use super::{File, First, Place, keep_content, known};

/// Has the files among these that no snapshot holds be in the journal from the next snapshot on, if the person has turned
/// that on. What they hold is kept at once: the tool may not wait for the snapshot. `is_late` tells whether it has not.
///
/// # Errors
///
/// git failed, or the content can't be kept.
pub fn await_files(
    workspace: &mut Locked,
    standing: Option<&Standing>,
    files: &[PathBuf],
    is_late: &dyn Fn() -> bool,
) -> Result<()> {
    if files.is_empty() || !Guard::of(&workspace.settings).has(Guarded::Journal) {
        return Ok(());
    }
    let known = known(workspace, standing)?;
    let is_new = |place: &Place| {
        let awaited = &workspace.state.journal.awaited;
        known.get(place).is_none() && !awaited.iter().any(|file| &file.place == place)
    };
    let places = files.iter().filter_map(|file| place_of(workspace, file));
    let places: BTreeSet<Place> = places.filter(is_new).collect();
    let scratch = workspace.scratch();
    let mut found = Vec::new();
    for place in unheld(workspace, places)? {
        if let Some(stood) = stood(workspace, &place)? {
            keep_content(workspace, Of::Nobody(&scratch), &place, &stood)?;
            let now = stood.entry(workspace.git.format);
            let first = match is_late() {
                true => First::Unknown,
                false => First::Held(now.clone()),
            };
            let bits = stood.bits();
            found.push(File {
                place,
                now,
                first,
                bits,
            });
        }
    }
    if found.is_empty() {
        return Ok(());
    }
    // They are needed though the snapshot fails, and no ref leads to them yet.
    workspace.git.give_objects()?;
    workspace.state.journal.awaited.extend(found);
    workspace.state.save(&workspace.scratch())
}

/// Where a file stands that a tool names, behind all links. `None` where that can't be said, or is in a git directory.
fn place_of(workspace: &Workspace, file: &Path) -> Option<Place> {
    let git = &workspace.git;
    // Of what is not there yet, the folders that are there tell.
    let real = real(&git.work_tree.join(file))?;
    let folders = [&git.git_dir, &git.common_dir];
    let mut folders = folders
        .iter()
        .filter_map(|folder| folder.canonicalize().ok());
    if folders.any(|folder| real.starts_with(folder)) {
        return None;
    }
    match real.strip_prefix(&git.work_tree) {
        Ok(path) => RepoPath::new(git_bytes(path)).map(Place::Within),
        Err(_) => RepoPath::new(git_bytes(real.strip_prefix("/").ok()?)).map(Place::Beyond),
    }
}

/// Those that git ignores, unless the person has chosen them to be held, or to be left alone; and those outside.
fn unheld(workspace: &Locked, places: BTreeSet<Place>) -> Result<Vec<Place>> {
    let within = places.iter().filter_map(|place| match place {
        Place::Within(path) => Some(path.clone()),
        Place::Beyond(_) => None,
    });
    let within: Vec<RepoPath> = within.collect();
    let mut ignored = Vec::new();
    if !within.is_empty() {
        let git = &workspace.git;
        let by_rules = git.ask_ignored(&within)?.ignored()?;
        ignored = git.ask_untracked_ignored(&by_rules)?.ignored()?;
        let choice = Choice::of(&workspace.settings);
        let included = matched(workspace, &choice.include, &ignored)?;
        let excluded = matched(workspace, &choice.exclude, &ignored)?;
        ignored.retain(|path| !included.contains(path) && !excluded.contains(path));
    }
    let is_unheld = |place: &Place| match place {
        Place::Within(path) => ignored.contains(path),
        Place::Beyond(_) => true,
    };
    Ok(places.into_iter().filter(is_unheld).collect())
}
