//! `error_burst`: failures above their baseline.

mod sources;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;

use rayon::prelude::*;

use self::sources::{Group, Slice, Source, collect, describe};
use crate::base::stats::log10_poisson_tail;
use crate::base::text;
use crate::base::time::{TimeRange, Timestamp};
use crate::base::units;
use crate::detect::quantiles::{log10_stretches, maximal_stretches, trim};
use crate::detect::{Context, Detector, Verdict};
use crate::model::entity::{EntityType, entity_id};
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::store::Snapshot;

/// Fewer failures are an anecdote.
const LEAST_FAILURES: f64 = 5.0;
/// Fewer requests have no ratio of failures.
const LEAST_REQUESTS: f64 = 30.0;
/// A burst has at least so many times the usual share of failures.
const LEAST_RATIO: f64 = 2.0;
/// What a burst is looked for as: so many times the usual share, or half a percent more (a day's budget of 99.5 %).
const LOOKED_FOR_RATIO: f64 = 3.0;
const LOOKED_FOR_SHARE: f64 = 0.005;
/// Chance of a false alarm over everything that was tested, as log10.
const LOG10_CHANCE: f64 = -3.0;
/// Windows in which the usual share and its dispersion are read.
const WINDOWS: f64 = 24.0;

/// Finds failures above their baseline.
pub struct ErrorBurst;

impl Detector for ErrorBurst {
    fn kind(&self) -> FindingKind {
        FindingKind::ErrorBurst
    }

    fn doc(&self) -> &'static str {
        "Failures above their baseline, for each service as each observer sees it. Failures are a status of 500 or more \
         (access logs, counters with a status label), gRPC codes of server faults, labels such as result=\"error\", \
         faults of spans and traces, and counters of failures alone, which are held against time. A burst is a maximal \
         stretch (Ruzzo & Tompa 1999) under the log likelihood ratio k ln(p1/p0) − n (p1 − p0) with p0 the usual share \
         and p1 = max(3 p0, p0 + 0.005); it needs 5 failures, twice the usual share, and P(Poisson(n p0) ≥ k) times \
         everything tested ≤ 0.001, with n p0 and k divided by the dispersion of the other windows. The usual share is \
         that outside of the bursts, found by refining the lower quartile of windows: a constant share of failures is \
         no burst. Pairs of scrapes across a reset or a gap do not count."
    }

    fn check(&self, context: &Context<'_>) -> Verdict {
        let snapshot = context.snapshot;
        let groups = collect(snapshot);
        let tests = groups.len() as f64;
        let judged: Vec<Option<Vec<Burst>>> =
            groups.par_iter().map(|group| scan(group, tests)).collect();
        if judged.iter().all(Option::is_none) {
            return Verdict::NotEnough(
                "nothing counts failures among 30 requests or more: no access log with statuses, no spans, no raw \
                 counter with a status or error label"
                    .to_owned(),
            );
        }
        let mut bursts: Vec<(&Group, Burst)> = groups
            .iter()
            .zip(judged)
            .flat_map(|(group, found)| found.into_iter().flatten().map(move |burst| (group, burst)))
            .filter(|(_, burst)| burst.range(context.window.end).overlaps(&context.window))
            .collect();
        // The best source first; it gives the numbers.
        bursts.sort_by(|(a, x), (b, y)| {
            (a.source, &a.subject, x.start, &a.metric)
                .cmp(&(b.source, &b.subject, y.start, &b.metric))
        });
        let mut joined: Vec<Vec<(&Group, Burst)>> = Vec::new();
        for (group, burst) in bursts {
            let open_end = context.window.end;
            let same = joined.iter_mut().find(|known| {
                known.first().is_some_and(|(best, first)| {
                    best.subject.callee == group.subject.callee
                        && (best.source, &best.metric) != (group.source, &group.metric)
                        && first.range(open_end).overlaps(&burst.range(open_end))
                })
            });
            match same {
                Some(known) => known.push((group, burst)),
                None => joined.push(vec![(group, burst)]),
            }
        }
        Verdict::of(
            joined
                .iter()
                .filter_map(|seen| finding(snapshot, seen))
                .collect(),
        )
    }
}

