//! The one place that starts processes.
//!
//! Five ways to run a program: to its end with everything it printed ([`Command::run`]), with something else done
//! meanwhile or its output read as it comes ([`Command::start`]), with its input written while it runs
//! ([`Command::feed`]), apart from edio's own group ([`Command::run_apart`]), and with the terminal handed over
//! ([`Command::hand_over`]). One that takes its orders from its input can be started before they are known
//! ([`Command::stand_by`]).
//!
//! Long input is written by a thread of its own: a program that prints before it has read everything
//! (`git cat-file --batch`) would otherwise wait for us, and we for it.

#![expect(clippy::disallowed_types, reason = "this is the room of the processes")]

#[cfg(unix)]
mod apart;
#[cfg(not(unix))]
mod elsewhere;
#[cfg(unix)]
mod outputs;
mod reading;
#[cfg(unix)]
mod signals;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

#[cfg(not(unix))]
use self::elsewhere::{apart, outputs, signals};
pub use self::reading::Reading;
use crate::env;

/// Called with the words of each process when it starts; what it returns is called when the process has ended.
pub type Trace = Arc<dyn Fn(&[OsString]) -> Box<dyn FnOnce() + Send> + Send + Sync>;

/// The variables that have git tell of its doings, on stderr or elsewhere.
const TRACES: [&str; 9] = [
    "GIT_TRACE",
    "GIT_TRACE_FSMONITOR",
    "GIT_TRACE_PACK_ACCESS",
    "GIT_TRACE_PACKET",
    "GIT_TRACE_PACKFILE",
    "GIT_TRACE_PERFORMANCE",
    "GIT_TRACE_REFS",
    "GIT_TRACE_SETUP",
    "GIT_TRACE_SHALLOW",
];

/// The same; but where one of these is absent, the git config counts.
const CONFIGURED_TRACES: [&str; 3] = ["GIT_TRACE2", "GIT_TRACE2_EVENT", "GIT_TRACE2_PERF"];

/// A program to start: its words, its environment, its input.
pub struct Command {
    words: Vec<OsString>,
    inner: std::process::Command,
    input: Vec<u8>,
    trace: Option<Trace>,
    group: Group,
    patience: Option<Duration>,
}

/// The process group of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// edio's own: a Ctrl-C at the terminal ends it with edio.
    Shared,
    /// One of its own: a Ctrl-C does not reach it. A snapshot that follows one is not cut short by it.
    Own,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(ExitStatus);

impl Status {
    /// Did it end with exit code 0?
    pub fn success(self) -> bool {
        self.0.success()
    }

    /// The exit code, if it was not ended by a signal.
    pub fn code(self) -> Option<i32> {
        self.0.code()
    }

    /// The signal that ended it.
    #[cfg(unix)]
    pub fn signal(self) -> Option<i32> {
        use std::os::unix::process::ExitStatusExt;
        self.0.signal()
    }

    /// The signal that ended it: there are none here.
    #[cfg(not(unix))]
    pub fn signal(self) -> Option<i32> {
        None
    }

    /// The exit code as a shell reports it: 128 + n after signal n.
    pub fn shell_code(self) -> u8 {
        let code = self
            .code()
            .unwrap_or_else(|| 128 + self.signal().unwrap_or(0));
        u8::try_from(code & 0xff).unwrap_or(u8::MAX)
    }
}

/// A process that has ended, with everything it printed.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub status: Status,
    /// What it wrote to its standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to its standard error.
    pub stderr: Vec<u8>,
}

