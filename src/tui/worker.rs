//! What is done behind the screen, each kind in a thread of its own: reading, working in the workspace, watching.
//!
//! The lock of the workspace is held while work is done, and never while a person is asked.

use std::collections::VecDeque;
use std::fs;
use std::io::BufRead;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::thread;
use std::time::{Duration, SystemTime};

use bstr::ByteSlice;

use super::Host;
use super::event::{
    Asked, AtTerminal, Commit, Event, Going, Job, Look, News, Pair, Plan, Restore, SessionLine,
    Wanted,
};
use super::patch::{Patch, Reader};
use super::report;
use super::timeline::Book;
use crate::clock::{self, Stopwatch};
use crate::error::{Error, Result, While};
use crate::history::accept::{self, Extent, Message, Onto, Verify, accept, prepare, uncommitted};
use crate::history::address::Address;
use crate::history::compare::Unsaved;
use crate::history::git::{Git, Oid};
use crate::history::limits::TooMuch;
use crate::history::recover;
use crate::history::refnames::{self, SessionId, Shelf};
use crate::history::restore::{Wish, preview, restore};
use crate::history::session::{Lineage, Session};
use crate::history::snapshot::{Moment, Request, Unchanged, checked_message, take};
use crate::history::turn::{Kind, Work};
use crate::history::undo::{Reach, undo};
use crate::history::workspace::{Locked, Workspace};

/// How often it is looked whether something changed.
const WATCH: Duration = Duration::from_millis(300);
/// The work tree is looked at so rarely that it takes no more than this part of the time, and not more often than this.
const PART_OF_TIME: u32 = 250;
const SELDOM: Duration = Duration::from_secs(2);
/// How long what follows from an answer is waited for.
const AT_ONCE: Duration = Duration::from_millis(10);
/// A patch comes in pieces of this size; the first ones are smaller.
const PIECE: usize = 1 << 20;
const FIRST_PIECE: usize = 1 << 16;
/// More of a patch is not looked at, and not this much where it is only read ahead.
const MOST: usize = 64 << 20;
const MOST_AHEAD: usize = 4 << 20;

/// What is to be read.
enum Ask {
    Load(Option<SessionId>),
    Read(Wanted),
    Names(Vec<(Oid, Pair)>),
    Sessions,
}

/// The threads, by what they are told.
pub struct Worker {
    asks: Sender<Ask>,
    jobs: Sender<Job>,
}

impl Worker {
    /// Starts the threads. What comes of what they do is told.
    pub fn start(host: &Host, workspace: Workspace, tell: &Sender<Event>) -> Self {
        let (asks, asked) = mpsc::channel();
        let (jobs, job) = mpsc::channel();
        let (watches, watched) = mpsc::channel();
        let reading = Reading {
            host: host.clone(),
            git: workspace.git.clone(),
            opened: Some(workspace),
            half: None,
            now: None,
            ahead: VecDeque::new(),
            watches,
            tell: tell.clone(),
        };
        let working = Working {
            host: host.clone(),
            kept: false,
            rest: SELDOM,
            tell: tell.clone(),
        };
        let told = tell.clone();
        thread::spawn(move || reading.run(&asked));
        thread::spawn(move || working.run(&job));
        thread::spawn(move || watch(&watched, &told));
        Self { asks, jobs }
    }

    /// Has the session read: this one, or the one under way.
    pub fn load(&self, session: Option<SessionId>) {
        let _ = self.asks.send(Ask::Load(session));
    }

    /// Has these patches read, and no others.
    pub fn read(&self, wanted: Wanted) {
        let _ = self.asks.send(Ask::Read(wanted));
    }

    /// Has it read what each of these turns changed.
    pub fn names(&self, turns: Vec<(Oid, Pair)>) {
        let _ = self.asks.send(Ask::Names(turns));
    }

    /// Has the sessions listed.
    pub fn sessions(&self) {
        let _ = self.asks.send(Ask::Sessions);
    }

    /// Has work done.
    pub fn work(&self, job: Job) {
        let _ = self.jobs.send(job);
    }
}

// Reading.

struct Reading {
    host: Host,
    git: Git,
    /// The workspace, until it is used for the first time.
    opened: Option<Workspace>,
    /// A session that was shown before all of it is known.
    half: Option<Half>,
    /// The patch that is to be shown.
    now: Option<Pair>,
    /// Those that may be shown next.
    ahead: VecDeque<Pair>,
    watches: Sender<Watched>,
    tell: Sender<Event>,
}

