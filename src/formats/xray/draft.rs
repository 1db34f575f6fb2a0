//! One segment or subsegment while it is being read, and what its fields mean.

use std::borrow::Cow;
use std::sync::Arc;

use super::escape::unescape;
use super::timing::Timing;
use crate::base::time::Timestamp;
use crate::model::input::InputIx;
use crate::model::span::{Span, SpanId, SpanKind, SpanStatus};

/// What a document says of one segment or subsegment, before it is a span.
#[derive(Debug, Default)]
pub(super) struct Draft<'a> {
    pub(super) id: Option<SpanId>,
    pub(super) parent_id: Option<SpanId>,
    pub(super) trace_id: Option<Cow<'a, str>>,
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) namespace: Option<Cow<'a, str>>,
    pub(super) origin: Option<Cow<'a, str>>,
    pub(super) start: Option<i64>,
    pub(super) end: Option<i64>,
    pub(super) method: Option<Cow<'a, str>>,
    pub(super) url: Option<Cow<'a, str>>,
    pub(super) http_status: Option<u16>,
    pub(super) error_text: Option<Arc<str>>,
    pub(super) cause_id: Option<Cow<'a, str>>,
    pub(super) timing: Timing<'a>,
    pub(super) is_error: bool,
    pub(super) is_fault: bool,
    pub(super) is_throttle: bool,
    pub(super) is_inferred: bool,
    pub(super) is_subsegment: bool,
    pub(super) is_traced: bool,
    pub(super) has_request: bool,
    pub(super) has_sql: bool,
    pub(super) is_other_format: bool,
}

/// Whether a document is an independent subsegment. One without a trace, but with a caller's namespace, was cut out of
/// its segment.
pub(super) fn is_fragment(draft: &Draft<'_>) -> bool {
    draft.is_subsegment
        || (draft.trace_id.is_none()
            && matches!(draft.namespace.as_deref(), Some("aws" | "remote")))
}

/// How a segment ended, by its flags or else its HTTP status.
pub(super) fn status(draft: &Draft<'_>, is_finished: bool) -> SpanStatus {
    if draft.is_throttle {
        SpanStatus::Throttle
    } else if draft.is_fault {
        SpanStatus::Fault
    } else if draft.is_error {
        SpanStatus::Error
    } else {
        match draft.http_status {
            Some(429) => SpanStatus::Throttle,
            Some(500..) => SpanStatus::Fault,
            Some(400..) => SpanStatus::Error,
            Some(_) => SpanStatus::Ok,
            // Absent flags are how X-Ray says that nothing went wrong.
            None if is_finished => SpanStatus::Ok,
            None => SpanStatus::Unset,
        }
    }
}

/// The path of a URL: without scheme, host, query and fragment.
pub(super) fn path(url: &str) -> &str {
    let scheme = memchr::memchr(b':', url.as_bytes())
        .and_then(|at| url.get(at..))
        .and_then(|rest| rest.strip_prefix("://"));
    let after_host = scheme.map_or(url, |rest| {
        memchr::memchr3(b'/', b'?', b'#', rest.as_bytes())
            .and_then(|at| rest.get(at..))
            .unwrap_or("/")
    });
    let end = memchr::memchr2(b'?', b'#', after_host.as_bytes());
    let path = after_host
        .get(..end.unwrap_or(after_host.len()))
        .unwrap_or(after_host);
    if path.is_empty() { "/" } else { path }
}

/// The text of a string, or any other value as it stands.
pub(super) fn plain(raw: &str) -> Cow<'_, str> {
    let Some(inner) = raw.strip_prefix('"').and_then(|r| r.strip_suffix('"')) else {
        return Cow::Borrowed(raw);
    };
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    let mut out = String::with_capacity(inner.len());
    unescape(inner, &mut out);
    Cow::Owned(out)
}

/// A span that says nothing yet.
pub(super) fn blank(empty: &Arc<str>) -> Span {
    Span {
        input: InputIx::default(),
        trace_id: Arc::clone(empty),
        span_id: SpanId(0),
        parent_id: None,
        service: Arc::clone(empty),
        operation: Arc::clone(empty),
        kind: SpanKind::Internal,
        is_segment: false,
        is_inferred: false,
        origin: Arc::clone(empty),
        start: Timestamp::default(),
        duration_ms: None,
        connect_ms: None,
        queue_ms: None,
        peer: None,
        status: SpanStatus::Unset,
        http_status: None,
        error: Arc::clone(empty),
        attributes: Arc::clone(empty),
    }
}
