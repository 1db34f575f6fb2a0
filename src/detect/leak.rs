//! Leak.

use crate::detect::{Context, Detector, Verdict};
use crate::model::finding::FindingKind;

/// Leak.
pub struct Leak;

impl Detector for Leak {
    fn kind(&self) -> FindingKind {
        FindingKind::Leak
    }

    fn doc(&self) -> &'static str {
        "Leak"
    }

    fn check(&self, _context: &Context<'_>) -> Verdict {
        Verdict::Clear
    }
}
