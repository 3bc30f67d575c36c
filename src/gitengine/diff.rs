//! What differs between two trees.

use std::path::{Path, PathBuf};

use bstr::ByteSlice;
use serde::{Deserialize, Serialize};

use super::command::{Answer, Ask, Git};
use super::config::Settings;
use super::error::{GitError, Result};
use super::objects::{Entry, Mode, Oid};
use super::paths::{RepoPath, os_path};
use super::trees::path_of_tree;

/// A path that differs between two trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The path.
    pub path: RepoPath,
    /// What the first tree has there.
    pub old: Option<Entry>,
    /// What the second tree has there.
    pub new: Option<Entry>,
}

impl Difference {
    /// A path that has the same on both sides, where it is to be told among those that differ.
    pub fn unchanged(path: RepoPath, entry: Entry) -> Self {
        Self {
            path,
            old: Some(entry.clone()),
            new: Some(entry),
        }
    }

    /// In what it differs: `added`, `deleted`, `modified`, or `mode` where the content is the same.
    pub fn status(&self) -> &'static str {
        match (&self.old, &self.new) {
            (None, _) => "added",
            (_, None) => "deleted",
            (Some(old), Some(new)) if old.oid == new.oid => "mode",
            _ => "modified",
        }
    }

    /// The letter that git gives to it.
    pub fn letter(&self) -> char {
        match self.status() {
            "added" => 'A',
            "deleted" => 'D',
            _ => 'M',
        }
    }
}

/// How many files and lines differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stat {
    /// Files.
    pub files: u64,
    /// Lines added.
    pub added: u64,
    /// Lines removed.
    pub removed: u64,
}

impl Stat {
    /// The count without a part of it.
    #[must_use]
    pub fn without(&self, part: &Stat) -> Self {
        Self {
            files: self.files.saturating_sub(part.files),
            added: self.added.saturating_sub(part.added),
            removed: self.removed.saturating_sub(part.removed),
        }
    }
}

/// A path that differs, and in how many lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The path, and what the trees have there.
    pub difference: Difference,
    /// Lines added, and lines removed; `None` where it is no text.
    pub lines: Option<(u64, u64)>,
}

/// How a patch is to look.
pub struct PatchStyle {
    /// With colours.
    pub color: bool,
}

impl Git {
    /// The paths that differ between two trees.
    ///
    /// # Errors
    ///
    /// git failed, or one of them is a commit.
    pub fn differences(&self, old: &Oid, new: &Oid) -> Result<Vec<Difference>> {
        if old == new {
            return Ok(Vec::new());
        }
        let output = self.ask_to_differ().input(pair(old, new)).run()?;
        Ok(parse_pair(&output, old, new)?.0)
    }

    pub(super) fn ask_to_differ(&self) -> Ask {
        let ask = self.ask_to_compare(&["--no-renames"], &[]);
        self.without_index(ask)
    }

    /// git would read the whole index first, for attribute files that are not on disk.
    fn without_index(&self, ask: Ask) -> Ask {
        ask.index(&self.git_dir.join("edio").join("no-index"))
    }

