//! A patch as it is looked at: its files, and its lines, each found at once however many there are.
//!
//! It grows while git prints it. The lines lie in one block of bytes; what is drawn of them is worked out when they are
//! seen.

use std::ops::Range;

use bstr::ByteSlice;

use super::syntax::{self, Language, Lexing};
use crate::history::git::{Counted, Entry, RepoPath};

/// A patch, or as much of it as is there.
#[derive(Debug, Default)]
pub struct Patch {
    /// Its files.
    pub files: Vec<File>,
    /// Is all of it there?
    pub end: End,
    text: Vec<u8>,
    lines: Vec<Line>,
}

/// How far a patch goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// More may come.
    #[default]
    Open,
    /// That is all.
    Whole,
    /// There is more than is looked at here.
    Cut,
}

/// A file of a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Where it is.
    pub path: RepoPath,
    /// What happened to it, in git's letter.
    pub status: char,
    /// Lines added, and lines removed; `None` where it is no text.
    pub lines: Option<(u64, u64)>,
    /// What it is written in.
    pub language: Option<Language>,
    /// Its first line in the patch; `None` until that is there.
    pub first: Option<usize>,
    /// What kind of thing stands there before and after: a path whose kind differs has two parts.
    parts: usize,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The head of a file.
    File,
    /// The head of a hunk.
    Hunk,
    /// On both sides.
    Context,
    /// Only on the new side.
    Added,
    /// Only on the old side.
    Removed,
    /// What git says of the file or of the line before.
    Note,
}

/// A line of a patch.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// What it is.
    pub kind: Kind,
    /// Its file.
    pub file: u32,
    /// Its number on the old side, where it is there.
    pub old: u32,
    /// Its number on the new side, where it is there.
    pub new: u32,
    /// What it begins in the middle of: a comment, a string.
    pub lexing: Lexing,
    start: usize,
    length: u32,
}

/// A part of a patch, as it comes.
#[derive(Debug, Default)]
pub struct Piece {
    text: Vec<u8>,
    lines: Vec<Line>,
}

impl Piece {
    /// How much it is, in bytes.
    pub fn size(&self) -> usize {
        self.text.len()
    }
}

impl Patch {
    /// A patch of these files, without its lines.
    pub fn of(list: Vec<Counted>) -> Self {
        Self {
            files: list.into_iter().map(File::of).collect(),
            ..Self::default()
        }
    }

    /// Adds what came.
    pub fn grow(&mut self, piece: Piece) {
        let before = self.text.len();
        self.text.extend_from_slice(&piece.text);
        for mut line in piece.lines {
            line.start += before;
            let file = self.files.get_mut(line.file as usize);
            if let Some(file) = file.filter(|file| file.first.is_none()) {
                file.first = Some(self.lines.len());
            }
            self.lines.push(line);
        }
    }

    /// How many lines there are.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Is there no line?
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// A line.
    pub fn line(&self, at: usize) -> Option<Line> {
        self.lines.get(at).copied()
    }

    /// What stands on a line, without the mark before it.
    pub fn text(&self, line: &Line) -> &[u8] {
        let end = line.start.saturating_add(line.length as usize);
        self.text.get(line.start..end).unwrap_or_default()
    }

    /// How much memory it takes.
    pub fn size(&self) -> usize {
        self.text.len()
            + self.lines.len() * size_of::<Line>()
            + self.files.len() * size_of::<File>()
    }

    /// The file that a line belongs to.
    pub fn file_at(&self, at: usize) -> usize {
        self.line(at).map_or(0, |line| line.file as usize)
    }

    /// The first line of the hunk after this line.
    pub fn hunk_after(&self, at: usize) -> Option<usize> {
        (at.saturating_add(1)..self.len()).find(|at| self.is_hunk(*at))
    }