impl Command {
    /// A program, found in `PATH` unless it is a path.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            words: vec![program.as_ref().to_owned()],
            inner: std::process::Command::new(program),
            input: Vec::new(),
            trace: None,
            group: Group::Shared,
            patience: None,
        }
    }

    /// Adds one word.
    #[must_use]
    pub fn arg(mut self, word: impl AsRef<OsStr>) -> Self {
        self.words.push(word.as_ref().to_owned());
        self.inner.arg(word);
        self
    }

    /// Adds several words.
    #[must_use]
    pub fn args<W: AsRef<OsStr>>(self, words: impl IntoIterator<Item = W>) -> Self {
        words.into_iter().fold(self, Command::arg)
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.inner.env(name, value);
        self
    }

    /// Removes an environment variable.
    #[must_use]
    pub fn without_env(mut self, name: &str) -> Self {
        self.inner.env_remove(name);
        self
    }

    /// Has the program speak English while it keeps its encoding.
    ///
    /// `LC_ALL=C` would be simpler, and wrong: a filter started by git would see another encoding, and give other
    /// bytes, than under the user's own `git add`. So `LC_ALL` is moved to the two categories that it must still rule.
    #[must_use]
    pub fn in_english(self) -> Self {
        let command = self.without_env("LANGUAGE").env("LC_MESSAGES", "C");
        match env::lc_all() {
            Some(locale) => command
                .without_env("LC_ALL")
                .env("LANG", &locale)
                .env("LC_CTYPE", &locale),
            None => command,
        }
    }

    /// Keeps a git from telling of its own doings, which would stand among what it has to say. Where the person has that
    /// written to a file, it is.
    #[must_use]
    pub fn without_traces(self) -> Self {
        let heard = |name: &&&str| !env::names_file(name);
        let traces = TRACES.iter().filter(heard);
        let command = traces.fold(self, |command, name| command.without_env(name));
        let traces = CONFIGURED_TRACES.iter().filter(heard);
        traces.fold(command, |command, name| command.env(name, "0"))
    }

    /// Starts the program in this folder.
    #[must_use]
    pub fn dir(mut self, folder: &Path) -> Self {
        self.inner.current_dir(folder);
        self
    }

    /// Gives the program these bytes as its standard input. Without, it is empty.
    #[must_use]
    pub fn input(mut self, bytes: Vec<u8>) -> Self {
        self.input = bytes;
        self
    }

    /// Starts the program in this process group. Where there are none, that changes nothing.
    #[must_use]
    pub fn group(mut self, group: Group) -> Self {
        self.group = group;
        #[cfg(unix)]
        if group == Group::Own {
            std::os::unix::process::CommandExt::process_group(&mut self.inner, 0);
        }
        self
    }

    /// Gives up where it prints nothing for so long. Elsewhere than on Unix it is waited for without end.
    #[must_use]
    pub fn patience(mut self, limit: Duration) -> Self {
        self.patience = Some(limit);
        self
    }

    /// Shows these words in a trace instead of the real ones.
    #[must_use]
    pub fn shown_as(mut self, words: Vec<OsString>) -> Self {
        self.words = words;
        self
    }

    /// Reports the process to a trace.
    #[must_use]
    pub fn trace(mut self, trace: Option<&Trace>) -> Self {
        self.trace = trace.cloned();
        self
    }

    /// Runs the program to its end.
    ///
    /// # Errors
    ///
    /// It could not be started, or its pipes broke. A non-zero exit is not an error here.
    pub fn run(self) -> io::Result<Finished> {
        self.start()?.finish()
    }

    /// Starts the program, to read its output while it comes, or at its end.
    ///
    /// # Errors
    ///
    /// It could not be started.
    pub fn start(mut self) -> io::Result<Reading> {
        let stdin = match self.input.is_empty() {
            true => Stdio::null(),
            false => Stdio::piped(),
        };
        let mut reading = Reading::of(self.inner.stdin(stdin), self.patience)?;
        reading.begin(self.input, &self.words, self.trace.as_ref());
        Ok(reading)
    }

    /// Starts the program before its input is known: it waits for that.
    ///
    /// # Errors
    ///
    /// It could not be started.
    pub fn stand_by(mut self) -> io::Result<StandingBy> {
        Ok(StandingBy {
            reading: Reading::of(self.inner.stdin(Stdio::piped()), self.patience)?,
            command: self,
        })
    }

    /// Starts the program, to write its input while it runs. What it prints goes where our own output goes.
    ///
    /// # Errors
    ///
    /// It could not be started.
    pub fn feed(mut self) -> io::Result<Feeding> {
        let child = self
            .inner
            .stdin(Stdio::piped())
            .stdout(Stdio::inherit())
            .stderr(Stdio::inherit())
            .spawn()?;
        Ok(Feeding {
            ended: self.trace.as_ref().map(|trace| trace(&self.words)),
            child,
        })
    }

    /// Starts the program and leaves it: in a process group of its own, with no input and no output. Nobody need wait for
    /// it.
    ///
    /// # Errors
    ///
    /// It could not be started.
    pub fn start_behind(self) -> io::Result<Behind> {
        let mut command = self.group(Group::Own);
        let nowhere = command.inner.stdin(Stdio::null()).stdout(Stdio::null());
        nowhere.stderr(Stdio::null()).spawn().map(Behind)
    }

    /// The same program as a shell runs it where its file names no interpreter.
    fn as_script(&self) -> std::process::Command {
        let mut shell = std::process::Command::new("/bin/sh");
        let file = self.inner.get_program();
        shell.arg(file).args(self.inner.get_args());
        if let Some(folder) = self.inner.get_current_dir() {
            shell.current_dir(folder);
        }
        for (name, value) in self.inner.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        shell
    }

    /// Runs the program in a process group of its own, without input, and with all that it prints in this file. What
    /// it has started goes with it: when it ends, and when somebody wants edio to end.
    ///
    /// # Errors
    ///
    /// It could not be started, or the system does not tell how it ended.
    pub fn run_apart(mut self, output: &File, interruption: &Interruption) -> io::Result<Status> {
        let stream = || output.try_clone().map(Stdio::from);
        let spawn = |command: &mut std::process::Command| {
            apart::group(command);
            command.stdin(Stdio::null());
            command.stdout(stream()?).stderr(stream()?).spawn()
        };
        let mut child = match spawn(&mut self.inner) {
            Err(error) if is_no_program(&error) => spawn(&mut self.as_script())?,
            other => other?,
        };
        let ended = self.trace.as_ref().map(|trace| trace(&self.words));
        apart::wait_for_end(&mut child, interruption);
        let status = child.wait().map(Status);
        if let Some(ended) = ended {
            ended();
        }
        status
    }

    /// Runs the program beside edio: it has no input, and prints where edio prints its messages.
    ///
    /// # Errors
    ///
    /// It could not be started.
    pub fn run_beside(mut self) -> io::Result<Status> {
        let ended = self.trace.as_ref().map(|trace| trace(&self.words));
        let status = self
            .inner
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .map(Status);
        if let Some(ended) = ended {
            ended();
        }
        status
    }

    /// Runs the program with the terminal, and all three streams, handed over to it.
    ///
    /// It stays in edio's process group, so the terminal's own signals (Ctrl-C, Ctrl-Z, a changed size, a hang-up) reach
    /// it without help, and edio outlives them. A signal that some process sends to edio is handed on to it. One that
    /// edio was started to ignore (`nohup`) stays ignored for both.
    ///
    /// # Errors
    ///
    /// It could not be started. Once it runs, nothing of edio's own keeps edio from waiting for its end.
    pub fn hand_over(mut self) -> io::Result<Status> {
        let signals = signals::Caught::new().ok();
        let mut child = match self.inner.spawn() {
            Err(error) if is_no_program(&error) => self.as_script().spawn()?,
            other => other?,
        };
        let ended = self.trace.as_ref().map(|trace| trace(&self.words));
        if let Some(signals) = signals {
            signals.hand_on_until_the_end(&child);
        }
        let status = child.wait().map(Status);
        if let Some(ended) = ended {
            ended();
        }
        status
    }
}

