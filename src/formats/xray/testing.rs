//! Help for tests: spans from a text, as a snapshot holds them.

use crate::base::reporter::{Reporter, Warning};
use crate::base::time::Zone;
use crate::formats::{Format as _, FormatError, Hints};
use crate::model::batch::Batch;
use crate::model::span::Span;

/// Reads a text.
pub(crate) fn read(text: &[u8]) -> (Batch, Vec<Warning>, Result<(), FormatError>) {
    let zone = Zone::utc();
    let hints = Hints {
        name: "x.json",
        request: None,
        zone: &zone,
        log_formats: &[],
    };
    let (mut batch, mut log) = (Batch::default(), Reporter::new());
    let result = super::XRay.read(text, &hints, &mut batch, &mut log);
    (batch, log.into_warnings(), result)
}

/// The spans of a text in the order of a snapshot.
pub(crate) fn spans_of(text: &str) -> Vec<Span> {
    let (mut batch, warnings, result) = read(text.as_bytes());
    assert_eq!(result, Ok(()), "{warnings:?}");
    batch
        .spans
        .sort_by(|a, b| (&a.trace_id, a.start, a.span_id).cmp(&(&b.trace_id, b.start, b.span_id)));
    batch.spans
}
