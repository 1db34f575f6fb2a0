//! Help for the tests: an answer read as its request says.

use crate::base::reporter::Reporter;
use crate::base::time::{Timestamp, Zone};
use crate::formats::{Format, FormatError, Head, Hints, Recognised, RequestHint, recognise};
use crate::model::batch::Batch;
use crate::model::event::Event;

/// Reads with any format; `asked` is the path and the time of the request.
pub(super) fn read_with(
    format: &dyn Format,
    bytes: &[u8],
    asked: Option<(&str, &str)>,
) -> (Result<Vec<Event>, FormatError>, Reporter) {
    let zone = Zone::utc();
    let request = asked.map(request);
    let hints = hints(&zone, request.as_ref());
    let (mut out, mut log) = (Batch::default(), Reporter::new());
    let result = format.read(bytes, &hints, &mut out, &mut log);
    (result.map(|()| out.events), log)
}

/// The id of the format that is recognised.
pub(super) fn format_of(bytes: &[u8], asked: Option<(&str, &str)>) -> &'static str {
    let zone = Zone::utc();
    let request = asked.map(request);
    match recognise(&Head::new(bytes), &hints(&zone, request.as_ref())) {
        Recognised::As(format) => format.id(),
        Recognised::Nothing { .. } => "",
    }
}

fn request((path, at): (&str, &str)) -> RequestHint {
    RequestHint {
        method: "GET".to_owned(),
        path: path.to_owned(),
        at: Timestamp::parse_rfc3339(at),
        ..RequestHint::default()
    }
}

fn hints<'a>(zone: &'a Zone, request: Option<&'a RequestHint>) -> Hints<'a> {
    Hints {
        name: "answer.json",
        request,
        zone,
        log_formats: &[],
    }
}
