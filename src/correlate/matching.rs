//! Holding a signature against the findings.

use std::collections::BTreeMap;

use crate::base::time::{NANOS_PER_SEC, TimeRange};
use crate::base::units;
use crate::correlate::coincidence;
use crate::correlate::render::Named;
use crate::correlate::signature::{Clause, Near, Signature, When};
use crate::correlate::support::{self, Rise};
use crate::correlate::symptom::{self, Symptom};
use crate::correlate::weight;
use crate::detect::Context;
use crate::model::entity::EntityGraph;
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::model::hypothesis::{Against, Hypothesis, Support};
use crate::store::Snapshot;

/// What begins this long after a change can still be its doing, as a share of the window; at least two minutes.
const FOLLOW_SHARE: f64 = 0.05;
/// Times of two inputs that differ by less than this, or by a tenth of the anchor's length, are taken as together.
const SLACK_NANOS: i64 = 30 * NANOS_PER_SEC;

/// Edges are known to about this much.
const EDGE_NANOS: i64 = 2 * NANOS_PER_SEC;

/// Every hypothesis of one signature: one for each group of anchors (findings of one entity and cause).
pub fn candidates(
    context: &Context<'_>,
    findings: &[Finding],
    signature: &Signature,
    total_weight: f64,
) -> Vec<Hypothesis> {
    let Some(anchor_clause) = signature.needs.first() else {
        return Vec::new();
    };
    let mut groups: BTreeMap<(String, String), Vec<&Finding>> = BTreeMap::new();
    for finding in findings.iter().filter(|f| is_of(anchor_clause, f)) {
        let entity = finding
            .entities
            .first()
            .map(|id| canonical(&context.snapshot.graph, id))
            .unwrap_or_default();
        let cause = if finding.kind == FindingKind::Change {
            finding.id.clone()
        } else {
            finding.cause.clone().unwrap_or_default()
        };
        groups.entry((entity, cause)).or_default().push(finding);
    }
    let changes = groups.len();
    groups
        .into_values()
        .filter_map(|anchors| Match::of(context, findings, signature, anchors, changes))
        .map(|found| found.hypothesis(total_weight))
        .collect()
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
    clause.finding.contains(&finding.kind)
        && (clause.cause.is_empty()
            || finding
                .cause
                .as_ref()
                .is_some_and(|c| clause.cause.contains(c)))
        && clause.value.iter().all(|(name, pattern)| {
            let text = finding
                .values
                .get(name)
                .map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned));
            text.is_some_and(|text| regex::Regex::new(pattern).is_ok_and(|re| re.is_match(&text)))
        })
}

/// A signature whose needs are met.
pub(super) struct Match<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) signature: &'a Signature,
    pub(super) findings: &'a [Finding],
    pub(super) anchors: Vec<&'a Finding>,
    pub(super) symptom: Symptom,
    /// From the earliest onset to the latest end of the anchors.
    pub(super) interval: TimeRange,
    pub(super) named: Named<'a>,
    pub(super) title: &'a str,
    /// In order of relevance: anchors, needs, supports, what else is covered; by time within each.
    pub(super) explains: Vec<&'a str>,
    pub(super) support: Vec<Support>,
    pub(super) against: Vec<Against>,
    pub(super) missing: Vec<String>,
    pub(super) log_odds: f64,
}

impl<'a> Match<'a> {
    fn of(
        context: &'a Context<'a>,
        findings: &'a [Finding],
        signature: &'a Signature,
        anchors: Vec<&'a Finding>,
        anchor_groups: usize,
    ) -> Option<Self> {
        let symptom = symptom::of(context, &anchors);
        let interval = anchors
            .iter()
            .map(|f| TimeRange::new(f.onset.min(f.start), f.end.unwrap_or(context.window.end)))
            .reduce(|a, b| a.hull(&b))?;
        let strongest = anchors.iter().copied().max_by(|a, b| {
            (a.confidence, weight(a))
                .partial_cmp(&(b.confidence, weight(b)))
                .unwrap_or(std::cmp::Ordering::Equal)
        })?;
        let mut found = Self {
            context,
            signature,
            findings,
            symptom,
            interval,
            named: Named::from([("", strongest)]),
            title: &signature.title,
            explains: anchors.iter().map(|f| f.id.as_str()).collect(),
            support: Vec::new(),
            against: Vec::new(),
            missing: Vec::new(),
            log_odds: 0.0,
            anchors,
        };
        let weakest = found.needs(anchor_groups)?;
        // The prior holds for needs of which one is nine tenths sure.
        found.log_odds =
            logit(signature.prior) + (logit(weakest.clamp(0.05, 0.97)) - logit(0.9)).min(0.5);
        found.supports();
        found.speaks_against();
        found.covers();
        Some(found)
    }

