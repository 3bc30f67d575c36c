//! A line in a YAML file: a name with its value, at the top.
//!
//! Of YAML only so much is understood as is needed to know that a line at the end is one of the top's own, and that the
//! name isn't taken. Any other file is left as it is.

use super::lines::with_lines;
use super::{Entry, Refusal, text};

pub(super) fn put(present: &str, entries: &[Entry]) -> Result<String, Refusal> {
    let mut whole = present.to_owned();
    for line in lines(entries) {
        if names(&whole, line) {
            continue;
        }
        check(&whole)?;
        let name = name_of(line).unwrap_or(line);
        if let Some(at) = find(&whole, name) {
            let what = format!("\"{name}\" stands there already");
            return Err(Refusal::at(&whole, at, what));
        }
        whole = with_lines(&whole, line);
    }
    Ok(whole)
}

pub(super) fn take_out(
    present: &str,
    before: Option<&str>,
    entries: &[Entry],
) -> Result<String, Refusal> {
    let rest = text::take_out(present, before, entries)?;
    let had = before.unwrap_or_default();
    let is_left = |line: &&str| names(&rest, line) && !names(had, line);
    match lines(entries).find(is_left) {
        Some(line) => {
            let name = name_of(line).unwrap_or(line);
            let at = find(&rest, name).unwrap_or_default();
            let what = format!("\"{name}\" is not as edio wrote it");
            Err(Refusal::at(&rest, at, what))
        }
        None => Ok(rest),
    }
}

pub(super) fn has(present: &str, entries: &[Entry]) -> Vec<bool> {
    lines(entries).map(|line| names(present, line)).collect()
}

fn lines(entries: &[Entry]) -> impl Iterator<Item = &'static str> {
    entries.iter().filter_map(|entry| match entry {
        Entry::Lines(line) => Some(*line),
        _ => None,
    })
}

/// Has a text a line's name, and in the value of that what the line has in its list?
fn names(present: &str, line: &str) -> bool {
    let Some(at) = name_of(line).and_then(|name| find(present, name)) else {
        return false;
    };
    let value = line.split(['[', ']']).nth(1).unwrap_or_default();
    let mut lines = present[at..].lines();
    let first = lines.next().unwrap_or_default();
    let further = lines.take_while(|line| !is_own(line) || line.starts_with('-'));
    let mut code = std::iter::once(first)
        .chain(further)
        .map(|line| line.split(" #").next().unwrap_or_default());
    code.any(|code| {
        let mut words = code.split([' ', '\t', ',', '[', ']', '"', '\'', ':']);
        words.any(|word| word == value)
    })
}

/// Where the line that has this name at the top begins.
fn find(present: &str, name: &str) -> Option<usize> {
    let mut at = 0;
    for line in present.split_inclusive('\n') {
        if name_of(line) == Some(name) {
            return Some(at);
        }
        at += line.len();
    }
    None
}

/// The name that a line at the top gives a value to.
fn name_of(line: &str) -> Option<&str> {
    let (name, value) = line.split_once(':')?;
    let name = name.trim_end();
    let bare = name.trim_matches(['"', '\'']);
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let is_name = !bare.is_empty() && bare.chars().all(is_word) && !bare.starts_with('-');
    let ends = value.is_empty() || value.starts_with([' ', '\t', '\r', '\n']);
    (is_name && ends).then_some(bare)
}

/// Does a line stand at the top, and say something?
fn is_own(line: &str) -> bool {
    let is_blank = line.trim().is_empty() || line.starts_with('#');
    !is_blank && !line.starts_with([' ', '\t'])
}

/// Sees that a text is a plain list of names, each at the beginning of a line.
fn check(present: &str) -> Result<(), Refusal> {
    let (mut at, mut is_first) = (0, true);
    for line in present.split_inclusive('\n') {
        let is_start = is_first && line.trim_end() == "---";
        let is_item = !is_first && line.starts_with("- ");
        let is_close = matches!(line.trim_end(), "]" | "}");
        let is_text = line.trim().is_empty() || line.starts_with('#');
        let fits = is_start || is_item || is_close || name_of(line).is_some();
        let is_inner = !is_first && !is_own(line);
        if !is_text && !is_inner && !fits {
            let what = "it is no plain list of names";
            return Err(Refusal::at(present, at, what));
        }
        is_first &= is_text;
        at += line.len();
    }
    Ok(())
}
