//! Tests of all these formats together.

mod recordings;
mod shapes;

use super::api::PrometheusApi;
use super::export::VictoriaExport;
use super::remote_read::RemoteRead;
use super::text::Exposition;
use crate::formats::Format;
use crate::model::batch::Batch;

const FORMATS: [&dyn Format; 4] = [&PrometheusApi, &VictoriaExport, &RemoteRead, &Exposition];

/// Series and samples.
fn totals(batch: &Batch) -> (usize, usize) {
    (
        batch.series.len(),
        batch.series.iter().map(|s| s.points()).sum(),
    )
}