    /// The first line of the hunk before this line.
    pub fn hunk_before(&self, at: usize) -> Option<usize> {
        (0..at.min(self.len())).rev().find(|at| self.is_hunk(*at))
    }

    fn is_hunk(&self, at: usize) -> bool {
        self.lines[at].kind == Kind::Hunk
    }

    /// The number, in the new file, of the first line at or after this one that is there.
    pub fn number_at(&self, at: usize) -> Option<u32> {
        let file = self.line(at)?.file;
        let below = self.lines.get(at..)?.iter();
        let mut below = below.take_while(|line| line.file == file);
        let found = below.find(|line| matches!(line.kind, Kind::Context | Kind::Added));
        found.map(|line| line.new)
    }

    /// The line that this one replaces, or is replaced by: lines that were removed and lines that were added in their place
    /// go together one by one.
    pub fn partner(&self, at: usize) -> Option<usize> {
        /// A longer run is no change of lines, but other lines.
        const LONGEST: usize = 60;
        let kind = self.line(at)?.kind;
        let is = |at: usize, kind: Kind| self.lines.get(at).is_some_and(|line| line.kind == kind);
        let run = |start: usize, kind: Kind| -> Range<usize> {
            let length = (start..).take_while(|at| is(*at, kind)).take(LONGEST);
            start..start + length.count()
        };
        let back = |from: usize, kind: Kind| -> Option<usize> {
            let before = (0..from).rev().take_while(|at| is(*at, kind));
            let count = before.take(LONGEST).count();
            (count < LONGEST).then_some(from - count)
        };
        match kind {
            Kind::Removed => {
                let first = back(at, Kind::Removed)?;
                let removed = run(first, Kind::Removed);
                let added = run(removed.end, Kind::Added);
                Some(added.start + (at - first)).filter(|at| added.contains(at))
            }
            Kind::Added => {
                let first = back(at, Kind::Added)?;
                let removed = back(first, Kind::Removed)?..first;
                Some(removed.start + (at - first)).filter(|at| removed.contains(at))
            }
            _ => None,
        }
    }
}

impl File {
    fn of(counted: Counted) -> Self {
        let difference = counted.difference;
        let status = difference.letter();
        let kind = |entry: &Option<Entry>| entry.as_ref().map(|entry| &entry.mode.digits()[..3]);
        let kinds = (kind(&difference.old), kind(&difference.new));
        let is_other = matches!(kinds, (Some(old), Some(new)) if old != new);
        Self {
            language: syntax::language(difference.path.as_bytes()),
            path: difference.path,
            status,
            lines: counted.lines,
            first: None,
            parts: if is_other { 2 } else { 1 },
        }
    }
}

/// Reads the lines of a patch as git prints them.
pub struct Reader {
    languages: Vec<(Option<Language>, usize)>,
    /// How many parts were begun of the file that is read, and its place in the list.
    part: usize,
    file: Option<u32>,
    /// How many lines are still to come in the hunk, on each side.
    left: (u32, u32),
    /// The numbers of the next lines.
    next: (u32, u32),
    /// What each side is in the middle of.
    lexing: (Lexing, Lexing),
    piece: Piece,
}

impl Reader {
    /// A reader of the patch of these files.
    pub fn of(files: &[File]) -> Self {
        let languages = files.iter().map(|file| (file.language, file.parts));
        Self {
            languages: languages.collect(),
            part: 0,
            file: None,
            left: (0, 0),
            next: (0, 0),
            lexing: (Lexing::default(), Lexing::default()),
            piece: Piece::default(),
        }
    }

    /// What was read since it was last taken.
    pub fn take(&mut self) -> Piece {
        std::mem::take(&mut self.piece)
    }

    /// How much was read since it was last taken.
    pub fn size(&self) -> usize {
        self.piece.size()
    }

