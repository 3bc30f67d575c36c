//! What a process prints on its two streams. Neither may fill up while the other is waited for.

use std::io::{self, Read};
use std::process::{Child, ChildStderr, ChildStdout};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;

/// The streams, as far as they are open.
pub struct Outputs {
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    errors: Vec<u8>,
    patience: Option<Timespec>,
}

impl Outputs {
    /// Takes a process's streams, of which one says something at least as often as this.
    pub fn of(child: &mut Child, patience: Option<Duration>) -> Self {
        Self {
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            errors: Vec::new(),
            patience: patience.and_then(|limit| limit.try_into().ok()),
        }
    }

    /// Reads on its standard output.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let (Some(stdout), Some(stderr)) = (&mut self.stdout, &mut self.stderr) {
            let mut both = [
                PollFd::new(stdout, PollFlags::IN),
                PollFd::new(stderr, PollFlags::IN),
            ];
            if retry_on_intr(|| poll(&mut both, self.patience.as_ref()))? == 0 {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let [has_output, has_errors] = both.map(|stream| !stream.revents().is_empty());
            if has_errors && read_some(stderr, &mut self.errors)? == 0 {
                self.stderr = None;
            }
            if has_output {
                break;
            }
        }
        self.stdout.as_mut().map_or(Ok(0), |out| out.read(buffer))
    }

    /// Reads its standard error to the end; of its standard output nothing more is wanted.
    pub fn errors(&mut self) -> io::Result<Vec<u8>> {
        self.stdout = None;
        if let Some(mut stderr) = self.stderr.take() {
            stderr.read_to_end(&mut self.errors)?;
        }
        Ok(std::mem::take(&mut self.errors))
    }
}

fn read_some(stream: &mut impl Read, to: &mut Vec<u8>) -> io::Result<usize> {
    let mut buffer = [0; 4096];
    let count = stream.read(&mut buffer)?;
    to.extend_from_slice(&buffer[..count]);
    Ok(count)
}