/// One burst in a group.
#[derive(Debug, Clone)]
struct Burst {
    slices: Range<usize>,
    start: Timestamp,
    end: Timestamp,
    has_ended: bool,
    n: f64,
    k: f64,
    usual_n: f64,
    usual_k: f64,
    /// Seconds outside of every burst.
    usual_secs: f64,
    log10_p: f64,
}

impl Burst {
    fn range(&self, open_end: Timestamp) -> TimeRange {
        let end = if self.has_ended { self.end } else { open_end };
        TimeRange::new(self.start, end.max(self.start.plus_nanos(1)))
    }

    fn secs(&self) -> f64 {
        self.end.secs_since(self.start).max(1.0)
    }
}

/// `None` when there is too little to judge.
fn scan(group: &Group, tests: f64) -> Option<Vec<Burst>> {
    let slices = &group.slices;
    let (total, failures) = (requests(slices), failed(slices));
    if total < LEAST_REQUESTS {
        return None;
    }
    if failures < LEAST_FAILURES {
        return Some(Vec::new());
    }
    let failing = slices.iter().filter(|s| s.k > 0.0).count() as f64;
    let tests = log10_stretches(failing) + tests.max(1.0).log10();
    // So few windows that ten failures fall into each if they are spread evenly: then its share is known to a third.
    let windows = windows(
        slices,
        0..slices.len(),
        total / (failures / 10.0).clamp(4.0, WINDOWS),
    );
    let mut shares: Vec<f64> = windows
        .iter()
        .map(|w| failed(part(slices, w)) / requests(part(slices, w)))
        .collect();
    shares.sort_by(f64::total_cmp);
    let mut usual = shares.get(shares.len() / 4).copied().unwrap_or(0.0);
    let mut stretches: Vec<Range<usize>> = Vec::new();
    for _ in 0..6 {
        let p0 = usual.max(0.5 / total);
        let p1 = (p0 * LOOKED_FOR_RATIO).max(p0 + LOOKED_FOR_SHARE);
        let (gain, cost) = ((p1 / p0).ln(), p1 - p0);
        let mut next = maximal_stretches(slices.iter().map(|s| s.k * gain - s.n * cost));
        let counts = |at: usize| slices.get(at).map_or((0.0, 0.0), |s| (s.n, s.k));
        for r in &mut next {
            *r = trim(r, counts, p0);
        }
        // Only what is no chance leaves the baseline: to take out every lucky stretch would lower it.
        next.retain(|r| {
            let (n, k) = (requests(part(slices, r)), failed(part(slices, r)));
            k >= LEAST_FAILURES
                && k >= n * p0 * LEAST_RATIO
                && log10_poisson_tail(k, n * p0) + tests <= LOG10_CHANCE
        });
        let outside = total - next.iter().map(|r| requests(part(slices, r))).sum::<f64>();
        // Without a fifth of the requests outside there is no baseline.
        if outside < total * 0.2 {
            return Some(Vec::new());
        }
        let is_settled = next == stretches;
        stretches = next;
        usual = (failures
            - stretches
                .iter()
                .map(|r| failed(part(slices, r)))
                .sum::<f64>())
            / outside;
        if is_settled {
            break;
        }
    }
    Some(judge(slices, &stretches, tests))
}

