//! A time in the name of a file, for formats whose text has none.

use crate::base::time::{Civil, Timestamp, Zone, parse_epoch};

/// The first time that a file's name holds: `20261130T142910Z`, `2026-11-30T14-29-10`, `20261130-142910`, or an epoch
/// of 10 or 13 digits. Without a `Z` behind it, a civil time is in `zone`.
pub(super) fn of_name(name: &str, zone: &Zone) -> Option<Timestamp> {
    let bytes = name.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let run = bytes
            .get(at..)
            .unwrap_or(&[])
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count();
        if run == 0 {
            at += 1;
            continue;
        }
        let rest = name.get(at..).unwrap_or("");
        let found = match run {
            4 | 8 => civil(rest, zone),
            10 | 13 => epoch(rest.get(..run).unwrap_or("")),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
        at += run;
    }
    None
}

/// An epoch of the years 2001 to 2100.
fn epoch(digits: &str) -> Option<Timestamp> {
    let t = parse_epoch(digits)?;
    (1_000_000_000..4_102_444_800)
        .contains(&(t.millis() / 1_000))
        .then_some(t)
}

/// Fourteen digits in groups, with at most one mark between them.
fn civil(text: &str, zone: &Zone) -> Option<Timestamp> {
    let mut rest = text;
    let mut part = |len: usize, marks: &[char]| -> Option<i32> {
        rest = rest.strip_prefix(marks).unwrap_or(rest);
        let (digits, after) = rest.split_at_checked(len)?;
        rest = after;
        digits
            .bytes()
            .all(|b| b.is_ascii_digit())
            .then(|| digits.parse().ok())?
    };
    let year = part(4, &[])?;
    let month = part(2, &['-', '_'])?;
    let day = part(2, &['-', '_'])?;
    let hour = part(2, &['T', 't', '-', '_', ' '])?;
    let minute = part(2, &[':', '-', '_', '.'])?;
    let second = part(2, &[':', '-', '_', '.'])?;
    let small = |value: i32| i8::try_from(value).ok();
    let civil = Civil {
        year: i16::try_from(year).ok()?,
        month: small(month)?,
        day: small(day)?,
        hour: small(hour)?,
        minute: small(minute)?,
        second: small(second)?,
        subsec_nanos: 0,
    };
    if rest.starts_with(['Z', 'z']) {
        Zone::utc().instant(&civil)
    } else {
        zone.instant(&civil)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_usual_ways_of_stamping_a_file() {
        let want = Timestamp::parse_rfc3339("2026-11-30T14:29:10Z");
        for name in [
            "metrics-20261130T142910Z.txt",
            "2026-11-30T14:29:10Z.prom",
            "pod-7_2026-11-30_14-29-10.txt",
            "m.1796048950.txt",
            "m-1796048950000.txt",
        ] {
            assert_eq!(of_name(name, &Zone::utc()), want, "{name}");
        }
        for name in ["metrics.txt", "m-12345678.txt", "20261399T000000Z", "9090"] {
            assert_eq!(of_name(name, &Zone::utc()), None, "{name}");
        }
        let seoul = Zone::parse("+09:00").unwrap();
        assert_eq!(of_name("20261130-232910", &seoul), want);
    }
}
