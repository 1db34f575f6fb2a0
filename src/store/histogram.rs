//! Histograms as the store reads them: classic buckets joined to families, and what fell into each bucket between two
//! scrapes.
//!
//! A cumulative bucket says nothing about a moment; the difference of two scrapes does. [`Deltas`] holds those
//! differences for one label set, and only where they are true (`prometheus.md` §3): no pair across a counter reset, no
//! pair longer than 1.75 intervals (§2.6), and no pair in which a bucket of the family is missing at either end, since
//! one missing bucket alone moves a quantile (0.456 → 0.82 as measured there). [`quantile`] estimates with the bounds
//! of the bucket as its error bar.

mod native;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use self::native::{native_deltas, native_interpolation};
use crate::model::labels::Labels;
use crate::model::series::Series;
use crate::store::Snapshot;

/// A pair of scrapes further apart than this many intervals has a scrape missing in it (`prometheus.md` §2.6).
pub const GAP_INTERVALS: f64 = 1.75;

/// Relative difference under which a falling cumulative count is rounding and no inconsistency (Prometheus 3.x,
/// `promql/quantile.go`, `smallDeltaTolerance`).
const ROUNDING: f64 = 1e-12;

/// One classic histogram: all bucket series of one label set.
#[derive(Debug, Clone)]
pub struct Family {
    /// The name without `_bucket`.
    pub base: Arc<str>,
    /// The labels without `le`.
    pub labels: Labels,
    /// Buckets by bound: the bound and the indices of its series in the snapshot; more than one where the same number
    /// was spelled in several ways (`1` and `1.0`, before and after an update to Prometheus 3).
    pub buckets: Vec<(f64, Vec<usize>)>,
    /// Index of the series of the sum of all observations.
    pub sum: Option<usize>,
    /// Index of the series of their number.
    pub count: Option<usize>,
}

/// The classic histograms among the raw series, by name and labels.
pub fn families(snapshot: &Snapshot) -> Vec<Family> {
    let mut found = Vec::new();
    for metric in snapshot.metrics() {
        let Some(base) = metric.strip_suffix("_bucket") else {
            continue;
        };
        let mut by_labels: BTreeMap<Labels, Vec<(f64, usize)>> = BTreeMap::new();
        for (ix, series) in snapshot.raw(metric) {
            if let Some(bound) = series.labels.get("le").and_then(parse_bound) {
                let labels = series.labels.without(&["le"]);
                by_labels.entry(labels).or_default().push((bound, ix));
            }
        }
        if by_labels.is_empty() {
            continue;
        }
        let base: Arc<str> = Arc::from(base);
        let sums = by_exact_labels(snapshot, &format!("{base}_sum"));
        let counts = by_exact_labels(snapshot, &format!("{base}_count"));
        for (labels, mut bounds) in by_labels {
            bounds.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut buckets: Vec<(f64, Vec<usize>)> = Vec::with_capacity(bounds.len());
            for (bound, ix) in bounds {
                match buckets.last_mut() {
                    Some((known, spellings)) if known.total_cmp(&bound).is_eq() => {
                        spellings.push(ix);
                    }
                    _ => buckets.push((bound, vec![ix])),
                }
            }
            found.push(Family {
                base: Arc::clone(&base),
                sum: sums.get(&labels).copied(),
                count: counts.get(&labels).copied(),
                labels,
                buckets,
            });
        }
    }
    found
}

fn by_exact_labels<'a>(snapshot: &'a Snapshot, metric: &str) -> BTreeMap<&'a Labels, usize> {
    snapshot
        .raw(metric)
        .map(|(ix, series)| (&series.labels, ix))
        .collect()
}

/// A bound as exporters spell it: `0.5`, `1.0`, `1e3`, `+Inf`.
fn parse_bound(text: &str) -> Option<f64> {
    let bound: f64 = text.trim().parse().ok()?;
    (!bound.is_nan()).then_some(bound)
}

/// The bounds of one bucket.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// Nothing in it is smaller.
    pub lower: f64,
    /// Nothing in it is larger; infinite for the last classic bucket.
    pub upper: f64,
}

/// How observations are taken to lie inside a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Interpolation {
    /// Evenly: classic buckets and native ones with custom bounds.
    #[default]
    Linear,
    /// Evenly in their logarithm: native buckets of a standard schema (Prometheus 3.x).
    Exponential,
}

/// Pairs of scrapes that gave no value, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dropped {
    /// A count went down.
    pub resets: usize,
    /// A scrape is missing between the two.
    pub gaps: usize,
    /// Scrapes in which a bucket was missing.
    pub incomplete: usize,
    /// Buckets that contradict each other.
    pub inconsistent: usize,
}

/// What fell into each bucket between one scrape and the next.
#[derive(Debug, Clone, Default)]
pub struct Deltas {
    /// The buckets, ascending.
    pub bins: Vec<Bin>,
    /// How observations lie in them.
    pub interpolation: Interpolation,
    /// The earlier scrape of each pair, in nanoseconds.
    pub start: Vec<i64>,
    /// The later scrape of each pair, in nanoseconds.
    pub end: Vec<i64>,
    /// Observations in each bucket, pair after pair.
    pub counts: Vec<f64>,
    /// The sum of the observations of each pair; `NaN` where the sum was not recorded.
    pub sum: Vec<f64>,
    /// What was left out.
    pub dropped: Dropped,
}

