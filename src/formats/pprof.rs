//! pprof profile.

use crate::base::reporter::Reporter;
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;

/// pprof profile.
pub struct Pprof;

impl Format for Pprof {
    fn id(&self) -> &'static str {
        "pprof"
    }

    fn title(&self) -> &'static str {
        "pprof profile"
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
