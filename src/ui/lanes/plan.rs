//! Which lanes an incident opens with: where it hurts, in one screen.
//!
//! Findings, changes and scrape health come first; then, for each finding that the best cause explains, the lane that shows it: the
//! latency of the affected service, its connects, its requests, the resource that grows, the dumps. While the report is made, the
//! roles of the metrics give a guess.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::entity::EntityKeys;
use crate::model::finding::{Finding, FindingKind};
use crate::model::labels::Labels;
use crate::model::pack::Role;
use crate::session::incident::Incident;
use crate::session::view::LaneSpec;
use crate::store::Snapshot;
use crate::ui::lanes::{
    Offer, cache, dumps, events, findings, health, metric, quantiles, scatter, select,
    states,
};

/// Lanes that an incident opens with.
const MOST: usize = 9;
/// Of these, lines of metrics.
const MOST_METRICS: usize = 4;
/// Of these, bands of quantiles.
const MOST_QUANTILES: usize = 2;

/// The lanes to open with, from the top.
#[derive(Debug, Default)]
pub(super) struct Plan {
    specs: Vec<LaneSpec>,
}

/// The plan of what is open.
pub(super) fn of(incident: &Incident) -> Arc<Plan> {
    cache::of(incident).plan(incident.generation, || Plan::make(incident))
}

/// Gives offers their places in the plan.
pub(super) fn ranked(incident: &Incident, mut offers: Vec<Offer>) -> Vec<Offer> {
    let plan = of(incident);
    for offer in &mut offers {
        let place = plan.specs.iter().position(|s| *s == offer.spec);
        offer.opening_rank = place.and_then(|at| u32::try_from(at).ok());
    }
    offers
}

impl Plan {
    /// Every lane of it.
    pub(super) fn specs(&self) -> &[LaneSpec] {
        &self.specs
    }

    fn make(incident: &Incident) -> Self {
        let mut draft = Draft::new(incident);
        let ranked = in_order(incident);
        draft.suspects(&ranked);
        for finding in &ranked {
            draft.show(finding);
        }
        if ranked.is_empty() {
            draft.guess();
        }
        Self {
            specs: draft.finish(),
        }
    }
}

/// Findings in the order in which they are shown: those that the best cause explains, then the rest, the worst first.
fn in_order(incident: &Incident) -> Vec<&Finding> {
    let explained: BTreeSet<&str> = incident
        .hypotheses()
        .first()
        .map(|h| h.explains.iter().map(String::as_str).collect())
        .unwrap_or_default();
    let mut all: Vec<&Finding> = incident.findings().iter().collect();
    all.retain(|f| f.kind != FindingKind::Change);
    let weight = |f: &Finding| (!explained.contains(f.id.as_str()), urgency(f.kind));
    all.sort_by(|a, b| {
        weight(a)
            .cmp(&weight(b))
            .then(b.severity.cmp(&a.severity))
            .then(b.confidence.total_cmp(&a.confidence))
            .then(a.start.cmp(&b.start))
    });
    all
}

/// What users feel comes before what explains it.
const fn urgency(kind: FindingKind) -> u8 {
    match kind {
        FindingKind::LatencySpike
        | FindingKind::ErrorBurst
        | FindingKind::ThroughputDrop
        | FindingKind::RunRegression
        | FindingKind::LoadRun => 0,
        FindingKind::ConnectOutliers | FindingKind::SlowCall => 1,
        FindingKind::LockContention
        | FindingKind::BlockedGrowth
        | FindingKind::Deadlock
        | FindingKind::Hotspot => 2,
        FindingKind::Leak | FindingKind::Saturation | FindingKind::LogBackpressure => 3,
        FindingKind::ScrapeGap => 4,
        FindingKind::LevelShift
        | FindingKind::Spike
        | FindingKind::CounterReset
        | FindingKind::Change => 5,
    }
}

/// A plan in the making: what there is to choose from, and what was chosen of each kind.
struct Draft<'a> {
    incident: &'a Incident,
    keys: EntityKeys,
    quantiles: Vec<Offer>,
    scatters: Vec<Offer>,
    connects: Vec<Offer>,
    dumps: Vec<Offer>,
    chosen: [Vec<LaneSpec>; 6],
}

/// Places of the kinds in `chosen`, in order of the screen.
const BANDS: usize = 0;
const CONNECTS: usize = 1;
const DOTS: usize = 2;
const LINES: usize = 3;
const DUMPS: usize = 4;
const STATES: usize = 5;

impl<'a> Draft<'a> {
    fn new(incident: &'a Incident) -> Self {
        let snapshot = incident.snapshot();
        Self {
            incident,
            keys: EntityKeys::builtin(),
            quantiles: quantiles::list(incident),
            scatters: scatter::SCATTER.list(snapshot),
            connects: scatter::CONNECTS.list(snapshot),
            dumps: dumps::list(snapshot),
            chosen: Default::default(),
        }
    }

