//! `latency_spike`: a tail quantile left its baseline for a time.
//!
//! [`sources`] collects latencies as groups of callee, observer and route; [`scan`] tests a group's [`flow`], and
//! [`gauge`] quantiles that came ready-made; each [`candidate`] is what one source saw; [`report`] joins what several sources saw of one spike into one finding.

mod candidate;
mod flow;
mod gauge;
mod report;
mod route;
mod scan;
mod sources;
#[cfg(test)]
mod tests;

use rayon::prelude::*;

pub(in crate::detect) use self::route::route_of;
pub(in crate::detect) use self::scan::complement;
pub(in crate::detect) use self::sources::{NOT_REQUESTS, Subject, spans_are_chosen, subject_of};

use self::candidate::Candidate;
use self::flow::Flow;
use self::scan::Scan;
use self::sources::{Group, Loaded, Member, Source, Sources, flow_of};
use crate::detect::{Context, Detector, Verdict};
use crate::model::finding::FindingKind;
use crate::store::Snapshot;

/// Finds tail quantiles that left their baseline for a time.
pub struct LatencySpike;

impl Detector for LatencySpike {
    fn kind(&self) -> FindingKind {
        FindingKind::LatencySpike
    }

    fn doc(&self) -> &'static str {
        "A p99 (p95 or p90 when fewer than 300 or 60 observations are there; three windows of 1 / (1 − q) observations are \
         needed) that was at least 1.5 times its baseline for a time, for each callee, observer and route. Read from \
         access logs, lists of traces, spans, native histograms, classic buckets for each pair of scrapes (no pair \
         across a reset, a gap or a missing bucket), summaries, and histogram_quantile answers where their buckets are \
         missing. Counted are observations beyond 1.5 × baseline, with buckets beyond the next bound above that and \
         above the baseline's own error bar; a spike is a maximal stretch (Ruzzo & Tompa 1999) in which P(Binomial(n, \
         1 − q) ≥ k) ≤ 0.01 and P(Binomial(n, usual share) ≥ k) times everything tested ≤ 0.001. The baseline is the \
         quantile outside of the spikes, found by refining the lower quartile of windows, so the recording need not \
         begin clean. Silent about connects, about a route that is slow at all times, and about one without a \
         baseline."
    }

    fn check(&self, context: &Context<'_>) -> Verdict {
        let snapshot = context.snapshot;
        let sources = sources::collect(snapshot);
        let tests = sources.groups.len() as f64;
        let judged: Vec<(bool, Vec<Candidate>)> = sources
            .groups
            .par_iter()
            .map(|group| judge(snapshot, &sources, group, tests))
            .collect();
        let mut is_judged = judged.iter().any(|(was, _)| *was);
        let mut candidates: Vec<Candidate> = judged.into_iter().flat_map(|(_, c)| c).collect();
        for (ix, q, to_ms, look_back, source) in ready_made(snapshot) {
            let Some(series) = snapshot.series.get(ix) else {
                continue;
            };
            if let Some(spikes) = gauge::scan(series, to_ms) {
                is_judged = true;
                candidates.extend(spikes.into_iter().map(|spike| {
                    candidate::of_gauge(snapshot, ix, series, (source, q, look_back), &spike)
                }));
            }
        }
        candidates.retain(|c| c.range(context.window.end).overlaps(&context.window));
        if !candidates.is_empty() {
            return Verdict::of(report::findings(snapshot, context.window.end, candidates));
        }
        if is_judged {
            return Verdict::Clear;
        }
        Verdict::NotEnough(reason(snapshot, &sources))
    }
}

fn ready_made(snapshot: &Snapshot) -> Vec<(usize, f64, f64, i64, Source)> {
    let summaries = sources::summary_series(snapshot)
        .into_iter()
        .map(|(ix, q, to_ms)| (ix, q, to_ms, 0, Source::Summary));
    let evaluated = gauge::evaluated(snapshot)
        .into_iter()
        .map(|(ix, q, to_ms, look_back)| (ix, q, to_ms, look_back, Source::Evaluated));
    summaries.chain(evaluated).collect()
}

