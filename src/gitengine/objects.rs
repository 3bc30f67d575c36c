//! Objects: their names, blobs read and written, commits made and read.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::io::{self, Read};
use std::time::Duration;

use bstr::ByteSlice;
use serde::{Deserialize, Serialize};
use sha1::Digest as _;

use crate::error::first_of;

use super::command::{Answer, Ask, Asked, Git};
use super::error::{GitError, Result};
use super::paths::{RepoPath, os_path};

/// Where git hashes a file over core.bigFileThreshold, it compresses it as well, if only to drop that: most of the time.
pub const ONLY_HASHED: &str = "pack.compression=0";

/// The hash function of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectFormat {
    /// SHA-1, 40 digits.
    Sha1,
    /// SHA-256, 64 digits.
    Sha256,
}

impl ObjectFormat {
    /// The format of this name (`git rev-parse --show-object-format`).
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "sha1" => Some(ObjectFormat::Sha1),
            "sha256" => Some(ObjectFormat::Sha256),
            _ => None,
        }
    }

    /// How many digits an id has.
    pub fn digits(self) -> usize {
        match self {
            ObjectFormat::Sha1 => 40,
            ObjectFormat::Sha256 => 64,
        }
    }

    /// The id of a blob with this content, computed as git does.
    ///
    /// # Errors
    ///
    /// Reading fails, or the content does not have the length that was said.
    pub fn hash_blob(self, length: u64, content: impl Read) -> io::Result<Oid> {
        let head = format!("blob {length}\0");
        match self {
            ObjectFormat::Sha1 => hash_with(sha1::Sha1::new(), &head, length, content),
            ObjectFormat::Sha256 => hash_with(sha2::Sha256::new(), &head, length, content),
        }
    }

    /// The id of a blob with just this content.
    pub fn hash_content(self, content: &[u8]) -> Oid {
        self.hash_of("blob", content)
    }

    /// The id of a tree that is stored as these bytes, computed as git does.
    pub fn hash_tree(self, stored: &[u8]) -> Oid {
        self.hash_of("tree", stored)
    }

    fn hash_of(self, kind: &str, content: &[u8]) -> Oid {
        let head = format!("{kind} {}\0", content.len());
        match self {
            ObjectFormat::Sha1 => hash_all(sha1::Sha1::new(), &head, content),
            ObjectFormat::Sha256 => hash_all(sha2::Sha256::new(), &head, content),
        }
    }

    /// The sum of these bytes that a pack ends with.
    pub fn checksum(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            ObjectFormat::Sha1 => sha1::Sha1::digest(bytes).to_vec(),
            ObjectFormat::Sha256 => sha2::Sha256::digest(bytes).to_vec(),
        }
    }
}

fn hash_all<D: sha1::Digest>(mut hasher: D, head: &str, content: &[u8]) -> Oid {
    hasher.update(head);
    hasher.update(content);
    Oid(hex(&hasher.finalize()))
}

