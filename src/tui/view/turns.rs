//! The left pane: the turns.

use ratatui::style::{Modifier, Style};

use super::Canvas;
use crate::history::git::Stat;
use crate::history::refnames::Shelf;
use crate::history::turn::Turn;
use crate::term::{text, time};
use crate::tui::layout::Layout;
use crate::tui::state::{Pane, State};
use crate::tui::timeline::{Book, Row, by};

/// From this width on, agents are named in full.
const ROOMY: u16 = 46;

pub fn draw(canvas: &mut Canvas<'_>, layout: &Layout) {
    if layout.turns.width == 0 {
        return;
    }
    title(canvas, layout);
    let state = canvas.state;
    let Some(book) = &state.book else {
        return welcome(canvas, layout);
    };
    if state.rows.is_empty() {
        let words = match state.filter.text().is_empty() {
            true => "no turn yet",
            false => "no turn matches",
        };
        let dim = canvas.theme.dim();
        canvas.pen(layout.turns, 0).put(&format!(" {words}"), dim);
    }
    let seen = state.rows.iter().skip(state.top);
    let seen = seen.take(usize::from(layout.turns.height));
    let looks: Vec<(Row, Looks)> = seen
        .map(|row| (*row, Looks::of(state, book, *row)))
        .collect();
    let columns = Columns::of(&looks, layout.turns.width);
    for (line, (row, looks)) in (0..).zip(&looks) {
        let is_chosen = state.top + usize::from(line) == state.chosen;
        draw_row(canvas, layout, (*row, looks), (line, is_chosen), &columns);
    }
}

/// How wide the columns are, so that what is in them stands below each other.
#[derive(Default)]
struct Columns {
    drawing: usize,
    number: usize,
    added: usize,
    removed: usize,
    files: usize,
    agent: usize,
}

impl Columns {
    fn of(looks: &[(Row, Looks)], width: u16) -> Self {
        let is_roomy = width >= ROOMY;
        let turns = looks.iter().filter(|(row, _)| *row != Row::Now);
        let mut columns = Self {
            agent: if is_roomy { 6 } else { 1 },
            ..Self::default()
        };
        for (_, looks) in turns {
            let wider =
                |column: &mut usize, text: &str| *column = (*column).max(text.chars().count());
            wider(&mut columns.drawing, &looks.drawing);
            wider(&mut columns.number, &looks.number);
            wider(&mut columns.added, &looks.added);
            wider(&mut columns.removed, &looks.removed);
            if is_roomy {
                wider(&mut columns.files, &looks.files);
            }
        }
        columns
    }

    /// How wide the counts are, with the blanks before them.
    fn counts(&self) -> usize {
        let widths = [self.added, self.removed, self.files];
        let shown = widths.iter().filter(|width| **width > 0);
        shown.map(|width| width + 1).sum()
    }
}

fn title(canvas: &mut Canvas<'_>, layout: &Layout) {
    let (state, theme) = (canvas.state, canvas.theme);
    let is_here = state.pane == Pane::Turns;
    let mut pen = canvas.pen(layout.turns_title, 0);
    pen.put(" ", Style::new());
    let style = match is_here {
        true => theme.strong(),
        false => theme.dim(),
    };
    pen.put("Turns", style);
    let filter = state.filter.text();
    if !filter.is_empty() {
        pen.put("  /", theme.key());
        pen.put(&text::plain(filter.as_bytes()), theme.key());
        return;
    }
    if let Some(book) = &state.book {
        let session = &book.session;
        let shelf = match session.shelf {
            _ if book.is_own => String::new(),
            Shelf::Active => " (another work tree's)".to_owned(),
            shelf => format!(" ({})", shelf.in_words()),
        };
        let id = text::plain(session.id.as_str().as_bytes());
        pen.put(&format!("  {id}{shelf}"), theme.dim());
    }
}

