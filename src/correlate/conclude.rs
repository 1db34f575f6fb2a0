//! A match becomes a hypothesis: words filled in, changes given their roles.

use std::collections::BTreeSet;

use crate::base::id::stable_id;
use crate::base::text::shorten;
use crate::base::time::Timestamp;
use crate::base::units;
use crate::correlate::changes::{self, Candidate};
use crate::correlate::matching::Match;
use crate::correlate::render::{Subject, fill};
use crate::correlate::symptom;
use crate::model::entity::EntityType;
use crate::model::finding::{Finding, FindingKind};
use crate::model::hypothesis::{ChangeRole, Hypothesis, NextCheck, Role};

impl Match<'_> {
    pub(super) fn fill(&self, template: &str) -> String {
        fill(template, &self.named, &self.subject())
    }

    fn subject(&self) -> Subject {
        let graph = &self.scene.context.snapshot.graph;
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

    /// When what it explains began.
    pub(super) fn onset(&self) -> Timestamp {
        let first = self.anchors.iter().map(|f| f.onset).min();
        first.unwrap_or(self.interval.start)
    }

    /// Whom it concerns, each once, in the order of its anchors.
    fn entities(&self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        self.anchors
            .iter()
            .flat_map(|f| &f.entities)
            .filter(|id| seen.insert(id.as_str()))
            .cloned()
            .collect()
    }

    /// Its stable id: by signature, entities and onset.
    pub(super) fn id(&self) -> String {
        let entities = self.entities().join(" ");
        let onset = self.onset().nanos().to_string();
        stable_id("h", [self.signature.id.as_str(), &entities, &onset])
    }

    /// The hypothesis, with the roles of the changes, which only those that are shown need. Its rank is not known yet.
    pub(super) fn hypothesis(mut self) -> Hypothesis {
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
        Hypothesis {
            id: self.id(),
            rank: 0,
            signature: self.signature.id.clone(),
            title: shorten(&title, 240),
            score: self.score(),
            onset: self.onset(),
            entities: self.entities(),
            explains: self.explains.iter().map(|f| f.id.clone()).collect(),
            coverage: units::round_to(self.coverage(), 3),
            support: self.support,
            changes,
            against: self.against,
            missing: self.missing,
            next_checks,
        }
    }

    /// The roles of the changes. A hypothesis about a change has that change as its trigger, by its own words.
    fn roles(&self) -> Vec<ChangeRole> {
        let effects: Vec<&Finding>;
        let of_effects;
        let (about, symptom) = if self.is_about_a_change() {
            effects = self
                .explains
                .iter()
                .copied()
                .filter(|f| f.kind != FindingKind::Change)
                .collect();
            of_effects = symptom::of(self.scene.context, &effects);
            (&effects, &of_effects)
        } else {
            (&self.anchors, &self.symptom)
        };
        let ids = about.iter().flat_map(|f| &f.entities).map(String::as_str);
        let graph = &self.scene.context.snapshot.graph;
        let steps = graph.steps_from(ids, changes::FARTHEST, |_| true);
        let candidates: Vec<Candidate<'_>> = self
            .scene
            .changes
            .iter()
            .map(|change| {
                let distance = (!change.names.is_empty()).then(|| {
                    let known = change.names.iter().filter_map(|id| steps.get(id.as_str()));
                    known.min().copied()
                });
                let is_unreached = match distance {
                    Some(steps) => steps.is_none(),
                    None => change.rolls_out,
                };
                Candidate {
                    finding: change.finding,
                    title: change.title,
                    distance: distance.map(|steps| steps.unwrap_or(changes::FARTHEST)),
                    bears: self.signature.bears.as_ref().map(|words| {
                        words.is_match(change.title) || words.is_match(&change.finding.detail)
                    }),
                    is_elsewhere: is_unreached
                        && !self.explained.contains(change.finding.id.as_str()),
                }
            })
            .collect();
        changes::roles(symptom, self.scene.context.window, &candidates)
    }
}