fn hash_with<D: sha1::Digest>(
    mut hasher: D,
    head: &str,
    length: u64,
    content: impl Read,
) -> io::Result<Oid> {
    hasher.update(head);
    let mut buffer = vec![0; 1 << 16];
    let mut content = content.take(length.saturating_add(1));
    let mut read = 0_u64;
    loop {
        let count = match content.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        read += count as u64;
        hasher.update(&buffer[..count]);
    }
    if read != length {
        return Err(io::Error::other("the file changed while it was read"));
    }
    Ok(Oid(hex(&hasher.finalize())))
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The id of an object, in full.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Oid(String);

impl Oid {
    /// Takes 40 or 64 lower-case hexadecimal digits.
    pub fn new(digits: impl Into<String>) -> Option<Self> {
        let digits = digits.into();
        let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        (matches!(digits.len(), 40 | 64) && digits.bytes().all(hex)).then_some(Self(digits))
    }

    /// The id that no object has.
    pub fn null(format: ObjectFormat) -> Self {
        Self("0".repeat(format.digits()))
    }

    /// Is it the id that no object has?
    pub fn is_null(&self) -> bool {
        self.0.bytes().all(|digit| digit == b'0')
    }

    /// Takes the digits as git prints them.
    pub fn from_bytes(digits: &[u8]) -> Option<Self> {
        Self::new(digits.to_str().ok()?)
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The bytes that the digits stand for, as trees have them.
    pub fn binary(&self) -> Vec<u8> {
        let digits = self.0.as_bytes().chunks(2);
        let byte = |pair: &[u8]| u8::from_str_radix(pair.to_str().ok()?, 16).ok();
        digits.filter_map(byte).collect()
    }

    /// Enough of them for a person.
    pub fn short(&self) -> &str {
        &self.0[..10]
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<std::ffi::OsStr> for Oid {
    fn as_ref(&self) -> &std::ffi::OsStr {
        self.0.as_ref()
    }
}

impl TryFrom<String> for Oid {
    type Error = String;

    fn try_from(digits: String) -> std::result::Result<Self, String> {
        Oid::new(digits).ok_or_else(|| "not an object id".to_owned())
    }
}

impl From<Oid> for String {
    fn from(oid: Oid) -> String {
        oid.0
    }
}

/// What a tree says of a path, but for trees themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Mode {
    /// A file.
    File,
    /// A file that may be executed.
    Executable,
    /// A symbolic link; the blob is its target.
    Symlink,
    /// A commit of another repository: a submodule.
    Gitlink,
}

impl Mode {
    /// The mode that these six octal digits mean, or `None` for a tree or no entry at all.
    pub fn from_digits(digits: &[u8]) -> Option<Self> {
        match digits {
            b"100755" => Some(Mode::Executable),
            b"120000" => Some(Mode::Symlink),
            b"160000" => Some(Mode::Gitlink),
            // Very old repositories have 100664.
            digits if digits.starts_with(b"100") => Some(Mode::File),
            _ => None,
        }
    }

    /// Is it a file, executable or not?
    pub fn is_file(self) -> bool {
        matches!(self, Mode::File | Mode::Executable)
    }

    /// The six octal digits.
    pub fn digits(self) -> &'static str {
        match self {
            Mode::File => "100644",
            Mode::Executable => "100755",
            Mode::Symlink => "120000",
            Mode::Gitlink => "160000",
        }
    }
}

/// What a tree has at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its kind.
    pub mode: Mode,
    /// Its content.
    pub oid: Oid,
}

/// Who makes a commit, and when.
pub struct Signature<'a> {
    /// Name.
    pub name: &'a str,
    /// Email address.
    pub email: &'a str,
    /// Seconds since 1970.
    pub seconds: i64,
}

impl Signature<'static> {
    /// edio's own: it makes commits where nobody has told git a name, too.
    pub const fn edio(seconds: i64) -> Self {
        Self {
            name: "edio",
            email: "edio@localhost",
            seconds,
        }
    }
}

/// Is the user's commit signed? `git commit-tree` does not heed `commit.gpgSign` by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signed {
    /// With the user's key. The program that signs may ask a person for so long.
    Within(Duration),
    /// No.
    No,
}

/// A commit, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its id.
    pub oid: Oid,
    /// Its tree.
    pub tree: Oid,
    /// Its parents, the first one first.
    pub parents: Vec<Oid>,
    /// The committer's time, in seconds since 1970.
    pub seconds: i64,
    /// The message, to the letter.
    pub message: Vec<u8>,
}

impl Commit {
    /// Reads a commit from its raw content.
    pub fn parse(oid: Oid, raw: &[u8]) -> Option<Self> {
        let (head, message) = match raw.find("\n\n") {
            Some(end) => (&raw[..end], &raw[end + 2..]),
            None => (raw.strip_suffix(b"\n").unwrap_or(raw), &b""[..]),
        };
        let values = |key: &'static str| {
            head.split_str("\n")
                .filter_map(move |line| line.strip_prefix(key.as_bytes()))
        };
        Some(Self {
            oid,
            tree: Oid::from_bytes(values("tree ").next()?)?,
            parents: values("parent ")
                .map(Oid::from_bytes)
                .collect::<Option<_>>()?,
            seconds: time_of(values("committer ").next()?)?,
            message: message.to_vec(),
        })
    }
}

