//! Where failures are counted: counters with a status, counters of failures, access logs, spans and lists of traces.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::detect::latency_spike::{NOT_REQUESTS, Subject, route_of, spans_are_chosen, subject_of};
use crate::model::entity::{EntityType, entity_id};
use crate::model::input::Evidence;
use crate::model::pack::Role;
use crate::model::series::{MetricKind, Series};
use crate::model::span::{SpanKind, SpanStatus};
use crate::store::Snapshot;
use crate::store::build::service_of_upstream;
use crate::store::histogram::longest_pair;

/// Kinds of sources, the best for numbers first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    /// Requests of an access log.
    AccessLog,
    /// Rows of a list of traces.
    Traces,
    /// Spans of answered requests.
    Spans,
    /// A counter of requests by status.
    Requests,
    /// A counter of failures alone: against time, not against requests.
    Failures,
}

/// What one kind of source says of one service as one observer sees it.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// The service; its route is empty.
    pub subject: Subject,
    pub source: Source,
    /// The metric, or empty for rows.
    pub metric: Arc<str>,
    pub slices: Vec<Slice>,
}

/// A piece of time: one request, or one pair of scrapes of one instance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slice {
    pub start: i64,
    pub end: i64,
    /// Requests in it; its seconds for a counter of failures alone.
    pub n: f64,
    /// Failures among them.
    pub k: f64,
    /// What it is: index of a row, or of a series that counted failures in it.
    pub row: u32,
}

type Key = (Source, Arc<str>, Subject);

/// Collects every group that can be judged.
pub(super) fn collect(snapshot: &Snapshot) -> Vec<Group> {
    let mut groups: BTreeMap<Key, Vec<Slice>> = BTreeMap::new();
    add_counters(snapshot, &mut groups);
    add_requests(snapshot, &mut groups);
    add_traces(snapshot, &mut groups);
    groups
        .into_iter()
        .map(|((source, metric, subject), mut slices)| {
            slices.sort_by_key(|s| (s.end, s.start, s.row));
            Group {
                subject,
                source,
                metric,
                slices,
            }
        })
        .collect()
}

/// Whether a label value under one of the usual names says that a request failed by the server's fault: a status of
/// 500 or more, a gRPC code that means one, or a word. `None` when no label tells.
fn failed(series: &Series) -> Option<bool> {
    const STATUS: [&str; 7] = [
        "code",
        "status",
        "status_code",
        "http_status_code",
        "http_response_status_code",
        "http_status",
        "response_code",
    ];
    // google.golang.org/grpc/codes: those that OpenTelemetry's conventions count as errors of a server.
    const GRPC: [&str; 6] = [
        "Unknown",
        "DeadlineExceeded",
        "Unimplemented",
        "Internal",
        "Unavailable",
        "DataLoss",
    ];
    let labels = &series.labels;
    if let Some(value) = STATUS.iter().find_map(|name| labels.get(name)) {
        let is_status = value.len() == 3 && value.starts_with(|c: char| c.is_ascii_digit());
        return Some(if is_status {
            value.starts_with('5')
        } else {
            GRPC.contains(&value) || is_word_of_failure(value)
        });
    }
    if let Some(value) = labels.get("grpc_code") {
        return Some(GRPC.contains(&value));
    }
    if let Some(value) = ["result", "outcome"]
        .iter()
        .find_map(|name| labels.get(name))
    {
        return Some(is_word_of_failure(value));
    }
    let value = labels.get("error")?;
    Some(!matches!(value, "" | "false" | "none" | "None" | "0"))
}

fn is_word_of_failure(value: &str) -> bool {
    const WORDS: [&str; 8] = [
        "error",
        "errors",
        "fail",
        "failed",
        "failure",
        "timeout",
        "server_error",
        "exception",
    ];
    WORDS.contains(&value.to_ascii_lowercase().as_str())
}

/// A counter of failures alone, by its role or the usual ends of names.
fn counts_failures(metric: &str, role: Option<Role>) -> bool {
    const ENDS: [&str; 5] = [
        "_errors_total",
        "_error_total",
        "_failures_total",
        "_failed_total",
        "_exceptions_total",
    ];
    role == Some(Role::ErrorCount) || ENDS.iter().any(|end| metric.ends_with(end))
}

