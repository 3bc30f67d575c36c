//! What is shown, and how it changes, without a terminal.

use edio::history::git::{Counted, Difference, Entry, Mode, Oid, RepoPath, Stat};
use edio::history::refnames::{SessionId, Shelf};
use edio::history::session::{Lineage, Session};
use edio::history::turn::{Kind, Note, Number, Turn, Work};
use edio::history::undo::Direction;
use edio::term::screen::Input;
use edio::tui::event::{
    Asked, AtTerminal, Commit, Does, Effect, Event, Going, Job, Look, News, Pair, Plan, Restore,
    SessionLine, Told, Wanted,
};
use edio::tui::patch::{Patch, Reader};
use edio::tui::state::{Mode as KeysFor, Pane, State};
use edio::tui::theme::Theme;
use edio::tui::timeline::{Book, Row};
use edio::tui::view;
use insta::assert_snapshot;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{
    KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::style::Color;

use crate::common::NOW;

fn oid(digit: char) -> Oid {
    Oid::new(digit.to_string().repeat(40)).unwrap()
}

fn id() -> SessionId {
    "sess_1800000000_0badcafe".parse().unwrap()
}

/// The commit of the turn with this number.
fn commit(digit: char) -> Oid {
    Oid::new(format!("{}c", digit.to_string().repeat(39))).unwrap()
}

/// Turn N has the tree of digit N.
fn turn(number: u32, parent: char, kind: Kind, agent: Option<&str>, message: &str) -> Turn {
    let digit = char::from_digit(number, 10).unwrap();
    Turn {
        commit: commit(digit),
        tree: oid(digit),
        parent: Some(match parent {
            '-' => oid('f'),
            digit => commit(digit),
        }),
        seconds: NOW - 600 + 60 * i64::from(number),
        note: Note {
            message: message.to_owned(),
            session: id(),
            number: Number::turn(number),
            kind,
            head: Default::default(),
            worktree: ".".to_owned(),
            stat: Stat {
                files: 1 + u64::from(number),
                added: 12 * u64::from(number),
                removed: u64::from(number),
            },
            steps: 0,
            work: Work {
                agent: agent.map(str::to_owned),
                ..Work::default()
            },
            choice: Default::default(),
            skipped_count: 0,
            skipped: Vec::new(),
            side: None,
            conversation: None,
        },
    }
}

/// Five turns: 3 and 4 were gone back from.
fn session() -> Session {
    let turns = [
        turn(1, '0', Kind::Human, None, "what was there before"),
        turn(
            2,
            '1',
            Kind::Turn,
            Some("claude"),
            "feat: greet everyone\n\nIn their own languages.",
        ),
        turn(
            3,
            '2',
            Kind::Turn,
            Some("codex"),
            "a parser of its own, with a message that is longer than most",
        ),
        turn(4, '3', Kind::Safety, None, "Before restore 2"),
        turn(5, '2', Kind::Turn, Some("claude"), "日本語のメッセージ"),
    ];
    Session {
        id: id(),
        shelf: Shelf::Active,
        current: Some(turns[4].clone()),
        numbers: turns
            .iter()
            .map(|turn| (turn.commit.clone(), turn.number().turn))
            .collect(),
        turns: turns
            .into_iter()
            .map(|turn| (turn.number().turn, turn))
            .collect(),
        ops: None,
        side: None,
        damaged: Vec::new(),
        foreign: Vec::new(),
        refs: Vec::new(),
        baseline: Some(turn(
            0,
            '-',
            Kind::Baseline,
            None,
            "Where the session began",
        )),
    }
}

fn book() -> Book {
    Book::of(session(), true, Some(oid('e')), &Lineage::default())
}

/// What turn 5 did.
const PATCH: &str = "\
diff --git a/src/main.rs b/src/main.rs
index 1..2 100644
--- a/src/main.rs
+++ b/src/main.rs
@@ -1,5 +1,6 @@
 //! A small program.
 fn main() {
-\tlet name = \"world\";
-    println!(\"hello {name}\");
+\tlet name = \"everyone\";
+    println!(\"good morning {name}\"); // a long line goes on and on and on and on and on and on and on and on, to its end
+    // 日本語
 }
diff --git a/logo.png b/logo.png
index 1..2 100644
Binary files a/logo.png and b/logo.png differ
";

fn counted(path: &str, lines: Option<(u64, u64)>) -> Counted {
    let entry = |digit| {
        Some(Entry {
            mode: Mode::File,
            oid: oid(digit),
        })
    };
    Counted {
        difference: Difference {
            path: RepoPath::new(path).unwrap(),
            old: entry('a'),
            new: entry('b'),
        },
        lines,
    }
}

fn pair(old: char, new: char) -> Pair {
    Pair {
        old: oid(old),
        new: oid(new),
    }
}

struct Shown {
    state: State,
    effects: Vec<Effect>,
}

impl Shown {
    /// The screen of this size, with the session read and the patch of turn 5.
    fn of_size(columns: u16, lines: u16) -> Self {
        let mut shown = Self {
            state: State::new((columns, lines), NOW, None),
            effects: Vec::new(),
        };
        shown.news(News::Session(Box::new(book())));
        shown.patch(pair('2', '5'), PATCH, Going::Ended);
        shown.effects.clear();
        shown
    }

    fn news(&mut self, news: News) {
        let effects = self.state.update(Event::News(news));
        self.effects.extend(effects);
    }

    fn patch(&mut self, of: Pair, text: &str, going: Going) {
        let list = vec![
            counted("src/main.rs", Some((3, 2))),
            counted("logo.png", None),
        ];
        let mut reader = Reader::of(&Patch::of(list.clone()).files);
        self.news(News::Files(of.clone(), list));
        text.lines().for_each(|line| reader.read(line.as_bytes()));
        self.news(News::Piece(of, reader.take(), going));
    }

    fn look(&mut self, changed: usize) {
        self.news(News::Look(Look {
            changed,
            ..Look::default()
        }));
    }

    fn press(&mut self, keys: &str) -> Vec<Effect> {
        let mut effects = Vec::new();
        for key in keys.chars() {
            let code = match key {
                '\n' => KeyCode::Enter,
                '\t' => KeyCode::Tab,
                '\x1b' => KeyCode::Esc,
                '→' => KeyCode::Right,
                '←' => KeyCode::Left,
                c => KeyCode::Char(c),
            };
            effects.extend(self.key(code, KeyModifiers::NONE));
        }
        effects
    }

    fn key(&mut self, code: KeyCode, modifiers: KeyModifiers) -> Vec<Effect> {
        let key = KeyEvent::new(code, modifiers);
        self.state.update(Event::Input(Input::Key(key)))
    }

    fn mouse(&mut self, kind: MouseEventKind, column: u16, row: u16) {
        let mouse = MouseEvent {
            kind,
            column,
            row,
            modifiers: KeyModifiers::NONE,
        };
        self.state.update(Event::Input(Input::Mouse(mouse)));
    }

    fn buffer(&self, theme: &Theme) -> Buffer {
        let (columns, lines) = self.state.size;
        let mut terminal = Terminal::new(TestBackend::new(columns, lines)).unwrap();
        let drawn = terminal.draw(|frame| view::draw(frame, &self.state, theme));
        drawn.unwrap();
        terminal.backend().buffer().clone()
    }

    /// The text of the screen; between bars, since blanks at the end of a line are part of it.
    fn text(&self) -> String {
        let buffer = self.buffer(&Theme::plain());
        let mut text = String::new();
        for y in 0..buffer.area.height {
            let mut skipped = 0;
            for x in 0..buffer.area.width {
                let symbol = buffer[(x, y)].symbol();
                if skipped > 0 {
                    skipped -= 1;
                    continue;
                }
                skipped = unicode_width::UnicodeWidthStr::width(symbol).max(1) - 1;
                text.push_str(symbol);
            }
            text.truncate(text.trim_end_matches(' ').len());
            text.push('\n');
        }
        text
    }

    fn commit(&self, number: u32) -> Oid {
        session().turns[&number].commit.clone()
    }
}

#[test]
fn a_large_screen() {
    let mut shown = Shown::of_size(120, 40);
    shown.look(3);
    assert_snapshot!(shown.text());
}

#[test]
fn a_usual_screen() {
    let mut shown = Shown::of_size(80, 24);
    shown.press("mjjm");
    shown.patch(pair('3', '5'), PATCH, Going::On);
    assert_snapshot!(shown.text());
}

#[test]
fn a_small_screen_shows_one_pane() {
    let mut shown = Shown::of_size(40, 12);
    assert_snapshot!("turns", shown.text());
    shown.press("\t");
    assert_snapshot!("difference", shown.text());
}

#[test]
fn no_screen_is_too_small() {
    for (columns, lines) in [(1, 1), (3, 2), (10, 4), (30, 3), (64, 2), (65, 5), (200, 3)] {
        let mut shown = Shown::of_size(columns, lines);
        shown.look(1);
        for keys in ["", "\t", "?", "?/ab", "\x1b", "jjkk", "]n→→"] {
            shown.press(keys);
            let _ = shown.text();
        }
        shown.news(News::Plan(plan(accept(AtTerminal::Screen))));
        shown.press("a message");
        let _ = shown.text();
    }
}

#[test]
fn without_colours_there_are_none() {
    let mut shown = Shown::of_size(100, 30);
    shown.look(2);
    for keys in ["", "\t", "?", "q"] {
        shown.press(keys);
        let buffer = shown.buffer(&Theme::plain());
        for cell in buffer.content() {
            assert_eq!((cell.fg, cell.bg), (Color::Reset, Color::Reset), "{cell:?}");
        }
    }
}

#[test]
fn words_that_differ_are_marked() {
    let shown = Shown::of_size(120, 40);
    let buffer = shown.buffer(&Theme::rich());
    let row = |text: &str| {
        let rows = 0..buffer.area.height;
        let whole = |y: u16| -> String {
            let cells = (0..buffer.area.width).map(|x| buffer[(x, y)].symbol());
            cells.collect()
        };
        rows.map(|y| (y, whole(y)))
            .find(|(_, row)| row.contains(text))
            .unwrap()
    };
    let (y, text) = row("let name = \"everyone\"");
    let column =
        |word: &str| u16::try_from(text[..text.find(word).unwrap()].chars().count()).unwrap();
    let back = |word: &str| buffer[(column(word), y)].bg;
    assert_eq!(back("everyone"), Color::Rgb(32, 92, 52));
    assert_eq!(back("name"), Color::Rgb(18, 40, 27));
    // A keyword looks like one on a line that was added, too.
    assert_ne!(
        buffer[(column("let"), y)].fg,
        buffer[(column("name"), y)].fg
    );
}

fn plan(does: Does) -> Plan {
    let path = |path: &str| RepoPath::new(path).unwrap();
    Plan {
        title: "Restore turn 2?".to_owned(),
        summary: "1 file written, 1 removed".to_owned(),
        paths: vec![
            ('-', path("new\tname"), None),
            ('w', path("src/main.rs"), None),
            (
                ' ',
                path("sub"),
                Some("left alone: a submodule's files are its own".to_owned()),
            ),
        ],
        notes: vec!["What is not saved becomes a turn first.".to_owned()],
        does,
    }
}

fn restore(number: u32) -> Restore {
    Restore {
        session: id(),
        number: Number::turn(number),
        commit: session().turns[&number].commit.clone(),
        paths: Vec::new(),
    }
}

#[test]
fn a_plan_asks_once() {
    let mut shown = Shown::of_size(80, 24);
    shown.news(News::Plan(plan(Does::Restore(restore(2)))));
    assert_snapshot!(shown.text());
    let wanted = Effect::Work(Job::Restore(restore(2), Asked::Done));
    assert_eq!(shown.press("y"), [wanted]);
    for other in ["n", "q", "\x1b", "\n", "r", " "] {
        let mut shown = Shown::of_size(80, 24);
        shown.news(News::Plan(plan(Does::Restore(restore(2)))));
        assert_eq!(shown.press(other), [], "{other:?}");
        assert_eq!(shown.state.told.unwrap().text, "nothing was changed");
    }
}

#[test]
fn a_message_is_typed_in_place() {
    let mut shown = Shown::of_size(80, 24);
    assert_eq!(shown.press("a"), [Effect::Work(Job::Prepare)]);
    shown.news(News::Plan(plan(accept(AtTerminal::Programs))));
    assert_eq!(shown.press("\n"), [], "there is no message yet");
    shown.press("feat: q, y and r");
    shown.key(KeyCode::Char('j'), KeyModifiers::CONTROL);
    shown
        .state
        .update(Event::Input(Input::Paste("two\r\nlines".to_owned())));
    assert_snapshot!(shown.text());
    let effects = shown.press("\n");
    let [Effect::Work(Job::Accept(commit))] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert_eq!(commit.message, "feat: q, y and r\ntwo\nlines");
    assert_eq!(commit.terminal, AtTerminal::Programs);
    // Where there is more to commit by now, what is written of the message is still there.
    let again = Does::Accept(commit.clone());
    shown.news(News::Plan(plan(again)));
    shown.press("!");
    let effects = shown.press("\n");
    let [Effect::Work(Job::Accept(commit))] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert_eq!(commit.message, "feat: q, y and r\ntwo\nlines!");
}

/// An accept that is planned.
fn accept(terminal: AtTerminal) -> Does {
    Does::Accept(Commit {
        message: String::new(),
        tree: Oid::new("1".repeat(40)).unwrap(),
        terminal,
    })
}

#[test]
fn all_keys_are_listed() {
    let mut shown = Shown::of_size(80, 40);
    shown.press("?");
    assert_snapshot!(shown.text());
    shown.press("r");
    assert!(matches!(shown.state.mode, KeysFor::Browse));
}

#[test]
fn sessions_are_listed_and_chosen() {
    let mut shown = Shown::of_size(100, 20);
    assert_eq!(shown.press("S"), [Effect::Sessions]);
    let line = |id: &str, shelf, is_own| SessionLine {
        id: id.parse().unwrap(),
        shelf,
        turns: 5,
        seconds: NOW - 7200,
        subject: "the last\x1b[2J turn".to_owned(),
        is_own,
    };
    let other = "sess_1700000000_00000001";
    shown.news(News::Sessions(vec![
        line(id().as_str(), Shelf::Active, true),
        line(other, Shelf::Archive, false),
    ]));
    assert_snapshot!(shown.text());
    assert_eq!(
        shown.press("j\n"),
        [Effect::Load(Some(other.parse().unwrap()))]
    );
    let mut session = session();
    session.id = other.parse().unwrap();
    session.shelf = Shelf::Archive;
    shown.news(News::Session(Box::new(Book::of(
        session,
        false,
        None,
        &Lineage::default(),
    ))));
    // What would change the session under way is not done from another one.
    for key in ["u", "U", "a", "s"] {
        assert_eq!(shown.press(key), []);
        assert!(shown.state.told.as_ref().unwrap().failed);
    }
}

#[test]
fn new_turns_leave_the_choice_where_it_is() {
    let mut shown = Shown::of_size(100, 8);
    shown.press("jjj");
    let (row, line) = (shown.state.row(), shown.state.chosen - shown.state.top);
    assert_eq!(row, Some(Row::Turn(3)));
    let mut session = session();
    let newest = turn(6, '5', Kind::Turn, Some("claude"), "meanwhile");
    session.turns.insert(6, newest.clone());
    session.current = Some(newest);
    shown.news(News::Session(Box::new(Book::of(
        session,
        true,
        None,
        &Lineage::default(),
    ))));
    shown.look(1);
    assert_eq!(shown.state.row(), Some(Row::Turn(4)));
    assert_eq!(shown.state.chosen - shown.state.top, line);
    assert_eq!(shown.state.rows[0], Row::Now);
}

#[test]
fn what_is_chosen_is_read_first_and_its_neighbours_ahead() {
    let mut shown = Shown {
        state: State::new((100, 30), NOW, None),
        effects: Vec::new(),
    };
    shown.news(News::Session(Box::new(book())));
    let wanted = |now, ahead: &[Pair]| {
        Effect::Read(Wanted {
            now,
            ahead: ahead.to_vec(),
        })
    };
    let ahead = [pair('3', '4'), pair('2', '3')];
    assert!(
        shown
            .effects
            .contains(&wanted(Some(pair('2', '5')), &ahead))
    );
    // On the way to the next one the patch came, and was given up.
    let effects = shown.press("j");
    let ahead = [pair('2', '3'), pair('2', '5'), pair('1', '2')];
    assert_eq!(effects, [wanted(Some(pair('3', '4')), &ahead)]);
    let effects = shown
        .state
        .update(Event::News(News::Dropped(pair('2', '5'))));
    let ahead = [pair('2', '3'), pair('1', '2')];
    assert_eq!(effects, [wanted(Some(pair('3', '4')), &ahead)]);
    let effects = shown.press("k");
    assert!(matches!(&effects[..], [Effect::Read(read)] if read.now == Some(pair('2', '5'))));
}

#[test]
fn a_turn_is_compared_with_what_is_wanted() {
    let mut shown = Shown::of_size(100, 30);
    let effects = shown.press("d");
    assert!(effects.contains(&Effect::Work(Job::Look { kept: true })));
    shown.news(News::Look(Look {
        changed: 1,
        tree: Some(oid('9')),
        refused: None,
    }));
    let read = |effects: &[Effect]| {
        let mut reads = effects.iter().filter_map(|effect| match effect {
            Effect::Read(wanted) => wanted.now.clone(),
            _ => None,
        });
        reads.next_back()
    };
    assert_eq!(read(&shown.effects), Some(pair('5', '9')));
    assert_eq!(read(&shown.press("d")), Some(pair('e', '5')));
    assert_eq!(shown.state.title(), "HEAD → turn 5");
    shown.press("d");
    assert_eq!(shown.state.title(), "turn 5");
    shown.press("mjj");
    assert_eq!(read(&shown.press("m")), Some(pair('3', '5')));
    assert_eq!(shown.state.title(), "turn 3 → turn 5");
    // A third one takes the place of the first.
    shown.press("jm");
    assert_eq!(shown.state.title(), "turn 2 → turn 3");
    shown.press("m");
    assert_eq!(shown.state.title(), "turn 2");
}

#[test]
fn the_keys_for_changes_ask_for_them() {
    let job = |keys: &str| {
        let mut shown = Shown::of_size(100, 30);
        let effects = shown.press(keys);
        effects.into_iter().find_map(|effect| match effect {
            Effect::Work(job) => Some(job),
            _ => None,
        })
    };
    assert_eq!(
        job("jjjr"),
        Some(Job::Restore(restore(2), Asked::IfUnsaved))
    );
    let file = Restore {
        paths: vec![RepoPath::new("logo.png").unwrap()],
        ..restore(5)
    };
    assert_eq!(job("]f"), Some(Job::Restore(file, Asked::Always)));
    assert_eq!(job("u"), Some(Job::Undo(Direction::Undo)));
    assert_eq!(job("U"), Some(Job::Undo(Direction::Redo)));
    assert_eq!(job("s"), Some(Job::Snapshot));
    // One at a time.
    let mut shown = Shown::of_size(100, 30);
    shown.press("u");
    assert_eq!(shown.press("u"), []);
    shown.news(News::Done(Told::default()));
    assert_eq!(shown.press("u"), [Effect::Work(Job::Undo(Direction::Undo))]);
}

#[test]
fn turns_are_filtered_by_text_file_and_agent() {
    let mut shown = Shown::of_size(100, 30);
    let effects = shown.press("/");
    let Some(Effect::Names(asked)) = effects.into_iter().next() else {
        panic!("the files were not asked for");
    };
    assert_eq!(asked.len(), 6);
    let path = |path: &str| vec![RepoPath::new(path).unwrap()];
    shown.news(News::Names(vec![
        (shown.commit(2), path("src/main.rs")),
        (shown.commit(3), path("docs/PARSER.md")),
    ]));
    let numbers = |shown: &Shown| -> Vec<u32> {
        let book = shown.state.book.as_ref().unwrap();
        let rows = shown.state.rows.iter();
        rows.map(|row| book.number(*row).unwrap().turn).collect()
    };
    let mut found = |typed: &str| {
        shown.key(KeyCode::Char('u'), KeyModifiers::CONTROL);
        shown.press(typed);
        numbers(&shown)
    };
    assert_eq!(found("parser"), [3]);
    assert_eq!(found("file:parser"), [3]);
    assert_eq!(found("main.RS"), [2]);
    assert_eq!(found("agent:claude"), [5, 2]);
    assert_eq!(found("claude everyone"), [2]);
    assert_eq!(found("you"), [1]);
    assert_eq!(found("nothing like it"), [0; 0]);
    assert_eq!(found(""), [5, 4, 3, 2, 1, 0]);
    shown.press("agent:edio\n");
    assert_eq!(numbers(&shown), [4]);
    assert!(shown.text().contains("Turns  /agent:edio"));
    shown.press("\x1b");
    assert_eq!(numbers(&shown).len(), 6);
    assert_eq!(shown.press("\x1b"), [Effect::Quit(0)]);
}

#[test]
fn long_lines_scroll_sideways_and_files_and_hunks_are_gone_to() {
    let mut shown = Shown::of_size(80, 24);
    shown.press("\t→→→→→→→→→→→");
    assert!(shown.text().contains("to its end"), "{}", shown.text());
    shown.press("←←←←←←←←←←←");
    assert!(!shown.text().contains("to its end"));
    shown.press("n");
    assert_eq!(shown.state.line, 1);
    shown.press("]");
    assert_eq!(shown.state.file(), Some(1));
    shown.press("[");
    assert_eq!(shown.state.file(), Some(0));
}

#[test]
fn the_mouse_chooses_and_scrolls() {
    let mut shown = Shown::of_size(100, 30);
    let click = MouseEventKind::Down(MouseButton::Left);
    shown.mouse(click, 5, 3);
    assert_eq!(shown.state.row(), Some(Row::Turn(2)));
    shown.mouse(MouseEventKind::ScrollUp, 5, 3);
    assert_eq!(shown.state.row(), Some(Row::Turn(1)));
    shown.mouse(click, 5, 1);
    shown.mouse(click, 60, 4);
    assert_eq!(
        (shown.state.pane, shown.state.file()),
        (Pane::Diff, Some(1)),
        "{}",
        shown.text()
    );
    let lines: String = (0..200).map(|line| format!("+line {line}\n")).collect();
    let long = format!("diff --git a/a b/a\n@@ -0,0 +1,200 @@\n{lines}");
    shown.patch(pair('2', '5'), &long, Going::Ended);
    shown.mouse(MouseEventKind::ScrollDown, 60, 20);
    shown.mouse(MouseEventKind::ScrollDown, 60, 20);
    assert!(shown.text().contains("line 20"));
    assert!(!shown.text().contains("line 2\n"));
}

#[test]
fn steps_unfold_under_their_turn() {
    let mut book = book();
    let mut step = turn(5, '2', Kind::Step, Some("claude"), "writes the parser");
    step.note.number.step = 1;
    step.note.work.tool = Some("Edit".to_owned());
    step.commit = oid('d');
    book.entries[0].steps = vec![(step, Some(oid('2')))];
    let mut shown = Shown::of_size(100, 14);
    shown.news(News::Session(Box::new(book)));
    assert!(shown.text().contains("▸1 日本語"));
    shown.press("→j");
    assert_eq!(shown.state.row(), Some(Row::Step(0, 0)));
    assert_snapshot!(shown.text());
    shown.press("←");
    assert_eq!(
        (shown.state.row(), shown.state.rows.len()),
        (Some(Row::Turn(0)), 6)
    );
    for key in [" ", "\n"] {
        shown.press(key);
        assert_eq!(shown.state.rows.len(), 7);
        shown.press(key);
        assert_eq!(shown.state.rows.len(), 6);
    }
}

#[test]
fn nothing_from_outside_drives_the_terminal() {
    let evil = "\x1b]0;title\x07\x1b[2J\r\u{202e}";
    let mut session = session();
    for turn in session.turns.values_mut() {
        turn.note.message = format!("{evil}\n{evil}");
        turn.note.work.agent = Some(evil.to_owned());
        turn.note.work.model = Some(evil.to_owned());
    }
    session.current = session.turns.get(&5).cloned();
    let mut shown = Shown::of_size(120, 40);
    shown.news(News::Session(Box::new(Book::of(
        session,
        true,
        None,
        &Lineage::default(),
    ))));
    let patch = format!("diff --git a/a b/a\n@@ -1 +1 @@ {evil}\n-{evil}\n+{evil}x\n");
    shown.patch(pair('2', '5'), &patch, Going::Ended);
    shown.news(News::Told(Told {
        text: evil.to_owned(),
        hint: Some(evil.to_owned()),
        failed: true,
    }));
    let mut plan = plan(Does::Nothing);
    plan.paths[0].1 = RepoPath::new(evil).unwrap();
    plan.paths[0].2 = Some(evil.to_owned());
    plan.title = evil.to_owned();
    let mut screens = vec![shown.text()];
    shown.news(News::Plan(plan));
    screens.push(shown.text());
    for screen in screens {
        let bad = screen
            .chars()
            .find(|c| c.is_control() && *c != '\n' || *c == '\u{202e}');
        assert_eq!(bad, None, "{screen:?}");
        assert!(screen.contains("\\x1b[2J"));
    }
}

#[test]
fn what_is_still_read_says_so_and_what_is_cut_too() {
    let mut shown = Shown::of_size(100, 30);
    shown.press("j");
    assert!(shown.text().contains("reading…"));
    shown.patch(pair('3', '4'), PATCH, Going::Cut);
    assert!(
        shown
            .text()
            .contains("there is more: edio diff TURN -f FILE")
    );
    shown.press("j");
    shown.news(News::Unread(pair('2', '3'), "git is broken".to_owned()));
    assert!(shown.text().contains("git is broken"));
}

#[test]
fn without_a_session_it_says_what_to_do() {
    let mut shown = Shown {
        state: State::new((80, 24), NOW, None),
        effects: Vec::new(),
    };
    assert!(shown.text().contains("reading…"));
    shown.news(News::NoSession);
    assert!(shown.text().contains("s takes the first turn."));
    assert_eq!(shown.press("s"), [Effect::Work(Job::Snapshot)]);
}
