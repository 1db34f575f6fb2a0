//! Go stack dump (debug=2).

use crate::base::reporter::Reporter;
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;

/// Go stack dump (debug=2).
pub struct GoStackDump;

impl Format for GoStackDump {
    fn id(&self) -> &'static str {
        "go-stack-dump"
    }

    fn title(&self) -> &'static str {
        "Go stack dump (debug=2)"
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
