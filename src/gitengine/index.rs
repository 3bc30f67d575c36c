//! Index files: edio's own, made from the user's, and what git says of them.
//!
//! A copy keeps the modification time of its source. With a newer one git would trust entries whose file was changed
//! within the same clock tick as the index, and miss edits that keep the size.

use std::fs::{self, File, FileTimes};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bstr::ByteSlice;
use serde::{Deserialize, Serialize};
use sha1::Digest as _;

use super::command::{Ask, Git};
use super::config::Settings;
use super::error::{GitError, Result};
use super::objects::{Entry, Mode, ONLY_HASHED, Oid, hex, one_oid};
use super::paths::{AT_ONCE, RepoPath, os_path};

/// Spares the hashing of a whole index at each write. For edio's own: other programs may miss the checksum.
pub const NO_CHECKSUM: &str = "index.skipHash=true";

/// So many new contents are not written as a file each: they would be the cost.
const MANY: usize = 100;

/// And so many make a pack, then the next begins: for each object git looks through all that it has put into the pack.
const A_PACKFUL: usize = 10_000;

/// git writes what is larger than this into a pack, all that one process takes in into one; at the level of compression
/// that it has for a file each, which takes half the time of its own for packs.
const INTO_A_PACK: [&str; 2] = ["core.bigFileThreshold=1", "pack.compression=1"];

/// What is taken in, as far as one can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Most of it is new to git: many files become one pack.
    New,
    /// git has much of it. To find that out on the way into a pack takes as long as to write it.
    Known,
}

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
}

impl FileStamp {
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

/// An entry of an index, as `git ls-files -s -v -z` prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexEntry {
    /// What it is.
    pub mode: Mode,
    /// Its content.
    pub oid: Oid,
    /// 0, or 1 to 3 where versions are in conflict.
    pub stage: u8,
    /// The file may be absent, or differ: `skip-worktree`.
    pub skip_worktree: bool,
    /// The file is taken for unchanged: `assume-unchanged`.
    pub assume_unchanged: bool,
    /// It only announces a file (`git add -N`). A listing does not tell; [`Git::announced`] does.
    pub intent_to_add: bool,
    /// Its path.
    pub path: RepoPath,
}

impl IndexEntry {
    /// Reads records of `git ls-files -s -v -z`, or of [`IndexEntry::record`].
    ///
    /// # Errors
    ///
    /// One of them is none.
    pub fn read_all(output: &[u8]) -> Result<Vec<Self>> {
        let records = output.split_str("\0").filter(|record| !record.is_empty());
        let entries: Option<_> = records.map(index_entry).collect();
        entries.ok_or_else(|| {
            GitError::unexpected("git ls-files -s -v -z", "an entry that can't be read")
        })
    }

    /// The entry as `git ls-files -s -v -z` prints it, but for an `N` where it announces a file.
    pub fn record(&self) -> Vec<u8> {
        let tag = match (self.skip_worktree, self.assume_unchanged) {
            (false, false) if self.intent_to_add => 'N',
            (true, true) => 's',
            (true, false) => 'S',
            (false, true) => 'h',
            (false, false) => 'H',
        };
        let head = format!("{tag} {} {} {}\t", self.mode.digits(), self.oid, self.stage);
        [head.as_bytes(), self.path.as_bytes(), b"\0"].concat()
    }
}

/// All entries of an index.
pub struct Listing {
    /// The entries, in git's order.
    pub entries: Vec<IndexEntry>,
    /// The same for two indexes that say the same, whatever they know of the files on disk.
    pub digest: String,
}

impl Listing {
    /// The paths of which there are several versions: a conflict that nobody has called resolved.
    pub fn unmerged(&self) -> Vec<RepoPath> {
        let unmerged = self.entries.iter().filter(|entry| entry.stage > 0);
        let mut paths: Vec<RepoPath> = unmerged.map(|entry| entry.path.clone()).collect();
        paths.dedup();
        paths
    }
}

/// A path that git would not take into an index, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The path.
    pub path: RepoPath,
    /// In git's words.
    pub why: String,
}

/// An index file that is not the user's.
#[derive(Clone)]
pub struct PrivateIndex {
    git: Git,
    /// Where it is.
    pub file: PathBuf,
}

impl PrivateIndex {
    /// An index at this place; a file there is one that edio made.
    pub fn at(git: &Git, file: PathBuf) -> Self {
        Self {
            git: git.clone(),
            file,
        }
    }

