//! VictoriaMetrics export lines.

use crate::base::reporter::Reporter;
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;

/// VictoriaMetrics export lines.
pub struct VictoriaExport;

impl Format for VictoriaExport {
    fn id(&self) -> &'static str {
        "victoriametrics-export"
    }

    fn title(&self) -> &'static str {
        "VictoriaMetrics export lines"
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
