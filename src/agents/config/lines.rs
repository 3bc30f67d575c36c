//! Lines that are put into a text and taken out of it, with the line ends that it has.

/// The line end that a text has.
pub(super) fn line_end(text: &str) -> &'static str {
    match text.split_once('\n') {
        Some((line, _)) if line.ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Lines after all that a text has, with an empty line between.
pub(super) fn with_lines(text: &str, lines: &str) -> String {
    let end = line_end(text);
    let mut whole = text.to_owned();
    if !text.is_empty() {
        if !text.ends_with('\n') {
            whole.push_str(end);
        }
        if !text.trim().is_empty() {
            whole.push_str(end);
        }
    }
    for line in lines.lines() {
        whole.push_str(line);
        whole.push_str(end);
    }
    whole
}

/// A text without the lines from one byte to another, and without the empty line before them, or after them at the top.
pub(super) fn without_lines(text: &str, from: usize, to: usize) -> String {
    let before = &text[..from];
    let empty = ["\r\n", "\n"].into_iter().find(|end| {
        let line = before.strip_suffix(end);
        line.is_some_and(|line| line.is_empty() || line.ends_with('\n'))
    });
    let before = empty
        .and_then(|end| before.strip_suffix(end))
        .unwrap_or(before);
    let mut after = &text[to..];
    if before.is_empty() {
        let line = ["\r\n", "\n"].into_iter();
        let mut rests = line.filter_map(|end| after.strip_prefix(end));
        after = rests.next().unwrap_or(after);
    }
    [before, after].concat()
}
