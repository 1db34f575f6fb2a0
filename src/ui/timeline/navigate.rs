//! Zooming and panning as arithmetic: bounded, never inverted, never without a finite number.

use crate::base::time::{TimeRange, Timestamp};
use crate::session::incident::Incident;

/// The narrowest time that can be shown.
pub const NARROWEST_NANOS: i64 = 1_000;

/// What can be shown of an incident, and how far one may go beyond it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The recording.
    pub recording: TimeRange,
}

impl Bounds {
    /// The recording of an incident: its window, or what the data cover, or an hour when nothing has a time.
    pub fn of(incident: &Incident) -> Self {
        let window = incident.document.recording;
        let is_known = |r: &TimeRange| r.start != Timestamp::MIN && r.end != Timestamp::MAX;
        let recording = Some(window)
            .filter(is_known)
            .or_else(|| incident.snapshot().extent.filter(is_known))
            .unwrap_or_else(|| {
                let zero = Timestamp::from_nanos(0);
                TimeRange::new(zero, zero.plus_nanos(3_600_000_000_000))
            });
        Self::new(recording)
    }

    /// Around a recording; one that is too short is widened.
    pub fn new(recording: TimeRange) -> Self {
        let missing = (NARROWEST_NANOS - recording.nanos()).max(0);
        // Half a century is kept free at both ends of what an instant can be, so that sums of two of them fit.
        let end = recording.end.nanos().saturating_add(missing);
        let limit = i64::MAX / 8;
        let start = recording
            .start
            .nanos()
            .clamp(-limit * 7, limit * 7 - NARROWEST_NANOS);
        let end = end.clamp(start + NARROWEST_NANOS, limit * 7);
        Self {
            recording: range(start, end),
        }
    }

    /// Twice the recording: the widest that can be shown, and where one can go.
    pub fn area(&self) -> TimeRange {
        let half = self.recording.nanos() / 2;
        TimeRange::new(
            self.recording.start.plus_nanos(-half),
            self.recording.end.plus_nanos(half),
        )
    }

    /// The nearest range that can be shown.
    #[must_use]
    pub fn fit(&self, wanted: TimeRange) -> TimeRange {
        let area = self.area();
        let width = area.nanos().max(NARROWEST_NANOS);
        let length = wanted.nanos().clamp(NARROWEST_NANOS, width);
        let last = area.end.nanos().saturating_sub(length);
        let start = wanted
            .start
            .nanos()
            .clamp(area.start.nanos(), last.max(area.start.nanos()));
        range(start, start.saturating_add(length))
    }

    /// Shows `factor` times as much; what lies at `share` of the width stays there as far as the bounds let it.
    #[must_use]
    pub fn zoom(&self, shown: TimeRange, share: f64, factor: f64) -> TimeRange {
        let share = if share.is_finite() {
            share.clamp(0.0, 1.0)
        } else {
            0.5
        };
        let factor = if factor.is_finite() {
            factor.clamp(1e-6, 1e6)
        } else {
            1.0
        };
        let width = self.area().nanos().max(NARROWEST_NANOS) as f64;
        let old = shown.nanos() as f64;
        let new = (old * factor).clamp(NARROWEST_NANOS as f64, width);
        let moved = ((old - new) * share).round() as i64;
        let start = shown.start.plus_nanos(moved);
        self.fit(TimeRange::new(start, start.plus_nanos(new.round() as i64)))
    }

    /// Moves by `nanos` and keeps the width.
    #[must_use]
    pub fn pan(&self, shown: TimeRange, nanos: i64) -> TimeRange {
        let start = shown.start.plus_nanos(nanos);
        self.fit(TimeRange::new(start, start.plus_nanos(shown.nanos())))
    }

