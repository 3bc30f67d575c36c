//! The whole screen of the terminal, for as long as a person works in it.
//!
//! However this ends (at its end, with an error, by a panic or a signal, for a while by Ctrl-Z), the terminal is then as it
//! was before.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{
    self, DisableBracketedPaste, EnableBracketedPaste, KeyEvent, KeyEventKind, MouseEvent,
};
use ratatui::crossterm::style::ResetColor;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{execute, queue};
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal};

use crate::env;
use crate::error::{Error, Result, While};
use crate::process;

/// How often the thread that listens looks whether it is to hold its peace.
const LOOK: Duration = Duration::from_millis(100);

/// What happens at the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A key was pressed.
    Key(KeyEvent),
    /// The mouse was used.
    Mouse(MouseEvent),
    /// A text was pasted.
    Paste(String),
    /// The screen has so many columns and lines now.
    Resize(u16, u16),
    /// edio goes on after it was stopped.
    Resumed,
    /// This signal ends edio.
    Ended(u8),
}

/// The screen.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
    ears: Arc<Ears>,
    is_ours: bool,
}

/// Whether the keys are listened to.
#[derive(Default)]
struct Ears {
    closed: AtomicBool,
    idle: AtomicBool,
}

/// Is there a terminal that a screen can be drawn on?
pub fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal() && !env::dumb_terminal()
}

impl Screen {
    /// Takes the screen.
    ///
    /// # Errors
    ///
    /// The terminal does not give it.
    pub fn open() -> Result<Self> {
        let cannot = || "the terminal can't be used for a screen".to_owned();
        let backend = CrosstermBackend::new(BufWriter::with_capacity(1 << 16, io::stdout()));
        let mut screen = Self {
            terminal: Terminal::new(backend).or_cannot(cannot)?,
            ears: Arc::default(),
            is_ours: false,
        };
        screen.enter().or_cannot(cannot)?;
        Ok(screen)
    }

    /// Its columns and lines.
    pub fn size(&self) -> (u16, u16) {
        let size = self.terminal.size().unwrap_or_default();
        (size.width, size.height)
    }

    /// Tells what happens at the terminal, from now on.
    ///
    /// # Errors
    ///
    /// The signals can't be caught.
    pub fn listen(&self, tell: impl Fn(Input) + Clone + Send + 'static) -> Result<()> {
        signals::listen(tell.clone()).or_cannot(|| "the signals can't be caught".to_owned())?;
        let ears = Arc::clone(&self.ears);
        thread::spawn(move || listen(&ears, &tell));
        Ok(())
    }

    /// Draws.
    ///
    /// # Errors
    ///
    /// The terminal is gone.
    pub fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> Result<()> {
        self.terminal.draw(draw).map_err(Error::output)?;
        Ok(())
    }

    /// Puts a text into the clipboard, where the terminal lets programs do that.
    ///
    /// # Errors
    ///
    /// The terminal is gone.
    pub fn copy(&mut self, text: &str) -> Result<()> {
        let text = BASE64_STANDARD.encode(text);
        let to = self.terminal.backend_mut();
        let written = write!(to, "\x1b]52;c;{text}\x07");
        written
            .and_then(|()| Write::flush(to))
            .map_err(Error::output)
    }

    /// Gives the terminal back while something else is done there.
    ///
    /// # Errors
    ///
    /// The terminal is gone.
    pub fn lend<T>(&mut self, work: impl FnOnce() -> T) -> Result<T> {
        self.ears.close();
        self.leave();
        let outcome = work();
        self.enter().map_err(Error::output)?;
        self.ears.open();
        Ok(outcome)
    }

    /// Gives the terminal back, and stops until the shell lets edio go on.
    ///
    /// # Errors
    ///
    /// The terminal is gone.
    pub fn suspend(&mut self) -> Result<()> {
        self.lend(process::stop)
    }

    /// Takes the screen again, whatever was done to it, and has all of it drawn anew.
    ///
    /// # Errors
    ///
    /// The terminal is gone.
    pub fn take_again(&mut self) -> Result<()> {
        // What was set before is not known to be set any more.
        let _ = disable_raw_mode();
        self.enter().map_err(Error::output)
    }

    fn enter(&mut self) -> io::Result<()> {
        self.is_ours = true;
        enable_raw_mode()?;
        enter(self.terminal.backend_mut())?;
        // This clears the screen, and asks the terminal for nothing: not all of them answer.
        let (width, height) = self.size();
        self.terminal.resize(Rect::new(0, 0, width, height))
    }

    fn leave(&mut self) {
        if std::mem::take(&mut self.is_ours) {
            // Each is tried, whatever comes of the others: the terminal may be gone.
            let _ = leave(self.terminal.backend_mut());
            let _ = disable_raw_mode();
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.leave();
    }
}

fn enter(to: &mut impl Write) -> io::Result<()> {
    queue!(to, EnterAlternateScreen)?;
    mouse::enable(to)?;
    execute!(to, EnableBracketedPaste, Hide)
}

fn leave(to: &mut impl Write) -> io::Result<()> {
    queue!(to, ResetColor, DisableBracketedPaste)?;
    mouse::disable(to)?;
    execute!(to, LeaveAlternateScreen, Show)
}

#[cfg(unix)]
mod mouse {
    use std::io::{self, Write};

