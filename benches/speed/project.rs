//! The projects that are measured: files of 0.5 to 20 KB, nested as in real ones, in a git repository.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::contestants::git;

/// A repository with a work tree.
pub struct Project {
    pub top: PathBuf,
    files: usize,
}

/// What is changed.
#[derive(Clone, Copy)]
pub enum Edit {
    /// One file gets a line more.
    One,
    /// 40 files get a line more, 20 go, 20 become executable, 20 are new.
    Hundred,
}

/// So many files are changed alone.
const RESERVED: usize = 50;

/// What lies in a folder.
pub struct Room {
    pub bytes: u64,
    pub files: usize,
}

impl Project {
    /// Makes one with so many files, committed.
    pub fn make(top: &Path, files: usize) -> Self {
        fs::create_dir_all(top).unwrap();
        let project = Self {
            top: top.to_owned(),
            files,
        };
        for number in 0..files {
            let path = project.path(number);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content(number)).unwrap();
        }
        fs::write(top.join(".gitignore"), "target/\n*.log\n").unwrap();
        git(&project, &["init", "-q"]);
        project.commit();
        project
    }

    /// All is packed, as in a project that is not of today. git's own gc must not work beside what is measured.
    fn commit(&self) {
        git(self, &["config", "gc.auto", "0"]);
        git(self, &["config", "maintenance.auto", "false"]);
        git(self, &["add", "-A"]);
        git(self, &["commit", "-q", "-m", "base"]);
        git(self, &["repack", "-adq"]);
    }

    /// A copy, times and all, with an index that knows its files.
    pub fn copy(&self, top: &Path) -> Self {
        let copied = Command::new("cp").arg("-a").args([&self.top, top]).status();
        assert!(copied.unwrap().success());
        let copy = Self {
            top: top.to_owned(),
            files: self.files,
        };
        git(&copy, &["status", "-s"]);
        copy
    }

    fn path(&self, number: usize) -> PathBuf {
        self.top.join(relative(number))
    }

    /// The path of the file that [`Edit::One`] changes.
    pub fn edited(&self, round: usize) -> String {
        relative(self.single(round))
    }

    /// The file that is changed alone. It is one that is never removed.
    fn single(&self, round: usize) -> usize {
        round * 7 % RESERVED * (self.files / RESERVED)
    }

    /// Which file is changed, of those that an edit changes.
    fn victim(&self, round: usize, which: usize) -> usize {
        // Far from each other, and not one that is changed alone.
        let step = self.files / RESERVED;
        let number = (round * 101 + which * 1009 + 7) % self.files;
        if number.is_multiple_of(step) {
            number + 1
        } else {
            number
        }
    }

    /// Changes something.
    pub fn edit(&self, edit: Edit, round: usize) {
        match edit {
            Edit::One => self.append(self.single(round), round),
            Edit::Hundred => {
                (0..40).for_each(|which| self.append(self.victim(round, which), round));
                for which in 40..60 {
                    let _ = fs::remove_file(self.path(self.victim(round, which)));
                }
                for which in 60..80 {
                    let path = self.path(self.victim(round, which));
                    if let Ok(meta) = fs::metadata(&path) {
                        let mode = meta.permissions().mode() ^ 0o111;
                        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
                    }
                }
                for which in 80..100 {
                    let path = self.path(self.victim(round, which));
                    let new = path.with_extension(format!("new{round}"));
                    fs::create_dir_all(new.parent().unwrap()).unwrap();
                    fs::write(new, content(round * 100 + which)).unwrap();
                }
            }
        }
    }

    fn append(&self, number: usize, round: usize) {
        let path = self.path(number);
        let mut text = fs::read_to_string(&path).unwrap_or_default();
        writeln!(text, "round {round}").unwrap();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Brings all files back to what is committed.
    pub fn as_committed(&self) {
        git(self, &["checkout", "-q", "--", "."]);
        git(self, &["clean", "-q", "-f", "-d"]);
    }

    /// What git's folder needs on disk.
    pub fn room_of_git(&self) -> Room {
        room(&self.top.join(".git"))
    }
}

fn room(folder: &Path) -> Room {
    let mut found = Room { bytes: 0, files: 0 };
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let meta = entry.metadata().unwrap();
        found.bytes += meta.blocks() * 512;
        if meta.is_dir() {
            let below = room(&entry.path());
            found.bytes += below.bytes;
            found.files += below.files;
        } else {
            found.files += 1;
        }
    }
    found
}

/// Packages of modules of files, as projects are.
fn relative(number: usize) -> String {
    let (package, module, file) = (number / 400, number / 20 % 20, number % 20);
    match module % 3 {
        0 => format!("packages/p{package}/src/file{file}_{module}.rs"),
        1 => format!("packages/p{package}/src/m{module}/file{file}.rs"),
        _ => format!("packages/p{package}/tests/data/m{module}/deep/file{file}.txt"),
    }
}

/// Text of 0.5 to 20 KB, small files more often than large ones, always the same for a number.
fn content(number: usize) -> String {
    let mut state = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let size = (512.0 * 40f64.powf((next() % 1000) as f64 / 1000.0)) as usize;
    let mut text = String::with_capacity(size + 40);
    while text.len() < size {
        writeln!(
            text,
            "let value_{:x} = {:x};",
            next() % 4096,
            next() % 65536
        )
        .unwrap();
    }
    text
}