/// A session of which it is not known yet what grew by way of steps.
struct Half {
    workspace: Workspace,
    session: Session,
    is_own: bool,
}

impl Half {
    fn book(&self, head: Option<Oid>, lineage: &Lineage<'_>) -> News {
        let book = Book::of(self.session.clone(), self.is_own, head, lineage);
        News::Session(Box::new(book))
    }

    fn whole(&self) -> Result<News> {
        let lineage = self.session.lineage(&self.workspace)?;
        let (_, head) = self.workspace.git.head()?;
        Ok(self.book(head, &lineage))
    }
}

impl Reading {
    fn run(mut self, asked: &Receiver<Ask>) {
        loop {
            let is_idle = self.now.is_none() && self.ahead.is_empty();
            let ask = match (&self.half, is_idle) {
                // The patch that goes with it is asked for at once, and comes first.
                (Some(_), true) => asked.recv_timeout(AT_ONCE).map_err(|error| match error {
                    RecvTimeoutError::Timeout => TryRecvError::Empty,
                    RecvTimeoutError::Disconnected => TryRecvError::Disconnected,
                }),
                (None, true) => asked.recv().map_err(|_| TryRecvError::Disconnected),
                (_, false) => asked.try_recv(),
            };
            match ask {
                Ok(ask) => self.answer(ask),
                Err(TryRecvError::Disconnected) => return,
                Err(TryRecvError::Empty) => self.read_next(asked),
            }
        }
    }

    fn read_next(&mut self, asked: &Receiver<Ask>) {
        let now = self.now.clone();
        if let Some(half) = self.half.take_if(|_| now.is_none()) {
            match guarded(|| half.whole()) {
                Ok(news) => self.tell(news),
                Err(error) => self.tell(News::Told(report::failed(&error))),
            }
            return;
        }
        let Some(pair) = now.or_else(|| self.ahead.pop_front()) else {
            return;
        };
        let read = guarded(|| self.patch(&pair, asked));
        if self.now.as_ref() == Some(&pair) {
            self.now = None;
        }
        if let Err(error) = read {
            self.tell(News::Unread(pair, report::in_words(&error)));
        }
    }

    fn tell(&self, news: News) {
        let _ = self.tell.send(Event::News(news));
    }

    /// What can't be read is only told: to read it again would not help.
    fn answer(&mut self, ask: Ask) {
        let answered = guarded(|| match ask {
            Ask::Read(wanted) => {
                self.want(wanted);
                Ok(())
            }
            Ask::Load(session) => self.load(session.as_ref()),
            Ask::Names(turns) => {
                let pairs = turns
                    .iter()
                    .map(|(_, pair)| (pair.old.clone(), pair.new.clone()));
                let names = self
                    .git
                    .names_of_differences(&pairs.collect::<Vec<_>>(), &[])?;
                let commits = turns.into_iter().map(|(commit, _)| commit);
                self.tell(News::Names(commits.zip(names).collect()));
                Ok(())
            }
            Ask::Sessions => {
                let workspace = Workspace::open(&self.host.place)?;
                self.tell(News::Sessions(sessions(&workspace)?));
                Ok(())
            }
        });
        if let Err(error) = answered {
            self.tell(News::Told(report::failed(&error)));
        }
    }

    /// Reads the session. The first time it is shown before all of it is known.
    fn load(&mut self, wanted: Option<&SessionId>) -> Result<()> {
        let first = self.opened.take();
        let is_first = first.is_some();
        let workspace = match first {
            Some(workspace) => workspace,
            None => Workspace::open(&self.host.place)?,
        };
        // Seen before the refs are read: what changes meanwhile is seen later.
        let mut watched = Watched::of(&workspace, None);
        let own = Session::active(&workspace)?;
        let session = match wanted {
            None => own.clone(),
            Some(id) => Some(Session::wanted(&workspace, Some(id))?),
        };
        watched.add(&workspace, session.as_ref());
        let _ = self.watches.send(watched);
        let Some(session) = session else {
            self.tell(News::NoSession);
            return Ok(());
        };
        let half = Half {
            is_own: own.is_some_and(|own| own.id == session.id),
            workspace,
            session,
        };
        self.half = None;
        if is_first {
            self.tell(half.book(None, &Lineage::default()));
            self.half = Some(half);
        } else {
            self.tell(half.whole()?);
        }
        Ok(())
    }

