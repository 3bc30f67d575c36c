//! The pager: the person's own, fed with what would go to stdout.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufWriter, Write};

use crate::env;
use crate::process::{Command, Feeding};

/// Runs the pager. Where the shell can't find or start it, what it was to show is shown plainly.
///
/// The shells must outlive a Ctrl-C, which the pager takes for a key. An empty trap would do, but the pager would
/// inherit it.
const SCRIPT: &str = r#"
    pager=$1; shift
    trap : INT
    (trap : INT; eval "$pager"); code=$?
    case $code in 126|127) cat ;; esac
    exit $code
"#;

/// Exit codes of a shell that could not find, or not start, a program.
const NOT_STARTED: [Option<i32>; 2] = [Some(126), Some(127)];

/// A pager under way. What is written to it reaches it line by line.
pub(super) struct Pager {
    command: OsString,
    feeding: BufWriter<Feeding>,
    interrupts: Interrupts,
}

/// Is this a pager that does something?
pub(super) fn is_wanted(command: &OsStr) -> bool {
    let command = command.as_encoded_bytes().trim_ascii();
    !command.is_empty() && command != b"cat"
}

impl Pager {
    pub(super) fn start(command: &OsStr) -> io::Result<Self> {
        let shell = Command::new("sh").arg("-c").arg(SCRIPT).arg("sh");
        let feeding = with_defaults(shell.arg(command)).feed()?;
        Ok(Self {
            command: command.to_owned(),
            feeding: BufWriter::new(feeding),
            interrupts: Interrupts::catch()?,
        })
    }

    /// Ends its input, and waits until the person leaves it. Returns its command if it could not be started.
    ///
    /// # Errors
    ///
    /// Not all of the text reached it: a broken pipe, where the person had seen enough.
    pub(super) fn close(mut self) -> io::Result<Option<OsString>> {
        let flushed = self.flush();
        let (feeding, _) = self.feeding.into_parts();
        let closed = feeding.close();
        self.interrupts.release();
        if NOT_STARTED.contains(&closed?.code()) {
            return Ok(Some(self.command));
        }
        flushed.map(|()| None)
    }
}

/// What git sets for a pager: plain text stays on the screen, colours pass, short text needs no key.
fn with_defaults(shell: Command) -> Command {
    [("LESS", "FRX"), ("LV", "-c")]
        .into_iter()
        .filter(|(name, _)| !env::is_set(name))
        .fold(shell, |shell, (name, value)| shell.env(name, value))
        .env("GIT_PAGER_IN_USE", "1")
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.feeding.write(bytes)?;
        if bytes.contains(&b'\n') {
            self.flush()?;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.interrupts.check()?;
        self.feeding.flush()
    }
}

#[cfg(unix)]
use unix::Interrupts;

#[cfg(unix)]
mod unix {
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use signal_hook::consts::SIGINT;
    use signal_hook::flag;

    /// Ctrl-C while the pager runs.
    ///
    /// It reaches us as well as the pager, which takes it for a key. If it ended us, the pager would be left
    /// behind, and fight with the shell over the keyboard. So it only stops what is written to the pager.
    pub(super) struct Interrupts {
        pressed: Arc<AtomicBool>,
        deadly: Arc<AtomicBool>,
    }

    impl Interrupts {
        pub(super) fn catch() -> io::Result<Self> {
            let caught = Self {
                pressed: Arc::default(),
                deadly: Arc::default(),
            };
            flag::register_conditional_default(SIGINT, Arc::clone(&caught.deadly))?;
            flag::register(SIGINT, Arc::clone(&caught.pressed))?;
            Ok(caught)
        }

        /// From here on Ctrl-C ends the process again.
        pub(super) fn release(&self) {
            self.deadly.store(true, Ordering::SeqCst);
        }

        /// Fails as if the pager had been left, once Ctrl-C was pressed.
        pub(super) fn check(&self) -> io::Result<()> {
            if self.pressed.load(Ordering::SeqCst) {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            Ok(())
        }
    }
}

#[cfg(not(unix))]
struct Interrupts;

#[cfg(not(unix))]
impl Interrupts {
    fn catch() -> io::Result<Self> {
        Ok(Self)
    }

    fn release(&self) {}

    fn check(&self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cat_and_nothing_are_no_pagers() {
        for command in ["", " ", "cat", " cat "] {
            assert!(!is_wanted(OsStr::new(command)));
        }
        for command in ["less", "cat -v", "delta | cat"] {
            assert!(is_wanted(OsStr::new(command)));
        }
    }
}
