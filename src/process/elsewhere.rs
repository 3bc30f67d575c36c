//! Where there are neither process groups nor signals.

pub mod apart {
    use std::process::{Child, Command};
    use std::thread;
    use std::time::Duration;

    use super::super::Interruption;

    /// There are no process groups here.
    pub fn group(_: &mut Command) {}

    /// Waits until the program has ended, or ends it.
    pub fn wait_for_end(child: &mut Child, interruption: &Interruption) {
        while let Ok(None) = child.try_wait() {
            if interruption.came() {
                let _ = child.kill();
            }
            thread::sleep(Duration::from_millis(50));
        }
    }
}

pub mod outputs {
    use std::io::{self, Read};
    use std::process::{Child, ChildStdout};
    use std::thread::{self, JoinHandle};
    use std::time::Duration;

    /// The streams. What comes on standard error is gathered by a thread.
    pub struct Outputs {
        stdout: Option<ChildStdout>,
        stderr: Option<JoinHandle<io::Result<Vec<u8>>>>,
    }

    impl Outputs {
        /// Takes a process's streams.
        pub fn of(child: &mut Child, _: Option<Duration>) -> Self {
            let gather = |mut stream: std::process::ChildStderr| {
                thread::spawn(move || {
                    let mut bytes = Vec::new();
                    stream.read_to_end(&mut bytes).map(|_| bytes)
                })
            };
            Self {
                stdout: child.stdout.take(),
                stderr: child.stderr.take().map(gather),
            }
        }

        /// Reads on its standard output.
        pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.stdout.as_mut().map_or(Ok(0), |out| out.read(buffer))
        }

        /// Reads its standard error to the end; of its standard output nothing more is wanted.
        pub fn errors(&mut self) -> io::Result<Vec<u8>> {
            self.stdout = None;
            self.stderr
                .take()
                .map_or(Ok(Vec::new()), super::super::reading::join)
        }
    }
}

pub mod signals {
    use std::io;
    use std::process::Child;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    /// There are no signals that raise a flag here.
    pub fn raise(_: &Arc<AtomicBool>) -> io::Result<()> {
        Ok(())
    }

    /// There are no signals to hand on here.
    pub struct Caught;

    impl Caught {
        pub fn new() -> io::Result<Self> {
            Ok(Self)
        }

        pub fn hand_on_until_the_end(self, _: &Child) {}
    }
}
