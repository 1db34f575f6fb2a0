//! Batches → snapshot: joins, sorts, removes doubles, names entities.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::time::{TimeRange, Timestamp};
use crate::model::batch::Batch;
use crate::model::entity::{
    EntityGraph, EntityKeys, EntityType, RelationKind, entity_id, workload_of_pod,
};
use crate::model::input::{Input, InputIx};
use crate::model::labels::Labels;
use crate::model::pack::Packs;
use crate::model::prometheus::MetricMeta;
use crate::model::series::{MetricKind, Sampling, Series};
use crate::model::span::Span;
use crate::store::{Snapshot, alerts, calls, requests};

/// Joins inputs, each with its rows. The order of `parts` does not matter: they are sorted by path and content first.
pub fn build(mut parts: Vec<(Input, Batch)>) -> Snapshot {
    parts.sort_by(|a, b| (&a.0.path, &a.0.sha256).cmp(&(&b.0.path, &b.0.sha256)));
    let mut snapshot = Snapshot {
        generation: 1,
        packs: Packs::builtin(),
        ..Snapshot::default()
    };
    let mut series = Vec::new();
    let mut requests = Vec::new();
    for (ix, (input, mut batch)) in parts.into_iter().enumerate() {
        batch.set_input(InputIx(ix as u32));
        if let Some(extent) = batch.extent() {
            snapshot.extent = Some(snapshot.extent.map_or(extent, |known| known.hull(&extent)));
        }
        snapshot.inputs.push(input);
        take(&mut series, &mut batch.series);
        take(&mut requests, &mut batch.requests);
        take(&mut snapshot.spans, &mut batch.spans);
        take(&mut snapshot.summaries, &mut batch.summaries);
        take(&mut snapshot.edges, &mut batch.edges);
        take(&mut snapshot.profiles, &mut batch.profiles);
        take(&mut snapshot.events, &mut batch.events);
        take(&mut snapshot.targets, &mut batch.targets);
        take(&mut snapshot.facts, &mut batch.facts);
        for meta in batch.metadata {
            snapshot
                .metadata
                .entry(Arc::clone(&meta.family))
                .or_insert(meta);
        }
    }
    if let Some(extent) = &mut snapshot.extent {
        extent.end = extent.end.plus_nanos(1);
    }
    snapshot.series = merge_series(series);
    let (requests, duplicates) = requests::merge(requests);
    snapshot.requests = requests;
    snapshot.duplicate_requests = duplicates;
    alerts::ring(&snapshot.series, &mut snapshot.events);
    sort_rows(&mut snapshot);
    describe_series(&mut snapshot);
    derive(&mut snapshot);
    snapshot
}

/// What follows from rows that are in order: calls, entities, where the series of a metric stand.
pub(super) fn derive(snapshot: &mut Snapshot) {
    snapshot.calls = calls::match_calls(&snapshot.spans);
    snapshot.graph = graph(snapshot);
    index(snapshot);
}

/// Appends rows; the first are taken as they lie, without a copy.
fn take<T>(into: &mut Vec<T>, from: &mut Vec<T>) {
    if into.is_empty() {
        std::mem::swap(into, from);
    } else {
        into.append(from);
    }
}

fn sort_rows(snapshot: &mut Snapshot) {
    sort_spans(&mut snapshot.spans);
    snapshot.spans.dedup_by(|later, kept| {
        kept.span_id == later.span_id
            && kept.trace_id == later.trace_id
            && kept.start == later.start
            && kept.kind == later.kind
            && (kept.duration_ms == later.duration_ms || later.duration_ms.is_none())
    });
    // They are held as long as the incident is open, by the million.
    snapshot.spans.shrink_to_fit();
    snapshot
        .summaries
        .sort_by(|a, b| (a.start, &a.trace_id).cmp(&(b.start, &b.trace_id)));
    snapshot
        .summaries
        .dedup_by(|a, b| a.trace_id == b.trace_id && a.start == b.start);
    snapshot
        .edges
        .sort_by(|a, b| (&a.caller, &a.callee, a.start).cmp(&(&b.caller, &b.callee, b.start)));
    snapshot
        .events
        .sort_by(|a, b| (a.t, &a.title, a.input).cmp(&(b.t, &b.title, b.input)));
    snapshot
        .events
        .dedup_by(|a, b| a.t == b.t && a.title == b.title && a.kind == b.kind && a.text == b.text);
    snapshot.profiles.sort_by(|a, b| {
        (&a.process, &a.kind, a.t.is_none(), a.t, a.input).cmp(&(
            &b.process,
            &b.kind,
            b.t.is_none(),
            b.t,
            b.input,
        ))
    });
    snapshot
        .targets
        .sort_by(|a, b| (a.at, &a.labels).cmp(&(b.at, &b.labels)));
    snapshot
        .facts
        .sort_by(|a, b| (&a.name, &a.value, a.input).cmp(&(&b.name, &b.value, b.input)));
}