    /// Removes the file, and the lock on it that a killed git has left: nobody else works on it.
    fn clear(&self) -> io::Result<()> {
        let mut lock = self.file.clone().into_os_string();
        lock.push(".lock");
        remove_if_there(Path::new(&lock)).and_then(|()| remove_if_there(&self.file))
    }

    /// Makes it a copy of another index, modification time included. Where there is no other, it is empty.
    ///
    /// # Errors
    ///
    /// Reading or writing failed.
    pub fn copy_from(&self, source: &Path) -> Result<()> {
        let copied = self
            .clear()
            .and_then(|()| copy_with_time(source, &self.file));
        match copied {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !source.exists() => Ok(()),
            other => other.map_err(|e| GitError::file(format!("copying {}", source.display()), e)),
        }
    }

    /// Makes it another name of an index of edio's own.
    ///
    /// git never writes an index in place: the other name keeps what it has.
    ///
    /// # Errors
    ///
    /// Neither a link nor a copy could be made.
    pub fn link_from(&self, source: &Path) -> Result<()> {
        let linked = self
            .clear()
            .and_then(|()| fs::hard_link(source, &self.file));
        linked.or_else(|_| self.copy_from(source))
    }

    /// Sets the modification time to the start of the scan that confirmed every entry.
    ///
    /// git distrusts entries whose file is as new as the index, and reads those files. With the start of the scan, a
    /// file that was written during it is read again in the next one; with an older time, so would be many more.
    ///
    /// # Errors
    ///
    /// The time could not be set.
    pub fn date(&self, time: SystemTime) -> Result<()> {
        let dated = File::open(&self.file)
            .and_then(|open| open.set_times(FileTimes::new().set_modified(time)));
        dated.map_err(|error| GitError::file(format!("dating {}", self.file.display()), error))
    }

    /// Takes these paths as they are on disk, in this order; one that is gone from disk leaves the index.
    ///
    /// One bad path ends git's work with nothing written. So what git rejects is taken out, and the rest tried again:
    /// first path by path as git names them, then by halves. What a filter fails for is rejected, required or not: git
    /// would take it as it is, and tell nobody.
    ///
    /// # Errors
    ///
    /// git failed in a way that no path is to blame for.
    pub fn take(
        &self,
        paths: &[RepoPath],
        contents: Contents,
        settings: &Settings,
    ) -> Result<Vec<Rejected>> {
        let mut paths = paths.to_vec();
        let mut rejected = Vec::new();
        for contents in [contents, Contents::Known, Contents::Known] {
            let error = match self.take_on(&paths, contents, settings) {
                Ok(ignored) => {
                    rejected.extend(ignored);
                    return Ok(rejected);
                }
                Err(error) => error,
            };
            let Some(path) = blamed(error.stderr(), &paths) else {
                break;
            };
            paths.retain(|other| other != &path);
            rejected.push(Rejected {
                why: last_line(error.stderr()),
                path,
            });
        }
        self.take_by_halves(&paths, settings, &mut rejected)?;
        Ok(rejected)
    }

    fn take_by_halves(
        &self,
        paths: &[RepoPath],
        settings: &Settings,
        rejected: &mut Vec<Rejected>,
    ) -> Result<()> {
        match (self.take_all(paths, Contents::Known, settings), paths) {
            (Ok(ignored), _) => {
                rejected.extend(ignored);
                Ok(())
            }
            (Err(error @ GitError::Exit { .. }), [path]) => {
                rejected.push(Rejected {
                    path: path.clone(),
                    why: last_line(error.stderr()),
                });
                Ok(())
            }
            (Err(GitError::Exit { .. }), _) if paths.len() > 1 => {
                let (first, second) = paths.split_at(paths.len() / 2);
                self.take_by_halves(first, settings, rejected)?;
                self.take_by_halves(second, settings, rejected)
            }
            (Err(error), _) => Err(error),
        }
    }

    /// Takes all; or some, up to one that git rejects. Returns those that git passed over.
    fn take_on(
        &self,
        paths: &[RepoPath],
        contents: Contents,
        settings: &Settings,
    ) -> Result<Vec<Rejected>> {
        let at_once = match contents {
            Contents::New => A_PACKFUL,
            Contents::Known => paths.len().max(1),
        };
        let taken = paths
            .chunks(at_once)
            .map(|some| self.take_all(some, contents, settings));
        Ok(taken.collect::<Result<Vec<_>>>()?.concat())
    }

