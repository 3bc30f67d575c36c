//! The scan: one `git status` over an index file of edio's own, and its answer.

use std::collections::BTreeSet;

use bstr::ByteSlice;

use super::command::{Ask, Git};
use super::config::Settings;
use super::error::{GitError, Result};
use super::index::NO_CHECKSUM;
use super::objects::{Entry, Mode, ONLY_HASHED, Oid};
use super::paths::RepoPath;

/// What differs between an index and the work tree.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Where HEAD stands.
    pub head: Head,
    /// Paths in the index whose file differs, or is gone, or that are in conflict.
    pub changed: Vec<Changed>,
    /// Files that neither the index nor the ignore rules know.
    pub untracked: Vec<RepoPath>,
    /// Folders that are repositories of their own, without the slash.
    pub nested: Vec<RepoPath>,
    /// Names that git can't hold: something like `.GIT`, legal here, a git directory elsewhere.
    pub unholdable: Vec<Vec<u8>>,
    /// Folders that could not be read.
    pub unreadable: Vec<RepoPath>,
    /// Paths that git names in complaints: those of the index that it could not look at, and takes for unchanged. A filter
    /// may complain, too, of anything.
    pub complained_of: Vec<RepoPath>,
}

/// What to do with filters that run as long as git does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Processes {
    /// They are asked, as by the user's own git.
    Asked,
    /// They are not: a file that git must read counts as changed.
    LeftOut,
}

/// Where HEAD stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Its commit; `None` before the first one.
    pub commit: Option<Oid>,
    /// The full name of its branch; `None` where it is detached.
    pub branch: Option<String>,
}

/// A path in the index that is otherwise in the work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The path.
    pub path: RepoPath,
    /// What the index has there. `None` where that is several versions in conflict.
    pub index: Option<Entry>,
}

/// The question, over the index file given to it.
///
/// `--ignore-submodules=dirty`: without it git starts processes in each submodule, and these rewrite its index.
/// The untracked cache only works with the config form of `-uall`, and is only kept where optional locks are allowed.
/// A required filter that fails would end the whole scan, so none is required here; the file counts as changed then.
pub fn question(git: &Git, settings: &Settings, processes: Processes) -> Ask {
    let ask = git
        .ask("status")
        .setting("core.untrackedCache=true")
        .setting(NO_CHECKSUM)
        .setting(ONLY_HASHED)
        .setting("status.showUntrackedFiles=all")
        .setting("status.showStash=false")
        .setting("advice.sparseIndexExpanded=false")
        .env("GIT_OPTIONAL_LOCKS", "1")
        .args(["--porcelain=v2", "-z", "--branch", "--no-ahead-behind"])
        .args(["--no-renames", "--ignore-submodules=dirty"]);
    let ask = settings.without_required_filters(ask);
    match processes {
        Processes::Asked => ask,
        Processes::LeftOut => settings.without_filter_processes(ask),
    }
}

impl Status {
    /// What the index has at a path that differs. `None` where it doesn't differ, or is in conflict.
    pub fn before(&self, path: &RepoPath) -> Option<&Entry> {
        let changed = self.changed.iter().find(|changed| &changed.path == path);
        changed?.index.as_ref()
    }

    /// Does the path differ?
    pub fn has_changed(&self, path: &RepoPath) -> bool {
        self.changed.iter().any(|changed| &changed.path == path)
    }

    /// Reads what [`question`] printed.
    ///
    /// # Errors
    ///
    /// It is not what git documents as porcelain version 2.
    pub fn parse(output: &[u8], stderr: &[u8]) -> Result<Self> {
        let mut status = Status::default();
        for record in output.split_str("\0").filter(|record| !record.is_empty()) {
            let known = status.take(record);
            known.ok_or_else(|| GitError::unexpected_bytes("git status --porcelain=v2", record))?;
        }
        status.unreadable = unreadable(stderr).collect();
        status.complained_of = stderr.lines().filter_map(complaint).collect();
        Ok(status)
    }

    /// Takes these paths of the index for changed ones, whatever git says.
    pub fn take_for_changed(&mut self, paths: BTreeSet<RepoPath>) {
        let known: BTreeSet<&RepoPath> = self.changed.iter().map(|changed| &changed.path).collect();
        let new = paths.iter().filter(|path| !known.contains(path));
        let new: Vec<Changed> = new
            .cloned()
            .map(|path| Changed { path, index: None })
            .collect();
        self.changed.extend(new);
    }

    fn take(&mut self, record: &[u8]) -> Option<()> {
        let (kind, rest) = record.split_once_str(" ")?;
        match kind {
            b"#" => self.head.take(rest)?,
            b"1" => {
                let mut fields = rest.splitn_str(8, " ");
                let state = fields.next()?;
                let mode = Mode::from_digits(fields.nth(2)?);
                let oid = Oid::from_bytes(fields.nth(2)?)?;
                let path = fields.next()?;
                let index = mode.map(|mode| Entry { mode, oid });
                if *state.get(1)? != b'.' {
                    self.changed(path, index);
                }
            }
            b"u" => self.changed(rest.splitn_str(10, " ").nth(9)?, None),
            b"?" => match rest.strip_suffix(b"/") {
                Some(folder) => match RepoPath::new(folder) {
                    Some(path) => self.nested.push(path),
                    None => self.unholdable.push(folder.to_vec()),
                },
                None => match RepoPath::new(rest) {
                    Some(path) => self.untracked.push(path),
                    None => self.unholdable.push(rest.to_vec()),
                },
            },
            _ => return None,
        }
        Some(())
    }

