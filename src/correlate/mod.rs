//! Findings and the entity graph → hypotheses, ranked, with what speaks for and against each.
//!
//! 1. Every signature (`assets/signatures/*.toml`) is held against the findings ([`matching`]): what it needs, what
//!    supports it, what speaks against it, what is missing.
//! 2. The symptom behind each match is laid out in time ([`symptom`]) and the changes are fitted to it ([`changes`]): which
//!    one it follows, which eased it, which ended it.
//! 3. What else one cause explains is its coverage; the score joins all of it ([`matching::score`]).
//!
//! No cause is better than a wrong cause: what scores under [`ENOUGH`] is shown as a possibility, never as the answer.

mod changes;
mod coincidence;
mod conclude;
mod matching;
mod nearness;
mod render;
mod scene;
pub mod signature;
mod support;
mod symptom;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::base::time::Timestamp;
use crate::correlate::matching::Match;
use crate::correlate::scene::Scene;
use crate::correlate::signature::Signature;
use crate::detect::Context;
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::model::hypothesis::Hypothesis;
use crate::model::report::NotEnough;

/// The score from which a hypothesis is called the likely cause. Below it the report says first that nothing explains
/// enough.
pub const ENOUGH: f64 = 0.5;

/// Hypotheses under this score are left out.
const WORTH_SHOWING: f64 = 0.15;

/// A score that is lower by more than this is clearly lower.
const CLEARLY: f64 = 0.05;

/// At most this many hypotheses are given.
const AT_MOST: usize = 8;

/// Every hypothesis that the findings allow, best first. `not_enough` are the detectors that had nothing to look at: their
/// silence speaks neither for nor against anything.
pub fn hypotheses(
    context: &Context<'_>,
    findings: &[Finding],
    not_enough: &[NotEnough],
) -> Vec<Hypothesis> {
    let scene = Scene::of(context, findings, not_enough);
    let signatures = Signature::builtin();
    let mut matches: Vec<(f64, (Timestamp, String), Match<'_>)> = signatures
        .iter()
        .flat_map(|signature| matching::matches(&scene, signature))
        .map(|found| (found.score(), (found.onset(), found.id()), found))
        .filter(|(score, ..)| *score >= WORTH_SHOWING)
        .collect();
    matches.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let mut kept: Vec<Hypothesis> = Vec::new();
    for (score, _, found) in matches {
        if kept.len() == AT_MOST {
            break;
        }
        if !is_shadowed(&found, score, &kept) {
            let mut hypothesis = found.hypothesis();
            hypothesis.rank = kept.len() as u32 + 1;
            kept.push(hypothesis);
        }
    }
    kept
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

/// Whether a match has nothing of its own beside a better one: a look-alike is noise at 3 a.m. One that explains nothing
/// more and scores clearly less has not, nor has one that only says of a change what a better one has already given that
/// change a role for.
fn is_shadowed(found: &Match<'_>, score: f64, better: &[Hypothesis]) -> bool {
    let all: f64 = found.explains.iter().map(|f| weight(f)).sum();
    let anchor = found.explains.first();
    let change = anchor.filter(|f| f.kind == FindingKind::Change);
    better.iter().filter(|b| b.score >= ENOUGH).any(|better| {
        let theirs: BTreeSet<&str> = better.explains.iter().map(String::as_str).collect();
        let shared: Vec<f64> = found
            .explains
            .iter()
            .filter(|f| theirs.contains(f.id.as_str()))
            .map(|f| weight(f))
            .collect();
        let is_told = change.is_some_and(|change| {
            better.changes.iter().any(|role| {
                role.at == change.start && change.text("what") == Some(role.title.as_str())
            })
        });
        let adds_little = shared.iter().sum::<f64>() >= 0.5 * all;
        let adds_nothing = shared.len() == found.explains.len();
        (is_told && adds_little) || (adds_nothing && better.score - score > CLEARLY)
    })
}
