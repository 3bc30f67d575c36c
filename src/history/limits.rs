//! How much a snapshot takes: no huge file that nobody has told git of, and no flood of new ones without being told to.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use crate::error::{Error, Result};
use crate::gitengine::{Oid, RepoPath, Settings, literal};

use super::session::Session;
use super::workspace::{Locked, Workspace};

/// What is done where far more is new than anybody would want to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooMuch {
    /// Nothing is taken, and it is said what it is.
    Refuse,
    /// It is taken: the person said so, or it would be lost.
    Take,
}

/// The limits. None of them counts for files that the user's index has.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most bytes in a file.
    pub file: Option<u64>,
    new_files: Option<u64>,
    new_bytes: Option<u64>,
}

impl Limits {
    /// What is set: a number with git's own suffixes, or 0 or `off` where there is to be no limit.
    ///
    /// # Errors
    ///
    /// What is set is none of these.
    pub fn of(settings: &Settings) -> Result<Self> {
        Ok(Self {
            file: limit(settings, "edio.maxfilesize", "100m")?,
            new_files: limit(settings, "edio.maxnewfiles", "50000")?,
            new_bytes: limit(settings, "edio.maxnewbytes", "2g")?,
        })
    }

    /// Is this file one that is not taken?
    pub fn is_too_large(&self, bytes: u64) -> bool {
        self.file.is_some_and(|limit| bytes > limit)
    }

    fn are_too_many(&self, files: usize, bytes: u64) -> bool {
        self.new_files.is_some_and(|limit| files as u64 > limit)
            || self.new_bytes.is_some_and(|limit| bytes > limit)
    }

    /// Refuses new files that are too many, or too large together. Those that the current snapshot holds are not new.
    ///
    /// # Errors
    ///
    /// They are. Or git failed.
    pub fn refuse(
        &self,
        workspace: &Workspace,
        tracked: impl FnOnce() -> Result<Vec<RepoPath>>,
        mut new: BTreeMap<&RepoPath, u64>,
    ) -> Result<()> {
        let are_too_many =
            |new: &BTreeMap<_, u64>| self.are_too_many(new.len(), new.values().sum());
        if !are_too_many(&new) {
            return Ok(());
        }
        if let Some(tree) = current_tree(workspace)? {
            for (path, _) in workspace.git.tree_entries(&tree)? {
                new.remove(&path);
            }
        }
        match are_too_many(&new) {
            true => Err(too_much(&Flood::of(&new, &tracked()?))),
            false => Ok(()),
        }
    }
}

fn limit(settings: &Settings, key: &str, default: &str) -> Result<Option<u64>> {
    let Some(value) = settings.get(key) else {
        return Ok(number(default));
    };
    let text = String::from_utf8_lossy(value).trim().to_lowercase();
    match number(&text) {
        Some(0) => Ok(None),
        Some(number) => Ok(Some(number)),
        None if text == "off" => Ok(None),
        None => Err(Error::usage(format!(
            "{key} is {text:?}, which is neither a number nor off"
        ))
        .hint(format!(
            "git config {key} {default} (or with a suffix: 200m, 2g)"
        ))),
    }
}

/// A number as git writes it: `100`, `100k`, `100m`, `100g`.
fn number(text: &str) -> Option<u64> {
    let (digits, unit) = match text.split_at_checked(text.len().saturating_sub(1))? {
        (digits, "k") => (digits, 1 << 10),
        (digits, "m") => (digits, 1 << 20),
        (digits, "g") => (digits, 1 << 30),
        _ => (text, 1),
    };
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: u64 = digits.parse().ok().filter(|_| is_plain)?;
    number.checked_mul(unit)
}

/// The tree of the snapshot that the next one grows from.
///
/// # Errors
///
/// git failed.
pub fn current_tree(workspace: &Workspace) -> Result<Option<Oid>> {
    if let Some(pointed) = &workspace.pointed {
        return Ok(Some(pointed.tree.clone()));
    }
    let session = Session::active(workspace)?;
    let current = session.and_then(|session| session.current);
    Ok(current.map(|turn| turn.tree))
}