fn add_counters(snapshot: &Snapshot, groups: &mut BTreeMap<Key, Vec<Slice>>) {
    for metric in snapshot.metrics() {
        if NOT_REQUESTS.iter().any(|prefix| metric.starts_with(prefix)) {
            continue;
        }
        // Counters of one instance and subject belong together: by metric, subject and instance.
        let mut members: BTreeMap<(Source, Subject, String), Vec<(usize, bool)>> = BTreeMap::new();
        for (ix, series) in snapshot.raw(metric) {
            let role = snapshot.series_roles.get(ix).copied().flatten();
            let is_counter = series.kind == MetricKind::Counter || role == Some(Role::RequestCount);
            if !is_counter || metric.ends_with("_sum") {
                continue;
            }
            let (source, is_failure) = if counts_failures(metric, role) {
                (Source::Failures, true)
            } else if let Some(is_failure) = failed(series) {
                (Source::Requests, is_failure)
            } else {
                continue;
            };
            let (mut subject, instance) = subject_of(snapshot, ix, series);
            subject.route.clear();
            members
                .entry((source, subject, instance))
                .or_default()
                .push((ix, is_failure));
        }
        for ((source, subject, _), counters) in members {
            groups
                .entry((source, Arc::clone(metric), subject))
                .or_default()
                .extend(slices_of(snapshot, source, &counters));
        }
    }
}

/// The pairs of scrapes of one instance, its counters added up.
fn slices_of(snapshot: &Snapshot, source: Source, counters: &[(usize, bool)]) -> Vec<Slice> {
    let mut pairs: BTreeMap<(i64, i64), Slice> = BTreeMap::new();
    for (ix, is_failure) in counters {
        let Some(series) = snapshot.series.get(*ix) else {
            continue;
        };
        let longest = longest_pair(&series.t);
        for (t, v) in series.t.windows(2).zip(series.v.windows(2)) {
            let grown = v[1] - v[0];
            if t[1].saturating_sub(t[0]) <= longest && grown >= 0.0 {
                add(&mut pairs, (t[0], t[1]), grown, *is_failure, *ix);
            }
        }
    }
    // A counter that appears with its first failure began at 0, if its instance was scraped just before: another
    // counter of it has that very pair (after a change of labels none has).
    let previous: BTreeMap<i64, i64> = pairs.keys().map(|(start, end)| (*end, *start)).collect();
    for (ix, is_failure) in counters {
        let first = snapshot
            .series
            .get(*ix)
            .and_then(|s| s.t.first().zip(s.v.first()));
        if let Some((end, value)) = first
            && let Some(start) = previous.get(end)
            && value.is_finite()
        {
            add(&mut pairs, (*start, *end), *value, *is_failure, *ix);
        }
    }
    let mut slices: Vec<Slice> = pairs.into_values().collect();
    for slice in &mut slices {
        if source == Source::Failures {
            slice.n = (slice.end - slice.start) as f64 / 1e9;
        }
    }
    slices.retain(|slice| slice.n > 0.0);
    slices
}

fn add(
    pairs: &mut BTreeMap<(i64, i64), Slice>,
    (start, end): (i64, i64),
    grown: f64,
    is_failure: bool,
    ix: usize,
) {
    let slice = pairs.entry((start, end)).or_insert(Slice {
        start,
        end,
        n: 0.0,
        k: 0.0,
        row: ix as u32,
    });
    slice.n += grown;
    if is_failure && grown > 0.0 {
        slice.k += grown;
        slice.row = ix as u32;
    }
}

fn single(start: i64, end: i64, is_failure: bool, row: usize) -> Slice {
    Slice {
        start,
        end,
        n: 1.0,
        k: f64::from(u8::from(is_failure)),
        row: row as u32,
    }
}

/// Requests by whom they were meant for. A failure is a status of 500 or more.
fn add_requests(snapshot: &Snapshot, groups: &mut BTreeMap<Key, Vec<Slice>>) {
    for (row, request) in snapshot.requests.iter().enumerate() {
        let Some(is_failure) = request.failed() else {
            continue;
        };
        let service = request.service.to_string();
        let (callee, observer) = match service_of_upstream(&request.upstream) {
            Some(callee) if callee != service => (callee.to_owned(), service),
            _ => (service, String::new()),
        };
        let subject = Subject {
            callee,
            observer,
            route: String::new(),
        };
        groups
            .entry((Source::AccessLog, Arc::from(""), subject))
            .or_default()
            .push(single(
                request.start().nanos(),
                request.t.nanos(),
                is_failure,
                row,
            ));
    }
}

