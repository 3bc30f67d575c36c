//! Which lines may have been somewhere else before a commit brought them to where they are.
//!
//! git compares each run of lines that a commit seems to have brought with every file that the commit changed, and with all
//! files where it made a new one: that takes most of the time of a blame. Here each of those files is read once, and asked
//! only whether it has such lines at all. What is told is rather too much than too little.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use bstr::ByteSlice;

use super::blame::Brought;
use super::command::Git;
use super::diff::difference;
use super::error::{GitError, Result};
use super::objects::{Entry, Mode, Oid};
use super::paths::RepoPath;
use super::trees::path_of_tree;

/// Lines with fewer letters and digits than this are no sign of a move to git: they may be alike by chance.
pub const SIGNS: usize = 20;

/// A line, as far as it counts: lines that differ in blanks only are the same. Few others are taken to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    key: u64,
    /// How many letters and digits it has.
    pub signs: usize,
}

impl Line {
    /// The lines of a text.
    pub fn all_of(content: &[u8]) -> impl Iterator<Item = Self> + '_ {
        content.lines().map(Self::of)
    }

    /// Is there nothing in it?
    pub fn is_blank(&self) -> bool {
        self.key == key(b"")
    }

    fn of(text: &[u8]) -> Self {
        let signs = text.iter().filter(|byte| byte.is_ascii_alphanumeric());
        Self {
            key: key(text),
            signs: signs.count(),
        }
    }
}

