//! JSON as other programs write it.
//!
//! A text that was cut in the middle of a character is not rare there: half of an emoji, which JavaScript writes as an escape
//! that stands for nothing (RFC 8259, section 8.2), or a few bytes that are no UTF-8. That is no reason not to hear the rest.

use std::borrow::Cow;

use bstr::ByteSlice;
use serde::de::{DeserializeOwned, IgnoredAny};

/// What stands in the place of half a character: U+FFFD.
const UNKNOWN: &[u8] = br"\ufffd";

/// Reads a value. Half a character in a text becomes U+FFFD.
///
/// # Errors
///
/// It is no JSON, or no such value.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    serde_json::from_slice(&mended(bytes))
}

/// Is it one value, and that to its end?
pub fn is_whole(bytes: &[u8]) -> bool {
    read::<IgnoredAny>(bytes).is_ok()
}

/// The same JSON with U+FFFD in the place of each half of a character, and without a byte order mark.
pub fn mended(bytes: &[u8]) -> Cow<'_, [u8]> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    };
    match halves(&text).as_slice() {
        [] => text,
        halves => {
            let mut mended = text.to_vec();
            for at in halves {
                mended[*at..*at + UNKNOWN.len()].copy_from_slice(UNKNOWN);
            }
            Cow::Owned(mended)
        }
    }
}

/// Where escapes begin that stand for half a character, without the other half beside them.
fn halves(text: &[u8]) -> Vec<usize> {
    let mut halves = Vec::new();
    let mut at = 0;
    while let Some(next) = text.get(at..).and_then(|rest| rest.find_byte(b'\\')) {
        at += next;
        at += match (unit(text, at), unit(text, at + UNKNOWN.len())) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 2 * UNKNOWN.len(),
            (Some(0xd800..=0xdfff), _) => {
                halves.push(at);
                UNKNOWN.len()
            }
            // Whatever is escaped here: a backslash does not begin another escape.
            _ => 2,
        };
    }
    halves
}

/// The number in an escape of the form `\u1234` that begins here.
fn unit(text: &[u8], at: usize) -> Option<u16> {
    let digits = text.get(at..at + UNKNOWN.len())?.strip_prefix(br"\u")?;
    let digits = std::str::from_utf8(digits).ok()?;
    let is_number = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u16::from_str_radix(digits, 16).ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn half_a_character_is_an_unknown_one() {
        for (written, read_as) in [
            (&br#""a\ud83d""#[..], "a\u{fffd}"),
            (br#""\ude00b""#, "\u{fffd}b"),
            (br#""\ud83d\ude00""#, "\u{1f600}"),
            (br#""\uD83D\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
            (br#""\\ud83d""#, r"\ud83d"),
            (br#""\ud83d\n""#, "\u{fffd}\n"),
            (b"\"cut \xf0\x9f\x98\"", "cut \u{fffd}"),
        ] {
            assert_eq!(read::<Value>(written).unwrap(), Value::from(read_as));
        }
    }

    #[test]
    fn what_is_cut_is_not_whole() {
        let whole = br#"{"a": ["\ud83d", 1]}"#;
        assert!(is_whole(whole));
        for end in 0..whole.len() {
            assert!(!is_whole(&whole[..end]));
        }
        assert!(!is_whole(b"{} {}"));
    }

    proptest! {
        #[test]
        fn what_is_sound_stays_as_it_is(text in any::<String>()) {
            let sound = serde_json::to_vec(&text).unwrap();
            prop_assert!(matches!(mended(&sound), Cow::Borrowed(_)));
        }

        #[test]
        fn each_string_of_units_is_read(units in proptest::collection::vec(any::<u16>(), 0..20)) {
            let escaped: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let read = read::<String>(format!("\"{escaped}\"").as_bytes()).unwrap();
            prop_assert_eq!(read, String::from_utf16_lossy(&units));
        }
    }
}
