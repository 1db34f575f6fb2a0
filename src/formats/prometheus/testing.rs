//! Help for the tests of these formats.

use crate::base::reporter::{Reporter, Warning};
use crate::base::time::Zone;
use crate::formats::{Format, FormatError, Head, Hints, RequestHint, Sniff};
use crate::model::batch::Batch;

/// Reads `text` as a file named `answer.json`.
pub(super) fn read(
    format: &dyn Format,
    text: impl AsRef<[u8]>,
    request: Option<&RequestHint>,
) -> Result<(Batch, Vec<Warning>), FormatError> {
    read_named(format, text, "answer.json", request)
}

/// Reads `text` as a file of that name.
pub(super) fn read_named(
    format: &dyn Format,
    text: impl AsRef<[u8]>,
    name: &str,
    request: Option<&RequestHint>,
) -> Result<(Batch, Vec<Warning>), FormatError> {
    let zone = Zone::utc();
    let hints = Hints {
        name,
        request,
        zone: &zone,
        log_formats: &[],
    };
    let mut out = Batch::default();
    let mut log = Reporter::new();
    format.read(text.as_ref(), &hints, &mut out, &mut log)?;
    Ok((out, log.into_warnings()))
}

/// What the format makes of the beginning of `text`.
pub(super) fn sniffed(format: &dyn Format, text: impl AsRef<[u8]>) -> Sniff {
    format.sniff(&Head::new(text.as_ref()))
}

/// A request with this path.
pub(super) fn get(path: &str) -> RequestHint {
    RequestHint {
        method: "GET".to_owned(),
        path: path.to_owned(),
        http: Some(200),
        ..RequestHint::default()
    }
}