    /// The confidence of the weakest need; `None` when one is not met.
    fn needs(&mut self, anchor_groups: usize) -> Option<f64> {
        let mut weakest = self
            .anchors
            .iter()
            .map(|f| f.confidence)
            .fold(0.0, f64::max);
        if self.is_about_a_change() {
            weakest = 1.0;
        }
        for clause in &self.signature.needs[1..] {
            if let Some(role) = clause.rises {
                match support::rises(self.context, role, &self.symptom) {
                    Rise::Rises { p, .. } => weakest = weakest.min(1.0 - p),
                    Rise::Flat { .. } | Rise::Absent => return None,
                }
                continue;
            }
            let met = self.matching(clause);
            let best = met
                .iter()
                .copied()
                .max_by(|a, b| a.confidence.total_cmp(&b.confidence))?;
            weakest = weakest.min(if self.is_about_a_change() {
                best.confidence
                    .min(1.0 - self.follows_by_chance(&met, anchor_groups))
            } else {
                best.confidence
            });
            self.take(clause, &met);
        }
        Some(weakest)
    }

    pub(super) fn is_about_a_change(&self) -> bool {
        self.anchors.iter().all(|f| f.kind == FindingKind::Change)
    }

    /// How likely as much begins after this change by chance, corrected for the number of changes.
    fn follows_by_chance(&self, met: &[&Finding], changes: usize) -> f64 {
        let window = self.context.window;
        let onsets: Vec<(f64, f64)> = self
            .findings
            .iter()
            .filter(|f| met.iter().any(|m| m.kind == f.kind))
            .map(|f| (f.onset.secs_since(window.start), weight(f)))
            .collect();
        let at_s = self.interval.start.secs_since(window.start);
        let lag_s = follow_nanos(window) as f64 / 1e9;
        coincidence::corrected(
            coincidence::follows_p(&onsets, at_s, lag_s, 2.0, window.secs()),
            changes,
        )
    }

    fn supports(&mut self) {
        let signature = self.signature;
        for clause in &signature.supports {
            if let Some(role) = clause.rises {
                self.support_by_counter(clause, role);
                continue;
            }
            let met = self.matching(clause);
            if let Some(best) = met.iter().copied().max_by(|a, b| {
                let is_same = |f| self.is_near(Near::Same, f);
                (is_same(*a).cmp(&is_same(*b))).then(a.confidence.total_cmp(&b.confidence))
            }) {
                self.log_odds += clause.weight * best.confidence;
                self.take(clause, &met);
                if !clause.text.is_empty() {
                    self.support.push(Support {
                        finding: Some(best.id.clone()),
                        text: self.fill(&clause.text),
                        evidence: Vec::new(),
                    });
                }
            } else if clause
                .finding
                .iter()
                .any(|kind| has_data_for(*kind, self.context.snapshot))
            {
                self.log_odds -= 0.25 * clause.weight;
            } else if !clause.missing.is_empty() {
                self.missing.push(self.fill(&clause.missing));
            }
        }
    }

