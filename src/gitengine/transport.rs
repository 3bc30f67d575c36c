//! Other repositories: which refs they have, objects from them, refs to them.
//!
//! git does it, with the user's own credentials, ssh and proxies. No hook of the user's is run, no ref of the user's is
//! written, and what comes in is checked object by object.

use std::collections::BTreeMap;
use std::ffi::OsString;

use bstr::ByteSlice;

use super::command::{Git, Prompts};
use super::config::Settings;
use super::error::Result;
use super::objects::Oid;
use super::paths::git_bytes;
use super::refs::{Before, RefChange};

/// Another repository.
#[derive(Clone, Debug)]
pub struct Remote {
    /// The name of a remote that is configured, or an address. It never begins with a dash.
    pub name: OsString,
    /// May git ask the person something on the way?
    pub prompts: Prompts,
}

/// What came of sending refs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    /// All are there.
    Done,
    /// None is: the other repository said no, in these words.
    Refused(String),
}

/// An object that the other repository lacks.
#[derive(Clone, Debug)]
pub struct Leaving {
    /// Its id.
    pub oid: Oid,
    /// Is it a commit?
    pub is_commit: bool,
    /// What it takes on disk.
    pub bytes: u64,
}

/// The addresses of a remote.
pub struct Addresses {
    /// Where it is fetched from.
    pub fetched: Option<String>,
    /// Where it is pushed to.
    pub pushed: Vec<String>,
}

