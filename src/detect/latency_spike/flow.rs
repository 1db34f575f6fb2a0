//! Latencies of one route as one observer saw them: observations in order of time, exact or in buckets.

use std::ops::Range;

use crate::base::stats;
use crate::store::histogram::{self, Bin, Deltas, Estimate, Interpolation};

/// Latencies in slices of time: a slice is one observation, or what one pair of scrapes counted.
#[derive(Debug, Clone, Default)]
pub(super) struct Flow {
    /// When each slice begins, in nanoseconds: the request's start, or the earlier scrape.
    pub start: Vec<i64>,
    /// When it ends: the request's end, or the later scrape.
    pub end: Vec<i64>,
    /// Observations in it.
    pub n: Vec<f64>,
    /// Their sum in milliseconds; `NaN` when not known.
    pub sum: Vec<f64>,
    kept: Kept,
}

#[derive(Debug, Clone)]
enum Kept {
    /// One value a slice, in milliseconds, and what it is: an index into the rows that it came from.
    Exact(Vec<f64>, Vec<u32>),
    /// Counts by bucket, slice after slice; bounds in milliseconds.
    Binned {
        bins: Vec<Bin>,
        interpolation: Interpolation,
        counts: Vec<f64>,
    },
}

impl Default for Kept {
    fn default() -> Self {
        Self::Exact(Vec::new(), Vec::new())
    }
}

/// One latency that was recorded by itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Observation {
    pub start: i64,
    pub ms: f64,
    /// Index of its row.
    pub row: u32,
}

impl Flow {
    /// Single latencies, put in order of their start.
    pub(super) fn exact(mut observations: Vec<Observation>) -> Self {
        observations.sort_by_key(|o| (o.start, o.row));
        let ends = observations
            .iter()
            .map(|o| o.start.saturating_add((o.ms * 1e6) as i64))
            .collect();
        let values: Vec<f64> = observations.iter().map(|o| o.ms).collect();
        Self {
            start: observations.iter().map(|o| o.start).collect(),
            end: ends,
            n: vec![1.0; observations.len()],
            sum: values.clone(),
            kept: Kept::Exact(values, observations.iter().map(|o| o.row).collect()),
        }
    }

    /// Pairs of scrapes of several histograms, put in order of their end; buckets that not all of them have are empty in
    /// the others. `to_ms` turns their unit into milliseconds. Pairs without a single observation are left out.
    pub(super) fn binned(parts: &[&Deltas], to_ms: f64) -> Self {
        let mut bins: Vec<Bin> = parts.iter().flat_map(|p| p.bins.iter().copied()).collect();
        bins.sort_by(by_bounds);
        bins.dedup();
        let places: Vec<Vec<usize>> = parts
            .iter()
            .map(|p| {
                p.bins
                    .iter()
                    .map(|bin| bins.partition_point(|known| by_bounds(known, bin).is_lt()))
                    .collect()
            })
            .collect();
        let mut order: Vec<(i64, usize, usize)> = Vec::new();
        for (part, deltas) in parts.iter().enumerate() {
            for (at, end) in deltas.end.iter().enumerate() {
                if deltas.row(at).iter().any(|n| *n > 0.0) {
                    order.push((*end, part, at));
                }
            }
        }
        order.sort_unstable();
        let mut flow = Self::default();
        let mut counts = vec![0.0; order.len() * bins.len()];
        let rows = counts.chunks_exact_mut(bins.len().max(1));
        for ((end, part, at), row) in order.into_iter().zip(rows) {
            let (Some(deltas), Some(places)) = (parts.get(part), places.get(part)) else {
                continue;
            };
            let own = deltas.row(at);
            if own.len() == row.len() {
                // As many bins as all parts together: the same ones.
                row.copy_from_slice(own);
            } else {
                for (place, n) in places.iter().zip(own) {
                    if let Some(cell) = row.get_mut(*place) {
                        *cell += n;
                    }
                }
            }
            flow.start
                .push(deltas.start.get(at).copied().unwrap_or(end));
            flow.end.push(end);
            flow.n.push(deltas.row(at).iter().sum());
            flow.sum
                .push(deltas.sum.get(at).map_or(f64::NAN, |sum| sum * to_ms));
        }
        for bin in &mut bins {
            bin.lower *= to_ms;
            bin.upper *= to_ms;
        }
        flow.kept = Kept::Binned {
            bins,
            interpolation: parts
                .first()
                .map_or_else(Default::default, |p| p.interpolation),
            counts,
        };
        flow
    }

    /// From the start of the first slice of a stretch to the end of its last.
    pub(super) fn times(&self, stretch: &Range<usize>) -> Option<(i64, i64)> {
        let first = self.start.get(stretch.start)?;
        let last = self.end.get(stretch.end.checked_sub(1)?)?;
        Some((*first, *last))
    }

    /// Observations in slices that begin in a span of time.
    pub(super) fn count_within(&self, (from, to): (i64, i64)) -> f64 {
        self.start
            .iter()
            .zip(&self.n)
            .filter(|(start, _)| (from..to).contains(*start))
            .map(|(_, n)| n)
            .sum()
    }

