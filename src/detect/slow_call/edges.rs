//! Gaps of each pair of services, and which of them are slow.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::rungs::{Steps, steps};
use super::{FLOOR_MS, values};
use crate::base::stats;
use crate::base::text;
use crate::base::units::{ms, round_to, share};
use crate::detect::Context;
use crate::model::entity::{EntityType, entity_id};
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::model::input::Evidence;
use crate::model::span::Span;
use crate::store::calls::Call;

/// How often the median a slow gap must be. Gaps of healthy calls spread over less than a decade (`snat-connect-ladder`:
/// median 0.6 ms, the slowest without a lost SYN 16.9 ms, lost ones from 1,009 ms).
const TIMES_MEDIAN: f64 = 10.0;
/// How many robust standard deviations above the median a slow gap must be: a normal distribution has one in 10⁹ there.
const DEVIATIONS: f64 = 6.0;
/// How many of the worst calls are shown.
const SHOWN: usize = 5;

/// One matched call with its spans and its gap.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gap<'a> {
    caller: &'a Span,
    callee: &'a Span,
    call: &'a Call,
    ms: f64,
}

impl Gap<'_> {
    /// Whether the caller's own connect time is the gap, within a tenth and 10 ms.
    fn is_explained_by_connect(&self) -> bool {
        self.caller
            .connect_ms
            .is_some_and(|connect| (self.ms - connect).abs() <= self.ms * 0.1 + 10.0)
    }

    /// Whether more than half of the call lies in the gap.
    fn is_most_of_the_call(&self) -> bool {
        self.caller
            .duration_ms
            .is_some_and(|call| self.ms * 2.0 > call)
    }
}

/// The calls of one pair of services.
#[derive(Debug, Default)]
pub(super) struct Edge<'a> {
    /// Those whose gap means something.
    pub calls: Vec<Gap<'a>>,
    inferred: u64,
    asynchronous: u64,
    startup: u64,
    earlier_attempts: u64,
    shared: u64,
    in_progress: u64,
}

type Pair = (Arc<str>, Arc<str>);

/// Every pair of services with its calls in the window.
pub(super) fn gather<'a>(context: &Context<'a>) -> BTreeMap<Pair, Edge<'a>> {
    let spans = &context.snapshot.spans;
    let mut edges: BTreeMap<Pair, Edge<'a>> = BTreeMap::new();
    for call in &context.snapshot.calls {
        let (Some(caller), Some(callee)) = (spans.get(call.caller), spans.get(call.callee)) else {
            continue;
        };
        if caller.service == callee.service || !context.window.contains(caller.start) {
            continue;
        }
        let pair = (Arc::clone(&caller.service), Arc::clone(&callee.service));
        let edge = edges.entry(pair).or_default();
        match call.gap_ms {
            Some(ms) if call.has_network_gap() => edge.calls.push(Gap {
                caller,
                callee,
                call,
                ms,
            }),
            _ if call.is_inferred => edge.inferred += 1,
            _ if call.is_startup => edge.startup += 1,
            None => edge.in_progress += 1,
            Some(_) if !call.is_last => edge.earlier_attempts += 1,
            Some(_) if call.is_shared => edge.shared += 1,
            Some(_) => edge.asynchronous += 1,
        }
    }
    edges
}

/// The slow gaps among `edge`, in order of time, and whether all of the pair's calls are slow rather than some.
fn slow<'e, 'a>(edge: &'e Edge<'a>, median: f64, mad: f64) -> (Vec<&'e Gap<'a>>, bool) {
    let is_steady = median >= FLOOR_MS;
    let bound = FLOOR_MS
        .max(TIMES_MEDIAN * median)
        .max(median + DEVIATIONS * mad);
    let mut slow: Vec<&Gap<'_>> = edge
        .calls
        .iter()
        .filter(|gap| {
            if is_steady {
                // A whole segment that always takes longer than its callee is a program at work, unless the connect
                // time that it recorded says otherwise.
                gap.ms >= FLOOR_MS
                    && gap.is_most_of_the_call()
                    && (!gap.call.via_segment || gap.is_explained_by_connect())
            } else {
                gap.ms >= bound
            }
        })
        .collect();
    slow.sort_by(|a, b| {
        (a.caller.start, &a.caller.trace_id, a.callee.span_id).cmp(&(
            b.caller.start,
            &b.caller.trace_id,
            b.callee.span_id,
        ))
    });
    (slow, is_steady)
}

