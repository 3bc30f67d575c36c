//! Objects of any type: which are there, and their content.

use std::collections::{BTreeSet, HashSet};

use bstr::ByteSlice;

use super::oid::Oid;
use crate::gitengine::command::{Answer, Ask, Git};
use crate::gitengine::error::{GitError, Result};

impl Git {
    /// Starts to read these objects, in this order.
    ///
    /// # Errors
    ///
    /// git could not be started.
    pub fn objects(&self, oids: &[Oid]) -> Result<Objects> {
        let lines: String = oids.iter().map(|oid| format!("contents {oid}\n")).collect();
        Ok(Objects {
            answer: self.ask_to_read().input(lines).read()?,
        })
    }

    /// The same; but the first part of the answer says of each, in this order, whether it is there
    /// ([`Objects::next_is_there`]).
    ///
    /// # Errors
    ///
    /// git could not be started.
    pub fn objects_after_a_look(&self, oids: &[Oid]) -> Result<Objects> {
        let looks = oids.iter().map(|oid| format!("info {oid}\n"));
        let contents = oids.iter().map(|oid| format!("contents {oid}\n"));
        let lines: String = looks.chain(contents).collect();
        Ok(Objects {
            answer: self.ask_to_read().input(lines).read()?,
        })
    }

    /// Reads objects: its input is `contents NAME`, or `info NAME` for the first line of the answer alone.
    pub(in crate::gitengine) fn ask_to_read(&self) -> Ask {
        self.ask("cat-file").args(["--batch-command", "--buffer"])
    }

    /// These objects as they are stored, all of this type, in the same order.
    ///
    /// # Errors
    ///
    /// One of them is missing or of another type, or git failed.
    pub fn raw_objects(&self, kind: &str, oids: &[Oid]) -> Result<Vec<Vec<u8>>> {
        let mut contents = Vec::with_capacity(oids.len());
        self.each_object(kind, oids, |_, content| contents.push(content))?;
        Ok(contents)
    }

    pub(super) fn each_object(
        &self,
        kind: &str,
        oids: &[Oid],
        mut see: impl FnMut(&Oid, Vec<u8>),
    ) -> Result<()> {
        if oids.is_empty() {
            return Ok(());
        }
        let mut objects = self.objects(oids)?;
        for oid in oids {
            let length = objects.next_of(kind, oid)?;
            see(oid, objects.answer.exactly(length)?);
            objects.end_of_object()?;
        }
        objects.answer.close()
    }

    /// Which of these objects are not here, as in a partial clone. None is fetched.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn missing(&self, oids: &[Oid]) -> Result<BTreeSet<Oid>> {
        let lines: String = oids.iter().map(|oid| format!("{oid}\n")).collect();
        let ask = self.ask("cat-file").args(["--batch-check", "--buffer"]);
        let Ok(output) = ask.input(lines).run() else {
            return self.missing_among_all(oids);
        };
        let missing = output
            .lines()
            .filter_map(|line| line.strip_suffix(b" missing"));
        let oids: Option<BTreeSet<Oid>> = missing.map(Oid::from_bytes).collect();
        oids.ok_or_else(|| GitError::unexpected_bytes("git cat-file --batch-check", &output))
    }

    /// The same where git is so old that it ends over the first one that it may not fetch: by a list of all there are.
    fn missing_among_all(&self, oids: &[Oid]) -> Result<BTreeSet<Oid>> {
        let ask = self
            .ask("cat-file")
            .args(["--batch-all-objects", "--unordered"]);
        let output = ask.arg("--batch-check=%(objectname)").run()?;
        let there: HashSet<&[u8]> = output.lines().collect();
        let is_missing = |oid: &&Oid| !there.contains(oid.as_str().as_bytes());
        Ok(oids.iter().filter(is_missing).cloned().collect())
    }
}

/// Objects under way from `git cat-file`.
pub struct Objects {
    /// The stream; after [`Objects::next_of`] it stands at the object's first byte.
    pub answer: Answer,
}

impl Objects {
    /// Is the next object there? That its content is whole is not looked at.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn next_is_there(&mut self) -> Result<bool> {
        let header = self.answer.record(b'\n')?;
        let header = header.ok_or_else(|| self.answer.unexpected("the output is cut off"))?;
        Ok(!header.ends_with(b" missing"))
    }

    /// Goes on to the next object, which must be this one. Returns its length.
    ///
    /// # Errors
    ///
    /// It is missing, or of another type, or git failed.
    pub fn next_of(&mut self, kind: &str, oid: &Oid) -> Result<u64> {
        let header = self.answer.record(b'\n')?.unwrap_or_default();
        let text = header.to_str_lossy();
        let mut words = text.split(' ');
        let length = match (words.next(), words.next(), words.next()) {
            (Some(id), Some(found), Some(length)) if id == oid.as_str() && found == kind => {
                length.parse().ok()
            }
            _ => None,
        };
        length.ok_or_else(|| {
            self.answer
                .unexpected(format!("instead of the {kind} {oid}: {text:?}"))
        })
    }

    /// Reads the next object. `None` where it is missing or of another type.
    pub(super) fn next_that_is_whole(&mut self, kind: &str, oid: &Oid) -> Result<Option<Vec<u8>>> {
        let header = self.answer.record(b'\n')?.unwrap_or_default();
        let text = header.to_str_lossy();
        let words: Vec<&str> = text.split(' ').collect();
        match (words.as_slice(), words.last().map(|last| last.parse())) {
            ([id, "missing"], _) if *id == oid.as_str() => Ok(None),
            ([id, found, _], Some(Ok(length))) if *id == oid.as_str() => {
                let raw = self.answer.exactly(length)?;
                self.end_of_object()?;
                Ok((*found == kind).then_some(raw))
            }
            _ => Err(self.answer.unexpected(format!("{text:?}"))),
        }
    }

    /// Reads the line break that follows each object.
    ///
    /// # Errors
    ///
    /// It is not there.
    pub fn end_of_object(&mut self) -> Result<()> {
        match self.answer.exactly(1)?.as_slice() {
            b"\n" => Ok(()),
            _ => Err(self.answer.unexpected("an object without its end")),
        }
    }
}
