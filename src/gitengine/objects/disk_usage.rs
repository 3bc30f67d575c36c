//! How much room commits take.

use std::collections::HashMap;

use bstr::ByteSlice;

use super::oid::Oid;
use crate::gitengine::command::Git;
use crate::gitengine::error::{GitError, Result};

impl Git {
    /// How many bytes on disk each of these groups of commits needs, beyond what the user's own refs hold. What several
    /// of them need counts for one of them.
    ///
    /// # Errors
    ///
    /// git failed: an object is missing.
    pub fn disk_usages(&self, groups: &[Vec<Oid>]) -> Result<Vec<u64>> {
        let lines: String = groups
            .iter()
            .flatten()
            .map(|tip| format!("{tip}\n"))
            .collect();
        let ask = self
            .ask("rev-list")
            .args(["--objects", "--no-object-names"]);
        let ask = ask.args([
            "--topo-order",
            "--in-commit-order",
            "--format=%P",
            "--stdin",
        ]);
        let output = self.beyond_the_users(ask.input(lines)).run()?;
        let mut owners = HashMap::new();
        for (group, tips) in groups.iter().enumerate() {
            owners.extend(tips.iter().map(|tip| (tip.as_str().as_bytes(), group)));
        }
        let owned = owned_objects(&output, owners);
        let names: Vec<u8> = owned
            .iter()
            .flat_map(|(object, _)| [*object, b"\n"].concat())
            .collect();
        let ask = self.ask("cat-file");
        let ask = ask.args(["--batch-check=%(objectsize:disk)", "--buffer"]);
        let sizes = ask.input(names).run()?;
        let mut usages = vec![0; groups.len()];
        for ((_, group), size) in owned.iter().zip(sizes.lines()) {
            let size = size.to_str().ok().and_then(|size| size.parse::<u64>().ok());
            usages[*group] += size
                .ok_or_else(|| GitError::unexpected_bytes("git cat-file --batch-check", &sizes))?;
        }
        Ok(usages)
    }
}

/// The objects that a listing of commits names, each with the group that it belongs to: `commit <id> LF <parents> LF`,
/// then what came with that commit. A commit belongs to the group of the one that grew from it.
fn owned_objects<'a>(
    listed: &'a [u8],
    mut owners: HashMap<&'a [u8], usize>,
) -> Vec<(&'a [u8], usize)> {
    let mut owned = Vec::new();
    let mut owner = None;
    let mut lines = listed.lines();
    while let Some(line) = lines.next() {
        let object = match line.strip_prefix(b"commit ") {
            Some(commit) => {
                owner = owners.get(commit).copied();
                let parents = lines.next().unwrap_or_default().split_str(" ");
                for (parent, owner) in parents.zip(std::iter::repeat(owner)) {
                    if let Some(owner) = owner {
                        owners.entry(parent).or_insert(owner);
                    }
                }
                commit
            }
            None => line,
        };
        owned.extend(owner.map(|owner| (object, owner)));
    }
    owned
}