/// FNV-1a of what is not blank.
fn key(text: &[u8]) -> u64 {
    let counts = text.iter().filter(|byte| !byte.is_ascii_whitespace());
    counts.fold(0xcbf2_9ce4_8422_2325, |key, byte| {
        (key ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The lines that one commit brought.
#[derive(Default)]
struct Group<'a> {
    runs: Vec<Run<'a>>,
    keys: HashSet<u64>,
    /// The files that the commit changed or removed, as they were.
    before: BTreeSet<Oid>,
    /// Does it change each file that it brought lines to, or is one new?
    changed: BTreeSet<RepoPath>,
}

struct Run<'a> {
    brought: &'a Brought,
    lines: &'a [Line],
    may_have_moved: bool,
}

impl Run<'_> {
    /// Is there a part of it with enough signs of which each line is among these?
    fn has_part_in(&self, keys: &HashSet<u64>) -> bool {
        let mut parts = self.lines.split(|line| !keys.contains(&line.key));
        parts.any(|part| part.iter().map(|line| line.signs).sum::<usize>() >= SIGNS)
    }
}

/// The lines of a file, to be asked for again and again.
pub(super) struct Lines(Vec<Line>);

impl Lines {
    pub fn of(content: &[u8]) -> Self {
        Self(Line::all_of(content).collect())
    }

    fn of_run(&self, brought: &Brought) -> &[Line] {
        let start = (brought.here as usize).saturating_sub(1);
        let end = start.saturating_add(brought.count as usize);
        self.0.get(start..end.min(self.0.len())).unwrap_or_default()
    }
}

impl Git {
    /// Those of these lines that may have been somewhere else before. `grafted` is a commit with the parent that it is
    /// taken to have.
    ///
    /// # Errors
    ///
    /// git failed.
    pub(super) fn maybe_moved<'a>(
        &self,
        brought: &'a [Brought],
        lines: &'a Lines,
        grafted: Option<(&Oid, &Oid)>,
    ) -> Result<Vec<&'a Brought>> {
        let mut groups: BTreeMap<&Oid, Group<'a>> = BTreeMap::new();
        for brought in brought {
            let run = Run {
                brought,
                lines: lines.of_run(brought),
                may_have_moved: false,
            };
            let group = groups.entry(&brought.commit).or_default();
            group.keys.extend(run.lines.iter().map(|line| line.key));
            group.runs.push(run);
        }
        self.read_changes(&mut groups, grafted)?;
        self.read_all_around_new_files(&mut groups, grafted)?;
        self.search(&mut groups)?;
        let runs = groups.into_values().flat_map(|group| group.runs);
        let moved = runs.filter(|run| run.may_have_moved);
        Ok(moved.map(|run| run.brought).collect())
    }

    fn read_changes(
        &self,
        groups: &mut BTreeMap<&Oid, Group<'_>>,
        grafted: Option<(&Oid, &Oid)>,
    ) -> Result<()> {
        let line = |commit: &&Oid| match grafted {
            Some((grafted, parent)) if grafted == *commit => format!("{commit} {parent}\n"),
            _ => format!("{commit}\n"),
        };
        let commits: String = groups.keys().map(line).collect();
        let ask = self.ask("diff-tree").args(["--stdin", "-r", "-m", "-z"]);
        let output = ask.args(["--raw", "--no-renames"]).input(commits).run()?;
        let strange = |field: &[u8]| GitError::unexpected_bytes("git diff-tree --stdin -z", field);
        let mut fields = output.split_str("\0").filter(|field| !field.is_empty());
        let mut group = None;
        while let Some(field) = fields.next() {
            let Some(header) = field.strip_prefix(b":") else {
                let commit = Oid::from_bytes(field).ok_or_else(|| strange(field))?;
                group = groups.get_mut(&commit);
                continue;
            };
            let path = path_of_tree(fields.next().unwrap_or_default())?;
            let change = difference(header, path).ok_or_else(|| strange(field))?;
            let (Some(group), Some(old)) = (&mut group, change.old) else {
                continue;
            };
            group.before.extend(blob(old));
            if change.new.is_some() {
                group.changed.insert(change.path);
            }
        }
        Ok(())
    }

    /// What is in a new file may come from any other.
    fn read_all_around_new_files(
        &self,
        groups: &mut BTreeMap<&Oid, Group<'_>>,
        grafted: Option<(&Oid, &Oid)>,
    ) -> Result<()> {
        for (commit, group) in groups {
            let is_changed = |run: &Run<'_>| group.changed.contains(&run.brought.path);
            if group.runs.iter().all(is_changed) {
                continue;
            }
            let parents = match grafted {
                Some((grafted, parent)) if grafted == *commit => vec![parent.clone()],
                _ => self.parents_of(commit)?,
            };
            for parent in parents {
                let files = self.tree_entries(&parent)?.into_iter();
                group
                    .before
                    .extend(files.filter_map(|(_, entry)| blob(entry)));
            }
        }
        Ok(())
    }

    /// The parents of a commit, without those that a shallow clone lacks.
    fn parents_of(&self, commit: &Oid) -> Result<Vec<Oid>> {
        let commits = self.commits(std::slice::from_ref(commit))?;
        let parents = commits.into_iter().flat_map(|commit| commit.parents);
        let mut parents: Vec<Oid> = parents.collect();
        let missing = self.missing(&parents)?;
        parents.retain(|parent| !missing.contains(parent));
        Ok(parents)
    }

    fn search(&self, groups: &mut BTreeMap<&Oid, Group<'_>>) -> Result<()> {
        let before = groups.values().flat_map(|group| &group.before);
        let mut objects = self.objects(&before.cloned().collect::<Vec<Oid>>())?;
        for group in groups.values_mut() {
            for blob in &group.before {
                let length = objects.next_of("blob", blob)?;
                let content = objects.answer.exactly(length)?;
                objects.end_of_object()?;
                let keys = content.lines().map(key);
                let found: HashSet<u64> = keys.filter(|key| group.keys.contains(key)).collect();
                for run in &mut group.runs {
                    run.may_have_moved |= run.has_part_in(&found);
                }
            }
        }
        objects.answer.close()
    }
}

/// The blob of a file or a link.
fn blob(entry: Entry) -> Option<Oid> {
    (entry.mode != Mode::Gitlink).then_some(entry.oid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_do_not_count() {
        assert_eq!(key(b"  a b\tc\r"), key(b"abc"));
        assert_ne!(key(b"abc"), key(b"abd"));
        assert_eq!(Line::of(b" fn x() { 1 }").signs, 4);
    }
}
