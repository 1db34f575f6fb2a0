//! Where latencies come from: histograms among the series, access logs, spans and lists of traces, each as groups of
//! one callee, one observer and one route.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::flow::{Flow, Observation};
use super::route::route_of;
use crate::model::entity::workload_of_pod;
use crate::model::pack::Role;
use crate::model::series::{MetricKind, Series};
use crate::model::span::SpanKind;
use crate::store::Snapshot;
use crate::store::build::service_of_upstream;
use crate::store::histogram::{self, Deltas, Family};

/// Whom latencies are about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::detect) struct Subject {
    /// The service that answers.
    pub callee: String,
    /// The service that measured from outside, or empty when the callee itself did.
    pub observer: String,
    /// The route, or empty when the source does not tell them apart.
    pub route: String,
}

/// Kinds of sources, the best for numbers first: single requests, then every trace, then buckets by how fine they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    AccessLog,
    Summaries,
    Spans,
    Native,
    Classic,
    Summary,
    Evaluated,
}

/// The latencies of one group that one instance measured, not computed yet.
#[derive(Debug, Clone)]
pub(super) enum Part {
    /// Indices into [`Sources::families`].
    Families(Vec<usize>),
    /// Indices of series with native histograms.
    Native(Vec<usize>),
    /// Single latencies.
    Rows(Vec<Observation>),
}

/// The latencies of one instance.
#[derive(Debug, Clone, Default)]
pub(super) struct Loaded {
    rows: Vec<Observation>,
    deltas: Vec<Deltas>,
}

/// The latencies of some instances together; `to_ms` turns the unit of their histograms into milliseconds.
pub(super) fn flow_of<'a>(loaded: impl Iterator<Item = &'a Loaded>, to_ms: f64) -> Flow {
    let mut rows = Vec::new();
    let mut parts: Vec<&Deltas> = Vec::new();
    for one in loaded {
        rows.extend_from_slice(&one.rows);
        parts.extend(one.deltas.iter().filter(|d| !d.is_empty()));
    }
    if parts.is_empty() {
        Flow::exact(rows)
    } else {
        Flow::binned(&parts, to_ms)
    }
}

/// One instance of a group.
#[derive(Debug, Clone)]
pub(super) struct Member {
    /// Its name, or empty.
    pub name: String,
    /// Entities of its rows, the most specific first.
    pub entities: Vec<String>,
    /// Its latencies.
    pub part: Part,
}

/// Everything that one kind of source says of one subject.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub subject: Subject,
    pub source: Source,
    /// The metric, or empty for rows.
    pub metric: Arc<str>,
    /// What one unit of its values is in milliseconds.
    pub to_ms: f64,
    pub members: Vec<Member>,
}

/// All groups and what they point into.
#[derive(Debug, Default)]
pub(super) struct Sources {
    pub families: Vec<Family>,
    pub groups: Vec<Group>,
    /// The spans at hand were chosen from more traces, by whom and how is not known: their quantiles mean nothing.
    pub spans_are_chosen: bool,
}

/// A group's key: source, metric, bounds of its buckets, subject.
type Key = (Source, Arc<str>, Vec<u64>, Subject);
type Groups = BTreeMap<Key, (f64, BTreeMap<String, Member>)>;

/// Collects everything that has latencies of requests.
pub(super) fn collect(snapshot: &Snapshot) -> Sources {
    let mut sources = Sources {
        families: histogram::families(snapshot),
        ..Sources::default()
    };
    let mut groups = Groups::new();
    add_families(snapshot, &sources.families, &mut groups);
    add_native(snapshot, &mut groups);
    add_requests(snapshot, &mut groups);
    sources.spans_are_chosen = spans_are_chosen(snapshot);
    if !sources.spans_are_chosen {
        add_spans(snapshot, &mut groups);
    }
    add_summaries(snapshot, &mut groups);
    sources.groups = groups
        .into_iter()
        .map(|((source, metric, _, subject), (to_ms, members))| Group {
            subject,
            source,
            metric,
            to_ms,
            members: members.into_values().collect(),
        })
        .collect();
    sources
}

