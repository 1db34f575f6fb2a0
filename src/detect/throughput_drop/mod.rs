//! The rate of useful work fell.

use std::collections::BTreeMap;

use crate::base::time::{TimeRange, Timestamp};
use crate::base::units;
use crate::detect::changepoint::signals::{counts_requests, is_shadow, owner};
use crate::detect::changepoint::{self, Levels, MIN_POINTS, Noise, levels, rates};
use crate::detect::{Context, Detector, Verdict};
use crate::model::entity::{EntityType, entity_id};
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::model::input::Evidence;
use crate::store::Snapshot;

/// Fewest points at the low rate: below, it is a lull.
const MIN_STAY: usize = 5;
/// The rate that is left, at most, in parts of the rate before.
const MAX_LEFT: f64 = 0.75;
/// The smallest fall in deviations of the noise.
const MIN_SIGMAS: f64 = 4.0;
/// A rate this near the one before ends the drop.
const BACK: f64 = 0.85;
/// Requests that a bin of an access log should hold: their count then strays by about a fifth (Poisson).
const PER_BIN: f64 = 25.0;
/// Most bins of an access log.
const MAX_BINS: i64 = 1_440;

/// The rate of useful work fell.
pub struct ThroughputDrop;

impl Detector for ThroughputDrop {
    fn kind(&self) -> FindingKind {
        FindingKind::ThroughputDrop
    }

    fn doc(&self) -> &'static str {
        "Rates of request counters (role request_count, *_requests_total, the count of request durations), summed over \
         the series of one metric and entity for each pair of scrapes that all of them have, and requests of access \
         logs by service in bins of about 25. The rate is cut into levels (see `level_shift`); a fall to at most 75 % \
         of the rate before, by at least 4 deviations of the noise and of a Poisson count, for at least 5 points, is a \
         drop until the rate is back at 85 %. Missing scrapes give no rate and so no drop, nor do the first and the \
         last bin of a log. One finding for each entity and time. Not enough: no counter of requests and no access log \
         with 12 points."
    }

    fn check(&self, context: &Context<'_>) -> Verdict {
        let mut flows = counters(context);
        flows.extend(logs(context));
        flows.retain(|f| f.v.len() >= MIN_POINTS);
        if flows.is_empty() {
            return Verdict::NotEnough(format!(
                "no counter of requests and no access log has {MIN_POINTS} points in the window"
            ));
        }
        let series = flows.len();
        let mut found: BTreeMap<(String, i64), (Finding, f64)> = BTreeMap::new();
        for flow in &flows {
            let noise = Noise {
                series,
                count_unit: flow.count_unit,
            };
            for drop in drops(flow, &levels(&flow.v, noise)) {
                let finding = finding(context.snapshot, flow, &drop);
                // Several metrics of one entity that fall together (within three points): the busiest is told.
                let near = found
                    .range((flow.owner.clone(), i64::MIN)..=(flow.owner.clone(), i64::MAX))
                    .map(|(key, _)| key.clone())
                    .find(|(_, at)| at.abs_diff(drop.at) <= flow.interval_nanos.unsigned_abs() * 3);
                let key = near.unwrap_or_else(|| (flow.owner.clone(), drop.at));
                if found
                    .get(&key)
                    .is_none_or(|(_, before)| drop.before > *before)
                {
                    found.insert(key, (finding, drop.before));
                }
            }
        }
        Verdict::of(found.into_values().map(|(finding, _)| finding).collect())
    }
}

/// A rate of useful work over time.
#[derive(Debug, Clone, Default)]
struct Flow {
    owner: String,
    entities: Vec<String>,
    /// What is counted, for people and for the id.
    what: String,
    since: Vec<i64>,
    t: Vec<i64>,
    v: Vec<f64>,
    interval_nanos: i64,
    count_unit: f64,
    evidence: Source,
}

/// Where a flow can be looked up.
#[derive(Debug, Clone, Default)]
enum Source {
    /// Series.
    Series(Vec<usize>),
    /// Requests of a service.
    #[default]
    Requests,
}

/// Request counters, summed for each entity, metric and sampling.
fn counters(context: &Context<'_>) -> Vec<Flow> {
    let snapshot = context.snapshot;
    let mut groups: BTreeMap<(String, &str), Vec<usize>> = BTreeMap::new();
    for (ix, series) in snapshot.series.iter().enumerate() {
        let role = snapshot.series_roles.get(ix).copied().flatten();
        if counts_requests(series, role) && !is_shadow(snapshot, series) {
            groups
                .entry((owner(snapshot, ix), series.metric.as_ref()))
                .or_default()
                .push(ix);
        }
    }
    groups
        .into_iter()
        .map(|((owner, metric), ixs)| sum(context, owner, metric, ixs))
        .collect()
}

