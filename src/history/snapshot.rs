//! Taking a snapshot: the work tree as a commit, under a ref.

use std::collections::BTreeSet;

use crate::error::{Error, Result, first_of};
use crate::gitengine::{Errand, Head, Oid, RepoPath, Stat};

use super::baseline::{begin_at_head, head_tree};
use super::bytes::{self, RawIds};
use super::choice::Choice;
use super::conversation::{self, Keep};
use super::ground::{Ground, ground, write_turn};
use super::journal::{self, Look, Noted};
use super::leak;
use super::limits::TooMuch;
use super::pack;
use super::prompt;
use super::random;
use super::refnames::SessionId;
use super::restore;
use super::scan::{Named, Scan, scan};
use super::side::{self, OfTurn};
use super::skipped::{self, NotHeld, Skipped};
use super::state::Standing;
use super::turn::{Ending, Kind, Note, Number, Turn, Work};
use super::workspace::{Locked, Workspace};

/// What to do where the work tree is the current turn's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unchanged {
    /// Take a turn all the same: a label is worth one.
    Take,
    /// Take none.
    Skip,
}

/// A moment: the time, and a random number to tell apart what begins in the same second.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Seconds since 1970.
    pub seconds: i64,
    /// Random.
    pub random: u32,
}

impl Moment {
    /// The moment of this time.
    ///
    /// # Errors
    ///
    /// The system gives no random numbers.
    pub fn at(seconds: i64) -> Result<Self> {
        let random = u32::from_ne_bytes(random::bytes_or_error()?);
        Ok(Self { seconds, random })
    }
}

/// A snapshot to take.
pub struct Request {
    /// Why.
    pub kind: Kind,
    /// What the person or agent says; without, the paths are named.
    pub message: Option<String>,
    /// Whether an equal work tree is worth a turn.
    pub unchanged: Unchanged,
    /// Who worked, and how it ended.
    pub work: Work,
    /// Now.
    pub moment: Moment,
}

/// What came of it.
pub struct Taken {
    /// The turn that was taken; `None` where nothing had changed and none was wanted.
    pub turn: Option<Turn>,
    /// Where the work tree stands now. `None` where there is no session.
    pub standing: Option<Standing>,
    /// What the work tree has that no turn can hold.
    pub skipped: Vec<Skipped>,
    /// What a killed restore had left in the work tree: saved in the side commit, and removed.
    pub swept: Vec<RepoPath>,
    /// Untracked files that it is the first to hold, and that by their names are for secrets.
    pub secrets: Vec<RepoPath>,
    /// Why the turns before it could not be packed. It is there all the same.
    pub not_packed: Option<Error>,
}

/// Sees that a message says something, and is not something else gone astray.
///
/// # Errors
///
/// It is empty, or too long.
pub fn checked_message(message: String) -> Result<String> {
    const LONGEST: usize = 64 << 10;
    if message.trim().is_empty() {
        return Err(Error::usage("the message is empty").hint("say in a few words what was done"));
    }
    if message.len() > LONGEST {
        let length = message.len();
        return Err(Error::usage(format!(
            "the message has {length} bytes; {LONGEST} are the most"
        )));
    }
    Ok(message)
}

/// Takes a snapshot of the work tree, and begins a session where there is none.
///
/// # Errors
///
/// Any step failed. Then there is no turn, and everything is as before.
pub fn take(workspace: &mut Locked, request: &Request, too_much: TooMuch) -> Result<Taken> {
    if request.unchanged == Unchanged::Take {
        let sure = [Errand::Commit, Errand::MoveRefs];
        workspace.git.start_ahead(&sure);
    }
    let scan = scan(workspace, too_much)?;
    record(workspace, scan, request)
}

