//! Text from outside (file names, messages, prompts, diffs) made safe for a terminal.
//!
//! A terminal obeys what it is shown: it can be made to retitle its window, to hide lines, to type
//! commands. So whatever could drive it is shown as an escape (`\n`, `\x1b`, `\u{202e}`) instead.

use std::io::{self, Write};

use bstr::{ByteSlice, ByteVec, decode_utf8};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::shell::drives_terminal;

/// What is let through although it drives the terminal.
#[derive(Clone, Copy)]
struct Kept {
    /// Line ends and tabs.
    lines: bool,
    /// Colours and other styles (SGR).
    styles: bool,
}

const ONE_LINE: Kept = Kept {
    lines: false,
    styles: false,
};
const LINES: Kept = Kept {
    lines: true,
    styles: false,
};
const STYLED_LINES: Kept = Kept {
    lines: true,
    styles: true,
};

/// What stands at the front of some bytes.
enum Front {
    Safe(usize),
    Unsafe(usize),
    /// The beginning of something whose end decides.
    Cut,
}

/// A style is longer than this in no sane output.
const LONGEST_STYLE: usize = 64;

/// One line: every control character and every byte that is not UTF-8 is shown as an escape.
pub fn plain(bytes: &[u8]) -> String {
    whole(bytes, ONE_LINE)
}

/// Several lines: as [`plain`], but line ends and tabs stand.
pub fn plain_lines(bytes: &[u8]) -> String {
    whole(bytes, LINES)
}

/// edio's own lines, with its styles. The last guard, where a part was not made safe before.
pub(super) fn styled_lines(text: &str) -> String {
    whole(text.as_bytes(), STYLED_LINES)
}

/// A path as [`plain`] shows it, in double quotes where it would not be clear without them.
pub fn path(bytes: &[u8]) -> String {
    let shown = plain(bytes);
    let clear = shown.as_bytes() == bytes
        && !shown.is_empty()
        && !shown.contains('"')
        && shown.trim() == shown;
    if clear {
        return shown;
    }
    let quotable = bytes.replace(br"\", br"\\").replace(b"\"", b"\\\"");
    format!("\"{}\"", plain(&quotable))
}

/// `3 files`.
pub fn plural(count: usize, word: &str) -> String {
    match count {
        1 => format!("1 {word}"),
        _ => format!("{count} {word}s"),
    }
}

/// Cuts plain text to so many columns of the terminal; the last is then a `…`.
pub fn shorten(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(1) else {
        return String::new();
    };
    let mut used = 0;
    let fits = text.chars().take_while(|&c| {
        used += most_columns(c);
        used <= room
    });
    let mut short: String = fits.collect();
    short.push('…');
    short
}

/// The columns that a character takes at most: U+FE0F may widen the one before it.
fn most_columns(c: char) -> usize {
    match c {
        '\u{fe0f}' => 1,
        _ => c.width().unwrap_or(0),
    }
}

/// Passes git's output on to a terminal, with line ends and tabs, and with its styles where these are on.
///
/// It may be written to in pieces of any size: a sequence that is cut waits for its rest.
pub struct Sanitizer<W> {
    to: W,
    kept: Kept,
    waiting: Vec<u8>,
}

impl<W: Write> Sanitizer<W> {
    /// A sanitizer before `to`. Without styles, those that come are taken for text, and shown.
    pub fn new(to: W, styles: bool) -> Self {
        Self {
            to,
            kept: if styles { STYLED_LINES } else { LINES },
            waiting: Vec::new(),
        }
    }

    /// Writes what still waits: the text ends here.
    ///
    /// # Errors
    ///
    /// It could not be written.
    pub fn finish(mut self) -> io::Result<()> {
        let mut rest = Vec::new();
        escape(&self.waiting, &mut rest);
        self.to.write_all(&rest)?;
        self.to.flush()
    }
}

