//! What one source saw of one spike: its numbers, its entities, its evidence.

use super::flow::Flow;
use super::gauge::GaugeSpike;
use super::route::are_one;
use super::scan::{Episode, window_size};
use super::sources::{self, Group, Member, Source, Sources, Subject};
use crate::base::time::{TimeRange, Timestamp};
use crate::base::units;
use crate::model::entity::{EntityType, entity_id};
use crate::model::input::Evidence;
use crate::model::pack::Role;
use crate::model::series::Series;
use crate::store::Snapshot;

/// What one source saw of one spike.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub source: Source,
    pub subject: Subject,
    pub metric: String,
    /// What is timed, when it is no request: the metric (the wait for a pool, a job).
    pub step: Option<String>,
    pub start: Timestamp,
    pub end: Option<Timestamp>,
    pub onset: Timestamp,
    pub numbers: Numbers,
    /// Names of the instances that show it, when others do not.
    pub only: Vec<String>,
    pub entities: Vec<String>,
    pub evidence: Vec<Evidence>,
    pub confidence: f64,
    /// How exact the numbers are, in sentences.
    pub caution: String,
    pub has_begun: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Numbers {
    pub q: f64,
    pub baseline_ms: f64,
    pub peak_ms: f64,
    pub worst_ms: f64,
    pub mean_baseline_ms: Option<f64>,
    pub mean_peak_ms: Option<f64>,
    pub is_ceiling: bool,
    pub counted: Option<Counted>,
}

#[derive(Debug, Clone)]
pub(super) struct Counted {
    pub bound_ms: f64,
    pub n: f64,
    pub k: f64,
    pub usual_n: f64,
    pub usual_share: f64,
}

impl Candidate {
    /// When it was seen; one that had not ended lasts until `open_end`.
    pub(super) fn range(&self, open_end: Timestamp) -> TimeRange {
        let end = self.end.unwrap_or(open_end).max(self.start.plus_nanos(1));
        TimeRange::new(self.start, end)
    }

    /// Whether the two may be one spike: the same callee, or the same route of one proxy, at overlapping times.
    pub(super) fn is_same(&self, other: &Self, open_end: Timestamp) -> bool {
        let (a, b) = (&self.subject, &other.subject);
        let at_proxy = |own: &Subject, seen: &Subject| {
            own.observer.is_empty() && own.callee == seen.observer && own.route == seen.route
        };
        let is_one = (a.callee == b.callee && are_one(&a.route, &b.route))
            || at_proxy(a, b)
            || at_proxy(b, a);
        is_one && self.step == other.step && self.range(open_end).overlaps(&other.range(open_end))
    }
}

/// The candidate of an episode in counted latencies.
pub(super) fn of_flow(
    snapshot: &Snapshot,
    sources: &Sources,
    group: &Group,
    members: &[&Member],
    flow: &Flow,
    episode: &Episode,
) -> Candidate {
    let nanos =
        |times: &[i64], at: usize| Timestamp::from_nanos(times.get(at).copied().unwrap_or(0));
    let first = episode.stretch.start;
    let start = nanos(&flow.start, first);
    let end = episode
        .stretch
        .clone()
        .filter_map(|at| flow.end.get(at))
        .max()
        .map_or(start, |end| Timestamp::from_nanos(*end));
    // A pair of scrapes says only that a slow request ended in it; at the best guess in its middle, begun `bound` before.
    let onset = if flow.is_exact() {
        start
    } else {
        let pair = nanos(&flow.end, first).nanos_since(start);
        start.plus_nanos((pair / 2 - (episode.bound_ms * 1e6) as i64).max(0))
    };
    let is_part = members.len() < group.members.len();
    let mut entities: Vec<String> = Vec::new();
    for member in members {
        entities.extend(own_entities(snapshot, group, member));
    }
    Candidate {
        source: group.source,
        subject: group.subject.clone(),
        metric: group.metric.to_string(),
        step: group
            .members
            .iter()
            .find_map(|m| sources.series_near(group, m, episode.bound_ms))
            .and_then(|ix| step_of(snapshot, ix, &group.metric)),
        start,
        end: episode.has_ended.then_some(end),
        onset,
        numbers: Numbers {
            q: episode.q,
            baseline_ms: episode.baseline.value,
            peak_ms: episode.peak.value,
            worst_ms: episode.worst.value,
            mean_baseline_ms: episode.mean_baseline,
            mean_peak_ms: episode.mean_peak,
            is_ceiling: episode.peak.is_ceiling,
            counted: Some(Counted {
                bound_ms: episode.bound_ms,
                n: episode.n,
                k: episode.k,
                usual_n: episode.usual_n,
                usual_share: episode.usual_share,
            }),
        },
        only: if is_part {
            members.iter().map(|m| m.name.clone()).collect()
        } else {
            Vec::new()
        },
        entities,
        evidence: evidence(snapshot, sources, group, members, flow, episode),
        confidence: confidence(episode),
        caution: caution(flow, episode),
        has_begun: episode.has_begun,
    }
}

