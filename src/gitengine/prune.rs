//! Trees and commits written anew without something.

use std::collections::{BTreeMap, BTreeSet};

use bstr::ByteSlice;

use super::command::Git;
use super::error::{GitError, Result};
use super::objects::{Oid, one_oid};
use super::paths::{RepoPath, os_path};
use super::trees::{Item, items};

/// So many trees are held in memory at a time.
const CHUNK: usize = 50;

/// What is to go of a folder: some names as a whole, of others what is to go below them.
#[derive(Default)]
struct Cut {
    /// The path that goes, where all of it does.
    whole: Option<RepoPath>,
    below: BTreeMap<Vec<u8>, Cut>,
}

impl Cut {
    fn of(paths: &[RepoPath]) -> Self {
        let mut top = Self::default();
        for path in paths {
            let mut cut = &mut top;
            for name in path.as_bytes().split_str("/") {
                cut = cut.below.entry(name.to_vec()).or_default();
            }
            cut.whole = Some(path.clone());
        }
        top
    }
}

/// What was cut off trees.
#[derive(Debug, Default)]
pub struct Pruned {
    /// What each tree has become, where it has become another.
    pub trees: BTreeMap<Oid, Oid>,
    /// The files and links that are gone.
    pub gone: BTreeSet<Oid>,
    /// The paths that were there to be cut off, in one tree at least.
    pub found: BTreeSet<RepoPath>,
}

/// Whether what only a reflog leads to is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reflogs {
    /// It is.
    Too,
    /// It is not.
    Not,
}

/// What a folder has become: nothing is left of it where this is `None`.
type Left = BTreeMap<Oid, Option<Oid>>;

/// Cuts off trees, and keeps what goes.
struct Pruning<'a> {
    git: &'a Git,
    gone: BTreeSet<(&'static str, Oid)>,
    found: BTreeSet<RepoPath>,
}

impl Git {
    /// Writes each of these trees without these paths and what is below them. A folder that becomes empty goes.
    ///
    /// # Errors
    ///
    /// One of them can't be read, or git failed.
    pub fn trees_without(&self, trees: &BTreeSet<Oid>, paths: &[RepoPath]) -> Result<Pruned> {
        let cut = Cut::of(paths);
        let mut pruning = Pruning {
            git: self,
            gone: BTreeSet::new(),
            found: BTreeSet::new(),
        };
        let mut pruned = Pruned::default();
        let trees: Vec<&Oid> = trees.iter().collect();
        for chunk in trees.chunks(CHUNK) {
            for (old, left) in pruning.cut(chunk.iter().copied().cloned().collect(), &cut)? {
                let new = left.map_or_else(|| self.empty_tree(), Ok)?;
                pruned.trees.insert(old, new);
            }
        }
        pruned.found = pruning.found;
        for (kind, oid) in pruning.gone {
            match kind {
                "tree" => {
                    let files = self.tree_entries(&oid)?;
                    pruned.gone.extend(files.into_iter().map(|(_, e)| e.oid));
                }
                "blob" => drop(pruned.gone.insert(oid)),
                _ => {}
            }
        }
        Ok(pruned)
    }

