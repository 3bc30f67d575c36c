//! The turns of a session in rows, the newest first: which grew from which, and which the work tree went back from.

use std::collections::{BTreeMap, BTreeSet};

use crate::history::git::{Oid, RepoPath};
use crate::history::session::{Lineage, Session};
use crate::history::turn::{Kind, Number, Turn};

/// A session as it is looked at.
#[derive(Clone, Debug)]
pub struct Book {
    /// The session.
    pub session: Session,
    /// Is it the one that is under way here?
    pub is_own: bool,
    /// Where HEAD stands.
    pub head: Option<Oid>,
    /// Its turns, the newest first; before them the one that is under way, after them the baseline.
    pub entries: Vec<Entry>,
}

/// A turn, with the steps that led to it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its number.
    pub number: u32,
    /// The turn; `None` where it is still under way.
    pub turn: Option<Turn>,
    /// The tree that it is measured against; `None` where that is not known.
    pub before: Option<Oid>,
    /// Did the work tree grow from it?
    pub on_line: bool,
    /// Its steps, the last first, each with the tree before it.
    pub steps: Vec<(Turn, Option<Oid>)>,
    /// The drawing before it, and the one before its steps.
    pub drawing: Drawing,
}

/// Which turn grew from which, drawn before a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawing {
    /// On the row of the turn itself.
    pub row: String,
    /// On the rows between it and the next turn.
    pub below: String,
    /// The column of the turn, in characters.
    pub column: usize,
}

/// A row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// The work tree as it is, where it differs from the current turn.
    Now,
    /// A turn: its place among the entries.
    Turn(usize),
    /// A step of a turn: both places.
    Step(usize, usize),
}

/// What a row stands for, whatever else comes and goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Id {
    /// The work tree as it is.
    Now,
    /// The turn that is under way.
    UnderWay(u32),
    /// A snapshot.
    Snapshot(Oid),
}

impl Book {
    /// The book of a session. Without a lineage, what grew by way of steps is not known yet.
    pub fn of(session: Session, is_own: bool, head: Option<Oid>, lineage: &Lineage<'_>) -> Self {
        let before = Before::of(&session, lineage);
        let line = before.line(session.current.as_ref());
        let mut entries = Vec::new();
        entries.extend(under_way(&session, &before));
        for turn in session.turns.values().rev() {
            entries.push(entry(turn, &before, &line));
        }
        let known = session.baseline.as_ref();
        let current = session.current.iter();
        let mut current = current.filter(|turn| turn.note.kind == Kind::Baseline);
        let baseline = known
            .or_else(|| lineage.baseline(&session.id))
            .or_else(|| current.next());
        if let Some(baseline) = baseline {
            entries.push(Entry {
                before: Some(baseline.tree.clone()),
                ..entry(baseline, &before, &line)
            });
        }
        draw(&mut entries, &before, session.current.as_ref());
        Self {
            session,
            is_own,
            head,
            entries,
        }
    }

    /// The rows, with the steps of these turns; where `chosen` says which, only those turns.
    pub fn rows(&self, unfolded: &BTreeSet<u32>, chosen: Option<&BTreeSet<usize>>) -> Vec<Row> {
        let mut rows = Vec::new();
        for (at, entry) in self.entries.iter().enumerate() {
            if chosen.is_some_and(|chosen| !chosen.contains(&at)) {
                continue;
            }
            rows.push(Row::Turn(at));
            if unfolded.contains(&entry.number) {
                rows.extend((0..entry.steps.len()).map(|step| Row::Step(at, step)));
            }
        }
        rows
    }

    /// What a row stands for.
    pub fn id(&self, row: Row) -> Option<Id> {
        Some(match row {
            Row::Now => Id::Now,
            Row::Turn(at) => {
                let entry = self.entries.get(at)?;
                match &entry.turn {
                    Some(turn) => Id::Snapshot(turn.commit.clone()),
                    None => Id::UnderWay(entry.number),
                }
            }
            Row::Step(..) => Id::Snapshot(self.snapshot(row)?.commit.clone()),
        })
    }

    /// The snapshot that a row shows: of a turn under way, its last step.
    pub fn snapshot(&self, row: Row) -> Option<&Turn> {
        match row {
            Row::Now => None,
            Row::Turn(at) => {
                let entry = self.entries.get(at)?;
                entry
                    .turn
                    .as_ref()
                    .or_else(|| Some(&entry.steps.first()?.0))
            }
            Row::Step(at, step) => Some(&self.entries.get(at)?.steps.get(step)?.0),
        }
    }

