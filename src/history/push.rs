//! Push: sessions go to a remote.
//!
//! Nothing leaves that was not asked for, and what looks like a secret only with the user's word. A ref of the remote moves
//! only from where it was seen, all of a session's at once: who pushes at the same time takes no turn away.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result, first_of};
use crate::gitengine::{Commit, Git, Oid, RefChange, Remote, RepoPath, Sent};

use super::ancestry::Ancestry;
use super::leak::{self, Leak};
use super::ops::Operation;
use super::refnames::{Leaf, SessionId, Shelf};
use super::remote::{self, Heads, Incoming};
use super::session::Session;
use super::shared::{self, Leaves, Relation, SideCommits, State};
use super::trailers;
use super::turn::Turn;
use super::workspace::{Locked, Workspace};

/// What is wanted.
pub struct Wish {
    /// What goes along of the side commits.
    pub sides: SideCommits,
    /// What happens where something looks like a secret.
    pub secrets: Secrets,
    /// Is anything to be sent at all?
    pub sending: Sending,
}

/// What happens where something looks like a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    /// The session is refused.
    Refuse,
    /// It goes: the user has looked at it.
    Send,
}

/// Is it done, or only looked at?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// It is sent.
    Real,
    /// It is only said what would leave.
    Dry,
}

/// What comes of a session at the remote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Went {
    /// It is new there.
    New,
    /// It was there, and gets more.
    More,
    /// All of it was there.
    Known,
}

/// A session that is pushed.
pub struct Pushed {
    /// Its id.
    pub id: SessionId,
    /// What leaves, and what comes of it; or why it is refused.
    pub outcome: Result<Parcel>,
}

/// What leaves of a session.
#[derive(Clone, Debug)]
pub struct Parcel {
    /// How many turns the session has.
    pub turns: usize,
    /// What comes of it.
    pub went: Went,
    /// How many objects the remote lacks.
    pub objects: usize,
    /// What these take on disk here.
    pub bytes: u64,
    /// The files that they are about; `beside/…` are no files of the work tree.
    pub files: Vec<RepoPath>,
    /// The commits of the user's own among them.
    pub commits: Vec<Oid>,
    changes: Vec<RefChange>,
}

impl Parcel {
    /// Nothing leaves.
    fn empty(session: &Session, went: Went) -> Self {
        Self {
            turns: session.turns.len(),
            went,
            objects: 0,
            bytes: 0,
            files: Vec::new(),
            commits: Vec::new(),
            changes: Vec::new(),
        }
    }
}

/// So often it is tried again where somebody else pushes meanwhile.
const TRIES: usize = 5;

/// So many sessions go in one push: their refs are words of a command.
const AT_ONCE: usize = 100;

/// Sends these sessions. Each stands for itself: one that is refused keeps no other from going.
///
/// # Errors
///
/// The remote can't be reached, or takes nothing; or git failed.
pub fn push(
    workspace: &mut Locked,
    remote: &Remote,
    ids: &[SessionId],
    wish: &Wish,
) -> Result<Vec<Pushed>> {
    let mut pushed = Vec::new();
    for ids in ids.chunks(AT_ONCE) {
        pushed.extend(push_some(workspace, remote, ids, wish)?);
    }
    Ok(pushed)
}

fn push_some(
    workspace: &mut Locked,
    remote: &Remote,
    ids: &[SessionId],
    wish: &Wish,
) -> Result<Vec<Pushed>> {
    let mut refusal = String::new();
    let mut before = None;
    for _ in 0..TRIES {
        let heads = workspace.while_free(|workspace| remote::heads(workspace, remote))?;
        if before.as_ref() == Some(&heads.sessions) {
            // Nobody came in between.
            break;
        }
        let parcels = parcels(workspace, remote, &heads, ids, wish)?;
        let changes = parcels
            .iter()
            .filter_map(|pushed| pushed.outcome.as_ref().ok());
        let changes: Vec<RefChange> = changes.flat_map(|it| it.changes.clone()).collect();
        if changes.is_empty() || wish.sending == Sending::Dry {
            return Ok(parcels);
        }
        let sent = workspace.while_free(|workspace| {
            // All objects were given to the repository.
            let git = Git {
                quarantine: None,
                ..workspace.git.clone()
            };
            let sent = git.send_to(remote, &workspace.settings, &changes);
            sent.map_err(remote::unreachable(remote))
        })?;
        match sent {
            Sent::Done => return Ok(parcels),
            Sent::Refused(why) => refusal = why,
        }
        before = Some(heads.sessions);
    }
    Err(refused_there(remote, refusal))
}

/// The error for a remote that says no.
pub fn refused_there(remote: &Remote, why: String) -> Error {
    let name = remote::shown(remote);
    let error = match why.contains("shallow") {
        true => Error::cannot(format!(
            "{name} lacks the history that the session rests on, and so does this shallow clone"
        ))
        .hint(
            "push the branch that it was made on first, or get its history: git fetch --unshallow",
        ),
        false => Error::cannot(format!("{name} does not take it")),
    };
    error.because(Error::cannot(why))
}

