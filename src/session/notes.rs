//! What a person said of an incident: pins, dismissals, notes, verdicts, own events, edits of the timeline.
//!
//! Kept apart from the report, which is made by the machine and stays as it is; a verdict wins over the rank wherever both are
//! shown.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::base::time::Timestamp;

/// What a person says of a hypothesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It was the cause.
    Confirmed,
    /// It was not.
    Refuted,
}

impl Verdict {
    /// As exports write it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Refuted => "refuted",
        }
    }
}

/// Something that a person put on the timeline.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OwnEvent {
    /// When.
    pub start: Timestamp,
    /// Until when.
    pub end: Option<Timestamp>,
    /// One line.
    pub title: String,
    /// More.
    pub text: String,
}

/// What a person changed of one entry of the timeline.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Edit {
    /// Its new title.
    pub title: Option<String>,
    /// Whether it is left out.
    pub is_hidden: bool,
}

/// Everything that a person said of one incident.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Notes {
    /// Findings and hypotheses that stay on top, by id.
    pub pinned: BTreeSet<String>,
    /// Findings and hypotheses that were dismissed, with the reason.
    pub dismissed: BTreeMap<String, String>,
    /// Notes on findings and hypotheses, by id.
    pub comments: BTreeMap<String, String>,
    /// What a person says of hypotheses, by id.
    pub verdicts: BTreeMap<String, Verdict>,
    /// Events that were put on the timeline.
    pub events: Vec<OwnEvent>,
    /// Entries of the timeline that were edited, by the id of their finding.
    pub edits: BTreeMap<String, Edit>,
    /// The summary on top of the exported timeline.
    pub summary: String,
}

impl Notes {
    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Takes in what was kept from an earlier start. What was said since then wins.
    pub fn take_in(&mut self, earlier: Self) {
        let fresh = std::mem::replace(self, earlier);
        self.pinned.extend(fresh.pinned);
        self.dismissed.extend(fresh.dismissed);
        self.comments.extend(fresh.comments);
        self.verdicts.extend(fresh.verdicts);
        self.edits.extend(fresh.edits);
        self.events.extend(fresh.events);
        self.events.sort();
        self.events.dedup();
        if !fresh.summary.is_empty() {
            self.summary = fresh.summary;
        }
    }
}
