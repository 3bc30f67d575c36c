//! The right pane: what is compared, the files, and the lines.

use bstr::ByteSlice;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::Canvas;
use super::turns::agent;
use crate::history::turn::Turn;
use crate::term::{text, time};
use crate::tui::layout::Layout;
use crate::tui::patch::{End, File, Kind, Line, Patch};
use crate::tui::state::{Pane, Shown};
use crate::tui::syntax::{self, Class};
use crate::tui::words;

/// Of a longer line only so much is read for colours.
const LONGEST: usize = 4096;

pub fn draw(canvas: &mut Canvas<'_>, layout: &Layout) {
    if layout.diff_title.width == 0 {
        return;
    }
    title(canvas, layout.diff_title);
    let state = canvas.state;
    if let Some(turn) = state.snapshot().filter(|_| layout.about.height > 0) {
        about(canvas, layout.about, turn);
    }
    match state.shown() {
        Shown::Patch(patch) => {
            files(canvas, layout.files, patch);
            rule(canvas, layout, patch);
            lines(canvas, layout.lines, patch);
        }
        Shown::Reading => note(canvas, layout.lines, "reading…"),
        Shown::Nothing(why) => note(canvas, layout.lines, &text::plain(why.as_bytes())),
    }
}

fn title(canvas: &mut Canvas<'_>, area: Rect) {
    let (state, theme) = (canvas.state, canvas.theme);
    let style = match state.pane {
        Pane::Diff => theme.strong(),
        Pane::Turns => theme.dim(),
    };
    let title = state.title();
    let mut pen = canvas.pen(area, 0);
    pen.put(" ", Style::new());
    pen.put(&title, style);
    if let Some(patch) = state.patch() {
        let lines = patch.files.iter().filter_map(|file| file.lines);
        let (added, removed) = lines.fold((0, 0), |sum: (u64, u64), lines| {
            (sum.0 + lines.0, sum.1 + lines.1)
        });
        let files = text::plural(patch.files.len(), "file");
        pen.put(&format!("  {files}"), theme.dim());
        pen.put(&format!(" +{added}"), theme.added());
        pen.put(&format!(" -{removed}"), theme.removed());
    }
}

fn about(canvas: &mut Canvas<'_>, area: Rect, turn: &Turn) {
    let (now, theme) = (canvas.state.now, canvas.theme);
    let agent = agent(turn);
    let mut pen = canvas.pen(area, 0);
    pen.put(" ", Style::new());
    if agent != "-" {
        pen.put(&agent, theme.agent(&agent));
        pen.put(" ", Style::new());
    }
    if let Some(model) = &turn.note.work.model {
        pen.put(&format!("{} ", text::plain(model.as_bytes())), theme.dim());
    }
    pen.put(&time::ago(now, turn.seconds), theme.dim());
    pen.put(&format!("  {}", turn.commit.short()), theme.dim());
    let message = text::plain_lines(turn.note.message.trim().as_bytes());
    for (row, line) in (1..area.height).zip(message.lines()) {
        let mut pen = canvas.pen(area, row);
        pen.put(" ", Style::new());
        let line = text::plain(line.as_bytes());
        let line = text::shorten(&line, pen.left());
        pen.put(
            &line,
            if row == 1 {
                theme.strong()
            } else {
                Style::new()
            },
        );
    }
}

fn files(canvas: &mut Canvas<'_>, area: Rect, patch: &Patch) {
    let (state, theme) = (canvas.state, canvas.theme);
    let chosen = state.file();
    let first = state.first_file(area.height);
    for (row, at) in (0..area.height).zip(first..) {
        let Some(file) = patch.files.get(at) else {
            return;
        };
        let is_chosen = chosen == Some(at) && patch.files.len() > 1;
        let mut pen = canvas.pen(area, row);
        pen.put(if is_chosen { " ▸ " } else { "   " }, theme.key());
        head_of(
            &mut pen,
            theme,
            file,
            if is_chosen {
                theme.strong()
            } else {
                Style::new()
            },
        );
    }
}

