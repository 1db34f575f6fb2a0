//! BlockedGrowth.

use crate::detect::{Context, Detector, Verdict};
use crate::model::finding::FindingKind;

/// BlockedGrowth.
pub struct BlockedGrowth;

impl Detector for BlockedGrowth {
    fn kind(&self) -> FindingKind {
        FindingKind::BlockedGrowth
    }

    fn doc(&self) -> &'static str {
        "BlockedGrowth"
    }

    fn check(&self, _context: &Context<'_>) -> Verdict {
        Verdict::Clear
    }
}
