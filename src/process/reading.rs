//! A process whose output is read while it comes.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::process::{Child, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::outputs::Outputs;
use super::{Finished, Status, Trace};

/// A process under way, whose output is read while it comes. Dropped early, it is killed.
pub struct Reading {
    child: Child,
    outputs: Outputs,
    input: Option<Input>,
    ended: Option<Box<dyn FnOnce() + Send>>,
}

/// How far the input is written.
enum Input {
    Written(io::Result<()>),
    UnderWay(JoinHandle<io::Result<()>>),
}

impl Input {
    fn finish(self) -> io::Result<()> {
        match self {
            Input::Written(written) => written,
            Input::UnderWay(writing) => join(writing),
        }
    }
}

impl Read for Reading {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.outputs.read(buffer)
    }
}

/// So many bytes go into an empty pipe at once (pipe(7)).
const AT_ONCE: usize = 4096;

impl Reading {
    pub(super) fn of(
        command: &mut std::process::Command,
        patience: Option<Duration>,
    ) -> io::Result<Self> {
        let streams = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = streams.spawn()?;
        Ok(Self {
            input: None,
            ended: None,
            outputs: Outputs::of(&mut child, patience),
            child,
        })
    }

    /// Gives it its input, and tells the trace that it is at work.
    pub(super) fn begin(&mut self, input: Vec<u8>, words: &[OsString], trace: Option<&Trace>) {
        self.ended = trace.map(|trace| trace(words));
        let Some(mut pipe) = self.child.stdin.take() else {
            return;
        };
        let is_short = input.len() <= AT_ONCE;
        let mut write = move || match pipe.write_all(&input) {
            // It did not want to read more; its exit code says whether that was right.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other,
        };
        self.input = Some(match is_short {
            true => Input::Written(write()),
            false => Input::UnderWay(thread::spawn(write)),
        });
    }

    /// Reads all that it prints, and waits for the end.
    ///
    /// # Errors
    ///
    /// A pipe broke.
    pub fn finish(mut self) -> io::Result<Finished> {
        let mut stdout = Vec::new();
        self.read_to_end(&mut stdout)?;
        let (status, stderr) = self.close()?;
        Ok(Finished {
            status,
            stdout,
            stderr,
        })
    }

    /// Waits for the end. Returns how it ended, and what it wrote to its standard error.
    ///
    /// # Errors
    ///
    /// A pipe broke.
    pub fn close(mut self) -> io::Result<(Status, Vec<u8>)> {
        let stderr = self.outputs.errors()?;
        self.input.take().map_or(Ok(()), Input::finish)?;
        let status = self.child.wait().map(Status)?;
        if let Some(ended) = self.ended.take() {
            ended();
        }
        Ok((status, stderr))
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        // After `close` the process is gone, and this fails as it should.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for the thread of a pipe.
pub(super) fn join<T>(handle: JoinHandle<io::Result<T>>) -> io::Result<T> {
    let joined = handle.join();
    joined.unwrap_or_else(|_| Err(io::Error::other("a pipe's thread panicked")))
}
