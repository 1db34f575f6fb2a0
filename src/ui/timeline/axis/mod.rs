//! The time axis as plain data: where ticks stand and what they say, from nanoseconds to decades, in any zone.

use crate::base::text::columns;
use crate::base::time::{Civil, TimeRange, Timestamp, Zone};
use crate::base::units::Names;

#[cfg(test)]
mod tests;

const US: i64 = 1_000;
const MS: i64 = 1_000 * US;
const S: i64 = 1_000 * MS;
const MIN: i64 = 60 * S;
const HOUR: i64 = 60 * MIN;
const DAY: i64 = 24 * HOUR;

/// Steps that divide a day, in nanoseconds.
const STEPS: [i64; 43] = [
    1,
    2,
    5,
    10,
    20,
    50,
    100,
    200,
    500,
    US,
    2 * US,
    5 * US,
    10 * US,
    20 * US,
    50 * US,
    100 * US,
    200 * US,
    500 * US,
    MS,
    2 * MS,
    5 * MS,
    10 * MS,
    20 * MS,
    50 * MS,
    100 * MS,
    200 * MS,
    500 * MS,
    S,
    2 * S,
    5 * S,
    10 * S,
    15 * S,
    30 * S,
    MIN,
    2 * MIN,
    5 * MIN,
    10 * MIN,
    15 * MIN,
    30 * MIN,
    HOUR,
    2 * HOUR,
    6 * HOUR,
    12 * HOUR,
];

/// More ticks than any screen has room for; nothing loops longer.
const MOST: usize = 400;

/// Points between two labels, at least.
const AIR: f32 = 16.0;

/// Where zero is, and how a tick is written.
#[derive(Debug, Clone, Copy)]
pub enum Clock<'a> {
    /// On the wall of a zone.
    Wall(&'a Zone),
    /// Since an instant, with the names of the units.
    Since(Timestamp, &'a Names),
}

/// One tick.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tick {
    /// When.
    pub t: Timestamp,
    /// What it says.
    pub label: String,
    /// Whether the day changes here (or zero is here).
    pub is_major: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Nanos(i64),
    Days(i64),
    Months(i64),
    Years(i64),
}

impl Step {
    /// About how long, for choosing.
    const fn nanos(self) -> i64 {
        match self {
            Self::Nanos(n) => n,
            Self::Days(n) => n.saturating_mul(DAY),
            Self::Months(n) => n.saturating_mul(30 * DAY),
            Self::Years(n) => n.saturating_mul(365 * DAY),
        }
    }

    /// Letters of the widest label at this step.
    const fn letters(self) -> usize {
        match self {
            Self::Nanos(n) if n >= MIN => 5,
            Self::Nanos(n) if n >= MS => 8,
            Self::Nanos(n) if n >= US => 8,
            Self::Nanos(_) => 10,
            Self::Days(_) => 5,
            Self::Months(_) => 7,
            Self::Years(_) => 4,
        }
    }

    fn all() -> impl Iterator<Item = Self> {
        STEPS
            .into_iter()
            .map(Self::Nanos)
            .chain([1, 2, 7, 14].map(Self::Days))
            .chain([1, 3, 6].map(Self::Months))
            .chain([1, 2, 5, 10, 20, 50, 100, 200].map(Self::Years))
    }
}

/// The ticks of `shown` on a strip of `width` points whose letters are `letter` points wide; their labels do not touch when
/// each is centred on its tick.
pub fn ticks(shown: TimeRange, clock: Clock<'_>, width: f32, letter: f32) -> Vec<Tick> {
    if shown.nanos() <= 0 || !width.is_finite() || width < 1.0 || letter <= 0.0 {
        return Vec::new();
    }
    let found = match clock {
        Clock::Wall(zone) => wall(shown, zone, width, letter),
        Clock::Since(zero, units) => since(shown, (zero, units), width, letter),
    };
    apart(found, shown, width, letter)
}

/// Leaves out what would touch the label before it; a major tick wins over the plain one before it.
fn apart(found: Vec<Tick>, shown: TimeRange, width: f32, letter: f32) -> Vec<Tick> {
    let x =
        |t: Timestamp| (t.nanos_since(shown.start) as f64 / shown.nanos() as f64) as f32 * width;
    let half = |tick: &Tick| columns(&tick.label) as f32 * letter / 2.0;
    let mut kept: Vec<Tick> = Vec::with_capacity(found.len());
    for tick in found {
        let left = x(tick.t) - half(&tick);
        let is_free = |last: &Tick| x(last.t) + half(last) + AIR / 2.0 <= left;
        while kept
            .last()
            .is_some_and(|last| !is_free(last) && tick.is_major && !last.is_major)
        {
            kept.pop();
        }
        if kept.last().is_none_or(is_free) {
            kept.push(tick);
        }
    }
    kept
}