/// By trace, start and id. Keys are made once and sorted in place of the wide rows; of trace ids only their rank is compared.
fn sort_spans(spans: &mut [Span]) {
    let ranks = {
        let ids: BTreeSet<&Arc<str>> = spans
            .chunk_by(|a, b| Arc::ptr_eq(&a.trace_id, &b.trace_id))
            .filter_map(|run| run.first().map(|s| &s.trace_id))
            .collect();
        let ranks: BTreeMap<Arc<str>, u32> = ids.into_iter().map(Arc::clone).zip(0..).collect();
        ranks
    };
    let mut last: Option<(usize, u32)> = None;
    spans.sort_by_cached_key(|s| {
        let address = Arc::as_ptr(&s.trace_id).cast::<u8>().addr();
        let rank = match last {
            Some((known, rank)) if known == address => rank,
            _ => ranks.get(&s.trace_id).copied().unwrap_or(u32::MAX),
        };
        last = Some((address, rank));
        // Of two records of one span the finished one comes first and is kept.
        (
            rank,
            s.start,
            s.span_id,
            s.duration_ms.is_none(),
            !s.is_segment,
        )
    });
}

/// One series for each metric, labels, sampling and (for evaluated ones) expression. Samples of several inputs are put
/// in order; of two at one time the first input's is kept.
fn merge_series(mut series: Vec<Series>) -> Vec<Series> {
    // The sort is stable, and inputs come in order of path, so the first of equals is the first input's.
    series.sort_by(|a, b| series_key(a).cmp(&series_key(b)));
    let mut merged: Vec<Series> = Vec::with_capacity(series.len());
    for next in series {
        match merged.last_mut() {
            Some(last) if series_key(last) == series_key(&next) => join(last, next),
            _ => merged.push(in_order(next)),
        }
    }
    merged
}

fn series_key(series: &Series) -> (&str, &Labels, Sampling, Option<&str>) {
    let expr = if series.sampling.is_raw() {
        None
    } else {
        series.expr.as_deref()
    };
    (
        series.metric.as_ref(),
        &series.labels,
        series.sampling,
        expr,
    )
}

/// Times strictly increasing: sorted when they are not, of two at one time the first kept.
fn in_order(mut series: Series) -> Series {
    if !series.t.windows(2).all(|w| w[0] < w[1]) {
        let mut pairs: Vec<(i64, f64)> = series
            .t
            .iter()
            .copied()
            .zip(series.v.iter().copied())
            .collect();
        pairs.sort_by_key(|(t, _)| *t);
        pairs.dedup_by_key(|(t, _)| *t);
        (series.t, series.v) = pairs.into_iter().unzip();
    }
    series.histograms.sort_by_key(|h| h.t);
    series.histograms.dedup_by_key(|h| h.t);
    series
}

fn join(into: &mut Series, next: Series) {
    let Series {
        mut t,
        mut v,
        mut histograms,
        mut exemplars,
        mut sources,
        ..
    } = next;
    let is_after = into
        .t
        .last()
        .zip(t.first())
        .is_none_or(|(last, first)| last < first);
    into.t.append(&mut t);
    into.v.append(&mut v);
    into.histograms.append(&mut histograms);
    into.exemplars.append(&mut exemplars);
    into.sources.append(&mut sources);
    if !is_after || !into.histograms.is_empty() {
        let taken = std::mem::replace(
            into,
            Series::new(Arc::from(""), Labels::default(), Sampling::Raw),
        );
        *into = in_order(taken);
    }
}

