//! Holding a signature against the findings.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::base::time::TimeRange;
use crate::base::units;
use crate::correlate::changes;
use crate::correlate::coincidence::{self, Follows};
use crate::correlate::nearness::follow_nanos;
use crate::correlate::render::Named;
use crate::correlate::scene::Scene;
use crate::correlate::signature::{Clause, Near, Signature, When};
use crate::correlate::support::{self, Rise};
use crate::correlate::symptom::{self, Symptom};
use crate::correlate::weight;
use crate::model::entity::EntityGraph;
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::model::hypothesis::{Against, Support};
use crate::model::pack::Role;

/// What shows this much before a change can still follow it: clocks differ, and events are written down by people.
pub(super) const CHANGE_SLACK_NANOS: i64 = changes::CLOCK_SLACK_NANOS;
/// Of one kind of counter-evidence at most this many findings are named and counted: they are rarely independent.
const MOST_AGAINST: usize = 3;

/// A clause with every finding that is what it asks for, wherever and whenever that is.
type Asked<'a> = (&'a Clause, Vec<&'a Finding>);

/// The clauses of a signature, each with what it could be met by: looked up once for all groups of anchors.
pub(super) struct Pools<'a> {
    needs: Vec<Asked<'a>>,
    supports: Vec<Asked<'a>>,
    against: Vec<Asked<'a>>,
    covers: Vec<Asked<'a>>,
}

impl<'a> Pools<'a> {
    fn of(signature: &'a Signature, findings: &'a [Finding]) -> Self {
        let asked = |clauses: &'a [Clause]| {
            clauses
                .iter()
                .map(|clause| {
                    (
                        clause,
                        findings.iter().filter(|f| is_of(clause, f)).collect(),
                    )
                })
                .collect()
        };
        Self {
            needs: asked(&signature.needs),
            supports: asked(&signature.supports),
            against: asked(&signature.against),
            covers: asked(&signature.covers),
        }
    }
}

/// Every match of one signature: one for each group of anchors (findings of one entity and cause).
pub(super) fn matches<'a>(scene: &'a Scene<'a>, signature: &'a Signature) -> Vec<Match<'a>> {
    let pools = Pools::of(signature, scene.findings);
    let Some((_, anchors)) = pools.needs.first() else {
        return Vec::new();
    };
    let mut groups: BTreeMap<(String, &str), Vec<&Finding>> = BTreeMap::new();
    for finding in anchors {
        let entity = finding
            .entities
            .first()
            .map(|id| canonical(&scene.context.snapshot.graph, id))
            .unwrap_or_default();
        let cause = if finding.kind == FindingKind::Change {
            finding.id.as_str()
        } else {
            finding.cause.as_deref().unwrap_or_default()
        };
        groups.entry((entity, cause)).or_default().push(finding);
    }
    let coincidence = Coincidence {
        groups: groups.len(),
        by_need: pools
            .needs
            .iter()
            .map(|(_, pool)| follows(scene.context.window, pool))
            .collect(),
    };
    groups
        .into_values()
        .filter_map(|anchors| Match::of(scene, signature, &pools, anchors, &coincidence))
        .collect()
}

/// What the chance is measured against that something follows a change.
struct Coincidence {
    /// How many changes are asked about.
    groups: usize,
    /// What each need could be met by. All of it, not only the kinds that were seen to follow: kinds that are picked
    /// after the fact make any coincidence look rare.
    by_need: Vec<Follows>,
}

fn follows(window: TimeRange, pool: &[&Finding]) -> Follows {
    let onsets = pool
        .iter()
        .map(|f| (f.onset.secs_since(window.start), weight(f)))
        .collect();
    let lag_s = follow_nanos(window) as f64 / 1e9;
    let slack_s = CHANGE_SLACK_NANOS as f64 / 1e9;
    Follows::of(onsets, lag_s, slack_s, window.secs())
}

/// One name for all names of one thing.
fn canonical(graph: &EntityGraph, id: &str) -> String {
    graph
        .same_as(id)
        .into_iter()
        .chain([id.to_owned()])
        .min()
        .unwrap_or_default()
}