    /// How many slices there are.
    pub(super) fn len(&self) -> usize {
        self.end.len()
    }

    /// Whether each slice is one observation.
    pub(super) fn is_exact(&self) -> bool {
        matches!(self.kept, Kept::Exact(..))
    }

    /// All observations.
    pub(super) fn total(&self) -> f64 {
        self.n.iter().sum()
    }

    /// The smallest bound above `estimate` at which observations can be told apart from the baseline: `ratio` times the
    /// estimate, and with buckets the next bucket bound that also lies beyond the estimate's own error bar. `None` when
    /// the buckets end before it.
    pub(super) fn bound_above(&self, estimate: &Estimate, ratio: f64) -> Option<f64> {
        let least = estimate.value * ratio;
        match &self.kept {
            Kept::Exact(..) => Some(least),
            Kept::Binned { bins, .. } => bins
                .iter()
                .map(|bin| bin.upper)
                .find(|upper| *upper >= least && *upper >= estimate.upper)
                .filter(|upper| upper.is_finite()),
        }
    }

    /// How many observations of each slice are larger than `bound`.
    pub(super) fn beyond(&self, bound: f64) -> Vec<f64> {
        match &self.kept {
            Kept::Exact(values, _) => values
                .iter()
                .map(|v| f64::from(u8::from(*v > bound)))
                .collect(),
            Kept::Binned { bins, counts, .. } => {
                // The bound is a bucket's own, so no bucket is cut by it.
                let from = bins.partition_point(|bin| bin.lower < bound);
                counts
                    .chunks_exact(bins.len().max(1))
                    .map(|row| row.get(from..).unwrap_or_default().iter().sum())
                    .collect()
            }
        }
    }

    /// A quantile of all observations in some stretches.
    pub(super) fn quantile(&self, stretches: &[Range<usize>], q: f64) -> Option<Estimate> {
        match &self.kept {
            Kept::Exact(values, _) => {
                let inside: Vec<f64> = stretches
                    .iter()
                    .filter_map(|r| values.get(r.clone()))
                    .flatten()
                    .copied()
                    .collect();
                stats::quantile(&inside, q).map(|value| Estimate {
                    value,
                    lower: value,
                    upper: value,
                    is_ceiling: false,
                })
            }
            Kept::Binned {
                bins,
                interpolation,
                counts,
            } => {
                let mut pooled = vec![0.0; bins.len()];
                for r in stretches {
                    let cells = counts
                        .get(r.start * bins.len()..r.end * bins.len())
                        .unwrap_or_default();
                    for row in cells.chunks_exact(bins.len().max(1)) {
                        for (cell, n) in pooled.iter_mut().zip(row) {
                            *cell += n;
                        }
                    }
                }
                histogram::quantile(bins, &pooled, q, *interpolation)
            }
        }
    }

    /// The mean of all observations in some stretches whose sum is known.
    pub(super) fn mean(&self, stretches: &[Range<usize>]) -> Option<f64> {
        let (mut sum, mut n) = (0.0, 0.0);
        for at in stretches.iter().cloned().flatten() {
            if let (Some(s), Some(count)) = (self.sum.get(at), self.n.get(at))
                && s.is_finite()
            {
                sum += s;
                n += count;
            }
        }
        (n > 0.0).then(|| sum / n)
    }

    /// The rows of the largest observations in a stretch, the largest first; none for buckets.
    pub(super) fn slowest(&self, stretch: &Range<usize>, most: usize) -> Vec<u32> {
        let Kept::Exact(values, rows) = &self.kept else {
            return Vec::new();
        };
        let mut inside: Vec<(f64, u32)> = stretch
            .clone()
            .filter_map(|at| Some((*values.get(at)?, *rows.get(at)?)))
            .collect();
        inside.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        inside.into_iter().take(most).map(|(_, row)| row).collect()
    }

    /// Neighbouring slices put together until each window has at least `least` observations; a rest that has not joins
    /// the last. Only slices in `stretches` take part, and no window reaches from one stretch into the next.
    pub(super) fn windows(&self, stretches: &[Range<usize>], least: f64) -> Vec<Range<usize>> {
        let mut windows: Vec<Range<usize>> = Vec::new();
        for stretch in stretches {
            let (mut from, mut held, first) = (stretch.start, 0.0, windows.len());
            for at in stretch.clone() {
                held += self.n.get(at).copied().unwrap_or(0.0);
                if held >= least {
                    windows.push(from..at + 1);
                    (from, held) = (at + 1, 0.0);
                }
            }
            if from < stretch.end
                && windows.len() > first
                && let Some(last) = windows.last_mut()
            {
                last.end = stretch.end;
            }
        }
        windows
    }
}

fn by_bounds(a: &Bin, b: &Bin) -> std::cmp::Ordering {
    a.lower
        .total_cmp(&b.lower)
        .then(a.upper.total_cmp(&b.upper))
}
