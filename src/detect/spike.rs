//! Spike.

use crate::detect::{Context, Detector, Verdict};
use crate::model::finding::FindingKind;

/// Spike.
pub struct Spike;

impl Detector for Spike {
    fn kind(&self) -> FindingKind {
        FindingKind::Spike
    }

    fn doc(&self) -> &'static str {
        "Spike"
    }

    fn check(&self, _context: &Context<'_>) -> Verdict {
        Verdict::Clear
    }
}