/// Kind and unit of each series, from metadata, packs and the name.
fn describe_series(snapshot: &mut Snapshot) {
    for series in &mut snapshot.series {
        let pack = snapshot.packs.find(&series.metric, &series.labels);
        let meta = metadata_of(&snapshot.metadata, &series.metric);
        if series.kind == MetricKind::Unknown {
            series.kind = meta.map_or(MetricKind::Unknown, |m| m.kind);
        }
        let is_evaluated =
            series.expr.as_deref().is_some_and(|e| e.contains('(')) && !series.sampling.is_raw();
        if series.kind == MetricKind::Unknown && !is_evaluated {
            series.kind = kind_by_name(series);
        }
        if pack.is_some_and(|p| p.is_counter) {
            series.kind = MetricKind::Counter;
        }
        if series.unit.is_empty() {
            let declared = pack.map(|p| p.unit.as_str()).filter(|u| !u.is_empty());
            let declared =
                declared.or_else(|| meta.map(|m| m.unit.as_ref()).filter(|u| !u.is_empty()));
            series.unit = Arc::from(declared.unwrap_or_else(|| unit_by_name(&series.metric)));
        }
    }
}

/// The metadata of a metric: of its own name, or of its family without `_bucket`, `_sum`, `_count`, `_total`.
fn metadata_of<'a>(
    metadata: &'a BTreeMap<Arc<str>, MetricMeta>,
    metric: &str,
) -> Option<&'a MetricMeta> {
    metadata.get(metric).or_else(|| {
        let family = ["_bucket", "_sum", "_count", "_total"]
            .iter()
            .find_map(|suffix| metric.strip_suffix(suffix))?;
        metadata.get(family)
    })
}

/// Naming rules of Prometheus: `_total`, `_bucket`, `_sum` and `_count` only grow.
fn kind_by_name(series: &Series) -> MetricKind {
    let metric = series.metric.as_ref();
    if metric.ends_with("_total") {
        MetricKind::Counter
    } else if metric.ends_with("_bucket") && series.labels.get("le").is_some() {
        MetricKind::Histogram
    } else if series.labels.get("quantile").is_some() {
        MetricKind::Summary
    } else if metric.ends_with("_sum") || metric.ends_with("_count") {
        if falls_often(&series.v) {
            MetricKind::Gauge
        } else {
            MetricKind::Counter
        }
    } else if !series.histograms.is_empty() {
        MetricKind::Histogram
    } else {
        MetricKind::Unknown
    }
}

/// Whether values fall in more than a quarter of their moves, and more than five times. A counter falls by a restart
/// only; two interleaved streams of one fall as often, and have no rate that could be taken.
///
/// `CloudWatch` calls its statistics of a minute `…_sum` and `…_count`; they come through exporters as gauges.
fn falls_often(v: &[f64]) -> bool {
    let moves =
        |is_move: fn(f64, f64) -> bool| v.windows(2).filter(|w| is_move(w[0], w[1])).count();
    let (fall, rise) = (moves(|a, b| b < a), moves(|a, b| b > a));
    fall > 5 && fall * 4 > fall + rise
}

fn unit_by_name(metric: &str) -> &'static str {
    const UNITS: [&str; 9] = [
        "seconds",
        "bytes",
        "ratio",
        "milliseconds",
        "celsius",
        "volts",
        "amperes",
        "joules",
        "percent",
    ];
    let base = ["_total", "_bucket", "_sum", "_max", "_min"]
        .iter()
        .find_map(|s| metric.strip_suffix(s))
        .unwrap_or(metric);
    UNITS
        .into_iter()
        .find(|unit| {
            base.strip_suffix(unit)
                .is_some_and(|rest| rest.ends_with('_'))
        })
        .unwrap_or("")
}

