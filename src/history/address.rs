//! How a turn is written: `7`, `7.2`, `0`, `@`, `@-1`, `last`, or the beginning of its commit's id.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

use super::session::Session;
use super::turn::{Kind, Number, Turn};
use super::workspace::Workspace;

/// A turn as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// By its number.
    Number(Number),
    /// Where the work tree stands, and so many numbered turns before it on its line.
    Current {
        /// How many turns back.
        back: u32,
    },
    /// The one with the highest number.
    Last,
    /// By the first digits of its commit's id: at least four, a letter among them.
    Commit(String),
}

/// Two turns: `3..6`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first.
    pub from: Address,
    /// The second.
    pub to: Address,
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let malformed =
            || "write a turn as 7, 7.2, @, @-1, last, or 4 or more digits of its id".to_owned();
        if text == "@" {
            return Ok(Address::Current { back: 0 });
        }
        if text == "last" {
            return Ok(Address::Last);
        }
        if let Some(back) = text.strip_prefix("@-") {
            let digits = back.bytes().all(|b| b.is_ascii_digit());
            let back = digits.then(|| back.parse().ok()).flatten();
            return back
                .map(|back| Address::Current { back })
                .ok_or_else(malformed);
        }
        if let Ok(number) = text.parse() {
            return Ok(Address::Number(number));
        }
        let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        let letter = text.bytes().any(|b| b.is_ascii_lowercase());
        if (4..=64).contains(&text.len()) && letter && text.bytes().all(hex) {
            return Ok(Address::Commit(text.to_owned()));
        }
        Err(malformed())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Number(number) => number.fmt(f),
            Address::Current { back: 0 } => f.write_str("@"),
            Address::Current { back } => write!(f, "@-{back}"),
            Address::Last => f.write_str("last"),
            Address::Commit(digits) => f.write_str(digits),
        }
    }
}

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (from, to) = text
            .split_once("..")
            .ok_or_else(|| "write two turns as 3..6".to_owned())?;
        Ok(Self {
            from: from.parse()?,
            to: to.parse()?,
        })
    }
}

impl Address {
    /// The turn that is meant, in this session.
    ///
    /// # Errors
    ///
    /// There is no such turn, several commits begin with these digits, or git failed.
    pub fn find(&self, workspace: &Workspace, session: &Session) -> Result<Turn> {
        match self {
            Address::Number(Number { turn, step: 0 }) => session.turn(workspace, *turn),
            Address::Number(number) => find_step(workspace, session, *number),
            Address::Current { back } => {
                let current = session.current()?;
                let line = session.whole_line(workspace, current);
                let line: Vec<Turn> = line.take(*back as usize).collect::<Result<_>>()?;
                match line.len() < *back as usize {
                    false => Ok(line.into_iter().next_back().unwrap_or(current.clone())),
                    true => Err(Error::cannot(format!("there is no turn {self}"))
                        .hint(session.which_turns())),
                }
            }
            Address::Last if session.turns.is_empty() && session.damaged.is_empty() => {
                Err(Error::cannot("the session has no last turn").hint(session.which_turns()))
            }
            Address::Last => session.turn(workspace, session.last()),
            Address::Commit(digits) => find_commit(session, digits),
        }
    }
}

fn find_commit(session: &Session, digits: &str) -> Result<Turn> {
    let known = session.turns.values().chain(&session.baseline);
    let found: Vec<&Turn> = known
        .filter(|turn| turn.commit.as_str().starts_with(digits))
        .collect();
    match found.as_slice() {
        [turn] => Ok((*turn).clone()),
        [] => Err(
            Error::cannot(format!("no turn's commit begins with {digits}"))
                .hint(session.which_turns()),
        ),
        several => {
            let numbers: Vec<_> = several.iter().map(|t| t.number().to_string()).collect();
            Err(Error::usage(format!(
                "{digits} begins the commits of turns {}",
                numbers.join(", ")
            )))
        }
    }
}

/// Walks back from a turn, or from where the work tree stands, to the step of this number.
fn find_step(workspace: &Workspace, session: &Session, number: Number) -> Result<Turn> {
    let is_step = |turn: &Turn| turn.note.kind == Kind::Step;
    let turn = session.turns.get(&number.turn);
    let tip = turn.or(session.current.as_ref());
    let open = tip.filter(|tip| is_step(tip)).cloned().map(Ok);
    let line = tip.map(|tip| session.snapshots_before(workspace, tip));
    for step in open.into_iter().chain(line.into_iter().flatten()) {
        let step = step?;
        if !is_step(&step) {
            break;
        }
        if step.number() == number {
            return Ok(step);
        }
    }
    Err(Error::cannot(format!("there is no step {number}")).hint("edio log shows what there is"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_way_to_write_a_turn() {
        let number = |turn, step| Ok(Address::Number(Number { turn, step }));
        assert_eq!("7".parse(), number(7, 0));
        assert_eq!("7.2".parse(), number(7, 2));
        assert_eq!("0".parse(), number(0, 0));
        assert_eq!("1234".parse(), number(1234, 0));
        assert_eq!("@".parse(), Ok(Address::Current { back: 0 }));
        assert_eq!("@-12".parse(), Ok(Address::Current { back: 12 }));
        assert_eq!("last".parse(), Ok(Address::Last));
        assert_eq!("12ab".parse(), Ok(Address::Commit("12ab".to_owned())));
        let range: Range = "3..@-1".parse().unwrap();
        assert_eq!(
            (range.from, range.to),
            ("3".parse().unwrap(), "@-1".parse().unwrap())
        );
    }

    #[test]
    fn malformed_ones_are_refused() {
        for bad in [
            "",
            "-1",
            "+1",
            "@-",
            "@-x",
            "@+1",
            "@ ",
            "1 2",
            "abc",
            "12AB",
            "../1",
            "1x",
            "HEAD",
            "99999999999999999999",
            "1.2.3",
            "１",
        ] {
            assert!(bad.parse::<Address>().is_err(), "{bad}");
        }
        for bad in ["3", "3..", "..3", "3...4", "1..x"] {
            assert!(bad.parse::<Range>().is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in ".{0,20}") {
            if let Ok(address) = text.parse::<Address>() {
                prop_assert_eq!(address.to_string().parse::<Address>(), Ok(address));
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_read_does_no_harm(bytes in crate::gitengine::noise()) {
            let text = String::from_utf8_lossy(&bytes);
            let _ = (text.parse::<Address>().is_ok(), text.parse::<Range>().is_ok());
        }
    }
}
