//! The time: the only place that reads a clock.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::env;

/// The time now, in whole seconds since 1970 in UTC.
///
/// `EDIO_NOW` stands in for the clock, so that tests print the same dates each time.
#[expect(clippy::disallowed_methods, reason = "this is the room of the clock")]
pub fn now() -> i64 {
    env::now().unwrap_or_else(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0, |elapsed| elapsed.as_secs().cast_signed())
    })
}

/// The time now, in milliseconds since 1970: to tell which of two things came first.
#[expect(clippy::disallowed_methods, reason = "this is the room of the clock")]
pub fn milliseconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |elapsed| {
        u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
    })
}

/// Measures how long something takes.
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts to measure.
    #[expect(clippy::disallowed_methods, reason = "this is the room of the clock")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since the start.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
