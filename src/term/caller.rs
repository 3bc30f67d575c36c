//! A program that calls edio and waits for it: what it says on the standard input, and what it is answered.

use std::io::{self, Read, Write};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::clock::Stopwatch;

/// Reads the standard input to its end, or until what has come is whole: so many bytes at most, and not longer than this.
/// `None` where there are more, it takes longer, or it can't be read.
pub fn input(most: usize, limit: Duration, is_whole: fn(&[u8]) -> bool) -> Option<Vec<u8>> {
    let (come, heard) = mpsc::channel();
    thread::spawn(move || {
        let mut piece = [0; 64 << 10];
        loop {
            let read = io::stdin().read(&mut piece);
            let read = read.map(|count| piece[..count].to_vec());
            let is_last = !read.as_ref().is_ok_and(|piece| !piece.is_empty());
            if come.send(read).is_err() || is_last {
                return;
            }
        }
    });
    let watch = Stopwatch::start();
    let mut bytes = Vec::new();
    loop {
        let left = limit.saturating_sub(watch.elapsed());
        let piece = heard.recv_timeout(left).ok()?.ok()?;
        bytes.extend_from_slice(&piece);
        if bytes.len() > most {
            return None;
        }
        if piece.is_empty() || is_whole(&bytes) {
            return Some(bytes);
        }
    }
}

/// Answers a program that waits for one value in JSON, and nothing else.
///
/// # Errors
///
/// It has gone away.
pub fn answer(value: &serde_json::Value) -> io::Result<()> {
    writeln!(io::stdout(), "{value}")
}
