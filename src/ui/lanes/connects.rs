//! `connects`: how long connecting took, with the rungs of timers that data reach: a SYN that is sent again after 1, 3 and 7 s, and a
//! DNS answer that is asked for again after 5 s.

use crate::engine::cancel::Cancel;
use crate::session::incident::Incident;
use crate::session::view::LaneSpec;
use crate::store::Snapshot;
use crate::ui::lanes::cloud::Measure;
use crate::ui::lanes::dots::Style;
use crate::ui::lanes::{Lane, LaneKind, Offer, Query, plan, scatter};

/// Connect times.
#[derive(Debug)]
pub struct Connects;

impl LaneKind for Connects {
    fn id(&self) -> &'static str {
        "connects"
    }

    fn height(&self) -> u16 {
        104
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
        Ok(scatter::prepare(
            spec,
            incident,
            Measure::Connect,
            Style::Rungs,
        ))
    }
}

/// One lane for each group with connect times.
pub(super) fn list(snapshot: &Snapshot) -> Vec<Offer> {
    scatter::offers(snapshot, "connects", 1)
}