/// Records a scan as a snapshot.
///
/// # Errors
///
/// As for [`take`].
pub fn record(workspace: &mut Locked, scan: Scan, request: &Request) -> Result<Taken> {
    let ground = ground(workspace)?;
    let before = match &ground {
        Some(ground) => ground.tree.clone(),
        None => head_tree(workspace, &scan.head)?,
    };
    // What steps have led to is worth a turn, even back where they began.
    let closes = request.kind != Kind::Step
        && ground
            .as_ref()
            .is_some_and(|ground| ground.standing.is_open_step());
    let look = journal::look(workspace, ground.as_ref().map(|ground| &ground.standing))?;
    let may_skip = scan.tree == before
        && request.unchanged == Unchanged::Skip
        && !closes
        && !look.has_changed()
        && !is_held_otherwise(workspace, ground.as_ref(), &scan)?;
    let turn = if may_skip && scan.on_disk(workspace)?.hidden.is_empty() {
        None
    } else {
        let ground = match ground.clone() {
            Some(ground) => ground,
            None => begin_at_head(workspace, before, &scan.head, request.moment)?,
        };
        Some(write_scan(workspace, ground, &scan, look, request)?)
    };
    let skipped = scan.skipped.clone();
    let leftovers = scan.leftovers.clone();
    let secrets = match turn {
        Some(_) => leak::named(scan.added()).cloned().collect(),
        None => Vec::new(),
    };
    let mut not_packed = None;
    if turn.is_some() || ground.is_some() {
        if turn.is_some() {
            not_packed = pack::count(workspace).err();
        }
        remember(workspace, scan)?;
        restore::sweep(workspace, &leftovers, request.moment.seconds)?;
    }
    Ok(Taken {
        turn,
        standing: workspace.state.session.clone(),
        skipped,
        swept: leftovers,
        secrets,
        not_packed,
    })
}

/// Is something not held that the snapshot before holds, or the other way round? The trees do not tell, and a way back to
/// that snapshot would be refused, or leave out what is held now.
fn is_held_otherwise(workspace: &Locked, ground: Option<&Ground>, scan: &Scan) -> Result<bool> {
    let all_held = |ground: &&Ground| ground.standing.all_held && scan.carried().next().is_none();
    let Some(ground) = ground.filter(|ground| !all_held(ground)) else {
        return Ok(false);
    };
    let current = std::slice::from_ref(&ground.standing.current);
    let commits = workspace.git.commits(current)?;
    let Some(turn) = commits.first().and_then(Turn::read) else {
        return Ok(true);
    };
    let then = NotHeld::of(&side::all_skipped(workspace, &turn)?);
    if scan.carried().any(|path| !then.covers(path)) {
        return Ok(true);
    }
    let again = then.paths().filter(|path| !scan.not_held.covers(path));
    let again: Vec<RepoPath> = again.cloned().collect();
    Ok(!again.is_empty() && !workspace.git.entries_within(&scan.tree, &again)?.is_empty())
}

/// Keeps what a scan left behind, for the next command.
///
/// # Errors
///
/// The git directory can't be written.
pub fn remember(workspace: &mut Locked, scan: Scan) -> Result<()> {
    // No ref may lead to it yet, and the next command empties the quarantine.
    workspace.git.give_objects()?;
    scan.keep(workspace)?;
    workspace.state.save(&workspace.scratch())
}

fn write_scan(
    workspace: &mut Locked,
    ground: Ground,
    scan: &Scan,
    look: Look,
    request: &Request,
) -> Result<Turn> {
    let before = match request.kind {
        Kind::Step => &ground.tree,
        _ if ground.standing.is_open_step() => &ground.standing.base,
        _ => &ground.tree,
    };
    let (differences, mut stat) = workspace.git.differences_counted(before, &scan.tree, &[])?;
    let mut paths: Vec<_> = differences.iter().map(|d| &d.path).collect();
    // Since the last step only the bytes of a file may have changed, and since the last turn its blob, too.
    let counted: BTreeSet<&RepoPath> = paths.iter().copied().collect();
    let hidden = scan.on_disk(workspace)?.hidden.iter();
    let hidden = hidden.map(|(path, _)| path);
    paths.extend(hidden.filter(|path| !counted.contains(path)));
    stat.files = paths.len() as u64;
    let message = request.message.clone();
    let message = message.unwrap_or_else(|| summary_with(&paths, &look));
    let noted = journal::keep(workspace, &ground.standing.id, look)?;
    let (side, alone) = save_side(workspace, &ground.standing, scan, &noted, request.moment)?;
    let note = Note {
        message,
        kind: request.kind,
        stat,
        work: work(workspace, request),
        choice: scan.choice.clone(),
        skipped_count: scan.skipped.len(),
        skipped: scan.skipped.iter().take(skipped::NAMED).cloned().collect(),
        side,
        ..note(workspace, &ground.standing.id, &scan.head)
    };
    let seconds = request.moment.seconds;
    let turn = write_with_conversation(workspace, ground, &scan.tree, note, seconds)?;
    journal::remember(workspace, &turn.note.session, noted, alone);
    Ok(turn)
}