/// Spans of answered requests by service, unless they are a selection, and rows of lists of traces by entry.
fn add_traces(snapshot: &Snapshot, groups: &mut BTreeMap<Key, Vec<Slice>>) {
    let mut push = |source, service: &str, slice| {
        let subject = Subject {
            callee: service.to_owned(),
            observer: String::new(),
            route: String::new(),
        };
        groups
            .entry((source, Arc::from(""), subject))
            .or_default()
            .push(slice);
    };
    for (row, trace) in snapshot.summaries.iter().enumerate() {
        let start = trace.start.nanos();
        let length = trace.response_ms.or(trace.duration_ms).unwrap_or(0.0);
        let end = start.saturating_add((length * 1e6) as i64);
        let slice = single(start, end, trace.status == SpanStatus::Fault, row);
        push(Source::Traces, &trace.entry, slice);
    }
    if spans_are_chosen(snapshot) {
        return;
    }
    for (row, span) in snapshot.spans.iter().enumerate() {
        let is_answer = (span.is_segment || span.kind == SpanKind::Server) && !span.is_inferred;
        if is_answer && span.duration_ms.is_some() {
            let is_fault = span.status == SpanStatus::Fault;
            let slice = single(span.start.nanos(), span.end().nanos(), is_fault, row);
            push(Source::Spans, &span.service, slice);
        }
    }
}

/// What a failing slice is, for the report: its entities, its evidence, and words that tell its kind (`503 /checkout`).
pub(super) fn describe(
    snapshot: &Snapshot,
    group: &Group,
    slice: &Slice,
) -> (Vec<String>, Option<Evidence>, String) {
    let row = slice.row as usize;
    match group.source {
        Source::AccessLog => {
            let Some(request) = snapshot.requests.get(row) else {
                return Default::default();
            };
            let status = request.status.map_or_else(String::new, |s| s.to_string());
            let what = format!("{status} {}", route_of(&request.path));
            let quote = format!("{} {} {status}", request.method, request.path);
            let evidence =
                snapshot.evidence(request.input, format!("line {}", request.line), quote);
            let pod = (!request.instance.is_empty())
                .then(|| entity_id(EntityType::Pod, &request.instance));
            (pod.into_iter().collect(), Some(evidence), what)
        }
        Source::Traces => {
            let Some(trace) = snapshot.summaries.get(row) else {
                return Default::default();
            };
            let status = trace
                .http_status
                .map_or_else(String::new, |s| s.to_string());
            let what = format!("{status} {}", route_of(&trace.http_url));
            let quote = format!("{} {status} fault", trace.http_url);
            let locator = format!("trace {}", trace.trace_id);
            let evidence = snapshot.evidence(trace.input, locator, quote);
            (Vec::new(), Some(evidence), what.trim().to_owned())
        }
        Source::Spans => {
            let Some(span) = snapshot.spans.get(row) else {
                return Default::default();
            };
            let what = if span.error.is_empty() {
                route_of(&span.operation)
            } else {
                format!("{} {}", route_of(&span.operation), span.error)
            };
            let locator = format!("trace {} segment {}", span.trace_id, span.span_id);
            let quote = format!("{} {} fault {}", span.service, span.operation, span.error);
            let evidence = snapshot.evidence(span.input, locator, quote);
            (Vec::new(), Some(evidence), what)
        }
        Source::Requests | Source::Failures => {
            let Some(series) = snapshot.series.get(row) else {
                return Default::default();
            };
            let quote = format!(
                "{} failures since the scrape before",
                crate::base::units::number(slice.k)
            );
            let evidence = snapshot.sample_evidence(series, slice.end, quote);
            let ids = snapshot.series_entities.get(row).cloned();
            let words: BTreeSet<&str> = ["code", "status", "path", "route", "handler"]
                .iter()
                .filter_map(|name| series.labels.get(name))
                .collect();
            let what = words.into_iter().collect::<Vec<_>>().join(" ");
            (ids.unwrap_or_default(), Some(evidence), what)
        }
    }
}
