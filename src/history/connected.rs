//! Files of other programs that `init` changes: where they really are, how they are written, and what is remembered so
//! that each can be given back as it was.
//!
//! Nothing is remembered that can't be found again but the bytes from before: without them a file gets back what it meant,
//! not always the same white space.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bstr::ByteSlice;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result, While};
use crate::gitengine::{Git, RepoPath, git_bytes, hex, is_repository, literal, path_of_literal};

use super::lock::Brief;
use super::restore::disk::{Content, Disk, Displaced, is_executable};
use super::state::{read_if_there, write_at_once};
use super::workspace::{Locked, Workspace};

const FILE: &str = "connected.json";
/// The folder of the common directory that `exclude` lies in.
const FOLDER: &str = "info";
const BEGIN: &str = "# edio: begin";
const END: &str = "# edio: end";

/// On what ground a file lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// In this folder, and whatever leads out of it is left alone.
    Within,
    /// Named from this folder, wherever its links lead.
    From,
}

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It is read.
    Text,
    /// It can be run.
    Program,
}

/// Why a file is not written.
#[derive(Debug, thiserror::Error)]
pub enum Barred {
    /// A link on the way leads out of the folder.
    #[error("a link leads out of the work tree from there")]
    LeadsOutside,
    /// A link on the way leads nowhere.
    #[error("a link leads nowhere from there")]
    LeadsNowhere,
    /// It lies in a repository of its own.
    #[error("it lies in a repository of its own")]
    Nested,
    /// What stands there is no file.
    #[error("what stands there is no file")]
    NoFile,
    /// It can't be read.
    #[error("it can't be read: {0}")]
    Unreadable(io::Error),
}

/// Where a file really is, links followed, and what it has.
#[derive(Debug)]
pub struct Site {
    /// A folder that exists, and that no link on the way to the file leads out of.
    base: PathBuf,
    /// The file, from there.
    path: RepoPath,
    /// What it has; `None` where there is no file.
    pub content: Option<Vec<u8>>,
}

impl Site {
    /// Looks for the file at a path from a folder.
    ///
    /// # Errors
    ///
    /// It must not be written, or can't be.
    pub fn look(folder: &Path, path: &str, ground: Ground) -> std::result::Result<Self, Barred> {
        let top = fs::canonicalize(folder).map_err(Barred::Unreadable)?;
        let named = top.join(path);
        let there = named
            .ancestors()
            .find(|part| part.symlink_metadata().is_ok());
        let there = there.ok_or(Barred::LeadsNowhere)?;
        let real = fs::canonicalize(there).map_err(|_| Barred::LeadsNowhere)?;
        let missing = named
            .strip_prefix(there)
            .map_err(|_| Barred::LeadsNowhere)?;
        let is_new = !missing.as_os_str().is_empty();
        if real.is_dir() != is_new {
            return Err(Barred::NoFile);
        }
        let (base, path) = match (ground, is_new) {
            (Ground::Within, _) => (top.clone(), real.join(missing)),
            (Ground::From, true) => (real.clone(), real.join(missing)),
            (Ground::From, false) => (real.parent().unwrap_or(&top).to_owned(), real.clone()),
        };
        // `join` of nothing would add a slash.
        let path = if is_new { path } else { real.clone() };
        let path = path.strip_prefix(&base).map_err(|_| Barred::LeadsOutside)?;
        let path = RepoPath::new(git_bytes(path)).ok_or(Barred::LeadsOutside)?;
        if ground == Ground::Within {
            let mut folders = path.ancestors();
            if folders.any(|folder| is_repository(&folder.below(&base))) {
                return Err(Barred::Nested);
            }
        }
        let content = match (is_new, real.is_file()) {
            (true, _) => None,
            (false, true) => Some(fs::read(&real).map_err(Barred::Unreadable)?),
            (false, false) => return Err(Barred::NoFile),
        };
        Ok(Self {
            base,
            path,
            content,
        })
    }

    /// The path of a file in the work tree, from its top.
    pub fn path(&self) -> &RepoPath {
        &self.path
    }

    /// Can it be run?
    pub fn is_program(&self) -> bool {
        let meta = self.path.below(&self.base).metadata();
        meta.is_ok_and(|meta| is_executable(&meta))
    }

