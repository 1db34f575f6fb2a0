//! Hypotheses: a possible cause that explains several findings, with what speaks for and against it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::time::Timestamp;
use crate::model::input::Evidence;

/// One hypothesis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hypothesis {
    /// Stable id.
    pub id: String,
    /// 1 is the best.
    pub rank: u32,
    /// The name of the signature in `assets/signatures`, or `unexplained`.
    pub signature: String,
    /// One line: the cause in words.
    pub title: String,
    /// 0…1.
    pub score: f64,
    /// When it began.
    #[schemars(with = "String")]
    pub onset: Timestamp,
    /// Whom it concerns.
    pub entities: Vec<String>,
    /// Ids of the findings that it explains.
    pub explains: Vec<String>,
    /// What speaks for it beyond the findings that it explains.
    pub support: Vec<Support>,
    /// The changes near it, each with its role.
    pub changes: Vec<ChangeRole>,
    /// What speaks against it.
    pub against: Vec<Against>,
    /// What would be needed to be surer.
    pub missing: Vec<String>,
    /// What to do next.
    pub next_checks: Vec<NextCheck>,
    /// 0…1: the share of the weight of all findings that it explains.
    pub coverage: f64,
}

/// Something that speaks for a hypothesis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Support {
    /// The finding that says so, when it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
    /// What it says, with its numbers.
    pub text: String,
    /// Where to look, when it is not a finding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
}

/// A change and what it has to do with a hypothesis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeRole {
    /// The change.
    pub title: String,
    /// When.
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// What it did.
    pub role: Role,
    /// Why the tool says so.
    pub why: String,
}

/// What a change did to a hypothesis.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It follows this change.
    Trigger,
    /// It eased after it, and did not end.
    Relief,
    /// It ended with it.
    Cure,
    /// Near in time, and not tied to it: named so that nobody blames it.
    Coincident,
}

impl Role {
    /// As the report writes it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Trigger => "trigger",
            Self::Relief => "relief",
            Self::Cure => "cure",
            Self::Coincident => "coincident",
        }
    }
}

/// Counter-evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Against {
    /// The finding that speaks against it, when it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
    /// What it says.
    pub text: String,
}

/// A next step for the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NextCheck {
    /// What to do and what it would tell.
    pub text: String,
    /// A query or a command to paste.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
}
