//! Prometheus HTTP API answer.

use crate::base::reporter::Reporter;
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;

/// Prometheus HTTP API answer.
pub struct PrometheusApi;

impl Format for PrometheusApi {
    fn id(&self) -> &'static str {
        "prometheus-api"
    }

    fn title(&self) -> &'static str {
        "Prometheus HTTP API answer"
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
