//! What differs in each of many pairs of trees, asked at once.

use bstr::ByteSlice;

use super::command::Git;
use super::diff::{Difference, difference, pair};
use super::error::{GitError, Result};
use super::objects::Oid;
use super::paths::RepoPath;
use super::trees::path_of_tree;

/// A file that differs: what it is called in the first tree, and in the second. A name is missing where it is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// Before.
    pub old: Option<RepoPath>,
    /// After.
    pub new: Option<RepoPath>,
}

/// A record of what differs: its header without the colon, and one path or two.
type Record<'a> = (&'a [u8], Vec<&'a [u8]>);

impl Git {
    /// In how many paths each of these pairs of trees differ, among these or below them (all where there are none).
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn count_differences(
        &self,
        pairs: &[(Oid, Oid)],
        paths: &[RepoPath],
    ) -> Result<Vec<usize>> {
        let output = self.differ(pairs, &["--no-renames"], paths)?;
        let records = by_pair(&output, pairs.len())?;
        Ok(records.iter().map(Vec::len).collect())
    }

    /// The paths in which each of these pairs of trees differ, among these or below them (all where there are none).
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn names_of_differences(
        &self,
        pairs: &[(Oid, Oid)],
        paths: &[RepoPath],
    ) -> Result<Vec<Vec<RepoPath>>> {
        let output = self.differ(pairs, &["--no-renames"], paths)?;
        let name =
            |(_, paths): Record<'_>| path_of_tree(paths.first().copied().unwrap_or_default());
        let records = by_pair(&output, pairs.len())?.into_iter();
        let names = records.map(|records| records.into_iter().map(name).collect());
        names.collect()
    }

    /// The same, with files that were renamed told as one, as git finds them.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn renames(&self, pairs: &[(Oid, Oid)]) -> Result<Vec<Vec<Renamed>>> {
        let output = self.differ(pairs, &["--find-renames"], &[])?;
        let records = by_pair(&output, pairs.len())?.into_iter();
        let named = records.map(|records| records.into_iter().map(renamed).collect());
        named.collect()
    }

    /// The files in which a text occurs more often, or less often, in one tree of a pair than in the other.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn differences_with(
        &self,
        pairs: &[(Oid, Oid)],
        text: &str,
    ) -> Result<Vec<Vec<Difference>>> {
        let pickaxe = format!("-S{text}");
        self.differences_in_form(pairs, &["--no-renames", "--no-textconv", &pickaxe])
    }

    /// What differs in each of these pairs of trees.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn differences_of_each(&self, pairs: &[(Oid, Oid)]) -> Result<Vec<Vec<Difference>>> {
        self.differences_in_form(pairs, &["--no-renames"])
    }

    fn differences_in_form(
        &self,
        pairs: &[(Oid, Oid)],
        form: &[&str],
    ) -> Result<Vec<Vec<Difference>>> {
        let output = self.differ(pairs, form, &[])?;
        let records = by_pair(&output, pairs.len())?.into_iter();
        let read = |(header, paths): Record<'_>| {
            let path = path_of_tree(paths.first().copied().unwrap_or_default())?;
            difference(header, path).ok_or_else(|| GitError::unexpected_bytes(COMMAND, header))
        };
        let differences = records.map(|records| records.into_iter().map(read).collect());
        differences.collect()
    }

    fn differ(&self, pairs: &[(Oid, Oid)], form: &[&str], paths: &[RepoPath]) -> Result<Vec<u8>> {
        let lines: String = pairs.iter().map(|(old, new)| pair(old, new)).collect();
        self.ask_to_compare(form, paths).input(lines).run()
    }
}

fn renamed((header, paths): Record<'_>) -> Result<Renamed> {
    let status = header.rsplit_once_str(" ").map_or(&b""[..], |(_, s)| s);
    let names: Vec<RepoPath> = paths.into_iter().map(path_of_tree).collect::<Result<_>>()?;
    let mut names = names.into_iter();
    let (first, second) = (names.next(), names.next());
    let (old, new) = match status.first() {
        Some(b'R') => (first, second),
        Some(b'A') => (None, first),
        Some(b'D') => (first, None),
        _ => (first.clone(), first),
    };
    Ok(Renamed { old, new })
}

/// What is asked of git here, as its errors name it.
const COMMAND: &str = "git diff-tree --stdin";

/// The records of each of so many pairs: each pair is printed on a line, then its differences.
fn by_pair(output: &[u8], pairs: usize) -> Result<Vec<Vec<Record<'_>>>> {
    let mut found: Vec<Vec<Record<'_>>> = Vec::new();
    let mut rest = output;
    while !rest.is_empty() {
        let Some(record) = rest.strip_prefix(b":") else {
            found.push(Vec::new());
            rest = rest.split_once_str("\n").map_or(&[], |(_, rest)| rest);
            continue;
        };
        let (header, paths) = record.split_once_str("\0").unwrap_or((record, &[]));
        let has_two = header
            .rsplit_once_str(" ")
            .is_some_and(|(_, status)| status.starts_with(b"R") || status.starts_with(b"C"));
        let mut fields = paths.splitn_str(if has_two { 3 } else { 2 }, "\0");
        let count = if has_two { 2 } else { 1 };
        let names: Vec<&[u8]> = fields.by_ref().take(count).collect();
        rest = fields.next().unwrap_or_default();
        match found.last_mut() {
            Some(last) => last.push((header, names)),
            None => return Err(GitError::unexpected_bytes(COMMAND, header)),
        }
    }
    match found.len() == pairs {
        true => Ok(found),
        false => Err(GitError::unexpected(
            COMMAND,
            format!("{} answers to {pairs} questions", found.len()),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_line_end_is_no_pair() {
        let output = b"a b\n:1 2 3 4 R100\0old\0new\n:\0:1 2 3 4 M\0x\0c d\n";
        let records = by_pair(output, 2).unwrap();
        assert_eq!(records[0][0].1, [&b"old"[..], b"new\n:"]);
        assert_eq!(records[0][1].1, [b"x"]);
        assert!(records[1].is_empty());
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_read_does_no_harm(bytes in crate::gitengine::noise()) {
            let _ = by_pair(&bytes, 1);
        }
    }
}