    /// Writes a commit that says the same as this one, given as it is stored, but for its tree, parents and message.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn write_commit_like(
        &self,
        raw: &[u8],
        tree: &Oid,
        parents: &[Oid],
        message: &[u8],
    ) -> Result<Oid> {
        let mut new = format!("tree {tree}\n").into_bytes();
        for parent in parents {
            new.extend_from_slice(format!("parent {parent}\n").as_bytes());
        }
        let head = raw.split_once_str("\n\n").map_or(raw, |(head, _)| head);
        let mut kept = true;
        for line in head.split_str("\n") {
            // A signature would be wrong now; its further lines begin with a blank.
            kept = match line.first() {
                Some(b' ') => kept,
                _ => !["tree ", "parent ", "gpgsig"]
                    .iter()
                    .any(|key| line.starts_with(key.as_bytes())),
            };
            if kept {
                new.extend_from_slice(line);
                new.push(b'\n');
            }
        }
        new.push(b'\n');
        new.extend_from_slice(message);
        one_oid("git hash-object", &self.ask_to_commit().input(new).run()?)
    }

    /// The objects that these commits lead to, with a name under which each is found. Not among them is what the user's
    /// own refs hold: all refs but those below that folder.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn objects_below(&self, tips: &[Oid], without: &str) -> Result<BTreeMap<Oid, Vec<u8>>> {
        let lines: String = tips.iter().map(|tip| format!("{tip}\n")).collect();
        let ask =
            self.ask("rev-list")
                .args(["--objects", "--missing=allow-any", "--stdin", "--not"]);
        let ask = ask.arg(format!("--exclude={without}*"));
        let ask = ask.args(["--all", "--reflog", "--indexed-objects"]);
        let output = ask.input(lines).run()?;
        let object = |line: &[u8]| {
            let (oid, name) = line.split_once_str(" ").unwrap_or((line, b""));
            Some((Oid::from_bytes(oid)?, name.to_vec()))
        };
        // A name with a line break in it is cut off there.
        let objects: Option<BTreeMap<_, _>> = output.lines().map(object).collect();
        objects
            .ok_or_else(|| GitError::unexpected("git rev-list --objects", "a line without an id"))
    }

    /// A commit that has changed one of these paths, and is reached from these, or from any ref but those below that
    /// folder.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn commit_with(
        &self,
        paths: &[RepoPath],
        tips: &BTreeSet<&Oid>,
        without: &str,
        reflogs: Reflogs,
    ) -> Result<Option<Oid>> {
        let ask = self
            .ask("rev-list")
            .args(["--max-count=1", "--full-history"])
            .arg(format!("--exclude={without}*"))
            .args(["--all", "--ignore-missing"]);
        let ask = match reflogs {
            Reflogs::Too => ask.arg("--reflog"),
            Reflogs::Not => ask,
        };
        let ask = ask.args(tips).arg("--");
        let output = ask
            .args(paths.iter().map(|p| os_path(p.as_bytes())))
            .run()?;
        match output.is_empty() {
            true => Ok(None),
            false => one_oid("git rev-list", &output).map(Some),
        }
    }
}

impl Pruning<'_> {
    /// Cuts the same off all of these trees. Those that stay as they are, are not in the answer.
    fn cut(&mut self, trees: BTreeSet<Oid>, cut: &Cut) -> Result<Left> {
        let mut concerned = self.read(trees, cut)?;
        let mut below = BTreeMap::new();
        for (name, inner) in cut.below.iter().filter(|(_, inner)| inner.whole.is_none()) {
            let items = concerned.iter().flat_map(|(_, items)| items);
            let folders = items.filter(|item| &item.name == name && item.is_tree());
            let folders: BTreeSet<Oid> = folders.map(|item| item.oid.clone()).collect();
            if !folders.is_empty() {
                below.insert(name, self.cut(folders, inner)?);
            }
        }
        for (_, items) in &mut concerned {
            items.retain_mut(|item| {
                let Some(inner) = cut.below.get(&item.name) else {
                    return true;
                };
                if let Some(path) = &inner.whole {
                    self.found.insert(path.clone());
                    self.gone.insert((item.kind(), item.oid.clone()));
                    return false;
                }
                let left = below.get(&item.name).and_then(|left| left.get(&item.oid));
                match left.filter(|_| item.is_tree()) {
                    None => true,
                    Some(None) => false,
                    Some(Some(new)) => {
                        item.oid = new.clone();
                        true
                    }
                }
            });
        }
        self.write(concerned)
    }

    /// The trees that have one of the names at all.
    fn read(&self, trees: BTreeSet<Oid>, cut: &Cut) -> Result<Vec<(Oid, Vec<Item>)>> {
        let trees: Vec<Oid> = trees.into_iter().collect();
        let mut found = Vec::new();
        for (oid, raw) in trees.iter().zip(self.git.raw_objects("tree", &trees)?) {
            let items = items(&raw, self.git.format).ok_or_else(|| {
                GitError::unexpected("git cat-file --batch", format!("the tree {oid} is broken"))
            })?;
            if items.iter().any(|item| cut.below.contains_key(&item.name)) {
                found.push((oid.clone(), items));
            }
        }
        Ok(found)
    }

    fn write(&self, trees: Vec<(Oid, Vec<Item>)>) -> Result<Left> {
        let mut left = Left::new();
        let (empty, full): (Vec<_>, Vec<_>) =
            trees.into_iter().partition(|(_, items)| items.is_empty());
        left.extend(empty.into_iter().map(|(old, _)| (old, None)));
        let written = self
            .git
            .write_trees(full.iter().map(|(_, items)| items.as_slice()))?;
        let pairs = full.into_iter().map(|(old, _)| old).zip(written);
        left.extend(
            pairs
                .filter(|(old, new)| old != new)
                .map(|(old, new)| (old, Some(new))),
        );
        Ok(left)
    }
}
