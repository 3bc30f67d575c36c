//! Values of what is named like a secret: `NAME=value`, `name: "value"`, `--name value`; and which of them are none.

use super::names::{Name, Weight};
use super::{Finding, line_before, near};

/// The kind of what is secret by its name.
pub const SECRET: &str = "secret value";

/// Where a value begins.
#[derive(Clone, Copy, Debug)]
pub struct Opened<'a> {
    /// Its first byte.
    pub at: usize,
    /// The quote that it stands in, with the backslashes before it; empty where there is none.
    pub quote: &'a str,
    /// What stands between it and its name; for more than one character the first, a blank for nothing but blanks.
    pub separator: char,
    /// Does it stand close to its separator, and that to the name?
    pub is_tight: bool,
}

/// The value of what is named up to here, if one is said.
pub fn opened(text: &str, end: usize) -> Option<Opened<'_>> {
    let rest = &text[end..];
    let closed = rest.len() - after_quote(rest).unwrap_or(rest).len();
    let after = rest[closed..].strip_prefix(']').unwrap_or(&rest[closed..]);
    let separated = after.trim_start_matches([' ', '\t']);
    let separators = [
        "===", "!==", "==", "!=", ":=", "=>", "?=", "+=", "=", ":", ",", ">",
    ];
    let separator = separators
        .into_iter()
        .find(|sign| separated.starts_with(sign))?;
    if separator == "," && closed == 0 {
        return None;
    }
    let behind = &separated[separator.len()..];
    let value = behind.trim_start_matches([' ', '\t']);
    let is_tight = separated.len() == after.len() && value.len() == behind.len();
    let (at, quote) = quoted_from(text, text.len() - value.len());
    Some(Opened {
        at,
        quote,
        separator: separator.chars().next()?,
        is_tight,
    })
}

/// The value that follows a name after a blank: of an option, or in a sentence.
fn spaced<'a>(text: &'a str, name: &Name) -> Option<Opened<'a>> {
    let rest = &text[name.range.end..];
    let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let mut at = name.range.end + blanks;
    if blanks == 0 {
        return None;
    }
    if !name.is_option {
        let is_said = ["is ", "was "]
            .into_iter()
            .find(|word| text[at..].starts_with(word));
        at += is_said.map_or(0, str::len);
        let is_quoted = !quoted_from(text, at).1.is_empty();
        if !(is_said.is_some() || is_quoted || is_told(text, name)) {
            return None;
        }
    }
    let (at, quote) = quoted_from(text, at);
    Some(Opened {
        at,
        quote,
        separator: ' ',
        is_tight: false,
    })
}

/// `machine … login … password X`, `requirepass X`, `set -x TOKEN X`
fn is_told(text: &str, name: &Name) -> bool {
    let line = line_before(&text[..name.range.start]);
    match &text[name.range.clone()] {
        "password" => line.contains("login "),
        "requirepass" | "masterauth" => true,
        _ => name.is_loud && line.trim_start().starts_with("set ") && line.contains(" -"),
    }
}

/// `name: DB_PASSWORD`, and on the next line `value: …`
fn listed<'a>(text: &'a str, name: &Name) -> Option<Opened<'a>> {
    let before = text[..name.range.start].trim_end_matches([' ', '"', '\'', '\\']);
    let before = before
        .strip_suffix(':')?
        .trim_end_matches(['"', '\'', '\\']);
    before.ends_with("name").then_some(())?;
    let rest = &text[name.range.end..];
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || "\"',\\".contains(c));
    let after = rest.strip_prefix("value")?;
    opened(text, text.len() - after.len())
}

/// Where a value that stands here begins, behind its quote, and that quote.
pub fn quoted_from(text: &str, at: usize) -> (usize, &str) {
    let rest = &text[at..];
    let prefix = usize::from(rest.starts_with(['f', 'b', 'r', 'u', '@', '$', 'L']));
    for skipped in [0, prefix] {
        if let Some(after) = after_quote(&rest[skipped..]) {
            let inside = text.len() - after.len();
            return (inside, &text[at + skipped..inside]);
        }
    }
    (at, "")
}

/// What comes behind a quote, if one stands here.
fn after_quote(text: &str) -> Option<&str> {
    text.trim_start_matches('\\').strip_prefix(['"', '\'', '`'])
}

