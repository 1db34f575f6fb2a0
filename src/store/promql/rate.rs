//! `rate` and `increase`: `extrapolatedRate` of Prometheus (`promql/functions.go`).

use crate::store::promql::Rules;

/// The growth of a counter over a range, extrapolated to its edges. Times are milliseconds since the epoch. Prometheus 2 looks
/// at the counter's zero before it looks at how far the edge is, Prometheus 3 after. `None` under two samples.
pub(super) fn growth(
    samples: &[(i64, f64)],
    (start_ms, end_ms): (i64, i64),
    rules: Rules,
) -> Option<f64> {
    let is_older = rules.is_closed;
    let [(first_ms, first), .., (last_ms, last)] = samples else {
        return None;
    };
    let mut grown = last - first;
    for pair in samples.windows(2) {
        if let [(_, before), (_, now)] = pair
            && now < before
        {
            grown += before;
        }
    }
    let secs = |from: i64, to: i64| (to - from) as f64 / 1e3;
    let sampled = secs(*first_ms, *last_ms);
    let mut to_start = secs(start_ms, *first_ms);
    let mut to_end = secs(*last_ms, end_ms);
    let usual = sampled / (samples.len() - 1) as f64;
    let far = usual * 1.1;
    let to_zero = (grown > 0.0 && *first >= 0.0).then(|| sampled * (first / grown));
    let not_below_zero = |reach: f64| to_zero.map_or(reach, |zero| zero.min(reach));
    if is_older {
        to_start = not_below_zero(to_start);
    }
    if to_start >= far {
        to_start = usual / 2.0;
    }
    if !is_older {
        to_start = not_below_zero(to_start);
    }
    if to_end >= far {
        to_end = usual / 2.0;
    }
    Some(grown * ((sampled + to_start + to_end) / sampled))
}