fn welcome(canvas: &mut Canvas<'_>, layout: &Layout) {
    let lines: &[&str] = match canvas.state.is_read {
        false => &["reading…"],
        true => &[
            "No session is under way here.",
            "",
            "s takes the first turn.",
            "S shows earlier sessions.",
            "u takes the last accept back.",
        ],
    };
    let dim = canvas.theme.dim();
    for (row, line) in (0..).zip(lines) {
        canvas.pen(layout.turns, row).put(&format!(" {line}"), dim);
    }
}

/// `line` is where it stands; is it the chosen one?
fn draw_row(
    canvas: &mut Canvas<'_>,
    layout: &Layout,
    (row, looks): (Row, &Looks),
    (line, is_chosen): (u16, bool),
    columns: &Columns,
) {
    let (state, theme) = (canvas.state, canvas.theme);
    let area = layout.turns;
    if is_chosen {
        let here = ratatui::layout::Rect {
            y: area.y + line,
            height: 1,
            ..area
        };
        let chosen = match state.pane {
            Pane::Turns => theme.chosen(),
            Pane::Diff => theme.chosen_elsewhere(),
        };
        canvas.fill(here, chosen);
    }
    let faded = |style: Style| match looks.is_left {
        true => style.add_modifier(Modifier::DIM),
        false => style,
    };
    let over = |style: Style| match is_chosen {
        // What is reversed has no colours of its own: they would be hard to read.
        true if theme.chosen().add_modifier.contains(Modifier::REVERSED) => {
            Style::new().add_modifier(style.add_modifier - Modifier::DIM)
        }
        _ => style,
    };
    let mut pen = canvas.pen(area, line);
    pen.put(looks.mark, over(theme.key()));
    if row == Row::Now {
        pen.put("◌ ", over(theme.unsaved()));
        pen.put(&looks.message, over(theme.unsaved()));
        return;
    }
    for (at, sign) in looks.drawing.chars().enumerate() {
        let style = match () {
            () if at != looks.column => theme.dim(),
            () if looks.is_current => theme.current(),
            () => faded(Style::new()),
        };
        pen.put(sign.encode_utf8(&mut [0; 4]), over(style));
    }
    let blanks = columns
        .drawing
        .saturating_sub(looks.drawing.chars().count());
    pen.put(&" ".repeat(blanks + 1), Style::new());
    let number = match looks.is_current {
        true => theme.current(),
        false => faded(theme.number()),
    };
    pen.put(
        &format!("{:>1$} ", looks.number, columns.number),
        over(number),
    );
    pen.put(&format!("{:>4} ", looks.age), over(theme.dim()));
    let agent = looks.agent.chars().take(columns.agent).collect::<String>();
    let style = over(faded(theme.agent(&looks.agent)));
    pen.put(&format!("{agent:<0$} ", columns.agent), style);
    let room = pen.left().saturating_sub(columns.counts());
    pen.put(
        &text::shorten(&looks.message, room),
        over(faded(Style::new())),
    );
    pen.skip_to_end(columns.counts());
    for (count, width, style) in [
        (&looks.added, columns.added, theme.added()),
        (&looks.removed, columns.removed, theme.removed()),
        (&looks.files, columns.files, theme.dim()),
    ] {
        if width > 0 {
            pen.put(&format!(" {count:>width$}"), over(faded(style)));
        }
    }
}

/// What a row says.
struct Looks {
    mark: &'static str,
    drawing: String,
    column: usize,
    number: String,
    age: String,
    agent: String,
    message: String,
    added: String,
    removed: String,
    files: String,
    is_current: bool,
    is_left: bool,
}

