//! Turns are packed as they grow: loose files, not bytes, are what a turn costs on disk.
//!
//! Only what the session's refs lead to and none of the user's does is packed, and only its loose files go. What the user
//! has lost and may still look for stays.

use crate::error::Result;

use super::refnames::{self, Shelf};
use super::workspace::{Locked, QUARANTINE};

/// So many snapshots of a session are loose at most. Packing costs as much as one or two of them.
const LOOSE: u32 = 50;

/// Counts a snapshot that was written, and packs the session when there are many.
///
/// # Errors
///
/// git failed. All objects are there, loose or packed.
pub fn count(workspace: &mut Locked) -> Result<()> {
    workspace.state.loose += 1;
    if workspace.state.loose < LOOSE || workspace.settings.is_partial_clone() {
        return Ok(());
    }
    workspace.state.loose = 0;
    let Some(standing) = &workspace.state.session else {
        return Ok(());
    };
    let session = refnames::folder(Shelf::Active, &standing.id);
    // Where filters may write objects of their own there is no quarantine for the rest. Synced, for what may have been
    // synced before lies in the pack alone then.
    let folder = workspace.scratch().join(QUARANTINE);
    let git = workspace.git.synced().in_quarantine(&folder)?;
    Ok(git.pack_loose(&session, refnames::ALL)?)
}