    fn snapshot(&self) -> &'a Snapshot {
        self.incident.snapshot()
    }

    fn choose(&mut self, kind: usize, spec: Option<LaneSpec>, most: usize) {
        let Some(chosen) = self.chosen.get_mut(kind) else {
            return;
        };
        if let Some(spec) = spec.filter(|s| !chosen.contains(s))
            && chosen.len() < most
        {
            chosen.push(spec);
        }
    }

    /// The lanes that show one finding.
    fn show(&mut self, finding: &Finding) {
        match finding.kind {
            FindingKind::LatencySpike | FindingKind::ThroughputDrop | FindingKind::ErrorBurst => {
                let band = best(&self.quantiles, &finding.entities);
                self.choose(BANDS, band, MOST_QUANTILES);
                let dots = best(&self.scatters, &finding.entities);
                self.choose(DOTS, dots, 1);
            }
            FindingKind::ConnectOutliers => {
                let lane = best(&self.connects, &finding.entities);
                self.choose(CONNECTS, lane, 1);
            }
            FindingKind::SlowCall => {
                let traces: Vec<Offer> = self
                    .scatters
                    .iter()
                    .filter(|o| o.spec.key.starts_with("traces|"))
                    .cloned()
                    .collect();
                let lane = best(&traces, &finding.entities);
                self.choose(DOTS, lane, 2);
            }
            FindingKind::LockContention
            | FindingKind::BlockedGrowth
            | FindingKind::Deadlock
            | FindingKind::Hotspot => {
                let lane = best(&self.dumps, &finding.entities)
                    .or_else(|| self.dumps.first().map(|o| o.spec.clone()));
                self.choose(DUMPS, lane, 1);
            }
            FindingKind::LoadRun | FindingKind::RunRegression => {
                let lane = states::list(self.incident)
                    .into_iter()
                    .next()
                    .map(|o| o.spec);
                self.choose(STATES, lane, 1);
            }
            _ => {}
        }
        let is_about_series = !matches!(
            finding.kind,
            FindingKind::ScrapeGap
                | FindingKind::Change
                | FindingKind::LatencySpike
                | FindingKind::ConnectOutliers
        );
        if is_about_series {
            let cache = cache::of(self.incident);
            let index = cache.index(self.snapshot());
            let series = select::of_finding(index, finding);
            if let Some(first) = series.first() {
                let lane = self.lines_of(*first);
                self.choose(LINES, lane, MOST_METRICS);
            }
        }
    }

    /// The lane of a series and its like: the same metric, and the same labels but those that name whose it is.
    fn lines_of(&self, ix: usize) -> Option<LaneSpec> {
        let series = self.snapshot().series.get(ix)?;
        let is_about_whom = |name: &str, value: &str| {
            let alone = Labels::of(&[(name, value)]);
            !self.keys.entities_of(&alone, &[]).is_empty()
        };
        let kept: Vec<(&str, &str)> = series
            .labels
            .iter()
            .filter(|(name, value)| {
                !is_about_whom(name, value) && self.differs(&series.metric, name)
            })
            .collect();
        let selector = format!("{}{}", series.metric, Labels::of(&kept));
        Some(metric::spec(&selector))
    }

    /// Whether a label has more than one value in a metric: only then it narrows anything.
    fn differs(&self, metric: &str, name: &str) -> bool {
        let all = self.snapshot().metric(metric);
        let mut values = all
            .filter_map(|ix| self.snapshot().series.get(ix))
            .map(|s| s.labels.get(name));
        let first = values.next().flatten();
        values.any(|v| v != first)
    }

    /// Counters that would prove or refute what the findings hint at, when they moved at all.
    fn suspects(&mut self, ranked: &[&Finding]) {
        let has = |kind: FindingKind| ranked.iter().any(|f| f.kind == kind);
        if has(FindingKind::ConnectOutliers) {
            for role in [
                Role::ConntrackInsertFailed,
                Role::SynRetransmits,
                Role::ListenDrops,
            ] {
                let lane = self.of_role(role);
                self.choose(LINES, lane, MOST_METRICS);
            }
        }
    }

    /// The lane of the metric of a role that moved most, if it moved.
    fn of_role(&self, role: Role) -> Option<LaneSpec> {
        let moved = |s: &crate::model::series::Series| {
            let all = s.finite().map(|(_, v)| v);
            let (lo, hi) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| {
                (lo.min(v), hi.max(v))
            });
            if hi > lo {
                (hi - lo) / hi.abs().max(lo.abs())
            } else {
                0.0
            }
        };
        let with = self
            .snapshot()
            .with_role(role)
            .filter(|(_, s)| s.sampling.is_raw());
        let most = with
            .map(|(ix, s)| (ix, moved(s)))
            .filter(|(_, m)| *m > 0.0)
            .max_by(|a, b| a.1.total_cmp(&b.1))?;
        self.lines_of(most.0)
    }

    /// Without findings: what such an incident is mostly about.
    fn guess(&mut self) {
        let first = |offers: &[Offer]| offers.first().map(|o| o.spec.clone());
        let band = first(&self.quantiles);
        self.choose(BANDS, band, 1);
        let lane = first(&self.connects);
        self.choose(CONNECTS, lane, 1);
        let lane = first(&self.scatters);
        self.choose(DOTS, lane, 1);
        for role in [
            Role::ErrorCount,
            Role::Goroutines,
            Role::Memory,
            Role::OpenFds,
            Role::Cpu,
            Role::ConntrackInsertFailed,
            Role::RequestCount,
        ] {
            let lane = self.of_role(role);
            self.choose(LINES, lane, MOST_METRICS);
        }
        if self.chosen.iter().all(Vec::is_empty) {
            let metrics = metric::list(self.snapshot()).into_iter().take(MOST_METRICS);
            for offer in metrics {
                self.choose(LINES, Some(offer.spec), MOST_METRICS);
            }
        }
        let lane = first(&self.dumps);
        self.choose(DUMPS, lane, 1);
        let lane = states::list(self.incident)
            .into_iter()
            .next()
            .map(|o| o.spec);
        self.choose(STATES, lane, 1);
    }

    /// In order of the screen, and no more than fit.
    fn finish(self) -> Vec<LaneSpec> {
        let mut specs: Vec<LaneSpec> = Vec::new();
        let is_reported = self.incident.report.is_some();
        let has_findings = self
            .incident
            .findings()
            .iter()
            .any(|f| f.kind != FindingKind::Change);
        if has_findings || !is_reported {
            specs.extend(findings::list().into_iter().map(|o| o.spec));
        }
        specs.extend(events::list().into_iter().map(|o| o.spec));
        if health::has_gaps(self.incident) {
            specs.extend(health::list(self.incident).into_iter().map(|o| o.spec));
        }
        let room = MOST.saturating_sub(specs.len());
        let [bands, connects, dots, lines, dumps, states] = self.chosen;
        // What is one of its kind has its place; the lines of metrics take what is left.
        let others = bands.len() + connects.len() + dots.len() + dumps.len() + states.len();
        let lines = lines.into_iter().take(room.saturating_sub(others).max(1));
        // A second cloud of dots says less than the counters do.
        let (dots, more_dots) = dots.split_at(dots.len().min(1));
        let all = states
            .into_iter()
            .chain(bands)
            .chain(connects)
            .chain(dots.to_vec())
            .chain(dumps)
            .chain(lines)
            .chain(more_dots.to_vec());
        specs.extend(all.take(room));
        specs
    }
}