    /// Reads a patch, and tells it piece by piece. It is given up when another one is wanted more.
    fn patch(&mut self, pair: &Pair, asked: &Receiver<Ask>) -> Result<()> {
        let mut is_first = true;
        let (list, mut answer) = self.git.patch_with_list(&pair.old, &pair.new)?;
        let mut reader = Reader::of(&Patch::of(list.clone()).files);
        self.tell(News::Files(pair.clone(), list));
        let mut size = 0;
        loop {
            let line = read_line(&mut answer.reader)?;
            let is_end = line.is_none();
            if let Some(line) = &line {
                reader.read(line);
                size += line.len();
            }
            let is_cut = size >= MOST;
            let enough = match is_first {
                true => FIRST_PIECE,
                false => PIECE,
            };
            if !is_end && !is_cut && reader.size() < enough {
                continue;
            }
            let going = match (is_end, is_cut) {
                (true, _) => Going::Ended,
                (_, true) => Going::Cut,
                _ => Going::On,
            };
            self.tell(News::Piece(pair.clone(), reader.take(), going));
            if going != Going::On {
                break;
            }
            is_first = false;
            if !self.goes_on(pair, size, asked) {
                self.tell(News::Dropped(pair.clone()));
                return Ok(());
            }
        }
        if size < MOST {
            answer.close()?;
        }
        Ok(())
    }

    fn want(&mut self, wanted: Wanted) {
        self.now = wanted.now;
        self.ahead = wanted.ahead.into();
    }

    /// Is this patch, of which so much was read, still the one that is wanted most?
    fn goes_on(&mut self, pair: &Pair, size: usize, asked: &Receiver<Ask>) -> bool {
        let mut is_wanted = true;
        while let Ok(ask) = asked.try_recv() {
            match ask {
                Ask::Read(wanted) => {
                    let next = wanted.now.as_ref().or(wanted.ahead.first());
                    is_wanted = next == Some(pair);
                    self.want(wanted);
                    self.ahead.retain(|ahead| ahead != pair);
                }
                other => self.answer(other),
            }
        }
        is_wanted && (size < MOST_AHEAD || self.now.as_ref() == Some(pair))
    }
}

/// Reads a line, without its end; `None` where there is none. What is too long for a line is left out.
fn read_line(from: &mut impl BufRead) -> Result<Option<Vec<u8>>> {
    const LONGEST: usize = 1 << 20;
    let mut line = Vec::new();
    let mut is_any = false;
    loop {
        let buffer = from
            .fill_buf()
            .or_cannot(|| "git's answer broke off".to_owned())?;
        if buffer.is_empty() {
            return Ok(is_any.then_some(line));
        }
        is_any = true;
        let end = buffer.find_byte(b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        let room = LONGEST.saturating_sub(line.len());
        line.extend_from_slice(&part[..part.len().min(room)]);
        let used = end.map_or(buffer.len(), |end| end + 1);
        from.consume(used);
        if end.is_some() {
            return Ok(Some(line));
        }
    }
}

/// A fault in one answer is told, and the thread goes on.
fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let outcome = catch_unwind(AssertUnwindSafe(work));
    outcome.unwrap_or_else(|panic| Err(Error::of_panic(panic.as_ref())))
}

/// The sessions there are, the newest first.
fn sessions(workspace: &Workspace) -> Result<Vec<SessionLine>> {
    let own = Session::active(workspace)?.map(|session| session.id);
    let line = |session: Session| {
        let last = session
            .turns
            .values()
            .next_back()
            .or(session.current.as_ref());
        SessionLine {
            shelf: session.shelf,
            turns: session.turns.len(),
            seconds: last.map_or(0, |turn| turn.seconds),
            subject: last.map_or_else(String::new, |turn| turn.note.subject().to_owned()),
            is_own: own.as_ref() == Some(&session.id) && session.shelf == Shelf::Active,
            id: session.id,
        }
    };
    let mut lines: Vec<SessionLine> = Session::all(workspace)?.into_iter().map(line).collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.seconds));
    Ok(lines)
}

// Working.

struct Working {
    host: Host,
    /// Is the work tree kept when it is looked at?
    kept: bool,
    /// How long the work tree is not looked at.
    rest: Duration,
    tell: Sender<Event>,
}

