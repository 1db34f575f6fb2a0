//! `scatter` and `connects`: requests or traces over time by how long they, or their connects, took. Errors are apart in colour and
//! shape, many dots are density.
//!
//! Connects have the rungs of timers that data reach: a SYN that is sent again after 1, 3 and 7 s, and a DNS answer that is asked for
//! again after 5 s.

use std::sync::Arc;

use crate::engine::cancel::Cancel;
use crate::session::incident::Incident;
use crate::session::view::LaneSpec;
use crate::store::Snapshot;
use crate::ui::lanes::cloud::{self, Group, Measure};
use crate::ui::lanes::dots::{DotLane, Style};
use crate::ui::lanes::{Lane, LaneKind, Offer, Query, empty, plan};

/// Lanes of dots.
#[derive(Debug)]
pub struct Dots {
    id: &'static str,
    height: u16,
    measure: Measure,
    style: Style,
}

/// Requests or traces by duration.
pub const SCATTER: Dots = Dots {
    id: "scatter",
    height: 112,
    measure: Measure::Duration,
    style: Style::Plain,
};

/// Connect times.
pub const CONNECTS: Dots = Dots {
    id: "connects",
    height: 104,
    measure: Measure::Connect,
    style: Style::Rungs,
};

impl LaneKind for Dots {
    fn id(&self) -> &'static str {
        self.id
    }

    fn height(&self) -> u16 {
        self.height
    }

    fn is_log(&self, _spec: &LaneSpec) -> bool {
        true
    }

    fn has_outliers(&self) -> bool {
        true
    }

    fn offers(&self, incident: &Incident) -> Vec<Offer> {
        plan::ranked(incident, self.list(incident.snapshot()))
    }

    fn prepare(
        &self,
        spec: &LaneSpec,
        incident: &Incident,
        _query: &Query,
        _cancel: &Cancel,
    ) -> Result<Box<dyn Lane>, String> {
        let Some(group) = Group::parse(&spec.key) else {
            return Ok(empty::lane(&spec.key));
        };
        let cloud = cloud::of(incident, &group, self.measure);
        if cloud.len() == 0 {
            return Ok(empty::lane(group.title()));
        }
        Ok(Box::new(DotLane::new(
            Arc::clone(&incident.document),
            cloud,
            self.style,
            matches!(group, Group::Requests { .. }),
        )))
    }
}

impl Dots {
    /// One lane for each group that has the measure.
    pub(super) fn list(&self, snapshot: &Snapshot) -> Vec<Offer> {
        cloud::groups(snapshot)
            .into_iter()
            .filter(|(_, counts)| counts.get(self.measure as usize).is_some_and(|n| *n > 0))
            .map(|(group, _)| Offer {
                spec: LaneSpec {
                    kind: self.id.to_owned(),
                    key: group.key(),
                    series: Vec::new(),
                },
                title: group.title(),
                entities: group.entities(),
                opening_rank: None,
            })
            .collect()
    }
}
