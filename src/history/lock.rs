//! The lock of a workspace: one process at a time takes turns and restores in it.
//!
//! It dies with its process, however that ends.

use std::fs::{File, OpenOptions};
use std::path::Path;

use crate::error::{Result, While};

/// The lock, held until it is dropped.
pub struct Lock(File);

impl Lock {
    /// Waits for the lock and takes it. Its file is made where there is none.
    ///
    /// # Errors
    ///
    /// The file can't be opened, or the file system knows no locks.
    #[expect(clippy::disallowed_methods, reason = "this is the room of the locks")]
    pub fn take(file: &Path) -> Result<Self> {
        let open = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(file)
            .or_cannot(|| format!("can't open {}", file.display()))?;
        open.lock()
            .or_cannot(|| format!("can't lock {}", file.display()))?;
        Ok(Self(open))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file would do it too, but for a child that inherited it.
        let _ = self.0.unlock();
    }
}
