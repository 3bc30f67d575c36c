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

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

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

#[cfg(unix)]
mod apart {
    //! A program and what it has started, as one process group.

    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

    use super::Interruption;

    /// How often it is looked whether edio is to end; and after how many such looks no program is waited for.
    const LOOK: Duration = Duration::from_millis(50);
    const PATIENCE: u32 = 40;

    /// Has a program start in a group of its own.
    pub fn group(command: &mut Command) {
        command.process_group(0);
    }

    /// Waits until the program has ended, and ends what is left of its group. The program is not reaped: until it is, the
    /// group's number can't be another's.
    pub fn wait_for_end(child: &mut Child, interruption: &Interruption) {
        let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
            return;
        };
        let (done, ended) = mpsc::channel();
        let waiter = thread::spawn(move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            let _ = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), options));
            let _ = done.send(());
        });
        let mut looks = 0;
        while let Err(mpsc::RecvTimeoutError::Timeout) = ended.recv_timeout(LOOK) {
            if interruption.came() {
                let signal = match looks {
                    0 => Some(Signal::INT),
                    PATIENCE => Some(Signal::KILL),
                    _ => None,
                };
                looks += 1;
                // One that was stopped does not hear of anything before it goes on.
                for signal in signal.into_iter().chain([Signal::CONT]) {
                    let _ = kill_process_group(pid, signal);
                }
            }
        }
        let _ = waiter.join();
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

#[cfg(not(unix))]
mod apart {
    use std::process::{Child, Command};
    use std::thread;
    use std::time::Duration;

    use super::Interruption;

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

#[cfg(unix)]
mod signals {
    //! The signals that are handed on to a program that has the terminal.

    use std::fs;
    use std::io;
    use std::process::Child;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use rustix::process::{
        Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, getpgrp, getpid, getsid, kill_process,
        waitid,
    };
    use rustix::termios::tcgetpgrp;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
    use signal_hook::iterator::SignalsInfo;
    use signal_hook::iterator::exfiltrator::origin::WithOrigin;

    const HANDED_ON: [(i32, Signal); 6] = [
        (SIGINT, Signal::INT),
        (SIGTERM, Signal::TERM),
        (SIGHUP, Signal::HUP),
        (SIGQUIT, Signal::QUIT),
        (SIGUSR1, Signal::USR1),
        (SIGUSR2, Signal::USR2),
    ];

    /// Raises a flag at each signal that asks edio to end.
    pub fn raise(flag: &Arc<AtomicBool>) -> io::Result<()> {
        let ignored = ignored();
        let ends = [SIGINT, SIGTERM, SIGHUP].into_iter();
        for number in ends.filter(|number| ignored & (1 << (number - 1)) == 0) {
            signal_hook::flag::register(number, Arc::clone(flag))?;
        }
        Ok(())
    }

    /// The signals, caught from now on: they don't end edio any more.
    pub struct Caught(SignalsInfo<WithOrigin>);

    impl Caught {
        /// Catches them. A handler, unlike an ignored signal, is not inherited by the program.
        pub fn new() -> io::Result<Self> {
            let ignored = ignored();
            let wanted = HANDED_ON.iter().map(|(number, _)| *number);
            SignalsInfo::new(wanted.filter(|number| ignored & (1 << (number - 1)) == 0)).map(Self)
        }

        /// Hands on what other processes send, until the program has ended.
        pub fn hand_on_until_the_end(mut self, child: &Child) {
            let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
                return;
            };
            let handle = self.0.handle();
            let leads = leads_session();
            let relay = thread::spawn(move || {
                for caught in self.0.forever() {
                    let known = HANDED_ON
                        .iter()
                        .find(|(number, _)| *number == caught.signal);
                    // Without a sender it comes from the terminal, and the program has it already: but for a hang-up,
                    // of which only the leader of the terminal's session is told.
                    let from_terminal = caught.process.is_none();
                    let only_ours = caught.signal == SIGHUP && leads;
                    if let Some((_, signal)) = known.filter(|_| !from_terminal || only_ours) {
                        let _ = kill_process(pid, *signal);
                    }
                }
            });
            // Where the system refuses this way of waiting, the plain one that follows tells why.
            let _ = wait_for_end(pid);
            handle.close();
            let _ = relay.join();
        }
    }

    /// Waits for the end of the program, and leaves it to be reaped: until the relay has stopped, its number can't be
    /// another's.
    ///
    /// edio stops where the program stops: the shell waits for edio, and would never give its prompt. Where no shell waits,
    /// nobody would let edio go on again: who has stopped the program alone lets that go on.
    fn wait_for_end(pid: Pid) -> rustix::io::Result<Option<WaitIdStatus>> {
        let wait = |options| rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), options));
        let end = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        loop {
            let status = wait(end | WaitIdOptions::STOPPED)?;
            if !status.as_ref().is_some_and(WaitIdStatus::stopped) {
                return Ok(status);
            }
            // Seen; then stop, and when the shell lets edio go on, so does the program.
            wait(WaitIdOptions::STOPPED)?;
            if is_in_front() {
                kill_process(getpid(), Signal::STOP)?;
                kill_process(pid, Signal::CONT)?;
            }
        }
    }

    /// Is it what a terminal shows, so that a shell waits for it?
    fn is_in_front() -> bool {
        let in_front = fs::File::open("/dev/tty").map(tcgetpgrp);
        in_front.is_ok_and(|group| group == Ok(getpgrp()))
    }

    /// The signals that edio was started to ignore, one bit each. Where the system does not tell, none.
    fn ignored() -> u64 {
        told("SigIgn:")
            .and_then(|mask| u64::from_str_radix(&mask, 16).ok())
            .unwrap_or(0)
    }

    /// Is edio the leader of its session?
    ///
    /// In a container the session's leader can be a process outside, and its number is 0 then. rustix has no room for
    /// a process 0, so that on Linux, where this can be, the kernel's own table is read instead.
    fn leads_session() -> bool {
        match told("NSsid:") {
            Some(session) => session.parse() == Ok(getpid().as_raw_pid()),
            None if cfg!(target_os = "linux") => false,
            None => getsid(None).is_ok_and(|session| session == getpid()),
        }
    }

    /// The last word of a line of what the kernel tells of this process (proc_pid_status(5)), where there is such a table.
    fn told(name: &str) -> Option<String> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next_back().map(str::to_owned)
    }
}

#[cfg(not(unix))]
mod signals {
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

fn join<T>(handle: JoinHandle<io::Result<T>>) -> io::Result<T> {
    let joined = handle.join();
    joined.unwrap_or_else(|_| Err(io::Error::other("a pipe's thread panicked")))
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

#[cfg(unix)]
mod outputs {
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
}

#[cfg(not(unix))]
mod outputs {
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
            self.stderr.take().map_or(Ok(Vec::new()), super::join)
        }
    }
}

use self::outputs::Outputs;

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
    fn of(command: &mut std::process::Command, patience: Option<Duration>) -> io::Result<Self> {
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
    fn begin(&mut self, input: Vec<u8>, words: &[OsString], trace: Option<&Trace>) {
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
