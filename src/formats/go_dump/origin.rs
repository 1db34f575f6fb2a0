//! When a dump was taken and of which process, from its request or its file's name.

use std::sync::Arc;

use crate::base::time::{Civil, Timestamp, Zone};
use crate::formats::Hints;

/// Time and process of a dump.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Origin {
    /// When it was taken.
    pub(crate) t: Option<Timestamp>,
    /// `recorded`, `file_name` or empty.
    pub(crate) t_source: &'static str,
    /// Whose it is, or empty.
    pub(crate) process: Arc<str>,
}

/// The request that the dump answers says most; then the file's name.
pub(crate) fn of(hints: &Hints<'_>) -> Origin {
    let stamp = stamp_in(hints.name, hints.zone);
    let asked = hints.request.and_then(|r| r.at);
    let (t, t_source) = match (asked, &stamp) {
        (Some(at), _) => (Some(at), "recorded"),
        (None, Some((_, at))) => (Some(*at), "file_name"),
        (None, None) => (None, ""),
    };
    let target = hints.request.and_then(|r| r.target.as_deref());
    let process = match target.filter(|t| !t.is_empty()) {
        Some(target) => Arc::from(target),
        None => Arc::from(process_in(hints.name, stamp.map(|(range, _)| range)).as_str()),
    };
    Origin {
        t,
        t_source,
        process,
    }
}

/// Whether the request or the name of a file holds this word (`mutex`, `block`): profiles of both kinds look alike.
pub(crate) fn is_called(hints: &Hints<'_>, word: &str) -> bool {
    let path = hints.request.map_or("", |r| r.path.as_str());
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    let holds = |text: &str| {
        text.split(|c: char| !c.is_ascii_alphanumeric())
            .any(|part| part.eq_ignore_ascii_case(word))
    };
    holds(path) || holds(hints.name)
}

/// The first stamp in a name: `20261130T142910Z`, `2026-11-30T14-29-10`, with `:`, `_` or `.` between the parts of the
/// clock too. Without a `Z` it is a wall time in `zone`.
fn stamp_in(name: &str, zone: &Zone) -> Option<(std::ops::Range<usize>, Timestamp)> {
    let bytes = name.as_bytes();
    for start in 0..bytes.len() {
        let follows_digit = start > 0
            && bytes
                .get(start - 1)
                .is_some_and(|b: &u8| b.is_ascii_digit());
        if follows_digit {
            continue;
        }
        let mut scan = Scan { bytes, at: start };
        if let Some(civil) = scan.civil() {
            let is_utc = bytes.get(scan.at) == Some(&b'Z');
            let end = scan.at + usize::from(is_utc);
            let t = if is_utc {
                Zone::utc().instant(&civil)
            } else {
                zone.instant(&civil)
            };
            return t.map(|t| (start..end, t));
        }
    }
    None
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn civil(&mut self) -> Option<Civil> {
        let year = self.digits(4)?;
        let has_dashes = self.one_of(b"-");
        let month = self.digits(2)?;
        if has_dashes && !self.one_of(b"-") {
            return None;
        }
        let day = self.digits(2)?;
        if !self.one_of(b"T_-") {
            return None;
        }
        let hour = self.digits(2)?;
        self.one_of(b":-_.");
        let minute = self.digits(2)?;
        self.one_of(b":-_.");
        let second = self.digits(2)?;
        if self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            return None;
        }
        Some(Civil {
            year,
            month: i8::try_from(month).ok()?,
            day: i8::try_from(day).ok()?,
            hour: i8::try_from(hour).ok()?,
            minute: i8::try_from(minute).ok()?,
            second: i8::try_from(second).ok()?,
            subsec_nanos: 0,
        })
    }

    fn digits(&mut self, count: usize) -> Option<i16> {
        let text = self.bytes.get(self.at..self.at + count)?;
        let mut value = 0i16;
        for byte in text {
            value = value
                .checked_mul(10)?
                .checked_add(i16::from(byte.is_ascii_digit().then(|| byte - b'0')?))?;
        }
        self.at += count;
        Some(value)
    }

    fn one_of(&mut self, any: &[u8]) -> bool {
        let is_there = self.bytes.get(self.at).is_some_and(|b| any.contains(b));
        self.at += usize::from(is_there);
        is_there
    }
}

/// Words of file names that say what a dump is, never whose.
const KINDS: [&str; 26] = [
    "goroutine",
    "goroutines",
    "heap",
    "allocs",
    "block",
    "mutex",
    "cpu",
    "profile",
    "threadcreate",
    "pprof",
    "stack",
    "stacks",
    "dump",
    "dumps",
    "sigquit",
    "stderr",
    "stdout",
    "panic",
    "txt",
    "text",
    "pb",
    "gz",
    "log",
    "out",
    "prof",
    "delta",
];

