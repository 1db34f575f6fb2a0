//! A group of slow connects → a finding.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::base::stats::median;
use crate::base::text::{count, grouped, join_and};
use crate::base::time::Timestamp;
use crate::base::units;
use crate::detect::Context;
use crate::detect::connect_outliers::cause::{Cause, Group};
use crate::detect::connect_outliers::collect::{Caller, Connect, Place, Record};
use crate::detect::connect_outliers::histogram::Buckets;
use crate::detect::connect_outliers::interval::{Interval, interval};
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::model::input::Evidence;
use crate::store::Snapshot;

/// So many connects are quoted: the first ones, the slowest ones, and some of other records.
const QUOTED_FIRST: usize = 6;
const QUOTED_SLOWEST: usize = 4;
const QUOTED_ALSO: usize = 3;
/// So many pods and upstreams are named in `detail`.
const NAMED: usize = 5;

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
    finding.title = title(caller, group, interval.total, largest);
    finding.detail = detail(caller, group, &interval, share);
    finding.entities = entities(snapshot, caller, group);
    finding.evidence = evidence(snapshot, caller, group, &interval);
    for buckets in histograms.filter(|b| b.has_slow()) {
        let _ = write!(finding.detail, " The histogram {}.", buckets.in_words());
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

fn title(caller: &Caller, group: &Group, total: u64, largest: f64) -> String {
    let service = &caller.service;
    let slow = group.members.len() as u64;
    let of = format!(
        "{} of {}",
        grouped(slow),
        count(total, "connect", "connects")
    );
    let rungs: Vec<String> = by_rung(group).into_iter().map(|(rung, _)| rung).collect();
    match group.cause {
        Cause::SynRetransmit => format!(
            "{service}: {of} took just over {}, as after a lost SYN",
            join_and(&rungs)
        ),
        Cause::DnsTimeout => format!(
            "{service}: {of} took just over {}, as after a lost DNS answer",
            join_and(&rungs)
        ),
        Cause::SlowPeer => format!(
            "{service}: {of} took up to {}, spread evenly: the other side is slow to accept",
            units::ms(largest)
        ),
        Cause::ConnectTimeout => {
            let limits: Vec<String> = group.limits_ms.iter().map(|l| units::ms(*l)).collect();
            format!(
                "{service}: {of} were given up at {}, the caller's own limit",
                join_and(&limits)
            )
        }
        Cause::Unknown => format!(
            "{service}: {of} took up to {}; why cannot be told",
            units::ms(largest)
        ),
    }
}

/// Rungs in order of time: (`1 s`, 23).
fn by_rung(group: &Group) -> Vec<(String, u64)> {
    let mut rungs: Vec<(f64, u64)> = group
        .rungs
        .iter()
        .filter_map(|(rung, n)| Some((rung.trim_end_matches('s').parse().ok()?, *n)))
        .collect();
    rungs.sort_by(|a, b| a.0.total_cmp(&b.0));
    rungs
        .into_iter()
        .map(|(s, n)| (format!("{s} s"), n))
        .collect()
}

fn detail(caller: &Caller, group: &Group, interval: &Interval, share: f64) -> String {
    let slow = group.members.len() as u64;
    let start = Timestamp::from_nanos(interval.start);
    let last = Timestamp::from_nanos(interval.last);
    let mut text = format!(
        "From {start} on, {} of {} of {} ({}) took far longer than the usual {}; the last one ended at {last}.",
        grouped(slow),
        count(interval.total, "connect", "connects"),
        caller.service,
        units::share(share),
        units::ms(caller.usual_ms),
    );
    let _ = match interval.end {
        Some(end) => write!(
            text,
            " By {} it had been quiet for so long that, at the last rate, chance has 1 %: it is over.",
            Timestamp::from_nanos(end)
        ),
        None => write!(text, " The recording ends before it can be called over."),
    };
    text.push_str(&why(group));
    let _ = write!(text, "{}", split(group));
    if caller.record == Record::Traces {
        text.push_str(
            " The connects are those of the traces at hand; if traces were sampled or chosen, so are the counts.",
        );
    }
    let same = caller
        .also
        .iter()
        .filter(|c| (interval.start..=interval.last).contains(&c.start))
        .count() as u64;
    if same > 0 {
        let _ = write!(
            text,
            " {} also shown by traces, which are not counted again.",
            count(same, "slow connect is", "slow connects are")
        );
    }
    text
}

/// What the cause rests on.
fn why(group: &Group) -> String {
    let slow = group.members.len() as u64;
    let rungs: Vec<String> = by_rung(group)
        .into_iter()
        .map(|(rung, n)| format!("{} just above {rung}", grouped(n)))
        .collect();
    let by_chance = group
        .log10_p
        .map(|p| format!("10^{}", units::number(units::round_to(p, 1))))
        .unwrap_or_default();
    match group.cause {
        Cause::SynRetransmit | Cause::DnsTimeout => {
            let what = match (group.cause, group.ladder) {
                (Cause::DnsTimeout, _) => "where a resolver that got no answer asks again",
                (_, "classic") => "where a SYN is sent again with the time doubling (1, 3, 7 s)",
                (_, "linear") => {
                    "where Linux 6.5 and later sends a SYN again (1, 2, 3, 4, 5, 7, 11 s)"
                }
                _ => {
                    "where a SYN is sent again; no second rung was reached, so the ladder is not known"
                }
            };
            let beside = slow - group.explained;
            let beside = if beside > 0 {
                format!(
                    " {} beside the rungs.",
                    count(beside, "other lies", "others lie")
                )
            } else {
                String::new()
            };
            format!(
                " {} stand on the rungs of a timer: {}, {what}. By chance that has a probability of {by_chance}.{beside}",
                grouped(group.explained),
                join_and(&rungs)
            )
        }
        Cause::SlowPeer => format!(
            " They are spread from {} to {} and stand on no ladder of a timer (probability by chance of those that happen to stand near a rung: {by_chance}): packets were not lost, the other side or the way to it is slow.",
            units::ms(
                group
                    .members
                    .iter()
                    .map(|c| c.ms)
                    .fold(f64::INFINITY, f64::min)
            ),
            units::ms(group.members.iter().map(|c| c.ms).fold(0.0, f64::max)),
        ),
        Cause::ConnectTimeout => {
            let limits: Vec<String> = group.limits_ms.iter().map(|l| units::ms(*l)).collect();
            format!(
                " They ended with 504 and without a header at {}: that is the caller's connect time-out. How long the connects would have taken is not known, so neither is why.",
                join_and(&limits)
            )
        }
        Cause::Unknown => match group.limits_ms.first() {
            Some(limit) => format!(
                " They pile at {}, which is no rung of a known timer; a time-out or a sleep of some program may be.",
                units::ms(*limit)
            ),
            None => {
                let near = if rungs.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", join_and(&rungs))
                };
                format!(
                    " {} not enough to tell a ladder of timers from a slow peer{near}; the probability by chance is {by_chance}.",
                    count(slow, "is", "are")
                )
            }
        },
    }
}

/// The split by pod and by upstream.
fn split(group: &Group) -> String {
    let by = |name: &str, of: &dyn Fn(&Connect) -> &str| -> String {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for connect in &group.members {
            *counts.entry(of(connect)).or_insert(0) += 1;
        }
        counts.remove("");
        let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
        counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let more = counts.len().saturating_sub(NAMED);
        let mut named: Vec<String> = counts
            .iter()
            .take(NAMED)
            .map(|(name, n)| format!("{name} {}", grouped(*n)))
            .collect();
        if more > 0 {
            named.push(format!("{more} more"));
        }
        if named.is_empty() {
            String::new()
        } else {
            format!(" By {name}: {}.", named.join(", "))
        }
    };
    by("pod", &|c| c.instance.as_ref()) + &by("upstream", &|c| c.upstream.as_ref())
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
