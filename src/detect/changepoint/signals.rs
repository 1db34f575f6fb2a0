//! Which series of a snapshot are looked at, as what, and the shape of each, computed once for all detectors.

use std::sync::{Arc, OnceLock};

use crate::base::time::TimeRange;
use crate::detect::Context;
use crate::model::pack::Role;
use crate::model::series::{MetricKind, Series};
use crate::store::Snapshot;

use super::excursions::{Shape, shape};
use super::{MIN_POINTS, Noise, levels, rates};

/// As what a series is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// Its values.
    Gauge,
    /// Its values, which are latencies: excursions belong to `latency_spike`.
    Latency,
    /// Its values, which are quantiles of latencies over a window: only what moves and stays is taken from them.
    Quantile,
    /// The rate of a counter.
    Rate,
    /// The rate of a counter of requests: its falls belong to `throughput_drop`.
    Requests,
}

/// The points of one series as they are looked at.
#[derive(Debug, Clone, Default)]
pub struct Points {
    /// The time before which the point says nothing: of the sample before it.
    pub since: Vec<i64>,
    /// The time of the point: of its sample, or of the later one of its pair.
    pub t: Vec<i64>,
    /// Value, or rate per second.
    pub v: Vec<f64>,
    /// The median distance of samples.
    pub interval_nanos: i64,
    /// As [`Noise::count_unit`].
    pub count_unit: f64,
}

#[derive(Debug)]
struct Cell {
    subject: Subject,
    shape: OnceLock<Shape>,
}

/// Every series that is looked at, with shapes that are made when asked for.
#[derive(Debug)]
pub struct Signals {
    window: TimeRange,
    generation: u64,
    cells: Vec<Option<Cell>>,
    /// How many series are looked at: the false-alarm budget is shared among them.
    pub tests: usize,
}

impl Signals {
    /// Those of a context: the snapshot's own when it has them for this window.
    pub fn of(context: &Context<'_>) -> Arc<Self> {
        let snapshot = context.snapshot;
        let known = snapshot.memo.get_or_make(|| Self::new(context));
        if known.window == context.window
            && known.generation == snapshot.generation
            && known.cells.len() == snapshot.series.len()
        {
            known
        } else {
            Arc::new(Self::new(context))
        }
    }

    fn new(context: &Context<'_>) -> Self {
        let snapshot = context.snapshot;
        let cells: Vec<Option<Cell>> = (0..snapshot.series.len())
            .map(|ix| {
                let subject = subject(snapshot, ix)?;
                let points = snapshot.series.get(ix)?.within(context.window).len();
                (points >= MIN_POINTS).then(|| Cell {
                    subject,
                    shape: OnceLock::new(),
                })
            })
            .collect();
        Self {
            window: context.window,
            generation: snapshot.generation,
            tests: cells.iter().flatten().count(),
            cells,
        }
    }

    /// The indices of the series that are looked at.
    pub fn indices(&self) -> Vec<usize> {
        (0..self.cells.len())
            .filter(|ix| self.subject(*ix).is_some())
            .collect()
    }

    /// As what a series is looked at; `None` when it is not.
    pub fn subject(&self, ix: usize) -> Option<Subject> {
        self.cells.get(ix)?.as_ref().map(|c| c.subject)
    }

    /// The points of a series as they are looked at.
    pub fn points(&self, snapshot: &Snapshot, ix: usize) -> Points {
        match (snapshot.series.get(ix), self.subject(ix)) {
            (Some(series), Some(Subject::Rate | Subject::Requests)) => {
                rate_points(series, self.window)
            }
            (Some(series), _) => gauge_points(series, self.window),
            (None, _) => Points::default(),
        }
    }