impl Looks {
    fn of(state: &State, book: &Book, row: Row) -> Self {
        let snapshot = book.snapshot(row);
        let is_marked = snapshot.is_some_and(|turn| state.marked.contains(&turn.commit));
        let count = |of: fn(&Stat) -> u64, before: &str, after: &str| {
            let count = snapshot.map_or(0, |turn| of(&turn.note.stat));
            match count {
                0 => String::new(),
                count => format!("{before}{}{after}", short(count)),
            }
        };
        let mut looks = Self {
            mark: if is_marked { "▌" } else { " " },
            drawing: String::new(),
            column: 0,
            number: String::new(),
            age: snapshot.map_or_else(String::new, |turn| age(state.now, turn.seconds)),
            agent: snapshot.map_or_else(String::new, agent),
            message: String::new(),
            added: count(|stat| stat.added, "+", ""),
            removed: count(|stat| stat.removed, "-", ""),
            files: count(|stat| stat.files, "", "f"),
            is_current: book.is_current(row),
            is_left: false,
        };
        match row {
            Row::Now => looks.now(state),
            Row::Turn(at) => looks.turn(state, book, at),
            Row::Step(at, step) => looks.step(book, at, step),
        }
        looks
    }

    fn now(&mut self, state: &State) {
        let look = state.look.as_ref();
        let changed = look.map_or(0, |look| look.changed);
        self.message = match changed {
            1 => "now: 1 file changed".to_owned(),
            _ => format!("now: {changed} files changed"),
        };
    }

    fn turn(&mut self, state: &State, book: &Book, at: usize) {
        let Some(entry) = book.entries.get(at) else {
            return;
        };
        let is_filtered = !state.filter.text().is_empty();
        self.drawing.clone_from(&entry.drawing.row);
        self.column = entry.drawing.column;
        if is_filtered {
            self.drawing = self.drawing.chars().nth(self.column).into_iter().collect();
            self.column = 0;
        }
        self.number = entry.number.to_string();
        self.is_left = !entry.on_line && book.session.shelf == Shelf::Active;
        self.message = match &entry.turn {
            Some(turn) => subject(turn),
            None => "under way".to_owned(),
        };
        let folded = !state.unfolded.contains(&entry.number);
        match entry.steps.len() {
            0 => {}
            count if folded => self.message = format!("▸{count} {}", self.message),
            _ => self.message = format!("▾ {}", self.message),
        }
    }

    fn step(&mut self, book: &Book, at: usize, step: usize) {
        let Some(entry) = book.entries.get(at) else {
            return;
        };
        let Some((turn, _)) = entry.steps.get(step) else {
            return;
        };
        self.drawing = format!("{:<1$}·", entry.drawing.below, entry.drawing.column + 2);
        self.column = entry.drawing.column + 2;
        self.number = turn.number().to_string();
        self.is_left = !entry.on_line && book.session.shelf == Shelf::Active;
        let tool = turn.note.work.tool.as_deref().unwrap_or_default();
        self.message = match tool.is_empty() {
            true => subject(turn),
            false => format!("{} {}", text::plain(tool.as_bytes()), subject(turn)),
        };
    }
}

/// A count in four columns at most: `999`, `12k`.
fn short(count: u64) -> String {
    match count {
        0..1000 => count.to_string(),
        1000..1_000_000 => format!("{}k", count / 1000),
        _ => format!("{}M", count / 1_000_000),
    }
}

fn subject(turn: &Turn) -> String {
    text::plain(turn.note.subject().as_bytes())
}

/// Who worked.
pub fn agent(turn: &Turn) -> String {
    let agent = turn.note.work.agent.as_deref();
    text::plain(agent.unwrap_or(by(turn.note.kind)).as_bytes())
}

/// How long ago, in four columns.
fn age(now: i64, then: i64) -> String {
    let passed = now.saturating_sub(then);
    match passed {
        ..60 => "now".to_owned(),
        60..3600 => format!("{}m", passed / 60),
        3600..86_400 => format!("{}h", passed / 3600),
        86_400..8_640_000 => format!("{}d", passed / 86_400),
        _ => {
            let date = time::rfc3339(then);
            let year = date.split('-').next().unwrap_or_default();
            year.chars().take(4).collect()
        }
    }
}
