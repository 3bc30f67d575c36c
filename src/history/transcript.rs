//! What an agent's own transcript has gained since it was last looked at.
//!
//! Where each was read up to is remembered. What it gained since is kept in the scratch folder, and goes beside the turn that
//! comes of it, as [`conversation`](super::conversation) does. Secrets are taken out before anything is written.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use bstr::ByteSlice;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::{Result, While};
use crate::gitengine::RepoPath;
use crate::json;

use super::redact::Redactor;
use super::state::write_at_once;
use super::turn::Work;
use super::workspace::{Locked, Workspace};

/// The file in the scratch folder, and in a side commit.
pub const FILE: &str = "transcript";

/// How much is kept of what was gained at once, in bytes, and of what belongs to no turn yet. The oldest goes first.
const MOST: u64 = 2 << 20;

/// A transcript that was written anew is looked through for what is known of it up to this length.
const LOOKED_THROUGH: u64 = 32 << 20;

/// How many transcripts are remembered.
pub const REMEMBERED: usize = 64;

/// Up to where a transcript was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Place {
    /// So many bytes.
    pub offset: u64,
    /// How long the last line was.
    pub length: u64,
    /// What that line was, as a hash. Another version of edio may find another one, and takes it for written anew.
    pub line: u64,
    /// The id of the entry in that line.
    pub id: Option<String>,
    /// Why it was left out the last time, where it was.
    pub left_out: Option<String>,
}

/// What a transcript has gained.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Gain {
    /// Its new lines.
    pub lines: Vec<Vec<u8>>,
    /// Is what was read before not there any more as it was?
    pub rewritten: bool,
    /// So many bytes before those lines are too much.
    pub cut: u64,
    /// Up to where it was read.
    pub place: Place,
}

/// Reads what a transcript has gained: no more than its end.
///
/// # Errors
///
/// It is no file, or can't be read.
pub fn gain(file: &Path, known: Option<&Place>) -> io::Result<Gain> {
    // Nothing else is opened: a pipe would have its reader wait.
    if !fs::metadata(file)?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut file = File::open(file)?;
    let length = file.metadata()?.len();
    let (start, rewritten) = match known {
        None => (0, false),
        Some(known) if is_there(&mut file, known, length)? => (known.offset, false),
        Some(known) => (end_of_common(&mut file, known, length)?, true),
    };
    let begin = start.max(length.saturating_sub(MOST));
    let mut bytes = read(&mut file, begin, length - begin)?;
    let whole = bytes.rfind_byte(b'\n').map_or(0, |end| end + 1);
    bytes.truncate(whole);
    let first = match begin > start {
        true => bytes.find_byte(b'\n').map_or(bytes.len(), |end| end + 1),
        false => 0,
    };
    let lines: Vec<Vec<u8>> = bytes[first..].lines().map(<[u8]>::to_vec).collect();
    let mut place = known.cloned().unwrap_or_default();
    place.offset = begin + whole as u64;
    if let Some(last) = lines.last() {
        place.length = last.len() as u64 + 1;
        place.line = hash(last);
        place.id = lines.iter().rev().find_map(|line| id_of(line));
    }
    Ok(Gain {
        lines,
        rewritten,
        cut: begin - start + first as u64,
        place,
    })
}

fn is_there(file: &mut File, known: &Place, length: u64) -> io::Result<bool> {
    if known.offset > length {
        return Ok(false);
    }
    let Some(begin) = known.offset.checked_sub(known.length) else {
        return Ok(false);
    };
    let line = read(file, begin, known.length)?;
    let line = line.strip_suffix(b"\n");
    Ok(known.offset == 0 || line.is_some_and(|line| hash(line) == known.line))
}

/// The end of the last entry that was read, where it is there still; else the beginning.
fn end_of_common(file: &mut File, known: &Place, length: u64) -> io::Result<u64> {
    let Some(id) = known.id.as_ref().filter(|_| length <= LOOKED_THROUGH) else {
        return Ok(0);
    };
    let (mut end, mut common) = (0, 0);
    for line in read(file, 0, length)?.lines_with_terminator() {
        end += line.len() as u64;
        if line.contains_str(id) && id_of(line).as_ref() == Some(id) {
            common = end;
        }
    }
    Ok(common)
}

fn read(file: &mut File, begin: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(begin))?;
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn hash(line: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    line.hash(&mut hasher);
    hasher.finish()
}

fn id_of(line: &[u8]) -> Option<String> {
    let line: Value = json::read(line).ok()?;
    let ids = [&line["uuid"], &line["id"], &line["payload"]["id"]];
    ids.into_iter()
        .find_map(|id| id.as_str().map(str::to_owned))
}

