//! Refs: changed several at a time or not at all, and listed with the commits that they point to.

use std::collections::BTreeSet;

use bstr::ByteSlice;

use super::command::{Answer, Ask, Asked, Git};
use super::error::{GitError, Result};
use super::objects::{Commit, Oid, Signature};

/// What a ref must be for a change to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Before {
    /// It must not exist.
    Absent,
    /// It must point here.
    At(Oid),
}

/// A change of one ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefChange {
    /// The full name.
    pub name: String,
    /// What it must be before.
    pub before: Before,
    /// Where it points to after; `None` deletes it.
    pub after: Option<Oid>,
}

impl RefChange {
    /// Creates a ref, or moves it from where it is known to point to.
    pub fn set(name: String, before: Option<&Oid>, after: &Oid) -> Self {
        Self {
            name,
            before: before.map_or(Before::Absent, |oid| Before::At(oid.clone())),
            after: Some(after.clone()),
        }
    }

    /// Deletes a ref that points here.
    pub fn delete(name: String, before: &Oid) -> Self {
        Self {
            name,
            before: Before::At(before.clone()),
            after: None,
        }
    }

    /// As `git update-ref --stdin -z` reads it.
    fn line(&self) -> String {
        let name = &self.name;
        match (&self.before, &self.after) {
            (Before::Absent, Some(after)) => format!("create {name}\0{after}\0"),
            (Before::At(before), Some(after)) => format!("update {name}\0{after}\0{before}\0"),
            (Before::At(before), None) => format!("delete {name}\0{before}\0"),
            (Before::Absent, None) => format!("verify {name}\0\0"),
        }
    }
}

/// A ref with the commit that it points to.
#[derive(Clone, Debug)]
pub struct RefCommit {
    /// The full name.
    pub name: String,
    /// The commit.
    pub commit: Commit,
}

/// A ref that leads to no commit that can be read: a power cut or a broken disk does that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedRef {
    /// The full name.
    pub name: String,
    /// Where it points to. `None` where the ref itself is damaged.
    pub oid: Option<Oid>,
}

/// Refs that were listed with their commits, or with what was read of them.
#[derive(Clone, Debug, Default)]
pub struct RefCommits<T = RefCommit> {
    /// Those that point to commits.
    pub whole: Vec<T>,
    /// Those that can't be read.
    pub damaged: Vec<DamagedRef>,
}

/// A question for HEAD under way.
pub struct HeadQuestion {
    branch: Asked,
    commit: Asked,
}

impl HeadQuestion {
    /// The full name of its branch, and its commit, as [`Git::head`] returns them.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn answer(self) -> Result<(Option<String>, Option<Oid>)> {
        let branch = self.branch.finish()?;
        let name = branch.stdout.trim_ascii().to_str_lossy().into_owned();
        let branch = branch.status.success().then_some(name);
        let commit = self.commit.finish()?;
        Ok((branch, Oid::from_bytes(commit.stdout.trim_ascii())))
    }
}

/// The name of a branch, as people say it. What is no branch keeps its name.
pub fn short_branch(name: &str) -> &str {
    name.strip_prefix("refs/heads/").unwrap_or(name)
}

impl Git {
    /// Makes all these changes, in this order, or none.
    ///
    /// With refs in files, a kill in the middle can leave the first ones made: so the order matters.
    ///
    /// # Errors
    ///
    /// A ref is not what it must be, or another process holds it, or git failed.
    pub fn change_refs(&self, changes: &[RefChange]) -> Result<()> {
        self.give_objects()?;
        let lines: String = changes.iter().map(RefChange::line).collect();
        // Where the input ends too early, since edio was killed, nothing is changed.
        let input = format!("start\0{lines}commit\0");
        let said = self.ask_to_move_refs().input(input).run()?;
        if said != b"start: ok\ncommit: ok\n" {
            // This is no git that can be believed.
            return Err(GitError::unexpected_bytes("git update-ref", &said));
        }
        // The refs are moved. What can't be given now is given by the next command.
        let _ = self.give_again();
        Ok(())
    }

    pub(super) fn ask_to_move_refs(&self) -> Ask {
        // What somebody has put in a ref's place to point to another is replaced: the other never moves.
        let ask = self.ask("update-ref").args(["--no-deref", "--stdin", "-z"]);
        // With reftable git wants to know who it is and when, also where no reflog is kept, and dies of a date that is none.
        let Signature { name, email, .. } = Signature::edio(0);
        ask.env("GIT_COMMITTER_NAME", name)
            .env("GIT_COMMITTER_EMAIL", email)
            .env("GIT_COMMITTER_DATE", "@0 +0000")
    }