    /// Moves as little as shows `t`: not at all when it is there, else so that it stands in the middle.
    #[must_use]
    pub fn reveal(&self, shown: TimeRange, t: Timestamp) -> TimeRange {
        if shown.contains(t) {
            return shown;
        }
        let start = t.plus_nanos(-(shown.nanos() / 2));
        self.fit(TimeRange::new(start, start.plus_nanos(shown.nanos())))
    }

    /// `around` with a margin on both sides, so that its edges can be seen.
    #[must_use]
    pub fn frame(&self, around: TimeRange) -> TimeRange {
        let margin = (around.nanos() / 8).max(NARROWEST_NANOS);
        self.fit(TimeRange::new(
            around.start.plus_nanos(-margin),
            around.end.plus_nanos(margin),
        ))
    }
}

const fn range(start: i64, end: i64) -> TimeRange {
    TimeRange {
        start: Timestamp::from_nanos(start),
        end: Timestamp::from_nanos(end),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bounds(start: i64, length: i64) -> Bounds {
        Bounds::new(range(start, start.saturating_add(length)))
    }

    proptest! {
        #[test]
        fn whatever_is_asked_what_is_shown_is_sound(
            start in any::<i64>(), length in any::<i64>(),
            from in any::<i64>(), to in any::<i64>(),
            share in any::<f64>(), factor in any::<f64>(), by in any::<i64>(),
        ) {
            let bounds = bounds(start, length);
            let area = bounds.area();
            let asked = TimeRange::new(Timestamp::from_nanos(from), Timestamp::from_nanos(to));
            let fitted = bounds.fit(asked);
            for shown in [
                fitted,
                bounds.zoom(asked, share, factor),
                bounds.zoom(fitted, share, factor),
                bounds.pan(fitted, by),
                bounds.reveal(fitted, Timestamp::from_nanos(by)),
                bounds.frame(asked),
            ] {
                prop_assert!(shown.start < shown.end);
                prop_assert!(shown.nanos() >= NARROWEST_NANOS);
                prop_assert!(area.start <= shown.start && shown.end <= area.end, "{shown:?} in {area:?}");
            }
        }

        #[test]
        fn what_is_under_the_pointer_stays_there(
            length in 1_000_000i64..100_000_000_000_000, share in 0.0f64..1.0, factor in 0.05f64..20.0,
            at in 0.25f64..0.75, part in 0.001f64..0.5, width_px in 100.0f64..8000.0,
        ) {
            let bounds = bounds(1_796_048_914_000_000_000, length);
            let shown = (length as f64 * part) as i64;
            let start = bounds.recording.start.plus_nanos((length as f64 * at * (1.0 - part)) as i64);
            let before = bounds.fit(TimeRange::new(start, start.plus_nanos(shown)));
            let after = bounds.zoom(before, share, factor);
            let area = bounds.area();
            prop_assume!(after.start > area.start && after.end < area.end);
            let anchor = i128::from(before.start.nanos()) + (before.nanos() as f64 * share) as i128;
            let where_now = (anchor - i128::from(after.start.nanos())) as f64 / after.nanos() as f64;
            // A pixel, or the nanosecond that an instant is made of.
            let slack = (1.0 / width_px).max(2.0 / after.nanos() as f64);
            prop_assert!((where_now - share).abs() <= slack, "{share} became {where_now}");
        }

        #[test]
        fn panning_keeps_the_width(by in -1_000_000_000_000i64..1_000_000_000_000) {
            let bounds = bounds(0, 3_600_000_000_000);
            let shown = range(600_000_000_000, 700_000_000_000);
            prop_assert_eq!(bounds.pan(shown, by).nanos(), shown.nanos());
        }
    }

    #[test]
    fn what_is_seen_does_not_move() {
        let bounds = bounds(0, 1_000_000_000);
        let shown = range(100_000, 200_000);
        assert_eq!(bounds.reveal(shown, Timestamp::from_nanos(150_000)), shown);
        let moved = bounds.reveal(shown, Timestamp::from_nanos(500_000));
        assert_eq!(moved, range(450_000, 550_000));
    }
}
