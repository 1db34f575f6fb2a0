//! Instants, half-open ranges, and the ways people and programs write them.
//!
//! Inside Tailscope time is nanoseconds since the Unix epoch in an `i64` (years 1678 to 2262). Civil time and zones
//! exist only at the edges, through `jiff`.

use std::fmt;
use std::str::FromStr as _;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

mod zone;

/// Nanoseconds in one second.
pub const NANOS_PER_SEC: i64 = 1_000_000_000;
/// Nanoseconds in one millisecond.
pub const NANOS_PER_MS: i64 = 1_000_000;

/// An instant: nanoseconds since the Unix epoch, UTC.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The earliest instant that can be held.
    pub const MIN: Self = Self(i64::MIN);
    /// The latest instant that can be held.
    pub const MAX: Self = Self(i64::MAX);

    /// From nanoseconds since the epoch.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// From milliseconds since the epoch; `None` when it does not fit.
    pub fn from_millis(millis: i64) -> Option<Self> {
        millis.checked_mul(NANOS_PER_MS).map(Self)
    }

    /// From seconds since the epoch with a fraction, rounded to the microsecond (an `f64` of today's epoch holds
    /// about 0.24 µs); `None` when it is not finite or does not fit.
    pub fn from_secs_f64(secs: f64) -> Option<Self> {
        let micros = (secs * 1e6).round();
        (micros.is_finite() && micros.abs() < 9.2e15).then(|| Self(micros as i64 * 1_000))
    }

    /// Nanoseconds since the epoch.
    pub const fn nanos(self) -> i64 {
        self.0
    }

    /// Milliseconds since the epoch, rounded towards the past.
    pub const fn millis(self) -> i64 {
        self.0.div_euclid(NANOS_PER_MS)
    }

    /// Seconds since the epoch. For statistics and plots, not for keeping.
    pub fn secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// This instant moved by `nanos`, stopping at the ends of what can be held.
    #[must_use]
    pub const fn plus_nanos(self, nanos: i64) -> Self {
        Self(self.0.saturating_add(nanos))
    }

    /// Nanoseconds from `earlier` to this instant (negative when `earlier` is later), stopping at the ends.
    pub const fn nanos_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Seconds from `earlier` to this instant.
    pub fn secs_since(self, earlier: Self) -> f64 {
        self.nanos_since(earlier) as f64 / 1e9
    }

    /// RFC 3339 in UTC with `Z` and as many digits as the fraction needs: the form of every report.
    pub fn to_rfc3339(self) -> String {
        jiff::Timestamp::from_nanosecond(i128::from(self.0))
            .map_or_else(|_| format!("{}ns", self.0), |t| t.to_string())
    }

    /// `HH:MM:SS` with milliseconds when there are any, in UTC: the short form of text reports.
    pub fn to_clock(self) -> String {
        let text = self.to_rfc3339();
        let clock = text
            .split_once('T')
            .map_or(text.as_str(), |(_, clock)| clock)
            .trim_end_matches('Z');
        match clock.split_once('.') {
            Some((whole, fraction)) => {
                let millis: String = fraction.chars().chain("000".chars()).take(3).collect();
                format!("{whole}.{millis}")
            }
            None => clock.to_owned(),
        }
    }

    /// Reads RFC 3339 with an offset (`2026-11-30T14:29:10.866Z`, also with a space for `T` and `+0900`).
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        let parsed = jiff::Timestamp::from_str(text.trim()).ok()?;
        i64::try_from(parsed.as_nanosecond()).ok().map(Self)
    }

    /// Reads the date of an HTTP header (`Sun, 06 Nov 1994 08:49:37 GMT`, RFC 9110 §5.6.7).
    pub fn parse_http_date(text: &str) -> Option<Self> {
        let parsed = jiff::fmt::rfc2822::parse(text.trim()).ok()?;
        i64::try_from(parsed.timestamp().as_nanosecond())
            .ok()
            .map(Self)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_rfc3339())
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_rfc3339())
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse_rfc3339(&text)
            .ok_or_else(|| serde::de::Error::custom(format!("not an RFC 3339 time: {text}")))
    }
}

/// A half-open range of time: `start` belongs to it, `end` does not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct TimeRange {
    /// The first instant inside.
    pub start: Timestamp,
    /// The first instant after it.
    pub end: Timestamp,
}

impl TimeRange {
    /// A range; an `end` before `start` gives an empty one at `start`.
    pub fn new(start: Timestamp, end: Timestamp) -> Self {
        Self {
            start,
            end: end.max(start),
        }
    }

    /// Everything.
    pub const ALL: Self = Self {
        start: Timestamp::MIN,
        end: Timestamp::MAX,
    };

    /// Whether `t` lies inside.
    pub fn contains(&self, t: Timestamp) -> bool {
        self.start <= t && t < self.end
    }

    /// Whether the two share an instant.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// The smallest range that holds both.
    #[must_use]
    pub fn hull(&self, other: &Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// What both hold; empty when they do not touch.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self::new(self.start.max(other.start), self.end.min(other.end))
    }

