//! A remote: which one is meant, what it has of sessions, and objects of its own to look at before they are taken in.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use bstr::ByteSlice;
use tempfile::TempDir;

use crate::error::{Error, Result, While};
use crate::gitengine::{Git, GitError, Oid, Prompts, Remote, git_bytes};

use super::refnames::{self, SessionId, Shelf};
use super::shared::Leaves;
use super::workspace::{Locked, Workspace};

/// How the folders of objects that are looked at begin.
pub const INCOMING: &str = "incoming.";

/// Which way do sessions go?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To the remote.
    There,
    /// From it.
    Here,
}

/// What a remote has.
pub struct Heads {
    /// The sessions, with their refs.
    pub sessions: BTreeMap<SessionId, Leaves>,
    /// What all its refs point to.
    pub tips: Vec<Oid>,
}

/// The remote that is meant: a name, an address, a path from the folder where the person stands, or what git would take
/// for the branch. Where the branch has none, it is the only one that there is, or `origin`.
///
/// # Errors
///
/// None can be meant.
pub fn meant(
    workspace: &Workspace,
    folder: &Path,
    word: Option<&OsStr>,
    way: Way,
    prompts: Prompts,
) -> Result<Remote> {
    let name = match word {
        Some(word) => {
            let bytes = git_bytes(word.as_ref());
            if bytes.is_empty() || bytes.starts_with(b"-") {
                let shown = bytes.to_str_lossy();
                return Err(Error::usage(format!("{shown:?} is no remote"))
                    .hint("name one (git remote), or give an address or a path"));
            }
            let is_name = || -> Result<bool> {
                let remotes = workspace.git.remotes()?;
                Ok(remotes.iter().any(|name| name.as_bytes() == bytes))
            };
            let path = folder.join(word);
            // git would look for it from the top of the work tree.
            match path.exists() && !is_name()? {
                true => path.into_os_string(),
                false if way == Way::There => where_pushed(workspace, word)?,
                false => word.to_owned(),
            }
        }
        None if way == Way::There => where_pushed(workspace, usual(workspace, way)?.as_ref())?,
        None => usual(workspace, way)?.into(),
    };
    Ok(Remote { name, prompts })
}

/// The same, or the address to which a remote is pushed, where that is another than it is fetched from: what it has is to be
/// looked at there, too.
fn where_pushed(workspace: &Workspace, word: &OsStr) -> Result<OsString> {
    let name = word.to_string_lossy();
    if !workspace.git.remotes()?.iter().any(|known| *known == name) {
        return Ok(word.to_owned());
    }
    let addresses = workspace.git.addresses_of(&name)?;
    match addresses.pushed.as_slice() {
        [only] if Some(only) != addresses.fetched.as_ref() => Ok(only.into()),
        [_] | [] => Ok(word.to_owned()),
        _ => Err(
            Error::cannot(format!("{name} is pushed to several addresses"))
                .hint("give the one that is meant: git remote get-url --push --all"),
        ),
    }
}

fn usual(workspace: &Workspace, way: Way) -> Result<String> {
    let (branch, _) = workspace.git.head()?;
    let of_branch = branch.map(|branch| workspace.git.remotes_of(&branch));
    let (pull, push) = of_branch.transpose()?.unwrap_or_default();
    let wanted = match way {
        Way::There => push.or(pull),
        Way::Here => pull,
    };
    if let Some(remote) = wanted.filter(|remote| remote != "." && !remote.starts_with('-')) {
        return Ok(remote);
    }
    let remotes = workspace.git.remotes()?;
    match remotes.as_slice() {
        [only] => Ok(only.clone()),
        all if all.iter().any(|name| name == "origin") => Ok("origin".to_owned()),
        [] => Err(Error::cannot("there is no remote here")
            .hint("give an address or a path, or add one: git remote add origin URL")),
        all => Err(Error::usage("it is not clear which remote is meant")
            .hint(format!("name one of them: {}", all.join(", ")))),
    }
}

/// What a remote has. Refs below `refs/edio/shared/` with names that edio does not give are left alone.
///
/// # Errors
///
/// It can't be reached.
pub fn heads(workspace: &Workspace, remote: &Remote) -> Result<Heads> {
    let refs = workspace.git.refs_of(remote).map_err(unreachable(remote))?;
    let mut sessions: BTreeMap<SessionId, Leaves> = BTreeMap::new();
    for (name, oid) in &refs {
        if let Some((Shelf::Shared, id, leaf)) = refnames::parse(name) {
            sessions.entry(id).or_default().push((leaf, oid.clone()));
        }
    }
    Ok(Heads {
        sessions,
        tips: refs.into_iter().map(|(_, oid)| oid).collect(),
    })
}

