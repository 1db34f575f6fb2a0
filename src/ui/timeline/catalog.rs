//! Every lane that could be added, and the search over them. Made and searched on a worker.

use std::sync::Arc;

use crate::engine::cancel::Cancel;
use crate::session::incident::Incident;
use crate::session::view::{LaneRow, LaneSpec};
use crate::ui::lanes::{self, Offer};

/// The kind that draws single series.
pub const SERIES_KIND: &str = "metric";

/// Hits that are listed; more are counted.
pub const MOST_HITS: usize = 200;

/// What can be added.
#[derive(Debug, Default)]
pub struct Catalog {
    /// Whole lanes, in order of kinds.
    pub offers: Vec<Offer>,
    /// What is searched, in lower case: first the offers, then the series of the snapshot.
    hay: Vec<String>,
    incident: Option<Incident>,
}

/// Something that a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// What to add.
    pub spec: LaneSpec,
    /// Its title.
    pub title: String,
    /// Its entities.
    pub entities: String,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hits {
    /// The best, at most [`MOST_HITS`].
    pub listed: Vec<Hit>,
    /// How many there are.
    pub total: usize,
}

impl Catalog {
    /// Asks every kind, and writes down what is searched.
    pub fn new(incident: Incident, cancel: &Cancel) -> Self {
        let mut offers = Vec::new();
        for kind in lanes::ALL {
            if cancel.is_cancelled() {
                return Self::default();
            }
            offers.extend(kind.offers(&incident));
        }
        Self::of(offers, incident)
    }

    fn of(offers: Vec<Offer>, incident: Incident) -> Self {
        let snapshot = incident.snapshot();
        let mut hay: Vec<String> = offers
            .iter()
            .map(|o| {
                format!(
                    "{} {} {} {}",
                    o.spec.kind,
                    o.title,
                    o.spec.key,
                    o.entities.join(" ")
                )
                .to_lowercase()
            })
            .collect();
        hay.extend(snapshot.series.iter().enumerate().map(|(ix, series)| {
            let entities = snapshot.series_entities.get(ix).map(|e| e.join(" "));
            format!(
                "{SERIES_KIND} {} {}",
                series.selector(),
                entities.unwrap_or_default()
            )
            .to_lowercase()
        }));
        Self {
            offers,
            hay,
            incident: Some(incident),
        }
    }

    /// What an incident opens with.
    pub fn opening(&self) -> Vec<LaneRow> {
        let mut offers: Vec<&Offer> = self
            .offers
            .iter()
            .filter(|o| o.opening_rank.is_some())
            .collect();
        offers.sort_by(|a, b| (a.opening_rank, &a.spec).cmp(&(b.opening_rank, &b.spec)));
        offers
            .into_iter()
            .map(|o| LaneRow::new(o.spec.clone()))
            .collect()
    }

    /// The title of a lane: of its offer, else what its key says; empty for a kind of which there is only one.
    pub fn title<'a>(&'a self, spec: &'a LaneSpec) -> &'a str {
        self.offer(spec).map_or(spec.key.as_str(), |o| &o.title)
    }

    /// The offer that a lane came from; overlaid series do not matter.
    pub fn offer(&self, spec: &LaneSpec) -> Option<&Offer> {
        self.offers
            .iter()
            .find(|o| o.spec.kind == spec.kind && o.spec.key == spec.key)
    }

    /// The first entity of a lane: of its offer, or of its first series.
    pub fn entity(&self, spec: &LaneSpec) -> Option<String> {
        if let Some(offer) = self.offer(spec) {
            return offer.entities.first().cloned();
        }
        let selector = spec.series.first()?;
        let snapshot = self.incident.as_ref()?.snapshot();
        let metric = selector.split('{').next().unwrap_or(selector);
        let ix = snapshot.metric(metric).find(|ix| {
            snapshot
                .series
                .get(*ix)
                .is_some_and(|s| s.selector() == *selector)
        })?;
        snapshot.series_entities.get(ix)?.first().cloned()
    }

    /// The rows with those of one entity side by side, in order of the first of each; lanes without an entity stay on top.
    pub fn grouped(&self, rows: &[LaneRow]) -> Vec<LaneRow> {
        let mut order: Vec<Option<String>> = vec![None];
        let mut keyed: Vec<(usize, &LaneRow)> = rows
            .iter()
            .map(|row| {
                let entity = self.entity(&row.spec);
                let at = order.iter().position(|e| *e == entity).unwrap_or_else(|| {
                    order.push(entity);
                    order.len() - 1
                });
                (at, row)
            })
            .collect();
        keyed.sort_by_key(|(at, _)| *at);
        keyed.into_iter().map(|(_, row)| row.clone()).collect()
    }

    /// What holds every word of `wanted`, in any order; whole lanes first, then single series.
    pub fn search(&self, wanted: &str, cancel: &Cancel) -> Hits {
        let wanted = wanted.to_lowercase();
        let words: Vec<&str> = wanted.split_whitespace().collect();
        let mut hits = Hits::default();
        for (at, hay) in self.hay.iter().enumerate() {
            if at % 4096 == 0 && cancel.is_cancelled() {
                break;
            }
            if !words.iter().all(|w| hay.contains(w)) {
                continue;
            }
            hits.total += 1;
            if hits.listed.len() < MOST_HITS
                && let Some(hit) = self.hit(at)
            {
                hits.listed.push(hit);
            }
        }
        hits
    }

    fn hit(&self, at: usize) -> Option<Hit> {
        if let Some(offer) = self.offers.get(at) {
            return Some(Hit {
                spec: offer.spec.clone(),
                title: offer.title.clone(),
                entities: offer.entities.join(", "),
            });
        }
        let ix = at - self.offers.len();
        let snapshot = self.incident.as_ref()?.snapshot();
        let selector = snapshot.series.get(ix)?.selector();
        Some(Hit {
            spec: series_lane(&selector),
            title: selector,
            entities: snapshot.series_entities.get(ix).map(|e| e.join(", "))?,
        })
    }
}

/// The lane of one series.
pub fn series_lane(selector: &str) -> LaneSpec {
    LaneSpec {
        kind: SERIES_KIND.to_owned(),
        key: selector.to_owned(),
        series: vec![selector.to_owned()],
    }
}

/// Shared between the frames that search it.
pub type Shared = Arc<Catalog>;
