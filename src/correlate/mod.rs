//! Findings and the entity graph → hypotheses, ranked, with what speaks for and against each.
//!
//! 1. Every signature (`assets/signatures/*.toml`) is held against the findings ([`matching`]): what it needs, what
//!    supports it, what speaks against it, what is missing.
//! 2. The symptom behind each match is laid out in time ([`symptom`]) and the changes are fitted to it ([`changes`]): which
//!    one it follows, which eased it, which ended it.
//! 3. What else one cause explains is its coverage; the score joins all of it ([`matching::score`]).
//!
//! No cause is better than a wrong cause: what scores under [`ENOUGH`] is shown as a possibility, never as the answer.

pub mod changes;
pub mod coincidence;
mod conclude;
pub mod matching;
pub mod render;
pub mod signature;
pub mod support;
pub mod symptom;
#[cfg(test)]
mod tests;

use crate::correlate::signature::Signature;
use crate::detect::Context;
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::model::hypothesis::Hypothesis;

/// The score from which a hypothesis is called the likely cause. Below it the report says first that nothing explains
/// enough.
pub const ENOUGH: f64 = 0.5;

/// Hypotheses under this score are left out.
const WORTH_SHOWING: f64 = 0.15;

/// At most this many hypotheses are given.
const AT_MOST: usize = 8;

/// Every hypothesis that the findings allow, best first.
pub fn hypotheses(context: &Context<'_>, findings: &[Finding]) -> Vec<Hypothesis> {
    let signatures = Signature::builtin();
    let total_weight: f64 = findings.iter().map(weight).sum();
    let mut all: Vec<Hypothesis> = signatures
        .iter()
        .flat_map(|signature| matching::candidates(context, findings, signature, total_weight))
        .filter(|h| h.score >= WORTH_SHOWING)
        .collect();
    all.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| (a.onset, &a.id).cmp(&(b.onset, &b.id)))
    });
    drop_shadowed(&mut all, findings);
    all.truncate(AT_MOST);
    for (rank, hypothesis) in (1..).zip(&mut all) {
        hypothesis.rank = rank;
    }
    all
}

/// What a finding counts for when coverage is computed: by severity and confidence. A change is no symptom and counts
/// nothing, nor does what is only worth a mark.
pub fn weight(finding: &Finding) -> f64 {
    if finding.kind == FindingKind::Change {
        return 0.0;
    }
    let by_severity = match finding.severity {
        Severity::Info => 0.0,
        Severity::Minor => 1.0,
        Severity::Major => 2.0,
        Severity::Critical => 3.0,
    };
    by_severity * finding.confidence
}

/// Leaves out hypotheses that have nothing of their own beside a better one: a look-alike is noise at 3 a.m. One that
/// explains nothing more and scores clearly less is left out, and so is one that only says of a change what a better one
/// has already given that change a role for.
fn drop_shadowed(sorted: &mut Vec<Hypothesis>, findings: &[Finding]) {
    let weight_of = |ids: &[String], also_in: Option<&Hypothesis>| -> f64 {
        findings
            .iter()
            .filter(|f| ids.contains(&f.id) && also_in.is_none_or(|h| h.explains.contains(&f.id)))
            .map(weight)
            .sum()
    };
    let mut kept: Vec<Hypothesis> = Vec::new();
    for hypothesis in sorted.drain(..) {
        let anchor = hypothesis
            .explains
            .first()
            .and_then(|id| findings.iter().find(|f| f.id == *id));
        let change = anchor.filter(|f| f.kind == FindingKind::Change);
        let is_shadowed = kept
            .iter()
            .filter(|better| better.score >= ENOUGH)
            .any(|better| {
                let is_told = change.is_some_and(|c| {
                    better.changes.iter().any(|role| {
                        role.at == c.start && c.text("what") == Some(role.title.as_str())
                    })
                });
                let all = weight_of(&hypothesis.explains, None);
                let shared = weight_of(&hypothesis.explains, Some(better));
                (is_told && shared >= 0.5 * all)
                    || (better.score - hypothesis.score > 0.05
                        && hypothesis
                            .explains
                            .iter()
                            .all(|id| better.explains.contains(id)))
            });
        if !is_shadowed {
            kept.push(hypothesis);
        }
    }
    *sorted = kept;
}
