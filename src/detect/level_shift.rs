//! LevelShift.

use crate::detect::{Context, Detector, Verdict};
use crate::model::finding::FindingKind;

/// LevelShift.
pub struct LevelShift;

impl Detector for LevelShift {
    fn kind(&self) -> FindingKind {
        FindingKind::LevelShift
    }

    fn doc(&self) -> &'static str {
        "LevelShift"
    }

    fn check(&self, _context: &Context<'_>) -> Verdict {
        Verdict::Clear
    }
}