/// What is secret of what this name is given.
pub fn of(text: &str, name: &Name) -> Option<Finding> {
    let weight = name
        .weight
        .filter(|_| !text[..name.range.start].ends_with("://"))?;
    let opened = opened(text, name.range.end)
        .or_else(|| listed(text, name))
        .or_else(|| spaced(text, name))?;
    let value = match opened.quote {
        "" => match bare(text, name, &opened) {
            value if is_secret_bare(value, weight, name, &opened) => value,
            _ => return typed(text, weight, &opened),
        },
        quote => inside(&text[opened.at..], quote),
    };
    let is_secret = opened.quote.is_empty() || is_secret_quoted(value, weight, opened.separator);
    is_secret.then(|| Finding::new(SECRET, opened.at..opened.at + value.len()))
}

/// What a type stands before: `token: &str = "…"`.
fn typed(text: &str, weight: Weight, opened: &Opened) -> Option<Finding> {
    let is_type = |c: char| c.is_alphanumeric() || "_&<>' .?:|[]".contains(c);
    let rest = near(&text[opened.at..]);
    let length = rest.find(|c| !is_type(c)).filter(|length| *length < 60)?;
    let equals = rest[length..].strip_prefix('=')?;
    let (at, quote) = quoted_from(text, text.len() - equals.trim_start().len());
    let value =
        (opened.separator == ':' && !quote.is_empty()).then(|| inside(&text[at..], quote))?;
    is_secret_quoted(value, weight, '=').then(|| Finding::new(SECRET, at..at + value.len()))
}

/// What stands between such a quote and the next; to the end of the line where that is missing.
pub fn inside<'a>(text: &'a str, quote: &str) -> &'a str {
    let text = near(text);
    let line = &text[..text.find(['\n', '\r']).unwrap_or(text.len())];
    let end = line.match_indices(quote).map(|(at, _)| at);
    let mut end = end.filter(|at| {
        quote.len() > 1 || !line[..*at].ends_with('\\') || line[..*at].ends_with("\\\\")
    });
    &line[..end.next().unwrap_or(line.len())]
}

/// A value without quotes. At the beginning of a line it goes on to the next blank.
fn bare<'a>(text: &'a str, name: &Name, opened: &Opened) -> &'a str {
    let rest = near(&text[opened.at..]);
    let is_alone = opens_line(&text[..name.range.start]);
    let is_end = |c: char| {
        c.is_whitespace()
            || "\"'`".contains(c)
            || !is_alone && ",;&)}]<>|\\".contains(c)
            || opened.separator == '>' && c == '<'
    };
    let value = &rest[..rest.find(is_end).unwrap_or(rest.len())];
    let value = value.split("\\n").next().unwrap_or(value);
    value.trim_end_matches([',', ';', ')', '}', ']', '.', '\\'])
}

/// Does nothing stand before it on its line but what begins one?
fn opens_line(before: &str) -> bool {
    let line = line_before(before);
    let line = line.rsplit("\\n").next().unwrap_or(line);
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || "+-$>#".contains(c));
    matches!(
        line.trim_end(),
        "" | "export" | "set" | "ENV" | "ARG" | "setx" | "declare -x"
    )
}

fn is_secret_bare(value: &str, weight: Weight, name: &Name, opened: &Opened) -> bool {
    let is_variable = name.is_loud && opened.is_tight && opened.separator == '=';
    let is_code = value.contains(['(', '{', '[', '<', '"'])
        || !is_variable && value.contains([')', '}', ']', '>'])
        || ["::", "->", "://"].iter().any(|sign| value.contains(sign));
    let is_path =
        value.starts_with('/') && !(value.len() >= 32 && is_random(value) && !is_path(value));
    let is_reference = value.starts_with([
        '$', '&', '*', '|', '~', '%', '!', '.', '@', ':', '=', '-', '\\',
    ]);
    if is_code || is_path || is_reference || is_nothing(value) || is_dotted(value) {
        return false;
    }
    match weight {
        Weight::Password if is_variable => value.len() >= 4 && !is_named(value),
        Weight::Password => is_more_than_a_word(value) || is_random(value),
        Weight::Secret => is_more_than_a_word(value) && !are_words(value) || is_random(value),
        Weight::Key => is_random(value) || is_uuid(value),
        Weight::Hint => is_random(value) && value.len() >= 16,
    }
}

