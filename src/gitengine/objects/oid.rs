//! The ids of objects: made as git makes them, and read as git prints them.

use std::fmt;
use std::io::{self, Read};

use bstr::ByteSlice;
use serde::{Deserialize, Serialize};
use sha1::Digest as _;

use crate::gitengine::error::{GitError, Result};

/// The hash function of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectFormat {
    /// SHA-1, 40 digits.
    Sha1,
    /// SHA-256, 64 digits.
    Sha256,
}

impl ObjectFormat {
    /// The format of this name (`git rev-parse --show-object-format`).
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "sha1" => Some(ObjectFormat::Sha1),
            "sha256" => Some(ObjectFormat::Sha256),
            _ => None,
        }
    }

    /// How many digits an id has.
    pub fn digits(self) -> usize {
        match self {
            ObjectFormat::Sha1 => 40,
            ObjectFormat::Sha256 => 64,
        }
    }

    /// The id of a blob with this content, computed as git does.
    ///
    /// # Errors
    ///
    /// Reading fails, or the content does not have the length that was said.
    pub fn hash_blob(self, length: u64, content: impl Read) -> io::Result<Oid> {
        let head = format!("blob {length}\0");
        match self {
            ObjectFormat::Sha1 => hash_with(sha1::Sha1::new(), &head, length, content),
            ObjectFormat::Sha256 => hash_with(sha2::Sha256::new(), &head, length, content),
        }
    }

    /// The id of a blob with just this content.
    pub fn hash_content(self, content: &[u8]) -> Oid {
        self.hash_of("blob", content)
    }

    /// The id of a tree that is stored as these bytes, computed as git does.
    pub fn hash_tree(self, stored: &[u8]) -> Oid {
        self.hash_of("tree", stored)
    }

    fn hash_of(self, kind: &str, content: &[u8]) -> Oid {
        let head = format!("{kind} {}\0", content.len());
        match self {
            ObjectFormat::Sha1 => hash_all(sha1::Sha1::new(), &head, content),
            ObjectFormat::Sha256 => hash_all(sha2::Sha256::new(), &head, content),
        }
    }

    /// The sum of these bytes that a pack ends with.
    pub fn checksum(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            ObjectFormat::Sha1 => sha1::Sha1::digest(bytes).to_vec(),
            ObjectFormat::Sha256 => sha2::Sha256::digest(bytes).to_vec(),
        }
    }
}

fn hash_all<D: sha1::Digest>(mut hasher: D, head: &str, content: &[u8]) -> Oid {
    hasher.update(head);
    hasher.update(content);
    Oid(hex(&hasher.finalize()))
}

fn hash_with<D: sha1::Digest>(
    mut hasher: D,
    head: &str,
    length: u64,
    content: impl Read,
) -> io::Result<Oid> {
    hasher.update(head);
    let mut buffer = vec![0; 1 << 16];
    let mut content = content.take(length.saturating_add(1));
    let mut read = 0_u64;
    loop {
        let count = match content.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        read += count as u64;
        hasher.update(&buffer[..count]);
    }
    if read != length {
        return Err(io::Error::other("the file changed while it was read"));
    }
    Ok(Oid(hex(&hasher.finalize())))
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The id of an object, in full.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Oid(String);

impl Oid {
    /// Takes 40 or 64 lower-case hexadecimal digits.
    pub fn new(digits: impl Into<String>) -> Option<Self> {
        let digits = digits.into();
        let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        (matches!(digits.len(), 40 | 64) && digits.bytes().all(hex)).then_some(Self(digits))
    }

    /// The id that no object has.
    pub fn null(format: ObjectFormat) -> Self {
        Self("0".repeat(format.digits()))
    }

    /// Is it the id that no object has?
    pub fn is_null(&self) -> bool {
        self.0.bytes().all(|digit| digit == b'0')
    }

    /// Takes the digits as git prints them.
    pub fn from_bytes(digits: &[u8]) -> Option<Self> {
        Self::new(digits.to_str().ok()?)
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The bytes that the digits stand for, as trees have them.
    pub fn binary(&self) -> Vec<u8> {
        let digits = self.0.as_bytes().chunks(2);
        let byte = |pair: &[u8]| u8::from_str_radix(pair.to_str().ok()?, 16).ok();
        digits.filter_map(byte).collect()
    }

    /// Enough of them for a person.
    pub fn short(&self) -> &str {
        &self.0[..10]
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<std::ffi::OsStr> for Oid {
    fn as_ref(&self) -> &std::ffi::OsStr {
        self.0.as_ref()
    }
}

impl TryFrom<String> for Oid {
    type Error = String;

    fn try_from(digits: String) -> std::result::Result<Self, String> {
        Oid::new(digits).ok_or_else(|| "not an object id".to_owned())
    }
}

impl From<Oid> for String {
    fn from(oid: Oid) -> String {
        oid.0
    }
}

/// Exactly one object id on a line, as a command prints it.
pub fn one_oid(command: &str, output: &[u8]) -> Result<Oid> {
    let mut found = oids(command, output, 1)?;
    found
        .pop()
        .ok_or_else(|| GitError::unexpected_bytes(command, output))
}

pub(super) fn oids(command: &str, output: &[u8], count: usize) -> Result<Vec<Oid>> {
    let found: Option<Vec<Oid>> = output.lines().map(Oid::from_bytes).collect();
    found
        .filter(|found| found.len() == count)
        .ok_or_else(|| GitError::unexpected_bytes(command, output))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_as_git_does() {
        let oid = ObjectFormat::Sha1.hash_blob(6, &b"hello\n"[..]).unwrap();
        assert_eq!(oid.as_str(), "ce013625030ba8dba906f756967f9e9ca394464a");
        let oid = ObjectFormat::Sha256.hash_blob(0, &b""[..]).unwrap();
        assert_eq!(
            oid.as_str(),
            "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"
        );
        assert!(ObjectFormat::Sha1.hash_blob(5, &b"hello\n"[..]).is_err());
        assert!(ObjectFormat::Sha1.hash_blob(7, &b"hello\n"[..]).is_err());
    }
}
