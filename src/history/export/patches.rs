//! Turns as a series of patches.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result, While};
use crate::gitengine::{Oid, Signature};

use super::super::baseline::head_tree;
use super::super::credit;
use super::super::turn::Turn;
use super::super::workspace::Locked;
use super::Stretch;

/// What was written.
pub struct Patches {
    /// The files, in order.
    pub files: Vec<PathBuf>,
    /// The commit that they apply to: HEAD, when the first of the turns was taken.
    pub head: Option<Oid>,
    /// Did something lie uncommitted there? Then they apply to that work tree, not to the commit.
    pub is_uncommitted: bool,
    /// The turns that changed nothing, and have no patch.
    pub unchanged: Vec<u32>,
}

/// Writes a patch for each turn into a folder, which must be new or empty.
///
/// # Errors
///
/// Something is in the folder, or no turn changed anything, or git failed.
pub fn patches(workspace: &Locked, stretch: &Stretch, folder: &Path) -> Result<Patches> {
    refuse_filled(folder)?;
    let changed: Vec<&Turn> = stretch
        .pairs()
        .filter(|(before, turn)| before.tree != turn.tree)
        .map(|(_, turn)| turn)
        .collect();
    if changed.is_empty() {
        return Err(Error::cannot("these turns changed nothing"));
    }
    let git = &workspace.git;
    let write = |turn: &Turn, parents: &[&Oid], message: &str| {
        git.write_commit(
            &turn.tree,
            parents,
            &Signature::edio(turn.seconds),
            message.as_bytes(),
        )
    };
    let first = write(&stretch.base, &[], "Before")?;
    let mut last = first.clone();
    for turn in &changed {
        last = write(turn, &[&last], &message(workspace, turn)?)?;
    }
    let head = stretch.base.note.head.commit.clone();
    let committed = head_tree(workspace, &stretch.base.note.head)?;
    let has = |turn: &&&Turn| changed.iter().any(|other| other.commit == turn.commit);
    let unchanged = stretch.turns.iter().filter(|turn| !has(&turn));
    Ok(Patches {
        files: git.format_patches(&first, &last, folder)?,
        is_uncommitted: committed != stretch.base.tree,
        unchanged: unchanged.map(|turn| turn.number().turn).collect(),
        head,
    })
}

fn refuse_filled(folder: &Path) -> Result<()> {
    match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        read => {
            let unreadable = || format!("can't look into {}", folder.display());
            match read.or_cannot(unreadable)?.next() {
                None => Ok(()),
                Some(_) => Err(Error::refused(format!(
                    "{} is not empty: nothing was written",
                    folder.display()
                ))
                .hint("name a folder that is new or empty")),
            }
        }
    }
}

/// The message of the commit that a turn becomes.
fn message(workspace: &Locked, turn: &Turn) -> Result<String> {
    let said = turn.note.message.trim();
    let said = match said.is_empty() {
        true => format!("Turn {}", turn.number()),
        false => tamed(said),
    };
    let id = &turn.note.session;
    let mut trailers = credit::trailers(id, std::slice::from_ref(turn));
    trailers.push(format!("Turn: {}", turn.number()));
    credit::with_trailers(workspace, &said, &trailers)
}

/// A message that `git am` takes for one as a whole: lines at which a patch, another mail or a header would begin to it
/// are moved in by a blank.
fn tamed(message: &str) -> String {
    const STARTS: [&str; 7] = [
        "diff -", "Index: ", "---", "From ", "From:", "Subject:", "Date:",
    ];
    let starts = |line: &str| {
        let is_header = |start: &&str| {
            let head = line.get(..start.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(start))
        };
        STARTS.iter().any(is_header) || line.contains(">8") || line.contains("8<")
    };
    let mut lines = message.split('\n');
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |mut all, line| {
        all.push('\n');
        if starts(line) {
            all.push(' ');
        }
        all.push_str(line);
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_of_a_message_begins_something_else() {
        let message =
            "fix\n\ndiff --git a/x b/x\n--- a/x\nFrom: you\nFrom abc Mon Sep 17\nfine\n-- 8< --";
        assert_eq!(
            tamed(message),
            "fix\n\n diff --git a/x b/x\n --- a/x\n From: you\n From abc Mon Sep 17\nfine\n -- 8< --"
        );
    }
}