fn reason(snapshot: &Snapshot, sources: &Sources) -> String {
    let mut reason = if sources.groups.is_empty() {
        "no latencies of requests were given: no access log with durations, no spans, no raw histogram or summary of a \
         request duration"
            .to_owned()
    } else {
        "no route has 30 latencies or more with a baseline (30 are needed for a p90, 60 for a p95, 300 for a p99)"
            .to_owned()
    };
    if sources.spans_are_chosen && !snapshot.spans.is_empty() {
        reason.push_str(
            "; the spans are a selection from the listed traces, so their quantiles say nothing",
        );
    }
    reason
}

/// Whether a group could be judged, and what was found in it.
fn judge(
    snapshot: &Snapshot,
    sources: &Sources,
    group: &Group,
    tests: f64,
) -> (bool, Vec<Candidate>) {
    let everybody: Vec<&Member> = group.members.iter().collect();
    let loaded: Vec<Loaded> = everybody
        .iter()
        .map(|m| sources.load(snapshot, m))
        .collect();
    let pooled = flow_of(loaded.iter(), group.to_ms);
    let alone: Vec<Flow> = match loaded.as_slice() {
        [_] => Vec::new(),
        many => many
            .iter()
            .map(|one| flow_of(std::iter::once(one), group.to_ms))
            .collect(),
    };
    let tests = tests + alone.len() as f64;
    let scans: Vec<Scan> = alone.iter().map(|flow| look(flow, tests)).collect();
    let of_all = look(&pooled, tests);
    let is_judged = !matches!(of_all, Scan::NotEnough)
        || scans.iter().any(|scan| !matches!(scan, Scan::NotEnough));
    // Where some instances show it while others do not, the numbers are theirs: the others would only dilute them.
    let affected: Vec<usize> = (0..scans.len())
        .filter(|at| matches!(scans.get(*at), Some(Scan::Found(_))))
        .collect();
    let is_part = !affected.is_empty() && others_were_there(&alone, &scans);
    let (members, flow, scan) = if is_part {
        let members: Vec<&Member> = affected
            .iter()
            .filter_map(|at| everybody.get(*at).copied())
            .collect();
        let theirs = affected.iter().filter_map(|at| loaded.get(*at));
        let flow = flow_of(theirs, group.to_ms);
        let scan = look(&flow, tests);
        (members, flow, scan)
    } else {
        (everybody, pooled, of_all)
    };
    let Scan::Found(episodes) = scan else {
        return (is_judged, Vec::new());
    };
    let candidates = episodes
        .iter()
        .map(|episode| candidate::of_flow(snapshot, sources, group, &members, &flow, episode))
        .collect();
    (is_judged, candidates)
}

/// Whether an instance that shows no spike answered while others did: one that came later cannot speak for the
/// spike.
fn others_were_there(flows: &[Flow], scans: &[Scan]) -> bool {
    let spikes: Vec<(i64, i64)> = flows
        .iter()
        .zip(scans)
        .filter_map(|(flow, scan)| match scan {
            Scan::Found(episodes) => Some((flow, episodes)),
            _ => None,
        })
        .flat_map(|(flow, episodes)| episodes.iter().filter_map(|e| flow.times(&e.stretch)))
        .collect();
    flows
        .iter()
        .zip(scans)
        .filter(|(_, scan)| !matches!(scan, Scan::Found(_)))
        .any(|(flow, _)| spikes.iter().any(|span| flow.count_within(*span) >= 10.0))
}

fn look(flow: &Flow, tests: f64) -> Scan {
    scan::choose_quantile(flow.total()).map_or(Scan::NotEnough, |q| scan::scan(flow, q, tests))
}