fn judge(slices: &[Slice], stretches: &[Range<usize>], tests: f64) -> Vec<Burst> {
    let inside = |f: fn(&[Slice]) -> f64| stretches.iter().map(|r| f(part(slices, r))).sum::<f64>();
    let usual_n = requests(slices) - inside(requests);
    let usual_k = failed(slices) - inside(failed);
    // Half a failure is added, so that what was not seen outside is not taken for impossible (Jeffreys).
    let usual = (usual_k + 0.5) / (usual_n + 1.0);
    let outside = crate::detect::latency_spike::complement(stretches, slices.len());
    let spread = dispersion(slices, &outside, usual_n, usual_k);
    let span = |r: &Range<usize>| {
        let first = part(slices, r).iter().map(|s| s.start).min().unwrap_or(0);
        let last = part(slices, r).iter().map(|s| s.end).max().unwrap_or(0);
        (Timestamp::from_nanos(first), Timestamp::from_nanos(last))
    };
    let (first, last) = span(&(0..slices.len()));
    let burst_secs: f64 = stretches
        .iter()
        .map(|r| span(r).1.secs_since(span(r).0))
        .sum();
    let bursts = stretches.iter().map(|r| {
        let (n, k) = (requests(part(slices, r)), failed(part(slices, r)));
        let (start, end) = span(r);
        // Unbroken by chance: no failure among so many that came after, at the burst's own share.
        let after = requests(part(slices, &(r.end..slices.len())));
        Burst {
            slices: r.clone(),
            start,
            end,
            has_ended: after * (k / n) > 3.0,
            n,
            k,
            usual_n,
            usual_k,
            usual_secs: (last.secs_since(first) - burst_secs).max(1.0),
            log10_p: log10_poisson_tail(k / spread, n * usual / spread) + tests,
        }
    });
    bursts
        .filter(|b| b.log10_p <= LOG10_CHANCE && b.k / b.n >= LEAST_RATIO * usual)
        .collect()
}

/// Variance of failures in windows outside of bursts over that of a Poisson, at least 1.
fn dispersion(slices: &[Slice], outside: &[Range<usize>], n: f64, k: f64) -> f64 {
    let share = k / n.max(1.0);
    let windows: Vec<Range<usize>> = outside
        .iter()
        .flat_map(|r| windows(slices, r.clone(), n / WINDOWS))
        .collect();
    if windows.len() < 3 || share <= 0.0 {
        return 1.0;
    }
    let chi: f64 = windows
        .iter()
        .map(|w| {
            let expected = requests(part(slices, w)) * share;
            (failed(part(slices, w)) - expected).powi(2) / expected
        })
        .sum();
    (chi / (windows.len() - 1) as f64).max(1.0)
}

/// Neighbouring slices with at least `least` requests together; a rest is left out.
fn windows(slices: &[Slice], within: Range<usize>, least: f64) -> Vec<Range<usize>> {
    let mut windows = Vec::new();
    let (mut from, mut held) = (within.start, 0.0);
    for at in within {
        held += slices.get(at).map_or(0.0, |s| s.n);
        if held >= least && held > 0.0 {
            windows.push(from..at + 1);
            (from, held) = (at + 1, 0.0);
        }
    }
    windows
}

fn part<'a>(slices: &'a [Slice], range: &Range<usize>) -> &'a [Slice] {
    slices.get(range.clone()).unwrap_or_default()
}

fn requests(slices: &[Slice]) -> f64 {
    slices.iter().map(|s| s.n).sum()
}

fn failed(slices: &[Slice]) -> f64 {
    slices.iter().map(|s| s.k).sum()
}