impl Deltas {
    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.end.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.end.is_empty()
    }

    /// The observations of one pair by bucket.
    pub fn row(&self, at: usize) -> &[f64] {
        let width = self.bins.len();
        self.counts
            .get(at * width..(at + 1) * width)
            .unwrap_or_default()
    }
}

impl Family {
    /// The differences between neighbouring scrapes. Empty when there is no `+Inf` bucket: without it the number of
    /// observations is not known (Prometheus answers NaN).
    pub fn deltas(&self, snapshot: &Snapshot) -> Deltas {
        let mut deltas = Deltas {
            bins: classic_bins(&self.buckets),
            ..Deltas::default()
        };
        if deltas.bins.last().is_none_or(|bin| bin.upper.is_finite()) {
            deltas.bins.clear();
            return deltas;
        }
        let columns: Vec<Column<'_>> = self
            .buckets
            .iter()
            .map(|(_, spellings)| Column::of(snapshot, spellings))
            .collect();
        let points = complete_points(&columns, &mut deltas.dropped);
        let sum = self
            .sum
            .map(|ix| Column::of(snapshot, std::slice::from_ref(&ix)));
        let sums = at_times(sum.as_ref(), &points.times);
        let longest = longest_pair(&points.base_times);
        let width = deltas.bins.len();
        for (at, pair) in points.times.windows(2).enumerate() {
            let (Some(before), Some(after)) = (
                points.values.get(at * width..(at + 1) * width),
                points.values.get((at + 1) * width..(at + 2) * width),
            ) else {
                break;
            };
            if pair[1].saturating_sub(pair[0]) > longest {
                deltas.dropped.gaps += 1;
            } else if before.iter().zip(after).any(|(b, a)| a < b) {
                deltas.dropped.resets += 1;
            } else if uncumulate(before, after, &mut deltas.counts) {
                deltas.start.push(pair[0]);
                deltas.end.push(pair[1]);
                deltas.sum.push(match (sums.get(at), sums.get(at + 1)) {
                    (Some(b), Some(a)) if a >= b => a - b,
                    _ => f64::NAN,
                });
            } else {
                deltas.dropped.inconsistent += 1;
            }
        }
        deltas
    }
}

fn classic_bins(buckets: &[(f64, Vec<usize>)]) -> Vec<Bin> {
    let mut bins: Vec<Bin> = Vec::with_capacity(buckets.len());
    for (upper, _) in buckets {
        // The first bucket starts at 0, unless its own bound is not above 0 (`promql/quantile.go`, `bucketQuantile`).
        let first = if *upper > 0.0 { 0.0 } else { f64::NEG_INFINITY };
        let lower = bins.last().map_or(first, |bin| bin.upper);
        bins.push(Bin {
            lower,
            upper: *upper,
        });
    }
    bins
}

/// Appends the observations of each bucket alone; `false`, and nothing, when the buckets contradict each other.
fn uncumulate(before: &[f64], after: &[f64], into: &mut Vec<f64>) -> bool {
    let from = into.len();
    let mut below = 0.0;
    for (b, a) in before.iter().zip(after) {
        let cumulative = a - b;
        let inside = cumulative - below;
        if inside < -ROUNDING * a.abs() {
            into.truncate(from);
            return false;
        }
        into.push(inside.max(0.0));
        below = f64::max(below, cumulative);
    }
    true
}

/// Times and values of one bucket, of all its spellings.
enum Column<'a> {
    Borrowed(&'a [i64], &'a [f64]),
    Joined(Vec<i64>, Vec<f64>),
}

impl<'a> Column<'a> {
    fn of(snapshot: &'a Snapshot, spellings: &[usize]) -> Self {
        let mut series = spellings.iter().filter_map(|ix| snapshot.series.get(*ix));
        match (spellings.len(), series.next()) {
            (_, None) => Self::Borrowed(&[], &[]),
            (1, Some(only)) => Self::Borrowed(&only.t, &only.v),
            (_, Some(first)) => {
                let mut points: Vec<(i64, f64)> = first.finite().collect();
                points.extend(series.flat_map(Series::finite));
                points.sort_by_key(|(t, _)| *t);
                points.dedup_by_key(|(t, _)| *t);
                let (t, v) = points.into_iter().unzip();
                Self::Joined(t, v)
            }
        }
    }

    fn t(&self) -> &[i64] {
        match self {
            Self::Borrowed(t, _) => t,
            Self::Joined(t, _) => t,
        }
    }

    fn v(&self) -> &[f64] {
        match self {
            Self::Borrowed(_, v) => v,
            Self::Joined(_, v) => v,
        }
    }
}

/// The scrapes at which every bucket has a value, with those values, scrape after scrape.
struct Points {
    times: Vec<i64>,
    values: Vec<f64>,
    base_times: Vec<i64>,
}

