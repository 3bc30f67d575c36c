//! A turn's files in a folder of their own, outside the work tree: for commands that are tried on a turn.
//!
//! A room is a folder that holds checkouts, each with what is known of it beside it, so that a command that looks through
//! all files meets none of edio's. One checkout goes from turn to turn: only what differs is written, and what the command
//! has made and no turn held there stays, as build folders do.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, While};
use crate::gitengine::{
    Conversion, Entry, Git, GitError, LfsFiles, Mode, Objects, Oid, PrivateIndex, RepoPath,
    git_bytes,
};

use super::bytes::{self, RawIds, Unnoted, fingerprint, may_convert};
use super::lock::Claim;
use super::realpath::real;
use super::restore::disk::{Content, Disk};
use super::restore::{Look, OnDisk, clear_folder, lfs_pointer};
use super::turn::Turn;
use super::workspace::{Start, Workspace};

/// The file by which a folder is known as one that edio made.
const MARK: &str = "edio-checkouts";

/// What that file says.
const MARKED: &str = "edio made this folder, for `edio exec --keep` and `edio bisect --keep`.\n\
                      The files of a turn are in tree, tree-2, …; all of it may be removed.\n";

/// A folder that holds checkouts.
pub struct Room<'w> {
    workspace: &'w Workspace,
    folder: PathBuf,
    stay: Stay,
    links: Vec<(RepoPath, Vec<u8>)>,
    _claim: Option<Claim>,
}

/// What becomes of checkouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stay {
    /// They go with the room.
    Removed,
    /// The next command goes on with them.
    Kept,
}

impl<'w> Room<'w> {
    /// A room in a fresh folder, which is empty again at the end.
    ///
    /// # Errors
    ///
    /// The folder lies where the user's files or git's are.
    pub fn temporary(workspace: &'w Workspace, folder: &Path) -> Result<Self> {
        let folder = real_folder(folder)?;
        refuse_inside(workspace, &folder).map_err(|error| {
            error.hint("name a folder elsewhere with --keep, or set TMPDIR to one")
        })?;
        Ok(Self {
            workspace,
            folder,
            stay: Stay::Removed,
            links: Vec::new(),
            _claim: None,
        })
    }

    /// A room in a folder that stays, made where there is none.
    ///
    /// # Errors
    ///
    /// It lies where the user's files or git's are, has something in it that is not edio's, or another edio works in it.
    pub fn kept(workspace: &'w Workspace, folder: &Path) -> Result<Self> {
        let folder = real_folder(folder)?;
        refuse_inside(workspace, &folder).map_err(|error| error.hint("name a folder elsewhere"))?;
        let made = fs::create_dir_all(&folder);
        made.or_cannot(|| format!("can't make {}", folder.display()))?;
        let mark = folder.join(MARK);
        if !mark.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
            let mut inside =
                fs::read_dir(&folder).or_cannot(|| format!("can't read {}", folder.display()))?;
            if inside.next().is_some() {
                return Err(Error::refused(format!(
                    "{} is not empty, and was not made by edio",
                    folder.display()
                ))
                .hint("name an empty folder, or one that does not exist yet"));
            }
            fs::write(&mark, MARKED).or_cannot(|| format!("can't write {}", mark.display()))?;
        }
        Ok(Self {
            workspace,
            _claim: Some(Claim::on(&mark)?),
            folder,
            stay: Stay::Kept,
            links: Vec::new(),
        })
    }

    /// Has each checkout lead to these files and folders of the work tree, where its turn holds nothing.
    ///
    /// # Errors
    ///
    /// One of them is not there, or lies outside.
    pub fn link(&mut self, arguments: &[PathBuf]) -> Result<()> {
        for argument in arguments {
            let shown = argument.display();
            let path = self.workspace.path_argument(argument, Start::Here)?;
            let path = path.ok_or_else(|| {
                Error::usage(format!("{shown} is the whole work tree"))
                    .hint("name an ignored file or folder in it")
            })?;
            let target = path.below(&self.workspace.git.work_tree);
            if target.symlink_metadata().is_err() {
                return Err(
                    Error::cannot(format!("there is no {path} in the work tree"))
                        .hint("name an ignored file or folder that is there"),
                );
            }
            let overlaps =
                |(other, _): &&(RepoPath, Vec<u8>)| path.is_within(other) || other.is_within(&path);
            if let Some((other, _)) = self.links.iter().find(overlaps) {
                return Err(Error::usage(format!(
                    "one of {other} and {path} lies in the other"
                )));
            }
            self.links.push((path, git_bytes(&target)));
        }
        Ok(())
    }

    /// The folder, by its real path.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The checkout of this number, from 1. In a room that was kept it is as it was left.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn checkout(&self, number: usize) -> Result<Checkout<'_>> {
        let name = match number {
            1 => "tree".to_owned(),
            number => format!("tree-{number}"),
        };
        let top = self.folder.join(&name);
        let mut checkout = Checkout {
            room: self,
            disk: Disk::new(&top),
            held: BTreeMap::new(),
            state: self.folder.join(format!("{name}.json")),
            stage: self.folder.join(format!("{name}.stage")),
            index: self.folder.join(format!("{name}.index")),
            name,
            top,
        };
        let known = fs::read(&checkout.state).ok();
        match known.and_then(|known| serde_json::from_slice::<Vec<_>>(&known).ok()) {
            Some(held) if is_folder(&checkout.top) => checkout.held = held.into_iter().collect(),
            // It is not known what is in it: edio was killed while it wrote there.
            _ => checkout.begin_anew()?,
        }
        Ok(checkout)
    }

    fn remove(&self, name: &str) -> Result<()> {
        let gone = match RepoPath::new(name) {
            Some(name) => Disk::new(&self.folder).remove_folder(&name),
            None => Ok(()),
        };
        gone.or_cannot(|| format!("can't remove {}", self.folder.join(name).display()))
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        if self.stay == Stay::Kept {
            return;
        }
        let inside = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        for entry in inside {
            // Whoever made the folder finds out that it is not empty.
            let _ = self.remove(&entry.file_name().to_string_lossy());
        }
    }
}

fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}

fn real_folder(folder: &Path) -> Result<PathBuf> {
    real(folder).ok_or_else(|| Error::cannot(format!("can't find {}", folder.display())))
}

/// Nothing may come into the work tree, nor into the git directory.
fn refuse_inside(workspace: &Workspace, folder: &Path) -> Result<()> {
    let git = &workspace.git;
    let places = [
        (&git.git_dir, "the git directory"),
        (&git.common_dir, "the git directory"),
        (&git.work_tree, "the work tree"),
    ];
    for (place, what) in places {
        let real = place.canonicalize();
        if folder.starts_with(real.as_ref().unwrap_or(place)) {
            let folder = folder.display();
            return Err(Error::refused(format!("{folder} lies in {what}")));
        }
    }
    Ok(())
}

/// One folder with the files of a turn.
pub struct Checkout<'r> {
    room: &'r Room<'r>,
    name: String,
    top: PathBuf,
    disk: Disk,
    /// What edio has put there.
    held: BTreeMap<RepoPath, Held>,
    state: PathBuf,
    stage: PathBuf,
    index: PathBuf,
}

/// What edio has put at a path.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Held {
    wanted: Wanted,
    /// The bytes, or the target of a link, as a blob. A folder has none.
    bytes: Option<Oid>,
    /// What the system says of it, where another change would bear another stamp.
    stamp: Option<Stamp>,
}

/// What is to stand at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Wanted {
    mode: Mode,
    source: Source,
}

/// Where the bytes come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Source {
    /// They are a blob's.
    Blob(Oid),
    /// They are what git's filters make of a blob. What decides about filters is summed up in `rules`.
    Filtered { blob: Oid, rules: Oid },
    /// A link to the work tree, with its target as a blob would have it.
    Link(Oid),
    /// There are none: a submodule is an empty folder.
    Nowhere,
}

/// What the system says of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    device: u64,
    number: u64,
    mode: u32,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

type Wishes = BTreeMap<RepoPath, Wanted>;

