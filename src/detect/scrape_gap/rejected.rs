//! Which of Prometheus' own counters rose while samples with explicit timestamps were rejected, and since when.

use crate::base::time::TimeRange;
use crate::store::Snapshot;

/// The counters of `prometheus.md` §2.5, and what each means.
const COUNTERS: &[(&str, &str)] = &[
    (
        "prometheus_target_scrapes_sample_duplicate_timestamp_total",
        "the timestamps stood still while the values changed",
    ),
    (
        "prometheus_target_scrapes_sample_out_of_order_total",
        "the timestamps were older than samples already stored",
    ),
    (
        "prometheus_target_scrapes_sample_out_of_bounds_total",
        "the timestamps were too far in the future or the past",
    ),
];
/// Steps of the self-scrape that a reason must last to be a part of its own.
const MIN_STEPS: usize = 2;

/// A part of a hole with one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    /// The first scrape of it.
    pub(crate) start: i64,
    /// The counter that rose, and what it means; `None` when none did.
    pub(crate) reason: Option<(&'static str, &'static str)>,
}

/// Splits `[start, end)` where another counter begins to rise. `scrapes` are the times of the target's good scrapes in
/// it.
pub(crate) fn parts(snapshot: &Snapshot, start: i64, end: i64, scrapes: &[i64]) -> Vec<Part> {
    let whole = vec![Part {
        start,
        reason: None,
    }];
    let mut steps: Vec<(i64, usize)> = Vec::new();
    for (which, (metric, _)) in COUNTERS.iter().enumerate() {
        for (_, series) in snapshot.raw(metric) {
            let range = TimeRange::new(
                crate::base::time::Timestamp::from_nanos(start),
                crate::base::time::Timestamp::from_nanos(end),
            );
            let inside = series.within(range);
            let from = inside.start.saturating_sub(1);
            let times = series.t.get(from..inside.end).unwrap_or_default();
            let values = series.v.get(from..inside.end).unwrap_or_default();
            for (t, v) in times.windows(2).zip(values.windows(2)) {
                if v[1] > v[0] {
                    // The rise was seen at t[1]; the scrape that caused it lies after t[0].
                    steps.push((t[0], which));
                }
            }
        }
    }
    steps.sort_unstable();
    let mut runs: Vec<(i64, usize, usize)> = Vec::new();
    for (t, which) in steps {
        match runs.last_mut() {
            Some((_, known, n)) if *known == which => *n += 1,
            _ => runs.push((t, which, 1)),
        }
    }
    runs.retain(|(_, _, n)| *n >= MIN_STEPS);
    runs.dedup_by_key(|(_, which, _)| *which);
    if runs.is_empty() {
        return whole;
    }
    runs.iter()
        .enumerate()
        .map(|(ix, (t, which, _))| Part {
            start: if ix == 0 {
                start
            } else {
                scrapes.iter().copied().find(|s| s > t).unwrap_or(*t)
            },
            reason: COUNTERS.get(*which).copied(),
        })
        .collect()
}
