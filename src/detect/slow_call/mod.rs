//! Slow calls: time between caller and callee that neither accounts for.
//!
//! `edges` gathers the gaps of each pair of services and tells the slow ones; `rungs` looks for the ladder of SYN
//! retransmission in them; `histograms` is the weaker signal of a service map. The gap itself is matched in
//! [`crate::store::calls`].

mod edges;
mod histograms;
mod rungs;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::detect::{Context, Detector, Verdict};
use crate::model::finding::{FindingKind, Values};

/// Gaps below this are no slow calls. A handshake with TLS across a region stays under it (39.6 ms in the Go SDK's
/// sample of `xray.md`), and so do a delayed ACK (40 ms) and a scheduler's pause; the shortest timer that a lost packet
/// waits for is 200 ms (`signatures.md`).
const FLOOR_MS: f64 = 100.0;

/// Slow calls.
pub struct SlowCall;

impl Detector for SlowCall {
    fn kind(&self) -> FindingKind {
        FindingKind::SlowCall
    }

    fn doc(&self) -> &'static str {
        "Time between a caller and its callee that neither accounts for, from matched spans: gap = length of the call \
         less length of the callee (`xray.md` §2). One finding for each pair of services. A gap is slow when it is at \
         least 100 ms, ten times the median and six robust standard deviations above the median of its pair; where \
         the median itself is at least 100 ms, when it is more than half of its call. Inferred callees, asynchronous \
         ones, Lambda start-up, earlier attempts and segments that record other work are left out and counted. \
         Without spans, the 99 % quantiles of both sides of a service map are compared, with less confidence. Silent \
         when no gap is slow; not enough data when no call between two services was matched."
    }

    fn check(&self, context: &Context<'_>) -> Verdict {
        let edges = edges::gather(context);
        let mut findings = Vec::new();
        let mut is_measured = BTreeSet::new();
        for ((caller, callee), edge) in &edges {
            if !edge.calls.is_empty() {
                is_measured.insert((caller.as_ref(), callee.as_ref()));
                findings.extend(edges::check(context, caller, callee, edge));
            }
        }
        let maps: Vec<_> = context
            .snapshot
            .edges
            .iter()
            .filter(|e| histograms::is_usable(e))
            .filter(|e| !is_measured.contains(&(e.caller.as_ref(), e.callee.as_ref())))
            .collect();
        if is_measured.is_empty() && maps.is_empty() {
            return Verdict::NotEnough(reason(context));
        }
        findings.extend(
            maps.into_iter()
                .filter_map(|e| histograms::check(context, e)),
        );
        Verdict::of(findings)
    }
}

fn reason(context: &Context<'_>) -> String {
    let snapshot = context.snapshot;
    if snapshot.spans.is_empty() && snapshot.edges.is_empty() && !snapshot.summaries.is_empty() {
        "only summaries of traces were given; BatchGetTraces has their spans".to_owned()
    } else if snapshot.spans.is_empty() && snapshot.edges.is_empty() {
        "no traces and no service map were given".to_owned()
    } else if snapshot.calls.is_empty() {
        format!(
            "among {} spans no callee's span has its caller's span as parent",
            snapshot.spans.len()
        )
    } else {
        format!(
            "of {} matched calls none between two services has a gap that means anything (inferred, asynchronous, \
             start-up, in progress, or shared with other work)",
            snapshot.calls.len()
        )
    }
}

/// The values that every finding of this kind names first.
fn values(caller: &str, callee: &str) -> Values {
    Values::from([
        ("caller".to_owned(), caller.into()),
        ("callee".to_owned(), callee.into()),
    ])
}
