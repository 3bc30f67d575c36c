//! Redaction: secrets are taken out of text before it is written.
//!
//! What is found is replaced by `[redacted: <kind>]`; all else stays to the letter. It looks at text alone: the shapes of
//! known tokens ([`shapes`]), key blocks ([`blocks`]), headers, cookies and URLs ([`headers`]), options of commands
//! ([`commands`]), values of what is named like a secret ([`names`], [`values`]), long random words ([`entropy`]), and
//! what the user's own patterns match ([`own`]). The contents of files are never redacted: they must come back exactly.

mod blocks;
mod commands;
mod entropy;
mod headers;
mod names;
mod own;
mod shapes;
mod values;

use std::borrow::Cow;
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::gitengine::Settings;

use self::commands::Given;
use self::headers::Header;
use self::names::Name;
use self::own::Own;
use self::shapes::Shape;

/// No value and no line is looked at further than this: the time that a text takes grows with its length alone.
const FARTHEST: usize = 8192;

/// The beginning of a text, as far as it is looked at.
fn near(text: &str) -> &str {
    &text[..text.floor_char_boundary(FARTHEST)]
}

/// What stands on the line before this, as far back as it is looked at. The beginning of a line that is longer is none.
fn line_before(text: &str) -> &str {
    let from = text.ceil_char_boundary(text.len().saturating_sub(200));
    let line = &text[from..];
    line.rfind(['\n', '\r']).map_or(line, |at| &line[at + 1..])
}

/// The setting with the user's own patterns.
pub const SETTING: &str = "edio.redact";

/// Something secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is, in words: `github token`, `secret value`.
    pub kind: &'static str,
    /// Where it stands, in bytes.
    pub range: Range<usize>,
}

impl Finding {
    fn new(kind: &'static str, range: Range<usize>) -> Self {
        Self { kind, range }
    }
}

/// Takes secrets out of texts.
pub struct Redactor {
    words: AhoCorasick,
    announced: Vec<Announced>,
    own: Own,
}

/// What a word that is searched for announces.
#[derive(Clone, Copy)]
enum Announced {
    Shape(&'static Shape),
    Block,
    Header(Header),
    Command(Given),
    /// A name like that of a secret, which the word is a part of.
    Name,
}

fn announcing() -> impl Iterator<Item = (&'static str, Announced)> {
    let shapes = shapes::SHAPES.iter();
    let headers = headers::WORDS.iter();
    let commands = commands::WORDS.iter();
    let names = names::WORDS.iter();
    (shapes.map(|shape| (shape.prefix, Announced::Shape(shape))))
        .chain([(blocks::BEGIN, Announced::Block)])
        .chain(headers.map(|(word, header)| (*word, Announced::Header(*header))))
        .chain(commands.map(|(word, given)| (*word, Announced::Command(*given))))
        .chain(names.map(|word| (*word, Announced::Name)))
}

impl Redactor {
    /// With the patterns that the user has set.
    ///
    /// # Errors
    ///
    /// A pattern is no regular expression.
    pub fn set(settings: &Settings) -> Result<Self> {
        Self::new(&own::patterns(settings))
    }

    /// The same, without the patterns that are no regular expressions: for where nothing may stop.
    pub fn set_leniently(settings: &Settings) -> (Self, Vec<Error>) {
        Self::lenient(&own::patterns(settings))
    }

    /// With these patterns of the user's own, beside what edio knows.
    ///
    /// # Errors
    ///
    /// A pattern is no regular expression.
    pub fn new(own: &[String]) -> Result<Self> {
        let (redactor, errors) = Self::lenient(own);
        errors.into_iter().next().map_or(Ok(redactor), Err)
    }

