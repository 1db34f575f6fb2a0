//! SlowCall.

use crate::detect::{Context, Detector, Verdict};
use crate::model::finding::FindingKind;

/// SlowCall.
pub struct SlowCall;

impl Detector for SlowCall {
    fn kind(&self) -> FindingKind {
        FindingKind::SlowCall
    }

    fn doc(&self) -> &'static str {
        "SlowCall"
    }

    fn check(&self, _context: &Context<'_>) -> Verdict {
        Verdict::Clear
    }
}
