//! Index files: edio's own, made from the user's, and what git says of them.

mod listing;
mod private;
mod stamp;
mod take;

use std::fs;
use std::io;
use std::path::Path;

pub use self::listing::{IndexEntry, Listing};
pub use self::private::PrivateIndex;
pub use self::stamp::FileStamp;
pub use self::take::{Contents, Rejected};

/// Spares the hashing of a whole index at each write. For edio's own: other programs may miss the checksum.
pub const NO_CHECKSUM: &str = "index.skipHash=true";

pub(super) fn remove_if_there(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
