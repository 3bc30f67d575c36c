//! The person's terminal: stdout and stderr, colour, the pager, times, JSON. Nothing else prints.
//!
//! Data goes to stdout, through the pager where one was asked for. What a change did, hints, warnings and
//! errors go to stderr. With `--json` both hold one object a line, and what a change did is in its record.
//! Nothing that is written here drives the terminal, but for edio's own styles; only [`Term::data`] is raw.

use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::time::Duration;

use anstream::adapter::strip_str;
use serde::Serialize;

use crate::env;
use crate::error::Error;

mod caller;
pub mod editor;
pub mod json;
mod pager;
pub mod screen;
pub mod style;
pub mod text;
pub mod time;

pub use caller::{answer, input};
use pager::Pager;

/// Columns where nobody says how many there are.
const COLUMNS: usize = 80;

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless the environment says otherwise.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    fn is_on(self, is_terminal: bool) -> bool {
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto if env::no_color() => false,
            Color::Auto => env::force_color() || is_terminal && !env::dumb_terminal(),
        }
    }
}

/// What the global flags say about output.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// One JSON object a line instead of text.
    pub json: bool,
    /// Nothing about what a change did, and no hints.
    pub quiet: bool,
    /// When to use colours.
    pub color: Color,
    /// A pager may be used.
    pub pager: bool,
}

/// Prints a help text, or the version, on stdout.
///
/// # Errors
///
/// It can't be written.
pub fn help(text: &clap::builder::StyledStr) -> io::Result<()> {
    let text = text.ansi().to_string();
    anstream::stdout().write_all(text.as_bytes())
}

/// Where messages go, as a file: for a program that prints among them while it runs.
///
/// # Errors
///
/// The system refuses.
pub fn messages() -> io::Result<File> {
    #[cfg(unix)]
    let stream = std::os::fd::AsFd::as_fd(&io::stderr()).try_clone_to_owned();
    #[cfg(not(unix))]
    let stream = std::os::windows::io::AsHandle::as_handle(&io::stderr()).try_clone_to_owned();
    stream.map(File::from)
}

/// Shows a process that ran, and how long it took: for `-v`. It comes from any thread, so it does not wait for a pager.
pub fn trace(command: &str, took: Duration) {
    let command = text::plain(command.as_bytes());
    let _ = writeln!(
        io::stderr(),
        "{:>8.1} ms  {command}",
        took.as_secs_f64() * 1000.0
    );
}

/// Says what is waited for, while it is.
pub fn waiting(what: String, is_json: bool) {
    let line = match is_json {
        true => json::line(&json::Warning { warning: what }),
        false => Ok(format!("{what}\n").into_bytes()),
    };
    // Where nobody hears it, it is waited in silence.
    let _ = line.and_then(|line| io::stderr().write_all(&line));
}

/// The person's terminal, or whatever stands in for it.
pub struct Term {
    settings: Settings,
    out: Stream,
    err: Stream,
    pager: Option<Pager>,
    /// Messages that wait until the pager gives the screen back.
    waiting: String,
}

struct Stream {
    to: Box<dyn Write + Send>,
    is_terminal: bool,
    styles: bool,
}

impl Term {
    /// The terminal of this process.
    pub fn new(settings: Settings) -> Self {
        let (stdout, stderr) = (io::stdout(), io::stderr());
        let out = Stream {
            is_terminal: stdout.is_terminal(),
            styles: settings.color.is_on(stdout.is_terminal()),
            // A person wants to see each line when it is there; for others it is quicker at once.
            to: if stdout.is_terminal() {
                Box::new(stdout)
            } else {
                Box::new(BufWriter::new(stdout))
            },
        };
        let err = Stream {
            is_terminal: stderr.is_terminal(),
            styles: settings.color.is_on(stderr.is_terminal()),
            to: Box::new(stderr),
        };
        Self::over(settings, out, err)
    }

