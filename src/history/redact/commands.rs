//! Passwords that commands are given in a way of their own: `mysql -pX`, `sshpass -p X`, `curl -u user:X`.

use std::ops::Range;

use super::values::{SECRET, inside, is_more_than_a_word, is_nothing, quoted_from};
use super::{Finding, near};

/// How a password follows.
#[derive(Clone, Copy)]
pub enum Given {
    /// At once.
    Here,
    /// After this option and a blank.
    After(&'static str),
    /// At once after this option.
    With(&'static str),
    /// After one of these options, a user and a colon.
    User([&'static str; 2]),
}

/// The words that announce one.
pub const WORDS: [(&str, Given); 8] = [
    ("sshpass ", Given::After(" -p")),
    ("docker login", Given::After(" -p")),
    ("podman login", Given::After(" -p")),
    ("redis-cli", Given::After(" -a")),
    ("mysql", Given::With(" -p")),
    ("mariadb", Given::With(" -p")),
    ("curl ", Given::User([" -u", " --user"])),
    ("identified by", Given::Here),
];

impl Given {
    /// The password on the line of such a word.
    pub fn after(self, text: &str, word: Range<usize>) -> Option<Finding> {
        // Its own blank may be the one before the option.
        let from = word.end - usize::from(text[..word.end].ends_with(' '));
        let line = near(&text[from..]);
        let line = &line[..line.find(['\n', '|']).unwrap_or(line.len())];
        let behind = |option: &str| {
            let at = line.find(option)? + option.len();
            let blanks = line[at..].len() - line[at..].trim_start().len();
            Some((from + at, blanks))
        };
        let spaced = |option| behind(option).filter(|(_, blanks)| *blanks > 0);
        let value = match self {
            Given::Here => {
                value(text, word.end + 1).filter(|value| text[..value.start].ends_with(['\'', '"']))
            }
            Given::After(option) => {
                spaced(option).and_then(|(at, blanks)| value(text, at + blanks))
            }
            Given::With(option) => behind(option)
                .filter(|(_, blanks)| *blanks == 0)
                .and_then(|(at, _)| value(text, at))
                .filter(|value| is_more_than_a_word(&text[value.clone()])),
            Given::User(options) => {
                let (at, blanks) = options.into_iter().find_map(spaced)?;
                let value = value(text, at + blanks)?;
                let user = text[value.clone()].find(':')? + 1;
                Some(value.start + user..value.end)
            }
        };
        let value = value?;
        let word = &text[value.clone()];
        let is_reference = word.starts_with(['$', '<', '{', '%', '-', '@']) || word.contains("${");
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        (word.len() >= 4 && !is_reference && !is_number && !is_nothing(word))
            .then(|| Finding::new(SECRET, value))
    }
}

/// The word that stands here, or what stands between quotes.
fn value(text: &str, at: usize) -> Option<Range<usize>> {
    text.get(at..)?;
    let (at, quote) = quoted_from(text, at);
    let rest = near(&text[at..]);
    let value = match quote {
        "" => {
            &rest[..rest
                .find(|c: char| c.is_whitespace() || "\"'`;".contains(c))
                .unwrap_or(rest.len())]
        }
        quote => inside(rest, quote),
    };
    Some(at..at + value.len())
}
