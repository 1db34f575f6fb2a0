//! Findings: something that was detected in one signal.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::stable_id;
use crate::base::time::Timestamp;
use crate::model::input::Evidence;

/// The closed list of `contract.md` §3.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[expect(
    missing_docs,
    reason = "each is documented in `contract.md` §3; the names say it"
)]
pub enum FindingKind {
    ScrapeGap,
    LatencySpike,
    ConnectOutliers,
    LevelShift,
    Spike,
    Leak,
    LockContention,
    BlockedGrowth,
    Deadlock,
    Hotspot,
    SlowCall,
    ErrorBurst,
    Saturation,
    ThroughputDrop,
    LoadRun,
    RunRegression,
    LogBackpressure,
    CounterReset,
    Change,
}

impl FindingKind {
    /// As the report writes it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ScrapeGap => "scrape_gap",
            Self::LatencySpike => "latency_spike",
            Self::ConnectOutliers => "connect_outliers",
            Self::LevelShift => "level_shift",
            Self::Spike => "spike",
            Self::Leak => "leak",
            Self::LockContention => "lock_contention",
            Self::BlockedGrowth => "blocked_growth",
            Self::Deadlock => "deadlock",
            Self::Hotspot => "hotspot",
            Self::SlowCall => "slow_call",
            Self::ErrorBurst => "error_burst",
            Self::Saturation => "saturation",
            Self::ThroughputDrop => "throughput_drop",
            Self::LoadRun => "load_run",
            Self::RunRegression => "run_regression",
            Self::LogBackpressure => "log_backpressure",
            Self::CounterReset => "counter_reset",
            Self::Change => "change",
        }
    }
}

/// How bad it is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth a mark on the timeline.
    Info,
    /// Noticeable.
    Minor,
    /// Users or operators are affected.
    Major,
    /// The service or its monitoring is failing.
    Critical,
}

impl Severity {
    /// As the report writes it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Minor => "minor",
            Self::Major => "major",
            Self::Critical => "critical",
        }
    }

    /// From its word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Info, Self::Minor, Self::Major, Self::Critical]
            .into_iter()
            .find(|s| s.word() == word)
    }
}

/// Named numbers (and names, where the contract asks), in order of name. A `NaN` never stands in it.
pub type Values = BTreeMap<String, serde_json::Value>;

/// One finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Stable id.
    pub id: String,
    /// What was found.
    pub kind: FindingKind,
    /// Since when it can be seen.
    #[schemars(with = "String")]
    pub start: Timestamp,
    /// Until when (the first instant after it); `null` when it had not ended when the recording did.
    #[schemars(with = "Option<String>")]
    pub end: Option<Timestamp>,
    /// The best single guess of when it began.
    #[schemars(with = "String")]
    pub onset: Timestamp,
    /// How bad it is.
    pub severity: Severity,
    /// 0…1: how sure the tool is that this is real and what it says.
    pub confidence: f64,
    /// One line.
    pub title: String,
    /// Whole sentences with the numbers.
    pub detail: String,
    /// Whom it concerns: ids of entities, the most specific first.
    pub entities: Vec<String>,
    /// The numbers, with their units in their names.
    pub values: Values,
    /// The cause, for the kinds that have a list of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Where to look.
    pub evidence: Vec<Evidence>,
}

impl Finding {
    /// A finding at `start` with a stable id made from its kind, start and `subject` (what tells it from its like: a
    /// selector, a site, an instance).
    pub fn new(kind: FindingKind, subject: &str, start: Timestamp, end: Option<Timestamp>) -> Self {
        Self {
            id: stable_id("f", [kind.word(), subject, &start.nanos().to_string()]),
            kind,
            start,
            end,
            onset: start,
            severity: Severity::Info,
            confidence: 0.5,
            title: String::new(),
            detail: String::new(),
            entities: Vec::new(),
            values: Values::new(),
            cause: None,
            evidence: Vec::new(),
        }
    }

    /// Sets a number; one that is not finite becomes `null`.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<serde_json::Value>) -> Self {
        self.values.insert(name.to_owned(), value.into());
        self
    }

    /// A number of its values.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.values.get(name).and_then(serde_json::Value::as_f64)
    }

    /// A name of its values.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name).and_then(serde_json::Value::as_str)
    }
}