/// Is it a file that may be executed and is no program: a script without `#!`?
fn is_no_program(error: &io::Error) -> bool {
    const ENOEXEC: i32 = 8;
    cfg!(unix) && error.raw_os_error() == Some(ENOEXEC)
}

/// Does somebody want edio to end: by Ctrl-C, or another signal that asks for it? From when it is watched for, such a signal
/// does not end edio by itself.
#[derive(Clone, Debug)]
pub struct Interruption(Arc<AtomicBool>);

impl Interruption {
    /// Watches for it. What edio was started to ignore stays ignored.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn watch() -> io::Result<Self> {
        let flag = Arc::default();
        signals::raise(&flag)?;
        Ok(Self(flag))
    }

    /// Did it come?
    pub fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A process that was started to be left behind.
pub struct Behind(Child);

impl Behind {
    /// Waits for its end, but not longer than this. Has it ended?
    pub fn ends_within(mut self, limit: Duration) -> bool {
        let (done, ended) = mpsc::channel();
        thread::spawn(move || {
            let _ = self.0.wait();
            let _ = done.send(());
        });
        ended.recv_timeout(limit).is_ok()
    }
}

/// Stops edio, until the shell lets it go on. Where no shell could do that, nothing happens.
///
/// Not its whole process group, as the terminal does at Ctrl-Z: a child that is stopped while it is being started keeps edio
/// from stopping, and the shell waits for that. A git that goes on meanwhile does no harm.
#[cfg(unix)]
pub fn stop() {
    use rustix::process::{Signal, getpid, kill_process};
    let _ = kill_process(getpid(), Signal::TSTP);
}

