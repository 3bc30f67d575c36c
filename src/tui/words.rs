//! Which words of a changed line are other words.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Longer lines are not compared word by word.
const LONGEST: usize = 2000;

/// The parts of the first line that the second lacks. None where the lines have too little in common: then they are two
/// lines, and not one that was changed.
pub fn changed(line: &[u8], other: &[u8]) -> Vec<Range<usize>> {
    if line.len() > LONGEST || other.len() > LONGEST {
        return Vec::new();
    }
    let (ours, theirs) = (words(line), words(other));
    let texts = |words: &[Range<usize>], line: &[u8]| -> Vec<Vec<u8>> {
        words
            .iter()
            .map(|word| line[word.clone()].to_vec())
            .collect()
    };
    let operations = capture_diff_slices(
        Algorithm::Myers,
        &texts(&ours, line),
        &texts(&theirs, other),
    );
    let mut same = 0;
    let mut changed: Vec<Range<usize>> = Vec::new();
    for operation in operations {
        let old = operation.old_range();
        if let DiffOp::Equal { .. } = operation {
            let letters = |word: &Range<usize>| line[word.clone()].trim_ascii().len();
            same += ours[old].iter().map(letters).sum::<usize>();
            continue;
        }
        let Some(range) = span(&ours[old]) else {
            continue;
        };
        match changed.last_mut() {
            // What stands between two changed words is a blank: they are one change.
            Some(last) if line[last.end..range.start].trim_ascii().is_empty() => {
                last.end = range.end
            }
            _ => changed.push(range),
        }
    }
    let most = line.trim_ascii().len().max(other.trim_ascii().len());
    match same * 3 >= most {
        true => changed,
        false => Vec::new(),
    }
}

fn span(words: &[Range<usize>]) -> Option<Range<usize>> {
    Some(words.first()?.start..words.last()?.end)
}

/// Words, runs of blanks, and single signs.
fn words(line: &[u8]) -> Vec<Range<usize>> {
    let kind = |b: u8| match b {
        b if b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80 => 1,
        b if b.is_ascii_whitespace() => 2,
        _ => 0,
    };
    let mut words: Vec<Range<usize>> = Vec::new();
    for (at, byte) in line.iter().enumerate() {
        match words.last_mut() {
            Some(word) if kind(*byte) > 0 && kind(line[word.start]) == kind(*byte) => {
                word.end = at + 1;
            }
            _ => words.push(at..at + 1),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str, other: &str) -> Vec<String> {
        let ranges = changed(line.as_bytes(), other.as_bytes());
        ranges
            .into_iter()
            .map(|range| line[range].to_owned())
            .collect()
    }

    #[test]
    fn only_the_words_that_differ_are_marked() {
        assert_eq!(shown("let a = one(1);", "let a = two(1);"), ["one"]);
        assert_eq!(shown("let a = one(1);", "let a = one(1, 2);"), [""; 0]);
        assert_eq!(shown("let a = one(1, 2);", "let a = one(1);"), [", 2"]);
        assert_eq!(shown("größe = 12345;", "grösse = 12345;"), ["größe"]);
    }

    #[test]
    fn lines_with_little_in_common_are_two_lines() {
        assert_eq!(shown("fn main() {}", "// nothing of it"), [""; 0]);
        assert_eq!(shown("", "a"), [""; 0]);
    }
}
