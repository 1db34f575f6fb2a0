//! ThroughputDrop.

use crate::detect::{Context, Detector, Verdict};
use crate::model::finding::FindingKind;

/// ThroughputDrop.
pub struct ThroughputDrop;

impl Detector for ThroughputDrop {
    fn kind(&self) -> FindingKind {
        FindingKind::ThroughputDrop
    }

    fn doc(&self) -> &'static str {
        "ThroughputDrop"
    }

    fn check(&self, _context: &Context<'_>) -> Verdict {
        Verdict::Clear
    }
}
