//! Lines in a file of text.

use super::lines::{line_end, with_lines, without_lines};
use super::{Entry, Refusal};

pub(super) fn put(text: &str, entries: &[Entry]) -> Result<String, Refusal> {
    let mut whole = text.to_owned();
    for entry in entries {
        match entry {
            Entry::Whole(all) | Entry::Program(all) if is_same(&whole, all) => {}
            Entry::Whole(all) | Entry::Program(all) if whole.is_empty() => whole.push_str(all),
            Entry::Whole(_) | Entry::Program(_) => return Err(changed()),
            Entry::Lines(lines) if find(&whole, lines).is_none() => {
                whole = with_lines(&whole, lines);
            }
            _ => {}
        }
    }
    Ok(whole)
}

pub(super) fn take_out(
    text: &str,
    before: Option<&str>,
    entries: &[Entry],
) -> Result<String, Refusal> {
    let mut rest = text.to_owned();
    for entry in entries {
        match entry {
            Entry::Whole(all) | Entry::Program(all) if is_same(&rest, all) => rest.clear(),
            Entry::Whole(_) | Entry::Program(_) if rest.is_empty() => {}
            Entry::Whole(_) | Entry::Program(_) => return Err(changed()),
            Entry::Lines(lines) if find(before.unwrap_or_default(), lines).is_none() => {
                if let Some((from, to)) = find(&rest, lines) {
                    if before.is_none() && !is_same(&rest[from..to], lines) {
                        return Err(changed());
                    }
                    let exact = before.and_then(|before| without(&rest, before, lines, from, to));
                    rest = exact.unwrap_or_else(|| without_lines(&rest, from, to));
                } else if begins(&rest, lines) > begins(before.unwrap_or_default(), lines) {
                    return Err(Refusal::new("the end of edio's part is gone"));
                }
            }
            _ => {}
        }
    }
    Ok(rest)
}

pub(super) fn has(text: &str, entries: &[Entry]) -> Vec<bool> {
    let has = |entry: &Entry| match entry {
        Entry::Whole(_) | Entry::Program(_) => !text.trim().is_empty(),
        Entry::Lines(lines) => find(text, lines).is_some(),
        _ => false,
    };
    entries.iter().map(has).collect()
}

pub(super) fn by_hand(entries: &[Entry]) -> String {
    let text = |entry: &Entry| match entry {
        Entry::Whole(text) | Entry::Program(text) | Entry::Lines(text) => with_lines("", text),
        _ => String::new(),
    };
    entries.iter().map(text).collect()
}

fn changed() -> Refusal {
    Refusal::new("it is not as edio wrote it")
}

/// Are two texts the same, but for their line ends?
fn is_same(one: &str, other: &str) -> bool {
    one == other || one.lines().eq(other.lines())
}

/// A text without what was put into it: from one byte to another, and the line ends before that which were added to what
/// was there. `None` where they are gone, or nothing stands before them.
fn without(text: &str, before: &str, lines: &str, from: usize, to: usize) -> Option<String> {
    let put = with_lines(before, lines);
    let added = &put[before.len()..find(&put, lines)?.0];
    let kept = text[..from].strip_suffix(added)?;
    let after = &text[to..];
    let joint = match after.is_empty() || kept.ends_with('\n') {
        true => "",
        false => line_end(before),
    };
    (!kept.is_empty()).then(|| [kept, joint, after].concat())
}

/// How many lines of a text are the first of these?
fn begins(text: &str, lines: &str) -> usize {
    let first = lines.lines().next();
    let begins = text.lines().filter(|line| Some(line.trim_end()) == first);
    begins.count()
}

/// Where the lines that begin and end as these do stand in a text: from one byte to another. A beginning that has lost its
/// end is another's.
fn find(text: &str, lines: &str) -> Option<(usize, usize)> {
    let (first, last) = (lines.lines().next()?, lines.lines().last()?);
    let mut at = 0;
    let mut from = None;
    for line in text.split_inclusive('\n') {
        if line.trim_end() == first {
            from = Some(at);
        }
        at += line.len();
        if let Some(from) = from
            && line.trim_end() == last
        {
            return Some((from, at));
        }
    }
    None
}
