//! What a clock on the wall shows: civil fields, offset and name of an instant in a zone, and the names of all zones.

use super::{Civil, Timestamp, Zone};

impl Zone {
    /// Seconds east of UTC at an instant.
    pub fn offset_secs(&self, t: Timestamp) -> i32 {
        self.0.to_offset(instant(t)).seconds()
    }

    /// What the wall clock shows at an instant.
    pub fn civil(&self, t: Timestamp) -> Civil {
        let shown = self.0.to_datetime(instant(t));
        Civil {
            year: shown.year(),
            month: shown.month(),
            day: shown.day(),
            hour: shown.hour(),
            minute: shown.minute(),
            second: shown.second(),
            subsec_nanos: shown.subsec_nanosecond(),
        }
    }

    /// The first instant after `t` at which the offset changes; `None` when it does not change any more.
    pub fn next_change(&self, t: Timestamp) -> Option<Timestamp> {
        let change = self.0.following(instant(t)).next()?;
        i64::try_from(change.timestamp().as_nanosecond())
            .ok()
            .map(Timestamp::from_nanos)
    }

    /// Its IANA name, `UTC`, or its offset when it has no name.
    pub fn name(&self) -> String {
        self.0.iana_name().map_or_else(
            || offset_text(self.offset_secs(Timestamp::from_nanos(0))),
            str::to_owned,
        )
    }

    /// `UTC`, or the last part of the name and the offset at that instant: `Seoul +09:00`.
    pub fn short_name(&self, t: Timestamp) -> String {
        let offset = offset_text(self.offset_secs(t));
        match self.0.iana_name() {
            Some("UTC") => "UTC".to_owned(),
            Some(name) => {
                let place = name.rsplit('/').next().unwrap_or(name).replace('_', " ");
                format!("{place} {offset}")
            }
            None => offset,
        }
    }

    /// The names of all zones that are known here, in order.
    pub fn names() -> Vec<String> {
        let mut names: Vec<String> = jiff::tz::db().available().map(|n| n.to_string()).collect();
        names.sort();
        names
    }
}

impl Civil {
    /// `2026-11-30`.
    pub fn date(&self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }

    /// `14:29:10`, with `digits` digits of the fraction (0, 3, 6 or 9).
    pub fn clock(&self, digits: usize) -> String {
        let mut text = format!("{:02}:{:02}:{:02}", self.hour, self.minute, self.second);
        if digits > 0 {
            text.push('.');
            text.extend(format!("{:09}", self.subsec_nanos).chars().take(digits));
        }
        text
    }

    /// `14:29:10` with as many digits of the fraction as it needs.
    pub fn clock_exact(&self) -> String {
        let digits = match self.subsec_nanos {
            0 => 0,
            n if n % 1_000_000 == 0 => 3,
            n if n % 1_000 == 0 => 6,
            _ => 9,
        };
        self.clock(digits)
    }
}

fn instant(t: Timestamp) -> jiff::Timestamp {
    jiff::Timestamp::from_nanosecond(i128::from(t.nanos())).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

fn offset_text(secs: i32) -> String {
    let sign = if secs < 0 { '-' } else { '+' };
    let minutes = secs.unsigned_abs() / 60;
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse_rfc3339(text).unwrap()
    }

    #[test]
    fn a_wall_clock_in_summer_and_winter() {
        let zone = Zone::parse("Europe/Berlin").unwrap();
        let winter = at("2026-03-29T00:59:59.5Z");
        assert_eq!(zone.civil(winter).clock_exact(), "01:59:59.500");
        assert_eq!(zone.offset_secs(winter), 3600);
        let change = zone.next_change(winter).unwrap();
        assert_eq!(change, at("2026-03-29T01:00:00Z"));
        assert_eq!(zone.civil(change).clock(0), "03:00:00");
        assert_eq!(zone.short_name(change), "Berlin +02:00");
        assert_eq!(zone.civil(change).date(), "2026-03-29");
        assert_eq!(Zone::utc().next_change(change), None);
    }

    #[test]
    fn zones_say_their_names() {
        assert_eq!(Zone::utc().name(), "UTC");
        assert_eq!(Zone::utc().short_name(at("2026-01-01T00:00:00Z")), "UTC");
        assert_eq!(Zone::parse("-03:30").unwrap().name(), "-03:30");
        assert_eq!(Zone::parse("Asia/Seoul").unwrap().name(), "Asia/Seoul");
        let names = Zone::names();
        assert!(names.contains(&"Asia/Seoul".to_owned()));
        assert!(names.is_sorted());
    }
}
