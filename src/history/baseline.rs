//! Turn 0: where a session begins.

use crate::error::{Error, Result};
use crate::gitengine::{Head, Oid, Pointed, RefChange, Signature};

use super::bytes::{self, Unnoted};
use super::ground::Ground;
use super::journal;
use super::refnames::{self, Leaf, SessionId, Shelf};
use super::refs;
use super::scan::Scan;
use super::side::{self, OfTurn};
use super::skipped;
use super::snapshot::{Moment, note, remember};
use super::state::Standing;
use super::turn::{Ending, Kind, Note, Number, Work};
use super::workspace::{Locked, Workspace};

/// The tree of HEAD, or the empty one before the first commit.
///
/// # Errors
///
/// git failed.
pub fn head_tree(workspace: &Workspace, head: &Head) -> Result<Oid> {
    let Some(commit) = &head.commit else {
        return Ok(workspace.git.empty_tree()?);
    };
    let mut commits = workspace.git.commits(std::slice::from_ref(commit))?;
    let tree = commits.pop().map(|commit| commit.tree);
    tree.ok_or_else(|| Error::bug("git printed no commit for HEAD"))
}

/// Begins a session whose turn 0 is HEAD. Its refs are made with its first turn.
pub(super) fn begin_at_head(
    workspace: &Locked,
    tree: Oid,
    head: &Head,
    moment: Moment,
) -> Result<Ground> {
    let id = SessionId::begun_at(moment.seconds, moment.random);
    // Nobody has seen the work tree as it was then.
    let work = Work {
        ending: Some(Ending::Unmeasured),
        ..Work::default()
    };
    let note = Note {
        work,
        ..baseline_note(workspace, &id, head)
    };
    let commit = write_baseline(workspace, &tree, &note, moment)?;
    Ok(Ground {
        standing: Standing {
            id,
            current: commit,
            number: Number::turn(0),
            side: None,
            unnoted: Unnoted::AsCheckedOut,
            all_held: note.skipped_count == 0,
            base: tree.clone(),
            last: 0,
        },
        tree,
        begun: false,
    })
}

/// Begins a session whose turn 0 is the work tree as it is: for work that edio sees begin. What is uncommitted then is the
/// person's, or may be that of these agents.
///
/// # Errors
///
/// Any step failed. Then there is no session.
pub fn begin_here(
    workspace: &mut Locked,
    scan: Scan,
    shared: Vec<String>,
    moment: Moment,
) -> Result<Standing> {
    let raw_ids = &scan.on_disk(workspace)?.raw_ids;
    workspace.state.conversions = Some(bytes::fingerprint(workspace));
    let id = SessionId::begun_at(moment.seconds, moment.random);
    let look = journal::look(workspace, None)?;
    let noted = journal::keep(workspace, &id, look)?;
    let of_turn = OfTurn {
        raw_ids,
        skipped: &scan.skipped,
        journal: &noted.journal,
    };
    let side = side::save_of_turn(workspace, &id, &of_turn, moment.seconds)?;
    let alone = side.clone().filter(|_| of_turn.is_only_journal());
    let work = Work {
        shared,
        ..Work::default()
    };
    let note = Note {
        work,
        choice: scan.choice.clone(),
        skipped_count: scan.skipped.len(),
        skipped: scan.skipped.iter().take(skipped::NAMED).cloned().collect(),
        side,
        ..baseline_note(workspace, &id, &scan.head)
    };
    let standing = begin_with(workspace, &scan.tree, note, moment)?;
    journal::remember(workspace, &standing.id, noted, alone);
    remember(workspace, scan)?;
    Ok(standing)
}

/// Begins a session whose turn 0 is this tree.
///
/// # Errors
///
/// Any step failed. Then there is no session.
pub fn begin_at(
    workspace: &mut Locked,
    tree: &Oid,
    head: &Head,
    moment: Moment,
) -> Result<Standing> {
    let id = SessionId::begun_at(moment.seconds, moment.random);
    let note = baseline_note(workspace, &id, head);
    let standing = begin_with(workspace, tree, note, moment)?;
    journal::begin(workspace, &id);
    Ok(standing)
}

fn begin_with(workspace: &mut Locked, tree: &Oid, note: Note, moment: Moment) -> Result<Standing> {
    let commit = write_baseline(workspace, tree, &note, moment)?;
    let name = refnames::name(Shelf::Active, &note.session, Leaf::Current);
    let made = RefChange::set(name, None, &commit);
    refs::change(workspace, &[made])?;
    let standing = Standing {
        id: note.session,
        current: commit.clone(),
        number: Number::turn(0),
        side: note.side,
        unnoted: Unnoted::IsBlob,
        all_held: note.skipped_count == 0,
        base: tree.clone(),
        last: 0,
    };
    workspace.state.session = Some(standing.clone());
    workspace.pointed = Some(Pointed {
        commit,
        tree: tree.clone(),
    });
    Ok(standing)
}

fn baseline_note(workspace: &Workspace, id: &SessionId, head: &Head) -> Note {
    Note {
        message: "Where the session began".to_owned(),
        kind: Kind::Baseline,
        ..note(workspace, id, head)
    }
}

fn write_baseline(workspace: &Locked, tree: &Oid, note: &Note, moment: Moment) -> Result<Oid> {
    let parents: Vec<&Oid> = note.head.commit.iter().collect();
    let by = Signature::edio(moment.seconds);
    Ok(workspace
        .git
        .write_commit(tree, &parents, &by, &note.write())?)
}
