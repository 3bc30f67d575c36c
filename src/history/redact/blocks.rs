//! Private keys in their text form: `-----BEGIN … PRIVATE KEY-----`, also escaped in a string, in a diff, or cut off.

use super::{Finding, near};

/// What such a block begins with.
pub const BEGIN: &str = "-----BEGIN ";

const KIND: &str = "private key";

/// Fewer characters than this between the two lines are no key.
const SHORTEST: usize = 24;

/// The private key that begins here.
pub fn at(text: &str, at: usize) -> Option<Finding> {
    let rest = &text[at + BEGIN.len()..];
    let label = &rest[..rest.find("-----")?];
    let is_label = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ';
    let is_private = label.ends_with("PRIVATE KEY") || label.ends_with("PRIVATE KEY BLOCK");
    if !is_private || !label.bytes().all(is_label) {
        return None;
    }
    let body = at + BEGIN.len() + label.len() + "-----".len();
    let end = format!("-----END {label}-----");
    let (length, key) = body_length(&text[body..]);
    let end = match text[body + length..].starts_with(&end) {
        true => body + length + end.len(),
        false => body + text[body..body + length].trim_end().len(),
    };
    (key >= SHORTEST).then(|| Finding::new(KIND, at..end))
}

/// How far a key goes on, and how much of that is key and not what stands around it.
fn body_length(text: &str) -> (usize, usize) {
    let (mut length, mut key) = (0, 0);
    // Where it is cut off, a short word on a line of its own belongs to what comes behind.
    let mut firm = (0, 0);
    for line in lines(text) {
        let end = line.find("-----END ").unwrap_or(line.len());
        let bare = line[..end].trim_end_matches("\\n").trim_end_matches("\\r");
        let bare = bare.trim_matches(is_around);
        if bare.bytes().all(is_base64) {
            key += bare.len();
        } else if !is_header(bare) || key > 0 {
            // The line may be cut off in its middle.
            let run = line.bytes().take_while(|byte| is_base64(*byte)).count();
            return match run >= SHORTEST {
                true => (length + run, key + run),
                false => firm,
            };
        }
        length += end;
        if end < line.len() {
            return (length, key);
        }
        if bare.len() >= SHORTEST {
            firm = (length, key);
        }
    }
    firm
}

/// `Proc-Type: 4,ENCRYPTED`, `Version: GnuPG v2`
fn is_header(line: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphabetic() || byte == b'-';
    let name = line.split_once(": ").map(|(name, _)| name);
    name.is_some_and(|name| name.bytes().all(is_part))
}

/// Lines with what ends each of them: a line break, or one that is written `\n`.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        // A longer line counts as several.
        let near = near(rest);
        let breaks = near.char_indices().find_map(|(at, c)| match c {
            '\n' => Some(at + 1),
            '\\' if rest[at + 1..].starts_with('n') => Some(at + 2),
            _ => None,
        });
        let (line, left) = rest.split_at(breaks.unwrap_or(near.len()));
        rest = left;
        Some(line)
    })
}

/// What may stand around a line of a key: blanks, quotes, the marks of diffs, comments and mails.
fn is_around(c: char) -> bool {
    c.is_whitespace() || "\\\"'`+->|#*,;".contains(c)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}