    /// Reads a line, without its end.
    pub fn read(&mut self, line: &[u8]) {
        if self.left != (0, 0) {
            return self.in_hunk(line);
        }
        if line.starts_with(b"diff --git ") {
            return self.begin_file();
        }
        if let Some(hunk) = hunk(line) {
            self.next = (hunk.old.0, hunk.new.0);
            self.left = (hunk.old.1, hunk.new.1);
            self.lexing = Default::default();
            return self.push(Kind::Hunk, line);
        }
        let note = [
            "\\ ",
            "Binary files ",
            "old mode ",
            "new mode ",
            "new file mode 12",
            "new file mode 16",
            "deleted file mode 12",
            "deleted file mode 16",
        ];
        if note.iter().any(|start| line.starts_with(start.as_bytes())) {
            self.push(Kind::Note, line);
        }
    }

    fn begin_file(&mut self) {
        let parts = self.file.and_then(|file| self.languages.get(file as usize));
        let more = parts.is_some_and(|(_, parts)| self.part < *parts);
        if more {
            self.part += 1;
            return;
        }
        self.file = Some(self.file.map_or(0, |file| file.saturating_add(1)));
        self.part = 1;
        self.push(Kind::File, b"");
    }

    fn in_hunk(&mut self, line: &[u8]) {
        let (mark, text) = match line.split_first() {
            Some((mark, text)) => (*mark, text),
            // With diff.suppressBlankEmpty an empty line has no mark.
            None => (b' ', line),
        };
        let (old, new) = (&mut self.left.0, &mut self.left.1);
        let kind = match mark {
            b'-' => Kind::Removed,
            b'+' => Kind::Added,
            b'\\' => return self.push(Kind::Note, line),
            _ => Kind::Context,
        };
        if kind != Kind::Added {
            *old = old.saturating_sub(1);
        }
        if kind != Kind::Removed {
            *new = new.saturating_sub(1);
        }
        self.push(kind, text);
        let language = self.file.and_then(|file| self.languages.get(file as usize));
        let language = language.and_then(|(language, _)| *language);
        if kind != Kind::Added {
            self.next.0 = self.next.0.saturating_add(1);
            self.lexing.0 = syntax::after(language, self.lexing.0, text);
        }
        if kind != Kind::Removed {
            self.next.1 = self.next.1.saturating_add(1);
            self.lexing.1 = syntax::after(language, self.lexing.1, text);
        }
    }

    fn push(&mut self, kind: Kind, text: &[u8]) {
        let lexing = match kind {
            Kind::Removed => self.lexing.0,
            _ => self.lexing.1,
        };
        self.piece.lines.push(Line {
            kind,
            file: self.file.unwrap_or(0),
            old: self.next.0,
            new: self.next.1,
            lexing,
            start: self.piece.text.len(),
            length: u32::try_from(text.len()).unwrap_or(u32::MAX),
        });
        self.piece.text.extend_from_slice(text);
    }
}

struct Hunk {
    old: (u32, u32),
    new: (u32, u32),
}

