//! Words of a command that a person is to type.

use std::str::from_utf8;

/// A word of a command, as one types it in a shell: quoted where it must be. Control characters and what is no UTF-8 are
/// shown as bash, zsh and ksh read them in `$'…'`.
pub fn word(bytes: &[u8]) -> String {
    let text = from_utf8(bytes).ok();
    let Some(text) = text.filter(|text| !text.chars().any(drives_terminal)) else {
        let escaped = bytes.iter().map(|byte| match byte {
            b'\'' | b'\\' => format!("\\{}", char::from(*byte)),
            b' '..=b'~' => char::from(*byte).to_string(),
            _ => format!("\\x{byte:02x}"),
        });
        return format!("$'{}'", escaped.collect::<String>());
    };
    let is_clear = |c: char| c.is_alphanumeric() || "-_./=:,@%+".contains(c);
    match !text.is_empty() && text.chars().all(is_clear) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// Control characters, and those that turn the direction of the text, so that it reads as other text.
pub fn drives_terminal(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
