//! Traces: spans, summaries of traces, and the calls between services.

use std::fmt;
use std::sync::Arc;

use crate::base::time::Timestamp;
use crate::model::input::InputIx;

/// A span id: eight bytes, printed as 16 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpanId(pub u64);

impl SpanId {
    /// Reads up to 16 hex digits; any other text is hashed (FNV-1a), so that unusual ids still join.
    pub fn parse(text: &str) -> Self {
        if !text.is_empty() && text.len() <= 16 {
            if let Some(id) = hex(text) {
                return Self(id);
            }
            if let Ok(id) = u64::from_str_radix(text, 16) {
                return Self(id);
            }
        }
        Self(text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        }))
    }
}

/// Up to 16 hex digits, without a branch for each: ids are random, and every branch would be guessed wrong half of the time.
fn hex(digits: &str) -> Option<u64> {
    let (mut id, mut is_hex) = (0u64, true);
    for byte in digits.bytes() {
        is_hex &= byte.is_ascii_hexdigit();
        // The low four bits of a digit are its value, those of a letter nine less.
        id = (id << 4) | u64::from((byte & 0xf) + 9 * (byte >> 6)) & 0xf;
    }
    is_hex.then_some(id)
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The role of a span, in OpenTelemetry's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum SpanKind {
    /// Handles a request of another.
    Server,
    /// Calls another.
    Client,
    /// Puts a message somewhere.
    Producer,
    /// Takes one.
    Consumer,
    /// Work inside one process.
    #[default]
    Internal,
}

impl SpanKind {
    /// Lower-case word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
            Self::Producer => "producer",
            Self::Consumer => "consumer",
            Self::Internal => "internal",
        }
    }
}

/// How a span ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum SpanStatus {
    /// Nothing was said.
    #[default]
    Unset,
    /// Well.
    Ok,
    /// With an error of the caller (4xx; X-Ray `error`).
    Error,
    /// With an error of the callee (5xx; X-Ray `fault`; OpenTelemetry status error).
    Fault,
    /// Throttled (429).
    Throttle,
}

impl SpanStatus {
    /// Lower-case word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Unset => "unset",
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Fault => "fault",
            Self::Throttle => "throttle",
        }
    }

    /// Whether something went wrong.
    pub const fn is_error(self) -> bool {
        matches!(self, Self::Error | Self::Fault | Self::Throttle)
    }
}

/// One span of one trace (an X-Ray segment or subsegment).
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_field_names,
    reason = "request_id and span_id are the names of the field"
)]
pub struct Span {
    /// Where it came from.
    pub input: InputIx,
    /// The trace, as its system writes it.
    pub trace_id: Arc<str>,
    /// The span.
    pub span_id: SpanId,
    /// Its parent.
    pub parent_id: Option<SpanId>,
    /// The service that recorded it.
    pub service: Arc<str>,
    /// What it did.
    pub operation: Arc<str>,
    /// Its role.
    pub kind: SpanKind,
    /// Whether it is a whole segment (X-Ray): the outermost span of one service.
    pub is_segment: bool,
    /// Whether the tracing service made it up from its caller's record (X-Ray `inferred`): its times are copies.
    pub is_inferred: bool,
    /// The kind of thing that recorded it (X-Ray `origin`), or empty.
    pub origin: Arc<str>,
    /// When it began, by the clock of its own service.
    pub start: Timestamp,
    /// How long it took; `None` while it is in progress.
    pub duration_ms: Option<f64>,
    /// The connecting part: time until a connection to the callee was ready, summed over attempts.
    pub connect_ms: Option<f64>,
    /// The part spent waiting for a turn (pool, queue). Half as wide as its siblings: it is rare, and a million spans are held.
    pub queue_ms: Option<f32>,
    /// Whom it called: address or name.
    pub peer: Option<Arc<str>>,
    /// How it ended.
    pub status: SpanStatus,
    /// HTTP status of the response.
    pub http_status: Option<u16>,
    /// Type and message of the exception, or empty.
    pub error: Arc<str>,
    /// Every other attribute as one JSON object.
    pub attributes: Arc<str>,
}

impl Span {
    /// When it ended; its start while it is in progress.
    pub fn end(&self) -> Timestamp {
        self.start
            .plus_nanos((self.duration_ms.unwrap_or(0.0) * 1e6).round() as i64)
    }
}

/// One row of a list of traces, without the spans (X-Ray `GetTraceSummaries`).
#[derive(Debug, Clone)]
pub struct TraceSummary {
    /// Where it came from.
    pub input: InputIx,
    /// The trace.
    pub trace_id: Arc<str>,
    /// When its root began.
    pub start: Timestamp,
    /// Length of the root segment.
    pub response_ms: Option<f64>,
    /// From the first start to the last end.
    pub duration_ms: Option<f64>,
    /// How the root ended.
    pub status: SpanStatus,
    /// The service where it entered.
    pub entry: Arc<str>,
    /// Every service in it.
    pub services: Vec<Arc<str>>,
    /// HTTP method of the root.
    pub http_method: Arc<str>,
    /// HTTP URL of the root.
    pub http_url: Arc<str>,
    /// HTTP status of the root.
    pub http_status: Option<u16>,
    /// Largest connect time among its annotations (`upstream_connect_time` and kin), when there is one.
    pub connect_ms: Option<f64>,
    /// The service whose annotation gave `connect_ms`.
    pub connect_service: Option<Arc<str>>,
    /// Whether parts of it are missing.
    pub is_partial: bool,
}

/// What one service saw of another over a time, as counts (a service map, a call graph).
#[derive(Debug, Clone, PartialEq)]
pub struct CallEdge {
    /// Where it came from.
    pub input: InputIx,
    /// The caller.
    pub caller: Arc<str>,
    /// The callee.
    pub callee: Arc<str>,
    /// From when.
    pub start: Option<Timestamp>,
    /// Until when.
    pub end: Option<Timestamp>,
    /// Calls in all.
    pub total: u64,
    /// Calls with a fault of the callee.
    pub faults: u64,
    /// Calls with an error of the caller.
    pub errors: u64,
    /// Response times as the caller saw them: (milliseconds, count), ascending.
    pub caller_histogram: Vec<(f64, u64)>,
    /// Response times as the callee itself saw them: (milliseconds, count), ascending.
    pub callee_histogram: Vec<(f64, u64)>,
}