/// `M src/a.rs  +3 -1`.
fn head_of(
    pen: &mut super::paint::Pen<'_>,
    theme: crate::tui::theme::Theme,
    file: &File,
    style: Style,
) {
    pen.put(&format!("{} ", file.status), theme.status(file.status));
    let counts = match file.lines {
        Some((added, removed)) => (format!(" +{added}"), format!(" -{removed}")),
        None => (" binary".to_owned(), String::new()),
    };
    let width = counts.0.len() + counts.1.len() + 1;
    let room = pen.left().saturating_sub(width);
    let path = text::path(file.path.as_bytes());
    pen.put(&shorten_path(&path, room), style);
    let added = match file.lines {
        Some(_) => theme.added(),
        None => theme.dim(),
    };
    pen.put(&counts.0, added);
    pen.put(&counts.1, theme.removed());
}

/// The end of a path tells more than its beginning.
fn shorten_path(path: &str, columns: usize) -> String {
    use unicode_width::UnicodeWidthStr;
    if path.width() <= columns {
        return path.to_owned();
    }
    let mut rest = path;
    while rest.width() + 1 > columns {
        let mut chars = rest.chars();
        if chars.next().is_none() {
            break;
        }
        rest = chars.as_str();
    }
    format!("…{rest}")
}

fn rule(canvas: &mut Canvas<'_>, layout: &Layout, patch: &Patch) {
    let (state, theme) = (canvas.state, canvas.theme);
    let area = layout.rule;
    if area.height == 0 {
        return;
    }
    let part = match patch.len() {
        0 => String::new(),
        length => {
            let end = state.line + usize::from(layout.lines.height);
            format!(" {}% ", (end * 100 / length).min(100))
        }
    };
    let across = match state.across {
        0 => String::new(),
        columns => format!(" ←{columns} "),
    };
    let open = match patch.end {
        End::Open => " reading… ",
        _ => "",
    };
    let width = part.chars().count() + across.chars().count() + open.chars().count() + 1;
    let mut pen = canvas.pen(area, 0);
    let dashes = pen.left().saturating_sub(width);
    pen.put(&"─".repeat(dashes), theme.dim());
    pen.put(&format!("{open}{across}{part}"), theme.dim());
    pen.put("─", theme.dim());
}

fn note(canvas: &mut Canvas<'_>, area: Rect, words: &str) {
    let dim = canvas.theme.dim();
    canvas.pen(area, 0).put(&format!(" {words}"), dim);
}

fn lines(canvas: &mut Canvas<'_>, area: Rect, patch: &Patch) {
    let first = canvas.state.line;
    let seen = (first..).take(usize::from(area.height));
    let numbers = seen.clone().filter_map(|at| patch.line(at));
    let most = numbers
        .map(|line| line.old.max(line.new))
        .max()
        .unwrap_or(0);
    let digits = most.to_string().len().max(3);
    for (row, at) in (0..area.height).zip(seen) {
        match patch.line(at) {
            Some(line) => draw_line(canvas, area, row, (patch, at, &line, digits)),
            None if at == patch.len() && patch.end == End::Cut => {
                note(
                    canvas,
                    below(area, row),
                    "there is more: edio diff TURN -f FILE",
                );
            }
            None if at == patch.len() && patch.end == End::Open => {
                note(canvas, below(area, row), "reading…");
            }
            None => {}
        }
    }
}

fn below(area: Rect, row: u16) -> Rect {
    Rect {
        y: area.y + row,
        height: area.height - row,
        ..area
    }
}

