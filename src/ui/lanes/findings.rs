//! `findings`: findings as spans on top, packed into rows, in the colour of their severity; those without an end fade to the right.
//!
//! Findings of one kind about one thing share a bar, with a tick where each begins. Changes and load runs have lanes of their own.

mod bars;
mod lane;

use self::bars::bars;
use self::lane::{FindingLane, PITCH, TOP};
use crate::engine::cancel::Cancel;
use crate::session::incident::Incident;
use crate::session::notes::Notes;
use crate::session::view::LaneSpec;
use crate::ui::lanes::{Lane, LaneKind, Offer, Query, plan};

/// Findings as spans.
#[derive(Debug)]
pub struct Findings;

impl LaneKind for Findings {
    fn id(&self) -> &'static str {
        "findings"
    }

    fn height(&self) -> u16 {
        (PITCH * 3.0 + TOP * 2.0) as u16
    }

    fn offers(&self, incident: &Incident) -> Vec<Offer> {
        plan::ranked(incident, list())
    }

    fn prepare(
        &self,
        spec: &LaneSpec,
        incident: &Incident,
        query: &Query,
        cancel: &Cancel,
    ) -> Result<Box<dyn Lane>, String> {
        self.prepare_noted(spec, incident, &Notes::default(), query, cancel)
    }

    fn reads_notes(&self) -> bool {
        true
    }

    fn prepare_noted(
        &self,
        _spec: &LaneSpec,
        incident: &Incident,
        notes: &Notes,
        query: &Query,
        _cancel: &Cancel,
    ) -> Result<Box<dyn Lane>, String> {
        let bars = bars(incident.findings(), notes);
        let end = incident.document.window.end.nanos();
        let lane = FindingLane::new(incident.report.clone(), bars, end, query.step_nanos);
        Ok(Box::new(lane))
    }
}

/// The only lane of its kind.
pub(super) fn list() -> Vec<Offer> {
    vec![Offer::only("findings", Vec::new())]
}