/// There is nothing to stop for here.
#[cfg(not(unix))]
pub fn stop() {}

/// Does a process of this number exist?
#[cfg(unix)]
pub fn is_alive(number: i32) -> bool {
    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};
    // One of another user may not be sent anything, but is there.
    if number <= 0 {
        return false;
    }
    Pid::from_raw(number).is_some_and(|pid| test_kill_process(pid) != Err(Errno::SRCH))
}

/// Nobody tells here.
#[cfg(not(unix))]
pub fn is_alive(_: i32) -> bool {
    true
}

/// Does a folder belong to whom this process runs for?
#[cfg(unix)]
pub fn is_own(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owner = std::fs::metadata(folder).map(|meta| meta.uid());
    owner.is_ok_and(|owner| owner == rustix::process::geteuid().as_raw())
}

/// Nobody tells here.
#[cfg(not(unix))]
pub fn is_own(_: &Path) -> bool {
    false
}

/// May this process do what only the owner of a file may? Those who may do everything may.
#[cfg(unix)]
pub fn acts_for_owner(meta: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::geteuid();
    user.is_root() || user.as_raw() == meta.uid()
}

/// Nobody tells here.
#[cfg(not(unix))]
pub fn acts_for_owner(_: &std::fs::Metadata) -> bool {
    true
}

/// A process that waits for its input, or to be read. Dropped, it is killed.
pub struct StandingBy {
    command: Command,
    reading: Reading,
}

impl StandingBy {
    /// Is it what this command would start, in the same surroundings?
    pub fn is(&self, command: &Command) -> bool {
        let (own, other) = (&self.command.inner, &command.inner);
        self.command.group == command.group
            && own.get_program() == other.get_program()
            && own.get_current_dir() == other.get_current_dir()
            && own.get_args().eq(other.get_args())
            && own.get_envs().eq(other.get_envs())
    }

    /// Gives it the input of this command.
    pub fn begin(mut self, command: Command) -> Reading {
        let (words, trace) = (command.words, command.trace);
        self.reading.begin(command.input, &words, trace.as_ref());
        self.reading
    }
}

/// A process under way, whose input is written while it runs. Dropped, it is waited for.
pub struct Feeding {
    child: Child,
    ended: Option<Box<dyn FnOnce() + Send>>,
}

impl Feeding {
    /// Ends its input, and waits for its end.
    ///
    /// # Errors
    ///
    /// The system does not tell how it ended.
    pub fn close(mut self) -> io::Result<Status> {
        let status = self.child.wait().map(Status)?;
        if let Some(ended) = self.ended.take() {
            ended();
        }
        Ok(status)
    }

    fn input(&mut self) -> io::Result<&mut ChildStdin> {
        let input = self.child.stdin.as_mut();
        input.ok_or_else(|| io::ErrorKind::BrokenPipe.into())
    }
}

impl Write for Feeding {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.input()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.input()?.flush()
    }
}

impl Drop for Feeding {
    fn drop(&mut self) {
        // This closes its input first.
        let _ = self.child.wait();
    }
}
