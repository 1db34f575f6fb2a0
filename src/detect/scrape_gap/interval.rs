//! How often a target is scraped, and when that changed: from the distances of its own samples.
//!
//! `prometheus.md` §2.3: the interval is the median of the deltas of `up`; three or more equal deltas at a new value
//! are a change of the interval, not gaps.

use crate::base::stats;

/// A delta longer than this many intervals is a gap (`prometheus.md` §2.6).
pub(crate) const GAP_FACTOR: f64 = 1.75;
/// Deltas at a new value that make a change of the interval (`prometheus.md` §2.3).
const EQUAL_DELTAS: usize = 3;
/// Deltas that the first guess looks at: fewer than two times the three of a change, so that one cannot outvote it.
const FIRST_DELTAS: usize = 7;
/// How far a delta may be from the interval without a question. Prometheus itself is off by 1 to 10 ms (§2.3); a
/// quarter leaves room for a busy one.
const TOLERANCE: f64 = 0.25;
/// How near deltas must be to each other to count as equal.
const EQUAL_WITHIN: f64 = 0.1;

/// A stretch of scrapes at one interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Regime {
    /// The index of the delta (between the scrapes `from` and `from + 1`) that is the first at this interval.
    pub(crate) from: usize,
    /// The interval.
    pub(crate) interval_nanos: i64,
}

/// The stretches of one interval in `t`, at least one; `None` when there are too few samples and no `declared` interval.
pub(crate) fn regimes(t: &[i64], declared: Option<i64>) -> Option<Vec<Regime>> {
    let deltas: Vec<f64> = t.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
    let head = deltas.get(..FIRST_DELTAS).unwrap_or(&deltas);
    let first = if head.len() < EQUAL_DELTAS {
        declared.map(|d| d as f64).or_else(|| {
            // The shortest of one or two deltas: a gap is longer than the interval, never shorter.
            head.iter().copied().reduce(f64::min)
        })
    } else {
        stats::median(head)
    }?;
    if first <= 0.0 {
        return None;
    }
    let mut current = first;
    let mut found = vec![(0, current)];
    let mut at = 0;
    while let Some(delta) = deltas.get(at) {
        if (delta - current).abs() > TOLERANCE * current
            && let Some((from, level)) = change_at(&deltas, at, current)
        {
            current = level;
            found.push((from, level));
            at = from + EQUAL_DELTAS;
        } else {
            at += 1;
        }
    }
    Some(refine(&deltas, &found))
}

/// A new level that begins at delta `at`, or at the next one when the first is cut short or long by the change itself.
fn change_at(deltas: &[f64], at: usize, current: f64) -> Option<(usize, f64)> {
    let level_from = |from: usize| {
        let next = deltas.get(from..from + EQUAL_DELTAS)?;
        let level = stats::median(next)?;
        let equal = next
            .iter()
            .all(|d| (d - level).abs() <= EQUAL_WITHIN * level);
        (equal && (level - current).abs() > TOLERANCE * current).then_some(level)
    };
    if let Some(level) = level_from(at) {
        return Some((at, level));
    }
    let level = level_from(at + 1)?;
    // The delta over the change is measured against the longer of the two.
    Some((if level > current { at } else { at + 1 }, level))
}

fn refine(deltas: &[f64], found: &[(usize, f64)]) -> Vec<Regime> {
    let ends = found
        .iter()
        .skip(1)
        .map(|(from, _)| *from)
        .chain([deltas.len()]);
    found
        .iter()
        .zip(ends)
        .map(|(&(from, level), to)| {
            let near: Vec<f64> = deltas
                .get(from..to)
                .unwrap_or_default()
                .iter()
                .copied()
                .filter(|d| (d - level).abs() <= TOLERANCE * level)
                .collect();
            Regime {
                from,
                interval_nanos: stats::median(&near).unwrap_or(level).round() as i64,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: &[f64]) -> Vec<i64> {
        secs.iter().map(|s| (s * 1e9) as i64).collect()
    }

    #[test]
    fn a_gap_is_no_change_of_the_interval() {
        let mut t: Vec<f64> = (0..20).map(f64::from).collect();
        t.extend((40..60).map(f64::from));
        let found = regimes(&at(&t), None).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].interval_nanos, 1_000_000_000);
    }

    #[test]
    fn three_equal_longer_deltas_are() {
        let mut t: Vec<f64> = (0..20).map(f64::from).collect();
        t.extend((0..5).map(|i| 22.3 + 5.0 * f64::from(i)));
        t.extend((0..20).map(|i| 43.9 + f64::from(i)));
        let found = regimes(&at(&t), None).unwrap();
        let intervals: Vec<i64> = found
            .iter()
            .map(|r| r.interval_nanos / 1_000_000_000)
            .collect();
        assert_eq!(intervals, [1, 5, 1]);
        assert_eq!(found[1].from, 19);
    }

    #[test]
    fn few_samples_need_a_declared_interval() {
        assert_eq!(regimes(&at(&[1.0]), None), None);
        assert_eq!(regimes(&at(&[1.0]), Some(5)).unwrap()[0].interval_nanos, 5);
    }
}
