//! Findings and the entity graph → hypotheses.

use crate::detect::Context;
use crate::model::finding::Finding;
use crate::model::hypothesis::Hypothesis;

/// What may have caused the findings, best first.
pub fn hypotheses(_context: &Context<'_>, _findings: &[Finding]) -> Vec<Hypothesis> {
    Vec::new()
}
