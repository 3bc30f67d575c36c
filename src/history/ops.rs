//! Operations: what changed the work tree or the session otherwise than by a snapshot, each as a commit.
//!
//! The commit is written before the first byte on disk changes. So a command that finds the last operation unfinished
//! knows what was meant, and what was there before.

use crate::error::Result;
use crate::gitengine::{Commit, GitError, NewCommit, Oid, RefChange, Signature};

use super::refnames::{self, Leaf, SessionId, Shelf};
use super::refs;
use super::session::Session;
use super::trailers::{self, Trailers};
use super::turn::Turn;
use super::workspace::{Locked, Workspace};

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// The whole work tree was brought to a turn.
    Restore,
    /// Some paths were.
    RestorePaths,
    /// What some turns did was taken back.
    Revert,
    /// The last turn or operation was taken back.
    Undo,
    /// The last undo was.
    Redo,
    /// The session became a commit of the user's.
    Accept,
    /// The session was put away without a commit.
    Close,
}

const DEEDS: [Deed; 7] = [
    Deed::Restore,
    Deed::RestorePaths,
    Deed::Revert,
    Deed::Undo,
    Deed::Redo,
    Deed::Accept,
    Deed::Close,
];

impl Deed {
    fn name(self) -> &'static str {
        match self {
            Deed::Restore => "restore",
            Deed::RestorePaths => "restore-paths",
            Deed::Revert => "revert",
            Deed::Undo => "undo",
            Deed::Redo => "redo",
            Deed::Accept => "accept",
            Deed::Close => "close",
        }
    }

    /// Does it end in a turn of its own, not at one that is there already?
    pub fn ends_anew(self) -> bool {
        matches!(self, Deed::RestorePaths | Deed::Revert)
    }

    fn named(name: &str) -> Option<Self> {
        DEEDS.into_iter().find(|deed| deed.name() == name)
    }
}

/// What was on disk behind conversions, in a work tree that a session begun unseen had come back to: each file's bytes were
/// its blob's, but for what is noted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromBytes {
    /// Nothing is.
    Blobs,
    /// It is, in this side commit.
    Noted(Oid),
}

impl FromBytes {
    fn read(text: &str) -> Option<Self> {
        match text {
            "blobs" => Some(Self::Blobs),
            oid => Oid::new(oid).map(Self::Noted),
        }
    }

    fn write(&self) -> String {
        match self {
            Self::Blobs => "blobs".to_owned(),
            Self::Noted(side) => side.as_str().to_owned(),
        }
    }

    /// The side commit.
    pub fn side(&self) -> Option<&Oid> {
        match self {
            Self::Blobs => None,
            Self::Noted(side) => Some(side),
        }
    }
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What is done.
    pub deed: Deed,
    /// In a person's words: `restore 6`.
    pub text: String,
    /// The work tree that it leads to.
    pub tree: Oid,
    /// The snapshot that the work tree equalled before.
    pub from: Oid,
    /// The snapshot that it leads to, or takes its paths from.
    pub to: Oid,
    /// The highest turn number at that time: a later one came after.
    pub last: u32,
    /// The name of the work tree.
    pub worktree: String,
    /// What the work tree can't hold and would be lost.
    pub side: Option<Oid>,
    /// What was known of the bytes before, where the snapshot itself does not tell.
    pub from_bytes: Option<FromBytes>,
    /// For undo and redo: the turn or operation that is taken back, or done again. For an accept that is made again: the
    /// undo. For revert: the first of the turns.
    pub undoes: Option<Oid>,
    /// For accept: does a session go on after it?
    pub goes_on: bool,
    /// For the undo of an accept or a close: the session begun since, which it puts away. Done again, that goes on.
    pub next: Option<SessionId>,
    /// For accept: HEAD before.
    pub head_before: Option<Oid>,
    /// For accept: HEAD after.
    pub head_after: Option<Oid>,
    /// For accept: the branch that moves.
    pub branch: Option<String>,
}

impl Operation {
    /// An operation on the work tree of a session that stands at `from`; it leads to this tree.
    pub fn on_work_tree(
        deed: Deed,
        text: String,
        tree: Oid,
        session: &Session,
        from: &Turn,
    ) -> Self {
        Self {
            deed,
            text,
            tree,
            from: from.commit.clone(),
            to: from.commit.clone(),
            last: session.last(),
            worktree: from.note.worktree.clone(),
            side: None,
            from_bytes: None,
            undoes: None,
            goes_on: false,
            next: None,
            head_before: None,
            head_after: None,
            branch: None,
        }
    }