    fn over(settings: Settings, out: Stream, err: Stream) -> Self {
        Self {
            settings,
            out,
            err,
            pager: None,
            waiting: String::new(),
        }
    }

    /// Was JSON asked for?
    pub fn is_json(&self) -> bool {
        self.settings.json
    }

    /// Was quiet asked for?
    pub fn is_quiet(&self) -> bool {
        self.settings.quiet
    }

    /// Does a person read stdout, directly or in the pager?
    pub fn out_is_terminal(&self) -> bool {
        self.out.is_terminal
    }

    /// Does a person read the messages, and can they answer?
    pub fn is_interactive(&self) -> bool {
        self.err.is_terminal && io::stdin().is_terminal()
    }

    /// Are there colours on stdout?
    pub fn styles_out(&self) -> bool {
        self.out.styles
    }

    /// The columns of the terminal that stdout is, or 80.
    pub fn width(&self) -> usize {
        let measured = || {
            let (width, _) = terminal_size::terminal_size_of(io::stdout())?;
            Some(usize::from(width.0))
        };
        env::columns().or_else(measured).unwrap_or(COLUMNS)
    }

    /// Stdout, or the pager once it runs. Bytes pass untouched.
    pub fn data(&mut self) -> &mut dyn Write {
        match &mut self.pager {
            Some(pager) => pager,
            None => &mut self.out.to,
        }
    }

    /// Writes one line of data.
    ///
    /// # Errors
    ///
    /// It could not be written. A broken pipe means that nobody wants to read more.
    pub fn line(&mut self, text: impl Display) -> io::Result<()> {
        let line = shown(text, self.out.styles);
        self.data().write_all(line.as_bytes())
    }

    /// Writes a record as one line of JSON, with the version of the format first.
    ///
    /// # Errors
    ///
    /// It could not be written, as with [`Term::line`]; or it is not an object.
    pub fn record(&mut self, record: &(impl Serialize + ?Sized)) -> io::Result<()> {
        let line = json::line(record)?;
        self.data().write_all(&line)
    }

    /// Passes on what git prints: made safe where a person reads it, else byte for byte.
    ///
    /// # Errors
    ///
    /// It could not be read or written, as with [`Term::line`].
    pub fn copy(&mut self, from: &mut impl Read) -> io::Result<()> {
        let (is_terminal, styles) = (self.out.is_terminal, self.out.styles);
        let to = self.data();
        if is_terminal {
            let mut sanitizer = text::Sanitizer::new(to, styles);
            io::copy(from, &mut sanitizer)?;
            return sanitizer.finish();
        }
        io::copy(from, to)?;
        to.flush()
    }

    /// Says what a change did. Silent with `-q`, and with `--json`, where its record says it.
    pub fn told(&mut self, text: impl Display) {
        if self.settings.quiet || self.settings.json {
            return;
        }
        self.say(text);
    }

    /// Says what to try next. Silent as [`Term::told`] is.
    pub fn hint(&mut self, text: impl Display) {
        self.told(format_args!("{} {text}", style::hint("hint:")));
    }

    /// Says what went wrong without stopping the work.
    pub fn warn(&mut self, text: impl Display) {
        if self.settings.json {
            let warning = shown(text, false).trim_end().to_owned();
            return self.say_record(&json::Warning { warning });
        }
        self.say(format_args!("{} {text}", style::warning("warning:")));
    }

    /// Says what could not be done, why, and what to try next. The pager is closed first.
    pub fn error(&mut self, error: &Error) {
        // The error is the news, even if the output failed too.
        let _ = self.finish();
        if self.settings.json {
            return self.say_record(&json::failure(error));
        }
        self.say_labelled(style::error("error:"), &error.to_string());
        for cause in error.causes() {
            self.say_labelled(style::error("caused by:"), &cause);
        }
        for hint in error.hints() {
            self.say_labelled(style::hint("hint:"), hint);
        }
    }

