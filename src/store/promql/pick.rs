//! Which samples of a series a time or a range means.

use crate::base::time::NANOS_PER_MS;
use crate::model::series::{HistogramPoint, Series, is_stale_marker};
use crate::store::promql::evaluate::Point;
use crate::store::promql::shelf::Hold;

/// One recording of a series, walked through once: times never go back from step to step.
pub(super) struct Walk<'a> {
    series: &'a Series,
    hold: Hold,
    floats: usize,
    histograms: usize,
}

impl<'a> Walk<'a> {
    pub(super) const fn new(series: &'a Series, hold: Hold) -> Self {
        Self {
            series,
            hold,
            floats: 0,
            histograms: 0,
        }
    }

    pub(super) const fn hold(&self) -> Hold {
        self.hold
    }

    pub(super) const fn series(&self) -> &'a Series {
        self.series
    }

    /// What counts at `t`, with its own time; a staleness marker counts, and is no value. `stored` is the first time of a
    /// stored sample that counts.
    pub(super) fn at(&mut self, t: i64, stored: i64) -> Option<(i64, Option<Point<'a>>)> {
        let series = self.series;
        while series.t.get(self.floats).is_some_and(|s| *s <= t) {
            self.floats += 1;
        }
        let is_past = |h: &HistogramPoint| h.t.nanos() <= t;
        while series.histograms.get(self.histograms).is_some_and(is_past) {
            self.histograms += 1;
        }
        let first = match self.hold {
            Hold::Lookback => stored,
            Hold::Step(nanos) => t.saturating_sub(nanos).saturating_add(1),
            Hold::Never => t,
        };
        let float = self
            .floats
            .checked_sub(1)
            .and_then(|at| Some((*series.t.get(at)?, *series.v.get(at)?)))
            .map(|(t, v)| (t, (!is_stale_marker(v)).then_some(Point::Float(v))));
        let histogram = self
            .histograms
            .checked_sub(1)
            .and_then(|at| series.histograms.get(at))
            .map(|h| (h.t.nanos(), Some(Point::Histogram(h))));
        [float, histogram]
            .into_iter()
            .flatten()
            .filter(|(t, _)| *t >= first)
            .max_by_key(|(t, _)| *t)
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
