//! Random numbers, as the system gives them. Where it gives none, that is an error like another: a program without the C
//! library reads them from a file, which need not be there.

use std::io;

use rand::TryRng;
use rand::rngs::SysRng;

use crate::error::{Result, While};

/// So many random bytes.
///
/// # Errors
///
/// The system gives none.
pub fn bytes<const COUNT: usize>() -> io::Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    SysRng
        .try_fill_bytes(&mut bytes)
        .map_err(io::Error::other)?;
    Ok(bytes)
}

/// The same, for who has nothing else to say.
///
/// # Errors
///
/// The system gives none.
pub fn bytes_or_error<const COUNT: usize>() -> Result<[u8; COUNT]> {
    let bytes = bytes().or_cannot(|| "the system gives no random numbers".to_owned());
    bytes.map_err(|error| {
        error.hint("see that /dev/urandom can be read, and how many files may be open: ulimit -n")
    })
}