    /// Asks a person something, and waits for the answer: was it yes? `None` where nobody is there to be asked.
    pub fn ask(&mut self, question: impl Display) -> Option<bool> {
        if self.settings.json || !self.is_interactive() {
            return None;
        }
        let question = shown(format_args!("{question} [y/N]"), self.err.styles);
        self.write_message(format!("{} ", question.trim_end()).as_bytes());
        let mut answer = String::new();
        // Without an answer it is no.
        let _ = io::stdin().read_line(&mut answer);
        let answer = answer.trim().to_lowercase();
        Some(answer == "y" || answer == "yes")
    }

    /// From here on stdout goes through this pager, if a person reads it and a pager is of use. Once for all.
    pub fn page(&mut self, pager: Option<&OsStr>) {
        let Some(command) = pager.filter(|command| pager::is_wanted(command)) else {
            return;
        };
        if !self.out.is_terminal || !self.settings.pager || self.settings.json {
            return;
        }
        self.settings.pager = false;
        let _ = self.out.to.flush();
        match Pager::start(command) {
            Ok(pager) => self.pager = Some(pager),
            Err(error) => self.warn(format_args!("{}: {error}", not_started(command))),
        }
    }

    /// Writes what is still buffered, and waits until the pager is left. Later output goes straight to stdout.
    ///
    /// # Errors
    ///
    /// It could not be written. A broken pipe is none: nobody wanted to read more.
    pub fn finish(&mut self) -> io::Result<()> {
        let closed = self.pager.take().map_or(Ok(None), Pager::close);
        if let Ok(Some(command)) = &closed {
            self.warn(not_started(command));
        }
        let messages = std::mem::take(&mut self.waiting);
        self.write_message(messages.as_bytes());
        let flushed = closed.and_then(|_| self.out.to.flush());
        flushed.or_else(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Ok(()),
            _ => Err(error),
        })
    }

    fn say_labelled(&mut self, label: impl Display, text: &str) {
        // What a remote or ssh says may end its lines as on a terminal.
        let text = text.trim_end().replace("\r\n", "\n");
        let text = text::plain_lines(text.as_bytes());
        self.say(format_args!("{label} {text}"));
    }

    /// Writes a message to stderr, whole and in order with the data. A closed stderr is no reason to fail.
    fn say(&mut self, text: impl Display) {
        let message = shown(text, self.err.styles);
        if self.pager.is_some() && self.err.is_terminal {
            self.waiting.push_str(&message);
            return;
        }
        // If this fails, the next write of data does too, and says so.
        let _ = self.data().flush();
        self.write_message(message.as_bytes());
    }

    fn say_record(&mut self, record: &impl Serialize) {
        let _ = self.data().flush();
        if let Ok(line) = json::line(record) {
            self.write_message(&line);
        }
    }

    fn write_message(&mut self, bytes: &[u8]) {
        let _ = self.err.to.write_all(bytes);
        let _ = self.err.to.flush();
    }
}

impl Drop for Term {
    fn drop(&mut self) {
        // A pager that is left behind would fight with the shell over the keyboard.
        let _ = self.finish();
    }
}

/// A text as a line that can be written to a terminal.
fn shown(text: impl Display, styles: bool) -> String {
    let safe = text::styled_lines(&text.to_string());
    let mut line = if styles {
        safe
    } else {
        strip_str(&safe).to_string()
    };
    line.push('\n');
    line
}

