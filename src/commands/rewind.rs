//! `edio rewind`: the work tree and the conversation, both as they were at the end of a turn.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap_complete::engine::ArgValueCompleter;
use serde::Serialize;
use serde_json::Value;

use super::shown::calls::{self, CallRecord};
use super::{Context, Printed, restore};
use crate::agents::Agent;
use crate::agents::resume::Keeping;
use crate::clock;
use crate::env;
use crate::error::{Error, Result, While};
use crate::history::address::Address;
use crate::history::conversation::Keep;
use crate::history::dialogue;
use crate::history::random;
use crate::history::session::Session;
use crate::history::turn::{Kind, Number, Turn};
use crate::history::workspace::Workspace;
use crate::term::text::plural;
use crate::term::{json, style, text};

/// Bring the work tree and the agent's conversation to a turn.
///
/// The files are restored as restore does it, and undo takes that back. For Claude Code and Codex a new conversation is made,
/// which ends where that turn ended; the one that there is stays as it is. The command that resumes the new one is printed.
/// What commands and servers have done since can't be taken back: it is listed.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio rewind 6\n  edio rewind @-1 --dry-run\n  edio rewind 6 --conversation-only"
)]
pub struct Args {
    /// The turn: 7, @, @-1, 0 for the start, or the start of its id.
    #[arg(value_name = "TURN", add = ArgValueCompleter::new(super::completions::turns))]
    turn: Address,
    /// Leave the conversation as it is.
    #[arg(long, conflicts_with = "conversation_only")]
    files_only: bool,
    /// Leave the files as they are.
    #[arg(long)]
    conversation_only: bool,
    /// Show what would be done, and do nothing.
    #[arg(long)]
    dry_run: bool,
}

#[derive(Serialize)]
struct Record {
    turn: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u32>,
    dry_run: bool,
    files: Option<restore::Record>,
    conversation: Option<ConversationRecord>,
    not_taken_back: Vec<CallRecord>,
}

#[derive(Serialize)]
struct ConversationRecord {
    agent: Option<String>,
    agent_session: Option<String>,
    turn: Option<u32>,
    new_session: Option<String>,
    file: Option<Value>,
    resume: Option<Vec<String>>,
    why: Option<String>,
}

/// Runs it.
///
/// # Errors
///
/// There is no such turn, the restore is refused, or it was stopped midway; or only the conversation was wanted, and can't
/// be had.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    let workspace = context.open()?;
    let session = Session::wanted(&workspace, context.session.as_ref())?;
    let goal = args.turn.find(&workspace, &session)?;
    let done = calls::of(&dialogue::done_since(&workspace, &session, &goal)?);
    let old = match args.files_only {
        true => None,
        false => Some(Old::find(&workspace, &session, &goal)?),
    };
    if args.conversation_only
        && let Some(Old::None(none)) = &old
    {
        let number = goal.number();
        return Err(Error::cannot(format!(
            "no conversation can be made that ends with turn {number}"
        ))
        .because(Error::cannot(none.why.clone()))
        .hint(format!(
            "edio context {number} prints what was said until then"
        )));
    }
    let keeps = Keep::of(&workspace);
    drop(workspace);
    let files = match args.conversation_only {
        true => None,
        false => Some(restore::perform(context, &wanted(&goal, args))?),
    };
    let made = match &old {
        Some(Old::Kept(kept)) if !args.dry_run => kept.make().map(Some),
        _ => Ok(None),
    };
    // The files are back already: that is told in any case.
    let (old, new, failed) = match made {
        Ok(new) => (old, new, None),
        Err(error) => (None, None, Some(error)),
    };
    if context.term.is_json() {
        let number = goal.number();
        let record = Record {
            turn: number.turn,
            step: number.as_step(),
            dry_run: args.dry_run,
            files: files.map(|outcome| outcome.record()),
            conversation: old.map(|old| old.record(new.as_ref())),
            not_taken_back: done,
        };
        context.term.record(&record).printed()?;
        return failed.map_or(Ok(0), Err);
    }
    if let Some(outcome) = files {
        outcome.tell(context)?;
    }
    name_done(context, &done, keeps, goal.number());
    match old {
        Some(Old::Kept(kept)) => kept.tell(context, new.as_ref())?,
        Some(Old::None(none)) => none.tell(context, goal.number()),
        None => {}
    }
    failed.map_or(Ok(0), Err)
}

