//! The lock of a workspace: one process at a time takes turns and restores in it.
//!
//! There are two files. The lock proper dies with edio, however edio ends. The other one is inherited, on Unix, by each
//! git that edio starts: where edio is killed, its git goes on, and may still write an index or move a ref. Whoever comes
//! next would meet a half of it, so it waits for that git to end.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use crate::error::{Error, Result, While};

/// The lock proper, in a scratch folder.
const OWN: &str = "lock";

/// How long the git of a killed edio is waited for, and how often it is looked at.
const ORPHANS: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(5);

/// How long another edio is waited for in silence.
const SILENCE: Duration = Duration::from_secs(1);

/// How often the list of locks is read, where it does not say who has one that is held.
const LOOKS: u32 = 5;

/// How long is waited for what nobody holds for long.
const MOMENT: Duration = Duration::from_millis(250);

/// Told of the process that is waited for, where it is known.
pub type Told = Arc<dyn Fn(Option<u32>) + Send + Sync>;

/// How another edio is waited for.
#[derive(Clone, Default)]
pub struct Patience {
    /// Told once, where it takes longer than a moment.
    pub told: Option<Told>,
    /// How long at most. Without this, for as long as it takes.
    pub most: Option<Duration>,
}

/// The lock, held until it is dropped.
pub struct Lock {
    own: File,
    children: File,
}

impl Lock {
    /// Waits for the lock in a scratch folder and takes it. Its files are made where there are none.
    ///
    /// # Errors
    ///
    /// A file can't be opened, the file system knows no locks, another edio is at work for longer than it may be waited
    /// for, or what a killed edio had started doesn't end.
    pub fn take(folder: &Path, patience: &Patience) -> Result<Self> {
        let own = wait_for_edio(&folder.join(OWN), patience)?;
        let file = folder.join("children");
        let children = match taken(&file, wait_for_orphans) {
            // Whoever else has inherited it, a helper that a filter left behind, is nobody to wait for.
            Err(_) if !may_be_held_by_git(&file) => {
                fs::remove_file(&file).or_cannot(|| format!("can't remove {}", file.display()))?;
                taken(&file, wait_for_orphans)?
            }
            taken => taken?,
        };
        let lock = Self { own, children };
        let cannot = || format!("can't hand on the lock of {}", folder.display());
        lock.let_children_inherit().or_cannot(cannot)?;
        Ok(lock)
    }

    /// The process that has the lock in this scratch folder, where there is one, and the system tells.
    pub fn holder(folder: &Path) -> Option<u32> {
        holder(&folder.join(OWN))
    }

    #[cfg(unix)]
    fn let_children_inherit(&self) -> io::Result<()> {
        use rustix::io::{FdFlags, fcntl_setfd};
        Ok(fcntl_setfd(&self.children, FdFlags::empty())?)
    }