fn is_secret_quoted(value: &str, weight: Weight, separator: char) -> bool {
    let value = value.trim();
    let is_template = value.starts_with(['$', '{', '<', '%', '#', '/', '~'])
        || ["${", "{{", "<%", "#{", "://"]
            .iter()
            .any(|sign| value.contains(sign));
    if is_template || is_nothing(value) {
        return false;
    }
    if value.contains(char::is_whitespace) {
        return weight == Weight::Password && !is_sentence(value);
    }
    match weight {
        Weight::Password if matches!(separator, '=' | ':') => {
            value.len() >= 4 && !is_named(value) && !is_dotted(value) && !is_rule(value)
        }
        Weight::Password => is_more_than_a_word(value) || is_random(value),
        Weight::Secret => {
            is_more_than_a_word(value) && (!are_words(value) || !value.contains(['-', '_']))
        }
        Weight::Key => is_random(value) || is_uuid(value),
        Weight::Hint => is_random(value) && value.len() >= 16,
    }
}

/// Words that stand where a secret would, and are none: nothing, types, defaults that everybody knows.
const NOTHING: [&str; 62] = [
    "none",
    "null",
    "nil",
    "true",
    "false",
    "undefined",
    "string",
    "str",
    "text",
    "bytes",
    "object",
    "number",
    "int",
    "bool",
    "boolean",
    "any",
    "void",
    "option",
    "required",
    "optional",
    "nullable",
    "disabled",
    "enabled",
    "default",
    "value",
    "pass",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "key",
    "apikey",
    "credentials",
    "auth",
    "test",
    "testing",
    "foo",
    "bar",
    "baz",
    "user",
    "username",
    "admin",
    "root",
    "guest",
    "postgres",
    "mysql",
    "redis",
    "rabbitmq",
    "minio",
    "unknown",
    "empty",
    "hidden",
    "masked",
    "prompt",
    "stdin",
    "env",
    "basic",
    "bearer",
    "unset",
    "varchar",
];

/// Parts of what is written where a secret is to be put in.
const PLACEHOLDERS: [&str; 22] = [
    "your",
    "example",
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "change-this",
    "replace",
    "insert",
    "dummy",
    "redacted",
    "todo",
    "fixme",
    "xxxx",
    "****",
    "...",
    "…",
    "<",
    "put_",
    "put-",
    "mysecret",
    "fill_",
];

/// Is it no secret, whatever it is named?
pub fn is_nothing(value: &str) -> bool {
    let value = value.trim();
    let lower = value.to_lowercase();
    let mut chars = lower.chars();
    let first = chars.next();
    let is_one_character = chars.all(|c| Some(c) == first);
    is_one_character || NOTHING.contains(&lower.as_str()) || is_placeholder(value)
}

/// Is it written where a secret is to be put in?
pub fn is_placeholder(value: &str) -> bool {
    let lower = value.to_lowercase();
    PLACEHOLDERS.iter().any(|part| lower.contains(part))
}

/// Words that have a digit.
const TECHNICAL: [&str; 24] = [
    "sha1", "sha224", "sha256", "sha384", "sha512", "md5", "base64", "base32", "base58", "oauth1",
    "oauth2", "utf8", "ed25519", "hs256", "hs512", "rs256", "es256", "argon2", "argon2id",
    "pbkdf2", "int32", "int64", "uint8", "x509",
];

/// Is it a name of a secret, rather than one?
fn is_named(value: &str) -> bool {
    let lower = value.to_lowercase();
    let has_noun = [
        "passw",
        "secret",
        "token",
        "credential",
        "pwd",
        "apikey",
        "api_key",
        "passphrase",
    ]
    .iter()
    .any(|noun| lower.contains(noun));
    let mut chars = value.chars();
    let is_capitalised =
        chars.next().is_some_and(char::is_uppercase) && chars.all(char::is_lowercase);
    has_noun && are_words(value) || is_capitalised || TECHNICAL.contains(&lower.as_str())
}

/// `user.pw`, `form.fields`.
fn is_dotted(value: &str) -> bool {
    let is_name = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_alphanumeric() || c == '_')
            && (are_words(part) || part.len() < 8)
    };
    value.contains('.') && value.split('.').all(is_name)
}

/// `required|min:8`
fn is_rule(value: &str) -> bool {
    value.contains(['|', ':', ','])
        && value
            .split(['|', ':', ','])
            .any(|part| NOTHING.contains(&part))
}

pub fn is_more_than_a_word(value: &str) -> bool {
    let is_odd =
        |c: char| c.is_ascii_digit() || c.is_ascii_punctuation() && !"-_.,:;/?".contains(c);
    value.len() >= 6
        && value.contains(is_odd)
        && !is_named(value)
        && !is_dotted(value)
        && !is_date_or_version(value)
}

fn is_date_or_version(value: &str) -> bool {
    let is_part = |c: char| c.is_ascii_digit() || ".-:/TZv^~".contains(c);
    value.contains(['.', '-', ':', '/']) && value.chars().all(is_part)
}

