//! Which commit brought each line of a file: git's own blame.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Range, RangeInclusive};

use bstr::ByteSlice;

use super::command::{Answer, Ask, Git};
use super::error::Result;
use super::moves::Lines;
use super::objects::Oid;
use super::paths::{RepoPath, os_path};

/// Who owns a line that was only moved or formatted anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// Who wrote it first: blanks don't count, and lines that moved or were copied keep their owner.
    Moves,
    /// Who touched it last.
    Nothing,
}

/// Some lines of a file that one commit brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brought {
    /// The commit.
    pub commit: Oid,
    /// What the file was called there.
    pub path: RepoPath,
    /// The number of the first of them there.
    pub there: u32,
    /// The number of the first of them in the file that was asked about.
    pub here: u32,
    /// How many they are.
    pub count: u32,
    /// The version before: a commit, and what the file was called in it. `None` where the file began.
    pub previous: Option<(Oid, RepoPath)>,
}

/// What git says of a commit that it blames. All is to the letter, and may be anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blamed {
    /// The author, as the mailmap has it.
    pub author: Vec<u8>,
    /// The author's address, in its brackets.
    pub author_mail: Vec<u8>,
    /// When it was written, in seconds since 1970.
    pub author_seconds: i64,
    /// The author's time zone, `+0100`.
    pub author_zone: Vec<u8>,
    /// The first line of the message.
    pub summary: Vec<u8>,
    /// Does the history end here?
    pub is_boundary: bool,
}

/// What a blame finds.
#[derive(Debug, Default)]
pub struct Blame {
    /// The lines, in no order.
    pub brought: Vec<Brought>,
    /// The commits.
    pub commits: BTreeMap<Oid, Blamed>,
}

/// A part of a difference, without lines around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The lines that went.
    pub old: Range<u32>,
    /// The lines that came.
    pub new: Range<u32>,
    /// What went and came, with a `-` or a `+` before each line.
    pub lines: Vec<Vec<u8>>,
}

impl Hunk {
    /// `@@ -3,2 +4 @@`: a count that is missing is 1.
    fn begun(header: &[u8]) -> Option<Self> {
        let mut words = header.split_str(" ").skip(1);
        let mut range = |sign: &[u8]| {
            let word = words.next()?.strip_prefix(sign)?;
            let (start, count) = word.split_once_str(",").unwrap_or((word, b"1"));
            let start: u32 = number(start)?;
            Some(start..start.checked_add(number(count)?)?)
        };
        Some(Self {
            old: range(b"-")?,
            new: range(b"+")?,
            lines: Vec::new(),
        })
    }
}

/// More ranges than this are not asked for one by one.
const RANGES: usize = 200;

/// Has git follow lines, whatever became of their blanks.
const WITHOUT_BLANKS: [&str; 1] = ["-w"];

/// Has it follow them within their file, too, and to others.
const WITH_MOVES: [&str; 4] = ["-w", "-M", "-C", "-C"];

/// Which lines are asked about.
pub struct BlameQuestion<'a> {
    /// The history that ends here.
    pub commit: &'a Oid,
    /// The file.
    pub path: &'a RepoPath,
    /// The lines. No range means all.
    pub lines: &'a [RangeInclusive<u32>],
    /// Who owns what was only moved or formatted anew.
    pub follow: Follow,
    /// The commit is taken to have grown from this one, and from no other.
    pub parent: Option<&'a Oid>,
    /// Does git ignore commits that the user has listed? Then a line may have had another text in the commit that it is
    /// said to be of.
    pub is_ignoring: bool,
}

impl Git {
    /// Which commit brought each line of a file.
    ///
    /// # Errors
    ///
    /// The commit has no such file, or it has fewer lines, or git failed.
    pub fn blame(&self, question: &BlameQuestion<'_>) -> Result<Blame> {
        match question.follow {
            Follow::Nothing => self.ask_for_blame(question, question.lines, &[]),
            Follow::Moves if question.is_ignoring => {
                self.ask_for_blame(question, question.lines, &WITH_MOVES)
            }
            Follow::Moves => self.blame_with_moves(question),
        }
    }

