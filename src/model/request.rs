//! Requests of access logs, with every attempt upstream.

use std::sync::Arc;

use crate::base::time::Timestamp;
use crate::model::input::InputIx;

/// One line of an access log.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_field_names,
    reason = "request_id and span_id are the names of the field"
)]
pub struct Request {
    /// Where it came from.
    pub input: InputIx,
    /// Line in the input, from 1.
    pub line: u64,
    /// The end of the request: when the line was written.
    pub t: Timestamp,
    /// How exactly `t` is known (1 s for `$time_local`, 1 ms for `$msec`).
    pub t_resolution_nanos: i64,
    /// The service that wrote the log (the proxy), as far as its lines or its file say.
    pub service: Arc<str>,
    /// The pod, host or instance that wrote it, or empty.
    pub instance: Arc<str>,
    /// HTTP method, or empty.
    pub method: Arc<str>,
    /// Path with its query.
    pub path: Arc<str>,
    /// Status sent to the client.
    pub status: Option<u16>,
    /// Whether it failed, where something else than a status says so (Pinpoint's dots).
    pub is_failed: Option<bool>,
    /// Time from the first byte of the request to the last of the answer.
    pub duration_ms: Option<f64>,
    /// Attempts upstream, in order; empty when none was made.
    pub attempts: Vec<Attempt>,
    /// The name of the upstream group, or empty.
    pub upstream: Arc<str>,
    /// Bytes sent.
    pub bytes: Option<u64>,
    /// The client's address.
    pub client: Arc<str>,
    /// `$request_id`, or empty.
    pub request_id: Arc<str>,
    /// The trace that it belongs to, or empty.
    pub trace_id: Arc<str>,
}

impl Request {
    /// The time lost in connecting, over all attempts; `None` when no attempt says.
    pub fn connect_ms(&self) -> Option<f64> {
        sum(self.attempts.iter().map(|a| a.connect_cost_ms()))
    }

    /// Until the response header of the last attempt that had one.
    pub fn header_ms(&self) -> Option<f64> {
        self.attempts.iter().rev().find_map(|a| a.header_ms)
    }

    /// Time spent upstream over all attempts.
    pub fn response_ms(&self) -> Option<f64> {
        sum(self.attempts.iter().map(|a| a.response_ms))
    }

    /// Whether it failed: what was said, else a status of 500 or more; `None` when nothing says.
    pub fn failed(&self) -> Option<bool> {
        self.is_failed.or_else(|| self.status.map(|s| s >= 500))
    }

    /// When it began.
    pub fn start(&self) -> Timestamp {
        self.t
            .plus_nanos(-(self.duration_ms.unwrap_or(0.0) * 1e6).round() as i64)
    }
}

fn sum(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    values
        .flatten()
        .fold(None, |total, v| Some(total.unwrap_or(0.0) + v))
}

/// One attempt to have an upstream server answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// Its address, or the name of the group when no server was live.
    pub addr: Arc<str>,
    /// Its status.
    pub status: Option<u16>,
    /// Until the connection (with TLS) was ready; `None` when it never was.
    pub connect_ms: Option<f64>,
    /// Until the response header.
    pub header_ms: Option<f64>,
    /// Until the last byte, or the failure.
    pub response_ms: Option<f64>,
    /// Whether it stands behind ` : `, in a new group after an internal redirect.
    pub is_new_group: bool,
    /// Whether its log has connect times at all. Only then does a missing one mean that no connection was made.
    pub is_connect_logged: bool,
}

impl Attempt {
    /// What connecting cost: the connect time, or, for a connect that never finished (502 or 504 without a header),
    /// the whole attempt (`xray.md` §3, `logs.md` §1.3).
    pub fn connect_cost_ms(&self) -> Option<f64> {
        self.connect_ms.or_else(|| {
            if self.connect_failed() {
                self.response_ms
            } else {
                None
            }
        })
    }

    /// Whether the connection was never made.
    pub fn connect_failed(&self) -> bool {
        self.is_connect_logged
            && self.connect_ms.is_none()
            && self.header_ms.is_none()
            && matches!(self.status, Some(502 | 504))
    }
}