    /// Writes the file, all at once. Its permissions stay, but for a program's: that can be run.
    ///
    /// # Errors
    ///
    /// It can't be written, or is not any more what it was when it was looked for. It is as it was then.
    pub fn write(&self, bytes: &[u8], kind: Kind) -> Result<()> {
        let disk = Disk::new(&self.base);
        let Some(displaced) = self.place(&disk, bytes, kind)? else {
            return Ok(());
        };
        let stood = fs::read(displaced.path.below(&self.base)).or_cannot(|| self.unwritable())?;
        if Some(&stood) == self.content.as_ref() {
            return self.discard(&disk, &displaced);
        }
        // Another has written it meanwhile: that stays.
        if let Some(own) = self.place(&disk, &stood, Kind::Text)? {
            self.discard(&disk, &own)?;
        }
        self.discard(&disk, &displaced)?;
        Err(self.changed())
    }

    /// Removes the file.
    ///
    /// # Errors
    ///
    /// As for [`Site::write`].
    pub fn remove(&self) -> Result<()> {
        let disk = Disk::new(&self.base);
        let present = fs::read(self.path.below(&self.base)).ok();
        if present != self.content {
            return Err(self.changed());
        }
        let gone = disk.take_away(&self.path).or_cannot(|| self.unwritable())?;
        gone.map_or(Ok(()), |gone| self.discard(&disk, &gone))
    }

    fn place(&self, disk: &Disk, bytes: &[u8], kind: Kind) -> Result<Option<Displaced>> {
        let mut reader = bytes;
        let mut content = Content::File {
            fresh: None,
            length: bytes.len() as u64,
            bytes: &mut reader,
            executable: kind == Kind::Program || self.is_program(),
        };
        disk.place(&self.path, &mut content)
            .or_cannot(|| self.unwritable())
    }

    fn discard(&self, disk: &Disk, displaced: &Displaced) -> Result<()> {
        disk.discard(displaced).or_cannot(|| self.unwritable())
    }

    fn unwritable(&self) -> String {
        format!("can't write {}", self.path.below(&self.base).display())
    }

    fn changed(&self) -> Error {
        let file = self.path.below(&self.base);
        Error::cannot(format!("{} is being changed by another", file.display()))
            .hint("run it again")
    }
}

/// What is remembered of the files that `init` has written in a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Connected {
    /// The agents that are connected, by name.
    pub agents: BTreeSet<String>,
    files: Vec<Remembered>,
    /// There was no `info/exclude` before.
    made_exclude: bool,
    /// There was no `info` before.
    made_info: bool,
}

/// A file that was written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Remembered {
    /// Its name, from the top of the work tree or from the home folder.
    path: String,
    /// Does it lie in the home folder?
    in_home: bool,
    /// What it had before, in base64; `None` where there was no file.
    before: Option<String>,
    /// The hash of what was written.
    wrote: String,
    /// The pattern that keeps it out of git's sight, where there is one.
    excluded: Option<String>,
    /// The folders that were made for it.
    folders: Vec<String>,
}

impl Remembered {
    /// What the file had before. `None` where there was none.
    pub fn before(&self) -> Option<Vec<u8>> {
        STANDARD.decode(self.before.as_ref()?).ok()
    }

    /// The same; nothing where there was none.
    pub fn text_before(&self) -> Vec<u8> {
        self.before().unwrap_or_default()
    }

    fn is_whole(&self) -> bool {
        self.before.is_none() || self.before().is_some()
    }

    /// Is it as it was written?
    pub fn is_untouched(&self, present: &[u8]) -> bool {
        self.wrote == hash(present)
    }
}

fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

impl Connected {
    /// What is remembered in this scratch folder.
    ///
    /// # Errors
    ///
    /// It is there, and can't be read.
    pub fn load(folder: &Path) -> Result<Self> {
        let mut connected: Self = read_if_there(folder, FILE, &[io::ErrorKind::NotFound])?;
        // What was before, and is garbled, would be given back as an empty file.
        connected.files.retain(Remembered::is_whole);
        Ok(connected)
    }

    /// Writes it down, all at once; readable for nobody else.
    ///
    /// # Errors
    ///
    /// The git directory can't be written.
    pub fn save(&self, folder: &Path) -> Result<()> {
        if *self == Self::load(folder)? {
            return Ok(());
        }
        let bytes = serde_json::to_vec(self)
            .map_err(|error| Error::bug("what was written can't be remembered").because(error))?;
        write_at_once(folder, FILE, &bytes)
    }

    /// What is remembered of a file.
    pub fn file(&self, path: &str, ground: Ground) -> Option<&Remembered> {
        let mut files = self.files.iter();
        files.find(|file| file.path == path && file.in_home == (ground == Ground::From))
    }