/// Writes a turn with what was said and done for it. A kill in between leaves that for the next turn, too.
fn write_with_conversation(
    workspace: &mut Locked,
    ground: Ground,
    tree: &Oid,
    mut note: Note,
    seconds: i64,
) -> Result<Turn> {
    let said = match note.kind {
        // A word that nobody knows keeps nothing new, and throws away nothing.
        Kind::Turn if Keep::set(&workspace.settings) == Some(Keep::Nothing) => {
            conversation::clear(workspace)?;
            None
        }
        Kind::Turn => conversation::Taken::of(workspace, &note.work)?,
        _ => None,
    };
    if let Some(said) = &said {
        let id = &ground.standing.id;
        let side = side::save_conversation(workspace, id, said, seconds)?;
        note.conversation = Some(side);
    }
    let turn = write_turn(workspace, ground, tree, note, seconds)?;
    if let Some(said) = said {
        said.done(workspace)?;
    }
    Ok(turn)
}

/// Who worked. A turn that is taken while an agent works on what it was told carries that.
fn work(workspace: &Workspace, request: &Request) -> Work {
    let mut work = request.work.clone();
    if request.kind == Kind::Turn && work.prompt.is_none() {
        let agent = work.agent.as_deref();
        let open = prompt::the_open_one(&workspace.state, agent, request.moment.seconds);
        if let Some(open) = open {
            work.prompt = Some(open.text.clone()).filter(|text| !text.is_empty());
            // The agent's own server does not know the conversation.
            let is_its_own = agent == Some(open.agent.as_str());
            work.agent_session = work
                .agent_session
                .or_else(|| open.session.clone().filter(|_| is_its_own));
            work.agent_prompt = open.id.clone().filter(|_| is_its_own);
        }
    }
    work
}

/// Records what became of the files that an agent's tool named, if anything did, as a step. Returns whether it did.
///
/// # Errors
///
/// Any step failed. Then there is none, and everything is as before.
pub fn record_named(
    workspace: &mut Locked,
    ground: Ground,
    named: Named,
    request: &Request,
) -> Result<bool> {
    let look = journal::look(workspace, Some(&ground.standing))?;
    if named.tree == ground.tree && !look.has_changed() {
        return Ok(false);
    }
    let git = &workspace.git;
    let (differences, stat) = git.differences_counted(&ground.tree, &named.tree, &[])?;
    let paths: Vec<_> = differences.iter().map(|d| &d.path).collect();
    let message = request.message.clone();
    let message = message.unwrap_or_else(|| summary_with(&paths, &look));
    let noted = journal::keep(workspace, &ground.standing.id, look)?;
    let of_turn = OfTurn {
        raw_ids: &RawIds::default(),
        skipped: &[],
        journal: &noted.journal,
    };
    let id = ground.standing.id.clone();
    let side = match noted.is_news {
        true => side::save_of_turn(workspace, &id, &of_turn, request.moment.seconds)?,
        false => ground.standing.side.clone(),
    };
    let note = Note {
        message,
        kind: request.kind,
        stat,
        work: work(workspace, request),
        skipped_count: named.skipped.len(),
        skipped: named.skipped,
        side: side.clone(),
        ..note(workspace, &id, &named.head)
    };
    write_turn(workspace, ground, &named.tree, note, request.moment.seconds)?;
    journal::remember(workspace, &id, noted, side);
    pack::count(workspace)?;
    workspace.state.save(&workspace.scratch())?;
    Ok(true)
}