    /// The shape of a series. Whoever asks first computes it, on its own thread, so nobody waits in a circle.
    pub fn shape(&self, snapshot: &Snapshot, ix: usize) -> Option<&Shape> {
        let cell = self.cells.get(ix)?.as_ref()?;
        Some(cell.shape.get_or_init(|| {
            let points = self.points(snapshot, ix);
            let noise = Noise {
                series: self.tests,
                count_unit: points.count_unit,
            };
            shape(&points.v, levels(&points.v, noise), noise)
        }))
    }
}

/// The finite values of a series in a window.
pub fn gauge_points(series: &Series, window: TimeRange) -> Points {
    let range = series.within(window);
    let (t, v) = (
        series.t.get(range.clone()).unwrap_or_default(),
        series.v.get(range).unwrap_or_default(),
    );
    let mut points = Points {
        interval_nanos: series.interval_nanos().unwrap_or(0),
        ..Points::default()
    };
    let is_latency = is_latency(series);
    for (t, v) in t.iter().zip(v) {
        // A round trip of 0 or less, and a value that is none, is a lost probe.
        if v.is_finite() && (!is_latency || *v > 0.0) {
            points.since.push(points.t.last().copied().unwrap_or(*t));
            points.t.push(*t);
            points.v.push(*v);
        }
    }
    let is_count = series.unit.is_empty()
        && points
            .v
            .iter()
            .all(|v| v.fract().abs() < f64::EPSILON && *v >= 0.0);
    points.count_unit = f64::from(u8::from(is_count));
    points
}

fn rate_points(series: &Series, window: TimeRange) -> Points {
    let range = series.within(window);
    let (t, v) = (
        series.t.get(range.clone()).unwrap_or_default(),
        series.v.get(range).unwrap_or_default(),
    );
    let interval_nanos = series.interval_nanos().unwrap_or(0);
    let mut points = Points {
        interval_nanos,
        ..Points::default()
    };
    for (since, t, rate) in rates(t, v) {
        points.since.push(since);
        points.t.push(t);
        points.v.push(rate);
    }
    let counts = v
        .iter()
        .filter(|v| v.is_finite())
        .all(|v| v.fract().abs() < f64::EPSILON);
    if counts && interval_nanos > 0 {
        points.count_unit = 1e9 / interval_nanos as f64;
    }
    points
}

/// As what a series is looked at by change-point detectors; `None` for what says nothing by its level or belongs to
/// another kind.
fn subject(snapshot: &Snapshot, ix: usize) -> Option<Subject> {
    let series = snapshot.series.get(ix)?;
    let role = snapshot.series_roles.get(ix).copied().flatten();
    let metric = series.metric.as_ref();
    if is_housekeeping(metric)
        || is_failure(series, role)
        || series.labels.get("quantile").is_some()
        || series.labels.get("le").is_some()
        || matches!(
            role,
            Some(Role::ProcessStart | Role::BuildInfo | Role::LogSuppressed)
        )
        || is_shadow(snapshot, series)
    {
        return None;
    }
    let is_histogram = matches!(series.kind, MetricKind::Histogram | MetricKind::Summary);
    if series.kind == MetricKind::Counter || is_histogram {
        // Of a histogram only the count is a signal of its own: buckets and sum are read by the latency detectors.
        let is_part = metric.ends_with("_sum") || metric.ends_with("_bucket");
        return match (is_part, counts_requests(series, role)) {
            (true, _) => None,
            (false, true) => Some(Subject::Requests),
            (false, false) => Some(Subject::Rate),
        };
    }
    if is_quantile(series) {
        return Some(Subject::Quantile);
    }
    if is_latency(series) {
        return Some(Subject::Latency);
    }
    (!is_clock(series)).then_some(Subject::Gauge)
}

/// Series that Prometheus makes about its own work, identities, and states of alerts.
fn is_housekeeping(metric: &str) -> bool {
    metric == "up"
        || metric.is_empty()
        || metric.starts_with("scrape_")
        || metric.starts_with("ALERTS")
        || metric.starts_with("absent(")
        || metric.ends_with("_info")
        || metric.ends_with("_created")
        || [
            "_timestamp",
            "_timestamp_seconds",
            "_start_time_seconds",
            "_uptime_seconds",
        ]
        .iter()
        .any(|suffix| metric.ends_with(suffix))
}

