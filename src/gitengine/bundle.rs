//! Bundles: refs and objects in one file, as gitformat-bundle(5) describes it.
//!
//! `git bundle create` takes only refs that exist here under the names that they have in the bundle. So the few lines of
//! the header are written and read here; the pack that follows is git's.

use std::collections::BTreeSet;
use std::io::{self, Write};

use bstr::ByteSlice;

use super::command::Git;
use super::error::{GitError, Result};
use super::objects::{ObjectFormat, Oid};

/// What stands before the pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// What names its objects.
    pub format: ObjectFormat,
    /// The commits that must be there already, with their history.
    pub prerequisites: Vec<Oid>,
    /// The refs.
    pub refs: Vec<(String, Oid)>,
}

impl Header {
    /// The header as git reads it.
    pub fn write(&self) -> Vec<u8> {
        let mut text = match self.format {
            ObjectFormat::Sha1 => "# v2 git bundle\n".to_owned(),
            ObjectFormat::Sha256 => "# v3 git bundle\n@object-format=sha256\n".to_owned(),
        };
        for oid in &self.prerequisites {
            text.push_str(&format!("-{oid}\n"));
        }
        for (name, oid) in &self.refs {
            text.push_str(&format!("{oid} {name}\n"));
        }
        text.push('\n');
        text.into_bytes()
    }

    /// Reads the header of a bundle. Returns it with the rest, which is the pack; `None` where it is none that can be
    /// understood.
    pub fn parse(bundle: &[u8]) -> Option<(Self, &[u8])> {
        let (first, mut rest) = bundle.split_once_str("\n")?;
        let mut header = Self {
            format: ObjectFormat::Sha1,
            prerequisites: Vec::new(),
            refs: Vec::new(),
        };
        let is_third = match first {
            b"# v2 git bundle" => false,
            b"# v3 git bundle" => true,
            _ => return None,
        };
        loop {
            let (line, after) = rest.split_once_str("\n")?;
            rest = after;
            match line.first() {
                None => return Some((header, rest)),
                Some(b'@') if is_third => {
                    let format = line.strip_prefix(b"@object-format=")?;
                    header.format = ObjectFormat::named(format.to_str().ok()?)?;
                }
                Some(b'-') => {
                    let oid = line[1..].split_str(" ").next()?;
                    header.prerequisites.push(Oid::from_bytes(oid)?);
                }
                Some(_) => {
                    let (oid, name) = line.split_once_str(" ")?;
                    let name = name.to_str().ok()?.to_owned();
                    header.refs.push((name, Oid::from_bytes(oid)?));
                }
            }
        }
    }
}

/// The refs of the user's, from which commits are known elsewhere.
const USERS: [&str; 3] = ["--branches", "--tags", "--remotes"];

impl Git {
    /// The commits of the user's branches and tags on which the histories of these rest.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn foundation(&self, tips: &[Oid]) -> Result<Vec<Oid>> {
        let ask = self.ask("rev-list").args(["--boundary", "--stdin"]);
        let ask = ask.arg("--not").args(USERS);
        let output = ask.input(lines(tips, "")).run()?;
        let listed = output.lines();
        let mut found: Vec<Oid> = listed
            .filter_map(|line| Oid::from_bytes(line.strip_prefix(b"-")?))
            .collect();
        // One that is in a branch itself is no boundary of anything.
        let outside: BTreeSet<Oid> = output.lines().filter_map(Oid::from_bytes).collect();
        let within = tips.iter().filter(|tip| !outside.contains(tip));
        found.extend(within.cloned());
        found.sort();
        found.dedup();
        Ok(found)
    }

    /// Writes the objects of these commits and of their histories, without the histories of the others, as a pack.
    ///
    /// # Errors
    ///
    /// git failed, or it can't be written.
    pub fn write_pack(&self, tips: &[Oid], without: &[Oid], to: &mut impl Write) -> Result<()> {
        let ask = self.ask("pack-objects");
        let ask = ask.args(["--revs", "--stdout", "--thin", "--delta-base-offset", "-q"]);
        let input = format!("{}{}", lines(tips, ""), lines(without, "^"));
        let mut answer = ask.input(input).read()?;
        let copied = io::copy(&mut answer.reader, to);
        copied.map_err(|error| answer.broken(error))?;
        answer.close()
    }

    /// Takes in the objects of a pack that comes from somewhere else. Each is checked, as `git fsck --strict` does: one
    /// that could do harm in a work tree is refused.
    ///
    /// # Errors
    ///
    /// The pack is broken, or something in it is refused.
    pub fn take_in_pack(&self, pack: &[u8]) -> Result<()> {
        let ask = self.ask("index-pack");
        let ask = ask.args(["--stdin", "--fix-thin", "--strict"]);
        ask.input(pack).run().map(drop)
    }

    /// Sees that all is here that these commits lead to, but for what a partial clone may lack.
    ///
    /// # Errors
    ///
    /// Something is missing.
    pub fn check_connected(&self, tips: &[Oid]) -> Result<()> {
        let ask = self
            .ask("rev-list")
            .args(["--objects", "--quiet", "--stdin"]);
        let ask = ask.args(["--exclude-promisor-objects", "--not", "--all"]);
        ask.input(lines(tips, "")).run().map(drop)
    }

    /// Those of these that are no commits here.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn unknown_commits(&self, oids: &[Oid]) -> Result<Vec<Oid>> {
        let ask = self.ask("cat-file").arg("--batch-check=%(objecttype)");
        let output = ask.input(lines(oids, "")).run()?;
        let kinds: Vec<&[u8]> = output.lines().collect();
        if kinds.len() != oids.len() {
            return Err(GitError::unexpected_bytes(
                "git cat-file --batch-check",
                &output,
            ));
        }
        let known = oids.iter().zip(kinds);
        let unknown = known.filter(|(_, kind)| *kind != b"commit");
        Ok(unknown.map(|(oid, _)| oid.clone()).collect())
    }
}

fn lines(oids: &[Oid], before: &str) -> String {
    oids.iter().map(|oid| format!("{before}{oid}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_comes_back() {
        let oid = |digit: &str, digits| Oid::new(digit.repeat(digits)).unwrap();
        for (format, digits) in [(ObjectFormat::Sha1, 40), (ObjectFormat::Sha256, 64)] {
            let header = Header {
                format,
                prerequisites: vec![oid("a", digits)],
                refs: vec![("refs/edio/shared/s/1".to_owned(), oid("b", digits))],
            };
            let bytes = [header.write(), b"PACK".to_vec()].concat();
            assert_eq!(Header::parse(&bytes), Some((header, &b"PACK"[..])));
        }
    }

    #[test]
    fn what_is_no_bundle_is_none() {
        for bad in [
            "",
            "# v2 git bundle\n",
            "# v4 git bundle\n\n",
            "# v2 git bundle\n@object-format=sha1\n\n",
            "# v3 git bundle\n@filter=blob:none\n\n",
            "# v2 git bundle\nxyz refs/heads/main\n\n",
            "# v2 git bundle\n-xyz\n\n",
        ] {
            assert_eq!(Header::parse(bad.as_bytes()), None, "{bad:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_read_does_no_harm(bytes in crate::gitengine::noise()) {
            let text = [&b"# v3 git bundle\n"[..], &bytes].concat();
            let _ = (Header::parse(&bytes), Header::parse(&text));
        }
    }
}
