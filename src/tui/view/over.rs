//! What lies over the panes: a plan that asks, the keys, the sessions.

use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use super::Canvas;
use crate::history::refnames::Shelf;
use crate::term::{text, time};
use crate::tui::event::{Does, Plan, SessionLine};
use crate::tui::field::Field;
use crate::tui::keys;
use crate::tui::state::Mode;

type Cursor<'a> = &'a mut Option<(u16, u16)>;

pub fn draw(canvas: &mut Canvas<'_>, area: Rect, cursor: Cursor<'_>) {
    let state = canvas.state;
    match &state.mode {
        Mode::Browse | Mode::Filter => {}
        Mode::Help => help(canvas, area),
        Mode::Plan(plan, top) => draw_plan(canvas, area, (plan, *top, None), cursor),
        Mode::Message(plan, field, top) => {
            draw_plan(canvas, area, (plan, *top, Some(field)), cursor);
        }
        Mode::Sessions(sessions, chosen) => draw_sessions(canvas, area, sessions, *chosen),
    }
}

/// A box in the middle, with room for so much. Returns what is inside.
fn frame(canvas: &mut Canvas<'_>, area: Rect, (width, height): (u16, u16), title: &str) -> Rect {
    let theme = canvas.theme;
    // The keys at the bottom stay in sight.
    let area = Rect {
        height: area.height.saturating_sub(1),
        ..area
    };
    let width = width.saturating_add(4).min(area.width);
    let height = height.saturating_add(2).min(area.height);
    let outer = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    for y in outer.top()..outer.bottom() {
        for x in outer.left()..outer.right() {
            if let Some(cell) = canvas.buffer.cell_mut((x, y)) {
                cell.reset();
            }
        }
    }
    let bar = "─".repeat(usize::from(width.saturating_sub(2)));
    for row in 0..height {
        let mut pen = canvas.pen(outer, row);
        if row == 0 || row + 1 == height {
            let (left, right) = if row == 0 {
                ("╭", "╮")
            } else {
                ("╰", "╯")
            };
            pen.put(&format!("{left}{bar}{right}"), theme.hunk());
        } else {
            pen.put("│", theme.hunk());
            pen.skip_to_end(1);
            pen.put("│", theme.hunk());
        }
    }
    let room = usize::from(width.saturating_sub(6));
    let title = format!(" {} ", text::shorten(title, room));
    let head = Rect {
        x: outer.x + 2.min(width),
        width: width.saturating_sub(4),
        ..outer
    };
    canvas.pen(head, 0).put(&title, theme.strong());
    Rect {
        x: outer.x + 2.min(width),
        y: outer.y + 1.min(height),
        width: width.saturating_sub(4),
        height: height.saturating_sub(2),
    }
}

fn part(area: Rect, from: u16, height: u16) -> Rect {
    let from = from.min(area.height);
    Rect {
        y: area.y + from,
        height: height.min(area.height - from),
        ..area
    }
}