fn wall(shown: TimeRange, zone: &Zone, width: f32, letter: f32) -> Vec<Tick> {
    let per_point = shown.nanos() as f64 / f64::from(width);
    let fits = |step: &Step| {
        let needed = step.letters() as f32 * letter + AIR;
        step.nanos() as f64 / per_point >= f64::from(needed)
    };
    let step = Step::all().find(fits).unwrap_or(Step::Years(500));
    let times = match step {
        Step::Nanos(n) => within_days(shown, zone, n),
        Step::Days(n) => days(shown, zone, n),
        Step::Months(n) => months(shown, zone, n),
        Step::Years(n) => months(shown, zone, n.saturating_mul(12)),
    };
    let mut date = shown
        .start
        .nanos()
        .checked_sub(1)
        .map(|n| day_of(zone.civil(Timestamp::from_nanos(n))));
    times
        .into_iter()
        .take(MOST)
        .map(|t| {
            let civil = zone.civil(t);
            let is_new_day = date.replace(day_of(civil)) != Some(day_of(civil));
            let (label, is_major) = label(step, &civil, is_new_day);
            Tick { t, label, is_major }
        })
        .collect()
}

const fn day_of(civil: Civil) -> (i16, i8, i8) {
    (civil.year, civil.month, civil.day)
}

fn label(step: Step, civil: &Civil, is_new_day: bool) -> (String, bool) {
    let day = || format!("{:02}-{:02}", civil.month, civil.day);
    match step {
        Step::Years(_) => (format!("{:04}", civil.year), false),
        Step::Months(_) => (
            format!("{:04}-{:02}", civil.year, civil.month),
            civil.month == 1,
        ),
        Step::Days(_) => (day(), civil.day == 1),
        Step::Nanos(n) => {
            let is_midnight =
                (civil.hour, civil.minute, civil.second) == (0, 0, 0) && civil.subsec_nanos == 0;
            if is_new_day && is_midnight {
                return (day(), true);
            }
            let text = if n >= MIN {
                format!("{:02}:{:02}", civil.hour, civil.minute)
            } else if civil.subsec_nanos == 0 {
                civil.clock(0)
            } else {
                let digits = if n >= MS {
                    3
                } else if n >= US {
                    6
                } else {
                    9
                };
                let all = format!("{:09}", civil.subsec_nanos);
                format!(".{}", all.chars().take(digits).collect::<String>())
            };
            if is_new_day {
                (format!("{} {text}", day()), true)
            } else {
                (text, false)
            }
        }
    }
}

/// Every multiple of `step` on the wall, piece by piece between changes of the offset.
fn within_days(shown: TimeRange, zone: &Zone, step: i64) -> Vec<Timestamp> {
    let mut found = Vec::new();
    let mut from = shown.start;
    while from < shown.end && found.len() < MOST {
        let until = zone
            .next_change(from)
            .map_or(shown.end, |change| change.min(shown.end))
            .max(from.plus_nanos(1));
        let offset = i64::from(zone.offset_secs(from)) * S;
        let local = from.nanos().saturating_add(offset);
        let past = local.rem_euclid(step);
        let mut t = if past == 0 {
            from
        } else {
            from.plus_nanos(step - past)
        };
        while t < until && found.len() < MOST {
            found.push(t);
            t = t.plus_nanos(step);
            if t == Timestamp::MAX {
                break;
            }
        }
        from = until;
    }
    found
}

/// Midnights of every `n`th day, counted from Monday, 1970-01-05.
fn days(shown: TimeRange, zone: &Zone, n: i64) -> Vec<Timestamp> {
    let offset = i64::from(zone.offset_secs(shown.start)) * S;
    let first = shown.start.nanos().saturating_add(offset).div_euclid(DAY);
    let mut day = first - (first - 4).rem_euclid(n);
    let mut found = Vec::new();
    while found.len() < MOST {
        let Some(nanos) = day.checked_mul(DAY) else {
            break;
        };
        let midnight = Zone::utc().civil(Timestamp::from_nanos(nanos));
        match zone.instant(&midnight) {
            Some(t) if t >= shown.end => break,
            Some(t) if t >= shown.start => found.push(t),
            Some(_) | None => {}
        }
        day += n;
    }
    found
}

