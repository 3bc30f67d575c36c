//! What looks as if it should not leave the machine: secrets in texts and files, and files that are named like secrets.

use std::collections::BTreeMap;
use std::fmt;

use crate::error::Result;
use crate::gitengine::{Commit, Oid, RepoPath};

use super::stored::{self, Place};
use super::workspace::Workspace;

/// Something that had better stay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leak {
    /// A text or a file that has something in it that looks like a secret.
    Secret {
        /// Where: `file`, `message`, `prompt`, …
        place: String,
        /// The path of the file.
        path: Option<Vec<u8>>,
        /// What it looks like.
        kind: &'static str,
    },
    /// A file of this path, by whose name it is one for secrets.
    Named(Vec<u8>),
}

impl Leak {
    /// The path of the file that it is in.
    pub fn path(&self) -> Option<&[u8]> {
        match self {
            Leak::Secret { path, .. } => path.as_deref(),
            Leak::Named(path) => Some(path),
        }
    }
}

impl fmt::Display for Leak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Leak::Secret { place, kind, .. } => write!(f, "{kind} in a {place}"),
            Leak::Named(_) => f.write_str("a file for secrets, by its name"),
        }
    }
}

/// Looks through what goes along: these commits, these contents, each with a path of its own, and these paths.
///
/// # Errors
///
/// A pattern of the user's is wrong, or git failed.
pub fn find(
    workspace: &Workspace,
    commits: &[Commit],
    contents: &BTreeMap<Oid, Vec<u8>>,
    paths: &[RepoPath],
) -> Result<Vec<Leak>> {
    let mut leaks = Vec::new();
    for secret in stored::find_among(workspace, commits, contents)? {
        let (place, path) = match secret.place {
            Place::Beside(name) => (format!("text beside a turn, {name}"), None),
            Place::Message => ("message".to_owned(), None),
            Place::Trailer(name) => (format!("message, {name}"), None),
            Place::File(path) => ("file".to_owned(), Some(path)),
        };
        leaks.push(Leak::Secret {
            place,
            path,
            kind: secret.kind,
        });
    }
    let named = named(paths).map(|path| Leak::Named(path.as_bytes().to_vec()));
    leaks.extend(named);
    leaks.dedup();
    Ok(leaks)
}

const NAMES: [&str; 12] = [
    ".env",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".pypirc",
    ".htpasswd",
    ".git-credentials",
    ".dockercfg",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
];

const ENDINGS: [&str; 8] = [
    ".env",
    ".key",
    ".p12",
    ".pfx",
    ".ppk",
    ".jks",
    ".keystore",
    ".kdbx",
];

/// What stands behind `.env.` where the file is one to be copied and filled in.
const SAMPLES: [&str; 6] = ["example", "sample", "template", "dist", "defaults", "test"];

/// Those of these files that are, by their names, for secrets.
pub fn named<'a>(
    paths: impl IntoIterator<Item = &'a RepoPath>,
) -> impl Iterator<Item = &'a RepoPath> {
    paths.into_iter().filter(|path| is_named(path.as_bytes()))
}

/// Is a file by its name one for secrets?
fn is_named(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let name = String::from_utf8_lossy(name).to_lowercase();
    let is_filled = |kind: &str| !SAMPLES.iter().any(|sample| kind.ends_with(sample));
    NAMES.contains(&name.as_str())
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
        || name.strip_prefix(".env.").is_some_and(is_filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_for_secrets_are_known_by_their_names() {
        for name in [
            ".env",
            "a/.env",
            "a/.env.production",
            "token.env",
            "ID_RSA",
            "x/server.key",
        ] {
            assert!(is_named(name.as_bytes()), "{name}");
        }
        for name in [
            "env",
            ".envrc",
            ".env.example",
            "id_rsa.pub",
            "keys.rs",
            ".env/x",
            "monkey",
        ] {
            assert!(!is_named(name.as_bytes()), "{name}");
        }
    }
}
