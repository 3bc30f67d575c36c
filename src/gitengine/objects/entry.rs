//! What a tree has at a path.

use serde::{Deserialize, Serialize};

use super::oid::Oid;

/// What a tree says of a path, but for trees themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Mode {
    /// A file.
    File,
    /// A file that may be executed.
    Executable,
    /// A symbolic link; the blob is its target.
    Symlink,
    /// A commit of another repository: a submodule.
    Gitlink,
}

impl Mode {
    /// The mode that these six octal digits mean, or `None` for a tree or no entry at all.
    pub fn from_digits(digits: &[u8]) -> Option<Self> {
        match digits {
            b"100755" => Some(Mode::Executable),
            b"120000" => Some(Mode::Symlink),
            b"160000" => Some(Mode::Gitlink),
            // Very old repositories have 100664.
            digits if digits.starts_with(b"100") => Some(Mode::File),
            _ => None,
        }
    }

    /// Is it a file, executable or not?
    pub fn is_file(self) -> bool {
        matches!(self, Mode::File | Mode::Executable)
    }

    /// The six octal digits.
    pub fn digits(self) -> &'static str {
        match self {
            Mode::File => "100644",
            Mode::Executable => "100755",
            Mode::Symlink => "120000",
            Mode::Gitlink => "160000",
        }
    }
}

/// What a tree has at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its kind.
    pub mode: Mode,
    /// Its content.
    pub oid: Oid,
}