/// Whether the spans are of fewer than nine tenths of the listed traces: then somebody picked them, mostly the slow
/// and the failed ones, and shares and quantiles of them say nothing.
pub(in crate::detect) fn spans_are_chosen(snapshot: &Snapshot) -> bool {
    let in_spans: BTreeSet<&str> = snapshot.spans.iter().map(|s| s.trace_id.as_ref()).collect();
    in_spans.len() * 10 < snapshot.summaries.len() * 9
}

/// Prefixes of metrics of runtimes, machines and the monitoring itself: they count or time no requests.
pub(in crate::detect) const NOT_REQUESTS: [&str; 9] = [
    "go_",
    "jvm_",
    "process_",
    "prometheus_",
    "scrape_",
    "promhttp_",
    "net_conntrack_",
    "node_",
    "alertmanager_",
];

/// Milliseconds in one unit of a series of latencies; `None` when it measures something else: no time, the runtime or
/// the monitoring itself, or connects (which `connect_outliers` judges).
pub(super) fn latency_unit(snapshot: &Snapshot, ix: usize, base: &str) -> Option<f64> {
    if NOT_REQUESTS.iter().any(|prefix| base.starts_with(prefix)) {
        return None;
    }
    let role = snapshot.series_roles.get(ix).copied().flatten();
    if role.is_some_and(|r| r != Role::RequestDuration) {
        return None;
    }
    unit_ms(&snapshot.series.get(ix)?.unit).or_else(|| match base.rsplit('_').next()? {
        "ms" | "millis" => Some(1.0),
        "us" | "micros" => Some(1e-3),
        _ => None,
    })
}

pub(super) fn unit_ms(unit: &str) -> Option<f64> {
    Some(match unit {
        "seconds" | "s" => 1e3,
        "milliseconds" | "ms" => 1.0,
        "microseconds" | "us" => 1e-3,
        "nanoseconds" | "ns" => 1e-6,
        _ => return None,
    })
}

/// Subject and instance of a series.
pub(in crate::detect) fn subject_of(
    snapshot: &Snapshot,
    ix: usize,
    series: &Series,
) -> (Subject, String) {
    const PEERS: [&str; 7] = [
        "peer",
        "peer_service",
        "peer.service",
        "destination_service_name",
        "destination_service",
        "upstream",
        "server_address",
    ];
    let ids = snapshot.series_entities.get(ix);
    let named = |kind: &str| {
        ids.into_iter()
            .flatten()
            .find_map(|id| id.strip_prefix(kind)?.strip_prefix(':'))
            .unwrap_or("")
    };
    let pod = named("pod");
    let own = [
        named("service"),
        workload_of_pod(pod).unwrap_or(""),
        named("job"),
        named("instance"),
    ]
    .into_iter()
    .find(|name| !name.is_empty())
    .unwrap_or("");
    let of_pack = snapshot
        .packs
        .find(&series.metric, &series.labels)
        .filter(|pack| pack.peers.iter().any(|p| p == "service"))
        .and_then(|_| {
            let labels = &series.labels;
            labels
                .get("exported_service")
                .or_else(|| labels.get("service"))
        });
    let peer = of_pack.or_else(|| PEERS.iter().find_map(|name| series.labels.get(name)));
    let subject = match peer.filter(|p| !p.is_empty() && *p != own) {
        Some(peer) => Subject {
            callee: service_of_upstream(peer).unwrap_or(peer).to_owned(),
            observer: own.to_owned(),
            route: route_of(named("endpoint")),
        },
        None => Subject {
            callee: own.to_owned(),
            observer: String::new(),
            route: route_of(named("endpoint")),
        },
    };
    let instance = if pod.is_empty() {
        named("instance")
    } else {
        pod
    };
    (subject, instance.to_owned())
}