    /// Packs the refs below this folder, and no others. From git 2.42 on.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn pack_refs_below(&self, folder: &str) -> Result<()> {
        let ask = self.ask("pack-refs").arg("--include");
        ask.arg(format!("{folder}*")).run().map(drop)
    }

    /// Moves a ref of the user's, with a line in its reflog: the user's `reference-transaction` hook is asked. `None` is
    /// a branch without a commit.
    ///
    /// # Errors
    ///
    /// The ref is not where it must be, the hook said no, or git failed.
    pub fn move_users_ref(
        &self,
        name: &str,
        before: Option<&Oid>,
        after: Option<&Oid>,
        reason: &str,
    ) -> Result<()> {
        self.give_objects()?;
        let mut ask = self
            .ask("update-ref")
            .on_the_users_refs()
            .args(["-m", reason]);
        if name == "HEAD" {
            // It is detached. If somebody attached it meanwhile, that branch must not move.
            ask = ask.arg("--no-deref");
        }
        let absent = Oid::null(self.format);
        let before = before.unwrap_or(&absent).as_str();
        let ask = match after {
            Some(after) => ask.args([name, after.as_str(), before]),
            None => ask.args(["-d", name, before]),
        };
        match ask.run() {
            // A git that was killed may have done its work before.
            Err(_) if self.is_at(name, after) => Ok(()),
            moved => moved.map(drop),
        }
    }

    /// Is it sure that a ref points to this commit, or, for `None`, that there is no such ref?
    fn is_at(&self, name: &str, commit: Option<&Oid>) -> bool {
        let ask = self.ask("rev-parse").args(["--verify", "--quiet"]);
        let found = ask.arg(format!("{name}^{{commit}}")).outcome();
        found.is_ok_and(|found| match found.status.code() {
            Some(0) => Oid::from_bytes(found.stdout.trim_ascii()).as_ref() == commit,
            // So it ends where there is none; a git that fails says 128.
            Some(1) => commit.is_none(),
            _ => false,
        })
    }

    /// Is a commit the other, or an ancestor of it?
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn is_ancestor(&self, commit: &Oid, of: &Oid) -> Result<bool> {
        let ask = self.ask("merge-base").arg("--is-ancestor");
        let finished = ask.arg(commit).arg(of).outcome()?;
        match finished.status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(super::error::GitError::Exit {
                command: "git merge-base --is-ancestor".to_owned(),
                status: finished.status,
                stderr: finished.stderr,
            }),
        }
    }

    /// Those of these commits that the history which ends at another one does not have. Those that are gone are among them.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn not_in_history(&self, commits: &[&Oid], of: &Oid) -> Result<BTreeSet<Oid>> {
        if commits.is_empty() {
            return Ok(BTreeSet::new());
        }
        let lines: String = commits.iter().map(|commit| format!("{commit}\n")).collect();
        let ask = self.ask("rev-list").args(["--ignore-missing", "--stdin"]);
        let output = ask.input(format!("{lines}^{of}\n")).run()?;
        let outside: BTreeSet<Oid> = output.lines().filter_map(Oid::from_bytes).collect();
        let wanted: Vec<Oid> = commits.iter().map(|oid| (*oid).clone()).collect();
        let gone = self.missing(&wanted)?;
        let outside = wanted.into_iter().filter(|oid| outside.contains(oid));
        Ok(outside.chain(gone).collect())
    }

    /// Where HEAD stands: the full name of its branch (`None` where it is detached), and its commit (`None` before the
    /// first one).
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn head(&self) -> Result<(Option<String>, Option<Oid>)> {
        self.ask_head()?.answer()
    }

    /// Begins to ask where HEAD stands.
    ///
    /// # Errors
    ///
    /// git could not be started.
    pub fn ask_head(&self) -> Result<HeadQuestion> {
        let commit = ["-q", "--verify", "HEAD^{commit}"];
        Ok(HeadQuestion {
            branch: self.ask("symbolic-ref").args(["-q", "HEAD"]).start()?,
            commit: self.ask("rev-parse").args(commit).start()?,
        })
    }

    /// The refs below these names (a name in full, or a folder of names) that point to commits, with the commits.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn ref_commits(&self, names: &[&str]) -> Result<RefCommits> {
        self.read_ref_commits(names, |found| found)
    }

    /// The same, each of them read at once, while git goes on to print the others.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn read_ref_commits<T>(
        &self,
        names: &[&str],
        read: impl Fn(RefCommit) -> T,
    ) -> Result<RefCommits<T>> {
        match self.list_commits(names, &read) {
            // It ends over the first commit that it can't read.
            Err(GitError::Exit { .. } | GitError::Output { .. }) => {
                let RefCommits { whole, damaged } = self.list_each_commit(names)?;
                let whole = whole.into_iter().map(read).collect();
                Ok(RefCommits { whole, damaged })
            }
            listed => listed,
        }
    }

    fn list_commits<T>(
        &self,
        names: &[&str],
        read: impl Fn(RefCommit) -> T,
    ) -> Result<RefCommits<T>> {
        let mut answer = self.ask_for_commits(names).read()?;
        let mut whole = Vec::new();
        while let Some(name) = answer.record(0)? {
            let oid = field(&mut answer)?;
            let kind = field(&mut answer)?;
            let length = field(&mut answer)?;
            let raw = answer.exactly(length.parse().unwrap_or(0))?;
            if answer.exactly(1)? != b"\n" {
                return Err(answer.unexpected("a ref without its end"));
            }
            let commit = Oid::new(oid).and_then(|oid| Commit::parse(oid, &raw));
            if let (Some(commit), "commit", Ok(name)) = (commit, kind.as_str(), name.into_string())
            {
                whole.push(read(RefCommit { name, commit }));
            }
        }
        let damaged = broken_refs(&answer.close_with_stderr()?);
        Ok(RefCommits { whole, damaged })
    }

    /// The same in two steps: a commit that can't be read does the others no harm.
    fn list_each_commit(&self, names: &[&str]) -> Result<RefCommits> {
        let listed = self.ask_for_names(names).start()?.succeed_whole()?;
        let named = read_names(&listed.stdout);
        let oids: Vec<Oid> = named.iter().map(|(_, oid)| oid.clone()).collect();
        let mut refs = RefCommits {
            whole: Vec::new(),
            damaged: broken_refs(&listed.stderr),
        };
        for ((name, oid), commit) in named.into_iter().zip(self.commits_that_are_whole(&oids)?) {
            match commit {
                Some(commit) => refs.whole.push(RefCommit { name, commit }),
                None => refs.damaged.push(DamagedRef {
                    name,
                    oid: Some(oid),
                }),
            }
        }
        Ok(refs)
    }

    /// Begins to ask for these refs and their commits, as they are now. The same question is then answered at once.
    pub fn ask_ref_commits_ahead(&self, names: &[&str]) {
        self.ask_for_commits(names).stand_by(1);
    }

    fn ask_for_commits(&self, names: &[&str]) -> Ask {
        self.ask("for-each-ref")
            .arg("--format=%(refname)%00%(objectname)%00%(objecttype)%00%(raw:size)%00%(raw)")
            .args(names)
    }

    /// The names of the refs below these names, and the ids that they point to.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn ref_names(&self, names: &[&str]) -> Result<Vec<(String, Oid)>> {
        Ok(read_names(&self.ask_for_names(names).run()?))
    }

    fn ask_for_names(&self, names: &[&str]) -> Ask {
        self.ask("for-each-ref")
            .arg("--format=%(objectname) %(refname)")
            .args(names)
    }
}

