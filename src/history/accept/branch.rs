//! The branch that an accept goes to, and the way back to it.

use crate::error::{Error, Result};
use crate::gitengine::{Head, Oid, short_branch};
use crate::shell;

use super::super::workspace::Locked;

/// The commit that a branch ends with; `None` where it is not there, or has none.
///
/// # Errors
///
/// git failed.
pub(super) fn tip_of(workspace: &Locked, branch: &str) -> Result<Option<Oid>> {
    let found = workspace.git.ref_names(&[branch])?;
    let tip = found.into_iter().find(|(name, _)| name == branch);
    Ok(tip.map(|(_, oid)| oid))
}

/// No other branch than the one that is checked out, which is `now`, may move. `there` is where it must be, and what it is to
/// end with; `what` are the words before its name.
///
/// # Errors
///
/// It is another. How to go back is said.
pub(super) fn refuse_other(
    workspace: &Locked,
    now: Option<&str>,
    there: &Head,
    what: &str,
) -> Result<()> {
    if now == there.branch.as_deref() {
        return Ok(());
    }
    let name = |branch: Option<&str>| {
        branch
            .map_or("no branch (a detached HEAD)", short_branch)
            .to_owned()
    };
    let (theirs, ours) = (name(there.branch.as_deref()), name(now));
    let back = way_back(workspace, there)?;
    Err(
        Error::refused(format!("{what} {theirs}, and HEAD is on {ours}"))
            .hint(format!("go back there first: {back}")),
    )
}

/// The command that goes there.
fn way_back(workspace: &Locked, there: &Head) -> Result<String> {
    let end = there.commit.as_ref().map_or("", Oid::short);
    let Some(branch) = &there.branch else {
        return Ok(format!("git switch --detach {end}").trim_end().to_owned());
    };
    let name = shell::word(short_branch(branch).as_bytes());
    Ok(match (tip_of(workspace, branch)?, &there.commit) {
        (Some(_), _) => format!("git switch {name}"),
        // It was renamed or deleted.
        (None, Some(_)) => format!("git switch -c {name} {end}"),
        // It had no commit. `git switch --orphan` would remove the files.
        (None, None) => format!("git symbolic-ref HEAD {}", shell::word(branch.as_bytes())),
    })
}
