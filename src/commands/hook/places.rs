//! The work trees that an event concerns.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::super::stores;
use super::guarding;
use crate::agents::event::{Event, Tool, Touched, What};
use crate::env;
use crate::history::workspace::{self, top_near};

/// How many folders are looked through for repositories of one workspace.
const FOLDERS: usize = 200;

/// A work tree in which something is to be done.
pub struct Job {
    /// A folder in it.
    pub folder: PathBuf,
    /// The files in it that a tool has touched, where that is known.
    pub files: Option<Vec<PathBuf>>,
}

impl Job {
    /// All of a work tree.
    pub fn whole(folder: PathBuf) -> Self {
        Self {
            folder,
            files: None,
        }
    }
}

/// The work trees in which the agent works, by their tops.
pub fn homes(event: &Event) -> Vec<PathBuf> {
    let folders = match event.folders.is_empty() {
        true => env::directory().into_iter().collect(),
        false => event.folders.clone(),
    };
    let mut homes: Vec<PathBuf> = Vec::new();
    for top in folders.iter().flat_map(|folder| tops_at(folder)) {
        if !homes.contains(&top) {
            homes.push(top);
        }
    }
    homes
}

/// Where something is to be done, by what happened.
pub fn jobs(event: &Event, homes: &[PathBuf]) -> Vec<Job> {
    match &event.what {
        What::Using(Tool {
            touched: Touched::Files(files),
            ..
        })
        | What::Used(Tool {
            touched: Touched::Files(files),
            ..
        }) => by_work_tree(files, homes),
        What::Used(tool) if tool.touched == Touched::Nothing => {
            homes.iter().take(1).cloned().map(Job::whole).collect()
        }
        _ => homes.iter().cloned().map(Job::whole).collect(),
    }
}

/// The work tree that a folder lies in; or those right below it in which edio is known, where several repositories make
/// up one workspace.
fn tops_at(folder: &Path) -> Vec<PathBuf> {
    if env::git_is_told_where() {
        return vec![folder.to_owned()];
    }
    if let Some(top) = top_of(folder) {
        return vec![top];
    }
    let Ok(entries) = folder.read_dir() else {
        return Vec::new();
    };
    let below = entries.flatten().take(FOLDERS).map(|entry| entry.path());
    below
        .filter(|below| scratch_near(below).is_some())
        .collect()
}

fn top_of(folder: &Path) -> Option<PathBuf> {
    top_near(folder, &stores())
}

/// edio's scratch folder of the work tree that a folder seems to lie in, if it is there.
pub fn scratch_near(folder: &Path) -> Option<PathBuf> {
    workspace::scratch_near(folder, &stores())
}

/// Files that lie in none are a matter of the one that the agent works in, where that keeps a journal.
fn by_work_tree(files: &[PathBuf], homes: &[PathBuf]) -> Vec<Job> {
    let mut by_top: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    let home = || {
        homes
            .iter()
            .find(|home| guarding::has_journal(home))
            .cloned()
    };
    // An agent that does not say where it works works here.
    let here = env::directory().unwrap_or_default();
    for file in files.iter().map(|file| here.join(file)) {
        if let Some(top) = file.parent().and_then(top_of).or_else(home) {
            by_top.entry(top).or_default().push(file);
        }
    }
    let job = |(folder, files)| Job {
        folder,
        files: Some(files),
    };
    by_top.into_iter().map(job).collect()
}
