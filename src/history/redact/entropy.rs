//! Long random words, whatever stands around them.
//!
//! Object ids, checksums, UUIDs and ids of calls are random, too, and no secrets: what is only hexadecimal, or has only
//! letters of one case, is none here, nor what its surroundings say to be something else.

use super::Finding;
use super::shapes::AWS_KEY_ID;
use super::values::{Traits, is_nothing, is_path, is_random};

const KIND: &str = "high entropy";
const AWS_SECRET: &str = "aws secret key";

/// A word that is given to something may be this long at least, one that stands alone the second.
const SHORTEST: (usize, usize) = (24, 32);

/// What is longer than any key is content: an image, a map.
const LONGEST: usize = 200;

/// Adds such words.
pub fn find(text: &str, found: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let key_ids: Vec<usize> = found
        .iter()
        .filter(|finding| finding.kind == AWS_KEY_ID)
        .map(|finding| finding.range.start)
        .collect();
    let mut at = 0;
    while at < bytes.len() {
        let length = bytes[at..]
            .iter()
            .take_while(|byte| is_part(**byte))
            .count();
        if (SHORTEST.0..=LONGEST).contains(&length) {
            let end = at + length;
            let word = &text[at..end];
            let near = key_ids.partition_point(|id| id + 300 < at);
            let is_aws = word.len() == 40 && key_ids.get(near).is_some_and(|id| *id < at + 300);
            if is_aws && Traits::of(word.as_bytes()).is_mixed() {
                found.push(Finding::new(AWS_SECRET, at..end));
            } else if is_secret(word) && !is_something_else(text, at, end) {
                found.push(Finding::new(KIND, at..end));
            }
        }
        at += length + 1;
    }
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/_-".contains(&byte)
}

/// Is it random enough to be a key?
fn is_secret(word: &str) -> bool {
    // Most words end here.
    let traits = Traits::of(word.as_bytes());
    if !traits.is_mixed() || traits.digits < 2 || !traits.turns(25) {
        return false;
    }
    let is_path = word.starts_with('/') || is_path(word);
    let is_sequence = word.to_ascii_lowercase().contains("abcdefgh");
    !is_path && !is_sequence && !is_nothing(word) && is_random(word) && is_even(word)
}

/// Are its characters as many as chance would have them? The bits that each of them carries.
fn is_even(word: &str) -> bool {
    let mut counts = [0_u32; 256];
    for byte in word.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = word.len() as f64;
    let shares = counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / length);
    let bits: f64 = shares.map(|share| -share * share.log2()).sum();
    bits >= 0.75 * length.log2().min(6.0)
}

/// Words that stand before something random that is no secret, in names or as they are.
const HARMLESS: [&str; 24] = [
    "hash",
    "checksum",
    "integrity",
    "digest",
    "etag",
    "fingerprint",
    "cursor",
    "sha1",
    "sha256",
    "sha384",
    "sha512",
    "nonce",
    "public",
    "pubkey",
    "base64,",
    "h1:",
    "enc[",
    "signature",
    "ssh-",
    "cid",
    "kid",
    "id",
    "ids",
    "uuid",
];

/// Do its surroundings say that it is no key?
fn is_something_else(text: &str, at: usize, end: usize) -> bool {
    let bytes = text.as_bytes();
    let word = &text[at..end];
    let before = &bytes[at.saturating_sub(64)..at];
    let is_assigned = before
        .iter()
        .rev()
        .find(|byte| !b" \"'`\\".contains(byte))
        .is_some_and(|byte| b"=:,(".contains(byte));
    if word.len() < SHORTEST.1 && !is_assigned {
        return true;
    }
    // A part of a name, of an address, or of a hash.
    let behind = bytes.get(end..).unwrap_or_default();
    let is_part_of_name = matches!(before.last(), Some(b'.' | b'$' | b'@' | b'#' | b'%' | b'~'))
        || matches!(behind, [b'.', next, ..] if next.is_ascii_alphanumeric());
    is_part_of_name
        || has_prefix(word)
        || is_in_url(text, at)
        || is_announced(before)
        || is_line_of_block(text, at, end)
}

/// An id: `toolu_…`, `cus_…`, `sha512-…`; a public key; a mangled symbol. Tokens with a prefix are known by it.
fn has_prefix(word: &str) -> bool {
    let head = word.find(['_', '-']).map_or("", |at| &word[..at]);
    let is_prefix = (2..=12).contains(&head.len())
        && head
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        && !["secret", "token", "key", "pass"].contains(&head);
    is_prefix
        || ["AAAA", "_ZN", "_R"]
            .iter()
            .any(|prefix| word.starts_with(prefix))
}

fn is_in_url(text: &str, at: usize) -> bool {
    let before = &text.as_bytes()[at.saturating_sub(512)..at];
    let word = before
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_graphic() && !b"\"'`<>".contains(byte));
    let start = at - word.count();
    text.get(start..at)
        .is_some_and(|word| word.contains("://") || word.contains("data:"))
}

/// Is it given to something that is named so?
fn is_announced(before: &[u8]) -> bool {
    let before = before.to_ascii_lowercase();
    let line = before
        .rsplit(|byte| b"\n;,{".contains(byte))
        .next()
        .unwrap_or_default();
    let line = match before.ends_with(b",") {
        true => &before,
        false => line,
    };
    let line = String::from_utf8_lossy(line);
    HARMLESS.iter().any(|word| {
        line.match_indices(word).any(|(at, _)| {
            let is_short = word.len() <= 3;
            let starts = !is_short || !line[..at].ends_with(|c: char| c.is_alphanumeric());
            starts
                && (!is_short
                    || !line[at + word.len()..].starts_with(|c: char| c.is_alphanumeric()))
        })
    })
}

/// Is it a whole line, as long as those that text is broken into: a certificate, an attachment?
fn is_line_of_block(text: &str, at: usize, end: usize) -> bool {
    let before = &text[..at];
    let behind = text[end..].trim_start_matches('=');
    let opens = before.trim_end_matches([' ', '\t', '+', '-', '"', '>', '|']);
    let opens = opens.is_empty() || opens.ends_with(['\n', '\r']) || opens.ends_with("\\n");
    let closes = behind.is_empty() || behind.starts_with(['\n', '\r']) || behind.starts_with("\\n");
    opens && closes && matches!(end - at, 60 | 64 | 70 | 72 | 76 | 77)
}
