//! ErrorBurst.

use crate::detect::{Context, Detector, Verdict};
use crate::model::finding::FindingKind;

/// ErrorBurst.
pub struct ErrorBurst;

impl Detector for ErrorBurst {
    fn kind(&self) -> FindingKind {
        FindingKind::ErrorBurst
    }

    fn doc(&self) -> &'static str {
        "ErrorBurst"
    }

    fn check(&self, _context: &Context<'_>) -> Verdict {
        Verdict::Clear
    }
}
