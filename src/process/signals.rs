//! The signals that are handed on to a program that has the terminal.

use std::fs;
use std::io;
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, getpgrp, getpid, getsid, kill_process, waitid,
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
