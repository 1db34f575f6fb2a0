//! Go profile in text (debug=1).

use crate::base::reporter::Reporter;
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;

/// Go profile in text (debug=1).
pub struct GoProfileText;

impl Format for GoProfileText {
    fn id(&self) -> &'static str {
        "go-profile-text"
    }

    fn title(&self) -> &'static str {
        "Go profile in text (debug=1)"
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