impl Checkout<'_> {
    /// The top of the files.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// The folder that stands for this one of the work tree, where the turn has it; else the top.
    pub fn folder_for(&self, prefix: &[u8]) -> PathBuf {
        let folder = RepoPath::new(prefix).filter(|folder| {
            let mut held = self.held.keys();
            held.any(|path| path != folder && path.is_within(folder))
        });
        folder.map_or_else(|| self.top.clone(), |folder| folder.below(&self.top))
    }

    /// The submodules of the turn, which are empty folders here.
    pub fn submodules(&self) -> impl Iterator<Item = &RepoPath> {
        let held = self.held.iter();
        held.filter(|(_, held)| held.wanted.source == Source::Nowhere)
            .map(|(path, _)| path)
    }

    /// Makes the files those of a turn, as a restore would. What a command has changed of what the last turn held is put
    /// right, and what it has made beside that stays, unless it is in the way.
    ///
    /// # Errors
    ///
    /// The turn can't be read, a filter fails, the system refuses, or it was interrupted.
    pub fn go_to(&mut self, turn: &Turn, is_interrupted: &dyn Fn() -> bool) -> Result<()> {
        let wishes = self.wishes(turn)?;
        // Where this is stopped midway, nobody knows what is there.
        match fs::remove_file(&self.state) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).or_cannot(|| format!("can't remove {}", self.state.display()));
            }
            _ => {}
        }
        if !is_folder(&self.top) {
            self.begin_anew()?;
        }
        let stale: Vec<RepoPath> = self.held.keys().cloned().collect();
        for path in stale.iter().filter(|path| !wishes.contains_key(path)) {
            self.remove(path)
                .or_cannot(|| self.cannot("remove", path))?;
            self.held.remove(path);
        }
        let mut unsure = Vec::new();
        let mut writes = Vec::new();
        for (path, wanted) in wishes {
            if is_interrupted() {
                return Err(interrupted());
            }
            match self.look(&path, &wanted) {
                Standing::AsStamped => {}
                Standing::AsHeld => unsure.push(path),
                Standing::Other => writes.push((path, wanted)),
            }
        }
        self.stage_filtered(&writes, lfs_files(Unnoted::of(turn)))?;
        self.write(&writes, is_interrupted)?;
        unsure.extend(writes.into_iter().map(|(path, _)| path));
        self.stamp(&unsure)?;
        self.save()
    }

    /// Begins with an empty folder.
    fn begin_anew(&mut self) -> Result<()> {
        self.held.clear();
        self.room.remove(&self.name)?;
        let made = fs::create_dir(&self.top);
        made.or_cannot(|| format!("can't make {}", self.top.display()))
    }

    fn cannot(&self, verb: &str, path: &RepoPath) -> String {
        format!("can't {verb} {path} in {}", self.top.display())
    }

    /// What is to stand where.
    fn wishes(&self, turn: &Turn) -> Result<Wishes> {
        let workspace = self.room.workspace;
        let entries = workspace.git.tree_entries(&turn.tree)?;
        let raw_ids = bytes::of_turn(workspace, turn)?;
        let filtered = self.filtered(&entries, &raw_ids)?;
        let rules = self.rules_summed_up(&entries);
        let wish = |(path, entry): (RepoPath, Entry)| {
            let source = match raw_ids.of(&path, &entry) {
                _ if entry.mode == Mode::Gitlink => Source::Nowhere,
                Some(raw) => Source::Blob(raw.clone()),
                None if filtered.contains(&path) => Source::Filtered {
                    blob: entry.oid,
                    rules: rules.clone(),
                },
                None => Source::Blob(entry.oid),
            };
            let mode = entry.mode;
            (path, Wanted { mode, source })
        };
        let mut wishes: Wishes = entries.into_iter().map(wish).collect();
        self.add_links(&mut wishes);
        Ok(wishes)
    }

    /// Adds the links to the work tree, where the turn holds nothing.
    fn add_links(&self, wishes: &mut Wishes) {
        let format = self.room.workspace.git.format;
        for (path, target) in &self.room.links {
            let mut held = wishes.keys();
            if held.any(|held| held.is_within(path) || path.is_within(held)) {
                continue;
            }
            let wanted = Wanted {
                mode: Mode::Symlink,
                source: Source::Link(format.hash_content(target)),
            };
            wishes.insert(path.clone(), wanted);
        }
    }

    /// The files whose bytes come out of git's filters, by the turn's own attribute files, which are in the stage then.
    fn filtered(
        &self,
        entries: &[(RepoPath, Entry)],
        raw_ids: &RawIds,
    ) -> Result<BTreeSet<RepoPath>> {
        let workspace = self.room.workspace;
        let unknown = entries
            .iter()
            .filter(|(path, entry)| entry.mode.is_file() && raw_ids.of(path, entry).is_none());
        let mut unknown: Vec<(RepoPath, Entry)> = unknown.cloned().collect();
        let rules = attribute_files(entries);
        let has_lfs = workspace.settings.filters().contains(&"lfs");
        let may_be_filtered = match raw_ids.unnoted() {
            Unnoted::IsBlob => has_lfs,
            Unnoted::AsCheckedOut => true,
        };
        if unknown.is_empty() || !may_be_filtered || !may_convert(workspace, !rules.is_empty()) {
            return Ok(BTreeSet::new());
        }
        clear_folder(&self.stage)?;
        self.stage_files(&rules, LfsFiles::AsSet)?;
        let git = Git {
            work_tree: self.stage.clone(),
            ..workspace.git.clone()
        };
        let paths: Vec<RepoPath> = unknown.iter().map(|(path, _)| path.clone()).collect();
        let conversions = git.conversions(&workspace.settings, &paths)?;
        let mut conversions = conversions.into_iter();
        unknown.retain(|_| match (conversions.next(), raw_ids.unnoted()) {
            (Some(conversion), Unnoted::IsBlob) => conversion == Conversion::Lfs,
            (conversion, Unnoted::AsCheckedOut) => conversion != Some(Conversion::None),
            (None, Unnoted::IsBlob) => false,
        });
        Ok(unknown.into_iter().map(|(path, _)| path).collect())
    }

    fn rules_summed_up(&self, entries: &[(RepoPath, Entry)]) -> Oid {
        let mut text = fingerprint(self.room.workspace).into_bytes();
        for (path, entry) in attribute_files(entries) {
            text.extend_from_slice(format!("\0{} ", entry.oid).as_bytes());
            text.extend_from_slice(path.as_bytes());
        }
        self.room.workspace.git.format.hash_content(&text)
    }

    fn stage_files(&self, entries: &[(RepoPath, Entry)], lfs_files: LfsFiles) -> Result<()> {
        let workspace = self.room.workspace;
        let index = PrivateIndex::at(&workspace.git, self.index.clone());
        let staged = workspace.git.check_out_below(
            &self.stage,
            &index,
            entries,
            &workspace.settings,
            lfs_files,
        );
        staged.map_err(|error| {
            Error::cannot("a filter failed, so the turn's files can't be written")
                .because(error)
                .hint("mend the filter: git config --get-regexp ^filter")
        })
    }

    /// Is at a path what edio has put there, and is that what is wanted?
    fn look(&self, path: &RepoPath, wanted: &Wanted) -> Standing {
        let Some(held) = self.held.get(path).filter(|held| &held.wanted == wanted) else {
            return Standing::Other;
        };
        let stands = self.disk.at(path);
        if wanted.source == Source::Nowhere {
            return match stands {
                OnDisk::Folder => Standing::AsHeld,
                _ => Standing::Other,
            };
        }
        let right = match wanted.mode {
            Mode::Symlink => OnDisk::Link,
            _ => OnDisk::File,
        };
        let meta = path.below(&self.top).symlink_metadata();
        let Some(meta) = meta.ok().filter(|_| stands == right) else {
            return Standing::Other;
        };
        if held.stamp == Some(Stamp::of(&meta)) {
            return Standing::AsStamped;
        }
        let format = self.room.workspace.git.format;
        let is_same = matches!(self.disk.blob_id(path, format), Ok(bytes) if bytes == held.bytes);
        match is_same && has_mode(&meta, wanted.mode) {
            true => Standing::AsHeld,
            false => Standing::Other,
        }
    }

    fn write(
        &mut self,
        writes: &[(RepoPath, Wanted)],
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<()> {
        let blobs = writes
            .iter()
            .filter_map(|(_, wanted)| match &wanted.source {
                Source::Blob(oid) => Some(oid.clone()),
                _ => None,
            });
        let blobs: Vec<Oid> = blobs.collect();
        let workspace = self.room.workspace;
        let mut objects = workspace.git.objects(&blobs)?;
        for (path, wanted) in writes {
            if is_interrupted() {
                return Err(interrupted());
            }
            self.clear(path).or_cannot(|| self.cannot("write", path))?;
            let held = Held {
                wanted: wanted.clone(),
                bytes: self.put(path, wanted, &mut objects)?,
                stamp: None,
            };
            self.held.insert(path.clone(), held);
        }
        Ok(objects.answer.close()?)
    }

    /// Puts at a path what is wanted there. Returns the bytes, as a blob.
    fn put(&self, path: &RepoPath, wanted: &Wanted, objects: &mut Objects) -> Result<Option<Oid>> {
        match &wanted.source {
            Source::Nowhere => {
                let made = self.disk.make_folder(path);
                made.or_cannot(|| self.cannot("make", path))?;
                Ok(None)
            }
            Source::Blob(oid) => {
                let length = objects.next_of("blob", oid);
                let length = length.map_err(|error| self.no_content(path, oid, error))?;
                let mut bytes = objects.answer.reader.by_ref().take(length);
                self.place(path, wanted.mode, length, &mut bytes)?;
                objects.end_of_object()?;
                Ok(Some(oid.clone()))
            }
            Source::Link(oid) => {
                let mut links = self.room.links.iter();
                if let Some((_, target)) = links.find(|(link, _)| link == path) {
                    let length = target.len() as u64;
                    self.place(path, wanted.mode, length, &mut target.as_slice())?;
                }
                Ok(Some(oid.clone()))
            }
            Source::Filtered { .. } => self.place_staged(path, wanted.mode).map(Some),
        }
    }

    fn no_content(&self, path: &RepoPath, oid: &Oid, error: GitError) -> Error {
        let error = Error::cannot(format!("the content of {path} can't be read")).because(error);
        match self.room.workspace.settings.is_partial_clone() {
            true => error.hint(format!("to fetch it: git cat-file -e {oid}")),
            false => error,
        }
    }

    /// Has git's filters make what is to be written of their blobs. The attribute files are in the stage already.
    fn stage_filtered(&self, writes: &[(RepoPath, Wanted)], lfs_files: LfsFiles) -> Result<()> {
        let filtered = writes.iter().filter_map(|(path, wanted)| {
            let Source::Filtered { blob, .. } = &wanted.source else {
                return None;
            };
            let entry = Entry {
                mode: wanted.mode,
                oid: blob.clone(),
            };
            let is_there = path.below(&self.stage).symlink_metadata().is_ok();
            (!is_there).then(|| (path.clone(), entry))
        });
        let filtered: Vec<(RepoPath, Entry)> = filtered.collect();
        if filtered.is_empty() {
            return Ok(());
        }
        self.stage_files(&filtered, lfs_files)?;
        let staged = filtered.iter().map(|(path, _)| path);
        match lfs_pointer(&self.stage, staged) {
            Some(path) if lfs_files == LfsFiles::WithContent => Err(Error::cannot(format!(
                "Git LFS has not the content of {path}"
            ))
            .hint("fetch it: git lfs fetch --all")),
            _ => Ok(()),
        }
    }

    fn place_staged(&self, path: &RepoPath, mode: Mode) -> Result<Oid> {
        let staged = path.below(&self.stage);
        let open = || File::open(&staged).or_cannot(|| format!("can't read {}", staged.display()));
        let length = fs::metadata(&staged).map_or(0, |meta| meta.len());
        self.place(path, mode, length, &mut open()?)?;
        let format = self.room.workspace.git.format;
        let id = format.hash_blob(length, open()?);
        id.or_cannot(|| format!("can't read {}", staged.display()))
    }

    fn place(&self, path: &RepoPath, mode: Mode, length: u64, bytes: &mut dyn Read) -> Result<()> {
        let placed = if mode == Mode::Symlink {
            let mut target = Vec::new();
            let read = bytes.read_to_end(&mut target);
            read.and_then(|_| self.disk.place(path, &mut Content::Link(&target)))
        } else {
            let executable = mode == Mode::Executable;
            let mut content = Content::File {
                fresh: None,
                length,
                bytes,
                executable,
            };
            self.disk.place(path, &mut content)
        };
        let discarded = placed.and_then(|displaced| match displaced {
            Some(displaced) => self.disk.discard(&displaced),
            None => Ok(()),
        });
        discarded.or_cannot(|| self.cannot("write", path))
    }

    /// Makes way for a path: whatever stands there, or on the way to it and is no folder, goes.
    fn clear(&self, path: &RepoPath) -> io::Result<()> {
        for folder in path.ancestors() {
            match self.disk.at(&folder) {
                OnDisk::Folder => {}
                OnDisk::Nothing => return Ok(()),
                _ => return self.take_away(&folder),
            }
        }
        match self.disk.at(path) {
            OnDisk::Nothing => Ok(()),
            OnDisk::Folder => self.disk.remove_folder(path),
            _ => self.take_away(path),
        }
    }

    /// Removes what the turn before held. A folder that a command has made in its place stays.
    fn remove(&self, path: &RepoPath) -> io::Result<()> {
        match self.disk.at(path) {
            OnDisk::Nothing => {}
            // Of a submodule: where something is in it, a command has put it there.
            OnDisk::Folder => drop(self.disk.remove_empty_folder(path)),
            _ => self.take_away(path)?,
        }
        self.disk.prune_above(path);
        Ok(())
    }

    fn take_away(&self, path: &RepoPath) -> io::Result<()> {
        match self.disk.take_away(path)? {
            Some(displaced) => self.disk.discard(&displaced),
            None => Ok(()),
        }
    }

    /// Notes what the system says of these paths, but for those that can change again without another stamp.
    fn stamp(&mut self, paths: &[RepoPath]) -> Result<()> {
        let clock = self.state.with_extension("now");
        let now = fs::write(&clock, b"\n").and_then(|()| fs::metadata(&clock));
        let now = now.or_cannot(|| format!("can't write {}", clock.display()))?;
        let now = Stamp::of(&now).changed;
        for path in paths {
            let meta = path.below(&self.top).symlink_metadata();
            let stamp = meta.ok().map(|meta| Stamp::of(&meta));
            if let Some(held) = self.held.get_mut(path) {
                held.stamp = stamp.filter(|stamp| stamp.changed < now);
            }
        }
        Ok(())
    }

    fn save(&self) -> Result<()> {
        if self.stage.exists() {
            let gone = fs::remove_dir_all(&self.stage);
            gone.or_cannot(|| format!("can't remove {}", self.stage.display()))?;
        }
        if self.room.stay == Stay::Removed {
            return Ok(());
        }
        let held: Vec<(&RepoPath, &Held)> = self.held.iter().collect();
        let written = serde_json::to_vec(&held).map_err(io::Error::from);
        let written = written.and_then(|bytes| fs::write(&self.state, bytes));
        written.or_cannot(|| format!("can't write {}", self.state.display()))
    }
}

