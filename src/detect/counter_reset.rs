//! CounterReset.

use crate::detect::{Context, Detector, Verdict};
use crate::model::finding::FindingKind;

/// CounterReset.
pub struct CounterReset;

impl Detector for CounterReset {
    fn kind(&self) -> FindingKind {
        FindingKind::CounterReset
    }

    fn doc(&self) -> &'static str {
        "CounterReset"
    }

    fn check(&self, _context: &Context<'_>) -> Verdict {
        Verdict::Clear
    }
}
