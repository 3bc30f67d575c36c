//! The ignore rules of a goal, where they are others than those on disk.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::error::{Result, While};
use crate::gitengine::{Difference, Entry, Oid, RepoPath};

use super::super::scan::{Scan, is_temporary};
use super::super::workspace::Locked;
use super::plan::candidates;
use super::{Goal, clear_folder};

const IGNORE_FILE: &[u8] = b".gitignore";

/// Do the ignore rules of the goal differ from those on disk?
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    /// They do.
    Differ,
    /// They do not.
    Same,
    /// They may: not all of the work tree is compared with the goal.
    Unknown,
}

impl Rules {
    /// What these differences make of them.
    pub fn between(goal: &Goal<'_>, differences: &[Difference]) -> Self {
        let differ = differences.iter().map(|difference| &difference.path);
        let mut differ = differ.chain(goal.ignored.iter().map(|(path, _)| path));
        match differ.any(|path| path.name() == IGNORE_FILE) {
            true => Rules::Differ,
            false => Rules::Same,
        }
    }
}

/// What the rules of a goal match.
pub struct Matched {
    /// The paths among those that would be removed which they match.
    pub ignored_then: BTreeSet<RepoPath>,
    /// Files, and folders with files, which they do not match, unlike those on disk. No turn holds them as they are now.
    pub ignored_until_now: BTreeSet<RepoPath>,
}

impl Matched {
    /// What the rules of a goal match of what would be removed of these differences, and of what is on disk.
    ///
    /// # Errors
    ///
    /// git failed, or the git directory can't be written.
    pub fn by(
        rules: Rules,
        workspace: &Locked,
        scan: &Scan,
        goal: &Goal<'_>,
        differences: &[Difference],
    ) -> Result<Self> {
        let removed = candidates(differences);
        let mut matched = Self {
            ignored_then: scan.included.clone(),
            ignored_until_now: BTreeSet::new(),
        };
        if rules == Rules::Same || rules == Rules::Unknown && removed.is_empty() {
            return Ok(matched);
        }
        // git reads the rules of a `.gitignore` from disk. So the goal's are laid out in a folder of their own.
        let stage = workspace.scratch().join("stage");
        lay_out(workspace, goal, &stage)?;
        matched.ignored_then = ignored_under(workspace, &stage, &removed)?;
        if rules == Rules::Differ {
            let held = differences.iter().filter(|d| d.new.is_some());
            let held = held.map(|difference| &difference.path);
            let held = held.chain(&scan.included).chain(goal.way.there.keys());
            matched.ignored_until_now = ignored_until_now(workspace, &stage, &held.collect())?;
        }
        clear_folder(&stage)?;
        Ok(matched)
    }
}

fn lay_out(workspace: &Locked, goal: &Goal<'_>, stage: &Path) -> Result<()> {
    clear_folder(stage)?;
    let mut rules = workspace.git.tree_files_named(goal.tree, IGNORE_FILE)?;
    let is_rules =
        |(path, entry): &&(RepoPath, Entry)| path.name() == IGNORE_FILE && entry.mode.is_file();
    rules.extend(goal.ignored.iter().filter(is_rules).cloned());
    let oids: Vec<Oid> = rules.iter().map(|(_, entry)| entry.oid.clone()).collect();
    let mut objects = workspace.git.objects(&oids)?;
    for (path, entry) in &rules {
        let length = objects.next_of("blob", &entry.oid)?;
        let bytes = objects.answer.exactly(length)?;
        objects.end_of_object()?;
        let file = path.below(stage);
        let folder = file.parent().unwrap_or(stage);
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&file, bytes))
            .or_cannot(|| format!("can't write {}", file.display()))?;
    }
    Ok(objects.answer.close()?)
}

fn ignored_under(
    workspace: &Locked,
    stage: &Path,
    paths: &[RepoPath],
) -> Result<BTreeSet<RepoPath>> {
    let asked = workspace.git.ask_ignored_under(stage, paths)?;
    Ok(asked.ignored()?.into_iter().collect())
}

/// What stays behind as if it were new, without what is held. A folder of which all is ignored stands for what is in it,
/// unless the rules of the goal match all of that, too.
fn ignored_until_now(
    workspace: &Locked,
    stage: &Path,
    held: &BTreeSet<&RepoPath>,
) -> Result<BTreeSet<RepoPath>> {
    let git = &workspace.git;
    let now = git.ignored_on_disk()?;
    let then = ignored_under(workspace, stage, &now)?;
    let open: Vec<RepoPath> = now
        .into_iter()
        .filter(|path| !then.contains(path))
        .collect();
    let files = git.ignored_files_within(&open)?;
    let then = ignored_under(workspace, stage, &files)?;
    let is_left = |path: &RepoPath| {
        !then.contains(path) && !held.contains(path) && !is_temporary(path.name())
    };
    let left = files.into_iter().filter(is_left);
    let left: BTreeSet<RepoPath> = left
        .flat_map(|file| file.ancestors().chain([file.clone()]).collect::<Vec<_>>())
        .collect();
    Ok(open
        .into_iter()
        .filter(|path| left.contains(path))
        .collect())
}
