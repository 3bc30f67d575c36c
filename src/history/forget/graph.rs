//! The commits that only edio's refs lead to, and what each of them stands on.
//!
//! Most are edio's own. But a commit of the user's that was amended away, or an accept that was undone, can be there for
//! edio's sake alone, too: its content is forgotten as well.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::gitengine::{Commit, Oid};

use super::super::refnames::{self, SessionId};
use super::super::trailers::{self, Trailers};
use super::super::turn::{Kind, Turn};
use super::super::workspace::Workspace;

/// What a commit's tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A work tree: a snapshot's, that of an operation, or a commit's of the user's.
    WorkTree,
    /// What a work tree can't hold.
    Side,
}

/// A commit that can be written anew.
pub struct Node {
    /// The commit.
    pub commit: Commit,
    /// What its tree is.
    pub content: Content,
    /// The session that it is of.
    pub session: Option<SessionId>,
    /// The commits of these that it stands on: its parents, and those that its trailers name.
    pub below: BTreeSet<Oid>,
    /// The commits among its parents that the user's own refs hold.
    pub users: BTreeSet<Oid>,
}

/// The commits that are reached from some refs of edio's, down to those that the user's own refs hold.
#[derive(Default)]
pub struct Graph {
    nodes: BTreeMap<Oid, Node>,
    /// Those that no ref of the user's holds.
    alone: BTreeSet<Oid>,
    /// What a commit stands on comes before it.
    order: Vec<Oid>,
}

/// Does this trailer name a commit of the user's? It is theirs also where it was made from a turn.
fn names_users_commit(name: &str) -> bool {
    matches!(name, "Head" | "Head-Before" | "Head-After")
}