/// The same turn, whatever it was called: `@` may move meanwhile.
fn wanted(goal: &Turn, args: &Args) -> restore::Args {
    restore::Args {
        turn: Address::Number(goal.number()),
        files: Vec::new(),
        dry_run: args.dry_run,
    }
}

/// Names what was done that no restore takes back.
fn name_done(context: &mut Context, done: &[CallRecord], keeps: Keep, number: Number) {
    const NAMED: usize = 20;
    if keeps == Keep::Nothing {
        let what = "what commands have done since is not known: edio.transcripts is off";
        return context.term.told(what);
    }
    if done.is_empty() {
        return;
    }
    let uses = plural(done.len(), "use");
    context.term.told(format!(
        "since turn {number}, {uses} of tools may have done more than change files here, which is not taken back:"
    ));
    for call in done.iter().take(NAMED) {
        context.term.told(call.row());
    }
    if done.len() > NAMED {
        let more = done.len() - NAMED;
        context
            .term
            .told(format!("      and {more} more: edio log --calls"));
    }
}

/// The conversation that there is.
enum Old {
    Kept(Box<Kept>),
    None(Missing),
}

/// Where its beginning can be had.
struct Kept {
    agent: Agent,
    keeping: &'static Keeping,
    session: String,
    prompt: String,
    turn: Number,
    file: PathBuf,
}

/// Why it can't be had.
struct Missing {
    agent: Option<String>,
    session: Option<String>,
    turn: Option<u32>,
    why: String,
}

/// The conversation that was made.
struct New {
    session: String,
    file: PathBuf,
}

impl Old {
    fn find(workspace: &Workspace, session: &Session, goal: &Turn) -> Result<Self> {
        let none = |why: &str| {
            Ok(Old::None(Missing {
                agent: None,
                session: None,
                turn: None,
                why: why.to_owned(),
            }))
        };
        if goal.note.kind == Kind::Step {
            return none("a conversation can end only where a turn ended, not at a step");
        }
        let line = dialogue::until(workspace, session, goal)?;
        match dialogue::last_of_an_agent(&line) {
            Some(turn) => Ok(Self::of_turn(turn)),
            None => none("no agent's conversation is known up to there: begin a new one"),
        }
    }

    fn of_turn(turn: &Turn) -> Self {
        let work = &turn.note.work;
        let found = kept(turn);
        found.map_or_else(
            |why| {
                Old::None(Missing {
                    agent: work.agent.clone(),
                    session: work.agent_session.clone(),
                    turn: Some(turn.number().turn),
                    why,
                })
            },
            |kept| Old::Kept(Box::new(kept)),
        )
    }

    fn record(self, new: Option<&New>) -> ConversationRecord {
        match self {
            Old::Kept(kept) => ConversationRecord {
                agent: Some(kept.agent.to_string()),
                turn: Some(kept.turn.turn),
                new_session: new.map(|new| new.session.clone()),
                file: new.map(|new| json::path(new.file.as_os_str().as_encoded_bytes())),
                resume: new.map(|new| kept.keeping.command(&new.session).to_vec()),
                agent_session: Some(kept.session),
                why: None,
            },
            Old::None(none) => ConversationRecord {
                agent: none.agent,
                agent_session: none.session,
                turn: none.turn,
                new_session: None,
                file: None,
                resume: None,
                why: Some(none.why),
            },
        }
    }
}

