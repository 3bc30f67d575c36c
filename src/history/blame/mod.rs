//! Who wrote each line of a file.
//!
//! git's own blame does the matching of lines, on the shadow history: from the work tree as it is through the steps and
//! turns of the session to what was committed before it. Where that ends at a commit which only took over what was
//! written elsewhere (an accept, a partial restore, a pull), the lines are followed there ([`beyond`]).

mod back;
mod beyond;
mod others;
mod owner;
pub mod story;
mod versions;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::gitengine::{
    Blame, BlameQuestion, Blamed, Brought, Entry, Line as Said, Mode, Oid, RepoPath, Signature,
    os_path, ranges,
};

use self::beyond::Elsewhere;
pub use self::owner::Owner;
use super::session::Session;
use super::turn::Turn;
use super::workspace::Workspace;

pub use crate::gitengine::Follow;

/// Who wrote the lines of a file.
pub struct Owners {
    /// The lines that were asked for, in their order. A binary file is one.
    pub lines: Vec<Line>,
    /// What git says of the commits among them.
    pub commits: BTreeMap<Oid, Blamed>,
    /// The content of the file, as git stores it.
    pub content: Vec<u8>,
    /// Is it binary? Then its lines are not told apart.
    pub is_binary: bool,
}

/// A line.
pub struct Line {
    /// Its number, from 1; 0 for the whole of a binary file.
    pub number: u32,
    /// Who wrote it.
    pub owner: Owner,
    /// Where it was first.
    pub origin: Origin,
}

/// Where a line was first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The snapshot, or commit, that brought it.
    pub commit: Oid,
    /// What the file was called there.
    pub path: RepoPath,
    /// The line's number there.
    pub line: u32,
    /// The version of the file before.
    pub previous: Option<(Oid, RepoPath)>,
}

/// What is asked.
pub struct Question<'a> {
    /// The file.
    pub path: &'a RepoPath,
    /// The lines; `None` means all.
    pub lines: Option<RangeInclusive<u32>>,
    /// Who owns what was only moved or formatted anew.
    pub follow: Follow,
}

/// The state of the files that is asked about.
pub struct Version {
    /// The snapshot, or the commit made for what is not saved yet.
    pub commit: Oid,
    /// Is it not saved yet?
    pub is_unsaved: bool,
}

impl Version {
    /// The work tree as it is, which was just written as this tree.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn of_work_tree(
        workspace: &Workspace,
        session: Option<&Session>,
        tree: &Oid,
    ) -> Result<Self> {
        let current = session.and_then(|session| session.current.as_ref());
        if let Some(current) = current.filter(|current| &current.tree == tree) {
            return Ok(Self::of_turn(current));
        }
        let head = match current {
            Some(current) => Some(current.commit.clone()),
            None => workspace.git.head()?.1,
        };
        let parents: Vec<&Oid> = head.iter().collect();
        let message = b"The work tree, to be asked about";
        let commit = workspace
            .git
            .write_commit(tree, &parents, &Signature::edio(0), message)?;
        Ok(Self {
            commit,
            is_unsaved: true,
        })
    }

    /// A snapshot.
    pub fn of_turn(turn: &Turn) -> Self {
        Self {
            commit: turn.commit.clone(),
            is_unsaved: false,
        }
    }
}

/// Who wrote the lines of a file.
///
/// # Errors
///
/// There is no such file, or it has fewer lines, or git failed.
pub fn owners(workspace: &Workspace, version: &Version, question: &Question<'_>) -> Result<Owners> {
    let entry = file_at(workspace, &version.commit, question.path)?;
    let contents = workspace
        .git
        .raw_objects("blob", std::slice::from_ref(&entry.oid))?;
    let content = contents.into_iter().next().unwrap_or_default();
    let is_binary = is_binary(&content);
    let mut tracer = Tracer {
        workspace,
        version,
        elsewhere: Elsewhere::new(workspace, version, question.follow),
        follow: question.follow,
        is_binary,
        lines: Said::all_of(&content).collect(),
        commits: BTreeMap::new(),
    };
    let wanted = match (is_binary, &question.lines) {
        (true, _) => Vec::new(),
        (false, Some(range)) => vec![within(range, &content, question.path)?],
        (false, None) => Vec::new(),
    };
    let found = tracer.everywhere(question.path, &wanted);
    let found = found.map_err(|error| check_settings(workspace).err().unwrap_or(error))?;
    let origins: BTreeSet<&Oid> = found.values().map(|origin| &origin.commit).collect();
    let owners = owner::of_commits(workspace, version, &origins)?;
    let mut lines = Vec::new();
    for (number, origin) in &found {
        let Some(owner) = owners.get(&origin.commit) else {
            continue;
        };
        lines.push(Line {
            number: *number,
            owner: tracer.sure_of(owner, *number, origin)?,
            origin: origin.clone(),
        });
    }
    Ok(Owners {
        lines,
        commits: tracer.commits,
        content,
        is_binary,
    })
}