/// Fills the entities and roles of series, and the graph of everything.
fn graph(snapshot: &mut Snapshot) -> EntityGraph {
    let keys = EntityKeys::builtin();
    let mut graph = EntityGraph::default();
    let mut pods_of_instance: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for series in &snapshot.series {
        let pack = snapshot.packs.find(&series.metric, &series.labels);
        let peers: Vec<&str> = pack
            .map(|p| p.peers.iter().map(String::as_str).collect())
            .unwrap_or_default();
        let named = keys.entities_of(&series.labels, &peers);
        let ids: Vec<(EntityType, String)> = named
            .iter()
            .map(|(kind, name)| (*kind, graph.add(*kind, name)))
            .collect();
        relate_labels(&mut graph, &ids, &mut pods_of_instance);
        snapshot.series_roles.push(pack.map(|p| p.role));
        snapshot
            .series_entities
            .push(ids.into_iter().map(|(_, id)| id).collect());
    }
    for event in &snapshot.events {
        let ids: Vec<(EntityType, String)> = event
            .entities()
            .into_iter()
            .map(|(kind, name)| (kind, graph.add(kind, &name)))
            .collect();
        relate_labels(&mut graph, &ids, &mut pods_of_instance);
    }
    for (instance, pods) in &pods_of_instance {
        // An exporter that speaks for many pods (kube-state-metrics, cAdvisor) is none of them.
        if let (1, Some(pod)) = (pods.len(), pods.first()) {
            graph.relate(pod, RelationKind::SameAs, instance);
        }
    }
    // A million spans and calls are of a few services: each name is added once.
    let services: BTreeSet<&Arc<str>> = runs_of(snapshot.spans.iter().map(|s| &s.service));
    for service in services {
        graph.add(EntityType::Service, service);
    }
    for summary in &snapshot.summaries {
        let connecting = summary.connect_service.iter();
        for service in connecting.chain([&summary.entry]).filter(|s| !s.is_empty()) {
            graph.add(EntityType::Service, service);
        }
    }
    let mut addresses = BTreeSet::new();
    let mut pairs = BTreeSet::new();
    for call in &snapshot.calls {
        let caller = &snapshot.spans[call.caller].service;
        let callee = &snapshot.spans[call.callee].service;
        let address = |name: &Arc<str>| Arc::as_ptr(name).cast::<u8>().addr();
        if addresses.insert((address(caller), address(callee))) {
            pairs.insert((caller, callee));
        }
    }
    for (caller, callee) in pairs {
        let caller = graph.add(EntityType::Service, caller);
        let callee = graph.add(EntityType::Service, callee);
        graph.relate(&caller, RelationKind::Calls, &callee);
    }
    for edge in &snapshot.edges {
        let caller = graph.add(EntityType::Service, &edge.caller);
        let callee = graph.add(EntityType::Service, &edge.callee);
        graph.relate(&caller, RelationKind::Calls, &callee);
    }
    let callers: BTreeSet<(Arc<str>, Arc<str>, Arc<str>)> = snapshot
        .requests
        .iter()
        .map(|r| {
            (
                Arc::clone(&r.service),
                Arc::clone(&r.instance),
                Arc::clone(&r.upstream),
            )
        })
        .collect();
    for (service, instance, upstream) in callers {
        if service.is_empty() {
            continue;
        }
        let service = graph.add(EntityType::Service, &service);
        if !instance.is_empty() {
            let pod = graph.add(EntityType::Pod, &instance);
            graph.relate(&pod, RelationKind::PartOf, &service);
        }
        if let Some(callee) = service_of_upstream(&upstream) {
            let callee = graph.add(EntityType::Service, callee);
            graph.relate(&service, RelationKind::Calls, &callee);
        }
    }
    for profile in snapshot.profiles.iter().filter(|p| !p.process.is_empty()) {
        graph.add(EntityType::Instance, &profile.process);
    }
    relate_names(&mut graph);
    graph
}

/// Every different name; the same one many times in a row costs one comparison of addresses.
fn runs_of<'a>(names: impl Iterator<Item = &'a Arc<str>>) -> BTreeSet<&'a Arc<str>> {
    let mut addresses = BTreeSet::new();
    names
        .filter(|name| addresses.insert(Arc::as_ptr(name).cast::<u8>().addr()))
        .collect()
}

