//! What the person has chosen to have in turns although git ignores it (`edio.include`), and what is to stay out of
//! them although git does not (`edio.exclude`).
//!
//! A turn notes what was chosen when it was taken: what it lacks because nobody looked is not to be removed for its sake.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::gitengine::{Patterns, RepoPath, Settings};

use super::trailers::Trailers;
use super::workspace::Locked;

/// The choice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Ignored files that are held all the same.
    pub include: Patterns,
    /// Files that are held by no turn, and touched by no restore.
    pub exclude: Patterns,
}

impl Choice {
    /// What is set.
    pub fn of(settings: &Settings) -> Self {
        Self {
            include: Patterns::new(settings.all("edio.include")),
            exclude: Patterns::new(settings.all("edio.exclude")),
        }
    }

    /// Adds the choice to what is said of a turn.
    #[must_use]
    pub fn note<'a>(&self, trailers: Trailers<'a>) -> Trailers<'a> {
        trailers
            .with_some("Include", write(&self.include))
            .with_some("Exclude", write(&self.exclude))
    }

    /// Reads what [`Choice::note`] added.
    pub fn read(trailers: &Trailers<'_>) -> Option<Self> {
        let patterns = |name| match trailers.get(name) {
            None => Some(Patterns::default()),
            Some(json) => {
                let lines: Vec<String> = serde_json::from_str(json).ok()?;
                Some(Patterns::new(lines))
            }
        };
        Some(Self {
            include: patterns("Include")?,
            exclude: patterns("Exclude")?,
        })
    }

    /// The same for two choices that say the same.
    pub fn in_words(&self) -> String {
        format!("{:?}", (&self.include, &self.exclude))
    }
}

fn write(patterns: &Patterns) -> Option<String> {
    let lines = (!patterns.is_empty()).then(|| patterns.lines())?;
    serde_json::to_string(&lines).ok()
}

/// The paths among these that the patterns match.
///
/// # Errors
///
/// git failed, or the git directory can't be written.
pub fn matched<'a>(
    workspace: &Locked,
    patterns: &Patterns,
    paths: impl IntoIterator<Item = &'a RepoPath>,
) -> Result<BTreeSet<RepoPath>> {
    if patterns.is_empty() {
        return Ok(BTreeSet::new());
    }
    let paths: Vec<RepoPath> = paths.into_iter().cloned().collect();
    let folder = workspace.scratch().join("rules");
    let git = &workspace.git;
    let asked = git.ask_matched(patterns, &folder, &workspace.settings, &paths)?;
    Ok(asked.ignored()?.into_iter().collect())
}