/// The setting of git's that names lists of commits to ignore.
const LISTS: &str = "blame.ignorerevsfile";

fn is_ignoring(workspace: &Workspace) -> bool {
    !workspace.settings.all(LISTS).is_empty()
}

/// git's blame ends where a list of commits is named that is not there, and there is no way to have it go on.
fn check_settings(workspace: &Workspace) -> Result<()> {
    for list in workspace.settings.all(LISTS) {
        let file = PathBuf::from(os_path(list));
        let is_plain = !list.is_empty() && !list.starts_with(b"~") && !list.starts_with(b"%(");
        if is_plain && !workspace.git.work_tree.join(&file).exists() {
            let named = Error::cannot(format!(
                "git's setting {LISTS} names a list that is not there"
            ));
            return Err(named
                .because(format!("{} does not exist", file.display()))
                .hint(format!("git blame fails, too; see where it is set: git config --show-origin --get-all {LISTS}")));
        }
    }
    Ok(())
}

/// What a version has at a path, where that is a file or a link; `None` where it is none.
fn file_if_there(workspace: &Workspace, commit: &Oid, path: &RepoPath) -> Result<Option<Entry>> {
    let paths = std::slice::from_ref(path);
    let mut found = workspace.git.entries_at(commit, paths)?.into_iter();
    let file = found.find(|(found, entry)| found == path && entry.mode != Mode::Gitlink);
    Ok(file.map(|(_, entry)| entry))
}

/// The same, which must be there.
fn file_at(workspace: &Workspace, commit: &Oid, path: &RepoPath) -> Result<Entry> {
    file_if_there(workspace, commit, path)?.ok_or_else(|| {
        Error::cannot(format!("there is no file {path} that a turn could hold"))
            .hint("of an ignored file nothing is known; what there is: edio show @")
    })
}

/// As git tells it: by a NUL near the beginning.
fn is_binary(content: &[u8]) -> bool {
    content.iter().take(8000).any(|byte| *byte == 0)
}

/// How many lines there are. The last one may lack its end.
fn count_lines(content: &[u8]) -> usize {
    let ends = content.iter().filter(|byte| **byte == b'\n').count();
    ends + usize::from(!content.is_empty() && !content.ends_with(b"\n"))
}

fn within(
    range: &RangeInclusive<u32>,
    content: &[u8],
    path: &RepoPath,
) -> Result<RangeInclusive<u32>> {
    let count = u32::try_from(count_lines(content)).unwrap_or(u32::MAX);
    match *range.start() >= 1 && *range.start() <= count && range.end() >= range.start() {
        true => Ok(*range.start()..=count.min(*range.end())),
        false => Err(Error::usage(format!("{path} has {count} lines"))
            .hint(format!("ask for some of them: {path}:1-{count}"))),
    }
}

type Found = BTreeMap<u32, Origin>;

/// Looks for the origin of lines.
struct Tracer<'a> {
    workspace: &'a Workspace,
    version: &'a Version,
    elsewhere: Elsewhere<'a>,
    follow: Follow,
    is_binary: bool,
    /// What the lines say.
    lines: Vec<Said>,
    commits: BTreeMap<Oid, Blamed>,
}

