//! A look at just the files that an agent's tool named: what it costs does not follow the size of the project.
//!
//! The rest of the tree is that of the snapshot before. No index is read or written: the cached one goes on to stand for
//! the last whole scan, and the next one finds what differs from it as ever. Wherever there is anything out of the
//! ordinary, nothing is decided here, and the whole work tree is scanned.

use crate::error::Result;
use crate::gitengine::{Conversion, Entry, Errand, Grafting, Head, Mode, Oid, RepoPath, git_bytes};

use super::super::bytes::may_convert;
use super::super::choice::Choice;
use super::super::ground::Ground;
use super::super::limits::Limits;
use super::super::skipped::Skipped;
use super::super::turn::Turn;
use super::super::workspace::Locked;
use super::OF_A_TURN;
use super::edited::{FEW, LARGE};
use super::gate::{Gate, are_ruled, read_plain_file};

/// What became of the files.
pub struct Named {
    /// The tree of the snapshot before, with these files as they are now.
    pub tree: Oid,
    /// Where HEAD stands.
    pub head: Head,
    /// What the tree does not hold: what the snapshot before does not.
    pub skipped: Vec<Skipped>,
}

/// What stands at a path.
enum Standing {
    Nothing,
    /// A file or a link, with what is in it.
    Read(Mode, Vec<u8>),
    /// A file that git is to read: a large one, or one of many.
    Unread(Mode),
}

/// Looks at these files alone, on the ground that the session stands on. `None` where that does not do.
///
/// # Errors
///
/// git failed.
pub fn look_at(workspace: &Locked, ground: &Ground, paths: &[RepoPath]) -> Result<Option<Named>> {
    if !is_ordinary(workspace, ground, paths)? {
        return Ok(None);
    }
    let git = &workspace.git;
    let head = git.ask_head()?;
    let matched = git.ask_ignored(paths)?;
    let grafting = git.read_for_graft(&ground.tree, paths)?;
    // git answers for none where one of them lies beyond a link.
    let Ok(matched) = matched.ignored() else {
        return Ok(None);
    };
    // To know what is tracked git reads the whole index: it is asked only where it matters.
    let ignored = git.ask_untracked_ignored(&matched)?.ignored()?;
    let (branch, commit) = head.answer()?;
    let Some(grafting) = grafting else {
        return Ok(None);
    };
    // Held until now, and ignored: it must leave the index, too.
    if ignored.iter().any(|path| grafting.entry(path).is_some()) {
        return Ok(None);
    }
    let seen = paths.iter().filter(|path| !ignored.contains(path));
    let seen: Vec<RepoPath> = seen.cloned().collect();
    let Some(tree) = tree_with(workspace, ground, grafting, &seen)? else {
        return Ok(None);
    };
    Ok(Some(Named {
        tree,
        head: Head { commit, branch },
        skipped: match ground.standing.all_held {
            true => Vec::new(),
            false => skipped_before(workspace, ground)?,
        },
    }))
}

/// Are these files like any others, in a work tree like any other, so that git's own rules need not be asked?
fn is_ordinary(workspace: &Locked, ground: &Ground, paths: &[RepoPath]) -> Result<bool> {
    let settings = &workspace.settings;
    let choice = Choice::of(settings);
    let is_plain = choice == Choice::default()
        && !settings.is_false("core.filemode")
        && !settings.is_false("core.symlinks")
        && ["ignorecase", "precomposeunicode", "sparsecheckout"]
            .iter()
            .all(|key| !settings.is_true(&format!("core.{key}")));
    let Some(cache) = workspace.state.cache.as_ref().filter(|_| is_plain) else {
        return Ok(false);
    };
    let is_odd = |path: &RepoPath| {
        path.name().starts_with(b".git")
            || cache.flagged.binary_search(path).is_ok()
            || cache.doubtful.contains(path)
    };
    let side = ground.standing.side.as_ref();
    if side.is_some_and(|side| !workspace.state.journal.is_alone_in(side))
        || cache.choice != choice.in_words()
        || paths.is_empty()
        || paths.iter().any(is_odd)
    {
        return Ok(false);
    }
    let has_rules = cache.attribute_files || are_ruled(&workspace.git.work_tree, paths.iter());
    if !may_convert(workspace, has_rules) {
        return Ok(true);
    }
    let conversions = workspace.git.conversions(settings, paths)?;
    Ok(conversions.iter().all(|found| *found == Conversion::None))
}

/// The tree with these files as they are now; `None` where one of them is nothing that is simply held.
fn tree_with(
    workspace: &Locked,
    ground: &Ground,
    grafting: Grafting,
    paths: &[RepoPath],
) -> Result<Option<Oid>> {
    let Some(found) = standing(workspace, &grafting, paths)? else {
        return Ok(None);
    };
    let git = &workspace.git;
    let unread = |(path, standing): &(RepoPath, Standing)| {
        matches!(standing, Standing::Unread(_)).then(|| path.clone())
    };
    let unread: Vec<RepoPath> = found.iter().filter_map(unread).collect();
    let mut written = git.write_raw_blobs(&unread)?.into_iter();
    let mut blobs = Vec::new();
    let mut changes = Vec::new();
    for (path, standing) in found {
        let (new, content) = match standing {
            Standing::Nothing => (None, None),
            Standing::Read(mode, content) => {
                let oid = git.format.hash_content(&content);
                (Some(Entry { mode, oid }), Some(content))
            }
            Standing::Unread(mode) => (written.next().map(|oid| Entry { mode, oid }), None),
        };
        let before = grafting.entry(&path);
        if before != new {
            let oid = |entry: &Option<Entry>| entry.as_ref().map(|entry| entry.oid.clone());
            blobs.extend(content.filter(|_| oid(&before) != oid(&new)));
            changes.push((path, new));
        }
    }
    if changes.is_empty() {
        return Ok(Some(ground.tree.clone()));
    }
    git.start_ahead(&[Errand::Store]);
    git.start_ahead(&OF_A_TURN);
    Ok(Some(git.graft(grafting, &changes, &blobs)?))
}

/// What stands at each path; `None` where that is nothing for this short way.
fn standing(
    workspace: &Locked,
    grafting: &Grafting,
    paths: &[RepoPath],
) -> Result<Option<Vec<(RepoPath, Standing)>>> {
    let limits = Limits::of(&workspace.settings)?;
    let top = &workspace.git.work_tree;
    let mut gate = Gate::new(top);
    let mut found = Vec::new();
    for path in paths {
        let is_held = grafting.entry(path).is_some();
        let standing = match gate.simply(path) {
            Some(None) => Standing::Nothing,
            Some(Some((Mode::Symlink, _))) => match std::fs::read_link(path.below(top)) {
                Ok(target) => Standing::Read(Mode::Symlink, git_bytes(&target)),
                Err(_) => return Ok(None),
            },
            Some(Some((mode, bytes))) if is_held || !limits.is_too_large(bytes) => {
                let read = (paths.len() <= FEW).then(|| read_plain_file(&path.below(top), LARGE));
                match read.flatten() {
                    Some((mode, content)) => Standing::Read(mode, content),
                    None => Standing::Unread(mode),
                }
            }
            _ => return Ok(None),
        };
        found.push((path.clone(), standing));
    }
    Ok(Some(found))
}

/// What the snapshot before could not hold.
fn skipped_before(workspace: &Locked, ground: &Ground) -> Result<Vec<Skipped>> {
    let current = std::slice::from_ref(&ground.standing.current);
    let commits = workspace.git.commits(current)?;
    let turn = commits.first().and_then(Turn::read);
    Ok(turn.map(|turn| turn.note.skipped).unwrap_or_default())
}
