//! The message of a commit of edio's: the text that a person or an agent gave, to the letter, and edio's trailers.
//!
//! The trailers are the last paragraph, and each of its lines begins with `Edio-`. edio always writes that paragraph
//! itself, so no text can forge one: whatever looks like a trailer in the text stands in an earlier paragraph.

use std::borrow::Cow;

use bstr::ByteSlice;

/// The version of the format that this edio writes.
pub const VERSION: &str = "1";

const NOT_IN_A_LINE: [char; 3] = ['\n', '\r', '\0'];

/// What edio notes about a commit: names (without `Edio-`) and values, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trailers<'a>(Vec<(&'a str, Cow<'a, str>)>);

impl<'a> Trailers<'a> {
    /// Adds a trailer. A line break in the value becomes a blank.
    #[must_use]
    pub fn with(mut self, name: &'a str, value: impl Into<Cow<'a, str>>) -> Self {
        let mut value = value.into();
        if value.contains(NOT_IN_A_LINE) {
            value = value.replace(NOT_IN_A_LINE, " ").into();
        }
        self.0.push((name, value));
        self
    }

    /// Adds a trailer where there is something to say.
    #[must_use]
    pub fn with_some(self, name: &'a str, value: Option<impl Into<Cow<'a, str>>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// The value of a trailer.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| value.as_ref())
    }

    /// All names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.0.iter();
        pairs.map(|(name, value)| (*name, value.as_ref()))
    }

    /// The value of a trailer, read as something else than text.
    pub fn read<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }

    /// The whole message of a commit. git allows no NUL in one: a mark stands in its place.
    pub fn message(&self, text: &str) -> Vec<u8> {
        let text = text.replace('\0', "\u{FFFD}");
        let mut message = format!("{text}\n\n");
        for (name, value) in &self.0 {
            message.push_str(&format!("Edio-{name}: {value}\n"));
        }
        message.push_str(&format!("Edio-Version: {VERSION}\n"));
        message.into_bytes()
    }
}

/// Takes a message apart into text and trailers, or returns `None` where edio did not write it.
pub fn parse(message: &[u8]) -> Option<(&str, Trailers<'_>)> {
    let message = message.to_str().ok()?.strip_suffix('\n')?;
    let (text, block) = message.rsplit_once("\n\n")?;
    let trailers: Option<Vec<_>> = block
        .split('\n')
        .map(|line| {
            let (name, value) = line.strip_prefix("Edio-")?.split_once(": ")?;
            Some((name, Cow::Borrowed(value)))
        })
        .collect();
    let trailers = Trailers(trailers?);
    trailers.get("Version")?;
    Some((text, trailers))
}

/// The same message with other values in its trailers, where `change` gives one; all else to the letter. `None` where
/// edio did not write it.
pub fn edited(message: &[u8], change: impl Fn(&str, &str) -> Option<String>) -> Option<Vec<u8>> {
    let (text, trailers) = parse(message)?;
    let mut edited = format!("{text}\n\n");
    for (name, value) in trailers.iter() {
        let value = change(name, value).unwrap_or_else(|| value.to_owned());
        edited.push_str(&format!("Edio-{name}: {value}\n"));
    }
    Some(edited.into_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_cannot_forge_a_trailer() {
        let text = "fix\n\nEdio-Turn: 99\nEdio-Version: 1";
        let message = Trailers::default().with("Turn", "7").message(text);
        let (found, trailers) = parse(&message).unwrap();
        assert_eq!((found, trailers.get("Turn")), (text, Some("7")));
    }

    #[test]
    fn other_peoples_commits_are_not_ours() {
        for foreign in [
            "",
            "fix\n",
            "fix\n\nSigned-off-by: a\n",
            "fix\n\nEdio-Turn: 7\n",
            "fix\n\nEdio-Turn: 7\nEdio-Version: 1",
            "Edio-Version: 1\n",
            "fix\n\nEdio-Version: 1\nSigned-off-by: a\n",
        ] {
            assert_eq!(parse(foreign.as_bytes()), None, "{foreign:?}");
        }
    }

    proptest! {
        #[test]
        fn text_and_values_come_back(text in "(?s).{0,60}", value in "[^\r\n\0]{0,40}") {
            let message = Trailers::default().with("Agent", value.clone()).message(&text);
            let (found, trailers) = parse(&message).unwrap();
            prop_assert_eq!(found, text.replace('\0', "\u{FFFD}"));
            prop_assert_eq!(trailers.get("Agent"), Some(value.as_str()));
            prop_assert_eq!(edited(&message, |_, _| None), Some(message));
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
        }
    }
}