    /// Takes all or none. Returns those that git passed over: a link named `.gitmodules` could mislead another git.
    fn take_all(
        &self,
        paths: &[RepoPath],
        contents: Contents,
        settings: &Settings,
    ) -> Result<Vec<Rejected>> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let ask = self.git.ask("update-index").index(&self.file).args([
            "-z",
            "--add",
            "--remove",
            "--replace",
            "--stdin",
        ]);
        let ask = settings.with_required_filters(ask.setting(NO_CHECKSUM));
        // What a failure leaves of a pack is swept out of the quarantine.
        let may_pack = contents == Contents::New && self.git.quarantine.is_some();
        let ask = match may_pack && paths.len() >= MANY {
            true => INTO_A_PACK.into_iter().fold(ask, Ask::setting),
            false => ask,
        };
        let ask = ask.nul_input(paths.iter().map(RepoPath::as_bytes));
        let stderr = ask.start()?.succeed_whole()?.stderr;
        let ignored = stderr
            .lines()
            .filter_map(|line| line.strip_prefix(b"Ignoring path "));
        Ok(ignored
            .filter_map(RepoPath::new)
            .map(|path| Rejected {
                path,
                why: "git ignores it".to_owned(),
            })
            .collect())
    }

    /// Takes these paths out, whatever is on disk.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn drop_paths(&self, paths: &[RepoPath]) -> Result<()> {
        self.flag("--force-remove", paths)
    }

    /// Runs `git update-index <flag>` over these paths. The index stays as old as it was: with the time of this change git
    /// would trust what it knows of files and folders that were changed in the second before.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn flag(&self, flag: &str, paths: &[RepoPath]) -> Result<()> {
        if paths.is_empty() {
            return Ok(());
        }
        let time = fs::metadata(&self.file).and_then(|meta| meta.modified());
        let ask = self.git.ask("update-index").index(&self.file);
        ask.args(["-z", flag, "--stdin"])
            .nul_input(paths.iter().map(RepoPath::as_bytes))
            .run()?;
        time.map_or(Ok(()), |time| self.date(time))
    }

    /// Sets entries as given, `None` for one that is to go, without a look at the disk. Those that go go first: nothing
    /// can be entered below a file that is still there.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn set(&self, entries: &[(RepoPath, Option<Entry>)]) -> Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let null = Oid::null(self.git.format);
        let line = |(path, entry): &(RepoPath, Option<Entry>)| {
            let mut line = match entry {
                Some(Entry { mode, oid }) => format!("{} {oid}\t", mode.digits()).into_bytes(),
                None => format!("0 {null}\t").into_bytes(),
            };
            line.extend_from_slice(path.as_bytes());
            line
        };
        let (going, coming): (Vec<_>, Vec<_>) = entries.iter().partition(|(_, e)| e.is_none());
        let ask = self.git.ask("update-index").index(&self.file);
        ask.setting("index.sparse=false")
            .args(["-z", "--index-info"])
            .nul_input(going.into_iter().chain(coming).map(line))
            .run_silently()
    }

    /// Sets entries with their stages, as they were listed. Nothing else may be there at their paths.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn set_listed(&self, entries: &[IndexEntry]) -> Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let line = |entry: &IndexEntry| {
            let head = format!("{} {} {}\t", entry.mode.digits(), entry.oid, entry.stage);
            [head.as_bytes(), entry.path.as_bytes()].concat()
        };
        let ask = self.git.ask("update-index").index(&self.file);
        ask.setting("index.sparse=false")
            .args(["-z", "--index-info"])
            .nul_input(entries.iter().map(line))
            .run_silently()
    }

    /// Announces files that are on disk, as `git add -N` does.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn announce(&self, paths: &[RepoPath]) -> Result<()> {
        if paths.is_empty() {
            return Ok(());
        }
        let ask = self.git.ask("add").index(&self.file);
        ask.setting("index.sparse=false")
            .args(["--intent-to-add", "--force", "--sparse"])
            .args(["--pathspec-from-file=-", "--pathspec-file-nul"])
            .nul_input(paths.iter().map(RepoPath::as_bytes))
            .run_silently()
    }

    /// Fills it with what a tree has, and nothing that is known of files on disk.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn read_tree(&self, tree: &Oid) -> Result<()> {
        self.remove()?;
        let ask = self.git.ask("read-tree").index(&self.file);
        ask.arg(tree).run_silently()
    }

    /// Has git forget which folders it has looked through for untracked files. It compares them by whole seconds.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn forget_untracked(&self) -> Result<()> {
        let ask = self.git.ask("update-index").index(&self.file);
        let ask = ask.setting(NO_CHECKSUM);
        ask.arg("--no-untracked-cache").run_silently()
    }

    /// Has git look at the files again, so that a later `git status` need not.
    ///
    /// # Errors
    ///
    /// git could not be started.
    pub fn refresh(&self) -> Result<()> {
        let ask = self.git.ask("update-index").index(&self.file);
        // Exit code 1 says that some files differ from the index, which is no failure here.
        let ask = ask.setting(ONLY_HASHED).args(["-q", "--refresh"]);
        ask.outcome().map(drop)
    }

    /// Writes its content as trees, and returns the top one.
    ///
    /// # Errors
    ///
    /// It has entries in conflict, or git failed.
    pub fn write_tree(&self) -> Result<Oid> {
        let ask = || {
            let ask = self.git.ask("write-tree").index(&self.file);
            ask.setting(NO_CHECKSUM).setting(ONLY_HASHED)
        };
        let written = ask().run().or_else(|error| {
            // git reads files that are as new as the index through their filters, and ends where one of these dies. Where
            // there are no such files, it reads none.
            let folder = self.file.parent().ok_or(error)?;
            ask().work_tree(folder).run()
        });
        one_oid("git write-tree", &written?)
    }

    /// Removes the file.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn remove(&self) -> Result<()> {
        self.clear()
            .map_err(|error| GitError::file(format!("removing {}", self.file.display()), error))
    }
}

