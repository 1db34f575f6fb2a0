//! LatencySpike.

use crate::detect::{Context, Detector, Verdict};
use crate::model::finding::FindingKind;

/// LatencySpike.
pub struct LatencySpike;

impl Detector for LatencySpike {
    fn kind(&self) -> FindingKind {
        FindingKind::LatencySpike
    }

    fn doc(&self) -> &'static str {
        "LatencySpike"
    }

    fn check(&self, _context: &Context<'_>) -> Verdict {
        Verdict::Clear
    }
}
