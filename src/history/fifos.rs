//! FIFOs where git looks for rules. It opens each `.gitignore` and `.gitattributes` on its way and reads it; where that is a
//! FIFO into which nobody writes, it waits for ever.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// A command that takes no longer looks for none: most never do.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often git is helped on where there are such FIFOs: each of its processes waits anew.
const AGAIN: Duration = Duration::from_millis(20);

/// As long as this is there, git finds each such FIFO empty, though it may wait for a while.
pub struct Watch {
    _end: mpsc::Sender<()>,
}

impl Watch {
    /// Begins to watch over the git that works in this work tree.
    pub fn begin(top: &Path) -> Self {
        let (end, ended) = mpsc::channel::<()>();
        let top = top.to_owned();
        thread::spawn(move || {
            let goes_on = |pause| ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout);
            if goes_on(PATIENCE) {
                let fifos = found::below(&top);
                while !fifos.is_empty() && goes_on(AGAIN) {
                    fifos.iter().for_each(|fifo| found::let_go(fifo));
                }
            }
        });
        Self { _end: end }
    }
}

#[cfg(unix)]
mod found {
    use std::fs;
    use std::os::unix::fs::FileTypeExt;
    use std::path::{Path, PathBuf};

    use rustix::fs::{Mode, OFlags, open};

    /// Those that bear the name of a file of rules.
    pub fn below(top: &Path) -> Vec<PathBuf> {
        let (mut found, mut folders) = (Vec::new(), vec![top.to_owned()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let name = entry.file_name();
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && name != ".git" => folders.push(entry.path()),
                    Ok(kind)
                        if kind.is_fifo() && (name == ".gitignore" || name == ".gitattributes") =>
                    {
                        found.push(entry.path());
                    }
                    _ => {}
                }
            }
        }
        found
    }

    /// Who waits for somebody to write into it reads its end now: it is opened, and closed again. Where nobody waits, or
    /// it is none any more, nothing happens.
    pub fn let_go(fifo: &Path) {
        let is_one = fs::symlink_metadata(fifo).is_ok_and(|meta| meta.file_type().is_fifo());
        if is_one {
            let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let _ = open(fifo, flags, Mode::empty());
        }
    }
}

/// There are none here.
#[cfg(not(unix))]
mod found {
    use std::path::{Path, PathBuf};

    pub fn below(_: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    pub fn let_go(_: &Path) {}
}