impl Working {
    fn run(mut self, jobs: &Receiver<Job>) {
        let mut waiting: VecDeque<Job> = VecDeque::new();
        loop {
            waiting.extend(jobs.try_iter());
            let job = match waiting.pop_front() {
                Some(job) => job,
                None => match jobs.recv_timeout(self.rest) {
                    Ok(job) => job,
                    Err(RecvTimeoutError::Timeout) => Job::Look { kept: self.kept },
                    Err(RecvTimeoutError::Disconnected) => return,
                },
            };
            let is_look = |job: &Job| matches!(job, Job::Look { .. });
            // One look is as good as several.
            if is_look(&job) && waiting.iter().any(is_look) {
                continue;
            }
            if let Some(news) = self.news_of(job) {
                let _ = self.tell.send(Event::News(news));
            }
        }
    }

    fn news_of(&mut self, job: Job) -> Option<News> {
        let Job::Look { kept } = job else {
            let done = guarded(|| self.work(job));
            return Some(done.unwrap_or_else(|error| News::Done(report::failed(&error))));
        };
        self.kept = kept;
        let watch = Stopwatch::start();
        let look = guarded(|| self.look());
        self.rest = SELDOM.max(watch.elapsed() * PART_OF_TIME);
        // It is tried again, and whatever is asked for meets the same.
        look.ok().map(News::Look)
    }

    fn look(&self) -> Result<Look> {
        let place = &self.host.place;
        if Session::active(&Workspace::open(place)?)?.is_none() {
            return Ok(Look::default());
        }
        let workspace = Workspace::open_locked(place)?;
        let Some(session) = Session::active(&workspace)? else {
            return Ok(Look::default());
        };
        let unsaved = Unsaved::now(&workspace, &session)?;
        if self.kept {
            workspace.git.give_objects()?;
        }
        Ok(Look {
            changed: unsaved.changed.len(),
            tree: unsaved.tree.filter(|_| self.kept),
            refused: unsaved.refused.as_ref().map(report::in_words),
        })
    }

    fn work(&self, job: Job) -> Result<News> {
        let mut workspace = Workspace::open_locked(&self.host.place)?;
        let settled = recover::settle(&mut workspace, moment()?)?;
        let news = match job {
            Job::Look { .. } => return Ok(News::Changed),
            Job::Restore(wanted, asked) => restore_to(&mut workspace, &wanted, asked)?,
            Job::Undo(direction) => {
                let undone = undo(&mut workspace, direction, Reach::Branch, moment()?)?;
                News::Done(report::undone(direction, &undone))
            }
            Job::Snapshot => snapshot(&mut workspace)?,
            Job::Prepare => News::Plan(self.plan_of_accept(&mut workspace)?),
            Job::Accept(commit) => return self.accept(workspace, commit),
        };
        Ok(report::with_settled(news, settled))
    }

    fn plan_of_accept(&self, workspace: &mut Locked) -> Result<Plan> {
        let prepared = prepare(workspace, &wish(), accept::Unsaved::Look, moment()?)?;
        plan_of(workspace, &prepared, String::new())
    }

    /// Commits what the plan has shown. Where there is more by now, that is shown first.
    fn accept(&self, mut workspace: Locked, commit: Commit) -> Result<News> {
        let prepared = prepare(&mut workspace, &wish(), accept::Unsaved::Take, moment()?)?;
        if prepared.tree != commit.tree {
            let mut plan = plan_of(&workspace, &prepared, commit.message)?;
            let changed =
                "It has changed since you were asked: this is what would be committed now.";
            plan.notes.insert(0, changed.to_owned());
            if let Some(turn) = &prepared.turn {
                let note = format!("What is new is turn {}.", turn.number());
                plan.notes.insert(1, note);
            }
            return Ok(News::Plan(plan));
        }
        let message = Message::Given(checked_message(commit.message)?);
        let accepted = accept(&mut workspace, prepared, message, Verify::Yes, moment()?)?;
        (self.host.after_accept)(&self.host.place, workspace);
        Ok(News::Done(report::accepted(&accepted)))
    }
}