fn add_families(snapshot: &Snapshot, families: &[Family], groups: &mut Groups) {
    for (at, family) in families.iter().enumerate() {
        let Some(ix) = family.buckets.first().and_then(|(_, s)| s.first()).copied() else {
            continue;
        };
        let Some(to_ms) = latency_unit(snapshot, ix, &family.base) else {
            continue;
        };
        let bounds = family.buckets.iter().map(|(le, _)| le.to_bits()).collect();
        let key = |subject| (Source::Classic, Arc::clone(&family.base), bounds, subject);
        let member = series_member(snapshot, ix, to_ms, groups, key);
        match &mut member.part {
            Part::Families(all) => all.push(at),
            _ => member.part = Part::Families(vec![at]),
        }
    }
}

fn add_native(snapshot: &Snapshot, groups: &mut Groups) {
    for (ix, series) in snapshot.series.iter().enumerate() {
        if !series.sampling.is_raw() || series.histograms.len() < 2 {
            continue;
        }
        let Some(to_ms) = latency_unit(snapshot, ix, &series.metric) else {
            continue;
        };
        let key = |subject| {
            (
                Source::Native,
                Arc::clone(&series.metric),
                Vec::new(),
                subject,
            )
        };
        let member = series_member(snapshot, ix, to_ms, groups, key);
        match &mut member.part {
            Part::Native(all) => all.push(ix),
            _ => member.part = Part::Native(vec![ix]),
        }
    }
}

fn series_member<'g>(
    snapshot: &Snapshot,
    ix: usize,
    to_ms: f64,
    groups: &'g mut Groups,
    key: impl FnOnce(Subject) -> Key,
) -> &'g mut Member {
    let (subject, name) = snapshot.series.get(ix).map_or_else(
        || {
            let nobody = Subject {
                callee: String::new(),
                observer: String::new(),
                route: String::new(),
            };
            (nobody, String::new())
        },
        |series| subject_of(snapshot, ix, series),
    );
    let (_, members) = groups
        .entry(key(subject))
        .or_insert_with(|| (to_ms, BTreeMap::new()));
    members.entry(name.clone()).or_insert_with(|| Member {
        name,
        entities: snapshot
            .series_entities
            .get(ix)
            .cloned()
            .unwrap_or_default(),
        part: Part::Rows(Vec::new()),
    })
}

/// Adds one latency to its group.
fn add_row(
    groups: &mut Groups,
    source: Source,
    subject: Subject,
    instance: &str,
    observation: Observation,
) {
    let (_, members) = groups
        .entry((source, Arc::from(""), Vec::new(), subject))
        .or_insert_with(|| (1.0, BTreeMap::new()));
    let member = members
        .entry(instance.to_owned())
        .or_insert_with(|| Member {
            name: instance.to_owned(),
            entities: Vec::new(),
            part: Part::Rows(Vec::new()),
        });
    if let Part::Rows(rows) = &mut member.part {
        rows.push(observation);
    }
}

/// Requests of access logs, each with the time that its client waited. Switched protocols (101) last as long as people
/// like.
fn add_requests(snapshot: &Snapshot, groups: &mut Groups) {
    for (row, request) in snapshot.requests.iter().enumerate() {
        let Some(ms) = request.duration_ms.filter(|ms| *ms >= 0.0) else {
            continue;
        };
        if request.status == Some(101) {
            continue;
        }
        let service = request.service.to_string();
        let callee = service_of_upstream(&request.upstream).map(str::to_owned);
        let (callee, observer) = match callee {
            Some(callee) if callee != service => (callee, service),
            _ => (service, String::new()),
        };
        let subject = Subject {
            callee,
            observer,
            route: route_of(&request.path),
        };
        let observation = Observation {
            start: request.start().nanos(),
            ms,
            row: row as u32,
        };
        add_row(
            groups,
            Source::AccessLog,
            subject,
            &request.instance,
            observation,
        );
    }
}

