//! A resource grows and does not come back by itself.

mod growth;

use std::collections::BTreeMap;

use crate::base::time::Timestamp;
use crate::base::units;
use crate::detect::changepoint::signals::{gauge_points, is_shadow, owner};
use crate::detect::{Context, Detector, Verdict};
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::model::input::{Evidence, InputIx};
use crate::model::pack::Role;
use crate::model::series::Series;
use crate::store::Snapshot;

use growth::{Growth, MIN_POINTS, growth};

/// Resources that can leak, with their names in titles.
const RESOURCES: [(Role, &str); 6] = [
    (Role::Memory, "memory"),
    (Role::OpenFds, "open file descriptors"),
    (Role::Goroutines, "goroutines"),
    (Role::Threads, "threads"),
    (Role::Connections, "connections"),
    (Role::Queue, "queue"),
];

/// A resource grows and does not come back by itself.
pub struct Leak;

impl Detector for Leak {
    fn kind(&self) -> FindingKind {
        FindingKind::Leak
    }

    fn doc(&self) -> &'static str {
        "Series whose role in the packs is memory, open file descriptors, goroutines, threads, connections or a queue. \
         The lower envelope (minima of up to 48 blocks, so that a collector's sawtooth is flat) must rise by a trend \
         (Mann–Kendall, z of 3.09) and keep at least 70 % of its height to the end; the rise is at least 30 % of the \
         start, 8 deviations of the noise and 16 MiB, 20 threads or 50 of anything else, with no single step above \
         60 %. The slope is Theil–Sen's while it grew. A growth from the first sample on must go on in the last third \
         (else it is a warm-up); after a quiet fifth a plateau counts too. A restart begins a new count. Totals of \
         goroutine dumps stand in where scrapes are missing. One finding for each entity and resource. Not enough: no \
         such series with 12 samples."
    }

    fn check(&self, context: &Context<'_>) -> Verdict {
        let mut looked_at = 0;
        let mut found: BTreeMap<(String, &str), Vec<Grown>> = BTreeMap::new();
        for (role, resource) in RESOURCES {
            for (ix, series) in context.snapshot.with_role(role) {
                if is_shadow(context.snapshot, series) {
                    continue;
                }
                looked_at += usize::from(series.within(context.window).len() >= MIN_POINTS);
                if let Some(grown) = grown(context, ix, role) {
                    let key = (owner(context.snapshot, ix), resource);
                    found.entry(key).or_default().push(grown);
                }
            }
        }
        if looked_at == 0 {
            return Verdict::NotEnough(format!(
                "no series of memory, file descriptors, goroutines, threads, connections or queues has {MIN_POINTS} samples \
                 in the window"
            ));
        }
        Verdict::of(
            found
                .into_iter()
                .filter_map(|((_, resource), all)| finding(context.snapshot, resource, all))
                .collect(),
        )
    }
}

/// Whether the growth of a series is reported as a leak, so that it is no shift of level.
pub(super) fn owns(context: &Context<'_>, ix: usize) -> bool {
    let role = context.snapshot.series_roles.get(ix).copied().flatten();
    role.filter(|role| RESOURCES.iter().any(|(r, _)| r == role))
        .is_some_and(|role| grown(context, ix, role).is_some())
}

/// A series that grew.
#[derive(Debug, Clone)]
struct Grown {
    ix: usize,
    growth: Growth,
    /// Just before it, and its first point.
    between: (i64, i64),
    /// The last point.
    end: i64,
    points: usize,
    /// Dumps among the points.
    dumps: Vec<(i64, f64, InputIx)>,
}