    /// The tree that what a row shows is measured against.
    pub fn before(&self, row: Row) -> Option<&Oid> {
        match row {
            Row::Now => self.session.current.as_ref().map(|turn| &turn.tree),
            Row::Turn(at) => self.entries.get(at)?.before.as_ref(),
            Row::Step(at, step) => self.entries.get(at)?.steps.get(step)?.1.as_ref(),
        }
    }

    /// The number that a row bears.
    pub fn number(&self, row: Row) -> Option<Number> {
        match row {
            Row::Turn(at) => Some(Number::turn(self.entries.get(at)?.number)),
            _ => self.snapshot(row).map(Turn::number),
        }
    }

    /// Does the work tree stand there?
    pub fn is_current(&self, row: Row) -> bool {
        let current = self.session.current.as_ref().map(|turn| &turn.commit);
        current.is_some() && self.snapshot(row).map(|turn| &turn.commit) == current
    }
}

/// The turn that is under way: where the work tree stands at a step of a turn that is still to come.
fn under_way(session: &Session, before: &Before<'_>) -> Option<Entry> {
    let current = session.current.as_ref()?;
    if current.note.kind != Kind::Step || session.turns.contains_key(&current.number().turn) {
        return None;
    }
    let (mut steps, base) = before.of_turn(current);
    steps.insert(0, current);
    Some(Entry {
        number: current.number().turn,
        turn: None,
        before: base.map(|turn| turn.tree.clone()),
        on_line: true,
        steps: with_trees(&steps, base),
        drawing: Drawing::default(),
    })
}

fn entry(turn: &Turn, before: &Before<'_>, line: &BTreeSet<&Oid>) -> Entry {
    let (steps, base) = before.of_turn(turn);
    Entry {
        number: turn.number().turn,
        before: base.map(|turn| turn.tree.clone()),
        on_line: line.contains(&turn.commit),
        steps: with_trees(&steps, base),
        drawing: Drawing::default(),
        turn: Some(turn.clone()),
    }
}

fn with_trees(steps: &[&Turn], base: Option<&Turn>) -> Vec<(Turn, Option<Oid>)> {
    let trees = steps.iter().skip(1).copied().map(Some).chain([base]);
    let trees = trees.map(|turn| turn.map(|turn| turn.tree.clone()));
    steps
        .iter()
        .map(|turn| (*turn).clone())
        .zip(trees)
        .collect()
}

/// What each snapshot grew from.
struct Before<'a> {
    known: BTreeMap<&'a Oid, &'a Turn>,
    lineage: &'a Lineage<'a>,
}

impl<'a> Before<'a> {
    fn of(session: &'a Session, lineage: &'a Lineage<'a>) -> Self {
        let known = session.turns.values().chain(&session.baseline);
        let known = known.chain(&session.current);
        let known = known.filter(|turn| turn.note.kind != Kind::Step);
        Self {
            known: known.map(|turn| (&turn.commit, turn)).collect(),
            lineage,
        }
    }

    /// The steps on the way, the last first, and the turn before them.
    fn of_turn(&self, turn: &'a Turn) -> (Vec<&'a Turn>, Option<&'a Turn>) {
        if turn.note.kind == Kind::Baseline {
            return (Vec::new(), None);
        }
        let parent = turn.parent.as_ref();
        match parent.and_then(|oid| self.known.get(oid)) {
            Some(before) => (Vec::new(), Some(before)),
            None => self.lineage.before(turn),
        }
    }