/// Spans of answered requests, by service and operation.
fn add_spans(snapshot: &Snapshot, groups: &mut Groups) {
    for (row, span) in snapshot.spans.iter().enumerate() {
        let Some(ms) = span.duration_ms.filter(|ms| *ms >= 0.0) else {
            continue;
        };
        if span.is_inferred || !(span.is_segment || span.kind == SpanKind::Server) {
            continue;
        }
        let route = route_of(&span.operation);
        let subject = Subject {
            callee: span.service.to_string(),
            observer: String::new(),
            route: if route == span.service.as_ref() {
                String::new()
            } else {
                route
            },
        };
        let observation = Observation {
            start: span.start.nanos(),
            ms,
            row: row as u32,
        };
        add_row(groups, Source::Spans, subject, "", observation);
    }
}

/// Lists of traces: how long the root took, by the service where it entered and its path.
fn add_summaries(snapshot: &Snapshot, groups: &mut Groups) {
    for (row, trace) in snapshot.summaries.iter().enumerate() {
        let Some(ms) = trace
            .response_ms
            .or(trace.duration_ms)
            .filter(|ms| *ms >= 0.0)
        else {
            continue;
        };
        let subject = Subject {
            callee: trace.entry.to_string(),
            observer: String::new(),
            route: route_of(&trace.http_url),
        };
        let observation = Observation {
            start: trace.start.nanos(),
            ms,
            row: row as u32,
        };
        add_row(groups, Source::Summaries, subject, "", observation);
    }
}

impl Sources {
    /// Computes the latencies of one member.
    pub(super) fn load(&self, snapshot: &Snapshot, member: &Member) -> Loaded {
        let mut loaded = Loaded::default();
        match &member.part {
            Part::Rows(observations) => loaded.rows.extend_from_slice(observations),
            Part::Families(all) => loaded.deltas.extend(
                all.iter()
                    .filter_map(|at| self.families.get(*at))
                    .map(|family| family.deltas(snapshot)),
            ),
            Part::Native(all) => loaded.deltas.extend(
                all.iter()
                    .filter_map(|ix| snapshot.series.get(*ix))
                    .map(histogram::native_deltas),
            ),
        }
        loaded
    }

    /// The series that evidence about a member of a classic or native group points to: the bucket next above `bound_ms`.
    pub(super) fn series_near(
        &self,
        group: &Group,
        member: &Member,
        bound_ms: f64,
    ) -> Option<usize> {
        match &member.part {
            Part::Families(all) => {
                let family = self.families.get(*all.first()?)?;
                let bucket = family
                    .buckets
                    .iter()
                    .find(|(le, _)| le * group.to_ms >= bound_ms * (1.0 - 1e-9))
                    .or_else(|| family.buckets.last())?;
                bucket.1.first().copied()
            }
            Part::Native(all) => all.first().copied(),
            Part::Rows(_) => None,
        }
    }
}

/// Summary series (`quantile` label) of latencies at their furthest tail quantile: index, quantile, base name.
pub(super) fn summary_series(snapshot: &Snapshot) -> Vec<(usize, f64, f64)> {
    let mut best: BTreeMap<(Arc<str>, crate::model::labels::Labels), (usize, f64, f64)> =
        BTreeMap::new();
    for (ix, series) in snapshot.series.iter().enumerate() {
        if !series.sampling.is_raw() || series.kind == MetricKind::Counter {
            continue;
        }
        let q = series
            .labels
            .get("quantile")
            .and_then(|q| q.parse::<f64>().ok());
        let Some(q) = q.filter(|q| (0.9..1.0).contains(q)) else {
            continue;
        };
        let Some(to_ms) = latency_unit(snapshot, ix, &series.metric) else {
            continue;
        };
        let key = (
            Arc::clone(&series.metric),
            series.labels.without(&["quantile"]),
        );
        let known = best.entry(key).or_insert((ix, q, to_ms));
        // Nearest to 0.99 from below: a p99.9 of few observations is their maximum.
        let rank = |q: f64| if q <= 0.99 { q } else { 0.9 - q };
        if rank(q) > rank(known.1) {
            *known = (ix, q, to_ms);
        }
    }
    best.into_values().collect()
}
