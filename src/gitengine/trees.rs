//! What trees hold.

use std::collections::{BTreeSet, HashMap, HashSet};

use bstr::ByteSlice;

use super::command::Git;
use super::error::{GitError, Result};
use super::objects::{Entry, Mode, ObjectFormat, Oid, hex, one_oid};
use super::paths::{AT_ONCE, RepoPath, os_path};

impl Git {
    /// Does a tree have something at or below this path?
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn tree_has(&self, tree: &Oid, path: &RepoPath) -> Result<bool> {
        let ask = self
            .ask("ls-tree")
            .args(["-z", "--name-only", "--end-of-options"]);
        let output = ask.arg(tree).arg(os_path(path.as_bytes())).run()?;
        Ok(!output.is_empty())
    }

    /// The names in one folder of a tree, each with its whole path; a folder's ends with a slash. The top is empty.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn folder_of(&self, tree: &Oid, folder: &str) -> Result<Vec<Vec<u8>>> {
        let ask = self
            .ask("ls-tree")
            .args(["-z", "--full-tree", "--end-of-options"]);
        let mut ask = ask.arg(tree);
        if !folder.is_empty() {
            ask = ask.arg(format!("{folder}/"));
        }
        let output = ask.run()?;
        let name = |record: &[u8]| {
            let (head, path) = record.split_once_str("\t")?;
            let slash: &[u8] = match head.split_str(" ").nth(1)? {
                b"tree" => b"/",
                _ => b"",
            };
            Some([path, slash].concat())
        };
        Ok(output.split_str("\0").filter_map(name).collect())
    }

    /// The content of a file of a tree, or of a commit's tree.
    ///
    /// # Errors
    ///
    /// There is none, or git failed.
    pub fn file_of(&self, tree: &Oid, name: &str) -> Result<Vec<u8>> {
        let ask = self.ask("cat-file").args(["blob", "--end-of-options"]);
        ask.arg(format!("{tree}:{name}")).run()
    }

    /// The same, or `None` where there is none.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn file_of_if_there(&self, tree: &Oid, name: &str) -> Result<Option<Vec<u8>>> {
        let files = self.file_of_each(std::slice::from_ref(tree), name)?;
        Ok(files.into_iter().next().flatten())
    }

    /// The content of the file of this name in each of these trees, or commits' trees, where there is one.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn file_of_each(&self, trees: &[Oid], name: &str) -> Result<Vec<Option<Vec<u8>>>> {
        if trees.is_empty() {
            return Ok(Vec::new());
        }
        let lines: String = trees
            .iter()
            .map(|tree| format!("contents {tree}:{name}\n"))
            .collect();
        let ask = self.ask_to_read();
        let mut answer = ask.input(lines).read()?;
        let mut files = Vec::with_capacity(trees.len());
        for _ in trees {
            let header = answer.record(b'\n')?.unwrap_or_default();
            if header.ends_with(b" missing") {
                files.push(None);
                continue;
            }
            let length = header
                .rsplit_once_str(" ")
                .and_then(|(_, n)| n.to_str().ok()?.parse().ok());
            let length = length.ok_or_else(|| answer.unexpected("an object without its length"))?;
            files.push(Some(answer.exactly(length)?));
            answer.exactly(1)?;
        }
        answer.close()?;
        Ok(files)
    }

    /// All paths of a tree, whole, with what it has there.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn tree_entries(&self, tree: &Oid) -> Result<Vec<(RepoPath, Entry)>> {
        let ask = self
            .ask("ls-tree")
            .args(["-r", "-z", "--full-tree", "--end-of-options"]);
        let output = ask.arg(tree).run()?;
        output
            .split_str("\0")
            .filter(|record| !record.is_empty())
            .map(|record| {
                let (path, entry) = parse(record)
                    .ok_or_else(|| GitError::unexpected_bytes("git ls-tree -r -z", record))?;
                Ok((path_of_tree(path)?, entry))
            })
            .collect()
    }

    /// The files of each of these trees whose path begins with a name that is wanted, with their paths. One process for
    /// each level of folders, however many trees there are.
    ///
    /// # Errors
    ///
    /// One of them can't be read, or git failed.
    pub fn files_of_trees(
        &self,
        trees: &[Oid],
        is_wanted: impl Fn(&[u8]) -> bool,
    ) -> Result<Vec<Files>> {
        let mut files = vec![Vec::new(); trees.len()];
        let mut level: Vec<(usize, Vec<u8>, Oid)> = Vec::new();
        let tops = trees.iter().cloned().enumerate();
        level.extend(tops.map(|(at, tree)| (at, Vec::new(), tree)));
        while !level.is_empty() {
            let oids: Vec<Oid> = level.iter().map(|(_, _, oid)| oid.clone()).collect();
            let mut below = Vec::new();
            for ((at, folder, oid), raw) in level.iter().zip(self.raw_objects("tree", &oids)?) {
                let read = readable(&raw, self.format, oid)?;
                for item in read {
                    if folder.is_empty() && !is_wanted(&item.name) {
                        continue;
                    }
                    let path = [folder.as_slice(), &item.name].concat();
                    match item.kind() {
                        "tree" => below.push((*at, [&path, &b"/"[..]].concat(), item.oid)),
                        "blob" => files[*at].push((path, item.oid)),
                        _ => {}
                    }
                }
            }
            level = below;
        }
        Ok(files)
    }

    /// What a tree has at these paths, where it has files or links there.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn entries_at(&self, tree: &Oid, paths: &[RepoPath]) -> Result<Vec<(RepoPath, Entry)>> {
        match paths.len() <= AT_ONCE {
            true => self.entries(&[], tree, paths),
            // Asked for some at a time, git compares each name in a folder with each of them.
            false => self.entries_by_level(tree, paths),
        }
    }

    /// The same. It reads the folders on the way to the paths: one process for each level, however many paths there are.
    fn entries_by_level(&self, tree: &Oid, paths: &[RepoPath]) -> Result<Vec<(RepoPath, Entry)>> {
        let folders: BTreeSet<RepoPath> = paths.iter().flat_map(RepoPath::ancestors).collect();
        let folders: HashSet<&[u8]> = folders.iter().map(RepoPath::as_bytes).collect();
        let wanted: HashMap<&[u8], &RepoPath> =
            paths.iter().map(|path| (path.as_bytes(), path)).collect();
        let mut found = Vec::new();
        let ask = self.ask("rev-parse").arg("--verify");
        let top = ask.arg(format!("{tree}^{{tree}}")).run()?;
        let top = one_oid("git rev-parse", &top)?;
        let mut level: Vec<(Vec<u8>, Oid)> = vec![(Vec::new(), top)];
        while !level.is_empty() {
            let oids: Vec<Oid> = level.iter().map(|(_, oid)| oid.clone()).collect();
            let mut below = Vec::new();
            for ((folder, oid), raw) in level.iter().zip(self.raw_objects("tree", &oids)?) {
                for item in readable(&raw, self.format, oid)? {
                    let path = [folder.as_slice(), &item.name].concat();
                    if item.is_tree() && folders.contains(path.as_slice()) {
                        below.push(([&path, &b"/"[..]].concat(), item.oid));
                    } else if let Some(mode) = Mode::from_digits(&item.mode)
                        && let Some(path) = wanted.get(path.as_slice())
                    {
                        let oid = item.oid;
                        found.push(((*path).clone(), Entry { mode, oid }));
                    }
                }
            }
            level = below;
        }
        Ok(found)
    }

    /// What a tree has at these paths, where it has files or links there, with the sizes of what is in them, where they are
    /// known.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn sized_entries_at(
        &self,
        tree: &Oid,
        paths: &[RepoPath],
    ) -> Result<Vec<(RepoPath, Entry, Option<u64>)>> {
        let mut found = Vec::new();
        for paths in paths.chunks(AT_ONCE) {
            let ask = self.ask("ls-tree").args(["-l", "-z", "--full-tree"]);
            let ask = ask.arg("--end-of-options").arg(tree);
            let paths = paths.iter().map(|path| os_path(path.as_bytes()));
            let output = ask.args(paths).run()?;
            for record in output.split_str("\0") {
                if let Some((path, entry)) = parse(record) {
                    found.push((path_of_tree(path)?, entry, size(record)));
                }
            }
        }
        Ok(found)
    }

    /// What a tree has at these paths and below them.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn entries_within(&self, tree: &Oid, paths: &[RepoPath]) -> Result<Vec<(RepoPath, Entry)>> {
        if paths.len() <= AT_ONCE {
            return self.entries(&["-r"], tree, paths);
        }
        // All of it in one list is there sooner than parts of it in many.
        let wanted: BTreeSet<RepoPath> = paths.iter().cloned().collect();
        let mut all = self.tree_entries(tree)?;
        all.retain(|(path, _)| path.is_within_any(&wanted));
        Ok(all)
    }

    fn entries(
        &self,
        options: &[&str],
        tree: &Oid,
        paths: &[RepoPath],
    ) -> Result<Vec<(RepoPath, Entry)>> {
        let mut found = Vec::new();
        for paths in paths.chunks(AT_ONCE) {
            let ask = self.ask("ls-tree").args(options.iter());
            let ask = ask.args(["-z", "--full-tree", "--end-of-options"]);
            let ask = ask.arg(tree);
            let output = ask
                .args(paths.iter().map(|path| os_path(path.as_bytes())))
                .run()?;
            let records = output.split_str("\0").filter(|record| !record.is_empty());
            let named = |(path, entry)| Ok((path_of_tree(path)?, entry));
            for entry in records.filter_map(parse).map(named) {
                found.push(entry?);
            }
        }
        Ok(found)
    }

    /// The blob that each of these commits has at a path, in the same order.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn blobs_at(&self, commits: &[&Oid], path: &RepoPath) -> Result<Vec<Option<Oid>>> {
        // A name with a line end can't be asked for in a list of lines.
        if path.as_bytes().contains(&b'\n') {
            let one = |commit: &&Oid| {
                let found = self.entries_at(commit, std::slice::from_ref(path))?;
                Ok(found.into_iter().next().map(|(_, entry)| entry.oid))
            };
            return commits.iter().map(one).collect();
        }
        let line =
            |commit: &&Oid| [commit.as_str().as_bytes(), b":", path.as_bytes(), b"\n"].concat();
        let lines: Vec<Vec<u8>> = commits.iter().map(line).collect();
        let ask = self
            .ask("cat-file")
            .arg("--batch-check=%(objecttype) %(objectname)");
        let output = ask.input(lines.concat()).run()?;
        let blob = |line: &[u8]| line.strip_prefix(b"blob ").and_then(Oid::from_bytes);
        Ok(output.lines().map(blob).collect())
    }

    /// The files of this name in all folders of a tree.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn tree_files_named(&self, tree: &Oid, name: &[u8]) -> Result<Vec<(RepoPath, Entry)>> {
        let mut entries = self.tree_entries(tree)?;
        entries.retain(|(path, entry)| path.name() == name && entry.mode.is_file());
        Ok(entries)
    }

    /// The tree that holds nothing, written if need be.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn empty_tree(&self) -> Result<Oid> {
        one_oid("git mktree", &self.ask("mktree").run()?)
    }
}

