//! How files of the work tree come into an index, whatever git rejects of them.

use std::collections::BTreeMap;

use bstr::ByteSlice;

use super::{NO_CHECKSUM, PrivateIndex};
use crate::gitengine::command::Ask;
use crate::gitengine::config::Settings;
use crate::gitengine::error::{GitError, Result};
use crate::gitengine::filters::Filtered;
use crate::gitengine::objects::Oid;
use crate::gitengine::paths::RepoPath;

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

/// A path that git would not take into an index, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The path.
    pub path: RepoPath,
    /// In git's words.
    pub why: String,
}

impl PrivateIndex {
    /// Takes these paths as they are on disk, in this order; one that is gone from disk leaves the index.
    ///
    /// One bad path ends git's work with nothing written. So what git rejects is taken out, and the rest tried again:
    /// first path by path as git names them, then by halves. What a filter fails for is rejected, required or not: git
    /// would take it as it is, and tell nobody. Where it fails for many, one look at what it gave tells of all of them.
    ///
    /// Files that are as new as the index, and none of these paths, are read through their filters, too, and may be what
    /// git ends over. They must be known to be as the index has them: then it is written without that, where git failed.
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
        let (mut is_trusted, mut is_filters) = (false, false);
        for contents in [contents, Contents::Known, Contents::Known, Contents::Known] {
            let error = match self.take_on(&paths, contents, settings) {
                Ok(ignored) => {
                    rejected.extend(ignored);
                    return Ok(rejected);
                }
                Err(error) => error,
            };
            let Some(path) = blamed(error.stderr(), &paths) else {
                if is_trusted {
                    break;
                }
                self.trust()?;
                is_trusted = true;
                continue;
            };
            is_filters = error.stderr().contains_str(": clean filter ");
            paths.retain(|other| other != &path);
            rejected.push(Rejected {
                why: last_line(error.stderr()),
                path,
            });
        }
        let past = match is_filters {
            true => self.take_past_filters(&paths, settings).ok(),
            false => None,
        };
        match past {
            Some(found) => rejected.extend(found),
            None => self.take_by_halves(&paths, settings, &mut rejected)?,
        }
        Ok(rejected)
    }

    /// Takes all or none, and what a filter fails for without it. Returns those: all that the index may have now as it would
    /// without a filter. One that its filter leaves as it is can't be told from them, and is among them.
    fn take_past_filters(&self, paths: &[RepoPath], settings: &Settings) -> Result<Vec<Rejected>> {
        let taking = settings.without_required_filters(self.taking());
        let mut rejected = taken(taking, paths)?;
        let top = &self.git.work_tree;
        let is_file = |path: &RepoPath| {
            let meta = path.below(top).symlink_metadata();
            meta.is_ok_and(|meta| meta.is_file())
        };
        let files: Vec<RepoPath> = paths.iter().filter(|path| is_file(path)).cloned().collect();
        let Filtered { alone, and_more } = self.git.filtered(settings, &files)?;
        let without = self.git.ids_without_filters(settings, &alone)?;
        let without: BTreeMap<RepoPath, [Oid; 2]> = alone.into_iter().zip(without).collect();
        let entries = self.git.list_index(&self.file)?.entries.into_iter();
        let failed = entries.filter(|entry| {
            let ids = without.get(&entry.path);
            ids.is_some_and(|ids| ids.contains(&entry.oid))
        });
        // What else was done to the bytes of these is not known.
        let failed = failed.map(|entry| entry.path).chain(and_more);
        rejected.extend(failed.map(|path| Rejected {
            path,
            why: "its filter failed".to_owned(),
        }));
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
        let ask = settings.with_required_filters(self.taking());
        // What a failure leaves of a pack is swept out of the quarantine.
        let may_pack = contents == Contents::New && self.git.quarantine.is_some();
        let ask = match may_pack && paths.len() >= MANY {
            true => INTO_A_PACK.into_iter().fold(ask, Ask::setting),
            false => ask,
        };
        taken(ask, paths)
    }

    fn taking(&self) -> Ask {
        let ask = self.git.ask("update-index").index(&self.file);
        let ask = ask.args(["-z", "--add", "--remove", "--replace", "--stdin"]);
        ask.setting(NO_CHECKSUM)
    }
}

/// Has this question take paths, and returns those that git passed over.
fn taken(ask: Ask, paths: &[RepoPath]) -> Result<Vec<Rejected>> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
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
}
