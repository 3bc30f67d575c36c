//! Times as people and scripts read them.

use chrono::{DateTime, Datelike, Local, SecondsFormat, Utc};

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// A day that is further back than this is told by its date.
const DAYS_TOLD: i64 = 14;

/// How long ago it was: `just now`, `3 minutes ago`, `2 hours ago`, `5 days ago`, then the date.
///
/// A time just ahead is another machine's clock, and told as now.
pub fn ago(now: i64, then: i64) -> String {
    match now.saturating_sub(then) {
        passed if passed <= -MINUTE => date(then),
        passed if passed < MINUTE => "just now".to_owned(),
        passed if passed < HOUR => counted(passed / MINUTE, "minute"),
        passed if passed < DAY => counted(passed / HOUR, "hour"),
        passed if passed < DAYS_TOLD * DAY => counted(passed / DAY, "day"),
        _ => date(then),
    }
}

fn counted(count: i64, unit: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural} ago")
}

/// In UTC, for scripts: `2026-11-30T15:00:00Z`.
pub fn rfc3339(seconds: i64) -> String {
    utc(seconds).map_or_else(
        || raw(seconds),
        |time| time.to_rfc3339_opts(SecondsFormat::Secs, true),
    )
}

/// In the person's own time zone: `2026-11-30 16:00:00 +0100`.
pub fn local(seconds: i64) -> String {
    in_zone(seconds, "%Y-%m-%d %H:%M:%S %z")
}

fn date(seconds: i64) -> String {
    in_zone(seconds, "%Y-%m-%d")
}

fn in_zone(seconds: i64, format: &str) -> String {
    utc(seconds).map_or_else(
        || raw(seconds),
        |time| time.with_timezone(&Local).format(format).to_string(),
    )
}

/// The time, where it has a year of four digits, as dates are written.
fn utc(seconds: i64) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp(seconds, 0).filter(|time| (0..=9999).contains(&time.year()))
}

/// A time without a date, in git's notation.
fn raw(seconds: i64) -> String {
    format!("@{seconds}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_796_050_800; // 2026-11-30T15:00:00Z

    #[test]
    fn the_past_is_told_in_its_largest_unit() {
        let cases = [
            (0, "just now"),
            (59, "just now"),
            (60, "1 minute ago"),
            (3 * MINUTE + 59, "3 minutes ago"),
            (HOUR, "1 hour ago"),
            (DAY - 1, "23 hours ago"),
            (DAY, "1 day ago"),
            (14 * DAY - 1, "13 days ago"),
        ];
        for (passed, told) in cases {
            assert_eq!(ago(NOW, NOW - passed), told);
        }
    }

    #[test]
    fn what_is_far_away_has_a_date() {
        let is_date = |told: String| told.len() == 10 && told.starts_with("202");
        assert!(is_date(ago(NOW, NOW - 14 * DAY)));
        assert!(is_date(ago(NOW, NOW + DAY)));
        assert_eq!(ago(NOW, NOW + 59), "just now");
    }

    #[test]
    fn scripts_read_utc() {
        assert_eq!(rfc3339(NOW), "2026-11-30T15:00:00Z");
        assert_eq!(rfc3339(-1), "1969-12-31T23:59:59Z");
    }

    #[test]
    fn local_time_names_its_zone() {
        let told = local(NOW);
        let parsed = DateTime::parse_from_str(&told, "%Y-%m-%d %H:%M:%S %z").unwrap();
        assert_eq!(parsed.timestamp(), NOW);
    }

    #[test]
    fn no_time_is_too_strange() {
        for strange in [i64::MIN, -62_167_219_201, 253_402_300_800, i64::MAX] {
            assert_eq!(rfc3339(strange), format!("@{strange}"));
            assert_eq!(local(strange), format!("@{strange}"));
            assert_eq!(ago(NOW, strange), format!("@{strange}"));
        }
        assert_eq!(ago(i64::MIN, i64::MAX), format!("@{}", i64::MAX));
        for edge in [-62_167_219_200, 253_402_300_799] {
            assert!(!local(edge).is_empty());
        }
    }
}