/// The lines of a gain as they are kept: without secrets, and with what there is to say of them. The last ones come first:
/// for what there is no time, that is cut, too.
pub fn kept(gain: &Gain, redactor: &Redactor, has_time: &dyn Fn() -> bool) -> Vec<String> {
    let mut cut = gain.cut;
    let mut lines = Vec::new();
    for line in gain.lines.iter().rev() {
        match has_time() {
            true => lines.push(redacted(line, redactor)),
            false => cut += line.len() as u64 + 1,
        }
    }
    if cut > 0 {
        lines.push(json!({"edio": "cut", "bytes": cut}).to_string());
    }
    if gain.rewritten {
        lines.push(json!({"edio": "rewritten"}).to_string());
    }
    lines.reverse();
    lines
}

/// What stands in the place of a transcript that is left out.
pub fn left_out(why: &str) -> String {
    json!({"edio": "left out", "why": why}).to_string()
}

/// A line without secrets: in each of its texts, and by the names of its fields.
fn redacted(line: &[u8], redactor: &Redactor) -> String {
    let text = match json::read::<Value>(line) {
        Ok(mut value) => {
            redact_texts(&mut value, redactor);
            value.to_string()
        }
        Err(_) => String::from_utf8_lossy(line).into_owned(),
    };
    redactor.text(&text)
}

fn redact_texts(value: &mut Value, redactor: &Redactor) {
    match value {
        Value::String(text) => *text = redactor.text(text),
        Value::Array(values) => values
            .iter_mut()
            .for_each(|value| redact_texts(value, redactor)),
        Value::Object(map) => map
            .values_mut()
            .for_each(|value| redact_texts(value, redactor)),
        _ => {}
    }
}

/// A line that belongs to a turn still to come.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Line {
    agent: String,
    session: Option<String>,
    line: String,
}

/// Notes lines that belong to a turn still to come.
///
/// # Errors
///
/// The git directory can't be read or written.
pub fn note(
    workspace: &Locked,
    agent: &str,
    session: Option<&str>,
    new: Vec<String>,
) -> Result<()> {
    let mut lines = open(workspace)?;
    lines.extend(new.into_iter().map(|line| Line {
        agent: agent.to_owned(),
        session: session.map(str::to_owned),
        line,
    }));
    let mut rest = MOST as usize;
    let fits = lines.iter().rev().take_while(|line| {
        let length = line.line.len();
        let fits = length <= rest;
        rest -= length.min(rest);
        fits
    });
    let surplus = lines.len() - fits.count();
    lines.drain(..surplus);
    keep(workspace, &lines)
}

/// What belongs to no turn yet.
///
/// # Errors
///
/// The git directory can't be read.
pub fn open(workspace: &Workspace) -> Result<Vec<Line>> {
    let file = workspace.scratch().join(FILE);
    let bytes = match fs::read(&file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.or_cannot(|| format!("can't read {}", file.display()))?,
    };
    let lines = bytes.lines();
    Ok(lines.filter_map(|line| json::read(line).ok()).collect())
}

/// Leaves these lines for turns still to come, and no others.
///
/// # Errors
///
/// The git directory can't be written.
pub fn keep(workspace: &Locked, lines: &[Line]) -> Result<()> {
    let texts = lines
        .iter()
        .filter_map(|line| serde_json::to_string(line).ok());
    let text: String = texts.map(|text| text + "\n").collect();
    write_at_once(&workspace.scratch(), FILE, text.as_bytes())
}

/// What goes beside the turn that this work was, and what stays for others.
///
/// # Errors
///
/// The git directory can't be read.
pub fn split(workspace: &Workspace, work: &Work) -> Result<(Vec<u8>, Vec<Line>)> {
    let is_own = |line: &Line| {
        work.agent.as_ref() == Some(&line.agent) && work.agent_session == line.session
    };
    let (own, rest): (Vec<Line>, Vec<Line>) = open(workspace)?.into_iter().partition(is_own);
    let text: String = own.into_iter().map(|own| own.line + "\n").collect();
    Ok((text.into_bytes(), rest))
}

/// These lines without those that speak of one of these paths. `None` where none does.
pub fn without(bytes: &[u8], paths: &[RepoPath]) -> Option<Vec<u8>> {
    let kept: Vec<&[u8]> = bytes
        .lines_with_terminator()
        .filter(|line| !speaks_of(line, paths))
        .collect();
    let kept = kept.concat();
    (kept.len() < bytes.len()).then_some(kept)
}