/// The metric, unless it times requests by its role or its name.
fn step_of(snapshot: &Snapshot, ix: usize, metric: &str) -> Option<String> {
    const REQUESTS: [&str; 7] = [
        "request", "response", "latency", "http", "rpc", "server", "call",
    ];
    let has_role = snapshot.series_roles.get(ix).copied().flatten() == Some(Role::RequestDuration);
    let is_request = has_role || REQUESTS.iter().any(|word| metric.contains(word));
    (!is_request).then(|| metric.to_owned())
}

/// Five slow observations, the fewest that pass the test in a window of 100, leave a real doubt; thirty hardly any.
fn confidence(episode: &Episode) -> f64 {
    let by_count = 1.0 - 0.5 * (-episode.k / 10.0).exp();
    let by_chance = 1.0 - 10f64.powf(episode.log10_p.max(-12.0));
    let by_baseline = (episode.usual_n / (episode.usual_n + window_size(episode.q) / 4.0)).min(1.0);
    (by_count * by_chance * by_baseline).clamp(0.05, 0.99)
}

fn caution(flow: &Flow, episode: &Episode) -> String {
    if flow.is_exact() {
        return String::new();
    }
    let range = |e: &crate::store::histogram::Estimate| {
        if e.upper.is_finite() {
            format!("between {} and {}", units::ms(e.lower), units::ms(e.upper))
        } else {
            format!("at {} or more, beyond the last bucket", units::ms(e.lower))
        }
    };
    format!(
        "By its buckets the quantile lies {} in the spike and {} outside. The edges are pairs of scrapes: the first \
         slow request ended between {} and {}.",
        range(&episode.peak),
        range(&episode.baseline),
        clock(&flow.start, episode.stretch.start),
        clock(&flow.end, episode.stretch.start),
    )
}

fn clock(times: &[i64], at: usize) -> String {
    Timestamp::from_nanos(times.get(at).copied().unwrap_or(0)).to_clock()
}

/// Ids of whom a member is about: for latencies that the callee measured, the instance, its endpoint and service; for
/// those measured from outside, the callee first.
fn own_entities(snapshot: &Snapshot, group: &Group, member: &Member) -> Vec<String> {
    let known = |kind: EntityType, name: &str| {
        let id = entity_id(kind, name);
        (!name.is_empty() && snapshot.graph.contains(&id)).then_some(id)
    };
    let callee = known(EntityType::Service, &group.subject.callee)
        .or_else(|| known(EntityType::Job, &group.subject.callee));
    let observer = known(EntityType::Service, &group.subject.observer);
    let pod = known(EntityType::Pod, &member.name);
    if group.subject.observer.is_empty() {
        let own = member.entities.iter().cloned();
        own.chain(pod).chain(callee).collect()
    } else {
        callee.into_iter().chain(observer).chain(pod).collect()
    }
}

fn evidence(
    snapshot: &Snapshot,
    sources: &Sources,
    group: &Group,
    members: &[&Member],
    flow: &Flow,
    episode: &Episode,
) -> Vec<Evidence> {
    if !flow.is_exact() {
        let end = flow
            .end
            .get(episode.stretch.end.saturating_sub(1))
            .copied()
            .unwrap_or(0);
        let quote = format!(
            "{} {}, {} observations, {} beyond {}",
            quantile_name(episode.q),
            units::ms(episode.peak.value),
            units::number(episode.n.round()),
            units::number(episode.k.round()),
            units::ms(episode.bound_ms),
        );
        return members
            .iter()
            .take(3)
            .filter_map(|m| sources.series_near(group, m, episode.bound_ms))
            .filter_map(|ix| snapshot.series.get(ix))
            .map(|series| snapshot.sample_evidence(series, end, &quote))
            .collect();
    }
    let rows = flow.slowest(&episode.stretch, 3);
    rows.into_iter()
        .filter_map(|row| row_evidence(snapshot, group.source, row as usize))
        .collect()
}