    fn support_by_counter(&mut self, clause: &'a Clause, role: crate::model::pack::Role) {
        match support::rises(self.context, role, &self.symptom) {
            Rise::Absent => {
                if !clause.missing.is_empty() {
                    self.missing.push(self.fill(&clause.missing));
                }
            }
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

    fn speaks_against(&mut self) {
        let signature = self.signature;
        for clause in &signature.against {
            if let Some(role) = clause.rises {
                if let Rise::Rises { inside, metric, .. } =
                    support::rises(self.context, role, &self.symptom)
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
            let mut met = self.matching(clause);
            met.retain(|f| clause.when != When::Together || !self.was_over(f));
            for finding in met.into_iter().take(3) {
                self.log_odds -= clause.weight * finding.confidence;
                let text = format!("{}: {}", finding.title, self.fill(&clause.text));
                self.against.push(Against {
                    finding: Some(finding.id.clone()),
                    text,
                });
            }
        }
        if self.anchors.iter().all(|f| f.confidence < 0.5) {
            self.against.push(Against {
                finding: None,
                text: "it rests on few samples".to_owned(),
            });
        }
    }

    /// Takes what else the cause explains, then says what began before it and is not explained.
    fn covers(&mut self) {
        let signature = self.signature;
        let has_entity = self.anchors.iter().any(|f| !f.entities.is_empty());
        for clause in &signature.covers {
            let mut met = self.matching(clause);
            // What was over before the cause began is not its doing, and of what names nobody nothing says that it is.
            met.retain(|f| {
                !self.was_over(f)
                    && (clause.near == Near::Any || !has_entity || !f.entities.is_empty())
            });
            self.take(clause, &met);
        }
        let slack = self.slack_nanos();
        let earlier: Vec<&Finding> = self
            .findings
            .iter()
            .filter(|f| f.severity >= Severity::Major && f.kind != FindingKind::Change)
            .filter(|f| !self.explains.contains(&f.id.as_str()))
            .filter(|f| {
                f.onset < self.interval.start.plus_nanos(-slack) && self.is_near(Near::Related, f)
            })
            .take(3)
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

    /// The findings, anchors aside, that a clause asks for, near enough and at the right time.
    fn matching(&self, clause: &Clause) -> Vec<&'a Finding> {
        self.findings
            .iter()
            .filter(|f| is_of(clause, f) && !self.anchors.iter().any(|a| a.id == f.id))
            .filter(|f| self.is_timely(clause.when, f) && self.is_near(clause.near, f))
            .collect()
    }

    /// Whether a finding had ended before the cause began.
    fn was_over(&self, finding: &Finding) -> bool {
        let begin = self.interval.start.plus_nanos(-EDGE_NANOS);
        finding
            .end
            .is_some_and(|end| end.max(finding.onset) < begin)
    }

    fn slack_nanos(&self) -> i64 {
        SLACK_NANOS.max(self.interval.nanos() / 10)
    }

    fn is_timely(&self, when: When, finding: &Finding) -> bool {
        let begins = finding.onset.min(finding.start);
        let ends = finding.end.unwrap_or(self.context.window.end).max(begins);
        let slack = self.slack_nanos();
        match when {
            When::Any => true,
            When::Together => {
                begins <= self.interval.end.plus_nanos(slack)
                    && ends >= self.interval.start.plus_nanos(-slack)
            }
            When::After => {
                let limit = if self.is_about_a_change() {
                    follow_nanos(self.context.window)
                } else {
                    i64::MAX
                };
                let since = finding.onset.nanos_since(self.interval.start);
                since >= -2 * NANOS_PER_SEC && since <= limit
            }
            When::Before => finding.onset < self.interval.start,
        }
    }

    fn is_near(&self, near: Near, finding: &Finding) -> bool {
        let Some(limit) = near.steps() else {
            return true;
        };
        let ours = self.anchors.iter().filter_map(|f| f.entities.first());
        // Two targets of one job have the job in common and are not the same thing.
        let named = if near == Near::Same { 1 } else { 2 };
        let mut known = false;
        for a in ours {
            for b in finding.entities.iter().take(named) {
                known = true;
                if self.context.snapshot.graph.distance(a, b, limit).is_some() {
                    return true;
                }
            }
        }
        // What names nobody cannot be called far.
        !known
    }

    fn take(&mut self, clause: &'a Clause, met: &[&'a Finding]) {
        for finding in met {
            if !self.explains.contains(&finding.id.as_str()) {
                self.explains.push(&finding.id);
            }
        }
        let strongest = met.iter().copied().max_by(|a, b| {
            let size = |f: &Finding| {
                f.number("share")
                    .or_else(|| f.number("count"))
                    .unwrap_or(0.0)
            };
            (a.severity.cmp(&b.severity))
                .then((a.confidence + size(a)).total_cmp(&(b.confidence + size(b))))
        });
        if let (false, Some(strongest)) = (clause.name.is_empty(), strongest) {
            self.named.insert(&clause.name, strongest);
        }
    }
}

fn follow_nanos(window: TimeRange) -> i64 {
    (120 * NANOS_PER_SEC).max((window.nanos() as f64 * FOLLOW_SHARE) as i64)
}

/// Whether the inputs hold what a detector of this kind reads, so that its silence means something.
fn has_data_for(kind: FindingKind, snapshot: &Snapshot) -> bool {
    use crate::model::pack::Role as R;
    let has_role = |roles: &[R]| {
        snapshot
            .series_roles
            .iter()
            .flatten()
            .any(|r| roles.contains(r))
    };
    match kind {
        FindingKind::ScrapeGap => !snapshot.metric("up").is_empty(),
        FindingKind::LockContention | FindingKind::BlockedGrowth | FindingKind::Deadlock => {
            snapshot
                .profiles
                .iter()
                .any(|p| p.kind.as_ref() == "goroutine")
        }
        FindingKind::SlowCall => !snapshot.calls.is_empty(),
        FindingKind::Leak => has_role(&[R::Memory, R::OpenFds, R::Goroutines, R::Threads]),
        FindingKind::ConnectOutliers => {
            has_role(&[R::ConnectDuration])
                || snapshot.requests.iter().any(|r| r.connect_ms().is_some())
        }
        FindingKind::LatencySpike => {
            has_role(&[R::RequestDuration]) || !snapshot.requests.is_empty()
        }
        FindingKind::Change => !snapshot.events.is_empty(),
        _ => !snapshot.series.is_empty(),
    }
}

fn logit(p: f64) -> f64 {
    (p / (1.0 - p)).ln()
}

/// The score as a probability.
///
/// It joins the log-odds of the needs, supports and counter-evidence with how much of everything the cause explains: a
/// hypothesis that explains half of the weight gains nothing and loses nothing.
pub fn score(log_odds: f64, coverage: f64) -> f64 {
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
