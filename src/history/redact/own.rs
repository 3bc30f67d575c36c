//! The user's own patterns.

use regex::Regex;

use crate::error::Error;
use crate::gitengine::Settings;

use super::{Finding, SETTING};

const KIND: &str = "own pattern";

/// Regular expressions that the user gave.
pub struct Own(Vec<Regex>);

/// Those that are set.
pub fn patterns(settings: &Settings) -> Vec<String> {
    let patterns = settings.all(SETTING).into_iter();
    let text = |pattern| String::from_utf8_lossy(pattern).into_owned();
    patterns.map(text).collect()
}

impl Own {
    /// Reads them. Those that can't be read are left out, each with an error.
    pub fn read(patterns: &[String]) -> (Self, Vec<Error>) {
        let mut errors = Vec::new();
        let mut read = Vec::new();
        for pattern in patterns {
            match Regex::new(pattern) {
                Ok(regex) => read.push(regex),
                Err(error) => errors.push(unreadable(pattern, error)),
            }
        }
        (Self(read), errors)
    }

    /// What they match.
    pub fn found(&self, text: &str) -> Vec<Finding> {
        let matches = self.0.iter().flat_map(|regex| regex.find_iter(text));
        let some = matches.filter(|found| !found.is_empty());
        some.map(|found| Finding::new(KIND, found.range()))
            .collect()
    }
}

fn unreadable(pattern: &str, error: regex::Error) -> Error {
    Error::usage(format!(
        "{SETTING} has {pattern:?}, which is no regular expression"
    ))
    .because(error)
    .hint(format!(
        "git config --unset --fixed-value {SETTING} '{}'",
        pattern.replace('\'', r"'\''")
    ))
}
