//! Times as a person reads and types them, in the zone of the axis.

use crate::base::time::{Timestamp, Zone, parse_time};

/// `2026-11-30 14:29:10.866`.
pub fn written(t: Timestamp, zone: &Zone) -> String {
    let civil = zone.civil(t);
    format!("{} {}", civil.date(), civil.clock_exact())
}

/// As [`written`], without the date when it is that of `day`.
pub fn written_after(t: Timestamp, zone: &Zone, day: Timestamp) -> String {
    let civil = zone.civil(t);
    if civil.date() == zone.civil(day).date() {
        civil.clock_exact()
    } else {
        written(t, zone)
    }
}

/// Reads what a person typed: a date and a clock in the zone of the axis, a clock alone on the day of `day`, or anything that carries its
/// own offset.
pub fn read(text: &str, zone: &Zone, day: Timestamp) -> Option<Timestamp> {
    let text = text.trim();
    // A bare number would be seconds since 1970, which nobody means here.
    if text.is_empty() || text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    if text.contains(':') && !text.contains('-') {
        let text = format!("{} {text}", zone.civil(day).date());
        return parse_time(&text, zone).ok();
    }
    parse_time(text, zone).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back_and_a_clock_alone_is_on_that_day() {
        let t = Timestamp::parse_rfc3339("2026-11-30T23:30:00.5Z").unwrap();
        let seoul = Zone::parse("Asia/Seoul").unwrap();
        assert_eq!(written(t, &seoul), "2026-12-01 08:30:00.500");
        assert_eq!(read(&written(t, &seoul), &seoul, t), Some(t));
        let want = Timestamp::parse_rfc3339("2026-11-30T15:05:00Z");
        assert_eq!(read("00:05", &seoul, t), want);
        assert_eq!(read("2026-11-30T15:05:00Z", &seoul, t), want);
        assert_eq!(read("2026-12-01 00:05", &seoul, t), want);
        for wrong in ["", "soon", "25:00", "12", "2026-13-01 00:00"] {
            assert_eq!(read(wrong, &seoul, t), None, "{wrong}");
        }
    }
}