/// Saves what the turn's tree can't hold: the bytes on disk behind conversions, a long list of what is skipped, and the
/// journal. Returns the side commit, and once more where it holds nothing but the journal.
fn save_side(
    workspace: &mut Locked,
    standing: &Standing,
    scan: &Scan,
    noted: &Noted,
    moment: Moment,
) -> Result<(Option<Oid>, Option<Oid>)> {
    let on_disk = scan.on_disk(workspace)?;
    let raw_ids = &on_disk.raw_ids;
    workspace.state.conversions = Some(bytes::fingerprint(workspace));
    let of_turn = OfTurn {
        raw_ids,
        skipped: &scan.skipped,
        journal: &noted.journal,
    };
    let side = match on_disk.is_news || noted.is_news || skipped::are_many(&scan.skipped) {
        true => side::save_of_turn(workspace, &standing.id, &of_turn, moment.seconds)?,
        false => {
            let is_used = !raw_ids.is_empty() || !noted.journal.is_empty();
            standing.side.clone().filter(|_| is_used)
        }
    };
    let alone = side.clone().filter(|_| of_turn.is_only_journal());
    Ok((side, alone))
}

/// A note with nothing to say yet.
pub fn note(workspace: &Workspace, session: &SessionId, head: &Head) -> Note {
    Note {
        message: String::new(),
        session: session.clone(),
        number: Number::turn(0),
        kind: Kind::Turn,
        head: match workspace.store {
            None => head.clone(),
            // The branch that a store's HEAD names is nobody's.
            Some(_) => Head::default(),
        },
        worktree: workspace.name.clone(),
        stat: Stat::default(),
        steps: 0,
        work: Work::default(),
        choice: Choice::default(),
        skipped_count: 0,
        skipped: Vec::new(),
        side: None,
        conversation: None,
    }
}

/// Closes the steps that lead to a turn which nobody finished: something else comes in between. Returns that turn;
/// `None` where no step is open.
///
/// # Errors
///
/// git failed.
pub fn close_steps(workspace: &mut Locked, moment: Moment) -> Result<Option<Turn>> {
    let Some(ground) = ground(workspace)?.filter(|ground| ground.standing.is_open_step()) else {
        return Ok(None);
    };
    let commits = workspace
        .git
        .commits(std::slice::from_ref(&ground.standing.current))?;
    let step = commits.first().and_then(Turn::read);
    let step = step.ok_or_else(|| Error::cannot("the current step can't be read"))?;
    let (_, stat) = workspace
        .git
        .differences_counted(&ground.standing.base, &step.tree, &[])?;
    let note = Note {
        kind: Kind::Turn,
        stat,
        message: match &step.note.work.prompt {
            Some(prompt) => prompt.clone(),
            None => step.note.message.clone(),
        },
        work: Work {
            ending: Some(Ending::Interrupted),
            tool: None,
            tool_call: None,
            ..step.note.work.clone()
        },
        ..step.note.clone()
    };
    let cache = workspace.state.cache.take();
    let turn = write_with_conversation(workspace, ground, &step.tree, note, moment.seconds)?;
    workspace.state.cache = cache;
    Ok(Some(turn))
}

/// The same of the files of the journal, where nothing else has changed.
fn summary_with(paths: &[&RepoPath], look: &Look) -> String {
    let (within, outside) = look.changes();
    match (paths, within.as_slice(), outside) {
        ([], [], 1) => "1 file outside".to_owned(),
        ([], [], outside) if outside > 0 => format!("{outside} files outside"),
        ([], within, _) => summary(within),
        _ => summary(paths),
    }
}

/// `a, b and 3 more`: what a turn without a message is called.
fn summary(paths: &[&RepoPath]) -> String {
    const NAMED: usize = 3;
    match paths {
        [] => "Nothing changed".to_owned(),
        _ => first_of(NAMED, paths.iter().map(|path| path.in_one_line())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_names_the_first_paths() {
        let names = ["a", "b\nc", "d", "e", "f"];
        let paths = names.map(|name| RepoPath::new(name).unwrap());
        let summary_of = |count| summary(&paths.iter().take(count).collect::<Vec<_>>());
        assert_eq!(summary_of(0), "Nothing changed");
        assert_eq!(summary_of(3), "a, b c, d");
        assert_eq!(summary_of(5), "a, b c, d and 2 more");
    }
}