impl<W: Write> Write for Sanitizer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        let mut safe = Vec::with_capacity(self.waiting.len());
        let used = pass(&self.waiting, self.kept, &mut safe);
        self.waiting.drain(..used);
        self.to.write_all(&safe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

fn whole(bytes: &[u8], kept: Kept) -> String {
    let mut safe = Vec::with_capacity(bytes.len());
    let used = pass(bytes, kept, &mut safe);
    escape(&bytes[used..], &mut safe);
    safe.into_string_lossy()
}

/// Makes bytes safe, up to something cut at their end. Returns how many it used.
fn pass(bytes: &[u8], kept: Kept, safe: &mut Vec<u8>) -> usize {
    let mut used = 0;
    while used < bytes.len() {
        let rest = &bytes[used..];
        used += match front(rest, kept) {
            Front::Safe(length) => {
                safe.extend_from_slice(&rest[..length]);
                length
            }
            Front::Unsafe(length) => {
                escape(&rest[..length], safe);
                length
            }
            Front::Cut => break,
        };
    }
    used
}

fn front(bytes: &[u8], kept: Kept) -> Front {
    let printable = bytes.iter().take_while(|byte| matches!(byte, b' '..=b'~'));
    match printable.count() {
        0 => {}
        length => return Front::Safe(length),
    }
    match bytes {
        [b'\n' | b'\t', ..] if kept.lines => Front::Safe(1),
        [b'\r', b'\n', ..] if kept.lines => Front::Safe(2),
        [b'\r'] if kept.lines => Front::Cut,
        [0x1b, ..] if kept.styles => style(bytes),
        _ => character(bytes),
    }
}

/// `ESC [ … m`, with nothing but digits and semicolons between.
fn style(bytes: &[u8]) -> Front {
    let parameters = match bytes {
        [_] => return Front::Cut,
        [_, b'[', parameters @ ..] => parameters,
        _ => return Front::Unsafe(1),
    };
    let end = parameters
        .iter()
        .position(|byte| !matches!(byte, b'0'..=b'9' | b';'));
    match end {
        Some(end) if parameters[end] == b'm' => Front::Safe(2 + end + 1),
        None if parameters.len() < LONGEST_STYLE => Front::Cut,
        _ => Front::Unsafe(1),
    }
}

fn character(bytes: &[u8]) -> Front {
    match decode_utf8(bytes) {
        (Some(c), length) if drives_terminal(c) => Front::Unsafe(length),
        (Some(_), length) => Front::Safe(length),
        (None, length) if length == bytes.len() => Front::Cut,
        (None, length) => Front::Unsafe(length),
    }
}

/// Writes bytes with every character that drives the terminal as an escape.
fn escape(bytes: &[u8], safe: &mut Vec<u8>) {
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => safe.push_str(r"\n"),
                '\r' => safe.push_str(r"\r"),
                '\t' => safe.push_str(r"\t"),
                _ if !drives_terminal(c) => safe.push_char(c),
                _ if c.is_ascii() => safe.push_str(format!("\\x{:02x}", u32::from(c))),
                _ => safe.push_str(format!("\\u{{{:x}}}", u32::from(c))),
            }
        }
        for byte in chunk.invalid() {
            safe.push_str(format!("\\x{byte:02x}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sanitized<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, styles: bool) -> String {
        let mut out = Vec::new();
        let mut sanitizer = Sanitizer::new(&mut out, styles);
        for piece in pieces {
            sanitizer.write_all(piece).unwrap();
        }
        sanitizer.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn plain_text_stands() {
        for text in ["", "a b", "größe 日本 🦀", r"back\slash", "\u{200d}"] {
            assert_eq!(plain(text.as_bytes()), text);
        }
    }

    #[test]
    fn what_drives_the_terminal_is_shown() {
        let cases: [(&[u8], &str); 8] = [
            (b"a\nb\tc\r", r"a\nb\tc\r"),
            (b"\x1b]0;title\x07", r"\x1b]0;title\x07"),
            (b"\x1b[31mred", r"\x1b[31mred"),
            (b"\0\x7f", r"\x00\x7f"),
            ("\u{9b}2J".as_bytes(), r"\u{9b}2J"),
            ("a\u{202e}b\u{2066}".as_bytes(), r"a\u{202e}b\u{2066}"),
            (b"\xff\xfe", r"\xff\xfe"),
            (b"caf\xc3", r"caf\xc3"),
        ];
        for (bytes, shown) in cases {
            assert_eq!(plain(bytes), shown);
        }
    }

    #[test]
    fn lines_keep_their_ends_and_tabs() {
        assert_eq!(
            plain_lines(b"a\tb\nc\r\nd\re\x1b[m\r"),
            "a\tb\nc\r\nd\\re\\x1b[m\\r"
        );
    }

    #[test]
    fn a_path_is_quoted_only_where_it_must_be() {
        let cases: [(&[u8], &str); 8] = [
            (b"src/main.rs", "src/main.rs"),
            (b"a b", "a b"),
            (br"a\b", r"a\b"),
            (b"", r#""""#),
            (b" a", r#"" a""#),
            (b"a\nb", r#""a\nb""#),
            (b"say \"hi\"", r#""say \"hi\"""#),
            (b"\\n\n", r#""\\n\n""#),
        ];
        for (bytes, shown) in cases {
            assert_eq!(path(bytes), shown);
        }
    }

    #[test]
    fn text_is_cut_by_columns() {
        assert_eq!(shorten("abcdef", 6), "abcdef");
        assert_eq!(shorten("abcdef", 5), "abcd…");
        assert_eq!(shorten("abcdef", 1), "…");
        assert_eq!(shorten("abcdef", 0), "");
        assert_eq!(shorten("", 0), "");
        assert_eq!(shorten("日本語", 5), "日本…");
        assert_eq!(shorten("日本語", 4), "日…");
        assert_eq!(shorten("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}…");
    }

    #[test]
    fn a_patch_keeps_its_styles_and_nothing_else() {
        let patch = b"\x1b[1;32m+a\tb\x1b[m\n\x1b[2Jc\x1b[31\n\x1b[3\x1b[mx\r\n";
        assert_eq!(
            sanitized([&patch[..]], true),
            "\x1b[1;32m+a\tb\x1b[m\n\\x1b[2Jc\\x1b[31\n\\x1b[3\x1b[mx\r\n"
        );
        assert_eq!(
            sanitized([&patch[..]], false),
            "\\x1b[1;32m+a\tb\\x1b[m\n\\x1b[2Jc\\x1b[31\n\\x1b[3\\x1b[mx\r\n"
        );
    }

    #[test]
    fn an_endless_style_does_not_wait_forever() {
        let mut out = Vec::new();
        let mut sanitizer = Sanitizer::new(&mut out, true);
        sanitizer.write_all(b"\x1b[").unwrap();
        sanitizer.write_all(&[b'1'; 100_000]).unwrap();
        assert!(sanitizer.waiting.is_empty());
    }

    fn tricky() -> impl Strategy<Value = Vec<u8>> {
        let pieces: [&'static [u8]; 12] = [
            b"a", b"\x1b", b"[", b"31", b";", b"m", b"\r", b"\n", b"\xe6", b"\x97", b"\xa5",
            b"\x9b",
        ];
        prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..24)
            .prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn nothing_drives_the_terminal(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            prop_assert!(!plain(&bytes).chars().any(drives_terminal));
            prop_assert!(!path(&bytes).chars().any(drives_terminal));
        }

        #[test]
        fn it_does_not_matter_where_a_patch_is_cut(bytes in tricky(), styles: bool) {
            let whole = sanitized([&bytes[..]], styles);
            prop_assert_eq!(&sanitized(bytes.chunks(1), styles), &whole);
            prop_assert_eq!(&sanitized(bytes.chunks(3), styles), &whole);
        }

        #[test]
        fn a_shortened_text_fits(text in "\\PC{0,40}", columns in 0usize..20) {
            prop_assert!(shorten(&text, columns).width() <= columns);
        }
    }
}
