//! One series as it is drawn: its values or its rates, where they hang together, and its min–max pyramid.
//!
//! Two stored samples are joined when no scrape is missing between them: they are at most 1.75 intervals apart, and neither is a
//! staleness marker or `NaN`. Evaluated samples hold until the next step. A counter is drawn as its rate per second over each pair of
//! samples; a fall is a restart, after which it counts from nought.

use crate::model::series::{MetricKind, Sampling, Series};
use crate::store::histogram::GAP_INTERVALS;
use crate::store::pyramid::{MinMax, Pyramid};

/// A series that can be drawn at any zoom.
#[derive(Debug)]
pub(crate) struct Curve {
    /// The rate up to each sample; `None` when the values are drawn as they are.
    rates: Option<Vec<f64>>,
    pyramid: Pyramid,
    /// Samples further apart than this are not joined.
    pub(crate) longest_nanos: i64,
    /// Whether each value holds until the next step, because it was evaluated on a grid.
    pub(crate) is_held: bool,
    /// Falls of a counter.
    pub(crate) resets: usize,
}

/// A place of the line: one sample, or all samples of one column of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Node {
    /// When: of the sample, or the middle between the first and the last one of the column.
    pub(crate) t: i64,
    /// The smallest finite value; of a column that is joined to the one before, its last value too, so that the line is whole.
    pub(crate) lo: f64,
    /// The largest one.
    pub(crate) hi: f64,
    /// Whether the line goes on from the node before.
    pub(crate) is_joined: bool,
    /// Whether something here was infinite: −1, 1, or 0.
    pub(crate) beyond: i8,
    /// Whether it is one sample.
    pub(crate) is_sample: bool,
}

/// Whether a series is drawn as a rate.
pub(crate) fn is_rate(series: &Series) -> bool {
    let name = series.metric.as_ref();
    let is_part = ["_count", "_sum", "_bucket"]
        .iter()
        .any(|end| name.ends_with(end));
    match series.kind {
        MetricKind::Counter => true,
        MetricKind::Histogram | MetricKind::Summary => is_part,
        MetricKind::Gauge | MetricKind::Unknown => false,
    }
}

impl Curve {
    /// Reads the series once or twice.
    pub(crate) fn of(series: &Series) -> Self {
        let (step, is_held) = match series.sampling {
            Sampling::Raw => (series.interval_nanos(), false),
            Sampling::Grid { step_nanos } => (Some(step_nanos), true),
            Sampling::Instant => (None, true),
        };
        let longest_nanos = step.map_or(i64::MAX, |s| (s as f64 * GAP_INTERVALS) as i64);
        // Two samples alone have no interval to be judged by.
        let longest_nanos = match (series.sampling, series.t.len()) {
            (Sampling::Instant, _) => 0,
            (_, 0..3) if step.is_none() => i64::MAX,
            _ => longest_nanos,
        };
        let mut resets = 0;
        let rates =
            is_rate(series).then(|| rates(&series.t, &series.v, longest_nanos, &mut resets));
        let pyramid = Pyramid::build(rates.as_deref().unwrap_or(&series.v));
        Self {
            rates,
            pyramid,
            longest_nanos,
            is_held,
            resets,
        }
    }

    /// What is drawn, as long as the samples of its series.
    pub(crate) fn values<'a>(&'a self, series: &'a Series) -> &'a [f64] {
        self.rates.as_deref().unwrap_or(&series.v)
    }

    /// Whether anything can be drawn of it at all.
    pub(crate) fn has_values(&self, series: &Series) -> bool {
        let values = self.values(series);
        !self.pyramid.range(values, 0..values.len()).is_empty()
    }

    /// The next place with a value.
    pub(crate) fn next_drawn(&self, series: &Series, from: i64, is_forward: bool) -> Option<i64> {
        let values = self.values(series);
        let is_told = |at: &usize| values.get(*at).is_some_and(|v| !v.is_nan());
        let found = if is_forward {
            (series.t.partition_point(|t| *t <= from)..series.t.len()).find(is_told)
        } else {
            (0..series.t.partition_point(|t| *t < from)).rfind(is_told)
        };
        found.and_then(|at| series.t.get(at)).copied()
    }