fn draw_line(
    canvas: &mut Canvas<'_>,
    area: Rect,
    row: u16,
    (patch, at, line, digits): (&Patch, usize, &Line, usize),
) {
    let theme = canvas.theme;
    let bytes = patch.text(line);
    let mut pen = canvas.pen(area, row);
    match line.kind {
        Kind::File => {
            if let Some(file) = patch.files.get(line.file as usize) {
                let style = theme.strong().add_modifier(Modifier::UNDERLINED);
                head_of(&mut pen, theme, file, style);
            }
        }
        Kind::Hunk => pen.line(bytes, 0, |_| theme.hunk()),
        Kind::Note => pen.line(note_of(bytes), 0, |_| theme.dim()),
        kind => {
            let numbered = |number: u32| format!("{number:>digits$} ");
            let blank = " ".repeat(digits + 1);
            let is_narrow = area.width < 60;
            let gutter = match kind {
                Kind::Removed if is_narrow => numbered(line.old),
                _ if is_narrow => numbered(line.new),
                Kind::Removed => numbered(line.old) + &blank,
                Kind::Added => blank + &numbered(line.new),
                _ => numbered(line.old) + &numbered(line.new),
            };
            pen.put(&gutter, theme.dim());
            draw_text(canvas, area, row, (patch, at, line, gutter.len()));
        }
    }
}

/// What git says, for people.
fn note_of(bytes: &[u8]) -> &[u8] {
    match bytes.strip_prefix(b"\\ ") {
        Some(rest) => rest,
        None if bytes.starts_with(b"Binary files ") => b"binary: its lines are not shown",
        None => bytes,
    }
}

fn draw_text(
    canvas: &mut Canvas<'_>,
    area: Rect,
    row: u16,
    (patch, at, line, gutter): (&Patch, usize, &Line, usize),
) {
    let (state, theme) = (canvas.state, canvas.theme);
    let bytes = patch.text(line);
    let added = line.kind == Kind::Added;
    let is_changed = line.kind != Kind::Context;
    let base = match is_changed {
        true => theme.changed_line(added),
        false => Style::new(),
    };
    let gutter = u16::try_from(gutter).unwrap_or(u16::MAX).min(area.width);
    let area = Rect {
        x: area.x + gutter,
        width: area.width - gutter,
        ..area
    };
    if is_changed {
        let whole = Rect {
            y: area.y + row,
            height: 1,
            ..area
        };
        canvas.fill(whole, base);
    }
    let marked = patch
        .partner(at)
        .and_then(|other| patch.line(other))
        .map_or_else(Vec::new, |other| words::changed(bytes, patch.text(&other)));
    let classes = classes(patch, line, bytes);
    let style = |byte: usize| {
        let class = classes.get(byte).copied().flatten();
        let style = match class {
            Some(class) => base.patch(theme.syntax(class, is_changed)),
            None => base,
        };
        match marked.iter().any(|range| range.contains(&byte)) {
            true => style.patch(theme.changed_words(added)),
            false => style,
        }
    };
    let (mark, mark_style) = match line.kind {
        Kind::Added => ("+", base.patch(theme.added())),
        Kind::Removed => ("-", base.patch(theme.removed())),
        _ => (" ", Style::new()),
    };
    let mut pen = canvas.pen(area, row);
    pen.put(mark, mark_style.add_modifier(Modifier::BOLD));
    pen.line(bytes, state.across, style);
    let is_cut = pen.left() == 0 && !bytes.is_empty();
    if is_cut && bytes.len() > usize::from(area.width) + state.across {
        let mut pen = canvas.pen(area, row);
        pen.skip_to_end(1);
        pen.put("›", theme.dim());
    }
}

/// What each byte of a line belongs to.
fn classes(patch: &Patch, line: &Line, bytes: &[u8]) -> Vec<Option<Class>> {
    let language = patch
        .files
        .get(line.file as usize)
        .and_then(|file| file.language);
    let Some(language) = language else {
        return Vec::new();
    };
    let bytes = &bytes[..bytes.len().min(LONGEST)];
    let mut classes = vec![None; bytes.len()];
    let bytes = bytes.as_bstr();
    syntax::classes(language, line.lexing, bytes, |range, class| {
        classes[range].fill(Some(class));
    });
    classes
}
