//! Which samples of a series a time or a range means.

use crate::base::time::NANOS_PER_MS;
use crate::model::series::{Series, is_stale_marker};
use crate::store::promql::evaluate::Point;

/// The newest of the values before `floats` and `histograms`, from `first` on.
pub(super) fn newest(
    series: &Series,
    floats: usize,
    histograms: usize,
    first: i64,
) -> Option<Point<'_>> {
    let float = floats
        .checked_sub(1)
        .and_then(|at| Some((*series.t.get(at)?, *series.v.get(at)?)))
        .filter(|(t, _)| *t >= first);
    let histogram = histograms
        .checked_sub(1)
        .and_then(|at| series.histograms.get(at))
        .filter(|h| h.t.nanos() >= first);
    match (float, histogram) {
        (Some((t, value)), histogram) if histogram.is_none_or(|h| h.t.nanos() <= t) => {
            (!is_stale_marker(value)).then_some(Point::Float(value))
        }
        (_, Some(histogram)) => Some(Point::Histogram(histogram)),
        (_, None) => None,
    }
}

/// Samples from `first` to `end`, both included, without staleness markers.
pub(super) fn samples(series: &Series, first: i64, end: i64) -> Vec<(i64, Point<'_>)> {
    let from = series.t.partition_point(|t| *t < first);
    let to = series.t.partition_point(|t| *t <= end).max(from);
    let floats = series
        .t
        .get(from..to)
        .unwrap_or_default()
        .iter()
        .zip(series.v.get(from..to).unwrap_or_default())
        .filter(|(_, v)| !is_stale_marker(**v))
        .map(|(t, v)| (t.div_euclid(NANOS_PER_MS), Point::Float(*v)));
    let from = series.histograms.partition_point(|h| h.t.nanos() < first);
    let to = series
        .histograms
        .partition_point(|h| h.t.nanos() <= end)
        .max(from);
    let histograms = series
        .histograms
        .get(from..to)
        .unwrap_or_default()
        .iter()
        .map(|h| (h.t.millis(), Point::Histogram(h)));
    let mut all: Vec<(i64, Point<'_>)> = floats.chain(histograms).collect();
    if from < to {
        all.sort_by_key(|(t, _)| *t);
    }
    all
}