impl Git {
    /// The names of the configured remotes.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn remotes(&self) -> Result<Vec<String>> {
        let output = self.ask("remote").run()?;
        let names = output.lines().map(|line| line.to_str_lossy().into_owned());
        Ok(names.collect())
    }

    /// Where a remote is fetched from, and where it is pushed to.
    ///
    /// # Errors
    ///
    /// There is no such remote, or git failed.
    pub fn addresses_of(&self, name: &str) -> Result<Addresses> {
        let ask = |more: &[&str]| {
            let ask = self.ask("remote").arg("get-url").args(more);
            let output = ask.args(["--", name]).run()?;
            let lines = output.lines().map(|line| line.to_str_lossy().into_owned());
            Ok::<Vec<String>, super::error::GitError>(lines.collect())
        };
        Ok(Addresses {
            fetched: ask(&[])?.into_iter().next(),
            pushed: ask(&["--push", "--all"])?,
        })
    }

    /// The remotes of a branch: the one that it is pulled from, and the one that it is pushed to.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn remotes_of(&self, branch: &str) -> Result<(Option<String>, Option<String>)> {
        let ask = self.ask("for-each-ref");
        let ask = ask.arg("--format=%(upstream:remotename)%00%(push:remotename)");
        let output = ask.arg("--").arg(branch).run()?;
        let line = output.lines().next().unwrap_or_default();
        let (pull, push) = line.split_once_str("\0").unwrap_or_default();
        let named = |name: &[u8]| (!name.is_empty()).then(|| name.to_str_lossy().into_owned());
        Ok((named(pull), named(push)))
    }

    /// All refs of another repository.
    ///
    /// # Errors
    ///
    /// It can't be reached, or git failed.
    pub fn refs_of(&self, remote: &Remote) -> Result<Vec<(String, Oid)>> {
        let ask = self.ask_elsewhere("ls-remote", remote.prompts);
        let ask = ask.args(["--quiet", "--refs", "--"]).arg(&remote.name);
        let output = ask.without_pathspec_rules().run()?;
        let pair = |line: &[u8]| {
            let (oid, name) = line.split_once_str("\t")?;
            Some((name.to_str().ok()?.to_owned(), Oid::from_bytes(oid)?))
        };
        Ok(output.lines().filter_map(pair).collect())
    }

    /// The objects that these commits lead to, and none of those of the other repository does.
    ///
    /// # Errors
    ///
    /// Something is missing, or git failed.
    pub fn leaving(&self, tips: &[Oid], without: &[Oid]) -> Result<Vec<Leaving>> {
        let ask = self
            .ask("rev-list")
            .args(["--objects", "--no-object-names"]);
        let ask = ask.args(["--missing=allow-any", "--stdin"]);
        let listed = ask.input(range(tips, without)).run()?;
        let ask = self.ask("cat-file").arg("--buffer");
        let ask = ask.arg("--batch-check=%(objecttype) %(objectsize:disk) %(objectname)");
        let output = ask.input(listed).run()?;
        let object = |line: &[u8]| {
            let (kind, rest) = line.split_once_str(" ")?;
            let (size, oid) = rest.split_once_str(" ")?;
            Some(Leaving {
                oid: Oid::from_bytes(oid)?,
                is_commit: kind == b"commit",
                bytes: size.to_str().ok()?.parse().ok()?,
            })
        };
        Ok(output.lines().filter_map(object).collect())
    }

    /// The same with a path of each.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn leaving_by_path(&self, tips: &[Oid], without: &[Oid]) -> Result<BTreeMap<Oid, Vec<u8>>> {
        let ask = self
            .ask("rev-list")
            .args(["--objects", "--missing=allow-any", "--stdin"]);
        let output = ask.input(range(tips, without)).run()?;
        let object = |line: &[u8]| {
            let (oid, path) = line.split_once_str(" ").unwrap_or((line, b""));
            Some((Oid::from_bytes(oid)?, path.to_vec()))
        };
        Ok(output.lines().filter_map(object).collect())
    }

    /// Takes the objects that refs of another repository lead to. No ref is written.
    ///
    /// Each object is checked, as `git fsck` does. In a partial clone nothing is left out: what is missing could not be
    /// restored.
    ///
    /// # Errors
    ///
    /// It can't be reached, has no such ref any more, or sends what is refused; or git failed.
    pub fn take_from(&self, remote: &Remote, names: &[String]) -> Result<()> {
        let ask = self
            .ask_elsewhere("fetch", remote.prompts)
            .setting("fetch.fsckObjects=true")
            .setting("transfer.fsckObjects=true")
            // Beside a quarantine, the repository's own refs are those of an alternate. They are known already.
            .setting("core.alternateRefsCommand=:");
        let ask = ask.args(["--quiet", "--no-tags", "--no-prune", "--no-filter"]);
        let ask = ask.args([
            "--no-write-fetch-head",
            "--refmap=",
            "--no-auto-maintenance",
        ]);
        let ask = ask.args(["--no-recurse-submodules", "--no-write-commit-graph"]);
        let ask = ask.args(["--stdin", "--"]).arg(&remote.name);
        let lines: String = names.iter().map(|name| format!("{name}\n")).collect();
        ask.without_pathspec_rules().input(lines).run().map(drop)
    }

    /// Makes all these changes of another repository's refs, or none: each only where the ref is still what it must be.
    ///
    /// What it says no to is no error.
    ///
    /// # Errors
    ///
    /// It can't be reached, or git failed.
    pub fn send_to(
        &self,
        remote: &Remote,
        settings: &Settings,
        changes: &[RefChange],
    ) -> Result<Sent> {
        let sent = self.push(remote, settings, changes, &["--atomic"])?;
        match &sent {
            // Each is still only made where the ref is what it must be.
            Sent::Refused(why) if why.contains("does not support --atomic") => {
                self.push(remote, settings, changes, &[])
            }
            _ => Ok(sent),
        }
    }

    fn push(
        &self,
        remote: &Remote,
        settings: &Settings,
        changes: &[RefChange],
        more: &[&str],
    ) -> Result<Sent> {
        let mut ask = self.ask_elsewhere("push", remote.prompts);
        // A mirror takes no refs by name.
        let name = String::from_utf8_lossy(&git_bytes(remote.name.as_ref())).into_owned();
        if let (true, Some(folder)) = (self.remotes()?.contains(&name), folder_of(changes)) {
            // Where its refs are mirrored here, git would write, and remove, the mirrored ones, too.
            ask = ask.setting(format!("remote.{name}.fetch=^{folder}/*"));
        }
        if settings.is_true(&format!("remote.{name}.mirror")) {
            ask = ask.setting(format!("remote.{name}.mirror=false"));
        }
        let ask = ask.args(["--quiet", "--porcelain", "--no-verify", "--no-follow-tags"]);
        let ask = ask.arg("--recurse-submodules=no").args(more);
        let leases = changes.iter().map(|change| {
            let before = match &change.before {
                Before::Absent => "",
                Before::At(oid) => oid.as_str(),
            };
            format!("--force-with-lease={}:{before}", change.name)
        });
        let refs = changes.iter().map(|change| {
            let after = change.after.as_ref().map_or("", Oid::as_str);
            format!("{after}:{}", change.name)
        });
        let ask = ask.args(leases).arg("--").arg(&remote.name).args(refs);
        let finished = ask.without_pathspec_rules().outcome()?;
        if finished.status.success() {
            return Ok(Sent::Done);
        }
        let lines = finished
            .stdout
            .lines()
            .filter(|line| line.starts_with(b"!"));
        let reasons = lines.filter_map(|line| line.rsplit_str("\t").next());
        let said = finished.stderr.lines();
        let mut why: Vec<String> = reasons
            .chain(said)
            .map(|line| line.to_str_lossy().trim().to_owned())
            .filter(|line| !line.is_empty())
            .collect();
        why.dedup();
        Ok(Sent::Refused(why.join("; ")))
    }
}

/// The first two parts of the names of these refs: whose they are.
fn folder_of(changes: &[RefChange]) -> Option<&str> {
    let name = changes.first()?.name.as_str();
    let (end, _) = name.match_indices('/').nth(1)?;
    name.get(..end)
}

/// What leads from some commits to others, as git reads it.
fn range(tips: &[Oid], without: &[Oid]) -> String {
    let tips = tips.iter().map(|oid| format!("{oid}\n"));
    tips.chain(without.iter().map(|oid| format!("^{oid}\n")))
        .collect()
}
