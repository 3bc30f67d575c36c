//! Loose objects put into packs.
//!
//! `git prune-packed` is not for edio: it also removes loose files of the user's whose object lies in a pack that git may
//! throw away before them, one of lost objects or one that is borrowed from another repository.

use std::fs;

use bstr::ByteSlice;

use super::command::Git;
use super::error::{GitError, Result};
use super::index::remove_if_there;
use super::objects::Oid;

impl Git {
    /// Packs the loose objects that the refs below a folder lead to, and no ref but those below the other one; then their
    /// loose files go, and no others. While a gc is under way nothing is done: it may not know the new pack.
    ///
    /// # Errors
    ///
    /// git failed, or a file can't be removed. No object is lost: each is in the pack before its file goes.
    pub fn pack_loose(&self, refs: &str, own: &str) -> Result<()> {
        let Some(quarantine) = self.quarantine.as_ref().filter(|_| !self.is_gc_under_way()) else {
            return Ok(());
        };
        let ask = self.ask("rev-list").args(["--objects", "--unpacked"]);
        let ask = ask.arg(format!("--glob={refs}*"));
        let ask = ask.arg("--not").arg(format!("--exclude={own}*"));
        let loose = ask.arg("--all").run()?;
        if loose.is_empty() {
            return Ok(());
        }
        let ask = self.ask("pack-objects").args(["-q", "--delta-base-offset"]);
        let ask = ask.arg(quarantine.join("pack/pack")).input(loose.clone());
        ask.run()?;
        self.give_objects()?;
        match self.is_gc_under_way() {
            true => Ok(()),
            false => self.remove_loose(&loose),
        }
    }

    /// Has git pack what the refs lead to, and throw away what nothing leads to and is older than this, in git's words: for
    /// a git directory in which nobody but edio works.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn collect(&self, older_than: &str) -> Result<()> {
        self.give_objects()?;
        let own = Self {
            quarantine: None,
            ..self.clone()
        };
        let prune = format!("--prune={older_than}");
        let ask = own.ask("gc").args(["-q", &prune]);
        ask.without_pathspec_rules().run().map(drop)
    }

    /// Removes the loose files of the objects in a list of `git rev-list --objects`: `<id> <path> LF`.
    fn remove_loose(&self, listed: &[u8]) -> Result<()> {
        let objects = self.common_dir.join("objects");
        let ids = listed.lines().filter_map(|line| line.split_str(" ").next());
        for oid in ids.filter_map(Oid::from_bytes) {
            let (folder, name) = oid.as_str().split_at(2);
            let file = objects.join(folder).join(name);
            remove_if_there(&file)
                .map_err(|error| GitError::file(format!("removing {}", file.display()), error))?;
            // A folder that is empty now goes, too, as git would have it. Most are not.
            let _ = fs::remove_dir(objects.join(folder));
        }
        Ok(())
    }
}
