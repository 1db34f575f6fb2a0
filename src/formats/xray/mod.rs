//! AWS X-Ray.

use crate::base::reporter::Reporter;
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;

/// AWS X-Ray.
pub struct XRay;

impl Format for XRay {
    fn id(&self) -> &'static str {
        "xray"
    }

    fn title(&self) -> &'static str {
        "AWS X-Ray"
    }

    fn sniff(&self, _head: &Head<'_>) -> Sniff {
        Sniff::NOT_AT_ALL
    }

    fn read(
        &self,
        _bytes: &[u8],
        _hints: &Hints<'_>,
        _out: &mut Batch,
        _log: &mut Reporter,
    ) -> Result<(), FormatError> {
        Ok(())
    }
}
