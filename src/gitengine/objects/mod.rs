//! Objects: their names, blobs read and written, commits made and read, and which commits lead to which.

mod blobs;
mod commits;
mod disk_usage;
mod entry;
mod oid;
mod read;
mod rev_list;

pub use blobs::ONLY_HASHED;
pub use commits::{Commit, NewCommit, Signature, Signed};
pub use entry::{Entry, Mode};
pub use oid::{ObjectFormat, Oid, hex, one_oid};
pub use read::Objects;