    /// Whether rates are drawn.
    pub(crate) const fn is_rate(&self) -> bool {
        self.rates.is_some()
    }

    /// Smallest and largest value of a range of samples, infinite ones apart.
    pub(crate) fn range(&self, series: &Series, range: std::ops::Range<usize>) -> MinMax {
        finite(
            self.values(series),
            range.clone(),
            self.pyramid.range(self.values(series), range),
        )
    }

    /// Whether the sample at `at` hangs together with the one before.
    pub(crate) fn is_joined(&self, series: &Series, at: usize) -> bool {
        let values = self.values(series);
        let Some(before) = at.checked_sub(1) else {
            return false;
        };
        match (
            series.t.get(before),
            series.t.get(at),
            values.get(before),
            values.get(at),
        ) {
            (Some(t0), Some(t1), Some(a), Some(b)) => {
                !a.is_nan() && !b.is_nan() && t1.saturating_sub(*t0) <= self.longest_nanos
            }
            _ => false,
        }
    }

    /// The line from `start` to `end` (nanoseconds), with one place more at each side so that it goes on beyond the edges. As single
    /// samples when there are at most half as many as columns, else as columns of `step` nanoseconds.
    pub(crate) fn nodes(&self, series: &Series, (start, end): (i64, i64), step: i64) -> Vec<Node> {
        let step = step.max(1);
        let from = series.t.partition_point(|t| *t < start).saturating_sub(1);
        let to = (series.t.partition_point(|t| *t < end) + 1).min(series.t.len());
        let columns = (end.saturating_sub(start) / step).max(1);
        let samples = to.saturating_sub(from);
        if i64::try_from(samples).is_ok_and(|n| n <= columns / 2 + 2) {
            self.samples(series, from..to)
        } else {
            self.columns(series, from..to, step)
        }
    }

    fn samples(&self, series: &Series, range: std::ops::Range<usize>) -> Vec<Node> {
        let values = self.values(series);
        let mut nodes: Vec<Node> = Vec::with_capacity(range.len());
        for at in range.clone() {
            let (Some(t), Some(v)) = (series.t.get(at), values.get(at)) else {
                break;
            };
            if v.is_nan() {
                continue;
            }
            let is_finite = v.is_finite();
            nodes.push(Node {
                t: *t,
                lo: if is_finite { *v } else { f64::NAN },
                hi: if is_finite { *v } else { f64::NAN },
                is_joined: at > range.start && self.is_joined(series, at) && !nodes.is_empty(),
                beyond: if is_finite { 0 } else { v.signum() as i8 },
                is_sample: true,
            });
        }
        // A line neither leads to a value that has no place nor comes from it.
        for at in 1..nodes.len() {
            let is_lost = |n: Option<&Node>| n.is_some_and(|n| n.lo.is_nan());
            if is_lost(nodes.get(at - 1)) || is_lost(nodes.get(at)) {
                nodes[at].is_joined = false;
            }
        }
        nodes
    }

    fn columns(&self, series: &Series, range: std::ops::Range<usize>, step: i64) -> Vec<Node> {
        let values = self.values(series);
        let t = series.t.as_slice();
        let mut nodes: Vec<Node> = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let Some(first) = t.get(at) else { break };
            // Columns are counted from the epoch, so that a pan moves them and changes none.
            let border = first
                .div_euclid(step)
                .saturating_add(1)
                .saturating_mul(step);
            let rest = t.get(at..range.end).unwrap_or_default();
            let next = at + gallop(rest, border);
            let all = self.pyramid.range(values, at..next);
            let known = finite(values, at..next, all);
            if !all.is_empty() {
                let is_one = next - at == 1;
                let mut node = Node {
                    // Between its own samples, so that it never stands inside a hole.
                    t: first.midpoint(t.get(next - 1).copied().unwrap_or(*first)),
                    lo: known.min,
                    hi: known.max,
                    is_joined: !nodes.is_empty() && self.is_joined(series, at),
                    beyond: i8::from(all.max == f64::INFINITY)
                        - i8::from(all.min == f64::NEG_INFINITY),
                    is_sample: is_one,
                };
                if known.is_empty() {
                    (node.lo, node.hi, node.is_joined) = (f64::NAN, f64::NAN, false);
                }
                if node.is_joined
                    && let Some(last) = at.checked_sub(1).and_then(|b| values.get(b))
                    && last.is_finite()
                {
                    node.lo = node.lo.min(*last);
                    node.hi = node.hi.max(*last);
                }
                nodes.push(node);
            }
            at = next;
        }
        nodes
    }
}

