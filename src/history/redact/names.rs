//! Names like those of secrets: `DB_PASSWORD`, `apiKey`, `client-secret`.

use std::ops::Range;

use super::shapes::begins_here;

/// Every such name has one of these in it.
pub const WORDS: [&str; 8] = [
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "credential",
    "creds",
    "auth",
];

/// How much a name says of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// The value is secret, whatever it looks like: a password.
    Password,
    /// It is secret if it is more than a word.
    Secret,
    /// It is secret if it looks random.
    Key,
    /// It is secret if it looks random and is long.
    Hint,
}

/// A word in a text that may name a secret.
pub struct Name {
    /// Where it stands.
    pub range: Range<usize>,
    /// What it says.
    pub weight: Option<Weight>,
    /// Is it an option of a command: `--password`?
    pub is_option: bool,
    /// Is it written as variables of the environment are?
    pub is_loud: bool,
}

impl Name {
    /// The name that this is a part of.
    pub fn around(text: &str, part: Range<usize>) -> Self {
        let bytes = text.as_bytes();
        let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
        let before = bytes[..part.start]
            .iter()
            .rev()
            .take_while(is_part)
            .take(LONGEST)
            .count();
        let behind = bytes[part.end..]
            .iter()
            .take_while(is_part)
            .take(LONGEST)
            .count();
        let (mut start, mut end) = (part.start - before, part.end + behind);
        // `\nTOKEN=` in a string.
        if start > 0
            && begins_here(bytes, start + 1)
            && bytes[start - 1] == b'\\'
            && start < part.start
        {
            start += 1;
        }
        let word = &text[start..end];
        let is_option = word.starts_with('-') && word.len() > 2;
        start += word.len() - word.trim_start_matches(['-', '.']).len();
        end -= word.len() - word.trim_end_matches(['-', '.']).len();
        let end = end.max(part.start);
        let start = start.min(end);
        let name = &text[start..end];
        Self {
            weight: weigh(name),
            is_loud: !name
                .bytes()
                .any(|byte| byte.is_ascii_lowercase() || b"-.".contains(&byte)),
            range: start..end,
            is_option,
        }
    }
}

const LONGEST: usize = 80;

/// Parts that may follow without changing what is named.
const ENDINGS: [&str; 22] = [
    "base64",
    "b64",
    "prod",
    "production",
    "dev",
    "development",
    "staging",
    "stage",
    "test",
    "live",
    "value",
    "val",
    "old",
    "new",
    "default",
    "plain",
    "raw",
    "primary",
    "secondary",
    "base",
    "string",
    "header",
];

/// A `key` behind one of these opens something.
const KEYS: [&str; 24] = [
    "api",
    "access",
    "secret",
    "private",
    "signing",
    "encryption",
    "master",
    "account",
    "auth",
    "shared",
    "deploy",
    "ssh",
    "crypto",
    "hmac",
    "jwt",
    "session",
    "admin",
    "service",
    "root",
    "license",
    "webhook",
    "app",
    "application",
    "subscription",
];

/// A `token` behind one of these is a place in a list, or a part of speech.
const HARMLESS: [&str; 26] = [
    "next",
    "page",
    "continuation",
    "sync",
    "cancellation",
    "cancel",
    "parse",
    "syntax",
    "lexer",
    "eos",
    "bos",
    "pad",
    "unk",
    "mask",
    "sep",
    "cls",
    "max",
    "min",
    "start",
    "end",
    "stop",
    "separator",
    "special",
    "design",
    "paging",
    "cursor",
];

/// What a name says of its value; `None` where it is not like that of a secret.
pub fn weigh(name: &str) -> Option<Weight> {
    if name.len() > 2 * LONGEST {
        return None;
    }
    let mut parts = parts(name);
    while parts.len() > 1
        && parts
            .last()
            .is_some_and(|last| ENDINGS.contains(&last.as_str()) || is_number(last))
    {
        parts.pop();
    }
    let last = parts.pop()?;
    let last = last.trim_end_matches(|c: char| c.is_ascii_digit());
    let before = parts.last().map_or("", String::as_str);
    let ends = |words: &[&str]| words.iter().any(|word| last.ends_with(word));
    match last {
        "pass" if before.is_empty() => Some(Weight::Hint),
        "pwd" | "passcode" | "requirepass" => Some(Weight::Password),
        "pass" => Some(Weight::Password),
        "secret" => Some(Weight::Secret),
        "token" if HARMLESS.contains(&before) => None,
        "key" if KEYS.contains(&before) => Some(Weight::Key),
        "passkey" | "authkey" | "masterkey" => Some(Weight::Key),
        "credential" | "credentials" | "creds" | "authorization" => Some(Weight::Key),
        "auth" => Some(Weight::Hint),
        _ if ends(&[
            "password",
            "passwd",
            "passphrase",
            "passwort",
            "dbpass",
            "userpass",
        ]) =>
        {
            Some(Weight::Password)
        }
        _ if ends(&["secret"]) => Some(Weight::Secret),
        _ if ends(&[
            "token",
            "apikey",
            "accesskey",
            "secretkey",
            "privatekey",
            "accountkey",
        ]) =>
        {
            Some(Weight::Key)
        }
        _ => None,
    }
}

fn is_number(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_digit())
}

/// `clientSecret`, `CLIENT_SECRET`, `client-secret` and `APISecret` taken apart, in lower case.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let chars: Vec<char> = name.chars().collect();
    for (at, c) in chars.iter().enumerate() {
        if !c.is_alphanumeric() {
            parts.push(String::new());
            continue;
        }
        let before = at.checked_sub(1).map(|before| chars[before]);
        let next = chars.get(at + 1);
        let ends_lower = before.is_some_and(|c| c.is_lowercase() || c.is_ascii_digit());
        let ends_upper =
            before.is_some_and(char::is_uppercase) && next.is_some_and(|c| c.is_lowercase());
        if c.is_uppercase() && (ends_lower || ends_upper) {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut() {
            part.extend(c.to_lowercase());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}