    /// The files whose time stamps or sizes are not as this index has them, whatever is in them.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn touched_since(&self, index: &Path, settings: &Settings) -> Result<Vec<RepoPath>> {
        let ask = || {
            let ask = self.ask("diff-files").index(index);
            let ask = settings.without_required_filters(ask);
            ask.args(["-z", "--raw", "--no-renames", "--ignore-submodules=all"])
        };
        // A filter that runs as long as git does takes it along where it dies.
        let touched = ask().run().or_else(|error| match settings.filters() {
            names if names.is_empty() => Err(error),
            _ => settings.without_filter_processes(ask()).run(),
        });
        let touched = parse(&touched?)?.0;
        Ok(touched.into_iter().map(|touched| touched.path).collect())
    }

    /// The paths that differ between two trees, among these or below them (all where there are none), and how many lines.
    ///
    /// Where blobs are missing, as in a partial clone, no lines are counted.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn differences_counted(
        &self,
        old: &Oid,
        new: &Oid,
        paths: &[RepoPath],
    ) -> Result<(Vec<Difference>, Stat)> {
        if old == new {
            return Ok((Vec::new(), Stat::default()));
        }
        let read = |ask: Ask| {
            let output = ask.input(pair(old, new)).run()?;
            parse_pair(&output, old, new)
        };
        match read(self.ask_to_count(paths)) {
            Err(GitError::Exit { .. }) => read(self.ask_to_compare(&["--no-renames"], paths)),
            counted => counted,
        }
    }

    pub(super) fn ask_to_count(&self, paths: &[RepoPath]) -> Ask {
        let form = [
            "--numstat",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
        ];
        let ask = self.ask_to_compare(&form, paths);
        match self.is_sparse {
            true => ask,
            false => self.without_index(ask),
        }
    }

    /// Asks what differs between the trees of each pair that it is given, in this form.
    pub(super) fn ask_to_compare(&self, form: &[&str], paths: &[RepoPath]) -> Ask {
        let ask = self.ask("diff-tree").args(["--stdin", "-r", "-z", "--raw"]);
        ask.args(form).arg("--").args(as_arguments(paths))
    }

    /// The paths that differ between two trees, or commits, with how many lines; and the patch, to be read on, in the same
    /// order. A path whose kind differs has two parts there: what went, and what came.
    ///
    /// The algorithm and the context are the user's; the form is always the same.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn patch_with_list(&self, old: &Oid, new: &Oid) -> Result<(Vec<Counted>, Answer)> {
        let ask = self
            .ask("diff")
            .args(["--raw", "--numstat", "-p", "-z", "--no-abbrev"])
            .args(["--no-ext-diff", "--no-textconv", "--no-renames"])
            .args(["--no-color", "--no-relative", "-O/dev/null"])
            .args(["--src-prefix=a/", "--dst-prefix=b/"])
            .args(["--submodule=short", "--ignore-submodules=dirty"]);
        let mut answer = ask.arg("--end-of-options").arg(old).arg(new).read()?;
        let mut list: Vec<Counted> = Vec::new();
        // An empty record stands before the patch; where nothing differs, there is nothing at all.
        while let Some(record) = answer.record(0)?.filter(|record| !record.is_empty()) {
            let known = match record.strip_prefix(b":") {
                Some(header) => {
                    let path = path_of_tree(&answer.record(0)?.unwrap_or_default())?;
                    difference(header, path).map(|difference| {
                        list.push(Counted {
                            difference,
                            lines: None,
                        });
                    })
                }
                None => lines_of(&record, &mut list),
            };
            known.ok_or_else(|| answer.unexpected(format!("{:?}", record.as_bstr())))?;
        }
        Ok((list, answer))
    }

    /// The patch between two trees as the user's own settings have it (algorithm, context, moved lines, prefixes), but
    /// without programs: no external diff, no textconv.
    ///
    /// # Errors
    ///
    /// git could not be started.
    pub fn patch(
        &self,
        old: &Oid,
        new: &Oid,
        paths: &[RepoPath],
        style: &PatchStyle,
    ) -> Result<Answer> {
        let color = if style.color {
            "--color=always"
        } else {
            "--color=never"
        };
        self.ask("diff")
            .args([
                "--no-ext-diff",
                "--no-textconv",
                "--ignore-submodules=dirty",
                color,
            ])
            .arg("--end-of-options")
            .arg(old)
            .arg(new)
            .arg("--")
            .args(as_arguments(paths))
            .read()
    }
}

fn as_arguments(paths: &[RepoPath]) -> impl Iterator<Item = PathBuf> + '_ {
    paths
        .iter()
        .map(|path| PathBuf::from(os_path(path.as_bytes())))
}

/// Two trees, as `git diff-tree --stdin` reads them.
pub(super) fn pair(old: &Oid, new: &Oid) -> String {
    format!("{old} {new}\n")
}

/// What is asked of git below, as its errors name it.
const COMMAND: &str = "git diff-tree --raw -z";

