//! A place in the data that a link leads to, and evidence → place.

use serde::{Deserialize, Serialize};

use crate::base::time::Timestamp;
use crate::store::Snapshot;

/// A place in the data. Indices are those of the snapshot; equal inputs give equal indices.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Target {
    /// A sample of a series; without a time the whole series.
    Sample {
        /// Index of the series.
        series: usize,
        /// When.
        t: Option<Timestamp>,
    },
    /// A span, in its trace.
    Span {
        /// Index of the span.
        span: usize,
    },
    /// A row of a list of traces.
    Summary {
        /// Index of the summary.
        summary: usize,
    },
    /// A request of an access log.
    Request {
        /// Index of the request.
        request: usize,
    },
    /// A stack of a profile; without one the whole profile.
    Stack {
        /// Index of the profile.
        profile: usize,
        /// Index of its group.
        group: Option<usize>,
    },
    /// An event.
    Event {
        /// Index of the event.
        event: usize,
    },
    /// A finding, by id.
    Finding(String),
    /// What a person wrote.
    Own {
        /// Its place in the notes.
        event: usize,
    },
    /// An input, as a whole.
    Input {
        /// Index of the input.
        input: usize,
    },
}

impl Target {
    /// When it is, as far as it has a time.
    pub fn time(&self, snapshot: &Snapshot) -> Option<Timestamp> {
        match self {
            Self::Sample { t, .. } => *t,
            Self::Span { span } => snapshot.spans.get(*span).map(|s| s.start),
            Self::Summary { summary } => snapshot.summaries.get(*summary).map(|s| s.start),
            Self::Request { request } => snapshot.requests.get(*request).map(|r| r.t),
            Self::Stack { profile, .. } => snapshot.profiles.get(*profile).and_then(|p| p.t),
            Self::Event { event } => snapshot.events.get(*event).map(|e| e.t),
            Self::Finding(_) | Self::Own { .. } => None,
            Self::Input { input } => snapshot.inputs.get(*input).and_then(|i| i.start),
        }
    }
}