    /// Buttons and the wheel are told, in the form that knows no last column. Where the mouse is all the time is not: each
    /// move would wake edio.
    pub fn enable(to: &mut impl Write) -> io::Result<()> {
        to.write_all(b"\x1b[?1000h\x1b[?1006h")
    }

    pub fn disable(to: &mut impl Write) -> io::Result<()> {
        to.write_all(b"\x1b[?1006l\x1b[?1000l")
    }
}

#[cfg(not(unix))]
mod mouse {
    use std::io::{self, Write};

    use ratatui::crossterm::event::{DisableMouseCapture, EnableMouseCapture};
    use ratatui::crossterm::queue;

    pub fn enable(to: &mut impl Write) -> io::Result<()> {
        queue!(to, EnableMouseCapture)
    }

    pub fn disable(to: &mut impl Write) -> io::Result<()> {
        queue!(to, DisableMouseCapture)
    }
}

impl Ears {
    fn close(&self) {
        self.idle.store(false, Ordering::SeqCst);
        self.closed.store(true, Ordering::SeqCst);
        // Whoever gets the terminal gets its keys. A thread that is in the middle of a key is not waited for forever.
        for _ in 0..60 {
            if self.idle.load(Ordering::SeqCst) {
                return;
            }
            thread::sleep(LOOK / 20);
        }
    }

    fn open(&self) {
        self.idle.store(false, Ordering::SeqCst);
        self.closed.store(false, Ordering::SeqCst);
    }
}

fn listen(ears: &Ears, tell: &impl Fn(Input)) {
    loop {
        if ears.closed.load(Ordering::SeqCst) {
            ears.idle.store(true, Ordering::SeqCst);
            thread::sleep(LOOK / 10);
            continue;
        }
        match event::poll(LOOK) {
            Ok(false) => continue,
            Ok(true) => {}
            Err(_) => return,
        }
        let Ok(event) = event::read() else {
            return;
        };
        match event {
            event::Event::Key(key) if key.kind != KeyEventKind::Release => tell(Input::Key(key)),
            event::Event::Mouse(mouse) => tell(Input::Mouse(mouse)),
            event::Event::Paste(text) => tell(Input::Paste(text)),
            event::Event::Resize(columns, lines) => tell(Input::Resize(columns, lines)),
            _ => {}
        }
    }
}

#[cfg(unix)]
mod signals {
    use std::io;
    use std::thread;

    use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    use signal_hook::iterator::SignalsInfo;
    use signal_hook::iterator::exfiltrator::origin::WithOrigin;

    use super::Input;

    /// Tells of the signals that matter to a screen.
    pub fn listen(tell: impl Fn(Input) + Send + 'static) -> io::Result<()> {
        let wanted = [SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGCONT];
        let mut signals = SignalsInfo::<WithOrigin>::new(wanted)?;
        thread::spawn(move || {
            for caught in signals.forever() {
                let from_terminal = caught.process.is_none();
                match caught.signal {
                    SIGCONT => tell(Input::Resumed),
                    // Typed while another program has the terminal, it is meant for that.
                    SIGINT | SIGQUIT if from_terminal => {}
                    signal => tell(Input::Ended(u8::try_from(signal).unwrap_or(0))),
                }
            }
        });
        Ok(())
    }
}

#[cfg(not(unix))]
mod signals {
    use std::io;

    use super::Input;

    /// There are no signals here.
    pub fn listen(_: impl Fn(Input) + Send + 'static) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_given_back() {
        let (mut taken, mut given) = (Vec::new(), Vec::new());
        enter(&mut taken).unwrap();
        leave(&mut given).unwrap();
        let (taken, given) = (
            String::from_utf8(taken).unwrap(),
            String::from_utf8(given).unwrap(),
        );
        let modes = taken
            .split("\x1b[?")
            .filter_map(|mode| mode.strip_suffix('h'));
        for mode in modes {
            assert!(
                given.contains(&format!("\x1b[?{mode}l")),
                "{mode}: {given:?}"
            );
        }
        assert!(taken.contains("\x1b[?1049h") && given.contains("\x1b[?25h"));
    }

    #[test]
    fn ears_that_are_closed_hear_nothing() {
        let ears = Arc::new(Ears::default());
        let other = Arc::clone(&ears);
        thread::spawn(move || {
            while !other.closed.load(Ordering::SeqCst) {
                thread::yield_now();
            }
            other.idle.store(true, Ordering::SeqCst);
        });
        ears.close();
        assert!(ears.idle.load(Ordering::SeqCst));
    }
}