/// The finding of one pair, if any of its gaps is slow.
pub(super) fn check(
    context: &Context<'_>,
    caller: &Arc<str>,
    callee: &Arc<str>,
    edge: &Edge<'_>,
) -> Option<Finding> {
    let mut gaps: Vec<f64> = edge.calls.iter().map(|gap| gap.ms).collect();
    gaps.sort_by(f64::total_cmp);
    let median = stats::quantile_sorted(&gaps, 0.5)?;
    let (slow, is_steady) = slow(edge, median, stats::mad(&gaps)?);
    let (first, last) = (slow.first()?, slow.last()?);
    let facts = Facts {
        caller,
        callee,
        edge,
        calls: gaps.len() as u64,
        median,
        p99: stats::quantile_sorted(&gaps, 0.99)?,
        most: *gaps.last()?,
        explained: slow
            .iter()
            .filter(|gap| gap.is_explained_by_connect())
            .count() as u64,
        via_segment: slow.iter().filter(|gap| gap.call.via_segment).count() as u64,
        is_steady,
        steps: steps(&slow.iter().map(|gap| gap.ms).collect::<Vec<_>>(), median),
        slow: &slow,
    };
    let end = slow
        .iter()
        .map(|gap| gap.caller.end())
        .max()
        .unwrap_or_else(|| last.caller.end());
    let mut finding = Finding::new(
        FindingKind::SlowCall,
        &format!("{caller} {callee}"),
        first.caller.start,
        Some(end.plus_nanos(1)),
    );
    finding.severity = if facts.most >= 1_000.0 {
        Severity::Major
    } else {
        Severity::Minor
    };
    finding.confidence = facts.confidence();
    finding.title = facts.title();
    finding.detail = facts.detail();
    finding.entities = vec![
        entity_id(EntityType::Service, caller),
        entity_id(EntityType::Service, callee),
    ];
    finding.values = values(caller, callee);
    finding.evidence = facts.evidence(context);
    let mut finding = finding
        .with("gap_ms_p50", round_to(median, 3))
        .with("gap_ms_p99", round_to(facts.p99, 3))
        .with("gap_ms_max", round_to(facts.most, 3))
        .with("count", facts.count())
        .with("calls", facts.calls)
        .with(
            "share",
            round_to(facts.count() as f64 / facts.calls as f64, 6),
        )
        .with("explained_by_connect", facts.explained)
        .with("via_segment", facts.via_segment);
    if let Some(steps) = &facts.steps {
        let rungs: serde_json::Map<String, serde_json::Value> = steps
            .rungs
            .iter()
            .map(|(seconds, count)| (format!("{seconds}s"), (*count).into()))
            .collect();
        finding = finding.with("rungs", rungs);
    }
    Some(finding)
}

/// What is said of one pair.
struct Facts<'f, 'a> {
    caller: &'f str,
    callee: &'f str,
    edge: &'f Edge<'a>,
    slow: &'f [&'f Gap<'a>],
    calls: u64,
    median: f64,
    p99: f64,
    most: f64,
    explained: u64,
    via_segment: u64,
    is_steady: bool,
    steps: Option<Steps>,
}

impl Facts<'_, '_> {
    const fn count(&self) -> u64 {
        self.slow.len() as u64
    }

    /// n slow calls leave one in n + 1 to chance (Laplace's rule of succession). A gap that the caller's connect time
    /// does not confirm and that is of a whole segment may be the reading of a slow client; few calls in all leave the
    /// median in doubt.
    fn confidence(&self) -> f64 {
        let n = self.count() as f64;
        let mut confidence = (n / (n + 1.0)).min(0.97);
        if self.via_segment * 2 > self.count() && self.explained * 2 < self.count() {
            confidence *= 0.8;
        }
        if self.calls < 10 {
            confidence *= 0.8;
        }
        round_to(confidence, 3)
    }

    fn title(&self) -> String {
        format!(
            "{} of {} from {} to {} lost up to {} on the way",
            text::grouped(self.count()),
            text::count(self.calls, "traced call", "traced calls"),
            self.caller,
            self.callee,
            ms(self.most)
        )
    }

