//! Blobs, written and read: bytes, and what the filters make of them.

use bstr::ByteSlice;

use super::oid::{Oid, oids, one_oid};
use crate::gitengine::command::Git;
use crate::gitengine::config::Settings;
use crate::gitengine::error::{GitError, Result};
use crate::gitengine::paths::{RepoPath, os_path};

/// Where git hashes a file over core.bigFileThreshold, it compresses it as well, if only to drop that: most of the time.
pub const ONLY_HASHED: &str = "pack.compression=0";

impl Git {
    /// Writes a blob with this content, through no filter.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn write_blob(&self, content: &[u8]) -> Result<Oid> {
        let ask = self
            .ask("hash-object")
            .args(["-w", "--stdin"])
            .input(content);
        one_oid("git hash-object", &ask.run()?)
    }

    /// Writes the bytes of these files of the work tree as blobs, through no filter.
    ///
    /// # Errors
    ///
    /// One of them can't be read, or git failed.
    pub fn write_raw_blobs(&self, paths: &[RepoPath]) -> Result<Vec<Oid>> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let lines: Vec<u8> = paths
            .iter()
            .flat_map(|path| quoted_line(path.as_bytes()))
            .collect();
        let ask = self
            .ask("hash-object")
            .args(["-w", "--no-filters", "--stdin-paths"])
            .input(lines);
        oids("git hash-object", &ask.run()?, paths.len())
    }

    /// The ids of the blobs that git may make of each of these files of the work tree, had it no filter for it: of its bytes
    /// as they are, and with line ends converted. None is written.
    ///
    /// # Errors
    ///
    /// One of them can't be read, or git failed.
    pub fn ids_without_filters(
        &self,
        settings: &Settings,
        paths: &[RepoPath],
    ) -> Result<Vec<[Oid; 2]>> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let lines = paths.iter().flat_map(|path| quoted_line(path.as_bytes()));
        let lines: Vec<u8> = lines.collect();
        let ask = self.ask("hash-object").setting(ONLY_HASHED);
        let ask = ask.arg("--stdin-paths").input(lines.clone());
        let converted = settings.without_filters(ask).run()?;
        let ask = self.ask("hash-object").setting(ONLY_HASHED);
        let ask = ask.args(["--no-filters", "--stdin-paths"]).input(lines);
        let ids = |output: &[u8]| oids("git hash-object", output, paths.len());
        let (plain, converted) = (ids(&ask.run()?)?, ids(&converted)?);
        Ok(plain
            .into_iter()
            .zip(converted)
            .map(<[Oid; 2]>::from)
            .collect())
    }

    /// Writes the bytes of this file of the work tree as a blob, through no filter.
    ///
    /// # Errors
    ///
    /// It can't be read, or git failed.
    pub fn write_raw_blob(&self, path: &RepoPath) -> Result<Oid> {
        let mut oids = self.write_raw_blobs(std::slice::from_ref(path))?;
        oids.pop()
            .ok_or_else(|| GitError::unexpected_bytes("git hash-object", b""))
    }

    /// The id of the blob that git would make of a file, were it at this path: through that path's filters.
    ///
    /// `None` where a filter fails.
    ///
    /// # Errors
    ///
    /// git could not be started.
    pub fn hash_as(&self, file: &RepoPath, path: &RepoPath) -> Result<Option<Oid>> {
        let mut as_path = std::ffi::OsString::from("--path=");
        as_path.push(os_path(path.as_bytes()));
        let ask = self.ask("hash-object").setting(ONLY_HASHED);
        let ask = ask.arg(as_path).arg("--");
        let finished = ask.arg(os_path(file.as_bytes())).outcome()?;
        Ok(match finished.status.success() {
            true => one_oid("git hash-object", &finished.stdout).ok(),
            false => None,
        })
    }

    /// Hands over those of these objects that are blobs of so many bytes at most, one after the other.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn each_blob_up_to(
        &self,
        oids: &[Oid],
        bytes: u64,
        mut see: impl FnMut(&Oid, &[u8]),
    ) -> Result<()> {
        let lines: String = oids.iter().map(|oid| format!("{oid}\n")).collect();
        let ask = self.ask("cat-file").args(["--batch-check", "--buffer"]);
        let output = ask.input(lines).run()?;
        let small = output.lines().filter_map(|line| {
            let mut words = line.to_str().ok()?.split(' ');
            let (oid, kind, length) = (words.next()?, words.next()?, words.next()?);
            let is_small = length.parse().is_ok_and(|length: u64| length <= bytes);
            (kind == "blob" && is_small)
                .then(|| Oid::new(oid))
                .flatten()
        });
        let small: Vec<Oid> = small.collect();
        self.each_object("blob", &small, |oid, content| see(oid, &content))
    }
}

/// A path for commands that read one a line: quoted as git quotes, so that a line break in it does no harm.
fn quoted_line(path: &[u8]) -> Vec<u8> {
    let mut line = vec![b'"'];
    for &byte in path {
        match byte {
            b'"' | b'\\' => line.extend([b'\\', byte]),
            0x20..=0x7e => line.push(byte),
            other => line.extend(format!("\\{other:03o}").bytes()),
        }
    }
    line.extend(b"\"\n");
    line
}