/// How a path stands to what is wanted there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// Right, and not touched since.
    AsStamped,
    /// Right.
    AsHeld,
    /// Not right.
    Other,
}

/// Git LFS has the content of what edio has seen; of the rest, the user's checkouts may have pointers.
fn lfs_files(unnoted: Unnoted) -> LfsFiles {
    match unnoted {
        Unnoted::IsBlob => LfsFiles::WithContent,
        Unnoted::AsCheckedOut => LfsFiles::AsSet,
    }
}

fn interrupted() -> Error {
    Error::interrupted("interrupted")
}

fn attribute_files(entries: &[(RepoPath, Entry)]) -> Vec<(RepoPath, Entry)> {
    let rules = entries.iter();
    rules
        .filter(|(path, entry)| path.name() == b".gitattributes" && entry.mode.is_file())
        .cloned()
        .collect()
}

#[cfg(unix)]
fn has_mode(meta: &Metadata, mode: Mode) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let is_executable = meta.permissions().mode() & 0o100 != 0;
    mode == Mode::Symlink || is_executable == (mode == Mode::Executable)
}

/// There are no executable bits here.
#[cfg(not(unix))]
fn has_mode(_: &Metadata, _: Mode) -> bool {
    true
}

impl Stamp {
    #[cfg(unix)]
    fn of(meta: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            device: meta.dev(),
            number: meta.ino(),
            mode: meta.mode(),
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// A file that is changed and dated back can't be told here: no stamp is older than now, so each file is read.
    #[cfg(not(unix))]
    fn of(meta: &Metadata) -> Self {
        Self {
            device: 0,
            number: 0,
            mode: 0,
            size: meta.len(),
            modified: (0, 0),
            changed: (0, 0),
        }
    }
}