impl Git {
    /// Writes these trees, whatever they lead to. Returns their ids, in the same order.
    ///
    /// # Errors
    ///
    /// git failed.
    pub(super) fn write_trees<'a>(
        &self,
        trees: impl Iterator<Item = &'a [Item]>,
    ) -> Result<Vec<Oid>> {
        let mut input = Vec::new();
        let mut count = 0;
        for items in trees {
            for item in items {
                let head = format!("{} {} {}\t", item.mode.as_bstr(), item.kind(), item.oid);
                input.extend_from_slice(head.as_bytes());
                input.extend_from_slice(&item.name);
                input.push(0);
            }
            // A record that is empty ends a tree.
            input.push(0);
            count += 1;
        }
        if count == 0 {
            return Ok(Vec::new());
        }
        let ask = self.ask("mktree").args(["-z", "--missing", "--batch"]);
        let output = ask.input(input).run()?;
        let written: Option<Vec<Oid>> = output.lines().map(Oid::from_bytes).collect();
        let written = written.filter(|written| written.len() == count);
        written.ok_or_else(|| GitError::unexpected_bytes("git mktree --batch", &output))
    }
}

/// A path that a tree has. Who wrote the tree need not have been git.
///
/// # Errors
///
/// No work tree can hold it.
pub(super) fn path_of_tree(path: &[u8]) -> Result<RepoPath> {
    RepoPath::new(path).ok_or_else(|| GitError::Path(RepoPath::of_unholdable(path)))
}

