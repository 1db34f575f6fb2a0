//! `health`: scrape health, one thin row for each target: answered, failed (by cause), not there.
//!
//! From `up` where it was read; of a target without it from the presence of its samples, which cannot tell failed from absent.

mod lane;
mod rows;

use self::lane::{HealthLane, PITCH, TOP};
use self::rows::{State, rows, targets};
use crate::engine::cancel::Cancel;
use crate::session::incident::Incident;
use crate::session::view::LaneSpec;
use crate::ui::lanes::mesh::MeshCache;
use crate::ui::lanes::{Lane, LaneKind, Offer, Query, cache, empty, plan};

/// Scrape health.
#[derive(Debug)]
pub struct Health;

impl LaneKind for Health {
    fn id(&self) -> &'static str {
        "health"
    }

    fn height(&self) -> u16 {
        (PITCH * 3.0 + TOP * 2.0) as u16
    }

    fn offers(&self, incident: &Incident) -> Vec<Offer> {
        plan::ranked(incident, list(incident))
    }

    fn prepare(
        &self,
        _spec: &LaneSpec,
        incident: &Incident,
        _query: &Query,
        _cancel: &Cancel,
    ) -> Result<Box<dyn Lane>, String> {
        let rows = rows(incident);
        if rows.is_empty() {
            return Ok(empty::lane(""));
        }
        Ok(Box::new(HealthLane {
            rows,
            mesh: MeshCache::default(),
        }))
    }
}

/// One lane, when anything was scraped.
pub(super) fn list(incident: &Incident) -> Vec<Offer> {
    let snapshot = incident.snapshot();
    let cache = cache::of(incident);
    let targets = targets(snapshot, cache.index(snapshot));
    if targets.is_empty() {
        return Vec::new();
    }
    let mut entities: Vec<String> = Vec::new();
    for (ix, _) in targets.iter().take(64) {
        for id in snapshot.series_entities.get(*ix).into_iter().flatten() {
            if !entities.contains(id) {
                entities.push(id.clone());
            }
        }
    }
    vec![Offer::only("health", entities)]
}

/// Whether any target failed or fell silent.
pub(super) fn has_gaps(incident: &Incident) -> bool {
    rows(incident)
        .iter()
        .any(|r| r.stretches.iter().any(|s| s.state != State::Up))
}
