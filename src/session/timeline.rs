//! The incident timeline as people read it: what the report says, events that no finding names, and what a person wrote,
//! in order of time, with the person's edits.

use std::collections::BTreeSet;

use crate::base::id::stable_id;
use crate::base::time::Timestamp;
use crate::model::event::Event;
use crate::model::finding::{FindingKind, Severity};
use crate::model::report::{Report, TimelineEntry};
use crate::session::notes::{Notes, OwnEvent};
use crate::store::Snapshot;
use crate::words::report::Told;
use crate::words::{Lang, Words, report};

/// Where an entry comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The report: the id of its finding, or nothing for an entry without one.
    Report(Option<String>),
    /// An event of an input, as an index into the snapshot's events.
    Event(usize),
    /// A person, as an index into [`Notes::events`].
    Own(usize),
}

/// One line of the timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What its edits are kept by; empty for own events, which are changed themselves.
    pub id: String,
    /// Where it comes from.
    pub origin: Origin,
    /// When.
    pub start: Timestamp,
    /// Until when.
    pub end: Option<Timestamp>,
    /// The kind of the finding, what the event says it is, or `own`.
    pub kind: String,
    /// Whether it is something that was changed, rather than a symptom.
    pub is_change: bool,
    /// How bad.
    pub severity: Severity,
    /// One line, as it shall read.
    pub title: String,
    /// What it said before a person changed it.
    pub first_title: Option<String>,
    /// More, or empty.
    pub text: String,
    /// What a person wrote on its finding.
    pub comment: Option<String>,
    /// Why a person dismissed its finding.
    pub dismissed: Option<String>,
    /// Whether a person left it out.
    pub is_hidden: bool,
    /// The input, by id.
    pub input: Option<String>,
}

/// The word for [`Entry::kind`] of what a person wrote.
pub const OWN: &str = "own";

impl Entry {
    /// The id of its finding.
    pub fn finding(&self) -> Option<&str> {
        match &self.origin {
            Origin::Report(id) => id.as_deref(),
            Origin::Event(_) | Origin::Own(_) => None,
        }
    }

    /// How bad it is, in a word; what a person wrote is `note`.
    pub const fn weight(&self) -> &'static str {
        match self.origin {
            Origin::Own(_) => "note",
            Origin::Report(_) | Origin::Event(_) => self.severity.word(),
        }
    }
}

/// Puts what the report says into the language of people; what a person or an input wrote stays as it is.
pub fn tell(entries: &mut [Entry], words: &Words, told: &Told) {
    if words.lang() == Lang::En {
        return;
    }
    for entry in entries {
        let Origin::Report(id) = &entry.origin else {
            continue;
        };
        let first = entry.first_title.as_ref().unwrap_or(&entry.title);
        let said = id
            .as_deref()
            .and_then(|id| told.findings.get(told.place(id)?).cloned())
            .unwrap_or_else(|| told.sentence(words, first));
        match &mut entry.first_title {
            Some(first) => *first = said,
            None => entry.title = said,
        }
    }
}

/// How bad an entry is, in a word of the language; see [`Entry::weight`].
pub fn weight_word(words: &Words, entry: &Entry) -> String {
    match entry.origin {
        Origin::Own(_) => words.text("export-note-word").to_owned(),
        Origin::Report(_) | Origin::Event(_) => report::severity(words, entry.severity),
    }
}

/// Every entry, hidden ones too, in order of time. Without notes exactly what the report says.
pub fn entries(report: &Report, snapshot: &Snapshot, notes: Option<&Notes>) -> Vec<Entry> {
    let mut all: Vec<Entry> = report.timeline.iter().map(of_report).collect();
    let Some(notes) = notes else {
        return all;
    };
    let told: BTreeSet<(&str, &str)> = report
        .findings
        .iter()
        .flat_map(|f| &f.evidence)
        .map(|e| (e.input.as_str(), e.locator.as_str()))
        .collect();
    for (at, event) in snapshot.events.iter().enumerate() {
        let input = snapshot.input_id(event.input);
        // A change is a finding already; in a window that leaves it out it stays left out.
        if !event.is_change() && !told.contains(&(input, event.locator.as_ref())) {
            all.push(of_event(at, event, input));
        }
    }
    for entry in &mut all {
        edit(entry, notes);
    }
    all.extend(notes.events.iter().enumerate().map(|(at, e)| of_own(at, e)));
    // Stable: what begins together stays in the order of the report.
    all.sort_by_key(|e| e.start);
    all
}

/// The entries that are exported.
pub fn shown(report: &Report, snapshot: &Snapshot, notes: Option<&Notes>) -> Vec<Entry> {
    let mut all = entries(report, snapshot, notes);
    all.retain(|e| !e.is_hidden);
    all
}

fn of_report(entry: &TimelineEntry) -> Entry {
    // An entry without a finding still needs a name that an edit can hold on to.
    let id = entry.finding.clone().unwrap_or_else(|| {
        let start = entry.start.nanos().to_string();
        stable_id("t", [entry.kind.word(), &entry.title, &start])
    });
    Entry {
        id,
        origin: Origin::Report(entry.finding.clone()),
        start: entry.start,
        end: entry.end,
        kind: entry.kind.word().to_owned(),
        is_change: entry.kind == FindingKind::Change,
        severity: entry.severity,
        title: entry.title.clone(),
        first_title: None,
        text: String::new(),
        comment: None,
        dismissed: None,
        is_hidden: false,
        input: entry.input.clone(),
    }
}