    fn detail(&self) -> String {
        let (caller, callee) = (self.caller, self.callee);
        let mut parts = vec![format!(
            "In {} of {} traced calls from {caller} to {callee} ({}), the caller waited far longer than the callee worked. \
             The gap between the two has a median of {}, a 99 % quantile of {} and a maximum of {}.",
            text::grouped(self.count()),
            text::grouped(self.calls),
            share(self.count() as f64 / self.calls as f64),
            ms(self.median),
            ms(self.p99),
            ms(self.most)
        )];
        if let Some(worst) = self.worst().first() {
            parts.push(format!(
                "In the worst, the call took {} and the callee {}.",
                ms(worst.caller.duration_ms.unwrap_or(f64::NAN)),
                ms(worst.callee.duration_ms.unwrap_or(f64::NAN))
            ));
        }
        if self.is_steady {
            parts.push("The gap is long in most calls, not in a few.".to_owned());
        }
        match &self.steps {
            Some(steps) => parts.push(step_words(steps)),
            None if self.count() < 3 && self.most >= 950.0 => {
                parts.push("There are too few slow calls to tell whether they sit on the steps of a timer.".to_owned());
            }
            None => {}
        }
        if self.explained > 0 {
            parts.push(format!(
                "The connect time that {caller} recorded itself explains {} of the {} slow gaps.",
                text::grouped(self.explained),
                text::grouped(self.count())
            ));
        }
        if self.via_segment > 0 {
            parts.push(format!(
                "{caller} records no span of its calls, only of its requests: the gap also holds reading from and writing \
                 to its own client, and queueing."
            ));
        }
        let retried = self.slow.iter().filter(|gap| gap.call.attempts > 1).count();
        if retried > 0 {
            parts.push(format!(
                "{retried} of the slow calls took several attempts; the last one counts."
            ));
        }
        parts.extend(self.left_out());
        parts.push("Traces are sampled, so the share is one of recorded calls.".to_owned());
        parts.join(" ")
    }

    /// What did not count, and why.
    fn left_out(&self) -> Option<String> {
        let edge = self.edge;
        let reasons: Vec<String> = [
            (edge.inferred, "inferred"),
            (edge.asynchronous, "asynchronous"),
            (edge.startup, "start-up of a function"),
            (edge.earlier_attempts, "earlier attempts"),
            (edge.shared, "of a segment that records other work"),
            (edge.in_progress, "in progress"),
        ]
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, why)| format!("{} {why}", text::grouped(*count)))
        .collect();
        let skewed = edge.calls.iter().filter(|gap| gap.call.is_skewed).count() as u64;
        let mut words = Vec::new();
        if !reasons.is_empty() {
            words.push(format!("Left out: {}.", text::join_and(&reasons)));
        }
        if skewed > 0 {
            words.push(format!(
                "The clocks of {} differ; their gap is a difference of lengths and holds nevertheless.",
                text::count(skewed, "call", "calls")
            ));
        }
        (!words.is_empty()).then(|| words.join(" "))
    }

    fn worst(&self) -> Vec<&Gap<'_>> {
        let mut worst: Vec<&Gap<'_>> = self.slow.to_vec();
        worst.sort_by(|a, b| {
            b.ms.total_cmp(&a.ms).then_with(|| {
                (&a.caller.trace_id, a.callee.span_id).cmp(&(&b.caller.trace_id, b.callee.span_id))
            })
        });
        worst.truncate(SHOWN);
        worst
    }

    fn evidence(&self, context: &Context<'_>) -> Vec<Evidence> {
        self.worst()
            .into_iter()
            .map(|gap| {
                let connect = gap
                    .caller
                    .connect_ms
                    .map(|c| format!(", connect {}", ms(c)))
                    .unwrap_or_default();
                context.snapshot.evidence(
                    gap.caller.input,
                    format!(
                        "trace {} caller {} callee {}",
                        gap.caller.trace_id, gap.caller.span_id, gap.callee.span_id
                    ),
                    format!(
                        "call {} − callee {} = gap {} ms{connect}",
                        exact(gap.caller.duration_ms),
                        exact(gap.callee.duration_ms),
                        exact(Some(gap.ms))
                    ),
                )
            })
            .collect()
    }
}

fn exact(value_ms: Option<f64>) -> String {
    value_ms.map_or_else(|| "?".to_owned(), |v| round_to(v, 3).to_string())
}

fn step_words(steps: &Steps) -> String {
    let rungs: Vec<String> = steps
        .rungs
        .iter()
        .map(|(seconds, count)| format!("{} just above {seconds} s", text::grouped(*count)))
        .collect();
    format!(
        "The slow gaps sit on the steps of SYN retransmission, {}: {}.",
        steps.kind,
        text::join_and(&rungs)
    )
}