/// How a remote is called in messages. It may be an address with a password in it.
pub fn shown(remote: &Remote) -> String {
    without_password(&git_bytes(remote.name.as_ref()).to_str_lossy())
}

/// A word that may be the address of a remote, without what gets one in there.
pub fn without_password(name: &str) -> String {
    let Some((scheme, rest)) = name.split_once("://") else {
        return name.to_owned();
    };
    let host = rest.split('/').next().unwrap_or_default();
    match host.rsplit_once('@') {
        // A token may stand in the place of the name.
        Some((user, _)) if scheme.starts_with("http") => {
            format!("{scheme}://…{}", &rest[user.len()..])
        }
        Some((user, _)) if user.contains(':') => {
            let name = user.split(':').next().unwrap_or_default();
            format!("{scheme}://{name}:…{}", &rest[user.len()..])
        }
        _ => name.to_owned(),
    }
}

/// The error for a remote that does not answer.
pub fn unreachable(remote: &Remote) -> impl Fn(GitError) -> Error {
    let name = shown(remote);
    move |error| {
        Error::cannot(format!("{name} can't be reached"))
            .because(said(error))
            .hint("see that git itself gets there: git ls-remote")
    }
}

/// What git said. Its command, which may have a password in an address, is left out.
fn said(error: GitError) -> Error {
    match error.stderr().trim_ascii() {
        b"" => Error::cannot("git has not said why"),
        said => Error::cannot(said.to_str_lossy()),
    }
}

/// Objects from a remote, in a folder of their own. They are gone with it, unless a ref was made that leads to them.
pub struct Incoming {
    _folder: TempDir,
    git: Git,
}

impl Incoming {
    /// None yet.
    ///
    /// # Errors
    ///
    /// The git directory can't be written.
    pub fn new(workspace: &Workspace) -> Result<Self> {
        let scratch = workspace.scratch();
        let folder = tempfile::Builder::new()
            .prefix(INCOMING)
            .tempdir_in(&scratch);
        let folder = folder.or_cannot(|| format!("can't write in {}", scratch.display()))?;
        Ok(Self {
            git: workspace.git.in_quarantine(folder.path())?,
            _folder: folder,
        })
    }

    /// Takes what these sessions' refs lead to, as far as it is not here. The workspace is free meanwhile.
    ///
    /// # Errors
    ///
    /// The remote can't be reached, or git refuses what it sends.
    pub fn take(
        &self,
        workspace: &mut Locked,
        remote: &Remote,
        sessions: &[(&SessionId, &Leaves)],
    ) -> Result<()> {
        let names = sessions.iter().flat_map(|(id, leaves)| {
            let leaves = leaves.iter();
            leaves.map(|(leaf, _)| refnames::name(Shelf::Shared, id, *leaf))
        });
        let names: Vec<String> = names.collect();
        let git = Git {
            at_work: None,
            ..self.git.clone()
        };
        workspace.while_free(|_| {
            git.take_from(remote, &names).map_err(|error| {
                Error::refused(format!("what {} has can't be taken in", shown(remote)))
                    .because(said(error))
            })
        })
    }

    /// Does something in the workspace with these objects at hand. A ref that is made then has them given to the
    /// repository.
    ///
    /// # Errors
    ///
    /// The work fails.
    pub fn with<T>(
        &self,
        workspace: &mut Locked,
        work: impl FnOnce(&mut Locked) -> Result<T>,
    ) -> Result<T> {
        let usual = std::mem::replace(&mut workspace.git, self.git.clone());
        let outcome = work(workspace);
        workspace.git = usual;
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_shown() {
        let named = |name: &str| {
            let remote = Remote {
                name: name.into(),
                prompts: Prompts::Never,
            };
            shown(&remote)
        };
        for (full, shown) in [
            (
                "https://me:hush@example.com/a@b:c.git",
                "https://…@example.com/a@b:c.git",
            ),
            // A token in the place of the name.
            ("https://hush@example.com/a", "https://…@example.com/a"),
            ("ssh://me:hush@example.com/a", "ssh://me:…@example.com/a"),
        ] {
            assert_eq!(named(full), shown);
        }
        for plain in [
            "origin",
            "git@example.com:a.git",
            "ssh://me@example.com/a",
            "ssh://example.com:22/a:b@c",
            "../a",
        ] {
            assert_eq!(named(plain), plain);
        }
    }
}