/// Whether a finding is what a clause asks for, wherever and whenever it is.
fn is_of(clause: &Clause, finding: &Finding) -> bool {
    let has_cause = |cause: &String| clause.cause.is_empty() || clause.cause.contains(cause);
    clause.finding.contains(&finding.kind)
        && finding.cause.as_ref().is_none_or(has_cause)
        && clause.value.iter().all(|(name, pattern)| {
            finding.values.get(name).is_some_and(|value| match value {
                serde_json::Value::String(text) => pattern.is_match(text),
                other => pattern.is_match(&other.to_string()),
            })
        })
}

/// A signature whose needs are met.
pub(super) struct Match<'a> {
    pub(super) scene: &'a Scene<'a>,
    pub(super) signature: &'a Signature,
    pub(super) anchors: Vec<&'a Finding>,
    pub(super) symptom: Symptom,
    /// From the earliest onset to the latest end of the anchors.
    pub(super) interval: TimeRange,
    pub(super) named: Named<'a>,
    pub(super) title: &'a str,
    /// In order of relevance: anchors, needs, supports, what else is covered; by time within each.
    pub(super) explains: Vec<&'a Finding>,
    /// The ids of `explains`.
    pub(super) explained: BTreeSet<&'a str>,
    pub(super) support: Vec<Support>,
    pub(super) against: Vec<Against>,
    pub(super) missing: Vec<String>,
    log_odds: f64,
    pub(super) anchor_ids: BTreeSet<&'a str>,
    /// What is near the anchors, for each [`Near`] that was asked about.
    pub(super) same: OnceCell<BTreeMap<&'a str, usize>>,
    pub(super) related: OnceCell<BTreeMap<&'a str, usize>>,
}

impl<'a> Match<'a> {
    fn of(
        scene: &'a Scene<'a>,
        signature: &'a Signature,
        pools: &Pools<'a>,
        anchors: Vec<&'a Finding>,
        coincidence: &Coincidence,
    ) -> Option<Self> {
        let context = scene.context;
        let interval = anchors
            .iter()
            .map(|f| TimeRange::new(f.onset.min(f.start), f.end.unwrap_or(context.window.end)))
            .reduce(|a, b| a.hull(&b))?;
        let strongest = anchors.iter().copied().max_by(|a, b| {
            a.confidence
                .total_cmp(&b.confidence)
                .then(weight(a).total_cmp(&weight(b)))
        })?;
        let ids: BTreeSet<&str> = anchors.iter().map(|f| f.id.as_str()).collect();
        let mut found = Self {
            scene,
            signature,
            symptom: symptom::of(context, &anchors),
            interval,
            named: Named::from([("", strongest)]),
            title: &signature.title,
            explains: anchors.clone(),
            explained: ids.clone(),
            support: Vec::new(),
            against: Vec::new(),
            missing: Vec::new(),
            log_odds: 0.0,
            anchor_ids: ids,
            anchors,
            same: OnceCell::new(),
            related: OnceCell::new(),
        };
        let weakest = found.needs(pools, coincidence)?;
        // The prior holds for needs of which one is nine tenths sure.
        found.log_odds =
            logit(signature.prior) + (logit(weakest.clamp(0.05, 0.97)) - logit(0.9)).min(0.5);
        found.supports(pools);
        found.speaks_against(pools);
        found.covers(pools);
        Some(found)
    }

    /// The confidence of the weakest need; `None` when one is not met.
    fn needs(&mut self, pools: &Pools<'a>, coincidence: &Coincidence) -> Option<f64> {
        let mut weakest = if self.is_about_a_change() {
            1.0
        } else {
            let sure = self.anchors.iter().map(|f| f.confidence);
            sure.fold(0.0, f64::max)
        };
        for ((clause, pool), follows) in pools.needs.iter().zip(&coincidence.by_need).skip(1) {
            if let Some(role) = clause.rises {
                match support::rises(self.scene.context, role, &self.symptom) {
                    Rise::Rises { p, .. } => weakest = weakest.min(1.0 - p),
                    Rise::Flat { .. } | Rise::Unclear { .. } | Rise::Absent => return None,
                }
                continue;
            }
            let met = self.matching(clause, pool);
            weakest = weakest.min(surest(&met)?.confidence);
            if self.is_about_a_change() {
                let at_s = self
                    .interval
                    .start
                    .secs_since(self.scene.context.window.start);
                let p = coincidence::corrected(follows.p(at_s), coincidence.groups);
                weakest = weakest.min(1.0 - p);
            }
            self.take(clause, &met);
        }
        Some(weakest)
    }