    /// Remembers that this is about to be written. `before` is what the file would be without it.
    pub fn remember(
        &mut self,
        path: &str,
        ground: Ground,
        folder: &Path,
        before: Option<&[u8]>,
        bytes: &[u8],
    ) {
        let known = self.file(path, ground).cloned().unwrap_or_default();
        let folders = missing_folders(folder, path);
        let file = Remembered {
            path: path.to_owned(),
            in_home: ground == Ground::From,
            before: before.map(|before| STANDARD.encode(before)),
            wrote: hash(bytes),
            folders: folders.into_iter().chain(known.folders).collect(),
            excluded: known.excluded,
        };
        self.forget(path, ground);
        self.files.push(file);
    }

    /// Remembers of a file what was remembered then.
    pub fn remember_again(&mut self, path: &str, ground: Ground, then: &Self) {
        self.forget(path, ground);
        self.files.extend(then.file(path, ground).cloned());
    }

    /// Remembers whether a pattern keeps a file out of git's sight.
    pub fn exclude(&mut self, path: &str, pattern: Option<String>) {
        let mut files = self.files.iter_mut();
        if let Some(file) = files.find(|file| file.path == path && !file.in_home) {
            file.excluded = pattern;
        }
    }

    /// Remembers nothing of a file any more.
    pub fn forget(&mut self, path: &str, ground: Ground) {
        let in_home = ground == Ground::From;
        self.files
            .retain(|file| file.path != path || file.in_home != in_home);
    }

    /// Removes the folders that were made for these files, those that are empty now.
    pub fn remove_folders(&self, paths: &BTreeSet<&str>, ground: Ground, folder: &Path) {
        let files = paths.iter().filter_map(|path| self.file(path, ground));
        let made: BTreeSet<&String> = files.flat_map(|file| &file.folders).collect();
        // What lies in a folder comes after it.
        for name in made.into_iter().rev() {
            remove_if_empty(&folder.join(name));
        }
    }
}

/// The folders above a path that must be made before a file can be.
fn missing_folders(folder: &Path, path: &str) -> Vec<String> {
    let ends = path.match_indices('/').map(|(end, _)| &path[..end]);
    let missing = ends.filter(|name| folder.join(name).symlink_metadata().is_err());
    missing.map(str::to_owned).collect()
}

/// A folder that was made is no link: where one is in its place by now, nothing is removed.
fn remove_if_empty(folder: &Path) {
    let is_folder = folder.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    let is_empty = fs::read_dir(folder).is_ok_and(|mut all| all.next().is_none());
    let real = fs::canonicalize(folder)
        .ok()
        .filter(|_| is_folder && is_empty);
    let Some((above, name)) = real
        .as_deref()
        .and_then(|real| Some((real.parent()?, real.file_name()?)))
    else {
        return;
    };
    if let Some(name) = RepoPath::new(git_bytes(Path::new(name))) {
        // Whoever fills it at this moment keeps it.
        let _ = Disk::new(above).remove_empty_folder(&name);
    }
}

/// The pattern that matches just this path, where there is one that is text.
pub fn pattern_of(path: &RepoPath) -> Option<String> {
    let pattern = String::from_utf8(literal(path)).ok()?;
    path_of(&pattern).is_some().then_some(pattern)
}

fn path_of(pattern: &str) -> Option<String> {
    let path = path_of_literal(pattern.as_bytes())?;
    Some(path.to_string())
}

/// The block of edio's in `info/exclude`, which all worktrees of a repository share.
pub struct Excludes {
    site: Site,
    /// A byte order mark, without which git would take the first line for another.
    mark: Vec<u8>,
    patterns: BTreeSet<String>,
    rest: Vec<u8>,
}

