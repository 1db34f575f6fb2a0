//! The cheap signal when no spans are there: the histogram of a caller against that of its callee.
//!
//! An edge of an X-Ray service graph holds response times as the caller saw them, network included; a node's are as
//! the server saw them, without (`protocols/xray.md` §1). The difference of a quantile is a gap, though not of one call.

use super::{FLOOR_MS, values};
use crate::base::units::{ms, round_to};
use crate::detect::Context;
use crate::model::entity::{EntityType, entity_id};
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::model::span::CallEdge;

/// Fewer calls than this have no 99 % quantile worth the name.
const LEAST_CALLS: u64 = 20;

/// Whether both sides have a histogram, so that something can be said.
pub(super) fn is_usable(edge: &CallEdge) -> bool {
    edge.caller != edge.callee
        && !edge.caller_histogram.is_empty()
        && !edge.callee_histogram.is_empty()
}

/// The quantile `q` of (value, count), ascending.
fn quantile(histogram: &[(f64, u64)], q: f64) -> Option<f64> {
    let total = total(histogram);
    let rank = ((total as f64 * q).ceil() as u64).clamp(1, total.max(1));
    let mut seen = 0u64;
    histogram
        .iter()
        .find(|(_, count)| {
            seen = seen.saturating_add(*count);
            seen >= rank
        })
        .map(|(value, _)| *value)
}

fn total(histogram: &[(f64, u64)]) -> u64 {
    histogram
        .iter()
        .fold(0, |sum, (_, count)| sum.saturating_add(*count))
}

/// The finding of one edge, if its caller saw far longer times than its callee.
pub(super) fn check(context: &Context<'_>, edge: &CallEdge) -> Option<Finding> {
    if !is_usable(edge) {
        return None;
    }
    let (calls, served) = (total(&edge.caller_histogram), total(&edge.callee_histogram));
    // A node's histogram holds all its callers: it speaks for this one only when most calls were its own.
    if calls < LEAST_CALLS || calls.saturating_mul(2) < served {
        return None;
    }
    let gap =
        |q: f64| Some(quantile(&edge.caller_histogram, q)? - quantile(&edge.callee_histogram, q)?);
    let (p50, p99, most) = (gap(0.5)?, gap(0.99)?, gap(1.0)?);
    let seen_p99 = quantile(&edge.caller_histogram, 0.99)?;
    if p99 < FLOOR_MS || p99 < seen_p99 / 2.0 {
        return None;
    }
    let bound = quantile(&edge.callee_histogram, 1.0)? + FLOOR_MS;
    let count: u64 = edge
        .caller_histogram
        .iter()
        .filter(|(value, _)| *value >= bound)
        .map(|(_, count)| count)
        .sum();
    let start = edge.start.unwrap_or(context.window.start);
    let subject = format!("{} {} histogram", edge.caller, edge.callee);
    let mut finding = Finding::new(FindingKind::SlowCall, &subject, start, edge.end);
    finding.severity = Severity::Minor;
    // Two distributions, not pairs of calls: never more than an even chance.
    finding.confidence = 0.4;
    finding.title = format!(
        "{} saw {} slower by {} at the 99 % quantile than {} did itself",
        edge.caller,
        edge.callee,
        ms(p99),
        edge.callee
    );
    finding.detail = format!(
        "The service map has {calls} calls from {} to {}. Their 99 % quantile is {} for the caller and {} for the callee; \
         the medians differ by {}. The difference lies between the two (connecting, queueing, network), but it is one of \
         two distributions and of sampled traces, not of single calls: matched spans would decide.",
        edge.caller,
        edge.callee,
        ms(seen_p99),
        ms(seen_p99 - p99),
        ms(p50),
    );
    finding.entities = vec![
        entity_id(EntityType::Service, &edge.caller),
        entity_id(EntityType::Service, &edge.callee),
    ];
    finding.values = values(&edge.caller, &edge.callee);
    let finding = finding
        .with("gap_ms_p50", round_to(p50, 3))
        .with("gap_ms_p99", round_to(p99, 3))
        .with("gap_ms_max", round_to(most, 3))
        .with("count", count)
        .with("calls", calls);
    let evidence = context.snapshot.evidence(
        edge.input,
        format!("edge {} → {}", edge.caller, edge.callee),
        format!(
            "p99 {} as the caller saw it, {} as the callee did",
            ms(seen_p99),
            ms(seen_p99 - p99)
        ),
    );
    Some(Finding {
        evidence: vec![evidence],
        ..finding
    })
}