/// Refuses to begin a session for a whole home folder, or a whole disk: it is most likely a slip.
///
/// # Errors
///
/// It would begin one there. Or git failed.
pub fn refuse_home(workspace: &Locked) -> Result<()> {
    let top = &workspace.git.work_tree;
    let Some(what) = home_or_disk(top, workspace.home.as_deref()) else {
        return Ok(());
    };
    if workspace.pointed.is_some() || Session::active(workspace)?.is_some() {
        return Ok(());
    }
    Err(
        Error::refused(format!("the work tree is {what}: {}", top.display()))
            .hint("go to a project, and make it a repository of its own: git init")
            .hint("or have all of it held: edio snapshot --force"),
    )
}

/// What a folder is, where hardly anybody means to have all of it held.
pub(super) fn home_or_disk(folder: &Path, home: Option<&Path>) -> Option<&'static str> {
    match () {
        () if folder.parent().is_none() => Some("the whole disk"),
        () if home == Some(folder) => Some("your home folder"),
        () => None,
    }
}

fn too_much(flood: &Flood) -> Error {
    Error::refused(format!(
        "{} of new files are more than a snapshot takes unasked",
        flood.in_words()
    ))
    .because(flood.named())
    .hint(flood.way_out())
    .hint("or hold all of it: edio snapshot --force (once: then it is new no more)")
    .hint("other limits: edio.maxNewFiles, edio.maxNewBytes in git config")
}

/// Many files, and where they lie.
pub(super) struct Flood {
    all: Sum,
    heaps: Vec<Heap>,
}

impl Flood {
    pub(super) fn of(new: &BTreeMap<&RepoPath, u64>, tracked: &[RepoPath]) -> Self {
        Self {
            all: Sum {
                files: new.len() as u64,
                bytes: new.values().sum(),
            },
            heaps: heaps(new, tracked),
        }
    }

    pub(super) fn files(&self) -> u64 {
        self.all.files
    }

    pub(super) fn bytes(&self) -> u64 {
        self.all.bytes
    }

    /// How much it is.
    pub(super) fn in_words(&self) -> String {
        self.all.to_string()
    }

    /// The heaviest folders.
    pub(super) fn named(&self) -> String {
        const NAMED: usize = 5;
        let named = self.heaps.iter().take(NAMED).map(Heap::in_words);
        named.collect::<Vec<_>>().join("; ")
    }