/// What would leave of each of these sessions.
fn parcels(
    workspace: &mut Locked,
    remote: &Remote,
    heads: &Heads,
    ids: &[SessionId],
    wish: &Wish,
) -> Result<Vec<Pushed>> {
    let mut sessions = Vec::new();
    for session in wanted(workspace, ids)? {
        let leaves = shared::outgoing(workspace, &session, wish.sides)?;
        sessions.push((session, leaves));
    }
    let theirs = theirs(workspace, remote, heads, &sessions)?;
    let gone = workspace.git.missing(&heads.tips)?;
    let had: Vec<Oid> = heads
        .tips
        .iter()
        .filter(|tip| !gone.contains(tip))
        .cloned()
        .collect();
    let pushed = sessions.iter().map(|(session, leaves)| Pushed {
        id: session.id.clone(),
        outcome: parcel(workspace, remote, session, leaves, &theirs, &had, wish),
    });
    Ok(pushed.collect())
}

fn wanted(workspace: &Workspace, ids: &[SessionId]) -> Result<Vec<Session>> {
    if let [id] = ids {
        return Ok(vec![Session::wanted(workspace, Some(id))?]);
    }
    let mut sessions = Session::all(workspace)?;
    sessions.retain(|session| session.shelf != Shelf::Shared && ids.contains(&session.id));
    Ok(sessions)
}

/// How a session stands to what the remote has of it, and what must change there.
struct There {
    relation: Relation,
    changes: Vec<RefChange>,
}

/// What the remote has of those of these sessions that it has in another state. What is not here of it is fetched, to be
/// looked at, and goes again.
fn theirs(
    workspace: &mut Locked,
    remote: &Remote,
    heads: &Heads,
    sessions: &[(Session, Leaves)],
) -> Result<BTreeMap<SessionId, Result<There>>> {
    let differ = sessions.iter().filter_map(|(session, leaves)| {
        let there = heads.sessions.get(&session.id)?;
        Some((session, leaves, there))
    });
    let differ: Vec<_> = differ.collect();
    let has = |there: &Leaves, leaf: &(Leaf, Oid)| there.contains(leaf);
    let unlike: Vec<(&SessionId, &Leaves)> = differ
        .iter()
        .filter(|(_, leaves, there)| !there.iter().all(|leaf| has(leaves, leaf)))
        .map(|(session, _, there)| (&session.id, *there))
        .collect();
    let tips = unlike.iter().flat_map(|(_, there)| there.iter());
    let tips: Vec<Oid> = tips.map(|(_, oid)| oid.clone()).collect();
    let look = |workspace: &mut Locked| -> Result<_> {
        let mut ancestry = Ancestry::read(workspace, &tips.iter().collect::<Vec<_>>())?;
        let mut found = BTreeMap::new();
        for (session, leaves, there) in &differ {
            let look = how_it_stands(workspace, &mut ancestry, session, leaves, there);
            found.insert(session.id.clone(), look);
        }
        Ok(found)
    };
    if workspace.git.missing(&tips)?.is_empty() {
        return look(workspace);
    }
    let incoming = Incoming::new(workspace)?;
    incoming.take(workspace, remote, &unlike)?;
    incoming.with(workspace, look)
}

fn how_it_stands(
    workspace: &Workspace,
    ancestry: &mut Ancestry,
    session: &Session,
    leaves: &Leaves,
    there: &Leaves,
) -> Result<There> {
    let is_had = |leaf: &(Leaf, Oid)| leaf.0 == Leaf::Side || there.contains(leaf);
    let relation = match leaves.iter().all(is_had) {
        true => Relation::Same,
        false => {
            let theirs = State::given(workspace, ancestry, &session.id, there)?;
            State::of(workspace, session)?.relation(workspace, &theirs)?
        }
    };
    Ok(There {
        changes: shared::changes(workspace, &session.id, there, leaves)?,
        relation,
    })
}

