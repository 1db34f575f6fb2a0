//! Native histograms: what fell into each populated bucket between two points.

use super::{Bin, Deltas, Interpolation, ROUNDING, longest_pair};
use crate::model::series::{HistogramBucket, HistogramPoint, Series};

/// The differences between neighbouring native histograms of one series. Only populated buckets are stored, so one that
/// is missing holds nothing; the number of observations going down is a reset.
pub fn native_deltas(series: &Series) -> Deltas {
    let mut bins: Vec<Bin> = series
        .histograms
        .iter()
        .flat_map(|point| &point.buckets)
        .map(|bucket| Bin {
            lower: bucket.lower,
            upper: bucket.upper,
        })
        .collect();
    bins.sort_by(|a, b| (a.lower.total_cmp(&b.lower)).then(a.upper.total_cmp(&b.upper)));
    bins.dedup();
    let mut deltas = Deltas {
        interpolation: native_interpolation(series.histograms.iter().flat_map(|h| &h.buckets)),
        bins,
        ..Deltas::default()
    };
    let times: Vec<i64> = series.histograms.iter().map(|h| h.t.nanos()).collect();
    let longest = longest_pair(&times);
    for pair in series.histograms.windows(2) {
        let (start, end) = (pair[0].t.nanos(), pair[1].t.nanos());
        if !pair[0].count.is_finite() || !pair[1].count.is_finite() {
            deltas.dropped.incomplete += 1;
        } else if end.saturating_sub(start) > longest {
            deltas.dropped.gaps += 1;
        } else if let Some(row) = native_row(&deltas.bins, &pair[0], &pair[1]) {
            deltas.start.push(start);
            deltas.end.push(end);
            deltas.counts.extend(row);
            let sum = pair[1].sum - pair[0].sum;
            deltas.sum.push(if sum >= 0.0 { sum } else { f64::NAN });
        } else {
            deltas.dropped.resets += 1;
        }
    }
    deltas
}

/// The observations in each of `bins` between two points; `None` across a reset.
fn native_row(bins: &[Bin], before: &HistogramPoint, after: &HistogramPoint) -> Option<Vec<f64>> {
    if after.count < before.count {
        return None;
    }
    let mut row = vec![0.0; bins.len()];
    let mut add = |point: &HistogramPoint, sign: f64| {
        for bucket in &point.buckets {
            let at = bins.partition_point(|bin| {
                bin.lower
                    .total_cmp(&bucket.lower)
                    .then(bin.upper.total_cmp(&bucket.upper))
                    .is_lt()
            });
            if let Some(cell) = row.get_mut(at) {
                *cell += sign * bucket.count;
            }
        }
    };
    add(after, 1.0);
    add(before, -1.0);
    row.iter()
        .all(|n| *n >= -ROUNDING * after.count.abs())
        .then(|| row.into_iter().map(|n| n.max(0.0)).collect())
}

/// Buckets of a standard schema grow by 2^(2^-schema), schema -4 … 8 (Prometheus, native histograms specification);
/// any other ratio means custom bounds.
pub fn native_interpolation<'a>(
    buckets: impl Iterator<Item = &'a HistogramBucket>,
) -> Interpolation {
    let mut schema: Option<i32> = None;
    for bucket in buckets.filter(|b| b.rule != 3) {
        let ratio = (bucket.upper / bucket.lower).abs();
        let ratio = if bucket.upper <= 0.0 {
            ratio.recip()
        } else {
            ratio
        };
        let of_bucket = (-4..=8).find(|s| {
            let growth = 2f64.powf(2f64.powi(-*s));
            ((ratio - growth) / growth).abs() < 1e-9
        });
        match (schema, of_bucket) {
            (_, None) => return Interpolation::Linear,
            (Some(known), Some(new)) if known != new => return Interpolation::Linear,
            _ => schema = of_bucket,
        }
    }
    if schema.is_some() {
        Interpolation::Exponential
    } else {
        Interpolation::Linear
    }
}