fn grown(context: &Context<'_>, ix: usize, role: Role) -> Option<Grown> {
    let snapshot = context.snapshot;
    let series = snapshot.series.get(ix)?;
    let points = gauge_points(series, context.window);
    let since = last_start(context, ix);
    let mut all: Vec<(i64, f64)> = points
        .t
        .into_iter()
        .zip(points.v)
        .filter(|(t, _)| *t >= since)
        .collect();
    let dumps = if role == Role::Goroutines {
        dumps_of(context, ix, since)
    } else {
        Vec::new()
    };
    let last = all.last().map_or(i64::MAX, |(t, _)| *t);
    // Dumps say something only where scrapes stopped: a live scrape is the better witness.
    let late: Vec<_> = dumps.into_iter().filter(|(t, ..)| *t > last).collect();
    all.extend(late.iter().map(|(t, v, _)| (*t, *v)));
    let (t, v): (Vec<i64>, Vec<f64>) = all.into_iter().unzip();
    let growth = growth(&t, &v, role)?;
    Some(Grown {
        ix,
        growth,
        between: (*t.get(growth.last_quiet)?, *t.get(growth.onset)?),
        end: *t.last()?,
        points: t.len(),
        dumps: late,
    })
}

/// The first sample after the newest change of a process start time of the same entity; the beginning when there is none.
fn last_start(context: &Context<'_>, ix: usize) -> i64 {
    let snapshot = context.snapshot;
    let Some(entity) = snapshot.series_entities.get(ix).and_then(|e| e.first()) else {
        return i64::MIN;
    };
    snapshot
        .with_role(Role::ProcessStart)
        .filter(|(start, _)| {
            snapshot.series_entities.get(*start).and_then(|e| e.first()) == Some(entity)
        })
        .filter_map(|(_, series)| {
            let points = gauge_points(series, context.window);
            points
                .v
                .windows(2)
                .zip(points.t.iter().skip(1))
                .filter(|(v, _)| v[1] > v[0])
                .map(|(_, t)| *t)
                .next_back()
        })
        .max()
        .unwrap_or(i64::MIN)
}

/// Goroutine dumps of the process that exports a series: its name is an entity of the series, with or without the port.
fn dumps_of(context: &Context<'_>, ix: usize, since: i64) -> Vec<(i64, f64, InputIx)> {
    let snapshot = context.snapshot;
    let names: Vec<&str> = snapshot
        .series_entities
        .get(ix)
        .into_iter()
        .flatten()
        .filter_map(|id| snapshot.graph.get(id).map(|(_, name)| name))
        .collect();
    let host = |name: &str| name.rsplit_once(':').map_or(name, |(h, _)| h).to_owned();
    let mut dumps: Vec<(i64, f64, InputIx)> = snapshot
        .profiles
        .iter()
        .filter(|p| p.kind.as_ref() == "goroutine" && !p.process.is_empty())
        .filter(|p| names.iter().any(|n| host(n) == host(&p.process)))
        .filter_map(|p| {
            let t = p.t.filter(|t| context.window.contains(*t))?.nanos();
            (t >= since).then_some((t, p.total, p.input))
        })
        .collect();
    dumps.sort_by_key(|(t, _, input)| (*t, *input));
    dumps
}

/// How sure: by the trend and by how many points show it (four are little, twenty are plenty).
fn confidence(grown: &Grown) -> f64 {
    let by_points = grown.growth.points as f64 / (grown.growth.points as f64 + 2.0);
    let by_start = if grown.growth.from_start { 0.7 } else { 1.0 };
    units::round_to(
        (grown.growth.tau * by_points * by_start).clamp(0.05, 0.98),
        3,
    )
}