impl Git {
    /// The user's index file in this work tree.
    pub fn users_index(&self) -> PathBuf {
        self.git_dir.join("index")
    }

    /// The files on disk that the user's index only announces (`git add -N`).
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn announced(&self) -> Result<Vec<RepoPath>> {
        let ask = self
            .ask("diff-files")
            .args(["--name-only", "-z", "--diff-filter=A"])
            .args(["--no-renames", "--ita-invisible-in-index"]);
        let output = ask.arg("--ignore-submodules").run()?;
        Ok(output.split_str("\0").filter_map(RepoPath::new).collect())
    }

    /// What git tracks at these paths, or below them.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn tracked(&self, paths: &[RepoPath]) -> Result<Vec<RepoPath>> {
        let mut tracked = Vec::new();
        for paths in paths.chunks(AT_ONCE) {
            let paths = paths.iter().map(|path| os_path(path.as_bytes()));
            let ask = self.ask("ls-files").args(["-z", "--"]).args(paths);
            let output = ask.run()?;
            tracked.extend(output.split_str("\0").filter_map(RepoPath::new));
        }
        Ok(tracked)
    }

    /// All files that git tracks.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn tracked_files(&self) -> Result<Vec<RepoPath>> {
        let output = self.ask("ls-files").arg("-z").run()?;
        Ok(output.split_str("\0").filter_map(RepoPath::new).collect())
    }

    /// All files that git tracks, or would: those that no rule ignores.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn all_files(&self) -> Result<Vec<RepoPath>> {
        let ask = self.ask("ls-files").args(["-z", "--cached", "--others"]);
        let output = ask.arg("--exclude-standard").run()?;
        // A repository of its own is listed with a slash, and is no file.
        Ok(output.split_str("\0").filter_map(RepoPath::new).collect())
    }

    /// Has git track these files, as they are now, in an index that nobody else works with.
    ///
    /// # Errors
    ///
    /// One of them can't be read, or git failed.
    pub fn track(&self, files: &[RepoPath]) -> Result<()> {
        if files.is_empty() {
            return Ok(());
        }
        let ask = self.ask("update-index").args(["-z", "--add", "--stdin"]);
        let ask = ask.nul_input(files.iter().map(RepoPath::as_bytes));
        ask.run_silently()
    }

    /// All entries of an index file.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn list_index(&self, file: &Path) -> Result<Listing> {
        let ask = self
            .ask("ls-files")
            .setting("advice.sparseIndexExpanded=false")
            .index(file)
            .args(["-s", "-v", "-z"]);
        let output = ask.run()?;
        Ok(Listing {
            entries: IndexEntry::read_all(&output)?,
            digest: hex(&sha2::Sha256::digest(&output)),
        })
    }
}