/// The finding of one burst: the first source gives the numbers, the others add evidence.
fn finding(snapshot: &Snapshot, seen: &[(&Group, Burst)]) -> Option<Finding> {
    let (group, burst) = seen.first()?;
    let subject = &group.subject;
    let name = format!("{}|{}|{}", subject.callee, subject.observer, group.metric);
    let end = burst.has_ended.then_some(burst.end);
    let mut finding = Finding::new(FindingKind::ErrorBurst, &name, burst.start, end);
    let share = burst.k / burst.n;
    let usual_share = burst.usual_k / burst.usual_n.max(1.0);
    let rate = burst.k / burst.secs();
    let baseline_rate = burst.usual_k / burst.usual_secs;
    let against_time = group.source == Source::Failures;
    let mut kinds: BTreeMap<String, f64> = BTreeMap::new();
    for (group, burst) in seen {
        let mut evidence = Vec::new();
        for slice in part(&group.slices, &burst.slices)
            .iter()
            .filter(|s| s.k > 0.0)
        {
            let (entities, place, what) = describe(snapshot, group, slice);
            if std::ptr::eq(*group, seen[0].0) {
                *kinds.entry(what).or_default() += slice.k;
            }
            for id in entities {
                if snapshot.graph.contains(&id) && !finding.entities.contains(&id) {
                    finding.entities.push(id);
                }
            }
            evidence.extend(place);
        }
        evidence.truncate(3);
        finding.evidence.append(&mut evidence);
        for kind in [EntityType::Service, EntityType::Job] {
            for name in [&group.subject.callee, &group.subject.observer] {
                let id = entity_id(kind, name);
                if snapshot.graph.contains(&id) && !finding.entities.contains(&id) {
                    finding.entities.push(id);
                }
            }
        }
    }
    let whom = if subject.observer.is_empty() {
        subject.callee.clone()
    } else {
        format!("{}, as seen at {}", subject.callee, subject.observer)
    };
    finding.title = title(&whom, burst, against_time, share, usual_share);
    finding.detail = detail(&whom, seen, &kinds, against_time);
    finding.severity = if against_time || share < 0.01 {
        Severity::Minor
    } else if share < 0.5 {
        Severity::Major
    } else {
        Severity::Critical
    };
    let by_count = 1.0 - 0.5 * (-burst.k / 10.0).exp();
    let by_chance = 1.0 - 10f64.powf(burst.log10_p.max(-12.0));
    // Failures alone may rise with the traffic.
    let by_kind = if against_time { 0.7 } else { 1.0 };
    finding.confidence = units::round_to((by_count * by_chance * by_kind).clamp(0.05, 0.99), 3);
    let finding = finding
        .with("count", burst.k.round())
        .with("rate", units::round_to(rate, 6))
        .with("baseline_rate", units::round_to(baseline_rate, 6));
    Some(if against_time {
        finding
    } else {
        finding
            .with("total", burst.n.round())
            .with("share", units::round_to(share, 6))
            .with("baseline_share", units::round_to(usual_share, 6))
    })
}

fn title(whom: &str, burst: &Burst, against_time: bool, share: f64, usual_share: f64) -> String {
    let count = units::number(burst.k.round());
    if against_time {
        format!(
            "{count} failures of {whom} in {}",
            units::secs(burst.secs())
        )
    } else {
        format!(
            "{} of requests to {whom} failed ({count} of {}), against {} before and after",
            units::share(share),
            units::number(burst.n.round()),
            units::share(usual_share),
        )
    }
}

fn detail(
    whom: &str,
    seen: &[(&Group, Burst)],
    kinds: &BTreeMap<String, f64>,
    against_time: bool,
) -> String {
    let Some((_, burst)) = seen.first() else {
        return String::new();
    };
    let mut sentences = vec![format!(
        "From {} {} {} requests to {whom} failed, {}/s against {}/s at other times.",
        burst.start.to_clock(),
        if burst.has_ended {
            format!("to {}", burst.end.to_clock())
        } else {
            "to the end of the recording".to_owned()
        },
        units::number(burst.k.round()),
        units::number(burst.k / burst.secs()),
        units::number(burst.usual_k / burst.usual_secs),
    )];
    if against_time {
        sentences.push(
            "Only failures were counted, not requests, so a rise of the traffic alone would look alike.".to_owned(),
        );
    } else {
        sentences.push(format!(
            "That is {} of {}; outside it {} of {} failed.",
            units::share(burst.k / burst.n),
            units::number(burst.n.round()),
            units::number(burst.usual_k.round()),
            units::number(burst.usual_n.round()),
        ));
    }
    let mut kinds: Vec<(&String, f64)> = kinds.iter().map(|(k, n)| (k, *n)).collect();
    kinds.retain(|(kind, _)| !kind.is_empty());
    kinds.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    if !kinds.is_empty() {
        let named: Vec<String> = kinds
            .iter()
            .take(3)
            .map(|(kind, n)| format!("{} × {kind}", units::number(n.round())))
            .collect();
        sentences.push(format!("Mostly {}.", text::join_and(&named)));
    }
    for (group, burst) in seen.iter().skip(1) {
        let name = match group.source {
            Source::AccessLog => "The access log".to_owned(),
            Source::Traces => "The list of traces".to_owned(),
            Source::Spans => "The spans".to_owned(),
            Source::Requests | Source::Failures => format!("The counter {}", group.metric),
        };
        sentences.push(format!(
            "{name} shows it too: {} from {}.",
            units::number(burst.k.round()),
            burst.start.to_clock()
        ));
    }
    sentences.join(" ")
}
