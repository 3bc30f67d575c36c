//! Paths inside a work tree: bytes, relative to its top, `/` between the parts, never outside and never in `.git`.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bstr::ByteSlice;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// So many paths are given to one git process as arguments. The longest list that every system takes is far longer.
pub(super) const AT_ONCE: usize = 200;

/// The path of a file in a work tree.
///
/// It has at least one part; no part is empty, `.`, `..`, or what some file system takes for `.git`. So joining it to
/// the top of a work tree names something inside, as long as no folder on the way is a symbolic link.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RepoPath(Vec<u8>);

impl RepoPath {
    /// Takes bytes as a path, or `None` where they could name something outside, or in a git directory.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Option<Self> {
        let bytes = bytes.into();
        let harmless = |part: &[u8]| {
            !part.is_empty() && part != b"." && part != b".." && !is_git_directory(part)
        };
        let inside = !bytes.contains(&0) && bytes.split_str("/").all(harmless);
        inside.then_some(Self(bytes))
    }

    /// A name that git can't hold, to be compared and shown. It must never be joined to a folder: it may be `.GIT/config`.
    pub fn of_unholdable(name: &[u8]) -> Self {
        Self(name.to_vec())
    }

    /// The path, if git can hold it: one that can be joined to a folder, and asked for.
    pub fn holdable(&self) -> Option<&Self> {
        Self::new(self.0.as_slice()).map(|_| self)
    }

    /// Reads a path as git prints it where it has no NUL to end it: in quotes, if anything in it needs that.
    pub fn quoted(text: &[u8]) -> Option<Self> {
        match text.strip_prefix(b"\"") {
            Some(rest) => Self::new(unquoted(rest.strip_suffix(b"\"")?)?),
            None => Self::new(text),
        }
    }

    /// The bytes, as git prints them.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// It in one line, to stand in a message: what could drive a terminal is a space.
    pub fn in_one_line(&self) -> String {
        in_one_line(&self.to_string())
    }

    /// The path on disk, below the top of the work tree.
    pub fn below(&self, top: &Path) -> PathBuf {
        top.join(os_path(&self.0))
    }

    /// The folders that the path goes through, the outermost first; the path itself is not among them.
    pub fn ancestors(&self) -> impl Iterator<Item = RepoPath> + '_ {
        self.0
            .find_iter("/")
            .map(|end| RepoPath(self.0[..end].to_vec()))
    }

    /// The folder that holds it, if that is not the top.
    pub fn parent(&self) -> Option<RepoPath> {
        self.0
            .rfind_byte(b'/')
            .map(|end| RepoPath(self.0[..end].to_vec()))
    }

    /// The last part.
    pub fn name(&self) -> &[u8] {
        let start = self.0.rfind_byte(b'/').map_or(0, |slash| slash + 1);
        &self.0[start..]
    }

    /// Is it this path, or below it?
    pub fn is_within(&self, folder: &RepoPath) -> bool {
        self.0
            .strip_prefix(folder.as_bytes())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }

    /// The same of many: it is looked up, and not compared with each.
    pub fn is_within_any(&self, folders: &BTreeSet<RepoPath>) -> bool {
        !folders.is_empty()
            && (folders.contains(self) || self.ancestors().any(|folder| folders.contains(&folder)))
    }

    /// Is it one of these paths, or below one?
    pub fn is_among(&self, paths: &[RepoPath]) -> bool {
        paths.iter().any(|other| self.is_within(other))
    }
}

/// A text in one line, to stand in a message: what could drive a terminal is a space.
pub fn in_one_line(text: &str) -> String {
    let visible = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    visible.collect()
}

/// What stands between quotes, as C writes it.
fn unquoted(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.iter();
    while let Some(&byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match *rest.next()? {
            b'a' => 7,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            digit @ b'0'..=b'3' => {
                let mut octal = |so_far: u8| Some(so_far * 8 + rest.next()?.checked_sub(b'0')?);
                let two = octal(digit - b'0')?;
                octal(two)?
            }
            other => other,
        });
    }
    Some(bytes)
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.as_bstr())
    }
}

impl fmt::Debug for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0.as_bstr())
    }
}

/// In JSON a path is a string, or `{"bytes": "<base64>"}` where it is not UTF-8.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Bytes { bytes: String },
}

impl Serialize for RepoPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = match self.0.to_str() {
            Ok(text) => Written::Text(text.to_owned()),
            Err(_) => Written::Bytes {
                bytes: BASE64.encode(&self.0),
            },
        };
        written.serialize(serializer)
    }
}