/// A step on the walk that puts each commit behind what it stands on.
enum Visit<'a> {
    /// To a commit, for what is below it.
    Come(&'a Oid),
    /// All below it is in its place.
    Leave(&'a Oid),
}

impl Node {
    /// Reads a commit; `None` where it is not edio's to write anew.
    fn read(commit: Commit, alone: &BTreeSet<Oid>) -> Option<Self> {
        let Some((_, trailers)) = trailers::parse(&commit.message) else {
            return alone.contains(&commit.oid).then(|| Self {
                content: Content::WorkTree,
                session: None,
                below: commit.parents.iter().cloned().collect(),
                users: BTreeSet::new(),
                commit,
            });
        };
        let mut users = users_parents(&commit, &trailers);
        users.retain(|oid| !alone.contains(oid));
        let parents = commit.parents.iter().filter(|oid| !users.contains(oid));
        Some(Self {
            content: match (trailers.get("Turn"), trailers.get("Op")) {
                (None, None) => Content::Side,
                _ => Content::WorkTree,
            },
            session: trailers.read("Session"),
            below: parents.cloned().collect(),
            users,
            commit,
        })
    }

    fn named(&self, alone: &BTreeSet<Oid>) -> Vec<Oid> {
        let trailers = trailers::parse(&self.commit.message).map(|(_, trailers)| trailers);
        let trailers = trailers.unwrap_or_default();
        let named = trailers.iter().filter_map(|(name, value)| {
            let oid = Oid::new(value)?;
            (!names_users_commit(name) || alone.contains(&oid)).then_some(oid)
        });
        named.collect()
    }
}

/// Where the history of a shallow clone ends, no parent is here: written anew, such a commit has none.
fn without_absent(mut commit: Commit, shallow: &BTreeSet<Oid>) -> Commit {
    if shallow.contains(&commit.oid) {
        commit.parents.clear();
    }
    commit
}

/// The baseline grows from HEAD's commit; an accept has the new one among its parents.
fn users_parents(commit: &Commit, trailers: &Trailers<'_>) -> BTreeSet<Oid> {
    let is_baseline = trailers.read("Kind") == Some(Kind::Baseline);
    let head_after = trailers.get("Head-After").and_then(Oid::new);
    let parents = commit.parents.iter().cloned();
    parents
        .filter(|oid| is_baseline || Some(oid) == head_after.as_ref())
        .collect()
}

impl Graph {
    /// Reads the commits that these lead to. It ends at those that the user's own refs hold.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn read<'a>(workspace: &Workspace, tips: impl Iterator<Item = &'a Oid>) -> Result<Self> {
        let tips: BTreeSet<&Oid> = tips.collect();
        if tips.is_empty() {
            return Ok(Self::default());
        }
        let listed = workspace.git.held_alone_below(&tips, refnames::ALL)?;
        let shallow = workspace.git.shallow_commits()?;
        let mut listed: BTreeMap<Oid, Commit> = listed
            .into_iter()
            .map(|commit| (commit.oid.clone(), without_absent(commit, &shallow)))
            .collect();
        let mut graph = Self {
            alone: listed.keys().cloned().collect(),
            ..Self::default()
        };
        let mut foreign = BTreeSet::new();
        let mut next: Vec<Oid> = tips.into_iter().cloned().collect();
        while let Some(oid) = next.pop() {
            if graph.nodes.contains_key(&oid) || foreign.contains(&oid) {
                continue;
            }
            // Not listed is what the user's own refs hold, too: a branch that was made at a turn.
            let commit = match listed.remove(&oid) {
                Some(commit) => Some(commit),
                None => workspace.git.commits(std::slice::from_ref(&oid))?.pop(),
            };
            match commit.and_then(|commit| Node::read(commit, &graph.alone)) {
                Some(node) => {
                    next.extend(node.below.iter().cloned());
                    graph.nodes.insert(oid, node);
                }
                None => drop(foreign.insert(oid)),
            }
        }
        graph.tie();
        Ok(graph)
    }

    /// Finds out what stands on what, and in which order.
    fn tie(&mut self) {
        let known: BTreeSet<Oid> = self.nodes.keys().cloned().collect();
        for node in self.nodes.values_mut() {
            let (below, users) = node
                .below
                .iter()
                .cloned()
                .partition(|oid| known.contains(oid));
            node.below = below;
            node.users.extend::<BTreeSet<Oid>>(users);
            let named = node.named(&self.alone);
            node.below
                .extend(named.into_iter().filter(|oid| known.contains(oid)));
        }
        let mut seen = BTreeSet::new();
        let mut visits: Vec<Visit<'_>> = self.nodes.keys().map(Visit::Come).collect();
        while let Some(visit) = visits.pop() {
            match visit {
                Visit::Leave(oid) => self.order.push(oid.clone()),
                Visit::Come(oid) if seen.insert(oid) => {
                    visits.push(Visit::Leave(oid));
                    let below = self.nodes.get(oid).into_iter().flat_map(|node| &node.below);
                    visits.extend(below.map(Visit::Come));
                }
                Visit::Come(_) => {}
            }
        }
    }

    /// Can what this trailer names be written anew with it? What the user's own refs hold stays theirs.
    pub fn may_follow(&self, trailer: &str, named: &Oid) -> bool {
        !names_users_commit(trailer) || self.alone.contains(named)
    }

    /// All of them; what one stands on comes before it.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.order.iter().filter_map(|oid| self.nodes.get(oid))
    }

    /// These, and all that they stand on.
    pub fn below<'a>(&self, tips: impl Iterator<Item = &'a Oid>) -> Vec<&Node> {
        let mut found: BTreeMap<&Oid, &Node> = BTreeMap::new();
        let mut next: Vec<&Node> = tips.filter_map(|oid| self.nodes.get(oid)).collect();
        while let Some(node) = next.pop() {
            if found.insert(&node.commit.oid, node).is_none() {
                next.extend(node.below.iter().filter_map(|oid| self.nodes.get(oid)));
            }
        }
        found.into_values().collect()
    }

    /// The snapshot that this one grew from, if it is among these.
    pub fn grew_from(&self, turn: &Turn) -> Option<Turn> {
        let before = self.nodes.get(turn.parent.as_ref()?)?;
        Turn::read(&before.commit).filter(|_| turn.note.kind != Kind::Baseline)
    }

    /// The snapshot that the lines of this one were counted against: the last numbered one on its line, for a step the one
    /// before.
    pub fn counted_against(&self, turn: &Turn) -> Option<Turn> {
        let mut before = self.grew_from(turn)?;
        while turn.note.kind != Kind::Step && before.note.kind == Kind::Step {
            before = self.grew_from(&before)?;
        }
        Some(before)
    }
}
