//! Which commits lead to which, beyond the history that is the user's own.

use std::collections::BTreeSet;

use bstr::ByteSlice;

use crate::error::first_of;

use super::commits::Commit;
use super::oid::Oid;
use crate::gitengine::command::{Ask, Git};
use crate::gitengine::error::{GitError, Result};

impl Git {
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
        let oids = oids.ok_or_else(|| GitError::unexpected_bytes("git rev-list", &output))?;
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
        let lines = output.lines().map(|line| {
            Oid::from_bytes(line).ok_or_else(|| GitError::unexpected_bytes("git rev-list", line))
        });
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

    pub(super) fn beyond_the_users(&self, ask: Ask) -> Ask {
        ask.args(["--not", "--branches", "--tags", "--remotes"])
    }

    fn listed(&self, ask: Ask) -> Result<Vec<Commit>> {
        let output = ask.run()?;
        let oids: Option<Vec<Oid>> = output.lines().map(Oid::from_bytes).collect();
        self.commits(&oids.ok_or_else(|| GitError::unexpected_bytes("git rev-list", &output))?)
    }
}
