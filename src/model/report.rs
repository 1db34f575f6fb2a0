//! The report: `contract.md` §3, `tailscope.report/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::time::Timestamp;
use crate::model::entity::Entity;
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::model::hypothesis::Hypothesis;
use crate::model::input::Input;

/// The name and version of the report's shape.
pub const SCHEMA: &str = "tailscope.report/1";

/// Everything that `analyze` says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Who made it.
    pub generator: Generator,
    /// When it was made; only with `--stamp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub generated_at: Option<Timestamp>,
    /// What it covers.
    pub window: Window,
    /// Whether an input was lost or cut short (exit 5).
    pub partial: bool,
    /// What was read.
    pub inputs: Vec<Input>,
    /// Whom it is about.
    pub entities: Vec<Entity>,
    /// What was detected, by time.
    pub findings: Vec<Finding>,
    /// What may have caused it, best first.
    pub hypotheses: Vec<Hypothesis>,
    /// Everything in order of time.
    pub timeline: Vec<TimelineEntry>,
    /// What each detector could not decide, and why.
    pub not_enough: Vec<NotEnough>,
}

/// Name and version of the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Generator {
    /// `tailscope`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A range of time with both ends known, or neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// From.
    #[schemars(with = "Option<String>")]
    pub start: Option<Timestamp>,
    /// To.
    #[schemars(with = "Option<String>")]
    pub end: Option<Timestamp>,
}

/// One line of the timeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimelineEntry {
    /// When.
    #[schemars(with = "String")]
    pub start: Timestamp,
    /// Until when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub end: Option<Timestamp>,
    /// The kind of its finding.
    pub kind: FindingKind,
    /// One line.
    pub title: String,
    /// How bad.
    pub severity: Severity,
    /// The finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
    /// The input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
}

/// A detector that had not enough to decide.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct NotEnough {
    /// The detector.
    pub detector: String,
    /// What it lacked.
    pub reason: String,
}