/// The offer that names most of the entities, the first ones counting most; of equals the first, which is the most specific.
fn best(offers: &[Offer], entities: &[String]) -> Option<LaneSpec> {
    let score = |offer: &Offer| -> u32 {
        let weight = |at: usize| 1_000_u32 >> (at * 2).min(9);
        let named = entities
            .iter()
            .enumerate()
            .filter(|(_, id)| offer.entities.contains(id));
        named.map(|(at, _)| weight(at)).sum()
    };
    let mut best: Option<(u32, &Offer)> = None;
    for offer in offers {
        let score = score(offer);
        if score > 0 && best.is_none_or(|(known, _)| score > known) {
            best = Some((score, offer));
        }
    }
    best.map(|(_, offer)| offer.spec.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(key: &str, entities: &[&str]) -> Offer {
        Offer {
            spec: LaneSpec {
                kind: "scatter".to_owned(),
                key: key.to_owned(),
                series: Vec::new(),
            },
            title: key.to_owned(),
            entities: entities.iter().map(|e| (*e).to_owned()).collect(),
            opening_rank: None,
        }
    }

    #[test]
    fn the_lane_of_the_affected_service_wins() {
        let offers = [
            offer("gateway", &["service:gateway"]),
            offer("gateway → a", &["service:a", "service:gateway"]),
            offer("gateway → b", &["service:b", "service:gateway"]),
        ];
        let entities = ["service:b".to_owned(), "service:gateway".to_owned()];
        assert_eq!(best(&offers, &entities).unwrap().key, "gateway → b");
        let alone = ["service:gateway".to_owned()];
        assert_eq!(best(&offers, &alone).unwrap().key, "gateway");
        assert!(best(&offers, &["service:c".to_owned()]).is_none());
    }
}
