//! Inputs, their provenance, and pointers back into them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::reporter::Warning;
use crate::base::time::Timestamp;

/// Which input a row came from: an index into [`crate::store::Snapshot::inputs`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct InputIx(pub u32);

/// How much of each kind an input held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Time series.
    pub series: u64,
    /// Samples of them.
    pub samples: u64,
    /// Spans.
    pub spans: u64,
    /// Traces, whole or as summaries.
    pub traces: u64,
    /// Requests of access logs.
    pub requests: u64,
    /// Profiles and dumps.
    pub profiles: u64,
    /// Stacks in them (goroutines or threads of dumps, samples of profiles).
    pub stacks: u64,
    /// Events.
    pub events: u64,
    /// Log lines.
    pub log_lines: u64,
}

impl Counts {
    /// Adds another input's counts.
    pub fn add(&mut self, other: &Self) {
        self.series += other.series;
        self.samples += other.samples;
        self.spans += other.spans;
        self.traces += other.traces;
        self.requests += other.requests;
        self.profiles += other.profiles;
        self.stacks += other.stacks;
        self.events += other.events;
        self.log_lines += other.log_lines;
    }
}

/// One input as the report lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Input {
    /// Stable id: a hash of path and content.
    pub id: String,
    /// Path relative to the argument that it came from; members of archives follow after `!`.
    pub path: String,
    /// The id of the format that it was read as, or `unrecognised`.
    pub format: String,
    /// SHA-256 of the bytes as they were found.
    pub sha256: String,
    /// What it held.
    pub counts: Counts,
    /// The first time in it.
    #[schemars(with = "Option<String>")]
    pub start: Option<Timestamp>,
    /// The last time in it.
    #[schemars(with = "Option<String>")]
    pub end: Option<Timestamp>,
    /// What to know about it.
    pub warnings: Vec<Warning>,
}

/// A pointer to the very samples, spans, lines or stacks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// The id of the input.
    pub input: String,
    /// The place in it: `line 12`, `$.data.result[3]`, `trace 1-… segment …`.
    pub locator: String,
    /// A short quote of what stands there.
    pub quote: String,
}
