//! nginx access log in JSON lines.

use crate::base::reporter::Reporter;
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;

/// nginx access log in JSON lines.
pub struct NginxJson;

impl Format for NginxJson {
    fn id(&self) -> &'static str {
        "nginx-json"
    }

    fn title(&self) -> &'static str {
        "nginx access log in JSON lines"
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
