//! change events in CSV.

use crate::base::reporter::Reporter;
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;

/// change events in CSV.
pub struct EventsCsv;

impl Format for EventsCsv {
    fn id(&self) -> &'static str {
        "events-csv"
    }

    fn title(&self) -> &'static str {
        "change events in CSV"
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
