//! nginx access log.

use crate::base::reporter::Reporter;
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;

/// nginx access log.
pub struct NginxLine;

impl Format for NginxLine {
    fn id(&self) -> &'static str {
        "nginx-line"
    }

    fn title(&self) -> &'static str {
        "nginx access log"
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

/// Whether the lines match a format that was given by hand.
pub fn matches_given_format(_head: &Head<'_>, _hints: &Hints<'_>) -> bool {
    false
}