/// Where the conversation of a turn is kept, or why it is not.
fn kept(turn: &Turn) -> std::result::Result<Kept, String> {
    let work = &turn.note.work;
    let name = work.agent.clone().unwrap_or_default();
    let agent = name.parse::<Agent>().ok();
    let way = agent.and_then(|agent| Some((agent, agent.keeping()?)));
    let Some((agent, keeping)) = way else {
        let name = text::plain(name.as_bytes());
        return Err(format!(
            "a conversation of {name} can't be made to end earlier"
        ));
    };
    let title = agent.title();
    let (Some(session), Some(prompt)) = (&work.agent_session, &work.agent_prompt) else {
        return Err(format!(
            "{title} has not told where in its conversation it stood"
        ));
    };
    let file = file_of(keeping, session);
    let file = file.ok_or_else(|| format!("{title} does not have that conversation any more"))?;
    let kept = Kept {
        agent,
        keeping,
        session: session.clone(),
        prompt: prompt.clone(),
        turn: turn.number(),
        file,
    };
    match kept.beginning(session) {
        Ok(Some(_)) => Ok(kept),
        Ok(None) => Err(format!(
            "the conversation that {title} has does not hold that prompt any more"
        )),
        Err(error) => Err(error.to_string()),
    }
}

/// The file in which an agent keeps the conversation with this id.
fn file_of(keeping: &Keeping, id: &str) -> Option<PathBuf> {
    let own = env::folder_of_agent(keeping.variable, keeping.at_home)?;
    let folders = keeping.folders.iter().map(|folder| own.join(folder));
    let mut level: Vec<PathBuf> = folders.collect();
    for _ in 0..keeping.depth {
        let below = level.iter().flat_map(|folder| entries(folder));
        let below: Vec<PathBuf> = below.filter(|path| path.is_dir()).collect();
        level.extend(below);
    }
    let mut files = level.iter().flat_map(|folder| entries(folder));
    files.find(|file| keeping.is_file_of(file, id) && file.is_file())
}

/// What is in a folder, in order. One that can't be read has nothing in it.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort_unstable();
    paths
}

impl Kept {
    /// The lines up to there, as those of the conversation with this id.
    fn beginning(&self, id: &str) -> Result<Option<Vec<u8>>> {
        let lines = fs::read(&self.file);
        let lines = lines.or_cannot(|| format!("can't read {}", self.file.display()))?;
        Ok(self
            .keeping
            .beginning(&lines, &self.prompt, &self.session, id))
    }

    /// Makes the new conversation: all of the file at once, and none where there is one already.
    fn make(&self) -> Result<New> {
        let random = u128::from_ne_bytes(random::bytes_or_error()?);
        let session = self.keeping.new_id(clock::now(), random);
        let file = self
            .keeping
            .file_beside(&self.file, &self.session, &session);
        let unwritable = || format!("can't write {}", file.display());
        let lines = self.beginning(&session)?.ok_or_else(|| {
            let file = self.file.display();
            Error::cannot(format!("{file} does not hold that prompt any more"))
        })?;
        let folder = file.parent().unwrap_or(Path::new("."));
        let mut written = tempfile::Builder::new()
            .prefix(".edio-")
            .tempfile_in(folder)
            .or_cannot(unwritable)?;
        written.write_all(&lines).or_cannot(unwritable)?;
        let placed = written.persist_noclobber(&file);
        placed.map_err(|error| error.error).or_cannot(unwritable)?;
        Ok(New { session, file })
    }

    fn tell(&self, context: &mut Context, new: Option<&New>) -> Result<()> {
        let (title, turn) = (self.agent.title(), style::turn(self.turn));
        let Some(new) = new else {
            let what = format!("a new conversation with {title} would end with turn {turn}");
            context.term.told(what);
            return Ok(());
        };
        let what =
            format!("a new conversation with {title} ends with turn {turn}; the old one stays:");
        context.term.told(what);
        let words = self.keeping.command(&new.session);
        context.term.line(words.join(" ")).printed()?;
        let file = text::path(new.file.as_os_str().as_encoded_bytes());
        context.term.hint(format!(
            "run that where {title} was begun; it is the file {file}"
        ));
        Ok(())
    }
}

impl Missing {
    fn tell(&self, context: &mut Context, number: Number) {
        let why = text::plain(self.why.as_bytes());
        context
            .term
            .told(format!("the conversation stays as it is: {why}"));
        if self.agent.is_some() {
            let hint = format!("edio context {number} prints what was said until then, to paste");
            context.term.hint(hint);
        }
    }
}
