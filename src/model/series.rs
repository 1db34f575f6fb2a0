//! Time series: float samples, native histograms, exemplars, and how they were sampled.

use std::sync::Arc;

use crate::base::time::{TimeRange, Timestamp};
use crate::model::input::InputIx;
use crate::model::labels::Labels;

/// What a metric is, by its metadata or, failing that, its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum MetricKind {
    /// Only grows, until its process restarts.
    Counter,
    /// Goes up and down.
    Gauge,
    /// A bucket, sum or count of a classic histogram, or a native histogram.
    Histogram,
    /// A quantile, sum or count of a summary.
    Summary,
    /// Not known.
    #[default]
    Unknown,
}

impl MetricKind {
    /// The lower-case word of Prometheus metadata.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
            Self::Summary => "summary",
            Self::Unknown => "unknown",
        }
    }
}

/// How the samples came about: only raw samples tell the truth about gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sampling {
    /// Stored samples with their own times (range selector, remote read, export).
    Raw,
    /// Evaluated on a grid by `query_range`: the newest sample of up to five minutes before each step.
    Grid {
        /// The step.
        step_nanos: i64,
    },
    /// One evaluation at one time.
    Instant,
}

impl Sampling {
    /// Whether the samples are as stored.
    pub const fn is_raw(self) -> bool {
        matches!(self, Self::Raw)
    }
}

/// The bits of the NaN that Prometheus stores when a series ends (`model/value/value.go`, `StaleNaN`).
pub const STALE_NAN_BITS: u64 = 0x7ff0_0000_0000_0002;

/// Whether a sample is a staleness marker rather than a value.
pub fn is_stale_marker(value: f64) -> bool {
    value.to_bits() == STALE_NAN_BITS
}

/// Where rows of a series stand in an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesSource {
    /// The input.
    pub input: InputIx,
    /// The series in it, as a JSON path or a line.
    pub locator: Arc<str>,
    /// What it covers.
    pub range: TimeRange,
}

/// One series with everything that is known of it.
#[derive(Debug, Clone)]
pub struct Series {
    /// Metric name; for an expression without one, the expression.
    pub metric: Arc<str>,
    /// Labels without the name.
    pub labels: Labels,
    /// What it is.
    pub kind: MetricKind,
    /// Base unit as a plural word (`seconds`, `bytes`, `ratio`), or empty.
    pub unit: Arc<str>,
    /// How it was sampled.
    pub sampling: Sampling,
    /// The query that gave it, when known.
    pub expr: Option<Arc<str>>,
    /// Sample times in nanoseconds since the epoch, strictly increasing after the store has merged them.
    pub t: Vec<i64>,
    /// Sample values, as long as `t`. A staleness marker stays one.
    pub v: Vec<f64>,
    /// Native histograms, by time.
    pub histograms: Vec<HistogramPoint>,
    /// Exemplars, by time.
    pub exemplars: Vec<Exemplar>,
    /// Where it came from.
    pub sources: Vec<SeriesSource>,
}

impl Series {
    /// An empty series of that name and those labels.
    pub fn new(metric: Arc<str>, labels: Labels, sampling: Sampling) -> Self {
        Self {
            metric,
            labels,
            kind: MetricKind::Unknown,
            unit: Arc::from(""),
            sampling,
            expr: None,
            t: Vec::new(),
            v: Vec::new(),
            histograms: Vec::new(),
            exemplars: Vec::new(),
            sources: Vec::new(),
        }
    }

    /// `metric{label="value"}`.
    pub fn selector(&self) -> String {
        format!("{}{}", self.metric, self.labels)
    }

    /// Samples and native histograms together.
    pub fn points(&self) -> usize {
        self.t.len() + self.histograms.len()
    }

    /// Samples that are neither NaN nor staleness markers, with their times in nanoseconds.
    pub fn finite(&self) -> impl Iterator<Item = (i64, f64)> + '_ {
        self.t
            .iter()
            .copied()
            .zip(self.v.iter().copied())
            .filter(|(_, v)| v.is_finite())
    }

    /// The indices of the samples inside `range`.
    pub fn within(&self, range: TimeRange) -> std::ops::Range<usize> {
        let from = self.t.partition_point(|t| *t < range.start.nanos());
        let to = self.t.partition_point(|t| *t < range.end.nanos());
        from..to.max(from)
    }

    /// From the first sample to the last, both inside; `None` without any.
    pub fn span(&self) -> Option<TimeRange> {
        let first = self
            .t
            .first()
            .copied()
            .into_iter()
            .chain(self.histograms.first().map(|h| h.t.nanos()))
            .min()?;
        let last = self
            .t
            .last()
            .copied()
            .into_iter()
            .chain(self.histograms.last().map(|h| h.t.nanos()))
            .max()?;
        Some(TimeRange::new(
            Timestamp::from_nanos(first),
            Timestamp::from_nanos(last.saturating_add(1)),
        ))
    }

    /// The median distance between samples in nanoseconds; `None` under three samples.
    pub fn interval_nanos(&self) -> Option<i64> {
        if self.t.len() < 3 {
            return None;
        }
        crate::base::stats::median_step(&self.t)
    }
}

/// A native histogram at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct HistogramPoint {
    /// When.
    pub t: Timestamp,
    /// Number of observations.
    pub count: f64,
    /// Their sum.
    pub sum: f64,
    /// The populated buckets, in order.
    pub buckets: Vec<HistogramBucket>,
}

/// One populated bucket of a native histogram.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HistogramBucket {
    /// Whether the bounds belong to it: 0 = (lower, upper], 1 = [lower, upper), 2 = neither, 3 = both.
    pub rule: u8,
    /// Lower bound.
    pub lower: f64,
    /// Upper bound.
    pub upper: f64,
    /// Observations in it.
    pub count: f64,
}

/// One exemplar: a single observation with its labels, usually a trace id.
#[derive(Debug, Clone, PartialEq)]
pub struct Exemplar {
    /// When.
    pub t: Timestamp,
    /// The observed value.
    pub value: f64,
    /// Its labels.
    pub labels: Labels,
}