/// The entries of a tree.
///
/// # Errors
///
/// It can't be read.
fn readable(raw: &[u8], format: ObjectFormat, oid: &Oid) -> Result<Vec<Item>> {
    items(raw, format).ok_or_else(|| {
        let what = format!("a tree that can't be read: {oid}");
        GitError::unexpected("git cat-file --batch", what)
    })
}

/// `100644 blob <id> <size, padded> TAB path`. The size may be none.
fn size(record: &[u8]) -> Option<u64> {
    let (head, _) = record.split_once_str("\t")?;
    head.rsplit_once_str(" ")?.1.to_str().ok()?.parse().ok()
}

/// `100644 blob <id> TAB path`.
fn parse(record: &[u8]) -> Option<(&[u8], Entry)> {
    let (head, path) = record.split_once_str("\t")?;
    let mut fields = head.split_str(" ");
    let mode = Mode::from_digits(fields.next()?)?;
    let oid = Oid::from_bytes(fields.nth(1)?)?;
    Some((path, Entry { mode, oid }))
}

/// Files of a tree: their paths, and what they are.
pub type Files = Vec<(Vec<u8>, Oid)>;

/// An entry of a tree, of whatever kind.
#[derive(Clone)]
pub(super) struct Item {
    /// Its mode, as the tree has it.
    pub mode: Vec<u8>,
    /// What it is.
    pub oid: Oid,
    /// Its name in the folder.
    pub name: Vec<u8>,
}