/// `@@ -12,3 +14,5 @@`: where a hunk begins on each side, and how many lines it has there.
fn hunk(line: &[u8]) -> Option<Hunk> {
    let rest = line.strip_prefix(b"@@ -")?;
    let (old, rest) = rest.split_once_str(" +")?;
    let (new, _) = rest.split_once_str(" @@")?;
    let side = |text: &[u8]| -> Option<(u32, u32)> {
        let text = text.to_str().ok()?;
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    Some(Hunk {
        old: side(old)?,
        new: side(new)?,
    })
}

#[cfg(test)]
mod tests {
    use crate::history::git::{Difference, Mode, Oid};

    use super::*;

    fn counted(path: &str, old: Option<&str>, new: Option<&str>) -> Counted {
        let entry = |digits: &str| Entry {
            mode: Mode::from_digits(digits.as_bytes()).unwrap(),
            oid: Oid::new("a".repeat(40)).unwrap(),
        };
        Counted {
            difference: Difference {
                path: RepoPath::new(path).unwrap(),
                old: old.map(entry),
                new: new.map(entry),
            },
            lines: Some((1, 1)),
        }
    }

    fn read(list: Vec<Counted>, text: &str) -> Patch {
        let mut patch = Patch::of(list);
        let mut reader = Reader::of(&patch.files);
        text.lines().for_each(|line| reader.read(line.as_bytes()));
        patch.grow(reader.take());
        patch
    }

    fn shown(patch: &Patch) -> Vec<String> {
        let line = |at| {
            let line: Line = patch.line(at).unwrap();
            let text = patch.text(&line).to_str().unwrap();
            format!(
                "{:?} {} {},{} {text}",
                line.kind, line.file, line.old, line.new
            )
        };
        (0..patch.len()).map(line).collect()
    }

    const MODIFIED: &str = "diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@ fn x\n one\n--- two\n\
                            +++ TWO\n \n\\ No newline at end of file\n";

    #[test]
    fn lines_have_their_numbers_on_both_sides() {
        let patch = read(vec![counted("a", Some("100644"), Some("100644"))], MODIFIED);
        assert_eq!(
            shown(&patch),
            [
                "File 0 0,0 ",
                "Hunk 0 1,1 @@ -1,3 +1,3 @@ fn x",
                "Context 0 1,1 one",
                "Removed 0 2,2 -- two",
                "Added 0 3,2 ++ TWO",
                "Context 0 3,3 ",
                "Note 0 4,4 \\ No newline at end of file",
            ]
        );
        assert_eq!(patch.partner(3), Some(4));
        assert_eq!(patch.partner(4), Some(3));
        assert_eq!(patch.partner(2), None);
        assert_eq!(patch.number_at(3), Some(2));
        assert_eq!(patch.hunk_after(0), Some(1));
        assert_eq!(patch.hunk_after(1), None);
        assert_eq!(patch.hunk_before(5), Some(1));
    }

    #[test]
    fn a_path_whose_kind_differs_has_two_parts() {
        let list = vec![
            counted("l", Some("120000"), Some("100644")),
            counted("m", None, Some("100644")),
        ];
        let text = "diff --git a/l b/l\ndeleted file mode 120000\n--- a/l\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n\
                    \\ No newline at end of file\ndiff --git a/l b/l\nnew file mode 100644\n@@ -0,0 +1 @@\n+f\n\
                    diff --git a/m b/m\nnew file mode 100644\nBinary files /dev/null and b/m differ\n";
        let patch = read(list, text);
        assert_eq!(patch.files[0].first, Some(0));
        assert_eq!(patch.files[1].first, Some(7));
        assert_eq!(patch.files[1].status, 'A');
        assert_eq!(
            shown(&patch).last().unwrap(),
            "Note 1 0,2 Binary files /dev/null and b/m differ"
        );
    }

    #[test]
    fn it_does_not_matter_where_it_is_cut() {
        let list = || vec![counted("a", Some("100644"), Some("100644"))];
        let whole = read(list(), MODIFIED);
        let mut patch = Patch::of(list());
        let mut reader = Reader::of(&patch.files);
        for line in MODIFIED.lines() {
            reader.read(line.as_bytes());
            patch.grow(reader.take());
        }
        assert_eq!(shown(&patch), shown(&whole));
    }

    proptest::proptest! {
        #[test]
        fn whatever_git_prints_does_no_harm(lines in proptest::collection::vec("(@@ -1,2 \\+1,2 @@|[-+ \\\\].{0,5}|diff --git .|.{0,9})", 0..30)) {
            let patch = read(vec![counted("a", None, Some("100644"))], &lines.join("\n"));
            for at in 0..patch.len() {
                let partner = patch.partner(at);
                proptest::prop_assert!(partner.is_none_or(|partner| patch.partner(partner) == Some(at)));
                let _ = (patch.number_at(at), patch.file_at(at));
            }
        }
    }
}