/// Reads what `git diff-tree --stdin -z` says of a pair: it names it, and then the differences.
fn parse_pair(output: &[u8], old: &Oid, new: &Oid) -> Result<(Vec<Difference>, Stat)> {
    let differences = output.strip_prefix(pair(old, new).as_bytes());
    parse(differences.ok_or_else(|| GitError::unexpected_bytes(COMMAND, output))?)
}

/// Reads `--raw -z`, with or without `--numstat` after it.
fn parse(output: &[u8]) -> Result<(Vec<Difference>, Stat)> {
    let mut differences = Vec::new();
    let mut stat = Stat::default();
    let mut fields = output.split_str("\0").filter(|field| !field.is_empty());
    while let Some(field) = fields.next() {
        let known = match field.strip_prefix(b":") {
            Some(header) => {
                let path = fields.next().unwrap_or_default();
                let path = path_of_tree(path)?;
                difference(header, path).map(|difference| differences.push(difference))
            }
            None => count(field, &mut stat),
        };
        known.ok_or_else(|| GitError::unexpected_bytes(COMMAND, field))?;
    }
    stat.files = differences.len() as u64;
    Ok((differences, stat))
}

/// `100644 100755 <old id> <new id> M`, and the path.
pub(super) fn difference(header: &[u8], path: RepoPath) -> Option<Difference> {
    let fields: Vec<&[u8]> = header.split_str(" ").collect();
    let [old_mode, new_mode, old, new, _] = fields.as_slice() else {
        return None;
    };
    Some(Difference {
        path,
        old: side(old_mode, old)?,
        new: side(new_mode, new)?,
    })
}

fn side(mode: &[u8], oid: &[u8]) -> Option<Option<Entry>> {
    if mode == b"000000" {
        return Some(None);
    }
    let mode = Mode::from_digits(mode)?;
    let oid = Oid::from_bytes(oid)?;
    Some(Some(Entry { mode, oid }))
}

/// `12 TAB 3 TAB path`, of a path on the list; dashes for binary files.
fn lines_of(field: &[u8], list: &mut [Counted]) -> Option<()> {
    let [added, removed, path] = field
        .splitn_str(3, "\t")
        .collect::<Vec<_>>()
        .try_into()
        .ok()?;
    let name = |counted: &Counted| counted.difference.path.as_bytes().cmp(path);
    let known = list.binary_search_by(name).ok();
    let known = known.or_else(|| list.iter().position(|counted| name(counted).is_eq()));
    let number = |digits: &[u8]| digits.to_str().ok()?.parse().ok();
    list.get_mut(known?)?.lines = number(added).zip(number(removed));
    Some(())
}

/// `12 TAB 3 TAB path`; dashes for binary files.
fn count(field: &[u8], stat: &mut Stat) -> Option<()> {
    let mut parts = field.splitn_str(3, "\t");
    let mut number = || -> Option<u64> {
        match parts.next()? {
            b"-" => Some(0),
            digits => digits.to_str().ok()?.parse().ok(),
        }
    };
    stat.added += number()?;
    stat.removed += number()?;
    parts.next().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_raw_and_numstat() {
        let (a, b, zero) = ("a".repeat(40), "b".repeat(40), "0".repeat(40));
        let output = format!(
            ":100644 100755 {a} {b} M\0:odd\tname\0:000000 120000 {zero} {b} A\0l\0:160000 000000 {a} {zero} D\0s\0\
             3\t1\t:odd\tname\0-\t-\tl\x000\t1\ts\0"
        );
        let (differences, stat) = parse(output.as_bytes()).unwrap();
        assert_eq!(differences.len(), 3);
        assert_eq!(differences[0].path.to_string(), ":odd\tname");
        assert_eq!(differences[1].old, None);
        assert_eq!(differences[2].old.as_ref().unwrap().mode, Mode::Gitlink);
        assert_eq!((stat.files, stat.added, stat.removed), (3, 3, 2));
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        assert_eq!(lines_of(b"1\t2\ta", &mut []), None);
        for bad in [":x\0p", ":100644 100644 a b M\0p", "1\t2", ":"] {
            assert!(parse(bad.as_bytes()).is_err(), "{bad:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_read_does_no_harm(bytes in crate::gitengine::noise()) {
            let _ = parse(&bytes);
        }
    }
}