/// What an accept would commit, to be shown.
fn plan_of(workspace: &Locked, prepared: &accept::Prepared, message: String) -> Result<Plan> {
    let left = uncommitted(workspace, prepared)?;
    let signs = workspace.settings.is_true("commit.gpgsign");
    let hooks = workspace.git.hooks_folder()?;
    let has_hook = |name: &&str| hooks.join(name).exists();
    let has_hooks = HOOKS.iter().any(has_hook);
    let terminal = match signs || has_hooks {
        true => AtTerminal::Programs,
        false => AtTerminal::Screen,
    };
    Ok(report::plan_of_accept(prepared, &left, message, terminal))
}

/// The hooks that an accept may run.
const HOOKS: [&str; 5] = [
    "pre-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "reference-transaction",
];

fn wish() -> accept::Wish {
    accept::Wish {
        turn: None,
        extent: Extent::Session,
        branch: Onto::Sessions,
    }
}

fn snapshot(workspace: &mut Locked) -> Result<News> {
    let request = Request {
        kind: Kind::Turn,
        message: None,
        unchanged: Unchanged::Skip,
        work: Work::default(),
        moment: moment()?,
    };
    let taken = take(workspace, &request, TooMuch::Refuse)?;
    Ok(News::Done(report::taken(&taken)))
}

/// Restores, or makes the plan of it: where it is to be asked for, and was not yet.
fn restore_to(workspace: &mut Locked, wanted: &Restore, asked: Asked) -> Result<News> {
    let find = |workspace: &Locked| {
        let session = Session::wanted(workspace, Some(&wanted.session))?;
        let target = Address::Number(wanted.number).find(workspace, &session)?;
        if target.commit != wanted.commit {
            return Err(Error::cannot(format!(
                "turn {} is another one now",
                wanted.number
            )));
        }
        let paths = wanted.paths.clone();
        let wish = Wish {
            target,
            paths,
            agent: None,
        };
        Ok((session, wish))
    };
    let is_asked = match asked {
        Asked::Done => true,
        Asked::Always => false,
        Asked::IfUnsaved => is_saved(workspace)?,
    };
    if is_asked {
        let (wish, restored) = restore(workspace, find, moment()?)?;
        return Ok(News::Done(report::restored(&wish, &restored)));
    }
    let (wish, plan) = preview(workspace, || find(workspace))?;
    Ok(report::plan_of_restore(wanted, &wish, &plan))
}

/// Is all that is on disk in a turn?
fn is_saved(workspace: &Locked) -> Result<bool> {
    let Some(session) = Session::active(workspace)? else {
        return Ok(false);
    };
    let unsaved = Unsaved::now(workspace, &session)?;
    Ok(unsaved.changed.is_empty() && unsaved.refused.is_none())
}

fn moment() -> Result<Moment> {
    Moment::at(clock::now())
}

// Watching.

/// Files and folders that change when a session does, as they were last seen.
struct Watched(Vec<(PathBuf, Stamp)>);

type Stamp = Option<(SystemTime, u64)>;

impl Watched {
    fn of(workspace: &Workspace, session: Option<&Session>) -> Self {
        let git = &workspace.git;
        let mut watched = Self(Vec::new());
        for path in [
            workspace.scratch().join("state.json"),
            git.git_dir.join("HEAD"),
            git.git_dir.join("logs/HEAD"),
            git.common_dir.join("packed-refs"),
            git.common_dir.join("reftable/tables.list"),
            git.common_dir.join(refnames::ACTIVE),
        ] {
            watched.see(path);
        }
        watched.add(workspace, session);
        watched
    }

    fn add(&mut self, workspace: &Workspace, session: Option<&Session>) {
        if let Some(session) = session {
            let folder = refnames::folder(session.shelf, &session.id);
            self.see(workspace.git.common_dir.join(folder));
        }
    }

    fn see(&mut self, path: PathBuf) {
        let stamp = stamp(&path);
        self.0.push((path, stamp));
    }

    fn has_changed(&mut self) -> bool {
        let mut changed = false;
        for (path, seen) in &mut self.0 {
            let now = stamp(path);
            changed |= now != *seen;
            *seen = now;
        }
        changed
    }
}

fn stamp(path: &Path) -> Stamp {
    let meta = fs::metadata(path).ok()?;
    Some((meta.modified().ok()?, meta.len()))
}

fn watch(told: &Receiver<Watched>, tell: &Sender<Event>) {
    let mut watched = Watched(Vec::new());
    loop {
        match told.recv_timeout(WATCH) {
            Ok(other) => watched = other,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if watched.has_changed() && tell.send(Event::News(News::Changed)).is_err() {
            return;
        }
    }
}
