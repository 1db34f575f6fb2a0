//! What is asked of a lane for what is shown: wider than the window and in round numbers, so that small moves ask nothing new.

use crate::base::time::{TimeRange, Timestamp};
use crate::ui::lanes::Query;

/// The query for `shown` on `pixels` physical pixels.
///
/// It has a skirt of the window's own width on both sides, edges on a grid that only changes with the zoom, and a step that is a
/// power of two and at most a pixel.
pub fn query(shown: TimeRange, pixels: f32) -> Query {
    let length = shown.nanos().max(1);
    let per_pixel = length as f64 / f64::from(pixels.max(1.0));
    let step_nanos = power_below(per_pixel as i64);
    let grid = power_below(length);
    let down = |n: i64| n.saturating_sub(n.rem_euclid(grid));
    let up = |n: i64| down(n.saturating_add(grid - 1));
    let start = down(shown.start.nanos().saturating_sub(length));
    let end = up(shown.end.nanos().saturating_add(length));
    Query {
        range: TimeRange::new(Timestamp::from_nanos(start), Timestamp::from_nanos(end)),
        step_nanos,
    }
}

/// The greatest power of two that is not above `n`; 1 for what is below it.
fn power_below(n: i64) -> i64 {
    let n = n.max(1);
    1 << (63 - n.leading_zeros()).min(62)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_query_holds_what_is_shown_and_its_skirt(
            start in -4_000_000_000_000_000_000i64..4_000_000_000_000_000_000,
            length in 1i64..400_000_000_000_000_000,
            pixels in 1.0f32..8000.0,
        ) {
            let start = Timestamp::from_nanos(start);
            let shown = TimeRange::new(start, start.plus_nanos(length));
            let query = query(shown, pixels);
            prop_assert!(query.range.start.nanos() <= start.nanos() - length);
            prop_assert!(query.range.end.nanos() >= shown.end.nanos() + length);
            prop_assert!(query.range.nanos() <= 5 * length);
            prop_assert_eq!(query.step_nanos.count_ones(), 1);
            prop_assert!(query.step_nanos as f64 <= (length as f64 / f64::from(pixels)).max(1.0));
        }

        #[test]
        fn small_moves_ask_nothing_new(by in 0i64..1_000_000) {
            let start = Timestamp::from_nanos(1 << 40);
            let length = 1i64 << 30;
            let moved = start.plus_nanos(by + 1);
            let first = query(TimeRange::new(start.plus_nanos(1), start.plus_nanos(1 + length)), 900.0);
            prop_assert_eq!(first, query(TimeRange::new(moved, moved.plus_nanos(length)), 900.0));
        }
    }

    #[test]
    fn the_ends_of_time_are_no_trouble() {
        for shown in [
            TimeRange::ALL,
            TimeRange::new(Timestamp::MAX, Timestamp::MAX),
        ] {
            let query = query(shown, 900.0);
            assert!(query.range.start <= query.range.end && query.step_nanos >= 1);
        }
    }
}
