//! A tree with a few paths changed, made without an index: what it costs follows the folders on the way to them, not
//! the size of the project.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use bstr::ByteSlice;

use super::command::{Answer, Git};
use super::error::Result;
use super::objects::{Entry, Mode, ObjectFormat, Oid};
use super::paths::RepoPath;
use super::trees::{Item, items};
use super::unpack::{Kind, Made};

/// The folders on the way to the paths, by their path: the top is the empty one.
type Folders = BTreeMap<Vec<u8>, Vec<Item>>;

/// Folders of a tree, read.
pub struct Grafting {
    root: Oid,
    folders: Folders,
}

impl Git {
    /// Reads the folders of a tree on the way to these paths. `None` where a file, a link or a submodule stands in the
    /// way, or a folder at one of them; or where a name can't be asked for.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn read_for_graft(&self, tree: &Oid, paths: &[RepoPath]) -> Result<Option<Grafting>> {
        let folders: BTreeSet<Vec<u8>> = paths
            .iter()
            .flat_map(RepoPath::ancestors)
            .map(|folder| folder.as_bytes().to_vec())
            .collect();
        if folders.iter().any(|folder| folder.contains(&b'\n')) {
            return Ok(None);
        }
        let names = [Vec::new()].into_iter().chain(folders);
        let names: Vec<Vec<u8>> = names.collect();
        let lines = names
            .iter()
            .map(|name| [b"contents ", tree.as_str().as_bytes(), b":", name, b"\n"].concat());
        let lines = lines.collect::<Vec<_>>().concat();
        let mut answer = self.ask_to_read().input(lines).read()?;
        let mut folders = Folders::new();
        let mut fits = true;
        for name in names {
            match self.next_folder(&mut answer)? {
                Some(items) => drop(folders.insert(name, items)),
                None => fits = false,
            }
        }
        answer.close()?;
        let grafting = Grafting {
            root: tree.clone(),
            folders,
        };
        let fits = fits && !paths.iter().any(|path| grafting.is_in_the_way(path));
        Ok(fits.then_some(grafting))
    }

    /// The items of the next folder in the answer: none where there is no such folder, `None` where it is something else.
    fn next_folder(&self, answer: &mut Answer) -> Result<Option<Vec<Item>>> {
        let header = answer.record(b'\n')?.unwrap_or_default();
        if header.ends_with(b" missing") {
            return Ok(Some(Vec::new()));
        }
        let words: Vec<&[u8]> = header.split_str(" ").collect();
        let [_, kind, length] = words.as_slice() else {
            return Err(answer.unexpected(format!("{:?}", header.as_bstr())));
        };
        let length = length.to_str().ok().and_then(|length| length.parse().ok());
        let length = length.ok_or_else(|| answer.unexpected("an object without its length"))?;
        let raw = answer.exactly(length)?;
        answer.exactly(1)?;
        match *kind {
            b"tree" => items(&raw, self.format)
                .map(Some)
                .ok_or_else(|| answer.unexpected("a broken tree")),
            _ => Ok(None),
        }
    }

    /// Writes the tree with these paths as they are given here: `None` takes one out. A folder that becomes empty goes.
    /// The blobs, of which there may be none, are written with it.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn graft(
        &self,
        mut grafting: Grafting,
        changes: &[(RepoPath, Option<Entry>)],
        blobs: &[Vec<u8>],
    ) -> Result<Oid> {
        for (path, entry) in changes {
            grafting.put(path, entry.as_ref());
        }
        let mut made = Made::new(self.format);
        for blob in blobs {
            made.add(Kind::Blob, blob);
        }
        let root = grafting.close(self.format, &mut made);
        self.store(made)?;
        Ok(root)
    }
}

fn item<'a>(items: &'a [Item], name: &[u8]) -> Option<&'a Item> {
    items.iter().find(|item| item.name == name)
}

fn folder_of(path: &RepoPath) -> Vec<u8> {
    let folder = path.parent();
    folder.map_or_else(Vec::new, |folder| folder.as_bytes().to_vec())
}

impl Grafting {
    /// What the tree has at a path, where that is a file or a link.
    pub fn entry(&self, path: &RepoPath) -> Option<Entry> {
        let found = item(self.folders.get(&folder_of(path))?, path.name())?;
        let mode = Mode::from_digits(&found.mode)?;
        let oid = found.oid.clone();
        Some(Entry { mode, oid })
    }

    /// Has the tree something else than a file or a link at the path, or else than a folder above it? A submodule above
    /// it looks like a folder that is not there.
    fn is_in_the_way(&self, path: &RepoPath) -> bool {
        let is_other = |path: &RepoPath, kind: &str| {
            let items = self.folders.get(&folder_of(path));
            let found = items.and_then(|items| item(items, path.name()));
            found.is_some_and(|item| item.kind() != kind)
        };
        is_other(path, "blob") || path.ancestors().any(|folder| is_other(&folder, "tree"))
    }

    fn put(&mut self, path: &RepoPath, entry: Option<&Entry>) {
        let new = entry.map(|entry| (entry.mode.digits().as_bytes().to_vec(), entry.oid.clone()));
        self.replace(&folder_of(path), path.name(), new);
    }

    fn replace(&mut self, folder: &[u8], name: &[u8], new: Option<(Vec<u8>, Oid)>) {
        let items = self.folders.entry(folder.to_vec()).or_default();
        items.retain(|item| item.name != name);
        items.extend(new.map(|(mode, oid)| Item {
            mode,
            oid,
            name: name.to_vec(),
        }));
        items.sort_by_key(Item::sort_key);
    }

    /// Names each folder in the one above, from the deepest. Returns the top's id; the trees are among those that were
    /// made then.
    fn close(mut self, format: ObjectFormat, made: &mut Made) -> Oid {
        let mut names: Vec<Vec<u8>> = self.folders.keys().cloned().collect();
        names.sort_by_key(|name| {
            Reverse(name.split_str("/").count() + usize::from(!name.is_empty()))
        });
        let mut root = self.root.clone();
        for name in names {
            let items = self.folders.remove(&name).unwrap_or_default();
            let stored = stored(&items);
            let oid = format.hash_tree(&stored);
            let is_left = !items.is_empty();
            if name.is_empty() {
                root = oid;
            } else {
                let (folder, own) = name.rsplit_once_str("/").unwrap_or((b"", &name));
                let new = is_left.then(|| (b"40000".to_vec(), oid));
                self.replace(folder, own, new);
            }
            if is_left || name.is_empty() {
                made.add(Kind::Tree, &stored);
            }
        }
        root
    }
}

/// A tree as git stores it.
fn stored(items: &[Item]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for item in items {
        bytes.extend_from_slice(&item.mode);
        bytes.push(b' ');
        bytes.extend_from_slice(&item.name);
        bytes.push(0);
        bytes.extend(item.oid.binary());
    }
    bytes
}
