//! ConnectOutliers.

use crate::detect::{Context, Detector, Verdict};
use crate::model::finding::FindingKind;

/// ConnectOutliers.
pub struct ConnectOutliers;

impl Detector for ConnectOutliers {
    fn kind(&self) -> FindingKind {
        FindingKind::ConnectOutliers
    }

    fn doc(&self) -> &'static str {
        "ConnectOutliers"
    }

    fn check(&self, _context: &Context<'_>) -> Verdict {
        Verdict::Clear
    }
}
