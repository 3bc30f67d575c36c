//! Three-way merges of trees, without an index or a work tree.

use bstr::ByteSlice;

use super::command::Git;
use super::error::{GitError, Result};
use super::objects::{Oid, Signature};
use super::paths::RepoPath;

/// What came of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merged {
    /// The merged tree.
    Clean(Oid),
    /// The paths where both sides changed the same, in different ways.
    Conflicts(Vec<RepoPath>),
}

/// Nobody: these commits exist for one merge, and no ref ever points to them.
const NOBODY: Signature<'static> = Signature::edio(0);

impl Git {
    /// Merges what two trees have made of a base.
    ///
    /// Through throw-away commits: `--merge-base` needs git 2.40, and takes no trees before 2.45. Folders are not taken
    /// for renamed: a new file would follow into a folder that only the other side knows.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn merge_trees(&self, base: &Oid, ours: &Oid, theirs: &Oid) -> Result<Merged> {
        let base = self.write_commit(base, &[], &NOBODY, b"base\n")?;
        let ours = self.write_commit(ours, &[&base], &NOBODY, b"ours\n")?;
        let theirs = self.write_commit(theirs, &[&base], &NOBODY, b"theirs\n")?;
        let finished = self
            .ask("merge-tree")
            .setting("merge.directoryRenames=false")
            .args(["--write-tree", "--name-only", "--no-messages", "-z"])
            .arg(&ours)
            .arg(&theirs)
            .outcome()?;
        let output = &finished.stdout;
        let mut fields = output.split_str("\0").filter(|field| !field.is_empty());
        let tree = fields.next().and_then(Oid::from_bytes);
        match (finished.status.code(), tree) {
            (Some(0), Some(tree)) => Ok(Merged::Clean(tree)),
            (Some(1), Some(_)) => {
                let mut paths: Vec<RepoPath> = fields
                    .filter_map(|name| RepoPath::new(real_name(name, &[&ours, &theirs])))
                    .collect();
                paths.dedup();
                Ok(Merged::Conflicts(paths))
            }
            _ => Err(GitError::Exit {
                command: "git merge-tree --write-tree".to_owned(),
                status: finished.status,
                stderr: finished.stderr,
            }),
        }
    }
}

/// Where a file and a folder want the same name, git calls the file `name~<commit>`. Its own name is meant.
fn real_name<'a>(name: &'a [u8], sides: &[&Oid]) -> &'a [u8] {
    let made_up = sides.iter().find_map(|side| {
        let mark = format!("~{side}");
        name.find(mark.as_bytes())
    });
    made_up.map_or(name, |end| &name[..end])
}
