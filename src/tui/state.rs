//! What is shown, and how it changes: [`State::update`] takes what happened, and says what is to be done. It does nothing
//! itself.

use std::collections::{BTreeMap, BTreeSet};

use ratatui::crossterm::event::{
    KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::layout::{Position, Rect};

use super::event::{
    Asked, Commit, Does, Effect, Event, Going, Job, Look, News, Pair, Plan, Restore, SessionLine,
    Told, Wanted,
};
use super::field::Field;
use super::layout::Layout;
use super::patch::{End, Patch};
use super::timeline::{Book, Id, Row, matching};
use crate::history::git::{Oid, RepoPath};
use crate::history::refnames::SessionId;
use crate::history::turn::Turn;
use crate::history::undo::Direction;
use crate::term::screen::Input;

/// The part of the screen that the keys move in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pane {
    /// The turns.
    #[default]
    Turns,
    /// The difference.
    Diff,
}

/// What a turn is compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compared {
    /// With the turn that it grew from: what it did.
    #[default]
    Before,
    /// With the disk as it is now.
    Disk,
    /// With HEAD.
    Head,
    /// Nothing of it: the two marked turns are compared.
    Marked,
}

/// What the keys are for.
#[derive(Debug, Default)]
pub enum Mode {
    /// Looking around.
    #[default]
    Browse,
    /// All keys are listed.
    Help,
    /// A plan asks whether it is to be done; so many lines of it are above what is seen.
    Plan(Plan, usize),
    /// A plan asks for the message of a commit.
    Message(Plan, Field, usize),
    /// What the turns are filtered by is typed.
    Filter,
    /// A session is chosen.
    Sessions(Vec<SessionLine>, usize),
}

/// Everything that is shown.
#[derive(Debug, Default)]
pub struct State {
    /// The columns and lines of the screen.
    pub size: (u16, u16),
    /// Now, in seconds since 1970.
    pub now: i64,
    /// What the keys are for.
    pub mode: Mode,
    /// The part that they move in.
    pub pane: Pane,
    /// The session; `None` until it is read, or where there is none.
    pub book: Option<Book>,
    /// Is it known whether there is one?
    pub is_read: bool,
    /// The work tree, once it was looked at.
    pub look: Option<Look>,
    /// What the turns are filtered by.
    pub filter: Field,
    /// The rows.
    pub rows: Vec<Row>,
    /// The row that is chosen.
    pub chosen: usize,
    /// The row at the top.
    pub top: usize,
    /// The turns whose steps are shown.
    pub unfolded: BTreeSet<u32>,
    /// The marked snapshots, at most two.
    pub marked: Vec<Oid>,
    /// What is compared.
    pub compared: Compared,
    /// The line of the patch at the top.
    pub line: usize,
    /// How many columns are scrolled past.
    pub across: usize,
    /// What just happened.
    pub told: Option<Told>,
    /// What is done right now.
    pub busy: Option<&'static str>,
    patches: Patches,
    /// What is shown, and of which row it was asked for.
    shown: Option<Pair>,
    shown_for: Option<(Id, Compared)>,
    /// What was last asked for.
    asked: Wanted,
    /// What is not read ahead: it was begun, and given up.
    given_up: BTreeSet<Pair>,
    names: BTreeMap<Oid, Vec<RepoPath>>,
    /// The session that was chosen, where it is not the one under way.
    wanted: Option<SessionId>,
    /// Did the last step go down?
    upward: bool,
    /// Was the work tree kept when it was last looked at?
    is_kept: bool,
    /// A row to choose once it is there.
    awaited: Option<Awaited>,
}

/// A row to choose once the turns are read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    /// Where the work tree stands.
    Current,
}

/// The patches that are there.
#[derive(Debug, Default)]
struct Patches {
    known: BTreeMap<Pair, Known>,
    clock: u64,
}

#[derive(Debug)]
struct Known {
    patch: Patch,
    failed: Option<String>,
    used: u64,
}

/// All patches together take no more memory than this, but for the one that is shown.
const MOST_BYTES: usize = 96 << 20;

impl Patches {
    fn get(&self, pair: &Pair) -> Option<&Known> {
        self.known.get(pair)
    }

    fn is_whole(&self, pair: &Pair) -> bool {
        let known = self.known.get(pair);
        known.is_some_and(|known| known.failed.is_some() || known.patch.end != End::Open)
    }

    fn put(&mut self, pair: Pair, patch: Patch, failed: Option<String>) {
        self.clock += 1;
        let used = self.clock;
        let known = Known {
            patch,
            failed,
            used,
        };
        self.known.insert(pair, known);
    }

    fn touch(&mut self, pair: &Pair) {
        self.clock += 1;
        if let Some(known) = self.known.get_mut(pair) {
            known.used = self.clock;
        }
    }

