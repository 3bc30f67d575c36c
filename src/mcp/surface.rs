//! What stands in an object itself, of JSON that can't be read: whose request it is.

use serde_json::Value;

use crate::json;

/// How much is kept. Of a request it is a few words, wherever its parameters stand: some clients write its id last.
const MOST: usize = 64 << 10;

/// The members of an object, with a null in the place of each list and object in it, however long or deep they are.
#[derive(Default)]
pub struct Surface {
    kept: Vec<u8>,
    depth: usize,
    is_in_text: bool,
    is_escaped: bool,
}

impl Surface {
    /// Sees a piece of it, of which the next is the rest.
    pub fn see(&mut self, piece: &[u8]) {
        for byte in piece {
            self.see_byte(*byte);
        }
    }

    fn see_byte(&mut self, byte: u8) {
        let above = self.depth;
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' if self.is_in_text => self.is_escaped = true,
            b'"' => self.is_in_text = !self.is_in_text,
            _ if self.is_in_text => {}
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        match (above, self.depth) {
            (1, 2) => self.keep(b"null"),
            (0 | 1, 0 | 1) => self.keep(&[byte]),
            _ => {}
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.kept.len() <= MOST {
            self.kept.extend_from_slice(bytes);
        }
    }

    /// The id of the request; null where it is none, or can't be told. To an answer nobody answers.
    pub fn id(&self) -> Value {
        let object = json::read::<Value>(&self.kept).unwrap_or_default();
        match object["method"].is_string() {
            true => object["id"].clone(),
            false => Value::Null,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn id(line: &str) -> Value {
        let mut surface = Surface::default();
        // However it comes in pieces.
        line.as_bytes().chunks(3).for_each(|part| surface.see(part));
        surface.id()
    }

    #[test]
    fn an_id_is_found_wherever_it_stands() {
        let deep = "[".repeat(300) + &"]".repeat(300);
        for line in [
            format!(r#"{{"id":"a","method":"m","params":{deep}}}"#),
            format!(r#"{{"method":"m","params":{{"id":7,"x":{deep}}},"id":"a"}}"#),
            r#"{"method":"}\"]{","params":{"x":"\\","y":"\"}"}, "id" : "a"}"#.to_owned(),
            r#"{"id":"a","method":"m","params":{no json}}"#.to_owned(),
        ] {
            assert_eq!(id(&line), json!("a"), "{line}");
        }
    }

    #[test]
    fn what_is_no_request_has_none() {
        for line in [
            r#"{"id":1,"result":{}}"#,
            r#"{"method":"m","params":{"id":1}}"#,
            r#"[{"id":1,"method":"m"}]"#,
            r#"{"id":1,"method":"m","params":{"#,
            r#"]]{"id":1"#,
            "",
        ] {
            assert_eq!(id(line), Value::Null, "{line}");
        }
        let long = format!(r#"{{"id":1,"method":"{}"}}"#, "x".repeat(MOST));
        assert_eq!(id(&long), Value::Null);
    }
}
