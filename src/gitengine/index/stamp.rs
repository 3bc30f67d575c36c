//! Whether an index file is still as it was, found out without git.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
#[cfg(not(unix))]
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::gitengine::objects::hex;

/// Which file it is, and whether it is still as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    checksum: String,
}

impl FileStamp {
    /// The stamp of an index file; `None` where there is none.
    ///
    /// # Errors
    ///
    /// It can't be read.
    pub fn of(file: &Path) -> io::Result<Option<Self>> {
        let mut open = match File::open(file) {
            Ok(open) => open,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let meta = open.metadata()?;
        // Every index ends with a checksum of itself: 20 bytes, or 32, or zeroes.
        let mut tail = Vec::new();
        if meta.len() >= 32 {
            open.seek(SeekFrom::End(-32))?;
        }
        open.read_to_end(&mut tail)?;
        let (device, inode, modified, changed) = identity(&meta);
        Ok(Some(Self {
            device,
            inode,
            size: meta.len(),
            modified,
            changed,
            checksum: hex(&tail),
        }))
    }

    /// Is it the same file with the same content? Another name given to it, or taken from it, does not count.
    pub fn is_same_content(&self, other: &Self) -> bool {
        let unlinked = |stamp: &Self| Self {
            changed: (0, 0),
            ..stamp.clone()
        };
        unlinked(self) == unlinked(other)
    }
}

type Identity = (u64, u64, (i64, i64), (i64, i64));

#[cfg(unix)]
fn identity(meta: &fs::Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (
        meta.dev(),
        meta.ino(),
        (meta.mtime(), meta.mtime_nsec()),
        (meta.ctime(), meta.ctime_nsec()),
    )
}

#[cfg(not(unix))]
fn identity(meta: &fs::Metadata) -> Identity {
    let time = |time: io::Result<SystemTime>| {
        let since = time
            .ok()
            .and_then(|t| t.duration_since(SystemTime::UNIX_EPOCH).ok());
        since.map_or((0, 0), |s| {
            (s.as_secs().cast_signed(), i64::from(s.subsec_nanos()))
        })
    };
    (0, 0, time(meta.modified()), time(meta.created()))
}
