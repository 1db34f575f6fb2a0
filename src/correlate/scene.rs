//! What every hypothesis is held against: the findings, who looked, and the changes with what each one names.

use std::collections::BTreeSet;

use crate::correlate::weight;
use crate::detect::{self, Context};
use crate::model::entity::EntityGraph;
use crate::model::finding::{Finding, FindingKind};
use crate::model::report::NotEnough;

/// A change, as people wrote it down.
pub(super) struct Change<'a> {
    pub(super) finding: &'a Finding,
    pub(super) title: &'a str,
    /// Ids of what it names, by its entities or in its words.
    pub(super) names: BTreeSet<String>,
}

/// All that a signature is held against.
pub(super) struct Scene<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) findings: &'a [Finding],
    pub(super) changes: Vec<Change<'a>>,
    /// The weight of all findings.
    pub(super) total_weight: f64,
    /// The kinds whose detectors had something to look at.
    looked_for: BTreeSet<FindingKind>,
}

impl<'a> Scene<'a> {
    pub(super) fn of(
        context: &'a Context<'a>,
        findings: &'a [Finding],
        not_enough: &[NotEnough],
    ) -> Self {
        let is_blind = |kind: FindingKind| not_enough.iter().any(|n| n.detector == kind.word());
        Self {
            context,
            findings,
            changes: findings
                .iter()
                .filter(|f| f.kind == FindingKind::Change)
                .map(|finding| Change::of(finding, &context.snapshot.graph))
                .collect(),
            total_weight: findings.iter().map(weight).sum(),
            looked_for: detect::ALL
                .iter()
                .map(|d| d.kind())
                .filter(|kind| !is_blind(*kind))
                .collect(),
        }
    }

    /// Whether a detector looked for findings of this kind, so that its silence means something.
    pub(super) fn has_looked_for(&self, kind: FindingKind) -> bool {
        self.looked_for.contains(&kind)
    }
}

impl<'a> Change<'a> {
    fn of(finding: &'a Finding, graph: &EntityGraph) -> Self {
        let title = finding.text("what").unwrap_or(&finding.title);
        let mentioned = graph
            .names()
            .filter(|(_, _, name)| mentions(title, name))
            .map(|(id, ..)| id.to_owned());
        Self {
            finding,
            title,
            names: finding.entities.iter().cloned().chain(mentioned).collect(),
        }
    }
}

/// Whether a text holds a name as a whole word.
fn mentions(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.chars().count() >= 3
        && text.match_indices(name).any(|(at, _)| {
            let before = text.get(..at).and_then(|s| s.chars().next_back());
            let after = text.get(at + name.len()..).and_then(|s| s.chars().next());
            !before.is_some_and(is_part) && !after.is_some_and(|c| is_part(c) && c != '.')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_mentioned_only_as_a_whole_word() {
        assert!(mentions("smartgateway moved to EKS", "smartgateway"));
        assert!(mentions("rolled out prezipage.", "prezipage"));
        assert!(!mentions("smartgateway-canary moved", "smartgateway"));
        assert!(!mentions("adapter", "a"));
    }
}
