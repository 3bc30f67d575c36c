//! What is stored already and looks like a secret.
//!
//! Messages, trailers and the texts beside turns are looked through; the contents of files only where that is asked for.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::gitengine::{Commit, Oid};

use super::ancestry;
use super::conversation;
use super::forget::Extent;
use super::redact::Redactor;
use super::refnames::{self, SessionId};
use super::session::Session;
use super::trailers;
use super::transcript;
use super::turn::Number;
use super::workspace::Workspace;

/// Files that are larger are not looked into.
const LARGEST: u64 = 1 << 20;

/// Something that looks like a secret. What it is itself is not in here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// The session; `None` where it is in a file, which several can have.
    pub session: Option<SessionId>,
    /// The turn or step; `None` where it is in no snapshot's own text.
    pub turn: Option<Number>,
    /// What it stands in.
    pub place: Place,
    /// What it is, in words.
    pub kind: &'static str,
    /// How it begins: a quarter of it, and four characters at most.
    pub start: String,
    /// How many characters it has.
    pub length: usize,
}

/// What a secret stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The message of a snapshot or an operation.
    Message,
    /// A trailer of this name.
    Trailer(String),
    /// A text beside a turn, of this name.
    Beside(String),
    /// A file of this path.
    File(Vec<u8>),
}

/// Looks through what these sessions have stored, and with `in_files` through the files that only edio holds.
///
/// # Errors
///
/// There is no such session, a pattern of the user's is wrong, or git failed.
pub fn find(workspace: &Workspace, extent: &Extent, in_files: bool) -> Result<Vec<Secret>> {
    let redactor = Redactor::set(&workspace.settings)?;
    let sessions = match extent {
        Extent::Own => vec![Session::active_or_error(workspace)?],
        Extent::Session(id) => vec![Session::wanted(workspace, Some(id))?],
        Extent::All => Session::all(workspace)?,
    };
    let tips = sessions.iter().flat_map(|session| &session.refs);
    let tips: Vec<&Oid> = tips.map(|(_, oid)| oid).collect();
    if tips.is_empty() {
        return Ok(Vec::new());
    }
    let ids: BTreeSet<&SessionId> = sessions.iter().map(|session| &session.id).collect();
    let mut noted = noted(ancestry::history(workspace, &tips)?);
    noted.retain(|noted| ids.contains(&noted.session));
    let mut secrets = find_in_texts(workspace, &redactor, &noted)?;
    if in_files {
        let turns = noted.iter().filter(|noted| noted.turn.is_some());
        let turns: Vec<Oid> = turns.map(|noted| noted.commit.oid.clone()).collect();
        let files = workspace.git.objects_below(&turns, refnames::ALL)?;
        find_in_files(workspace, &redactor, &files, &mut secrets)?;
    }
    Ok(secrets)
}

/// Looks through these commits, of whatever session they are, and through these files, each with a path of its own.
///
/// # Errors
///
/// A pattern of the user's is wrong, or git failed.
pub fn find_among(
    workspace: &Workspace,
    commits: &[Commit],
    files: &BTreeMap<Oid, Vec<u8>>,
) -> Result<Vec<Secret>> {
    let redactor = Redactor::set(&workspace.settings)?;
    let noted = noted(commits.to_vec());
    let mut secrets = find_in_texts(workspace, &redactor, &noted)?;
    find_in_files(workspace, &redactor, files, &mut secrets)?;
    Ok(secrets)
}

fn noted(commits: Vec<Commit>) -> Vec<Noted> {
    let mut noted: Vec<Noted> = commits.into_iter().filter_map(Noted::read).collect();
    noted.sort_by(|a, b| {
        (&a.session, a.turn, &a.commit.oid).cmp(&(&b.session, b.turn, &b.commit.oid))
    });
    noted
}

fn find_in_texts(
    workspace: &Workspace,
    redactor: &Redactor,
    noted: &[Noted],
) -> Result<Vec<Secret>> {
    let mut secrets = Vec::new();
    for noted in noted {
        noted.find(redactor, &mut secrets);
    }
    find_beside(workspace, redactor, noted, &mut secrets)?;
    Ok(secrets)
}

/// A commit of edio's, and what is written in it.
struct Noted {
    commit: Commit,
    session: SessionId,
    turn: Option<Number>,
    is_side: bool,
}