    pub(super) fn is_about_a_change(&self) -> bool {
        self.anchors.iter().all(|f| f.kind == FindingKind::Change)
    }

    fn supports(&mut self, pools: &Pools<'a>) {
        for (clause, pool) in &pools.supports {
            if let Some(role) = clause.rises {
                self.support_by_counter(clause, role);
                continue;
            }
            let met = self.matching(clause, pool);
            // What the thing itself does is named before what its neighbours do.
            let own: Vec<&Finding> = met
                .iter()
                .copied()
                .filter(|f| self.is_near(Near::Same, f))
                .collect();
            if let Some(best) = surest(&own).or_else(|| surest(&met)) {
                self.log_odds += clause.weight * best.confidence;
                self.take(clause, &met);
                if !clause.text.is_empty() {
                    // What is said is said of the finding that it leads to.
                    if !clause.name.is_empty() {
                        self.named.insert(&clause.name, best);
                    }
                    self.support.push(Support {
                        finding: Some(best.id.clone()),
                        text: self.fill(&clause.text),
                        evidence: Vec::new(),
                    });
                }
            } else if clause
                .finding
                .iter()
                .any(|kind| self.scene.has_looked_for(*kind))
            {
                self.log_odds -= 0.25 * clause.weight;
            } else if !clause.missing.is_empty() {
                self.missing.push(self.fill(&clause.missing));
            }
        }
    }

    fn support_by_counter(&mut self, clause: &'a Clause, role: Role) {
        match support::rises(self.scene.context, role, &self.symptom) {
            Rise::Absent => {
                if !clause.missing.is_empty() {
                    self.missing.push(self.fill(&clause.missing));
                }
            }
            Rise::Unclear { total, metric } => self.missing.push(format!(
                "{metric} from a time without the trouble: it grew by {}, and nearly all of the recording lies within it",
                units::number(total)
            )),
            Rise::Flat { total, metric } => {
                self.log_odds -= 0.5 * clause.weight;
                self.against.push(Against {
                    finding: None,
                    text: format!(
                        "{metric} was recorded and does not rise with it (grew by {} in the whole window)",
                        units::number(total)
                    ),
                });
            }
            Rise::Rises {
                inside,
                total,
                p,
                metric,
                evidence,
            } => {
                self.log_odds += clause.weight * (1.0 - p);
                if !clause.title.is_empty() {
                    self.title = &clause.title;
                }
                let text = self.fill(&clause.text);
                let numbers = format!(
                    "{metric} grew by {} while it lasted, of {} in all (chance {})",
                    units::number(inside),
                    units::number(total),
                    probability(p)
                );
                let text = if text.is_empty() {
                    numbers
                } else {
                    format!("{numbers}: {text}")
                };
                self.support.push(Support {
                    finding: None,
                    text,
                    evidence,
                });
            }
        }
    }

    fn speaks_against(&mut self, pools: &Pools<'a>) {
        for (clause, pool) in &pools.against {
            if let Some(role) = clause.rises {
                if let Rise::Rises { inside, metric, .. } =
                    support::rises(self.scene.context, role, &self.symptom)
                {
                    self.log_odds -= clause.weight;
                    let text = self.fill(&clause.text);
                    self.against.push(Against {
                        finding: None,
                        text: format!("{metric} grew by {}: {text}", units::number(inside)),
                    });
                }
                continue;
            }
            let mut met = self.matching(clause, pool);
            met.retain(|f| clause.when != When::Together || !self.was_over(f));
            for finding in met.into_iter().take(MOST_AGAINST) {
                self.log_odds -= clause.weight * finding.confidence;
                let text = format!("{}: {}", finding.title, self.fill(&clause.text));
                self.against.push(Against {
                    finding: Some(finding.id.clone()),
                    text,
                });
            }
        }
        if self.signature.planned > 0.0 && self.was_planned() {
            self.log_odds -= self.signature.planned;
            self.against.push(Against {
                finding: None,
                text: "it follows a recorded change within seconds, each time that it shows: it looks done on purpose"
                    .to_owned(),
            });
        }
        if self.anchors.iter().all(|f| f.confidence < 0.5) {
            self.against.push(Against {
                finding: None,
                text: "it rests on few samples".to_owned(),
            });
        }
    }

