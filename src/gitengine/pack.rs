//! Loose objects put into packs. No object goes: `git gc` and `git prune` are the user's to call.

use super::command::Git;
use super::error::Result;

impl Git {
    /// Packs the loose objects that the refs below a folder lead to, and no ref but those below the other one. Returns
    /// whether there were any.
    ///
    /// # Errors
    ///
    /// git failed. Then there is no new pack.
    pub fn pack_loose(&self, refs: &str, own: &str) -> Result<bool> {
        let Some(quarantine) = &self.quarantine else {
            return Ok(false);
        };
        let ask = self.ask("rev-list").args(["--objects", "--unpacked"]);
        let ask = ask.arg(format!("--glob={refs}*"));
        let ask = ask.arg("--not").arg(format!("--exclude={own}*"));
        let loose = ask.arg("--all").run()?;
        if loose.is_empty() {
            return Ok(false);
        }
        let ask = self.ask("pack-objects").args(["-q", "--delta-base-offset"]);
        let ask = ask.arg(quarantine.join("pack/pack")).input(loose);
        ask.run()?;
        self.give_again()?;
        Ok(true)
    }

    /// Removes the loose files of objects that are in a pack.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn remove_packed(&self) -> Result<()> {
        let git = Self {
            quarantine: None,
            ..self.clone()
        };
        git.ask("prune-packed").arg("-q").run().map(drop)
    }
}
