//! What `--json` prints: one object a line, with the version of the format first.

use std::io;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Value, json};

use crate::error::Error;
use crate::shell::drives_terminal;

/// The version of the format. It changes when a field changes its meaning or goes away.
const VERSION: u8 = 1;

/// A path: a string where it is UTF-8, else `{"bytes":"<base64>"}`.
pub fn path(bytes: &[u8]) -> Value {
    match str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => json!({ "bytes": STANDARD.encode(bytes) }),
    }
}

/// Paths, each as [`path`] gives it.
pub fn path_list<P: AsRef<[u8]>>(paths: impl IntoIterator<Item = P>) -> Value {
    paths
        .into_iter()
        .map(|bytes| path(bytes.as_ref()))
        .collect()
}

#[derive(Serialize)]
struct Versioned<'a, R: ?Sized> {
    v: u8,
    #[serde(flatten)]
    record: &'a R,
}

/// A record as a line, with its fields in their order. Fails if it is not an object.
pub(super) fn line(record: &(impl Serialize + ?Sized)) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut line, Harmless);
    let versioned = Versioned { v: VERSION, record };
    versioned.serialize(&mut serializer)?;
    line.push(b'\n');
    Ok(line)
}

/// Compact JSON in which also those characters are escaped that JSON allows and a terminal obeys.
struct Harmless;

impl Formatter for Harmless {
    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        for c in fragment.chars() {
            if drives_terminal(c) {
                write!(writer, "\\u{:04x}", u32::from(c))?;
            } else {
                write!(writer, "{c}")?;
            }
        }
        Ok(())
    }
}

#[derive(Serialize)]
pub(super) struct Failure<'a> {
    error: Details<'a>,
}

#[derive(Serialize)]
struct Details<'a> {
    kind: &'a str,
    exit_code: u8,
    message: String,
    causes: Vec<String>,
    hints: &'a [String],
}

/// An error as a record.
pub(super) fn failure(error: &Error) -> Failure<'_> {
    Failure {
        error: Details {
            kind: error.kind().name(),
            exit_code: error.kind().exit_code(),
            message: error.to_string(),
            causes: error.causes(),
            hints: error.hints(),
        },
    }
}

/// A warning as a record.
#[derive(Serialize)]
pub(super) struct Warning {
    pub(super) warning: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Turn<'a> {
        turn: u32,
        message: &'a str,
        agent: Option<&'a str>,
    }

    fn text(record: &impl Serialize) -> String {
        String::from_utf8(line(record).unwrap()).unwrap()
    }

    #[test]
    fn the_version_comes_first_and_the_fields_keep_their_order() {
        let record = Turn {
            turn: 7,
            message: "a \"b\"\n",
            agent: None,
        };
        assert_eq!(
            text(&record),
            "{\"v\":1,\"turn\":7,\"message\":\"a \\\"b\\\"\\n\",\"agent\":null}\n"
        );
        assert_eq!(text(&json!({ "turn": 7 })), "{\"v\":1,\"turn\":7}\n");
    }

    #[test]
    fn only_an_object_is_a_record() {
        assert!(line(&[1, 2]).is_err());
        assert!(line("text").is_err());
    }

    #[test]
    fn a_terminal_obeys_nothing_in_it() {
        let message = "\x1b[m a\u{9b}2J\u{7f}b\u{202e}é";
        let shown = text(&json!({ "message": message }));
        assert_eq!(
            shown,
            "{\"v\":1,\"message\":\"\\u001b[m a\\u009b2J\\u007fb\\u202eé\"}\n"
        );
        let read: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(read["message"], message);
    }

    #[test]
    fn a_path_is_text_or_bytes() {
        assert_eq!(path("größe".as_bytes()), json!("größe"));
        assert_eq!(path(b"\xff"), json!({ "bytes": "/w==" }));
        assert_eq!(
            path_list([&b"a"[..], b"\xff"]),
            json!(["a", { "bytes": "/w==" }])
        );
        assert_eq!(path_list(Vec::<Vec<u8>>::new()), json!([]));
    }

    #[test]
    fn an_error_tells_everything() {
        let error = Error::refused("can't restore")
            .because(io::Error::other("disk full"))
            .hint("edio gc");
        assert_eq!(
            text(&failure(&error)),
            concat!(
                r#"{"v":1,"error":{"kind":"refused","exit_code":3,"message":"can't restore","#,
                r#""causes":["disk full"],"hints":["edio gc"]}}"#,
                "\n"
            )
        );
    }
}
