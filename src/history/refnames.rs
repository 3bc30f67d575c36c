//! The names of edio's refs: the only place that spells them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The folder of all of edio's refs.
pub const ALL: &str = "refs/edio/";
/// The folder of the sessions under way.
pub const ACTIVE: &str = "refs/edio/active/";
/// The folder of the sessions that were accepted or closed.
pub const ARCHIVE: &str = "refs/edio/archive/";

/// The folder of the sessions that came from another repository.
pub const SHARED: &str = "refs/edio/shared/";

/// The ref of the notes on commits that sessions were accepted as. It is the user's, as any ref of notes.
pub const NOTES: &str = "refs/notes/edio";

/// The id of a session: `sess_<unix seconds>_<8 hex digits>`, or what another tool put there.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

impl SessionId {
    /// The id of a session that begins now. `random` tells apart those that begin in the same second.
    pub fn begun_at(seconds: i64, random: u32) -> Self {
        Self(format!("sess_{seconds}_{random:08x}"))
    }

    /// When the session began, in seconds since 1970. `None` where another tool has named it.
    pub fn began(&self) -> Option<i64> {
        let (seconds, _) = self.0.strip_prefix("sess_")?.split_once('_')?;
        seconds.parse().ok()
    }

    /// The id as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SessionId {
    type Err = String;

    /// Takes what can stand in a ref's name, and can't be taken for an option.
    fn from_str(text: &str) -> Result<Self, String> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let sound = !text.is_empty()
            && text.len() <= 100
            && text.chars().all(allowed)
            && !text.starts_with(['.', '-'])
            && !text.contains("..")
            && !text.ends_with(['.'])
            && !text.ends_with(".lock");
        sound
            .then(|| Self(text.to_owned()))
            .ok_or_else(|| "not the id of a session".to_owned())
    }
}

impl TryFrom<String> for SessionId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> String {
        id.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Is a session under way, or put away?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shelf {
    /// Under way.
    Active,
    /// Accepted or closed.
    Archive,
    /// It came from another repository: nobody works in it here.
    Shared,
}

impl Shelf {
    /// All of them, in the order in which a session is looked for.
    pub const ALL: [Shelf; 3] = [Shelf::Active, Shelf::Archive, Shelf::Shared];

    /// The folder of its refs.
    pub fn folder(self) -> &'static str {
        match self {
            Shelf::Active => ACTIVE,
            Shelf::Archive => ARCHIVE,
            Shelf::Shared => SHARED,
        }
    }

    /// What is said of a session on it.
    pub fn in_words(self) -> &'static str {
        match self {
            Shelf::Active => "active",
            Shelf::Archive => "archived",
            Shelf::Shared => "fetched",
        }
    }
}

/// What a ref of a session is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaf {
    /// The commit of a turn.
    Turn(u32),
    /// Where the work tree stands.
    Current,
    /// The operations.
    Ops,
    /// What a work tree can't hold.
    Side,
}

impl fmt::Display for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Leaf::Turn(number) => write!(f, "{number}"),
            Leaf::Current => f.write_str("current"),
            Leaf::Ops => f.write_str("ops"),
            Leaf::Side => f.write_str("side"),
        }
    }
}

/// The folder of a session's refs, without the slash.
pub fn folder(shelf: Shelf, id: &SessionId) -> String {
    format!("{}{id}", shelf.folder())
}

/// The name of a ref.
pub fn name(shelf: Shelf, id: &SessionId, leaf: Leaf) -> String {
    format!("{}/{leaf}", folder(shelf, id))
}

/// What a ref's name means, or `None` where it is none of edio's.
pub fn parse(name: &str) -> Option<(Shelf, SessionId, Leaf)> {
    let mut shelves = Shelf::ALL.into_iter();
    let (shelf, rest) =
        shelves.find_map(|shelf| Some((shelf, name.strip_prefix(shelf.folder())?)))?;
    let (id, leaf) = rest.split_once('/')?;
    let leaf = match leaf {
        "current" => Leaf::Current,
        "ops" => Leaf::Ops,
        "side" => Leaf::Side,
        number => Leaf::Turn(turn_number(number)?),
    };
    Some((shelf, id.parse().ok()?, leaf))
}

/// A number as edio writes it: no sign, no leading zero.
fn turn_number(text: &str) -> Option<u32> {
    let plain = !text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_it_is() {
        let id = SessionId::begun_at(1_700_000_000, 0xab);
        assert_eq!(id.as_str(), "sess_1700000000_000000ab");
        for shelf in Shelf::ALL {
            for leaf in [Leaf::Turn(7), Leaf::Current, Leaf::Ops, Leaf::Side] {
                assert_eq!(
                    parse(&name(shelf, &id, leaf)),
                    Some((shelf, id.clone(), leaf))
                );
            }
        }
    }

    #[test]
    fn foreign_names_mean_nothing() {
        for bad in [
            "refs/heads/main",
            "refs/edio/active/s",
            "refs/edio/active/s/07",
            "refs/edio/active/s/0",
            "refs/edio/active/s/-1",
            "refs/edio/active/s/x",
            "refs/edio/active/s/4294967296",
            "refs/edio/active/../1",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
        for bad in ["", "-x", ".x", "a..b", "x.lock", "a/b", "a b", "x."] {
            assert!(bad.parse::<SessionId>().is_err(), "{bad}");
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_read_does_no_harm(bytes in crate::gitengine::noise()) {
            let _ = parse(&String::from_utf8_lossy(&bytes));
        }
    }
}
