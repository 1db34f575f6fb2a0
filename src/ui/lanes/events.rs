//! `events`: changes, deploys, alerts and own notes as marks with titles. Titles lie in rows and never overlap; only what
//! finds no row is counted, and told in the tooltip.

mod lane;

use self::lane::EventLane;
use crate::base::time::Timestamp;
use crate::engine::cancel::Cancel;
use crate::model::finding::FindingKind;
use crate::session::incident::Incident;
use crate::session::notes::Notes;
use crate::session::target::Target;
use crate::session::view::LaneSpec;
use crate::ui::lanes::{Lane, LaneKind, Offer, Query, plan};

/// An event that a finding tells too is drawn once: both are within this time.
const SAME_NANOS: i64 = 2_000_000_000;

/// Events as marks.
#[derive(Debug)]
pub struct Events;

impl LaneKind for Events {
    fn id(&self) -> &'static str {
        "events"
    }

    fn height(&self) -> u16 {
        lane::height(2)
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
        _query: &Query,
        _cancel: &Cancel,
    ) -> Result<Box<dyn Lane>, String> {
        Ok(Box::new(EventLane::new(
            marks_of(incident, notes),
            incident.document.window,
        )))
    }
}

/// The only lane of its kind; own events are written onto it, so it is there without any event.
pub(super) fn list() -> Vec<Offer> {
    vec![Offer::only("events", Vec::new())]
}

/// What a mark tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// People or machines changed something.
    Change,
    /// Something rang.
    Alert,
    /// Somebody wrote it down elsewhere.
    Note,
    /// The person at the window wrote it.
    Own,
}

#[derive(Debug, Clone, PartialEq)]
struct Mark {
    t: i64,
    end: Option<i64>,
    what: What,
    title: String,
    target: Option<Target>,
}

/// Events, changes that telemetry tells and own events, by time.
fn marks_of(incident: &Incident, notes: &Notes) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    for (at, event) in incident.snapshot().events.iter().enumerate() {
        marks.push(Mark {
            t: event.t.nanos(),
            end: event.end.map(Timestamp::nanos),
            what: match event.kind.as_ref() {
                "alert" | "fault" => What::Alert,
                _ if event.is_change() => What::Change,
                _ => What::Note,
            },
            title: event.title.to_string(),
            target: Some(Target::Event { event: at }),
        });
    }
    let events = marks.len();
    for finding in incident.findings() {
        let t = finding.start.nanos();
        let is_known = |m: &Mark| (m.t - t).abs() <= SAME_NANOS && m.title == finding.title;
        if finding.kind == FindingKind::Change && !marks.iter().take(events).any(is_known) {
            marks.push(Mark {
                t,
                end: None,
                what: What::Change,
                title: finding.title.clone(),
                target: Some(Target::Finding(finding.id.clone())),
            });
        }
    }
    for (event, own) in notes.events.iter().enumerate() {
        marks.push(Mark {
            t: own.start.nanos(),
            end: own.end.map(Timestamp::nanos),
            what: What::Own,
            title: own.title.clone(),
            target: Some(Target::Own { event }),
        });
    }
    marks.sort_by_key(|m| m.t);
    marks
}