    /// The same as git's own search for moves would find, which takes several times as long: it is done only for lines that
    /// may have moved.
    fn blame_with_moves(&self, question: &BlameQuestion<'_>) -> Result<Blame> {
        let mut blame = self.ask_for_blame(question, question.lines, &WITHOUT_BLANKS)?;
        let file = self.entries_at(question.commit, std::slice::from_ref(question.path))?;
        let file: Vec<Oid> = file.into_iter().map(|(_, entry)| entry.oid).collect();
        let content = self.raw_objects("blob", &file)?.concat();
        let grafted = question.parent.map(|parent| (question.commit, parent));
        let lines = Lines::of(&content);
        let moved = self.maybe_moved(&blame.brought, &lines, grafted)?;
        let moved: BTreeSet<u32> = moved
            .iter()
            .flat_map(|b| b.here..b.here + b.count)
            .collect();
        if moved.is_empty() {
            return Ok(blame);
        }
        let ranges = ranges(&moved);
        if ranges.len() > RANGES {
            return self.ask_for_blame(question, question.lines, &WITH_MOVES);
        }
        let again = self.ask_for_blame(question, &ranges, &WITH_MOVES)?;
        blame
            .brought
            .retain(|brought| !moved.contains(&brought.here));
        blame.brought.extend(again.brought);
        blame.commits.extend(again.commits);
        Ok(blame)
    }

    /// Asks for some lines, or all.
    fn ask_for_blame(
        &self,
        question: &BlameQuestion<'_>,
        lines: &[RangeInclusive<u32>],
        options: &[&str],
    ) -> Result<Blame> {
        let (commit, path) = (question.commit, question.path);
        let ask = || {
            let mut ask = self
                .ask("blame")
                .setting("core.quotePath=false")
                .setting("i18n.logOutputEncoding=UTF-8")
                .args(["--incremental", "--no-textconv", "--root"])
                .args(options);
            if lines.len() <= RANGES {
                let ranges = lines.iter();
                ask = ask.args(ranges.map(|range| format!("-L{},{}", range.start(), range.end())));
            }
            if let Some(parent) = question.parent {
                ask = ask.args(["-S", "/dev/stdin"]);
                ask = ask.input(format!("{commit} {parent}\n"));
            }
            ask.arg(commit).arg("--").arg(os_path(path.as_bytes()))
        };
        match Blame::of(ask()) {
            // A list of commits that the user or the system names for all repositories is not there, and git has no other
            // way to go on without it.
            Err(error)
                if error
                    .stderr()
                    .contains_str("could not open object name list") =>
            {
                let nothing = "/dev/null";
                let ask = ask().env("GIT_CONFIG_GLOBAL", nothing);
                Blame::of(ask.env("GIT_CONFIG_SYSTEM", nothing))
            }
            other => other,
        }
    }

    /// How a line came into a file: the part of the difference between two versions of it in which the line is. `None`
    /// where they do not differ there.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn hunk(&self, old: &Oid, new: &Oid, line: u32) -> Result<Option<Hunk>> {
        let ask = self
            .ask("diff")
            .args(["-U0", "--no-color", "--no-ext-diff", "--no-textconv"])
            .args(["--text", "--no-indent-heuristic", "--end-of-options"]);
        let output = ask.arg(old).arg(new).run()?;
        let mut lines = output.lines_with_terminator();
        while let Some(header) = lines.find(|line| line.starts_with(b"@@ ")) {
            let Some(mut hunk) = Hunk::begun(header) else {
                continue;
            };
            if !hunk.new.contains(&line) {
                continue;
            }
            let body = lines.take_while(|line| !line.starts_with(b"@@ "));
            hunk.lines = body
                .map(|line| line.trim_end_with(|c| c == '\n').to_vec())
                .collect();
            return Ok(Some(hunk));
        }
        Ok(None)
    }

    /// The last commit that touched a file, in the history that ends at a commit, and what git says of it.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn last_to_touch(&self, commit: &Oid, path: &RepoPath) -> Result<Option<(Oid, Blamed)>> {
        let ask = self
            .ask("rev-list")
            .setting("i18n.logOutputEncoding=UTF-8")
            .args(["-1", "--no-commit-header", "--date=format:%z"])
            .arg("--format=%H%x00%aN%x00<%aE>%x00%at%x00%ad%x00%s")
            .arg("--end-of-options");
        let ask = ask.arg(commit).arg("--").arg(os_path(path.as_bytes()));
        let output = ask.run()?;
        let mut fields = output.trim_end_with(|c| c == '\n').split(|byte| *byte == 0);
        let Some(oid) = fields.next().and_then(Oid::from_bytes) else {
            return Ok(None);
        };
        let mut next = || fields.next().unwrap_or_default().to_vec();
        let about = Blamed {
            author: next(),
            author_mail: next(),
            author_seconds: number(&next()).unwrap_or_default(),
            author_zone: next(),
            summary: next(),
            is_boundary: false,
        };
        Ok(Some((oid, about)))
    }
}