fn read_names(output: &[u8]) -> Vec<(String, Oid)> {
    let pair = |line: &[u8]| {
        let (oid, name) = line.split_once_str(" ")?;
        Some((name.to_str().ok()?.to_owned(), Oid::from_bytes(oid)?))
    };
    output.lines().filter_map(pair).collect()
}

/// The refs that git leaves out of a list, and only warns of: their files are empty or garbled.
fn broken_refs(stderr: &[u8]) -> Vec<DamagedRef> {
    let names = stderr
        .lines()
        .filter_map(|line| line.strip_prefix(b"warning: ignoring broken ref "));
    let damaged = names.filter_map(|name| {
        Some(DamagedRef {
            name: name.to_str().ok()?.to_owned(),
            oid: None,
        })
    });
    damaged.collect()
}

fn field(answer: &mut Answer) -> Result<String> {
    let field = answer.record(0)?;
    let text = field.and_then(|bytes| bytes.into_string().ok());
    text.ok_or_else(|| answer.unexpected("a ref with missing fields"))
}

trait IntoString {
    fn into_string(self) -> std::result::Result<String, std::string::FromUtf8Error>;
}

impl IntoString for Vec<u8> {
    fn into_string(self) -> std::result::Result<String, std::string::FromUtf8Error> {
        String::from_utf8(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_may_be_named_as_a_ref_is() {
        assert_eq!(short_branch("refs/heads/topic/x"), "topic/x");
        assert_eq!(short_branch("refs/heads/refs/heads/x"), "refs/heads/x");
        assert_eq!(short_branch("HEAD"), "HEAD");
    }
}