impl Noted {
    fn read(commit: Commit) -> Option<Self> {
        let (_, trailers) = trailers::parse(&commit.message)?;
        let turn = trailers.read("Turn");
        Some(Self {
            session: trailers.read("Session")?,
            is_side: turn.is_none() && trailers.get("Op").is_none(),
            turn,
            commit,
        })
    }

    fn find(&self, redactor: &Redactor, secrets: &mut Vec<Secret>) {
        let Some((text, trailers)) = trailers::parse(&self.commit.message) else {
            return;
        };
        secrets.extend(self.in_text(redactor, text, self.turn, &Place::Message));
        for (name, value) in trailers.iter() {
            let place = Place::Trailer(format!("Edio-{name}"));
            secrets.extend(self.in_text(redactor, value, self.turn, &place));
        }
    }

    fn in_text(
        &self,
        redactor: &Redactor,
        text: &str,
        turn: Option<Number>,
        place: &Place,
    ) -> Vec<Secret> {
        let mut found = found_in(redactor, text, place);
        for secret in &mut found {
            secret.session = Some(self.session.clone());
            secret.turn = turn;
        }
        found
    }
}

fn found_in(redactor: &Redactor, text: &str, place: &Place) -> Vec<Secret> {
    let found = redactor.found(text).into_iter().map(|finding| {
        let secret = &text[finding.range];
        let length = secret.chars().count();
        Secret {
            session: None,
            turn: None,
            place: place.clone(),
            kind: finding.kind,
            start: secret.chars().take((length / 4).min(4)).collect(),
            length,
        }
    });
    found.collect()
}

/// In the texts beside turns: prompts, transcripts, what tools were given and said.
fn find_beside(
    workspace: &Workspace,
    redactor: &Redactor,
    noted: &[Noted],
    secrets: &mut Vec<Secret>,
) -> Result<()> {
    let turns = noted.iter().filter_map(|noted| {
        let (turn, (_, trailers)) = (noted.turn?, trailers::parse(&noted.commit.message)?);
        let named = ["Side", "Conversation"].map(|name| trailers.get(name).and_then(Oid::new));
        Some(named.into_iter().flatten().map(move |side| (side, turn)))
    });
    let turns: BTreeMap<Oid, Number> = turns.flatten().collect();
    let sides: Vec<&Noted> = noted.iter().filter(|noted| noted.is_side).collect();
    let trees: Vec<Oid> = sides.iter().map(|side| side.commit.tree.clone()).collect();
    let is_text = |name: &[u8]| {
        let mut texts = [conversation::FILE, transcript::FILE].iter();
        texts.any(|text| name == text.as_bytes())
    };
    let files = workspace.git.files_of_trees(&trees, is_text)?;
    let oids: BTreeSet<Oid> = files.iter().flatten().map(|(_, oid)| oid.clone()).collect();
    let oids: Vec<Oid> = oids.into_iter().collect();
    let contents = workspace.git.raw_objects("blob", &oids)?;
    let contents: BTreeMap<Oid, Vec<u8>> = oids.into_iter().zip(contents).collect();
    for (side, files) in sides.into_iter().zip(&files) {
        let turn = turns.get(&side.commit.oid).copied();
        for (path, oid) in files {
            let text = contents.get(oid).map_or(&[][..], Vec::as_slice);
            let place = Place::Beside(String::from_utf8_lossy(path).into_owned());
            let text = String::from_utf8_lossy(text);
            secrets.extend(side.in_text(redactor, &text, turn, &place));
        }
    }
    Ok(())
}

/// In these files.
fn find_in_files(
    workspace: &Workspace,
    redactor: &Redactor,
    files: &BTreeMap<Oid, Vec<u8>>,
    secrets: &mut Vec<Secret>,
) -> Result<()> {
    let oids: Vec<Oid> = files.keys().cloned().collect();
    let look = |oid: &Oid, content: &[u8]| {
        if !content.contains(&0) {
            let path = files.get(oid).cloned().unwrap_or_default();
            let text = String::from_utf8_lossy(content);
            secrets.extend(found_in(redactor, &text, &Place::File(path)));
        }
    };
    Ok(workspace.git.each_blob_up_to(&oids, LARGEST, look)?)
}