impl Blame {
    fn of(ask: Ask) -> Result<Self> {
        let mut answer = ask.read()?;
        let mut blame = Self::default();
        while let Some(header) = answer.record(b'\n')? {
            blame.take(&header, &mut answer)?;
        }
        answer.close()?;
        Ok(blame)
    }

    /// Reads one group: a line of numbers, what is said of the commit, and at the end the name of the file.
    fn take(&mut self, header: &[u8], answer: &mut Answer) -> Result<()> {
        let strange =
            |answer: &Answer, line: &[u8]| answer.unexpected(format!("{:?}", line.as_bstr()));
        let (commit, [there, here, count]) =
            numbers(header).ok_or_else(|| strange(answer, header))?;
        let about = self.commits.entry(commit.clone()).or_default();
        let mut previous = None;
        loop {
            let line = answer.record(b'\n')?;
            let line = line.ok_or_else(|| strange(answer, header))?;
            let (key, value) = line.split_once_str(" ").unwrap_or((&line, b""));
            match key {
                b"author" => about.author = value.to_vec(),
                b"author-mail" => about.author_mail = value.to_vec(),
                b"author-time" => about.author_seconds = number(value).unwrap_or_default(),
                b"author-tz" => about.author_zone = value.to_vec(),
                b"summary" => about.summary = value.to_vec(),
                b"boundary" => about.is_boundary = true,
                b"previous" => {
                    let (oid, path) = value.split_once_str(" ").unwrap_or((value, b""));
                    previous = Oid::from_bytes(oid).zip(RepoPath::quoted(path));
                }
                b"filename" => {
                    let path = RepoPath::quoted(value).ok_or_else(|| strange(answer, &line))?;
                    self.brought.push(Brought {
                        commit,
                        path,
                        there,
                        here,
                        count,
                        previous,
                    });
                    return Ok(());
                }
                _ => {}
            }
        }
    }
}

/// Numbers as ranges.
pub fn ranges(numbers: &BTreeSet<u32>) -> Vec<RangeInclusive<u32>> {
    let mut ranges: Vec<RangeInclusive<u32>> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some(last) if last.end() + 1 == *number => *last = *last.start()..=*number,
            _ => ranges.push(*number..=*number),
        }
    }
    ranges
}

/// `<commit> <line there> <line here> <how many>`.
fn numbers(header: &[u8]) -> Option<(Oid, [u32; 3])> {
    let mut words = header.split_str(" ");
    let commit = Oid::from_bytes(words.next()?)?;
    let mut next = || number(words.next()?);
    Some((commit, [next()?, next()?, next()?]))
}

fn number<N: std::str::FromStr>(word: &[u8]) -> Option<N> {
    word.to_str().ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hunk_says_which_lines_went_and_came() {
        let ranges = |header: &[u8]| Hunk::begun(header).map(|hunk| (hunk.old, hunk.new));
        assert_eq!(ranges(b"@@ -3,2 +4 @@ fn x\n"), Some((3..5, 4..5)));
        assert_eq!(ranges(b"@@ -3,0 +4,2 @@\n"), Some((3..3, 4..6)));
        for bad in [
            &b"@@ @@"[..],
            b"@@ +1 -1 @@",
            b"@@ -x +1 @@",
            b"@@ -1,4294967295 +1 @@",
        ] {
            assert_eq!(ranges(bad), None);
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_read_does_no_harm(bytes in crate::gitengine::noise()) {
            let _ = (numbers(&bytes), Hunk::begun(&bytes), RepoPath::quoted(&bytes));
        }
    }
}
