//! Prometheus remote-read answer.

use crate::base::reporter::Reporter;
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;

/// Prometheus remote-read answer.
pub struct RemoteRead;

impl Format for RemoteRead {
    fn id(&self) -> &'static str {
        "prometheus-remote-read"
    }

    fn title(&self) -> &'static str {
        "Prometheus remote-read answer"
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
