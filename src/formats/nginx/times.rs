//! The three ways in which nginx says when (`logs.md` §1.2).

use crate::base::time::{
    Civil, NANOS_PER_SEC, Timestamp, Zone, parse_epoch, parse_offset_secs, parse_time,
};

/// An instant, how exactly it is known, and whether a zone had to be assumed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct When {
    pub(super) t: Timestamp,
    pub(super) resolution_nanos: i64,
    pub(super) is_zone_assumed: bool,
}

/// `dd/Mon/yyyy:HH:MM:SS` with ` ±hhmm` behind it or not: how many bytes of `text` it takes.
pub(super) fn time_local_len(text: &str) -> Option<usize> {
    const CLOCK: usize = 20;
    const WITH_OFFSET: usize = 26;
    let bytes = text.as_bytes();
    let has = |at: usize, byte: u8| bytes.get(at) == Some(&byte);
    let is_clock = has(2, b'/') && has(6, b'/') && has(11, b':') && has(14, b':') && has(17, b':');
    if !is_clock || !text.is_char_boundary(CLOCK) {
        return None;
    }
    let has_offset = has(20, b' ')
        && bytes.get(21).is_some_and(|b| matches!(b, b'+' | b'-'))
        && bytes
            .get(22..WITH_OFFSET)
            .is_some_and(|d| d.iter().all(u8::is_ascii_digit));
    Some(if has_offset { WITH_OFFSET } else { CLOCK })
}

/// Reads `$time_local`.
pub(super) fn time_local(text: &str, zone: &Zone) -> Option<When> {
    let length = time_local_len(text).filter(|n| *n == text.len())?;
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i16>().ok();
    let small = |from: usize, to: usize| i8::try_from(number(from, to)?).ok();
    let civil = Civil {
        year: number(7, 11)?,
        month: month(text.get(3..6)?)?,
        day: small(0, 2)?,
        hour: small(12, 14)?,
        minute: small(15, 17)?,
        // A leap second is written as 60; the second before it is the nearest instant that there is.
        second: small(18, 20)?.min(59),
        subsec_nanos: 0,
    };
    let offset = text.get(21..length).and_then(parse_offset_secs);
    let t = match offset {
        Some(secs) => civil.at_offset(secs)?,
        None => zone.instant(&civil)?,
    };
    Some(When {
        t,
        resolution_nanos: NANOS_PER_SEC,
        is_zone_assumed: offset.is_none(),
    })
}

fn month(name: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let at = MONTHS.iter().position(|m| m.eq_ignore_ascii_case(name))?;
    i8::try_from(at + 1).ok()
}

/// Reads `$msec`, or an epoch of any unit by its magnitude.
pub(super) fn epoch(text: &str) -> Option<When> {
    let t = parse_epoch(text)?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole_digits = whole.trim_start_matches(['-', '0']).len();
    let unit_digits = match whole_digits {
        0..=11 => 0,
        12..=14 => 3,
        15..=17 => 6,
        _ => 9,
    };
    let digits = (unit_digits + fraction.len()).min(9);
    Some(When {
        t,
        resolution_nanos: 10i64.pow(9 - digits as u32),
        is_zone_assumed: false,
    })
}

/// Reads `$time_iso8601`, or a wall time without an offset in `zone`.
pub(super) fn iso(text: &str, zone: &Zone) -> Option<When> {
    let with_offset = Timestamp::parse_rfc3339(text);
    let t = with_offset.or_else(|| parse_time(text, zone).ok())?;
    let digits = text.split_once('.').map_or(0, |(_, rest)| {
        rest.bytes().take_while(u8::is_ascii_digit).count()
    });
    Some(When {
        t,
        resolution_nanos: 10i64.pow(9 - digits.min(9) as u32),
        is_zone_assumed: with_offset.is_none(),
    })
}

/// Reads any of them.
pub(super) fn any(text: &str, zone: &Zone) -> Option<When> {
    epoch(text)
        .or_else(|| time_local(text, zone))
        .or_else(|| iso(text, zone))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::NANOS_PER_MS;

    #[test]
    fn all_three_say_the_same() {
        let utc = Zone::utc();
        let msec = epoch("1796045759.538").unwrap();
        assert_eq!(msec.resolution_nanos, NANOS_PER_MS);
        assert_eq!(epoch("1796045759538").unwrap(), msec);
        let local = time_local("30/Nov/2026:22:35:59 +0900", &utc).unwrap();
        assert_eq!(local.t.nanos(), 1_796_045_759 * NANOS_PER_SEC);
        assert_eq!(iso("2026-11-30T13:35:59+00:00", &utc).unwrap().t, local.t);
        assert_eq!(any("2026-11-30T13:35:59.538Z", &utc).unwrap(), msec);
    }

    #[test]
    fn a_time_without_a_zone_takes_the_given_one() {
        let seoul = Zone::parse("+09:00").unwrap();
        let local = time_local("30/Nov/2026:22:35:59", &seoul).unwrap();
        assert_eq!(local.t.nanos(), 1_796_045_759 * NANOS_PER_SEC);
        assert!(local.is_zone_assumed);
        assert!(any("2026-11-30 22:35:59", &seoul).unwrap().is_zone_assumed);
        assert_eq!(time_local("30/Foo/2026:22:35:59 +0900", &seoul), None);
    }
}
