//! What the words of a line are, by the look of it: comments, strings, numbers, keywords.
//!
//! Not a parser: languages of one family are read alike, and a hunk is taken to begin outside of comments and strings.

mod languages;

use std::ops::Range;

use bstr::ByteSlice;

use self::languages::RUST;
pub use self::languages::{Family, Language, language};

/// What a part of a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A comment.
    Comment,
    /// A string.
    Text,
    /// A number.
    Number,
    /// A keyword.
    Keyword,
    /// The name of a type, or a constant.
    Type,
    /// The name of what is called.
    Call,
}

/// What a line begins in the middle of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lexing {
    /// Nothing.
    #[default]
    Plain,
    /// A comment of several lines.
    Comment,
    /// A string of several lines: which of its language's.
    Text(u8),
}

/// What the line after this one begins in the middle of.
pub fn after(language: Option<Language>, before: Lexing, line: &[u8]) -> Lexing {
    let Some(language) = language else {
        return Lexing::Plain;
    };
    // Most lines begin nothing that goes on.
    let may_open = |start: &str| line.contains_str(start);
    let opens = language
        .long_comment
        .iter()
        .any(|(start, _)| may_open(start))
        || language.long_texts.iter().any(|(start, _)| may_open(start));
    if before == Lexing::Plain && !opens {
        return Lexing::Plain;
    }
    classes(language, before, line, |_, _| {})
}

/// Tells the parts of a line that are something. Returns what the next line begins in the middle of.
pub fn classes(
    language: Language,
    before: Lexing,
    line: &[u8],
    mut tell: impl FnMut(Range<usize>, Class),
) -> Lexing {
    let mut at = 0;
    let mut lexing = before;
    while at < line.len() {
        let rest = &line[at..];
        let open = match lexing {
            Lexing::Plain => None,
            Lexing::Comment => language.long_comment.map(|(_, end)| (end, Class::Comment)),
            Lexing::Text(which) => language
                .long_texts
                .get(usize::from(which))
                .map(|(_, end)| (*end, Class::Text)),
        };
        if let Some((end, class)) = open {
            let Some(found) = rest.find(end) else {
                tell(at..line.len(), class);
                return lexing;
            };
            let length = found + end.len();
            tell(at..at + length, class);
            at += length;
            lexing = Lexing::Plain;
            continue;
        }
        lexing = Lexing::Plain;
        let (length, class, next) = token(language, line, at);
        lexing = next.unwrap_or(lexing);
        if let Some(class) = class {
            tell(at..at + length, class);
        }
        at += length.max(1);
    }
    lexing
}

/// The token that begins at a place outside of comments and strings: its length, what it is, and what it opens.
fn token(language: Language, line: &[u8], at: usize) -> (usize, Option<Class>, Option<Lexing>) {
    let rest = &line[at..];
    if let Some((start, _)) = language.long_comment
        && rest.starts_with(start.as_bytes())
    {
        return (start.len(), Some(Class::Comment), Some(Lexing::Comment));
    }
    let comment = |start: &&str| rest.starts_with(start.as_bytes()) && may_comment(line, at);
    if language.comments.iter().any(comment) {
        return (rest.len(), Some(Class::Comment), None);
    }
    let long = |(start, _): &(&str, &str)| rest.starts_with(start.as_bytes());
    if let Some(which) = language.long_texts.iter().position(long) {
        let length = language.long_texts[which].0.len();
        let which = u8::try_from(which).unwrap_or(0);
        return (length, Some(Class::Text), Some(Lexing::Text(which)));
    }
    let first = rest[0];
    if language.quotes.contains(&first) {
        return (quoted(rest), Some(Class::Text), None);
    }
    if first == b'\'' && std::ptr::eq(language, &RUST) {
        return match rest {
            [_, b'\\', ..] => (quoted(rest), Some(Class::Text), None),
            _ => match rest[1..]
                .find_byte(b'\'')
                .filter(|end| (1..=4).contains(end))
            {
                Some(end) => (end + 2, Some(Class::Text), None),
                None => (1, None, None),
            },
        };
    }
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80;
    if first.is_ascii_digit() {
        let length = rest
            .iter()
            .take_while(|b| is_word(**b) || **b == b'.')
            .count();
        return (length, Some(Class::Number), None);
    }
    if !is_word(first) {
        return (1, None, None);
    }
    let length = rest.iter().take_while(|b| is_word(**b)).count();
    (
        length,
        word(language, &rest[..length], &rest[length..]),
        None,
    )
}

