//! From when until when connects took too long, and when that began.

/// The quiet after the last outlier ends the interval when, at the rate of the last outliers, a quiet that long has a
/// probability of one in a hundred: `exp(−rate · connects) = 0.01`.
const QUIET_LN: f64 = 4.605_170_185_988_091;
/// The rate is taken from this many gaps between the last outliers: the last rate, not the mean of all.
const RATE_GAPS: usize = 5;
/// A change of the rate is one when it explains the outliers this much better than one rate does: a likelihood ratio
/// test, twice the logarithm of the ratio above 10.8 (chi-squared, one degree, one in a thousand).
const CHANGE_LOG_RATIO: f64 = 5.4;

/// What the outliers span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Interval {
    /// The first outlier's start.
    pub(super) start: i64,
    /// The last outlier's end.
    pub(super) last: i64,
    /// When quiet had lasted long enough to be sure that it is over; `None` when the recording ends before.
    pub(super) end: Option<i64>,
    /// When the rate of outliers rose.
    pub(super) onset: i64,
    /// Connects that began in it.
    pub(super) total: u64,
}

/// The interval of outliers `(start, end)` by start, among all connects that began at `starts`, both ascending.
pub(super) fn interval(outliers: &[(i64, i64)], starts: &[i64]) -> Option<Interval> {
    let (start, _) = *outliers.first()?;
    let (last_start, _) = *outliers.last()?;
    let last = outliers.iter().map(|(_, end)| *end).max()?;
    let before = |t: i64| starts.partition_point(|s| *s < t);
    let per_outlier = {
        let gaps = RATE_GAPS.min(outliers.len() - 1);
        let from = outliers
            .get(outliers.len() - 1 - gaps)
            .map_or(start, |(s, _)| *s);
        if gaps == 0 {
            // One alone: one in all the connects up to it.
            (before(last_start) + 1) as f64
        } else {
            ((before(last_start) - before(from)) as f64 / gaps as f64).max(1.0)
        }
    };
    let quiet_from = before(last_start) + 1 + (per_outlier * QUIET_LN).ceil() as usize;
    let end = starts
        .get(quiet_from)
        .map(|t| (*t).max(last.saturating_add(1)));
    let until = end.map_or(starts.len(), before);
    let total = (until - before(start)) as u64;
    let onset = onset(outliers, starts, until).unwrap_or(start);
    Some(Interval {
        start,
        last,
        end,
        onset,
        total,
    })
}

/// The start of the outlier from which on the rate is higher than before, at the most likely place; `None` when one rate
/// explains all as well.
fn onset(outliers: &[(i64, i64)], starts: &[i64], until: usize) -> Option<i64> {
    let n = outliers.len() as f64;
    let all = until as f64;
    let term = |count: f64, connects: f64| {
        if count > 0.0 && connects > 0.0 {
            count * (count / connects).ln()
        } else {
            0.0
        }
    };
    let one_rate = term(n, all);
    let mut best: Option<(f64, i64)> = None;
    for (k, (start, _)) in outliers.iter().enumerate() {
        let connects = starts.partition_point(|s| s < start) as f64;
        let (k, after) = (k as f64, n - k as f64);
        let is_rise = after * connects > k * (all - connects);
        let gain = term(k, connects) + term(after, all - connects) - one_rate;
        if is_rise && best.is_none_or(|(known, _)| gain > known) {
            best = Some((gain, *start));
        }
    }
    best.filter(|(gain, _)| *gain >= CHANGE_LOG_RATIO)
        .map(|(_, start)| start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connects(n: i64) -> Vec<i64> {
        (0..n).collect()
    }

    #[test]
    fn ends_after_enough_quiet() {
        let outliers: Vec<(i64, i64)> = (0..10)
            .map(|k| (1_000 + k * 100, 1_001 + k * 100))
            .collect();
        let found = interval(&outliers, &connects(10_000)).unwrap();
        assert_eq!((found.start, found.last), (1_000, 1_901));
        // One in 100: after 461 more a quiet of chance is one in a hundred.
        assert_eq!(found.end, Some(2_362));
        assert_eq!(found.total, 1_362);
    }

    #[test]
    fn goes_on_when_the_recording_ends_too_soon() {
        let outliers: Vec<(i64, i64)> = (0..10)
            .map(|k| (1_000 + k * 100, 1_001 + k * 100))
            .collect();
        let found = interval(&outliers, &connects(2_000)).unwrap();
        assert_eq!(found.end, None);
        assert_eq!(found.total, 1_000);
        assert_eq!(interval(&[], &connects(10)), None);
    }

    #[test]
    fn the_onset_is_where_the_rate_rises() {
        let mut outliers = vec![(100, 101)];
        outliers.extend((0..40).map(|k| (9_000 + k * 10, 9_001 + k * 10)));
        let found = interval(&outliers, &connects(20_000)).unwrap();
        assert_eq!(found.start, 100);
        assert_eq!(found.onset, 9_000);
    }
}
