//! Commits, made and read.

use std::time::Duration;

use bstr::ByteSlice;

use super::oid::{Oid, one_oid};
use crate::gitengine::command::{Ask, Asked, Git};
use crate::gitengine::error::{GitError, Result};

/// Who makes a commit, and when.
pub struct Signature<'a> {
    /// Name.
    pub name: &'a str,
    /// Email address.
    pub email: &'a str,
    /// Seconds since 1970.
    pub seconds: i64,
}

impl Signature<'static> {
    /// edio's own: it makes commits where nobody has told git a name, too.
    pub const fn edio(seconds: i64) -> Self {
        Self {
            name: "edio",
            email: "edio@localhost",
            seconds,
        }
    }
}

/// Is the user's commit signed? `git commit-tree` does not heed `commit.gpgSign` by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signed {
    /// With the user's key. The program that signs may ask a person for so long.
    Within(Duration),
    /// No.
    No,
}

/// A commit, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its id.
    pub oid: Oid,
    /// Its tree.
    pub tree: Oid,
    /// Its parents, the first one first.
    pub parents: Vec<Oid>,
    /// The committer's time, in seconds since 1970.
    pub seconds: i64,
    /// The message, to the letter.
    pub message: Vec<u8>,
}

impl Commit {
    /// Reads a commit from its raw content.
    pub fn parse(oid: Oid, raw: &[u8]) -> Option<Self> {
        let (head, message) = match raw.find("\n\n") {
            Some(end) => (&raw[..end], &raw[end + 2..]),
            None => (raw.strip_suffix(b"\n").unwrap_or(raw), &b""[..]),
        };
        let values = |key: &'static str| {
            head.split_str("\n")
                .filter_map(move |line| line.strip_prefix(key.as_bytes()))
        };
        Some(Self {
            oid,
            tree: Oid::from_bytes(values("tree ").next()?)?,
            parents: values("parent ")
                .map(Oid::from_bytes)
                .collect::<Option<_>>()?,
            seconds: time_of(values("committer ").next()?)?,
            message: message.to_vec(),
        })
    }
}

/// The seconds in `Name <email> 1700000000 +0100`.
fn time_of(signature: &[u8]) -> Option<i64> {
    let after = &signature[signature.rfind_byte(b'>')? + 1..];
    after
        .trim_ascii_start()
        .split_str(" ")
        .next()?
        .to_str()
        .ok()?
        .parse()
        .ok()
}