/// Relations between the entities of one row of labels.
fn relate_labels(
    graph: &mut EntityGraph,
    ids: &[(EntityType, String)],
    pods_of_instance: &mut BTreeMap<String, BTreeSet<String>>,
) {
    let of = |kind: EntityType| {
        ids.iter()
            .find(|(k, _)| *k == kind)
            .map(|(_, id)| id.as_str())
    };
    let within = [
        (EntityType::Process, EntityType::Instance),
        (EntityType::Process, EntityType::Node),
        (EntityType::Pod, EntityType::Service),
        (EntityType::Pod, EntityType::Node),
        (EntityType::Instance, EntityType::Service),
        (EntityType::Instance, EntityType::Job),
        (EntityType::Instance, EntityType::Node),
        (EntityType::Endpoint, EntityType::Service),
    ];
    for (part, whole) in within {
        if let (Some(part), Some(whole)) = (of(part), of(whole)) {
            graph.relate(part, RelationKind::PartOf, whole);
        }
    }
    if let (Some(pod), Some(instance)) = (of(EntityType::Pod), of(EntityType::Instance)) {
        pods_of_instance
            .entry(instance.to_owned())
            .or_default()
            .insert(pod.to_owned());
    }
}

/// `namespace-service-port` of ingress-nginx, or the name itself; nothing for `-` and addresses.
pub fn service_of_upstream(upstream: &str) -> Option<&str> {
    if upstream.is_empty()
        || matches!(upstream, "-" | "internal")
        || upstream.contains([':', '/', ','])
    {
        return None;
    }
    let without_port = upstream
        .rsplit_once('-')
        .filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
    Some(
        without_port
            .and_then(|(rest, _)| rest.split_once('-'))
            .map_or(upstream, |(_, service)| service),
    )
}

/// Relations that only names tell: a pod and its workload, a job and a service of one name, a process group named with
/// the same words as a service, an address with and without its port.
fn relate_names(graph: &mut EntityGraph) {
    for (id, kind, name) in owned_names(graph) {
        if kind == EntityType::Pod
            && let Some(workload) = workload_of_pod(&name)
        {
            let service = graph.add(EntityType::Service, workload);
            graph.relate(&id, RelationKind::PartOf, &service);
        }
        if kind == EntityType::Instance {
            let host = name.rsplit_once(':').map_or(&*name, |(host, _)| host);
            // `relate` passes over a pod that nothing names.
            graph.relate(&entity_id(EntityType::Pod, host), RelationKind::SameAs, &id);
        }
    }
    let entities = owned_names(graph);
    let mut services: BTreeMap<BTreeSet<&str>, Vec<&str>> = BTreeMap::new();
    for (id, _, name) in entities
        .iter()
        .filter(|(_, k, _)| *k == EntityType::Service)
    {
        services.entry(words(name)).or_default().push(id);
    }
    for (id, kind, name) in &entities {
        let relation = match kind {
            EntityType::Job => RelationKind::SameAs,
            EntityType::Process => RelationKind::PartOf,
            _ => continue,
        };
        for service in services.get(&words(name)).into_iter().flatten() {
            graph.relate(id, relation, service);
        }
    }
}

fn owned_names(graph: &EntityGraph) -> Vec<(String, EntityType, String)> {
    graph
        .names()
        .map(|(id, kind, name)| (id.to_owned(), kind, name.to_owned()))
        .collect()
}

fn words(name: &str) -> BTreeSet<&str> {
    name.split(['-', '_', '.', '/'])
        .filter(|w| !w.is_empty())
        .collect()
}

fn index(snapshot: &mut Snapshot) {
    let mut from = 0;
    while from < snapshot.series.len() {
        let metric = Arc::clone(&snapshot.series[from].metric);
        let to = from + snapshot.series[from..].partition_point(|s| s.metric == metric);
        snapshot.by_metric.insert(metric, from..to);
        from = to;
    }
}

/// The window of an analysis: what was asked for, else everything that was read.
pub fn window(snapshot: &Snapshot, from: Option<Timestamp>, to: Option<Timestamp>) -> TimeRange {
    let all = snapshot.extent.unwrap_or(TimeRange {
        start: Timestamp::MIN,
        end: Timestamp::MAX,
    });
    TimeRange::new(from.unwrap_or(all.start), to.unwrap_or(all.end))
}

#[cfg(test)]
mod tests;