/// May a comment begin here? `#` within a word is none.
fn may_comment(line: &[u8], at: usize) -> bool {
    line[at] != b'#' || at == 0 || line[at - 1].is_ascii_whitespace()
}

/// The length of a string that ends with the line at the latest.
fn quoted(rest: &[u8]) -> usize {
    let quote = rest[0];
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b if b == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

fn word(language: Language, word: &[u8], after: &[u8]) -> Option<Class> {
    let is_keyword = |keyword: &&str| match language.any_case {
        true => word.eq_ignore_ascii_case(keyword.as_bytes()),
        false => word == keyword.as_bytes(),
    };
    if language.keywords.iter().any(is_keyword) {
        return Some(Class::Keyword);
    }
    if language.capitals && word[0].is_ascii_uppercase() {
        return Some(Class::Type);
    }
    let called = after.first() == Some(&b'(') || after.starts_with(b"!(");
    (called && !language.keywords.is_empty()).then_some(Class::Call)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(path: &str, before: Lexing, line: &str) -> (Vec<(String, Class)>, Lexing) {
        let mut found = Vec::new();
        let language = language(path.as_bytes()).unwrap();
        let after = classes(language, before, line.as_bytes(), |range, class| {
            found.push((line[range].to_owned(), class));
        });
        assert_eq!(super::after(Some(language), before, line.as_bytes()), after);
        (found, after)
    }

    fn only(path: &str, line: &str) -> Vec<(String, Class)> {
        told(path, Lexing::Plain, line).0
    }

    fn parts(parts: &[(&str, Class)]) -> Vec<(String, Class)> {
        let owned = parts
            .iter()
            .map(|(text, class)| ((*text).to_owned(), *class));
        owned.collect()
    }

    #[test]
    fn the_words_of_a_line_are_told_apart() {
        use Class::{Call, Comment, Keyword, Number, Text, Type};
        assert_eq!(
            only(
                "src/a.rs",
                "pub fn f(x: &'a Vec) { g(\"a\\\"b\", 'c', 0x1f) } // end"
            ),
            parts(&[
                ("pub", Keyword),
                ("fn", Keyword),
                ("f", Call),
                ("Vec", Type),
                ("g", Call),
                ("\"a\\\"b\"", Text),
                ("'c'", Text),
                ("0x1f", Number),
                ("// end", Comment),
            ])
        );
        assert_eq!(
            only("a.sql", "SELECT 1 -- one"),
            parts(&[("SELECT", Keyword), ("1", Number), ("-- one", Comment)])
        );
        assert_eq!(
            only("a.sh", "echo ${#x} # length"),
            parts(&[("# length", Comment)])
        );
        assert_eq!(language(b"README"), None);
    }

    #[test]
    fn what_has_several_lines_goes_on() {
        let (first, state) = told("a.c", Lexing::Plain, "x /* a");
        assert_eq!(
            first,
            parts(&[("/*", Class::Comment), (" a", Class::Comment)])
        );
        let (second, state) = told("a.c", state, "b */ if");
        assert_eq!(
            second,
            parts(&[("b */", Class::Comment), ("if", Class::Keyword)])
        );
        assert_eq!(state, Lexing::Plain);
        let (_, state) = told("a.py", Lexing::Plain, "'''doc");
        assert_eq!(state, Lexing::Text(1));
    }

    proptest::proptest! {
        #[test]
        fn any_line_is_read_to_its_end(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..60), which in 0usize..9) {
            let path = ["a.rs", "a.c", "a.py", "a.sql", "a.lua", "a.js", "a.html", "a.yml", "a.hs"][which];
            let mut end = 0;
            let _ = classes(language(path.as_bytes()).unwrap(), Lexing::Plain, &bytes, |range, _| {
                assert!(range.start >= end && range.end <= bytes.len());
                end = range.end;
            });
        }
    }
}
