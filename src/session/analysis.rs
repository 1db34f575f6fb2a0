//! Rows → report: the window, the findings in it, what explains them, and the timeline.

use std::collections::BTreeSet;

use crate::base::time::{TimeRange, Timestamp};
use crate::correlate;
use crate::detect::{self, Context};
use crate::model::entity::{Entity, EntityType};
use crate::model::finding::Finding;
use crate::model::hypothesis::Hypothesis;
use crate::model::report::{Generator, NotEnough, Report, SCHEMA, TimelineEntry, Window};
use crate::session::intake::{FAR_CODE, Intake, WindowHint};
use crate::store::memo::Memo;
use crate::store::{Snapshot, build};

/// The part of time that somebody asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Asked {
    /// From.
    pub from: Option<Timestamp>,
    /// To.
    pub to: Option<Timestamp>,
}

/// Inputs, joined, with the window to look at.
#[derive(Debug)]
pub struct Document {
    /// All rows.
    pub snapshot: Snapshot,
    /// What to look at; everything when nothing has a time.
    pub window: TimeRange,
    /// What the time axis covers: the window, or that of the whole incident while only a part of it is known.
    pub recording: TimeRange,
    /// Whether an input was lost or cut short.
    pub is_partial: bool,
    /// What a window derives from the rows (pyramids, sorted dots) and keeps as long as them.
    pub shared: Memo,
    is_asked: bool,
}

impl Document {
    /// Joins what was read. The window is what was asked for, else what `window.json` says, else what the data cover.
    pub fn new(intake: Intake, asked: Asked) -> Self {
        let hint: WindowHint = intake.window.unwrap_or_default();
        let from = asked.from.or(hint.start);
        let to = asked.to.or(hint.end);
        let snapshot = build::build(intake.parts);
        let covered = covered(&snapshot).unwrap_or(TimeRange::ALL);
        let window = TimeRange::new(from.unwrap_or(covered.start), to.unwrap_or(covered.end));
        Self {
            window,
            recording: window,
            is_partial: intake.is_partial,
            shared: Memo::default(),
            is_asked: from.is_some() || to.is_some(),
            snapshot,
        }
    }

    /// What was known at `t`, to be looked at from the begin of the window to `t`. See [`Snapshot::until`].
    #[must_use]
    pub fn until(&self, t: Timestamp) -> Self {
        Self {
            snapshot: self.snapshot.until(t),
            ..self.nothing_until(t)
        }
    }

    /// The same without any row: what is shown until a worker has found out what was known.
    #[must_use]
    pub fn nothing_until(&self, t: Timestamp) -> Self {
        let start = self.window.start;
        let end = self
            .window
            .end
            .min(t.plus_nanos(1).max(start.plus_nanos(1)));
        Self {
            snapshot: Snapshot::default(),
            window: TimeRange::new(start, end),
            recording: self.recording,
            is_partial: self.is_partial,
            shared: Memo::default(),
            is_asked: self.is_asked,
        }
    }

    /// Runs every detector, correlates, and puts everything in order. `stamp` is the time of writing, when wanted.
    pub fn report(&self, stamp: Option<Timestamp>) -> Report {
        self.written(detect::run(&self.context()), stamp)
    }

    /// The same for somebody who may lose interest on the way; `None` then.
    pub fn report_while(
        &self,
        stamp: Option<Timestamp>,
        goes_on: &(dyn Fn() -> bool + Sync),
    ) -> Option<Report> {
        let found = detect::run_while(&self.context(), goes_on)?;
        goes_on().then(|| self.written(found, stamp))
    }

    const fn context(&self) -> Context<'_> {
        Context {
            snapshot: &self.snapshot,
            window: self.window,
        }
    }

    fn written(
        &self,
        (mut findings, mut not_enough): (Vec<Finding>, Vec<NotEnough>),
        stamp: Option<Timestamp>,
    ) -> Report {
        let context = self.context();
        if self.is_asked {
            findings.retain(|f| touches(f, self.window));
        }
        not_enough.sort();
        not_enough.dedup();
        let hypotheses = correlate::hypotheses(&context, &findings, &not_enough);
        Report {
            schema: SCHEMA.to_owned(),
            generator: Generator {
                name: env!("CARGO_PKG_NAME").to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            generated_at: stamp,
            window: self.known_window(),
            partial: self.is_partial,
            inputs: self.snapshot.inputs.clone(),
            entities: self.entities(&findings, &hypotheses),
            timeline: timeline(&findings),
            findings,
            hypotheses,
            not_enough,
        }
    }

    fn known_window(&self) -> Window {
        let known = |t: Timestamp| (t != Timestamp::MIN && t != Timestamp::MAX).then_some(t);
        Window {
            start: known(self.window.start),
            end: known(self.window.end),
        }
    }

    /// Every entity that a finding or a hypothesis names, in order of id.
    fn entities(&self, findings: &[Finding], hypotheses: &[Hypothesis]) -> Vec<Entity> {
        let named: BTreeSet<&String> = findings
            .iter()
            .flat_map(|f| &f.entities)
            .chain(hypotheses.iter().flat_map(|h| &h.entities))
            .collect();
        named
            .into_iter()
            .filter_map(|id| {
                let (kind, name) = if let Some((kind, name)) = self.snapshot.graph.get(id) {
                    (kind, name)
                } else {
                    let (word, name) = id.split_once(':')?;
                    (EntityType::from_word(word)?, name)
                };
                Some(Entity {
                    id: id.clone(),
                    kind,
                    name: name.to_owned(),
                    aliases: self.snapshot.graph.same_as(id).into_iter().collect(),
                })
            })
            .collect()
    }
}

