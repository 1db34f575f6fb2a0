//! change events in JSON lines.

use crate::base::reporter::Reporter;
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;

/// change events in JSON lines.
pub struct EventsJson;

impl Format for EventsJson {
    fn id(&self) -> &'static str {
        "events-json"
    }

    fn title(&self) -> &'static str {
        "change events in JSON lines"
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
