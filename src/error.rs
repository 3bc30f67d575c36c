//! The error: what could not be done, why, what to try next, and the exit code that says of which kind it is.

use std::any::Any;
use std::error::Error as Cause;
use std::fmt;

/// The kinds of failure. Scripts tell them apart by exit code, so the codes never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It can't be done: no such turn, nothing to accept, a lock is held.
    Cannot,
    /// The command line is wrong: unknown flag, malformed turn, path outside.
    Usage,
    /// Something would be lost or mixed.
    Refused,
    /// There is no repository with a work tree here.
    NoRepository,
    /// A fault of edio's own.
    Bug,
    /// Stopped by a signal.
    Interrupted,
    /// Nobody reads the output any more (`edio log | head`), which is no failure.
    ClosedPipe,
}

impl Kind {
    /// The exit code of this kind.
    pub fn exit_code(self) -> u8 {
        match self {
            Kind::ClosedPipe => 0,
            Kind::Cannot => 1,
            Kind::Usage => 2,
            Kind::Refused => 3,
            Kind::NoRepository => 4,
            Kind::Bug => 70,
            Kind::Interrupted => 130,
        }
    }

    /// The name that `--json` gives to this kind.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Cannot => "cannot",
            Kind::Usage => "usage",
            Kind::Refused => "refused",
            Kind::NoRepository => "no_repository",
            Kind::Bug => "bug",
            Kind::Interrupted => "interrupted",
            Kind::ClosedPipe => "closed_pipe",
        }
    }
}

/// An error as a person meets it.
#[derive(Debug)]
pub struct Error {
    kind: Kind,
    what: String,
    cause: Option<Box<dyn Cause + Send + Sync>>,
    hints: Vec<String>,
}

/// The result of everything that can fail with an [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    fn new(kind: Kind, what: impl Into<String>) -> Self {
        Self {
            kind,
            what: what.into(),
            cause: None,
            hints: Vec::new(),
        }
    }

    /// It can't be done (exit code 1).
    pub fn cannot(what: impl Into<String>) -> Self {
        Self::new(Kind::Cannot, what)
    }

    /// The command line is wrong (exit code 2).
    pub fn usage(what: impl Into<String>) -> Self {
        Self::new(Kind::Usage, what)
    }

    /// Refused, since something would be lost or mixed (exit code 3).
    pub fn refused(what: impl Into<String>) -> Self {
        Self::new(Kind::Refused, what)
    }

    /// No repository with a work tree (exit code 4).
    pub fn no_repository(what: impl Into<String>) -> Self {
        Self::new(Kind::NoRepository, what)
    }

    /// Stopped by a signal (exit code 130).
    pub fn interrupted(what: impl Into<String>) -> Self {
        Self::new(Kind::Interrupted, what)
    }

    /// A fault of edio's own (exit code 70).
    pub fn bug(what: impl Into<String>) -> Self {
        Self::new(Kind::Bug, what)
    }

    /// A panic, by what was thrown.
    pub fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let words = panic.downcast_ref::<&str>().map(ToString::to_string);
        let words = words.or_else(|| panic.downcast_ref::<String>().cloned());
        Self::bug("a fault in edio itself")
            .because(Self::bug(words.unwrap_or_default()))
            .hint("please report it, with the command that you ran")
    }

    /// What came of writing to the standard output.
    pub fn output(error: std::io::Error) -> Self {
        let kind = match error.kind() {
            std::io::ErrorKind::BrokenPipe => Kind::ClosedPipe,
            _ => Kind::Cannot,
        };
        Self::new(kind, "can't write the output").because(error)
    }

    /// Adds why it happened.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn Cause + Send + Sync>>) -> Self {
        let cause = cause.into();
        let remedy = remedy(cause.as_ref()).map(str::to_owned);
        self.hints.extend(remedy);
        self.cause = Some(cause);
        self
    }

    /// Adds a command or an action to try next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The kind, which decides the exit code.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The causes, nearest first, each as one message.
    pub fn causes(&self) -> Vec<String> {
        let mut causes = Vec::new();
        let mut next = self.source();
        while let Some(cause) = next {
            causes.push(cause.to_string());
            next = cause.source();
        }
        causes
    }

    /// What to try next.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }
}

/// What helps against what can befall whatever is done. git says it in the system's words, too.
fn remedy(cause: &(dyn Cause + 'static)) -> Option<&'static str> {
    const ROOM: &str =
        "make room on the disk, then try it again: df -h . and df -i . tell how full it is";
    const REMEDIES: [(&str, &str); 3] = [
        ("No space left on device", ROOM),
        ("Out of diskspace", ROOM),
        (
            "Disk quota exceeded",
            "make room, then try it again: quota tells how much you may have",
        ),
    ];
    let mut next = Some(cause);
    while let Some(cause) = next {
        let said = cause.to_string();
        if let Some((_, remedy)) = REMEDIES.iter().find(|(words, _)| said.contains(words)) {
            return Some(remedy);
        }
        next = cause.source();
    }
    None
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl Cause for Error {
    fn source(&self) -> Option<&(dyn Cause + 'static)> {
        self.cause.as_deref().map(|cause| cause as &dyn Cause)
    }
}

/// The first of many names, and how many more there are: `a, b and 3 more`.
pub fn first_of<N: fmt::Display>(most: usize, names: impl ExactSizeIterator<Item = N>) -> String {
    let more = names.len().saturating_sub(most);
    let first: Vec<String> = names.take(most).map(|name| name.to_string()).collect();
    let first = first.join(", ");
    match more {
        0 => first,
        _ => format!("{first} and {more} more"),
    }
}

/// Says what was being done when an operating system call failed.
pub trait While<T> {
    /// Turns the failure into an [`Error`] of kind [`Kind::Cannot`], with the failure as its cause.
    ///
    /// # Errors
    ///
    /// Whenever `self` is one.
    fn or_cannot(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<Box<dyn Cause + Send + Sync>>> While<T> for std::result::Result<T, E> {
    fn or_cannot(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|cause| Error::cannot(what()).because(cause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_has_its_remedy_once() {
        let full = std::io::Error::from_raw_os_error(28);
        let inner = Error::cannot("can't write x").because(full);
        let outer = Error::cannot("the turn can't be taken").because(inner);
        assert_eq!(outer.hints().len(), 1);
        assert!(outer.hints()[0].starts_with("make room on the disk"));
        assert_eq!(Error::cannot("a").because("b").hints().len(), 0);
    }

    #[test]
    fn what_is_not_named_is_counted() {
        let of = |names: &[&str]| first_of(2, names.iter());
        assert_eq!(of(&[]), "");
        assert_eq!(of(&["a", "b"]), "a, b");
        assert_eq!(of(&["a", "b", "c"]), "a, b and 1 more");
    }
}