/// What the inputs cover, without those whose clocks are far off.
fn covered(snapshot: &Snapshot) -> Option<TimeRange> {
    snapshot
        .inputs
        .iter()
        .filter(|i| i.warnings.iter().all(|w| w.code != FAR_CODE))
        .filter_map(|i| Some(TimeRange::new(i.start?, i.end?.plus_nanos(1))))
        .reduce(|a, b| a.hull(&b))
}

fn touches(finding: &Finding, window: TimeRange) -> bool {
    finding.start < window.end
        && finding
            .end
            .is_none_or(|end| end.max(finding.start.plus_nanos(1)) > window.start)
}

fn timeline(findings: &[Finding]) -> Vec<TimelineEntry> {
    let mut entries: Vec<TimelineEntry> = findings
        .iter()
        .map(|f| TimelineEntry {
            start: f.start,
            end: f.end,
            kind: f.kind,
            title: f.title.clone(),
            severity: f.severity,
            finding: Some(f.id.clone()),
            input: f.evidence.first().map(|e| e.input.clone()),
        })
        .collect();
    entries.sort_by(|a, b| (a.start, a.kind, &a.finding).cmp(&(b.start, b.kind, &b.finding)));
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::batch::Batch;
    use crate::model::event::Event;
    use crate::model::finding::FindingKind;
    use crate::model::input::{Counts, Input, InputIx};
    use std::sync::Arc;

    fn at(secs: i64) -> Timestamp {
        Timestamp::from_nanos(secs * 1_000_000_000)
    }

    fn intake(events: &[i64]) -> Intake {
        let mut batch = Batch::default();
        for t in events {
            batch.events.push(Event {
                input: InputIx(0),
                locator: Arc::from("line 1"),
                t: at(*t),
                end: None,
                kind: Arc::from("deploy"),
                title: Arc::from("v2"),
                text: Arc::from(""),
                source: Arc::from(""),
                attributes: Arc::from("{}"),
            });
        }
        let extent = batch.extent();
        let input = Input {
            id: "in-1".to_owned(),
            path: "events.csv".to_owned(),
            format: "events-csv".to_owned(),
            sha256: String::new(),
            counts: Counts::default(),
            start: extent.map(|e| e.start),
            end: extent.map(|e| e.end),
            warnings: Vec::new(),
        };
        Intake {
            parts: vec![(input, batch)],
            ..Intake::default()
        }
    }

    #[test]
    fn the_window_is_asked_for_or_hinted_or_covered() {
        let covered = Document::new(intake(&[10, 20]), Asked::default()).window;
        assert_eq!(covered, TimeRange::new(at(10), at(20).plus_nanos(1)));
        let mut hinted = intake(&[10, 20]);
        hinted.window = Some(WindowHint {
            start: Some(at(12)),
            ..WindowHint::default()
        });
        let asked = Asked {
            from: None,
            to: Some(at(15)),
        };
        let window = Document::new(hinted, asked).window;
        assert_eq!(window, TimeRange::new(at(12), at(15)));
    }

    #[test]
    fn without_any_time_the_window_is_not_made_up() {
        let report = Document::new(Intake::default(), Asked::default()).report(None);
        assert_eq!(report.window.start, None);
        assert_eq!(report.window.end, None);
    }

    #[test]
    fn a_finding_touches_the_window_when_they_share_an_instant() {
        let window = TimeRange::new(at(10), at(20));
        let finding =
            |start, end: Option<i64>| Finding::new(FindingKind::Spike, "x", at(start), end.map(at));
        assert!(touches(&finding(5, None), window));
        assert!(touches(&finding(10, Some(10)), window));
        assert!(!touches(&finding(5, Some(10)), window));
        assert!(!touches(&finding(20, None), window));
    }
}
