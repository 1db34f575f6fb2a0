//! What every hypothesis is held against: the findings, who looked, and the changes with what each one names.

use std::collections::BTreeSet;
use std::sync::OnceLock;

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
    /// Whether it says that some named thing was rolled out.
    pub(super) rolls_out: bool,
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
            rolls_out: rolls_out(title),
        }
    }
}

/// Whether a title says that some named thing was rolled out: `mail-frontend 4.0 rolled out`.
fn rolls_out(title: &str) -> bool {
    const NAME_AND_VERB: &str = r"(?i)\b[a-z][\w-]{2,}\s+(v?\d[\w.-]*\s+)?((was|is|were)\s+)?(rolled\s+(out|back)|roll-?out|roll-?back|deploy(ed|ment)?|released?)\b";
    static PATTERN: OnceLock<Option<regex::Regex>> = OnceLock::new();
    let pattern = PATTERN.get_or_init(|| regex::Regex::new(NAME_AND_VERB).ok());
    pattern.as_ref().is_some_and(|re| re.is_match(title))
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
    fn a_roll_out_of_a_named_thing_is_told_from_other_changes() {
        for title in [
            "mail-frontend 4.0 rolled out",
            "coffee-machine rollback",
            "checkout v2.1 deployed",
        ] {
            assert!(rolls_out(title), "{title}");
        }
        for title in [
            "push campaign sent",
            "EXTERNALSNAT=true applied to aws-node",
            "deploy v2",
            "v2",
        ] {
            assert!(!rolls_out(title), "{title}");
        }
    }

    #[test]
    fn a_name_is_mentioned_only_as_a_whole_word() {
        assert!(mentions("smartgateway moved to EKS", "smartgateway"));
        assert!(mentions("rolled out prezipage.", "prezipage"));
        assert!(!mentions("smartgateway-canary moved", "smartgateway"));
        assert!(!mentions("adapter", "a"));
    }
}