impl Excludes {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// A link leads out of the git directory, or it can't be read.
    pub fn read(git: &Git) -> std::result::Result<Self, Barred> {
        let site = Site::look(&git.common_dir, "info/exclude", Ground::Within)?;
        let content = site.content.clone().unwrap_or_default();
        let unmarked = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&content);
        let mark = content[..content.len() - unmarked.len()].to_vec();
        let (block, rest) = split(unmarked);
        let patterns = block.lines().filter(|line| line.starts_with(b"/"));
        let patterns = patterns.filter_map(|line| Some(line.to_str().ok()?.to_owned()));
        Ok(Self {
            patterns: patterns.collect(),
            rest: rest.concat(),
            mark,
            site,
        })
    }

    /// Is this pattern among edio's?
    pub fn has(&self, pattern: &str) -> bool {
        self.patterns.contains(pattern)
    }

    /// The paths that edio's patterns match.
    pub fn paths(&self) -> impl Iterator<Item = String> {
        self.patterns.iter().filter_map(|pattern| path_of(pattern))
    }

    /// The same, where another worktree has written them.
    ///
    /// # Errors
    ///
    /// The other worktrees can't be listed, or what is remembered there can't be read.
    pub fn elsewhere(workspace: &Workspace) -> Result<BTreeSet<String>> {
        let patterns = patterns_elsewhere(workspace)?;
        let paths = patterns.iter().filter_map(|pattern| path_of(pattern));
        Ok(paths.collect())
    }

    /// Keeps other worktrees from changing it, as long as this is held. A change is noticed all the same, but of three at
    /// once one could put back what another has just written.
    ///
    /// # Errors
    ///
    /// Another holds it for too long.
    pub fn hold(git: &Git) -> Result<Option<Brief>> {
        Brief::on_folder(&git.common_dir.join(FOLDER))
    }

    /// Adds and takes away patterns. What another worktree has written stays out of git's sight there.
    ///
    /// # Errors
    ///
    /// It can't be written, or the other worktrees can't be listed or read.
    pub fn change(
        mut self,
        workspace: &Locked,
        connected: &mut Connected,
        added: &BTreeSet<String>,
        dropped: &BTreeSet<String>,
    ) -> Result<()> {
        let elsewhere = patterns_elsewhere(workspace)?;
        self.patterns.extend(added.iter().cloned());
        self.patterns
            .retain(|pattern| !dropped.contains(pattern) || elsewhere.contains(pattern));
        let block = match self.patterns.is_empty() {
            true => String::new(),
            false => {
                let lines: Vec<_> = self.patterns.iter().map(String::as_str).collect();
                format!("{BEGIN}\n{}\n{END}\n", lines.join("\n"))
            }
        };
        let bytes = [&self.mark, block.as_bytes(), &self.rest].concat();
        if bytes == self.site.content.as_deref().unwrap_or_default() {
            return Ok(());
        }
        let folder = self.site.base.join(FOLDER);
        if bytes.is_empty() && connected.made_exclude {
            self.site.remove()?;
            if connected.made_info {
                remove_if_empty(&folder);
            }
            (connected.made_exclude, connected.made_info) = (false, false);
            return Ok(());
        }
        connected.made_exclude |= self.site.content.is_none();
        connected.made_info |= folder.symlink_metadata().is_err();
        self.site.write(&bytes, Kind::Text)
    }
}

/// The block of edio's in a text, and what stands before and after it. One that has lost its end has the patterns that
/// follow its beginning.
fn split(text: &[u8]) -> (&[u8], [&[u8]; 2]) {
    let parts = |from, to| (&text[from..to], [&text[..from], &text[to..]]);
    let mut at = 0;
    let mut block = None;
    for line in text.lines_with_terminator() {
        let end = at + line.len();
        match (block, line.trim_ascii_end()) {
            (_, line) if line == BEGIN.as_bytes() => block = Some((at, end)),
            (Some((from, _)), line) if line == END.as_bytes() => return parts(from, end),
            (Some((from, to)), line) if to == at && line.starts_with(b"/") => {
                block = Some((from, end));
            }
            _ => {}
        }
        at = end;
    }
    block.map_or((&[], [text, &[]]), |(from, to)| parts(from, to))
}

/// What the other worktrees of the repository keep out of git's sight.
fn patterns_elsewhere(workspace: &Workspace) -> Result<BTreeSet<String>> {
    let mut patterns = BTreeSet::new();
    for folder in workspace.scratch_elsewhere()? {
        let files = Connected::load(&folder)?.files.into_iter();
        patterns.extend(files.filter_map(|file| file.excluded));
    }
    Ok(patterns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_block_and_nothing_else() {
        let text = b"a\r\n# edio: begin\n/x\n# edio: end\nb";
        let (block, rest) = split(text);
        assert_eq!(block, b"# edio: begin\n/x\n# edio: end\n");
        assert_eq!(rest.concat(), b"a\r\nb");
        for text in [&b"# edio: end\n"[..], b"", b"x"] {
            assert_eq!(split(text).1.concat(), text);
        }
        let text = b"a\n# edio: begin\n*.log\n# edio: begin\n/x\n# edio: end\n";
        assert_eq!(split(text).1.concat(), b"a\n# edio: begin\n*.log\n");
        let text = b"a\n# edio: begin\n/x\n/y\n\n/z\n";
        assert_eq!(split(text).0, b"# edio: begin\n/x\n/y\n");
        assert_eq!(split(text).1.concat(), b"a\n\n/z\n");
    }

    #[test]
    fn a_pattern_matches_just_its_path() {
        let pattern = |path: &str| pattern_of(&RepoPath::new(path).unwrap());
        assert_eq!(pattern(".mcp.json").as_deref(), Some("/.mcp.json"));
        assert_eq!(pattern("a b/[c]*").as_deref(), Some(r"/a\ b/\[c]\*"));
        assert_eq!(pattern("a\nb"), None);
    }
}
