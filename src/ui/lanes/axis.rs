//! What lanes with values share: how an axis is padded, how a value is written, how the next place is found.

use crate::base::units;

/// Beyond so many scaled median absolute deviations from the median a value is an outlier.
pub(super) const OUTLIER_MADS: f64 = 5.0;
/// An axis starts at nought when the smallest value is at most this share of the largest.
const FROM_ZERO: f64 = 0.4;
/// Room above the largest value.
const HEADROOM: f64 = 0.08;

/// The ends of an axis for values from `lo` to `hi`.
pub(super) fn padded(lo: f64, hi: f64) -> (f64, f64) {
    let reach = hi - lo;
    let magnitude = hi.abs().max(lo.abs());
    if magnitude <= 0.0 || !reach.is_finite() {
        return (0.0, 1.0);
    }
    if reach <= magnitude * 1e-9 {
        // A value that stands still is drawn in the middle, on an axis that starts at nought.
        return if hi > 0.0 {
            (0.0, hi * 2.0)
        } else {
            (lo * 2.0, 0.0)
        };
    }
    if lo >= 0.0 && lo <= hi * FROM_ZERO {
        return (0.0, hi * (1.0 + HEADROOM));
    }
    if hi <= 0.0 && hi >= lo * FROM_ZERO {
        return (lo * (1.0 + HEADROOM), 0.0);
    }
    (lo - reach * HEADROOM, hi + reach * HEADROOM)
}

/// The ends of a logarithmic axis; both above 0.
pub(super) fn padded_log(lo: f64, hi: f64) -> (f64, f64) {
    if hi <= 0.0 || !hi.is_finite() {
        return (1.0, 1_000.0);
    }
    let lo = if lo > 0.0 { lo } else { hi / 1_000.0 };
    let (lo, hi) = (lo * 0.8, hi * 1.25);
    // At least a decade, so that a narrow cloud does not look wild.
    if hi / lo < 10.0 {
        let middle = (lo * hi).sqrt();
        (middle / 10f64.sqrt(), middle * 10f64.sqrt())
    } else {
        (lo, hi)
    }
}

/// A value with its unit; rates end in `/s`.
pub(super) fn value(value: f64, unit: &str) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    match unit {
        "/s" => format!("{}/s", units::number(value)),
        "s/s" => format!("{} s/s", units::number(value)),
        "bytes/s" => format!("{}/s", units::bytes(value)),
        other => units::with_unit(value, other),
    }
}

/// The next of sorted places.
pub(super) fn next_of(sorted: &[i64], from: i64, is_forward: bool) -> Option<i64> {
    if is_forward {
        sorted.get(sorted.partition_point(|t| *t <= from)).copied()
    } else {
        let at = sorted.partition_point(|t| *t < from).checked_sub(1)?;
        sorted.get(at).copied()
    }
}

/// The next of places in any order.
pub(super) fn next_in(
    places: impl Iterator<Item = i64>,
    from: i64,
    is_forward: bool,
) -> Option<i64> {
    if is_forward {
        places.filter(|t| *t > from).min()
    } else {
        places.filter(|t| *t < from).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_holds_its_values_and_starts_at_nought_when_that_is_near() {
        assert_eq!(padded(10.0, 100.0), (0.0, 108.0));
        let (lo, hi) = padded(90.0, 100.0);
        assert!(0.0 < lo && lo < 90.0 && hi > 100.0);
        assert_eq!(padded(5.0, 5.0), (0.0, 10.0));
        assert_eq!(padded(0.0, 0.0), (0.0, 1.0));
        let (lo, hi) = padded(-3.0, 4.0);
        assert!(lo < -3.0 && hi > 4.0);
        let (lo, hi) = padded_log(0.0, 0.0);
        assert!(lo > 0.0 && hi > lo);
        let (lo, hi) = padded_log(99.0, 100.0);
        assert!(lo > 0.0 && hi / lo >= 9.9);
    }

    #[test]
    fn the_next_place_is_strictly_beyond() {
        let places = [10, 20, 30];
        assert_eq!(next_of(&places, 20, true), Some(30));
        assert_eq!(next_of(&places, 20, false), Some(10));
        assert_eq!(next_of(&places, 30, true), None);
        assert_eq!(next_in(places.into_iter().rev(), 15, true), Some(20));
    }
}