    fn changed(&mut self, path: &[u8], index: Option<Entry>) {
        match RepoPath::new(path) {
            Some(path) => self.changed.push(Changed { path, index }),
            None => self.unholdable.push(path.to_vec()),
        }
    }
}

/// `warning: could not open directory 'a/b/': Permission denied`. git cuts off what is too long: then the last folder that
/// is named whole stands for it.
fn unreadable(stderr: &[u8]) -> impl Iterator<Item = RepoPath> {
    let quoted = stderr.split_str("could not open directory '").skip(1);
    quoted.filter_map(|quoted| {
        let cut_off = || quoted.lines().next().and_then(|line| line.rfind("/"));
        let folder = &quoted[..quoted.find("/': ").or_else(cut_off)?];
        RepoPath::new(folder)
    })
}

/// `a/b: Permission denied`, and whatever else the system may say: what `lstat` failed for (`check_removed` in git's
/// diff-lib.c).
fn complaint(line: &[u8]) -> Option<RepoPath> {
    RepoPath::new(line.rsplit_once_str(": ")?.0)
}

impl Head {
    fn take(&mut self, header: &[u8]) -> Option<()> {
        match header.split_once_str(" ")? {
            (b"branch.oid", b"(initial)") => self.commit = None,
            (b"branch.oid", oid) => self.commit = Some(Oid::from_bytes(oid)?),
            (b"branch.head", b"(detached)") => self.branch = None,
            (b"branch.head", name) => {
                self.branch = Some(format!("refs/heads/{}", name.to_str_lossy()));
            }
            _ => {}
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_kind_of_record() {
        let a = "a".repeat(40);
        let output = format!(
            "# branch.oid {a}\0# branch.head main\0# branch.upstream origin/main\0\
             1 M. N... 100644 100644 100644 {a} {a} only staged\0\
             1 .M N... 100644 100755 100755 {a} {a} with blank\nand line\0\
             1 .M SC.. 160000 160000 160000 {a} {a} sub\0\
             u UU N... 100644 100644 100644 100644 {a} {a} {a} both ways\0\
             ? new\0? lib/\0? .GIT/x\0"
        );
        let stderr = b"warning: could not open directory 'it's/here/': Permission denied\n";
        let status = Status::parse(output.as_bytes(), stderr).unwrap();
        assert_eq!(status.unreadable, [RepoPath::new("it's/here").unwrap()]);
        assert_eq!(status.head.branch.as_deref(), Some("refs/heads/main"));
        let changed: Vec<_> = status.changed.iter().map(|c| c.path.to_string()).collect();
        assert_eq!(changed, ["with blank\nand line", "sub", "both ways"]);
        let gitlink = status.changed[1].index.as_ref().unwrap();
        assert_eq!((gitlink.mode, gitlink.oid.to_string()), (Mode::Gitlink, a));
        assert_eq!(status.changed[2].index, None);
        assert_eq!(status.untracked, [RepoPath::new("new").unwrap()]);
        assert_eq!(status.nested, [RepoPath::new("lib").unwrap()]);
        assert_eq!(status.unholdable, [b".GIT/x".to_vec()]);
    }

    #[test]
    fn reads_what_could_not_be_looked_at() {
        let stderr = b"warning: could not open directory 'cut/of\n\
            warning: could not open directory 'a\nb/': Permission denied\n\
            d/x: Too many levels of symbolic links\nd/y: z: Permission denied\n";
        let status = Status::parse(b"", stderr).unwrap();
        let in_words =
            |paths: &[RepoPath]| paths.iter().map(RepoPath::to_string).collect::<Vec<_>>();
        assert_eq!(in_words(&status.unreadable), ["cut", "a\nb"]);
        assert!(in_words(&status.complained_of).ends_with(&["d/x".into(), "d/y: z".into()]));
    }

    #[test]
    fn reads_a_head_without_a_commit_or_a_branch() {
        let unborn = b"# branch.oid (initial)\0# branch.head main\0";
        let head = Status::parse(unborn, b"").unwrap().head;
        assert_eq!(
            (head.commit, head.branch.as_deref()),
            (None, Some("refs/heads/main"))
        );
        let a = "a".repeat(40);
        let detached = format!("# branch.oid {a}\0# branch.head (detached)\0");
        let head = Status::parse(detached.as_bytes(), b"").unwrap().head;
        assert_eq!((head.commit, head.branch), (Oid::new(a), None));
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        for bad in ["x", "9 y", "1 .M", "1 .M N... 100644", "# branch.oid zz"] {
            assert!(Status::parse(bad.as_bytes(), b"").is_err(), "{bad:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_read_does_no_harm(bytes in crate::gitengine::noise()) {
            let _ = Status::parse(&bytes, &bytes);
        }
    }
}