    /// Children inherit nothing here, so the git of a killed edio is not waited for.
    #[cfg(not(unix))]
    fn let_children_inherit(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Opens a file to lock it.
fn opened(file: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    let options = options.create(true).truncate(false).write(true);
    options.open(file).map_err(|cause| {
        let closed = [
            io::ErrorKind::PermissionDenied,
            io::ErrorKind::ReadOnlyFilesystem,
        ];
        let is_closed = closed.contains(&cause.kind());
        let error = Error::cannot(format!("can't open {}", file.display())).because(cause);
        match is_closed {
            true => error.hint("to look at the files, too, edio writes there; what needs no look: edio log, edio show"),
            false => error,
        }
    })
}

fn taken(file: &Path, lock: impl FnOnce(&File) -> io::Result<()>) -> Result<File> {
    let open = opened(file)?;
    match lock(&open) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(Error::cannot(format!(
            "a git that a killed edio had started is still at work here: it holds {}",
            file.display()
        ))
        .hint(format!(
            "wait for its end, or end it: fuser -v {}",
            file.display()
        ))),
        other => other
            .or_cannot(|| format!("can't lock {}", file.display()))
            .map(|()| open),
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the room of the locks")]
fn wait_for_edio(file: &Path, patience: &Patience) -> Result<File> {
    let cannot = || format!("can't lock {}", file.display());
    let open = opened(file)?;
    match open.try_lock() {
        Ok(()) => return Ok(open),
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(error)) => return Err(error).or_cannot(cannot),
    }
    // The system waits for a lock without end, so it is another thread that does. Where nobody wants it any more, the lock
    // is let go with the file.
    let (give, given) = mpsc::channel();
    let wait = move || drop(give.send(open.lock().map(|()| open)));
    thread::Builder::new().spawn(wait).or_cannot(cannot)?;
    let most = patience.most.unwrap_or(Duration::MAX);
    let mut locked = given.recv_timeout(SILENCE.min(most));
    if locked.is_err() && most > SILENCE {
        if let Some(told) = &patience.told {
            told(holder(file));
        }
        locked = given.recv_timeout(most - SILENCE);
    }
    match locked {
        Ok(locked) => locked.or_cannot(cannot),
        Err(_) => Err(too_long(holder(file))),
    }
}

fn too_long(holder: Option<u32>) -> Error {
    let (who, end) = match holder {
        Some(pid) => (format!(", process {pid},"), format!("kill {pid}")),
        None => (String::new(), "end it".to_owned()),
    };
    Error::cannot(format!("another edio{who} is at work here for too long"))
        .hint(format!("if it hangs, in a filter of git's say: {end}"))
}

/// The process that has locked a file (proc_locks(5)). Nothing is written down for that, so it can't be an earlier one.
#[cfg(unix)]
fn holder(file: &Path) -> Option<u32> {
    let held = identity(file).ok()?;
    // Where others come and go while the list is read, a line of it may be missing.
    (0..LOOKS).find_map(|_| holder_of(held, &locks().ok()?))
}

/// The system's list of locks. It is made anew for each read, a page at most: with room enough, one read has all of a
/// short list, and the lines fit together.
#[cfg(unix)]
fn locks() -> io::Result<String> {
    let mut list = String::with_capacity(1 << 16);
    File::open("/proc/locks")?.read_to_string(&mut list)?;
    Ok(list)
}

/// The one process that has this file locked, by a list of locks.
#[cfg(unix)]
fn holder_of(file: (u64, u64), locks: &str) -> Option<u32> {
    let inode = format!(":{}", file.1);
    let holders = locks.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        // Who waits for it has an arrow before the kind.
        let [_, "FLOCK", _, _, pid, place, ..] = words[..] else {
            return None;
        };
        // Some file systems are named by another number there than `stat` gives.
        place.ends_with(&inode).then(|| pid.parse().ok())?
    });
    // So it may be the lock on a file of another disk, too.
    let has_it = |pid: &u32| has_open(Path::new(&format!("/proc/{pid}")), file).unwrap_or(false);
    let holders: BTreeSet<u32> = holders.filter(has_it).collect();
    holders.first().copied().filter(|_| holders.len() == 1)
}

/// The disk of a file, and its number there.
#[cfg(unix)]
fn identity(file: &Path) -> io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(file).map(|meta| (meta.dev(), meta.ino()))
}

/// Has this process (proc(5)) that file open?
#[cfg(unix)]
fn has_open(process: &Path, file: (u64, u64)) -> io::Result<bool> {
    let mut open = fs::read_dir(process.join("fd"))?.flatten();
    Ok(open.any(|fd| identity(&fd.path()).is_ok_and(|open| open == file)))
}

/// Nobody tells here.
#[cfg(not(unix))]
fn holder(_: &Path) -> Option<u32> {
    None
}

fn wait_for_orphans(file: &File) -> io::Result<()> {
    wait(file, ORPHANS)
}

#[expect(clippy::disallowed_methods, reason = "this is the room of the locks")]
fn wait(file: &File, patience: Duration) -> io::Result<()> {
    let mut waited = Duration::ZERO;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if waited < patience => thread::sleep(LOOK),
            Err(error) => return Err(error.into()),
        }
        waited += LOOK;
    }
}