fn parcel(
    workspace: &Workspace,
    remote: &Remote,
    session: &Session,
    leaves: &Leaves,
    theirs: &BTreeMap<SessionId, Result<There>>,
    had: &[Oid],
    wish: &Wish,
) -> Result<Parcel> {
    let none = Vec::new();
    let (went, changes) = match theirs.get(&session.id) {
        None => (
            Went::New,
            shared::changes(workspace, &session.id, &none, leaves)?,
        ),
        Some(Err(error)) => {
            return Err(Error::refused(format!(
                "what {} has of {} is not in order: {error}",
                remote::shown(remote),
                session.id
            ))
            .hint(take_off(remote, &session.id)));
        }
        Some(Ok(there)) => {
            refuse_other(remote, &session.id, &there.relation)?;
            match there.relation {
                Relation::Behind => (Went::Known, Vec::new()),
                _ if there.changes.is_empty() => (Went::Known, Vec::new()),
                _ => (Went::More, there.changes.clone()),
            }
        }
    };
    let tips: Vec<Oid> = changes
        .iter()
        .filter_map(|change| change.after.clone())
        .collect();
    if tips.is_empty() {
        return Ok(Parcel::empty(session, went));
    }
    let leaving = workspace.git.leaving(&tips, had)?;
    let commits = leaving.iter().filter(|object| object.is_commit);
    let commits: Vec<Oid> = commits.map(|object| object.oid.clone()).collect();
    let commits = workspace.git.commits(&commits)?;
    let files = files(workspace, &commits)?;
    if wish.secrets == Secrets::Refuse {
        let known = [had, &before_it(workspace, session)?].concat();
        let contents = workspace.git.leaving_by_path(&tips, &known)?;
        let leaks = leak::find(workspace, &commits, &contents, &files)?;
        refuse_leaks(&session.id, &leaks)?;
    }
    let mut users = commits;
    users.retain(|commit| trailers::parse(&commit.message).is_none());
    Ok(Parcel {
        turns: session.turns.len(),
        went,
        objects: leaving.len(),
        bytes: leaving.iter().map(|object| object.bytes).sum(),
        files,
        commits: users.into_iter().map(|commit| commit.oid).collect(),
        changes,
    })
}

/// The commit of the user's that a session began on. What leads to it is theirs, and was theirs before.
fn before_it(workspace: &Workspace, session: &Session) -> Result<Vec<Oid>> {
    let Some(first) = session.turns.values().next() else {
        return Ok(Vec::new());
    };
    let baseline = session.before(workspace, first)?;
    Ok(baseline.note.head.commit.into_iter().collect())
}

/// The files that snapshots among these commits changed, and those in side commits, which are not paths of the work tree.
fn files(workspace: &Workspace, commits: &[Commit]) -> Result<Vec<RepoPath>> {
    let git = &workspace.git;
    let is_snapshot = |commit: &&Commit| Turn::read(commit).is_some();
    let (snapshots, others): (Vec<&Commit>, Vec<&Commit>) = commits.iter().partition(is_snapshot);
    let parents = snapshots.iter().filter_map(|commit| commit.parents.first());
    let parents: BTreeSet<Oid> = parents.cloned().collect();
    let parents = git.commits(&parents.into_iter().collect::<Vec<_>>())?;
    let trees: BTreeMap<&Oid, &Oid> = parents.iter().map(|it| (&it.oid, &it.tree)).collect();
    let mut pairs = Vec::new();
    for commit in &snapshots {
        let before = commit.parents.first().and_then(|parent| trees.get(parent));
        let before = match before {
            Some(tree) => (*tree).clone(),
            None => git.empty_tree()?,
        };
        pairs.push((before, commit.tree.clone()));
    }
    let changed = git.names_of_differences(&pairs, &[])?.into_iter().flatten();
    let is_side = |commit: &&Commit| {
        trailers::parse(&commit.message).is_some() && Operation::read(commit).is_none()
    };
    let sides = others.into_iter().filter(is_side);
    let sides: Vec<Oid> = sides.map(|commit| commit.tree.clone()).collect();
    let beside = git.files_of_trees(&sides, |_| true)?.into_iter().flatten();
    let beside = beside.filter_map(|(path, _)| RepoPath::new([b"beside/", &path[..]].concat()));
    let files: BTreeSet<RepoPath> = changed.chain(beside).collect();
    Ok(files.into_iter().collect())
}

fn refuse_other(remote: &Remote, id: &SessionId, relation: &Relation) -> Result<()> {
    let Some(what) = relation.obstacle() else {
        return Ok(());
    };
    let name = remote::shown(remote);
    Err(Error::refused(format!("{name} has {id} already, {what}"))
        .hint(format!(
            "to look at it, from another clone: edio fetch {name} --session {id}"
        ))
        .hint(take_off(remote, id)))
}

fn take_off(remote: &Remote, id: &SessionId) -> String {
    let name = remote::shown(remote);
    format!("to take it off there: edio gc --remote {name} --session {id}")
}

fn refuse_leaks(id: &SessionId, leaks: &[Leak]) -> Result<()> {
    const NAMED: usize = 5;
    if leaks.is_empty() {
        return Ok(());
    }
    let in_words = |leak: &Leak| match leak.path() {
        Some(path) => format!("{} ({leak})", String::from_utf8_lossy(path)),
        None => leak.to_string(),
    };
    let error = Error::refused(format!(
        "{id} has what looks like a secret: {}",
        first_of(NAMED, leaks.iter().map(in_words))
    ));
    let has_content = leaks.iter().any(|leak| matches!(leak, Leak::Secret { .. }));
    let error = match has_content {
        true => error.hint(format!(
            "to see all of it: edio redact --check --files --session {id}"
        )),
        false => error,
    };
    Err(error
        .hint(format!(
            "to take a file out of all turns: edio forget -f FILE --session {id}"
        ))
        .hint("if it is none: edio push --force"))
}