impl Tracer<'_> {
    /// Where each of these lines was first, by its number here. No range means all lines.
    fn everywhere(&mut self, path: &RepoPath, lines: &[RangeInclusive<u32>]) -> Result<Found> {
        let mut found = self.blame(&self.version.commit, path, lines, None)?;
        // Each version is gone beyond once: what leads back to it leads nowhere.
        let mut done: BTreeSet<(Oid, RepoPath)> = BTreeSet::new();
        loop {
            let place = |origin: &Origin| (origin.commit.clone(), origin.path.clone());
            let open: BTreeSet<(Oid, RepoPath)> = found.values().map(place).collect();
            self.elsewhere.learn(&open)?;
            let new: Vec<_> = open.difference(&done).cloned().collect();
            if new.is_empty() {
                return Ok(found);
            }
            for (commit, path) in &new {
                self.go_beyond(commit, path, &mut found)?;
            }
            done.extend(new);
        }
    }

    /// The owner of a line, where that is for sure.
    fn sure_of(&mut self, owner: &Owner, number: u32, origin: &Origin) -> Result<Owner> {
        let said = self.said(number);
        Ok(match (owner, said) {
            (Owner::Human(turn), Some(said))
                if self.elsewhere.may_be_older(turn, &origin.path, said)? =>
            {
                Owner::Unknown(turn.clone())
            }
            _ => owner.clone(),
        })
    }

    /// What a line says.
    fn said(&self, number: u32) -> Option<Said> {
        let at = (number as usize).checked_sub(1)?;
        self.lines.get(at).copied()
    }

    /// Follows what a commit seems to have brought to where it took it from, if it only took it over.
    fn go_beyond(&mut self, commit: &Oid, path: &RepoPath, found: &mut Found) -> Result<()> {
        let here = |origin: &Origin| &origin.commit == commit && &origin.path == path;
        let said = found.iter().filter(|(_, origin)| here(origin));
        let said: Vec<Said> = said.filter_map(|(number, _)| self.said(*number)).collect();
        for way in self.elsewhere.ways_from(commit, path, &said)? {
            let left: BTreeSet<u32> = found
                .values()
                .filter(|origin| here(origin))
                .map(|origin| origin.line)
                .collect();
            if left.is_empty() {
                break;
            }
            let there = self.blame(commit, path, &ranges(&left), Some(&way.to))?;
            let origins: BTreeSet<&Oid> = there.values().map(|origin| &origin.commit).collect();
            let owners = owner::of_commits(self.workspace, self.version, &origins)?;
            let is_good = |origin: &&Origin| {
                let owner = owners.get(&origin.commit);
                &origin.commit != commit && owner.is_some_and(|owner| way.leads_to(owner))
            };
            for origin in found.values_mut().filter(|origin| here(origin)) {
                if let Some(first) = there.get(&origin.line).filter(is_good) {
                    origin.clone_from(first);
                }
            }
        }
        Ok(())
    }

    /// Asks git. The whole of a binary file is one line, 0.
    fn blame(
        &mut self,
        commit: &Oid,
        path: &RepoPath,
        lines: &[RangeInclusive<u32>],
        parent: Option<&Oid>,
    ) -> Result<Found> {
        let git = &self.workspace.git;
        if self.is_binary {
            return self.last_to_touch(commit, path, parent);
        }
        let question = BlameQuestion {
            commit,
            path,
            lines,
            follow: self.follow,
            parent,
            is_ignoring: is_ignoring(self.workspace),
        };
        let Blame { brought, commits } = git.blame(&question)?;
        self.commits.extend(commits);
        Ok(brought.iter().flat_map(each_line).collect())
    }

    fn last_to_touch(
        &mut self,
        commit: &Oid,
        path: &RepoPath,
        parent: Option<&Oid>,
    ) -> Result<Found> {
        let git = &self.workspace.git;
        let start = match parent {
            None => commit,
            // Only the very same content can come from there.
            Some(parent) => {
                let at = |commit| file_if_there(self.workspace, commit, path);
                let oid = |entry: Option<Entry>| entry.map(|entry| entry.oid);
                match oid(at(parent)?) == oid(at(commit)?) {
                    true => parent,
                    false => return Ok(Found::new()),
                }
            }
        };
        let Some((last, about)) = git.last_to_touch(start, path)? else {
            return Ok(Found::new());
        };
        self.commits.insert(last.clone(), about);
        let origin = Origin {
            commit: last,
            path: path.clone(),
            line: 0,
            previous: None,
        };
        Ok(Found::from([(0, origin)]))
    }
}

fn each_line(brought: &Brought) -> impl Iterator<Item = (u32, Origin)> + '_ {
    (0..brought.count).map(|at| {
        let origin = Origin {
            commit: brought.commit.clone(),
            path: brought.path.clone(),
            line: brought.there + at,
            previous: brought.previous.clone(),
        };
        (brought.here + at, origin)
    })
}
