//! `scatter`: requests or traces over time by how long they took, errors apart in colour and shape, many dots as density.

use std::sync::Arc;

use crate::engine::cancel::Cancel;
use crate::session::incident::Incident;
use crate::session::view::LaneSpec;
use crate::store::Snapshot;
use crate::ui::lanes::cloud::{self, Group, Measure};
use crate::ui::lanes::dots::{DotLane, Style};
use crate::ui::lanes::{Lane, LaneKind, Offer, Query, empty, plan};

/// Requests or traces by duration.
#[derive(Debug)]
pub struct Scatter;

impl LaneKind for Scatter {
    fn id(&self) -> &'static str {
        "scatter"
    }

    fn height(&self) -> u16 {
        112
    }

    fn is_log(&self, _spec: &LaneSpec) -> bool {
        true
    }

    fn has_outliers(&self) -> bool {
        true
    }

    fn offers(&self, incident: &Incident) -> Vec<Offer> {
        plan::ranked(incident, list(incident.snapshot()))
    }

    fn prepare(
        &self,
        spec: &LaneSpec,
        incident: &Incident,
        _query: &Query,
        _cancel: &Cancel,
    ) -> Result<Box<dyn Lane>, String> {
        Ok(prepare(spec, incident, Measure::Duration, Style::Plain))
    }
}

/// One lane for each group with durations.
pub(super) fn list(snapshot: &Snapshot) -> Vec<Offer> {
    offers(snapshot, "scatter", 0)
}

/// One lane of a kind for each group that has the measure.
pub(super) fn offers(snapshot: &Snapshot, kind: &str, measure: usize) -> Vec<Offer> {
    cloud::groups(snapshot)
        .into_iter()
        .filter(|(_, counts)| counts.get(measure).is_some_and(|n| *n > 0))
        .map(|(group, _)| Offer {
            spec: LaneSpec {
                kind: kind.to_owned(),
                key: group.key(),
                series: Vec::new(),
            },
            title: group.title(),
            entities: group.entities(),
            opening_rank: None,
        })
        .collect()
}

/// The dots of a lane.
pub(super) fn prepare(
    spec: &LaneSpec,
    incident: &Incident,
    measure: Measure,
    style: Style,
) -> Box<dyn Lane> {
    let Some(group) = Group::parse(&spec.key) else {
        return empty::lane(&spec.key);
    };
    let cloud = cloud::of(incident, &group, measure);
    if cloud.len() == 0 {
        return empty::lane(group.title());
    }
    let is_requests = matches!(group, Group::Requests { .. });
    Box::new(DotLane::new(
        Arc::clone(&incident.document),
        cloud,
        style,
        is_requests,
    ))
}