    /// The same, without the patterns that are no regular expressions.
    pub fn lenient(own: &[String]) -> (Self, Vec<Error>) {
        let (own, errors) = Own::read(own);
        let (words, announced): (Vec<_>, Vec<_>) = announcing().unzip();
        let words = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::DFA))
            .build(words);
        let redactor = Self {
            // It fails for words that are far too many, and these are always the same.
            words: words.unwrap_or_else(|_| unreachable!()),
            announced,
            own,
        };
        (redactor, errors)
    }

    /// The text without its secrets. What is redacted already stays as it is.
    pub fn text(&self, text: &str) -> String {
        self.redacted(text).into_owned()
    }

    /// A JSON value without its secrets: each string by [`Self::text`], and wholly where its key is named like a secret.
    pub fn json(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(values) => values.iter().map(|value| self.json(value)).collect(),
            Value::Object(fields) => {
                let is_named = fields
                    .get("name")
                    .or_else(|| fields.get("key"))
                    .and_then(Value::as_str)
                    .is_some_and(|name| names::weigh(name).is_some());
                let field = |(key, value): (&String, &Value)| {
                    let is_secret = is_named && key == "value" || names::weigh(key).is_some();
                    let value = match is_secret {
                        true => self.secret(value),
                        false => self.json(value),
                    };
                    (key.clone(), value)
                };
                Value::Object(fields.iter().map(field).collect())
            }
            other => other.clone(),
        }
    }

    /// What stands under a key that is named like a secret.
    fn secret(&self, value: &Value) -> Value {
        match value {
            Value::String(text) if values::is_nothing(text) || is_marker(text) => value.clone(),
            Value::String(_) => Value::String(marker(values::SECRET)),
            Value::Array(values) => values.iter().map(|value| self.secret(value)).collect(),
            other => self.json(other),
        }
    }

    /// What is secret in the text, in order; no two of them overlap.
    pub fn found(&self, text: &str) -> Vec<Finding> {
        let markers = markers(text);
        let mut found = self.own.found(text);
        self.announced(text, &markers, &mut found);
        entropy::find(text, &mut found);
        without(merged(found), &markers)
    }

    fn redacted<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        // What is taken out can bring something to light beside it. Each round leaves less that is no marker.
        loop {
            let found = self.found(&text);
            if found.is_empty() {
                return text;
            }
            text = Cow::Owned(replaced(&text, &found));
        }
    }

    fn announced(&self, text: &str, markers: &[Range<usize>], found: &mut Vec<Finding>) {
        let mut named = 0;
        // Where a token stands in a header, it is called by its name.
        let mut tokens = Vec::new();
        let mut rest = Vec::new();
        for hit in self.words.find_iter(text) {
            let at = hit.start();
            let next = markers.partition_point(|marker| marker.end <= at);
            if markers.get(next).is_some_and(|marker| marker.start <= at) {
                continue;
            }
            let announced = self.announced[hit.pattern().as_usize()];
            match announced {
                Announced::Shape(shape) => tokens.extend(shape.at(text, at)),
                Announced::Block => tokens.extend(blocks::at(text, at)),
                Announced::Header(header) => header.after(text, hit.range(), &mut rest),
                Announced::Command(given) => rest.extend(given.after(text, hit.range())),
                Announced::Name => {}
            }
            // `key-` begins a token, and may be a part of a name as well.
            let may_name = match announced {
                Announced::Name => true,
                Announced::Shape(shape) => shape.prefix.contains("key"),
                _ => false,
            };
            if may_name && at >= named {
                let name = Name::around(text, hit.range());
                named = name.range.end;
                rest.extend(values::of(text, &name));
            }
        }
        found.append(&mut tokens);
        found.append(&mut rest);
    }
}

/// What stands for something that was taken out.
fn marker(kind: &str) -> String {
    format!("{MARKER}{kind}]")
}

const MARKER: &str = "[redacted: ";

fn is_marker(text: &str) -> bool {
    markers(text).first() == Some(&(0..text.len()))
}

/// Where something was taken out already.
fn markers(text: &str) -> Vec<Range<usize>> {
    let marker = |(at, _): (usize, &str)| {
        let kind = &text.as_bytes()[at + MARKER.len()..];
        let is_kind = |byte: &u8| byte.is_ascii_lowercase() || *byte == b' ';
        let length = kind.iter().take_while(|byte| is_kind(byte)).count();
        let is_whole = (1..=LONGEST_KIND).contains(&length) && kind.get(length) == Some(&b']');
        is_whole.then_some(at..at + MARKER.len() + length + 1)
    };
    text.match_indices(MARKER).filter_map(marker).collect()
}

const LONGEST_KIND: usize = 30;

/// In order, and those that overlap as one. Of its kinds it has the one that was found first.
fn merged(found: Vec<Finding>) -> Vec<Finding> {
    let mut found: Vec<(usize, Finding)> = found.into_iter().enumerate().collect();
    found.sort_by_key(|(rank, finding)| (finding.range.start, *rank));
    let mut merged: Vec<(usize, Finding)> = Vec::new();
    for (rank, finding) in found {
        match merged.last_mut() {
            Some((best, last)) if finding.range.start < last.range.end => {
                last.range.end = last.range.end.max(finding.range.end);
                if rank < *best {
                    (*best, last.kind) = (rank, finding.kind);
                }
            }
            _ => merged.push((rank, finding)),
        }
    }
    merged.into_iter().map(|(_, finding)| finding).collect()
}

/// What of it is not redacted already.
fn without(found: Vec<Finding>, markers: &[Range<usize>]) -> Vec<Finding> {
    if markers.is_empty() {
        return found;
    }
    let mut left = Vec::new();
    for Finding { kind, range } in found {
        let mut start = range.start;
        let next = markers.partition_point(|marker| marker.end <= start);
        let inside = markers[next..]
            .iter()
            .take_while(|marker| marker.start < range.end);
        for marker in inside {
            left.push(Finding::new(kind, start..marker.start.max(start)));
            start = marker.end;
        }
        left.push(Finding::new(kind, start..range.end.max(start)));
    }
    left.retain(|finding| !finding.range.is_empty());
    left
}

fn replaced(text: &str, found: &[Finding]) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut at = 0;
    for finding in found {
        replaced.push_str(&text[at..finding.range.start]);
        replaced.push_str(&marker(finding.kind));
        at = finding.range.end;
    }
    replaced.push_str(&text[at..]);
    replaced
}
