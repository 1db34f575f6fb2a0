//! Prometheus text exposition or OpenMetrics.

use crate::base::reporter::Reporter;
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;

/// Prometheus text exposition or OpenMetrics.
pub struct Exposition;

impl Format for Exposition {
    fn id(&self) -> &'static str {
        "prometheus-text"
    }

    fn title(&self) -> &'static str {
        "Prometheus text exposition or OpenMetrics"
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
