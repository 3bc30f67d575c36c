//! What stands in headers of HTTP and in URLs: credentials, cookies, passwords.

use std::ops::Range;

use super::values::{Opened, is_nothing, is_random, opened};
use super::{Finding, near};

/// What such a place is announced by.
#[derive(Clone, Copy)]
pub enum Header {
    /// `Authorization: …`
    Authorization,
    /// `Bearer …`, wherever it stands.
    Bearer,
    /// `Cookie: …`, `Set-Cookie: …`
    Cookie,
    /// `://user:password@`
    Url,
}

/// The words that announce them.
pub const WORDS: [(&str, Header); 4] = [
    ("authorization", Header::Authorization),
    ("bearer ", Header::Bearer),
    ("cookie", Header::Cookie),
    ("://", Header::Url),
];

const AUTHORIZATION: &str = "authorization header";
const COOKIE: &str = "cookie";
const URL: &str = "url password";

/// The schemes that a header begins with, and whether the rest of the line belongs to it.
const SCHEMES: [(&str, bool); 12] = [
    ("bearer", false),
    ("basic", false),
    ("token", false),
    ("bot", false),
    ("apikey", false),
    ("api-key", false),
    ("key", false),
    ("negotiate", false),
    ("ntlm", false),
    ("digest", true),
    ("oauth", true),
    ("aws4-hmac-sha256", true),
];

impl Header {
    /// Adds what is secret behind such a word.
    pub fn after(self, text: &str, word: Range<usize>, found: &mut Vec<Finding>) {
        match self {
            Header::Authorization => found.extend(authorization(text, word)),
            Header::Bearer => {
                let run = credential(&text[word.end..]);
                if is_random(run) && run.len() >= 16 {
                    found.push(Finding::new(AUTHORIZATION, word.end..word.end + run.len()));
                }
            }
            Header::Cookie => cookies(text, word.end, found),
            Header::Url => found.extend(url_password(text, word.end)),
        }
    }
}

fn authorization(text: &str, word: Range<usize>) -> Option<Finding> {
    let Opened { at, quote, .. } = opened(text, word.end)?;
    let line = near(&text[at..]);
    // A header that stands in quotes as a whole ends with them.
    let around = text[..word.start].chars().next_back();
    let around = around.filter(|c| "\"'`".contains(*c) && quote.is_empty());
    let ends = [quote.chars().next_back().or(around).unwrap_or('\n'), '\n'];
    let line = &line[..line.find(ends).unwrap_or(line.len())];
    let line = line.trim_end_matches('\\');
    for (scheme, is_whole_line) in SCHEMES {
        let has_scheme = line
            .get(..scheme.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(scheme));
        if !has_scheme || !line[scheme.len()..].starts_with(' ') {
            continue;
        }
        let blanks = line[scheme.len()..].len() - line[scheme.len()..].trim_start().len();
        let from = scheme.len() + blanks;
        let run = match is_whole_line && line.contains('=') {
            true => line[from..].trim_end(),
            false => credential(&line[from..]),
        };
        return is_credential(run)
            .then(|| Finding::new(AUTHORIZATION, at + from..at + from + run.len()));
    }
    let run = credential(line);
    (run.len() >= 16 && is_random(run)).then(|| Finding::new(AUTHORIZATION, at..at + run.len()))
}

/// The characters that a credential is made of.
fn credential(text: &str) -> &str {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~+/=:|!@#%^&*".contains(byte);
    let length = text.bytes().take_while(|byte| is_part(byte)).count();
    text[..length].trim_end_matches(['.', ',', ':'])
}

fn is_credential(run: &str) -> bool {
    let has = |is: fn(&u8) -> bool| run.bytes().any(|byte| is(&byte));
    let is_mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    let is_odd = has(u8::is_ascii_digit) || is_mixed || run.len() >= 24;
    // `config.token`
    let is_dotted = run.contains('.') && !has(u8::is_ascii_digit);
    run.len() >= 6 && is_odd && !is_dotted && !is_nothing(run)
}

/// The values of cookies that may open a session.
fn cookies(text: &str, end: usize, found: &mut Vec<Finding>) {
    let Some(opened) = opened(text, end).filter(|opened| opened.separator == ':') else {
        return;
    };
    let line = near(&text[opened.at..]);
    let line = &line[..line
        .find(['"', '\'', '`', '\n', '\\'])
        .unwrap_or(line.len())];
    let mut at = opened.at;
    for pair in line.split(';') {
        if let Some((_, value)) = pair.split_once('=') {
            let value = value.trim_end();
            let from = at + pair.find('=').map_or(0, |equals| equals + 1);
            if value.len() >= 16 && is_random(value) {
                found.push(Finding::new(COOKIE, from..from + value.len()));
            }
        }
        at += pair.len() + 1;
    }
}

fn url_password(text: &str, end: usize) -> Option<Finding> {
    let is_end = |c: char| c.is_whitespace() || c.is_control() || "/?\"'`<>()\\,;".contains(c);
    let authority = &text[end..];
    let length = authority.find(is_end).unwrap_or(authority.len());
    let (user_info, _) = authority[..length].rsplit_once('@')?;
    let (user, password) = match user_info.split_once(':') {
        Some((user, password)) => (user, password),
        // A token stands there alone.
        None if user_info.len() >= 20 && is_random(user_info) => ("", user_info),
        None => return None,
    };
    let is_one =
        !is_nothing(password) && password != user && !password.starts_with(['$', '{', '%', '[']);
    let until = end + user_info.len();
    is_one.then(|| Finding::new(URL, until - password.len()..until))
}
