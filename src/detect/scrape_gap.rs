//! ScrapeGap.

use crate::detect::{Context, Detector, Verdict};
use crate::model::finding::FindingKind;

/// ScrapeGap.
pub struct ScrapeGap;

impl Detector for ScrapeGap {
    fn kind(&self) -> FindingKind {
        FindingKind::ScrapeGap
    }

    fn doc(&self) -> &'static str {
        "ScrapeGap"
    }

    fn check(&self, _context: &Context<'_>) -> Verdict {
        Verdict::Clear
    }
}
