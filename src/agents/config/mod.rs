//! Files of other programs, edited where they stand: what is put in, and what is taken out again.
//!
//! A file is never written anew from what it means. Its text is read as a syntax tree, and only what is edio's is added
//! to it or taken from it: comments, order, indentation, line ends and a byte order mark stay. Everything here turns bytes
//! into bytes.

mod json;
mod text;
mod toml;

use std::fmt;

/// A byte order mark, which some editors put first.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// JSON, where a comment or a comma at the end makes the program ignore the file.
    StrictJson,
    /// JSON with comments, but without commas at the end.
    CommentedJson,
    /// JSON with comments, and with commas at the end.
    Jsonc,
    /// TOML.
    Toml,
    /// Lines of text.
    Text,
}

/// A value that is put into a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A string.
    Text(&'static str),
    /// A number.
    Number(u32),
    /// A list.
    List(Vec<Value>),
    /// Names with values, in this order.
    Object(Vec<(&'static str, Value)>),
}

/// Something that a file is to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// An object under a name, at the end of a path of names. What it has already stays.
    Named(Vec<&'static str>, Value),
    /// An object in the list at the end of a path of names, after all others there.
    Listed(Vec<&'static str>, Value),
    /// A value that the file can't do without, where it has none.
    Needed(&'static str, Value),
    /// Lines that stand together, known by the first and the last of them.
    Lines(&'static str),
    /// All of the file.
    Whole(&'static str),
}

/// What one file is to have.
#[derive(Clone, Debug)]
pub struct Config {
    /// How the file is written.
    pub language: Language,
    /// What it is to have.
    pub entries: Vec<Entry>,
}

/// Does a file have what it is to have?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// All of it.
    Whole,
    /// Some of it.
    Half,
    /// Nothing.
    Nothing,
}

/// What a file is without edio's part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rest {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Is nothing left that means anything?
    pub is_empty: bool,
}

/// Why a file is left as it is, or what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong.
    pub what: String,
    /// Where: the line and the column, counted from 1.
    pub place: Option<(usize, usize)>,
}

impl Refusal {
    fn new(what: impl Into<String>) -> Self {
        let what = what.into();
        Self { what, place: None }
    }

    /// At this byte of the text.
    fn at(text: &str, byte: usize, what: impl Into<String>) -> Self {
        let before = text.get(..byte).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before[start..].chars().count() + 1;
        Self {
            what: what.into(),
            place: Some((line, column)),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some((line, column)) => write!(f, "line {line}, column {column}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

impl Config {
    /// The file with all that it is to have. Where it has that already, not a byte differs.
    ///
    /// # Errors
    ///
    /// It can't be read, or something else stands where edio's part belongs.
    pub fn put(&self, present: &[u8]) -> Result<Vec<u8>, Refusal> {
        let (mark, text) = read(present)?;
        let put = match self.language {
            Language::Toml => toml::put(text, &self.entries)?,
            Language::Text => text::put(text, &self.entries)?,
            _ => json::put(text, &self.entries)?,
        };
        Ok([mark, put.as_bytes()].concat())
    }

    /// The file without edio's part. What it had already before edio came, where that is known, stays.
    ///
    /// # Errors
    ///
    /// As for [`Config::put`].
    pub fn take_out(&self, present: &[u8], before: Option<&[u8]>) -> Result<Rest, Refusal> {
        let (mark, text) = read(present)?;
        let before = before.map(read).transpose()?.map_or("", |(_, text)| text);
        let rest = match self.language {
            Language::Toml => toml::take_out(text, before, &self.entries)?,
            Language::Text => text::take_out(text, before, &self.entries)?,
            _ => json::take_out(text, before, &self.entries)?,
        };
        let is_empty = match self.language {
            Language::Toml | Language::Text => rest.trim().is_empty(),
            _ => json::is_empty(&rest),
        };
        let bytes = [mark, rest.as_bytes()].concat();
        Ok(Rest { bytes, is_empty })
    }

    /// How much of what it is to have the file has.
    ///
    /// # Errors
    ///
    /// As for [`Config::put`].
    pub fn standing(&self, present: &[u8]) -> Result<Standing, Refusal> {
        let (_, text) = read(present)?;
        let has = match self.language {
            Language::Toml => toml::has(text, &self.entries)?,
            Language::Text => text::has(text, &self.entries),
            _ => json::has(text, &self.entries)?,
        };
        Ok(match (has.iter().all(|has| *has), has.contains(&true)) {
            (true, _) => Standing::Whole,
            (_, true) => Standing::Half,
            _ => Standing::Nothing,
        })
    }

    /// Where the file has something that makes the program ignore all of it, though edio can read it.
    pub fn ignored(&self, present: &[u8]) -> Option<Refusal> {
        let (_, text) = read(present).ok()?;
        json::ignored(text, self.language)
    }

    /// What to add by hand, as text.
    pub fn by_hand(&self) -> String {
        match self.language {
            Language::Toml => toml::by_hand(&self.entries),
            Language::Text => text::by_hand(&self.entries),
            _ => json::put("", &self.entries).unwrap_or_default(),
        }
    }

    /// Is it lines of text?
    pub fn is_text(&self) -> bool {
        self.language == Language::Text
    }

    /// Is all of the file edio's?
    pub fn is_whole_file(&self) -> bool {
        matches!(self.entries.as_slice(), [Entry::Whole(_)])
    }
}

/// The byte order mark, if there is one, and the text.
fn read(bytes: &[u8]) -> Result<(&[u8], &str), Refusal> {
    let rest = bytes.strip_prefix(MARK).unwrap_or(bytes);
    let mark = &bytes[..bytes.len() - rest.len()];
    match std::str::from_utf8(rest) {
        Ok(text) => Ok((mark, text)),
        Err(error) => {
            let valid = &rest[..error.valid_up_to()];
            let text = String::from_utf8_lossy(valid);
            Err(Refusal::at(&text, valid.len(), "it is not UTF-8"))
        }
    }
}

/// The line end that a text has.
fn line_end(text: &str) -> &'static str {
    match text.split_once('\n') {
        Some((line, _)) if line.ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Lines after all that a text has, with an empty line between.
fn with_lines(text: &str, lines: &str) -> String {
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

/// A text without the lines from one byte to another, and without the empty line before them.
fn without_lines(text: &str, from: usize, to: usize) -> String {
    let before = &text[..from];
    let empty = ["\r\n", "\n"].into_iter().find(|end| {
        let line = before.strip_suffix(end);
        line.is_some_and(|line| line.is_empty() || line.ends_with('\n'))
    });
    let before = empty
        .and_then(|end| before.strip_suffix(end))
        .unwrap_or(before);
    [before, &text[to..]].concat()
}