impl Git {
    /// Writes a commit with a signature of edio's own choice.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn write_commit(
        &self,
        tree: &Oid,
        parents: &[&Oid],
        by: &Signature<'_>,
        message: &[u8],
    ) -> Result<Oid> {
        self.start_commit(tree, parents, by, message)?.finish()
    }

    /// Starts to write such a commit: git is at it while something else is done. It does not look for the tree and the parents:
    /// they must be there.
    ///
    /// # Errors
    ///
    /// git could not be started.
    pub fn start_commit(
        &self,
        tree: &Oid,
        parents: &[&Oid],
        by: &Signature<'_>,
        message: &[u8],
    ) -> Result<NewCommit> {
        let ask = self.ask_to_commit();
        let commit = commit_by(by, tree, parents, message);
        ask.input(commit).start().map(NewCommit)
    }

    pub(in crate::gitengine) fn ask_to_commit(&self) -> Ask {
        self.ask("hash-object")
            .args(["-t", "commit", "-w", "--stdin"])
    }

    /// Writes a commit with the user's own identity, at the present time.
    ///
    /// # Errors
    ///
    /// git failed: the identity may be missing, or the signing program, or nobody has answered that.
    pub fn write_users_commit(
        &self,
        tree: &Oid,
        parents: &[&Oid],
        message: &[u8],
        signed: Signed,
    ) -> Result<Oid> {
        let ask = self.ask("commit-tree");
        let ask = match signed {
            Signed::Within(limit) => ask.arg("-S").patience(limit),
            Signed::No => ask,
        };
        // The message is UTF-8 whatever the user's own commits are encoded in.
        let mut ask = ask.setting("i18n.commitEncoding=UTF-8").arg(tree);
        for parent in parents {
            ask = ask.arg("-p").arg(parent);
        }
        let ask = ask.args(["-F", "-"]).input(message);
        one_oid("git commit-tree", &ask.run()?)
    }

    /// The commits of these ids, in the same order.
    ///
    /// # Errors
    ///
    /// One of them is missing or no commit, or git failed.
    pub fn commits(&self, oids: &[Oid]) -> Result<Vec<Commit>> {
        let raw = self.raw_objects("commit", oids)?;
        let commit = |(oid, raw): (&Oid, Vec<u8>)| {
            let commit = Commit::parse(oid.clone(), &raw);
            commit.ok_or_else(|| GitError::unexpected_bytes("git cat-file", &raw))
        };
        oids.iter().zip(raw).map(commit).collect()
    }

    /// The commit of this id. `None` where it is missing or damaged.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn commit_that_is_whole(&self, oid: &Oid) -> Result<Option<Commit>> {
        let commits = self.commits_that_are_whole(std::slice::from_ref(oid))?;
        Ok(commits.into_iter().flatten().next())
    }

    /// The commits of these ids, in the same order: `None` for one that is missing, damaged, or no commit.
    ///
    /// # Errors
    ///
    /// git could not be started, or was killed.
    pub fn commits_that_are_whole(&self, oids: &[Oid]) -> Result<Vec<Option<Commit>>> {
        let mut commits = Vec::with_capacity(oids.len());
        while commits.len() < oids.len() {
            let rest = &oids[commits.len()..];
            let mut objects = self.objects(rest)?;
            let mut cut_off = None;
            for oid in rest {
                match objects.next_that_is_whole("commit", oid) {
                    Ok(raw) => commits.push(raw.and_then(|raw| Commit::parse(oid.clone(), &raw))),
                    Err(error) => {
                        cut_off = Some(error);
                        break;
                    }
                }
            }
            match (cut_off, objects.answer.close()) {
                (None, closed) => closed?,
                // git ends over an object that is damaged behind its beginning: another one reads the rest.
                (Some(_), Err(GitError::Exit { status, .. })) if status.signal().is_none() => {
                    commits.push(None);
                }
                (Some(error), _) => return Err(error),
            }
        }
        Ok(commits)
    }
}

/// A commit that git is about to write.
pub struct NewCommit(Asked);

impl NewCommit {
    /// Waits until it is written. Returns its id.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn finish(self) -> Result<Oid> {
        one_oid("git hash-object", &self.0.succeed()?)
    }
}

/// A commit as git stores it, and as `git cat-file commit` prints it. A parent that is named twice is one.
fn commit_by(by: &Signature<'_>, tree: &Oid, parents: &[&Oid], message: &[u8]) -> Vec<u8> {
    let mut commit = format!("tree {tree}\n");
    for (number, parent) in parents.iter().enumerate() {
        if !parents[..number].contains(parent) {
            commit.push_str(&format!("parent {parent}\n"));
        }
    }
    for role in ["author", "committer"] {
        let Signature {
            name,
            email,
            seconds,
        } = by;
        commit.push_str(&format!("{role} {name} <{email}> {seconds} +0000\n"));
    }
    [commit.as_bytes(), b"\n", message].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_commit() {
        let oid = Oid::new("a".repeat(40)).unwrap();
        let raw = format!(
            "tree {0}\nparent {1}\nparent {0}\nauthor A <a@b> 1 +0000\ncommitter C > <c@d> 1700000000 -0130\n\nsubject\n\nbody\n",
            "b".repeat(40),
            "c".repeat(40)
        );
        let commit = Commit::parse(oid.clone(), raw.as_bytes()).unwrap();
        assert_eq!(commit.parents.len(), 2);
        assert_eq!(commit.seconds, 1_700_000_000);
        assert_eq!(commit.message, b"subject\n\nbody\n");
        assert!(Commit::parse(oid, b"tree x\n\n").is_none());
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_read_does_no_harm(bytes in crate::gitengine::noise()) {
            let oid = Oid::new("a".repeat(40)).unwrap();
            let _ = Commit::parse(oid, &bytes);
        }
    }
}