fn complete_points(columns: &[Column<'_>], dropped: &mut Dropped) -> Points {
    let base = columns.last().map_or(&[][..], Column::t);
    let mut points = Points {
        times: Vec::with_capacity(base.len()),
        values: Vec::with_capacity(base.len() * columns.len()),
        base_times: base.to_vec(),
    };
    // All buckets of one scrape carry its time, so mostly every column has the same times.
    if columns
        .iter()
        .all(|c| c.t() == base && c.v().len() == base.len())
    {
        for (at, t) in base.iter().enumerate() {
            let from = points.values.len();
            points
                .values
                .extend(columns.iter().filter_map(|c| c.v().get(at)));
            let is_whole = points
                .values
                .get(from..)
                .is_some_and(|row| row.iter().all(|v| v.is_finite()));
            if is_whole {
                points.times.push(*t);
            } else {
                points.values.truncate(from);
                dropped.incomplete += 1;
            }
        }
        return points;
    }
    let mut cursors = vec![0usize; columns.len()];
    let mut row = Vec::with_capacity(columns.len());
    for t in base {
        row.clear();
        for (column, cursor) in columns.iter().zip(&mut cursors) {
            while column.t().get(*cursor).is_some_and(|at| at < t) {
                *cursor += 1;
            }
            if column.t().get(*cursor) == Some(t)
                && let Some(value) = column.v().get(*cursor).filter(|v| v.is_finite())
            {
                row.push(*value);
            }
        }
        if row.len() == columns.len() {
            points.times.push(*t);
            points.values.append(&mut row);
        } else {
            dropped.incomplete += 1;
        }
    }
    points
}

/// The values of a column at given times, both ascending; `NaN` where it has none.
fn at_times(column: Option<&Column<'_>>, times: &[i64]) -> Vec<f64> {
    let Some(column) = column else {
        return Vec::new();
    };
    let mut cursor = 0;
    times
        .iter()
        .map(|t| {
            while column.t().get(cursor).is_some_and(|at| at < t) {
                cursor += 1;
            }
            match (column.t().get(cursor), column.v().get(cursor)) {
                (Some(at), Some(value)) if at == t => *value,
                _ => f64::NAN,
            }
        })
        .collect()
}

/// The longest pair without a missing scrape: [`GAP_INTERVALS`] times the median distance.
pub fn longest_pair(times: &[i64]) -> i64 {
    let mut distances: Vec<i64> = times
        .windows(2)
        .map(|w| w[1].saturating_sub(w[0]))
        .collect();
    if distances.is_empty() {
        return i64::MAX;
    }
    let middle = distances.len() / 2;
    let median = *distances.select_nth_unstable(middle).1;
    (median as f64 * GAP_INTERVALS) as i64
}

/// A quantile with what bounds it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The best single value.
    pub value: f64,
    /// The true quantile is not smaller.
    pub lower: f64,
    /// The true quantile is not larger; infinite when the rank lies in the last, open bucket.
    pub upper: f64,
    /// The rank lies in the open bucket: all that is known is "at least `value`".
    pub is_ceiling: bool,
}

/// The `q`-quantile of bucketed observations.
///
/// The rank is `q × n`; inside the bucket that holds it the value is `lower + (upper − lower) × (rank − below) / inside`
/// or, exponentially, `lower × (upper / lower)^((rank − below) / inside)` (Prometheus 3.x, `promql/quantile.go`,
/// `bucketQuantile` and `histogramQuantile`). In the open bucket it is the highest finite bound, as there. `None`
/// without observations.
pub fn quantile(
    bins: &[Bin],
    counts: &[f64],
    q: f64,
    interpolation: Interpolation,
) -> Option<Estimate> {
    let total: f64 = counts.iter().sum();
    if total.is_nan() || total <= 0.0 {
        return None;
    }
    let rank = q.clamp(0.0, 1.0) * total;
    let mut below = 0.0;
    let mut last = None;
    for (bin, inside) in bins.iter().zip(counts) {
        if *inside <= 0.0 {
            continue;
        }
        let fraction = ((rank - below) / inside).clamp(0.0, 1.0);
        // The zero bucket of a histogram without negative observations starts at 0.
        let starts_at_zero = last.is_none() && bin.lower < 0.0 && bin.upper > 0.0;
        let lower = if starts_at_zero { 0.0 } else { bin.lower };
        let bin = Bin { lower, ..*bin };
        last = Some((bin, fraction));
        below += inside;
        if below >= rank {
            break;
        }
    }
    let (bin, fraction) = last?;
    if bin.upper.is_infinite() {
        return Some(Estimate {
            value: bin.lower,
            lower: bin.lower,
            upper: bin.upper,
            is_ceiling: true,
        });
    }
    let is_exponential = interpolation == Interpolation::Exponential && bin.lower > 0.0;
    let value = if bin.lower.is_infinite() {
        bin.upper
    } else if is_exponential {
        bin.lower * (bin.upper / bin.lower).powf(fraction)
    } else {
        bin.lower + (bin.upper - bin.lower) * fraction
    };
    Some(Estimate {
        value,
        lower: bin.lower,
        upper: bin.upper,
        is_ceiling: false,
    })
}