fn height(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

/// A row of the help.
enum Help {
    Title(&'static str),
    Key(&'static str, &'static str),
}

fn help(canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme;
    let mut rows = Vec::new();
    for (title, listed) in keys::ALL {
        rows.push(Help::Title(title));
        rows.extend(listed.iter().map(|(key, does)| Help::Key(key, does)));
    }
    let columns = if area.width >= 108 && height(rows.len()) + 3 > area.height {
        2
    } else {
        1
    };
    let per_column = rows.len().div_ceil(columns);
    let width = height(columns * 66 - 2);
    let inner = frame(canvas, area, (width, height(per_column)), "Keys");
    // Where there is no room for all of them, the titles go.
    if usize::from(inner.height) < per_column {
        rows.retain(|row| matches!(row, Help::Key(..)));
    }
    let per_column = rows.len().div_ceil(columns);
    for (at, help) in rows.iter().enumerate() {
        let (column, row) = (at / per_column, at % per_column);
        let x = u16::try_from(column * 66).unwrap_or(0).min(inner.width);
        let area = Rect {
            x: inner.x + x,
            width: inner.width - x,
            ..inner
        };
        let mut pen = canvas.pen(area, height(row));
        match help {
            Help::Title(title) => pen.put(title, theme.strong()),
            Help::Key(key, does) => {
                pen.put(&format!("  {key:<14} "), theme.key());
                pen.put(does, Style::new());
            }
        }
    }
}

fn draw_plan(
    canvas: &mut Canvas<'_>,
    area: Rect,
    (plan, top, field): (&Plan, usize, Option<&Field>),
    cursor: Cursor<'_>,
) {
    let theme = canvas.theme;
    let message = field.map_or(0, |field| field.text().split('\n').count().clamp(1, 6) + 2);
    let notes = plan.notes.len();
    let asks = if field.is_none() { 2 } else { 0 };
    let rows = 1 + plan.paths.len().min(14) + notes + message + asks + 1;
    let inner = frame(
        canvas,
        area,
        (72, height(rows)),
        &text::plain(plan.title.as_bytes()),
    );
    canvas.pen(inner, 0).put(&plan.summary, theme.strong());
    let below = height(message + asks);
    let notes = height(notes).min(inner.height.saturating_sub(below + 3));
    let list = inner.height.saturating_sub(1 + below + notes);
    draw_paths(canvas, part(inner, 1, list), plan, top);
    for (row, note) in (0..notes).zip(&plan.notes) {
        let area = part(inner, 1 + list, notes);
        let note = text::shorten(&text::plain(note.as_bytes()), usize::from(area.width));
        canvas.pen(area, row).put(&note, theme.dim());
    }
    let rest = part(inner, 1 + list + notes, below);
    match field {
        Some(field) => draw_message(canvas, rest, field, cursor),
        None if plan.does == Does::Nothing => {}
        None => {
            let mut pen = canvas.pen(rest, rest.height.saturating_sub(1));
            pen.put("y", theme.key());
            pen.put(" do it    ", Style::new());
            pen.put("any other key", theme.key());
            pen.put(" leave all as it is", Style::new());
        }
    }
}

fn draw_paths(canvas: &mut Canvas<'_>, area: Rect, plan: &Plan, top: usize) {
    let theme = canvas.theme;
    let room = usize::from(area.height);
    let is_longer = plan.paths.len() > room;
    let top = top.min(
        plan.paths
            .len()
            .saturating_sub(room.saturating_sub(1).max(1)),
    );
    let shown = match is_longer {
        true => room.saturating_sub(1),
        false => room,
    };
    for (row, (letter, path, why)) in (0..).zip(plan.paths.iter().skip(top).take(shown)) {
        let mut pen = canvas.pen(area, row);
        let word = match letter {
            'w' => "write ",
            '-' => "remove",
            'A' => "add   ",
            'D' => "delete",
            'M' => "change",
            _ => "keep  ",
        };
        let style = match letter {
            'w' => theme.added(),
            ' ' => theme.dim(),
            letter => theme.status(*letter),
        };
        pen.put(&format!("{word} "), style);
        pen.put(&text::path(path.as_bytes()), Style::new());
        if let Some(why) = why {
            pen.put(&format!("  {}", text::plain(why.as_bytes())), theme.dim());
        }
    }
    if is_longer && room > 0 {
        let more = plan.paths.len() - (top + shown).min(plan.paths.len());
        let words = format!("↓ {more} more (PgDn)");
        canvas.pen(area, height(shown)).put(&words, theme.dim());
    }
}

fn draw_message(canvas: &mut Canvas<'_>, area: Rect, field: &Field, cursor: Cursor<'_>) {
    let theme = canvas.theme;
    canvas.pen(area, 0).put("Message:", theme.strong());
    let lines = part(area, 1, area.height.saturating_sub(1));
    if field.text().is_empty() {
        canvas.pen(lines, 0).put(" what was done", theme.dim());
    }
    let before = field.before_cursor();
    let at = before.matches('\n').count();
    let rows = usize::from(lines.height.max(1));
    let first = (at + 1).saturating_sub(rows);
    for (row, line) in (0..).zip(field.text().split('\n').skip(first).take(rows)) {
        // The end of a long line is where it is typed.
        let shown = text::plain(line.as_bytes());
        let skipped = match row == at - first {
            true => column(before).saturating_sub(usize::from(lines.width).saturating_sub(1)),
            false => 0,
        };
        canvas
            .pen(lines, height(row))
            .line(shown.as_bytes(), skipped, |_| Style::new());
    }
    let column = column(before).min(usize::from(lines.width.saturating_sub(1)));
    *cursor = Some((
        lines.x + height(column),
        lines.y + height(at - first).min(lines.height.saturating_sub(1)),
    ));
}

/// The column of the cursor in its line.
fn column(before: &str) -> usize {
    let line = before.rsplit('\n').next().unwrap_or_default();
    text::plain(line.as_bytes()).width()
}

fn draw_sessions(canvas: &mut Canvas<'_>, area: Rect, sessions: &[SessionLine], chosen: usize) {
    let (state, theme) = (canvas.state, canvas.theme);
    let inner = frame(
        canvas,
        area,
        (84, height(sessions.len().max(1))),
        "Sessions",
    );
    if sessions.is_empty() {
        canvas.pen(inner, 0).put("there is none yet", theme.dim());
    }
    let rows = usize::from(inner.height.max(1));
    let top = (chosen + 1).saturating_sub(rows);
    for (row, (at, line)) in (0..inner.height).zip(sessions.iter().enumerate().skip(top)) {
        if at == chosen {
            canvas.fill(part(inner, row, 1), theme.chosen());
        }
        let mut pen = canvas.pen(inner, row);
        let mark = match (line.is_own, line.shelf) {
            (true, _) => ("●", theme.current()),
            (_, Shelf::Active) => ("○", Style::new()),
            (_, Shelf::Archive) => ("✓", theme.dim()),
            (_, Shelf::Shared) => ("↓", theme.dim()),
        };
        pen.put(mark.0, mark.1);
        pen.put(
            &format!(" {} ", text::plain(line.id.as_str().as_bytes())),
            theme.number(),
        );
        pen.put(&format!("{:>4} turns  ", line.turns), Style::new());
        pen.put(
            &format!("{:<14} ", time::ago(state.now, line.seconds)),
            theme.dim(),
        );
        pen.put(&text::plain(line.subject.as_bytes()), Style::new());
    }
}