/// Begins of every `n`th month, counted from January of the year 0.
fn months(shown: TimeRange, zone: &Zone, n: i64) -> Vec<Timestamp> {
    let start = zone.civil(shown.start);
    let first = i64::from(start.year) * 12 + i64::from(start.month) - 1;
    let mut month = first - first.rem_euclid(n);
    let mut found = Vec::new();
    while found.len() < MOST {
        let Ok(year) = i16::try_from(month.div_euclid(12)) else {
            break;
        };
        let civil = Civil {
            year,
            month: month.rem_euclid(12) as i8 + 1,
            day: 1,
            hour: 0,
            minute: 0,
            second: 0,
            subsec_nanos: 0,
        };
        month += n;
        match zone.instant(&civil) {
            Some(t) if t >= shown.end => break,
            Some(t) if t >= shown.start => found.push(t),
            // Before or after what an instant can be.
            None if year > 2200 => break,
            Some(_) | None => {}
        }
    }
    found
}

fn since(
    shown: TimeRange,
    (zero, units): (Timestamp, &Names),
    width: f32,
    letter: f32,
) -> Vec<Tick> {
    let per_point = shown.nanos() as f64 / f64::from(width);
    let steps = STEPS.into_iter().chain(
        [
            1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000,
        ]
        .map(|n| n * DAY),
    );
    let fits = |step: &i64| {
        // The widest label is at an end, or one step beside it, where the smallest unit is not zero.
        let letters = [shown.start, shown.end]
            .into_iter()
            .flat_map(|t| {
                let offset = t.nanos_since(zero);
                let on_grid = offset.saturating_sub(offset.rem_euclid(*step));
                [
                    on_grid,
                    on_grid.saturating_sub(*step),
                    on_grid.saturating_add(*step),
                ]
            })
            .map(|offset| columns(&offset_text(offset, units)))
            .max()
            .unwrap_or(0);
        *step as f64 / per_point >= f64::from(letters as f32 * letter + AIR)
    };
    let step = steps
        .clone()
        .find(fits)
        .or_else(|| steps.last())
        .unwrap_or(DAY);
    let first = shown.start.nanos_since(zero);
    let mut offset = first.saturating_sub(first.rem_euclid(step));
    let mut found = Vec::new();
    while found.len() < MOST {
        let t = zero.plus_nanos(offset);
        if t >= shown.end {
            break;
        }
        if t >= shown.start {
            found.push(Tick {
                t,
                label: offset_text(offset, units),
                is_major: offset == 0,
            });
        }
        offset = offset.saturating_add(step);
    }
    found
}

/// A time from the start of the incident: `0`, `+2 min 10 s`, `-1 h 5 min`, `+3.25 s`.
pub fn offset_text(nanos: i64, units: &Names) -> String {
    match nanos {
        0 => "0".to_owned(),
        _ if nanos < 0 => format!("-{}", units.exact(nanos)),
        _ => format!("+{}", units.exact(nanos)),
    }
}

/// A length as exactly as the screen shows it.
pub fn length_near(nanos: i64, nanos_per_point: f64, units: &Names) -> String {
    let unit = match digits(nanos_per_point) {
        0 => S,
        3 => MS,
        6 => US,
        _ => 1,
    };
    units.exact(nanos.saturating_add(unit / 2) / unit * unit)
}

/// Digits of the second that a point of the screen can tell apart: 0, 3, 6 or 9.
pub fn digits(nanos_per_point: f64) -> usize {
    if nanos_per_point >= S as f64 {
        0
    } else if nanos_per_point >= MS as f64 {
        3
    } else if nanos_per_point >= US as f64 {
        6
    } else {
        9
    }
}

/// An instant as the axis would write it in full: `14:29:10.866`, or `+2 min 10 s`.
pub fn instant_text(t: Timestamp, clock: Clock<'_>, nanos_per_point: f64) -> String {
    let digits = digits(nanos_per_point);
    match clock {
        Clock::Wall(zone) => zone.civil(t).clock(digits),
        Clock::Since(zero, units) => {
            let unit = match digits {
                0 => S,
                3 => MS,
                6 => US,
                _ => 1,
            };
            let offset = t.nanos_since(zero);
            offset_text(offset.saturating_sub(offset.rem_euclid(unit)), units)
        }
    }
}