fn row_evidence(snapshot: &Snapshot, source: Source, row: usize) -> Option<Evidence> {
    match source {
        Source::AccessLog => {
            let request = snapshot.requests.get(row)?;
            let quote = format!(
                "{} {} took {}",
                request.method,
                request.path,
                units::ms(request.duration_ms?)
            );
            Some(snapshot.evidence(request.input, format!("line {}", request.line), quote))
        }
        Source::Spans => {
            let span = snapshot.spans.get(row)?;
            let quote = format!(
                "{} {} took {}",
                span.service,
                span.operation,
                units::ms(span.duration_ms?)
            );
            let locator = format!("trace {} segment {}", span.trace_id, span.span_id);
            Some(snapshot.evidence(span.input, locator, quote))
        }
        Source::Summaries => {
            let trace = snapshot.summaries.get(row)?;
            let took = trace.response_ms.or(trace.duration_ms)?;
            let quote = format!("{} took {}", trace.http_url, units::ms(took));
            Some(snapshot.evidence(trace.input, format!("trace {}", trace.trace_id), quote))
        }
        _ => None,
    }
}

/// The candidate of a spike in a ready-made quantile: what it is (source, quantile, look-back), and where.
pub(super) fn of_gauge(
    snapshot: &Snapshot,
    ix: usize,
    series: &Series,
    (source, q, look_back): (Source, f64, i64),
    spike: &GaugeSpike,
) -> Candidate {
    let (subject, _) = sources::subject_of(snapshot, ix, series);
    let start = Timestamp::from_nanos(spike.first.saturating_sub(look_back));
    let end = Timestamp::from_nanos(spike.last);
    let mut entities = snapshot
        .series_entities
        .get(ix)
        .cloned()
        .unwrap_or_default();
    let callee = entity_id(EntityType::Service, &subject.callee);
    if snapshot.graph.contains(&callee) && !entities.contains(&callee) {
        entities.push(callee);
    }
    let (mean_baseline_ms, mean_peak_ms) = means(snapshot, series, spike);
    let caution = match source {
        Source::Summary => {
            "The quantile comes from a summary, which looks back over a window of its own (commonly ten minutes), so \
             both edges may be late."
                .to_owned()
        }
        _ => format!(
            "Only the evaluated quantile was given, not its buckets: each point covers the {} before it, and its error \
             cannot be told.",
            units::secs(look_back as f64 / 1e9)
        ),
    };
    let quote = format!("{} {}", quantile_name(q), units::ms(spike.peak_ms));
    Candidate {
        source,
        subject,
        metric: series.metric.to_string(),
        step: match source {
            Source::Evaluated => None,
            _ => step_of(snapshot, ix, &series.metric),
        },
        start,
        end: spike.has_ended.then_some(end),
        onset: Timestamp::from_nanos(spike.first),
        numbers: Numbers {
            q,
            baseline_ms: spike.baseline_ms,
            peak_ms: spike.peak_ms,
            worst_ms: spike.peak_ms,
            mean_baseline_ms,
            mean_peak_ms,
            is_ceiling: false,
            counted: None,
        },
        only: Vec::new(),
        entities,
        evidence: vec![snapshot.sample_evidence(series, spike.peak_at, quote)],
        // Without counts there is no exact test: never surer than two thirds.
        confidence: 0.65 * (1.0 - (-(spike.high.min(spike.usual) as f64) / 5.0).exp()),
        caution,
        has_begun: true,
    }
}

/// The mean outside and inside of a spike by the summary's own sum and count; resets make it unknown.
fn means(snapshot: &Snapshot, series: &Series, spike: &GaugeSpike) -> (Option<f64>, Option<f64>) {
    let labels = series.labels.without(&["quantile"]);
    let side = |suffix: &str| snapshot.raw_exact(&format!("{}{suffix}", series.metric), &labels);
    let (Some(sum), Some(count)) = (side("_sum"), side("_count")) else {
        return (None, None);
    };
    let to_ms = sources::unit_ms(&series.unit).unwrap_or(1e3);
    let grown = |s: &Series, from: i64, to: i64| {
        let at = |t: i64| {
            let ix = s.t.partition_point(|x| *x <= t).checked_sub(1)?;
            s.v.get(ix).copied().filter(|v| v.is_finite())
        };
        Some(at(to)? - at(from)?).filter(|d| *d >= 0.0)
    };
    let first = sum.t.first().copied().unwrap_or(0);
    let last = sum.t.last().copied().unwrap_or(0);
    let inside = |s: &Series| grown(s, spike.first, spike.last);
    let all = |s: &Series| grown(s, first, last);
    let ratio = |sum: Option<f64>, n: Option<f64>| Some(sum? / n.filter(|n| *n > 0.0)? * to_ms);
    let rest = |s: &Series| Some(all(s)? - inside(s)?);
    (
        ratio(rest(sum), rest(count)),
        ratio(inside(sum), inside(count)),
    )
}

/// `p99`, `p99.9`.
pub(super) fn quantile_name(q: f64) -> String {
    format!("p{}", units::round_to(q * 100.0, 3))
}