/// The seconds in `Name <email> 1700000000 +0100`.
fn time_of(signature: &[u8]) -> Option<i64> {
    let after = &signature[signature.rfind_byte(b'>')? + 1..];
    after
        .trim_ascii_start()
        .split_str(" ")
        .next()?
        .to_str()
        .ok()?
        .parse()
        .ok()
}

impl Git {
    /// Writes a commit with a signature of edio's own choice.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn write_commit(
        &self,
        tree: &Oid,
        parents: &[&Oid],
        by: &Signature<'_>,
        message: &[u8],
    ) -> Result<Oid> {
        self.start_commit(tree, parents, by, message)?.finish()
    }

    /// Starts to write such a commit: git is at it while something else is done. It does not look for the tree and the parents:
    /// they must be there.
    ///
    /// # Errors
    ///
    /// git could not be started.
    pub fn start_commit(
        &self,
        tree: &Oid,
        parents: &[&Oid],
        by: &Signature<'_>,
        message: &[u8],
    ) -> Result<NewCommit> {
        let ask = self.ask_to_commit();
        let commit = commit_by(by, tree, parents, message);
        ask.input(commit).start().map(NewCommit)
    }

    pub(super) fn ask_to_commit(&self) -> Ask {
        self.ask("hash-object")
            .args(["-t", "commit", "-w", "--stdin"])
    }

    /// Writes a commit with the user's own identity, at the present time.
    ///
    /// # Errors
    ///
    /// git failed: the identity may be missing, or the signing program, or nobody has answered that.
    pub fn write_users_commit(
        &self,
        tree: &Oid,
        parents: &[&Oid],
        message: &[u8],
        signed: Signed,
    ) -> Result<Oid> {
        let ask = self.ask("commit-tree");
        let ask = match signed {
            Signed::Within(limit) => ask.arg("-S").patience(limit),
            Signed::No => ask,
        };
        // The message is UTF-8 whatever the user's own commits are encoded in.
        let mut ask = ask.setting("i18n.commitEncoding=UTF-8").arg(tree);
        for parent in parents {
            ask = ask.arg("-p").arg(parent);
        }
        let ask = ask.args(["-F", "-"]).input(message);
        one_oid("git commit-tree", &ask.run()?)
    }

    /// The tree that holds nothing, written if need be.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn empty_tree(&self) -> Result<Oid> {
        one_oid("git mktree", &self.ask("mktree").run()?)
    }

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

    /// Writes the bytes of this file of the work tree as a blob, through no filter.
    ///
    /// # Errors
    ///
    /// It can't be read, or git failed.
    pub fn write_raw_blob(&self, path: &RepoPath) -> Result<Oid> {
        let mut oids = self.write_raw_blobs(std::slice::from_ref(path))?;
        oids.pop().ok_or_else(|| unexpected("git hash-object", b""))
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

    /// The commits of these ids, in the same order.
    ///
    /// # Errors
    ///
    /// One of them is missing or no commit, or git failed.
    pub fn commits(&self, oids: &[Oid]) -> Result<Vec<Commit>> {
        let raw = self.raw_objects("commit", oids)?;
        let commit = |(oid, raw): (&Oid, Vec<u8>)| {
            let commit = Commit::parse(oid.clone(), &raw);
            commit.ok_or_else(|| unexpected("git cat-file", &raw))
        };
        oids.iter().zip(raw).map(commit).collect()
    }

    /// The commit of this id. `None` where it is missing or damaged.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn commit_that_is_whole(&self, oid: &Oid) -> Result<Option<Commit>> {
        let commits = self.commits_that_are_whole(std::slice::from_ref(oid))?;
        Ok(commits.into_iter().flatten().next())
    }

    /// The commits of these ids, in the same order: `None` for one that is missing, damaged, or no commit.
    ///
    /// # Errors
    ///
    /// git could not be started, or was killed.
    pub fn commits_that_are_whole(&self, oids: &[Oid]) -> Result<Vec<Option<Commit>>> {
        let mut commits = Vec::with_capacity(oids.len());
        while commits.len() < oids.len() {
            let rest = &oids[commits.len()..];
            let mut objects = self.objects(rest)?;
            let mut cut_off = None;
            for oid in rest {
                match objects.next_that_is_whole("commit", oid) {
                    Ok(raw) => commits.push(raw.and_then(|raw| Commit::parse(oid.clone(), &raw))),
                    Err(error) => {
                        cut_off = Some(error);
                        break;
                    }
                }
            }
            match (cut_off, objects.answer.close()) {
                (None, closed) => closed?,
                // git ends over an object that is damaged behind its beginning: another one reads the rest.
                (Some(_), Err(GitError::Exit { status, .. })) if status.signal().is_none() => {
                    commits.push(None);
                }
                (Some(error), _) => return Err(error),
            }
        }
        Ok(commits)
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

    fn each_object(
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

    /// The commits that can be reached from these, without the history that the user's own refs hold.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn history(&self, tips: &[&Oid]) -> Result<Vec<Commit>> {
        let lines: String = tips.iter().map(|tip| format!("{tip}\n")).collect();
        self.reachable(self.ask("rev-list").arg("--stdin").input(lines))
    }

    /// What is missing or empty of all that these commits lead to and the user's own refs don't, in git's words; `None`
    /// where nothing is. What a partial clone may still fetch is not missing. No content is read.
    ///
    /// # Errors
    ///
    /// git could not be asked.
    pub fn what_is_missing(&self, tips: &[&Oid]) -> Result<Option<String>> {
        let lines: String = tips.iter().map(|tip| format!("{tip}\n")).collect();
        let ask = self
            .ask("rev-list")
            .args(["--objects", "--no-object-names", "--stdin"]);
        let ask = ask.arg("--missing=allow-promisor");
        let output = match self.beyond_the_users(ask.input(lines)).run() {
            Err(GitError::Exit { stderr, .. }) => {
                let said: Vec<_> = stderr.lines().map(ByteSlice::to_str_lossy).collect();
                return Ok(Some(said.join("; ")));
            }
            output => output?,
        };
        let oids: Option<Vec<Oid>> = output.lines().map(Oid::from_bytes).collect();
        let oids = oids.ok_or_else(|| unexpected("git rev-list", &output))?;
        let missing = self.missing(&oids)?;
        let named = || format!("the object {}", first_of(1, missing.iter()));
        Ok((!missing.is_empty()).then(named))
    }

    /// The commits that are reached from this one by first parents, itself first, without the user's own history.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn first_parents(&self, tip: &Oid) -> Result<Vec<Commit>> {
        self.reachable(self.ask("rev-list").arg("--first-parent").arg(tip))
    }

    /// So many at most of the commits that are reached from this one by first parents, itself first: down to one that can't
    /// be read.
    ///
    /// # Errors
    ///
    /// git could not be started, or was killed.
    pub fn nearest_first_parents(&self, tip: &Oid, most: usize) -> Result<Vec<Commit>> {
        let mut oids = vec![tip.clone()];
        if most > 1 {
            let count = format!("--max-count={most}");
            let ask = self.ask("rev-list").args(["--first-parent", &count]);
            // It ends over what it can't read, and has listed all before it.
            let listed = ask.arg(tip).start()?.unless_killed()?;
            oids.extend(listed.lines().skip(1).filter_map(Oid::from_bytes));
        }
        let commits = self.commits_that_are_whole(&oids)?;
        Ok(commits.into_iter().map_while(|commit| commit).collect())
    }

    /// The last commits of a chain that changed the file of this name, the newest first: so many at most.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn last_changes(&self, tip: &Oid, name: &str, most: usize) -> Result<Vec<Oid>> {
        let ask = self.ask("rev-list").arg(format!("--max-count={most}"));
        let output = ask.arg(tip).args(["--", name]).run()?;
        let lines = output
            .lines()
            .map(|line| Oid::from_bytes(line).ok_or_else(|| unexpected("git rev-list", line)));
        lines.collect()
    }

    /// The commits that these lead to, and no ref but those below that folder.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn held_alone_below(&self, tips: &BTreeSet<&Oid>, folder: &str) -> Result<Vec<Commit>> {
        let lines: String = tips.iter().map(|tip| format!("{tip}\n")).collect();
        let ask = self.ask("rev-list").args(["--stdin", "--not"]);
        let ask = ask.arg(format!("--exclude={folder}*")).arg("--all");
        self.listed(ask.input(lines))
    }

    fn reachable(&self, ask: Ask) -> Result<Vec<Commit>> {
        self.listed(self.beyond_the_users(ask))
    }

    fn beyond_the_users(&self, ask: Ask) -> Ask {
        ask.args(["--not", "--branches", "--tags", "--remotes"])
    }

    fn listed(&self, ask: Ask) -> Result<Vec<Commit>> {
        let output = ask.run()?;
        let oids: Option<Vec<Oid>> = output.lines().map(Oid::from_bytes).collect();
        self.commits(&oids.ok_or_else(|| unexpected("git rev-list", &output))?)
    }

    /// How many bytes on disk each of these groups of commits needs, beyond what the user's own refs hold. What several
    /// of them need counts for one of them.
    ///
    /// # Errors
    ///
    /// git failed: an object is missing.
    pub fn disk_usages(&self, groups: &[Vec<Oid>]) -> Result<Vec<u64>> {
        let lines: String = groups
            .iter()
            .flatten()
            .map(|tip| format!("{tip}\n"))
            .collect();
        let ask = self
            .ask("rev-list")
            .args(["--objects", "--no-object-names"]);
        let ask = ask.args([
            "--topo-order",
            "--in-commit-order",
            "--format=%P",
            "--stdin",
        ]);
        let output = self.beyond_the_users(ask.input(lines)).run()?;
        let mut owners = HashMap::new();
        for (group, tips) in groups.iter().enumerate() {
            owners.extend(tips.iter().map(|tip| (tip.as_str().as_bytes(), group)));
        }
        let owned = owned_objects(&output, owners);
        let names: Vec<u8> = owned
            .iter()
            .flat_map(|(object, _)| [*object, b"\n"].concat())
            .collect();
        let ask = self.ask("cat-file");
        let ask = ask.args(["--batch-check=%(objectsize:disk)", "--buffer"]);
        let sizes = ask.input(names).run()?;
        let mut usages = vec![0; groups.len()];
        for ((_, group), size) in owned.iter().zip(sizes.lines()) {
            let size = size.to_str().ok().and_then(|size| size.parse::<u64>().ok());
            usages[*group] +=
                size.ok_or_else(|| unexpected("git cat-file --batch-check", &sizes))?;
        }
        Ok(usages)
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
        oids.ok_or_else(|| unexpected("git cat-file --batch-check", &output))
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
    pub(super) fn ask_to_read(&self) -> Ask {
        self.ask("cat-file").args(["--batch-command", "--buffer"])
    }
}

