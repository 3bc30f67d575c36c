//! Which snapshot grew from which.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::gitengine::Oid;
use crate::history::refnames::SessionId;
use crate::history::turn::{Kind, Turn};

/// Snapshots by their commits, each of which knows the one it grew from.
#[derive(Clone, Debug, Default)]
pub struct Lineage<'a>(pub(super) BTreeMap<Oid, Cow<'a, Turn>>);

impl Lineage<'_> {
    /// The snapshot of this commit.
    pub fn of(&self, commit: &Oid) -> Option<&Turn> {
        self.0.get(commit).map(AsRef::as_ref)
    }

    /// All of them.
    pub fn turns(&self) -> impl Iterator<Item = &Turn> {
        self.0.values().map(AsRef::as_ref)
    }

    /// The snapshots on the way to this one, the nearest first, up to the numbered turn or the baseline that it is measured
    /// against.
    pub fn before(&self, turn: &Turn) -> (Vec<&Turn>, Option<&Turn>) {
        let mut steps = Vec::new();
        let mut next = turn.parent.as_ref();
        while let Some(found) = next.and_then(|oid| self.of(oid)) {
            if found.note.kind != Kind::Step {
                return (steps, Some(found));
            }
            steps.push(found);
            next = found.parent.as_ref();
        }
        (steps, None)
    }

    /// What a turn is measured against. Where that is not known, nothing counts as its change.
    pub fn tree_before(&self, turn: &Turn) -> Oid {
        let (_, before) = self.before(turn);
        before.map_or(&turn.tree, |before| &before.tree).clone()
    }

    /// The baseline of a session.
    pub fn baseline(&self, id: &SessionId) -> Option<&Turn> {
        let mut own = self.turns().filter(|turn| &turn.note.session == id);
        own.find(|turn| turn.note.kind == Kind::Baseline)
    }
}
