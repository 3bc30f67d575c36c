//! What the versions of a file are, and which lines they have.

use std::collections::{BTreeMap, HashSet};

use crate::error::Result;
use crate::gitengine::{Line, Oid, RepoPath, SIGNS};

use super::super::workspace::Workspace;

/// Knows them, once they were asked for.
#[derive(Default)]
pub struct Versions {
    /// What commits have at paths.
    blobs: BTreeMap<RepoPath, BTreeMap<Oid, Option<Oid>>>,
    /// The lines of contents.
    lines: BTreeMap<Oid, HashSet<Line>>,
}

impl Versions {
    /// Asks what these commits have at a path.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn learn(&mut self, workspace: &Workspace, path: &RepoPath, commits: &[Oid]) -> Result<()> {
        let known = self.blobs.entry(path.clone()).or_default();
        let new = commits.iter().filter(|oid| !known.contains_key(*oid));
        let new: Vec<&Oid> = new.collect();
        if new.is_empty() {
            return Ok(());
        }
        let blobs = workspace.git.blobs_at(&new, path)?;
        known.extend(new.into_iter().cloned().zip(blobs));
        Ok(())
    }

    /// What a commit has at a path, where that was asked.
    pub fn at(&self, commit: &Oid, path: &RepoPath) -> Option<Oid> {
        self.blobs.get(path)?.get(commit)?.clone()
    }

    /// Reads the lines of all versions of a file that are known, at once.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn read_all(&mut self, workspace: &Workspace, path: &RepoPath) -> Result<()> {
        let blobs = self.blobs.get(path).into_iter().flat_map(BTreeMap::values);
        let blobs: Vec<Oid> = blobs.flatten().cloned().collect();
        self.read(workspace, &blobs)
    }

    fn read(&mut self, workspace: &Workspace, blobs: &[Oid]) -> Result<()> {
        let new = blobs.iter().filter(|blob| !self.lines.contains_key(*blob));
        let new: HashSet<Oid> = new.cloned().collect();
        let new: Vec<Oid> = new.into_iter().collect();
        if new.is_empty() {
            return Ok(());
        }
        let mut objects = workspace.git.objects(&new)?;
        for blob in new {
            let length = objects.next_of("blob", &blob)?;
            let content = objects.answer.exactly(length)?;
            objects.end_of_object()?;
            self.lines.insert(blob, Line::all_of(&content).collect());
        }
        Ok(objects.answer.close()?)
    }

    /// Did enough of these lines stand in an earlier content, and not in the one before? A few signs say nothing.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn came_back(
        &mut self,
        workspace: &Workspace,
        lines: &[Line],
        earlier: &Oid,
        before: Option<&Oid>,
    ) -> Result<bool> {
        self.read(workspace, std::slice::from_ref(earlier))?;
        let mut back: Vec<&Line> = lines
            .iter()
            .filter(|line| self.is_in(earlier, line))
            .collect();
        if let Some(before) = before.filter(|_| signs(&back) >= SIGNS) {
            self.read(workspace, std::slice::from_ref(before))?;
            back.retain(|line| !self.is_in(before, line));
        }
        Ok(signs(&back) >= SIGNS)
    }

    /// Has a content this line?
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn has(&mut self, workspace: &Workspace, blob: &Oid, line: Line) -> Result<bool> {
        self.read(workspace, std::slice::from_ref(blob))?;
        Ok(self.is_in(blob, &line))
    }

    fn is_in(&self, blob: &Oid, line: &Line) -> bool {
        self.lines
            .get(blob)
            .is_some_and(|lines| lines.contains(line))
    }
}

fn signs(lines: &[&Line]) -> usize {
    lines.iter().map(|line| line.signs).sum()
}
