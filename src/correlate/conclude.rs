//! A match becomes a hypothesis: words filled in, changes given their roles, the score.

use crate::base::id::stable_id;
use crate::base::text::shorten;
use crate::base::units;
use crate::correlate::changes::{self, Candidate};
use crate::correlate::matching::{Match, score};
use crate::correlate::render::{Subject, fill};
use crate::correlate::{symptom, weight};
use crate::model::entity::{EntityGraph, EntityType};
use crate::model::finding::{Finding, FindingKind};
use crate::model::hypothesis::{ChangeRole, Hypothesis, NextCheck, Role};

impl Match<'_> {
    pub(super) fn fill(&self, template: &str) -> String {
        fill(template, &self.named, &self.subject())
    }

    fn subject(&self) -> Subject {
        let graph = &self.context.snapshot.graph;
        let ids = || self.anchors.iter().flat_map(|f| &f.entities);
        let name = |id: &String| {
            graph
                .get(id)
                .map_or_else(|| id.clone(), |(_, name)| name.to_owned())
        };
        let entity = ids().next().map_or_else(|| "this system".to_owned(), name);
        let instance = ids()
            .find(|id| {
                graph
                    .get(id)
                    .is_some_and(|(kind, _)| kind == EntityType::Instance)
            })
            .map_or_else(|| "HOST:PORT".to_owned(), name);
        Subject {
            entity,
            instance,
            effects: self.explains.len().saturating_sub(self.anchors.len()),
        }
    }

    /// The hypothesis. `total_weight` is that of all findings.
    pub(super) fn hypothesis(mut self, total_weight: f64) -> Hypothesis {
        let explained: f64 = self
            .findings
            .iter()
            .filter(|f| self.explains.contains(&f.id.as_str()))
            .map(weight)
            .sum();
        let coverage = if total_weight > 0.0 {
            (explained / total_weight).min(1.0)
        } else {
            0.0
        };
        let score = score(self.log_odds, coverage).min(self.signature.at_most);
        let title = self.fill(self.title);
        let changes = self.roles();
        if changes.iter().all(|c| c.role != Role::Trigger) && !self.is_about_a_change() {
            self.missing
                .push("no recorded change explains why it began when it did".to_owned());
        }
        let next_checks = self
            .signature
            .next
            .iter()
            .map(|next| NextCheck {
                text: self.fill(&next.text),
                query: (!next.query.is_empty()).then(|| self.fill(&next.query)),
            })
            .collect();
        let onset = self
            .anchors
            .iter()
            .map(|f| f.onset)
            .min()
            .unwrap_or(self.interval.start);
        let mut entities: Vec<String> = Vec::new();
        for id in self.anchors.iter().flat_map(|f| &f.entities) {
            if !entities.contains(id) {
                entities.push(id.clone());
            }
        }
        Hypothesis {
            id: stable_id(
                "h",
                [
                    self.signature.id.as_str(),
                    &entities.join(" "),
                    &onset.nanos().to_string(),
                ],
            ),
            rank: 0,
            signature: self.signature.id.clone(),
            title: shorten(&title, 240),
            score: units::round_to(score, 3),
            onset,
            entities,
            explains: self.explains.iter().map(|id| (*id).to_owned()).collect(),
            support: self.support,
            changes,
            against: self.against,
            missing: self.missing,
            next_checks,
            coverage: units::round_to(coverage, 3),
        }
    }

    /// The roles of the changes. A hypothesis about a change has that change as its trigger, by its own words.
    fn roles(&self) -> Vec<ChangeRole> {
        let effects: Vec<&Finding> = if self.is_about_a_change() {
            self.findings
                .iter()
                .filter(|f| self.explains.contains(&f.id.as_str()) && f.kind != FindingKind::Change)
                .collect()
        } else {
            self.anchors.clone()
        };
        let symptom = if self.is_about_a_change() {
            symptom::of(self.context, &effects)
        } else {
            self.symptom.clone()
        };
        let ours: Vec<&String> = effects.iter().flat_map(|f| f.entities.iter()).collect();
        let bears = regex::Regex::new(&self.signature.bears)
            .ok()
            .filter(|_| !self.signature.bears.is_empty());
        let candidates: Vec<Candidate<'_>> = self
            .findings
            .iter()
            .filter(|f| f.kind == FindingKind::Change)
            .map(|finding| {
                let title = finding.text("what").unwrap_or(&finding.title);
                let distance = distance_to(&self.context.snapshot.graph, finding, &ours);
                let is_ours = self.anchors.iter().any(|a| a.id == finding.id);
                Candidate {
                    finding,
                    title,
                    distance,
                    bears: bears
                        .as_ref()
                        .map(|re| re.is_match(title) || re.is_match(&finding.detail)),
                    is_elsewhere: !is_ours
                        && distance.map_or_else(|| rolls_out(title), |steps| steps >= FAR),
                }
            })
            .collect();
        changes::roles(&symptom, self.context.window, &candidates)
    }
}

/// The distance of what cannot be reached.
const FAR: usize = 9;

/// Whether a title says that some named thing was rolled out: `mail-frontend 4.0 rolled out`.
fn rolls_out(title: &str) -> bool {
    const NAME_AND_VERB: &str = r"(?i)\b[a-z][\w-]{2,}\s+(v?\d[\w.-]*\s+)?((was|is|were)\s+)?(rolled\s+(out|back)|roll-?out|roll-?back|deploy(ed|ment)?|released?)\b";
    regex::Regex::new(NAME_AND_VERB).is_ok_and(|re| re.is_match(title))
}

/// Steps from what a change names, by its entities or in its words, to any of `ours`; `None` when it names nobody.
fn distance_to(graph: &EntityGraph, change: &Finding, ours: &[&String]) -> Option<usize> {
    let text = change.text("what").unwrap_or(&change.title);
    let mut named: Vec<String> = change.entities.clone();
    named.extend(
        graph
            .entities()
            .into_iter()
            .filter(|e| mentions(text, &e.name))
            .map(|e| e.id),
    );
    if named.is_empty() {
        return None;
    }
    let steps = named
        .iter()
        .flat_map(|n| ours.iter().filter_map(|o| graph.distance(n, o, 4)));
    Some(steps.min().unwrap_or(FAR))
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