fn not_started(pager: &OsStr) -> String {
    let name = text::plain(pager.as_encoded_bytes());
    format!("can't start the pager '{name}'")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Written {
        fn take(&self) -> String {
            let bytes = std::mem::take(&mut *self.0.lock().unwrap());
            String::from_utf8(bytes).unwrap()
        }
    }

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Failing(io::ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(self.0.into())
        }
    }

    const SETTINGS: Settings = Settings {
        json: false,
        quiet: false,
        color: Color::Never,
        pager: true,
    };

    fn stream(to: impl Write + Send + 'static, settings: Settings) -> Stream {
        Stream {
            to: Box::new(to),
            is_terminal: true,
            styles: settings.color.is_on(true),
        }
    }

    fn term(settings: Settings) -> (Term, Written, Written) {
        let (out, err) = (Written::default(), Written::default());
        let term = Term::over(
            settings,
            stream(out.clone(), settings),
            stream(err.clone(), settings),
        );
        (term, out, err)
    }

    fn failing(kind: io::ErrorKind) -> Term {
        Term::over(
            SETTINGS,
            stream(Failing(kind), SETTINGS),
            stream(Failing(kind), SETTINGS),
        )
    }

    #[cfg(unix)]
    fn paged(command: &str, messages: &str) -> (String, String) {
        let folder = tempfile::tempdir().unwrap();
        let shown = folder.path().join("shown");
        let (mut term, out, err) = term(SETTINGS);
        let command = format!("{command} >'{}'", shown.display());
        term.page(Some(OsStr::new(&command)));
        term.line("one").unwrap();
        term.told(messages);
        assert_eq!(err.take(), "");
        term.line("two").unwrap();
        term.finish().unwrap();
        assert_eq!(out.take(), "");
        (std::fs::read_to_string(shown).unwrap(), err.take())
    }

    fn no_such_pager() -> &'static OsStr {
        OsStr::new("/no/such/pager 2>/dev/null")
    }

    #[test]
    fn data_and_messages_go_their_own_ways() {
        let (mut term, out, err) = term(SETTINGS);
        term.line(format_args!("{} a", style::turn(7))).unwrap();
        term.data().write_all(b"\x1b[1mraw\xc3\xa9\n").unwrap();
        term.told("restored turn 7");
        term.hint("edio undo");
        term.warn("too large");
        assert_eq!(out.take(), "7 a\n\x1b[1mraw\u{e9}\n");
        assert_eq!(
            err.take(),
            "restored turn 7\nhint: edio undo\nwarning: too large\n"
        );
    }

    #[test]
    fn styles_show_where_they_are_on() {
        let (mut term, out, err) = term(Settings {
            color: Color::Always,
            ..SETTINGS
        });
        term.line(style::turn(7)).unwrap();
        term.warn("too large");
        assert_eq!(out.take(), "\x1b[33m7\x1b[0m\n");
        assert_eq!(err.take(), "\x1b[33mwarning:\x1b[0m too large\n");
    }

    #[test]
    fn the_ends_of_a_remotes_lines_are_ends_of_lines() {
        let (mut term, _, err) = term(SETTINGS);
        term.error(&Error::cannot("remote: no\r\nremote: over\rwritten"));
        assert_eq!(err.take(), "error: remote: no\nremote: over\\rwritten\n");
    }

    #[test]
    fn nothing_else_reaches_the_terminal() {
        for color in [Color::Always, Color::Never] {
            let (mut term, out, err) = term(Settings { color, ..SETTINGS });
            term.line("a\x1b]0;title\x07\rb").unwrap();
            term.told("\x1b[2J");
            assert_eq!(out.take(), "a\\x1b]0;title\\x07\\rb\n");
            assert_eq!(err.take(), "\\x1b[2J\n");
        }
    }

    #[test]
    fn quiet_still_warns_and_fails() {
        let (mut term, _, err) = term(Settings {
            quiet: true,
            ..SETTINGS
        });
        term.told("restored");
        term.hint("edio undo");
        term.warn("too large");
        term.error(&Error::cannot("no turn 9").hint("edio log"));
        assert_eq!(
            err.take(),
            "warning: too large\nerror: no turn 9\nhint: edio log\n"
        );
    }

    #[test]
    fn an_error_names_its_causes() {
        let (mut term, _, err) = term(SETTINGS);
        let disk = Error::cannot("can't write \x1b[1ma").because(io::Error::other("disk full\n"));
        term.error(&Error::cannot("can't restore").because(disk));
        assert_eq!(
            err.take(),
            "error: can't restore\ncaused by: can't write \\x1b[1ma\ncaused by: disk full\n"
        );
    }

    #[test]
    fn with_json_both_streams_hold_objects() {
        let (mut term, out, err) = term(Settings {
            json: true,
            ..SETTINGS
        });
        term.record(&serde_json::json!({ "turn": 7 })).unwrap();
        term.told("restored");
        term.hint("edio undo");
        term.warn(style::dim("too large"));
        term.error(&Error::cannot("no turn 9"));
        assert_eq!(out.take(), "{\"v\":1,\"turn\":7}\n");
        assert_eq!(
            err.take(),
            concat!(
                "{\"v\":1,\"warning\":\"too large\"}\n",
                "{\"v\":1,\"error\":{\"kind\":\"cannot\",\"exit_code\":1,",
                "\"message\":\"no turn 9\",\"causes\":[],\"hints\":[]}}\n"
            )
        );
    }

    #[test]
    fn a_patch_is_copied_safely_to_a_person_and_exactly_to_others() {
        let patch = "+a\x1b[2J\r\n";
        let (mut term, out, _) = term(SETTINGS);
        term.copy(&mut patch.as_bytes()).unwrap();
        assert_eq!(out.take(), "+a\\x1b[2J\r\n");
        term.out.is_terminal = false;
        term.copy(&mut patch.as_bytes()).unwrap();
        assert_eq!(out.take(), patch);
    }

    #[test]
    fn a_closed_pipe_is_no_failure_but_a_full_disk_is() {
        let mut closed = failing(io::ErrorKind::BrokenPipe);
        let error = closed.line("a").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        closed.told("nobody hears it");
        closed.finish().unwrap();
        let mut full = failing(io::ErrorKind::StorageFull);
        assert!(full.finish().is_err());
    }

    #[test]
    #[cfg(unix)]
    fn the_pager_gets_the_data_and_messages_wait() {
        let (shown, messages) = paged("sed 's/^/> /'", "restored");
        assert_eq!(shown, "> one\n> two\n");
        assert_eq!(messages, "restored\n");
    }

    #[test]
    #[cfg(unix)]
    fn the_pager_knows_that_it_is_one() {
        let (shown, _) = paged("cat >/dev/null; echo $GIT_PAGER_IN_USE$#", "");
        assert_eq!(shown, "10\n");
    }

    #[test]
    #[cfg(unix)]
    fn a_pager_that_is_left_early_is_no_failure() {
        let (mut term, _, _) = term(SETTINGS);
        term.page(Some(OsStr::new("exec <&-; true")));
        let line = "x".repeat(1000);
        let broken = (0..1000).find_map(|_| term.line(&line).err());
        assert_eq!(broken.unwrap().kind(), io::ErrorKind::BrokenPipe);
        term.finish().unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn a_pager_that_cannot_start_is_named() {
        let (mut term, _, err) = term(SETTINGS);
        term.page(Some(no_such_pager()));
        term.finish().unwrap();
        assert_eq!(
            err.take(),
            "warning: can't start the pager '/no/such/pager 2>/dev/null'\n"
        );
    }

    #[test]
    fn no_pager_where_it_is_of_no_use() {
        let settings = [
            Settings {
                json: true,
                ..SETTINGS
            },
            Settings {
                pager: false,
                ..SETTINGS
            },
        ];
        for settings in settings {
            let (mut term, _, _) = term(settings);
            term.page(Some(no_such_pager()));
            assert!(term.pager.is_none());
        }
        let (mut term, _, _) = term(SETTINGS);
        term.page(Some(OsStr::new("cat")));
        term.page(None);
        term.out.is_terminal = false;
        term.page(Some(no_such_pager()));
        assert!(term.pager.is_none());
    }
}