fn sum(context: &Context<'_>, owner: String, metric: &str, ixs: Vec<usize>) -> Flow {
    let snapshot = context.snapshot;
    let mut flow = Flow {
        owner,
        what: metric.to_owned(),
        entities: ixs
            .first()
            .and_then(|ix| snapshot.series_entities.get(*ix))
            .cloned()
            .unwrap_or_default(),
        ..Flow::default()
    };
    // For each pair of scrapes: the sum, and how many series have it. A series counts between its first and last pair.
    let mut pairs: Vec<((i64, i64), f64)> = Vec::new();
    let mut lives: Vec<(i64, i64)> = Vec::new();
    for series in ixs.iter().filter_map(|ix| snapshot.series.get(*ix)) {
        let range = series.within(context.window);
        let (t, v) = (
            series.t.get(range.clone()).unwrap_or_default(),
            series.v.get(range).unwrap_or_default(),
        );
        let rates = rates(t, v);
        if let (Some(first), Some(last)) = (rates.first(), rates.last()) {
            lives.push((first.1, last.1));
        }
        pairs.extend(rates.iter().map(|(since, t, rate)| ((*t, *since), *rate)));
        flow.interval_nanos = flow
            .interval_nanos
            .max(series.interval_nanos().unwrap_or(0));
    }
    lives.sort_unstable();
    let mut ends: Vec<i64> = lives.iter().map(|l| l.1).collect();
    ends.sort_unstable();
    // A stable sort: rates of one pair are added in the order of the series.
    pairs.sort_by_key(|(pair, _)| *pair);
    for group in pairs.chunk_by(|a, b| a.0 == b.0) {
        let Some(((t, since), _)) = group.first() else {
            continue;
        };
        let begun = lives.partition_point(|(first, _)| first <= t);
        let ended = ends.partition_point(|last| last < t);
        if group.len() == begun - ended {
            flow.since.push(*since);
            flow.t.push(*t);
            flow.v
                .push(group.iter().fold(0.0, |sum, (_, rate)| sum + rate));
        }
    }
    flow.count_unit = if flow.interval_nanos > 0 {
        1e9 / flow.interval_nanos as f64
    } else {
        0.0
    };
    flow.evidence = Source::Series(ixs);
    flow
}

/// Requests of access logs in bins, for each service.
fn logs(context: &Context<'_>) -> Vec<Flow> {
    let mut times: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for request in &context.snapshot.requests {
        if context.window.contains(request.t) {
            times
                .entry(request.service.as_ref())
                .or_default()
                .push(request.t.nanos());
        }
    }
    times
        .into_iter()
        .filter_map(|(service, times)| bins(service, &times))
        .collect()
}

fn bins(service: &str, times: &[i64]) -> Option<Flow> {
    let (first, last) = (*times.first()?, *times.last()?);
    let span = last.saturating_sub(first);
    // Whole seconds, since many logs know no finer time.
    let wanted = span as f64 * PER_BIN / times.len() as f64;
    let width = (wanted / 1e9).ceil().max(1.0) as i64 * 1_000_000_000;
    let width = width.max(span / MAX_BINS);
    let mut counts = vec![0.0; usize::try_from(span / width).ok()? + 1];
    for t in times {
        if let Some(slot) = counts.get_mut(((t - first) / width) as usize) {
            *slot += 1.0;
        }
    }
    let name = if service.is_empty() {
        "the access log"
    } else {
        service
    };
    let mut flow = Flow {
        owner: if service.is_empty() {
            String::new()
        } else {
            entity_id(EntityType::Service, service)
        },
        what: format!("requests in the access log of {name}"),
        interval_nanos: width,
        count_unit: 1e9 / width as f64,
        ..Flow::default()
    };
    if !service.is_empty() {
        flow.entities = vec![flow.owner.clone()];
    }
    // The first bin may begin, and the last end, in the middle of what was logged.
    let inner = 1..counts.len().saturating_sub(1).max(1);
    let mut since = first;
    for (i, count) in counts.iter().enumerate() {
        let next = since.saturating_add(width);
        if inner.contains(&i) {
            flow.since.push(since);
            flow.t.push(next);
            flow.v.push(count * 1e9 / width as f64);
        }
        since = next;
    }
    Some(flow)
}