    /// Reads the commit of an operation; `None` where it is none.
    pub fn read(commit: &Commit) -> Option<Self> {
        let (text, trailers) = trailers::parse(&commit.message)?;
        let oid = |name: &str| trailers.get(name).and_then(Oid::new);
        // Nothing that could be taken for an option is handed to git.
        let branch = trailers.get("Branch").map(str::to_owned);
        if branch
            .as_ref()
            .is_some_and(|name| !name.starts_with("refs/"))
        {
            return None;
        }
        Some(Self {
            deed: Deed::named(trailers.get("Op")?)?,
            text: text.to_owned(),
            tree: commit.tree.clone(),
            from: oid("From")?,
            to: oid("To")?,
            last: trailers.read("Last")?,
            worktree: trailers.get("Worktree")?.to_owned(),
            side: oid("Side"),
            from_bytes: trailers.get("From-Bytes").and_then(FromBytes::read),
            undoes: oid("Undoes"),
            goes_on: trailers.get("Goes-On").is_some(),
            next: trailers.get("Next").and_then(|id| id.parse().ok()),
            head_before: oid("Head-Before"),
            head_after: oid("Head-After"),
            branch,
        })
    }

    /// Does it put the session away?
    pub fn puts_away(&self) -> bool {
        matches!(self.deed, Deed::Accept | Deed::Close)
    }

    /// The same, in this work tree.
    fn at(&self, workspace: &Workspace) -> Self {
        Self {
            worktree: workspace.name.clone(),
            ..self.clone()
        }
    }

    fn message(&self, session: &Session) -> Vec<u8> {
        let oid = |oid: &Option<Oid>| oid.as_ref().map(|oid| oid.as_str().to_owned());
        Trailers::default()
            .with("Session", session.id.as_str())
            .with("Op", self.deed.name())
            .with("From", self.from.as_str())
            .with("To", self.to.as_str())
            .with("Last", self.last.to_string())
            .with("Worktree", &self.worktree)
            .with_some("Side", oid(&self.side))
            .with_some("From-Bytes", self.from_bytes.as_ref().map(FromBytes::write))
            .with_some("Undoes", oid(&self.undoes))
            .with_some("Goes-On", self.goes_on.then_some("yes"))
            .with_some("Next", self.next.as_ref().map(SessionId::as_str))
            .with_some("Head-Before", oid(&self.head_before))
            .with_some("Head-After", oid(&self.head_after))
            .with_some("Branch", self.branch.clone())
            .message(&self.text)
    }
}

/// An operation that is being written down. Nothing leads to it yet.
///
/// Where a snapshot is recorded in between, it is no longer what is to be done ([`Begun::is_for`]), and is dropped: what
/// was written of it may be gone from the quarantine.
pub struct Begun {
    session: SessionId,
    operation: Operation,
    before: Option<Oid>,
    /// The operation that it takes the place of.
    replaces: Option<Oid>,
    parents: Vec<Oid>,
    message: Vec<u8>,
    seconds: i64,
    commit: NewCommit,
}

impl Begun {
    /// Starts to write down an operation, synced to disk: git is at it while something else is done.
    ///
    /// # Errors
    ///
    /// The last operation can't be read: what hangs on it would be lost. Or git could not be started.
    pub fn start(
        workspace: &Locked,
        session: &Session,
        operation: &Operation,
        seconds: i64,
    ) -> Result<Self> {
        if let Some(damaged) = session.damaged_at(Leaf::Ops) {
            return Err(damaged.error());
        }
        let operation = operation.at(workspace);
        let before = session.ops.as_ref().map(|commit| commit.oid.clone());
        // The user's commit is among them: taken back, it hangs on nothing else.
        let mut parents: Vec<&Oid> = before.iter().chain([&operation.from]).collect();
        let others = [&operation.to].into_iter().chain(&operation.head_after);
        parents.extend(others.filter(|oid| *oid != &operation.from));
        let message = operation.message(session);
        let by = Signature::edio(seconds);
        let git = workspace.git.synced();
        let commit = git.start_commit(&operation.tree, &parents, &by, &message)?;
        Ok(Self {
            session: session.id.clone(),
            replaces: None,
            parents: parents.into_iter().cloned().collect(),
            operation,
            before,
            message,
            seconds,
            commit,
        })
    }

