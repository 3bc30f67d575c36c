//! What is to stand where: a turn's files, with the bytes that a restore would write.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Checkout;
use crate::error::Result;
use crate::gitengine::{Conversion, Entry, Git, LfsFiles, Mode, Oid, RepoPath};
use crate::history::bytes::{self, RawIds, Unnoted, fingerprint, may_convert};
use crate::history::restore::clear_folder;
use crate::history::turn::Turn;

/// What is to stand at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Wanted {
    pub(super) mode: Mode,
    pub(super) source: Source,
}

/// Where the bytes come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Source {
    /// They are a blob's.
    Blob(Oid),
    /// They are what git's filters make of a blob. What decides about filters is summed up in `rules`.
    Filtered { blob: Oid, rules: Oid },
    /// A link to the work tree, with its target as a blob would have it.
    Link(Oid),
    /// There are none: a submodule is an empty folder.
    Nowhere,
}

pub(super) type Wishes = BTreeMap<RepoPath, Wanted>;

impl Checkout<'_> {
    /// What is to stand where.
    pub(super) fn wishes(&self, turn: &Turn) -> Result<Wishes> {
        let workspace = self.room.workspace;
        let entries = workspace.git.tree_entries(&turn.tree)?;
        let raw_ids = bytes::of_turn(workspace, turn)?;
        let filtered = self.filtered(&entries, &raw_ids)?;
        let rules = self.rules_summed_up(&entries);
        let wish = |(path, entry): (RepoPath, Entry)| {
            let source = match raw_ids.of(&path, &entry) {
                _ if entry.mode == Mode::Gitlink => Source::Nowhere,
                Some(raw) => Source::Blob(raw.clone()),
                None if filtered.contains(&path) => Source::Filtered {
                    blob: entry.oid,
                    rules: rules.clone(),
                },
                None => Source::Blob(entry.oid),
            };
            let mode = entry.mode;
            (path, Wanted { mode, source })
        };
        let mut wishes: Wishes = entries.into_iter().map(wish).collect();
        self.add_links(&mut wishes);
        Ok(wishes)
    }

    /// Adds the links to the work tree, where the turn holds nothing.
    fn add_links(&self, wishes: &mut Wishes) {
        let format = self.room.workspace.git.format;
        for (path, target) in &self.room.links {
            let mut held = wishes.keys();
            if held.any(|held| held.is_within(path) || path.is_within(held)) {
                continue;
            }
            let wanted = Wanted {
                mode: Mode::Symlink,
                source: Source::Link(format.hash_content(target)),
            };
            wishes.insert(path.clone(), wanted);
        }
    }

    /// The files whose bytes come out of git's filters, by the turn's own attribute files, which are in the stage then.
    fn filtered(
        &self,
        entries: &[(RepoPath, Entry)],
        raw_ids: &RawIds,
    ) -> Result<BTreeSet<RepoPath>> {
        let workspace = self.room.workspace;
        let unknown = entries
            .iter()
            .filter(|(path, entry)| entry.mode.is_file() && raw_ids.of(path, entry).is_none());
        let mut unknown: Vec<(RepoPath, Entry)> = unknown.cloned().collect();
        let rules = attribute_files(entries);
        let has_lfs = workspace.settings.filters().contains(&"lfs");
        let may_be_filtered = match raw_ids.unnoted() {
            Unnoted::IsBlob => has_lfs,
            Unnoted::AsCheckedOut => true,
        };
        if unknown.is_empty() || !may_be_filtered || !may_convert(workspace, !rules.is_empty()) {
            return Ok(BTreeSet::new());
        }
        clear_folder(&self.stage)?;
        self.stage_files(&rules, LfsFiles::AsSet)?;
        let git = Git {
            work_tree: self.stage.clone(),
            ..workspace.git.clone()
        };
        let paths: Vec<RepoPath> = unknown.iter().map(|(path, _)| path.clone()).collect();
        let conversions = git.conversions(&workspace.settings, &paths)?;
        let mut conversions = conversions.into_iter();
        unknown.retain(|_| match (conversions.next(), raw_ids.unnoted()) {
            (Some(conversion), Unnoted::IsBlob) => conversion == Conversion::Lfs,
            (conversion, Unnoted::AsCheckedOut) => conversion != Some(Conversion::None),
            (None, Unnoted::IsBlob) => false,
        });
        Ok(unknown.into_iter().map(|(path, _)| path).collect())
    }

    fn rules_summed_up(&self, entries: &[(RepoPath, Entry)]) -> Oid {
        let mut text = fingerprint(self.room.workspace).into_bytes();
        for (path, entry) in attribute_files(entries) {
            text.extend_from_slice(format!("\0{} ", entry.oid).as_bytes());
            text.extend_from_slice(path.as_bytes());
        }
        self.room.workspace.git.format.hash_content(&text)
    }
}

fn attribute_files(entries: &[(RepoPath, Entry)]) -> Vec<(RepoPath, Entry)> {
    let rules = entries.iter();
    rules
        .filter(|(path, entry)| path.name() == b".gitattributes" && entry.mode.is_file())
        .cloned()
        .collect()
}