    /// Forgets what was not looked at for the longest time.
    fn trim(&mut self) {
        let size = |known: &Known| known.patch.size();
        let mut total: usize = self.known.values().map(size).sum();
        while total > MOST_BYTES && self.known.len() > 1 {
            let oldest = self.known.iter().min_by_key(|(_, known)| known.used);
            let Some(pair) = oldest.map(|(pair, _)| pair.clone()) else {
                return;
            };
            total -= self.known.remove(&pair).map_or(0, |known| size(&known));
        }
    }
}

/// What stands in the place of a difference.
#[derive(Debug)]
pub enum Shown<'a> {
    /// A patch.
    Patch(&'a Patch),
    /// It is still read.
    Reading,
    /// There is none, and why.
    Nothing(String),
}

impl State {
    /// Nothing is known yet.
    pub fn new(size: (u16, u16), now: i64, wanted: Option<SessionId>) -> Self {
        Self {
            size,
            now,
            wanted,
            ..Self::default()
        }
    }

    /// Takes what happened. Returns what is to be done.
    pub fn update(&mut self, event: Event) -> Vec<Effect> {
        let mut effects = match event {
            Event::Input(input) => self.input(input),
            Event::News(news) => self.news(news),
            Event::Tick(now) => {
                self.now = now;
                Vec::new()
            }
        };
        self.follow(&mut effects);
        effects
    }

    /// The row that is chosen.
    pub fn row(&self) -> Option<Row> {
        self.rows.get(self.chosen).copied()
    }

    /// The snapshot that is chosen.
    pub fn snapshot(&self) -> Option<&Turn> {
        self.book.as_ref()?.snapshot(self.row()?)
    }

    /// What is compared, with a title: `turn 3 → turn 6`.
    pub fn title(&self) -> String {
        let number = |row: Row| {
            let number = self.book.as_ref().and_then(|book| book.number(row));
            number.map_or_else(|| "?".to_owned(), |number| number.to_string())
        };
        match (self.compared, self.row()) {
            (Compared::Marked, _) => {
                let marks: Vec<String> = self.marked_numbers();
                format!("turn {}", marks.join(" → turn "))
            }
            (_, None) => String::new(),
            (Compared::Head, Some(Row::Now)) => "HEAD → now".to_owned(),
            (_, Some(Row::Now)) => "not saved yet".to_owned(),
            (Compared::Before, Some(row)) => format!("turn {}", number(row)),
            (Compared::Disk, Some(row)) => format!("turn {} → now", number(row)),
            (Compared::Head, Some(row)) => format!("HEAD → turn {}", number(row)),
        }
    }

    /// The numbers of the marked turns, the lower one first.
    fn marked_numbers(&self) -> Vec<String> {
        let numbers = self.marked_turns().into_iter().map(|turn| turn.number());
        numbers.map(|number| number.to_string()).collect()
    }

    fn marked_turns(&self) -> Vec<&Turn> {
        let Some(book) = &self.book else {
            return Vec::new();
        };
        let steps = book.entries.iter().flat_map(|entry| &entry.steps);
        let turns = book.entries.iter().filter_map(|entry| entry.turn.as_ref());
        let all = turns.chain(steps.map(|(step, _)| step));
        let mut marked: Vec<&Turn> = all
            .filter(|turn| self.marked.contains(&turn.commit))
            .collect();
        marked.sort_by_key(|turn| turn.number());
        marked
    }