fn finding(snapshot: &Snapshot, resource: &str, mut all: Vec<Grown>) -> Option<Finding> {
    // The series with most samples of the growth tells best; one resource may be exported by several collectors.
    all.sort_by(|a, b| {
        let rise = |g: &Grown| g.growth.end_value - g.growth.start_value;
        b.growth
            .points
            .cmp(&a.growth.points)
            .then(rise(b).total_cmp(&rise(a)))
            .then(a.ix.cmp(&b.ix))
    });
    let lead = all.first()?;
    let series = snapshot.series.get(lead.ix)?;
    let growth = &lead.growth;
    let (from, onset) = (
        Timestamp::from_nanos(lead.between.0),
        Timestamp::from_nanos(lead.between.1),
    );
    let unit = series.unit.as_ref();
    let say = |v: f64| units::with_unit(v, unit);
    let mut finding = Finding::new(FindingKind::Leak, &series.selector(), onset, None)
        .with("slope_per_h", units::round_to(growth.slope_per_h, 3))
        .with("start_value", growth.start_value)
        .with("end_value", growth.end_value)
        .with("metric", series.metric.as_ref())
        .with("resource", resource)
        .with("unit", if unit.is_empty() { "count" } else { unit });
    finding.severity = Severity::Major;
    finding.confidence = confidence(lead);
    finding.entities = snapshot
        .series_entities
        .get(lead.ix)
        .cloned()
        .unwrap_or_default();
    let whose = finding
        .entities
        .first()
        .and_then(|id| snapshot.graph.get(id))
        .map_or_else(String::new, |(_, name)| format!(" of {name}"));
    let (start, end) = (say(growth.start_value), say(growth.end_value));
    finding.title = format!("{resource}{whose} grew from {start} to {end} and did not come back");
    let when = if growth.from_start {
        format!(
            "since before {} (it grows from the first samples on)",
            onset.to_clock()
        )
    } else {
        format!("since {} to {}", from.to_clock(), onset.to_clock())
    };
    let at_end = if growth.is_plateau {
        "It stands still at the end, and has not come back."
    } else {
        "It still grows at the end."
    };
    finding.detail = format!(
        "{} grows {when}, by {} per hour, from {start} to {end} (unit: {}). {at_end} The trend rests on {} of {} points, Kendall's τ {}.{}{}",
        series.selector(),
        say(growth.slope_per_h),
        if unit.is_empty() { "count" } else { unit },
        growth.points,
        lead.points,
        units::round_to(growth.tau, 2),
        dumps_sentence(lead),
        others(snapshot, &all),
    );
    finding.evidence = evidence(snapshot, series, lead, (&start, &end));
    Some(finding)
}

fn evidence(
    snapshot: &Snapshot,
    series: &Series,
    lead: &Grown,
    (start, end): (&str, &str),
) -> Vec<Evidence> {
    let mut evidence =
        vec![snapshot.sample_evidence(series, lead.between.0, format!("{start} before it grew"))];
    if lead.dumps.is_empty() {
        evidence.push(snapshot.sample_evidence(series, lead.end, format!("{end} at the end")));
    } else {
        evidence.push(snapshot.sample_evidence(series, lead.between.1, "the first above"));
    }
    evidence.extend(lead.dumps.iter().map(|(t, v, input)| {
        let text = format!(
            "{} goroutines in the dump of {}",
            units::number(*v),
            Timestamp::from_nanos(*t).to_clock()
        );
        snapshot.evidence(*input, "total", text)
    }));
    evidence
}

fn dumps_sentence(lead: &Grown) -> String {
    if lead.dumps.is_empty() {
        return String::new();
    }
    let parts: Vec<String> = lead
        .dumps
        .iter()
        .map(|(t, v, _)| {
            format!(
                "{} at {}",
                units::number(*v),
                Timestamp::from_nanos(*t).to_clock()
            )
        })
        .collect();
    format!(
        " After the last scrape the totals of dumps stand in: {}.",
        parts.join(", ")
    )
}

fn others(snapshot: &Snapshot, all: &[Grown]) -> String {
    let rest: Vec<String> = all
        .iter()
        .skip(1)
        .filter_map(|g| {
            let series = snapshot.series.get(g.ix)?;
            let say = |v: f64| units::with_unit(v, &series.unit);
            Some(format!(
                "{} ({} to {})",
                series.selector(),
                say(g.growth.start_value),
                say(g.growth.end_value)
            ))
        })
        .collect();
    if rest.is_empty() {
        String::new()
    } else {
        format!(" The same is seen in {}.", rest.join(", "))
    }
}

#[cfg(test)]
mod tests;