/// May a git process have this file open? Where the system does not tell (proc(5)), it may.
#[cfg(unix)]
fn may_be_held_by_git(file: &Path) -> bool {
    let (Ok(processes), Ok(held)) = (fs::read_dir("/proc"), identity(file)) else {
        return true;
    };
    let processes = processes.flatten().map(|entry| entry.path());
    let mut gits = processes.filter(|process| {
        let name = fs::read_to_string(process.join("comm"));
        name.is_ok_and(|name| name.starts_with("git"))
    });
    // Of another user's nothing is told; one that is gone holds nothing.
    let is_closed = |error: io::Error| error.kind() == io::ErrorKind::PermissionDenied;
    gits.any(|git| has_open(&git, held).unwrap_or_else(is_closed))
}

/// Nobody tells here.
#[cfg(not(unix))]
fn may_be_held_by_git(_: &Path) -> bool {
    true
}

/// A folder that one edio at a time works in, and no git: the lock on it dies with edio.
pub struct Claim(#[expect(dead_code, reason = "it is held as long as it is open")] File);

impl Claim {
    /// Claims what this file stands for, if no other edio has.
    ///
    /// # Errors
    ///
    /// Another one has, or the file can't be opened or locked.
    pub fn on(file: &Path) -> Result<Self> {
        let open = opened(file)?;
        #[expect(clippy::disallowed_methods, reason = "this is the room of the locks")]
        let locked = open.try_lock();
        match locked {
            Ok(()) => Ok(Self(open)),
            Err(TryLockError::WouldBlock) => {
                let folder = file.parent().unwrap_or(file).display();
                Err(
                    Error::cannot(format!("another edio is at work in {folder}"))
                        .hint("wait for its end, or name another folder"),
                )
            }
            Err(error) => {
                Err(io::Error::from(error)).or_cannot(|| format!("can't lock {}", file.display()))
            }
        }
    }
}

/// A lock that nobody holds for long: who waits for it does so for a moment only.
#[derive(Debug)]
pub struct Brief(#[expect(dead_code, reason = "it is held as long as it is open")] File);

impl Brief {
    /// Takes it.
    ///
    /// # Errors
    ///
    /// Another holds it for too long, or the file can't be opened or locked.
    pub fn take(file: &Path) -> Result<Self> {
        let open = opened(file)?;
        wait(&open, MOMENT).or_cannot(|| format!("can't lock {}", file.display()))?;
        Ok(Self(open))
    }

    /// Takes one on a folder: no file is left behind. `None` where the system locks no folders.
    ///
    /// # Errors
    ///
    /// Another holds it for too long.
    pub fn on_folder(folder: &Path) -> Result<Option<Self>> {
        let Ok(open) = File::open(folder) else {
            return Ok(None);
        };
        wait(&open, MOMENT).or_cannot(|| format!("can't lock {}", folder.display()))?;
        Ok(Some(Self(open)))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the files would not do: a filter of git's may have left a process that has inherited them.
        let _ = self.children.unlock();
        let _ = self.own.unlock();
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "this is the room of the locks")]
    fn the_holder_is_named_while_others_come_and_go() {
        let folder = tempfile::tempdir().unwrap();
        let held = folder.path().join("held");
        let open = File::create(&held).unwrap();
        open.lock().unwrap();
        let done = AtomicBool::new(false);
        let comes_and_goes = &|number: u32| {
            let file = folder.path().join(format!("{number}"));
            while !done.load(Ordering::Relaxed) {
                File::create(&file).unwrap().lock().unwrap();
            }
        };
        thread::scope(|scope| {
            for number in 0..8 {
                scope.spawn(move || comes_and_goes(number));
            }
            let named: Vec<_> = (0..300).map(|_| holder(&held)).collect();
            done.store(true, Ordering::Relaxed);
            let own = fs::read_link("/proc/self").unwrap();
            let own = own.to_str().and_then(|own| own.parse().ok());
            assert!(own.is_some());
            assert_eq!(named, vec![own; 300]);
        });
    }
}
