//! LockContention.

use crate::detect::{Context, Detector, Verdict};
use crate::model::finding::FindingKind;

/// LockContention.
pub struct LockContention;

impl Detector for LockContention {
    fn kind(&self) -> FindingKind {
        FindingKind::LockContention
    }

    fn doc(&self) -> &'static str {
        "LockContention"
    }

    fn check(&self, _context: &Context<'_>) -> Verdict {
        Verdict::Clear
    }
}