/// Words and numbers, with signs between them.
fn are_words(value: &str) -> bool {
    value.split(|c: char| !c.is_alphanumeric()).all(is_word)
}

/// Letters, then a few digits at most.
fn is_word(part: &str) -> bool {
    let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
    part.len() - letters.len() <= 4 && part.len() <= 30 && letters.chars().all(char::is_alphabetic)
}

/// Is it a text for people to read?
fn is_sentence(value: &str) -> bool {
    const WORDS: [&str; 48] = [
        "a",
        "an",
        "and",
        "are",
        "at",
        "be",
        "by",
        "can",
        "de",
        "do",
        "does",
        "enter",
        "for",
        "forgot",
        "from",
        "has",
        "have",
        "in",
        "incorrect",
        "invalid",
        "is",
        "it",
        "least",
        "match",
        "missing",
        "must",
        "no",
        "not",
        "of",
        "on",
        "or",
        "password",
        "passwords",
        "please",
        "reset",
        "secret",
        "should",
        "show",
        "that",
        "the",
        "this",
        "to",
        "too",
        "was",
        "with",
        "wrong",
        "your",
        "you",
    ];
    let lower = value.to_lowercase();
    let mut words = lower.split_whitespace();
    words.any(|word| WORDS.contains(&word.trim_matches(|c: char| !c.is_alphanumeric())))
        || value.ends_with(['.', '?', '!', ':'])
        || value.starts_with(char::is_uppercase) && !value.contains(|c: char| c.is_ascii_digit())
}

fn is_uuid(value: &str) -> bool {
    let lengths = value.split('-').map(str::len);
    value.len() == 36
        && lengths.eq([8, 4, 4, 4, 12])
        && value
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// A part of it is a word of one case: a path, or a name.
pub fn is_path(value: &str) -> bool {
    value.split('/').any(|part| {
        let is_lower = part.bytes().all(|byte| byte.is_ascii_lowercase());
        part.len() >= 4 && (is_lower || part.bytes().all(|byte| byte.is_ascii_uppercase()))
    })
}

/// Is it a word that nobody would think of?
pub fn is_random(value: &str) -> bool {
    if value.len() < 8 || is_nothing(value) || is_uuid(value) || is_date_or_version(value) {
        return false;
    }
    // Names in camel case turn at each fourth letter or so.
    let is_odd = |part: &str| {
        let traits = Traits::of(part.as_bytes());
        part.len() >= 10 && traits.uppers > 1 && traits.lowers > 1 && traits.turns(38)
    };
    let is_between = |c: char| c.is_ascii() && !c.is_ascii_alphanumeric() && !"+/".contains(c);
    if value.split(is_between).any(is_odd) {
        return true;
    }
    let run: Vec<u8> = value.bytes().filter(u8::is_ascii_alphanumeric).collect();
    let traits = Traits::of(&run);
    let is_mixed = run.len() >= 16 && traits.is_mixed() && traits.turns(28);
    !are_words(value) && (traits.switches >= 3 || is_mixed)
}

/// What a run of letters and digits looks like.
pub struct Traits {
    /// How many digits it has.
    pub digits: usize,
    /// How often a digit follows a letter, or a letter a digit.
    pub switches: usize,
    turns: usize,
    length: usize,
    uppers: usize,
    lowers: usize,
}

impl Traits {
    /// Those of this run.
    pub fn of(run: &[u8]) -> Self {
        let count = |is: fn(&u8) -> bool| run.iter().filter(|byte| is(byte)).count();
        let pairs = || run.iter().zip(run.iter().skip(1));
        let is_switch = |a: &u8, b: &u8| a.is_ascii_digit() != b.is_ascii_digit();
        let is_turn =
            |a: &u8, b: &u8| is_switch(a, b) || a.is_ascii_alphabetic() && b.is_ascii_uppercase();
        Self {
            digits: count(u8::is_ascii_digit),
            switches: pairs().filter(|(a, b)| is_switch(a, b)).count(),
            turns: pairs().filter(|(a, b)| is_turn(a, b)).count(),
            length: run.len(),
            uppers: count(u8::is_ascii_uppercase),
            lowers: count(u8::is_ascii_lowercase),
        }
    }

    /// Do letters and digits change, or does an upper-case letter follow a letter, at so many of a hundred characters?
    pub fn turns(&self, percent: usize) -> bool {
        self.turns * 100 >= self.length * percent
    }

    /// Does it have digits, and letters of both cases?
    pub fn is_mixed(&self) -> bool {
        self.digits > 0 && self.uppers > 1 && self.lowers > 1
    }
}