fn speaks_of(line: &[u8], paths: &[RepoPath]) -> bool {
    paths.iter().any(|path| {
        let name = path.to_string();
        let in_json = json!(name).to_string();
        let in_json = in_json.trim_matches('"');
        line.contains_str(&name) || line.contains_str(in_json)
    })
}

/// Takes the same out of what belongs to no turn yet.
///
/// # Errors
///
/// The git directory can't be read or written.
pub fn forget(workspace: &Locked, paths: &[RepoPath]) -> Result<()> {
    let mut lines = open(workspace)?;
    let before = lines.len();
    lines.retain(|line| !speaks_of(line.line.as_bytes(), paths));
    match lines.len() < before {
        true => keep(workspace, &lines),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str, text: &str) -> String {
        format!("{{\"uuid\":\"{id}\",\"text\":\"{text}\"}}\n")
    }

    fn ids(gain: &Gain) -> Vec<String> {
        gain.lines.iter().filter_map(|line| id_of(line)).collect()
    }

    #[test]
    fn each_line_is_read_once_and_a_half_one_not_yet() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("t.jsonl");
        let (one, two) = (line("1", "a"), line("2", "b"));
        fs::write(&file, format!("{one}{}", &two[..5])).unwrap();
        let first = gain(&file, None).unwrap();
        assert_eq!(ids(&first), ["1"]);
        fs::write(&file, format!("{one}{two}")).unwrap();
        let second = gain(&file, Some(&first.place)).unwrap();
        assert_eq!(
            (ids(&second), second.rewritten),
            (vec!["2".to_owned()], false)
        );
        let third = gain(&file, Some(&second.place)).unwrap();
        assert_eq!((third.lines.len(), third.rewritten), (0, false));
        assert_eq!(third.place, second.place);
    }

    #[test]
    fn what_was_written_anew_is_seen_and_read_from_the_end_of_what_is_common() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("t.jsonl");
        fs::write(&file, line("1", "a") + &line("2", "b")).unwrap();
        let first = gain(&file, None).unwrap();
        let anew = line("0", "in short") + &line("2", "b") + &line("3", "c");
        fs::write(&file, anew).unwrap();
        let second = gain(&file, Some(&first.place)).unwrap();
        assert_eq!(
            (ids(&second), second.rewritten),
            (vec!["3".to_owned()], true)
        );
        fs::write(&file, line("9", "z")).unwrap();
        let third = gain(&file, Some(&second.place)).unwrap();
        assert_eq!((ids(&third), third.rewritten), (vec!["9".to_owned()], true));
    }

    #[test]
    fn of_too_much_the_end_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("t.jsonl");
        let count = 3 * MOST as usize / 1000;
        let lines = (0..count).map(|id| line(&id.to_string(), &"x".repeat(1000)));
        let text: String = lines.collect();
        fs::write(&file, &text).unwrap();
        let gained = gain(&file, None).unwrap();
        let kept: u64 = gained.lines.iter().map(|line| line.len() as u64 + 1).sum();
        assert!(kept <= MOST && gained.cut + kept == text.len() as u64);
        assert_eq!(ids(&gained).last(), Some(&(count - 1).to_string()));
    }

    #[test]
    fn for_what_there_is_no_time_that_is_cut() {
        let gain = Gain {
            lines: vec![b"{}".to_vec(), b"[]".to_vec(), b"1".to_vec()],
            rewritten: true,
            ..Gain::default()
        };
        let left = std::cell::Cell::new(2);
        let has_time = || left.replace(left.get() - 1) > 0;
        let redactor = Redactor::new(&[]).unwrap();
        let kept = kept(&gain, &redactor, &has_time);
        let expected = [
            r#"{"edio":"rewritten"}"#,
            r#"{"bytes":3,"edio":"cut"}"#,
            "[]",
            "1",
        ];
        assert_eq!(kept, expected);
    }

    #[test]
    fn no_secret_is_kept() {
        let redactor = Redactor::new(&[]).unwrap();
        let token = ["ghp_", "b7XqLr2ZkT9vWm4YsN8cPd6HjF3gQa1EoU5t"].concat();
        let line = json!({"uuid": "1", "message": {"content": format!("use {token} \"now\"")}});
        let kept = redacted(line.to_string().as_bytes(), &redactor);
        assert!(!kept.contains(&token), "{kept}");
        let value: Value = serde_json::from_str(&kept).unwrap();
        assert_eq!(value["uuid"], "1");
    }
}