    /// What stands in the place of the difference.
    pub fn shown(&self) -> Shown<'_> {
        if !self.is_read {
            return Shown::Reading;
        }
        if self.book.is_none() {
            return Shown::Nothing(String::new());
        }
        match self.shown.as_ref().map(|pair| self.patches.get(pair)) {
            Some(Some(Known {
                failed: Some(why), ..
            })) => Shown::Nothing(why.clone()),
            Some(Some(known)) => {
                match known.patch.files.is_empty() && known.patch.end == End::Whole {
                    true => Shown::Nothing("nothing differs".to_owned()),
                    false => Shown::Patch(&known.patch),
                }
            }
            _ => match self.wanted_pair(self.chosen) {
                Some(pair) if pair.old == pair.new => Shown::Nothing("nothing differs".to_owned()),
                Some(_) => Shown::Reading,
                None => self.why_nothing(),
            },
        }
    }

    fn why_nothing(&self) -> Shown<'_> {
        let refused = self.look.as_ref().and_then(|look| look.refused.clone());
        match (self.compared, self.book.as_ref().map(|book| &book.head)) {
            (Compared::Head, Some(None)) => Shown::Nothing("there is no commit yet".to_owned()),
            (Compared::Disk, _) if refused.is_some() => Shown::Nothing(refused.unwrap_or_default()),
            _ if self.rows.is_empty() => Shown::Nothing(String::new()),
            _ => Shown::Reading,
        }
    }

    /// The patch that is shown.
    pub fn patch(&self) -> Option<&Patch> {
        match self.shown() {
            Shown::Patch(patch) => Some(patch),
            _ => None,
        }
    }

    /// The file at the top of what is seen: the one that is chosen.
    pub fn file(&self) -> Option<usize> {
        let patch = self.patch().filter(|patch| !patch.files.is_empty())?;
        Some(patch.file_at(self.line))
    }

    /// How many lines it takes to say who worked, and what was said.
    pub fn about_height(&self) -> u16 {
        let of_one = self.compared != Compared::Marked;
        let lines = self.snapshot().filter(|_| of_one).map_or(0, |turn| {
            let message = turn.note.message.trim();
            1 + message.lines().count().clamp(1, 3)
        });
        u16::try_from(lines).unwrap_or(0)
    }

    /// How many files there are to list.
    pub fn files_shown(&self) -> usize {
        self.patch().map_or(0, |patch| patch.files.len())
    }

    /// Is the chosen session the one that is under way here?
    fn is_own(&self) -> bool {
        self.book.as_ref().is_none_or(|book| book.is_own)
    }

    // What is to be read.

    /// The trees that are compared on a row; `None` where they are not known.
    fn wanted_pair(&self, row: usize) -> Option<Pair> {
        let book = self.book.as_ref()?;
        let tree = |turn: &Turn| turn.tree.clone();
        if self.compared == Compared::Marked {
            let [old, new] = self.marked_turns().try_into().ok()?;
            return Some(Pair {
                old: tree(old),
                new: tree(new),
            });
        }
        let row = *self.rows.get(row)?;
        let disk = || self.look.as_ref().filter(|_| self.is_kept)?.tree.clone();
        let new = match row {
            Row::Now => disk()?,
            row => tree(book.snapshot(row)?),
        };
        Some(match self.compared {
            Compared::Head => Pair {
                old: book.head.clone()?,
                new,
            },
            Compared::Disk if row != Row::Now => Pair {
                old: new,
                new: disk()?,
            },
            _ => Pair {
                old: book.before(row)?.clone(),
                new,
            },
        })
    }

    /// Does what is shown need the work tree as it is?
    fn needs_disk(&self) -> bool {
        self.compared == Compared::Disk || self.row() == Some(Row::Now)
    }

    /// Sees that what is chosen is shown, or asked for; and that what may be chosen next is read ahead.
    fn follow(&mut self, effects: &mut Vec<Effect>) {
        let id = self.book.as_ref().and_then(|book| book.id(self.row()?));
        let is_other = self.shown_for != id.clone().map(|id| (id, self.compared));
        if is_other {
            self.shown_for = id.map(|id| (id, self.compared));
            self.shown = None;
            (self.line, self.across) = (0, 0);
        }
        if self.needs_disk() && !self.is_kept {
            self.is_kept = true;
            // What was seen then can't be read.
            if let Some(look) = &mut self.look {
                look.tree = None;
            }
            effects.push(Effect::Work(Job::Look { kept: true }));
        }
        if self.is_kept && !self.needs_disk() {
            // What is kept lies in the repository until git collects it.
            self.is_kept = false;
            effects.push(Effect::Work(Job::Look { kept: false }));
        }
        let wanted = self.wanted_pair(self.chosen);
        if let Some(pair) = &wanted {
            let is_there = self.patches.get(pair).is_some();
            if is_there || self.shown.is_none() {
                self.shown = Some(pair.clone());
            }
            self.patches.touch(pair);
        }
        self.ask(wanted, effects);
    }

    fn ask(&mut self, wanted: Option<Pair>, effects: &mut Vec<Effect>) {
        let (down, up) = (self.chosen + 1, self.chosen.checked_sub(1));
        let next = [
            Some(down),
            up,
            Some(down + 1),
            up.and_then(|up| up.checked_sub(1)),
        ];
        let mut next: Vec<usize> = next.into_iter().flatten().collect();
        if self.upward {
            let second = 1.min(next.len() - 1);
            next.swap(0, second);
        }
        let is_needed = |pair: &Pair| pair.old != pair.new && !self.patches.is_whole(pair);
        let now = wanted.filter(is_needed);
        let mut ahead: Vec<Pair> = Vec::new();
        for pair in next.into_iter().filter_map(|row| self.wanted_pair(row)) {
            let is_new = now.as_ref() != Some(&pair) && !ahead.contains(&pair);
            if is_new && is_needed(&pair) && !self.given_up.contains(&pair) {
                ahead.push(pair);
            }
        }
        let asked = Wanted { now, ahead };
        if asked != self.asked {
            self.asked = asked.clone();
            effects.push(Effect::Read(asked));
        }
    }

    // News.

    fn news(&mut self, news: News) -> Vec<Effect> {
        match news {
            News::Changed => {
                return vec![
                    Effect::Load(self.wanted.clone()),
                    Effect::Work(Job::Look { kept: self.is_kept }),
                ];
            }
            News::Session(book) => {
                let is_first = !self.is_read;
                self.is_read = true;
                return self.take_book(Some(*book), is_first);
            }
            News::NoSession => {
                self.is_read = true;
                return self.take_book(None, false);
            }
            News::Look(look) => {
                self.look = Some(look);
                self.arrange();
            }
            News::Files(pair, files) => {
                let mut patch = Patch::of(files);
                if patch.files.is_empty() {
                    patch.end = End::Whole;
                }
                self.patches.put(pair, patch, None);
            }
            News::Piece(pair, piece, going) => {
                if let Some(known) = self.patches.known.get_mut(&pair) {
                    known.patch.grow(piece);
                    known.patch.end = match going {
                        Going::On => End::Open,
                        Going::Ended => End::Whole,
                        Going::Cut => End::Cut,
                    };
                }
                self.patches.trim();
            }
            News::Dropped(pair) => {
                self.patches.known.remove(&pair);
                self.asked = Wanted::default();
                self.given_up.insert(pair);
            }
            News::Unread(pair, why) => self.patches.put(pair, Patch::default(), Some(why)),
            News::Names(names) => {
                self.names.extend(names);
                self.arrange();
            }
            News::Sessions(sessions) => {
                let here = self.book.as_ref().map(|book| &book.session.id);
                let at = sessions.iter().position(|line| Some(&line.id) == here);
                self.busy = None;
                self.mode = Mode::Sessions(sessions, at.unwrap_or(0));
            }
            News::Plan(plan) => {
                self.busy = None;
                self.told = None;
                self.mode = match &plan.does {
                    Does::Accept(commit) => {
                        let field = Field::with(commit.message.clone());
                        Mode::Message(plan, field, 0)
                    }
                    _ => Mode::Plan(plan, 0),
                };
            }
            News::Told(told) => self.told = Some(told),
            News::Done(told) => {
                self.busy = None;
                let worked = !told.failed;
                self.told = Some(told);
                if worked {
                    self.awaited = Some(Awaited::Current);
                }
                return vec![
                    Effect::Load(self.wanted.clone()),
                    Effect::Work(Job::Look { kept: self.is_kept }),
                ];
            }
        }
        Vec::new()
    }

    fn take_book(&mut self, book: Option<Book>, is_first: bool) -> Vec<Effect> {
        let is_other = match (&self.book, &book) {
            (Some(old), Some(new)) => old.session.id != new.session.id,
            _ => true,
        };
        if is_other {
            self.unfolded.clear();
            self.marked.clear();
            self.compared = Compared::Before;
        }
        let choose_current = is_other || self.awaited.take().is_some();
        let kept = self.book.as_ref().and_then(|book| book.id(self.row()?));
        let kept = kept.filter(|_| !choose_current);
        self.book = book;
        let mut effects = Vec::new();
        if is_first {
            effects.push(Effect::Work(Job::Look { kept: false }));
        }
        if !self.filter.text().is_empty() {
            effects.extend(self.ask_names());
        }
        self.arrange_around(kept);
        effects
    }

    /// Makes the rows anew. What is chosen stays chosen, where it is on the screen.
    fn arrange(&mut self) {
        let kept = self.book.as_ref().and_then(|book| book.id(self.row()?));
        self.arrange_around(kept);
    }

    fn arrange_around(&mut self, kept: Option<Id>) {
        let offset = self.chosen.saturating_sub(self.top);
        self.rows.clear();
        let Some(book) = &self.book else {
            (self.chosen, self.top) = (0, 0);
            return;
        };
        let chosen = matching(book, self.filter.text(), &self.names);
        let unsaved = self.look.as_ref().is_some_and(|look| look.changed > 0);
        if unsaved && book.is_own && chosen.is_none() {
            self.rows.push(Row::Now);
        }
        self.rows.extend(book.rows(&self.unfolded, chosen.as_ref()));
        let place = |id: &Id| {
            let mut rows = self.rows.iter();
            rows.position(|row| book.id(*row).as_ref() == Some(id))
        };
        let current = || self.rows.iter().position(|row| book.is_current(*row));
        let at = match &kept {
            Some(id) => place(id).or(Some(self.chosen)),
            None => current(),
        };
        self.chosen = at.unwrap_or(0).min(self.rows.len().saturating_sub(1));
        self.top = self.chosen.saturating_sub(offset);
        self.keep_in_sight();
    }

    fn ask_names(&self) -> Option<Effect> {
        let book = self.book.as_ref()?;
        let entries = book.entries.iter().filter_map(|entry| {
            let turn = entry.turn.as_ref()?;
            let pair = Pair {
                old: entry.before.clone()?,
                new: turn.tree.clone(),
            };
            Some((turn.commit.clone(), pair))
        });
        let unknown: Vec<(Oid, Pair)> = entries
            .filter(|(commit, _)| !self.names.contains_key(commit))
            .collect();
        (!unknown.is_empty()).then_some(Effect::Names(unknown))
    }

    // Input.

    fn input(&mut self, input: Input) -> Vec<Effect> {
        match input {
            Input::Key(key) => self.key(key),
            Input::Mouse(mouse) => self.mouse(mouse),
            Input::Paste(text) => {
                self.paste(&text);
                Vec::new()
            }
            Input::Resize(columns, lines) => {
                self.size = (columns, lines);
                self.keep_in_sight();
                Vec::new()
            }
            Input::Resumed => vec![Effect::Redraw],
            Input::Ended(signal) => vec![Effect::Quit(128_u8.saturating_add(signal))],
        }
    }

    fn paste(&mut self, text: &str) {
        let one_line = text.replace(['\n', '\r'], " ");
        match &mut self.mode {
            Mode::Message(_, field, _) => {
                field.insert(&text.replace("\r\n", "\n").replace('\r', "\n"))
            }
            Mode::Filter => {
                self.filter.insert(&one_line);
                self.arrange();
            }
            _ => {}
        }
    }

    fn key(&mut self, key: KeyEvent) -> Vec<Effect> {
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            match key.code {
                KeyCode::Char('c') => return vec![Effect::Quit(130)],
                KeyCode::Char('z') => return vec![Effect::Suspend],
                KeyCode::Char('l') => return vec![Effect::Redraw],
                _ => {}
            }
        }
        match std::mem::take(&mut self.mode) {
            Mode::Browse => self.browse(key),
            // Any key leaves it.
            Mode::Help => Vec::new(),
            Mode::Plan(plan, top) => self.answer(plan, top, key),
            Mode::Message(plan, field, top) => self.write(plan, field, top, key),
            Mode::Filter => self.type_filter(key),
            Mode::Sessions(sessions, at) => self.choose_session(sessions, at, key),
        }
    }

    fn browse(&mut self, key: KeyEvent) -> Vec<Effect> {
        let layout = Layout::of(self);
        // What failed was read; and where there is one line, the keys come back.
        let is_read = layout.told == layout.keys;
        if is_read || self.told.as_ref().is_some_and(|told| told.failed) {
            self.told = None;
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let page = self.page();
        match key.code {
            KeyCode::Char('d') if control => self.step(page / 2),
            KeyCode::Char('u') if control => self.step(-(page / 2)),
            KeyCode::Char('f') if control => self.step(page),
            KeyCode::Char('b') if control => self.step(-page),
            KeyCode::Char('n') if control => self.step(1),
            KeyCode::Char('p') if control => self.step(-1),
            KeyCode::Char(_) if control || key.modifiers.contains(KeyModifiers::ALT) => {}
            KeyCode::Char('j') | KeyCode::Down => self.step(1),
            KeyCode::Char('k') | KeyCode::Up => self.step(-1),
            KeyCode::PageDown => self.step(page),
            KeyCode::PageUp => self.step(-page),
            KeyCode::Char('g') | KeyCode::Home => self.step(isize::MIN),
            KeyCode::Char('G') | KeyCode::End => self.step(isize::MAX),
            KeyCode::Tab | KeyCode::BackTab => self.other_pane(),
            KeyCode::Right | KeyCode::Char('l') => self.right(),
            KeyCode::Left | KeyCode::Char('h') => self.left(),
            KeyCode::Enter => self.enter(),
            KeyCode::Char(' ') => self.space(page),
            KeyCode::Char(']') => self.next_file(true),
            KeyCode::Char('[') => self.next_file(false),
            KeyCode::Char('n') => self.next_hunk(true),
            KeyCode::Char('N') => self.next_hunk(false),
            KeyCode::Char('d') => self.compare_next(),
            KeyCode::Char('m') => self.mark(),
            KeyCode::Char('?') | KeyCode::F(1) => self.mode = Mode::Help,
            KeyCode::Char('/') => {
                self.mode = Mode::Filter;
                self.pane = Pane::Turns;
                return self.ask_names().into_iter().collect();
            }
            KeyCode::Esc if !self.filter.text().is_empty() => {
                self.filter = Field::default();
                self.arrange();
            }
            KeyCode::Char('q') | KeyCode::Esc => return vec![Effect::Quit(0)],
            KeyCode::Char('y') => return self.copy(),
            KeyCode::Char('o') => return self.open(),
            KeyCode::Char('S') => return vec![Effect::Sessions],
            KeyCode::Char(c) => return self.change(c),
            _ => {}
        }
        Vec::new()
    }

    /// The keys that change something.
    fn change(&mut self, key: char) -> Vec<Effect> {
        if !"rfuUas".contains(key) {
            return Vec::new();
        }
        if self.busy.is_some() {
            return Vec::new();
        }
        if "uUas".contains(key) && !self.is_own() {
            self.fail(
                "this is not the session under way here",
                "S: choose that one",
            );
            return Vec::new();
        }
        let job = match key {
            'r' => self.restore(Vec::new(), Asked::IfUnsaved),
            'f' => self.restore_file(),
            'u' => Some(Job::Undo(Direction::Undo)),
            'U' => Some(Job::Undo(Direction::Redo)),
            'a' => Some(Job::Prepare),
            _ => Some(Job::Snapshot),
        };
        job.map(|job| self.begin(job)).into_iter().collect()
    }

    fn begin(&mut self, job: Job) -> Effect {
        self.busy = Some(match &job {
            Job::Look { .. } => "looking",
            Job::Restore(_, Asked::Always) | Job::Prepare => "planning",
            Job::Restore(..) => "restoring",
            Job::Undo(Direction::Undo) => "undoing",
            Job::Undo(Direction::Redo) => "redoing",
            Job::Snapshot => "taking a turn",
            Job::Accept(..) => "committing",
        });
        self.told = None;
        Effect::Work(job)
    }

    fn restore(&mut self, paths: Vec<RepoPath>, asked: Asked) -> Option<Job> {
        let book = self.book.as_ref()?;
        if self.row() == Some(Row::Now) {
            self.fail(
                "that is what is on disk now",
                "r on a turn brings that turn back",
            );
            return None;
        }
        let turn = book.snapshot(self.row()?)?;
        let restore = Restore {
            session: book.session.id.clone(),
            number: turn.number(),
            commit: turn.commit.clone(),
            paths,
        };
        Some(Job::Restore(restore, asked))
    }

    fn restore_file(&mut self) -> Option<Job> {
        let Some(file) = self.file() else {
            self.fail("no file is chosen", "[ and ] choose one");
            return None;
        };
        let path = self.patch()?.files.get(file)?.path.clone();
        self.restore(vec![path], Asked::Always)
    }

    fn fail(&mut self, text: &str, hint: &str) {
        self.told = Some(Told {
            text: text.to_owned(),
            hint: Some(hint.to_owned()),
            failed: true,
        });
    }

    fn copy(&mut self) -> Vec<Effect> {
        let Some(turn) = self.snapshot() else {
            return Vec::new();
        };
        let (number, commit) = (turn.number(), turn.commit.as_str().to_owned());
        self.told = Some(Told {
            text: format!(
                "copied the id of turn {number}: {}",
                &commit[..10.min(commit.len())]
            ),
            ..Told::default()
        });
        vec![Effect::Copy(commit)]
    }

    fn open(&mut self) -> Vec<Effect> {
        let found = self.patch().and_then(|patch| {
            let file = patch.files.get(self.file()?)?;
            let number = patch.number_at(self.line).unwrap_or(1);
            Some(Effect::Open(file.path.clone(), number.max(1)))
        });
        match found {
            Some(open) => vec![open],
            None => {
                self.fail("no file is chosen", "[ and ] choose one");
                Vec::new()
            }
        }
    }

    fn answer(&mut self, plan: Plan, top: usize, key: KeyEvent) -> Vec<Effect> {
        let most = plan.paths.len().saturating_sub(1);
        let top = match key.code {
            KeyCode::Char('y' | 'Y') => {
                let Does::Restore(restore) = plan.does else {
                    return Vec::new();
                };
                return vec![self.begin(Job::Restore(restore, Asked::Done))];
            }
            KeyCode::Down => (top + 1).min(most),
            KeyCode::Up => top.saturating_sub(1),
            KeyCode::PageDown => (top + 10).min(most),
            KeyCode::PageUp => top.saturating_sub(10),
            _ => {
                if plan.does != Does::Nothing {
                    self.left_alone();
                }
                return Vec::new();
            }
        };
        self.mode = Mode::Plan(plan, top);
        Vec::new()
    }

    fn left_alone(&mut self) {
        self.told = Some(Told {
            text: "nothing was changed".to_owned(),
            ..Told::default()
        });
    }

    fn write(
        &mut self,
        plan: Plan,
        mut field: Field,
        mut top: usize,
        key: KeyEvent,
    ) -> Vec<Effect> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let shifted = key
            .modifiers
            .intersects(KeyModifiers::ALT | KeyModifiers::SHIFT);
        match key.code {
            KeyCode::Esc => {
                self.left_alone();
                return Vec::new();
            }
            KeyCode::Enter if shifted => field.insert("\n"),
            KeyCode::Char('j') if control => field.insert("\n"),
            KeyCode::Enter if !field.text().trim().is_empty() => {
                let Does::Accept(commit) = plan.does else {
                    return Vec::new();
                };
                let message = field.text().to_owned();
                let job = Job::Accept(Commit { message, ..commit });
                return vec![self.begin(job)];
            }
            KeyCode::PageDown => top = (top + 5).min(plan.paths.len().saturating_sub(1)),
            KeyCode::PageUp => top = top.saturating_sub(5),
            _ => {
                field.press(key);
            }
        }
        self.mode = Mode::Message(plan, field, top);
        Vec::new()
    }

    fn type_filter(&mut self, key: KeyEvent) -> Vec<Effect> {
        self.mode = Mode::Filter;
        match key.code {
            KeyCode::Esc => {
                self.filter = Field::default();
                self.mode = Mode::Browse;
            }
            KeyCode::Enter => self.mode = Mode::Browse,
            KeyCode::Down => self.step(1),
            KeyCode::Up => self.step(-1),
            _ => {
                self.filter.press(key);
            }
        }
        self.arrange();
        Vec::new()
    }

    fn choose_session(
        &mut self,
        sessions: Vec<SessionLine>,
        at: usize,
        key: KeyEvent,
    ) -> Vec<Effect> {
        let last = sessions.len().saturating_sub(1);
        let at = match key.code {
            KeyCode::Char('j') | KeyCode::Down => (at + 1).min(last),
            KeyCode::Char('k') | KeyCode::Up => at.saturating_sub(1),
            KeyCode::Char('g') | KeyCode::Home => 0,
            KeyCode::Char('G') | KeyCode::End => last,
            KeyCode::Enter | KeyCode::Right => {
                let Some(line) = sessions.get(at) else {
                    return Vec::new();
                };
                self.wanted = (!line.is_own).then(|| line.id.clone());
                self.filter = Field::default();
                return vec![Effect::Load(self.wanted.clone())];
            }
            _ => return Vec::new(),
        };
        self.mode = Mode::Sessions(sessions, at);
        Vec::new()
    }

    // Moving.

    fn page(&self) -> isize {
        let layout = Layout::of(self);
        let height = match self.pane {
            Pane::Turns => layout.turns.height,
            Pane::Diff => layout.lines.height,
        };
        isize::try_from(height.saturating_sub(1).max(1)).unwrap_or(1)
    }

    fn step(&mut self, by: isize) {
        match self.pane {
            Pane::Turns => self.choose(self.chosen.saturating_add_signed(by)),
            Pane::Diff => self.scroll(by),
        }
    }

    fn choose(&mut self, row: usize) {
        let row = row.min(self.rows.len().saturating_sub(1));
        self.upward = row < self.chosen;
        self.chosen = row;
        self.keep_in_sight();
    }

    fn keep_in_sight(&mut self) {
        let height = usize::from(Layout::of(self).turns.height).max(1);
        let last = self.rows.len().saturating_sub(height);
        self.top = self.top.min(last).min(self.chosen);
        self.top = self.top.max((self.chosen + 1).saturating_sub(height));
    }

    fn scroll(&mut self, by: isize) {
        let height = usize::from(Layout::of(self).lines.height);
        let length = self.patch().map_or(0, Patch::len);
        let last = length.saturating_sub(height);
        let line = self.line.saturating_add_signed(by);
        // A file that was gone to may stand at the top where less than a page is left.
        self.line = match by > 0 {
            true if by == isize::MAX => last,
            true => line.min(last.max(self.line)),
            false => line,
        };
    }

    fn other_pane(&mut self) {
        self.pane = match self.pane {
            Pane::Turns => Pane::Diff,
            Pane::Diff => Pane::Turns,
        };
        self.keep_in_sight();
    }

    /// Unfolds the turn that is chosen. Where there is nothing to unfold, the difference is gone to.
    fn right(&mut self) {
        match self.pane {
            Pane::Diff => self.across = self.across.saturating_add(8),
            Pane::Turns if self.is_foldable() && !self.is_unfolded() => self.fold(),
            Pane::Turns => self.other_pane(),
        }
    }

    fn enter(&mut self) {
        match self.pane {
            Pane::Turns if self.is_foldable() => self.fold(),
            Pane::Turns => self.other_pane(),
            Pane::Diff => self.scroll(1),
        }
    }

    fn space(&mut self, page: isize) {
        match self.pane {
            Pane::Turns if self.is_foldable() => self.fold(),
            Pane::Turns => {}
            Pane::Diff => self.scroll(page),
        }
    }

    /// Folds the turn that is chosen, or that has the chosen step.
    fn left(&mut self) {
        match (self.pane, self.row()) {
            (Pane::Diff, _) => self.across = self.across.saturating_sub(8),
            (Pane::Turns, Some(Row::Step(at, _))) => {
                let turn = self.rows.iter().position(|row| *row == Row::Turn(at));
                self.choose(turn.unwrap_or(self.chosen));
                self.fold();
            }
            (Pane::Turns, _) if self.is_unfolded() => self.fold(),
            _ => {}
        }
    }

    fn entry_number(&self) -> Option<(u32, bool)> {
        let Row::Turn(at) = self.row()? else {
            return None;
        };
        let entry = self.book.as_ref()?.entries.get(at)?;
        Some((entry.number, !entry.steps.is_empty()))
    }

    fn is_foldable(&self) -> bool {
        self.entry_number().is_some_and(|(_, has_steps)| has_steps)
    }

    fn is_unfolded(&self) -> bool {
        let number = self.entry_number().map(|(number, _)| number);
        number.is_some_and(|number| self.unfolded.contains(&number))
    }

    fn fold(&mut self) {
        if let Some((number, true)) = self.entry_number() {
            if !self.unfolded.remove(&number) {
                self.unfolded.insert(number);
            }
            self.arrange();
        }
    }

    fn next_file(&mut self, forward: bool) {
        let Some(file) = self.file() else {
            return;
        };
        let Some(patch) = self.patch() else {
            return;
        };
        let first = patch.files.get(file).and_then(|file| file.first);
        let next = match forward {
            true => file + 1,
            // First to the head of the file that is seen.
            false if first.is_some_and(|first| first < self.line) => file,
            false => file.saturating_sub(1),
        };
        if let Some(line) = patch.files.get(next).and_then(|file| file.first) {
            self.line = line;
        }
    }

    fn next_hunk(&mut self, forward: bool) {
        if let Some(line) = self
            .patch()
            .and_then(|patch| patch.hunk_from(self.line, forward))
        {
            self.line = line;
        }
    }

    fn compare_next(&mut self) {
        let has_marks = self.marked_turns().len() == 2;
        self.compared = match self.compared {
            Compared::Before => Compared::Disk,
            Compared::Disk => Compared::Head,
            Compared::Head if has_marks => Compared::Marked,
            _ => Compared::Before,
        };
    }

    fn mark(&mut self) {
        let Some(commit) = self.snapshot().map(|turn| turn.commit.clone()) else {
            return;
        };
        match self.marked.iter().position(|marked| marked == &commit) {
            Some(at) => drop(self.marked.remove(at)),
            None => {
                if self.marked.len() == 2 {
                    self.marked.remove(0);
                }
                self.marked.push(commit);
            }
        }
        match self.marked.len() {
            2 => self.compared = Compared::Marked,
            _ if self.compared == Compared::Marked => self.compared = Compared::Before,
            _ => {}
        }
    }

    fn mouse(&mut self, mouse: MouseEvent) -> Vec<Effect> {
        let layout = Layout::of(self);
        let position = Position::new(mouse.column, mouse.row);
        let is_in = |area: Rect| area.contains(position);
        match &mut self.mode {
            Mode::Browse | Mode::Filter => {}
            Mode::Plan(plan, top) | Mode::Message(plan, _, top) => {
                let most = plan.paths.len().saturating_sub(1);
                match mouse.kind {
                    MouseEventKind::ScrollDown => *top = (*top + 3).min(most),
                    MouseEventKind::ScrollUp => *top = top.saturating_sub(3),
                    _ => {}
                }
                return Vec::new();
            }
            Mode::Help | Mode::Sessions(..) => return Vec::new(),
        }
        let by = match mouse.kind {
            MouseEventKind::ScrollDown => 3,
            MouseEventKind::ScrollUp => -3,
            MouseEventKind::ScrollRight => {
                self.across = self.across.saturating_add(4);
                return Vec::new();
            }
            MouseEventKind::ScrollLeft => {
                self.across = self.across.saturating_sub(4);
                return Vec::new();
            }
            MouseEventKind::Down(MouseButton::Left) => {
                self.click(&layout, position);
                return Vec::new();
            }
            _ => return Vec::new(),
        };
        if is_in(layout.turns) {
            let by = if by > 0 { 1 } else { -1 };
            self.choose(self.chosen.saturating_add_signed(by));
        } else if is_in(layout.lines) || is_in(layout.files) || is_in(layout.about) {
            self.scroll(by);
        }
        Vec::new()
    }

    fn click(&mut self, layout: &Layout, at: Position) {
        let row_in = |area: Rect| usize::from(at.y.saturating_sub(area.y));
        if layout.turns.contains(at) {
            self.pane = Pane::Turns;
            let row = self.top + row_in(layout.turns);
            match row {
                row if row == self.chosen => self.fold(),
                row if row < self.rows.len() => self.choose(row),
                _ => {}
            }
        } else if layout.files.contains(at) {
            self.pane = Pane::Diff;
            let file = self.first_file(layout.files.height) + row_in(layout.files);
            let first = self.patch().and_then(|patch| patch.files.get(file)?.first);
            self.line = first.unwrap_or(self.line);
        } else if layout.lines.contains(at) || layout.about.contains(at) {
            self.pane = Pane::Diff;
        }
    }

    /// The file at the top of the list, which has so many rows: the chosen one is in the middle, if it can be.
    pub fn first_file(&self, rows: u16) -> usize {
        let rows = usize::from(rows);
        let last = self.files_shown().saturating_sub(rows);
        self.file().unwrap_or(0).saturating_sub(rows / 2).min(last)
    }
}
