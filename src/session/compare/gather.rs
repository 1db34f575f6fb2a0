//! Everything in one window that can be compared, with its values.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::base::time::{TimeRange, Timestamp};
use crate::model::pack::Role;
use crate::model::profile::WaitClass;
use crate::model::series::{MetricKind, Sampling, Series};
use crate::model::span::SpanKind;
use crate::session::compare::{Kind, Side, Subject};
use crate::store::Snapshot;
use crate::store::histogram::{self, Bin, Interpolation};

/// The parts of a window that rates of rows are counted in.
const PARTS: i64 = 24;

/// Observations by bucket.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bins {
    pub(super) bounds: Vec<Bin>,
    pub(super) interpolation: Interpolation,
    pub(super) counts: Vec<f64>,
    pub(super) sum: f64,
    pub(super) scrapes: usize,
}

/// What is known of one thing in one window.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Measured {
    /// Single values, by time.
    Values(Vec<f64>),
    /// Observations by bucket.
    Bins(Bins),
    /// So many, out of so many.
    Share(usize, usize),
}

/// One thing in one window.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Held {
    pub(super) measured: Measured,
    pub(super) unit: String,
    pub(super) role: Option<Role>,
    pub(super) series: Option<usize>,
    /// Whether it was evaluated from other series.
    pub(super) is_derived: bool,
}

impl Held {
    pub(super) fn new(measured: Measured, unit: &str) -> Self {
        Self {
            measured,
            unit: unit.to_owned(),
            role: None,
            series: None,
            is_derived: false,
        }
    }

    /// How many values it has.
    pub(super) fn n(&self) -> f64 {
        match &self.measured {
            Measured::Values(values) => values.len() as f64,
            Measured::Bins(bins) => bins.counts.iter().sum(),
            Measured::Share(_, n) => *n as f64,
        }
    }
}