/// How many of `t` lie before `border`: mostly few, so small steps are tried before large ones.
fn gallop(t: &[i64], border: i64) -> usize {
    let mut reach = 1;
    while t.get(reach).is_some_and(|t| *t < border) {
        reach *= 2;
    }
    let from = reach / 2;
    let to = (reach + 1).min(t.len());
    let part = t.get(from..to).unwrap_or_default();
    (from + part.partition_point(|t| *t < border)).max(1)
}

/// The same without infinite values; they are rare, so only then each value is looked at.
fn finite(values: &[f64], range: std::ops::Range<usize>, all: MinMax) -> MinMax {
    if all.is_empty() || (all.min.is_finite() && all.max.is_finite()) {
        return all;
    }
    let inside = values.get(range).unwrap_or_default();
    let mut known = MinMax {
        has_gap: all.has_gap,
        ..MinMax::EMPTY
    };
    for v in inside.iter().filter(|v| v.is_finite()) {
        known.min = known.min.min(*v);
        known.max = known.max.max(*v);
    }
    known
}

/// The rate per second up to each sample; `NaN` at the first, after a gap and after a `NaN`.
fn rates(t: &[i64], v: &[f64], longest: i64, resets: &mut usize) -> Vec<f64> {
    let mut rates = Vec::with_capacity(v.len());
    let mut before: Option<(i64, f64)> = None;
    for (t, v) in t.iter().zip(v) {
        rates.push(match before {
            Some((t0, v0)) if v.is_finite() && v0.is_finite() => {
                let apart = t.saturating_sub(t0);
                if apart > longest || apart <= 0 {
                    f64::NAN
                } else {
                    let is_reset = *v < v0;
                    *resets += usize::from(is_reset);
                    let grown = if is_reset { *v } else { *v - v0 };
                    grown / (apart as f64 / 1e9)
                }
            }
            _ => f64::NAN,
        });
        before = Some((*t, *v));
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::labels::Labels;
    use crate::model::series::STALE_NAN_BITS;
    use std::sync::Arc;

    const SEC: i64 = 1_000_000_000;

    fn series(kind: MetricKind, sampling: Sampling, points: &[(i64, f64)]) -> Series {
        let mut one = Series::new(Arc::from("m"), Labels::default(), sampling);
        one.kind = kind;
        one.t = points.iter().map(|(t, _)| t * SEC).collect();
        one.v = points.iter().map(|(_, v)| *v).collect();
        one
    }

    fn nodes(one: &Series, step_s: i64) -> Vec<Node> {
        let end = one.t.last().unwrap() + SEC;
        Curve::of(one).nodes(one, (one.t[0], end), step_s * SEC)
    }

    fn joins(nodes: &[Node]) -> Vec<bool> {
        nodes.iter().map(|n| n.is_joined).collect()
    }

    #[test]
    fn a_missing_scrape_ends_the_line_and_a_late_one_does_not() {
        let points = [
            (0, 1.0),
            (15, 1.0),
            (30, 1.0),
            (45, 1.0),
            (71, 1.0),
            (101, 1.0),
            (116, 2.0),
        ];
        let one = series(MetricKind::Gauge, Sampling::Raw, &points);
        let made = Curve::of(&one).samples(&one, 0..points.len());
        assert_eq!(joins(&made), [false, true, true, true, true, false, true]);
    }

    #[test]
    fn stale_markers_and_nan_end_a_line_and_infinity_is_marked() {
        let stale = f64::from_bits(STALE_NAN_BITS);
        let points = [
            (0, 1.0),
            (15, stale),
            (30, 2.0),
            (45, f64::NAN),
            (60, 3.0),
            (75, f64::INFINITY),
            (90, 4.0),
        ];
        let one = series(MetricKind::Gauge, Sampling::Raw, &points);
        let made = Curve::of(&one).samples(&one, 0..points.len());
        let values: Vec<f64> = made
            .iter()
            .filter(|n| n.beyond == 0)
            .map(|n| n.lo)
            .collect();
        assert_eq!(values, [1.0, 2.0, 3.0, 4.0]);
        assert!(made.iter().all(|n| !n.is_joined));
        assert_eq!(made[3].beyond, 1);
    }

    #[test]
    fn evaluated_samples_hold_for_a_step() {
        let grid = Sampling::Grid {
            step_nanos: 15 * SEC,
        };
        let one = series(MetricKind::Gauge, grid, &[(0, 1.0), (15, 2.0), (45, 3.0)]);
        let curve = Curve::of(&one);
        assert!(curve.is_held);
        assert_eq!(joins(&curve.samples(&one, 0..3)), [false, true, false]);
        let instant = series(MetricKind::Gauge, Sampling::Instant, &[(0, 1.0), (15, 2.0)]);
        let curve = Curve::of(&instant);
        assert_eq!(joins(&curve.samples(&instant, 0..2)), [false, false]);
    }

    #[test]
    fn a_counter_is_a_rate_that_knows_restarts_and_gaps() {
        let points = [
            (0, 100.0),
            (10, 150.0),
            (20, 170.0),
            (30, 30.0),
            (40, 40.0),
            (90, 50.0),
            (100, 60.0),
        ];
        let one = series(MetricKind::Counter, Sampling::Raw, &points);
        let curve = Curve::of(&one);
        let values = curve.values(&one);
        assert!(values[0].is_nan() && values[5].is_nan());
        assert_eq!(&values[1..5], [5.0, 2.0, 3.0, 1.0]);
        assert_eq!((values[6], curve.resets), (1.0, 1));
    }

    #[test]
    fn columns_hold_the_true_extremes_and_no_gap_is_bridged() {
        // 10,000 samples a second apart with one far value, one hole and one infinite value.
        let mut state = 7u64;
        let mut points: Vec<(i64, f64)> = (0..10_000)
            .map(|i| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (i, (state >> 40) as f64 / f64::from(1u32 << 24))
            })
            .collect();
        points[4_321].1 = 99.0;
        points[7_777].1 = f64::NEG_INFINITY;
        points.drain(5_000..5_100);
        let one = series(MetricKind::Gauge, Sampling::Raw, &points);
        for step_s in [3, 64, 512] {
            let made = nodes(&one, step_s);
            let lo = made.iter().map(|n| n.lo).fold(f64::INFINITY, f64::min);
            let hi = made.iter().map(|n| n.hi).fold(f64::NEG_INFINITY, f64::max);
            let finite = || one.v.iter().copied().filter(|v| v.is_finite());
            assert!(hi.total_cmp(&99.0).is_eq(), "{step_s}");
            let least = finite().fold(f64::INFINITY, f64::min);
            assert!(lo.total_cmp(&least).is_eq(), "{step_s}");
            assert_eq!(made.iter().filter(|n| n.beyond == -1).count(), 1);
            let most = usize::try_from(10_000 / step_s + 2).unwrap();
            assert!(made.len() <= most, "{step_s}");
            if step_s < 100 {
                let after = made.iter().find(|n| n.t > 5_099 * SEC).unwrap();
                assert!(!after.is_joined, "{step_s}");
            }
            for node in made.iter().filter(|_| step_s > 3) {
                let column = (node.t / (step_s * SEC)) * step_s * SEC;
                let inside =
                    one.t.iter().zip(&one.v).filter(|(t, v)| {
                        (column..column + step_s * SEC).contains(*t) && v.is_finite()
                    });
                for (_, v) in inside {
                    assert!(node.lo <= *v && *v <= node.hi);
                }
            }
        }
    }

    #[test]
    fn few_samples_are_drawn_one_by_one() {
        let points: Vec<(i64, f64)> = (0..100).map(|i| (i * 15, i as f64)).collect();
        let one = series(MetricKind::Gauge, Sampling::Raw, &points);
        assert!(
            nodes(&one, 1)
                .iter()
                .all(|n| n.is_sample && n.is_joined == (n.t > 0))
        );
    }
}
