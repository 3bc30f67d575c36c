//! Aider: its configuration. It has neither hooks nor servers.

use super::config::{Entry, Language};
use super::connection::{File, Purpose, Reach};

/// What the person must still do.
pub(super) const APPROVAL: &str =
    "start it with edio run aider: it has no hooks, and run takes the turns";

/// The files that connect Aider. It is told of `EDIO.md`, which only a project has.
pub(super) fn files(reach: Reach) -> Vec<File> {
    let line = Entry::Lines("read: [EDIO.md] # edio\n");
    let path = ".aider.conf.yml";
    match reach {
        Reach::User => Vec::new(),
        Reach::Project => vec![File::new(
            Purpose::Instructions,
            path,
            Language::Yaml,
            vec![line],
        )],
    }
}
