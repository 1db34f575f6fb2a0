use proptest::prelude::*;

use super::*;
use crate::base::units::ENGLISH;

const LETTER: f32 = 6.5;

fn at(text: &str) -> Timestamp {
    Timestamp::parse_rfc3339(text).unwrap()
}

fn labels(start: &str, nanos: i64, zone: &str, width: f32) -> Vec<String> {
    let zone = Zone::parse(zone).unwrap();
    let start = at(start);
    let shown = TimeRange::new(start, start.plus_nanos(nanos));
    ticks(shown, Clock::Wall(&zone), width, LETTER)
        .into_iter()
        .map(|t| t.label)
        .collect()
}

fn assert_apart(found: &[Tick], shown: TimeRange, width: f32) {
    let x =
        |t: Timestamp| t.nanos_since(shown.start) as f64 / shown.nanos() as f64 * f64::from(width);
    let half = |t: &Tick| t.label.chars().count() as f64 * f64::from(LETTER) / 2.0;
    for pair in found.windows(2) {
        let [a, b] = pair else { continue };
        assert!(a.t < b.t);
        assert!(
            x(a.t) + half(a) < x(b.t) - half(b),
            "{:?} touches {:?} in {shown:?} on {width}",
            a.label,
            b.label
        );
    }
}

proptest! {
    #[test]
    fn labels_never_collide_and_there_are_some(
        exponent in 0.0f64..17.5, start in -3_000_000_000i64..4_000_000_000, width in 300.0f32..4000.0,
        zone in prop::sample::select(vec!["UTC", "Asia/Seoul", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"]),
    ) {
        // From 1 ns to 10 years, anywhere from 1875 to 2096.
        let length = (10f64.powf(exponent) as i64).clamp(1, 10 * 366 * DAY);
        let start = Timestamp::from_nanos(start * S);
        let shown = TimeRange::new(start, start.plus_nanos(length));
        let zone = Zone::parse(zone).unwrap();
        for clock in [Clock::Wall(&zone), Clock::Since(start.plus_nanos(length / 3), &ENGLISH)] {
            let found = ticks(shown, clock, width, LETTER);
            assert_apart(&found, shown, width);
            prop_assert!(found.iter().all(|t| shown.contains(t.t)));
            if length > 1_000 && width > 600.0 {
                prop_assert!(!found.is_empty(), "{shown:?} on {width}");
            }
        }
    }

    #[test]
    fn nothing_hangs_on_what_no_clock_shows(start in any::<i64>(), length in any::<i64>(), width in any::<f32>()) {
        let start = Timestamp::from_nanos(start);
        let shown = TimeRange::new(start, start.plus_nanos(length));
        for clock in [Clock::Wall(&Zone::utc()), Clock::Since(Timestamp::from_nanos(0), &ENGLISH)] {
            prop_assert!(ticks(shown, clock, width, LETTER).len() <= MOST);
        }
    }
}

#[test]
fn ticks_stand_on_round_times() {
    assert_eq!(
        labels("2026-11-30T14:28:30Z", 4 * MIN, "UTC", 600.0),
        [
            "14:28:30", "14:29:00", "14:29:30", "14:30:00", "14:30:30", "14:31:00", "14:31:30",
            "14:32:00"
        ]
    );
    assert_eq!(
        labels("2026-11-30T14:29:09.9Z", 400 * MS, "UTC", 600.0),
        [
            ".900", ".950", "14:29:10", ".050", ".100", ".150", ".200", ".250"
        ]
    );
    assert_eq!(
        labels("2026-11-30T14:29:10.000000100Z", 100, "UTC", 420.0),
        [
            ".000000100",
            ".000000120",
            ".000000140",
            ".000000160",
            ".000000180"
        ]
    );
}

#[test]
fn the_day_is_named_where_it_changes() {
    let found = labels("2026-11-30T20:00:00Z", 8 * HOUR, "UTC", 500.0);
    assert_eq!(found[..5], ["20:00", "21:00", "22:00", "23:00", "12-01"]);
    let in_seoul = labels("2026-11-30T14:00:00Z", 4 * HOUR, "Asia/Seoul", 500.0);
    assert!(in_seoul.contains(&"12-01".to_owned()), "{in_seoul:?}");
    assert_eq!(
        labels("2026-12-30T00:00:00Z", 4 * DAY, "UTC", 260.0),
        ["12-30", "12-31", "01-01", "01-02"]
    );
    assert_eq!(
        labels("2020-01-01T00:00:00Z", 10 * 365 * DAY, "UTC", 600.0)[..3],
        ["2020", "2021", "2022"]
    );
}

#[test]
fn clocks_that_change_are_followed() {
    // In Berlin 02:00 became 03:00 on 2026-03-29, and 03:00 became 02:00 on 2026-10-25.
    let spring = labels("2026-03-28T23:00:00Z", 5 * HOUR, "Europe/Berlin", 320.0);
    assert_eq!(spring, ["03-29", "01:00", "03:00", "04:00", "05:00"]);
    let autumn = labels("2026-10-24T22:00:00Z", 5 * HOUR, "Europe/Berlin", 320.0);
    assert_eq!(autumn, ["10-25", "01:00", "02:00", "02:00", "03:00"]);
    // Midnight of the day itself is where the wall says, not 24 hours later.
    let days = labels("2026-03-28T12:00:00Z", 3 * DAY, "Europe/Berlin", 300.0);
    assert!(days.contains(&"03-30".to_owned()), "{days:?}");
    let zone = Zone::parse("Europe/Berlin").unwrap();
    let start = at("2026-03-27T00:00:00Z");
    let shown = TimeRange::new(start, start.plus_nanos(6 * DAY));
    for tick in ticks(shown, Clock::Wall(&zone), 400.0, LETTER) {
        assert_eq!(zone.civil(tick.t).clock_exact(), "00:00:00", "{tick:?}");
    }
}

#[test]
fn relative_times_read_as_people_say_them() {
    assert_eq!(offset_text(130 * S, &ENGLISH), "+2 min 10 s");
    assert_eq!(offset_text(-65 * MIN, &ENGLISH), "-1 h 5 min");
    assert_eq!(offset_text(3_250 * MS, &ENGLISH), "+3.25 s");
    assert_eq!(offset_text(0, &ENGLISH), "0");
    let korean = crate::words::Words::of(crate::words::Lang::Ko).units();
    assert_eq!(offset_text(130 * S, korean), "+2분 10초");
    assert_eq!(length_near(90 * S, 1e9, &ENGLISH), "1 min 30 s");
    assert_eq!(length_near(0, 1e9, &ENGLISH), "0 s");
    let zero = at("2026-11-30T14:29:10Z");
    let shown = TimeRange::new(zero.plus_nanos(-MIN), zero.plus_nanos(2 * MIN));
    let found: Vec<String> = ticks(shown, Clock::Since(zero, &ENGLISH), 720.0, LETTER)
        .into_iter()
        .map(|t| t.label)
        .collect();
    assert_eq!(
        found,
        ["-1 min", "-30 s", "0", "+30 s", "+1 min", "+1 min 30 s"]
    );
}