    /// The turns that the work tree grew from, the one where it stands among them.
    fn line(&self, current: Option<&'a Turn>) -> BTreeSet<&'a Oid> {
        let mut line = BTreeSet::new();
        let mut next = current;
        while let Some(turn) = next.filter(|turn| !line.contains(&turn.commit)) {
            line.insert(&turn.commit);
            next = self.of_turn(turn).1;
        }
        line
    }
}

/// More columns than this are not drawn.
const COLUMNS: usize = 8;

/// Draws which turn grew from which.
fn draw(entries: &mut [Entry], before: &Before<'_>, current: Option<&Turn>) {
    // What each column waits for: the turn that the one above it grew from.
    let mut columns: Vec<Option<Oid>> = Vec::new();
    for entry in entries {
        let snapshot = entry
            .turn
            .as_ref()
            .or(entry.steps.first().map(|(step, _)| step));
        let Some(snapshot) = snapshot.cloned() else {
            continue;
        };
        let waits = |column: &Option<Oid>| column.as_ref() == Some(&snapshot.commit);
        let column = columns.iter().position(waits).unwrap_or_else(|| {
            let free = columns.iter().position(Option::is_none);
            free.unwrap_or_else(|| {
                columns.push(None);
                columns.len() - 1
            })
        });
        let last = columns.iter().rposition(waits).unwrap_or(column);
        let mut row = String::new();
        for (at, other) in columns.iter().enumerate() {
            let crossed = (column..last).contains(&at);
            let sign = match other {
                _ if at == column && current == Some(&snapshot) => '◉',
                _ if at == column => node(entry),
                Some(_) if waits(other) && at == last => '╯',
                Some(_) if waits(other) => '┴',
                Some(_) if crossed => '┼',
                None if crossed => '─',
                Some(_) => '│',
                None => ' ',
            };
            row.push(sign);
            row.push(if crossed { '─' } else { ' ' });
        }
        for column in &mut columns {
            column.take_if(|oid| *oid == snapshot.commit);
        }
        let grew_from = before.known_before(&snapshot);
        columns[column] = grew_from;
        while columns.last().is_some_and(Option::is_none) {
            columns.pop();
        }
        let bars = columns.iter().map(|column| match column {
            Some(_) => "│ ",
            None => "  ",
        });
        entry.drawing = Drawing {
            row: row.trim_end().chars().take(2 * COLUMNS).collect(),
            below: bars.take(COLUMNS).collect::<String>().trim_end().to_owned(),
            column: 2 * column,
        };
    }
}

impl Before<'_> {
    fn known_before(&self, turn: &Turn) -> Option<Oid> {
        if turn.note.kind == Kind::Baseline {
            return None;
        }
        let parent = turn.parent.as_ref();
        let before = parent.and_then(|oid| self.known.get(oid)).copied();
        let before = before.or_else(|| self.lineage.before(turn).1);
        before
            .filter(|before| before.note.session == turn.note.session)
            .map(|before| before.commit.clone())
    }
}

fn node(entry: &Entry) -> char {
    match &entry.turn {
        None => '◌',
        Some(turn) if turn.note.kind == Kind::Baseline => '◇',
        Some(_) if entry.on_line => '●',
        Some(_) => '○',
    }
}

/// The entries that match what was typed. Each word must be found: in the message, the agent, the number or the path of a
/// file; `agent:` and `file:` before a word say where.
pub fn matching(
    book: &Book,
    typed: &str,
    files: &BTreeMap<Oid, Vec<RepoPath>>,
) -> Option<BTreeSet<usize>> {
    let typed = typed.to_lowercase();
    let words: Vec<&str> = typed.split_whitespace().collect();
    if words.is_empty() {
        return None;
    }
    let matches = |entry: &Entry| words.iter().all(|word| has(entry, word, files));
    let chosen = book.entries.iter().enumerate();
    Some(
        chosen
            .filter(|(_, entry)| matches(entry))
            .map(|(at, _)| at)
            .collect(),
    )
}

fn has(entry: &Entry, word: &str, files: &BTreeMap<Oid, Vec<RepoPath>>) -> bool {
    let Some(turn) = &entry.turn else {
        return false;
    };
    let within = |text: &str, word: &str| text.to_lowercase().contains(word);
    let agent = |word: &str| {
        let agent = turn.note.work.agent.as_deref();
        within(agent.unwrap_or(by(turn.note.kind)), word)
    };
    let file = |word: &str| {
        let files = files.get(&turn.commit).into_iter().flatten();
        let mut names = files.map(|path| String::from_utf8_lossy(path.as_bytes()));
        names.any(|name| within(&name, word))
    };
    if let Some(word) = word.strip_prefix("agent:") {
        return agent(word);
    }
    if let Some(word) = word.strip_prefix("file:") {
        return file(word);
    }
    within(&turn.note.message, word)
        || agent(word)
        || entry.number.to_string() == word
        || file(word)
}

/// Who took a snapshot that no agent did.
pub fn by(kind: Kind) -> &'static str {
    match kind {
        Kind::Human => "you",
        Kind::Safety => "edio",
        _ => "-",
    }
}
