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
