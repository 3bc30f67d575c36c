//! What models write: turns, places in a list.

use std::fmt::Display;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::error::{Error, Result};

/// Something that is written as text. A model may also give a bare number.
pub struct Written<T>(pub T);

impl<'de, T: FromStr<Err: Display>> Deserialize<'de> for Written<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = match Value::deserialize(deserializer)? {
            Value::String(text) => text,
            // 7.10 would be 7.1: a step can only be written as text.
            Value::Number(number) => match number.as_f64().filter(|number| number.fract() == 0.0) {
                Some(number) => number.to_string(),
                None => return Err(D::Error::custom("write a step as text: \"7.2\"")),
            },
            _ => return Err(D::Error::custom("write a turn as text: \"7\"")),
        };
        text.trim().parse().map(Self).map_err(D::Error::custom)
    }
}

/// A place in a list that was given out: its parts, with colons between them.
///
/// # Errors
///
/// It was not given out by this tool.
pub fn place<const PARTS: usize>(cursor: &str) -> Result<[&str; PARTS]> {
    let parts: Vec<&str> = cursor.split(':').collect();
    parts.try_into().map_err(|_| no_cursor())
}

/// The number in a place.
///
/// # Errors
///
/// It is none.
pub fn number<T: FromStr>(part: &str) -> Result<T> {
    part.parse().map_err(|_| no_cursor())
}

/// A cursor that leads nowhere.
pub fn no_cursor() -> Error {
    Error::usage("this cursor leads nowhere").hint("begin again, without a cursor")
}

/// So many items, and no more than that.
///
/// # Errors
///
/// None are wanted: there would be no end to that.
pub fn limit(wanted: Option<u32>, usual: u32, most: u32) -> Result<usize> {
    match wanted {
        Some(0) => Err(Error::usage("limit is at least 1")),
        wanted => Ok(wanted.unwrap_or(usual).min(most) as usize),
    }
}

#[cfg(test)]
mod tests {
    use crate::history::address::Address;

    use super::*;

    #[test]
    fn a_turn_is_text_or_a_whole_number() {
        let read = |json: &str| {
            let read = serde_json::from_str::<Written<Address>>(json);
            read.map(|turn| turn.0.to_string())
                .map_err(|error| error.to_string())
        };
        for (json, turn) in [
            ("\"7\"", "7"),
            ("7", "7"),
            ("7.0", "7"),
            ("\"7.2\"", "7.2"),
            ("\" @-1 \"", "@-1"),
            ("0", "0"),
        ] {
            assert_eq!(read(json).as_deref(), Ok(turn), "{json}");
        }
        for json in [
            "7.2", "-1", "1e300", "null", "[7]", "true", "\"\"", "\"HEAD\"",
        ] {
            assert!(read(json).is_err(), "{json}");
        }
    }

    #[test]
    fn a_cursor_is_what_was_given_out() {
        assert_eq!(place::<2>("a:7").unwrap(), ["a", "7"]);
        assert!(place::<2>("a").is_err() && place::<2>("a:b:c").is_err());
        assert!(number::<u32>("-1").is_err() && number::<u32>("x").is_err());
        let limit = |wanted| limit(wanted, 20, 200).ok();
        let limits = [None, Some(1), Some(0), Some(999)].map(limit);
        assert_eq!(limits, [Some(20), Some(1), None, Some(200)]);
    }
}
