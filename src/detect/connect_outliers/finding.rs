//! A group of slow connects → a finding.

use std::collections::BTreeMap;

use crate::base::stats::median;
use crate::base::time::Timestamp;
use crate::base::units;
use crate::detect::Context;
use crate::detect::connect_outliers::cause::{Cause, Group};
use crate::detect::connect_outliers::collect::{Caller, Connect, Place};
use crate::detect::connect_outliers::histogram::Buckets;
use crate::detect::connect_outliers::interval::{Interval, interval};
use crate::detect::connect_outliers::words;
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::model::input::Evidence;
use crate::store::Snapshot;

/// So many connects are quoted: the first ones, the slowest ones, and some of other records.
const QUOTED_FIRST: usize = 6;
const QUOTED_SLOWEST: usize = 4;
const QUOTED_ALSO: usize = 3;

/// The finding of one group.
pub(super) fn of_group<'b>(
    context: &Context<'_>,
    caller: &Caller,
    group: &Group,
    histograms: impl Iterator<Item = &'b Buckets>,
) -> Option<Finding> {
    let snapshot = context.snapshot;
    let spans: Vec<(i64, i64)> = group.members.iter().map(|c| (c.start, c.end())).collect();
    let interval = interval(&spans, &caller.starts)?;
    let slow = group.members.len() as u64;
    let share = slow as f64 / interval.total.max(1) as f64;
    let subject = format!("{} {}", caller.service, group.cause.word());
    let start = Timestamp::from_nanos(interval.start);
    let end = interval.end.map(Timestamp::from_nanos);
    let values: Vec<f64> = group.members.iter().map(|c| c.ms).collect();
    let largest = values.iter().copied().fold(0.0, f64::max);
    let rungs: serde_json::Map<String, serde_json::Value> = group
        .rungs
        .iter()
        .map(|(rung, n)| (rung.clone(), (*n).into()))
        .collect();
    let mut finding = Finding::new(FindingKind::ConnectOutliers, &subject, start, end)
        .with("count", slow)
        .with("total", interval.total)
        .with("share", units::round_to(share, 6))
        .with("rungs", rungs)
        .with("p50_ms", median(&values))
        .with("max_ms", largest)
        .with("usual_ms", units::round_to(caller.usual_ms, 3))
        .with("ladder", group.ladder)
        .with("log10_p", group.log10_p.map(|p| units::round_to(p, 1)))
        .with(
            "last_outlier",
            Timestamp::from_nanos(interval.last).to_rfc3339(),
        );
    if let Some(limit) = group.limits_ms.first() {
        finding = finding.with("limit_ms", *limit);
    }
    finding.onset = Timestamp::from_nanos(interval.onset);
    finding.cause = Some(group.cause.word().to_owned());
    finding.confidence = units::round_to(group.confidence, 3);
    finding.severity = severity(slow, share);
    if group.cause == Cause::Unknown {
        finding.severity = finding.severity.min(Severity::Minor);
    }
    finding.title = words::title(caller, group, interval.total, largest);
    finding.detail = words::detail(caller, group, &interval, share);
    finding.entities = entities(snapshot, caller, group);
    finding.evidence = evidence(snapshot, caller, group, &interval);
    for buckets in histograms.filter(|b| b.has_slow()) {
        finding.detail = format!("{} The histogram {}.", finding.detail, buckets.in_words());
        finding.evidence.extend(buckets.evidence.iter().cloned());
    }
    Some(finding)
}

/// By the share of connects and their number: one in twenty is an outage for whoever calls several times in a row, one
/// in a thousand moves the p99 of a page that makes ten calls.
pub(super) fn severity(count: u64, share: f64) -> Severity {
    match count {
        0..=2 => Severity::Info,
        _ if share >= 0.05 && count >= 20 => Severity::Critical,
        _ if share >= 0.001 && count >= 5 => Severity::Major,
        _ => Severity::Minor,
    }
}

/// The service, then the pods that had slow connects; one pod alone among several comes first.
fn entities(snapshot: &Snapshot, caller: &Caller, group: &Group) -> Vec<String> {
    let service = format!("service:{}", caller.service);
    let mut pods: BTreeMap<&str, u64> = BTreeMap::new();
    for connect in group.members.iter().filter(|c| !c.instance.is_empty()) {
        *pods.entry(connect.instance.as_ref()).or_insert(0) += 1;
    }
    let mut pods: Vec<(&str, u64)> = pods.into_iter().collect();
    pods.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let mut ids = vec![service];
    for (pod, _) in &pods {
        let known = ["pod", "instance"]
            .into_iter()
            .map(|kind| format!("{kind}:{pod}"))
            .find(|id| snapshot.graph.contains(id));
        ids.extend(known);
    }
    let others = snapshot.requests.iter().any(|r| {
        r.service == caller.service
            && pods
                .first()
                .is_none_or(|(pod, _)| *pod != r.instance.as_ref())
    });
    if pods.len() == 1 && others && ids.len() == 2 {
        ids.swap(0, 1);
    }
    ids
}

fn evidence(
    snapshot: &Snapshot,
    caller: &Caller,
    group: &Group,
    interval: &Interval,
) -> Vec<Evidence> {
    let mut quoted: Vec<&Connect> = group.members.iter().take(QUOTED_FIRST).collect();
    let mut slowest: Vec<&Connect> = group.members.iter().collect();
    slowest.sort_by(|a, b| b.ms.total_cmp(&a.ms).then(a.start.cmp(&b.start)));
    quoted.extend(slowest.into_iter().take(QUOTED_SLOWEST));
    quoted.sort_by_key(|c| (c.start, c.place));
    quoted.dedup_by_key(|c| c.place);
    let also = caller
        .also
        .iter()
        .filter(|c| (interval.start..=interval.last).contains(&c.start))
        .take(QUOTED_ALSO);
    quoted
        .into_iter()
        .chain(also)
        .filter_map(|c| quote(snapshot, c))
        .collect()
}

fn quote(snapshot: &Snapshot, connect: &Connect) -> Option<Evidence> {
    let took = units::ms(connect.ms);
    match connect.place {
        Place::Request { request, attempt } => {
            let request = snapshot.requests.get(request)?;
            let attempt = request.attempts.get(attempt)?;
            let verb = if attempt.connect_failed() {
                "no connection after"
            } else {
                "connect"
            };
            Some(snapshot.evidence(
                request.input,
                format!("line {}", request.line),
                format!(
                    "{verb} {took} to {} for {} {}",
                    attempt.addr, request.method, request.path
                ),
            ))
        }
        Place::Span(ix) => {
            let span = snapshot.spans.get(ix)?;
            let kind = if span.is_segment { "segment" } else { "span" };
            Some(snapshot.evidence(
                span.input,
                format!("trace {} {kind} {}", span.trace_id, span.span_id),
                format!("{}: connect {took}", span.service),
            ))
        }
        Place::Summary(ix) => {
            let summary = snapshot.summaries.get(ix)?;
            Some(snapshot.evidence(
                summary.input,
                format!("trace {}", summary.trace_id),
                format!("summary: connect {took}"),
            ))
        }
    }
}
