//! What each key does, by what the keys are for.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{Mode, Pane, State};
use crate::term::screen::Input;
use crate::tui::event::{Asked, Commit, Does, Effect, Job, Plan, SessionLine};
use crate::tui::field::Field;
use crate::tui::layout::Layout;

impl State {
    pub(super) fn input(&mut self, input: Input) -> Vec<Effect> {
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
            KeyCode::Char(']') => self.next_file(),
            KeyCode::Char('[') => self.file_before(),
            KeyCode::Char('n') => self.next_hunk(),
            KeyCode::Char('N') => self.hunk_before(),
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

    pub(super) fn choose_session(
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

    pub(super) fn answer(&mut self, plan: Plan, top: usize, key: KeyEvent) -> Vec<Effect> {
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

    pub(super) fn write(
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
}