impl Item {
    /// Is it a folder?
    pub fn is_tree(&self) -> bool {
        matches!(self.mode.as_slice(), b"40000" | b"040000")
    }

    /// Where it stands among the others: git compares a folder's name as if a slash followed it.
    pub fn sort_key(&self) -> Vec<u8> {
        let slash: &[u8] = if self.is_tree() { b"/" } else { b"" };
        [&self.name, slash].concat()
    }

    /// The type of the object.
    pub fn kind(&self) -> &'static str {
        match self.mode.as_slice() {
            b"160000" => "commit",
            _ if self.is_tree() => "tree",
            _ => "blob",
        }
    }
}

/// Reads a tree as it is stored: `<mode> <name> NUL <id>`, for each entry.
pub(super) fn items(mut raw: &[u8], format: ObjectFormat) -> Option<Vec<Item>> {
    let mut items = Vec::new();
    while !raw.is_empty() {
        let (mode, rest) = raw.split_once_str(" ")?;
        let (name, rest) = rest.split_once_str("\0")?;
        let (oid, rest) = rest.split_at_checked(format.digits() / 2)?;
        items.push(Item {
            mode: mode.to_vec(),
            oid: Oid::new(hex(oid))?,
            name: name.to_vec(),
        });
        raw = rest;
    }
    Some(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn whatever_is_read_does_no_harm(bytes in crate::gitengine::noise()) {
            let _ = parse(&bytes);
        }
    }
}
