//! Change.

use crate::detect::{Context, Detector, Verdict};
use crate::model::finding::FindingKind;

/// Change.
pub struct Change;

impl Detector for Change {
    fn kind(&self) -> FindingKind {
        FindingKind::Change
    }

    fn doc(&self) -> &'static str {
        "Change"
    }

    fn check(&self, _context: &Context<'_>) -> Verdict {
        Verdict::Clear
    }
}