    /// Has it take the place of an operation that was set aside ([`set_aside_last`]), at one stroke.
    #[must_use]
    pub fn in_place_of(self, replaces: Option<Oid>) -> Self {
        Self { replaces, ..self }
    }

    /// Is it written down for this operation, as the next one of this session?
    pub fn is_for(&self, operation: &Operation, session: &Session, workspace: &Locked) -> bool {
        self.session == session.id
            && self.operation == operation.at(workspace)
            && self.before.as_ref() == session.ops.as_ref().map(|commit| &commit.oid)
    }

    /// Records it as about to begin. `session` then knows it as its last one.
    ///
    /// # Errors
    ///
    /// git failed, or another process recorded one meanwhile.
    pub fn record(self, workspace: &Locked, session: &mut Session) -> Result<()> {
        let oid = self.commit.finish()?;
        let name = refnames::name(Shelf::Active, &session.id, Leaf::Ops);
        let before = self.replaces.as_ref().or(self.before.as_ref());
        refs::change(workspace, &[RefChange::set(name, before, &oid)])?;
        session.ops = Some(Commit {
            oid,
            tree: self.operation.tree,
            parents: self.parents,
            seconds: self.seconds,
            message: self.message,
        });
        Ok(())
    }
}

/// Records an operation that is about to begin, synced to disk. `session` then knows it as its last one.
///
/// # Errors
///
/// git failed, or another process recorded one meanwhile.
pub fn record(
    workspace: &Locked,
    session: &mut Session,
    operation: &Operation,
    seconds: i64,
) -> Result<()> {
    Begun::start(workspace, session, operation, seconds)?.record(workspace, session)
}

/// Takes the last operation off again: it was written down, and did not come about.
///
/// # Errors
///
/// git failed.
pub fn take_off_last(workspace: &Locked, session: &mut Session) -> Result<()> {
    let Some(last) = set_aside_last(workspace, session)? else {
        return Ok(());
    };
    let name = refnames::name(Shelf::Active, &session.id, Leaf::Ops);
    let change = match &session.ops {
        Some(before) => RefChange::set(name, Some(&last), &before.oid),
        None => RefChange::delete(name, &last),
    };
    refs::change(workspace, &[change])
}

/// Has the session stand where it stood before its last operation. The ref of that one stays until another takes its place:
/// so a kill in between leaves it unfinished, as it was. Returns its commit.
///
/// # Errors
///
/// git failed.
pub fn set_aside_last(workspace: &Locked, session: &mut Session) -> Result<Option<Oid>> {
    let Some(last) = session.ops.take() else {
        return Ok(None);
    };
    let parents = workspace.git.commits(&last.parents)?;
    session.ops = parents
        .into_iter()
        .next()
        .filter(|commit| Operation::read(commit).is_some());
    Ok(Some(last.oid))
}

/// The operation of this commit; `None` where it is none.
///
/// # Errors
///
/// git failed.
pub fn of_commit(workspace: &Workspace, id: &Oid) -> Result<Option<Operation>> {
    let commits = workspace.git.commits(std::slice::from_ref(id))?;
    Ok(commits.first().and_then(Operation::read))
}

/// The commits before an operation, the last one first. Where one can't be read, the operations down to it.
fn line_of(workspace: &Workspace, last: &Commit) -> Result<Vec<Commit>> {
    match workspace.git.first_parents(&last.oid) {
        Err(GitError::Exit { .. }) => {}
        line => return Ok(line?),
    }
    let mut line = vec![last.clone()];
    while let Some(before) = line.last().and_then(|commit| commit.parents.first()) {
        let before = workspace.git.commit_that_is_whole(before)?;
        match before.filter(|commit| Operation::read(commit).is_some()) {
            Some(commit) => line.push(commit),
            None => break,
        }
    }
    Ok(line)
}

/// The operations of a session with their commits, the oldest first.
///
/// # Errors
///
/// git failed.
pub fn all(workspace: &Workspace, session: &Session) -> Result<Vec<(Oid, Operation)>> {
    let Some(last) = &session.ops else {
        return Ok(Vec::new());
    };
    let mut operations = Vec::new();
    for commit in line_of(workspace, last)? {
        // The first operation has no operation before it.
        let Some(operation) = Operation::read(&commit) else {
            break;
        };
        operations.push((commit.oid, operation));
    }
    operations.reverse();
    Ok(operations)
}