    /// Length in nanoseconds.
    pub const fn nanos(&self) -> i64 {
        self.end.nanos_since(self.start)
    }

    /// Length in seconds.
    pub fn secs(&self) -> f64 {
        self.nanos() as f64 / 1e9
    }
}

/// A zone for civil times that carry none.
#[derive(Clone, Debug)]
pub struct Zone(jiff::tz::TimeZone);

impl Default for Zone {
    fn default() -> Self {
        Self(jiff::tz::TimeZone::UTC)
    }
}

impl Zone {
    /// UTC.
    pub fn utc() -> Self {
        Self::default()
    }

    /// By IANA name (`Asia/Seoul`), `UTC`, `local`, or a fixed offset such as `+09:00`.
    pub fn parse(text: &str) -> Result<Self, TimeError> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("utc") || text == "Z" {
            return Ok(Self::utc());
        }
        if text.eq_ignore_ascii_case("local") {
            return Ok(Self(jiff::tz::TimeZone::system()));
        }
        if let Some(offset) = fixed_offset(text) {
            return Ok(Self(jiff::tz::TimeZone::fixed(offset)));
        }
        jiff::tz::TimeZone::get(text)
            .map(Self)
            .map_err(|why| TimeError::Zone(text.to_owned(), why.to_string()))
    }

    /// The instant of a wall time in this zone (the earlier one where a clock change makes it ambiguous).
    pub fn instant(&self, civil: &Civil) -> Option<Timestamp> {
        let date_time = jiff::civil::DateTime::new(
            civil.year,
            civil.month,
            civil.day,
            civil.hour,
            civil.minute,
            civil.second,
            civil.subsec_nanos,
        )
        .ok()?;
        let zoned = date_time.to_zoned_datetime(self.0.clone()).ok()?;
        i64::try_from(zoned.timestamp().as_nanosecond())
            .ok()
            .map(Timestamp)
    }
}

/// A wall time without a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Civil {
    /// Year, four digits.
    pub year: i16,
    /// Month, 1 to 12.
    pub month: i8,
    /// Day of the month, 1 to 31.
    pub day: i8,
    /// Hour, 0 to 23.
    pub hour: i8,
    /// Minute, 0 to 59.
    pub minute: i8,
    /// Second, 0 to 59.
    pub second: i8,
    /// Fraction of the second in nanoseconds.
    pub subsec_nanos: i32,
}

impl Civil {
    /// The instant of this wall time at a fixed offset from UTC.
    pub fn at_offset(&self, offset_secs: i32) -> Option<Timestamp> {
        Zone::utc()
            .instant(self)
            .map(|t| t.plus_nanos(-i64::from(offset_secs) * NANOS_PER_SEC))
    }
}

fn fixed_offset(text: &str) -> Option<jiff::tz::Offset> {
    let secs = parse_offset_secs(text)?;
    jiff::tz::Offset::from_seconds(secs).ok()
}

/// `+09:00`, `-0330`, `+09` as seconds east of UTC.
pub fn parse_offset_secs(text: &str) -> Option<i32> {
    let (sign, rest) = match text.as_bytes().first()? {
        b'+' => (1, text.get(1..)?),
        b'-' => (-1, text.get(1..)?),
        _ => return None,
    };
    let digits: String = rest.chars().filter(|c| *c != ':').collect();
    if !digits.bytes().all(|b| b.is_ascii_digit()) || !matches!(digits.len(), 2 | 4 | 6) {
        return None;
    }
    let part = |at: usize| {
        digits
            .get(at..at + 2)
            .and_then(|s| s.parse::<i32>().ok())
            .unwrap_or(0)
    };
    Some(sign * (part(0) * 3600 + part(2) * 60 + part(4)))
}

/// Why a time was not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimeError {
    /// Nothing that reads as a time.
    #[error(
        "not a time: expected RFC 3339 with an offset, an epoch in s, ms, µs or ns, `now-2h`, or a wall time with --tz; got {0:?}"
    )]
    Unreadable(String),
    /// A zone that nobody knows.
    #[error(
        "unknown time zone: expected an IANA name such as Asia/Seoul, UTC, local or +09:00; got {0:?} ({1})"
    )]
    Zone(String, String),
}

/// Reads an epoch number by its magnitude: up to 11 digits are seconds (a fraction is kept), 12–14 milliseconds,
/// 15–17 microseconds, more nanoseconds. The bounds hold for every year from 1973 to 2262.
pub fn parse_epoch(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty()
        || !whole.bytes().all(|b| b.is_ascii_digit())
        || !fraction.bytes().all(|b| b.is_ascii_digit())
    {
        return None;
    }
    let scale: i128 = match whole.trim_start_matches('0').len() {
        0..=11 => 1_000_000_000,
        12..=14 => 1_000_000,
        15..=17 => 1_000,
        _ => 1,
    };
    let mut nanos = whole.parse::<i128>().ok()?.checked_mul(scale)?;
    let mut unit = scale;
    for digit in fraction.bytes() {
        unit /= 10;
        nanos += i128::from(digit - b'0') * unit;
    }
    let nanos = if text.starts_with('-') { -nanos } else { nanos };
    i64::try_from(nanos).ok().map(Timestamp)
}