/// Words that say at which moment of a story it was taken.
const PHASES: [&str; 20] = [
    "before", "during", "after", "start", "end", "begin", "baseline", "normal", "good", "bad",
    "peak", "load", "blocked", "stuck", "now", "then", "at", "first", "last", "nochange",
];

/// What is left of a file's name without time, kind, phase and extensions: `web-0.20261130T142910Z.goroutine.debug2`
/// is of `web-0`, `during-1.20261130T142910Z.goroutine` of nobody that it names.
fn process_in(name: &str, stamp: Option<std::ops::Range<usize>>) -> String {
    let without_stamp = match stamp {
        Some(range) => {
            let before = name.get(..range.start).unwrap_or("");
            let after = name.get(range.end..).unwrap_or("");
            format!("{before}.{after}")
        }
        None => name.to_owned(),
    };
    let mut kept: Vec<String> = Vec::new();
    for token in without_stamp.split('.') {
        let parts: Vec<&str> = token
            .split(['-', '_'])
            .filter(|part| !part.is_empty() && !is_kind(part))
            .collect();
        if parts.iter().any(|part| !is_phase(part)) {
            kept.push(parts.join("-"));
        }
    }
    kept.join(".")
}

fn is_kind(part: &str) -> bool {
    let lower = part.to_ascii_lowercase();
    KINDS.contains(&lower.as_str())
        || lower
            .strip_prefix("debug")
            .is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
}

/// A phase word, a number (`2`), a step (`t1`) or a length (`5s`, `10ms`).
fn is_phase(part: &str) -> bool {
    let lower = part.to_ascii_lowercase();
    let digits = lower.trim_matches(|c: char| c.is_ascii_digit());
    PHASES.contains(&digits)
        || digits.is_empty()
        || (digits != lower && matches!(digits, "t" | "s" | "ms" | "m" | "h"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::RequestHint;

    fn named(name: &str) -> Origin {
        let zone = Zone::utc();
        of(&Hints {
            name,
            request: None,
            zone: &zone,
            log_formats: &[],
        })
    }

    #[test]
    fn reads_stamps_in_file_names() {
        let want = Timestamp::parse_rfc3339("2026-11-30T14:29:10Z");
        for name in [
            "before.20261130T142910Z.goroutine.debug1.txt",
            "web-2026-11-30T14-29-10.txt",
            "dump_2026-11-30T14:29:10.txt",
        ] {
            assert_eq!(named(name).t, want, "{name}");
            assert_eq!(named(name).t_source, "file_name");
        }
        for name in [
            "t1.goroutine.debug1.txt",
            "20261399T142910Z.txt",
            "123456789012345.txt",
            "",
        ] {
            assert_eq!(named(name).t, None, "{name}");
        }
    }

    #[test]
    fn a_name_without_zone_is_in_the_given_one() {
        let zone = Zone::parse("+09:00").unwrap();
        let hints = Hints {
            name: "20261130T232910.txt",
            request: None,
            zone: &zone,
            log_formats: &[],
        };
        assert_eq!(
            of(&hints).t,
            Timestamp::parse_rfc3339("2026-11-30T14:29:10Z")
        );
    }

    #[test]
    fn finds_the_process_or_nothing() {
        for (name, process) in [
            ("during-1.20261130T143136Z.goroutine.debug2.txt", ""),
            ("t1-blocked.goroutine.debug1.txt", ""),
            ("goroutine.pb", ""),
            ("web-0.20261130T142910Z.goroutine.debug2.txt", "web-0"),
            (
                "web-6d5c9f7b8-hx2wq_goroutine_2026-11-30T14-29-10.txt",
                "web-6d5c9f7b8-hx2wq",
            ),
        ] {
            assert_eq!(named(name).process.as_ref(), process, "{name}");
        }
    }

    #[test]
    fn the_request_says_more_than_the_name() {
        let zone = Zone::utc();
        let at = Timestamp::parse_rfc3339("2026-11-30T14:31:36.066Z");
        let request = RequestHint {
            path: "/debug/pprof/mutex?debug=1".to_owned(),
            at,
            target: Some("gw-1:10254".to_owned()),
            ..RequestHint::default()
        };
        let hints = Hints {
            name: "web.20261130T143136Z.txt",
            request: Some(&request),
            zone: &zone,
            log_formats: &[],
        };
        let origin = of(&hints);
        assert_eq!((origin.t, origin.t_source), (at, "recorded"));
        assert_eq!(origin.process.as_ref(), "gw-1:10254");
        assert!(is_called(&hints, "mutex") && !is_called(&hints, "block"));
    }
}
