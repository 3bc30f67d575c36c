//! The log of what went wrong in agents' hooks, where nobody is told: a few lines in edio's scratch folder.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use bstr::ByteSlice;

const FILE: &str = "hook.log";

/// When it has grown to so many bytes, the older half of it goes.
const MOST: usize = 64 << 10;

/// Adds a line.
///
/// # Errors
///
/// The folder can't be written.
pub fn add(scratch: &Path, line: &str) -> io::Result<()> {
    add_to(&scratch.join(FILE), line)
}

/// The same for another log.
///
/// # Errors
///
/// The file can't be written.
pub fn add_to(file: &Path, line: &str) -> io::Result<()> {
    let line = line.replace(['\n', '\r'], " ");
    let length = fs::metadata(file).map_or(0, |meta| meta.len());
    if length <= MOST as u64 {
        // In one piece: others may add lines at the same time.
        let mut open = OpenOptions::new().create(true).append(true).open(file)?;
        return open.write_all(format!("{line}\n").as_bytes());
    }
    let mut log = fs::read(file).unwrap_or_default();
    if log.len() > MOST {
        let half = &log[log.len() - MOST / 2..];
        log = half
            .split_once_str("\n")
            .map_or(half, |(_, rest)| rest)
            .to_vec();
    }
    log.extend_from_slice(line.as_bytes());
    log.push(b'\n');
    fs::write(file, log)
}

/// The last lines, the newest last.
pub fn last(scratch: &Path, count: usize) -> Vec<String> {
    let log = fs::read(scratch.join(FILE)).unwrap_or_default();
    let lines: Vec<String> = log
        .lines()
        .map(|line| line.to_str_lossy().into_owned())
        .collect();
    let surplus = lines.len().saturating_sub(count);
    lines.into_iter().skip(surplus).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_what_is_new() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..3000 {
            add(folder.path(), &format!("{number} {}", "x".repeat(60))).unwrap();
        }
        let length = fs::metadata(folder.path().join(FILE)).unwrap().len();
        assert!(length as usize <= MOST + 100, "{length}");
        let last = last(folder.path(), 2);
        assert!(last[0].starts_with("2998 ") && last[1].starts_with("2999 "));
    }
}
