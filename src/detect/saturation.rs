//! Saturation.

use crate::detect::{Context, Detector, Verdict};
use crate::model::finding::FindingKind;

/// Saturation.
pub struct Saturation;

impl Detector for Saturation {
    fn kind(&self) -> FindingKind {
        FindingKind::Saturation
    }

    fn doc(&self) -> &'static str {
        "Saturation"
    }

    fn check(&self, _context: &Context<'_>) -> Verdict {
        Verdict::Clear
    }
}