/// `H 100644 <id> 0 TAB path`; the letter is small for assume-unchanged, `S` for skip-worktree.
fn index_entry(record: &[u8]) -> Option<IndexEntry> {
    let (head, path) = record.split_once_str("\t")?;
    let fields: Vec<&[u8]> = head.split_str(" ").collect();
    let [tag, mode, oid, stage] = fields.as_slice() else {
        return None;
    };
    let tag = *tag.first()?;
    Some(IndexEntry {
        mode: Mode::from_digits(mode)?,
        oid: Oid::from_bytes(oid)?,
        stage: stage.to_str().ok()?.parse().ok()?,
        skip_worktree: tag.eq_ignore_ascii_case(&b'S'),
        assume_unchanged: tag.is_ascii_lowercase(),
        intent_to_add: tag == b'N',
        path: RepoPath::new(path)?,
    })
}

/// The path that git's last words are about.
fn blamed(stderr: &[u8], paths: &[RepoPath]) -> Option<RepoPath> {
    let stderr = stderr.trim_ascii_end();
    let named = |line: &[u8]| -> Option<Vec<u8>> {
        let line = line
            .strip_prefix(b"fatal: ")
            .or(line.strip_prefix(b"error: "))?;
        let name = line
            .strip_prefix(b"Unable to process path ")
            .or_else(|| line.split_once_str(": clean filter ").map(|(name, _)| name));
        name.map(<[u8]>::to_vec)
    };
    // A path may hold line breaks, so the whole tail is tried before the single lines.
    let tail = stderr
        .find("Unable to process path ")
        .map(|at| &stderr[at - 7.min(at)..]);
    let names = tail.into_iter().chain(stderr.lines()).filter_map(named);
    names
        .into_iter()
        .find_map(|name| paths.iter().find(|path| path.as_bytes() == name).cloned())
}

fn last_line(stderr: &[u8]) -> String {
    let mut words = stderr.lines().map(ByteSlice::to_str_lossy);
    words
        .rfind(|line| !line.contains("Unable to process path"))
        .map_or_else(|| "git can't read it".to_owned(), |line| line.into_owned())
}

pub(super) fn remove_if_there(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Copies a file with its modification time. git replaces an index and never writes into one: what is open stays whole.
fn copy_with_time(source: &Path, target: &Path) -> io::Result<()> {
    let mut from = File::open(source)?;
    let modified = from.metadata()?.modified()?;
    let mut to = File::create(target)?;
    io::copy(&mut from, &mut to)?;
    to.set_times(FileTimes::new().set_modified(modified))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: &[&str]) -> Vec<RepoPath> {
        names
            .iter()
            .map(|name| RepoPath::new(*name).unwrap())
            .collect()
    }

    #[test]
    fn finds_who_is_to_blame() {
        let paths = paths(&["a", "b\nc", "x: clean filter y"]);
        let blame = |stderr: &str| blamed(stderr.as_bytes(), &paths).map(|path| path.to_string());
        let said = "error: open(\"a\"): Permission denied\nfatal: Unable to process path a\n";
        assert_eq!(blame(said).as_deref(), Some("a"));
        assert_eq!(
            blame("fatal: Unable to process path b\nc\n").as_deref(),
            Some("b\nc")
        );
        assert_eq!(
            blame("error: external filter 'x' failed\nfatal: a: clean filter 'f' failed\n")
                .as_deref(),
            Some("a")
        );
        assert_eq!(blame("fatal: Unable to process path unknown"), None);
        assert_eq!(blame(""), None);
    }

    #[test]
    fn reads_index_entries() {
        let a = "a".repeat(40);
        let entry = index_entry(format!("s 100755 {a} 2\ta\tb").as_bytes()).unwrap();
        assert!(entry.skip_worktree && entry.assume_unchanged);
        assert_eq!((entry.stage, entry.path.as_bytes()), (2, &b"a\tb"[..]));
        assert_eq!(IndexEntry::read_all(&entry.record()).unwrap(), [entry]);
        assert!(index_entry(b"H 100644 x 0\ta").is_none());
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_read_does_no_harm(bytes in crate::gitengine::noise()) {
            let read = IndexEntry::read_all(&bytes);
            for entry in read.unwrap_or_default() {
                let again = IndexEntry::read_all(&entry.record()).unwrap();
                assert_eq!(again, [entry]);
            }
        }
    }
}