    /// Takes what else the cause explains, then says what began before it and is not explained.
    fn covers(&mut self, pools: &Pools<'a>) {
        let has_entity = self.anchors.iter().any(|f| !f.entities.is_empty());
        for (clause, pool) in &pools.covers {
            let mut met = self.matching(clause, pool);
            // What was over before the cause began is not its doing, and of what names nobody nothing says that it is.
            met.retain(|f| {
                let is_named = clause.near == Near::Any || !has_entity || !f.entities.is_empty();
                is_named && !self.was_over(f)
            });
            self.take(clause, &met);
        }
        let before = self.interval.start.plus_nanos(-self.slack_nanos());
        let earlier: Vec<&Finding> = self
            .scene
            .findings
            .iter()
            .filter(|f| f.severity >= Severity::Major && f.kind != FindingKind::Change)
            .filter(|f| f.onset < before && !self.explained.contains(f.id.as_str()))
            .filter(|f| self.is_near(Near::Related, f))
            .take(MOST_AGAINST)
            .collect();
        for finding in earlier {
            let text = format!(
                "{} began {} before it and is not explained by it",
                finding.title,
                units::secs(self.interval.start.secs_since(finding.onset))
            );
            self.against.push(Against {
                finding: Some(finding.id.clone()),
                text,
            });
            self.log_odds -= 0.3 * finding.confidence;
        }
    }

    fn take(&mut self, clause: &'a Clause, met: &[&'a Finding]) {
        for finding in met {
            if self.explained.insert(&finding.id) {
                self.explains.push(finding);
            }
        }
        let strongest = met.iter().copied().max_by(|a, b| {
            let size = |f: &Finding| {
                f.number("share")
                    .or_else(|| f.number("count"))
                    .unwrap_or(0.0)
            };
            let by_size = (a.confidence + size(a)).total_cmp(&(b.confidence + size(b)));
            a.severity.cmp(&b.severity).then(by_size)
        });
        if let (false, Some(strongest)) = (clause.name.is_empty(), strongest) {
            self.named.insert(&clause.name, strongest);
        }
    }

    /// The share of the weight of all findings that it explains.
    pub(super) fn coverage(&self) -> f64 {
        let explained: f64 = self.explains.iter().map(|f| weight(f)).sum();
        if self.scene.total_weight > 0.0 {
            (explained / self.scene.total_weight).min(1.0)
        } else {
            0.0
        }
    }

    /// Its score, rounded as reports give it.
    pub(super) fn score(&self) -> f64 {
        let score = score(self.log_odds, self.coverage()).min(self.signature.at_most);
        units::round_to(score, 3)
    }
}

/// The finding of which the detector is surest; of equals the last.
fn surest<'a>(findings: &[&'a Finding]) -> Option<&'a Finding> {
    findings
        .iter()
        .copied()
        .max_by(|a, b| a.confidence.total_cmp(&b.confidence))
}

fn logit(p: f64) -> f64 {
    (p / (1.0 - p)).ln()
}

/// The score as a probability.
///
/// It joins the log-odds of the needs, supports and counter-evidence with how much of everything the cause explains: a
/// hypothesis that explains half of the weight gains nothing and loses nothing.
pub(super) fn score(log_odds: f64, coverage: f64) -> f64 {
    let x = log_odds + 1.5 * (coverage - 0.5);
    (1.0 / (1.0 + (-x).exp())).clamp(0.0, 0.99)
}

fn probability(p: f64) -> String {
    if p < 1e-4 {
        "under 1 in 10,000".to_owned()
    } else {
        units::share(p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverage_moves_the_score_and_evidence_moves_it_more() {
        assert!(score(1.0, 0.9) > score(1.0, 0.1));
        assert!(score(2.0, 0.1) > score(0.0, 0.9));
        assert!((score(0.0, 0.5) - 0.5).abs() < 1e-12);
    }
}