/// Whether a gauge of seconds is a clock: it stands near the epoch of our days, or it only grows with time.
fn is_clock(series: &Series) -> bool {
    let first = series
        .v
        .iter()
        .find(|v| v.is_finite())
        .copied()
        .unwrap_or(0.0);
    series.unit.as_ref() == "seconds" && (1e9..1e11).contains(&first)
}

/// Counters and gauges of failures belong to `error_burst`.
fn is_failure(series: &Series, role: Option<Role>) -> bool {
    let metric = series.metric.as_ref();
    let status = ["status", "code", "status_code", "http_status_code"]
        .iter()
        .find_map(|l| series.labels.get(l));
    role == Some(Role::ErrorCount)
        || status.is_some_and(|s| s.starts_with('5'))
        || ["error", "fail"].iter().any(|word| metric.contains(word))
            && role != Some(Role::ConntrackInsertFailed)
}

/// A gauge of durations of requests, round trips and the like.
fn is_latency(series: &Series) -> bool {
    let metric = series.metric.as_ref();
    let is_time = matches!(
        series.unit.as_ref(),
        "seconds" | "milliseconds" | "ms" | "s"
    ) || metric.ends_with("_ms");
    let words = ["latency", "duration", "rtt", "response_time", "round_trip"];
    series.kind != MetricKind::Counter
        && (metric.contains("latency") || is_time && words.iter().any(|w| metric.contains(w)))
}

/// A quantile by its name, or by the expression that it is.
fn is_quantile(series: &Series) -> bool {
    let words = ["p50", "p90", "p95", "p99", "quantile"];
    let expr = series.expr.as_deref().unwrap_or_default();
    series.kind != MetricKind::Counter
        && (words.iter().any(|w| series.metric.contains(w)) || expr.contains("quantile"))
}

/// Whether a counter counts requests: useful work.
pub fn counts_requests(series: &Series, role: Option<Role>) -> bool {
    let metric = series.metric.as_ref();
    let is_count = metric.ends_with("_count");
    role == Some(Role::RequestCount)
        || metric.ends_with("_requests_total")
        || metric == "requests_total"
        || is_count && role == Some(Role::RequestDuration)
        || is_count
            && [
                "request_duration",
                "requests_duration",
                "request_latency",
                "rpc_duration",
                "rpc_seconds",
            ]
            .iter()
            .any(|w| metric.contains(w))
}

/// Whether a series only repeats what raw series of the snapshot say.
///
/// That is the same metric evaluated on a grid, an expression over one that was read raw, or a recording rule of one (`level:metric:operations`, the metric without `_total`:
/// the naming rule of Prometheus), whose rates also fall beside every gap.
pub fn is_shadow(snapshot: &Snapshot, series: &Series) -> bool {
    let is_raw = |metric: &str| snapshot.raw(metric).next().is_some();
    let mut rule = series.metric.split(':').skip(1);
    if let (Some(metric), Some(_)) = (rule.next(), rule.next())
        && (is_raw(metric) || is_raw(&format!("{metric}_total")))
    {
        return true;
    }
    if series.sampling.is_raw() {
        return false;
    }
    let expr = series.expr.as_deref().unwrap_or_default();
    is_raw(&series.metric)
        || [expr, series.metric.as_ref()].iter().any(|text| {
            text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != ':')
                .any(|word| !word.is_empty() && is_raw(word))
        })
}

/// Whom a series is about: its most specific entity, or, when nobody is known, the series itself.
pub fn owner(snapshot: &Snapshot, ix: usize) -> String {
    let entity = snapshot.series_entities.get(ix).and_then(|e| e.first());
    entity.cloned().unwrap_or_else(|| {
        snapshot
            .series
            .get(ix)
            .map(Series::selector)
            .unwrap_or_default()
    })
}