impl Written {
    fn bytes<E: serde::de::Error>(self) -> Result<Vec<u8>, E> {
        match self {
            Written::Text(text) => Ok(text.into_bytes()),
            Written::Bytes { bytes } => BASE64.decode(bytes).map_err(E::custom),
        }
    }
}

impl RepoPath {
    /// Reads a path that may be [unholdable](RepoPath::of_unholdable).
    ///
    /// # Errors
    ///
    /// It is no path at all.
    pub fn deserialize_any_name<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Self, D::Error> {
        Written::deserialize(deserializer)?.bytes().map(Self)
    }
}

impl<'de> Deserialize<'de> for RepoPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let bytes = Written::deserialize(deserializer)?.bytes()?;
        RepoPath::new(bytes).ok_or_else(|| D::Error::custom("not a path inside a work tree"))
    }
}

/// Would some file system take this name for `.git`?
///
/// Case-folding ones do for `.GIT`; NTFS for the short name `git~1`, for trailing dots and blanks, and for a stream of
/// it (`.git::$INDEX_ALLOCATION`); HFS+ where invisible characters stand between. The same list as git's own.
pub fn is_git_directory(name: &[u8]) -> bool {
    let visible: Vec<u8> = match name.to_str() {
        Ok(text) => text
            .chars()
            .filter(|&c| !is_ignored_by_hfs(c))
            .collect::<String>()
            .into_bytes(),
        Err(_) => name.to_vec(),
    };
    let stem = visible.split(|&b| b == b':').next().unwrap_or_default();
    let stem = stem.trim_end_with(|c| c == '.' || c == ' ');
    stem.eq_ignore_ascii_case(b".git") || stem.eq_ignore_ascii_case(b"git~1")
}

fn is_ignored_by_hfs(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// A path of the operating system from git's bytes.
#[cfg(unix)]
pub fn os_path(bytes: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt;
    Path::new(OsStr::from_bytes(bytes))
}

/// A path of the operating system from git's bytes, which are UTF-8 there.
#[cfg(not(unix))]
pub fn os_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// git's bytes from a path of the operating system.
#[cfg(unix)]
pub fn git_bytes(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str().as_bytes().to_vec()
}

/// git's bytes from a path of the operating system: UTF-8, with slashes.
#[cfg(not(unix))]
pub fn git_bytes(path: &Path) -> Vec<u8> {
    let text: &OsStr = path.as_os_str();
    text.to_string_lossy().replace('\\', "/").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_only_what_is_inside() {
        for bad in [
            "",
            "/a",
            "a/",
            "a//b",
            ".",
            "..",
            "a/../b",
            "a/.",
            ".git",
            "a/.git/x",
            ".GiT",
            "git~1",
            ".git. .",
            ".git::$INDEX_ALLOCATION",
            ".g\u{200c}it",
            "a\0b",
        ] {
            assert!(RepoPath::new(bad).is_none(), "{bad:?}");
        }
        for good in [
            "a",
            "a/b",
            "...",
            ".gitignore",
            ".github/x",
            "git",
            "-f",
            " ",
            "a\nb",
        ] {
            assert!(RepoPath::new(good).is_some(), "{good:?}");
        }
    }

    #[test]
    fn knows_what_is_within() {
        let path = RepoPath::new("a/b/c").unwrap();
        assert!(path.is_within(&RepoPath::new("a/b").unwrap()));
        assert!(path.is_within(&path));
        assert!(!path.is_within(&RepoPath::new("a/b/c/d").unwrap()));
        assert!(
            !RepoPath::new("ab/c")
                .unwrap()
                .is_within(&RepoPath::new("a").unwrap())
        );
        let folders: Vec<_> = path.ancestors().map(|p| p.to_string()).collect();
        assert_eq!(folders, ["a", "a/b"]);
        assert_eq!(path.name(), b"c");
    }

    #[test]
    fn survives_json() {
        for bytes in [&b"a/b"[..], b"caf\xe9", b"new\nline"] {
            let path = RepoPath::new(bytes).unwrap();
            let text = serde_json::to_string(&path).unwrap();
            assert_eq!(serde_json::from_str::<RepoPath>(&text).unwrap(), path);
        }
        assert!(serde_json::from_str::<RepoPath>("\"../x\"").is_err());
    }
}