/// A commit that git is about to write.
pub struct NewCommit(Asked);

impl NewCommit {
    /// Waits until it is written. Returns its id.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn finish(self) -> Result<Oid> {
        one_oid("git hash-object", &self.0.succeed()?)
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
    fn next_that_is_whole(&mut self, kind: &str, oid: &Oid) -> Result<Option<Vec<u8>>> {
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

/// A commit as git stores it, and as `git cat-file commit` prints it. A parent that is named twice is one.
fn commit_by(by: &Signature<'_>, tree: &Oid, parents: &[&Oid], message: &[u8]) -> Vec<u8> {
    let mut commit = format!("tree {tree}\n");
    for (number, parent) in parents.iter().enumerate() {
        if !parents[..number].contains(parent) {
            commit.push_str(&format!("parent {parent}\n"));
        }
    }
    for role in ["author", "committer"] {
        let Signature {
            name,
            email,
            seconds,
        } = by;
        commit.push_str(&format!("{role} {name} <{email}> {seconds} +0000\n"));
    }
    [commit.as_bytes(), b"\n", message].concat()
}

/// Exactly one object id on a line, as a command prints it.
pub fn one_oid(command: &str, output: &[u8]) -> Result<Oid> {
    let mut found = oids(command, output, 1)?;
    found.pop().ok_or_else(|| unexpected(command, output))
}

fn oids(command: &str, output: &[u8], count: usize) -> Result<Vec<Oid>> {
    let found: Option<Vec<Oid>> = output.lines().map(Oid::from_bytes).collect();
    found
        .filter(|found| found.len() == count)
        .ok_or_else(|| unexpected(command, output))
}

/// The objects that a listing of commits names, each with the group that it belongs to: `commit <id> LF <parents> LF`,
/// then what came with that commit. A commit belongs to the group of the one that grew from it.
fn owned_objects<'a>(
    listed: &'a [u8],
    mut owners: HashMap<&'a [u8], usize>,
) -> Vec<(&'a [u8], usize)> {
    let mut owned = Vec::new();
    let mut owner = None;
    let mut lines = listed.lines();
    while let Some(line) = lines.next() {
        let object = match line.strip_prefix(b"commit ") {
            Some(commit) => {
                owner = owners.get(commit).copied();
                let parents = lines.next().unwrap_or_default().split_str(" ");
                for (parent, owner) in parents.zip(std::iter::repeat(owner)) {
                    if let Some(owner) = owner {
                        owners.entry(parent).or_insert(owner);
                    }
                }
                commit
            }
            None => line,
        };
        owned.extend(owner.map(|owner| (object, owner)));
    }
    owned
}

fn unexpected(command: &str, output: &[u8]) -> GitError {
    GitError::Output {
        command: command.to_owned(),
        what: format!("{:?}", output.as_bstr()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_as_git_does() {
        let oid = ObjectFormat::Sha1.hash_blob(6, &b"hello\n"[..]).unwrap();
        assert_eq!(oid.as_str(), "ce013625030ba8dba906f756967f9e9ca394464a");
        let oid = ObjectFormat::Sha256.hash_blob(0, &b""[..]).unwrap();
        assert_eq!(
            oid.as_str(),
            "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"
        );
        assert!(ObjectFormat::Sha1.hash_blob(5, &b"hello\n"[..]).is_err());
        assert!(ObjectFormat::Sha1.hash_blob(7, &b"hello\n"[..]).is_err());
    }

    #[test]
    fn reads_a_commit() {
        let oid = Oid::new("a".repeat(40)).unwrap();
        let raw = format!(
            "tree {0}\nparent {1}\nparent {0}\nauthor A <a@b> 1 +0000\ncommitter C > <c@d> 1700000000 -0130\n\nsubject\n\nbody\n",
            "b".repeat(40),
            "c".repeat(40)
        );
        let commit = Commit::parse(oid.clone(), raw.as_bytes()).unwrap();
        assert_eq!(commit.parents.len(), 2);
        assert_eq!(commit.seconds, 1_700_000_000);
        assert_eq!(commit.message, b"subject\n\nbody\n");
        assert!(Commit::parse(oid, b"tree x\n\n").is_none());
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_read_does_no_harm(bytes in crate::gitengine::noise()) {
            let oid = Oid::new("a".repeat(40)).unwrap();
            let _ = Commit::parse(oid, &bytes);
        }
    }
}