fn of_event(at: usize, event: &Event, input: &str) -> Entry {
    Entry {
        id: stable_id("e", [input, event.locator.as_ref(), event.title.as_ref()]),
        origin: Origin::Event(at),
        start: event.t,
        end: event.end,
        kind: event.kind.to_string(),
        is_change: event.is_change(),
        severity: Severity::Info,
        title: event.title.to_string(),
        first_title: None,
        text: if event.text == event.title {
            String::new()
        } else {
            event.text.to_string()
        },
        comment: None,
        dismissed: None,
        is_hidden: false,
        input: Some(input.to_owned()),
    }
}

fn of_own(at: usize, event: &OwnEvent) -> Entry {
    Entry {
        id: String::new(),
        origin: Origin::Own(at),
        start: event.start,
        end: event.end,
        kind: OWN.to_owned(),
        is_change: false,
        severity: Severity::Info,
        title: event.title.clone(),
        first_title: None,
        text: event.text.clone(),
        comment: None,
        dismissed: None,
        is_hidden: false,
        input: None,
    }
}

fn edit(entry: &mut Entry, notes: &Notes) {
    if let Some(edit) = notes.edits.get(&entry.id) {
        entry.is_hidden = edit.is_hidden;
        if let Some(title) = edit.title.as_ref().filter(|t| !t.trim().is_empty()) {
            entry.first_title = Some(std::mem::replace(&mut entry.title, title.clone()));
        }
    }
    entry.comment = notes.comments.get(&entry.id).cloned();
    entry.dismissed = notes.dismissed.get(&entry.id).cloned();
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::finding::Finding;
    use crate::model::input::{Counts, Evidence, Input, InputIx};
    use crate::model::report::{Generator, SCHEMA, Window};
    use crate::session::notes::Edit;

    fn at(secs: i64) -> Timestamp {
        Timestamp::from_nanos(secs * 1_000_000_000)
    }

    fn event(kind: &str, secs: i64, title: &str) -> Event {
        Event {
            input: InputIx(0),
            locator: Arc::from(format!("line {secs}")),
            t: at(secs),
            end: None,
            kind: Arc::from(kind),
            title: Arc::from(title),
            text: Arc::from(""),
            source: Arc::from(""),
            attributes: Arc::from("{}"),
        }
    }

    fn example() -> (Report, Snapshot) {
        let mut snapshot = Snapshot::default();
        snapshot.inputs.push(Input {
            id: "in-1".to_owned(),
            path: "events.csv".to_owned(),
            format: "events-csv".to_owned(),
            sha256: String::new(),
            counts: Counts::default(),
            start: None,
            end: None,
            warnings: Vec::new(),
        });
        snapshot.events = vec![event("deploy", 10, "v2"), event("alert", 20, "p99 is up")];
        let mut change = Finding::new(FindingKind::Change, "v2", at(10), None);
        change.title = "v2".to_owned();
        change.evidence.push(Evidence {
            input: "in-1".to_owned(),
            locator: "line 10".to_owned(),
            quote: String::new(),
        });
        let mut spike = Finding::new(FindingKind::LatencySpike, "p99", at(15), Some(at(30)));
        spike.title = "p99 rose".to_owned();
        let findings = vec![change, spike];
        let timeline = findings
            .iter()
            .map(|f| TimelineEntry {
                start: f.start,
                end: f.end,
                kind: f.kind,
                title: f.title.clone(),
                severity: f.severity,
                finding: Some(f.id.clone()),
                input: None,
            })
            .collect();
        let report = Report {
            schema: SCHEMA.to_owned(),
            generator: Generator {
                name: String::new(),
                version: String::new(),
            },
            generated_at: None,
            window: Window {
                start: None,
                end: None,
            },
            partial: false,
            inputs: Vec::new(),
            entities: Vec::new(),
            findings,
            hypotheses: Vec::new(),
            timeline,
            not_enough: Vec::new(),
        };
        (report, snapshot)
    }

    fn titles(entries: &[Entry]) -> Vec<&str> {
        entries.iter().map(|e| e.title.as_str()).collect()
    }

    #[test]
    fn without_notes_it_is_what_the_report_says() {
        let (report, snapshot) = example();
        assert_eq!(
            titles(&entries(&report, &snapshot, None)),
            ["v2", "p99 rose"]
        );
    }

    #[test]
    fn events_and_own_words_stand_in_their_place_and_nothing_stands_twice() {
        let (report, snapshot) = example();
        let mut notes = Notes::default();
        notes.events.push(OwnEvent {
            start: at(12),
            end: None,
            title: "called the team".to_owned(),
            text: String::new(),
        });
        let all = entries(&report, &snapshot, Some(&notes));
        assert_eq!(
            titles(&all),
            ["v2", "called the team", "p99 rose", "p99 is up"]
        );
        assert_eq!(all[1].origin, Origin::Own(0));
        assert_eq!(all[1].weight(), "note");
        assert_eq!(all[3].origin, Origin::Event(1));
    }

    #[test]
    fn edits_change_the_words_and_hide_and_can_be_taken_back() {
        let (report, snapshot) = example();
        let mut notes = Notes::default();
        let spike = report.findings[1].id.clone();
        notes.edits.insert(
            spike.clone(),
            Edit {
                title: Some("users waited".to_owned()),
                is_hidden: false,
            },
        );
        notes.edits.insert(
            report.findings[0].id.clone(),
            Edit {
                title: None,
                is_hidden: true,
            },
        );
        notes.comments.insert(spike, "seen by support".to_owned());
        let all = entries(&report, &snapshot, Some(&notes));
        assert!(all[0].is_hidden);
        assert_eq!(all[1].title, "users waited");
        assert_eq!(all[1].first_title.as_deref(), Some("p99 rose"));
        assert_eq!(all[1].comment.as_deref(), Some("seen by support"));
        let kept = shown(&report, &snapshot, Some(&notes));
        assert_eq!(titles(&kept), ["users waited", "p99 is up"]);
    }
}