/// Everything in the window of a side; `None` when nobody wants it any more.
pub(super) fn gather(
    side: &Side<'_>,
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<BTreeMap<Subject, Held>> {
    let mut all: BTreeMap<Subject, Held> = BTreeMap::new();
    let series: Vec<Option<(Subject, Held)>> = (0..side.snapshot.series.len())
        .into_par_iter()
        .map(|ix| {
            if is_cancelled() {
                None
            } else {
                series(side, ix)
            }
        })
        .collect();
    all.extend(series.into_iter().flatten());
    if is_cancelled() {
        return None;
    }
    let families = histogram::families(side.snapshot);
    let histograms: Vec<Option<(Subject, Held)>> = families
        .par_iter()
        .map(|family| {
            if is_cancelled() {
                None
            } else {
                Some(family_held(side, family))
            }
        })
        .collect();
    all.extend(histograms.into_iter().flatten());
    requests(side, &mut all);
    spans(side, &mut all);
    gaps(side, &mut all);
    dumps(side, &mut all);
    (!is_cancelled()).then_some(all)
}

/// Whether a series only grows: it is compared by how fast.
pub(super) fn is_counter(snapshot: &Snapshot, series: &Series) -> bool {
    let is_named = ["_total", "_count", "_sum"]
        .iter()
        .any(|end| series.metric.ends_with(end));
    let by_pack = || snapshot.packs.find(&series.metric, &series.labels);
    match series.kind {
        MetricKind::Counter => true,
        MetricKind::Gauge => by_pack().is_some_and(|m| m.is_counter),
        _ => is_named || by_pack().is_some_and(|m| m.is_counter),
    }
}

fn series(side: &Side<'_>, ix: usize) -> Option<(Subject, Held)> {
    let snapshot = side.snapshot;
    let series = snapshot.series.get(ix)?;
    // Buckets are compared as histograms; the sum without its count says nothing.
    let is_part = series.metric.ends_with("_bucket") || series.metric.ends_with("_sum");
    let role = snapshot.series_roles.get(ix).copied().flatten();
    let is_fact = matches!(role, Some(Role::ProcessStart | Role::BuildInfo));
    if is_part || is_fact || matches!(series.sampling, Sampling::Instant) {
        return None;
    }
    // An evaluated series repeats what the stored one says.
    let is_repeated =
        !series.sampling.is_raw() && snapshot.raw_exact(&series.metric, &series.labels).is_some();
    if is_repeated {
        return None;
    }
    let is_counter = is_counter(snapshot, series);
    let values: Vec<f64> = values(series, side.window, is_counter)
        .into_iter()
        .map(|(_, v)| v)
        .collect();
    let (kind, unit) = if is_counter {
        let unit = match series.unit.as_ref() {
            "" => "/s".to_owned(),
            unit => format!("{unit}/s"),
        };
        (Kind::Rate, unit)
    } else {
        (Kind::Gauge, series.unit.to_string())
    };
    let subject = Subject {
        kind,
        name: series.selector(),
    };
    let held = Held {
        measured: Measured::Values(values),
        unit,
        role,
        series: Some(ix),
        is_derived: !series.sampling.is_raw(),
    };
    Some((subject, held))
}

/// The values of a series in a window with their times; of a counter how fast it grew for each second, and nothing across a
/// restart or a missing scrape.
pub(super) fn values(series: &Series, window: TimeRange, is_counter: bool) -> Vec<(i64, f64)> {
    let range = series.within(window);
    let t = series.t.get(range.clone()).unwrap_or_default();
    let v = series.v.get(range).unwrap_or_default();
    let finite = t
        .iter()
        .copied()
        .zip(v.iter().copied())
        .filter(|(_, v)| v.is_finite());
    if !is_counter {
        return finite.collect();
    }
    let points: Vec<(i64, f64)> = finite.collect();
    let longest = histogram::longest_pair(&series.t);
    points
        .windows(2)
        .filter_map(|pair| match pair {
            [(t0, v0), (t1, v1)] if v1 >= v0 && t1 > t0 && t1 - t0 <= longest => {
                Some((*t1, (v1 - v0) * 1e9 / (t1 - t0) as f64))
            }
            _ => None,
        })
        .collect()
}

fn family_held(side: &Side<'_>, family: &histogram::Family) -> (Subject, Held) {
    let deltas = family.deltas(side.snapshot);
    let mut counts = vec![0.0; deltas.bins.len()];
    let (mut sum, mut scrapes) = (0.0, 0);
    for at in 0..deltas.len() {
        let (Some(start), Some(end)) = (deltas.start.get(at), deltas.end.get(at)) else {
            continue;
        };
        let is_inside = *start >= side.window.start.nanos() && *end < side.window.end.nanos();
        if !is_inside {
            continue;
        }
        scrapes += 1;
        for (total, more) in counts.iter_mut().zip(deltas.row(at)) {
            *total += more;
        }
        sum += deltas.sum.get(at).copied().unwrap_or(f64::NAN);
    }
    let series = family
        .buckets
        .last()
        .and_then(|(_, spellings)| spellings.first().copied());
    let role = series.and_then(|ix| side.snapshot.series_roles.get(ix).copied().flatten());
    let unit = series
        .and_then(|ix| side.snapshot.series.get(ix))
        .map(|s| s.unit.to_string())
        .filter(|unit| !unit.is_empty())
        .unwrap_or_else(|| {
            if family.base.ends_with("_seconds") {
                "seconds".to_owned()
            } else {
                String::new()
            }
        });
    let subject = Subject {
        kind: Kind::Histogram,
        name: format!("{}{}", family.base, family.labels),
    };
    let held = Held {
        measured: Measured::Bins(Bins {
            bounds: deltas.bins,
            interpolation: deltas.interpolation,
            counts,
            sum,
            scrapes,
        }),
        unit,
        role,
        series,
        is_derived: false,
    };
    (subject, held)
}

/// The rows of one service.
#[derive(Debug, Default)]
struct Service {
    latency: Vec<f64>,
    connect: Vec<f64>,
    errors: usize,
    total: usize,
    times: Vec<Timestamp>,
}

impl Service {
    fn see(&mut self, t: Timestamp, latency: Option<f64>, connect: Option<f64>, is_error: bool) {
        self.latency.extend(latency.filter(|v| v.is_finite()));
        self.connect.extend(connect.filter(|v| v.is_finite()));
        self.errors += usize::from(is_error);
        self.total += 1;
        self.times.push(t);
    }
}

/// The name of who wrote a request down.
pub(super) fn request_service(request: &crate::model::request::Request) -> &str {
    [&request.service, &request.upstream, &request.instance]
        .into_iter()
        .find(|name| !name.is_empty())
        .map_or("access log", |name| name.as_ref())
}

/// Whether a span serves a request of another.
pub(super) const fn is_serving(span: &crate::model::span::Span) -> bool {
    !span.is_inferred && (span.is_segment || matches!(span.kind, SpanKind::Server))
}

fn requests(side: &Side<'_>, all: &mut BTreeMap<Subject, Held>) {
    let mut services: BTreeMap<String, Service> = BTreeMap::new();
    let rows = &side.snapshot.requests;
    let from = rows.partition_point(|r| r.t < side.window.start);
    for request in rows.iter().skip(from) {
        if request.t >= side.window.end {
            break;
        }
        let is_error = request.failed() == Some(true);
        services
            .entry(request_service(request).to_owned())
            .or_default()
            .see(
                request.t,
                request.duration_ms,
                request.connect_ms(),
                is_error,
            );
    }
    for (name, service) in services {
        let rate = rates(&service.times, side.window);
        put(
            all,
            Kind::RequestLatency,
            &name,
            Measured::Values(service.latency),
            "ms",
        );
        put(
            all,
            Kind::RequestConnect,
            &name,
            Measured::Values(service.connect),
            "ms",
        );
        let share = Measured::Share(service.errors, service.total);
        put(all, Kind::RequestErrors, &name, share, "ratio");
        put(all, Kind::RequestRate, &name, Measured::Values(rate), "/s");
    }
}

fn spans(side: &Side<'_>, all: &mut BTreeMap<Subject, Held>) {
    let mut services: BTreeMap<String, Service> = BTreeMap::new();
    for span in &side.snapshot.spans {
        if !side.window.contains(span.start) {
            continue;
        }
        let service = services.entry(span.service.to_string()).or_default();
        if is_serving(span) {
            service.see(
                span.start,
                span.duration_ms,
                span.connect_ms,
                span.status.is_error(),
            );
        } else {
            service.connect.extend(span.connect_ms);
        }
    }
    // A list of traces has more of them than the documents that were asked for.
    let mut entries: BTreeMap<String, Service> = BTreeMap::new();
    for summary in &side.snapshot.summaries {
        if side.window.contains(summary.start) {
            let length = summary.response_ms.or(summary.duration_ms);
            entries
                .entry(format!("{} (traces)", summary.entry))
                .or_default()
                .see(
                    summary.start,
                    length,
                    summary.connect_ms,
                    summary.status.is_error(),
                );
        }
    }
    for (name, service) in services.into_iter().chain(entries) {
        put(
            all,
            Kind::SpanLatency,
            &name,
            Measured::Values(service.latency),
            "ms",
        );
        put(
            all,
            Kind::SpanConnect,
            &name,
            Measured::Values(service.connect),
            "ms",
        );
        let share = Measured::Share(service.errors, service.total);
        put(all, Kind::SpanErrors, &name, share, "ratio");
    }
}

fn gaps(side: &Side<'_>, all: &mut BTreeMap<Subject, Held>) {
    let mut pairs: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for call in &side.snapshot.calls {
        let spans = &side.snapshot.spans;
        if let (Some(caller), Some(callee)) = (spans.get(call.caller), spans.get(call.callee))
            && call.has_network_gap()
            && side.window.contains(caller.start)
            && let Some(gap) = call.gap_ms
        {
            let name = format!("{} → {}", caller.service, callee.service);
            pairs.entry(name).or_default().push(gap);
        }
    }
    for (name, gaps) in pairs {
        put(all, Kind::CallGap, &name, Measured::Values(gaps), "ms");
    }
}

/// Dumps of one process nearer than this are one moment.
const SAME_MOMENT_NANOS: i64 = 10_000_000_000;

/// Whether a profile counts what runs, rather than what it costs.
pub(super) fn is_dump(profile: &crate::model::profile::Profile) -> bool {
    matches!(
        profile.kind.as_ref(),
        "goroutine" | "threadcreate" | "threads"
    )
}

fn dumps(side: &Side<'_>, all: &mut BTreeMap<Subject, Held>) {
    let mut processes: BTreeMap<String, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    let mut last: Option<(String, Timestamp)> = None;
    for profile in &side.snapshot.profiles {
        let is_inside = |t: &Timestamp| side.window.contains(*t);
        let Some(t) = profile.t.filter(is_inside).filter(|_| is_dump(profile)) else {
            continue;
        };
        // One moment in several forms (text, protobuf) is one value.
        let process = profile.process.to_string();
        let is_again = last.as_ref().is_some_and(|(known, before)| {
            *known == process && t.nanos_since(*before).abs() < SAME_MOMENT_NANOS
        });
        if is_again {
            continue;
        }
        last = Some((process, t));
        let waiting: f64 = profile
            .groups
            .iter()
            .filter(|g| matches!(g.class, WaitClass::Lock | WaitClass::LockHandoff))
            .map(|g| g.value)
            .sum();
        let name = if profile.process.is_empty() {
            profile.kind.to_string()
        } else {
            profile.process.to_string()
        };
        let (totals, shares) = processes.entry(name).or_default();
        totals.push(profile.total);
        if profile.total > 0.0 {
            shares.push(waiting / profile.total);
        }
    }
    for (name, (totals, shares)) in processes {
        put(all, Kind::DumpTotal, &name, Measured::Values(totals), "");
        put(
            all,
            Kind::LockShare,
            &name,
            Measured::Values(shares),
            "ratio",
        );
    }
}

fn put(all: &mut BTreeMap<Subject, Held>, kind: Kind, name: &str, measured: Measured, unit: &str) {
    let held = Held::new(measured, unit);
    if held.n() > 0.0 {
        let name = name.to_owned();
        all.insert(Subject { kind, name }, held);
    }
}

/// How many rows there were for each second, in equal parts of the window.
fn rates(times: &[Timestamp], window: TimeRange) -> Vec<f64> {
    let part = (window.nanos() / PARTS).max(1);
    let mut counts = vec![0.0; PARTS as usize];
    for t in times {
        let at = t.nanos_since(window.start) / part;
        if let Some(count) = counts.get_mut(at.clamp(0, PARTS - 1) as usize) {
            *count += 1.0;
        }
    }
    let seconds = part as f64 / 1e9;
    counts.into_iter().map(|n: f64| n / seconds).collect()
}
