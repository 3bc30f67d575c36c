//! The sessions of the repository, in short: where each stands, and what was done last in it.

use crate::error::Result;
use crate::gitengine::{Commit, Oid};

use super::super::ops::{Deed, Operation};
use super::super::refnames::{self, Leaf, SessionId, Shelf};
use super::super::turn::Turn;
use super::super::workspace::Workspace;

/// A session, in short.
#[derive(Clone)]
pub struct Other {
    /// Its id.
    pub id: SessionId,
    /// Where it stands.
    pub current: Turn,
    /// What was done last in it.
    pub last: Option<Operation>,
}

impl Other {
    /// The commit that it became, and the turn that was accepted.
    pub fn accepted(&self) -> Option<(&Oid, &Oid)> {
        let last = self.last.as_ref()?;
        let after = last.head_after.as_ref()?;
        (last.deed == Deed::Accept).then_some((after, &last.to))
    }

    /// Was it put away before this session began, though that may have been in the same second?
    pub fn ended_before(&self, baseline: &Turn) -> bool {
        let is_soon = self.current.seconds == baseline.seconds;
        is_soon
            && self.last.as_ref().is_some_and(|last| match last.deed {
                Deed::Accept => last.head_after == baseline.note.head.commit,
                Deed::Close => true,
                _ => false,
            })
    }
}

/// All of them, the one that was used last first.
///
/// # Errors
///
/// git failed.
pub fn all(workspace: &Workspace) -> Result<Vec<Other>> {
    let patterns = [refnames::ACTIVE, refnames::ARCHIVE, refnames::SHARED]
        .iter()
        .flat_map(|folder| [Leaf::Current, Leaf::Ops].map(|leaf| format!("{folder}*/{leaf}")));
    let patterns: Vec<String> = patterns.collect();
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    let refs = workspace.git.ref_commits(&patterns)?;
    let of = |wanted: Leaf| {
        let found = refs.whole.iter().filter_map(|found| {
            let (shelf, id, leaf) = refnames::parse(&found.name)?;
            (leaf == wanted).then_some((shelf, id, &found.commit))
        });
        found.collect::<Vec<(Shelf, SessionId, &Commit)>>()
    };
    let operations = of(Leaf::Ops);
    let mut others: Vec<Other> = of(Leaf::Current)
        .into_iter()
        .filter_map(|(shelf, id, commit)| {
            let last = operations
                .iter()
                .find(|(other, of, _)| (*other, of) == (shelf, &id));
            Some(Other {
                current: Turn::read(commit)?,
                last: last.and_then(|(_, _, commit)| Operation::read(commit)),
                id,
            })
        })
        .collect();
    others.sort_by_key(|other| std::cmp::Reverse(other.current.seconds));
    Ok(others)
}