    /// How it becomes less.
    pub(super) fn way_out(&self) -> String {
        match self.heaps.iter().find_map(Heap::rule) {
            Some(rule) => {
                format!("have git ignore what need not be kept: a line {rule} in .gitignore")
            }
            None => "have git ignore what need not be kept: git help ignore".to_owned(),
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Sum {
    files: u64,
    bytes: u64,
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = if self.files == 1 { "" } else { "s" };
        write!(f, "{} file{s}, {}", self.files, size(self.bytes))
    }
}

/// New files in one folder.
struct Heap {
    /// The folder; `None` is the top.
    folder: Option<RepoPath>,
    has_tracked: bool,
    sum: Sum,
}

impl Heap {
    fn in_words(&self) -> String {
        match &self.folder {
            Some(folder) => format!("{folder}/ ({})", self.sum),
            None => format!("at the top ({})", self.sum),
        }
    }

    /// The line of a `.gitignore` that matches just this folder, if nothing in it is tracked and the line is text.
    fn rule(&self) -> Option<String> {
        let folder = self.folder.as_ref().filter(|_| !self.has_tracked)?;
        let rule = String::from_utf8(literal(folder)).ok()?;
        Some(format!("{rule}/"))
    }
}

/// What is new by folder, the heaviest first: the outermost folders in which nothing is tracked, and for what lies beside
/// tracked files the folder that it lies in.
fn heaps(new: &BTreeMap<&RepoPath, u64>, tracked: &[RepoPath]) -> Vec<Heap> {
    let with_tracked: BTreeSet<RepoPath> = tracked.iter().flat_map(RepoPath::ancestors).collect();
    let mut sums: BTreeMap<Option<RepoPath>, Sum> = BTreeMap::new();
    for (path, bytes) in new {
        let untracked = path.ancestors().find(|f| !with_tracked.contains(f));
        let sum = sums.entry(untracked.or_else(|| path.parent())).or_default();
        sum.files += 1;
        sum.bytes += bytes;
    }
    let heap = |(folder, sum): (Option<RepoPath>, Sum)| Heap {
        has_tracked: folder.as_ref().is_some_and(|f| with_tracked.contains(f)),
        folder,
        sum,
    };
    let mut heaps: Vec<Heap> = sums.into_iter().map(heap).collect();
    let (files, bytes) = (new.len() as u128, u128::from(new.values().sum::<u64>()));
    // Too much may be the number, or the bytes: of both the share counts.
    let weight = |sum: &Sum| u128::from(sum.files) * bytes.max(1) + u128::from(sum.bytes) * files;
    heaps.sort_by_key(|heap| std::cmp::Reverse(weight(&heap.sum)));
    heaps
}

/// `143.2 MiB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => {
            let tenths = u128::from(bytes) * 10 / u128::from(*unit);
            format!("{}.{} {name}", tenths / 10, tenths % 10)
        }
        None if bytes == 1 => "1 byte".to_owned(),
        None => format!("{bytes} bytes"),
    }
}

/// A setting that is a whole number; `None` where it is not set.
///
/// # Errors
///
/// It is no such number.
pub fn whole_number(workspace: &Workspace, key: &str) -> Result<Option<u32>> {
    let Some(value) = workspace.settings.get(key) else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(value);
    match text.trim().parse() {
        Ok(number) => Ok(Some(number)),
        Err(_) => Err(
            Error::usage(format!("{key} is {text:?}, which is no whole number"))
                .hint(format!("git config {key} 10")),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_gits() {
        for (text, value) in [
            ("0", Some(0)),
            ("7", Some(7)),
            ("2k", Some(2048)),
            ("3m", Some(3 << 20)),
            ("1g", Some(1 << 30)),
            ("", None),
            ("k", None),
            ("-1", None),
            ("+1", None),
            ("1.5m", None),
            ("1t", None),
            ("ä", None),
            ("99999999999g", None),
        ] {
            assert_eq!(number(text), value, "{text:?}");
        }
    }

    #[test]
    fn sizes_are_read_at_a_glance() {
        let sizes = [1, 1023, 1024, 150_200_000, 3 << 30, u64::MAX].map(size);
        assert_eq!(
            sizes.join(", "),
            "1 byte, 1023 bytes, 1.0 KiB, 143.2 MiB, 3.0 GiB, 17179869183.9 GiB"
        );
    }

    #[test]
    fn the_folders_to_ignore_are_those_without_a_tracked_file() {
        let path = |name: &str| RepoPath::new(name).unwrap();
        let names = ["p/a/n*/x/1", "p/a/n*/y/2", "p/a/3", "4"];
        let new: BTreeMap<_, _> = names.map(|name| (path(name), 10)).into();
        let new = new.iter().map(|(path, bytes)| (path, *bytes)).collect();
        let heaps = heaps(&new, &[path("p/a/tracked")]);
        let named: Vec<_> = heaps.iter().map(|h| (h.in_words(), h.rule())).collect();
        let rule = Some(r"/p/a/n\*/".to_owned());
        assert_eq!(named[0], ("p/a/n*/ (2 files, 20 bytes)".to_owned(), rule));
        assert_eq!(named[1], ("at the top (1 file, 10 bytes)".to_owned(), None));
        assert_eq!(named[2], ("p/a/ (1 file, 10 bytes)".to_owned(), None));
    }
}