/// Reads a time as people write it on the command line and in event files.
///
/// RFC 3339 with an offset, an epoch number, or a wall time (`2026-11-30 14:29[:10[.866]]`, `T` or a space between) taken
/// in `zone`.
pub fn parse_time(text: &str, zone: &Zone) -> Result<Timestamp, TimeError> {
    let text = text.trim();
    if let Some(t) = parse_epoch(text).or_else(|| Timestamp::parse_rfc3339(text)) {
        return Ok(t);
    }
    if let Ok(date_time) = jiff::civil::DateTime::from_str(text)
        && let Ok(zoned) = date_time.to_zoned_datetime(zone.0.clone())
        && let Ok(nanos) = i64::try_from(zoned.timestamp().as_nanosecond())
    {
        return Ok(Timestamp(nanos));
    }
    Err(TimeError::Unreadable(text.to_owned()))
}

/// As [`parse_time`], and `now`, `now-2h`, `now+5m` with units `ns`, `us`, `ms`, `s`, `m`, `h`, `d`, `w`.
pub fn parse_time_or_now(text: &str, zone: &Zone, now: Timestamp) -> Result<Timestamp, TimeError> {
    let Some(rest) = text.trim().strip_prefix("now") else {
        return parse_time(text, zone);
    };
    let unreadable = || TimeError::Unreadable(text.to_owned());
    if rest.is_empty() {
        return Ok(now);
    }
    let (sign, span) = match rest.split_at_checked(1) {
        Some(("-", span)) => (-1, span),
        Some(("+", span)) => (1, span),
        _ => return Err(unreadable()),
    };
    let nanos = parse_duration_nanos(span).ok_or_else(unreadable)?;
    Ok(now.plus_nanos(sign * nanos))
}

/// A duration as Prometheus and people write it (`5s`, `1m30s`, `500ms`, `2h`, `1d`), in nanoseconds.
pub fn parse_duration_nanos(text: &str) -> Option<i64> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
    let mut total: i64 = 0;
    while !rest.is_empty() {
        let digits = rest
            .bytes()
            .take_while(|b| b.is_ascii_digit() || *b == b'.')
            .count();
        let (number, after) = rest.split_at_checked(digits)?;
        let letters = after
            .chars()
            .take_while(|c| c.is_alphabetic())
            .map(char::len_utf8)
            .sum();
        let (unit, next) = after.split_at_checked(letters)?;
        let nanos = match unit {
            "ns" => 1.0,
            "us" | "µs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "m" => 60e9,
            "h" => 3600e9,
            "d" => 86_400e9,
            "w" => 604_800e9,
            "y" => 31_536_000e9,
            _ => return None,
        };
        total = total.checked_add((number.parse::<f64>().ok()? * nanos) as i64)?;
        rest = next;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_way_of_writing_a_time() {
        let want = Timestamp::from_nanos(1_796_048_914_123_000_000);
        for text in [
            "1796048914.123",
            "1796048914123",
            "1796048914123000",
            "1796048914123000000",
        ] {
            assert_eq!(parse_time(text, &Zone::utc()).unwrap(), want, "{text}");
        }
        assert_eq!(parse_time(&want.to_rfc3339(), &Zone::utc()).unwrap(), want);
        let seoul = Zone::parse("+09:00").unwrap();
        assert_eq!(
            parse_time("2026-11-30 23:28:34.123", &seoul).unwrap(),
            parse_time("2026-11-30T14:28:34.123Z", &Zone::utc()).unwrap()
        );
        assert!(parse_time("yesterday", &Zone::utc()).is_err());
        let now = Timestamp::from_nanos(10 * 3600 * NANOS_PER_SEC);
        assert_eq!(
            parse_time_or_now("now-2h", &Zone::utc(), now)
                .unwrap()
                .nanos(),
            8 * 3600 * NANOS_PER_SEC
        );
    }

    #[test]
    fn prints_utc_with_the_digits_that_are_needed() {
        assert_eq!(
            Timestamp::from_nanos(1_500_000_000).to_rfc3339(),
            "1970-01-01T00:00:01.5Z"
        );
        assert_eq!(
            Timestamp::from_nanos(1_500_000_000).to_clock(),
            "00:00:01.500"
        );
        assert_eq!(Timestamp::from_nanos(2_000_000_000).to_clock(), "00:00:02");
    }

    #[test]
    fn durations_compose() {
        assert_eq!(parse_duration_nanos("1m30s"), Some(90 * NANOS_PER_SEC));
        assert_eq!(parse_duration_nanos("500ms"), Some(500 * NANOS_PER_MS));
        assert_eq!(parse_duration_nanos("5 parsecs"), None);
    }
}
