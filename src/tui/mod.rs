//! The terminal UI: the turns, what each did, and the way back.
//!
//! What happens (keys, news from the threads behind, time) becomes an [`Event`](event::Event);
//! [`State`](state::State) takes it and says what is to be done; [`view`] draws what is then. Only [`worker`] reads and
//! changes anything, by the same functions that the commands call.

pub mod event;
pub mod field;
pub mod keys;
pub mod layout;
pub mod patch;
mod report;
pub mod state;
pub mod syntax;
pub mod theme;
pub mod timeline;
pub mod view;
mod words;
mod worker;

use std::ffi::OsString;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use self::event::{AtTerminal, Effect, Event, Job, News, Told};
use self::state::State;
use self::theme::Theme;
use self::worker::Worker;
use crate::clock;
use crate::error::{Error, Result};
use crate::history::git::{Git, RepoPath};
use crate::history::refnames::SessionId;
use crate::history::workspace::{Locked, Place, Workspace};
use crate::term::editor;
use crate::term::screen::{Input, Screen};

/// What the UI stands on.
#[derive(Clone)]
pub struct Host {
    /// Where the workspace is.
    pub place: Place,
    /// The session that is to be looked at; without, the one under way.
    pub session: Option<SessionId>,
    /// Are there colours?
    pub colors: bool,
    /// What follows an accept, with the workspace that it happened in.
    pub after_accept: fn(&Place, Locked),
}

/// How long the first frame waits for the turns.
const PATIENCE: Duration = Duration::from_millis(30);
/// How often what is shown follows the clock.
const TICK: Duration = Duration::from_secs(1);

/// Shows the UI until the person leaves it. Returns the exit code.
///
/// # Errors
///
/// The terminal gives no screen, or is gone.
pub fn run(host: &Host, workspace: Workspace) -> Result<u8> {
    let theme = Theme::of(host.colors, workspace.settings.get("edio.theme"));
    let mut desk = Desk::open(host, workspace)?;
    desk.worker.load(host.session.clone());
    let mut waiting: Vec<Event> = desk.events.recv_timeout(PATIENCE).into_iter().collect();
    loop {
        waiting.extend(desk.events.try_iter());
        for event in std::mem::take(&mut waiting) {
            for effect in desk.state.update(event) {
                if let Some(code) = desk.perform(effect, &mut waiting)? {
                    return Ok(code);
                }
            }
        }
        let state = &desk.state;
        desk.screen.draw(|frame| view::draw(frame, state, &theme))?;
        match desk.events.recv_timeout(TICK) {
            Ok(event) => waiting.push(event),
            Err(RecvTimeoutError::Timeout) => waiting.push(Event::Tick(clock::now())),
            Err(RecvTimeoutError::Disconnected) => return Err(Error::bug("nobody tells anything")),
        }
    }
}

/// The screen, and who works behind it.
struct Desk {
    /// The first to be dropped: whatever happened, the terminal is given back.
    screen: Screen,
    state: State,
    worker: Worker,
    events: Receiver<Event>,
    git: Git,
}

impl Desk {
    fn open(host: &Host, workspace: Workspace) -> Result<Self> {
        let (tell, events) = mpsc::channel();
        let git = workspace.git.clone();
        let worker = Worker::start(host, workspace, &tell);
        let screen = Screen::open()?;
        screen.listen(teller(&tell))?;
        Ok(Self {
            state: State::new(screen.size(), clock::now(), host.session.clone()),
            worker,
            events,
            screen,
            git,
        })
    }

    /// Does what is to be done. Returns the exit code where that is the end.
    fn perform(&mut self, effect: Effect, waiting: &mut Vec<Event>) -> Result<Option<u8>> {
        match effect {
            Effect::Load(session) => self.worker.load(session),
            Effect::Read(wanted) => self.worker.read(wanted),
            Effect::Names(turns) => self.worker.names(turns),
            Effect::Sessions => self.worker.sessions(),
            Effect::Work(Job::Accept(commit)) if commit.terminal == AtTerminal::Programs => {
                self.work_on_the_terminal(Job::Accept(commit), waiting)?;
            }
            Effect::Work(job) => self.worker.work(job),
            Effect::Copy(text) => self.screen.copy(&text)?,
            Effect::Open(path, line) => waiting.push(self.open_file(&path, line)?),
            Effect::Suspend => {
                self.screen.suspend()?;
                waiting.push(self.resized());
            }
            Effect::Redraw => {
                self.screen.take_again()?;
                waiting.push(self.resized());
            }
            Effect::Quit(code) => {
                self.let_it_end();
                return Ok(Some(code));
            }
        }
        Ok(None)
    }

    fn resized(&self) -> Event {
        let (columns, lines) = self.screen.size();
        Event::Input(Input::Resize(columns, lines))
    }

    /// Has work done by which something else may use the terminal.
    fn work_on_the_terminal(&mut self, job: Job, waiting: &mut Vec<Event>) -> Result<()> {
        let (worker, events) = (&self.worker, &self.events);
        let told = self.screen.lend(|| {
            worker.work(job);
            until_done(events)
        })?;
        waiting.extend(told);
        Ok(())
    }

    /// What is under way comes to its end, or is given so much time for it.
    fn let_it_end(&mut self) {
        const LIMIT: Duration = Duration::from_secs(10);
        if self.state.busy.is_none() {
            return;
        }
        while let Ok(event) = self.events.recv_timeout(LIMIT) {
            let again = matches!(event, Event::Input(Input::Ended(_)));
            if again || is_end(&event) {
                return;
            }
        }
    }

    fn open_file(&mut self, path: &RepoPath, line: u32) -> Result<Event> {
        let file = path.below(&self.git.work_tree);
        let failed = |text: String| {
            Event::News(News::Told(Told {
                text,
                hint: None,
                failed: true,
            }))
        };
        if !file.is_file() {
            return Ok(failed(format!("{path} is not on disk now")));
        }
        let command: OsString = match self.git.editor() {
            Ok(command) => command,
            Err(error) => return Ok(failed(error.to_string())),
        };
        let words = editor::at_line(&command, &file, line);
        let opened = self.screen.lend(|| editor::open(&command, words))?;
        Ok(match opened {
            Ok(status) if status.success() => Event::News(News::Changed),
            Ok(_) => failed("the editor failed".to_owned()),
            Err(error) => failed(report::in_words(&error)),
        })
    }
}

fn teller(tell: &Sender<Event>) -> impl Fn(Input) + Clone + Send + 'static {
    let tell = tell.clone();
    move |input| {
        let _ = tell.send(Event::Input(input));
    }
}

fn is_end(event: &Event) -> bool {
    matches!(event, Event::News(News::Done(_) | News::Plan(_)))
}

/// What happens until the work is done.
fn until_done(events: &Receiver<Event>) -> Vec<Event> {
    let mut told = Vec::new();
    while let Ok(event) = events.recv() {
        let ended = is_end(&event);
        told.push(event);
        if ended {
            break;
        }
    }
    told
}