#[derive(Debug, Clone, PartialEq)]
struct Drop {
    from: i64,
    at: i64,
    end: Option<i64>,
    before: f64,
    after: f64,
    score: f64,
    points: usize,
}

fn drops(flow: &Flow, levels: &Levels) -> Vec<Drop> {
    let mut found = Vec::new();
    let mut at = 1;
    while let (Some(before), Some(low), Some(border)) = (
        levels.parts.get(at - 1),
        levels.parts.get(at),
        levels.borders.get(at - 1),
    ) {
        let sigma = f64::midpoint(before.sigma.powi(2), low.sigma.powi(2)).sqrt();
        let fell = before.level - low.level;
        if low.level > MAX_LEFT * before.level
            || fell < MIN_SIGMAS * sigma
            || before.range.len() < MIN_STAY
        {
            at += 1;
            continue;
        }
        // It lasts until a part is back; on the way it may fall further.
        let mut until = at + 1;
        while levels
            .parts
            .get(until)
            .is_some_and(|p| p.level < BACK * before.level)
        {
            until += 1;
        }
        let range = low.range.start
            ..levels
                .parts
                .get(until)
                .map_or(flow.v.len(), |p| p.range.start);
        if range.len() >= MIN_STAY
            && let (Some(t), Some(since)) =
                (flow.since.get(range.start), flow.since.get(border.earliest))
        {
            let values = flow.v.get(range.clone()).unwrap_or_default();
            found.push(Drop {
                from: *since,
                at: *t,
                end: flow.since.get(range.end).copied(),
                before: before.level,
                after: crate::base::stats::median(values).unwrap_or(low.level),
                score: border.score,
                points: range.len().min(before.range.len()),
            });
        }
        at = until + 1;
    }
    found
}

fn finding(snapshot: &Snapshot, flow: &Flow, drop: &Drop) -> Finding {
    let start = Timestamp::from_nanos(drop.at);
    let end = drop.end.map(Timestamp::from_nanos);
    let subject = format!("{} {}", flow.owner, flow.what);
    let ratio = drop.after / drop.before;
    let mut finding = Finding::new(FindingKind::ThroughputDrop, &subject, start, end)
        .with("before", units::round_to(drop.before, 4))
        .with("after", units::round_to(drop.after, 4))
        .with("ratio", units::round_to(ratio, 4))
        .with("unit", "1/s");
    finding.severity = if ratio < 0.5 {
        Severity::Major
    } else {
        Severity::Minor
    };
    finding.confidence = units::round_to(changepoint::confidence(drop.score, drop.points), 3);
    finding.entities.clone_from(&flow.entities);
    let (before, after) = (units::number(drop.before), units::number(drop.after));
    let whose = flow
        .entities
        .first()
        .and_then(|id| snapshot.graph.get(id))
        .map_or_else(String::new, |(_, name)| format!(" of {name}"));
    finding.title = format!("throughput{whose} fell from {before}/s to {after}/s");
    let until = end.map_or_else(
        || "and had not come back when the recording ended".to_owned(),
        |end| format!("until {}", end.to_clock()),
    );
    finding.detail = format!(
        "{}{whose}: the rate fell from a median of {before}/s to {after}/s ({} of it) at {} {until}; {} points at the shorter side.",
        flow.what,
        units::share(ratio),
        start.to_clock(),
        drop.points,
    );
    finding.evidence = evidence(
        snapshot,
        flow,
        drop,
        &format!("{before}/s before, {after}/s after"),
    );
    finding
}

fn evidence(snapshot: &Snapshot, flow: &Flow, drop: &Drop, quote: &str) -> Vec<Evidence> {
    match &flow.evidence {
        Source::Series(ixs) => ixs
            .iter()
            .take(3)
            .filter_map(|ix| snapshot.series.get(*ix))
            .map(|s| snapshot.sample_evidence(s, drop.at, quote))
            .collect(),
        Source::Requests => {
            let after = TimeRange::new(Timestamp::from_nanos(drop.from), Timestamp::MAX);
            snapshot
                .requests
                .iter()
                .filter(|r| {
                    flow.owner.is_empty()
                        || entity_id(EntityType::Service, &r.service) == flow.owner
                })
                .find(|r| after.contains(r.t))
                .map(|r| snapshot.evidence(r.input, format!("line {}", r.line), quote))
                .into_iter()
                .collect()
        }
    }
}

#[cfg(test)]
mod tests;
